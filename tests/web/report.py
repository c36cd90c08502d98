#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The HTML report: well-formed, small, needs no network; has the verdict, the charts, all instructions, source and
listing, and what its script draws. browser.py looks at it in a browser.

usage: report.py WAVEMEM EXAMPLES
"""
import html.parser
import json
import math
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

WAVEMEM, EXAMPLES = sys.argv[1:3]
VOID = {"meta", "link", "br", "wbr"}


class Page(html.parser.HTMLParser):
    """Checks that tags close in order, and keeps what tests ask for."""

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.links, self.external = [], [], [], []
        self.source = text
        self.charts = {}  # label -> texts of the drawing
        self.chart = None
        self.rows = []    # of all tables: the texts of their cells
        self.texts = {}   # tag, or tag.class: its texts
        self.paragraph = None
        self.feed(text)
        assert not self.open, self.open
        self.data = json.loads("".join(self.texts["script.application/json"]))

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        name = tag + "." + (attrs.get("class") or attrs.get("type") or "")
        if tag not in VOID:
            self.open.append((tag, name.rstrip(".")))
        self.external += [value for name, value in attrs.items() if name in ("src", "srcset")]
        if tag == "a":
            self.links.append(attrs["href"])
        if attrs.get("id", "").startswith("i") and tag == "tr":
            self.ids.append(attrs["id"])
        if tag == "svg":
            self.chart = self.charts.setdefault(attrs["aria-label"], [])
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th") and self.rows:
            self.rows[-1].append("")

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        top = self.open.pop()
        assert top[0] == tag, (top, tag)
        if tag == "svg":
            self.chart = None

    def handle_data(self, data):
        tags = [tag for tag, _ in self.open]
        if {"td", "th"} & set(tags):
            self.rows[-1][-1] += data
        if tags and tags[-1] == "text" and self.chart is not None:
            self.chart.append(data)
        if self.open:
            self.texts.setdefault(self.open[-1][1], []).append(data)


def addresses(wave):
    """Of each active lane."""
    result, address, apart = {}, None, iter(wave["apart"])
    for lane in range(64):
        if int(wave["lanes"], 16) >> lane & 1:
            address = int(wave["base"], 16) if address is None else address + next(apart)
            result[lane] = address
    return result


class Report(unittest.TestCase):
    def profile(self, *words):
        """The page, the JSON report and the size of the page."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "report.html"
            report = json.loads(subprocess.run([WAVEMEM, "prof", *words, "--html", str(file), "--json"], check=True,
                                               capture_output=True).stdout)
            text = file.read_text(encoding="utf-8")
        self.assertNotRegex(text, r"(?i)https?:|@import|url\(")
        page = Page(text)
        self.assertEqual(page.external, [])
        self.assertEqual(len(page.data["rows"]), len(report["rows"]))
        self.assertEqual(sorted(page.ids), sorted(f"i{i}" for i in range(len(report["rows"]))))
        self.assertLessEqual({link for link in page.links}, {"#" + one for one in page.ids})
        return page, report, len(text)

    def page(self, kernel, *more):
        words = ["--source-path", str(Path(EXAMPLES).parent), EXAMPLES + "/transpose.co", "-k", kernel, "-g", "64,64", "-b", "16,16",
                 "--arg", "in=iota:f32:4096", "--arg", "out=zero:f32:4096", "--arg", "n=64", *more]
        page, report, _ = self.profile(*words)
        return page, report

    def test_verdict(self):
        """What binds, the best fix with the bound now and after, and the command line for a shell."""
        with tempfile.TemporaryDirectory(suffix="it's a folder") as folder:
            page, report = self.page("transpose_naive", "--source-path", folder)
        kernel, best = report["kernels"][0], report["advice"][0]
        self.assertRegex("".join(page.texts["h1"]), rf"^transpose_naive is bound by {kernel['binds']}: at least [\d.]+ ns$")
        fix = "".join(page.texts["p.fix"] + page.texts["span.good"])  # it gains predicted time
        self.assertRegex(fix, rf"{1e6 * kernel['predicted']['seconds']:.3g} us \(x/÷ [\d.]+, latencies of mi100\), bound by latency, at least")
        self.assertIn(f"{best['verdict']} ({best['place']}): {best['change']}.", fix)
        self.assertEqual(best["now"], best["after"])  # memory binds, whatever the stores do, but they take longer in L1
        self.assertLess(best["predicted_after"], best["predicted"])
        self.assertIn(f"now {1e9 * best['now']['seconds']:.3g} ns, which the fix does not lower", fix)
        command = "".join(page.texts["pre.command"])
        self.assertTrue(command.startswith("wavemem prof --source-path "), command)
        self.assertIn(" -k transpose_naive -g 64,64 -b 16,16 --arg in=iota:f32:4096 ", command)
        self.assertIn("it'\\''s a folder' --html ", command)

    def test_lines(self):
        """The straight transpose's store: 16 lanes of a wave go down a column of 256-byte rows, 4 columns side by
        side, so four lanes 16 apart share each of 16 lines."""
        page, report = self.page("transpose_naive")
        at = next(i for i, row in enumerate(report["rows"]) if row["operation"] == "store")
        data = page.data["rows"][at]
        lanes = addresses(data["wave"])
        self.assertEqual(lanes, {i: lanes[0] + i % 16 * 256 + i // 16 * 4 for i in range(64)})
        self.assertEqual((data["wave"]["bytes"], data["wave"]["lds"], data["line"]), (4, False, 64))
        self.assertEqual(data["lines"], [[16, 64]])
        shown = dict(zip([title for title, _ in page.data["figures"]], data["values"]))
        self.assertEqual((shown["lines/req"], shown["ideal/req"], shown["efficiency"], shown["requests"]), ("16.0", "4.0", "25.0%", "64"))

    def test_banks(self):
        """Unpadded, the read from LDS wants eight dwords of each of eight banks: columns of 16 words."""
        page, report = self.page("transpose_unpadded")
        data = page.data["rows"][next(i for i, row in enumerate(report["rows"]) if "ds_read" in row["text"])]
        banks = {}
        for address in addresses(data["wave"]).values():
            banks.setdefault(address // 4 % 32, set()).add(address)
        self.assertTrue(data["wave"]["lds"])
        self.assertEqual(sorted(banks), [0, 1, 2, 3, 16, 17, 18, 19])
        self.assertEqual({len(dwords) for dwords in banks.values()}, {8})
        self.assertIn("lanes 0 2 4 6 8 10 12 14 access 8 distinct dwords of bank 0", " ".join(data["said"]))

    def test_source(self):
        """The source's own lines, the line of the copy with all of what binds, and the listing, with the store's
        figures."""
        page, report = self.page("transpose_naive")
        source = (Path(EXAMPLES).parent / "transpose.cl").read_text(encoding="utf-8").splitlines()
        lines = {int(row[-2]): row for row in page.rows if len(row) > 4 and row[-2].isdigit()}
        self.assertEqual({n: row[-1] for n, row in lines.items()}, {n: source[n - 1] for n in lines})
        self.assertLessEqual({8, 9, 10}, set(lines))
        # The lines of the load, the store and a scalar load, per request: 4, 16 and 1. Memory binds: what is not the copy's is
        # code and arguments.
        kernel = report["kernels"][0]
        copy = 64 * 64 * 4 / (kernel["memory_read"] + kernel["memory_written"])
        self.assertEqual((lines[10][0], lines[10][3]), (f"{200 * copy:.1f}%", "7.0"))
        self.assertEqual(lines[9][:-2], [""] * (len(lines[9]) - 2))
        listing = {int(row[-2], 16): row for row in page.rows if row and re.fullmatch(r"\+0x\w+", row[-2])}
        for row in report["rows"]:
            self.assertEqual(listing[row["offset"]][-1], row["text"])
            self.assertIn(str(row["executions"]), listing[row["offset"]])
        store = next(row for row in report["rows"] if row["operation"] == "store")
        self.assertEqual(listing[store["offset"]][0], f"{100 * copy:.1f}%")
        self.assertGreater(len(listing), 30)

    def test_two_kernels(self):
        """Each has its summary and its source; an instruction is told by its kernel's name as well; both are in the
        roofline."""
        page, report = self.page("transpose_naive", "--then", "-k", "transpose_lds", "--arg", "in=same:in", "--arg", "out=same:out",
                                 "--arg", "n=64")
        self.assertEqual({row["kernel"] for row in report["rows"]}, {"transpose_naive", "transpose_lds"})
        places = {text.split()[-1] for text in page.texts["small"]}
        self.assertEqual(places, {f"{row['kernel']}+0x{row['offset']:x}" for row in report["rows"]})
        self.assertLessEqual({"1", "2"}, set(page.texts["text.number"]))
        self.assertIn("1: transpose_lds, 2: transpose_naive", "".join(page.texts["p.sub"]))  # the longer bound first

    def test_predicted_point(self):
        """In the roofline, a ring for each point, below it by the predicted time over the bound on the logarithmic axis."""
        page, report = self.page("transpose_naive")
        kernel = report["kernels"][0]
        ratio = kernel["predicted"]["seconds"] / max(bound["seconds"] for bound in kernel["bounds"])
        drawing = re.search(r'aria-label="roofline">(.*?)</svg>', page.source, re.S).group(1)
        powers = [(float(text), float(y)) for y, text in re.findall(r'<text x="\d+" y="([0-9.]+)" class="end">([0-9.e+-]+)</text>', drawing)]
        (low, low_y), (high, high_y) = min(powers), max(powers)
        decade = (low_y - high_y) / (math.log10(high) - math.log10(low))
        of = {kind: {level: float(y) for level, y in re.findall(rf'class="{kind} (\w+)" cx="[0-9.]+" cy="([0-9.]+)" r="\d+"><title>', drawing)}
              for kind in ("point", "ring")}
        self.assertEqual(set(of["ring"]), {"l1", "l2", "memory"})
        for level, y in of["ring"].items():
            self.assertAlmostEqual((y - of["point"][level]) / decade, math.log10(ratio), delta=0.01)
        self.assertIn(f"predicted {1e6 * kernel['predicted']['seconds']:.3g} us", drawing)

    def test_products(self):
        """A row for each product, with its own predicted time; without several there is no such table."""
        page, report = self.page("transpose_naive", "--gpu", "vega64,mi210")
        self.assertNotIn("Products", self.page("transpose_naive")[0].texts["h2"])
        self.assertIn("Products", page.texts["h2"])
        for product in report["products"]:
            predicted = product["kernels"][0]["predicted"]
            row = next(row for row in page.rows if row[0] == product["title"])
            self.assertEqual((row[1].split()[0], row[3]), (f"{1e9 * predicted['seconds']:.3g}" if predicted["seconds"] < 1e-6 else f"{1e6 * predicted['seconds']:.3g}", predicted["binds"]))

    def test_memory_chart(self):
        """A copy of 4096 floats through a tile in LDS, on gfx900: 16 KiB are loaded and stored by waves, to and from LDS, and
        pass through L2; L1 is written through. No line is used twice."""
        page, report = self.page("transpose_lds")
        texts = page.charts["memory chart"]
        self.assertEqual([text for text in texts if text in ("Waves", "vector L1", "LDS", "scalar", "instruction", "L2", "Memory")],
                         ["Waves", "vector L1", "LDS", "scalar", "instruction", "L2", "Memory"])
        # Waves to L1 and to LDS, L1 to L2: in and out; L2 to memory at the end; and by chance the instruction fetches.
        kernel = report["kernels"][0]
        self.assertEqual(kernel["fetches"] * kernel["fetch_bytes"], 16384)
        self.assertEqual(texts.count("16 KiB"), 6 + 1 + 1)
        shares = {one["part"]: one["seconds"] / max(one["seconds"] for one in kernel["bounds"]) for one in kernel["bounds"]}
        self.assertEqual(kernel["binds"], "VALU")
        self.assertIn("VALU 100%", texts)
        for part in ("LDS", "memory"):
            self.assertIn(f"{100 * shares[part]:.0f}% peak", texts)
        hits = sum(cache[kind]["hits"] for cache in kernel["caches"] if cache["name"] == "scalar" for kind in ("read",))
        self.assertIn(f"{100 * hits / 192:.1f}% hits", texts)  # 64 waves, three scalar loads each

    def test_occupancy(self):
        """Each resource with what it allows, as in the JSON."""
        page, report = self.page("transpose_lds")
        limits = report["kernels"][0]["occupancy"]["limits"]
        self.assertEqual([row for row in page.rows if row and row[0] in ("waves", "VGPRs", "SGPRs", "LDS", "workgroups") and len(row) == 3
                          and row[1].isdigit()],
                         [[one["resource"], str(one["waves_per_simd"]), str(one["workgroups"])] for one in limits])

    def test_size(self):
        """At most 1 MB for 400 memory instructions, here scattered loads, each with another line per lane."""
        with tempfile.TemporaryDirectory() as folder:
            source, code = Path(folder) / "k.s", Path(folder) / "k.bin"
            source.write_text("s_load_dwordx2 s[4:5], s[0:1], 0x0\nv_mul_u32_u24 v0, 0x1fc, v0\ns_waitcnt lgkmcnt(0)\n" + "".join(
                f"v_add_u32 v2, {i}, v1\nglobal_load_dword v3, v0, s[4:5] offset:{4 * i}\nv_add_f32 v1, v1, v3\n" for i in range(399)) + "s_endpgm\n",
                encoding="ascii")
            subprocess.run([WAVEMEM, "asm", "-m", "gfx900", "--raw", source, "-o", code], check=True)
            page, report, size = self.profile(str(code), "-m", "gfx900", "-g", "64", "-b", "64", "--arg", "0=zeros:65536")
        self.assertEqual(len(report["rows"]), 400)
        self.assertEqual(len(addresses(page.data["rows"][5]["wave"])), 64)
        self.assertLess(size, 1_000_000)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
