#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""dev/abi: which changes of the public headers it accepts. The libraries are stubs, made of the headers with a change.

usage: abi.py COMPILER
"""
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COMPILER = sys.argv[1:] or ["cc"]
STUBS = """
#include <wavemem/wavemem.h>
enum wm_status wm_dispatch(struct wm_machine *machine, const struct wm_object *object, const struct wm_kernel *kernel,
                           const struct wm_dispatch *dispatch, struct wm_result *result, struct wm_diag *diag)
{ (void)machine, (void)object, (void)kernel, (void)dispatch, (void)result, (void)diag; return WM_OK; }
const struct wm_finding *wm_check_findings(struct wm_check *check, size_t *count) { (void)check, (void)count; return 0; }
"""
MORE = "const char *wm_version(void) { return 0; }\n"


class Abi(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="wavemem-abi-")
        self.addCleanup(self.folder.cleanup)

    def library(self, name, change=lambda name, text: text, stubs=STUBS):
        headers = Path(self.folder.name, name, "wavemem")
        headers.mkdir(parents=True)
        for file in (ROOT / "include/wavemem").glob("*.h"):
            (headers / file.name).write_text(change(file.name, file.read_text(encoding="utf-8")), encoding="utf-8")
        source, library = headers.parent / "stubs.c", headers.parent / "libwavemem.so.0"
        source.write_text(stubs, encoding="utf-8")
        subprocess.run([*COMPILER, "-g", "-shared", "-fPIC", "-Wl,-soname,libwavemem.so.0", "-I", headers.parent, source, "-o", library],
                       check=True)
        return library, headers

    def compare(self, code, change=lambda name, text: text, stubs=STUBS, old=STUBS):
        words = [*self.library("old", stubs=old), *self.library("new", change, stubs)]
        done = subprocess.run([ROOT / "dev/abi", "--compare", *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8")
        self.assertEqual(done.returncode, code, done.stdout)
        return done.stdout

    @staticmethod
    def member(struct, text, at_end=True):
        """Adds a member to the struct: before the brace that ends it, or as the first one."""
        def change(_, header):
            if at_end:
                return re.sub(rf"(?ms)(^struct {struct} {{\n.*?)^}};", rf"\1    {text}\n}};", header)
            return re.sub(rf"(?m)^struct {struct} {{\n", rf"\g<0>    {text}\n", header)
        return change

    def test_nothing(self):
        self.assertIn("compatible", self.compare(0))

    def test_function_added(self):
        self.compare(0, stubs=STUBS + MORE)

    def test_function_removed(self):
        self.assertIn("wm_version", self.compare(1, old=STUBS + MORE))

    def test_struct_with_size_grows(self):
        self.compare(0, self.member("wm_result", "uint64_t more;"))

    def test_struct_with_size_changes(self):
        self.assertIn("more", self.compare(1, self.member("wm_dispatch", "uint64_t more;", at_end=False)))

    def test_struct_of_an_array_grows(self):
        self.assertIn("more", self.compare(1, self.member("wm_finding", "uint64_t more;")))

    def test_type_of_a_member(self):
        def change(_, text):
            return text.replace("uint64_t count; /* executions, counted per wave */", "uint32_t count;")
        self.compare(1, change)

    def test_wrong(self):
        done = subprocess.run([ROOT / "dev/abi", "no-such-revision"], stderr=subprocess.PIPE, encoding="utf-8")
        self.assertEqual((done.returncode, done.stderr), (2, "dev/abi: no revision 'no-such-revision'\n"))


if __name__ == "__main__":
    if not shutil.which("abidiff"):
        print("skipped: no abidiff")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
