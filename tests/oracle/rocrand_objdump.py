#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""All code objects of a fat binary as printed by `wavemem dis -m TARGET` and llvm-objdump-19.

    rocrand_objdump.py WAVEMEM LIBRARY TARGET...

The entries are extracted from the file here, so that wavemem's bundle reader is compared too. To add a target, add it
to the list in meson.build."""
import os
import shutil
import struct
import sys
import tempfile

from llvm import SKIP
from objdump import compare

MAGIC = b'__CLANG_OFFLOAD_BUNDLE__'


def bundle_entries(data, start):
    """{target id: code object} of the plain bundle at `start`; empty if there is none: the magic may also occur in a
    string. Source: LLVM 19, "ClangOffloadBundler"."""
    count, = struct.unpack_from('<Q', data, start + len(MAGIC))
    at, found = start + len(MAGIC) + 8, {}
    for _ in range(count if count < 1000 else 0):
        offset, size, length = struct.unpack_from('<3Q', data, at)
        name = data[at + 24:at + 24 + length].decode()
        at += 24 + length
        if 'amdgcn' in name:
            found[name[name.rindex('-gfx') + 1:]] = data[start + offset:start + offset + size]
    return found


def entries(data):
    """The entries of the first non-empty bundle."""
    start, found = -1, {}
    while not found:
        start = data.index(MAGIC, start + 1)
        found = bundle_entries(data, start)
    return found


def main(wavemem, library, *targets):
    if not os.path.exists(library):
        print('skipped: no %s (Debian package librocrand1)' % library)
        return SKIP
    if not shutil.which('llvm-objdump-19'):
        print('skipped: llvm-objdump-19 is not installed (Debian package llvm-19)')
        return SKIP
    with open(library, 'rb') as file:
        objects = entries(file.read())
    total = wrong = files = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, code in sorted(objects.items()):
            if name.split(':')[0] not in targets:
                continue
            path = os.path.join(folder, 't.co')
            with open(path, 'wb') as file:
                file.write(code)
            instructions, bad = compare(wavemem, path, ['-m', name, library], 40 - wrong)
            print('%s: %d instructions, %d wrong' % (name, instructions, bad))
            total, wrong, files = total + instructions, wrong + bad, files + 1
    missing = [t for t in targets if not any(name.split(':')[0] == t for name in objects)]
    if missing:
        print('%s has nothing for %s; it has %s' % (library, ' '.join(missing), ' '.join(sorted(objects))))
    return 1 if wrong or not total or missing else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
