#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""--shard and merge: parts give what the whole run gives, or merge says which byte they share; parts that are wrong.

usage: shards.py WAVEMEM FOLDER_OF_CODE_OBJECTS [TEST...]
"""
import ctypes
import ctypes.util
import json
import os
import re
import resource
import shutil
import struct
import subprocess
import unittest

import command
from command import Case, TRANSPOSE, pack, random_elements

BITCODE = "/usr/lib/x86_64-linux-gnu/amdgcn/bitcode"
PRIVATE = b"""kernel void f(global const uint *in, global uint *out, uint n) {
  uint i = get_global_id(0), a[32], s = 0;
  for (uint k = 0; k < 32; k++) a[k] = in[(i + k) % n];
  for (uint k = 0; k < 64; k++) { uint j = (in[i] + k * s) % 32; a[j] += k; s += a[(j + 7) % 32]; }
  out[i] = s;
}
"""
# Workgroups of two kinds, each with a race of its own, whose store is the same.
RACES = b"""kernel __attribute__((reqd_work_group_size(128, 1, 1))) void f(global uint *out) {
  local uint t[128];
  uint l = get_local_id(0);
  t[l] = l;
  uint other;
  if (get_group_id(0) % 2) other = t[127 - l];
  else other = t[(l + 64) % 128] + 1;
  out[get_global_id(0)] = other;
}
"""
# The first wait for loads is needed by workgroups from number n on only; the second one by none, because the third one covers
# it, which is nearer in workgroups with odd numbers.
CLUSTERS = b"""  .amdgcn_target "amdgcn-amd-amdhsa--gfx1250"
  .text
  .globl f
  .p2align 8
  .type f,@function
f:
  s_load_b64 s[2:3], s[0:1], 0x0
  s_lshl_b32 s4, ttmp9, 1
  s_and_b32 s5, ttmp6, 15
  s_add_co_i32 s4, s4, s5
  s_barrier_signal -3
  s_barrier_wait -3
  s_lshl_b32 s6, s4, 7
  v_lshl_add_u32 v1, v0, 2, s6
  v_mov_b32 v2, s4
  s_wait_kmcnt 0x0
  global_store_b32 v1, v2, s[2:3]
  s_endpgm
.Lend:
  .size f, .Lend-f
  .rodata
  .p2align 6
  .amdhsa_kernel f
    .amdhsa_user_sgpr_kernarg_segment_ptr 1
    .amdhsa_next_free_vgpr 8
    .amdhsa_next_free_sgpr 16
  .end_amdhsa_kernel
  .amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: f
    .symbol: f.kd
    .kernarg_segment_size: 8
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 32
    .sgpr_count: 16
    .vgpr_count: 8
    .max_flat_workgroup_size: 1024
    .args:
      - {.name: out, .size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}
...
  .end_amdgpu_metadata
"""
WAITS = b"""  .amdgcn_target "amdgcn-amd-amdhsa--gfx900"
  .text
  .globl f
  .p2align 8
  .type f,@function
f:
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  s_load_dword s8, s[0:1], 0x10
  v_lshlrev_b32 v2, 2, v0
  v_mov_b32 v1, 0
  s_waitcnt lgkmcnt(0)
  s_cmp_lt_u32 s2, s8
  s_cbranch_scc1 .Lidle
  global_load_dword v1, v2, s[4:5]
.Lidle:
  s_waitcnt vmcnt(0)
  v_add_u32 v1, 1, v1
  global_load_dword v3, v2, s[4:5]
  s_waitcnt vmcnt(0)
  s_bitcmp1_b32 s2, 0
  s_cbranch_scc1 .Lnear
  s_nop 0
  s_nop 0
.Lnear:
  global_load_dword v4, v2, s[4:5]
  s_waitcnt vmcnt(0)
  v_add_u32 v1, v1, v3
  v_add_u32 v1, v1, v4
  v_lshl_add_u32 v2, s2, 8, v2
  global_store_dword v2, v1, s[6:7]
  s_endpgm
.Lend:
  .size f, .Lend-f
  .amdhsa_kernel f
    .amdhsa_next_free_vgpr 5
    .amdhsa_next_free_sgpr 16
    .amdhsa_user_sgpr_kernarg_segment_ptr 1
    .amdhsa_kernarg_size 24
  .end_amdhsa_kernel
  .amdgpu_metadata
amdhsa.version: [1, 0]
amdhsa.kernels:
  - .name: f
    .symbol: f.kd
    .kernarg_segment_size: 24
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .wavefront_size: 64
    .sgpr_count: 16
    .vgpr_count: 5
    .max_flat_workgroup_size: 64
    .args:
      - {.name: in, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global}
      - {.name: out, .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global}
      - {.name: most, .offset: 16, .size: 4, .value_kind: by_value}
  .end_amdgpu_metadata
"""


class Zstd:
    """libzstd itself."""
    library = ctypes.CDLL(ctypes.util.find_library("zstd") or "libzstd.so.1")

    @classmethod
    def call(cls, name, size, *arguments):
        function = getattr(cls.library, name)
        function.restype = ctypes.c_size_t
        room = ctypes.create_string_buffer(size)
        used = function(room, ctypes.c_size_t(size), *arguments)
        return room.raw[:used]

    @classmethod
    def compress(cls, data):
        return cls.call("ZSTD_compress", len(data) + 1024, data, ctypes.c_size_t(len(data)), 1)

    @classmethod
    def decompress(cls, data, size):
        return cls.call("ZSTD_decompress", size, data, ctypes.c_size_t(len(data)))


def open_part(content):
    """The head, the body and the trace of a part; source: tool/shard/part.h."""
    head, body, packed, trace = struct.unpack_from("<4Q", content, 8)
    assert len(content) == 40 + head + packed + trace
    return (json.loads(content[40:40 + head]), Zstd.decompress(content[40 + head:40 + head + packed], body),
            content[40 + head + packed:])


def close_part(head, body, trace, size=None):
    head, packed = json.dumps(head).encode(), Zstd.compress(body)
    sizes = struct.pack("<4Q", len(head), len(body) if size is None else size, len(packed), len(trace))
    return b"WMPART\0\1" + sizes + head + packed + trace


LAUNCHERS = ("OMPI_", "PMI_", "SLURM_")


class Shards(Case):
    def split(self, verb, count, *words, code=0):
        """Runs each shard; returns the names of their parts, the last one first."""
        for part in range(1, count + 1):
            out, err = self.run_tool(verb, *words, f"--shard {part}/{count} --part part.%i", code=code)
            self.assertEqual(out + err, "")
        return [f"part.{part}" for part in range(count, 0, -1)]

    def test_outputs(self):
        """A transpose of random numbers, against Python's; bytes that no shard writes keep their values."""
        words = ("-k transpose_naive -g 64,64 -b 16,16 --arg in=rand:f32:4096:7 --arg n=64 --arg out=fill:f32:4100:2.5 "
                 "--out out=out.npy")
        given = random_elements("f32", 4096, 7)
        expected = pack("f32", [given[x * 64 + y] for y in range(64) for x in range(64)] + [2.5] * 4)
        self.run_tool("run", self.example("transpose"), words)
        whole = self.read("out.npy")
        self.assertTrue(whole.endswith(expected))
        os.unlink(self.path("out.npy"))
        for count in (1, 2, 3, 16):
            with self.subTest(count=count):
                parts = self.split("run", count, self.example("transpose"), words)
                self.assertFalse(os.path.exists(self.path("out.npy")), "a shard writes no output")
                self.assertEqual(self.run_tool("merge", parts, "--out out=m.npy --out out=m.bin"), ("", ""))
                self.assertEqual(self.read("m.npy"), whole)
                self.assertEqual(self.read("m.bin"), expected)

    def test_clusters(self):
        """Whole clusters are split; each workgroup stores its number behind their barrier."""
        self.path("clusters.s", CLUSTERS)
        words = "clusters.s -m gfx1250 -g 256 -b 32 --cluster 2 --arg out=zero:u32:256 --out out=out.bin"
        for count in (1, 2, 3, 4):
            self.run_tool("merge", self.split("run", count, words), "--out out=out.bin")
            self.assertEqual(self.read("out.bin"), pack("u32", [i // 32 for i in range(256)]))
        self.refused("5 shards of 4 clusters; at most one for each", "run", words, "--part p --shard 1/5")
        words = words.replace("--out out=out.bin", "")
        self.run_tool("prof", words, "--trace whole.trace")
        self.run_tool("merge", self.split("prof", 3, words), "--trace merged.trace")
        self.assertEqual(self.read("merged.trace"), self.read("whole.trace"))

    def test_in_place(self):
        """Two outputs that are one buffer, from another offset on; unaligned sizes."""
        words = ("-g 1024 -b 64 --arg a=iota:f32:1000 --arg b=same:a+4 --arg c=zero:f32:1001 --arg n=999 --out c=c.bin "
                 "--out a=a.bin")
        parts = self.split("run", 3, self.example("vecadd"), words)
        self.run_tool("merge", parts, "--out c=c.bin --out a=a.bin")
        self.assertEqual(self.read("c.bin"), pack("f32", [2 * i + 1 for i in range(999)] + [0, 0]))
        self.assertEqual(self.read("a.bin"), pack("f32", range(1000)))

    def test_profiles(self):
        """The merged trace is that of the whole run, byte for byte, and so are reports."""
        cases = [("transpose", "-k transpose_lds " + TRANSPOSE), ("transpose", "-k transpose_naive " + TRANSPOSE),
                 ("sgemm", "--guess"), ("spmv", "--guess"), ("stencil2d", "--guess"), ("nbody", "--guess")]
        for name, words in cases:
            with self.subTest(name, words=words):
                self.run_tool("prof", self.example(name), words, "--trace whole.trace -j2")
                for part in (1, 2, 3):
                    self.run_tool("prof", self.example(name), words, f"-j{part % 2 + 1} --shard {part}/3 --part part.%i")
                text = self.run_tool("merge part.1 part.2 part.3 --trace merged.trace")[0]
                self.assertEqual(self.read("merged.trace"), self.read("whole.trace"))
                self.assertEqual(text, self.run_tool("prof", self.example(name), words)[0])
                for form in ("--csv", "--counters", "--json"):
                    self.run_tool("merge part.1 part.2 part.3", f"{form}=m")
                    self.run_tool("replay whole.trace", f"{form}=w")
                    self.assertEqual(self.read("m"), self.read("w"), form)

    def test_profiles_of_dispatches(self):
        """Dispatches of several sizes, of kernels that all parts or only some meet for the first time in a later one."""
        transpose = "-k transpose_{} -g {},64 -b 16,16 --arg in=iota:f32:4096 --arg out=zero:f32:4096 --arg n=64"
        # Only work-items behind `n` skip the access: the first parts of the first dispatch, and all of the second.
        vecadd = "-g {0} -b 64 --arg a=iota:f32:1024 --arg b=iota:f32:1024 --arg c=zero:f32:1024 --arg n={1}"
        cases = [("transpose", transpose.format("naive", 64), "--then", transpose.format("lds", 32), "--then",
                  transpose.format("naive", 32)),
                 ("transpose", "--keep-l2", transpose.format("lds", 32), "--then", transpose.format("lds", 64)),
                 ("vecadd", vecadd.format(1024, 64), "--then", vecadd.format(512, 0), "--then", vecadd.format(768, 700)),
                 ("vecadd", vecadd.format(256, 0), "--then", vecadd.format(1024, 1000), "--then", vecadd.format(256, 256)),
                 # The wave that is drawn is workgroup 4 of the first dispatch, which is in the second of two parts; workgroup 4
                 # of the other dispatch is in the first one. Numbers of work-items overflow to 0 there.
                 ("vecadd", "--offset 4294967040", vecadd.format(512, 256), "--then --offset 4294967040", vecadd.format(1024, 768))]
        for name, *words in cases:
            with self.subTest(name, words=words):
                text = self.run_tool("prof", self.example(name), *words)[0]
                self.run_tool("prof", self.example(name), *words, "--trace whole.trace")
                for count in (1, 2, 4):
                    parts = self.split("prof", count, self.example(name), *words)
                    self.assertEqual(self.run_tool("merge", parts, "--trace merged.trace")[0], text)
                    self.assertEqual(self.read("merged.trace"), self.read("whole.trace"))
                    for form in ("--csv", "--counters", "--json", "--html"):
                        self.run_tool("merge", parts, f"{form}=m")
                        self.run_tool("replay whole.trace", f"{form}=w")
                        # The page names the command that made it.
                        same = [re.sub(rb"wavemem (merge|replay)[^<\"]*", b"", self.read(file)) for file in "mw"]
                        self.assertEqual(*same, form)

    def test_many_parts(self):
        """More parts of several dispatches than are open at the same time, and than the process may open files."""
        count = 40 if command.REDUCED else 300
        transpose = "-k transpose_{} -g 320,320 -b 16,16 --arg in=iota:f32:102400 --arg out=zero:f32:102400 --arg n=320"
        words = " --then ".join(transpose.format(name) for name in ("naive", "lds", "naive"))
        text = self.run_tool("prof", self.example("transpose"), words)[0]
        self.run_tool("prof", self.example("transpose"), words, "--trace whole.trace")
        parts = self.split("prof", count, self.example("transpose"), words)
        limits = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (32, limits[1]))
        try:
            merged = self.run_tool("merge", parts, "--trace merged.trace")[0]
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, limits)
        self.assertEqual(merged, text)
        self.assertEqual(self.read("merged.trace"), self.read("whole.trace"))

    def test_profile_of_communication(self):
        """A later dispatch reads what another part wrote."""
        words = ("-g 1024 -b 64 --buffer x=zero:f32:1100 --arg a=iota:f32:1024 --arg b=iota:f32:1024 --arg c=same:x --arg n=1024 "
                 "--then -g 1024 -b 64 --arg a=same:x+256 --arg b=iota:f32:1024 --arg c=zero:f32:1024 --arg n=1024")
        parts = self.split("prof", 2, self.example("vecadd"), words)
        out, err = self.run_tool("merge", parts, code=1)
        self.assertEqual(out, "")
        self.assertIn("written in part 2 (part.2) by dispatch 1, read in part 1 (part.1) by dispatch 2; 256 such bytes", err)

    @unittest.skipUnless(shutil.which("clang-19") and shutil.which("ld.lld-19") and os.path.exists(BITCODE), "no compiler")
    def test_private_memory(self):
        """Which scratch memory a workgroup has differs from shard to shard; it is nobody else's."""
        self.path("private.cl", PRIVATE)
        for target in ("gfx900", "gfx1100"):
            words = f"private.cl -m {target} -g 1024 -b 64 --arg in=rand:u32:1024 --arg out=zero:u32:1024 --arg n=1024 --out out=o.npy"
            self.run_tool("prof", words, "--trace whole.trace")
            parts = self.split("prof", 3, words)
            self.run_tool("merge", parts, "--out out=m.npy --trace merged.trace")
            self.assertEqual(self.read("m.npy"), self.read("o.npy"))
            self.assertEqual(self.read("merged.trace"), self.read("whole.trace"))

    def test_other_product(self):
        words = ("-k transpose_naive", TRANSPOSE)
        live = self.run_tool("prof", self.example("transpose"), words[0], words[1], "--gpu vega56")[0]
        parts = self.split("prof", 2, self.example("transpose"), *words)
        self.assertEqual(self.run_tool("merge", parts, "--gpu vega56")[0], live)

    def test_communication(self):
        """Workgroup i writes what workgroup i + 1 reads: the 64 elements behind the first part's."""
        words = ("-g 1024 -b 64 --arg a=iota:f32:1088 --arg b=fill:f32:1024:1 --arg c=same:a+256 --arg n=1024 --out a=a.npy")
        parts = self.split("run", 2, self.example("vecadd"), words)
        out, err = self.run_tool("merge", parts, "--out a=m.npy", code=1)
        self.assertEqual((out, err), ("", "communicates: buffer 'a', offset 2048: written in part 1 (part.1), read in "
                                      "part 2 (part.2); 256 such bytes\n"))
        self.assertFalse(os.path.exists(self.path("m.npy")))

    def test_same_element(self):
        """All workgroups add to one counter under a lock."""
        for part in (1, 2):
            self.run_tool("prof", self.example("waiting"), f"-k spin_lock --guess --shard {part}/2 --part p{part}")
        out, err = self.run_tool("merge p2 p1 --json=report.json", code=1)
        self.assertEqual(out, "")
        self.assertRegex(err, r"(?m)^communicates: buffer 'number', offset 0: written in part 1 \(p1\), written in part 2")
        self.assertFalse(os.path.exists(self.path("report.json")))

    def test_waiting_for_others(self):
        """A workgroup that waits for one of another shard never ends; no part is left."""
        err = self.run_tool("run", self.example("waiting"), "-k grid_barrier --guess --shard 1/2 --part p", code=3)[1]
        self.assertIn("workgroups of other shards do not run here", err)
        self.assertFalse(os.path.exists(self.path("p")))

    def reports(self, verb, *words, code, counts=(1, 2, 5)):
        """The whole run's report in all forms is that of any number of shards; returns its text."""
        forms = dict(text=[], json=["--json=r.json"], sarif=["--sarif", "r.sarif"], junit=["--junit", "r.xml"],
                     github=["--github"], suppressions=["--write-suppressions", "r.txt"])

        def all_of(*command_words):
            made = {}
            for form, options in forms.items():
                made[form] = self.run_tool(*command_words, *options, code=code)[0]
                if options[-1:] > ["--json"]:
                    made[form] += self.read(options[-1].split("=")[-1]).decode()
            made["json"] = re.sub(r'"(seconds|wave_instructions_per_second)": [^,]*', r'"\1"', made["json"])
            return made

        whole = all_of(verb, *words)
        for count in counts:
            parts = self.split(verb, count, *words)
            merged = all_of("merge", parts)
            for form in forms:
                self.assertEqual(merged[form], whole[form], f"{form} of {count} parts")
        return whole["text"]

    def test_check(self):
        """Findings of an example whose buffers are too small, with their counts and the code that was reached."""
        text = self.reports("check", *self.example("sha256"), "-g 4096 -b 256 --arg messages=iota:u32:4096 "
                            "--arg digests=zero:u32:4096 --arg n=4096", code=1)
        self.assertIn("rule out-of-bounds", text)
        self.reports("check", *self.example("spmv"), "-g 1024 -b 128 --arg row_start=iota:u32:200 --arg column=iota:u32:200 "
                     "--arg value=iota:f32:200 --arg x=iota:f32:200 --arg y=zero:f32:200 --arg rows=125", code=0)

    def test_check_uninit(self):
        """What the digest reads does not count as written."""
        text = self.reports("check", *self.example("vecadd"), "-g 1024 -b 64 --arg a=uninit:f32:1000 --arg b=iota:f32:1000 "
                            "--arg c=uninit:f32:999 --arg n=1000", code=1)
        self.assertIn("rule uninit-global", text)

    @unittest.skipUnless(shutil.which("clang-19") and shutil.which("ld.lld-19") and os.path.exists(BITCODE), "no compiler")
    def test_check_branches(self):
        """Code that only some parts reach; pairs of instructions of which some parts see one and others the other."""
        self.path("races.cl", RACES)
        text = self.reports("check", "races.cl -m gfx900 -g 1280 -b 128 --arg out=zero:u32:1280", code=1)
        self.assertRegex(text, r"found +[2-9] errors")
        self.assertIn("rule race-", text)
        self.assertIn("; 5 executions in all", text)

    def test_check_needless(self):
        """A wait that some parts need in one dispatch, and none in another; the nearest later wait of all parts."""
        self.path("waits.s", WAITS)
        dispatch = "-g 1024 -b 64 --arg in=iota:u32:64 --arg out=zero:u32:1024 --arg most={}"
        first, second = "waits.s:16", "waits.s:19"
        for numbers, expected in (([16], [first, second]), ([8], [second]), ([15], [second]), ([8, 16], [first, second]),
                                  ([16, 0], [first, second]), ([8, 9, 16, 3, 16], [first, second])):
            words = " --then ".join(dispatch.format(n) for n in numbers)
            text = self.reports("check", "waits.s -m gfx900", words, "--only wait --needless", code=0, counts=(1, 2, 3, 16))
            found = [line.split()[-1] for line in text.splitlines() if line.startswith("  at ")]
            self.assertEqual(found, expected, numbers)
            self.assertIn("at least 3 instructions later", text)
            if first in expected:
                launch = numbers.index(16) + 1
                self.assertIn(f"by   launch {launch}; {16 * numbers.count(16)} executions in all", text)

    def test_check_same_symbol(self):
        """Kernels of the same name in two code objects: each has its own coverage."""
        with open(self.example("vecadd")[0], "rb") as file:
            self.path("other.co", file.read())
        words = "-g 256 -b 64 --arg a=iota:f32:256 --arg b=iota:f32:256 --arg c=zero:f32:256 --arg n={}"
        text = self.reports("check", *self.example("vecadd"), words.format(256), "--then other.co", words.format(0), code=0,
                            counts=(1, 2, 4))
        self.assertIn("ran        2 kernels", text)

    def test_check_communication(self):
        """The race between workgroups of different parts is not found, and the merge says so."""
        words = ("-g 1024 -b 64 --arg a=iota:f32:1088 --arg b=fill:f32:1024:1 --arg c=same:a+256 --arg n=1024 --out a=a.npy")
        self.assertIn("race-", self.run_tool("check", self.example("vecadd"), words, code=1)[0])
        parts = self.split("check", 16, self.example("vecadd"), words)
        out, err = self.run_tool("merge", parts, "--out a=m.npy", code=4)
        why = ("buffer 'a', offset 256: written in part 1 (part.1), read in part 2 (part.2); 3840 such bytes: races between the "
               "parts were not looked for")
        self.assertIn(f"unchecked  vecadd: {why}\nfound      0 errors\n", out)
        self.assertIn(f"wavemem: vecadd: the analysis is incomplete: {why}\n", err)
        self.assertIn("nothing is written", err)
        self.assertFalse(os.path.exists(self.path("m.npy")))
        self.run_tool("merge", parts, "--json=m.json", code=4)
        self.assertEqual(json.loads(self.read("m.json"))["incomplete"], [{"what": "vecadd", "why": why}])

    def test_check_stale_values(self):
        """A finding that is there only because the other part had not written the bytes is left out."""
        words = ("-g 128 -b 64 --buffer x=uninit:f32:192 --arg a=iota:f32:128 --arg b=iota:f32:128 --arg c=same:x --arg n=128 "
                 "--only uninit --then -g 64 -b 32 --arg a=same:x+256 --arg b=iota:f32:64 --arg c=zero:f32:64 --arg n=64")
        self.run_tool("check", self.example("vecadd"), words)
        parts = self.split("check", 2, self.example("vecadd"), words)
        out, err = self.run_tool("merge", parts, code=4)
        self.assertIn("1 finding of class uninit left out, because parts read what other parts wrote", err)
        self.assertNotIn("rule uninit", out)

    def test_check_fault(self):
        """A shard that faulted leaves a part with what was found until then."""
        words = ("-g 256 -b 64 --arg a=iota:f32:256 --arg b=iota:f32:256 --arg c=zero:f32:10 --arg n=256 --on-violation stop")
        whole = self.run_tool("check", self.example("vecadd"), words, code=1)
        self.run_tool("check", self.example("vecadd"), words, "--shard 1/1 --part part.1", code=3)
        merged = self.run_tool("merge part.1", code=1)
        self.assertEqual(merged[0], whole[0])
        self.assertIn("error: ", merged[1])

    def merge_dispatches(self, count, words, name):
        """Merges the output and the report, which is the whole run's but for times."""
        def untimed(name):
            report = json.loads(self.read(name))
            for entry in report["dispatches"]:
                del entry["seconds"], entry["wave_instructions_per_second"]
            return report

        self.run_tool("run", self.example("vecadd"), words, "--json=whole.json")
        parts = self.split("run", count, self.example("vecadd"), words)
        self.run_tool("merge", parts, f"--out {name}=m.bin --json=merged.json")
        self.assertEqual(untimed("merged.json"), untimed("whole.json"))
        return self.read("m.bin")

    def test_dispatches(self):
        """b = 2 i, then c = b + i by the same workgroups; then by others, which read what another part wrote."""
        words = ("-g 1024 -b 64 --buffer x=zero:f32:1000 --arg a=iota:f32:1000 --arg b=iota:f32:1000 --arg c=same:x --arg n=1000 "
                 "--then {} --arg b=iota:f32:1000 --arg c=zero:f32:1000 --out c=c.bin")
        for count in (1, 2, 16):
            merged = self.merge_dispatches(count, words.format("--arg a=same:x --arg n=1000"), "c")
            self.assertEqual(merged, pack("f32", [3 * i for i in range(1000)]))
        parts = self.split("run", 2, self.example("vecadd"), words.format("-g 960 --arg a=same:x+4 --arg n=960"))
        out, err = self.run_tool("merge", parts, "--out c=m.bin", code=1)
        self.assertRegex(err, r"\Acommunicates: buffer 'x', offset \d+: written in part \d \(part.\d\) by dispatch 1, read in part \d "
                              r"\(part.\d\) by dispatch 2; \d+ such bytes\n\Z")

    def test_overwritten(self):
        """A byte that parts write in different dispatches has the value of the later one, whichever part that is."""
        words = ("-g 256 -b 64 --buffer o=zero:f32:320 --arg a=iota:f32:256 --arg b=iota:f32:256 --arg c=same:o+{} --arg n=256 "
                 "--then --arg a=fill:f32:256:5 --arg b=iota:f32:256 --arg c=same:o+{} --arg n=256 --out o=o.bin")
        for offsets in ((256, 0), (0, 256)):
            for count in (2, 3, 4):
                merged = self.merge_dispatches(count, words.format(*offsets), "o")
                self.assertEqual(merged, self.read("o.bin"), (offsets, count))

    def test_launches(self):
        """A finding of the third dispatch only, in the last part."""
        words = ("-g 256 -b 64 --arg a=iota:f32:256 --arg b=iota:f32:256 --arg c=zero:f32:256 --arg n=256 "
                 "--then -g 512 --arg a=iota:f32:512 --arg b=iota:f32:512 --arg c=zero:f32:512 --arg n=512 "
                 "--then -g 256 --arg a=iota:f32:256 --arg b=iota:f32:256 --arg c=zero:f32:250 --arg n=256")
        self.assertIn("of launch 3", self.reports("check", *self.example("vecadd"), words, code=1, counts=(2, 4)))

    def test_report_of_a_part(self):
        self.run_tool("run", self.example("transpose"), "-k transpose_naive", TRANSPOSE, "--shard 2/4 --part p --json=part.json")
        (entry,) = json.loads(self.read("part.json"))["dispatches"]
        self.assertEqual((entry["workgroups"], entry["waves"], entry["grid"]), (4, 16, [64, 64, 1]))

    def test_damaged_findings(self):
        """Whatever is in the head of a part of `check`: the report, or one message."""
        self.split("check", 2, self.example("sha256"), "-g 1024 -b 256 --arg messages=iota:u32:1024 "
                   "--arg digests=zero:u32:1024 --arg n=1024")
        head, body, trace = open_part(self.read("part.2"))

        def places(value, path=()):
            yield path
            if isinstance(value, (dict, list)):
                for key in value if isinstance(value, dict) else range(min(len(value), 2)):
                    yield from places(value[key], (*path, key))

        def changed(value, path, by):
            if not path:
                return by
            copy = dict(value) if isinstance(value, dict) else list(value)
            copy[path[0]] = changed(value[path[0]], path[1:], by)
            return copy

        values = (None, -1, 2**63 - 1, "x", [], {})
        every = [path for path in places(head) if path[:1] in (("check",), ("ran",), ("incomplete",))]
        for i, path in enumerate(every):
            for by in values[i % len(values)::len(values)] if command.REDUCED else values:
                self.path("bad", close_part(changed(head, path, by), body, trace))
                done = subprocess.run([command.WAVEMEM, "merge", "part.1", "bad", "--json=m.json"], cwd=self.folder.name,
                                      capture_output=True, encoding="utf-8", timeout=60)
                self.assertIn(done.returncode, (1, 2, 3, 4), (path, by, done.stderr))
                if done.returncode == 2:
                    self.assertRegex(done.stderr, r"wavemem: [^\n]*\n\Z", (path, by))

    def test_auto(self):
        words = [*self.example("vecadd"), *"-g 256 -b 64 --arg a=iota:f32:256 --arg b=iota:f32:256 --arg c=zero:f32:256 "
                 "--arg n=256 --out c=c.npy --shard auto --part %i".split()]

        def run(code=0, part="%i", **environment):
            kept = {name: value for name, value in os.environ.items() if not name.startswith(LAUNCHERS)}
            done = subprocess.run([command.WAVEMEM, "run", *words[:-1], part], env=dict(kept, **environment), cwd=self.folder.name,
                                  capture_output=True, encoding="utf-8")
            self.assertEqual(done.returncode, code, done.stderr)
            return done.stderr

        cases = [("1", dict(SLURM_PROCID="0", SLURM_NTASKS="4")), ("4", dict(PMI_RANK="3", PMI_SIZE="4")),
                 ("2", dict(OMPI_COMM_WORLD_RANK="1", OMPI_COMM_WORLD_SIZE="4", SLURM_PROCID="0", SLURM_NTASKS="2"))]
        array = {"SLURM_ARRAY_TASK_" + name: value for name, value in dict(MIN="10", MAX="14", STEP="4", COUNT="2").items()}
        cases += [("3", dict(array, SLURM_ARRAY_TASK_ID="14", SLURM_PROCID="0", SLURM_NTASKS="2"))]
        for name, environment in cases:
            run(**environment)
            self.assertTrue(os.path.exists(self.path(name)), environment)
        self.run_tool("merge 1 2 3 4 --out c=c.bin")
        self.assertEqual(self.read("c.bin"), pack("f32", range(0, 512, 2)))
        for expected, environment in [("neither Slurm nor Open MPI nor PMI", {}),
                                      ("PMI_RANK is 4 of 4", dict(PMI_RANK="4", PMI_SIZE="4")),
                                      ("PMI_SIZE is not set", dict(PMI_RANK="4")), ("'x'", dict(PMI_RANK="x", PMI_SIZE="1")),
                                      ("without gaps", dict(array, SLURM_ARRAY_TASK_ID="14", SLURM_ARRAY_TASK_COUNT="3"))]:
            self.assertIn(expected, run(code=2, **environment))
        self.assertIn("expected a name with %i", run(code=2, part="one", PMI_RANK="0", PMI_SIZE="2"))

    def test_wrong_options(self):
        words = ["run", *self.example("vecadd"), *"-g 256 -b 64 --arg a=iota:f32:256 --arg b=iota:f32:256 "
                 "--arg c=zero:f32:256 --arg n=256".split()]
        for shard in ("0/2", "3/2", "1", "1/0", "x/2", "1/2/3", "/", "99999999999999999999999/2"):
            self.refused("expected I/N", words, "--part p --shard", shard)
        self.refused("5 shards of 4 workgroups", words, "--part p --shard 1/5")
        self.refused("2 shards of 1 workgroup;", words, "--part p --shard 1/2 --then -g 64")
        self.refused("--shard needs --part", words, "--shard 1/2")
        self.refused("--part needs --shard", words, "--part p")
        self.refused("--expect: not with --shard", words, "--part p --shard 1/2 --expect c=zero:f32:256")
        self.refused("outputs are those of the last dispatch", words, "--out c=c.npy --part p --shard 1/2 --then -g 256")
        self.refused("--json: not with --shard", ["prof", *words[1:]], "--part p --shard 1/2 --json")
        self.refused("--sample: not with --shard", ["prof", *words[1:]], "--part p --shard 1/2 --sample 1/2")
        for option in ("--json", "--sarif s", "--junit j", "--github", "--baseline b", "--suppressions s", "--only-kernel k",
                       "--write-suppressions w", "--all"):
            self.refused(option.split()[0] + ": not with --shard, which runs a part of the workgroups: give it to 'wavemem merge'",
                         ["check", *words[1:]], "--part p --shard 1/2", option)
            self.assertIn(option.split()[0], self.run_tool("merge --help")[0])
        # What merge does not have says what to do instead.
        for verb, option, instead in [("run", "--check", "use 'wavemem check'"), ("check", "--shuffle 1", "'wavemem batch'"),
                                      ("run", "--cooperative", "leave out --shard"), ("run", "--registers r", "leave out --shard"),
                                      ("run", "--fidelity", "without --shard"), ("run", "--exports", "without --shard"),
                                      ("run", "--scalar-cache check", "without --shard")]:
            self.refused(option.split()[0] + ": not with --shard: ", [verb, *words[1:]], "--part p --shard 1/2", option)
            self.refused(instead, [verb, *words[1:]], "--part p --shard 1/2", option)
        self.refused("cannot be written", words, "--part nowhere/p --shard 1/2")

    def test_wrong_parts(self):
        words = "-k transpose_naive " + TRANSPOSE + " --out out=o.npy"
        first = self.split("prof", 2, self.example("transpose"), words)
        self.split("prof", 2, self.example("transpose"), words)
        one, two = "part.1", "part.2"
        self.run_tool("prof", self.example("transpose"), words, "--shard 1/3 --part third")
        self.run_tool("prof", self.example("transpose"), words.replace("naive", "lds"), "--shard 2/2 --part lds")
        self.run_tool("prof", self.example("transpose"), words.replace("iota", "rand"), "--shard 2/2 --part rand")
        self.run_tool("prof", self.example("transpose"), words.replace(" --out out=o.npy", ""), "--shard 2/2 --part none")
        self.run_tool("run", self.example("transpose"), words, "--shard 2/2 --part run")
        self.refused("parts are needed", "merge --all")
        self.refused("No such file", "merge", one, "absent")
        self.refused("parts are missing: of 2 parts there is 1, and not number 2", "merge", one)
        self.refused("not number 1", "merge", two)
        self.refused("part 1 is also part.1", "merge", one, one)
        self.refused("third is one of 3 of 16", "merge", two, "third")
        self.refused("of 'transpose_naive' for gfx900", "merge", one, "lds")
        self.refused("its code, arguments or buffers are not those of", "merge", one, "rand")
        self.refused("--out options are not those", "merge", one, "none")
        self.refused("a part of 'run'", "merge", one, "run")
        self.refused("the parts have no output 'in'", "merge", first, "--out in=x")
        self.refused("expected NAME=FILE", "merge", first, "--out out")
        self.refused("no part; expected a file of", "merge", self.example("transpose"))
        content = self.read(two)
        head_size = struct.unpack_from("<Q", content, 8)[0]
        version = content.replace(b'"version":3', b'"version":9')
        self.path("version", version)
        self.refused("a part of version 9; this wavemem reads version 3", "merge", one, "version")
        for size in [*range(0, 48), head_size, head_size + 40, len(content) // 2, len(content) - 1]:
            self.path("cut", content[:size])
            self.refused("no part" if size < 8 else "cut off", "merge", one, "cut")
        self.path("long", content + b"x")
        self.refused("longer than it says", "merge", one, "long")

    def merge_any(self, name, *what):
        """Merges a part that may be anything with the first one: the result, what they share, or one message."""
        done = subprocess.run([command.WAVEMEM, "merge", "part.1", name, "--out", "out=m.npy"], cwd=self.folder.name,
                              capture_output=True, encoding="utf-8", errors="replace", timeout=60)
        self.assertIn(done.returncode, (0, 1, 2), (what, done.stderr))
        if done.returncode == 1:
            self.assertRegex(done.stderr, r"\A(communicates: [^\n]*\n)+\Z", what)
        if done.returncode == 2:
            self.assertTrue(done.stderr.startswith("wavemem: ") and done.stderr.count("\n") == 1, done.stderr)
        return done.returncode

    def test_damaged_contents(self):
        """Parts of which zstd finds nothing wrong."""
        self.split("prof", 2, self.example("transpose"), "-k transpose_naive " + TRANSPOSE + " --out out=o.npy")
        head, body, trace = open_part(self.read("part.2"))
        self.path("same", close_part(head, body, trace))
        self.assertEqual(self.merge_any("same"), 0)
        for at in range(0, len(body), max(1, len(body) // (25 if command.REDUCED else 50))):
            self.path("bad", close_part(head, body[:at] + bytes([body[at] ^ 0xA5]) + body[at + 1:], trace))
            self.merge_any("bad", at)
        records = Zstd.decompress(trace[8:], 1 << 24)
        for at in range(0, len(records), max(1, len(records) // (50 if command.REDUCED else 120))):
            changed = records[:at] + bytes([records[at] ^ 1 << at % 8]) + records[at + 1:]
            self.path("bad", close_part(head, body, trace[:8] + Zstd.compress(changed)))
            self.merge_any("bad", at)
        for size in (0, 7, len(body) - 1):
            self.path("bad", close_part(head, body[:size], trace))
            self.assertEqual(self.merge_any("bad", size), 2)
        for size in (0, 2**40, 2**63, 2**64 - 1):
            self.path("bad", close_part(head, body, trace, size))
            self.assertEqual(self.merge_any("bad", size), 2)
        numbers = (-1, 0, 1, 2**32, 2**62, 2**63 - 1, "x", None, [], {})
        for key in head:
            for value in numbers:
                self.path("bad", close_part(dict(head, **{key: value}), body, trace))
                self.merge_any("bad", key, value)
            self.path("bad", close_part({name: value for name, value in head.items() if name != key}, body, trace))
            self.assertEqual(self.merge_any("bad", key), 0 if key in ("ran", "incomplete") else 2, key)
        for key in head["dispatches"][0]:
            for value in numbers:
                self.path("bad", close_part(dict(head, dispatches=[dict(head["dispatches"][0], **{key: value})]), body, trace))
                self.merge_any("bad", "dispatches", key, value)
        self.path("bad", close_part(dict(head, dispatches=[]), body, trace))
        self.assertEqual(self.merge_any("bad", "no dispatches"), 2)
        for place in ("buffers", "outputs"):
            for key in head[place][0]:
                for value in numbers:
                    self.path("bad", close_part(dict(head, **{place: [dict(head[place][0], **{key: value})]}), body, trace))
                    self.merge_any("bad", place, key, value)
        self.path("part.1", close_part(*open_part(self.read("part.1"))))
        self.assertEqual(self.merge_any("same"), 0)
        first, whole, other = open_part(self.read("part.1"))
        for key, value in (("address", 2**63 - 1), ("address", 2**63 - 4096), ("size", 2**63 - 1), ("size", 1)):
            changed = [dict(part, outputs=[dict(part["outputs"][0], **{key: value})]) for part in (first, head)]
            self.path("part.1", close_part(changed[0], whole, other))
            self.path("bad", close_part(changed[1], body, trace))
            self.merge_any("bad", key, value)

    def test_damaged_parts(self):
        """Whatever byte is changed: the result, or one message."""
        words = "-k transpose_naive " + TRANSPOSE + " --out out=o.npy"
        self.split("prof", 2, self.example("transpose"), words)
        content = self.read("part.2")
        for at in range(0, len(content), max(1, len(content) // (40 if command.REDUCED else 160))):
            self.path("bad", content[:at] + bytes([content[at] ^ 0x5A]) + content[at + 1:])
            self.merge_any("bad", at)

    def test_run_parts_have_no_profile(self):
        parts = self.split("run", 2, self.example("transpose"), "-k transpose_naive " + TRANSPOSE + " --out out=o.npy")
        self.refused("parts of 'run', for which there is no --csv", "merge", parts, "--csv=c")
        self.refused("parts of 'run', for which there is no --trace", "merge", parts, "--trace t")
        self.refused("parts of 'run', for which there is no --sarif", "merge", parts, "--sarif s")
        self.refused("nothing to write", "merge", parts)


if __name__ == "__main__":
    command.main()
