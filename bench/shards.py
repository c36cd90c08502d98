#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What --shard and merge cost: processor seconds of 1, 2 and 4 shards, each a process, and sizes of parts.

usage: shards.py WAVEMEM FOLDER_OF_CODE_OBJECTS

The critical path is the slowest shard and the merge: what a computer with enough processors waits for. Seconds are
those of the processor (user and system, one thread), so that other load on the computer counts less than in wall-clock
time; each is the least of three.
"""
import json
import os
import subprocess
import sys
import tempfile

KERNELS = [
    ("sgemm", "-g 1024,512 -b 16,16 --arg m=1024 --arg n=512 --arg k=1024 --arg alpha=1 --arg a=rand:f32:1M --arg b=rand:f32:512k "
     "--arg beta=0 --arg c=zero:f32:512k", "c"),
    ("transpose", "-k transpose_naive -g 4096,2048 -b 16,16 --arg in=rand:f32:16M:7 --arg out=zero:f32:16M --arg n=4096", "out"),
    ("nbody", "-g 16384 -b 128 --arg position=rand:f32:64k --arg velocity=rand:f32:64k --arg new_position=zero:f32:64k "
     "--arg new_velocity=zero:f32:64k --arg n=16384 --arg softening=0.1 --arg step=0.01", "new_position"),
]


# Sizes that take a moment, to notice that the benchmark is broken.
SMALL = [("transpose", "-k transpose_naive -g 64,64 -b 16,16 --arg in=iota:f32:4096 --arg out=zero:f32:4096 --arg n=64", "out")]
IS_SMALL = "WAVEMEM_BENCH_SMALL" in os.environ


def seconds(*words, again=1 if IS_SMALL else 3):
    """Processor seconds of the command, without those of other children."""
    least = float("inf")
    for _ in range(again):
        before = os.times()
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
        after = os.times()
        least = min(least, after.children_user + after.children_system - before.children_user - before.children_system)
    return max(least, 0)  # clocks of finished children tick in hundredths


def measure(wavemem, path, words, output, verb):
    def run(*more):
        return seconds(wavemem, verb, path, *words.split(), "-j1", *more)

    whole = run("--out", f"{output}=whole.bin")
    print(f"  {verb}: whole {whole:.2f} s", end="")
    if verb == "prof":
        run("--trace", "trace")
        report = json.loads(subprocess.run([wavemem, "replay", "trace", "--json"], check=True, stdout=subprocess.PIPE).stdout)
        accesses = sum(row["executions"] for row in report["rows"])
        lanes = sum(row["lanes"] for row in report["rows"])
        size = os.path.getsize("trace")
        print(f"; trace {size} bytes: {size / accesses:.2g} per access of a wave, {size / lanes:.2g} per access of a lane; "
              f"replay {seconds(wavemem, 'replay', 'trace'):.2f} s", end="")
    print()
    one = None  # seconds of one shard and its merge
    for count in (1, 2, 4):
        shards = [run("--out", f"{output}=x", "--shard", f"{part}/{count}", "--part", f"p{part}") for part in range(1, count + 1)]
        parts = [f"p{part}" for part in range(1, count + 1)]
        merge = seconds(wavemem, "merge", *parts, "--out", f"{output}=merged.bin")
        with open("whole.bin", "rb") as expected, open("merged.bin", "rb") as merged:
            assert expected.read() == merged.read()
        path_length = max(shards) + merge
        one = one or path_length
        print(f"    {count} shards: slowest {max(shards):.2f} s, all {sum(shards):.2f} s, merge {merge:.2f} s; critical path "
              f"{path_length:.2f} s, 1/{one / path_length if path_length else 1:.2f} of one shard's, {path_length / whole if whole else 0:.2f} of the whole; "
              f"parts {sum(map(os.path.getsize, parts))} bytes")


def main():
    wavemem, folder = map(os.path.abspath, sys.argv[1:])
    with tempfile.TemporaryDirectory() as temporary:
        os.chdir(temporary)
        for name, words, output in SMALL if IS_SMALL else KERNELS:
            print(name)
            for verb in ("run", "prof"):
                measure(wavemem, os.path.join(folder, name + ".co"), words, output, verb)


if __name__ == "__main__":
    main()
