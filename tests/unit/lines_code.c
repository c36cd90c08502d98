/* SPDX-License-Identifier: MIT */
/* Vector and scalar instructions that gfx10 and later have, as lines of assembly: what a wave of 32 lanes has
 * in v1 behind them, by a rule of its own for each. Lines find the lane's number in v0. */
#include "run_code.h"

#include <math.h>
#include <stdio.h>

enum { LANES = 32, TEXT = 2048 };

struct lines {
    const char *targets; /* names with a blank behind each */
    const char *text;
    uint32_t (*v1)(uint32_t lane);
};

#define GFX10 "gfx1010 gfx1030 "
#define GFX11 "gfx1100 gfx1150 "
#define GFX12 "gfx1200 "

static uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* Each rule: of lane number i. */
#define RULE(name, expression)                                                                               \
    static uint32_t name(uint32_t i)                                                                         \
    {                                                                                                        \
        (void)i;                                                                                             \
        return (uint32_t)(expression);                                                                       \
    }

RULE(swapped, 100 + i + 1000 * i)
RULE(pair_of_sums, (i + 7) * 256 + (i ^ 3))
RULE(reversed_in_8, i ^ 7)
RULE(reversed_or_0, i & 1 ? (i % 4 == 1 ? 50 : 0) : 99)
RULE(shared, (i & 16) | 3)
RULE(masked, i ^ 5)
RULE(rotated_in_row, (i & 16) | ((i + 1) & 15))
RULE(rotated_across, ((i & 16) ^ 16) | ((i + 1) & 15))
RULE(some_permuted, i < 16 ? (i < 8 ? (i < 7 ? i + 1 : 77) : 77) : 77)
RULE(by_lane, (i & 16) | ((i * 3) & 15))
RULE(low_lanes, i < 5 ? 1 : 2)
RULE(kept_s0, 0x1234)
RULE(high_half, i << 16 | 0xabcd)
RULE(f16_halves, 0x40003c00)
RULE(mixed_dot, (int32_t)(0xff * -1 + 2 * 3) + 10)
RULE(xor_of_three, i ^ 0xff ^ 0xf0f)
RULE(sum_of_floats, bits_of(3.75f))
RULE(fused_floats, bits_of(fmaf(1.1f, 1.1f, -1.21f)))
RULE(rounded_up, bits_of(nextafterf(1, 2)))
RULE(less, 1)
RULE(root, bits_of(4))
RULE(ten, 10)
RULE(forty_two, 42)
RULE(swapped_registers, i + 500)
RULE(product_of_64, 0xfffffffe)
RULE(nothing, 0)
RULE(not_a_number, 0x7fc00000)
RULE(negative_zero, 0x80000000)

static const struct lines lines[] = {
    /* pairs */
    {GFX11 GFX12,
     "v_add_nc_u32 v4, 100, v0\n v_mov_b32 v1, v0\n"
     "v_dual_mov_b32 v1, v4 :: v_dual_mov_b32 v4, v1\n v_mul_u32_u24 v4, 1000, v4\n v_add_nc_u32 v1, v1, v4",
     swapped},
    {GFX11 GFX12,
     "v_mov_b32 v3, v0\n v_mov_b32 v4, 3\n v_xor_b32 v5, v3, v4\n"
     "v_dual_mov_b32 v2, v5 :: v_dual_add_nc_u32 v3, 7, v3\n v_lshl_or_b32 v1, v3, 8, v2",
     pair_of_sums},
    /* lanes */
    {GFX10 GFX11 GFX12, "v_mov_b32_dpp v1, v0 dpp8:[7,6,5,4,3,2,1,0]", reversed_in_8},
    {GFX10 GFX11 GFX12,
     "v_mov_b32 v3, 50\n v_mov_b32 v1, 99\n s_mov_b32 exec_lo, 0xaaaaaaaa\n"
     "v_mov_b32_dpp v1, v3 dpp8:[0,3,0,0,0,7,0,6]\n s_mov_b32 exec_lo, -1",
     reversed_or_0},
    {GFX10 GFX11 GFX12,
     "s_mov_b32 exec_lo, 0xff\n v_mov_b32 v1, 0\n s_mov_b32 exec_lo, 1\n"
     "v_mov_b32_dpp v1, v0 dpp8:[5,6,5,4,3,2,1,0] fi:1\n s_mov_b32 exec_lo, -1\n"
     "v_readfirstlane_b32 s4, v1\n v_add_nc_u32 v1, s4, 5",
     ten},
    {GFX10 GFX11 GFX12, "v_mov_b32_dpp v1, v0 row_share:3 row_mask:0xf bank_mask:0xf", shared},
    {GFX10 GFX11 GFX12, "v_mov_b32_dpp v1, v0 row_xmask:5 row_mask:0xf bank_mask:0xf", masked},
    {GFX10 GFX11 GFX12,
     "s_mov_b32 exec_lo, 0xff\n v_mov_b32 v1, 0\n s_mov_b32 exec_lo, 1\n"
     "v_mov_b32_dpp v1, v0 row_xmask:5 row_mask:0xf bank_mask:0xf fi:1\n s_mov_b32 exec_lo, -1\n"
     "v_readfirstlane_b32 s4, v1\n v_add_nc_u32 v1, s4, 5",
     ten},
    {GFX10 GFX11 GFX12,
     "s_mov_b32 s4, 0x87654321\n s_mov_b32 s5, 0x0fedcba9\n v_permlane16_b32 v1, v0, s4, s5", rotated_in_row},
    {GFX10 GFX11 GFX12,
     "s_mov_b32 s4, 0x87654321\n s_mov_b32 s5, 0x0fedcba9\n v_permlanex16_b32 v1, v0, s4, s5",
     rotated_across},
    {GFX10 GFX11 GFX12,
     "s_mov_b32 s4, 0x87654321\n s_mov_b32 s5, 0x0fedcba9\n v_mov_b32 v1, 77\n s_mov_b32 exec_lo, 0xff\n"
     "v_permlane16_b32 v1, v0, s4, s5\n s_mov_b32 exec_lo, -1",
     some_permuted},
    {GFX12, "v_mul_u32_u24 v3, 3, v0\n v_permlane16_var_b32 v1, v0, v3", by_lane},
    {GFX11 GFX12, "v_mov_b32 v1, 42\n v_permlane64_b32 v1, v0", forty_two},
    /* masks of 32 lanes */
    {GFX10 GFX11 GFX12,
     "v_mov_b32 v1, 2\n v_cmp_gt_u32 vcc_lo, 5, v0\n s_and_saveexec_b32 s4, vcc_lo\n v_mov_b32 v1, 1\n"
     "s_mov_b32 exec_lo, s4",
     low_lanes},
    {GFX10 GFX11 GFX12, "v_cmp_gt_u32 s4, 5, v0\n v_cndmask_b32 v1, 2, 1, s4", low_lanes},
    {GFX10 GFX11 GFX12,
     "v_mov_b32 v1, 2\n s_mov_b32 s4, exec_lo\n v_cmpx_gt_u32 5, v0\n v_mov_b32 v1, 1\n s_mov_b32 exec_lo, "
     "s4",
     low_lanes},
    {GFX10 GFX11 GFX12,
     "s_movk_i32 s0, 0x1234\n v_cmpx_le_u32 0, v0\n s_mov_b32 exec_lo, -1\n v_mov_b32 v1, s0", kept_s0},
    {GFX10 GFX11 GFX12, "s_mov_b32 null, 5\n v_add_co_u32 v1, null, 21, 21", forty_two},
    {GFX10 GFX11 GFX12, "v_mov_b32 v1, 10\n v_add_nc_u32 v1, null, v1", ten},
    /* halves */
    {GFX11 GFX12, "v_mov_b32 v1, 0xabcd\n v_mov_b16 v1.h, v0.l", high_half},
    {GFX10 GFX11 GFX12, "v_mov_b32 v1, 0x40000000\n v_add_f16 v1, 0.5, 0.5", f16_halves},
    {GFX10 GFX11 GFX12,
     "v_mov_b32 v1, 0x3c00\n v_mov_b32 v3, 0x20000000\n v_add_nc_u16 v1, v3, v3 op_sel:[1,1,1]", f16_halves},
    /* integers */
    {GFX11 GFX12,
     "v_mov_b32 v3, 0x02ff\n v_mov_b32 v4, 0x03ff\n v_dot4_i32_iu8 v1, v3, v4, 10 neg_lo:[0,1,0]", mixed_dot},
    {GFX10 GFX11 GFX12, "v_mov_b32 v3, 0xf0f\n v_xor3_b32 v1, v0, 0xff, v3", xor_of_three},
    {GFX12,
     "s_mov_b64 s[4:5], -1\n s_mov_b64 s[6:7], 2\n s_mul_u64 s[4:5], s[4:5], s[6:7]\n v_mov_b32 v1, s4",
     product_of_64},
    /* scalar floats */
    {"gfx1150 gfx1200 ", "s_mov_b32 s4, 1.0\n s_add_f32 s5, s4, 0x40300000\n v_mov_b32 v1, s5",
     sum_of_floats},
    {"gfx1150 gfx1200 ",
     "s_mov_b32 s4, 0x3f8ccccd\n s_mov_b32 s5, 0xbf9ae148\n s_fmac_f32 s5, s4, s4\n v_mov_b32 v1, s5",
     fused_floats},
    {"gfx1150 gfx1200 ", "s_fmaak_f32 s5, 1.0, 0.5, 0x40500000\n v_mov_b32 v1, s5", sum_of_floats},
    {"gfx1150 gfx1200 ",
     "s_cmp_eq_u32 s2, s3\n s_mov_b32 s4, 1.0\n s_cmp_lt_f32 s4, 2.0\n s_cselect_b32 s4, 1, 0\n"
     "s_mov_b32 exec_lo, -1\n v_mov_b32 v1, s4",
     less},
    {"gfx1150 gfx1200 ",
     "s_cvt_f16_f32 s4, 2.0\n s_cvt_f32_f16 s4, s4\n s_add_f32 s4, s4, s4\n v_mov_b32 v1, s4", root},
    {"gfx1150 gfx1200 ", "s_mov_b32 s4, 0x44000000\n s_cvt_hi_f32_f16 s4, s4\n v_mov_b32 v1, s4", root},
    {GFX12, "s_mov_b32 s4, 0x41800000\n v_s_sqrt_f32 s5, s4\n v_mov_b32 v1, s5", root},
    {GFX12,
     "s_mov_b32 s4, 4.0\n s_mov_b32 exec_lo, 0\n v_s_sqrt_f32 s5, s4\n v_s_sqrt_f32 s6, |s5| mul:2\n"
     "s_mov_b32 exec_lo, -1\n v_mul_f32 v1, 2.0, s5",
     root},
    /* minimum and maximum */
    {GFX12, "v_minimum_f32 v1, 0x7fc00000, v0", not_a_number},
    {GFX12, "v_mov_b32 v3, 0x80000000\n v_minimum_f32 v1, 0, v3", negative_zero},
    /* state */
    {GFX10 GFX11 GFX12,
     "s_round_mode 0x1\n v_mov_b32 v3, 0x33000000\n v_add_f32 v1, 1.0, v3\n s_round_mode 0x0", rounded_up},
    {GFX10 GFX11 GFX12, "s_denorm_mode 0\n v_mov_b32 v3, 1\n v_add_f32 v1, v3, v3\n s_denorm_mode 0xf",
     nothing},
    {GFX10 GFX11 GFX12,
     "s_mov_b32 s8, 42\n s_mov_b32 m0, 0x00010002\n s_movrelsd_2_b32 s4, s6\n v_mov_b32 v1, s5", forty_two},
    {GFX10 GFX11 GFX12,
     "v_mov_b32 v1, v0\n v_add_nc_u32 v5, 0x1f4, v0\n s_mov_b32 m0, 0x00000002\n v_swaprel_b32 v1, v3",
     swapped_registers},
    {GFX10 GFX11 GFX12, "s_movk_i32 s4, 42\n s_branch 1\n s_code_end\n v_mov_b32 v1, s4", forty_two},
    {GFX11, "s_sendmsg_rtn_b32 s4, sendmsg(MSG_RTN_GET_DOORBELL)\n v_mov_b32 v1, s4", nothing},
    /* the waits and hints that hardware needs */
    {GFX11 GFX12, "s_clause 0x1\n s_delay_alu instid0(VALU_DEP_1)\n v_mov_b32 v1, 42", forty_two},
    {GFX10, "s_inst_prefetch 0x3\n s_waitcnt_vscnt null, 0x0\n s_waitcnt_depctr 0xfffe\n v_mov_b32 v1, 42",
     forty_two},
    {GFX12, "s_wait_loadcnt 0x0\n s_wait_storecnt_dscnt 0x0\n s_wait_alu 0xfffe\n v_mov_b32 v1, 42",
     forty_two},
    {GFX12, "s_barrier_signal -1\n s_barrier_wait -1\n v_mov_b32 v1, 42", forty_two},
    {GFX12,
     "s_cmp_lg_u32 s2, s2\n s_barrier_signal_isfirst -1\n s_cselect_b32 s4, 42, 0\n s_barrier_wait -1\n"
     "v_mov_b32 v1, s4",
     forty_two},
};

static struct run run_text(const char *target, const char *text)
{
    char whole[TEXT];
    char *messages = NULL;
    uint8_t *words = NULL;
    size_t size = 0;
    struct wm_diag diag = {0};
    const bool renamed = strncmp(target, "gfx10", 5) != 0;
    snprintf(whole, sizeof whole, "%s\n v_lshlrev_b32 v2, 2, v0\n %s v2, v1, s[2:3]\n s_endpgm\n", text,
             renamed ? "global_store_b32" : "global_store_dword");
    if (wm_assemble(whole, strlen(whole), "lines", target, WM_ASSEMBLE_RAW, &words, &size, &messages, &diag))
        fail_msg("%s: %s", target, messages ? messages : diag.message);
    uint32_t code[MAX_CODE];
    assert_true(size <= sizeof code);
    memcpy(code, words, size);
    const struct run run =
        run_on(target, code, size, (struct wm_dispatch){.grid = {LANES}, .workgroup = {LANES}});
    free(words);
    free(messages);
    return run;
}

static void lines_do_what_they_say(void **state)
{
    unsigned wrong = 0;
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char target[16];
        for (const char *at = lines[i].targets; *at; at += strlen(target) + 1) {
            snprintf(target, sizeof target, "%.*s", (int)strcspn(at, " "), at);
            const struct run run = run_text(target, lines[i].text);
            if (run.fault.kind != WM_FAULT_NONE) {
                print_message("%s: %s\n%s\n", target, lines[i].text, run.fault.text);
                wrong++;
                continue;
            }
            for (uint32_t lane = 0; lane < LANES; lane++) {
                if (run.result[lane] == lines[i].v1(lane))
                    continue;
                print_message("%s: %s\nlane %u: 0x%x, expected 0x%x\n", target, lines[i].text, lane,
                              run.result[lane], lines[i].v1(lane));
                wrong++;
                break;
            }
        }
    }
    assert_int_equal(wrong, 0);
}

/* ---- waves of 64 lanes ---- */

static const char kernel_text[] =
    ".text\n.globl k\n.p2align 8\n.type k,@function\nk:\n%s s[2:3], s[0:1], 0x0\n"
    "v_and_b32 v0, 0x3ff, v0\n %s\n v_lshlrev_b32 v2, 2, v0\n %s v2, v1, s[2:3]\n s_endpgm\n"
    ".rodata\n.p2align 6\n.amdhsa_kernel k\n.amdhsa_next_free_vgpr 8\n.amdhsa_next_free_sgpr 16\n"
    ".amdhsa_user_sgpr_kernarg_segment_ptr 1\n.amdhsa_kernarg_size 8\n.amdhsa_wavefront_size32 0\n"
    ".end_amdhsa_kernel\n.amdgpu_metadata\n---\namdhsa.kernels:\n  - .name: k\n    .symbol: k.kd\n"
    "    .kernarg_segment_size: 8\n    .kernarg_segment_align: 8\n    .group_segment_fixed_size: 0\n"
    "    .private_segment_fixed_size: 0\n    .wavefront_size: 64\n    .sgpr_count: 16\n    .vgpr_count: 8\n"
    "    .max_flat_workgroup_size: 64\namdhsa.target: amdgcn-amd-amdhsa--%s\namdhsa.version:\n  - 1\n  - 1\n"
    ".end_amdgpu_metadata\n";

static void run_wave64(const char *target, const char *text, uint32_t result[64])
{
    const bool renamed = strncmp(target, "gfx10", 5) != 0;
    struct wm_diag diag = {0};
    struct wm_machine *machine;
    struct wm_object *object;
    const struct wm_kernel *kernel;
    struct wm_result done = {.struct_size = sizeof done};
    char whole[TEXT], wave64[32], *messages = NULL;
    uint8_t *bytes = NULL;
    size_t size = 0;
    uint64_t buffer;
    snprintf(whole, sizeof whole, kernel_text, renamed ? "s_load_b64" : "s_load_dwordx2", text,
             renamed ? "global_store_b32" : "global_store_dword", target);
    snprintf(wave64, sizeof wave64, "%s:wave64", target);
    if (wm_assemble(whole, strlen(whole), "lines", wave64, 0, &bytes, &size, &messages, &diag))
        fail_msg("%s: %s", target, messages ? messages : diag.message);
    assert_int_equal(wm_object_open(bytes, size, "lines", NULL, &object, &diag), WM_OK);
    assert_int_equal(wm_object_find_kernel(object, "k", &kernel, &diag), WM_OK);
    assert_int_equal(wm_machine_create(target, &machine, &diag), WM_OK);
    assert_int_equal(wm_allocate(machine, 256, 0, "result", &buffer, &diag), WM_OK);
    assert_int_equal(wm_load(machine, object, &diag), WM_OK);
    const struct wm_dispatch dispatch = {.struct_size = sizeof dispatch,
                                         .arguments = &buffer,
                                         .arguments_size = sizeof buffer,
                                         .grid = {64},
                                         .workgroup = {64}};
    if (wm_dispatch(machine, object, kernel, &dispatch, &done, &diag) || done.fault.kind != WM_FAULT_NONE)
        fail_msg("%s: %s%s", target, diag.message, done.fault.text);
    assert_int_equal(wm_read(machine, buffer, result, 256, &diag), WM_OK);
    wm_machine_destroy(machine);
    wm_object_close(object);
    free(bytes);
    free(messages);
}

/* Both halves of the wave run the lines between, one after the other. */
static void halves_have_their_turns(void **state)
{
    uint32_t result[64];
    (void)state;
    for (unsigned full = 0; full < 2; full++) {
        char text[256];
        snprintf(text, sizeof text,
                 "s_mov_b32 s8, 0\n v_mov_b32 v1, 9\n s_mov_b32 exec_lo, %s\n"
                 "s_subvector_loop_begin s4, 3\n s_add_u32 s8, s8, 1\n v_mov_b32 v1, s8\n"
                 "s_subvector_loop_end s4, 0xfffd\n s_mov_b64 exec, -1",
                 full ? "-1" : "0");
        run_wave64("gfx1030", text, result);
        for (uint32_t lane = 0; lane < 64; lane++)
            assert_int_equal(result[lane], lane < 32 ? (full ? 1 : 9) : full ? 2 : 1);
    }
}

static void halves_are_exchanged(void **state)
{
    uint32_t result[64];
    (void)state;
    run_wave64(
        "gfx1100",
        "s_mov_b32 exec_lo, 0xffff\n s_mov_b32 exec_hi, 0\n v_mov_b32 v1, 99\n v_permlane64_b32 v1, v0\n"
        "s_mov_b64 exec, -1\n v_mov_b32 v1, v1",
        result);
    for (uint32_t lane = 0; lane < 16; lane++)
        assert_int_equal(result[lane], lane ^ 32);
    run_wave64("gfx1200", "v_cmp_lt_u32 s[4:5], 40, v0\n v_cndmask_b32 v1, 5, 6, s[4:5]", result);
    for (uint32_t lane = 0; lane < 64; lane++)
        assert_int_equal(result[lane], lane > 40 ? 6 : 5);
}

static void the_end_of_code_is_illegal(void **state)
{
    (void)state;
    assert_int_equal(run_text("gfx1030", "s_code_end").fault.kind, WM_FAULT_INSTRUCTION);
    assert_int_equal(run_text("gfx1200", "s_code_end").fault.kind, WM_FAULT_INSTRUCTION);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_do_what_they_say),
        cmocka_unit_test(halves_have_their_turns),
        cmocka_unit_test(halves_are_exchanged),
        cmocka_unit_test(the_end_of_code_is_illegal),
    };
    return cmocka_run_group_tests_name("lines", tests, NULL, NULL);
}
