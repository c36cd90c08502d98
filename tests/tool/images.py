# SPDX-License-Identifier: MIT
"""Image, sampler and texture arguments.

usage: images.py WAVEMEM FOLDER_OF_CODE_OBJECTS [TEST...]
"""
import math
import struct

import command
from command import Case, npy, pack

# The T# is at the start of a HIP texture object, the S# 12 words behind it (hip_texture_types.h,
# HIP_SAMPLER_OBJECT_OFFSET_DWORD).
TEXTURE = b"""
    s_load_dwordx4 s[4:7], s[0:1], 0x0
    s_waitcnt lgkmcnt(0)
    s_load_dwordx8 s[8:15], s[4:5], 0x0
    s_load_dwordx4 s[16:19], s[4:5], 0x30
    v_cvt_f32_u32 v1, v0
    v_mul_f32 v1, 0x3d800000, v1
    v_mov_b32 v2, 0.5
    v_lshlrev_b32 v0, 2, v0
    s_waitcnt lgkmcnt(0)
    image_sample_lz v3, v[1:2], s[8:15], s[16:19] dmask:0x1
    s_waitcnt vmcnt(0)
    global_store_dword v0, v3, s[6:7]
    s_endpgm
"""
# Adds 100 to the texels of a surface of 3 x 2.
SURFACE = b"""
    s_load_dwordx2 s[4:5], s[0:1], 0x0
    s_waitcnt lgkmcnt(0)
    s_load_dwordx8 s[8:15], s[4:5], 0x0
    v_cmp_lt_u32 vcc, 2, v0
    v_cndmask_b32_e64 v2, 0, 1, vcc
    v_mul_u32_u24 v3, 3, v2
    v_sub_u32 v1, v0, v3
    s_waitcnt lgkmcnt(0)
    image_load v4, v[1:2], s[8:15] dmask:0x1 unorm
    s_waitcnt vmcnt(0)
    v_add_u32 v4, 0x64, v4
    image_store v4, v[1:2], s[8:15] dmask:0x1 unorm
    s_endpgm
"""
WIDTH, HEIGHT = 19, 11  # rows are not a multiple of 256 bytes
SINE, COSINE = 0.5, 0.8125  # exact in f32


def texels(count, seed):
    """unorm8x4 texels, as bytes."""
    return bytes((i * i * 7 + i * seed) % 256 for i in range(4 * count))


def coordinates():
    """The normalized coordinates that rotate.cl computes, by column in rows; f32 as the kernel's code rounds them."""
    def f32(x):
        return struct.unpack("<f", struct.pack("<f", x))[0]
    for y in range(HEIGHT):
        for x in range(WIDTH):
            u, v = ((x + 0.5) / WIDTH - 0.5), ((y + 0.5) / HEIGHT - 0.5)
            yield f32(u * COSINE - v * SINE + 0.5), f32(u * SINE + v * COSINE + 0.5)


def addressed(i, n, mode):
    """OpenCL C, "Addressing and Filter Modes": the texel, or None for the border."""
    if mode == "edge":
        return min(max(i, 0), n - 1)
    if mode == "border":
        return i if 0 <= i < n else None
    if mode == "repeat":
        return i % n
    i %= 2 * n
    return i if i < n else 2 * n - 1 - i


def texel(image, i, j, mode):
    i, j = addressed(i, WIDTH, mode), addressed(j, HEIGHT, mode)
    if i is None or j is None:
        return [0.0] * 4
    at = 4 * (j * WIDTH + i)
    return [c / 255 for c in image[at:at + 4]]


def sampled(image, u, v, filter_, mode):
    """What OpenCL's rules give, with the 8 bits of fraction that the hardware has; None next to a rounding boundary."""
    x, y = u * WIDTH, v * HEIGHT
    if filter_ == "nearest":
        if any(abs(math.floor(c + 0.5) - c) < 1 / 256 for c in (x, y)):
            return None
        return texel(image, math.floor(x), math.floor(y), mode)
    x, y = round((x - 0.5) * 256), round((y - 0.5) * 256)
    i, j, a, b = x // 256, y // 256, x % 256 / 256, y % 256 / 256
    four = [(texel(image, i + di, j + dj, mode), wi * wj)
            for di, wi in ((0, 1 - a), (1, a)) for dj, wj in ((0, 1 - b), (1, b))]
    return [sum(t[c] * w for t, w in four) for c in range(4)]


class Images(Case):
    def rotate(self, *words, **kept):
        given = {"in": f"image2d:unorm8x4:{WIDTH},{HEIGHT}:@in.bin", "turned": f"image2d:f32x4:{WIDTH},{HEIGHT}",
                 "s": "sampler:linear,border,normalized", "sine": str(SINE), "cosine": str(COSINE)}
        given.update(kept)
        arguments = [w for k, v in given.items() if v is not None for w in ("--arg", f"{k}={v}")]
        return ["run"] + self.example("rotate") + ["-g", "32,16", "-b", "16,16"] + arguments + list(words)

    def setUp(self):
        super().setUp()
        self.image = texels(WIDTH * HEIGHT, 5)
        self.path("in.bin", self.image)

    def test_filters_and_addressing(self):
        for filter_ in ("nearest", "linear"):
            for mode in ("edge", "border", "repeat", "mirror"):
                self.run_tool(self.rotate("--out", "turned=turned.bin", s=f"sampler:{filter_},{mode},normalized"))
                values = struct.unpack(f"<{4 * WIDTH * HEIGHT}f", self.read("turned.bin"))
                compared = 0
                for n, (u, v) in enumerate(coordinates()):
                    wanted = sampled(self.image, u, v, filter_, mode)
                    if wanted is None:
                        continue
                    compared += 1
                    # One ulp of the coordinate may round to the next 1/256: at most that of a texel's difference.
                    for got, want in zip(values[4 * n:4 * n + 4], wanted):
                        self.assertLess(abs(got - want), 1e-6 if filter_ == "nearest" else 1 / 256 + 1e-6,
                                        f"{filter_} {mode} {n}")
                self.assertGreater(compared, WIDTH * HEIGHT // 2)

    def test_files(self):
        self.path("in.npy", npy("|u1", (HEIGHT, WIDTH, 4), self.image))
        self.run_tool(self.rotate("--out", "turned=a.npy", "--out", "in=b.npy",
                                  **{"in": f"image2d:unorm8x4:{WIDTH},{HEIGHT}:@in.npy"}))
        self.assertIn(f"'shape': ({HEIGHT}, {WIDTH}, 4)".encode(), self.read("a.npy"))
        self.assertEqual(self.read("b.npy")[-len(self.image):], self.image)
        out, _ = self.run_tool(self.rotate("--expect", "turned=@a.npy"))
        self.assertIn(f"all {4 * WIDTH * HEIGHT} elements agree", out)
        # Turned there and back by 180 degrees: the second dispatch reads what the first one wrote.
        self.path("floats.bin", pack("f32", [c / 255 for c in self.image]))
        self.run_tool(self.rotate("--then", "--arg", "in=same:turned", "--arg", "turned=same:in",
                                  "--expect", "turned=@floats.bin", s="sampler:nearest,edge,normalized", sine="0",
                                  cosine="-1", **{"in": f"image2d:f32x4:{WIDTH},{HEIGHT}:@floats.bin"}))

    def texture(self, value, code=0, store=None, more=()):
        """Runs TEXTURE, or other code, with a texture object and 32 results."""
        self.path("texture.s", store or TEXTURE)
        self.run_tool("asm -m gfx900 --raw texture.s -o texture.bin")
        return self.run_tool("run texture.bin -m gfx900 -g 32 -b 64", "--arg", f"0={value}", "--arg 1=zero:f32:32",
                             "--out 1=out.bin", list(more), code=code)

    def test_texture_objects(self):
        # Between rows 1 and 2 of 0 to 15, quarters of a texel apart.
        self.texture("texture2d:f32:4,4:linear,repeat,normalized:iota:f32:16")
        for lane, got in enumerate(struct.unpack("<32f", self.read("out.bin"))):
            place = lane / 4 - 0.5
            left, part = math.floor(place), place - math.floor(place)
            self.assertEqual(got, 6 + left % 4 * (1 - part) + (left + 1) % 4 * part)
        # Images of rows that are 256 bytes apart come back without gaps.
        self.texture("surface2d:u32:3,2:iota:u32:6", store=SURFACE, more=["--out", "0=rows.bin"])
        self.assertEqual(struct.unpack("<6I", self.read("rows.bin")), (100, 101, 102, 103, 104, 105))
        for value, why in {"texture2d:f32:4,4": "'' is not all of a sampler",
                           "texture2d:f32:4,4:iota:f32:16": "'iota' is no property of a sampler",
                           "texture2d:f32:4,4:linear,repeat,normalized:iota:f32:15": "15 elements; the image has 16",
                           "texture3d:f32:4,4,9000:linear,edge,normalized": "depth 9000 of the image; expected 1 to",
                           "surface2d_array:f32:4,4": "expected WIDTH,HEIGHT,LAYERS",
                           "texture4d:f32:4,4": "raw instructions have no argument types"}.items():
            _, err = self.texture(value, code=2)
            self.assertIn(why, err)

    def test_refused(self):
        size = f"{WIDTH},{HEIGHT}"
        for value, why in {"zero:f32:4": "expected image2d:f32x4:W,H", "3": "expected image2d",
                           "image2d": "expected image2d:f32x4", "image9d:f32:4,4": "expected image2d:f32x4",
                           "image2d:": "'' is no format", "image2d:f32x3:4,4": "'f32x3' is no format",
                           "image2d:f64:4,4": "'f64' is no format", "image2d:f32x4": "'' is no size of image2d",
                           "image2d:f32x4:4": "expected WIDTH,HEIGHT", "image2d:f32x4:4,4,4": "expected WIDTH,HEIGHT",
                           "image2d:f32x4:0,4": "is no size", "image2d:f32x4:-1,4": "is no size",
                           "image2d:f32x4:16385,4": "width 16385 of the image; expected 1 to 16384",
                           "image2d:f32x4:99999999999,4": "is no size",
                           "image1d:f32:4": "'image1d' does not fit an argument of this type",
                           "image2d_array:f32:4,4,4": "'image2d_array' does not fit an argument of this type",
                           f"image2d:unorm8x4:{size}:zero:f32:4": "the elements are f32; unorm8 takes u8",
                           f"image2d:unorm8x4:{size}:zero:u8:4": "4 elements; the image has 836",
                           f"image2d:f32x4:{size}:@in.bin": "209 elements; the image has 836",
                           f"image2d:f32x4:{size}:@missing.npy": "missing.npy: cannot be read",
                           f"image2d:f32x4:{size}:words:@in": "the texels are addresses",
                           "sampler:linear,edge,normalized": "'sampler' does not fit an argument of this type",
                           "texture2d:f32:4,4:linear,edge,normalized": "'texture2d' does not fit an argument of this type",
                           "same:s": "no buffer 's' is made", "same:in+16": "no buffer 'in' is made"}.items():
            self.refused(why, self.rotate(**{"in": value}))
        for value, why in {"linear": "expected sampler:linear", "sampler:": "'' is not all of a sampler",
                           "sampler:linear,edge": "is not all of a sampler",
                           "sampler:linear,edge,warped": "'warped' is no property of a sampler",
                           "sampler:linear,nearest,edge,normalized": "'nearest' contradicts",
                           "image2d:f32:4,4": "'image2d' does not fit an argument of this type", "same:in": "is an image"}.items():
            self.refused(why, self.rotate(s=value))
        self.lacks([["--arg in=image2d:f32x4:W,H:@FILE.npy", "argument 0 'in': image2d_t"],
                    ["--arg s=sampler:linear,edge,normalized", "argument 2 's': sampler_t"]], self.rotate(**{"in": None, "s": None}))
        self.refused("'image2d' does not fit an argument of this type", self.vecadd(n="image2d:f32:4,4"))
        self.refused("'image2d' does not fit an argument of this type", self.vecadd(a="image2d:f32:4,4"))


if __name__ == "__main__":
    command.main()
