# SPDX-License-Identifier: MIT
"""wavemem run: results, faults, limits, jobs, the scalar cache.

usage: cmd_run.py WAVEMEM FOLDER_OF_CODE_OBJECTS [TEST...]
"""
import json
import os
import re
import struct

import command
from command import Case, npy, pack, random_elements


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
        words = (f"run {command.EXAMPLES}/blackscholes.co -g 2560 -b 256 --arg n=2560 --arg rate=0.02 --arg volatility=0.3 "
                 "--arg call=zero:f32:2560 --arg put=zero:f32:2560 --arg price=rand:f32:2560:1 "
                 "--arg strike=rand:f32:2560:2 --arg years=rand:f32:2560:3 --fidelity")
        for threads in "1", "2":
            report = json.loads(self.run_tool(words, "--json", "-j", threads)[0])
            rows = report["fidelity"]["rows"]
            # Two independent counts: per instruction and per block.
            self.assertEqual(sum(row["executions"] for row in rows), report["dispatches"][0]["wave_instructions"])
            grades = {row["instruction"]: row["grade"] for row in rows}
            self.assertEqual((grades["v_exp_f32"], grades["v_mul_f32"]), ("approximate", "exact"))
            self.assertTrue(all("ulp" in row["remark"] for row in rows if row["grade"] == "approximate"))
            self.assertTrue(report["fidelity"]["unverified_in_general"])
        text = self.run_tool(words)[0]
        self.assertRegex(text, r"\n +120  v_exp_f32 +approximate: before gfx11: hardware within 1 ulp")
        self.assertNotIn("fidelity", json.loads(self.run_tool(words[:-len("--fidelity")], "--json")[0]))

    def test_cooperative(self):
        """One wave per workgroup, which has all VGPRs of a SIMD as raw code does; a Vega 64 has 64 units of 4 SIMDs."""
        code = self.path("none.s", b"s_endpgm\n")
        self.run_tool(f"asm -m gfx900 --raw {code} -o none.bin")
        self.run_tool("run none.bin -m gfx900 -g 16384 -b 64 --cooperative --register m0=0")
        self.run_tool("run none.bin -m gfx900 -g 16448 -b 64")
        _, error = self.run_tool("run none.bin -m gfx900 -g 16448 -b 64 --cooperative", code=2)
        self.assertIn("a cooperative dispatch of 257 workgroups; AMD Radeon RX Vega 64 (vega64) holds 256 of kernel 'raw' at "
                      "once: 4 on each of its 64 compute units, limited by VGPRs", error)
        _, error = self.run_tool("run none.bin -m gfx900 -g 64 -b 64 --cooperative --gpu mi300x", code=2)
        self.assertIn("the code object is for gfx900", error)
        self.run_tool("run none.bin -m gfx900 -g 64 -b 64 --gpu vega64")
        _, error = self.run_tool("run none.bin -m gfx900 -g 64 -b 64 --gpu rx6800", code=2)
        self.assertIn("the code object is for gfx900", error)

    def test_clusters(self):
        """What is refused; tests/instructions/clusters.test has what clusters do."""
        code = self.path("none.s", b"s_endpgm\n")
        self.run_tool(f"asm -m gfx1250 --raw {code} -o none.bin")
        self.run_tool("run none.bin -m gfx1250 -g 256,2 -b 32 --cluster 4,2")
        for words, expected in (("-g 224 -b 32 --cluster 4", "dimension 0 has 224 work-items; expected a multiple of the cluster's 128"),
                                ("-g 1088 -b 32 --cluster 17", "a cluster of more than 16 workgroups"),
                                ("-g 64 -b 32 --cluster x", "--cluster x: expected workgroups as X, X,Y or X,Y,Z")):
            self.assertIn(expected, self.run_tool(f"run none.bin -m gfx1250 {words}", code=2)[1])
        self.run_tool(f"asm -m gfx1200 --raw {code} -o none.bin")
        self.assertIn("clusters of workgroups; gfx1200 has none",
                      self.run_tool("run none.bin -m gfx1200 -g 64 -b 32 --cluster 2", code=2)[1])

    def test_exports(self):
        code = self.path("pixel.s", b"v_cvt_f32_u32 v1, v0\nexp mrt0 v1, off, v0, off vm\nexp null off, off, off, off done vm\n"
                         b"s_sendmsg sendmsg(MSG_GS, GS_OP_EMIT, 0)\ns_sendmsg sendmsg(MSG_GS, GS_OP_EMIT, 1)\n"
                         b"s_sendmsg sendmsg(MSG_GS, GS_OP_CUT, 0)\nexp mrt1 v0, v0, v1, v1 compr\ns_endpgm\n")
        self.run_tool(f"asm -m gfx900 --raw {code} -o pixel.bin")
        words = "run pixel.bin -m gfx900 -g 66 -b 65 --exports"  # waves of 64, 1 and 1 lanes
        dispatch = json.loads(self.run_tool(words, "--json", "-j", "2")[0])["dispatches"][0]
        exports = dispatch["exports"]
        self.assertEqual([(one["workgroup"][0], one["wave"], one["name"]) for one in exports],
                         [(group, wave, name) for group, wave in ((0, 0), (0, 1), (1, 0)) for name in ("mrt0", "null", "mrt1")])
        first = exports[0]
        self.assertEqual((first["lanes"], first["valid_mask"], first["done"]), (list(range(64)), True, False))
        self.assertEqual(first["values"], {"x": list(struct.unpack("<64I", pack("f32", range(64)))), "z": list(range(64))})
        self.assertEqual(exports[1]["values"], {})
        self.assertEqual(exports[5]["values"], {"x": [64], "y": [0], "z": [0], "w": [0x4280]})  # 64.0 is 0x42800000
        self.assertEqual([(one["name"], one["operation"], one["count"]) for one in dispatch["messages"]],
                         [("MSG_GS", "GS_OP_EMIT", 6), ("MSG_GS", "GS_OP_CUT", 3)])
        text = self.run_tool(words)[0]
        self.assertRegex(text, r"raw: 9 exports\n  workgroup \(0,0,0\) wave 0, 0x[0-9a-f]+: mrt0 xz vm\n"
                               r"    lane  0  x 0x00000000  z 0x00000000\n    lane  1  x 0x3f800000  z 0x00000001\n")
        self.assertRegex(text, r"wave 1, 0x[0-9a-f]+: null off done vm\n  workgroup \(0,0,0\) wave 1, 0x[0-9a-f]+: mrt1 xyzw compr\n"
                               r"    lane  0  x 0x0040  y 0x0000  z 0x0000  w 0x4280\n")
        self.assertTrue(text.endswith("  message MSG_GS GS_OP_EMIT: 6\n  message MSG_GS GS_OP_CUT: 3\n"))
        self.assertNotIn("exports", json.loads(self.run_tool(words[:-len("--exports")], "--json")[0])["dispatches"][0])

    def test_grid_as_given(self):
        """A kernel sees as many dimensions as are given, in its hidden arguments and in the dispatch packet, and the offset."""
        hidden = [("global_offset_x", 8, 8), ("global_offset_y", 16, 8), ("global_offset_z", 24, 8), ("grid_dims", 32, 2)]
        arguments = "".join(f"      - {{.offset: {offset}, .size: {size}, .value_kind: hidden_{name}}}\n" for name, offset, size in hidden)
        kernel = """.amdgcn_target "amdgcn-amd-amdhsa--gfx900"
.globl NAME
.type NAME,@function
.p2align 8
NAME:
  s_load_dwordx2 s[16:17], s[2:3], 0x0
  s_load_dwordx4 s[4:7], s[2:3], 0x8
  s_load_dwordx2 s[8:9], s[2:3], 0x18
  s_load_dword s10, s[2:3], 0x20
  s_load_dword s11, s[0:1], 0x0
  s_waitcnt lgkmcnt(0)
  s_lshr_b32 s11, s11, 16 ; setup of the dispatch packet
  v_mov_b32 v1, 0
STORES
  s_endpgm
.amdhsa_kernel NAME
  .amdhsa_next_free_vgpr 4
  .amdhsa_next_free_sgpr 20
  .amdhsa_user_sgpr_dispatch_ptr 1
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.kernels:
  - .args:
      - {.name: out, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global}
HIDDEN    .group_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .kernarg_segment_size: 40
    .max_flat_workgroup_size: 256
    .name: NAME
    .private_segment_fixed_size: 0
    .sgpr_count: 20
    .symbol: NAME.kd
    .vgpr_count: 4
    .wavefront_size: 64
amdhsa.version:
  - 1
  - 2
...
.end_amdgpu_metadata
""".replace("STORES", "\n".join(f"  v_mov_b32 v0, s{4 + i}\n  global_store_dword v1, v0, s[16:17] offset:{4 * i}" for i in range(8)))
        self.path("k.s", kernel.replace("NAME", "k").replace("HIDDEN", arguments).encode())
        self.path("other.s", kernel.replace("NAME", "other").replace("HIDDEN", "").encode())
        self.run_tool("asm -m gfx900 k.s -o k.co")
        self.run_tool("asm -m gfx900 other.s -o other.co")
        far = 5 * 2**32 + 6
        for grid, offset, dimensions, offsets in (
                ("4", "", 1, (0, 0, 0)), ("4,1", "", 2, (0, 0, 0)), ("4,1,1", "--offset 1,2,3", 3, (1, 2, 3)),
                ("4,2", f"--offset {far}", 2, (far, 0, 0))):
            self.run_tool(f"run k.co -g {grid} -b 4 --arg out=zero:u32:8 --out out=out.bin {offset}")
            self.assertEqual(struct.unpack("<QQQII", self.read("out.bin")), offsets + (dimensions, dimensions), grid)
        run = "run other.co -g 4 -b 4 --arg out=zero:u32:8"
        self.run_tool(run)
        self.refused("kernel 'other', which does not read one", run, "--offset 1")
        self.refused("--offset 1,2,3,4: expected work-items as X, X,Y or X,Y,Z", run, "--offset 1,2,3,4")
        self.refused("--offset -1: expected", run, "--offset -1")

    def test_fault(self):
        out, err = self.run_tool(self.vecadd("--out", "c=c.npy", a="null"), code=3)
        self.assertEqual(out, "")
        self.assertRegex(err, r"^error: .*global load outside every allocation\n  at +vecadd\+0x")
        self.assertFalse(os.path.exists(self.path("c.npy")))
        report = json.loads(self.run_tool(self.vecadd("--json", a="null"), code=3)[0])
        self.assertEqual(report["dispatches"][0]["fault"]["kind"], "memory")

    def test_no_instruction(self):
        """Why the words at an address cannot be executed. Counts: 4 VGPRs in granules of 8, LLVM AMDGPUUsage."""
        descriptor = """
.rodata
.amdhsa_kernel k
 .amdhsa_next_free_vgpr 4
 .amdhsa_next_free_sgpr 20
 %s
.end_amdhsa_kernel
"""
        cases = (("gfx1100", "v_mov_b32 v9, 1", "", "v9 is not among the 8 VGPRs that the kernel descriptor allocates"),
                 ("gfx1100", "global_load_b128 v[6:9], v[0:1], off", "", "v9 is not among the 8 VGPRs"),
                 ("gfx900", "s_mov_b32 s90, 1", "", "s90 is not among the 32 SGPRs that the kernel descriptor allocates"),
                 ("gfx90a", "v_accvgpr_write_b32 a9, 1", ".amdhsa_accum_offset 4", "a9 is not among the 4 AccVGPRs"),
                 ("gfx90a", "v_mov_b32 v5, 1", ".amdhsa_accum_offset 4", "v5 is not among the 4 VGPRs"),
                 ("gfx900", "buffer_load_dword v[3:4], off, s[0:3], 0 tfe", "", "v4 is not among the 4 VGPRs"),
                 ("gfx900", ".long 0xffffffff", "", "0xffffffff is no instruction of gfx900"),
                 ("gfx900", "s_nop 0", "", "no code: 'code object' ends here"),
                 ("gfx900", "s_mov_b64 s[0:1], 0\n s_setpc_b64 s[0:1]", "", "no code: the address is outside every allocation"),
                 ("gfx900", "s_mov_b64 s[0:1], 2\n s_setpc_b64 s[0:1]", "", "a jump to an address that is no multiple of 4"))
        for target, code, more, expected in cases:
            raw = not expected[:1] in "vsa" or "no " in expected
            text = code + "\n" if raw else f".text\n.globl k\n.p2align 8\n.type k,@function\nk:\n {code}\n s_endpgm\n" + descriptor % more
            self.path("k.s", text.encode())
            self.run_tool("asm -m", target, *["--raw"] * raw, "k.s -o k.co")
            _, err = self.run_tool("run k.co", *["-m", target] * raw, "-g 32 -b 32", code=3)
            self.assertIn("error: k.co: " + expected, err)

    def test_last_page(self):
        """Loads may reach beyond the last segment up to the end of its page, which is 0, as ROCr allocates it."""
        for target, load in (("gfx900", "s_load_dwordx8 s[8:15], s[4:5], 0x%x"), ("gfx1100", "s_load_b256 s[8:15], s[4:5], 0x%x")):
            for offset, code in ((4, 0), (0xfe0, 0), (0xfe4, 3)):
                self.path("k.s", f" s_getpc_b64 s[4:5]\n s_and_b32 s4, s4, 0xfffff000\n {load % offset}\n"
                                 " s_waitcnt lgkmcnt(0)\n s_endpgm\n".encode())
                self.run_tool("asm -m", target, "--raw k.s -o k.bin")
                self.run_tool("run k.bin -g 1 -b 1 -m", target, code=code)

    def test_budget(self):
        """The kernel loops; the budget is checked at taken branches."""
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
        """Omitted arguments are kept; `same:` refers to earlier buffers; two buffers are swapped."""
        ones = [1.0] * 100
        self.run_tool(self.vecadd("--then", "--arg", "b=same:c", "--arg", "c=same:b", "--then",
                                  "--out", "a=a.bin", "--out", "b=b.bin", "--out", "c=c.bin",
                                  a="fill:f32:100:1", b="fill:f32:100:2"))
        self.assertEqual(self.read("a.bin"), pack("f32", ones))
        self.assertEqual(self.read("b.bin"), pack("f32", [3.0] * 100))  # the first sum, a + b
        self.assertEqual(self.read("c.bin"), pack("f32", [4.0] * 100))  # a + the first sum
        self.lacks([["--arg alpha=VALUE", "argument 0 'alpha': float, 4 bytes"], ["--arg x=rand:f32:N", "argument 1 'x': float*"],
                    ["--arg y=zero:f32:N", "argument 2 'y': float*"], ["--arg n=VALUE", "argument 3 'n': uint, 4 bytes"]],
                   self.vecadd("--then"), self.example("saxpy"))
        self.refused("--arg n is given twice", self.vecadd("--then", "--arg", "n=1", "--arg", "n=2"))

    def test_free(self):
        """A freed buffer is written to its file first; then its address is that of no memory, and the check knows whose it was."""
        again = ["--then", "--arg", "b=same:c", "--arg", "c=same:a", "--arg", "a=zero:f32:100"]
        out, err = self.run_tool(self.vecadd("--out", "c=c.bin", "--free", "c", *again), code=3)
        self.assertIn("global load outside every allocation", err)
        self.assertEqual(self.read("c.bin"), pack("f32", [i + 0.5 for i in range(100)]))
        out, _ = self.run_tool(["check"] + self.vecadd("--free", "c", "--json", *again)[1:], code=1)
        self.assertEqual([(one["rule"], one["launch"]) for one in json.loads(out)["findings"]], [("use-after-free", 2)])
        self.run_tool(self.vecadd("--free", "c", "--then", "--arg", "c=zero:f32:100"))
        self.refused("--free d: vecadd has no argument 'd'", self.vecadd("--free", "d"))
        self.refused("--free 2: the buffer is freed already", self.vecadd("--free", "c", "--free", "2"))
        self.refused("--out a: the buffer is freed by then", self.vecadd("--free", "a", "--then", "--out", "a=a.bin"))
        self.refused("--free: shards compare all buffers", self.vecadd("--free", "a", "--shard", "0/2"))
        self.refused("expected the start of an allocated buffer",
                     self.vecadd("--buffer", "all=zero:f32:400", "--free", "a", a="same:all+400"))

    def test_arguments_behind_the_segment(self):
        """Metadata may state a segment that is too small for its arguments, as some of ROCm/aiter's objects do."""
        self.path("k.s", b""".globl k
.p2align 8
.type k,@function
k:
  s_load_dword s2, s[0:1], 0x8
  s_load_dwordx2 s[0:1], s[0:1], 0x0
  v_mov_b32 v0, 0
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v1, s2
  global_store_dword v0, v1, s[0:1]
  s_endpgm
.rodata
.amdhsa_kernel k
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_kernarg_size 8
  .amdhsa_next_free_vgpr 2
  .amdhsa_next_free_sgpr 4
.end_amdhsa_kernel
.amdgpu_metadata
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: k
    .symbol: k.kd
    .kernarg_segment_size: 8
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 4
    .vgpr_count: 2
    .max_flat_workgroup_size: 64
    .args:
      - { .name: out, .size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global }
      - { .name: n, .size: 4, .offset: 8, .value_kind: by_value }
.end_amdgpu_metadata
""")
        self.run_tool("asm -m gfx900 k.s -o k.co")
        self.run_tool("run k.co -k k -g 64 -b 64 --arg out=zero:u32:1 --arg n=u32:77 --expect out=u32:77")

    def test_sort(self):
        """A job of several kernels on one buffer."""
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
        """Raw instructions: arguments by position, each aligned to its size."""
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

    def test_sramecc(self):
        """With SRAM-ECC a load of 16 bits writes the whole register (LLVM, GCNSubtarget::d16PreservesUnusedBits). It is on if
        the machine's target id says so, else if the code object's does; else on gfx90a and later. The ELF header has it in
        two bits, of version 3 in one (LLVM, AMDGPUUsage, "ELF Code Object")."""
        kernel = """
            .amdgcn_target "amdgcn-amd-amdhsa--TARGET"
            .amdhsa_code_object_version 5
            .text
            .globl k
            .p2align 8
            .type k,@function
            k:
            s_load_dwordx2 s[2:3], s[0:1], 0x0
            v_mov_b32 v0, 0
            v_mov_b32 v1, 0x11223344
            s_waitcnt lgkmcnt(0)
            global_load_short_d16 v1, v0, s[2:3]
            s_waitcnt vmcnt(0)
            global_store_dword v0, v1, s[2:3] offset:4
            s_endpgm
            .rodata
            .p2align 6
            .amdhsa_kernel k
              .amdhsa_user_sgpr_kernarg_segment_ptr 1
              .amdhsa_next_free_vgpr 4
              .amdhsa_next_free_sgpr 8
              ACCUM
            .end_amdhsa_kernel
            .amdgpu_metadata
            amdhsa.version: [1, 2]
            amdhsa.kernels:
              - .name: k
                .symbol: k.kd
                .kernarg_segment_size: 8
                .kernarg_segment_align: 8
                .group_segment_fixed_size: 0
                .private_segment_fixed_size: 0
                .wavefront_size: 64
                .sgpr_count: 8
                .vgpr_count: 4
                .max_flat_workgroup_size: 64
                .args:
                  - {.name: p, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global}
            .end_amdgpu_metadata
            """

        def half(words):
            self.run_tool(words + " -g 1 -b 64 --arg 0=zero:u32:2 --out 0=out.bin")
            return struct.unpack("<2I", self.read("out.bin"))[1] >> 16

        kept, cleared = 0x1122, 0
        for target, features, expected in (("gfx906", "", kept), ("gfx906", ":sramecc+", cleared), ("gfx906", ":sramecc-", kept),
                                           ("gfx908", "", kept), ("gfx908", ":sramecc+:xnack-", cleared), ("gfx900", "", kept),
                                           ("gfx90a", "", cleared), ("gfx90a", ":sramecc-", kept), ("gfx942", "", cleared)):
            with self.subTest(target=target, features=features):
                accum = ".amdhsa_accum_offset 4" if target >= "gfx90a" else ""
                text = kernel.replace("TARGET", target + features).replace("ACCUM", accum)
                self.path("k.s", text.encode())
                self.run_tool(f"asm -m {target}{features} k.s -o k.co")
                self.assertEqual(half("run k.co -k k"), expected)
                if not features:
                    for machine, on in ((":sramecc+", True), (":sramecc-", False)):
                        if target != "gfx900":
                            self.assertEqual(half(f"run k.co -k k -m {target}{machine}"), cleared if on else kept)
                if target == "gfx906":
                    for on in False, True:
                        self.path("v3.co", self.as_version_3(self.read("k.co"), 0x200 if on else 0))
                        self.assertEqual(half("run v3.co -k k"), cleared if on else kept)

    @staticmethod
    def as_version_3(code, flags):
        """The code object with the ABI version and the flags of version 3 in its ELF header."""
        mach = struct.unpack_from("<I", code, 48)[0] & 0xff
        return code[:8] + bytes([1]) + code[9:48] + struct.pack("<I", mach | flags) + code[52:]

    def test_scalar_cache(self):
        """A scalar load, a vector store to its line, and a second load without S_DCACHE_INV; a lost store."""
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

    def test_waits_of_flat(self):
        """FLAT needs the counter of the memory that it went to: LLVM, too, waits for that alone where it knows the memory. Raw
        code has a place: the distance from its start."""
        for target, wait, missing in (("gfx900", "vmcnt(0)", None), ("gfx900", "lgkmcnt(0)", "vmcnt(0)"), ("gfx900", "0", None),
                                      ("gfx90a", "vmcnt(0)", None), ("gfx90a", "lgkmcnt(0)", "vmcnt(0)"), ("gfx803", "vmcnt(0)", None),
                                      ("gfx803", "lgkmcnt(0)", "vmcnt(0)"), ("gfx700", "vmcnt(0)", None)):
            with self.subTest(target=target, wait=wait):
                self.path("k.s", f"""
                    v_mov_b32 v0, s4
                    v_mov_b32 v1, s5
                    flat_load_dword v2, v[0:1]
                    s_waitcnt {wait}
                    v_add_f32 v3, v2, v2
                    s_endpgm""".encode())
                self.run_tool(f"asm -m {target} --raw k.s -o k.bin")
                words = f"run k.bin -m {target} --wave 64 -g 64 -b 64 --buffer in=iota:f32:64 --sgpr 4=@in --check-waits --json"
                found = json.loads(self.run_tool(words, code=1 if missing else 0)[0])["findings"]
                self.assertEqual([(row["offset"], f"'s_waitcnt {missing}' is missing" in row["message"]) for row in found],
                                 [(20, True)] if missing else [])

    def test_vector_loads_and_scalar_stores(self):
        """Vector loads do not see a scalar store that is still in the scalar cache, until S_DCACHE_WB."""
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


if __name__ == "__main__":
    command.main()
