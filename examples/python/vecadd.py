# SPDX-License-Identifier: MIT
"""Adds two NumPy arrays with a GPU kernel and shows what its memory instructions cost."""
from pathlib import Path

import numpy as np

import wavemem

with wavemem.Machine("gfx900") as machine:
    vecadd = machine.load(Path(__file__).parents[1] / "gfx900" / "vecadd.co").kernel()
    a, b, c = np.arange(1000, dtype=np.float32), np.ones(1000, np.float32), np.zeros(1000, np.float32)
    profile = wavemem.Profile()
    vecadd(a, b, c, 1000, grid=1024, workgroup=256, profile=profile)
    assert (c == a + b).all()
    print(profile)
