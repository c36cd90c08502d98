/* SPDX-License-Identifier: MIT */
/* The table of the example workloads. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "prepare.h"
#include "reference.h"

static void prepare_vecadd(struct workload_run *run, const uint32_t size[3])
{
    const uint32_t n = size[0];
    const size_t a = add_random(run, "a", n, 1, -1, 1), b = add_random(run, "b", n, 2, -1, 1);
    const size_t c = add_buffer(run, "c", WORKLOAD_F32, n);
    enqueue(run, "vecadd", n, 1, 256, 1, ARGUMENTS(in_buffer(a), in_buffer(b), in_buffer(c), u32(n)));
    float *expected = expect(run, c, 0, 0, exact_float);
    if (expected)
        reference_vecadd(run->buffer[a].initial, run->buffer[b].initial, expected, n);
}

static void prepare_saxpy(struct workload_run *run, const uint32_t size[3])
{
    const uint32_t n = size[0];
    const float alpha = 1.7f;
    const size_t x = add_random(run, "x", n, 3, -1, 1), y = add_random(run, "y", n, 4, -1, 1);
    enqueue(run, "saxpy", n, 1, 256, 1, ARGUMENTS(f32(alpha), in_buffer(x), in_buffer(y), u32(n)));
    float *expected = expect(run, y, 0, 0, exact_float);
    if (expected)
        reference_saxpy(alpha, run->buffer[x].initial, run->buffer[y].initial, expected, n);
}

static void prepare_strided_copy(struct workload_run *run, const uint32_t size[3])
{
    const uint32_t n = size[0], stride = size[1];
    const size_t in = add_random(run, "in", (size_t)n * stride, 5, -1, 1);
    const size_t out = add_buffer(run, "out", WORKLOAD_F32, n);
    enqueue(run, "strided_copy", n, 1, 256, 1, ARGUMENTS(in_buffer(in), in_buffer(out), u32(n), u32(stride)));
    float *expected = expect(run, out, 0, 0, exact_copy);
    if (expected)
        reference_strided_copy(run->buffer[in].initial, expected, n, stride);
}

static void prepare_transpose(struct workload_run *run, const char *kernel, uint32_t n)
{
    const size_t in = add_random(run, "in", (size_t)n * n, 7, 0, 1);
    const size_t out = add_buffer(run, "out", WORKLOAD_F32, (size_t)n * n);
    enqueue(run, kernel, n, n, 16, 16, ARGUMENTS(in_buffer(in), in_buffer(out), u32(n)));
    float *expected = expect(run, out, 0, 0, exact_copy);
    if (expected)
        reference_transpose(run->buffer[in].initial, expected, n);
}

static void prepare_transpose_naive(struct workload_run *run, const uint32_t size[3])
{
    prepare_transpose(run, "transpose_naive", size[0]);
}

static void prepare_transpose_lds(struct workload_run *run, const uint32_t size[3])
{
    prepare_transpose(run, "transpose_lds", size[0]);
}

static void prepare_sgemm(struct workload_run *run, const uint32_t size[3])
{
    const uint32_t m = size[0], n = size[1], k = size[2], tile = 64, group = 16;
    const float alpha = 0.75f, beta = 0.5f;
    const size_t a = add_random(run, "a", (size_t)m * k, 8, -1, 1);
    const size_t b = add_random(run, "b", (size_t)k * n, 9, -1, 1);
    const size_t c = add_random(run, "c", (size_t)m * n, 10, -1, 1);
    enqueue(
        run, "sgemm", round_up(n, tile) / tile * group, round_up(m, tile) / tile * group, group, group,
        ARGUMENTS(u32(m), u32(n), u32(k), f32(alpha), in_buffer(a), in_buffer(b), f32(beta), in_buffer(c)));
    /* The partial sum of i products of this size is about sqrt(i) / 3. As a random walk, its k roundings add
     * up to about k / 7 of ROUNDING; the maximum of many elements is about five times that, less than k. The
     * worst case, all roundings in one direction, would be k * k / 2. */
    float *expected = expect(run, c, 2 * ROUNDING, (2 * k + 4) * ROUNDING,
                             "twice k: k roundings of partial sums, at random");
    if (expected)
        run->failed |= !reference_sgemm(m, n, k, alpha, run->buffer[a].initial, run->buffer[b].initial, beta,
                                        run->buffer[c].initial, expected);
}

static void prepare_reduction(struct workload_run *run, const uint32_t size[3])
{
    const uint32_t n = size[0], groups = size[1], group = 256;
    const size_t in = add_random(run, "in", n, 11, 0, 1);
    const size_t partial = add_buffer(run, "partial", WORKLOAD_F32, groups);
    const size_t sum = add_buffer(run, "sum", WORKLOAD_F32, 1);
    enqueue(run, "reduce", groups * group, 1, group, 1, ARGUMENTS(in_buffer(in), in_buffer(partial), u32(n)));
    enqueue(run, "reduce", group, 1, group, 1, ARGUMENTS(in_buffer(partial), in_buffer(sum), u32(groups)));
    const double additions = (double)n / (groups * group) + groups / (double)group + 2 + 8 + 8;
    float *expected = expect(run, sum, (additions + 1) * ROUNDING, 0,
                             "positive terms: one rounding for each addition that a term passes through");
    if (expected)
        *expected = reference_sum(run->buffer[in].initial, n);
}

static void prepare_histogram(struct workload_run *run, const uint32_t size[3])
{
    const uint32_t bytes = size[0], groups = size[1], group = 256;
    const size_t words = add_random_bits(run, "words", ((size_t)bytes + 3) / 4, 12);
    const size_t bins = add_buffer(run, "bins", WORKLOAD_U32, 256);
    enqueue(run, "histogram", groups * group, 1, group, 1,
            ARGUMENTS(in_buffer(words), in_buffer(bins), u32(bytes)));
    uint32_t *expected = expect(run, bins, 0, 0, exact_integer);
    if (expected)
        reference_histogram(run->buffer[words].initial, bytes, expected);
}

static void prepare_nbody(struct workload_run *run, const uint32_t size[3])
{
    const uint32_t n = size[0];
    const float softening = 0.01f, step = 0.01f;
    const size_t position = add_random(run, "position", (size_t)n * 4, 13, -1, 1);
    const size_t velocity = add_random(run, "velocity", (size_t)n * 4, 14, -1, 1);
    const size_t new_position = add_buffer(run, "new_position", WORKLOAD_F32, (size_t)n * 4);
    const size_t new_velocity = add_buffer(run, "new_velocity", WORKLOAD_F32, (size_t)n * 4);
    float *body = run->buffer[position].initial;
    for (uint32_t i = 0; i < n && body; i++)
        body[i * 4 + 3] = (1 + body[i * 4 + 3]) / (float)n; /* masses add up to about 1 */
    enqueue(run, "nbody", n, 1, 128, 1,
            ARGUMENTS(in_buffer(position), in_buffer(velocity), in_buffer(new_position),
                      in_buffer(new_velocity), u32(n), f32(softening), f32(step)));
    /* The absolute forces add up to about 3 for a total mass of 1. Each has about 12 roundings (3
     * differences, 3 fma, rsqrt with 2 ULP, 3 products, its addition); those of the sums are a random walk.
     */
    const double pull = 3 * (12 + sqrt(n)) * ROUNDING;
    const char *why = "about 12 roundings a pull, and n of partial sums at random";
    float *p = expect(run, new_position, 2 * ROUNDING, step * (ROUNDING + step * pull), why);
    float *v = expect(run, new_velocity, 2 * ROUNDING, step * pull, why);
    if (p && v)
        reference_nbody(body, run->buffer[velocity].initial, p, v, n, softening, step);
}

static void prepare_mandelbrot(struct workload_run *run, const uint32_t size[3])
{
    const uint32_t width = size[0], height = size[1], limit = size[2];
    const float left = -2.2f, top = 1.2f, pitch = 3.2f / (float)width;
    const size_t counts = add_buffer(run, "counts", WORKLOAD_U32, (size_t)width * height);
    enqueue(
        run, "mandelbrot", width, height, 16, 16,
        ARGUMENTS(in_buffer(counts), u32(width), u32(height), f32(left), f32(top), f32(pitch), u32(limit)));
    uint32_t *expected = expect(run, counts, 0, 0, exact_integer);
    if (expected)
        reference_mandelbrot(expected, width, height, left, top, pitch, limit);
}

static void prepare_sha256(struct workload_run *run, const uint32_t size[3])
{
    const uint32_t n = size[0];
    const size_t messages = add_random_bits(run, "messages", (size_t)n * 16, 15);
    const size_t digests = add_buffer(run, "digests", WORKLOAD_U32, (size_t)n * 8);
    enqueue(run, "sha256", n, 1, 64, 1, ARGUMENTS(in_buffer(messages), in_buffer(digests), u32(n)));
    uint32_t *expected = expect(run, digests, 0, 0, exact_integer);
    struct sha256_constants constants;
    reference_sha256_constants(&constants);
    for (uint32_t i = 0; i < n && expected; i++) {
        const uint32_t *words = run->buffer[messages].initial;
        uint8_t message[64], digest[32];
        for (size_t word = 0; word < 16; word++)
            memcpy(message + word * 4, &words[word * n + i], 4);
        reference_sha256(&constants, message, sizeof(message), digest);
        for (size_t word = 0; word < 8; word++)
            memcpy(&expected[word * n + i], digest + word * 4, 4);
    }
}

static void prepare_spmv(struct workload_run *run, const uint32_t size[3])
{
    const uint32_t rows = size[0], columns = size[1], longest = 64;
    size_t elements = 0;
    for (uint32_t row = 0; row < rows; row++)
        elements += wmi_random_u32(16, row) % (longest + 1); /* some rows are empty */
    const size_t row_start = add_buffer(run, "row_start", WORKLOAD_U32, (size_t)rows + 1);
    const size_t column = add_random_bits(run, "column", elements, 17);
    const size_t value = add_random(run, "value", elements, 18, -1, 1);
    const size_t x = add_random(run, "x", columns, 19, -1, 1);
    const size_t y = add_buffer(run, "y", WORKLOAD_F32, rows);
    enqueue(run, "spmv", rows * 8, 1, 128, 1,
            ARGUMENTS(in_buffer(row_start), in_buffer(column), in_buffer(value), in_buffer(x), in_buffer(y),
                      u32(rows)));
    if (run->failed)
        return;
    uint32_t *start = run->buffer[row_start].initial, *index = run->buffer[column].initial;
    for (uint32_t row = 0; row < rows; row++)
        start[row + 1] = start[row] + wmi_random_u32(16, row) % (longest + 1);
    for (size_t i = 0; i < elements; i++)
        index[i] %= columns;
    float *expected =
        expect(run, y, 0, sqrt(8 + 3) * 16 * ROUNDING, "8 + 3 roundings of sums below 16, at random");
    if (expected)
        reference_spmv(start, index, run->buffer[value].initial, run->buffer[x].initial, expected, rows);
}

static void prepare_fft1k(struct workload_run *run, const uint32_t size[3])
{
    enum { points = 1024, different = 8 };
    const uint32_t batch = size[0];
    const size_t in = add_random(run, "in", (size_t)batch * points * 2, 20, -1, 1);
    const size_t out = add_buffer(run, "out", WORKLOAD_F32, (size_t)batch * points * 2);
    const size_t twiddle = add_buffer(run, "twiddle", WORKLOAD_F32, points * 2);
    /* One extra workgroup if the batch is odd: it must stay idle. */
    enqueue(run, "fft1k", round_up(batch, 2) * (points / 4), 1, points / 4, 1,
            ARGUMENTS(in_buffer(in), in_buffer(out), in_buffer(twiddle), u32(batch)));
    if (run->failed)
        return;
    float *signal = run->buffer[in].initial, *turn = run->buffer[twiddle].initial;
    for (size_t i = 0; i < points; i++) {
        turn[i * 2] = (float)cos(2 * M_PI * (double)i / points);
        turn[i * 2 + 1] = (float)-sin(2 * M_PI * (double)i / points);
    }
    /* Signals repeat, because the reference has quadratic cost. */
    const size_t length = points * 2, bytes = length * sizeof(*signal);
    for (size_t i = different; i < batch; i++)
        memcpy(signal + i * length, signal + i % different * length, bytes);

    /* A result is about sqrt(points * 2/3) = 26, after 10 rounded sums and 5 products with rounded factors.
     * The tolerance is 4 times the typical error of sqrt(20) roundings. */
    float *expected =
        expect(run, out, 0, 4 * 26 * sqrt(20) * ROUNDING, "about 20 roundings of values about 26");
    for (size_t i = 0; i < batch && expected; i++) {
        if (i < different)
            run->failed |= !reference_dft(signal + i * length, expected + i * length, points);
        else
            memcpy(expected + i * length, expected + i % different * length, bytes);
    }
}

static void prepare_stencil2d(struct workload_run *run, const uint32_t size[3])
{
    enum { steps = 4 }; /* even: the last step writes the first buffer */
    const uint32_t width = size[0], height = size[1];
    const float rate = 0.2f;
    const size_t heat = add_random(run, "heat", (size_t)width * height, 21, 0, 1);
    const size_t other = add_buffer(run, "other", WORKLOAD_F32, (size_t)width * height);
    for (unsigned step = 0; step < steps; step++)
        enqueue(run, "stencil2d", width, height, 64, 4,
                ARGUMENTS(in_buffer(step % 2 ? other : heat), in_buffer(step % 2 ? heat : other), u32(width),
                          u32(height), f32(rate)));
    /* Values stay in [0, 1). A step rounds sums below 2, 2 and 4 and a difference below 4, all multiplied by
     * the rate, and the result: 1 + 12 * 0.2 roundings. Later steps average earlier errors, so errors at most
     * add up. */
    float *expected = expect(run, heat, 0, steps * (1 + 12 * rate) * ROUNDING, "all roundings of every step");
    if (expected)
        run->failed |= !reference_heat(run->buffer[heat].initial, expected, width, height, rate, steps);
}

static void prepare_scan(struct workload_run *run, const uint32_t size[3])
{
    enum { block = 1024, group = 256, levels = 3 };
    static const char *const names[levels + 1] = {"out", "totals", "totals of totals", "total"};
    const size_t in = add_random_bits(run, "in", size[0], 22);
    size_t source = in, target[levels + 1] = {0};
    uint32_t n[levels + 1] = {size[0]};

    /* Each level scans the totals of the previous one in place, until they fit into one block. */
    int level = 0;
    target[0] = add_buffer(run, names[0], WORKLOAD_U32, n[0]);
    for (;; level++) {
        n[level + 1] = (n[level] + block - 1) / block;
        target[level + 1] = add_buffer(run, names[level + 1], WORKLOAD_U32, n[level + 1]);
        enqueue(run, "scan_blocks", n[level + 1] * group, 1, group, 1,
                ARGUMENTS(in_buffer(source), in_buffer(target[level]), in_buffer(target[level + 1]),
                          u32(n[level])));
        if (n[level + 1] == 1)
            break;
        source = target[level + 1];
    }
    while (level-- > 0)
        enqueue(run, "scan_add", n[level], 1, 256, 1,
                ARGUMENTS(in_buffer(target[level]), in_buffer(target[level + 1]), u32(n[level])));
    uint32_t *expected = expect(run, target[0], 0, 0, exact_integer);
    if (expected)
        reference_exclusive_scan(run->buffer[in].initial, expected, n[0]);
}

static void prepare_blackscholes(struct workload_run *run, const uint32_t size[3])
{
    const uint32_t n = size[0];
    const float rate = 0.02f, volatility = 0.3f;
    const size_t price = add_random(run, "price", n, 23, 5, 30),
                 strike = add_random(run, "strike", n, 24, 1, 100);
    const size_t years = add_random(run, "years", n, 25, 0.25f, 10);
    const size_t call = add_buffer(run, "call", WORKLOAD_F32, n),
                 put = add_buffer(run, "put", WORKLOAD_F32, n);
    enqueue(run, "blackscholes", n, 1, 256, 1,
            ARGUMENTS(in_buffer(price), in_buffer(strike), in_buffer(years), in_buffer(call), in_buffer(put),
                      u32(n), f32(rate), f32(volatility)));
    /* The kernel's normal distribution is a polynomial with an error below 7.5e-8 and about 10 roundings of
     * values up to 1; it is multiplied by a price and a strike with a sum of at most 130. */
    const double atol = 130 * (7.5e-8 + 10 * ROUNDING);
    const char *why = "the polynomial's 7.5e-8 and 10 roundings, of 130";
    float *calls = expect(run, call, 0, atol, why), *puts = expect(run, put, 0, atol, why);
    if (calls && puts)
        reference_blackscholes(run->buffer[price].initial, run->buffer[strike].initial,
                               run->buffer[years].initial, calls, puts, n, rate, volatility);
}

static void prepare_bitonic(struct workload_run *run, const uint32_t size[3])
{
    enum { block = 512, group = 256 };
    const uint32_t n = size[0], blocks = (n + block - 1) / block;
    const size_t keys = add_random_bits(run, "keys", n, 26);
    enqueue(run, "bitonic_sort", blocks * group, 1, group, 1, ARGUMENTS(in_buffer(keys), u32(n)));
    for (uint64_t sorted = block; sorted < n; sorted *= 2) {
        for (uint32_t distance = sorted; distance >= block; distance /= 2)
            enqueue(run, "bitonic_pass", round_up(n, distance * 2) / 2, 1, group, 1,
                    ARGUMENTS(in_buffer(keys), u32(n), u32(distance),
                              u32(distance == sorted ? distance * 2 - 1 : distance)));
        enqueue(run, "bitonic_merge", blocks * group, 1, group, 1, ARGUMENTS(in_buffer(keys), u32(n)));
    }
    uint32_t *expected = expect(run, keys, 0, 0, exact_integer);
    if (expected)
        reference_sort(run->buffer[keys].initial, expected, n);
}

#define M (1 << 20)
const struct workload workloads[WORKLOAD_COUNT] = {
    /* name, file, prepare, small, bench, repeats */
    {"vecadd", "vecadd", prepare_vecadd, {1007}, {16 * M}, 14},
    {"saxpy", "saxpy", prepare_saxpy, {1009}, {16 * M}, 14},
    {"strided_copy", "strided_copy", prepare_strided_copy, {777, 3}, {2 * M, 16}, 36},
    {"transpose_naive", "transpose", prepare_transpose_naive, {61}, {2048}, 11},
    {"transpose_lds", "transpose", prepare_transpose_lds, {61}, {2048}, 13},
    {"sgemm", "sgemm", prepare_sgemm, {70, 45, 37}, {512, 512, 512}, 2},
    {"reduction", "reduction", prepare_reduction, {10007, 5}, {16 * M, 256}, 3},
    {"histogram", "histogram", prepare_histogram, {10007, 5}, {32 * M, 256}, 1},
    {"nbody", "nbody", prepare_nbody, {333}, {8192}, 1},
    {"mandelbrot", "mandelbrot", prepare_mandelbrot, {67, 45, 200}, {1024, 768, 512}, 1},
    {"sha256", "sha256", prepare_sha256, {77}, {448 << 10}, 1},
    {"spmv", "spmv", prepare_spmv, {133, 97}, {256 << 10, 64 << 10}, 16},
    {"fft1k", "fft1k", prepare_fft1k, {3}, {4096}, 3},
    {"stencil2d", "stencil2d", prepare_stencil2d, {61, 43}, {2048, 2048}, 7},
    {"scan", "scan", prepare_scan, {5003}, {8 * M}, 4},
    {"blackscholes", "blackscholes", prepare_blackscholes, {1003}, {4 * M}, 1},
    {"bitonic", "bitonic", prepare_bitonic, {3001}, {1 * M}, 1},
};

const struct workload *workload_find(const char *name)
{
    for (size_t i = 0; i < WORKLOAD_COUNT; i++)
        if (!strcmp(workloads[i].name, name))
            return &workloads[i];
    return NULL;
}
