#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What clang-19 -S makes of a source, through our assembler and through llvm-mc-19: the same code, descriptors and metadata.
assembled_files.py WAVEMEM SOURCE TARGET..."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

from llvm import SKIP

TOOLS = ['clang-19', 'llvm-mc-19', 'llvm-objcopy-19', 'llvm-readelf-19', 'ld.lld-19']


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit('%s: exit code %d\n%s' % (' '.join(command), done.returncode, done.stderr[:2000]))
    return done.stdout


def section(path, name, scratch):
    run('llvm-objcopy-19', '-O', 'binary', '--only-section=' + name, path, scratch)
    with open(scratch, 'rb') as file:
        return file.read()


def descriptors(data):
    """.rodata of kernels only, without the distance to their code."""
    return b''.join(data[at:at + 16] + bytes(8) + data[at + 24:at + 64] for at in range(0, len(data), 64))


def differences(wavemem, source, target, folder):
    path = lambda kind: os.path.join(folder, target + '.' + kind)
    version = '6' if 'generic' in target else '5'
    run('clang-19', '-x', 'cl', '-cl-std=CL2.0', '-target', 'amdgcn-amd-amdhsa', '-mcpu=' + target, '-nogpulib', '-O2', '-w', '-S',
        '-mcode-object-version=' + version, source, '-o', path('s'))
    run('llvm-mc-19', '-triple=amdgcn-amd-amdhsa', '-mcpu=' + target, '-filetype=obj', path('s'), '-o', path('o'))
    run('ld.lld-19', '-shared', path('o'), '-o', path('so'))
    run(wavemem, 'asm', '-m', target, path('s'), '-o', path('co'))
    run('llvm-readelf-19', '-aW', path('co'))
    wrong = [name for name in ('.text', '.note') if section(path('co'), name, path('a')) != section(path('so'), name, path('b'))]
    if descriptors(section(path('co'), '.rodata', path('a'))) != descriptors(section(path('so'), '.rodata', path('b'))):
        wrong.append('.rodata')
    listed = lambda kind: run(wavemem, 'info', path(kind)).replace(path(kind), '')
    if listed('co') != listed('so'):
        wrong.append('what `wavemem info` shows')
    flags = lambda kind: re.search(r'Flags: +(.*)', run('llvm-readelf-19', '-h', path(kind))).group(1)
    if flags('co') != flags('so'):
        wrong.append('the flags of the header, %s' % flags('co'))
    return wrong


def main(wavemem, source, *targets):
    missing = [tool for tool in TOOLS if not shutil.which(tool)]
    if missing:
        print('skipped: %s is not installed (Debian packages clang-19, lld-19, llvm-19)' % missing[0])
        return SKIP
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        for target in targets:
            wrong = differences(wavemem, source, target, folder)
            print('%s: %s' % (target, 'other than llvm-mc-19: ' + ', '.join(wrong) if wrong else 'the same'))
            failed |= bool(wrong)
    return int(failed)


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
