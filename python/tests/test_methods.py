"""Methods as objects: each is the text that the keyword `method` takes."""

import copy
import fractions
import pickle

import pytest

import simtool


def test_a_method_is_its_text():
    assert str(simtool.MinHash(lanes=16)) == "minhash:lanes=16"
    assert str(simtool.SimHash(bits=128, max_distance=6)) == "simhash:bits=128,max_distance=6"
    # The order of the keywords does not matter.
    assert simtool.SimHash(max_distance=6, bits=128) == simtool.SimHash(bits=128, max_distance=6)
    assert str(simtool.Exact()) == "exact"
    assert str(simtool.Exact(similarity=fractions.Fraction(4, 5), shingle=None)) == "exact:similarity=4/5"
    assert str(simtool.IMatch(stop_words=["the", "a"])) == "i-match:stop_words=words:a the"


def test_methods_are_compared_shown_and_stored():
    one, other = simtool.MultiLexicon(lexicons=4, votes="sum"), simtool.MultiLexicon(lexicons=4, votes="sum")
    assert one == other and hash(one) == hash(other) and len({one, other}) == 1
    assert one != simtool.MultiLexicon(lexicons=5, votes="sum")
    assert repr(one) == "simtool.MultiLexicon(lexicons=4, votes='sum')"
    for again in (copy.copy(one), copy.deepcopy(one), pickle.loads(pickle.dumps(one))):
        assert (type(again), again, repr(again)) == (simtool.MultiLexicon, one, repr(one))


def test_a_method_goes_wherever_its_text_does(texts, tmp_path):
    method = simtool.SimHash(bits=128, max_distance=6)
    found = simtool.deduplicate(texts, method=method)
    assert found.method == "simhash:bits=128,max_distance=6,shingle=words:3"
    assert found.removed.to_pydict() == simtool.deduplicate(texts, method=str(method)).removed.to_pydict()
    assert simtool.fingerprint(["a b c"], method=simtool.SimHash(bits=256)).bits == 256
    assert simtool.Index(tmp_path / "seen.idx", method=method).method == found.method
    (tmp_path / "a.txt").write_text("one two three four")
    exact = simtool.Exact(shingle="words:2")
    summary = simtool.deduplicate_files(tmp_path / "a.txt", output=tmp_path / "out", method=exact)
    assert summary["parameters"]["shingle"] == "words:2"
    measured = simtool.evaluate(["a b c d", "a b c d", "e f g"], [(0, 1)], [exact])
    assert len(measured.to_dict()["methods"]) == 1


def test_lanes_alone_are_enough():
    # With 16 and 128 lanes there is no room for the sizes of the sets.
    for lanes in (16, 128, 124):
        assert len(simtool.deduplicate(["one two three four"] * 2, method=simtool.MinHash(lanes=lanes)).removed) == 1


def test_ignored_pieces_and_folds_are_settings_of_methods():
    texts = ["Café 12 near ORDER-17,3 of ann", "cafe 9 near ORDER-4,25 of ann"]
    ignore = ["re:ORDER-[0-9]{1,3},[0-9]+", "numbers"]
    method = simtool.Exact(similarity=1, ignore=ignore, fold="diacritics")
    assert str(method) == (
        "exact:similarity=1,fold=diacritics,ignore=numbers,,re:ORDER-[0-9]{1,,3},,[0-9]+"
    )
    for settings in ({"method": method}, {"similarity": 1, "ignore": ignore, "fold": "diacritics"}):
        assert len(simtool.deduplicate(texts, **settings).removed) == 1
    assert len(simtool.deduplicate(texts, similarity=1, ignore=ignore).removed) == 0
    assert len(simtool.fingerprint(texts, ignore=ignore, fold="diacritics")) == 2


def test_wrong_settings_are_refused():
    with pytest.raises(TypeError, match="lanse"):
        simtool.MinHash(lanse=16)
    with pytest.raises(TypeError, match="lanes must be text or a number, not list"):
        simtool.MinHash(lanes=[16])
    with pytest.raises(ValueError, match="ignore words: must be dates"):
        simtool.Exact(ignore="words")
    with pytest.raises(ValueError, match="minhash:bits=3"):
        simtool.deduplicate(["a"], method=simtool.MinHash(bits=3))


def test_words_that_are_in_several_kept_texts_are_covered():
    a, b = (" ".join(f"{name}{number}" for number in range(20)) for name in "ab")
    texts = [a, b, f"{a} {b}", f"{a} with more words of its own"]
    found = simtool.deduplicate(texts, method="covered")
    # The last text has six words of its own, so it stays, and it has all words of the first one.
    covered = {"row": [0, 2], "kept": [3, 1], "lost_words": [0, 0], "covered_by": [1, 2]}
    assert found.removed.to_pydict() == covered
    assert pickle.loads(pickle.dumps(found)).removed.to_pydict() == covered
    assert found.method == "covered:shingle=words:8"
    found = simtool.deduplicate(texts, method=simtool.Covered(), keep="longest")
    assert found.removed.to_pydict()["row"] == [0, 1]
    with pytest.raises(ValueError, match="covered"):
        simtool.evaluate(["a", "b"], [(0, 1)], ["covered"])
