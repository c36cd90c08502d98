#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compiles a source for each target and runs BLOCKS on it, with and without its waits.

usage: blocks.py BLOCKS SOURCE TARGET...; exit code 77 ("skipped") without clang-19 and ld.lld-19. clang-22
compiles for gfx950, if it is there.
"""
import os
import shutil
import subprocess
import sys
import tempfile


def main():
    blocks, source, *targets = sys.argv[1:]
    if not shutil.which('clang-19') or not shutil.which('ld.lld-19'):
        print('skipped: no clang-19 or ld.lld-19')
        return 77
    clang = {target: 'clang-22' if target == 'gfx950' else 'clang-19' for target in targets}
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for target in filter(lambda target: shutil.which(clang[target]), targets):
            path = os.path.join(folder, target + '.co')
            subprocess.run([clang[target], '-x', 'cl', '-cl-std=CL2.0', '-target', 'amdgcn-amd-amdhsa', '-mcpu=' + target, '-nogpulib',
                            '-O2', '-w', '-mcode-object-version=5', source, '-o', path], check=True)
            print(target, flush=True)
            failed += subprocess.run([blocks, path]).returncode != 0
            failed += subprocess.run([blocks, '--without-waits', path]).returncode != 0
    return failed != 0


sys.exit(main())
