/* SPDX-License-Identifier: MIT */
/* Compares compiled steps with the bodies that interpret them: each step that the compiler knows alone, and
 * random sequences of them, for both wave sizes. Steps of memory: compile_memory.c. */
#include "compile_program.h"

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
        cmocka_unit_test(test_each_step),
        cmocka_unit_test(test_sequences),
        cmocka_unit_test(test_floats),
        cmocka_unit_test(test_branches),
    };
    if (!wmi_can_compile(wmi_cpu_level()))
        return 77; /* skipped: the host has no AVX-512 */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
