/* SPDX-License-Identifier: MIT */
/* Global wave sync from one dispatch of a machine to the next. Source of what must hold: Vega ISA,
 * DS_GWS_INIT, DS_GWS_BARRIER, DS_GWS_SEMA_V, DS_GWS_SEMA_P, DS_GWS_SEMA_RELEASE_ALL; ROCclr prepares the
 * barrier of a cooperative launch by a dispatch of its own. */
#include "wavemem/wavemem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
// clang-format off
#include <cmocka.h>
// clang-format on

#include "unit/ok.h"

/* They must outlive the machine. */
static struct wm_object *objects[32];
static size_t opened;

static int close_objects(void **state)
{
    (void)state;
    while (opened)
        wm_object_close(objects[--opened]);
    return 0;
}

/* Runs one instruction on resource 5 in so many workgroups of a wave, with `value` as its data. */
static enum wm_fault_kind run(struct wm_machine *machine, const char *instruction, unsigned value,
                              unsigned waves, unsigned threads)
{
    char text[256];
    uint8_t *code = NULL;
    char *messages = NULL;
    size_t bytes;
    struct wm_object *object;
    const struct wm_kernel *kernel;
    struct wm_result result = {.struct_size = sizeof result};
    const struct wm_dispatch dispatch = {
        .struct_size = sizeof dispatch, .grid = {64 * waves}, .workgroup = {64}, .threads = threads};
    const int length =
        snprintf(text, sizeof text, "s_mov_b32 m0, 0x20000\nv_mov_b32 v0, %u\n%s offset:3 gds\ns_endpgm\n",
                 value, instruction);
    OK(wm_assemble(text, (size_t)length, "test", "gfx900", WM_ASSEMBLE_RAW, &code, &bytes, &messages, &diag));
    OK(wm_object_open(code, bytes, "test", "gfx900", &object, &diag));
    OK(wm_object_find_kernel(object, NULL, &kernel, &diag));
    OK(wm_load(machine, object, &diag));
    OK(wm_dispatch(machine, object, kernel, &dispatch, &result, &diag));
    free(code);
    free(messages);
    assert_true(opened < sizeof objects / sizeof *objects);
    objects[opened++] = object;
    return result.fault.kind;
}

/* Four waves need a counter of 3: with 0, the first one would go on and the others wait for a fourth. */
static void a_barrier_stays_prepared(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= 2; threads++) {
        struct wm_machine *machine;
        OK(wm_machine_create("gfx900", &machine, &diag));
        assert_int_equal(run(machine, "ds_gws_init v0", 3, 1, threads), WM_FAULT_NONE);
        assert_int_equal(run(machine, "ds_gws_barrier v0", 3, 4, threads), WM_FAULT_NONE);
        assert_int_equal(run(machine, "ds_gws_barrier v0", 3, 4, threads), WM_FAULT_NONE);
        OK(wm_reset_gws(machine, &diag));
        assert_int_equal(run(machine, "ds_gws_barrier v0", 3, 4, threads), WM_FAULT_DEADLOCK);
        wm_machine_destroy(machine);
    }
}

static void a_semaphore_keeps_its_counter(void **state)
{
    (void)state;
    struct wm_machine *machine, *other;
    OK(wm_machine_create("gfx900", &machine, &diag));
    OK(wm_machine_create("gfx900", &other, &diag));
    assert_int_equal(run(machine, "ds_gws_sema_v", 0, 2, 1), WM_FAULT_NONE);
    assert_int_equal(run(other, "ds_gws_sema_p", 0, 1, 1), WM_FAULT_DEADLOCK); /* has one of its own */
    assert_int_equal(run(machine, "ds_gws_sema_p", 0, 2, 1), WM_FAULT_NONE);
    assert_int_equal(run(machine, "ds_gws_sema_p", 0, 1, 1), WM_FAULT_DEADLOCK);
    assert_int_equal(run(machine, "ds_gws_sema_br v0", 3, 1, 1), WM_FAULT_NONE);
    assert_int_equal(run(machine, "ds_gws_sema_p", 0, 3, 2), WM_FAULT_NONE);
    wm_machine_destroy(machine);
    wm_machine_destroy(other);
}

/* ds_gws_sema_release_all lets those go on that wait: none, for a fault has ended them. */
static void ended_waves_do_not_wait(void **state)
{
    (void)state;
    struct wm_machine *machine;
    OK(wm_machine_create("gfx900", &machine, &diag));
    assert_int_equal(run(machine, "ds_gws_sema_p", 0, 3, 1), WM_FAULT_DEADLOCK);
    assert_int_equal(run(machine, "ds_gws_sema_release_all", 0, 1, 1), WM_FAULT_NONE);
    assert_int_equal(run(machine, "ds_gws_sema_p", 0, 1, 1), WM_FAULT_DEADLOCK);
    wm_machine_destroy(machine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_barrier_stays_prepared, close_objects),
        cmocka_unit_test_teardown(a_semaphore_keeps_its_counter, close_objects),
        cmocka_unit_test_teardown(ended_waves_do_not_wait, close_objects),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
