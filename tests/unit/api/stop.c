/* SPDX-License-Identifier: MIT */
/* Runs that stop: every register after every instruction against a model in C, and what is changed at a stop
 * against results worked out by hand. */
#include "unit/api/runs.h"

/* ---- every register after every instruction ---- */

enum { SGPRS = 16, VGPRS = 8 };

/* What a wave should have. */
struct model {
    uint32_t s[SGPRS], v[VGPRS][LANES];
    uint64_t vcc, exec;
    uint32_t m0;
    bool scc;
    unsigned lanes;
};

#define EACH_LANE(m)                                                                                         \
    for (unsigned lane = 0; lane < (m)->lanes; lane++)                                                       \
        if ((m)->exec >> lane & 1)

static void mov_s4(struct model *m)
{
    m->s[4] = 0x1234;
}
static void add_s5(struct model *m)
{
    m->scc = m->s[4] + (uint64_t)0xfffff000u > UINT32_MAX;
    m->s[5] = m->s[4] + 0xfffff000u;
}
static void addc_s6(struct model *m)
{
    const uint64_t sum = (uint64_t)m->s[4] + m->s[5] + m->scc;
    m->s[6] = (uint32_t)sum;
    m->scc = sum > UINT32_MAX;
}
static void mov_m0(struct model *m)
{
    m->m0 = m->s[6];
}
static void shift_v1(struct model *m)
{
    EACH_LANE(m) m->v[1][lane] = m->v[0][lane] << 3;
}
static void xor_v2(struct model *m)
{
    EACH_LANE(m) m->v[2][lane] = m->s[4] ^ m->v[1][lane];
}
static void compare(struct model *m)
{
    m->vcc = 0;
    EACH_LANE(m) m->vcc |= (uint64_t)(0x40 > m->v[1][lane]) << lane;
}
static void choose_v3(struct model *m)
{
    EACH_LANE(m) m->v[3][lane] = m->vcc >> lane & 1 ? m->v[2][lane] : m->v[1][lane];
}
static void mask_exec(struct model *m)
{
    m->exec = 0xf0f;
}
static void mask_exec_wide(struct model *m)
{
    m->exec = 0xff00000000000001;
}
static void not_v4(struct model *m)
{
    EACH_LANE(m) m->v[4][lane] = ~m->v[3][lane];
}
static void multiply_v5(struct model *m)
{
    EACH_LANE(m) m->v[5][lane] = m->v[4][lane] * m->s[5];
}
static void read_s7(struct model *m)
{
    m->s[7] = m->v[4][__builtin_ctzll(m->exec)];
}
static void sub_s8(struct model *m)
{
    m->scc = m->s[8] < 1;
    m->s[8]--;
}
static void mov_s8(struct model *m)
{
    m->s[8] = 3;
}
static void compare_s8(struct model *m)
{
    m->scc = m->s[8] != 0;
}
static void nothing(struct model *m)
{
    (void)m;
}

struct line {
    const char *text;
    void (*effect)(struct model *m);
    unsigned wave_size; /* on targets with waves of so many lanes only; 0: any */
};

static const struct line lines[] = {
    {"s_movk_i32 s4, 0x1234", mov_s4, 0},
    {"s_add_u32 s5, s4, 0xfffff000", add_s5, 0},
    {"s_addc_u32 s6, s4, s5", addc_s6, 0},
    {"s_mov_b32 m0, s6", mov_m0, 0},
    {"v_lshlrev_b32 v1, 3, v0", shift_v1, 0},
    {"v_xor_b32 v2, s4, v1", xor_v2, 0},
    {"v_cmp_gt_u32 vcc_lo, 64, v1", compare, 32},
    {"v_cmp_gt_u32 vcc, 64, v1", compare, 64},
    {"v_cndmask_b32 v3, v1, v2, vcc_lo", choose_v3, 32},
    {"v_cndmask_b32 v3, v1, v2, vcc", choose_v3, 64},
    {"s_movk_i32 exec_lo, 0xf0f", mask_exec, 32},
    {"s_mov_b64 exec, s[14:15]", mask_exec_wide, 64}, /* its registers are set at a stop */
    {"v_not_b32 v4, v3", not_v4, 0},
    {"v_mul_lo_u32 v5, v4, s5", multiply_v5, 0},
    {"v_readfirstlane_b32 s7, v4", read_s7, 0},
    {"s_mov_b32 s8, 3", mov_s8, 0},
    {"loop:\ns_sub_u32 s8, s8, 1", sub_s8, 0},
    {"s_cmp_lg_u32 s8, 0", compare_s8, 0},
    {"s_cbranch_scc1 loop", nothing, 0},
    {"s_endpgm", nothing, 0},
};
enum { LINES = sizeof lines / sizeof *lines, LOOP = LINES - 4 };

static void same_registers(struct wm_run *run, const struct model *m, const char *after)
{
    char name[8];
    uint32_t values[LANES];
    for (unsigned i = 0; i < SGPRS; i++) {
        snprintf(name, sizeof name, "s%u", i);
        if (get(run, name) != m->s[i])
            fail_msg("after %s: %s is 0x%x, not 0x%x", after, name, get(run, name), m->s[i]);
    }
    for (unsigned i = 0; i < VGPRS; i++) {
        snprintf(name, sizeof name, "v%u", i);
        get_many(run, name, values, LANES);
        for (unsigned lane = 0; lane < m->lanes; lane++)
            if (values[lane] != m->v[i][lane])
                fail_msg("after %s: %s of lane %u is 0x%x, not 0x%x", after, name, lane, values[lane],
                         m->v[i][lane]);
    }
    if (get_mask(run, "vcc", m->lanes) != m->vcc || get_mask(run, "exec", m->lanes) != m->exec ||
        get(run, "scc") != m->scc || get(run, "m0") != m->m0)
        fail_msg("after %s: vcc %llx exec %llx scc %u m0 %x", after,
                 (unsigned long long)get_mask(run, "vcc", m->lanes),
                 (unsigned long long)get_mask(run, "exec", m->lanes), get(run, "scc"), get(run, "m0"));
}

static void take_registers(struct wm_run *run, struct model *m)
{
    char name[8];
    for (unsigned i = 0; i < SGPRS; i++) {
        snprintf(name, sizeof name, "s%u", i);
        m->s[i] = get(run, name);
    }
    for (unsigned i = 0; i < VGPRS; i++) {
        snprintf(name, sizeof name, "v%u", i);
        get_many(run, name, m->v[i], LANES);
    }
    m->exec = get_mask(run, "exec", m->lanes);
    m->vcc = get_mask(run, "vcc", m->lanes);
    m->m0 = get(run, "m0");
    m->scc = get(run, "scc");
}

static void check_steps(const char *target)
{
    struct model m = {.lanes = strlen(target) == 6 ? 64 : 32};
    const struct line *line[LINES];
    unsigned count = 0, loop = 0;
    char text[2048] = "";
    uint64_t pc[LINES], next_pc = 0;
    for (unsigned i = 0; i < LINES; i++) {
        if (lines[i].wave_size && lines[i].wave_size != m.lanes)
            continue;
        if (i == LOOP)
            loop = count;
        line[count++] = &lines[i];
        strcat(text, lines[i].text);
        strcat(text, "\n");
    }
    struct world w = world_of(target, text);
    struct wm_run *run = begin(&w, NULL);
    struct wm_stopped at = run_to_offset(run, &w, 0);
    assert_int_equal(at.instructions, 3);
    assert_int_equal(at.wave_size, m.lanes);
    set(run, "s14", 1);
    set(run, "s15", 0xff000000);
    take_registers(run, &m);
    assert_int_equal(m.s[2] | (uint64_t)m.s[3] << 32, w.buffer);
    for (unsigned lane = 0; lane < m.lanes; lane++)
        assert_int_equal(m.v[0][lane], lane);
    unsigned i = 0, executed = 3;
    for (; i + 1 < count; executed++) {
        uint32_t shown[2];
        assert_int_equal(at.pc, get_mask(run, "pc", 64));
        get_many(run, "pc", shown, 2);
        assert_int_equal(shown[0], (uint32_t)at.pc);
        assert_int_equal(at.lanes, m.exec);
        pc[i] = at.pc;
        line[i]->effect(&m);
        next_pc = at.pc + 4;
        at = step(run);
        assert_int_equal(at.kind, WM_STOP_STEP);
        assert_int_equal(at.instructions, executed + 1);
        same_registers(run, &m, line[i]->text);
        if (i + 2 == count && m.scc) {
            i = loop;
            assert_int_equal(at.pc, pc[loop]);
        } else {
            i++;
            assert_true(at.pc == next_pc || at.pc == next_pc + 4); /* with a literal */
        }
    }
    assert_int_equal(m.s[8], 0);
    at = step(run); /* s_endpgm */
    assert_int_equal(at.kind, WM_STOP_END);
    const struct wm_result result = end(run, false);
    assert_int_equal(result.wave_instructions, executed + 1);
    assert_int_equal(result.fault.kind, WM_FAULT_NONE);
    destroy(&w);
}

static void steps(void **state)
{
    (void)state;
    for (unsigned i = 0; i < TARGETS; i++)
        check_steps(targets[i]);
}

/* ---- changes ---- */

/* An SGPR that was an operand before, whose value steps may have kept; VCC and SCC between instructions that
 * otherwise are one step; and a VGPR. */
static void registers(void **state)
{
    (void)state;
    for (unsigned i = 0; i < TARGETS; i++) {
        struct world w = storing(targets[i], "s_mov_b32 s4, 1\n"
                                             "v_xor_b32 v1, s4, v0\n"
                                             "v_xor_b32 v1, s4, v1\n"
                                             "v_xor_b32 v1, s4, v1\n"
                                             "s_cmp_lg_u32 s4, s4\n"
                                             "s_cselect_b32 s5, 0x100, 0\n"
                                             "v_xor_b32 v1, s5, v1\n");
        struct wm_run *run = begin(&w, NULL);
        uint32_t v1[LANES];
        run_to_offset(run, &w, 12);
        set(run, "s4", 0x10);
        step(run);
        get_many(run, "v1", v1, LANES);
        for (unsigned lane = 0; lane < lanes_of(&w); lane++)
            v1[lane] += 0x20;
        set_many(run, "v1", v1, lanes_of(&w));
        step(run); /* s_cmp */
        assert_int_equal(get(run, "scc"), 0);
        set(run, "scc", 1);
        ends_well(run);
        for (unsigned lane = 0; lane < lanes_of(&w); lane++)
            assert_int_equal(word(&w, lane), (((lane ^ 1 ^ 1) ^ 0x10) + 0x20) ^ 0x100);
        destroy(&w);
    }
}

/* v_add_co_u32 and v_addc_co_u32 are one step when nothing observes the dispatch. */
static void carries(void **state)
{
    struct world w = storing("gfx900", "v_mov_b32 v2, -1\n"
                                       "v_mov_b32 v3, 5\n"
                                       "v_add_co_u32 v2, vcc, 1, v2\n"
                                       "v_addc_co_u32 v1, vcc, 0, v3, vcc\n");
    (void)state;
    struct wm_run *run = begin(&w, NULL);
    run_to_offset(run, &w, 12);
    assert_int_equal(get_mask(run, "vcc", 64), UINT64_MAX);
    assert_int_equal(get(run, "vcc_hi"), UINT32_MAX);
    set(run, "vcc_lo", 0x0000ffff);
    set(run, "vcc_hi", 0);
    ends_well(run);
    for (unsigned lane = 0; lane < 64; lane++)
        assert_int_equal(word(&w, lane), lane < 16 ? 6 : 5);
    destroy(&w);
}

static void exec_masks_lanes(void **state)
{
    (void)state;
    for (unsigned i = 0; i < TARGETS; i++) {
        struct world w = storing(targets[i], "v_mov_b32 v1, 1\n"
                                             "s_nop 0\n"
                                             "v_mov_b32 v1, 2\n"
                                             "v_mov_b32 v1, 3\n"
                                             "s_cbranch_execz none\n"
                                             "v_mov_b32 v1, 4\n"
                                             "none:\n"
                                             "s_nop 0\n");
        const unsigned lanes = lanes_of(&w);
        const uint64_t all = lanes == 64 ? UINT64_MAX : UINT32_MAX, some = UINT64_C(0xf00000000ff0) & all;
        struct wm_run *run = begin(&w, NULL);
        run_to_offset(run, &w, 8);
        set_mask(run, "exec", lanes, some);
        assert_int_equal(step(run).lanes, some);
        set_mask(run, "exec", lanes, 0);
        const struct wm_stopped at = step(run);
        assert_int_equal(at.lanes, 0);
        assert_int_equal(step(run).pc, at.pc + 8); /* the branch is taken */
        set_mask(run, "exec", lanes, all);
        ends_well(run);
        for (unsigned lane = 0; lane < lanes; lane++)
            assert_int_equal(word(&w, lane), some >> lane & 1 ? 2 : 1);
        destroy(&w);
    }
}

/* 1 + 2^-25 is 1 rounded to nearest, and the next float rounded up. Denormals: 2^-140 + 0. */
static void mode_rounds(void **state)
{
    (void)state;
    for (unsigned i = 0; i < TARGETS; i++) {
        struct world w = storing(targets[i], "v_mov_b32 v2, 0x33000000\n"
                                             "v_mov_b32 v3, 0x200\n"
                                             "v_add_f32 v1, 1.0, v2\n"
                                             "v_add_f32 v4, 1.0, v2\n"
                                             "v_add_f32 v5, 1.0, v2\n"
                                             "v_add_f32 v6, v3, v3\n"
                                             "v_add_f32 v8, v3, v3\n");
        struct wm_run *run = begin(&w, NULL);
        uint32_t v[LANES];
        run_to_offset(run, &w, 20);
        get_many(run, "v1", v, LANES);
        assert_int_equal(v[1], 0x3f800000);
        const uint32_t mode = get(run, "mode");
        assert_int_equal(mode & 0xff, 0xf0);
        set(run, "mode", mode | 1); /* up */
        step(run);
        get_many(run, "v4", v, LANES);
        assert_int_equal(v[1], 0x3f800001);
        set(run, "mode", mode);
        step(run);
        get_many(run, "v5", v, LANES);
        assert_int_equal(v[1], 0x3f800000);
        step(run);
        get_many(run, "v6", v, LANES);
        assert_int_equal(v[1], 0x400);
        set(run, "mode", mode & ~0x30u);
        step(run);
        get_many(run, "v8", v, LANES);
        assert_int_equal(v[1], 0);
        assert_int_equal(get(run, "mode"), mode & ~0x30u);
        ends_well(run);
        destroy(&w);
    }
}

/* Registers that are no numbered ones. */
static void special_registers(void **state)
{
    struct world w = storing("gfx900", "v_mov_b32 v1, m0\n"
                                       "s_mov_b32 s4, ttmp5\n"
                                       "s_mov_b32 s5, flat_scratch_hi\n"
                                       "s_mov_b32 s6, xnack_mask_lo\n"
                                       "s_nop 0\n");
    const uint32_t pair[2] = {8, 9};
    (void)state;
    struct wm_run *run = begin(&w, NULL);
    run_to_offset(run, &w, 0);
    set(run, "M0", 5);
    set(run, "ttmp5", 6);
    set_many(run, "flat_scratch", pair, 2);
    set_many(run, "xnack_mask", pair, 2);
    assert_int_equal(get(run, "flat_scratch_lo"), 8);
    assert_int_equal(get(run, "xnack_mask_hi"), 9);
    run_to_offset(run, &w, 16);
    assert_int_equal(get(run, "s4"), 6);
    assert_int_equal(get(run, "s5"), 9);
    assert_int_equal(get(run, "s6"), 8);
    ends_well(run);
    assert_int_equal(word(&w, 9), 5);
    destroy(&w);
}

static void accumulators(void **state)
{
    struct world w = world_of("gfx908", "v_accvgpr_write_b32 a3, v0\n"
                                        "v_accvgpr_read_b32 v1, a3\n"
                                        "v_lshlrev_b32 v7, 2, v0\n"
                                        "global_store_dword v7, v1, s[2:3]\n"
                                        "s_endpgm\n");
    uint32_t a[LANES];
    (void)state;
    struct wm_run *run = begin(&w, NULL);
    const struct wm_stopped at = run_to_offset(run, &w, 8);
    assert_true(at.agprs > 3);
    get_many(run, "a3", a, LANES);
    for (unsigned lane = 0; lane < 64; lane++) {
        assert_int_equal(a[lane], lane);
        a[lane] = 100 - lane;
    }
    set_many(run, "a3", a, 64);
    ends_well(run);
    assert_int_equal(word(&w, 63), 37);
    destroy(&w);
}

/* ---- accesses ---- */

struct counts {
    unsigned instructions, accesses;
};

static void count_event(void *user, const struct wm_event *event)
{
    struct counts *counts = user;
    counts->instructions += event->kind == WM_EVENT_INSTRUCTION;
    counts->accesses += event->kind == WM_EVENT_ACCESS;
}

/* The store of lane 9 and 10 is caught before it happens, and sent elsewhere. An observer is shown it once.
 */
static void accesses(void **state)
{
    (void)state;
    for (unsigned i = 0; i < TARGETS; i++) {
        struct world w = storing(targets[i], "v_mov_b32 v1, 7\n");
        struct counts counts = {0};
        const struct wm_observer observer = {.struct_size = sizeof observer,
                                             .events = WM_EVENT_INSTRUCTION | WM_EVENT_ACCESS |
                                                       (i % 2 ? WM_EVENT_VALUES : 0),
                                             .user = &counts,
                                             .event = count_event};
        const struct wm_observer *const observers[] = {&observer};
        struct wm_dispatch request = one_wave(&w);
        request.observers = observers;
        request.observer_count = 1;
        struct wm_run *run = begin(&w, &request);
        const struct wm_stop_at at = {.access_low = w.buffer + 39,
                                      .access_high = w.buffer + 41,
                                      .stores = true},
                                loads = {.access_low = 0, .access_high = UINT64_MAX, .loads = true};
        const struct wm_stopped stopped = run_to(run, at);
        assert_int_equal(stopped.kind, WM_STOP_ACCESS);
        assert_int_equal(stopped.pc, w.code + 8);
        assert_int_equal(stopped.access_lanes, 3 << 9);
        assert_int_equal(stopped.address, w.buffer + 36);
        assert_int_equal(stopped.instructions, 5);
        assert_int_equal(word(&w, 9), 0);
        uint32_t offsets[LANES];
        get_many(run, "v7", offsets, LANES);
        offsets[9] = 4 * 500;
        offsets[10] = 36; /* in the range, but the stop is over */
        set_many(run, "v7", offsets, lanes_of(&w));
        assert_int_equal(run_to(run, loads).kind, WM_STOP_END);
        assert_int_equal(end(run, false).fault.kind, WM_FAULT_NONE);
        assert_int_equal(word(&w, 500), 7);
        assert_int_equal(word(&w, 9), 7);
        assert_int_equal(word(&w, 10), 0);
        assert_int_equal(word(&w, 11), 7);
        assert_int_equal(counts.accesses, 1);
        assert_int_equal(counts.instructions, 3 + 4);
        destroy(&w);
    }
}

/* Scalar loads, whose base and offset are changed at the stop, and atomics, which load and store. */
static void other_accesses(void **state)
{
    struct world w = storing("gfx900", "s_load_dwordx2 s[4:5], s[2:3], 0x20\n"
                                       "s_waitcnt lgkmcnt(0)\n"
                                       "v_mov_b32 v1, 0\n"
                                       "v_mov_b32 v3, 1\n"
                                       "global_atomic_add v1, v3, s[2:3] offset:64\n"
                                       "v_mov_b32 v1, s4\n");
    struct wm_stop_at at = {.access_low = w.buffer + 0x24, .access_high = w.buffer + 0x25, .loads = true};
    (void)state;
    put_word(&w, 8, 0x11);
    put_word(&w, 0x41, 0x22);
    struct wm_run *run = begin(&w, NULL);
    struct wm_stopped stopped = run_to(run, at);
    assert_int_equal(stopped.kind, WM_STOP_ACCESS);
    assert_int_equal(stopped.address, w.buffer + 0x20);
    assert_int_equal(stopped.access_lanes, 1);
    set(run, "s2", (uint32_t)w.buffer + 0xe4);
    stopped = step(run);
    assert_int_equal(get(run, "s4"), 0x22);
    set(run, "s2", (uint32_t)w.buffer);
    at.access_low = w.buffer + 64;
    at.access_high = w.buffer + 68;
    stopped = run_to(run, at);
    assert_int_equal(stopped.kind, WM_STOP_ACCESS);
    assert_int_equal(stopped.access_lanes, UINT64_MAX);
    set_mask(run, "exec", 64, 7);
    step(run);
    assert_int_equal(word(&w, 16), 3);
    set_mask(run, "exec", 64, UINT64_MAX);
    ends_well(run);
    assert_int_equal(word(&w, 3), 0x22);
    destroy(&w);
}

/* Memory is allocated and freed at stops, also before an access to what is freed, which then faults. */
static void allocations(void **state)
{
    (void)state;
    for (unsigned frees = 0; frees < 3; frees++) {
        struct world w = storing("gfx900", "v_mov_b32 v1, 7\n"
                                           "v_lshlrev_b32 v2, 2, v0\n"
                                           "global_load_dword v3, v2, s[2:3]\n");
        struct wm_stop_at at = {
            .access_low = w.buffer, .access_high = w.buffer + 4 * WORDS, .loads = true, .stores = true};
        const uint64_t buffer = w.buffer;
        struct wm_run *run = begin(&w, NULL);
        assert_int_equal(run_to(run, at).kind, WM_STOP_ACCESS); /* the load */
        assert_int_equal(run_to(run, at).kind, WM_STOP_ACCESS); /* the store */
        assert_int_equal(wm_allocate(w.machine, 4 * WORDS, 0, "more", &w.buffer, NULL), WM_OK);
        if (frees < 2) {
            set(run, "s2", (uint32_t)w.buffer);
            set(run, "s3", (uint32_t)(w.buffer >> 32));
        }
        if (frees)
            assert_int_equal(wm_free(w.machine, buffer, NULL), WM_OK);
        if (frees == 2)
            assert_int_equal(run_to(run, at).kind, WM_STOP_FAULT);
        assert_int_equal(end(run, false).fault.kind, frees == 2 ? WM_FAULT_MEMORY : WM_FAULT_NONE);
        assert_int_equal(word(&w, 33), frees == 2 ? 0 : 7);
        destroy(&w);
    }
}

/* A block is shown as two accesses, of which the first one is in the range; and lane 1 before lane 3. */
static void blocks(void **state)
{
    struct world w = world_of("gfx1200", "s_mov_b32 m0, -1\n"
                                         "v_xor_b32 v1, 2, v0\n"
                                         "v_lshlrev_b32 v1, 7, v1\n"
                                         "s_nop 0\n"
                                         "global_load_block v[8:39], v1, s[2:3]\n"
                                         "s_endpgm\n");
    (void)state;
    struct wm_run *run = begin(&w, NULL);
    const struct wm_stopped stopped = run_to(run, (struct wm_stop_at){.access_low = w.buffer + 128 + 60,
                                                                      .access_high = w.buffer + 3 * 128 + 1,
                                                                      .loads = true});
    assert_int_equal(stopped.kind, WM_STOP_ACCESS);
    assert_int_equal(stopped.access_lanes, 1 << 0 | 1 << 1 | 1 << 3);
    assert_int_equal(stopped.address, w.buffer + 2 * 128);
    ends_well(run);
    destroy(&w);
}

static void lds(void **state)
{
    (void)state;
    for (unsigned i = 0; i < TARGETS; i++) {
        struct world w = storing(targets[i], "s_mov_b32 m0, -1\n"
                                             "v_lshlrev_b32 v2, 3, v0\n"
                                             "v_mov_b32 v3, 9\n"
                                             "ds_write_b32 v2, v3 offset:8\n"
                                             "s_nop 0\n"
                                             "ds_read_b32 v1, v2 offset:8\n"
                                             "s_nop 0\n");
        struct wm_stop_at at = {.access_low = 24, .access_high = 28, .stores = true, .lds = true};
        uint32_t words[64] = {0}, v2[LANES];
        struct wm_dispatch request = one_wave(&w);
        request.alignment = WM_ALIGNMENT_DWORD; /* addresses are computed before the access is seen */
        struct wm_run *run = begin(&w, &request);
        struct wm_stopped stopped = run_to(run, at);
        assert_int_equal(stopped.kind, WM_STOP_ACCESS);
        assert_int_equal(stopped.access_lanes, 4);
        assert_int_equal(stopped.address, 24);
        assert_int_equal(stopped.lds_bytes, 1024);
        step(run);
        assert_int_equal(wm_run_read_lds(run, 0, words, sizeof words, NULL), WM_OK);
        for (unsigned n = 0; n < 64; n++)
            assert_int_equal(words[n], n >= 2 && n % 2 == 0 ? 9 : 0);
        words[0] = 0x77;
        assert_int_equal(wm_run_write_lds(run, 24, words, 4, NULL), WM_OK);
        at.stores = false;
        at.loads = true;
        stopped = run_to(run, at);
        assert_int_equal(stopped.kind, WM_STOP_ACCESS);
        get_many(run, "v2", v2, LANES);
        v2[5] = 18;
        set_many(run, "v2", v2, lanes_of(&w));
        ends_well(run);
        for (unsigned lane = 0; lane < lanes_of(&w); lane++)
            assert_int_equal(word(&w, lane), lane == 2 || lane == 5 ? 0x77 : 9);
        destroy(&w);
    }
}

/* ---- waves ---- */

static void waves(void **state)
{
    struct world w = world_of("gfx900", meeting);
    const uint64_t address = w.code + 8;
    const uint32_t group[3] = {1, 2, 0}, other[3] = {0, 0, 0};
    struct wm_dispatch request = one_wave(&w);
    struct wm_stopped stopped = {.struct_size = sizeof stopped};
    (void)state;
    request.grid[0] = 3 * 64 * 3;
    request.workgroup[0] = 3 * 64;
    request.grid[1] = 4;
    struct wm_run *run = begin(&w, &request);
    stopped = run_to(run, (struct wm_stop_at){.at_wave = true, .workgroup = {1, 2, 0}, .wave = 2});
    assert_int_equal(stopped.kind, WM_STOP_WAVE);
    assert_memory_equal(stopped.workgroup, group, sizeof group);
    assert_int_equal(stopped.wave, 2);
    assert_int_equal(stopped.instructions, 0);
    assert_int_equal(stopped.pc, w.code - 16);
    /* The other waves wait at the barrier. */
    stopped = (struct wm_stopped){.struct_size = sizeof stopped};
    assert_int_equal(wm_run_select(run, group, 1, &stopped, NULL), WM_OK);
    assert_int_equal(stopped.pc, w.code + 4);
    assert_int_equal(stopped.wave, 1);
    assert_int_equal(stopped.instructions, 5);
    uint32_t v0[LANES];
    get_many(run, "v0", v0, LANES);
    assert_int_equal(v0[3], 64 + 3);
    assert_int_equal(get(run, "s2"), (uint32_t)w.buffer);
    set(run, "s9", 99);
    set(run, "mode", get(run, "mode") | 3);
    assert_int_equal(wm_run_select(run, other, 0, &stopped, NULL), WM_NOT_FOUND); /* has ended */
    assert_int_equal(wm_run_select(run, group, 3, &stopped, NULL), WM_NOT_FOUND);
    assert_int_equal(wm_run_select(run, group, 2, NULL, NULL), WM_OK);
    assert_int_equal(get(run, "s9"), 0);
    /* A step of this wave, while the others go on at the barrier. */
    for (unsigned i = 1; i <= 5; i++) {
        stopped = step(run);
        assert_int_equal(stopped.wave, 2);
        assert_int_equal(stopped.instructions, i);
    }
    assert_int_equal(stopped.pc, w.code + 8);
    stopped = run_to(
        run,
        (struct wm_stop_at){
            .addresses = &address, .address_count = 1, .at_wave = true, .workgroup = {2, 3, 0}, .wave = 1});
    assert_int_equal(stopped.kind, WM_STOP_ADDRESS);
    assert_int_equal(stopped.workgroup[1], 3);
    assert_int_equal(stopped.wave, 1);
    /* The wave ends: on to the next that executes anything. */
    stopped = step(run);
    assert_int_equal(stopped.wave, 1);
    stopped = step(run);
    assert_int_equal(stopped.kind, WM_STOP_STEP);
    assert_int_equal(stopped.wave, 2);
    assert_int_equal(stopped.pc, w.code + 8);
    const struct wm_result result = end(run, false);
    assert_int_equal(result.waves, 36);
    assert_int_equal(result.wave_instructions, 36 * 7);
    destroy(&w);
}

/* The second workgroup waits for a word that the first one, which waits for another one, never writes: the
 * caller writes it at a stop, or changes a register of the waiting wave. Without that it is a deadlock. */
static void waiting_waves(void **state)
{
    static const char text[] = "again:\n"
                               "s_load_dword s5, s[2:3], 0x0\n"
                               "s_waitcnt lgkmcnt(0)\n"
                               "s_add_u32 s5, s5, s9\n"
                               "s_cmp_eq_u32 s5, 0\n"
                               "s_cbranch_scc1 again\n"
                               "s_endpgm\n";
    const uint32_t first[3] = {0, 0, 0}, second[3] = {1, 0, 0};
    (void)state;
    for (unsigned way = 0; way < 3; way++) {
        struct world w = world_of("gfx900", text);
        struct wm_dispatch request = one_wave(&w);
        struct wm_stopped stopped = {.struct_size = sizeof stopped};
        request.grid[0] = 128;
        struct wm_run *run = begin(&w, &request);
        stopped =
            run_to(run, (struct wm_stop_at){.at_wave = true, .workgroup = {1, 0, 0}, .instructions = 40});
        assert_int_equal(stopped.kind, WM_STOP_STEP);
        assert_int_equal(stopped.workgroup[0], 1);
        stopped = (struct wm_stopped){.struct_size = sizeof stopped};
        assert_int_equal(wm_run_select(run, first, 0, &stopped, NULL), WM_OK);
        assert_int_equal(stopped.pc, w.code);
        if (way == 1)
            put_word(&w, 0, 1);
        if (way == 2) {
            set(run, "s9", 1);
            assert_int_equal(wm_run_select(run, second, 0, NULL, NULL), WM_OK);
            set(run, "s9", 1);
        }
        assert_int_equal(end(run, false).fault.kind, way ? WM_FAULT_NONE : WM_FAULT_DEADLOCK);
        destroy(&w);
    }
}

/* The first workgroup waits for word 0 and then writes word 1, for which the second one waits. Word 0 is
 * written at a stop of the second, after any number of its instructions: when it has its first turn, and when
 * it is looked at only for whether it still waits. */
static void no_deadlock(void **state)
{
    static const char text[] = "s_lshl_b32 s6, s4, 2\n"
                               "again:\n"
                               "s_load_dword s5, s[2:3], s6\n"
                               "s_waitcnt lgkmcnt(0)\n"
                               "s_cmp_eq_u32 s5, 0\n"
                               "s_cbranch_scc1 again\n"
                               "v_mov_b32 v1, 4\n"
                               "global_store_dword v1, v1, s[2:3]\n"
                               "s_endpgm\n";
    unsigned stops = 0, deadlocks = 0;
    (void)state;
    for (unsigned n = 2000; n < 2130; n++) {
        struct world w = world_of("gfx900", text);
        struct wm_dispatch request = one_wave(&w);
        request.grid[0] = 128;
        struct wm_run *run = begin(&w, &request);
        run_to_offset(run, &w, 0);
        assert_int_equal(get(run, "s4"), 0); /* the workgroup's number in z */
        const uint64_t start = w.code;
        run_to(run, (struct wm_stop_at){
                        .addresses = &start, .address_count = 1, .at_wave = true, .workgroup = {1, 0, 0}});
        set(run, "s4", 1);
        const struct wm_stopped stopped =
            run_to(run, (struct wm_stop_at){.at_wave = true, .workgroup = {1, 0, 0}, .instructions = n});
        stops += stopped.kind == WM_STOP_STEP;
        if (stopped.kind == WM_STOP_STEP)
            put_word(&w, 0, 1);
        const enum wm_fault_kind kind = end(run, false).fault.kind;
        assert_int_equal(kind, stopped.kind == WM_STOP_STEP ? WM_FAULT_NONE : WM_FAULT_DEADLOCK);
        deadlocks += kind == WM_FAULT_DEADLOCK;
        destroy(&w);
    }
    assert_true(stops > 60 && deadlocks > 0);
}

/* ---- the same as without stops ---- */

static void fill(const struct world *w)
{
    for (unsigned i = 0; i < WORDS; i++)
        put_word(w, i, i * 0x9e3779b9u);
}

static void same_buffers(const struct world *a, const struct world *b)
{
    for (unsigned i = 0; i < WORDS; i++)
        assert_int_equal(word(a, i), word(b, i));
}

static void same_rows(struct wm_profile *a, struct wm_profile *b)
{
    size_t count[2];
    const struct wm_profile_row *x = wm_profile_rows(a, &count[0]), *y = wm_profile_rows(b, &count[1]);
    assert_int_equal(count[0], count[1]);
    assert_true(count[0] == 4);
    for (size_t i = 0; i < count[0]; i++) {
        assert_string_equal(x[i].text, y[i].text);
        assert_int_equal(x[i].executions, y[i].executions);
        assert_int_equal(x[i].lanes, y[i].lanes);
        assert_int_equal(x[i].lines, y[i].lines);
        assert_int_equal(x[i].distinct_bytes, y[i].distinct_bytes);
        assert_int_equal(x[i].read_requests, y[i].read_requests);
        assert_int_equal(x[i].lds_conflicts, y[i].lds_conflicts);
        assert_int_equal(x[i].memory_read, y[i].memory_read);
        assert_int_equal(x[i].memory_written, y[i].memory_written);
        assert_int_equal(x[i].wait_depth, y[i].wait_depth);
        assert_memory_equal(x[i].cache, y[i].cache, sizeof x[i].cache);
        assert_true(x[i].share == y[i].share);
    }
}

/* stride: instructions between two stops; 0: to the end at once. */
static void same_as_dispatch(unsigned stride)
{
    struct world plain = world_of("gfx900", work), stopped = world_of("gfx900", work);
    struct wm_dispatch request = one_wave(&plain);
    struct wm_result a = {.struct_size = sizeof a};
    struct wm_profile *profile[2];
    struct wm_check *check[2];
    size_t stops = 0, findings[2];
    request.grid[0] = 4 * 192;
    request.workgroup[0] = 192;
    request.threads = 1;
    fill(&plain);
    fill(&stopped);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(wm_profile_create(&profile[i], NULL), WM_OK);
        assert_int_equal(wm_check_create(WM_CHECK_WAITS | WM_CHECK_HAZARDS, &check[i], NULL), WM_OK);
    }
    request.profile = profile[0];
    request.check = check[0];
    assert_int_equal(wm_dispatch(plain.machine, plain.object, plain.kernel, &request, &a, NULL), WM_OK);
    request.profile = profile[1];
    request.check = check[1];
    struct wm_run *run = begin(&stopped, &request);
    while (stride && run_to(run, (struct wm_stop_at){.instructions = stride}).kind != WM_STOP_END)
        stops++;
    /* The first wave of each workgroup has 53 instructions; the others have executed 8, up to the barrier,
     * when it has ended. */
    const size_t instructions = 4 * (53 + 2 * (53 - 8));
    assert_true(stride == 1 ? stops == instructions : !stride || stops >= instructions / stride);
    const struct wm_result b = end(run, false);
    same_buffers(&plain, &stopped);
    assert_int_equal(a.fault.kind, b.fault.kind);
    assert_int_equal(a.wave_instructions, b.wave_instructions);
    assert_int_equal(a.waves, b.waves);
    assert_int_equal(a.workgroups, b.workgroups);
    assert_int_equal(a.reproducible, b.reproducible);
    assert_true(b.seconds >= 0 && b.seconds < 60);
    same_rows(profile[0], profile[1]);
    for (unsigned i = 0; i < 2; i++) {
        wm_check_findings(check[i], &findings[i]);
        wm_profile_destroy(profile[i]);
        wm_check_destroy(check[i]);
    }
    assert_int_equal(findings[0], findings[1]);
    destroy(&plain);
    destroy(&stopped);
}

static void same_results(void **state)
{
    (void)state;
    same_as_dispatch(0);
    same_as_dispatch(1);
    same_as_dispatch(7);
}

/* ---- times, ranges, ends of waves ---- */

/* Four waves of 3 + 4 instructions each, none of which waits: wave 1 begins behind the 7 of wave 0. A time is
 * the same place in each run, whatever else stops it before. */
static void times(void **state)
{
    struct world w = world_of("gfx900", "s_mov_b32 s4, 1\ns_mov_b32 s5, 2\ns_nop 0\ns_endpgm\n");
    struct wm_dispatch request = one_wave(&w);
    (void)state;
    request.grid[0] = request.workgroup[0] = 4 * lanes_of(&w);
    for (unsigned step = 0; step < 2; step++) {
        struct wm_run *run = begin(&w, &request);
        for (uint64_t time = 5; time < 4 * 7; time += 5) {
            struct wm_stopped stopped;
            do /* in the second run by steps */
                stopped = run_to(run, (struct wm_stop_at){.executed = time, .instructions = step});
            while (stopped.executed < time);
            assert_int_equal(stopped.kind, WM_STOP_STEP);
            assert_int_equal(stopped.executed, time);
            assert_int_equal(stopped.wave, time / 7);
            assert_int_equal(stopped.instructions, time % 7);
        }
        assert_int_equal(run_to(run, (struct wm_stop_at){.executed = 28}).kind, WM_STOP_END);
        ends_well(run);
    }
    struct wm_run *run = begin(&w, &request); /* the end of wave 1 */
    struct wm_stopped stopped = run_to(
        run, (struct wm_stop_at){.at_wave = true, .wave = 1, .at_wave_end = true, .instructions = 100});
    assert_int_equal(stopped.kind, WM_STOP_STEP);
    assert_int_equal(stopped.wave, 2);
    assert_int_equal(stopped.executed, 14);
    ends_well(run);
    destroy(&w);
}

static void ranges(void **state)
{
    struct world w = storing("gfx900", "v_mov_b32 v1, 7\n");
    const struct wm_stop_range list[] = {{w.buffer, w.buffer + 400, true, false, false},
                                         {w.buffer + 80, w.buffer + 84, false, true, false},
                                         {w.buffer + 90, w.buffer + 92, true, true, false}};
    (void)state;
    struct wm_run *run = begin(&w, NULL);
    const struct wm_stopped stopped = run_to(run, (struct wm_stop_at){.ranges = list, .range_count = 3});
    assert_int_equal(stopped.kind, WM_STOP_ACCESS);
    assert_int_equal(stopped.ranges, 6);
    assert_int_equal(stopped.access_lanes, (1 << 20) | (1 << 22));
    assert_int_equal(stopped.address, w.buffer + 80);
    ends_well(run);
    destroy(&w);
}

/* Raw code has no private memory; tests/tool/debug.py reads that of a kernel. */
static void no_private_memory(void **state)
{
    struct world w = world_of("gfx900", "s_nop 0\ns_endpgm\n");
    uint32_t value = 0;
    (void)state;
    struct wm_run *run = begin(&w, NULL);
    step(run);
    assert_int_equal(wm_run_read_private(run, 0, 0, &value, 4, NULL), WM_OUT_OF_RANGE);
    assert_int_equal(wm_run_write_private(run, 64, 0, &value, 4, NULL), WM_BAD_ARGUMENT);
    assert_int_equal(wm_run_read_private(run, 0, 0, NULL, 4, NULL), WM_BAD_ARGUMENT);
    ends_well(run);
    destroy(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps),
        cmocka_unit_test(registers),
        cmocka_unit_test(carries),
        cmocka_unit_test(exec_masks_lanes),
        cmocka_unit_test(mode_rounds),
        cmocka_unit_test(special_registers),
        cmocka_unit_test(accumulators),
        cmocka_unit_test(accesses),
        cmocka_unit_test(other_accesses),
        cmocka_unit_test(allocations),
        cmocka_unit_test(blocks),
        cmocka_unit_test(lds),
        cmocka_unit_test(waves),
        cmocka_unit_test(waiting_waves),
        cmocka_unit_test(no_deadlock),
        cmocka_unit_test(same_results),
        cmocka_unit_test(times),
        cmocka_unit_test(ranges),
        cmocka_unit_test(no_private_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
