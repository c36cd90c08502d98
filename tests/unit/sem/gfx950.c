/* SPDX-License-Identifier: MIT */
/* What gfx950 adds, against rules written here: conversions with exact arithmetic in long double, matrices of
 * values whose sums are exact, exchanges of lanes, transposing LDS reads and wide loads to LDS. Layouts of
 * matrices with 8, 6 and 4 bits: Composable Kernel, test/mx_mfma_op. */
#include "unit/run_text.h"

#include "unit/random.h"

#include <math.h>
#include <stdbool.h>

/* Rows of 64 dwords of a run's memory. */
enum { LANES = 64, IN = 0, OUT = 24 };

static uint32_t *row_of(struct text_run *run, unsigned row)
{
    return run->memory + LANES * row;
}

static float float_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, 4);
    return x;
}

static uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, 4);
    return bits;
}

static void fill(struct text_run *run)
{
    for (unsigned i = 0; i < TEXT_WORDS; i++)
        run->memory[i] = (uint32_t)random_bits();
}

/* Loads `in` rows from v2 on, runs `code`, stores `out` rows from v`from` on. */
struct job {
    const char *code;
    unsigned in, from, out;
};

static void move(struct text *text, const char *what, unsigned reg, unsigned row)
{
    add_text(text, "s_mov_b32 s13, %u\nbuffer_%s_dword v%u, v0, s[8:11], s13 offen\n", 4 * LANES * row, what,
             reg);
}

static void write_job(struct text *text, struct text_run *run, const void *user)
{
    const struct job *job = user;
    (void)run;
    add_text(text, "v_lshlrev_b32 v0, 2, v0\n");
    for (unsigned i = 0; i < job->in; i++)
        move(text, "load", 2 + i, IN + i);
    add_text(text, "s_waitcnt vmcnt(0)\n%s\n", job->code);
    for (unsigned i = 0; i < job->out; i++)
        move(text, "store", job->from + i, OUT + i);
}

static void run_job(struct text_run *run, const char *code, unsigned in, unsigned from, unsigned out)
{
    const struct job job = {code, in, from, out};
    run_written("gfx950", LANES, run, write_job, &job, (struct wm_dispatch){.dynamic_lds = 0});
    assert_int_equal(run->fault.kind, 0);
}

/* ---- vector instructions ---- */

static uint32_t clamp_to(int32_t x, int low, int high)
{
    return (uint32_t)(x < low ? low : x > high ? high : x) & 0xff;
}

static uint32_t near_bf16(float x)
{
    const uint32_t bits = bits_of(x), up = bits + 0x7fff + (bits >> 16 & 1);
    return isnan(x) ? bits >> 16 | 0x40 : up >> 16;
}

static void vector_instructions(void **state)
{
    (void)state;
    struct text_run run;
    for (unsigned round = 0; round < 4; round++) {
        fill(&run);
        run_job(&run,
                "v_prng_b32 v10, v2\n"
                "v_bitop3_b32 v11, v2, v3, v4 bitop3:0x6c\n"
                "v_mov_b32 v12, v4\n"
                "v_bitop3_b16 v12, v2, v3, v4 bitop3:0x35 op_sel:[1,0,1,1]\n"
                "v_mov_b32 v13, v4\n"
                "v_ashr_pk_i8_i32 v13, v2, v3, v4\n"
                "v_mov_b32 v14, v4\n"
                "v_ashr_pk_u8_i32 v14, v2, v3, v4 op_sel:[0,0,0,1]\n"
                "v_cvt_pk_bf16_f32 v15, v2, -v3\n"
                "v_cvt_f32_bf16 v16, v2\n"
                "v_cvt_pk_f16_f32 v17, v5, v6\n"
                "v_cvt_f32_f16 v18, v17\n",
                5, 10, 9);
        const uint32_t *a = row_of(&run, IN), *b = row_of(&run, IN + 1), *c = row_of(&run, IN + 2);
        for (unsigned i = 0; i < LANES; i++) {
            const uint32_t x = a[i] >> 16, y = b[i] & 0xffff, z = c[i] >> 16;
            uint32_t table32 = 0, table16 = 0;
            for (unsigned bit = 0; bit < 32; bit++)
                table32 |= (0x6cu >> (4 * (a[i] >> bit & 1) + 2 * (b[i] >> bit & 1) + (c[i] >> bit & 1)) & 1)
                           << bit;
            for (unsigned bit = 0; bit < 16; bit++)
                table16 |= (0x35u >> (4 * (x >> bit & 1) + 2 * (y >> bit & 1) + (z >> bit & 1)) & 1) << bit;
            const int32_t p = (int32_t)a[i] >> (c[i] & 31), q = (int32_t)b[i] >> (c[i] & 31);
            assert_int_equal(row_of(&run, OUT)[i], a[i] << 1 ^ (a[i] >> 31 ? 197 : 0));
            assert_int_equal(row_of(&run, OUT + 1)[i], table32);
            assert_int_equal(row_of(&run, OUT + 2)[i], table16 << 16 | (c[i] & 0xffff));
            assert_int_equal(row_of(&run, OUT + 3)[i],
                             (c[i] & 0xffff0000) | clamp_to(p, -128, 127) | clamp_to(q, -128, 127) << 8);
            assert_int_equal(row_of(&run, OUT + 4)[i],
                             (c[i] & 0xffff) | (clamp_to(p, 0, 255) | clamp_to(q, 0, 255) << 8) << 16);
            if (!isnan(float_of(a[i])) && !isnan(float_of(b[i])))
                assert_int_equal(row_of(&run, OUT + 5)[i],
                                 near_bf16(float_of(a[i])) | near_bf16(-float_of(b[i])) << 16);
            if (!isnan(float_of(a[i] << 16)))
                assert_int_equal(row_of(&run, OUT + 6)[i], a[i] << 16);
        }
    }
}

static void dot_products(void **state)
{
    (void)state;
    struct text_run run;
    fill(&run);
    for (unsigned i = 0; i < LANES; i++) /* small integers: exact */
        for (unsigned row = 0; row < 3; row++) {
            const float low = (float)((int)(random_bits() % 65) - 32),
                        high = (float)((int)(random_bits() % 65) - 32);
            row_of(&run, IN + row)[i] =
                row == 2 ? bits_of(low) : bits_of(low) >> 16 | (bits_of(high) & 0xffff0000);
        }
    run_job(&run, "v_mov_b32 v10, v4\nv_dot2c_f32_bf16 v10, v2, v3\nv_dot2_f32_bf16 v11, v2, v3, v4\n", 3, 10,
            2);
    for (unsigned i = 0; i < LANES; i++) {
        const uint32_t a = row_of(&run, IN)[i], b = row_of(&run, IN + 1)[i];
        const float c = float_of(row_of(&run, IN + 2)[i]);
        const float sum =
            float_of(a << 16) * float_of(b << 16) + float_of(a & 0xffff0000) * float_of(b & 0xffff0000) + c;
        assert_true(float_of(row_of(&run, OUT)[i]) == sum && float_of(row_of(&run, OUT + 1)[i]) == sum);
    }
}

static void minima_of_three(void **state)
{
    (void)state;
    struct text_run run;
    fill(&run);
    for (unsigned i = 0; i < 3 * LANES; i++)
        run.memory[i] = 0x3c003c00 + (uint32_t)(random_bits() & 0x03ff83ff);
    run_job(&run,
            "v_minimum3_f32 v10, v2, v3, v4\nv_maximum3_f32 v11, v2, v3, v4\n"
            "v_pk_minimum3_f16 v12, v2, v3, v4 op_sel_hi:[1,1,1]\nv_pk_maximum3_f16 v13, v2, v3, v4 "
            "op_sel_hi:[1,1,1]\n",
            3, 10, 4);
    for (unsigned i = 0; i < LANES; i++) {
        int16_t least[2] = {INT16_MAX, INT16_MAX}, most[2] = {INT16_MIN, INT16_MIN};
        float low = INFINITY, high = -INFINITY;
        for (unsigned row = 0; row < 3; row++) {
            const uint32_t word = row_of(&run, IN + row)[i];
            low = fminf(low, float_of(word));
            high = fmaxf(high, float_of(word));
            for (unsigned half = 0; half < 2; half++) {
                const uint16_t bits = (uint16_t)(word >> 16 * half);
                const int16_t order = (int16_t)(bits & 0x8000 ? -(bits & 0x7fff) : bits);
                least[half] = order < least[half] ? order : least[half];
                most[half] = order > most[half] ? order : most[half];
            }
        }
        assert_int_equal(row_of(&run, OUT)[i], bits_of(low));
        assert_int_equal(row_of(&run, OUT + 1)[i], bits_of(high));
        for (unsigned half = 0; half < 2; half++)
            for (unsigned top = 0; top < 2; top++) {
                const uint16_t got = (uint16_t)(row_of(&run, OUT + 2 + top)[i] >> 16 * half);
                const int16_t order = (int16_t)(got & 0x8000 ? -(got & 0x7fff) : got);
                assert_int_equal(order, top ? most[half] : least[half]);
            }
    }
}

static void swaps_of_lanes(void **state)
{
    (void)state;
    for (unsigned size = 16; size <= 32; size += 16) {
        struct text_run run;
        char code[64];
        fill(&run);
        snprintf(code, sizeof code, "v_permlane%u_swap_b32 v2, v3\n", size);
        uint32_t d[LANES], a[LANES];
        memcpy(d, row_of(&run, IN), sizeof d);
        memcpy(a, row_of(&run, IN + 1), sizeof a);
        for (unsigned i = 0; i < LANES; i++)
            if (!(i & size)) {
                const uint32_t kept = d[i + size];
                d[i + size] = a[i];
                a[i] = kept;
            }
        run_job(&run, code, 2, 2, 2);
        assert_memory_equal(row_of(&run, OUT), d, sizeof d);
        assert_memory_equal(row_of(&run, OUT + 1), a, sizeof a);
    }
}

/* ---- small floats ---- */

struct format {
    unsigned exponent, fraction;
    int bias;
    bool infinity, nan;
};

enum { FP8, BF8, FP6, BF6, FP4 };

static const struct format formats[] = {{4, 3, 7, false, true},
                                        {5, 2, 15, true, true},
                                        {2, 3, 1, false, false},
                                        {3, 2, 3, false, false},
                                        {2, 1, 1, false, false}};

static unsigned width_of(unsigned format)
{
    return 1 + formats[format].exponent + formats[format].fraction;
}

static long double value_of(uint32_t code, unsigned format)
{
    const struct format *f = &formats[format];
    const unsigned width = width_of(format);
    const uint32_t fraction = code & ((1u << f->fraction) - 1),
                   field = code >> f->fraction & ((1u << f->exponent) - 1);
    const long double sign = code >> (width - 1) & 1 ? -1 : 1;
    if (f->infinity && field == (1u << f->exponent) - 1)
        return fraction ? NAN : sign * INFINITY;
    if (f->nan && !f->infinity && (code & 0x7f) == 0x7f)
        return NAN;
    return sign * ldexpl(field ? fraction + (1u << f->fraction) : fraction,
                         (int)(field ? field : 1) - f->bias - (int)f->fraction);
}

/* The code nearest to x, of two the even one; overflow as the format has it. */
static uint32_t nearest(long double x, unsigned format)
{
    const unsigned width = width_of(format), codes = 1u << (width - 1);
    const struct format *f = &formats[format];
    const uint32_t sign = signbit(x) ? codes : 0;
    uint32_t best = 0, most = 0;
    for (uint32_t code = 0; code < codes; code++)
        if (isfinite(value_of(code, format)))
            most = code;
    /* The next number after the largest, were there one. */
    const long double step = value_of(most, format) - value_of(most - 1, format);
    if (f->nan && fabsl(x) >= value_of(most, format) + step / 2)
        return sign | (f->infinity ? most + 1 : codes - 1);
    for (uint32_t code = 0; code <= most; code++) {
        const long double here = fabsl(value_of(code, format) - fabsl(x)),
                          there = fabsl(value_of(best, format) - fabsl(x));
        if (here < there || (here == there && !(code & 1)))
            best = code;
    }
    return sign | best;
}

static uint32_t random_float(int exponent)
{
    return (uint32_t)(random_bits() & 0x807fffff) | (uint32_t)(exponent + 127) << 23;
}

static void scaled_conversions(void **state)
{
    (void)state;
    static const char *const names[] = {"fp8", "bf8", NULL, NULL, "fp4"};
    for (unsigned format = 0; format < 5; format++) {
        struct text_run run;
        char code[512];
        if (!names[format])
            continue;
        fill(&run);
        for (unsigned i = 0; i < LANES; i++) {
            const int scale = (int)(random_bits() % 200) - 100;
            for (unsigned row = 0; row < 2; row++)
                row_of(&run, IN + row)[i] = random_float(scale + (int)(random_bits() % 24) - 14);
            row_of(&run, IN + 2)[i] = random_float(scale);
        }
        snprintf(code, sizeof code,
                 "v_mov_b32 v10, v5\nv_cvt_scalef32_pk_%s_f32 v10, v2, v3, v4 %s\n"
                 "v_cvt_scalef32_pk_f32_%s v[12:13], v5, v4 %s\n"
                 "v_cvt_scalef32_pk_bf16_%s v14, v5, v4\n",
                 names[format], format == FP4 ? "op_sel:[0,0,1,1]" : "op_sel:[0,0,0,1]", names[format],
                 format == FP4 ? "op_sel:[0,1,0]" : "op_sel:[1,0,0]", names[format]);
        run_job(&run, code, 4, 10, 5);
        for (unsigned i = 0; i < LANES; i++) {
            const uint32_t *in = row_of(&run, IN);
            const unsigned width = width_of(format), at = format == FP4 ? 24 : 16;
            const int scale = (int)(in[2 * LANES + i] >> 23 & 0xff) - 127;
            const uint32_t codes = nearest(ldexpl((long double)float_of(in[i]), -scale), format) |
                                   nearest(ldexpl((long double)float_of(in[LANES + i]), -scale), format)
                                       << width;
            const uint32_t mask = ((1u << 2 * width) - 1) << at, old = in[3 * LANES + i];
            const uint32_t got = row_of(&run, OUT)[i];
            if (got != ((old & ~mask) | codes << at))
                fail_msg("to %s, lane %u: %a and %a, scale %d: 0x%x, expected 0x%x", names[format], i,
                         (double)float_of(in[i]), (double)float_of(in[LANES + i]), scale, got,
                         (old & ~mask) | codes << at);
            for (unsigned k = 0; k < 2; k++) {
                const uint32_t part = old >> 16 >> k * width & ((1u << width) - 1);
                const float wide = (float)ldexpl(value_of(part, format), scale),
                            here = float_of(row_of(&run, OUT + 2 + k)[i]);
                if (!(isnan(wide) && isnan(here)) && bits_of(wide) != bits_of(here))
                    fail_msg("from %s: %a, expected %a", names[format], (double)here, (double)wide);
                const float second =
                    (float)ldexpl(value_of(old >> k * width & ((1u << width) - 1), format), scale);
                const uint32_t half = row_of(&run, OUT + 4)[i] >> 16 * k & 0xffff;
                if (!isnan(second))
                    assert_int_equal(half, near_bf16(second));
            }
        }
    }
}

/* All 32 values of 6 bits, there and back. */
static void conversions_of_32(void **state)
{
    (void)state;
    for (unsigned format = FP6; format <= BF6; format++) {
        struct text_run run;
        char code[256];
        fill(&run);
        for (unsigned i = 0; i < LANES; i++)
            row_of(&run, IN + 6)[i] = random_float((int)(random_bits() % 100) - 50);
        snprintf(code, sizeof code,
                 "v_cvt_scalef32_pk32_f32_%s v[16:47], v[2:7], v8\nv_cvt_scalef32_2xpk16_%s_f32 v[10:15], "
                 "v[16:31], v[32:47], v8\n",
                 format == FP6 ? "fp6" : "bf6", format == FP6 ? "fp6" : "bf6");
        run_job(&run, code, 7, 10, 38);
        for (unsigned i = 0; i < LANES; i++) {
            const int scale = (int)(row_of(&run, IN + 6)[i] >> 23 & 0xff) - 127;
            for (unsigned k = 0; k < 32; k++) {
                uint32_t in = 0, out = 0;
                const unsigned from = k % 2 ? 16 + k / 2 : k / 2; /* the two halves alternate in the result */
                for (unsigned bit = 0; bit < 6; bit++) {
                    in |= (row_of(&run, IN + (6 * from + bit) / 32)[i] >> (6 * from + bit) % 32 & 1) << bit;
                    out |= (row_of(&run, OUT + (6 * k + bit) / 32)[i] >> (6 * k + bit) % 32 & 1) << bit;
                }
                const float wide = (float)ldexpl(value_of(in, format), scale);
                assert_int_equal(row_of(&run, OUT + 6 + from)[i], bits_of(wide));
                assert_int_equal(in, out);
            }
        }
    }
}

/* Rounding with random bits gives one of the two neighbours, and the lower one with a seed of 0. */
static void random_rounding(void **state)
{
    (void)state;
    struct text_run run;
    fill(&run);
    for (unsigned i = 0; i < LANES; i++) {
        row_of(&run, IN)[i] = random_float((int)(random_bits() % 12) - 6);
        row_of(&run, IN + 1)[i] = i % 2 ? 0 : (uint32_t)random_bits();
    }
    run_job(&run,
            "v_mov_b32 v10, 0\nv_cvt_scalef32_sr_fp8_f32 v10, v2, v3, 1.0\nv_mov_b32 v11, "
            "0\nv_cvt_sr_bf16_f32 v11, v2, v3\n"
            "v_mov_b32 v12, 0\nv_cvt_sr_f16_f32 v12, v2, v3 op_sel:[0,0,1]\n",
            2, 10, 3);
    for (unsigned i = 0; i < LANES; i++) {
        const uint32_t in = row_of(&run, IN)[i], seed = row_of(&run, IN + 1)[i];
        const float x = float_of(in);
        const uint32_t code = row_of(&run, OUT)[i];
        const long double fp8 = value_of(code, FP8);
        uint32_t below = code & 0x7f;
        assert_true(code < 256 && (code >> 7) == in >> 31);
        if (fabsl(fp8) > fabsf(x))
            below--;
        assert_true(value_of(below, FP8) <= fabsf(x) && value_of(below + 1, FP8) > fabsf(x));
        if (!seed)
            assert_int_equal(below, code & 0x7f);
        assert_int_equal(row_of(&run, OUT + 1)[i], (in + (seed >> 16)) >> 16);
        const uint32_t half = row_of(&run, OUT + 2)[i];
        assert_int_equal(half & 0xffff, 0);
        assert_int_equal(half >> 16,
                         (in >> 16 & 0x8000) | ((((in & 0x7fffffff) + (seed >> 19)) >> 13) - (112 << 10)));
    }
}

/* ---- matrices ---- */

/* Element (i, k) of A, or (k, i) of B: the lane and the element's number in it. */
static void place(unsigned m, unsigned format, unsigned i, unsigned k, unsigned *lane, unsigned *element)
{
    const unsigned groups = 64 / m;
    if (width_of(format) == 8) { /* two runs of 16 */
        *lane = k / 16 % groups * m + i;
        *element = k % 16 + k / (16 * groups) * 16;
    } else {
        *lane = k / 32 * m + i;
        *element = k % 32;
    }
}

static uint32_t code_at(const uint32_t *rows, unsigned lane, unsigned element, unsigned width)
{
    uint32_t code = 0;
    for (unsigned bit = 0; bit < width; bit++)
        code |= (rows[(element * width + bit) / 32 * LANES + lane] >> (element * width + bit) % 32 & 1)
                << bit;
    return code;
}

static void put_code(uint32_t *rows, unsigned lane, unsigned element, unsigned width, uint32_t code)
{
    for (unsigned bit = 0; bit < width; bit++)
        rows[(element * width + bit) / 32 * LANES + lane] |= (code >> bit & 1)
                                                             << (element * width + bit) % 32;
}

enum { A_AT = IN, B_AT = IN + 8, SCALES = IN + 16, MATRIX_ROWS = 18 };

static void try_formats(unsigned m, unsigned fa, unsigned fb, bool scaled)
{
    static const long double values[] = {-2, -1, -0.5L, 0, 0.5L, 1, 1.5L, 2};
    const unsigned depth = m == 16 ? 128 : 64, rows = m * m / 64, wa = width_of(fa), wb = width_of(fb);
    struct text_run run;
    char code[512];
    memset(&run, 0, sizeof run);
    for (unsigned i = 0; i < m; i++)
        for (unsigned k = 0; k < depth; k++) {
            unsigned lane, element;
            place(m, fa, i, k, &lane, &element);
            put_code(row_of(&run, A_AT), lane, element, wa, nearest(values[random_bits() % 8], fa));
            place(m, fb, i, k, &lane, &element);
            put_code(row_of(&run, B_AT), lane, element, wb, nearest(values[random_bits() % 8], fb));
        }
    for (unsigned i = 0; i < 2 * LANES; i++) /* exponents of -2 to 1 in each byte */
        for (unsigned byte = 0; byte < 4; byte++)
            row_of(&run, SCALES)[i] |= (125 + (uint32_t)(random_bits() % 4)) << 8 * byte;
    const unsigned byte_a = (unsigned)(random_bits() % 4), byte_b = (unsigned)(random_bits() % 4);
    int at = snprintf(code, sizeof code, "v_mfma_%sf32_%s_f8f6f4 v[32:%u], v[2:%u], v[10:%u], 1.0",
                      scaled ? "scale_" : "", m == 16 ? "16x16x128" : "32x32x64", 31 + rows, 1 + wa, 9 + wb);
    if (scaled)
        at += snprintf(code + at, sizeof code - (size_t)at, ", v18, v19 op_sel:[%u,%u,0] op_sel_hi:[%u,%u,0]",
                       byte_a & 1, byte_b & 1, byte_a >> 1, byte_b >> 1);
    snprintf(code + at, sizeof code - (size_t)at, " cbsz:%u blgp:%u\ns_nop 15\ns_nop 15\n", fa, fb);
    run_job(&run, code, MATRIX_ROWS, 32, rows);
    for (unsigned i = 0; i < m; i++)
        for (unsigned j = 0; j < m; j++) {
            double sum = 1;
            for (unsigned k = 0; k < depth; k++) {
                unsigned lane, element;
                place(m, fa, i, k, &lane, &element);
                const double a = (double)value_of(code_at(row_of(&run, A_AT), lane, element, wa), fa);
                place(m, fb, j, k, &lane, &element);
                const double b = (double)value_of(code_at(row_of(&run, B_AT), lane, element, wb), fb);
                const int of_a = (int)(row_of(&run, SCALES)[k / 32 * m + i] >> 8 * byte_a & 0xff) - 127;
                const int of_b = (int)(row_of(&run, SCALES + 1)[k / 32 * m + j] >> 8 * byte_b & 0xff) - 127;
                sum += ldexp(a * b, scaled ? of_a + of_b : 0);
            }
            const unsigned lane = m == 16 ? i / 4 * 16 + j : i / 4 % 2 * 32 + j,
                           reg = m == 16 ? i % 4 : i / 8 * 4 + i % 4;
            const double got = (double)float_of(row_of(&run, OUT + reg)[lane]);
            if (got != sum)
                fail_msg("%ux%u, formats %u and %u%s: (%u, %u) is %a, expected %a", m, m, fa, fb,
                         scaled ? " with scales" : "", i, j, got, sum);
        }
}

static void matrices_of_small_floats(void **state)
{
    (void)state;
    for (unsigned fa = 0; fa < 5; fa++)
        for (unsigned fb = 0; fb < 5; fb++)
            for (unsigned m = 16; m <= 32; m += 16)
                for (unsigned scaled = 0; scaled < 2; scaled++)
                    try_formats(m, fa, fb, scaled);
}

/* One product each, with scales so far from 1 that they and the elements do not fit in a float. */
static void extreme_scales(void **state)
{
    (void)state;
    static const struct {
        uint32_t a, b, scale_a, scale_b;
        double result;
    } cases[] = {
        {0x7e, 0x38, 254, 1, 448 * 2.0},  {0x01, 0x38, 0, 254, 0x1p-9},
        {0x38, 0x38, 254, 254, INFINITY}, {0xb8, 0x38, 254, 200, -INFINITY},
        {0x38, 0x38, 255, 127, NAN},      {0x38, 0x38, 64, 64, 0x1p-126},
        {0x7f, 0x38, 127, 127, NAN},      {0x40, 0x40, 157, 158, 0x1p63},
        {0x00, 0x38, 254, 254, 0},        {0x38, 0x38, 0, 0, 0},
    };
    for (unsigned c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct text_run run;
        memset(&run, 0, sizeof run);
        for (unsigned lane = 0; lane < LANES; lane++) {
            row_of(&run, A_AT)[lane] = lane == 3 ? cases[c].a : 0;
            row_of(&run, B_AT)[lane] = lane == 5 ? cases[c].b : 0;
            row_of(&run, SCALES)[lane] = cases[c].scale_a;
            row_of(&run, SCALES + 1)[lane] = cases[c].scale_b;
        }
        run_job(
            &run,
            "v_mfma_scale_f32_16x16x128_f8f6f4 v[32:35], v[2:9], v[10:17], 0, v18, v19\ns_nop 15\ns_nop 15\n",
            MATRIX_ROWS, 32, 4);
        const double got = (double)float_of(row_of(&run, OUT + 3)[5]);
        if (!(isnan(got) && isnan(cases[c].result)) && got != cases[c].result)
            fail_msg("case %u: %a, expected %a", c, got, cases[c].result);
    }
}

/* ---- LDS ---- */

/* 16 lanes read rows of 16 elements and get a column each. */
static void transposing_reads(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        unsigned bits, dwords;
    } reads[] = {{"b64_tr_b16", 16, 2}, {"b64_tr_b8", 8, 2}, {"b64_tr_b4", 4, 2}, {"b96_tr_b6", 6, 3}};
    for (unsigned r = 0; r < 4; r++) {
        struct text_run run;
        char code[512];
        const unsigned bits = reads[r].bits, dwords = reads[r].dwords, count = 32 * dwords / bits;
        fill(&run);
        snprintf(code, sizeof code,
                 "s_mov_b32 m0, -1\nv_mul_u32_u24 v10, %u, v0\nds_write_b32 v10, v2\nds_write_b32 v10, v3 "
                 "offset:4\n%s"
                 "s_waitcnt lgkmcnt(0)\nds_read_%s v[12:%u], v10\ns_waitcnt lgkmcnt(0)\n",
                 dwords == 3 ? 4 : 2, dwords == 3 ? "ds_write_b32 v10, v4 offset:8\n" : "", reads[r].name,
                 11 + dwords);
        const struct job job = {code, 3, 12, dwords};
        run_written("gfx950", LANES, &run, write_job, &job, (struct wm_dispatch){.dynamic_lds = 4096});
        assert_int_equal(run.fault.kind, 0);
        for (unsigned lane = 0; lane < LANES; lane++)
            for (unsigned j = 0; j < count; j++) {
                const unsigned column = lane % 16,
                               source = lane / 16 * 16 + j * (16 / count) + column / count;
                const uint32_t want = code_at(row_of(&run, IN), source, column % count, bits);
                assert_int_equal(code_at(row_of(&run, OUT), lane, j, bits), want);
            }
    }
}

/* A lane's dwords land 16 bytes apart, also three of them; M0 may be above 64 KiB. */
static void wide_loads_to_lds(void **state)
{
    (void)state;
    enum { BASE = 100000 };
    static const char *const loads[] = {
        "global_load_lds_dwordx4 v[10:11], off", "global_load_lds_dwordx3 v[10:11], off",
        "buffer_load_dwordx4 v12, s[8:11], 0 offen lds", "buffer_load_dwordx3 v12, s[8:11], 0 offen lds"};
    for (unsigned l = 0; l < 4; l++) {
        struct text_run run;
        char code[1024];
        fill(&run);
        snprintf(code, sizeof code,
                 "v_lshlrev_b32 v12, 2, v0\nv_mov_b32 v11, s3\nv_add_co_u32 v10, vcc, s2, v12\nv_addc_co_u32 "
                 "v11, vcc, 0, v11, vcc\n"
                 "v_add_u32 v13, %u, v12\nv_mov_b32 v14, 7\nds_write_b32 v13, v14 offset:12\ns_waitcnt "
                 "lgkmcnt(0)\n"
                 "s_mov_b32 m0, %u\ns_nop 0\n%s\ns_waitcnt vmcnt(0)\nds_read_b128 v[16:19], v13\ns_waitcnt "
                 "lgkmcnt(0)\n",
                 BASE, BASE, loads[l]);
        const struct job job = {code, 0, 16, 4};
        run_written("gfx950", LANES, &run, write_job, &job, (struct wm_dispatch){.dynamic_lds = 163840});
        assert_int_equal(run.fault.kind, 0);
        for (unsigned lane = 0; lane < LANES; lane++)
            for (unsigned dword = 0; dword < 4; dword++)
                assert_int_equal(row_of(&run, OUT + dword)[lane],
                                 dword == 3 && l % 2 ? 7 : run.memory[4 * lane + dword]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vector_instructions), cmocka_unit_test(dot_products),
        cmocka_unit_test(minima_of_three),     cmocka_unit_test(swaps_of_lanes),
        cmocka_unit_test(scaled_conversions),  cmocka_unit_test(conversions_of_32),
        cmocka_unit_test(random_rounding),     cmocka_unit_test(matrices_of_small_floats),
        cmocka_unit_test(extreme_scales),      cmocka_unit_test(transposing_reads),
        cmocka_unit_test(wide_loads_to_lds),
    };
    return cmocka_run_group_tests_name("gfx950", tests, NULL, NULL);
}
