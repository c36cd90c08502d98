/* SPDX-License-Identifier: MIT */
/* The further kernels as workloads. Each reference is plain C in this file, next to its inputs. */
#include "further.h"

#include <math.h>
#include <string.h>

#include "base/random.h"
#include "prepare.h"

static void prepare_daxpby(struct workload_run *run, const uint32_t size[3])
{
    const uint32_t n = size[0];
    const double alpha = 1.25, beta = -0.3;
    /* Buffers are counted in words of four bytes. */
    const size_t x = add_buffer(run, "x", WORKLOAD_U32, (size_t)n * 2);
    const size_t y = add_buffer(run, "y", WORKLOAD_U32, (size_t)n * 2);
    enqueue(run, "daxpby", n / 4, 1, 256, 1,
            ARGUMENTS(u32(n), f64(alpha), in_buffer(x), f64(beta), in_buffer(y)));
    if (run->failed)
        return;
    double *left = run->buffer[x].initial, *right = run->buffer[y].initial;
    for (uint32_t i = 0; i < n; i++) {
        left[i] = wmi_random_f64(101, i);
        right[i] = wmi_random_f64(102, i);
    }
    double *expected = expect(run, y, 0, 0, exact_float);
    for (uint32_t i = 0; i < n && expected; i++)
        expected[i] = fma(alpha, left[i], beta * right[i]);
}

static void prepare_stencil7(struct workload_run *run, const uint32_t size[3])
{
    const size_t nx = size[0], ny = size[1], nz = size[2];
    const float c0 = 0.5f, c1 = 0.25f;
    const size_t in = add_random(run, "in", nx * ny * nz, 103, 0, 1);
    const size_t out = add_buffer(run, "out", WORKLOAD_F32, nx * ny * nz);
    enqueue_grid(
        run, "stencil7", size, (uint32_t[3]){32, 4, 2},
        ARGUMENTS(in_buffer(in), in_buffer(out), u32(size[0]), u32(size[1]), u32(size[2]), f32(c0), f32(c1)));
    /* Five sums below 6, their product with 1/4, the other product and the difference. */
    float *expected = expect(run, out, 0, (20 * 0.25 + 1.5 + 0.5 + 1.5) * ROUNDING, "all roundings");
    const float *value = run->buffer[in].initial;
    for (size_t i = 0; i < nx * ny * nz && expected; i++) {
        const size_t x = i % nx, y = i / nx % ny, z = i / nx / ny;
        const bool border = !x || !y || !z || x == nx - 1 || y == ny - 1 || z == nz - 1;
        expected[i] = value[i];
        if (border)
            continue;
        const double around = (double)value[i - 1] + value[i + 1] + value[i - nx] + value[i + nx] +
                              value[i - nx * ny] + value[i + nx * ny];
        expected[i] = (float)(c1 * around - (double)c0 * value[i]);
    }
}

static void prepare_kmeans(struct workload_run *run, const uint32_t size[3])
{
    const uint32_t points = size[0], centres = size[1], features = size[2];
    const size_t feature = add_buffer(run, "feature", WORKLOAD_F32, (size_t)points * features);
    const size_t centre = add_buffer(run, "centre", WORKLOAD_F32, (size_t)centres * features);
    const size_t membership = add_buffer(run, "membership", WORKLOAD_U32, points);
    enqueue(run, "kmeans_assign", points, 1, 256, 1,
            ARGUMENTS(in_buffer(feature), in_buffer(centre), in_buffer(membership), u32(points), u32(centres),
                      u32(features)));
    if (run->failed)
        return;
    /* Small integers, so that distances are exact. */
    float *f = run->buffer[feature].initial, *c = run->buffer[centre].initial;
    for (size_t i = 0; i < (size_t)points * features; i++)
        f[i] = (float)(wmi_random_u32(104, i) >> 24);
    for (size_t i = 0; i < (size_t)centres * features; i++)
        c[i] = (float)(wmi_random_u32(105, i) >> 24);
    uint32_t *expected = expect(run, membership, 0, 0, exact_integer);
    for (uint32_t point = 0; point < points && expected; point++) {
        long least = -1;
        for (uint32_t i = 0; i < centres; i++) {
            long distance = 0;
            for (uint32_t j = 0; j < features; j++) {
                const long d = (long)f[(size_t)j * points + point] - (long)c[i * features + j];
                distance += d * d;
            }
            if (least < 0 || distance < least) {
                least = distance;
                expected[point] = i;
            }
        }
    }
}

enum { STRING = 128 };

/* Row by row, as in textbooks. */
static uint32_t edit_distance(const uint8_t *left, const uint8_t *right)
{
    uint32_t row[STRING + 1];
    for (uint32_t i = 0; i <= STRING; i++)
        row[i] = i;
    for (uint32_t i = 1; i <= STRING; i++) {
        uint32_t diagonal = row[0];
        row[0] = i;
        for (uint32_t j = 1; j <= STRING; j++) {
            uint32_t best = diagonal + (left[i - 1] != right[j - 1]);
            diagonal = row[j];
            best = best < row[j] + 1 ? best : row[j] + 1;
            row[j] = best < row[j - 1] + 1 ? best : row[j - 1] + 1;
        }
    }
    return row[STRING];
}

static void prepare_levenshtein(struct workload_run *run, const uint32_t size[3])
{
    const uint32_t pairs = size[0];
    const size_t left = add_buffer(run, "left", WORKLOAD_U32, (size_t)pairs * STRING / 4);
    const size_t right = add_buffer(run, "right", WORKLOAD_U32, (size_t)pairs * STRING / 4);
    const size_t distance = add_buffer(run, "distance", WORKLOAD_U32, pairs);
    enqueue(run, "levenshtein", pairs * STRING, 1, STRING, 1,
            ARGUMENTS(in_buffer(left), in_buffer(right), in_buffer(distance)));
    if (run->failed)
        return;
    uint8_t *a = run->buffer[left].initial, *b = run->buffer[right].initial;
    for (size_t i = 0; i < (size_t)pairs * STRING; i++) {
        a[i] = "ACGT"[wmi_random_u32(106, i) >> 30];
        b[i] = wmi_random_u32(107, i) % 4 ? a[i] : "ACGT"[wmi_random_u32(108, i) >> 30];
    }
    uint32_t *expected = expect(run, distance, 0, 0, exact_integer);
    for (size_t i = 0; i < pairs && expected; i++)
        expected[i] = edit_distance(a + i * STRING, b + i * STRING);
}

static void prepare_yuv(struct workload_run *run, const uint32_t size[3])
{
    const uint32_t pixels = size[0];
    const size_t rgb = add_random_bits(run, "rgb", (size_t)pixels * 3 / 4, 109);
    size_t plane[3];
    static const char *const name[3] = {"y", "u", "v"};
    /* Weights of R, G and B in 1/256, and the offset (ITU-R BT.601, as in "Recommended 8-Bit YUV Formats").
     */
    static const int weight[3][4] = {{66, 129, 25, 16}, {-38, -74, 112, 128}, {112, -94, -18, 128}};
    for (int i = 0; i < 3; i++)
        plane[i] = add_buffer(run, name[i], WORKLOAD_U32, pixels / 4);
    enqueue(run, "rgb_to_yuv", pixels, 1, 256, 1,
            ARGUMENTS(in_buffer(rgb), in_buffer(plane[0]), in_buffer(plane[1]), in_buffer(plane[2]),
                      u32(pixels)));
    const uint8_t *colour = run->buffer[rgb].initial;
    for (int i = 0; i < 3; i++) {
        uint8_t *expected = expect(run, plane[i], 0, 0, exact_integer);
        for (size_t pixel = 0; pixel < pixels && expected; pixel++) {
            double sum = 128; /* rounds to the nearest */
            for (int j = 0; j < 3; j++)
                sum += weight[i][j] * colour[pixel * 3 + (size_t)j];
            expected[pixel] = (uint8_t)((int)floor(sum / 256) + weight[i][3]);
        }
    }
}

static void prepare_compact(struct workload_run *run, const uint32_t size[3])
{
    enum { block = 256 };
    const uint32_t n = size[0], blocks = (n + block - 1) / block, threshold = 0xa0000000;
    const size_t in = add_random_bits(run, "in", n, 110),
                 counts = add_buffer(run, "counts", WORKLOAD_U32, blocks);
    const size_t out = add_buffer(run, "out", WORKLOAD_U32, n),
                 total = add_buffer(run, "total", WORKLOAD_U32, 1);
    enqueue(run, "compact_count", n, 1, block, 1,
            ARGUMENTS(in_buffer(in), in_buffer(counts), u32(n), u32(threshold)));
    enqueue(run, "compact_scan", block, 1, block, 1,
            ARGUMENTS(in_buffer(counts), u32(blocks), in_buffer(total)));
    enqueue(run, "compact_scatter", n, 1, block, 1,
            ARGUMENTS(in_buffer(in), in_buffer(counts), in_buffer(out), u32(n), u32(threshold)));
    uint32_t *kept = expect(run, out, 0, 0, exact_copy), *count = expect(run, total, 0, 0, exact_integer);
    const uint32_t *value = run->buffer[in].initial;
    for (size_t i = 0; i < n && kept && count; i++)
        if (value[i] > threshold)
            kept[(*count)++] = value[i];
}

static void prepare_lu(struct workload_run *run, const uint32_t size[3])
{
    enum { n = 16 };
    const size_t count = size[0], matrices = add_random(run, "matrices", count * n * n, 111, -1, 1);
    enqueue(run, "lu", size[0] * n, n, n, n, ARGUMENTS(in_buffer(matrices)));
    if (run->failed)
        return;
    float *m = run->buffer[matrices].initial;
    for (size_t i = 0; i < count * n; i++)
        m[i * n + i % n] += n; /* dominant diagonals: no pivoting is needed */
    /* Elements of U stay below 2 * n, those of L below 1. Each takes at most 15 updates by products below 2
     * with three roundings (of the quotient, 2.5 units on a GPU), and what they inherit from earlier ones is
     * weighed by L's elements, whose absolute sum in a row is below 1. */
    float *expected =
        expect(run, matrices, 5 * ROUNDING, 15 * 2 * 5 * ROUNDING, "15 updates by products below 2");
    for (size_t i = 0; i < count && expected; i++) {
        double a[n][n];
        for (size_t j = 0; j < n * n; j++)
            a[j / n][j % n] = m[i * n * n + j];
        /* Crout's order: an element at a time, as a dot product. */
        for (int row = 0; row < n; row++)
            for (int column = 0; column < n; column++) {
                const int end = row < column ? row : column;
                for (int k = 0; k < end; k++)
                    a[row][column] -= a[row][k] * a[k][column];
                if (column < row)
                    a[row][column] /= a[column][column];
            }
        for (size_t j = 0; j < n * n; j++)
            expected[i * n * n + j] = (float)a[j / n][j % n];
    }
}

static float next_fraction(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return (float)(*state >> 8) * 0x1p-24f;
}

static void prepare_pi(struct workload_run *run, const uint32_t size[3])
{
    enum { group = 256 };
    const uint32_t items = size[0] * group, points = size[1], seed = 2654435761;
    const size_t hits = add_buffer(run, "hits", WORKLOAD_U32, 1);
    enqueue(run, "pi", items, 1, group, 1, ARGUMENTS(in_buffer(hits), u32(seed), u32(points)));
    uint32_t *expected = expect(run, hits, 0, 0, exact_integer);
    for (uint32_t item = 0; item < items && expected; item++) {
        uint32_t state = (item + 1) * seed | 1;
        for (uint32_t i = 0; i < points; i++) {
            const float x = next_fraction(&state), y = next_fraction(&state);
            *expected += fmaf(x, x, y * y) < 1;
        }
    }
}

static void prepare_blur(struct workload_run *run, const uint32_t size[3])
{
    enum { radius = 8, taps = 2 * radius + 1 };
    const uint32_t width = size[0], height = size[1];
    const size_t in = add_random(run, "in", (size_t)width * height, 112, 0, 1);
    const size_t out = add_buffer(run, "out", WORKLOAD_F32, (size_t)width * height);
    const size_t tap = add_buffer(run, "tap", WORKLOAD_F32, taps);
    enqueue(run, "blur_rows", width, height, 128, 2,
            ARGUMENTS(in_buffer(in), in_buffer(out), in_buffer(tap), u32(width), u32(height)));
    if (run->failed)
        return;
    float *weight = run->buffer[tap].initial, *value = run->buffer[in].initial;
    double sum = 0;
    for (int i = 0; i < taps; i++)
        sum += exp(-(i - radius) * (i - radius) / 18.0);
    for (int i = 0; i < taps; i++)
        weight[i] = (float)(exp(-(i - radius) * (i - radius) / 18.0) / sum);
    float *expected = expect(run, out, 0, 2 * taps * ROUNDING, "two roundings per tap of sums up to 1");
    for (size_t i = 0; i < (size_t)width * height && expected; i++) {
        const long row = (long)(i / width), x = (long)(i % width);
        double mean = 0;
        for (int j = 0; j < taps; j++) {
            const long from = x + j - radius;
            const long at = from < 0 ? 0 : from < (long)width ? from : (long)width - 1;
            mean += (double)weight[j] * value[row * (long)width + at];
        }
        expected[i] = (float)mean;
    }
}

/* Levels of nodes by a queue. */
static void reference_bfs(const uint32_t *first_edge, const uint32_t *edge, uint32_t *level, uint32_t *queue,
                          uint32_t nodes)
{
    memset(level, 0, nodes * sizeof(*level));
    uint32_t end = 1;
    queue[0] = 0;
    for (uint32_t begin = 0; begin < end; begin++) {
        const uint32_t node = queue[begin];
        for (uint32_t i = first_edge[node]; i < first_edge[node + 1]; i++)
            if (edge[i] != 0 && level[edge[i]] == 0) {
                level[edge[i]] = level[node] + 1;
                queue[end++] = edge[i];
            }
    }
}

static void prepare_bfs(struct workload_run *run, const uint32_t size[3])
{
    enum {
        degree = 8,
        levels = 14
    }; /* more than the longest of the shortest paths in graphs of up to 2^22 nodes */
    const uint32_t nodes = size[0], edges = nodes * degree, bytes = (nodes + 3) / 4;
    const size_t first_edge = add_buffer(run, "first_edge", WORKLOAD_U32, (size_t)nodes + 1);
    const size_t edge = add_random_bits(run, "edge", edges, 113);
    const size_t front = add_buffer(run, "front", WORKLOAD_U32, bytes);
    const size_t reached = add_buffer(run, "reached", WORKLOAD_U32, bytes);
    const size_t visited = add_buffer(run, "visited", WORKLOAD_U32, bytes);
    const size_t level = add_buffer(run, "level", WORKLOAD_U32, nodes);
    for (int i = 0; i < levels; i++) {
        enqueue(run, "bfs_visit", nodes, 1, 256, 1,
                ARGUMENTS(in_buffer(first_edge), in_buffer(edge), in_buffer(front), in_buffer(reached),
                          in_buffer(visited), in_buffer(level), u32(nodes)));
        enqueue(run, "bfs_advance", nodes, 1, 256, 1,
                ARGUMENTS(in_buffer(front), in_buffer(reached), in_buffer(visited), u32(nodes)));
    }
    if (run->failed)
        return;
    uint32_t *first = run->buffer[first_edge].initial, *to = run->buffer[edge].initial;
    for (uint32_t i = 0; i < nodes; i++)
        first[i + 1] = first[i] + 2 * (wmi_random_u32(114, i) % degree); /* 0 to 14, 7 on average */
    for (uint32_t i = 0; i < edges; i++)
        to[i] %= nodes;
    for (uint32_t i = 1; i <= nodes; i++)
        first[i] = first[i] < edges ? first[i] : edges;
    memcpy(run->buffer[front].initial, &(uint8_t){1}, 1);
    memcpy(run->buffer[visited].initial, &(uint8_t){1}, 1);
    uint32_t *expected = expect(run, level, 0, 0, exact_integer);
    if (!expected)
        return;
    const size_t queue = add_buffer(run, "queue", WORKLOAD_U32, nodes);
    if (!run->failed)
        reference_bfs(first, to, expected, run->buffer[queue].initial, nodes);
    memset(run->buffer[queue].initial, 0, nodes * sizeof(uint32_t));
}

static void prepare_gemv(struct workload_run *run, const uint32_t size[3])
{
    const uint32_t rows = size[0], columns = size[1], group = 64;
    const size_t a = add_random(run, "a", (size_t)rows * columns, 115, 0, 1);
    const size_t x = add_random(run, "x", columns, 116, 0, 1);
    const size_t y = add_buffer(run, "y", WORKLOAD_F32, rows);
    enqueue(run, "gemv", rows * group, 1, group, 1,
            ARGUMENTS(in_buffer(a), in_buffer(x), in_buffer(y), u32(columns)));
    const double passed = columns / 4.0 / group + 1 + 4 + 6; /* additions after a product */
    float *expected =
        expect(run, y, (passed + 2) * ROUNDING, 0, "positive terms: a rounding for each addition");
    const float *matrix = run->buffer[a].initial, *vector = run->buffer[x].initial;
    for (size_t i = 0; i < rows && expected; i++) {
        double sum = 0;
        for (size_t j = 0; j < columns; j++)
            sum += (double)matrix[i * columns + j] * vector[j];
        expected[i] = (float)sum;
    }
}

static void prepare_crc32(struct workload_run *run, const uint32_t size[3])
{
    const uint32_t messages = size[0], length = size[1];
    const size_t data = add_random_bits(run, "data", (size_t)messages * length / 4, 117);
    const size_t table = add_buffer(run, "table", WORKLOAD_U32, 256);
    const size_t crc = add_buffer(run, "crc", WORKLOAD_U32, messages);
    enqueue(run, "crc32", messages, 1, 256, 1,
            ARGUMENTS(in_buffer(data), in_buffer(table), in_buffer(crc), u32(messages), u32(length)));
    if (run->failed)
        return;
    uint32_t *entry = run->buffer[table].initial;
    for (uint32_t i = 0; i < 256; i++) {
        entry[i] = i;
        for (int bit = 0; bit < 8; bit++)
            entry[i] = entry[i] & 1 ? entry[i] >> 1 ^ 0xedb88320 : entry[i] >> 1;
    }
    uint32_t *expected = expect(run, crc, 0, 0, exact_integer);
    const uint8_t *bytes = run->buffer[data].initial;
    for (size_t i = 0; i < messages && expected; i++) {
        uint32_t value = UINT32_MAX; /* bit by bit, without the table */
        for (size_t bit = 0; bit < length * (size_t)8; bit++) {
            const uint32_t feedback = (value ^ bytes[i * length + bit / 8] >> bit % 8) & 1;
            value = value >> 1 ^ (feedback ? 0xedb88320 : 0);
        }
        expected[i] = ~value;
    }
}

#define M (1 << 20)
const struct workload further[FURTHER_COUNT] = {
    /* name, file, prepare, small, bench, repeats */
    {"daxpby", "daxpby", prepare_daxpby, {1013}, {8 * M}, 14},
    {"stencil7", "stencil7", prepare_stencil7, {37, 21, 13}, {256, 256, 128}, 9},
    {"kmeans", "kmeans", prepare_kmeans, {1019, 7, 5}, {1 * M, 16, 8}, 2},
    {"levenshtein", "levenshtein", prepare_levenshtein, {5}, {6144}, 1},
    {"yuv", "yuv", prepare_yuv, {1020}, {8 * M}, 6},
    {"compact", "compact", prepare_compact, {5003}, {4 * M}, 2},
    {"lu", "lu", prepare_lu, {3}, {64 << 10}, 3},
    {"pi", "pi", prepare_pi, {3, 37}, {1024, 1536}, 1},
    {"blur", "blur", prepare_blur, {201, 7}, {2048, 2048}, 5},
    {"bfs", "bfs", prepare_bfs, {1001}, {4 * M}, 1},
    {"gemv", "gemv", prepare_gemv, {13, 404}, {4096, 4096}, 6},
    {"crc32", "crc32", prepare_crc32, {301, 20}, {512 << 10, 64}, 3},
};
