# SPDX-License-Identifier: MIT
"""Assembling, disassembling, decoding; modules and bundles."""
import os
import shutil
import subprocess
import warnings

import numpy as np
import pytest

import wavemem
from conftest import EXAMPLES, assembled

LLVM = shutil.which("llvm-mc-19")


def test_disassemble_an_example_as_llvm():
    objdump = shutil.which("llvm-objdump-19")
    if not objdump:
        pytest.skip("llvm-objdump-19 is not installed")
    for name in ("vecadd", "sgemm", "sha256"):
        path = EXAMPLES / f"{name}.co"
        text = subprocess.run([objdump, "-d", "--no-show-raw-insn", str(path)], stdout=subprocess.PIPE, check=True,
                              encoding="utf-8").stdout
        expected = [line.split("//")[0].strip() for line in text.splitlines() if line.startswith("\t")]
        section = wavemem.Module(path).sections()[0]
        listing = wavemem.disassemble(section.code, "gfx900", address=section.address)
        assert [one.text for one in listing if one.branch_target is None] == \
            [one for one, other in zip(expected, listing) if other.branch_target is None]
        assert len(listing) == len(expected) > 20 and listing[0].address == section.address


@pytest.mark.skipif(not LLVM, reason="llvm-mc-19 is not installed")
def test_assemble_as_llvm():
    source = "v_fma_f32 v0, |v1|, -v2, 1.0\nds_read2_b64 v[0:3], v4 offset0:1 offset1:9\nbuffer_load_dword v1, v2, s[4:7], s1 idxen\n"
    done = subprocess.run([LLVM, "-triple=amdgcn", "-mcpu=gfx900", "-show-encoding"], input=source, stdout=subprocess.PIPE,
                          check=True, encoding="utf-8").stdout
    expected = bytes(int(byte, 16) for line in done.splitlines() if "encoding:" in line
                     for byte in line.split("[", line.count("["))[-1].rstrip("]").split(","))
    assert wavemem.assemble(source, "gfx900", raw=True) == expected


def test_round_trip():
    code = wavemem.assemble("s_nop 0\n.Lend: s_cbranch_scc0 .Lend\n.long 0xffffffff\n", "gfx900", raw=True)
    listing = wavemem.disassemble(np.frombuffer(code, np.uint32), "gfx900", address=0x100)
    assert [(one.text, one.branch_target, one.data) for one in listing] == [
        ("s_nop 0", None, False), ("s_cbranch_scc0 65535", 0x104, False), (".long 0xffffffff", None, True)]
    assert wavemem.disassemble(b"", "gfx900") == []
    with pytest.raises(wavemem.BadArgument, match="code has 3 bytes; expected a multiple of 4"):
        wavemem.disassemble(b"abc", "gfx900")
    with pytest.raises(wavemem.BadArgument, match="32-bit words"):
        wavemem.disassemble("s_nop", "gfx900")
    with pytest.raises(wavemem.BadArgument, match="a word does not fit"):
        wavemem.disassemble([1 << 32], "gfx900")
    with pytest.raises(wavemem.NotFound):
        wavemem.disassemble(code, "gfx1")


def test_errors_of_the_assembler(tmp_path):
    with pytest.raises(wavemem.BadFile) as caught:
        wavemem.assemble("s_nop 0\nv_add_f99 v0, v1\ns_nop x\n", "gfx900", name="kernel.s")
    assert "kernel.s:2:" in caught.value.messages and "kernel.s:3:" in caught.value.messages
    (tmp_path / "part.s").write_text("s_nop 3\n")
    included = wavemem.assemble('.include "part.s"\n', "gfx900", raw=True, files=True, folders=[tmp_path])
    assert wavemem.disassemble(included, "gfx900")[0].text == "s_nop 3"
    with pytest.raises(wavemem.BadFile):
        wavemem.assemble('.include "part.s"\n', "gfx900", raw=True)
    with pytest.raises(wavemem.Error):
        wavemem.assemble("s_nop 0\n", "gfx1")
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        wavemem.assemble('.warning "careful"\n', "gfx900", raw=True)
    assert [one.category for one in seen] == [wavemem.AssemblerWarning] and "careful" in str(seen[0].message)


def test_decode():
    one = wavemem.decode(wavemem.assemble("global_atomic_add v5, v[2:3], v4, off offset:-8 glc\n", "gfx900", raw=True), "gfx900")
    assert (one.name, one.kind, one.encoding, one.elements, one.bytes) == ("global_atomic_add", "GLOBAL", "global", 1, 4)
    assert one.text == "global_atomic_add v5, v[2:3], v4, off offset:-8 glc" and len(one.words) == 2
    assert one.modifiers["offset"] == -8 and one.modifiers["glc"] == 1 and "atomic" in one.flags and "masked" in one.flags
    address = next(operand for operand in one.operands if operand.role == "addr")
    assert (address.kind, address.reg, address.dwords, address.read, address.written) == ("vgpr", 2, 2, True, False)
    assert wavemem.wait_counters(one.row, "gfx900") == "vmcnt"
    pair = wavemem.decode(wavemem.assemble("v_dual_add_f32 v0, v1, v2 :: v_dual_mov_b32 v3, v4\n", "gfx1100", raw=True), "gfx1100")
    assert pair.second_name == "v_dual_mov_b32" and pair.operands[pair.second_operand].reg == 3
    literal = wavemem.decode(wavemem.assemble("v_mov_b32 v0, 0x12345678\n", "gfx900", raw=True), "gfx900")
    assert (literal.operands[1].kind, literal.operands[1].value) == ("literal", 0x12345678)
    with pytest.raises(wavemem.BadFile, match="the words ffffffff are not an instruction of gfx900"):
        wavemem.decode([0xFFFFFFFF], "gfx900")
    with pytest.raises(wavemem.BadFile, match="none"):
        wavemem.decode(b"", "gfx900")
    with pytest.raises(wavemem.NotFound):
        wavemem.decode(b"", "gfx1")


def test_registers_above_v255():
    """The bits of s_set_vgpr_msb on all ways to an instruction; 0 where ways differ, or a register sets them."""
    lines = [".globl k", ".p2align 8", ".type k,@function", "k:",
             "s_set_vgpr_msb 0x41", "v_mov_b32 v1, v2",                              # the destination and the first source
             "s_cbranch_scc0 same", "s_set_vgpr_msb 0", "s_set_vgpr_msb 0x41", "same:", "v_mov_b32 v2, v2",
             "s_cbranch_scc0 other", "s_set_vgpr_msb 0", "other:", "v_mov_b32 v3, v2",
             "s_set_vgpr_msb 0x80", "v_mov_b32 v4, v2", "s_setreg_b32 hwreg(HW_REG_MODE, 12, 8), s0", "v_mov_b32 v5, v2",
             "s_set_vgpr_msb 3", "s_branch end", "v_mov_b32 v6, v2", "end:", "v_mov_b32 v7, v2", "s_endpgm", ".size k, .-k", ".rodata",
             ".p2align 6", ".amdhsa_kernel k", ".amdhsa_next_free_vgpr 1024", ".amdhsa_next_free_sgpr 16", ".end_amdhsa_kernel"]
    module = wavemem.Module(wavemem.assemble("\n".join(lines) + "\n", "gfx1250"))
    section = module.sections()[0]
    found, at = {}, module.kernel().entry - section.address
    while at < len(section.code):
        words = section.code[at:at + 4]
        state = module.state(section.address + at)
        one = wavemem.decode(words, "gfx1250", state)
        if one.name.startswith("v_mov"):
            found[one.operands[0].reg % 256] = (state, one.operands[0].reg, one.operands[1].reg)
            if one.operands[0].reg == 257:
                assert one.text == "v_mov_b32_e32 v1 /*v257*/, v2 /*v258*/" and one.state == 0x41
        at += 4 * len(one.words)
        if one.name == "s_endpgm":
            break
    assert found == {1: (0x41, 257, 258), 2: (0x41, 258, 258), 3: (0, 3, 2), 4: (0x80, 516, 2), 5: (0, 5, 2), 6: (0, 6, 2), 7: (3, 7, 770)}
    assert module.state(1 << 60) == 0 and wavemem.Module(EXAMPLES / "vecadd.co").state(0) == 0
    with pytest.raises(wavemem.BadArgument, match="state"):
        wavemem.decode(b"\0\0\0\0", "gfx1250", 256)


def test_descriptions():
    row = wavemem.decode(wavemem.assemble("v_rcp_f32 v0, v1\n", "gfx900", raw=True), "gfx900").row
    one = wavemem.describe(row)
    assert one.name.startswith("v_rcp_f32") and one.grade == "approx" and one.remark
    assert wavemem.wait_counters(row, "gfx900") is None
    with pytest.raises(wavemem.BadArgument, match="expected 0 to"):
        wavemem.describe(wavemem.row_count())
    assert {"gfx600", "gfx900", "gfx1200"} <= set(wavemem.targets()) and wavemem.target_known("gfx1030:wave64")
    assert not wavemem.target_known("gfx1")


def test_modules(tmp_path):
    module = wavemem.Module(EXAMPLES / "vecadd.co")
    info = module.kernel()
    assert [one.name for one in module] == ["vecadd"] and info.arguments[:4] != () and info.wave_size == 64
    assert [(one.name, one.type_name, one.kind, one.offset, one.size) for one in info.arguments[:4]] == [
        ("a", "float*", "global_buffer", 0, 8), ("b", "float*", "global_buffer", 8, 8), ("c", "float*", "global_buffer", 16, 8),
        ("n", "uint", "by_value", 24, 4)]
    assert info.arguments[0].is_const and not info.arguments[2].is_const and info.arguments[-1].kind == "hidden"
    assert module.symbol(info.entry + 4) == ("vecadd", 4) and module.line(info.entry).file.endswith("vecadd.cl")
    assert module.symbol(1 << 60) is None and module.line(1 << 60) is None
    data = (EXAMPLES / "vecadd.co").read_bytes()
    assert wavemem.Module(data).kernel() == info and wavemem.Module(memoryview(data)).version == 5
    with pytest.raises(wavemem.BadFile):
        wavemem.Module(data[:1000])
    with pytest.raises(wavemem.Error, match="bytes"):
        wavemem.Module(b"no code object")
    with pytest.raises(wavemem.InputOutput):
        wavemem.Module(tmp_path / "missing.co")
    with pytest.raises(wavemem.BadArgument, match="NUL"):
        wavemem.Module("a\0b")
    with pytest.raises(wavemem.BadArgument, match="of type int"):
        wavemem.Module(5)


def test_raw_code(machine):
    module = wavemem.Module(wavemem.assemble("""
        s_load_dwordx2 s[4:5], s[0:1], 0x0
        v_lshlrev_b32 v1, 2, v0
        s_waitcnt lgkmcnt(0)
        global_store_dword v1, v0, s[4:5]
        s_endpgm
""", "gfx900", raw=True), "gfx900")
    assert (module.version, module.kernel().name) == (0, "raw")
    kernel = machine.load(module).kernel()
    assert kernel.info.arguments == ()
    out = machine.allocate(256)
    kernel(out.address.to_bytes(8, "little"), grid=64, workgroup=64)
    np.testing.assert_array_equal(out.array(np.uint32), np.arange(64))
    with pytest.raises(wavemem.Fault):  # null pointer
        kernel(bytes(8), grid=64, workgroup=64)
    with pytest.raises(wavemem.BadArgument, match="raw has 0 arguments"):
        kernel(1, 2, grid=64, workgroup=64)


def test_initial_registers(machine):
    """A fragment of code with its registers given: out[item] = v5 * 2 + s6."""
    kernel = machine.load(wavemem.Module(wavemem.assemble("""
        v_lshlrev_b32 v1, 2, v0
        v_lshl_add_u32 v2, v5, 1, s6
        global_store_dword v1, v2, s[8:9]
        s_endpgm
""", "gfx900", raw=True), "gfx900")).kernel()
    out = machine.allocate(512)
    values = np.random.default_rng(1).integers(0, 1000, 128).astype(np.uint32)
    start = wavemem.Start({"v0": "workitem_id_x", "v5": values, "s6": 5, "s8": out}, bare=True)
    kernel(grid=128, workgroup=128, start=start)
    np.testing.assert_array_equal(out.array(np.uint32), 2 * values + 5)
    kernel(grid=128, workgroup=128, start=wavemem.Start({"v5": -1.5, "s6": [7, 8, *divmod(out.address, 1 << 32)[::-1]]}))
    expected = (2 * int(np.float32(-1.5).view(np.uint32)) + 7) % (1 << 32)
    assert (out.array(np.uint32) == expected).all()
    kernel(grid=128, workgroup=128, start=wavemem.Start({"v5": 0, "s6": "workgroup_id_x", "s8": out.address}))
    assert not out.array().any()
    for registers, message in (({"s8": "workgroup"}, "no such value 'workgroup'; expected one of workgroup_id_x"),
                               ({"s8": 1 << 64}, "does not fit in 64 bits"), ({"v5": [1 << 32]}, "expected numbers of 32 bits"),
                               ({"q1": 0}, "q1"), ({"v5": np.zeros(3, np.uint32)}, "v5"), ({"s6": None}, "register s6")):
        with pytest.raises(wavemem.Error, match=message):
            kernel(grid=128, workgroup=128, start=wavemem.Start(registers))
    with pytest.raises(wavemem.BadArgument, match="expected a wavemem.Start"):
        kernel(grid=128, workgroup=128, start={"s8": 1})


def test_bundles(machine, tmp_path):
    bundler = shutil.which("clang-offload-bundler-19")
    if not bundler:
        pytest.skip("clang-offload-bundler-19 is not installed")
    bundler = os.path.realpath(bundler)  # it looks for llvm-objcopy in the folder that it was called from, and in PATH
    other = tmp_path / "gfx906.co"
    other.write_bytes(assembled("s_nop 0\n", target="gfx906"))
    host = tmp_path / "host"
    host.write_bytes(b"")
    bundle = tmp_path / "bundle.hipfb"
    subprocess.run([bundler, "--type=o", "--targets=host-x86_64-unknown-linux--,hipv4-amdgcn-amd-amdhsa--gfx900,"
                    "hipv4-amdgcn-amd-amdhsa--gfx906", f"--input={host}", f"--input={EXAMPLES / 'vecadd.co'}", f"--input={other}",
                    f"--output={bundle}"], check=True)
    entries = wavemem.bundle_entries(bundle)
    assert [one.target for one in entries] == ["", "gfx900", "gfx906"] and entries[2].data == other.read_bytes()
    assert wavemem.bundle_entries(bundle.read_bytes()) == entries
    with pytest.raises(wavemem.BadArgument, match="gfx906"):
        wavemem.Module(bundle)
    assert wavemem.Module(bundle, "gfx906").kernel().name == "test"
    a, c = np.ones(4, np.float32), np.zeros(4, np.float32)
    machine.load(bundle).kernel("vecadd")(a, a, c, 4, grid=64, workgroup=64)
    assert (c == 2).all()
    with pytest.raises(wavemem.NotFound):
        wavemem.bundle_entries(EXAMPLES / "vecadd.co")
    with wavemem.Machine("gfx1030") as another, pytest.raises(wavemem.NotFound, match="gfx900"):
        another.load(bundle)
