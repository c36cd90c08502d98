/* SPDX-License-Identifier: MIT */
/* Fast step of buffer loads with format conversion: linear buffers, all lanes in range and in one allocation,
 * components of up to 16 bits (except 10- and 11-bit floats) or of 32 bits. Other cases take the slow path,
 * which defines the results. */
#include "exec/control/steps.h"
#include "exec/memory/buffer_most.h"
#include "exec/memory/guest_lanes.h"

#include "arithmetic/host_float.h"
#include "base/lanes.h"

enum { MAX_DWORDS = 4 };

/* ---- dwords of all lanes' elements ---- */

/* Host address of the lanes' elements and each lane's distance from it; NULL if this step does not apply. */
INLINE const char *find_elements(const char *frame, const struct wmi_op *op,
                                 const struct wmi_buffer_conversion *c, unsigned dwords, uint32_t *distance)
{
    const struct wmi_memory_op *m = op->data;
    const struct wmi_worker *worker = wmi_wave_of(frame)->worker;
    struct wmi_hit *hit = (struct wmi_hit *)&worker->hits[m->hit];
    struct wmi_buffer_place most;
    const uint32_t behind = (c->elements - 1) * c->bytes;
    if (!most_place(frame, op, &c->buffer, behind, c->bytes, &most))
        return NULL;
    const uint64_t base = c->buffer.base + most.soffset;
    const uint64_t far = (uint64_t)most.index * c->buffer.stride + most.offset - behind;
    if (far > INT32_MAX || !wmi_vmem_reach(worker, hit, base + far, 4 * dwords) || base < hit->low)
        return NULL;
    fill_distances(frame, op, &c->buffer, distance, (uint32_t)m->offset);
    return (const char *)hit->host + (base - hit->low);
}

INLINE void get_dwords(const char *from, uint32_t *distance, unsigned dwords, uint64_t lanes,
                       uint32_t (*words)[WMI_LANES])
{
    for (unsigned i = 0; i < dwords; i++)
        for (unsigned v = 0; v < VECTORS; v++)
            ((u32v *)words[i])[v] = (u32v){0};
    for (unsigned i = 0; i < dwords; i += 2)
        if (i + 1 < dwords)
            wmi_gather_pairs(words[i], words[i + 1], from + 4 * i, distance, lanes);
        else
            wmi_lanes_gather(words[i], from + 4 * i, distance, lanes);
}

/* ---- conversion ---- */

/* Location of one component, for all lanes. */
struct component {
    const uint32_t *words;
    unsigned bits, shift; /* within the word */
};

INLINE u32v raw_of(const struct component *c, unsigned v)
{
    return vector(c->words, v) << (32 - c->bits - c->shift) >> (32 - c->bits);
}

INLINE i32v signed_of(const struct component *c, unsigned v)
{
    return (i32v)(vector(c->words, v) << (32 - c->bits - c->shift)) >> (32 - c->bits);
}

/* 1 / (2^bits - 1) as a sum of two floats: x * high is exact for every x of that many bits, so only the sum
 * rounds. */
struct reciprocal {
    float high, low;
};

/* high: the upper 24 - bits digits; low: the remainder rounded to float. Verified by
 * tests/unit/exec/memory/buffer_text.c, every_value. */
static const struct reciprocal reciprocals[] = {
    [1] = {0x1.0000000000000p+0f, 0},
    [2] = {0x1.5555500000000p-2f, 0x1.5555560000000p-24f},
    [3] = {0x1.2492400000000p-3f, 0x1.24924a0000000p-24f},
    [4] = {0x1.1111000000000p-4f, 0x1.1111120000000p-24f},
    [5] = {0x1.0842000000000p-5f, 0x1.0842100000000p-25f},
    [6] = {0x1.0410000000000p-6f, 0x1.0410420000000p-24f},
    [7] = {0x1.0204000000000p-7f, 0x1.0204080000000p-28f},
    [8] = {0x1.0100000000000p-8f, 0x1.0101020000000p-24f},
    [9] = {0x1.0080000000000p-9f, 0x1.0080400000000p-27f},
    [10] = {0x1.0040000000000p-10f, 0x1.0040100000000p-30f},
    [11] = {0x1.0020000000000p-11f, 0x1.0020040000000p-33f},
    [12] = {0x1.0000000000000p-12f, 0x1.0010020000000p-24f},
    [13] = {0x1.0000000000000p-13f, 0x1.0008000000000p-26f},
    [14] = {0x1.0000000000000p-14f, 0x1.0004000000000p-28f},
    [15] = {0x1.0000000000000p-15f, 0x1.0002000000000p-30f},
    [16] = {0x1.0000000000000p-16f, 0x1.0001000000000p-32f},
};

INLINE u32v normalized(f32v x, struct reciprocal r)
{
    return (u32v)(x * r.high + x * r.low);
}

INLINE f32v float_of(i32v x)
{
    return __builtin_convertvector(x, f32v);
}

/* f16 to f32. Exact; NaNs keep their payload. */
INLINE u32v widened(u32v half)
{
    const u32v sign = (half & 0x8000) << 16, magnitude = half & 0x7fff;
    const u32v tiny = (u32v)(float_of((i32v)magnitude) * 0x1p-24f);
    const u32v special = (u32v)(magnitude >= 0x7c00), is_tiny = (u32v)(magnitude < 0x400);
    const u32v normal = (magnitude << 13) + (112u << 23);
    return sign |
           wmi_select_u32(is_tiny, tiny, wmi_select_u32(special, magnitude << 13 | 0x7f800000, normal));
}

/* lanes: active lanes; NULL: all. */
INLINE void put_row(uint32_t *to, const struct wmi_lanes *lanes, unsigned v, u32v value)
{
    u32v *row = (u32v *)to + v;
    *row = lanes ? wmi_select_u32(vector(lanes->row, v), value, *row) : value;
}

INLINE void put_all(uint32_t *to, const struct wmi_lanes *lanes, uint32_t value)
{
    for (unsigned v = 0; v < VECTORS; v++)
        put_row(to, lanes, v, wmi_splat_u32(value));
}

#define EACH(value)                                                                                          \
    for (unsigned v = 0; v < VECTORS; v++)                                                                   \
        put_row(to, lanes, v, value);                                                                        \
    break

INLINE void put_component(uint32_t *to, const struct wmi_lanes *lanes, const struct component *c,
                          enum wmi_number number)
{
    const struct reciprocal all = reciprocals[c->bits < 32 ? c->bits : 1];
    const struct reciprocal top = reciprocals[c->bits < 32 && c->bits > 1 ? c->bits - 1 : 1];
    const i32v least = (i32v){0} - (int32_t)((1u << (c->bits - 1)) - 1);
    switch (number) {
    case WMI_NUMBER_UNORM:
        EACH(normalized(float_of((i32v)raw_of(c, v)), all));
    case WMI_NUMBER_SNORM:
        EACH(normalized(float_of((i32v)wmi_select_u32((u32v)(signed_of(c, v) < least), (u32v)least,
                                                      (u32v)signed_of(c, v))),
                        top));
    case WMI_NUMBER_USCALED:
        EACH((u32v)float_of((i32v)raw_of(c, v)));
    case WMI_NUMBER_SSCALED:
        EACH((u32v)float_of(signed_of(c, v)));
    case WMI_NUMBER_SINT:
        EACH((u32v)signed_of(c, v));
    case WMI_NUMBER_FLOAT:
        if (c->bits == 16) {
            EACH(widened(raw_of(c, v)));
        }
        EACH(raw_of(c, v));
    default:
        EACH(raw_of(c, v));
    }
}

/* ---- the step ---- */

/* Whether put_component() handles all components of the format: in buffer formats these have up to 16 bits or
 * 32, and none crosses a dword. */
INLINE bool is_plain(const struct wmi_format *format)
{
    const bool small_floats = format->number == WMI_NUMBER_FLOAT && format->layout->bits[0] < 16;
    return format->layout->components && format->number != WMI_NUMBER_SNORM_OGL && !small_floats &&
           !format->unsigned_alpha;
}

INLINE void put_values(char *frame, const struct wmi_op *op, const struct wmi_buffer_conversion *c,
                       uint32_t (*words)[WMI_LANES], const struct wmi_lanes *lanes)
{
    const struct wmi_memory_op *m = op->data;
    const struct wmi_format_layout *layout = c->format.layout;
    const bool integer = c->format.number == WMI_NUMBER_UINT || c->format.number == WMI_NUMBER_SINT;
    for (unsigned i = 0; i < m->elements; i++) {
        uint32_t *to = (uint32_t *)(frame + op->d) + i * WMI_LANES;
        const unsigned select = c->select >> 3 * i & 7, from = select - 4;
        if (select >= 4 && from < layout->components) {
            const struct component component = {words[layout->shift[from] / 32], layout->bits[from],
                                                layout->shift[from] % 32};
            put_component(to, lanes, &component, c->format.number);
        } else {
            put_all(to, lanes, select != 1 ? 0 : integer ? 1 : 0x3f800000);
        }
    }
}

#define STEP WMI_BUILD_NAME(wmi_step_buffer_load_format)

const struct wmi_op *STEP(char *restrict frame, const struct wmi_op *op)
{
    alignas(64) uint32_t distance[WMI_LANES], words[MAX_DWORDS][WMI_LANES];
    const struct wmi_frame *state = (const struct wmi_frame *)frame;
    struct wmi_buffer_conversion c;
    wmi_buffer_get_conversion(frame, op, &c);
    const struct wmi_lanes *lanes = (const struct wmi_lanes *)(frame + op->lanes);
    const unsigned dwords = (c.format.layout->bytes + 3u) / 4;
    const char *from = is_plain(&c.format) ? find_elements(frame, op, &c, dwords, distance) : NULL;
    if (!from)
        return wmi_step_buffer_format(frame, op);
    get_dwords(from, distance, dwords, lanes->bits, words);
    const uint32_t nearest = wmi_host_float_nearest(state->mxcsr32);
    if (nearest != state->mxcsr32)
        wmi_host_float_set(nearest);
    __asm__ volatile("" ::: "memory");
    if (lanes->full)
        put_values(frame, op, &c, words, NULL);
    else
        put_values(frame, op, &c, words, lanes);
    __asm__ volatile("" ::: "memory");
    if (nearest != state->mxcsr32)
        wmi_host_float_set(state->mxcsr32);
    return wmi_next(frame, op);
}
