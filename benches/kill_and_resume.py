#!/usr/bin/env python3
"""Kills a run with --resume at random times, and measures the work that is done again: the seconds of the
processor of all attempts, next to those of a run that is not killed. Checks that the outputs are the same bytes.

usage: benches/kill_and_resume.py each|all KILLS OUTPUT COMMAND...

`each` kills each of KILLS runs once, at any moment, and lets the next attempt finish. `all` kills one run KILLS
times: the attempts take twice the time of a whole run divided by KILLS at most. COMMAND must write to OUTPUT, and
have --resume. The moments are the same for the same arguments, as far as the machine is.
"""

import hashlib
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

# Files of an output that have times in them.
WITH_TIMES = ("summary.json", "report.html")
# Number of runs that are not killed.
WHOLE_RUNS = 3


def remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def checksum(path: Path) -> str:
    """Returns a hash of the names and contents of the files in the output."""
    total = hashlib.sha256()
    for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
        if file.is_file() and file.name not in WITH_TIMES:
            total.update(f"{file.relative_to(path)}\0".encode())
            total.update(hashlib.sha256(file.read_bytes()).digest())
    return total.hexdigest()


def attempt(command: list[str], most_seconds: float | None) -> tuple[float, bool]:
    """Runs the command, and kills it after some seconds. Returns the seconds of the processor, and whether it was
    killed."""
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if most_seconds is not None:
        time.sleep(most_seconds)
        # A child that has ended waits for wait4, which returns its times.
        os.kill(child.pid, signal.SIGKILL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = status
    killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
    if not killed and os.WEXITSTATUS(status) not in (0, 3):
        sys.exit(f"the command failed with {os.WEXITSTATUS(status)}: {' '.join(command)}")
    return usage.ru_utime + usage.ru_stime, killed


def whole_runs(command: list[str], output: Path) -> tuple[float, float, str]:
    """Returns the seconds of the processor and of the clock of a run that is not killed, and the checksum of its
    output: those of the fastest of some runs, because the first may find no file in memory."""
    found = []
    for _ in range(WHOLE_RUNS):
        remove(output)
        began = time.monotonic()
        used, _ = attempt(command, None)
        found.append((used, time.monotonic() - began, checksum(output)))
    remove(output)
    return min(found)


def main() -> None:
    mode, kills, output, command = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]), sys.argv[4:]
    moments = random.Random(kills)
    whole, seconds, expected = whole_runs(command, output)
    done, killed_count, runs = 0.0, 0, 0
    while killed_count < kills:
        most = seconds if mode == "each" else 2 * seconds / kills
        used, killed = attempt(command, moments.uniform(0, most))
        done += used
        killed_count += killed
        # An attempt may be killed after its output has got its name.
        if killed and not output.exists() and (mode == "each" or killed_count == kills):
            used, _ = attempt(command, None)
            done += used
        if output.exists():
            runs += 1
            if checksum(output) != expected:
                sys.exit("the output differs")
            remove(output)
            if mode == "all":
                break
    again = done / (whole * runs) - 1
    print(
        f"{killed_count} kills in {runs} runs of {whole:.1f} seconds of the processor ({seconds:.1f} s): "
        f"{done:.1f} seconds, {again:.1%} done again"
    )


if len(sys.argv) < 5 or sys.argv[1] not in ("each", "all"):
    sys.exit(__doc__)
main()
