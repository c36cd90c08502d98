#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The findings of `wavemem prof` on the kernels of advice.cl: which come first, which must not appear, and whether
kernels without the fault take as long as promised.

usage: advice.py COMMAND CODE-OBJECT
       advice.py --lines SOURCE COMMAND CODE-OBJECT     with line tables: only the places

WAVEMEM_TEST_REDUCED: a fourth of the kernels, others on each target.
"""
import json
import os
import re
import subprocess
import sys

LINES = sys.argv[2] if sys.argv[1] == "--lines" else None
COMMAND, CODE_OBJECT = sys.argv[-2:]
SHARE = 4 if "WAVEMEM_TEST_REDUCED" in os.environ else 1
# What must not be promised: the good kernel would take longer. The other way round, a promise counts only what the change
# is certain to remove, not for example computations of addresses that go along.
MODESTY = 1.15
# The predicted time of the good kernel is that of the promise, within this factor; but not of kernels that differ in more
# than the fault: they wait less often, hit other lines of the caches, or compute more.
PREDICTED = 1.45
DIFFERENT = {"uniform_lds", "column", "sets", "volatile", "private"}

# kernel; work-items; workgroup; arguments, if the good kernel's differ behind |; its cause, or those that may come first,
# its own in front; causes that must not appear; how many times the promised bound the good kernel may take
FAULTS = [
    ("conflicts", 65536, 64, "zero:f32:65536 zero:f32:65536", "bank-conflicts", "scattered uncoalesced divergence", 1.05),
    ("two_way", 65536, 64, "zero:f32:65536 zero:f32:65536", "bank-conflicts", "lds-uniform divergence", 1.05),
    ("uniform_lds", 65536, 64, "zero:f32:65536 zero:f32:65536 zero:f32:64", "lds-uniform", "bank-conflicts", 1.05),
    ("pairs", 65536, 64, "zero:f32:65536 zero:f32:65536", "lds-misaligned", "bank-conflicts", 1.05),
    ("bins", 65536, 64, "rand:i32:65536:1 zero:i32:65536", "bank-conflicts", "atomics", 1.8),
    ("scan", 524288, 512, "zero:f32:1048576 zero:f32:1048576", "bank-conflicts", "lds-misaligned scattered", 1.25),
    ("structure", 65536, 256, "zero:f32:262144 zero:f32:65536", "structure", "uncoalesced scattered one-by-one", 1.05),
    ("column", 16384, 64, "zero:f32:16777216 zero:f32:16384", "uncoalesced", "scattered structure", 1.05),
    ("stores", 65536, 64, "zero:f32:65536 zero:f32:65536", "uncoalesced", "scattered", 1.05),
    ("off_line", 65536, 256, "zero:f32:4352 zero:f32:65536", "off-line", "scattered uncoalesced", 1.05),
    ("scattered", 262144, 256, "zero:f32:262144 zero:f32:262144", "scattered", "structure off-line", 1.05),
    ("bytes", 65536, 256, "zero:u8:65536 zero:i32:65536|zero:i32:16384 zero:i32:65536", "narrow", "structure uncoalesced", 1.05),
    ("words", 65536, 256, "zero:u16:65536 zero:i32:65536|zero:i32:16384 zero:i32:65536", "narrow", "structure uncoalesced", 1.05),
    ("one_by_one", 16384, 256, "zero:f32:131072 zero:f32:16384", "one-by-one structure", "uncoalesced scattered", 1.05),
    ("triples", 16384, 256, "zero:f32:262144 zero:f32:16384", "one-by-one structure", "uncoalesced scattered", 1.05),
    ("uniform", 65536, 256, "zero:f32:1024 zero:f32:65536 zero:f32:8192", "uniform-load", "scattered", 1.05),
    ("sets", 16384, 64, "zero:f32:4194304 zero:f32:16384|zero:f32:4718592 zero:f32:16384", "cache-sets uncoalesced one-by-one", "structure", 1.05),
    ("volatile", 65536, 256, "zero:f32:16384 zero:f32:65536", "uncached", "uncoalesced", 1.05),
    ("counter", 65536, 256, "iota:i32:65536 zero:i32:1", "atomics", "scattered", 1.05),
    ("waves", 1048576, 256, "iota:i32:1048576 zero:i32:1", "workgroup-atomics", "atomics", 1.25),
    ("counters", 65536, 256, "rand:i32:65536:1 zero:i32:16", "atomics", "scattered", 1.25),
    ("cases", 65536, 256, "zero:f32:524288 zero:f32:65536", "divergence", "scattered", 1.25),
    ("half", 65536, 256, "zero:f32:16384 zero:f32:65536", "divergence", "structure", 1.05),
    ("loops", 65536, 256, "zero:f32:65536 0.5", "idle-lanes", "divergence", 1.05),
    ("private", 65536, 256, "rand:i32:64:1 zero:i32:65536", "scratch", "uncoalesced scattered structure", 1.25),
    ("spills", 65536, 64, "zero:f32:4096 zero:f32:65536", "scratch", "uncoalesced", 1.05),
]
# kernel; work-items; workgroup; arguments; the causes that appear, in this order; or others
OTHERS = [
    ("copy", "1048576", "256", "zero:f32:1048576 zero:f32:1048576", ""),
    ("copy_wide", "262144", "256", "zero:f32:1048576 zero:f32:1048576", ""),
    ("saxpy", "1048576", "256", "zero:f32:1048576 zero:f32:1048576", ""),  # the last wave has 28 lanes
    ("sums", "262144", "256", "zero:f32:4194304 zero:f32:1024", ""),  # one lane stores, and less than half add up
    ("hidden", "1024,1024", "16,16", "zero:f32:1048576 zero:f32:1048576", ""),  # bank conflicts that memory hides
    ("members", "262144", "256", "zero:f32:1048576 zero:f32:262144", "|one-by-one"),  # all members are used; where L1 is too small, they gain by being apart
    ("busy", "16384", "64", "zero:f32:16777216 zero:f32:16384", "|few-workgroups"),  # the VALU takes longer than uncoalesced loads
    ("chain", "65536", "64", "iota:i32:16384 zero:i32:65536", ""),
    ("burst", "65536", "64", "iota:i32:16384 zero:i32:65536", ""),
    ("much_lds", "262144", "64", "zero:f32:262144 zero:f32:262144", "occupancy"),
    ("start", "65536", "16", "zero:f32:16384 zero:f32:65536", "partial-waves|"),
    ("start", "1024", "256", "zero:f32:16384 zero:f32:1024", "few-workgroups"),
    ("loops_good", "300", "256", "zero:f32:300 0.5", "few-workgroups"),  # lanes that the grid does not fill are not idle
]


def prof(kernel, items, group, arguments, listed=False):
    words = [COMMAND, "prof", CODE_OBJECT, "-k", kernel, "-g", str(items), "-b", str(group), "--json"]
    for i, argument in enumerate(arguments.split()):
        words += ["-a", f"{i}={argument}"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, f"{' '.join(words)}: {done.stderr}"
    report = json.loads(done.stdout)
    bound = max(one["seconds"] for one in report["kernels"][0]["bounds"])
    for one in report["advice"]:
        assert abs(one["now"]["seconds"] / bound - 1) < 1e-6, (words, one)
        assert one["after"]["seconds"] <= one["now"]["seconds"] and 0 <= one["gain"] <= 1, (words, one)
        assert all(one[key] for key in ("verdict", "place", "numbers", "change")), (words, one)
    # listed: with those that only show what an access costs, beside those that lower the bound or are on how the kernel is started.
    return [one for one in report["advice"]
            if listed or one["after"]["clocks"] <= .95 * one["now"]["clocks"] or not one["pcs"]], bound, report


def share_of(kernels):
    """Begins at a place that the name of the code object decides."""
    return kernels[sum(map(ord, os.path.basename(CODE_OBJECT))) % SHARE::SHARE]


def check_faults():
    for name, items, group, arguments, causes, absent, factor in share_of(FAULTS):
        cause = causes.split()[0]
        findings, bound, _ = prof(name + "_bad", items, group, arguments.split("|")[0])
        others, good, report = prof(name + "_good", items, 64 if name == "private" else group, arguments.split("|")[-1])
        told = [one["cause"] for one in findings]
        problems = [f"{one} appears" for one in absent.split() if one in told]
        promised = next((one["after"]["seconds"] for one in findings if one["cause"] == cause), None)
        if promised and not promised <= MODESTY * good <= MODESTY * factor * promised:
            problems.append("promise")
        predicted = next((one["predicted_after"] for one in findings if one["cause"] == cause), None)
        takes = report["kernels"][0]["predicted"]["seconds"]
        if predicted and name not in DIFFERENT and not takes / PREDICTED <= predicted <= takes * PREDICTED:
            problems.append(f"predicted {1e6 * predicted:.3f} us instead of {1e6 * takes:.3f} us")
        if good < 0.9 * bound:
            faults.append(name)
            if not promised:
                problems.append("not found")
            if not told or told[0] not in causes.split():
                problems.append(f"{told[:1]} comes first")
            if cause in [one["cause"] for one in others]:
                problems.append("the good kernel has it, too")
        if problems:
            failures.append(f"{name} {1e6 * bound:.3f} us, good {1e6 * good:.3f} us: {', '.join(problems)}; " +
                            "; ".join(f"{one['cause']} {1e6 * one['after']['seconds']:.3f} us" for one in findings))
    if len(faults) < 15 // SHARE:  # on each target some are none, such as bytes where the VALU is the limit
        failures.append(f"only {' '.join(faults)} take longer")


def check_others():
    for name, items, group, arguments, expected in share_of(OTHERS):
        told = [one["cause"] for one in prof(name, items, group, arguments)[0]]
        if told not in [one.split() for one in expected.split("|")]:
            failures.append(f"{name}: {told}")


def check_lines():
    """A finding names its line; lines that gain too little each are one finding together."""
    with open(LINES, encoding="utf-8") as source:
        text = source.read().splitlines()
    faults.extend(("conflicts", "column"))
    rows = {name: (name + "_bad", *fault) for name, *fault in (one[:4] for one in FAULTS)}
    one = next(one for one in prof(*rows["conflicts"], listed=True)[0] if one["cause"] == "bank-conflicts")
    if one["file"] or not re.fullmatch(r"(advice\.cl:\d+, ){2}advice\.cl:\d+ and (29|13) more", one["place"]):
        failures.append(f"conflicts on 32 lines, which the compiler may read in pairs: {one['place']}")
    one = prof(*rows["column"], listed=True)[0][0]
    line = 1 + next(i for i, of in enumerate(text) if "s += a[ID * 1024 + i]" in of)
    if one["place"] != f"advice.cl:{line}" or (os.path.basename(one["file"]), one["line"]) != ("advice.cl", line):
        failures.append(f"column, line {line}: {one}")


failures, faults = [], []
if LINES:
    check_lines()
else:
    check_faults()
    check_others()
print("\n".join(f"{CODE_OBJECT} {failure}" for failure in failures) or f"{len(faults)} faults")
sys.exit(bool(failures))
