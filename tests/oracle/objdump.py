#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Code objects as printed by `wavemem dis --plain` and llvm-objdump-19 -d -z: objdump.py WAVEMEM FILE_OR_FOLDER...

White space is folded and comments are dropped; branch targets are the 16-bit field of the word in both."""
import glob
import os
import re
import shutil
import subprocess
import sys

from llvm import SKIP, tool


def llvm_text(path, target):
    """[(text, dwords)] of all instructions."""
    objdump = tool('llvm-objdump', target)
    run = subprocess.run([objdump, '-d', '-z', path], capture_output=True, text=True)
    if run.returncode:
        sys.exit(objdump + ' %s: exit code %d\n%s' % (path, run.returncode, run.stderr))
    out = []
    for line in run.stdout.splitlines():
        m = re.match(r'\t(.*?)\s*// [0-9A-F]+:((?: [0-9A-F]{8})+)', line)
        if m:
            out.append((re.sub(r'\s+', ' ', m.group(1)).strip(), m.group(2).strip()))
    return out


def our_text(wavemem, words):
    run = subprocess.run([wavemem, 'dis', '--plain'] + words, capture_output=True, text=True)
    if run.returncode or run.stderr:
        sys.exit('wavemem dis --plain %s: exit code %d\n%s' % (' '.join(words), run.returncode, run.stderr))
    return [re.sub(r'\s+', ' ', l).strip() for l in run.stdout.splitlines() if l.strip()]


def compare(wavemem, path, words, shown, target=None):
    """Compares LLVM's text of the code object at `path` with ours of `words`: (instructions, differing ones, of which
    the first `shown` are printed)."""
    theirs, mine = llvm_text(path, target), our_text(wavemem, words)
    wrong = 0
    if len(theirs) != len(mine):
        print('%s: %d instructions, llvm-objdump shows %d' % (' '.join(words), len(mine), len(theirs)))
        wrong += 1
    for (want, code), got in zip(theirs, mine):
        if want != got:
            wrong += 1
            if wrong <= shown:
                print('%s: %s\n  llvm %s\n  ours %s' % (' '.join(words), code, want, got))
    return len(theirs), wrong


def main(wavemem, *paths):
    if not shutil.which('llvm-objdump-19'):
        print('skipped: llvm-objdump-19 is not installed (Debian package llvm-19)')
        return SKIP
    paths = [f for p in paths for f in (sorted(glob.glob(os.path.join(p, '**', '*.co'), recursive=True)) or [p])]
    total = wrong = 0
    for path in paths:
        instructions, bad = compare(wavemem, path, [path], 40 - wrong)
        total, wrong = total + instructions, wrong + bad
    print('objdump: %d instructions of %d files, %d wrong' % (total, len(paths), wrong))
    return 1 if wrong or not total else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
