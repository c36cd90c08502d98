/* SPDX-License-Identifier: MIT */
/* Bounding volume hierarchies.
 *
 * Sources: RDNA 2, 3 and 4 ISA, "Ray Tracing" (T#, results); PAL, sq_bvh_rsrc_t (which generation has which
 * field); AMD's GPURT, IntersectCommon.hlsl (nodes, and what its software does in place of the instruction);
 * yoshou/amdgpu-sim, tests of VIMAGE (results of image_bvh64_intersect_ray on a gfx12 GPU: misses keep
 * denominator and barycentrics, vertices are moved to the origin first). Approximate: sums of triangles are
 * exact here to f64, boxes are rounded as in GPURT. Unverified: pointers beyond SIZE (ours return all ones),
 * NaNs in triangles (ours miss), that gfx10.3 and gfx11 miss as gfx12 does, pointer flags. */
#include "memory/bvh.h"

#include "arithmetic/float_bits.h"
#include "memory/format.h"

#include <math.h>
#include <string.h>

enum { CHILDREN = 4, AXES = 3, BOUNDS = 2 * AXES, INVALID = -1 };

/* ---- the T# ---- */

enum field {
    BASE_ADDRESS,
    SORT_TRIANGLES_FIRST,
    BOX_SORTING_HEURISTIC,
    BOX_GROW_VALUE,
    BOX_SORT_EN,
    SIZE,
    COMPRESSED_FORMAT_EN,
    BOX_NODE_64B,
    INSTANCE_EN,
    POINTER_FLAGS,
    TRIANGLE_RETURN_MODE,
    TYPE,
    FIELDS,
};

enum {
    G12 = 1 << WMI_LAYOUT_GFX1200,
    G11_12 = G12 | 1 << WMI_LAYOUT_GFX1100,
    G10_12 = G11_12 | 1 << WMI_LAYOUT_GFX1010 | 1 << WMI_LAYOUT_GFX1030,
};

static const struct wmi_descriptor_field fields[FIELDS] = {
    [BASE_ADDRESS] = {"BASE_ADDRESS", G10_12, 0, 40, WMI_MEANING_ADDRESS_256},
    [SORT_TRIANGLES_FIRST] = {"SORT_TRIANGLES_FIRST", G12, 52, 1, WMI_MEANING_FLAG},
    [BOX_SORTING_HEURISTIC] = {"BOX_SORTING_HEURISTIC", G11_12, 53, 2, WMI_MEANING_NUMBER},
    [BOX_GROW_VALUE] = {"BOX_GROW_VALUE", G10_12, 55, 8, WMI_MEANING_NUMBER},
    [BOX_SORT_EN] = {"BOX_SORT_EN", G10_12, 63, 1, WMI_MEANING_FLAG},
    [SIZE] = {"SIZE", G10_12, 64, 42, WMI_MEANING_MINUS_1},
    [COMPRESSED_FORMAT_EN] = {"COMPRESSED_FORMAT_EN", G12, 115, 1, WMI_MEANING_FLAG},
    [BOX_NODE_64B] = {"BOX_NODE_64B", G12, 116, 1, WMI_MEANING_FLAG},
    [INSTANCE_EN] = {"INSTANCE_EN", G12, 118, 1, WMI_MEANING_FLAG},
    [POINTER_FLAGS] = {"POINTER_FLAGS", G11_12, 119, 1, WMI_MEANING_FLAG},
    [TRIANGLE_RETURN_MODE] = {"TRIANGLE_RETURN_MODE", G10_12, 120, 1, WMI_MEANING_FLAG},
    [TYPE] = {"TYPE", G10_12, 124, 4, WMI_MEANING_NUMBER},
};

static const char *refusal(const uint64_t value[FIELDS])
{
    enum { BVH = 8 };
    if (value[TYPE] != BVH)
        return "a T# whose TYPE is not 8, that of a BVH";
    if (value[COMPRESSED_FORMAT_EN])
        return "a BVH with COMPRESSED_FORMAT_EN, whose nodes wavemem does not know";
    if (value[BOX_NODE_64B])
        return "a BVH with BOX_NODE_64B, whose nodes wavemem does not know";
    if (value[INSTANCE_EN])
        return "a BVH with INSTANCE_EN, whose nodes wavemem does not know";
    return NULL;
}

void wmi_bvh_decode(enum wmi_descriptor_layout layout, const uint32_t words[4], struct wmi_bvh *bvh)
{
    uint64_t value[FIELDS];
    for (unsigned i = 0; i < FIELDS; i++)
        value[i] = fields[i].layouts >> layout & 1 ? wmi_field_get(&fields[i], words) : 0;
    *bvh = (struct wmi_bvh){
        .refused = refusal(value),
        .base = value[BASE_ADDRESS] << 8,
        .last = value[SIZE],
        .grow = (uint8_t)value[BOX_GROW_VALUE],
        .order = (uint8_t)value[BOX_SORTING_HEURISTIC],
        .sorts = value[BOX_SORT_EN],
        .triangles_first = value[SORT_TRIANGLES_FIRST],
        .barycentrics = value[TRIANGLE_RETURN_MODE],
        .flags = value[POINTER_FLAGS],
    };
}

/* ---- pointers ---- */

/* Bits of a pointer above the address. Source: GPURT, NODE_POINTER_*_SHIFT. */
enum {
    FORCE_OPAQUE = 1 << 0,
    FORCE_NON_OPAQUE = 1 << 1,
    DISABLE_TRIANGLE_CULL = 1 << 2,
    FLIP_FACEDNESS = 1 << 3,
    CULL_BACK_FACING = 1 << 4,
    CULL_FRONT_FACING = 1 << 5,
    CULL_OPAQUE = 1 << 6,
    CULL_NON_OPAQUE = 1 << 7,
    SKIP_TRIANGLES = 1 << 8,
    SKIP_PROCEDURAL = 1 << 9,
    FLAGS_SHIFT = 54,
};

static unsigned flags_of(const struct wmi_bvh *bvh, uint64_t pointer)
{
    return bvh->flags ? (unsigned)(pointer >> FLAGS_SHIFT) : 0;
}

static uint64_t number_of(uint64_t pointer)
{
    enum { BITS = 42 };
    return pointer >> 3 & ((1ULL << BITS) - 1);
}

unsigned wmi_node_bytes(const struct wmi_bvh *bvh, uint64_t pointer)
{
    if (wmi_node_type(pointer) >= WMI_NODE_USER_0 || number_of(pointer) > bvh->last)
        return 0;
    return wmi_node_type(pointer) == WMI_NODE_BOX_F32 ? WMI_NODE_BYTES : WMI_NODE_UNIT;
}

uint64_t wmi_node_address(const struct wmi_bvh *bvh, uint64_t pointer)
{
    return bvh->base + number_of(pointer) * WMI_NODE_UNIT;
}

static uint32_t word_at(const unsigned char *node, unsigned byte)
{
    uint32_t word;
    memcpy(&word, node + byte, sizeof word);
    return word;
}

/* ---- boxes ---- */

struct child {
    uint32_t pointer;
    float key; /* children with smaller ones come first */
};

/* Whether the ray meets the box; sets the child's key. Rounds as GPURT's fast_intersect_bbox(): f32, and a
 * distance that is no number does not count, as for a ray within a side. */
static bool meets_box(const struct wmi_bvh *bvh, const struct wmi_ray *ray, const float bounds[BOUNDS],
                      float *key)
{
    float enter = NAN, leave = NAN;
    for (unsigned i = 0; i < AXES; i++) {
        const float low = (bounds[i] - ray->origin[i]) * ray->inverse[i],
                    high = (bounds[AXES + i] - ray->origin[i]) * ray->inverse[i];
        const bool up = ray->inverse[i] >= 0;
        enter = fmaxf(enter, up ? low : high);
        leave = fminf(leave, up ? high : low);
    }
    const bool unknown = isnan(enter) || isnan(leave);
    const float from = unknown ? INFINITY : fmaxf(enter, 0),
                to = unknown ? -INFINITY : fminf(leave, ray->extent);
    enter = isnan(enter) ? 0 : enter;
    leave = isnan(leave) ? INFINITY : leave;
    *key = bvh->order == WMI_BVH_LARGEST ? from - to : bvh->order == WMI_BVH_MIDPOINT ? enter + leave : from;
    return from <= to * (1 + (float)bvh->grow * 0x1p-24f);
}

/* Whether the flags of the pointer cull the child. Source: GPURT, IsChildEarlyCulled(). box: the child's own
 * flags. */
static bool culls_child(unsigned flags, unsigned box)
{
    enum { ONLY_OPAQUE = 1, ONLY_NON_OPAQUE = 2, ONLY_TRIANGLES = 4, ONLY_PROCEDURAL = 8 };
    const bool opaque = (box & ONLY_OPAQUE || flags & FORCE_OPAQUE) && !(flags & FORCE_NON_OPAQUE),
               other = (box & ONLY_NON_OPAQUE || flags & FORCE_NON_OPAQUE) && !(flags & FORCE_OPAQUE);
    return (opaque && flags & CULL_OPAQUE) || (other && flags & CULL_NON_OPAQUE) ||
           (box & ONLY_TRIANGLES && flags & SKIP_TRIANGLES) ||
           (box & ONLY_PROCEDURAL && flags & SKIP_PROCEDURAL);
}

static bool comes_first(const struct wmi_bvh *bvh, const struct child *a, const struct child *b)
{
    const bool triangle_a = wmi_node_type(a->pointer) <= WMI_NODE_TRIANGLE_3,
               triangle_b = wmi_node_type(b->pointer) <= WMI_NODE_TRIANGLE_3;
    if (a->pointer == (uint32_t)INVALID || b->pointer == (uint32_t)INVALID)
        return b->pointer == (uint32_t)INVALID;
    if (bvh->triangles_first && triangle_a != triangle_b)
        return triangle_a;
    return a->key < b->key;
}

/* The network decides about children with equal keys. Source: GPURT, IntersectNode(). */
static void sort_children(const struct wmi_bvh *bvh, struct child child[CHILDREN])
{
    static const uint8_t network[][2] = {{0, 2}, {1, 3}, {0, 1}, {2, 3}, {1, 2}};
    for (unsigned i = 0; i < sizeof network / sizeof *network; i++) {
        struct child *a = &child[network[i][0]], *b = &child[network[i][1]];
        if (comes_first(bvh, b, a)) {
            const struct child moved = *a;
            *a = *b;
            *b = moved;
        }
    }
}

static void intersect_box(const struct wmi_bvh *bvh, uint64_t pointer, const struct wmi_ray *ray,
                          const unsigned char *node, uint32_t result[CHILDREN])
{
    enum { FIRST_BOX = 4 * CHILDREN, BOX_FLAGS = FIRST_BOX + 4 * BOUNDS * CHILDREN };
    const bool half = wmi_node_type(pointer) == WMI_NODE_BOX_F16;
    const uint32_t box_flags = half ? 0 : word_at(node, BOX_FLAGS);
    struct child child[CHILDREN];
    for (unsigned i = 0; i < CHILDREN; i++) {
        float bounds[BOUNDS];
        for (unsigned k = 0; k < BOUNDS; k++) {
            const unsigned at = BOUNDS * i + k;
            bounds[k] = wmi_float_of_bits(
                half ? wmi_float_of_half(word_at(node, FIRST_BOX + at / 2 * 4) >> at % 2 * 16)
                     : word_at(node, FIRST_BOX + at * 4));
        }
        const bool met = meets_box(bvh, ray, bounds, &child[i].key) &&
                         !culls_child(flags_of(bvh, pointer), box_flags >> 8 * i & 0xff);
        child[i].pointer = met ? word_at(node, 4 * i) : (uint32_t)INVALID;
    }
    if (bvh->sorts)
        sort_children(bvh, child);
    for (unsigned i = 0; i < CHILDREN; i++)
        result[i] = child[i].pointer;
}

/* ---- triangles ---- */

/* d . (a x b): the volume that the direction and two vertices span. Swapping a and b changes nothing but the
 * sign, so a ray cannot pass between two triangles with a common side. */
static double volume(const float d[AXES], const double a[AXES], const double b[AXES])
{
    return (double)d[0] * (a[1] * b[2] - a[2] * b[1]) + (double)d[1] * (a[2] * b[0] - a[0] * b[2]) +
           (double)d[2] * (a[0] * b[1] - a[1] * b[0]);
}

static bool is_within(double part, double whole)
{
    return whole > 0 ? part >= 0 : part <= 0;
}

/* Whether the flags of the pointer cull a triangle. Source: GPURT, image_bvh64_intersect_ray_base(). */
static bool culls_triangle(unsigned flags, bool opaque, bool front)
{
    const bool is_opaque = flags & FORCE_OPAQUE || (opaque && !(flags & FORCE_NON_OPAQUE));
    return flags & SKIP_TRIANGLES || (is_opaque ? flags & CULL_OPAQUE : flags & CULL_NON_OPAQUE) ||
           (!(flags & DISABLE_TRIANGLE_CULL) && flags & (front ? CULL_FRONT_FACING : CULL_BACK_FACING));
}

static void intersect_triangle(const struct wmi_bvh *bvh, uint64_t pointer, const struct wmi_ray *ray,
                               const unsigned char *node, uint32_t result[4])
{
    enum { VERTEX = 12, TRIANGLE_ID = 60, OPAQUE = 1 << 7 };
    /* The vertices of the triangles of a node. Source: GPURT, CalcTriangleCompressionVertexOffsets(). */
    static const uint8_t vertices[4][3] = {{0, 1, 2}, {1, 3, 2}, {2, 3, 4}, {2, 4, 0}};
    const unsigned type = wmi_node_type(pointer), flags = flags_of(bvh, pointer);
    const uint32_t id = word_at(node, TRIANGLE_ID), own = id >> 8 * type & 0xff;
    double corner[3][AXES];
    for (unsigned i = 0; i < 3; i++)
        for (unsigned k = 0; k < AXES; k++)
            corner[i][k] = (double)(wmi_float_of_bits(word_at(node, VERTEX * vertices[type][i] + 4 * k)) -
                                    ray->origin[k]);
    double part[4] = {volume(ray->direction, corner[2], corner[1]),
                      volume(ray->direction, corner[0], corner[2]),
                      volume(ray->direction, corner[1], corner[0]), 0};
    double whole = part[0] + part[1] + part[2];
    double distance = corner[0][0] * (corner[2][1] * corner[1][2] - corner[2][2] * corner[1][1]) +
                      corner[0][1] * (corner[2][2] * corner[1][0] - corner[2][0] * corner[1][2]) +
                      corner[0][2] * (corner[2][0] * corner[1][1] - corner[2][1] * corner[1][0]);
    bool hit = (whole > 0 || whole < 0) && is_within(part[0], whole) && is_within(part[1], whole) &&
               is_within(part[2], whole) && is_within(distance, whole);
    if (flags & FLIP_FACEDNESS) {
        whole = -whole;
        distance = -distance;
    }
    hit = hit && !(bvh->flags && culls_triangle(flags, own & OPAQUE, whole >= 0));
    result[0] = wmi_bits_of_float(hit ? (float)distance : whole < 0 ? -INFINITY : INFINITY);
    result[1] = wmi_bits_of_float((float)whole);
    result[2] = bvh->barycentrics ? wmi_bits_of_float((float)part[own & 3]) : id;
    result[3] = bvh->barycentrics ? wmi_bits_of_float((float)part[own >> 2 & 3]) : hit;
}

void wmi_bvh_intersect(const struct wmi_bvh *bvh, uint64_t pointer, const struct wmi_ray *ray,
                       const unsigned char *node, uint32_t result[4])
{
    if (!node)
        memset(result, 0xff, 4 * sizeof *result);
    else if (wmi_node_type(pointer) >= WMI_NODE_BOX_F16)
        intersect_box(bvh, pointer, ray, node, result);
    else
        intersect_triangle(bvh, pointer, ray, node, result);
}
