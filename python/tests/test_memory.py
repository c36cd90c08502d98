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
    """Temporary memory of launches is freed."""
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


def test_at_an_address(machine):
    buffer = machine.allocate(np.arange(3, dtype=np.uint8), address=0x7000_0000, name="here", read_only=True)
    assert buffer.address == 0x7000_0000 and machine.read(0x7000_0000, 3) == b"\0\1\2"
    for address, message in ((0x7000_0000, "allocat"), (0x7000_0001, "multiple of 4096"), (-1, "the address is -1")):
        with pytest.raises(wavemem.BadArgument, match=message):
            machine.allocate(8, address=address)
    one = machine.find(0x7000_0002)
    assert one == wavemem.Allocation(0x7000_0000, 3, True, False, False, "here") and machine.find(0x7000_0003) is None
    assert one in machine.allocations()


def test_allocations(machine, vecadd):
    first = machine.allocations()
    assert first and all(one.is_own for one in first)  # the code object
    buffers = [machine.allocate(10 + i, name=f"b{i}") for i in range(3)]
    found = [one for one in machine.allocations() if one not in first]
    assert [(one.address, one.size, one.name) for one in found] == [(one.address, one.size, one.name) for one in buffers]
    assert machine.allocations() == sorted(machine.allocations(), key=lambda one: one.address)


def test_mapped_arrays(machine, vecadd):
    """The guest sees the arrays themselves."""
    a, b, c = (np.full(1000, i, np.float32) for i in (1, 2, 0))
    ga, gb = machine.map(a, name="a"), machine.map(b, read_only=True)
    with machine.map(c, name="c") as gc:
        assert gc.address == c.ctypes.data and machine.find(gc.address).is_host
        vecadd(ga, gb, gc, 1000, grid=1024, workgroup=256)
        assert (c == 3).all()
        a[:] = 10
        vecadd(ga, gb, gc, 1000, grid=1024, workgroup=256)
        assert (c == 12).all() and np.shares_memory(gc.array(), c) and gc.array().dtype == np.float32
        gc.write(b"\0\0\0\0")
        assert c[0] == 0 and gc.read(4, 4) == np.float32(12).tobytes()
        with pytest.raises(wavemem.BadArgument):
            machine.map(c)  # mapped already
    assert machine.find(c.ctypes.data) is None and (c[1:] == 12).all()
    with pytest.raises(wavemem.Fault) as fault:
        vecadd(ga, ga, gb, 1000, grid=1024, workgroup=256)
    assert fault.value.kind == "read_only" and (b == 2).all()


def test_mapped_where(machine):
    memory = np.zeros(4096 + 64, np.uint8)
    start = -memory.ctypes.data % 64
    part = memory[start:start + 4096]
    buffer = machine.map(part, address=0x1234_0000)
    machine.write(0x1234_0010, b"abc")
    assert bytes(part[16:19]) == b"abc" and buffer.address == 0x1234_0000
    buffer.free()
    part[:] = 7  # the memory stays the caller's
    with pytest.raises(wavemem.BadArgument, match="equal modulo 64"):
        machine.map(part, address=0x1234_0001)
    with pytest.raises(wavemem.BadArgument, match="cannot be written"):
        machine.map(b"constant")
    with machine.map(b"constant", read_only=True) as constant:
        assert constant.read() == b"constant" and not constant.array().flags.writeable
    with pytest.raises(wavemem.BadArgument, match="not contiguous"):
        machine.map(memory[::2])
    with pytest.raises(wavemem.BadArgument, match="expected an array, got int"):
        machine.map(5)
    with pytest.raises(wavemem.BadArgument):
        machine.map(np.zeros(0))


def test_mapped_memory_stays_alive():
    machine = wavemem.Machine("gfx900")
    growing = bytearray(b"x" * 100)
    buffer = machine.map(growing)
    with pytest.raises(BufferError):  # Python refuses to move it
        growing.extend(b"y")
    address = machine.map(np.arange(100000, dtype=np.uint32)).address  # nobody else refers to this one
    gc.collect()
    assert machine.read(address + 4 * 99999, 4) == np.uint32(99999).tobytes()
    buffer.free()
    del buffer
    growing.extend(b"y")
    shown = machine.array(address, 400, np.uint32)
    machine.close()
    del machine
    gc.collect()
    np.testing.assert_array_equal(shown, np.arange(100))
