/* SPDX-License-Identifier: MIT */
/* What the fidelity report counts: waves, not lanes; a row for each grade; nothing that was not reached. */
#include "run_code.h"

// clang-format off
static const uint32_t code[] = {
    0xbe840083, /* s_mov_b32 s4, 3 */
    0xd1196a05, 0x00020300, /* top: v_add_co_u32_e64 v5, vcc, v0, v1 */
    0xd119ea05, 0x00020300, /* v_add_co_u32_e64 v5, vcc, v0, v1 clamp */
    0x7e0c4100, /* v_exp_f32_e32 v6, v0 */
    0x80848104, /* s_sub_u32 s4, s4, 1 */
    0xbf078004, /* s_cmp_lg_u32 s4, 0 */
    0xbf85fff8, /* s_cbranch_scc1 top */
    0xbf820001, /* s_branch over */
    0x7e0c4300, /* v_log_f32_e32 v6, v0 */
    0xbefe0180, /* over: s_mov_b64 exec, 0 */
    0x7e0c4500, /* v_rcp_f32_e32 v6, v0 */
    0xbf810000, /* s_endpgm */
};
// clang-format on

static uint64_t executions(const struct wm_fidelity_row *rows, size_t count, const char *name,
                           enum wm_grade grade)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(rows[i].name, name) && rows[i].grade == grade)
            return rows[i].executions;
    return 0;
}

static void counts_waves_by_grade(void **state)
{
    (void)state;
    struct wm_fidelity *fidelity;
    struct wm_diag diag;
    size_t count;
    assert_int_equal(wm_fidelity_create(&fidelity, &diag), WM_OK);
    for (unsigned threads = 1; threads <= 2; threads++) { /* 12 waves each time */
        const struct run run =
            run_with(code, sizeof code,
                     (struct wm_dispatch){
                         .grid = {128 * 6}, .workgroup = {128}, .threads = threads, .fidelity = fidelity});
        assert_int_equal(run.fault.kind, WM_FAULT_NONE);
    }
    const struct wm_fidelity_row *rows = wm_fidelity_rows(fidelity, &count);
    assert_int_equal(executions(rows, count, "v_add_co_u32", WM_GRADE_EXACT), 24 * 3);
    assert_int_equal(executions(rows, count, "v_add_co_u32", WM_GRADE_UNVERIFIED), 24 * 3);
    assert_int_equal(executions(rows, count, "v_exp_f32", WM_GRADE_APPROX), 24 * 3);
    assert_int_equal(executions(rows, count, "v_rcp_f32", WM_GRADE_APPROX), 24);
    assert_int_equal(executions(rows, count, "v_log_f32", WM_GRADE_APPROX), 0);
    assert_int_equal(executions(rows, count, "s_endpgm", WM_GRADE_EXACT), 24);
    for (size_t i = 0; i < count; i++) {
        assert_true(!*rows[i].remark == (rows[i].grade == WM_GRADE_EXACT));
        assert_true(!i || rows[i - 1].grade > rows[i].grade ||
                    (rows[i - 1].grade == rows[i].grade && rows[i - 1].executions >= rows[i].executions));
    }
    wm_fidelity_destroy(fidelity);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(counts_waves_by_grade)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
