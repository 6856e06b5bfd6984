"""Long runs can be interrupted, show progress, run in threads, and survive a fork."""

import concurrent.futures
import multiprocessing
import os
import signal
import subprocess
import sys
import sysconfig
import textwrap
import threading
import time

import pytest

import simtool
from conftest import generated


@pytest.mark.skipif(os.name != "posix", reason="signals are POSIX's")
def test_ctrl_c_ends_a_run_within_a_second():
    script = """
        import os, signal, threading, time, random
        import simtool
        chance = random.Random(1)
        words = [str(number) for number in range(3000)]
        texts = [" ".join(chance.choices(words, k=60)) for _ in range(20000)] * 30
        sent = []
        def interrupt():
            sent.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)
        threading.Timer(0.4, interrupt).start()
        begun = time.monotonic()
        try:
            simtool.deduplicate(texts, similarity=0.3, shingle="words:1")
            print("finished", time.monotonic() - begun)
        except KeyboardInterrupt:
            print("interrupted", time.monotonic() - sent[0])
        print(len(simtool.deduplicate(["a b c d"] * 2).removed))
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (what, seconds), (removed,) = (line.split() for line in done.stdout.splitlines())
    assert what == "interrupted", "the run is long enough"
    assert float(seconds) < 2, "a second, and another on a busy machine"
    assert removed == "1"


def test_other_threads_run_meanwhile():
    texts = generated(3000) * 8
    ticks, over = [], threading.Event()

    def tick():
        while not over.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    simtool.deduplicate(texts, method="simhash", threads=1)
    over.set()
    thread.join()
    assert len(ticks) > 3


def test_many_threads_find_the_same(texts):
    expected = simtool.deduplicate(texts).removed.to_pydict()
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        found = pool.map(lambda _: simtool.deduplicate(texts, threads=2).removed.to_pydict(), range(8))
        assert all(removed == expected for removed in found)


def removed_of(texts):
    return simtool.deduplicate(texts).removed.to_pydict()


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_processes_find_the_same(texts, start):
    if start not in multiprocessing.get_all_start_methods():
        pytest.skip(f"{start} is not there")
    # Forks before and after a run: a run leaves nothing behind that a fork would break.
    expected = removed_of(texts)
    with multiprocessing.get_context(start).Pool(2) as pool:
        assert pool.map(removed_of, [texts] * 4) == [expected] * 4
    assert removed_of(texts) == expected


def test_progress_is_shown_where_tqdm_is(texts, capsys):
    pytest.importorskip("tqdm")
    many = generated(4000)
    found = simtool.deduplicate(many * 3, progress=True)
    assert len(found) == len(many) * 3
    assert simtool.fingerprint(texts, progress=True).bits == 64


def test_free_threads_are_declared():
    if not sysconfig.get_config_var("Py_GIL_DISABLED"):
        pytest.skip("this Python has the lock")
    assert not sys._is_gil_enabled()
