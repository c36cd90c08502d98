#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks LLVM's waits with 'wavemem run --check-waits --check-hazards'.

usage: waits.py WAVEMEM EXAMPLES

The compiled examples must be clean. Then each s_waitcnt in turn is replaced by an s_nop: LLVM inserts no redundant
waits, so a missing wait must be reported, except for waits next to s_barrier, which order memory rather than registers,
and waits covered by another one on the executed path. Exit code 1 if an example is not clean, or if more than one
missing wait in twenty goes unreported.
"""
import json
import os
import struct
import subprocess
import sys
import tempfile

RUNS = {
    'vecadd': ['-g', '256', '-b', '64', '-a', 'a=iota:f32:256', '-a', 'b=iota:f32:256', '-a', 'c=zero:f32:256', '-a', 'n=256'],
    'saxpy': ['-g', '256', '-b', '64', '-a', 'alpha=2', '-a', 'x=iota:f32:256', '-a', 'y=iota:f32:256', '-a', 'n=256'],
    'reduction': ['-g', '256', '-b', '256', '-a', 'in=iota:f32:256', '-a', 'sums=zero:f32:1', '-a', 'n=256'],
    'histogram': ['-g', '256', '-b', '256', '-a', 'words=rand:u32:256:1', '-a', 'bins=zero:u32:256', '-a', 'n=256'],
    'stencil2d': ['-g', '32,32', '-b', '16,16', '-a', 'in=rand:f32:1024:1', '-a', 'out=zero:f32:1024', '-a', 'width=32', '-a',
                  'height=32', '-a', 'rate=0.1'],
    'sgemm': ['-g', '16,16', '-b', '16,16', '-a', 'm=64', '-a', 'n=64', '-a', 'k=64', '-a', 'alpha=1', '-a', 'a=rand:f32:4096:1',
              '-a', 'b=rand:f32:4096:2', '-a', 'beta=1', '-a', 'c=rand:f32:4096:3'],
    'fft1k': ['-g', '256', '-b', '256', '-a', 'in=rand:f32:2048:1', '-a', 'out=zero:f32:2048', '-a', 'twiddle=rand:f32:2048:2', '-a',
              'batch=1'],
    'nbody': ['-g', '128', '-b', '128', '-a', 'position=rand:f32:512:1', '-a', 'velocity=rand:f32:512:2', '-a',
              'new_position=zero:f32:512', '-a', 'new_velocity=zero:f32:512', '-a', 'n=128', '-a', 'softening=1', '-a', 'step=1'],
}
WAITCNT, NOP, BARRIER = 0xbf8c0000, 0xbf800000, 0xbf8a0000  # gfx900's words


def findings(wavemem, path, arguments):
    run = subprocess.run([wavemem, 'run', path, *arguments, '-j', '1', '--check-waits', '--check-hazards', '--json'],
                         capture_output=True, text=True)
    if run.returncode > 1:
        sys.exit(f'{path}: {run.stderr}')
    found = json.loads(run.stdout)['findings']
    if (run.returncode == 1) != bool(found):
        sys.exit(f'{path}: exit code {run.returncode} with {len(found)} findings')
    return found


def waits(wavemem, path):
    """File offsets of the words of waits that order registers."""
    image = open(path, 'rb').read()
    # Finds .text by its section header; waits are aligned words there.
    table, size, count, names = struct.unpack_from('<Q', image, 0x28)[0], *struct.unpack_from('<HHH', image, 0x3a)
    headers = [struct.unpack_from('<IIQQQQ', image, table + i * size) for i in range(count)]
    strings = headers[names][4]
    for name, _, _, _, offset, length in headers:
        if image[strings + name:].startswith(b'.text\0'):
            words = struct.unpack_from(f'<{length // 4}I', image, offset)
            for i, word in enumerate(words):
                if word & 0xffff0000 == WAITCNT and BARRIER not in (words[i - 1], words[i + 1]):
                    yield image, offset + 4 * i
    # A literal may look like a wait, but no example contains one.


def main():
    wavemem, examples = sys.argv[1:]
    tried = missed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, arguments in RUNS.items():
            path = os.path.join(examples, name + '.co')
            found = findings(wavemem, path, arguments)
            if found:
                sys.exit(f'{name}: LLVM\'s code should be clean: {found[0]["message"]}')
            for image, offset in waits(wavemem, path):
                changed = os.path.join(folder, name + '.co')
                with open(changed, 'wb') as file:
                    file.write(image[:offset] + struct.pack('<I', NOP) + image[offset + 4:])
                tried += 1
                if not findings(wavemem, changed, arguments):
                    missed += 1
                    print(f'{name}: nothing is missing without the wait at file offset {offset:#x}')
    print(f'{tried} waits taken away, {tried - missed} found missing')
    return 1 if tried < 100 or missed * 20 > tried else 0


sys.exit(main())
