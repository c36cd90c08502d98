#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reports are the same with any number of threads, in any schedule, on any CPU level, in any run.

usage: counts.py WAVEMEM CODE-OBJECT

Each kernel of counts.cl is profiled on one thread, which is the only order that a single thread has, and then with more
threads, each time in another schedule (WAVEMEM_DELAYS holds workgroups up), and with other CPU levels. Everything that
is written must be byte for byte the same: JSON, text, HTML page, trace, counters, the kernel's own output, findings of
--check-waits; only times differ. On each target, in turn, a kernel also has one of the other reports: with sources, with
samples, of the scalar cache.
WAVEMEM_TEST_REDUCED: smaller grids, half of the kernels on each target in turn, with three schedules, and no other reports.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

WAVEMEM, OBJECT = (os.path.abspath(path) for path in sys.argv[1:3])
REDUCED = "WAVEMEM_TEST_REDUCED" in os.environ
GROUPS = 40 if REDUCED else 300
N = 4096
IN = f"in=rand:u32:{N}:1"
FOLLOW = ("--then", "-k", "follow", "--arg", "from=same:left", "--arg", IN, "--arg", f"out=zero:u32:{GROUPS * 64}",
          "--arg", f"n={N}")
# kernel: workgroup size, arguments
KERNELS = {
    "private_array": (64, f"{IN} out=zero:u32:{GROUPS * 64} n={N}"),
    "stack_calls": (64, f"{IN} out=zero:u32:{GROUPS * 128} n={N}"),
    "histogram": (128, f"{IN} bins=zero:u32:256 n={N}"),
    "compact": (64, f"{IN} out=zero:u32:{GROUPS * 256} count=zero:u32:1 n={N}"),
    "last_one": (64, f"{IN} part=zero:u32:{GROUPS} count=zero:u32:1 out=zero:u32:{GROUPS} n={N}"),
    "spin_lock": (64, "lock=zero:u32:1 number=zero:u32:1"),
    "grid_barrier": (64, f"arrived=zero:u32:1 in=rand:u32:{GROUPS * 64}:1 out=zero:u32:{GROUPS * 64}"),
    "prints": (64, f"in=rand:u32:{GROUPS}:3"),
    "gathers": (256, f"{IN} out=zero:u32:{N} n={N}"),
    "exchange": (64, f"{IN} to=same:left n={N}"),
    "float_sum": (64, f"{IN} to=same:left n={N}"),
}
with open("/proc/cpuinfo", encoding="utf-8") as cpuinfo:
    OTHER_LEVEL = "avx2" if " avx2 " in cpuinfo.read() else "baseline"
SCHEDULES = [  # threads, seed of delays (0: none), CPU level
    (1, 0, None), (2, 1, None), (3, 2, None), (8, 3, None), (2, 0, "baseline"), (8, 4, OTHER_LEVEL), (3, 0, None),
]
EVERYTHING = "--json=json --html html --trace trace --counters counters --csv csv --check-waits --fidelity".split()
OTHERS = [["--source"], ["--sample", "1/2", "--json"], ["--scalar-cache", "check", "--json"]]
TURN = sum(map(ord, os.path.basename(OBJECT)))  # another one for each target
folder = tempfile.TemporaryDirectory()


def words(kernel):
    size, arguments = KERNELS[kernel]
    line = ["--buffer", "left=zero:u32:64", "-k", kernel, "-g", GROUPS * size, "-b", size]
    for argument in arguments.split():
        line += ["--arg", argument]
    return [OBJECT] + line + list(FOLLOW if "same:left" in arguments else ())


def without_times(data):
    return re.sub(rb'"(seconds|wave_instructions_per_second)": ?[0-9.e+-]+|-j \d', b"", data)


def run(line, threads, seed, level):
    environment = dict(os.environ, WAVEMEM_DELAYS=str(seed), **({"WAVEMEM_CPU": level} if level else {}))
    for name in os.listdir(folder.name):
        os.remove(os.path.join(folder.name, name))
    done = subprocess.run([WAVEMEM, *map(str, line), "-j", str(threads)], capture_output=True, env=environment,
                          cwd=folder.name, timeout=120)
    seen = {"exit code": str(done.returncode).encode(), "stdout": done.stdout, "stderr": done.stderr}
    for name in sorted(os.listdir(folder.name)):
        with open(os.path.join(folder.name, name), "rb") as file:
            seen[name] = file.read()
    return {name: without_times(data) for name, data in seen.items()}


def first_difference(a, b):
    at = next((i for i in range(min(len(a), len(b))) if a[i] != b[i]), min(len(a), len(b)))
    return f"at byte {at} of {len(a)} and {len(b)}:\n  {a[max(at - 120, 0):at + 120]}\n  {b[max(at - 120, 0):at + 120]}"


failed = runs = 0
for turn, kernel in enumerate(KERNELS, TURN):
    if REDUCED and turn % 2:
        continue
    for options in [EVERYTHING] if REDUCED else [EVERYTHING, OTHERS[turn % len(OTHERS)]]:
        line = ["prof"] + words(kernel) + options
        expected = None
        for schedule in SCHEDULES[:3] if REDUCED or options is not EVERYTHING else SCHEDULES:
            seen = run(line, *schedule)
            runs += 1
            if expected is None:
                expected = seen
                if seen["exit code"] not in (b"0", b"1"):
                    sys.exit(f"{' '.join(map(str, line))}\n{seen['stderr'].decode()}")
                continue
            different = [name for name in expected.keys() | seen.keys() if expected.get(name) != seen.get(name)]
            if different:
                failed += 1
                name = min(different)
                print(f"{kernel} {' '.join(options)} {schedule}: differs in {' '.join(sorted(different))};",
                      first_difference(expected.get(name, b""), seen.get(name, b"")))
print(f"{OBJECT}: {runs} runs, {failed} differences")
sys.exit(failed > 0)
