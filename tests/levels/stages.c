/* SPDX-License-Identifier: MIT */
/* Modifier stages on every CPU level of the host against lane-by-lane references: DPP controls, SDWA, op_sel,
 * neg and abs, clamp, omod, broadcasts and the EXEC lane set. */
#include "frame.h"
#include "rules.h"
#include "sem/stage.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#include <cmocka.h>

enum { A = 0, D = 4, SCALAR = 40, SET = offsetof(struct wmi_frame, lanes) };
enum { MODE_HSA = 0x3c0, MODE_PLAIN = 0x100, MODE_NAN_STAYS = 0x000 };

/* ---- DPP ---- */

/* The lane that `lane` reads, or -1. */
static int dpp_lane(unsigned control, unsigned lane, unsigned lanes)
{
    const unsigned row = lane / 16 * 16, in = lane % 16, n = control & 15;

    if (control < 0x100)
        return (int)(lane / 4 * 4 + (control >> (2 * (lane % 4)) & 3));
    if (control > 0x100 && control < 0x110) /* row_shl */
        return in + n < 16 ? (int)(lane + n) : -1;
    if (control > 0x110 && control < 0x120) /* row_shr */
        return in >= n ? (int)(lane - n) : -1;
    if (control > 0x120 && control < 0x130) /* row_ror */
        return (int)(row + (in + 16 - n) % 16);
    if (control > 0x150 && control < 0x160) /* row_share */
        return (int)(row + n);
    if (control > 0x160) /* row_xmask */
        return (int)(lane ^ n);
    switch (control) {
    case 0x150:
        return (int)row;
    case 0x160:
        return (int)lane;
    case 0x130: /* wave_shl:1 */
        return lane + 1 < lanes ? (int)lane + 1 : -1;
    case 0x134: /* wave_rol:1 */
        return (int)((lane + 1) % lanes);
    case 0x138: /* wave_shr:1 */
        return (int)lane - 1;
    case 0x13c: /* wave_ror:1 */
        return (int)((lane + lanes - 1) % lanes);
    case 0x140: /* row_mirror */
        return (int)(row + 15 - in);
    case 0x141: /* row_half_mirror */
        return (int)(lane / 8 * 8 + 7 - lane % 8);
    case 0x142: /* row_bcast:15 */
        return row ? (int)row - 1 : -1;
    case 0x143: /* row_bcast:31 */
        return lane >= 32 ? 31 : -1;
    default:
        return -1;
    }
}

/* ---- one lane of a stage ---- */

struct word {
    uint64_t a, d; /* source and previous result; two rows where the stage has two */
    uint32_t x, mode;
};

static uint32_t signs(uint32_t bits, uint32_t sign, uint32_t x)
{
    if (x & WMI_MODIFY_ABS)
        bits &= ~sign;
    if (x & WMI_MODIFY_NEG)
        bits ^= sign;
    return bits;
}

static uint64_t broadcast(const struct word *l)
{
    return l->a;
}

static uint64_t modify_f32(const struct word *l)
{
    return signs((uint32_t)l->a, 0x80000000, l->x & 3);
}

static uint64_t modify_f16(const struct word *l)
{
    return signs(l->a & 0xffff, 0x8000, l->x & 3);
}

static uint64_t modify_f64(const struct word *l)
{
    return (uint32_t)l->a | (uint64_t)signs((uint32_t)(l->a >> 32), 0x80000000, l->x & 3) << 32;
}

static uint64_t modify_v2f16(const struct word *l)
{
    return (uint32_t)l->a ^ (l->x & 1 ? 0x8000u : 0) ^ (l->x & 2 ? 0x80000000u : 0);
}

static uint64_t pack_select(const struct word *l)
{
    const uint16_t half[2] = {(uint16_t)l->a, (uint16_t)(l->a >> 16)};

    return half[l->x & 1] | (uint32_t)half[l->x >> 1 & 1] << 16;
}

static uint64_t high_half(const struct word *l)
{
    return l->a >> 16 & 0xffff;
}

static uint64_t op_sel_low(const struct word *l)
{
    return (l->d & 0xffff0000) | (l->a & 0xffff);
}

static uint64_t op_sel_high(const struct word *l)
{
    return (l->d & 0xffff) | (l->a & 0xffff) << 16;
}

/* First bit and size of an SDWA select. */
static void part(uint32_t select, unsigned *at, unsigned *size)
{
    *size = select < 4 ? 8 : select < 6 ? 16 : 32;
    *at = select < 4 ? 8 * select : select == 5 ? 16 : 0;
}

static uint64_t sdwa_source(const struct word *l)
{
    unsigned at, size;

    part(l->x & 7, &at, &size);
    uint64_t value = (uint32_t)l->a >> at & ((UINT64_C(1) << size) - 1);
    if (l->x & 8 && value >> (size - 1))
        value |= ~((UINT64_C(1) << size) - 1);
    return (uint32_t)value;
}

static uint64_t sdwa_result(const struct word *l)
{
    unsigned at, size;

    part(l->x & 7, &at, &size);
    const uint64_t ones = (UINT64_C(1) << size) - 1, value = l->a & ones;
    const uint32_t unused = l->x >> 3 & 3;
    if (unused == 2)
        return ((uint32_t)l->d & ~(ones << at)) | value << at;
    if (unused == 1 && value >> (size - 1))
        return (uint32_t)((value | ~ones) << at);
    return (uint32_t)(value << at);
}

/* f16 to double, and back if exact. */
static double of_half(uint32_t half)
{
    const uint32_t exponent = half >> 10 & 31, fraction = half & 1023;
    const double size = exponent == 31 ? (fraction ? (double)NAN : HUGE_VAL)
                        : exponent     ? ldexp(1024 + fraction, (int)exponent - 25)
                                       : ldexp(fraction, -24);

    return half & 0x8000 ? -size : size;
}

static uint32_t clamped_half(uint32_t half, uint32_t mode)
{
    const double x = of_half(half);

    if (isnan(x))
        return mode & 0x100 ? 0 : half | 0x200;
    return x > 1 ? 0x3c00 : x > 0 ? half : 0;
}

static uint64_t clamp_f16(const struct word *l)
{
    return clamped_half(l->a & 0xffff, l->mode);
}

static uint64_t clamp_v2f16(const struct word *l)
{
    return clamped_half(l->a & 0xffff, l->mode) | clamped_half(l->a >> 16 & 0xffff, l->mode) << 16;
}

static uint64_t clamp_f32(const struct word *l)
{
    const float x = as_f32((uint32_t)l->a);

    if (isnan(x))
        return l->mode & 0x100 ? 0 : (uint32_t)l->a;
    return x > 1 ? bits_f32(1) : x > 0 ? (uint32_t)l->a : 0;
}

static uint64_t clamp_f64(const struct word *l)
{
    const double x = as_f64(l->a);

    if (isnan(x))
        return l->mode & 0x100 ? 0 : l->a;
    return x > 1 ? bits_f64(1) : x > 0 ? l->a : 0;
}

static uint64_t omod_f32(const struct word *l)
{
    return output_modified(&exact_f32, (uint32_t)l->a, l->x, l->mode);
}

static uint64_t omod_f64(const struct word *l)
{
    return output_modified(&exact_f64, l->a, l->x, l->mode);
}

static uint64_t omod_f16(const struct word *l)
{
    return output_modified(&exact_f16, l->a & 0xffff, l->x, l->mode);
}

static const struct stage {
    const char *name;
    enum wmi_stage stage;
    uint64_t (*rule)(const struct word *);
    unsigned rows;    /* of source and result */
    bool all, scalar; /* writes all lanes; reads the scalar file */
    uint32_t choices; /* values of x to test: 0 .. choices - 1 */
} stages[] = {
    {"broadcast", WMI_STAGE_BROADCAST, broadcast, 1, true, true, 1},
    {"modify_f32", WMI_STAGE_MODIFY_F32, modify_f32, 1, true, false, 4},
    {"modify_f64", WMI_STAGE_MODIFY_F64, modify_f64, 2, true, false, 4},
    {"modify_f16", WMI_STAGE_MODIFY_F16, modify_f16, 1, true, false, 4},
    {"modify_v2f16", WMI_STAGE_MODIFY_V2F16, modify_v2f16, 1, true, false, 4},
    {"pack_select", WMI_STAGE_PACK_SELECT, pack_select, 1, true, false, 4},
    {"high_half", WMI_STAGE_HIGH_HALF, high_half, 1, true, false, 1},
    {"op_sel_low", WMI_STAGE_OP_SEL_LOW, op_sel_low, 1, false, false, 1},
    {"op_sel_high", WMI_STAGE_OP_SEL_HIGH, op_sel_high, 1, false, false, 1},
    {"sdwa_source", WMI_STAGE_SDWA_SOURCE, sdwa_source, 1, true, false, 16},
    {"sdwa_result", WMI_STAGE_SDWA_RESULT, sdwa_result, 1, false, false, 24},
    {"clamp_f32", WMI_STAGE_CLAMP_F32, clamp_f32, 1, false, false, 1},
    {"clamp_f64", WMI_STAGE_CLAMP_F64, clamp_f64, 2, false, false, 1},
    {"clamp_f16", WMI_STAGE_CLAMP_F16, clamp_f16, 1, false, false, 1},
    {"clamp_v2f16", WMI_STAGE_CLAMP_V2F16, clamp_v2f16, 1, false, false, 1},
    {"omod_f32", WMI_STAGE_OMOD_F32, omod_f32, 1, false, false, 8},
    {"omod_f64", WMI_STAGE_OMOD_F64, omod_f64, 2, false, false, 8},
    {"omod_f16", WMI_STAGE_OMOD_F16, omod_f16, 1, false, false, 8},
};

static const uint32_t modes[] = {MODE_HSA, MODE_PLAIN, MODE_NAN_STAYS, 0x3f0};
static const uint64_t sets[] = {UINT64_MAX, 0x5555555555555555, 0x00fff000000ffff1, 0};

/* Random words, a third of them near the thresholds of clamp and omod. */
static uint64_t operand(uint64_t *seed, unsigned rows)
{
    static const float values[] = {0,     1,      -1,     0.5f,    0.99999994f, 1.0000001f,
                                   3e38f, 1e-38f, 2e-38f, -1e-40f, 2,           INFINITY};
    const uint64_t bits = test_random(seed), pick = test_random(seed);

    if (pick % 3)
        return rows == 2 ? bits : (uint32_t)bits;
    const float x = values[(pick >> 8) % 12] * (pick >> 63 ? -1.0f : 1.0f);
    return rows == 2        ? bits_f64(x)
           : pick >> 62 & 1 ? 0xffc00001u ^ (uint32_t)(pick >> 61 & 1) << 31
                            : bits_f32(x);
}

static uint64_t get(const struct test_wave *wave, unsigned row, unsigned lane, unsigned rows)
{
    return rows == 2 ? test_get64(wave, row, lane) : test_get(wave, row, lane);
}

static unsigned check(const struct stage *s, enum wmi_cpu_level level, unsigned lanes, uint32_t x,
                      uint32_t mode, uint64_t set, bool in_place, uint64_t *seed)
{
    struct test_wave wave = test_wave_new(lanes);
    struct wmi_frame *state = test_state(&wave);
    struct word lane[64];
    const unsigned d = in_place && !s->scalar ? A : D;
    unsigned wrong = 0;
    const uint64_t word = operand(seed, s->rows);

    test_set_mode(&wave, mode);
    test_set_lanes(&state->exec, lanes, set);
    memcpy(&state->s[SCALAR], &word, sizeof word);
    for (unsigned i = 0; i < lanes; i++) {
        for (unsigned row = 0; row < 2; row++) {
            test_put(&wave, D + row, i, (uint32_t)test_random(seed));
            test_put(&wave, A + row, i, 0);
        }
        const uint64_t value = operand(seed, s->rows);
        if (s->rows == 2)
            test_put64(&wave, A, i, value);
        else
            test_put(&wave, A, i, (uint32_t)value);
        lane[i] =
            (struct word){s->scalar ? word : get(&wave, A, i, s->rows), get(&wave, d, i, s->rows), x, mode};
    }
    struct wmi_op op[2] = {{.body = wmi_stage(level, lanes, s->stage),
                            .d = test_row(&wave, d),
                            .a = s->scalar ? 4 * SCALAR : test_row(&wave, A),
                            .x = x,
                            .lanes = offsetof(struct wmi_frame, exec)}};
    assert_non_null(op[0].body);
    assert_true(test_run(&wave, op));
    for (unsigned i = 0; i < lanes; i++) {
        const uint64_t want = s->all || state->exec.bits >> i & 1 ? s->rule(&lane[i]) : lane[i].d;
        const uint64_t got = get(&wave, d, i, s->rows), kept = s->rows == 2 ? UINT64_MAX : UINT32_MAX;
        if (got != (want & kept) && wrong++ < 2)
            printf("%s level %u/%u x %u mode %03x lane %u: a %llx d %llx: got %llx, expected %llx\n", s->name,
                   level, lanes, x, mode, i, (unsigned long long)lane[i].a, (unsigned long long)lane[i].d,
                   (unsigned long long)got, (unsigned long long)(want & kept));
    }
    free(wave.frame);
    return wrong;
}

static void stages_do_what_they_say(void **state)
{
    unsigned wrong = 0;
    uint64_t seed = 3;

    (void)state;
    for (unsigned level = 0; level <= wmi_cpu_level(); level++)
        for (size_t i = 0; i < sizeof stages / sizeof *stages; i++)
            for (unsigned lanes = 32; lanes <= 64; lanes += 32)
                for (uint32_t x = 0; x < stages[i].choices; x++)
                    for (size_t m = 0; m < 16; m++)
                        for (size_t set = 0; set < 4; set++) {
                            const uint32_t mode = m < 4 ? modes[m] : test_random(&seed) & 0x3ff;
                            if ((x & 7) != 7) /* 7 is not an SDWA select */
                                wrong += check(&stages[i], level, lanes, x, mode, sets[set], set & 1, &seed);
                        }
    assert_int_equal(wrong, 0);
}

static void dpp_moves_lanes(void **state)
{
    uint64_t seed = 4;

    (void)state;
    for (unsigned level = 0; level <= wmi_cpu_level(); level++)
        for (unsigned lanes = 32; lanes <= 64; lanes += 32)
            for (unsigned control = 0; control <= 0x16f; control++)
                for (size_t set = 0; set < 4; set++) {
                    struct test_wave wave = test_wave_new(lanes);
                    struct wmi_frame *frame = test_state(&wave);
                    const uint64_t pick = test_random(&seed);
                    const unsigned rows = pick & 1 ? 15 : pick >> 4 & 15,
                                   banks = pick & 2 ? 15 : pick >> 8 & 15;
                    const bool zero = pick >> 12 & 1, fetch = pick >> 13 & 1;
                    struct wmi_op op[2] = {{.body = wmi_stage(level, lanes, WMI_STAGE_DPP),
                                            .d = test_row(&wave, D),
                                            .a = test_row(&wave, A),
                                            .e = SET,
                                            .x = wmi_dpp_control(control, rows, banks, zero) |
                                                 (fetch ? WMI_DPP_FETCH_INACTIVE : 0),
                                            .lanes = offsetof(struct wmi_frame, exec)}};

                    test_set_lanes(&frame->exec, lanes, sets[set]);
                    for (unsigned i = 0; i < lanes; i++)
                        test_put(&wave, A, i, 1000 + i);
                    assert_true(test_run(&wave, op));
                    uint64_t bits = 0;
                    for (unsigned i = 0; i < lanes; i++) {
                        int from = dpp_lane(control, i, lanes);
                        if (from >= 0 && !fetch && !(frame->exec.bits >> from & 1))
                            from = -1;
                        const bool acts = frame->exec.bits >> i & 1 && rows >> (i / 16) & 1 &&
                                          banks >> (i / 4 % 4) & 1 && (from >= 0 || zero);
                        bits |= (uint64_t)acts << i;
                        if (acts)
                            assert_int_equal(test_get(&wave, D, i), from >= 0 ? 1000 + from : 0);
                        assert_int_equal(frame->lanes[0].row[i], acts ? UINT32_MAX : 0);
                    }
                    assert_true(frame->lanes[0].bits == bits);
                    assert_true(!frame->lanes[0].full == (bits != UINT64_MAX >> (64 - lanes)));
                    free(wave.frame);
                }
}

static void dpp8_moves_lanes(void **state)
{
    uint64_t seed = 6;

    (void)state;
    for (unsigned level = 0; level <= wmi_cpu_level(); level++)
        for (unsigned lanes = 32; lanes <= 64; lanes += 32)
            for (unsigned round = 0; round < 100; round++) {
                struct test_wave wave = test_wave_new(lanes);
                struct wmi_frame *frame = test_state(&wave);
                const uint32_t select = test_random(&seed) & 0xffffff;
                const bool fetch = round & 1;
                struct wmi_op op[2] = {{.body = wmi_stage(level, lanes, WMI_STAGE_DPP8),
                                        .d = test_row(&wave, D),
                                        .a = test_row(&wave, A),
                                        .e = SET,
                                        .x = select | (fetch ? WMI_DPP8_FETCH_INACTIVE : 0),
                                        .lanes = offsetof(struct wmi_frame, exec)}};

                test_set_lanes(&frame->exec, lanes, round % 3 ? test_random(&seed) : UINT64_MAX);
                for (unsigned i = 0; i < lanes; i++)
                    test_put(&wave, A, i, 1000 + i);
                assert_true(test_run(&wave, op));
                for (unsigned i = 0; i < lanes; i++) {
                    const unsigned from = i / 8 * 8 + (select >> i % 8 * 3 & 7);
                    const bool is_source = fetch || frame->exec.bits >> from & 1;
                    assert_int_equal(test_get(&wave, D, i), is_source ? 1000 + from : 0);
                }
                assert_true(frame->lanes[0].bits == frame->exec.bits);
                free(wave.frame);
            }
}

/* f16 to f32 is exact; tests both halves, and the flushing of denormals. */
static void widening_is_exact(void **state)
{
    (void)state;
    for (unsigned level = 0; level <= wmi_cpu_level(); level++)
        for (unsigned high = 0; high < 2; high++)
            for (unsigned keep = 0; keep < 2; keep++) {
                struct test_wave wave = test_wave_new(64);
                struct wmi_op op[2] = {{.body = wmi_stage(level, 64, WMI_STAGE_WIDEN_F16),
                                        .d = test_row(&wave, D),
                                        .a = test_row(&wave, A),
                                        .x = high,
                                        .lanes = offsetof(struct wmi_frame, exec)}};
                test_set_mode(&wave, keep ? MODE_HSA : MODE_PLAIN);
                for (uint32_t first = 0; first < 0x10000; first += 64) {
                    for (unsigned i = 0; i < 64; i++)
                        test_put(&wave, A, i, high ? (first + i) << 16 | 0x1234 : 0x56780000 | (first + i));
                    assert_true(test_run(&wave, op));
                    for (unsigned i = 0; i < 64; i++) {
                        const uint32_t half = first + i;
                        const double x = of_half(half);
                        const float got = as_f32(test_get(&wave, D, i));
                        if (isnan(x))
                            assert_int_equal(test_get(&wave, D, i),
                                             (half & 0x8000) << 16 | 0x7fc00000 | (half & 0x3ff) << 13);
                        else if (!keep && !(half & 0x7c00))
                            assert_int_equal(test_get(&wave, D, i), (half & 0x8000) << 16);
                        else
                            assert_true(got == x && !signbit(got) == !signbit(x));
                    }
                }
                free(wave.frame);
            }
}

static void exec_is_refreshed(void **state)
{
    (void)state;
    for (unsigned level = 0; level <= wmi_cpu_level(); level++)
        for (unsigned lanes = 32; lanes <= 64; lanes += 32)
            for (size_t set = 0; set < 4; set++) {
                struct test_wave wave = test_wave_new(lanes);
                struct wmi_frame *frame = test_state(&wave);
                const uint64_t all = UINT64_MAX >> (64 - lanes), wanted = sets[set] & all;
                struct wmi_op op[2] = {{.body = wmi_stage(level, lanes, WMI_STAGE_EXEC)}};

                memset(&frame->s[WMI_S_EXEC], 0xff, 8);
                memcpy(&frame->s[WMI_S_EXEC], &sets[set], lanes / 8);
                assert_true(test_run(&wave, op));
                assert_true(frame->exec.bits == wanted);
                assert_true(!frame->exec.full == (wanted != all));
                for (unsigned i = 0; i < lanes; i++)
                    assert_int_equal(frame->exec.row[i], wanted >> i & 1 ? UINT32_MAX : 0);
                free(wave.frame);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stages_do_what_they_say), cmocka_unit_test(dpp_moves_lanes),
        cmocka_unit_test(dpp8_moves_lanes),        cmocka_unit_test(widening_is_exact),
        cmocka_unit_test(exec_is_refreshed),
    };

    return cmocka_run_group_tests_name("stages", tests, NULL, NULL);
}
