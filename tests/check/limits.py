#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Memory that checks take for what they know of memory: at most two bytes per byte that the kernel touches, eight with races.

usage: limits.py WAVEMEM FOLDER SOURCE          (77: skipped, without a compiler or with a sanitizer, which takes memory itself)

The peaks of 'wavemem check' and 'wavemem run' are compared, for kernels that need much. A kernel with a buffer of 4 GiB, of
which it touches 100 MiB, must stay below 2 GiB.
"""
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "tests/kernel"))
import compile as compiler

TARGET = "gfx900"
MIB = 1 << 20
SLACK = 4 * MIB  # tables and first chunks, whatever the kernel touches
TOUCHED = 16 * MIB
KERNELS = {"bytes": ("u8", 1, 256), "dwords": ("u32", 4, 256), "scattered": ("u32", 4, 64)}  # type, its bytes, workgroup
PER_BYTE = {"memory": 2, "memory,uninit": 2, "memory,uninit,race": 8, "memory,uninit,race,sync,portability": 8}


def build(source, folder):
    output = os.path.join(folder, f"limits-{TARGET}.co")
    bitcode = compiler.bitcode_for(TARGET, os.path.join(folder, "bitcode"))
    command = ["clang-19", "-x", "cl", "-cl-std=CL2.0", "-cl-kernel-arg-info", "-target", "amdgcn-amd-amdhsa", f"-mcpu={TARGET}",
               f"--rocm-device-lib-path={bitcode}", "-O3", "-w", "-mcode-object-version=5", source, "-o", output]
    failure = compiler.make((output, [source, os.path.abspath(__file__)], [command]))
    if failure:
        sys.exit(failure)
    return output


def peak(words):
    """Runs the command, which must find nothing; returns the most bytes that it has had in memory."""
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(words)}\n  exit code {process.returncode}: {output}")
    return usage.ru_maxrss * 1024


def main():
    wavemem, folder, source = sys.argv[1:]
    compiler.bitcode_folder()
    for tool in ("clang-19", "ld.lld-19"):
        if not shutil.which(tool):
            compiler.skip(f"no {tool}")
    if "WAVEMEM_TEST_REDUCED" in os.environ:
        compiler.skip("sanitizers take memory, too")
    os.makedirs(folder, exist_ok=True)
    mistakes = 0
    for kernel, (kind, size, workgroup) in KERNELS.items():
        count = TOUCHED // size
        words = [build(source, folder), "-k", kernel, "-g", str(count), "-b", str(workgroup), "--arg", f"data=uninit:{kind}:{count}", "-j", "1"]
        plain = peak([wavemem, "run", *words])
        for classes, most in PER_BYTE.items():
            taken = peak([wavemem, "check", *words, "--only", classes]) - plain - SLACK
            print(f"{kernel}, {classes}: {max(taken, 0) / TOUCHED:.2f} bytes per byte; at most {most}")
            mistakes += taken > most * TOUCHED
    items = 100 * MIB // 4
    large = peak([wavemem, "check", build(source, folder), "-k", "dwords", "-g", str(items), "-b", "256", "--arg", f"data=uninit:u32:{1 << 30}",
                  "--only", "memory,uninit,race,sync"])
    print(f"100 MiB of a buffer of 4 GiB: {large / MIB:.0f} MiB; at most 2048")
    return mistakes or large >= 2048 * MIB


if __name__ == "__main__":
    sys.exit(main())
