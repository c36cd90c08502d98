# SPDX-License-Identifier: MIT
"""What a dispatch begins with: registers, wave size, buffers of words, their addresses, variables of code objects; and the
registers that it ends with.

usage: start.py WAVEMEM FOLDER_OF_CODE_OBJECTS [TEST...]
"""
import json
import os
import struct

import command
from command import Case, npy, pack

# The example of `run --help`: stores v1 through the descriptor at s[4:5].
FRAGMENT = b"""
  s_load_dwordx4 s[8:11], s[4:5], 0x0
  s_lshl_b32 s6, s6, 8
  v_lshlrev_b32 v0, 2, v0
  s_waitcnt lgkmcnt(0)
  buffer_store_dword v1, v0, s[8:11], s6 offen
  s_endpgm
"""
# Another: multiplies the floats behind the second pointer of a list by scale[1], and counts work-items.
CHAIN = b"""
.amdgcn_target "amdgcn-amd-amdhsa--gfx900"
.text
.globl chain
.type chain,@function
.p2align 8
chain:
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  s_waitcnt lgkmcnt(0)
  s_load_dwordx4 s[8:11], s[4:5], 0x0
  s_getpc_b64 s[12:13]
  s_add_u32 s12, s12, scale@rel32@lo+4
  s_addc_u32 s13, s13, scale@rel32@hi+12
  s_load_dwordx4 s[16:19], s[12:13], 0x0
  s_getpc_b64 s[14:15]
  s_add_u32 s14, s14, count@rel32@lo+4
  s_addc_u32 s15, s15, count@rel32@hi+12
  v_lshlrev_b32 v1, 2, v0
  v_mov_b32 v3, 0
  v_mov_b32 v4, 1
  s_waitcnt lgkmcnt(0)
  global_load_dword v2, v1, s[10:11]
  global_atomic_add v3, v4, s[14:15]
  s_waitcnt vmcnt(0)
  v_mul_f32 v2, s17, v2
  global_store_dword v1, v2, s[8:9]
  s_endpgm
.size chain, .-chain
.data
.globl scale
.type scale,@object
.p2align 4
scale:
  .zero 16
.size scale, 16
.globl count
.type count,@object
count:
  .long 3
.size count, 4
.section .rodata
.p2align 6
.amdhsa_kernel chain
  .amdhsa_next_free_vgpr 5
  .amdhsa_next_free_sgpr 20
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.kernels:
  - .args:
      - {.name: list, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global}
    .group_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .kernarg_segment_size: 8
    .max_flat_workgroup_size: 256
    .name: chain
    .private_segment_fixed_size: 0
    .sgpr_count: 20
    .symbol: chain.kd
    .vgpr_count: 5
    .wavefront_size: 64
amdhsa.version: [1, 2]
...
.end_amdgpu_metadata
"""
# Each work-item stores s6, s7 and v5 at the item's number (v3 + 64 * s8) of a buffer at s[2:3].
STORES = """
  v_lshlrev_b32 v10, 4, v3
  v_mov_b32 v4, s6
  v_mov_b32 v6, s7
  v_mov_b32 v7, 0
  v_mov_b32 v8, v5
  v_mov_b32 v5, v4
  v_mov_b32 v4, v8
  s_lshl_b32 s8, s8, 10
  v_add_u32 v10, s8, v10
  global_store_dwordx4 v10, v[4:7], s[2:3]
  s_endpgm
"""


class Start(Case):
    def assemble(self, target, text, name="k.bin"):
        self.path("k.s", text if isinstance(text, bytes) else text.encode())
        self.run_tool("asm", "-m", target, "--raw", "k.s", "-o", name)

    def stored(self, *words, items=64, group=64):
        """Runs STORES; returns for each work-item v5, s6, s7."""
        self.assemble("gfx900", STORES)
        self.run_tool("run k.bin -m gfx900", "-g", str(items), "-b", str(group), "--buffer", f"out=zero:u32:{4 * items}",
                      "--sgpr 2=@out --sgpr 6=0,0,workgroup-id-x --vgpr 3=workitem-id-x --out out=out.bin", *words)
        return [row[:3] for row in struct.iter_unpack("<4I", self.read("out.bin"))]

    def scalars(self, text):
        """What a list of two words gives."""
        return self.stored("--sgpr", [f"6={text}"])[0][1:]

    def test_words(self):
        for text, words in (("5,-1", (5, 2**32 - 1)), ("0x1f,4294967295", (31, 2**32 - 1)),
                            ("1.5f,-2e3", (0x3fc00000, 0xc4fa0000)), ("inf,-inf", (0x7f800000, 0xff800000)),
                            ("2f,.25", (0x40000000, 0x3e800000)), ("3,2f", (3, 0x40000000)),
                            ("(1<<20)-4,7%4|8", (2**20 - 4, 11)), ("~0&0xff,6^5", (255, 3)),
                            ("1+2*3-8/2,1<<31>>28", (3, 8)), (" 5 , ( 2 + 1 ) ", (5, 3)), ("-(-3),--4", (3, 4)),
                            ("@out-@out", (0, 0)), ("(@out+4).lo-@out.lo,@out.hi-(@out>>32).lo", (4, 0)),
                            ("((1<<36)+5).lo,((1<<36)+5).hi", (5, 16))):
            self.assertEqual(self.scalars(text), words, text)

    def test_addresses(self):
        where = ["--allocate-at", "out=0x7ff123456000"]
        for text, words in (("@out", (0x23456000, 0x7ff1)), ("@out+16", (0x23456010, 0x7ff1)),
                            ("@out.hi,@out.lo", (0x7ff1, 0x23456000))):
            self.assertEqual(self.stored("--sgpr", [f"6={text}"], where)[0][1:], words, text)

    def test_registers(self):
        self.assertEqual(self.stored("--sgpr 6=workgroup-id-x,7 --vgpr 5=lane*lane-1", items=130),
                         [((i % 64)**2 - 1 & 2**32 - 1, i // 64, 7) for i in range(130)])
        self.assertEqual(self.stored("--register s[6:7]=0x123456789 --register V5=1.5")[3], (0x3fc00000, 0x23456789, 1))
        self.assertEqual(self.stored("--sgpr 6=9 --sgpr 6=8")[0][1], 8)  # the last one
        self.assertEqual(self.stored("--register exec=0xff00000000000001")[62:], [(0, 0, 0)] * 2)
        self.assertEqual(self.stored("--register exec=0xf0 --vgpr 5=1"), [(int(4 <= i < 8), 0, 0) for i in range(64)])
        # The second wave of a workgroup of 128: another number, other work-items.
        of_items = self.path("items.npy", npy("<u4", "(128,)", pack("u32", [5 * i for i in range(128)])))
        rows = self.stored("--sgpr 6=wave-id,workgroup-info --vgpr", [f"5=@{of_items}"], items=128, group=128)
        self.assertEqual(rows[64:66], [(320, 1, 1 << 6 | 2), (325, 1, 1 << 6 | 2)])
        of_lanes = self.path("lanes.npy", npy("<i4", "(64, 2)", pack("i32", [n for i in range(64) for n in (i, -i)])))
        self.assertEqual(self.stored("--register", [f"v[4:5]=@{of_lanes}"], "--sgpr 6=0")[3], (2**32 - 3, 0, 0))
        # Defaults of raw code stay: s[0:1] have the arguments. With --bare they are 0.
        self.assemble("gfx900", STORES.replace("s6", "s0").replace("s7", "s4"))
        run = "run k.bin -m gfx900 -g 64 -b 64 --buffer out=zero:u32:256 --sgpr 2=@out --sgpr 8=0 --vgpr 3=lane --out out=out.bin"
        self.run_tool(run, "--arg 0=u32:7 --sgpr 4=7")
        self.assertNotEqual(self.read("out.bin")[4:8], bytes(4))
        self.run_tool(run, "--arg 0=u32:7 --sgpr 4=7 --bare")
        self.assertEqual(self.read("out.bin")[4:12], pack("u32", [0, 7]))

    def test_registers_of_another_name(self):
        self.assemble("gfx900", "s_getreg_b32 s4, hwreg(HW_REG_MODE, 0, 8)\n" + STORES.replace("s6", "s4").replace("s7", "m0"))
        run = "run k.bin -m gfx900 -g 64 -b 64 --buffer out=zero:u32:256 --sgpr 2=@out --sgpr 8=0 --vgpr 3=lane --out out=out.bin"
        self.run_tool(run, "--register m0=5 --register mode=0xf0 --register vcc=1 --register scc=1 --register a0=1", code=2)
        self.run_tool(run, "--register m0=5 --register mode=0xf0 --register vcc=1,2 --register scc=1")
        self.assertEqual(self.read("out.bin")[4:12], pack("u32", [0xf0, 5]))

    def test_then(self):
        """Registers stay with the kernel; own ones replace them; @NAME is that of the dispatch."""
        self.assemble("gfx900", STORES)
        self.run_tool("run k.bin -m gfx900 -g 64 -b 64 --buffer a=zero:u32:256 --buffer b=zero:u32:256 --sgpr 2=@a",
                      "--sgpr 6=1,2,0 --vgpr 3=lane --vgpr 5=3 --then --sgpr 2=@b --sgpr 7=9 --out a=a.bin --out b=b.bin")
        self.assertEqual(self.read("a.bin")[:12] + self.read("b.bin")[:12], pack("u32", [3, 1, 2, 3, 1, 9]))

    def test_scratch(self):
        """Private memory of raw code, through its address."""
        self.assemble("gfx900", """
            v_mov_b32 v2, s4
            v_mov_b32 v3, s5
            v_mov_b32 v4, 0
            v_mov_b32 v5, 7
            global_store_dword v4, v5, s[4:5] offset:4092
            global_load_dword v6, v4, s[4:5] offset:4092
            s_waitcnt vmcnt(0)
            global_store_dword v4, v6, s[2:3]
            s_endpgm""")
        run = "run k.bin -m gfx900 -g 64 -b 64 --buffer out=zero:u32:1 --sgpr 2=@out,scratch-address --out out=out.bin"
        self.run_tool(run, "--scratch 64")
        self.assertEqual(self.read("out.bin"), pack("u32", [7]))
        self.run_tool(run, code=3)
        self.refused("--scratch x: expected bytes per lane", run, "--scratch x")

    def test_wave(self):
        """EXEC of a raw wave; a kernel's size cannot be changed."""
        for wave, high in (32, 0), (64, 2**32 - 1):
            self.assemble(f"gfx1030:wave{wave}", "v_mov_b32 v1, exec_hi\nv_mov_b32 v0, 0\n"
                          "global_store_dword v0, v1, s[4:5]\ns_endpgm")
            self.run_tool("run k.bin -m gfx1030 --sgpr 4=@out --buffer out=fill:u32:1:5 -g 64 -b 64 --out out=out.bin --wave", str(wave))
            self.assertEqual(self.read("out.bin"), pack("u32", [high]))
            other = str(96 - wave)
            self.refused(f"--wave {other}: raw of k.bin has waves of {wave} lanes",
                         f"run k.bin -m gfx1030:wave{wave} -g 64 -b 64 --wave", other)
        self.run_tool(self.vecadd("--wave", "64"))
        self.refused("--wave 32: vecadd of", self.vecadd("--wave", "32"))
        self.refused("has waves of 64 lanes", "run k.bin -m gfx900 -g 64 -b 64 --wave 32")
        self.refused("--wave 48: expected 32 or 64", self.vecadd("--wave", "48"))

    def test_fragment(self):
        """The example of --help."""
        self.assemble("gfx1030:wave64", FRAGMENT, "fragment.bin")
        for verb in "run", "prof":
            self.run_tool(verb, "fragment.bin -m gfx1030 --wave 64 -g 256 -b 64 --buffer out=zero:u32:256 --buffer table=V#(@out)",
                          "--sgpr 4=@table,workgroup-id-x --vgpr 0=workitem-id-x --vgpr 1=lane*4+16 --out out=out.npy")
            self.assertEqual(self.read("out.npy"), npy("<u4", "(256,)", pack("u32", [i % 64 * 4 + 16 for i in range(256)])))

    def test_descriptors(self):
        """The words are those that drivers choose: Mesa, ac_descriptors.c."""
        run = "run k.bin -g 1 -b 1 --buffer a=zeros:4096 --allocate-at a=0xffff800000001000 --out d=d.bin -m"
        for target, text, words in (
                ("gfx900", "V#(@a)", (0x1000, 0x8000, 4096, 0x24fac)),
                ("gfx803", "V#(@a+16,size=64)", (0x1010, 0x8000, 64, 0x24fac)),
                ("gfx803", "V#(@a,stride=16)", (0x1000, 0x108000, 4096, 0x24fac)),
                ("gfx803", "V#(@a,stride=16,swizzle_enable=1)", (0x1000, 0x80108000, 256, 0x24fac)),
                ("gfx900", "V#(@a,stride=16,format=32_32_FLOAT)", (0x1000, 0x108000, 256, 0x5ffac)),
                ("gfx1030", "V#(@a)", (0x1000, 0x8000, 4096, 0x31014fac)),
                ("gfx1030", "V#(@a,stride=8,FORMAT=64)", (0x1000, 0x88000, 512, 0x11040fac)),
                ("gfx1100", "V#(@a,num_records=3,dst_sel_x=0)", (0x1000, 0x8000, 3, 0x30014fa8)),
                ("gfx1030", "V#(0x5000,size=8),1", (0x5000, 0, 8, 0x31014fac, 1)),
                ("gfx1030", "T#(@a,dst_sel_x=4)", None),
                ("gfx1030", "S#(CLAMP_X=2)", (2, 0, 0, 0))):
            self.assemble(target, "s_endpgm")
            self.run_tool(run, target, "--buffer", [f"d={text}"])
            got = struct.unpack(f"<{len(self.read('d.bin')) // 4}I", self.read("d.bin"))
            if words:
                self.assertEqual([hex(word) for word in got], [hex(word) for word in words], (target, text))
            else:  # 48 bits of the address, without the lowest 8
                self.assertEqual((got[0], got[1] & 0xff, got[3]), (0x10, 0x80, 4))
        self.assemble("gfx900", "s_endpgm")
        for text, why in (("V#(", "expected FIELD=VALUE or ')', wrong at ''"), ("V#(@a", "expected ',' or ')' in V#"),
                          ("V#(@a,x)", "expected FIELD=VALUE"), ("V#(@a,x=1)", "x: no field of that name on gfx900"),
                          ("V#(@a,stride=99999)", "STRIDE=0x1869f: the field has 14 bits"), ("V#(64)", "size=BYTES is needed"),
                          ("V#(@a,stride=1,stride=1)", "stride is given twice"), ("V#(@a,format=q)", "gfx900 has no such buffer format"),
                          ("T#(@a+4)", "needs a multiple of 256"), ("V#(@q)", "there is no --buffer 'q'"),
                          ("V#(@a)1", "expected ',' or the end at '1'")):
            self.refused(why, run, "gfx900 --buffer", [f"d={text}"])

    def test_buffers(self):
        """Buffers refer to each other, also to later ones, to themselves and to arguments."""
        self.path("in.npy", npy("<u4", "(3,)", pack("u32", [7, 8, 9])))
        self.run_tool(self.vecadd("--buffer", "x=words:@y,@x+4,@a.lo,@b.hi,5,1.5", "--buffer", "y=words:@x.lo", "--buffer",
                                  "z=@in.npy", "--buffer", "w=zeros:8", "--buffer", "v=1,2", "--allocate-at", "x=0x7000000000",
                                  "--allocate-at", "y=0x6000000000", "--allocate-at", "a=0x5000001000", "--allocate-at",
                                  "b=0x4000000000", *[f"--out={name}={name}.npy" for name in "xyzwv"]))
        self.assertEqual(self.read("x.npy"), npy("<u4", "(8,)", pack("u32", [0, 0x60, 4, 0x70, 0x1000, 0x40, 5, 0x3fc00000])))
        self.assertEqual(self.read("y.npy"), npy("<u4", "(1,)", bytes(4)))
        self.assertEqual(self.read("z.npy"), npy("<u4", "(3,)", pack("u32", [7, 8, 9])))
        self.assertEqual(self.read("w.npy"), npy("|u1", "(8,)", bytes(8)))
        self.assertEqual(self.read("v.npy"), npy("<u4", "(2,)", pack("u32", [1, 2])))
        # Words as an argument have the elements of its type, and are references of --expect.
        self.run_tool(self.vecadd("--expect", "c=words:1.5,2.5", count=2, a="words:1.0,2.0"))
        self.refused("expected words without addresses", self.vecadd("--expect", "c=words:@a,1"))
        chain = "--buffer".join(f" b{i}=words:@b{i + 1} " for i in range(400)) + "--buffer b400=5"
        self.run_tool(self.vecadd("--buffer", *chain.split()))
        for value, why in (("words:", "wrong at its end"), ("5,", "wrong at its end"), ("5x", "expected ',' or the end at 'x'"),
                           ("words:@q", "there is no --buffer 'q'"), ("words:@", "wrong at its end"), ("words:@n", "there is no --buffer 'n'"),
                           ("@a,@b", "a list that begins with an address begins with words:"), ("words:lane", "wrong at 'lane'"),
                           ("0x100000000", "'0x100000000' has more than 32 bits"), ("1<<32", "has more than 32 bits"),
                           ("1/0", "division by zero"), ("99999999999999999999", "wrong at '99999999999999999999'"),
                           ("-", "wrong at its end"), ("(" * 100, "wrong at"), ("-" * 10000, "wrong at"), ("zeros:", "expected zeros:BYTES"),
                           ("zeros:x", "expected zeros:BYTES"), ("zeros:0", "expected zeros:BYTES"), ("x", "'x' is no array")):
            self.refused(why, self.vecadd("--buffer"), [f"x={value}"])

    def test_allocate_at(self):
        run = self.vecadd()
        for value, why in (("a=x", "--allocate-at a=x: expected an address that is a multiple of 0x1000"), ("a=0x1001", "a multiple of 0x1000"),
                           ("a=0", "a multiple of 0x1000"), ("n=0x1000", "argument 'n' of vecadd is no buffer"), ("q=0x1000", "no argument 'q'"),
                           ("a=0x800000000000", "expected a range from 0x1000"), ("a", "expected NAME=ADDRESS")):
            self.refused(why, run, "--allocate-at", value)
        self.refused("overlap", run, "--allocate-at a=0x1000 --allocate-at b=0x1000")
        self.refused("the buffer is at 0x1000 already", run, "--allocate-at a=0x1000 --allocate-at a=0x2000")
        self.refused("it is a part of another buffer", self.vecadd("--allocate-at", "b=0x1000", b="same:a+4"))
        # 32-bit pointers with a fixed high half.
        self.assemble("gfx900", "s_mov_b32 s5, 0xffff8000\ns_load_dword s6, s[4:5], 0x0\nv_mov_b32 v0, 0\ns_waitcnt lgkmcnt(0)\n"
                      "v_mov_b32 v1, s6\nglobal_store_dword v0, v1, s[2:3]\ns_endpgm")
        self.run_tool("run k.bin -m gfx900 -g 1 -b 1 --arg 0=fill:u32:4:77 --allocate-at 0=0xffff800000001000 --buffer out=zeros:4",
                      "--sgpr 2=@out --sgpr 4=@0.lo --expect out=words:77")

    def test_symbols(self):
        """The example of --help, and other forms."""
        self.path("chain.s", CHAIN)
        self.run_tool("asm -m gfx900 chain.s -o chain.co")
        run = "run chain.co -g 64 -b 64 --arg list=words:@a,@b --buffer a=zeros:256 --buffer b=iota:f32:64"
        self.run_tool(run, "--symbol scale=f32:1,2,3,4 --out symbol:count=count.npy --out symbol:scale=scale.npy --out a=a.bin")
        self.assertEqual(self.read("count.npy"), npy("<u4", "(1,)", pack("u32", [67])))
        self.assertEqual(self.read("scale.npy"), npy("<f4", "(4,)", pack("f32", [1, 2, 3, 4])))
        self.assertEqual(self.read("a.bin"), pack("f32", [2 * i for i in range(64)]))
        # Written before its dispatch only; symbols keep their values from one to the next.
        self.run_tool(run, "--symbol count=1 --then --then --symbol count=100 --expect symbol:count=words:164")
        self.run_tool(run, "--symbol count=1 --then --then --expect symbol:count=words:193")
        self.path("scale.npy", npy("<f4", "(4,)", pack("f32", [0, 5, 0, 0])))
        for value in ("@scale.npy", "words:0,5.0,0,0", "bytes:00000000" + pack("f32", [5]).hex() + "0" * 16):
            self.run_tool(run, "--symbol", [f"scale={value}"], "--out a=a.bin")
            self.assertEqual(self.read("a.bin")[4:8], pack("f32", [5]), value)
        # A list in the variable itself: its address.
        self.run_tool("run chain.co -g 4 -b 4 --arg list=same:symbol:scale --symbol scale=words:@a,@b --buffer a=zeros:16",
                      "--buffer b=iota:f32:4 --expect symbol:count=words:7")
        self.run_tool("run chain.co -g 2 -b 2 --arg list=words:@symbol:scale,@b --symbol scale=f32:1,2,3,4 --buffer b=fill:f32:2:1",
                      "--expect symbol:scale=fill:f32:4:2:1", code=2)
        self.run_tool("run chain.co -g 2 -b 2 --arg list=words:@symbol:scale,@b --symbol scale=f32:1,2,3,4 --buffer b=fill:f32:2:1",
                      "--out symbol:scale=scale.bin")
        self.assertEqual(self.read("scale.bin"), pack("f32", [2, 2, 3, 4]))
        for value, why in (("scale=fill:f32:3:1", "--symbol scale: 12 bytes given; the symbol has 16"), ("q=3", "no symbol 'q' in the code object"),
                           ("scale=3", "a plain number cannot fill 16 bytes"), ("count=x", "--symbol count: 'x' is no"),
                           ("count=5000000000", "does not fit into u32"), ("scale=words:@q,0,0", "no argument 'q'"), ("count", "expected NAME=VALUE")):
            self.refused(why, run, "--symbol", value)
        self.refused("--out symbol:q: no symbol 'q'", run, "--out symbol:q=q.bin")
        self.refused("it is a part of the code object", run, "--allocate-at symbol:scale=0x1000")

    def test_final_registers(self):
        """The wave of another workgroup; a wave that faults, and one that another one's fault ends."""
        self.assemble("gfx900", "s_mov_b32 s7, 60\ns_mov_b32 m0, 5\nv_add_u32 v1, s6, v0\ns_cmp_eq_u32 s6, 1\ns_cbranch_scc0 L\n"
                      "s_mov_b64 vcc, 3\ns_endpgm\nL: global_load_dword v2, v1, s[4:5]\ns_endpgm")
        run = "run k.bin -m gfx900 -g 256 -b 128 --sgpr 4=@a,workgroup-id-x --vgpr 0=workitem-id-x --buffer a=zeros:4096 --registers r.json"
        self.run_tool(run, "--of 1,0,0:1")
        one = json.loads(self.read("r.json"))
        self.assertEqual([one[key] for key in ("kernel", "workgroup", "wave", "wave_size", "faulted", "offset", "instructions", "m0", "scc",
                                               "vcc_lo", "vcc_hi", "exec_hi")],
                         ["raw", [1, 0, 0], 1, 64, False, 24, 6, 5, 1, 3, 0, 2**32 - 1])
        self.assertEqual((one["sgprs"][6:8], one["vgprs"][1]), ([1, 60], list(range(65, 129))))
        self.assertEqual((len(one["sgprs"]), len(one["vgprs"]), len(one["agprs"]), len(one["ttmps"])), (102, 256, 0, 16))
        self.run_tool(run)
        zero = json.loads(self.read("r.json"))
        self.assertEqual((zero["workgroup"], zero["wave"], zero["offset"], zero["scc"], zero["vcc_lo"]), ([0, 0, 0], 0, 36, 0, 0))
        os.remove(self.path("r.json"))
        self.run_tool(run, "--register s[4:5]=0 --of 1", code=3)  # the first workgroup faults before
        self.assertFalse(os.path.exists(self.path("r.json")))
        self.run_tool(run, "--register s[4:5]=0 --of 0,0,0:0", code=3)
        faulted = json.loads(self.read("r.json"))
        self.assertEqual((faulted["faulted"], faulted["offset"], faulted["sgprs"][4:6]), (True, 28, [0, 0]))
        self.assertEqual(set(one), set(faulted))
        # A kernel, observed, with another dispatch before.
        self.run_tool(self.vecadd("--then", "--registers", "r.json", "--of", "1:0", "--check-waits"))
        kernel = json.loads(self.read("r.json"))
        self.assertEqual((kernel["kernel"], kernel["target"], len(kernel["vgprs"])), ("vecadd", "gfx900", 8))
        for words, why in (("--of 2", "--of 2,0,0:0: there are 2 x 1 x 1 workgroups of 2 waves"), ("--of 1:2", "workgroups of 2 waves"),
                           ("--of x", "expected a workgroup and a wave, X,Y,Z:WAVE"), ("--of 0:", "expected a workgroup and a wave"),
                           ("--of 1,2,3,4:0", "expected a workgroup and a wave"), ("--of 4294967296", "expected a workgroup and a wave"),
                           ("--registers missing/r.json", "--registers missing/r.json: cannot be written")):
            self.refused(why, run, words)
        self.refused("--of is for --registers FILE", self.vecadd("--of", "0"))
        schema_file = os.path.join(os.path.dirname(__file__), "..", "..", "docs", "schema", "registers.json")
        with open(schema_file, encoding="utf-8") as file:
            schema = json.load(file)
        try:
            import jsonschema
        except ImportError:
            self.skipTest("python3-jsonschema is not installed")
        jsonschema.Draft7Validator.check_schema(schema)
        for report in one, zero, faulted, kernel:
            jsonschema.Draft7Validator(schema).validate(report)

    def test_errors(self):
        self.assemble("gfx900", "s_endpgm")
        run = "run k.bin -m gfx900 -g 64 -b 64 --buffer out=zero:u32:4"
        for option, value, why in (
                ("sgpr", "4", "expected NUMBER=VALUE"), ("sgpr", "x=4", "expected the number of a register"), ("sgpr", "4=@q", "--sgpr 4=@q: raw has no argument 'q'"),
                ("sgpr", "4=lane", "wrong at 'lane'"), ("sgpr", "4=workgroup-id", "did you mean workgroup-id-x?"), ("sgpr", "4=5,", "wrong at its end"),
                ("sgpr", "4=workitem-id-x", "'s4' cannot hold this"), ("sgpr", "999=1", "'s999': not a register of gfx900"),
                ("sgpr", "101=@out", "'s102'"), ("sgpr", "9" * 99 + "=1", "expected the number"), ("sgpr", "4=@" + "q" * 5000, "no argument"),
                ("sgpr", "4=0x123456789", "has more than 32 bits"), ("vgpr", "5=workgroup-id-x", "'v5' cannot hold this"), ("vgpr", "300=1", "'v300': not a register"),
                ("vgpr", "5=@q.npy", "q.npy: cannot be read"), ("vgpr", "5=lane)", "expected ',' or the end at ')'"), ("vgpr", "5=lane4", "wrong at 'lane4'"),
                ("vgpr", "5=lane/(lane-3)", "division by zero"), ("register", "zz=3", "'zz': not a register"), ("register", "s[4:5=1", "expected registers such as s[4:7]"),
                ("register", "s[5:4]=1", "expected registers such as s[4:7]"), ("register", "s[4:6]=1,2", "2 words for 3 registers"),
                ("register", "exec=1,2,3", "3 words for 2 registers"), ("register", "scc=2", "expected 0 or 1"), ("register", "pc=0", "waves begin at the kernel's entry"),
                ("register", "q" * 5000 + "=1", "no register has so long a name"), ("register", "s[0:99999]=1", "1 word for 100000 registers")):
            self.refused(why, run, f"--{option}", [value])
        self.path("short.npy", npy("<u4", "(65,)", bytes(260)))
        self.refused("'v5': 65 values; expected 1, 64", run, "--vgpr 5=@short.npy")
        self.path("bytes.npy", npy("|u1", "(256,)", bytes(256)))
        self.refused("the elements are u8; expected words of 32 bits", run, "--vgpr 5=@bytes.npy")
        self.path("job", b"-g 64 -b 64\n--sgpr 4=x\n")
        self.refused("job:2: --sgpr 4=x", "run k.bin -m gfx900 --job job")


if __name__ == "__main__":
    command.main()
