"""Groups and preferences: within, across, prefer, keep_count, and keep with several rules."""

import pytest

import simtool

TEXTS = ["a b c d", "A b c d", "a, b, c, d", "a b c d!", "a b c d e f g"]
TABLE = {"text": TEXTS, "lang": ["en", "de", "en", None, "en"], "score": [1, 2, 3, 9, 3]}


def removed(**options):
    found = simtool.deduplicate(TABLE, column="text", **options).removed.to_pydict()
    return list(zip(found["row"], found["kept"]))


def test_only_texts_of_the_scope_are_compared():
    pytest.importorskip("pyarrow")
    assert removed() == [(1, 0), (2, 0), (3, 0)]
    assert removed(within="lang") == [(2, 0)]
    assert removed(across="lang") == [(1, 0)]
    other = {"text": ["a b c d"], "lang": ["de"]}
    found = simtool.match(other, against=TABLE, column="text", within="lang").removed.to_pydict()
    assert (found["row"], found["kept"]) == ([0], [1])


def test_several_rules_choose_the_kept_texts():
    pytest.importorskip("pyarrow")
    assert removed(keep="max:score") == [(0, 3), (1, 3), (2, 3)]
    assert removed(keep="max:score", within="lang") == [(0, 2)]
    assert removed(prefer="lang=de,en", keep="max:score") == [(0, 1), (2, 1), (3, 1)]
    assert removed(keep_count=3) == [(3, 0)]
    pairs = [(0, 1), (0, 2)]
    assert simtool.cluster(pairs, keep_count=2).removed.to_pydict()["row"] == [2]


@pytest.mark.parametrize(
    "options, message",
    [
        ({"within": "day"}, "within day: must be a column of the table of the texts"),
        ({"within": "file"}, "within file: is of files"),
        ({"within": "lang", "across": "lang"}, "across lang: does not go with"),
        ({"prefer": "lang"}, "prefer lang: must be a field and its preferred values"),
        ({"keep": "max:score", "keep_field": [1, 2, 3, 4, 5]}, "keep max:score: "),
        ({"keep_count": 0}, "keep_count 0: must be a whole number"),
    ],
)
def test_wrong_options_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        simtool.deduplicate(TABLE, column="text", **options)
