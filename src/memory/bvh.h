/* SPDX-License-Identifier: MIT */
/* Bounding volume hierarchies: decoding of their T#, and what a ray meets in a node.
 *
 * Pure functions of the descriptor, the ray and the bytes of a node. */
#ifndef WMI_BVH_H
#define WMI_BVH_H

#include "memory/descriptor.h"

/* The type of a node, the low three bits of its pointer. Source: AMD's GPURT, NODE_TYPE_*. */
enum wmi_node_type {
    WMI_NODE_TRIANGLE_0, /* one of up to four triangles that share vertices */
    WMI_NODE_TRIANGLE_3 = 3,
    WMI_NODE_BOX_F16,
    WMI_NODE_BOX_F32,
    WMI_NODE_USER_0, /* instances and procedural geometry, which software handles */
    WMI_NODE_USER_1,
};

enum { WMI_NODE_UNIT = 64, WMI_NODE_BYTES = 128 /* of the largest node */ };

/* The order in which the children of a box are returned. */
enum wmi_bvh_order { WMI_BVH_CLOSEST, WMI_BVH_LARGEST, WMI_BVH_MIDPOINT };

struct wmi_bvh {
    const char *refused; /* why wavemem cannot use it; or NULL */
    uint64_t base;       /* bytes */
    uint64_t last;       /* number of the last node */
    uint8_t grow;        /* ulps by which the far side of boxes is moved */
    uint8_t order;       /* enum wmi_bvh_order */
    bool sorts;
    bool triangles_first; /* before boxes */
    bool barycentrics;    /* of triangles, instead of number and status */
    bool flags;           /* bits 54 to 63 of pointers say what is culled */
};

struct wmi_ray {
    float extent, origin[3], direction[3], inverse[3];
};

void wmi_bvh_decode(enum wmi_descriptor_layout layout, const uint32_t words[4], struct wmi_bvh *bvh);

static inline enum wmi_node_type wmi_node_type(uint64_t pointer)
{
    return (enum wmi_node_type)(pointer & 7);
}

/* Bytes that the instruction reads of a node; 0: none, because software handles it or the BVH has no such
 * node. */
unsigned wmi_node_bytes(const struct wmi_bvh *bvh, uint64_t pointer);
uint64_t wmi_node_address(const struct wmi_bvh *bvh, uint64_t pointer);

/* The result: of a box the pointers of the children that the ray meets, of a triangle numerator and
 * denominator of the distance, and barycentric coordinates (times the denominator) or number and status.
 * node: its bytes; NULL if there are none. */
void wmi_bvh_intersect(const struct wmi_bvh *bvh, uint64_t pointer, const struct wmi_ray *ray,
                       const unsigned char *node, uint32_t result[4]);

#endif
