/* SPDX-License-Identifier: MIT */
/* Every vector body, stage and fused step, on every CPU level of the host, wave32 and wave64, must equal the
 * plain C build of the same sources bit for bit. Random and edge operands, any MODE, full and partial lane
 * sets, results in a source register and elsewhere. No instruction is named here: new rows are tested without
 * changes. */
#include "frame.h"
#include "plain.h"
#include "sem/table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#include <cmocka.h>

#ifndef ROUNDS
#define ROUNDS 24 /* -DROUNDS=1000 for a longer search */
#endif

/* Sources have up to four rows; register 3, below A, is free, so that a result can overlap A from both
 * sides. */
enum { ROW_A = 4, ROW_B = 8, ROW_C = 12, ROW_D = 20, ROW_E = 24, RESULT_ROWS = 4, MASK_WORD = 60 };

static size_t frame_bytes(unsigned lanes)
{
    return sizeof(struct wmi_frame) + TEST_ROWS * 4 * lanes;
}

/* Operands of more than four rows: matrices (tests/unit/sem/mfma.c), and what converts 8, 16 or 32 numbers of
 * a lane (tests/unit/sem/gfx950.c). */
static bool is_long(enum wmi_insn_id id)
{
    const char *name = wmi_rows[id].name;
    return wmi_matrix_of(id) || strstr(name, "pk32_") || strstr(name, "pk16_") || strstr(name, "pk8_");
}

/* ---- operands ---- */

static uint32_t word(uint64_t *seed)
{
    static const uint32_t edges[] = {
        0x00000000, 0x00000001, 0x007fffff, 0x00800000, 0x3f7fffff, 0x3f800000, 0x3f000000, 0x40000000,
        0x7f7fffff, 0x7f800000, 0x7f800001, 0x7fc00000, 0x7fc00005, 0x4effffff, 0x4f000000, 0x4f800000,
        0x7ff00000, 0x000fffff, 0x00100000, 0x3ff00000, 0x7fefffff, 0x7ff80000, 0x41dfffff, 0x41e00000,
        0x3c003c00, 0x7c007bff, 0x7c017e00, 0x04000001, 0x03ff0400, 0x7fff8000, 0x00008000, 0xffffffff,
    };
    const uint64_t pick = test_random(seed), bits = test_random(seed);
    const uint32_t sign = (uint32_t)(pick >> 60 & 1) << 31;

    switch (pick % 6) {
    case 0:
    case 1:
        return edges[bits % 32] ^ sign;
    case 2: /* about 1, with fractions and integers */
        return ((uint32_t)bits & 0x007fffff) | (120 + (uint32_t)(bits >> 32) % 40) << 23 | sign;
    case 3: /* f16 values about 1 */
        return ((uint32_t)bits & 0x83ff83ff) | (10 + (uint32_t)(bits >> 32) % 12) << 10 |
               (10 + (uint32_t)(bits >> 40) % 12) << 26;
    case 4:
        return (uint32_t)bits >> (bits >> 32) % 32;
    default:
        return (uint32_t)bits;
    }
}

static uint64_t lane_set(unsigned round, uint64_t *seed)
{
    static const uint64_t sets[] = {UINT64_MAX,         UINT64_MAX,         0x5555555555555555,
                                    0x00000000fffffff0, 0x8000000180000001, 0};

    return round % 8 < 6 ? sets[round % 8] : test_random(seed);
}

/* Rows with some equal values, so that sums cancel and comparisons find equals. */
static void fill(struct test_wave *wave, unsigned round, uint64_t *seed)
{
    struct wmi_frame *state = test_state(wave);

    for (unsigned row = 0; row < TEST_ROWS; row++)
        for (unsigned lane = 0; lane < wave->lanes; lane++) {
            const uint64_t pick = test_random(seed);
            const uint32_t same = row >= 4 ? test_get(wave, row - 4, lane) ^ (uint32_t)(pick >> 63) << 31 : 0;
            test_put(wave, row, lane, row >= 4 && pick % 5 == 0 ? same : word(seed));
        }
    for (unsigned i = 0; i < WMI_S_M0; i++)
        state->s[i] = word(seed);
    state->s[WMI_S_M0] = (uint32_t)test_random(seed) % 4;
    test_set_mode(wave, (uint32_t)test_random(seed) & 0x3ff);
    test_set_lanes(&state->exec, wave->lanes, lane_set(round, seed));
    memcpy(&state->s[WMI_S_EXEC], &state->exec.bits, wave->lanes / 8);
}

/* ---- comparing ---- */

static unsigned wrongs;

/* Reports differences between two frames; `what` ran on the second one. */
static void compare(const struct test_wave *expected, const struct test_wave *got, const char *what,
                    const struct test_wave *before, const struct wmi_op *op)
{
    static const char *const levels[] = {"baseline", "avx2", "avx512", "over a source"};
    const char *level = "";
    size_t at = 0;

    if (!memcmp(expected->frame, got->frame, frame_bytes(got->lanes)))
        return;
    for (unsigned i = 0; i < sizeof levels / sizeof *levels; i++)
        level = op->value == i ? levels[i] : level;
    if (wrongs++ >= 12)
        return;
    while (expected->frame[at] == got->frame[at])
        at++;
    at &= ~(size_t)3;
    const size_t rows = offsetof(struct wmi_frame, rows), in = at < rows ? 0 : (at - rows) % (4 * got->lanes);
    uint32_t want, have, a, b, c;
    memcpy(&want, expected->frame + at, 4);
    memcpy(&have, got->frame + at, 4);
    memcpy(&a, before->frame + op->a + in, 4);
    memcpy(&b, before->frame + op->b + in, 4);
    memcpy(&c, before->frame + op->c + in, 4);
    printf("%s, %s, %u lanes, mode %03x: byte %zu of row %zu: %08x, plain C gives %08x (a %08x b %08x c %08x "
           "x %x y %x)\n",
           what, level, got->lanes, test_state(got)->mode, in, at < rows ? 0 : (at - rows) / (4 * got->lanes),
           have, want, a, b, c, op->x, op->y);
}

static void copy(struct test_wave *to, const struct test_wave *from)
{
    memcpy(to->frame, from->frame, frame_bytes(from->lanes));
}

static void run(struct test_wave *wave, struct wmi_op op, wmi_body body, const char *what)
{
    struct wmi_op steps[2] = {op};

    steps[0].body = body;
    if (!test_run(wave, steps) && wrongs++ < 12)
        printf("%s, %u lanes: wrong next step or control word\n", what, wave->lanes);
}

struct waves {
    struct test_wave before, plain, got;
};

static struct waves new_waves(unsigned lanes)
{
    return (struct waves){test_wave_new(lanes), test_wave_new(lanes), test_wave_new(lanes)};
}

static void free_waves(struct waves *w)
{
    free(w->before.frame);
    free(w->plain.frame);
    free(w->got.frame);
}

/* Runs `op` on w->before in plain C and with body_of(level); the result of plain C stays in w->plain. */
static void check_levels(struct waves *w, struct wmi_op op, wmi_body plain,
                         wmi_body (*body_of)(enum wmi_cpu_level, unsigned, int), int id, const char *what)
{
    copy(&w->plain, &w->before);
    run(&w->plain, op, plain, what);
    for (unsigned level = 0; level <= wmi_cpu_level(); level++) {
        op.value = level;
        copy(&w->got, &w->before);
        run(&w->got, op, body_of(level, w->before.lanes, id), what);
        compare(&w->plain, &w->got, what, &w->before, &op);
    }
}

/* ---- bodies ---- */

static wmi_body body_of(enum wmi_cpu_level level, unsigned lanes, int id)
{
    return wmi_sem_body(level, lanes, (unsigned)id);
}

static char *rows_at(const struct test_wave *wave, unsigned row)
{
    return wave->frame + test_row(wave, row);
}

/* With the result in or overlapping a source register, lanes must get the same results as in a separate
 * register. */
static void check_overlap(struct waves *w, struct wmi_op op, unsigned number, unsigned d)
{
    const unsigned lanes = w->before.lanes;
    const size_t result = (size_t)RESULT_ROWS * 4 * lanes;
    struct test_wave own = test_wave_new(lanes);

    copy(&own, &w->before);
    memcpy(rows_at(&own, ROW_D), rows_at(&own, d), result);
    op.d = test_row(&own, ROW_D);
    run(&own, op, plain_body_of(lanes, number), wmi_rows[wmi_row_of_body(number)].name);
    /* Undefined for instructions that also write their source. */
    if (!memcmp(rows_at(&own, ROW_A), rows_at(&w->before, ROW_A), (size_t)(ROW_D - ROW_A) * 4 * lanes)) {
        memcpy(rows_at(&own, d), rows_at(&own, ROW_D), result);
        memcpy(rows_at(&own, ROW_D), rows_at(&w->before, ROW_D), result);
        op.value = 3;
        compare(&own, &w->plain, wmi_rows[wmi_row_of_body(number)].name, &w->before, &op);
    }
    free(own.frame);
}

static void bodies_equal_plain_c(void **state)
{
    static const unsigned over[] = {ROW_D, ROW_A, ROW_B, ROW_C, ROW_A + 1, ROW_A - 1, ROW_B - 1, ROW_C + 1};
    uint64_t seed = 11;
    unsigned found = 0;

    (void)state;
    for (unsigned lanes = 32; lanes <= 64; lanes += 32) {
        struct waves w = new_waves(lanes);
        for (unsigned number = WMI_INSN_NONE + 1; number < WMI_BODY_COUNT; number++) {
            const wmi_body plain = plain_body_of(lanes, number);
            const enum wmi_insn_id id = wmi_row_of_body(number);
            if (wmi_rows[id].class != WMI_CLASS_VALU || !plain || is_long(id))
                continue;
            found++;
            for (unsigned round = 0; round < ROUNDS; round++) {
                const unsigned d = over[round % 3 ? 0 : test_random(&seed) % 8];
                const struct wmi_op op = {.d = test_row(&w.before, d),
                                          .a = test_row(&w.before, ROW_A),
                                          .b = test_row(&w.before, ROW_B),
                                          .c = test_row(&w.before, ROW_C),
                                          .e = 4 * MASK_WORD,
                                          .x = round & 0x33,
                                          .y = round >> 1 & 1,
                                          .lanes = offsetof(struct wmi_frame, exec)};
                fill(&w.before, round, &seed);
                check_levels(&w, op, plain, body_of, (int)number, wmi_rows[id].name);
                if (d != ROW_D)
                    check_overlap(&w, op, number, d);
            }
        }
        free_waves(&w);
    }
    assert_true(found > 800); /* over both wave sizes */
    assert_int_equal(wrongs, 0);
}

/* ---- stages and fused steps ---- */

static wmi_body stage_of(enum wmi_cpu_level level, unsigned lanes, int stage)
{
    return wmi_stage(level, lanes, (enum wmi_stage)stage);
}

static void stages_equal_plain_c(void **state)
{
    uint64_t seed = 12;

    (void)state;
    for (unsigned lanes = 32; lanes <= 64; lanes += 32) {
        struct waves w = new_waves(lanes);
        for (int stage = 0; stage < WMI_STAGES; stage++)
            for (unsigned round = 0; round < 16 * ROUNDS; round++) {
                char name[24];
                const uint64_t pick = test_random(&seed);
                const uint32_t control =
                    wmi_dpp_control((uint32_t)(pick % 0x144), (uint32_t)(pick >> 10 & 15),
                                    (uint32_t)(pick >> 20 & 15), (uint32_t)(pick >> 30 & 1));
                struct wmi_op op = {.d = test_row(&w.before, ROW_D),
                                    .a = test_row(&w.before, ROW_A),
                                    .b = test_row(&w.before, ROW_B),
                                    .c = test_row(&w.before, ROW_C),
                                    .e = offsetof(struct wmi_frame, lanes),
                                    .x = stage == WMI_STAGE_DPP ? control
                                                                : (uint32_t)(pick % 7 | (pick >> 8 & 24)),
                                    .lanes = offsetof(struct wmi_frame, exec)};
                if (round & 1 && stage != WMI_STAGE_DPP) /* DPP reads other lanes */
                    op.d = op.a;
                snprintf(name, sizeof name, "stage %d", stage);
                fill(&w.before, round / 2, &seed);
                check_levels(&w, op, plain_stage_of(lanes, (enum wmi_stage)stage), stage_of, stage, name);
            }
        free_waves(&w);
    }
    assert_int_equal(wrongs, 0);
}

static wmi_body fused_of(enum wmi_cpu_level level, unsigned lanes, int fused)
{
    return wmi_fused(level, lanes, (enum wmi_fused)fused);
}

static void fused_steps_equal_plain_c(void **state)
{
    uint64_t seed = 13;

    (void)state;
    for (unsigned lanes = 32; lanes <= 64; lanes += 32) {
        struct waves w = new_waves(lanes);
        for (int fused = 0; fused < WMI_FUSED_COUNT; fused++)
            for (unsigned round = 0; round < 8 * ROUNDS; round++) {
                static const unsigned over[] = {ROW_D, ROW_A, ROW_B, ROW_C};
                char name[24];
                const unsigned d = over[test_random(&seed) % 4];
                const bool is_shift = fused == WMI_FUSED_SHIFT_LEFT_64;
                const struct wmi_op op = {.d = test_row(&w.before, d),
                                          .a = test_row(&w.before, ROW_A),
                                          .b = test_row(&w.before, ROW_B),
                                          .c = test_row(&w.before, ROW_A + 1),
                                          .e = test_row(&w.before, ROW_B + 1),
                                          .x = is_shift ? 1 + (uint32_t)(test_random(&seed) % 31)
                                                        : test_row(&w.before, d + 1),
                                          .y = 4 * MASK_WORD,
                                          .lanes = offsetof(struct wmi_frame, exec)};
                snprintf(name, sizeof name, "fused step %d", fused);
                fill(&w.before, round, &seed);
                check_levels(&w, op, plain_fused_of(lanes, (enum wmi_fused)fused), fused_of, fused, name);
            }
        free_waves(&w);
    }
    assert_int_equal(wrongs, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bodies_equal_plain_c),
        cmocka_unit_test(stages_equal_plain_c),
        cmocka_unit_test(fused_steps_equal_plain_c),
    };

    return cmocka_run_group_tests_name("every body", tests, NULL, NULL);
}
