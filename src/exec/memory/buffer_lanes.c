/* SPDX-License-Identifier: MIT */
/* Fast steps of buffer loads and stores: private memory as compilers lay it out, plain linear buffers, and
 * records.
 *
 * Private memory is a V# with dword swizzle, whose index is the lane: the dwords of all lanes at one offset
 * are contiguous, so a register row is a row of memory. Linear buffers and records whose lanes are all in
 * range continue at the fast global memory step that follows. All other accesses take the slow path. Range
 * checks are monotonic: if the highest index with the highest offset is in range, all lanes are. */
#include "exec/control/steps.h"
#include "exec/memory/buffer_most.h"
#include "exec/memory/buffer_private.h"
#include "exec/memory/vmem_shape.h"

typedef u32v __attribute__((aligned(1))) unaligned_vector;

/* The new register value, given its old value and the dword that contains the element; the element starts at
 * byte `at` of the dword. */
INLINE u32v loaded(u32v value, u32v old, u32v at, struct shape shape)
{
    if (shape.bytes == 4)
        return value;
    const unsigned shift = 32 - 8 * shape.bytes;
    value = value >> (at * 8) << shift;
    value = shape.is_signed ? (u32v)((i32v)value >> shift) : value >> shift;
    if (shape.d16_hi)
        return (old & 0xffff) | value << 16;
    if (shape.d16)
        return (old & 0xffff0000) | (value & 0xffff);
    return value;
}

/* ---- private memory ---- */

INLINE bool load_private(char *frame, const struct wmi_op *op, struct shape shape)
{
    struct request r;
    uint32_t *to = (uint32_t *)(frame + op->d);
    if (!begin_private(frame, op, &r, shape))
        return false;
    if (r.uniform) {
        const unsigned char *from = private_rows(frame, &r, shape);
        if (!from)
            return false;
        const u32v at = wmi_splat_u32(r.offset % 4);
        for (unsigned e = 0; e < shape.elements; e++)
            for (unsigned v = 0; v < VECTORS; v++) {
                u32v *row = (u32v *)(to + e * WMI_LANES) + v;
                const u32v value = *((const unaligned_vector *)(from + e * PRIVATE_ROW) + v);
                *row = wmi_select_u32(vector(r.lanes->row, v), loaded(value, *row, at, shape), *row);
            }
        return true;
    }
    uint64_t places[WMI_LANES];
    if (!private_places(frame, op, &r, shape, places))
        return false;
    const unsigned char *host = r.hit->host;
    for (uint64_t left = r.lanes->bits; left; left &= left - 1) {
        const unsigned i = (unsigned)__builtin_ctzll(left);
        for (unsigned e = 0; e < shape.elements; e++) {
            uint32_t value;
            const unsigned char *from = host + places[i] + e * PRIVATE_ROW;
            if (shape.bytes == 4)
                value = *(const word *)from;
            else if (shape.bytes == 2)
                value = shape.is_signed ? (uint32_t)(int16_t)*(const half *)from : *(const half *)from;
            else
                value = shape.is_signed ? (uint32_t)(int8_t)*from : *from;
            uint32_t *lane = &to[e * WMI_LANES + i];
            *lane = shape.d16_hi ? (*lane & 0xffff) | value << 16
                    : shape.d16  ? (*lane & 0xffff0000) | (value & 0xffff)
                                 : value;
        }
    }
    return true;
}

INLINE bool store_private(char *frame, const struct wmi_op *op, struct shape shape)
{
    struct request r;
    const uint32_t *from = (const uint32_t *)(frame + op->c);
    if (!begin_private(frame, op, &r, shape))
        return false;
    if (r.uniform) {
        unsigned char *to = private_rows(frame, &r, shape);
        if (!to || r.hit->flags & WM_READ_ONLY)
            return false;
        if (shape.bytes == 4) {
            for (unsigned e = 0; e < shape.elements; e++)
                for (unsigned v = 0; v < VECTORS; v++) {
                    unsigned char *place = to + e * PRIVATE_ROW + v * WMI_VECTOR_BYTES;
                    const u32v value = vector(from + e * WMI_LANES, v);
                    if (r.lanes->full)
                        *(unaligned_vector *)place = value;
                    else
                        wmi_store_active(place, value, vector(r.lanes->row, v));
                }
            return true;
        }
        to += r.offset % 4;
        for (uint64_t left = r.lanes->bits; left; left &= left - 1) {
            const unsigned i = (unsigned)__builtin_ctzll(left);
            put(to + 4 * i, from[i], shape);
        }
        return true;
    }
    uint64_t places[WMI_LANES];
    if (!private_places(frame, op, &r, shape, places) || r.hit->flags & WM_READ_ONLY)
        return false;
    for (uint64_t left = r.lanes->bits; left; left &= left - 1) {
        const unsigned i = (unsigned)__builtin_ctzll(left);
        for (unsigned e = 0; e < shape.elements; e++)
            put(r.hit->host + places[i] + e * PRIVATE_ROW, from[e * WMI_LANES + i], shape);
    }
    return true;
}

/* ---- linear buffers and records ---- */

/* Whether the V# is linear and every dword of every active lane is in range. Stores the base at op->x and,
 * with an index, the lanes' distances from it in the next step's VADDR. */
INLINE bool prepare_linear(char *frame, const struct wmi_op *op, struct shape shape)
{
    const struct wmi_buffer buffer = wmi_buffer_of(frame, op);
    struct wmi_buffer_place most;
    if (!most_place(frame, op, &buffer, (shape.elements - 1) * shape.bytes, shape.bytes, &most))
        return false;
    if (op->y & WMI_BUFFER_IDXEN)
        fill_distances(frame, op, &buffer, (uint32_t *)(frame + (op + 1)->a), 0);
    const uint64_t base = buffer.base + most.soffset;
    memcpy(frame + op->x, &base, sizeof base);
    return true;
}

/* ---- one function per shape, and their table ---- */

#define NAME(kind, elements, bytes, sign, d16, hi) kind##_##elements##x##bytes##_##sign##d16##hi
#define MOVE_LOAD                                  load_private
#define MOVE_STORE                                 store_private
#define STEP_OF(kind, name, ...)                                                                             \
    static const struct wmi_op *name(char *restrict frame, const struct wmi_op *op)                          \
    {                                                                                                        \
        const struct shape shape = {__VA_ARGS__};                                                            \
        if (MOVE_##kind(frame, op, shape))                                                                   \
            return op + 2;                                                                                   \
        return prepare_linear(frame, op, shape) ? op + 1 : wmi_step_buffer_careful(frame, op);               \
    }
#define STEP(kind, ...) STEP_OF(kind, NAME(kind, __VA_ARGS__), __VA_ARGS__)
WMI_VMEM_SHAPES(STEP)

#define ENTRY(kind, elements, bytes, ...)                                                                    \
    {WMI_ACCESS_##kind, elements, bytes, __VA_ARGS__, NAME(kind, elements, bytes, __VA_ARGS__)},

extern const struct wmi_buffer_step WMI_BUILD_NAME(wmi_buffer_steps)[];
const struct wmi_buffer_step WMI_BUILD_NAME(wmi_buffer_steps)[] = {WMI_VMEM_SHAPES(ENTRY){0}};
