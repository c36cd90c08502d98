#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Assembling the whole code of a library for one target, against llvm-mc-19 in the same run: assemble.py WAVEMEM LIBRARY [TARGET...]

The text is our disassembly; both must make the same bytes of it. Times are CPU time, the least of some runs by turns."""
import os
import resource
import shutil
import subprocess
import sys
import tempfile

RUNS = 7
SKIP = 77


def cpu_time(*command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main(wavemem, library, *targets):
    if not os.path.exists(library) or not shutil.which('llvm-mc-19'):
        print('skipped: %s or llvm-mc-19 is not installed' % library)
        return SKIP
    print('%-10s %9s %9s %12s %14s %6s' % ('target', 'lines', 'wavemem', 'million/s', 'llvm-mc-19', 'ratio'))
    with tempfile.TemporaryDirectory() as folder:
        path = lambda name: os.path.join(folder, name)
        for target in targets or ['gfx900']:
            text = subprocess.run([wavemem, 'dis', '-m', target, '--plain', '--reassemblable', library], capture_output=True, text=True,
                                  check=True).stdout
            with open(path('k.s'), 'w') as file:
                file.write(text)
            ours, theirs = [], []
            for _ in range(RUNS):
                ours.append(cpu_time(wavemem, 'asm', '-m', target, '--raw', path('k.s'), '-o', path('ours')))
                theirs.append(cpu_time('llvm-mc-19', '-triple=amdgcn-amd-amdhsa', '-mcpu=' + target, '-filetype=obj', path('k.s'), '-o', path('o')))
            subprocess.run(['llvm-objcopy-19', '-O', 'binary', '--only-section=.text', path('o'), path('theirs')], check=True)
            with open(path('ours'), 'rb') as a, open(path('theirs'), 'rb') as b:
                same = a.read() == b.read()
            lines = text.count('\n')
            print('%-10s %9d %7.1f ms %12.1f %11.1f ms %6.1f%s' % (target, lines, 1e3 * min(ours), lines / min(ours) / 1e6, 1e3 * min(theirs),
                                                                   min(theirs) / min(ours), '' if same else '  OTHER BYTES'))
            if not same:
                return 1
    return 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
