"""Texts from every source give the same result."""

import pytest

import simtool


def told(found: simtool.NearDuplicates) -> tuple:
    return found.kept.to_pydict(), found.removed.to_pydict(), found.clusters.to_pydict()


def ways(texts):
    """Yields the same texts in every kind of object that holds texts, by name."""
    yield "generator", lambda: (text for text in texts)
    yield "tuple", lambda: tuple(texts)
    try:
        import numpy as np

        yield "numpy objects", lambda: np.array(texts, dtype=object)
        yield "numpy str", lambda: np.array([text or "" for text in texts])
    except ImportError:
        pass
    try:
        import pyarrow as pa

        array, half = pa.array(texts), len(texts) // 2
        yield "array", lambda: array
        yield "large", lambda: pa.array(texts, pa.large_string())
        yield "view", lambda: pa.array(texts, pa.string_view())
        yield "dictionary", lambda: array.dictionary_encode()
        yield "chunked", lambda: pa.chunked_array([array[:7], array[7:7], array[7:half], array[half:]])
        yield "slice", lambda: pa.array(["x", *texts, "y"])[1:-1]
        yield "view slice", lambda: pa.array(["x", *texts, "y"], pa.string_view())[1:-1]
        table = pa.table({"number": list(range(len(texts))), "text": texts})
        yield "table", lambda: table
        yield "table slice", lambda: pa.table({"text": ["x", *texts, "y"]})[1:-1]
        yield "batch", lambda: table.to_batches()[0]
        yield "reader", lambda: table.to_reader(max_chunksize=11)
    except ImportError:
        pass
    try:
        import polars as pl

        yield "polars series", lambda: pl.Series(texts)
        yield "polars frame", lambda: pl.DataFrame({"text": texts})
        yield "polars chunks", lambda: pl.concat([pl.Series(texts[:9]), pl.Series(texts[9:])], rechunk=False)
    except ImportError:
        pass
    try:
        import pandas as pd

        yield "pandas series", lambda: pd.Series(texts)
        yield "pandas objects", lambda: pd.Series(texts, dtype=object)
    except ImportError:
        pass
    try:
        import duckdb
        import pyarrow as pa

        frame = pa.table({"text": texts})
        connection = duckdb.connect()
        connection.register("frame", frame)
        yield "duckdb", lambda: connection.sql("select text from frame")
    except ImportError:
        pass


@pytest.mark.parametrize("method", ["exact", "simhash"])
def test_all_ways_are_one(texts, method):
    expected = told(simtool.deduplicate(texts, method=method))
    assert expected[1]["row"], "there are near-duplicates"
    for name, make in ways(texts):
        assert told(simtool.deduplicate(make(), method=method)) == expected, name


def test_a_missing_text_keeps_its_row_and_is_like_nothing():
    found = simtool.deduplicate([None, "a b c d", "", None, "a b c d"])
    assert found.kept.to_pydict() == {"row": [0, 1, 2, 3]}
    assert found.removed.to_pydict() == {"row": [4], "kept": [1], "similarity": [1.0]}
    fingerprints = simtool.fingerprint(["a b c d", None])
    assert (len(fingerprints), fingerprints.null_count) == (2, 1)


def test_nothing_is_found_in_nothing():
    found = simtool.deduplicate([])
    assert (len(found), len(found.kept), len(found.removed), len(found.pairs)) == (0, 0, 0, 0)


def test_a_column_is_named_where_there_are_several():
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"title": ["x", "y", "z"], "body": ["a b c d", "a b c d", "e f g h"]})
    assert len(simtool.deduplicate(table, column="body").removed) == 1
    with pytest.raises(ValueError, match="column: must name the column of the texts"):
        simtool.deduplicate(table)
    with pytest.raises(ValueError, match="column author: must be one of title, body"):
        simtool.deduplicate(table, column="author")
    with pytest.raises(ValueError, match="column author: must be one of title, body"):
        simtool.deduplicate(table.to_pydict(), column="author")
    with pytest.raises(TypeError, match="column body: is for tables, and the texts are a list: leave it out"):
        simtool.deduplicate(["a"], column="body")
    with pytest.raises(KeyError, match="colour: the columns are row, kept, similarity"):
        simtool.deduplicate(table, column="body").removed["colour"]
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"title": ["x", "y"], "body": ["a b c d", "a b c d"]})
    assert len(simtool.deduplicate(frame, column="body").removed) == 1
    with pytest.raises(ValueError, match="column author: must be one of title, body"):
        simtool.deduplicate(frame, column="author")


def test_a_lazy_frame_is_collected():
    pl = pytest.importorskip("polars")
    texts = ["a b c d", "a b c d", "e f g h"]
    lazy = pl.LazyFrame({"day": [1, 3, 2], "body": texts}).with_columns(pl.col("day") * 2)
    found = simtool.deduplicate(lazy, column="body", keep="max", keep_field="day")
    assert found.kept.to_pydict() == {"row": [1, 2]}
    assert len(simtool.match(["a b c d"], against=lazy, column=None).removed) == 1
    with pytest.raises(ValueError, match="column author: must be one of day, body"):
        simtool.deduplicate(lazy, column="author")


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ("one text", "texts must be many, not one str"),
        (["a", 7], "the text of row 1 must be str or None, not int"),
        (["a", b"b"], "the text of row 1 must be str or None, not bytes"),
        (7, "'int' object is not iterable"),
    ],
)
def test_values_that_are_not_text_are_refused(texts, message):
    with pytest.raises(TypeError, match=message):
        simtool.deduplicate(texts)


def test_wrong_arrow_is_refused():
    pa = pytest.importorskip("pyarrow")
    with pytest.raises(TypeError, match='text cannot be read from the Arrow type Int64'):
        simtool.deduplicate(pa.array([1, 2]))
    with pytest.raises(TypeError, match="type Binary"):
        simtool.deduplicate(pa.array([b"a", b"b"]))
    bad = pa.array([b"good words here", b"\xff\xfe"]).view(pa.string())
    with pytest.raises(ValueError, match="damaged: .*UTF8 sequence at string index 1"):
        simtool.deduplicate(bad)


def test_surrogates_are_refused():
    with pytest.raises(UnicodeEncodeError):
        simtool.deduplicate(["a", "\ud800"])


def test_offsets_that_do_not_ascend_are_refused():
    pa = pytest.importorskip("pyarrow")
    np = pytest.importorskip("numpy")
    for place, offset in [(1, 5), (1, -1), (2, 7)]:
        offsets = np.array([0, 2, 4, 6], dtype=np.int32)
        array = pa.StringArray.from_buffers(3, pa.py_buffer(offsets), pa.py_buffer(b"abcdef"))
        # The array checks its offsets when it is built, so they are changed afterwards.
        offsets[place] = offset
        with pytest.raises(ValueError, match="the Arrow array is damaged"):
            simtool.deduplicate(array)


class DatasetDict(dict):
    """Stands for the class of this name in the package datasets, which need not be installed."""


def test_a_dict_is_not_a_list_of_texts():
    data = DatasetDict(train={"text": ["a b c d"]}, test={"text": ["e f g h"]})
    for options in ({}, {"column": "text"}):
        with pytest.raises(TypeError, match=r'the splits train, test\. Give one of them, such as data\["train"\]'):
            simtool.deduplicate(data, **options)
    # The keys of a dict are no texts, either.
    with pytest.raises(TypeError, match="a dict with the keys text, id: name one of them with column"):
        simtool.deduplicate({"text": ["a b c d"], "id": [1]})
    assert simtool.deduplicate({"text": ["a b c d"], "id": [1]}, column="text").kept.to_pydict() == {"row": [0]}


def test_columns_are_iterated():
    kept = simtool.deduplicate(["a b c d", "A b, c d", "e f g h"]).kept
    assert list(kept["row"]) == kept["row"].to_pylist() == [0, 2]
    assert [row for row in kept["row"] if row in kept["row"]] == [0, 2]
