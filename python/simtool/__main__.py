"""The command line program `simtool`, run inside the Python process."""

import signal
import sys

from ._simtool import command


def main() -> int:
    """Runs the program with this process's arguments, and returns its exit code."""
    # By default Python only records Ctrl-C. The program handles the signal itself.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    return command(["simtool", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
