# SPDX-License-Identifier: MIT
"""Launches: arrays in place, typed scalars, options, faults."""
import array
import ctypes
import struct
import subprocess
import sys

import numpy as np
import pytest

import wavemem
from conftest import COPY_ARGUMENTS, EXAMPLES, FOREVER, ROOT, assembled


def add(vecadd, a, b, c, n=None, **options):
    return vecadd(a, b, c, len(np.frombuffer(c, np.float32)) if n is None else n, grid=1024, workgroup=256, **options)


@pytest.fixture
def abc():
    return np.arange(1000, dtype=np.float32), np.full(1000, 0.5, np.float32), np.zeros(1000, np.float32)


def test_arrays_in_place(vecadd, abc):
    a, b, c = abc
    before = a.copy(), b.copy()
    result = add(vecadd, a, b, c)
    np.testing.assert_array_equal(c, before[0] + before[1])
    np.testing.assert_array_equal((a, b), before)
    assert (result.workgroups, result.waves, result.violations, result.violation, result.printed) == (4, 16, 0, None, "")
    assert result.wave_instructions > 16 and result.seconds > 0 and result.incomplete == ""


def test_buffer_protocol(vecadd):
    a, b = array.array("f", range(1000)), (ctypes.c_float * 1000)(*range(0, 2000, 2))
    for c in (bytearray(4000), memoryview(bytearray(4000)), array.array("f", bytes(4000))):
        add(vecadd, a, b, c)
        np.testing.assert_array_equal(np.frombuffer(c, np.float32), 3 * np.arange(1000, dtype=np.float32))


class Tensor:
    """A tensor of another library, as far as DLPack shows it."""

    def __init__(self, values, device=1):
        self.values, self.device = values, device

    def __dlpack__(self, stream=None):
        return self.values.__dlpack__()

    def __dlpack_device__(self):
        return self.device, 0


def test_dlpack(vecadd, abc):
    a, b, c = abc
    add(vecadd, Tensor(a), Tensor(b), Tensor(c), 1000)
    np.testing.assert_array_equal(c, a + b)
    with pytest.raises(wavemem.BadArgument, match="'c': the Tensor is on DLPack device 2; expected 1, memory of the CPU"):
        add(vecadd, a, b, Tensor(c, 2), 1000)
    matrix = np.zeros((1000, 2), np.float32)
    with pytest.raises(wavemem.BadArgument, match="not contiguous"):
        add(vecadd, a, b, Tensor(matrix[:, 0]), 1000)


def test_not_contiguous(vecadd, abc):
    a, b, c = abc
    wide = np.zeros(2000, np.float32)
    with pytest.raises(wavemem.BadArgument, match=r"vecadd: argument 2 'c': the array of shape \(1000,\) and strides \(8,\) "
                                                  "is not contiguous in memory"):
        vecadd(a, b, wide[::2], 1000, grid=1024, workgroup=256)
    assert not wide.any()
    # Fortran's order has no gaps: its memory is taken as it is.
    fortran = np.zeros((10, 100), np.float32, order="F")
    vecadd(a, b, fortran, 1000, grid=1024, workgroup=256)
    np.testing.assert_array_equal(fortran.ravel(order="K"), a + b)


def test_dtypes(vecadd, abc):
    a, b, c = abc
    for wrong in (np.zeros(1000), np.zeros(1000, np.int32), np.zeros(4000, np.uint8), np.zeros(1000, ">f4"),
                  np.zeros(1000, object), np.zeros(1000, "U1")):
        with pytest.raises(wavemem.BadArgument, match="'c'.*(declared as float\\*|byte order|Python objects)"):
            add(vecadd, a, b, wrong, 1000)
    with pytest.raises(wavemem.BadArgument, match="expected an array, a Buffer, an address or None, got list"):
        add(vecadd, a, b, [0.0] * 1000, 1000)
    record = np.zeros(1000, [("x", "f4")])  # structured arrays are not of float's type by name, but by intent
    add(vecadd, a, b, record, 1000)
    np.testing.assert_array_equal(record["x"], a + b)


def test_read_only_memory(vecadd, abc):
    a, b, c = abc
    add(vecadd, a.tobytes(), b, c)
    np.testing.assert_array_equal(c, a + b)
    c.flags.writeable = False
    with pytest.raises(wavemem.Fault) as fault:
        add(vecadd, a, b, c, 1000)
    assert fault.value.kind == "read_only" and fault.value.store


def test_arguments_are_read_only(machine):
    """A kernel that stores to its arguments would change those of later workgroups."""
    kernel = machine.load(assembled("""
        v_mov_b32 v1, 0
        global_store_dword v1, v1, s[0:1]
""", [("count", "int", "by_value", 4)])).kernel()
    with pytest.raises(wavemem.Fault) as fault:
        kernel(7, grid=64, workgroup=64)
    assert fault.value.kind == "read_only" and fault.value.store
    assert kernel(7, grid=64, workgroup=64, on_violation="goes_on").violations == 1


def test_overlapping_arrays(vecadd):
    """Arrays that share memory share it in the guest, too; a kernel that adds in place sees its own results."""
    whole = np.arange(1500, dtype=np.float32)
    expected = whole.copy()
    expected[:1000] += whole[500:]
    vecadd(whole[:1000], whole[500:], whole[:1000], 1000, grid=64, workgroup=64)
    assert not np.array_equal(whole, expected)  # 64 work-items only
    np.testing.assert_array_equal(whole[:64], expected[:64])
    np.testing.assert_array_equal(whole[64:], np.arange(64, 1500, dtype=np.float32))


def test_sizes_and_fault(vecadd, abc):
    a, b, c = abc
    short = np.zeros(900, np.float32)
    with pytest.raises(wavemem.Fault, match="global store outside every allocation") as caught:
        vecadd(a, b, short, 1000, grid=1024, workgroup=64)
    fault = caught.value
    assert (fault.kind, fault.workgroup, fault.wave, fault.bytes, fault.store) == ("memory", (14, 0, 0), 0, 4, True)
    assert fault.lanes == (1 << 64) - (1 << 4)  # item 900 is lane 4 of workgroup 14
    assert fault.high - fault.low == 4 * 60 - 1 and fault.pc
    assert "'c' ends at" in fault.text and fault.text == str(fault)
    assert isinstance(fault, wavemem.Error) and fault.result.waves <= 16
    # The lowest workgroups ran: memory is as they left it.
    np.testing.assert_array_equal(short[:640], (a + b)[:640])


def test_goes_on(vecadd, abc):
    a, b, c = abc
    short = np.zeros(900, np.float32)
    result = vecadd(a, b, short, 1000, grid=1024, workgroup=64, on_violation="goes_on")
    np.testing.assert_array_equal(short, (a + b)[:900])
    assert result.violations == 2 and result.violation.kind == "memory" and result.violation.workgroup == (14, 0, 0)


def test_named_and_missing(vecadd, abc):
    a, b, c = abc
    vecadd(a, c=c, n=1000, b=b, grid=1024, workgroup=256)
    np.testing.assert_array_equal(c, a + b)
    for arguments, named, message in (
            ((a, b, c), {}, "vecadd has 4 arguments .*float\\* a.*uint n.*; got 3"),
            ((a, b, c, 1, 2), {}, "got 5"),
            ((a, b, c, 1), {"n": 1}, "argument 'n' is given twice"),
            ((a, b, c, 1), {"m": 1}, "no argument or option 'm'")):
        with pytest.raises(wavemem.BadArgument, match=message):
            vecadd(*arguments, grid=64, workgroup=64, **named)


@pytest.mark.parametrize("options, message", [
    ({"grid": 0, "workgroup": (1, 2, 3, 4)}, "workgroup is .* one to three numbers"),
    ({"grid": -1, "workgroup": 1}, "grid is -1"),
    ({"grid": 1 << 32, "workgroup": 1}, "grid is"),
    ({"grid": "64", "workgroup": 1}, "grid is '64'"),
    ({"grid": 64}, "workgroup= must give one, of at most 256 work-items"),
    ({"grid": 64, "workgroup": 2048}, "work-items"),
    ({"grid": 64, "workgroup": 64, "alignment": "odd"}, "alignment is 'odd'; expected one of 'unaligned', 'dword'"),
    ({"grid": 64, "workgroup": 64, "scalar_cache": ""}, "scalar_cache is ''"),
    ({"grid": 64, "workgroup": 64, "on_violation": "explodes"}, "on_violation"),
    ({"grid": 64, "workgroup": 64, "timeout": -1.0}, "timeout"),
    ({"grid": 64, "workgroup": 64, "threads": -1}, "threads is -1"),
    ({"grid": 64, "workgroup": 64, "dynamic_lds": 1 << 40}, "dynamic_lds"),
    ({"grid": 64, "workgroup": 64, "profile": 7}, "profile is 7; expected a wavemem.Profile"),
    ({"grid": 64, "workgroup": 64, "observers": [7]}, "an observer is 7"),
    ({"grid": 64, "workgroup": 64, "print": "yes"}, "print is 'yes'"),
    ({"grid": 64, "workgroup": 64, "progress": 1}, "progress is 1"),
])
def test_bad_options(vecadd, abc, options, message):
    with pytest.raises(wavemem.BadArgument, match=message):
        vecadd(*abc, 1000, **options)
    assert not abc[2].any()


SCALARS = [("int", 4, -5, "<i"), ("uint", 4, 4_000_000_000, "<I"), ("float", 4, 1.5, "<f"), ("double", 8, 0.1, "<d"),
           ("half", 2, 1.5, "<e"), ("char", 1, -1, "<b"), ("uchar", 1, 255, "<B"), ("short", 2, -2, "<h"),
           ("ushort", 2, 65535, "<H"), ("long", 8, -(1 << 63), "<q"), ("ulong", 8, (1 << 64) - 1, "<Q"), ("", 4, -5, "<i"),
           ("", 4, 4_000_000_000, "<I"), ("", 4, 1.5, "<f"), ("", 8, 1.5, "<d"), ("", 8, -1, "<q")]


def passed(machine, type_name, size, value, count=64):
    """The bytes in which the kernel finds `value`."""
    kernel = machine.load(assembled(COPY_ARGUMENTS, [("out", "", "global_buffer", 8), ("x", type_name, "by_value", size)])).kernel()
    out = bytearray(8 + -(-size // 16) * 16 + 16)
    kernel(out, value, grid=len(out) // 4, workgroup=64)
    start = 8 + -8 % min(size, 16)
    return bytes(out[start:start + size])


@pytest.mark.parametrize("type_name, size, value, code", SCALARS)
def test_scalars(machine, type_name, size, value, code):
    assert passed(machine, type_name, size, value) == struct.pack(code, value)
    if isinstance(value, int):
        assert passed(machine, type_name, size, np.array([value], code[1])[0]) == struct.pack(code, value)


def test_vectors_and_structs(machine):
    assert passed(machine, "float4", 16, (1, 2.5, -3, 4)) == struct.pack("<4f", 1, 2.5, -3, 4)
    assert passed(machine, "int3", 16, np.array([1, 2, -3])) == struct.pack("<4i", 1, 2, -3, 0)
    pair = np.array((7, 0.25), [("i", "i4"), ("x", "f8")])
    assert passed(machine, "struct pair", 12, pair) == pair.tobytes()
    assert passed(machine, "struct pair", 12, bytes(range(12))) == bytes(range(12))


@pytest.mark.parametrize("type_name, size, value", [
    ("int", 4, 1 << 31), ("int", 4, -(1 << 31) - 1), ("uint", 4, -1), ("uchar", 1, 256), ("int", 4, 1.0), ("int", 4, "1"),
    ("float", 4, 1e39), ("float", 4, None), ("half", 2, 65536.0), ("float4", 16, (1, 2, 3)), ("float4", 16, 1.0), ("", 4, 1 << 32),
    ("", 4, b"abc"), ("", 1, 0.5), ("struct s", 12, bytes(11)), ("struct s", 12, 5), ("int", 4, np.zeros(1, np.int32)),
    ("float", 4, 1j)])
def test_bad_scalars(machine, type_name, size, value):
    with pytest.raises(wavemem.BadArgument, match="test: argument 1 'x'"):
        passed(machine, type_name, size, value)


def test_pointers(machine):
    kernel = machine.load(assembled(COPY_ARGUMENTS, [("out", "", "global_buffer", 8), ("p", "float*", "global_buffer", 8),
                                                     ("q", "", "global_buffer", 8), ("image", "", "image", 8)])).kernel()
    with machine.allocate(64, name="out") as out, machine.allocate(16) as other:
        kernel(out, other, None, other.address + 4, grid=8, workgroup=8)
        assert struct.unpack("<4Q", out.read(32)) == (out.address, other.address, 0, other.address + 4)
        kernel(out, np.zeros(0, np.float32), 1 << 63, None, grid=8, workgroup=8)
        assert struct.unpack("<4Q", out.read(32)) == (out.address, 0, 1 << 63, 0)
        with pytest.raises(wavemem.BadArgument, match="'image' is image; expected a wavemem.Image, a Buffer"):
            kernel(out, None, None, np.zeros(8, np.uint32), grid=8, workgroup=8)
        with wavemem.Machine("gfx900") as another, another.allocate(16, name="far") as far:
            with pytest.raises(wavemem.BadArgument, match="'far' belongs to another machine"):
                kernel(out, far, None, None, grid=8, workgroup=8)


def test_local(machine):
    """Local arguments follow static LDS, each aligned as what it points to."""
    kernel = machine.load(assembled(COPY_ARGUMENTS, [("out", "", "global_buffer", 8), ("a", "", "dynamic_shared_pointer", 4),
                                                     ("b", "", "dynamic_shared_pointer", 4)], lds=20)).kernel()
    out = bytearray(16)
    kernel(out, wavemem.Local(100), wavemem.Local(4), grid=4, workgroup=4)
    assert struct.unpack("<2I", out[8:]) == (32, 144)
    with pytest.raises(wavemem.BadArgument, match="expected wavemem.Local"):
        kernel(out, 100, wavemem.Local(4), grid=4, workgroup=4)
    with pytest.raises(wavemem.BadArgument, match="LDS"):
        kernel(out, wavemem.Local(65536), wavemem.Local(4), grid=4, workgroup=4)


def test_limits_of_a_dispatch(machine):
    kernel = machine.load(assembled(FOREVER)).kernel()
    with pytest.raises(wavemem.Fault) as fault:
        kernel(grid=64, workgroup=64, max_instructions=1000)
    assert fault.value.kind == "budget"
    with pytest.raises(wavemem.Fault) as fault:
        kernel(grid=64, workgroup=64, timeout=0.05)
    assert fault.value.kind == "timeout"


def test_progress(machine):
    kernel = machine.load(assembled(FOREVER)).kernel()
    buffer = machine.allocate(4)
    calls = []

    def progress(done, count):
        buffer.write(struct.pack("<I", len(calls)))
        machine.allocate(8).free()
        calls.append((done, count))
        return len(calls) < 3

    with pytest.raises(wavemem.Fault) as fault:
        kernel(grid=64, workgroup=64, progress=progress)
    assert fault.value.kind == "stopped" and calls == [(0, 1)] * 3
    assert buffer.read() == struct.pack("<I", 2)

    def fails(done, count):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        kernel(grid=64, workgroup=64, progress=fails)

    def closes(done, count):
        machine.close()

    with pytest.raises(wavemem.BadArgument, match="a dispatch is running on the machine"):
        kernel(grid=64, workgroup=64, progress=closes)
    assert buffer.read() == struct.pack("<I", 2)


def test_examples_against_numpy(machine):
    random = np.random.default_rng(1)
    n = 64
    source = random.random((n, n), np.float32)
    program = machine.load(EXAMPLES / "transpose.co")
    for name in ("transpose_naive", "transpose_lds", "transpose_unpadded"):
        target = np.zeros_like(source)
        program[name](source, target, n, grid=(n, n), workgroup=(16, 16))
        np.testing.assert_array_equal(target, source.T)
    words = random.integers(0, 256, 4096, np.uint8).view(np.uint32)
    bins = np.zeros(256, np.uint32)
    machine.load(EXAMPLES / "histogram.co").kernel()(words, bins, words.nbytes, grid=1024)
    np.testing.assert_array_equal(bins, np.bincount(words.view(np.uint8), minlength=256))


def test_find_kernel(machine):
    program = machine.load(EXAMPLES / "transpose.co")
    assert [kernel.name for kernel in program.kernels] == ["transpose_naive", "transpose_lds", "transpose_unpadded"]
    with pytest.raises(wavemem.NotFound, match="nothing.*transpose_naive"):
        program["nothing"]
    with pytest.raises(wavemem.Error, match="transpose_naive"):
        program.kernel()
    assert program["transpose_lds"].info.required_workgroup == (16, 16, 1)
    assert "s_load" in program["transpose_lds"].steps() and program["transpose_lds"].dependence().kind == "independent"


def test_hip_template(machine):
    """A struct by value and dynamic LDS, in a compressed bundle; HIP's metadata has no names of types."""
    kernel = machine.load(ROOT / "examples" / "hip" / "convolve.packed.hipfb").kernel("filter::convolve<float, 3>")
    source, weights = np.random.default_rng(1).random(1000, np.float32), np.arange(1, 8, dtype=np.float32)
    target = np.zeros_like(source)
    kernel(target, source, 1000, weights, grid=1024, workgroup=64, dynamic_lds=(64 + 6) * 4)
    np.testing.assert_allclose(target, np.convolve(source.astype(float), weights[::-1], "same"), rtol=1e-5)
    with pytest.raises(wavemem.BadArgument, match="28 bytes by value"):
        kernel(target, source, 1000, weights.astype(float), grid=1024, workgroup=64, dynamic_lds=280)


def test_printf(machine, tmp_path):
    """What kernels print is in the result, or goes to a function, whose exceptions reach the caller."""
    source = tmp_path / "hello.cl"
    source.write_text('kernel void hello(int n) { printf("item %u of %d: caf\\xc3\\xa9\\n", (unsigned)get_global_id(0), n); }\n')
    done = subprocess.run([sys.executable, str(ROOT / "tests" / "kernel" / "compile.py"), "--two-steps", "-O", "1", "-t", "gfx900",
                           str(tmp_path), str(source), "--", "true"], stdout=subprocess.PIPE, check=False)
    if done.returncode == 77:
        pytest.skip(done.stdout.decode())
    kernel = machine.load(tmp_path / "hello-gfx900-O1.co").kernel()
    expected = [f"item {i} of 70: café\n" for i in range(70)]
    assert kernel(70, grid=70, workgroup=70).printed == "".join(expected)
    pieces = []
    assert kernel(70, grid=70, workgroup=70, print=pieces.append).printed == "" and "".join(pieces) == "".join(expected)
    with pytest.raises(ZeroDivisionError):
        kernel(70, grid=70, workgroup=70, print=lambda piece: 1 / 0)


def test_clusters(machine):
    """ttmp6 has the workgroup's place in its cluster (CDNA 5 ISA, "SGPR Initialization"), ttmp9 the cluster's number."""
    with wavemem.Machine("gfx1250") as other:
        kernel = other.load(assembled("""
        s_load_b64 s[4:5], s[0:1], 0x0
        s_and_b32 s6, ttmp6, 15
        s_lshl_b32 s7, ttmp9, 2
        s_add_co_i32 s7, s7, s6
        v_mov_b32 v1, s6
        v_mov_b32 v2, s7
        v_lshlrev_b32 v2, 2, v2
        s_wait_kmcnt 0x0
        global_store_b32 v2, v1, s[4:5]
""", [("out", "", "global_buffer", 8)], "gfx1250")).kernel()
        assert kernel.info.required_cluster == (0, 0, 0)
        out = np.zeros(8, np.uint32)
        kernel(out, grid=256, workgroup=32, cluster=4)
        np.testing.assert_array_equal(out, [0, 1, 2, 3] * 2)
        with other.queue() as queue:
            buffer = other.allocate(32)
            queue.submit(kernel, buffer, grid=256, workgroup=32, cluster=(4, 1, 1)).wait()
            np.testing.assert_array_equal(buffer.array(np.uint32), [0, 1, 2, 3] * 2)
        with pytest.raises(wavemem.BadArgument):
            kernel(out, grid=96, workgroup=32, cluster=4)
    with pytest.raises(wavemem.BadArgument):
        machine.load(assembled("s_nop 0\n")).kernel()(grid=64, workgroup=64, cluster=2)


def test_cooperative(machine):
    kernel = machine.load(assembled("s_barrier\n")).kernel()
    with pytest.raises(wavemem.BadArgument, match="a cooperative dispatch of 100000 workgroups; AMD Radeon RX Vega 64"):
        kernel(grid=6400000, workgroup=64, cooperative=True)
    with pytest.raises(wavemem.BadArgument, match="the code object is for gfx900"):
        kernel(grid=64, workgroup=64, cooperative=True, gpu="mi300x")
    with pytest.raises(wavemem.NotFound):
        kernel(grid=64, workgroup=64, cooperative=True, gpu="none")
    assert kernel(grid=640, workgroup=64, cooperative=True, gpu="vega64").workgroups == 10
    machine.reset_gws()
