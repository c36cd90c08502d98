#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The memory model, kernel by kernel: each rule with the counters that it must give, and their source. The kernels are
written here and assembled by wavemem.

usage: model.py WAVEMEM FOLDER_OF_CODE_OBJECTS [TEST...]
"""
import csv
import json
import os

import command
from command import Case

KERNEL = """.text
.globl k
.p2align 8
.type k,@function
k:
{body}
.rodata
.p2align 6
.amdhsa_kernel k
.amdhsa_next_free_vgpr {vgprs}
.amdhsa_next_free_sgpr 24
.amdhsa_user_sgpr_kernarg_segment_ptr 1
.amdhsa_group_segment_fixed_size {lds}
.amdhsa_kernarg_size 16
{more}
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.kernels:
  - .name: k
    .symbol: k.kd
    .args:
      - {{.name: a, .offset: 0, .size: 8, .value_kind: global_buffer}}
      - {{.name: b, .offset: 8, .size: 8, .value_kind: global_buffer}}
    .kernarg_segment_size: 16
    .kernarg_segment_align: 8
    .group_segment_fixed_size: {lds}
    .private_segment_fixed_size: 0
    .wavefront_size: {wave}
    .sgpr_count: 24
    .vgpr_count: {vgprs}
    .max_flat_workgroup_size: 1024
amdhsa.target: amdgcn-amd-amdhsa--{target}
amdhsa.version: [1, 1]
.end_amdgpu_metadata
"""

# v0 is the work-item's global id, with workgroups of 256; a and b are in s[4:5] and s[6:7].
START = """s_load_dwordx4 s[4:7], s[0:1], 0x0
v_lshl_add_u32 v0, s2, 8, v0
s_waitcnt lgkmcnt(0)
"""


class Model(Case):
    def prof(self, body, *words, target="gfx90a", items=256, workgroup=256, vgprs=16, lds=0, elements=None, wgp=True):
        """The sums of the counters, and the report."""
        more = {"gfx9": ".amdhsa_accum_offset 16" if target in ("gfx90a", "gfx942", "gfx950") else "",
                "gfx1": f".amdhsa_wavefront_size32 1\n.amdhsa_workgroup_processor_mode {int(wgp)}"}[target[:4]]
        text = KERNEL.format(body=body + "s_endpgm\n", target=target, vgprs=vgprs, lds=lds, more=more,
                             wave=32 if target.startswith("gfx1") else 64)
        self.path("k.s", text.encode())
        self.run_tool(f"asm -m {target} k.s -o k.co")
        size = elements or 4 * items
        out, _ = self.run_tool(f"prof k.co -k k -g {items} -b {workgroup} --arg a=iota:u32:{size} "
                               f"--arg b=zero:u32:{size} --json --counters c.csv", *words)
        with open(self.path("c.csv"), encoding="utf-8") as file:
            counters = {row["name"]: int(row["value"]) for row in csv.DictReader(file) if row["kernel"] == "*"}
        return counters, json.loads(out)

    def check(self, counters, **expected):
        self.assertEqual({name: counters[name] for name in expected}, expected)

    def test_vcopy(self):
        """rocprofiler-compute's published workload `vcopy -n 1048576 -b 256` on MI200: c[i] = a[i] for doubles."""
        counters, _ = self.prof(START + "v_lshlrev_b32 v1, 3, v0\nglobal_load_dwordx2 v[2:3], v1, s[4:5]\n"
                                "s_waitcnt vmcnt(0)\nglobal_store_dwordx2 v1, v[2:3], s[6:7]\n", items=1 << 20)
        self.check(counters, TA_TOTAL_WAVEFRONTS=32768, TCP_TOTAL_ACCESSES=2097152, TCP_TOTAL_CACHE_ACCESSES=524288,
                   TCP_TCC_READ_REQ=131072, TCP_TCC_WRITE_REQ=131072, TA_FLAT_READ_WAVEFRONTS=16384,
                   TA_FLAT_WRITE_WAVEFRONTS=16384)
        # Third dispatch: TCC_READ 69322, TCC_WRITE 131072, TCC_HIT 69731, TCC_MISS 131084, TCC_EA_RDREQ 131086. L2
        # receives two adjacent requests as one, on hardware nearly always, here always.
        self.check(counters, TCC_WRITE=131072, TCC_ATOMIC=0)
        for name, published in (("TCC_MISS", 131084), ("TCC_EA_RDREQ", 131086)):
            self.assertAlmostEqual(counters[name], published, delta=500)
        for name, published in (("TCC_READ", 69322), ("TCC_HIT", 69731)):
            self.assertAlmostEqual(counters[name] / published, 1, delta=0.07)

    def test_l2_boundaries(self):
        """vcopy writes 131072 blocks of 64 bytes, all of which have left L2 when the dispatch has ended (TCC_EA_WRREQ of
        the first dispatch on MI100 and MI200: 131072). 86546 (MI100) and 91072 (MI200) left before its end
        (TCC_EA_WRREQ of the second one): a limit of 5 of 16 ways for dirty lines leaves at most 5/16 of the 131072 blocks
        that L2 holds. The second dispatch finds nothing in it; if L2 keeps its contents, it finds what the first one read
        or wrote last."""
        body = (START + "v_lshlrev_b32 v1, 3, v0\nglobal_load_dwordx2 v[2:3], v1, s[4:5]\n"
                "s_waitcnt vmcnt(0)\nglobal_store_dwordx2 v1, v[2:3], s[6:7]\n")
        for target, published, off in (("gfx908", 86546, 0.055), ("gfx90a", 91072, 0.005)):
            counters, report = self.prof(body, items=1 << 20, target=target)
            kernel = report["kernels"][0]
            # MI100: TCC_ALL_TC_OP_WB_WRITEBACK 44485, lines of 64 bytes.
            if target == "gfx908":
                self.assertAlmostEqual(counters["TCC_ALL_TC_OP_WB_WRITEBACK"] / 44485, 1, delta=0.11)
            self.assertEqual((counters["TCC_EA_WRREQ"], kernel["memory_written"], kernel["memory_dirty"]), (131072, 131072 * 64, 0))
            self.assertLessEqual(kernel["l2_flushed"], 131072 * 64 * 5 // 16)
            self.assertAlmostEqual((kernel["memory_written"] - kernel["l2_flushed"]) / 64 / published, 1, delta=off)
        again = "--then k.co -k k -g 16384 -b 256 --arg a=same:a --arg b=same:b"
        for option, misses in (("", 2), ("--keep-l2", 1)):
            _, report = self.prof(body, again, option, items=16384)
            load = next(row for row in report["rows"] if row["operation"] == "load" and row["path"] == "GLOBAL")
            self.assertEqual((load["memory_read"], report["kernels"][0]["l2_kept"]), (misses * 16384 * 8, bool(option)))

    def test_vcopy_mi100(self):
        """The same workload on MI100, second dispatch: all requests to L2 miss, including stores (TCC_REQ 262495,
        TCC_HIT 47, TCC_MISS 262448, of which 131072 and 131072 from the vector cache), memory is read once
        (TCC_EA_RDREQ 131357). SMEM and the command processor account for the small differences."""
        counters, _ = self.prof(START + "v_lshlrev_b32 v1, 3, v0\nglobal_load_dwordx2 v[2:3], v1, s[4:5]\n"
                                "s_waitcnt vmcnt(0)\nglobal_store_dwordx2 v1, v[2:3], s[6:7]\n", items=1 << 20,
                                target="gfx908")
        self.check(counters, TCP_TCC_READ_REQ=131072, TCP_TCC_WRITE_REQ=131072, TCP_TOTAL_ACCESSES=2097152,
                   TCP_TOTAL_CACHE_ACCESSES=524288, SQ_INSTS_VMEM=32768, SQ_INSTS_VMEM_RD=16384,
                   SQ_INSTS_VMEM_WR=16384, SQ_INSTS_FLAT=32768, SQ_INSTS_LDS=0, TD_LOAD_WAVEFRONT=32768,
                   TD_STORE_WAVEFRONT=16384, TA_FLAT_WAVEFRONTS=32768, TCC_WRITE=131072)
        for name, published in (("TCC_REQ", 262495), ("TCC_MISS", 262448), ("TCC_EA_RDREQ", 131357)):
            self.assertAlmostEqual(counters[name], published, delta=500)
        self.assertLess(counters["TCC_HIT"], 188)  # the first dispatch, which fetches its code
        # One request per scalar load, with few misses: 48 were counted for four loads per wave.
        self.assertEqual(counters["SQC_DCACHE_REQ"], 16384)
        self.assertLess(counters["SQC_DCACHE_MISSES"], 100)

    def test_vcopy_code(self):
        """The same workload as compiled by hipcc (24 instructions, on MI300X 20, by SQ_INSTS): four fetches per wave on
        MI100, MI200 and MI300X (SQ_IFETCH 65536, SQC_ICACHE_REQ 65536). In the first dispatch each instruction cache
        (48, 56 and 160 of them) misses once and also requests the next line: SQC_TC_INST_REQ 144, 168 and 640 of 64
        bytes, three lines of 64 or two of 128. MI100's second and third: SQC_ICACHE_HITS 65536, SQC_ICACHE_MISSES 0,
        SQC_TC_INST_REQ 0. The scalar cache misses once per dispatch: SQC_DCACHE_MISSES 48, 56 and 160."""
        carry = ("v_mov_b32_e32 v3, s1\nv_add_co_u32_e32 v2, vcc, s0, v0\nv_addc_co_u32_e32 v3, vcc, v3, v1, vcc\n",
                 "v_mov_b32_e32 v4, s3\nv_add_co_u32_e32 v0, vcc, s2, v0\nv_addc_co_u32_e32 v1, vcc, v4, v1, vcc\n")
        wide = ("v_lshl_add_u64 v[2:3], s[0:1], 0, v[0:1]\n", "v_lshl_add_u64 v[0:1], s[2:3], 0, v[0:1]\n")
        for target, caches, lines, (a, c) in (("gfx908", 48, 3, carry), ("gfx90a", 56, 3, carry), ("gfx942", 160, 4, wide)):
            # The pointers are in s[4:7] here: the second load of each pair loads adjacent memory.
            body = ("s_load_dwordx2 s[4:5], s[0:1], 0x0\ns_load_dwordx2 s[6:7], s[0:1], 0x8\ns_waitcnt lgkmcnt(0)\n"
                    "s_movk_i32 s8, 0x100\ns_nop 0\ns_mul_i32 s2, s2, s8\nv_add_u32_e32 v0, s2, v0\n"
                    "v_cmp_le_i32_e32 vcc, 0, v0\ns_and_saveexec_b64 s[8:9], vcc\ns_cbranch_execz end\n"
                    "s_load_dwordx2 s[0:1], s[0:1], 0x0\ns_mov_b32 s2, s6\ns_mov_b32 s3, s7\n"
                    "v_ashrrev_i32_e32 v1, 31, v0\nv_lshlrev_b64 v[0:1], 3, v[0:1]\ns_waitcnt lgkmcnt(0)\n" + a +
                    "global_load_dwordx2 v[2:3], v[2:3], off\n" + c + "s_waitcnt vmcnt(0)\n"
                    "global_store_dwordx2 v[0:1], v[2:3], off\nend:\n")
            one, report = self.prof(body, target=target, items=1 << 20)
            self.assertIn(report["kernels"][0]["code_bytes"], (128, 120))
            self.check(one, SQ_IFETCH=65536, SQC_ICACHE_REQ=65536, SQC_ICACHE_MISSES=caches,
                       SQC_TC_INST_REQ=lines * caches, SQC_DCACHE_MISSES=caches)
            two, _ = self.prof(body, "--then -k k -g 1048576 --arg a=same:a --arg b=same:b", target=target, items=1 << 20)
            self.check(two, SQC_ICACHE_REQ=2 * 65536, SQC_ICACHE_HITS=one["SQC_ICACHE_HITS"] + 65536,
                       SQC_ICACHE_MISSES=caches, SQC_TC_INST_REQ=lines * caches)

    def code(self, body, *words, target="gfx900", **more):
        """The counters of a kernel without memory accesses except its code, and its hits by lines of 64 bytes."""
        counters, report = self.prof(body, *words, target=target, **more)
        return counters, report["kernels"][0]

    def test_fetch(self):
        """Fetches of 32 bytes, by branches: at each branch target a wave fetches everything that it executes, and
        fetches nothing twice when falling through. Verified by walking the code."""
        loop = ("s_nop 0\ns_nop 0\n"                                # 0, 4
                "s_movk_i32 s8, 5\n"                                # 8
                "top:\n" + 9 * "s_nop 0\n" +                       # 12 to 44
                "s_add_i32 s8, s8, -1\ns_cmp_lg_u32 s8, 0\n"        # 48, 52
                "s_cbranch_scc1 top\n" +                            # 56
                5 * "s_nop 0\n" + "s_branch over\n" + 30 * "s_nop 0\n" + "over:\n")  # 60 to 76, 80, 84 to 200, 204
        walk = [range(0, 60, 4)] + 4 * [range(12, 60, 4)] + [range(60, 84, 4), range(204, 208, 4)]
        fetches, last = 0, None
        for number, run in enumerate(walk):
            goes_on = run[0] == 60
            for at in run:
                if at // 32 != last or (at == run[0] and not goes_on):
                    fetches += 1
                last = at // 32
        counters, kernel = self.code(loop, items=256)
        self.check(counters, SQ_IFETCH=4 * fetches)
        self.assertEqual((kernel["fetches"], kernel["fetch_bytes"]), (4 * fetches, 32))

    def test_large_code(self):
        """A loop of 100 KiB runs in an instruction cache of 32 KiB: the least recently used lines are those needed
        next, so every iteration requests all of them from L2. A loop of 20 KiB is requested once. On gfx90a, the
        four waves of a workgroup share one wave's requests."""
        for size, target, rounds, kib in ((100 << 10, "gfx900", 3, 32), (20 << 10, "gfx900", 3, 32),
                                          (100 << 10, "gfx942", 3, 64), (40 << 10, "gfx942", 3, 64)):
            nops = (size - 4 * 6) // 4
            body = (f"s_load_dword s4, s[0:1], 0x0\ns_movk_i32 s8, {rounds}\ntop:\n.rept {nops}\ns_nop 0\n.endr\ns_add_i32 s8, s8, -1\n"
                    "s_cmp_lg_u32 s8, 0\ns_cbranch_scc0 end\ns_getpc_b64 s[10:11]\nhere:\ns_sub_u32 s10, s10, here-top\n"
                    "s_subb_u32 s11, s11, 0\ns_setpc_b64 s[10:11]\nend:\n")
            counters, kernel = self.code(body, target=target)
            lines = size // 64
            often = rounds if size > kib << 10 else 1
            self.assertAlmostEqual(counters["SQC_TC_INST_REQ"] / (often * lines), 1, delta=0.01)
            self.assertAlmostEqual(counters["SQ_IFETCH"] / (4 * rounds * size / 32), 1, delta=0.01)
            text, _ = self.run_tool("prof k.co -k k -g 256 -b 256 --arg a=zero:u32:256 --arg b=zero:u32:256")
            self.assertEqual("the instruction cache holds" in text, often > 1)

    def test_vcopy_mi300x(self):
        """The same workload on MI300X, second and third dispatch: TCC_REQ 196861, TCC_READ 65780, TCC_WRITE 131072,
        TCC_HIT 65536, TCC_MISS 131325, TCC_EA0_RDREQ 65758, nearly all of 128 bytes (TCC_BUBBLE 65536), and
        TCC_EA0_WRREQ 1024 of 64 bytes in each of 128 channels: no dispatch finds data of the previous one in L2, and
        everything it wrote is written back when it ends."""
        body = (START + "v_lshlrev_b32 v1, 3, v0\nglobal_load_dwordx2 v[2:3], v1, s[4:5]\n"
                "s_waitcnt vmcnt(0)\nglobal_store_dwordx2 v1, v[2:3], s[6:7]\n")
        for dispatches in (1, 2):
            counters, _ = self.prof(body, *["--then -k k -g 1048576 --arg a=same:a --arg b=same:b"] * (dispatches - 1),
                                    items=1 << 20, target="gfx942", elements=1 << 21)
            self.check(counters, TCC_WRITE=131072 * dispatches, TCC_EA0_WRREQ=131072 * dispatches)
            for name, published in (("TCC_REQ", 196861), ("TCC_READ", 65780), ("TCC_HIT", 65536), ("TCC_MISS", 131325),
                                    ("TCC_EA0_RDREQ", 65758), ("TCC_BUBBLE", 65536)):
                self.assertAlmostEqual(counters[name] / dispatches, published, delta=800, msg=name)

    def test_mixbench(self):
        """Contiguous dwords on MI100 and MI200: 16 accesses, 4 lookups and 4 requests per load; dwordx2 64, 16, 8."""
        for load, shift, figures in (("dword v2", 2, (16, 4, 4)), ("dwordx2 v[2:3]", 3, (64, 16, 8))):
            for target in ("gfx908", "gfx90a"):
                counters, _ = self.prof(START + f"v_lshlrev_b32 v1, {shift}, v0\n"
                                        f"global_load_{load}, v1, s[4:5]\n", target=target, items=64, workgroup=64)
                self.assertEqual(tuple(counters[name] for name in (
                    "TCP_TOTAL_ACCESSES", "TCP_TOTAL_CACHE_ACCESSES", "TCP_TCC_READ_REQ")), figures)

    def test_requests(self):
        """GPUOpen, "Understanding Memory Coalescing on GCN": 64 bytes per request, and MI300's counters, 128 for reads;
        stores to one address collapse, atomics do not."""
        one = {"items": 64, "workgroup": 64}
        line = START + "v_lshlrev_b32 v1, 2, v0\n"
        load, store = line + "global_load_dword v2, v1, s[4:5]\n", line + "global_store_dword v1, v2, s[6:7]\n"
        self.check(self.prof(load, target="gfx942", **one)[0], TCP_TCC_READ_REQ=2)
        self.check(self.prof(store, target="gfx942", **one)[0], TCP_TCC_WRITE_REQ=4)
        same = START + "v_mov_b32 v1, 0\n"
        counters, report = self.prof(same + "global_store_dword v1, v2, s[6:7]\n", **one)
        self.check(counters, TCP_TCC_WRITE_REQ=1)
        self.assertEqual(report["totals"]["collapsed_stores"], 63)
        counters, report = self.prof(same + "global_atomic_add v1, v2, s[6:7]\n", **one)
        self.assertEqual(report["totals"]["atomic_requests"], 64)
        self.check(counters, TCC_ATOMIC=64, SQ_INSTS_VMEM=1, SQ_INSTS_VMEM_RD=0, SQ_INSTS_VMEM_WR=0)

    def test_strides(self):
        """Each lane in a separate line: 64 requests, 64 lookups, and quads at the address unit."""
        counters, report = self.prof(START + "v_lshlrev_b32 v1, 6, v0\nglobal_load_dword v2, v1, s[4:5]\n",
                                     items=64, workgroup=64, elements=4096)
        self.check(counters, TCP_TOTAL_ACCESSES=64, TCP_TOTAL_CACHE_ACCESSES=64, TCP_TCC_READ_REQ=64)
        row = next(row for row in report["rows"] if row["path"] == "GLOBAL")
        self.assertIn("lanes are 64 B apart: 64 lines of 64 B for 256 useful bytes", row["advice"])

    def test_rdna(self):
        """RDNA white paper: 32 lanes within a line of 128 bytes take one clock; lines of 128 bytes."""
        counters, report = self.prof(
            START + "v_lshlrev_b32 v1, 2, v0\nglobal_load_dword v2, v1, s[4:5]\n"
            "s_waitcnt vmcnt(0)\nglobal_load_dword v2, v1, s[4:5]\n", target="gfx1030", items=32, workgroup=32)
        rows = [row for row in report["rows"] if row["path"] == "GLOBAL"]
        self.assertEqual([row["address_clocks"] for row in rows], [1, 1])
        self.assertEqual([row["lines"] for row in rows], [1, 1])
        # GL1 and L2 receive the scalar load, one of the vector loads, and a code line with the next one, 64 bytes each.
        self.check(counters, TCP_REQ=2, TCP_REQ_MISS=1, GL1C_REQ=4, GL2C_REQ=3, SQC_ICACHE_MISSES=1)

    def test_lds(self):
        """rocprofiler-compute on MI250: ds_read_b32 at tid * 32 dwords; with one lane IDX_ACTIVE is 2 and BANK_CONFLICT
        0, with two lanes 3 and 1."""
        for lanes, figures in ((1, (2, 0)), (2, (3, 1))):
            counters, _ = self.prof(f"v_lshlrev_b32 v1, 7, v0\ns_mov_b64 exec, {2 ** lanes - 1}\n"
                                    "ds_read_b32 v2, v1\n", items=64, workgroup=64, lds=8192)
            self.assertEqual((counters["SQ_LDS_IDX_ACTIVE"], counters["SQ_LDS_BANK_CONFLICT"]), figures)

    def test_vector_cache(self):
        """Data just read hits; a load with GLC misses (gfx90a) and so does one of agent scope (gfx942, LLVM's memory
        model); a wave's 16 KiB fit, 16 KiB and a line do not, because of LRU replacement."""
        line = START + "v_lshlrev_b32 v1, 2, v0\n"
        load, wait = "global_load_dword v2, v1, s[4:5]", "\ns_waitcnt vmcnt(0)\n"
        one = {"items": 64, "workgroup": 64}
        self.check(self.prof(line + 2 * (load + wait), **one)[0], TCP_TCC_READ_REQ=4)
        self.check(self.prof(line + load + wait + load + " glc" + wait, **one)[0], TCP_TCC_READ_REQ=8)
        self.check(self.prof(line + load + wait + load + " sc0" + wait, target="gfx942", **one)[0],
                   TCP_TCC_READ_REQ=2)
        self.check(self.prof(line + load + wait + load + " sc1" + wait, target="gfx942", **one)[0],
                   TCP_TCC_READ_REQ=4)
        rows = "".join(f"{load} offset:{256 * i}\n" if i < 16 else "" for i in range(16))
        block = "".join(f"v_add_u32 v1, {0x1000 if i else 0}, v1\n{rows}" for i in range(4))
        back = "v_subrev_u32 v1, 0x3000, v1\n"
        self.check(self.prof(line + block + back + block, elements=8192, **one)[0], TCP_TCC_READ_REQ=256)
        more = f"v_add_u32 v1, 0x1000, v1\n{load}\nv_subrev_u32 v1, 0x1000, v1\n"
        counters, _ = self.prof(line + block + more + back + block + more, elements=8192, **one)
        self.check(counters, TCP_TCC_READ_REQ=2 * 260)

    def test_policies(self):
        """L2 requests of a second load of a line, by LLVM's SIMemoryLegalizer: on gfx10 GLC bypasses L0 and DLC
        bypasses GL1, on gfx11 GLC bypasses both and DLC none; SLC (from gfx10 on, and gfx12's TH_LOAD_NT) hits but
        does not allocate; any scope beyond the compute unit bypasses gfx12's L0. Before gfx10 SLC has no effect on
        the vector cache, nor has gfx942's NT."""
        for target, first, second, asked in (
                ("gfx1030", "", "", 0), ("gfx1030", "", "glc", 0), ("gfx1030", "", "glc dlc", 1), ("gfx1030", "", "dlc", 0),
                ("gfx1030", "", "slc", 0), ("gfx1030", "slc", "", 1), ("gfx1030", "glc slc", "", 1),
                ("gfx1100", "", "", 0), ("gfx1100", "", "glc", 1), ("gfx1100", "", "dlc", 0), ("gfx1100", "slc", "", 1),
                ("gfx1200", "", "scope:SCOPE_SE", 1), ("gfx1200", "", "scope:SCOPE_CU", 0),
                ("gfx1200", "th:TH_LOAD_NT", "", 1), ("gfx1200", "th:TH_LOAD_RT_NT", "", 0),
                ("gfx90a", "slc", "", 0), ("gfx942", "nt", "", 0)):
            new = target in ("gfx1100", "gfx1200")
            start = ("s_load_b128 s[4:7], s[0:1], 0x0\nv_lshlrev_b32 v1, 2, v0\n" if new else
                     "s_load_dwordx4 s[4:7], s[0:1], 0x0\nv_lshlrev_b32 v1, 2, v0\n")
            start += "s_wait_kmcnt 0x0\n" if target == "gfx1200" else "s_waitcnt lgkmcnt(0)\n"
            wait = "s_wait_loadcnt 0x0\n" if target == "gfx1200" else "s_waitcnt vmcnt(0)\n"
            load = "global_load_" + ("b32" if new else "dword") + " v2, v1, s[4:5] "
            lanes = 32 if target.startswith("gfx1") else 64
            _, report = self.prof(start + "".join(load + policy + "\n" + wait for policy in (first, second)),
                                  target=target, items=lanes, workgroup=lanes)
            rows = sorted((row for row in report["rows"] if row["path"] == "GLOBAL"), key=lambda row: row["offset"])
            lines = {"gfx90a": 2, "gfx942": 2}.get(target, 1)  # of 128 bytes
            self.assertEqual([row["l2_requests"] or 0 for row in rows], [lines, asked * lines], (target, first, second))

    def test_streams(self):
        """Streaming lines of L2 are evicted first: after 4 KiB and then 8 MiB are read with SLC, the 4 KiB are still
        cached; without SLC, they are evicted. (MI100's L2 has 8 MiB.)"""
        for policy, hits in (("slc", True), ("", False)):
            body = (START + "v_lshlrev_b32 v1, 6, v0\nglobal_load_dword v2, v1, s[4:5]\ns_waitcnt vmcnt(0)\n"
                    "s_movk_i32 s8, 128\ntop:\nv_add_u32_e32 v1, 0x10000, v1\n"
                    f"global_load_dword v2, v1, s[4:5] {policy}\ns_waitcnt vmcnt(0)\ns_add_i32 s8, s8, -1\n"
                    "s_cmp_lg_u32 s8, 0\ns_cbranch_scc1 top\nv_lshlrev_b32 v1, 6, v0\nglobal_load_dword v2, v1, s[4:5] glc\n")
            _, report = self.prof(body, target="gfx908", items=1024, workgroup=1024, elements=(129 << 16) // 4)
            last = max((row for row in report["rows"] if row["path"] == "GLOBAL"), key=lambda row: row["offset"])
            self.assertEqual((last["l2_requests"], last["l2_hits"]), (1024, 1024 if hits else 0))

    def test_wait_depth(self):
        """Four loads before the first wait have depths 1 to 4; after vmcnt(2) two are outstanding, after vmcnt(0) none.
        gfx9's counter has six bits: at most 63 are outstanding."""
        load = "global_load_dword v2, v1, s[4:5]\n"
        _, report = self.prof(START + "v_lshlrev_b32 v1, 2, v0\n" + 4 * load + "s_waitcnt vmcnt(2)\n" + load +
                              "s_waitcnt vmcnt(0)\n" + load, items=128, workgroup=64)
        rows = sorted((row for row in report["rows"] if row["path"] == "GLOBAL"), key=lambda row: row["offset"])
        self.assertEqual([row["wait_depth_most"] for row in rows], [1, 2, 3, 4, 3, 1])
        self.assertEqual([row["wait_depth"] for row in rows], [1, 2, 3, 4, 3, 1])
        _, report = self.prof(START + "v_lshlrev_b32 v1, 2, v0\n" + 70 * load, items=64, workgroup=64)
        self.assertEqual(max(row["wait_depth_most"] for row in report["rows"]), 63)

    def test_threads(self):
        """The same figures with any number of threads."""
        reports = []
        for threads in (1, 2, 3):
            out, _ = self.run_tool("prof", self.example("transpose"), "-k transpose_naive -g 256,256 -b 16,16",
                                   "--arg in=iota:f32:65536 --arg out=zero:f32:65536 --arg n=256 --json",
                                   f"-j {threads}")
            report = json.loads(out)
            reports.append((report["rows"], report["totals"], report.get("kernels")))
        self.assertEqual(reports[0], reports[1])
        self.assertEqual(reports[0], reports[2])

    def test_occupancy(self):
        """LLVM's getNumWavesPerEUWithNumVGPRs and the CLRX table of GCN: 84 VGPRs allow 3 waves per SIMD, 128 allow 2;
        half of a compute unit's LDS allows 2 workgroups of four waves, so 2 waves."""
        for vgprs, lds, waves, limit in ((24, 0, 10, "waves"), (84, 0, 3, "VGPRs"), (128, 0, 2, "VGPRs"),
                                         (16, 32768, 2, "LDS")):
            _, report = self.prof(START, target="gfx900", vgprs=vgprs, lds=lds)
            occupancy = report["kernels"][0]["occupancy"]
            self.assertEqual((occupancy["waves_per_simd"], occupancy["limit"]), (waves, limit))
        # Of 256 VGPRs, 16 allow all ten waves (as do 800 SGPRs, of which a wave has at most 102 + 2); 16 workgroups of
        # four waves would be 16 waves per SIMD.
        limits = {one["resource"]: one["waves_per_simd"] for one in occupancy["limits"]}
        self.assertEqual({name: limits[name] for name in ("waves", "VGPRs", "LDS", "workgroups")},
                         {"waves": 10, "VGPRs": 10, "LDS": 2, "workgroups": 16})

    def test_modes(self):
        """When four waves load one line, all waves of a workgroup in CU mode hit in its L0 except the first; in WGP
        mode the waves alternate between two L0s (RDNA3 ISA, 2.3: across all four SIMDs), and GL1, or L2 where there
        is none, gets two requests. A WGP has the LDS of two compute units: five workgroups of 24 KiB instead of two."""
        for target, load, wait in (("gfx1030", "global_load_dword", "s_waitcnt lgkmcnt(0)\n"),
                                   ("gfx1100", "global_load_b32", "s_waitcnt lgkmcnt(0)\n"),
                                   ("gfx1200", "global_load_b32", "s_wait_kmcnt 0x0\n")):
            body = (("s_load_b128" if load.endswith("b32") else "s_load_dwordx4") + " s[4:7], s[0:1], 0x0\n" + wait +
                    f"v_and_b32_e32 v1, 31, v0\nv_lshlrev_b32_e32 v1, 2, v1\n{load} v2, v1, s[4:5]\n")
            for wgp, misses in ((False, 1), (True, 2)):
                _, report = self.prof(body, target=target, items=128, workgroup=128, lds=24 << 10, wgp=wgp)
                kernel, row = report["kernels"][0], next(row for row in report["rows"] if row["path"] == "GLOBAL")
                uses = {cache["name"]: cache["read"] for cache in kernel["caches"]}
                self.assertEqual((uses["vector L0"]["requests"], uses["vector L0"]["hits"]), (4, 4 - misses))
                self.assertEqual((row["l2_requests"], row["l2_hits"]), (misses, misses - 1) if target == "gfx1200" else (1, 0))
                occupancy = kernel["occupancy"]
                self.assertEqual((occupancy["mode"], occupancy["limit"]), ("WGP" if wgp else "CU", "LDS"))
                self.assertEqual((occupancy["workgroups_per_cu"], occupancy["waves_per_simd"]), (5, 5) if wgp else (2, 4))
                # One workgroup, but with the address units of two compute units in WGP mode.
                address = next(bound for bound in kernel["bounds"] if bound["part"] == "address")
                self.assertIn(f"/ {misses} compute units", address["arithmetic"])
                # Workgroups of one wave go to all compute units in turn: each fetches its own line.
                units = {"gfx1030": 60, "gfx1100": 96, "gfx1200": 32}[target]
                for more in (0, units // 2):
                    _, report = self.prof(body, target=target, items=32 * (units + more), workgroup=32, wgp=wgp)
                    uses = {cache["name"]: cache["read"] for cache in report["kernels"][0]["caches"]}
                    self.assertEqual((uses["vector L0"]["requests"], uses["vector L0"]["hits"]), (units + more, more))
        told, _ = self.run_tool("prof k.co -k k -g 32 -b 32 --arg a=iota:u32:256 --arg b=zero:u32:256 --html k.html")
        for text in (told, self.read("k.html").decode()):
            self.assertRegex(text, r"waves per SIMD in WGP mode, limited by")
        _, report = self.prof(START, target="gfx908")
        self.assertIsNone(report["kernels"][0]["occupancy"]["mode"])

    def test_invalidation(self):
        """LLVM, AMDGPUUsage, "Memory Model": which operations make a second load of a line go to L2 again: gfx9's L1,
        gfx942's for scopes beyond the workgroup, gfx10's and gfx11's L0 and GL1 each by its own, gfx12's L0 for scopes
        beyond the compute unit."""
        for target, control, misses in (
                ("gfx900", "", (1, 1)), ("gfx900", "buffer_wbinvl1_vol", (2, 2)), ("gfx900", "buffer_wbinvl1", (2, 2)),
                ("gfx90a", "buffer_wbl2", (1, 1)), ("gfx90a", "buffer_invl2", (1, 1)), ("gfx900", "s_dcache_inv", (1, 1)),
                ("gfx942", "buffer_inv sc1", (2, 2)), ("gfx942", "buffer_inv sc0", (1, 1)), ("gfx942", "buffer_inv sc0 sc1", (2, 2)),
                ("gfx1030", "buffer_gl0_inv", (2, 1)), ("gfx1030", "buffer_gl1_inv", (1, 1)),
                ("gfx1030", "buffer_gl1_inv\nbuffer_gl0_inv", (2, 2)), ("gfx1100", "buffer_gl0_inv", (2, 1)),
                ("gfx1100", "s_gl1_inv\nbuffer_gl0_inv", (2, 2)), ("gfx1200", "global_inv", (1, 1)),
                ("gfx1200", "global_inv scope:SCOPE_SE", (2, 2)), ("gfx1200", "global_wb scope:SCOPE_SYS", (1, 1)),
                ("gfx1200", "global_wbinv scope:SCOPE_DEV", (2, 2))):
            with self.subTest(target, control=control):
                new = target in ("gfx1100", "gfx1200")
                load = "global_load_b32" if new else "global_load_dword"
                body = (("s_load_b128" if new else "s_load_dwordx4") + " s[4:7], s[0:1], 0x0\n" +
                        ("s_wait_kmcnt 0x0\n" if target == "gfx1200" else "s_waitcnt lgkmcnt(0)\n") +
                        f"v_lshlrev_b32_e32 v1, 2, v0\n{load} v2, v1, s[4:5]\n{control}\n{load} v2, v1, s[4:5]\n")
                lanes = 32 if target.startswith("gfx1") else 64
                _, report = self.prof(body, target=target, items=lanes, workgroup=lanes)
                rows = sorted((row for row in report["rows"] if row["path"] == "GLOBAL"), key=lambda row: row["offset"])
                self.assertEqual((len(rows), len(report["rows"])), (2, 3))
                first = next(cache["read"] for cache in report["kernels"][0]["caches"] if cache["name"][:6] == "vector")
                lines = first["requests"] // 2
                self.assertEqual((first["requests"] - first["hits"]) / lines, misses[0])
                self.assertEqual(sum(row["l2_requests"] or 0 for row in rows) / rows[0]["l2_requests"], misses[1])
                self.assertEqual(report["kernels"][0]["vector_invalidations"], 1 if misses[0] == 2 else 0)
        # The scalar cache: a second load of its line.
        for control, hits in (("", 2), ("s_dcache_inv", 1)):
            _, report = self.prof(f"s_load_dwordx2 s[4:5], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\n{control}\n"
                                  "s_load_dwordx2 s[4:5], s[0:1], 0x8\ns_load_dwordx2 s[4:5], s[0:1], 0x0\n",
                                  target="gfx900", items=64, workgroup=64)
            scalar = next(cache["read"] for cache in report["kernels"][0]["caches"] if cache["name"] == "scalar")
            self.assertEqual((scalar["requests"], scalar["hits"]), (3, hits))
            self.assertEqual(report["kernels"][0]["vector_invalidations"], 0)

    def test_barriers(self):
        """A barrier as compiled by clang with and without -mcumode, for gfx11 and gfx12: in WGP mode every wave
        invalidates its L0 after the barrier, so each of its compute units refetches the line in each of eight
        iterations."""
        for target, barrier, inv in (("gfx1100", "s_barrier", "buffer_gl0_inv"),
                                     ("gfx1200", "s_barrier_signal -1\ns_barrier_wait 0xffff", "global_inv scope:SCOPE_SE")):
            wait = "s_wait_kmcnt 0x0\n" if target == "gfx1200" else "s_waitcnt lgkmcnt(0)\n"
            for wgp in (False, True):
                body = ("s_load_b128 s[4:7], s[0:1], 0x0\n" + wait + "v_and_b32_e32 v1, 31, v0\nv_lshlrev_b32_e32 v1, 2, v1\n" +
                        f"global_load_b32 v2, v1, s[4:5]\n{barrier}\n{inv if wgp else ''}\n" * 8)
                _, report = self.prof(body, target=target, items=128, workgroup=128, wgp=wgp)
                kernel = report["kernels"][0]
                first = next(cache["read"] for cache in kernel["caches"] if cache["name"] == "vector L0")
                self.assertEqual((first["requests"], first["requests"] - first["hits"]), (32, 2 * 8 if wgp else 1))
                self.assertEqual(kernel["vector_invalidations"], 32 if wgp else 0)

    def test_units(self):
        """How long the units of a SIMD need for one wave, by hand: three rounds of a loop with instructions of each rate.
        GCN: CLRX's table of cycles with DPFACTOR 8 (Vega 64), and 1 for a half of f32's rate (MI50, MI100). MI200: as
        fast as f32. RDNA: 32 lanes per clock, 16 clocks for f64, LDS 128 bytes per clock."""
        for target, wave, name, valu, others in (
                ("gfx900", 64, "vega64", 4 + 3 * (8 * 4 + 4 * 16 + 2 * 16 + 8 + 5 * 32 + 3 * 64), {"LDS issue": 3 * 8 * 4}),
                ("gfx906", 64, "mi50", 4 + 3 * (8 * 4 + 4 * 16 + 2 * 16 + 8 + 5 * 4 + 3 * 8), {"LDS issue": 3 * 8 * 4}),
                ("gfx90a", 64, "mi210", 4 + 3 * (8 * 4 + 4 * 4 + 2 * 16 + 4 + 5 * 4 + 3 * 4), {"LDS issue": 3 * 8 * 4}),
                ("gfx950", 64, "mi350x", 4 + 3 * (8 * 4 + 4 * 4 + 2 * 16 + 4 + 5 * 4 + 3 * 4), {"LDS issue": 3 * 8 * 2}),
                ("gfx1030", 32, "rx6800", 1 + 3 * (8 + 4 * 4 + 2 + 2 + 8), {"transcendental": 3 * 2 * 4, "f64": 3 * 8 * 16, "LDS issue": 3 * 8}),
                ("gfx1100", 32, "rx7900xtx", 1 + 3 * (8 + 4 * 4 + 2 + 2 + 8), {"transcendental": 3 * 2 * 4, "f64": 3 * 8 * 16, "LDS issue": 3 * 8})):
            read = "ds_load_" if target == "gfx1100" else "ds_read_"
            body = ("s_mov_b32 s8, 3\nv_mov_b32 v0, 0\nagain:\n" + "v_add_f32 v1, v1, v1\n" * 8 + "v_mul_lo_u32 v1, v1, v1\n" * 4 +
                    "v_exp_f32 v1, v1\n" * 2 + "v_lshlrev_b64 v[2:3], 1, v[2:3]\n" + "v_add_f64 v[2:3], v[2:3], v[2:3]\n" * 5 +
                    "v_fma_f64 v[2:3], v[2:3], v[2:3], v[2:3]\n" * 3 + "s_add_u32 s9, s9, s9\n" * 6 + "s_branch l1\nl1:\ns_branch l2\nl2:\n" +
                    f"{read}b32 v2, v0\n{read}b32 v2, v0\n{read}b64 v[2:3], v0\n{read}b128 v[2:5], v0\n" + "s_waitcnt lgkmcnt(0)\ns_sub_u32 s8, s8, 1\ns_cmp_lg_u32 s8, 0\ns_cbranch_scc1 again\n")
            _, report = self.prof(body, target=target, items=wave, workgroup=wave, lds=64)
            kernel = report["kernels"][0]
            self.assertEqual(kernel["gpu"], name)
            turn = 4 if wave == 64 else 1  # clocks until a SIMD may begin an instruction of the scalar unit
            expected = {"VALU": valu, "SALU": turn * (1 + 3 * 8), "branch": turn * 3 * 3, **others}
            found = {bound["part"]: bound["clocks"] for bound in kernel["bounds"]}
            self.assertEqual({part: found[part] for part in expected}, expected, target)
            for part in ("transcendental", "f64", "matrix", "export"):
                self.assertEqual(part in found, part in expected, target)
        # Two workgroups of four waves: eight SIMDs; 16384 waves: all 256 of Vega 64.
        for items, simds in ((512, 8), (1 << 20, 256)):
            _, report = self.prof("v_mov_b32 v1, v0\n" * 3 + "v_sin_f32 v1, v1\n", target="gfx900", items=items)
            bound = next(bound for bound in report["kernels"][0]["bounds"] if bound["part"] == "VALU")
            waves = items // 64
            self.assertEqual(bound["clocks"], waves * (3 * 4 + 16) / simds)
            self.assertEqual(bound["arithmetic"], f"({3 * waves} x 4 + {waves} transcendental x 16 clocks) / {simds} SIMDs")

    def test_active_lanes(self):
        """Those when a block of code begins count for its vector instructions: of each wave one with 64 lanes and two with
        eight; the last one has two, but eight when its block began. The same in compiled code."""
        body = ("v_mov_b32 v1, 0\ns_mov_b64 exec, 0xff\ns_branch few\nfew:\nv_mov_b32 v1, v0\nv_mov_b32 v2, v0\ns_branch last\n"
                "last:\ns_mov_b64 exec, 3\nv_mov_b32 v3, v0\n")
        for setting in ("off", "always"):
            os.environ["WAVEMEM_COMPILE"] = setting
            try:
                _, report = self.prof(body, items=256, workgroup=128)
            finally:
                del os.environ["WAVEMEM_COMPILE"]
            executed = report["kernels"][0]["executed"]
            self.assertEqual((executed["vector"], executed["vector_lanes"]), (4 * 4, 4 * (64 + 2 * 8 + 8)))

    def test_instructions(self):
        """SQ_INSTS_*: every instruction of two waves is in one of them, or internal to the sequencer. Scalar loads by
        their dwords: 64 bytes of arguments and of a, so four lines of 64 bytes that miss."""
        body = ("s_load_dwordx4 s[4:7], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\ns_load_dword s8, s[4:5], 0x40\ns_load_dwordx2 s[8:9], s[4:5], 0x80\n"
                "s_load_dwordx8 s[8:15], s[4:5], 0xc0\ns_waitcnt lgkmcnt(0)\nv_mov_b32 v1, 0\nv_mov_b32 v2, 0\nds_read_b32 v2, v1\n"
                "global_load_dword v2, v1, s[4:5]\nglobal_store_dword v1, v2, s[6:7]\nglobal_atomic_add v3, v1, v2, s[6:7] glc\n"
                "global_atomic_add v1, v2, s[6:7]\nglobal_atomic_add v1, v2, s[6:7]\ns_branch next\nnext:\ns_sendmsg sendmsg(MSG_INTERRUPT)\n"
                "s_add_u32 s9, s9, s9\nv_mfma_f32_4x4x1f32 v[4:7], v0, v0, v[4:7]\n")
        counters, report = self.prof(body, items=128, workgroup=128, lds=64)
        executed = report["kernels"][0]["executed"]
        self.assertEqual(sum(count for unit, count in executed.items() if unit not in ("matrix", "matrix_clocks", "vector_lanes")), 2 * 19)
        self.assertEqual((executed["internal"], executed["vector_memory"]), (2 * 3, 2 * 5))  # two waits and the end
        self.check(counters, SQ_WAVES=2, SQ_INSTS=2 * 19, SQ_INSTS_VALU=2 * 3, SQ_INSTS_MFMA=2, SQ_VALU_MFMA_BUSY_CYCLES=2 * 8,
                   SQ_INSTS_SALU=2, SQ_INSTS_SMEM=2 * 4, SQ_INSTS_BRANCH=2, SQ_INSTS_SENDMSG=2, SQ_INSTS_EXP_GDS=0, SQ_INSTS_GDS=0,
                   SQ_INSTS_LDS=2, SQ_INSTS_VMEM=2 * 5, SQC_DCACHE_REQ_READ_1=2, SQC_DCACHE_REQ_READ_2=2, SQC_DCACHE_REQ_READ_4=2,
                   SQC_DCACHE_REQ_READ_8=2, SQC_DCACHE_REQ_READ_16=0, SQC_TC_DATA_READ_REQ=4, TCP_TOTAL_READ=2 * 16, TCP_TOTAL_WRITE=2 * 16,
                   TCP_TCC_ATOMIC_WITH_RET_REQ=2 * 64, TCP_TCC_ATOMIC_WITHOUT_RET_REQ=2 * 2 * 64)

    def test_hot_sets(self):
        """64 lanes whose dwords are 1024 bytes apart: lines 0, 16, 32, ..., all in set 0 of the 4 sets of Vega's vector cache
        (16 KiB, 64 ways of lines of 64 bytes), and blocks 0, 4, 8, ... of 256 bytes, in all 16 channels. 1028 bytes apart:
        the sixteenth lane is a line further, so 16 lines in each set. 260 bytes apart: lane n in block n, or one more from
        lane 64 on, all channels."""
        for stride, hot, most in ((1024, 1, 64), (1028, 2, 16)):
            body = START + f"v_mul_u32_u24 v1, {stride}, v0\nglobal_load_dword v2, v1, s[4:5]\n"
            _, report = self.prof(body, target="gfx900", items=64, workgroup=64, elements=1 << 16)
            caches = {cache["name"]: cache for cache in report["kernels"][0]["caches"]}
            sets = caches["vector L1"]["sets"]
            self.assertEqual((sets["count"], sets["hot"], sets["misses"], sets["hottest_misses"]), (4, hot, 64, most))
            self.assertEqual(caches["L2"]["sets"]["count"], 4096)
        for stride, channels in ((1024, 16), (260, 16)):  # L2 is hashed: without that, 4 for blocks 0, 4, 8, ...
            body = (START + f"v_mul_u32_u24 v1, {stride}, v0\n" +
                    "".join(f"global_load_dword v2, v1, s[4:5] offset:{64 * i}\n" for i in range(4 if stride == 1024 else 1)))
            _, report = self.prof(body, target="gfx900", items=1024, elements=1 << 19)
            found = next(cache for cache in report["kernels"][0]["caches"] if cache["name"] == "L2")["channels"]
            self.assertEqual(found["count"], 16)
            self.assertIn(found["hot"], (channels // 2, channels // 2 + 1))  # one more, because code and arguments miss, too

        # 64 times as many: the summary names the set, of 1024 bytes and not of 1028.
        for stride, named in ((1024, True), (1028, False)):
            self.prof(START + f"v_mul_u32_u24 v1, {stride}, v0\nglobal_load_dword v2, v1, s[4:5]\n", target="gfx900", items=4096, elements=1 << 21)
            out, _ = self.run_tool("prof k.co -k k -g 4096 -b 256 --arg a=iota:u32:2097152 --arg b=zero:u32:64")
            self.assertEqual("half of the 4096 misses of vector L1 are in 1 of 4 sets; most in 0\n" in out, named, out)

    def test_full_lines(self):
        """A line that one store fills stays in the vector cache, also of MI300X, whose stores are requests of half a line;
        a half-filled one does not (GCN white paper; unverified on CDNA)."""
        for target in ("gfx90a", "gfx942"):
            # 64 lanes: 512 bytes. 12 lanes: 96 bytes; on MI200 a line of 64 stays and half of one does not, on MI300X none.
            for lanes, misses in ((64, 0), (12, 1)):
                _, report = self.prof(START + f"v_lshlrev_b32 v1, 3, v0\ns_mov_b64 exec, {2 ** lanes - 1 if lanes < 64 else -1}\n"
                                      "global_store_dwordx2 v1, v[2:3], s[4:5]\ns_waitcnt vmcnt(0)\nglobal_load_dwordx2 v[2:3], v1, s[4:5]\n",
                                      target=target, items=64, workgroup=64)
                load = next(row for row in report["rows"] if row["path"] == "GLOBAL" and row["operation"] == "load")
                self.assertEqual(load["vector_requests"] - load["vector_hits"], misses, target)

    def test_flat_counts_as_lds(self):
        """Published: SQ_INSTS_LDS is 0 for a FLAT load that went to global memory, 1 for such an atomic, 1 for a store that
        went to LDS."""
        to_memory = START + "v_mov_b32 v1, s4\nv_mov_b32 v2, s5\n"
        to_lds = "s_mov_b64 s[4:5], src_shared_base\nv_mov_b32 v1, 0\nv_mov_b32 v2, s5\n"
        for body, expected in ((to_memory + "flat_load_dword v3, v[1:2]\n", 0), (to_memory + "flat_atomic_add v[1:2], v3\n", 1),
                               (to_lds + "flat_store_dword v[1:2], v3\n", 1)):
            counters, _ = self.prof(body, target="gfx900", items=64, workgroup=64, lds=64)
            self.check(counters, SQ_INSTS_LDS=expected, SQ_INSTS_FLAT=1)

    def test_names_of_rdna(self):
        """Only counters that AMD has: those of rocprofiler-sdk's definitions, and those that Mesa collects for AMD's
        profiler."""
        common = set("SQ_WAVES SQ_INSTS_VALU SQ_INSTS_SALU SQ_INSTS_SMEM SQ_INSTS_FLAT SQ_INSTS_LDS SQ_INSTS_GDS SQ_INSTS_TEX_LOAD "
                     "SQ_INSTS_TEX_STORE SQC_LDS_BANK_CONFLICT SQC_LDS_IDX_ACTIVE SQC_DCACHE_HITS SQC_DCACHE_MISSES SQC_ICACHE_HITS "
                     "SQC_ICACHE_MISSES SQC_ICACHE_MISSES_DUPLICATE TCP_REQ TCP_REQ_MISS GL2C_REQ GL2C_HIT GL2C_MISS "
                     "GL2C_EA_WRREQ_64B".split())
        older = set("GL1C_REQ GL1C_REQ_MISS GL2C_MC_RDREQ GL2C_MC_WRREQ".split())
        for target, names in (("gfx1030", common | older), ("gfx1100", common | older), ("gfx1201", common | {"GL2C_EA_RDREQ"})):
            counters, _ = self.prof("v_mov_b32 v1, 0\n", target=target, items=32, workgroup=32)
            self.assertEqual(set(counters), names)

    def test_matrix_units(self):
        """Products and sums per clock and compute unit as AMD publishes them: f16 1024 on MI100 and MI200, 2048 on
        MI300X; f32 256; f64 256 on MI200; RX 7900 XTX 512 of f16 (122.8 TFLOPS of 96 units at 2.5 GHz); RX 9070 XT 1024
        of f16, 2048 of f8 (195 and 389 TFLOPS of 64 units at 2.97 GHz)."""
        for target, text, work, rate in (
                ("gfx908", "v_mfma_f32_32x32x8f16 a[0:15], v[0:1], v[0:1], a[0:15]", 32 * 32 * 8, 1024),
                ("gfx90a", "v_mfma_f32_32x32x8f16 v[0:15], v[0:1], v[0:1], v[0:15]", 32 * 32 * 8, 1024),
                ("gfx90a", "v_mfma_f32_16x16x4f32 v[0:3], v0, v0, v[0:3]", 16 * 16 * 4, 256),
                ("gfx90a", "v_mfma_f64_16x16x4f64 v[0:7], v[0:1], v[0:1], v[0:7]", 16 * 16 * 4, 256),
                ("gfx942", "v_mfma_f32_32x32x8_f16 v[0:15], v[0:1], v[0:1], v[0:15]", 32 * 32 * 8, 2048),
                ("gfx1100", "v_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[8:15], v[0:7]", 16 * 16 * 16, 512),
                ("gfx1201", "v_wmma_f32_16x16x16_f16 v[0:7], v[8:11], v[8:11], v[0:7]", 16 * 16 * 16, 1024),
                ("gfx1201", "v_wmma_f32_16x16x16_fp8_fp8 v[0:7], v[8:9], v[8:9], v[0:7]", 16 * 16 * 16, 2048)):
            wave, simds = (32, 2) if target.startswith("gfx1") else (64, 4)
            _, report = self.prof(f"{text}\n" * 5, target=target, items=wave, workgroup=wave)
            found = {bound["part"]: bound["clocks"] for bound in report["kernels"][0]["bounds"]}
            self.assertEqual((found["matrix"], found["VALU"]), (5 * 2 * work * simds / rate, 5 * (1 if wave == 32 else 4)), text)

    def test_products(self):
        """Another product has another cache; products of other generations and unknown ones are refused."""
        load = START + "v_lshlrev_b32 v1, 2, v0\nglobal_load_dword v2, v1, s[4:5]\n"
        for gpu in ("mi210", "MI250X"):
            _, report = self.prof(load, "--gpu", gpu)
            self.assertEqual(report["kernels"][0]["gpu"], gpu.lower())
        self.refused("product mi300x is of another generation", f"prof k.co -k k -g 64 -b 64 --arg a=iota:u32:256 "
                     "--arg b=zero:u32:256 --gpu mi300x")
        self.refused("no product 'mi9' is known", "prof k.co -k k -g 64 -b 64 --gpu mi9")


if __name__ == "__main__":
    command.main()
