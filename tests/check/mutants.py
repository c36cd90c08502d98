#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Injects faults into the machine code of correct kernels, one at a time, and asks 'wavemem check' for them.

usage: mutants.py WAVEMEM FOLDER LIST [--every N] [--target TARGET]...          (77: skipped, without a compiler)

The kernels are those of SOURCES without FINDS (check.py describes these files). Each is compiled to assembly for each
target; a fault is one line of it that is changed:

    barrier   an s_barrier is removed (with its signal on gfx12)
    fence     an instruction that writes back or invalidates caches is removed
    wait      a wait is removed
    store     a store that initializes memory is removed: the first to LDS, and those to buffers that nobody has written
    scope     an access loses its cache policy, which is the scope of atomics
    index     an access is moved by the elements of a workgroup, as if its number was counted twice

A fault counts as found if the check reports a rule that it does not report of the correct kernel. LIST explains those that
are not found; a line is

    KIND SOURCE KERNEL TARGET NUMBERS # REASON

with patterns as of a shell. NUMBERS ("3-5,9" or "*") counts the kernel's instructions of this kind. A reason that begins
with "same:" says why the fault cannot change what the kernel does; such faults do not count as missed. It is an error if a
fault is not found and not listed, or found although it is listed, or, of all faults, if a line matches nothing.

--every N: only each Nth fault, so that a test takes seconds.
"""
import argparse
import collections
import concurrent.futures
import fnmatch
import json
import math
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import check
from check import compiler

SOURCES = {"mutants.cl": "barrier fence index scope store wait", "races.cl": "barrier wait", "races_global.cl": "barrier fence scope wait",
           "waits.s": "wait", "waits_order.s": "wait"}  # what others do not use, or not to the last element, cannot be missed
TARGETS = ["gfx900", "gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1200"]
MEMORY = re.compile(r"\s*(?:ds|global|flat|buffer|scratch)_(load|read|store|write|atomic|add|inc|sub|min|max|and|or|xor)\w*\s")
STORE = re.compile(r"\s*(?:ds_write|ds_store|global_store|flat_store|buffer_store|scratch_store)\w*\s")
FENCE = re.compile(r"\s*(?:buffer_wbinvl1\w*|buffer_inv|buffer_wbl2|buffer_gl[01]_inv|global_inv|global_wb|s_dcache_\w+)\b")
POLICY = re.compile(r"\s(?:glc|slc|dlc|sc0|sc1|nt|scope:\w+)\b")
SCOPE = re.compile(r"\s(?:slc|dlc|sc1|nt|scope:\w+)\b")  # of atomics that return: the others say that
SIZES = {"b8": 1, "u8": 1, "i8": 1, "ubyte": 1, "sbyte": 1, "byte": 1, "b16": 2, "short": 2, "ushort": 2, "sshort": 2, "b64": 8, "dwordx2": 8, "x2": 8,
         "u64": 8, "b96": 12, "dwordx3": 12, "b128": 16, "dwordx4": 16}
Mutant = collections.namedtuple("Mutant", "kind source kernel target number text lines")


def size_of(text):
    """Bytes of a place of the memory instruction."""
    name = text.split()[0]
    return next((size for part, size in SIZES.items() if name.endswith("_" + part)), 4)


def shifted(text, items):
    """The instruction at the elements of the next workgroup."""
    distance = items * size_of(text)
    code, comment, rest = text.partition("//")
    match = re.search(r"\boffset:(-?\d+)", code)
    if match:
        return code[:match.start(1)] + str(int(match[1]) + distance) + code[match.end(1):]
    if "offset0:" in code or "offset1:" in code:
        return None
    policy = POLICY.search(code)
    at = policy.start() if policy else len(code.rstrip())
    return f"{code[:at]} offset:{distance}{code[at:]}"


def faults(lines, first, last, items):
    """(kind, line, its replacement) of the lines [first, last) of a kernel; "" removes the line."""
    starts = True
    for at in range(first, last):
        text = lines[at].split("//")[0].split(";")[0]
        name = (text.split() or [""])[0]
        if name in ("s_barrier", "s_barrier_wait"):
            yield "barrier", at, ""
        elif FENCE.match(text):
            yield "fence", at, ""
        elif name.startswith("s_waitcnt") and name != "s_waitcnt_depctr" or name.startswith("s_wait_"):
            yield "wait", at, ""
        if STORE.match(text) and starts:
            yield "store", at, ""
        starts &= not name.startswith("ds_write") and not name.startswith("ds_store") or name.startswith("global")
        returns = re.search(r"_atomic_.*\b(?:glc|sc0|th:TH_ATOMIC_RETURN)\b", text)
        policy = SCOPE if returns else POLICY
        if MEMORY.match(text) and policy.search(text):
            yield "scope", at, policy.sub("", text)
        if MEMORY.match(text) and not text.split()[0].startswith("buffer"):
            moved = shifted(text, items)
            if moved:
                yield "index", at, moved


def bounds(lines, kernel):
    """The first line behind the kernel's label and the one behind its last instruction."""
    first = next(at for at, line in enumerate(lines) if line.startswith(kernel + ":"))
    last = next(at for at in range(first, len(lines)) if re.match(r"\s*s_endpgm\b|\.Lfunc_end", lines[at]) and
                (lines[at].startswith(".Lfunc_end") or not any("func_end" in line for line in lines)))
    return first + 1, last


def listing(source, target, folder):
    """The file as assembly for 'wavemem asm', as lines."""
    if source.kind == ".s":
        return check.assembly(source, target).splitlines()
    path = os.path.join(folder, f"{os.path.basename(source.path)}-{target}.mutants.s")
    failure = compiler.make((path, [source.path, os.path.abspath(check.__file__)], [check.compile_command(source, target, folder, path) + ["-S", "-g0"]]))
    if failure:
        sys.exit(failure)
    with open(path, encoding="utf-8") as file:
        return file.read().splitlines()


def make_mutants(source, target, lines):
    good = {run.kernel: run for run in source.runs if (run.kernel not in source.starts or not source.expected(run.kernel, target))
            and check.matches(target, source.targets) and check.matches(target, run.targets)}
    for kernel in sorted(good):
        number = collections.Counter()
        words = good[kernel].words
        items = math.prod(map(int, words[words.index("-b") + 1].replace("{wave}", str(compiler.wave_of(target))).split(",")))
        for kind, at, new in faults(lines, *bounds(lines, kernel), items):
            if kind not in SOURCES[os.path.basename(source.path)] or (kind == "store" and lines[at].split()[0].startswith("global") and "uninit:" not in " ".join(words)):
                continue
            number[kind] += 1
            mutated = list(lines)
            mutated[at] = new
            if kind == "barrier" and "s_barrier_wait" in lines[at]:
                signal = next(i for i in range(at, 0, -1) if "s_barrier_signal" in lines[i])
                mutated[signal] = ""
            text = " ".join(lines[at].split("//")[0].split(";")[0].split())
            yield Mutant(kind, os.path.basename(source.path), kernel, target, number[kind], text, mutated)


def assemble(lines, target, wavemem, path):
    """Writes and assembles the text; returns the message if that fails."""
    with open(path + ".s", "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    done = subprocess.run([wavemem, "asm", "-m", target, "-I", HERE, path + ".s", "-o", path], capture_output=True, text=True)
    return done.stderr


def found_by(run, target, wavemem, path):
    """What is reported, as {(rule, offset)}; and the exit code."""
    words = [word.replace("{wave}", str(compiler.wave_of(target))) for word in run.words]
    if "--only" in words:
        at = words.index("--only")
        del words[at:at + 2]
    done = subprocess.run([wavemem, "check", path, "-k", run.kernel, *words, "--json", "--max-instructions", "200000", "--timeout", "20"], capture_output=True, text=True)
    try:
        report = json.loads(done.stdout)
    except ValueError:
        sys.exit(f"{run.kernel}, {target}: exit code {done.returncode} without a report: {done.stderr}")
    return {finding["rule"] for finding in report["findings"] if finding["rule"] not in check.LATER}, done.returncode


def judge(mutant, run, clean, wavemem, path):
    """Whether it is found; None: the target cannot encode the offset."""
    error = assemble(mutant.lines, mutant.target, wavemem, path)
    if error and mutant.kind == "index":
        return None
    if error:
        sys.exit(f"{name_of(mutant)}: {error}")
    rules, code = found_by(run, mutant.target, wavemem, path)
    os.unlink(path)
    os.unlink(path + ".s")
    return bool(rules - clean) or code == 3


def name_of(mutant):
    return f"{mutant.kind} {mutant.source} {mutant.kernel} {mutant.target} {mutant.number}: {mutant.text}"


def read_list(path):
    """The lines of LIST as (patterns of a mutant's fields, reason)."""
    entries = []
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            fields, _, reason = line.strip().partition(" # ")
            if not fields or fields.startswith("#"):
                continue
            if len(fields.split()) != 5 or not reason:
                sys.exit(f"{path}:{number}: expected KIND SOURCE KERNEL TARGET NUMBERS # REASON")
            entries.append((fields.split(), reason))
    return entries


def is_in(number, numbers):
    """Whether "3", "3-5,9" or "*" contains the number."""
    ranges = [part.split("-") for part in numbers.split(",")]
    return numbers == "*" or any(int(ends[0]) <= number <= int(ends[-1]) for ends in ranges)


def covers(fields, mutant):
    return all(fnmatch.fnmatch(value, pattern) for value, pattern in zip(mutant[:4], fields)) and is_in(mutant.number, fields[4])


def make_jobs(arguments):
    """Every wanted fault, with its run, what is reported of the correct kernel, and a path to work at."""
    jobs, count = [], 0
    for name in SOURCES:
        source = check.Source(os.path.join(HERE, name))
        for target in arguments.target or TARGETS:
            if not check.matches(target, source.targets):
                continue
            lines = listing(source, target, arguments.folder)
            runs = {run.kernel: run for run in source.runs}
            mutants = list(make_mutants(source, target, lines))
            chosen = [mutant for number, mutant in enumerate(mutants, count) if number % arguments.every == 0]
            count += len(mutants)
            correct = os.path.join(arguments.folder, f"{name}-{target}.correct")
            error = assemble(lines, target, arguments.wavemem, correct)
            if error:
                sys.exit(error)
            clean = {kernel: found_by(runs[kernel], target, arguments.wavemem, correct)[0] for kernel in {mutant.kernel for mutant in chosen}}
            jobs += [(mutant, runs[mutant.kernel], clean[mutant.kernel], arguments.wavemem,
                      os.path.join(arguments.folder, f"{len(jobs) + number}.mutant")) for number, mutant in enumerate(chosen)]
    return jobs


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("wavemem", type=os.path.abspath)
    parser.add_argument("folder", type=os.path.abspath)
    parser.add_argument("list")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--target", action="append")
    arguments = parser.parse_args()
    compiler.bitcode_folder()
    for tool in ("clang-19", "ld.lld-19"):
        if not shutil.which(tool):
            compiler.skip(f"no {tool}")
    os.makedirs(arguments.folder, exist_ok=True)
    entries = read_list(arguments.list)
    jobs = make_jobs(arguments)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda job: judge(*job), jobs))
    tally, mistakes, used = collections.defaultdict(collections.Counter), 0, set()
    for (mutant, *_), found in zip(jobs, results):
        if found is None:
            continue
        listed = [number for number, (fields, _) in enumerate(entries) if covers(fields, mutant)]
        used.update(listed)
        same = any(entries[number][1].startswith("same:") for number in listed)
        tally[mutant.kind]["same" if same and not found else "found" if found else "missed"] += 1
        if not found and not listed:
            mistakes += 1
            print(f"not found: {name_of(mutant)}")
        elif found and listed:
            mistakes += 1
            print(f"found, although {arguments.list} says '{entries[listed[0]][1]}': {name_of(mutant)}")
    if arguments.every == 1 and not arguments.target:
        for number, (fields, _) in enumerate(entries):
            if number not in used:
                mistakes += 1
                print(f"{arguments.list}: nothing matches '{' '.join(fields)}'")
    total = sum(tally.values(), collections.Counter())
    for kind, counts in [*sorted(tally.items()), ("all", total)]:
        changes = counts["found"] + counts["missed"]
        print(f"{kind:8} {changes + counts['same']:5} faults, of which {counts['same']:4} change nothing, {counts['found']:5} are found, "
              f"{counts['missed']:4} are not: {100 * counts['found'] / max(changes, 1):.1f} %")
    return 1 if mistakes or not jobs else 0


if __name__ == "__main__":
    sys.exit(main())
