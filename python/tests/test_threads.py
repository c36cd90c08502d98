# SPDX-License-Identifier: MIT
"""Machines on several threads: dispatches release Python's lock, and one machine is refused while it runs."""
import sys
import threading
import time

import numpy as np
import pytest

import wavemem
from conftest import EXAMPLES, FOREVER, assembled


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
    """A dispatch whose progress() calls are rare leaves Python to other threads."""
    kernel = machine.load(assembled(FOREVER)).kernel()
    outcome = []

    def work():
        try:
            kernel(grid=64, workgroup=64, timeout=0.5)
        except wavemem.Fault as fault:
            outcome.append(fault.kind)

    thread = threading.Thread(target=work)
    thread.start()
    turns = 0
    while thread.is_alive() and turns < 1000:
        time.sleep(0.0005)
        turns += 1
    thread.join()
    assert outcome == ["timeout"] and turns > 20


def test_one_machine_on_two_threads(machine):
    kernel = machine.load(assembled(FOREVER)).kernel()
    buffer = machine.allocate(8)
    running, refused = threading.Event(), []

    def progress(done, count):
        running.set()
        return len(refused) < 5

    def work():
        try:
            kernel(grid=64, workgroup=64, progress=progress, timeout=60)
        except wavemem.Fault:
            pass

    thread = threading.Thread(target=work)
    thread.start()
    running.wait()
    for use in (lambda: machine.allocate(8), machine.close, buffer.read, buffer.free, lambda: kernel(grid=1, workgroup=1)):
        with pytest.raises(wavemem.BadArgument, match="a dispatch is running on the machine"):
            use()
        refused.append(use)
    thread.join()
    assert buffer.read() == bytes(8)


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
