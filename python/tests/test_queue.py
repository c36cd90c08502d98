# SPDX-License-Identifier: MIT
"""Queues: order, dependencies, results, cancellation, lifetime."""
import gc
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import wavemem
from conftest import FOREVER, POLL, POLL_ARGUMENTS, assembled, wait_until_runs


@pytest.fixture
def buffers(machine):
    return [machine.allocate(np.full(256, i, np.float32), name="abc"[i]) for i in range(3)]


def test_order_and_results(machine, vecadd, buffers):
    a, b, c = buffers
    profile = wavemem.Profile()
    with machine.queue() as queue:
        first = queue.submit(vecadd, a, b, c, 256, grid=256, workgroup=64, profile=profile)
        second = queue.submit(vecadd, c, b, c, 256, grid=256, workgroup=64)
        result = second.wait()
        assert first.done and second.done and result.workgroups == 4
    np.testing.assert_array_equal(c.array(), np.full(256, 2))  # 0 + 1, then 1 + 1
    assert len(profile.rows()) == 8 and first.wait().waves == 4
    with pytest.raises(wavemem.BadArgument, match="the queue is closed"):
        queue.submit(vecadd, a, b, c, 256, grid=256, workgroup=64)
    queue.close()


def test_dependencies(machine, vecadd, buffers):
    """The second queue's dispatch is submitted first, and waits for a signal of the host and for the first queue's."""
    a, b, c = buffers
    gate = machine.allocate(np.array([1], np.uint64), name="gate")
    with machine.queue() as one, machine.queue() as two:
        add = one.submit(vecadd, a, b, c, 256, grid=256, workgroup=64, after=[gate])
        then = two.submit(vecadd, c, c, b, 256, grid=256, workgroup=64, after=[add])
        with pytest.raises(TimeoutError, match="has not completed after 0.05 s"):
            then.wait(0.05)
        assert not add.done and "not done" in repr(one) + repr(then)
        gate.write(bytes(8))
        then.wait()
        assert add.done and machine.read(then.signal, 8) == bytes(8)
    assert (c.array() == 1).all() and (b.array() == 2).all()


def test_faults_and_errors(machine, vecadd, buffers):
    a, b, c = buffers
    queue = machine.queue()
    bad = queue.submit(vecadd, a, b, None, 256, grid=256, workgroup=64)
    good = queue.submit(vecadd, a, b, c, 256, grid=256, workgroup=64)
    with pytest.raises(wavemem.Fault) as fault:
        bad.wait()
    assert fault.value.kind == "memory" and good.wait().waves == 4
    with pytest.raises(wavemem.Fault):
        queue.wait()
    assert queue.wait() == []
    late = queue.submit(vecadd, a, b, c, 256, grid=256, workgroup=1024)  # only execution can tell
    with pytest.raises(wavemem.BadArgument, match="work-items"):
        late.wait()

    def fails(event):
        raise KeyError("seen")

    with pytest.raises(KeyError, match="seen"):
        queue.submit(vecadd, a, b, c, 256, grid=256, workgroup=64, observers=fails).wait()
    array = np.zeros(256, np.float32)
    for arguments, options, message in (((a, b, array, 1), {}, "a queue takes no arrays"), ((a, b, c), {}, "got 3"),
                                        ((a, b, c, 1), {"global_offset": 1}, "takes no option 'global_offset'"),
                                        ((a, b, c, 1), {"after": [5]}, "multiple of 8"), ((a, b, c, 1), {"after": ["x"]}, "a signal")):
        with pytest.raises(wavemem.BadArgument, match=message):
            queue.submit(vecadd, *arguments, grid=64, workgroup=64, **options)
    with wavemem.Machine("gfx900") as other, other.queue() as foreign:
        with pytest.raises(wavemem.BadArgument, match="loaded into another machine"):
            foreign.submit(vecadd, a, b, c, 1, grid=64, workgroup=64)
    queue.close()
    queue.close()


def test_initial_registers(machine):
    kernel = machine.load(assembled("""
        s_load_dwordx2 s[4:5], s[0:1], 0x0
        v_lshlrev_b32 v1, 2, v0
        s_waitcnt lgkmcnt(0)
        global_store_dword v1, v3, s[4:5]
""", [("out", "", "global_buffer", 8)])).kernel()
    out = machine.allocate(256)
    with machine.queue() as queue:
        queue.submit(kernel, out, grid=64, workgroup=64, start=wavemem.Start({"v3": range(64)}))
    np.testing.assert_array_equal(out.array(np.uint32), np.arange(64))


def test_cancel(machine):
    poll = machine.load(assembled(POLL, POLL_ARGUMENTS)).kernel()
    kernel = machine.load(assembled(FOREVER)).kernel()
    words = machine.allocate(8)
    queue = machine.queue()
    running = queue.submit(poll, words, grid=1, workgroup=1)
    waiting = queue.submit(kernel, grid=64, workgroup=64)
    wait_until_runs(words)
    with pytest.raises(wavemem.BadArgument, match="a dispatch is running on the machine"):
        machine.close()
    running.cancel()
    with pytest.raises(wavemem.Fault) as fault:
        running.wait()
    assert fault.value.kind == "stopped" and not waiting.done
    queue.close()  # cancels the other
    with pytest.raises(wavemem.Fault):
        waiting.wait()
    waiting.cancel()
    with pytest.raises(ZeroDivisionError):
        with machine.queue() as another:
            another.submit(kernel, grid=64, workgroup=64)
            1 / 0
    machine.close()


def test_memory_of_packets_is_freed(machine, vecadd, buffers):
    a, b, c = buffers
    with machine.queue() as queue:
        before = len(machine.allocations())
        for _ in range(50):
            queue.submit(vecadd, a, b, c, 256, grid=256, workgroup=64).wait()
            queue.wait()
        machine.allocate(8).free()
        assert len(machine.allocations()) < before + 10


def test_garbage():
    """Queues that are forgotten with all that they use, and those that the interpreter finds at its end."""
    def forget():
        machine = wavemem.Machine("gfx900")
        kernel = machine.load(assembled(FOREVER)).kernel()
        queue = machine.queue()
        ticket = queue.submit(kernel, grid=64, workgroup=64, profile=wavemem.Profile())
        cycle = [machine, kernel, queue, ticket, lambda: cycle]

    for _ in range(10):
        forget()
    gc.collect()
    script = """
import conftest, wavemem
machine = wavemem.Machine("gfx900")
queue = machine.queue()
queue.submit(machine.load(conftest.assembled(conftest.FOREVER)).kernel(), grid=64, workgroup=64)
print("ends")
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=Path(__file__).parent, stdout=subprocess.PIPE, encoding="utf-8",
                          timeout=60, check=True)
    assert done.stdout == "ends\n"
