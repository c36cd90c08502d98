/* SPDX-License-Identifier: MIT */
/* Traversals of a BVH with four children per box, for tests/kernel/rays.c. */

/* What a work-item found: the distance, the pointer of the triangle's node, two barycentric coordinates. */
struct hit {
    float distance;
    uint node;
    float i, j;
};

#define NONE 0xffffffffu

static void meet(struct hit *best, uint node, uint4 result)
{
    const float distance = as_float(result.x) / as_float(result.y);
    if (distance < best->distance)
        *best = (struct hit){distance, node, as_float(result.z) / as_float(result.y),
                             as_float(result.w) / as_float(result.y)};
}

/* rays: origin and extent, direction, inverse direction. pointer: the 32 or 64 bits that name a node. */
#define TRAVERSAL(name, intersect, vector, convert, pointer)                                                 \
    kernel void name(global const float4 *rays, global struct hit *out, uint4 bvh, ulong base, uint root)    \
    {                                                                                                        \
        const uint item = get_global_id(0);                                                                  \
        const float4 origin = rays[3 * item];                                                                \
        const vector direction = convert(rays[3 * item + 1]), inverse = convert(rays[3 * item + 2]);         \
        struct hit best = {origin.w, NONE, 0, 0};                                                            \
        uint stack[64], depth = 0;                                                                           \
        stack[depth++] = root;                                                                               \
        while (depth) {                                                                                      \
            const uint node = stack[--depth];                                                                \
            const uint4 result = intersect(pointer, best.distance, origin, direction, inverse, bvh);         \
            if ((node & 7) < 4) {                                                                            \
                meet(&best, node, result);                                                                   \
                continue;                                                                                    \
            }                                                                                                \
            const uint child[4] = {result.w, result.z, result.y, result.x};                                  \
            for (uint i = 0; i < 4; i++)                                                                     \
                if (child[i] != NONE)                                                                        \
                    stack[depth++] = child[i];                                                               \
        }                                                                                                    \
        out[item] = best;                                                                                    \
    }

TRAVERSAL(narrow, __builtin_amdgcn_image_bvh_intersect_ray, float4, (float4), node)
TRAVERSAL(narrow_half, __builtin_amdgcn_image_bvh_intersect_ray_h, half4, convert_half4, node)
TRAVERSAL(wide, __builtin_amdgcn_image_bvh_intersect_ray_l, float4, (float4), (base >> 3) + node)
TRAVERSAL(wide_half, __builtin_amdgcn_image_bvh_intersect_ray_lh, half4, convert_half4, (base >> 3) + node)

#if defined(__GFX11__)
/* The same with stacks in LDS: 64 entries of each lane, 32 dwords apart. The last node, at which the instruction stops
 * to push, is none of the tree; NONE would be the same as a child that was missed (RDNA 3 ISA, DS_BVH_STACK_RTN_B32). */
kernel __attribute__((reqd_work_group_size(64, 1, 1))) void
stacked(global const float4 *rays, global struct hit *out, uint4 bvh, ulong base, uint root)
{
    local uint stacks[64 * 64];
    const uint item = get_global_id(0), lane = get_local_id(0);
    const float4 origin = rays[3 * item], direction = rays[3 * item + 1], inverse = rays[3 * item + 2];
    struct hit best = {origin.w, NONE, 0, 0};
    for (uint i = 0; i < 64; i++)
        stacks[64 * i + lane] = NONE;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint place = ((uint)(uintptr_t)stacks / 4 + lane % 32 + lane / 32 * 32 * 64) << 18;
    for (uint node = root; node != NONE;) {
        uint4 result = __builtin_amdgcn_image_bvh_intersect_ray(node, best.distance, origin, direction, inverse, bvh);
        if ((node & 7) < 4) {
            meet(&best, node, result);
            result = (uint4)(NONE);
        }
        const uint2 next = __builtin_bit_cast(uint2, __builtin_amdgcn_ds_bvh_stack_rtn(place, NONE - 1, result.wzyx, 0x3000));
        node = next.x;
        place = next.y;
    }
    out[item] = best;
}
#endif
