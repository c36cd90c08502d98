# SPDX-License-Identifier: MIT
"""wavemem asm: messages, lines, includes. tests/oracle compares the output with LLVM's.

usage: cmd_asm.py WAVEMEM FOLDER_OF_CODE_OBJECTS [TEST...]
"""
import os
import re
import resource
import struct
import subprocess
import tempfile

import command
from command import Case


class Asm(Case):
    def assemble(self, text, *words, code=0, name="k.s"):
        """The output file, and standard error."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, name)
            with open(path, "w") as file:
                file.write(text)
            os.mkdir(os.path.join(folder, "headers"))
            with open(os.path.join(folder, "headers", "far.inc"), "w") as file:
                file.write("  s_nop 7\n")
            out = os.path.join(folder, "out")
            words = [word.replace("FOLDER", folder) for word in words]
            run = subprocess.run([command.WAVEMEM, "asm", "-m", "gfx900", *words, path, "-o", out], capture_output=True, text=True)
            self.assertEqual(run.returncode, code, run.stderr)
            if code:
                return None, run.stderr.replace(folder + "/", "")
            with open(out, "rb") as file:
                return file.read(), run.stderr.replace(folder + "/", "")

    def test_defsym(self):
        """As llvm-mc's: known to conditions, changed by .set; several, in decimal and hexadecimal, and negative."""
        text = ".if wide==1\n.long n, m\n.endif\n.set n, n+1\n.long n, later\n"
        words = ["--defsym", "wide=1", "--defsym=n=0x10", "--defsym", "m=-2", "--defsym", "later=7", "--raw"]
        data, errors = self.assemble(text, *words)
        self.assertEqual((struct.unpack("<4i", data), errors), ((16, -2, 17, 7), ""))
        for wrong in ("n", "n=", "=1", "n=x", "n=1 2", "1n=2", "n=0x", "n==1", "", "n=1;", "n=99999999999999999999999"):
            errors = self.assemble("s_nop 0\n", "--defsym", wrong, code=2)[1]
            self.assertEqual(errors.splitlines(), ["wavemem: symbol '%s': expected NAME=NUMBER" % wrong])
        self.assertIn("it may be given 256 times", self.assemble("", *["--defsym=a=1"] * 257, code=2)[1])

    def test_raw_has_no_unresolved_values(self):
        """What only a linker could fill in is an error; distances within .text are known."""
        data, _ = self.assemble("s_mov_b32 s0, far\ns_add_u32 s0, s0, far@rel32@lo+4\ns_branch far\n.long far-.\nfar: s_endpgm\n", "--raw")
        self.assertEqual(struct.unpack("<7I", data)[1::2][:2], (20, 16))
        self.assertEqual(struct.unpack("<7I", data)[4:6], (0xbf820001, 4))
        for line in ("s_branch undefined", "s_mov_b32 s0, undefined", ".quad undefined", ".long later", "s_mov_b32 s0, other", ".long later@abs32@lo",
                     "s_mov_b32 s0, later@gotpcrel32@lo+4", ".weak maybe\n.long maybe"):
            errors = self.assemble(line + "\nlater: s_endpgm\n.data\nother: .long 1\n", "--raw", code=2)[1]
            self.assertRegex(errors, r"^k.s:[12]:\d+: error: ")

    def test_undefined_symbol(self):
        _, errors = self.assemble("s_getpc_b64 s[0:1]\ns_add_u32 s0, s0, missing@rel32@lo+4\n", code=2)
        self.assertEqual(errors.splitlines()[0],
                         "k.s:2:19: error: undefined symbol 'missing': no label, .set or .amdgpu_lds has this name")

    def wrong(self, text):
        """The first line of each message."""
        return [line for line in self.assemble(text, code=2)[1].splitlines() if line.startswith("k.s:")]

    def test_nearest_names(self):
        self.assertRegex(self.wrong("loop: s_branch lop\n")[0], "k.s:1:16: .*'lop'.*; nearest: loop$")
        self.assertRegex(self.wrong(".globbl k\n")[0], "'.globbl'; nearest: .globl$")

    def test_macros_of_a_wrong_line(self):
        errors = self.wrong(".macro in x\n s_nop \\x\n.endm\n.macro out\n in y z\n in 1\n in 99999\n.endm\nout\n")
        self.assertRegex(errors[0], r"^k.s:9:\d+: error: .*\(in macro 'out'\)$")
        self.assertRegex(errors[1], r"^k.s:9:\d+: error: .*\(in macro 'in' of 'out'\)$")

    def test_bodies_of_wrong_beginnings_are_skipped(self):
        self.assertEqual(len(self.wrong(".macro 1\nbad\n.endm\n.irp x\nbad\n.endr\n.rept -1\nbad\n.endr\n")), 3)

    def test_key_of_metadata(self):
        """A key that is none, before any other text of the metadata."""
        errors = self.wrong(".amdgpu_metadata\n@: 1\n.end_amdgpu_metadata\n")
        self.assertEqual(errors, ["k.s:2:1: error: expected a plain or a quoted text"])

    def test_errors_without_end(self):
        """Exponentially growing macros: assembly stops long before all 2^40 errors."""
        text = ".macro a\nbad\nbad\n.endm\n" + "".join(
            ".macro m%d\n%s\n%s\n.endm\n" % (n, *2 * ["m%d" % (n - 1) if n else "a"]) for n in range(40)) + "m39\n"
        self.assertRegex(self.assemble(text, code=2)[1].splitlines()[-1], r"^and: \d{3,5} errors more$")

    def test_own_lines(self):
        with tempfile.TemporaryDirectory() as folder:
            source, out = os.path.join(folder, "k.s"), os.path.join(folder, "k.co")
            with open(source, "w") as file:
                file.write(".globl k\nk:\n  s_nop 1\n\n  s_endpgm\n")
            self.run_tool(["asm", "-m", "gfx900", "-g", source, "-o", out])
            listing = self.run_tool(["dis", "--lines", out])[0]
            self.assertEqual(re.findall(r"; .*k.s:(\d+)\n\t(\w+)", listing), [("3", "s_nop"), ("5", "s_endpgm")])

    def test_include(self):
        text = '.include "far.inc"\ns_endpgm\n'
        code, _ = self.assemble(text, "--raw", "-I", "FOLDER/headers")
        self.assertEqual(code, struct.pack("<2I", 0xbf800007, 0xbf810000))
        self.assertEqual(self.assemble('.include "headers/far.inc"\ns_endpgm\n', "--raw")[0], code)
        self.assertIn("k.s:1:10: error: 'far.inc' cannot be read", self.assemble(text, "--raw", code=2)[1])

    def test_include_of_itself_ends(self):
        errors = self.wrong('.include "k.s"\n')
        self.assertEqual(len(errors), 1)
        self.assertIn("expanded too deep", errors[0])

    def test_text_without_end(self):
        """Expansions that are too long are refused: within 512 MiB, with one message that names the line."""
        x = "x" * 20000
        for text, line, why in (
                (".rept 10000\n.rept 10000\n.rept 10000\ns_nop 0\n.endr\n.endr\n.endr\n", 1, "more than 128 MiB"),
                ("s_nop 1\n.rept 100000000\ns_nop 0\n.endr\n", 2, "more than 16 MiB"),
                (".rept 9223372036854775807\n.rept 9223372036854775807\n.endr\n.endr\n", 1, "more than 16 MiB"),
                (".macro m a\n" + ".ascii \"\\a\"\n" * 1000 + ".endm\nm " + x + "\n", 1003, "more than 16 MiB"),
                (".irp a, " + x + ",1,2\n" + ".ascii \"\\a\"\n" * 1000 + ".endr\n", 1, "more than 16 MiB"),
                (".irpc a, " + x + "\n" + ".ascii \"\\a\"\n" * 1000 + ".endr\n", 1, "more than 16 MiB"),
                (".macro a\na\n.endm\na\n", 4, "expanded too deep"),
                (".macro a\n.endm\n" + "a\n" * 100001, 100002, "more than 100000")):
            def limited():
                if not command.is_sanitized():
                    resource.setrlimit(resource.RLIMIT_AS, (1 << 29, 1 << 29))
            with open(self.path("k.s"), "w") as file:
                file.write(text)
            run = subprocess.run([command.WAVEMEM, "asm", "-m", "gfx900", "k.s", "-o", "out"], capture_output=True, text=True,
                                 cwd=self.folder.name, preexec_fn=limited, timeout=120)
            errors = [line for line in run.stderr.splitlines() if line.startswith(("k.s:", "wavemem", "and"))]
            self.assertEqual((run.returncode, len(errors)), (2, 1), run.stderr[:1000])
            self.assertRegex(errors[0], rf"^k.s:{line}:\d+: error: .*{why}")

    def test_lds_variables(self):
        code, _ = self.assemble(".amdgpu_lds a, 5, 16\n.amdgpu_lds b, 4, 16\nv_mov_b32 v0, b@abs32@lo\ns_endpgm\n", "--raw")
        self.assertEqual(len(code), 12)

    def test_warning(self):
        code, errors = self.assemble('.warning "so so"\ns_endpgm\n', "--raw")
        self.assertEqual(code, struct.pack("<I", 0xbf810000))
        self.assertTrue(errors.startswith("k.s:1:1: warning: so so"), errors)


if __name__ == "__main__":
    command.main()
