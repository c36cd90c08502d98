/* SPDX-License-Identifier: MIT */
/* What compiled waves know of addresses in LDS from earlier accesses, or from the waves that started in their
 * place before them: the same results as interpreted, also if the addresses differ from workgroup to
 * workgroup. */
#include "unit/run_text.h"

enum {
    OUTPUT = 128, /* first word of what the work-items found */
    GROUPS = 7,
    LDS_BYTES = 2048,
    REPEATS = 4,
};

/* How the address v1 of an access comes about. s20 is a multiple of 64 and s21 the number of the workgroup.
 */
static const char *const addresses[] = {
    "v_lshl_add_u32 v1, v0, 2, 64\n",
    "v_lshlrev_b32 v1, 2, v0\nv_or_b32 v1, 1, v1\nv_xor_b32 v4, v1, v1\nv_or_b32 v1, v1, v4\n",
    "v_lshl_add_u32 v1, v0, 2, s20\n",
    "v_mov_b32 v4, s20\nv_lshl_add_u32 v1, v0, 2, v4\n",
    "v_lshlrev_b32 v1, 2, v0\ns_and_b32 s22, s21, 1\ns_cmp_eq_u32 s22, 0\ns_cbranch_scc1 even\n"
    "v_lshl_add_u32 v1, v0, 2, 64\neven:\n",
    "v_lshlrev_b32 v1, 2, v0\ns_lshl_b32 s22, -1, s21\ns_mov_b32 exec_lo, s22\nv_lshl_add_u32 v1, v0, 2, "
    "64\n",
    "v_lshlrev_b32 v1, 2, v0\nv_mul_u32_u24 v4, v0, s21\nv_lshl_add_u32 v1, v4, 2, 64\n",
    "v_lshlrev_b32 v1, 2, v0\nv_mov_b32 v4, v20\nv_lshl_add_u32 v1, v0, 2, v4\n",
};
enum { ADDRESSES = sizeof addresses / sizeof *addresses };

struct program {
    const char *target, *address;
    uint32_t items, rows, grid[2];
};

/* v20 is what the wave that was in this place before has left, or 0. */
static void write_program(struct text *t, struct text_run *run, const void *user)
{
    const struct program *p = user;
    (void)run;
    /* Each lane counts its workgroups, with those of the other rows. */
    add_text(
        t,
        "v_lshlrev_b32 v7, 2, v0\nv_mov_b32 v6, 1\nglobal_atomic_add v8, v7, v6, s[2:3] glc\n"
        "s_waitcnt vmcnt(0)\nv_readfirstlane_b32 s21, v8\ns_lshr_b32 s21, s21, %u\ns_lshl_b32 s20, s21, 6\n"
        "s_mov_b64 s[24:25], exec\n",
        p->rows == 4 ? 2 : 0);
    add_text(t, "%s", p->address);
    add_text(t, "s_mov_b32 exec_lo, s24\n%s\nv_mul_u32_u24 v9, v0, 3\nv_mov_b32 v20, 4\n",
             lanes_of(p->target) == 64 ? "s_mov_b32 exec_hi, s25" : "");
    add_text(t,
             "ds_write_b32 v1, v9\ns_waitcnt lgkmcnt(0)\ns_barrier\ns_mov_b32 s26, %u\n"
             "again:\nds_read_b32 v10, v1\ns_waitcnt lgkmcnt(0)\nv_mad_u32_u24 v10, v10, 5, v0\n"
             "ds_write_b32 v1, v10 offset:4\nds_read_b32 v11, v1 offset:8\ns_waitcnt lgkmcnt(0)\n"
             "v_xor_b32 v9, v9, v11\nds_write_b32 v1, v9\ns_waitcnt lgkmcnt(0)\ns_barrier\n"
             "s_sub_u32 s26, s26, 1\ns_cmp_lg_u32 s26, 0\ns_cbranch_scc1 again\n",
             REPEATS);
    add_text(t,
             "v_lshlrev_b32 v12, 2, v0\nds_read_b32 v13, v12\ns_mul_i32 s27, s21, %u\n"
             "v_lshl_add_u32 v14, v0, 2, s27\ns_waitcnt lgkmcnt(0)\nv_xor_b32 v13, v13, v10\n"
             "global_store_dword v14, v13, s[2:3] offset:%u\n",
             4 * p->items * p->rows, 4 * OUTPUT);
}

static void run_program(const struct program *p, const char *compile, struct text_run *run)
{
    memset(run, 0, sizeof *run);
    assert_int_equal(setenv("WAVEMEM_COMPILE", compile, 1), 0);
    run_written(p->target, 0, run, write_program, p,
                (struct wm_dispatch){.grid = {p->grid[0], p->grid[1]},
                                     .workgroup = {p->items, p->rows},
                                     .dynamic_lds = LDS_BYTES,
                                     .threads = 1});
    assert_int_equal(unsetenv("WAVEMEM_COMPILE"), 0);
    assert_int_equal(run->fault.kind, 0);
}

static void known_places_do_not_change_results(void **state)
{
    static const char *const targets[] = {"gfx900", "gfx1030"};
    /* Of a workgroup, and what the last one in a row lacks. */
    static const uint32_t sizes[][3] = {{128, 1, 67}, {64, 1, 35}, {80, 1, 43}, {32, 4, 16}};
    static struct text_run expected, got;
    (void)state;
    for (unsigned i = 0; i < 2 * 4 * 2 * ADDRESSES; i++) {
        const uint32_t *size = sizes[i / 2 % 4];
        const bool whole = i / 8 % 2;
        const struct program p = {.target = targets[i % 2],
                                  .address = addresses[i / 16],
                                  .items = size[0],
                                  .rows = size[1],
                                  .grid = {2 * size[0] - (whole ? 0 : size[2]), GROUPS * size[1]}};
        run_program(&p, "off", &expected);
        run_program(&p, "always", &got);
        assert_true(expected.memory[0] >= 2 * GROUPS);
        for (unsigned k = 0; k < TEXT_WORDS; k++)
            if (expected.memory[k] != got.memory[k])
                fail_msg("%s, %u x %u items, grid %u: word %u is 0x%x, not 0x%x, address\n%s", p.target,
                         size[0], size[1], p.grid[0], k, got.memory[k], expected.memory[k], p.address);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(known_places_do_not_change_results)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
