/* SPDX-License-Identifier: MIT */
/* Loads and stores of whole rows on hosts with AVX2. */
#include "jit/host_avx2.h"

/* ---- rows of dwords ---- */

static struct wmi_host_operand index_at(unsigned strip, unsigned lane)
{
    return wmi_avx2_further(AREA_AT(index), (int32_t)(64 * strip + 4 * lane));
}

void wmi_avx2_find_differences(struct wmi_host *host, unsigned differs, bool is_new, unsigned first,
                               const uint8_t *reg, unsigned strips, struct wmi_host_operand offsets)
{
    for (unsigned half = 0; half < 2; half++) {
        const unsigned expected = wmi_avx2_load(host, first, half, T1);
        if (is_new)
            wmi_avx2_clear(host, T2);
        else
            wmi_avx2_move(host, T2, wmi_avx2_load(host, differs, half, T2));
        for (unsigned i = 0; i < strips; i++) {
            const unsigned sum = offsets.in_memory ? (unsigned)T0 : expected;
            if (offsets.in_memory)
                wmi_vex_256(host, WMI_VPADDD, T0, expected,
                            wmi_avx2_further(offsets, (int32_t)(64 * i + HALF * half)));
            wmi_vex_256(host, VPXOR, T0, sum, wmi_avx2_half(host, reg[i], half));
            wmi_vex_256(host, VPOR, T2, T2, wmi_zmm(T0));
        }
        wmi_avx2_keep(host, differs, half, T2);
    }
}

void wmi_avx2_differ_from_first(struct wmi_host *host, unsigned differs, bool is_new, unsigned reg,
                                struct wmi_host_operand offsets, int sign, unsigned mask)
{
    wmi_vex_256(host, WMI_VPBROADCASTD, T0, 0, wmi_avx2_half(host, reg, 0));
    for (unsigned half = 0; half < 2; half++) {
        unsigned expected = T0;
        if (sign) {
            wmi_vex_256(host, sign > 0 ? WMI_VPADDD : WMI_VPSUBD, T1, T0,
                        wmi_avx2_further(offsets, (int32_t)(HALF * half)));
            expected = T1;
        }
        const unsigned sum = wmi_avx2_target(host, differs, half, T2), found = is_new ? sum : (unsigned)T1;
        wmi_vex_256(host, VPXOR, found, expected, wmi_avx2_half(host, reg, half));
        if (mask)
            wmi_vex_256(host, VPAND, found, found, wmi_avx2_lanes(mask, half));
        if (!is_new)
            wmi_vex_256(host, VPOR, sum, found, wmi_avx2_half(host, differs, half));
        wmi_avx2_keep(host, differs, half, sum);
    }
}

static struct wmi_host_operand run_at(unsigned half_strip)
{
    return wmi_avx2_further(AREA_AT(run), (int32_t)(4 * half_strip));
}

/* T2 |= the bits in which active lanes of a half strip differ from a run. Where such a run begins, and not
 * each index, is the same for all of them, so that any active one tells it: the first one does. */
static void find_run(struct wmi_host *host, unsigned index, unsigned mask, unsigned half_strip)
{
    const unsigned half = half_strip % 2;
    const struct wmi_host_operand place = index_at(half_strip / 2, 8 * half);
    wmi_vex_256(host, WMI_VPSUBD, T1, wmi_avx2_load(host, index, half, T0), wmi_zmm(T3));
    wmi_vex_256(host, WMI_VMOVUPS_STORE, T1, 0, place);
    wmi_scalar_memory(host, WMI_MOVZX_8, false, WMI_RBP, WMI_R15, wmi_avx2_bits(mask) + (int32_t)half);
    /* Without active lanes: any place that the host can access, because it is slow where it cannot. */
    wmi_avx2_take_first_bit(host, place);
    wmi_scalar_memory(host, WMI_MOV_STORE, false, WMI_RBX, WMI_R15, run_at(half_strip).displacement);
    wmi_vex_128(host, VMOVD_FROM, T0, 0, wmi_zmm(WMI_RBX));
    wmi_vex_256(host, WMI_VPBROADCASTD, T0, 0, wmi_zmm(T0));
    wmi_vex_256(host, VPXOR, T0, T0, wmi_zmm(T1));
    wmi_vex_256(host, VPAND, T0, T0, wmi_avx2_lanes(mask, half));
    wmi_vex_256(host, VPOR, T2, T2, wmi_zmm(T0));
}

/* T2 = the bits in which lanes of the half strips differ from runs that begin where the first ones are. */
static void find_full_runs(struct wmi_host *host, const uint8_t *index, unsigned strips)
{
    for (unsigned i = 0; i < 2 * strips; i++)
        wmi_vex_256(host, WMI_VMOVUPS_STORE, wmi_avx2_load(host, index[i / 2], i % 2, T0), 0,
                    index_at(i / 2, i % 2 * 8));
    for (unsigned i = 0; i < 2 * strips; i++) {
        const struct wmi_host_operand half_strip = index_at(i / 2, i % 2 * 8);
        const unsigned d = i ? T0 : T2;
        wmi_vex_256(host, WMI_VPBROADCASTD, d, 0, half_strip);
        wmi_vex_256(host, WMI_VPADDD, d, d, wmi_zmm(T3));
        wmi_vex_256(host, VPXOR, d, d, half_strip);
        if (i)
            wmi_vex_256(host, VPOR, T2, T2, wmi_zmm(T0));
    }
}

size_t wmi_avx2_begin_half_strips(struct wmi_host *host, const uint8_t *index, const uint8_t *mask,
                                  unsigned strips, struct wmi_host_operand offsets)
{
    wmi_vex_256(host, WMI_VMOVUPS_LOAD, T3, 0, offsets);
    if (mask) {
        wmi_avx2_clear(host, T2);
        for (unsigned i = 0; i < 2 * strips; i++)
            find_run(host, index[i / 2], mask[i / 2], i);
    } else {
        find_full_runs(host, index, strips);
    }
    wmi_vex_256(host, VPTEST, T2, 0, wmi_zmm(T2));
    return wmi_jump_if(host, WMI_IF_NOT_EQUAL);
}

/* WMI_RBX = base + the index of the first lane of a half strip. */
static void find_half_strip(struct wmi_host *host, unsigned half_strip, const uint8_t *mask,
                            enum wmi_gpr base, unsigned ahead, bool stores)
{
    wmi_avx2_take_index(host, mask ? run_at(half_strip) : index_at(half_strip / 2, half_strip % 2 * 8), 0);
    wmi_scalar_registers(host, WMI_ADD, true, WMI_RBX, base);
    if (ahead)
        wmi_prefetch(host, WMI_RBX, (int32_t)ahead, stores);
}

void wmi_avx2_load_half_strips(struct wmi_host *host, const uint8_t *d, const uint8_t *mask, unsigned strips,
                               enum wmi_gpr base, unsigned ahead)
{
    for (unsigned i = 0; i < 2 * strips; i++) {
        const unsigned to = wmi_avx2_target(host, d[i / 2], i % 2, T2);
        find_half_strip(host, i, mask, base, ahead, false);
        if (mask) {
            wmi_vex_256(host, WMI_VMOVUPS_LOAD, T3, 0, wmi_avx2_lanes(mask[i / 2], i % 2));
            wmi_vex_256(host, VPMASKMOVD_LOAD, to, T3, wmi_at(WMI_RBX, 0));
        } else {
            wmi_vex_256(host, WMI_VMOVUPS_LOAD, to, 0, wmi_at(WMI_RBX, 0));
        }
        wmi_avx2_keep(host, d[i / 2], i % 2, to);
    }
}

void wmi_avx2_broadcast_half_strips(struct wmi_host *host, const uint8_t *d, const uint8_t *mask,
                                    unsigned strips, enum wmi_gpr base)
{
    for (unsigned i = 0; i < 2 * strips; i++) {
        const unsigned to = wmi_avx2_target(host, d[i / 2], i % 2, T2);
        find_half_strip(host, i, mask, base, 0, false);
        wmi_vex_256(host, WMI_VPBROADCASTD, to, 0, wmi_at(WMI_RBX, 0));
        wmi_avx2_keep(host, d[i / 2], i % 2, to);
    }
}

size_t wmi_avx2_extend_half_strips(struct wmi_host *host, uint32_t instruction, const uint8_t *d,
                                   unsigned strips, enum wmi_gpr base, unsigned bytes)
{
    enum { SUB_DIGIT = 5, LANES = 8, LAST_DISTANCE = 0x7fffffff };
    /* RAX = the last place at which a run may begin; no distance is larger than RBX. */
    wmi_arithmetic_immediate(host, SUB_DIGIT, true, WMI_RAX, (int32_t)(LANES * bytes));
    wmi_move_immediate(host, WMI_RBX, LAST_DISTANCE);
    wmi_scalar_registers(host, WMI_CMP, true, WMI_RAX, WMI_RBX);
    wmi_scalar_registers(host, WMI_CMOV | WMI_IF_GREATER, true, WMI_RAX, WMI_RBX);
    wmi_vex_128(host, VMOVD_FROM, T1, 0, wmi_zmm(WMI_RAX));
    wmi_vex_256(host, WMI_VPBROADCASTD, T1, 0, wmi_zmm(T1));
    /* A run before the allocation, or behind the last place, has a negative difference or place; so has all
     * if the allocation is smaller than a run. */
    const unsigned length = strips > 2 ? LONG : 0;
    wmi_vex(host, WMI_VMOVUPS_LOAD, length, T0, 0, run_at(0), WMI_NO_IMMEDIATE);
    wmi_vex(host, WMI_VPSUBD, length, T1, T1, wmi_zmm(T0), WMI_NO_IMMEDIATE);
    wmi_vex(host, VPOR, length, T0, T0, wmi_zmm(T1), WMI_NO_IMMEDIATE);
    wmi_vex(host, VMOVMSKPS, length, WMI_RBX, 0, wmi_zmm(T0), WMI_NO_IMMEDIATE);
    wmi_scalar_registers(host, WMI_TEST, false, WMI_RBX, WMI_RBX);
    const size_t outside = wmi_jump_if(host, WMI_IF_NOT_EQUAL);
    for (unsigned i = 0; i < 2 * strips; i++) {
        const unsigned to = wmi_avx2_target(host, d[i / 2], i % 2, T2);
        wmi_avx2_take_index(host, run_at(i), 0);
        wmi_vex_indexed(host, KIND(instruction), LONG, to, 0, base, WMI_RBX, 0, 0);
        wmi_avx2_keep(host, d[i / 2], i % 2, to);
    }
    return outside;
}

void wmi_avx2_store_half_strips(struct wmi_host *host, const uint8_t *data, const uint8_t *mask,
                                unsigned strips, enum wmi_gpr base, unsigned ahead)
{
    enum { ALL_LANES = 0xff };
    for (unsigned i = 0; i < 2 * strips; i++) {
        const unsigned half = i % 2, from = wmi_avx2_load(host, data[i / 2], half, T2);
        size_t stored = 0;
        find_half_strip(host, i, mask, base, ahead, true);
        if (mask) { /* masked stores are slow on AMD's hosts */
            const size_t all = wmi_avx2_jump_if_active(host, mask[i / 2], half, ALL_LANES);
            wmi_vex_256(host, WMI_VMOVUPS_LOAD, T3, 0, wmi_avx2_lanes(mask[i / 2], half));
            wmi_vex_256(host, VPMASKMOVD_STORE, from, T3, wmi_at(WMI_RBX, 0));
            stored = wmi_jump(host);
            wmi_land(host, all);
        }
        wmi_vex_256(host, WMI_VMOVUPS_STORE, from, 0, wmi_at(WMI_RBX, 0));
        if (mask)
            wmi_land(host, stored);
    }
}

/* In the order of lanes. */
void wmi_avx2_scatter_half_strips(struct wmi_host *host, const uint8_t *data, unsigned strips,
                                  enum wmi_gpr base)
{
    for (unsigned i = 0; i < strips; i++) {
        const struct wmi_host_operand from = wmi_avx2_in_memory(host, data[i], 0);
        for (unsigned lane = 0; lane < 16; lane++) {
            wmi_avx2_take_index(host, index_at(i, lane), 0);
            wmi_vex_128(host, VMOVD_FROM, T2, 0, wmi_avx2_further(from, (int32_t)(4 * lane)));
            wmi_vex_indexed(host, VMOVD_TO, 0, T2, 0, base, WMI_RBX, 0, 0);
        }
    }
}

/* ---- pairs of words ---- */

enum { EVEN_WORDS = 0x88, ODD_WORDS = 0xdd, PARTS_0_2_1_3 = 0xd8 };

void wmi_avx2_split_pairs(struct wmi_host *host, unsigned even, unsigned odd, unsigned a,
                          struct wmi_host_operand b)
{
    const uint32_t vshufps = WMI_EVEX(0xc6, WMI_MAP_0F, 0, 0);
    for (unsigned half = 0; half < 2; half++) {
        /* The words of {b, a} come from four ymm registers, of which a half of the result needs two. */
        const unsigned first = half ? wmi_avx2_in_register(host, wmi_avx2_operand(host, 0, b, 0, T0), T0)
                                    : wmi_avx2_load(host, a, 0, T0),
                       second = half ? wmi_avx2_in_register(host, wmi_avx2_operand(host, 0, b, 1, T1), T1)
                                     : wmi_avx2_load(host, a, 1, T1);
        wmi_vex(host, vshufps, LONG, T2, first, wmi_zmm(second), EVEN_WORDS);
        wmi_vex(host, vshufps, LONG, T3, first, wmi_zmm(second), ODD_WORDS);
        wmi_vex(host, VPERMQ, LONG, T2, 0, wmi_zmm(T2), PARTS_0_2_1_3);
        wmi_vex(host, VPERMQ, LONG, T3, 0, wmi_zmm(T3), PARTS_0_2_1_3);
        wmi_avx2_keep(host, even, half, T2);
        wmi_avx2_keep(host, odd, half, T3);
    }
}

static const uint32_t vpunpckldq = WMI_EVEX(0x62, WMI_MAP_0F, WMI_PREFIX_66, 0),
                      vpunpckhdq = WMI_EVEX(0x6a, WMI_MAP_0F, WMI_PREFIX_66, 0);

/* T2, T3 = the words of a half of two registers in turn: lanes 0, 1, 4 and 5, and the others. */
static void unpack_words(struct wmi_host *host, unsigned low, unsigned high, unsigned half)
{
    const unsigned first = wmi_avx2_load(host, low, half, T0);
    const struct wmi_host_operand second = wmi_avx2_half(host, high, half);
    wmi_vex_256(host, vpunpckldq, T2, first, second);
    wmi_vex_256(host, vpunpckhdq, T3, first, second);
}

void wmi_avx2_join_pairs(struct wmi_host *host, unsigned first, unsigned second, unsigned low, unsigned high)
{
    enum { LOW_PARTS = 0x20, HIGH_PARTS = 0x31 };
    for (unsigned half = 0; half < 2; half++) {
        unpack_words(host, low, high, half);
        wmi_avx2_swap_parts(host, T0, T2, wmi_zmm(T3), LOW_PARTS);
        wmi_avx2_swap_parts(host, T1, T2, wmi_zmm(T3), HIGH_PARTS);
        wmi_avx2_keep(host, half ? second : first, 0, T0);
        wmi_avx2_keep(host, half ? second : first, 1, T1);
    }
}

/* ---- f64 ---- */

/* The numbers of a half, four of which an instruction takes: their low words in `low`, a register, and where
 * their high words are. */
struct numbers {
    unsigned low;
    struct wmi_host_operand high;
};

/* Changes no other register than these. */
static struct numbers load_numbers(struct wmi_host *host, const struct wmi_host_pair *pair, unsigned half,
                                   unsigned low, unsigned high)
{
    return (struct numbers){
        wmi_avx2_in_register(host, wmi_avx2_operand(host, 0, pair->low, half, low), low),
        wmi_avx2_operand(host, 0, pair->high, half, high),
    };
}

/* `tested` |= what is not 0 where the results in T2 and T3, or their high words in T1, must not be so. */
static void test_f64(struct wmi_host *host, unsigned tested, bool is_first, unsigned mask, unsigned half)
{
    const uint32_t vcmppd = WMI_EVEX(0xc2, WMI_MAP_0F, WMI_PREFIX_66, 1);
    const unsigned sum = wmi_avx2_target(host, tested, half, T0), found = is_first ? sum : (unsigned)T2;
    if (mask) {
        wmi_avx2_shift(host, WMI_LEFT, T1, T1, 1);
        wmi_vex_256(host, VPMAXUD, T2, T1, CONSTANT(twice_infinity_64));
        wmi_vex_256(host, VPCMPEQD, T2, T2, wmi_zmm(T1));
        wmi_vex_256(host, VPAND, found, T2, wmi_avx2_lanes(mask, half));
    } else {
        wmi_vex(host, vcmppd, LONG, found, T2, wmi_zmm(T3), WMI_UNORDERED);
    }
    if (!is_first)
        wmi_vex_256(host, VPOR, sum, found, wmi_avx2_half(host, tested, half));
    wmi_avx2_keep(host, tested, half, sum);
}

void wmi_avx2_compute_f64(struct wmi_host *host, uint32_t instruction, const uint8_t d[2],
                          const struct wmi_host_pair *a, const struct wmi_host_pair *b,
                          const struct wmi_host_pair *c, unsigned tested, bool is_first, unsigned mask)
{
    enum { ADDS_THIRD = 0x10, C0 = SCRATCH_PLACE, C1 }; /* VFMADD231 and 213 */
    const uint32_t vshufps = WMI_EVEX(0xc6, WMI_MAP_0F, 0, 0),
                   vfmadd213pd = KIND(instruction) ^ (uint32_t)ADDS_THIRD;
    for (EACH_HALF(host, half)) {
        const struct numbers x = load_numbers(host, a, half, T0, T1);
        wmi_vex_256(host, vpunpckldq, T2, x.low, x.high);
        wmi_vex_256(host, vpunpckhdq, T3, x.low, x.high);
        const struct numbers y = load_numbers(host, b, half, T0, T1);
        for (unsigned part = 0; part < 2; part++) {
            const uint32_t unpack = part ? vpunpckhdq : vpunpckldq;
            if (c) {
                const struct numbers z = load_numbers(host, c, half, C0, C1);
                wmi_vex_256(host, unpack, C1, z.low, z.high);
            }
            wmi_vex_256(host, unpack, C0, y.low, y.high);
            if (c)
                wmi_vex_256(host, vfmadd213pd, T2 + part, C0, wmi_zmm(C1));
            else
                wmi_vex_256(host, KIND(instruction), T2 + part, T2 + part, wmi_zmm(C0));
        }
        wmi_vex(host, vshufps, LONG, T0, T2, wmi_zmm(T3), EVEN_WORDS);
        wmi_vex(host, vshufps, LONG, T1, T2, wmi_zmm(T3), ODD_WORDS);
        wmi_avx2_keep(host, d[0], half, T0);
        wmi_avx2_keep(host, d[1], half, T1);
        if (c)
            test_f64(host, tested, is_first, mask, half);
    }
}

void wmi_avx2_compare_f64_half(struct wmi_host *host, uint32_t instruction, unsigned d,
                               const struct wmi_host_pair *a, const struct wmi_host_pair *b, unsigned half,
                               int predicate)
{
    enum { C0 = SCRATCH_PLACE, C1 };
    const uint32_t vshufps = WMI_EVEX(0xc6, WMI_MAP_0F, 0, 0);
    const struct numbers x = load_numbers(host, a, half, T0, T1);
    wmi_vex_256(host, vpunpckldq, C0, x.low, x.high);
    wmi_vex_256(host, vpunpckhdq, C1, x.low, x.high);
    const struct numbers y = load_numbers(host, b, half, T0, T1);
    for (unsigned part = 0; part < 2; part++) {
        wmi_vex_256(host, part ? vpunpckhdq : vpunpckldq, d, y.low, y.high);
        wmi_vex(host, instruction, LONG, C0 + part, C0 + part, wmi_zmm(d), predicate);
    }
    wmi_vex(host, vshufps, LONG, d, C0, wmi_zmm(C1), EVEN_WORDS);
}

static const uint32_t vmovhps_load = WMI_EVEX(0x16, WMI_MAP_0F, 0, 0),
                      vmovhps_store = WMI_EVEX(0x17, WMI_MAP_0F, 0, 0),
                      vmovlps_store = WMI_EVEX(0x13, WMI_MAP_0F, 0, 0);

/* Where the places of lanes are in memory; those of lanes that are not in the mask are 0 there. Changes T3.
 */
static struct wmi_host_operand active_places(struct wmi_host *host, unsigned index, unsigned mask)
{
    const struct wmi_host_operand places = AREA_AT(temporary[2]);
    if (!mask)
        return wmi_avx2_in_memory(host, index, 0);
    for (unsigned half = 0; half < 2; half++) {
        wmi_vex_256(host, WMI_VMOVUPS_LOAD, T3, 0, wmi_avx2_lanes(mask, half));
        wmi_vex_256(host, VPAND, T3, T3, wmi_avx2_half(host, index, half));
        wmi_vex_256(host, WMI_VMOVUPS_STORE, T3, 0, wmi_avx2_further(places, (int32_t)(HALF * half)));
    }
    return places;
}

/* A part of a register = the pairs of two lanes. */
static void gather_two(struct wmi_host *host, unsigned reg, enum wmi_gpr base, struct wmi_host_operand index,
                       unsigned lane)
{
    wmi_avx2_take_index(host, index, lane);
    wmi_vex_indexed(host, VMOVQ_LOAD, 0, reg, 0, base, WMI_RBX, 0, 0);
    wmi_avx2_take_index(host, index, lane + 1);
    wmi_vex_indexed(host, vmovhps_load, 0, reg, reg, base, WMI_RBX, 0, 0);
}

void wmi_avx2_gather_pairs(struct wmi_host *host, unsigned low, unsigned high, enum wmi_gpr base,
                           unsigned index, unsigned mask)
{
    const uint32_t vshufps = WMI_EVEX(0xc6, WMI_MAP_0F, 0, 0);
    const struct wmi_host_operand places = active_places(host, index, mask);
    for (unsigned half = 0; half < 2; half++) {
        for (unsigned i = 0; i < 2; i++) { /* T0: lanes 0, 1, 4, 5; T1: 2, 3, 6, 7 */
            const unsigned lane = half * 8 + 2 * i;
            gather_two(host, T0 + i, base, places, lane);
            gather_two(host, T2, base, places, lane + 4);
            wmi_vex(host, VINSERTI128, LONG, T0 + i, T0 + i, wmi_zmm(T2), 1);
        }
        wmi_vex(host, vshufps, LONG, T2, T0, wmi_zmm(T1), EVEN_WORDS);
        wmi_vex(host, vshufps, LONG, T3, T0, wmi_zmm(T1), ODD_WORDS);
        wmi_avx2_keep(host, low, half, T2);
        wmi_avx2_keep(host, high, half, T3);
    }
}

static void scatter_two(struct wmi_host *host, unsigned reg, enum wmi_gpr base, struct wmi_host_operand index,
                        unsigned lane)
{
    wmi_avx2_take_index(host, index, lane);
    wmi_vex_indexed(host, vmovlps_store, 0, reg, 0, base, WMI_RBX, 0, 0);
    wmi_avx2_take_index(host, index, lane + 1);
    wmi_vex_indexed(host, vmovhps_store, 0, reg, 0, base, WMI_RBX, 0, 0);
}

void wmi_avx2_scatter_pairs(struct wmi_host *host, unsigned low, unsigned high, enum wmi_gpr base,
                            unsigned index)
{
    const struct wmi_host_operand places = wmi_avx2_in_memory(host, index, 0);
    for (unsigned half = 0; half < 2; half++) {
        unpack_words(host, low, high, half);
        for (unsigned i = 0; i < 4; i++) {
            const unsigned reg = i % 2 ? T3 : T2;
            if (i == 2)
                for (unsigned k = T2; k <= T3; k++)
                    wmi_vex(host, VEXTRACTI128, LONG, k, 0, wmi_zmm(k), 1);
            scatter_two(host, reg, base, places, half * 8 + 2 * i);
        }
    }
}

/* ---- four words ---- */

enum { UNPACK_LOW_WORDS, UNPACK_HIGH_WORDS, UNPACK_LOW_PAIRS, UNPACK_HIGH_PAIRS };

static void unpack(struct wmi_host *host, unsigned how, unsigned d, unsigned a, struct wmi_host_operand b)
{
    static const uint32_t instruction[] = {
        WMI_EVEX(0x62, WMI_MAP_0F, WMI_PREFIX_66, 0), /* VPUNPCKLDQ, VPUNPCKHDQ */
        WMI_EVEX(0x6a, WMI_MAP_0F, WMI_PREFIX_66, 0),
        WMI_EVEX(0x6c, WMI_MAP_0F, WMI_PREFIX_66, 0), /* VPUNPCKLQDQ, VPUNPCKHQDQ */
        WMI_EVEX(0x6d, WMI_MAP_0F, WMI_PREFIX_66, 0),
    };
    wmi_vex_256(host, instruction[how], d, a, b);
}

/* Where the lanes' elements are. */
struct quads {
    enum wmi_gpr base;
    int32_t displacement;
    bool has_index;
    struct wmi_host_operand index;
};

static struct quads find_quads(struct wmi_host *host, enum wmi_gpr base, int32_t displacement, int index,
                               unsigned mask)
{
    struct quads at = {base, displacement, index != WMI_NO_INDEX, wmi_zmm(0)};
    if (at.has_index)
        at.index = active_places(host, (unsigned)index, mask);
    return at;
}

/* An instruction whose operand in memory is the element of a lane. */
static void put_quad(struct wmi_host *host, uint32_t instruction, unsigned length, unsigned d, unsigned a,
                     const struct quads *at, unsigned lane)
{
    enum { BYTES = 16 };
    if (at->has_index) {
        wmi_avx2_take_index(host, at->index, lane);
        wmi_vex_indexed(host, instruction, length, d, a, at->base, WMI_RBX, 0, at->displacement);
    } else {
        wmi_vex(host, instruction, length, d, a, wmi_at(at->base, at->displacement + (int32_t)(BYTES * lane)),
                WMI_NO_IMMEDIATE);
    }
}

/* reg = the elements of two lanes, the second of which is the fourth behind the first. */
static void load_two_quads(struct wmi_host *host, unsigned reg, const struct quads *at, unsigned lane)
{
    put_quad(host, WMI_VMOVUPS_LOAD, 0, reg, 0, at, lane);
    put_quad(host, VINSERTI128, LONG, reg, reg, at, lane + 4);
    wmi_put_8(host, 1);
}

void wmi_avx2_gather_quads(struct wmi_host *host, const uint8_t d[4], enum wmi_gpr base, int32_t displacement,
                           int index, unsigned mask)
{
    const struct quads at = find_quads(host, base, displacement, index, mask);
    const struct wmi_host_operand kept = AREA_AT(temporary[1]);
    for (unsigned half = 0; half < 2; half++) {
        load_two_quads(host, T0, &at, 8 * half);
        load_two_quads(host, T1, &at, 8 * half + 1);
        unpack(host, UNPACK_LOW_WORDS, T2, T0, wmi_zmm(T1));
        unpack(host, UNPACK_HIGH_WORDS, T3, T0, wmi_zmm(T1));
        wmi_vex_256(host, WMI_VMOVUPS_STORE, T3, 0, kept);
        load_two_quads(host, T0, &at, 8 * half + 2);
        load_two_quads(host, T1, &at, 8 * half + 3);
        unpack(host, UNPACK_LOW_WORDS, T3, T0, wmi_zmm(T1));
        unpack(host, UNPACK_HIGH_WORDS, T1, T0, wmi_zmm(T1));
        unpack(host, UNPACK_LOW_PAIRS, T0, T2, wmi_zmm(T3));
        wmi_avx2_keep(host, d[0], half, T0);
        unpack(host, UNPACK_HIGH_PAIRS, T0, T2, wmi_zmm(T3));
        wmi_avx2_keep(host, d[1], half, T0);
        wmi_vex_256(host, WMI_VMOVUPS_LOAD, T2, 0, kept);
        unpack(host, UNPACK_LOW_PAIRS, T0, T2, wmi_zmm(T1));
        wmi_avx2_keep(host, d[2], half, T0);
        unpack(host, UNPACK_HIGH_PAIRS, T0, T2, wmi_zmm(T1));
        wmi_avx2_keep(host, d[3], half, T0);
    }
}

void wmi_avx2_scatter_quads(struct wmi_host *host, const uint8_t data[4], enum wmi_gpr base,
                            int32_t displacement, int index)
{
    static const uint8_t lanes_in[] = {T1, T0, T3, T2};
    const struct quads at = find_quads(host, base, displacement, index, WMI_NO_MASK);
    const struct wmi_host_operand kept[2] = {AREA_AT(temporary[1]), AREA_AT(temporary[2])};
    for (unsigned half = 0; half < 2; half++) {
        const unsigned first = wmi_avx2_load(host, data[0], half, T2);
        unpack(host, UNPACK_LOW_WORDS, T0, first, wmi_avx2_half(host, data[1], half));
        unpack(host, UNPACK_HIGH_WORDS, T1, first, wmi_avx2_half(host, data[1], half));
        const unsigned third = wmi_avx2_load(host, data[2], half, T2);
        unpack(host, UNPACK_LOW_WORDS, T3, third, wmi_avx2_half(host, data[3], half));
        unpack(host, UNPACK_HIGH_WORDS, T2, third, wmi_avx2_half(host, data[3], half));
        wmi_vex_256(host, WMI_VMOVUPS_STORE, T1, 0, kept[0]);
        wmi_vex_256(host, WMI_VMOVUPS_STORE, T2, 0, kept[1]);
        unpack(host, UNPACK_LOW_PAIRS, T1, T0, wmi_zmm(T3));
        unpack(host, UNPACK_HIGH_PAIRS, T0, T0, wmi_zmm(T3));
        wmi_vex_256(host, WMI_VMOVUPS_LOAD, T2, 0, kept[0]);
        unpack(host, UNPACK_LOW_PAIRS, T3, T2, kept[1]);
        unpack(host, UNPACK_HIGH_PAIRS, T2, T2, kept[1]);
        for (unsigned i = 0; i < 8; i++) { /* in the order of lanes */
            const bool high = i >= 4;
            put_quad(host, high ? (uint32_t)VEXTRACTI128 : (uint32_t)WMI_VMOVUPS_STORE, high ? LONG : 0,
                     lanes_in[i % 4], 0, &at, 8 * half + i);
            if (high)
                wmi_put_8(host, 1);
        }
    }
}
