# SPDX-License-Identifier: MIT
""".npy files and the elements of buffers, against the documented format and NumPy.

usage: npy.py WAVEMEM FOLDER_OF_CODE_OBJECTS [TEST...]
"""
import math
import struct
import subprocess

import command
from command import Case, TYPES, npy, pack, random_elements


class Npy(Case):
    def copies(self, content, name="in.npy"):
        """Reads a .npy file into memory and writes it out again."""
        self.path(name, content)
        self.run_tool(self.vecadd("--buffer", f"x=@{name}", "--out", "x=out.npy", "--out", "x=out.bin"))
        return self.read("out.npy"), self.read("out.bin")

    def test_round_trip(self):
        for name, (letter, descr) in TYPES.items():
            data = pack(name, [0, 1, 2, 3, 4, 5])
            for version in (1, 2, 3):
                out, raw = self.copies(npy(descr, "(2, 3)", data, version))
                self.assertEqual(raw, data)
                self.assertEqual(out, npy(descr, "(2, 3)", data))
            self.assertEqual(self.copies(npy(descr, "(6,)", data, fortran=True))[0], npy(descr, "(6,)", data))
            self.assertEqual(self.copies(npy(descr, "()", data[:struct.calcsize(letter)]))[0],
                             npy(descr, "()", data[:struct.calcsize(letter)]))

    def test_numpy_agrees(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("NumPy is not installed")
        for name, (_, descr) in TYPES.items():
            array = numpy.arange(24).astype(descr).reshape(2, 3, 4)
            numpy.save(self.path("in.npy"), array)
            self.copies(self.read("in.npy"))
            self.assertEqual(self.read("out.npy"), self.read("in.npy"))
            self.run_tool(self.vecadd("--buffer", f"x=rand:{name}:9:5", "--out", "x=out.npy"))
            back = numpy.load(self.path("out.npy"))
            self.assertEqual((back.dtype, back.tolist()), (numpy.dtype(descr), random_elements(name, 9, 5)))

    def test_refused(self):
        data = pack("f32", [1, 2, 3, 4])
        for content, why in ((npy(">f4", "(4,)", data), "big-endian"),
                             (npy("<f4", "(2, 2)", data, fortran=True), "Fortran"),
                             (npy("<c8", "(2,)", data), "element type '<c8'"),
                             (npy("|O", "(2,)", data), "element type"),
                             (npy("<f4", "(5,)", data), "needs 5 elements"),
                             (npy("<f4", "(3,)", data), "needs 3 elements"),
                             (npy("<f4", "(4,", data), "malformed"),
                             (npy("<f4", "(0,)", b""), "holds no elements"),
                             (npy("<f4", "(99999999999, 99999999999)", data), "malformed 'shape'"),
                             (npy("<f4", "(-4,)", data), "malformed"),
                             (b"PK\x03\x04" + data * 4, "not a .npy file"),
                             (npy("<f4", "(4,)", data, version=4), "version 4.0"),
                             (b"\x93NUMPY\x01\x00", "not a .npy"),
                             (npy("<f4', 'x': '", "(4,)", data), "unknown key 'x'"),
                             (b"\x93NUMPY\x01\x00\x02\x00{}" + data, "lacks 'descr'"),
                             (b"\x93NUMPY\x02\x00\xff\xff\xff\xff" + data, "claims 4294967295 bytes")):
            self.path("bad.npy", content)
            self.refused(why, self.vecadd("--buffer", "x=@bad.npy"))

    def test_corrupt(self):
        """No truncation and no flipped bit in the header may crash."""
        good = npy("<f4", "(2, 3)", pack("f32", [0] * 6))
        cases = [good[:size] for size in range(0, len(good), 3)]
        for place in range(0, 70):
            flipped = bytearray(good)
            flipped[place] ^= 1 << place % 8
            cases.append(bytes(flipped))
        for content in cases:
            self.path("bad.npy", content)
            done = subprocess.run([command.WAVEMEM] + self.vecadd("--buffer", "x=@bad.npy"), capture_output=True,
                                  cwd=self.folder.name)
            self.assertIn(done.returncode, (0, 2), content)

    def test_random_numbers(self):
        for name in TYPES:
            for seed in (0, 7, 2**64 - 1):
                self.run_tool(self.vecadd("--buffer", f"x=rand:{name}:33:{seed}", "--out", "x=out.bin"))
                self.assertEqual(self.read("out.bin"), pack(name, random_elements(name, 33, seed)), name)

    def test_half(self):
        """Numbers converted to binary16: ties, denormals, the largest one and beyond."""
        for text in ("1.5", "65504", "65519.99", "-65504", "6.1035e-05", "5.9604645e-08", "2.98023224e-08",
                     "2.9e-08",
                     "1.00048828125", "1.00146484375", "0.1", "-0", "1e-4", "nan", "0x1p-15"):
            value = float.fromhex(text) if "0x" in text else float(text)
            self.run_tool(self.vecadd("--buffer", f"x=fill:f16:1:{text}", "--out", "x=out.bin"))
            if math.isnan(value):
                self.assertTrue(math.isnan(struct.unpack("<e", self.read("out.bin"))[0]))
            else:
                self.assertEqual(self.read("out.bin"), struct.pack("<e", value), text)
        for text in ("65520", "inf", "1e9"):
            self.run_tool(self.vecadd("--buffer", f"x=fill:f16:1:{text}", "--out", "x=out.bin"))
            self.assertEqual(self.read("out.bin"), b"\x00\x7c")


if __name__ == "__main__":
    command.main()
