"""The recipes of the guide give the result of `simtool dedup` on the real libraries, and so does the script for the Hub."""

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import simtool

pa = pytest.importorskip("pyarrow", reason="skipped: pyarrow is not installed")
pq = pytest.importorskip("pyarrow.parquet", reason="skipped: pyarrow is not installed")

FOLDER = Path(__file__).parent.parent
GUIDE = (FOLDER.parent / "docs/guides/engines.md").read_text()
RECIPES = re.findall(r"<!-- recipe: (\w+) -->\n```python\n(.*?)```", GUIDE, re.S)
ENGINES = ["datasets", "datasets", "ray", "dask", "polars", "duckdb", "daft", "datatrove"]


@pytest.fixture
def documents(tmp_path, texts):
    """Writes documents as a Parquet file with several row groups, and returns its path. Some have no words."""
    rows = {"id": [f"d{row:05}" for row in range(len(texts))], "text": [text or "…" for text in texts]}
    path = tmp_path / "documents.parquet"
    pq.write_table(pa.table(rows), path, row_group_size=70)
    return path


def ids_of(path):
    return sorted(pq.read_table(path, columns=["id"])["id"].to_pylist())


def kept_by_the_program(documents, options):
    output = documents.parent / "out"
    simtool.deduplicate_files(documents, output=output, annotate=True, **options)
    rows = map(json.loads, (output / "documents.jsonl").open())
    return sorted(row["id"] for row in rows if row["kept"])


def check(documents, options):
    expected = kept_by_the_program(documents, options)
    assert ids_of(documents.parent / "clean.parquet") == expected
    assert 50 < len(expected) < pq.read_metadata(documents).num_rows - 50


def test_the_guide_has_a_recipe_for_each_engine():
    assert [engine for engine, _ in RECIPES] == ENGINES


@pytest.mark.parametrize("number", range(len(ENGINES)), ids=[f"{engine}-{at}" for at, engine in enumerate(ENGINES)])
def test_a_recipe_gives_the_result_of_the_program(number, documents):
    engine, code = RECIPES[number]
    pytest.importorskip(engine, reason=f"skipped: {engine} is not installed: scripts/engines-test installs it")
    lines = [line for line in code.splitlines() if line and not line.startswith(("import ", "from "))]
    assert len(lines) <= 26, "a recipe is short"
    script = documents.parent / "recipe.py"
    script.write_text(code)
    # A script of its own, because engines start processes that import the script again.
    done = subprocess.run([sys.executable, script], cwd=documents.parent, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    check(documents, ast.literal_eval(re.search(r"^OPTIONS = (.*)$", code, re.M)[1]))


@pytest.mark.parametrize("method", ["simhash:max_distance=3", "exact:similarity=0.7"])
def test_the_script_for_the_hub(method, documents):
    pytest.importorskip("datasets", reason="skipped: datasets is not installed")
    script = FOLDER / "examples/hub_dedup.py"
    command = [sys.executable, script, "documents.parquet", "--output", "clean.parquet"]
    command += ["--method", method] if method.startswith("exact") else []
    done = subprocess.run(command, cwd=documents.parent, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    check(documents, {"method": method})
    kept = len(ids_of(documents.parent / "clean.parquet"))
    assert f"300 documents, {kept} kept, {300 - kept} removed" in done.stdout
    # A wrong value is a line that says what to do, and no traceback.
    done = subprocess.run([*command, "--text", "body"], cwd=documents.parent, capture_output=True, text=True, timeout=300)
    assert done.returncode == 1 and done.stderr.splitlines()[-1].startswith("hub_dedup.py: ") and "body" in done.stderr
    # A tool for scripts reads their dependencies from the head.
    head = re.search(r"^# /// script\n(.*?)^# ///$", script.read_text(), re.S | re.M)[1]
    named = ast.literal_eval(re.search(r"^# dependencies = (.*)$", head, re.M)[1])
    assert {"datasets", "pyarrow", "numpy", "simtool-dedup"} == set(named)
