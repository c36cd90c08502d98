/* SPDX-License-Identifier: MIT */
/* The unseen kernels as workloads. Each reference is plain C in this file, next to its inputs. */
#include "unseen.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "prepare.h"

static void prepare_convolve(struct workload_run *run, const uint32_t size[3])
{
    enum { radius = 2, side = 2 * radius + 1, taps = side * side };
    const long width = size[0], height = size[1];
    const size_t in = add_random(run, "in", (size_t)width * (size_t)height, 140, 0, 1);
    const size_t out = add_buffer(run, "out", WORKLOAD_F32, (size_t)width * (size_t)height);
    const size_t weight = add_random(run, "weight", taps, 141, -1, 1);
    enqueue(run, "convolve", size[0], size[1], 16, 16,
            ARGUMENTS(in_buffer(in), in_buffer(out), in_buffer(weight), u32(size[0]), u32(size[1])));
    float *expected = expect(run, out, 0, 2 * taps * taps * ROUNDING, "two roundings per tap, sums below 25");
    const float *value = run->buffer[in].initial, *w = run->buffer[weight].initial;
    for (long i = 0; i < width * height && expected; i++) {
        double sum = 0;
        for (int tap = 0; tap < taps; tap++) {
            const long x = i % width + tap % side - radius, y = i / width + tap / side - radius;
            const bool inside = x >= 0 && x < width && y >= 0 && y < height;
            sum += inside ? (double)value[y * width + x] * w[tap] : 0;
        }
        expected[i] = (float)sum;
    }
}

static void prepare_atx(struct workload_run *run, const uint32_t size[3])
{
    const uint32_t rows = size[0], columns = size[1];
    const size_t a = add_random(run, "a", (size_t)rows * columns, 142, 0, 1);
    const size_t x = add_random(run, "x", rows, 143, 0, 1);
    const size_t y = add_buffer(run, "y", WORKLOAD_F32, columns);
    enqueue(run, "atx", columns, 1, 256, 1,
            ARGUMENTS(in_buffer(a), in_buffer(x), in_buffer(y), u32(rows), u32(columns)));
    float *expected =
        expect(run, y, (rows + 1) * ROUNDING, 0, "positive terms: a rounding for each addition");
    const float *matrix = run->buffer[a].initial, *vector = run->buffer[x].initial;
    for (size_t column = 0; column < columns && expected; column++) {
        double sum = 0;
        for (size_t row = 0; row < rows; row++)
            sum += (double)matrix[row * columns + column] * vector[row];
        expected[column] = (float)sum;
    }
}

/* The points nearest to `query` in order, each by a pass over all points. */
static void nearest_points(const float *points, uint32_t point_count, const float *query, int *nearest,
                           int count)
{
    long before = -1; /* the square of the distance to the previous one, and its index */
    long before_index = -1;
    for (int place = 0; place < count; place++) {
        long least = LONG_MAX, index = -1;
        for (long i = 0; i < point_count; i++) {
            long distance = 0;
            for (int axis = 0; axis < 3; axis++) {
                const long d = (long)points[i * 4 + axis] - (long)query[axis];
                distance += d * d;
            }
            const bool behind = distance > before || (distance == before && i > before_index);
            if (behind && distance < least) {
                least = distance;
                index = i;
            }
        }
        nearest[place] = (int)index;
        before = least;
        before_index = index;
    }
}

static void prepare_knn(struct workload_run *run, const uint32_t size[3])
{
    enum { nearest = 4 };
    const uint32_t point_count = size[0], query_count = size[1];
    const size_t points = add_buffer(run, "points", WORKLOAD_F32, (size_t)point_count * 4);
    const size_t queries = add_buffer(run, "queries", WORKLOAD_F32, (size_t)query_count * 4);
    const size_t index = add_buffer(run, "index", WORKLOAD_U32, (size_t)query_count * nearest);
    enqueue(run, "knn", query_count, 1, 128, 1,
            ARGUMENTS(in_buffer(points), in_buffer(queries), in_buffer(index), u32(point_count),
                      u32(query_count)));
    if (run->failed)
        return;
    /* Small integers, so that distances are exact, and some are equal. */
    float *p = run->buffer[points].initial, *q = run->buffer[queries].initial;
    for (size_t i = 0; i < (size_t)point_count * 4; i++)
        p[i] = (float)(wmi_random_u32(144, i) >> 27);
    for (size_t i = 0; i < (size_t)query_count * 4; i++)
        q[i] = (float)(wmi_random_u32(145, i) >> 27);
    int *expected = expect(run, index, 0, 0, exact_integer);
    for (size_t i = 0; i < query_count && expected; i++)
        nearest_points(p, point_count, q + i * 4, expected + i * nearest, nearest);
}

static double next_fraction(uint32_t *state, uint32_t add)
{
    *state = *state * 1664525 + 1013904223;
    return ldexp((*state >> 8) + add, -24);
}

static void prepare_option(struct workload_run *run, const uint32_t size[3])
{
    const uint32_t items = size[0], pairs = size[1], seed = 2246822519;
    const float spot = 100, strike = 105, drift = 0.01f, volatility = 0.2f, discount = 0.97f;
    const size_t price = add_buffer(run, "price", WORKLOAD_F32, items);
    enqueue(run, "option", items, 1, 256, 1,
            ARGUMENTS(in_buffer(price), u32(items), u32(seed), u32(pairs), f32(spot), f32(strike), f32(drift),
                      f32(volatility), f32(discount)));
    /* The radius is at most 5.8, so prices at most 330. An angle below 6.3 has two roundings; with the errors
     * of log() and sqrt() (3 units each) and of cos() and sin() (4 units) that makes 6.3 * 2 + 20 roundings
     * of a radius, and 0.2 * 5.8 of those in the exponent; exp() has 6, and a few follow. Then sums. */
    const double before_sum = 1.16 * (6.3 * 2 + 20) + 6 + 4;
    float *expected = expect(run, price, 0, 330 * (before_sum + 2 * pairs) * ROUNDING, "all roundings");
    for (uint32_t item = 0; item < items && expected; item++) {
        uint32_t state = (item + 1) * seed;
        double sum = 0;
        for (uint32_t i = 0; i < pairs; i++) {
            const double u = next_fraction(&state, 1), v = next_fraction(&state, 0);
            const double radius = sqrt(-2 * log(u)), angle = 2 * M_PI * v;
            const double up = spot * exp(drift + (double)volatility * radius * cos(angle));
            const double down = spot * exp(drift + (double)volatility * radius * sin(angle));
            sum += fmax(up - strike, 0) + fmax(down - strike, 0);
        }
        expected[item] = (float)((double)discount * sum / (2 * pairs));
    }
}

/* A quarter round of RFC 8439 on four of the 16 words of a state. */
static void quarter_round(uint32_t *state, const uint8_t at[4])
{
    static const int left[4] = {16, 12, 8, 7};
    for (int i = 0; i < 4; i++) {
        uint32_t *sum = &state[at[i % 2 * 2]], *mixed = &state[at[3 - i % 2 * 2]];
        *sum += state[at[i % 2 ? 3 : 1]];
        *mixed ^= *sum;
        *mixed = *mixed << left[i] | *mixed >> (32 - left[i]);
    }
}

static void prepare_chacha20(struct workload_run *run, const uint32_t size[3])
{
    enum { words = 16 };
    static const uint8_t at[8][4] = {{0, 4, 8, 12},  {1, 5, 9, 13},  {2, 6, 10, 14}, {3, 7, 11, 15},
                                     {0, 5, 10, 15}, {1, 6, 11, 12}, {2, 7, 8, 13},  {3, 4, 9, 14}};
    const uint32_t blocks = size[0], counter = 1, nonce[3] = {0x09000000, 0x4a000000, 0};
    const size_t in = add_random_bits(run, "in", (size_t)blocks * words, 146);
    const size_t out = add_buffer(run, "out", WORKLOAD_U32, (size_t)blocks * words);
    const size_t key = add_random_bits(run, "key", 8, 147);
    enqueue(run, "chacha20", blocks, 1, 64, 1,
            ARGUMENTS(in_buffer(in), in_buffer(out), in_buffer(key), u32(blocks), u32(counter), u32(nonce[0]),
                      u32(nonce[1]), u32(nonce[2])));
    uint32_t *expected = expect(run, out, 0, 0, exact_integer);
    const uint32_t *text = run->buffer[in].initial, *k = run->buffer[key].initial;
    for (uint32_t block = 0; block < blocks && expected; block++) {
        uint32_t start[words], state[words];
        memcpy(start, "expand 32-byte k", 16);
        memcpy(start + 4, k, 32);
        start[12] = counter + block;
        memcpy(start + 13, nonce, sizeof(nonce));
        memcpy(state, start, sizeof(state));
        for (int i = 0; i < 80; i++)
            quarter_round(state, at[i % 8]);
        for (size_t i = 0; i < words; i++) {
            const size_t word = (size_t)block * words + i;
            expected[word] = text[word] ^ (state[i] + start[i]);
        }
    }
}

static void prepare_search(struct workload_run *run, const uint32_t size[3])
{
    const uint32_t length = size[0], pattern_length = size[1];
    const size_t text = add_buffer(run, "text", WORKLOAD_U32, length / 4 + 1);
    const size_t pattern = add_buffer(run, "pattern", WORKLOAD_U32, pattern_length / 4 + 1);
    const size_t count = add_buffer(run, "count", WORKLOAD_U32, 1);
    const size_t first = add_buffer(run, "first", WORKLOAD_U32, 1);
    enqueue(run, "search", length, 1, 256, 1,
            ARGUMENTS(in_buffer(text), u32(length), in_buffer(pattern), u32(pattern_length), in_buffer(count),
                      in_buffer(first)));
    if (run->failed)
        return;
    char *letter = run->buffer[text].initial, *wanted = run->buffer[pattern].initial;
    for (uint32_t i = 0; i < length; i++)
        letter[i] = "ACGT"[wmi_random_u32(148, i) >> 30];
    memcpy(wanted, letter + length - pattern_length, pattern_length); /* occurs at the end at least */
    memset(run->buffer[first].initial, 0xff, 4);
    uint32_t *found = expect(run, count, 0, 0, exact_integer),
             *least = expect(run, first, 0, 0, exact_integer);
    if (!found || !least)
        return;
    *least = UINT32_MAX;
    for (uint32_t i = 0; i + pattern_length <= length; i++)
        if (!memcmp(letter + i, wanted, pattern_length)) {
            ++*found;
            *least = i < *least ? i : *least;
        }
}

/* A generation, in which each living cell tells its eight neighbours. `neighbours`: a count per cell. */
static void reference_life(uint8_t *cell, uint8_t *neighbours, long width, long height)
{
    memset(neighbours, 0, (size_t)(width * height));
    for (long y = 0; y < height; y++)
        for (long x = 0; x < width; x++)
            for (long other = 0; other < 9 && cell[y * width + x]; other++)
                neighbours[(y + other / 3 - 1 + height) % height * width +
                           (x + other % 3 - 1 + width) % width] += other != 4;
    for (long i = 0; i < width * height; i++)
        cell[i] = neighbours[i] == 3 || (cell[i] && neighbours[i] == 2);
}

static void prepare_life(struct workload_run *run, const uint32_t size[3])
{
    enum { generations = 4 /* even: the last one is in the first buffer */ };
    const size_t cells = (size_t)size[0] * size[1], words = (cells + 3) / 4;
    const size_t now = add_random_bits(run, "now", words, 149),
                 next = add_buffer(run, "next", WORKLOAD_U32, words);
    for (int i = 0; i < generations; i++)
        enqueue(run, "life", size[0], size[1], 32, 8,
                ARGUMENTS(in_buffer(i % 2 ? next : now), in_buffer(i % 2 ? now : next), u32(size[0]),
                          u32(size[1])));
    if (run->failed)
        return;
    uint8_t *cell = run->buffer[now].initial;
    for (size_t i = 0; i < words * 4; i++)
        cell[i] = i < cells && cell[i] % 3 == 0;
    uint8_t *expected = expect(run, now, 0, 0, exact_integer);
    if (!expected)
        return;
    uint8_t *neighbours = malloc(cells);
    run->failed |= !neighbours;
    memcpy(expected, cell, cells);
    for (int i = 0; i < generations && neighbours; i++)
        reference_life(expected, neighbours, size[0], size[1]);
    free(neighbours);
}

static int compare_keys(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

static void prepare_oddeven(struct workload_run *run, const uint32_t size[3])
{
    enum { group = 256, block = 2 * group };
    const uint32_t n = size[0];
    const size_t in = add_random_bits(run, "in", (size_t)n * 2, 150);
    const size_t out = add_buffer(run, "out", WORKLOAD_U32, (size_t)n * 2);
    enqueue(run, "oddeven", (n + block - 1) / block * group, 1, group, 1,
            ARGUMENTS(in_buffer(in), in_buffer(out), u32(n)));
    uint64_t *expected = expect(run, out, 0, 0, exact_copy);
    if (!expected)
        return;
    memcpy(expected, run->buffer[in].initial, n * sizeof(*expected));
    for (uint32_t i = 0; i < n; i += block)
        qsort(expected + i, n - i < block ? n - i : block, sizeof(*expected), compare_keys);
}

/* Eliminates from the last row up, in double. Rows are `pitch` apart; `solution` has two numbers per row. */
static void solve_tridiagonal(const float *lower, const float *diagonal, const float *upper,
                              const float *right, double *solution, size_t rows, size_t pitch)
{
    double factor = 0, value = 0;
    for (size_t i = rows; i-- > 0;) {
        const size_t at = i * pitch;
        const double divisor = diagonal[at] + upper[at] * factor;
        value = (right[at] - upper[at] * value) / divisor;
        factor = -lower[at] / divisor;
        solution[2 * i] = value;
        solution[2 * i + 1] = factor;
    }
    for (size_t i = 1; i < rows; i++)
        solution[2 * i] += solution[2 * i + 1] * solution[2 * i - 2];
}

static void prepare_thomas(struct workload_run *run, const uint32_t size[3])
{
    const uint32_t rows = size[0], systems = size[1];
    const size_t count = (size_t)rows * systems;
    const size_t lower = add_random(run, "lower", count, 151, -1, 1);
    const size_t diagonal = add_random(run, "diagonal", count, 152, 3, 4);
    const size_t upper = add_random(run, "upper", count, 153, -1, 1);
    const size_t right = add_random(run, "right", count, 154, -1, 1);
    const size_t scratch = add_buffer(run, "scratch", WORKLOAD_F32, count);
    const size_t x = add_buffer(run, "x", WORKLOAD_F32, count);
    enqueue(run, "thomas", systems, 1, 64, 1,
            ARGUMENTS(in_buffer(lower), in_buffer(diagonal), in_buffer(upper), in_buffer(right),
                      in_buffer(scratch), in_buffer(x), u32(rows), u32(systems)));
    /* Diagonals dominate by 1, so the solution and the inverse are at most 1. A row's terms, of 6 in all,
     * have 12 roundings, counting a quotient's as 5. */
    float *expected = expect(run, x, 0, 6 * 12 * ROUNDING, "all roundings");
    double *solution = malloc(rows * 2 * sizeof(*solution));
    run->failed |= !solution;
    const float *a = run->buffer[lower].initial, *b = run->buffer[diagonal].initial,
                *c = run->buffer[upper].initial, *d = run->buffer[right].initial;
    for (size_t i = 0; i < systems && expected && solution; i++) {
        solve_tridiagonal(a + i, b + i, c + i, d + i, solution, rows, systems);
        for (size_t row = 0; row < rows; row++)
            expected[row * systems + i] = (float)solution[row * 2];
    }
    free(solution);
}

/* Eight floats: place, radius, colour. */
enum { SPHERE = 8 };

/* The square of the radius minus that of the distance between a sphere's centre and a ray. */
static double depth_square(const float *sphere, const float *direction, double *along)
{
    double centre = 0;
    *along = 0;
    for (int axis = 0; axis < 3; axis++) {
        *along += (double)sphere[axis] * direction[axis];
        centre += (double)sphere[axis] * sphere[axis];
    }
    return *along * *along - centre + (double)sphere[3] * sphere[3];
}

/* Spheres on two layers of a lattice in front of the origin, which do not touch each other. */
static void place_spheres(float *sphere, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++, sphere += SPHERE) {
        sphere[0] = (float)(i % 4) * 1.1f - 1.6f + 0.3f * (float)(i % 3);
        sphere[1] = (float)(i / 4 % 4) * 1.1f - 1.7f + 0.2f * (float)(i % 5);
        sphere[2] = 3.5f + 1.5f * (float)(i % 2);
        sphere[3] = 0.5f + 0.02f * (float)(i % 10);
        for (uint32_t channel = 0; channel < 4; channel++)
            sphere[4 + channel] = channel < 3 ? wmi_random_f32(155, i * 3 + channel) : 1;
    }
}

/* Rays through a picture, each at a place in its pixel where no sphere's edge is near. */
static void aim_rays(float *direction, uint32_t width, uint32_t height, const float *sphere, uint32_t count)
{
    for (uint32_t i = 0; i < width * height; i++, direction += 4) {
        bool clear = false;
        for (uint32_t attempt = 0; !clear; attempt++) {
            const double jitter[2] = {wmi_random_f64(156, i + (uint64_t)attempt * width * height),
                                      wmi_random_f64(157, i + (uint64_t)attempt * width * height)};
            /* Further attempts go further away, as a pixel may be all edge. */
            const double x = ((i % width + 0.5 + (jitter[0] - 0.5) * (attempt + 1)) / width - 0.5) * 1.4;
            const double y = ((i / width + 0.5 + (jitter[1] - 0.5) * (attempt + 1)) / height - 0.5) * 1.4;
            const double length = sqrt(x * x + y * y + 1);
            direction[0] = (float)(x / length);
            direction[1] = (float)(y / length);
            direction[2] = (float)(1 / length);
            clear = true;
            for (uint32_t j = 0; j < count && clear; j++) {
                double along;
                clear = fabs(depth_square(sphere + (size_t)j * SPHERE, direction, &along)) > 0.01;
            }
        }
    }
}

static void trace_ray(const float *direction, const float *sphere, uint32_t count, const float lamp[3],
                      float *colour)
{
    static const double sky[4] = {0.5, (double)0.7f, 1, 1};
    double nearest = INFINITY;
    const float *hit = NULL;
    for (uint32_t i = 0; i < count; i++) {
        double along;
        const double square = depth_square(sphere + (size_t)i * SPHERE, direction, &along);
        const double distance = square > 0 ? along - sqrt(square) : INFINITY;
        if (distance > 0 && distance < nearest) {
            nearest = distance;
            hit = sphere + (size_t)i * SPHERE;
        }
    }
    double cosine = 0;
    for (int axis = 0; axis < 3 && hit; axis++)
        cosine += (nearest * direction[axis] - hit[axis]) / hit[3] * lamp[axis];
    for (int channel = 0; channel < 4; channel++)
        colour[channel] = (float)(hit ? hit[4 + channel] * (0.2 + 0.8 * fmax(cosine, 0))
                                      : 1 + (sky[channel] - 1) * 0.5 * ((double)direction[1] + 1));
}

static void prepare_rays(struct workload_run *run, const uint32_t size[3])
{
    const uint32_t width = size[0], height = size[1], count = size[2];
    const float lamp[3] = {0.6f, 0.48f, -0.64f};
    const size_t direction = add_buffer(run, "direction", WORKLOAD_F32, (size_t)width * height * 4);
    const size_t colour = add_buffer(run, "colour", WORKLOAD_F32, (size_t)width * height * 4);
    const size_t spheres = add_buffer(run, "spheres", WORKLOAD_F32, (size_t)count * SPHERE);
    enqueue(run, "rays", width * height, 1, 64, 1,
            ARGUMENTS(in_buffer(direction), in_buffer(colour), in_buffer(spheres), u32(count),
                      u32(width * height), f32(lamp[0]), f32(lamp[1]), f32(lamp[2])));
    if (run->failed)
        return;
    float *d = run->buffer[direction].initial, *s = run->buffer[spheres].initial;
    place_spheres(s, count);
    aim_rays(d, width, height, s, count);
    /* Squares are below 40, with 10 roundings; of at least 0.01, so their roots' errors are 5 times as large.
     * Radii of at least 0.5 double them in each of three coordinates of the normal. */
    float *expected = expect(run, colour, 0, 40 * 10 * 5 * 2 * sqrt(3) * ROUNDING, "all roundings");
    for (size_t i = 0; i < (size_t)width * height && expected; i++)
        trace_ray(d + i * 4, s, count, lamp, expected + i * 4);
}

#define M (1 << 20)
const struct workload unseen[UNSEEN_COUNT] = {
    /* name, file, prepare, small, bench, repeats */
    {"convolve", "convolve", prepare_convolve, {53, 37}, {3072, 3072}, 1},
    {"atx", "atx", prepare_atx, {101, 301}, {4000, 4000}, 1},
    {"knn", "knn", prepare_knn, {203, 301}, {4096, 16 << 10}, 2},
    {"option", "option", prepare_option, {301, 7}, {96 << 10, 32}, 1},
    {"chacha20", "chacha20", prepare_chacha20, {101}, {2 * M}, 1},
    {"search", "search", prepare_search, {3001, 6}, {16 * M, 10}, 3},
    {"life", "life", prepare_life, {53, 37}, {2048, 1024}, 1},
    {"oddeven", "oddeven", prepare_oddeven, {1501}, {1 * M}, 1},
    {"thomas", "thomas", prepare_thomas, {19, 101}, {128, 150000}, 1},
    {"rays", "rays", prepare_rays, {53, 37, 13}, {1024, 1024, 16}, 6},
};
