# SPDX-License-Identifier: MIT
"""Runs: stops, steps, registers, LDS."""
import gc
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import wavemem
from conftest import COPY_ARGUMENTS, EXAMPLES, FOREVER, assembled

STORE = 0xa0  # of global_store_dword v[0:1], v2, off in vecadd


@pytest.fixture
def abc():
    return np.arange(200, dtype=np.float32), np.full(200, 0.5, np.float32), np.zeros(200, np.float32)


def step(vecadd, abc, **options):
    return vecadd.step(*abc, 200, grid=256, workgroup=64, **options)


def test_breakpoint(vecadd, abc):
    """Before each wave's store, v2 has the sums; what is put there is stored."""
    a, b, c = abc
    store = vecadd._program.symbol("vecadd").address + STORE
    seen = []
    with step(vecadd, abc) as run:
        assert run.stopped is None and "not begun" in repr(run)
        while run.to(store).kind == "address":
            stop = run.stopped
            active = 64 if stop.workgroup[0] < 3 else 8
            assert (stop.pc, stop.wave, stop.wave_size, stop.lanes) == (store, 0, 64, (1 << active) - 1)
            lanes = slice(64 * stop.workgroup[0], 64 * stop.workgroup[0] + active)
            np.testing.assert_array_equal(run.vgpr(2, np.float32)[:active], (a + b)[lanes])
            run["v2"] = np.full(64, stop.workgroup[0], np.float32)
            seen.append(stop.workgroup[0])
        assert run.stopped.kind == "end"
        assert not c.any()  # arrays get the results at the end
        result = run.finish()
    assert seen == [0, 1, 2, 3] and result.workgroups == 4
    np.testing.assert_array_equal(c, np.arange(200) // 64)
    assert repr(run) == "<wavemem.Run, ended>"


def test_names_of_functions(vecadd, abc):
    with step(vecadd, abc) as run:
        assert run.to("vecadd").pc == vecadd._program.symbol("vecadd").address
        assert run.stopped.instructions == 0 and run.stopped.vgprs >= 8
        with pytest.raises(wavemem.NotFound, match="nothing"):
            run.to("nothing")
    np.testing.assert_array_equal(abc[2], abc[0] + abc[1])  # the context ran it to its end


def test_steps(machine):
    kernel = machine.load(assembled("""
        s_mov_b32 s4, 5
        s_mov_b64 vcc, -2
        v_mov_b32 v1, 7
        v_add_u32 v1, v1, s4
""")).kernel()
    with kernel.step(grid=64, workgroup=64) as run:
        assert run.step().instructions == 0
        pc = run["pc"]
        assert pc == run.stopped.pc == kernel._program.symbol("test").address
        assert run.step().kind == "step" and run.sgpr(4) == 5 and run["pc"] == pc + 4
        assert run.step().instructions == 2 and run["vcc"] == (1 << 64) - 2 and run["vcc_lo"] == (1 << 32) - 2
        assert run["exec"] == (1 << 64) - 1 == run.stopped.lanes
        run["s4"] = 100
        run["exec"] = 0xFF
        run["vcc"] = 3
        assert run["vcc"] == 3 and run["scc"] in (0, 1)
        run.step(2)
        np.testing.assert_array_equal(run["v1"][:8], 107)
        assert not (run["v1"][8:] == 107).any() and run["v1"].dtype == np.uint32 and run["v1"].shape == (64,)
        run["v1"] = 3
        assert (run.vgpr(1) == 3).all()
        run["vcc"] = -1
        assert run["vcc"] == (1 << 64) - 1
        for name, error in (("v99999", wavemem.NotFound), ("s999", wavemem.NotFound), ("q", wavemem.NotFound)):
            with pytest.raises(error, match=name):
                run[name]
        for name, value in (("s4", [1, 2]), ("v1", [1, 2]), ("pc", 0), ("s4", None), ("scc", 7), (5, 1)):
            with pytest.raises((wavemem.BadArgument, wavemem.Unsupported)):
                run[name] = value
        with pytest.raises(wavemem.BadArgument, match="expected at least 1"):
            run.step(0)
        assert run.to().kind == "end"
        with pytest.raises(wavemem.BadArgument, match="no wave|ended"):
            run["s4"]


def test_waves_and_lds(machine):
    """Two waves that pass values through LDS, which are changed on the way."""
    kernel = machine.load(assembled("""
        s_load_dwordx2 s[4:5], s[0:1], 0x0
        v_lshlrev_b32 v1, 2, v0
        ds_write_b32 v1, v0
        s_waitcnt lgkmcnt(0)
        s_barrier
        ds_read_b32 v2, v1
        s_waitcnt lgkmcnt(0)
        global_store_dword v1, v2, s[4:5]
""", [("out", "", "global_buffer", 8)], lds=512)).kernel()
    out = np.zeros(128, np.uint32)
    with kernel.step(out, grid=128, workgroup=128) as run:
        first = run.to(access=(0, 512), loads=False, lds=True)
        assert (first.kind, first.address, first.access_lanes, first.lds_bytes) == ("access", 0, (1 << 64) - 1, 512)
        second = run.to(workgroup=0, wave=1)
        assert (second.kind, second.wave) == ("wave", 1)
        assert run.select(0, 0).wave == 0 and (run["v0"] == np.arange(64)).all()
        with pytest.raises(wavemem.NotFound):
            run.select((7, 0, 0))
        at_read = run.to(access=(256, 512), stores=False, lds=True)
        assert at_read.kind == "access" and at_read.address == 256
        np.testing.assert_array_equal(np.frombuffer(run.read_lds(), np.uint32), np.arange(128))
        run.write_lds(256, np.array([1000, 1001], np.uint32))
        assert run.read_lds(256, 8) == np.array([1000, 1001], np.uint32).tobytes()
        for use in (lambda: run.read_lds(508, 8), lambda: run.write_lds(512, b"x"), lambda: run.read_lds(0, 1 << 30)):
            with pytest.raises(wavemem.OutOfRange):
                use()
    expected = np.arange(128)
    expected[64:66] = 1000, 1001
    np.testing.assert_array_equal(out, expected)


def test_memory_while_stopped(vecadd):
    machine = vecadd.machine
    a, b, c = (machine.allocate(np.full(200, i, np.float32)) for i in (1, 2, 0))
    with vecadd.step(a, b, c, 200, grid=256, workgroup=64) as run:
        stop = run.to(access=(c.address + 400, c.address + 404))
        assert stop.kind == "access" and stop.address == c.address + 400 and stop.access_lanes == 1 << 36
        assert c.array()[63] == 3 and c.array()[64] == 0
        b.array()[128:] = 10
        with pytest.raises(wavemem.BadArgument, match="a dispatch is running on the machine"):
            machine.close()
    assert c.array()[[99, 127, 128, 199]].tolist() == [3, 3, 11, 11]


def test_faults(vecadd, abc):
    a, b, c = abc
    run = vecadd.step(a, b, c[:100].copy(), 200, grid=256, workgroup=64)
    stop = run.to()
    assert stop.kind == "fault" and stop.workgroup == (1, 0, 0)
    assert (run.vgpr(2, np.float32)[:64] == (a + b)[64:128]).all()
    assert run.to().kind == "end"
    with pytest.raises(wavemem.Fault) as fault:
        run.finish()
    assert fault.value.kind == "memory" and fault.value.workgroup == (1, 0, 0)


def test_ends(machine, vecadd, abc):
    kernel = machine.load(assembled(FOREVER)).kernel()
    run = kernel.step(grid=64, workgroup=64)
    run.step(100)
    run.cancel()
    run.cancel()
    for use in (run.finish, run.step, lambda: run["s4"], lambda: run.select(0), run.read_lds, lambda: run.__setitem__("s4", 1)):
        with pytest.raises(wavemem.BadArgument, match="the run has ended"):
            use()
    with pytest.raises(ZeroDivisionError):
        with kernel.step(grid=64, workgroup=64) as run:
            run.step(10)
            1 / 0
    run = kernel.step(grid=64, workgroup=64)
    run.step(10)
    del run  # without a word: it is cancelled
    gc.collect()
    with kernel.step(grid=64, workgroup=64, max_instructions=1000) as run:
        assert run.to(instructions=500).kind == "step"
        assert run.to().kind == "fault"
        with pytest.raises(wavemem.Fault):
            run.finish()
    vecadd(*abc, 200, grid=256, workgroup=64)
    machine.close()


def test_garbage():
    """Runs that are forgotten together with all that they use, and those that the interpreter finds at its end."""
    def forget():
        machine = wavemem.Machine("gfx900")
        kernel = machine.load(wavemem.Module(assembled(COPY_ARGUMENTS, [("out", "", "global_buffer", 8)]))).kernel()
        profile = wavemem.Profile()
        run = kernel.step(bytearray(64), grid=16, workgroup=16, profile=profile, observers=lambda event: cycle)
        cycle = [machine, kernel, run, profile, lambda: cycle]
        run.step(2)

    for _ in range(20):
        forget()
    gc.collect()
    script = """
import conftest, wavemem
machine = wavemem.Machine("gfx900")
run = machine.load(conftest.assembled(conftest.FOREVER)).kernel().step(grid=64, workgroup=64, observers=lambda event: None)
run.step(5)
print("ends")
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=Path(__file__).parent, stdout=subprocess.PIPE, encoding="utf-8",
                          timeout=60, check=True)
    assert done.stdout == "ends\n"


def test_watched(vecadd, abc):
    """Observers and the profile see a run as a launch; exceptions reach who lets it go on."""
    events, profile = [], wavemem.Profile()
    with step(vecadd, abc, observers=lambda event: events.append(event.access.kind), profile=profile) as run:
        run.to(instructions=20)
        assert events and len(events) < 20
        with pytest.raises(wavemem.BadArgument, match="in use by a dispatch"):
            profile.rows()
    assert events.count("store") == 4 and len(profile.rows()) == 8

    def fails(event):
        raise KeyError("seen")

    run = step(vecadd, abc, observers=fails)
    with pytest.raises(KeyError, match="seen"):
        run.to()
    run.cancel()
    runs = []
    run = step(vecadd, abc, observers=lambda event: runs[0].step())
    runs.append(run)
    with pytest.raises(wavemem.BadArgument, match="the run is not stopped"):
        run.to()
    run.cancel()
    runs.clear()


def test_bad_requests(vecadd, abc):
    with pytest.raises(wavemem.BadArgument, match="grid"):
        vecadd.step(*abc, 200, workgroup=64)
    with pytest.raises(wavemem.BadArgument, match="got 3"):
        vecadd.step(*abc, grid=64, workgroup=64)
    with step(vecadd, abc) as run:
        for request in ({"access": (5, 5)}, {"access": 5}, {"access": (0, 4), "loads": False, "stores": False},
                        {"workgroup": 99}, {"workgroup": 0, "wave": 9}, {"instructions": -1}, {"access": (-1, 5)}):
            with pytest.raises(wavemem.BadArgument):
                run.to(**request)
        with pytest.raises(wavemem.BadArgument, match="the address is -1"):
            run.to(-1)


def test_history(vecadd, abc):
    """Back by instructions of a wave and to a time: the registers are those of before; the last write is the right one."""
    a, b, c = abc
    store = vecadd._program.symbol("vecadd").address + STORE
    with vecadd.step(*abc, 200, grid=256, workgroup=64, history=True) as run:
        assert run.who(0x10000000000) is None  # nothing has been executed
        first = run.to(store)
        before = {name: run[name] for name in ("v0", "v2", "s4", "exec", "pc")}
        run.step()
        again = run.back()
        assert (again.pc, again.executed, again.workgroup) == (first.pc, first.executed, first.workgroup)
        assert all(np.array_equal(run[name], value) for name, value in before.items())
        assert run.back(10) and run.stopped.instructions == first.instructions - 10 and run.step(10).pc == store
        second = run.to(store)
        address = int(run["v0"][5]) | int(run["v1"][5]) << 32
        run.step()
        now = run.stopped
        write = run.who(address)
        assert (write.kind, write.pc, write.workgroup, write.executed) == ("access", store, second.workgroup, second.executed)
        assert write.access_lanes == 1 << 5 and run.stopped == now
        assert run.goto(first.executed).pc == store and run.stopped.workgroup == first.workgroup
        assert run.who(address) is None  # not yet
        assert run.back(10000).instructions == 0
        run.to()
        assert run.who(address).executed == second.executed and run.stopped.kind == "end"
        with pytest.raises(wavemem.BadArgument, match="no wave is stopped"):
            run.back()
        with pytest.raises(wavemem.BadArgument, match="LDS ends"):
            run.who(0, lds=True)
        with pytest.raises(wavemem.BadArgument, match="size is 0"):
            run.who(0, 0)
    np.testing.assert_array_equal(abc[2], a + b)


def test_history_is_asked_for(vecadd, abc):
    with step(vecadd, abc) as run:
        run.step()
        with pytest.raises(wavemem.BadArgument, match="no history"):
            run.back()
        run.step(5)
    with pytest.raises(wavemem.BadArgument, match="would be observed again"):
        step(vecadd, abc, history=True, observers=lambda event: None)


def test_locals(machine):
    """Of a kernel that was compiled with -O3 -g: what the compiler has kept, and None for the rest."""
    kernel = machine.load(EXAMPLES / "reduction.co").kernel()
    with kernel.step(np.arange(1024, dtype=np.float32), np.zeros(4, np.float32), 1024, grid=1024, workgroup=256) as run:
        with pytest.raises(wavemem.BadArgument, match="no wave is stopped"):
            run.locals()
        run.to("reduce")
        run.step(40)
        values = run.locals(3)
        assert set(values) >= {"in", "sums", "n", "partial"}
        assert values["partial"].shape == (256,) and values["partial"].dtype == np.float32
        with pytest.raises(wavemem.BadArgument, match="lane is 64"):
            run.locals(64)
