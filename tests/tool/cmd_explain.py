# SPDX-License-Identifier: MIT
"""wavemem explain: descriptors, addresses, formats.

usage: cmd_explain.py WAVEMEM FOLDER_OF_CODE_OBJECTS [TEST...]
"""
import json

import command
from command import Case


class Explain(Case):
    WORDS = ["-m", "gfx900", "0x00010000", "0x00100000", "0x00000400", "0x00027fac"]
    LOAD = "buffer_load_dwordx2 v[1:2], v3, s[4:7], s8 idxen offset:16"
    ADDRESS = ["explain", "address", "-m", "gfx900", LOAD, "--set",
               "s[4:7]=0x00010000,0x00100000,0x00000400,0x00027fac", "--set", "s8=64"]

    def test_places_of_the_manuals(self):
        """A format load to LDS (Vega ISA, "Memory Buffer Load to LDS"), LDS partly in range (RDNA 4 ISA, "LDS Alignment and
        Out-of-Range"), a V# without a format (RDNA 3 ISA, "Unbound Resources"), the default apertures of gfx7 (KFD)."""
        def explained(target, instruction, *options):
            return self.run_tool(["explain", "address", "--lane", "0", "-m", target], [instruction], list(options))[0]

        text = explained("gfx900", "buffer_load_format_x v4, s[4:7], 0 offen lds", "--set",
                             "s[4:7]=0x10000,0,132,0x27fac", "--set", "v4=lane*4")
        self.assertIn("1 place of 4 bytes per lane", text)
        text = explained("gfx1200", "ds_load_b64 v[2:3], v1", "--set", "v1=508", "--lds", "512")
        self.assertIn("range: 508 + 4 <= 512 bytes of LDS", text)
        self.assertIn("range: 512 + 4 > 512 bytes of LDS", text)
        text = explained("gfx1100", "ds_load_b64 v[2:3], v1", "--set", "v1=508", "--lds", "512")
        self.assertIn("range: 508 + 8 > 512 bytes of LDS", text)
        for word3, bound in (("0xfac", False), ("0x14fac", True), ("0x80014fac", False)):
            text = explained("gfx1100", "buffer_load_b32 v4, off, s[4:7], 0", "--set",
                                 f"s[4:7]=0x10000,0,64,{word3}")
            self.assertEqual("the V# is not bound" in text, not bound)
        text = explained("gfx700", "flat_load_dword v4, v[2:3]", "--set", "v2=16", "--set", "v3=0x20000001")
        self.assertIn("private aperture 0x2000000100000000 to 0x20000001ffffffff: yes", text)

    def test_descriptors(self):
        out = self.run_tool("explain", "descriptor", self.WORDS)[0]
        self.assertRegex(out, r"(?m)^ +48-61  STRIDE +16  16 bytes$")
        report = json.loads(self.run_tool("explain", "descriptor", "--json", self.WORDS)[0])
        fields = {f["name"]: f["value"] for f in report["fields"]}
        self.assertEqual((fields["BASE_ADDRESS"], fields["STRIDE"], fields["NUM_RECORDS"]), (0x10000, 16, 0x400))
        self.assertEqual(report["kind"], "buffer")
        report = json.loads(self.run_tool("explain descriptor --json -m gfx900 0 0 0 0x90000fac 0 0 0 0")[0])
        self.assertEqual(report["kind"], "image")
        report = json.loads(self.run_tool("explain descriptor --json -m gfx900 --kind sampler 0 0 0 0")[0])
        self.assertEqual(report["kind"], "sampler")

    def test_fields_make_words(self):
        out = self.run_tool("explain", "descriptor", "-m", "gfx1030", "base_address=0x10000", "STRIDE=8",
                            "NUM_RECORDS=20", "FORMAT=22", "RESOURCE_LEVEL=1")[0]
        self.assertTrue(out.startswith("gfx1030 buffer 0x00010000 0x00080000 0x00000014 0x01016000\n"), out)
        self.assertNotIn("warning", out)

    def test_addresses(self):
        out = self.run_tool(self.ADDRESS, ["--set", "v3=lane*2", "--lane", "5"])[0]
        self.assertIn("linear: 10 x stride 16 + 16 = 176", out)
        self.assertIn("8 bytes at 0x100f0: in range", out)
        out = self.run_tool(self.ADDRESS, ["--set", "v3=1000 + (lane << 2)"])[0]  # all lanes as a table
        self.assertRegex(out, r"(?m)^ +5  memory +0x14010  in range$")  # 0x10000 + 64 + 1020 * 16 + 16
        self.assertRegex(out, r"(?m)^ +6  memory +0x14050  out of range: gives 0$")  # record 1024

    def test_addresses_as_json(self):
        report = json.loads(self.run_tool(self.ADDRESS, ["--json", "--set", "v3=lane", "--set", "exec=0x30"])[0])
        self.assertEqual([lane["lane"] for lane in report["lanes"]], [4, 5])
        self.assertEqual(report["lanes"][1]["places"][0]["address"], hex(0x10000 + 64 + 5 * 16 + 16))
        report = json.loads(self.run_tool("explain address --json -m gfx900".split(), ["flat_load_dword v1, v[2:3]"],
                                          ["--set", "v[2:3]=(2<<48)+lane*8", "--set", "flat_scratch=0x100000000",
                                           "--lane", "3"])[0])
        place = report["lanes"][0]["places"][0]
        self.assertEqual((place["space"], place["private_offset"]), ("private", 24))
        self.assertEqual(place["address"], hex(0x100000000 + 24 * 64 + 3 * 4))
        self.assertGreater(len(report["steps"]), 3)

    def test_apertures(self):
        """As --apertures of run; the default is the target's (LLVM AMDGPUUsage: on gfx7 and gfx8 the aperture is the upper half of a
        64-bit address)."""
        flat = ["explain", "address", "-m", "gfx900", "--lane", "3", "flat_load_dword v1, v[2:3]", "--set"]
        out = self.run_tool(flat, ["v[2:3]=(3<<48)+lane*4", "--apertures", "0x3000000000000,0x5000000000000"])[0]
        self.assertIn("shared aperture 0x3000000000000 to 0x30000ffffffff: yes", out)
        self.assertIn("4 bytes at 0xc of LDS: in range", out)
        self.refused("expected two addresses, SHARED_BASE,PRIVATE_BASE", flat, ["v2=0", "--apertures", "0x3000000000000"])
        self.refused("expected two multiples of 2^32", flat, ["v2=0", "--apertures", "1,2"])
        self.refused("gfx600 has no FLAT instructions", "explain address -m gfx600 --apertures 1,2".split(), ["ds_read_b32 v0, v1"])

    def test_scalar_address(self):
        out = self.run_tool("explain address -m gfx700".split(), ["s_load_dwordx2 s[0:1], s[4:5], 0x10"],
                            ["--set", "s[4:5]=0x123456789003"])[0]
        self.assertIn("offset = 16 dwords (instruction) = 64 bytes", out)
        self.assertIn("8 bytes at 0x123456789040", out)

    def test_formats(self):
        out = self.run_tool("explain", "format", "-m", "gfx900", "8_8_8_8", "unorm", "0x80402010")[0]
        self.assertRegex(out, r"W  bits 31:24 +0x80 +->  0.50196081")  # the f32 at 128 / 255
        out = self.run_tool("explain", "format", "-m", "gfx900", "16_16", "snorm", "--store", "0.5,-1.0")[0]
        self.assertIn("element 00 40 01 80 ", out)  # 16383.5 to even, -32767
        report = json.loads(self.run_tool("explain", "format", "--json", "-m", "gfx1100", "buf_fmt_8_sint", "0xff")[0])
        self.assertEqual((report["code"], report["components"][0]["value"]), (6, "-1"))
        self.refused("gfx1100 has no such buffer format", ["explain", "format", "-m", "gfx1100", "8", "float", "1"])
        self.refused("expected 1 word that has no more", ["explain", "format", "-m", "gfx900", "8", "uint", "0x100"])
        self.refused("expected unsigned integers", ["explain", "format", "-m", "gfx900", "8", "uint", "--store", "x"])
        self.refused("a format is needed", ["explain", "format", "-m", "gfx900"])

    def test_refusals(self):
        ask = ["explain", "descriptor", "-m", "gfx900"]
        self.refused("expected descriptor, address, format or image", ["explain", "zzzz"])
        self.refused("did you mean 'address'", ["explain", "adress"])
        self.refused("expected buffer, image or sampler", ask, "--kind zzzz 1 2 3 4")
        self.refused("did you mean 'sampler'", ask, "--kind samples 1 2 3 4")
        self.refused("a target is needed", ["explain", "descriptor", "1"])
        self.refused("3 words, expected 4", ask, "1 2 3")
        self.refused("no field of that name on gfx900", ask, "ELEMENT_SIZE=1")
        self.refused("the field has 14 bits", ask, "STRIDE=16384")
        self.refused("gfx942 has no image descriptors", "explain descriptor -m gfx942 --kind image TYPE=9")
        self.refused("an instruction is needed", "explain address -m gfx900")
        self.refused("'ds_read_b33 v0, v1': no instruction of gfx900", "explain address -m gfx900".split(),
                     ["ds_read_b33 v0, v1"])
        self.refused("lane 33 is not active", "explain address --lane 33 -m gfx1100".split(), ["ds_load_b32 v0, v1"])
        for wrong, why in (("v3", "expected REGISTER=VALUE"), ("v3=", "expected an expression"),
                           ("v3=lane*", "expected an expression"), ("v3=1/0", "expected an expression"),
                           ("v3=" + "(" * 99, "expected an expression"), ("v3=1,2", "more values than registers"),
                           ("s[4:7]=1,2", "4 registers, 2 values"), ("v3=1<<32", "more than 32 bits"),
                           ("v300=1", "no register of gfx900"), ("s[7:4]=1", "no register of gfx900")):
            self.refused(why, self.ADDRESS, ["--set", wrong])


if __name__ == "__main__":
    command.main()
