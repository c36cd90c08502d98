/* SPDX-License-Identifier: MIT */
/* What compiled waves hold once where each strip of 16 lanes has one value, or keep for the waves after them:
 * elements that a strip reads from one place in the LDS and what is computed from them, and compares of ids.
 * Random programs give the same results as interpreted, in workgroups for which that is true and in others.
 */
#include "reduced.h"
#include "unit/run_text.h"

enum {
    OUTPUT = 64, /* first word of what the work-items found */
    GROUPS = 5,
    LDS_BYTES = 8192,
    PROGRAMS = 240,
    REDUCED_PROGRAMS = 40,
    SIZES = 6,
    ROWS_FROM = 64, /* what the program reads at constant addresses is in front of the rows */
};

struct program {
    const char *target;
    const uint32_t *size; /* of a workgroup, and what the last one in a row lacks */
    uint64_t seed;
};

static uint64_t state;

static uint32_t below(uint32_t limit)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(state >> 33) % limit;
}

/* The address v4 of a row, and v6 of the element in it. s20 is 0 or 2048, and not the same in all waves. */
static void write_addresses(struct text *t)
{
    static const char *const rows[] = {
        "v_lshlrev_b32 v4, 6, v1\n",
        "v_and_b32 v5, 15, v0\nv_sub_u32 v4, v0, v5\nv_lshlrev_b32 v4, 2, v4\nv_lshl_add_u32 v4, v1, 7, v4\n",
        "v_lshlrev_b32 v4, 6, v1\nv_add_u32 v4, s20, v4\n",
    };
    add_text(t, "%s", rows[below(3)]);
    add_text(t, "v_and_b32 v5, 15, v0\nv_lshlrev_b32 v5, 2, v5\nv_add_u32 v6, v4, v5\n");
}

static unsigned some_value(void)
{
    return 8 + below(6);
}

static void write_operation(struct text *t)
{
    static const char *const one[] = {"v_mov_b32",     "v_not_b32",     "v_frexp_mant_f32",
                                      "v_rcp_f32",     "v_cvt_f32_u32", "v_frexp_exp_i32_f32",
                                      "v_cvt_u32_f32", "v_bfrev_b32"};
    static const char *const two[] = {"v_add_u32",     "v_sub_u32", "v_mul_f32",     "v_add_f32",
                                      "v_xor_b32",     "v_max_f32", "v_lshlrev_b32", "v_min_u32",
                                      "v_mul_u32_u24", "v_sub_f32", "v_mul_lo_u32",  "v_ldexp_f32"};
    const unsigned d = some_value(), a = some_value(), b = below(8) ? some_value() : 5 + below(2);
    switch (below(4)) {
    case 0:
        add_text(t, "%s v%u, v%u\n", one[below(sizeof one / sizeof *one)], d, a);
        break;
    case 1:
        add_text(t, "v_fma_f32 v%u, -v%u, v%u, v%u\n", d, a, b, some_value());
        break;
    default:
        add_text(t, "%s v%u, v%u, v%u\n", two[below(sizeof two / sizeof *two)], d, a, b);
    }
}

/* What only rows that are the same in strips go into, and what is written back to the place of each strip.
 * Returns whether others replace these rows in the end, so that what inactive lanes have is left. */
static bool write_chain(struct text *t)
{
    static const char *const two[] = {"v_add_u32", "v_mul_f32", "v_xor_b32", "v_sub_f32", "v_max_f32"};
    unsigned defined = 22;
    add_text(t,
             "v_mov_b32 v7, 0\nds_read_b32 v20, v7 offset:%u\nds_read_b32 v21, v4 offset:%u\n"
             "s_waitcnt lgkmcnt(0)\n",
             4 * below(16), ROWS_FROM + 4 * below(12));
    for (unsigned k = 2 + below(6); k; k--) {
        const unsigned a = 20 + below(defined - 20), b = 20 + below(defined - 20),
                       d = below(3) || defined == 27 ? 20 + below(defined - 20) : defined;
        if (below(2))
            add_text(t, "%s v%u, v%u, v%u\n", two[below(sizeof two / sizeof *two)], d, a, b);
        else
            add_text(t, "%s v%u, v%u\n", below(2) ? "v_frexp_mant_f32" : "v_rcp_f32", d, a);
        defined += d == defined;
        if (below(6) == 0) /* where a wave that has left may come back */
            add_text(t, "ds_read_b32 v28, v6 offset:%u\ns_waitcnt lgkmcnt(0)\n", ROWS_FROM);
    }
    if (below(4) == 0) /* a second read, while the first one's results are held */
        add_text(t,
                 "ds_read_b32 v20, v4 offset:%u\ns_waitcnt lgkmcnt(0)\nv_add_u32 v21, v20, v21\n"
                 "v_add_u32 v21, 5, v21\n",
                 ROWS_FROM + 4 * below(12));
    add_text(t, "ds_write_b32 v4, v%u offset:%u\ns_waitcnt lgkmcnt(0)\n", 20 + below(defined - 20),
             ROWS_FROM + 4 * below(12));
    if (below(5) == 0)
        add_text(t, "v_xor_b32 v8, v8, v%u\n", 20 + below(defined - 20));
    const bool replaces = below(2);
    for (unsigned i = 20; replaces && i < 28; i++)
        add_text(t, "v_add_u32 v%u, v%u, v6\n", i, 8 + i % 6);
    return replaces;
}

static void write_access(struct text *t)
{
    const unsigned offset = ROWS_FROM + 4 * below(12);
    switch (below(8)) {
    case 0:
    case 1:
    case 2:
        add_text(t, "ds_read_b32 v%u, v4 offset:%u\n", some_value(), offset);
        break;
    case 3:
        add_text(t, "v_mov_b32 v7, 0\nds_read_b32 v%u, v7 offset:%u\n", some_value(), 4 * below(16));
        break;
    case 4:
        add_text(t, "ds_read_b32 v%u, v6 offset:%u\n", some_value(), ROWS_FROM);
        break;
    case 5:
        add_text(t, "ds_write_b32 v6, v%u offset:%u\n", some_value(), ROWS_FROM);
        break;
    default:
        add_text(t, "ds_write_b32 v4, v%u offset:%u\n", some_value(), offset);
    }
    add_text(t, "s_waitcnt lgkmcnt(0)\n");
}

/* `to` = the lanes for which an id, or what was computed from one, compares with a constant. */
static void write_compare(struct text *t, const char *to, unsigned limit)
{
    static const char *const names[] = {"lt_u32", "eq_u32", "ne_u32", "ge_i32", "gt_u32"};
    static const unsigned rows[] = {0, 0, 1, 1, 5, 14, 15, 16};
    add_text(t, "v_cmp_%s_e64 %s, %u, v%u\n", names[below(5)], to, below(limit), rows[below(8)]);
}

static void write_select(struct text *t, const char *vcc)
{
    write_compare(t, vcc, 18);
    add_text(t, "v_cndmask_b32 v%u, v%u, v%u, %s\n", some_value(), some_value(), some_value(), vcc);
}

/* What lanes do for which two compares hold, or all. */
static void write_block(struct text *t, const struct program *p, unsigned number)
{
    const bool wide = lanes_of(p->target) == 64;
    const char *const bits = wide ? "b64" : "b32", *const exec = wide ? "exec" : "exec_lo",
                      *const mask = wide ? "s[30:31]" : "s30", *const other = wide ? "s[32:33]" : "s32",
                      *const saved = wide ? "s[34:35]" : "s34", *const vcc = wide ? "vcc" : "vcc_lo",
                      *const kept = wide ? "s[36:37]" : "s36";
    const uint32_t kind = below(4);
    write_compare(t, mask, 18);
    write_compare(t, other, 6);
    if (kind)
        add_text(t, "s_%s_%s %s, %s, %s\ns_and_saveexec_%s %s, %s\n", below(2) ? "and" : "or", bits, mask,
                 mask, other, bits, saved, mask);
    if (kind > 1)
        add_text(t, "s_cbranch_execz skip%u\n", number);
    bool replaced = false;
    for (unsigned i = 1 + below(3); i; i--) {
        if (below(3))
            replaced = write_chain(t);
        if (below(2))
            write_select(t, vcc);
        if (below(2))
            write_compare(t, kept, 18);
        for (unsigned k = 1 + below(5); k; k--)
            write_operation(t);
        write_access(t);
    }
    if (kind > 1)
        add_text(t, "skip%u:\n", number);
    if (kind)
        add_text(t, "s_or_%s %s, %s, %s\n", bits, exec, exec, saved);
    for (unsigned i = 20; replaced && i < 28; i++)
        add_text(t, "v_xor_b32 v%u, v%u, v%u\n", 8 + i % 6, 8 + i % 6, i);
    if (below(3) == 0)
        write_select(t, vcc);
    if (below(2)) /* also the lanes that were not active at the compare */
        add_text(t, "v_cndmask_b32 v%u, v%u, v%u, %s\n", some_value(), some_value(), some_value(), kept);
    add_text(t, "s_waitcnt lgkmcnt(0)\ns_barrier\n");
}

/* Each wave counts itself: s21 is its number. v14 depends on it; v15 is v0 in some lanes; v16 is changed in a
 * loop. At the constant places are numbers and a NaN. */
static void write_start(struct text *t, const struct program *p)
{
    const char *const vcc = lanes_of(p->target) == 64 ? "vcc" : "vcc_lo";
    add_text(t, "v_mov_b32 v7, 0\nv_mov_b32 v6, 1\nglobal_atomic_add v8, v7, v6, s[2:3] glc\n"
                "s_waitcnt vmcnt(0)\nv_readfirstlane_b32 s21, v8\ns_mul_i32 s21, s21, 0x8a4f3b5d\n"
                "s_lshr_b32 s21, s21, 20\ns_and_b32 s20, s21, 1\n"
                "s_lshl_b32 s20, s20, 11\nv_add_u32 v14, s21, v0\nv_and_b32 v14, 15, v14\n"
                "v_mov_b32 v15, 3\nv_mov_b32 v16, v1\ns_mov_b64 s[36:37], 0\n");
    add_text(t,
             "s_mov_b32 s24, exec_lo\ns_mov_b32 exec_lo, 0x%x\nv_mov_b32 v15, v0\ns_mov_b32 exec_lo, s24\n",
             below(2) ? 0x0f0f3355 : 0xffff0000);
    write_addresses(t);
    for (unsigned i = 20; i < 29; i++)
        add_text(t, "v_add_u32 v%u, %u, v0\n", i, i);
    add_text(t,
             "v_mul_u32_u24 v8, 7, v0\nv_mad_u32_u24 v8, v1, 13, v8\nv_cvt_f32_u32 v9, v8\n"
             "v_add_u32 v10, 1, v5\nv_cvt_f32_u32 v10, v10\nv_xor_b32 v11, v8, v9\nv_mov_b32 v12, v0\n"
             "v_mov_b32 v13, 2.0\nv_mov_b32 v7, -1\nv_cmp_eq_u32_e64 %s, 28, v5\n"
             "v_cndmask_b32 v10, v10, v7, %s\nds_write_b32 v5, v10\nds_write_b32 v6, v9 offset:%u\n"
             "s_waitcnt lgkmcnt(0)\ns_barrier\n",
             vcc, vcc, ROWS_FROM);
}

static void write_program(struct text *t, struct text_run *run, const void *user)
{
    const struct program *p = user;
    (void)run;
    state = p->seed;
    write_start(t, p);
    const bool loops = below(3) == 0;
    if (loops)
        add_text(t, "s_mov_b32 s26, 2\nagain:\n");
    for (unsigned i = 0, count = 2 + below(5); i < count; i++)
        write_block(t, p, i);
    if (loops)
        add_text(t, "v_add_u32 v16, 1, v16\ns_sub_u32 s26, s26, 1\ns_cmp_lg_u32 s26, 0\n"
                    "s_cbranch_scc1 again\n");
    add_text(t, "ds_read_b32 v17, v6 offset:%u\ns_waitcnt lgkmcnt(0)\n", ROWS_FROM);
    for (unsigned i = 0; i < 6; i++)
        if (below(2))
            add_text(t, "v_mul_u32_u24 v17, 3, v17\nv_xor_b32 v17, v17, v%u\n", 8 + i);
    add_text(t,
             "v_mov_b32 v18, %u\nv_mad_u32_u24 v18, v1, v18, v0\nv_lshlrev_b32 v18, 2, v18\n"
             "global_atomic_add v18, v17, s[2:3] offset:%u\n",
             p->size[0], 4 * OUTPUT);
}

static void run_program(const struct program *p, const char *compile, struct text_run *run)
{
    memset(run, 0, sizeof *run);
    assert_int_equal(setenv("WAVEMEM_COMPILE", compile, 1), 0);
    run_written(p->target, 0, run, write_program, p,
                (struct wm_dispatch){.grid = {GROUPS * p->size[0] - p->size[2], p->size[1]},
                                     .workgroup = {p->size[0], p->size[1]},
                                     .dynamic_lds = LDS_BYTES,
                                     .threads = 1});
    assert_int_equal(unsetenv("WAVEMEM_COMPILE"), 0);
    assert_int_equal(run->fault.kind, 0);
}

static void strips_with_one_value_do_not_change_results(void **cmocka_state)
{
    static const char *const targets[] = {"gfx900", "gfx1030"};
    static const uint32_t sizes[SIZES][3] = {{16, 16, 0}, {64, 2, 0}, {8, 16, 0},
                                             {16, 5, 0},  {32, 4, 0}, {16, 8, 5}};
    static struct text_run expected, got;
    const unsigned programs = reduced() ? REDUCED_PROGRAMS : PROGRAMS;
    (void)cmocka_state;
    for (unsigned i = 0; i < programs; i++) {
        const struct program p = {
            .target = targets[i % 2], .size = sizes[i / 2 % SIZES], .seed = i / (2 * SIZES) * 977 + i};
        run_program(&p, "off", &expected);
        run_program(&p, "always", &got);
        assert_true(expected.memory[0] >= GROUPS);
        for (unsigned k = 0; k < TEXT_WORDS; k++)
            if (expected.memory[k] != got.memory[k])
                fail_msg("%s, %u x %u items, seed %u: word %u is 0x%x, not 0x%x", p.target, p.size[0],
                         p.size[1], (unsigned)p.seed, k, got.memory[k], expected.memory[k]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(strips_with_one_value_do_not_change_results)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
