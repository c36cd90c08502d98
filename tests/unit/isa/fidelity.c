/* SPDX-License-Identifier: MIT */
/* Counts of the fidelity report: waves, not lanes; a row per grade; only executed instructions. */
#include "unit/run_text.h"

static const char code[] = "s_mov_b32 s4, 3\n"
                           "top:\n"
                           "v_add_co_u32_e64 v5, vcc, v0, v1\n"
                           "v_add_co_u32_e64 v5, vcc, v0, v1 clamp\n"
                           "v_exp_f32 v6, v0\n"
                           "s_sub_u32 s4, s4, 1\n"
                           "s_cmp_lg_u32 s4, 0\n"
                           "s_cbranch_scc1 top\n"
                           "s_branch over\n"
                           "v_log_f32 v6, v0\n"
                           "over:\n"
                           "s_mov_b64 exec, 0\n"
                           "v_rcp_f32 v6, v0\n";

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
        static struct text_run run;
        run_written("gfx900", 64, &run, write_text, code,
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
