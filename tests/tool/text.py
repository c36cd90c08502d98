# SPDX-License-Identifier: MIT
"""Names from files are escaped for the terminal: control characters and bytes that are not UTF-8 become \\xNN in all
output, and JSON, CSV and HTML stay well-formed.

usage: text.py WAVEMEM FOLDER_OF_CODE_OBJECTS [TEST...]
"""
import csv
import json
import os
import re
import subprocess

import command
from command import Case, npy, pack

KERNEL = b"\x1b[2Jspose_\x9b\x7f\n\xc2\x9b"  # as long as the original name
SHOWN = r"\x1b[2Jspose_\x9b\x7f\x0a\xc2\x9b"
FILE = b"\x1b[2Jpo\x01\x9b\n.cl"
SHOWN_FILE = r"\x1b[2Jpo\x01\x9b\x0a.cl"
ARGUMENTS = "-g 64,64 -b 16,16 --arg in=iota:f32:4096 --arg out=zero:f32:4096 --arg n=64".split()


class Text(Case):
    def setUp(self):
        super().setUp()
        self.assertEqual((len(KERNEL), len(FILE)), (len("transpose_naive"), len("transpose.cl")))
        with open(self.example("transpose")[0], "rb") as file:
            self.original = file.read()
        self.code = self.path("hostile.co", self.original.replace(b"transpose_naive", KERNEL).replace(b"transpose.cl", FILE))
        self.kernel = ["-k", os.fsdecode(KERNEL)]

    def ask(self, *words, code=0, json=False):
        """The output, checked to be safe; JSON, which escapes only what it must, only to be UTF-8."""
        words = [w for word in words for w in (word.split() if isinstance(word, str) else word)]
        done = subprocess.run([command.WAVEMEM, *words], capture_output=True, cwd=self.folder.name, timeout=60)
        self.assertEqual(done.returncode, code, done.stderr)
        both = done.stdout + done.stderr
        text = both.decode()  # fails if not UTF-8
        unsafe = re.search("[\x00-\x08\x0b-\x1f]" if json else "[\x00-\x08\x0b-\x1f\x7f-\x9f]", text)
        self.assertIsNone(unsafe, text[unsafe.start() - 40:unsafe.end() + 40] if unsafe else "")
        return done.stdout.decode(), done.stderr.decode()

    def test_width(self):
        """A message has at most 300 characters for each value or line that it quotes, and shows that it was cut."""
        for filler in ("x", "\u00e4", "\u20ac", "\x01", "\x80"):
            long = (filler * 30000)[:30000]
            encoded = long.encode("utf-8", "surrogateescape") if filler != "\x80" else b"\x80" * 30000
            word = os.fsdecode(encoded)[:30000]
            self.path("long.s", b" s_nop " + encoded + b"\n .macro " + encoded + b"\n .endm\n v_mov_b32 v0, " + encoded + b"\n"
                      + encoded + b":\n" + encoded + b":\n .set " + encoded + b"\n .include \"" + encoded + b"\"\n")
            self.path("long.sup", encoded + b"\n")
            self.path("long.json", b"[\"" + encoded + b"\"")
            for words in (["asm", "-m", "gfx900", "long.s", "-o", "o.co"], ["run", word], ["run", "hostile.co", "-k", word],
                          ["run", "hostile.co", *self.kernel, "-g", word], ["run", "hostile.co", *self.kernel, "--arg", word],
                          ["run", "hostile.co", *self.kernel, *ARGUMENTS, "--arg", "n=" + word],
                          ["run", "hostile.co", *self.kernel, *ARGUMENTS, "--out", word + "=x"],
                          ["run", "hostile.co", "--" + word], [word], ["isa", word], ["dis", "-m", word, "hostile.co"],
                          ["explain", "address", word, "-m", "gfx900"], ["diff", "long.json", "long.json"], ["merge", "long.json"],
                          ["check", "hostile.co", *self.kernel, *ARGUMENTS, "--suppressions", "long.sup"],
                          ["check", "hostile.co", *self.kernel, *ARGUMENTS, "--baseline", "long.json"],
                          ["exec", "--gpu", word, "true"], ["info", "hostile.co", "-k", word], ["tess", word], ["batch", word]):
                done = subprocess.run([command.WAVEMEM, *words], capture_output=True, cwd=self.folder.name, timeout=60)
                self.assertIn(done.returncode, (1, 2, 3), words[0])
                text = done.stderr.decode()  # fails if a character was cut
                widest = max((len(line) for line in text.splitlines()), default=0)
                self.assertLessEqual(widest, 300, (words[0], text[:2000]))

    def test_info(self):
        out, _ = self.ask("info hostile.co")
        self.assertIn(f"\n\n{SHOWN}  ({SHOWN_FILE}:6)\n", out)
        report = json.loads(self.ask("info --json hostile.co")[0])
        self.assertIn(SHOWN, [kernel["name"] for kernel in report["kernels"]])
        self.assertEqual(len(report["kernels"]), 3)
        odd = self.path("odd\x1b[2J.co", b"nothing")
        self.assertIn(r"odd\x1b[2J.co", self.ask("info", [odd], code=2)[1])
        self.assertIn(r"no kernel 'a\x1b\x0ab'", self.ask("info", ["-k", "a\x1b\nb", self.code], code=2)[1])

    def test_dis(self):
        for words in ("", "--lines", "--labels", "-j 1"):
            out, _ = self.ask("dis", words, "hostile.co")
            self.assertIn(f" <{SHOWN}>:\n", out)
            self.assertIn(f" <{SHOWN}+0x", out)
        self.assertIn(f"; {SHOWN_FILE}:8\n", self.ask("dis --lines hostile.co")[0])
        listing = json.loads(self.ask("dis --json hostile.co", json=True)[0])
        self.assertEqual({one["symbol"] for one in listing},
                         {"\x1b[2Jspose_\\x9b\x7f\n\x9b", "transpose_lds", "transpose_unpadded"})

    def test_prof(self):
        words = ["prof", self.code, *self.kernel, *ARGUMENTS]
        for more in ("", "--source", "--show all", "--fail-if lines>1"):
            out, err = self.ask(words, more, "--csv x.csv --html x.html --counters x.counters --json=x.json --trace x.trace",
                                code=1 if more.startswith("--fail") else 0)
            self.assertTrue(out.startswith(f"verdict    {SHOWN} is bound by"), out)
            if more.startswith("--fail"):
                self.assertIn(f" at {SHOWN}+0x", err)
        self.assertIn(f"  {SHOWN_FILE}:10  ", self.ask(words)[0])
        text = self.read("x.csv").decode()
        rows = list(csv.DictReader(text.splitlines()))
        self.assertEqual({(row["kernel"], row["file"]) for row in rows}, {(SHOWN, SHOWN_FILE)})
        self.assertEqual({row["kernel"] for row in csv.DictReader(self.read("x.counters").decode().splitlines())}, {SHOWN, "*"})
        page = self.read("x.html").decode()
        self.assertIsNone(re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", page))
        self.assertIn(f"<code>{SHOWN}</code>", page)
        report = json.loads(self.read("x.json"))
        self.assertEqual(len(report["rows"]), len(rows))
        self.assertEqual({row["kernel"] for row in report["rows"]} | {one["kernel"] for one in report["dispatches"]}, {SHOWN})
        self.assertEqual({row["file"] for row in report["rows"]}, {SHOWN_FILE})
        replayed = json.loads(self.ask("replay x.trace --json")[0])
        self.assertTrue(replayed["rows"] == report["rows"] and replayed["kernels"] == report["kernels"])
        self.assertEqual(replayed["dispatches"][0]["kernel"], SHOWN)
        self.assertTrue(self.ask("replay x.trace")[0].startswith(f"verdict    {SHOWN} is bound by"))
        self.ask("diff --all x.json x.json")
        self.path("y.json", self.read("x.json").replace(SHOWN.replace("\\", "\\\\").encode(), rb"k\u001b[2J\u009b"))
        self.assertIn(r"k\x1b[2J\xc2\x9b+0x", self.ask("diff --all x.json y.json")[0])

    def test_run(self):
        words = ["run", self.code, *self.kernel, *ARGUMENTS]
        self.assertTrue(self.ask(words, "--stats")[0].startswith(SHOWN + ": 16 workgroups"))
        report = json.loads(self.ask(words, "--json")[0])
        self.assertEqual(report["dispatches"][0]["kernel"], SHOWN)
        out, err = self.ask(words, ["--arg", "out=zero:f32:4095"], code=2)  # given twice
        fault = [word.replace("out=zero:f32:4096", "out=zero:f32:4") for word in words]
        _, err = self.ask(fault, code=3)
        self.assertRegex(err, rf"(?m)^  at   {re.escape(SHOWN)}\+0x\w+   global_store_dword .*   {re.escape(SHOWN_FILE)}:10$")
        text = json.loads(self.ask(fault, "--json", code=3)[0])["dispatches"][0]["fault"]["text"]
        self.assertEqual(err.partition("\n  hint:")[0], "error: " + text)
        _, err = self.ask(fault, "--on-violation continue", code=1)
        self.assertIn(SHOWN + "+0x", err)
        self.assertIn(r"no argument 'x\x1b\x0a'", self.ask(words, ["--out", "x\x1b\n=y"], code=2)[1])
        self.assertIn(r"\x1b[2J: cannot be written", self.ask(words, ["--out", "out=no/\x1b[2J"], code=2)[1])

    def test_checks(self):
        """A load without a wait, in a kernel with a hostile name."""
        waits = [m.start() for m in re.finditer(rb"[\x70\x7f][\x0f\xc0]\x8c\xbf", self.original)]  # s_waitcnt
        self.assertTrue(waits)
        code = bytearray(self.read("hostile.co"))
        for wait in waits:
            code[wait:wait + 4] = b"\x00\x00\x80\xbf"  # s_nop 0
        self.path("careless.co", bytes(code))
        words = ["run", "careless.co", *self.kernel, *ARGUMENTS, "--check-waits"]
        out, _ = self.ask(words, code=1)
        self.assertRegex(out, rf"(?m)^  at   {re.escape(SHOWN)}\+0x.*{re.escape(SHOWN_FILE)}:\d+$")
        findings = json.loads(self.ask(words, "--json", code=1)[0])["findings"]
        self.assertEqual({(one["kernel"], one["file"]) for one in findings}, {(SHOWN, SHOWN_FILE)})

    def test_arrays(self):
        array = npy("<f4", "(1,)", pack("f32", [1])).replace(b"'shape'", b"'\x1b[2J'")
        self.path("a.npy", array)
        _, err = self.ask("run", self.code, self.kernel, ARGUMENTS[:4], "--arg in=@a.npy", code=2)
        self.assertIn(r"unknown key '\x1b[2J'", err)

    def test_assembler(self):
        """The line is shown escaped, with the caret below the same character; so are names of files and macros."""
        self.path("k\x1b.s", b"s_nop 0 \x1b[2J\t\xc3\xa9 \x9b\n.macro a\x07\n.endm\n \"\x1b[2J\": \"\x1b[2J\":\n")
        _, err = self.ask("asm -m gfx900", ["k\x1b.s", "-o", "out"], code=2)
        lines = err.splitlines()
        self.assertTrue(lines[0].startswith(r"k\x1b.s:1:9: error: "), err)
        self.assertEqual(lines[1:3], [r"s_nop 0 \x1b[2J" + "\té \\x9b", "        ^"])
        self.assertIn(r"'\x1b[2J' is defined already", err)
        self.path("k.s", "é\x1b\ts_nix é\n".encode())
        _, err = self.ask("asm -m gfx900 k.s -o out", code=2)
        self.assertEqual(err.splitlines()[1:], ["é\\x1b\ts_nix é", "^"])


if __name__ == "__main__":
    command.main()
