/* SPDX-License-Identifier: MIT */
/* DS instructions with a second place, LDS as a vector source, the global data share and global wave sync, by
 * raw gfx900 code.
 *
 * Words are those of llvm-mc-19; the comments are llvm-objdump-19's text. */
#include "run_code.h"

// clang-format off
static const uint32_t second_sources[] = {
    0x24020082, /* v_lshlrev_b32_e32 v1, 2, v0 */
    0x10040087, /* v_mul_u32_u24_e32 v2, 7, v0 */
    0xd81a0000, 0x00000201, /* ds_write_b32 v1, v2 */
    0xd81a0100, 0x00000001, /* ds_write_b32 v1, v0 offset:256 */
    0xbf8cc07f, /* s_waitcnt lgkmcnt(0) */
    0xd9000040, 0x00000001, /* ds_add_src2_u32 v1 offset:64 */
    0x680602ff, 0x00000100, /* v_add_u32_e32 v3, 0x100, v1 */
    0x24080081, /* v_lshlrev_b32_e32 v4, 1, v0 */
    0x6a080880, /* v_sub_u32_e32 v4, 0, v4 */
    0x24080891, /* v_lshlrev_b32_e32 v4, 17, v4 */
    0x28080704, /* v_or_b32_e32 v4, v4, v3 */
    0xd9048000, 0x00000004, /* ds_rsub_src2_u32 v4 offset:32768 */
    0xd86c0000, 0x05000001, /* ds_read_b32 v5, v1 */
    0xd86c0100, 0x06000001, /* ds_read_b32 v6, v1 offset:256 */
    0x240e0083, /* v_lshlrev_b32_e32 v7, 3, v0 */
    0x7e1202c1, /* v_mov_b32_e32 v9, -1 */
    0x7e100300, /* v_mov_b32_e32 v8, v0 */
    0xd89a0000, 0x00000807, /* ds_write_b64 v7, v[8:9] */
    0xd89a0200, 0x00000807, /* ds_write_b64 v7, v[8:9] offset:512 */
    0xd9800080, 0x00000007, /* ds_add_src2_u64 v7 offset:128 */
    0x7e1402ff, 0x000003fc, /* v_mov_b32_e32 v10, 0x3fc */
    0xd91a7f01, 0x0000000a, /* ds_write_src2_b32 v10 offset:32513 */
    0xd86c0000, 0x0a00000a, /* ds_read_b32 v10, v10 */
    0xd8ec0000, 0x08000007, /* ds_read_b64 v[8:9], v7 */
    0xbf8cc07f, /* s_waitcnt lgkmcnt(0) */
    0x7e100309, /* v_mov_b32_e32 v8, v9 */
    0x7e0e030a, /* v_mov_b32_e32 v7, v10 */
    0x24020084, /* v_lshlrev_b32_e32 v1, 4, v0 */
    0xbf800000, /* s_nop 0 */
    0xdc7c8000, 0x00020501, /* global_store_dwordx4 v1, v[5:8], s[2:3] */
    0xbf810000, /* s_endpgm */
};

static const uint32_t counted[] = {
    0xbefc00ff, 0x00400020, /* s_mov_b32 m0, 0x400020 */
    0x7e080288, /* v_mov_b32_e32 v4, 8 */
    0x7e0a0281, /* v_mov_b32_e32 v5, 1 */
    0x7e0c02a8, /* v_mov_b32_e32 v6, 40 */
    0xd8410000, 0x07000504, /* ds_add_rtn_u32 v7, v4, v5 gds */
    0xd8010000, 0x00000506, /* ds_add_u32 v6, v5 gds */
    0xbf8cc07f, /* s_waitcnt lgkmcnt(0) */
    0xbf8a0000, /* s_barrier */
    0xd86d0000, 0x07000004, /* ds_read_b32 v7, v4 gds */
    0xd86d0000, 0x08000006, /* ds_read_b32 v8, v6 gds */
    0xbefc00ff, 0x00000048, /* s_mov_b32 m0, 0x48 */
    0xd97d0000, 0x09000000, /* ds_append v9 gds */
    0xbf8cc07f, /* s_waitcnt lgkmcnt(0) */
    0x6a120f09, /* v_sub_u32_e32 v9, v9, v7 */
    0x7e040202, /* v_mov_b32_e32 v2, s2 */
    0x7e060203, /* v_mov_b32_e32 v3, s3 */
    0xdc788000, 0x007f0702, /* global_store_dwordx3 v[2:3], v[7:9], off */
    0xbf810000, /* s_endpgm */
};

static const uint32_t grid_barrier[] = {
    0xbe940006, /* s_mov_b32 s20, s6 */
    0xbefc0080, /* s_mov_b32 m0, 0 */
    0x7e020283, /* v_mov_b32_e32 v1, 3 */
    0x7e040202, /* v_mov_b32_e32 v2, s2 */
    0x7e060203, /* v_mov_b32_e32 v3, s3 */
    0x7e140280, /* v_mov_b32_e32 v10, 0 */
    0x7e0a0281, /* v_mov_b32_e32 v5, 1 */
    0xbefe0181, /* s_mov_b64 exec, 1 */
    0xc0020541, 0x00000100, /* s_load_dword s21, s[2:3], 0x100 */
    0x7e080281, /* v_mov_b32_e32 v4, 1 */
    0xdd098200, 0x067f0402, /* global_atomic_add v6, v[2:3], v4, off offset:512 glc */
    0xbf8c0f70, /* s_waitcnt vmcnt(0) */
    0x7e280506, /* v_readfirstlane_b32 s20, v6 */
    0xbf068014, /* s_cmp_eq_u32 s20, 0 */
    0xbf840005, /* s_cbranch_scc0 other */
    0xd9330004, 0x00000001, /* ds_gws_init v1 offset:4 gds */
    0xd9370005, 0x00000001, /* ds_gws_sema_br v1 offset:5 gds */
    0xbf820002, /* s_branch begin */
    0xd9390005, 0x00000000, /* ds_gws_sema_p offset:5 gds */
    0xbe960080, /* s_mov_b32 s22, 0 */
    0x8e178216, /* s_lshl_b32 s23, s22, 2 */
    0x7e0e0217, /* v_mov_b32_e32 v7, s23 */
    0xdd088000, 0x00020407, /* global_atomic_add v7, v4, s[2:3] */
    0xbf8c0f70, /* s_waitcnt vmcnt(0) */
    0xd93b0004, 0x00000001, /* ds_gws_barrier v1 offset:4 gds */
    0xdc518000, 0x08020007, /* global_load_dword v8, v7, s[2:3] glc */
    0xbf8c0f70, /* s_waitcnt vmcnt(0) */
    0x7d9a1084, /* v_cmp_ne_u32_e32 vcc, 4, v8 */
    0x38141480, /* v_addc_co_u32_e32 v10, vcc, 0, v10, vcc */
    0x80168116, /* s_add_u32 s22, s22, 1 */
    0xbf0a8a16, /* s_cmp_lt_u32 s22, 10 */
    0xbf85fff1, /* s_cbranch_scc1 round */
    0xdd088204, 0x007f0a02, /* global_atomic_add v[2:3], v10, off offset:516 */
    0xd9350009, 0x00000000, /* ds_gws_sema_v offset:9 gds */
    0xdd088208, 0x007f0402, /* global_atomic_add v[2:3], v4, off offset:520 */
    0xbf810000, /* s_endpgm */
};

static const uint32_t lost_barrier[] = {
    0x7e020283, /* v_mov_b32_e32 v1, 3 */
    0xbefc00ff, 0x00070000, /* s_mov_b32 m0, 0x70000 */
    0xd9330000, 0x00000001, /* ds_gws_init v1 gds */
    0xd93b0000, 0x00000001, /* ds_gws_barrier v1 gds */
    0xbf810000, /* s_endpgm */
};

static const uint32_t direct[] = {
    0x7e0202ff, 0x08070605, /* v_mov_b32_e32 v1, 0x8070605 */
    0x7e040290, /* v_mov_b32_e32 v2, 16 */
    0xd81a0000, 0x00000102, /* ds_write_b32 v2, v1 */
    0x7e0202ff, 0xf00080ff, /* v_mov_b32_e32 v1, 0xf00080ff */
    0xd81a0004, 0x00000102, /* ds_write_b32 v2, v1 offset:4 */
    0xbf8cc07f, /* s_waitcnt lgkmcnt(0) */
    0xbefc00ff, 0x00020010, /* s_mov_b32 m0, 0x20010 */
    0x7e0802fe, /* v_mov_b32_e32 v4, src_lds_direct */
    0xbefc00ff, 0x00010012, /* s_mov_b32 m0, 0x10012 */
    0x7e0a02fe, /* v_mov_b32_e32 v5, src_lds_direct */
    0xbefc00ff, 0x00040014, /* s_mov_b32 m0, 0x40014 */
    0x7e0c02fe, /* v_mov_b32_e32 v6, src_lds_direct */
    0xbefc00ff, 0x00050014, /* s_mov_b32 m0, 0x50014 */
    0x680e00fe, /* v_add_u32_e32 v7, src_lds_direct, v0 */
    0x7e040202, /* v_mov_b32_e32 v2, s2 */
    0x7e060203, /* v_mov_b32_e32 v3, s3 */
    0xdc7c8000, 0x007f0402, /* global_store_dwordx4 v[2:3], v[4:7], off */
    0xbf810000, /* s_endpgm */
};

static const uint32_t ordered[] = {
    0xbefc00ff, 0x00100000, /* s_mov_b32 m0, 0x100000 */
    0x7e020281, /* v_mov_b32_e32 v1, 1 */
    0x200a0086, /* v_lshrrev_b32_e32 v5, 6, v0 */
    0x7e140505, /* v_readfirstlane_b32 s10, v5 */
    0x8e0b8104, /* s_lshl_b32 s11, s4, 1: s4 is the number of the workgroup in z */
    0x800a0b0a, /* s_add_u32 s10, s10, s11 */
    0xd97f0304, 0x02000001, /* ds_ordered_count v2, v1 offset:772 gds */
    0xbf8cc07f, /* s_waitcnt lgkmcnt(0) */
    0x7e180502, /* v_readfirstlane_b32 s12, v2 */
    0x8e0c820c, /* s_lshl_b32 s12, s12, 2 */
    0x7e06020c, /* v_mov_b32_e32 v3, s12 */
    0x7e08020a, /* v_mov_b32_e32 v4, s10 */
    0xdc708000, 0x00020403, /* global_store_dword v3, v4, s[2:3] */
    0xbf810000, /* s_endpgm */
};
enum { ORDERED_COUNT_WORD = 7 };

static const uint32_t odd_addresses[] = {
    0x7e0202ff, 0x03020100, /* v_mov_b32_e32 v1, 0x3020100 */
    0x7e040290, /* v_mov_b32_e32 v2, 16 */
    0xd81a0000, 0x00000102, /* ds_write_b32 v2, v1 */
    0x7e0202ff, 0x07060504, /* v_mov_b32_e32 v1, 0x7060504 */
    0xd81a0004, 0x00000102, /* ds_write_b32 v2, v1 offset:4 */
    0x7e040291, /* v_mov_b32_e32 v2, 17 */
    0xd8780000, 0x04000002, /* ds_read_u16 v4, v2 */
    0x7e040280, /* v_mov_b32_e32 v2, 0 */
    0xd86c0012, 0x05000002, /* ds_read_b32 v5, v2 offset:18 */
    0xbf8cc07f, /* s_waitcnt lgkmcnt(0) */
    0x7e040202, /* v_mov_b32_e32 v2, s2 */
    0x7e060203, /* v_mov_b32_e32 v3, s3 */
    0xdc748000, 0x007f0402, /* global_store_dwordx2 v[2:3], v[4:5], off */
    0xbf810000, /* s_endpgm */
};

// clang-format on

static void second_places(void **state)
{
    (void)state;
    const struct run run =
        run_with(second_sources, sizeof second_sources,
                 (struct wm_dispatch){.grid = {64}, .workgroup = {64}, .dynamic_lds = 1024});
    assert_int_equal(run.fault.kind, WM_FAULT_NONE);
    for (uint32_t i = 0; i < 64; i++) {
        const uint32_t *result = run.result + 4 * i;
        assert_int_equal(result[0], 7 * i + i); /* 64 dwords further is i */
        /* The second place is 2 i dwords in front of 64 + i: what the first instruction left at 64 - i, or
         * for lane 0 its own i. */
        const uint32_t second = i ? 8 * (64 - i) : 0;
        assert_int_equal(result[1], second - i);
        assert_int_equal(result[3], UINT32_MAX - 1); /* -1 + -1, no carry from the low words */
    }
    /* 255 dwords back from 0x3fc is 0: the low word of lane 0's sum. */
    assert_int_equal(run.result[2], 0);
}

static void shares_gds(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= 2; threads++) {
        const struct run run =
            run_with(counted, sizeof counted,
                     (struct wm_dispatch){.grid = {128}, .workgroup = {128}, .threads = threads});
        assert_int_equal(run.fault.kind, WM_FAULT_NONE);
        assert_int_equal(run.result[0], 128 + 64); /* at 0x40 + 8; the wave before has appended */
        assert_int_equal(run.result[1], 0);        /* out of the 32 bytes that M0 allows */
        assert_int_equal(run.result[2], 0);        /* the counter: its address is M0 alone */
    }
}

/* Four workgroups, of which the first to come prepares the barrier while the others wait for a semaphore. */
static void synchronises_workgroups(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= 2; threads++) {
        const struct run run = run_with(
            grid_barrier, sizeof grid_barrier,
            (struct wm_dispatch){.grid = {256}, .workgroup = {64}, .threads = threads, .timeout = 20});
        assert_int_equal(run.fault.kind, WM_FAULT_NONE);
        for (unsigned round = 0; round < 10; round++)
            assert_int_equal(run.result[round], 4);
        assert_int_equal(run.result[129], 0); /* waves that came out of a barrier too early */
        assert_int_equal(run.result[130], 4);
    }
}

static void sees_a_barrier_that_nobody_else_reaches(void **state)
{
    (void)state;
    const struct run run = run_with(lost_barrier, sizeof lost_barrier,
                                    (struct wm_dispatch){.grid = {128}, .workgroup = {64}, .timeout = 20});
    assert_int_equal(run.fault.kind, WM_FAULT_DEADLOCK);
    assert_non_null(strstr(run.fault.text, "ds_gws_barrier v1 gds"));
}

/* Each wave adds one, and writes its number where the sum was: in the order of launch, whatever the threads.
 */
static void counts_in_order_of_launch(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= 3; threads++) {
        const struct run run =
            run_with(ordered, sizeof ordered,
                     (struct wm_dispatch){
                         .grid = {128, 1, 16}, .workgroup = {128}, .threads = threads, .timeout = 20});
        assert_string_equal(run.fault.text, "");
        for (uint32_t wave = 0; wave < 32; wave++)
            assert_int_equal(run.result[wave], wave);
    }
}

/* Without the release bit nobody comes after the first wave. */
static void waits_for_release(void **state)
{
    (void)state;
    uint32_t code[sizeof ordered / 4];
    memcpy(code, ordered, sizeof code);
    assert_int_equal(code[ORDERED_COUNT_WORD], 0xd97f0304);
    code[ORDERED_COUNT_WORD] = 0xd97f0004;
    const struct run run =
        run_with(code, sizeof code, (struct wm_dispatch){.grid = {128}, .workgroup = {64}, .timeout = 20});
    assert_int_equal(run.fault.kind, WM_FAULT_DEADLOCK);
    assert_non_null(strstr(run.fault.text, "ds_ordered_count"));
}

/* 16 bits at 17 and 32 bits at 18, of bytes that hold their number less 16. */
static void aligns_as_the_mode_says(void **state)
{
    (void)state;
    static const struct {
        enum wm_alignment mode;
        uint32_t half, word;
        const char *fault; /* NULL: none */
    } modes[] = {
        {WM_ALIGNMENT_UNALIGNED, 0x0201, 0x05040302, NULL},
        {WM_ALIGNMENT_DWORD, 0x0100, 0x03020100, NULL},
        {WM_ALIGNMENT_DWORD_STRICT, 0, 0, "ds_read_b32 v5, v2 offset:18"},
        {WM_ALIGNMENT_STRICT, 0, 0, "ds_read_u16 v4, v2"},
    };
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        const struct run run =
            run_with(odd_addresses, sizeof odd_addresses,
                     (struct wm_dispatch){
                         .grid = {64}, .workgroup = {64}, .dynamic_lds = 64, .alignment = modes[i].mode});
        assert_int_equal(run.fault.kind, modes[i].fault ? WM_FAULT_MISALIGNED : WM_FAULT_NONE);
        assert_int_equal(run.result[0], modes[i].half);
        assert_int_equal(run.result[1], modes[i].word);
        if (modes[i].fault) {
            assert_non_null(strstr(run.fault.text, modes[i].fault));
            assert_non_null(strstr(run.fault.text, "misaligned LDS load"));
            assert_true(run.fault.lanes == UINT64_MAX);
        }
    }
}

static void reads_lds_directly(void **state)
{
    (void)state;
    const struct run run = run_with(direct, sizeof direct,
                                    (struct wm_dispatch){.grid = {64}, .workgroup = {64}, .dynamic_lds = 64});
    assert_int_equal(run.fault.kind, WM_FAULT_NONE);
    assert_int_equal(run.result[0], 0x08070605);
    assert_int_equal(run.result[1], 0x0807);
    assert_int_equal(run.result[2], UINT32_MAX);
    assert_in_range(run.result[3] - 0xffff80ffu, 0, 63); /* of any lane */
}

/* Each read of LDS_DIRECT is an access of all lanes to one place, of the type's size. */
static void shows_direct_reads(void **state)
{
    (void)state;
    struct wm_profile *profile;
    struct wm_diag diag;
    size_t count, reads = 0;
    static const unsigned bytes[] = {4, 2, 1, 2};
    assert_int_equal(wm_profile_create(&profile, &diag), WM_OK);
    const struct run run = run_with(
        direct, sizeof direct,
        (struct wm_dispatch){.grid = {64}, .workgroup = {64}, .dynamic_lds = 64, .profile = profile});
    assert_int_equal(run.fault.kind, WM_FAULT_NONE);
    const struct wm_profile_row *rows = wm_profile_rows(profile, &count);
    for (size_t i = 0; i < count; i++) {
        if (!strstr(rows[i].text, "src_lds_direct"))
            continue;
        assert_true(reads < 4);
        assert_string_equal(rows[i].path, "DS");
        assert_string_equal(rows[i].operation, "load");
        assert_int_equal(rows[i].executions, 1);
        assert_int_equal(rows[i].lanes, 64);
        assert_int_equal(rows[i].bytes, bytes[reads]);
        assert_int_equal(rows[i].distinct_bytes, bytes[reads]);
        assert_int_equal(rows[i].lds_conflicts, 0);
        reads++;
    }
    assert_int_equal(reads, 4);
    wm_profile_destroy(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(second_places),
        cmocka_unit_test(reads_lds_directly),
        cmocka_unit_test(shows_direct_reads),
        cmocka_unit_test(shares_gds),
        cmocka_unit_test(synchronises_workgroups),
        cmocka_unit_test(aligns_as_the_mode_says),
        cmocka_unit_test(counts_in_order_of_launch),
        cmocka_unit_test(waits_for_release),
        cmocka_unit_test(sees_a_barrier_that_nobody_else_reaches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
