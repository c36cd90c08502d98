#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Builds without optional libraries: they compile, say what is lost when they are configured, and refuse what needs the
library with one message that names it. Takes minutes, so `make test-all` runs it.

usage: reduced.py FOLDER [TEST...]      (FOLDER: for the builds, which are kept)
"""
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = Path(sys.argv.pop(1)).resolve()
EXAMPLES = ROOT / "examples"
VECADD = [EXAMPLES / "gfx900/vecadd.co", "--guess"]


def run(*command, code=0, **options):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", **options)
    assert done.returncode == code, f"{' '.join(map(str, command))}: exit code {done.returncode}, not {code}\n{done.stdout}{done.stderr}"
    return done.stdout, done.stderr


def build(name, *declined):
    """Configures and builds; returns Meson's output and the folder."""
    folder = FOLDER / name
    words = [f"-D{option}=disabled" for option in (*declined, "pocl", "tests")] + ["-Dlevel=baseline", "-Dwerror=true"]
    again = ["--wipe"] if (folder / "build.ninja").exists() else []
    said = run("meson", "setup", *again, folder, ROOT, *words)[0]
    run("ninja", "-C", folder, f"-j{os.environ.get('JOBS', 2)}")
    return said, folder


class Reduced(unittest.TestCase):
    def test_without_dwarf_and_compression(self):
        said, folder = build("without", "dwarf", "zstd", "zlib")
        for option in ("dwarf", "zstd", "zlib"):
            self.assertRegex(said, rf"(?m)^ *{option} disabled, without *: \S")
        tool = folder / "wavemem"
        with tempfile.TemporaryDirectory(prefix="wavemem-reduced-") as place:
            def refused(expected, *words):
                out, err = run(tool, *words, code=2, cwd=place)
                said = [line for line in err.splitlines() if not line.startswith("guessed: ")]
                self.assertEqual((out, len(said)), ("", 1), out + err)
                self.assertIn(expected, said[0])
                self.assertEqual(os.listdir(place), [])

            for verb in ("run", "check", "prof"):
                self.assertNotIn("vecadd.cl", run(tool, verb, *VECADD)[0], "a source line")
            refused("built without zstd (-Dzstd=disabled)", "prof", *VECADD, "--trace", "t")
            refused("built without zstd (-Dzstd=disabled)", "run", *VECADD, "--shard", "1/2", "--part", "p")
            refused("built without zstd (-Dzstd=disabled)", "info", EXAMPLES / "hip/convolve.packed.hipfb")
            run(tool, "info", EXAMPLES / "hip/convolve.plain.hipfb")
            refused("exec", "exec", "true")

    def test_without_json(self):
        said, folder = build("library", "json")
        self.assertRegex(said, r"(?m)^ *json disabled, without *: the command")
        self.assertFalse((folder / "wavemem").exists())
        program = folder / "vecadd-example"
        run("cc", EXAMPLES / "vecadd.c", "-I", ROOT / "include", "-o", program, "-L", folder, "-lwavemem", f"-Wl,-rpath,{folder}")
        run(program, EXAMPLES / "gfx900/vecadd.co")


if __name__ == "__main__":
    unittest.main()
