/* SPDX-License-Identifier: MIT */
/* State that changes what instructions mean: VGPR indexing, VSKIP, the branch stack; by raw code.
 *
 * Words are those of llvm-mc-19; the comments are llvm-objdump-19's text. */
#include "run_code.h"

// clang-format off
static const uint32_t indexed_source[] = {
    0x7e08028a, /* v_mov_b32_e32 v4, 10 */
    0x7e0a028b, /* v_mov_b32_e32 v5, 11 */
    0x7e0c028c, /* v_mov_b32_e32 v6, 12 */
    0x7e0e028d, /* v_mov_b32_e32 v7, 13 */
    0xbe840082, /* s_mov_b32 s4, 2 */
    0xb0057f03, /* s_movk_i32 s5, 0x7f03 */
    0xbefc00ff, 0xabcd0000, /* s_mov_b32 m0, 0xabcd0000 */
    0xbf110104, /* s_set_gpr_idx_on s4, gpr_idx(SRC0) */
    0x7e100304, /* v_mov_b32_e32 v8, v4 */
    0xbe803205, /* s_set_gpr_idx_idx s5 */
    0x68120904, /* v_add_u32_e32 v9, v4, v4 */
    0xbf9c0000, /* s_set_gpr_idx_off */
    0x7e140304, /* v_mov_b32_e32 v10, v4 */
    0x7e16027c, /* v_mov_b32_e32 v11, m0 */
    0x7e040202, /* v_mov_b32_e32 v2, s2 */
    0x7e060203, /* v_mov_b32_e32 v3, s3 */
    0xdc7c8000, 0x007f0802, /* global_store_dwordx4 v[2:3], v[8:11], off */
    0xbf810000, /* s_endpgm */
};

static const uint32_t indexed_destination[] = {
    0x7e100281, /* v_mov_b32_e32 v8, 1 */
    0x7e1202f2, /* v_mov_b32_e32 v9, 1.0 */
    0x7e0e02f6, /* v_mov_b32_e32 v7, 4.0 */
    0x7e140283, /* v_mov_b32_e32 v10, 3 */
    0x7e160284, /* v_mov_b32_e32 v11, 4 */
    0x7e080285, /* v_mov_b32_e32 v4, 5 */
    0x7e0a0286, /* v_mov_b32_e32 v5, 6 */
    0xbe840083, /* s_mov_b32 s4, 3 */
    0xbe850087, /* s_mov_b32 s5, 7 */
    0xbf110804, /* s_set_gpr_idx_on s4, gpr_idx(DST) */
    0x7e100304, /* v_mov_b32_e32 v8, v4 */
    0xbe803281, /* s_set_gpr_idx_idx 1 */
    0x2c100ef4, /* v_mac_f32_e32 v8, 2.0, v7 */
    0xd28a0008, 0x00010a05, /* v_writelane_b32 v8, s5, 5 */
    0xbf9d0006, /* s_set_gpr_idx_mode gpr_idx(SRC1,SRC2) */
    0x68140805, /* v_add_u32_e32 v10, s5, v4 */
    0xd1c30008, 0x04120904, /* v_mad_u32_u24 v8, v4, v4, v4 */
    0xbf9c0000, /* s_set_gpr_idx_off */
    0x7e040202, /* v_mov_b32_e32 v2, s2 */
    0x7e060203, /* v_mov_b32_e32 v3, s3 */
    0x24000084, /* v_lshlrev_b32_e32 v0, 4, v0 */
    0xdc7c8000, 0x00020800, /* global_store_dwordx4 v0, v[8:11], s[2:3] */
    0xbf810000, /* s_endpgm */
};

static const uint32_t indexed_sdwa[] = {
    0x7e1002ff, 0x11223344, /* v_mov_b32_e32 v8, 0x11223344 */
    0x7e1202ff, 0x55667788, /* v_mov_b32_e32 v9, 0x55667788 */
    0x7e1402ff, 0x99aabbcc, /* v_mov_b32_e32 v10, 0x99aabbcc */
    0x7e1602ff, 0xddeeff00, /* v_mov_b32_e32 v11, 0xddeeff00 */
    0x7e0802ff, 0x01020304, /* v_mov_b32_e32 v4, 0x1020304 */
    0xbf110882, /* s_set_gpr_idx_on 2, gpr_idx(DST) */
    0x7e1002f9, 0x00011204, /* v_mov_b32_sdwa v8, v4 dst_sel:BYTE_2 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_1 */
    0xbf9d0001, /* s_set_gpr_idx_mode gpr_idx(SRC0) */
    0x7e1002fa, 0xff00b108, /* v_mov_b32_dpp v8, v8 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf */
    0xbf9c0000, /* s_set_gpr_idx_off */
    0x7e040202, /* v_mov_b32_e32 v2, s2 */
    0x7e060203, /* v_mov_b32_e32 v3, s3 */
    0xdc7c8000, 0x007f0802, /* global_store_dwordx4 v[2:3], v[8:11], off */
    0xbf810000, /* s_endpgm */
};

static const uint32_t indexed_outside[] = {
    0x7e100281, /* v_mov_b32_e32 v8, 1 */
    0x7e120282, /* v_mov_b32_e32 v9, 2 */
    0x7e140283, /* v_mov_b32_e32 v10, 3 */
    0x7e160284, /* v_mov_b32_e32 v11, 4 */
    0x7e020300, /* v_mov_b32_e32 v1, v0 */
    0xb00400ff, /* s_movk_i32 s4, 0xff */
    0xbf110904, /* s_set_gpr_idx_on s4, gpr_idx(SRC0,DST) */
    0x7e100289, /* v_mov_b32_e32 v8, 9 */
    0xbf9d0001, /* s_set_gpr_idx_mode gpr_idx(SRC0) */
    0x7e1203ff, /* v_mov_b32_e32 v9, v255 */
    0x68140301, /* v_add_u32_e32 v10, v1, v1 */
    0xbf9c0000, /* s_set_gpr_idx_off */
    0x24000084, /* v_lshlrev_b32_e32 v0, 4, v0 */
    0xdc7c8000, 0x00020800, /* global_store_dwordx4 v0, v[8:11], s[2:3] */
    0xbf810000, /* s_endpgm */
};

static const uint32_t indexed_wide[] = {
    0x7e080280, /* v_mov_b32_e32 v4, 0 */
    0x7e0a02ff, 0x3ff00000, /* v_mov_b32_e32 v5, 0x3ff00000 */
    0x7e0c0280, /* v_mov_b32_e32 v6, 0 */
    0x7e0e02f4, /* v_mov_b32_e32 v7, 2.0 */
    0x7e100280, /* v_mov_b32_e32 v8, 0 */
    0x7e120280, /* v_mov_b32_e32 v9, 0 */
    0x7e140280, /* v_mov_b32_e32 v10, 0 */
    0x7e160280, /* v_mov_b32_e32 v11, 0 */
    0xbf110d82, /* s_set_gpr_idx_on 2, gpr_idx(SRC0,SRC2,DST) */
    0xd1cc0008, 0x44120d04, /* v_fma_f64 v[8:9], v[4:5], -v[6:7], v[4:5] */
    0xbf9c0000, /* s_set_gpr_idx_off */
    0x7e040202, /* v_mov_b32_e32 v2, s2 */
    0x7e060203, /* v_mov_b32_e32 v3, s3 */
    0xdc7c8000, 0x007f0802, /* global_store_dwordx4 v[2:3], v[8:11], off */
    0xbf810000, /* s_endpgm */
};

static const uint32_t indexed_branch[] = {
    0x7e080281, /* v_mov_b32_e32 v4, 1 */
    0x7e0a0282, /* v_mov_b32_e32 v5, 2 */
    0x7e0c0284, /* v_mov_b32_e32 v6, 4 */
    0x7e0e0288, /* v_mov_b32_e32 v7, 8 */
    0x7e100280, /* v_mov_b32_e32 v8, 0 */
    0xbe840080, /* s_mov_b32 s4, 0 */
    0xbf110104, /* s_set_gpr_idx_on s4, gpr_idx(SRC0) */
    0x68101104, /* v_add_u32_e32 v8, v4, v8 */
    0x80048104, /* s_add_u32 s4, s4, 1 */
    0xbf0a8404, /* s_cmp_lt_u32 s4, 4 */
    0xbf840002, /* s_cbranch_scc0 out */
    0xbf9c0000, /* s_set_gpr_idx_off */
    0xbf82fff9, /* s_branch loop */
    0xb88506c1, /* s_getreg_b32 s5, hwreg(HW_REG_MODE, 27, 1) */
    0xba001681, 0x00000000, /* s_setreg_imm32_b32 hwreg(HW_REG_MODE, 26, 3), 0 */
    0x7e120304, /* v_mov_b32_e32 v9, v4 */
    0xbefc00ff, 0x00001002, /* s_mov_b32 m0, 0x1002 */
    0xb886f801, /* s_getreg_b32 s6, hwreg(HW_REG_MODE) */
    0xbe861a9b, /* s_bitset1_b32 s6, 27 */
    0xb906f801, /* s_setreg_b32 hwreg(HW_REG_MODE), s6 */
    0x7e140304, /* v_mov_b32_e32 v10, v4 */
    0xba880006, /* s_call_b64 s[8:9], sub */
    0xbf9c0000, /* s_set_gpr_idx_off */
    0x7e040202, /* v_mov_b32_e32 v2, s2 */
    0x7e060203, /* v_mov_b32_e32 v3, s3 */
    0xdc7c8000, 0x007f0802, /* global_store_dwordx4 v[2:3], v[8:11], off */
    0xbf810000, /* s_endpgm */
    0x68161505, /* v_add_u32_e32 v11, v5, v10 */
    0xbe801d08, /* s_setpc_b64 s[8:9] */
};

static const uint32_t skipped[] = {
    0x7e100281, /* v_mov_b32_e32 v8, 1 */
    0x7e120282, /* v_mov_b32_e32 v9, 2 */
    0x7e140283, /* v_mov_b32_e32 v10, 3 */
    0x7e160284, /* v_mov_b32_e32 v11, 4 */
    0x7e040202, /* v_mov_b32_e32 v2, s2 */
    0x7e060203, /* v_mov_b32_e32 v3, s3 */
    0xbe840090, /* s_mov_b32 s4, 16 */
    0xbf108404, /* s_setvskip s4, 4 */
    0x7e100289, /* v_mov_b32_e32 v8, 9 */
    0xbe850085, /* s_mov_b32 s5, 5 */
    0xdc7c8010, 0x007f0802, /* global_store_dwordx4 v[2:3], v[8:11], off offset:16 */
    0xd81a0000, 0x00000808, /* ds_write_b32 v8, v8 */
    0xbf108304, /* s_setvskip s4, 3 */
    0x7e120205, /* v_mov_b32_e32 v9, s5 */
    0xdc7c8000, 0x007f0802, /* global_store_dwordx4 v[2:3], v[8:11], off */
    0xbf810000, /* s_endpgm */
};

static const uint32_t forks[] = {
    0xbe9c0102, /* s_mov_b64 s[28:29], s[2:3] */
    0xbe940080, /* s_mov_b32 s20, 0 */
    0x7e100280, /* v_mov_b32_e32 v8, 0 */
    0x7e120280, /* v_mov_b32_e32 v9, 0 */
    0x7d98008a, /* v_cmp_gt_u32_e32 vcc, 10, v0 */
    0xb86a0011, /* s_cbranch_i_fork vcc, inner_pass */
    0x68101081, /* v_add_u32_e32 v8, 1, v8 */
    0xbe961c00, /* s_getpc_b64 s[22:23] */
    0x8016ff16, 0x00000028, /* s_add_u32 s22, s22, 40 */
    0x82178017, /* s_addc_u32 s23, s23, 0 */
    0xd0cc0018, 0x000200b2, /* v_cmp_gt_u32_e64 s[24:25], 50, v0 */
    0xb8951741, /* s_getreg_b32 s21, hwreg(HW_REG_MODE, 29, 3) */
    0xbe9e017e, /* s_mov_b64 s[30:31], exec */
    0x94801618, /* s_cbranch_g_fork s[24:25], s[22:23] */
    0x68121282, /* v_add_u32_e32 v9, 2, v9 */
    0xbf820001, /* s_branch inner_join */
    0x68121284, /* v_add_u32_e32 v9, 4, v9 */
    0xbe802e15, /* s_cbranch_join s21 */
    0xbefe011e, /* s_mov_b64 exec, s[30:31] */
    0x68101090, /* v_add_u32_e32 v8, 16, v8 */
    0xbf820001, /* s_branch outer_join */
    0x681010a0, /* v_add_u32_e32 v8, 32, v8 */
    0xbe802e14, /* s_cbranch_join s20 */
    0xbea2017e, /* s_mov_b64 s[34:35], exec */
    0xbefe01c1, /* s_mov_b64 exec, -1 */
    0x681212c0, /* v_add_u32_e32 v9, 64, v9 */
    0xb89a1741, /* s_getreg_b32 s26, hwreg(HW_REG_MODE, 29, 3) */
    0x7e14021a, /* v_mov_b32_e32 v10, s26 */
    0x7e160223, /* v_mov_b32_e32 v11, s35 */
    0x24000084, /* v_lshlrev_b32_e32 v0, 4, v0 */
    0xdc7c8000, 0x001c0800, /* global_store_dwordx4 v0, v[8:11], s[28:29] */
    0xbf810000, /* s_endpgm */
};

static const uint32_t call_exec[] = {
    0xbafe0000, /* s_call_b64 exec, after */
    0xbe84007e, /* s_mov_b32 s4, exec_lo */
    0xbe861c00, /* s_getpc_b64 s[6:7] */
    0x8006ff06, 0x00000010, /* s_add_u32 s6, s6, 16 */
    0x82078007, /* s_addc_u32 s7, s7, 0 */
    0xbefe1e06, /* s_swappc_b64 exec, s[6:7] */
    0xbe85007e, /* s_mov_b32 s5, exec_lo */
    0xbefe0181, /* s_mov_b64 exec, 1 */
    0x7e100204, /* v_mov_b32_e32 v8, s4 */
    0x7e120205, /* v_mov_b32_e32 v9, s5 */
    0x7e040202, /* v_mov_b32_e32 v2, s2 */
    0x7e060203, /* v_mov_b32_e32 v3, s3 */
    0xdc748000, 0x007f0802, /* global_store_dwordx2 v[2:3], v[8:9], off */
    0xbf810000, /* s_endpgm */
};

static const uint32_t odd_jump[] = {
    0xbe841c00, /* s_getpc_b64 s[4:5] */
    0x80848204, /* s_sub_u32 s4, s4, 2 */
    0xbe801d04, /* s_setpc_b64 s[4:5] */
    0xbf810000, /* s_endpgm */
};

static const uint32_t movrel_gfx8[] = {
    0x7e080294, /* v_mov_b32_e32 v4, 20 */
    0x7e0a0295, /* v_mov_b32_e32 v5, 21 */
    0x7e0c0296, /* v_mov_b32_e32 v6, 22 */
    0xbefc0081, /* s_mov_b32 m0, 1 */
    0x7e106f04, /* v_movrels_b32_e32 v8, v4 */
    0x7e106d06, /* v_movreld_b32_e32 v8, v6 */
    0xbefc0086, /* s_mov_b32 m0, 6 */
    0x7e086d04, /* v_movreld_b32_e32 v4, v4 */
    0xbefc0085, /* s_mov_b32 m0, 5 */
    0x7e0c7101, /* v_movrelsd_b32_e32 v6, v1 */
    0xbefc00ff, 0x7fffffff, /* s_mov_b32 m0, 0x7fffffff */
    0x7e106d04, /* v_movreld_b32_e32 v8, v4 */
    0x7e040202, /* v_mov_b32_e32 v2, s2 */
    0x7e060203, /* v_mov_b32_e32 v3, s3 */
    0xdc7c0000, 0x00000802, /* flat_store_dwordx4 v[2:3], v[8:11] */
    0xbf810000, /* s_endpgm */
};

static const uint32_t movrel_gfx10[] = {
    0x7e080294, /* v_mov_b32_e32 v4, 20 */
    0x7e0a0295, /* v_mov_b32_e32 v5, 21 */
    0x7e0c0296, /* v_mov_b32_e32 v6, 22 */
    0x7e0e0297, /* v_mov_b32_e32 v7, 23 */
    0xbefc03ff, 0x00030001, /* s_mov_b32 m0, 0x30001 */
    0x7e109104, /* v_movrelsd_2_b32_e32 v8, v4 */
    0xbefc0382, /* s_mov_b32 m0, 2 */
    0x7e108704, /* v_movrels_b32_e32 v8, v4 */
    0x7e108507, /* v_movreld_b32_e32 v8, v7 */
    0x7e0e8905, /* v_movrelsd_b32_e32 v7, v5 */
    0x7e040202, /* v_mov_b32_e32 v2, s2 */
    0x7e060203, /* v_mov_b32_e32 v3, s3 */
    0xdc788000, 0x007d0802, /* global_store_dwordx4 v[2:3], v[8:11], off */
    0xbf810000, /* s_endpgm */
};

// clang-format on

static const struct wm_dispatch one_wave = {.grid = {64}, .workgroup = {64}};

static void indexes_sources(void **state)
{
    (void)state;
    const struct run run = RUN(indexed_source);
    assert_int_equal(run.fault.kind, WM_FAULT_NONE);
    assert_int_equal(run.result[0], 12);          /* v[4 + 2] */
    assert_int_equal(run.result[1], 13 + 10);     /* v[4 + 3] + v4: SRC1 is not indexed */
    assert_int_equal(run.result[2], 10);          /* not any more */
    assert_int_equal(run.result[3], 0xabcd1003u); /* index and operands of M0 alone change */
}

static float f32(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void indexes_destinations(void **state)
{
    (void)state;
    const struct run run = RUN(indexed_destination);
    assert_int_equal(run.fault.kind, WM_FAULT_NONE);
    for (unsigned lane = 0; lane < 64; lane++) {
        const uint32_t *v8 = run.result + 4 * lane;
        /* v9 was written through v8: v_mac_f32, and in lane 5 by v_writelane. */
        if (lane == 5)
            assert_int_equal(v8[1], 7);
        else
            assert_true(f32(v8[1]) == 2.0f * 4.0f + 1.0f);
        assert_int_equal(v8[0], 5 * 6 + 6); /* v_mad_u32_u24 with SRC1 and SRC2 one further */
        assert_int_equal(v8[2], 7 + 6);     /* v_add_u32 with SRC1 one further; SGPRs are not indexed */
        assert_int_equal(v8[3], 5);         /* v[8 + 3] */
    }
}

/* The bytes that SDWA preserves are those of the register that is written. */
static void indexes_sdwa_and_dpp(void **state)
{
    (void)state;
    const struct run run = RUN(indexed_sdwa);
    assert_int_equal(run.fault.kind, WM_FAULT_NONE);
    assert_int_equal(run.result[2], 0x9903bbccu);
    assert_int_equal(run.result[0], 0x9903bbccu); /* v8 = v[8 + 2] of the neighbour */
    assert_int_equal(run.result[1], 0x55667788u);
}

static void survives_an_index_outside(void **state)
{
    (void)state;
    const struct run run = RUN(indexed_outside);
    assert_int_equal(run.fault.kind, WM_FAULT_NONE);
    for (unsigned lane = 0; lane < 64; lane++) {
        assert_int_equal(run.result[4 * lane], 1);            /* the result was dropped */
        assert_int_equal(run.result[4 * lane + 1], lane);     /* v0 */
        assert_int_equal(run.result[4 * lane + 2], 2 * lane); /* v0 + v1 */
        assert_int_equal(run.result[4 * lane + 3], 4);
    }
}

static void indexes_pairs(void **state)
{
    (void)state;
    const struct run run = RUN(indexed_wide);
    assert_int_equal(run.fault.kind, WM_FAULT_NONE);
    assert_int_equal(run.result[2] | run.result[0] | run.result[1], 0);
    assert_int_equal(run.result[3], 0xc0000000u); /* 2.0 * -2.0 + 2.0 */
}

/* The mode stays over branches, calls and s_setreg. */
static void keeps_indexing_over_branches(void **state)
{
    (void)state;
    const struct run run = RUN(indexed_branch);
    assert_int_equal(run.fault.kind, WM_FAULT_NONE);
    assert_int_equal(run.result[0], 1 + 2 + 4 + 8);
    assert_int_equal(run.result[1], 1);     /* off by s_setreg_imm32 */
    assert_int_equal(run.result[2], 4);     /* on by s_setreg */
    assert_int_equal(run.result[3], 8 + 4); /* in the subroutine, too */
}

static void skips_vector_instructions(void **state)
{
    (void)state;
    const struct run run = RUN(skipped);
    assert_int_equal(run.fault.kind, WM_FAULT_NONE);
    static const uint32_t expected[8] = {1, 5, 3, 4};
    assert_memory_equal(run.result, expected, sizeof expected);
}

/* Two forks, one inside the other's failing part; lanes of each part and what they must have added. Code
 * that joins has its last part's EXEC, and restores it itself. */
static void forks_and_joins(void **state)
{
    (void)state;
    const struct run run = RUN(forks);
    assert_int_equal(run.fault.kind, WM_FAULT_NONE);
    for (unsigned lane = 0; lane < 64; lane++) {
        const uint32_t *v8 = run.result + 4 * lane;
        assert_int_equal(v8[0], lane < 10 ? 32 : 1 + 16);
        assert_int_equal(v8[1], 64 + (lane < 10 ? 0 : lane < 50 ? 4 : 2));
        assert_int_equal(v8[2], 0);          /* the stack is empty again */
        assert_int_equal(v8[3], UINT32_MAX); /* EXEC of the part that came last */
    }
}

static void calls_with_exec(void **state)
{
    (void)state;
    const struct run run = RUN(call_exec);
    assert_int_equal(run.fault.kind, WM_FAULT_NONE);
    assert_int_equal(run.result[0], (uint32_t)run.base + 16 + 4);
    assert_int_equal(run.result[1], (uint32_t)run.base + 16 + 28);
}

static void refuses_odd_addresses(void **state)
{
    (void)state;
    const struct run run = RUN(odd_jump);
    assert_int_equal(run.fault.kind, WM_FAULT_INSTRUCTION);
    assert_int_equal(run.fault.pc, run.base + 18);
}

static void moves_vgprs_relative_to_m0(void **state)
{
    (void)state;
    const struct run old = run_on("gfx803", movrel_gfx8, sizeof movrel_gfx8, one_wave);
    assert_int_equal(old.fault.kind, WM_FAULT_NONE);
    assert_int_equal(old.result[0], 21);
    assert_int_equal(old.result[1], 22);
    assert_int_equal(old.result[2], 20);
    assert_int_equal(old.result[3], 22);
    const struct run rdna = run_on("gfx1010", movrel_gfx10, sizeof movrel_gfx10, one_wave);
    assert_int_equal(rdna.fault.kind, WM_FAULT_NONE);
    assert_int_equal(rdna.result[0], 22); /* v[4 + 2] */
    assert_int_equal(rdna.result[1], 23); /* v[5 + 2] to v[7 + 2] */
    assert_int_equal(rdna.result[2], 23); /* to v[8 + 2] */
    assert_int_equal(rdna.result[3], 21); /* v[4 + 1] to v[8 + 3] */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(indexes_sources),
        cmocka_unit_test(indexes_destinations),
        cmocka_unit_test(indexes_sdwa_and_dpp),
        cmocka_unit_test(survives_an_index_outside),
        cmocka_unit_test(indexes_pairs),
        cmocka_unit_test(keeps_indexing_over_branches),
        cmocka_unit_test(skips_vector_instructions),
        cmocka_unit_test(forks_and_joins),
        cmocka_unit_test(calls_with_exec),
        cmocka_unit_test(refuses_odd_addresses),
        cmocka_unit_test(moves_vgprs_relative_to_m0),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
