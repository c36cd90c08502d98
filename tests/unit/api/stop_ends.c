/* SPDX-License-Identifier: MIT */
/* Runs that stop: faults, ends, time limits, two runs at once, callbacks, messages. */
#include "unit/api/runs.h"

#include "api/run.h"
#include "exec/run/dispatch.h"

#include <math.h>
#include <pthread.h>

/* ---- faults and ends ---- */

static void faults(void **state)
{
    struct world w = world_of("gfx900", "v_mov_b32 v1, 0\n"
                                        "v_mov_b32 v2, 0\n"
                                        "s_movk_i32 s4, 0x77\n"
                                        "global_load_dword v3, v[1:2], off\n"
                                        "s_endpgm\n");
    (void)state;
    struct wm_run *run = begin(&w, NULL);
    struct wm_stopped stopped = run_to(run, (struct wm_stop_at){0});
    assert_int_equal(stopped.kind, WM_STOP_FAULT);
    assert_int_equal(stopped.pc, w.code + 12);
    assert_int_equal(stopped.instructions, 6);
    assert_int_equal(stopped.executed, 6);
    assert_true(stopped.access_lanes == UINT64_MAX);
    assert_int_equal(stopped.address, 0);
    assert_int_equal(get(run, "s4"), 0x77);
    assert_int_equal(run_to(run, (struct wm_stop_at){0}).kind, WM_STOP_END);
    struct wm_result result = end(run, false);
    assert_int_equal(result.fault.kind, WM_FAULT_MEMORY);
    assert_int_equal(result.fault.pc, w.code + 12);
    run = begin(&w, NULL);
    assert_int_equal(run_to(run, (struct wm_stop_at){0}).kind, WM_STOP_FAULT);
    assert_int_equal(end(run, true).fault.kind, WM_FAULT_MEMORY); /* not the cancellation */
    run = begin(&w, NULL);
    assert_int_equal(end(run, false).fault.kind, WM_FAULT_MEMORY);
    destroy(&w);
    /* Words that are no instruction, and the end of the code, can be stopped at, too. */
    w = world_of("gfx900", "s_nop 0\n.long 0xffffffff\n");
    run = begin(&w, NULL);
    run_to_offset(run, &w, 4);
    assert_int_equal(step(run).kind, WM_STOP_FAULT);
    assert_int_equal(end(run, false).fault.kind, WM_FAULT_INSTRUCTION);
    destroy(&w);
}

static void cancel(void **state)
{
    struct world w = world_of("gfx900", meeting);
    struct wm_dispatch request = one_wave(&w);
    struct wm_result result;
    (void)state;
    request.grid[0] = 64 * 3000;
    struct wm_run *run = begin(&w, &request);
    result = end(run, true); /* before the first instruction */
    assert_int_equal(result.fault.kind, WM_FAULT_STOPPED);
    assert_int_equal(result.wave_instructions, 0);
    run = begin(&w, &request);
    run_to(run, (struct wm_stop_at){.at_wave = true, .workgroup = {10, 0, 0}, .instructions = 3});
    result = end(run, true);
    assert_int_equal(result.fault.kind, WM_FAULT_STOPPED);
    assert_int_equal(result.fault.workgroup[0], 10);
    assert_true(result.workgroups == 10);
    assert_true(strlen(result.fault.text) > 0);
    run = begin(&w, &request);
    assert_int_equal(wm_run_end(run, true, NULL, NULL), WM_OK);
    destroy(&w);
    /* At an access, while a lower workgroup waits. */
    w = world_of("gfx900", "again:\n"
                           "s_load_dword s5, s[2:3], 0x0\n"
                           "s_waitcnt lgkmcnt(0)\n"
                           "s_cmp_eq_u32 s5, 0\n"
                           "s_cbranch_scc1 again\n"
                           "s_endpgm\n");
    request.grid[0] = 64 * 3;
    run = begin(&w, &request);
    assert_int_equal(run_to(run, (struct wm_stop_at){.at_wave = true,
                                                     .workgroup = {2, 0, 0},
                                                     .access_low = w.buffer,
                                                     .access_high = w.buffer + 1,
                                                     .loads = true})
                         .kind,
                     WM_STOP_ACCESS);
    result = end(run, true);
    assert_int_equal(result.fault.kind, WM_FAULT_STOPPED);
    assert_int_equal(result.fault.pc, w.code);
    assert_int_equal(result.workgroups, 0);
    destroy(&w);
}

/* The time limit is for the kernel, not for whoever looks at it: the begin of the dispatch moves by the time
 * for which its thread has waited for the caller. */
static void time_limit(void **state)
{
    struct world w = world_of("gfx900", "s_nop 0\ns_nop 0\ns_endpgm\n");
    struct wm_dispatch request = one_wave(&w);
    (void)state;
    request.timeout = 1000;
    struct wm_run *run = begin(&w, &request);
    step(run);
    for (unsigned i = 0; i < 3; i++) {
        const double started = run->dispatch->started, waited = run->waited;
        step(run);
        const double more = run->waited - waited;
        assert_true(more > 0);
        assert_true(fabs(run->dispatch->started - started - more) < 1e-6);
    }
    const struct wm_result result = end(run, false);
    assert_int_equal(result.fault.kind, WM_FAULT_NONE);
    destroy(&w);
}

/* ---- two runs ---- */

static void two_runs(void **state)
{
    struct world w[2] = {storing("gfx900", "v_mov_b32 v1, s4\n"), storing("gfx1100", "v_mov_b32 v1, s4\n")};
    struct wm_run *run[2];
    (void)state;
    for (unsigned i = 0; i < 2; i++)
        run[i] = begin(&w[i], NULL);
    for (unsigned i = 0; i < 2; i++)
        run_to_offset(run[i], &w[i], 0);
    for (unsigned i = 0; i < 2; i++)
        set(run[i], "s4", 10 + i);
    for (unsigned i = 0; i < 2; i++)
        step(run[1 - i]);
    for (unsigned i = 0; i < 2; i++) {
        ends_well(run[i]);
        assert_int_equal(word(&w[i], 5), 10 + i);
        destroy(&w[i]);
    }
}

static void *step_through(void *user)
{
    struct world w = world_of("gfx900", work);
    struct wm_run *run = begin(&w, NULL);
    uintptr_t *stops = user;
    while (step(run).kind != WM_STOP_END)
        ++*stops;
    ends_well(run);
    destroy(&w);
    return NULL;
}

static void two_threads(void **state)
{
    pthread_t threads[2];
    uintptr_t stops[2] = {0, 0};
    (void)state;
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, step_through, &stops[i]), 0);
    for (unsigned i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(stops[i], 3 + 9 + 5 * 8 + 1);
    }
}

/* ---- callbacks ---- */

struct caller {
    struct wm_run *run;
    unsigned calls, refused;
};

/* Runs on the run's thread, where nothing may be asked of the run. */
static bool meddles(void *user, uint64_t done, uint64_t all)
{
    struct caller *c = user;
    struct wm_stopped stopped = {.struct_size = sizeof stopped};
    uint32_t value;
    (void)done, (void)all;
    c->calls++;
    c->refused += wm_run_to(c->run, NULL, &stopped, NULL) == WM_BAD_ARGUMENT;
    c->refused += wm_run_get(c->run, "s0", &value, 1, NULL) == WM_BAD_ARGUMENT;
    c->refused += wm_run_end(c->run, true, NULL, NULL) == WM_BAD_ARGUMENT;
    return true;
}

static void callbacks(void **state)
{
    struct world w = world_of("gfx900", meeting);
    struct wm_dispatch request = one_wave(&w);
    struct caller caller = {0};
    struct wm_result result = {.struct_size = sizeof result};
    uint64_t address;
    (void)state;
    request.grid[0] = 64 * 500;
    request.progress = meddles;
    request.progress_user = &caller;
    caller.run = begin(&w, &request);
    wm_machine_destroy(w.machine); /* has no effect */
    assert_int_equal(wm_allocate(w.machine, 4, 0, "while it is stopped", &address, NULL), WM_OK);
    assert_int_equal(wm_free(w.machine, address, NULL), WM_OK);
    const struct wm_stopped stopped = run_to(caller.run, (struct wm_stop_at){0});
    assert_int_equal(stopped.kind, WM_STOP_END);
    assert_int_equal(wm_allocate(w.machine, 4, 0, "more", &address, NULL), WM_OK);
    ends_well(caller.run);
    assert_true(caller.calls > 0);
    assert_int_equal(caller.refused, 3 * caller.calls);
    destroy(&w);
}

/* ---- messages ---- */

static struct wm_diag diag;

static void says(enum wm_status status, enum wm_status expected, const char *message)
{
    assert_int_equal(status, expected);
    assert_string_equal(diag.message, message);
}

static void messages(void **state)
{
    struct world w = world_of("gfx900", meeting);
    struct wm_dispatch request = one_wave(&w);
    struct wm_stop_at at = {.struct_size = sizeof at, .at_wave = true, .workgroup = {2, 1, 0}};
    struct wm_stopped stopped = {.struct_size = sizeof stopped};
    uint32_t values[LANES] = {2};
    (void)state;
    request.grid[0] = 256;
    struct wm_run *run = begin(&w, &request);
    says(wm_run_get(run, "s0", values, 1, &diag), WM_BAD_ARGUMENT,
         "wm_run_get: no wave is stopped yet: call wm_run_to first");
    says(wm_run_to(run, &at, &stopped, &diag), WM_BAD_ARGUMENT,
         "wm_run_to: workgroup (2,1,0); the grid has 4 x 1 x 1 workgroups");
    at.workgroup[1] = 0;
    at.wave = 1;
    says(wm_run_to(run, &at, &stopped, &diag), WM_BAD_ARGUMENT, "wm_run_to: wave 1; a workgroup has 1");
    at.wave = 0;
    at.loads = true;
    says(wm_run_to(run, &at, &stopped, &diag), WM_BAD_ARGUMENT,
         "wm_run_to: the range of accesses [0x0, 0x0) is empty; expected low < high");
    at.loads = false;
    at.access_high = 4;
    says(wm_run_to(run, &at, &stopped, &diag), WM_BAD_ARGUMENT,
         "wm_run_to: a range of accesses, but neither loads nor stores");
    at.access_high = 0;
    at.address_count = 1;
    says(wm_run_to(run, &at, &stopped, &diag), WM_BAD_ARGUMENT,
         "wm_run_to: address_count is 1 but addresses is NULL");
    step(run);
    static const char *const unknown[] = {"",    "s",      "s102", "v256", "a0",
                                          "v-1", "ttmp16", "s4 ",  "x1",   "vccz"};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        char message[256];
        snprintf(message, sizeof message,
                 "'%s': no register of this wave of gfx900, which has s0 to s101, 256 VGPRs, 0 AccVGPRs, and "
                 "others such as vcc, exec, m0, scc, mode, ttmp5",
                 unknown[i]);
        says(wm_run_get(run, unknown[i], values, LANES, &diag), WM_NOT_FOUND, message);
        assert_int_equal(wm_run_set(run, unknown[i], values, LANES, NULL), WM_NOT_FOUND);
    }
    says(wm_run_get(run, "v255", values, 63, &diag), WM_BAD_ARGUMENT,
         "wm_run_get: 'v255' has 64 values, there is room for 63");
    says(wm_run_set(run, "vcc", values, 1, &diag), WM_BAD_ARGUMENT,
         "wm_run_set: 'vcc' has 2 values, 1 are given");
    says(wm_run_set(run, "s0", values, 2, &diag), WM_BAD_ARGUMENT,
         "wm_run_set: 's0' has 1 values, 2 are given");
    says(wm_run_set(run, "scc", values, 1, &diag), WM_BAD_ARGUMENT, "wm_run_set: scc is 2; expected 0 or 1");
    says(wm_run_set(run, "pc", values, 2, &diag), WM_UNSUPPORTED,
         "wm_run_set: the pc of a wave cannot be changed");
    values[0] = get(run, "mode") | 1 << 28;
    assert_int_equal(wm_run_set(run, "mode", values, 1, &diag), WM_UNSUPPORTED);
    assert_int_equal(get(run, "mode"), values[0] & ~(1u << 28));
    says(wm_run_read_lds(run, 1020, values, 8, &diag), WM_OUT_OF_RANGE,
         "wm_run_read_lds: 8 bytes at 1020; the workgroup has 1024 bytes of LDS");
    assert_int_equal(wm_run_write_lds(run, UINT32_MAX, values, UINT32_MAX, NULL), WM_OUT_OF_RANGE);
    assert_int_equal(wm_run_read_lds(run, 1024, NULL, 0, NULL), WM_OK);
    assert_int_equal(run_to(run, (struct wm_stop_at){0}).kind, WM_STOP_END);
    says(wm_run_to(run, NULL, &stopped, &diag), WM_BAD_ARGUMENT, "wm_run_to: the kernel has ended");
    says(wm_run_set(run, "s0", values, 1, &diag), WM_BAD_ARGUMENT, "wm_run_set: the kernel has ended");
    ends_well(run);
    request.workgroup[0] = 2000;
    says(wm_run_begin(w.machine, w.object, w.kernel, &request, &run, &diag), WM_BAD_ARGUMENT,
         "workgroup dimension 0 is 2000; at most 1024 work-items");
    assert_null(run);
    says(wm_run_begin(w.machine, NULL, w.kernel, &request, &run, &diag), WM_BAD_ARGUMENT,
         "wm_run_begin: object is NULL");
    destroy(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(faults),   cmocka_unit_test(cancel),      cmocka_unit_test(time_limit),
        cmocka_unit_test(two_runs), cmocka_unit_test(two_threads), cmocka_unit_test(callbacks),
        cmocka_unit_test(messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
