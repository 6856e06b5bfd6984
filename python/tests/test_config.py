"""A settings file has options of the functions that work on files."""

import pytest

import simtool

TEXTS = ["one two three four five six seven", "one two three four five six eight", "nine"]


@pytest.fixture
def files(tmp_path):
    for number, text in enumerate(TEXTS):
        (tmp_path / f"{number}.txt").write_text(text)
    return [tmp_path / f"{number}.txt" for number in range(3)]


def settings(tmp_path, text):
    path = tmp_path / "simtool.toml"
    path.write_text(text)
    return path


def test_options_of_the_file_count_unless_they_are_given(files, tmp_path):
    config = settings(
        tmp_path,
        '[dedup]\nsimilarity = 0.5\nquiet = true\nforce = true\nannotate = true\noutput = "other"\n'
        "[match]\nsimilarity = 0.9\n",
    )
    out = tmp_path / "out"
    summary = simtool.deduplicate_files(files, output=out, config=config)
    assert (summary["removed"], summary["parameters"]["similarity"]) == (1, 0.5)
    assert (out / "documents.jsonl").exists() and not (tmp_path / "other").exists()
    assert "--similarity=0.5" in summary["command"] and "config" not in summary["command"]
    assert simtool.deduplicate_files(files, output=out, config=config, similarity=0.9)["removed"] == 0
    assert simtool.preview_files(files, config=str(config))["removed"] == 1
    matched = simtool.match_files(files[1], against=files[0], output=out, config=config, force=True)
    assert matched["removed"] == 0


def test_given_options_go_before_those_that_they_exclude(files, tmp_path):
    config = settings(tmp_path, '[dedup]\nwithin = "folder"\n')
    summary = simtool.deduplicate_files(files, output=tmp_path / "out", config=config, across="file")
    assert "--across=file" in summary["command"] and "within" not in summary["command"]


def test_wrong_files_are_refused(files, tmp_path):
    for text, message in [
        ("[dedup]\nsimilarty = 1", "similarty"),
        ("[dedpu]\nsimilarity = 1", "is no command"),
        ("[dedup", "must be TOML"),
    ]:
        with pytest.raises(ValueError, match=message):
            simtool.deduplicate_files(files, output=tmp_path / "out", config=settings(tmp_path, text))
