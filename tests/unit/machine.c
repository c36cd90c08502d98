/* SPDX-License-Identifier: MIT */
/* Hardware registers, messages, traps and other words to the machine, by raw gfx900 code.
 *
 * Words are those of llvm-mc-19; the comments are llvm-objdump-19's text. */
#include "run_code.h"

// clang-format off
static const uint32_t registers[] = {
    0xbf060000, /* s_cmp_eq_u32 s0, s0 */
    0xb884f802, /* s_getreg_b32 s4, hwreg(HW_REG_STATUS) */
    0xb885f804, /* s_getreg_b32 s5, hwreg(HW_REG_HW_ID) */
    0xb886f805, /* s_getreg_b32 s6, hwreg(HW_REG_GPR_ALLOC) */
    0xb8874306, /* s_getreg_b32 s7, hwreg(HW_REG_LDS_ALLOC, 12, 9) */
    0xb888f80f, /* s_getreg_b32 s8, hwreg(HW_REG_SH_MEM_BASES) */
    0xb889f807, /* s_getreg_b32 s9, hwreg(HW_REG_IB_STS) */
    0xb88af803, /* s_getreg_b32 s10, hwreg(HW_REG_TRAPSTS) */
    0xb88b1901, /* s_getreg_b32 s11, hwreg(HW_REG_MODE, 4, 4) */
    0xba00f802, 0xffffffff, /* s_setreg_imm32_b32 hwreg(HW_REG_STATUS), -1 */
    0xb88c2802, /* s_getreg_b32 s12, hwreg(HW_REG_STATUS, 0, 6) */
    0xc04a0101, 0x00000000, /* s_store_dwordx4 s[4:7], s[2:3], 0x0 */
    0xc04a0201, 0x00000010, /* s_store_dwordx4 s[8:11], s[2:3], 0x10 */
    0xc0420301, 0x00000020, /* s_store_dword s12, s[2:3], 0x20 */
    0xbf810000, /* s_endpgm */
};

static const uint32_t messages[] = {
    0xbf900001, /* s_sendmsg sendmsg(MSG_INTERRUPT) */
    0xbe84017e, /* s_mov_b64 s[4:5], exec */
    0xbefe00ff, 0x80000000, /* s_mov_b32 exec_lo, 0x80000000 */
    0xbf90000a, /* s_sendmsg sendmsg(MSG_GET_DOORBELL) */
    0xbf800007, /* s_nop 7 */
    0xbf0c9f7e, /* s_bitcmp0_b32 exec_lo, 31 */
    0xbf84fffd, /* s_cbranch_scc0 ask */
    0xbe86007e, /* s_mov_b32 s6, exec_lo */
    0xbefe0104, /* s_mov_b64 exec, s[4:5] */
    0xbf920003, /* s_trap 3 */
    0xbf8d0000, /* s_sethalt 0 */
    0xbf8b0000, /* s_setkill 0 */
    0xbf8f0002, /* s_setprio 2 */
    0xbf8e0003, /* s_sleep 3 */
    0xbf830000, /* s_wakeup */
    0xbf930000, /* s_icache_inv */
    0xc0840000, 0x00000000, /* s_dcache_wb */
    0xbf940001, /* s_incperflevel 1 */
    0xbf950001, /* s_decperflevel 1 */
    0xbf960000, /* s_ttracedata */
    0xbf97ffee, /* s_cbranch_cdbgsys ask */
    0xbf98ffed, /* s_cbranch_cdbguser ask */
    0xbf99ffec, /* s_cbranch_cdbgsys_or_user ask */
    0xbf9affeb, /* s_cbranch_cdbgsys_and_user ask */
    0x80068506, /* s_add_u32 s6, s6, 5 */
    0xc0420181, 0x00000000, /* s_store_dword s6, s[2:3], 0x0 */
    0xbf9b0000, /* s_endpgm_saved */
};

static const uint32_t halts[] = {
    0xbe860085, /* s_mov_b32 s6, 5 */
    0xc0420181, 0x00000000, /* s_store_dword s6, s[2:3], 0x0 */
    0xbf8d0001, /* s_sethalt 1 */
    0xbf810000, /* s_endpgm */
};

static const uint32_t kills[] = {
    0xbe860085, /* s_mov_b32 s6, 5 */
    0xc0420181, 0x00000000, /* s_store_dword s6, s[2:3], 0x0 */
    0xbf8b0001, /* s_setkill 1 */
    0xbf920002, /* s_trap 2 */
};

static const uint32_t traps[] = {
    0xbf920007, /* s_trap 7 */
};

// clang-format on

/* The last wave to write is the second one of the last workgroup. */
static void reads_a_virtual_machine(void **state)
{
    (void)state;
    enum { SCC = 1 << 0, EXPORT_READY = 1 << 8, VCCZ = 1 << 10, IN_GROUP = 1 << 11, VALID = 1 << 16 };
    const struct run run = run_with(
        registers, sizeof registers,
        (struct wm_dispatch){.grid = {128 * 70}, .workgroup = {128}, .dynamic_lds = 1000, .threads = 1});
    assert_int_equal(run.fault.kind, WM_FAULT_NONE);
    assert_int_equal(run.result[0], SCC | EXPORT_READY | VCCZ | IN_GROUP | VALID);
    /* Workgroup 69: 5 behind the 64 units, so engine 1, unit 1, its second one; wave 1 is on SIMD 1. */
    assert_int_equal(run.result[1], 1 << 4 | 1 << 8 | 1 << 13 | 1 << 16);
    assert_int_equal(run.result[2], (256 / 4 - 1) << 8 | (112 / 16 - 1) << 24);
    assert_int_equal(run.result[3], 1024 / 256);
    assert_int_equal(run.result[4], 2 | 1 << 16); /* the apertures' bases by 2^48 */
    assert_int_equal(run.result[5], 0);
    assert_int_equal(run.result[6], 0);
    assert_int_equal(run.result[8], SCC); /* and cannot be written */
}

static void answers_messages(void **state)
{
    (void)state;
    const struct run run = RUN(messages);
    assert_int_equal(run.fault.kind, WM_FAULT_NONE);
    assert_int_equal(run.result[0], 5);
}

static void stops_where_a_wave_halts(void **state)
{
    (void)state;
    const struct run run = RUN(halts);
    assert_int_equal(run.fault.kind, WM_FAULT_TRAP);
    assert_int_equal(run.result[0], 5);
    assert_non_null(strstr(run.fault.text, "s_sethalt 1"));
}

static void ends_killed_waves(void **state)
{
    (void)state;
    const struct run run = RUN(kills);
    assert_int_equal(run.fault.kind, WM_FAULT_NONE);
    assert_int_equal(run.result[0], 5);
}

static void says_which_trap(void **state)
{
    (void)state;
    const struct run run = RUN(traps);
    assert_int_equal(run.fault.kind, WM_FAULT_TRAP);
    assert_non_null(strstr(run.fault.text, "s_trap 7"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_a_virtual_machine),  cmocka_unit_test(answers_messages),
        cmocka_unit_test(stops_where_a_wave_halts), cmocka_unit_test(ends_killed_waves),
        cmocka_unit_test(says_which_trap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
