/* SPDX-License-Identifier: MIT */
/* What the files with host code of vector steps share: the recipes of vector.def, and what most steps need.
 */
#ifndef WMI_COMPILE_VECTOR_H
#define WMI_COMPILE_VECTOR_H

#include "jit/stretch.h"

enum wmi_recipe_flag {
    WMI_REVERSED = 1 << 0, /* the operands of the first instruction change places */
    WMI_COMMUTES = 1 << 1,
    WMI_SETTLES = 1 << 2,      /* a NaN result needs the body if its operands change places */
    WMI_CLAMPS = 1 << 3,       /* only without the CLAMP bit, y bit 0 */
    WMI_FLUSHES = 1 << 4,      /* only if the wave's f32 mode flushes denormals anyway */
    WMI_NEAREST = 1 << 5,      /* only if it rounds to nearest */
    WMI_AS_F32 = 1 << 6,       /* only if the wave's f64 mode is its f32 mode */
    WMI_NEEDS_STRIPS = 1 << 7, /* its emitter has no form for rows in runs */
    WMI_NEEDS_AVX512 = 1 << 9,
    WMI_IN_HALVES = 1 << 10,  /* though it has WMI_NEEDS_STRIPS, it has a form for half strips */
    WMI_WHOLE_WAVE = 1 << 11, /* it has none for half strips: it makes one test for all strips */
    WMI_KEEPS = 1 << 8,       /* the result may have parts of what the row d was in active lanes */
};

static inline bool wmi_has_avx512(const struct wmi_stretch *s)
{
    return s->host.vectors == &wmi_avx512;
}

struct wmi_recipe {
    wmi_emit_step *emit;
    uint32_t host; /* WMI_EVEX */
    uint8_t argument;
    uint16_t flags;
};

const struct wmi_recipe *wmi_recipe_of(const struct wmi_step *step);
/* Whether the flags allow the step to be compiled. */
bool wmi_recipe_allows(const struct wmi_stretch *s, const struct wmi_step *step);

static inline void wmi_vector_shift(struct wmi_stretch *s, unsigned digit, unsigned d,
                                    struct wmi_host_operand a, unsigned count)
{
    wmi_evex(&s->host, WMI_SHIFT_IMMEDIATE, digit, d, a, WMI_NO_MASK, (int)count);
}

static inline void wmi_vector_compare(struct wmi_stretch *s, uint32_t instruction, unsigned k, unsigned a,
                                      struct wmi_host_operand b, unsigned mask, int predicate)
{
    wmi_evex(&s->host, instruction, k, a, b, mask, predicate);
}

/* A uniform value in a register. */
static inline struct wmi_rows wmi_vector_uniform(unsigned reg)
{
    return (struct wmi_rows){.reg = {(uint8_t)reg}, .uniform = true};
}

/* A register with a constant in all lanes, until the end of the step. */
unsigned wmi_vector_splat(struct wmi_stretch *s, uint32_t value);
/* The mask of the strip's active lanes for a result that has a register per strip; other lanes become 0. */
unsigned wmi_vector_active(const struct wmi_stretch *s, bool uniform, unsigned strip);
unsigned wmi_vector_active_or_zero(const struct wmi_stretch *s, bool uniform, unsigned strip);
/* Leaves for the body if a result is a NaN, or if an active lane of a or b compares so. */
void wmi_vector_leave_for_nan(struct wmi_stretch *s, const struct wmi_rows *d);
void wmi_vector_leave_if(struct wmi_stretch *s, uint32_t instruction, const struct wmi_rows *a,
                         const struct wmi_rows *b, int predicate);
/* d = instruction(a, b), or 0 in inactive lanes. */
struct wmi_rows wmi_vector_two(struct wmi_stretch *s, uint32_t instruction, const struct wmi_rows *a,
                               const struct wmi_rows *b, bool zeroes);
/* The high words of the products. */
struct wmi_rows wmi_vector_high_product(struct wmi_stretch *s, const struct wmi_rows *a,
                                        const struct wmi_rows *b, bool is_signed);
/* Copies a to the registers of d, which an instruction then changes. */
struct wmi_rows wmi_vector_copy(struct wmi_stretch *s, const struct wmi_rows *a, bool uniform);
/* a with its sign bits cleared if `absolute`, then changed if `negates`. */
struct wmi_rows wmi_vector_modify(struct wmi_stretch *s, const struct wmi_rows *a, bool negates,
                                  bool absolute);
/* The mask at `place` = the active lanes for which a and b compare so. */
void wmi_vector_store_compare(struct wmi_stretch *s, uint32_t instruction, const struct wmi_rows *a,
                              const struct wmi_rows *b, int predicate, uint32_t place);

/* A pair of rows: the low and the high words of 64-bit values. */
struct wmi_pair {
    struct wmi_rows low, high;
};
struct wmi_pair wmi_vector_use_pair(struct wmi_stretch *s, uint32_t row);
bool wmi_pair_is_uniform(const struct wmi_pair *pair);
/* Its part for a strip. */
struct wmi_host_pair wmi_vector_operands(const struct wmi_stretch *s, const struct wmi_pair *pair,
                                         unsigned strip);
void wmi_vector_write_pair(struct wmi_stretch *s, uint32_t row, struct wmi_pair *result);
/* The same of f64, on hosts that have a function for it. */
void wmi_vector_store_compare_f64(struct wmi_stretch *s, uint32_t instruction, const struct wmi_pair *a,
                                  const struct wmi_pair *b, int predicate, uint32_t place);

/* Steps on 64-bit integers, and products of which the high word counts: vector_64.c. */
wmi_emit_step wmi_emit_shift_64, wmi_emit_fused_shift, wmi_emit_compare_64, wmi_emit_multiply_high_signed,
    wmi_emit_multiply_add_i64, wmi_emit_shift_add_64, wmi_emit_move_64;
/* Moves between a scalar and any lane: vector_lanes.c. */
wmi_emit_step wmi_emit_read_lane, wmi_emit_write_lane;
/* Steps on f16, and the sources of such steps: vector_f16.c. */
wmi_emit_step wmi_emit_f16, wmi_emit_fused_f16, wmi_emit_compare_f16, wmi_emit_from_f16, wmi_emit_to_f16,
    wmi_emit_pack_f16, wmi_emit_packed_f16, wmi_emit_widen_f16, wmi_emit_modify_f16, wmi_emit_modify_v2f16,
    wmi_emit_high_half;
/* Counts, places and orders of bits and bytes: vector_bits.c. */
wmi_emit_step wmi_emit_count_bits, wmi_emit_count_below, wmi_emit_reverse_bits, wmi_emit_first_from_low,
    wmi_emit_first_from_high, wmi_emit_permute_bytes;
/* Minimum, maximum and median of three, classes of floats: vector_order.c. */
wmi_emit_step wmi_emit_order_3, wmi_emit_order_3_f32, wmi_emit_class;
/* Arguments of the first two: (a with b) with c, or the median. */
enum { WMI_FIRST_GREATER = 1 << 0, WMI_SECOND_GREATER = 1 << 1, WMI_MEDIAN = 1 << 2 };
enum { WMI_CLASS_F16, WMI_CLASS_F32, WMI_CLASS_F64 }; /* of the last one: the type of a */
/* Steps on the low halves of rows: vector_half.c. */
wmi_emit_step wmi_emit_half, wmi_emit_half_shift, wmi_emit_half_compare, wmi_emit_half_multiply_add,
    wmi_emit_sdwa_source, wmi_emit_packed_shift, wmi_emit_packed_multiply_add, wmi_emit_select_halves,
    wmi_emit_part;
/* Arguments of the last one: */
enum { WMI_TO_LOW_HALF = 4 | 2 << 3, WMI_TO_HIGH_HALF = 5 | 2 << 3 };
/* Steps on pairs of rows: vector_f64.c. */
wmi_emit_step wmi_emit_f64, wmi_emit_fused_f64, wmi_emit_modify_f64, wmi_emit_compare_f64, wmi_emit_to_f64,
    wmi_emit_from_f64, wmi_emit_round_f64, wmi_emit_exponent_f64, wmi_emit_scale_f64, wmi_emit_min_max_f64,
    wmi_emit_one_f64;
/* The arguments of the last two. */
enum { WMI_LESSER, WMI_GREATER };
enum { WMI_FRACTION, WMI_RECIPROCAL, WMI_ROOT, WMI_RECIPROCAL_ROOT, WMI_SIGNIFICAND };
/* The argument of conversions: what else the conversion is from or to. */
enum { WMI_FROM_FLOAT, WMI_FROM_SIGNED, WMI_FROM_UNSIGNED };
/* Approximations and steps on exponents: vector_special.c. */
wmi_emit_step wmi_emit_reciprocal, wmi_emit_reciprocal_root, wmi_emit_root, wmi_emit_significand,
    wmi_emit_exponent, wmi_emit_scale;
/* exp, log, sin, cos and what gfx11 and gfx12 compute by tables: vector_transcendental.c. The argument: the
 * function, of the units of those targets or of all others. */
wmi_emit_step wmi_emit_transcendental;
enum wmi_transcendental {
    WMI_UNIT_RCP,
    WMI_UNIT_RSQ,
    WMI_UNIT_SQRT,
    WMI_UNIT_EXP,
    WMI_UNIT_LOG,
    WMI_UNIT_SIN,
    WMI_UNIT_COS,
    WMI_USUAL_EXP,
    WMI_USUAL_LOG,
    WMI_USUAL_SIN,
    WMI_USUAL_COS,
};

#endif
