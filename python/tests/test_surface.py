# SPDX-License-Identifier: MIT
"""Surfaces from Python: conversion against the offsets of single texels, explanations against their equations, and images of
kernels in tiled layouts, with the cache lines that they touch."""
import re

import numpy as np
import pytest

import wavemem
from conftest import EXAMPLES


def test_tile_and_untile():
    random = np.random.default_rng(1)
    for target, mode, shape, bytes_, more in (("gfx1100", "64KB_R_X", (50, 70), 4, {}), ("gfx900", "4KB_S", (3, 20, 33), 2, {}),
                                              ("gfx1030", "64KB_S_X", (6, 20, 33), 16, {"dimensions": 3}), ("gfx803", 14, (20, 33), 8, {}),
                                              ("gfx1200", "64KB_2D", (20, 33), 4, {"samples": 4})):
        surface = wavemem.Surface(target, mode, shape, bytes_, **more)
        texels = random.integers(0, 256, surface.packed, np.uint8)
        tiled = surface.tile(texels)
        assert tiled.nbytes == surface.bytes
        parts = surface.untile(tiled)
        np.testing.assert_array_equal(parts.reshape(-1), texels)
        elements = texels.reshape(surface.levels[0].depth, surface.levels[0].height, surface.levels[0].width, surface.samples, bytes_)
        for z, y, x, sample in np.ndindex(elements.shape[:-1]):
            at = surface.offset(x, y, z, sample=sample)
            np.testing.assert_array_equal(tiled[at:at + bytes_], elements[z, y, x, sample])


def test_levels():
    surface = wavemem.Surface("gfx1030", "64KB_R_X", (256, 256), 4, levels=9)
    assert [(level.width, level.tail) for level in surface.levels] == [
        (256, False), (128, False), (64, True), (32, True), (16, True), (8, True), (4, True), (2, True), (1, True)]
    texels = np.arange(sum(4 ** i for i in range(9)), dtype=np.uint32)
    np.testing.assert_array_equal(surface.untile(surface.tile(texels), np.uint32), texels)


def test_explain():
    surface = wavemem.Surface("gfx1100", "64KB_R_X", (300, 400), 4, pipe_bank_xor=5)
    steps = surface.explain(333, 222)
    at = {"x": 333, "y": 222, "z": 0, "s": 0}
    bits = [sum(at[c] >> int(bit) for c, bit in re.findall(r"([xyzs])(\d+)", term)) & 1 for term in steps.terms]
    assert steps.within == sum(bit << i for i, bit in enumerate(bits))
    assert steps.offset == surface.offset(333, 222) == steps.layer + steps.level + steps.block + (
        steps.within ^ steps.tail_xor ^ steps.pipe_bank_xor)
    assert steps.pipe_bank_xor and surface.product == "gfx11:p5k5"


def test_of_image():
    surface = wavemem.Surface.of_image("gfx1100", [0x1000, 0xc2a00000, 0x010dc1df, 0x91b00fac, 0, 0, 0, 0], gpu="rx7900xtx")
    assert (surface.base, surface.mode, surface.levels[0].width, surface.levels[0].height) == (0x100000, "64KB_R_X", 1920, 1080)


def test_refusals():
    with pytest.raises(wavemem.NotFound, match="no swizzle mode"):
        wavemem.Surface("gfx1100", "64KB_Q", (4, 4), 4)
    with pytest.raises(wavemem.Unsupported, match="12 bytes"):
        wavemem.Surface("gfx1100", "64KB_R_X", (4, 4), 12)
    with pytest.raises(wavemem.Unsupported, match="no images"):
        wavemem.Surface("gfx942", "64KB_R_X", (4, 4), 4)
    for shape, bytes_, more in (((), 4, {}), ((1, 2, 3, 4), 4, {}), ((-1,), 4, {}), ((4, 4), 0, {}), ((4, 4), 4, {"levels": 99})):
        with pytest.raises(wavemem.BadArgument):
            wavemem.Surface("gfx1100", "64KB_R_X", shape, bytes_, **more)
    surface = wavemem.Surface("gfx1100", "64KB_R_X", (4, 4), 4)
    with pytest.raises(wavemem.BadArgument, match="x is 4"):
        surface.offset(4)
    with pytest.raises(wavemem.BadArgument, match="packed elements"):
        surface.tile(np.zeros(3, np.uint8))
    with pytest.raises(wavemem.BadArgument, match="for a surface"):
        surface.untile(np.zeros(3, np.uint8))
    with pytest.raises(wavemem.BadArgument, match="has 8"):
        wavemem.Surface.of_image("gfx1100", [1, 2])


SIDE = 64


def rotated(machine, mode, sine, cosine):
    """The results of turning an image of floats, and the lines of the wave's loads and stores."""
    texels = np.arange(SIDE * SIDE, dtype=np.float32).reshape(SIDE, SIDE)
    turned, profile = np.zeros((SIDE, SIDE), np.float32), wavemem.Profile()
    machine.load(EXAMPLES / "rotate.co").kernel()(
        wavemem.Image(texels, mode=mode), wavemem.Image(turned, mode=mode), wavemem.Sampler("edge", normalized=True), sine, cosine,
        grid=(SIDE, SIDE), workgroup=(16, 16), profile=profile)
    return turned, {row["text"]: int(row["lines"]) for row in profile.rows() if row["text"].startswith("image_")}


def lines_of(mode, turned):
    """Lines of 64 bytes of what 64 lanes, 16 by 4 of a workgroup, touch; turned by 90 degrees, 4 by 16 texels."""
    surface = wavemem.Surface("gfx900", mode, (SIDE, SIDE), 4)
    lines = 0
    for top in range(0, SIDE, 4):
        for left in range(0, SIDE, 16):
            places = [(left + i, top + j) for i in range(16) for j in range(4)]
            lines += len({surface.offset(*((SIDE - 1 - y, x) if turned else (x, y))) // 64 for x, y in places})
    return lines


def test_lines(machine):
    """A wave that reads columns touches a line for each row of a linear image, and few lines of a tiled one."""
    straight, by_mode = None, {}
    for mode in None, "64KB_S", "64KB_D_X", "256B_D":
        turned, lines = rotated(machine, mode, 1.0, 0.0)
        straight = turned if straight is None else straight
        np.testing.assert_array_equal(turned, straight)
        (load,), (store,) = ([n for name, n in lines.items() if name.startswith(prefix)] for prefix in ("image_sample", "image_store"))
        assert load == lines_of(mode or "linear", True), mode
        assert store == lines_of(mode or "linear", False), mode
        by_mode[mode] = load
    assert by_mode[None] == 64 * 16 and by_mode["64KB_S"] == 64 * 4
