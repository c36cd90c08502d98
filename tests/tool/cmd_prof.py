# SPDX-License-Identifier: MIT
"""wavemem prof: the rows of the examples, and checks together with a profile.

usage: cmd_prof.py WAVEMEM FOLDER_OF_CODE_OBJECTS [TEST...]
"""
import json
import re

import command
from command import Case


class Prof(Case):
    def rows(self, *words):
        return json.loads(self.run_tool("prof", ["--json"], *words)[0])

    def test_products(self):
        """Products by any spelling of their name, by a target, and all of them."""
        listed = self.run_tool("prof", ["--gpu", "list"])[0].splitlines()
        self.assertIn("gfx1030", next(line for line in listed if line.startswith("rx6800 ")))
        self.assertGreater(len(listed), 20)

    def test_vecadd(self):
        """64 lanes that each load a dword of 256 aligned bytes access four lines: the ideal."""
        words = self.vecadd(count=1024)[1:]
        report = self.rows(words)
        vector = [row for row in report["rows"] if row["path"] in ("GLOBAL", "FLAT")]
        self.assertEqual(sorted(row["operation"] for row in vector), ["load", "load", "store"])
        for row in vector:
            self.assertEqual((row["executions"], row["lanes"], row["bytes"], row["lines"],
                              row["ideal_lines"]),
                             (16, 1024, 4, 64, 64))
            # 4 clocks, lookups and requests per wave: mixbench's counters on MI100 and MI200.
            self.assertEqual([row[key] for key in ("fast_executions", "address_clocks", "tag_lookups",
                                                   "collapsed_stores", "lds_passes", "worst_conflict")],
                             [16, 64, 64, 0, None, None])
            self.assertEqual((row["read_requests"], row["write_requests"]),
                             (64, 0) if row["operation"] == "load" else (0, 64))
        self.assertEqual(report["totals"]["executions"], sum(row["executions"] for row in report["rows"]))
        out, _ = self.run_tool("prof", words)
        lines = out.splitlines()
        # No column `share`: one workgroup of 64 on each compute unit is bound by the VALU of one SIMD.
        self.assertIn("% waiting requests lanes/req B/lane lines/req ideal/req efficiency clocks/req L1 hit L2 hit limit source access code",
                      [" ".join(line.split()) for line in lines])
        # Two loads of 16 waves; each wave reads separate lines, and 3 x 16 waves x 256 B pass through L2 once.
        self.assertRegex(out, r"(?m)^ *\d+\.\d% +32 +64\.0 +- +4\.0 +4\.0 +100\.0% +4\.0 +0\.0% +0\.0% +memory +vecadd\.cl:\d+ +global load ")
        self.assertIn("totals; averages per request (/req)", out)

    def test_transpose(self):
        """The naive store goes down columns: a wave of 16 columns and 4 rows accesses 16 lines for its 256 bytes, and
        its row comes first."""
        words = self.example("transpose") + ["-g", "64,64", "-b", "16,16", "--arg", "in=iota:f32:4096",
                                             "--arg", "out=zero:f32:4096", "--arg", "n=64", "-k"]
        first = self.rows(words, "transpose_naive")["rows"][0]
        self.assertEqual((first["operation"], first["lines"], first["ideal_lines"]),
                         ("store", 64 * 16, 64 * 4))
        self.assertEqual((first["address_clocks"], first["write_requests"], first["fast_executions"]),
                         (64 * 16, 64 * 16, 0))
        rows = self.rows(words, "transpose_lds")["rows"]
        self.assertEqual({row["efficiency"] for row in rows if row["path"] == "DS"}, {None})
        self.assertEqual({row["efficiency"] for row in rows if row["path"] == "GLOBAL"}, {1.0})
        self.assertEqual(rows[-1]["path"], "DS")
        out, _ = self.run_tool("prof", words, "transpose_lds")
        # The rows of its tile have 17 words, so the last of each 32 lanes has the first lane's bank.
        self.assertRegex(out, r"(?m)^ +\d+\.\d% +64 +64\.0 +4 +- +- +- +4\.0 +2\.0 .* LDS store ")
        # Without the padding, half of the columns of a row conflict.
        read = [row for row in self.rows(words, "transpose_unpadded")["rows"] if "ds_read" in row["text"]]
        self.assertEqual([(row["lds_passes"], row["lds_conflicts"]) for row in read], [(64 * 16, 64 * 14)])
        self.assertEqual(read[0]["worst_conflict"],
                         {"dwords": 8, "bank": 0, "lanes": "0 2 4 6 8 10 12 14"})
        # A source line has the sums of its instructions: line 28 those of the read from LDS and of the store.
        report = self.rows(words, "transpose_lds")
        for line in report["source_lines"]:
            for key in ("executions", "lines", "address_clocks", "lds_conflicts", "write_requests"):
                self.assertEqual(line[key] or 0, sum(row[key] or 0 for row in report["rows"]
                                                     if row["line"] == line["line"]))
        self.assertEqual([(line["address_clocks"], line["lds_passes"]) for line in report["source_lines"]
                          if line["line"] == 28], [(64 * 4, 64 * 4)])
        # The same figures with any number of threads.
        for kernel in ("transpose_naive", "transpose_lds", "transpose_unpadded"):
            self.assertEqual(self.rows(words, kernel, "-j1")["rows"], self.rows(words, kernel, "-j4")["rows"])

    def test_checks_beside(self):
        """A profile and checks in one run: the same figures, and the same findings as 'run'."""
        self.path("early.s", b"""
            s_load_dwordx2 s[2:3], s[0:1], 0x0
            v_lshlrev_b32 v0, 2, v0
            s_waitcnt lgkmcnt(0)
            global_load_dword v1, v0, s[2:3]
            v_add_u32 v1, 1, v1
            global_store_dword v0, v1, s[2:3]
            s_endpgm""")
        self.run_tool("asm -m gfx900 --raw early.s -o early.bin")
        words = "early.bin -m gfx900 -g 1024 -b 256 --arg 0=zero:u32:256 --check-waits --check-hazards --json".split()
        both = json.loads(self.run_tool("prof", words, code=1)[0])
        checked = json.loads(self.run_tool("run", words, code=1)[0])
        profiled = json.loads(self.run_tool("prof", [word for word in words if not word.startswith("--check")])[0])
        self.assertEqual(both["findings"], checked["findings"])
        self.assertEqual(len(both["findings"]), 1)
        self.assertEqual(both["findings"][0]["executions"], 16)
        self.assertEqual(both["rows"], profiled["rows"])


if __name__ == "__main__":
    command.main()
