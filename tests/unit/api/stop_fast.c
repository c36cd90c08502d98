/* SPDX-License-Identifier: MIT */
/* Runs that stop, at full speed in between: the same places and registers as where every instruction is held.
 * Checkpoints: what is executed behind them is what was executed before. Packets. */
#include "unit/api/runs.h"

enum { GROUPS = 6, ITEMS = 256, REGISTERS = 12 };

/* Waves of different lengths, with loops, LDS, barriers, stores, and partial EXEC. s4: the workgroup; v0: the
 * work-item. */
static const char *const kernel = "s_mov_b32 m0, -1\n"
                                  "s_mov_b32 s5, 0\n"
                                  "s_mov_b32 s7, 0x7ffffff1\n"
                                  "v_mov_b32 v2, v0\n"
                                  "v_lshlrev_b32 v1, 2, v0\n"
                                  "v_mov_b32 v3, 0\n"
                                  "outer:\n"
                                  "s_mov_b32 s6, 0\n"
                                  "inner:\n"
                                  "v_mov_b32 v6, s6\n"
                                  "v_mul_lo_u32 v2, v2, s7\n"
                                  "v_xor_b32 v2, v6, v2\n"
                                  "v_mov_b32 v6, 1\n" /* its value of before is dead */
                                  "v_mov_b32 v7, v2\n"
                                  "s_add_u32 s6, s6, 1\n"
                                  "s_cmp_lt_u32 s6, 90\n"
                                  "s_cbranch_scc1 inner\n"
                                  "ds_write_b32 v1, v2\n"
                                  "s_waitcnt 0\n"
                                  "s_barrier\n"
                                  "v_xor_b32 v4, 0xfc, v1\n"
                                  "ds_read_b32 v5, v4\n"
                                  "s_waitcnt 0\n"
                                  "s_barrier\n"
                                  "v_add_u32 v3, v3, v5\n"
                                  "v_cmp_gt_u32 vcc, 77, v0\n"
                                  "s_and_saveexec_b64 s[8:9], vcc\n"
                                  "v_add_u32 v3, 5, v3\n"
                                  "v_mov_b32 v8, v3\n"
                                  "s_mov_b64 exec, s[8:9]\n"
                                  "s_add_u32 s5, s5, 1\n"
                                  "s_cmp_lt_u32 s5, 40\n"
                                  "s_cbranch_scc1 outer\n"
                                  "global_store_dword v1, v3, s[2:3]\n"
                                  "s_endpgm\n";

static struct wm_dispatch several(void)
{
    return (struct wm_dispatch){.struct_size = sizeof(struct wm_dispatch),
                                .grid = {GROUPS * ITEMS},
                                .workgroup = {ITEMS},
                                .dynamic_lds = 4 * ITEMS};
}

/* Holds all instructions, as a change of a VGPR does, here to the value that it has. */
static void hold_all(struct wm_run *run)
{
    uint32_t v0[LANES];
    step(run);
    get_many(run, "v0", v0, LANES);
    set_many(run, "v0", v0, LANES);
}

static const char *const names[REGISTERS] = {"pc", "exec", "vcc", "scc", "m0", "s5",
                                             "s6", "v2",   "v3",  "v6",  "v7", "v8"};

/* All that can be seen of the wave that is stopped. */
struct seen {
    struct wm_stopped stopped;
    uint32_t values[REGISTERS][LANES], lds[ITEMS], memory[ITEMS];
};

static struct seen look(const struct world *w, struct wm_run *run, struct wm_stopped stopped)
{
    struct seen seen;
    memset(&seen, 0, sizeof seen);
    memcpy(&seen.stopped, &stopped, sizeof stopped);
    for (unsigned i = 0; i < REGISTERS && stopped.kind != WM_STOP_END; i++)
        get_many(run, names[i], seen.values[i], LANES);
    if (stopped.kind != WM_STOP_END)
        assert_int_equal(wm_run_read_lds(run, 0, seen.lds, sizeof seen.lds, NULL), WM_OK);
    assert_int_equal(wm_read(w->machine, w->buffer, seen.memory, sizeof seen.memory, NULL), WM_OK);
    return seen;
}

static void same(const struct seen *a, const struct seen *b)
{
    assert_int_equal(a->stopped.kind, b->stopped.kind);
    assert_int_equal(a->stopped.executed, b->stopped.executed);
    if (a->stopped.kind == WM_STOP_END)
        return;
    assert_int_equal(a->stopped.pc, b->stopped.pc);
    assert_int_equal(a->stopped.wave, b->stopped.wave);
    assert_memory_equal(a->stopped.workgroup, b->stopped.workgroup, sizeof a->stopped.workgroup);
    assert_int_equal(a->stopped.instructions, b->stopped.instructions);
    assert_int_equal(a->stopped.lanes, b->stopped.lanes);
    for (unsigned i = 0; i < REGISTERS; i++)
        if (memcmp(a->values[i], b->values[i], sizeof a->values[i]))
            fail_msg("%s differs at time %llu", names[i], (unsigned long long)a->stopped.executed);
    assert_memory_equal(a->lds, b->lds, sizeof a->lds);
    assert_memory_equal(a->memory, b->memory, sizeof a->memory);
}

static void clear(const struct world *w)
{
    const uint32_t zeros[WORDS] = {0};
    assert_int_equal(wm_write(w->machine, w->buffer, zeros, sizeof zeros, NULL), WM_OK);
}

/* Goes from event to event in both ways. */
static void same_events(const struct wm_stop_at *events, unsigned count)
{
    struct world w[2] = {world_of("gfx900", kernel), world_of("gfx900", kernel)};
    const struct wm_dispatch request = several();
    struct wm_run *run[2];
    for (unsigned i = 0; i < 2; i++)
        run[i] = begin(&w[i], &request);
    hold_all(run[1]);
    for (unsigned i = 0; i < count; i++) {
        struct seen seen[2];
        for (unsigned j = 0; j < 2; j++) {
            struct wm_stop_at at = events[i];
            struct wm_stop_range range;
            const uint64_t address = w[j].code + (at.address_count ? *at.addresses : 0);
            if (at.address_count)
                at.addresses = &address;
            if (at.range_count) {
                range = *at.ranges;
                range.low += range.lds ? 0 : w[j].buffer;
                range.high += range.lds ? 0 : w[j].buffer;
                at.ranges = &range;
            }
            seen[j] = look(&w[j], run[j], run_to(run[j], at));
        }
        seen[1].stopped.pc += w[0].code - w[1].code;
        memcpy(seen[1].values[0], seen[0].values[0], sizeof seen[0].values[0]);
        same(&seen[0], &seen[1]);
    }
    for (unsigned i = 0; i < 2; i++) {
        ends_well(run[i]);
        destroy(&w[i]);
    }
}

/* Times near and far, within slices and behind them. */
static void at_times(void **state)
{
    struct wm_stop_at events[60] = {{0}};
    uint64_t time = 2;
    (void)state;
    for (unsigned i = 0; i < 60; i++) {
        time += i % 3 == 0 ? 1 + i : i % 3 == 1 ? 700 + 37 * i : 9000 + 301 * i;
        events[i].executed = time;
    }
    same_events(events, 60);
}

/* Addresses, steps from there, accesses, ends of waves. */
static void at_places(void **state)
{
    static const uint64_t barrier = 80, store = 148;
    static const struct wm_stop_range lds = {16, 20, true, true, true}, out = {64, 68, false, true, false};
    const struct wm_stop_at events[] = {
        {.addresses = &barrier, .address_count = 1},
        {.instructions = 1},
        {.instructions = 5},
        {.addresses = &barrier, .address_count = 1},
        {.ranges = &lds, .range_count = 1},
        {.instructions = 1},
        {.ranges = &lds, .range_count = 1},
        {.at_wave = true, .workgroup = {1}, .wave = 2, .instructions = 3000},
        {.at_wave = true, .workgroup = {1}, .wave = 2},
        {.at_wave = true, .workgroup = {1}, .wave = 2, .addresses = &barrier, .address_count = 1},
        {.ranges = &out, .range_count = 1},
        {.executed = 900000, .ranges = &out, .range_count = 1},
        {.at_wave = true, .workgroup = {3}, .wave = 3, .at_wave_end = true, .instructions = 1 << 30},
        {.addresses = &store, .address_count = 1},
        {.instructions = 2},
        {.executed = UINT64_MAX},
    };
    (void)state;
    same_events(events, sizeof events / sizeof *events);
}

/* ---- checkpoints ---- */

/* A run from a checkpoint sees what the run that was saved has seen behind it. */
static void checkpoints(void **state)
{
    struct world w = world_of("gfx900", kernel);
    const struct wm_dispatch request = several();
    struct wm_diag diag;
    uint32_t memory[WORDS];
    (void)state;
    for (uint64_t least = 1; least < 500000; least += 230000) {
        struct wm_checkpoint *checkpoint;
        clear(&w);
        struct wm_run *run = begin(&w, &request);
        struct wm_stopped stopped = run_to(run, (struct wm_stop_at){.checkpoint = least});
        assert_int_equal(stopped.kind, WM_STOP_CHECKPOINT);
        assert_true(stopped.executed >= least);
        assert_int_equal(wm_run_get(run, "s0", memory, 1, NULL), WM_BAD_ARGUMENT);
        assert_int_equal(wm_run_save(run, &checkpoint, &diag), WM_OK);
        assert_true(wm_checkpoint_bytes(checkpoint) > 0);
        assert_int_equal(wm_read(w.machine, w.buffer, memory, sizeof memory, NULL), WM_OK);
        const uint64_t later = stopped.executed + 23457;
        const struct seen before = look(&w, run, run_to(run, (struct wm_stop_at){.executed = later}));
        const struct wm_result whole = end(run, false);
        const struct seen last = look(&w, NULL, (struct wm_stopped){.kind = WM_STOP_END});
        clear(&w);
        run = begin(&w, &request);
        assert_int_equal(wm_run_restore(run, checkpoint, &diag), WM_OK);
        assert_int_equal(wm_write(w.machine, w.buffer, memory, sizeof memory, NULL), WM_OK);
        assert_int_equal(step(run).executed, stopped.executed);
        const struct seen after = look(&w, run, run_to(run, (struct wm_stop_at){.executed = later}));
        same(&before, &after);
        assert_int_equal(wm_run_restore(run, checkpoint, &diag), WM_BAD_ARGUMENT);
        assert_string_equal(diag.message, "wm_run_restore: the run has gone on already");
        const struct wm_result rest = end(run, false);
        assert_int_equal(rest.fault.kind, WM_FAULT_NONE);
        assert_int_equal(rest.wave_instructions, whole.wave_instructions);
        assert_int_equal(rest.workgroups, whole.workgroups);
        const struct seen end_of_rest = look(&w, NULL, (struct wm_stopped){.kind = WM_STOP_END});
        assert_memory_equal(last.memory, end_of_rest.memory, sizeof last.memory);
        wm_checkpoint_destroy(checkpoint);
    }
    destroy(&w);
}

/* Goes on from a checkpoint behind so many instructions: memory at the end, and the number of instructions,
 * are those of the run that was saved. */
static void resumes(const char *target, const char *text, const struct wm_dispatch *request, uint64_t least)
{
    struct world w = world_of(target, text);
    struct wm_checkpoint *checkpoint;
    struct wm_diag diag;
    uint32_t memory[WORDS], last[WORDS], again[WORDS];
    struct wm_run *run = begin(&w, request);
    const struct wm_stopped stopped = run_to(run, (struct wm_stop_at){.checkpoint = least});
    assert_int_equal(stopped.kind, WM_STOP_CHECKPOINT);
    if (wm_run_save(run, &checkpoint, &diag))
        fail_msg("%s", diag.message);
    assert_int_equal(wm_read(w.machine, w.buffer, memory, sizeof memory, NULL), WM_OK);
    const struct wm_result whole = end(run, false);
    assert_int_equal(whole.fault.kind, WM_FAULT_NONE);
    assert_true(whole.wave_instructions > stopped.executed);
    assert_int_equal(wm_read(w.machine, w.buffer, last, sizeof last, NULL), WM_OK);
    run = begin(&w, request);
    assert_int_equal(wm_run_restore(run, checkpoint, &diag), WM_OK);
    assert_int_equal(wm_write(w.machine, w.buffer, memory, sizeof memory, NULL), WM_OK);
    const struct wm_result rest = end(run, false);
    assert_int_equal(rest.fault.kind, WM_FAULT_NONE);
    assert_int_equal(rest.wave_instructions, whole.wave_instructions);
    assert_int_equal(wm_read(w.machine, w.buffer, again, sizeof again, NULL), WM_OK);
    assert_memory_equal(last, again, sizeof last);
    wm_checkpoint_destroy(checkpoint);
    destroy(&w);
}

/* Each workgroup adds to GDS and stores what was there. */
static void global_data(void **state)
{
    const struct wm_dispatch request = several();
    (void)state;
    resumes("gfx900",
            "s_mov_b32 m0, 0xffff\n"
            "v_lshlrev_b32 v1, 2, v0\n"
            "v_mov_b32 v2, 1\n"
            "ds_add_rtn_u32 v3, v1, v2 gds\n"
            "s_waitcnt 0\n"
            "global_store_dword v1, v3, s[2:3]\n"
            "s_endpgm\n",
            &request, 30);
}

/* The first half of the waves adds to a semaphore, and the others wait for it. */
static void global_sync(void **state)
{
    const struct wm_dispatch request = {
        .struct_size = sizeof request, .grid = {16 * LANES}, .workgroup = {LANES}};
    (void)state;
    resumes("gfx900",
            "s_mov_b32 m0, 0\n"
            "s_mov_b64 exec, 1\n"
            "v_mov_b32 v1, 0\n"
            "v_mov_b32 v2, 1\n"
            "global_atomic_add v3, v1, v2, s[2:3] glc\n"
            "s_waitcnt 0\n"
            "v_readfirstlane_b32 s5, v3\n"
            "s_cmp_lt_u32 s5, 8\n"
            "s_cbranch_scc0 waits\n"
            "ds_gws_sema_v offset:3 gds\n"
            "s_endpgm\n"
            "waits:\n"
            "ds_gws_sema_p offset:3 gds\n"
            "s_endpgm\n",
            &request, 8 * 11);
}

/* Two workgroups that meet at their cluster's barrier, more often than their turn lasts. */
static void clusters(void **state)
{
    const struct wm_dispatch request = {
        .struct_size = sizeof request, .grid = {4 * 64}, .workgroup = {64}, .cluster = {2, 1, 1}};
    (void)state;
    for (uint64_t least = 1; least < 3000; least += 800)
        resumes("gfx1250",
                "v_lshlrev_b32 v1, 2, v0\n"
                "v_mov_b32 v2, v0\n"
                "s_mov_b32 s5, 0\n"
                "outer:\n"
                "v_mul_lo_u32 v2, v2, 5\n"
                "s_barrier_signal -3\n"
                "s_barrier_wait -3\n"
                "s_add_co_u32 s5, s5, 1\n"
                "s_cmp_lt_u32 s5, 100\n"
                "s_cbranch_scc1 outer\n"
                "global_store_b32 v1, v2, s[2:3]\n"
                "s_endpgm\n",
                &request, least);
}

static void checkpoint_messages(void **state)
{
    struct world w = world_of("gfx900", kernel);
    struct wm_dispatch request = several();
    struct wm_checkpoint *checkpoint;
    struct wm_diag diag;
    (void)state;
    struct wm_run *run = begin(&w, &request);
    assert_int_equal(wm_run_save(run, &checkpoint, &diag), WM_BAD_ARGUMENT);
    assert_string_equal(diag.message, "wm_run_save: the run is not stopped with CHECKPOINT");
    run_to(run, (struct wm_stop_at){.checkpoint = 1});
    assert_int_equal(wm_run_save(run, NULL, &diag), WM_BAD_ARGUMENT);
    assert_int_equal(wm_run_save(run, &checkpoint, &diag), WM_OK);
    end(run, true);
    request.grid[0] += ITEMS;
    run = begin(&w, &request);
    assert_int_equal(wm_run_restore(run, NULL, &diag), WM_BAD_ARGUMENT);
    assert_int_equal(wm_run_restore(run, checkpoint, &diag), WM_BAD_ARGUMENT);
    assert_string_equal(diag.message, "wm_run_restore: the checkpoint is of another dispatch");
    end(run, true);
    wm_checkpoint_destroy(checkpoint);
    wm_checkpoint_destroy(NULL);
    assert_int_equal(wm_checkpoint_bytes(NULL), 0);
    destroy(&w);
}

/* ---- packets ---- */

/* The same kernel as a packet: stops, and gives the packet's result. */
static void packets(void **state)
{
    struct world w = world_of("gfx900", kernel);
    /* The 64 bytes of a descriptor: LDS, 8 SGPRs and 12 VGPRs are granulated in COMPUTE_PGM_RSRC1; RSRC2 asks
     * for the workgroup's x. */
    uint32_t descriptor[16] = {4 * ITEMS};
    struct wm_result result = {.struct_size = sizeof result};
    struct wm_packet packet = {.struct_size = sizeof packet,
                               .kernel_object = w.code - 16,
                               .grid = {GROUPS * ITEMS, 1, 1},
                               .workgroup = {ITEMS, 1, 1},
                               .descriptor = descriptor,
                               .name = "packet",
                               .result = &result};
    const struct wm_object *object;
    const struct wm_kernel *found;
    struct wm_run *run;
    struct wm_diag diag;
    uint64_t bias;
    (void)state;
    descriptor[12] = 1 << 6 | 5 | 0xc0 << 12; /* COMPUTE_PGM_RSRC1 */
    descriptor[13] = 1 << 7;                  /* COMPUTE_PGM_RSRC2 */
    if (wm_packet_kernel(w.machine, &packet, &object, &found, &bias, &diag))
        fail_msg("%s", diag.message);
    assert_string_equal(found->name, "packet");
    assert_int_equal(found->entry + bias, w.code - 16);
    if (wm_run_begin_packet(w.machine, &packet, &run, &diag))
        fail_msg("%s", diag.message);
    const struct wm_stopped stopped = run_to(run, (struct wm_stop_at){.executed = 50000});
    assert_int_equal(stopped.executed, 50000);
    assert_int_equal(run_to(run, (struct wm_stop_at){0}).kind, WM_STOP_END);
    ends_well(run);
    assert_int_equal(result.workgroups, GROUPS);
    assert_int_equal(wm_packet_kernel(w.machine, NULL, &object, &found, &bias, &diag), WM_BAD_ARGUMENT);
    assert_int_equal(wm_run_begin_packet(w.machine, NULL, &run, &diag), WM_BAD_ARGUMENT);
    packet.kernel_object = 2;
    assert_int_equal(wm_packet_kernel(w.machine, &packet, &object, &found, &bias, &diag), WM_BAD_ARGUMENT);
    assert_int_equal(wm_run_begin_packet(w.machine, &packet, &run, &diag), WM_BAD_ARGUMENT);
    assert_null(run);
    destroy(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(at_times),    cmocka_unit_test(at_places),
        cmocka_unit_test(checkpoints), cmocka_unit_test(checkpoint_messages),
        cmocka_unit_test(global_data), cmocka_unit_test(global_sync),
        cmocka_unit_test(clusters),    cmocka_unit_test(packets),
    };
    setenv("WAVEMEM_COMPILE", "always", 0); /* as early as possible */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
