# SPDX-License-Identifier: MIT
"""wavemem dis: against llvm-objdump if it is installed.

usage: cmd_dis.py WAVEMEM FOLDER_OF_CODE_OBJECTS [TEST...]
"""
import os
import shutil
import struct
import subprocess
import tempfile

import command
from command import Case


class Dis(Case):
    def objdump(self, path, version=19):
        tool = shutil.which(f"llvm-objdump-{version}")
        if not tool:
            self.skipTest(f"llvm-objdump-{version} is not installed")
        return subprocess.run([tool, "-d", "-z", path], capture_output=True, text=True, check=True).stdout

    @staticmethod
    def folded(text):
        return [" ".join(line.split()) for line in text.splitlines() if "file format" not in line]

    def test_halves_of_llvm_22(self):
        """--llvm 22 names halves of VGPRs, as -m gfx1100:real-true16 does of raw instructions."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "half.bin")
            with open(path, "wb") as file:
                file.write(struct.pack("<I", 0x6a050200))
            for words in (["-m", "gfx1100", "--llvm", "22"], ["-m", "gfx1100:real-true16"], ["-m", "gfx1100:real-true16", "--llvm", "22"]):
                out = subprocess.run([command.WAVEMEM, "dis", "--plain", "--raw", *words, path], capture_output=True, text=True)
                self.assertEqual(out.stdout.split(), ["v_mul_f16_e32", "v2.l,", "s0,", "v1.h"])

    def test_interpreted_steps(self):
        """--steps marks what the compiler leaves to the interpreter: a barrier, but no sum, no load and no branch."""
        source = """
  .amdgcn_target "amdgcn-amd-amdhsa--gfx900"
  .globl k
  .p2align 8
  .type k,@function
k:
  v_add_u32 v1, v2, v3
  global_load_dword v4, v[0:1], off
  s_cbranch_vccz .Lend
  s_barrier
.Lend:
  s_endpgm
  .rodata
  .amdhsa_kernel k
    .amdhsa_next_free_vgpr 8
    .amdhsa_next_free_sgpr 8
  .end_amdhsa_kernel
"""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "k.s")
            with open(path, "w") as file:
                file.write(source)
            out, _ = self.run_tool("dis", "--steps", "-m", "gfx900", "-k", "k", path)
        lines = out.splitlines()
        if not lines[-1].endswith("are interpreted, also where the kernel is compiled"):
            self.skipTest("this host has no compiler")
        marked = [line.split()[0] for line in lines if line.endswith("(interpreted)")]
        self.assertEqual(marked, ["barrier"])
        self.assertEqual(lines[-1].split()[0], "1")

    def test_upper_registers(self):
        """Whole numbers of VGPRs above v255, as LLVM 22: up to the end of the block, and of the symbol; from any thread."""
        block = """
  s_set_vgpr_msb 0xc5
  v_add_f32 v1, v2, v3
  v_fma_f64 v[2:3], -v[4:5], |v[6:7]|, v[8:9]
  v_fmamk_f32 v1, v2, 0x1234, v5
  v_dual_add_f32 v1, v2, v3 :: v_dual_mul_f32 v4, v5, v6
  ds_store_2addr_b32 v1, v2, v3
  buffer_store_b32 v1, v2, s[0:3], s3 offen
  global_load_async_to_lds_b128 v1, v2, s[2:3]
  v_wmma_f32_16x16x32_f16 v[0:7], v[8:15], v[16:23], v[0:7]
  s_swap_pc_i64 s[2:3], s[0:1]
  v_cmp_lt_f32 vcc_lo, v1, v2
  s_cbranch_scc0 4
  v_add_f32 v1, v2, v3
  s_set_vgpr_msb 0x41
  v_mov_b32 v4, v5
  v_add_f32 v1, v2, v3
  s_set_vgpr_msb 0xff
  v_max3_num_f32 v231, |v232|, v255, v242
  v_pk_add_f32 v[250:251], v[230:231], v[254:255]
  v_wmma_f32_16x16x32_f16 v[228:235], v[8:15], v[224:231], v[248:255]
"""
        self.path("upper.s", f".globl f\n.type f,@function\nf:\n{block}.globl g\n.type g,@function\ng:\n"
                  f"v_mov_b32 v4, v5\n.rept 10000\n{block}.endr\n.rept 4\ns_endpgm\n.endr\n".encode())
        self.run_tool("asm -m gfx1250 upper.s -o upper.co")
        theirs = self.folded(self.objdump(self.path("upper.co"), 22))
        self.assertIn("v_add_f32_e32 v1 /*v769*/, v2 /*v258*/, v3 /*v259*/", " ".join(theirs[:20]))
        for threads in "123":
            self.assertEqual(self.folded(self.run_tool(["dis", "-j", threads, "upper.co"])[0]), theirs)

    def test_first_gfx1250(self):
        """Encodings of tensor copies that LLVM 22 does not know; words and text of LLVM's test of *_gfx1250_legacy."""
        words = (0xd0310000, 0, 0x7c7c0400, 0xd0310000, 0, 0x100c0400, 0xd0314000, 0, 0x7c7c0400, 0xd0314000, 0, 0x100c0400)
        self.path("legacy.bin", struct.pack("<12I", *words))
        copies = ["tensor_load_to_lds s[0:3], s[4:11]", "tensor_load_to_lds s[0:3], s[4:11], s[12:15], s[16:19]",
                  "tensor_store_from_lds s[0:3], s[4:11]", "tensor_store_from_lds s[0:3], s[4:11], s[12:15], s[16:19]"]
        dis = "dis -m gfx1250 --raw --plain legacy.bin"
        self.assertEqual(self.run_tool(dis)[0].splitlines(), copies)
        self.assertEqual(self.run_tool(dis, "--reassemblable")[0].count(".long"), 4)
        self.path("mixed.bin", struct.pack("<3I", 0xd0310001, 0, 0x7c7c0400))  # neither the first encoding nor the later one
        self.assertIn(".long", self.run_tool("dis -m gfx1250 --raw --plain mixed.bin")[0])

    def test_equals_llvm(self):
        """Every example completely: sections, symbols, text, addresses, words, branch targets."""
        names = sorted(name for name in os.listdir(command.EXAMPLES) if name.endswith(".co"))
        self.assertTrue(names)
        for name in names:
            path = os.path.join(command.EXAMPLES, name)
            theirs = self.objdump(path)
            self.assertEqual(self.folded(self.run_tool(["dis", path])[0]), self.folded(theirs), name)
            plain = self.run_tool(["dis", "--plain", path])[0].splitlines()
            theirs = [line.split("//")[0].strip() for line in theirs.splitlines() if "//" in line]
            self.assertEqual(plain, theirs)

    def test_labels(self):
        """They have headings and name branches, but the functions that they are in go on behind them."""
        self.path("labels.s", b""".globl f
.p2align 8
.type f,@function
f:
  s_nop 0
again:
  s_nop 1
  s_cbranch_scc0 again
  s_branch last
  s_branch f
last:
  s_endpgm
.size f, .-f
""")
        self.run_tool("asm -m gfx900 labels.s -o labels.co")
        out, _ = self.run_tool("dis labels.co")
        self.assertIn("s_cbranch_scc0 again ", out)
        self.assertIn("<last>:\n\ts_endpgm", out)
        self.assertEqual(self.folded(out), self.folded(self.objdump(self.path("labels.co"))))

    def test_one_kernel(self):
        co = self.example("transpose")
        out = self.run_tool(["dis"] + co, "-k transpose_lds")[0]
        self.assertIn("<transpose_lds>:", out)
        self.assertNotIn("<transpose_naive>", out)
        self.refused("no code belongs to a symbol 'nix'", ["dis"] + co, "-k nix")

    def test_raw(self):
        words = struct.pack("<4I", 0xBF810000, 0x7E040280, 0xFFFFFFFF, 0xBF8C0F70)
        self.path("words.bin", words)
        expected = "s_endpgm\nv_mov_b32_e32 v2, 0\n.long 0xffffffff\ns_waitcnt vmcnt(0)\n"
        self.assertEqual(self.run_tool("dis -m gfx900 --raw --plain words.bin")[0], expected)
        self.assertEqual(self.run_tool("dis -m gfx900 --raw --plain -", stdin=words)[0], expected)
        self.assertRegex(self.run_tool("dis -m gfx900 --raw words.bin")[0],
                         r"(?m)^\tv_mov_b32_e32 v2, 0 +// 000000000004: 7E040280$")

    def test_reassemblable(self):
        """Words that llvm-mc-19 does not reassemble from their text: gfx12 uses only five bits of the probe's number."""
        for target, words, expected in (("gfx900", (0xC09A1FC1, 0x10), "s_atc_probe 0x7f, s[2:3], 0x10\n"),
                                        ("gfx1200", (0xF4045FC1, 0xF8000010), ".long 0xf4045fc1, 0xf8000010")):
            out = self.run_tool(["dis", "-m", target, "--raw", "--plain", "--reassemblable", "-"], stdin=struct.pack("<2I", *words))[0]
            self.assertTrue(out.startswith(expected), out)

    def test_wrong(self):
        self.path("words.bin", b"\0\0\0\0")
        self.refused("--raw needs -m TARGET", "dis --raw words.bin")
        self.refused("raw instructions need --raw", "dis -m gfx900 words.bin")
        self.refused("-m gfx1: not a target", "dis -m gfx1 --raw words.bin")
        self.refused("a file is needed", "dis --plain")
        self.refused("missing.co", "dis missing.co")
        self.refused("words.bin", "dis words.bin")


if __name__ == "__main__":
    command.main()
