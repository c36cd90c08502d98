# SPDX-License-Identifier: MIT
"""Drives the command as a user does: wrong words, arrays and .npy files, comparisons, jobs, disassembly.

usage: cli.py WAVEMEM FOLDER_OF_CODE_OBJECTS [TEST...]

References are this file's own (the .npy format and the random numbers as documented), NumPy and llvm-objdump
where they are installed.
"""
import json
import math
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

WAVEMEM = EXAMPLES = None
MASK = 2**64 - 1
# type: struct's letter, NumPy's name
TYPES = {"i8": ("b", "|i1"), "u8": ("B", "|u1"), "i16": ("h", "<i2"), "u16": ("H", "<u2"),
         "i32": ("i", "<i4"), "u32": ("I", "<u4"), "i64": ("q", "<i8"), "u64": ("Q", "<u8"),
         "f16": ("e", "<f2"), "f32": ("f", "<f4"), "f64": ("d", "<f8")}


def npy(descr, shape, data, version=1, fortran=False):
    """A .npy file; source: numpy.lib.format."""
    header = f"{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}".encode()
    before = 10 if version == 1 else 12
    header += b" " * (-(before + len(header) + 1) % 64) + b"\n"
    length = struct.pack("<H" if version == 1 else "<I", len(header))
    return b"\x93NUMPY" + bytes([version, 0]) + length + header + data


def pack(type_name, values):
    return struct.pack(f"<{len(values)}{TYPES[type_name][0]}", *values)


def random_elements(type_name, count, seed):
    """rand:TYPE:N:SEED as the manual page defines it."""
    bits, elements = int(type_name[1:]), []
    for i in range(count):
        z = (seed * 0x9E3779B97F4A7C15 + i + 0x9E3779B97F4A7C15) & MASK
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
        z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
        z ^= z >> 31
        if type_name[0] == "f":
            significand = {16: 11, 32: 24, 64: 53}[bits]
            elements.append((z >> 64 - significand) / 2.0**significand)
        else:
            top = z >> 64 - bits
            elements.append(top - 2**bits if type_name[0] == "i" and top >> bits - 1 else top)
    return elements


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name, content=None):
        path = os.path.join(self.folder.name, name)
        if content is not None:
            with open(path, "wb") as file:
                file.write(content)
        return path

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def run_tool(self, *words, code=0, stdin=None):
        """Runs the command in the folder; words of one string are separated by blanks."""
        words = [w for word in words for w in (word.split() if isinstance(word, str) else word)]
        done = subprocess.run([WAVEMEM] + words, capture_output=True, cwd=self.folder.name, input=stdin,
                              timeout=120)
        out, err = done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
        self.assertEqual(done.returncode, code, f"wavemem {' '.join(words)}\n{out}{err}")
        return out, err

    def refused(self, expected, *words):
        """Exit code 2 with one line on stderr in which `expected` stands, and nothing on stdout."""
        out, err = self.run_tool(*words, code=2)
        self.assertEqual(out, "")
        self.assertTrue(err.startswith("wavemem: ") and err.count("\n") == 1, err)
        self.assertIn(expected, err)

    @staticmethod
    def example(name):
        return [os.path.join(EXAMPLES, name + ".co")]

    def vecadd(self, *words, count=100, **kept):
        """The words of a vecadd over so many elements; keywords replace arguments, None leaves one out."""
        given = {"a": f"iota:f32:{count}", "b": f"fill:f32:{count}:0.5", "c": f"zero:f32:{count}",
                 "n": str(count)}
        given.update(kept)
        arguments = [w for k, v in given.items() if v is not None for w in ("--arg", f"{k}={v}")]
        return ["run"] + self.example("vecadd") + ["-g", str(count), "-b", "64"] + arguments + list(words)


class Tess(Case):
    NUMBERS = "tess --layout radeonsi-2016 --patches 32 --vertices 3 --attributes 4 --patch-attributes 2".split()

    def test_map(self):
        out = self.run_tool(self.NUMBERS)[0]
        self.assertIn("word 0x18000620, 7168 bytes", out)  # 32 | 3 << 9 | 6144 << 16
        self.assertRegex(out, r"(?m)^ +6656 - 7167 +attribute  1 of each patch$")

    def test_places(self):
        out = self.run_tool(self.NUMBERS, "--patch 5 --vertex 2 --attribute 1")[0]
        self.assertIn("1 x 1536 + (patch 5 x 3 + vertex 2) x 16 + 0 = 1808", out)
        report = json.loads(self.run_tool("tess --json --word 0x18000620 --patch-attributes 2 --offset 1812")[0])
        self.assertEqual(report["place"], {"offset": 1812, "per_patch": False, "patch": 5, "vertex": 2,
                                           "attribute": 1, "component": 1, "byte": 0})
        report = json.loads(self.run_tool(self.NUMBERS, "--json --patch 5 --semantic tessinner")[0])
        self.assertEqual(report["place"]["offset"], 6144 + 16 * (5 + 32))

    def test_lines_and_picture(self):
        report = json.loads(self.run_tool(self.NUMBERS, "--json --lines --svg map.svg")[0])
        self.assertEqual((report["lines"]["store"], report["lines"]["load"]), (16, 24))
        root = xml.etree.ElementTree.fromstring(self.read("map.svg"))
        boxes = root.findall("{http://www.w3.org/2000/svg}rect")
        self.assertEqual(len(boxes), 1 + 6 * 32)  # the paper, and a box per attribute and patch

    def test_refusals(self):
        self.refused("did you mean", ["tess", "--patchs", "3"])
        self.refused("are needed, or --word", ["tess", "--patches", "3"])
        self.refused("not both", self.NUMBERS, "--offset 3 --patch 1 --attribute 1")
        self.refused("a patch has 3", self.NUMBERS, "--patch 1 --attribute 1 --vertex 3")
        self.refused("no such tessellation layout", self.NUMBERS, "--layout radv")
        self.refused("the buffer has 7168", self.NUMBERS, "--offset 7168")
        self.refused("--vertex is needed", self.NUMBERS, "--patch 1 --semantic generic,0")
        self.refused("--svg /nowhere/a.svg", self.NUMBERS, "--svg /nowhere/a.svg")


class Explain(Case):
    WORDS = ["-m", "gfx900", "0x00010000", "0x00100000", "0x00000400", "0x00027fac"]
    LOAD = "buffer_load_dwordx2 v[1:2], v3, s[4:7], s8 idxen offset:16"
    ADDRESS = ["explain", "address", "-m", "gfx900", LOAD, "--set",
               "s[4:7]=0x00010000,0x00100000,0x00000400,0x00027fac", "--set", "s8=64"]

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
        out = self.run_tool(self.ADDRESS, ["--set", "v3=1000 + (lane << 2)"])[0]  # all lanes, in a table
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
        self.refused("expected descriptor, address or format", ["explain", "zzzz"])
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


class Words(Case):
    def test_verbs(self):
        out, _ = self.run_tool("--help")
        for verb in ("run", "prof", "dis", "info", "explain", "tess"):
            self.assertRegex(out, rf"(?m)^  {verb}\b")
        self.assertRegex(self.run_tool("--version")[0], r"^wavemem \d+\.\d+\.\d+\n$")
        self.refused("did you mean 'prof'", "porf")
        self.refused("did you mean 'run'", "rnu")
        self.refused("unknown verb 'zzzzzz'; 'wavemem --help'", "zzzzzz")
        self.assertIn("usage: wavemem VERB", self.run_tool(code=2)[1])

    def test_help_teaches_by_example(self):
        for verb in ("run", "prof", "dis", "info", "explain", "tess"):
            out, err = self.run_tool(verb, "--help")
            self.assertEqual(err, "")
            self.assertIn(f"usage: wavemem {verb}", out)
            self.assertIn("  wavemem " + verb, out)

    def test_manual_page_knows_every_option(self):
        page = os.path.join(os.path.dirname(__file__), "..", "..", "docs", "wavemem.1")
        with open(page, encoding="utf-8") as file:
            text = file.read()
        for verb in ("run", "prof", "dis", "explain", "tess"):
            for option in re.findall(r"(?m)^ +(?:-\w, )? *--([a-z-]+)", self.run_tool(verb, "--help")[0]):
                self.assertIn(f"Fl Fl {option}", text)

    def test_options(self):
        co = self.example("vecadd")
        self.refused("did you mean --grid?", ["run"] + co, "--gird 4")
        self.refused("did you mean --plain?", ["dis"] + co, "--plian")
        self.refused("unknown option '-x'", ["run"] + co, "-x")
        self.refused("--stats takes no value", ["run"] + co, "--stats=3")
        self.refused("-g needs a value", ["run"] + co, "-g")
        self.refused("a code object is needed", "run")
        self.refused("-g X[,Y[,Z]] is needed", ["run"] + co)
        self.refused("-b X[,Y[,Z]] is needed", ["run"] + co, "-g 4")
        for wrong in ("0", "x", "4,", "1,2,3,4", "-4", "4294967296", "1,,2"):
            self.refused(f"-g {wrong}: expected work-items", ["run"] + co, "-b 64", ["-g", wrong])
        self.refused("has at most 256 work-items", ["run"] + co, "-g 4 -b 32,32")
        self.refused("compiled for workgroups of 16,16,1",
                     ["run"] + self.example("transpose"), "-k transpose_lds -g 32,32 -b 8,8")
        self.refused("-j x: expected", self.vecadd("-j", "x"))
        self.refused("--timeout 0: expected seconds", self.vecadd("--timeout", "0"))
        self.refused("--max-instructions", self.vecadd("--max-instructions=-1"))
        self.refused("--alignment odd: expected unaligned, dword", self.vecadd("--alignment", "odd"))
        self.refused("-m gfx9999: not a target", self.vecadd("-m", "gfx9999"))
        self.refused("unexpected 'more.co'", self.vecadd("more.co"))
        self.refused("nothing.co", "run nothing.co -g 1 -b 1")

    def test_kernels(self):
        co = self.example("transpose")
        self.refused("it has names with that: 'transpose_", ["run"] + co, "-k transpos -g 4 -b 4")
        self.refused("-k KERNEL is needed: ", ["run"] + co, "-g 4 -b 4")


class Arguments(Case):
    def test_scalars(self):
        for value, why in {"1.5": "'1.5' is no uint; expected a whole number",
                           "-1": "'-1' does not fit into uint",
                           "4294967296": "does not fit into uint", "f32:1": "f32 is not uint; expected u32",
                           "u64:1": "u64 has 8 bytes; expected u32",
                           "bits:0x100000000": "does not fit into 4 bytes",
                           "bits:12": "expected bits:0x", "bytes:0102": "2 bytes given; expected 4",
                           "bytes:0": "do not come in pairs", "bytes:0g": "'g' is no hexadecimal digit",
                           "1,2": "2 values given; expected 1", "0x": "is no uint", "": "expected NAME=VALUE",
                           "zero:u32:4": "is no value", "same:a": "is a buffer; expected a value",
                           "lds:4": "is no value"}.items():
            self.refused(why, self.vecadd(n=value))
        sums = self.path("sums.bin", pack("f32", [i + 0.5 for i in range(100)]))
        for value in ("100", "0x64", "u32:100", "i32:100", "bits:0x64", "bytes:64000000"):
            out, _ = self.run_tool(self.vecadd("--expect", f"c=@{sums}", n=value))
            self.assertIn("all 100 elements agree", out)
        saxpy = ["run"] + self.example("saxpy") + ["-g", "4", "-b", "4"]
        self.refused("'x' is no float; expected a number like 1.5", saxpy, "--arg alpha=x")
        self.refused("i32 is not float", saxpy, "--arg alpha=i32:2")

    def test_buffers(self):
        self.path("odd.bin", b"12345")
        self.path("none.bin", b"")
        for value, why in {"3": "expected a buffer", "zero:u32:4": "the elements are u32; expected f32",
                           "zero:f64:4": "the elements are f64; expected f32",
                           "zero:f32:0": "no number of elements",
                           "zero:f32:-4": "no number of elements", "zero:f32": "no number of elements",
                           "zero:g32:4": "'g32' is no type", "zero:f32:4:1": "unexpected ':1'",
                           "fill:f32:4": "expected fill:TYPE:N:VALUE", "fill:f32:4:x": "'x' is no f32 number",
                           "rand:f32:4": "expected rand:TYPE:N:SEED", "rand:f32:4:1.5": "is no seed",
                           "zero:f32:99999999999999999999": "no number of elements",
                           "zero:f32:9999999999999999": "do not fit into memory",
                           "@": "a file name must follow",
                           "@missing.npy": "missing.npy: cannot be read",
                           "@odd.bin": "no whole number of f32",
                           "@none.bin": "holds no elements", "bytes:": "needs hexadecimal digits",
                           "same:q": "no buffer 'q' is made", "same:a": "no buffer 'a' is made",
                           "same:c+400": "byte 400 lies behind the buffer, which has 400",
                           "lds:4": "expected a buffer"}.items():
            self.refused(why, self.vecadd(a=value))

    def test_names_and_positions(self):
        self.refused("argument 1 'b' of vecadd (float*) is missing: give --arg b=BUFFER", self.vecadd(b=None))
        self.refused("argument 3 'n' of vecadd (uint, 4 bytes) is missing: give --arg n=VALUE",
                     self.vecadd(n=None))
        self.refused("it takes: 0 a (float*), 1 b (float*), 2 c (float*), 3 n (uint, 4 bytes)",
                     self.vecadd(nix="3"))
        self.refused("no such argument", self.vecadd("--arg", "4=0"))
        self.refused("--arg a is given twice", self.vecadd("--arg", "a=null"))
        self.refused("--arg 0 is given twice", self.vecadd("--arg", "0=null"))
        self.refused("--arg n: expected NAME=VALUE", self.vecadd("--arg", "n"))
        doubled = pack("f32", [0, 2, 4, 6]).hex()
        out, _ = self.run_tool(["run"] + self.example("vecadd"), "-g 4 -b 4 --arg 3=4 --arg 2=zero:f32:4",
                               f"--arg 0=iota:f32:4 --arg 1=same:0 --expect c=bytes:{doubled}")
        self.assertIn("all 4 elements agree", out)


class Npy(Case):
    def copies(self, content, name="in.npy"):
        """Reads a .npy file into memory and writes it out again."""
        self.path(name, content)
        self.run_tool(self.vecadd("--buffer", f"x=@{name}", "--out", "x=out.npy", "--out", "x=out.bin"))
        return self.read("out.npy"), self.read("out.bin")

    def test_round_trip(self):
        for name, (letter, descr) in TYPES.items():
            data = pack(name, [0, 1, 2, 3, 4, 5])
            for version in (1, 2, 3):
                out, raw = self.copies(npy(descr, "(2, 3)", data, version))
                self.assertEqual(raw, data)
                self.assertEqual(out, npy(descr, "(2, 3)", data))
            self.assertEqual(self.copies(npy(descr, "(6,)", data, fortran=True))[0], npy(descr, "(6,)", data))
            self.assertEqual(self.copies(npy(descr, "()", data[:struct.calcsize(letter)]))[0],
                             npy(descr, "()", data[:struct.calcsize(letter)]))

    def test_numpy_agrees(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("NumPy is not installed")
        for name, (_, descr) in TYPES.items():
            array = numpy.arange(24).astype(descr).reshape(2, 3, 4)
            numpy.save(self.path("in.npy"), array)
            self.copies(self.read("in.npy"))
            self.assertEqual(self.read("out.npy"), self.read("in.npy"))
            self.run_tool(self.vecadd("--buffer", f"x=rand:{name}:9:5", "--out", "x=out.npy"))
            back = numpy.load(self.path("out.npy"))
            self.assertEqual((back.dtype, back.tolist()), (numpy.dtype(descr), random_elements(name, 9, 5)))

    def test_refused(self):
        data = pack("f32", [1, 2, 3, 4])
        for content, why in ((npy(">f4", "(4,)", data), "big-endian"),
                             (npy("<f4", "(2, 2)", data, fortran=True), "Fortran"),
                             (npy("<c8", "(2,)", data), "element type '<c8'"),
                             (npy("|O", "(2,)", data), "element type"),
                             (npy("<f4", "(5,)", data), "needs 5 elements"),
                             (npy("<f4", "(3,)", data), "needs 3 elements"),
                             (npy("<f4", "(4,", data), "malformed"),
                             (npy("<f4", "(0,)", b""), "holds no elements"),
                             (npy("<f4", "(99999999999, 99999999999)", data), "malformed 'shape'"),
                             (npy("<f4", "(-4,)", data), "malformed"),
                             (b"PK\x03\x04" + data * 4, "not a .npy file"),
                             (npy("<f4", "(4,)", data, version=4), "version 4.0"),
                             (b"\x93NUMPY\x01\x00", "not a .npy"),
                             (npy("<f4', 'x': '", "(4,)", data), "unknown key 'x'"),
                             (b"\x93NUMPY\x01\x00\x02\x00{}" + data, "lacks 'descr'"),
                             (b"\x93NUMPY\x02\x00\xff\xff\xff\xff" + data, "claims 4294967295 bytes")):
            self.path("bad.npy", content)
            self.refused(why, self.vecadd("--buffer", "x=@bad.npy"))

    def test_corrupt(self):
        """No truncation and no flipped bit in the header may crash."""
        good = npy("<f4", "(2, 3)", pack("f32", [0] * 6))
        cases = [good[:size] for size in range(0, len(good), 3)]
        for place in range(0, 70):
            flipped = bytearray(good)
            flipped[place] ^= 1 << place % 8
            cases.append(bytes(flipped))
        for content in cases:
            self.path("bad.npy", content)
            done = subprocess.run([WAVEMEM] + self.vecadd("--buffer", "x=@bad.npy"), capture_output=True,
                                  cwd=self.folder.name)
            self.assertIn(done.returncode, (0, 2), content)

    def test_random_numbers(self):
        for name in TYPES:
            for seed in (0, 7, 2**64 - 1):
                self.run_tool(self.vecadd("--buffer", f"x=rand:{name}:33:{seed}", "--out", "x=out.bin"))
                self.assertEqual(self.read("out.bin"), pack(name, random_elements(name, 33, seed)), name)

    def test_half(self):
        """Single numbers to binary16: ties, denormals, the largest and what lies behind it."""
        for text in ("1.5", "65504", "65519.99", "-65504", "6.1035e-05", "5.9604645e-08", "2.98023224e-08",
                     "2.9e-08",
                     "1.00048828125", "1.00146484375", "0.1", "-0", "1e-4", "nan", "0x1p-15"):
            value = float.fromhex(text) if "0x" in text else float(text)
            self.run_tool(self.vecadd("--buffer", f"x=fill:f16:1:{text}", "--out", "x=out.bin"))
            if math.isnan(value):
                self.assertTrue(math.isnan(struct.unpack("<e", self.read("out.bin"))[0]))
            else:
                self.assertEqual(self.read("out.bin"), struct.pack("<e", value), text)
        for text in ("65520", "inf", "1e9"):
            self.run_tool(self.vecadd("--buffer", f"x=fill:f16:1:{text}", "--out", "x=out.bin"))
            self.assertEqual(self.read("out.bin"), b"\x00\x7c")


class Expect(Case):
    def check(self, x, reference, tolerance="", code=0, x_type="f32", reference_type="f32"):
        self.path("x.npy", npy(TYPES[x_type][1], f"({len(x)},)", pack(x_type, x)))
        self.path("ref.npy",
                  npy(TYPES[reference_type][1], f"({len(reference)},)", pack(reference_type, reference)))
        return self.run_tool(self.vecadd("--buffer", "x=@x.npy", "--expect", f"x=@ref.npy{tolerance}"),
                             code=code)

    def test_tolerance(self):
        inf, nan = math.inf, math.nan
        self.check([1, 2], [1, 2])
        self.check([1.001], [1], ":0.002")
        self.check([1.003], [1], ":0.002", code=1)
        self.check([1.003], [1], ":0,0.0031")
        self.check([1.003], [1], ":0,0.0029", code=1)
        self.check([1.005], [1], ":0.002,0.0031")
        self.check([-1.001], [-1], ":0.002")
        self.check([nan], [nan], ":0")
        self.check([nan], [1], ":1", code=1)
        self.check([1], [nan], ":1", code=1)
        self.check([inf, -inf], [inf, -inf], ":0")
        self.check([inf], [-inf], ":1", code=1)
        self.check([1], [inf], ":1", code=1)
        self.check([-0.0], [0.0], ":0")
        self.check([-0.0], [0.0], code=1)
        self.check([1.5], [1.5], ":0", reference_type="f64")
        self.check([2**63], [2**63], ":0", x_type="u64", reference_type="u64")
        self.check([2**63 + 1], [2**63], ":0", code=1, x_type="u64", reference_type="u64")

    def test_report(self):
        out, _ = self.check([0, 1, 2.5, 3], [0, 1, 2, 4], ":0,0.25", code=1)
        self.assertIn("expect x: 2 of 4 elements differ from ref.npy", out)
        self.assertIn("the largest error is at [3]", out)
        self.assertRegex(out, r"\[2\]  2\.5 +expected 2, off by 0\.5")
        out, _ = self.check(list(range(20)), [100] * 20, code=1)
        self.assertIn("... and 12 more", out)

    def test_types_and_sizes(self):
        self.path("x.npy", npy("<f4", "(2,)", pack("f32", [1, 2])))
        self.path("d.npy", npy("<f8", "(2,)", pack("f64", [1, 2])))
        self.path("three.bin", b"123456789012")
        words = self.vecadd("--buffer", "x=@x.npy", "--expect")
        self.refused("d.npy holds f64, the buffer f32; without a tolerance", words + ["x=@d.npy"])
        self.refused("three.bin has 3 f32 elements; expected 2", words + ["x=@three.bin"])
        self.refused("missing.npy: cannot be read", words + ["x=@missing.npy:0"])
        self.refused(f"{self.folder.name}: a folder; expected a file", words + [f"x=@{self.folder.name}:0"])
        self.refused("argument 'n' of vecadd is no buffer", words + ["n=@x.npy"])
        self.refused("has no argument 'q'", words + ["q=@x.npy"])
        self.refused("--out x: /no/such/folder/x.npy cannot be written",
                     self.vecadd("--buffer", "x=@x.npy", "--out", "x=/no/such/folder/x.npy"))


class Run(Case):
    def test_vecadd(self):
        sums = self.path("sums.bin", pack("f32", [i + 0.5 for i in range(1000)]))
        for threads in ("1", "2"):
            out, _ = self.run_tool(self.vecadd("--expect", f"c=@{sums}", "--out", "c=c.npy", "-j", threads,
                                               count=1000))
            self.assertIn("expect c: all 1000 elements agree", out)
            self.assertEqual(self.read("c.npy"),
                             npy("<f4", "(1000,)", pack("f32", [i + 0.5 for i in range(1000)])))

    def test_fidelity(self):
        words = (f"run {EXAMPLES}/blackscholes.co -g 2560 -b 256 --arg n=2560 --arg rate=0.02 --arg volatility=0.3 "
                 "--arg call=zero:f32:2560 --arg put=zero:f32:2560 --arg price=rand:f32:2560:1 "
                 "--arg strike=rand:f32:2560:2 --arg years=rand:f32:2560:3 --fidelity")
        for threads in "1", "2":
            report = json.loads(self.run_tool(words, "--json", "-j", threads)[0])
            rows = report["fidelity"]["rows"]
            # Two counts of the same: one per instruction, one per block.
            self.assertEqual(sum(row["executions"] for row in rows), report["dispatches"][0]["wave_instructions"])
            grades = {row["instruction"]: row["grade"] for row in rows}
            self.assertEqual((grades["v_exp_f32"], grades["v_mul_f32"]), ("approximate", "exact"))
            self.assertTrue(all("ulp" in row["remark"] for row in rows if row["grade"] == "approximate"))
            self.assertTrue(report["fidelity"]["unverified_in_general"])
        text = self.run_tool(words)[0]
        self.assertRegex(text, r"\n +120  v_exp_f32 +approximate: hardware within 1 ulp")
        self.assertNotIn("fidelity", json.loads(self.run_tool(words[:-len("--fidelity")], "--json")[0]))

    def test_fault(self):
        out, err = self.run_tool(self.vecadd("--out", "c=c.npy", a="null"), code=3)
        self.assertEqual(out, "")
        self.assertRegex(err, r"^error: .*global load outside every allocation\n  at +vecadd\+0x")
        self.assertFalse(os.path.exists(self.path("c.npy")))
        report = json.loads(self.run_tool(self.vecadd("--json", a="null"), code=3)[0])
        self.assertEqual(report["dispatches"][0]["fault"]["kind"], "memory")

    def test_budget(self):
        """The kernel loops; the budget counts at taken branches."""
        _, err = self.run_tool(["run"] + self.example("bitonic"), "-k bitonic_sort -g 256 -b 256 --arg n=512",
                               "--arg keys=zero:u32:512 --max-instructions 10", code=3)
        self.assertRegex(err, r"^error: .*budget")

    def test_stats_and_json(self):
        out, _ = self.run_tool(self.vecadd("--stats", count=1000))
        self.assertRegex(out, r"^vecadd: 16 workgroups, 16 waves, \d+ wave-instructions in \d+\.\d{3} ms, ")
        out, err = self.run_tool(self.vecadd("--json", "--stats", "--expect", "c=zero:f32:1000", count=1000),
                                 code=1)
        self.assertIn("expect c: 1000 of 1000 elements differ", err)
        dispatch, = json.loads(out)["dispatches"]
        self.assertEqual((dispatch["kernel"], dispatch["grid"], dispatch["workgroup"], dispatch["waves"]),
                         ("vecadd", [1000, 1, 1], [64, 1, 1], 16))
        self.assertEqual((dispatch["expect"][0]["different"], dispatch["expect"][0]["first"]),
                         (1000, list(range(8))))
        self.run_tool(self.vecadd("--json=report.json"))
        self.assertIsNone(json.loads(self.read("report.json"))["dispatches"][0]["fault"])

    def test_then(self):
        """What is not given stays; `same:` finds earlier buffers; two buffers change places."""
        ones = [1.0] * 100
        self.run_tool(self.vecadd("--then", "--arg", "b=same:c", "--arg", "c=same:b", "--then",
                                  "--out", "a=a.bin", "--out", "b=b.bin", "--out", "c=c.bin",
                                  a="fill:f32:100:1", b="fill:f32:100:2"))
        self.assertEqual(self.read("a.bin"), pack("f32", ones))
        self.assertEqual(self.read("b.bin"), pack("f32", [3.0] * 100))  # the first sum, a + b
        self.assertEqual(self.read("c.bin"), pack("f32", [4.0] * 100))  # a + the first sum
        self.refused("is missing", self.vecadd("--then"), self.example("saxpy"))
        self.refused("--arg n is given twice", self.vecadd("--then", "--arg", "n=1", "--arg", "n=2"))

    def test_sort(self):
        """A job of several kernels over one buffer."""
        self.path("sort.job", b"""# blocks of 512, then one merge of both

-k bitonic_sort -g 512 -b 256 --arg keys=rand:u32:1024:1 --arg n=1024 # both blocks
-k bitonic_pass  --arg 'keys=same:keys' --arg n=1024 --arg distance=512 --arg mask=1023
-k bitonic_merge --arg "keys=same:keys" --arg n=1024 --out keys=sorted.bin
""")
        self.run_tool(["run"] + self.example("bitonic"), "--job sort.job")
        self.assertEqual(self.read("sorted.bin"), pack("u32", sorted(random_elements("u32", 1024, 1))))

    def test_scan(self):
        """The example of `run --help`: three dispatches that share declared buffers."""
        self.run_tool(["run"] + self.example("scan"), "--buffer all=zero:u32:4096 --buffer sums=zero:u32:4",
                      "-k scan_blocks -g 1024 --arg in=iota:u32:4096 --arg out=same:all",
                      "--arg totals=same:sums --arg n=4096",
                      "--then -g 256 --arg in=same:sums --arg out=same:sums --arg totals=zero:u32:1",
                      "--arg n=4",
                      "--then -k scan_add -g 4096 -b 256 --arg out=same:all --arg before=same:sums",
                      "--arg n=4096 --out all=scan.bin")
        self.assertEqual(self.read("scan.bin"), pack("u32", [i * (i - 1) // 2 for i in range(4096)]))

    def test_raw(self):
        """Instructions without an object: arguments by position, each aligned to its size."""
        self.path("raw.bin", pack("u32", [
            0xC0060080, 0x00000000,  # s_load_dwordx2 s[2:3], s[0:1], 0x0
            0xC0020100, 0x00000008,  # s_load_dword s4, s[0:1], 0x8
            0xBF8CC07F,              # s_waitcnt lgkmcnt(0)
            0x24020082,              # v_lshlrev_b32_e32 v1, 2, v0
            0x68000004,              # v_add_u32_e32 v0, s4, v0
            0xDC708000, 0x00020001,  # global_store_dword v1, v0, s[2:3]
            0xBF810000]))            # s_endpgm
        raw = ["run", "raw.bin", "-m", "gfx900", "-g", "64", "-b", "64"]
        self.run_tool(raw, "--arg 1=u32:7 --arg 0=zero:u32:64 --out 0=out.bin")
        self.assertEqual(self.read("out.bin"), pack("u32", range(7, 71)))
        self.refused("have no argument names; expected positions 0 to 0", raw, "--arg x=u32:3")
        self.refused("raw instructions have no argument types; expected one like u32:3", raw, "--arg 0=3")

    def test_scalar_cache(self):
        """A scalar load, a vector store to its line, and the load again without S_DCACHE_INV; a lost store."""
        self.path("k.s", b"""
            s_load_dwordx2 s[2:3], s[0:1], 0x0
            s_load_dword s4, s[2:3], 0x0
            v_mov_b32 v0, 0
            v_mov_b32 v1, 7
            global_store_dword v0, v1, s[2:3]
            s_load_dword s4, s[2:3], 0x0
            s_store_dword s4, s[2:3], 0x8
            s_endpgm""")
        self.run_tool("asm -m gfx900 --raw k.s -o k.bin")
        words = "run k.bin -m gfx900 -g 128 -b 64 -j 1 --arg 0=zero:u32:4 --out 0=out.bin --scalar-cache"
        found, _ = self.run_tool(words, "check", code=1)
        self.assertEqual(len(re.findall(r"^found: ", found, re.M)), 2)
        self.assertRegex(found, r"scalar load may read a stale line.*\n.*s_load_dword s4(.*\n)*.*1 times")
        self.assertRegex(found, r"scalar store may be lost.*\n.*s_store_dword s4(.*\n)*.*2 times")
        self.assertEqual(self.read("out.bin"), pack("u32", [7, 0, 7, 0]))
        report = json.loads(self.run_tool(words, "stale", "--json", code=1)[0])
        self.assertEqual([row["kind"] for row in report["dispatches"][0]["scalar_cache"]],
                         ["stale load", "lost store"])
        self.assertEqual(self.read("out.bin"), pack("u32", [7, 0, 0, 0]))
        self.run_tool(words, "coherent")
        self.refused("--scalar-cache x: expected check, stale or coherent", words, "x")

    def test_vector_loads_and_scalar_stores(self):
        """What a scalar store left in the scalar cache, vector loads do not see, until S_DCACHE_WB."""
        for between, found in ("", 1), ("s_dcache_wb\n", 0):
            self.path("k.s", (f"""
                s_load_dwordx2 s[2:3], s[0:1], 0x0
                s_mov_b32 s4, 5
                s_store_dword s4, s[2:3], 0x8
                {between}v_lshlrev_b32 v0, 2, v0
                global_load_dword v1, v0, s[2:3]
                global_load_dword v2, v0, s[2:3] offset:64
                global_store_dword v0, v1, s[2:3] offset:64
                s_dcache_wb
                s_endpgm""").encode())
            self.run_tool("asm -m gfx900 --raw k.s -o k.bin")
            words = "run k.bin -m gfx900 -g 4 -b 4 --arg 0=zero:u32:32 --out 0=out.bin --scalar-cache"
            text = self.run_tool(words, "check", code=min(found, 1))[0]
            self.assertEqual(len(re.findall(r"vector load may miss what a scalar store(.*\n)+.*global_load_dword v1", text)), found)
            self.assertEqual(self.read("out.bin")[64:80], pack("u32", [0, 0, 5, 0]))
            self.run_tool(words, "stale", code=min(found, 1))
            self.assertEqual(self.read("out.bin")[64:80], pack("u32", [0, 0, 0 if found else 5, 0]))

    def test_apertures(self):
        text = ('k:\ns_load_dwordx2 s[4:5], s[0:1], 0x0\ns_mov_b64 s[6:7], src_shared_base\n'
                's_mov_b64 s[8:9], src_private_base\nv_mov_b32 v0, s7\nv_mov_b32 v1, s9\nv_mov_b32 v2, 0\n'
                's_waitcnt lgkmcnt(0)\nglobal_store_dwordx2 v2, v[0:1], s[4:5]\ns_endpgm\n')
        self.path("apertures.s", text.encode())
        self.run_tool("asm -m gfx900 --raw apertures.s -o apertures.bin")
        words = "run apertures.bin -m gfx900 -g 1 -b 1 --arg 0=zero:u32:2 --out 0=out.bin"
        for option, bases in ("", (0x10000, 0x20000)), (" --apertures 0x7000000000000,0x3000000000000", (0x70000, 0x30000)):
            self.run_tool(words + option)
            self.assertEqual(self.read("out.bin"), pack("u32", bases))
        for wrong in "5", "5,x", ",":
            self.refused(f"--apertures {wrong}: expected two addresses, SHARED_BASE,PRIVATE_BASE", words, "--apertures", wrong)
        self.refused("--apertures: ", words, "--apertures", "0x1000,0x2000000000000")

    def test_job_errors(self):
        co = self.example("vecadd")
        for text, why in ((b"-g 4 -b 4\n--arg 'a", "job:2: a quote is not closed"),
                          (b"# nothing\n", "holds no dispatch"),
                          (b"\n-g 4 -b x", "job:2: -b x: expected"),
                          (b"--job job", "--job inside a job file"),
                          (b"-g 4 -b 4 --arg a=3", "job:1: argument 0 'a'"), (b"-g\0 4", "not a text file"),
                          (b"-g 4 --no", "job:1: unknown option '--no'")):
            self.path("job", text)
            self.refused(why, ["run"] + co, "--job job")
        self.refused("--job missing: cannot be read", ["run"] + co, "--job missing")


class Prof(Case):
    def rows(self, *words):
        return json.loads(self.run_tool("prof", ["--json"], *words)[0])

    def test_vecadd(self):
        """64 lanes that load a dword each from 256 aligned bytes touch four lines: the ideal."""
        words = self.vecadd(count=1024)[1:]
        report = self.rows(words)
        vector = [row for row in report["rows"] if row["path"] in ("GLOBAL", "FLAT")]
        self.assertEqual(sorted(row["operation"] for row in vector), ["load", "load", "store"])
        for row in vector:
            self.assertEqual((row["executions"], row["lanes"], row["bytes"], row["lines"],
                              row["ideal_lines"]),
                             (16, 1024, 4, 64, 64))
            # 4 clocks, lookups and requests a wave: mixbench's counters on MI100 and MI200.
            self.assertEqual([row[key] for key in ("fast_executions", "address_clocks", "tag_lookups",
                                                   "collapsed_stores", "lds_passes", "worst_conflict")],
                             [16, 64, 64, 0, None, None])
            self.assertEqual((row["read_requests"], row["write_requests"]),
                             (64, 0) if row["operation"] == "load" else (0, 64))
        self.assertEqual(report["totals"]["executions"], sum(row["executions"] for row in report["rows"]))
        out, _ = self.run_tool("prof", words)
        lines = out.splitlines()
        self.assertEqual(lines[0], "vecadd")
        self.assertIn("share efficiency runs lanes bytes lines ideal clocks conflicts L1 L2 limit source offset instruction",
                      [" ".join(line.split()) for line in lines])
        # Each wave reads its own lines, and 3 x 16 waves x 256 B of loads and stores pass through L2 once.
        self.assertRegex(out, r"(?m)^ *\S+ +100\.0% +16 +64\.0 +4 +64 +64 +4\.0 +- +0\.0% +0\.0% +memory +vecadd\.cl:\d+ "
                              r"+\+0x\w+ +global_load")
        self.assertTrue(lines[-1].endswith("total"))
        self.assertLessEqual(max(map(len, lines)), 150)

    def test_transpose(self):
        """The straight store goes down columns: a wave of 16 columns and 4 rows touches 16 lines for its 256
        bytes, and its row comes first."""
        words = self.example("transpose") + ["-g", "64,64", "-b", "16,16", "--arg", "in=iota:f32:4096",
                                             "--arg", "out=zero:f32:4096", "--arg", "n=64", "-k"]
        first = self.rows(words, "transpose_naive")["rows"][0]
        self.assertEqual((first["operation"], first["lines"], first["ideal_lines"]),
                         ("store", 64 * 16, 64 * 4))
        self.assertEqual((first["address_clocks"], first["write_requests"], first["fast_executions"]),
                         (64 * 16, 64 * 16, 0))
        rows = self.rows(words, "transpose_lds")["rows"]
        self.assertEqual({row["efficiency"] for row in rows if row["path"] == "DS"}, {None})
        self.assertEqual({row["efficiency"] for row in rows if row["path"] == "GLOBAL"}, {1.0})
        self.assertEqual(rows[-1]["path"], "DS")
        out, _ = self.run_tool("prof", words, "transpose_lds")
        # The rows of its tile have 17 words, so in each 32 lanes the last comes round to the first one's bank.
        self.assertRegex(out, r"(?m)^ +\S+ +- +64 +64\.0 +4 +- +- +4\.0 +2\.0 .* ds_write_b32")
        self.assertRegex(re.sub(r"\s+", " ", out), r" \+0x\w+ \+0x\w+ 2\.0 of 4\.0 LDS clocks are bank conflicts: up to 2 "
                         r"different dwords of one bank at once; at worst lanes 0 31 meet on bank 0 ")
        # Without the padding, half of the columns of a row meet.
        read = [row for row in self.rows(words, "transpose_unpadded")["rows"] if "ds_read" in row["text"]]
        self.assertEqual([(row["lds_passes"], row["lds_conflicts"]) for row in read], [(64 * 16, 64 * 14)])
        self.assertEqual(read[0]["worst_conflict"],
                         {"dwords": 8, "bank": 0, "lanes": "0 2 4 6 8 10 12 14"})
        # A source line has the sums of its instructions: 28 those of the read from LDS and of the store.
        report = self.rows(words, "transpose_lds")
        for line in report["source_lines"]:
            for key in ("executions", "lines", "address_clocks", "lds_conflicts", "write_requests"):
                self.assertEqual(line[key] or 0, sum(row[key] or 0 for row in report["rows"]
                                                     if row["line"] == line["line"]))
        self.assertEqual([(line["address_clocks"], line["lds_passes"]) for line in report["source_lines"]
                          if line["line"] == 28], [(64 * 4, 64 * 4)])
        # The same figures with any number of threads.
        for kernel in ("transpose_naive", "transpose_lds", "transpose_unpadded"):
            self.assertEqual(self.rows(words, kernel, "-j1")["rows"], self.rows(words, kernel, "-j4")["rows"])

    def transposes(self, kernel, *more, code=0):
        words = self.example("transpose") + ["-g", "64,64", "-b", "16,16", "--arg", "in=iota:f32:4096",
                                             "--arg", "out=zero:f32:4096", "--arg", "n=64", "-k", kernel]
        return self.run_tool("prof", words, *more, code=code)

    def test_fail_if(self):
        """The straight store uses a quarter of its 64 * 16 lines, the load all of its 64 * 4."""
        _, err = self.transposes("transpose_naive", "--fail-if efficiency<0.5 --fail-if total.lines>1", code=1)
        self.assertRegex(err, r"(?m)^wavemem: --fail-if efficiency<0\.5: 0\.25 at transpose_naive\+0x\w+  global_store")
        self.assertEqual(len(err.splitlines()), 2)
        self.transposes("transpose_naive", "--fail-if efficiency<0.25 --fail-if conflicts>0")
        self.transposes("transpose_naive", "--fail-if efficiency<=0.25", code=1)
        self.transposes("transpose_lds", "--fail-if efficiency<1 --fail-if clocks>4")
        self.transposes("transpose_lds", "--fail-if conflicts>=2", code=1)
        for condition, message in (("eficiency<1", "did you mean 'efficiency'"), ("lines", "expected FIGURE<NUMBER"),
                                   ("lines=1", "expected FIGURE<NUMBER"), ("lines<", "expected FIGURE<NUMBER"),
                                   ("lines<1e", "expected FIGURE<NUMBER"), ("x" * 99 + "<1", "no figure")):
            self.refused(message, "prof", self.example("vecadd"), "--fail-if", [condition])
        self.refused("'run' does not", "run", self.example("vecadd"), "--fail-if lines<1")

    def test_fail_if_kernel(self):
        """Occupancy, waves and bounds: by the report's own arithmetic, clocks over clocks."""
        report = json.loads(self.transposes("transpose_naive", "--json")[0])["kernels"][0]
        need = {bound["part"]: bound["clocks"] for bound in report["bounds"]}
        longest = max(need, key=need.get)
        waves = report["occupancy"]
        self.assertEqual((report["binds"], waves["waves_per_simd"], waves["waves_per_simd_most"]), (longest, 10, 10))
        data = need["data"] / need[longest]
        for condition, code, told in (
                ("occupancy<1", 0, ""), ("occupancy<=1", 1, "1 of transpose_naive"), ("waves_per_simd>9", 1, "10 of transpose_naive"),
                ("bound==" + longest, 1, f"it is {longest} of transpose_naive"), ("bound!=" + longest, 0, ""),
                ("bound==LDS", 0, ""), ("bound!=LDS", 1, f"it is {longest} of"), ("bound.LDS>0", 0, ""),
                (f"bound.{longest}>=1", 1, "1 of transpose_naive"), (f"bound.data>{data * 1.001:.6f}", 0, ""),
                (f"bound.data>{data * 0.999:.6f}", 1, f"{data:.4}"[:5]), ("seconds>1", 0, ""), ("seconds>1e-9", 1, " of transpose_naive"),
                ("gain>0.5", 1, " at transpose_naive+0x"), ("wait_depth_most<2", 1, "1 at transpose_naive+0x")):
            _, err = self.transposes("transpose_naive", ["--fail-if", condition], code=code)
            self.assertEqual(err.startswith(f"wavemem: --fail-if {condition}: "), bool(code), err)
            self.assertIn(told, err)
        for condition, message in (("ocupancy<1", "did you mean 'occupancy'?"), ("bound>1", "expected bound==PART"),
                                   ("bound==L4", "no part 'L4'; expected one of memory, L2, L1, address, data, LDS, issue, fetch"),
                                   ("bound.mem<1", "no part 'mem'"), ("occupancy==1", "expected FIGURE<NUMBER"),
                                   ("total.gain<1", "no figure 'gain'"),
                                   ("l2_hit<1", "did you mean 'l2_hit_rate' or 'l2_hits'"), ("bound==", "no part ''")):
            self.refused(message, "prof", self.example("vecadd"), ["--fail-if", condition])
        self.transposes("transpose_naive", "--json=old.json")
        self.transposes("transpose_lds", "--json=new.json")
        self.run_tool("diff old.json new.json", ["--fail-if", "seconds>1"])
        _, err = self.run_tool("diff new.json old.json", ["--fail-if", "seconds>1", "--fail-if", "bound==" + longest], code=1)
        self.assertEqual(len(err.splitlines()), 2)


    def test_checks_beside(self):
        """A profile and checks in one run: the same figures, and the same findings as of 'run'."""
        self.path("early.s", b"""
            s_load_dwordx2 s[2:3], s[0:1], 0x0
            v_lshlrev_b32 v0, 2, v0
            s_waitcnt lgkmcnt(0)
            global_load_dword v1, v0, s[2:3]
            v_add_u32 v1, 1, v1
            global_store_dword v0, v1, s[2:3]
            s_endpgm""")
        self.run_tool("asm -m gfx900 --raw early.s -o early.bin")
        words = "early.bin -m gfx900 -g 1024 -b 256 --arg 0=zero:u32:256 --check-waits --check-hazards --json".split()
        both = json.loads(self.run_tool("prof", words, code=1)[0])
        checked = json.loads(self.run_tool("run", words, code=1)[0])
        profiled = json.loads(self.run_tool("prof", [word for word in words if not word.startswith("--check")])[0])
        self.assertEqual(both["findings"], checked["findings"])
        self.assertEqual(len(both["findings"]), 1)
        self.assertEqual(both["findings"][0]["executions"], 16)
        self.assertEqual(both["rows"], profiled["rows"])

    def test_diff(self):
        """From the straight to the padded transpose the store's lines fall from 64 * 16 to 64 * 4."""
        for kernel in ("naive", "lds"):
            self.transposes("transpose_" + kernel, f"--json={kernel}.json")
        out, _ = self.run_tool("diff naive.json lds.json")
        self.assertRegex(out, r"(?m)^ *\d\S* ns -> .* 64 +1024 -> 256 +25\.0% -> 100\.0% +16\.0 -> 4\.0 +- .*\.cl:10 -> 28 +global_store_dword")
        self.assertRegex(out, r"(?m)^.* -> 2\.0 .* ds_write_b32 .*\(only in the new one\)$")
        self.assertRegex(out, r"(?m)s_load_dword(x\d)? .*\(was s_load_dword")
        self.assertIn("load_dword v", self.run_tool("diff naive.json lds.json --all")[0])
        out, _ = self.run_tool("diff naive.json naive.json")
        self.assertEqual(out, "6 of 6 instructions have the figures that they had\n")
        self.run_tool("diff naive.json lds.json --fail-if total.lines>1")
        _, err = self.run_tool("diff lds.json naive.json --fail-if total.lines>1.05 --fail-if clocks>=4", code=1)
        self.assertEqual([line.split()[2] for line in err.splitlines()], ["total.lines>1.05:", "clocks>=4:"])
        report = json.loads(self.run_tool("diff naive.json lds.json --json")[0])
        self.assertEqual(sum(pair["old"] is not None and pair["new"] is not None for pair in report["pairs"]), 5)
        # Both have a load and a store; of the scalar loads, four and three, the widths differ.
        self.path("other.json", b'{"verb": "run", "schema": 1}')
        self.path("later.json", b'{"verb": "prof", "schema": 99}')
        self.path("rows.json", b'{"verb": "prof", "schema": 1, "rows": [{"text": 1}], "totals": {}}')
        self.path("text.json", b"{")
        for name, message in (("other", "no report of 'wavemem prof --json'"), ("later", "a report of schema 99"),
                              ("rows", "not what 'wavemem prof --json' writes"), ("text", "text.json:1: "),
                              ("missing", "missing.json")):
            self.refused(message, f"diff naive.json {name}.json")
        self.refused("expected OLD.json NEW.json", "diff naive.json")
        self.refused("a third file", "diff naive.json naive.json naive.json")

    def counters(self, *words):
        self.run_tool("prof", *words, "--counters counters.csv")
        lines = self.read("counters.csv").decode().splitlines()
        self.assertEqual(lines[0], "kernel,name,value")
        values = {}
        for kernel, name, value in (line.rsplit(",", 2) for line in lines[1:]):
            values.setdefault(kernel, {})[name] = int(value)
        return values

    def test_published_counters(self):
        """rocprofiler-compute's vcopy -n 1048576 -b 256 on MI200: c[i] = a[i] on doubles, 16384 waves."""
        self.path("vcopy.bin", pack("u32", [
            0xC00A0100, 0x00000000,  # s_load_dwordx4 s[4:7], s[0:1], 0x0
            0x8E028802,              # s_lshl_b32 s2, s2, 8
            0x68000002,              # v_add_u32_e32 v0, s2, v0
            0x24000083,              # v_lshlrev_b32_e32 v0, 3, v0
            0xBF8CC07F,              # s_waitcnt lgkmcnt(0)
            0xDC548000, 0x02040000,  # global_load_dwordx2 v[2:3], v0, s[4:5]
            0xBF8C0F70,              # s_waitcnt vmcnt(0)
            0xDC748000, 0x00060200,  # global_store_dwordx2 v0, v[2:3], s[6:7]
            0xBF810000]))              # s_endpgm
        values = self.counters("vcopy.bin -m gfx90a -g 1048576 -b 256",
                               "--arg 0=zero:f64:1048576 --arg 1=zero:f64:1048576")
        self.assertEqual(set(values), {"", "*"})  # raw instructions lie in no symbol
        published = {"TA_TOTAL_WAVEFRONTS": 32768, "TCP_TOTAL_ACCESSES": 2097152,
                     "TCP_TOTAL_CACHE_ACCESSES": 524288, "TCP_TCC_READ_REQ": 131072,
                     "TCP_TCC_WRITE_REQ": 131072}
        for kernel in values.values():
            self.assertEqual({name: kernel[name] for name in published}, published)

    def test_counters(self):
        words = self.example("transpose") + ["-g", "64,64", "-b", "16,16", "--arg", "in=iota:f32:4096",
                                             "--arg", "out=zero:f32:4096", "--arg", "n=64", "-k"]
        values = self.counters(words, "transpose_lds --then -k transpose_unpadded --arg in=same:in",
                               "--arg out=same:out --arg n=64")
        self.assertEqual(list(values), ["transpose_lds", "transpose_unpadded", "*"])
        for name, total in values["*"].items():
            self.assertEqual(values["transpose_lds"][name] + values["transpose_unpadded"][name], total)
        expected = {"SQ_INSTS_LDS": 128, "SQ_INSTS_VMEM_RD": 64, "SQ_INSTS_VMEM_WR": 64,
                    "SQ_LDS_IDX_ACTIVE": 64 * 18, "SQ_LDS_BANK_CONFLICT": 64 * 14,
                    "TA_FLAT_READ_WAVEFRONTS": 64, "TA_BUFFER_WAVEFRONTS": 0, "TD_COALESCABLE_WAVEFRONT": 128,
                    "TCP_TOTAL_ACCESSES": 128 * 16}
        self.assertEqual({name: values["transpose_unpadded"][name] for name in expected}, expected)
        self.refused("'wavemem prof' counts, 'run' does not", ["run"] + words, "transpose_lds --counters x.csv")
        self.refused("--counters no/x.csv: cannot be written", ["prof"] + words,
                     "transpose_lds --counters no/x.csv")


class Dis(Case):
    def objdump(self, path):
        tool = shutil.which("llvm-objdump-19")
        if not tool:
            self.skipTest("llvm-objdump-19 is not installed")
        return subprocess.run([tool, "-d", "-z", path], capture_output=True, text=True, check=True).stdout

    @staticmethod
    def folded(text):
        return [" ".join(line.split()) for line in text.splitlines() if "file format" not in line]

    def test_equals_llvm(self):
        """All of every example: sections, symbols, text, addresses, words, targets of branches."""
        names = sorted(name for name in os.listdir(EXAMPLES) if name.endswith(".co"))
        self.assertTrue(names)
        for name in names:
            path = os.path.join(EXAMPLES, name)
            theirs = self.objdump(path)
            self.assertEqual(self.folded(self.run_tool(["dis", path])[0]), self.folded(theirs), name)
            plain = self.run_tool(["dis", "--plain", path])[0].splitlines()
            theirs = [line.split("//")[0].strip() for line in theirs.splitlines() if "//" in line]
            self.assertEqual(plain, theirs)

    def test_one_kernel(self):
        co = self.example("transpose")
        out = self.run_tool(["dis"] + co, "-k transpose_lds")[0]
        self.assertIn("<transpose_lds>:", out)
        self.assertNotIn("<transpose_naive>", out)
        self.refused("no code belongs to a symbol 'nix'", ["dis"] + co, "-k nix")

    def test_raw(self):
        words = struct.pack("<4I", 0xBF810000, 0x7E040280, 0xFFFFFFFF, 0xBF8C0F70)
        self.path("words.bin", words)
        expected = "s_endpgm\nv_mov_b32_e32 v2, 0\n.long 0xffffffff\ns_waitcnt vmcnt(0)\n"
        self.assertEqual(self.run_tool("dis -m gfx900 --raw --plain words.bin")[0], expected)
        self.assertEqual(self.run_tool("dis -m gfx900 --raw --plain -", stdin=words)[0], expected)
        self.assertRegex(self.run_tool("dis -m gfx900 --raw words.bin")[0],
                         r"(?m)^\tv_mov_b32_e32 v2, 0 +// 000000000004: 7E040280$")

    def test_wrong(self):
        self.path("words.bin", b"\0\0\0\0")
        self.refused("--raw needs -m TARGET", "dis --raw words.bin")
        self.refused("raw instructions need --raw", "dis -m gfx900 words.bin")
        self.refused("-m gfx1: not a target", "dis -m gfx1 --raw words.bin")
        self.refused("a file is needed", "dis")
        self.refused("missing.co", "dis missing.co")
        self.refused("words.bin", "dis words.bin")


class Asm(Case):
    def assemble(self, text, *words, code=0, name="k.s"):
        """What is written, and standard error."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, name)
            with open(path, "w") as file:
                file.write(text)
            os.mkdir(os.path.join(folder, "headers"))
            with open(os.path.join(folder, "headers", "far.inc"), "w") as file:
                file.write("  s_nop 7\n")
            out = os.path.join(folder, "out")
            words = [word.replace("FOLDER", folder) for word in words]
            run = subprocess.run([WAVEMEM, "asm", "-m", "gfx900", *words, path, "-o", out], capture_output=True, text=True)
            self.assertEqual(run.returncode, code, run.stderr)
            if code:
                return None, run.stderr.replace(folder + "/", "")
            with open(out, "rb") as file:
                return file.read(), run.stderr.replace(folder + "/", "")

    def test_undefined_symbol(self):
        _, errors = self.assemble("s_getpc_b64 s[0:1]\ns_add_u32 s0, s0, missing@rel32@lo+4\n", code=2)
        self.assertEqual(errors.splitlines()[0],
                         "k.s:2:19: error: undefined symbol 'missing': no label, .set or .amdgpu_lds has this name")

    def wrong(self, text):
        """The first line of each message."""
        return [line for line in self.assemble(text, code=2)[1].splitlines() if line.startswith("k.s:")]

    def test_nearest_names(self):
        self.assertRegex(self.wrong("loop: s_branch lop\n")[0], "k.s:1:16: .*'lop'.*; nearest: loop$")
        self.assertRegex(self.wrong(".globbl k\n")[0], "'.globbl'; nearest: .globl$")

    def test_macros_of_a_wrong_line(self):
        errors = self.wrong(".macro in x\n s_nop \\x\n.endm\n.macro out\n in y z\n in 1\n in 99999\n.endm\nout\n")
        self.assertRegex(errors[0], r"^k.s:9:\d+: error: .*\(in macro 'out'\)$")
        self.assertRegex(errors[1], r"^k.s:9:\d+: error: .*\(in macro 'in' of 'out'\)$")

    def test_bodies_of_wrong_beginnings_are_skipped(self):
        self.assertEqual(len(self.wrong(".macro 1\nbad\n.endm\n.irp x\nbad\n.endr\n.rept -1\nbad\n.endr\n")), 3)

    def test_errors_without_end(self):
        """Macros that double: reading stops long before all 2^40 errors."""
        text = ".macro a\nbad\nbad\n.endm\n" + "".join(
            ".macro m%d\n%s\n%s\n.endm\n" % (n, *2 * ["m%d" % (n - 1) if n else "a"]) for n in range(40)) + "m39\n"
        self.assertRegex(self.assemble(text, code=2)[1].splitlines()[-1], r"^and: \d{3,5} errors more$")

    def test_own_lines(self):
        with tempfile.TemporaryDirectory() as folder:
            source, out = os.path.join(folder, "k.s"), os.path.join(folder, "k.co")
            with open(source, "w") as file:
                file.write(".globl k\nk:\n  s_nop 1\n\n  s_endpgm\n")
            self.run_tool(["asm", "-m", "gfx900", "-g", source, "-o", out])
            listing = self.run_tool(["dis", "--lines", out])[0]
            self.assertEqual(re.findall(r"; .*k.s:(\d+)\n\t(\w+)", listing), [("3", "s_nop"), ("5", "s_endpgm")])

    def test_include(self):
        text = '.include "far.inc"\ns_endpgm\n'
        code, _ = self.assemble(text, "--raw", "-I", "FOLDER/headers")
        self.assertEqual(code, struct.pack("<2I", 0xbf800007, 0xbf810000))
        self.assertEqual(self.assemble('.include "headers/far.inc"\ns_endpgm\n', "--raw")[0], code)
        self.assertIn("k.s:1:10: error: 'far.inc' cannot be read", self.assemble(text, "--raw", code=2)[1])

    def test_include_of_itself_ends(self):
        self.assertIn("expanded too deep", self.assemble('.include "k.s"\n', code=2)[1])

    def test_lds_variables(self):
        code, _ = self.assemble(".amdgpu_lds a, 5, 16\n.amdgpu_lds b, 4, 16\nv_mov_b32 v0, b@abs32@lo\ns_endpgm\n", "--raw")
        self.assertEqual(len(code), 12)

    def test_warning(self):
        code, errors = self.assemble('.warning "so so"\ns_endpgm\n', "--raw")
        self.assertEqual(code, struct.pack("<I", 0xbf810000))
        self.assertTrue(errors.startswith("k.s:1:1: warning: so so"), errors)


class Bundles(Case):
    def bundle(self, name):
        return [os.path.join(EXAMPLES, "..", "hip", name + ".hipfb")]

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
        self.refused("2 code objects; say which, by target or number: 1 gfx900, 2 gfx906", ["info"] + file,
                     ["-k", "reduce_segments"])
        self.refused("no entry for 'gfx1030'; it has 1 gfx900, 2 gfx906", ["info"] + file, "-m gfx1030")

    def test_run(self):
        """A convolution with one weight of 1, two places to the right, moves its input by two."""
        for form in ("plain", "packed"):
            words = ["run"] + self.bundle("convolve." + form)
            words += ["-g", "128", "-b", "64", "--lds", "280", "--arg", "out=zero:f32:100", "--arg", "n=100",
                      "--arg", "in=iota:f32:100", "--arg", "weights=f32:0,0,0,0,0,1,0", "--out", "out=out.bin"]
            kernel = ["-k", "filter::convolve<float, 3>"]
            for target in ("gfx900", "gfx906"):
                self.run_tool(words, [*kernel, "-m", target])
                self.assertEqual(self.read("out.bin"), pack("f32", [*range(2, 100), 0, 0]))
            self.run_tool(words, ["-m", "gfx900", "-k", "_ZN6filter8convolveIfLi3EEEvPT_PKS1_jNS_7weightsIS1_XT0_EEE"])
            self.refused("2 code objects; say which", words, kernel)
            self.refused("2 kernels are called 'filter::convolve'; say which: 'filter::convolve<float, 3>'",
                         words, "-m gfx900 -k filter::convolve")
            self.refused("no entry 7; they are numbered 0 to 2", words, kernel, "-m 7")

    def test_dis(self):
        file = self.bundle("convolve.packed")
        out = self.run_tool(["dis"] + file, ["-m", "gfx906", "-k", "filter::convolve<double,8>"])[0]
        self.assertIn("<_ZN6filter8convolveIdLi8E", out)
        self.assertNotIn("<_ZN6filter8convolveIfLi3E", out)
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
    WAVEMEM, EXAMPLES = (os.path.abspath(path) for path in sys.argv[1:3])
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
