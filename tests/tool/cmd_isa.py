# SPDX-License-Identifier: MIT
"""wavemem isa: layouts of matrices.

usage: cmd_isa.py WAVEMEM FOLDER_OF_CODE_OBJECTS [TEST...]
"""
import json
import re

import command
from command import Case


class Isa(Case):
    # As AMD's matrix instruction calculator prints them: target, instruction, matrix, line, its first columns.
    KNOWN = (("gfx942", "v_mfma_f32_16x16x16_f16", "A", 1, "v0{1}.[15:0] v0{1}.[31:16] v1{1}.[15:0] v1{1}.[31:16] v0{17}.[15:0]"),
             ("gfx90a", "v_mfma_f64_4x4x4f64", "D", 1, "v[1:0]{16} v[1:0]{17} v[1:0]{18} v[1:0]{19}"),
             ("gfx942", "v_smfmac_i32_16x16x64_i8", "B", 17, "v0{16}.[15:8] v0{17}.[15:8]"),
             ("gfx1100:wave32", "v_wmma_f32_16x16x16_f16", "A", 1, "v0{1}.[15:0] v0{1}.[31:16] v1{1}.[15:0] v1{1}.[31:16]"),
             ("gfx1200:wave64", "v_wmma_f32_16x16x16_f16", "B", 15, "v1{48}.[31:16] v1{49}.[31:16]"),
             ("gfx1200:wave32", "v_swmmac_f32_16x16x32_f16", "B", 10, "v1{16}.[15:0] v1{17}.[15:0]"))

    def test_matrix(self):
        for target, name, matrix, line, cells in self.KNOWN:
            words = ["isa", "-m", target, name, "--matrix", matrix]
            lines = [shown.split() for shown in self.run_tool(words)[0].splitlines() if re.match(r"\d", shown)]
            self.assertEqual(lines[line][1:1 + len(cells.split())], cells.split(), (target, name))
            blocks = json.loads(self.run_tool([*words, "--json"])[0])["blocks"]
            self.assertEqual(len(lines), sum(len(block) for block in blocks))
            lane = int(re.search(r"\{(\d+)\}", cells).group(1))
            self.assertEqual(blocks[0][line][0]["lane"], lane)

    def test_wrong(self):
        # The 11th of 32 elements of 6 bits begins in bit 60 of a lane; OCP fp6, CDNA 4 ISA.
        words = "isa -m gfx950 v_mfma_f32_16x16x128_f8f6f4 --matrix "
        first = next(line for line in self.run_tool(words + "A:fp6")[0].splitlines() if re.match("0 ", line)).split()
        self.assertEqual((first[1], first[6], first[11], first[33]), ("v0{0}.[5:0]", "v[1:0]{0}.[35:30]", "v[2:1]{0}.[33:28]", "v0{16}.[5:0]"))
        self.refused("modifiers of v_mfma_f32_16x16x128_f8f6f4 select the format: expected A:fp8, bf8, fp6, bf6 or fp4", words + "A")
        self.refused("v_mfma_f32_16x16x128_f8f6f4 has one format: expected D", words + "D:fp6")
        self.refused("--matrix E: expected A, B, C or D", "isa v_mfma_f32_16x16x16_f16 --matrix E")
        self.refused("v_add_f32 is not a matrix instruction", "isa v_add_f32 --matrix A")
        self.refused("gfx1100 does not have v_mfma_f32_16x16x16f16", "isa -m gfx1100 v_mfma_f32_16x16x16_f16 --matrix A")
        self.refused("--all goes with --json and without a name", "isa --all --json --matrix A")
        self.refused("--matrix goes with a name", "isa gfx900 7e000280 --matrix A")


if __name__ == "__main__":
    command.main()
