# SPDX-License-Identifier: MIT
"""Runs llvm-mc (19, or 22 for targets that 19 does not know) and our isa_lines, to print instruction words and to assemble
texts."""
import re
import shutil
import struct
import subprocess
import sys

SKIP = 77  # meson's exit code for skipped tests


# Targets that LLVM 19 does not know.
OF_LLVM_22 = ['gfx950', 'gfx9-4-generic', 'gfx1153', 'gfx1250', 'gfx1251']


def version(target):
    return '22' if target in OF_LLVM_22 else '19'


def tool(name, target):
    return name + '-' + version(target)


def mc(target):
    return tool('llvm-mc', target)


def with_tools(targets, names):
    """Those of the targets whose tools there are."""
    return [target for target in targets if all(shutil.which(tool(name, target)) for name in names)]


def need_llvm(target=None):
    if not shutil.which(mc(target)):
        print('skipped: %s is not installed (Debian package llvm-%s)' % (mc(target), version(target)))
        sys.exit(SKIP)


def modes(target, extra):
    """LLVM 22 has halves of VGPRs by default, we do not."""
    default = target == 'gfx1153' and not any('real-true16' in word for word in extra)
    return [*extra, '-mattr=-real-true16'] if default else extra


SENTINEL = '0x7f 0xbf 0x80 0xbf'  # s_nop 0xbf7f: separates the answers


def llvm(target, words, extra=()):
    """The text of each list of dwords, with white space folded; None if LLVM rejects it or reads several instructions."""
    lines = []
    for ws in words:
        data = struct.pack('<%dI' % len(ws), *ws).hex(' ')
        lines += ['[0x' + data.replace(' ', ' 0x') + ']', SENTINEL]
    run = subprocess.run([mc(target), '--disassemble', '-arch=amdgcn', '-mcpu=' + target, *modes(target, extra)],
                         input='\n'.join(lines) + '\n', capture_output=True, text=True)
    *answers, rest = run.stdout.replace('\t.text\n', '').split('\ts_nop 0xbf7f\n')
    out = [' '.join(answer.split()) if answer.count('\n') == 1 else None for answer in answers]
    if run.returncode < 0 and version(target) == '22':  # it crashes on some illegal words
        half = len(words) // 2
        return llvm(target, words[:half], extra) + llvm(target, words[half:], extra) if half else [None]
    if len(out) != len(words) or rest.strip():
        sys.exit('%s answered %d of %d words\n%s' % (mc(target), len(out), len(words), run.stderr[-500:]))
    return out


def run_ours(program, verb, target, lines, attributes):
    run = subprocess.run([program, verb, target, *attributes], input=''.join(line + '\n' for line in lines), capture_output=True, text=True)
    if run.returncode or run.stderr:
        sys.exit('%s %s %s: exit code %d\n%s' % (program, verb, target, run.returncode, run.stderr))
    return run.stdout.splitlines()


def ours(program, target, words, attributes=()):
    """Our text of each list of dwords; '?' if they are not one instruction."""
    return run_ours(program, 'print', target, [' '.join('%08x' % w for w in ws) for ws in words], attributes)


def llvm_words(target, texts, extra=()):
    """llvm-mc's dwords of each line; None if it rejects the line."""
    run = subprocess.run([mc(target), '-arch=amdgcn', '-mcpu=' + target, '--show-encoding', *modes(target, extra)],
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
        sys.exit('%s answered %d of %d lines\n%s' % (mc(target), len(out), len(texts), run.stderr[-500:]))
    for number in re.findall(r'<stdin>:(\d+):\d+: error', run.stderr):  # LLVM 22 may print the words nevertheless
        out[int(number) // 2] = None
    return out


def our_words(program, target, texts, attributes=()):
    """Our (dwords of each line, '') or (None, column and message)"""
    return [(None, line) if line.startswith('?') else ([int(w, 16) for w in line.split()], '')
            for line in run_ours(program, 'assemble', target, texts, attributes)]


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
    """Prints the differences and returns the exit code."""
    for words, want, got in wrong[:limit]:
        print('%s\n  llvm %s\n  ours %s' % (' '.join('%08x' % w for w in words), want, got))
    print('%s: %d of %d agree' % (name, total - len(wrong), total))
    return 1 if wrong else 0
