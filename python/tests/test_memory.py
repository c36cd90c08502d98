# SPDX-License-Identifier: MIT
"""Guest memory: buffers, arrays over it, lifetime."""
import gc

import numpy as np
import pytest

import wavemem
from conftest import EXAMPLES


def test_allocate_and_copy(machine):
    buffer = machine.allocate(100, name="data")
    assert buffer.size == len(buffer) == 100 and buffer.read() == bytes(100)
    buffer.write(b"abc", 10)
    assert buffer.read(5, 9) == b"\0abc\0" == machine.read(buffer.address + 9, 5)
    machine.write(buffer.address, np.arange(4, dtype=np.uint16)[::-1])
    assert buffer.read(8) == np.array([3, 2, 1, 0], np.uint16).tobytes()
    for offset, size in ((96, 5), (-1, 1), (101, 0)):
        with pytest.raises(wavemem.OutOfRange, match="of the buffer 'data' of 100 bytes"):
            buffer.read(size, offset)
    with pytest.raises(wavemem.OutOfRange):
        buffer.write(bytes(5), 96)
    with pytest.raises(wavemem.OutOfRange):
        machine.read(buffer.address, 1 << 50)


def test_array_is_the_memory(machine, vecadd):
    a = machine.allocate(np.arange(12, dtype=np.float32).reshape(3, 4))
    b = machine.allocate(np.ones(12, np.float32))
    with machine.allocate(48) as c:
        assert a.array().shape == (3, 4) and a.array().dtype == np.float32
        vecadd(a, b, c, 12, grid=64, workgroup=64)
        sums = c.array(np.float32)
        np.testing.assert_array_equal(sums, np.arange(1, 13))
        a.array()[1, 2] = 100
        vecadd(a, b, c, 12, grid=64, workgroup=64)
        assert sums[6] == 101
        assert np.asarray(a)[1, 2] == 100 and np.shares_memory(np.asarray(a), a.array())
        assert np.asarray(a, np.int64).dtype == np.int64
        with pytest.raises(wavemem.BadArgument, match="48 bytes"):
            c.array([("x", "u1", 7)])
        window = machine.array(c.address + 4, 8, np.float32)
        np.testing.assert_array_equal(window, [2, 3])
    with pytest.raises(wavemem.OutOfRange, match="not within one allocation"):
        machine.array(a.address + 40, 16)


def test_bad_allocations(machine):
    for what in (0, np.zeros(0), b""):
        with pytest.raises(wavemem.BadArgument):
            machine.allocate(what)
    with pytest.raises(wavemem.NoMemory):
        machine.allocate(1 << 40)
    with pytest.raises(wavemem.BadArgument, match="the size is -1"):
        machine.allocate(-1)
    with pytest.raises(wavemem.BadArgument, match="of type float; expected bytes, an array"):
        machine.allocate(1.5)
    with pytest.raises(wavemem.BadArgument, match="Python objects"):
        machine.allocate(np.array([None]))
    with pytest.raises(wavemem.BadArgument, match="name"):
        machine.allocate(4, name="a\0b")
    with pytest.raises(MemoryError):  # the classes are Python's, too
        machine.allocate(1 << 40)


def test_free(machine, vecadd):
    buffer = machine.allocate(64, name="gone")
    view = buffer.array()
    with pytest.raises(BufferError, match="an array still shows the buffer 'gone'"):
        buffer.free()
    part = view[10:20]
    del view
    with pytest.raises(BufferError):
        buffer.free()
    del part
    address = buffer.address
    buffer.free()
    buffer.free()
    for use in (buffer.array, buffer.read, lambda: buffer.address, lambda: buffer.write(b"x"),
                lambda: vecadd(buffer, buffer, buffer, 1, grid=1, workgroup=1), buffer.__enter__):
        with pytest.raises(wavemem.BadArgument, match="the buffer 'gone' is freed"):
            use()
    with pytest.raises(wavemem.OutOfRange):
        machine.read(address, 1)


def test_context_manager_waits_for_arrays(machine):
    with machine.allocate(64) as buffer:
        address, view = buffer.address, buffer.array()
    view[:] = 7  # still its memory
    assert machine.read(address, 64) == b"\7" * 64
    del view
    machine.allocate(4)
    with pytest.raises(wavemem.OutOfRange):
        machine.read(address, 1)


def test_arrays_outlive_the_machine():
    machine = wavemem.Machine("gfx900")
    view = machine.allocate(np.arange(1 << 20, dtype=np.uint32)).array()
    machine.close()
    del machine
    gc.collect()
    assert view.sum(dtype=np.uint64) == (1 << 20) * ((1 << 20) - 1) // 2
    view[:] = 1
    assert view.sum() == 1 << 20


def test_use_after_close(vecadd):
    machine = wavemem.Machine("gfx900")
    program = machine.load(EXAMPLES / "vecadd.co")
    kernel, buffer = program.kernel(), machine.allocate(8)
    machine.close()
    machine.close()
    array = np.zeros(1, np.float32)
    for use in (lambda: machine.allocate(8), lambda: machine.load(EXAMPLES / "vecadd.co"), lambda: machine.read(0, 1),
                lambda: machine.write(0, b"x"), lambda: machine.array(0, 1), lambda: machine.set_apertures(0, 0), program.kernel,
                lambda: kernel(array, array, array, 1, grid=1, workgroup=1), lambda: buffer.address, buffer.read, buffer.array,
                lambda: program.kernels, lambda: program.symbol("x"), kernel.dependence, machine.__enter__,
                lambda: machine.observe(print), lambda: machine.unobserve(print)):
        with pytest.raises(wavemem.BadArgument, match="the machine is closed"):
            use()
    buffer.free()
    assert kernel.info.name == "vecadd" and "closed" in repr(machine)


def test_closed_module(machine):
    module = wavemem.Module(EXAMPLES / "vecadd.co")
    kernel = machine.load(module).kernel()
    info = module.kernel()
    with module:
        assert module.target == "gfx900"
    module.close()
    for use in (lambda: module.target, module.kernel, module.sections, lambda: machine.load(module), lambda: module.line(0)):
        with pytest.raises(wavemem.BadArgument, match="the module .*vecadd.co is closed"):
            use()
    # The machine keeps what it needs.
    a, c = np.ones(4, np.float32), np.zeros(4, np.float32)
    del module
    gc.collect()
    kernel(a, a, c, 4, grid=64, workgroup=64)
    assert (c == 2).all() and info.arguments[3].name == "n"


def test_symbols(machine):
    program = machine.load(wavemem.assemble("""
        .amdgcn_target "amdgcn-amd-amdhsa--gfx900"
        .data
        .globl counter
        .type counter,@object
        .p2align 2
counter: .long 5, 6
        .size counter, 8
""", "gfx900"))
    counter = program.symbol("counter")
    np.testing.assert_array_equal(counter.array(np.uint32), [5, 6])
    with pytest.raises(wavemem.BadArgument, match="belongs to a loaded module"):
        counter.free()
    with pytest.raises(wavemem.NotFound):
        program.symbol("nothing")


def test_machines():
    with pytest.raises(wavemem.NotFound, match="unknown target 'gfx1'"):
        wavemem.Machine("gfx1")
    with pytest.raises(wavemem.BadArgument, match="of type int; expected a str"):
        wavemem.Machine(900)
    with wavemem.Machine("gfx1030") as machine:
        with pytest.raises(wavemem.BadArgument, match="gfx900"):
            machine.load(EXAMPLES / "vecadd.co")
        with pytest.raises(wavemem.BadArgument, match="apertures"):
            machine.set_apertures(1, 2)


def test_no_leak(vecadd):
    """Temporary memory of launches is freed: otherwise 64 GiB would be used up."""
    a = np.zeros(1 << 22, np.float32)
    for _ in range(3):
        vecadd(a, a, a, 1, grid=1, workgroup=1)
    first = vecadd.machine.allocate(8).address
    vecadd(a, a, a, 1, grid=1, workgroup=1)
    with pytest.raises(wavemem.Fault):
        vecadd(a, a, None, 1, grid=1, workgroup=1)
    events = []
    watcher = wavemem.Observer(lambda event: events.append((event.kind, event.memory.address)), ["allocate", "free"])
    vecadd.machine.observe(watcher)
    vecadd(a, a, a, 1, grid=1, workgroup=1)
    vecadd.machine.unobserve(watcher)
    assert first and sorted(address for kind, address in events if kind == "allocate") == \
        sorted(address for kind, address in events if kind == "free")
