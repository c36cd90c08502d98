#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The findings of `wavemem prof` on kernels with one thing wrong (advice.cl), and its promises against the same kernels
without it.

usage: advice.py COMMAND CODE-OBJECT...
"""
import json
import subprocess
import sys

COMMAND, *OBJECTS = sys.argv[1:]
EVERYWHERE = {"few-workgroups", "occupancy"}  # about the start, behind all others

# kernel, work-items, workgroup, arguments; the first cause; causes that must not appear; how far above the promise the
# good kernel may be
BAD = [
    ("conflicts", 65536, 64, "zero:f32:65536 zero:f32:65536", "bank-conflicts", "scattered uncoalesced divergence", 1.2),
    ("two_way", 65536, 64, "zero:f32:65536 zero:f32:65536", "bank-conflicts", "lds-uniform divergence", 1.2),
    ("uniform_lds", 65536, 64, "zero:f32:65536 zero:f32:65536 zero:f32:64", "lds-uniform", "bank-conflicts", 2),
    ("pairs", 65536, 64, "zero:f32:65536 zero:f32:65536", "lds-misaligned", "bank-conflicts", 1.2),
    ("bins", 65536, 64, "rand:i32:65536:1 zero:i32:65536", "bank-conflicts", "atomics", 2),
    ("structure", 65536, 256, "zero:f32:262144 zero:f32:65536", "structure", "uncoalesced scattered one-by-one", 1.2),
    ("column", 16384, 64, "zero:f32:16777216 zero:f32:16384", "uncoalesced", "scattered structure", 2),
    ("stores", 65536, 64, "zero:f32:65536 zero:f32:65536", "uncoalesced", "scattered", 1.5),
    ("off_line", 65536, 256, "zero:f32:4352 zero:f32:65536", "off-line", "scattered uncoalesced", 1.5),
    ("scattered", 262144, 256, "zero:f32:262144 zero:f32:262144", "scattered", "structure off-line", 1.5),
    ("bytes", 65536, 256, "zero:u8:65536 zero:i32:65536|zero:i32:16384 zero:i32:65536", "narrow", "structure uncoalesced", 1.5),
    ("words", 65536, 256, "zero:u16:65536 zero:i32:65536|zero:i32:16384 zero:i32:65536", "narrow", "structure uncoalesced", 1.5),
    ("one_by_one", 16384, 256, "zero:f32:131072 zero:f32:16384|zero:f32:131072 zero:f32:16384", "one-by-one", "uncoalesced scattered", 1.5),
    ("triples", 16384, 256, "zero:f32:131072 zero:f32:16384", "one-by-one", "uncoalesced scattered", 1.5),
    ("uniform", 65536, 256, "zero:f32:1024 zero:f32:65536 zero:f32:8192", "uniform-load", "scattered", 2),
    ("counter", 65536, 256, "iota:i32:65536 zero:i32:1", "atomics", "scattered", 3),
    ("counters", 65536, 256, "rand:i32:65536:1 zero:i32:16", "atomics", "scattered", 5),
    ("cases", 65536, 256, "zero:f32:524288 zero:f32:65536", "divergence", "scattered", 2),
    ("half", 65536, 256, "zero:f32:16384 zero:f32:65536", "divergence", "structure", 2),
    ("volatile", 65536, 256, "zero:f32:16384 zero:f32:65536", "uncached", "uncoalesced", 3),
    ("sets", 16384, 64, "zero:f32:4194304 zero:f32:16384|zero:f32:4718592 zero:f32:16384", "uncoalesced", "structure", 4),
    ("private", 65536, 256, "rand:i32:64:1 zero:i32:65536", "scratch", "uncoalesced scattered structure", 5),
    ("spills", 65536, 64, "zero:f32:4096 zero:f32:65536", "scratch", "uncoalesced", 2),
]


def prof(code_object, kernel, items, group, arguments):
    words = [COMMAND, "prof", code_object, "-k", kernel, "-g", str(items), "-b", str(group), "--json"]
    for i, one in enumerate(arguments.split()):
        words += ["-a", f"{i}={one}"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, f"{' '.join(words)}: {done.stderr}"
    report = json.loads(done.stdout)
    return report["findings"], report["kernels"][0]


def bound(kernel):
    return max(one["seconds"] for one in kernel["bounds"])


for one in OBJECTS:
    for name, items, group, arguments, first, absent, factor in BAD:
        findings, kernel = prof(one, name + "_bad", items, group, arguments.split("|")[0])
        good_group = 64 if name == "private" else group
        others, good = prof(one, name + "_good", items, good_group, arguments.split("|")[-1])
        print(f"{name:12} {1e6 * bound(kernel):7.3f} us -> good {1e6 * bound(good):7.3f}",
              "; ".join(f"{f['cause']} {1e6 * f['after']['seconds']:.3f} {f['after']['part']}" for f in findings), "| good:", "; ".join(f"{f['cause']} {f['gain']:.2f}" for f in others))
