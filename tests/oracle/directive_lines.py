#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Directives, each in a separate file: directive_lines.py WAVEMEM LIST TARGET

The list consists of pieces of assembly separated by blank lines. Each is assembled by us, and by llvm-mc-19 and
ld.lld-19: both give the same sections, or both reject it. A piece starting with "# ours: reason" is accepted only by
us, one starting with "# not ours: reason" is rejected only by us; the test fails if that changes."""
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile

from assembled_files import TOOLS, contents
from llvm import SKIP

# Made by the linker: they differ in symbols that are declared but neither defined nor used, which we do not list.
TABLES = {'.dynsym', '.hash', '.gnu.hash', '.dynstr', '.dynamic'}


def works(*command):
    return subprocess.run(command, capture_output=True).returncode == 0


def outcome(wavemem, target, piece):
    """A description of the difference, or None."""
    mark = re.match(r'# (ours|not ours): ', piece)
    with tempfile.TemporaryDirectory() as folder:
        path = lambda kind: os.path.join(folder, 'a.' + kind)
        with open(path('s'), 'w') as file:
            file.write(piece + '\n.text\ns_nop 0\n') # so that there is something to link
        theirs = works('llvm-mc-19', '-triple=amdgcn-amd-amdhsa', '-mcpu=' + target, '-filetype=obj', path('s'), '-o', path('o')) and \
            works('ld.lld-19', '-O0', '-shared', path('o'), '-o', path('so'))
        done = subprocess.run([wavemem, 'asm', '-m', target, path('s'), '-o', path('co')], capture_output=True, text=True)
        if done.returncode not in (0, 2) or (done.returncode == 2 and not done.stderr):
            return 'exit code %d' % done.returncode
        ours = done.returncode == 0
        if mark:
            return None if (mark.group(1) == 'ours') == ours and ours != theirs else 'the mark is no longer right'
        if ours != theirs:
            return 'LLVM %s, we %s: %s' % (*('take it' if x else 'refuse it' for x in (theirs, ours)), done.stderr[:300])
        if ours:
            a, b = contents(path('co')), contents(path('so'))
            wrong = [name for name in {**a, **b} if name not in TABLES and a.get(name) != b.get(name)]
            if wrong:
                return 'other than LLVM: ' + ', '.join(wrong)
    return None


def main(wavemem, name, target):
    missing = [tool for tool in TOOLS[1:] if not shutil.which(tool + '-19')]
    if missing:
        print('skipped: %s-19 is not installed (Debian packages lld-19, llvm-19)' % missing[0])
        return SKIP
    with open(name) as file:
        text = re.sub(r'^//.*\n', '', file.read(), flags=re.M)
    pieces = [piece for piece in re.split(r'\n{2,}', text.strip('\n')) if piece]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for piece, wrong in zip(pieces, pool.map(lambda piece: outcome(wavemem, target, piece), pieces)):
            if wrong:
                failed += 1
                print('%s\n  %s' % (piece, wrong))
    print('%d of %d pieces are as LLVM has them' % (len(pieces) - failed, len(pieces)))
    return int(failed > 0)


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
