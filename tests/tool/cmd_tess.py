# SPDX-License-Identifier: MIT
"""wavemem tess: places, lines, the picture.

usage: cmd_tess.py WAVEMEM FOLDER_OF_CODE_OBJECTS [TEST...]
"""
import json
import xml.etree.ElementTree

import command
from command import Case


class Tess(Case):
    NUMBERS = "tess --layout radeonsi-2016 --patches 32 --vertices 3 --attributes 4 --patch-attributes 2".split()

    def test_map(self):
        out = self.run_tool(self.NUMBERS)[0]
        self.assertIn("word 0x18000620, 7168 bytes", out)  # 32 | 3 << 9 | 6144 << 16
        self.assertRegex(out, r"(?m)^ +6656 - 7167 +attribute  1 of each patch$")

    def test_places(self):
        out = self.run_tool(self.NUMBERS, "--patch 5 --vertex 2 --attribute 1")[0]
        self.assertIn("1 x 1536 + (patch 5 x 3 + vertex 2) x 16 + 0 = 1808", out)
        report = json.loads(self.run_tool("tess --json --word 0x18000620 --patch-attributes 2 --offset 1812")[0])
        self.assertEqual(report["place"], {"offset": 1812, "per_patch": False, "patch": 5, "vertex": 2,
                                           "attribute": 1, "component": 1, "byte": 0})
        report = json.loads(self.run_tool(self.NUMBERS, "--json --patch 5 --semantic tessinner")[0])
        self.assertEqual(report["place"]["offset"], 6144 + 16 * (5 + 32))

    def test_lines_and_picture(self):
        report = json.loads(self.run_tool(self.NUMBERS, "--json --lines --svg map.svg")[0])
        self.assertEqual((report["lines"]["store"], report["lines"]["load"]), (16, 24))
        root = xml.etree.ElementTree.fromstring(self.read("map.svg"))
        boxes = root.findall("{http://www.w3.org/2000/svg}rect")
        self.assertEqual(len(boxes), 1 + 6 * 32)  # the background, and a box per attribute and patch

    def test_refusals(self):
        self.refused("did you mean", ["tess", "--patchs", "3"])
        self.refused("are needed, or --word", ["tess", "--patches", "3"])
        self.refused("not both", self.NUMBERS, "--offset 3 --patch 1 --attribute 1")
        self.refused("a patch has 3", self.NUMBERS, "--patch 1 --attribute 1 --vertex 3")
        self.refused("no such tessellation layout", self.NUMBERS, "--layout radv")
        self.refused("the buffer has 7168", self.NUMBERS, "--offset 7168")
        self.refused("--vertex is needed", self.NUMBERS, "--patch 1 --semantic generic,0")
        self.refused("--svg /nowhere/a.svg", self.NUMBERS, "--svg /nowhere/a.svg")


if __name__ == "__main__":
    command.main()
