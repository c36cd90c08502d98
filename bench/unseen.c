/* SPDX-License-Identifier: MIT */
/* The unseen kernels as workloads. Each reference is plain C in this file, next to its inputs. */
#include "unseen.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "prepare.h"

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
const struct workload unseen[UNSEEN_COUNT] = {
    /* name, file, prepare, small, bench, repeats */
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
