"""Writes the docstrings of the installed package into its stubs, so that an editor shows them.

    target/python/bin/python python/reference/stubs.py
    target/python/bin/python python/reference/stubs.py --check

with what `scripts/python-test` installs; a test checks whether the stubs are up to date. The docstrings come from the
comments of the functions in `python/src`, and from the command line for the options.
"""

import ast
import inspect
import sys
from pathlib import Path

import simtool

STUB = Path(__file__).parent.parent / "simtool/_simtool.pyi"


def docstring(thing: object, indent: str) -> list[str]:
    """Returns the lines of a docstring in a stub. Returns none if there is none."""
    text = inspect.getdoc(thing)
    if not text:
        return []
    assert '"""' not in text, thing
    # Backslashes in examples must stay as they are.
    prefix = "r" if "\\" in text else ""
    first, *rest = text.splitlines()
    lines = [f'{indent}{prefix}"""{first}', *(f"{indent}{line}".rstrip() for line in rest)]
    # A closing line of its own keeps a last quotation mark apart from those of the docstring.
    return [lines[0] + '"""'] if not rest else [*lines, f'{indent}"""']


class Edits:
    """New lines for ranges of lines of a file."""

    def __init__(self, text: str) -> None:
        self.lines = text.splitlines()
        self.edits: list[tuple[int, int, list[str]]] = []

    def function(self, node: ast.FunctionDef, thing: object) -> None:
        """Puts the docstring in the place of the body of a function."""
        lines = docstring(thing, " " * (node.col_offset + 4))
        if not lines:
            return
        body = node.body[0]
        # The body is `...` on the last line of the signature, or an older docstring below it.
        first = body.lineno - 1
        head = self.lines[first][: body.col_offset].rstrip()
        self.edits.append((first, body.end_lineno or 0, [head, *lines] if head else lines))

    def class_(self, node: ast.ClassDef, thing: object) -> None:
        """Puts the docstring below the first line of a class."""
        lines = docstring(thing, "    ")
        first = node.body[0]
        is_older = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
        if is_older and first.value.value is Ellipsis:
            # The class has no members, and its body is `...` on its first line.
            head = self.lines[first.lineno - 1][: first.col_offset].rstrip()
            self.edits.append((first.lineno - 1, first.lineno, [head, *lines]))
        elif is_older:
            self.edits.append((first.lineno - 1, first.end_lineno or 0, lines))
        elif lines:
            # A decorator is above the line of its function.
            decorators = getattr(first, "decorator_list", [])
            start = min([first.lineno, *(decorator.lineno for decorator in decorators)]) - 1
            self.edits.append((start, start, lines))

    def text(self) -> str:
        lines = self.lines
        for first, end, new in sorted(self.edits, key=lambda edit: edit[:2], reverse=True):
            lines[first:end] = new
        return "\n".join(lines) + "\n"


def text(stub: str) -> str:
    """Returns the stub with the docstrings of everything that the package offers."""
    edits = Edits(stub)
    for node in ast.parse(stub).body:
        if getattr(node, "name", None) not in simtool.__all__:
            continue
        thing = getattr(simtool, node.name)
        if isinstance(node, ast.FunctionDef):
            edits.function(node, thing)
        elif isinstance(node, ast.ClassDef):
            edits.class_(node, thing)
            members = [member for member in node.body if isinstance(member, ast.FunctionDef)]
            for member in (member for member in members if not member.name.startswith("_")):
                edits.function(member, getattr(thing, member.name))
    return edits.text()


if __name__ == "__main__":
    new = text(STUB.read_text())
    if sys.argv[1:] != ["--check"]:
        STUB.write_text(new)
    elif STUB.read_text() != new:
        sys.exit(f"{STUB} lacks docstrings of the package: run python python/reference/stubs.py")
