# SPDX-License-Identifier: MIT
"""Sessions of the debugger. Values come from what the kernels compute, worked out here; lines from their sources.

usage: debug.py WAVEMEM FOLDER_OF_CODE_OBJECTS [TEST...]
"""
import os
import re
import shutil
import subprocess
import unittest

import command
from command import Case

REDUCTION = "-g 1024 -b 256 --arg in=iota:f32:1024 --arg sums=zero:f32:4 --arg n=1024"
# The sums of the workgroups are added by a second dispatch.
PARTS = ("-b 256 --buffer parts=zero:f32:4 -g 1024 --arg in=iota:f32:1024 --arg sums=same:parts --arg n=1024 "
         "--then -g 256 --arg in=same:parts --arg sums=zero:f32:1 --arg n=4")
SOURCES = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + "/examples"


def line_of(source, text):
    """The number of the only line of an example that contains the text."""
    with open(os.path.join(SOURCES, source), encoding="utf-8") as file:
        found = [number for number, line in enumerate(file, 1) if text in line]
    assert len(found) == 1, (source, text, found)
    return found[0]


COMPILES = unittest.skipUnless(
    shutil.which("clang-19") and shutil.which("ld.lld-19") and os.path.isdir("/usr/lib/x86_64-linux-gnu/amdgcn/bitcode"),
    "no clang-19, ld.lld-19 or rocm-device-libs")
SUM = "sums[get_group_id(0)] = partial[0];"


# Structs with a base, bit fields and arrays; arrays of two dimensions, a vector; pointers to all three kinds of memory.
STRUCTS = """
struct base { int tag; };
struct pair { int x; float y; };
struct box : base { pair p[2]; unsigned low : 3, high : 5; short rest; };
typedef float four __attribute__((ext_vector_type(4)));
extern "C" __attribute__((global)) void structs(int *out, pair *pairs)
{
    __attribute__((shared)) int tile[64];
    int *t = tile;
    const int i = __builtin_amdgcn_workitem_id_x();
    box b;
    int a[4], m[2][3];
    four v = {1, 2, 3, 4};
    pair *q = &b.p[1];
    b.tag = 77;
    b.p[0].x = i;
    b.p[0].y = 0.5f;
    b.p[1].x = -i;
    b.p[1].y = 2.5f;
    b.low = 5;
    b.high = 17;
    b.rest = -3;
    for (int k = 0; k < 4; k++)
        a[k] = 10 * k + i;
    for (int k = 0; k < 6; k++)
        m[k / 3][k % 3] = k;
    t[i] = i * i;
    out[i] = b.p[0].x + a[3] + m[1][2] + (int)v.w + q->x + t[i] + pairs[1].x; // all
}
"""
# The first call of `leaf` has the argument 4 in lane 3, the second one 17.
CALLS = """
#define FUNCTION __attribute__((device, noinline))
FUNCTION int leaf(int a)
{
    return a * a + 1;
}
FUNCTION int middle(int a)
{
    const int first = leaf(a + 1);
    return first + leaf(first);
}
FUNCTION int outer(int a)
{
    return 2 * middle(a) + 1;
}
extern "C" __attribute__((global)) void calls(int *out)
{
    out[__builtin_amdgcn_workitem_id_x()] = outer(__builtin_amdgcn_workitem_id_x());
}
"""


# Registers above v255, in a loop: the add has two sets of upper bits, which only the wave tells apart.
UPPER = """
.amdgcn_target "amdgcn-amd-amdhsa--gfx1250"
.text
.globl upper
.p2align 8
.type upper,@function
upper:
  s_load_b64 s[2:3], s[0:1], 0x0
  s_mov_b32 s4, 0
  v_mov_b32 v2, 0
  s_set_vgpr_msb 0x40
  v_mov_b32 v44, 7
  s_set_vgpr_msb 0x80
  v_mov_b32 v44, 5
  s_set_vgpr_msb 0x1
again:
  v_add_nc_u32 v2, v44, v2
  s_add_co_u32 s4, s4, 1
  s_set_vgpr_msb 0x2
  s_cmp_lt_u32 s4, 2
  s_cbranch_scc1 again
  s_set_vgpr_msb 0x40
  v_lshlrev_b32 v45, 2, v0
  s_set_vgpr_msb 0x1
  s_wait_kmcnt 0
  global_store_b32 v45, v2, s[2:3]
  s_set_vgpr_msb 0x0
  s_endpgm
.size upper, .-upper
.rodata
.p2align 6
.amdhsa_kernel upper
  .amdhsa_next_free_vgpr 768
  .amdhsa_next_free_sgpr 16
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_wavefront_size32 1
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: upper
    .symbol: upper.kd
    .kernarg_segment_size: 8
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 32
    .sgpr_count: 16
    .vgpr_count: 768
    .max_flat_workgroup_size: 32
    .args:
      - {.name: out, .size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}
...
.end_amdgpu_metadata
"""

# Two waves meet in global wave sync.
MEET = """
s_mov_b32 m0, 0
v_mov_b32 v0, 1
ds_gws_init v0 gds
s_nop 0
ds_gws_barrier v0 gds
s_endpgm
"""


class Debug(Case):
    def source(self, name, text):
        """Writes a source; returns the line that ends with `// all`, or 0."""
        with open(os.path.join(self.folder.name, name), "w", encoding="utf-8") as file:
            file.write(text)
        return next((n for n, line in enumerate(text.splitlines(), 1) if line.endswith("// all")), 0)

    def session(self, commands, example="reduction", arguments=REDUCTION, code=0, more=()):
        """Carries out commands, one per line; returns what each of them prints."""
        words = []
        for line in commands.strip().splitlines():
            words += ["--eval-command", line.strip(), "--eval-command", r"echo <--\n"]
        done = subprocess.run([command.WAVEMEM, "debug", *(self.example(example) if "." not in example else [example]), *arguments.split(), *more, "--batch", *words],
                              capture_output=True, cwd=self.folder.name, timeout=120, encoding="utf-8")
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.err = done.stderr
        return [part.strip("\n") for part in done.stdout.split("<--\n")]

    def wrong(self, message, *commands, begins=True):
        """Commands that are refused with one message, and change nothing that one can ask for."""
        state = "info breakpoints\ninfo dispatches\n" + ("info record\np/x $exec + $pc\n" if begins else "")
        for text in commands:
            with self.subTest(text):
                script = f"{'starti' if begins else ''}\n{state}echo <--\\n\n{text}\n{state}".encode()
                out, err = self.run_tool("debug", self.example("reduction"), REDUCTION, stdin=script)
                self.assertEqual(err, message + "\n")
                before, after = re.sub(r"\$\d+ = ", "", out).split("<--\n")
                self.assertTrue(before.endswith(after), out)

    # ---- types and callers ----

    @COMPILES
    def test_structs(self):
        line = self.source("structs.hip", STRUCTS)
        for target in ("gfx900", "gfx1100"):
            with self.subTest(target):
                out = self.session(f"""break structs.hip:{line}
                                       run
                                       lane 3
                                       print b
                                       print b.p[1].y
                                       print a
                                       print a[3]
                                       print m
                                       print m[1][2]
                                       print v
                                       print v.w + b.tag
                                       print q->y
                                       print *q
                                       print b.low * 100 + b.high
                                       print t[2] + tile[5]
                                       print pairs[1]
                                       print sizeof(b)
                                       print b.p[0].x = 9
                                       print b.p[0]
                                       print *&b.p[1]
                                       info locals""", "structs.hip",
                                   f"-m {target} -O0 -g 32 -b 32 --arg out=zero:i32:64 --arg pairs=i32:1,2,7,0x40800000")
                self.assertEqual([re.sub(r"^\$\d+ = ", "", one) for one in out[3:20]], [
                    "{{tag = 77}, p = {{x = 3, y = 0.5}, {x = -3, y = 2.5}}, low = 5, high = 17, rest = -3}", "2.5", "{3, 13, 23, 33}", "33",
                    "{{0, 1, 2}, {3, 4, 5}}", "5", "{1, 2, 3, 4}", "81", "2.5", "{x = -3, y = 2.5}", "517", "29", "{x = 7, y = 4}", "24",
                    "9", "{x = 9, y = 0.5}", "{x = -3, y = 2.5}"])
                self.assertIn("m = {{0, 1, 2}, {3, 4, 5}}\n", out[20])

    @COMPILES
    def test_struct_mistakes(self):
        line = self.source("structs.hip", STRUCTS)
        for text, message in (("print b.z", "There is no member named z."), ("print m[2]", "The array has 2 elements."),
                              ("print b.", "A syntax error in expression: it ends too soon."),
                              ("print q->z", "There is no member named z."), ("print a->x", "A syntax error in expression, near `>x'.")):
            with self.subTest(text):
                self.session(f"break structs.hip:{line}\nrun\n{text}", "structs.hip",
                             "-m gfx900 -O0 -g 32 -b 32 --arg out=zero:i32:64 --arg pairs=i32:1,2,7,0", code=2)
                self.assertEqual(self.err, f"wavemem: {message}\n")

    @COMPILES
    def test_called_functions(self):
        self.source("calls.hip", CALLS)
        for words in ("-m gfx900 -O1", "-m gfx1100 -O0"):
            with self.subTest(words):
                out = self.session("""break leaf
                                      run
                                      bt
                                      continue
                                      bt
                                      up
                                      finish
                                      bt
                                      reverse-finish
                                      bt
                                      delete
                                      tbreak middle
                                      continue
                                      finish
                                      bt
                                      p $v0""", "calls.hip", f"{words} -g 32 -b 32 --arg out=zero:i32:64")
                functions = [re.findall(r" in (\w+) \(\)", text) for text in out]
                stack = ["leaf", "middle", "outer", "calls"]
                self.assertEqual((functions[2], functions[4]), (stack, stack))
                self.assertNotEqual(out[2], out[4])
                self.assertEqual((functions[7], functions[9]), (["outer", "calls"], ["calls"]))
                self.assertEqual(functions[14], ["outer", "calls"])
                results = [(a + 1) ** 2 + 1 + ((a + 1) ** 2 + 1) ** 2 + 1 for a in range(32)]
                self.assertIn(", ".join(map(str, results[:4])), out[15])

    @COMPILES
    def test_locals_of_callers(self):
        """At -O0 they are in private memory, at the frame base that the callee has saved."""
        self.source("calls.hip", CALLS)
        for target in ("gfx900", "gfx1100"):
            with self.subTest(target):
                out = self.session("""break leaf
                                      run
                                      continue
                                      lane 3
                                      up
                                      print a
                                      print first
                                      up
                                      print a
                                      info locals
                                      down
                                      print first""", "calls.hip", f"-m {target} -O0 -g 32 -b 32 --arg out=zero:i32:64")
                self.assertEqual([out[5], out[6], out[8], out[11]], ["$1 = 3", "$2 = 17", "$3 = 3", "$4 = 17"])
                self.assertEqual(out[9], "a = 3")

    def test_matrices(self):
        """A[i][k] is the number of its lane + 1, B all ones, C the constant 1: D[i][j] is 1 plus the sum of a line of A."""
        self.path("matrix.s", b""".amdgcn_target "amdgcn-amd-amdhsa--gfx90a"
.globl k
.p2align 8
.type k,@function
k:
  v_cvt_f32_u32 v1, v0
  v_cvt_f16_f32 v1, v1
  v_mov_b32 v2, 0x3c003c00
  v_mov_b32 v3, 0x3c003c00
  v_pk_add_f16 v4, v1, v2 op_sel_hi:[0,0]
  v_mov_b32 v5, v4
  v_mfma_f32_16x16x16f16 v[8:11], v[4:5], v[2:3], 1.0
  s_nop 15
  s_endpgm
.size k, .-k
.rodata
.p2align 6
.amdhsa_kernel k
.amdhsa_next_free_vgpr 16
.amdhsa_next_free_sgpr 16
.amdhsa_accum_offset 16
.end_amdhsa_kernel
""")
        out = self.session("""break insn v_mfma*
                              run
                              info matrix
                              info matrix C
                              stepi
                              info matrix""", "matrix.s", "-m gfx90a -g 64 -b 64")
        numbers = [[float(one) for one in line.split()] for line in out[2].splitlines() if re.match(r"[ \d.]+$", line)]
        a = [[i + k // 4 * 16 + 1.0 for k in range(16)] for i in range(16)]
        self.assertEqual(numbers, a + [[1.0] * 16] * 16)
        self.assertIn("A, 16 x 16 of f16:", out[2])
        self.assertIn("C: a constant", out[3])
        self.assertIn("executed: v_mfma_f32_16x16x16f16", out[5])
        numbers = [[float(one) for one in line.split()] for line in out[5].splitlines() if re.match(r"[ \d.]+$", line)]
        self.assertEqual(numbers, [[1 + sum(line)] * 16 for line in a])
        self.session("starti\ninfo matrix Q", code=2)
        self.assertEqual(self.err, "wavemem: `info matrix' takes A, B, C or D.\n")
        self.session("starti\ninfo matrix", code=2)
        self.assertEqual(self.err, "wavemem: Neither this instruction nor the one in front of it is a matrix product.\n")

    def test_matrices_above_v255(self):
        """A in v[264:271] and B are ones, so that each element of D, in v[512:519], is their 32 products' sum."""
        ones = "".join(f"  v_mov_b32 v{i}, 0x3c003c00\n" for i in range(8, 16))
        with open(self.path("upper.s"), "w", encoding="utf-8") as file:
            file.write(f""".amdgcn_target "amdgcn-amd-amdhsa--gfx1250"
.globl k
.p2align 8
.type k,@function
k:
{ones}  s_set_vgpr_msb 0x40
{ones}  s_set_vgpr_msb 0x81
  v_wmma_f32_16x16x32_f16 v[0:7], v[8:15], v[8:15], 0
  s_set_vgpr_msb 0
  s_endpgm
.size k, .-k
.rodata
.p2align 6
.amdhsa_kernel k
.amdhsa_next_free_vgpr 520
.amdhsa_next_free_sgpr 16
.end_amdhsa_kernel
""")
        out = self.session("break insn v_wmma*\nrun\ninfo matrix A\nstepi\ninfo matrix\nprint $v512.f32", "upper.s", "-m gfx1250 -g 32 -b 32")
        self.assertIn("v[8:15] /*v[264:271]*/", out[2])
        self.assertIn("1 1 1 1 1 1 1 1\n", out[2])
        self.assertIn("D, 16 x 16 of f32:\n" + (" ".join(["32"] * 16) + "\n") * 16, out[4] + "\n")
        self.assertEqual(out[5], "$1 = 32")

    def test_matrices_of_formats(self):
        """A of fp4, whose codes follow one another, and B of fp6, all ones: OCP Microscaling Formats 1.0 has their values."""
        ones = sum(0x08 << 6 * i for i in range(32))
        moves = "".join(f"  v_mov_b32 v{8 + i}, {ones >> 32 * i & 0xffffffff:#x}\n" for i in range(6))
        with open(self.path("formats.s"), "w", encoding="utf-8") as file:
            file.write(f""".amdgcn_target "amdgcn-amd-amdhsa--gfx950"
.globl k
.p2align 8
.type k,@function
k:
  v_mov_b32 v4, 0x76543210
  v_mov_b32 v5, 0xfedcba98
  v_mov_b32 v6, 0x76543210
  v_mov_b32 v7, 0x22222222
{moves}  s_nop 4
  v_mfma_f32_16x16x128_f8f6f4 v[16:19], v[4:7], v[8:13], 1.0 cbsz:4 blgp:2
  s_nop 15
  s_endpgm
.size k, .-k
.rodata
.p2align 6
.amdhsa_kernel k
.amdhsa_next_free_vgpr 20
.amdhsa_next_free_sgpr 16
.amdhsa_accum_offset 20
.end_amdhsa_kernel
""")
        out = self.session("break insn v_mfma*\nrun\ninfo matrix\nstepi\ninfo matrix", "formats.s", "-m gfx950 -g 64 -b 64")
        values = [0, 0.5, 1, 1.5, 2, 3, 4, 6]
        line = (values + [-one for one in values] + values + [1.0] * 8) * 4

        def numbers(text):
            return [[float(one) for one in line.split()] for line in text.splitlines() if re.match(r"[- \d.]+$", line)]

        self.assertEqual(numbers(out[2]), [line] * 16 + [[1.0] * 16] * 128)
        self.assertIn("A, 16 x 128 of fp4:", out[2])
        self.assertIn("B, 128 x 16 of fp6:", out[2])
        self.assertEqual(numbers(out[4]), [[1 + sum(line)] * 16] * 16)

    def test_descriptors(self):
        """The V# of scratch in s[0:3] of gfx900 covers the wave's memory, swizzled; T# and S# as `explain` decodes their words."""
        out = self.session("""starti
                              set $s8 = 0x1000
                              set $s9 = 0x40000000
                              set $s10 = 16
                              set $s11 = 0x00027fac
                              print/v s[8:11]
                              info descriptor $s[8:11] buffer
                              info descriptor in sampler
                              info descriptor s[8:15]""")
        explained = subprocess.run([command.WAVEMEM, "explain", "descriptor", "-m", "gfx900", "0x1000", "0x40000000", "16", "0x27fac"],
                                   capture_output=True, encoding="utf-8", check=True).stdout.strip("\n")
        self.assertIn("NUM_RECORDS", explained)
        self.assertEqual((out[5], out[6]), (explained, explained))
        self.assertIn("gfx900 sampler", out[7])
        self.assertIn("gfx900 image", out[8])
        for text, message in (("print/v", "Argument required: s[4:7], s[8:15] or an address, and the kind: buffer, image, sampler."),
                              ("print/v s[8:9]", "2 words, expected 4"), ("print/v s[8:30]", "A descriptor has four or eight registers: s[4:7], s[8:15].")):
            self.session(f"starti\n{text}", code=2)
            self.assertIn(message, self.err)

    # ---- the first mistake ----

    @COMPILES
    def test_check_classes(self):
        """Each class by name stops at the instruction that its mistake is about, whatever else is wrong."""
        self.source("wrong.cl", """kernel void wrong(global float *out, global const float *in, global const int *unwritten, int n)
{
    local float part[128];
    const uint i = get_local_id(0);
    part[i] = in[i];            // stored
    float x = part[i ^ 64];     // race
    x += 1 / in[n];             // float
    x += in[unwritten[i] & 7]; // uninit
    out[i] = x;                 // memory
}
""")
        with open(os.path.join(self.folder.name, "wrong.cl"), encoding="utf-8") as file:
            line = {text.split("// ")[1].strip(): n for n, text in enumerate(file, 1) if "// " in text}
        arguments = "-m gfx900 wrong.cl -g 128 -b 128 --arg out=zero:f32:100 --arg in=zero:f32:128 --arg unwritten=uninit:i32:128 --arg n=5".split()
        for name, text in (("race", "with no barrier in between"), ("float", "division by zero"), ("uninit", "that nobody wrote"),
                           ("memory", "of 400 bytes")):
            with self.subTest(name):
                out = self.session(f"check {name}\np $lane\nreverse-stepi\ninfo record", arguments[2], " ".join(arguments[:2] + arguments[3:]))
                self.assertIn(text, out[0])
                self.assertRegex(out[0], rf"\n#0 .* at wrong.cl:{line[name]}\n")
                self.assertNotIn("error:", out[2])
        out = self.session("check wait hazard sync\ninfo record", "wrong.cl", " ".join(arguments[:2] + arguments[3:]))
        self.assertEqual(out[0].strip(), "Nothing found.")
        self.session("check nonsense", code=2)
        self.assertEqual(self.err, "wavemem: No class of findings is called \"nonsense\": memory, uninit, race, sync, wait, hazard, float.\n")

    def test_check_later_dispatches(self):
        """The check sees what earlier dispatches have written, and shows the findings of the current one."""
        out = self.session("break reduce if $dispatch == 2\nrun\ncheck uninit\np $dispatch", arguments=PARTS)
        self.assertEqual(out[2].strip(), "Nothing found.")
        self.assertEqual(out[3], "$1 = 2")

    def test_unreadable_commands(self):
        """A file of commands that cannot be read is a mistake of the command line, with --batch or without."""
        for more in ([], ["--batch"]):
            done = subprocess.run([command.WAVEMEM, "debug", *self.example("reduction"), *REDUCTION.split(), "-x", "/nowhere/at/all", *more],
                                  input="quit\n", capture_output=True, encoding="utf-8", timeout=60)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (2, "", "wavemem: -x /nowhere/at/all: No such file or directory\n"))

    # ---- forwards ----

    def test_break_and_print(self):
        out = self.session(f"""break reduction.cl:{line_of("reduction.cl", SUM)} if $workgroup_x == 2
                               run
                               p n
                               p in[3]
                               p sums[0]@4
                               p *(float *) local#0
                               p/x n
                               p in[3] + 0.5
                               p n > 1000 && in[1] == 1
                               p &sums[1] - 1 == sums
                               continue""")
        self.assertRegex(out[0], r"^Breakpoint 1 at 0x[0-9a-f]+: file reduction.cl, line \d+\.$")
        self.assertIn("Breakpoint 1, workgroup (2,0,0) wave 0 lane 0", out[1])
        self.assertIn("sums[get_group_id(0)] = partial[0];" if os.path.exists("reduction.cl") else "reduction.cl", out[1])
        sums = [sum(range(256 * i, 256 * i + 256)) for i in range(4)]
        self.assertEqual(out[2:10], ["$1 = 1024", "$2 = 3", f"$3 = {{{sums[0]}, {sums[1]}, 0, 0}}", f"$4 = {sums[2]}", "$5 = 0x400",
                                     "$6 = 3.5", "$7 = 1", "$8 = 1"])
        self.assertIn("[Kernel reduce has ended, dispatch 1 of 1]", out[10])

    def test_conditions_choose_a_lane(self):
        out = self.session("""break insn global_store* if $lane == 37
                              run
                              p $lane
                              p $v0
                              info lanes""", "vecadd",
                           "-g 256 -b 64 --arg a=iota:f32:256 --arg b=fill:f32:256:0.5 --arg c=zero:f32:256 --arg n=256")
        self.assertIn("lane 37", out[1])
        self.assertEqual(out[2], "$1 = 37")
        self.assertIn("active    0-63", out[4])

    def test_counts_and_lists(self):
        out = self.session("""tbreak reduce
                              break insn s_endpgm
                              info breakpoints
                              run
                              info breakpoints
                              ignore 2 5
                              continue
                              info waves
                              disable
                              continue""")
        self.assertIn("Temporary breakpoint 1 at", out[0])
        self.assertRegex(out[2], r"1 +breakpoint +del +y +reduce\n2 +breakpoint +keep +y +insn s_endpgm")
        self.assertNotIn("reduce\n", out[4])
        self.assertIn("workgroup (1,0,0) wave ", out[6])  # the sixth of waves that end, four in each workgroup
        self.assertIn("[Kernel reduce has ended", out[9])

    def test_steps(self):
        out = self.session("""starti
                              p $instructions
                              si
                              p $instructions
                              stepi 3
                              p $instructions
                              p $now
                              step
                              until
                              info line""")
        self.assertEqual([out[1], out[3], out[5], out[6]], ["$1 = 0", "$2 = 1", "$3 = 4", "$4 = 4"])
        self.assertIn("reduction.cl:", out[7])

    def test_several_dispatches(self):
        """A continued job goes through its dispatches; backwards it does so, too."""
        out = self.session(f"""break reduce if $dispatch == 2
                              run
                              p sums[0]
                              p in[3]
                              reverse-continue
                              p $dispatch
                              delete
                              continue
                              p sums[0]
                              who in[3]
                              who sums[0]
                              goto
                              watch in[3]
                              rc
                              p $dispatch""", arguments=PARTS)
        self.assertIn("Breakpoint 1, workgroup (0,0,0)", out[1])
        self.assertEqual(out[3], f"$2 = {sum(range(768, 1024))}")
        self.assertIn("No more reverse-execution history", out[4])
        self.assertEqual(out[5], "$3 = 1")
        self.assertEqual(out[8], f"$4 = {sum(range(1024))}")
        self.assertRegex(out[9], r"^in\[3\] = .* written by workgroup \(3,0,0\) wave 0, lanes 0, dispatch 1,")
        self.assertRegex(out[10], r"^sums\[0\] = .* written by workgroup \(0,0,0\) wave 0, lanes 0, dispatch 2,")
        self.assertIn("watchpoint 2: in[3]", out[13])
        self.assertEqual(out[14], "$5 = 1")

    # ---- backwards ----

    def test_who(self):
        line = line_of("reduction.cl", SUM)
        out = self.session("""run
                              who sums[2]
                              goto
                              p sums[2]
                              stepi
                              p sums[2]
                              who in[3]
                              who local#0
                              goto
                              rsi
                              p $now
                              who in 4096""")
        self.assertRegex(out[1], rf"^sums\[2\] = {sum(range(512, 768))} was last written by workgroup \(2,0,0\) wave 0, lanes 0, dispatch 1, "
                         rf"time \d+ .*\n.*global_store_dword.*reduction.cl:{line}")
        self.assertIn("=> ", out[2])
        self.assertEqual([out[3], out[5]], ["$1 = 0", f"$2 = {sum(range(512, 768))}"])
        self.assertEqual(out[6], "Nobody has written there before but the host: 'in' begins as iota:f32:1024.")
        self.assertIn("lanes 0", out[7])
        self.assertIn("ds_write", out[8])
        self.assertEqual(out[11], out[6])
        self.session("run\nwho in 4097", code=2)
        self.assertIn("4097 bytes at 0x10000020000: the allocation ends 4096 bytes behind that place", self.err)

    def test_who_wrote_a_register(self):
        """Back along the values: the store's register comes from the LDS load before it."""
        out = self.session("""break insn global_store*
                              run
                              who $v1
                              goto
                              p $v1
                              stepi""")
        self.assertRegex(out[2], r"\$v1 was last written by workgroup \(0,0,0\) wave 0, lanes 0, .*\n.*ds_read_b32 v1, ")

    def test_watch(self):
        out = self.session("""starti
                              watch sums if $_new > 100000
                              continue
                              p sums[2]
                              rc
                              p sums[2]
                              delete
                              goto begin
                              rwatch in[700]
                              continue
                              p $lane""")
        total = sum(range(512, 768))
        self.assertIn("Hardware watchpoint 1: sums", out[1])
        self.assertIn(f"Hardware watchpoint 1: sums[2]\n\nOld value = 0\nNew value = {total}\n", out[2])
        self.assertEqual([out[3], out[5]], [f"$1 = {total}", "$2 = 0"])
        self.assertIn("Value = 700", out[9])
        self.assertEqual(out[10], f"$3 = {700 % 64}")

    def test_reverse(self):
        """Going back and on again comes to the same registers."""
        out = self.session("""break insn s_endpgm
                              run
                              p/x $exec
                              info registers s0 v1 vcc
                              p $now
                              rsi 
                              rsi 50
                              reverse-step
                              reverse-next
                              continue
                              info registers s0 v1 vcc
                              p $now
                              rc
                              rsi
                              rsi 1000""")
        self.assertEqual(out[3], out[10])
        self.assertEqual(out[4].split("= ")[1], out[11].split("= ")[1])
        self.assertIn("No more reverse-execution history", out[12])
        self.assertIn("No more reverse-execution history", out[14])

    def test_changes_are_repeated(self):
        """What was changed is part of the history: going back before it and on again changes it again."""
        out = self.session("""break insn global_store* if $workgroup_x == 1
                              run
                              set $v1.f32 = 7.5
                              stepi
                              p sums[1]
                              rsi
                              p $v1[0]
                              goto begin
                              p sums[1]
                              delete
                              continue
                              p sums[0]@4
                              who sums[1]""")
        self.assertEqual(out[4], "$1 = 7.5")
        self.assertEqual(out[8], "$3 = 0")
        self.assertEqual(out[11], f"$4 = {{{sum(range(256))}, 7.5, {sum(range(512, 768))}, {sum(range(768, 1024))}}}")

    def test_memory_is_set(self):
        out = self.session("""starti
                              set in[5] = 1000
                              set var sums[3] = -1
                              p sums[3]
                              run
                              p sums[0]
                              starti
                              set in[5] = 1000
                              continue
                              p sums[0]
                              x/4fw &sums[0]""")
        self.assertEqual(out[3], "$1 = -1")
        self.assertEqual(out[5], f"$2 = {sum(range(256))}")  # `run` begins again
        self.assertEqual(out[9], f"$3 = {sum(range(256)) - 5 + 1000}")
        self.assertIn(f":\t{sum(range(256)) + 995}\t", out[10])

    def test_fault(self):
        """An index out of range: stops where it happens."""
        out = self.session("""run
                              p $lane
                              who $v0
                              rsi
                              continue
                              continue""", arguments=REDUCTION.replace("n=1024", "n=2000"), code=3)
        self.assertIn("The wave has faulted", out[0])
        self.assertIn("global_load", out[0])
        self.assertIn("The wave has faulted", out[4])
        self.assertIn("[Kernel reduce ended with a fault", out[5])

    def test_deadlock(self):
        """A loop that nothing ends is a stop, from which one can go back."""
        self.path("loop.s", b"s_mov_b32 s4, 5\nloop:\ns_nop 0\ns_branch loop\n")
        self.run_tool("asm -m gfx900 --raw loop.s -o loop.bin")
        out, _ = self.run_tool("debug -m gfx900 loop.bin -g 64 -b 64 --batch", "--eval-command", "run", ["--eval-command", "p $s4"],
                               ["--eval-command", "rsi"], "--eval-command", "continue", code=3)
        self.assertRegex(out, r"Deadlock: .*deadlock: all that is left waits")
        self.assertIn("$1 = 5", out)
        self.assertIn("ended with a fault", out)

    def test_registers_above_v255(self):
        """Their names and values, in instructions whose bits a wave, or else the code, tells."""
        self.path("upper.s", UPPER.encode())
        self.run_tool("asm -m gfx1250 upper.s -o upper.co")
        out = self.session("""
            starti
            stepi 8
            info registers v300 v556
            print/x $mode & 0xff000
            x/2i $pc
            stepi 5
            x/i $pc
            stepi
            who v2
            who v300
            set $v301 = 12
            info registers v301
            set $mode = $mode + 0x1000
            """, "upper.co", "-g 32 -b 32 --arg out=zero:u32:32", code=2)
        self.assertIn("v44 /*v300*/, v2", out[1])
        self.assertRegex(out[2], r"v300 +\{0x7 <repeats 32 times>\}\nv556 +\{0x5 <repeats 32")
        self.assertEqual(out[3], "$1 = 0x4000")  # MODE[19:12]: destination, then the sources from the first on
        self.assertIn("v44 /*v300*/, v2", out[4])
        self.assertIn("v44 /*v556*/, v2", out[6])
        self.assertIn("v44 /*v556*/, v2", out[8])  # the second time through the loop
        self.assertIn("v_mov_b32_e32 v44 /*v300*/, 7", out[9])
        self.assertRegex(out[11], r"v301 +\{0xc <repeats 32")
        self.assertIn("the upper bits of VGPR numbers (bits 12 to 19) cannot be changed", self.err)

    def test_faults_above_v255(self):
        """Reports name the whole numbers, too."""
        self.path("upper.s", UPPER.encode())
        self.run_tool("asm -m gfx1250 upper.s -o upper.co")
        for verb, code in (("run", 3), ("check", 1)):
            out, err = self.run_tool(verb, "upper.co -g 32 -b 32 --arg out=zero:u32:8", code=code)
            self.assertIn("global_store_b32 v45 /*v301*/, v2, s[2:3]", out + err)

    def test_global_wave_sync(self):
        """A wave that waits in an instruction says so."""
        self.path("meet.s", MEET.encode())
        self.run_tool("asm -m gfx900 --raw meet.s -o meet.bin")
        out = self.session("""
            break insn s_endpgm
            break insn s_nop
            run
            info waves
            continue
            info waves
            """, "meet.bin", "-m gfx900 -g 128 -b 128")
        self.assertNotIn("waits", out[3])
        self.assertRegex(out[5], r"wave 0: .*ds_gws_barrier.*, waits in global wave sync for other waves\n")
        self.assertRegex(out[5], r"\* .*wave 1: .*s_nop 0\n?")

    @COMPILES
    def test_locals(self):
        """Variables in private memory, LDS, registers, and none."""
        words = REDUCTION.split()
        for level, shown in (("-O0", True), ("-O3", False)):
            with self.subTest(level):
                code = self.path(level + ".co")
                subprocess.run(["clang-19", "-x", "cl", "-cl-std=CL2.0", "-target", "amdgcn-amd-amdhsa", "-mcpu=gfx900", level, "-g",
                                "--rocm-device-lib-path=/usr/lib/x86_64-linux-gnu/amdgcn/bitcode", os.path.join(SOURCES, "reduction.cl"),
                                "-o", code], check=True)
                text = f"break reduction.cl:{line_of('reduction.cl', SUM)}\nrun\nlane 0\np partial[0]\np n\ninfo locals\ngoto begin\n" \
                       f"tbreak reduction.cl:{line_of('reduction.cl', 'partial[item] += ')}\ncontinue\nlane 5\np width\n"
                more = "p item\np sum\ninfo locals\n" if shown else ""
                out, err = self.run_tool("debug", code, words, stdin=(text + more).encode())
                self.assertEqual(err, "")
                self.assertIn(f"$1 = {sum(range(256))}\n", out)
                self.assertIn("$2 = 1024\n", out)
                self.assertIn("$3 = 128\n", out)  # the first step of the loop
                self.assertEqual("<optimized out>" in out, not shown)
                if shown:
                    self.assertIn("$4 = 5\n$5 = 5\n", out)

    # ---- mistakes ----

    @COMPILES
    def test_unrolled(self):
        """The compiler unrolls the loop over 128, 64, ... 2: its line has an address for each of the seven."""
        source = shutil.copy(os.path.join(SOURCES, "debugging/sum.cl"), self.folder.name)
        line = line_of("debugging/sum.cl", "part[item] +=")
        script = (f"break sum.cl:{line} if width == 2\nrun\nprint width\nprint $workgroup_x\ncontinue\nprint width\n"
                  "print $workgroup_x\ndisassemble\n")
        out, _ = self.run_tool("debug", source, "-m gfx900 -g 1024 -b 256 --arg in=iota:f32:1024 --arg out=zero:f32:4",
                               stdin=script.encode())
        self.assertIn(f"Breakpoint 1 at sum.cl:{line}. (7 locations)", out)
        self.assertEqual(re.findall(r"\$\d+ = (\d+)", out), ["2", "0", "2", "1"])
        self.assertNotIn("\\x", out)

    def test_wrong_commands(self):
        self.wrong('Undefined command: "frobnicate".  Try "help".', "frobnicate 1")
        self.wrong('No symbol "nothing" in current context.', "p nothing", "break reduce if nothing", "set nothing = 1", "watch nothing")
        self.wrong('Function "nothing" not defined.', "break nothing", "tbreak nothing if 1")
        self.wrong('No line 4000 in file "reduction.cl".', "break reduction.cl:4000", "until 4000")
        self.wrong("No breakpoint number 9.", "delete 9", "condition 9 1", "ignore 9 1", "enable 9")
        self.wrong("A syntax error in expression: it ends too soon.", "p 1 +", "p (", "x &")
        self.wrong("Left operand of assignment is not an lvalue.", "set 5 = 6", "set n + 1 = 6")
        self.wrong("Division by zero", "p 1 / 0", "p n % 0")
        self.wrong("Numeric constant too large.", "p 18446744073709551616", "p 0x10000000000000000")
        self.wrong("Undefined output format \"q\".", "p/q 1")
        self.wrong("The kernel is not being run.", "info waves", "si", "continue", "p $v1", "finish", "who sums[0]", begins=False)
        self.wrong("No lane 64: the wave has 64.", "lane 64")
        self.wrong("No workgroup 9: the grid has 4 x 1 x 1.", "workgroup 9")
        self.wrong("Cannot watch constant value.", "watch 5")
        self.wrong("-1 is negative.", "lane -1", "stepi -1", "info lds -1", "goto -1")
        self.wrong("1.5 is no whole number.", "lane 1.5", "stepi 1.5")

    def test_script(self):
        """A script ends at its first mistake."""
        path = self.path("commands", b"# a comment\n\nstarti\np 5\np )\np 6\n")
        out, err = self.run_tool("debug", self.example("reduction"), REDUCTION, "--batch", "-x", path, code=2)
        self.assertIn("$1 = 5", out)
        self.assertNotIn("$2", out)
        self.assertIn("commands:5: A syntax error in expression, near `)'.", err)

    def test_options(self):
        self.refused("--json: 'wavemem debug' does not have it", "debug", self.example("reduction"), REDUCTION, "--json")
        self.refused("--batch: only 'wavemem debug' has it", "run", self.example("reduction"), REDUCTION, "--batch")

    def test_end_of_input(self):
        out, _ = self.run_tool("debug", self.example("reduction"), REDUCTION, stdin=b"starti\nsi\n\np $now")
        self.assertIn("$1 = 2", out)  # an empty line repeats the step


if __name__ == "__main__":
    command.main()
