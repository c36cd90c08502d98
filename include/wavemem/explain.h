/* SPDX-License-Identifier: MIT */
/* Explanations of descriptors, formats and addresses. */
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
    unsigned bit, bits; /* lowest bit, counted from bit 0 of the descriptor; width */
    char meaning[64];   /* "64 records", "FLOAT"; "" if the value needs no explanation */
};

struct wm_descriptor {
    enum wm_descriptor_kind kind;
    uint32_t words[WM_DESCRIPTOR_WORDS];
    unsigned word_count;
    struct wm_descriptor_field field[WM_DESCRIPTOR_FIELDS]; /* in the order of their bits */
    size_t field_count;
    char warning[WM_DESCRIPTOR_WARNINGS][240]; /* unusual or invalid settings and their effect */
    size_t warning_count;
};

/* Decodes a descriptor of `count` words for `target`. WM_BAD_ARGUMENT: wrong number of words for the kind;
 * WM_UNSUPPORTED: the target has no such descriptor. */
WM_API enum wm_status wm_descriptor_decode(const char *target, enum wm_descriptor_kind kind,
                                           const uint32_t *words, size_t count,
                                           struct wm_descriptor *descriptor, struct wm_diag *diag);
/* Builds a descriptor from `count` fields, then decodes it as wm_descriptor_decode does. Only name (case is
 * ignored) and value of each field are read; other fields of the descriptor are 0. WM_NOT_FOUND: the target
 * has no such field; WM_BAD_ARGUMENT: a value does not fit. */
WM_API enum wm_status wm_descriptor_encode(const char *target, enum wm_descriptor_kind kind,
                                           const struct wm_descriptor_field *fields, size_t count,
                                           struct wm_descriptor *descriptor, struct wm_diag *diag);

/* One lane of a buffer instruction: its operands and what it accesses. */
struct wm_buffer_request {
    bool idxen, offen, addr64;
    uint32_t index, offset; /* from VGPRs; ignored without IDXEN or OFFEN */
    uint64_t address;       /* from VGPRs, with ADDR64 */
    int32_t inst_offset;
    uint32_t soffset;
    unsigned lane;  /* 0 to 63 */
    unsigned bytes; /* accessed by the lane, 1 to 16 */
    bool format;    /* converts with the V#'s format */
    unsigned parts; /* with a format: number of components that are checked separately; 0 or 1: all at once */
    bool atomic; /* an atomic is range-checked as a whole, like a format conversion; other accesses per dword
                  */
};

enum { WM_BUFFER_ELEMENTS = 4, WM_BUFFER_STEPS = 40 };

struct wm_buffer_answer {
    unsigned elements; /* number of separately checked elements */
    uint64_t address[WM_BUFFER_ELEMENTS];
    bool in_range[WM_BUFFER_ELEMENTS];
    char step[WM_BUFFER_STEPS][160]; /* the derivation: one formula with its values per step */
    size_t step_count;
};

/* Computes, step by step, the address of one lane's access through the V# `words`, and whether it is in
 * range. Sources: CLRX and the ISA documents, "Buffer Addressing"; docs/status.md lists what is unverified.
 */
WM_API enum wm_status wm_buffer_explain(const char *target, const uint32_t words[4],
                                        const struct wm_buffer_request *request,
                                        struct wm_buffer_answer *answer, struct wm_diag *diag);

/* ---- formats ---- */

/* A component of an element: bits [shift, shift + bits). */
struct wm_format_component {
    unsigned bits, shift;
    uint32_t raw;
};

/* A buffer format, an element in memory, and the corresponding register values. */
struct wm_format_answer {
    char name[32];       /* "8_8_8_8 UNORM" */
    const char *formula; /* conversion of a component x of n bits */
    bool unified;        /* `code` is FORMAT; else DATA_FORMAT | NUM_FORMAT << 4 */
    unsigned code, bytes, components;
    bool integer, is_signed; /* register type: u32, i32, else f32 */
    bool unsigned_alpha;     /* the fourth component is read as unsigned, as on gfx6 to gfx8 */
    struct wm_format_component component[4];
    uint32_t element[4]; /* little-endian; bytes after the element are 0 */
    uint32_t value[4];   /* registers; for a load, 0 where the format has no component */
};

/* Converts `element` as a load through a buffer format does. layout, number: names such as "8_8_8_8" and
 * "unorm"; case and AMD's prefixes are ignored; number may be NULL if layout contains both ("8_8_8_8_UNORM").
 * WM_NOT_FOUND: the target has no such format. */
WM_API enum wm_status wm_format_load(const char *target, const char *layout, const char *number,
                                     const uint32_t element[4], struct wm_format_answer *answer,
                                     struct wm_diag *diag);
/* Converts register values as a store does; the result is answer->element. */
WM_API enum wm_status wm_format_store(const char *target, const char *layout, const char *number,
                                      const uint32_t value[4], struct wm_format_answer *answer,
                                      struct wm_diag *diag);

/* ---- the addresses of an instruction ---- */

/* The value of a 32-bit register before the instruction: "s4", "v3", "m0", "vcc_lo", "vcc_hi",
 * "flat_scratch_lo", "flat_scratch_hi". */
struct wm_register {
    const char *name;
    uint32_t value[64]; /* per lane; scalar registers use value[0], those of 64 bits also value[1] */
};

struct wm_address_request {
    const char *target;                  /* "gfx900", "gfx1030:wave64" */
    const char *text;                    /* a memory instruction in LLVM's syntax */
    const struct wm_register *registers; /* all others are 0; M0 is -1 where it limits LDS */
    size_t register_count;
    uint64_t lanes;                     /* EXEC; bits beyond the wave size are ignored */
    uint32_t lds_bytes;                 /* of the workgroup; 0: the maximum of the target */
    unsigned lane;                      /* the lane whose address is derived step by step */
    uint64_t shared_base, private_base; /* apertures of FLAT, see wm_set_apertures(); 0: the target's */
};

enum { WM_ADDRESS_ELEMENTS = 16, WM_ADDRESS_STEPS = 64 };

/* One element that each lane accesses. */
struct wm_address_element {
    const char *space;                           /* "memory" or "LDS" */
    uint64_t lanes;                              /* lanes whose address is in this space */
    uint64_t bad_range, bad_align, bad_aperture; /* subsets of `lanes` that fail a check */
    uint64_t address[64];                        /* private memory: the interleaved (swizzled) address */
    bool has_private;
    uint64_t private_offset[64]; /* private memory: offset in the lane's private segment */
};

struct wm_address_answer {
    char text[160];     /* in LLVM's syntax */
    const char *path;   /* "BUFFER", "FLAT", "DS" ... */
    const char *kind;   /* "load", "store" or "atomic" */
    bool format;        /* converts by a format: a load out of range gives 1 where DST_SEL says so */
    unsigned wave_size; /* 32 or 64 */
    uint64_t lanes;     /* EXEC; 1 for SMEM */
    unsigned bytes;     /* of each element */
    unsigned elements;
    struct wm_address_element element[WM_ADDRESS_ELEMENTS];
    char step[WM_ADDRESS_STEPS][200]; /* the derivation: one formula with its values per step */
    size_t step_count;
};

/* Computes the addresses that an instruction accesses and the result of their checks, exactly as execution
 * does. Every address counts as allocated. WM_BAD_FILE: the text is not an instruction of the target;
 * WM_UNSUPPORTED: it does not access memory, or wavemem does not execute it yet; WM_BAD_ARGUMENT: no such
 * register, or the lane is inactive. */
WM_API enum wm_status wm_address_explain(const struct wm_address_request *request,
                                         struct wm_address_answer *answer, struct wm_diag *diag);

#ifdef __cplusplus
}
#endif

#endif
