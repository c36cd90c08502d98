/* SPDX-License-Identifier: MIT */
/* Ends of a dispatch that depend on its caller or the code object, which tests/instructions cannot
 * express. */
#include "unit/run_text.h"

/* The wave of workgroup 0 never ends, the other ones do: s4 is the workgroup's z id. */
static const char endless_but_first[] = "s_cmp_eq_u32 s4, 0\n"
                                        "s_cselect_b32 s4, 0x100000, 0\n"
                                        "top:\n"
                                        "s_sub_u32 s4, s4, 1\n"
                                        "s_cmp_lg_u32 s4, 0\n"
                                        "s_cbranch_scc1 top\n";

static bool until_one_is_done(void *user, uint64_t done, uint64_t workgroups)
{
    (void)user, (void)workgroups;
    return !done;
}

/* Also if a thread other than the caller's runs the remaining workgroup. */
static void stops_all_workgroups(void **state)
{
    static struct text_run run;
    (void)state;
    for (unsigned i = 0; i < 20; i++) { /* the distribution of workgroups to threads varies */
        run_written("gfx900", 64, &run, write_text, endless_but_first,
                    (struct wm_dispatch){.grid = {64, 1, 2},
                                         .workgroup = {64, 1, 1},
                                         .threads = 2,
                                         .timeout = 10,
                                         .progress = until_one_is_done});
        assert_int_equal(run.fault.kind, WM_FAULT_STOPPED);
    }
}

/* Code that ends without s_endpgm. */
static void falls_off_the_end(void **state)
{
    (void)state;
    for (unsigned i = 0; i < ALL_TARGETS; i++) {
        static const char nothing[] = "s_nop 0\n";
        struct wm_result result = {.struct_size = sizeof result};
        const struct wm_dispatch dispatch = {
            .struct_size = sizeof dispatch, .grid = {64}, .workgroup = {64}, .threads = 1};
        struct wm_machine *machine;
        struct wm_object *object;
        const struct wm_kernel *kernel;
        uint8_t *code;
        char *messages;
        size_t bytes;
        assert_int_equal(wm_assemble(nothing, sizeof nothing - 1, "nothing", all_targets[i], WM_ASSEMBLE_RAW,
                                     &code, &bytes, &messages, NULL),
                         WM_OK);
        assert_int_equal(wm_object_open(code, bytes, "nothing", all_targets[i], &object, NULL), WM_OK);
        assert_int_equal(wm_object_find_kernel(object, NULL, &kernel, NULL), WM_OK);
        assert_int_equal(wm_machine_create(all_targets[i], &machine, NULL), WM_OK);
        assert_int_equal(wm_load(machine, object, NULL), WM_OK);
        assert_int_equal(wm_dispatch(machine, object, kernel, &dispatch, &result, NULL), WM_OK);
        assert_int_equal(result.fault.kind, WM_FAULT_INSTRUCTION);
        wm_machine_destroy(machine);
        wm_object_close(object);
        free(code);
        free(messages);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stops_all_workgroups),
        cmocka_unit_test(falls_off_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
