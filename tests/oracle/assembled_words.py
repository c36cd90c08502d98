#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random words of gfx6 and gfx7, which LLVM cannot disassemble: our text of each, assembled by llvm-mc-19, must give
the same words. assembled_words.py ISA_LINES TARGET FORMS COUNT [SEED]

COUNT is the required number of successful words per row."""
import collections
import random
import re
import subprocess
import sys

from llvm import need_llvm, ours, read_forms, report
from words import FREE_OF_FIELDS, vary

ROUNDS = 30

# Legal words that LLVM's assembler rejects or encodes differently (isa/ERRATA.md).
QUIRKS = re.compile(r'ds_nop|v_nop|v_clrexcp|v_cvt_f32_f16\w+ v\d+, (-?\||neg\()?-?\d|BITMASK_PERM|v_cmp\w*_e64 .* clamp|^s_(rfe|setpc|cbranch_(join|g_fork)|movrels)\w* (\S+, )?[-\d]|buffer_store.* tfe')

# Restrictions that LLVM's assembler enforces beyond the encoding.
REFUSALS = re.compile('constant bus restrictions|integer clamping is not supported')


def assembled(target, texts):
    """The dwords of each text, or LLVM's message."""
    run = subprocess.run(['llvm-mc-19', '-arch=amdgcn', '-mcpu=' + target, '--show-encoding'], input='\n'.join(texts) + '\n',
                         capture_output=True, text=True)
    bad = {int(n): message for n, message in re.findall(r'<stdin>:(\d+):\d+: error: (.*)', run.stderr)}
    encodings = iter(re.findall(r'encoding: \[([^\]]*)\]', run.stdout))
    out = []
    for i in range(1, len(texts) + 1):
        if i in bad:
            out.append(bad[i])
            continue
        code = [int(b, 16) if b.startswith('0x') else 0 for b in next(encodings).split(',')]
        out.append([int.from_bytes(bytes(code[j:j + 4]), 'little') for j in range(0, len(code), 4)])
    return out


def main(program, target, path, count, seed=1):
    need_llvm(target)
    forms, count, r = read_forms(path), int(count), random.Random(int(seed))
    compared, wrong = collections.Counter(), []
    for _ in range(ROUNDS):
        owners = [i for i in range(len(forms)) if compared[i] < count for _ in range(count)]
        if not owners:
            break
        words = [vary(r, target, forms[i][0], forms[i][1], forms[i][2]) for i in owners]
        legal = [(i, ws, mine) for i, ws, mine in zip(owners, words, ours(program, target, words))
                 if mine != '?' and not QUIRKS.search(mine)]
        for (i, ws, mine), theirs in zip(legal, assembled(target, [x[2] for x in legal])):
            if isinstance(theirs, str) and REFUSALS.search(theirs):
                continue
            compared[i] += 1
            if list(ws) != theirs:
                wrong.append((ws, ' '.join('%08x' % w for w in theirs) if isinstance(theirs, list) else theirs, mine))
    for i, (_, _, words, text) in enumerate(forms):
        if compared[i] < count and text.split()[0] not in FREE_OF_FIELDS and not QUIRKS.search(text):
            wrong.append((words, '%d legal words of %s' % (count, text), 'only %d were found' % compared[i]))
    return report('assembled words, %s, seed %s' % (target, seed), sum(compared.values()), wrong)


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
