/* SPDX-License-Identifier: MIT */
/* Buffer instructions by raw gfx900 code: that lowering gives the steps what the instruction says.
 *
 * Words are those of llvm-mc-19; the comments are llvm-objdump-19's text. */
#include "run_code.h"

// clang-format off
static const uint32_t records[] = {
    0xbe840002, /* s_mov_b32 s4, s2 */
    0x8705ff03, 0x000c0000, /* s_or_b32 s5, s3, 0xc0000 */
    0xbe8600a8, /* s_mov_b32 s6, 40 */
    0xbe8700ff, 0x00024fac, /* s_mov_b32 s7, 0x24fac */
    0xb0080040, /* s_movk_i32 s8, 0x40 */
    0x7e080300, /* v_mov_b32_e32 v4, v0 */
    0x7e0a0284, /* v_mov_b32_e32 v5, 4 */
    0x680c00ff, 0x00001000, /* v_add_u32_e32 v6, 0x1000, v0 */
    0x240e0090, /* v_lshlrev_b32_e32 v7, 16, v0 */
    0xe0703004, 0x08010604, /* buffer_store_dword v6, v[4:5], s[4:7], s8 idxen offen offset:4 */
    0xe0642000, 0x08010704, /* buffer_store_byte_d16_hi v7, v4, s[4:7], s8 idxen */
    0xe0482008, 0x08010804, /* buffer_load_ushort v8, v4, s[4:7], s8 idxen offset:8 */
    0xbf8c0f70, /* s_waitcnt vmcnt(0) */
    0xd2000008, 0x04192108, /* v_lshl_or_b32 v8, v8, 16, v6 */
    0xe06c2004, 0x08010804, /* buffer_store_short_d16_hi v8, v4, s[4:7], s8 idxen offset:4 */
    0xe1086008, 0x08010504, /* buffer_atomic_add v5, v4, s[4:7], s8 idxen offset:8 glc */
    0xbe890881, /* s_brev_b32 s9, 1 */
    0xe1080000, 0x09010500, /* buffer_atomic_add v5, off, s[4:7], s9 */
    0xbf810000, /* s_endpgm */
};

static const uint32_t raw_buffer[] = {
    0xbe840002, /* s_mov_b32 s4, s2 */
    0xbe850003, /* s_mov_b32 s5, s3 */
    0xb0060188, /* s_movk_i32 s6, 0x188 */
    0xbe8700ff, 0x00024fac, /* s_mov_b32 s7, 0x24fac */
    0x24080083, /* v_lshlrev_b32_e32 v4, 3, v0 */
    0x7e0c0300, /* v_mov_b32_e32 v6, v0 */
    0x7e0e0287, /* v_mov_b32_e32 v7, 7 */
    0xe0741000, 0x80010604, /* buffer_store_dwordx2 v[6:7], v4, s[4:7], 0 offen */
    0x7e100281, /* v_mov_b32_e32 v8, 1 */
    0x7e120281, /* v_mov_b32_e32 v9, 1 */
    0x7e140281, /* v_mov_b32_e32 v10, 1 */
    0xe0581004, 0x80010804, /* buffer_load_dwordx3 v[8:10], v4, s[4:7], 0 offen offset:4 */
    0x68101308, /* v_add_u32_e32 v8, v8, v9 */
    0x68101508, /* v_add_u32_e32 v8, v8, v10 */
    0xbe8600c1, /* s_mov_b32 s6, -1 */
    0x24080082, /* v_lshlrev_b32_e32 v4, 2, v0 */
    0xe0701200, 0x80010804, /* buffer_store_dword v8, v4, s[4:7], 0 offen offset:512 */
    0xbe890083, /* s_mov_b32 s9, 3 */
    0x7e080209, /* v_mov_b32_e32 v4, s9 */
    0xe07003e8, 0x80010400, /* buffer_store_dword v4, off, s[4:7], 0 offset:1000 */
    0xe08c03e8, 0x80010400, /* buffer_load_sbyte_d16_hi v4, off, s[4:7], 0 offset:1000 */
    0xe07003ec, 0x80010400, /* buffer_store_dword v4, off, s[4:7], 0 offset:1004 */
    0xbf810000, /* s_endpgm */
};

static const uint32_t far_buffer[] = {
    0xbe840002, /* s_mov_b32 s4, s2 */
    0xbe850003, /* s_mov_b32 s5, s3 */
    0xbe8600c1, /* s_mov_b32 s6, -1 */
    0xbe8700ff, 0x00024fac, /* s_mov_b32 s7, 0x24fac */
    0xbe8800ff, 0x00010000, /* s_mov_b32 s8, 0x10000 */
    0xe0700000, 0x08010000, /* buffer_store_dword v0, off, s[4:7], s8 */
    0xbf810000, /* s_endpgm */
};

/* Text of llvm-mc-19, which has no disassembler for gfx7. */
static const uint32_t addr64_gfx7[] = {
    0x34080083, /* v_lshlrev_b32_e32 v4, 3, v0 */
    0x7e0a0280, /* v_mov_b32_e32 v5, 0 */
    0xbe840302, /* s_mov_b32 s4, s2 */
    0xbe850303, /* s_mov_b32 s5, s3 */
    0xbe860380, /* s_mov_b32 s6, 0 */
    0xbe870380, /* s_mov_b32 s7, 0 */
    0xb0080008, /* s_movk_i32 s8, 0x8 */
    0x7e0c0300, /* v_mov_b32_e32 v6, v0 */
    0x7e0e0287, /* v_mov_b32_e32 v7, 7 */
    0xe0748000, 0x80010604, /* buffer_store_dwordx2 v[6:7], v[4:5], s[4:7], 0 addr64 */
    0xbf8c0f70, /* s_waitcnt vmcnt(0) */
    0xe0308008, 0x08010804, /* buffer_load_dword v8, v[4:5], s[4:7], s8 addr64 offset:8 */
    0x7e120283, /* v_mov_b32_e32 v9, 3 */
    0xe0c8c004, 0x80010904, /* buffer_atomic_add v9, v[4:5], s[4:7], 0 addr64 offset:4 glc */
    0xbf8c0f70, /* s_waitcnt vmcnt(0) */
    0x4a101308, /* v_add_i32_e32 v8, vcc, v8, v9 */
    0x2c080881, /* v_lshrrev_b32_e32 v4, 1, v4 */
    0xe0708200, 0x80010804, /* buffer_store_dword v8, v[4:5], s[4:7], 0 addr64 offset:512 */
    0xbf810000, /* s_endpgm */
};

/* The same program in three encodings, without the waits, which wavemem does not need. */
static const uint32_t rdna_gfx1030[] = {
    0xbe840302, /* s_mov_b32 s4, s2 */
    0xbe850303, /* s_mov_b32 s5, s3 */
    0xb0060064, /* s_movk_i32 s6, 0x64 */
    0xbe8703ff, 0x31016fac, /* s_mov_b32 s7, 0x31016fac */
    0xbe880384, /* s_mov_b32 s8, 4 */
    0x34080082, /* v_lshlrev_b32_e32 v4, 2, v0 */
    0xe0701000, 0x08010004, /* buffer_store_dword v0, v4, s[4:7], s8 offen */
    0x8805ff03, 0x00080000, /* s_or_b32 s5, s3, 0x80000 */
    0xb0060014, /* s_movk_i32 s6, 0x14 */
    0xbe8703ff, 0x01016fac, /* s_mov_b32 s7, 0x1016fac */
    0xb0080100, /* s_movk_i32 s8, 0x100 */
    0x7e0a0287, /* v_mov_b32_e32 v5, 7 */
    0xe0702004, 0x08010500, /* buffer_store_dword v5, v0, s[4:7], s8 idxen offset:4 */
    0x7e0c0300, /* v_mov_b32_e32 v6, v0 */
    0xe0c86004, 0x08010600, /* buffer_atomic_add v6, v0, s[4:7], s8 idxen offset:4 glc */
    0x34080082, /* v_lshlrev_b32_e32 v4, 2, v0 */
    0x88058003, /* s_or_b32 s5, s3, 0 */
    0xbe8603c1, /* s_mov_b32 s6, -1 */
    0xbe8703ff, 0x31016fac, /* s_mov_b32 s7, 0x31016fac */
    0xe0701200, 0x80010604, /* buffer_store_dword v6, v4, s[4:7], 0 offen offset:512 */
    0xbf810000, /* s_endpgm */
};

static const uint32_t rdna_gfx1100[] = {
    0xbe840002, /* s_mov_b32 s4, s2 */
    0xbe850003, /* s_mov_b32 s5, s3 */
    0xb0060064, /* s_movk_i32 s6, 0x64 */
    0xbe8700ff, 0x31016fac, /* s_mov_b32 s7, 0x31016fac */
    0xbe880084, /* s_mov_b32 s8, 4 */
    0x30080082, /* v_lshlrev_b32_e32 v4, 2, v0 */
    0xe0680000, 0x08410004, /* buffer_store_b32 v0, v4, s[4:7], s8 offen */
    0x8c05ff03, 0x00080000, /* s_or_b32 s5, s3, 0x80000 */
    0xb0060014, /* s_movk_i32 s6, 0x14 */
    0xbe8700ff, 0x01016fac, /* s_mov_b32 s7, 0x1016fac */
    0xb0080100, /* s_movk_i32 s8, 0x100 */
    0x7e0a0287, /* v_mov_b32_e32 v5, 7 */
    0xe0680004, 0x08810500, /* buffer_store_b32 v5, v0, s[4:7], s8 idxen offset:4 */
    0x7e0c0300, /* v_mov_b32_e32 v6, v0 */
    0xe0d44004, 0x08810600, /* buffer_atomic_add_u32 v6, v0, s[4:7], s8 idxen offset:4 glc */
    0x30080082, /* v_lshlrev_b32_e32 v4, 2, v0 */
    0x8c058003, /* s_or_b32 s5, s3, 0 */
    0xbe8600c1, /* s_mov_b32 s6, -1 */
    0xbe8700ff, 0x31016fac, /* s_mov_b32 s7, 0x31016fac */
    0xe0680200, 0x80410604, /* buffer_store_b32 v6, v4, s[4:7], 0 offen offset:512 */
    0xbfb00000, /* s_endpgm */
};

static const uint32_t rdna_gfx1200[] = {
    0xbe840002, /* s_mov_b32 s4, s2 */
    0xbe850003, /* s_mov_b32 s5, s3 */
    0xb0060064, /* s_movk_i32 s6, 0x64 */
    0xbe8700ff, 0x31016fac, /* s_mov_b32 s7, 0x31016fac */
    0xbe880084, /* s_mov_b32 s8, 4 */
    0x30080082, /* v_lshlrev_b32_e32 v4, 2, v0 */
    0xc4068008, 0x40800800, 0x00000004, /* buffer_store_b32 v0, v4, s[4:7], s8 offen */
    0x8c05ff03, 0x00080000, /* s_or_b32 s5, s3, 0x80000 */
    0xb0060014, /* s_movk_i32 s6, 0x14 */
    0xbe8700ff, 0x01016fac, /* s_mov_b32 s7, 0x1016fac */
    0xb0080100, /* s_movk_i32 s8, 0x100 */
    0x7e0a0287, /* v_mov_b32_e32 v5, 7 */
    0xc4068008, 0x80800805, 0x00000400, /* buffer_store_b32 v5, v0, s[4:7], s8 idxen offset:4 */
    0x7e0c0300, /* v_mov_b32_e32 v6, v0 */
    0xc40d4008, 0x80900806, 0x00000400, /* buffer_atomic_add_u32 v6, v0, s[4:7], s8 idxen offset:4 th:TH_ATOMIC_RETURN */
    0x30080082, /* v_lshlrev_b32_e32 v4, 2, v0 */
    0x8c058003, /* s_or_b32 s5, s3, 0 */
    0xbe8600c1, /* s_mov_b32 s6, -1 */
    0xbe8700ff, 0x31016fac, /* s_mov_b32 s7, 0x31016fac */
    0xc406807c, 0x40800806, 0x00020004, /* buffer_store_b32 v6, v4, s[4:7], null offen offset:512 */
    0xbfb00000, /* s_endpgm */
};
// clang-format on

/* Records of 12 bytes from byte 64 on, 40 of them; the last atomic's soffset leads far outside. */
static void records_with_index_and_offset(void **state)
{
    (void)state;
    const struct run run = RUN(records);
    assert_int_equal(run.fault.kind, WM_FAULT_MEMORY);
    assert_non_null(strstr(run.fault.text, "buffer_atomic_add v5, off, s[4:7], s9"));
    uint32_t expected[RESULT_WORDS] = {0};
    for (uint32_t i = 0; i < 40; i++) {
        uint32_t *record = expected + 16 + 3 * i;
        record[0] = i;              /* the high half's low byte */
        record[1] = 0x1000 + i;     /* of the d16_hi store: the low half of what was loaded, at byte 4 */
        record[2] = 0x1000 + i + 4; /* byte 4 by VGPR, 4 by the instruction; then the atomic */
    }
    assert_memory_equal(run.result, expected, sizeof expected);
}

static void raw_bytes(void **state)
{
    (void)state;
    const struct run run = RUN(raw_buffer);
    assert_int_equal(run.fault.kind, WM_FAULT_NONE);
    uint32_t pairs[128] = {0};
    for (uint32_t i = 0; i < 64; i++) { /* 392 bytes are in range: 49 pairs */
        pairs[2 * i] = i < 49 ? i : 0;
        pairs[2 * i + 1] = i < 49 ? 7 : 0;
    }
    assert_memory_equal(run.result, pairs, sizeof pairs);
    for (uint32_t i = 0; i < 58; i++) { /* the dwords at 8 i + 4, + 8 and + 12 that are in range */
        uint32_t sum = 0;
        for (uint32_t k = 1; k <= 3; k++)
            sum += 2 * i + k < 98 ? pairs[2 * i + k] : 0;
        assert_int_equal(run.result[128 + i], sum);
    }
    assert_int_equal(run.result[250], 3);
    assert_int_equal(run.result[251], 3 << 16 | 3);
}

static void leaves_the_allocation(void **state)
{
    (void)state;
    const struct run run = RUN(far_buffer);
    assert_int_equal(run.fault.kind, WM_FAULT_MEMORY);
    assert_true(run.fault.store);
}

/* Eight bytes per lane; the loads come after the stores of all lanes: 16 bytes further on is two lanes up. */
static void addresses_of_64_bits(void **state)
{
    (void)state;
    const struct run run = run_on("gfx700", addr64_gfx7, sizeof addr64_gfx7,
                                  (struct wm_dispatch){.grid = {64}, .workgroup = {64}});
    assert_int_equal(run.fault.kind, WM_FAULT_NONE);
    for (uint32_t i = 0; i < 64; i++) {
        assert_int_equal(run.result[2 * i], i);
        assert_int_equal(run.result[2 * i + 1], 7 + 3);
        assert_int_equal(run.result[128 + i], (i < 62 ? i + 2 : 0) + 7);
    }
}

/* OOB_SELECT 3, 100 bytes, of which SOFFSET takes 4; OOB_SELECT 0, 20 records of 8 bytes, and an atomic. */
static void selected_checks(void **state)
{
    (void)state;
    static const struct {
        const char *target;
        const uint32_t *words;
        size_t bytes;
    } rows[] = {{"gfx1030", rdna_gfx1030, sizeof rdna_gfx1030},
                {"gfx1100", rdna_gfx1100, sizeof rdna_gfx1100},
                {"gfx1200", rdna_gfx1200, sizeof rdna_gfx1200}};
    for (unsigned r = 0; r < 3; r++) {
        const struct run run = run_on(rows[r].target, rows[r].words, rows[r].bytes,
                                      (struct wm_dispatch){.grid = {32}, .workgroup = {32}});
        assert_string_equal(run.fault.text, "");
        uint32_t expected[RESULT_WORDS] = {0};
        for (uint32_t i = 0; i < 24; i++)
            expected[1 + i] = i;
        for (uint32_t i = 0; i < 20; i++) {
            expected[64 + 2 * i + 1] = 7 + i;
            expected[128 + i] = 7;
        }
        assert_memory_equal(run.result, expected, sizeof expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_with_index_and_offset),
        cmocka_unit_test(raw_bytes),
        cmocka_unit_test(leaves_the_allocation),
        cmocka_unit_test(addresses_of_64_bits),
        cmocka_unit_test(selected_checks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
