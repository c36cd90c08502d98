# SPDX-License-Identifier: MIT
"""Descriptors, formats and addresses. Properties of buffers are in examples/python/descriptor.py."""
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import wavemem


def test_descriptors():
    fields = {"base_address": 0x123456789000, "STRIDE": 16, "NUM_RECORDS": 64, "DST_SEL_X": 4, "NUM_FORMAT": 7, "DATA_FORMAT": 4}
    one = wavemem.encode_descriptor("buffer", fields, "gfx900")
    assert {name.upper(): one[name] for name in fields} == {name.upper(): value for name, value in fields.items()}
    # Vega ISA, "Buffer Resource Descriptor": base 47:0, stride 61:48, records 95:64.
    assert one.words[:3] == (0x56789000, 0x1234 | 16 << 16, 64)
    again = wavemem.decode_descriptor("buffer", one.words, "gfx900")
    assert again == one and wavemem.decode_descriptor("buffer", np.array(one.words, np.uint32), "gfx900") == one
    assert sum(field.bits for field in one) <= 128 and next(iter(one)).name == "BASE_ADDRESS"
    with pytest.raises(KeyError):
        one["COLOUR"]
    with pytest.raises(wavemem.NotFound, match="COLOUR"):
        wavemem.encode_descriptor("buffer", {"COLOUR": 1}, "gfx900")
    with pytest.raises(wavemem.BadArgument, match="STRIDE"):
        wavemem.encode_descriptor("buffer", {"STRIDE": 1 << 14}, "gfx900")
    with pytest.raises(wavemem.BadArgument, match="STRIDE is -1"):
        wavemem.encode_descriptor("buffer", {"STRIDE": -1}, "gfx900")
    with pytest.raises(wavemem.BadArgument):
        wavemem.decode_descriptor("buffer", [1, 2, 3], "gfx900")
    with pytest.raises(wavemem.BadArgument, match="kind is 'texture'; expected one of 'buffer', 'image', 'sampler'"):
        wavemem.decode_descriptor("texture", [0] * 4, "gfx900")
    assert len(wavemem.decode_descriptor("image", [0] * 8, "gfx900").words) == 8


@given(st.lists(st.floats(0, 1, width=32), min_size=4, max_size=4))
def test_unorm_round_trip(values):
    """Storing and loading again moves a value by half a step at most (ISA documents: round to nearest)."""
    stored = wavemem.store_format(values, "8_8_8_8", "unorm", target="gfx900")
    assert len(stored.element) == stored.bytes == 4 and stored.name == "8_8_8_8 UNORM"
    loaded = wavemem.load_format(stored.element, "8_8_8_8_UNORM", target="gfx900")
    assert loaded.values.dtype == np.float32
    np.testing.assert_allclose(loaded.values, values, atol=0.5001 / 255)
    np.testing.assert_array_equal(loaded.values, np.frombuffer(stored.element, np.uint8) / np.float32(255))


def test_formats():
    signed = wavemem.load_format(b"\xff\x80\x01\x7f", "8_8_8_8_sint", target="gfx900")
    assert signed.integer and signed.is_signed and signed.values.tolist() == [-1, -128, 1, 127]
    assert [(one.bits, one.shift) for one in signed.components] == [(8, 0), (8, 8), (8, 16), (8, 24)]
    assert wavemem.store_format([1.5, -2], "16_16_float", target="gfx1030").element == np.array([1.5, -2], np.float16).tobytes()
    assert wavemem.store_format([5, -1], "32_32_uint", target="gfx900").element == np.array([5, -1], np.int32).tobytes()
    with pytest.raises(wavemem.NotFound):
        wavemem.load_format(b"", "9_9_9", target="gfx900")
    with pytest.raises(wavemem.BadArgument, match="at most 16 bytes; got 17"):
        wavemem.load_format(bytes(17), "8", "unorm", target="gfx900")
    with pytest.raises(wavemem.BadArgument, match="one to four numbers"):
        wavemem.store_format([1] * 5, "8", "unorm", target="gfx900")


def test_addresses():
    lanes = np.arange(64)
    one = wavemem.explain_address("ds_read2_b32 v[0:1], v2 offset1:3", "gfx900", {"v2": 8 * lanes}, lane=5, lanes=0xFF)
    assert (one.path, one.kind, one.bytes, one.wave_size, one.lanes, len(one.elements)) == ("DS", "load", 4, 64, 0xFF, 2)
    assert one.elements[0].space == "LDS" and one.elements[0].private_offset is None and one.steps
    np.testing.assert_array_equal(one.elements[0].address[:8], 8 * lanes[:8])
    np.testing.assert_array_equal(one.elements[1].address[:8], 8 * lanes[:8] + 12)
    wide = wavemem.explain_address("global_store_dwordx4 v[0:1], v[4:7], off offset:16", "gfx900",
                                   {"v0": 16 * lanes, "v1": 0x1234})
    np.testing.assert_array_equal(wide.elements[0].address, (0x1234 << 32) + 16 * lanes + 16)
    outside = wavemem.explain_address("ds_read_b32 v0, v1", "gfx900", {"v1": [0, 1024, 4]}, lds_bytes=1024, lanes=7)
    assert outside.elements[0].bad_range == 2
    moved = wavemem.explain_address("flat_load_dword v0, v[2:3]", "gfx900", {"v2": 4 * lanes, "v3": 3 << 16},
                                    shared_base=3 << 48, private_base=5 << 48)
    assert moved.elements[0].space == "LDS" and list(moved.elements[0].address) == list(4 * lanes)
    for text, error in (("s_nop 0", wavemem.Unsupported), ("ds_reed v0", wavemem.BadFile)):
        with pytest.raises(error):
            wavemem.explain_address(text, "gfx900")
    for registers in ({"v999": 1}, {"v1": 1 << 32}, {"v1": [1] * 65}, {"v1": "x"}):
        with pytest.raises(wavemem.BadArgument):
            wavemem.explain_address("ds_read_b32 v0, v1", "gfx900", registers)


def test_explain_buffer_arguments():
    words = wavemem.encode_descriptor("buffer", {"STRIDE": 16, "NUM_RECORDS": 4, "DATA_FORMAT": 4, "NUM_FORMAT": 4}, "gfx900").words
    answer = wavemem.explain_buffer(words, "gfx900", idxen=True, index=2, inst_offset=4)
    assert answer.addresses == (36,) and answer.in_range == (True,) and answer.steps
    assert wavemem.explain_buffer(words, "gfx900", idxen=True, index=4).in_range == (False,)
    with pytest.raises(wavemem.BadArgument, match="has 4 words; got 3"):
        wavemem.explain_buffer([0] * 3, "gfx900")
    with pytest.raises(wavemem.BadArgument, match="index is -1"):
        wavemem.explain_buffer(words, "gfx900", index=-1)
    with pytest.raises(wavemem.BadArgument):
        wavemem.explain_buffer(words, "gfx900", bytes=17)
