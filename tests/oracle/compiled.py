#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The output of clang-19 (22 for targets that 19 does not know) for compiled.cl on each target: we must detect the target from the ELF header and disassemble
the code as LLVM does. compiled.py WAVEMEM SOURCE TARGET...

Compiles with -O0 and -O1 in turn, with WAVEMEM_TEST_FULL both for each target: together they use more different
instructions than -O2, and take a third of its time. For gfx6 and gfx7, which LLVM cannot disassemble, llvm-mc-19 must
assemble our text to the same code."""
import os
import subprocess
import sys
import tempfile

from llvm import SKIP, tool, with_tools
from objdump import compare, our_text

TOOLS = ['clang', 'ld.lld', 'llvm-mc', 'llvm-objdump', 'llvm-objcopy']


def run(*command, text=None):
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    if done.returncode:
        sys.exit('%s: exit code %d\n%s' % (' '.join(command), done.returncode, done.stderr[:2000]))
    return done.stdout


def code(path, scratch):
    """The bytes of the section .text."""
    run('llvm-objcopy-19', '-O', 'binary', '--only-section=.text', path, scratch)
    with open(scratch, 'rb') as file:
        return file.read()


def check(wavemem, source, target, level, folder):
    """The number of instructions, and of wrong ones."""
    path, other = os.path.join(folder, target + '.co'), os.path.join(folder, 'other')
    version = '6' if 'generic' in target else '5'
    run(tool('clang', target), '-x', 'cl', '-cl-std=CL2.0', '-target', 'amdgcn-amd-amdhsa', '-mcpu=' + target, '-nogpulib', level, '-w',
        '-mcode-object-version=' + version, source, '-o', path)
    if target + ',' not in run(wavemem, 'info', path).split('\n')[0]:
        print('%s: `wavemem info` does not know its code' % target)
        return 0, 1
    if target[3] in '67':
        mine = our_text(wavemem, [path])
        run('llvm-mc-19', '-arch=amdgcn', '-mcpu=' + target, '-filetype=obj', '-o', other, text='\n'.join(mine) + '\n')
        want, got = code(path, other + '.want'), code(other, other + '.got')
        same = got[:len(want)] == want
        print('' if same else '%s: llvm-mc-19 makes other code of our text\n' % target, end='')
        return len(mine), int(not same)
    return compare(wavemem, path, [path], 20, target)


def main(wavemem, source, *targets):
    targets = with_tools(targets, TOOLS)
    if not targets:
        print('skipped: no %s of version 19 (Debian packages clang-19, lld-19, llvm-19)' % ', '.join(TOOLS))
        return SKIP
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        for number, target in enumerate(targets):
            for level in ('-O0', '-O1') if os.environ.get('WAVEMEM_TEST_FULL') else ('-O%d' % (number % 2),):
                count, wrong = check(wavemem, source, target, level, folder)
                print('%s %s: %d instructions, %d wrong' % (target, level, count, wrong))
                failed |= wrong > 0 or count < 500
    return int(failed)


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
