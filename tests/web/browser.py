#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The page of `wavemem prof --html` in Chromium, driven by playwright-core; skipped without one of these.

usage: browser.py WAVEMEM EXAMPLES
"""
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SKIPPED = 77


def missing():
    """What is not there, in words."""
    for name in ("node", "chromium"):
        if not shutil.which(name):
            return f"{name} is not installed"
    if not os.path.isdir(os.path.join(HERE, "node_modules", "playwright-core")):
        return "tests/web/node_modules has no playwright-core; 'dev/setup test' installs it, if npm reaches its registry"
    return None


def main():
    wavemem, examples = (os.path.abspath(path) for path in sys.argv[1:3])
    reason = missing()
    if reason:
        print("skipped:", reason)
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        page, report = (os.path.join(folder, name) for name in ("page.html", "report.json"))
        subprocess.run([wavemem, "prof", "--source-path", os.path.dirname(examples), examples + "/transpose.co", "-k", "transpose_naive", "-g", "64,64", "-b", "16,16",
                        "--arg", "in=iota:f32:4096", "--arg", "out=zero:f32:4096", "--arg", "n=64",
                        "--html", page, "--json=" + report], check=True, stdout=subprocess.DEVNULL)
        return subprocess.run(["node", os.path.join(HERE, "browser.mjs"), shutil.which("chromium"), page, report],
                              env=dict(os.environ, HOME=folder), check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
