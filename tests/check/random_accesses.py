#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random accesses to memory, in which 'wavemem check' must find what a slow statement finds, and nothing else.

usage: random_accesses.py WAVEMEM FOLDER SOURCE race|uninit [--cases N] [--first N]          (77: skipped, without a compiler)

Each case is a few workgroups whose work-items take the same steps: a load or a store of a dword, a byte or four dwords, each
at an address of its own in global memory or in LDS, or a barrier. Addresses are consecutive, apart, scattered or in any order.
Most of the memory belongs to one workgroup, and between two barriers to one work-item, or is only read; in most cases, one
work-item then strays in one step.

race: two waves race if they access a byte and one of them stores, unless they are in one workgroup with a barrier in between.
uninit: one workgroup; nobody loads bytes to which nothing has been stored, except the work-item that strays.
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
    output = os.path.join(folder, f"random_accesses-{target}.co")
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


def make(choice, local, most_groups):
    """What each step does, and the addresses of each work-item, without races; and addresses in all cells."""
    groups, per_item = min(choice.choice([1, 1, 2, 3]), most_groups), choice.choice([1, 2] if local else [1, 2, 4, 16])
    shared = choice.choice([1, 16, 256] if local else [1, 16, 256, 4096])
    apart = 1 if local else choice.choice([1, 1, 5, 64])
    all_cells = list(range(0, apart * (groups * ITEMS * per_item + shared), apart))
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
    return steps, addresses, groups, (max(all_cells) + 1) * CELL


def stray_to_others(steps, addresses, choice):
    """Lets a work-item access what another one accesses in some step."""
    step, other, item = choice.randrange(len(steps)), choice.randrange(len(steps)), choice.randrange(len(addresses[0]))
    if choice.random() < 0.8 and BARRIER not in (steps[step], steps[other]):
        where = choice.choice([at for at in addresses[other] if at != IDLE] or [0])
        addresses[step][item] = where // BYTES[steps[step]] * BYTES[steps[step]]


def stray_to_nothing(steps, addresses, choice):
    """Drops the loads of bytes to which nothing has been stored, except those of one work-item in a step, in most cases."""
    stored, nothing = set(), []
    for step, (what, row) in enumerate(zip(steps, addresses)):
        for item, at in enumerate(row):
            if at == IDLE:
                continue
            some = range(at, at + BYTES[what])
            if what % 2:
                stored.update(some)
            elif not stored.issuperset(some):
                nothing.append((step, item, at))
                row[item] = IDLE
    strays = nothing and choice.random() < 0.5
    if strays:
        step, item, at = choice.choice(nothing)
        addresses[step][item] = at
    return bool(strays)


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


def expect(check, target, choice, local):
    """A case, and whether something is to be found."""
    steps, addresses, groups, size = make(choice, local, 1 if check == "uninit" else 3)
    if check == "uninit":
        expected = stray_to_nothing(steps, addresses, choice)
    else:
        stray_to_others(steps, addresses, choice)
        expected = has_race(steps, addresses, TARGETS[target], local)
    return steps, addresses, groups, size, expected


def run_case(options, objects, number):
    """What is wrong, or None, and whether something is to be found."""
    choice = random.Random(number)
    target, local = list(TARGETS)[number % len(TARGETS)], number // 2 % 2 > 0
    steps, addresses, groups, size, expected = expect(options.check, target, choice, local)
    if expected is None:
        return None, None
    paths = []
    for name, words in (("what", steps), ("address", [at for row in addresses for at in row])):
        paths.append(os.path.join(options.folder, f"random_accesses-{options.check}-{name}"))
        with open(paths[-1], "wb") as file:
            file.write(struct.pack(f"<{len(words)}I", *words))
    command = [options.wavemem, "check", objects[target], "-k", "local_steps" if local else "global_steps", "-g", str(groups * ITEMS), "-b", str(ITEMS),
               "--arg", f"what=@{paths[0]}", "--arg", f"address=@{paths[1]}", "--arg", f"count={len(steps)}",
               "--arg", f"out=zero:u32:{2 * groups * ITEMS}", *([] if local else ["--arg", f"data={'uninit:u8' if options.check == 'uninit' else 'zeros'}:{size}"]), "--only", options.check]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    found = f"{options.check}-" in run.stdout
    if run.returncode not in (0, 1) or found != expected:
        return f"case {number}, {target}, {'LDS' if local else 'global memory'}: exit code {run.returncode}, {'a finding' if expected else 'nothing'} is expected\n" \
               f"  {' '.join(command)}\n{run.stdout[:1000]}{run.stderr[:1000]}", expected
    return None, expected


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("wavemem")
    parser.add_argument("folder")
    parser.add_argument("source")
    parser.add_argument("check", choices=["race", "uninit"])
    parser.add_argument("--cases", type=int, default=60)
    parser.add_argument("--first", type=int, default=0)
    options = parser.parse_args()
    compiler.bitcode_folder()
    os.makedirs(options.folder, exist_ok=True)
    objects = {target: build(target, options.source, options.folder) for target in TARGETS}
    counts = collections.Counter()
    for number in range(options.first, options.first + options.cases):
        wrong, expected = run_case(options, objects, number)
        counts[expected] += 1
        if wrong:
            print(wrong)
            counts["wrong"] += 1
    print(f"{counts[True]} cases with something to find, {counts[False]} without, {counts[None]} left out; {counts['wrong']} mistakes")
    return counts["wrong"] > 0 or not counts[True] or not counts[False]


if __name__ == "__main__":
    sys.exit(main())
