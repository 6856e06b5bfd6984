"""The guide, the notebook, the reference, the docstrings and the stubs are true."""

import ast
import doctest
import inspect
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import simtool

FOLDER = Path(__file__).parent.parent
BOOK = FOLDER.parent / "docs"
GUIDE = (BOOK / "start/python.md").read_text()
# The guide is split into a first part and the parts that need another library.
PARTS = re.split(r"(?=<!-- needs: )", GUIDE)
NEEDS = [re.match(r"<!-- needs: (.*?) -->", part) for part in PARTS]
ENDS = [part.split("\n```\n", 1)[0] if needs else part for part, needs in zip(PARTS, NEEDS)]


def ran(text, name, names):
    test = doctest.DocTestParser().get_doctest(text, names, name, name, 0)
    assert test.examples, name
    told = []
    doctest.DocTestRunner().run(test, out=told.append, clear_globs=False)
    assert not told, "".join(told)
    names.update(test.globs)


@pytest.mark.parametrize("number", range(len(PARTS)))
def test_the_guide_shows_what_is_printed(number, capsys):
    needs = NEEDS[number]
    for module in needs[1].split() if needs else []:
        # A folder of that name is not the library.
        if pytest.importorskip(module).__file__ is None:
            pytest.skip(f"{module} is not there")
    names = {}
    ran(ENDS[0], "guide", names)
    if number > 0:
        ran(ENDS[number], needs[1], names)


def test_the_page_of_the_package_shows_what_is_printed():
    ran((FOLDER / "README.md").read_text(), "python/README.md", {})


def test_the_docstring_of_the_package_is_true():
    ran(simtool.__doc__, "simtool", {})


@pytest.mark.parametrize("notebook", sorted((FOLDER / "examples").glob("*.ipynb")), ids=lambda path: path.name)
def test_a_notebook_runs(notebook, tmp_path, monkeypatch, capsys):
    pytest.importorskip("polars")
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__main__"}
    # A cell has to print its stored output, and its last line to have the stored value.
    for cell in json.loads(notebook.read_text())["cells"]:
        if cell["cell_type"] != "code":
            continue
        code = ast.parse("".join(cell["source"]))
        last = code.body.pop() if isinstance(code.body[-1], ast.Expr) else None
        exec(compile(code, notebook.name, "exec"), names)
        value = None if last is None else eval(compile(ast.Expression(last.value), "cell", "eval"), names)
        stored = {output["output_type"]: output for output in cell["outputs"]}
        printed = "".join(stored.get("stream", {"text": []})["text"])
        assert capsys.readouterr().out == printed
        if value is not None:
            data = stored["execute_result"]["data"]
            assert repr(value) == "".join(data["text/plain"])
            if isinstance(value, simtool.NearDuplicates | simtool.Table):
                assert value._repr_html_() == "".join(data["text/html"])


def test_the_readme_shows_what_works(tmp_path, monkeypatch):
    polars = pytest.importorskip("polars")
    readme = FOLDER.parent / "README.md"
    code = re.search(r"## In Python.*?```python\n(.*?)```", readme.read_text(), re.S)[1]
    monkeypatch.chdir(tmp_path)
    texts = ["a b c d", "A, b, c d!", "e f g h"]
    names = {"texts": texts, "frame": polars.DataFrame({"text": texts})}
    exec(code, names)
    assert names["result"].kept.to_pydict() == {"row": [0, 2]}
    assert len(simtool.Index("seen.idx")) == 2


PUBLIC = [name for name in simtool.__all__ if callable(getattr(simtool, name))]


@pytest.mark.parametrize("name", PUBLIC)
def test_a_docstring_has_examples_that_are_true(name):
    ran(inspect.getdoc(getattr(simtool, name)), name, {"simtool": simtool})


@pytest.mark.parametrize("name", PUBLIC)
def test_every_member_has_a_docstring(name):
    member = getattr(simtool, name)
    for part in vars(member) if inspect.isclass(member) else ():
        assert part.startswith("_") or inspect.getdoc(getattr(member, part)), part


def test_the_reference_is_up_to_date():
    pytest.importorskip("pyarrow")
    pytest.importorskip("simtool_spark")
    command = [sys.executable, FOLDER / "reference"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    page = BOOK / "reference/python.md"
    assert page.read_text() == printed, "run python python/reference > docs/reference/python.md"


def test_the_stubs_have_the_docstrings():
    pytest.importorskip("pyarrow")
    command = [sys.executable, FOLDER / "reference/stubs.py", "--check"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


# Modules with public functions, and the files with their signatures.
SOURCES = {"simtool": ["_simtool.pyi", "_files.py", "_methods.py"], "simtool_spark": ["__init__.py"]}


@pytest.mark.parametrize("module", SOURCES)
def test_the_docstrings_explain_all_parameters(module):
    if module == "simtool_spark":
        pytest.importorskip("pyarrow")
    offered, checked = pytest.importorskip(module), set()
    nodes = [node for source in SOURCES[module] for node in stubs(source, offered).body]
    for node in nodes:
        if getattr(node, "name", None) not in offered.__all__:
            continue
        thing = getattr(offered, node.name)
        checked.add(node.name)
        if isinstance(node, ast.FunctionDef):
            check_parameters(thing, node.args, node.name)
            continue
        for member in (member for member in node.body if isinstance(member, ast.FunctionDef)):
            if member.name in ("__init__", "__new__"):
                check_parameters(thing, member.args, node.name)
            elif not member.name.startswith("_"):
                check_parameters(getattr(thing, member.name), member.args, f"{node.name}.{member.name}")
    # A public name that no file has would not be checked.
    assert checked == {name for name in offered.__all__ if callable(getattr(offered, name))}


def check_parameters(thing, arguments, name):
    """Checks that a docstring explains each parameter once: below Args, or below Options."""
    text = inspect.getdoc(thing)
    assert text, name
    sections = re.split(r"^(Args|Returns|Raises|Options):$", text, flags=re.M)
    explained = []
    for heading, section in zip(sections[1::2], sections[2::2]):
        if heading in ("Args", "Options"):
            explained += re.findall(r"^    (\w+):", section, flags=re.M)
    named = [argument.arg for argument in arguments.args + arguments.kwonlyargs if argument.arg not in ("self", "cls")]
    if arguments.kwarg:
        listed = re.search(r"_option_types\.(\w+)", ast.unparse(arguments.kwarg.annotation))[1]
        package = sys.modules[thing.__module__.partition(".")[0]]
        named += option_names(package)[listed]
    assert sorted(explained) == sorted(named), name


def stubs(name="_simtool.pyi", package=simtool):
    return ast.parse((Path(package.__file__).parent / name).read_text())


def option_names(package):
    """Returns the names of the options in each type of options."""
    classes = [node for node in stubs("_option_types.py", package).body if isinstance(node, ast.ClassDef)]
    return {node.name: [field.target.id for field in node.body if isinstance(field, ast.AnnAssign)] for node in classes}


def test_stubs_name_what_is_there():
    for node in stubs().body:
        if isinstance(node, ast.FunctionDef):
            assert callable(getattr(simtool._simtool, node.name))
            given = inspect.signature(getattr(simtool._simtool, node.name)).parameters
            arguments = node.args
            named = [a.arg for a in arguments.args + arguments.kwonlyargs]
            # The stubs have a parameter for each option.
            listed = [name for name, parameter in given.items() if parameter.kind != parameter.VAR_KEYWORD]
            assert named[: len(listed)] == listed, node.name
            assert len(named) == len(listed) or len(listed) < len(given), node.name
        elif isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            known = {member.name for member in node.body if isinstance(member, ast.FunctionDef)}
            public = {name for name in vars(getattr(simtool._simtool, node.name)) if not name.startswith("_")}
            assert public == {name for name in known if not name.startswith("_")}, node.name
