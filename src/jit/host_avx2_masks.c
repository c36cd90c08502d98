/* SPDX-License-Identifier: MIT */
/* Masks on hosts with AVX2, and the compares and tests that compute them. */
#include "jit/host_avx2.h"

/* ---- masks ---- */

static bool is_in_gpr(unsigned k)
{
    return k >= FIRST_IN_GPR && k < WMI_K_LANES;
}

enum wmi_gpr wmi_avx2_gpr_of(unsigned k)
{
    return (enum wmi_gpr)(WMI_R12 + (k - FIRST_IN_GPR));
}

enum wmi_gpr wmi_avx2_bits_in_gpr(struct wmi_host *host, unsigned k, enum wmi_gpr temporary)
{
    if (is_in_gpr(k))
        return wmi_avx2_gpr_of(k);
    wmi_scalar_memory(host, WMI_MOVZX_16, false, temporary, WMI_R15, wmi_avx2_bits(k));
    return temporary;
}

bool wmi_avx2_has_lanes_of(const struct wmi_host *host, unsigned k)
{
    return !is_in_gpr(k) || host->kept_lanes >> k & 1;
}

void wmi_avx2_expand(struct wmi_host *host, unsigned reg, unsigned k, unsigned half, bool wide)
{
    const struct wmi_host_operand bits = wide ? wmi_avx2_further(CONSTANT(bit_64), (int32_t)(half * HALF))
                                              : wmi_avx2_further(CONSTANT(bit), (int32_t)(half * HALF));
    if (host->full_masks >> k & 1) {
        wmi_vex_256(host, VPCMPEQD, reg, reg, wmi_zmm(reg));
        return;
    }
    if (wmi_avx2_has_lanes_of(host, k) && !wide) {
        wmi_vex_256(host, WMI_VMOVUPS_LOAD, reg, 0, wmi_avx2_lanes(k, half));
        return;
    }
    if (is_in_gpr(k)) {
        wmi_vex_128(host, VMOVD_FROM, reg, 0, wmi_zmm(wmi_avx2_gpr_of(k)));
        wmi_vex_256(host, wide ? (uint32_t)VPBROADCASTQ : (uint32_t)WMI_VPBROADCASTD, reg, 0, wmi_zmm(reg));
    } else {
        wmi_vex_256(host, VPBROADCASTQ, reg, 0, wmi_at(WMI_R15, wmi_avx2_bits(k)));
    }
    wmi_vex_256(host, VPAND, reg, reg, bits);
    wmi_vex_256(host, wide ? VPCMPEQQ : VPCMPEQD, reg, reg, bits);
}

void wmi_avx2_expand_bytes(struct wmi_host *host, unsigned reg, unsigned k, unsigned half)
{
    enum { RORX = WMI_EVEX(0xf0, WMI_MAP_0F3A, WMI_PREFIX_F2, 1) };
    enum wmi_gpr from = wmi_avx2_gpr_of(k);
    if (half) {
        wmi_vex(host, RORX, 0, WMI_RBX, 0, wmi_zmm(from), 32);
        from = WMI_RBX;
    }
    wmi_vex_128(host, VMOVD_FROM, reg, 0, wmi_zmm(from));
    wmi_vex_256(host, WMI_VPBROADCASTD, reg, 0, wmi_zmm(reg));
    wmi_vex_256(host, VPSHUFB, reg, reg, CONSTANT(spread_8));
    wmi_vex_256(host, VPAND, reg, reg, CONSTANT(bit_8));
    wmi_vex_256(host, VPCMPEQB, reg, reg, CONSTANT(bit_8));
}

void wmi_avx2_forget_mask(struct wmi_host *host, unsigned k)
{
    if (k >= WMI_K_LANES)
        return; /* nothing else is known of them */
    host->full_masks &= (uint8_t)~(1u << k);
    host->kept_lanes &= (uint8_t)~(1u << k);
}

/* k = the bits in `from`, for k1 to k4 also as lanes. */
static void set_mask(struct wmi_host *host, unsigned k, enum wmi_gpr from)
{
    wmi_avx2_forget_mask(host, k);
    if (is_in_gpr(k)) {
        if (wmi_avx2_gpr_of(k) != from)
            wmi_scalar_registers(host, WMI_MOV_LOAD, true, wmi_avx2_gpr_of(k), from);
        return;
    }
    wmi_scalar_memory(host, WMI_MOV_STORE, true, from, WMI_R15, wmi_avx2_bits(k));
    wmi_vex_128(host, VMOVD_FROM, T3, 0, wmi_zmm(from));
    wmi_vex_256(host, WMI_VPBROADCASTD, T3, 0, wmi_zmm(T3));
    for (unsigned half = 0; half < 2; half++) {
        const struct wmi_host_operand bits = wmi_avx2_further(CONSTANT(bit), (int32_t)(half * HALF));
        wmi_vex_256(host, VPAND, T2, T3, bits);
        wmi_vex_256(host, VPCMPEQD, T2, T2, bits);
        wmi_vex_256(host, WMI_VMOVUPS_STORE, T2, 0, wmi_avx2_lanes(k, half));
    }
}

void wmi_avx2_kmov_load(struct wmi_host *host, unsigned k, enum wmi_gpr base, int32_t displacement)
{
    const enum wmi_gpr to = is_in_gpr(k) ? wmi_avx2_gpr_of(k) : WMI_RBX;
    wmi_scalar_memory(host, WMI_MOVZX_16, false, to, base, displacement);
    set_mask(host, k, to);
}

void wmi_avx2_kmov_store(struct wmi_host *host, unsigned k, enum wmi_gpr base, int32_t displacement,
                         unsigned bytes)
{
    enum { OPERAND_OF_16_BITS = 0x66 };
    const enum wmi_gpr from = is_in_gpr(k) ? wmi_avx2_gpr_of(k) : WMI_RBX;
    if (!is_in_gpr(k))
        wmi_scalar_memory(host, WMI_MOV_LOAD, true, from, WMI_R15, wmi_avx2_bits(k));
    if (bytes == 2)
        wmi_put_8(host, OPERAND_OF_16_BITS);
    wmi_scalar_memory(host, WMI_MOV_STORE, bytes == 8, from, base, displacement);
}

void wmi_avx2_kmov_gpr(struct wmi_host *host, unsigned k, enum wmi_gpr reg)
{
    set_mask(host, k, reg);
}

/* No other bits of a and b are set. */
void wmi_avx2_kunpack(struct wmi_host *host, unsigned d, unsigned a, unsigned b, unsigned bits)
{
    const enum wmi_gpr high = wmi_avx2_bits_in_gpr(host, a, WMI_RBP);
    wmi_scalar_registers(host, WMI_MOV_LOAD, true, WMI_RBP, high);
    wmi_shift_immediate(host, 4, true, WMI_RBP, bits);
    wmi_scalar_registers(host, WMI_OR, true, WMI_RBP, wmi_avx2_bits_in_gpr(host, b, WMI_RBX));
    set_mask(host, d, WMI_RBP);
}

void wmi_avx2_kshift_right(struct wmi_host *host, unsigned d, unsigned a, unsigned count)
{
    if (is_in_gpr(a))
        wmi_scalar_registers(host, WMI_MOV_LOAD, true, WMI_RBP, wmi_avx2_gpr_of(a));
    else
        wmi_scalar_memory(host, WMI_MOV_LOAD, true, WMI_RBP, WMI_R15, wmi_avx2_bits(a));
    wmi_shift_immediate(host, 5, true, WMI_RBP, count);
    set_mask(host, d, WMI_RBP);
}

void wmi_avx2_kortest(struct wmi_host *host, unsigned a, unsigned b)
{
    enum { OPERAND_OF_16_BITS = 0x66, COMPARE_DIGIT = 7 };
    enum wmi_gpr from = wmi_avx2_bits_in_gpr(host, a, WMI_RBX);
    if (a != b) {
        wmi_scalar_registers(host, WMI_MOV_LOAD, true, WMI_RBP, wmi_avx2_bits_in_gpr(host, b, WMI_RBP));
        wmi_scalar_registers(host, WMI_OR, true, WMI_RBP, from);
        from = WMI_RBP;
    }
    wmi_put_8(host, OPERAND_OF_16_BITS);
    wmi_scalar_registers(host, WMI_TEST, false, from, from);
}

size_t wmi_avx2_jump_unless_full(struct wmi_host *host, unsigned k)
{
    enum { XOR_DIGIT = 6 };
    wmi_scalar_registers(host, WMI_MOV_LOAD, false, WMI_RBX, wmi_avx2_bits_in_gpr(host, k, WMI_RBX));
    wmi_scalar_registers(host, WMI_MOVZX_16, false, WMI_RBX, WMI_RBX);
    wmi_arithmetic_immediate(host, XOR_DIGIT, false, WMI_RBX, 0xffff);
    return wmi_jump_if(host, WMI_IF_NOT_EQUAL);
}

void wmi_avx2_mask_registers(struct wmi_host *host, enum wmi_mask_operation operation, unsigned d, unsigned a,
                             unsigned b)
{
    enum { XOR_DIGIT = 6 };
    if (operation == WMI_KXNOR && a == b) {
        wmi_move_immediate(host, WMI_RBP, 0xffff);
        set_mask(host, d, WMI_RBP);
        host->full_masks |= (uint8_t)(1u << d);
        return;
    }
    wmi_scalar_registers(host, WMI_MOVZX_16, false, WMI_RBP, wmi_avx2_bits_in_gpr(host, a, WMI_RBP));
    if (operation == WMI_KANDN)
        wmi_arithmetic_immediate(host, XOR_DIGIT, false, WMI_RBP, 0xffff);
    const unsigned opcode = operation == WMI_KAND || operation == WMI_KANDN ? WMI_AND
                            : operation == WMI_KOR                          ? WMI_OR
                                                                            : WMI_XOR;
    if (a != b || operation == WMI_KXOR || operation == WMI_KANDN)
        wmi_scalar_registers(host, opcode, false, WMI_RBP, wmi_avx2_bits_in_gpr(host, b, WMI_RBX));
    if (operation == WMI_KXNOR)
        wmi_arithmetic_immediate(host, XOR_DIGIT, false, WMI_RBP, 0xffff);
    set_mask(host, d, WMI_RBP);
}

void wmi_avx2_mask_low_8(struct wmi_host *host, unsigned d)
{
    wmi_move_immediate(host, WMI_RBP, 0xff);
    set_mask(host, d, WMI_RBP);
}

/* ---- compares ---- */

/* The lanes of both halves are in T2 and T3. */
static void set_lanes(struct wmi_host *host, unsigned k, unsigned lane_bytes, unsigned mask)
{
    const bool in_gpr = is_in_gpr(k);
    const enum wmi_gpr to = in_gpr ? wmi_avx2_gpr_of(k) : WMI_RBP;
    const uint32_t take = lane_bytes == 4 ? VMOVMSKPS : lane_bytes == 8 ? VMOVMSKPD : VPMOVMSKB;
    const bool has_lanes = wmi_avx2_has_lanes_of(host, mask);
    if (mask && (!in_gpr || has_lanes) && lane_bytes == 4) {
        for (EACH_HALF(host, half)) {
            if (!has_lanes)
                wmi_avx2_expand(host, T0, mask, half, false);
            wmi_vex_256(host, VPAND, T2 + half, T2 + half,
                        has_lanes ? wmi_avx2_lanes(mask, half) : wmi_zmm(T0));
        }
        mask = 0;
    }
    wmi_avx2_forget_mask(host, k);
    if (!in_gpr || (lane_bytes == 4 && !mask))
        for (EACH_HALF(host, half))
            wmi_vex_256(host, WMI_VMOVUPS_STORE, T2 + half, 0, wmi_avx2_lanes(k, half));
    if (k >= WMI_K_LANES)
        return;                             /* see wmi_avx2_collect_bits() */
    if (in_gpr && lane_bytes == 4 && !mask) /* the bits alone would have to be spread again */
        host->kept_lanes |= (uint8_t)(1u << k);
    enum wmi_gpr limit = to;
    if (mask && mask == k) { /* it is needed until the end */
        wmi_scalar_registers(host, WMI_MOV_LOAD, true, WMI_RBP, wmi_avx2_gpr_of(k));
        limit = WMI_RBP;
    } else if (mask) {
        limit = wmi_avx2_bits_in_gpr(host, mask, WMI_RBP);
    }
    const unsigned last = end_of_halves(host) - 1;
    wmi_vex_256(host, take, to, 0, wmi_zmm(T2 + last));
    if (last)
        wmi_shift_immediate(host, 4, true, to, HALF / lane_bytes);
    if (last != first_half(host)) {
        wmi_vex_256(host, take, WMI_RBX, 0, wmi_zmm(T2));
        wmi_scalar_registers(host, WMI_OR, true, to, WMI_RBX);
    }
    if (mask)
        wmi_scalar_registers(host, WMI_AND, true, to, limit);
    if (!in_gpr)
        wmi_scalar_memory(host, WMI_MOV_STORE, true, WMI_RBP, WMI_R15, wmi_avx2_bits(k));
}

static void invert(struct wmi_host *host, unsigned reg)
{
    wmi_vex_256(host, VPXOR, reg, reg, CONSTANT(ones));
}

/* How integers of so many bytes are compared: instructions for equality, for "above", and for unsigned ones
 * the minimum and maximum, or none. */
struct integers {
    uint32_t equal, above, min, max;
};

/* d = ones where a and b compare so; both are in registers, b not in d. */
static void compare_integers(struct wmi_host *host, const struct integers *kind, unsigned d, unsigned a,
                             unsigned b, unsigned predicate)
{
    const struct wmi_host_operand rb = wmi_zmm(b);
    switch (predicate) {
    case WMI_EQUAL:
    case WMI_DIFFERS:
        wmi_vex_256(host, kind->equal, d, a, rb);
        break;
    case WMI_BELOW:
    case WMI_NOT_BELOW:
        if (kind->max) {
            wmi_vex_256(host, kind->max, d, a, rb);
            wmi_vex_256(host, kind->equal, d, d, wmi_zmm(a));
        } else {
            wmi_vex_256(host, kind->above, d, b, wmi_zmm(a));
        }
        break;
    default:
        if (kind->min) {
            wmi_vex_256(host, kind->min, d, a, rb);
            wmi_vex_256(host, kind->equal, d, d, wmi_zmm(a));
        } else {
            wmi_vex_256(host, kind->above, d, a, rb);
        }
    }
    /* With a minimum or maximum, "not above" and "not below" are what was computed. */
    const bool by_limit = kind->max && predicate != WMI_EQUAL && predicate != WMI_DIFFERS;
    const bool is_negation =
        predicate == WMI_DIFFERS || predicate == WMI_NOT_BELOW || predicate == WMI_NOT_ABOVE;
    if (is_negation != by_limit)
        invert(host, d);
}

static const struct integers words = {VPCMPEQD, VPCMPGTD, 0, 0},
                             unsigned_words = {VPCMPEQD, 0, VPMINUD, VPMAXUD},
                             quadwords = {VPCMPEQQ, VPCMPGTQ, 0, 0}, bytes = {VPCMPEQB, VPCMPGTB, 0, 0},
                             unsigned_bytes = {VPCMPEQB, 0, VPMINUB, VPMAXUB};

static void put_compare(struct wmi_host *host, const struct integers *kind, uint32_t instruction, unsigned k,
                        unsigned a, struct wmi_host_operand b, unsigned predicate, unsigned lane_bytes,
                        unsigned mask, bool flips)
{
    for (EACH_HALF(host, half)) {
        unsigned x = wmi_avx2_load(host, a, half, T0);
        unsigned y = wmi_avx2_in_register(host, wmi_avx2_operand(host, instruction, b, half, T1), T1);
        if (flips) { /* unsigned quadwords become signed ones in the same order */
            struct wmi_host_operand sign = CONSTANT(sign_64);
            wmi_vex_256(host, VPBROADCASTQ, T2 + half, 0, sign);
            wmi_vex_256(host, VPXOR, T1, T2 + half, wmi_zmm(y));
            wmi_vex_256(host, VPXOR, T0, T2 + half, wmi_zmm(x));
            x = T0;
            y = T1;
        }
        compare_integers(host, kind, T2 + half, x, y, predicate);
    }
    set_lanes(host, k, lane_bytes, mask);
}

void wmi_avx2_put_compare(struct wmi_host *host, uint32_t instruction, unsigned k, unsigned a,
                          struct wmi_host_operand b, unsigned predicate, unsigned mask)
{
    enum { UNSIGNED_WORDS = 0x1e, WORDS = 0x1f, UNSIGNED_BYTES = 0x3e };
    const unsigned opcode = instruction & 0xff;
    if (opcode == UNSIGNED_WORDS && is_wide(instruction))
        put_compare(host, &quadwords, instruction, k, a, b, predicate, 8, mask, true);
    else if (opcode == UNSIGNED_WORDS || opcode == WORDS)
        put_compare(host, opcode == WORDS ? &words : &unsigned_words, instruction, k, a, b, predicate, 4,
                    mask, false);
    else
        put_compare(host, opcode == UNSIGNED_BYTES ? &unsigned_bytes : &bytes, instruction, k, a, b,
                    predicate, 1, mask, false);
}

void wmi_avx2_put_float_compare(struct wmi_host *host, uint32_t instruction, unsigned k, unsigned a,
                                struct wmi_host_operand b, unsigned mask, int predicate)
{
    for (EACH_HALF(host, half))
        wmi_vex(host, instruction, LONG, T2 + half, wmi_avx2_load(host, a, half, T0),
                wmi_avx2_operand(host, instruction, b, half, T1), predicate);
    set_lanes(host, k, is_wide(instruction) ? 8 : 4, mask);
}

void wmi_avx2_compare_f64(struct wmi_host *host, uint32_t instruction, unsigned k,
                          const struct wmi_host_pair *a, const struct wmi_host_pair *b, unsigned mask,
                          int predicate)
{
    for (EACH_HALF(host, half))
        wmi_avx2_compare_f64_half(host, KIND(instruction), T2 + half, a, b, half, predicate);
    set_lanes(host, k, 4, mask);
}

/* Lanes in which a and b have a bit in common, or have none. */
void wmi_avx2_put_test(struct wmi_host *host, uint32_t instruction, unsigned k, unsigned a,
                       struct wmi_host_operand b, unsigned mask, unsigned lane_bytes)
{
    const uint32_t equal = lane_bytes == 4 ? VPCMPEQD : lane_bytes == 8 ? VPCMPEQQ : VPCMPEQB;
    for (EACH_HALF(host, half)) {
        unsigned common = wmi_avx2_load(host, a, half, T0);
        if (b.in_memory || b.reg != a) {
            wmi_vex_256(host, VPAND, T2 + half, common, wmi_avx2_operand(host, instruction, b, half, T1));
            common = T2 + half;
        }
        wmi_avx2_clear(host, T1);
        wmi_vex_256(host, equal, T2 + half, common, wmi_zmm(T1));
        if (instruction != WMI_VPTESTNMD)
            invert(host, T2 + half);
    }
    set_lanes(host, k, lane_bytes, mask);
}

/* Zeros and infinities, with NaNs or without, or zeros and denormals, by the bits of the immediate. Denormals
 * that the host takes for zeros are zeros. */
bool wmi_avx2_put_class(struct wmi_host *host, unsigned k, struct wmi_host_operand b, unsigned classes,
                        bool wide)
{
    const uint32_t compare = WMI_EVEX(0xc2, WMI_MAP_0F, wide ? WMI_PREFIX_66 : 0, 0),
                   broadcast = wide ? (uint32_t)VPBROADCASTQ : (uint32_t)WMI_VPBROADCASTD;
    const bool with_nans = classes == (WMI_IS_NAN | WMI_IS_ZERO | WMI_IS_INFINITE),
               denormals = !wide && classes == (WMI_IS_ZERO | WMI_IS_DENORMAL);
    if (!with_nans && !denormals && classes != (WMI_IS_ZERO | WMI_IS_INFINITE))
        return false;
    for (EACH_HALF(host, half)) {
        const unsigned x = wmi_avx2_in_register(host, wmi_avx2_half(host, b.reg, half), T0), d = T2 + half;
        wmi_vex_256(host, broadcast, T1, 0, wide ? CONSTANT(magnitude_64) : CONSTANT(magnitude));
        wmi_vex_256(host, VPAND, T1, T1, wmi_zmm(x)); /* its magnitude */
        if (denormals) {
            wmi_vex_256(host, broadcast, d, 0, CONSTANT(least_normal));
            wmi_vex_256(host, VPCMPGTD, d, d, wmi_zmm(T1));
            continue;
        }
        if (with_nans) {
            wmi_vex_256(host, broadcast, d, 0, wide ? CONSTANT(most_finite_64) : CONSTANT(most_finite));
            wmi_vex_256(host, wide ? VPCMPGTQ : VPCMPGTD, d, T1, wmi_zmm(d));
        } else { /* infinities are the next number after those that are finite */
            wmi_vex_256(host, broadcast, d, 0, wide ? CONSTANT(exponent_64) : CONSTANT(exponent_bits));
            wmi_vex_256(host, wide ? VPCMPEQQ : VPCMPEQD, d, d, wmi_zmm(T1));
        }
        wmi_avx2_clear(host, T1);
        wmi_vex(host, compare, LONG, T1, T1, wmi_zmm(x), WMI_FLOAT_EQUAL);
        wmi_vex_256(host, VPOR, d, d, wmi_zmm(T1));
    }
    set_lanes(host, k, wide ? 8 : 4, 0);
    return true;
}
