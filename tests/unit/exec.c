/* SPDX-License-Identifier: MIT */
/* Control flow, faults and limits of the executor, by raw gfx900 code.
 *
 * Words are those of llvm-mc-19 -mcpu=gfx900; the comments are llvm-objdump-19's text. s[2:3] hold the
 * address of a result buffer: run() puts the two moves in front. */
#include "run_code.h"

// clang-format off
static const uint32_t indirect[] = {
    0xbe841c00, /* s_getpc_b64 s[4:5] */
    0x8006ff04, 0x00000038, /* s_add_u32 s6, s4, 56 */
    0x82078005, /* s_addc_u32 s7, s5, 0 */
    0xbe8a0081, /* s_mov_b32 s10, 1 */
    0xbe881e06, /* s_swappc_b64 s[8:9], s[6:7] */
    0x800aff0a, 0x00000064, /* s_add_u32 s10, s10, 0x64 */
    0x7e02020a, /* v_mov_b32_e32 v1, s10 */
    0x7e040202, /* v_mov_b32_e32 v2, s2 */
    0x7e060203, /* v_mov_b32_e32 v3, s3 */
    0xdc708000, 0x007f0102, /* global_store_dword v[2:3], v1, off */
    0xbf810000, /* s_endpgm */
    0xbf920002, /* s_trap 2 */
    0x8e0a830a, /* s_lshl_b32 s10, s10, 3 */
    0xbe801d08, /* s_setpc_b64 s[8:9] */
};

static const uint32_t call[] = {
    0xbe8a0085, /* s_mov_b32 s10, 5 */
    0xba880007, /* s_call_b64 s[8:9], target */
    0x800a870a, /* s_add_u32 s10, s10, 7 */
    0x7e02020a, /* v_mov_b32_e32 v1, s10 */
    0x7e040202, /* v_mov_b32_e32 v2, s2 */
    0x7e060203, /* v_mov_b32_e32 v3, s3 */
    0xdc708000, 0x007f0102, /* global_store_dword v[2:3], v1, off */
    0xbf810000, /* s_endpgm */
    0x920a0a0a, /* s_mul_i32 s10, s10, s10 */
    0xbe801d08, /* s_setpc_b64 s[8:9] */
};

static const uint32_t counting_loop[] = {
    0xbe840080, /* s_mov_b32 s4, 0 */
    0xbe850080, /* s_mov_b32 s5, 0 */
    0x80050405, /* s_add_u32 s5, s5, s4 */
    0x80048104, /* s_add_u32 s4, s4, 1 */
    0xbf0aff04, 0x000003e8, /* s_cmp_lt_u32 s4, 0x3e8 */
    0xbf85fffb, /* s_cbranch_scc1 top */
    0x7e020205, /* v_mov_b32_e32 v1, s5 */
    0x7e040202, /* v_mov_b32_e32 v2, s2 */
    0x7e060203, /* v_mov_b32_e32 v3, s3 */
    0xdc708000, 0x007f0102, /* global_store_dword v[2:3], v1, off */
    0xbf810000, /* s_endpgm */
};

static const uint32_t endless[] = {
    0x80048104, /* s_add_u32 s4, s4, 1 */
    0xbf82fffe, /* s_branch top */
};

static const uint32_t pointless[] = {
    0xbf800000, /* s_nop 0 */
    0xbf82fffe, /* s_branch top */
};

static const uint32_t store_again_and_again[] = {
    0x7e040202, /* v_mov_b32_e32 v2, s2 */
    0x7e060203, /* v_mov_b32_e32 v3, s3 */
    0xdc708000, 0x007f0102, /* top: global_store_dword v[2:3], v1, off */
    0xbf82fffd, /* s_branch top */
};

static const uint32_t middle[] = {
    0xbe840080, /* s_mov_b32 s4, 0 */
    0xbf850001, /* s_cbranch_scc1 inside */
    0xbe8400ff, 0xbf810000, /* s_mov_b32 s4, 0xbf810000 */
    0xbf810000, /* s_endpgm */
    0xbf810000, /* s_endpgm */
};

static const uint32_t ballot_of_ids[] = {
    0x7d9800a8, /* v_cmp_gt_u32_e32 vcc, 40, v0 */
    0xbe84206a, /* s_and_saveexec_b64 s[4:5], vcc */
    0x24080082, /* v_lshlrev_b32_e32 v4, 2, v0 */
    0x32040802, /* v_add_co_u32_e32 v2, vcc, s2, v4 */
    0x7e060203, /* v_mov_b32_e32 v3, s3 */
    0x38060680, /* v_addc_co_u32_e32 v3, vcc, 0, v3, vcc */
    0x7e020287, /* v_mov_b32_e32 v1, 7 */
    0xdc708000, 0x007f0102, /* global_store_dword v[2:3], v1, off */
    0xbf810000, /* s_endpgm */
};

static const uint32_t far_store[] = {
    0x7e040280, /* v_mov_b32_e32 v2, 0 */
    0x7e0602ff, 0x00001234, /* v_mov_b32_e32 v3, 0x1234 */
    0xdc708000, 0x007f0202, /* global_store_dword v[2:3], v2, off */
    0xbf810000, /* s_endpgm */
};

static const uint32_t trap[] = {
    0xbf920002, /* s_trap 2 */
};

static const uint32_t image[] = {
    0xf0800f00, 0x00820000, /* image_sample v[0:3], v0, s[8:15], s[16:19] dmask:0xf */
    0xbf810000, /* s_endpgm */
};

static const uint32_t mode[] = {
    0xba000801, 0x00000003, /* s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 3 */
    0x7e0202f2, /* v_mov_b32_e32 v1, 1.0 */
    0x020202ff, 0x3f7fffff, /* v_add_f32_e32 v1, 0x3f7fffff, v1 */
    0xb8840801, /* s_getreg_b32 s4, hwreg(HW_REG_MODE, 0, 2) */
    0x7e080204, /* v_mov_b32_e32 v4, s4 */
    0x7e040202, /* v_mov_b32_e32 v2, s2 */
    0x7e060203, /* v_mov_b32_e32 v3, s3 */
    0xdc708000, 0x007f0102, /* global_store_dword v[2:3], v1, off */
    0xdc708004, 0x007f0402, /* global_store_dword v[2:3], v4, off offset:4 */
    0xbf810000, /* s_endpgm */
};

static const uint32_t relative[] = {
    0xbefc0083, /* s_mov_b32 m0, 3 */
    0xbe8d00ff, 0x0000004d, /* s_mov_b32 s13, 0x4d */
    0x68080017, /* v_add_u32_e32 v4, s23, v0 */
    0x680a0017, /* v_add_u32_e32 v5, s23, v0 */
    0xbe842a0a, /* s_movrels_b32 s4, s10 */
    0xbe942c04, /* s_movreld_b32 s20, s4 */
    0x68021217, /* v_add_u32_e32 v1, s23, v9 */
    0xbefc00ff, 0x000003e8, /* s_mov_b32 m0, 0x3e8 */
    0xbe942d02, /* s_movreld_b64 s[20:21], s[2:3] */
    0x7e040202, /* v_mov_b32_e32 v2, s2 */
    0x7e060203, /* v_mov_b32_e32 v3, s3 */
    0xdc708000, 0x007f0102, /* global_store_dword v[2:3], v1, off */
    0xbf810000, /* s_endpgm */
};

/* Sums whose carries, lanes 1 to 63, are read in many ways before they are overwritten; s10 gathers a bit of
 * each. */
static const uint32_t carries[] = {
    0x7e0202c1, /* v_mov_b32_e32 v1, -1 */
    0x7e0a0280, /* v_mov_b32_e32 v5, 0 */
    0xbe8a0080, /* s_mov_b32 s10, 0 */
    0x32060101, /* v_add_co_u32_e32 v3, vcc, v1, v0 */
    0x38080b01, /* v_addc_co_u32_e32 v4, vcc, v1, v5, vcc */
    0xbe8b006b, /* s_mov_b32 s11, vcc_hi */
    0x860a810b, /* s_and_b32 s10, s11, 1 */
    0x32060101, /* v_add_co_u32_e32 v3, vcc, v1, v0 */
    0x38080b01, /* v_addc_co_u32_e32 v4, vcc, v1, v5, vcc */
    0x7e0c026a, /* v_mov_b32_e32 v6, vcc_lo */
    0xd289000b, 0x00010706, /* v_readlane_b32 s11, v6, 3 */
    0x928bff0b, 0x00010001, /* s_bfe_u32 s11, s11, 0x10001 */
    0x970a0b0a, /* s_lshl1_add_u32 s10, s10, s11 */
    0x32060101, /* v_add_co_u32_e32 v3, vcc, v1, v0 */
    0x38080b01, /* v_addc_co_u32_e32 v4, vcc, v1, v5, vcc */
    0xbf800000, /* s_nop 0 */
    0xd1000006, 0x01a90280, /* v_cndmask_b32_e64 v6, 0, 1, vcc */
    0xd289000b, 0x00011306, /* v_readlane_b32 s11, v6, 9 */
    0x970a0b0a, /* s_lshl1_add_u32 s10, s10, s11 */
    0x32060101, /* v_add_co_u32_e32 v3, vcc, v1, v0 */
    0x38080b01, /* v_addc_co_u32_e32 v4, vcc, v1, v5, vcc */
    0xbf860001, /* s_cbranch_vccz 1 */
    0x970a810a, /* s_lshl1_add_u32 s10, s10, 1 */
    0x32060101, /* v_add_co_u32_e32 v3, vcc, v1, v0 */
    0x38080b01, /* v_addc_co_u32_e32 v4, vcc, v1, v5, vcc */
    0xbeea0080, /* s_mov_b32 vcc_lo, 0 */
    0x860b816b, /* s_and_b32 s11, vcc_hi, 1 */
    0x970a0b0a, /* s_lshl1_add_u32 s10, s10, s11 */
    0x32060101, /* v_add_co_u32_e32 v3, vcc, v1, v0 */
    0x38080b01, /* v_addc_co_u32_e32 v4, vcc, v1, v5, vcc */
    0x86ea6a7e, /* s_and_b64 vcc, exec, vcc */
    0x860b816b, /* s_and_b32 s11, vcc_hi, 1 */
    0x970a0b0a, /* s_lshl1_add_u32 s10, s10, s11 */
    0x32060101, /* v_add_co_u32_e32 v3, vcc, v1, v0 */
    0x38080b01, /* v_addc_co_u32_e32 v4, vcc, v1, v5, vcc */
    0xbf850000, /* s_cbranch_scc1 0 */
    0xbf800000, /* s_nop 0 */
    0x860b816b, /* s_and_b32 s11, vcc_hi, 1 */
    0x970a0b0a, /* s_lshl1_add_u32 s10, s10, s11 */
    0xd1190c03, 0x00020101, /* v_add_co_u32_e64 v3, s[12:13], v1, v0 */
    0xd11c0c04, 0x00320b01, /* v_addc_co_u32_e64 v4, s[12:13], v1, v5, s[12:13] */
    0x32060101, /* v_add_co_u32_e32 v3, vcc, v1, v0 */
    0x38080b01, /* v_addc_co_u32_e32 v4, vcc, v1, v5, vcc */
    0x860b810d, /* s_and_b32 s11, s13, 1 */
    0x970a0b0a, /* s_lshl1_add_u32 s10, s10, s11 */
    0x7e02020a, /* v_mov_b32_e32 v1, s10 */
    0x7e040202, /* v_mov_b32_e32 v2, s2 */
    0x7e060203, /* v_mov_b32_e32 v3, s3 */
    0xdc708000, 0x007f0102, /* global_store_dword v[2:3], v1, off */
    0xbf810000, /* s_endpgm */
};

static const uint32_t endless_barriers[] = {
    0xbf8a0000, /* s_barrier */
    0xbf82fffe, /* s_branch top */
};

static const uint32_t endless_sleep[] = {
    0xbf8e0001, /* s_sleep 1 */
    0x80048104, /* s_add_u32 s4, s4, 1 */
    0xbf82fffd, /* s_branch top */
};

static const uint32_t pointless_sleep[] = {
    0xbf8e0001, /* s_sleep 1 */
    0xbf82fffe, /* s_branch top */
};

static const uint32_t endless_but_first[] = {
    0xbf068004, /* s_cmp_eq_u32 s4, 0 */
    0x850480ff, 0x00100000, /* s_cselect_b32 s4, 0x100000, 0 */
    0x80848104, /* s_sub_u32 s4, s4, 1 */
    0xbf078004, /* s_cmp_lg_u32 s4, 0 */
    0xbf85fffd, /* s_cbranch_scc1 -3 */
    0xbf810000, /* s_endpgm */
};

static const uint32_t load_null[] = {
    0xc0121f41, 0x00000000, /* s_load_dwordx16 null, s[2:3], 0x0 */
    0xbe8401eb, /* s_mov_b64 s[4:5], src_shared_base */
    0x7e020205, /* v_mov_b32_e32 v1, s5 */
    0x7e040202, /* v_mov_b32_e32 v2, s2 */
    0x7e060203, /* v_mov_b32_e32 v3, s3 */
    0xdc708000, 0x007f0102, /* global_store_dword v[2:3], v1, off */
    0xbf810000, /* s_endpgm */
};

static const uint32_t wave_id[] = {
    0xbe8400ef, /* s_mov_b32 s4, src_pops_exiting_wave_id */
    0xbf810000, /* s_endpgm */
};
// clang-format on

static void returns_from_indirect_call(void **state)
{
    (void)state;
    const struct run run = RUN(indirect);
    assert_int_equal(run.fault.kind, WM_FAULT_NONE);
    assert_int_equal(run.result[0], 1 * 8 + 100);
}

static void returns_from_direct_call(void **state)
{
    (void)state;
    const struct run run = RUN(call);
    assert_int_equal(run.fault.kind, WM_FAULT_NONE);
    assert_int_equal(run.result[0], 5 * 5 + 7);
}

static void counts_every_instruction(void **state)
{
    (void)state;
    const struct run run = RUN(counting_loop);
    assert_int_equal(run.fault.kind, WM_FAULT_NONE);
    assert_int_equal(run.result[0], 999 * 1000 / 2);
    assert_int_equal(run.wave_instructions, 2 + 2 + 4 * 1000 + 5);
}

static void stops_an_endless_loop_at_its_budget(void **state)
{
    (void)state;
    const struct run run = run_with(
        endless, sizeof endless,
        (struct wm_dispatch){.grid = {640}, .workgroup = {64}, .threads = 2, .max_instructions = 100000});
    assert_int_equal(run.fault.kind, WM_FAULT_BUDGET);
    assert_int_equal(run.fault.workgroup[0], 0);
    assert_int_equal(run.fault.pc, run.base + 16);
}

static void stops_an_endless_loop_in_time(void **state)
{
    (void)state;
    const struct run run = run_with(endless, sizeof endless,
                                    (struct wm_dispatch){.grid = {64}, .workgroup = {64}, .timeout = 0.05});
    assert_int_equal(run.fault.kind, WM_FAULT_TIMEOUT);
}

/* A loop in which nothing changes has no end: no budget is needed to know. */
static void sees_pointless_loops(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= 2; threads++) {
        const struct wm_dispatch dispatch = {
            .grid = {640}, .workgroup = {128}, .threads = threads, .timeout = 60};
        const struct run loop = run_with(pointless, sizeof pointless, dispatch);
        assert_int_equal(loop.fault.kind, WM_FAULT_DEADLOCK);
        assert_int_equal(loop.fault.pc, loop.base + 16);
        assert_int_equal(loop.fault.workgroup[0], 0);
        const struct run sleep = run_with(pointless_sleep, sizeof pointless_sleep, dispatch);
        assert_int_equal(sleep.fault.kind, WM_FAULT_DEADLOCK);
    }
    /* What stores may be what another waits for. */
    const struct run stores = run_with(
        store_again_and_again, sizeof store_again_and_again,
        (struct wm_dispatch){.grid = {64}, .workgroup = {64}, .timeout = 60, .max_instructions = 10000});
    assert_int_equal(stores.fault.kind, WM_FAULT_BUDGET);
}

/* Waves that always meet at barriers never use up a turn. */
static void stops_endless_barriers(void **state)
{
    (void)state;
    const struct run budget = run_with(
        endless_barriers, sizeof endless_barriers,
        (struct wm_dispatch){.grid = {128}, .workgroup = {128}, .timeout = 10, .max_instructions = 100000});
    assert_int_equal(budget.fault.kind, WM_FAULT_BUDGET);
    assert_int_equal(budget.fault.pc, budget.base + 16);
    const struct run time =
        run_with(endless_barriers, sizeof endless_barriers,
                 (struct wm_dispatch){.grid = {128}, .workgroup = {128}, .timeout = 0.05});
    assert_int_equal(time.fault.kind, WM_FAULT_TIMEOUT);
}

static void says_where_a_wave_sleeps(void **state)
{
    (void)state;
    const struct run run = run_with(endless_sleep, sizeof endless_sleep,
                                    (struct wm_dispatch){.grid = {64}, .max_instructions = 1000});
    assert_int_equal(run.fault.kind, WM_FAULT_BUDGET);
    assert_non_null(strstr(run.fault.text, "s_sleep 1"));
}

static bool until_one_is_done(void *user, uint64_t done, uint64_t workgroups)
{
    (void)user, (void)workgroups;
    return !done;
}

/* Also when another thread than the caller's runs what is left. */
static void stops_all_workgroups(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 20; i++) { /* the threads do not always share the workgroups that way */
        const struct run run = run_with(endless_but_first, sizeof endless_but_first,
                                        (struct wm_dispatch){.grid = {64, 1, 2},
                                                             .workgroup = {64, 1, 1},
                                                             .threads = 2,
                                                             .timeout = 10,
                                                             .progress = until_one_is_done});
        assert_int_equal(run.fault.kind, WM_FAULT_STOPPED);
    }
}

static void loads_to_nowhere(void **state)
{
    (void)state;
    const struct run run = RUN(load_null);
    assert_int_equal(run.fault.kind, WM_FAULT_NONE);
    assert_int_equal(run.result[0], 1 << 16);
}

static void refuses_what_has_no_place(void **state)
{
    (void)state;
    assert_int_equal(RUN(wave_id).fault.kind, WM_FAULT_TODO);
}

static void jumps_into_the_middle_of_an_instruction(void **state)
{
    (void)state;
    const struct run run = RUN(middle);
    assert_int_equal(run.fault.kind, WM_FAULT_NONE);
}

static void masks_lanes(void **state)
{
    (void)state;
    const struct run run = RUN(ballot_of_ids);
    assert_int_equal(run.fault.kind, WM_FAULT_NONE);
    for (unsigned i = 0; i < 64; i++)
        assert_int_equal(run.result[i], i < 40 ? 7 : 0);
}

/* 30 work-items in a workgroup of 64. */
static void runs_partial_workgroups(void **state)
{
    (void)state;
    const struct run run = run_with(ballot_of_ids, sizeof ballot_of_ids,
                                    (struct wm_dispatch){.grid = {30}, .workgroup = {64}, .threads = 1});
    for (unsigned i = 0; i < 64; i++)
        assert_int_equal(run.result[i], i < 30 ? 7 : 0);
}

static void reports_a_store_outside(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= 2; threads++) {
        const struct run run =
            run_with(far_store, sizeof far_store,
                     (struct wm_dispatch){.grid = {6400}, .workgroup = {64}, .threads = threads});
        assert_int_equal(run.fault.kind, WM_FAULT_MEMORY);
        assert_true(run.fault.store);
        assert_int_equal(run.fault.low, 0x123400000000);
        assert_int_equal(run.fault.high, 0x123400000003);
        assert_true(run.fault.lanes == UINT64_MAX);
        assert_int_equal(run.fault.workgroup[0], 0);
        assert_int_equal(run.fault.pc, run.base + 16 + 12);
        assert_non_null(strstr(run.fault.text, "global_store_dword v[2:3], v2, off"));
    }
}

static void reports_a_trap(void **state)
{
    (void)state;
    const struct run run = RUN(trap);
    assert_int_equal(run.fault.kind, WM_FAULT_TRAP);
    assert_int_equal(run.fault.pc, run.base + 16);
}

static void stops_at_what_it_cannot_do(void **state)
{
    (void)state;
    const struct run run = RUN(image);
    assert_int_equal(run.fault.kind, WM_FAULT_TODO);
    assert_non_null(strstr(run.fault.text, "image_sample v[0:3], v0, s[8:15], s[16:19] dmask:0xf"));
}

static void falls_off_the_end(void **state)
{
    (void)state;
    static const uint32_t nothing[] = {0xbf800000}; /* s_nop 0 */
    const struct run run = RUN(nothing);
    assert_int_equal(run.fault.kind, WM_FAULT_INSTRUCTION);
}

/* 1.0 + (1 - 2^-24) is a tie that rounds to 2 in the nearest mode and to 2 - 2^-23 towards zero. */
static void rounds_as_mode_says(void **state)
{
    (void)state;
    const struct run run = RUN(mode);
    assert_int_equal(run.fault.kind, WM_FAULT_NONE);
    assert_int_equal(run.result[0], 0x3fffffff);
    assert_int_equal(run.result[1], 3);
}

/* s[20 + 3] <- s[10 + 3]: what earlier instructions knew of s23 is forgotten. Past the SGPRs nothing happens.
 */
static void moves_registers_relative_to_m0(void **state)
{
    (void)state;
    const struct run run = RUN(relative);
    assert_int_equal(run.fault.kind, WM_FAULT_NONE);
    assert_int_equal(run.result[0], 77);
}

static void carries_are_there_when_read(void **state)
{
    (void)state;
    const struct run run = RUN(carries);
    assert_int_equal(run.fault.kind, WM_FAULT_NONE);
    assert_int_equal(run.result[0], 0xff);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(returns_from_indirect_call),
        cmocka_unit_test(returns_from_direct_call),
        cmocka_unit_test(counts_every_instruction),
        cmocka_unit_test(stops_an_endless_loop_at_its_budget),
        cmocka_unit_test(stops_an_endless_loop_in_time),
        cmocka_unit_test(sees_pointless_loops),
        cmocka_unit_test(stops_endless_barriers),
        cmocka_unit_test(says_where_a_wave_sleeps),
        cmocka_unit_test(stops_all_workgroups),
        cmocka_unit_test(loads_to_nowhere),
        cmocka_unit_test(refuses_what_has_no_place),
        cmocka_unit_test(jumps_into_the_middle_of_an_instruction),
        cmocka_unit_test(masks_lanes),
        cmocka_unit_test(runs_partial_workgroups),
        cmocka_unit_test(reports_a_store_outside),
        cmocka_unit_test(reports_a_trap),
        cmocka_unit_test(stops_at_what_it_cannot_do),
        cmocka_unit_test(falls_off_the_end),
        cmocka_unit_test(rounds_as_mode_says),
        cmocka_unit_test(moves_registers_relative_to_m0),
        cmocka_unit_test(carries_are_there_when_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
