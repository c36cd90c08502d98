/* SPDX-License-Identifier: MIT */
/* See generators.h. Written for clarity, without precomputation or parallelism. */
#include "generators.h"

#include <stdlib.h>
#include <string.h>

/* ---- Philox ---- */

void philox4x32_10(const uint32_t counter[4], const uint32_t key[2], uint32_t result[4])
{
    uint32_t c[4] = {counter[0], counter[1], counter[2], counter[3]}, k[2] = {key[0], key[1]};
    for (unsigned round = 0; round < 10; round++) {
        const uint64_t p0 = UINT64_C(0xd2511f53) * c[0], p1 = UINT64_C(0xcd9e8d57) * c[2];
        const uint32_t next[4] = {(uint32_t)(p1 >> 32) ^ c[1] ^ k[0], (uint32_t)p1,
                                  (uint32_t)(p0 >> 32) ^ c[3] ^ k[1], (uint32_t)p0};
        memcpy(c, next, sizeof(c));
        k[0] += 0x9e3779b9; /* the golden ratio */
        k[1] += 0xbb67ae85; /* the square root of 3, minus 1 */
    }
    memcpy(result, c, sizeof(c));
}

/* ---- XORWOW ---- */

uint32_t xorwow_next(struct xorwow *state)
{
    uint32_t *x = state->x;
    const uint32_t t = x[0] ^ (x[0] >> 2), v = x[4];
    memmove(x, x + 1, 4 * sizeof(*x));
    x[4] = (v ^ (v << 4)) ^ (t ^ (t << 1));
    state->d += 362437;
    return state->d + x[4];
}

static void multiply(const struct xorwow_jump *jump, const uint32_t in[5], uint32_t out[5])
{
    uint32_t sum[5] = {0};
    for (unsigned j = 0; j < 160; j++)
        for (unsigned i = 0; i < 5 && in[j / 32] >> j % 32 & 1; i++)
            sum[i] ^= jump->column[j][i];
    memcpy(out, sum, sizeof(sum));
}

void xorwow_make_jump(struct xorwow_jump *jump, unsigned log2)
{
    for (unsigned j = 0; j < 160; j++) {
        struct xorwow unit = {0};
        unit.x[j / 32] = UINT32_C(1) << j % 32;
        xorwow_next(&unit);
        memcpy(jump->column[j], unit.x, sizeof(unit.x));
    }
    while (log2--) {
        const struct xorwow_jump half = *jump;
        for (unsigned j = 0; j < 160; j++)
            multiply(&half, half.column[j], jump->column[j]);
    }
}

void xorwow_apply_jump(const struct xorwow_jump *jump, struct xorwow *state)
{
    multiply(jump, state->x, state->x);
}

/* ---- MRG32k3a ---- */

#define M1 UINT64_C(4294967087)
#define M2 UINT64_C(4294944443)

uint32_t mrg32k3a_next(struct mrg32k3a *state)
{
    uint32_t *s1 = state->s1, *s2 = state->s2;
    const uint64_t p1 = (1403580 * (uint64_t)s1[1] + (M1 - 810728) * s1[0] % M1) % M1;
    const uint64_t p2 = (527612 * (uint64_t)s2[2] + (M2 - 1370589) * s2[0] % M2) % M2;
    s1[0] = s1[1], s1[1] = s1[2], s1[2] = (uint32_t)p1;
    s2[0] = s2[1], s2[1] = s2[2], s2[2] = (uint32_t)p2;
    return (uint32_t)(p1 > p2 ? p1 - p2 : p1 + M1 - p2);
}

static struct matrix3 square(const struct matrix3 *a, uint64_t modulus)
{
    struct matrix3 b = {0};
    for (unsigned i = 0; i < 3; i++)
        for (unsigned j = 0; j < 3; j++)
            for (unsigned k = 0; k < 3; k++)
                b.m[i][j] = (b.m[i][j] + a->m[i][k] * a->m[k][j] % modulus) % modulus;
    return b;
}

void mrg32k3a_make_jump(struct mrg32k3a_jump *jump, unsigned log2)
{
    jump->a1 = (struct matrix3){{{0, 1, 0}, {0, 0, 1}, {M1 - 810728, 1403580, 0}}};
    jump->a2 = (struct matrix3){{{0, 1, 0}, {0, 0, 1}, {M2 - 1370589, 0, 527612}}};
    while (log2--) {
        jump->a1 = square(&jump->a1, M1);
        jump->a2 = square(&jump->a2, M2);
    }
}

static void apply(const struct matrix3 *a, uint64_t modulus, uint32_t s[3])
{
    uint64_t out[3] = {0};
    for (unsigned i = 0; i < 3; i++)
        for (unsigned k = 0; k < 3; k++)
            out[i] = (out[i] + a->m[i][k] * s[k] % modulus) % modulus;
    for (unsigned i = 0; i < 3; i++)
        s[i] = (uint32_t)out[i];
}

void mrg32k3a_apply_jump(const struct mrg32k3a_jump *jump, struct mrg32k3a *state)
{
    apply(&jump->a1, M1, state->s1);
    apply(&jump->a2, M2, state->s2);
}

/* ---- MTGP32 ---- */

void mtgp32_seed(struct mtgp32 *state, const struct mtgp32_parameters *parameters, uint32_t seed)
{
    const uint32_t hidden = parameters->table[4] ^ parameters->table[8] << 16;
    uint32_t fill = hidden + (hidden >> 16);
    fill += fill >> 8;
    *state = (struct mtgp32){.parameters = parameters, .room = 4096};
    state->words = malloc(state->room * sizeof(uint32_t));
    if (!state->words)
        abort();
    memset(state->words, (int)(fill & 0xff), MTGP_WORDS * sizeof(uint32_t));
    state->words[0] = seed;
    state->words[1] = hidden;
    for (uint32_t i = 1; i < MTGP_WORDS; i++) {
        const uint32_t before = state->words[i - 1];
        state->words[i] ^= 1812433253 * (before ^ before >> 30) + i;
    }
}

uint32_t mtgp32_next(struct mtgp32 *state)
{
    const struct mtgp32_parameters *p = state->parameters;
    if (state->at + MTGP_WORDS == state->room) {
        state->room *= 2;
        state->words = realloc(state->words, state->room * sizeof(uint32_t));
        if (!state->words)
            abort();
    }
    const uint32_t *w = state->words + state->at++;
    uint32_t x = (w[0] & p->mask) ^ w[1];
    x ^= x << p->sh1;
    const uint32_t y = x ^ w[p->pos] >> p->sh2, r = y ^ p->table[y & 15];
    state->words[state->at - 1 + MTGP_WORDS] = r;
    uint32_t t = w[p->pos - 1];
    t ^= t >> 16;
    t ^= t >> 8;
    return r ^ p->temper[t & 15];
}

void mtgp32_free(struct mtgp32 *state)
{
    free(state->words);
}

/* ---- Sobol ---- */

/* Degree, inner coefficients of the primitive polynomial, initial numbers; the first dimension has none. */
static const struct {
    unsigned degree, coefficients, first[5];
} joe_kuo[SOBOL_DIMENSIONS] = {
    {0, 0, {0}},       {1, 0, {1}},          {2, 1, {1, 3}},        {3, 1, {1, 3, 1}},
    {3, 2, {1, 1, 1}}, {4, 1, {1, 1, 3, 3}}, {4, 4, {1, 3, 5, 13}}, {5, 2, {1, 1, 5, 5, 17}},
};

void sobol_directions(unsigned dimension, unsigned bits, uint64_t *directions)
{
    const unsigned degree = joe_kuo[dimension].degree;
    for (unsigned k = 0; k < bits; k++) {
        if (k < degree || !degree) {
            directions[k] = (degree ? joe_kuo[dimension].first[k] : UINT64_C(1)) << (bits - 1 - k);
            continue;
        }
        directions[k] = directions[k - degree] ^ directions[k - degree] >> degree;
        for (unsigned i = 1; i < degree; i++)
            if (joe_kuo[dimension].coefficients >> (degree - 1 - i) & 1)
                directions[k] ^= directions[k - i];
    }
}

uint64_t sobol_number(const uint64_t *directions, unsigned bits, uint64_t index)
{
    const uint64_t gray = index ^ index >> 1;
    uint64_t number = 0;
    for (unsigned k = 0; k < bits; k++)
        number ^= gray >> k & 1 ? directions[k] : 0;
    return number;
}
