# SPDX-License-Identifier: MIT
"""The tools for Compiler Explorer, called as its class readelf-tool calls them: options of the properties, what the user types, the file.

usage: compiler_explorer.py WAVEMEM FOLDER_OF_CODE_OBJECTS [TEST...]
"""
import os
import shlex
import subprocess
import time

import cmd_mcp
import command
from command import Case

FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "contrib/compiler-explorer")


class CompilerExplorer(Case):
    def setUp(self):
        super().setUp()
        with open(os.path.join(FOLDER, "wavemem.properties"), encoding="utf-8") as file:
            self.properties = dict(line.strip().split("=", 1) for line in file if "=" in line and line[0] != "#")

    def tool(self, tool, typed, file, code=0, **environment):
        """Source: compiler-explorer, lib/tooling/base-tool.ts, runTool()."""
        options = self.properties[f"tools.{tool}.options"].split()
        exe = os.path.join(FOLDER, os.path.basename(self.properties[f"tools.{tool}.exe"]))
        done = subprocess.run([exe, *options, *shlex.split(typed), file], capture_output=True, cwd=self.folder.name, check=False,
                              env={**os.environ, "WAVEMEM": command.WAVEMEM, "WAVEMEM_CE_KIB": "unlimited" if command.is_sanitized() else "2097152",
                                   **environment})
        self.assertEqual(done.returncode, code, done)
        self.assertNotIn(b"\x1b", done.stdout + done.stderr)
        return (done.stderr if code else done.stdout).decode()

    def test_properties(self):
        names = self.properties["tools"].split(":")
        self.assertEqual({name.split(".")[1] for name in self.properties if name.startswith("tools.")}, set(names))
        for name in names:
            self.assertEqual({key.split(".")[2] for key in self.properties if key.startswith(f"tools.{name}.")},
                             {"name", "exe", "options", "type", "class", "exclude", "stdinHint"})

    def test_tools(self):
        transpose, = self.example("transpose")
        out = self.tool("wavememprof", "", transpose)
        for kernel in ("transpose_naive", "transpose_lds", "transpose_unpadded"):
            self.assertIn(f"verdict    {kernel} is bound by", out)
        out = self.tool("wavememprof", "-k transpose_naive -g 64,64 -b 16,16 -a n=64 --gpu vega64", transpose)
        self.assertIn("uncoalesced stores (transpose.cl:10)", out)
        vecadd, = self.example("vecadd")
        out = self.tool("wavememcheck", "-g 1024 -b 64 -a c=zero:f32:1000 -a n=1024", vecadd)
        self.assertIn("vecadd.cl:8", out)
        self.assertIn("found", out)

    def test_limits(self):
        self.path("spin.s", cmd_mcp.ENDLESS.encode())
        self.run_tool("asm -m gfx900 spin.s -o spin.co")
        begin = time.monotonic()
        out = self.tool("wavememprof", "", "spin.co", WAVEMEM_CE_SECONDS="1")
        self.assertRegex(out, "1 s|seconds|time")
        self.assertLess(time.monotonic() - begin, 30)
        self.assertEqual(len(self.tool("wavememprof", "", self.example("transpose")[0], WAVEMEM_CE_BYTES="1000").encode()), 1000)

    def test_refused(self):
        vecadd, = self.example("vecadd")
        for typed, message in (("--json=x", "--json=x: not one of the arguments"), ("--html x", "not one of"), ("-a a=@/etc/passwd", "files are not read"),
                               ("-k", "-k needs a value"), ("-o c=x", "not one of"), ("--trace x", "not one of"), ("x.co", "not one of"),
                               ("--then", "not one of"), ("-kvecadd", "not one of"), ("--job x", "not one of")):
            self.assertIn(message, self.tool("wavememprof", typed, vecadd, code=2))
            self.assertEqual(os.listdir(self.folder.name), [])
        self.assertIn("Link to binary", self.tool("wavememprof", "", "absent", code=2))
        done = subprocess.run([os.path.join(FOLDER, "wavemem-ce"), "run", vecadd], capture_output=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.path("text", b"no object")
        self.assertIn("text", self.tool("wavememprof", "", "text"))


if __name__ == "__main__":
    command.main()
