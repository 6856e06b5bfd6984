"""Collections of files, as the program reads and writes them."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from typing import Any

Path = str | os.PathLike[str]


def deduplicate_files(
    paths: Path | Iterable[Path], *, output: Path, progress: bool = False, **options: Any
) -> dict[str, Any]:
    """Finds the near-duplicates of files and folders, and writes what to keep to a folder.

    Runs `simtool dedup` in a process of its own: `options` are its options, with `_` for `-`, `True` for
    one without a value and a list for one that may be repeated. Returns what `summary.json` holds;
    `removed.jsonl`, `clusters.jsonl`, `report.html` and what else was asked for are in `output`.

        >>> import pathlib, tempfile
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> for name, text in [("a.txt", "one two three four"), ("b.txt", "One, two, three four!")]:
        ...     _ = (folder / name).write_text(text)
        >>> summary = simtool.deduplicate_files([folder / "a.txt", folder / "b.txt"], output=folder / "out")
        >>> summary["documents"], summary["removed"]
        (2, 1)
    """
    if isinstance(paths, str | os.PathLike):
        paths = [paths]
    told = ["--progress=always"] if progress else ["--quiet"]
    arguments = ["--json", *told, f"--output={os.fspath(output)}"]
    for name, value in options.items():
        option = "--" + name.replace("_", "-")
        if value is True:
            arguments.append(option)
        elif value is not None and value is not False:
            values = value if isinstance(value, list | tuple) else [value]
            arguments += [f"{option}={os.fspath(v) if isinstance(v, os.PathLike) else v}" for v in values]
    command = [sys.executable, "-m", "simtool", "dedup", *arguments, "--", *map(os.fspath, paths)]
    errors = []
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.PIPE)
        assert process.stderr is not None
        try:
            for line in process.stderr:
                text = line.decode(errors="replace")
                if "error: " in text:
                    errors.append(text.split("error: ", 1)[1].strip())
                elif progress:
                    sys.stderr.write(text)
            process.wait()
        except BaseException:
            process.send_signal(signal.SIGINT)
            process.wait()
            raise
        finally:
            process.stderr.close()
        if process.returncode in (0, 3):
            out.seek(0)
            return json.load(out)
    if process.returncode in (130, -signal.SIGINT):
        raise KeyboardInterrupt
    message = "; ".join(errors) or f"simtool ended with {process.returncode}"
    # Options are called as in Python.
    message = re.sub(r"--([a-z][a-z-]*)", lambda option: option[1].replace("-", "_"), message)
    raise ValueError(message) if process.returncode == 2 else OSError(message)
