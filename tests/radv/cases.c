/* SPDX-License-Identifier: MIT */
/* The compute shaders of tests/radv: inputs, and references in plain C. */
#include "cases.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WORDS(n) ((uint32_t *)buffers[n].bytes)

size_t radv_sizes(const struct radv_case *this, uint32_t sizes[RADV_BUFFERS])
{
    size_t count = 0;
    for (const struct radv_binding *b = this->bindings; b < this->bindings + RADV_BINDINGS && b->count; b++)
        for (uint32_t i = 0; i < b->count; i++)
            sizes[count++] = b->size;
    if (this->hidden)
        sizes[count++] = this->hidden;
    return count;
}

static uint32_t scramble(uint32_t x)
{
    x = (x ^ x >> 16) * 0x7feb352d;
    x = (x ^ x >> 15) * 0x846ca68b;
    return x ^ x >> 16;
}

static void random_words(struct radv_buffer *buffer, uint32_t seed)
{
    for (uint32_t i = 0; i < buffer->size / 4; i++)
        ((uint32_t *)buffer->bytes)[i] = scramble(i + seed * 0x10001);
}

/* add */

static void fill_two(struct radv_buffer *buffers)
{
    random_words(&buffers[0], 1);
    random_words(&buffers[1], 2);
}

static void run_add(struct radv_buffer *buffers, const struct radv_case *this, uint32_t wave)
{
    (void)this, (void)wave;
    for (uint32_t i = 0; i < buffers[2].size / 4; i++)
        WORDS(2)[i] = WORDS(0)[i] * 3 + WORDS(1)[i];
}

/* uniform */

static void fill_one(struct radv_buffer *buffers)
{
    random_words(&buffers[0], 3);
}

static void run_uniform(struct radv_buffer *buffers, const struct radv_case *this, uint32_t wave)
{
    (void)wave;
    const uint32_t *table = WORDS(0), *push = this->push;
    uint32_t width = 32 * this->workgroups[0];
    for (uint32_t i = 0; i < buffers[1].size / 4; i++) {
        uint32_t x = i % width + push[2], y = i / width + push[3];
        uint32_t row = table[i % 16 * 4 + (i / width / 2 & 3)];
        WORDS(1)[i] = row * table[64] + (push[0] << push[1]) + (x * 1000 + y);
    }
}

/* push */

static void fill_none(struct radv_buffer *buffers)
{
    (void)buffers;
}

static void run_push(struct radv_buffer *buffers, const struct radv_case *this, uint32_t wave)
{
    (void)wave;
    const uint32_t *table = this->push + 1;
    for (uint32_t i = 0; i < buffers[0].size / 4; i++)
        WORDS(0)[i] = (table[i / 64 * 7 % 24] << 8 ^ table[i / 64] ^ this->push[0]) + i;
}

/* sets */

static void fill_sets(struct radv_buffer *buffers)
{
    for (uint32_t n = 1; n < 10; n++)
        random_words(&buffers[n], n);
}

static void run_sets(struct radv_buffer *buffers, const struct radv_case *this, uint32_t wave)
{
    (void)this, (void)wave;
    for (uint32_t i = 0; i < buffers[0].size / 4; i++) {
        const uint32_t *item = WORDS(5 + i % 5) + 2 * i;
        WORDS(0)[i] = WORDS(1 + i / 64 % 4)[i] + item[0] * 5 + (item[1] ^ i);
    }
}

/* reduce */

static void run_reduce(struct radv_buffer *buffers, const struct radv_case *this, uint32_t wave)
{
    (void)this, (void)wave;
    for (uint32_t i = 0; i < buffers[0].size / 4; i++) {
        uint32_t x = WORDS(0)[i], *out = WORDS(1) + i / 256 * 2;
        out[0] += x;
        if (x > out[1])
            out[1] = x;
    }
}

/* subgroup */

static void fill_subgroup(struct radv_buffer *buffers)
{
    for (uint32_t i = 0; i < buffers[0].size / 4; i++)
        WORDS(0)[i] = scramble(i) >> (i / 32 % 5);
    WORDS(0)[100] = 77;
}

static void run_subgroup(struct radv_buffer *buffers, const struct radv_case *this, uint32_t wave)
{
    (void)this;
    for (uint32_t i = 0; i < buffers[0].size / 4; i++) {
        uint32_t lane = i % wave, *out = WORDS(1) + i * 16;
        const uint32_t *x = WORDS(0) + (i - lane);
        uint32_t all = 0, upto = 0, most = 0, octet = 0, some = 0, exclusive = 0, first = wave,
                 least = UINT32_MAX;
        uint32_t before = UINT32_MAX;
        uint64_t odd = 0;
        bool any = false;
        for (uint32_t k = 0; k < wave; k++) {
            all += x[k];
            odd |= (uint64_t)(x[k] & 1) << k;
            any |= x[k] == 77;
            if (k <= lane)
                upto += x[k];
            if (k < lane && x[k] > most)
                most = x[k];
            if (k < lane)
                exclusive ^= x[k];
            if (k < lane)
                before &= x[k] | 0xff00ff00;
            if (k / 8 == lane / 8)
                octet ^= x[k];
            if (!(x[k] & 2))
                continue;
            some += x[k];
            first = first == wave ? k : first;
            least = x[k] < least ? x[k] : least;
        }
        uint32_t values[16] = {
            wave | i % 128 / wave << 8 | lane << 16,
            (uint32_t)odd,
            (uint32_t)(odd >> 32),
            (uint32_t)__builtin_popcountll(odd & (((uint64_t)1 << lane) - 1)),
            exclusive,
            x[lane ^ 9],
            all,
            upto,
            most,
            octet,
            x[lane ^ 3],
            x[0],
            x[lane] & 2 ? some + (first == lane) + least * 2 : 0,
            any,
            x[7],
            before,
        };
        memcpy(out, values, sizeof values);
    }
}

/* shuffle */

static void run_shuffle(struct radv_buffer *buffers, const struct radv_case *this, uint32_t wave)
{
    (void)this;
    for (uint32_t i = 0; i < buffers[0].size / 4; i++) {
        const uint32_t lane = i % wave, *x = WORDS(0) + (i - lane);
        const uint32_t mirror = wave - 1 - lane, other = ((lane * 7 & ~1u) | 1) % wave;
        const uint32_t values[4] = {
            x[(lane * 5 + 3) % wave],
            x[(mirror * 5 + 3) % wave],
            x[lane | 1],
            lane & 1 ? x[other] + x[(other * 5 + 3) % wave] : 0,
        };
        memcpy(WORDS(1) + 4 * i, values, sizeof values);
    }
}

/* groups */

static void run_groups(struct radv_buffer *buffers, const struct radv_case *this, uint32_t wave)
{
    (void)wave;
    const uint32_t *groups = this->workgroups, width = groups[0] * 4, height = groups[1] * 6;
    for (uint32_t i = 0; i < buffers[0].size / 32; i++) {
        uint32_t x = i % width, y = i / width % height, z = i / width / height;
        uint32_t values[8] = {
            x / 4, y / 6, z / 5, z % 5 * 24 + y % 6 * 4 + x % 4,
            x % 4, y % 6, z % 5, groups[0] * 100 + groups[1] * 10 + groups[2],
        };
        memcpy(WORDS(0) + i * 8, values, sizeof values);
    }
}

/* small */

static void run_small(struct radv_buffer *buffers, const struct radv_case *this, uint32_t wave)
{
    (void)this, (void)wave;
    for (uint32_t i = 0; i < buffers[0].size; i++) {
        int8_t x = (int8_t)buffers[0].bytes[i];
        uint16_t y = ((uint16_t *)buffers[1].bytes)[i];
        buffers[2].bytes[i] = (uint8_t)(x * 3 + y);
        ((uint16_t *)buffers[3].bytes)[i] = y >> 3;
    }
}

/* halves: of small integers, so that all results are exact */

static void fill_halves(struct radv_buffer *buffers)
{
    for (uint32_t i = 0; i < buffers[0].size / 2; i++) {
        _Float16 value = (_Float16)((int)(scramble(i) % 401) - 200) / 2;
        memcpy(buffers[0].bytes + 2 * i, &value, 2);
    }
}

static void run_halves(struct radv_buffer *buffers, const struct radv_case *this, uint32_t wave)
{
    (void)this, (void)wave;
    for (uint32_t i = 0; i < buffers[0].size / 4; i++) {
        const _Float16 *a = (_Float16 *)buffers[0].bytes + 2 * i, x = a[0], y = a[1];
        _Float16 *b = (_Float16 *)buffers[1].bytes + 2 * i, *c = (_Float16 *)buffers[2].bytes + 4 * i;
        b[0] = x * (_Float16)2 + (_Float16)1;
        b[1] = y * -(_Float16)0.5 + (_Float16)4;
        c[0] = (_Float16)floorf((float)x);
        c[1] = x < y ? x : y;
        c[2] = y < 0 ? -y : y;
        c[3] = (_Float16)((int)x / 3);
    }
}

/* halfwords */

static void run_halfwords(struct radv_buffer *buffers, const struct radv_case *this, uint32_t wave)
{
    (void)this, (void)wave;
    for (uint32_t i = 0; i < buffers[0].size / 8; i++) {
        const int16_t *x = (int16_t *)buffers[0].bytes + 4 * i;
        int16_t *b = (int16_t *)buffers[1].bytes + 4 * i, *c = (int16_t *)buffers[2].bytes + 4 * i;
        b[0] = (int16_t)(x[0] + x[1]);
        b[1] = (int16_t)((uint16_t)x[2] >> 3);
        b[2] = x[1] > x[3] ? x[1] : x[3];
        b[3] = (int16_t)(x[2] * x[3]);
        c[0] = x[3] >> 2; /* a vector of three has the alignment of four */
        c[1] = x[0] < x[2] ? x[0] : x[2];
        c[2] = (int16_t)(((uint16_t)x[0] > (uint16_t)x[1] ? x[0] : x[1]) * 2);
    }
}

/* atomics */

static void fill_atomics(struct radv_buffer *buffers)
{
    random_words(&buffers[0], 5);
    WORDS(1)[1] = UINT32_MAX;
}

static void run_atomics(struct radv_buffer *buffers, const struct radv_case *this, uint32_t wave)
{
    (void)this, (void)wave;
    uint32_t *b = WORDS(1);
    uint64_t sum = 0, tops[4] = {0};
    for (uint32_t i = 0; i < buffers[0].size / 4; i++) {
        uint32_t x = WORDS(0)[i];
        b[1] = x < b[1] ? x : b[1];
        b[2] = x > b[2] ? x : b[2];
        b[3 + x % 61] |= (uint32_t)1 << x % 32;
        sum += (uint64_t)x << 20;
        uint64_t *top = &tops[x >> 4 & 3], new = (uint64_t)x << 30;
        *top = new > *top ? new : *top;
        if (x & 3)
            WORDS(2)[b[0]++] = x;
        WORDS(3)[x & 15] = WORDS(3)[x & 15] * 3 + 1;
    }
    memcpy(b + 64, &sum, 8);
    memcpy(b + 66, tops, 32);
}

static int by_value(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void settle_atomics(struct radv_buffer *buffers)
{
    uint32_t count = WORDS(1)[0];
    if (count <= buffers[2].size / 4)
        qsort(buffers[2].bytes, count, 4, by_value);
}

/* reference: 512 nodes of 16 bytes in the hidden buffer, in lists of different lengths */

enum { NODES = 512 };

static void fill_reference(struct radv_buffer *buffers)
{
    struct node {
        uint64_t next;
        uint32_t value, weight;
    } *nodes = (struct node *)buffers[2].bytes;
    uint64_t *heads = (uint64_t *)buffers[0].bytes;
    for (uint32_t i = 0; i < NODES; i++) {
        uint32_t next = scramble(i) % (i + 1); /* not after itself, so each list ends */
        nodes[i].next = next == i || i % 7 == 0 ? 0 : buffers[2].address + next * 16;
        nodes[i].value = scramble(i + 1000);
        nodes[i].weight = scramble(i + 2000);
    }
    for (uint32_t i = 0; i < buffers[0].size / 8; i++)
        heads[i] = i % 11 == 0 ? 0 : buffers[2].address + scramble(i + 3000) % NODES * 16;
}

static void run_reference(struct radv_buffer *buffers, const struct radv_case *this, uint32_t wave)
{
    (void)wave;
    for (uint32_t i = 0; i < buffers[0].size / 8; i++) {
        uint32_t sum = 0, length = 0;
        uint64_t at = ((uint64_t *)buffers[0].bytes)[i];
        for (; at != 0 && length < this->push[2]; length++) {
            const uint8_t *node = buffers[2].bytes + (at - buffers[2].address);
            uint32_t words[4];
            memcpy(words, node, 16);
            sum += words[2] * words[3] + length;
            at = words[0] | (uint64_t)words[1] << 32;
        }
        WORDS(1)[i] = sum;
    }
}

/* array */

static void run_array(struct radv_buffer *buffers, const struct radv_case *this, uint32_t wave)
{
    (void)this, (void)wave;
    for (uint32_t i = 0; i < buffers[0].size / 4; i++) {
        uint32_t x = WORDS(0)[i], box[160], sum = 0;
        for (uint32_t k = 0; k < 160; k++)
            box[k] = k * x;
        for (uint32_t k = 0; k < 40; k++) {
            x = x * 1664525 + 1013904223;
            box[x >> 8 & 127] += box[x >> 20 & 127] + i;
        }
        for (uint32_t k = 0; k < 160; k++)
            sum = sum * 31 + box[k];
        WORDS(1)[i] = sum;
    }
}

/* texel */

static void fill_texel(struct radv_buffer *buffers)
{
    random_words(&buffers[0], 1);
    random_words(&buffers[1], 2);
    for (uint32_t i = 0; i < buffers[2].size / 2; i++) {
        _Float16 value = (_Float16)(int)(scramble(i) % 2000) / 16;
        memcpy(buffers[2].bytes + 2 * i, &value, 2);
    }
}

static void run_texel(struct radv_buffer *buffers, const struct radv_case *this, uint32_t wave)
{
    (void)this, (void)wave;
    for (uint32_t i = 0; i < buffers[0].size / 4; i++) {
        const int16_t *pair = (int16_t *)buffers[1].bytes + 2 * i;
        WORDS(3)[i] = (uint32_t)(pair[0] * pair[1]);
        for (int k = 0; k < 4; k++) {
            buffers[4].bytes[4 * i + k] = buffers[0].bytes[4 * i + 3 - k];
            float value = 0;
            if (i < buffers[2].size / 8)
                value = (float)((_Float16 *)buffers[2].bytes)[4 * i + k];
            memcpy(WORDS(5) + 8 * i + k, &value, 4);
            WORDS(5)[8 * i + 4 + k] = buffers[0].bytes[4 * i + k];
        }
    }
}

/* image */

static void fill_image(struct radv_buffer *buffers)
{
    random_words(&buffers[0], 1);
    random_words(&buffers[2], 2);
}

static void run_image(struct radv_buffer *buffers, const struct radv_case *this, uint32_t wave)
{
    (void)this, (void)wave;
    uint32_t *words = WORDS(0), original[64 * 64];
    memcpy(original, words, sizeof original);
    for (uint32_t y = 0; y < 16; y++)
        for (uint32_t x = 0; x < 32; x++) {
            const uint32_t texel = WORDS(2)[y * 64 + x];
            WORDS(3)[(y * 32 + x) * 2] = texel;
            WORDS(3)[(y * 32 + x) * 2 + 1] = x + 40 < 64 ? original[(y + 32) * 64 + x + 40] : 0;
            WORDS(1)[y * 64 + x] = __builtin_bswap32(texel);
            words[x] += texel & 0xffff;
            words[(y + 16) * 64 + x] = x * 100 + y;
        }
}

/* floats */

static float flush(float x)
{
    return fpclassify(x) == FP_SUBNORMAL ? copysignf(0, x) : x;
}

static void fill_floats(struct radv_buffer *buffers)
{
    for (uint32_t i = 0; i < buffers[0].size / 4; i++) {
        float value = (float)(int)scramble(i) * ldexpf(1, (int)(scramble(i + 99) % 40) - 40);
        if (i % 4 >= 2) /* exact as a half float */
            value = (float)((int)(scramble(i) % 2001) - 1000) / 8;
        if (i % 16 == 5)
            value = ldexpf((float)i, -145); /* a denormal */
        memcpy(buffers[0].bytes + 4 * i, &value, 4);
    }
    for (uint32_t i = 0; i < buffers[2].size / 8; i++) {
        double value = (double)(int)scramble(i) * ldexp(1, (int)(scramble(i + 77) % 20) - 20);
        if (i % 8 == 5)
            value = ldexp(i, -1060);
        memcpy(buffers[2].bytes + 8 * i, &value, 8);
    }
}

static void run_floats(struct radv_buffer *buffers, const struct radv_case *this, uint32_t wave)
{
    (void)this, (void)wave;
    for (uint32_t i = 0; i < buffers[0].size / 16; i++) {
        float x[4], y[4];
        memcpy(x, buffers[0].bytes + 16 * i, 16);
        for (int k = 0; k < 4; k++)
            x[k] = flush(x[k]);
        _Float16 pair[2] = {(_Float16)x[2], (_Float16)x[3]};
        float packed;
        memcpy(&packed, pair, 4);
        volatile float product = x[0] * x[1], sum = x[0] + x[3];
        y[0] = flush(flush(product) - x[2]);
        y[1] = flush(flush(sum) * x[2]);
        volatile float fraction = x[3] - floorf(x[3]), part = floorf(x[3]) + fraction;
        y[2] = flush(part + (x[0] < x[1] ? x[0] : x[1]));
        y[3] = flush((float)(int)x[0] + flush(packed));
        memcpy(buffers[1].bytes + 16 * i, y, 16);
        double c[2], d[2];
        memcpy(c, buffers[2].bytes + 16 * i, 16);
        volatile double first = c[0] * c[1];
        d[0] = first + c[0];
        d[1] = fma(c[0], c[1], floor(c[1]));
        memcpy(buffers[3].bytes + 16 * i, d, 16);
    }
}

/* control */

static uint32_t collatz(uint32_t x)
{
    uint32_t steps = 0;
    while (x != 1) {
        if (steps > 200)
            return 999;
        x = x & 1 ? x * 3 + 1 : x / 2;
        steps++;
        if (x == 44)
            break;
    }
    return steps;
}

static void run_control(struct radv_buffer *buffers, const struct radv_case *this, uint32_t wave)
{
    (void)this, (void)wave;
    const uint32_t *a = WORDS(0);
    for (uint32_t i = 0; i < buffers[0].size / 4; i++) {
        uint32_t x = a[i], result = 0;
        switch (x % 5) {
        case 0:
            result = collatz(x % 1000 + 1);
            break;
        case 1:
            for (uint32_t k = 0; k < x % 17 && a[k] != x; k++)
                result += a[k] / (x % 7 + 1);
            break;
        case 2:
            result = 1 + x % 1000003;
            break;
        case 3:
            result = x % 1000003;
            break;
        default:
            result = 12345;
            break;
        }
        WORDS(1)[i] = result;
    }
}

/* constants */

static void run_constants(struct radv_buffer *buffers, const struct radv_case *this, uint32_t wave)
{
    (void)this, (void)wave;
    uint32_t primes[40], count = 0;
    for (uint32_t n = 2; count < 40; n++) {
        uint32_t divisor = 2;
        while (n % divisor != 0)
            divisor++;
        if (divisor == n)
            primes[count++] = n;
    }
    for (uint32_t i = 0; i < buffers[0].size / 4; i++)
        WORDS(1)[i] = primes[WORDS(0)[i] % 40] * 1000 + primes[i / 64];
}

/* bits */

static uint32_t field(uint32_t x, uint32_t from, uint32_t bits)
{
    return x >> from & (((uint32_t)1 << bits) - 1);
}

/* glslang makes OpSMod of the operator %: the result has the sign of the divisor. */
static int64_t modulo(int64_t x, int64_t divisor)
{
    const int64_t rest = x % divisor;
    return rest != 0 && (rest < 0) != (divisor < 0) ? rest + divisor : rest;
}

static void run_bits(struct radv_buffer *buffers, const struct radv_case *this, uint32_t wave)
{
    (void)this, (void)wave;
    for (uint32_t i = 0; i < buffers[0].size / 16; i++) {
        const uint32_t *x = WORDS(0) + 4 * i, from = x[2] & 15, msb = x[1] >> (x[2] & 31);
        const uint64_t wide = x[0] | (uint64_t)x[1] << 32, other = (uint64_t)x[2] * 3 + 1;
        const uint64_t product = (uint64_t)x[2] * x[3], last = x[2] | (uint64_t)x[3] << 32;
        const int64_t negative = (int64_t)wide >> (x[3] & 63);
        uint32_t reversed = 0;
        for (int k = 0; k < 32; k++)
            reversed |= (x[0] >> k & 1) << (31 - k);
        const uint32_t values[16] = {
            field(x[0], x[1] & 15, x[2] & 15),
            (uint32_t)((int32_t)(x[0] << 16) >> 21),
            (x[0] & ~((uint32_t)511 << from)) | (x[1] & 511) << from,
            reversed,
            (uint32_t)(__builtin_popcount(x[0]) + (msb ? 31 - __builtin_clz(msb) : -1) * 100 +
                       (x[2] ? __builtin_ctz(x[2]) : -1) * 10000),
            x[0] + x[1],
            x[0] - x[1] + (x[0] + x[1] < x[0]) * 2 + (x[0] < x[1]),
            (uint32_t)(product >> 32) ^ (uint32_t)product,
            (uint32_t)((int64_t)(int32_t)x[0] * (int32_t)x[3] >> 32),
            (uint32_t)(wide / other),
            (uint32_t)(wide / other >> 32),
            (uint32_t)(wide * last >> 32),
            (uint32_t)negative,
            (uint32_t)modulo(negative, -1000003),
            (uint32_t)(wide << (x[3] & 63) >> 32),
            negative < (int64_t)other ? x[0] / (x[1] | 1)
                                      : (uint32_t)modulo((int32_t)x[0], (int32_t)(x[1] | 1)),
        };
        memcpy(WORDS(1) + 16 * i, values, sizeof values);
    }
}

/* shared */

static void run_shared(struct radv_buffer *buffers, const struct radv_case *this, uint32_t wave)
{
    (void)this, (void)wave;
    for (uint32_t first = 0; first < buffers[0].size / 16; first += 256) {
        const uint32_t *a = WORDS(0) + 4 * first;
        uint32_t counts[8] = {0};
        uint64_t sums[3] = {0};
        for (uint32_t i = 0; i < 256; i++) {
            const uint32_t *x = a + 4 * i;
            counts[x[1] & 7]++;
            counts[7 - (x[2] & 7)] ^= x[3] & 0xffff0000;
            sums[x[3] % 3] += x[0] | (uint64_t)x[1] << 32;
        }
        for (uint32_t i = 0; i < 256; i++) {
            const uint64_t sum = sums[i % 3];
            const uint32_t values[4] = {a[4 * (i ^ 0x55)] & 255, counts[i & 7], (uint32_t)sum,
                                        (uint32_t)(sum >> 32)};
            memcpy(WORDS(1) + 4 * (first + i), a + 4 * (i % 16 * 16 + i / 16), 16);
            memcpy(WORDS(2) + 4 * (first + i), values, 16);
        }
    }
}

#define SUBGROUP                                                                                             \
    .shader = "subgroup", .workgroups = {3, 1, 1},                                                           \
    .bindings = {{0, 0, RADV_STORAGE, 1, 128 * 3 * 4, 0}, {0, 1, RADV_STORAGE, 1, 128 * 3 * 64, 0}},         \
    .fill = fill_subgroup, .run = run_subgroup
#define SHARED                                                                                               \
    .shader = "shared", .atomics64 = true, .workgroups = {2, 1, 1},                                          \
    .bindings = {{0, 0, RADV_STORAGE, 1, 8192, 0},                                                           \
                 {0, 1, RADV_STORAGE, 1, 8192, 0},                                                           \
                 {0, 2, RADV_STORAGE, 1, 8192, 0}},                                                          \
    .fill = fill_one, .run = run_shared
#define SHUFFLE                                                                                              \
    .shader = "shuffle", .workgroups = {2, 1, 1},                                                            \
    .bindings = {{0, 0, RADV_STORAGE, 1, 1024, 0}, {0, 1, RADV_STORAGE, 1, 4096, 0}}, .fill = fill_one,      \
    .run = run_shuffle
#define REDUCE                                                                                               \
    .shader = "reduce", .workgroups = {5, 1, 1},                                                             \
    .bindings = {{0, 0, RADV_STORAGE, 1, 5 * 1024, 0}, {0, 1, RADV_STORAGE, 1, 40, 0}}, .fill = fill_one,    \
    .run = run_reduce
#define GROUPS                                                                                               \
    .shader = "groups", .workgroups = {3, 2, 4},                                                             \
    .bindings = {{0, 0, RADV_STORAGE, 1, 3 * 2 * 4 * 120 * 32, 0}}, .fill = fill_none, .run = run_groups
#define CONTROL                                                                                              \
    .shader = "control", .workgroups = {6, 1, 1},                                                            \
    .bindings = {{0, 0, RADV_STORAGE, 1, 1536, 0}, {0, 1, RADV_STORAGE, 1, 1536, 0}}, .fill = fill_one,      \
    .run = run_control
#define ARRAY                                                                                                \
    .shader = "array", .workgroups = {4, 1, 1},                                                              \
    .bindings = {{0, 0, RADV_STORAGE, 1, 1024, 0}, {0, 1, RADV_STORAGE, 1, 1024, 0}}, .fill = fill_one,      \
    .run = run_array

const struct radv_case radv_cases[] = {
    {.name = "add",
     .shader = "add",
     .workgroups = {5, 1, 1},
     .bindings = {{0, 0, RADV_STORAGE, 1, 1280, 0},
                  {0, 1, RADV_STORAGE, 1, 1280, 0},
                  {0, 2, RADV_STORAGE, 1, 1280, 0}},
     .fill = fill_two,
     .run = run_add},
    {.name = "uniform",
     .shader = "uniform",
     .workgroups = {3, 7, 1},
     .bindings = {{0, 0, RADV_UNIFORM, 1, 272, 0}, {0, 1, RADV_STORAGE, 1, 1300 * 4, 0}},
     .push = {0x1234567, 5, 70, (uint32_t)-3},
     .push_words = 4,
     .fill = fill_one,
     .run = run_uniform},
    {.name = "push",
     .shader = "push",
     .workgroups = {9, 1, 1},
     .bindings = {{0, 0, RADV_STORAGE, 1, 9 * 256, 0}},
     .push = {0xabcdef01, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22,
              23,         24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34},
     .push_words = 25,
     .fill = fill_none,
     .run = run_push},
    {.name = "sets",
     .shader = "sets",
     .workgroups = {6, 1, 1},
     .bindings = {{0, 0, RADV_STORAGE, 1, 1536, 0},
                  {0, 3, RADV_STORAGE, 4, 1536, 0},
                  {2, 1, RADV_STORAGE, 5, 3072, 0}},
     .fill = fill_sets,
     .run = run_sets},
    {.name = "small",
     .shader = "small",
     .workgroups = {4, 1, 1},
     .bindings = {{0, 0, RADV_STORAGE, 1, 256, 0},
                  {0, 1, RADV_STORAGE, 1, 512, 0},
                  {0, 2, RADV_STORAGE, 1, 256, 0},
                  {0, 3, RADV_STORAGE, 1, 512, 0}},
     .fill = fill_two,
     .run = run_small},
    {.name = "halves",
     .shader = "halves",
     .half_floats = true,
     .workgroups = {4, 1, 1},
     .bindings = {{0, 0, RADV_STORAGE, 1, 1024, 0},
                  {0, 1, RADV_STORAGE, 1, 1024, 0},
                  {0, 2, RADV_STORAGE, 1, 2048, 0}},
     .fill = fill_halves,
     .run = run_halves},
    {.name = "halfwords",
     .shader = "halfwords",
     .words16 = true,
     .workgroups = {4, 1, 1},
     .bindings = {{0, 0, RADV_STORAGE, 1, 2048, 0},
                  {0, 1, RADV_STORAGE, 1, 2048, 0},
                  {0, 2, RADV_STORAGE, 1, 2048, 0}},
     .fill = fill_one,
     .run = run_halfwords},
    {.name = "atomics",
     .shader = "atomics",
     .atomics64 = true,
     .workgroups = {8, 1, 1},
     .bindings = {{0, 0, RADV_STORAGE, 1, 2048, 0},
                  {0, 1, RADV_STORAGE, 1, 296, 0},
                  {0, 2, RADV_STORAGE, 1, 2048, 0},
                  {0, 3, RADV_STORAGE, 1, 64, 0}},
     .fill = fill_atomics,
     .run = run_atomics,
     .settle = settle_atomics},
    {.name = "reference",
     .shader = "reference",
     .workgroups = {4, 1, 1},
     .bindings = {{0, 0, RADV_STORAGE, 1, 2048, 0}, {1, 0, RADV_STORAGE, 1, 1024, 0}},
     .push = {RADV_LOW + 1, RADV_HIGH + 1, 6},
     .push_words = 3,
     .hidden = NODES * 16,
     .fill = fill_reference,
     .run = run_reference},
    {.name = "texel",
     .shader = "texel",
     .workgroups = {4, 1, 1},
     .bindings = {{0, 0, RADV_TEXELS, 1, 1024, RADV_RGBA8_UNORM},
                  {0, 1, RADV_TEXELS, 1, 1024, RADV_RG16_SINT},
                  {0, 2, RADV_TEXELS, 1, 1536, RADV_RGBA16_FLOAT},
                  {0, 3, RADV_STORED_TEXELS, 1, 1024, RADV_R32_UINT},
                  {0, 4, RADV_STORED_TEXELS, 1, 1024, RADV_RGBA8_UNORM},
                  {0, 5, RADV_STORAGE, 1, 8192, 0}},
     .fill = fill_texel,
     .run = run_texel},
    {.name = "image",
     .shader = "image",
     .workgroups = {4, 2, 1},
     .bindings = {{0, 0, RADV_STORED_IMAGE, 1, 64 * 256, RADV_R32_UINT},
                  {0, 1, RADV_STORED_IMAGE, 1, 64 * 256, RADV_RGBA8_UNORM},
                  {0, 2, RADV_IMAGE, 1, 64 * 256, RADV_R32_UINT},
                  {0, 3, RADV_STORAGE, 1, 32 * 16 * 8, 0}},
     .fill = fill_image,
     .run = run_image},
    {.name = "floats",
     .shader = "floats",
     .workgroups = {4, 1, 1},
     .bindings = {{0, 0, RADV_STORAGE, 1, 4096, 0},
                  {0, 1, RADV_STORAGE, 1, 4096, 0},
                  {0, 2, RADV_STORAGE, 1, 4096, 0},
                  {0, 3, RADV_STORAGE, 1, 4096, 0}},
     .fill = fill_floats,
     .run = run_floats},
    {.name = "constants",
     .shader = "constants",
     .workgroups = {5, 1, 1},
     .bindings = {{0, 0, RADV_STORAGE, 1, 1280, 0}, {0, 1, RADV_STORAGE, 1, 1280, 0}},
     .fill = fill_one,
     .run = run_constants},
    {.name = "bits",
     .shader = "bits",
     .workgroups = {4, 1, 1},
     .bindings = {{0, 0, RADV_STORAGE, 1, 4096, 0}, {0, 1, RADV_STORAGE, 1, 16384, 0}},
     .fill = fill_one,
     .run = run_bits},
    {.name = "shared", SHARED},
    {.name = "shared-32", .wave = 32, SHARED},
    {.name = "reduce", REDUCE},
    {.name = "reduce-32", .wave = 32, REDUCE},
    {.name = "subgroup", SUBGROUP},
    {.name = "subgroup-32", .wave = 32, SUBGROUP},
    {.name = "shuffle", SHUFFLE},
    {.name = "shuffle-32", .wave = 32, SHUFFLE},
    {.name = "groups", GROUPS},
    {.name = "groups-32", .wave = 32, GROUPS},
    {.name = "control", CONTROL},
    {.name = "control-32", .wave = 32, CONTROL},
    {.name = "array", ARRAY},
    {.name = "array-32", .wave = 32, ARRAY},
};
const size_t radv_case_count = sizeof radv_cases / sizeof *radv_cases;
