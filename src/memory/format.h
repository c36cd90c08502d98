/* SPDX-License-Identifier: MIT */
/* Formats of buffers and images: numbers, names, and conversion between memory and registers.
 *
 * Pure functions, independent of the host's floating-point mode. Generations differ only in struct
 * wmi_format_rules. */
#ifndef WMI_FORMAT_H
#define WMI_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Number type of a component. The first eight are NUM_FORMAT of gfx6 to gfx9. */
enum wmi_number {
    WMI_NUMBER_UNORM,     /* x / (2^n - 1) */
    WMI_NUMBER_SNORM,     /* x / (2^(n-1) - 1), not below -1 */
    WMI_NUMBER_USCALED,   /* x, converted to float */
    WMI_NUMBER_SSCALED,   /* x, signed, converted to float */
    WMI_NUMBER_UINT,      /* x */
    WMI_NUMBER_SINT,      /* x, signed */
    WMI_NUMBER_SNORM_OGL, /* (2x + 1) / (2^n - 1) */
    WMI_NUMBER_FLOAT,     /* 32, 16, 11 or 10 bits; 11 and 10 are unsigned; 5_9_9_9: shared exponent */
    WMI_NUMBER_SRGB,      /* images: the sRGB curve, the fourth component UNORM */
    WMI_NUMBER_COUNT
};

/* Block-compressed formats, whose elements are blocks of 4x4 texels; see blocks.h. */
enum wmi_block_format {
    WMI_BLOCK_NONE,
    WMI_BLOCK_BC1,
    WMI_BLOCK_BC2,
    WMI_BLOCK_BC3,
    WMI_BLOCK_BC4,
    WMI_BLOCK_BC5,
    WMI_BLOCK_BC6H, /* gfx6 to gfx9: of which kind is not known, so it has no conversion */
    WMI_BLOCK_BC6H_UF16,
    WMI_BLOCK_BC6H_SF16,
    WMI_BLOCK_BC7,
};

/* The components of an element: component i has bits[i] bits starting at bit shift[i] of `bytes`
 * little-endian bytes. Names start with the highest component: 2_10_10_10 has X in bits 0 to 9 and W in 30
 * and 31. Components of a block have no bits of their own. */
struct wmi_format_layout {
    const char *name;
    uint8_t components; /* 0: invalid */
    uint8_t bytes;
    uint8_t bits[4], shift[4];
    uint16_t numbers; /* mask of 1 << enum wmi_number: the types that exist */
    uint8_t block;    /* enum wmi_block_format */
};

struct wmi_format {
    const struct wmi_format_layout *layout; /* never NULL; no components: loads give 0, stores do nothing */
    enum wmi_number number;
    bool unsigned_alpha; /* the 2-bit W of 2_10_10_10 is read as unsigned */
};

enum { WMI_SELECT_IDENTITY = 4 | 5 << 3 | 6 << 6 | 7 << 9 }; /* DST_SEL of X, Y, Z and W */

/* The rules of a generation. */
struct wmi_format_rules;

/* Returns row `rules` (the limit `format_rules` of a target); NULL: no such row. */
const struct wmi_format_rules *wmi_format_rules(unsigned rules);

/* Returns the format for `code`: FORMAT on gfx10 and later; DATA_FORMAT | NUM_FORMAT << 4 before. The result
 * is invalid if the combination does not exist. */
struct wmi_format wmi_format_of(const struct wmi_format_rules *rules, unsigned code);
/* The same for images: FORMAT, or DATA_FORMAT | NUM_FORMAT << 6 of a T#. */
struct wmi_format wmi_format_of_image(const struct wmi_format_rules *rules, unsigned code);
/* Whether the code of an image format is that of an FMASK, which says where the samples of a texel are. */
bool wmi_format_is_fmask(const struct wmi_format_rules *rules, unsigned code);
/* Returns the code in word 3 of a V#, for wmi_format_of(). */
unsigned wmi_format_code_of(const struct wmi_format_rules *rules, uint32_t word3);
/* Returns the format of an instruction that converts: that of the V#, whose word 3 is given, or if it is
 * `typed` (MTBUF) its own, `code`. That is invalid, too, where the V# has none: such a V# is not bound
 * (ROCm/rocm-systems, emulation/rocjitsu). */
struct wmi_format wmi_format_of_instruction(const struct wmi_format_rules *rules, bool typed, unsigned code,
                                            uint32_t word3);
/* Whether one number encodes data and number format (gfx10 and later). */
bool wmi_format_unified(const struct wmi_format_rules *rules);

/* The units in which an element is transferred and checked: `places` units of `bytes` each. A unit is a
 * component if components have whole bytes, else the element. An invalid format has none. */
void wmi_format_places(const struct wmi_format_layout *layout, unsigned *places, unsigned *bytes);

/* Writes the name, such as "8_8_8_8 UNORM", or "INVALID". */
void wmi_format_name(const struct wmi_format *format, char *text, size_t size);
/* Finds the buffer format called `layout` and `number`, or both in `layout` ("8_8_8_8_UNORM") when `number`
 * is NULL. Case and the prefixes BUF_DATA_FORMAT_, BUF_NUM_FORMAT_, BUF_FMT_ and their IMG_ variants are
 * ignored. False: no such name on this generation. */
bool wmi_format_find(const struct wmi_format_rules *rules, const char *layout, const char *number,
                     unsigned *code);

/* Loads the four components of the element at `from`, which is no block, as an instruction does: into 32-bit
 * registers, or with `half` into the low 16 bits of each. Components that the format lacks are 0. */
void wmi_format_load(const struct wmi_format *format, const unsigned char *from, bool half,
                     uint32_t value[4]);
/* Stores the four values as one element at `to`; `half`: the values have 16 bits. */
void wmi_format_store(const struct wmi_format *format, const uint32_t value[4], bool half, unsigned char *to);

/* The f16 nearest to an f32 (ties to even), in the low half; and the f32 of an f16 in the low half. */
uint32_t wmi_half_of_float(uint32_t value);
uint32_t wmi_float_of_half(uint32_t value);

/* The float nearest to a ratio, both of whose numbers are below 2^25, and to what the sRGB curve makes of x:
 * an f32, or with `half` an f16. */
uint32_t wmi_float_of_ratio(int64_t numerator, uint32_t denominator, bool half);
uint32_t wmi_float_of_srgb(double x, bool half);

/* DST_SEL. Load: value i becomes 0, 1 or the component that `select` names. Store: the inverse; components
 * that no value selects are 0. */
void wmi_format_select_load(const struct wmi_format *format, unsigned select, bool half, uint32_t value[4]);
void wmi_format_select_store(unsigned select, uint32_t value[4]);

/* ---- source of an instruction's format ---- */

enum wmi_format_source { WMI_FORMAT_FROM_OPCODE, WMI_FORMAT_FROM_INSTRUCTION, WMI_FORMAT_FROM_RESOURCE };

/* Source of the table: CLRX, "GCN memory handling". */
struct wmi_format_origin {
    enum wmi_format_source format; /* DATA_FORMAT and NUM_FORMAT */
    bool selects;                  /* DST_SEL of the V# applies, else the identity */
    bool all_or_nothing;           /* if one component is out of range, the whole lane is */
};

/* typed: MTBUF; converts: *_FORMAT_*, MUBUF or MTBUF. All others, including atomics, have the format of their
 * opcode. */
struct wmi_format_origin wmi_format_origin(bool typed, bool converts);

#endif
