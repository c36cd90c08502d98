#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random accesses to memory, in which 'wavemem check' must find races if there are some, as a slow statement says.

usage: random_races.py WAVEMEM FOLDER SOURCE [--cases N] [--first N]          (77: skipped, without a compiler)

Each case is a few workgroups whose work-items take the same steps: a load or a store of a dword, a byte or four dwords, each
at an address of its own in global memory or in LDS, or a barrier. Addresses are consecutive, apart, scattered or in any order.
Most of the memory belongs to one workgroup, and between two barriers to one work-item, or is only read; in most cases, one
work-item then strays in one step. The statement: two waves race if they access a byte and one of them stores, unless they are
in one workgroup with a barrier in between.
"""
import argparse
import collections
import os
import random
import struct
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "tests/kernel"))
import compile as compiler

TARGETS = {"gfx90a": 64, "gfx1100": 32}  # lanes of a wave
ITEMS = 256  # of a workgroup
LOAD, STORE, LOAD_BYTE, STORE_BYTE, LOAD_FOUR, STORE_FOUR, BARRIER = range(7)
BYTES = [4, 4, 1, 1, 16, 16]
IDLE = 0xFFFFFFFF
CELL = 16  # bytes that belong to the same work-item


def build(target, source, folder):
    output = os.path.join(folder, f"random_races-{target}.co")
    bitcode = compiler.bitcode_for(target, os.path.join(folder, "bitcode"))
    command = ["clang-19", "-x", "cl", "-cl-std=CL2.0", "-cl-kernel-arg-info", "-target", "amdgcn-amd-amdhsa", f"-mcpu={target}",
               f"--rocm-device-lib-path={bitcode}", "-O3", "-w", "-mcode-object-version=5", source, "-o", output]
    failure = compiler.make((output, [source, os.path.abspath(__file__)], [command]))
    if failure:
        sys.exit(failure)
    return output


def owned(cells, choice):
    """The cells of each work-item until the next barrier, of those of its workgroup."""
    owners = {}
    order = choice.choice(["blocks", "turns", "scattered"])
    for group, own in cells.items():
        if order == "scattered":
            choice.shuffle(own)
        per_item = len(own) // ITEMS
        for item in range(ITEMS):
            owners[group * ITEMS + item] = own[item * per_item:(item + 1) * per_item] if order != "turns" else own[item:per_item * ITEMS:ITEMS]
    return owners


def address_in(cell, what, choice):
    return cell * CELL + choice.randrange(CELL // BYTES[what]) * BYTES[what]


def make(choice, local):
    """What each step does, and the addresses of each work-item."""
    groups, per_item = choice.choice([1, 1, 2, 3]), choice.choice([1, 2] if local else [1, 2, 4, 16])
    shared = choice.choice([1, 16, 256] if local else [1, 16, 256, 4096])
    all_cells = list(range(groups * ITEMS * per_item + shared))
    if choice.random() < 0.3:
        choice.shuffle(all_cells)
    own = {group: all_cells[group * ITEMS * per_item:(group + 1) * ITEMS * per_item] for group in range(groups)}
    read_only = all_cells[groups * ITEMS * per_item:]
    steps, addresses, owners = [], [], owned(own, choice)
    loads = choice.choice([1, 4, 16])
    for _ in range(choice.choice([6, 16, 40])):
        if choice.random() < 0.15:
            steps.append(BARRIER)
            addresses.append([IDLE] * groups * ITEMS)
            owners = owned(own, choice)
            continue
        what = choice.choice([LOAD, LOAD_BYTE, LOAD_FOUR] * loads + [STORE, STORE_BYTE, STORE_FOUR])
        of_shared = what % 2 == 0 and choice.random() < 0.6
        offset, some = choice.randrange(CELL // BYTES[what]) * BYTES[what], choice.choice([0, 0, 0.3, 0.95])
        start, stride = choice.randrange(shared), choice.choice([0, 1, 3, 64])
        regular, row = choice.random() < 0.7, []
        for item in range(groups * ITEMS):
            cells = read_only if of_shared else owners[item]
            cell = cells[(start + stride * item if of_shared else start) % len(cells)] if regular else choice.choice(cells)
            at = cell * CELL + offset if regular else address_in(cell, what, choice)
            row.append(IDLE if choice.random() < some else at)
        steps.append(what)
        addresses.append(row)
    step, other, item = choice.randrange(len(steps)), choice.randrange(len(steps)), choice.randrange(groups * ITEMS)
    if choice.random() < 0.8 and BARRIER not in (steps[step], steps[other]):  # someone strays to where another one is
        where = choice.choice([at for at in addresses[other] if at != IDLE] or [0])
        addresses[step][item] = where // BYTES[steps[step]] * BYTES[steps[step]]
    return steps, addresses, groups, len(all_cells) * CELL


def has_race(steps, addresses, lanes, local):
    """Whether two waves race; None: lanes of one store overlap, which is another matter."""
    before = {}  # by byte: for each wave, the barriers before its last access; and before its last store
    barriers = 0
    found = False
    for what, row in zip(steps, addresses):
        barriers += what == BARRIER
        stores, stored = what % 2, {}
        for item, at in enumerate(row):
            if what == BARRIER or at == IDLE:
                continue
            wave, group = item // lanes, item // ITEMS
            for byte in range(at, at + BYTES[what]):
                if stores and stored.setdefault((wave, byte), item) != item:
                    return None
                accesses, stores_to = before.setdefault((group, byte) if local else byte, ({}, {}))
                for other, when in (accesses if stores else stores_to).items():
                    found |= other != wave and (other * lanes // ITEMS != group or when == barriers)
                accesses[wave] = barriers
                if stores:
                    stores_to[wave] = barriers
    return found


def check(wavemem, objects, folder, number):
    """What is wrong, or None, and whether there is a race."""
    choice = random.Random(number)
    target, local = list(TARGETS)[number % len(TARGETS)], number // 2 % 2 > 0
    steps, addresses, groups, size = make(choice, local)
    expected = has_race(steps, addresses, TARGETS[target], local)
    if expected is None:
        return None, None
    paths = []
    for name, words in (("what", steps), ("address", [at for row in addresses for at in row])):
        paths.append(os.path.join(folder, f"random_races-{name}"))
        with open(paths[-1], "wb") as file:
            file.write(struct.pack(f"<{len(words)}I", *words))
    command = [wavemem, "check", objects[target], "-k", "local_steps" if local else "global_steps", "-g", str(groups * ITEMS), "-b", str(ITEMS),
               "--arg", f"what=@{paths[0]}", "--arg", f"address=@{paths[1]}", "--arg", f"count={len(steps)}",
               "--arg", f"out=zero:u32:{groups * ITEMS}", *([] if local else ["--arg", f"data=zeros:{size}"]), "--only", "race"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    found = "race-" in run.stdout
    if run.returncode not in (0, 1) or found != expected:
        return f"case {number}, {target}, {'LDS' if local else 'global memory'}: exit code {run.returncode}, {'a' if expected else 'no'} race is expected\n" \
               f"  {' '.join(command)}\n{run.stdout[:1000]}{run.stderr[:1000]}", expected
    return None, expected


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("wavemem")
    parser.add_argument("folder")
    parser.add_argument("source")
    parser.add_argument("--cases", type=int, default=60)
    parser.add_argument("--first", type=int, default=0)
    options = parser.parse_args()
    compiler.bitcode_folder()
    os.makedirs(options.folder, exist_ok=True)
    objects = {target: build(target, options.source, options.folder) for target in TARGETS}
    counts = collections.Counter()
    for number in range(options.first, options.first + options.cases):
        wrong, race = check(options.wavemem, objects, options.folder, number)
        counts[race] += 1
        if wrong:
            print(wrong)
            counts["wrong"] += 1
    print(f"{counts[True]} cases with races, {counts[False]} without, {counts[None]} left out; {counts['wrong']} mistakes")
    return counts["wrong"] > 0 or not counts[True] or not counts[False]


if __name__ == "__main__":
    sys.exit(main())
