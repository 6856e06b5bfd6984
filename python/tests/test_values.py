"""Results are pickled and copied, and values of NumPy and pandas are taken as values."""

import copy
import decimal
import fractions
import pickle

import pytest

import simtool


def again(value):
    """Returns the value from its pickle and from its copies, which must have the same pickle."""
    pickled = pickle.dumps(value)
    restored = [pickle.loads(pickled), copy.copy(value), copy.deepcopy(value)]
    assert all(pickle.dumps(other) == pickled for other in restored)
    return restored[0]


METHODS = [
    {},
    {"method": "simhash", "max_distance": 10},
    {"method": "simhash", "max_distance": 16, "verify": 0.7},
    {"method": "exact:weight=idf", "cluster": "components", "similarity": 0.5},
]


def test_results_are_pickled(texts):
    for options in METHODS:
        found = simtool.deduplicate(texts, annotate="repeated=4,weight=1:1,3:2.5", **options)
        assert found.pair_count > 10
        both = simtool.match(texts[100:], against=texts[:200], **{name: value for name, value in options.items() if name != "cluster"})
        for result in (found, both):
            other = again(result)
            assert (len(other), repr(other), other._repr_html_()) == (len(result), repr(result), result._repr_html_())
            for table in ("kept", "removed", "clusters", "pairs", "documents")[: 4 if result is both else 5]:
                assert getattr(other, table).to_pydict() == getattr(result, table).to_pydict()
        table = again(found.removed)
        assert (repr(table), table.to_pydict()) == (repr(found.removed), found.removed.to_pydict())
        assert again(found.clusters["removed"]).to_pylist() == found.clusters["removed"].to_pylist()
    chained = simtool.cluster([(0, 3, 0.9), (3, 4, 0.8)], rows=5, cluster="components")
    assert again(chained).removed.to_pydict() == chained.removed.to_pydict()


def test_fingerprints_and_measures_are_pickled(texts):
    for options in [{}, {"method": "simhash:bits=256,weight=idf"}, {"method": "minhash"}, {"method": "multi-lexicon"}]:
        made = simtool.fingerprint(texts, **options)
        other = again(made)
        assert (repr(other), other.null_count) == (repr(made), made.null_count)
        # The learned model is a part of the pickle.
        later = simtool.fingerprint(texts[:50], by=other)
        assert again(later).recipe == made.recipe
        assert simtool.pairs(later, 0, against=made).to_pydict() == simtool.pairs(later, 0, against=other).to_pydict()
    compared = simtool.compare("one two three four", "one two three five")
    assert repr(again(compared)) == repr(compared)
    measured = simtool.evaluate(["a b c d", "a b c d", "e f g"], [(0, 1)], "exact")
    other = again(measured)
    assert (other.to_dict(), other.to_html()) == (measured.to_dict(), measured.to_html())


def test_damaged_pickles_are_refused(texts):
    found = simtool.deduplicate(texts, method="simhash", max_distance=10)
    function, arguments = found.__reduce__()
    rows, of_equal, is_complete, settings, coverage = arguments
    assert coverage == []
    documents, groups, pairs, removals, symbols, columns = rows
    for wrong in [
        ([1], groups, pairs, removals, symbols, columns),
        ([], groups, pairs, removals, symbols, columns),
        (documents, [[[2**31]]], pairs, removals, symbols, columns),
        (documents, groups, pairs[:-1], removals, symbols, columns),
        (documents, groups, b"\xff" * len(pairs), removals, symbols, columns),
        (documents, groups, pairs, removals[1:], symbols, columns),
        (documents, groups, pairs, removals, [b"seven b"], columns),
        (documents, groups, pairs, removals, [b""] * 3, columns),
        (documents, groups, pairs, removals, symbols, columns[:2]),
        (documents, groups, pairs, removals, symbols, [columns[0][:-8], *columns[1:]]),
        (documents, groups, pairs, removals, symbols, [*columns, b"seven b"]),
    ]:
        with pytest.raises(ValueError, match="damaged"):
            function(wrong, of_equal, is_complete, settings, coverage)
    covered = simtool.deduplicate(texts, method="covered")
    function, (*arguments, coverage) = covered.__reduce__()
    assert repr(function(*arguments, coverage)) == repr(covered)
    for wrong in [coverage[:1], [b"seven b", coverage[1]], [*coverage, b""], [coverage[0] + b"x" * 8, coverage[1]]]:
        with pytest.raises(ValueError, match="damaged"):
            function(*arguments, wrong)
    function, (columns,) = found.clusters.__reduce__()
    name, kind, width, values, starts, validity = columns[1]
    for wrong in [
        (name, "other", width, values, starts, validity),
        (name, kind, width, values, starts[:-8], validity),
        (name, kind, width, values[:-8], starts, validity),
        (name, "words", 0, values, starts, validity),
    ]:
        with pytest.raises(ValueError, match="damaged"):
            function([columns[0], wrong])


def test_computed_numbers_are_values(texts):
    for value, method in [
        (1 / 3, "1/3"),
        (0.1 + 0.2, "3/10"),
        (5 / 6, "5/6"),
        (0.8, "0.8"),
        (decimal.Decimal("0.75"), "0.75"),
        (fractions.Fraction(2, 3), "2/3"),
    ]:
        found = simtool.deduplicate(texts, similarity=value)
        expected = simtool.deduplicate(texts, similarity=method)
        assert (found.method, found.pairs.to_pydict()) == (expected.method, expected.pairs.to_pydict())
    # Half of the shingles are shared, which is exactly the limit.
    assert len(simtool.deduplicate(["a b c d e", "a b c d f"], similarity=2 / 4).removed) == 1
    assert len(simtool.deduplicate(["a b c d e f g", "a b c d e f"], similarity=4 / 5).removed) == 1


def test_values_of_numpy_are_values(texts):
    numpy = pytest.importorskip("numpy", reason="skipped: NumPy is not installed")
    expected = simtool.deduplicate(texts, similarity=0.8, threads=1)
    for value in (numpy.float32(0.8), numpy.float64(0.8)):
        found = simtool.deduplicate(texts, similarity=value, threads=numpy.int8(1))
        assert found.removed.to_pydict() == expected.removed.to_pydict()


def test_missing_values_of_pandas_are_missing(texts, tmp_path):
    pandas = pytest.importorskip("pandas", reason="skipped: pandas is not installed")
    missing = [pandas.NA if text is None else text for text in texts]
    expected = simtool.deduplicate(texts)
    for given in (missing, pandas.Series(missing, dtype="object"), pandas.Series(missing, dtype="string")):
        assert simtool.deduplicate(given, similarity=pandas.NA).removed.to_pydict() == expected.removed.to_pydict()
    both = ["one two three four"] * 3
    for last in (pandas.NA, pandas.NaT, None):
        found = simtool.deduplicate(both, keep="max", keep_field=[last, 1, 2])
        assert found.kept.to_pydict() == {"row": [2]}
    indexes = [simtool.Index(tmp_path / name) for name in ("none", "na")]
    for index, missing in zip(indexes, (None, pandas.NA)):
        index.add(both[:1], ids=[missing])
    assert indexes[0].query(both).to_pydict() == indexes[1].query(both).to_pydict()
