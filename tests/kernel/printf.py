#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The output of kernels' OpenCL printf, against Python's own formatting.

usage: printf.py COMMAND CODE-OBJECT
"""
import os
import struct
import subprocess
import sys
import tempfile

COMMAND, OBJECT = sys.argv[1:3]
failed = 0


def run(kernel, arguments, *options, code=0):
    command = [COMMAND, 'run', OBJECT, '-k', kernel] + list(options)
    if '-g' not in options:
        command += ['-g', '1', '-b', '1']
    for name, value in arguments.items():
        command += ['-a', f'{name}={value}']
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    expect(kernel + ': exit code', done.returncode, code, done.stderr.decode())
    return done.stdout.decode(), done.stderr.decode()


def expect(what, got, expected, more=''):
    global failed
    if got != expected:
        failed += 1
        print(f'{what}: got\n{str(got)[:2000]}\nexpected\n{str(expected)[:2000]}\n{more}')


def file(folder, name, form, values):
    path = os.path.join(folder, name)
    with open(path, 'wb') as out:
        out.write(struct.pack(f'<{len(values)}{form}', *values))
    return '@' + path


with tempfile.TemporaryDirectory() as folder:
    text, _ = run('strings', {'a': file(folder, 'a.bin', 'i', [7, 0, 66, -5])})
    expect('strings', text, ('nothing else\n[] 7\n[a] 0\n[abc] 66\n[abcd] -5\n[abcd|abcde|abcdefgh] 7\n'
                             '[abcdefg|12345678|x] 65\n[abcdefgh|abcd]\n[   right|left    |cu|    b]\n'
                             # LLVM does not escape backslashes, so "C:\nothing" contains a newline here and in ROCm
                             '100% of C:\nothing\tok\nand: colons: 0::\n'))

    x, y = 77, -30000
    text, _ = run('integers', {'a': file(folder, 'a.bin', 'i', [x, y])})
    u = y & 0xffffffff
    low = y & 0xff
    expect('integers', text,
           f'{x} {y} {u} {u:x} {u:X} {x:o} {x:5d} {x:<5d}| {x:05d} {x:+d} {x: d}\n'
           f'{low - 256 if low > 127 else low} {low} {y} {y & 0xffff} {y & 0xffff:x}\n'
           f'{x << 40} {y & (2**64 - 1)} {y & (2**64 - 1):x} {x:08d} {x:#x} 0{x:o}\n0x1234abcd5678\n|c|\n')

    a, b = [1.25, -1000.5, 1e-7, float('inf')], [1 / 3, 1e300, -2.5]
    single = struct.unpack('<4f', struct.pack('<4f', *a))
    text, _ = run('floats', {'a': file(folder, 'a.bin', 'f', a), 'b': file(folder, 'b.bin', 'd', b)})
    expect('floats', text,
           '%f %.3f %10.2f %-10.1f| %e %E %g %G\n' % (*single[:2], *single[:2], *single[:2], single[0], single[2]) +
           '%f %e %g ' % tuple(b) + '0x1.5555555555555p-2\n' + '1.500000 2.250000 10000000000.00\ninf -inf +0.0\n')

    a, b = [1.5, -2.0, 3.25, 1e6], [1, -2, 3, 100]
    text, _ = run('vectors', {'a': file(folder, 'a.bin', 'f', a), 'b': file(folder, 'b.bin', 'i', b)})
    hexes = ','.join(f'{v & 0xffffffff:x}' for v in b)
    f6 = ['%f' % v for v in a]
    expect('vectors', text,
           f'{",".join(f6)}|{",".join(f6[:2])}|{",".join(f6[:3])}\n1,-2,3,100 1,-2 -2,3,100 {hexes}\n'
           f'1,-2,3,100 1,-2 1,fe,3,64 1,65534,3\n1,100 {",".join(f6[1:3])} 1.5,-2.0,3.2,1000000.0 {",".join("7" * 8)}\n')

    values = [(i * 37 + 11) % 1000 for i in range(300)]
    lines = [f'item {i} of group {i // 100}: {values[i]}' if i % 3 == 0 else f'{["one:", "twice"][i % 3 - 1]} {i}'
             for i in range(300)]
    for threads in ('1', '2'):
        text, _ = run('lanes', {'a': file(folder, 'a.bin', 'i', values)}, '-g', '300', '-b', '100', '-j', threads)
        expect('lanes', sorted(text.splitlines()), sorted(lines))

    # 4 MiB of complete records of 20 bytes, followed by the message.
    text, _ = run('flood', {'a': 'fill:i32:1:5'}, '-g', '64', '-b', '64')
    lines = text.splitlines()
    fit = ((4 << 20) - 8) // 20
    expect('flood', (len(lines), lines[0], lines[-1]),
           (fit + 2, '5 0 0 0', 'wavemem: the printf buffer is full: later output is missing'))
    expect('flood', [line for line in lines[:fit] if line.split()[0] != '5' or len(set(line.split()[1:])) != 1], [])

    text, errors = run('then_fault', {'a': file(folder, 'a.bin', 'i', [9, 1])}, code=3)
    expect('then_fault', (text, errors.startswith('error: ')), ('before 9\n', True))
    text, errors = run('strings', {'a': file(folder, 'a.bin', 'i', [7, 0, 66, -5])}, '--json')
    expect('json', (text[:1], errors[:12]), ('{', 'nothing else'))

sys.exit(1 if failed else 0)
