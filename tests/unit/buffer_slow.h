/* SPDX-License-Identifier: MIT */
/* Simple reference for addresses and range checks of buffers, with its own bit-by-bit V# decoder. */
#ifndef TESTS_BUFFER_SLOW_H
#define TESTS_BUFFER_SLOW_H

#include "memory/buffer.h"

enum { GFX6, GFX8, GFX9, GFX10, GFX11, GFX12, RULES }; /* the limit buffer_rules */

static inline uint64_t take(const uint32_t v[4], unsigned from, unsigned to) /* bits of the whole V# */
{
    uint64_t value = 0;
    for (unsigned bit = from; bit <= to; bit++)
        value |= (uint64_t)(v[bit / 32] >> bit % 32 & 1) << (bit - from);
    return value;
}

static inline uint64_t stride_of(unsigned rules, const uint32_t v[4], bool plain)
{
    static const unsigned scales[] = {1, 4, 8, 32};
    uint64_t stride = take(v, 48, 61);
    if (rules == GFX12)
        return stride * scales[take(v, 114, 115)];
    if ((rules == GFX8 || rules == GFX9) && plain && take(v, 119, 119))
        stride += take(v, 111, 114) * 16384;
    return stride;
}

static inline bool swizzled(unsigned rules, const uint32_t v[4])
{
    return rules >= GFX11 ? take(v, 62, 63) != 0 : take(v, 63, 63) != 0;
}

static inline uint64_t element_of(unsigned rules, const uint32_t v[4])
{
    static const unsigned sizes[] = {2, 4, 8, 16};
    if (rules <= GFX8)
        return sizes[take(v, 115, 116)];
    return rules >= GFX11 && take(v, 62, 63) == 3 ? 16 : 4;
}

static inline uint64_t swizzle(unsigned rules, const uint32_t v[4], bool plain, uint64_t index,
                               uint64_t offset)
{
    const uint64_t records = 8 << take(v, 117, 118), element = element_of(rules, v);
    const uint64_t block = records * stride_of(rules, v, plain); /* one round of interleaved records */
    return index / records * block + offset / element * (records * element) + index % records * element +
           offset % element;
}

static inline uint64_t slow_address(unsigned rules, const uint32_t v[4], bool plain,
                                    const struct wmi_buffer_place *p)
{
    const uint64_t base = take(v, 0, 47);
    if (!swizzled(rules, v))
        return base + p->soffset + (uint64_t)p->index * stride_of(rules, v, plain) + p->offset;
    if (rules == GFX12)
        return base + swizzle(rules, v, plain, p->index, (uint64_t)p->offset + p->soffset);
    return base + p->soffset + swizzle(rules, v, plain, p->index, p->offset);
}

static inline bool slow_out_of_range(unsigned rules, const uint32_t v[4], bool plain,
                                     const struct wmi_buffer_place *p)
{
    const uint64_t records = take(v, 64, 95), stride = stride_of(rules, v, plain);
    const uint64_t last = (uint64_t)p->offset + p->bytes - 1;
    const bool add_tid = take(v, 119, 119), swz = swizzled(rules, v);
    const bool outside_record = rules >= GFX11 ? last >= stride : p->offset >= stride;
    if (rules >= GFX10) {
        const unsigned select = (unsigned)take(v, 124, 125);
        if (select == 2)
            return records == 0;
        if (select == 1)
            return p->index >= records;
        if (select == 0)
            return p->index >= records || outside_record;
        if (!swz)
            return p->soffset > records || (rules >= GFX11 ? last : p->offset) >= records - p->soffset;
        if (rules == GFX10)
            return swizzle(rules, v, plain, p->index, p->offset) >= records;
        return stride ? p->index >= records || outside_record : last >= records;
    }
    if (rules == GFX9) {
        if (add_tid && !p->has_index)
            return false;
        if (!p->has_index || stride == 0)
            return p->offset >= records;
        return p->index >= records || (swz && outside_record);
    }
    if (stride == 0 || (rules == GFX8 && !swz))
        return p->soffset > records || p->index * stride + p->offset >= records - p->soffset;
    return p->index >= records || ((p->has_index || add_tid) && outside_record);
}

#endif
