/* SPDX-License-Identifier: MIT */
/* ds_bvh_stack_rtn_b32: per-lane stacks in LDS for BVH traversal.
 *
 * Sources: RDNA 3 ISA, DS_BVH_STACK_RTN_B32 (what is pushed and popped); Mesa, radv_build_bvh_stack_rtn_addr
 * (ADDR: [17:0] the index, [31:18] the base in dwords; entries of a lane are 32 dwords apart). Unverified: a
 * pop decrements the index before it reads (the document gives the reverse order, which would read past the
 * pushed entries), the index wraps at the stack's size, and the invalid node is all ones, as in Mesa. */
#include "exec/control/steps.h"
#include "exec/memory/careful.h"

#include <string.h>

enum { ENTRY_STRIDE = 32 * 4, INVALID_NODE = -1, NODES = 4, INDEX_BITS = 18 };

struct stack {
    unsigned char *lds;
    uint32_t lds_size, base, index, size;
};

static struct stack stack_of(const char *frame, const struct wmi_op *op, uint32_t addr)
{
    const struct wmi_workgroup *group = wmi_wave_of(frame)->group;
    const uint32_t size = op->y, index = addr & ((1u << INDEX_BITS) - 1);
    return (struct stack){group->lds, group->lds_size, addr >> INDEX_BITS << 2, index % size, size};
}

static uint32_t place_of(const struct stack *s)
{
    return s->base + s->index * ENTRY_STRIDE;
}

static bool in_range(const struct stack *s)
{
    return s->lds_size >= 4 && place_of(s) <= s->lds_size - 4;
}

static void push(struct stack *s, uint32_t node)
{
    if (in_range(s))
        memcpy(s->lds + place_of(s), &node, sizeof node);
    s->index = (s->index + 1) % s->size;
}

static uint32_t pop(struct stack *s)
{
    const uint32_t invalid = (uint32_t)INVALID_NODE;
    uint32_t node = 0; /* out of range */
    s->index = (s->index + s->size - 1) % s->size;
    if (in_range(s)) {
        memcpy(&node, s->lds + place_of(s), sizeof node);
        memcpy(s->lds + place_of(s), &invalid, sizeof invalid);
    }
    return node;
}

static bool is_valid(uint32_t node, uint32_t last)
{
    return node != (uint32_t)INVALID_NODE && !(last != (uint32_t)INVALID_NODE && node == last);
}

/* Mask of a lane's first three nodes that are pushed; stops at the node visited last. */
static unsigned pushed(const uint32_t *nodes, unsigned size, uint32_t last)
{
    unsigned which = 0;
    for (unsigned i = 0; i < NODES - 1; i++) {
        const uint32_t node = nodes[i * size];
        if (is_valid(node, last))
            which |= 1u << i;
        else if (node == last)
            break;
    }
    return which;
}

/* d: result; a: ADDR, read and written; b: last node; c: four nodes; y: entries per stack. */
const struct wmi_op *wmi_step_lds_stack(char *restrict frame, const struct wmi_op *op)
{
    const struct wmi_frame *f = (const struct wmi_frame *)frame;
    const unsigned size = f->wave_size;
    uint32_t *addr = (uint32_t *)(frame + op->a), *result = (uint32_t *)(frame + op->d);
    const uint32_t *last = (const uint32_t *)(frame + op->b), *nodes = (const uint32_t *)(frame + op->c);
    for (uint64_t left = f->exec.bits; left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctzll(left);
        struct stack s = stack_of(frame, op, addr[lane]);
        const uint32_t base = addr[lane] >> INDEX_BITS << INDEX_BITS, visited = last[lane];
        const uint32_t fourth = nodes[(NODES - 1) * size + lane];
        for (unsigned which = pushed(nodes + lane, size, visited); which; which &= which - 1)
            push(&s, nodes[(unsigned)__builtin_ctz(which) * size + lane]);
        result[lane] = is_valid(fourth, visited) ? fourth : pop(&s);
        addr[lane] = base | s.index;
    }
    return op + 1;
}

/* Places 0 to 2 are pushes, place 3 is the pop. */
const struct wmi_op *wmi_step_lds_watch_stack(char *restrict frame, const struct wmi_op *op)
{
    const struct wmi_frame *f = (const struct wmi_frame *)frame;
    const struct wmi_memory_op *m = op->data;
    const struct wmi_wave *wave = wmi_wave_of(frame);
    const unsigned size = f->wave_size;
    const uint32_t *addr = (const uint32_t *)(frame + op->a), *last = (const uint32_t *)(frame + op->b);
    const uint32_t *nodes = (const uint32_t *)(frame + op->c);
    uint64_t address[NODES][64];
    struct wmi_access access = {
        .pc = m->pc,
        .workgroup = {wave->group->id[0], wave->group->id[1], wave->group->id[2]},
        .wave = wave->index,
        .path = WMI_PATH_DS,
        .kind = WMI_ACCESS_ATOMIC,
        .lanes = f->exec.bits,
        .elements = NODES,
        .bytes = 4,
    };
    for (unsigned i = 0; i < NODES; i++)
        access.element[i] = (struct wmi_element){.space = WMI_SPACE_LDS, .address = address[i]};
    for (uint64_t left = f->exec.bits; left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctzll(left);
        const unsigned which = pushed(nodes + lane, size, last[lane]);
        const bool pops = !is_valid(nodes[(NODES - 1) * size + lane], last[lane]);
        struct stack s = stack_of(frame, op, addr[lane]);
        for (unsigned i = 0; i < NODES; i++) {
            if (i == NODES - 1 ? !pops : !(which >> i & 1))
                continue;
            if (i == NODES - 1)
                s.index = (s.index + s.size - 1) % s.size;
            access.element[i].mask |= 1ULL << lane;
            access.element[i].bad_range |= (uint64_t)!in_range(&s) << lane;
            address[i][lane] = place_of(&s);
            if (i < NODES - 1)
                s.index = (s.index + 1) % s.size;
        }
    }
    wmi_show_access(wave, m, &access);
    return op + 1;
}
