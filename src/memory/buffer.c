/* SPDX-License-Identifier: MIT */
/* Buffer resources (V#): rules of the generations, address calculation and range checks.
 *
 * Sources. Fields: AMD's register headers in PAL, SQ_BUF_RSRC_WORD0 to 3; the 18-bit stride: CDNA 3 and 4
 * ISA, "Buffer Resource Descriptor", and Mesa's ACO. Units of NUM_RECORDS: Mesa, si_make_buffer_descriptor.
 */
#include "memory/buffer.h"

#include <stddef.h>

/* Word 1: BASE_HI [15:0], STRIDE [29:16], SWIZZLE_ENABLE [31]. Word 3: DATA_FORMAT [18:15] (gfx10: FORMAT
 * [18:12], later [17:12]), ELEMENT_SIZE [20:19], INDEX_STRIDE [22:21], ADD_TID_ENABLE [23], TYPE [31:30]. */
enum {
    SWIZZLE_ENABLE = 1u << 31,
    DATA_FORMAT = 15 << 15,
    FORMAT_GFX10 = 0x7f << 12,
    FORMAT_GFX11 = 0x3f << 12,
    TYPE = 3u << 30,
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
         .private_mask = {SWIZZLE_ENABLE, INDEX_STRIDE | ELEMENT_SIZE | ADD_TID | TYPE},
         .private_value = {SWIZZLE_ENABLE, INDEX_STRIDE_64 | ELEMENT_SIZE_4 | ADD_TID},
         .format_mask = DATA_FORMAT,
         .scratch = {SWIZZLE_ENABLE, SCRATCH_GFX6}},
        {.check = WMI_BUFFER_CHECK_SWIZZLE,
         .max_offset = MAX_OFFSET,
         .element_size_field = true,
         .wide_stride = true,
         .private_mask = {SWIZZLE_ENABLE, INDEX_STRIDE | ELEMENT_SIZE | ADD_TID | TYPE},
         .private_value = {SWIZZLE_ENABLE, INDEX_STRIDE_64 | ELEMENT_SIZE_4 | ADD_TID},
         .format_mask = DATA_FORMAT,
         .scratch = {SWIZZLE_ENABLE, SCRATCH_GFX6}},
        {.check = WMI_BUFFER_CHECK_IDXEN,
         .lane = WMI_BUFFER_LANE_IF_SWIZZLED,
         .swizzle = WMI_BUFFER_SWIZZLE_LANE,
         .max_offset = MAX_OFFSET,
         .wide_stride = true,
         .private_unchecked = true,
         .private_mask = {SWIZZLE_ENABLE, INDEX_STRIDE | ADD_TID | TYPE},
         .private_value = {SWIZZLE_ENABLE, INDEX_STRIDE_64 | ADD_TID},
         .format_mask = DATA_FORMAT,
         .scratch = {SWIZZLE_ENABLE, SCRATCH_GFX6}},
        {.check = WMI_BUFFER_CHECK_SELECT,
         .max_offset = MAX_OFFSET,
         .format_mask = FORMAT_GFX10,
         .scratch = {SWIZZLE_ENABLE, SCRATCH_GFX10}},
        {.check = WMI_BUFFER_CHECK_SELECT,
         .lane = WMI_BUFFER_LANE_REPLACED,
         .swizzle = WMI_BUFFER_SWIZZLE_INDEX,
         .max_offset = MAX_OFFSET,
         .swizzle_element = true,
         .payload = true,
         .format_mask = FORMAT_GFX11,
         .scratch = {1 << 30, SCRATCH_GFX11}},
        {.check = WMI_BUFFER_CHECK_SELECT,
         .lane = WMI_BUFFER_LANE_REPLACED,
         .swizzle = WMI_BUFFER_SWIZZLE_INDEX,
         .max_offset = (1 << 23) - 1,
         .swizzle_element = true,
         .stride_scale = true,
         .payload = true,
         .format_mask = FORMAT_GFX11,
         .scratch = {1 << 30, SCRATCH_GFX11}},
        {.check = WMI_BUFFER_CHECK_BYTES, .max_offset = (1 << 23) - 1, .wide = true, .payload = true},
    };
    return rules < sizeof table / sizeof *table ? &table[rules] : NULL;
}

/* SOFFSET is never swizzled: captures of gfx950 (ROCm/rocm-systems, pull request 10928), gfx1100 and gfx1201
 * (ROCm/rocm-systems, emulation/rocjitsu). Formulas: CLRX, "GCN memory handling", and the ISA documents'
 * "Buffer Addressing". */
uint64_t wmi_buffer_offset(const struct wmi_buffer *buffer, const struct wmi_buffer_place *place)
{
    const uint64_t index = (uint64_t)place->index + place->lane;
    if (!buffer->swizzle)
        return index * buffer->stride + place->offset;
    const uint64_t linear = buffer->contiguous ? place->part : 0, offset = place->offset - linear;
    const uint64_t index_msb = index / buffer->index_stride;
    const uint64_t index_lsb = index % buffer->index_stride;
    const uint64_t offset_msb = offset / buffer->element_size;
    const uint64_t offset_lsb = offset % buffer->element_size;
    return (index_msb * buffer->stride + offset_msb * buffer->element_size) * buffer->index_stride +
           index_lsb * buffer->element_size + offset_lsb + linear;
}

/* Source: RDNA 1, 2 and 3 ISA, "Buffer Out Of Bounds Selection". SOFFSET, and the last byte of raw accesses:
 * also captures of gfx1100 and gfx1201 in ROCm/rocm-systems, emulation/rocjitsu. */
static bool selected_in_range(const struct wmi_buffer *buffer, const struct wmi_buffer_place *place)
{
    const struct wmi_buffer_rules *rules = buffer->rules;
    const bool index = (uint64_t)place->index + place->lane < buffer->records;
    const uint64_t end = place->offset + place->bytes;
    switch ((enum wmi_buffer_select)buffer->select) {
    case WMI_BUFFER_STRUCTURED:
        return index && (rules->payload ? end : place->offset + 1) <= buffer->stride;
    case WMI_BUFFER_INDEX_ONLY:
        return index;
    case WMI_BUFFER_EMPTY_ONLY:
        return buffer->records != 0;
    case WMI_BUFFER_RAW:
        break;
    }
    if (buffer->swizzle && buffer->stride)
        return index && end <= buffer->stride;
    return end + place->soffset <= buffer->records;
}

/* Source: CDNA 5 ISA, "Buffer Out Of Bounds Selection". */
static bool bytes_in_range(const struct wmi_buffer *buffer, const struct wmi_buffer_place *place)
{
    const uint64_t end = place->offset + place->soffset + place->bytes;
    return buffer->swizzle || ((uint64_t)place->index * buffer->stride + end <= buffer->records &&
                               (!buffer->select || end <= buffer->stride));
}

/* Source: CLRX, "GCN memory handling" (gfx6 to gfx8). gfx9: captures of gfx950 in ROCm/rocm-systems, pull
 * request 10928, where SOFFSET counts, the last byte must be in range, and the index is compared without the
 * lane. That the last byte counts before gfx9 is unverified. */
bool wmi_buffer_in_range(const struct wmi_buffer *buffer, const struct wmi_buffer_place *place)
{
    const struct wmi_buffer_rules *rules = buffer->rules;
    if (buffer->unbound)
        return false;
    if (place->addr64)
        return true;
    if (rules->check == WMI_BUFFER_CHECK_SELECT)
        return selected_in_range(buffer, place);
    if (rules->check == WMI_BUFFER_CHECK_BYTES)
        return bytes_in_range(buffer, place);
    if (rules->private_unchecked && buffer->add_tid && !buffer->idxen)
        return true;
    if (rules->check == WMI_BUFFER_CHECK_IDXEN)
        return buffer->idxen && buffer->strided
                   ? place->index < buffer->records
                   : place->offset + place->soffset + place->bytes <= buffer->records;
    const uint64_t index = (uint64_t)place->index + place->lane;
    if (buffer->stride && (rules->check == WMI_BUFFER_CHECK_RECORDS || buffer->swizzle))
        return index < buffer->records &&
               (place->offset < buffer->stride || (!buffer->idxen && !buffer->add_tid));
    return index * buffer->stride + place->offset + place->soffset + place->bytes <= buffer->records;
}

uint64_t wmi_buffer_address(const struct wmi_buffer *buffer, const struct wmi_buffer_place *place)
{
    if (place->addr64)
        return buffer->base + place->address + place->offset + place->soffset;
    return wmi_buffer_sign_extended(buffer->rules,
                                    buffer->base + place->soffset + wmi_buffer_offset(buffer, place));
}

void wmi_buffer_make_private(const struct wmi_buffer_rules *rules, unsigned lanes, uint64_t base,
                             uint64_t size, uint32_t words[4])
{
    words[0] = (uint32_t)base;
    words[1] = (uint32_t)(base >> 32) | rules->scratch[0];
    words[2] = size > UINT32_MAX ? UINT32_MAX : (uint32_t)size;
    words[3] = rules->scratch[1] | (lanes == 64 ? 3u : 2u) << 21;
}

bool wmi_align(enum wmi_alignment mode, bool atomic, unsigned unit, uint64_t *address)
{
    const uint64_t low = *address & (unit - 1);
    if (mode == WMI_ALIGNMENT_DWORD && !atomic)
        *address -= low;
    return !low || (!atomic && mode <= WMI_ALIGNMENT_DWORD);
}
