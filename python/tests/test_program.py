"""The program in the wheel behaves like the program without Python."""

import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time

import pytest

import simtool

PROGRAM = [sys.executable, "-m", "simtool"]


def run(*arguments, **settings):
    settings = {"capture_output": True, "text": True, **settings}
    return subprocess.run([*PROGRAM, *map(str, arguments)], **settings)


def test_the_command_is_installed():
    scripts = os.path.dirname(sys.executable)
    command = shutil.which("simtool", path=scripts)
    if command is None:
        pytest.skip("simtool is not installed: only its sources are on the path")
    version = subprocess.run([command, "--version"], capture_output=True, text=True)
    assert version.stdout == f"simtool {simtool.__version__}\n"


def test_exit_codes_are_the_programs(tmp_path):
    (tmp_path / "a.txt").write_text("one two three four five")
    (tmp_path / "b.txt").write_text("One two, three; four five!")
    (tmp_path / "bad.jsonl").write_text('{"text": "a b c d"}\n{"text": 7}\n')
    out = tmp_path / "out"
    assert run("dedup", tmp_path / "a.txt", tmp_path / "b.txt", "--output", out).returncode == 0
    assert run("dedup", tmp_path / "a.txt", "--output", out).returncode == 2
    assert run("dedup", tmp_path / "none.txt").returncode == 1
    usage = run("dedup", "--nothing")
    assert usage.returncode == 2 and "unexpected argument '--nothing'" in usage.stderr
    assert run().returncode == 2
    assert run("dedup", tmp_path / "bad.jsonl", "--output", tmp_path / "losses").returncode == 3
    assert "--max-distance" in run("dedup", "--help").stdout


def test_the_recorded_command_is_what_was_typed(tmp_path):
    (tmp_path / "a b.txt").write_text("one two three four five")
    assert run("dedup", "a b.txt", "-q", cwd=tmp_path).returncode == 0
    summary = (tmp_path / "simtool-out" / "summary.json").read_text()
    assert "\"command\": \"simtool dedup 'a b.txt' -q\"" in summary


def test_a_closed_pipe_is_no_error():
    read, write = os.pipe()
    os.close(read)
    process = subprocess.run([*PROGRAM, "man"], stdout=write, stderr=subprocess.PIPE)
    os.close(write)
    assert (process.returncode, process.stderr) == (0, b"")


def test_bytes_that_are_no_text_are_arguments(tmp_path):
    name = os.fsencode(tmp_path) + b"/\xff.txt"
    with open(name, "w") as file:
        file.write("one two three four")
    command = [*map(os.fsencode, PROGRAM), b"dedup", name, b"-q", b"--output", os.fsencode(tmp_path / "out")]
    assert subprocess.run(command, stdout=subprocess.DEVNULL).returncode == 0


@pytest.mark.skipif(not hasattr(signal, "SIGINT") or os.name != "posix", reason="signals are POSIX's")
@pytest.mark.parametrize("what", [["dedup", "-", "--format", "jsonl"], ["join", "-"]])
def test_an_interruption_ends_it(tmp_path, what):
    process = subprocess.Popen([*PROGRAM, *what], stdin=subprocess.PIPE, cwd=tmp_path, stderr=subprocess.PIPE)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    begun = time.monotonic()
    process.communicate()
    # With its own handler the program reports the signal and exits with 130. Before the handler is set, the
    # signal ends it.
    assert process.returncode in (130, -signal.SIGINT)
    assert time.monotonic() - begun < 2
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(os.name != "posix", reason="signals are POSIX's")
def test_a_process_ends_by_signals_as_before_a_run_in_it(tmp_path):
    (tmp_path / "a.txt").write_text("one two three four")
    arguments = ["simtool", "dedup", str(tmp_path / "a.txt"), "-q", "--output", str(tmp_path / "out"), "--force"]
    script = f"""
        import os, signal, time
        from simtool._simtool import command
        for _ in range(2):
            assert command({arguments!r}) == 0
        child = os.fork()
        if child == 0:
            time.sleep(60)
            os._exit(0)
        os.kill(child, signal.SIGTERM)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGTERM
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(60)
    """
    # The process must end by the signal and not by the time limit.
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=50)
    assert done.returncode == -signal.SIGTERM, done.stderr
