"""The program `simtool`, as it is without Python."""

import signal
import sys

from ._simtool import command


def main() -> int:
    """Runs the program with this process's arguments, and returns its exit code."""
    # Python would only take note of Ctrl-C, which the program knows what to do with.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    return command(["simtool", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
