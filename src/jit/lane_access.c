/* SPDX-License-Identifier: MIT */
/* Host code of loads and stores of an element per lane whose distances from a place of the host are known. */
#include "jit/lane_access.h"

#include <string.h>

#define FOUR(i, n)    (i) << (n), ((i) + 1) << (n), ((i) + 2) << (n), ((i) + 3) << (n)
#define SIXTEEN(i, n) FOUR(i, n), FOUR((i) + 4, n), FOUR((i) + 8, n), FOUR((i) + 12, n)
#define LANES(n)      {SIXTEEN(0, n), SIXTEEN(16, n), SIXTEEN(32, n), SIXTEEN(48, n)}

const struct wmi_lane_tables wmi_lane_tables = {
    .offset = {LANES(0), LANES(1), LANES(2), LANES(3), LANES(4)},
    .halves = {FOUR(0, 2), FOUR(4, 2), FOUR(0, 2), FOUR(4, 2), 0, 0, 0, 0, 0, 0,
               0,          0,          8,          8,          8, 8, 8, 8, 8, 8},
    .reversed = {15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0},
    .even = {0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30},
    .odd = {1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31},
    .low_pairs = {0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23},
    .high_pairs = {8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31},
};

void wmi_access_splat(struct wmi_stretch *s, unsigned reg)
{
    wmi_evex_plain(&s->host, WMI_VPBROADCASTD_GPR, reg, 0, wmi_zmm(WMI_RAX));
}

void wmi_access_collect(struct wmi_stretch *s, uint32_t instruction, unsigned a, unsigned b, unsigned mask,
                        int predicate, bool is_first)
{
    wmi_evex(&s->host, instruction, is_first ? WMI_K : WMI_K + 1, a, wmi_zmm(b), mask, predicate);
    if (!is_first)
        wmi_mask(&s->host, WMI_KOR, WMI_K, WMI_K, WMI_K + 1);
}

size_t wmi_access_unless_active(struct wmi_stretch *s, unsigned mask)
{
    if (!mask)
        return 0;
    wmi_kortest(&s->host, mask, mask);
    return wmi_jump_if(&s->host, WMI_IF_EQUAL);
}

struct wmi_lane_loop wmi_access_each_lane(struct wmi_stretch *s)
{
    struct wmi_lane_loop loop;
    wmi_scalar_memory(&s->host, WMI_MOV_LOAD, true, WMI_R8, WMI_FRAME, WMI_EXEC_BITS);
    wmi_arithmetic_immediate(&s->host, 7, true, WMI_R8, 0);
    loop.none = wmi_jump_if(&s->host, WMI_IF_EQUAL);
    loop.next = s->host.count;
    wmi_scalar_registers(&s->host, WMI_BSF, true, WMI_R10, WMI_R8);
    wmi_shift_immediate(&s->host, 4, true, WMI_R10, 2);
    wmi_scalar_registers(&s->host, WMI_ADD, true, WMI_R10, WMI_ROWS);
    return loop;
}

void wmi_access_next_lane(struct wmi_stretch *s, const struct wmi_lane_loop *loop)
{
    wmi_scalar_memory(&s->host, WMI_LEA, true, WMI_RAX, WMI_R8, -1);
    wmi_scalar_registers(&s->host, WMI_AND, true, WMI_R8, WMI_RAX);
    wmi_jump_back_if(&s->host, WMI_IF_NOT_EQUAL, loop->next);
    wmi_land(&s->host, loop->none);
}

static void number_strips(const struct wmi_stretch *s, const struct wmi_rows *rows, uint8_t reg[WMI_STRIPS])
{
    for (unsigned i = 0; i < s->strips; i++)
        reg[i] = (uint8_t)wmi_rows_register(rows, i);
}

void wmi_access_highest(struct wmi_stretch *s, unsigned highest, unsigned reg, unsigned mask, bool is_first)
{
    const uint32_t vpmaxud = WMI_EVEX(0x3f, WMI_MAP_0F38, WMI_PREFIX_66, 0);
    if (is_first)
        wmi_evex(&s->host, WMI_VMOVDQA32, highest, 0, wmi_zmm(reg), mask ? mask | WMI_ZEROING : mask,
                 WMI_NO_IMMEDIATE);
    else
        wmi_evex(&s->host, vpmaxud, highest, highest, wmi_zmm(reg), mask, WMI_NO_IMMEDIATE);
}

void wmi_access_find_differences(struct wmi_stretch *s, unsigned differs, bool is_new, unsigned first,
                                 const struct wmi_rows *rows, struct wmi_host_operand offsets,
                                 unsigned expected)
{
    if (s->host.vectors->find_differences) {
        uint8_t reg[WMI_STRIPS];
        number_strips(s, rows, reg);
        s->host.vectors->find_differences(&s->host, differs, is_new, first, reg, s->strips, offsets);
        return;
    }
    for (unsigned i = 0; i < s->strips; i++) {
        const struct wmi_host_operand reg = wmi_zmm(wmi_rows_register(rows, i));
        const bool is_first = is_new && !i;
        unsigned sum = first;
        if (offsets.in_memory) {
            sum = is_first ? differs : expected;
            wmi_evex_plain(&s->host, WMI_VPADDD, sum, first, offsets);
            offsets.displacement += WMI_STRIP_BYTES;
        }
        if (is_first)
            wmi_evex_plain(&s->host, WMI_VPXORD, differs, sum, reg);
        else
            wmi_evex(&s->host, WMI_VPTERNLOGD, differs, sum, reg, WMI_NO_MASK, WMI_OR_DIFFERENCE);
    }
}

/* first = the value of the first active lane, or 0, in all lanes. */
static void take_first(struct wmi_stretch *s, unsigned value, unsigned first, unsigned mask)
{
    if (mask)
        wmi_take_first(&s->host, first, value, mask);
    else
        wmi_evex_plain(&s->host, WMI_VPBROADCASTD, first, 0, wmi_zmm(value));
}

/* The same, and differs |= what is not 0 in active lanes that differ from it; is_first: differs is new. */
static void compare_with_first(struct wmi_stretch *s, unsigned value, unsigned first, unsigned mask,
                               unsigned differs, bool is_first)
{
    take_first(s, value, first, mask);
    if (is_first)
        wmi_evex(&s->host, WMI_VPXORD, differs, first, wmi_zmm(value), mask ? mask | WMI_ZEROING : mask,
                 WMI_NO_IMMEDIATE);
    else
        wmi_evex(&s->host, WMI_VPTERNLOGD, differs, first, wmi_zmm(value), mask, WMI_OR_DIFFERENCE);
}

/* RAX = the place at the distance in lane 0. */
static void take_place(struct wmi_stretch *s, unsigned distance)
{
    enum { MOVSXD = 0x63 };
    wmi_evex_plain(&s->host, WMI_VMOVD_GPR, distance, 0, wmi_zmm(WMI_RAX));
    wmi_scalar_registers(&s->host, MOVSXD, true, WMI_RAX, WMI_RAX); /* below 0 if lane 0 is inactive */
    wmi_scalar_registers(&s->host, WMI_ADD, true, WMI_RAX, WMI_RCX);
}

/* RAX = the place of the first active lane. A jump is taken if those of other active lanes differ. `differs`
 * may be `value`, which then changes. */
static size_t unless_same(struct wmi_stretch *s, unsigned value, unsigned first, unsigned mask,
                          unsigned differs)
{
    compare_with_first(s, value, first, mask, differs, true);
    wmi_test_words(&s->host, differs, WMI_K);
    const size_t jump = wmi_jump_if(&s->host, WMI_IF_NOT_EQUAL);
    take_place(s, first);
    return jump;
}

/* RAX = the place of lane 0, if those of active lanes follow one another; else a jump is taken. */
static size_t unless_in_a_run(struct wmi_stretch *s, struct wmi_lane_shape shape, unsigned distance,
                              unsigned mask, const struct wmi_access_scratch *scratch)
{
    wmi_evex_plain(&s->host, WMI_VPSUBD, scratch->reg[0], distance,
                   wmi_at(WMI_R9, wmi_lane_offsets(shape.bytes, 0)));
    return unless_same(s, scratch->reg[0], scratch->reg[1], mask, scratch->reg[0]);
}

/* k5 = the active lanes, which gathers and scatters clear. */
static void take_active(struct wmi_stretch *s, unsigned mask)
{
    if (mask)
        wmi_mask(&s->host, WMI_KAND, WMI_K, mask, mask);
    else
        wmi_mask(&s->host, WMI_KXNOR, WMI_K, WMI_K, WMI_K);
}

/* d = the dwords at distances from RCX, in active lanes, with a load for each lane. Nothing is loaded if no
 * lane is active. Changes RAX and registers of the scratch. */
static void load_lanes(struct wmi_stretch *s, unsigned d, unsigned distance, unsigned mask,
                       const struct wmi_access_scratch *scratch)
{
    const size_t idle = wmi_access_unless_active(s, mask);
    s->host.vectors->load_lanes(&s->host, d, WMI_RCX, distance, mask, WMI_K, scratch->reg);
    wmi_land_if(&s->host, idle);
}

/* The same with a gather, where those of the host are fast. As that instruction keeps the other lanes of d,
 * it waits for whatever computes these, unless they are known. */
static void gather(struct wmi_stretch *s, unsigned d, unsigned distance, unsigned mask,
                   const struct wmi_access_scratch *scratch)
{
    if (!s->host.vectors->gathers) {
        load_lanes(s, d, distance, mask, scratch);
        return;
    }
    take_active(s, mask);
    wmi_evex_plain(&s->host, WMI_VPXORD, d, d, wmi_zmm(d));
    wmi_evex_indexed(&s->host, WMI_VPGATHERDD, d, WMI_RCX, distance, 0, WMI_K);
}

/* ---- rows ---- */

struct wmi_rows wmi_access_use(struct wmi_stretch *s, struct wmi_lane_shape shape, uint32_t row)
{
    if (shape.rows > 1)
        wmi_stretch_spread(s, row);
    return wmi_stretch_use(s, row, true);
}

void wmi_access_results(struct wmi_stretch *s, struct wmi_lane_shape shape, bool uniform, struct wmi_rows *d)
{
    for (unsigned i = 0; i < shape.rows; i++)
        d[i] = wmi_stretch_result(s, uniform);
}

void wmi_access_write(struct wmi_stretch *s, struct wmi_lane_shape shape, uint32_t row, struct wmi_rows *d)
{
    for (unsigned i = 0; i < shape.rows; i++)
        wmi_stretch_write(s, row + i * s->row_bytes, &d[i]);
}

void wmi_access_data(struct wmi_stretch *s, struct wmi_lane_shape shape, uint32_t row, struct wmi_rows *data)
{
    for (unsigned i = 0; i < shape.rows; i++)
        data[i] = wmi_access_use(s, shape, row + i * s->row_bytes);
}

struct wmi_access_scratch wmi_access_scratch(struct wmi_stretch *s, struct wmi_lane_shape shape)
{
    const unsigned count = shape.rows == 4 ? WMI_ACCESS_SCRATCH : 2;
    struct wmi_access_scratch scratch = {{0}};
    for (unsigned i = 0; i < count; i++)
        scratch.reg[i] = (uint8_t)wmi_stretch_register(s);
    return scratch;
}

/* ---- elements that follow one another ---- */

static uint32_t vpmov_extend(struct wmi_lane_shape shape)
{
    const unsigned opcode = (shape.bytes == 1 ? 0x21 : 0x23) + (shape.is_signed ? 0 : 0x10);
    return WMI_EVEX_OF(opcode, WMI_MAP_0F38, WMI_PREFIX_66, 0, shape.bytes == 1 ? 4 : 5);
}

static uint32_t vpmov_narrow(struct wmi_lane_shape shape)
{
    return shape.bytes == 1 ? WMI_EVEX_OF(0x31, WMI_MAP_0F38, WMI_PREFIX_F3, 0, 4)
                            : WMI_EVEX_OF(0x33, WMI_MAP_0F38, WMI_PREFIX_F3, 0, 5);
}

/* d = the words of {b, a} by a table. */
static void select_words(struct wmi_stretch *s, unsigned d, size_t table, unsigned a,
                         struct wmi_host_operand b)
{
    wmi_evex_plain(&s->host, WMI_VMOVUPS_LOAD, d, 0, wmi_at(WMI_R9, (int32_t)table));
    wmi_evex_plain(&s->host, WMI_VPERMI2D, d, a, b);
}

void wmi_access_split_pairs(struct wmi_stretch *s, unsigned even, unsigned odd, unsigned a,
                            struct wmi_host_operand b)
{
    if (s->host.vectors->split_pairs) {
        s->host.vectors->split_pairs(&s->host, even, odd, a, b);
        return;
    }
    select_words(s, even, offsetof(struct wmi_lane_tables, even), a, b);
    select_words(s, odd, offsetof(struct wmi_lane_tables, odd), a, b);
}

void wmi_access_join_pairs(struct wmi_stretch *s, unsigned first, unsigned second, unsigned low,
                           unsigned high)
{
    if (s->host.vectors->join_pairs) {
        s->host.vectors->join_pairs(&s->host, first, second, low, high);
        return;
    }
    select_words(s, first, offsetof(struct wmi_lane_tables, low_pairs), low, wmi_zmm(high));
    select_words(s, second, offsetof(struct wmi_lane_tables, high_pairs), low, wmi_zmm(high));
}

/* Four registers with four words of 4 lanes each become one register per word with that of 16 lanes, and
 * back: two transpositions of 4 x 4 values, of parts of 128 bits and of words within these. */
enum transposition { OF_PARTS, OF_WORDS };

/* One of the four instructions of which a transposition consists: halves of pairs, then halves of these. */
static void interleave(struct wmi_stretch *s, enum transposition kind, unsigned which, unsigned d, unsigned a,
                       unsigned b)
{
    static const uint32_t unpack[] = {
        WMI_EVEX(0x62, WMI_MAP_0F, WMI_PREFIX_66, 0), /* VPUNPCKLDQ, VPUNPCKHDQ */
        WMI_EVEX(0x6a, WMI_MAP_0F, WMI_PREFIX_66, 0),
        WMI_EVEX(0x6c, WMI_MAP_0F, WMI_PREFIX_66, 1), /* VPUNPCKLQDQ, VPUNPCKHQDQ */
        WMI_EVEX(0x6d, WMI_MAP_0F, WMI_PREFIX_66, 1),
    };
    static const uint8_t parts[] = {0x44, 0xee, 0x88, 0xdd};
    wmi_evex(&s->host, kind == OF_PARTS ? WMI_VSHUFI32X4 : unpack[which], d, a, wmi_zmm(b), WMI_NO_MASK,
             kind == OF_PARTS ? parts[which] : WMI_NO_IMMEDIATE);
}

/* Transposes what the first four registers hold, and names those that hold the result; the fifth one is free.
 */
static void transpose(struct wmi_stretch *s, enum transposition kind, uint8_t r[5])
{
    interleave(s, kind, 0, r[4], r[0], r[1]);
    interleave(s, kind, 1, r[0], r[0], r[1]);
    interleave(s, kind, 0, r[1], r[2], r[3]);
    interleave(s, kind, 1, r[2], r[2], r[3]);
    interleave(s, kind, 2, r[3], r[4], r[1]);
    interleave(s, kind, 3, r[4], r[4], r[1]);
    interleave(s, kind, 2, r[1], r[0], r[2]);
    interleave(s, kind, 3, r[0], r[0], r[2]);
    const uint8_t result[] = {r[3], r[4], r[1], r[0], r[2]};
    memcpy(r, result, sizeof result);
}

static void number_quads(const struct wmi_rows *rows, unsigned strip, uint8_t reg[4])
{
    for (unsigned i = 0; i < 4; i++)
        reg[i] = (uint8_t)wmi_rows_register(&rows[i], strip);
}

static void load_quads(struct wmi_stretch *s, const struct wmi_rows *d, unsigned strip, int32_t displacement,
                       const struct wmi_access_scratch *scratch)
{
    uint8_t r[5];
    if (s->host.vectors->gather_quads) {
        number_quads(d, strip, r);
        s->host.vectors->gather_quads(&s->host, r, WMI_RAX, displacement, WMI_NO_INDEX, WMI_NO_MASK);
        return;
    }
    memcpy(r, scratch->reg, sizeof r);
    for (unsigned i = 0; i < 4; i++)
        wmi_evex_plain(&s->host, WMI_VMOVUPS_LOAD, r[i], 0,
                       wmi_at(WMI_RAX, displacement + (int32_t)(i * WMI_STRIP_BYTES)));
    transpose(s, OF_PARTS, r);
    transpose(s, OF_WORDS, r);
    for (unsigned i = 0; i < 4; i++)
        wmi_evex_plain(&s->host, WMI_VMOVDQA32, d[i].reg[strip], 0, wmi_zmm(r[i]));
}

static void store_quads(struct wmi_stretch *s, const struct wmi_rows *data, unsigned strip,
                        int32_t displacement, const struct wmi_access_scratch *scratch)
{
    uint8_t r[5];
    if (s->host.vectors->scatter_quads) {
        number_quads(data, strip, r);
        s->host.vectors->scatter_quads(&s->host, r, WMI_RAX, displacement, WMI_NO_INDEX);
        return;
    }
    memcpy(r, scratch->reg, sizeof r);
    for (unsigned i = 0; i < 4; i++)
        wmi_evex_plain(&s->host, WMI_VMOVDQA32, r[i], 0, wmi_zmm(wmi_rows_register(&data[i], strip)));
    transpose(s, OF_WORDS, r);
    transpose(s, OF_PARTS, r);
    for (unsigned i = 0; i < 4; i++)
        wmi_evex_plain(&s->host, WMI_VMOVUPS_STORE, r[i], 0,
                       wmi_at(WMI_RAX, displacement + (int32_t)(i * WMI_STRIP_BYTES)));
}

static void store_place(struct wmi_stretch *s, unsigned distance, unsigned strip)
{
    wmi_evex_plain(&s->host, WMI_VMOVUPS_STORE, distance, 0, wmi_lane_places(strip));
}

/* RAX = the place of a lane whose distance has been stored. */
static void take_stored_place(struct wmi_stretch *s, unsigned strip, unsigned lane)
{
    const struct wmi_host_operand places = wmi_lane_places(strip);
    wmi_scalar_memory(&s->host, WMI_MOV_LOAD, false, WMI_RAX, places.base,
                      places.displacement + (int32_t)(4 * lane));
    wmi_scalar_registers(&s->host, WMI_ADD, true, WMI_RAX, WMI_RCX);
}

/* Four words from the place of each active lane; others get those at RCX. */
static void gather_quads(struct wmi_stretch *s, unsigned distance, const struct wmi_rows *d, unsigned strip,
                         unsigned mask, const struct wmi_access_scratch *scratch)
{
    const uint32_t load = WMI_EVEX_OF(0x10, WMI_MAP_0F, 0, 0, 4) | WMI_EVEX_128,
                   vinserti32x4 = WMI_EVEX_OF(0x38, WMI_MAP_0F3A, WMI_PREFIX_66, 0, 4);
    uint8_t r[5];
    if (s->host.vectors->gather_quads) {
        number_quads(d, strip, r);
        s->host.vectors->gather_quads(&s->host, r, WMI_RCX, 0, (int)distance, mask);
        return;
    }
    memcpy(r, scratch->reg, sizeof r);
    if (mask)
        wmi_evex(&s->host, WMI_VMOVDQA32, r[4], 0, wmi_zmm(distance), mask | WMI_ZEROING, WMI_NO_IMMEDIATE);
    store_place(s, mask ? r[4] : distance, strip);
    for (unsigned lane = 0; lane < WMI_STRIP_LANES; lane++) {
        const unsigned reg = r[lane % 4];
        take_stored_place(s, strip, lane);
        if (lane < 4)
            wmi_evex_plain(&s->host, load, reg, 0, wmi_at(WMI_RAX, 0));
        else
            wmi_evex(&s->host, vinserti32x4, reg, reg, wmi_at(WMI_RAX, 0), WMI_NO_MASK, (int)(lane / 4));
    }
    transpose(s, OF_WORDS, r);
    for (unsigned i = 0; i < 4; i++)
        wmi_evex_plain(&s->host, WMI_VMOVDQA32, d[i].reg[strip], 0, wmi_zmm(r[i]));
}

/* Two words from the place of each active lane. */
static void gather_pairs(struct wmi_stretch *s, unsigned distance, const struct wmi_rows *d, unsigned strip,
                         unsigned mask, const struct wmi_access_scratch *scratch)
{
    const unsigned low = d[0].reg[strip], high = d[1].reg[strip], far = low;
    if (s->host.vectors->gather_pairs) {
        s->host.vectors->gather_pairs(&s->host, low, high, WMI_RCX, distance, mask);
        return;
    }
    take_active(s, mask);
    wmi_mask(&s->host, WMI_KAND, WMI_K + 1, WMI_K, WMI_K);
    for (unsigned half = 0; half < 2; half++) {
        const unsigned reg = scratch->reg[half];
        if (half) {
            wmi_kshift_right(&s->host, WMI_K, WMI_K + 1, WMI_STRIP_LANES / 2);
            wmi_evex(&s->host, WMI_VALIGNQ, far, distance, wmi_zmm(distance), WMI_NO_MASK, 4);
        }
        wmi_evex_plain(&s->host, WMI_VPXORD, reg, reg, wmi_zmm(reg));
        wmi_evex_indexed(&s->host, WMI_VPGATHERDQ, reg, WMI_RCX, half ? far : distance, 0, WMI_K);
    }
    wmi_access_split_pairs(s, low, high, scratch->reg[0], wmi_zmm(scratch->reg[1]));
}

/* Four words to the place of each active lane, in the order of lanes. */
static void scatter_quads(struct wmi_stretch *s, unsigned distance, const struct wmi_rows *data,
                          unsigned strip, const struct wmi_access_scratch *scratch)
{
    const uint32_t vextracti32x4 = WMI_EVEX_OF(0x39, WMI_MAP_0F3A, WMI_PREFIX_66, 0, 4);
    uint8_t r[5];
    memcpy(r, scratch->reg, sizeof r);
    store_place(s, distance, strip);
    for (unsigned i = 0; i < 4; i++)
        wmi_evex_plain(&s->host, WMI_VMOVDQA32, r[i], 0, wmi_zmm(wmi_rows_register(&data[i], strip)));
    transpose(s, OF_WORDS, r);
    for (unsigned lane = 0; lane < WMI_STRIP_LANES; lane++) {
        size_t idle = 0;
        if (s->partial) {
            wmi_test_memory_8(&s->host, WMI_FRAME,
                              WMI_EXEC_BITS + (int32_t)(strip * WMI_STRIP_LANES + lane) / 8, 1u << lane % 8);
            idle = wmi_jump_if(&s->host, WMI_IF_EQUAL);
        }
        take_stored_place(s, strip, lane);
        wmi_evex(&s->host, vextracti32x4, r[lane % 4], 0, wmi_at(WMI_RAX, 0), WMI_NO_MASK, (int)(lane / 4));
        wmi_land_if(&s->host, idle);
    }
}

/* The words of two rows in turn, in the first two scratch registers. */
static void join_pairs(struct wmi_stretch *s, const struct wmi_rows *data, unsigned strip,
                       const struct wmi_access_scratch *scratch)
{
    wmi_access_join_pairs(s, scratch->reg[0], scratch->reg[1], wmi_rows_register(&data[0], strip),
                          wmi_rows_register(&data[1], strip));
}

void wmi_access_load_run(struct wmi_stretch *s, struct wmi_lane_shape shape, const struct wmi_rows *d,
                         unsigned strip, int32_t displacement, unsigned mask,
                         const struct wmi_access_scratch *scratch)
{
    const struct wmi_host_operand from = wmi_at(WMI_RAX, displacement),
                                  next = wmi_at(WMI_RAX, displacement + WMI_STRIP_BYTES);
    switch (shape.rows) {
    case 1:
        wmi_evex(&s->host, shape.bytes == 4 ? WMI_VMOVUPS_LOAD : vpmov_extend(shape), d[0].reg[strip], 0,
                 from, mask ? mask | WMI_ZEROING : mask, WMI_NO_IMMEDIATE);
        break;
    case 2:
        wmi_evex_plain(&s->host, WMI_VMOVUPS_LOAD, scratch->reg[0], 0, from);
        if (s->host.vectors->split_pairs) {
            wmi_access_split_pairs(s, d[0].reg[strip], d[1].reg[strip], scratch->reg[0], next);
            break;
        }
        wmi_evex_plain(&s->host, WMI_VMOVUPS_LOAD, scratch->reg[1], 0, next);
        wmi_access_split_pairs(s, d[0].reg[strip], d[1].reg[strip], scratch->reg[0],
                               wmi_zmm(scratch->reg[1]));
        break;
    default:
        load_quads(s, d, strip, displacement, scratch);
    }
}

void wmi_access_load_reversed(struct wmi_stretch *s, struct wmi_lane_shape shape, unsigned d, unsigned order,
                              int32_t displacement)
{
    struct wmi_host_operand from = wmi_at(WMI_RAX, displacement);
    if (shape.bytes < 4) {
        wmi_evex_plain(&s->host, vpmov_extend(shape), d, 0, from);
        from = wmi_zmm(d);
    }
    wmi_evex_plain(&s->host, WMI_VPERMD, d, order, from);
}

void wmi_access_store_run(struct wmi_stretch *s, struct wmi_lane_shape shape, const struct wmi_rows *data,
                          unsigned strip, int32_t displacement, unsigned mask,
                          const struct wmi_access_scratch *scratch)
{
    const struct wmi_host_operand to = wmi_at(WMI_RAX, displacement),
                                  next = wmi_at(WMI_RAX, displacement + WMI_STRIP_BYTES);
    switch (shape.rows) {
    case 1:
        wmi_evex(&s->host, shape.bytes == 4 ? WMI_VMOVUPS_STORE : vpmov_narrow(shape),
                 wmi_rows_register(data, strip), 0, to, mask, WMI_NO_IMMEDIATE);
        break;
    case 2:
        join_pairs(s, data, strip, scratch);
        wmi_evex_plain(&s->host, WMI_VMOVUPS_STORE, scratch->reg[0], 0, to);
        wmi_evex_plain(&s->host, WMI_VMOVUPS_STORE, scratch->reg[1], 0, next);
        break;
    default:
        store_quads(s, data, strip, displacement, scratch);
    }
}

/* ---- elements at any places ---- */

/* A jump taken if a lane is inactive, which would need masks of elements of several rows; 0: none can be. */
static size_t unless_all_active(struct wmi_stretch *s, struct wmi_lane_shape shape, unsigned mask)
{
    if (!mask || shape.rows == 1)
        return 0;
    return wmi_jump_unless_full(&s->host, mask);
}

/* The register = the element's first dword, extended. */
static void extend(struct wmi_stretch *s, struct wmi_lane_shape shape, unsigned reg)
{
    const int bits = 32 - 8 * shape.bytes;
    if (bits <= 0)
        return;
    wmi_evex(&s->host, WMI_SHIFT_IMMEDIATE, WMI_LEFT, reg, wmi_zmm(reg), WMI_NO_MASK, bits);
    wmi_evex(&s->host, WMI_SHIFT_IMMEDIATE, shape.is_signed ? WMI_RIGHT_SIGNED : WMI_RIGHT, reg, wmi_zmm(reg),
             WMI_NO_MASK, bits);
}

void wmi_access_load_same(struct wmi_stretch *s, struct wmi_lane_shape shape, const struct wmi_rows *d,
                          unsigned strip, int32_t displacement)
{
    static const uint32_t broadcast[] = {
        [1] = WMI_VPBROADCASTD_MEMORY,
        [2] = WMI_EVEX_OF(0x59, WMI_MAP_0F38, WMI_PREFIX_66, 1, 3), /* VPBROADCASTQ */
        [4] = WMI_EVEX_OF(0x5a, WMI_MAP_0F38, WMI_PREFIX_66, 0, 4), /* VBROADCASTI32X4 */
    };
    static const uint8_t pairs[] = {0xa0, 0xf5}, quads[] = {0x00, 0x55, 0xaa, 0xff}; /* of VPSHUFD */
    const uint32_t vpshufd = WMI_EVEX(0x70, WMI_MAP_0F, WMI_PREFIX_66, 0);
    const unsigned last = d[shape.rows - 1].reg[strip];
    wmi_evex_plain(&s->host, broadcast[shape.rows], last, 0, wmi_at(WMI_RAX, displacement));
    for (unsigned i = 0; i < shape.rows && shape.rows > 1; i++)
        wmi_evex(&s->host, vpshufd, d[i].reg[strip], 0, wmi_zmm(last), WMI_NO_MASK,
                 shape.rows == 2 ? pairs[i] : quads[i]);
    extend(s, shape, last);
}

void wmi_access_store_same(struct wmi_stretch *s, struct wmi_lane_shape shape, const struct wmi_rows *data,
                           unsigned strip, int32_t displacement, const struct wmi_access_scratch *scratch)
{
    enum { BSR = 0x1bd, MOV_STORE_8 = 0x88, OPERAND_OF_16_BITS = 0x66 };
    const unsigned value = wmi_rows_register(data, strip), last = scratch->reg[0];
    size_t idle = 0;
    if (s->partial) {
        wmi_scalar_memory(&s->host, WMI_MOVZX_16, false, WMI_R9, WMI_FRAME,
                          WMI_EXEC_BITS + (int32_t)(strip * WMI_STRIP_LANES / 8));
        wmi_scalar_registers(&s->host, BSR, false, WMI_R9, WMI_R9);
        idle = wmi_jump_if(&s->host, WMI_IF_EQUAL);
    } else {
        wmi_move_immediate(&s->host, WMI_R9, WMI_STRIP_LANES - 1);
    }
    wmi_evex_plain(&s->host, WMI_VPBROADCASTD_GPR, last, 0, wmi_zmm(WMI_R9));
    wmi_evex_plain(&s->host, WMI_VPERMD, last, last, wmi_zmm(value));
    wmi_evex_plain(&s->host, WMI_VMOVD_GPR, last, 0, wmi_zmm(WMI_R9));
    if (shape.bytes == 2)
        wmi_put_8(&s->host, OPERAND_OF_16_BITS);
    wmi_scalar_memory(&s->host, shape.bytes == 1 ? MOV_STORE_8 : WMI_MOV_STORE, false, WMI_R9, WMI_RAX,
                      displacement);
    wmi_land_if(&s->host, idle);
}

void wmi_access_keep_distance(struct wmi_stretch *s, const struct wmi_rows *distance, unsigned strip)
{
    if (distance->in_memory)
        store_place(s, distance->reg[strip], strip);
}

static void take_distance(struct wmi_stretch *s, const struct wmi_rows *distance, unsigned strip)
{
    if (distance->in_memory)
        wmi_evex_plain(&s->host, WMI_VMOVUPS_LOAD, distance->reg[strip], 0, wmi_lane_places(strip));
}

/* Elements of several rows. */
static void load_strip(struct wmi_stretch *s, struct wmi_lane_shape shape, unsigned distance,
                       const struct wmi_rows *d, unsigned strip, const struct wmi_access_scratch *scratch,
                       unsigned ahead)
{
    const unsigned mask = wmi_access_mask(s, strip);
    if (shape.rows == 4 && !mask && s->host.vectors->gather_quads) { /* a test of the places takes as long */
        gather_quads(s, distance, d, strip, mask, scratch);
        return;
    }
    const size_t idle = wmi_access_unless_active(s, mask), partial = unless_all_active(s, shape, mask);
    const size_t not_in_a_run = unless_in_a_run(s, shape, distance, mask, scratch);
    if (ahead)
        wmi_prefetch(&s->host, WMI_RAX, (int32_t)ahead, false);
    wmi_access_load_run(s, shape, d, strip, 0, WMI_NO_MASK, scratch);
    const size_t loaded = wmi_jump(&s->host);
    wmi_land(&s->host, not_in_a_run);
    wmi_land_if(&s->host, partial);
    const size_t scattered = unless_same(s, distance, scratch->reg[1], mask, scratch->reg[0]);
    wmi_access_load_same(s, shape, d, strip, 0);
    const size_t same = wmi_jump(&s->host);
    wmi_land(&s->host, scattered);
    if (shape.rows == 2)
        gather_pairs(s, distance, d, strip, mask, scratch);
    else
        gather_quads(s, distance, d, strip, mask, scratch);
    wmi_land(&s->host, loaded);
    wmi_land(&s->host, same);
    wmi_land_if(&s->host, idle);
}

/* Loads a row of elements that do not follow one another: with gathers, or one lane after the other if the
 * allocation is as large as wmi_lanes_from() says. */
static void gather_strips(struct wmi_stretch *s, struct wmi_lane_shape shape, const struct wmi_rows *distance,
                          const struct wmi_rows *d, const struct wmi_access_scratch *scratch, bool has_hit)
{
    enum { CMP_DIGIT = 7 };
    const bool may_load_lanes = has_hit && s->block->lanes_from && s->host.vectors->gathers;
    size_t loaded = 0;
    if (may_load_lanes) {
        wmi_scalar_memory(&s->host, WMI_MOV_LOAD, true, WMI_RAX, WMI_R8, offsetof(struct wmi_hit, high));
        wmi_scalar_memory(&s->host, WMI_SUB, true, WMI_RAX, WMI_R8, offsetof(struct wmi_hit, low));
        wmi_arithmetic_immediate(&s->host, CMP_DIGIT, true, WMI_RAX, s->block->lanes_from);
        const size_t small = wmi_jump_if(&s->host, WMI_IF_BELOW);
        for (unsigned i = 0; i < s->strips; i++) {
            load_lanes(s, d->reg[i], wmi_rows_register(distance, i), wmi_access_mask(s, i), scratch);
            extend(s, shape, d->reg[i]);
        }
        loaded = wmi_jump(&s->host);
        wmi_land(&s->host, small);
    }
    for (unsigned i = 0; i < s->strips; i++) {
        gather(s, d->reg[i], wmi_rows_register(distance, i), wmi_access_mask(s, i), scratch);
        extend(s, shape, d->reg[i]);
    }
    if (may_load_lanes)
        wmi_land(&s->host, loaded);
}

/* What the count of a load (wmi_worker.scattered) tells about the last times. It counts the loads that had to
 * gather since the last one that did not. While one of GATHERS_AT_ONCE is set in the count, loads gather
 * without a test of their places: so 8 of 64 are tested. Or the last load was of dwords in runs of half a
 * strip, as those of blocks of eight columns are. */
enum { GATHERS_AT_ONCE = 0x38, IN_HALVES = -1 };

static size_t if_usually_scattered(struct wmi_stretch *s)
{
    wmi_test_memory_32(&s->host, WMI_R8, s->scattered, GATHERS_AT_ONCE);
    return wmi_jump_if(&s->host, WMI_IF_NOT_EQUAL);
}

static void note_in_hit(struct wmi_stretch *s, uint32_t value)
{
    wmi_move_immediate(&s->host, WMI_RAX, value);
    wmi_scalar_memory(&s->host, WMI_MOV_STORE, false, WMI_RAX, WMI_R8, s->scattered);
}

/* Loads dwords if those of each half of a strip follow one another from its first lane on. Returns a jump
 * taken if they do not. If that lane is inactive, its place may be anywhere, and usually does not fit; a half
 * without active lanes fits, and nothing is loaded there. */
static size_t load_halves(struct wmi_stretch *s, const struct wmi_rows *distance, const struct wmi_rows *d,
                          const struct wmi_access_scratch *scratch, unsigned ahead)
{
    const int32_t offsets = offsetof(struct wmi_lane_tables, halves), firsts = offsets + WMI_STRIP_BYTES,
                  before = WMI_STRIP_BYTES / 2;
    const unsigned all = WMI_K, low = WMI_K + 1, high = WMI_K + 2, other = scratch->reg[0],
                   differs = scratch->reg[1];
    wmi_evex_plain(&s->host, WMI_VPXORD, differs, differs, wmi_zmm(differs));
    for (unsigned i = 0; i < s->strips; i++) {
        wmi_evex_plain(&s->host, WMI_VPSUBD, other, wmi_rows_register(distance, i), wmi_at(WMI_R9, offsets));
        wmi_evex_plain(&s->host, WMI_VMOVUPS_LOAD, d->reg[i], 0, wmi_at(WMI_R9, firsts));
        wmi_evex_plain(&s->host, WMI_VPERMD, d->reg[i], d->reg[i], wmi_zmm(other));
        wmi_evex(&s->host, WMI_VPTERNLOGD, differs, other, wmi_zmm(d->reg[i]), wmi_access_mask(s, i),
                 WMI_OR_DIFFERENCE);
    }
    wmi_test_words(&s->host, differs, WMI_K);
    const size_t others = wmi_jump_if(&s->host, WMI_IF_NOT_EQUAL);
    note_in_hit(s, (uint32_t)IN_HALVES);
    wmi_mask(&s->host, WMI_KXNOR, all, all, all);
    for (unsigned i = 0; i < s->strips; i++) {
        const unsigned active = s->partial ? wmi_access_mask(s, i) : all;
        wmi_mask_low_8(&s->host, low);
        wmi_mask(&s->host, WMI_KANDN, high, low, active);
        wmi_mask(&s->host, WMI_KAND, low, low, active);
        wmi_evex(&s->host, WMI_VALIGNQ, other, d->reg[i], wmi_zmm(d->reg[i]), WMI_NO_MASK, 4);
        take_place(s, d->reg[i]);
        if (ahead)
            wmi_prefetch(&s->host, WMI_RAX, (int32_t)ahead, false);
        wmi_evex(&s->host, WMI_VMOVUPS_LOAD, d->reg[i], 0, wmi_at(WMI_RAX, 0), low | WMI_ZEROING,
                 WMI_NO_IMMEDIATE);
        take_place(s, other);
        if (ahead)
            wmi_prefetch(&s->host, WMI_RAX, (int32_t)ahead - before, false);
        wmi_evex(&s->host, WMI_VMOVUPS_LOAD, d->reg[i], 0, wmi_at(WMI_RAX, -before), high, WMI_NO_IMMEDIATE);
    }
    return others;
}

/* Loads dwords from LDS if those of each strip are among sixteen that follow one another from a multiple of
 * 64 bytes on, or from up to three bytes behind one: each lane selects one of them. So many bytes can be read
 * beyond the end of the LDS. Returns a jump taken if they are not. */
static size_t load_windows(struct wmi_stretch *s, const struct wmi_rows *distance, const struct wmi_rows *d,
                           const struct wmi_access_scratch *scratch)
{
    enum { WORD_IN_WINDOW = WMI_STRIP_BYTES - 4 };
    const unsigned word = scratch->reg[0], window = scratch->reg[1];
    wmi_move_immediate(&s->host, WMI_RAX, (uint32_t)~WORD_IN_WINDOW);
    wmi_access_splat(s, window);
    for (unsigned i = 0; i < s->strips; i++) {
        take_first(s, wmi_rows_register(distance, i), d->reg[i], wmi_access_mask(s, i));
        wmi_evex_plain(&s->host, WMI_VPXORD, word, wmi_rows_register(distance, i), wmi_zmm(d->reg[i]));
        wmi_access_collect(s, WMI_VPTESTMD, word, window, wmi_access_mask(s, i), WMI_NO_IMMEDIATE, !i);
    }
    wmi_kortest(&s->host, WMI_K, WMI_K);
    const size_t others = wmi_jump_if(&s->host, WMI_IF_NOT_EQUAL);
    for (unsigned i = 0; i < s->strips; i++) {
        wmi_evex_plain(&s->host, WMI_VPANDD, d->reg[i], d->reg[i], wmi_zmm(window));
        take_place(s, d->reg[i]);
        wmi_evex(&s->host, WMI_SHIFT_IMMEDIATE, WMI_RIGHT, word, wmi_zmm(wmi_rows_register(distance, i)),
                 WMI_NO_MASK, 2);
        wmi_evex_plain(&s->host, WMI_VPERMD, d->reg[i], word, wmi_at(WMI_RAX, 0));
    }
    return others;
}

/* Loads the element of each strip, if its lanes have the same. Returns a jump taken if they have not. */
static size_t load_same(struct wmi_stretch *s, struct wmi_lane_shape shape, const struct wmi_rows *distance,
                        const struct wmi_rows *d, const struct wmi_access_scratch *scratch)
{
    for (unsigned i = 0; i < s->strips; i++)
        compare_with_first(s, wmi_rows_register(distance, i), d->reg[i], wmi_access_mask(s, i),
                           scratch->reg[1], i == 0);
    wmi_test_words(&s->host, scratch->reg[1], WMI_K);
    const size_t others = wmi_jump_if(&s->host, WMI_IF_NOT_EQUAL);
    for (unsigned i = 0; i < s->strips; i++) {
        take_place(s, d->reg[i]);
        wmi_access_load_same(s, shape, d, i, 0);
    }
    return others;
}

/* The same for all strips, of elements in one row. One jump serves all strips, because which of them hold
 * places in a run is hard to foretell where few lanes are active, and a gather is not dear. */
static void load_strips(struct wmi_stretch *s, struct wmi_lane_shape shape, const struct wmi_rows *distance,
                        const struct wmi_rows *d, const struct wmi_access_scratch *scratch, unsigned ahead,
                        bool has_hit)
{
    const bool tries_halves = has_hit && shape.bytes == 4;
    size_t usually_scattered = 0, usually_in_halves = 0, in_halves = 0;
    if (tries_halves) {
        wmi_arithmetic_memory(&s->host, 7, false, WMI_R8, s->scattered, IN_HALVES);
        usually_in_halves = wmi_jump_if(&s->host, WMI_IF_EQUAL);
    }
    if (has_hit)
        usually_scattered = if_usually_scattered(s);
    for (unsigned i = 0; i < s->strips; i++) {
        wmi_evex_plain(&s->host, WMI_VPSUBD, scratch->reg[0], wmi_rows_register(distance, i),
                       wmi_at(WMI_R9, wmi_lane_offsets(shape.bytes, 0)));
        compare_with_first(s, scratch->reg[0], d->reg[i], wmi_access_mask(s, i), scratch->reg[1], i == 0);
    }
    wmi_test_words(&s->host, scratch->reg[1], WMI_K);
    const size_t not_in_runs = wmi_jump_if(&s->host, WMI_IF_NOT_EQUAL);
    if (has_hit)
        note_in_hit(s, 0);
    for (unsigned i = 0; i < s->strips; i++) {
        take_place(s, d->reg[i]);
        if (ahead)
            wmi_prefetch(&s->host, WMI_RAX, (int32_t)ahead, false);
        wmi_access_load_run(s, shape, d, i, 0, wmi_access_mask(s, i), scratch);
    }
    const size_t loaded = wmi_jump(&s->host);
    wmi_land(&s->host, not_in_runs);
    const size_t others = !has_hit && shape.bytes == 4 ? load_windows(s, distance, d, scratch)
                                                       : load_same(s, shape, distance, d, scratch),
                 selected = wmi_jump(&s->host);
    wmi_land(&s->host, others);
    if (tries_halves) {
        wmi_land(&s->host, usually_in_halves);
        const size_t scattered = load_halves(s, distance, d, scratch, ahead);
        in_halves = wmi_jump(&s->host);
        wmi_land(&s->host, scattered);
    }
    if (has_hit) {
        wmi_land(&s->host, usually_scattered);
        wmi_arithmetic_memory(&s->host, 0, false, WMI_R8, s->scattered, 1);
    }
    gather_strips(s, shape, distance, d, scratch, has_hit);
    wmi_land(&s->host, loaded);
    wmi_land(&s->host, selected);
    if (tries_halves)
        wmi_land(&s->host, in_halves);
}

/* Whether the host moves rows of dwords by half strips. */
static bool takes_half_strips(const struct wmi_stretch *s, struct wmi_lane_shape shape,
                              const struct wmi_rows *distance)
{
    return shape.bytes == 4 && !distance->uniform && s->host.vectors->begin_half_strips;
}

/* The masks of the strips, or NULL: all lanes are active. */
static const uint8_t *masks_of(const struct wmi_stretch *s)
{
    static const uint8_t exec[WMI_STRIPS] = {WMI_K_EXEC, WMI_K_EXEC + 1, WMI_K_EXEC + 2, WMI_K_EXEC + 3};
    return s->partial ? exec : NULL;
}

static size_t begin_half_strips(struct wmi_stretch *s, struct wmi_lane_shape shape,
                                const struct wmi_rows *distance)
{
    return s->host.vectors->begin_half_strips(&s->host, distance->reg, masks_of(s), s->strips,
                                              wmi_at(WMI_R9, wmi_lane_offsets(shape.bytes, 0)));
}

/* Loads the element of each half strip, if its lanes have the same. Returns a jump taken if they have not. */
static size_t load_same_half_strips(struct wmi_stretch *s, struct wmi_lane_shape shape,
                                    const struct wmi_rows *distance, const struct wmi_rows *d)
{
    const size_t others =
        s->host.vectors->begin_half_strips(&s->host, distance->reg, masks_of(s), s->strips,
                                           wmi_at(WMI_R9, offsetof(struct wmi_lane_tables, zeros)));
    s->host.vectors->broadcast_half_strips(&s->host, d->reg, masks_of(s), s->strips, WMI_RCX);
    for (unsigned i = 0; i < s->strips; i++)
        extend(s, shape, d->reg[i]);
    return others;
}

/* Bytes or words in waves with inactive lanes, on hosts that do not extend those of a mask. */
static void load_extended(struct wmi_stretch *s, struct wmi_lane_shape shape, const struct wmi_rows *distance,
                          const struct wmi_rows *d, const struct wmi_access_scratch *scratch)
{
    const size_t usually_scattered = if_usually_scattered(s);
    const size_t not_in_runs = begin_half_strips(s, shape, distance);
    wmi_scalar_memory(&s->host, WMI_MOV_LOAD, true, WMI_RAX, WMI_R8, offsetof(struct wmi_hit, high));
    wmi_scalar_memory(&s->host, WMI_SUB, true, WMI_RAX, WMI_R8, offsetof(struct wmi_hit, low));
    const size_t outside = s->host.vectors->extend_half_strips(&s->host, vpmov_extend(shape), d->reg,
                                                               s->strips, WMI_RCX, shape.bytes);
    note_in_hit(s, 0);
    const size_t loaded = wmi_jump(&s->host);
    wmi_land(&s->host, not_in_runs);
    const size_t others = load_same_half_strips(s, shape, distance, d), selected = wmi_jump(&s->host);
    wmi_land(&s->host, others);
    wmi_land(&s->host, usually_scattered);
    wmi_arithmetic_memory(&s->host, 0, false, WMI_R8, s->scattered, 1);
    wmi_land(&s->host, outside);
    gather_strips(s, shape, distance, d, scratch, true);
    wmi_land(&s->host, loaded);
    wmi_land(&s->host, selected);
}

static void load_half_strips(struct wmi_stretch *s, struct wmi_lane_shape shape,
                             const struct wmi_rows *distance, const struct wmi_rows *d,
                             const struct wmi_access_scratch *scratch, unsigned ahead, bool has_hit)
{
    const size_t usually_scattered = has_hit ? if_usually_scattered(s) : 0;
    const size_t not_in_runs = begin_half_strips(s, shape, distance);
    if (has_hit)
        note_in_hit(s, 0);
    s->host.vectors->load_half_strips(&s->host, d->reg, masks_of(s), s->strips, WMI_RCX, ahead);
    const size_t loaded = wmi_jump(&s->host);
    wmi_land(&s->host, not_in_runs);
    const size_t others = load_same_half_strips(s, shape, distance, d), selected = wmi_jump(&s->host);
    wmi_land(&s->host, others);
    if (has_hit) {
        wmi_land(&s->host, usually_scattered);
        wmi_arithmetic_memory(&s->host, 0, false, WMI_R8, s->scattered, 1);
    }
    gather_strips(s, shape, distance, d, scratch, has_hit);
    wmi_land(&s->host, loaded);
    wmi_land(&s->host, selected);
}

static void scatter_dwords(struct wmi_stretch *s, unsigned distance, const struct wmi_rows *data,
                           unsigned strip)
{
    take_active(s, wmi_access_mask(s, strip));
    wmi_evex_indexed(&s->host, WMI_VPSCATTERDD, wmi_rows_register(data, strip), WMI_RCX, distance, 0, WMI_K);
}

static void store_half_strips(struct wmi_stretch *s, struct wmi_lane_shape shape,
                              const struct wmi_rows *distance, const struct wmi_rows *data, unsigned ahead)
{
    uint8_t reg[WMI_STRIPS];
    number_strips(s, data, reg);
    const size_t not_in_runs = begin_half_strips(s, shape, distance);
    s->host.vectors->store_half_strips(&s->host, reg, masks_of(s), s->strips, WMI_RCX, ahead);
    const size_t stored = wmi_jump(&s->host);
    wmi_land(&s->host, not_in_runs);
    if (s->partial)
        for (unsigned i = 0; i < s->strips; i++)
            scatter_dwords(s, wmi_rows_register(distance, i), data, i);
    else
        s->host.vectors->scatter_half_strips(&s->host, reg, s->strips, WMI_RCX);
    wmi_land(&s->host, stored);
}

void wmi_access_load(struct wmi_stretch *s, struct wmi_lane_shape shape, const struct wmi_rows *distance,
                     const struct wmi_rows *d, const struct wmi_access_scratch *scratch, unsigned ahead,
                     bool has_hit)
{
    if (d->uniform) {
        wmi_evex_plain(&s->host, WMI_VMOVD_GPR, distance->reg[0], 0, wmi_zmm(WMI_RAX));
        wmi_scalar_registers(&s->host, WMI_ADD, true, WMI_RAX, WMI_RCX);
        wmi_access_load_same(s, shape, d, 0, 0);
        return;
    }
    if (takes_half_strips(s, shape, distance)) {
        load_half_strips(s, shape, distance, d, scratch, ahead, has_hit);
        return;
    }
    if (s->partial && shape.bytes < 4 && !s->host.vectors->extends_masked) {
        if (has_hit)
            load_extended(s, shape, distance, d, scratch);
        else
            gather_strips(s, shape, distance, d, scratch, false);
        return;
    }
    if (shape.rows == 1) {
        load_strips(s, shape, distance, d, scratch, ahead, has_hit);
        return;
    }
    for (unsigned i = 0; i < s->strips; i++) {
        take_distance(s, distance, i);
        load_strip(s, shape, wmi_rows_register(distance, i), d, i, scratch, ahead);
    }
}

/* Pairs of words in the order of lanes: the first eight lanes, then the others. */
static void scatter_pairs(struct wmi_stretch *s, unsigned distance, const struct wmi_rows *data,
                          unsigned strip, const struct wmi_access_scratch *scratch)
{
    const unsigned far = scratch->reg[0];
    if (!s->partial && s->host.vectors->scatter_pairs) {
        s->host.vectors->scatter_pairs(&s->host, wmi_rows_register(&data[0], strip),
                                       wmi_rows_register(&data[1], strip), WMI_RCX, distance);
        return;
    }
    join_pairs(s, data, strip, scratch);
    wmi_mask(&s->host, WMI_KAND, WMI_K + 1, WMI_K, WMI_K);
    wmi_evex_indexed(&s->host, WMI_VPSCATTERDQ, scratch->reg[0], WMI_RCX, distance, 0, WMI_K);
    wmi_kshift_right(&s->host, WMI_K, WMI_K + 1, WMI_STRIP_LANES / 2);
    wmi_evex(&s->host, WMI_VALIGNQ, far, distance, wmi_zmm(distance), WMI_NO_MASK, 4);
    wmi_evex_indexed(&s->host, WMI_VPSCATTERDQ, scratch->reg[1], WMI_RCX, far, 0, WMI_K);
}

static void store_strip(struct wmi_stretch *s, struct wmi_lane_shape shape, unsigned distance,
                        const struct wmi_rows *data, unsigned strip, const struct wmi_access_scratch *scratch,
                        unsigned ahead)
{
    const unsigned mask = wmi_access_mask(s, strip);
    if (shape.rows == 4 && !mask && s->host.vectors->scatter_quads) {
        uint8_t reg[4];
        number_quads(data, strip, reg);
        s->host.vectors->scatter_quads(&s->host, reg, WMI_RCX, 0, (int)distance);
        return;
    }
    const size_t idle = wmi_access_unless_active(s, mask), partial = unless_all_active(s, shape, mask);
    const size_t not_in_a_run = unless_in_a_run(s, shape, distance, mask, scratch);
    if (ahead)
        wmi_prefetch(&s->host, WMI_RAX, (int32_t)ahead, true);
    wmi_access_store_run(s, shape, data, strip, 0, shape.rows == 1 ? mask : WMI_NO_MASK, scratch);
    const size_t stored = wmi_jump(&s->host);
    wmi_land(&s->host, not_in_a_run);
    wmi_land_if(&s->host, partial);
    if (shape.rows == 1)
        scatter_dwords(s, distance, data, strip);
    else
        take_active(s, mask);
    if (shape.rows == 2)
        scatter_pairs(s, distance, data, strip, scratch);
    else if (shape.rows == 4)
        scatter_quads(s, distance, data, strip, scratch);
    wmi_land(&s->host, stored);
    wmi_land_if(&s->host, idle);
}

/* Of an element that is smaller than a dword: leaves if its places do not follow one another. */
static void store_strip_or_leave(struct wmi_stretch *s, struct wmi_lane_shape shape, unsigned distance,
                                 const struct wmi_rows *data, unsigned strip,
                                 const struct wmi_access_scratch *scratch, bool stores)
{
    const unsigned mask = wmi_access_mask(s, strip);
    const size_t idle = wmi_access_unless_active(s, mask);
    wmi_stretch_exit_here(s, unless_in_a_run(s, shape, distance, mask, scratch));
    if (stores)
        wmi_access_store_run(s, shape, data, strip, 0, mask, scratch);
    wmi_land_if(&s->host, idle);
}

void wmi_access_store(struct wmi_stretch *s, struct wmi_lane_shape shape, const struct wmi_rows *distance,
                      const struct wmi_rows *data, const struct wmi_access_scratch *scratch, unsigned ahead)
{
    const bool scatters = shape.bytes >= 4;
    if (takes_half_strips(s, shape, distance)) {
        store_half_strips(s, shape, distance, data, ahead);
        return;
    }
    for (unsigned i = 0; i < s->strips && !scatters; i++)
        store_strip_or_leave(s, shape, wmi_rows_register(distance, i), data, i, scratch, false);
    for (unsigned i = 0; i < s->strips; i++) {
        take_distance(s, distance, i);
        if (scatters)
            store_strip(s, shape, wmi_rows_register(distance, i), data, i, scratch, ahead);
        else
            store_strip_or_leave(s, shape, wmi_rows_register(distance, i), data, i, scratch, true);
    }
}
