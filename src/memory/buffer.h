/* SPDX-License-Identifier: MIT */
/* Buffer resources (V#): decoding, address calculation and range checks.
 *
 * Pure functions of the descriptor and a lane's operands, independent of instructions and guest memory.
 * Generations differ only in struct wmi_buffer_rules. */
#ifndef WMI_BUFFER_H
#define WMI_BUFFER_H

#include <stdbool.h>
#include <stdint.h>

/* The unit of NUM_RECORDS in range checks. */
enum wmi_buffer_check {
    WMI_BUFFER_CHECK_RECORDS, /* gfx6, gfx7: records if there is a stride, else bytes */
    WMI_BUFFER_CHECK_SWIZZLE, /* gfx8: the same, but records only if swizzled */
    WMI_BUFFER_CHECK_IDXEN,   /* gfx9: records if the instruction has an index and there is a stride */
    WMI_BUFFER_CHECK_SELECT,  /* gfx10 and later: selected by OOB_SELECT */
    WMI_BUFFER_CHECK_BYTES,   /* gfx12.5: always bytes; OOB_SELECT checks the record, too */
};

/* Whether ADD_TID adds the lane to an index from a VGPR. */
enum wmi_buffer_lane {
    WMI_BUFFER_LANE_ADDED,
    WMI_BUFFER_LANE_IF_SWIZZLED,
    WMI_BUFFER_LANE_REPLACED, /* the VGPR replaces it */
};

/* What SWIZZLE_ENABLE needs to have an effect. */
enum wmi_buffer_swizzle {
    WMI_BUFFER_SWIZZLE_ALWAYS,
    WMI_BUFFER_SWIZZLE_LANE,  /* ADD_TID */
    WMI_BUFFER_SWIZZLE_INDEX, /* ADD_TID or IDXEN */
};

/* OOB_SELECT, gfx10 and later. */
enum wmi_buffer_select {
    WMI_BUFFER_STRUCTURED, /* index below NUM_RECORDS and offset below STRIDE */
    WMI_BUFFER_INDEX_ONLY, /* index below NUM_RECORDS */
    WMI_BUFFER_EMPTY_ONLY, /* out of range only if NUM_RECORDS is 0 */
    WMI_BUFFER_RAW,        /* offset + SOFFSET in bytes; swizzled buffers: see wmi_buffer_in_range() */
};

/* The rules of a generation. */
struct wmi_buffer_rules {
    enum wmi_buffer_check check;
    enum wmi_buffer_lane lane;
    enum wmi_buffer_swizzle swizzle;
    bool element_size_field; /* ELEMENT_SIZE is in word 3 */
    bool swizzle_element;    /* SWIZZLE_ENABLE has two bits: off, 4 bytes, reserved, 16 bytes */
    bool wide_stride;        /* if the lane counts, DATA_FORMAT extends STRIDE in plain instructions */
    bool stride_scale;       /* STRIDE_SCALE is in word 3 */
    bool private_unchecked;  /* ADD_TID without an index: no range check */
    bool wide;            /* BASE_ADDRESS has 57 bits, NUM_RECORDS 45; there is no format, and no ADD_TID */
    bool payload;         /* OOB_SELECT 0: the last byte must be in the record, not the first only */
    bool addr64;          /* instructions may have a 64-bit address instead of index and offset */
    int32_t max_offset;   /* maximum offset of an instruction */
    uint32_t format_mask; /* word 3: the bits of the data format; all 0: INVALID */
    uint32_t private_mask[2];  /* words 1 and 3: bits that identify a V# of private memory, ... */
    uint32_t private_value[2]; /* ... and their values: dwords swizzled for 64 lanes, ADD_TID */
    uint32_t scratch[2];       /* words 1 and 3 of the V# that the runtime builds, without INDEX_STRIDE */
};

/* Returns row `rules` (the limit `buffer_rules` of a target); NULL: not supported. */
const struct wmi_buffer_rules *wmi_buffer_rules(unsigned rules);

/* A V#, decoded for an instruction. */
struct wmi_buffer {
    const struct wmi_buffer_rules *rules;
    uint64_t base;         /* bytes; 48 or 57 bits, sign-extended */
    uint64_t records;      /* NUM_RECORDS, in the unit of `check` */
    uint32_t stride;       /* bytes from record to record */
    uint32_t element_size; /* contiguous bytes if swizzled */
    uint32_t index_stride; /* interleaved records if swizzled */
    uint8_t select;        /* enum wmi_buffer_select */
    bool idxen;            /* the instruction has an index in a VGPR */
    bool add_tid;          /* ADD_TID_ENABLE */
    bool lane;             /* the lane is added to the index */
    bool swizzle;          /* SWIZZLE_ENABLE, and it has an effect */
    bool strided;          /* STRIDE is not 0, without the bits from DATA_FORMAT */
    bool unbound;          /* the V# describes no buffer: loads return 0, stores and atomics are dropped */
    bool contiguous;       /* swizzled, but an access is contiguous from its first byte on */
};

/* The address operands of one lane. */
struct wmi_buffer_place {
    uint32_t index;   /* records: VGPR */
    uint32_t lane;    /* records: the lane number if it is added, else 0 */
    uint32_t soffset; /* bytes: the scalar offset */
    uint64_t offset;  /* bytes: instruction plus VGPR, modulo 2^32, plus `part` */
    uint32_t part;    /* bytes from the start of the access */
    uint32_t bytes;   /* range-checked as a unit: one element; for formats and atomics the whole access */
    bool addr64;      /* use `address`, from the VGPRs, instead of the index; no swizzling, no range check */
    uint64_t address;
};

/* Bit 47 of an address extends to the bits above. Source: ROCm/rocm-systems, emulation/rocjitsu. */
static inline uint64_t wmi_buffer_canonical(uint64_t address)
{
    return (uint64_t)((int64_t)(address << 16) >> 16);
}

static inline uint64_t wmi_buffer_sign_extended(const struct wmi_buffer_rules *rules, uint64_t address)
{
    return rules->wide ? (uint64_t)((int64_t)(address << 7) >> 7) : wmi_buffer_canonical(address);
}

static inline uint64_t wmi_buffer_base(const struct wmi_buffer_rules *rules, const uint32_t words[4])
{
    return wmi_buffer_sign_extended(rules, words[0] | (uint64_t)words[1] << 32);
}

/* NUM_RECORDS of a wide V#. */
static inline uint64_t wmi_buffer_wide_records(const uint32_t words[4])
{
    return words[1] >> 25 | (uint64_t)words[2] << 7 | (uint64_t)(words[3] & 0x3f) << 39;
}

/* A wide V#. Source: CDNA 5 ISA, "Buffer Resource" and "Swizzled Buffer Addressing". */
static inline void wmi_buffer_decode_wide(struct wmi_buffer *buffer, const uint32_t words[4])
{
    static const uint8_t scale[] = {1, 4, 8, 32};
    const uint32_t word3 = words[3];
    buffer->records = wmi_buffer_wide_records(words);
    buffer->stride = (word3 >> 12 & 0x3fff) * scale[word3 >> 26 & 3];
    buffer->strided = buffer->stride != 0;
    buffer->element_size = 16;
    buffer->index_stride = 32;
    buffer->select = word3 >> 29 & 1;
    buffer->swizzle = buffer->contiguous = word3 >> 28 & 1;
    buffer->add_tid = buffer->lane = false;
    buffer->unbound = word3 >> 30;
}

/* SWIZZLE_ENABLE of a V#. */
static inline bool wmi_buffer_swizzle_enable(const struct wmi_buffer_rules *rules, const uint32_t words[4])
{
    if (rules->wide)
        return words[3] >> 28 & 1;
    return rules->swizzle_element ? words[1] >> 30 : words[1] >> 31;
}

/* plain: the instruction does not convert with the descriptor's format. Inline because every buffer
 * instruction calls it. Sources. STRIDE_SCALE: RDNA 4 ISA, table "Buffer Resource Descriptor". Unbound V#s:
 * RDNA 3 ISA, "Buffer Resource": a data format of 0 without ADD_TID (what MTBUF does with it: see
 * wmi_format_of_instruction()), and a TYPE other than 0. Elements of 16 bytes: RDNA 4 ISA, "Swizzled Buffer
 * Addressing": higher dwords follow the first one linearly. */
static inline struct wmi_buffer wmi_buffer_decode(const struct wmi_buffer_rules *rules,
                                                  const uint32_t words[4], bool plain, bool idxen)
{
    static const uint8_t scale[] = {1, 4, 8, 32};
    const uint32_t word3 = words[3];
    struct wmi_buffer buffer = {
        .rules = rules,
        .base = wmi_buffer_base(rules, words),
        .stride = words[1] >> 16 & 0x3fff,
        .records = words[2],
        .element_size = rules->element_size_field ? 2u << (word3 >> 19 & 3) : 4,
        .index_stride = 8u << (word3 >> 21 & 3),
        .select = word3 >> 28 & 3,
        .idxen = idxen,
        .add_tid = word3 >> 23 & 1,
        .swizzle = wmi_buffer_swizzle_enable(rules, words),
    };
    if (rules->wide) {
        wmi_buffer_decode_wide(&buffer, words);
        return buffer;
    }
    buffer.strided = buffer.stride != 0;
    if (rules->swizzle_element)
        buffer.element_size = words[1] >> 30 == 3 ? 16 : 4;
    if (rules->swizzle != WMI_BUFFER_SWIZZLE_ALWAYS)
        buffer.swizzle &= buffer.add_tid || (idxen && rules->swizzle == WMI_BUFFER_SWIZZLE_INDEX);
    buffer.lane = buffer.add_tid && (!idxen || rules->lane == WMI_BUFFER_LANE_ADDED ||
                                     (buffer.swizzle && rules->lane == WMI_BUFFER_LANE_IF_SWIZZLED));
    if (buffer.lane && plain && rules->wide_stride)
        buffer.stride |= (word3 >> 15 & 15) << 14;
    if (rules->stride_scale)
        buffer.stride *= scale[word3 >> 18 & 3];
    buffer.unbound = word3 >> 30 || (!(word3 & rules->format_mask) && !buffer.add_tid);
    buffer.contiguous = buffer.swizzle && rules->swizzle_element && buffer.element_size == 16;
    return buffer;
}

/* Whether the access at `place` is in range. Accesses of several dwords are checked dword by dword. */
bool wmi_buffer_in_range(const struct wmi_buffer *buffer, const struct wmi_buffer_place *place);

/* Returns the distance of `place` from the buffer's base, without SOFFSET, in bytes. */
uint64_t wmi_buffer_offset(const struct wmi_buffer *buffer, const struct wmi_buffer_place *place);

/* Returns the address of the first byte at `place`. In a swizzled buffer, the following bytes are contiguous
 * only up to the end of the element, unless `contiguous` is set. */
uint64_t wmi_buffer_address(const struct wmi_buffer *buffer, const struct wmi_buffer_place *place);

/* Builds the V# for private memory, `size` bytes at `base`, of waves of `lanes` lanes, as the runtime does.
 * Source: ROCR-Runtime, AqlQueue::InitScratchSRD and related functions. */
void wmi_buffer_make_private(const struct wmi_buffer_rules *rules, unsigned lanes, uint64_t base,
                             uint64_t size, uint32_t words[4]);

/* SH_MEM_CONFIG.ALIGNMENT_MODE, in the order of enum wm_alignment. Source: AMD's register headers in PAL;
 * RDNA 3 ISA, "Alignment" of buffers; RDNA 1 ISA, "Alignment". The unit is that of wmi_alignment_unit(). */
enum wmi_alignment {
    WMI_ALIGNMENT_UNALIGNED,    /* any address is allowed; the Linux driver's setting */
    WMI_ALIGNMENT_DWORD,        /* the low bits of the address are ignored */
    WMI_ALIGNMENT_DWORD_STRICT, /* addresses must be multiples of the unit */
    WMI_ALIGNMENT_STRICT,       /* the same, but the unit is the size of the data */
};

/* The unit of alignment of an access that moves `bytes` per lane, a power of two: the size of the data (16
 * for 12 bytes, as in LDS; for memory unverified), in the modes of dwords `most` bytes at most. */
static inline unsigned wmi_alignment_unit(enum wmi_alignment mode, unsigned bytes, unsigned most)
{
    const unsigned whole = bytes == 12 ? 16 : bytes;
    return mode != WMI_ALIGNMENT_STRICT && whole > most ? most : whole;
}

/* Applies the alignment mode to the address of an access. False: a memory violation; reads return zero,
 * writes are dropped. Atomics must be aligned in every mode. */
bool wmi_align(enum wmi_alignment mode, bool atomic, unsigned unit, uint64_t *address);

#endif
