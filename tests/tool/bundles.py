# SPDX-License-Identifier: MIT
"""Offload bundles, with every verb that takes a code object.

usage: bundles.py WAVEMEM FOLDER_OF_CODE_OBJECTS [TEST...]
"""
import json
import os
import re
import unittest
import subprocess
import shutil

import command
from command import Case, npy, pack


class Bundles(Case):
    def bundle(self, name):
        return [os.path.join(command.EXAMPLES, "..", "hip", name + ".hipfb")]

    def test_info(self):
        for form in ("plain", "packed"):
            file = self.bundle("segments." + form)
            out = self.run_tool(["info"] + file)[0]
            self.assertIn(": 1 offload bundle%s, 3 entries\n" % (" (1 compressed)" if form == "packed" else ""), out)
            self.assertRegex(out, r"(?m)^ *2 +gfx906 +0 +0x[0-9a-f]+ +\d+  hipv4-amdgcn-amd-amdhsa--gfx906$")
            report = json.loads(self.run_tool(["info", "--json"] + file)[0])
            self.assertEqual([e["target"] for e in report["entries"]], ["", "gfx900", "gfx906"])
            self.assertNotIn("kernels", report)
            for choice in ("gfx906", "2", "gfx906:xnack-"):
                report = json.loads(self.run_tool(["info", "--json"] + file, "-m", choice)[0])
                self.assertEqual(report["target"], "gfx906")
                self.assertEqual(report["kernels"][0]["source_name"], "reduce_segments<long, add>")
        self.refused("none of its 2 code objects has a kernel 'reduce_segments'", ["info"] + file,
                     ["-k", "reduce_segments"])
        self.refused("no entry for 'gfx1030'; it has 1 gfx900, 2 gfx906", ["info"] + file, "-m gfx1030")

    def test_run(self):
        """A convolution with a single weight of 1, two places to the right, shifts its input by two."""
        for form in ("plain", "packed"):
            words = ["run"] + self.bundle("convolve." + form)
            words += ["-g", "128", "-b", "64", "--lds", "280", "--arg", "out=zero:f32:100", "--arg", "n=100",
                      "--arg", "in=iota:f32:100", "--arg", "weights=f32:0,0,0,0,0,1,0", "--out", "out=out.bin"]
            kernel = ["-k", "filter::convolve<float, 3>"]
            for target in ("gfx900", "gfx906"):
                self.run_tool(words, [*kernel, "-m", target])
                self.assertEqual(self.read("out.bin"), pack("f32", [*range(2, 100), 0, 0]))
            self.run_tool(words, ["-m", "gfx900", "-k", "_ZN6filter8convolveIfLi3EEEvPT_PKS1_jNS_7weightsIS1_XT0_EEE"])
            self.refused("is in the entries 1 (gfx900), 2 (gfx906); -m chooses one", words, kernel)
            self.refused("none of its 2 code objects has a kernel 'filter::nothing'", words, "-k filter::nothing")
            self.refused("2 kernels are called 'filter::convolve'; say which: 'filter::convolve<float, 3>'",
                         words, "-m gfx900 -k filter::convolve")
            self.refused("no entry 7; they are numbered 0 to 2", words, kernel, "-m 7")

    @unittest.skipUnless(shutil.which("llvm-objcopy-19"), "no llvm-objcopy-19")
    def test_several_bundles(self):
        """A library has a bundle per source file: -k finds the one that has the kernel, of the target."""
        parts = []
        for name in ("convolve.plain", "segments.plain"):
            with open(self.bundle(name)[0], "rb") as file:
                parts.append(file.read())
        self.path("fat", parts[0] + bytes(-len(parts[0]) % 4096) + parts[1])
        subprocess.run(["llvm-objcopy-19", "--add-section=.hip_fatbin=fat", shutil.which("true"), "lib.so"], cwd=self.folder.name, check=True)
        of = {name: json.loads(self.run_tool("info -m gfx900 --json", self.bundle(name))[0])["kernels"][0]["source_name"]
              for name in ("convolve.plain", "segments.plain")}
        self.assertEqual(len(json.loads(self.run_tool("info --json lib.so")[0])["entries"]), 6)
        for kernel in of.values():
            out = json.loads(self.run_tool("info lib.so --json -m gfx906 -k", [kernel])[0])
            self.assertEqual([one["source_name"] for one in out["kernels"]], [kernel])
            self.assertEqual(out["target"].split(":")[0], "gfx906")
            self.assertIn("endpgm", self.run_tool("dis lib.so -m gfx900 -k", [kernel])[0])
            self.lacks_something(self.run_tool("run lib.so -m gfx900 -k", [kernel], code=2)[1], kernel)
        self.refused("none of its 2 code objects for gfx906 has a kernel 'nothing'", "run lib.so -m gfx906 -k nothing")
        self.refused("is in the entries", "run lib.so -k", [of["segments.plain"]])

    def lacks_something(self, err, kernel):
        self.assertTrue(err.startswith(f"wavemem: {kernel} needs more options"), err)

    def test_dis(self):
        file = self.bundle("convolve.packed")
        out = self.run_tool(["dis"] + file, ["-m", "gfx906", "-k", "filter::convolve<double,8>"])[0]
        self.assertIn("<_ZN6filter8convolveIdLi8E", out)
        self.assertNotIn("<_ZN6filter8convolveIfLi3E", out)
        demangled = self.run_tool(["dis"] + file, ["-m", "gfx906", "-C", "-k", "filter::convolve<double,8>"])[0]
        self.assertIn("<filter::convolve<double, 8>>:\n", demangled)
        self.assertEqual(demangled, re.sub(r"<_ZN6filter8convolveIdLi8E\w*", "<filter::convolve<double, 8>", out))
        self.assertEqual(self.run_tool(["dis"] + file, "-m gfx906")[0], self.run_tool(["dis"] + file, "-m 2")[0])
        self.refused("2 code objects; say which", ["dis"] + file)
        self.refused("a code object; --raw is for instructions alone", ["dis"] + file, "-m gfx906 --raw")
        other = self.bundle("segments.plain")
        each = [self.run_tool(["dis", "-m", "gfx900"] + one)[0] for one in (other, file, other)]
        self.assertEqual(self.run_tool(["dis", "-m", "gfx900"] + other + file + other)[0], "".join(each))
        self.refused("--json takes one file, and there are 2", ["dis", "--json", "-m", "gfx900"] + file + other)

    def test_prof(self):
        words = ["prof", "--json"] + self.bundle("segments.plain")
        words += ["-m", "gfx900", "-k", "reduce_segments<int, maximum>", "-g", "64", "-b", "64", "--lds", "4"]
        words += ["--arg", "result=zero:i32:1", "--arg", "in=iota:i32:64", "--arg", "start=@start.npy",
                  "--expect", "result=fill:i32:1:63"]
        self.path("start.npy", npy("<u4", "(2,)", pack("u32", [0, 64])))
        rows = json.loads(self.run_tool(words)[0])["rows"]
        self.assertIn("DS", {row["path"] for row in rows})
        self.assertIn("segments.hip", {os.path.basename(row["file"] or "") for row in rows})


if __name__ == "__main__":
    command.main()
