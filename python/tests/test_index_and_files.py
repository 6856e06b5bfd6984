"""An index that grows, files, and methods that are measured."""

import json

import pyarrow
import pytest

import simtool
from test_found import program


def test_an_index_finds_what_it_saw(tmp_path, texts):
    index = simtool.Index(tmp_path / "seen.idx", max_distance=5)
    first = index.add(texts[:200], [f"t{row}" for row in range(200)], source="first").to_pydict()
    second = index.add(texts[200:]).to_pydict()
    for text, number, repeats in zip(texts, first["number"] + second["number"], first["repeats"]):
        assert (text in (None, "")) == (number is None and repeats is None)
    assert len(index) == sum(number is not None for number in first["number"] + second["number"])
    again = simtool.Index(tmp_path / "seen.idx")
    assert again.filter(texts).to_pydict()["row"] == [row for row, text in enumerate(texts) if not text]
    row = next(row for row, number in enumerate(first["number"]) if number is not None)
    found = again.query([texts[row], None, "nothing like that was ever seen here"]).to_pydict()
    assert (found["row"][0], found["id"][0], found["distance"][0]) == (0, f"t{row}", 0)
    assert set(found["row"]) == {0}
    shown = f"Index({tmp_path}/seen.idx, {len(index)} documents; simhash:bits=64,max_distance=5,"
    assert repr(index).startswith(shown)
    count = len(index)
    assert index.remove([f"t{row}", "nobody"]) == 1
    index.compact()
    index.verify()
    assert len(index) == count - 1 == index.stat()["documents"]
    stat = program("index", "stat", tmp_path / "seen.idx")
    assert stat.returncode == 0, stat.stderr


def test_the_program_finds_the_same_new_ones(tmp_path, texts):
    lines = [json.dumps({"id": str(row), "text": text or ""}) for row, text in enumerate(texts)]
    (tmp_path / "texts.jsonl").write_text("\n".join(lines))
    program("index", "create", tmp_path / "a.idx", "--max-distance", "5")
    done = program("index", "add", tmp_path / "a.idx", tmp_path / "texts.jsonl", "--json", "-q")
    assert done.returncode == 0, done.stderr
    expected = [(int(row["id"]), row["number"]) for row in map(json.loads, done.stdout.splitlines())]
    added = simtool.Index(tmp_path / "b.idx", max_distance=5).add(texts).to_pydict()
    found = [(row, number) for row, number in enumerate(added["repeats"]) if number is not None]
    assert found == expected and len(found) > 10


def test_an_index_of_another_method_is_refused(tmp_path):
    simtool.Index(tmp_path / "seen.idx", method="simhash:bits=128")
    with pytest.raises(ValueError, match="they differ in simhash128 and simhash64"):
        simtool.Index(tmp_path / "seen.idx", method="simhash:bits=64")
    with pytest.raises(ValueError, match="method exact: makes no fingerprints"):
        simtool.Index(tmp_path / "other.idx", method="exact")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file").write_text("x")
    with pytest.raises((OSError, ValueError)):
        simtool.Index(tmp_path / "folder")
    with pytest.raises(ValueError, match="ids 1: must be as many as the texts, of which there are 2"):
        simtool.Index(tmp_path / "seen.idx").add(["a", "b"], ["1"])


def test_files_are_deduplicated(tmp_path):
    rows = ["a b c d e", "f g h i j", "A b, c d e!"]
    with open(tmp_path / "texts.jsonl", "w") as file:
        file.writelines(json.dumps({"id": f"t{n}", "body": text}) + "\n" for n, text in enumerate(rows))
    out = tmp_path / "out"
    summary = simtool.deduplicate_files(
        tmp_path / "texts.jsonl", output=out, text_field="body", write_kept=True, similarity=0.9
    )
    assert (summary["documents"], summary["removed"]) == (3, 1)
    assert [json.loads(line)["id"] for line in (out / "removed.jsonl").read_text().splitlines()] == ["t2"]
    kept = (out / "kept" / "texts.jsonl").read_text()
    assert "t0" in kept and "t1" in kept and "t2" not in kept
    with pytest.raises((OSError, ValueError), match="force"):
        simtool.deduplicate_files([tmp_path / "texts.jsonl"], output=out, text_field="body")
    with pytest.raises(ValueError, match="text_colour"):
        simtool.deduplicate_files(tmp_path / "texts.jsonl", output=tmp_path / "x", text_colour="body")
    with pytest.raises(OSError, match="none.jsonl"):
        simtool.deduplicate_files(tmp_path / "none.jsonl", output=tmp_path / "x")
    # A path keeps its name in a message, whatever is in it.
    with pytest.raises(OSError, match="my--data.jsonl"):
        simtool.deduplicate_files(tmp_path / "my--data.jsonl", output=tmp_path / "x")
    with pytest.raises(OSError, match="nothing was written"):
        simtool.deduplicate_files(tmp_path / "texts.jsonl", output=tmp_path / "x", text_field="none")
    assert not (tmp_path / "x").exists()


def test_a_run_that_stores_what_it_reads_writes_the_same(tmp_path):
    texts = ["a b c d e", "f g h i j", "A b, c d e!"]
    (tmp_path / "texts.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    for name, more in [("plain", {}), ("resumed", {"resume": True})]:
        simtool.deduplicate_files(tmp_path / "texts.jsonl", output=tmp_path / name, **more)
    plain, resumed = [(tmp_path / name / "removed.jsonl").read_text() for name in ["plain", "resumed"]]
    assert plain == resumed and plain
    assert not (tmp_path / "resumed.parts").exists()
    with pytest.raises(ValueError, match="shard"):
        simtool.deduplicate_files(tmp_path / "texts.jsonl", output=tmp_path / "x", shard="1/2")


def test_a_preview_has_the_counts_of_the_run(tmp_path):
    for name, text in [("new.txt", "a b c d e"), ("other.txt", "f g h i j"), ("known.txt", "A b, c d e!")]:
        (tmp_path / "in" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "in" / name).write_text(text)
    preview = simtool.preview_files(tmp_path / "in")
    assert list(tmp_path.iterdir()) == [tmp_path / "in"]
    summary = simtool.deduplicate_files(tmp_path / "in", output=tmp_path / "out")
    assert all(preview[count] == summary[count] for count in ["documents", "kept", "removed", "clusters", "pairs"])
    assert preview["removed_by_closeness"] == [{"band": "similarity 1", "removed": 1}]
    assert preview["largest_clusters"][0]["shared_words"] == 5
    new = [tmp_path / "in" / "new.txt", tmp_path / "in" / "other.txt"]
    matched = simtool.preview_files(new, against=tmp_path / "in" / "known.txt")
    assert (matched["documents"], matched["removed"], matched["below_limit"]) == (2, 1, [])
    with pytest.raises(ValueError, match="at least one path"):
        simtool.preview_files([], against=tmp_path / "in")
    with pytest.raises(ValueError, match="text_colour"):
        simtool.preview_files(tmp_path / "in", text_colour="body")


def test_passages_are_listed_and_cut(tmp_path):
    (tmp_path / "in").mkdir()
    for name, text in [("a.txt", "so it was to be or not to be"), ("b.txt", "x To be, or not to be! Why?")]:
        (tmp_path / "in" / name).write_text(text)
    first, second = simtool.passages_files(tmp_path / "in", words=6)
    assert (first["partner_file"], first["first"], second["first"]) == (second["file"], True, False)
    assert len(simtool.passages_files(tmp_path / "in", words=7)) == 0
    rows = simtool.passages_files(tmp_path / "in", words=6)
    assert pyarrow.table(rows).to_pylist() == rows.to_pylist() == list(rows) and rows[-1] == second
    with pytest.raises(IndexError):
        rows[2]
    summary = simtool.cut_passages_files(tmp_path / "in", output=tmp_path / "out", words=6, mask="…")
    assert (summary["cut_documents"], summary["parameters"]["mask"]) == (1, "…")
    assert (tmp_path / "out" / "kept" / "in" / "b.txt").read_text() == "x …! Why?"
    with pytest.raises(ValueError, match="words"):
        simtool.passages_files(tmp_path / "in", words=0)
    with pytest.raises(ValueError, match="write_kept"):
        simtool.passages_files(tmp_path / "in", mask="…")


def test_files_are_matched(tmp_path):
    for name, text in [("new.txt", "a b c d e"), ("other.txt", "f g h i j"), ("known.txt", "A b, c d e!")]:
        (tmp_path / name).write_text(text)
    new = [tmp_path / "new.txt", tmp_path / "other.txt"]
    out = tmp_path / "out"
    summary = simtool.match_files(new, against=tmp_path / "known.txt", output=out, glob=["*.txt", "!x*"])
    assert (summary["documents"], summary["removed"], summary["corpus_documents"]) == (2, 1, 1)
    assert len((out / "pairs.jsonl").read_text().splitlines()) == 1
    # The command in the summary is one of the program, so that `simtool why` understands it.
    why = program("why", out, f"{tmp_path / 'other.txt'}:0")
    assert "was kept" in why.stdout, why.stderr
    with pytest.raises(ValueError, match="keep last: chooses among documents of one collection"):
        simtool.match_files(new, against=tmp_path / "known.txt", output=tmp_path / "x", keep="last")
    with pytest.raises(ValueError, match="paths: there must be at least one path"):
        simtool.match_files([], against=tmp_path / "known.txt", output=tmp_path / "x")


def test_items_are_found_in_documents(tmp_path):
    items, documents = tmp_path / "items.jsonl", tmp_path / "in.jsonl"
    items.write_text(
        '{"id": 7, "question": "Who wrote the tale of the white whale?", "answer": "Melville"}\n'
        '{"id": 8, "question": "Blue or green?"}\n{"id": 9, "answer": "\u2028"}\n'
    )
    documents.write_text('{"id": "a\u2028b", "text": "Who wrote the TALE of the white whale? It was Melville."}\n')
    found = simtool.contamination_files(items, documents, fields="question,answer", share=0.8)
    [row] = found.pop("rows")
    assert (row["item_id"], row["id"], row["words"], row["spans"]) == ("7", "a\u2028b", 8, [[0, 37]])
    assert row["share"] == pytest.approx(8 / 9) and row["best"] is True
    counts = {"items": 3, "found_items": 1, "short_items": 1, "items_without_words": 1, "documents": 1, "found_documents": 1}
    assert found == counts
    out = tmp_path / "found.tsv"
    options = {"fields": "question,answer", "measure": "weighted"}
    written = simtool.contamination_files([items], [documents], output=out, output_format="tsv", **options)
    assert written == counts and out.read_text().count("\n") == 2
    for wrong, message in [({"output_format": "tsv"}, "goes with `output`"), ({"text_colour": "x"}, "text_colour")]:
        with pytest.raises(ValueError, match=message):
            simtool.contamination_files(items, documents, fields="question", **wrong)
    with pytest.raises(ValueError, match="at least one path"):
        simtool.contamination_files(items, [])


def test_methods_are_measured():
    texts = ["a b c d e f g h", "a b c d e f g i", "j k l m n o p", "q r s t u v", None]
    measured = simtool.evaluate(texts, [(1, 0)], ["word-simhash", "exact:shingle=words:1"])
    told = measured.to_dict()
    assert [method["method"] for method in told["methods"]] == ["word-simhash", "exact:shingle=words:1"]
    assert "F1" in repr(measured) or "f1" in repr(measured).lower()
    assert measured.to_html().startswith("<!DOCTYPE html>")
    assert "<pre>" in measured._repr_html_()
    with pytest.raises(ValueError, match="method magic: must be one of"):
        simtool.evaluate(texts, [(1, 0)], "magic")
    with pytest.raises(ValueError, match="truth"):
        simtool.evaluate(texts, [], "exact")
