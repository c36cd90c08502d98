# SPDX-License-Identifier: MIT
"""Reports do not depend on -j: kernels whose workgroups wait for one another, take turns, or use scratch memory.
WAVEMEM_TEST_REDUCED: a third of the workgroups, and -j 1 against one of the others, in turn.

usage: threads.py WAVEMEM FOLDER_OF_CODE_OBJECTS [TEST...]
"""
import itertools
import json
import re
import unittest.mock

import command
from command import Case, npy, pack

THREADS = "1", "2", "3", "8"
OTHERS = itertools.cycle(THREADS[1:])
GROUPS = 40 if command.REDUCED else 120

# examples/waiting.cl: arguments of each kernel, and the exit code
WAITING = {
    "lookback_scan": (256, "in=rand:u32:{n}:1 out=zero:u32:{n} state=zero:u64:{groups} n={n}", 0),
    "grid_barrier": (128, "arrived=zero:u32:1 a=iota:u32:{groups} b=zero:u32:{groups} steps=4", 0),
    "spin_lock": (64, "lock=zero:u32:1 number=zero:u32:1 times=10", 0),
    "chain": (64, "number=zero:u32:{groups} first={last} by=1", 0),
    "lock_in_lanes": (64, "lock=zero:u32:1 number=zero:u32:1", 3),
    "wait_for_nobody": (128, "flag=zero:u32:1", 3),
}

# Kernels that compute, and the exit codes of those for which --guess finds no sizes without a fault.
COMPILED = ("bitonic -k bitonic_sort", "blackscholes", "fft1k", "histogram", "mandelbrot", "nbody", "reduction", "scan -k scan_blocks",
            "sgemm", "sha256", "spmv", "stencil2d", "transpose -k transpose_lds", "vecadd")
GUESSED = {"fft1k": 3, "sha256": 3}

# kernel: target, VGPRs, bytes of scratch, code. s[4:5] or s[0:1] is the kernarg segment, which holds one pointer.
CODE = {
    # The first workgroup takes the lock and ends with it.
    "lost_lock": ("gfx900", 8, 0, """
        s_load_dwordx2 s[0:1], s[4:5], 0x0
        v_mov_b32 v0, 0
        v_mov_b32 v2, 1
        v_mov_b32 v3, 0
        s_mov_b64 exec, 1
        s_waitcnt lgkmcnt(0)
    try:
        global_atomic_cmpswap v1, v0, v[2:3], s[0:1] glc
        s_waitcnt vmcnt(0)
        v_readfirstlane_b32 s2, v1
        s_cmp_lg_u32 s2, 0
        s_cbranch_scc1 try
        s_endpgm"""),
    # The same by buffer atomics, whose return value gfx940 names by sc0.
    "lost_buffer_lock": ("gfx942", 8, 0, """
        s_load_dwordx2 s[4:5], s[0:1], 0x0
        s_mov_b32 s6, -1
        s_mov_b32 s7, 0x20000
        s_mov_b64 exec, 1
        s_waitcnt lgkmcnt(0)
    try:
        v_mov_b32 v2, 1
        v_mov_b32 v3, 0
        buffer_atomic_cmpswap v[2:3], off, s[4:7], 0 sc0
        s_waitcnt vmcnt(0)
        v_readfirstlane_b32 s2, v2
        s_cmp_lg_u32 s2, 0
        s_cbranch_scc1 try
        s_endpgm"""),
    # Everybody takes a ticket and passes the turn on; the wave that waits loads by scalar memory.
    "tickets": ("gfx900", 8, 0, """
        s_load_dwordx2 s[0:1], s[4:5], 0x0
        v_mov_b32 v0, 0
        v_mov_b32 v2, 1
        s_mov_b64 exec, 1
        s_waitcnt lgkmcnt(0)
        global_atomic_add v1, v0, v2, s[0:1] glc
        s_waitcnt vmcnt(0)
        v_readfirstlane_b32 s2, v1
    turn:
        s_load_dword s3, s[0:1], 0x40
        s_waitcnt lgkmcnt(0)
        s_cmp_lg_u32 s3, s2
        s_cbranch_scc1 turn
        global_atomic_add v0, v2, s[0:1] offset:64
        s_waitcnt vmcnt(0)
        s_endpgm"""),
    # The last workgroup never comes to the barrier that the others wait at, by ordinary loads.
    "lost_barrier": ("gfx900", 8, 0, """
        s_load_dwordx2 s[0:1], s[4:5], 0x0
        v_mov_b32 v0, 0
        v_mov_b32 v2, 1
        s_mov_b64 exec, 1
        s_cmp_eq_u32 s6, {last}
        s_cbranch_scc1 out
        s_waitcnt lgkmcnt(0)
        global_atomic_add v0, v2, s[0:1]
    spin:
        s_load_dword s3, s[0:1], 0x0
        s_waitcnt lgkmcnt(0)
        s_cmp_lt_u32 s3, {groups}
        s_cbranch_scc1 spin
    out:
        s_endpgm"""),
    # Independent workgroups that call a function, which is known from the code.
    "calls": ("gfx900", 8, 0, """
        s_load_dwordx2 s[0:1], s[4:5], 0x0
        s_getpc_b64 s[8:9]
        s_add_u32 s8, s8, load@rel32@lo+4
        s_addc_u32 s9, s9, load@rel32@hi+12
        s_swappc_b64 s[10:11], s[8:9]
        v_mov_b32 v1, 0
        s_swappc_b64 s[10:11], s[8:9]
        s_endpgm
    .globl load
    load:
        v_lshlrev_b32 v2, 2, v0
        s_waitcnt lgkmcnt(0)
        global_load_dword v1, v2, s[0:1]
        s_waitcnt vmcnt(0)
        s_setpc_b64 s[10:11]"""),
    # Independent workgroups, each with scratch memory of its own.
    "scratch": ("gfx942", 8, 4096, """
        s_movk_i32 s3, 0
        v_mov_b32 v1, 0
    loop:
        scratch_store_dword off, v0, s3
        scratch_load_dword v2, off, s3 offset:16
        s_waitcnt vmcnt(0)
        v_add_u32 v1, v1, v2
        s_add_u32 s3, s3, 64
        s_cmp_lt_u32 s3, 0xf00
        s_cbranch_scc1 loop
        s_endpgm"""),
    # The format, and with it the bytes that a lane loads, depends on the workgroup.
    "formats": ("gfx900", 8, 0, """
        s_load_dwordx2 s[0:1], s[4:5], 0x0
        s_mov_b32 s2, 256
        s_bitcmp1_b32 s6, 0
        s_mov_b32 s3, 0x24fac ; 32
        s_cselect_b32 s7, 0x50000, 0 ; or 32_32_32_32
        s_or_b32 s3, s3, s7
        v_mov_b32 v0, 0
        s_waitcnt lgkmcnt(0)
        buffer_load_format_xyzw v[0:3], off, s[0:3], 0
        s_endpgm"""),
    # The same as scratch by its address, with scalar and global instructions: loads only, so all of them find zeroes.
    "scratch_by_address": ("gfx900", 8, 4096, """
        s_and_b32 s1, s1, 0xffff
        s_add_u32 s0, s0, s7
        s_addc_u32 s1, s1, 0
        s_movk_i32 s8, 0
        v_lshlrev_b32 v0, 2, v0
    loop:
        s_load_dwordx4 s[12:15], s[0:1], s8
        v_add_u32 v1, s8, v0
        global_load_dword v2, v1, s[0:1]
        v_add_u32 v3, s8, v0
        v_xor_b32 v3, 0x7c, v3
        global_load_dword v4, v3, s[0:1]
        s_waitcnt vmcnt(0) lgkmcnt(0)
        s_add_u32 s8, s8, 64
        s_cmp_lt_u32 s8, 0xf00
        s_cbranch_scc1 loop
        s_endpgm"""),
}

KERNEL = """
.text
.globl {name}
.p2align 8
.type {name},@function
{name}:
{code}
.size {name}, .-{name}
.rodata
.p2align 6
.amdhsa_kernel {name}
  .amdhsa_next_free_vgpr {vgprs}
  .amdhsa_next_free_sgpr 16
  .amdhsa_private_segment_fixed_size {scratch}
{more}
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: {name}
    .symbol: {name}.kd
    .kernarg_segment_size: 8
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: {scratch}
    .wavefront_size: 64
    .sgpr_count: 16
    .vgpr_count: {vgprs}
    .max_flat_workgroup_size: 64
    .args:
      - {{.name: memory, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global}}
...
.end_amdgpu_metadata
"""
USER = {  # registers: gfx900 s[0:3] scratch's V#, s[4:5] kernarg, s6 the workgroup, s7 scratch; gfx942 s[0:1], s2
    "gfx900": "  .amdhsa_user_sgpr_private_segment_buffer 1\n  .amdhsa_user_sgpr_kernarg_segment_ptr 1\n"
              "  .amdhsa_system_sgpr_workgroup_id_x 1\n  .amdhsa_system_sgpr_private_segment_wavefront_offset 1",
    "gfx942": "  .amdhsa_user_sgpr_kernarg_segment_ptr 1\n  .amdhsa_system_sgpr_workgroup_id_x 1\n"
              "  .amdhsa_accum_offset 8\n  .amdhsa_enable_private_segment 1",
}


def without_times(text):
    return re.sub(r'"(seconds|wave_instructions_per_second)": [0-9.e+-]+', "", text)


class Threads(Case):
    def assemble(self, name):
        target, vgprs, scratch, code = CODE[name]
        code = code.replace("{last}", str(GROUPS - 1)).replace("{groups}", str(GROUPS))
        text = KERNEL.format(name=name, code=code, vgprs=vgprs, scratch=scratch, more=USER[target])
        source = self.path(name + ".s", text.encode())
        self.run_tool("asm", "-m", target, source, "-o", name + ".co")
        return f"{name}.co -k {name} -g {GROUPS * 64} -b 64 --arg memory=zero:u32:64"

    def waiting(self, name):
        size, arguments, _ = WAITING[name]
        arguments = arguments.format(groups=GROUPS, last=GROUPS - 1, n=GROUPS * 256)
        return (f"{command.EXAMPLES}/waiting.co -k {name} -g {GROUPS * size} -b {size} "
                + " ".join("--arg " + word for word in arguments.split()))

    def same(self, verb, words, options, code):
        """What the command writes is the same with any number of threads; returns it."""
        seen = set()
        for threads in (THREADS[0], next(OTHERS)) if command.REDUCED else THREADS:
            out, err = self.run_tool(verb, words, options, "-j", threads, code=code)
            trace = self.read("trace") if "--trace" in options else b""
            seen.add((without_times(out), err, trace))
        self.assertEqual(len(seen), 1, f"{verb} {words} {options}")
        return seen.pop()

    def compare(self, words, code):
        for options in "", "--json", "--trace trace", "--check-waits --fidelity", "--sample 1/2":
            self.same("prof", words, options, code)
        self.same("run", words, "--check-waits", code)
        self.same("run", words, "--fidelity --json", code)
        _, err, _ = self.same("run", words, "--timeout 60", code)
        self.assertEqual("deadlock" in err, code == 3)

    def test_waiting(self):
        for name, (_, _, code) in WAITING.items():
            with self.subTest(name):
                self.compare(self.waiting(name), code)

    def test_code(self):
        for name, code in ("lost_lock", 3), ("lost_buffer_lock", 3), ("tickets", 0), ("lost_barrier", 3), ("calls", 0), ("formats", 0), ("scratch", 0), ("scratch_by_address", 0):
            with self.subTest(name):
                self.compare(self.assemble(name), code)

    def test_compiled(self):
        """Nor do they depend on whether waves execute compiled code between the steps that report accesses.
        Where a fault ends workgroups early depends on threads, so there is one."""
        for name in COMPILED[::3] if command.REDUCED else COMPILED:
            file, *kernel = name.split(maxsplit=1)
            words, code = [f"{command.EXAMPLES}/{file}.co", *kernel, "--guess", "-j1"], GUESSED.get(file, 0)
            reports = set()
            with self.subTest(name):
                for how in "off", "always":
                    with unittest.mock.patch.dict("os.environ", WAVEMEM_COMPILE=how):
                        reports.add(without_times("".join(self.run_tool("prof", words, "--json", code=code))))
                        compiled = ["compiled to" in self.run_tool(verb, words, "--stats", code=code)[0] for verb in ("run", "prof")]
                        self.assertEqual(compiled[0], compiled[1], how)
                self.assertEqual(len(reports), 1)

    def test_scratch_of_a_trace(self):
        """Each workgroup of a round has scratch memory of its own, also when a trace is replayed for a product
        that holds more or fewer of them."""
        words = self.assemble("scratch")
        for gpu in [], ["--gpu", "mi300a"]:
            live, _ = self.run_tool("prof", words, gpu)
            self.run_tool("prof", words, "--trace x.trace")
            self.assertEqual(self.run_tool("replay x.trace", gpu)[0], live)
        rows = json.loads(self.run_tool("prof", words, "--json")[0])["rows"]
        # 60 stores of 256 bytes by each workgroup, all to other places.
        written = sum(row["memory_written"] or 0 for row in rows)
        dirty = json.loads(self.run_tool("prof", words, "--json")[0])["kernels"][0]["memory_dirty"]
        self.assertEqual(written + dirty, GROUPS * 60 * 256)

    def test_lock_is_lost_to_the_first(self):
        """On one thread the first workgroup has the lock, so the second one waits: that is what is told."""
        _, err, _ = self.same("run", self.assemble("lost_lock"), "", 3)
        first = "".join(rf"\n       workgroup \({n},0,0\) wave 0 at lost_lock\+0x1c" for n in range(1, 5))
        self.assertRegex(err, r"^error: .*deadlock: .*\n  at +lost_lock\+0x1c .*\n  by +workgroup \(1,0,0\) wave 0, lanes 0"
                         rf"\n  {GROUPS - 1} waves wait, in {GROUPS - 1} workgroups; the first of them:{first}\n$")

    def test_deadlock_after_other_dispatches(self):
        """The job is run again, with its inputs, up to the dispatch that waits for ever."""
        self.path("sevens.npy", npy("<u4", "(64,)", pack("u32", [7] * 64)))
        tickets, lost = self.assemble("tickets"), self.assemble("lost_lock")
        words = (f"{tickets.replace('memory=zero:u32:64', 'memory=@sevens.npy')} --then {lost}")
        # The tickets begin at 7 and the turn is 7: nobody waits for ever, and the second dispatch is the one.
        _, err, _ = self.same("run", words, "", 3)
        self.assertIn("lost_lock+0x", err)
        self.assertIn("workgroup (1,0,0)", err)

    def test_deadlock_whose_inputs_are_gone(self):
        """A pipe cannot be read again: the report is that of this run, and says so."""
        words = self.assemble("lost_lock").replace("memory=zero:u32:64", "memory=@/dev/stdin")
        _, err = self.run_tool("run", words, "-j", "2", code=3, stdin=bytes(256))
        self.assertIn("may depend on the order in which workgroups run: try -j 1", err)
        _, err = self.run_tool("run", words, "-j", "1", code=3, stdin=bytes(256))
        self.assertNotIn("-j 1", err)

    def test_what_is_said_of_it(self):
        """The report names the instruction, and says where it is not the same with another -j."""
        def dispatch(words, verb="run", code=0):
            return json.loads(self.run_tool(verb, words, "--json", code=code)[0])["dispatches"][0]
        spin = self.waiting("spin_lock")
        for verb, expected in ("run", False), ("prof", True):
            entry = dispatch(spin, verb)
            self.assertEqual(entry["reproducible"], expected, verb)
            self.assertEqual(entry["dependence"]["kind"], "atomic")
            self.assertEqual(entry["dependence"]["function"], "spin_lock")
            self.assertIn("global_atomic_cmpswap", entry["dependence"]["instruction"])
        self.assertIn("(varies with -j)", self.run_tool("run", spin, "--stats")[0])
        entry = dispatch(self.vecadd_words())
        self.assertEqual((entry["dependence"], entry["reproducible"]), (None, True))
        for verb in "run", "prof":
            entry = dispatch(self.assemble("calls"), verb)
            self.assertEqual((entry["dependence"], entry["reproducible"]), (None, True))
        self.assertNotIn("another -j", self.run_tool("run", self.vecadd_words(), "--stats")[0])
        self.assertEqual(dispatch(self.assemble("lost_barrier"), "prof", 3)["dependence"]["kind"], "loop")
        entry = dispatch(self.assemble("lost_barrier"), "prof", 3)
        self.assertTrue(entry["reproducible"])
        # A fault ends other workgroups at a place that depends on threads.
        words = self.vecadd_words().replace("a=iota:f32:256", "a=null")
        for threads in THREADS:
            out, err = self.run_tool("prof", words, "-j", threads, code=3)
            self.assertRegex(err, r"^note: vecadd: it ended early, .* another -j\n")
        self.assertFalse(dispatch(words, "prof", 3)["reproducible"])

    def vecadd_words(self):
        return (f"{command.EXAMPLES}/vecadd.co -g 256 -b 64 --arg a=iota:f32:256 --arg b=iota:f32:256 "
                "--arg c=zero:f32:256 --arg n=256")


if __name__ == "__main__":
    command.main()
