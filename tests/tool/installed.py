#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`make install` of a built folder: below a prefix of one's own, and in a DESTDIR below /usr/local, where the loader and
pkg-config of this system look. An example is built with the installed library as a user does. CI runs this one after the
other tests, because it changes the folder's prefix.

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
        """The command, its manual and the library, for a program that knows it by pkg-config alone; shared and static."""
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
        """Without a prefix below /usr/local, in a folder that stands for the system: its loader and pkg-config find all."""
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
        """What only CI and developers build with is off."""
        options = json.loads(output("meson", "introspect", "--buildoptions", "meson.build"))
        self.assertEqual([option["value"] for option in options if option["name"] == "werror"], [False])


if __name__ == "__main__":
    unittest.main()
