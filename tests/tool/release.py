#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a release must agree on: the version everywhere, and the exported functions with the list of the Debian package.

usage: release.py LIBRARY VERSION
"""
import re
import subprocess
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIBRARY, VERSION = sys.argv[1:]


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


class Release(unittest.TestCase):
    def test_version(self):
        self.assertEqual(re.match(r"wavemem \(([^)]+)\)", read("debian/changelog")).group(1), VERSION)
        self.assertEqual(re.search(r"(?m)^## (\S+)", read("CHANGELOG.md")).group(1), VERSION)
        printed = subprocess.run([ROOT / "dev/version"], stdout=subprocess.PIPE, encoding="utf-8", check=True).stdout
        self.assertEqual(printed, VERSION + "\n")

    def test_symbols(self):
        """A function that is missing breaks programs; a new one needs a line with the version that brings it."""
        listed = re.findall(r"(?m)^ (\w+)@Base ", read("debian/libwavemem0.symbols"))
        lines = subprocess.run(["nm", "-D", "--defined-only", LIBRARY], stdout=subprocess.PIPE, encoding="utf-8", check=True)
        exported = [line.split()[-1] for line in lines.stdout.splitlines()]
        self.assertEqual(sorted(listed), sorted(exported))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
