#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The command's reports on kernels with faults: one clear report, the same for any number of threads.

usage: faults.py WAVEMEM SOURCE FOLDER          (77: skipped, without clang 19)

The expected line is the one in the source that ends with "here"; workgroup, wave and lanes follow from the kernel.
"""
import json
import os
import re
import shutil
import subprocess
import sys

WAVEMEM, SOURCE, FOLDER = sys.argv[1:4]
MASK = 2**64 - 1
OUT = ["--arg", "out=zero:u32:640"]
CASES = [  # kernel, kind, headline, instruction, (workgroup, wave, lanes), more arguments
    ("store_outside", "memory", "global store outside every allocation", "global_store_dword", (3, 0, 2**64 - 1), []),
    ("load_null", "memory", "global load outside every allocation", "global_load_dword", (0, 0, 2**64 - 1),
     ["--arg", "in=null"]),
    ("misaligned_atomic", "misaligned", "misaligned global atomic", "global_atomic_add", (0, 1, (2**64 - 1) ^ 63), []),
    ("bad_opcode", "instruction", "0xffffffff is no instruction of gfx900", "", (2, 0, 2**64 - 1), []),
    ("trap", "trap", "the kernel trapped", "s_trap 2", (2, 0, None), []),
    ("jump_nowhere", "instruction", "no code: the address is outside every allocation", "0x456700001230", (2, 0, 2**64 - 1), []),
    ("count_for_ever", "budget", "used up its instruction budget", "", (0, 0, 2**64 - 1),
     ["--max-instructions", "100000"]),
    ("half_at_the_barrier", "deadlock", "deadlock: all that is left waits", "", (0, 0, None), []),
    ("stack_overflow", "memory", "beyond the 16640 bytes of scratch that the wave has", "scratch_store_dword",
     (0, 0, 2**64 - 1), ["--arg", "n=70"]),
    # As far as from the scratch of one wave to that of the next or previous one, and beyond all of it.
    *(("stack_of_another", "memory", "scratch store outside the private memory of the wave", "scratch_store_dword",
       (3, 1, 2**64 - 1), ["--arg", f"n={n % 2**32}"]) for n in (512, 1024, 2**24, -512, -1024, -2**29)),
]


def build(folder):
    bitcode = subprocess.run(["sh", "-c", "ls -d ${BITCODE:-} /usr/lib/*/amdgcn/bitcode /usr/amdgcn/bitcode "
                              "/opt/rocm/amdgcn/bitcode 2>/dev/null"], capture_output=True, text=True).stdout.split()
    if not shutil.which("clang-19") or not shutil.which("ld.lld-19") or not bitcode:
        print("skipped: no clang-19, lld-19 or rocm-device-libs")
        sys.exit(77)
    os.makedirs(folder, exist_ok=True)
    output = os.path.join(folder, "faults.co")
    subprocess.run(["clang-19", "-x", "cl", "-cl-std=CL2.0", "-cl-kernel-arg-info", "-target", "amdgcn-amd-amdhsa",
                    "-mcpu=gfx900", f"--rocm-device-lib-path={bitcode[0]}", "-O2", "-g", "-Wno-uninitialized",
                    "-Xclang", "-target-feature", "-Xclang", "+enable-flat-scratch", SOURCE, "-o", output], check=True)
    return output


def run(*words, code):
    done = subprocess.run([WAVEMEM, "run", *words], capture_output=True, text=True, timeout=120)
    assert done.returncode == code, f"exit code {done.returncode}, not {code}: {words}\n{done.stdout}{done.stderr}"
    return done.stdout, done.stderr


def line_of(kernel):
    inside = False
    with open(SOURCE, encoding="utf-8") as source:
        for number, line in enumerate(source, 1):
            inside = (inside or f"void {kernel}(" in line) and line != "}\n"
            if inside and line.endswith("// here\n"):
                return number
    return None


def check(program, kernel, kind, headline, instruction, where, more):
    base = [program, "-k", kernel, "-g", "640", "-b", "128", *OUT, *more, "--timeout", "60"]
    workgroup, wave, lanes = where
    texts = set()
    for threads in "1", "2", "4":
        out, err = run(*base, "-j", threads, code=3)
        assert not out, f"{kernel}: text on standard output: {out}"
        assert err.startswith("error: ") and err.count("error:") == 1, err
        texts.add(err)
        report = json.loads(run(*base, "-j", threads, "--json", code=3)[0])["dispatches"][0]["fault"]
        assert report["kind"] == kind, report
        assert re.sub(r"\n  hint: .*", "", err, count=1) == "error: " + report["text"] + "\n", err
        assert (report["workgroup"], report["wave"]) == ([workgroup, 0, 0], wave), report
        assert lanes is None or int(report["lanes"], 16) == lanes, report
    assert len(texts) == 1, f"{kernel}: the threads change the report: {texts}"
    text = texts.pop()
    assert headline in text and instruction in text, text
    line = line_of(kernel)
    if line:
        assert re.search(rf"{os.path.basename(SOURCE)}:{line}\n", text), f"{kernel}: expected line {line}\n{text}"
        assert f"{kernel}+0x" in text, text
    assert f"workgroup ({workgroup},0,0) wave {wave}" in text, text


def goes_on(program):
    """As on hardware: nothing is written; one of 10 waves lies entirely below work-item 70."""
    base = [program, "-k", "misaligned_atomic", "-g", "640", "-b", "128", *OUT, "--on-violation", "continue"]
    for threads in "1", "3":
        err = run(*base, "--expect", "out=zero:u32:640", "-j", threads, code=1)[1]
        assert err.startswith("warning: ") and "misaligned global atomic" in err, err
        assert "workgroup (0,0,0) wave 1, lanes 6-63" in err and "the first of 9 such" in err, err
        report = json.loads(run(*base, "--json", "-j", threads, code=1)[0])["dispatches"][0]
        assert report["fault"] is None and report["violations"] == 9, report
        assert report["violation"]["kind"] == "misaligned" and int(report["violation"]["lanes"], 16) == MASK ^ 63, report
    err = run(*base[:-1], "never", code=2)[1]
    assert "--on-violation never: expected 'stop' or 'continue'" in err, err


def main():
    program = build(FOLDER)
    for case in CASES:
        check(program, *case)
    goes_on(program)
    for threads in "1", "2":
        run(program, "-k", "remember", "-g", "6400", "-b", "64", "--arg", "out=fill:u32:6400:5", "--expect",
            "out=zero:u32:6400", "-j", threads, code=0)
    print(f"{len(CASES)} faults reported")


main()
