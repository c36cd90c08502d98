/* SPDX-License-Identifier: MIT */
/* What 16-bit results leave in the other half of their VGPR, by raw code.
 *
 * Words are those of llvm-mc-19; the comments are its text. Source of the results: LLVM 19,
 * GCNSubtarget::zeroesHigh16BitsOfDest. */
#include "run_code.h"

// clang-format off
static const uint32_t zeroing[] = {
    0x7e040202, /* v_mov_b32_e32 v2, s2 */
    0x7e060203, /* v_mov_b32_e32 v3, s3 */
    0x7e0802ff, 0xa9893c00, /* v_mov_b32_e32 v4, 0xa9893c00 */
    0x7e100304, /* v_mov_b32_e32 v8, v4 */
    0x7e120304, /* v_mov_b32_e32 v9, v4 */
    0x7e140304, /* v_mov_b32_e32 v10, v4 */
    0x7e160304, /* v_mov_b32_e32 v11, v4 */
    0x4c101081, /* v_add_u16_e32 v8, 1, v8 */
    0xd1270009, 0x00010309, /* v_sub_u16_e64 v9, v9, 1 */
    0x3e140904, /* v_add_f16_e32 v10, v4, v4 */
    0x54161681, /* v_lshlrev_b16_e32 v11, 1, v11 */
    0xdc7c0000, 0x00000802, /* flat_store_dwordx4 v[2:3], v[8:11] */
    0xbf810000, /* s_endpgm */
};

static const uint32_t keeping[] = {
    0x7e040202, /* v_mov_b32_e32 v2, s2 */
    0x7e060203, /* v_mov_b32_e32 v3, s3 */
    0x7e0802ff, 0xa9893c00, /* v_mov_b32_e32 v4, 0xa9893c00 */
    0x7e100304, /* v_mov_b32_e32 v8, v4 */
    0x7e120304, /* v_mov_b32_e32 v9, v4 */
    0x7e140304, /* v_mov_b32_e32 v10, v4 */
    0x7e160304, /* v_mov_b32_e32 v11, v4 */
    0xd2040008, 0x02050504, /* v_mad_u16 v8, v4, 2, 1 */
    0xd1eb0009, 0x02050504, /* v_mad_legacy_u16 v9, v4, 2, 1 */
    0xd1f8000a, 0x02050504, /* v_max3_i16 v10, v4, 2, 1 */
    0xd206400b, 0x04120904, /* v_fma_f16 v11, v4, v4, v4 op_sel:[0,0,0,1] */
    0xdc7c0000, 0x00000802, /* flat_store_dwordx4 v[2:3], v[8:11] */
    0xbf810000, /* s_endpgm */
};

// clang-format on

static void expect(const char *target, const uint32_t *code, size_t size, const uint32_t expected[4])
{
    const struct run run = run_on(target, code, size, (struct wm_dispatch){.grid = {64}, .workgroup = {64}});
    assert_int_equal(run.fault.kind, WM_FAULT_NONE);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(run.result[i], expected[i]);
}

/* Also v_add_u16 and v_sub_u16, which have op_sel only from gfx10 on. */
static void results_zero_the_other_half(void **state)
{
    (void)state;
    static const uint32_t expected[] = {0x3c01, 0x3bff, 0x4000, 0x7800};
    expect("gfx803", zeroing, sizeof zeroing, expected);
    expect("gfx900", zeroing, sizeof zeroing, expected);
    expect("gfx906", zeroing, sizeof zeroing, expected);
}

static void rows_with_op_sel_keep_it(void **state)
{
    (void)state;
    expect("gfx900", keeping, sizeof keeping, (const uint32_t[]){0xa9897801, 0x7801, 0xa9893c00, 0x40003c00});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_zero_the_other_half),
        cmocka_unit_test(rows_with_op_sel_keep_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
