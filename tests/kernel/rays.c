/* SPDX-License-Identifier: MIT */
/* Runs traversals of a BVH that clang compiled through its builtins, against all triangles tried in f64.
 *
 * usage: rays RAYS.co
 *
 * Nodes are laid out as in AMD's GPURT (Float32BoxNode, Float16BoxNode, TriangleNode), the T# as in RDNA 2
 * and 3 ISA, "Ray Tracing". */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <math.h>

#include <wavemem/wavemem.h>

#include "base/random.h"
#include "open_object.h"

enum { TRIANGLES = 300, RAYS = 256, NODE = 64, NODES = 2 * TRIANGLES, NONE = -1 };
enum { TRIANGLE_0, BOX_16 = 4, BOX_32 };

/* Distances and coordinates are up to 20, and f32 has 24 bits. */
#define BOUND 1e-4

struct triangle {
    float vertex[3][3];
    uint32_t pointer; /* of its node */
};

struct hit {
    float distance;
    uint32_t node;
    float i, j;
};

static struct wm_object *object;
static struct wm_machine *machine;
static const char *target;
static uint64_t drawn;
static struct triangle triangles[TRIANGLES];
static unsigned char nodes[NODES * NODE];
static uint32_t used; /* units of 64 bytes */

static float draw_number(void)
{
    return (float)((double)(wmi_random_bits(123, drawn++) >> 40) * 0x1p-23 - 1);
}

/* ---- the tree ---- */

static void bounds_of(unsigned first, unsigned count, float box[6])
{
    for (unsigned k = 0; k < 3; k++) {
        box[k] = INFINITY;
        box[3 + k] = -INFINITY;
        for (unsigned i = 3 * first; i < 3 * (first + count); i++) {
            box[k] = fminf(box[k], triangles[i / 3].vertex[i % 3][k]);
            box[3 + k] = fmaxf(box[3 + k], triangles[i / 3].vertex[i % 3][k]);
        }
    }
}

static unsigned axis; /* for compare() */

static int compare(const void *a, const void *b)
{
    const float x = ((const struct triangle *)a)->vertex[0][axis],
                y = ((const struct triangle *)b)->vertex[0][axis];
    return (x > y) - (x < y);
}

static uint32_t make_triangle(struct triangle *t)
{
    enum { I_1_J_2 = 1 | 2 << 2 };
    unsigned char *node = nodes + used * NODE;
    memcpy(node, t->vertex, sizeof t->vertex);
    node[60] = I_1_J_2;
    t->pointer = used++ << 3 | TRIANGLE_0;
    return t->pointer;
}

/* f16 that is not above (below) x. */
static _Float16 outward(float x, bool up)
{
    const _Float16 near = (_Float16)x;
    uint16_t bits;
    memcpy(&bits, &near, 2);
    if (up ? (float)near < x : (float)near > x)
        bits += (bits >> 15) == up ? -1 : 1;
    _Float16 result;
    memcpy(&result, &bits, 2);
    return result;
}

/* Children that a box does not have get a box without an inside. */
static uint32_t make_tree(unsigned first, unsigned count, unsigned depth)
{
    if (count == 1)
        return make_triangle(&triangles[first]);
    const unsigned type = depth % 2 ? BOX_16 : BOX_32;
    unsigned char *node = nodes + used * NODE;
    const uint32_t pointer = used << 3 | type;
    used += type == BOX_32 ? 2 : 1;
    axis = depth % 3;
    qsort(triangles + first, count, sizeof *triangles, compare);
    for (unsigned i = 0; i < 4; i++) {
        const unsigned begin = first + count * i / 4, end = first + count * (i + 1) / 4;
        float box[6] = {NAN, NAN, NAN, NAN, NAN, NAN};
        uint32_t child = (uint32_t)NONE;
        if (begin < end) {
            bounds_of(begin, end - begin, box);
            child = make_tree(begin, end - begin, depth + 1);
        }
        memcpy(node + 4 * i, &child, 4);
        for (unsigned k = 0; k < 6; k++) {
            const _Float16 half = isnan(box[k]) ? (_Float16)NAN : outward(box[k], k >= 3);
            if (type == BOX_32)
                memcpy(node + 16 + 24 * i + 4 * k, &box[k], 4);
            else
                memcpy(node + 16 + 12 * i + 2 * k, &half, 2);
        }
    }
    return pointer;
}

static uint32_t make_scene(void)
{
    for (unsigned t = 0; t < TRIANGLES; t++) {
        float center[3];
        for (unsigned k = 0; k < 3; k++)
            center[k] = 4 * draw_number();
        for (unsigned i = 0; i < 9; i++)
            triangles[t].vertex[i / 3][i % 3] = center[i % 3] + draw_number();
    }
    used = 0;
    memset(nodes, 0, sizeof nodes);
    return make_tree(0, TRIANGLES, 0);
}

/* ---- the reference ---- */

/* Distance, coordinates, and how far the ray is from the next side, negative outside. */
static double solve(const float ray[12], const struct triangle *t, double *u, double *v, double *margin)
{
    double m[3][4];
    for (unsigned k = 0; k < 3; k++) {
        m[k][0] = -(double)ray[4 + k];
        m[k][1] = (double)t->vertex[1][k] - (double)t->vertex[0][k];
        m[k][2] = (double)t->vertex[2][k] - (double)t->vertex[0][k];
        m[k][3] = (double)ray[k] - (double)t->vertex[0][k];
    }
#define DETERMINANT(i, j, k)                                                                                 \
    (m[0][i] * (m[1][j] * m[2][k] - m[1][k] * m[2][j]) - m[0][j] * (m[1][i] * m[2][k] - m[1][k] * m[2][i]) + \
     m[0][k] * (m[1][i] * m[2][j] - m[1][j] * m[2][i]))
    const double whole = DETERMINANT(0, 1, 2);
    *u = DETERMINANT(0, 3, 2) / whole;
    *v = DETERMINANT(0, 1, 3) / whole;
    const double distance = DETERMINANT(3, 1, 2) / whole;
    *margin = fmin(fmin(*u, *v), fmin(1 - *u - *v, distance)) * fmin(1, fabs(whole));
    return distance;
}

/* Triangles that are hit by less than BOUND, and distances that differ by less, may be taken or left. */
static unsigned check_ray(const char *kernel, const float ray[12], const struct hit *hit)
{
    double surely = (double)ray[3], u, v, margin;
    bool found = hit->node == (uint32_t)NONE;
    for (unsigned t = 0; t < TRIANGLES; t++) {
        const double distance = solve(ray, &triangles[t], &u, &v, &margin);
        if (margin > BOUND && distance < surely)
            surely = distance;
        if (triangles[t].pointer != hit->node)
            continue;
        found = true;
        if (margin < -BOUND ||
            fabs(distance - (double)hit->distance) > BOUND * (1 + distance) / (margin + BOUND) ||
            fabs(u - (double)hit->i) > BOUND / (margin + BOUND) ||
            fabs(v - (double)hit->j) > BOUND / (margin + BOUND))
            fail_msg("%s %s: triangle at %g (%g, %g), expected %g (%g, %g)", target, kernel,
                     (double)hit->distance, (double)hit->i, (double)hit->j, distance, u, v);
    }
    if (!found)
        fail_msg("%s %s: no triangle has node %x", target, kernel, hit->node);
    if ((double)hit->distance > surely * (1 + BOUND) + BOUND)
        fail_msg("%s %s: hit at %g, but there is one at %g", target, kernel, (double)hit->distance, surely);
    return hit->node != (uint32_t)NONE;
}

/* ---- runs ---- */

static uint64_t put(const void *data, size_t size)
{
    uint64_t address;
    assert_int_equal(wm_allocate(machine, size, 0, "data", &address, NULL), WM_OK);
    assert_int_equal(wm_write(machine, address, data, size, NULL), WM_OK);
    return address;
}

/* halves: directions and their inverses are rounded to f16, and the reference uses what comes out. */
static void draw_rays(float rays[RAYS][12], bool halves)
{
    for (unsigned i = 0; i < RAYS; i++) {
        float *origin = rays[i], *direction = rays[i] + 4, *inverse = rays[i] + 8;
        for (unsigned k = 0; k < 3; k++) {
            origin[k] = 6 * draw_number();
            do
                direction[k] = draw_number();
            while (fabsf(direction[k]) < 0.05f);
            if (halves) /* a power of two, whose inverse is exact, too */
                direction[k] = copysignf(exp2f(roundf(4 * draw_number())), direction[k]);
            inverse[k] = 1 / direction[k];
        }
        origin[3] = i % 8 ? INFINITY : 2;
        direction[3] = inverse[3] = 0;
    }
}

static void traverse(const char *kernel, bool wide, const float rays[RAYS][12])
{
    const uint32_t root = make_scene();
    uint64_t tree;
    assert_int_equal(wm_allocate(machine, sizeof nodes + 256, 0, "tree", &tree, NULL), WM_OK);
    tree = (tree + 255) / 256 * 256;
    assert_int_equal(wm_write(machine, tree, nodes, sizeof nodes, NULL), WM_OK);
    const uint64_t last = wide ? (1ULL << 42) - 1 : used - 1, begin = wide ? 0 : tree >> 8;
    struct {
        uint64_t rays, out;
        uint32_t bvh[4];
        uint64_t base;
        uint32_t root, more;
    } arguments = {
        .rays = put(rays, RAYS * 48),
        .out = put((struct hit[RAYS]){{0}}, RAYS * sizeof(struct hit)),
        .bvh = {(uint32_t)begin, (uint32_t)(begin >> 32) | 1u << 31 | 6 << 23, (uint32_t)last,
                (uint32_t)(last >> 32) | 1u << 24 | 8u << 28},
        .base = tree,
        .root = root,
    };
    const struct wm_kernel *found;
    struct wm_diag diag;
    struct wm_result result = {.struct_size = sizeof result};
    const struct wm_dispatch dispatch = {.struct_size = sizeof dispatch,
                                         .grid = {RAYS},
                                         .workgroup = {64},
                                         .arguments = &arguments,
                                         .arguments_size = sizeof arguments,
                                         .threads = 1};
    assert_int_equal(wm_object_find_kernel(object, kernel, &found, &diag), WM_OK);
    if (wm_dispatch(machine, object, found, &dispatch, &result, &diag) != WM_OK)
        fail_msg("%s: %s", kernel, diag.message);
    if (result.fault.kind != WM_FAULT_NONE)
        fail_msg("%s: %s", kernel, result.fault.text);
    const struct hit *hits = wm_host_pointer(machine, arguments.out, RAYS * sizeof(struct hit));
    unsigned count = 0;
    for (unsigned i = 0; i < RAYS; i++)
        count += check_ray(kernel, rays[i], &hits[i]);
    assert_true(count > RAYS / 8 && count < RAYS);
}

static void test_traversals(void **state)
{
    static const struct {
        const char *name;
        bool wide, halves, may_lack;
    } kernels[] = {{"narrow", false, false, false},
                   {"narrow_half", false, true, false},
                   {"wide", true, false, false},
                   {"wide_half", true, true, false},
                   {"stacked", false, false, true}}; /* gfx11 */
    (void)state;
    for (unsigned i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        float rays[RAYS][12];
        struct wm_diag diag;
        const struct wm_kernel *kernel;
        if (kernels[i].may_lack && wm_object_find_kernel(object, kernels[i].name, &kernel, &diag) != WM_OK) {
            assert_null(strstr(target, "gfx11"));
            continue;
        }
        if (wm_machine_create(target, &machine, &diag) != WM_OK || wm_load(machine, object, &diag) != WM_OK)
            fail_msg("%s", diag.message);
        draw_rays(rays, kernels[i].halves);
        traverse(kernels[i].name, kernels[i].wide, (const float(*)[12])rays);
        wm_machine_destroy(machine);
    }
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_traversals)};
    object = open_object(count, arguments, "rays RAYS.co");
    target = wm_object_target(object);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    wm_object_close(object);
    return failed;
}
