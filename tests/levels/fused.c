/* SPDX-License-Identifier: MIT */
/* Fused steps on every CPU level of the host against 64-bit arithmetic, lane by lane. */
#include "sem/fused.h"
#include "frame.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>

#include <cmocka.h>

enum { A = 0, B = 2, D = 4, MASK = 20, SCALAR = 40, ROUNDS = 50 };

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state ^ *state >> 29;
}

/* Words that often carry: all ones, zeros, their neighbours, and random ones. */
static uint32_t word(uint64_t *state)
{
    static const uint32_t edges[] = {0, 1, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff};
    const uint64_t random = next_random(state);
    return random & 1 ? edges[(random >> 8) % 6] : (uint32_t)(random >> 20);
}

static const uint64_t sets[] = {UINT64_MAX, 0, 1, 0x5555555555555555, 0xffff0000ffff0000, 0x8000000180000001};

static void fill(struct test_wave *wave, uint64_t *state, uint64_t set)
{
    for (unsigned row = 0; row < 8; row++)
        for (unsigned lane = 0; lane < wave->lanes; lane++)
            test_put(wave, row, lane, word(state));
    test_set_lanes(&test_state(wave)->exec, wave->lanes, set);
}

/* v_add_co_u32 and v_addc_co_u32 to `d`, which may be a source of the same half; `scalars` words of the first
 * operand are scalar. */
static void check_sum(enum wmi_cpu_level level, struct test_wave *wave, uint64_t *state, uint64_t set,
                      unsigned d, unsigned scalars, bool carry)
{
    const struct wmi_op op = {
        .body =
            wmi_fused(level, wave->lanes, WMI_FUSED_ADD_64 + scalars + (carry ? 0 : WMI_FUSED_WITHOUT_CARRY)),
        .d = test_row(wave, d),
        .x = test_row(wave, d + 1),
        .a = scalars ? 4 * SCALAR : test_row(wave, A),
        .c = scalars > 1 ? 4 * (SCALAR + 1) : test_row(wave, A + 1),
        .b = test_row(wave, B),
        .e = test_row(wave, B + 1),
        .y = 4 * MASK,
        .lanes = offsetof(struct wmi_frame, exec)};
    const uint64_t untouched = wave->lanes == 64 ? UINT64_MAX / 3 : UINT32_MAX / 3;
    uint64_t expected[64], carries = 0, got = 0;
    memcpy(&test_state(wave)->s[MASK], &untouched, sizeof untouched);
    fill(wave, state, set);
    const uint64_t active = test_state(wave)->exec.bits;
    for (unsigned i = 0; i < scalars; i++) {
        test_state(wave)->s[SCALAR + i] = word(state);
        for (unsigned lane = 0; lane < wave->lanes; lane++)
            test_put(wave, A + i, lane, test_state(wave)->s[SCALAR + i]);
    }
    for (unsigned lane = 0; lane < wave->lanes; lane++) {
        const uint64_t a = test_get64(wave, A, lane), b = test_get64(wave, B, lane);
        const bool acts = active >> lane & 1;
        expected[lane] = acts ? a + b : test_get64(wave, d, lane);
        carries |= (uint64_t)(acts && a + b < a) << lane;
    }
    assert_true(test_step(wave, &op));
    memcpy(&got, &test_state(wave)->s[MASK], wave->lanes / 8);
    assert_true(got == (carry ? carries : untouched));
    for (unsigned lane = 0; lane < wave->lanes; lane++)
        assert_true(test_get64(wave, d, lane) == expected[lane]);
}

/* Shifts register 2 to `d`, which may overlap it. */
static void check_shift(enum wmi_cpu_level level, struct test_wave *wave, uint64_t *state, uint64_t set,
                        unsigned shift, unsigned d)
{
    const struct wmi_op op = {.body = wmi_fused(level, wave->lanes, WMI_FUSED_SHIFT_LEFT_64),
                              .d = test_row(wave, d),
                              .b = test_row(wave, B),
                              .x = shift,
                              .lanes = offsetof(struct wmi_frame, exec)};
    uint64_t expected[64];
    fill(wave, state, set);
    for (unsigned lane = 0; lane < wave->lanes; lane++)
        expected[lane] = test_state(wave)->exec.bits >> lane & 1 ? test_get64(wave, B, lane) << shift
                                                                 : test_get64(wave, d, lane);
    assert_true(test_step(wave, &op));
    for (unsigned lane = 0; lane < wave->lanes; lane++)
        assert_true(test_get64(wave, d, lane) == expected[lane]);
}

static void check_move(enum wmi_cpu_level level, struct test_wave *wave, uint64_t *state, uint64_t set)
{
    const struct wmi_op op = {.body = wmi_fused(level, wave->lanes, WMI_FUSED_MOVE_SCALAR),
                              .d = test_row(wave, D),
                              .a = 4 * SCALAR,
                              .lanes = offsetof(struct wmi_frame, exec)};
    uint32_t before[64];
    fill(wave, state, set);
    const uint32_t value = test_state(wave)->s[SCALAR] = word(state);
    for (unsigned lane = 0; lane < wave->lanes; lane++)
        before[lane] = test_get(wave, D, lane);
    assert_true(test_step(wave, &op));
    for (unsigned lane = 0; lane < wave->lanes; lane++)
        assert_int_equal(test_get(wave, D, lane),
                         test_state(wave)->exec.bits >> lane & 1 ? value : before[lane]);
}

static void every_level_adds_and_moves(void **unused)
{
    (void)unused;
    uint64_t state = 1;
    for (enum wmi_cpu_level level = 0; level <= wmi_cpu_level(); level++)
        for (unsigned lanes = 32; lanes <= 64; lanes += 32) {
            struct test_wave wave = test_wave_new(lanes);
            for (unsigned round = 0; round < ROUNDS; round++)
                for (unsigned i = 0; i < sizeof sets / sizeof *sets; i++) {
                    for (unsigned scalars = 0; scalars < 6; scalars++) {
                        check_sum(level, &wave, &state, sets[i], D, scalars % 3, scalars < 3);
                        check_sum(level, &wave, &state, sets[i], A, scalars % 3, scalars < 3);
                        check_sum(level, &wave, &state, sets[i], B, scalars % 3, scalars < 3);
                    }
                    for (unsigned shift = 1; shift < 32; shift++)
                        for (unsigned d = A; d <= D; d++)
                            check_shift(level, &wave, &state, sets[i], shift, d);
                    check_move(level, &wave, &state, sets[i]);
                }
            free(wave.frame);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_level_adds_and_moves)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
