/* SPDX-License-Identifier: MIT */
/* Descriptors, formats and addresses, explained. */
#ifndef WAVEMEM_EXPLAIN_H
#define WAVEMEM_EXPLAIN_H

#include "isa.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- descriptors ---- */

enum wm_descriptor_kind {
    WM_DESCRIPTOR_BUFFER,  /* V#, four words */
    WM_DESCRIPTOR_IMAGE,   /* T#, eight words; with R128 the first four */
    WM_DESCRIPTOR_SAMPLER, /* S#, four words */
};

enum { WM_DESCRIPTOR_WORDS = 8, WM_DESCRIPTOR_FIELDS = 64, WM_DESCRIPTOR_WARNINGS = 16 };

struct wm_descriptor_field {
    const char *name; /* AMD's: "NUM_RECORDS" */
    uint64_t value;
    unsigned bit, bits; /* from bit `bit` of the whole descriptor on */
    char meaning[64];   /* "64 records", "FLOAT"; "" when the number says it all */
};

struct wm_descriptor {
    enum wm_descriptor_kind kind;
    uint32_t words[WM_DESCRIPTOR_WORDS];
    unsigned word_count;
    struct wm_descriptor_field field[WM_DESCRIPTOR_FIELDS]; /* in the order of their bits */
    size_t field_count;
    char warning[WM_DESCRIPTOR_WARNINGS][240]; /* what is odd, and what the hardware does about it */
    size_t warning_count;
};

/* Takes `count` words apart as `target` does. WM_BAD_ARGUMENT for another number of words than the kind has,
 * WM_UNSUPPORTED when the target has no such descriptors. */
WM_API enum wm_status wm_descriptor_decode(const char *target, enum wm_descriptor_kind kind,
                                           const uint32_t *words, size_t count,
                                           struct wm_descriptor *descriptor, struct wm_diag *diag);
/* Makes one of `count` fields, of which name (in any case) and value are set; what is not named is 0. Then as
 * wm_descriptor_decode. WM_NOT_FOUND for a field that the target does not have, WM_BAD_ARGUMENT for a value
 * that does not fit. */
WM_API enum wm_status wm_descriptor_encode(const char *target, enum wm_descriptor_kind kind,
                                           const struct wm_descriptor_field *fields, size_t count,
                                           struct wm_descriptor *descriptor, struct wm_diag *diag);

/* What a buffer instruction gives one lane. */
struct wm_buffer_request {
    bool idxen, offen, addr64;
    uint32_t index, offset; /* of the VGPRs; without IDXEN or OFFEN they do not count */
    uint64_t address;       /* of the VGPRs with ADDR64 */
    int32_t inst_offset;
    uint32_t soffset;
    unsigned lane;  /* 0 to 63 */
    unsigned bytes; /* that the lane moves: 1 to 16 */
    bool format;    /* converts by the V#'s format */
    unsigned parts; /* with a format: components that are checked one by one; 0 or 1: all at once */
    bool atomic;    /* as format conversions, checked as one; others dword by dword */
};

enum { WM_BUFFER_ELEMENTS = 4, WM_BUFFER_STEPS = 40 };

struct wm_buffer_answer {
    unsigned elements; /* that are checked by themselves */
    uint64_t address[WM_BUFFER_ELEMENTS];
    bool in_range[WM_BUFFER_ELEMENTS];
    char step[WM_BUFFER_STEPS][160]; /* how it came to that: a formula with its numbers each */
    size_t step_count;
};

/* The address of one lane's access through the V# `words`, step by step, and whether it is in range.
 * Sources: CLRX and the ISA documents, "Buffer Addressing"; see docs/hacking.md for what is unverified. */
WM_API enum wm_status wm_buffer_explain(const char *target, const uint32_t words[4],
                                        const struct wm_buffer_request *request,
                                        struct wm_buffer_answer *answer, struct wm_diag *diag);

/* ---- formats ---- */

/* A component of an element: bits [shift, shift + bits) of it. */
struct wm_format_component {
    unsigned bits, shift;
    uint32_t raw;
};

/* A format of buffers, an element in it, and the registers that belong to it. */
struct wm_format_answer {
    char name[32];       /* "8_8_8_8 UNORM" */
    const char *formula; /* of a component x of n bits */
    bool unified;        /* code is FORMAT; else DATA_FORMAT | NUM_FORMAT << 4 */
    unsigned code, bytes, components;
    bool integer, is_signed; /* what registers hold: u32, i32, else f32 */
    bool unsigned_alpha;     /* the fourth component is read without its sign, as gfx6 to gfx8 do */
    struct wm_format_component component[4];
    uint32_t element[4]; /* little-endian in memory; 0 behind its bytes */
    uint32_t value[4];   /* registers; of a load, 0 where the format has no component */
};

/* What a load through the buffer format makes of `element`. layout, number: names like "8_8_8_8" and "unorm",
 * with AMD's prefixes or without, in any case; number may be NULL when layout has both ("8_8_8_8_UNORM").
 * WM_NOT_FOUND: the target has no such format. */
WM_API enum wm_status wm_format_load(const char *target, const char *layout, const char *number,
                                     const uint32_t element[4], struct wm_format_answer *answer,
                                     struct wm_diag *diag);
/* What a store of these registers writes: answer->element. */
WM_API enum wm_status wm_format_store(const char *target, const char *layout, const char *number,
                                      const uint32_t value[4], struct wm_format_answer *answer,
                                      struct wm_diag *diag);

/* ---- the addresses of an instruction ---- */

/* A register of 32 bits before the instruction: "s4", "v3", "m0", "vcc_lo", "vcc_hi", "flat_scratch_lo",
 * "flat_scratch_hi". */
struct wm_register {
    const char *name;
    uint32_t value[64]; /* by lane; of scalar registers the first */
};

struct wm_address_request {
    const char *target;                  /* also "gfx1030:wave64" */
    const char *text;                    /* a memory instruction, as LLVM writes it */
    const struct wm_register *registers; /* those that are not given are 0; M0, where it limits LDS, is -1 */
    size_t register_count;
    uint64_t lanes;     /* EXEC; bits above the wave do not count */
    uint32_t lds_bytes; /* of the workgroup; 0: as many as the target has for one */
    unsigned lane;      /* whose address is told step by step */
};

enum { WM_ADDRESS_ELEMENTS = 16, WM_ADDRESS_STEPS = 64 };

/* One place of each lane. */
struct wm_address_element {
    const char *space;                           /* "memory" or "LDS" */
    uint64_t lanes;                              /* that reach this space */
    uint64_t bad_range, bad_align, bad_aperture; /* of `lanes`: what the hardware does not let through */
    uint64_t address[64];                        /* of private memory as it is interleaved */
    bool has_private;
    uint64_t private_offset[64]; /* of private memory: the lane's own byte */
};

struct wm_address_answer {
    char text[160];     /* LLVM's */
    const char *path;   /* "BUFFER", "FLAT", "DS" ... */
    const char *kind;   /* "load", "store" or "atomic" */
    bool format;        /* converts by a format: a load out of range gives 1 where DST_SEL says so */
    unsigned wave_size; /* 32 or 64 */
    uint64_t lanes;     /* EXEC; 1 for SMEM */
    unsigned bytes;     /* of each element */
    unsigned elements;
    struct wm_address_element element[WM_ADDRESS_ELEMENTS];
    char step[WM_ADDRESS_STEPS][200]; /* how the lane's addresses come about: formulas with their numbers */
    size_t step_count;
};

/* Which addresses the instruction touches, with which verdict, as execution would. No memory is needed: every
 * address counts as allocated. WM_BAD_FILE: the text is no instruction of the target; WM_UNSUPPORTED: it does
 * not access memory, or wavemem does not execute it yet; WM_BAD_ARGUMENT: a register that there is not, or a
 * lane that is not active. */
WM_API enum wm_status wm_address_explain(const struct wm_address_request *request,
                                         struct wm_address_answer *answer, struct wm_diag *diag);

#ifdef __cplusplus
}
#endif

#endif
