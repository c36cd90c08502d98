/* SPDX-License-Identifier: MIT */
/* Buffer instructions that convert, by raw code: where they take their format from, and how it arrives.
 *
 * Words and comments are llvm-mc-19's. */
#include "run_code.h"

#include <math.h>

// clang-format off
static const uint32_t round_trip_gfx700[] = {
    0xbe840302, /* s_mov_b32 s4, s2 */
    0x8805ff03, 0x00040000, /* s_or_b32 s5, s3, 0x40000 */
    0xb006003c, /* s_movk_i32 s6, 0x3c */
    0xbe8703ff, 0x00050fac, /* s_mov_b32 s7, 0x50fac */
    0xbe880302, /* s_mov_b32 s8, s2 */
    0xbe890303, /* s_mov_b32 s9, s3 */
    0xbe8a03c1, /* s_mov_b32 s10, -1 */
    0xbe8b03ff, 0x00024fac, /* s_mov_b32 s11, 0x24fac */
    0x7e020d00, /* v_cvt_f32_u32_e32 v1, v0 */
    0x100202ff, 0x3c800000, /* v_mul_f32_e32 v1, 0x3c800000, v1 */
    0x7e0402f2, /* v_mov_b32_e32 v2, 1.0 */
    0x7e0602f0, /* v_mov_b32_e32 v3, 0.5 */
    0x7e0802f3, /* v_mov_b32_e32 v4, -1.0 */
    0xe01c2000, 0x80010100, /* buffer_store_format_xyzw v[1:4], v0, s[4:7], 0 idxen */
    0xbe8703ff, 0x0005080e, /* s_mov_b32 s7, 0x5080e */
    0xe00c2000, 0x80010500, /* buffer_load_format_xyzw v[5:8], v0, s[4:7], 0 idxen */
    0xbf8c0f70, /* s_waitcnt vmcnt(0) */
    0x3a0a0d05, /* v_xor_b32_e32 v5, v5, v6 */
    0x380a0f05, /* v_or_b32_e32 v5, v5, v7 */
    0x34140082, /* v_lshlrev_b32_e32 v10, 2, v0 */
    0xe0701100, 0x8002080a, /* buffer_store_dword v8, v10, s[8:11], 0 offen offset:256 */
    0xe0701200, 0x8002050a, /* buffer_store_dword v5, v10, s[8:11], 0 offen offset:512 */
    0x7e1802c1, /* v_mov_b32_e32 v12, -1 */
    0xea192001, 0x80010b00, /* tbuffer_load_format_xy v[11:12], v0, s[4:7], 0 format:[BUF_DATA_FORMAT_8_8,BUF_NUM_FORMAT_UINT] idxen offset:1 */
    0xbf8c0f70, /* s_waitcnt vmcnt(0) */
    0x34181890, /* v_lshlrev_b32_e32 v12, 16, v12 */
    0x3816190b, /* v_or_b32_e32 v11, v11, v12 */
    0xbf8c0f70, /* s_waitcnt vmcnt(0) */
    0xe0701300, 0x80020b0a, /* buffer_store_dword v11, v10, s[8:11], 0 offen offset:768 */
    0xbf810000, /* s_endpgm */
};

static const uint32_t round_trip_gfx803[] = {
    0xbe840002, /* s_mov_b32 s4, s2 */
    0x8705ff03, 0x00040000, /* s_or_b32 s5, s3, 0x40000 */
    0xb00600f0, /* s_movk_i32 s6, 0xf0 */
    0xbe8700ff, 0x00050fac, /* s_mov_b32 s7, 0x50fac */
    0xbe880002, /* s_mov_b32 s8, s2 */
    0xbe890003, /* s_mov_b32 s9, s3 */
    0xbe8a00c1, /* s_mov_b32 s10, -1 */
    0xbe8b00ff, 0x00024fac, /* s_mov_b32 s11, 0x24fac */
    0x7e020d00, /* v_cvt_f32_u32_e32 v1, v0 */
    0x0a0202ff, 0x3c800000, /* v_mul_f32_e32 v1, 0x3c800000, v1 */
    0x7e0402f2, /* v_mov_b32_e32 v2, 1.0 */
    0x7e0602f0, /* v_mov_b32_e32 v3, 0.5 */
    0x7e0802f3, /* v_mov_b32_e32 v4, -1.0 */
    0xe01c2000, 0x80010100, /* buffer_store_format_xyzw v[1:4], v0, s[4:7], 0 idxen */
    0xbe8700ff, 0x0005080e, /* s_mov_b32 s7, 0x5080e */
    0xe00c2000, 0x80010500, /* buffer_load_format_xyzw v[5:8], v0, s[4:7], 0 idxen */
    0xbf8c0f70, /* s_waitcnt vmcnt(0) */
    0x2a0a0d05, /* v_xor_b32_e32 v5, v5, v6 */
    0x280a0f05, /* v_or_b32_e32 v5, v5, v7 */
    0x24140082, /* v_lshlrev_b32_e32 v10, 2, v0 */
    0xe0701100, 0x8002080a, /* buffer_store_dword v8, v10, s[8:11], 0 offen offset:256 */
    0xe0701200, 0x8002050a, /* buffer_store_dword v5, v10, s[8:11], 0 offen offset:512 */
    0x7e1802c1, /* v_mov_b32_e32 v12, -1 */
    0xea1ca001, 0x80010b00, /* tbuffer_load_format_d16_xy v[11:12], v0, s[4:7], 0 format:[BUF_DATA_FORMAT_8_8,BUF_NUM_FORMAT_UINT] idxen offset:1 */
    0xbf8c0f70, /* s_waitcnt vmcnt(0) */
    0x24181890, /* v_lshlrev_b32_e32 v12, 16, v12 */
    0x2816190b, /* v_or_b32_e32 v11, v11, v12 */
    0xbf8c0f70, /* s_waitcnt vmcnt(0) */
    0xe0701300, 0x80020b0a, /* buffer_store_dword v11, v10, s[8:11], 0 offen offset:768 */
    0xbf810000, /* s_endpgm */
};

static const uint32_t round_trip_gfx900[] = {
    0xbe840002, /* s_mov_b32 s4, s2 */
    0x8705ff03, 0x00040000, /* s_or_b32 s5, s3, 0x40000 */
    0xb006003c, /* s_movk_i32 s6, 0x3c */
    0xbe8700ff, 0x00050fac, /* s_mov_b32 s7, 0x50fac */
    0xbe880002, /* s_mov_b32 s8, s2 */
    0xbe890003, /* s_mov_b32 s9, s3 */
    0xbe8a00c1, /* s_mov_b32 s10, -1 */
    0xbe8b00ff, 0x00024fac, /* s_mov_b32 s11, 0x24fac */
    0x7e020d00, /* v_cvt_f32_u32_e32 v1, v0 */
    0x0a0202ff, 0x3c800000, /* v_mul_f32_e32 v1, 0x3c800000, v1 */
    0x7e0402f2, /* v_mov_b32_e32 v2, 1.0 */
    0x7e0602f0, /* v_mov_b32_e32 v3, 0.5 */
    0x7e0802f3, /* v_mov_b32_e32 v4, -1.0 */
    0xe01c2000, 0x80010100, /* buffer_store_format_xyzw v[1:4], v0, s[4:7], 0 idxen */
    0xbe8700ff, 0x0005080e, /* s_mov_b32 s7, 0x5080e */
    0xe00c2000, 0x80010500, /* buffer_load_format_xyzw v[5:8], v0, s[4:7], 0 idxen */
    0xbf8c0f70, /* s_waitcnt vmcnt(0) */
    0x2a0a0d05, /* v_xor_b32_e32 v5, v5, v6 */
    0x280a0f05, /* v_or_b32_e32 v5, v5, v7 */
    0x24140082, /* v_lshlrev_b32_e32 v10, 2, v0 */
    0xe0701100, 0x8002080a, /* buffer_store_dword v8, v10, s[8:11], 0 offen offset:256 */
    0xe0701200, 0x8002050a, /* buffer_store_dword v5, v10, s[8:11], 0 offen offset:512 */
    0x7e1802c1, /* v_mov_b32_e32 v12, -1 */
    0xe0042000, 0x80810c00, /* buffer_load_format_xy v[12:14], v0, s[4:7], 0 idxen tfe */
    0xea1ca001, 0x80010b00, /* tbuffer_load_format_d16_xy v11, v0, s[4:7], 0 format:[BUF_DATA_FORMAT_8_8,BUF_NUM_FORMAT_UINT] idxen offset:1 */
    0xbf8c0f70, /* s_waitcnt vmcnt(0) */
    0x68161d0b, /* v_add_u32_e32 v11, v11, v14 */
    0xbf8c0f70, /* s_waitcnt vmcnt(0) */
    0xe0701300, 0x80020b0a, /* buffer_store_dword v11, v10, s[8:11], 0 offen offset:768 */
    0xbf810000, /* s_endpgm */
};

static const uint32_t round_trip_gfx1030[] = {
    0xbe840302, /* s_mov_b32 s4, s2 */
    0x8805ff03, 0x00040000, /* s_or_b32 s5, s3, 0x40000 */
    0xb006003c, /* s_movk_i32 s6, 0x3c */
    0xbe8703ff, 0x01038fac, /* s_mov_b32 s7, 0x1038fac */
    0xbe880302, /* s_mov_b32 s8, s2 */
    0xbe890303, /* s_mov_b32 s9, s3 */
    0xbe8a03c1, /* s_mov_b32 s10, -1 */
    0xbe8b03ff, 0x31016fac, /* s_mov_b32 s11, 0x31016fac */
    0x7e020d00, /* v_cvt_f32_u32_e32 v1, v0 */
    0x100202ff, 0x3c800000, /* v_mul_f32_e32 v1, 0x3c800000, v1 */
    0x7e0402f2, /* v_mov_b32_e32 v2, 1.0 */
    0x7e0602f0, /* v_mov_b32_e32 v3, 0.5 */
    0x7e0802f3, /* v_mov_b32_e32 v4, -1.0 */
    0xe01c2000, 0x80010100, /* buffer_store_format_xyzw v[1:4], v0, s[4:7], 0 idxen */
    0xbe8703ff, 0x0103880e, /* s_mov_b32 s7, 0x103880e */
    0xe00c2000, 0x80010500, /* buffer_load_format_xyzw v[5:8], v0, s[4:7], 0 idxen */
    0xbf8c3f70, /* s_waitcnt vmcnt(0) */
    0x3a0a0d05, /* v_xor_b32_e32 v5, v5, v6 */
    0x380a0f05, /* v_or_b32_e32 v5, v5, v7 */
    0x34140082, /* v_lshlrev_b32_e32 v10, 2, v0 */
    0xe0701100, 0x8002080a, /* buffer_store_dword v8, v10, s[8:11], 0 offen offset:256 */
    0xe0701200, 0x8002050a, /* buffer_store_dword v5, v10, s[8:11], 0 offen offset:512 */
    0xe8912001, 0x80210b00, /* tbuffer_load_format_d16_xy v11, v0, s[4:7], 0 format:[BUF_FMT_8_8_UINT] idxen offset:1 */
    0xbf8c3f70, /* s_waitcnt vmcnt(0) */
    0xe0701300, 0x80020b0a, /* buffer_store_dword v11, v10, s[8:11], 0 offen offset:768 */
    0xbf810000, /* s_endpgm */
};

static const uint32_t round_trip_gfx1100[] = {
    0xbe840002, /* s_mov_b32 s4, s2 */
    0x8c05ff03, 0x00040000, /* s_or_b32 s5, s3, 0x40000 */
    0xb006003c, /* s_movk_i32 s6, 0x3c */
    0xbe8700ff, 0x0002afac, /* s_mov_b32 s7, 0x2afac */
    0xbe880002, /* s_mov_b32 s8, s2 */
    0xbe890003, /* s_mov_b32 s9, s3 */
    0xbe8a00c1, /* s_mov_b32 s10, -1 */
    0xbe8b00ff, 0x31016fac, /* s_mov_b32 s11, 0x31016fac */
    0x7e020d00, /* v_cvt_f32_u32_e32 v1, v0 */
    0x100202ff, 0x3c800000, /* v_mul_f32_e32 v1, 0x3c800000, v1 */
    0x7e0402f2, /* v_mov_b32_e32 v2, 1.0 */
    0x7e0602f0, /* v_mov_b32_e32 v3, 0.5 */
    0x7e0802f3, /* v_mov_b32_e32 v4, -1.0 */
    0xe01c0000, 0x80810100, /* buffer_store_format_xyzw v[1:4], v0, s[4:7], 0 idxen */
    0xbe8700ff, 0x0002a80e, /* s_mov_b32 s7, 0x2a80e */
    0xe00c0000, 0x80810500, /* buffer_load_format_xyzw v[5:8], v0, s[4:7], 0 idxen */
    0xbf8903f7, /* s_waitcnt vmcnt(0) */
    0x3a0a0d05, /* v_xor_b32_e32 v5, v5, v6 */
    0x380a0f05, /* v_or_b32_e32 v5, v5, v7 */
    0x30140082, /* v_lshlrev_b32_e32 v10, 2, v0 */
    0xe0680100, 0x8042080a, /* buffer_store_b32 v8, v10, s[8:11], 0 offen offset:256 */
    0xe0680200, 0x8042050a, /* buffer_store_b32 v5, v10, s[8:11], 0 offen offset:512 */
    0xe8948001, 0x80810b00, /* tbuffer_load_d16_format_xy v11, v0, s[4:7], 0 format:[BUF_FMT_8_8_UINT] idxen offset:1 */
    0xbf8903f7, /* s_waitcnt vmcnt(0) */
    0xe0680300, 0x80420b0a, /* buffer_store_b32 v11, v10, s[8:11], 0 offen offset:768 */
    0xbfb00000, /* s_endpgm */
};

static const uint32_t round_trip_gfx1200[] = {
    0xbe840002, /* s_mov_b32 s4, s2 */
    0x8c05ff03, 0x00040000, /* s_or_b32 s5, s3, 0x40000 */
    0xb006003c, /* s_movk_i32 s6, 0x3c */
    0xbe8700ff, 0x0002afac, /* s_mov_b32 s7, 0x2afac */
    0xbe880002, /* s_mov_b32 s8, s2 */
    0xbe890003, /* s_mov_b32 s9, s3 */
    0xbe8a00c1, /* s_mov_b32 s10, -1 */
    0xbe8b00ff, 0x31016fac, /* s_mov_b32 s11, 0x31016fac */
    0x7e020d00, /* v_cvt_f32_u32_e32 v1, v0 */
    0x100202ff, 0x3c800000, /* v_mul_f32_e32 v1, 0x3c800000, v1 */
    0x7e0402f2, /* v_mov_b32_e32 v2, 1.0 */
    0x7e0602f0, /* v_mov_b32_e32 v3, 0.5 */
    0x7e0802f3, /* v_mov_b32_e32 v4, -1.0 */
    0xc401c07c, 0x80800801, 0x00000000, /* buffer_store_format_xyzw v[1:4], v0, s[4:7], null idxen */
    0xbe8700ff, 0x0002a80e, /* s_mov_b32 s7, 0x2a80e */
    0xc400c07c, 0x80800805, 0x00000000, /* buffer_load_format_xyzw v[5:8], v0, s[4:7], null idxen */
    0x3a0a0d05, /* v_xor_b32_e32 v5, v5, v6 */
    0x380a0f05, /* v_or_b32_e32 v5, v5, v7 */
    0x30140082, /* v_lshlrev_b32_e32 v10, 2, v0 */
    0xc406807c, 0x40801008, 0x0001000a, /* buffer_store_b32 v8, v10, s[8:11], null offen offset:256 */
    0xc406807c, 0x40801005, 0x0002000a, /* buffer_store_b32 v5, v10, s[8:11], null offen offset:512 */
    0xc422407c, 0x8900080b, 0x00000100, /* tbuffer_load_d16_format_xy v11, v0, s[4:7], null format:[BUF_FMT_8_8_UINT] idxen offset:1 */
    0xc406807c, 0x4080100b, 0x0003000a, /* buffer_store_b32 v11, v10, s[8:11], null offen offset:768 */
    0xbfb00000, /* s_endpgm */
};

static const uint32_t halves_gfx803[] = {
    0xbe840002, /* s_mov_b32 s4, s2 */
    0x8705ff03, 0x00080000, /* s_or_b32 s5, s3, 0x80000 */
    0xb0060400, /* s_movk_i32 s6, 0x400 */
    0xbe8700ff, 0x00067fac, /* s_mov_b32 s7, 0x67fac */
    0x7e020d00, /* v_cvt_f32_u32_e32 v1, v0 */
    0x7e021501, /* v_cvt_f16_f32_e32 v1, v1 */
    0x7e0402ff, 0x0000c000, /* v_mov_b32_e32 v2, 0xc000 */
    0x7e0602ff, 0x00003800, /* v_mov_b32_e32 v3, 0x3800 */
    0x7e080281, /* v_mov_b32_e32 v4, 1 */
    0xebe7a000, 0x80010100, /* tbuffer_store_format_d16_xyzw v[1:4], v0, s[4:7], 0 format:[BUF_DATA_FORMAT_16_16_16_16,BUF_NUM_FORMAT_FLOAT] idxen */
    0x7e0a02c1, /* v_mov_b32_e32 v5, -1 */
    0x7e0c02c1, /* v_mov_b32_e32 v6, -1 */
    0x7e0e02c1, /* v_mov_b32_e32 v7, -1 */
    0x7e1002c1, /* v_mov_b32_e32 v8, -1 */
    0xbf8c0f70, /* s_waitcnt vmcnt(0) */
    0xe0282000, 0x80010500, /* buffer_load_format_d16_xyz v[5:7], v0, s[4:7], 0 idxen */
    0xbf8c0f70, /* s_waitcnt vmcnt(0) */
    0x240c0c90, /* v_lshlrev_b32_e32 v6, 16, v6 */
    0x280a0d05, /* v_or_b32_e32 v5, v5, v6 */
    0xe0702200, 0x80010500, /* buffer_store_dword v5, v0, s[4:7], 0 idxen offset:512 */
    0xe0702204, 0x80010700, /* buffer_store_dword v7, v0, s[4:7], 0 idxen offset:516 */
    0xbf810000, /* s_endpgm */
};

static const uint32_t halves_gfx900[] = {
    0xbe840002, /* s_mov_b32 s4, s2 */
    0x8705ff03, 0x00080000, /* s_or_b32 s5, s3, 0x80000 */
    0xb0060400, /* s_movk_i32 s6, 0x400 */
    0xbe8700ff, 0x00067fac, /* s_mov_b32 s7, 0x67fac */
    0x7e020d00, /* v_cvt_f32_u32_e32 v1, v0 */
    0x7e021501, /* v_cvt_f16_f32_e32 v1, v1 */
    0x7e0402ff, 0x0000c000, /* v_mov_b32_e32 v2, 0xc000 */
    0xd2000001, 0x04052102, /* v_lshl_or_b32 v1, v2, 16, v1 */
    0x7e0402ff, 0x00013800, /* v_mov_b32_e32 v2, 0x13800 */
    0xebe7a000, 0x80010100, /* tbuffer_store_format_d16_xyzw v[1:2], v0, s[4:7], 0 format:[BUF_DATA_FORMAT_16_16_16_16,BUF_NUM_FORMAT_FLOAT] idxen */
    0x7e0a02c1, /* v_mov_b32_e32 v5, -1 */
    0x7e0c02c1, /* v_mov_b32_e32 v6, -1 */
    0xbf8c0f70, /* s_waitcnt vmcnt(0) */
    0xe0282000, 0x80010500, /* buffer_load_format_d16_xyz v[5:6], v0, s[4:7], 0 idxen */
    0xbf8c0f70, /* s_waitcnt vmcnt(0) */
    0xe0702200, 0x80010500, /* buffer_store_dword v5, v0, s[4:7], 0 idxen offset:512 */
    0xe0702204, 0x80010600, /* buffer_store_dword v6, v0, s[4:7], 0 idxen offset:516 */
    0xbf810000, /* s_endpgm */
};
// clang-format on

static uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* The byte that lane / 64 is as UNORM. */
static uint32_t unorm_of(uint32_t lane)
{
    return (uint32_t)rint(lane * 255 / 64.0);
}

/* Each stores (lane / 64, 1, 0.5, -1) to 60 records of 8_8_8_8 UNORM, loads them through a DST_SEL of Z, 1, 0
 * and X, and the middle bytes as 8_8 UINT by an instruction that brings its format. */
static void round_trips(void **state)
{
#define PROGRAM(target) {#target, round_trip_##target, sizeof round_trip_##target}
    static const struct {
        const char *target;
        const uint32_t *words;
        size_t bytes;
    } programs[] = {PROGRAM(gfx700),  PROGRAM(gfx803),  PROGRAM(gfx900),
                    PROGRAM(gfx1030), PROGRAM(gfx1100), PROGRAM(gfx1200)};
    (void)state;
    for (size_t p = 0; p < sizeof programs / sizeof *programs; p++) {
        const struct run run = run_on(programs[p].target, programs[p].words, programs[p].bytes,
                                      (struct wm_dispatch){.grid = {64}, .workgroup = {64}});
        if (run.fault.kind)
            fail_msg("%s: %s", programs[p].target, run.fault.text);
        for (uint32_t i = 0; i < 64; i++) {
            const bool in = i < 60;
            const uint32_t half = bits_of(128 / 255.0f), one = bits_of(1);
            assert_int_equal(run.result[i], in ? unorm_of(i) | 255 << 8 | 128 << 16 : 0);
            assert_int_equal(run.result[64 + i], in ? bits_of((float)unorm_of(i) / 255.0f) : 0);
            assert_int_equal(run.result[128 + i], (in ? half : 0) ^ one); /* Z and 1; the third is 0 */
            assert_int_equal(run.result[192 + i], in ? 255 | 128 << 16 : 0);
        }
    }
}

static uint32_t half_of(uint32_t n)
{
    const uint32_t e = n ? 31 - (uint32_t)__builtin_clz(n) : 0;
    return n ? (e + 15) << 10 | (n << (10 - e) & 0x3ff) : 0;
}

/* Four halves, of which three are loaded again: on gfx8 each in a VGPR of its own. */
static void packed_and_unpacked(void **state)
{
    const struct wm_dispatch dispatch = {.grid = {64}, .workgroup = {64}};
    const struct run gfx8 = run_on("gfx803", halves_gfx803, sizeof halves_gfx803, dispatch);
    const struct run gfx9 = run_on("gfx900", halves_gfx900, sizeof halves_gfx900, dispatch);
    (void)state;
    assert_int_equal(gfx8.fault.kind, WM_FAULT_NONE);
    assert_int_equal(gfx9.fault.kind, WM_FAULT_NONE);
    for (uint32_t i = 0; i < 64; i++) {
        assert_int_equal(gfx9.result[2 * i], half_of(i) | 0xc0000000);
        assert_int_equal(gfx9.result[2 * i + 1], 0x3800 | 1 << 16);
        assert_int_equal(gfx9.result[128 + 2 * i], half_of(i) | 0xc0000000);
        assert_int_equal(gfx9.result[128 + 2 * i + 1], 0xffff3800); /* the half above is as it was */
        assert_int_equal(gfx8.result[128 + 2 * i + 1], 0x3800);
    }
    assert_memory_equal(gfx8.result, gfx9.result, 512);
    for (uint32_t i = 0; i < 64; i++)
        assert_int_equal(gfx8.result[128 + 2 * i], gfx9.result[128 + 2 * i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trips),
        cmocka_unit_test(packed_and_unpacked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
