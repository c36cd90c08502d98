/* SPDX-License-Identifier: MIT */
/* Assembled ds_bvh_stack_rtn_b32, against an ordinary stack. */
#include "unit/random.h"
#include "unit/run_text.h"

enum { LANES = 32, STEPS = 7, DEEPEST = 4 * STEPS };

/* Runs with and without an observer, which must not change anything. */
static void run_both(const char *text, unsigned lds, struct text_run *run)
{
    static struct text_run observed;
    struct wm_dispatch dispatch = {.dynamic_lds = lds};
    memset(run, 0, sizeof *run);
    run_written("gfx1100", LANES, run, write_text, text, dispatch);
    if (run->fault.kind != WM_FAULT_NONE)
        fail_msg("%s", run->fault.text);
    memset(&observed, 0, sizeof observed);
    assert_int_equal(wm_profile_create(&dispatch.profile, NULL), WM_OK);
    run_written("gfx1100", LANES, &observed, write_text, text, dispatch);
    assert_memory_equal(observed.memory, run->memory, sizeof run->memory);
    wm_profile_destroy(dispatch.profile);
}

/* Contents of a lane's stack; the last `kept` entries are still in LDS, which has space for `size`. */
struct model {
    uint32_t entry[DEEPEST];
    unsigned depth, kept, size;
};

static bool model_step(struct model *m, const uint32_t *node, uint32_t last, uint32_t *result)
{
    for (unsigned i = 0; i < 3; i++) {
        if (node[i] == last)
            break;
        if (node[i] == UINT32_MAX)
            continue;
        m->entry[m->depth++] = node[i];
        m->kept += m->kept < m->size;
    }
    *result = node[3];
    if (node[3] != UINT32_MAX && !(last != UINT32_MAX && node[3] == last))
        return true;
    if (!m->kept)
        return false; /* the result is undocumented */
    m->kept--;
    *result = m->entry[--m->depth];
    return true;
}

/* Random nodes: new ones, invalid ones and the last one; no two lanes share a node. */
static void one_sequence(unsigned size_code)
{
    static struct text_run run;
    struct model model[LANES] = {0};
    uint32_t expected[STEPS][LANES], node[4];
    bool known[STEPS][LANES];
    char text[8192];
    const unsigned size = 8u << size_code;
    int at = snprintf(text, sizeof text,
                      "v_and_b32 v0, 0x3ff, v0\nv_lshlrev_b32 v10, 18, v0\nv_mul_u32_u24 v11, 1000, v0\n"
                      "v_lshlrev_b32 v12, 2, v0\n");
    for (unsigned lane = 0; lane < LANES; lane++)
        model[lane].size = size;
    for (unsigned step = 0; step < STEPS; step++) {
        const unsigned pops = random_below(2), last = random_below(3) ? 500 + step : UINT32_MAX;
        for (unsigned i = 0; i < 4; i++) {
            const unsigned what = random_below(4);
            node[i] = (i == 3 ? pops : !what)         ? UINT32_MAX
                      : what == 1 && !random_below(3) ? last
                                                      : 10 * step + i;
            at += snprintf(text + at, sizeof text - (size_t)at,
                           node[i] == UINT32_MAX ? "v_mov_b32 v%u, -1\n" : "v_add_nc_u32 v%u, %u, v11\n",
                           2 + i, node[i]);
        }
        at += snprintf(text + at, sizeof text - (size_t)at,
                       last == UINT32_MAX ? "v_mov_b32 v1, -1\n" : "v_add_nc_u32 v1, %u, v11\n", last);
        at += snprintf(text + at, sizeof text - (size_t)at,
                       "ds_bvh_stack_rtn_b32 v6, v10, v1, v[2:5] offset:%u\ns_waitcnt 0\n"
                       "global_store_b32 v12, v6, s[2:3] offset:%u\n",
                       size_code << 12, 4 * LANES * step);
        for (unsigned lane = 0; lane < LANES; lane++) {
            uint32_t own[4];
            for (unsigned i = 0; i < 4; i++)
                own[i] = node[i] == UINT32_MAX ? UINT32_MAX : node[i] + 1000 * lane;
            known[step][lane] = model_step(&model[lane], own, last == UINT32_MAX ? last : last + 1000 * lane,
                                           &expected[step][lane]);
        }
        if (!known[step][0])
            break;
    }
    snprintf(text + at, sizeof text - (size_t)at, "global_store_b32 v12, v10, s[2:3] offset:%u\n",
             4 * LANES * STEPS);
    run_both(text, size * LANES * 4, &run);
    for (unsigned step = 0; step < STEPS && known[step][0]; step++)
        for (unsigned lane = 0; lane < LANES; lane++)
            assert_int_equal(run.memory[LANES * step + lane], expected[step][lane]);
    for (unsigned lane = 0; lane < LANES; lane++) /* the base is unchanged */
        assert_int_equal(run.memory[LANES * STEPS + lane] >> 18, lane);
}

static void stacks(void **state)
{
    (void)state;
    for (unsigned size_code = 0; size_code < 4; size_code++)
        for (unsigned i = 0; i < 20; i++)
            one_sequence(size_code);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(stacks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
