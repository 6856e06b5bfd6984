"""Batches in any division give the fates of one machine, and the golden vectors."""

import doctest
import inspect
import json
import random
import re
from pathlib import Path

import pytest

import simtool

np = pytest.importorskip("numpy", reason="skipped: numpy is not installed")
pa = pytest.importorskip("pyarrow", reason="skipped: pyarrow is not installed")
from simtool import batches  # noqa: E402

VECTORS = json.loads((Path(__file__).parents[2] / "docs/reference/vectors.json").read_text())
OPTIONS = [
    {},
    {"max_distance": 12, "keep": "last", "cluster": "components"},
    {"method": "simhash:bits=128", "max_distance": 30, "shingle": "words:2", "keep": "longest"},
    {"method": "minhash:measure=jaccard", "max_distance": 20},
    {"method": "minhash:recall=0.9", "max_distance": 200},
    {"method": "multi-lexicon:lexicons=6,votes=4", "max_distance": 8, "keep": "max:size"},
    {"max_distance": 20, "verify": 0.6},
    {"method": "simhash:bits=128", "max_distance": 40, "verify": "containment:0.7", "keep": "last"},
    {"method": "exact", "similarity": 0.8},
    {"method": "exact", "similarity": "cosine:0.6", "shingle": "words:1", "keep": "longest"},
    {"method": "exact", "similarity": 0.6, "cluster": "components", "keep": "min:size"},
]


@pytest.fixture(scope="module")
def documents(texts):
    """Documents whose ids are in another order than the rows."""
    numbers = random.Random(3).sample(range(10_000), len(texts))
    sizes = [None if number % 7 == 0 else number % 5 for number in numbers]
    return pa.table({"id": [f"ä{number:04}" for number in numbers], "text": texts, "size": sizes, "other": numbers})


def on_one_machine(documents, options):
    """Returns the fates that `simtool.deduplicate` decides for the documents in the order of their ids."""
    rows = documents.sort_by("id")
    keep, _, field = options.get("keep", "first").partition(":")
    given = {"method": "simhash", **options, "keep": keep} | ({"keep_field": field} if field else {})
    found = simtool.deduplicate(rows, column="text", **given).documents.to_pydict()
    ids = rows["id"].to_pylist()
    fates = {"id": ids, "kept": [row == kept for row, kept in zip(found["row"], found["kept"])]}
    fates["kept_id"] = [ids[kept] for kept in found["kept"]]
    names = [name for name in ("similarity", "distance") if name in found]
    return fates | {name: found[name] for name in [*names, "cluster_id", "cluster_size"]}


def divided(table, size):
    """Divides a table into tables of mixed rows."""
    order = random.Random(size).sample(range(len(table)), len(table))
    return [table.take(order[at : at + size]) for at in range(0, len(table), size)]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_any_division_gives_the_fates_of_one_machine(documents, options):
    expected = on_one_machine(documents, options)
    assert 50 < sum(expected["kept"]) < len(documents) - 30

    def fates(described, pairs):
        return batches.fates(described, pairs, **options).to_pydict()

    whole = batches.fingerprint(documents, **options)
    assert whole["id"].to_pylist() == documents["id"].to_pylist()
    pairs = batches.pairs(whole, **options)
    assert fates(whole, pairs) == expected
    parts = [batches.fingerprint(part, **options) for part in divided(documents, 37)]
    assert pa.concat_tables(parts).sort_by("id") == whole.sort_by("id")
    # Every two parts are compared in a task of their own, and their pairs come in another order.
    grid = [batches.pairs(part, threads=2, **options) for part in parts]
    grid += [batches.pairs(a, b, **options) for at, a in enumerate(parts) for b in parts[:at]]
    assert fates(parts[::-1], grid) == expected
    assert set(map(str, pairs.to_pylist())) <= {str(pair) for part in grid for pair in swapped(part)}
    if options.get("method") == "exact":
        return
    # An engine groups the rows of all parts by bucket.
    placed = pa.concat_tables([batches.buckets(part, parts=5, **options) for part in parts])
    tasks = [placed.filter(pa.compute.equal(placed["bucket"], task)) for task in range(5)]
    assert min(map(len, tasks)) > 20 and sum(map(len, tasks)) == len(placed)
    near = [batches.pairs(task, **options) for task in tasks]
    assert fates(parts, near) == expected
    assert {str(pair) for part in near for pair in part.to_pylist()} == set(map(str, pairs.to_pylist()))


def swapped(pairs):
    """Returns the pairs with the smaller group first."""
    for pair in pairs.to_pylist():
        a, b = sorted((pair["a"], pair["b"]))
        yield {**pair, "a": a, "b": b}


@pytest.mark.parametrize("options", [OPTIONS[1], OPTIONS[2], OPTIONS[6], OPTIONS[8]], ids=str)
def test_pairs_between_two_batches_are_those_of_a_match(documents, options):
    sides = [documents.slice(0, 120), documents.slice(120)]
    described = [batches.fingerprint(side, **options) for side in sides]
    groups = [side["group"].to_pylist() for side in described]
    given = {name: value for name, value in options.items() if name not in ("keep", "cluster")}
    found = simtool.match(sides[0], column="text", against=sides[1]["text"], **{"method": "simhash", **given}).pairs.to_pydict()
    a, b = found.pop("a"), found.pop("b")
    expected = {(groups[0][row], groups[1][other], *how) for row, other, *how in zip(a, b, *found.values())}
    pairs = batches.pairs(*described, **options)
    assert {tuple(pair.values()) for pair in pairs.to_pylist()} == expected
    assert len(pairs) == len(expected) > 30


@pytest.mark.parametrize("run", VECTORS["runs"], ids=lambda run: str(run["options"]))
def test_the_golden_vectors(run):
    documents = {name: [document[name] for document in VECTORS["documents"]] for name in ("id", "text")}
    described = batches.fingerprint(documents, **run["options"])
    groups = described["group"].to_pylist()
    if "fingerprints" in run:
        made = [None if value is None else value.hex() for value in described["fingerprint"].to_pylist()]
        assert made == run["fingerprints"]
    pairs = batches.pairs(described, **run["options"])
    closeness = pairs.column_names[2:]
    found = {(frozenset((pair["a"], pair["b"])), *(pair[name] for name in closeness)) for pair in pairs.to_pylist()}
    group_of = dict(zip(documents["id"], groups))
    ends = [(group_of[pair["a"]], group_of[pair["b"]], *(pair[name] for name in closeness)) for pair in run["pairs"]]
    assert found == {(frozenset((a, b)), *how) for a, b, *how in ends if a != b}
    # All pairs of documents of one group are in the file, too.
    equal = sum(groups.count(group) - 1 for group in groups if group is not None) // 2
    assert sum(a == b for a, b, *_ in ends) == equal
    fates = batches.fates(described, pairs, **run["options"]).to_pylist()
    assert fates == [{name: fate[name] for name in fates[0]} for fate in run["fates"]]


def test_batches_come_from_several_libraries(documents):
    options = OPTIONS[6]
    expected = on_one_machine(documents, options)
    given = [documents, documents.to_batches()[0], documents.to_batches(), documents.to_pydict()]
    given.append(documents.set_column(1, "text", documents["text"].dictionary_encode()))
    for library, made in [("polars", "DataFrame"), ("pandas", "DataFrame")]:
        try:
            given.append(getattr(__import__(library), made)(documents.to_pydict()))
        except ImportError:
            continue
    for batch in given:
        described = batches.fingerprint(batch, **options)
        if type(batch).__module__.startswith("polars"):
            # Bytes come back in the type of the library.
            described = type(batch)(described)
        assert batches.fates(described, batches.pairs(described, **options), **options).to_pydict() == expected


def test_other_columns_and_numbers_as_ids(documents):
    renamed = documents.rename_columns(["name", "body", "size", "other"])
    described = batches.fingerprint(renamed, text="body", id="other")
    fates = batches.fates(described, batches.pairs(described))
    numbered = documents.set_column(0, "id", documents["other"])
    assert fates.to_pydict() == on_one_machine(numbered, {})


def test_many_copies_make_few_pairs():
    texts = ["one and the same text of a mirror", "another text of another page"] * 20_000
    described = batches.fingerprint({"id": range(len(texts)), "text": texts}, method="exact")
    pairs = batches.pairs(described, method="exact")
    fates = batches.fates(described, pairs, method="exact")
    assert len(pairs) == 0
    assert fates["kept_id"].to_pylist() == [row % 2 for row in range(len(texts))]
    assert set(fates["cluster_size"].to_pylist()) == {20_000}


def test_no_documents_and_none_with_words():
    for texts in ([], [None, "", "…"]):
        for options in OPTIONS[0], OPTIONS[6], OPTIONS[8]:
            rows = pa.table({"id": pa.array(range(len(texts)), pa.int64()), "text": pa.array(texts, pa.string())})
            described = batches.fingerprint(rows, **options)
            fates = batches.fates(described, batches.pairs(described, described, **options), **options)
            assert fates["kept"].to_pylist() == [True] * len(texts)
            assert fates["kept_id"].to_pylist() == list(range(len(texts)))


def test_errors_say_what_to_do(documents):
    for method in ("simhash:weight=idf", "exact:weight=idf", "i-match"):
        with pytest.raises(ValueError, match="learns from the whole collection, and a batch is only a part of it. Use"):
            batches.fingerprint(documents, method=method)
    described = batches.fingerprint(documents)
    longer = batches.fingerprint(documents, method="simhash:bits=128")
    refused = [
        ("text: the batch has no column 'body', only id, text, size, other", lambda: batches.fingerprint(documents, text="body")),
        ("id: the batch has no column 'url'", lambda: batches.fingerprint(documents, id="url")),
        ("keep: the batch has no column 'score'", lambda: batches.fingerprint(documents, keep="max:score")),
        ("text: the column 'size' must be text, not int64", lambda: batches.fingerprint(documents, text="size")),
        ("id: ids must be texts or whole numbers, not double", lambda: batches.fingerprint({"id": [0.5], "text": ["a"]})),
        ("id: 1 documents have no ID", lambda: batches.fingerprint({"id": [None, "a"], "text": ["a", "b"]})),
        ("described: the batch has no column 'group', only id, text", lambda: batches.pairs(documents)),
        ("described: the batch has no column 'text', only id, group", lambda: batches.pairs(described, verify=0.8)),
        ("a fingerprint has not 8 bytes: give each function the same options", lambda: batches.pairs(longer)),
        ("a fingerprint has not 16 bytes", lambda: batches.buckets(described, method="simhash:bits=128")),
        ("there are no fingerprints", lambda: batches.buckets(described, method="exact")),
        ("1 ids are repeated, such as 7", lambda: batches.fates({"id": [7, 7], "group": [b"a", None]}, batches.pairs(described))),
        ("a group has no document in `described`", lambda: batches.fates(described.slice(0, 9), batches.pairs(described, max_distance=9))),
        ("works only with simtool.deduplicate", lambda: batches.fingerprint(documents, within="lang")),
        ("simhash has no such option", lambda: batches.fingerprint(documents, similarty=0.8)),
    ]
    for message, call in refused:
        with pytest.raises(ValueError, match=re.escape(message)):
            call()


@pytest.mark.parametrize("name", batches.__all__)
def test_docstrings_explain_all_parameters_and_their_examples_are_true(name):
    function = getattr(batches, name)
    explained = re.findall(r"^    (\w+):", inspect.getdoc(function).partition("\nArgs:\n")[2].partition("\n\n")[0], re.M)
    assert explained == list(inspect.signature(function).parameters)
    examples = doctest.DocTestParser().get_doctest(function.__doc__, {}, name, name, 0)
    printed = []
    doctest.DocTestRunner().run(examples, out=printed.append)
    assert examples.examples and not printed, "".join(printed)


def test_the_docstring_of_the_module_is_true():
    assert doctest.testmod(batches).failed == 0


def test_the_example_of_the_page_runs(monkeypatch):
    page = Path(__file__).parents[2] / "docs/reference/vectors.md"
    monkeypatch.chdir(page.parents[2])
    exec(re.search(r"```python\n(.*?)```", page.read_text(), re.S)[1], {})
