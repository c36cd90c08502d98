#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares block-compressed formats with Pillow, which decodes them to 8 bits, on random blocks of all modes.

usage: blocks.py BLOCK_DUMP

Exit code 77 ("skipped") without Pillow. It rounds colours between endpoints in its own way, so those of BC1 to BC5 may
differ by 2 of 255; those of BC7 are exact; those of BC6H, which are floats, may differ by 1 of 255 within 0 to 1.

Pillow 9.4 does not extend the sign of the sum of an endpoint and a difference of BC6H_SF16. Its modes with differences
of less than 16 bits are left out there; instead, two with one region are decoded here, exactly.
"""
import random
import struct
import subprocess
import sys
from fractions import Fraction

try:
    from PIL import Image
except ImportError:
    print('skipped: no Pillow (Debian: python3-pil)')
    sys.exit(77)

BLOCKS = 4000
MODES_6 = [0, 1, 2, 6, 10, 14, 18, 22, 26, 30, 3, 7, 11, 15]
MODES_6_SIGNED = [30, 3, 15]
WEIGHTS = [0, 4, 9, 13, 17, 21, 26, 30, 34, 38, 43, 47, 51, 55, 60, 64]

# name, bytes of a block, code on gfx1030, on gfx1100 and on gfx900 (or None), Pillow's mode, number and name,
# components, most that 8-bit values may differ
FORMATS = [
    ('BC1', 8, 0xa9, 0x6d, 0x23, 'RGBA', 1, 'DXT1', 4, 2),
    ('BC2', 16, 0xab, 0x6f, 0x24, 'RGBA', 2, 'DXT3', 4, 2),
    ('BC3', 16, 0xad, 0x71, 0x25, 'RGBA', 3, 'DXT5', 4, 2),
    ('BC4', 8, 0xaf, 0x73, 0x26, 'L', 4, 'BC4', 1, 2),
    ('BC5', 16, 0xb1, 0x75, 0x27, 'RGB', 5, 'BC5', 2, 2),
    ('BC6H_UF16', 16, 0xb3, 0x77, None, 'RGB', 6, 'BC6H', 3, 1),
    ('BC6H_SF16', 16, 0xb4, 0x78, None, 'RGB', 6, 'BC6HS', 3, 1),
    ('BC7', 16, 0xb5, 0x79, 0x29, 'RGBA', 7, 'BC7', 4, 0),
]


def make_blocks(name, size):
    source = random.Random(name)
    blocks = bytearray()
    for n in range(BLOCKS):
        block = bytearray(source.randbytes(size))
        if name == 'BC7':
            mode = n % 8
            block[0] = (block[0] & ~((2 << mode) - 1) & 0xff) | 1 << mode
        elif name.startswith('BC6H'):
            modes = MODES_6_SIGNED if name == 'BC6H_SF16' else MODES_6
            mode = modes[n % len(modes)]
            bits = 2 if mode < 2 else 5
            block[0] = block[0] & ~((1 << bits) - 1) | mode
        elif name == 'BC1' and n % 4 == 0: # equal endpoints
            block[2:4] = block[0:2]
        blocks += block
    return bytes(blocks)


def of_pillow(value):
    return min(max(value, 0), 1) * 255


def decode(dump, target, code, blocks):
    raw = subprocess.run([dump, target, str(code)], input=blocks, capture_output=True, check=True).stdout
    return list(struct.iter_unpack('<4f', raw))


def signed(value, bits):
    return value - (value >> bits - 1 << bits)


def scaled(value, bits):
    magnitude = abs(value)
    if magnitude >= (1 << bits - 1) - 1:
        magnitude = 0x7fff
    elif magnitude:
        magnitude = (magnitude << 15) + 0x4000 >> bits - 1
    return magnitude if value >= 0 else -magnitude


def half_of(value):
    magnitude = abs(value) * 31 >> 5
    return struct.unpack('<e', struct.pack('<H', magnitude | (0x8000 if value < 0 else 0)))[0]


def decode_signed(block, bits):
    """The texels of a block of one region whose first endpoint has 11 or 12 bits; the differences have as many as remain."""
    word = int.from_bytes(block, 'little')
    ends = []
    for component in range(3):
        upper = bits - 10
        low = word >> 5 + 10 * component & 0x3ff
        rest = word >> 35 + 10 * component & 0x3ff
        difference = signed(rest & (1 << 10 - upper) - 1, 10 - upper)
        high = rest >> 10 - upper
        if upper == 2: # in the other order
            high = high >> 1 | (high & 1) << 1
        first = signed(low | high << 10, bits)
        second = signed(first + difference & (1 << bits) - 1, bits)
        ends.append((scaled(first, bits), scaled(second, bits)))
    at = 65
    for texel in range(16):
        width = 3 if texel == 0 else 4
        weight = WEIGHTS[word >> at & (1 << width) - 1]
        at += width
        yield tuple(half_of((64 - weight) * a + weight * b + 32 >> 6) for a, b in ends)


def check_signed(dump):
    for mode, bits in ((7, 11), (11, 12)):
        source = random.Random(mode)
        blocks = []
        for n in range(BLOCKS):
            block = bytearray(source.randbytes(16))
            block[0] = block[0] & 0xe0 | mode
            blocks.append(block)
        got = decode(dump, 'gfx1030', 0xb4, b''.join(blocks))
        for n, block in enumerate(blocks):
            for texel, expected in zip(got[16 * n:16 * n + 16], decode_signed(block, bits)):
                if texel[:3] != expected:
                    sys.exit(f'BC6H_SF16: block {block.hex()}: {texel[:3]}, expected {expected}')


def snorm(byte):
    return max(byte - 256 if byte > 127 else byte, -127)


def decode_snorm(block):
    a, b = snorm(block[0]), snorm(block[1])
    eight = block[0] ^ 0x80 > block[1] ^ 0x80
    steps = 7 if eight else 5
    palette = [a, b] + [Fraction((steps - k) * a + k * b, steps) for k in range(1, steps)] + ([] if eight else [-127, 127])
    indices = int.from_bytes(block[2:8], 'little')
    return [float(Fraction(palette[indices >> 3 * i & 7]) / 127) for i in range(16)]


def check_snorm(dump):
    source = random.Random('SNORM')
    blocks = [bytes([0x80, 0x81]) + source.randbytes(6), bytes([0x81, 0x80]) + source.randbytes(6)]
    blocks += [source.randbytes(8) for n in range(BLOCKS)]
    for target, one, two in (('gfx1030', 0xb0, 0xb2), ('gfx1100', 0x74, 0x76), ('gfx900', 0x26 | 1 << 6, 0x27 | 1 << 6)):
        got = decode(dump, target, one, b''.join(blocks))
        pairs = decode(dump, target, two, b''.join(x + y for x, y in zip(blocks, reversed(blocks))))
        wanted = [x for block in blocks for x in decode_snorm(block)]
        others = [x for block in reversed(blocks) for x in decode_snorm(block)]
        for i, x in enumerate(wanted):
            if abs(got[i][0] - x) > 1e-7 or abs(pairs[i][0] - x) > 1e-7 or abs(pairs[i][1] - others[i]) > 1e-7:
                sys.exit(f'{target}: BC4 SNORM {blocks[i // 16].hex()}, texel {i % 16}: {got[i][0]}, expected {x}')


def linear_of(x):
    return x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4


def check_srgb(dump):
    for name, size, plain, code in (('BC1', 8, 0xa9, 0xaa), ('BC2', 16, 0xab, 0xac), ('BC3', 16, 0xad, 0xae),
                                    ('BC7', 16, 0xb5, 0xb6)):
        blocks = make_blocks(name, size)
        for a, b in zip(decode(dump, 'gfx1030', plain, blocks), decode(dump, 'gfx1030', code, blocks)):
            if a[3] != b[3] or any(abs(linear_of(a[k]) - b[k]) > 1e-6 for k in range(3)):
                sys.exit(f'{name} SRGB: {b}, of {a}')


def check(dump, row):
    name, size, gfx10, gfx11, gfx9, mode, number, kind, components, most = row
    blocks = make_blocks(name, size)
    texels = decode(dump, 'gfx1030', gfx10, blocks)
    for target, code in (('gfx1100', gfx11), ('gfx1200', gfx11), ('gfx900', gfx9)):
        if code is not None and repr(decode(dump, target, code, blocks)) != repr(texels): # NaNs are equal
            sys.exit(f'{name}: {target} differs from gfx1030')
    image = Image.frombytes(mode, (4, 4 * BLOCKS), blocks, 'bcn', (number, kind))
    pixels = image.tobytes()
    stride = len(mode)
    assert len(texels) == 16 * BLOCKS
    for i, texel in enumerate(texels):
        for k in range(components):
            got, expected = of_pillow(texel[k]), pixels[stride * i + k]
            if not abs(got - expected) <= most + 0.51:
                where = blocks[i // 16 * size:(i // 16 + 1) * size].hex()
                sys.exit(f'{name}: block {where}, texel {i % 16}, component {k}: {got:.2f}, Pillow has {expected}')
    print(f'{name}: {len(texels)} texels')


for one in FORMATS:
    check(sys.argv[1], one)
check_signed(sys.argv[1])
check_snorm(sys.argv[1])
check_srgb(sys.argv[1])
