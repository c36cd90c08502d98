#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Our assembler against llvm-mc-19: assembled_text.py DECODER ASSEMBLER TARGET FORMS COUNT [ATTRIBUTE...]

Each row's words, and random ones of it, become text (by our disassembler, which other tests hold against LLVM's), and both
assemblers must make the same words of it, or refuse it."""
import random
import re
import subprocess
import sys

from llvm import need_llvm, ours, read_forms
import words as words_gcn
import words_rdna


def llvm_words(target, texts, extra=()):
    """What llvm-mc-19 makes of each line; None where it refuses."""
    run = subprocess.run(['llvm-mc-19', '-arch=amdgcn', '-mcpu=' + target, '--show-encoding', *extra],
                         input=''.join('%s\n.byte 0x7f\n' % t for t in texts), capture_output=True, text=True)
    out, answer = [], []
    for line in run.stdout.splitlines():
        found = re.search(r'encoding: \[([^\]]*)\]', line)
        if '.byte' in line:
            out.append(answer[0] if len(answer) == 1 else None)
            answer = []
        elif found:
            data = [x.strip() for x in found.group(1).split(',')]
            answer.append(None if any(not x.startswith('0x') for x in data) else
                          [sum(int(x, 16) << 8 * i for i, x in enumerate(data[at:at + 4])) for at in range(0, len(data), 4)])
    if len(out) != len(texts):
        sys.exit('llvm-mc-19 answered %d of %d lines\n%s' % (len(out), len(texts), run.stderr[-500:]))
    return out


def our_words(assembler, target, texts, attributes=()):
    run = subprocess.run([assembler, target, *attributes], input=''.join(t + '\n' for t in texts), capture_output=True, text=True)
    if run.returncode or run.stderr:
        sys.exit('%s %s: exit code %d\n%s' % (assembler, target, run.returncode, run.stderr))
    return [(None, line) if line.startswith('?') else ([int(w, 16) for w in line.split()], '') for line in run.stdout.splitlines()]


# Where LLVM is wrong, or takes another encoding that says the same (isa/ERRATA.md).
QUIRKS = re.compile(r's_atc_probe|v_cmpx?_class_f16|s_setreg_imm32_b32|s_get_barrier_state \w+, src_scc|v_fmac_f16_e64_dpp.* op_sel|(global|buffer|flat)_atomic_(add|min|max|pk_add)_f\w+ .* scc')


def main(decoder, assembler, target, path, count, *attributes):
    need_llvm()
    source = words_rdna if target.startswith('gfx1') else words_gcn
    r, forms = random.Random(7), read_forms(path)
    if target.startswith('gfx1'):
        forms = words_rdna.more_forms(forms)
    words = [f[2] for f in forms] + [source.vary(r, target, *f) for f in forms for _ in range(int(count))]
    texts = [t for t in ours(decoder, target, words, attributes) if t != '?' and not QUIRKS.match(t)]
    extra = ['-mattr=' + ','.join(attributes)] if attributes else []
    wrong, agree, refused, allowed = [], 0, 0, 0
    for text, theirs, (mine, why) in zip(texts, llvm_words(target, texts, extra), our_words(assembler, target, texts, attributes)):
        if theirs == mine:
            agree += 1
            refused += mine is None
        elif theirs is None:
            allowed += 1
        else:
            wrong.append((text, theirs, mine, why))
    show = lambda ws: ' '.join('%08x' % w for w in ws) if ws else 'refused'
    for text, theirs, mine, why in wrong[:40]:
        print('%s\n  llvm %s\n  ours %s %s' % (text, show(theirs), show(mine), why))
    print('%s: %d of %d lines agree, %d of them refused; %d that LLVM refuses are taken' % (target, agree, len(texts), refused, allowed))
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
