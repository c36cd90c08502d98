/* SPDX-License-Identifier: MIT */
/* Simple reference for addresses and range checks of buffers, with its own bit-by-bit V# decoder. */
#ifndef TESTS_BUFFER_SLOW_H
#define TESTS_BUFFER_SLOW_H

#include "memory/buffer.h"

/* The limit buffer_rules. The slow model does not know the V# of gfx12.5. */
enum { GFX6, GFX8, GFX9, GFX10, GFX11, GFX12, RULES, GFX1250 = RULES };

static inline uint64_t take(const uint32_t v[4], unsigned from, unsigned to) /* bits of the whole V# */
{
    uint64_t value = 0;
    for (unsigned bit = from; bit <= to; bit++)
        value |= (uint64_t)(v[bit / 32] >> bit % 32 & 1) << (bit - from);
    return value;
}

static inline bool swizzle_bit(unsigned rules, const uint32_t v[4])
{
    return rules >= GFX11 ? take(v, 62, 63) != 0 : take(v, 63, 63) != 0;
}

/* gfx9: only with ADD_TID; gfx11 and later: only if there is an index. */
static inline bool swizzled(unsigned rules, const uint32_t v[4], bool idxen)
{
    const bool add_tid = take(v, 119, 119);
    if (rules == GFX9)
        return swizzle_bit(rules, v) && add_tid;
    return swizzle_bit(rules, v) && (rules < GFX11 || add_tid || idxen);
}

/* The lane's part of the index. */
static inline uint64_t lane_of(unsigned rules, const uint32_t v[4], bool idxen, unsigned lane)
{
    if (!take(v, 119, 119) || (idxen && rules >= GFX11) || (idxen && rules == GFX9 && !swizzle_bit(rules, v)))
        return 0;
    return lane;
}

static inline uint64_t stride_of(unsigned rules, const uint32_t v[4], bool plain, bool idxen)
{
    static const unsigned scales[] = {1, 4, 8, 32};
    const uint64_t stride = take(v, 48, 61);
    if (rules == GFX12)
        return stride * scales[take(v, 114, 115)];
    if ((rules == GFX8 || rules == GFX9) && plain && lane_of(rules, v, idxen, 1))
        return stride + take(v, 111, 114) * 16384;
    return stride;
}

static inline uint64_t element_of(unsigned rules, const uint32_t v[4])
{
    static const unsigned sizes[] = {2, 4, 8, 16};
    if (rules <= GFX8)
        return sizes[take(v, 115, 116)];
    return rules >= GFX11 && take(v, 62, 63) == 3 ? 16 : 4;
}

/* No buffer: TYPE is another one, or the data format is 0 without ADD_TID. */
static inline bool unbound(unsigned rules, const uint32_t v[4])
{
    const uint64_t format = rules <= GFX9 ? take(v, 111, 114) : take(v, 108, rules == GFX10 ? 114 : 113);
    return take(v, 126, 127) || (!format && !take(v, 119, 119));
}

static inline uint64_t slow_offset(unsigned rules, const uint32_t v[4], bool plain, bool idxen,
                                   const struct wmi_buffer_place *p)
{
    const uint64_t index = (uint64_t)p->index + p->lane, stride = stride_of(rules, v, plain, idxen);
    if (!swizzled(rules, v, idxen))
        return index * stride + p->offset;
    const uint64_t records = 8 << take(v, 117, 118), element = element_of(rules, v);
    if (rules >= GFX11 && element == 16 && p->part) { /* linear from the first byte on */
        struct wmi_buffer_place first = *p;
        first.offset -= p->part;
        first.part = 0;
        return slow_offset(rules, v, plain, idxen, &first) + p->part;
    }
    const uint64_t block = records * stride; /* one round of interleaved records */
    return index / records * block + p->offset / element * (records * element) + index % records * element +
           p->offset % element;
}

static inline uint64_t slow_address(unsigned rules, const uint32_t v[4], bool plain, bool idxen,
                                    const struct wmi_buffer_place *p)
{
    const uint64_t sum = take(v, 0, 47) + p->soffset + slow_offset(rules, v, plain, idxen, p);
    return sum >> 47 & 1 ? sum | 0xffff000000000000 : sum & 0xffffffffffff;
}

static inline bool slow_out_of_range(unsigned rules, const uint32_t v[4], bool plain, bool idxen,
                                     const struct wmi_buffer_place *p)
{
    const uint64_t records = take(v, 64, 95), stride = stride_of(rules, v, plain, idxen);
    const uint64_t index = (uint64_t)p->index + p->lane, end = p->offset + p->bytes;
    const bool add_tid = take(v, 119, 119), swz = swizzled(rules, v, idxen);
    const bool outside_record = rules >= GFX11 ? end > stride : p->offset >= stride;
    if (unbound(rules, v))
        return true;
    if (rules >= GFX10) {
        const unsigned select = (unsigned)take(v, 124, 125);
        if (select == 2)
            return records == 0;
        if (select == 1)
            return index >= records;
        if (select == 0)
            return index >= records || outside_record;
        if (swz && stride)
            return index >= records || end > stride;
        return end + p->soffset > records;
    }
    if (rules == GFX9) {
        if (!idxen)
            return !add_tid && end + p->soffset > records;
        return take(v, 48, 61) ? p->index >= records : end + p->soffset > records;
    }
    if (stride == 0 || (rules == GFX8 && !swz))
        return index * stride + end + p->soffset > records;
    return index >= records || ((idxen || add_tid) && outside_record);
}

#endif
