"""Types: checkers accept the examples and refuse wrong arguments."""

import doctest
import importlib.util
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent.parent
# Lines that a checker must accept.
RIGHT = """\
import fractions
import pathlib
import numpy
import simtool
from simtool import batches

found: simtool.NearDuplicates = simtool.deduplicate(["a", None], similarity=0.8, method="exact")
simtool.deduplicate(["a"], method="simhash:bits=128", max_distance=numpy.int64(3), threads=2, max_memory="1G")
simtool.deduplicate(["a"], similarity=fractions.Fraction(4, 5), shingle=5, tmp_dir=pathlib.Path("/tmp"))
simtool.deduplicate(["a"], similarity=None, shingle=None, keep="max:score", cluster="components")
simtool.deduplicate(["a"], method=simtool.MinHash(lanes=16, recall=0.95), verify=0.7, stop_words=["a"], within="lang")
simtool.match(["a"], against=["b"], method=simtool.Exact(shingle="words:8"), boilerplate=3)
names: list[str] = found.removed.column_names
simtool.pairs(simtool.fingerprint(["a"], method="simhash:bits=64"), 3, against=simtool.fingerprint(["b"]), threads=1)
simtool.cluster(found.pairs, rows=2, cluster="components")
seen: int = len(simtool.Index("seen.idx", max_distance=3))
simtool.MultiLexicon(votes="sum", lexicon_bits="shared")
simtool.deduplicate_files("a.jsonl", output="out", glob=["*.gz", "*.zst"], write_kept=True, config="s.toml")
simtool.deduplicate_files("a.jsonl", output="out", annotate="in-place,weight=log")
simtool.deduplicate_files("a.jsonl", output="out", annotate=True, text_field="title+body")
simtool.match_files(["a"], against="b", output=pathlib.Path("out"), against_text_field="body", output_format="ids")
simtool.cut_passages_files("a", output="out", words=20, cut="all", mask="[...]")
described = batches.fingerprint({"id": [1], "text": ["a"]}, method="exact", similarity=0.8, keep="max:size")
batches.fates([described], batches.pairs(described, described, threads=2, verify=0.7), cluster="components")
counts: dict[str, object] = simtool.contamination_files("items", "pages", measure="weighted", share=0.7)
"""
# Lines that a checker must refuse.
WRONG = """\
import simtool
import simtool.batches

simtool.batches.pairs({"id": [1]}, similarty=0.8)
simtool.batches.fates({"id": [1]}, [], cluster="chains")
simtool.batches.fingerprint("a.parquet")
simtool.deduplicate(["a"], similarty=0.8)
simtool.deduplicate(["a"], max_distance="three")
simtool.deduplicate(["a"], cluster="chains")
simtool.deduplicate(["a"], bits="many")
simtool.deduplicate(["a"], write_kept=True)
simtool.deduplicate(["a"], similarity=[0.8])
simtool.deduplicate([1, 2])
simtool.match(["a"], against=["b"], keep="last")
simtool.match(["a"], ["b"])
simtool.fingerprint(["a"], max_tokens=3)
simtool.pairs(simtool.fingerprint(["a"]), memory="1G")
simtool.cluster([(0, 1)], keep="longest")
simtool.compare("a", 1)
simtool.Index("seen.idx", keep="last")
simtool.deduplicate_files("a.jsonl")
simtool.MinHash(lanse=16)
simtool.MinHash(lanes="many")
simtool.MinHash(measure="dice")
simtool.SimHash(weight="half")
simtool.MultiLexicon(votes="most")
simtool.Exact(max_distance=3)
simtool.deduplicate_files("a.jsonl", output="out", output_format="xml")
simtool.deduplicate_files("a.jsonl", output="out", write_kept="yes")
simtool.deduplicate_files("a.jsonl", output="out", quiet=True)
simtool.match_files("a", against="b", output="out", annotate=True)
simtool.passages_files("a", cut="all")
simtool.contamination_files("a", "b", measure="cosine")
"""
# Only the types of simtool matter. Those of the libraries in the examples would take half a minute.
MYPY = """\
[mypy]
strict = true
ignore_missing_imports = true
[mypy-pyarrow.*,polars.*,duckdb.*,pandas.*,datasets.*]
follow_imports = skip
"""


def of_guide(text: str) -> str:
    code = "".join(example.source for example in doctest.DocTestParser().get_examples(text))
    # By the types of DuckDB, a query may return None, and those of datasets do not name Arrow's interface.
    for name in ("duckdb", "datasets"):
        code = re.sub(rf"import {name}(?:, (\w+))?\n", rf"{name} = cast(Any, None)\nimport \1\n", code)
    return "from typing import Any, cast\n" + code.replace("\nimport \n", "\n")


def of_notebook(text: str) -> str:
    cells = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
    return "\n".join("".join(cell["source"]) for cell in cells)


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """The lines above, and the code of the examples."""
    folder = tmp_path_factory.mktemp("types")
    readme = re.search(r"## In Python.*?```python\n(.*?)```", (FOLDER.parent / "README.md").read_text(), re.S)[1]
    files = {
        "right.py": RIGHT,
        "wrong.py": WRONG,
        "shards.py": (FOLDER / "examples/shards.py").read_text(),
        "hub_dedup.py": (FOLDER / "examples/hub_dedup.py").read_text(),
        "notebook.py": of_notebook((FOLDER / "examples/near_duplicates.ipynb").read_text()),
        "guide.py": of_guide((FOLDER.parent / "docs/start/python.md").read_text()),
        "page.py": of_guide((FOLDER / "README.md").read_text()),
        "readme.py": "import polars\n\ntexts = ['a']\nframe = polars.DataFrame({'text': texts})\n" + readme,
        "mypy.ini": MYPY,
        "pyrightconfig.json": json.dumps({"reportMissingImports": False}),
    }
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


def refused(printed: str) -> dict[str, set[int]]:
    """Returns the lines with an error in each file."""
    found: dict[str, set[int]] = {}
    for name, line in re.findall(r"(\w+\.py):(\d+):.*?error", printed):
        found.setdefault(name, set()).add(int(line))
    return found


@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_checkers_accept_the_examples_and_refuse_wrong_arguments(checker, sources):
    if importlib.util.find_spec(checker) is None or checker == "pyright" and shutil.which("node") is None:
        pytest.skip(f"{checker} is not there")
    # Pyright looks for packages in the environment of another Python otherwise.
    options = ["--pythonpath", sys.executable] if checker == "pyright" else []
    command = [sys.executable, "-m", checker, *options, *sorted(path.name for path in sources.glob("*.py"))]
    done = subprocess.run(command, cwd=sources, capture_output=True, text=True)
    found = refused(done.stdout)
    wrong = {number for number, line in enumerate(WRONG.splitlines(), 1) if line.startswith("simtool")}
    assert found.pop("wrong.py", set()) == wrong, done.stdout + done.stderr
    assert found == {}, done.stdout
