/* SPDX-License-Identifier: MIT */
/* Fast steps of GLOBAL and FLAT loads and stores: all lanes inside one allocation, checked once.
 *
 * FLAT needs no test of its apertures here: no allocation lies in one or within an instruction offset of one,
 * so a lane that is inside an allocation is none of theirs. What does not fit goes to wmi_vmem_careful(). */
#include "exec/vmem.h"

#define PASTE_(a, b) a##b
#define PASTE(a, b)  PASTE_(a, b)
#define INLINE       static inline __attribute__((always_inline))

/* Guest bytes are as unaligned as the guest likes, and of every type. */
typedef uint32_t __attribute__((aligned(1), may_alias)) word;
typedef uint16_t __attribute__((aligned(1), may_alias)) half;

struct shape {
    unsigned elements, bytes;
    bool is_signed, d16, d16_hi;
};

INLINE unsigned lane_bytes(struct shape shape)
{
    return shape.elements * shape.bytes;
}

/* ---- between one lane's bytes in memory and its registers ---- */

/* What register `old` becomes when one element is loaded from `p`. */
INLINE uint32_t fetch(const unsigned char *p, uint32_t old, struct shape shape)
{
    uint32_t value;
    if (shape.bytes == 4)
        return *(const word *)p;
    if (shape.bytes == 2)
        value = shape.is_signed ? (uint32_t)(int16_t)*(const half *)p : *(const half *)p;
    else
        value = shape.is_signed ? (uint32_t)(int8_t)*p : *p;
    if (shape.d16_hi)
        return (old & 0xffff) | value << 16;
    if (shape.d16)
        return (old & 0xffff0000) | (value & 0xffff);
    return value;
}

INLINE void put(unsigned char *p, uint32_t value, struct shape shape)
{
    if (shape.d16_hi)
        value >>= 16;
    if (shape.bytes == 4)
        *(word *)p = value;
    else if (shape.bytes == 2)
        *(half *)p = (uint16_t)value;
    else
        *p = (unsigned char)value;
}

/* The element loops stand inside the lane loops: compilers make permutes of that, and stores of whole rows.
 */
INLINE void fetch_lanes(uint32_t *restrict to, const unsigned char *restrict from, struct shape shape)
{
    for (unsigned i = 0; i < WMI_LANES; i++) {
        const unsigned char *p = from + i * lane_bytes(shape);
        to[i] = fetch(p, to[i], shape);
        if (shape.elements > 1)
            to[i + WMI_LANES] = *(const word *)(p + 4);
        if (shape.elements > 2)
            to[i + 2 * WMI_LANES] = *(const word *)(p + 8);
        if (shape.elements > 3)
            to[i + 3 * WMI_LANES] = *(const word *)(p + 12);
    }
}

INLINE void put_lane(unsigned char *p, const uint32_t *from, unsigned i, struct shape shape)
{
    put(p, from[i], shape);
    if (shape.elements > 1)
        *(word *)(p + 4) = from[i + WMI_LANES];
    if (shape.elements > 2)
        *(word *)(p + 8) = from[i + 2 * WMI_LANES];
    if (shape.elements > 3)
        *(word *)(p + 12) = from[i + 3 * WMI_LANES];
}

INLINE void put_lanes(unsigned char *restrict to, const uint32_t *restrict from, unsigned count,
                      struct shape shape)
{
    for (unsigned i = 0; i < count; i++)
        put_lane(to + i * lane_bytes(shape), from, i, shape);
}

/* Rows of `from` into the lanes of `to` that the mask row names. */
INLINE void blend(uint32_t *restrict to, const uint32_t *restrict from, const uint32_t *restrict mask,
                  unsigned rows)
{
    for (unsigned r = 0; r < rows; r++)
        for (unsigned i = 0; i < WMI_LANES; i++)
            to[i + r * WMI_LANES] = (to[i + r * WMI_LANES] & ~mask[i]) | (from[i + r * WMI_LANES] & mask[i]);
}

/* ---- addresses ---- */

/* What is added to each lane's register. */
INLINE uint64_t common_base(const char *frame, const struct wmi_op *op, enum wmi_vmem_form form)
{
    const struct wmi_memory_op *m = op->data;
    return (uint64_t)m->offset + (form == WMI_VMEM_SADDR ? wmi_frame_64(frame, op->b) : 0);
}

INLINE uint64_t lane_register(const char *frame, const struct wmi_op *op, enum wmi_vmem_form form,
                              unsigned lane)
{
    const uint32_t *low = (const uint32_t *)(frame + op->a);
    return low[lane] | (form == WMI_VMEM_VADDR ? (uint64_t)low[lane + WMI_LANES] << 32 : 0);
}

INLINE bool holds(const struct wmi_hit *hit, uint64_t address, uint64_t bytes)
{
    const uint64_t size = hit->high - hit->low, at = address - hit->low;
    return at < size && bytes <= size - at;
}

/* Whether the active lanes' registers rise by `step` from lane to lane. */
INLINE bool in_steps(const char *frame, const struct wmi_op *op, const struct wmi_lanes *lanes,
                     unsigned first, unsigned last, unsigned step, enum wmi_vmem_form form)
{
    const uint32_t *low = (const uint32_t *)(frame + op->a), *high = low + WMI_LANES;
    const uint32_t low_0 = low[first] - first * step, high_0 = form == WMI_VMEM_VADDR ? high[first] : 0;
    uint32_t differ = 0;
    if (lanes->full) {
        for (uint32_t i = 0; i < WMI_LANES; i++)
            differ |= (low[i] ^ (low_0 + i * step)) | (form == WMI_VMEM_VADDR ? high[i] ^ high_0 : 0);
    } else {
        for (uint32_t i = 0; i < WMI_LANES; i++)
            differ |= ((low[i] ^ (low_0 + i * step)) | (form == WMI_VMEM_VADDR ? high[i] ^ high_0 : 0)) &
                      lanes->row[i];
    }
    /* The high words are equal, so the low ones may not have wrapped on the way. */
    return !differ && (uint64_t)low[first] + (last - first) * step <= UINT32_MAX;
}

/* The lanes' places as 32-bit distances from one host address; those of inactive lanes are 0, and allowed. */
struct places {
    unsigned char *host;
    bool uniform;
    uint32_t at[WMI_LANES];
};

INLINE bool find_places(const char *frame, const struct wmi_op *op, const struct wmi_lanes *lanes,
                        const struct wmi_hit *hit, uint64_t first_register, uint64_t base, unsigned bytes,
                        enum wmi_vmem_form form, struct places *places)
{
    /* In an allocation of more than 4 GiB only what is around the first lane. */
    const uint64_t first_at = first_register + base - hit->low;
    const uint64_t skip = first_at > UINT32_MAX / 2 ? first_at - UINT32_MAX / 2 : 0;
    const uint64_t size = hit->high - hit->low - skip;
    if (size < bytes)
        return false;
    const uint32_t limit = size - bytes > UINT32_MAX ? UINT32_MAX : (uint32_t)(size - bytes);
    const uint64_t origin = hit->low + skip - base; /* the register that means distance 0 */
    const uint32_t origin_low = (uint32_t)origin, origin_high = (uint32_t)(origin >> 32);
    const uint32_t uniform_at = (uint32_t)(first_register - origin);
    const uint32_t *low = (const uint32_t *)(frame + op->a), *high = low + WMI_LANES;
    uint32_t bad = 0, differ = 0;
    for (uint32_t i = 0; i < WMI_LANES; i++) {
        const uint32_t at = low[i] - origin_low;
        const uint32_t far =
            (form == WMI_VMEM_VADDR ? high[i] : 0) - origin_high - (low[i] < origin_low ? 1 : 0);
        bad |= (far | (at > limit ? 1 : 0)) & lanes->row[i];
        differ |= (at ^ uniform_at) & lanes->row[i];
        places->at[i] = at & lanes->row[i];
    }
    places->host = hit->host + skip;
    places->uniform = !differ;
    return !bad;
}

/* ---- the steps ---- */

INLINE const struct wmi_op *load(char *restrict frame, const struct wmi_op *op, struct shape shape,
                                 enum wmi_vmem_form form)
{
    const struct wmi_lanes *lanes = (const struct wmi_lanes *)(frame + op->lanes);
    if (!lanes->bits)
        return op + 1;
    const unsigned bytes = lane_bytes(shape), rows = shape.elements;
    const unsigned first = (unsigned)__builtin_ctzll(lanes->bits);
    const unsigned last = 63 - (unsigned)__builtin_clzll(lanes->bits);
    const struct wmi_memory_op *m = op->data;
    struct wmi_worker *worker = wmi_wave_of(frame)->worker;
    struct wmi_hit *hit = &worker->hits[m->hit];
    const uint64_t base = common_base(frame, op, form);
    const uint64_t first_register = lane_register(frame, op, form, first);
    const uint64_t start = first_register + base;
    if (!holds(hit, start, bytes) && !wmi_vmem_touch(worker, hit, start))
        return wmi_vmem_careful(frame, op);

    uint32_t *to = (uint32_t *)(frame + op->d);
    uint32_t loaded[4 * WMI_LANES];
    if (in_steps(frame, op, lanes, first, last, bytes, form)) {
        if (lanes->full && holds(hit, start, WMI_LANES * bytes)) {
            fetch_lanes(to, hit->host + (start - hit->low), shape);
            return op + 1;
        }
        /* Bytes of lanes that sleep may be read too, if the allocation has them. */
        const uint64_t lane_0 = start - first * bytes;
        if (holds(hit, lane_0, WMI_LANES * bytes)) {
            memcpy(loaded, to, WMI_ROW_BYTES);
            fetch_lanes(loaded, hit->host + (lane_0 - hit->low), shape);
            blend(to, loaded, lanes->row, rows);
            return op + 1;
        }
    }

    struct places places;
    if (!find_places(frame, op, lanes, hit, first_register, base, bytes, form, &places))
        return wmi_vmem_careful(frame, op);
    if (places.uniform) {
        const unsigned char *p = places.host + places.at[first];
        for (unsigned r = 0; r < rows; r++) {
            const uint32_t value = fetch(p + r * shape.bytes, 0, shape);
            const uint32_t keep = shape.d16_hi ? 0xffff : shape.d16 ? 0xffff0000 : 0;
            uint32_t *row = to + r * WMI_LANES;
            for (unsigned i = 0; i < WMI_LANES; i++) {
                const uint32_t written = lanes->row[i] & ~keep;
                row[i] = (row[i] & ~written) | (value & written);
            }
        }
        return op + 1;
    }
    if (lanes->full) {
        for (unsigned i = 0; i < WMI_LANES; i++)
            for (unsigned r = 0; r < rows; r++)
                to[i + r * WMI_LANES] =
                    fetch(places.host + places.at[i] + r * shape.bytes, to[i + r * WMI_LANES], shape);
        return op + 1;
    }
    for (uint64_t left = lanes->bits; left; left &= left - 1) {
        const unsigned i = (unsigned)__builtin_ctzll(left);
        for (unsigned r = 0; r < rows; r++)
            to[i + r * WMI_LANES] =
                fetch(places.host + places.at[i] + r * shape.bytes, to[i + r * WMI_LANES], shape);
    }
    return op + 1;
}

INLINE const struct wmi_op *store(char *restrict frame, const struct wmi_op *op, struct shape shape,
                                  enum wmi_vmem_form form)
{
    const struct wmi_lanes *lanes = (const struct wmi_lanes *)(frame + op->lanes);
    if (!lanes->bits)
        return op + 1;
    const unsigned bytes = lane_bytes(shape);
    const unsigned first = (unsigned)__builtin_ctzll(lanes->bits);
    const unsigned last = 63 - (unsigned)__builtin_clzll(lanes->bits);
    const struct wmi_memory_op *m = op->data;
    struct wmi_worker *worker = wmi_wave_of(frame)->worker;
    struct wmi_hit *hit = &worker->hits[m->hit];
    const uint64_t base = common_base(frame, op, form);
    const uint64_t first_register = lane_register(frame, op, form, first);
    const uint64_t start = first_register + base;
    if (!holds(hit, start, bytes) && !wmi_vmem_touch(worker, hit, start))
        return wmi_vmem_careful(frame, op);
    if (hit->flags & WM_READ_ONLY)
        return wmi_vmem_careful(frame, op);

    const uint32_t *from = (const uint32_t *)(frame + op->c);
    const unsigned count = last - first + 1;
    const bool run = lanes->bits >> first == UINT64_MAX >> (64 - count);
    if (run && in_steps(frame, op, lanes, first, last, bytes, form) && holds(hit, start, count * bytes)) {
        unsigned char *to = hit->host + (start - hit->low);
        if (count == WMI_LANES)
            put_lanes(to, from, WMI_LANES, shape);
        else if (shape.elements == 1 && shape.bytes == 4)
            memcpy(to, from + first, count * 4);
        else
            put_lanes(to, from + first, count, shape);
        return op + 1;
    }

    struct places places;
    if (!find_places(frame, op, lanes, hit, first_register, base, bytes, form, &places))
        return wmi_vmem_careful(frame, op);
    if (lanes->full) {
        for (unsigned i = 0; i < WMI_LANES; i++)
            put_lane(places.host + places.at[i], from, i, shape);
        return op + 1;
    }
    for (uint64_t left = lanes->bits; left; left &= left - 1) {
        const unsigned i = (unsigned)__builtin_ctzll(left);
        put_lane(places.host + places.at[i], from, i, shape);
    }
    return op + 1;
}

/* ---- one function per shape and form, and the table of them ---- */

#define STEP_LOAD  load
#define STEP_STORE store
#define NAME(kind, elements, bytes, sign, d16, hi, form)                                                     \
    kind##_##elements##x##bytes##_##sign##d16##hi##_##form
#define STEP(kind, elements, bytes, sign, d16, hi, form)                                                     \
    static const struct wmi_op *NAME(kind, elements, bytes, sign, d16, hi, form)(char *restrict frame,       \
                                                                                 const struct wmi_op *op)    \
    {                                                                                                        \
        return STEP_##kind(frame, op, (struct shape){elements, bytes, sign, d16, hi}, WMI_VMEM_##form);      \
    }
#define STEPS(...) STEP(__VA_ARGS__, VADDR) STEP(__VA_ARGS__, SADDR)
WMI_VMEM_SHAPES(STEPS)

#define ENTRY(kind, elements, bytes, ...)                                                                    \
    {WMI_ACCESS_##kind,                                                                                      \
     elements,                                                                                               \
     bytes,                                                                                                  \
     __VA_ARGS__,                                                                                            \
     {NAME(kind, elements, bytes, __VA_ARGS__, VADDR), NAME(kind, elements, bytes, __VA_ARGS__, SADDR)}},

extern const struct wmi_vmem_step PASTE(wmi_vmem_steps, WMI_BODY_SUFFIX)[];
const struct wmi_vmem_step PASTE(wmi_vmem_steps, WMI_BODY_SUFFIX)[] = {WMI_VMEM_SHAPES(ENTRY){0}};
