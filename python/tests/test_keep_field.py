"""The value of a column of the texts' table, or of a list, decides which document is kept, as in the program."""

import datetime
import decimal
import json
import random

import pytest

import simtool
from test_found import program


@pytest.fixture(scope="module")
def dated(texts):
    """Numbers of all kinds, texts and nothing, for each text."""
    chance = random.Random(5)
    kinds = [None, 7, 7.5, -3, "2024-05-01", "b", "", 10**30, 2**63, True, "12"]
    return [chance.choice(kinds) for _ in texts]


@pytest.mark.parametrize("keep", ["max", "min"])
def test_the_program_keeps_the_same(texts, dated, keep, tmp_path):
    rows = [{"id": str(row), "text": text or "", "date": date} for row, (text, date) in enumerate(zip(texts, dated))]
    (tmp_path / "texts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    flags = ["--keep", keep + ":date", "--output", tmp_path / "out", "-q"]
    done = program("dedup", tmp_path / "texts.jsonl", *flags)
    assert done.returncode == 0, done.stderr
    lines = map(json.loads, (tmp_path / "out" / "removed.jsonl").read_text().splitlines())
    expected = [(int(line["id"]), int(line["kept_id"])) for line in lines]
    found = simtool.deduplicate(texts, keep=keep, keep_field=dated).removed.to_pydict()
    assert list(zip(found["row"], found["kept"])) == expected
    first = simtool.deduplicate(texts).removed.to_pydict()
    assert found["row"] != first["row"]


def kept(values, keep="max"):
    found = simtool.deduplicate(["a b c d"] * len(values), keep=keep, keep_field=values)
    return found.kept.to_pydict()["row"]


def test_values_compare_by_what_they_are():
    day = datetime.date
    for values, greatest, smallest in [
        ([9, 10, 2], 1, 2),
        ([None, 1, float("nan"), 0], 1, 3),
        (["b", "a", None, ""], 0, 1),
        ([day(2024, 5, 1), day(1999, 12, 31), None], 0, 1),
        ([decimal.Decimal("9.5"), decimal.Decimal("10"), 9], 1, 2),
        ([False, True], 1, 0),
        ([2**70, 2**64, 2**63 - 1], 0, 2),
        ([None, None], 0, 0),
    ]:
        assert (kept(values), kept(values, "min")) == ([greatest], [smallest]), values


def test_columns_of_every_kind_decide():
    pa = pytest.importorskip("pyarrow")
    whole = [pa.int8(), pa.uint16(), pa.int32(), pa.int64(), pa.uint64(), pa.float32(), pa.float64()]
    times = [pa.date32(), pa.timestamp("s"), pa.timestamp("us", "UTC")]
    columns = [pa.array([3, None, 100, 9], kind) for kind in whole]
    columns += [pa.array([3, None, 100, 9], pa.int32()).cast(pa.date32())]
    columns += [pa.array([3, None, 100, 9], pa.int64()).cast(kind) for kind in times[1:]]
    texts = ["b", None, "d", "c"]
    columns += [pa.array(texts, kind) for kind in (pa.string(), pa.large_string(), pa.string_view())]
    columns += [pa.array(texts).dictionary_encode(), pa.chunked_array([["b", None], ["d", "c"]])]
    columns += [pa.array([0, *range(4)])[1:], pa.array([2.5, float("nan"), 1e300, 3])]
    for column in columns:
        greatest = 3 if column.to_pylist() == [0, 1, 2, 3] else 2
        assert kept(column) == [greatest], column
        assert kept(column, "min") == [0], column
        table = pa.table({"text": ["a b c d"] * 4, "value": column})
        for part in (table, table.combine_chunks().to_batches()[0], table.to_reader()):
            found = simtool.deduplicate(part, column="text", keep="max", keep_field="value")
            assert found.kept.to_pydict() == {"row": [greatest]}
    assert kept(pa.array([True, False, None]), "min") == [1]
    assert kept(pa.table({"value": [1, 2]})) == [1]
    cut = pa.table({"text": ["x", *["a b c d"] * 3], "value": [99, None, 5, 7]})[1:]
    assert simtool.deduplicate(cut, keep="max", keep_field="value").kept.to_pydict() == {"row": [2]}


def test_frames_have_their_columns():
    day = datetime.date
    pd = pytest.importorskip("pandas")
    frame = {"text": ["a b c d"] * 3, "seen": pd.to_datetime(["2024-05-01", None, "2025-01-01"])}
    frames = [pd.DataFrame(frame)]
    try:
        import polars

        frames.append(polars.DataFrame(frame | {"seen": [day(2024, 5, 1), None, day(2025, 1, 1)]}))
    except ImportError:
        pass
    for frame in frames:
        options = {"column": "text", "keep": "max"}
        assert simtool.deduplicate(frame, keep_field="seen", **options).kept.to_pydict() == {"row": [2]}
        assert simtool.deduplicate(frame, keep_field=frame["seen"], **options).kept.to_pydict() == {"row": [2]}
    assert kept(pd.Series([1.5, None, 2.5]).to_numpy()) == [2]
    found = simtool.deduplicate({"text": ["a b c d"] * 2, "n": [1, 2]}, column="text", keep="max", keep_field="n")
    assert found.kept.to_pydict() == {"row": [1]}


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"keep": "max"}, ValueError, "keep max: needs a field, as in max:score"),
        ({"keep_field": [1]}, ValueError, "keep first: compares no values"),
        ({"keep": "max", "keep_field": [1, 2]}, ValueError, "keep_field 2: must be as many as the texts"),
        ({"keep": "max", "keep_field": "date"}, ValueError, "keep_field date: must be a column"),
        ({"keep": "max", "keep_field": [[1]]}, TypeError, "values must be numbers, texts, points in time"),
        ({"keep": "max", "keep_field": 7}, TypeError, "not iterable"),
    ],
)
def test_wrong_keep_options_are_reported(options, error, message):
    with pytest.raises(error, match=message):
        simtool.deduplicate(["a b c d"], **options)


def test_missing_columns_are_reported():
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"text": ["a"], "date": [1]})
    with pytest.raises(ValueError, match="keep_field day: must be a column of the table of the texts: text, date"):
        simtool.deduplicate(table, keep="max", keep_field="day")
    with pytest.raises(TypeError, match="one column of values, not a table of several"):
        simtool.deduplicate(["a"], keep="max", keep_field=table)
    with pytest.raises(TypeError, match="cannot be read from the Arrow type"):
        kept(pa.array([[1], [2]]))
