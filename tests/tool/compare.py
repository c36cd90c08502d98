# SPDX-License-Identifier: MIT
"""--expect: tolerances, reports, types and sizes.

usage: compare.py WAVEMEM FOLDER_OF_CODE_OBJECTS [TEST...]
"""
import math

import command
from command import Case, TYPES, npy, pack


class Compare(Case):
    def check(self, x, reference, tolerance="", code=0, x_type="f32", reference_type="f32"):
        self.path("x.npy", npy(TYPES[x_type][1], f"({len(x)},)", pack(x_type, x)))
        self.path("ref.npy",
                  npy(TYPES[reference_type][1], f"({len(reference)},)", pack(reference_type, reference)))
        return self.run_tool(self.vecadd("--buffer", "x=@x.npy", "--expect", f"x=@ref.npy{tolerance}"),
                             code=code)

    def test_tolerance(self):
        inf, nan = math.inf, math.nan
        self.check([1, 2], [1, 2])
        self.check([1.001], [1], ":0.002")
        self.check([1.003], [1], ":0.002", code=1)
        self.check([1.003], [1], ":0,0.0031")
        self.check([1.003], [1], ":0,0.0029", code=1)
        self.check([1.005], [1], ":0.002,0.0031")
        self.check([-1.001], [-1], ":0.002")
        self.check([nan], [nan], ":0")
        self.check([nan], [1], ":1", code=1)
        self.check([1], [nan], ":1", code=1)
        self.check([inf, -inf], [inf, -inf], ":0")
        self.check([inf], [-inf], ":1", code=1)
        self.check([1], [inf], ":1", code=1)
        self.check([-0.0], [0.0], ":0")
        self.check([-0.0], [0.0], code=1)
        self.check([1.5], [1.5], ":0", reference_type="f64")
        self.check([2**63], [2**63], ":0", x_type="u64", reference_type="u64")
        self.check([2**63 + 1], [2**63], ":0", code=1, x_type="u64", reference_type="u64")

    def test_report(self):
        out, _ = self.check([0, 1, 2.5, 3], [0, 1, 2, 4], ":0,0.25", code=1)
        self.assertIn("expect x: 2 of 4 elements differ from ref.npy", out)
        self.assertIn("the largest error is at [3]", out)
        self.assertRegex(out, r"\[2\]  2\.5 +expected 2, off by 0\.5")
        out, _ = self.check(list(range(20)), [100] * 20, code=1)
        self.assertIn("... and 12 more", out)

    def test_types_and_sizes(self):
        self.path("x.npy", npy("<f4", "(2,)", pack("f32", [1, 2])))
        self.path("d.npy", npy("<f8", "(2,)", pack("f64", [1, 2])))
        self.path("three.bin", b"123456789012")
        words = self.vecadd("--buffer", "x=@x.npy", "--expect")
        self.refused("d.npy holds f64, the buffer f32; without a tolerance", words + ["x=@d.npy"])
        self.refused("three.bin has 3 f32 elements; expected 2", words + ["x=@three.bin"])
        self.refused("missing.npy: cannot be read", words + ["x=@missing.npy:0"])
        self.refused(f"{self.folder.name}: a folder; expected a file", words + [f"x=@{self.folder.name}:0"])
        self.refused("argument 'n' of vecadd is no buffer", words + ["n=@x.npy"])
        self.refused("has no argument 'q', and there is no such --buffer; it takes: 0 a (", words + ["q=@x.npy"])
        self.refused("--out x: /no/such/folder/x.npy: cannot be written",
                     self.vecadd("--buffer", "x=@x.npy", "--out", "x=/no/such/folder/x.npy"))


if __name__ == "__main__":
    command.main()
