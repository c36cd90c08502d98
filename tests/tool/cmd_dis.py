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
    def objdump(self, path):
        tool = shutil.which("llvm-objdump-19")
        if not tool:
            self.skipTest("llvm-objdump-19 is not installed")
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
