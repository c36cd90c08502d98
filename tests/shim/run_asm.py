#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""libremu.so through ctypes, on buffers of this process.

usage: run_asm.py LIBREMU WAVEMEM
"""
import ctypes
import os
import subprocess
import sys
import tempfile
import unittest

LIBRARY, COMMAND = sys.argv[1:3]


class Range(ctypes.Structure):
    _fields_ = [("address", ctypes.c_uint64), ("size", ctypes.c_uint64), ("read_only", ctypes.c_uint32)]


class Request(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t), ("target", ctypes.c_char_p), ("code", ctypes.c_void_p),
        ("size", ctypes.c_uint64), ("groups", ctypes.c_uint32 * 3), ("workgroup", ctypes.c_uint32 * 3),
        ("rsrc2", ctypes.c_uint32), ("scratch_bytes", ctypes.c_uint32), ("lds_bytes", ctypes.c_uint32),
        ("user_sgprs", ctypes.POINTER(ctypes.c_uint32)), ("user_sgpr_count", ctypes.c_uint32),
        ("ranges", ctypes.POINTER(Range)), ("range_count", ctypes.c_size_t),
        ("max_instructions", ctypes.c_uint64), ("timeout", ctypes.c_double), ("threads", ctypes.c_uint32)]


remu = ctypes.CDLL(LIBRARY)
remu.run_asm.argtypes = [ctypes.c_void_p] + 7 * [ctypes.c_uint32] + [ctypes.c_void_p]
remu.run_asm_with.argtypes = [ctypes.POINTER(Request)]
remu.run_asm_message.restype = ctypes.c_char_p
OK, BAD_ARGUMENT, FAULT = 0, 1, 2


def assemble(text, target="gfx1100"):
    with tempfile.TemporaryDirectory() as folder:
        source, code = os.path.join(folder, "a.s"), os.path.join(folder, "a.bin")
        with open(source, "w", encoding="utf-8") as file:
            file.write(text)
        subprocess.run([COMMAND, "asm", source, "-m", target, "--raw", "-o", code], check=True)
        with open(code, "rb") as file:
            code = file.read()
    return ctypes.create_string_buffer(code + 3 * b"\0\0\0\0", len(code) + 12), len(code)


def aligned(code):
    """The code at a multiple of 256, as the hardware wants it."""
    bytes_, size = code
    memory = ctypes.create_string_buffer(size + 512)
    address = (ctypes.addressof(memory) + 255) // 256 * 256
    ctypes.memmove(address, bytes_, size)
    return memory, address, size


# out[n] = a[n] + b[n], n = ((z * 2 + y) * 3 + x) * 64 + local
ADD = """
s_load_b128 s[4:7], s[0:1], 0x0
s_load_b64 s[8:9], s[0:1], 0x10
s_lshl_b32 s15, s15, 1
s_add_i32 s14, s15, s14
s_mul_i32 s14, s14, 3
s_add_i32 s13, s14, s13
s_lshl_b32 s13, s13, 6
v_bfe_u32 v1, v0, 10, 10
v_and_b32 v0, 0x3ff, v0
v_lshl_add_u32 v0, v1, 4, v0
v_add_nc_u32 v0, s13, v0
v_lshlrev_b32 v0, 2, v0
s_waitcnt lgkmcnt(0)
global_load_b32 v1, v0, s[6:7]
global_load_b32 v2, v0, s[8:9]
s_waitcnt vmcnt(0)
v_add_f32 v1, v1, v2
global_store_b32 v0, v1, s[4:5]
s_endpgm
"""
GROUPS, LOCAL, COUNT = (3, 2, 2), (16, 4, 1), 3 * 2 * 2 * 64


class RunAsm(unittest.TestCase):
    def arrays(self):
        array = ctypes.c_float * COUNT
        return array(), array(*range(COUNT)), array(*[0.5 * i for i in range(COUNT)])

    def test_add(self):
        out, a, b = self.arrays()
        _keep, address, size = aligned(assemble(ADD))
        arguments = (ctypes.c_uint64 * 3)(*map(ctypes.addressof, (out, a, b)))
        status = remu.run_asm(address, size, *GROUPS, *LOCAL, ctypes.addressof(arguments))
        self.assertEqual(status, OK, remu.run_asm_message())
        self.assertEqual(list(out), [1.5 * i for i in range(COUNT)])

    def test_wild_address(self):
        _keep, address, size = aligned(assemble(ADD))
        out, a, _b = self.arrays()
        arguments = (ctypes.c_uint64 * 3)(ctypes.addressof(out), ctypes.addressof(a), 0x10)
        self.assertEqual(remu.run_asm(address, size, *GROUPS, *LOCAL, ctypes.addressof(arguments)), FAULT)
        self.assertIn(b"global_load_b32 v2, v0, s[8:9]", remu.run_asm_message())

    def test_bad_arguments(self):
        _keep, address, size = aligned(assemble("s_endpgm"))
        self.assertEqual(remu.run_asm(address, size, 0, 1, 1, 64, 1, 1, None), BAD_ARGUMENT)
        self.assertIn(b"dimension 0", remu.run_asm_message())
        self.assertEqual(remu.run_asm(address, size, 1, 1, 1, 2048, 1, 1, None), BAD_ARGUMENT)
        self.assertEqual(remu.run_asm(None, size, 1, 1, 1, 64, 1, 1, None), BAD_ARGUMENT)
        self.assertEqual(remu.run_asm(address, 0, 1, 1, 1, 64, 1, 1, None), BAD_ARGUMENT)
        self.assertEqual(remu.run_asm_with(None), BAD_ARGUMENT)

    def request(self, target, code, out, **members):
        keep, address, size = aligned(assemble(code, target))
        sgprs = (ctypes.c_uint32 * 2)(ctypes.addressof(out) & 0xffffffff, ctypes.addressof(out) >> 32)
        ranges = (Range * 1)(Range(ctypes.addressof(out), ctypes.sizeof(out), 0))
        request = Request(struct_size=ctypes.sizeof(Request), target=target.encode(), code=address, size=size,
                          groups=(2, 1, 1), workgroup=(64, 1, 1), rsrc2=2 << 1 | 1 << 7, user_sgprs=sgprs,
                          user_sgpr_count=2, ranges=ranges, range_count=1)
        for name, value in members.items():
            setattr(request, name, value)
        request.keep = keep, sgprs, ranges
        return request

    def test_full_form(self):
        """Workgroup ids after two user SGPRs; both wave sizes; LDS; scratch; ranges that are enforced."""
        for target, store, add in (("gfx90a", "global_store_dword", "v_add_u32"),
                                   ("gfx1030", "global_store_dword", "v_add_nc_u32"),
                                   ("gfx1100:wave64", "global_store_b32", "v_add_nc_u32"),
                                   ("gfx1030:wave64", "global_store_dword", "v_add_nc_u32")):
            with self.subTest(target=target):
                out = (ctypes.c_uint32 * 128)()
                code = f"""
                    s_lshl_b32 s2, s2, 6
                    v_and_b32 v0, 0x3ff, v0
                    {add} v1, s2, v0
                    v_lshlrev_b32 v1, 2, v1
                    {store} v1, v0, s[0:1]
                    s_endpgm
                    """
                request = self.request(target, code, out)
                self.assertEqual(remu.run_asm_with(request), OK, remu.run_asm_message())
                self.assertEqual(list(out), 2 * list(range(64)))
                request.ranges[0].size -= 4
                self.assertEqual(remu.run_asm_with(request), FAULT)
                request.ranges[0] = Range(ctypes.addressof(out), ctypes.sizeof(out), 1)
                self.assertEqual(remu.run_asm_with(request), FAULT)
                self.assertIn(b"read-only", remu.run_asm_message())

    def test_limits(self):
        out = (ctypes.c_uint32 * 4)()
        request = self.request("gfx900", "again:\ns_add_u32 s3, s3, 1\ns_branch again\n", out, max_instructions=1000)
        self.assertEqual(remu.run_asm_with(request), FAULT)
        request.user_sgpr_count = 3
        self.assertEqual(remu.run_asm_with(request), BAD_ARGUMENT)
        request = self.request("gfx900", "s_endpgm", out)
        request.target = b"gfx9999"
        self.assertEqual(remu.run_asm_with(request), BAD_ARGUMENT)
        request.target = None
        self.assertEqual(remu.run_asm_with(request), BAD_ARGUMENT)
        request.target = b"gfx1030:wave7"
        self.assertEqual(remu.run_asm_with(request), BAD_ARGUMENT)
        request.struct_size = 5
        self.assertEqual(remu.run_asm_with(request), BAD_ARGUMENT)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
