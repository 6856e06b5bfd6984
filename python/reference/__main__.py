"""Prints the reference of the installed package: signatures from its stubs, and its docstrings.

    target/python/bin/python python/reference > docs/reference/python.md

with what `scripts/python-test` installs; a test checks whether that file is up to date.
"""

import ast
import inspect
import re
from pathlib import Path

import simtool
import simtool_spark
from simtool import batches

HEAD = """# Reference of the Python package

The text of `help(simtool)`, `help(simtool.batches)` and `help(simtool_spark)`, written by `python/reference`. [The guide](../start/python.md)
shows how the functions work together, and `simtool dedup --help` explains each option. Two guides show how to run on engines:
[recipes for `simtool.batches`](../guides/engines.md), and [Spark and Slurm](../guides/spark.md).
"""
# Wider signatures are cut into lines.
WIDTH = 100
# Headings of the sections of docstrings, and their names on the page.
SECTIONS = {"Args:": "Parameters:", "Returns:": "Returns:", "Raises:": "Errors:"}


def options(thing: object) -> dict[str, str]:
    """Returns the meanings of the options in a docstring, by their names."""
    _, found, text = (inspect.getdoc(thing) or "").partition("\nOptions:\n")
    parts = re.split(r"^    (\w+):", text, flags=re.M) if found else [""]
    return {name: " ".join(meaning.split()) for name, meaning in zip(parts[1::2], parts[2::2])}


def parameters(arguments: ast.arguments) -> list[str]:
    """Returns the parameters of a function as in its definition, without `self`. Options that a type lists are
    `**options`.
    """

    def written(argument: ast.arg, default: ast.expr | None) -> str:
        kind = f": {ast.unparse(argument.annotation)}" if argument.annotation else ""
        return argument.arg + kind + (f" = {ast.unparse(default)}" if default else "")

    missing = [None] * (len(arguments.args) - len(arguments.defaults))
    found = [written(*of) for of in zip(arguments.args, [*missing, *arguments.defaults]) if of[0].arg not in ("self", "cls")]
    keywords = list(zip(arguments.kwonlyargs, arguments.kw_defaults))
    if keywords:
        found += ["*", *(written(*of) for of in keywords)]
    return [*found, "**options"] if arguments.kwarg else found


def signature(function: ast.FunctionDef) -> str:
    """Returns the signature of a function."""
    parts, returned = parameters(function.args), ast.unparse(function.returns)
    line = f"{function.name}({', '.join(parts)}) -> {returned}"
    if len(line) <= WIDTH:
        return line
    lines = "".join(f"    {part},\n" for part in parts)
    return f"{function.name}(\n{lines}) -> {returned}"


def block(code: str) -> str:
    return f"```python\n{code}\n```\n"


def entries(lines: list[str]) -> list[str]:
    """Returns the entries of a section of a docstring, such as its parameters, as a list. Further lines of an entry
    are indented.
    """
    joined = re.sub(r"\n +", " ", "\n".join(lines)).splitlines()
    return [re.sub(r"^(\w+): ", r"- `\1`: ", line) for line in joined]


def documented(thing: object) -> str:
    """Returns a docstring with its examples as code blocks and its parameters and errors as lists. The options become a
    list that can be opened.
    """
    text = (inspect.getdoc(thing) or "").partition("\nOptions:\n")[0]
    parts, indented, section = [], [], None
    for line in [*text.splitlines(), ""]:
        if line.startswith("    "):
            indented.append(line[4:])
            continue
        if indented:
            example = [block("\n".join(indented)).rstrip()]
            parts += ["", *entries(indented)] if section else example
            indented, section = [], None
        if line in SECTIONS:
            section = line
            line = SECTIONS[line]
        parts.append(line)
    known = options(thing)
    if known:
        listed = "\n".join(f"- `{name}`: {meaning}" for name, meaning in known.items())
        parts += ["", f"<details><summary>{len(known)} options</summary>", "", listed, "", "</details>"]
    return "\n".join(parts).strip() + "\n"


def functions(body: list[ast.stmt]) -> dict[str, ast.FunctionDef]:
    return {node.name: node for node in body if isinstance(node, ast.FunctionDef)}


def function_section(title: str, node: ast.FunctionDef, of: object) -> str:
    return f"## {title}\n\n{block(signature(node))}\n{documented(of)}"


def class_section(name: str, node: ast.ClassDef) -> str:
    of, known = getattr(simtool, name), functions(node.body)
    made = known.pop("__init__", None) or known.pop("__new__", None)
    section = f"## {name}\n\n"
    if made:
        made.name, made.returns = name, ast.Name(name)
        section += block(signature(made)) + "\n"
    section += documented(of)
    for member, function in known.items():
        if member.startswith("_"):
            continue
        is_property = any(ast.unparse(decorator) == "property" for decorator in function.decorator_list)
        shown = f"{member}: {ast.unparse(function.returns)}" if is_property else signature(function)
        section += f"\n### {name}.{member}\n\n{block(shown)}\n{documented(getattr(of, member))}"
    return section


def text() -> str:
    """Returns the whole reference."""
    folder = Path(simtool.__file__).parent

    def body(file: str) -> list[ast.stmt]:
        return ast.parse((folder / file).read_text()).body

    stubs = body("_simtool.pyi")
    known = functions(stubs) | functions(body("_files.py"))
    on_batches = body("batches.py")
    on_spark = functions(ast.parse(Path(simtool_spark.__file__).read_text()).body)
    classes = {node.name: node for node in [*stubs, *body("_methods.py")] if isinstance(node, ast.ClassDef)}
    # The type of a batch is defined for type checkers only.
    of_batches = [node for block in on_batches if isinstance(block, ast.If) for node in block.body]
    types = [ast.unparse(node) for node in [*stubs, *body("_types.py"), *of_batches] if isinstance(node, ast.Assign)]
    sections = [HEAD]
    for name in simtool.__all__:
        of = getattr(simtool, name)
        if name in known:
            sections.append(function_section(name, known[name], of))
    for name in simtool.__all__:
        if name in classes:
            sections.append(class_section(name, classes[name]))
    for name in batches.__all__:
        sections.append(function_section(f"simtool.batches.{name}", functions(on_batches)[name], getattr(batches, name)))
    for name in simtool_spark.__all__:
        sections.append(function_section(f"simtool_spark.{name}", on_spark[name], getattr(simtool_spark, name)))
    sections.append(f"## Types\n\nThe names with `_` mean:\n\n{block(chr(10).join(types))}")
    return "\n".join(sections)


if __name__ == "__main__":
    print(text(), end="")
