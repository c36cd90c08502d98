# SPDX-License-Identifier: MIT
"""Asks llvm-mc-19, and our own decoder, for the text of instruction words."""
import re
import shutil
import subprocess
import sys

SKIP = 77  # what meson takes as "skipped"


def need_llvm():
    if not shutil.which('llvm-mc-19'):
        print('skipped: llvm-mc-19 is not installed (Debian package llvm-19)')
        sys.exit(SKIP)


SENTINEL = '[0x7f,0xbf,0x80,0xbf]'  # s_nop 0xbf7f: stands between the answers


def llvm(target, words, extra=()):
    """The text of each list of dwords, white space folded; None where LLVM refuses it or sees several instructions."""
    lines = []
    for ws in words:
        lines += ['[' + ' '.join('0x%02x' % (w >> s & 255) for w in ws for s in (0, 8, 16, 24)) + ']', SENTINEL]
    run = subprocess.run(['llvm-mc-19', '--disassemble', '-arch=amdgcn', '-mcpu=' + target, *extra],
                         input='\n'.join(lines) + '\n', capture_output=True, text=True)
    texts = [re.sub(r'\s+', ' ', l).strip() for l in run.stdout.splitlines()]
    out, answer = [], []
    for text in texts:
        if text == 's_nop 0xbf7f':
            out.append(answer[0] if len(answer) == 1 else None)
            answer = []
        elif text and not text.startswith('.'):
            answer.append(text)
    if len(out) != len(words):
        sys.exit('llvm-mc-19 answered %d of %d words\n%s' % (len(out), len(words), run.stderr[-500:]))
    return out


def ours(decoder, target, words, attributes=()):
    lines = [' '.join('%08x' % w for w in ws) for ws in words]
    run = subprocess.run([decoder, target, *attributes], input='\n'.join(lines) + '\n', capture_output=True, text=True)
    if run.returncode or run.stderr:
        sys.exit('%s %s: exit code %d\n%s' % (decoder, target, run.returncode, run.stderr))
    return run.stdout.splitlines()


def read_forms(path):
    """Rows of (encoding, opcode, dwords, text)."""
    out = []
    with open(path) as file:
        for line in file:
            if not line.startswith('#'):
                encoding, opcode, words, text = line.rstrip('\n').split('\t')
                out.append((encoding, int(opcode), [int(w, 16) for w in words.split()], text))
    return out


def report(name, total, wrong, limit=40):
    """Prints what differs and returns the exit code."""
    for words, want, got in wrong[:limit]:
        print('%s\n  llvm %s\n  ours %s' % (' '.join('%08x' % w for w in words), want, got))
    print('%s: %d of %d agree' % (name, total - len(wrong), total))
    return 1 if wrong else 0
