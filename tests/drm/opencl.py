#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""OpenCL programs of others on clover through `wavemem exec`: piglit's tests and CLBlast's, on gfx900.

usage: opencl.py WAVEMEM

Runs every 40th of piglit's program tests and one routine of CLBlast; with WAVEMEM_TEST_FULL all of piglit's and the
routines that do not need a queue pointer. Exit code 77 (skipped) without the programs (Debian: piglit, clblast-tests,
mesa-opencl-icd, libclc-15).
"""
import glob
import os
import re
import shutil
import subprocess
import sys

PIGLIT = "/usr/lib/x86_64-linux-gnu/piglit"
TESTER = f"{PIGLIT}/bin/cl-program-tester"
CLOVER = "/etc/OpenCL/vendors/mesa.icd"
FULL = "WAVEMEM_TEST_FULL" in os.environ
STEP = 1 if FULL else 40
ROUTINES = ["xaxpy", "xdot", "xcopy", "xgemv", "xger", "xtrsv"] if FULL else ["xaxpy"]
# LLVM 15 compiles shuffles by bytes and shorts wrongly, for other targets, too; one test includes a file that is elsewhere.
KNOWN = re.compile(r"builtin-u?(char|short)\d*-shuffle|builtin-shuffle2?-u?(char|short)|include")


def run(command, *words):
    return subprocess.run([command, "exec", "--gpu", "gfx900", *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8",
                          errors="replace", timeout=300, check=False, env=dict(os.environ, PIGLIT_SOURCE_DIR=PIGLIT))


def piglit(command):
    """The verdicts of piglit's tests: how many, and texts of those that fail."""
    tests = sorted(glob.glob(f"{PIGLIT}/**/*.cl", recursive=True))[::STEP]
    passed, wrong = 0, []
    for test in tests:
        done = run(command, TESTER, test)
        verdicts = re.findall(r'^PIGLIT: \{"result": "(\w+)"', done.stdout, re.M)
        if verdicts in (["pass"], ["skip"]):
            passed += verdicts == ["pass"]
        elif not KNOWN.search(test):
            wrong.append(f"{test}: {verdicts}\n{done.stdout[-1500:]}")
    return passed, wrong


def clblast(command):
    right, wrong = 0, []
    for routine in ROUTINES:
        done = run(command, f"/usr/bin/clblast_test_{routine}", "-full_test", "-cblas", "0", "-clblas", "0") if FULL else run(command, f"/usr/bin/clblast_test_{routine}")
        counts = [int(n) for n in re.findall(r"^\s*(\d+) test\(s\) passed", done.stdout, re.M)]
        failed = [int(n) for n in re.findall(r"^\s*(\d+) test\(s\) failed", done.stdout, re.M)]
        right += sum(counts)
        if sum(failed) or not counts or done.returncode:
            wrong.append(f"{routine}: {done.stdout[-2000:]}")
    return right, wrong


def main():
    if not all(map(os.path.exists, (TESTER, CLOVER, "/usr/lib/clc/gfx900-amdgcn-mesa-mesa3d.bc"))) or not shutil.which("clblast_test_xaxpy"):
        print("skipped: piglit, CLBlast's tests or clover are not installed")
        return 77
    bad = False
    for what, (right, wrong) in (("piglit", piglit(sys.argv[1])), ("CLBlast", clblast(sys.argv[1]))):
        print(f"{what}: {right} right, {len(wrong)} wrong", *wrong, sep="\n")
        bad |= not right or bool(wrong)
    return int(bad)


sys.exit(main())
