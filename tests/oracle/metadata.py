#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Scalars of metadata in YAML, as llvm-mc-22 stores them in MessagePack, or llvm-mc-19 if both take them and they are booleans
there: metadata.py WAVEMEM

Each as the value of a key that needs a text, an integer or a boolean, and of one that LLVM does not know."""
import concurrent.futures
import os
import shutil
import subprocess
import sys
import tempfile

from assembled_files import contents
from llvm import SKIP

SCALARS = ['n', 'y', 'no', 'on', 'Off', 'true', 'True', 'false', '~', 'null', '""', '1', '0x10', '010', '0o17', '0b11', '09', '-0', '-0x10', '1.5',
           '.5', '1e-300', '.inf', '-33', '200', '70000', '+1', '"1"', "'n'", '!str n', '!str 1', "!str '1'", '!int 5', '!bool true', '!float 1',
           '!nil 1', '1_000', 'a b', r'"a\nb"', "'it''s'", r'"\x41\u0416"', '18446744073709551615', '18446744073709551616',
           '-9223372036854775808', '-9223372036854775809', '!!str a', 'n # c', '*x', '@a', '1e', '0x', 'inf', '0x1p3', '1f', 'a:b', 'x' * 40,
           'x' * 300, 'x' * 70000]
YAML_BOOLEANS = ['n', 'y', 'no', 'on', 'Off', 'True', "'n'", 'n # c']
KEYS = ['.symbol', '.unknown', '.sgpr_count']
KEYS_OF_ONE = ['@a', '*x', 'true', '1', '-1', '1.5', 'a b', '~']  # that are no plain text
KERNEL = {'.name': 'k', '.symbol': 'k.kd', '.kernarg_segment_size': '8', '.group_segment_fixed_size': '0', '.private_segment_fixed_size': '0',
          '.kernarg_segment_align': '8', '.wavefront_size': '64', '.sgpr_count': '1', '.vgpr_count': '1', '.max_flat_workgroup_size': '64'}


def text_of(key, scalar):
    entries = {**KERNEL, key: scalar}
    return '\n'.join(['.text', 's_endpgm', '.amdgpu_metadata', '---', 'amdhsa.version:', '  - 1', '  - 2', 'amdhsa.kernels:'] +
                     [('  - ' if i == 0 else '    ') + '%s: %s' % entry for i, entry in enumerate(entries.items())] +
                     ['...', '.end_amdgpu_metadata', ''])


def outcome(wavemem, key, scalar):
    with tempfile.TemporaryDirectory() as folder:
        path = lambda kind: os.path.join(folder, 'a.' + kind)
        with open(path('s'), 'w') as file:
            file.write(text_of(key, scalar))
        works = lambda *command: subprocess.run(command, capture_output=True).returncode == 0
        theirs = works('llvm-mc-22', '-triple=amdgcn-amd-amdhsa', '-mcpu=gfx942', '-filetype=obj', path('s'), '-o', path('o'))
        ours = works(wavemem, 'asm', '-m', 'gfx942', path('s'), '-o', path('co'))
        if theirs != ours:
            return 'LLVM %ss it, we %s it' % tuple('take' if x else 'refuse' for x in (theirs, ours))
        if key == '.unknown' and scalar in YAML_BOOLEANS:
            works('llvm-mc-19', '-triple=amdgcn-amd-amdhsa', '-mcpu=gfx942', '-filetype=obj', path('s'), '-o', path('o'))
        if ours and contents(path('co'))['.note'] != contents(path('o'))['.note']:
            return '%s, not %s' % tuple(contents(path(kind))['.note'][20:] for kind in ('co', 'o'))
    return None


def main(wavemem):
    if not shutil.which('llvm-mc-22') or not shutil.which('llvm-mc-19'):
        print('skipped: llvm-mc-19 or llvm-mc-22 is not installed (Debian packages llvm-19, llvm-22)')
        return SKIP
    cases = [(key, scalar) for key in KEYS for scalar in SCALARS] + [(key, '1') for key in KEYS_OF_ONE]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for (key, scalar), wrong in zip(cases, pool.map(lambda case: outcome(wavemem, *case), cases)):
            if wrong:
                failed += 1
                print('%s: %s: %s' % (key, scalar[:60], wrong[:300]))
    print('%d of %d scalars are as llvm-mc-22 has them' % (len(cases) - failed, len(cases)))
    return int(failed > 0)


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
