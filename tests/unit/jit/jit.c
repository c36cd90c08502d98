/* SPDX-License-Identifier: MIT */
/* Compares compiled steps with the bodies that interpret them: each step that the compiler knows alone, and
 * random sequences of them, for both wave sizes. Steps of memory: compile_memory.c. */
#include "unit/jit/jit_program.h"

enum { ROUNDS_OF_ONE = 60, FOLLOWER = WMI_STEP_BODIES + WMI_INSN_v_xor_b32 };

/* Few random f64 are in the range of a conversion: takes those that another one has made. */
static void convert_back(struct program *p, unsigned round)
{
    const uint16_t id = p->steps[0].id;
    if (id != WMI_STEP_BODIES + WMI_INSN_v_cvt_i32_f64 && id != WMI_STEP_BODIES + WMI_INSN_v_cvt_u32_f64 &&
        id != WMI_STEP_BODIES + WMI_INSN_v_cvt_f32_f64)
        return;
    p->steps[1] = p->steps[0];
    p->steps[0] = some_step(p, round % 3 == 0   ? WMI_STEP_BODIES + WMI_INSN_v_cvt_f64_i32
                               : round % 3 == 1 ? WMI_STEP_BODIES + WMI_INSN_v_cvt_f64_u32
                                                : WMI_STEP_BODIES + WMI_INSN_v_cvt_f64_f32);
    p->steps[1].a = p->steps[0].d;
}

static void test_each_step(void **state)
{
    (void)state;
    unsigned known = 0;
    for (unsigned lanes = 32; lanes <= 64; lanes += 32) {
        struct program p;
        create(&p, lanes);
        for (unsigned id = 1; id < WMI_STEP_COUNT; id++) {
            if (!is_known((enum wmi_step_id)id))
                continue;
            known++;
            for (unsigned round = 0; round < ROUNDS_OF_ONE; round++) {
                choose_mode(&p);
                p.count = 2;
                p.steps[0] = some_step(&p, (enum wmi_step_id)id);
                p.steps[1] = some_step(&p, (enum wmi_step_id)(round & 1 ? id : FOLLOWER));
                read_temporaries(&p);
                convert_back(&p, round);
                check(&p, 3);
            }
        }
        destroy(&p);
    }
    assert_true(known > 300);
}

static enum wmi_step_id some_known(void)
{
    static uint16_t ids[WMI_STEP_COUNT];
    static unsigned count;
    if (!count)
        for (unsigned id = 1; id < WMI_STEP_COUNT; id++)
            if (is_known((enum wmi_step_id)id) &&
                !(wmi_step_facts_of((enum wmi_step_id)id).writes & WMI_ON_EXEC))
                ids[count++] = (uint16_t)id; /* those that write EXEC: change_exec() */
    return (enum wmi_step_id)ids[below(count)];
}

enum { LONGEST = 38 };

/* At least so many random steps. */
static void create_sequence(struct program *p, unsigned lanes, uint32_t least)
{
    create(p, lanes);
    choose_mode(p);
    p->count = least + below(LONGEST - least);
    for (size_t k = 0; k < p->count; k++)
        p->steps[k] = some_step(p, some_known());
}

static void test_sequences(void **state)
{
    (void)state;
    const unsigned sequences = reduced() ? REDUCED_SEQUENCES : SEQUENCES;
    for (unsigned i = 0; i < sequences; i++) {
        struct program p;
        create_sequence(&p, i & 1 ? 32 : 64, 2);
        for (unsigned more = below(4); more && p.count > 8; more--)
            multiply_low(&p, below((uint32_t)p.count - 4));
        for (unsigned more = below(3); more && p.count > 8; more--)
            keep_half(&p, below((uint32_t)p.count - 6));
        const uint32_t kind = below(4);
        p.stays = below(2);
        if (below(2))
            make_uniform(&p);
        if (kind > 1)
            make_loop(&p);
        if (kind == 1)
            change_exec(&p, below((uint32_t)p.count - 1));
        if (kind == 0 && p.count > 8)
            make_skip(&p, below((uint32_t)p.count - 4));
        read_temporaries(&p);
        check(&p, 3);
        destroy(&p);
    }
}

/* Some rows have infinities, of which sums and products make NaNs, or different NaNs. */
static void fill_floats(struct program *p)
{
    const unsigned lanes = p->code.options.lanes;
    for (unsigned number = 0; number < VGPRS; number++) {
        uint32_t *row = (uint32_t *)((char *)p->initial + row_at(p, number));
        const bool has_infinities = !below(4);
        for (unsigned i = 0; i < lanes; i++)
            row[i] = has_infinities && !below(16) ? 0x7f800000 | below(2) << 31 | (below(2) ? 0 : word() >> 9)
                                                  : (0x3f000000 | ((uint32_t)random_64() & 0x80ffffff));
    }
}

static void do_nothing(struct program *p)
{
    (void)p;
}

static const struct accessed_memory floats = {fill_floats, do_nothing, do_nothing, do_nothing};

/* Chains of f32 operations, which make and pass on NaNs. */
static void test_floats(void **state)
{
    static const uint16_t steps[] = {
#define BODY(name) WMI_STEP_BODIES + WMI_INSN_##name
        BODY(v_add_f32),           BODY(v_sub_f32),
        BODY(v_mul_f32),           BODY(v_fma_f32),
        BODY(v_mac_f32),           BODY(v_add_f32),
        BODY(v_mul_f32),           BODY(v_fmac_f32),
        BODY(v_mad_f32),           BODY(v_fma_f32),
        BODY(v_rcp_f32),           BODY(v_sqrt_f32),
        BODY(v_min_f32),           BODY(v_mov_b32),
        BODY(v_add_u32),           BODY(v_cmp_lt_f32),
        BODY(v_cndmask_b32),       BODY(v_cvt_u32_f32),
        BODY(s_add_u32),           BODY(s_mov_b32),
        WMI_STEP_stage_MODIFY_F32, WMI_STEP_fused_MOVE_SCALAR,
#undef BODY
    };
    (void)state;
    const unsigned sequences = reduced() ? REDUCED_SEQUENCES : SEQUENCES;
    for (unsigned i = 0; i < sequences; i++) {
        struct program p;
        create_sequence(&p, i & 1 ? 32 : 64, 4);
        for (size_t k = 0; k < p.count; k++)
            p.steps[k] = some_step(&p, (enum wmi_step_id)steps[below(sizeof steps / sizeof *steps)]);
        const uint32_t near = 3 + below(4); /* rows that most of them use, so that one soon reads another's */
        for (size_t k = 0; k < p.count; k++) {
            struct wmi_step *const step = &p.steps[k];
            uint32_t *const rows[] = {&step->d, &step->a, &step->b, &step->c};
            for (unsigned n = 0; n < 4 && step->id >= WMI_STEP_BODIES; n++)
                if (*rows[n] >= p.code.vgpr_offset && below(8))
                    *rows[n] = row_at(&p, below(near));
        }
        p.stays = below(2);
        if (below(3))
            p.accessed = &floats;
        if (below(2))
            make_loop(&p);
        read_temporaries(&p);
        check(&p, 6);
        destroy(&p);
    }
}

/* ---- transcendentals ---- */

/* The operands for which the code of a function is made. */
static const struct transcendental {
    uint16_t id;
    bool of_positive, of_turns; /* sin and cos leave for some operands other than NaNs */
    uint32_t lowest, highest;   /* magnitudes */
} transcendentals[] = {
#define UNIT(name) .id = WMI_STEP_BODIES + WMI_BODY_##name##_1 /* of gfx11 and gfx12 */
#define BODY(name) .id = WMI_STEP_BODIES + WMI_INSN_##name
    {UNIT(v_rcp_f32), .lowest = 0x00800000, .highest = 0x7e7fffff},
    {UNIT(v_rcp_iflag_f32), .lowest = 0x00800000, .highest = 0x7e7fffff},
    {UNIT(v_rsq_f32), .of_positive = true, .lowest = 0x00800000, .highest = 0x7f7fffff},
    {UNIT(v_sqrt_f32), .of_positive = true, .lowest = 0x00800000, .highest = 0x7f7fffff},
    {UNIT(v_exp_f32), .lowest = 0x33800000, .highest = 0x42fc0000},
    {UNIT(v_log_f32), .of_positive = true, .lowest = 0x00800000, .highest = 0x7f7fffff},
    {UNIT(v_sin_f32), .of_turns = true, .lowest = 0x39c00000, .highest = 0x47000000},
    {UNIT(v_cos_f32), .of_turns = true, .lowest = 0, .highest = 0x47000000},
    {BODY(v_sin_f32), .of_turns = true, .lowest = 0x00800000, .highest = 0x43800000},
    {BODY(v_cos_f32), .of_turns = true, .lowest = 0, .highest = 0x43800000},
    {BODY(v_exp_f32), .lowest = 0, .highest = 0x42fbffff},
    {BODY(v_log_f32), .of_positive = true, .lowest = 0x00800000, .highest = 0x7f7fffff},
    {BODY(v_exp_legacy_f32), .lowest = 0, .highest = 0x42fbffff},
    {BODY(v_log_legacy_f32), .of_positive = true, .lowest = 0x00800000, .highest = 0x7f7fffff},
#undef UNIT
#undef BODY
};
static const struct transcendental *transcendental; /* that the test is at */
enum { USUAL_ONLY, RARE_THAT_STAY, SOME_RARE, NUMBERS_OF_STRIPS, OPERAND_KINDS };
static unsigned operand_kind;

static uint32_t usual_operand(void)
{
    const struct transcendental *t = transcendental;
    const uint32_t number = t->of_positive && !below(8) ? 0x3f780000 + below(0x100000) /* near one */
                                                        : t->lowest + below(t->highest - t->lowest + 1);
    return t->of_positive || below(2) ? number : number | 1u << 31;
}

/* Zeros, denormals, infinities, and numbers at the limits of what is usual; those that leave for the body
 * only if others in the row need not be tested. */
static uint32_t rare_operand(bool may_leave)
{
    static const uint32_t rare[] = {0,          0x80000000, 1,          0x80000001, 0x007fffff, 0x807fffff,
                                    0x00800000, 0x7f800000, 0x7e800000, 0x7e800001, 0x7f7fffff, 0x3f800000,
                                    0x33800000, 0x337fffff, 0x42fc0000, 0x42fc0001, 0x42ffffff, 0x43000000,
                                    0x43008000, 0x39bfffff, 0x39c00000, 0x43800000, 0x43800001, 0x3f7fffff,
                                    0x3f800001, 0x3f7c0000, 0x3f7bffff, 0x3f83ffff, 0x3f840000};
    static const uint32_t signed_rare[] = {0xff800000, 0xfe800000, 0xfe800001, 0xff7fffff,
                                           0xbf800000, 0xb3800000, 0xb37fffff, 0xc2fc0000,
                                           0xc2fc0001, 0xc3000000, 0xc3160000, 0xff7fffff};
    static const uint32_t leaving[] = {0x7fc00000, 0x7f800001, 0xffc12345, 0xff800001,
                                       0xbf800000, 0xff800000, 0x80800000};
    if (may_leave && below(2))
        return leaving[below(sizeof leaving / sizeof *leaving)];
    if (!transcendental->of_positive && below(2))
        return signed_rare[below(sizeof signed_rare / sizeof *signed_rare)];
    return rare[below(sizeof rare / sizeof *rare)];
}

/* Inactive lanes, too, have NaNs: they must not make the wave leave. */
static void fill_operands(struct program *p)
{
    const unsigned lanes = p->code.options.lanes;
    struct wmi_frame *frame = p->initial;
    const bool is_rare = operand_kind == SOME_RARE || operand_kind == RARE_THAT_STAY,
               may_leave = operand_kind == SOME_RARE && below(2);
    if (operand_kind == NUMBERS_OF_STRIPS)
        set_exec(frame, lanes, UINT64_MAX);
    for (unsigned number = 0; number < VGPRS; number++) {
        uint32_t *row = (uint32_t *)((char *)frame + row_at(p, number));
        for (unsigned i = 0; i < lanes; i++) {
            const bool active = frame->exec.bits >> i & 1;
            row[i] = !active                 ? rare_operand(true)
                     : is_rare && !below(16) ? rare_operand(may_leave)
                                             : usual_operand();
        }
    }
    for (unsigned id = 0; id < WMI_START_IDS && operand_kind == NUMBERS_OF_STRIPS; id++) {
        uint32_t *row = (uint32_t *)((char *)frame + row_at(p, id));
        const uint32_t first = below(200);
        for (unsigned i = 0; i < lanes; i++)
            row[i] = first + (id ? i / 16 : i);
        for (unsigned i = 0; i < 16; i++)
            frame->compiled.id_bases[id][i] = row[16 * i % lanes];
    }
    for (unsigned i = 0; i < SGPRS; i++)
        frame->s[i] = is_rare ? rare_operand(may_leave) : usual_operand();
}

static const struct accessed_memory operands = {fill_operands, do_nothing, do_nothing, do_nothing};

/* Steps on rows of their own; sometimes on a scalar, or on numbers that are the same in each strip. */
static void make_transcendental(struct program *p)
{
    const enum wmi_step_id id = (enum wmi_step_id)transcendental->id;
    p->count = 0;
    if (operand_kind == NUMBERS_OF_STRIPS) {
        p->starts = true;
        p->start_code = WMI_LAUNCH_STRIPS;
        p->steps[p->count] = some_step(p, WMI_STEP_BODIES + WMI_INSN_v_cvt_f32_u32);
        p->steps[p->count].a = row_at(p, 1);
        p->steps[p->count++].d = row_at(p, 3);
    } else if (below(3) == 0) {
        p->steps[p->count++] = set_scalar(row_at(p, 3), 2 * below(SGPRS / 2));
    }
    for (unsigned i = 0; i < 3; i++) {
        struct wmi_step *step = &p->steps[p->count++];
        *step = some_step(p, id);
        step->a = row_at(p, 3 + i);
        step->d = row_at(p, 6 + i + below(2)); /* not a source of others */
        if (below(4) == 0)
            step->a = row_at(p, 3);
    }
    p->steps[p->count++] = some_step(p, (enum wmi_step_id)FOLLOWER);
}

static void test_transcendentals(void **state)
{
    (void)state;
    const unsigned rounds = reduced() ? 20 : 200;
    for (unsigned i = 0; i < sizeof transcendentals / sizeof *transcendentals * rounds; i++) {
        struct program p;
        transcendental = &transcendentals[i % (sizeof transcendentals / sizeof *transcendentals)];
        operand_kind = below(OPERAND_KINDS);
        create(&p, below(2) ? 32 : 64);
        do
            choose_mode(&p);
        while (p.mode.mode & 3); /* code is made for rounding to nearest */
        p.accessed = &operands;
        p.counts_leaves = true;
        make_transcendental(&p);
        check(&p, 8);
        if (wmi_cpu_level() == WMI_CPU_AVX512 && !makes_parts() &&
            (operand_kind == USUAL_ONLY || (operand_kind == RARE_THAT_STAY && !transcendental->of_turns)))
            assert_int_equal(p.leaves, 0);
        destroy(&p);
    }
}

/* Several stretches, between which waves go with all and with some lanes active. */
static void test_branches(void **state)
{
    (void)state;
    const unsigned sequences = reduced() ? REDUCED_SEQUENCES : SEQUENCES;
    for (unsigned i = 0; i < sequences; i++) {
        struct program p;
        create_sequence(&p, i & 1 ? 32 : 64, 10);
        const size_t at = 2 + below((uint32_t)p.count - 6);
        p.stays = below(2);
        if (below(2))
            make_uniform(&p);
        for (unsigned more = below(3); more; more--)
            keep_half(&p, below((uint32_t)p.count - 6));
        if (below(3))
            change_exec(&p, below((uint32_t)at - 1));
        if (below(2))
            change_exec(&p, at + 2 + below((uint32_t)(p.count - at - 3)));
        make_skip(&p, at);
        if (p.loop_to > at) /* temporary rows do not live from block to block */
            p.loop_to = 0;
        if (below(2))
            make_loop(&p);
        for (unsigned more = below(3); more; more--)
            make_barrier(&p, 2 + below((uint32_t)p.count - 2));
        read_temporaries(&p);
        check(&p, 4);
        destroy(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_step), cmocka_unit_test(test_sequences),
        cmocka_unit_test(test_floats),    cmocka_unit_test(test_transcendentals),
        cmocka_unit_test(test_branches),
    };
    if (!wmi_can_compile(wmi_cpu_level()))
        return 77; /* skipped: the host has neither AVX-512 nor AVX2 */
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (4 * compiled_programs < 3 * programs)
        print_error("only %u of %u programs were compiled\n", compiled_programs, programs);
    return failed || 4 * compiled_programs < 3 * programs;
}
