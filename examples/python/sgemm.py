# SPDX-License-Identifier: MIT
"""Tests a matrix product from a code object against NumPy, in sizes that do not fill the last tile: pytest sgemm.py"""
from pathlib import Path

import numpy as np
import pytest

import wavemem

OBJECT = Path(__file__).parents[1] / "gfx900" / "sgemm.co"
TILE, GROUP = 64, 16  # a workgroup of 16 x 16 makes a tile of 64 x 64


def tiles(m, n):
    """The grid that covers a matrix of m x n."""
    return -(-n // TILE) * GROUP, -(-m // TILE) * GROUP


@pytest.fixture(scope="module")
def sgemm():
    with wavemem.Machine("gfx900") as machine:
        yield machine.load(OBJECT).kernel()


@pytest.mark.parametrize("m, n, k", [(16, 16, 16), (64, 64, 64), (33, 65, 17), (1, 100, 3)])
def test_product(sgemm, m, n, k):
    random = np.random.default_rng(m)
    a, b, c = (random.random(shape, np.float32) for shape in ((m, k), (k, n), (m, n)))
    expected = 2 * (a.astype(float) @ b) + 0.5 * c
    check = wavemem.Check()
    sgemm(m, n, k, 2.0, a, b, 0.5, c, grid=tiles(m, n), check=check)
    np.testing.assert_allclose(c, expected, rtol=1e-5)
    assert len(check.findings()) == 0  # no missing waits, no hazards


def test_out_of_bounds(sgemm):
    """A row that is too short is a fault, and the message names the argument."""
    a, b, c = (np.zeros((16, 16), np.float32) for _ in range(3))
    with pytest.raises(wavemem.Fault, match="'c' ends at"):
        sgemm(16, 16, 16, 1.0, a, b, 0.0, c[:15], grid=tiles(16, 16))
