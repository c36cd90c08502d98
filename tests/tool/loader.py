# SPDX-License-Identifier: MIT
"""Programs for LLVM's GPU loader: loader/program.c, compiled for several targets, with each of its services.

usage: loader.py WAVEMEM FOLDER_OF_CODE_OBJECTS [TEST...]
"""
import os
import shutil
import subprocess
import unittest

import command
from command import Case

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "loader/program.c")
TARGETS = ("gfx900", "gfx90a", "gfx1030", "gfx1100", "gfx1200")


@unittest.skipUnless(shutil.which("clang-19"), "no clang-19")
class Loader(Case):
    def compile(self, target, *options, compiler="clang-19"):
        subprocess.run([compiler, "-x", "c", "-target", "amdgcn-amd-amdhsa", f"-mcpu={target}", "-nogpulib", "-ffreestanding",
                        "-fvisibility=hidden", "-mcode-object-version=5", "-O2", "-Werror", *options, SOURCE, "-o", self.path("program")],
                       check=True)

    def load(self, *words, code=0, stdin=b"", options=()):
        """Runs the program; returns what it writes to stdout and stderr."""
        done = subprocess.run([command.WAVEMEM, "loader", *options, "program", *words], capture_output=True, cwd=self.folder.name, input=stdin,
                              timeout=120, check=False, env={**os.environ, "LT": "yes"})
        self.assertEqual(done.returncode, code, done)
        return done.stdout.decode(), done.stderr.decode()

    def test_services(self):
        long = "".join(chr(ord("a") + i % 26) for i in range(300))
        for target in TARGETS:
            with self.subTest(target):
                self.compile(target)
                self.assertEqual(self.load("arguments", "a b", "", code=42), ("program\narguments\na b\n\nLT=yes\nend\n", ""))
                self.assertEqual(self.load("long"), ("end\n", long))
                self.assertEqual(self.load("echo", stdin=b"12345", code=5), ("12345end\n", ""))
                self.load("files", "file")
                self.assertEqual(self.read("file"), b"line one\nline two")
                self.load("rename", "file", "renamed")
                self.assertEqual(self.read("renamed"), b"line one\nline two")
                self.assertEqual(self.load("noop")[0], "noop\nend\n")
                self.load("memory")
                self.assertEqual(self.load("exit", code=9), ("before\n", ""))
                line = "%d| 2.50|ab  |a string of more than fifty-six bytes, so that it takes two packets|c|fedcba9876543210|    42|%%|3\n"
                first = line % -7
                self.assertEqual(self.load("printf", code=3 * len(first) & 255), (2 * first + "end\n", first))
                out, _ = self.load("printf", options=["--threads", "4"], code=(3 * len(first) | 3 * len(line % -10)) & 255)
                self.assertEqual(sorted(out.splitlines(True)), sorted(2 * [line % n for n in (-7, -8, -9, -10)] + ["end\n"]))
                out, _ = self.load("lanes", options=["--threads", "5", "--blocks", "2"])
                self.assertEqual(sorted(out.split()), sorted([chr(ord("A") + i) + "." * (1 + i) for i in (0, 1, 2, 3, 4, 10, 11, 12, 13, 14)] + ["end"]))

    @unittest.skipUnless(shutil.which("clang-22"), "no clang-22")
    def test_newer_compilers(self):
        """Programs of clang 22 with either client, for targets that clang 19 does not know."""
        for target, options in (("gfx950", []), ("gfx1250", ["-DDOORBELL"]), ("gfx90a", ["-DDOORBELL"])):
            with self.subTest(target):
                self.compile(target, *options, compiler="clang-22")
                self.assertEqual(self.load("arguments", "a b", code=42), ("program\narguments\na b\nLT=yes\nend\n", ""))
                self.assertEqual(self.load("long")[0], "end\n")
                self.assertEqual(self.load("echo", stdin=b"12345", code=5), ("12345end\n", ""))
                self.load("memory")
                out, _ = self.load("lanes", options=["--threads", "5", "--blocks", "2"])
                self.assertEqual(sorted(out.split()), sorted([chr(ord("A") + i) + "." * (1 + i) for i in (0, 1, 2, 3, 4, 10, 11, 12, 13, 14)] + ["end"]))

    def test_ends(self):
        self.compile("gfx900", "-g")
        self.assertIn("abort()", self.load("abort", code=134)[1])
        self.assertIn("request 29 of LLVM's libc is not supported (system)", self.load("system", code=4)[1])
        self.assertIn("request 0x41000000: not one of LLVM's libc", self.load("unknown", code=4)[1])
        self.assertIn("16777217 bytes at once", self.load("much", code=4)[1])
        _, err = self.load("fault", code=3)
        self.assertIn("flat load outside every allocation", err)
        self.assertIn("program.c:", err)
        self.assertIn("time limit", self.load("spin", options=["--timeout", "1"], code=3)[1])
        self.assertEqual(self.load(code=7)[0], "end\n")

    def test_refused(self):
        self.assertIn("No such file", self.load(code=2)[1])
        shutil.copy(self.example("vecadd")[0], self.path("program"))
        self.assertIn("__llvm_rpc_client", self.load(code=2)[1])
        self.path("program", b"text")
        self.load(code=2)
        for words, message in ((["--threads", "0", "x"], "--threads 0: expected"), (["--blocks", "1,2,3,4", "x"], "--blocks 1,2,3,4: expected"),
                               (["--threads", "65536", "--blocks", "65536", "x"], "2^32-1 work-items"), (["--timeout", "x", "y"], "--timeout x"),
                               ([], "usage: wavemem loader"), (["--threads", "1"], "the program is missing")):
            _, err = self.run_tool("loader", *words, code=2)
            self.assertIn(message, err)


if __name__ == "__main__":
    command.main()
