# SPDX-License-Identifier: MIT
"""wavemem tile, untile and explain image, against equations evaluated here, and tiled image arguments.

usage: cmd_tile.py WAVEMEM FOLDER_OF_CODE_OBJECTS [TEST...]
"""
import json
import os
import random
import re
import struct
import xml.dom.minidom

import command
from command import Case, npy

EQUATIONS = os.path.join(os.path.dirname(__file__), "../../src/memory/tiling/equations")


def equation(mode, dimensions, element, samples, product):
    """The block and the terms of a row of the project's table, which tests/unit/memory/tiling.c compares with AMD's addrlib."""
    name = of = None
    with open(EQUATIONS, encoding="utf-8") as file:
        for line in file:
            words = line.split()
            if words[:1] == ["mode"]:
                name, of = words[2], words[3].split(",")
            elif name == mode and dimensions in of and words[:2] == [str(element), str(samples)] and product in words[4].split(","):
                return [int(n) for n in words[2].split("x")], [re.findall(r"([xyzs])(\d+)", term) for term in words[5:]]
    raise AssertionError(f"no {mode} of {product}")


def value(terms, **at):
    return sum((sum(at[c] >> int(bit) for c, bit in term) & 1) << i for i, term in enumerate(terms))


class Tile(Case):
    SIZE = (300, 150)

    def tiled(self, data, element, mode, dimensions, product):
        """One level: rows of blocks."""
        width, height = self.SIZE
        (bw, bh, _), terms = equation(mode, dimensions, element, 1, product)
        bits, across = len(terms), -(-width // bw)
        out = bytearray(across * -(-height // bh) << bits)
        for y in range(height):
            for x in range(width):
                at = ((y // bh * across + x // bw) << bits) + value(terms, x=x, y=y, z=0, s=0)
                source = (y * width + x) * element
                out[at:at + element] = data[source:source + element]
        return bytes(out)

    def test_one_level(self):
        for target, words, mode, dimensions, product, element in (
                ("gfx1100", ["--gpu", "rx7900xtx"], "64KB_R_X", "2D", "gfx11:p5k5", 4),
                ("gfx1030", [], "64KB_R_X", "2D", "gfx103:p4k4", 8), ("gfx900", [], "64KB_S_X", "2D", "gfx9:p4b4", 2),
                ("gfx1200", [], "256KB_2D", "2D", "gfx12", 16)):
            data = random.Random(element).randbytes(self.SIZE[0] * self.SIZE[1] * element)
            self.path("in.raw", data)
            same = ["-m", target, *words, "--mode", mode, "--size", "{},{}".format(*self.SIZE), "--bytes", str(element)]
            self.run_tool(["tile", *same, "in.raw", "tiled.raw"])
            expected = self.tiled(data, element, mode, dimensions, product)
            self.assertEqual(self.read("tiled.raw"), expected, target)
            self.run_tool(["untile", *same, "tiled.raw", "back.raw"])
            self.assertEqual(self.read("back.raw"), data)

    def test_npy(self):
        data = random.Random(1).randbytes(4 * 40 * 30)
        self.path("in.npy", npy("<f4", (30, 40), data))
        self.run_tool("tile -m gfx1030 --mode 64KB_R_X --size 40,30 in.npy tiled.raw")
        self.assertEqual(len(self.read("tiled.raw")), 65536)
        self.run_tool("untile -m gfx1030 --mode 64KB_R_X --size 40,30 --bytes 4 --type f32 tiled.raw back.npy")
        back = self.read("back.npy")
        self.assertIn(b"'descr': '<f4', 'fortran_order': False, 'shape': (1, 30, 40)", back)
        self.assertTrue(back.endswith(data))
        self.run_tool("untile -m gfx1030 --mode 64KB_R_X --size 40,30 --bytes 4 tiled.raw back.npy")
        self.assertIn(b"'<u4'", self.read("back.npy"))
        _, err = self.run_tool("tile -m gfx1100 --mode 4KB_S_X --size 40,30 in.npy tiled.raw", code=2)
        self.assertIn("an image tiled in a mode that this product does not have for such elements", err)  # 3D only

    def test_levels_samples_and_volumes(self):
        """There and back; where texels are is tested in tests/unit/memory/tiling.c."""
        sizes = [(33 >> i or 1) * (20 >> i or 1) * (6 >> i or 1) for i in range(6)]
        for words, size in (("-m gfx1100 --mode 64KB_S_X --dimensions 3 --levels 6 --size 33,20,6 --bytes 8", 8 * sum(sizes)),
                            ("-m gfx900 --mode 64KB_Z_X --samples 4 --size 33,20,6 --bytes 4", 4 * 4 * 33 * 20 * 6),
                            ("-m gfx803 --mode 14 --size 33,20,6 --bytes 4", 4 * 33 * 20 * 6),
                            ("-m gfx1030 --mode 64KB_R_X --compressed --size 33,20 --bytes 16", 16 * 9 * 5),
                            ("-m gfx1200 --mode linear --levels 3 --size 33,20 --bytes 1", 33 * 20 + 16 * 10 + 8 * 5)):
            data = random.Random(size).randbytes(size)
            self.path("in.raw", data)
            self.run_tool(f"tile {words} in.raw tiled.raw")
            self.run_tool(f"untile {words} tiled.raw back.raw")
            self.assertEqual(self.read("back.raw"), data, words)

    def test_refused(self):
        self.path("in.raw", bytes(64))
        self.path("bad.npy", b"\x93NUMPY")
        good = {"-m": "gfx1100", "--mode": "64KB_R_X", "--size": "4,4", "--bytes": "4"}
        for change, why in (({"-m": None}, "a target is needed"), ({"--mode": None}, "a swizzle mode is needed"),
                            ({"--size": None}, "the size of the image is needed"), ({"--bytes": None}, "the bytes of an element"),
                            ({"-m": "gfx9999"}, "not a target"), ({"-m": "gfx942"}, "has no images"),
                            ({"--mode": "64KB_Q"}, "no swizzle mode '64KB_Q'; this product has linear, 256B_D, 4KB_S"),
                            ({"--mode": "64KB_S"}, "does not have for such elements"), ({"--size": "0,4"}, "--size 0,4"),
                            ({"--size": "4,4,4,4"}, "--size 4,4,4,4"), ({"--size": "99999999,4"}, "the width of the surface"),
                            ({"--bytes": "12"}, "elements of 12 bytes"), ({"--bytes": "0"}, "--bytes 0"), ({"--levels": "18"}, "levels"),
                            ({"--samples": "3"}, "no such number"), ({"--gpu": "rx6800"}, "the image is of gfx1100"),
                            ({"--gpu": "rx9999"}, "no product"), ({"--type": "f32"}, "--type f32 is for untile"),
                            ({"--size": "5,4"}, "in.raw: 64 bytes of packed elements; the surface has 80")):
            words = {**good, **change}
            _, err = self.run_tool(["tile", *(w for k, v in words.items() if v is not None for w in (k, v)), "in.raw", "out.raw"], code=2)
            self.assertIn(why, err)
            self.assertFalse(os.path.exists(self.path("out.raw")))
        same = "-m gfx1100 --mode 64KB_R_X --size 4,4 --bytes 4"
        for words, why in ((f"tile {same} in.raw", "two files are needed"), (f"tile {same} a b c", "there are two files already"),
                           (f"tile {same} missing.raw out.raw", "missing.raw"), (f"tile {same} bad.npy out.raw", "bad.npy"),
                           (f"untile {same} in.raw out.raw", "64 bytes for a surface; it has 65536"),
                           (f"untile {same} --type q9 in.raw out.raw", "--type q9: expected"),
                           ("tile -m gfx1151 --mode 64KB_R_X --size 4,4 --bytes 4 in.raw out.raw", "no swizzle mode"),
                           ("tile -m gfx600 --mode 18 --size 4,4 --bytes 4 in.raw out.raw", "thick tiles")):
            self.assertIn(why, self.run_tool(words, code=2)[1])

    WORDS = "0x1000 0xc2a00000 0x010dc1df 0x91b00fac"  # 1920 x 1080, 8_8_8_8, 64KB_R_X

    def test_explain(self):
        (bw, bh, _), terms = equation("64KB_R_X", "2D", 4, 1, "gfx11:p5k5")
        for x, y in (0, 0), (5, 7), (1919, 1079), (200, 300):
            out, _ = self.run_tool(f"explain image -m gfx1100 --gpu rx7900xtx {self.WORDS} --at {x},{y} --json")
            answer = json.loads(out)
            within = value(terms, x=x, y=y, z=0, s=0)
            block = (y // bh * 15 + x // bw) << 16
            self.assertEqual(int(answer["address"], 16), 0x100000 + block + within)
            self.assertEqual(int(answer["steps"]["within"], 16), within)
            self.assertEqual([b["value"] for b in answer["steps"]["bits"]], [within >> i & 1 for i in range(16)])
            self.assertEqual((answer["mode"], answer["product"]), ("64KB_R_X", "gfx11:p5k5"))
            text, _ = self.run_tool(f"explain image -m gfx1100 {self.WORDS} --at {x},{y}")
            self.assertIn(f"offset {block + within:#x}, address {0x100000 + block + within:#x}", text)

    def test_draw(self):
        self.run_tool(f"explain image -m gfx1100 {self.WORDS} --at 130,5 --draw block.svg")
        with open(self.path("block.svg"), encoding="utf-8") as file:
            picture = xml.dom.minidom.parse(file)
        titles = [t.firstChild.data for t in picture.getElementsByTagName("title")]
        self.assertEqual(len(titles), 128 * 128)
        _, terms = equation("64KB_R_X", "2D", 4, 1, "gfx11:p5k5")
        for x, y in (128, 0), (130, 5), (255, 127):
            self.assertIn(f"({x}, {y}): {0x10000 + value(terms, x=x, y=y, z=0, s=0):#x}", set(titles))

    def test_explain_refused(self):
        for words, why in (("-m gfx1100", "words of the T# are needed"), (self.WORDS, "a target is needed"),
                           (f"-m gfx1100 {self.WORDS} --at 1920,0", "x is 1920; level 0 has 1920 elements in a row"),
                           (f"-m gfx1100 {self.WORDS} --at 1,2,3,4,5,6", "expected X,Y,Z,MIP,SAMPLE"),
                           (f"-m gfx1100 {self.WORDS} --at x", "expected X,Y,Z,MIP,SAMPLE"),
                           (f"-m gfx1100 {self.WORDS} --at ,", "expected X,Y,Z,MIP,SAMPLE"),
                           ("-m gfx1100 0 0 0 0", "TYPE is 0"), ("-m gfx1100 0x1ffffffff", "expected a word of 32 bits"),
                           ("-m gfx942 " + self.WORDS, "has no images"), ("-m gfx1151 " + self.WORDS, "does not know"),
                           ("-m gfx1100 1 2 3 4 5 6 7 8 9", "a T# has 8 words")):
            self.assertIn(why, self.run_tool("explain image " + words, code=2)[1])

    def test_arguments(self):
        """A kernel gives the same for tiled images as for linear ones, whose results tests/tool/images.py compares."""
        data = bytes(i * i % 251 for i in range(4 * 70 * 40))
        self.path("in.bin", data)

        def rotated(mode, *words):
            self.run_tool(["run"] + self.example("rotate") + ["-g", "80,48", "-b", "16,16", "--arg", f"in=image2d:unorm8x4:70,40{mode}:@in.bin",
                           "--arg", f"turned=image2d:f32x4:70,40{mode}", "--arg", "s=sampler:linear,border,normalized", "--arg", "sine=0.5",
                           "--arg", "cosine=0.8125", "--out", "turned=turned.bin", "--out", "in=same.bin", *words])
            self.assertEqual(self.read("same.bin"), data)
            return self.read("turned.bin")
        linear = rotated("")
        self.assertGreater(len(set(struct.unpack(f"<{len(linear) // 4}f", linear))), 1000)
        for mode in ":mode=64KB_S_X", ":mode=4KB_D", ":mode=25":
            self.assertEqual(rotated(mode), linear)
            self.assertEqual(rotated(mode, "--gpu", "vega56"), linear)
        for mode, why in ("mode=", "is no swizzle mode"), ("mode=64KB_Q", "no swizzle mode '64KB_Q'"):
            _, err = self.run_tool(["run"] + self.example("rotate") + ["-g", "16,16", "-b", "16,16", "--arg", f"in=image2d:unorm8x4:7,4:{mode}"], code=2)
            self.assertIn(why, err)


if __name__ == "__main__":
    command.main()
