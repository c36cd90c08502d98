#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Complete listings of all code objects of a library, `wavemem dis` against llvm-objdump-19 -d -z, and the times of
both.

    library_objdump.py WAVEMEM LIBRARY [EVERY]

Written for librocsparse.so.0 (Debian package librocsparse0): 777 code objects in 111 bundles, 46 million
instructions. With EVERY, only each EVERYth object, and times are the minimum of several alternating runs. A process
lists one object, so that startup time counts for both; ours also with one thread, whose CPU time can be compared on
a busy machine. Empty lines and the line with the file's name are not compared."""
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

from llvm import SKIP
from rocrand_objdump import MAGIC, bundle_entries

SHOWN = 5  # per object
RUNS = 3  # per sample


def objects(data):
    """(name, code object) of all bundles in the file."""
    at, bundle = data.find(MAGIC), 0
    while at >= 0:
        for target, code in sorted(bundle_entries(data, at).items()):
            yield 'bundle %d, %s' % (bundle, target), code
        bundle += 1
        at = data.find(MAGIC, at + 1)


def run(command, output):
    """(output, seconds, seconds of CPU) of a command."""
    start, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, stdout=output, stderr=subprocess.PIPE)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit('%s: exit code %d\n%s' % (' '.join(command), done.returncode, done.stderr.decode()[:2000]))
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return done.stdout, time.monotonic() - start, cpu


def times(commands, path, runs):
    """The minimum seconds, and seconds of CPU, of each command for the file."""
    measured = {name: [] for name in commands}
    for _ in range(runs):
        for name, command in commands.items():
            measured[name].append(run(command + [path], subprocess.DEVNULL)[1:])
    return {name: tuple(map(min, zip(*each))) for name, each in measured.items()}


def lines_of(listing):
    return [line for line in listing.split(b'\n') if line and b'file format' not in line]


def differences(name, want, got):
    """The number of differing lines; prints the first ones."""
    theirs, mine = lines_of(want), lines_of(got)
    wrong = [pair for pair in zip(theirs, mine) if pair[0] != pair[1]]
    for pair in wrong[:SHOWN]:
        print('%s:\n  llvm %s\n  ours %s' % ((name,) + tuple(line.decode(errors='replace') for line in pair)))
    return len(wrong) + abs(len(theirs) - len(mine))


def main(wavemem, library, every='1'):
    if not os.path.exists(library):
        print('skipped: no %s (Debian package librocsparse0)' % library)
        return SKIP
    if not shutil.which('llvm-objdump-19'):
        print('skipped: llvm-objdump-19 is not installed (Debian package llvm-19)')
        return SKIP
    with open(library, 'rb') as file:
        data = file.read()
    count = wrong = instructions = 0
    commands = {'llvm-objdump-19': ['llvm-objdump-19', '-d', '-z'], 'wavemem dis': [wavemem, 'dis'], 'wavemem dis -j1': [wavemem, 'dis', '-j1']}
    total = {name: (0.0, 0.0) for name in commands}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 't.co')
        for i, (name, code) in enumerate(objects(data)):
            if i % int(every):
                continue
            with open(path, 'wb') as file:
                file.write(code)
            want, got = (run(commands[which] + [path], subprocess.PIPE)[0] for which in ('llvm-objdump-19', 'wavemem dis'))
            for which, least in times(commands, path, RUNS if int(every) > 1 else 1).items():
                total[which] = tuple(map(sum, zip(total[which], least)))
            count += 1
            instructions += len(re.findall(rb'// [0-9A-F]{12}:', want))
            if want != got:
                wrong += differences(name, want, got)
    print('%d objects, %d instructions, %d lines differ' % (count, instructions, wrong))
    theirs = total['llvm-objdump-19']
    for which, (seconds, cpu) in total.items() if count else ():
        print('%-16s %8.3f s, CPU %8.3f s: %5.1f times faster, CPU %5.1f times' % (which, seconds, cpu, theirs[0] / seconds, theirs[1] / cpu))
    return int(wrong > 0 or not count)


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
