/* SPDX-License-Identifier: MIT */
/* Instructions that gfx906 added to gfx900, by raw code: that lowering gives bodies their modifiers.
 *
 * Words are those of llvm-mc-19; the comments are llvm-objdump-19's text. */
#include "run_code.h"

// clang-format off
static const uint32_t dots[] = {
    0x7e040202, /* v_mov_b32_e32 v2, s2 */
    0x7e060203, /* v_mov_b32_e32 v3, s3 */
    0x7e0802ff, 0x40003c00, /* v_mov_b32_e32 v4, 0x40003c00 */
    0x7e0a02ff, 0x44004200, /* v_mov_b32_e32 v5, 0x44004200 */
    0x7e0c02ff, 0x40a00000, /* v_mov_b32_e32 v6, 0x40a00000 */
    0xd3a34008, 0x9c1a0b04, /* v_dot2_f32_f16 v8, v4, v5, v6 neg_lo:[0,0,1] */
    0xd3a34909, 0x1c1a0b04, /* v_dot2_f32_f16 v9, v4, v5, v6 op_sel:[1,0,0] neg_hi:[1,0,0] */
    0x7e0e02ff, 0x7fff7fff, /* v_mov_b32_e32 v7, 0x7fff7fff */
    0x7e0c58c2, /* v_bfrev_b32_e32 v6, -2 */
    0xd3a6c00a, 0x1c1a0f07, /* v_dot2_i32_i16 v10, v7, v7, v6 clamp */
    0x7e0c02ff, 0x40a00000, /* v_mov_b32_e32 v6, 0x40a00000 */
    0xd3a9400b, 0x1a0e0b04, /* v_dot4_u32_u8 v11, v4, v5, 3 */
    0xdc7c8000, 0x007f0802, /* global_store_dwordx4 v[2:3], v[8:11], off */
    0xd3a01808, 0x9c1a0b04, /* v_fma_mix_f32 v8, v4, v5, -v6 op_sel:[1,1,0] op_sel_hi:[1,1,0] */
    0x7e1202ff, 0x12345678, /* v_mov_b32_e32 v9, 0x12345678 */
    0xd3a18409, 0x0c1a0d04, /* v_fma_mixlo_f16 v9, v4, v6, |v6| op_sel_hi:[1,0,0] clamp */
    0x7e1402ff, 0x12345678, /* v_mov_b32_e32 v10, 0x12345678 */
    0xd3a2000a, 0x0c1a0d04, /* v_fma_mixhi_f16 v10, v4, v6, v6 op_sel_hi:[1,0,0] */
    0x7e160306, /* v_mov_b32_e32 v11, v6 */
    0x76160d06, /* v_fmac_f32_e32 v11, v6, v6 */
    0xdc7c8010, 0x007f0802, /* global_store_dwordx4 v[2:3], v[8:11], off offset:16 */
    0x7a100b04, /* v_xnor_b32_e32 v8, v4, v5 */
    0xdc708020, 0x007f0802, /* global_store_dword v[2:3], v8, off offset:32 */
    0xbf810000, /* s_endpgm */
};

// clang-format on

static float f32(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* v4 = {1, 2}, v5 = {3, 4} as halves, v6 = 5. */
static void dots_and_mixes(void **state)
{
    (void)state;
    const struct run run =
        run_on("gfx906", dots, sizeof dots, (struct wm_dispatch){.grid = {64}, .workgroup = {64}});
    const uint32_t *result = run.result;
    assert_int_equal(run.fault.kind, WM_FAULT_NONE);
    assert_true(f32(result[0]) == 1 * 3 + 2 * 4 - 5);
    assert_true(f32(result[1]) == 2 * 3 - 2 * 4 + 5);
    assert_int_equal(result[2], INT32_MAX);
    assert_int_equal(result[3], 0x40 * 0x44 + 0x3c * 0x42 + 3);
    assert_true(f32(result[4]) == 2 * 4 - 5);
    assert_int_equal(result[5], 0x12343c00); /* 1 * 5 + 5, clamped to 1 */
    assert_int_equal(result[6], 0x49005678); /* 10 */
    assert_true(f32(result[7]) == 5 * 5 + 5);
    assert_int_equal(result[8], ~(0x40003c00u ^ 0x44004200u));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(dots_and_mixes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
