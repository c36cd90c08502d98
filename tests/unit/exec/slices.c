/* SPDX-License-Identifier: MIT */
/* Waves with barriers run in a chain from barrier to barrier, without returning to the scheduler, unless a
 * limit is near. The order of their actions and their results must be the same as with returns, interpreted
 * and compiled. */
#include "unit/run_text.h"

enum {
    NEAR_LIMIT = 1 << 24, /* a limit on instructions at which waves return to the scheduler */
    LOG = 64,             /* first word of the log of the waves' actions, in order */
    SUMS = 2048,          /* first word of the lanes' results */
    ROUNDS = 24,
    GROUPS = 2,
    MANY = 512, /* work-items of a workgroup */
    FEW = 64,   /* one wave, or two */
    SEEDS = 12,
    NEVER = 0xffff,
    STRAIGHT_ON = 200,
};

struct program {
    const char *target;
    uint32_t seed;
    unsigned fault_round; /* in which the wave of number 2 faults */
    uint32_t items;       /* of a workgroup */
};

static void set_exec(struct text *t, const struct program *p, const char *low, const char *high)
{
    add_text(t, "s_mov_b32 exec_lo, %s\n", low);
    if (lanes_of(p->target) == 64)
        add_text(t, "s_mov_b32 exec_hi, %s\n", high);
}

/* In each round a wave computes a value that is rounded, sometimes changes its rounding mode, loops for a
 * while or for longer than a time slice, appends to the log, and may end. It reaches the barrier with some,
 * all or no active lanes. */
static void write_program(struct text *t, struct text_run *run, const void *user)
{
    const struct program *p = user;
    (void)run;
    add_text(t, "v_mov_b32 v2, s2\nv_mov_b32 v3, s3\nv_mov_b32 v12, 0x3f8ccccd\n"
                "v_mov_b32 v10, 1.0\nv_mov_b32 v11, 0\ns_mov_b32 s21, 0\n"
                "v_readfirstlane_b32 s20, v0\n");
    add_text(t, "s_lshr_b32 s20, s20, %u\nround:\nv_mad_u32_u24 v11, v11, 3, 1\n",
             lanes_of(p->target) == 64 ? 6 : 5);
    set_exec(t, p, "-1", "-1");
    add_text(t, "s_mul_i32 s22, s20, 0x9e3779b1\ns_mul_i32 s23, s21, 0x85ebca6b\ns_add_u32 s22, s22, s23\n");
    add_text(t, "s_xor_b32 s22, s22, 0x%x\n", p->seed);
    add_text(t, "s_mul_i32 s22, s22, 0xc2b2ae35\ns_lshr_b32 s23, s22, 15\ns_xor_b32 s22, s22, s23\n"
                "s_mul_i32 s22, s22, 0x27d4eb2f\ns_lshr_b32 s23, s22, 13\ns_xor_b32 s22, s22, s23\n"
                "v_fma_f32 v10, v10, v12, 0.5\nv_mul_f32 v10, v10, v12\n"
                "s_and_b32 s24, s22, 15\ns_and_b32 s25, s22, 0x700000\ns_cmp_eq_u32 s25, 0\n"
                "s_cselect_b32 s25, 9, 5\ns_lshl_b32 s24, s24, s25\ns_add_u32 s24, s24, 1\n"
                "longer:\ns_sub_u32 s24, s24, 1\ns_cmp_lg_u32 s24, 0\ns_cbranch_scc1 longer\n");
    add_text(t, "s_and_b32 s25, s22, 0x70000\ns_cmp_lg_u32 s25, 0\ns_cbranch_scc1 same\n"
                "s_lshr_b32 s25, s22, 28\ns_and_b32 s25, s25, 3\n"
                "s_setreg_b32 hwreg(HW_REG_MODE, 0, 2), s25\nsame:\n");
    set_exec(t, p, "1", "0");
    add_text(t,
             "v_mov_b32 v4, 1\nglobal_atomic_add v1, v[2:3], v4, off glc\ns_waitcnt vmcnt(0)\n"
             "v_lshlrev_b32 v1, 2, v1\nv_xor_b32 v5, s22, v10\nglobal_store_dword v1, v5, s[2:3] offset:%u\n",
             4 * LOG);
    add_text(t,
             "s_cmp_lg_u32 s20, 2\ns_cbranch_scc1 fine\ns_cmp_lg_u32 s21, %u\ns_cbranch_scc1 fine\n"
             "v_mov_b32 v6, 8\nv_mov_b32 v7, 0\nglobal_store_dword v[6:7], v4, off\nfine:\n",
             p->fault_round);
    add_text(t, "s_and_b32 s25, s22, 0x1f000000\ns_cmp_eq_u32 s25, 0\ns_cbranch_scc1 done\n");
    set_exec(t, p, "s22", "s23");
    add_text(t, "s_and_b32 s25, s22, 0x3000\ns_cmp_lg_u32 s25, 0\ns_cbranch_scc1 some\n");
    set_exec(t, p, "-1", "-1");
    add_text(t, "some:\ns_cmp_lg_u32 s25, 0x1000\ns_cbranch_scc1 any\n");
    set_exec(t, p, "0", "0");
    add_text(t, "any:\n");
    for (unsigned i = 0; i < STRAIGHT_ON; i++) /* so that slices end at the barrier */
        add_text(t, "s_add_u32 s26, s26, s22\n");
    /* The compiler does not know v_sad_u8. */
    add_text(t,
             "v_add_f32 v10, v10, v12\nv_sub_f32 v13, v10, v12\ns_barrier\n"
             "v_sad_u8 v11, v10, v11, v11\nv_mul_f32 v10, v10, v12\nv_mad_u32_u24 v11, v11, 3, v13\n"
             "s_add_u32 s21, s21, 1\ns_cmp_lt_u32 s21, %u\ns_cbranch_scc1 round\ndone:\n",
             ROUNDS);
    set_exec(t, p, "-1", "-1");
    add_text(t,
             "v_xor_b32 v11, v11, v10\nv_lshlrev_b32 v6, 2, v0\nv_or_b32 v6, 0x%x, v6\n"
             "global_atomic_add v6, v11, s[2:3]\n",
             4 * SUMS);
}

static void run_program(const struct program *p, const char *compile, uint64_t limit, struct text_run *run)
{
    memset(run, 0, sizeof *run);
    assert_int_equal(setenv("WAVEMEM_COMPILE", compile, 1), 0);
    run_written(
        p->target, 0, run, write_program, p,
        (struct wm_dispatch){
            .grid = {GROUPS * p->items}, .workgroup = {p->items}, .threads = 1, .max_instructions = limit});
    assert_int_equal(unsetenv("WAVEMEM_COMPILE"), 0);
}

static void expect_same(const struct program *p, const struct text_run *a, const struct text_run *b)
{
    for (unsigned i = 0; i < TEXT_WORDS; i++)
        if (a->memory[i] != b->memory[i])
            fail_msg("%s, seed 0x%x: word %u is 0x%x, not 0x%x", p->target, p->seed, i, b->memory[i],
                     a->memory[i]);
    assert_true(a->wave_instructions == b->wave_instructions);
    assert_int_equal(a->fault.kind, b->fault.kind);
    assert_true(a->fault.pc - a->address == b->fault.pc - b->address);
    assert_int_equal(a->fault.workgroup[0], b->fault.workgroup[0]);
    assert_int_equal(a->fault.wave, b->fault.wave);
}

static void order_does_not_depend_on_returns(void **state)
{
    static const char *const targets[] = {"gfx900", "gfx1030"};
    static struct text_run expected, got;
    (void)state;
    for (unsigned i = 0; i < 2 * SEEDS; i++) {
        const struct program p = {.target = targets[i % 2],
                                  .seed = 0x2545f491 * (i + 1),
                                  .fault_round = i % 4 < 2 ? NEVER : 1 + i / 4,
                                  .items = i % 3 ? MANY : FEW};
        run_program(&p, "off", NEAR_LIMIT, &expected);
        assert_true(expected.memory[0] > (p.fault_round == NEVER && p.items == MANY ? 4 * ROUNDS : 0));
        run_program(&p, "off", 0, &got);
        expect_same(&p, &expected, &got);
        run_program(&p, "always", NEAR_LIMIT, &got);
        expect_same(&p, &expected, &got);
        run_program(&p, "always", 0, &got);
        expect_same(&p, &expected, &got);
    }
}

/* Waves reach the limit between barriers: in the same instruction, whether they are compiled or not. */
static void limits_end_waves_between_barriers(void **state)
{
    static struct text_run expected, got;
    (void)state;
    for (unsigned i = 0; i < SEEDS; i++) {
        const struct program p = {.target = "gfx900",
                                  .seed = 0x9e3779b1 * (i + 1),
                                  .fault_round = NEVER,
                                  .items = i % 3 ? MANY : FEW};
        const uint64_t limit = 200 + 1500 * i;
        run_program(&p, "off", limit, &expected);
        run_program(&p, "always", limit, &got);
        expect_same(&p, &expected, &got);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_does_not_depend_on_returns),
        cmocka_unit_test(limits_end_waves_between_barriers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
