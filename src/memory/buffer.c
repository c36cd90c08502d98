/* SPDX-License-Identifier: MIT */
/* Buffer resources (V#): what their fields mean, which byte a lane addresses, and whether it is in range.
 *
 * Fields. Source: AMD's register headers in PAL, SQ_BUF_RSRC_WORD0 to 3; the 18-bit stride: CDNA 3 and 4 ISA,
 * "Buffer Resource Descriptor", and Mesa's ACO. Units of NUM_RECORDS: Mesa, si_make_buffer_descriptor. */
#include "memory/buffer.h"

#include <stddef.h>

/* Word 1: BASE_HI [15:0], STRIDE [29:16], SWIZZLE_ENABLE [31]. Word 3: DATA_FORMAT [18:15], ELEMENT_SIZE
 * [20:19], INDEX_STRIDE [22:21], ADD_TID_ENABLE [23]. */
enum {
    SWIZZLE_ENABLE = 1u << 31,
    INDEX_STRIDE = 3 << 21,
    INDEX_STRIDE_64 = 3 << 21,
    ELEMENT_SIZE = 3 << 19,
    ELEMENT_SIZE_4 = 1 << 19,
    ADD_TID = 1 << 23,
};

const struct wmi_buffer_rules *wmi_buffer_rules(unsigned rules)
{
    static const struct wmi_buffer_rules table[] = {
        {.check = WMI_BUFFER_CHECK_RECORDS,
         .element_size_field = true,
         .private_mask = {SWIZZLE_ENABLE, INDEX_STRIDE | ELEMENT_SIZE | ADD_TID},
         .private_value = {SWIZZLE_ENABLE, INDEX_STRIDE_64 | ELEMENT_SIZE_4 | ADD_TID}},
        {.check = WMI_BUFFER_CHECK_SWIZZLE,
         .element_size_field = true,
         .wide_stride = true,
         .private_mask = {SWIZZLE_ENABLE, INDEX_STRIDE | ELEMENT_SIZE | ADD_TID},
         .private_value = {SWIZZLE_ENABLE, INDEX_STRIDE_64 | ELEMENT_SIZE_4 | ADD_TID}},
        {.check = WMI_BUFFER_CHECK_IDXEN,
         .wide_stride = true,
         .private_unchecked = true,
         .private_mask = {SWIZZLE_ENABLE, INDEX_STRIDE | ADD_TID},
         .private_value = {SWIZZLE_ENABLE, INDEX_STRIDE_64 | ADD_TID}},
    };
    return rules < sizeof table / sizeof *table ? &table[rules] : NULL;
}

static uint32_t bits(uint32_t word, unsigned shift, unsigned width)
{
    return word >> shift & ((1u << width) - 1);
}

struct wmi_buffer wmi_buffer_decode(const struct wmi_buffer_rules *rules, const uint32_t words[4], bool plain)
{
    struct wmi_buffer buffer = {
        .rules = rules,
        .base = words[0] | (uint64_t)bits(words[1], 0, 16) << 32,
        .stride = bits(words[1], 16, 14),
        .records = words[2],
        .element_size = rules->element_size_field ? 2u << bits(words[3], 19, 2) : 4,
        .index_stride = 8u << bits(words[3], 21, 2),
        .swizzle = bits(words[1], 31, 1),
        .add_tid = bits(words[3], 23, 1),
    };
    if (buffer.add_tid && plain && rules->wide_stride)
        buffer.stride |= bits(words[3], 15, 4) << 14;
    return buffer;
}

/* Source: CLRX, "GCN memory handling" (gfx6, 7); CDNA 4 ISA, "Range Checking" (gfx9): SOFFSET does not count
 * there. With an index and a swizzle, the offset must also stay in its record on gfx9 (unverified). */
bool wmi_buffer_in_range(const struct wmi_buffer *buffer, const struct wmi_buffer_place *place)
{
    const struct wmi_buffer_rules *rules = buffer->rules;
    const bool in_record = place->offset < buffer->stride;
    if (rules->private_unchecked && buffer->add_tid && !place->has_index)
        return true;
    if (rules->check == WMI_BUFFER_CHECK_IDXEN) {
        if (!place->has_index || !buffer->stride)
            return place->offset < buffer->records;
        return place->index < buffer->records && (!buffer->swizzle || in_record);
    }
    if (buffer->stride && (rules->check == WMI_BUFFER_CHECK_RECORDS || buffer->swizzle))
        return place->index < buffer->records && (in_record || (!place->has_index && !buffer->add_tid));
    return (uint64_t)place->index * buffer->stride + place->offset + place->soffset < buffer->records;
}

/* Source: CLRX, "GCN memory handling", and the ISA documents' "Buffer Addressing". */
uint64_t wmi_buffer_address(const struct wmi_buffer *buffer, const struct wmi_buffer_place *place)
{
    const uint64_t start = buffer->base + place->soffset;
    if (!buffer->swizzle)
        return start + (uint64_t)place->index * buffer->stride + place->offset;
    const uint64_t index_msb = place->index / buffer->index_stride;
    const uint64_t index_lsb = place->index % buffer->index_stride;
    const uint64_t offset_msb = place->offset / buffer->element_size;
    const uint64_t offset_lsb = place->offset % buffer->element_size;
    return start + (index_msb * buffer->stride + offset_msb * buffer->element_size) * buffer->index_stride +
           index_lsb * buffer->element_size + offset_lsb;
}
