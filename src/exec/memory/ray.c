/* SPDX-License-Identifier: MIT */
/* Intersections of rays with nodes of a BVH: reads each lane's ray and node.
 *
 * Source: RDNA 2, 3 and 4 ISA, "Ray Tracing", order of the address VGPRs; LLVM, image_bvh_intersect_ray in
 * SIISelLowering.cpp, that of 16-bit numbers. */
#include "memory/bvh.h"

#include "arithmetic/float_bits.h"
#include "arithmetic/host_float.h"
#include "exec/control/steps.h"
#include "exec/memory/careful.h"
#include "exec/memory/vmem.h"
#include "memory/format.h"

enum { AXES = 3, PIECE = 16, PIECES = WMI_NODE_BYTES / PIECE };

/* What one instruction intersects. */
struct casting {
    char *frame;
    const struct wmi_op *op;
    struct wmi_bvh bvh;
    uint64_t lanes; /* EXEC */
};

static struct casting begin(char *frame, const struct wmi_op *op)
{
    const struct wmi_memory_op *m = op->data;
    struct casting c = {.frame = frame, .op = op};
    uint32_t words[4];
    memcpy(words, frame + op->b, sizeof words);
    wmi_bvh_decode(m->image->layout, words, &c.bvh);
    c.lanes = ((const struct wmi_lanes *)(frame + op->lanes))->bits;
    return c;
}

/* ---- registers ---- */

static uint32_t word_of(const struct casting *c, unsigned lane, unsigned index)
{
    const struct wmi_memory_op *m = c->op->data;
    return wmi_row_at(c->frame, c->op->a, m->address[index])[lane];
}

static uint64_t pointer_of(const struct casting *c, unsigned lane)
{
    const struct wmi_memory_op *m = c->op->data;
    const uint64_t high = m->parameter & WMI_RAY_WIDE ? word_of(c, lane, 1) : 0;
    return word_of(c, lane, 0) | high << 32;
}

static struct wmi_ray ray_of(const struct casting *c, unsigned lane)
{
    const struct wmi_memory_op *m = c->op->data;
    unsigned next = m->parameter & WMI_RAY_WIDE ? 2 : 1;
    struct wmi_ray ray = {.extent = wmi_float_of_bits(word_of(c, lane, next++))};
    for (unsigned i = 0; i < AXES; i++)
        ray.origin[i] = wmi_float_of_bits(word_of(c, lane, next++));
    for (unsigned i = 0; i < 2 * AXES; i++) {
        float *const to = i < AXES ? &ray.direction[i] : &ray.inverse[i - AXES];
        const unsigned half = m->parameter & WMI_RAY_PAIRS ? 2 * (i % AXES) + i / AXES : i;
        *to = wmi_float_of_bits(m->parameter & WMI_RAY_HALVES
                                    ? wmi_float_of_half(word_of(c, lane, next + half / 2) >> half % 2 * 16)
                                    : word_of(c, lane, next + i));
    }
    return ray;
}

/* ---- the steps ---- */

static const struct wmi_op *refuse(const struct casting *c)
{
    const struct wmi_memory_op *m = c->op->data;
    const struct wmi_fault fault = {.kind = WM_FAULT_RESOURCE,
                                    .pc = m->pc,
                                    .detail = c->bvh.refused,
                                    .lanes = c->lanes,
                                    .bytes = WMI_NODE_UNIT};
    wmi_wave_fault(wmi_wave_of(c->frame), &fault);
    return NULL;
}

/* Finds the nodes of all lanes in memory. Whether the run goes on; nodes outside memory then do not exist. */
static bool find_nodes(const struct casting *c, const unsigned char *node[64])
{
    const struct wmi_memory_op *m = c->op->data;
    const struct wmi_worker *worker = wmi_wave_of(c->frame)->worker;
    struct wmi_hit *hit = (struct wmi_hit *)&worker->hits[m->hit];
    uint64_t outside = 0;
    for (uint64_t left = c->lanes; left;) {
        const unsigned lane = wmi_take_lane(&left);
        const uint64_t pointer = pointer_of(c, lane);
        const unsigned bytes = wmi_node_bytes(&c->bvh, pointer);
        node[lane] = bytes ? wmi_vmem_reach(worker, hit, wmi_node_address(&c->bvh, pointer), bytes) : NULL;
        if (bytes && !node[lane])
            outside |= 1ULL << lane;
    }
    if (!outside)
        return true;
    const struct wmi_refused_lanes cause = {WM_FAULT_MEMORY, outside, false};
    struct wmi_fault fault = wmi_fault_of(m, &cause, 1, WMI_NODE_UNIT);
    for (uint64_t left = fault.lanes; left;) {
        const uint64_t pointer = pointer_of(c, wmi_take_lane(&left));
        wmi_fault_reaches(&fault, wmi_node_address(&c->bvh, pointer), wmi_node_bytes(&c->bvh, pointer));
    }
    return wmi_wave_violates(wmi_wave_of(c->frame), &fault);
}

const struct wmi_op *wmi_step_ray(char *restrict frame, const struct wmi_op *op)
{
    const struct casting c = begin(frame, op);
    const unsigned char *node[64];
    if (c.bvh.refused && c.lanes)
        return refuse(&c);
    if (!find_nodes(&c, node))
        return NULL;
    const uint32_t mode = wmi_host_float_get();
    wmi_host_float_set(wmi_host_float_word(0, 3));
    for (uint64_t left = c.lanes; left;) {
        const unsigned lane = wmi_take_lane(&left);
        const struct wmi_ray ray = ray_of(&c, lane);
        uint32_t result[4];
        wmi_bvh_intersect(&c.bvh, pointer_of(&c, lane), &ray, node[lane], result);
        for (unsigned i = 0; i < 4; i++)
            wmi_row_at(frame, op->d, i)[lane] = result[i];
    }
    wmi_host_float_set(mode);
    return op + 1;
}

/* Each 16 bytes of a node are an element of the access. */
const struct wmi_op *wmi_step_ray_watch(char *restrict frame, const struct wmi_op *op)
{
    static_assert((int)PIECES <= (int)WMI_ACCESS_ELEMENTS, "an element for each piece");
    const struct casting c = begin(frame, op);
    const struct wmi_memory_op *m = op->data;
    const struct wmi_wave *wave = wmi_wave_of(frame);
    uint64_t address[PIECES][64];
    struct wmi_access access;
    if (c.bvh.refused)
        return op + 1; /* the next step faults */
    wmi_access_begin(&access, m, wave, c.lanes);
    access.bytes = PIECE;
    memset(access.element, 0, sizeof access.element);
    for (uint64_t left = c.lanes; left;) {
        const unsigned lane = wmi_take_lane(&left);
        const uint64_t pointer = pointer_of(&c, lane);
        const unsigned pieces = wmi_node_bytes(&c.bvh, pointer) / PIECE;
        for (unsigned i = 0; i < pieces; i++) {
            for (; access.elements <= i; access.elements++)
                access.element[access.elements] =
                    (struct wmi_element){.space = WMI_SPACE_GLOBAL, .address = address[access.elements]};
            access.element[i].mask |= 1ULL << lane;
            address[i][lane] = wmi_node_address(&c.bvh, pointer) + i * PIECE;
        }
    }
    wmi_show_access(wave, m, &access);
    return op + 1;
}
