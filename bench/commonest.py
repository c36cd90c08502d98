#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts the ALU instructions in compiled code, for bench/commonest.txt: the bodies whose speed matters most.

usage: bench/commonest.py WAVEMEM [LIBROCRAND] >bench/commonest.txt

Counts static occurrences, not executions, in the examples for gfx900 at -O1, -O2 and -O3 (clang-19 and
rocm-device-libs) and in librocrand1's gfx900 and gfx906 code objects."""
import collections
import glob
import os
import re
import subprocess
import sys
import tempfile

HOW_MANY = 150
# Not ALU: memory, control flow, messages, wave state.
OTHER = re.compile(r'''s_(load|store|buffer|scratch|atomic|dcache|icache|memtime|memreal|waitcnt|branch|cbranch|endpgm
    |nop|barrier|sleep|sendmsg|trap|sethalt|setprio|getreg|setreg|getpc|setpc|swappc|call|rfe|set_gpr_idx|code_end
    |inst_prefetch|incperflevel|decperflevel|ttrace)''', re.X)


def count(wavemem, arguments, counts):
    text = subprocess.run([wavemem, 'dis', '--plain', *arguments], check=True, stdout=subprocess.PIPE,
                          encoding='utf-8').stdout
    for line in text.splitlines():
        name = line.split(None, 1)[0] if line.strip() else ''
        if re.match(r'[vs]_', name) and not OTHER.match(name):
            counts[re.sub(r'_(e32|e64|dpp|sdwa)$', '', name)] += 1


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    wavemem = sys.argv[1]
    library = sys.argv[2] if len(sys.argv) == 3 else '/usr/lib/x86_64-linux-gnu/librocrand.so.1'
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    bitcode = os.environ.get('BITCODE', '/usr/lib/x86_64-linux-gnu/amdgcn/bitcode')
    sources = sorted(glob.glob(root + '/examples/*.cl'))
    counts = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        for source in sources:
            for level in '123':
                target = os.path.join(folder, 'kernel.co')
                subprocess.run(['clang-19', '-x', 'cl', '-cl-std=CL2.0', '-target', 'amdgcn-amd-amdhsa', '-mcpu=gfx900',
                                '--rocm-device-lib-path=' + bitcode, '-O' + level, '-w', source, '-o', target],
                               check=True)
                count(wavemem, [target], counts)
    for target in 'gfx900', 'gfx906':
        count(wavemem, ['-m', target, library], counts)
    print('# Static occurrences of the %d commonest ALU instructions; made by bench/commonest.py.' % HOW_MANY)
    for name, number in sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:HOW_MANY]:
        print(number, name)


if __name__ == '__main__':
    main()
