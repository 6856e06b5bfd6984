"""What goes between an engine, its tasks and the driver: columns of fingerprints, tables, settings."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Iterable, Iterator

import numpy as np
import pyarrow as pa

from simtool._simtool import Engine, Verifier

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# Rows of a batch that the driver hands out.
BATCH = 10_000

Batches = Iterable[pa.RecordBatch]
Options = tuple[tuple[str, Any], ...]


class Steps:
    """Keeps steps that are used more than once."""

    def __init__(self, work_dir: str | None):
        self.work_dir = work_dir

    def __call__(self, name: str, step: DataFrame) -> DataFrame:
        if self.work_dir is None:
            return step.persist()
        path = f"{self.work_dir.rstrip('/')}/{name}"
        step.write.mode("overwrite").parquet(path)
        return step.sparkSession.read.parquet(path)


@lru_cache(maxsize=4)
def engine_of(options: Options, sample: bytes | None = None, learned: bytes | None = None) -> Engine:
    """The engine of a task, made once for each process."""
    sampled = None if sample is None else of_ipc(sample)["sample"].combine_chunks()
    return Engine(sampled, learned, **dict(options))


@lru_cache(maxsize=4)
def verifier_of(options: Options, learned: bytes | None = None) -> Verifier:
    """What compares texts in a task, made once for each process."""
    return Verifier(learned, **dict(options))


def to_ipc(batch: pa.RecordBatch) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as stream:
        stream.write_batch(batch)
    return sink.getvalue().to_pybytes()


def of_ipc(data: bytes) -> pa.Table:
    return pa.ipc.open_stream(data).read_all()


# Fingerprints travel as a long where they have one word, else as binary.


def fingerprint_type(words: int) -> str:
    return "long" if words == 1 else "binary"


def to_column(fingerprints: pa.Array, words: int) -> pa.Array:
    """Fingerprints without nulls as the engine moves them."""
    if words == 1:
        return fingerprints.view(pa.int64())
    values = fingerprints.flatten()
    data = values.buffers()[1].slice(8 * values.offset, 8 * len(values))
    ends = np.arange(0, 8 * words * (len(fingerprints) + 1), 8 * words, dtype=np.int32)
    return pa.Array.from_buffers(pa.binary(), len(fingerprints), [None, pa.py_buffer(ends), data])


def to_words(column: pa.Array | pa.ChunkedArray, words: int) -> pa.Array:
    """The inverse."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if words == 1:
        return column
    if column.type != pa.binary():
        column = column.cast(pa.binary())
    begin = column.offset
    starts = np.frombuffer(column.buffers()[1], dtype=np.int32)[begin : begin + len(column) + 1]
    first = int(starts[0]) if len(column) else 0
    data = column.buffers()[2] if len(column) else pa.py_buffer(b"")
    values = np.frombuffer(data, dtype=np.uint8)[first : first + 8 * words * len(column)].view(np.uint64)
    return pa.FixedSizeListArray.from_arrays(pa.array(values), words)


def collect(df: DataFrame) -> pa.Table:
    """The rows, on the driver."""

    def packed(batches: Batches) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield pa.record_batch({"part": pa.array([to_ipc(batch)], pa.binary())})

    parts = [of_ipc(bytes(row["part"])) for row in df.mapInArrow(packed, "part binary").collect()]
    if parts:
        return pa.concat_tables(parts).combine_chunks()
    kinds = {
        "string": pa.string(), "binary": pa.binary(), "int": pa.int32(), "bigint": pa.int64(), "double": pa.float64()
    }
    return pa.table({name: pa.array([], kinds[kind]) for name, kind in df.dtypes})


def distribute(session: SparkSession, table: pa.Table, schema: str) -> DataFrame:
    """The inverse."""
    parts = [(to_ipc(batch),) for batch in table.to_batches(max_chunksize=BATCH)]

    def unpacked(batches: Batches) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for part in batch.column(0):
                yield from of_ipc(part.as_py()).to_batches()

    return session.createDataFrame(parts, "part binary").mapInArrow(unpacked, schema)
