/* SPDX-License-Identifier: MIT */
/* See engines.h. */
#include "engines.h"

#include "generators.h"

#include <assert.h>
#include <string.h>

static_assert(sizeof(struct xorwow) == ENGINE_BYTES && sizeof(struct mrg32k3a) == ENGINE_BYTES, "engines");

static void seed_xorwow(void *engines, uint64_t seed, size_t count)
{
    struct xorwow *engine = engines;
    struct xorwow_jump jump;
    const uint32_t t0 = 1228688033 * ((uint32_t)seed ^ 0x2c7f967f);
    const uint32_t t1 = 2073658381 * ((uint32_t)(seed >> 32) ^ 0xa03697cb);
    /* Marsaglia's initial state, with the seed mixed in by rocRAND's rule */
    struct xorwow state = {6615241 + t0 + t1,
                           {123456789 + t0, 362436069 ^ t0, 521288629 + t1, 88675123 ^ t1, 5783321 + t0}};
    xorwow_make_jump(&jump, 67); /* from one engine to the next */
    for (size_t i = 0; i < count; i++) {
        engine[i] = state;
        xorwow_apply_jump(&jump, &state); /* d advances by a multiple of 2^32 */
    }
}

static uint32_t next_xorwow(void *engine)
{
    return xorwow_next(engine);
}

static void seed_mrg(void *engines, uint64_t seed, size_t count)
{
    struct mrg32k3a *engine = engines, state;
    struct mrg32k3a_jump jump;
    const uint64_t s = seed ? seed : 12345, m1 = 4294967087, m2 = 4294944443;
    const uint32_t x = (uint32_t)s ^ 0x55555555, y = (uint32_t)(s >> 32) ^ 0xaaaaaaaa;
    for (unsigned i = 0; i < 3; i++) {
        state.s1[i] = (uint32_t)((unsigned __int128)(i == 1 ? y : x) * s % m1);
        state.s2[i] = (uint32_t)((unsigned __int128)(i == 1 ? x : y) * s % m2);
    }
    mrg32k3a_make_jump(&jump, 76);
    for (size_t i = 0; i < count; i++) {
        engine[i] = state;
        mrg32k3a_apply_jump(&jump, &state);
    }
}

static uint32_t next_mrg(void *engine)
{
    return mrg32k3a_next(engine);
}

const struct engine_family xorwow_family = {"13xorwow_engineEj", distributions, seed_xorwow, next_xorwow};
const struct engine_family mrg32k3a_family = {"15mrg32k3a_engineEj", mrg_distributions, seed_mrg, next_mrg};

/* One use of an engine: `in` words give `out` elements, of which at most `most` are kept. */
static void use(const struct engine_family *family, const struct distribution *d, uint8_t *engine,
                uint8_t *to, size_t most)
{
    uint32_t in[MOST_IN];
    uint8_t out[MOST_BYTES];
    for (unsigned i = 0; i < d->in; i++)
        in[i] = family->next(engine);
    d->make(in, out);
    memcpy(to, out, most * d->size);
}

void engines_expect(const struct engine_family *family, const struct distribution *d, uint8_t *engines,
                    uint32_t count, uint32_t start, uint8_t *data, size_t n, unsigned skew)
{
    const size_t head = (d->out - skew % d->out) % d->out, tail = (n - head) % d->out,
                 groups = (n - head) / d->out;
    for (uint32_t lane = 0; lane < count; lane++) {
        uint8_t *engine = engines + (lane + start) % count * ENGINE_BYTES;
        size_t index = lane;
        for (; index < groups; index += count)
            use(family, d, engine, data + (head + index * d->out) * d->size, d->out);
        if (index == groups && head)
            use(family, d, engine, data, head);
        if (index == groups && tail)
            use(family, d, engine, data + (n - tail) * d->size, tail);
    }
}
