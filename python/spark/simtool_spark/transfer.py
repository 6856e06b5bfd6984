"""Transfer between an engine, its tasks and the driver: columns of fingerprints, tables, settings."""

from __future__ import annotations

import gc
import sys
import zipimport
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator

import numpy as np
import pyarrow as pa

from simtool._simtool import Engine, Verifier
from simtool._steps import of_rows, to_rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# Number of rows of a batch that the driver sends.
BATCH = 10_000

Batches = Iterable[pa.RecordBatch]
Options = tuple[tuple[str, Any], ...]


class Steps:
    """Stores DataFrames that are used more than once: as Parquet in `work_dir`, or persisted by Spark without it."""

    def __init__(self, work_dir: str | None):
        self.work_dir = work_dir

    def __call__(self, name: str, step: DataFrame) -> DataFrame:
        if self.work_dir is None:
            return step.persist()
        path = f"{self.work_dir.rstrip('/')}/{name}"
        step.write.mode("overwrite").parquet(path)
        return step.sparkSession.read.parquet(path)


def in_tasks(rows: DataFrame, visit: Callable[[Batches], Iterator[pa.RecordBatch]], schema: str) -> DataFrame:
    """Applies `visit` to the batches of each partition. Returns the rows that `visit` yields, which have `schema`."""

    def visited(batches: Batches) -> Iterator[pa.RecordBatch]:
        yield from visit(batches)
        _spare_worker()

    return rows.mapInArrow(visited, schema)


@lru_cache(maxsize=1)
def _spare_worker() -> None:
    """Saves each later task of this worker process of Spark 0.1 s of CPU time at its start.

    Otherwise each task searches all imported modules for garbage, and reads again the directories of the zip files
    that modules are imported from.
    """
    program = getattr(sys.modules["__main__"], "__spec__", None)
    if program is None or program.name != "pyspark.daemon":
        return
    gc.freeze()
    for path, finder in list(sys.path_importer_cache.items()):
        if isinstance(finder, zipimport.zipimporter):
            # The next import from the file creates its finder again.
            del sys.path_importer_cache[path]


@lru_cache(maxsize=4)
def engine_of(options: Options, sample: bytes | None = None, learned: bytes | None = None) -> Engine:
    """Returns the engine for a task, built once for each process."""
    sampled = None if sample is None else of_ipc(sample)["sample"].combine_chunks()
    return Engine(sampled, learned, **dict(options))


@lru_cache(maxsize=4)
def verifier_of(options: Options, learned: bytes | None = None) -> Verifier:
    """Returns the verifier for a task, built once for each process."""
    return Verifier(learned, **dict(options))


def to_ipc(batch: pa.RecordBatch) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as stream:
        stream.write_batch(batch)
    return sink.getvalue().to_pybytes()


def of_ipc(data: bytes) -> pa.Table:
    return pa.ipc.open_stream(data).read_all()


# A column of fingerprints of 64 bits has the type long. A column of longer fingerprints has the type binary.


def fingerprint_type(words: int) -> str:
    return "long" if words == 1 else "binary"


def to_column(fingerprints: pa.Array, words: int) -> pa.Array:
    """Converts fingerprints of `words` 64-bit words, without nulls, into a column of type `fingerprint_type(words)`."""
    if words == 1:
        return fingerprints.view(pa.int64())
    return to_binary(of_rows(fingerprints), np.arange(len(fingerprints) + 1))


def to_words(column: pa.Array | pa.ChunkedArray, words: int) -> pa.Array:
    """Converts a column of `to_column` back into fingerprints of `words` 64-bit words."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    return column if words == 1 else to_rows(of_binary(column, words)[0])


# Rows of several 64-bit numbers are stored in columns of type binary.


def to_binary(numbers: np.ndarray, ends: np.ndarray) -> pa.Array:
    """Returns a column of binary values. Value `i` has the bytes of the rows `ends[i]` to `ends[i + 1]` (exclusive)
    of `numbers`, which holds 64-bit numbers. The first end is 0.
    """
    ends = ends.astype(np.int64) * numbers.shape[1] * 8
    if ends[-1] > np.iinfo(np.int32).max:
        raise ValueError("a batch of documents is too large: lower spark.sql.execution.arrow.maxRecordsPerBatch")
    data = pa.py_buffer(np.ascontiguousarray(numbers))
    return pa.Array.from_buffers(pa.binary(), len(ends) - 1, [None, pa.py_buffer(ends.astype(np.int32)), data])


def of_binary(column: pa.Array, width: int) -> tuple[np.ndarray, np.ndarray]:
    """Reverses `to_binary`: returns `numbers`, with `width` numbers in each row, and `ends`."""
    if column.type != pa.binary():
        column = column.cast(pa.binary())
    if len(column) == 0:
        return np.empty((0, width), np.uint64), np.zeros(1, np.int64)
    ends = np.frombuffer(column.buffers()[1], np.int32)[column.offset : column.offset + len(column) + 1].astype(np.int64)
    data = np.frombuffer(column.buffers()[2], np.uint8)[ends[0] : ends[-1]]
    return data.view(np.uint64).reshape(-1, width), (ends - ends[0]) // (8 * width)


def collect(df: DataFrame) -> pa.Table:
    """Returns the rows as a table on the driver."""

    def packed(batches: Batches) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield pa.record_batch({"part": pa.array([to_ipc(batch)], pa.binary())})

    parts = [of_ipc(bytes(row["part"])) for row in in_tasks(df, packed, "part binary").collect()]
    if parts:
        return pa.concat_tables(parts).combine_chunks()
    kinds = {
        "string": pa.string(), "binary": pa.binary(), "int": pa.int32(), "bigint": pa.int64(), "double": pa.float64()
    }
    return pa.table({name: pa.array([], kinds[kind]) for name, kind in df.dtypes})


def distribute(session: SparkSession, table: pa.Table, schema: str) -> DataFrame:
    """Sends a table from the driver to the engine, and returns it as a DataFrame with the types of `schema`."""
    parts = [(to_ipc(batch),) for batch in table.to_batches(max_chunksize=BATCH)]

    def unpacked(batches: Batches) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for part in batch.column(0):
                yield from of_ipc(part.as_py()).to_batches()

    return in_tasks(session.createDataFrame(parts, "part binary"), unpacked, schema)
