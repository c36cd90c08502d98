#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Shapes of matrix instructions: `wavemem isa --json --all` against the shapes in their mnemonics, and against the
registers that LLVM prints for each operand: matrices.py WAVEMEM FORMS...

The rows of isa/ have a separate column for the shape, so mnemonics are an independent source."""
import json
import os
import re
import subprocess
import sys

from llvm import read_forms

BITS = {'f64': 64, 'f32': 32, 'xf32': 32, 'i32': 32, 'f16': 16, 'bf16': 16, 'i8': 8, 'iu8': 8, 'fp8': 8, 'bf8': 8, 'iu4': 4,
        'f8f6f4': None, 'fp4': 4, 'bf16f32': 16}
IN_MNEMONICS = {'f4': 'fp4'}  # other names of elements
ELEMENT = '|'.join(sorted([*BITS, *IN_MNEMONICS], key=len, reverse=True))
FORMATS = {0: 8, 1: 8, 2: 6, 3: 6, 4: 4}  # bits of f8f6f4 by CBSZ and BLGP; LLVM prints other values as 8 bits
FORMAT_NAMES = {'FP8': 8, 'BF8': 8, 'FP6': 6, 'BF6': 6, 'FP4': 4}  # the same by the names of gfx1250
# v_mfma_f32_32x32x4_2b_f16, v_mfma_f32_32x32x4f16, v_mfma_f32_32x32x4bf16_1k, v_wmma_i32_16x16x16_iu8,
# v_smfmac_f32_16x16x64_bf8_fp8, v_mfma_scale_f32_16x16x128_f8f6f4
NAME = re.compile(r'v_(mfma|smfmac|wmma|swmmac)(?:_scale(?:16)?)?_(%s)_(\d+)x(\d+)x(\d+)(?:_(\d+)b)?_?(%s)(?:_(%s))?(?:_1k)?$' % ((ELEMENT,) * 3))
SHORT = re.compile(r'v_(mfma|smfmac|wmma|swmmac)_(?!ld_scale)')


def named(name):
    """The shape in the mnemonic; blocks is None if it is not part of it."""
    m = NAME.match(name)
    if not m:
        return None
    kind, d, rows, columns, depth, blocks, a, b = m.groups()
    a, b = (IN_MNEMONICS.get(name, name) for name in (a, b or a))
    return {'kind': kind, 'd': d, 'm': int(rows), 'n': int(columns), 'k': int(depth), 'a': a, 'b': b,
            'blocks': int(blocks) if blocks else None, 'sparse': kind in ('smfmac', 'swmmac')}


def registers(operand):
    m = re.fullmatch(r'[va]\[(\d+):(\d+)\]', operand)
    return int(m.group(2)) - int(m.group(1)) + 1 if m else 1


def format_of(text, field, named_field):
    found = re.search(r'%s:(\d+)|%s:MATRIX_FMT_(\w+)' % (field, named_field), text)
    if not found:
        return FORMATS[0]
    return FORMAT_NAMES[found.group(2)] if found.group(2) else FORMATS.get(int(found.group(1)), 8)


def sizes(shape, target, text):
    """Registers per lane of D, A and B. gfx11 duplicates A's rows and B's columns, and uses a register per result."""
    lanes = 64 if target in ('gfx908', 'gfx90a', 'gfx942', 'gfx950') else 32
    twice = target in ('gfx1100', 'gfx1150')

    def count(elements, kind, *fields):
        return max(1, elements * (BITS[kind] or format_of(text, *fields)) // 32 // lanes)

    k, blocks = shape['k'], shape['blocks']
    if twice:
        return (shape['m'] * shape['n'] // lanes, k * BITS[shape['a']] // 32, k * BITS[shape['b']] // 32)
    # C of a sparse product is in the registers of the result.
    result = 'f32' if shape['sparse'] and shape['d'] == 'bf16f32' else shape['d']
    return (count(shape['m'] * shape['n'] * blocks, result),
            count(shape['m'] * k * blocks // (2 if shape['sparse'] else 1), shape['a'], 'cbsz', 'matrix_a_fmt'),
            count(shape['n'] * k * blocks, shape['b'], 'blgp', 'matrix_b_fmt'))


def main(wavemem, *paths):
    rows = json.loads(subprocess.run([wavemem, 'isa', '--json', '--all'], capture_output=True, check=True).stdout)
    by_name, wrong, words = {}, [], 0
    for row in rows:
        for form in row['forms']:
            by_name[form['name']] = row.get('matrix')
            if ('matrix' in row) != bool(SHORT.match(form['name'])):
                wrong.append('%s: matrix in the row or in the name alone' % form['name'])
    for path in paths:
        target = re.search(r'forms-(\w+)', os.path.basename(path)).group(1)
        for _, _, _, text in read_forms(path):
            name, _, operands = text.partition(' ')
            if not SHORT.match(name):
                continue
            words += 1
            says, shape = named(name), by_name.get(name)
            if says is None or shape is None:
                wrong.append('%s %s: %s' % (target, name, 'no such row' if says else 'a name that is not understood'))
                continue
            if says['blocks'] is None:  # one, or as many as fill a wave: names on gfx908 and gfx90a do not tell
                says['blocks'] = shape['blocks']
            if any(says[key] != shape[key] for key in shape):
                wrong.append('%s %s: the row says %s' % (target, name, shape))
            # Source: LLVM, by the registers that it prints.
            have = [registers(x) for x in re.findall(r'[va](?:\[\d+:\d+\]|\d+)', operands)[:3]]
            if tuple(have) != sizes(shape, target, text):
                wrong.append('%s %s: %s registers, by the shape %s' % (target, text, have, sizes(shape, target, text)))
    print('\n'.join(wrong))
    print('%d matrix instructions, %d wrong' % (words, len(wrong)))
    return int(bool(wrong) or words < 100)


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
