/* SPDX-License-Identifier: MIT */
/* Rays and nodes of a BVH: results that were captured on a gfx12 GPU, and random nodes against the same
 * intersections in f64, with the bounds stated below.
 *
 * Source of the captured results: https://github.com/yoshou/amdgpu-sim, tests of VIMAGE,
 * image_bvh64_intersect_ray. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "base/random.h"
#include "memory/bvh.h"

enum { MISS = -1, ROUNDS = 200000, NODE_WORDS = WMI_NODE_BYTES / 4 };

/* Numbers of the tests are about 1, and a sum has a dozen roundings of 2^-24 of terms up to 100. */
#define BOUND 1e-4

static uint64_t drawn;

static uint64_t draw(void)
{
    return wmi_random_bits(31, drawn++);
}

static float draw_number(void)
{
    return (float)((double)(draw() >> 40) * 0x1p-22 - 2);
}

static float number(uint32_t word)
{
    float x;
    memcpy(&x, &word, 4);
    return x;
}

/* ---- T# and nodes ---- */

enum { SORTS = 1, TRIANGLES_FIRST = 2, BARYCENTRICS = 4, LARGEST = 8, MIDPOINT = 16, FLAGS = 32 };

static struct wmi_bvh make_bvh(unsigned what)
{
    const uint32_t words[4] = {
        0,
        (what & SORTS ? 1u << 31 : 0) | (what & TRIANGLES_FIRST ? 1u << 20 : 0) |
            (what & LARGEST ? 1u << 21 : 0) | (what & MIDPOINT ? 2u << 21 : 0),
        0xffffffff, 0x800003ff | (what & BARYCENTRICS ? 1u << 24 : 0) | (what & FLAGS ? 1u << 23 : 0)};
    struct wmi_bvh bvh;
    wmi_bvh_decode(WMI_LAYOUT_GFX1200, words, &bvh);
    assert_null(bvh.refused);
    return bvh;
}

static struct wmi_ray make_ray(float extent, float x, float y, float z, float dx, float dy, float dz)
{
    return (struct wmi_ray){extent, {x, y, z}, {dx, dy, dz}, {1 / dx, 1 / dy, 1 / dz}};
}

/* children, and for each minimum and maximum */
static void make_box(uint32_t node[NODE_WORDS], const uint32_t children[4], float bounds[4][6])
{
    memset(node, 0, WMI_NODE_BYTES);
    memcpy(node, children, 16);
    memcpy(node + 4, bounds, 96);
}

static void intersect(unsigned what, uint64_t pointer, const struct wmi_ray *ray, const uint32_t *node,
                      uint32_t result[4])
{
    const struct wmi_bvh bvh = make_bvh(what);
    wmi_bvh_intersect(&bvh, pointer, ray, (const unsigned char *)node, result);
}

static void check(const char *name, const uint32_t result[4], const uint32_t expected[4])
{
    if (memcmp(result, expected, 16) != 0)
        fail_msg("%s: %x %x %x %x, expected %x %x %x %x", name, result[0], result[1], result[2], result[3],
                 expected[0], expected[1], expected[2], expected[3]);
}

/* ---- captured ---- */

static void test_captured_boxes(void **state)
{
    /* The last box is behind the origin. */
    static float row[4][6] = {
        {3, -1, -1, 4, 1, 1}, {1, -1, -1, 2, 1, 1}, {5, -1, -1, 6, 1, 1}, {-2, -1, -1, -1, 1, 1}};
    static const struct {
        struct wmi_ray ray;
        uint32_t expected[4];
    } cases[] = {
        {{100, {0, 0, 0}, {1, 0, 0}, {1, INFINITY, INFINITY}}, {0x200, 0x100, 0x300, MISS}},
        {{4, {0, 0, 0}, {1, 0, 0}, {1, INFINITY, INFINITY}}, {0x200, 0x100, MISS, MISS}},
        {{100, {1.5f, 0, 0}, {1, 0, 0}, {1, INFINITY, INFINITY}}, {0x200, 0x100, 0x300, MISS}},
        {{100, {0, 0, 0}, {-1, 0, 0}, {-1, INFINITY, INFINITY}}, {0x400, MISS, MISS, MISS}},
        {{100, {0, 5, 0}, {1, 0, 0}, {1, INFINITY, INFINITY}}, {MISS, MISS, MISS, MISS}},
    };
    (void)state;
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t node[NODE_WORDS], result[4];
        make_box(node, (uint32_t[]){0x100, 0x200, 0x300, 0x400}, row);
        intersect(SORTS, 5, &cases[i].ray, node, result);
        check("boxes", result, cases[i].expected);
    }
}

static void test_captured_order(void **state)
{
    static float row[4][6] = {
        {1, -1, -1, 2, 1, 1}, {3, -1, -1, 4, 1, 1}, {5, -1, -1, 6, 1, 1}, {7, -1, -1, 8, 1, 1}};
    static float back[4][6] = {
        {7, -1, -1, 8, 1, 1}, {5, -1, -1, 6, 1, 1}, {3, -1, -1, 4, 1, 1}, {1, -1, -1, 2, 1, 1}};
    static const struct {
        unsigned what;
        uint32_t children[4], expected[4];
    } cases[] = {
        {SORTS, {0x15, 0x20, 0x35, 0x40}, {0x15, 0x20, 0x35, 0x40}},
        {SORTS, {0x11, 0x20, 0x32, 0x45}, {0x11, 0x20, 0x32, 0x45}},
        {SORTS | TRIANGLES_FIRST, {0x15, 0x20, 0x35, 0x40}, {0x20, 0x40, 0x15, 0x35}},
        {SORTS | TRIANGLES_FIRST, {0x11, 0x20, 0x32, 0x45}, {0x11, 0x20, 0x32, 0x45}},
        {SORTS | TRIANGLES_FIRST, {0x11, 0x21, 0x35, 0x40}, {0x11, 0x21, 0x40, 0x35}},
    };
    const struct wmi_ray ray = make_ray(100, 0, 0, 0, 1, 0, 0);
    uint32_t node[NODE_WORDS], result[4];
    (void)state;
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        make_box(node, cases[i].children, row);
        intersect(cases[i].what, 5, &ray, node, result);
        check("order", result, cases[i].expected);
    }
    /* Without sorting, children keep their places, also those that are missed. */
    make_box(node, (uint32_t[]){0x15, 0x25, 0x35, 0x45}, back);
    intersect(0, 5, &ray, node, result);
    check("unsorted", result, (uint32_t[]){0x15, 0x25, 0x35, 0x45});
    intersect(SORTS, 5, &ray, node, result);
    check("sorted", result, (uint32_t[]){0x45, 0x35, 0x25, 0x15});
    for (unsigned k = 0; k < 2; k++) { /* the second box behind the ray */
        back[1][0] = -2;
        back[1][3] = -1;
        make_box(node, (uint32_t[]){0x15, 0x25, 0x35, 0x45}, back);
        intersect(k ? SORTS : 0, 5, &ray, node, result);
        check("missed", result,
              k ? (uint32_t[]){0x45, 0x35, 0x15, MISS} : (uint32_t[]){0x15, MISS, 0x35, 0x45});
    }
}

static void test_captured_triangles(void **state)
{
    static const float square[4][3] = {{0, 0, 1}, {0, 1, 1}, {1, 0, 1}, {1, 1, 1}},
                       other[4][3] = {{0, 0, 1}, {1, 0, 1}, {0, 1, 1}, {1, 1, 1}};
    static const struct {
        const char *name;
        const float (*vertices)[3];
        uint32_t id;
        unsigned type;
        float origin[3], direction[3];
        uint32_t expected[4];
    } cases[] = {
        {"first",
         square,
         0x0908,
         0,
         {.25f, .25f, 0},
         {0, 0, 1},
         {0x3f800000, 0x3f800000, 0x3f000000, 0x3e800000}},
        {"second",
         square,
         0x0908,
         1,
         {.75f, .75f, 0},
         {0, 0, 1},
         {0x3f800000, 0x3f800000, 0x3f000000, 0x3e800000}},
        {"missed",
         square,
         0x0908,
         1,
         {.25f, .25f, 0},
         {0, 0, 1},
         {0x7f800000, 0x3f800000, 0xbf000000, 0x3f400000}},
        {"back missed",
         other,
         0x0908,
         0,
         {.75f, .75f, 0},
         {0, 0, 1},
         {0xff800000, 0xbf800000, 0x3f000000, 0xbf400000}},
        {"back",
         other,
         0x0908,
         0,
         {.25f, .25f, 0},
         {0, 0, 1},
         {0xbf800000, 0xbf800000, 0xbf000000, 0xbe800000}},
        {"parallel", square, 0x0908, 0, {.25f, .25f, 0}, {1, 0, 0}, {0x7f800000, 0, 0xbf800000, 0x3f800000}},
        {"I 0, J 2",
         square,
         0x0908,
         0,
         {.125f, .5f, 0},
         {0, 0, 1},
         {0x3f800000, 0x3f800000, 0x3ec00000, 0x3e000000}},
        {"I 0, J 0",
         square,
         0x0000,
         0,
         {.125f, .5f, 0},
         {0, 0, 1},
         {0x3f800000, 0x3f800000, 0x3ec00000, 0x3ec00000}},
        {"I 0, J 1",
         square,
         0x0004,
         0,
         {.125f, .5f, 0},
         {0, 0, 1},
         {0x3f800000, 0x3f800000, 0x3ec00000, 0x3f000000}},
        {"behind",
         square,
         0x0908,
         0,
         {.25f, .25f, 2},
         {0, 0, 1},
         {0x7f800000, 0x3f800000, 0x3f000000, 0x3e800000}},
    };
    (void)state;
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t node[NODE_WORDS] = {0}, result[4];
        const float *o = cases[i].origin, *d = cases[i].direction;
        const struct wmi_ray ray = make_ray(100, o[0], o[1], o[2], d[0], d[1], d[2]);
        memcpy(node, cases[i].vertices, 48);
        node[15] = cases[i].id;
        intersect(BARYCENTRICS, cases[i].type, &ray, node, result);
        check(cases[i].name, result, cases[i].expected);
    }
}

/* ---- random nodes ---- */

/* Where the ray is inside the box, in f64. False: this is closer than BOUND to another answer. */
static bool interval_of(const struct wmi_ray *r, const float box[6], double *from, double *to, bool *met)
{
    double enter = 0, leave = (double)r->extent;
    for (unsigned i = 0; i < 3; i++) {
        const double a = ((double)box[i] - (double)r->origin[i]) / (double)r->direction[i],
                     b = ((double)box[3 + i] - (double)r->origin[i]) / (double)r->direction[i];
        enter = fmax(enter, fmin(a, b));
        leave = fmin(leave, fmax(a, b));
    }
    *from = enter;
    *to = leave;
    *met = enter <= leave;
    return fabs(enter - leave) > BOUND * (1 + fabs(enter));
}

static struct wmi_ray draw_ray(void)
{
    struct wmi_ray ray = {.extent = draw() % 4 ? 8 : 1};
    for (unsigned i = 0; i < 3; i++) {
        ray.origin[i] = draw_number();
        do
            ray.direction[i] = draw_number();
        while (fabsf(ray.direction[i]) < 0.02f);
        ray.inverse[i] = 1 / ray.direction[i];
    }
    return ray;
}

static void draw_box(float box[6], bool half)
{
    for (unsigned k = 0; k < 3; k++) {
        float a = draw_number(), b = draw_number();
        if (half) {
            a = (float)(_Float16)a;
            b = (float)(_Float16)b;
        }
        box[k] = fminf(a, b);
        box[3 + k] = fmaxf(a, b);
    }
}

/* What children are sorted by. */
static double key_of(unsigned order, double from, double to, const struct wmi_ray *r, const float box[6])
{
    double enter = -INFINITY, leave = INFINITY;
    for (unsigned i = 0; i < 3; i++) { /* not bounded by origin and extent */
        const double a = ((double)box[i] - (double)r->origin[i]) / (double)r->direction[i],
                     b = ((double)box[3 + i] - (double)r->origin[i]) / (double)r->direction[i];
        enter = fmax(enter, fmin(a, b));
        leave = fmin(leave, fmax(a, b));
    }
    return order == LARGEST ? from - to : order == MIDPOINT ? enter + leave : from;
}

static void test_boxes(void **state)
{
    static const unsigned orders[] = {0, LARGEST, MIDPOINT};
    unsigned met = 0;
    (void)state;
    for (unsigned round = 0; round < ROUNDS; round++) {
        const struct wmi_ray ray = draw_ray();
        const bool half = draw() & 1;
        const unsigned order = orders[draw() % 3];
        float box[4][6];
        uint32_t node[NODE_WORDS], result[4];
        double key[4];
        bool meets[4], clear = true;
        for (unsigned i = 0; i < 4; i++) {
            double from, to;
            draw_box(box[i], half);
            clear &= interval_of(&ray, box[i], &from, &to, &meets[i]);
            key[i] = key_of(order, from, to, &ray, box[i]);
        }
        if (!clear)
            continue;
        make_box(node, (uint32_t[]){8 * 0 + 5, 8 * 1 + 5, 8 * 2 + 5, 8 * 3 + 5}, box);
        for (unsigned i = 0; half && i < 24; i++) {
            const _Float16 x = (_Float16)box[i / 6][i % 6];
            memcpy((char *)(node + 4) + 2 * i, &x, 2);
        }
        intersect(SORTS | order, half ? 4 : 5, &ray, node, result);
        unsigned found = 0;
        double last = -INFINITY;
        for (unsigned i = 0; i < 4 && result[i] != (uint32_t)MISS; i++) {
            const unsigned child = result[i] >> 3;
            assert_true(child < 4 && meets[child] && !(found >> child & 1));
            assert_true(key[child] >= last - BOUND * (1 + fabs(last)) || !i);
            last = key[child];
            found |= 1u << child;
            met++;
        }
        for (unsigned i = 0; i < 4; i++)
            if (meets[i] != (found >> i & 1))
                fail_msg("box %u of round %u: %u, expected %u", i, round, found >> i & 1, meets[i]);
    }
    assert_true(met > ROUNDS / 4);
}

/* Distance and coordinates by Cramer's rule: origin + t direction = a + u (b - a) + v (c - a). */
static double solve(const struct wmi_ray *r, const float vertex[3][3], double *t, double *u, double *v)
{
    double m[3][4];
    for (unsigned k = 0; k < 3; k++) {
        m[k][0] = -(double)r->direction[k];
        m[k][1] = (double)vertex[1][k] - (double)vertex[0][k];
        m[k][2] = (double)vertex[2][k] - (double)vertex[0][k];
        m[k][3] = (double)r->origin[k] - (double)vertex[0][k];
    }
#define DETERMINANT(i, j, k)                                                                                 \
    (m[0][i] * (m[1][j] * m[2][k] - m[1][k] * m[2][j]) - m[0][j] * (m[1][i] * m[2][k] - m[1][k] * m[2][i]) + \
     m[0][k] * (m[1][i] * m[2][j] - m[1][j] * m[2][i]))
    const double whole = DETERMINANT(0, 1, 2);
    *t = DETERMINANT(3, 1, 2) / whole;
    *u = DETERMINANT(0, 3, 2) / whole;
    *v = DETERMINANT(0, 1, 3) / whole;
    return whole;
}

static void test_triangles(void **state)
{
    /* Vertices of the node that each type's triangle has: GPURT, CalcTriangleCompressionVertexOffsets(). */
    static const unsigned corner[4][3] = {{0, 1, 2}, {1, 3, 2}, {2, 3, 4}, {2, 4, 0}};
    unsigned hits = 0;
    (void)state;
    for (unsigned round = 0; round < ROUNDS; round++) {
        const struct wmi_ray ray = draw_ray();
        const unsigned type = draw() & 3;
        float vertex[5][3], own[3][3];
        uint32_t node[NODE_WORDS] = {0}, result[4], plain[4];
        double t, u, v;
        for (unsigned i = 0; i < 15; i++)
            vertex[i / 3][i % 3] = draw_number();
        for (unsigned i = 0; i < 3; i++)
            memcpy(own[i], vertex[corner[type][i]], 12);
        const double whole = solve(&ray, own, &t, &u, &v), part[3] = {1 - u - v, u, v};
        if (fabs(whole) < 0.05 || fabs(t) < BOUND || fabs(u) < BOUND || fabs(v) < BOUND ||
            fabs(1 - u - v) < BOUND)
            continue;
        const bool hit = t > 0 && u > 0 && v > 0 && u + v < 1;
        const unsigned i = draw() % 3, j = draw() % 3;
        memcpy(node, vertex, 60);
        node[15] = (i | j << 2) << 8 * type;
        intersect(BARYCENTRICS, type, &ray, node, result);
        intersect(0, type, &ray, node, plain);
        const double divisor = (double)number(result[1]);
        const double error = BOUND * (1 + fabs(t) + fabs(u) + fabs(v)) / fmin(1, fabs(whole));
        assert_true((hit ? fabs((double)number(result[0]) / divisor - t) <= error
                         : isinf((double)number(result[0]) / divisor)) &&
                    (hit || (double)number(result[0]) / divisor > 0));
        assert_true(fabs((double)number(result[2]) / divisor - part[i]) <= error);
        assert_true(fabs((double)number(result[3]) / divisor - part[j]) <= error);
        assert_true(plain[0] == result[0] && plain[1] == result[1] && plain[2] == node[15] &&
                    plain[3] == hit);
        hits += hit;
    }
    assert_true(hits > ROUNDS / 100);
}

/* A ray at a common side meets at least one of the two triangles. */
static void test_common_side(void **state)
{
    (void)state;
    for (unsigned round = 0; round < ROUNDS; round++) {
        float vertex[4][3];
        uint32_t node[NODE_WORDS] = {0}, first[4], second[4];
        struct wmi_ray ray = {.extent = INFINITY};
        for (unsigned i = 0; i < 4; i++) { /* 0 left, 3 right, 1 and 2 between them, below and above */
            vertex[i][0] = i == 0 ? -4 : i == 3 ? 4 : draw_number();
            vertex[i][1] = i == 1 ? -8 + draw_number() : i == 2 ? 8 + draw_number() : draw_number();
            vertex[i][2] = 9 + draw_number();
        }
        const float w = (float)((double)(draw() >> 40) * 0x1p-24);
        for (unsigned k = 0; k < 3; k++) {
            ray.origin[k] = draw_number() / 4;
            ray.direction[k] = w * vertex[1][k] + (1 - w) * vertex[2][k] - ray.origin[k];
        }
        memcpy(node, vertex, 48);
        intersect(0, 0, &ray, node, first);
        intersect(0, 1, &ray, node, second);
        if (!first[3] && !second[3])
            fail_msg("round %u: the ray passes between two triangles", round);
    }
}

/* ---- what else the T# and pointers say ---- */

static void test_pointers(void **state)
{
    const uint32_t words[4] = {0x123456, 0x78, 9, 0x80000000}; /* ten nodes */
    struct wmi_bvh bvh;
    uint32_t result[4];
    (void)state;
    wmi_bvh_decode(WMI_LAYOUT_GFX1030, words, &bvh);
    assert_null(bvh.refused);
    assert_true(wmi_node_address(&bvh, 8 * 3 + 5) == (((uint64_t)0x78 << 32 | 0x123456) << 8) + 3 * 64);
    assert_int_equal(wmi_node_bytes(&bvh, 8 * 9 + 0), 64);
    assert_int_equal(wmi_node_bytes(&bvh, 8 * 9 + 4), 64);
    assert_int_equal(wmi_node_bytes(&bvh, 8 * 9 + 5), 128);
    assert_int_equal(wmi_node_bytes(&bvh, 8 * 9 + 6), 0);
    assert_int_equal(wmi_node_bytes(&bvh, 8 * 9 + 7), 0);
    assert_int_equal(wmi_node_bytes(&bvh, 8 * 10 + 5), 0);
    wmi_bvh_intersect(&bvh, 6, &(struct wmi_ray){0}, NULL, result);
    check("user node", result, (uint32_t[]){MISS, MISS, MISS, MISS});
}

static void test_refused(void **state)
{
    static const struct {
        uint32_t word3;
        const char *message;
    } cases[] = {{0x90000000, "TYPE is not 8"},
                 {0, "TYPE is not 8"},
                 {0x80080000, "COMPRESSED_FORMAT_EN"},
                 {0x80100000, "BOX_NODE_64B"},
                 {0x80400000, "INSTANCE_EN"}};
    (void)state;
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct wmi_bvh bvh;
        wmi_bvh_decode(WMI_LAYOUT_GFX1200, (uint32_t[]){0, 0, 0, cases[i].word3}, &bvh);
        assert_true(bvh.refused && strstr(bvh.refused, cases[i].message));
        wmi_bvh_decode(WMI_LAYOUT_GFX1030, (uint32_t[]){0, 0, 0, cases[i].word3}, &bvh);
        assert_true(!bvh.refused == (i > 1)); /* gfx12's fields */
    }
}

/* The far side of a box moves by BOX_GROW_VALUE ulps (RDNA 2 ISA). */
static void test_grow(void **state)
{
    float box[4][6] = {{1, -1, -1, 2, 1, 1}, {0}, {0}, {0}};
    uint32_t node[NODE_WORDS], result[4];
    (void)state;
    /* Enters x at 1, leaves z at 1 - 2^-22. */
    const struct wmi_ray ray = {
        .extent = 100, .direction = {1, 0, 1 / (1 - 0x1p-22f)}, .inverse = {1, INFINITY, 1 - 0x1p-22f}};
    make_box(node, (uint32_t[]){0x15, 0x25, 0x35, 0x45}, box);
    for (unsigned grow = 0; grow < 2; grow++) {
        const uint32_t words[4] = {0, grow ? 6u << 23 : 0, 0xffffffff, 0x800003ff};
        struct wmi_bvh bvh;
        wmi_bvh_decode(WMI_LAYOUT_GFX1030, words, &bvh);
        wmi_bvh_intersect(&bvh, 5, &ray, (const unsigned char *)node, result);
        assert_int_equal(result[0], grow ? 0x15 : (uint32_t)MISS);
    }
}

/* Source: GPURT, NODE_POINTER_*_SHIFT and TRIANGLE_ID. */
static void test_flags(void **state)
{
    static const float triangle[3][3] = {{0, 0, 1}, {0, 1, 1}, {1, 0, 1}};
    enum { OPAQUE = 1, NON_OPAQUE, NO_CULL, FLIP, BACK, FRONT, CULL_OPAQUE, CULL_OTHER, SKIP };
#define FLAG(name) (1u << ((name) - 1))
    static const struct {
        unsigned flags;
        bool opaque, hit;
    } cases[] = {
        {0, false, true},
        {FLAG(FRONT), false, false},
        {FLAG(BACK), false, true},
        {FLAG(BACK) | FLAG(FLIP), false, false},
        {FLAG(FRONT) | FLAG(NO_CULL), false, true},
        {FLAG(CULL_OPAQUE), true, false},
        {FLAG(CULL_OPAQUE), false, true},
        {FLAG(CULL_OTHER), false, false},
        {FLAG(CULL_OPAQUE) | FLAG(OPAQUE), false, false},
        {FLAG(CULL_OPAQUE) | FLAG(NON_OPAQUE), true, true},
        {FLAG(SKIP), true, false},
    };
    const struct wmi_ray ray = make_ray(100, .25f, .25f, 0, 0, 0, 1);
    uint32_t node[NODE_WORDS] = {0}, result[4];
    (void)state;
    memcpy(node, triangle, 36);
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        node[15] = cases[i].opaque ? 0x80 : 0;
        intersect(FLAGS, (uint64_t)cases[i].flags << 54, &ray, node, result);
        assert_int_equal(result[3], cases[i].hit);
        intersect(0, (uint64_t)cases[i].flags << 54, &ray, node, result);
        assert_int_equal(result[3], 1); /* without the T#'s bit they mean nothing */
    }
}

/* Any T#, pointer, ray and node. With sanitizers: nothing overflows. */
static void test_any(void **state)
{
    (void)state;
    for (unsigned round = 0; round < ROUNDS; round++) {
        static const enum wmi_descriptor_layout layouts[] = {WMI_LAYOUT_GFX1010, WMI_LAYOUT_GFX1030,
                                                             WMI_LAYOUT_GFX1100, WMI_LAYOUT_GFX1200};
        uint32_t words[4], node[NODE_WORDS], result[4], numbers[10];
        struct wmi_bvh bvh;
        struct wmi_ray ray;
        const uint64_t pointer = draw();
        for (unsigned i = 0; i < 4; i++)
            words[i] = (uint32_t)draw();
        for (unsigned i = 0; i < 10; i++)
            numbers[i] = (uint32_t)draw();
        for (unsigned i = 0; i < NODE_WORDS; i++)
            node[i] = (uint32_t)draw();
        words[3] = (words[3] & 0x01c003ff) | 8u << 28;
        memcpy(&ray, numbers, sizeof ray);
        wmi_bvh_decode(layouts[draw() % 4], words, &bvh);
        const bool there = wmi_node_bytes(&bvh, pointer) != 0;
        wmi_bvh_intersect(&bvh, pointer, &ray, there ? (const unsigned char *)node : NULL, result);
        for (unsigned i = 0; i < 4 && wmi_node_type(pointer) >= WMI_NODE_BOX_F16 && there; i++)
            assert_true(result[i] == (uint32_t)MISS || result[i] == node[0] || result[i] == node[1] ||
                        result[i] == node[2] || result[i] == node[3]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_captured_boxes),
        cmocka_unit_test(test_captured_order),
        cmocka_unit_test(test_captured_triangles),
        cmocka_unit_test(test_boxes),
        cmocka_unit_test(test_triangles),
        cmocka_unit_test(test_common_side),
        cmocka_unit_test(test_pointers),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_grow),
        cmocka_unit_test(test_flags),
        cmocka_unit_test(test_any),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
