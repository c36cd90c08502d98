# SPDX-License-Identifier: MIT
"""The off-chip buffer of tessellation shaders."""
import random

import pytest

import wavemem


def test_places_follow_the_order_of_the_patch():
    """Mesa, "radeonsi: Add offchip buffer address calculation": the values of one attribute for all vertices of all patches
    are contiguous; those of each patch follow."""
    rng = random.Random(1)
    for _ in range(50):
        patches, vertices, attributes, of_patch = rng.randint(1, 40), rng.randint(1, 8), rng.randint(1, 9), rng.randint(0, 5)
        layout = wavemem.TessLayout(patches=patches, vertices=vertices, attributes=attributes, patch_attributes=of_patch)
        end = 16 * patches * vertices * attributes
        assert (layout.patch_data, layout.size) == (end, end + 16 * patches * of_patch)
        patch, vertex, slot, byte = rng.randrange(patches), rng.randrange(vertices), rng.randrange(attributes), 4 * rng.randrange(4)
        at = 16 * (slot * patches * vertices + patch * vertices + vertex) + byte
        assert layout.offset(patch=patch, vertex=vertex, slot=slot, byte=byte) == at
        place = layout.place(at)
        assert (place.per_patch, place.patch, place.vertex, place.slot, place.byte) == (False, patch, vertex, slot, byte)
        if of_patch:
            slot = rng.randrange(of_patch)
            at = end + 16 * (slot * patches + patch)
            assert layout.offset(patch=patch, slot=slot) == at
            assert layout.place(at).per_patch and layout.place(at).slot == slot


def test_words_describe_layouts():
    for name in wavemem.TessLayout.names():
        layout = wavemem.TessLayout(patches=11, vertices=3, attributes=4, patch_attributes=2, name=name)
        again = wavemem.TessLayout.of_word(layout.word, patch_attributes=2, name=name)
        assert (again.patches, again.vertices, again.size) == (11, 3, layout.size)
        assert layout.source and name in repr(layout)


def test_lines_and_semantics():
    layout = wavemem.TessLayout(patches=64, vertices=3, attributes=4)
    lines = layout.lines(lanes=64)
    assert (lines.store_lanes, lines.store) == (64, 16)  # 64 lanes of 16 bytes side by side
    assert lines.store_before > lines.store
    assert layout.slot("tessouter") == (0, True) and layout.slot("position") == (0, False)


def test_refusals():
    layout = wavemem.TessLayout(patches=2, vertices=3, attributes=1)
    with pytest.raises(wavemem.BadArgument):
        layout.offset(patch=2, vertex=0, slot=0)
    with pytest.raises(wavemem.NotFound):
        layout.place(layout.size)
    with pytest.raises(wavemem.NotFound):
        wavemem.TessLayout(patches=1, vertices=1, attributes=1, name="radeonsi")
    with pytest.raises(wavemem.BadArgument):
        wavemem.TessLayout(patches=512, vertices=3, attributes=1)
    with pytest.raises(wavemem.BadArgument, match="patches is -1"):
        wavemem.TessLayout(patches=-1, vertices=3, attributes=1)
    with pytest.raises(AttributeError, match="has no attribute 'patch'"):
        layout.patch
