#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Traces: replay tells what prof told, other products and caches, files that are wrong; and the format, read by docs/trace.md.
WAVEMEM_TEST_REDUCED: a quarter of the workgroups that samples are taken of.

usage: traces.py WAVEMEM FOLDER_OF_CODE_OBJECTS [TEST...]
"""
import ctypes
import ctypes.util
import json
import os
import re
import shutil

import command
from command import Case, TRANSPOSE, pack
import model

END, HEADER, DISPATCH, SLOTS, GROUP, DISPATCH_END, ROW, CODE, SOURCE = range(9)


def decompressed(data):
    """The content of a zstd frame, by libzstd itself."""
    zstd = ctypes.CDLL(ctypes.util.find_library("zstd") or "libzstd.so.1")
    zstd.ZSTD_decompress.restype = ctypes.c_size_t
    zstd.ZSTD_decompress.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
    room = ctypes.create_string_buffer(1 << 24)
    size = zstd.ZSTD_decompress(room, len(room), data, len(data))
    assert size < 1 << 24, "no frame"
    return room.raw[:size]


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def number(self):
        number = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            number |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return number

    def signed(self):
        number = self.number()
        return -(number // 2) - 1 if number % 2 else number // 2

    def string(self):
        size = self.number()
        if size == 0:
            return None
        self.at += size - 1
        return self.data[self.at - size + 1:self.at].decode()

    def over(self):
        return self.at == len(self.data)


def records(data):
    """[(kind, Reader)] of a trace."""
    assert data[:8] == b"WMTRACE\0"
    reader, found = Reader(decompressed(data[8:])), []
    while not reader.over():
        kind, size = reader.number(), reader.number()
        found.append((kind, Reader(reader.data[reader.at:reader.at + size])))
        reader.at += size
    return found


def accesses(reader, waves, last):
    """The accesses of each wave: (slot, blocks, full)."""
    found = []
    for _ in range(waves):
        wave = []
        for _ in range(reader.number()):
            slot, head = reader.number(), reader.number()
            count, fullness = head // 4, head % 4
            blocks = [last.get(slot, 0) + reader.signed()]
            last[slot] = blocks[0]
            while len(blocks) < count:
                step, times = reader.signed(), reader.number()
                blocks += [blocks[-1] + step * (i + 1) for i in range(times)]
            full = [fullness == 1] * count
            if fullness == 2:
                bits = reader.data[reader.at:reader.at + (count + 7) // 8]
                reader.at += len(bits)
                full = [bool(bits[i // 8] >> i % 8 & 1) for i in range(count)]
            wave.append((slot, blocks, full))
        found.append(wave)
    return found


def time(seconds):
    return f"{1e6 * seconds:.3g} us" if seconds >= 1e-6 else f"{1e9 * seconds:.3g} ns"


class Traces(Case):
    maxDiff = None

    def prof(self, *words, code=0):
        return json.loads(self.run_tool("prof", *words, "--json", code=code)[0])

    def replay(self, *words):
        return json.loads(self.run_tool("replay", *words, "--json")[0])

    def assertSame(self, live, replayed):
        for key in ("rows", "source_lines", "totals", "kernels"):
            self.assertEqual(replayed[key], live[key], key)

    def test_same_figures(self):
        """What prof told, whatever the threads and the kernel: with LDS, atomics, scratch, several dispatches."""
        cases = [("transpose", "-k " + kernel + " " + TRANSPOSE) for kernel in ("transpose_naive", "transpose_lds")]
        cases += [("transpose", f"-k transpose_naive {TRANSPOSE} --then -k transpose_lds --arg in=same:in --arg out=same:out "
                   "--arg n=64 --then -k transpose_naive --arg in=same:in --arg out=same:out --arg n=64"),
                  ("histogram", self.words_of("histogram")), ("vecadd", self.words_of("vecadd"))]
        for name, words in cases:
            with self.subTest(name, words=words):
                for threads in "12":
                    live = self.prof(self.example(name), words, "-j" + threads, "--trace x.trace")
                    self.assertSame(live, self.replay("x.trace"))
                text, _ = self.run_tool("prof", self.example(name), words)
                self.assertEqual(self.run_tool("replay x.trace")[0], text)

    @staticmethod
    def words_of(name):
        return {"histogram": "-k histogram -g 4096 -b 256 --arg 0=rand:u32:4096:1 --arg 1=zero:u32:256 --arg 2=4096",
                "vecadd": "-g 1000 -b 64 --arg a=iota:f32:1000 --arg b=iota:f32:1000 --arg c=zero:f32:1000 --arg n=1000"}[name]

    def test_other_product(self):
        """What prof tells of a product, replay tells of a trace that another product of the target made."""
        self.path("copy.bin", COPY)
        words = "copy.bin -m gfx803 -g 65536 -b 256 --arg 0=zero:f32:65536 --arg 1=zero:f32:65536"
        self.prof(words, "--trace x.trace")
        names, told = ("rx580", "r9-fury-x"), {}
        for name in names:
            told[name] = self.prof(words, "--gpu", name)
            self.assertEqual(told[name]["kernels"][0]["gpu"], name)
            self.assertSame(told[name], self.replay("x.trace --gpu", name))
        self.assertNotEqual(*(told[name]["kernels"][0]["bounds"] for name in names))
        for product in ("mi300x", "vega64", "rx7900xtx"):
            for what, verb in (("x.trace: a trace of gfx803 on rx580", "replay x.trace"),
                               ("the code object is for gfx803", "prof " + words)):
                self.refused(f"{what}; product {product} is of another generation; of its own are: rx580 r9-fury-x\n",
                             verb, "--gpu", product)
        self.refused("rx9999", "replay x.trace --gpu rx9999")

    def test_generation(self):
        """One rule for both: gfx900's accesses on any product of gfx9 that measures them alike, gfx90a among them."""
        words = ["-k transpose_naive", TRANSPOSE]
        self.prof(self.example("transpose"), *words, "--trace x.trace")
        for product in ("mi100", "mi210"):
            live = self.prof(self.example("transpose"), *words, "--gpu", product)
            self.assertEqual(live["kernels"][0]["gpu"], product)
            self.assertSame(live, self.replay("x.trace --gpu", product))
        for verb in (["prof", self.example("transpose"), *words], ["replay x.trace"]):
            self.refused("product mi300x is of another generation; of its own are: vega64 vega56 mi50 mi60 mi100 mi210",
                         *verb, "--gpu mi300x")

    def test_products(self):
        """Several products: each as if it ran alone, whose report stays the first one's; no other is executed twice."""
        second = "--then -k transpose_lds --arg in=same:in --arg out=same:out --arg n=64"
        words = [*self.example("transpose"), *f"-k transpose_naive {TRANSPOSE} {second} -g 64,64".split()]
        names = ("vega64", "mi100", "mi210")
        alone = {name: self.prof(words, "--gpu", name) for name in names}
        several = self.prof(words, "--gpu", ",".join(names), "--html x.html")
        products = several.pop("products")
        self.assertEqual([product["gpu"] for product in products], list(names))
        for product in products:
            for key in ("kernels", "advice"):
                self.assertEqual(product[key], alone[product["gpu"]][key], product["gpu"])
        self.assertSame(alone["vega64"], several)
        self.assertEqual(several["advice"], alone["vega64"]["advice"])
        self.assertNotIn("products", alone["vega64"])
        self.assertGreater(len({product["kernels"][0]["predicted"]["seconds"] for product in products}), 1)
        # The table: a line for each product, and the first one's report below.
        self.prof(words, "--gpu", ",".join(names), "--trace x.trace")
        text = self.run_tool("prof", words, "--gpu", ",".join(names))[0]
        self.assertTrue(text.endswith("\n\n" + self.run_tool("prof", words, "--gpu vega64")[0]))
        self.assertEqual(self.run_tool("replay x.trace --gpu", ",".join(names))[0], text)
        tables = re.findall(r"(?m)^compare +(.*)\nproduct .*\n((?:.+\n)+)", text)
        kernels = sorted(alone["vega64"]["kernels"], key=lambda kernel: -kernel["predicted"]["seconds"])
        self.assertEqual([title for title, _ in tables], [f"{kernel['kernel']} on 3 products" for kernel in kernels] + ["all 2 kernels, one after another"])
        for kernel, (_, lines) in zip(kernels, tables):
            for name, line in zip(names, lines.splitlines()):
                here = next(other for other in alone[name]["kernels"] if other["pc"] == kernel["pc"])
                seconds, to = here["predicted"]["seconds"], kernel["predicted"]["seconds"]
                least = next(bound["seconds"] for bound in here["bounds"] if bound["part"] == here["binds"])
                self.assertEqual(re.split(r"  +", line)[:7], [
                    name, time(seconds), f"{here['predicted']['factor']:.2g}", f"{seconds / to:.2f}", here["predicted"]["binds"],
                    time(least), here["binds"]])
        # Sizes of caches are those of each product; conditions are on the first one.
        small = self.replay("x.trace --gpu mi210,vega64 --l2-size 64K")["products"]
        self.assertEqual(small[1]["kernels"], self.replay("x.trace --gpu vega64 --l2-size 64K")["kernels"])
        limit = f"predicted>{1.01 * alone['mi210']['kernels'][0]['predicted']['seconds']}"
        self.run_tool("prof", words[:words.index("--then")], "--gpu mi210,vega64", "--fail-if", [limit])
        self.run_tool("prof", words[:words.index("--then")], "--gpu vega64,mi210", "--fail-if", [limit], code=1)

    def test_products_that_do_not_fit(self):
        """They are refused before anything runs, and by verbs that model nothing; no files are left behind."""
        words = [*self.example("transpose"), *f"-k transpose_naive {TRANSPOSE}".split()]
        self.refused("the code object is for gfx900; product mi300x is of another generation", "prof", words, "--gpu vega64,mi300x")
        self.refused("no product 'mi2100' is known", "prof", words, "--gpu vega64,mi2100")
        self.refused("no product '' is known", "prof", words, "--gpu vega64,")
        self.refused("--gpu: at most 32 products", "prof", words, "--gpu", ",".join(["vega64"] * 33))
        self.refused("--gpu with several products: 'wavemem prof' counts, 'run' does not", "run", words, "--gpu vega64,mi50")
        self.refused("--gpu with several products: not with --shard", "prof", words, "--gpu vega64,mi50 --shard 1/2 --part p")
        self.prof(words, "--trace x.trace")
        self.refused("product mi300x is of another generation", "replay x.trace --gpu vega64,mi300x")
        os.remove(self.path("x.trace"))
        # A fault: what ran until then, on each of them.
        os.mkdir(self.path("temporary"))
        os.environ["TMPDIR"] = self.path("temporary")
        try:
            null = "-j 1 -k transpose_naive -g 64,64 -b 16,16 --arg in=iota:f32:4096 --arg out=null --arg n=64"
            report = self.prof(self.example("transpose"), null, "--gpu vega64,mi210", code=3)
        finally:
            del os.environ["TMPDIR"]
        self.assertEqual([product["kernels"][0]["workgroups"] for product in report["products"]], [1, 1])
        self.assertEqual((os.listdir(self.folder.name), os.listdir(self.path("temporary"))), (["temporary"], []))

    def test_no_file(self):
        """A run that is refused leaves no trace, and none that was there before it is touched; a fault's is whole."""
        words = ["prof", self.example("transpose"), "-k transpose_naive", TRANSPOSE, "--trace x.trace"]
        self.refused("another generation", *words, "--gpu mi300x")
        self.assertEqual(os.listdir(self.folder.name), [])
        self.path("x.trace", b"kept")
        second = "--then -k transpose_naive --arg in=same:in --arg out=same:out --arg n=64"
        self.run_tool(*words, second, "-g 64 -b 2048", code=2)
        self.assertEqual((os.listdir(self.folder.name), self.read("x.trace")), (["x.trace"], b"kept"))
        os.rename(self.path("x.trace"), self.path("real.trace"))
        os.symlink("real.trace", self.path("x.trace"))
        self.prof(*words[1:])
        self.assertTrue(os.path.islink(self.path("x.trace")))
        self.assertEqual(self.read("real.trace")[:8], b"WMTRACE\0")
        self.prof(self.example("transpose"), "-k transpose_naive", TRANSPOSE, "--trace /dev/null")
        self.prof(self.example("transpose"), "-k transpose_naive -g 64,64 -b 16,16 --arg in=iota:f32:4096 --arg out=null "
                  "--arg n=64 --trace fault.trace", code=3)
        self.replay("fault.trace")
        for option in ("--csv", "--html", "--counters", "--json"):
            equals = "=" if option == "--json" else " "
            self.run_tool(*words, f"{option}{equals}/dev/full", code=2)

    def test_sizes(self):
        """256 KiB are read twice. A cache of the least recently used lines that holds less gives nothing of what goes
        round in it; one that holds it gives all of the second round, if it keeps its contents."""
        self.path("copy.bin", COPY)
        words = "copy.bin -m gfx900 -g 65536 -b 256 --buffer in=zero:f32:65536 --arg 0=same:in --arg 1=zero:f32:65536"
        self.prof(words, "--then --arg 0=same:in --arg 1=zero:f32:65536 --trace x.trace")
        lines = 65536 * 4 // 64
        for size, hits in (("64K", 0), ("4M", lines), ("4194304", lines), ("1G", lines), ("4M", 0)):
            report = self.replay("x.trace --l2-size", size, "--keep-l2" if hits else "")
            self.assertEqual([kernel["l2_kept"] for kernel in report["kernels"]], [bool(hits)])
            load = next(row for row in report["rows"] if row["text"].startswith("flat_load"))
            self.assertEqual((load["l2_requests"], load["l2_hits"]), (2 * lines, hits), size)
        self.prof(words, "--then --arg 0=same:in --arg 1=zero:f32:65536 --keep-l2 --trace kept.trace")
        load = next(row for row in self.replay("kept.trace")["rows"] if row["text"].startswith("flat_load"))
        self.assertEqual((load["l2_requests"], load["l2_hits"]), (2 * lines, lines))
        for size, why in (("x", "--l2-size x: expected bytes"), ("1T", "expected bytes"), ("100", "expected a multiple of"),
                          ("0", "L2 of 0 bytes: expected a multiple of 1024"), ("1025", "expected a multiple of 1024"),
                          ("-1", "--l2-size -1: expected bytes"), ("", "expected bytes"), ("K", "expected bytes"),
                          ("17179869183G", "too large to be modelled"), ("17179869184G", "expected bytes"),
                          ("18446744073709551616", "expected bytes"), ("8G", "L2 of 8589934592 bytes, 1 of them: too large")):
            self.refused(why, "replay x.trace", ["--l2-size=" + size])
        for option, size, why in (("--l1-size", "1G", "too large"), ("--l1-size", "17179869183G", "too large"),
                                  ("--last-size", "8M", "--last-size 8M: vega64 has no last-level cache")):
            self.refused(why, "replay x.trace", option, size)
        for option in ("--l1-size", "--last-size"):
            self.replay("x.trace", option, "0")
        report = self.replay("x.trace --l2-size 48K")  # no power of two of sets
        load = next(row for row in report["rows"] if row["text"].startswith("flat_load"))
        self.assertEqual((load["l2_requests"], load["l2_hits"]), (2 * lines, 0))

    def test_sample(self):
        """One round of workgroups in four. Raw instructions have all VGPRs, so a workgroup of four waves fills one of
        vega64's 64 compute units, and 4096 of them are 64 rounds, of which there are 16 if reduced. All ask for as
        much, so scaling up gives just what there is."""
        self.path("copy.bin", COPY)
        rounds = 16 if command.REDUCED else 64
        groups, size = rounds * 64, rounds * 64 * 256
        words = f"copy.bin -m gfx900 -g {size} -b 256 --arg 0=zero:f32:{size} --arg 1=zero:f32:{size}"
        whole, part = self.prof(words), self.prof(words, "--sample 1/4 --trace x.trace")
        kernel, all_of = part["kernels"][0], whole["kernels"][0]
        # The last round, and of those before it one in four, one of the last three perhaps.
        self.assertIn(kernel["workgroups"], (groups // 4, groups // 4 + 64))
        scale = groups / kernel["workgroups"]
        self.assertEqual((kernel["sampled_from"], kernel["sample_error"]), (groups, 0))
        self.assertAlmostEqual(kernel["sample_scale"], scale, 6)
        self.assertEqual((all_of["workgroups"], all_of["sampled_from"], all_of["sample_error"]), (groups, None, None))
        for row in part["rows"]:
            other = next(other for other in whole["rows"] if other["pc"] == row["pc"])
            self.assertEqual(row["executions"] * scale, other["executions"])
            self.assertEqual(row["lines"] * scale, other["lines"])
        for bound, other in zip(kernel["bounds"], all_of["bounds"]):
            if bound["part"] not in ("L2", "memory"):
                self.assertAlmostEqual(bound["seconds"] / other["seconds"], 1, 6, bound["part"])
            by_hits = ", assuming the hit rates of the sample" if bound["part"] in ("L2", "memory") else ""
            self.assertTrue(bound["arithmetic"].endswith(f" x {scale:.4g}" + by_hits), bound["arithmetic"])
        self.assertSame(part, self.replay("x.trace"))
        self.assertIn(f"sample     {kernel['workgroups']} of {groups} workgroups", self.run_tool("replay x.trace")[0])
        for wrong in ("4", "1/0", "2/4", "1/x"):
            self.refused(f"--sample {wrong}: expected 1/N", "prof", words, "--sample", wrong)

    def test_modes(self):
        """Each mode of RDNA is in the trace: all figures of a replay are prof's, of a sample and of another product, too,
        and those of the L0 differ between the modes. A sample's rounds are as many workgroups as all WGPs hold: of five
        waves, with 50 KiB of LDS two in WGP mode and one in CU mode, so one is as many as the other."""
        body = ("s_load_b128 s[4:7], s[0:1], 0x0\nv_lshlrev_b32_e32 v1, 4, v0\ns_waitcnt lgkmcnt(0)\n"
                "global_load_b128 v[4:7], v1, s[4:5]\ns_waitcnt vmcnt(0)\nglobal_store_b128 v1, v[4:7], s[6:7]\n"
                "buffer_gl0_inv\ns_lshl_b32 s8, s2, 7\nv_and_b32_e32 v1, 31, v0\nv_lshl_add_u32 v1, v1, 2, s8\n"
                "global_load_b32 v4, v1, s[4:5]\ns_endpgm\n")
        words = "k.co -k k -g 100000 -b 160 --arg a=iota:u32:65536 --arg b=zero:u32:65536"
        hits = []
        for mode in (0, 1):
            more = f".amdhsa_wavefront_size32 1\n.amdhsa_workgroup_processor_mode {mode}"
            self.path("k.s", model.KERNEL.format(body=body, target="gfx1100", vgprs=16, lds=50 << 10, more=more, wave=32).encode())
            self.run_tool("asm -m gfx1100 k.s -o k.co")
            live = self.prof(words, "--trace x.trace")
            self.assertSame(live, self.replay("x.trace"))
            kernel = live["kernels"][0]
            self.assertEqual(kernel["vector_invalidations"], kernel["waves"])
            self.assertEqual((kernel["resident_workgroups"], kernel["occupancy"]["mode"]), (96, ("CU", "WGP")[mode]))
            hits.append(next(cache["read"]["hits"] for cache in kernel["caches"] if cache["name"] == "vector L0"))
            self.assertSame(self.prof(words, "--gpu rx7600"), self.replay("x.trace --gpu rx7600"))
            sample = self.prof(words, "--sample 1/2 --trace s.trace")
            self.assertIn(sample["kernels"][0]["workgroups"], (3 * 96 + 49, 4 * 96 + 49))
            self.assertSame(sample, self.replay("s.trace"))
        self.assertGreater(*hits)  # each line is wanted by all waves of a workgroup

    def test_origins(self):
        """The listing and the source are prof's own, far from the files; the page as well; without the source's record
        the listing stands. Dispatches have their extents."""
        words = ["-k transpose_naive", TRANSPOSE, "--then -k transpose_lds --arg in=same:in --arg out=same:out --arg n=64"]
        for name, kept in (("transpose", True), ("lonely", False)):
            if not kept:  # the source is not beside the code object
                shutil.copy(self.example("transpose")[0], self.path("lonely.co"))
            where = self.example("transpose") if kept else ["lonely.co"]
            source, _ = self.run_tool("prof", *where, *words, "--source --trace x.trace --html live.html --json=live.json",
                                      ["--source-path", os.path.dirname(command.EXAMPLES)] if kept else [])
            self.assertEqual("out[x * n + y]" in source, kept)
            self.assertEqual("s_endpgm" in source, not kept)
            again, _ = self.run_tool("replay x.trace --source --html again.html --json=again.json")
            self.assertEqual(again, source)
            page, repeated = (re.sub(rb'<pre class="command">.*</pre>', b"", self.read(name)) for name in ("live.html", "again.html"))
            self.assertEqual(repeated, page)
            self.assertIn(b"s_endpgm", self.read("live.html"))
            live, replayed = (json.loads(self.read(file))["dispatches"] for file in ("live.json", "again.json"))
            self.assertEqual(replayed, [{key: one[key] for key in ("kernel", "target", "grid", "workgroup")} for one in live])
            found = records(self.read("x.trace"))
            sources = [(reader.string(), reader.data[reader.at:]) for kind, reader in found if kind == SOURCE]
            self.assertEqual([name for name, _ in sources], ["transpose.cl"] * kept)
            with open(os.path.join(command.EXAMPLES, "..", "transpose.cl"), "rb") as file:
                text = file.read()
            for _, data in sources:
                reader = Reader(data)
                self.assertEqual((reader.number(), reader.data[reader.at:]), (len(text), text))

    def test_versions(self):
        """Older and newer ones are refused in one line."""
        self.prof(self.example("transpose"), "-k transpose_naive", TRANSPOSE, "--trace x.trace")
        zstd = ctypes.CDLL(ctypes.util.find_library("zstd") or "libzstd.so.1")
        plain = bytearray(decompressed(self.read("x.trace")[8:]))
        for version in (1, 12, 14, 127):
            plain[2] = version  # behind kind and length of the first record
            room = ctypes.create_string_buffer(len(plain) + 4096)
            size = zstd.ZSTD_compress(room, len(room), bytes(plain), len(plain), 3)
            self.path("old.trace", b"WMTRACE\0" + room.raw[:size])
            self.refused(f"a trace of version {version}; this wavemem reads version 13", "replay old.trace")

    def test_wrong_files(self):
        words = [self.example("transpose"), "-k transpose_naive", TRANSPOSE]
        self.prof(*words, "--trace x.trace")
        data = self.read("x.trace")
        for size in (9, 100, len(data) // 2, len(data) - 1):
            self.path("cut.trace", data[:size])
            self.refused("cut.trace: the trace is cut off", "replay cut.trace")
        self.path("cut.trace", data[:7])
        self.refused("cut.trace: no trace; expected a file of 'wavemem prof --trace'", "replay cut.trace")
        self.path("bad.trace", data[:len(data) // 2] + b"\0\0\0\0" + data[len(data) // 2 + 4:])
        self.refused("bad.trace: ", "replay bad.trace")
        self.refused("missing", "replay missing")
        self.refused("a trace is needed", "replay --all")
        self.refused("one trace at a time", "replay x.trace x.trace")
        self.refused("--trace no/x: cannot be written", "prof", *words, "--trace no/x")
        self.refused("'run' does not", "run", *words, "--trace x")

    def test_format(self):
        """By docs/trace.md: wave 0 of workgroup 0 stores down 16 columns of 256-byte rows, four dwords in each of 16
        lines, and loads 64-byte rows of four lines."""
        self.prof(self.example("transpose"), "-k transpose_naive", TRANSPOSE, "--trace x.trace")
        found = records(self.read("x.trace"))
        self.assertEqual(found[0][0], HEADER)
        self.assertEqual((found[0][1].number(), found[0][1].string()), (13, "gfx900"))
        self.assertEqual((found[-1][0], found[-1][1].number()), (END, len(found) - 1))
        slots, texts, groups, last = {}, {}, {}, {}
        for kind, reader in found[1:-1]:
            if kind == DISPATCH:
                self.assertEqual(reader.string(), "transpose_naive")
                _, *numbers = (reader.number() for _ in range(16))
                self.assertEqual(numbers[:6], [64, 64, 1, 16, 16, 1])
                self.assertEqual(numbers[9:13], [0, 0, 0, 64])  # CU mode, no scratch memory, wave size
                self.assertTrue(reader.over())
            while kind == SLOTS and not reader.over():
                slot, path, operation, shift, _ = (reader.number() for _ in range(5))
                slots[slot] = path, operation, shift
            if kind == ROW:
                slot = reader.number()
                for _ in range(5):
                    reader.number()
                texts[slot] = [reader.string() for _ in range(3)]
            if kind == GROUP:
                number, instructions, waves = (reader.number() for _ in range(3))
                groups[number] = accesses(reader, waves, last)
                self.assertTrue(reader.over())
                self.assertGreater(instructions, 4 * 20)
        self.assertEqual(list(groups), list(range(16)))
        store = next(slot for slot in slots if texts[slot][1].startswith("global_store_dword"))
        load = next(slot for slot in slots if texts[slot][1].startswith("global_load_dword"))
        self.assertEqual((slots[store][:2], slots[load][:2]), ((5, 1), (5, 0)))
        self.assertEqual(texts[store][::2], ["transpose_naive", "transpose.cl"])
        for number, group in groups.items():
            self.assertEqual(len(group), 4)
            for index, wave in enumerate(group):
                stores, loads = (next(blocks for at, blocks, _ in wave if at == slot) for slot in (store, load))
                first = {slot: next(blocks for at, blocks, _ in groups[0][0] if at == slot)[0] << slots[slot][2]
                         for slot in (store, load)}
                column, row = number % 4, number // 4
                self.assertEqual([block << slots[store][2] for block in stores],
                                 [first[store] + (column * 16 + i) * 256 + (row * 64 + index * 16) // 64 * 64
                                  for i in range(16)])
                self.assertEqual([block << slots[load][2] for block in loads],
                                 [first[load] + (row * 16 + index * 4 + i) * 256 + column * 64 for i in range(4)])


# out[i] = in[i], dwords; s[0:1] arguments, s2 the workgroup, v0 the work-item. As gfx803 and gfx900 encode it.
COPY = pack("u32", [
    0xC00A0100, 0x00000000,  # s_load_dwordx4 s[4:7], s[0:1], 0x0
    0x8E028802,              # s_lshl_b32 s2, s2, 8
    0x32000002,              # v_add_u32_e32 v0, vcc, s2, v0 (gfx900: v_add_co_u32)
    0x24000082,              # v_lshlrev_b32_e32 v0, 2, v0
    0xBF8C007F,              # s_waitcnt lgkmcnt(0)
    0x7E060205,              # v_mov_b32_e32 v3, s5
    0x32040004,              # v_add_u32_e32 v2, vcc, s4, v0
    0xD11C6A03, 0x01A90103,  # v_addc_u32_e64 v3, vcc, v3, 0, vcc
    0xDC500000, 0x01000002,  # flat_load_dword v1, v[2:3]
    0x7E060207,              # v_mov_b32_e32 v3, s7
    0x32040006,              # v_add_u32_e32 v2, vcc, s6, v0
    0xD11C6A03, 0x01A90103,  # v_addc_u32_e64 v3, vcc, v3, 0, vcc
    0xBF8C0070,              # s_waitcnt vmcnt(0) lgkmcnt(0)
    0xDC700000, 0x00000102,  # flat_store_dword v[2:3], v1
    0xBF810000])             # s_endpgm


if __name__ == "__main__":
    command.main()
