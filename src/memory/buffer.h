/* SPDX-License-Identifier: MIT */
/* Buffer resources (V#): what their fields mean, which byte a lane addresses, and whether it is in range.
 *
 * Pure functions of the descriptor and of what the instruction gives a lane; they know no instruction and no
 * guest memory. What differs from generation to generation is a row of rules. */
#ifndef WMI_BUFFER_H
#define WMI_BUFFER_H

#include <stdbool.h>
#include <stdint.h>

/* What NUM_RECORDS is compared with. */
enum wmi_buffer_check {
    WMI_BUFFER_CHECK_RECORDS, /* gfx6, 7: records when there is a stride, else bytes without SOFFSET's */
    WMI_BUFFER_CHECK_SWIZZLE, /* gfx8: the same, but records only when swizzled */
    WMI_BUFFER_CHECK_IDXEN,   /* gfx9: records when the instruction has an index and there is a stride */
    WMI_BUFFER_CHECK_SELECT,  /* gfx10 and later: what OOB_SELECT says */
};

/* OOB_SELECT, gfx10 and later. */
enum wmi_buffer_select {
    WMI_BUFFER_STRUCTURED, /* index in records, offset in its record */
    WMI_BUFFER_INDEX_ONLY, /* index in records */
    WMI_BUFFER_EMPTY_ONLY, /* only a buffer of no records is out of range */
    WMI_BUFFER_RAW,        /* offset in bytes; or by swizzle, see wmi_buffer_in_range() */
};

/* The rules of a generation. */
struct wmi_buffer_rules {
    enum wmi_buffer_check check;
    bool element_size_field; /* ELEMENT_SIZE is in word 3 */
    bool swizzle_element;    /* SWIZZLE_ENABLE has two bits: no, 4 bytes, reserved, 16 bytes */
    bool wide_stride;        /* with ADD_TID, DATA_FORMAT is the upper bits of STRIDE in plain instructions */
    bool stride_scale;       /* STRIDE_SCALE is in word 3 */
    bool private_unchecked;  /* ADD_TID without an index: no range check */
    bool payload;            /* OOB_SELECT's rules look at the last byte, not the first */
    bool swizzled_soffset;   /* SOFFSET is swizzled with the offset */
    bool addr64;             /* instructions may give a 64-bit address in place of index and offset */
    int32_t max_offset;      /* of an instruction */
    uint32_t private_mask[2]; /* words 1 and 3 of a V# for private memory: swizzled dwords of 64 lanes, ... */
    uint32_t private_value[2]; /* ... the lane added to the index */
    uint32_t scratch[2];       /* words 1 and 3 of the V# that the runtime makes, but for INDEX_STRIDE */
};

/* The rules with number `rules`, the limit `buffer_rules` of a target; NULL: not there yet. */
const struct wmi_buffer_rules *wmi_buffer_rules(unsigned rules);

/* A V#, decoded. */
struct wmi_buffer {
    const struct wmi_buffer_rules *rules;
    uint64_t base;         /* bytes; 48 bits */
    uint32_t stride;       /* bytes */
    uint32_t records;      /* NUM_RECORDS, in what `check` says */
    uint32_t element_size; /* bytes that stay together when swizzled */
    uint32_t index_stride; /* records that are interleaved when swizzled */
    uint8_t select;        /* enum wmi_buffer_select */
    bool swizzle, add_tid;
};

/* What an instruction gives a lane. */
struct wmi_buffer_place {
    bool has_index;   /* IDXEN */
    uint32_t index;   /* records: VGPR, and the lane with ADD_TID */
    uint32_t offset;  /* bytes: instruction and VGPR, modulo 2^32 */
    uint32_t soffset; /* bytes: the scalar offset */
    uint32_t bytes;   /* that are checked together: an element, or with a format or an atomic all */
    bool addr64;      /* `address`, from the VGPRs, in place of the index; nothing is swizzled or checked */
    uint64_t address;
};

/* plain: the instruction does not convert through the descriptor's format. In the header, because each buffer
 * instruction begins with it. STRIDE_SCALE multiplies by 1, 4, 8 or 32 (RDNA 4 ISA, "Buffer Resource
 * Descriptor"; unverified). */
static inline struct wmi_buffer wmi_buffer_decode(const struct wmi_buffer_rules *rules,
                                                  const uint32_t words[4], bool plain)
{
    static const uint8_t scale[] = {1, 4, 8, 32};
    const uint32_t swizzle = words[1] >> 30, word3 = words[3];
    struct wmi_buffer buffer = {
        .rules = rules,
        .base = words[0] | (uint64_t)(words[1] & 0xffff) << 32,
        .stride = words[1] >> 16 & 0x3fff,
        .records = words[2],
        .element_size = rules->element_size_field ? 2u << (word3 >> 19 & 3) : 4,
        .index_stride = 8u << (word3 >> 21 & 3),
        .select = word3 >> 28 & 3,
        .swizzle = swizzle >> 1,
        .add_tid = word3 >> 23 & 1,
    };
    if (buffer.add_tid && plain && rules->wide_stride)
        buffer.stride |= (word3 >> 15 & 15) << 14;
    if (rules->stride_scale)
        buffer.stride *= scale[word3 >> 18 & 3];
    if (rules->swizzle_element) {
        buffer.swizzle = swizzle != 0;
        buffer.element_size = swizzle == 3 ? 16 : 4;
    }
    return buffer;
}

/* Whether the access at `place` is in range. Accesses of several dwords are checked dword by dword. */
bool wmi_buffer_in_range(const struct wmi_buffer *buffer, const struct wmi_buffer_place *place);

/* The address of the first byte at `place`; the bytes that follow are its neighbours up to the end of the
 * element when swizzled. */
uint64_t wmi_buffer_address(const struct wmi_buffer *buffer, const struct wmi_buffer_place *place);

/* The V# of the private memory of waves of `lanes`, of which there are `size` bytes from `base` on, as the
 * runtime sets it up. Source: ROCR-Runtime, AqlQueue::InitScratchSRD and its kin. */
void wmi_buffer_make_private(const struct wmi_buffer_rules *rules, unsigned lanes, uint64_t base,
                             uint64_t size, uint32_t words[4]);

/* SH_MEM_CONFIG.ALIGNMENT_MODE, in the order of enum wm_alignment. Source: AMD's register headers in PAL;
 * CDNA 4 ISA, "Memory Alignment". */
enum wmi_alignment {
    WMI_ALIGNMENT_UNALIGNED,    /* any address; what the Linux driver sets */
    WMI_ALIGNMENT_DWORD,        /* the low bits of the address are dropped */
    WMI_ALIGNMENT_DWORD_STRICT, /* dwords must be aligned */
    WMI_ALIGNMENT_STRICT,       /* so must smaller elements */
};

/* Aligns the address of an element of `bytes` as `mode` does. False: a memory violation; reads are zero,
 * writes dropped. Atomics must be aligned in every mode. Elements above four bytes count as dwords. In
 * DWORD_STRICT, what happens to smaller ones is unverified: they pass as they are. */
bool wmi_align(enum wmi_alignment mode, bool atomic, unsigned bytes, uint64_t *address);

#endif
