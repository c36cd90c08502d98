#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""HIP programs as clang-15 and Debian's libamdhip64 make them, through `wavemem exec`. Exit code 77 (skipped) without.

usage: hip.py WAVEMEM RUNTIME PROGRAM    compiles hip/PROGRAM.hip, which checks itself, and runs it on several products
       hip.py WAVEMEM RUNTIME            all other tests, with the programs in hip/other
"""
import json
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "hip"
LIBRARIES = Path("/usr/lib/x86_64-linux-gnu")
BITCODE = LIBRARIES / "amdgcn" / "bitcode"
SKIPPED = 77
TARGETS = ("gfx900", "gfx90a", "gfx1030")  # and a product of each:
PRODUCTS = ("vega64", "mi210", "rx6800")


def compile_program(source, folder):
    program = Path(folder) / source.stem
    subprocess.run(
        ["clang++-15", "-x", "hip", "-std=c++17", "-O2", "-g", *(f"--offload-arch={target}" for target in TARGETS),
         "--rocm-path=/usr", "--hip-version=5.2.21153", f"--hip-device-lib-path={BITCODE}", source, "-o", program,
         "-lamdhip64", "-pthread"], check=True)
    return program


def execute(*words, **more):
    return subprocess.run([COMMAND, "exec", *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          encoding="utf-8", timeout=120, check=False, **more)


class Exec(unittest.TestCase):
    """One program at a time, each compiled once."""
    programs = {}

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)

    def program(self, name):
        if name not in self.programs:
            self.programs[name] = compile_program(FOLDER / "other" / f"{name}.hip", self.folder.name)
        return self.programs[name]

    def test_printf_and_exit_code(self):
        done = execute(self.program("printf"))
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertEqual(done.stderr, "")
        self.assertEqual(done.stdout, "".join(f"lane {i} of 7, text {0.5 * i:.2f}\n" for i in range(3)))

    def test_child_processes(self):
        done = execute("sh", "-c", f"{self.program('printf')} && exit 1; test $? = 5 && exit 9")
        self.assertEqual(done.returncode, 9, done.stderr)
        self.assertIn("lane 2 of 7", done.stdout)

    def test_fault(self):
        """1000 ints: the 24 lanes above 39 of the second wave of the last workgroup are outside. libamdhip64 5.2
        aborts when a queue reports an error."""
        done = execute(self.program("outside"))
        self.assertEqual(done.returncode, -6, done.stderr)
        self.assertEqual(done.stdout, "")
        for part in ("past_the_end", "outside.hip:7", "workgroup (7,0,0) wave 1, lanes 40-63", "0 bytes before"):
            self.assertIn(part, done.stderr)

    def test_assert(self):
        done = execute(self.program("assert"))
        self.assertEqual(done.returncode, -6, done.stderr)
        self.assertIn("Device-side assertion `threadIdx.x < n' failed", done.stdout + done.stderr)
        self.assertIn("s_trap 2", done.stderr)

    def test_timeout(self):
        done = execute("--timeout", "0.5", self.program("endless"))
        self.assertEqual(done.returncode, -6, done.stderr)
        self.assertIn("_Z4waitPi", done.stderr)

    def test_profile(self):
        """vecadd: 100001 work-items in 391 workgroups of 4 waves. The kernel is told 100000, which is 1562.5 waves, and
        6250 lines of 64 bytes. hipMemset's kernel is not the program's."""
        program = compile_program(FOLDER / "vecadd.hip", self.folder.name)
        report = Path(self.folder.name) / "report.json"
        done = execute("--prof", f"--json={report}", program)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        self.assertIn("global store", done.stderr)
        figures = json.loads(report.read_text(encoding="utf-8"))
        self.assertEqual([(kernel["kernel"], kernel["workgroups"], kernel["waves"]) for kernel in figures["kernels"]],
                         [("_Z3addPKfS0_Pfi", 391, 1564)])
        stores = [row for row in figures["rows"] if row["text"].startswith("global_store")]
        self.assertEqual([(row["executions"], row["lanes"], row["lines"]) for row in stores], [(1563, 100000, 6250)])
        self.assertEqual(execute("--fail-if", "efficiency<2", program).returncode, 1)
        self.refused("no kernel was profiled", "--prof", "--kernel", "^sub", program)
        done = execute("--prof", self.program("printf"))
        self.assertEqual(done.returncode, 5, done.stderr)

    def test_profile_of_a_fault(self):
        done = execute("--prof", self.program("outside"))
        self.assertEqual(done.returncode, 128 + 6)
        self.assertIn("global store outside every allocation", done.stderr)
        self.assertRegex(done.stderr, r"ran +1 dispatch")

    def test_choice_of_gpu(self):
        program = self.program("printf")
        for name in ("gfx90a", "mi210"):
            self.assertEqual(execute("--gpu", name, program).returncode, 5)
        self.refused("is built for gfx1030, gfx900, gfx90a; mi100 is gfx908: use --gpu rx6800", "--gpu", "mi100", program)
        self.refused("no product 'gfx9999'", "--gpu", "gfx9999", program)

    def test_device(self):
        for gpu, text in (("vega64", "AMD Radeon RX Vega 64, gfx900:xnack-, 64, 64\n"),
                          ("mi210", "AMD Instinct MI210, gfx90a:sramecc+:xnack-, 104, 64\n")):
            if "device" not in self.programs:
                self.programs["device"] = compile_program(FOLDER / "device.hip", self.folder.name)
            done = execute("--gpu", gpu, self.programs["device"])
            self.assertEqual((done.returncode, done.stdout), (0, text), done.stderr)

    def refused(self, text, *words):
        done = execute(*words)
        self.assertEqual(done.returncode, 2)
        self.assertIn(text, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1)

    def test_names(self):
        """Every function that the original exports, and so every one that libamdhip64 imports, under its version."""
        def names(library):
            lines = subprocess.check_output(["nm", "-D", "--defined-only", library], encoding="utf-8").split("\n")
            return {line.split()[-1] for line in lines if "hsa_" in line}
        original = LIBRARIES / "libhsa-runtime64.so.1"
        if not original.exists():
            self.skipTest("no libhsa-runtime64.so.1")
        self.assertEqual(names(original) - names(RUNTIME), set())


COMMAND, RUNTIME, *PROGRAM = sys.argv[1:]
if not (shutil.which("clang++-15") and (LIBRARIES / "libamdhip64.so").exists() and BITCODE.exists()):
    sys.exit(SKIPPED)
if not PROGRAM:
    unittest.main(argv=sys.argv[:1])
with tempfile.TemporaryDirectory() as temporary:
    compiled = compile_program(FOLDER / f"{PROGRAM[0]}.hip", temporary)
    for product in PRODUCTS:
        run = execute("--gpu", product, compiled)
        sys.stderr.write(run.stderr)
        if run.returncode:
            sys.exit(f"{product}: exit code {run.returncode}")
