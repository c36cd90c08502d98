# SPDX-License-Identifier: MIT
"""Machines on several threads: dispatches release Python's lock, and one machine is refused while it runs."""
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import wavemem
from conftest import EXAMPLES, FOREVER, POLL, POLL_ARGUMENTS, assembled, wait_until_runs


def test_two_machines_on_two_threads():
    """Both dispatches run at the same time: each ends only when the other has begun."""
    begun = [threading.Event(), threading.Event()]
    results = [None, None]

    def work(i):
        with wavemem.Machine("gfx900") as machine:
            kernel = machine.load(assembled(FOREVER)).kernel()

            def progress(done, count):
                begun[i].set()
                return not begun[1 - i].is_set()

            try:
                kernel(grid=64, workgroup=64, threads=1, progress=progress, timeout=60)
            except wavemem.Fault as fault:
                results[i] = fault.kind

    threads = [threading.Thread(target=work, args=(i,)) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == ["stopped", "stopped"]


def test_python_runs_during_a_dispatch(machine):
    """A dispatch without progress() leaves Python to other threads: without them it does not end."""
    poll = machine.load(assembled(POLL, POLL_ARGUMENTS)).kernel()
    words = machine.allocate(8)
    results = []
    thread = threading.Thread(target=lambda: results.append(poll(words, grid=1, workgroup=1, timeout=60)))
    thread.start()
    wait_until_runs(words)
    assert not results
    words.write(b"\1")
    thread.join()
    assert results[0].waves == 1


def test_one_machine_on_two_threads(machine):
    """While a kernel polls a word, another thread allocates, reads, runs another kernel, and writes the word."""
    poll = machine.load(assembled(POLL, POLL_ARGUMENTS)).kernel()
    word = machine.allocate(8, name="words")
    running = threading.Event()
    results = []

    def work():
        results.append(poll(word, grid=1, workgroup=1, progress=lambda done, count: running.set(), timeout=60))

    thread = threading.Thread(target=work)
    thread.start()
    assert running.wait(30)
    with pytest.raises(wavemem.BadArgument, match="a dispatch is running on the machine"):
        machine.close()
    with machine.allocate(np.ones(100, np.float32)) as ones:
        sums = np.zeros(100, np.float32)
        machine.load(EXAMPLES / "vecadd.co").kernel()(ones, ones, sums, 100, grid=128, workgroup=64)
    assert (sums == 2).all() and word.read()[:4] == bytes(4) and not results
    word.write(b"\1")
    thread.join()
    assert results[0].waves == 1


def test_arrays_keep_their_memory_from_other_threads(machine):
    """Threads that show, free and allocate memory get errors, never memory that is gone."""
    buffers = [machine.allocate(4096) for _ in range(4)]
    wrong = []

    def work(seed):
        random = np.random.default_rng(seed)
        for _ in range(3000):
            i = int(random.integers(len(buffers)))
            try:
                if random.random() < 0.3:
                    buffers[i].free()
                    buffers[i] = machine.allocate(4096)
                else:
                    buffers[i].array()[:] = 1
            except (wavemem.BadArgument, wavemem.OutOfRange, wavemem.NotFound, BufferError):
                pass
            except BaseException as error:
                wrong.append(error)
                raise

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def cpu_ticks(pid):
    """The process's CPU time in hundredths of a second (proc(5): utime)."""
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11])


@pytest.mark.parametrize("statement", ["kernel(grid=64, workgroup=64)", "kernel.step(grid=64, workgroup=64).to()"])
def test_interrupt(statement):
    """Ctrl-C ends a kernel that does not end."""
    script = f"""
import conftest, wavemem
machine = wavemem.Machine("gfx900")
kernel = machine.load(conftest.assembled(conftest.FOREVER)).kernel()
try:
    print("begins", flush=True)
    {statement}
except KeyboardInterrupt:
    print("interrupted")
machine.allocate(8)
"""
    process = subprocess.Popen([sys.executable, "-c", script], cwd=Path(__file__).parent, stdout=subprocess.PIPE, encoding="utf-8")
    assert process.stdout.readline() == "begins\n"
    begun = cpu_ticks(process.pid)
    while cpu_ticks(process.pid) < begun + 5:  # waves run
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=60) == ("interrupted\n", None) and process.returncode == 0


def test_many_threads():
    """Eight threads with machines of their own, observers included, while Python switches between them often."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    module = wavemem.Module(EXAMPLES / "vecadd.co")
    wrong = []

    def work(i):
        try:
            for turn in range(5):
                with wavemem.Machine("gfx900") as machine:
                    a = np.full(200, i, np.float32)
                    c, log = np.zeros(200, np.float32), wavemem.AccessLog()
                    machine.load(module).kernel()(a, a, c, 200, grid=256, workgroup=64, observers=log, profile=wavemem.Profile())
                    if not (c == 2 * i).all() or (log.rows()["kind"] == "store").sum() != 4:
                        wrong.append((i, turn))
        except BaseException as error:
            wrong.append(error)
            raise

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sys.setswitchinterval(interval)
    assert wrong == []
