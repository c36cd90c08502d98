#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A kernel that synchronizes its grid as HIP's cooperative groups do: --cooperative.

usage: grid_sync.py COMMAND CODE-OBJECT...
"""
import subprocess
import sys

COMMAND, *OBJECTS = sys.argv[1:]
GROUPS, ITEMS, ROUNDS = 100, 64, 7


def run(code_object, *options):
    words = [COMMAND, "run", code_object, "-g", str(GROUPS * ITEMS), "-b", str(ITEMS), "-a", "0=zero:u32:16",
             "-a", f"1=zero:u32:{GROUPS * ITEMS}", "-a", "2=zero:u32:2", "-a", f"3={ROUNDS}",
             "-e", f"1=zero:u32:{GROUPS * ITEMS}", *options]
    return subprocess.run(words, capture_output=True, text=True, timeout=120)


for one in OBJECTS:
    for threads in "1", "2":
        # Each round counts all workgroups, and the grid alone is valid. (Debian's library is older than the address that
        # gfx11 gets, and takes it for a sign of several grids.)
        done = run(one, "--cooperative", "-j", threads, "-e", f"2=words:1,{int('gfx11' in one)}",
                   "-e", "0=words:" + ",".join([str(GROUPS)] * ROUNDS + ["0"] * (16 - ROUNDS)))
        assert done.returncode == 0, f"{one}: {done.stdout}{done.stderr}"
    done = run(one, "-j", "1")  # the barrier is not prepared
    assert done.returncode == 3 and "ds_gws_barrier" in done.stderr, f"{one}: {done.stdout}{done.stderr}"
    done = run(one, "--cooperative", "-g", "64000000")
    assert done.returncode == 2 and "a cooperative dispatch of 1000000 workgroups" in done.stderr, f"{one}: {done.stderr}"
print(f"{len(OBJECTS)} code objects")
