# SPDX-License-Identifier: MIT
"""HIP kernels compiled by clang 19 and 22, unoptimized and optimized, on each generation, against NumPy."""
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import wavemem

SOURCE = Path(__file__).with_name("kernels.hip")
# clang's code for gfx803 at -O0 takes its hidden arguments from a register that a call has changed.
TARGETS = ["gfx900", "gfx906", "gfx908", "gfx90a", "gfx942", "gfx1010", "gfx1030", "gfx1100", "gfx1150", "gfx1200"]
CASES = [("gfx803", version, 3) for version in (19, 22)]
CASES += [(target, version, level) for target in TARGETS for version, level in ((19, 3), (22, 0), (22, 3))]
ITEMS = 1024


@pytest.fixture(params=CASES, ids=lambda case: f"{case[0]}-clang-{case[1]}-O{case[2]}")
def kernels(request, tmp_path):
    target, version, level = request.param
    clang = shutil.which(f"clang-{version}")
    if not clang:
        pytest.skip(f"no clang-{version}")
    output = tmp_path / "kernels.co"
    subprocess.run([clang, "-x", "hip", f"--offload-arch={target}", "--cuda-device-only", "-nogpuinc", "-nogpulib",
                    "--no-gpu-bundle-output", "-ffp-contract=off", f"-O{level}", "-o", output, SOURCE], check=True)
    with wavemem.Machine(target) as machine:
        yield machine.load(output)


def values(seed, kind, low, high):
    random = np.random.default_rng(seed)
    return random.integers(low, high, ITEMS).astype(kind) if np.dtype(kind).kind in "iu" else random.uniform(low, high, ITEMS).astype(kind)


def run(kernel, *arguments, **options):
    result = kernel(*arguments, **{"grid": ITEMS, "workgroup": 256, **options})
    assert result.violations == 0 and not result.incomplete


def test_kernels(kernels):
    x, y = values(1, np.float32, -9, 9), values(2, np.float32, -9, 9)
    out = y.copy()
    run(kernels.kernel("saxpy"), np.float32(1.5), x, out, np.uint32(1000))
    expected = np.float32(1.5) * x + y
    np.testing.assert_array_equal(out, np.where(np.arange(ITEMS) < 1000, expected, y))

    numbers, sums = values(3, np.int32, -1000, 1000), np.zeros(4, np.int32)
    run(kernels.kernel("sums"), numbers, sums, dynamic_lds=1024)
    np.testing.assert_array_equal(sums, 3 * numbers.reshape(4, 256).sum(1))

    words, bins, total = values(4, np.uint32, 0, 1 << 31), np.zeros(16, np.uint32), np.zeros(1, np.float32)
    run(kernels.kernel("histogram"), words, bins, total)
    np.testing.assert_array_equal(bins, np.bincount(words % 16, minlength=16))
    assert total == ITEMS / 2

    a, b = values(5, np.float16, -8, 8), values(6, np.float16, -8, 8)
    halves, wide, integers = np.zeros(ITEMS, np.float16), np.zeros(ITEMS, np.float32), np.zeros(ITEMS, np.int16)
    run(kernels.kernel("halves"), a, b, halves, wide, integers)
    z = a * b + np.float16(1)
    z = np.where(a < b, -z, z)
    np.testing.assert_array_equal(halves, np.where(z > 2, z / b, z - a))
    np.testing.assert_array_equal(wide, a.astype(np.float32) * b.astype(np.float32))
    np.testing.assert_array_equal(integers, a.astype(np.int16) << 3 ^ b.astype(np.int16))

    pair = np.zeros(1, np.dtype([("first", np.int32), ("second", np.float64), ("third", np.int16, 3)], align=True))
    pair["first"], pair["second"], pair["third"] = -7, 1.25, [3, -5, 11]
    doubles, at = np.zeros(ITEMS), np.arange(ITEMS)
    run(kernels.kernel("by_value"), pair.tobytes(), doubles, np.int64(-(1 << 40)))
    np.testing.assert_array_equal(doubles, 1.25 * 1.25 * at - 7 + np.array([3, -5, 11])[at % 3] * -float(1 << 40))

    places = np.zeros((4, 6, 20), np.uint32)
    run(kernels.kernel("places"), places, np.uint32(20), np.uint32(6), grid=(20, 6, 4), workgroup=(10, 3, 2))
    z, y, x = np.indices(places.shape, dtype=np.uint32)
    np.testing.assert_array_equal(places, x | y << 8 | z << 16 | x % 10 << 24)

    collatz = np.zeros(ITEMS, np.uint32)
    run(kernels.kernel("collatz"), words, collatz)
    np.testing.assert_array_equal(collatz, [collatz_code(word % 1000 + 1) for word in words.tolist()])

    lanes = np.zeros(ITEMS, np.int32)
    run(kernels.kernel("lanes"), numbers, lanes)
    wave = 64 if len(kernels.module.target) < 7 else 32
    odd = (numbers & 1).reshape(-1, wave)
    before = np.cumsum(odd, 1) - odd
    np.testing.assert_array_equal(lanes, numbers.reshape(-1, 2)[:, ::-1].reshape(-1) * 64 + before.reshape(-1))


def collatz_code(n):
    counts = [0] * 4
    while n != 1:
        counts[n % 4] += 1
        n = 3 * n + 1 if n % 2 else n // 2
    return (counts[0] + counts[1] * 3 ^ counts[2] << 8) + counts[3] * 7
