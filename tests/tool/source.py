# SPDX-License-Identifier: MIT
"""Source files that reports may show and include: those below the current folder and below --source-path.

usage: source.py WAVEMEM FOLDER_OF_CODE_OBJECTS [TEST...]
"""
import os
import shutil

import command
from command import Case

# A load that belongs to the line with the marker; gfx900.
KERNEL = """
    .text
    .globl k
    .p2align 8
    .type k,@function
k:
    s_load_dword s2, s[0:1], 0x0 // MARKER
    s_endpgm
.Lend:
    .size k, .Lend-k
    .section .rodata,"a",@progbits
    .p2align 6
    .amdhsa_kernel k
        .amdhsa_user_sgpr_kernarg_segment_ptr 1
        .amdhsa_next_free_vgpr 1
        .amdhsa_next_free_sgpr 8
    .end_amdhsa_kernel
    .amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.target: amdgcn-amd-amdhsa--gfx900
amdhsa.kernels:
  - {.name: k, .symbol: k.kd, .kernarg_segment_size: 4, .kernarg_segment_align: 8, .group_segment_fixed_size: 0,
     .private_segment_fixed_size: 0, .wavefront_size: 64, .sgpr_count: 8, .vgpr_count: 1, .max_flat_workgroup_size: 64,
     .args: [{.name: count, .offset: 0, .size: 4, .value_kind: by_value}]}
...
    .end_amdgpu_metadata
"""
OMITTED = "sources omitted, outside the current folder and those of --source-path: "


class Source(Case):
    def setUp(self):
        super().setUp()
        for name in ("here", "build/kernels/deep", "here/moved/deep", "here/flat"):
            os.makedirs(self.path(name))
        self.build = self.path("build/kernels/deep/k.s")
        self.path("build/kernels/deep/k.s", KERNEL.replace("MARKER", "built").encode())
        self.run_tool(["asm", "-m", "gfx900", "-g", self.build, "-o", self.path("here/k.co")])
        self.top, self.folder.name = self.folder.name, self.path("here")  # commands run in here/
        self.addCleanup(setattr, self.folder, "name", self.top)

    def prof(self, *words, verb="prof k.co -g 64 -b 64 --arg count=1"):
        """The markers of source lines in the output of --source, --html and --trace; and the text."""
        out, _ = self.run_tool(verb, "--source --html page.html", "--trace x.trace" if verb.startswith("prof") else "", *words)
        found = [m for m in ("built", "moved", "flat") if "// " + m in out]
        page = self.read("page.html").decode()
        self.assertEqual([m for m in ("built", "moved", "flat") if "// " + m in page], found)
        replayed, _ = self.run_tool("replay x.trace --source --html again.html", *words)
        self.assertEqual([m for m in ("built", "moved", "flat") if "// " + m in replayed], found)
        for name in ("page.html", "again.html"):
            page = self.read(name).decode()
            self.assertEqual([m for m in ("built", "moved", "flat") if "// " + m in page], found)
            self.assertEqual("omitted: it lies outside" in page, not found and OMITTED in out)
        return found, out

    def put(self, name, marker):
        self.path(name, KERNEL.replace("MARKER", marker).encode())

    def test_outside_is_omitted(self):
        found, out = self.prof()
        self.assertEqual(found, [])
        self.assertTrue(out.endswith(OMITTED + self.build + "\n"), out)
        self.assertIn("s_endpgm", out)  # the listing instead
        self.assertNotIn("omitted", self.run_tool("prof k.co -g 64 -b 64 --arg count=1")[0])

    def test_missing_is_not_omitted(self):
        os.remove(self.build)
        found, out = self.prof()
        self.assertEqual(found, [])
        self.assertNotIn("omitted", out)
        self.assertIn("which could not be read", self.read("page.html").decode())

    def test_source_path(self):
        """Found by its name, or by the longest existing suffix of it; --source=DIR adds a folder."""
        folder = os.path.dirname(self.build)
        for words in (["--source-path", folder], ["--source-path", self.top], ["--source=" + folder]):
            self.assertEqual(self.prof(words)[0], ["built"])
        self.put("moved/deep/k.s", "moved")
        self.put("flat/k.s", "flat")
        self.assertEqual(self.prof("--source-path flat")[0], ["flat"])
        self.assertEqual(self.prof("--source-path moved")[0], ["moved"])
        self.assertEqual(self.prof("--source-path flat --source-path moved")[0], ["flat"])
        self.put("moved/k.s", "flat")
        self.assertEqual(self.prof("--source-path moved")[0], ["moved"])
        self.assertEqual(self.prof("--source-path flat/..", ["--source-path", folder])[0], ["built"])

    def test_links_do_not_lead_out(self):
        os.symlink(self.build, self.path("flat/k.s"))
        self.assertEqual(self.prof("--source-path flat")[0], [])
        os.remove(self.path("flat/k.s"))
        os.symlink(os.path.dirname(self.build), self.path("linked"))
        self.assertEqual(self.prof()[0], [])
        self.assertEqual(self.prof("--source-path linked")[0], ["built"])  # the folder itself may be one
        os.symlink(self.path("moved/deep/k.s"), self.path("flat/k.s"))
        self.put("moved/deep/k.s", "moved")
        self.assertEqual(self.prof("--source-path flat")[0], ["moved"])  # below the current folder

    def test_names_do_not_lead_out(self):
        """A name with .. in it, next to the code object or elsewhere."""
        os.makedirs(self.path("sub"))
        self.run_tool(["asm", "-m", "gfx900", "-g", "../build/kernels/deep/k.s", "-o", "k.co"])
        found, out = self.prof()
        self.assertEqual((found, out.endswith(OMITTED + "../build/kernels/deep/k.s\n")), ([], True), out)
        self.assertEqual(self.prof("--source-path ../build")[0], ["built"])
        shutil.copytree(os.path.join(self.top, "build"), self.path("build"))
        shutil.copy(self.path("k.co"), self.path("sub/k.co"))
        self.assertEqual(self.prof(verb="prof sub/k.co -g 64 -b 64 --arg count=1")[0], ["built"])  # sub/../build

    def test_similar_names_are_outside(self):
        """/a/here is not below /a/her."""
        os.makedirs(os.path.join(self.top, "her"))
        self.assertEqual(self.prof("--source-path ../her")[0], [])
        self.assertEqual(self.prof(["--source-path", self.top + "/build/"])[0], ["built"])

    def test_wrong_folders(self):
        for verb in ("prof k.co -g 64 -b 64 --arg count=1", "replay x.trace"):
            self.refused("--source-path nix: No such file", verb, "--source-path nix")
            self.refused("--source nix: No such file", verb, "--source=nix")
            self.refused("--source-path k.co: not a folder", verb, "--source-path k.co")
            self.refused("--source-path .: at most 32", verb, "--source-path . " * 33)
        self.refused("--source-path: 'wavemem prof' counts", "run k.co -g 64 -b 64 --arg count=1 --source-path .")


if __name__ == "__main__":
    command.main()
