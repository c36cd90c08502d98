#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The page of `wavemem prof --html` in Chromium: loads without an error and without network, sorts, opens an instruction
and draws it, by keyboard too, in light and dark, cuts nothing off, and has its tables and charts without scripts. Skipped
without Chromium.

usage: browser.py WAVEMEM EXAMPLES
"""
import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import chromium

SKIPPED = 77
FIRST = "table.sortable"  # the table of instructions
BROWSER = ADDRESS = REPORT = None


def texts(page, selector, property="textContent"):
    return page.run("(selector, property) => [...document.querySelectorAll(selector)].map((one) => one[property])",
                    selector, property)


def column(page, title):
    """The texts of a column of the table of instructions, from the top. A cell's second line is left out."""
    return page.run("""(selector, title) => {
        const table = document.querySelector(selector);
        const at = [...table.tHead.rows[0].cells].findIndex((cell) => cell.textContent === title);
        return [...table.tBodies[0].rows].filter((row) => row.id)
            .map((row) => (row.cells[at].querySelector("a") ?? row.cells[at]).textContent);
    }""", FIRST, title)


def numbers(column_of_texts):
    return [float(re.match(r"[\d.]+", text).group()) for text in column_of_texts if text]


def is_visible(page, selector):
    return page.run("(selector) => document.querySelector(selector).checkVisibility({ visibilityProperty: true })", selector)


def contrast(page):
    """How light the paper is, and the least contrast of a text with it, after WCAG 2."""
    return page.run("""() => {
        const luminance = (colour) => {
            const [r, g, b] = colour.match(/[\\d.]+/g).map((part) => Number(part) / 255)
                .map((part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
            return 0.2126 * r + 0.7152 * g + 0.0722 * b;
        };
        const paper = luminance(getComputedStyle(document.body).backgroundColor);
        const ratio = (element) => {
            const ink = luminance(getComputedStyle(element).color);
            return (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
        };
        const all = document.querySelectorAll("h1, h2, p, td, th, span, summary, caption");
        return [paper, Math.min(...[...all].map(ratio))];
    }""")


class Browser(unittest.TestCase):
    @contextlib.contextmanager
    def visit(self, fragment="", **options):
        """Opens the page; whatever it logs, throws or asks for fails."""
        page = chromium.Page(BROWSER, **options)
        page.open(ADDRESS + fragment)
        yield page
        self.assertEqual(page.troubles(ADDRESS), [])
        page.close()

    def setUp(self):
        self.rows = REPORT["rows"]
        self.lines = [round(row["lines_per_request"], 1) for row in self.rows if row["lines"] is not None]

    def test_figures(self):
        """Tables have the report's figures."""
        with self.visit() as page:
            self.assertEqual(page.run("() => document.title"), "wavemem prof")
            self.assertEqual(numbers(column(page, "lines/req")), self.lines)
            self.assertEqual(column(page, "instruction"), [row["text"] for row in self.rows])

    def test_bounds(self):
        """Says what binds, and the arithmetic, the longest first; and what each part is predicted to take."""
        kernel = REPORT["kernels"][0]
        with self.visit() as page:
            self.assertEqual(texts(page, "table.predicted tbody th"), [part["part"] for part in kernel["predicted"]["parts"]])
            self.assertIn(f"bound by {kernel['binds']}: a lower bound", texts(page, "table.bounds:not(.predicted) caption")[0])
            parts = page.run("""() => [...document.querySelectorAll("table.bounds:not(.predicted) tbody tr")].map((row) =>
                [row.cells[0].textContent, row.cells[2].textContent])""")
            self.assertEqual(parts, [[bound["part"], bound["arithmetic"]]
                                     for bound in sorted(kernel["bounds"], key=lambda one: -one["seconds"])])
            self.assertEqual(parts[0][0], kernel["binds"])
            asked = [cache["name"] for cache in kernel["caches"]
                     if any(cache[kind]["requests"] for kind in ("read", "write", "atomic"))]
            self.assertEqual(texts(page, "table.caches tbody th"), asked)

    def test_sort(self):
        """Sorts by mouse, both ways; details stay below their instruction."""
        with self.visit("#i1") as page:
            button = FIRST + " th button"
            page.click(button, "lines/req")
            down = sorted(self.lines, reverse=True)
            self.assertEqual(numbers(column(page, "lines/req")), down)
            self.assertEqual(page.run("() => document.querySelector('th[aria-sort]').getAttribute('aria-sort')"), "descending")
            page.click(button, "lines/req")
            self.assertEqual(numbers(column(page, "lines/req")), down[::-1])
            self.assertEqual(page.run("() => document.querySelector('tr.more').previousElementSibling.id"), "i1")
            page.click(button, "instruction")  # by address
            places = [int(text.split("+0x")[1], 16) for text in texts(page, FIRST + " small")]
            self.assertEqual(places, sorted((row["offset"] for row in self.rows), reverse=True))

    def focus(self, page, text):
        """Presses Tab until the element with this text has the focus."""
        for _ in range(60):
            if page.run("() => document.activeElement.textContent") == text:
                return
            page.press("Tab")
        self.fail(f"no focus on '{text}'")

    def test_keyboard(self):
        """Sorts and opens an instruction by keyboard alone."""
        with self.visit() as page:
            self.focus(page, "lines/req")
            page.press("Enter")
            self.assertEqual(numbers(column(page, "lines/req")), sorted(self.lines, reverse=True))
            self.focus(page, self.rows[0]["text"])
            page.press("Enter")
            self.assertTrue(is_visible(page, "#i0 + tr.more svg"))
            page.press("Enter")
            self.assertEqual(texts(page, "tr.more"), [])

    def test_drawing(self):
        """Opens an instruction and draws its wave."""
        worst = next(i for i, row in enumerate(self.rows) if row["path"] in ("GLOBAL", "FLAT"))
        row, drawing = self.rows[worst], f"#i{worst} + tr.more svg"
        with self.visit() as page:
            self.assertEqual(texts(page, drawing), [])
            page.click(FIRST + " a", row["text"])
            self.assertTrue(is_visible(page, drawing))
            cells = page.run("""(drawing) => [...document.querySelector(drawing).querySelectorAll("rect:has(title)")].map((cell) => {
                const { left, right, top, width, height } = cell.getBoundingClientRect();
                return { text: cell.textContent, left, right, top, width, height, fill: getComputedStyle(cell).fill };
            })""", drawing)
            # 64 lanes stand in a row, each as large as the others and none upon another.
            lanes = [cell for cell in cells if cell["text"].startswith("lane ")]
            self.assertEqual(len(lanes), 64)
            for lane in lanes:
                self.assertGreater(min(lane["width"], lane["height"]), 4)
                self.assertEqual(lane["top"], lanes[0]["top"])
            for before, lane in zip(lanes, lanes[1:]):
                self.assertGreaterEqual(lane["left"], before["right"] - 1e-3)
            # The straight transpose's store goes down a column of rows of 256 bytes; see report.py.
            addresses = [int(lane["text"].split(": ")[1], 16) for lane in lanes]
            self.assertEqual(addresses, [addresses[0] + i % 16 * 256 + i // 16 * 4 for i in range(64)])
            dwords = dict(cell["text"].split(": lanes ") for cell in cells if cell["text"].startswith("0x"))
            self.assertEqual({int(at, 16): int(lane) for at, lane in dwords.items()}, {at: lane for lane, at in enumerate(addresses)})
            # What it touches is drawn as often as the report counts lines a run.
            touched = sum(text.startswith("0x") for text in page.run(
                """(drawing) => [...document.querySelector(drawing).querySelectorAll("text")].map((text) => text.textContent)""",
                drawing))
            self.assertEqual(touched, row["lines"] / row["executions"])
            self.assertGreaterEqual(len({cell["fill"] for cell in cells}), min(touched, 16))
            bars = page.run("""(drawing) => [...document.querySelectorAll(drawing)][1].querySelectorAll(".bar title").length""", drawing)
            self.assertEqual(bars, 1)  # all requests touch as many lines

    def test_fragment(self):
        """Opens the instruction that its address names."""
        with self.visit("#i1") as page:
            self.assertEqual(page.run("() => document.querySelector('tr.more').previousElementSibling.id"), "i1")

    def test_counterparts(self):
        """The focus on a source line marks its instructions in the listing."""
        with self.visit() as page:
            page.run("""() => document.querySelector("table.listing a").focus()""")
            page.settle()
            marked = [text for text in texts(page, "tr.lit td:last-child")]
            here = page.run("""() => document.activeElement.closest("tr").dataset.s""")
            self.assertEqual(len(marked), 1 + page.run("""(here) =>
                document.querySelectorAll(`.two > div:last-child tr[data-s="${here}"]`).length""", here))
            self.assertGreaterEqual(len(marked), 2)

    def test_colours(self):
        """Is readable in light and dark."""
        for scheme in ("light", "dark"):
            with self.subTest(scheme), self.visit(colour_scheme=scheme) as page:
                paper, least = contrast(page)
                self.assertEqual(paper > 0.5, scheme == "light")
                self.assertGreaterEqual(least, 4.5)

    def test_no_scripts(self):
        """Has its tables and charts without scripts, and says what they would add."""
        with self.visit(scripts=False) as page:
            self.assertEqual(page.run("(first) => document.querySelector(first).querySelectorAll('tbody tr').length", FIRST),
                             len(self.rows))
            self.assertEqual(texts(page, "button"), [])
            for chart in ("memory chart", "roofline"):
                self.assertTrue(is_visible(page, f"svg[aria-label='{chart}']"))
            self.assertTrue(is_visible(page, "noscript p"))

    def test_source(self):
        """Shows the source with its lines' figures."""
        with self.visit() as page:
            line, href = page.run("""(text) => {
                const row = [...document.querySelectorAll("table.listing tr")].find((row) => row.textContent.includes(text));
                return [row.innerText, row.querySelector("a").getAttribute("href")];
            }""", "out[x * n + y] = in[y * n + x];")
            self.assertIn("%", line)
            page.click(f"table.listing a[href='{href}']")
            self.assertTrue(is_visible(page, href + " + tr.more svg"))

    def test_widths(self):
        """Nothing is cut off, or needs scrolling to the side, at 1280 and 800 pixels; the page fits 400. No text of a
        chart leaves its box or lies upon another."""
        for width, fragment in ((1280, "#i0"), (800, "#i0"), (1280, ""), (800, "")):
            with self.subTest((width, fragment)), self.visit(fragment, size=(width, 900)) as page:
                cut = page.run("""() => [...document.querySelectorAll("html, .wide, .pane, pre, td, th, p")]
                    .filter((one) => one.scrollWidth > one.clientWidth + 1 && one.clientWidth).map((one) => one.outerHTML.slice(0, 100))""")
                self.assertEqual(cut, [])
                outside = page.run("""() => [...document.querySelectorAll("svg text")].filter((text) => {
                    const frame = text.closest("svg").getBoundingClientRect(), box = text.getBoundingClientRect();
                    return box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1 || box.bottom > frame.bottom + 1;
                }).map((text) => text.textContent)""")
                self.assertEqual(outside, [])
                outside = page.run("""() => [...document.querySelectorAll("svg[aria-label='memory chart'] g")].flatMap((group) => {
                    const frame = group.querySelector("rect").getBoundingClientRect();
                    return [...group.querySelectorAll("text")].filter((text) => text.getBoundingClientRect().right > frame.right)
                        .map((text) => text.textContent);
                })""")
                self.assertEqual(outside, [])
                upon = page.run("""() => [...document.querySelectorAll("svg.chart")].flatMap((chart) => {
                    const texts = [...chart.querySelectorAll("text:not(.number)")].map((text) => [text.textContent, text.getBBox()]);
                    return texts.flatMap(([a, x], i) => texts.slice(i + 1).filter(([, y]) => x.width && y.width && x.x < y.x + y.width - 1 &&
                        y.x < x.x + x.width - 1 && x.y < y.y + y.height - 4 && y.y < x.y + x.height - 4).map(([b]) => [a, b]));
                })""")
                self.assertEqual([pair for pair in upon if not pair[1].startswith("10^9")], [])
        with self.visit(size=(400, 800)) as page:
            self.assertTrue(page.run("() => document.documentElement.scrollWidth <= innerWidth"))


def main():
    global BROWSER, ADDRESS, REPORT
    wavemem, examples = (os.path.abspath(path) for path in sys.argv[1:3])
    program = chromium.installed()
    if not program:
        print("skipped: none is installed of", ", ".join(chromium.PROGRAMS))
        return SKIPPED
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        page, report = Path(folder, "page.html"), Path(folder, "report.json")
        subprocess.run([wavemem, "prof", "--source-path", os.path.dirname(examples), examples + "/transpose.co", "-k", "transpose_naive", "-g", "64,64", "-b", "16,16",
                        "--arg", "in=iota:f32:4096", "--arg", "out=zero:f32:4096", "--arg", "n=64",
                        "--html", page, f"--json={report}"], check=True, stdout=subprocess.DEVNULL)
        ADDRESS, REPORT = page.as_uri(), json.loads(report.read_text(encoding="utf-8"))
        BROWSER = chromium.Chromium(program, folder)
        try:
            return not unittest.main(argv=sys.argv[:1] + sys.argv[3:], exit=False).result.wasSuccessful()
        finally:
            BROWSER.close()


if __name__ == "__main__":
    sys.exit(main())
