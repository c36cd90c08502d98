#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The HTML report: well-formed, needs no network, has all instructions, source and listing, and draws what the accesses
were. browser.py looks at it in a browser.

usage: report.py WAVEMEM EXAMPLES
"""
import html.parser
import json
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

WAVEMEM, EXAMPLES = sys.argv[1:3]
VOID = {"meta", "link", "br"}


class Page(html.parser.HTMLParser):
    """Checks that tags close in order, and keeps cells, links, and each drawing's titles."""

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.links, self.advice, self.external, self.drawings = [], [], [], [], [], {}
        self.details = self.drawing = None
        self.rows = []  # of all tables: the texts of their cells
        self.feed(text)
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag not in VOID:
            self.open.append(tag)
        self.external += [value for name, value in attrs.items() if name in ("src", "srcset")]
        if tag == "a":
            (self.advice if "ul" in self.open else self.links).append(attrs["href"])
        if tag == "details":
            self.details = attrs.get("id")
            self.ids.append(self.details)
        if tag == "svg":
            self.drawing = self.drawings.setdefault((self.details, attrs["aria-label"]), [])
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th") and self.rows:
            self.rows[-1].append("")

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        top = self.open.pop()
        assert top == tag, (top, tag)

    def handle_data(self, data):
        if {"td", "th"} & set(self.open):
            self.rows[-1][-1] += data
        if self.open and self.open[-1] == "title" and self.drawing is not None:
            self.drawing.append(data)


class Report(unittest.TestCase):
    def page(self, kernel, *more):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = Path(folder.name) / "report.html"
        words = [WAVEMEM, "prof", "--source-path", str(Path(EXAMPLES).parent), EXAMPLES + "/transpose.co", "-k", kernel, "-g", "64,64", "-b", "16,16",
                 "--arg", "in=iota:f32:4096", "--arg", "out=zero:f32:4096", "--arg", "n=64",
                 *more, "--html", str(self.file), "--json"]
        report = json.loads(subprocess.run(words, check=True, capture_output=True).stdout)
        text = self.file.read_text(encoding="utf-8")
        self.assertNotRegex(text, r"(?i)https?:|@import|url\(")
        page = Page(text)
        self.assertEqual(page.external, [])
        numbers = [f"i{i}" for i in range(len(report["rows"]))]
        self.assertEqual([name for name in page.ids if name], numbers)
        self.assertEqual(page.links[:len(numbers)], ["#" + number for number in numbers])
        self.assertLessEqual(set(page.links), {"#" + number for number in numbers})
        self.assertEqual(page.advice, [f"#i{i}" for i, row in enumerate(report["rows"]) if row["advice"]])
        return page, report["rows"]

    def test_lines(self):
        """The straight transpose's store: 16 lanes of a wave go down a column of 256-byte rows, 4 columns side by
        side, so four lanes 16 apart share each of 16 lines."""
        page, rows = self.page("transpose_naive")
        at = next(i for i, row in enumerate(rows) if row["operation"] == "store")
        titles = page.drawings[f"i{at}", "lanes of one wave on cache lines"]
        lanes = {int(n): int(a, 16) for n, a in (re.match(r"lane (\d+): 0x(\w+)", t).groups()
                                                 for t in titles if t.startswith("lane "))}
        self.assertEqual(len(lanes), 64)
        base = lanes[0]
        self.assertEqual(lanes, {i: base + i % 16 * 256 + i // 16 * 4 for i in range(64)})
        cells = {int(a, 16): w.split() for a, w in (re.match(r"0x(\w+): lanes(.*)", t).groups()
                                                    for t in titles if t.startswith("0x"))}
        self.assertEqual(cells, {address: [str(lane)] for lane, address in lanes.items()})
        runs = [title for title in page.drawings[f"i{at}", "runs by lines touched"] if not title.endswith(": 0 runs")]
        self.assertEqual(runs, ["16 lines: 64 runs"])

    def test_source(self):
        """The source's own lines, the line of the copy with the sums of its instructions and all of what binds; and
        the listing, with the store's figures."""
        page, rows = self.page("transpose_naive")
        source = (Path(EXAMPLES).parent / "transpose.cl").read_text(encoding="utf-8").splitlines()
        lines = {int(row[-2]): row for row in page.rows if len(row) > 4 and row[-2].isdigit()}
        self.assertEqual({n: row[-1] for n, row in lines.items()}, {n: source[n - 1] for n in lines})
        self.assertLessEqual({8, 9, 10}, set(lines))
        mine = [row for row in rows if row["line"] == 10]
        self.assertEqual(lines[10][0], "100.0%")
        self.assertIn(str(sum(row["lines"] for row in mine)), lines[10])
        self.assertEqual(lines[9][:-2], [""] * (len(lines[9]) - 2))
        listing = {int(row[-2], 16): row for row in page.rows if row and re.fullmatch(r"\+0x\w+", row[-2])}
        for row in rows:
            self.assertEqual(listing[row["offset"]][-1], row["text"])
            self.assertIn(str(row["lines"]), listing[row["offset"]])
        store = next(row for row in rows if row["operation"] == "store")
        self.assertEqual(listing[store["offset"]][0], "94.1%")  # L1 binds: 16 clocks of 4 lines, and 4 of 1
        self.assertGreater(len(listing), 30)

    def test_two_kernels(self):
        """Each has its summary and its source; an instruction is told by its kernel's name as well."""
        page, rows = self.page("transpose_naive", "--then", "-k", "transpose_lds", "--arg", "in=same:in", "--arg", "out=same:out",
                               "--arg", "n=64")
        self.assertEqual({row["kernel"] for row in rows}, {"transpose_naive", "transpose_lds"})
        offsets = {row[-1] for row in page.rows if row and re.fullmatch(r"transpose_\w+\+0x\w+", row[-1])}
        self.assertEqual(offsets, {f"{row['kernel']}+0x{row['offset']:x}" for row in rows})

    def test_banks(self):
        """Unpadded, the read from LDS wants eight dwords of each of eight banks: columns of 16 words."""
        page, rows = self.page("transpose_unpadded")
        at = next(i for i, row in enumerate(rows) if "ds_read" in row["text"])
        titles = page.drawings[f"i{at}", "lanes of one wave on LDS banks"]
        banks = {}
        for title in titles:
            if title.startswith("0x"):
                address = int(title.split(":")[0], 16)
                banks.setdefault(address // 4 % 32, set()).add(address)
        self.assertEqual(sorted(banks), [0, 1, 2, 3, 16, 17, 18, 19])
        self.assertEqual({len(dwords) for dwords in banks.values()}, {8})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
