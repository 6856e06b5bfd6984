#!/usr/bin/env python3
"""Runs simtool on a large collection, and prints for each method a row of Markdown: wall time, processor time, text a second of
the processor, peak memory, peak of temporary files, removed documents, and dollars a terabyte.

usage: benches/large_run.py make PIECES CRAWL_TEXT FOLDER    writes copies of a form-feed file with edits, each compressed
       benches/large_run.py run PROGRAM PLACE BYTES OUTPUT ["ARGUMENTS" ...]

PLACE is the folder or its address in a store, and BYTES the size of the text. Each ARGUMENTS is a command with its options, for
example "dedup --method simhash". Temporary files are seen as free space that is gone, so nothing else may write to the disk.
"""

import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

# Price of a core hour in dollars, as published comparisons of this field use it.
CORE_HOUR = 0.068
# Pieces are made at the same time.
MAKERS = os.cpu_count() or 1
HEADER = "| command | wall | processor | MB a processor second | peak memory | peak disk | removed | dollars a TB |"


def make(pieces: int, text: Path, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    script = Path(__file__).with_name("repeat_with_edits.py")
    running: list[subprocess.Popen[bytes]] = []
    for piece in range(pieces):
        if len(running) == MAKERS:
            running.pop(0).wait()
        copy = subprocess.Popen([sys.executable, script, text, "1", str(piece), "turned"], stdout=subprocess.PIPE)
        # The name of a finished piece has no ending of a temporary file.
        command = 'zstd -1 -q -f -o "$0.tmp" && mv "$0.tmp" "$0"'
        path = folder / f"{piece:04}.txt.zst"
        running.append(subprocess.Popen(["sh", "-c", command, path], stdin=copy.stdout))
    for last in running:
        last.wait()
    print(f"{text.stat().st_size * pieces} bytes of text in {pieces} files")


class DiskWatch:
    """Notices the least free space of the folder's disk while it is watched."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.at_start = self.least = shutil.disk_usage(folder).free
        self.ended = threading.Event()
        threading.Thread(target=self.watch, daemon=True).start()

    def watch(self) -> None:
        while not self.ended.wait(0.2):
            self.least = min(self.least, shutil.disk_usage(self.folder).free)


def removed(table: str) -> str:
    for line in table.splitlines():
        if line.startswith("removed "):
            return line.split()[1]
    return ""


def measure(program: str, place: str, size: int, output: Path, arguments: str) -> None:
    command, *options = arguments.split()
    watch = DiskWatch(output.parent)
    begun = time.monotonic()
    called = [program, command, place, "--output", str(output), "--force", "--quiet", *options]
    child = subprocess.Popen(called, stdout=subprocess.PIPE, text=True)
    table = child.stdout.read() if child.stdout else ""
    _, status, usage = os.wait4(child.pid, 0)
    wall = time.monotonic() - begun
    watch.ended.set()
    processor = usage.ru_utime + usage.ru_stime
    if os.waitstatus_to_exitcode(status) not in (0, 3):
        sys.exit(f"{arguments}: failed")
    dollars = processor / 3600 * CORE_HOUR / size * 1e12
    disk = (watch.at_start - watch.least) / 1e9
    print(
        f"| `{arguments}` | {wall:,.0f} s | {processor:,.0f} s | {size / 1e6 / processor:,.0f} | "
        f"{usage.ru_maxrss / 1e6:.1f} GB | {disk:.1f} GB | {removed(table)} | {dollars:.2f} |",
        flush=True,
    )


if len(sys.argv) == 5 and sys.argv[1] == "make":
    make(int(sys.argv[2]), Path(sys.argv[3]), Path(sys.argv[4]))
elif len(sys.argv) >= 7 and sys.argv[1] == "run":
    print(HEADER + "\n|" + " --- |" + " ---: |" * 7)
    for arguments in sys.argv[6:]:
        measure(sys.argv[2], sys.argv[3], int(sys.argv[4]), Path(sys.argv[5]), arguments)
else:
    sys.exit(__doc__)
