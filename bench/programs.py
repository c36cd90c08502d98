#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Times of a HIP program through `wavemem exec`: launches, copies beside memcpy(), and kernels beside the times that AMD
publishes for rocjitsu with eight threads where the work is the same (another machine). Exit code 77 without clang-15 or
Debian's libamdhip64.

usage: programs.py WAVEMEM
"""
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
LIBRARIES = Path("/usr/lib/x86_64-linux-gnu")
BITCODE = LIBRARIES / "amdgcn" / "bitcode"


def main(command):
    if not (shutil.which("clang++-15") and (LIBRARIES / "libamdhip64.so").exists() and BITCODE.exists()):
        print("skipped: no clang++-15 or libamdhip64-dev")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "programs"
        subprocess.run(["clang++-15", "-x", "hip", "-std=c++17", "-O3", "--offload-arch=gfx900", "--rocm-path=/usr",
                        "--hip-version=5.2.21153", f"--hip-device-lib-path={BITCODE}", HERE / "programs.hip", "-o", program,
                        "-lamdhip64"], env=dict(os.environ, TMPDIR=folder), check=True)
        done = subprocess.run([command, "exec", program], stdout=subprocess.PIPE, encoding="utf-8", check=False)
    if done.returncode:
        return 1
    host = None
    for line in done.stdout.splitlines():
        name, figures = line.split(": ")
        taken, *published = map(float, figures.split())
        note = ""
        if name.startswith("memcpy"):
            host = taken
        elif name.startswith("hipMemcpy"):
            note = f"  {taken / host:.2f} of memcpy()"
        elif published and not os.environ.get("WAVEMEM_BENCH_SMALL"):
            note = f"  {taken / published[0]:.3f} of rocjitsu's {published[0] / 1000:g} s"
        print(f"{name:40} {taken:10.4f} ms{note}")
    return 0


sys.exit(main(*sys.argv[1:]))
