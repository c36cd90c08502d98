#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`make install` of a built folder: with a prefix, and in a DESTDIR below /usr/local, where the loader and pkg-config
of this system search. Builds an example with the installed library as a user would. CI runs this test after the
others, because it changes the folder's prefix.

usage: installed.py BUILD
"""
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = os.path.abspath(sys.argv.pop(1))
EXAMPLE = ROOT / "examples" / "vecadd.c"
OBJECT = ROOT / "examples" / "gfx900" / "vecadd.co"


def output(*command, **environment):
    done = subprocess.run(command, cwd=ROOT, env=dict(os.environ, **environment), stdout=subprocess.PIPE, encoding="utf-8")
    assert done.returncode == 0, f"{shlex.join(map(str, command))}: exit code {done.returncode}\n{done.stdout}"
    return done.stdout


class Installed(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def test_prefix(self):
        """The command, its manual and the library, for a program that uses pkg-config only; shared and static."""
        prefix = self.folder / "with"
        output("make", "install", f"BUILD={BUILD}", f"PREFIX={prefix}")
        self.assertIn("wavemem", output(prefix / "bin" / "wavemem", "--version"))
        self.assertTrue((prefix / "share/man/man1/wavemem.1").exists())
        program, search = self.folder / "vecadd", {"PKG_CONFIG_PATH": str(prefix / "lib/pkgconfig")}
        for options, link in ((), ()), (("--static",), ("-static-libgcc", "-Wl,-Bstatic", "-lwavemem", "-Wl,-Bdynamic")):
            words = output("pkg-config", *options, "--cflags", "--libs", "wavemem", **search).split()
            output("cc", EXAMPLE, *link, *words, "-o", program)
            needed = output("objdump", "-p", program)
            self.assertEqual("libwavemem" in needed, not link, needed)
            output(program, OBJECT, LD_LIBRARY_PATH=str(prefix / "lib"))

    def test_destdir(self):
        """Without a prefix, below /usr/local in a folder that represents the system: its loader and pkg-config find
        everything."""
        output("make", "install", f"BUILD={BUILD}", f"DESTDIR={self.folder}")
        installed = self.folder / "usr/local"
        self.assertTrue((installed / "bin/wavemem").exists())
        modules = [file.parent for file in installed.rglob("wavemem.pc")]
        searched = output("pkg-config", "--variable", "pc_path", "pkg-config").strip().split(":")
        self.assertIn("/" + str(modules[0].relative_to(self.folder)), searched)
        (self.folder / "etc").mkdir()
        shutil.copy("/etc/ld.so.conf", self.folder / "etc")
        shutil.copytree("/etc/ld.so.conf.d", self.folder / "etc/ld.so.conf.d")
        output("/sbin/ldconfig", "-r", self.folder, PATH="/sbin:" + os.environ["PATH"])
        self.assertIn("libwavemem.so.0", output("/sbin/ldconfig", "-r", self.folder, "-p"))

    def test_defaults(self):
        """Options for CI and developers are off."""
        options = json.loads(output("meson", "introspect", "--buildoptions", "meson.build"))
        self.assertEqual([option["value"] for option in options if option["name"] == "werror"], [False])


if __name__ == "__main__":
    unittest.main()
