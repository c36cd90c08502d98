/* SPDX-License-Identifier: MIT */
/* The further kernels as workloads. Each reference is plain C in this file, next to its inputs. */
#include "further.h"

#include <math.h>
#include <stdlib.h>
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

static long clamp(long i, long end)
{
    return i < 0 ? 0 : i < end ? i : end - 1;
}

static void prepare_hotspot(struct workload_run *run, const uint32_t size[3])
{
    const long width = size[0], height = size[1];
    const float rx = 0.1f, ry = 0.15f, rz = 0.01f, step = 0.4f;
    const size_t cells = (size_t)width * (size_t)height;
    const size_t temperature = add_random(run, "temperature", cells, 120, 70, 90);
    const size_t power = add_random(run, "power", cells, 121, 0, 1);
    const size_t result = add_buffer(run, "result", WORKLOAD_F32, cells);
    enqueue(run, "hotspot", size[0], size[1], 16, 16,
            ARGUMENTS(in_buffer(temperature), in_buffer(power), in_buffer(result), u32(size[0]), u32(size[1]),
                      f32(rx), f32(ry), f32(rz), f32(step)));
    /* The result's rounding, and nine of values below 180, half of them weighed by 0.15 * 0.4. */
    float *expected = expect(run, result, 0, (90 + 9 * 180 * 0.06) * ROUNDING, "all roundings");
    const float *t = run->buffer[temperature].initial, *p = run->buffer[power].initial;
    for (long y = 0; y < height && expected; y++)
        for (long x = 0; x < width; x++) {
            const long i = y * width + x;
            const double here = t[i];
            const double west = t[y * width + clamp(x - 1, width)], east = t[y * width + clamp(x + 1, width)];
            const double north = t[clamp(y - 1, height) * width + x],
                         south = t[clamp(y + 1, height) * width + x];
            const double change = p[i] + (double)ry * (north + south - 2 * here) +
                                  (double)rx * (west + east - 2 * here) + (double)rz * (80 - here);
            expected[i] = (float)(here + (double)step * change);
        }
}

static void prepare_pathfinder(struct workload_run *run, const uint32_t size[3])
{
    enum { block = 256, rows = 20, times = 4 /* even: the last dispatch writes the first buffer */ };
    const uint32_t columns = size[0], width = block - 2 * rows;
    const size_t wall = add_random_bits(run, "wall", (size_t)columns * rows * times, 122);
    const size_t cost = add_random_bits(run, "cost", columns, 123);
    const size_t other = add_buffer(run, "other", WORKLOAD_U32, columns);
    for (uint32_t i = 0; i < times; i++)
        enqueue(run, "pathfinder", (columns + width - 1) / width * block, 1, block, 1,
                ARGUMENTS(in_buffer(wall), in_buffer(i % 2 ? other : cost), in_buffer(i % 2 ? cost : other),
                          u32(columns), u32(i * rows), u32(rows)));
    if (run->failed)
        return;
    int *walls = run->buffer[wall].initial, *first = run->buffer[cost].initial;
    for (size_t i = 0; i < (size_t)columns * rows * times; i++)
        walls[i] = (int)((unsigned)walls[i] % 10);
    for (size_t i = 0; i < columns; i++)
        first[i] = (int)((unsigned)first[i] % 10);
    int *expected = expect(run, cost, 0, 0, exact_integer);
    if (!expected)
        return;
    memcpy(expected, first, columns * sizeof(*first));
    for (size_t row = 0; row < (size_t)rows * times; row++) {
        int left = expected[0]; /* the cost of the column to the left before this row */
        for (size_t x = 0; x < columns; x++) {
            const int here = expected[x], right = expected[x + 1 < columns ? x + 1 : x];
            const int nearer = left < here ? left : here;
            expected[x] = (nearer < right ? nearer : right) + walls[row * columns + x];
            left = here;
        }
    }
}

/* Dijkstra's algorithm from one node, without a heap. `length`: of the edges from each node to each. */
static void shortest_paths(const int *length, int *distance, uint32_t nodes, uint32_t from, uint8_t *done)
{
    for (uint32_t i = 0; i < nodes; i++) {
        distance[i] = i == from ? 0 : INT32_MAX;
        done[i] = 0;
    }
    for (uint32_t round = 0; round < nodes; round++) {
        uint32_t next = nodes;
        for (uint32_t i = 0; i < nodes; i++)
            if (!done[i] && (next == nodes || distance[i] < distance[next]))
                next = i;
        done[next] = 1;
        for (uint32_t i = 0; i < nodes; i++) {
            const int through = distance[next] + length[(size_t)next * nodes + i];
            distance[i] = through < distance[i] ? through : distance[i];
        }
    }
}

static void prepare_floyd(struct workload_run *run, const uint32_t size[3])
{
    const uint32_t n = size[0];
    const size_t distance = add_random_bits(run, "distance", (size_t)n * n, 124);
    for (uint32_t k = 0; k < n; k++)
        enqueue(run, "floyd", n, n, 16, 16, ARGUMENTS(in_buffer(distance), u32(n), u32(k)));
    if (run->failed)
        return;
    int *edge = run->buffer[distance].initial;
    for (uint32_t i = 0; i < n * n; i++)
        edge[i] = i % (n + 1) ? 1 + (int)((unsigned)edge[i] % 100000) : 0;
    int *expected = expect(run, distance, 0, 0, exact_integer);
    uint8_t *done = malloc(n);
    run->failed |= !done;
    for (uint32_t i = 0; i < n && expected && done; i++)
        shortest_paths(edge, expected + (size_t)i * n, n, i, done);
    free(done);
}

static void prepare_sobel(struct workload_run *run, const uint32_t size[3])
{
    static const int weight[3] = {1, 2, 1};
    const long width = size[0], height = size[1];
    const size_t words = ((size_t)width * (size_t)height + 3) / 4;
    const size_t in = add_random_bits(run, "in", words, 125),
                 out = add_buffer(run, "out", WORKLOAD_U32, words);
    enqueue(run, "sobel", size[0], size[1], 64, 4,
            ARGUMENTS(in_buffer(in), in_buffer(out), u32(size[0]), u32(size[1])));
    if (run->failed)
        return;
    uint8_t *image = run->buffer[in].initial;
    for (long i = 0; i < width * height; i++) /* a disc with a little noise */
        image[i] = (uint8_t)(image[i] % 32 + (hypot((double)(i % width - width / 2),
                                                    (double)(i / width - height / 2)) < (double)height / 3
                                                  ? 160
                                                  : 20));
    uint8_t *expected = expect(run, out, 0, 0, "the root of an integer is never half-way between two");
    for (long i = 0; i < width * height && expected; i++) {
        int gx = 0, gy = 0;
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++) {
                const int value = image[clamp(i / width + dy, height) * width + clamp(i % width + dx, width)];
                gx += value * dx * weight[dy + 1];
                gy += value * dy * weight[dx + 1];
            }
        const double length = floor(sqrt(gx * gx + gy * gy) + 0.5);
        expected[i] = (uint8_t)(length < 255 ? length : 255);
    }
}

static void prepare_bilateral(struct workload_run *run, const uint32_t size[3])
{
    enum { radius = 2, taps = (2 * radius + 1) * (2 * radius + 1) };
    const long width = size[0], height = size[1];
    const float space = 0.1f, range = 4;
    const size_t in = add_random(run, "in", (size_t)width * (size_t)height, 126, 0, 1);
    const size_t out = add_buffer(run, "out", WORKLOAD_F32, (size_t)width * (size_t)height);
    enqueue(run, "bilateral", size[0], size[1], 16, 16,
            ARGUMENTS(in_buffer(in), in_buffer(out), u32(size[0]), u32(size[1]), f32(space), f32(range)));
    /* Exponents above -5 with four roundings, exp() with 6 (3 units), in numerator and denominator; sums of
     * 25 positive terms; the quotient with 5. */
    float *expected =
        expect(run, out, (2 * (5 * 4 + 6 + 1 + taps) + 5) * ROUNDING, 0, "all roundings, positive terms");
    const float *value = run->buffer[in].initial;
    for (long i = 0; i < width * height && expected; i++) {
        double sum = 0, weights = 0;
        for (int tap = 0; tap < taps; tap++) {
            const int dx = tap % (2 * radius + 1) - radius, dy = tap / (2 * radius + 1) - radius;
            const double v = value[clamp(i / width + dy, height) * width + clamp(i % width + dx, width)];
            const double weight =
                exp(-(dx * dx + dy * dy) * (double)space - (v - value[i]) * (v - value[i]) * (double)range);
            sum += weight * v;
            weights += weight;
        }
        expected[i] = (float)(sum / weights);
    }
}

/* Atoms near the points of a cubic lattice, so that none are close to each other, and lists of others at most
 * two steps away. Coordinates are multiples of 1/256: squared distances are exact, and so are comparisons
 * with the cutoff. */
static void place_atoms(float *position, int *neighbour, uint32_t side, uint32_t neighbours)
{
    const uint32_t atoms = side * side * side;
    for (uint32_t i = 0; i < atoms; i++) {
        const uint32_t at[3] = {i % side, i / side % side, i / side / side};
        for (uint32_t axis = 0; axis < 3; axis++)
            position[i * 4 + axis] =
                (float)at[axis] + (float)(wmi_random_u32(127, i * 3 + axis) % 27) / 256 - 13.0f / 256;
        for (uint32_t j = 0; j < neighbours; j++) {
            uint32_t other = i;
            for (uint32_t attempt = 0; other == i; attempt++) {
                const uint32_t bits = wmi_random_u32(128 + attempt, i * neighbours + j);
                uint32_t to[3];
                for (uint32_t axis = 0; axis < 3; axis++)
                    to[axis] = (at[axis] + side - 2 + (bits >> axis * 8 & 255) % 5) % side;
                other = to[0] + (to[1] + to[2] * side) * side;
            }
            neighbour[j * atoms + i] = (int)other;
        }
    }
}

static void prepare_md(struct workload_run *run, const uint32_t size[3])
{
    const uint32_t side = size[0], atoms = side * side * side, neighbours = size[1];
    const float cutoff2 = 6.25f, lj1 = 1.5f, lj2 = 2;
    const size_t position = add_buffer(run, "position", WORKLOAD_F32, (size_t)atoms * 4);
    const size_t force = add_buffer(run, "force", WORKLOAD_F32, (size_t)atoms * 4);
    const size_t neighbour = add_buffer(run, "neighbour", WORKLOAD_U32, (size_t)atoms * neighbours);
    enqueue(run, "lennard_jones", atoms, 1, 128, 1,
            ARGUMENTS(in_buffer(position), in_buffer(force), in_buffer(neighbour), u32(atoms),
                      u32(neighbours), f32(cutoff2), f32(lj1), f32(lj2)));
    if (run->failed)
        return;
    place_atoms(run->buffer[position].initial, run->buffer[neighbour].initial, side, neighbours);
    /* Distances of 0.9 at least: a force is a difference of two products below 10 with about 16 roundings. */
    float *expected = expect(run, force, 0, neighbours * 10 * (16 + sqrt(neighbours)) * ROUNDING,
                             "roundings of each term and of the sum");
    const float *p = run->buffer[position].initial;
    const int *to = run->buffer[neighbour].initial;
    for (size_t i = 0; i < atoms && expected; i++) {
        double sum[3] = {0};
        for (size_t j = 0; j < neighbours; j++) {
            const float *there = p + (size_t)to[j * atoms + i] * 4;
            double d[3], r2 = 0;
            for (size_t axis = 0; axis < 3; axis++) {
                d[axis] = (double)p[i * 4 + axis] - there[axis];
                r2 += d[axis] * d[axis];
            }
            const double r6 = 1 / (r2 * r2 * r2);
            for (size_t axis = 0; axis < 3 && r2 < cutoff2; axis++)
                sum[axis] += d[axis] / r2 * r6 * (lj1 * r6 - lj2);
        }
        for (size_t axis = 0; axis < 3; axis++)
            expected[i * 4 + axis] = (float)sum[axis];
    }
}

static void prepare_dct(struct workload_run *run, const uint32_t size[3])
{
    enum { n = 8 };
    const size_t width = size[0], height = size[1];
    const size_t in = add_random(run, "in", width * height, 130, -128, 128);
    const size_t out = add_buffer(run, "out", WORKLOAD_F32, width * height);
    const size_t basis = add_buffer(run, "basis", WORKLOAD_F32, n * n);
    enqueue(run, "dct8x8", size[0], size[1], 32, n,
            ARGUMENTS(in_buffer(in), in_buffer(out), in_buffer(basis), u32(size[0])));
    if (run->failed)
        return;
    float *cosine = run->buffer[basis].initial;
    for (size_t i = 0; i < n * n; i++)
        cosine[i] = (float)((i < n ? sqrt(0.125) : 0.5) *
                            cos((double)(2 * (i % n) + 1) * (double)(i / n) * M_PI / 16));
    /* The absolute values of a row of the basis add up to 2.83 at most, so those of a result's terms to 1024,
     * each after 2 * 8 roundings and those of the two factors. */
    float *expected = expect(run, out, 0, 1024 * 18 * ROUNDING, "all roundings");
    const float *value = run->buffer[in].initial;
    for (size_t i = 0; i < width * height && expected; i++) {
        const size_t x = i % width, y = i / width;
        const float *block = value + (y - y % n) * width + x - x % n;
        double sum = 0;
        for (size_t j = 0; j < n * n; j++)
            sum +=
                (double)cosine[x % n * n + j % n] * cosine[y % n * n + j / n] * block[j / n * width + j % n];
        expected[i] = (float)sum;
    }
}

static int compare_keys(const void *left, const void *right)
{
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

static void prepare_radix(struct workload_run *run, const uint32_t size[3])
{
    enum { items = 64, block = items * 16, digits = 16, scan = 256 };
    const uint32_t n = size[0], blocks = (n + block - 1) / block;
    const size_t keys = add_random_bits(run, "keys", n, 131),
                 other = add_buffer(run, "other", WORKLOAD_U32, n);
    const size_t counts = add_buffer(run, "counts", WORKLOAD_U32, (size_t)blocks * digits);
    for (uint32_t shift = 0; shift < 32; shift += 4) {
        const size_t from = shift % 8 ? other : keys, to = shift % 8 ? keys : other;
        enqueue(run, "radix_count", blocks * items, 1, items, 1,
                ARGUMENTS(in_buffer(from), in_buffer(counts), u32(n), u32(shift)));
        enqueue(run, "radix_scan", scan, 1, scan, 1, ARGUMENTS(in_buffer(counts), u32(blocks * digits)));
        enqueue(run, "radix_scatter", blocks * items, 1, items, 1,
                ARGUMENTS(in_buffer(from), in_buffer(counts), in_buffer(to), u32(n), u32(shift)));
    }
    uint32_t *expected = expect(run, keys, 0, 0, exact_integer);
    if (!expected)
        return;
    memcpy(expected, run->buffer[keys].initial, n * sizeof(*expected));
    qsort(expected, n, sizeof(*expected), compare_keys);
}

static void prepare_julia(struct workload_run *run, const uint32_t size[3])
{
    const uint32_t width = size[0], height = size[1], limit = size[2];
    const double left = -1.6, top = 1.0, pitch = 3.2 / width, cr = -0.8, ci = 0.156;
    const size_t counts = add_buffer(run, "counts", WORKLOAD_U32, (size_t)width * height);
    enqueue(run, "julia", width, height, 16, 16,
            ARGUMENTS(in_buffer(counts), u32(width), u32(height), f64(left), f64(top), f64(pitch), f64(cr),
                      f64(ci), u32(limit)));
    uint32_t *expected = expect(run, counts, 0, 0, exact_float);
    for (size_t i = 0; i < (size_t)width * height && expected; i++) {
        double re = fma((double)(i % width), pitch, left), im = fma((double)(i / width), -pitch, top);
        for (; expected[i] < limit; expected[i]++) {
            const double re2 = re * re, im2 = im * im;
            if (re2 + im2 > 4)
                break;
            im = fma(2 * re, im, ci);
            re = re2 - im2 + cr;
        }
    }
}

static uint32_t hash(uint32_t x, uint32_t y)
{
    uint32_t h = x * 0x85ebca6b + y * 0xc2b2ae35;
    h = (h ^ h >> 16) * 0x7feb352d;
    h = (h ^ h >> 15) * 0x846ca68b;
    return h ^ h >> 16;
}

/* Noise in double: each corner's slope, weighed by how near it is. */
static double noise(double x, double y)
{
    const long ix = (long)floor(x), iy = (long)floor(y);
    double sum = 0;
    for (int corner = 0; corner < 4; corner++) {
        const int right = corner & 1, down = corner >> 1;
        const double dx = x - (double)(ix + right), dy = y - (double)(iy + down), tx = 1 - fabs(dx),
                     ty = 1 - fabs(dy);
        const uint32_t h = hash((uint32_t)(ix + right), (uint32_t)(iy + down));
        const double u = h & 4 ? dy : dx, v = h & 4 ? dx : dy;
        const double slope = (h & 1 ? -u : u) + (h & 2 ? -2 : 2) * v;
        sum += slope * tx * tx * tx * (tx * (tx * 6 - 15) + 10) * ty * ty * ty * (ty * (ty * 6 - 15) + 10);
    }
    return sum;
}

static void prepare_perlin(struct workload_run *run, const uint32_t size[3])
{
    const uint32_t width = size[0], height = size[1], octaves = size[2];
    const float frequency = 1.0f / 64; /* a power of two: places in cells are exact */
    const size_t out = add_buffer(run, "out", WORKLOAD_F32, (size_t)width * height);
    enqueue(run, "perlin", width, height, 32, 8,
            ARGUMENTS(in_buffer(out), u32(width), u32(height), f32(frequency), u32(octaves)));
    /* An octave's slopes are below 3, fade()'s terms below 31 with 5 roundings; three interpolations. */
    float *expected = expect(run, out, 0, 3 * (31 * 5 * 2 + 3 * 4) * ROUNDING, "all roundings");
    for (size_t i = 0; i < (size_t)width * height && expected; i++) {
        double sum = 0;
        for (uint32_t octave = 0; octave < octaves; octave++) {
            const double scale = ldexp(frequency, (int)octave);
            sum += ldexp(noise((double)(i % width) * scale, (double)(i / width) * scale), -1 - (int)octave);
        }
        expected[i] = (float)sum;
    }
}

static void prepare_merge(struct workload_run *run, const uint32_t size[3])
{
    const uint32_t na = size[0], nb = size[1];
    const size_t a = add_random_bits(run, "a", na, 132), b = add_random_bits(run, "b", nb, 133);
    const size_t out = add_buffer(run, "out", WORKLOAD_U32, (size_t)na + nb);
    enqueue(run, "merge", na + nb, 1, 256, 1,
            ARGUMENTS(in_buffer(a), in_buffer(b), in_buffer(out), u32(na), u32(nb)));
    if (run->failed)
        return;
    uint32_t *left = run->buffer[a].initial, *right = run->buffer[b].initial;
    qsort(left, na, sizeof(*left), compare_keys);
    qsort(right, nb, sizeof(*right), compare_keys);
    uint32_t *expected = expect(run, out, 0, 0, exact_copy);
    for (uint32_t i = 0, j = 0; i + j < na + nb && expected;)
        if (j == nb || (i < na && left[i] <= right[j]))
            expected[i + j] = left[i], i++;
        else
            expected[i + j] = right[j], j++;
}

static void prepare_lbm(struct workload_run *run, const uint32_t size[3])
{
    enum { directions = 9 };
    static const long ex[directions] = {0, 1, 0, -1, 0, 1, -1, -1, 1},
                      ey[directions] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
    const long nx = size[0], ny = size[1], cells = nx * ny;
    const float omega = 1.2f;
    const size_t in = add_random(run, "in", (size_t)cells * directions, 134, 0.9f, 1.1f);
    const size_t out = add_buffer(run, "out", WORKLOAD_F32, (size_t)cells * directions);
    enqueue(run, "lbm", size[0], size[1], 64, 4,
            ARGUMENTS(in_buffer(in), in_buffer(out), u32(size[0]), u32(size[1]), f32(omega)));
    if (run->failed)
        return;
    float *f = run->buffer[in].initial;
    for (long i = 0; i < cells * directions; i++)
        f[i] *= (float)(i < cells ? 4 / 9.0 : i < 5 * cells ? 1 / 9.0 : 1 / 36.0);
    /* Values below 1, the density with 9 roundings, velocities with 15, equilibria with about 20 more. */
    float *expected = expect(run, out, 0, 50 * ROUNDING, "all roundings of values below 1");
    for (long i = 0; i < cells && expected; i++) {
        double pulled[directions], density = 0, ux = 0, uy = 0;
        for (long q = 0; q < directions; q++) {
            const long x = (i % nx - ex[q] + nx) % nx, y = (i / nx - ey[q] + ny) % ny;
            pulled[q] = f[q * cells + y * nx + x];
            density += pulled[q];
            ux += (double)ex[q] * pulled[q];
            uy += (double)ey[q] * pulled[q];
        }
        ux /= density;
        uy /= density;
        for (long q = 0; q < directions; q++) {
            const double weight = q == 0 ? 4 / 9.0 : q < 5 ? 1 / 9.0 : 1 / 36.0;
            const double eu = (double)ex[q] * ux + (double)ey[q] * uy;
            const double rest = weight * density * (1 + 3 * eu + 4.5 * eu * eu - 1.5 * (ux * ux + uy * uy));
            expected[q * cells + i] = (float)(pulled[q] + (double)omega * (rest - pulled[q]));
        }
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
    {"hotspot", "hotspot", prepare_hotspot, {53, 37}, {2048, 2048}, 10},
    {"pathfinder", "pathfinder", prepare_pathfinder, {1001}, {1 * M}, 1},
    {"floyd", "floyd", prepare_floyd, {37}, {512}, 1},
    {"sobel", "sobel", prepare_sobel, {148, 37}, {4096, 4096}, 1},
    {"bilateral", "bilateral", prepare_bilateral, {53, 37}, {1024, 1024}, 1},
    {"md", "md", prepare_md, {7, 11}, {48, 64}, 4},
    {"dct", "dct", prepare_dct, {56, 24}, {2048, 2048}, 6},
    {"radix", "radix", prepare_radix, {3001}, {2 * M}, 1},
    {"julia", "julia", prepare_julia, {53, 37, 40}, {1024, 640, 256}, 2},
    {"perlin", "perlin", prepare_perlin, {53, 37, 3}, {1024, 1024, 5}, 2},
    {"merge", "merge", prepare_merge, {1001, 703}, {1 * M, 1 * M}, 2},
    {"lbm", "lbm", prepare_lbm, {53, 37}, {1024, 1024}, 10},
};
