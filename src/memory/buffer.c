/* SPDX-License-Identifier: MIT */
/* Buffer resources (V#): rules of the generations, address calculation and range checks.
 *
 * Sources. Fields: AMD's register headers in PAL, SQ_BUF_RSRC_WORD0 to 3; the 18-bit stride: CDNA 3 and 4
 * ISA, "Buffer Resource Descriptor", and Mesa's ACO. Units of NUM_RECORDS: Mesa, si_make_buffer_descriptor.
 */
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
    MAX_OFFSET = 4095, /* 12 bits; gfx12: 24 with a sign, which must be plus (RDNA 4 ISA) */
};

/* Word 3 of the V# that the runtime builds for private memory. */
enum {
    SCRATCH_GFX6 = 0xfac | 4 << 12 | 4 << 15 | ELEMENT_SIZE_4 | ADD_TID, /* XYZW, UINT 32 */
    SCRATCH_GFX10 = 0xfac | 20 << 12 | ADD_TID | 1 << 24 | 2 << 28, /* 32_UINT, RESOURCE_LEVEL, OOB_SELECT */
    SCRATCH_GFX11 = 0xfac | 20 << 12 | ADD_TID | 2 << 28,
};

const struct wmi_buffer_rules *wmi_buffer_rules(unsigned rules)
{
    static const struct wmi_buffer_rules table[] = {
        {.check = WMI_BUFFER_CHECK_RECORDS,
         .addr64 = true,
         .max_offset = MAX_OFFSET,
         .element_size_field = true,
         .private_mask = {SWIZZLE_ENABLE, INDEX_STRIDE | ELEMENT_SIZE | ADD_TID},
         .private_value = {SWIZZLE_ENABLE, INDEX_STRIDE_64 | ELEMENT_SIZE_4 | ADD_TID},
         .scratch = {SWIZZLE_ENABLE, SCRATCH_GFX6}},
        {.check = WMI_BUFFER_CHECK_SWIZZLE,
         .max_offset = MAX_OFFSET,
         .element_size_field = true,
         .wide_stride = true,
         .private_mask = {SWIZZLE_ENABLE, INDEX_STRIDE | ELEMENT_SIZE | ADD_TID},
         .private_value = {SWIZZLE_ENABLE, INDEX_STRIDE_64 | ELEMENT_SIZE_4 | ADD_TID},
         .scratch = {SWIZZLE_ENABLE, SCRATCH_GFX6}},
        {.check = WMI_BUFFER_CHECK_IDXEN,
         .max_offset = MAX_OFFSET,
         .wide_stride = true,
         .private_unchecked = true,
         .private_mask = {SWIZZLE_ENABLE, INDEX_STRIDE | ADD_TID},
         .private_value = {SWIZZLE_ENABLE, INDEX_STRIDE_64 | ADD_TID},
         .scratch = {SWIZZLE_ENABLE, SCRATCH_GFX6}},
        {.check = WMI_BUFFER_CHECK_SELECT,
         .max_offset = MAX_OFFSET,
         .scratch = {SWIZZLE_ENABLE, SCRATCH_GFX10}},
        {.check = WMI_BUFFER_CHECK_SELECT,
         .max_offset = MAX_OFFSET,
         .swizzle_element = true,
         .payload = true,
         .scratch = {1 << 30, SCRATCH_GFX11}},
        {.check = WMI_BUFFER_CHECK_SELECT,
         .max_offset = (1 << 23) - 1,
         .swizzle_element = true,
         .stride_scale = true,
         .payload = true,
         .swizzled_soffset = true,
         .scratch = {1 << 30, SCRATCH_GFX11}},
    };
    return rules < sizeof table / sizeof *table ? &table[rules] : NULL;
}

/* Byte offset from the base address. Includes SOFFSET only if the generation swizzles it.
 * Source: CLRX, "GCN memory handling", and the ISA documents' "Buffer Addressing". */
static uint64_t buffer_offset(const struct wmi_buffer *buffer, const struct wmi_buffer_place *place)
{
    if (!buffer->swizzle)
        return (uint64_t)place->index * buffer->stride + place->offset;
    const uint64_t offset = (uint64_t)place->offset + (buffer->rules->swizzled_soffset ? place->soffset : 0);
    const uint64_t index_msb = place->index / buffer->index_stride;
    const uint64_t index_lsb = place->index % buffer->index_stride;
    const uint64_t offset_msb = offset / buffer->element_size;
    const uint64_t offset_lsb = offset % buffer->element_size;
    return (index_msb * buffer->stride + offset_msb * buffer->element_size) * buffer->index_stride +
           index_lsb * buffer->element_size + offset_lsb;
}

/* Source: Mesa, ac_descriptors.c, on OOB_SELECT; RDNA 4 ISA, "Range Checking": raw buffers include SOFFSET
 * in the check (unverified for gfx10 and gfx11). For swizzled raw buffers, gfx10 compares the swizzled
 * offset. */
static bool selected_in_range(const struct wmi_buffer *buffer, const struct wmi_buffer_place *place)
{
    const struct wmi_buffer_rules *rules = buffer->rules;
    const uint64_t end = (uint64_t)place->offset + (rules->payload ? place->bytes : 1);
    const bool structured = place->index < buffer->records && end <= buffer->stride;
    switch ((enum wmi_buffer_select)buffer->select) {
    case WMI_BUFFER_STRUCTURED:
        return structured;
    case WMI_BUFFER_INDEX_ONLY:
        return place->index < buffer->records;
    case WMI_BUFFER_EMPTY_ONLY:
        return buffer->records != 0;
    case WMI_BUFFER_RAW:
        break;
    }
    if (!buffer->swizzle)
        return end + place->soffset <= buffer->records;
    if (!rules->payload)
        return buffer_offset(buffer, place) < buffer->records;
    return buffer->stride ? structured : end <= buffer->records;
}

/* Source: CLRX, "GCN memory handling" (gfx6, 7); CDNA 4 ISA, "Range Checking" (gfx9, which ignores
 * SOFFSET). On gfx9, with an index and swizzling, the offset must also be below the stride (unverified). */
bool wmi_buffer_in_range(const struct wmi_buffer *buffer, const struct wmi_buffer_place *place)
{
    const struct wmi_buffer_rules *rules = buffer->rules;
    const bool in_record = place->offset < buffer->stride;
    if (place->addr64)
        return true;
    if (rules->check == WMI_BUFFER_CHECK_SELECT)
        return selected_in_range(buffer, place);
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

uint64_t wmi_buffer_address(const struct wmi_buffer *buffer, const struct wmi_buffer_place *place)
{
    if (place->addr64)
        return buffer->base + place->address + place->offset + place->soffset;
    const bool folded = buffer->swizzle && buffer->rules->swizzled_soffset;
    return buffer->base + (folded ? 0 : place->soffset) + buffer_offset(buffer, place);
}

void wmi_buffer_make_private(const struct wmi_buffer_rules *rules, unsigned lanes, uint64_t base,
                             uint64_t size, uint32_t words[4])
{
    words[0] = (uint32_t)base;
    words[1] = (uint32_t)(base >> 32) | rules->scratch[0];
    words[2] = size > UINT32_MAX ? UINT32_MAX : (uint32_t)size;
    words[3] = rules->scratch[1] | (lanes == 64 ? 3u : 2u) << 21;
}

bool wmi_align(enum wmi_alignment mode, bool atomic, unsigned bytes, uint64_t *address)
{
    const uint64_t low = *address & (bytes < 4 || atomic ? bytes - 1 : 3);
    if (atomic)
        return !low;
    switch (mode) {
    case WMI_ALIGNMENT_DWORD:
        *address -= low;
        return true;
    case WMI_ALIGNMENT_DWORD_STRICT:
        return bytes < 4 || !low;
    case WMI_ALIGNMENT_STRICT:
        return !low;
    case WMI_ALIGNMENT_UNALIGNED:
        break;
    }
    return true;
}
