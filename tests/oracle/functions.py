#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Functions of expressions as llvm-mc-22 computes them: functions.py WAVEMEM TARGET..."""
import random
import shutil
import subprocess
import sys

from llvm import SKIP

COUNTS = [0, 1, 3, 4, 5, 8, 24, 25, 40, 48, 56, 64, 72, 73, 80, 81, 88, 90, 96, 100, 102, 104, 128, 129, 255, 256, 512]
WRONG = ['max()', 'max(1', 'max(1,)', 'nosuch(1)', 'alignto(1)', 'extrasgprs(1,1)', 'totalnumvgprs(1)', 'max(1,2']


def expressions(r):
    out = ['max(1)', 'max(-1,-2,-3)', 'or(1,2,4)', 'or(later,8)', 'max(later,max(3,or(1,2)))', 'max(1,2)+4*max(3,later)', 'max (1, 2)',
           'alignto(later,4)', 'alignto(7,4)']
    out += ['extrasgprs(%d,%d,%d)' % (n & 1, n >> 1 & 1, n >> 2) for n in range(8)]
    out += ['totalnumvgprs(%d,%d)' % (r.choice(COUNTS), r.choice(COUNTS)) for _ in range(20)]
    out += ['occupancy(%d,%d,%d,%d,%d,%d,%d)' % (r.choice([8, 10, 16, 20]), r.choice([4, 8, 16, 24]), r.choice([256, 512, 1024, 1536]), r.randrange(4, 12),
            r.randrange(1, 21), r.choice(COUNTS), r.choice(COUNTS)) for _ in range(60)]
    return out


def values(wavemem, target, lines):
    """Ours of the text section, LLVM's of what it prints."""
    text = ''.join('.long %s\n' % line for line in lines) + '.set later, soon\n.set soon, 12\n'
    with subprocess.Popen(['llvm-mc-22', '-triple=amdgcn-amd-amdhsa', '-mcpu=' + target, '-filetype=obj'], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL) as mc:
        made = mc.communicate(text.encode())[0]
        theirs = made[64:64 + 4 * len(lines)] if mc.returncode == 0 else None # .text follows the header
    run = subprocess.run([wavemem, 'asm', '-m', target, '--raw', '-', '-o', '-'], input=text.encode(), capture_output=True)
    return theirs, run.stdout if run.returncode == 0 else None


def main(wavemem, *targets):
    if not shutil.which('llvm-mc-22'):
        print('skipped: llvm-mc-22 is not installed (Debian package llvm-22)')
        return SKIP
    r, wrong, count = random.Random(3), 0, 0
    for target in targets:
        lines = expressions(r)
        count += len(lines) + len(WRONG)
        theirs, mine = values(wavemem, target, lines)
        for i, line in enumerate(lines):
            a, b = ((x or b'')[4 * i:4 * i + 4].hex() for x in (theirs, mine))
            if a != b or not a:
                wrong += 1
                print('%s: %s is %s, not %s' % (target, line, a, b))
        for line in WRONG:
            if values(wavemem, target, [line]) != (None, None):
                wrong += 1
                print('%s: %s is taken' % (target, line))
    print('%d of %d expressions are as llvm-mc-22 has them' % (count - wrong, count))
    return int(wrong > 0)


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
