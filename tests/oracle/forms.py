#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every row of a list made from LLVM against our text: forms.py ISA_LINES TARGET FORMS [NOT_REASSEMBLED]

If llvm-mc-19 is available, also checks that the rows whose text LLVM does not reassemble are exactly those in the last
file."""
import re
import shutil
import subprocess
import sys

from llvm import mc, ours, read_forms, report


def not_reassembled(target, forms):
    """The texts that llvm-mc-19 does not assemble to the same dwords."""
    run = subprocess.run([mc(target), '-arch=amdgcn', '-mcpu=' + target, '--show-encoding'],
                         input='\n'.join(f[3] for f in forms) + '\n', capture_output=True, text=True)
    bad = {int(n) for n in re.findall(r'<stdin>:(\d+):\d+: error', run.stderr)}
    found = re.findall(r'encoding: \[([^\]]*)\]', run.stdout)
    every = len(found) == len(forms)  # LLVM 22 prints what it refuses, too
    encodings = iter(found)
    out = set()
    for i, (_, _, words, text) in enumerate(forms, 1):
        want = [b for w in words for b in w.to_bytes(4, 'little')]
        # bytes with fixups (labels) are printed as 'A'; they count as zero
        encoding = next(encodings) if every or i not in bad else ''
        got = None if i in bad else [int(b, 16) if b.startswith('0x') else 0 for b in encoding.split(',')]
        if got != want:
            out.add(text)
    return out


def main(program, target, path, list_path=None):
    forms = read_forms(path)
    got = ours(program, target, [f[2] for f in forms])
    wrong = [(f[2], f[3], g) for f, g in zip(forms, got) if f[3] != g]
    code = report('forms, %s' % target, len(forms), wrong)
    if list_path and shutil.which(mc(target)):
        with open(list_path) as file:
            listed = {l.rstrip('\n') for l in file if not l.startswith('#')}
        found = not_reassembled(target, forms)
        for text in sorted(listed ^ found):
            print('%s: %s' % ('listed, but llvm-mc-19 assembles it' if text in listed else 'not listed', text))
        code |= listed != found
    return int(code)


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
