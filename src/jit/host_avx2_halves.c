/* SPDX-License-Identifier: MIT */
/* Tests of whole registers on hosts with AVX2, and code for half strips: see halves.h. */
#include "jit/host_avx2.h"

/* ZF: nothing is in the halves T2 and T3. */
static void test_halves(struct wmi_host *host)
{
    const unsigned reg = T2 + first_half(host);
    if (!host->only_half)
        wmi_vex_256(host, VPOR, T2, T2, wmi_zmm(T3));
    wmi_vex_256(host, VPTEST, reg, 0, wmi_zmm(reg));
}

void wmi_avx2_test_words(struct wmi_host *host, unsigned reg, unsigned k)
{
    (void)k;
    const unsigned half = first_half(host), words = wmi_avx2_load(host, reg, half, T2);
    if (!host->only_half)
        wmi_vex_256(host, VPOR, T2, words, wmi_avx2_half(host, reg, 1));
    wmi_vex_256(host, VPTEST, host->only_half ? words : (unsigned)T2, 0,
                wmi_zmm(host->only_half ? words : (unsigned)T2));
}

void wmi_avx2_test_above(struct wmi_host *host, unsigned a, unsigned b, unsigned k)
{
    (void)k;
    for (EACH_HALF(host, half)) { /* max(a, b) ^ b is 0 where a is not above b */
        const unsigned limit = wmi_avx2_load(host, b, half, T1);
        wmi_vex_256(host, VPMAXUD, T2 + half, limit, wmi_avx2_half(host, a, half));
        wmi_vex_256(host, VPXOR, T2 + half, T2 + half, wmi_zmm(limit));
    }
    test_halves(host);
}

void wmi_avx2_test_nans(struct wmi_host *host, const uint8_t *reg, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        wmi_vex(host, WMI_VCMPPS, LONG, i ? T1 : T2, wmi_avx2_load(host, reg[i], 0, T0),
                wmi_avx2_half(host, reg[i], 1), WMI_UNORDERED);
        if (i)
            wmi_vex_256(host, VPOR, T2, T2, wmi_zmm(T1));
    }
    wmi_vex_256(host, VMOVMSKPS, WMI_RBX, 0, wmi_zmm(T2));
    wmi_scalar_registers(host, WMI_TEST, false, WMI_RBX, WMI_RBX);
}

/* ---- half strips ---- */

enum { FAILED = WMI_HALF_REGISTERS }; /* the ymm register of lanes that must be executed otherwise */

void wmi_avx2_begin_halves(struct wmi_host *host)
{
    wmi_avx2_clear(host, FAILED);
}

void wmi_avx2_collect_nans(struct wmi_host *host, unsigned reg, unsigned mask)
{
    const unsigned half = first_half(host), x = wmi_avx2_load(host, reg, half, T0);
    wmi_vex(host, WMI_VCMPPS, LONG, T2, x, wmi_zmm(x), WMI_UNORDERED);
    if (mask)
        wmi_vex_256(host, VPAND, T2, T2, wmi_avx2_lanes(mask, half));
    wmi_vex_256(host, VPOR, FAILED, FAILED, wmi_zmm(T2));
}

void wmi_avx2_test_failed(struct wmi_host *host)
{
    wmi_vex_256(host, VPTEST, FAILED, 0, wmi_zmm(FAILED));
}

void wmi_avx2_carry_half(struct wmi_host *host, unsigned d, unsigned a, struct wmi_host_operand b, bool adds,
                         unsigned in, unsigned out, unsigned mask)
{
    const unsigned half = first_half(host), x = wmi_avx2_load(host, a, half, T0);
    const unsigned y = wmi_avx2_in_register(host, wmi_avx2_operand(host, 0, b, half, T1), T1);
    wmi_vex_256(host, adds ? WMI_VPADDD : WMI_VPSUBD, T2, x, wmi_zmm(y));
    if (out) { /* T3 = ones where there is no carry: the sum is not below x, or y not above it */
        wmi_vex_256(host, VPMAXUD, T3, x, wmi_zmm(adds ? (unsigned)T2 : y));
        wmi_vex_256(host, VPCMPEQD, T3, T3, wmi_zmm(adds ? (unsigned)T2 : x));
        wmi_vex_256(host, VPXOR, T3, T3, CONSTANT(ones));
    }
    if (in && out) { /* with the carry in, ones become zero; with the borrow in, zero becomes ones */
        wmi_avx2_move(host, T0, T3);
        wmi_avx2_expand(host, T1, in, half, false);
        wmi_vex_256(host, adds ? WMI_VPSUBD : WMI_VPADDD, T2, T2, wmi_zmm(T1));
        if (adds)
            wmi_avx2_clear(host, T3);
        wmi_vex_256(host, VPCMPEQD, T3, T2, adds ? wmi_zmm(T3) : CONSTANT(ones));
        wmi_vex_256(host, VPAND, T3, T3, wmi_zmm(T1));
        wmi_vex_256(host, VPOR, T3, T3, wmi_zmm(T0));
    } else if (in) {
        wmi_avx2_expand(host, T1, in, half, false);
        wmi_vex_256(host, adds ? WMI_VPSUBD : WMI_VPADDD, T2, T2, wmi_zmm(T1));
    }
    wmi_avx2_keep(host, d, half, T2);
    if (!out)
        return;
    wmi_avx2_move(host, T2 + half, T3);
    if (mask)
        wmi_vex_256(host, VPAND, T2 + half, T2 + half, wmi_avx2_lanes(mask, half));
    wmi_vex_256(host, WMI_VMOVUPS_STORE, T2 + half, 0, wmi_avx2_lanes(out, half));
}

void wmi_avx2_collect_bits(struct wmi_host *host, enum wmi_gpr reg, unsigned bit)
{
    wmi_vex_256(host, VMOVMSKPS, WMI_RBX, 0, wmi_zmm(T2 + first_half(host)));
    if (bit)
        wmi_shift_immediate(host, 4, true, WMI_RBX, bit);
    wmi_scalar_registers(host, WMI_OR, true, reg, WMI_RBX);
}

static struct wmi_host_operand kept_half(const struct wmi_host *host, unsigned number, unsigned strip)
{
    const size_t place = offsetof(struct wmi_avx2_area, row) + (number * MOST_STRIPS + strip) * 2 * HALF;
    return wmi_at(WMI_R15, (int32_t)(place + first_half(host) * HALF));
}

void wmi_avx2_keep_half(struct wmi_host *host, unsigned number, unsigned strip, struct wmi_host_operand row)
{
    wmi_vex_256(host, WMI_VMOVUPS_LOAD, T0, 0, wmi_avx2_further(row, (int32_t)(first_half(host) * HALF)));
    wmi_vex_256(host, WMI_VMOVUPS_STORE, T0, 0, kept_half(host, number, strip));
}

void wmi_avx2_restore_half(struct wmi_host *host, unsigned number, unsigned strip,
                           struct wmi_host_operand row)
{
    wmi_vex_256(host, WMI_VMOVUPS_LOAD, T0, 0, kept_half(host, number, strip));
    wmi_vex_256(host, WMI_VMOVUPS_STORE, T0, 0, wmi_avx2_further(row, (int32_t)(first_half(host) * HALF)));
}
