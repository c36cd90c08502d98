/* SPDX-License-Identifier: MIT */
/* Every float body that rounds, on every CPU level of the host, wave32 and wave64, against an independent
 * implementation of the ISA documents' rules in exact arithmetic, lane by lane: edge values and random bits,
 * several MODEs, full and partial lane sets, and the result in a separate register or in that of a source. */
#include "frame.h"
#include "isa/isa.h"
#include "rules.h"
#include "sem/table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

/* ---- the bodies ---- */

#define F16  (&exact_f16)
#define F32  (&exact_f32)
#define F64  (&exact_f64)
#define M    l->mode
#define A    l->a
#define B    l->b
#define C    l->c
#define H(x) ((x) & 0xffff)
#define T(x) ((x) >> 16 & 0xffff)
#define W(x) converted(F16, F32, x, M)

#define RULE(name, value)                                                                                    \
    static uint64_t rule_##name(struct lane *l)                                                              \
    {                                                                                                        \
        return value;                                                                                        \
    }

/* name, result, sources, value. Types: f16 f32 f64 v2f16 i16 i32 u32, mask for results. */
#define BODIES(X)                                                                                            \
    X(v_add_f32, f32, f32, f32, none, sum(F32, A, B, M))                                                     \
    X(v_sub_f32, f32, f32, f32, none,                                                                        \
      exact_is_nan(F32, B) ? sum(F32, A, B, M) : sum(F32, A, negated(F32, B), M))                            \
    X(v_subrev_f32, f32, f32, f32, none,                                                                     \
      exact_is_nan(F32, A) ? nan_of(F32, A, B, B) : sum(F32, B, negated(F32, A), M))                         \
    X(v_mul_f32, f32, f32, f32, none, product(F32, A, B, M))                                                 \
    X(v_mul_legacy_f32, f32, f32, f32, none, legacy(F32, A, B, M))                                           \
    X(v_min_f32, f32, f32, f32, none, least(F32, A, B, M))                                                   \
    X(v_max_f32, f32, f32, f32, none, greatest(F32, A, B, M))                                                \
    X(v_min_legacy_f32, f32, f32, f32, none, input(F32, is_less(F32, A, B, M) ? A : B, M))                   \
    X(v_max_legacy_f32, f32, f32, f32, none,                                                                 \
      input(F32, is_less(F32, A, B, M) || is_unordered(F32, A, B) ? B : A, M))                               \
    X(v_fma_f32, f32, f32, f32, f32, fused(F32, A, B, C, M))                                                 \
    X(v_mad_f32, f32, f32, f32, f32, unfused(F32, A, B, C, M))                                               \
    X(v_mac_f32, f32, f32, f32, f32, unfused(F32, A, B, C, M))                                               \
    X(v_madak_f32, f32, f32, f32, f32, unfused(F32, A, B, C, M))                                             \
    X(v_madmk_f32, f32, f32, f32, f32, unfused(F32, A, C, B, M))                                             \
    X(v_mad_mix_f32, f32, f32, f32, f32, unfused(F32, A, B, C, M))                                           \
    X(v_fma_mix_f32, f32, f32, f32, f32, fused(F32, A, B, C, M))                                             \
    X(v_dot2_f32_f16, f32, v2f16, v2f16, f32,                                                                \
      sum(F32, fused(F32, W(T(A)), W(T(B)), product(F32, W(H(A)), W(H(B)), M), M), C, M))                    \
    X(v_mad_legacy_f32, f32, f32, f32, f32, unfused_legacy(A, B, C, M))                                      \
    X(v_cubeid_f32, f32, f32, f32, f32, cube_face(A, B, C, M))                                               \
    X(v_cubesc_f32, f32, f32, f32, f32, cube_s(A, B, C, M))                                                  \
    X(v_cubetc_f32, f32, f32, f32, f32, cube_t(A, B, C, M))                                                  \
    X(v_cubema_f32, f32, f32, f32, f32, cube_major(A, B, C, M))                                              \
    X(v_div_scale_f32, f32, f32, f32, f32, div_scale(F32, A, B, C, M, &l->bit))                              \
    X(v_div_scale_f64, f64, f64, f64, f64, div_scale(F64, A, B, C, M, &l->bit))                              \
    X(v_cvt_off_f32_i4, f32, i32, none, none,                                                                \
      rounded(F32, (struct number){A >> 3 & 1, A & 8 ? 16 - (A & 15) : A & 15, -4}, M))                      \
    X(v_min3_f32, f32, f32, f32, f32, least(F32, least(F32, A, B, M), C, M))                                 \
    X(v_max3_f32, f32, f32, f32, f32, greatest(F32, greatest(F32, A, B, M), C, M))                           \
    X(v_med3_f32, f32, f32, f32, f32, middle(F32, A, B, C, M))                                               \
    X(v_maxmin_f32, f32, f32, f32, f32, least(F32, greatest(F32, A, B, M), C, M))                            \
    X(v_minmax_f32, f32, f32, f32, f32, greatest(F32, least(F32, A, B, M), C, M))                            \
    X(v_maxmin_f16, f16, f16, f16, f16, least(F16, greatest(F16, A, B, M), C, M))                            \
    X(v_minmax_f16, f16, f16, f16, f16, greatest(F16, least(F16, A, B, M), C, M))                            \
    X(v_minimum_f16, f16, f16, f16, none, lowest(F16, A, B, M))                                              \
    X(v_maximum_f16, f16, f16, f16, none, highest(F16, A, B, M))                                             \
    X(v_minimum_f32, f32, f32, f32, none, lowest(F32, A, B, M))                                              \
    X(v_maximum_f32, f32, f32, f32, none, highest(F32, A, B, M))                                             \
    X(v_minimum_f64, f64, f64, f64, none, lowest(F64, A, B, M))                                              \
    X(v_maximum_f64, f64, f64, f64, none, highest(F64, A, B, M))                                             \
    X(v_minimum3_f16, f16, f16, f16, f16, lowest(F16, lowest(F16, A, B, M), C, M))                           \
    X(v_maximum3_f16, f16, f16, f16, f16, highest(F16, highest(F16, A, B, M), C, M))                         \
    X(v_minimum3_f32, f32, f32, f32, f32, lowest(F32, lowest(F32, A, B, M), C, M))                           \
    X(v_maximum3_f32, f32, f32, f32, f32, highest(F32, highest(F32, A, B, M), C, M))                         \
    X(v_maximumminimum_f16, f16, f16, f16, f16, lowest(F16, highest(F16, A, B, M), C, M))                    \
    X(v_minimummaximum_f16, f16, f16, f16, f16, highest(F16, lowest(F16, A, B, M), C, M))                    \
    X(v_maximumminimum_f32, f32, f32, f32, f32, lowest(F32, highest(F32, A, B, M), C, M))                    \
    X(v_minimummaximum_f32, f32, f32, f32, f32, highest(F32, lowest(F32, A, B, M), C, M))                    \
    X(v_pk_minimum_f16, v2f16, v2f16, v2f16, none,                                                           \
      packed(lowest(F16, H(A), H(B), M), lowest(F16, T(A), T(B), M)))                                        \
    X(v_pk_min3_num_f16, v2f16, v2f16, v2f16, v2f16,                                                         \
      packed(least(F16, least(F16, H(A), H(B), M), H(C), M),                                                 \
             least(F16, least(F16, T(A), T(B), M), T(C), M)))                                                \
    X(v_pk_max3_num_f16, v2f16, v2f16, v2f16, v2f16,                                                         \
      packed(greatest(F16, greatest(F16, H(A), H(B), M), H(C), M),                                           \
             greatest(F16, greatest(F16, T(A), T(B), M), T(C), M)))                                          \
    X(v_pk_minimum3_f16, v2f16, v2f16, v2f16, v2f16,                                                         \
      packed(lowest(F16, lowest(F16, H(A), H(B), M), H(C), M),                                               \
             lowest(F16, lowest(F16, T(A), T(B), M), T(C), M)))                                              \
    X(v_pk_maximum3_f16, v2f16, v2f16, v2f16, v2f16,                                                         \
      packed(highest(F16, highest(F16, H(A), H(B), M), H(C), M),                                             \
             highest(F16, highest(F16, T(A), T(B), M), T(C), M)))                                            \
    X(v_pk_maximum_f16, v2f16, v2f16, v2f16, none,                                                           \
      packed(highest(F16, H(A), H(B), M), highest(F16, T(A), T(B), M)))                                      \
    X(v_fma_legacy_f32, f32, f32, f32, f32, fused_legacy(A, B, C, M))                                        \
    X(v_fmac_legacy_f32, f32, f32, f32, f32, fused_legacy(A, B, C, M))                                       \
    X(v_mac_legacy_f32, f32, f32, f32, f32, unfused_legacy(A, B, C, M))                                      \
    X(v_mullit_f32, f32, f32, f32, f32, lit(A, B, C, M))                                                     \
    X(v_fmac_f16, f16, f16, f16, f16, fused(F16, A, B, C, M))                                                \
    X(v_fmamk_f16, f16, f16, f16, f16, fused(F16, A, C, B, M))                                               \
    X(v_fmaak_f16, f16, f16, f16, f16, fused(F16, A, B, C, M))                                               \
    X(v_cvt_pk_i16_f32, v2f16, f32, f32, none,                                                               \
      packed(H(integer(F32, A, INT16_MIN, INT16_MAX, TOWARD_ZERO)),                                          \
             H(integer(F32, B, INT16_MIN, INT16_MAX, TOWARD_ZERO))))                                         \
    X(v_cvt_pk_u16_f32, v2f16, f32, f32, none,                                                               \
      packed(H(integer(F32, A, 0, UINT16_MAX, TOWARD_ZERO)),                                                 \
             H(integer(F32, B, 0, UINT16_MAX, TOWARD_ZERO))))                                                \
    X(v_dot2c_f32_f16, f32, v2f16, v2f16, f32,                                                               \
      sum(F32, fused(F32, W(T(A)), W(T(B)), product(F32, W(H(A)), W(H(B)), M), M), C, M))                    \
    X(v_trunc_f32, f32, f32, none, none, integral(F32, A, TOWARD_ZERO, M))                                   \
    X(v_ceil_f32, f32, f32, none, none, integral(F32, A, UPWARD, M))                                         \
    X(v_floor_f32, f32, f32, none, none, integral(F32, A, DOWNWARD, M))                                      \
    X(v_rndne_f32, f32, f32, none, none, integral(F32, A, TO_EVEN, M))                                       \
    X(v_fract_f32, f32, f32, none, none, fract(F32, A, M))                                                   \
    X(v_frexp_mant_f32, f32, f32, none, none, frexp_significand(F32, A, M))                                  \
    X(v_frexp_exp_i32_f32, i32, f32, none, none, (uint32_t)frexp_exponent(F32, A, M))                        \
    X(v_ldexp_f32, f32, f32, i32, none, scaled(F32, A, (int32_t)B, M))                                       \
    X(v_div_fixup_f32, f32, f32, f32, f32, fixed_up(F32, A, B, C, M))                                        \
    X(v_add_f64, f64, f64, f64, none, sum(F64, A, B, M))                                                     \
    X(v_mul_f64, f64, f64, f64, none, product(F64, A, B, M))                                                 \
    X(v_min_f64, f64, f64, f64, none, least(F64, A, B, M))                                                   \
    X(v_max_f64, f64, f64, f64, none, greatest(F64, A, B, M))                                                \
    X(v_fma_f64, f64, f64, f64, f64, fused(F64, A, B, C, M))                                                 \
    X(v_trunc_f64, f64, f64, none, none, integral(F64, A, TOWARD_ZERO, M))                                   \
    X(v_ceil_f64, f64, f64, none, none, integral(F64, A, UPWARD, M))                                         \
    X(v_floor_f64, f64, f64, none, none, integral(F64, A, DOWNWARD, M))                                      \
    X(v_rndne_f64, f64, f64, none, none, integral(F64, A, TO_EVEN, M))                                       \
    X(v_fract_f64, f64, f64, none, none, fract(F64, A, M))                                                   \
    X(v_frexp_mant_f64, f64, f64, none, none, frexp_significand(F64, A, M))                                  \
    X(v_frexp_exp_i32_f64, i32, f64, none, none, (uint32_t)frexp_exponent(F64, A, M))                        \
    X(v_ldexp_f64, f64, f64, i32, none, scaled(F64, A, (int32_t)B, M))                                       \
    X(v_div_fixup_f64, f64, f64, f64, f64, fixed_up(F64, A, B, C, M))                                        \
    X(v_add_f16, f16, f16, f16, none, sum(F16, A, B, M))                                                     \
    X(v_sub_f16, f16, f16, f16, none,                                                                        \
      exact_is_nan(F16, B) ? sum(F16, A, B, M) : sum(F16, A, negated(F16, B), M))                            \
    X(v_subrev_f16, f16, f16, f16, none,                                                                     \
      exact_is_nan(F16, A) ? nan_of(F16, B, A, A) : sum(F16, B, negated(F16, A), M))                         \
    X(v_mul_f16, f16, f16, f16, none, product(F16, A, B, M))                                                 \
    X(v_min_f16, f16, f16, f16, none, least(F16, A, B, M))                                                   \
    X(v_max_f16, f16, f16, f16, none, greatest(F16, A, B, M))                                                \
    X(v_fma_f16, f16, f16, f16, f16, fused(F16, A, B, C, M))                                                 \
    X(v_mad_f16, f16, f16, f16, f16, unfused(F16, A, B, C, M))                                               \
    X(v_mac_f16, f16, f16, f16, f16, unfused(F16, A, B, C, M))                                               \
    X(v_madak_f16, f16, f16, f16, f16, unfused(F16, A, B, C, M))                                             \
    X(v_min3_f16, f16, f16, f16, f16, least(F16, least(F16, A, B, M), C, M))                                 \
    X(v_max3_f16, f16, f16, f16, f16, greatest(F16, greatest(F16, A, B, M), C, M))                           \
    X(v_med3_f16, f16, f16, f16, f16, middle(F16, A, B, C, M))                                               \
    X(v_trunc_f16, f16, f16, none, none, integral(F16, A, TOWARD_ZERO, M))                                   \
    X(v_ceil_f16, f16, f16, none, none, integral(F16, A, UPWARD, M))                                         \
    X(v_floor_f16, f16, f16, none, none, integral(F16, A, DOWNWARD, M))                                      \
    X(v_rndne_f16, f16, f16, none, none, integral(F16, A, TO_EVEN, M))                                       \
    X(v_fract_f16, f16, f16, none, none, fract(F16, A, M))                                                   \
    X(v_frexp_mant_f16, f16, f16, none, none, frexp_significand(F16, A, M))                                  \
    X(v_frexp_exp_i16_f16, i16, f16, none, none, H(frexp_exponent(F16, A, M)))                               \
    X(v_ldexp_f16, f16, f16, i16, none, scaled(F16, A, (int16_t)B, M))                                       \
    X(v_div_fixup_f16, f16, f16, f16, f16, fixed_up(F16, A, B, C, M))                                        \
    X(v_div_fixup_legacy_f16, f16, f16, f16, f16, fixed_up(F16, A, B, C, M))                                 \
    X(v_pk_fmac_f16, v2f16, v2f16, v2f16, v2f16,                                                             \
      packed(fused(F16, H(A), H(B), H(C), M), fused(F16, T(A), T(B), T(C), M)))                              \
    X(v_pk_add_f16, v2f16, v2f16, v2f16, none, packed(sum(F16, H(A), H(B), M), sum(F16, T(A), T(B), M)))     \
    X(v_pk_mul_f16, v2f16, v2f16, v2f16, none,                                                               \
      packed(product(F16, H(A), H(B), M), product(F16, T(A), T(B), M)))                                      \
    X(v_pk_min_f16, v2f16, v2f16, v2f16, none, packed(least(F16, H(A), H(B), M), least(F16, T(A), T(B), M))) \
    X(v_pk_max_f16, v2f16, v2f16, v2f16, none,                                                               \
      packed(greatest(F16, H(A), H(B), M), greatest(F16, T(A), T(B), M)))                                    \
    X(v_pk_fma_f16, v2f16, v2f16, v2f16, v2f16,                                                              \
      packed(fused(F16, H(A), H(B), H(C), M), fused(F16, T(A), T(B), T(C), M)))                              \
    X(v_cvt_f32_i32, f32, i32, none, none, of_integer(F32, (int32_t)A, M))                                   \
    X(v_cvt_f32_u32, f32, i32, none, none, of_integer(F32, (uint32_t)A, M))                                  \
    X(v_cvt_f64_i32, f64, i32, none, none, of_integer(F64, (int32_t)A, M))                                   \
    X(v_cvt_f64_u32, f64, i32, none, none, of_integer(F64, (uint32_t)A, M))                                  \
    X(v_cvt_f16_i16, f16, i16, none, none, of_integer(F16, (int16_t)A, M))                                   \
    X(v_cvt_f16_u16, f16, i16, none, none, of_integer(F16, (uint16_t)A, M))                                  \
    X(v_cvt_f32_ubyte0, f32, i32, none, none, of_integer(F32, (uint8_t)A, M))                                \
    X(v_cvt_f32_ubyte1, f32, i32, none, none, of_integer(F32, (uint8_t)(A >> 8), M))                         \
    X(v_cvt_f32_ubyte2, f32, i32, none, none, of_integer(F32, (uint8_t)(A >> 16), M))                        \
    X(v_cvt_f32_ubyte3, f32, i32, none, none, of_integer(F32, (uint8_t)(A >> 24), M))                        \
    X(v_cvt_i32_f32, i32, f32, none, none, (uint32_t)integer(F32, A, INT32_MIN, INT32_MAX, TOWARD_ZERO))     \
    X(v_cvt_u32_f32, i32, f32, none, none, (uint32_t)integer(F32, A, 0, UINT32_MAX, TOWARD_ZERO))            \
    X(v_cvt_flr_i32_f32, i32, f32, none, none, floor_integer(A, M))                                          \
    X(v_cvt_rpi_i32_f32, i32, f32, none, none, nearest_up(A, M))                                             \
    X(v_cvt_pk_u8_f32, i32, f32, i32, i32, with_byte(A, B, C, M))                                            \
    X(v_cvt_pkaccum_u8_f32, i32, f32, i32, none, with_byte(A, B, (uint32_t)l->d, M))                         \
    X(v_pack_b32_f16, v2f16, f16, f16, none, packed(moved(F16, A, M), moved(F16, B, M)))                     \
    X(v_fmac_f32, f32, f32, f32, f32, fused(F32, A, B, C, M))                                                \
    X(v_fmamk_f32, f32, f32, f32, f32, fused(F32, A, C, B, M))                                               \
    X(v_fmaak_f32, f32, f32, f32, f32, fused(F32, A, B, C, M))                                               \
    X(v_fmac_f64, f64, f64, f64, f64, fused(F64, A, B, C, M))                                                \
    X(v_fmamk_f64, f64, f64, f64, f64, fused(F64, A, C, B, M))                                               \
    X(v_fmaak_f64, f64, f64, f64, f64, fused(F64, A, B, C, M))                                               \
    X(v_madmk_f16, f16, f16, f16, f16, unfused(F16, A, C, B, M))                                             \
    X(v_mad_legacy_f16, f16, f16, f16, f16, unfused(F16, A, B, C, M))                                        \
    X(v_fma_legacy_f16, f16, f16, f16, f16, fused(F16, A, B, C, M))                                          \
    X(v_cvt_i32_f64, i32, f64, none, none, (uint32_t)integer(F64, A, INT32_MIN, INT32_MAX, TOWARD_ZERO))     \
    X(v_cvt_u32_f64, i32, f64, none, none, (uint32_t)integer(F64, A, 0, UINT32_MAX, TOWARD_ZERO))            \
    X(v_cvt_i16_f16, i16, f16, none, none, H(integer(F16, A, INT16_MIN, INT16_MAX, TOWARD_ZERO)))            \
    X(v_cvt_u16_f16, i16, f16, none, none, H(integer(F16, A, 0, UINT16_MAX, TOWARD_ZERO)))                   \
    X(v_cvt_f16_f32, f16, f32, none, none, converted(F32, F16, A, M))                                        \
    X(v_cvt_f32_f16, f32, f16, none, none, converted(F16, F32, A, M))                                        \
    X(v_cvt_f64_f32, f64, f32, none, none, converted(F32, F64, A, M))                                        \
    X(v_cvt_f32_f64, f32, f64, none, none, converted(F64, F32, A, M))                                        \
    X(v_cvt_pkrtz_f16_f32, v2f16, f32, f32, none,                                                            \
      packed(converted(F32, F16, A, M | 0xc), converted(F32, F16, B, M | 0xc)))                              \
    X(v_cvt_norm_i16_f16, i16, f16, none, none, H(normalized(F16, A, true)))                                 \
    X(v_cvt_norm_u16_f16, i16, f16, none, none, H(normalized(F16, A, false)))                                \
    X(v_cvt_pknorm_i16_f16, v2f16, f16, f16, none,                                                           \
      packed(normalized(F16, A, true), normalized(F16, B, true)))                                            \
    X(v_cvt_pknorm_u16_f16, v2f16, f16, f16, none,                                                           \
      packed(normalized(F16, A, false), normalized(F16, B, false)))                                          \
    X(v_cvt_pknorm_i16_f32, v2f16, f32, f32, none,                                                           \
      packed(normalized(F32, A, true), normalized(F32, B, true)))                                            \
    X(v_cvt_pknorm_u16_f32, v2f16, f32, f32, none,                                                           \
      packed(normalized(F32, A, false), normalized(F32, B, false)))                                          \
    X(v_cmp_class_f32, mask, f32, i32, none, (class_bit(F32, A) & B) != 0)                                   \
    X(v_cmp_class_f64, mask, f64, i32, none, (class_bit(F64, A) & B) != 0)                                   \
    X(v_cmp_class_f16, mask, f16, i32, none, (class_bit(F16, A) & B) != 0)                                   \
    X(v_fma_mixlo_f16, v2f16, f32, f32, f32,                                                                 \
      packed(l->clamp ? clamped(F16, fused_half(A, B, C, M), M) : fused_half(A, B, C, M), T(l->d)))          \
    X(v_fma_mixhi_f16, v2f16, f32, f32, f32,                                                                 \
      packed(H(l->d), l->clamp ? clamped(F16, fused_half(A, B, C, M), M) : fused_half(A, B, C, M)))          \
    X(v_mad_mixlo_f16, v2f16, f32, f32, f32,                                                                 \
      packed(converted(F32, F16,                                                                             \
                       l->clamp ? clamped(F32, unfused(F32, A, B, C, M), M) : unfused(F32, A, B, C, M),      \
                       M | 0x30),                                                                            \
             T(l->d)))                                                                                       \
    X(v_mad_mixhi_f16, v2f16, f32, f32, f32,                                                                 \
      packed(H(l->d),                                                                                        \
             converted(F32, F16,                                                                             \
                       l->clamp ? clamped(F32, unfused(F32, A, B, C, M), M) : unfused(F32, A, B, C, M),      \
                       M | 0x30)))                                                                           \
    PREDICATES(X, f16, F16)                                                                                  \
    PREDICATES(X, f32, F32)                                                                                  \
    PREDICATES(X, f64, F64)

#define PREDICATES(X, t, fmt)                                                                                \
    PREDICATE(X, f, t, fmt, 0)                                                                               \
    PREDICATE(X, lt, t, fmt, LESS)                                                                           \
    PREDICATE(X, eq, t, fmt, EQUAL)                                                                          \
    PREDICATE(X, le, t, fmt, LESS | EQUAL)                                                                   \
    PREDICATE(X, gt, t, fmt, GREATER)                                                                        \
    PREDICATE(X, lg, t, fmt, LESS | GREATER)                                                                 \
    PREDICATE(X, ge, t, fmt, GREATER | EQUAL)                                                                \
    PREDICATE(X, o, t, fmt, LESS | GREATER | EQUAL)                                                          \
    PREDICATE(X, u, t, fmt, UNORDERED)                                                                       \
    PREDICATE(X, nge, t, fmt, LESS | UNORDERED)                                                              \
    PREDICATE(X, nlg, t, fmt, EQUAL | UNORDERED)                                                             \
    PREDICATE(X, ngt, t, fmt, LESS | EQUAL | UNORDERED)                                                      \
    PREDICATE(X, nle, t, fmt, GREATER | UNORDERED)                                                           \
    PREDICATE(X, neq, t, fmt, LESS | GREATER | UNORDERED)                                                    \
    PREDICATE(X, nlt, t, fmt, GREATER | EQUAL | UNORDERED)                                                   \
    PREDICATE(X, tru, t, fmt, LESS | EQUAL | GREATER | UNORDERED)
#define PREDICATE(X, predicate, t, fmt, relations)                                                           \
    X(v_cmp_##predicate##_##t, mask, t, t, none, (relation(fmt, A, B, M) & (relations)) != 0)

/* Further bodies of rows (WMI_BODY_<name>), for generations with different semantics. */
#define FURTHER_BODIES(X)                                                                                    \
    X(v_min_f32_1, f32, f32, f32, none, least_number(F32, A, B, M))                                          \
    X(v_max_f32_1, f32, f32, f32, none, greatest_number(F32, A, B, M))

#define AS_RULE(name, d, a, b, c, value) RULE(name, value)
BODIES(AS_RULE)
FURTHER_BODIES(AS_RULE)

enum type { none, f16, f32, f64, v2f16, i16, i32, mask };

static const struct body {
    const char *name;
    unsigned number;
    enum type result, source[3];
    uint64_t (*rule)(struct lane *lane);
} bodies[] = {
#define AS_ROW(name, d, a, b, c, value) {#name, WMI_INSN_##name, d, {a, b, c}, rule_##name},
    BODIES(AS_ROW)
#undef AS_ROW
#define AS_ROW(name, d, a, b, c, value) {#name, WMI_BODY_##name, d, {a, b, c}, rule_##name},
        FURTHER_BODIES(AS_ROW)
#undef AS_ROW
};

/* ---- operands ---- */

static const struct format *format_of(enum type type)
{
    return type == f64 ? F64 : type == f32 ? F32 : type == f16 || type == v2f16 ? F16 : NULL;
}

/* Bits likely to matter for a format: zeros, ones, limits, halves, NaNs, their neighbours, small integers. */
static uint64_t edge(const struct format *f, uint64_t *seed)
{
    const uint64_t least_normal = UINT64_C(1) << f->fraction, infinity = exact_infinity(f, false),
                   one = one_of(f);
    const uint64_t values[] = {0,
                               1,
                               2,
                               least_normal - 1,
                               least_normal,
                               least_normal + 1,
                               one - 1,
                               one,
                               one + 1,
                               one + least_normal,
                               one - least_normal,
                               infinity - 1,
                               infinity,
                               infinity + 1,
                               exact_default_nan(f, false),
                               exact_default_nan(f, false) + 5,
                               least_normal / 2,
                               one + least_normal / 2};
    const uint64_t pick = test_random(seed);

    return values[pick % (sizeof values / sizeof *values)] ^ exact_zero(f, pick >> 32 & 1);
}

/* A number of similar magnitude to `near`, so that sums cancel and results reach the limits. */
static uint64_t neighbour(const struct format *f, uint64_t near, uint64_t *seed)
{
    const uint64_t pick = test_random(seed), exponent = (pick >> 60) % 5 << f->fraction;

    return (near ^ (pick & ((UINT64_C(1) << (pick >> 32) % (unsigned)f->fraction) - 1)) ^
            exact_zero(f, pick >> 50 & 1)) +
           (pick >> 51 & 1 ? exponent : -exponent);
}

static uint64_t operand(enum type type, uint64_t near, uint64_t *seed)
{
    const struct format *f = format_of(type);
    const uint64_t pick = test_random(seed), bits = test_random(seed);

    if (type == v2f16)
        return packed(operand(f16, near, seed), operand(f16, near >> 16, seed));
    if (!f) {
        static const uint32_t values[] = {0,          1,          0x7fff,     0x8000,   0xffff,
                                          0x7fffffff, 0x80000000, 0xffffffff, 0x1000001};
        const int64_t small = (int64_t)(bits % 4400) - 2200;
        return pick % 3 == 0   ? values[bits % 9]
               : pick % 3 == 1 ? (uint32_t)bits >> (pick >> 32) % 32
                               : (uint32_t)(small / (int64_t)(1 + (pick >> 40) % 40));
    }
    const uint64_t kept = f == F64 ? UINT64_MAX : f == F32 ? UINT32_MAX : UINT16_MAX;
    switch (pick % 8) {
    case 0:
    case 1:
    case 2:
        return edge(f, seed) & kept;
    case 3: { /* about 1, with fractions and integers */
        const uint64_t exponent = (one_of(f) >> f->fraction) + (bits >> 58) % 36 - 3;
        const uint64_t fraction = bits & ((UINT64_C(1) << f->fraction) - 1);
        return (fraction | exponent << f->fraction | exact_zero(f, bits >> 57 & 1)) & kept;
    }
    case 4:
    case 5:
        return neighbour(f, near, seed) & kept;
    default:
        return bits & kept;
    }
}

static uint32_t above(enum type type, uint64_t *seed)
{
    /* The high half of a 16-bit operand must have no effect. */
    return type == f16 || type == i16 ? (uint32_t)test_random(seed) << 16 : 0;
}

/* ---- running ---- */

#ifndef ROUNDS
#define ROUNDS 4 /* -DROUNDS=400 for a longer search */
#endif

enum { ROW_A = 0, ROW_B = 2, ROW_C = 4, ROW_D = 6, MASK_WORD = 20, BIT_WORD = 24, RANDOM_MODES = 4 };

static const uint32_t modes[] = {
    0x3c0,    /* default of the HSA ABI on gfx900: f32 denormals flushed, f64 and f16 kept */
    0x3f0,    /* all denormals kept */
    0x8003f0, /* FP16_OVFL: finite f16 results stop at the largest number */
    0x80030c, /* the same, f16 towards zero */
    0x000,    /* all flushed, no IEEE, no DX10_CLAMP */
    0x1f5,    /* round up */
    0x2ca,    /* round down */
    0x3ff,    /* toward zero */
    0x291,    /* f32 inputs, f64 outputs; round up for f32 only */
    0x168,    /* f32 outputs, f64 inputs; round down for f64 only */
};

static const uint64_t lane_sets[] = {UINT64_MAX, 0x5555555555555555, 0x00000000fffffff0, 0x8000000180000001,
                                     0};

static const char *const level_names[] = {"baseline", "avx2", "avx512"};

static void fill(struct test_wave *wave, unsigned row, unsigned lane, enum type type, uint64_t value,
                 uint64_t *seed)
{
    if (type == f64)
        test_put64(wave, row, lane, value);
    else
        test_put(wave, row, lane, (uint32_t)value | above(type, seed));
}

/* Runs a wave with new operands; d in a separate row or that of source `alias` - 1. */
static unsigned check_once(const struct body *body, enum wmi_cpu_level level, unsigned lanes, uint32_t mode,
                           uint64_t set, unsigned alias, uint64_t *seed)
{
    struct test_wave wave = test_wave_new(lanes);
    struct wmi_frame *state = test_state(&wave);
    struct lane lane[64];
    const uint32_t rows[4] = {ROW_D, ROW_A, ROW_B, ROW_C};
    const bool clamp = *seed & 1;
    unsigned wrong = 0;
    uint64_t expected_mask = 0, expected_bits = 0;

    test_set_mode(&wave, mode);
    test_set_lanes(&state->exec, lanes, set);
    for (unsigned i = 0; i < lanes; i++) {
        uint64_t value[3] = {0}, near = test_random(seed);
        for (int k = 0; k < 3; k++) {
            if (body->source[k] != none)
                value[k] = near = operand(body->source[k], near, seed);
            fill(&wave, rows[k + 1], i, body->source[k], value[k], seed);
        }
        if (format_of(body->source[2]) && body->source[2] != v2f16 && test_random(seed) % 3 == 0) {
            /* c near -a * b, so that the sum cancels */
            const struct format *f = format_of(body->source[2]);
            value[2] = neighbour(f, negated(f, product(f, value[0], value[1], 0x3f0)), seed) &
                       (f == F64   ? UINT64_MAX
                        : f == F32 ? UINT32_MAX
                                   : UINT16_MAX);
            fill(&wave, ROW_C, i, body->source[2], value[2], seed);
        }
        if (!alias)
            test_put64(&wave, ROW_D, i, test_random(seed));
        lane[i] = (struct lane){value[0], value[1], value[2], test_get64(&wave, rows[alias], i),
                                mode,     clamp,    false};
    }
    memset(state->s, 0xa5, sizeof state->s);
    struct wmi_op op[2] = {{.body = wmi_sem_body(level, lanes, body->number),
                            .d = body->result == mask ? MASK_WORD * 4 : test_row(&wave, rows[alias]),
                            .a = test_row(&wave, ROW_A),
                            .b = test_row(&wave, ROW_B),
                            .c = test_row(&wave, ROW_C),
                            .e = BIT_WORD * 4,
                            .lanes = offsetof(struct wmi_frame, exec),
                            .y = clamp}};
    if (!op[0].body) {
        printf("%s: no body\n", body->name);
        return 1;
    }
    if (!test_run(&wave, op)) {
        printf("%s: wrong next step or control word\n", body->name);
        wrong++;
    }
    for (unsigned i = 0; i < lanes; i++) {
        const bool active = state->exec.bits >> i & 1;
        const uint64_t want = active ? body->rule(&lane[i]) : lane[i].d;
        expected_bits |= (uint64_t)lane[i].bit << i;
        if (body->result == mask) {
            expected_mask |= (uint64_t)(active && want) << i;
            continue;
        }
        const uint64_t got =
            body->result == f64 ? test_get64(&wave, rows[alias], i) : test_get(&wave, rows[alias], i);
        const uint64_t kept = body->result == f64 ? UINT64_MAX : UINT32_MAX;
        if ((got & kept) != (want & kept) && wrong++ < 4)
            printf("%s %s/%u mode %03x lane %u%s: a %llx b %llx c %llx d %llx: got %llx, expected %llx\n",
                   body->name, level_names[level], lanes, mode, i, active ? "" : " (off)",
                   (unsigned long long)lane[i].a, (unsigned long long)lane[i].b,
                   (unsigned long long)lane[i].c, (unsigned long long)lane[i].d,
                   (unsigned long long)(got & kept), (unsigned long long)(want & kept));
    }
    if (!strncmp(body->name, "v_div_scale", 11)) {
        uint64_t got = 0;
        memcpy(&got, &state->s[BIT_WORD], lanes / 8);
        if (got != expected_bits && wrong++ < 4)
            printf("%s %s/%u mode %03x: mask %llx, expected %llx\n", body->name, level_names[level], lanes,
                   mode, (unsigned long long)got, (unsigned long long)expected_bits);
    }
    if (body->result == mask) {
        uint64_t got = 0;
        memcpy(&got, &state->s[MASK_WORD], lanes / 8);
        for (unsigned i = 0; i < lanes && (got ^ expected_mask); i++)
            if ((got ^ expected_mask) >> i & 1 && wrong++ < 4)
                printf("%s %s/%u mode %03x lane %u: a %llx b %llx: got %d\n", body->name, level_names[level],
                       lanes, mode, i, (unsigned long long)lane[i].a, (unsigned long long)lane[i].b,
                       (int)(got >> i & 1));
        if (state->s[MASK_WORD + 2] != 0xa5a5a5a5 || (lanes == 32 && state->s[MASK_WORD + 1] != 0xa5a5a5a5)) {
            printf("%s: wrote beyond its mask\n", body->name);
            wrong++;
        }
    }
    free(wave.frame);
    return wrong;
}

static void check_level(enum wmi_cpu_level level)
{
    unsigned wrong = 0;
    uint64_t seed = 1;

    if (level > wmi_cpu_level()) {
        skip();
        return;
    }
    for (size_t i = 0, all = sizeof bodies / sizeof *bodies; i < ROUNDS * all; i++)
        for (unsigned lanes = 32; lanes <= 64; lanes += 32)
            for (size_t m = 0; m < sizeof modes / sizeof *modes + RANDOM_MODES; m++)
                for (size_t set = 0; set < sizeof lane_sets / sizeof *lane_sets; set++) {
                    const size_t b = i % all;
                    const uint32_t mode =
                        m < sizeof modes / sizeof *modes ? modes[m] : test_random(&seed) & 0x3ff;
                    unsigned alias = bodies[b].result == mask ? 0 : (unsigned)(test_random(&seed) % 4);
                    const bool wide_over_narrow =
                        alias && bodies[b].result == f64 && bodies[b].source[alias - 1] != f64;
                    if (wide_over_narrow || (alias && bodies[b].source[alias - 1] == none))
                        alias = 0;
                    wrong += check_once(&bodies[b], level, lanes, mode, lane_sets[set], alias, &seed);
                }
    assert_int_equal(wrong, 0);
}

static void baseline_is_exact(void **state)
{
    (void)state;
    check_level(WMI_CPU_BASELINE);
}

static void avx2_is_exact(void **state)
{
    (void)state;
    check_level(WMI_CPU_AVX2);
}

static void avx512_is_exact(void **state)
{
    (void)state;
    check_level(WMI_CPU_AVX512);
}

/* Conversions from and to floats of 8 bits: tests/unit/arithmetic/small_float.c. Those of gfx950:
 * tests/unit/sem/gfx950.c.
 */
static bool is_small(const char *name)
{
    static const char *const parts[] = {
        "fp8", "bf8", "cvt_scale", "v_cvt_f32_bf16", "v_cvt_pk_f16_f32", "v_cvt_pk_bf16_f32", "v_cvt_sr_"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strstr(name, parts[i]))
            return true;
    return false;
}

/* Transcendentals of scalars, which gfx12 alone has: tests/unit/arithmetic/transcendental.c. */
static bool is_unit(const char *name)
{
    return strncmp(name, "v_s_", 4) == 0;
}

/* Approximations and bodies tested together with them, in division.c; matrices and dot products of gfx11 and
 * later, in tests/unit. */
static bool is_elsewhere(enum wmi_insn_id id)
{
    return wmi_rows[id].flags & WMI_ROW_APPROX || wmi_matrix_of(id) || is_small(wmi_rows[id].name) ||
           is_unit(wmi_rows[id].name) || wmi_rows[id].group == WMI_GROUP_DOT ||
           id == WMI_INSN_v_div_fmas_f32 || id == WMI_INSN_v_div_fmas_f64 || id == WMI_INSN_v_trig_preop_f64;
}

/* Every body of a float instruction must have a rule here, otherwise it is not tested. */
static void every_float_body_has_a_rule(void **state)
{
    unsigned without = 0;

    (void)state;
    for (unsigned number = WMI_INSN_NONE + 1; number < WMI_BODY_COUNT; number++) {
        const enum wmi_insn_id id = wmi_row_of_body(number);
        const char *name = wmi_rows[id].name;
        bool found = false;

        if (wmi_rows[id].class != WMI_CLASS_VALU || !wmi_sem_body(WMI_CPU_BASELINE, 64, number) ||
            is_elsewhere(id) || !(strstr(name, "_f16") || strstr(name, "_f32") || strstr(name, "_f64")))
            continue;
        for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
            found |= wmi_sem_body(WMI_CPU_BASELINE, 64, bodies[i].number) ==
                     wmi_sem_body(WMI_CPU_BASELINE, 64, number);
        if (!found && without++ < 20)
            printf("%s: no rule\n", name);
    }
    assert_int_equal(without, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_float_body_has_a_rule),
        cmocka_unit_test(baseline_is_exact),
        cmocka_unit_test(avx2_is_exact),
        cmocka_unit_test(avx512_is_exact),
    };

    return cmocka_run_group_tests_name("float bodies", tests, NULL, NULL);
}
