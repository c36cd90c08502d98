# SPDX-License-Identifier: MIT
"""Observers: events, their values, exceptions, lifetime."""
import numpy as np
import pytest

import wavemem
from conftest import FOREVER, assembled


def run(vecadd, *observers, n=200, **options):
    a, b, c = np.arange(n, dtype=np.float32), np.full(n, 0.5, np.float32), np.zeros(n, np.float32)
    vecadd(a, b, c, n, grid=256, workgroup=64, observers=observers, **options)
    return a, b, c


def test_accesses(vecadd):
    seen = []

    def see(event):
        assert event.kind == "access"
        seen.append((event.workgroup[0], event.wave, event.lanes, event.access))

    buffers = [vecadd.machine.allocate(800, name=name) for name in "abc"]
    vecadd(*buffers, 200, grid=256, workgroup=64, observers=wavemem.Observer(see, values=True))
    vector = [one for one in seen if one[3].path == "GLOBAL"]
    assert [one[3].kind for one in vector] == ["load", "load", "store"] * 4
    for i, (group, wave, lanes, access) in enumerate(vector):
        active = 64 if group < 3 else 200 - 192
        assert (group, wave, lanes) == (i // 3, 0, (1 << active) - 1)
        assert (access.bytes, access.wave_size, access.completed, access.atomic, len(access.places)) == (4, 64, True, None, 1)
        place = access.places[0]
        assert (place.space, place.lanes, place.out_of_range) == ("global", lanes, 0)
        assert place.address.shape == (64,) and place.address.dtype == np.uint64 and place.private_offset is None
        assert not place.address[active:].any()
        offsets = 4 * np.arange(64 * group, 64 * group + active)
        bases = {int(one - two) for one, two in zip(place.addresses, offsets)}
        assert len(bases) == 1 and bases <= {buffer.address for buffer in buffers}
        values = (access.data[0] if access.kind == "store" else access.result)
        assert values.file == "vgpr" and values.count == 1 and values.values.shape == (1, 64)
        assert values.values.dtype == np.uint32
    assert vector[2][3].data[1] is None and vector[2][3].result is None


def test_values_are_those_in_memory(vecadd):
    """Stored values, put at their addresses, are the result."""
    c = {}

    def see(event):
        access = event.access
        if access.kind == "store":
            for lane in wavemem.lanes_of(access.places[0].lanes):
                c[int(access.places[0].address[lane])] = access.data[0].values[0, lane]

    a, b, result = run(vecadd, wavemem.Observer(see, values=True))
    stored = np.array([c[address] for address in sorted(c)], np.uint32).view(np.float32)
    np.testing.assert_array_equal(stored, result)
    np.testing.assert_array_equal(result, a + b)


def test_scalar_loads_have_one_lane(vecadd):
    found = []
    run(vecadd, wavemem.Observer(lambda event: found.append(event.access), values=True))
    scalar = [access for access in found if access.path == "SMEM"]
    assert scalar and all(access.result.file == "sgpr" and access.result.values.shape == (access.result.count, 1)
                          for access in scalar)
    assert any(access.result.values[0, 0] == 200 for access in scalar)  # n


def test_kinds_of_events(vecadd):
    seen = []
    kinds = ["instruction", "wave_begin", "wave_end", "workgroup_begin", "workgroup_end", "dispatch_begin", "dispatch_end"]
    run(vecadd, wavemem.Observer(lambda event: seen.append((event.kind, event.wave, event.extent.instructions
                                                            if event.kind.endswith("_end") else 0)), kinds))
    names = [one[0] for one in seen]
    assert names[0] == "dispatch_begin" and names[-1] == "dispatch_end" and set(names) == set(kinds)
    assert names.count("wave_begin") == names.count("wave_end") == names.count("workgroup_end") == 4
    assert seen[-1][2] == names.count("instruction")
    with pytest.raises(wavemem.BadArgument, match="no kind of event 'accesses'; expected some of access, instruction"):
        run(vecadd, wavemem.Observer(print, "accesses"))


def test_extent_and_barrier(machine):
    kernel = machine.load(assembled("s_barrier\n", lds=512)).kernel()
    seen = []
    kernel(grid=256, workgroup=128, observers=wavemem.Observer(
        lambda event: seen.append((event.kind, event.barrier) if "barrier" in event.kind else (event.kind, event.extent)),
        ("barrier_arrive", "barrier_leave", "dispatch_begin")))
    begin = seen.pop(0)[1]
    assert (begin.kernel, begin.grid, begin.workgroup_size, begin.lds_bytes) == ("test", (256, 1, 1), (128, 1, 1), 512)
    assert [kind for kind, _ in seen] == ["barrier_arrive"] * 2 + ["barrier_leave"] * 2 + \
        ["barrier_arrive"] * 2 + ["barrier_leave"] * 2
    assert all(one.number == -1 for _, one in seen) and seen[0][1].waits


def test_exports_and_messages(machine):
    kernel = machine.load(assembled("v_cvt_f32_u32 v1, v0\nexp pos1 v1, off, v0, off done\n"
                                    "s_sendmsg sendmsg(MSG_GS, GS_OP_CUT, 2)\n")).kernel()
    seen = []
    kernel(grid=64, workgroup=64, observers=wavemem.Observer(
        lambda event: seen.append(event.exported if event.kind == "export" else event.message), ("export", "message")))
    export, message = seen
    assert (export.target, export.name, export.components, export.wave_size) == (13, "pos1", 5, 64)
    assert export.done and not (export.compressed or export.valid_mask or export.row)
    assert export.values[1] is None and export.values[3] is None
    np.testing.assert_array_equal(export.values[0].view(np.float32), np.arange(64))
    np.testing.assert_array_equal(export.values[2], np.arange(64))
    assert (message.id, message.name, message.operation) == (0x212, "MSG_GS", "GS_OP_CUT")


def test_event_after_its_end(vecadd):
    kept = []
    run(vecadd, lambda event: kept.append(event))
    with pytest.raises(wavemem.Error, match="the event is over"):
        kept[0].pc
    with pytest.raises(wavemem.Error, match="the event is over"):
        kept[0].access
    assert repr(kept[0]) == "<wavemem.Event, over>"
    accesses = []
    run(vecadd, lambda event: accesses.append(event.access))  # what attributes return may be kept
    assert accesses[-1].places[0].addresses.size == 8

    def wrong(event):
        event.barrier

    with pytest.raises(AttributeError, match="an event of kind 'access' has no such attribute"):
        run(vecadd, wrong)


def test_exception_stops_the_dispatch(machine):
    kernel = machine.load(assembled(FOREVER)).kernel()
    calls = []

    def fails(event):
        calls.append(event.pc)
        if len(calls) == 10:
            raise KeyError("found it")

    with pytest.raises(KeyError, match="found it") as caught:
        kernel(grid=64, workgroup=64, observers=wavemem.Observer(fails, "instruction"))
    assert len(calls) == 10 and caught.traceback[-1].name == "fails"
    with pytest.raises(KeyboardInterrupt):
        def interrupt(event):
            raise KeyboardInterrupt
        kernel(grid=64, workgroup=64, observers=wavemem.Observer(interrupt, "block"))
    with pytest.raises(wavemem.Fault):  # the machine works on
        kernel(grid=64, workgroup=64, max_instructions=100)


def test_observer_reads_and_writes_but_changes_nothing(vecadd):
    machine = vecadd.machine
    buffer = machine.allocate(np.arange(4, dtype=np.uint32))
    view = buffer.array()
    seen = []

    def look(event):
        seen.append(buffer.read(4))
        buffer.write(b"\x05")
        view[1] = 9

    run(vecadd, look)
    assert seen[0] == bytes(4) and seen[-1] == b"\x05\0\0\0" and buffer.array()[:2].tolist() == [5, 9]
    del view
    for use, message in ((lambda: machine.allocate(4), "called by an observer"), (buffer.free, "called by an observer"),
                         (lambda: run(vecadd), "called by"), (machine.close, "a dispatch is running on the machine")):
        with pytest.raises(wavemem.BadArgument, match=message):
            run(vecadd, lambda event: use())
    assert buffer.read(4) == b"\x05\0\0\0"


def test_watchers_in_use(vecadd):
    profile = wavemem.Profile()
    with pytest.raises(wavemem.BadArgument, match="the profile is in use by a dispatch"):
        run(vecadd, lambda event: profile.rows(), profile=profile)
    with pytest.raises(wavemem.BadArgument, match="the profile is in use by a dispatch"):
        run(vecadd, lambda event: profile.close(), profile=profile)
    assert len(profile.rows())


def test_observed_machine(machine):
    seen = []
    observer = wavemem.Observer(lambda event: seen.append((event.kind, event.memory)),
                                ["allocate", "free", "host_write", "host_read", "host_pointer"])
    machine.observe(observer)
    with pytest.raises(wavemem.BadArgument, match="observed by this observer already"):
        machine.observe(observer)
    buffer = machine.allocate(b"abcd", name="letters", read_only=True)
    buffer.read(2, 1)
    address = buffer.address
    buffer.array()
    buffer.free()
    assert [(kind, one.address - address, one.size, one.data) for kind, one in seen] == [
        ("allocate", 0, 4, None), ("host_write", 0, 4, b"abcd"), ("host_read", 1, 2, b"bc"), ("host_pointer", 0, 4, None),
        ("free", 0, 4, None)]
    assert seen[0][1].name == "letters" and seen[0][1].flags == 1
    machine.unobserve(observer)
    with pytest.raises(wavemem.BadArgument, match="not observed by this observer"):
        machine.unobserve(observer)
    machine.allocate(4)
    assert len(seen) == 5


def test_exception_of_a_machine_observer(machine):
    def fails(event):
        raise ZeroDivisionError("at " + event.kind)

    machine.observe(fails_on := wavemem.Observer(fails, "host_read"))
    buffer = machine.allocate(4)
    with pytest.raises(ZeroDivisionError, match="at host_read"):
        buffer.read()
    machine.unobserve(fails_on)
    assert buffer.read() == bytes(4)

    machine.observe(wavemem.Observer(lambda event: machine.read(buffer.address, 1), "host_write"))
    with pytest.raises(wavemem.BadArgument, match="an observer may not use the machine"):
        buffer.write(b"x")


def test_access_log(vecadd):
    log = wavemem.AccessLog()
    run(vecadd, log)
    rows = log.rows()
    stores = rows[rows["kind"] == "store"]
    assert len(stores) == 4 and rows.dtype["address"].shape == (64,)
    np.testing.assert_array_equal(np.diff(stores["address"][0]), 4)
    log.clear()
    assert len(log.rows()) == 0
    with pytest.raises(MemoryError, match="limit of 3 accesses"):
        run(vecadd, wavemem.AccessLog(limit=3))


def test_events_as_in_one_thread(vecadd):
    """The order of events does not depend on `threads`."""
    def pcs(threads):
        found = []
        run(vecadd, wavemem.Observer(lambda event: found.append((event.pc, event.workgroup)), "instruction"), threads=threads)
        return found

    assert pcs(1) == pcs(4) != []
