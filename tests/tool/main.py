# SPDX-License-Identifier: MIT
"""Verbs, options, help and the manual page.

usage: main.py WAVEMEM FOLDER_OF_CODE_OBJECTS [TEST...]
"""
import os
import re
import subprocess
import unittest.mock

import command
from command import Case


class Main(Case):
    def test_verbs(self):
        out, _ = self.run_tool("--help")
        for verb in ("exec", "run", "prof", "dis", "info", "explain", "tess"):
            self.assertRegex(out, rf"(?m)^  {verb}\b")
        self.assertRegex(self.run_tool("--version")[0], r"^wavemem \d+\.\d+\.\d+\n$")
        self.refused("did you mean 'prof'", "porf")
        self.refused("did you mean 'run'", "rnu")
        self.refused("unknown verb 'zzzzzz'; 'wavemem --help'", "zzzzzz")
        self.assertIn("usage: wavemem VERB", self.run_tool(code=2)[1])

    def test_environment(self):
        trace = self.path("trace")
        prof = ["prof", *self.example("vecadd"), *"-g 256 -b 64 --arg a=iota:f32:256 --arg b=iota:f32:256 --arg c=zero:f32:256 "
                "--arg n=256".split()]
        self.run_tool(prof, "--trace", trace)
        uses = [prof, ["run", *prof[1:]], ["check", *prof[1:]], ["replay", trace],
                ["explain", "address", "-m", "gfx900", "global_load_dword v0, v[1:2], off"]]
        for variable, value, expected in [("WAVEMEM_COMPILE", "on", "off, auto or always"),
                                          ("WAVEMEM_COMPILE", "alwaysx", "off, auto or always"),
                                          ("WAVEMEM_CPU", "sse2", "baseline, avx2 or avx512"),
                                          ("WAVEMEM_DELAYS", "-1", "a number")]:
            for use in uses:
                with unittest.mock.patch.dict("os.environ", {variable: value}):
                    self.refused(f"{variable}={value} in the environment: expected {expected}", use)
        for use in uses[:4]:
            with unittest.mock.patch.dict("os.environ", WAVEMEM_COMPILE="", WAVEMEM_CPU="", WAVEMEM_DELAYS=""):
                self.run_tool(use)

    def test_perf_map(self):
        """perf finds host code by name: each line has the place and the size of code of the process, in the order of places."""
        words = ["run", *self.example("vecadd"), *"-g 64 -b 64 --arg a=iota:f32:64 --arg b=iota:f32:64 --arg c=zero:f32:64 "
                 "--arg n=64 --stats".split()]
        with subprocess.Popen([command.WAVEMEM, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              env=dict(os.environ, WAVEMEM_COMPILE="always", WAVEMEM_PERF_MAP="1")) as process:
            out = process.communicate()[0]
        self.assertEqual(process.returncode, 0, out)
        path = f"/tmp/perf-{process.pid}.map"
        if "compiled to" not in out:
            self.assertFalse(os.path.exists(path), "nothing was compiled")
            return
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
        os.remove(path)
        end = 0
        for line in lines:
            place, size, name = line.split()
            self.assertGreaterEqual(int(place, 16), end)
            self.assertRegex(name, "^wavemem_pc_0x[0-9a-f]+$")
            end = int(place, 16) + int(size, 16)
        self.assertTrue(lines)

    def test_help_teaches_by_example(self):
        for verb in ("exec", "run", "prof", "dis", "info", "explain", "tess"):
            out, err = self.run_tool(verb, "--help")
            self.assertEqual(err, "")
            self.assertIn(f"usage: wavemem {verb}", out)
            self.assertIn("  wavemem " + verb, out)

    def test_manual_page_knows_every_option(self):
        page = os.path.join(os.path.dirname(__file__), "..", "..", "docs", "wavemem.1")
        with open(page, encoding="utf-8") as file:
            text = file.read()
        verbs = [verb for verb in self.run_tool(["__complete", ""])[0].split() if not verb.startswith("-")]
        self.assertGreater(len(verbs), 10)
        for verb in verbs:
            for option in re.findall(r"(?m)^ +(?:-\w, )? *--([a-z-]+)", self.run_tool(verb, "--help")[0]):
                self.assertIn(f"Fl Fl {option}", text, verb)

    def test_options(self):
        co = self.example("vecadd")
        self.refused("did you mean --grid?", ["run"] + co, "--gird 4")
        self.refused("did you mean --plain?", ["dis"] + co, "--plian")
        self.refused("unknown option '-y'", ["run"] + co, "-y")
        self.refused("--stats takes no value", ["run"] + co, "--stats=3")
        self.refused("-g needs a value", ["run"] + co, "-g")
        self.refused("a code object is needed", "run --stats")
        for wrong in ("0", "x", "4,", "1,2,3,4", "-4", "4294967296", "1,,2"):
            self.refused(f"-g {wrong}: expected work-items", ["run"] + co, "-b 64", ["-g", wrong])
        self.refused("has at most 256 work-items", ["run"] + co, "-g 4 -b 32,32")
        self.refused("compiled for workgroups of 16,16,1",
                     ["run"] + self.example("transpose"), "-k transpose_lds -g 32,32 -b 8,8")
        self.refused("-j x: expected", self.vecadd("-j", "x"))
        self.refused("--timeout 0: expected seconds", self.vecadd("--timeout", "0"))
        self.refused("--max-instructions", self.vecadd("--max-instructions=-1"))
        self.refused("--alignment odd: expected unaligned, dword", self.vecadd("--alignment", "odd"))
        self.refused("-m gfx9999: not a target", self.vecadd("-m", "gfx9999"))
        self.refused("unexpected 'more.co'", self.vecadd("more.co"))
        self.refused("nothing.co", "run nothing.co -g 1 -b 1")

    def test_kernels(self):
        co = self.example("transpose")
        self.refused("did you mean 'transpose_", ["run"] + co, "-k transpos -g 4 -b 4")
        self.refused("-k KERNEL is needed: ", ["run"] + co, "-g 4 -b 4")


if __name__ == "__main__":
    command.main()
