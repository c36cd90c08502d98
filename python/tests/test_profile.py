# SPDX-License-Identifier: MIT
"""The profile against what the command reports; checks and fidelity; products."""
import json
import math
import subprocess

import numpy as np
import pytest

import wavemem
from conftest import COMMAND, EXAMPLES, assembled

SAME = ("kernel", "path", "operation", "offset", "executions", "lanes", "bytes", "lines", "ideal_lines", "address_clocks",
        "tag_lookups", "read_requests", "write_requests", "atomic_requests", "lds_passes", "lds_conflicts", "limit", "share",
        "advice", "line", "file")


def command(*words):
    done = subprocess.run([COMMAND, *map(str, words)], stdout=subprocess.PIPE, check=True, encoding="utf-8")
    return json.loads(done.stdout)


def profiled(name="transpose_naive", n=256, machine=None, **options):
    profile = wavemem.Profile(**options)
    with wavemem.Machine("gfx900") as machine:
        a = machine.allocate(np.zeros((n, n), np.float32), name="in")
        b = machine.allocate(a.size, name="out")
        machine.load(EXAMPLES / "transpose.co")[name](a, b, n, grid=(n, n), workgroup=(16, 16), profile=profile)
    return profile


@pytest.mark.parametrize("name", ["transpose_naive", "transpose_unpadded"])
def test_same_as_the_command(name):
    report = command("prof", "--json", EXAMPLES / "transpose.co", "-k", name, "-g", "256,256", "-b", "16,16", "--arg",
                     "in=zero:f32:65536", "--arg", "out=zero:f32:65536", "--arg", "n=256")
    profile = profiled(name)
    rows = profile.rows()
    assert len(rows) == len(report["rows"]) > 0
    compared = 0
    for row, expected in zip(rows, sorted(report["rows"], key=lambda one: int(one["pc"], 0))):
        for field in SAME:
            if expected.get(field) is not None:
                value = row[field]
                compared += 1
                if isinstance(expected[field], float):
                    assert value == pytest.approx(expected[field], rel=1e-5), field  # JSON has six digits
                else:
                    assert value == (int(expected[field], 0) if field == "offset" and isinstance(expected[field], str)
                                     else expected[field]), field
    assert compared > 10 * len(rows)
    kernel, expected = profile.kernels()[0], report["kernels"][0]
    for field in ("kernel", "dispatches", "workgroups", "waves", "instructions", "fetches", "memory_read", "memory_written",
                  "memory_dirty", "resident_workgroups"):
        assert kernel[field] == expected[field], field
    caches = profile.caches()
    assert list(caches["name"]) == [one["name"] for one in expected["caches"]]
    for cache, one in zip(caches, expected["caches"]):
        for kind in ("read", "write", "atomic"):
            assert {key: cache[kind][key] for key in one[kind]} == one[kind]
    findings = profile.findings()
    assert [one["cause"] for one in findings] == [one["cause"] for one in report["advice"]]
    for one, expected_one in zip(findings, report["advice"]):
        assert one["place"] == expected_one["place"] and one["change"] == expected_one["change"]
        assert one["after"]["seconds"] == pytest.approx(expected_one["after"]["seconds"], rel=1e-5)
        assert one["row_count"] == len(expected_one["pcs"])
    bounds = profile.bounds()
    assert [(one["name"], one["arithmetic"]) for one in bounds] == [(one["part"], one["arithmetic"]) for one in expected["bounds"]]
    assert list(bounds["clocks"]) == pytest.approx([one["clocks"] for one in expected["bounds"]])
    assert profile.binding() == {name: max(expected["bounds"], key=lambda one: one["seconds"])["part"]}


def test_rows_by_hand():
    """The naive transpose: loads of full lines, stores that touch 16 lines each."""
    rows = profiled().rows()
    vector = rows[rows["path"] == "GLOBAL"]
    assert list(vector["operation"]) == ["load", "store"]
    waves = 256 * 256 // 64
    assert list(vector["executions"]) == [waves, waves] and list(vector["lanes"]) == [64 * waves] * 2
    assert list(vector["lines"]) == [4 * waves, 16 * waves]
    np.testing.assert_array_equal(wavemem.efficiency(vector), [1, 0.25])
    assert vector["cache"]["requests"][0, wavemem.LEVELS.index("vector")] == 4 * waves
    assert 0.9 < rows["share"].sum() <= 1 and rows.dtype["cache"].shape == (6,)


def test_recorded_waves_and_histograms():
    profile = profiled()
    rows, waves, lines = profile.rows(), profile.waves(), profile.line_histograms()
    store = list(rows["operation"]).index("store")
    addresses, lanes, size, in_lds = waves[store]
    assert lanes == (1 << 64) - 1 and size == 4 and not in_lds
    np.testing.assert_array_equal(np.diff(addresses[:16].astype(np.int64)), 1024)  # down a column
    assert lines.shape == (len(rows), 64) and lines[store, 16] == rows["executions"][store] == lines[store].sum()


def test_dataframe():
    pandas = pytest.importorskip("pandas")
    profile = profiled()
    frame, rows = profile.dataframe(), profile.rows()
    assert isinstance(frame, pandas.DataFrame) and len(frame) == len(rows)
    np.testing.assert_array_equal(frame["l2_hits"], rows["cache"]["hits"][:, wavemem.LEVELS.index("l2")])
    store = frame[(frame.path == "GLOBAL") & (frame.operation == "store")].iloc[0]
    assert store.efficiency == 0.25 and store.lines == 16 * store.executions
    assert {"kernel", "text", "memory_read", "share", "advice"} <= set(frame.columns)
    assert wavemem.Fidelity().dataframe().empty


def test_html_and_text():
    profile = profiled()
    page = profile._repr_html_()
    assert page.count("<tr>") == 1 + len(profile.rows()) and "global_store_dword" in page and "25.0%" in page
    assert "bound by memory" in page and "wavemem replay t --html" in page
    table = profile.table().splitlines()
    assert table[0].split() == ["share", "efficiency", "runs", "lanes", "bytes", "lines", "ideal", "conflicts", "limit", "source",
                                "instruction"]
    assert len(table) == 1 + len(profile.rows())
    profile.close()
    assert profile._repr_html_() is None and "closed" in repr(profile)


def test_html_is_escaped(machine):
    name = "f_<script>_"
    profile = wavemem.Profile()
    kernel = machine.load(assembled("global_load_dword v1, v0, s[0:1]\ns_waitcnt vmcnt(0)\n",
                                    [("p", "", "global_buffer", 8)], name="script")).kernel()
    kernel(bytes(8), grid=2, workgroup=2, profile=profile)
    profile.add_source(name, "a<b")
    assert profile.source(name) == "a<b" and profile.source("none") is None
    assert "<script" not in profile._repr_html_()


def test_trace_and_replay(tmp_path):
    path = tmp_path / "trace"
    first = profiled(trace=path)
    assert not path.exists()
    first.end_trace()
    again = wavemem.Profile.replay(path)
    for field in first.rows().dtype.names:
        np.testing.assert_array_equal(again.rows()[field], first.rows()[field])
    bigger = wavemem.Profile.replay(path.read_bytes(), gpu=wavemem.Gpu("vega64").replace(cache={"l2": {"bytes": 16 << 20}}))
    assert list(bigger.rows()["lines"]) == list(first.rows()["lines"])
    assert again.dispatches()["grid"].tolist() == [[256, 256, 1]]
    with pytest.raises(wavemem.BadFile):
        wavemem.Profile.replay(b"no trace")
    with pytest.raises(wavemem.InputOutput):
        wavemem.Profile.replay(tmp_path / "missing")
    compared = wavemem.Profile.compare(path, ["vega64", wavemem.Gpu("mi210")])
    assert list(compared["gpu"]) == ["vega64", "mi210"] and list(compared["kernel"]) == ["transpose_naive"] * 2
    for one in compared:  # as replayed on its own
        alone = wavemem.Profile.replay(path, gpu=one["gpu"])
        kernel = alone.kernels()[0]
        assert (one["predicted"], one["factor"]) == (kernel["predicted"]["seconds"], kernel["predicted"]["factor"])
        assert one["bound_by"] == alone.binding()["transpose_naive"] and one["at_least"] == alone.bounds()["seconds"].max()
        assert one["verdict"] == alone.findings()["verdict"][0] and one["takes_longest"]
    assert compared["predicted"][0] != compared["predicted"][1]
    with pytest.raises(wavemem.BadArgument, match="another generation"):
        wavemem.Profile.compare(path, ["vega64", "mi300x"])
    assert "transpose_naive" in subprocess.run([COMMAND, "replay", str(path)], stdout=subprocess.PIPE, check=True,
                                               encoding="utf-8").stdout
    with pytest.raises(ValueError, match="no reason"):
        with wavemem.Profile(trace=tmp_path / "half"):
            raise ValueError("no reason")
    assert not (tmp_path / "half").exists()


def test_bank_conflicts():
    rows = profiled("transpose_unpadded").rows()
    reads = rows[(rows["path"] == "DS") & (rows["operation"] == "load")]
    assert list(reads["lds_conflicts"] / reads["executions"]) == [14.0]
    rows = profiled("transpose_lds").rows()  # rows of 17 dwords
    padded = rows[(rows["path"] == "DS") & (rows["operation"] == "load")]
    assert padded["lds_conflicts"][0] < reads["lds_conflicts"][0] / 4


def test_sample():
    assert profiled(n=1024, sample=4).kernels()["sampled_from"][0] == 4096
    with pytest.raises(wavemem.BadArgument):
        wavemem.Profile(sample=0)


def test_products():
    gpu = wavemem.Gpu("MI100")
    assert (gpu.name, gpu.compute_units, gpu.cache["l2"]["bytes"]) == ("mi100", 120, 8 << 20)
    changed = gpu.replace(compute_units=60, cache={"l2": {"bytes": 4 << 20}})
    assert (changed.compute_units, changed.cache["l2"]["bytes"], gpu.compute_units) == (60, 4 << 20, 120)
    assert wavemem.Gpu.default("gfx908").name == "mi100" and wavemem.Gpu.default("gfx1") is None
    assert {"vega64", "mi100"} <= {one.name for one in wavemem.gpus()} and "lds_bytes" in dir(gpu)
    with pytest.raises(wavemem.NotFound, match="vega64"):
        wavemem.Gpu("voodoo")
    for changes in ({"compute_unit": 1}, {"name": "x"}, {"compute_units": -1}, {"cache": {"l9": {}}}, {"cache": {"l2": {"x": 1}}}):
        with pytest.raises(wavemem.BadArgument):
            gpu.replace(**changes)
    with pytest.raises(wavemem.BadArgument, match="line"):
        wavemem.Profile(gpu.replace(cache={"l2": {"line": 48}}))
    with pytest.raises(wavemem.BadArgument):
        profiled(gpu=wavemem.Gpu.default("gfx1030"))  # another generation than gfx900's


def test_check(machine):
    code = assembled("""
        v_lshlrev_b32 v0, 2, v0
        s_load_dwordx2 s[4:5], s[0:1], 0x0
        s_waitcnt lgkmcnt(0)
        global_load_dword v1, v0, s[4:5]
        v_add_u32 v2, v1, v1
        global_store_dword v0, v2, s[4:5]
""", [("p", "", "global_buffer", 8)])
    check = wavemem.Check(hazards=False)
    kernel = machine.load(code).kernel()
    kernel(np.ones(64, np.uint32), grid=64, workgroup=64, check=check)
    findings = check.findings()
    assert list(findings["rule"]) == ["read-before-wait"] and findings["count"][0] == 1
    assert findings["text"][0].startswith("v_add_u32") and "vmcnt" in findings["message"][0]
    assert findings["file"][0] is None and findings["kernel"][0] == "test" and findings["pc"][0] > findings["first_pc"][0]
    check.close()
    check.close()
    with pytest.raises(wavemem.BadArgument, match="the check is closed"):
        check.findings()
    with pytest.raises(wavemem.BadArgument, match="the check is closed"):
        kernel(np.ones(64, np.uint32), grid=64, workgroup=64, check=check)
    assert findings["text"][0].startswith("v_add_u32")


def test_check_classes(machine):
    """All classes, with what happens to the machine's memory, and what was seen."""
    code = assembled("""
        v_lshlrev_b32 v0, 2, v0
        s_load_dwordx2 s[4:5], s[0:1], 0x0
        s_waitcnt lgkmcnt(0)
        global_load_dword v1, v0, s[4:5]
        s_waitcnt vmcnt(0)
        global_store_dword v0, v1, s[4:5] offset:4
""", [("p", "", "global_buffer", 8)])
    assert {"wait", "hazard", "memory"} <= set(wavemem.Check.known())
    assert set(wavemem.Check.limits()) == set(wavemem.Check.known()) and all(wavemem.Check.limits().values())
    with pytest.raises(ValueError, match="'waits' is no class"):
        wavemem.Check(["waits"])
    inverts = assembled("""
        v_lshlrev_b32 v0, 2, v0
        s_load_dwordx2 s[4:5], s[0:1], 0x0
        v_mov_b32 v1, 0
        v_rcp_f32 v1, v1
        s_waitcnt lgkmcnt(0)
        global_store_dword v0, v1, s[4:5]
""", [("p", "", "global_buffer", 8)])
    for classes, rules in (["float"], ["float-division-by-zero"]), (None, []):
        with wavemem.Check(classes) as check:
            machine.load(inverts).kernel()(machine.allocate(np.zeros(64, np.uint32)), grid=64, workgroup=64, check=check)
            assert [finding["rule"] for finding in check.findings()] == rules
    with wavemem.Check(["memory"], machine=machine) as check:
        buffer = machine.allocate(np.zeros(64, np.uint32))
        machine.load(code).kernel()(buffer, grid=64, workgroup=64, check=check, on_violation="goes_on")
        (finding,) = check.findings()
        assert (finding["rule"], finding["lanes"], finding["bytes"]) == ("out-of-bounds", 1 << 63, 4)
        assert finding["address"] == buffer.address + 256 and finding["allocation_bytes"] == 256
        (row,) = check.coverage()
        assert (row["launches"], row["waves"], row["instructions"], row["code"]) == (1, 1, 7, 7)
        assert list(row["accesses"]) == [2, 0, 0, 0, 0, 1]
    machine.close()
    with pytest.raises(wavemem.BadArgument, match="the machine is closed"):
        wavemem.Check(machine=machine)


def test_check_modifiers(machine):
    """Seven instructions, an untaken branch around one of them, and a wait without which two loads would overlap."""
    code = assembled("""
        v_lshlrev_b32 v0, 2, v0
        s_load_dwordx2 s[4:5], s[0:1], 0x0
        s_waitcnt lgkmcnt(0)
        global_load_dword v1, v0, s[4:5]
        s_waitcnt vmcnt(0)
        global_load_dword v2, v0, s[4:5]
        s_waitcnt vmcnt(0)
        v_add_u32 v1, v1, v2
        s_cbranch_execnz over
        v_mov_b32 v1, 0
        over:
        global_store_dword v0, v1, s[4:5]
""", [("p", "", "global_buffer", 8)])
    with pytest.raises(ValueError, match="needless is about the class 'wait'"):
        wavemem.Check(["race"], needless=True)
    kernel = machine.load(code).kernel()
    with wavemem.Check(["wait"], needless=True) as check:
        kernel(np.ones(64, np.uint32), grid=64, workgroup=64, check=check)
        (finding,) = check.findings()
        # The next wait is the second instruction behind this one: one load lies between them.
        assert (finding["rule"], finding["distance"]) == ("needless-wait", 2)
        assert finding["first_pc"] - finding["pc"] == 4 + 8  # s_waitcnt, global_load_dword
        (row,) = check.coverage()
        blocks = check.blocks(0)
        assert blocks["instructions"].sum() == row["code"] == 12 and list(blocks["executed"]) == [1, 0, 1]
        assert list(blocks["instructions"]) == [9, 1, 2] and row["executed_code"] == 11
        assert list(blocks["from"][1:]) == list(blocks["to"][:-1])
        with pytest.raises(IndexError, match="1 rows, and not number 1"):
            check.blocks(1)
    # Nothing is on its way at the second wait, so there is no other instruction.
    idle = assembled("s_load_dword s4, s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\ns_add_u32 s4, s4, 1\ns_waitcnt lgkmcnt(0)\n",
                     [("p", "", "global_buffer", 8)])
    with wavemem.Check(["wait"], needless=True) as check:
        machine.load(idle).kernel()(np.ones(64, np.uint32), grid=64, workgroup=64, check=check)
        (finding,) = check.findings()
        assert (finding["rule"], finding["distance"], finding["first_text"]) == ("needless-wait", 0, None)


def test_check_shuffle(machine):
    """Each workgroup stores its number to the same place: the last one is seen, which the order decides."""
    code = assembled("""
        s_load_dwordx2 s[4:5], s[0:1], 0x0
        v_mov_b32 v0, 0
        v_mov_b32 v1, s2
        s_waitcnt lgkmcnt(0)
        global_store_dword v0, v1, s[4:5]
""", [("p", "", "global_buffer", 8)])
    with pytest.raises(wavemem.BadArgument, match="seed 0 is 0"):
        wavemem.Check(["memory"], shuffle=[0])
    kernel = machine.load(code).kernel()
    for seeds, rules in (((), []), ((1, 2, 3), ["order-dependent"])):
        out = np.zeros(1, np.uint32)
        with wavemem.Check(["memory"], shuffle=seeds) as check:
            kernel(out, grid=64 * 16, workgroup=64, threads=1, check=check)
            assert list(check.findings()["rule"]) == rules and out[0] == 15


def test_check_leaks(machine):
    with wavemem.Check(["memory"], machine=machine) as check:
        kept, freed = machine.allocate(64, name="kept"), machine.allocate(64, name="freed")
        freed.free()
        check.leaks()
        (finding,) = check.findings()
        assert (finding["rule"], finding["allocation"], finding["address"]) == ("leak", "kept", kept.address)
    with wavemem.Check(["memory"]) as check, pytest.raises(wavemem.BadArgument, match="the check watches no machine"):
        check.leaks()


def test_fidelity(machine):
    fidelity = wavemem.Fidelity()
    machine.load(assembled("v_rcp_f32 v1, v0\nv_mov_b32 v1, v0\n")).kernel()(grid=128, workgroup=64, fidelity=fidelity)
    rows = {row["name"]: row for row in fidelity.rows()}
    assert rows["v_rcp_f32"]["grade"] == "approx" and rows["v_rcp_f32"]["executions"] == 2 and rows["v_rcp_f32"]["remark"]
    assert rows["v_mov_b32"]["grade"] == "exact" and list(fidelity.rows()["grade"])[0] != "exact"
    assert all(isinstance(one, str) for one in wavemem.Fidelity.general())


def test_stale_scalar_cache(machine):
    """The wave stores to what it has loaded and loads it again without S_DCACHE_INV."""
    kernel = machine.load(assembled("""
        s_load_dwordx2 s[4:5], s[0:1], 0x0
        s_waitcnt lgkmcnt(0)
        s_load_dword s6, s[4:5], 0x0
        s_waitcnt lgkmcnt(0)
        v_mov_b32 v1, 0
        v_mov_b32 v2, 7
        global_store_dword v1, v2, s[4:5]
        s_waitcnt vmcnt(0)
        s_load_dword s6, s[4:5], 0x0
        s_waitcnt lgkmcnt(0)
""", [("p", "", "global_buffer", 8)])).kernel()
    result = kernel(bytearray(4), grid=1, workgroup=1, scalar_cache="checked")
    assert [(one.kind, one.count, one.workgroup) for one in result.stale] == [("load", 1, (0, 0, 0))]
    assert "s_load_dword" in result.stale[0].text
    assert kernel(bytearray(4), grid=1, workgroup=1).stale == []
    assert not math.isnan(result.seconds)
