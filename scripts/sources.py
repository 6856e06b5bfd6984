"""Splits the files of this repository into prose and code, for `scripts/prose` and `scripts/figures`.

Standard library only. A file is read once and split with one regular expression, so a whole tree takes
about two seconds.
"""

import ast
import io
import re
import subprocess
import tokenize
from dataclasses import dataclass, field
from pathlib import Path



def root() -> Path:
    """Returns the root of the git tree that the script is run in."""
    command = ["git", "rev-parse", "--show-toplevel"]
    return Path(subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip())


ROOT = root()

# Folders and files that the prose lint reads when no path is given. Those that do not exist are left out.
PROSE = ["src", "crates", "python", "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs", "examples", "datasets"]

# Files that tests generate from other files of the tree, so that their lines would be counted twice.
GENERATED = (
    "python/simtool/_methods.py",
    "python/simtool/_option_types.py",
    "python/simtool/_options.py",
    "python/simtool/_simtool.pyi",
    "python/spark/simtool_spark/_option_types.py",
    "python/spark/simtool_spark/_options.py",
)

# A comment, a string or a character of Rust. The order matters: a `//` inside a string is no comment.
RUST_TOKEN = re.compile(
    r"""
      (?P<doc>//[/!](?!/)[^\n]*)
    | (?P<line>//[^\n]*)
    | (?P<block>/\*.*?\*/)
    | (?P<raw>\bb?r(?P<hashes>\#*)".*?"(?P=hashes))
    | (?P<string>"(?:[^"\\]|\\.)*")
    | (?P<char>'(?:[^'\\\n]|\\[^\n][^'\n]*)')
    """,
    re.VERBOSE | re.DOTALL,
)
TEST_MODULE = re.compile(r"^#\[cfg\(test\)\]\n(?:#\[[^\n]*\]\n)*mod \w+ \{", re.MULTILINE)
PUBLIC_ITEM = re.compile(r"\s*pub (?!use |mod )")
TEST_FOLDERS = ("tests/", "fuzz/", "benches/", "crates/read/src/conformance/", "src/bin/simtool/python_keywords/")
TEST_FILE = re.compile(r"(?:tests|twin|conformance\w*)\.rs")


@dataclass
class Piece:
    """One block of prose: a doc block, a comment, a message of the program or a paragraph of a page."""

    kind: str  # "doc", "comment", "message" or "page"
    path: str
    line: int
    text: str


@dataclass
class Source:
    """The pieces and counts of one source file."""

    path: str
    lines: int = 0
    # Lines of code outside tests, and whole-line or trailing comments among them.
    code_lines: int = 0
    code_comments: int = 0
    doc_examples: int = 0
    # Lines of code of public items with their bodies.
    public_lines: int = 0
    is_library: bool = False
    pieces: list[Piece] = field(default_factory=list)
    # The code with comments blanked and strings emptied, tests left out; line numbers are kept.
    code: str = ""


def files(paths: list[str], suffixes: tuple[str, ...]) -> list[str]:
    """Returns the files under `paths` that git tracks or would track, sorted, relative to the root."""
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z", "--", *paths],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    names = {name for name in listing.stdout.split("\0") if name.endswith(suffixes)}
    return sorted(name for name in names if name not in GENERATED and (ROOT / name).is_file())


def read(path: str, text: str | None = None) -> Source:
    """Splits the file `path`; `text` replaces its contents (the self-test uses that)."""
    if text is None:
        text = (ROOT / path).read_text(encoding="utf-8")
    source = Source(path, lines=text.count("\n"))
    if path.endswith(".rs"):
        read_rust(source, text)
    elif path.endswith((".py", ".pyi")):
        read_python(source, text)
    elif path.endswith(".md"):
        read_markdown(source, text)
    return source


def read_rust(source: Source, text: str) -> None:
    """Splits Rust into doc blocks, comments, messages and code."""
    name = Path(source.path).name
    is_test_file = bool(TEST_FILE.fullmatch(name)) or source.path.startswith(TEST_FOLDERS)
    test = TEST_MODULE.search(text)
    tests_start = 0 if is_test_file else test.start() if test else len(text)
    source.is_library = not is_test_file and "/bin/" not in source.path and "src/" in source.path

    code: list[str] = []
    end = 0
    comments: list[tuple[str, int, int, str]] = []
    for token in RUST_TOKEN.finditer(text):
        code.append(text[end : token.start()])
        end = token.end()
        kind = token.lastgroup if token.lastgroup != "hashes" else "raw"
        content = token.group()
        newlines = "\n" * content.count("\n")
        if kind in ("doc", "line", "block"):
            code.append(newlines)
            comments.append((kind, text.count("\n", 0, token.start()) + 1, token.start(), content))
        elif kind in ("raw", "string"):
            code.append('""' + newlines)
            if token.start() < tests_start:
                add_message(source, text, token.start(), content)
        else:
            code.append("' '")
    code.append(text[end:])
    blanked = "".join(code)

    tests_line = text.count("\n", 0, tests_start)
    code_lines = blanked.split("\n")[:tests_line]
    source.code = "\n".join(code_lines)
    source.code_lines = sum(1 for line in code_lines if line.strip())
    if source.is_library:
        source.public_lines = count_public_lines(code_lines)
    source.code_comments = sum(
        1 for kind, _, start, _ in comments if kind == "line" and start < tests_start
    )
    for piece in blocks(source.path, text, comments):
        source.pieces.append(piece)
        if piece.kind == "doc" and source.is_library and piece.line <= tests_line:
            source.doc_examples += count_examples(piece.text)


def count_public_lines(code_lines: list[str]) -> int:
    """Counts the lines of items that are `pub`, from their first line to the end of their body."""
    public, depth = 0, 0
    is_inside = False
    for line in code_lines:
        if not is_inside and PUBLIC_ITEM.match(line):
            is_inside, depth = True, 0
        if is_inside and line.strip():
            public += 1
            depth += sum(line.count(open) for open in "{([") - sum(line.count(shut) for shut in "})]")
            is_inside = depth > 0 or line.rstrip()[-1] not in "};,"
    return public


def add_message(source: Source, text: str, start: int, content: str) -> None:
    """Keeps a string literal that reads like a sentence: four words or more."""
    body = content[content.index('"') + 1 : content.rindex('"')]
    # A backslash at the end of a line joins it with the next one.
    body = re.sub(r"\\\n[ \t]*", "\n", body).replace("\\n", " ").replace('\\"', '"')
    if len(re.findall(r"\b[a-z]{2,}\b", body)) >= 4 and " " in body:
        line = text.count("\n", 0, start) + 1
        source.pieces.append(Piece("message", source.path, line, body))


def blocks(path: str, text: str, comments: list[tuple[str, int, int, str]]) -> list[Piece]:
    """Joins comments of one kind on consecutive lines into one piece each."""
    pieces: list[Piece] = []
    last_kind, last_line = "", -1
    for kind, line, start, content in comments:
        line_start = text.rfind("\n", 0, start) + 1
        is_alone = not text[line_start:start].strip()
        marker = content[:3] if kind == "doc" else kind
        body = content[3:] if kind == "doc" else content[2:]
        if kind == "block":
            body = content[2:-2]
        if is_alone and marker == last_kind and line == last_line + 1 and kind != "block":
            pieces[-1].text += "\n" + body.removeprefix(" ")
        else:
            pieces.append(
                Piece("doc" if kind == "doc" else "comment", path, line, body.removeprefix(" "))
            )
        last_kind, last_line = marker if is_alone else "", line
    return pieces


def count_examples(doc: str) -> int:
    """Counts the code blocks of a doc comment that rustdoc compiles."""
    fences = [line.strip() for line in doc.split("\n") if line.strip().startswith("```")]
    opening = [fence[3:] for fence in fences[::2]]
    return sum(1 for info in opening if info in ("", "rust", "no_run", "should_panic"))


def read_python(source: Source, text: str) -> None:
    """Splits Python into docstrings and comments."""
    source.code_lines = sum(1 for line in text.split("\n") if line.strip())
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            doc = ast.get_docstring(node)
            if doc:
                source.pieces.append(Piece("doc", source.path, node.body[0].lineno, doc))
    last = -1
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT and not token.string.startswith("#!"):
            body = token.string.lstrip("#").removeprefix(" ")
            line = token.start[0]
            if line == last + 1 and source.pieces[-1].kind == "comment":
                source.pieces[-1].text += "\n" + body
            else:
                source.pieces.append(Piece("comment", source.path, line, body))
            last = line


def read_markdown(source: Source, text: str) -> None:
    """Splits a page into paragraphs, list items and table rows; code blocks and headings are left out."""
    in_code = False
    open_piece: Piece | None = None
    for number, line in enumerate(text.split("\n"), start=1):
        stripped = line.strip()
        if stripped.startswith("```"):
            in_code = not in_code
            open_piece = None
        elif in_code or not stripped or stripped.startswith("#"):
            open_piece = None
        elif open_piece is None or re.match(r"([-*|]|\d+\.) ?", stripped):
            body = re.sub(r"^([-*] |\d+\. )", "", stripped)
            open_piece = Piece("page", source.path, number, body)
            source.pieces.append(open_piece)
        else:
            open_piece.text += "\n" + stripped
