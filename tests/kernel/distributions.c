/* SPDX-License-Identifier: MIT */
/* See distributions.h. Logarithms, sines etc. are the C library's for doubles. */
#include "distributions.h"

#include <math.h>
#include <string.h>

const struct distribution_values distribution_values = {
    .floats = {3, 0.5f}, .doubles = {-1, 2}, .halves = {(_Float16)1, (_Float16)0.25}};

#define PI 3.14159265358979323846

/* ---- uniform ---- */

static void bits(const uint32_t *in, void *out)
{
    memcpy(out, in, 4);
}

static float unit_float(uint32_t v)
{
    return (float)v * 0x1p-32f + 0x1p-32f;
}

static void floats(const uint32_t *in, void *out)
{
    *(float *)out = unit_float(*in);
}

/* 21 bits of the second word above the first word: 53 bits. */
static void doubles(const uint32_t *in, void *out)
{
    *(double *)out = (double)((uint64_t)(in[1] >> 11) << 32 | in[0]) * 0x1p-53 + 0x1p-53;
}

static _Float16 unit_half(uint16_t v)
{
    return (_Float16)((float)v * 0x1p-16f + 0x1p-16f);
}

static void halves(const uint32_t *in, void *out)
{
    ((_Float16 *)out)[0] = unit_half((uint16_t)*in);
    ((_Float16 *)out)[1] = unit_half((uint16_t)(*in >> 16));
}

/* ---- normal and log-normal ---- */

/* Box-Muller: two normal numbers from a uniform number and an angle. */
static void box_muller(double u, double angle, double normal[2])
{
    const double s = sqrt(-2 * log(u));
    normal[0] = s * sin(angle);
    normal[1] = s * cos(angle);
}

typedef void put_two(const double normal[2], void *out);

static void put_floats(const double normal[2], void *out)
{
    for (unsigned i = 0; i < 2; i++)
        ((float *)out)[i] =
            (float)(distribution_values.floats[0] + distribution_values.floats[1] * normal[i]);
}

static void put_doubles(const double normal[2], void *out)
{
    for (unsigned i = 0; i < 2; i++)
        ((double *)out)[i] = distribution_values.doubles[0] + distribution_values.doubles[1] * normal[i];
}

static void put_halves(const double normal[2], void *out)
{
    const double mean = (double)distribution_values.halves[0],
                 deviation = (double)distribution_values.halves[1];
    for (unsigned i = 0; i < 2; i++)
        ((_Float16 *)out)[i] = (_Float16)(mean + deviation * normal[i]);
}

static void put_exp_floats(const double normal[2], void *out)
{
    for (unsigned i = 0; i < 2; i++)
        ((float *)out)[i] =
            (float)exp(distribution_values.floats[0] + distribution_values.floats[1] * normal[i]);
}

static void put_exp_doubles(const double normal[2], void *out)
{
    for (unsigned i = 0; i < 2; i++)
        ((double *)out)[i] = exp(distribution_values.doubles[0] + distribution_values.doubles[1] * normal[i]);
}

static void put_exp_halves(const double normal[2], void *out)
{
    const double mean = (double)distribution_values.halves[0],
                 deviation = (double)distribution_values.halves[1];
    for (unsigned i = 0; i < 2; i++)
        ((_Float16 *)out)[i] = (_Float16)exp(mean + deviation * normal[i]);
}

static void two_of_words(const uint32_t *in, put_two *put, void *out)
{
    const float unit = 0x1p-32f * 6.2831855f;
    double normal[2];
    box_muller((double)unit_float(in[0]), (double)((float)in[1] * unit + unit), normal);
    put(normal, out);
}

static void two_of_four_words(const uint32_t *in, put_two *put, void *out)
{
    const uint64_t v1 = in[0] ^ (uint64_t)in[1] << 21, v2 = in[2] ^ (uint64_t)in[3] << 21;
    double normal[2];
    box_muller((double)v1 * 0x1p-53 + 0x1p-53, ((double)v2 * 0x1p-52 + 0x1p-52) * PI, normal);
    put(normal, out);
}

/* Debian's rocRAND contains __ocml_sin_f16 of rocm-device-libs 5, whose test for finite numbers is inverted:
 * the sine of a half is NaN. (See llvm-dis ocml.bc.) */
static void two_of_a_word(uint32_t in, put_two *put, void *out)
{
    const float unit = 0x1p-16f * 6.2831855f;
    double normal[2];
    box_muller((double)unit_half((uint16_t)in), (double)(_Float16)((float)(in >> 16) * unit + unit), normal);
    normal[0] = NAN;
    put(normal, out);
}

static void normal_floats(const uint32_t *in, void *out)
{
    two_of_words(in, put_floats, out);
}

static void normal_doubles(const uint32_t *in, void *out)
{
    two_of_four_words(in, put_doubles, out);
}

static void normal_halves(const uint32_t *in, void *out)
{
    two_of_a_word(*in, put_halves, out);
}

static void log_normal_floats(const uint32_t *in, void *out)
{
    two_of_words(in, put_exp_floats, out);
}

static void log_normal_doubles(const uint32_t *in, void *out)
{
    two_of_four_words(in, put_exp_doubles, out);
}

static void log_normal_halves(const uint32_t *in, void *out)
{
    two_of_a_word(*in, put_exp_halves, out);
}

/* ---- discrete ---- */

void distribution_make_table(struct distribution_table *table)
{
    for (uint32_t i = 0; i < TABLE_SIZE; i++) {
        table->alias[i] = (i * 7 + 3) % TABLE_SIZE;
        table->probability[i] = i * 29 % 41 / 41.0;
        table->cdf[i] = (i + 1.0) * (i + 1.0) / (TABLE_SIZE * TABLE_SIZE);
    }
}

/* Walker's alias method. */
static void discrete(const uint32_t *in, void *out)
{
    struct distribution_table table;
    distribution_make_table(&table);
    const double x = TABLE_SIZE * (*in * 0x1p-32);
    const uint32_t i = (uint32_t)x;
    *(uint32_t *)out = TABLE_OFFSET + (x - i < table.probability[i] ? i : table.alias[i]);
}

/* The first entry whose cumulative probability is at least x. */
static void discrete_one(uint64_t number, unsigned bits_, void *out)
{
    struct distribution_table table;
    distribution_make_table(&table);
    const double x = ldexp((double)number, -(int)bits_);
    uint32_t i = 0;
    while (i + 1 < TABLE_SIZE && x > table.cdf[i])
        i++;
    *(uint32_t *)out = TABLE_OFFSET + i;
}

/* ---- MRG32k3a: its numbers are 1 to m1; integers are scaled to 32 bits ---- */

static uint32_t stretch(uint32_t v)
{
    return (uint32_t)((double)(v - 1) * 1.000000048661607);
}

static void mrg_bits(const uint32_t *in, void *out)
{
    *(uint32_t *)out = stretch(*in);
}

static float mrg_unit(uint32_t v)
{
    return (float)((double)v * 2.3283065498378288e-10);
}

static void mrg_floats(const uint32_t *in, void *out)
{
    *(float *)out = mrg_unit(*in);
}

static void mrg_doubles(const uint32_t *in, void *out)
{
    *(double *)out = (double)*in * 2.3283065498378288e-10;
}

static void mrg_halves(const uint32_t *in, void *out)
{
    halves(&(uint32_t){stretch(*in)}, out);
}

static void mrg_two(const uint32_t *in, put_two *put, void *out)
{
    double normal[2];
    box_muller((double)mrg_unit(in[0]), (double)(mrg_unit(in[1]) * 6.2831855f), normal);
    put(normal, out);
}

/* Computed from floats, as in rocRAND. */
static void mrg_two_doubles(const uint32_t *in, put_two *put, void *out)
{
    double normal[2];
    box_muller((double)mrg_unit(in[0]), (double)mrg_unit(in[1]) * 2 * PI, normal);
    put(normal, out);
}

static void mrg_normal_floats(const uint32_t *in, void *out)
{
    mrg_two(in, put_floats, out);
}

static void mrg_normal_doubles(const uint32_t *in, void *out)
{
    mrg_two_doubles(in, put_doubles, out);
}

static void mrg_normal_halves(const uint32_t *in, void *out)
{
    two_of_a_word(stretch(*in), put_halves, out);
}

static void mrg_log_normal_floats(const uint32_t *in, void *out)
{
    mrg_two(in, put_exp_floats, out);
}

static void mrg_log_normal_doubles(const uint32_t *in, void *out)
{
    mrg_two_doubles(in, put_exp_doubles, out);
}

static void mrg_log_normal_halves(const uint32_t *in, void *out)
{
    two_of_a_word(stretch(*in), put_exp_halves, out);
}

static void mrg_discrete(const uint32_t *in, void *out)
{
    discrete(&(uint32_t){stretch(*in)}, out);
}

/* ---- Sobol: one element per number, to preserve the properties of the sequence ---- */

static void top_32(uint64_t number, unsigned bits_, void *out)
{
    *(uint32_t *)out = (uint32_t)(number >> (bits_ - 32));
}

static void top_16(uint64_t number, unsigned bits_, void *out)
{
    *(uint16_t *)out = (uint16_t)(number >> (bits_ - 16));
}

static void top_8(uint64_t number, unsigned bits_, void *out)
{
    *(uint8_t *)out = (uint8_t)(number >> (bits_ - 8));
}

/* rocRAND 5.3.3 takes the low 32 of 64 bits, which is its own bug. */
static void float_one(uint64_t number, unsigned bits_, void *out)
{
    (void)bits_;
    *(float *)out = unit_float((uint32_t)number);
}

static void double_one(uint64_t number, unsigned bits_, void *out)
{
    *(double *)out =
        bits_ == 32 ? (double)number * 0x1p-32 + 0x1p-32 : (double)(number >> 11) * 0x1p-53 + 0x1p-53;
}

static void half_one(uint64_t number, unsigned bits_, void *out)
{
    *(_Float16 *)out = unit_half((uint16_t)(number >> (bits_ - 16)));
}

/* Winitzki's approximation of the inverse error function for x, with y = 1 - x^2. */
static double inverse_erf(double x, double y)
{
    if (y <= 0)
        return 0;
    const double a = 0.147, l = log(y), b = 2 / (PI * a) + l / 2;
    return copysign(sqrt(sqrt(b * b - l / a) - b), x);
}

static double normal_of_float(uint64_t number)
{
    float p;
    float_one(number, 32, &p);
    const float x = 2 * p - 1;
    return sqrt(2) * inverse_erf((double)x, (double)((1 - x) * (1 + x)));
}

static double normal_of_double(uint64_t number, unsigned bits_)
{
    double p;
    double_one(number, bits_, &p);
    const double x = 2 * p - 1;
    return (double)1.4142135f * inverse_erf(x, (1 - x) * (1 + x)); /* sqrt(2) as a float, as in rocRAND */
}

static void put_one(double normal, put_two *put, unsigned size, void *out)
{
    uint8_t two[MOST_BYTES];
    put((const double[2]){normal, normal}, two);
    memcpy(out, two, size);
}

static void normal_float_one(uint64_t number, unsigned bits_, void *out)
{
    (void)bits_;
    put_one(normal_of_float(number), put_floats, 4, out);
}

static void normal_double_one(uint64_t number, unsigned bits_, void *out)
{
    put_one(normal_of_double(number, bits_), put_doubles, 8, out);
}

static void normal_half_one(uint64_t number, unsigned bits_, void *out)
{
    (void)bits_;
    put_one(normal_of_float(number), put_halves, 2, out);
}

static void log_normal_float_one(uint64_t number, unsigned bits_, void *out)
{
    (void)bits_;
    put_one(normal_of_float(number), put_exp_floats, 4, out);
}

/* The low 32 bits, as above. */
static void log_normal_double_one(uint64_t number, unsigned bits_, void *out)
{
    (void)bits_;
    put_one(normal_of_double((uint32_t)number, 32), put_exp_doubles, 8, out);
}

static void log_normal_half_one(uint64_t number, unsigned bits_, void *out)
{
    (void)bits_;
    put_one(normal_of_float(number), put_exp_halves, 2, out);
}

/* ---- tables ---- */

/* Tolerances. Floats: the GPU's v_sin_f32 takes an angle in turns that was rounded to 24 bits. Halves: every
 * step rounds to 11 bits. The inverse error function is a difference of square roots, which loses half of the
 * digits near 0. */
const struct distribution distributions[DISTRIBUTIONS] = {
    {"j20uniform_distributionIjE", 4, 1, 1, bits},
    {"h20uniform_distributionIhE", 1, 1, 4, bits},
    {"t20uniform_distributionItE", 2, 1, 2, bits},
    {"f20uniform_distributionIfE", 4, 1, 1, floats},
    {"d20uniform_distributionIdE", 8, 2, 1, doubles},
    {"f19normal_distributionIfE", 4, 2, 2, normal_floats, NULL, FLOATS, 1e-5},
    {"d19normal_distributionIdE", 8, 4, 2, normal_doubles, NULL, DOUBLES, 1e-13},
    {"f23log_normal_distributionIfE", 4, 2, 2, log_normal_floats, NULL, FLOATS, 0, 1e-5},
    {"d23log_normal_distributionIdE", 8, 4, 2, log_normal_doubles, NULL, DOUBLES, 0, 1e-13},
    {"j28rocrand_poisson_distributionIL23rocrand_discrete_method1", 4, 1, 1, discrete, NULL, TABLE},
    {"6__half20uniform_distribution", 2, 1, 2, halves},
    {"6__half19normal_distribution", 2, 1, 2, normal_halves, NULL, HALVES, 0.01},
    {"6__half23log_normal_distribution", 2, 1, 2, log_normal_halves, NULL, HALVES, 0, 0.01},
};

const struct distribution mrg_distributions[DISTRIBUTIONS] = {
    {"j24mrg_uniform_distributionIjE", 4, 1, 1, mrg_bits},
    {"h24mrg_uniform_distributionIhE", 1, 1, 4, mrg_bits},
    {"t24mrg_uniform_distributionItE", 2, 1, 2, mrg_bits},
    {"f24mrg_uniform_distributionIfE", 4, 1, 1, mrg_floats},
    {"d24mrg_uniform_distributionIdE", 8, 1, 1, mrg_doubles},
    {"f23mrg_normal_distributionIfE", 4, 2, 2, mrg_normal_floats, NULL, FLOATS, 1e-5},
    {"d23mrg_normal_distributionIdE", 8, 2, 2, mrg_normal_doubles, NULL, DOUBLES, 1e-13},
    {"f27mrg_log_normal_distributionIfE", 4, 2, 2, mrg_log_normal_floats, NULL, FLOATS, 0, 1e-5},
    {"d27mrg_log_normal_distributionIdE", 8, 2, 2, mrg_log_normal_doubles, NULL, DOUBLES, 0, 1e-13},
    {"j24mrg_poisson_distribution", 4, 1, 1, mrg_discrete, NULL, TABLE},
    {"6__half24mrg_uniform_distribution", 2, 1, 2, mrg_halves},
    {"6__half23mrg_normal_distribution", 2, 1, 2, mrg_normal_halves, NULL, HALVES, 0.01},
    {"6__half27mrg_log_normal_distribution", 2, 1, 2, mrg_log_normal_halves, NULL, HALVES, 0, 0.01},
};

const struct distribution sobol_distributions[DISTRIBUTIONS] = {
    {"j26sobol_uniform_distributionIjE", 4, 1, 1, NULL, top_32},
    {"h26sobol_uniform_distributionIhE", 1, 1, 4, NULL, top_8},
    {"t26sobol_uniform_distributionItE", 2, 1, 2, NULL, top_16},
    {"f26sobol_uniform_distributionIfE", 4, 1, 1, NULL, float_one},
    {"d26sobol_uniform_distributionIdE", 8, 1, 1, NULL, double_one},
    {"f25sobol_normal_distributionIfE", 4, 1, 1, NULL, normal_float_one, FLOATS, 1e-3},
    {"d25sobol_normal_distributionIdE", 8, 1, 1, NULL, normal_double_one, DOUBLES, 1e-6},
    {"f29sobol_log_normal_distributionIfE", 4, 1, 1, NULL, log_normal_float_one, FLOATS, 0, 1e-3},
    {"d29sobol_log_normal_distributionIdE", 8, 1, 1, NULL, log_normal_double_one, DOUBLES, 0, 1e-6},
    {"j28rocrand_poisson_distributionIL23rocrand_discrete_method2", 4, 1, 1, NULL, discrete_one, TABLE},
    {"6__half26sobol_uniform_distribution", 2, 1, 2, NULL, half_one},
    {"6__half25sobol_normal_distribution", 2, 1, 2, NULL, normal_half_one, HALVES, 0.01},
    {"6__half29sobol_log_normal_distribution", 2, 1, 2, NULL, log_normal_half_one, HALVES, 0, 0.01},
};

static double value(const void *element, unsigned size)
{
    return size == 2   ? (double)*(const _Float16 *)element
           : size == 4 ? (double)*(const float *)element
                       : *(const double *)element;
}

bool distribution_same(const struct distribution *d, const void *got, const void *expected)
{
    if (d->absolute == 0 && d->relative == 0)
        return memcmp(got, expected, d->size) == 0;
    const double a = value(got, d->size), b = value(expected, d->size);
    if (isnan(b))
        return isnan(a);
    return fabs(a - b) <= d->absolute + d->relative * fabs(b);
}
