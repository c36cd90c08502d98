# SPDX-License-Identifier: MIT
"""Images and samplers from Python: a rotation compared with OpenCL's rules, computed here; layouts; refusals."""
import numpy as np
import pytest

import wavemem
from conftest import EXAMPLES, assembled

WIDTH, HEIGHT = 50, 23


def rotated(texels, sine, cosine):
    """OpenCL C 3.0, "Image addressing and filtering": the nearest texel, coordinates normalized, clamped to the edge."""
    result = np.zeros((HEIGHT, WIDTH, 4), np.float32)
    for y in range(HEIGHT):
        for x in range(WIDTH):
            fx, fy = (x + 0.5) / WIDTH - 0.5, (y + 0.5) / HEIGHT - 0.5
            u, v = fx * cosine - fy * sine + 0.5, fx * sine + fy * cosine + 0.5
            i, j = (min(max(int(np.floor(one)), 0), size - 1) for one, size in ((u * WIDTH, WIDTH), (v * HEIGHT, HEIGHT)))
            result[y, x] = texels[j, i].astype(np.float32) / 255
    return result


@pytest.fixture
def rotate(machine):
    return machine.load(EXAMPLES / "rotate.co").kernel()


def test_rotate(machine, rotate):
    texels = np.random.default_rng(1).integers(0, 256, (HEIGHT, WIDTH, 4), np.uint8)
    before, turned = texels.copy(), np.zeros((HEIGHT, WIDTH, 4), np.float32)
    rotate(wavemem.Image(texels, normalized=True), wavemem.Image(turned), wavemem.Sampler("edge", normalized=True), 0.25, 0.5,
           grid=(64, 32), workgroup=(16, 16))
    expected = rotated(texels, 0.25, 0.5)
    wrong = (np.abs(turned - expected) > 1e-6).any(axis=2)
    assert wrong.mean() < 0.02  # coordinates in 8 bits of fraction may fall into the neighbour
    np.testing.assert_array_equal(texels, before)
    assert [one.name for one in machine.allocations()] == ["code object"]  # images and descriptors are gone
    border = np.zeros((HEIGHT, WIDTH, 4), np.float32)
    rotate(wavemem.Image(texels, normalized=True), wavemem.Image(border), wavemem.Sampler(["border"] * 3, normalized=True), 0.0, 2.0,
           grid=(64, 32), workgroup=(16, 16))
    assert (border[0] == 0).all() and (border[HEIGHT // 2, WIDTH // 2] != 0).any()


def test_read_only(rotate):
    """What NumPy does not let be written is read-only for the kernel."""
    texels, turned = np.zeros((4, 4, 4), np.uint8), np.zeros((4, 4, 4), np.float32)
    turned.flags.writeable = False
    with pytest.raises(wavemem.Fault):
        rotate(wavemem.Image(texels, normalized=True), wavemem.Image(turned), wavemem.Sampler(), 0, 1, grid=(16, 16), workgroup=(16, 16))


def test_refusals(machine, rotate):
    good, turned = np.zeros((4, 4, 4), np.uint8), np.zeros((4, 4, 4), np.float32)
    image, sampler = wavemem.Image(good, normalized=True), wavemem.Sampler()

    def launch(*arguments):
        return rotate(*arguments, 0, 1, grid=(16, 16), workgroup=(16, 16))
    for arguments, message in (((sampler, wavemem.Image(turned), sampler), "'in' is image; it takes no Sampler"),
                               ((image, wavemem.Image(turned), image), "'s' is sampler; it takes no Image"),
                               ((good, wavemem.Image(turned), sampler), "'in' is image; expected a wavemem.Image, a Buffer"),
                               ((wavemem.Image(np.zeros((4, 4, 3), np.uint8)), image, sampler), "has the shape .4, 4, 3.; 2d takes"),
                               ((wavemem.Image(np.zeros((4, 4), np.float64)), image, sampler), "elements of float64"),
                               ((wavemem.Image(turned, normalized=True), image, sampler), "normalized elements of float32"),
                               ((wavemem.Image(good, "2D"), image, sampler), "geometry is '2D'; expected one of '1d'"),
                               ((wavemem.Image(good[:, ::2]), image, sampler), "not contiguous"),
                               ((image, image, wavemem.Sampler("clamp")), "addressing is 'clamp'; expected one of 'edge'"),
                               ((image, image, wavemem.Sampler(["edge"])), "expected one or three")):
        with pytest.raises(wavemem.BadArgument, match=message):
            launch(*arguments)
    assert [one.name for one in machine.allocations()] == ["code object"]
    flat = machine.load(assembled("", [("count", "int", "by_value", 4)])).kernel()
    with pytest.raises(wavemem.BadArgument, match="it takes no Image"):
        flat(image, grid=64, workgroup=64)


@pytest.mark.parametrize("geometry, shape", [("1d", (7,)), ("1d", (7, 4)), ("2d", (3, 5, 2)), ("3d", (2, 3, 5)), ("1d_array", (3, 9)),
                                             ("2d_array", (2, 3, 5, 4)), ("1d_buffer", (11,))])
@pytest.mark.parametrize("dtype", [np.float32, np.uint8, np.int16, np.float16])
def test_layouts(geometry, shape, dtype):
    """What is placed comes back, on a target with rows of 256 bytes and on one with others; T# as wm_image_describe says."""
    if dtype == np.float16 and geometry == "1d_buffer":
        return
    array = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
    for target in ("gfx900", "gfx1200"):
        with wavemem.Machine(target) as machine:
            kernel = machine.load(assembled("", [("image", "", "global_buffer", 8)], target=target)).kernel()
            before = array.copy()
            kernel(wavemem.Image(array, geometry), grid=32, workgroup=32)
            np.testing.assert_array_equal(array, before)


def test_texture():
    """A HIP texture object is the address of the T# and, 12 words behind, of the S#."""
    texels = np.arange(16, dtype=np.float32).reshape(4, 4)
    body = """
        s_load_dwordx4 s[4:7], s[0:1], 0x0
        s_waitcnt lgkmcnt(0)
        v_lshlrev_b32 v0, 2, v0
        global_load_dword v1, v0, s[4:5]
        s_waitcnt vmcnt(0)
        global_store_dword v0, v1, s[6:7]
    """
    with wavemem.Machine("gfx900") as machine:
        kernel = machine.load(assembled(body, [("t", "", "by_value", 8), ("out", "", "global_buffer", 8)])).kernel()
        words = np.zeros(20, np.uint32)
        kernel(wavemem.Texture(wavemem.Image(texels), wavemem.Sampler("repeat", linear=True, normalized=True)), words, grid=20, workgroup=20)
    image = {one.name: one.value for one in wavemem.decode_descriptor("image", words[:8], "gfx900").fields}
    sampler = {one.name: one.value for one in wavemem.decode_descriptor("sampler", words[12:16], "gfx900").fields}
    assert (image["WIDTH"], image["HEIGHT"], image["TYPE"]) == (3, 3, 9)  # minus 1; SQ_RSRC_IMG_2D
    assert sampler["CLAMP_X"] == 0 and sampler["XY_MAG_FILTER"] == 1 and not sampler["FORCE_UNNORMALIZED"]
