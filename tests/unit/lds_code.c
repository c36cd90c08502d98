/* SPDX-License-Identifier: MIT */
/* DS instructions from words to results, watched and unwatched: that each is decoded and lowered to its step
 * with the right registers, offsets and units. What the steps do is the matter of lds.c. */
#include "wavemem/wavemem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LANES = 64, RESULTS = 32, FIRST = 10 };

/* Assembled by llvm-mc-19 -mcpu=gfx900; s[8:9] = buffer comes before. */
static const uint32_t code[] = {
    /* clang-format off */
    0x24060082, /* v_lshlrev_b32_e32 v3, 2, v0 */
    0x24080083, /* v_lshlrev_b32_e32 v4, 3, v0 */
    0x24780087, /* v_lshlrev_b32_e32 v60, 7, v0 */
    0x7e0a02ff, 0x11223344, /* v_mov_b32_e32 v5, 0x11223344 */
    0x7e0c02ff, 0x55667788, /* v_mov_b32_e32 v6, 0x55667788 */
    0x680e00ff, 0x00000064, /* v_add_u32_e32 v7, 0x64, v0 */
    0xd81e0301, 0x00070003, /* ds_write2st64_b32 v3, v0, v7 offset0:1 offset1:3 */
    0xd89ce0a0, 0x00060504, /* ds_write2_b64 v4, v[5:6], v[6:7] offset0:160 offset1:224 */
    0xbf8cc07f, /* s_waitcnt lgkmcnt(0) */
    0xd86c0100, 0x0a000003, /* ds_read_b32 v10, v3 offset:256 */
    0xd86c0300, 0x0b000003, /* ds_read_b32 v11, v3 offset:768 */
    0xd8ec0500, 0x0c000004, /* ds_read_b64 v[12:13], v4 offset:1280 */
    0xd8eee0a0, 0x0e000004, /* ds_read2_b64 v[14:17], v4 offset0:160 offset1:224 */
    0xd8700301, 0x12000003, /* ds_read2st64_b32 v[18:19], v3 offset0:1 offset1:3 */
    0xbf8cc07f, /* s_waitcnt lgkmcnt(0) */
    0x7e2802c1, /* v_mov_b32_e32 v20, -1 */
    0x7e2a02c1, /* v_mov_b32_e32 v21, -1 */
    0xd8ae0501, 0x14000004, /* ds_read_u8_d16_hi v20, v4 offset:1281 */
    0xd8720507, 0x15000004, /* ds_read_i8 v21, v4 offset:1287 */
    0x7e2c02ff, 0x0000ff00, /* v_mov_b32_e32 v22, 0xff00 */
    0x7e2e02ff, 0x00001234, /* v_mov_b32_e32 v23, 0x1234 */
    0xd8580500, 0x18171604, /* ds_mskor_rtn_b32 v24, v4, v22, v23 offset:1280 */
    0xd8600100, 0x19060003, /* ds_cmpst_rtn_b32 v25, v3, v0, v6 offset:256 */
    0xbf8cc07f, /* s_waitcnt lgkmcnt(0) */
    0xd86c0500, 0x1a000004, /* ds_read_b32 v26, v4 offset:1280 */
    0xd86c0100, 0x1b000003, /* ds_read_b32 v27, v3 offset:256 */
    0xbefc00ff, 0x00010100, /* s_mov_b32 m0, 0x10100 */
    0xd96c0200, 0x1c000000, /* ds_read_addtid_b32 v28 offset:512 */
    0xd97c0020, 0x1d000000, /* ds_append v29 offset:32 */
    0xd97c0020, 0x1e000000, /* ds_append v30 offset:32 */
    0xbf8cc07f, /* s_waitcnt lgkmcnt(0) */
    0xd87a0c1f, 0x1f000000, /* ds_swizzle_b32 v31, v0 offset:swizzle(REVERSE,4) */
    0x2a1006ff, 0x000000fc, /* v_xor_b32_e32 v8, 0xfc, v3 */
    0xd87e0000, 0x20000708, /* ds_bpermute_b32 v32, v8, v7 */
    0xd87c0004, 0x21000708, /* ds_permute_b32 v33, v8, v7 offset:4 */
    0xd8a80002, 0x00000503, /* ds_write_b8_d16_hi v3, v5 offset:2 */
    0x7e1202ff, 0x7ffffff0, /* v_mov_b32_e32 v9, 0x7ffffff0 */
    0xd9fe0000, 0x22000009, /* ds_read_b128 v[34:37], v9 */
    0xd86a0000, 0x26000509, /* ds_add_rtn_f32 v38, v9, v5 */
    0xbf8cc07f, /* s_waitcnt lgkmcnt(0) */
    0xdc7c8000, 0x00080a3c, /* global_store_dwordx4 v60, v[10:13], s[8:9] */
    0xdc7c8010, 0x00080e3c, /* global_store_dwordx4 v60, v[14:17], s[8:9] offset:16 */
    0xdc7c8020, 0x0008123c, /* global_store_dwordx4 v60, v[18:21], s[8:9] offset:32 */
    0xdc7c8030, 0x0008183c, /* global_store_dwordx4 v60, v[24:27], s[8:9] offset:48 */
    0xdc7c8040, 0x00081c3c, /* global_store_dwordx4 v60, v[28:31], s[8:9] offset:64 */
    0xdc7c8050, 0x0008203c, /* global_store_dwordx4 v60, v[32:35], s[8:9] offset:80 */
    0xdc788060, 0x0008243c, /* global_store_dwordx3 v60, v[36:38], s[8:9] offset:96 */
    0xbf810000, /* s_endpgm */
    /* clang-format on */
};

/* What v[reg] is to hold in the end, worked out from the words above by hand. */
static uint32_t expected(unsigned reg, uint32_t lane)
{
    switch (reg) {
    case 10:
        return lane;
    case 11:
        return 100 + lane; /* st64: 3 * 64 dwords */
    case 12:
        return 0x11223344;
    case 13:
        return 0x55667788;
    case 14:
        return 0x11223344;
    case 15:
        return 0x55667788;
    case 16:
        return 0x55667788; /* DATA2 was v[6:7] */
    case 17:
        return 100 + lane;
    case 18:
        return lane;
    case 19:
        return 100 + lane;
    case 20:
        return 0x0033ffff; /* byte 1 in the high half, the low half kept */
    case 21:
        return 0x55;
    case 24:
        return 0x11223344;
    case 25:
        return lane;
    case 26:
        return 0x11221274; /* (0x11223344 & ~0xff00) | 0x1234 */
    case 27:
        return 0x55667788; /* compared with DATA, became DATA2 */
    case 28:
        return 100 + lane; /* M0[15:0] + 512 + 4 * lane = 768 + 4 * lane */
    case 29:
        return 0x55667788; /* at M0[15:0] + 32: what cmpst put there */
    case 30:
        return 0x55667788 + 64;
    case 31:
        return lane ^ 3;
    case 32:
        return 100 + (63 - lane);
    case 33:
        return 100 + (64 - lane) % 64; /* lane i sent to 63 - i + 1 */
    default:
        return 0; /* 34 to 38: out of range */
    }
}

/* The order in which registers lie in a lane's 128 bytes of results. */
static unsigned place_of(unsigned reg)
{
    return reg < 22 ? reg - FIRST : reg - FIRST - 2;
}

static void run(bool watched)
{
    struct wm_diag diag;
    struct wm_machine *machine;
    struct wm_object *object;
    struct wm_profile *profile = NULL;
    const struct wm_kernel *kernel;
    uint64_t address;
    uint32_t words[4 + sizeof code / 4];
    static uint32_t results[LANES][RESULTS];
    assert_int_equal(wm_machine_create("gfx900", &machine, &diag), WM_OK);
    assert_int_equal(wm_allocate(machine, sizeof results, 0, "results", &address, &diag), WM_OK);
    words[0] = 0xbe8800ff, words[1] = (uint32_t)address;         /* s_mov_b32 s8, low */
    words[2] = 0xbe8900ff, words[3] = (uint32_t)(address >> 32); /* s_mov_b32 s9, high */
    memcpy(words + 4, code, sizeof code);
    assert_int_equal(wm_object_open(words, sizeof words, "lds", "gfx900", &object, &diag), WM_OK);
    assert_int_equal(wm_object_find_kernel(object, NULL, &kernel, &diag), WM_OK);
    assert_int_equal(wm_load(machine, object, &diag), WM_OK);
    if (watched)
        assert_int_equal(wm_profile_create(&profile, &diag), WM_OK);
    const struct wm_dispatch dispatch = {
        .struct_size = sizeof dispatch,
        .grid = {LANES},
        .workgroup = {LANES},
        .dynamic_lds = 2304,
        .threads = 1,
        .profile = profile,
    };
    struct wm_result result = {.struct_size = sizeof result};
    assert_int_equal(wm_dispatch(machine, object, kernel, &dispatch, &result, &diag), WM_OK);
    if (result.fault.kind != WM_FAULT_NONE)
        fail_msg("%s", result.fault.text);
    assert_int_equal(wm_read(machine, address, results, sizeof results, &diag), WM_OK);
    for (unsigned reg = FIRST; reg <= 38; reg++)
        for (unsigned lane = 0; lane < LANES && reg != 22 && reg != 23; lane++)
            if (results[lane][place_of(reg)] != expected(reg, lane))
                fail_msg("v%u lane %u is %08x, not %08x", reg, lane, results[lane][place_of(reg)],
                         expected(reg, lane));
    if (watched) {
        size_t count, found = 0;
        const struct wm_profile_row *rows = wm_profile_rows(profile, &count);
        for (size_t i = 0; i < count; i++) {
            if (strcmp(rows[i].path, "DS") != 0)
                continue;
            found++;
            assert_false(rows[i].has_lines);
            assert_int_equal(rows[i].executions, 1);
            assert_int_equal(rows[i].lanes, LANES);
            if (strcmp(rows[i].text, "ds_write2st64_b32 v3, v0, v7 offset0:1 offset1:3") == 0) {
                assert_string_equal(rows[i].operation, "store");
                assert_int_equal(rows[i].bytes, 8);
                assert_int_equal(rows[i].distinct_bytes, 512);
            } else if (strncmp(rows[i].text, "ds_append", 9) == 0) {
                assert_string_equal(rows[i].operation, "atomic");
                assert_int_equal(rows[i].distinct_bytes, 4);
            } else if (strncmp(rows[i].text, "ds_read_b128", 12) == 0) {
                assert_int_equal(rows[i].bytes, 16);
                assert_int_equal(rows[i].distinct_bytes, 0); /* out of range */
            }
        }
        assert_int_equal(found, 22);
        wm_profile_destroy(profile);
    }
    wm_machine_destroy(machine);
    wm_object_close(object);
}

static void unwatched(void **state)
{
    (void)state;
    run(false);
}

static void watched(void **state)
{
    (void)state;
    run(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(unwatched), cmocka_unit_test(watched)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
