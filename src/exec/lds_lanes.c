/* SPDX-License-Identifier: MIT */
/* What DS instructions do to LDS and between lanes.
 *
 * A place is what one lane reads or writes at one address. The address is ADDR + offset modulo 2^32 (LLVM
 * folds offsets onto negative bases from gfx7 on, so the sum must wrap there; gfx6 differs, see
 * docs/hacking.md). A place that does not lie in the workgroup's LDS as a whole is out of range: reads give
 * 0, writes and atomics do nothing. Source: CDNA3 ISA, "Out-of-Range Behavior"; that a place is all or
 * nothing is unverified. A workgroup runs on one thread, so an atomic is a plain operation, and lanes take
 * turns in their order. The 64 bytes behind the LDS may be read, so lanes that take no part read at address
 * 0. */
#include "base/host_float.h"
#include "base/vector.h"
#include "exec/lds.h"

#include <string.h>

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* A vector at any address. gcc 12 would copy it with memcpy through narrower registers and stall. */
typedef uint32_t u32v_anywhere __attribute__((vector_size(WMI_VECTOR_BYTES), may_alias, aligned(1)));

enum { VECTORS = WMI_LANES / WMI_VECTOR_LANES };

struct places {
    alignas(64) uint32_t at[WMI_LANES];
    alignas(64) uint32_t keep[WMI_LANES]; /* all ones in range, else 0; set only unless all_in_range */
    uint64_t lanes;                       /* active and in range */
    bool all_in_range;                    /* all that are active */
    bool full;                            /* all lanes of the wave are active and in range */
};

ALWAYS_INLINE uint32_t *row(char *frame, uint32_t offset)
{
    return __builtin_assume_aligned(frame + offset, 64);
}

ALWAYS_INLINE u32v *vectors(uint32_t *row)
{
    return __builtin_assume_aligned(row, 64);
}

ALWAYS_INLINE const struct wmi_lanes *lanes_of(char *frame, const struct wmi_op *op)
{
    return __builtin_assume_aligned(frame + op->lanes, 64);
}

ALWAYS_INLINE unsigned char *lds_of(char *frame)
{
    return wmi_wave_of(frame)->group->lds;
}

/* d becomes `value` in the lanes of `mask`. */
ALWAYS_INLINE void blend_row(uint32_t *d, const uint32_t *mask, const uint32_t *value)
{
    for (unsigned v = 0; v < VECTORS; v++)
        vectors(d)[v] = wmi_select_u32(((const u32v *)mask)[v], ((const u32v *)value)[v], vectors(d)[v]);
}

/* Finds where the lanes' places of `bytes` at ADDR + offset lie. */
ALWAYS_INLINE void find_places(char *frame, const struct wmi_op *op, uint32_t offset, unsigned bytes,
                               struct places *places)
{
    const u32v *addr = vectors(row(frame, op->a));
    const struct wmi_lanes *lanes = lanes_of(frame, op);
    const uint32_t size = wmi_wave_of(frame)->group->lds_size;
    const u32v last = wmi_splat_u32(size - bytes);
    u32v outside = {0};
    for (unsigned v = 0; v < VECTORS; v++) {
        const u32v at = (addr[v] + offset) & ((const u32v *)lanes->row)[v];
        vectors(places->at)[v] = at;
        outside |= (u32v)(at > last);
    }
    places->lanes = lanes->bits;
    places->all_in_range = size >= bytes && !wmi_any(outside);
    places->full = places->all_in_range && lanes->full;
    if (__builtin_expect(places->all_in_range, 1))
        return;
    uint64_t in_range = 0;
    for (unsigned i = 0; i < WMI_LANES; i++) {
        const bool in = size >= bytes && places->at[i] <= size - bytes;
        in_range |= (uint64_t)in << i;
        places->keep[i] = in ? ~0u : 0;
        places->at[i] &= places->keep[i];
    }
    places->lanes &= in_range;
}

/* ---- reads ---- */

/* d becomes `value` in the active lanes, 0 where they are out of range. */
ALWAYS_INLINE void put_row(char *frame, const struct wmi_op *op, uint32_t d, const struct places *places,
                           uint32_t *value)
{
    if (!places->all_in_range)
        for (unsigned v = 0; v < VECTORS; v++)
            vectors(value)[v] &= ((const u32v *)places->keep)[v];
    blend_row(row(frame, d), lanes_of(frame, op)->row, value);
}

/* How addresses often lie: in every 16 lanes, `bytes` apart (0: all the same). Such reads need no gather. */
enum { GROUP = 16 };

ALWAYS_INLINE bool lie_in_runs(const struct places *places, unsigned bytes)
{
    static const alignas(64) uint32_t lane[GROUP] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    u32v differs = {0};
    for (unsigned v = 0; v < VECTORS; v++) {
        const unsigned first = v * WMI_VECTOR_LANES;
        const u32v expected = wmi_splat_u32(places->at[first / GROUP * GROUP]) +
                              ((const u32v *)lane)[first % GROUP / WMI_VECTOR_LANES] * bytes;
        differs |= ((const u32v *)places->at)[v] ^ expected;
    }
    return !wmi_any(differs);
}

/* Even and odd dwords of two vectors: what one step of taking records apart is. */
ALWAYS_INLINE u32v even(u32v a, u32v b)
{
    return __builtin_shufflevector(a, b, WMI_EVEN);
}

ALWAYS_INLINE u32v odd(u32v a, u32v b)
{
    return __builtin_shufflevector(a, b, WMI_ODD);
}

/* Takes WMI_VECTOR_LANES records of 2 or 4 dwords apart, to value[dword][first ...]; of them `wanted` dwords.
 */
ALWAYS_INLINE void split_records(const unsigned char *from, unsigned dwords, unsigned wanted, unsigned first,
                                 uint32_t value[][WMI_LANES])
{
    u32v in[4];
    for (unsigned k = 0; k < dwords; k++)
        in[k] = ((const u32v_anywhere *)from)[k];
    u32v *out[4];
    for (unsigned k = 0; k < wanted; k++)
        out[k] = (u32v *)(value[k] + first);
    if (dwords == 2) {
        *out[0] = even(in[0], in[1]);
        *out[1] = odd(in[0], in[1]);
    } else {
        const u32v even01 = even(in[0], in[1]), even23 = even(in[2], in[3]);
        const u32v odd01 = odd(in[0], in[1]), odd23 = odd(in[2], in[3]);
        *out[0] = even(even01, even23);
        *out[1] = even(odd01, odd23);
        *out[2] = odd(even01, even23);
        if (wanted == 4)
            *out[3] = odd(odd01, odd23);
    }
}

ALWAYS_INLINE void get_runs(const unsigned char *lds, const struct places *places, unsigned dwords,
                            uint32_t value[][WMI_LANES])
{
    for (unsigned first = 0; first < WMI_LANES; first += GROUP) {
        const unsigned char *from = lds + places->at[first];
        if (dwords == 1) {
            memcpy(&value[0][first], from, 4 * GROUP);
            continue;
        }
        for (unsigned i = 0; i < GROUP; i += WMI_VECTOR_LANES)
            split_records(from + i * 4 * dwords, dwords, dwords, first + i, value);
    }
}

ALWAYS_INLINE void get_broadcasts(const unsigned char *lds, const struct places *places, unsigned dwords,
                                  uint32_t value[][WMI_LANES])
{
    for (unsigned first = 0; first < WMI_LANES; first += GROUP) {
        uint32_t same[4];
        memcpy(same, lds + places->at[first], 4 * dwords);
        for (unsigned k = 0; k < dwords; k++)
            for (unsigned i = 0; i < GROUP; i += WMI_VECTOR_LANES)
                *(u32v *)(value[k] + first + i) = wmi_splat_u32(same[k]);
    }
}

/* Any addresses. Plain loads beat the CPU's own gather where that was measured (Zen 5: 12 ns against 15). */
ALWAYS_INLINE void get_scattered(const unsigned char *lds, const struct places *places, unsigned dwords,
                                 uint32_t value[][WMI_LANES])
{
    if (dwords == 1) {
#pragma GCC unroll 64
        for (unsigned i = 0; i < WMI_LANES; i++)
            memcpy(&value[0][i], lds + places->at[i], 4);
        return;
    }
    /* ds_read_b96 as records of 4 dwords, too: what it reads too much is thrown away. */
    const unsigned record = dwords == 2 ? 2 : 4;
    alignas(64) unsigned char records[WMI_LANES * 16];
#pragma GCC unroll 64
    for (unsigned i = 0; i < WMI_LANES; i++)
        memcpy(records + 4 * record * i, lds + places->at[i], 4 * record);
    for (unsigned first = 0; first < WMI_LANES; first += WMI_VECTOR_LANES)
        split_records(records + 4 * record * first, record, dwords, first, value);
}

/* Reads `dwords` per place into value[dword][lane]. */
ALWAYS_INLINE void get_places(const unsigned char *lds, const struct places *places, unsigned dwords,
                              uint32_t value[][WMI_LANES])
{
    if (dwords != 3 && lie_in_runs(places, 4 * dwords))
        get_runs(lds, places, dwords, value);
    else if (lie_in_runs(places, 0))
        get_broadcasts(lds, places, dwords, value);
    else
        get_scattered(lds, places, dwords, value);
}

/* A read by all lanes goes straight to its registers; ADDR has been read by then. */
ALWAYS_INLINE const struct wmi_op *read_dwords(char *frame, const struct wmi_op *op, unsigned dwords)
{
    struct places places;
    alignas(64) uint32_t value[4][WMI_LANES];
    const unsigned char *lds = lds_of(frame);
    find_places(frame, op, op->x, 4 * dwords, &places);
    if (__builtin_expect(places.full, 1)) {
        get_places(lds, &places, dwords, (uint32_t(*)[WMI_LANES])row(frame, op->d));
        return wmi_next(frame, op);
    }
    get_scattered(lds, &places, dwords, value);
    for (unsigned k = 0; k < dwords; k++)
        put_row(frame, op, op->d + k * WMI_ROW_BYTES, &places, value[k]);
    return wmi_next(frame, op);
}

ALWAYS_INLINE const struct wmi_op *read2_dwords(char *frame, const struct wmi_op *op, unsigned dwords)
{
    struct places places[2];
    alignas(64) uint32_t value[4][WMI_LANES];
    const unsigned char *lds = lds_of(frame);
    find_places(frame, op, op->x, 4 * dwords, &places[0]);
    find_places(frame, op, op->y, 4 * dwords, &places[1]);
    for (unsigned p = 0; p < 2; p++) {
        const uint32_t d = op->d + p * dwords * WMI_ROW_BYTES;
        if (__builtin_expect(places[p].full, 1)) {
            get_places(lds, &places[p], dwords, (uint32_t(*)[WMI_LANES])row(frame, d));
            continue;
        }
        get_scattered(lds, &places[p], dwords, value);
        for (unsigned k = 0; k < dwords; k++)
            put_row(frame, op, d + k * WMI_ROW_BYTES, &places[p], value[k]);
    }
    return wmi_next(frame, op);
}

/* Bytes and shorts. half: 0 writes the whole register, 1 its low half (D16), 2 its high half. */
ALWAYS_INLINE const struct wmi_op *read_small(char *frame, const struct wmi_op *op, unsigned bytes,
                                              bool is_signed, unsigned half)
{
    struct places places;
    alignas(64) uint32_t value[WMI_LANES];
    find_places(frame, op, op->x, bytes, &places);
    get_scattered(lds_of(frame), &places, 1, &value);
    const unsigned shift = 32 - 8 * bytes;
    for (unsigned i = 0; i < WMI_LANES; i++)
        value[i] = is_signed ? (uint32_t)((int32_t)(value[i] << shift) >> shift) : value[i] << shift >> shift;
    if (half) {
        if (!places.all_in_range)
            for (unsigned i = 0; i < WMI_LANES; i++)
                value[i] &= places.keep[i];
        /* The other half is kept, also where the place is out of range. */
        places.all_in_range = true;
        const uint32_t *old = row(frame, op->d);
        for (unsigned i = 0; i < WMI_LANES; i++)
            value[i] =
                half == 1 ? (old[i] & 0xffff0000u) | (value[i] & 0xffff) : (old[i] & 0xffff) | value[i] << 16;
    }
    put_row(frame, op, op->d, &places, value);
    return wmi_next(frame, op);
}

#define STEP(name) static const struct wmi_op *name(char *restrict frame, const struct wmi_op *op)

/* clang-format off */
STEP(read_u8) { return read_small(frame, op, 1, false, 0); }
STEP(read_i8) { return read_small(frame, op, 1, true, 0); }
STEP(read_u16) { return read_small(frame, op, 2, false, 0); }
STEP(read_i16) { return read_small(frame, op, 2, true, 0); }
STEP(read_u8_d16) { return read_small(frame, op, 1, false, 1); }
STEP(read_u8_d16_hi) { return read_small(frame, op, 1, false, 2); }
STEP(read_i8_d16) { return read_small(frame, op, 1, true, 1); }
STEP(read_i8_d16_hi) { return read_small(frame, op, 1, true, 2); }
STEP(read_u16_d16) { return read_small(frame, op, 2, false, 1); }
STEP(read_u16_d16_hi) { return read_small(frame, op, 2, false, 2); }
STEP(read_b32) { return read_dwords(frame, op, 1); }
STEP(read_b64) { return read_dwords(frame, op, 2); }
STEP(read_b96) { return read_dwords(frame, op, 3); }
STEP(read_b128) { return read_dwords(frame, op, 4); }
STEP(read2_b32) { return read2_dwords(frame, op, 1); }
STEP(read2_b64) { return read2_dwords(frame, op, 2); }
/* clang-format on */

/* ---- writes ---- */

/* Writes `dwords` rows to every place; lanes in their order, so of lanes that meet the highest wins:
 * unverified. */
ALWAYS_INLINE void put_places(unsigned char *lds, const struct places *places, const uint32_t *data,
                              unsigned dwords)
{
    if (dwords == 1 && places->full && lie_in_runs(places, 4)) {
        for (unsigned first = 0; first < WMI_LANES; first += GROUP)
            memcpy(lds + places->at[first], data + first, 4 * GROUP);
    } else if (places->full && dwords % 2 == 0) {
        struct wmi_f64x2 halves[2][VECTORS];
        for (unsigned k = 0; k < dwords; k += 2)
            for (unsigned v = 0; v < VECTORS; v++)
                halves[k / 2][v] = wmi_join(((const u32v *)(data + k * WMI_LANES))[v],
                                            ((const u32v *)(data + (k + 1) * WMI_LANES))[v]);
#pragma GCC unroll 64
        for (unsigned i = 0; i < WMI_LANES; i++)
            for (unsigned k = 0; k < dwords; k += 2)
                memcpy(lds + places->at[i] + 4 * k, (const char *)halves[k / 2] + 8 * i, 8);
    } else if (places->full) {
#pragma GCC unroll 64
        for (unsigned i = 0; i < WMI_LANES; i++)
            for (unsigned k = 0; k < dwords; k++)
                memcpy(lds + places->at[i] + 4 * k, &data[k * WMI_LANES + i], 4);
    } else {
        for (uint64_t left = places->lanes; left; left &= left - 1) {
            const unsigned i = (unsigned)__builtin_ctzll(left);
            for (unsigned k = 0; k < dwords; k++)
                memcpy(lds + places->at[i] + 4 * k, &data[k * WMI_LANES + i], 4);
        }
    }
}

ALWAYS_INLINE const struct wmi_op *write_dwords(char *frame, const struct wmi_op *op, unsigned dwords)
{
    struct places places;
    find_places(frame, op, op->x, 4 * dwords, &places);
    put_places(lds_of(frame), &places, row(frame, op->b), dwords);
    return wmi_next(frame, op);
}

/* Bytes and shorts, from bit `shift` of the data on. */
ALWAYS_INLINE const struct wmi_op *write_small(char *frame, const struct wmi_op *op, unsigned bytes,
                                               unsigned shift)
{
    struct places places;
    find_places(frame, op, op->x, bytes, &places);
    unsigned char *lds = lds_of(frame);
    const uint32_t *data = row(frame, op->b);
    for (uint64_t left = places.lanes; left; left &= left - 1) {
        const unsigned i = (unsigned)__builtin_ctzll(left);
        const uint32_t value = data[i] >> shift;
        memcpy(lds + places.at[i], &value, bytes);
    }
    return wmi_next(frame, op);
}

/* All first places, then all second ones: where places overlap, this order is unverified. */
ALWAYS_INLINE const struct wmi_op *write2_dwords(char *frame, const struct wmi_op *op, unsigned dwords)
{
    struct places places;
    find_places(frame, op, op->x, 4 * dwords, &places);
    put_places(lds_of(frame), &places, row(frame, op->b), dwords);
    find_places(frame, op, op->y, 4 * dwords, &places);
    put_places(lds_of(frame), &places, row(frame, op->c), dwords);
    return wmi_next(frame, op);
}

/* clang-format off */
STEP(write_b8) { return write_small(frame, op, 1, 0); }
STEP(write_b16) { return write_small(frame, op, 2, 0); }
STEP(write_b8_d16_hi) { return write_small(frame, op, 1, 16); }
STEP(write_b16_d16_hi) { return write_small(frame, op, 2, 16); }
STEP(write_b32) { return write_dwords(frame, op, 1); }
STEP(write_b64) { return write_dwords(frame, op, 2); }
STEP(write_b96) { return write_dwords(frame, op, 3); }
STEP(write_b128) { return write_dwords(frame, op, 4); }
STEP(write2_b32) { return write2_dwords(frame, op, 1); }
STEP(write2_b64) { return write2_dwords(frame, op, 2); }
/* clang-format on */

/* ---- atomics ---- */

/* LDS atomics must be naturally aligned, whatever the alignment mode. Source: CDNA3 ISA, "LDS alignment". */
static const struct wmi_op *misaligned(char *frame, const struct wmi_op *op, const struct places *places,
                                       unsigned bytes)
{
    const struct wmi_memory_op *memory = op->data;
    struct wmi_fault fault = {
        .kind = WM_FAULT_MISALIGNED, .pc = memory->pc, .low = UINT64_MAX, .bytes = bytes, .store = true};
    for (uint64_t left = places->lanes; left; left &= left - 1) {
        const unsigned i = (unsigned)__builtin_ctzll(left);
        if (places->at[i] % bytes == 0)
            continue;
        fault.lanes |= 1ULL << i;
        fault.low = places->at[i] < fault.low ? places->at[i] : fault.low;
        fault.high = places->at[i] + bytes - 1 > fault.high ? places->at[i] + bytes - 1 : fault.high;
    }
    return wmi_wave_fault(wmi_wave_of(frame), &fault);
}

ALWAYS_INLINE bool aligned(const struct places *places, unsigned bytes)
{
    uint32_t low = 0;
    for (unsigned i = 0; i < WMI_LANES; i++)
        low |= places->at[i];
    return low % bytes == 0;
}

/* a, b: the lane's DATA and DATA2. */
ALWAYS_INLINE const struct wmi_op *atomic32(char *frame, const struct wmi_op *op,
                                            uint32_t (*value)(uint32_t memory, uint32_t a, uint32_t b))
{
    const struct wmi_memory_op *memory = op->data;
    struct places places;
    find_places(frame, op, op->x, 4, &places);
    if (__builtin_expect(!aligned(&places, 4), 0))
        return misaligned(frame, op, &places, 4);
    unsigned char *lds = lds_of(frame);
    const uint32_t *a = row(frame, op->b), *b = row(frame, op->c);
    alignas(64) uint32_t before[WMI_LANES];
    for (uint64_t left = places.lanes; left; left &= left - 1) {
        const unsigned i = (unsigned)__builtin_ctzll(left);
        memcpy(&before[i], lds + places.at[i], 4);
        const uint32_t after = value(before[i], a[i], b[i]);
        memcpy(lds + places.at[i], &after, 4);
    }
    if (memory->returns)
        put_row(frame, op, op->d, &places, before);
    return wmi_next(frame, op);
}

ALWAYS_INLINE uint64_t pair(const uint32_t *rows, unsigned i)
{
    return rows[i] | (uint64_t)rows[WMI_LANES + i] << 32;
}

ALWAYS_INLINE const struct wmi_op *atomic64(char *frame, const struct wmi_op *op,
                                            uint64_t (*value)(uint64_t memory, uint64_t a, uint64_t b))
{
    const struct wmi_memory_op *memory = op->data;
    struct places places;
    find_places(frame, op, op->x, 8, &places);
    if (__builtin_expect(!aligned(&places, 8), 0))
        return misaligned(frame, op, &places, 8);
    unsigned char *lds = lds_of(frame);
    const uint32_t *a = row(frame, op->b), *b = row(frame, op->c);
    alignas(64) uint32_t before[2][WMI_LANES];
    for (uint64_t left = places.lanes; left; left &= left - 1) {
        const unsigned i = (unsigned)__builtin_ctzll(left);
        uint64_t was;
        memcpy(&was, lds + places.at[i], 8);
        const uint64_t after = value(was, pair(a, i), pair(b, i));
        memcpy(lds + places.at[i], &after, 8);
        before[0][i] = (uint32_t)was;
        before[1][i] = (uint32_t)(was >> 32);
    }
    if (memory->returns)
        for (unsigned k = 0; k < 2; k++)
            put_row(frame, op, op->d + k * WMI_ROW_BYTES, &places, before[k]);
    return wmi_next(frame, op);
}

/* One atomic: `expression` over m, a and b of type U (S signed) is what memory becomes. */
#define ATOMIC(name, bits, expression)                                                                       \
    static inline uint##bits##_t name##_value(uint##bits##_t m, uint##bits##_t a, uint##bits##_t b)          \
    {                                                                                                        \
        (void)m, (void)a, (void)b;                                                                           \
        return expression;                                                                                   \
    }                                                                                                        \
    STEP(name)                                                                                               \
    {                                                                                                        \
        return atomic##bits(frame, op, name##_value);                                                        \
    }

/* Sources: Vega and RDNA3 ISA, "DS Instructions". */
#define INTEGER_ATOMICS(bits)                                                                                \
    ATOMIC(add_b##bits, bits, m + a)                                                                         \
    ATOMIC(sub_b##bits, bits, m - a)                                                                         \
    ATOMIC(rsub_b##bits, bits, a - m)                                                                        \
    ATOMIC(inc_b##bits, bits, m >= a ? 0 : m + 1)                                                            \
    ATOMIC(dec_b##bits, bits, m == 0 || m > a ? a : m - 1)                                                   \
    ATOMIC(min_i##bits, bits, (int##bits##_t)m < (int##bits##_t)a ? m : a)                                   \
    ATOMIC(max_i##bits, bits, (int##bits##_t)m > (int##bits##_t)a ? m : a)                                   \
    ATOMIC(min_u##bits, bits, m < a ? m : a)                                                                 \
    ATOMIC(max_u##bits, bits, m > a ? m : a)                                                                 \
    ATOMIC(and_b##bits, bits, m &a)                                                                          \
    ATOMIC(or_b##bits, bits, m | a)                                                                          \
    ATOMIC(xor_b##bits, bits, m ^ a)                                                                         \
    ATOMIC(mskor_b##bits, bits, (m & ~a) | b)                                                                \
    ATOMIC(wrxchg_b##bits, bits, a)                                                                          \
    ATOMIC(cmpst_b##bits, bits, m == a ? b : m)

INTEGER_ATOMICS(32)
INTEGER_ATOMICS(64)
ATOMIC(wrap_b32, 32, m >= a ? m - a : m + b)

/* Float comparisons on bits, so that they do not depend on the host's mode. NaNs as IEEE 754-2008 minNum, two
 * NaNs give the quieted DATA; -0 < +0. Source: RDNA4 ISA, DS_MIN_NUM_RTN_F32; for gfx9 unverified. */
#define FLOAT_ORDER(bits, quiet, infinity)                                                                   \
    ALWAYS_INLINE bool is_nan##bits(uint##bits##_t x)                                                        \
    {                                                                                                        \
        return (x & ~((uint##bits##_t)1 << (bits - 1))) > infinity;                                          \
    }                                                                                                        \
    ALWAYS_INLINE int##bits##_t order##bits(uint##bits##_t x)                                                \
    {                                                                                                        \
        return (int##bits##_t)(x ^ ((uint##bits##_t)((int##bits##_t)x >> (bits - 1)) >> 1));                 \
    }                                                                                                        \
    ALWAYS_INLINE uint##bits##_t select##bits(uint##bits##_t m, uint##bits##_t a, bool a_wins)               \
    {                                                                                                        \
        if (is_nan##bits(a))                                                                                 \
            return is_nan##bits(m) ? a | quiet : m;                                                          \
        return is_nan##bits(m) || a_wins ? a : m;                                                            \
    }                                                                                                        \
    ALWAYS_INLINE bool equal##bits(uint##bits##_t m, uint##bits##_t a)                                       \
    {                                                                                                        \
        return !is_nan##bits(m) && !is_nan##bits(a) && (m == a || (uint##bits##_t)((m | a) << 1) == 0);      \
    }

FLOAT_ORDER(32, 0x00400000u, 0x7f800000u)
FLOAT_ORDER(64, 0x0008000000000000u, 0x7ff0000000000000u)

ATOMIC(cmpst_f32, 32, equal32(m, a) ? b : m)
ATOMIC(cmpst_f64, 64, equal64(m, a) ? b : m)
ATOMIC(min_f32, 32, select32(m, a, order32(a) < order32(m)))
ATOMIC(max_f32, 32, select32(m, a, order32(a) > order32(m)))
ATOMIC(min_f64, 64, select64(m, a, order64(a) < order64(m)))
ATOMIC(max_f64, 64, select64(m, a, order64(a) > order64(m)))

/* Each half is written if its top bit is set, without that bit. Source: RDNA4 ISA, DS_CONDXCHG32_RTN_B64. */
ALWAYS_INLINE uint32_t exchange_if_marked(uint32_t m, uint32_t a)
{
    return a >> 31 ? a & 0x7fffffff : m;
}
ATOMIC(condxchg32_b64, 64,
       exchange_if_marked((uint32_t)m, (uint32_t)a) |
           (uint64_t)exchange_if_marked((uint32_t)(m >> 32), (uint32_t)(a >> 32)) << 32)

static inline uint32_t add_f32_value(uint32_t m, uint32_t a, uint32_t b)
{
    (void)b;
    float x, y;
    memcpy(&x, &m, 4);
    memcpy(&y, &a, 4);
    x += y;
    uint32_t sum;
    memcpy(&sum, &x, 4);
    if (__builtin_expect(is_nan32(sum), 0)) /* the host's choice of NaN is not AMD's */
        return is_nan32(m) ? m | 0x00400000u : is_nan32(a) ? a | 0x00400000u : 0x7fc00000u;
    return sum;
}

/* Rounds to nearest even whatever MODE says, and follows its f32 denormal mode.
 * Source: LLVM, SIISelLowering.cpp, on DS float atomics. */
STEP(add_f32)
{
    struct wmi_frame *state = (struct wmi_frame *)frame;
    const uint32_t nearest = wmi_host_float_word(0, state->mode >> 4);
    const bool other = nearest != state->mxcsr32;
    if (other)
        wmi_host_float_set(nearest);
    __asm__ volatile("" ::: "memory");
    op = atomic32(frame, op, add_f32_value);
    __asm__ volatile("" ::: "memory");
    if (other)
        wmi_host_float_set(state->mxcsr32);
    return op;
}

/* Two places exchanged per lane; both are read before either is written. */
ALWAYS_INLINE const struct wmi_op *exchange2(char *frame, const struct wmi_op *op, unsigned dwords)
{
    const unsigned bytes = 4 * dwords;
    struct places places[2];
    alignas(64) uint32_t before[4][WMI_LANES];
    unsigned char *lds = lds_of(frame);
    const uint32_t *data[2] = {row(frame, op->b), row(frame, op->c)};
    find_places(frame, op, op->x, bytes, &places[0]);
    find_places(frame, op, op->y, bytes, &places[1]);
    for (unsigned p = 0; p < 2; p++)
        if (!aligned(&places[p], bytes))
            return misaligned(frame, op, &places[p], bytes);
    for (uint64_t left = lanes_of(frame, op)->bits; left; left &= left - 1) {
        const unsigned i = (unsigned)__builtin_ctzll(left);
        for (unsigned p = 0; p < 2; p++)
            for (unsigned k = 0; k < dwords; k++)
                memcpy(&before[p * dwords + k][i], lds + places[p].at[i] + 4 * k, 4);
        for (unsigned p = 0; p < 2; p++)
            for (unsigned k = 0; k < dwords && places[p].lanes >> i & 1; k++)
                memcpy(lds + places[p].at[i] + 4 * k, &data[p][k * WMI_LANES + i], 4);
    }
    for (unsigned k = 0; k < 2 * dwords; k++)
        put_row(frame, op, op->d + k * WMI_ROW_BYTES, &places[k / dwords], before[k]);
    return wmi_next(frame, op);
}

/* clang-format off */
STEP(wrxchg2_b32) { return exchange2(frame, op, 1); }
STEP(wrxchg2_b64) { return exchange2(frame, op, 2); }
/* clang-format on */

/* A counter at M0[15:0] + offset grows or shrinks by the number of active lanes; all get its old value.
 * Sources: RDNA4 ISA, DS_APPEND; that LDS takes its base from M0: LLVM, SelectDSAppendConsume. */
ALWAYS_INLINE const struct wmi_op *count(char *frame, const struct wmi_op *op, uint32_t sign)
{
    const struct wmi_workgroup *group = wmi_wave_of(frame)->group;
    const struct wmi_lanes *lanes = lanes_of(frame, op);
    const uint32_t at = ((((struct wmi_frame *)frame)->s[WMI_S_M0] & 0xffff) + op->x) & ~3u;
    uint32_t before = 0;
    if (lanes->bits && group->lds_size >= 4 && at <= group->lds_size - 4) {
        memcpy(&before, group->lds + at, 4);
        const uint32_t after = before + sign * (uint32_t)__builtin_popcountll(lanes->bits);
        memcpy(group->lds + at, &after, 4);
    }
    uint32_t *d = row(frame, op->d);
    for (unsigned i = 0; i < WMI_LANES; i++)
        d[i] = (before & lanes->row[i]) | (d[i] & ~lanes->row[i]);
    return wmi_next(frame, op);
}

/* clang-format off */
STEP(append) { return count(frame, op, 1); }
STEP(consume) { return count(frame, op, ~0u); }
/* clang-format on */

/* ---- between lanes ---- */

/* d = `value` in the active lanes. */
ALWAYS_INLINE const struct wmi_op *put_active(char *frame, const struct wmi_op *op, const uint32_t *value)
{
    blend_row(row(frame, op->d), lanes_of(frame, op)->row, value);
    return wmi_next(frame, op);
}

/* Copies a row with 0 in the lanes that are off: nobody sees their value. */
ALWAYS_INLINE void active_only(const struct wmi_lanes *lanes, const uint32_t *from, uint32_t *to)
{
    for (unsigned i = 0; i < WMI_LANES; i++)
        to[i] = from[i] & lanes->row[i];
}

/* The lane that lane i reads. Source: RDNA3 and CDNA3 ISA, DS_SWIZZLE_B32; rotate and FFT from gfx9 on. */
static unsigned swizzle_source(uint32_t offset, unsigned i)
{
    const uint32_t low = offset & 31, middle = offset >> 5 & 31, high = offset >> 10 & 31;
    unsigned j = i & 31;
    if (offset >= 0xe000) { /* FFT: the lane's bits reversed, within groups */
        unsigned reversed = 0;
        for (unsigned bit = 0; bit < 5; bit++)
            reversed |= (j >> bit & 1) << (4 - bit);
        j = reversed >> __builtin_popcount(low) | (j & low);
    } else if (offset >= 0xc000) { /* rotate */
        const unsigned by = offset >> 10 & 1 ? 32 - middle : middle;
        j = (j & low) | ((j + by) & ~low & 31);
    } else if (offset & 0x8000) { /* any lane of four */
        j = (j & ~3u) | (offset >> 2 * (j & 3) & 3);
    } else {
        j = ((j & low) | middle) ^ high;
    }
    return j | (i & 32);
}

STEP(swizzle)
{
    alignas(64) uint32_t source[WMI_LANES], value[WMI_LANES];
    active_only(lanes_of(frame, op), row(frame, op->a), source);
    for (unsigned i = 0; i < WMI_LANES; i++)
        value[i] = source[swizzle_source(op->x, i)];
    return put_active(frame, op, value);
}

/* Sources: Vega and RDNA3 ISA, DS_PERMUTE_B32, DS_BPERMUTE_B32. Of lanes that send to one lane the highest
 * wins. */
STEP(permute)
{
    const uint32_t *addr = row(frame, op->a), *data = row(frame, op->b);
    alignas(64) uint32_t value[WMI_LANES] = {0};
    for (uint64_t left = lanes_of(frame, op)->bits; left; left &= left - 1) {
        const unsigned i = (unsigned)__builtin_ctzll(left);
        value[(addr[i] + op->x) / 4 % WMI_LANES] = data[i];
    }
    return put_active(frame, op, value);
}

STEP(bpermute)
{
    const uint32_t *addr = row(frame, op->a);
    alignas(64) uint32_t source[WMI_LANES], value[WMI_LANES];
    active_only(lanes_of(frame, op), row(frame, op->b), source);
    for (unsigned i = 0; i < WMI_LANES; i++)
        value[i] = source[(addr[i] + op->x) / 4 % WMI_LANES];
    return put_active(frame, op, value);
}

/* The address that ds_read_addtid_b32 makes itself: M0[15:0] + 4 * lane. Source: CDNA3 ISA,
 * DS_READ_ADDTID_B32. */
STEP(addtid)
{
    const uint32_t base = ((struct wmi_frame *)frame)->s[WMI_S_M0] & 0xffff;
    uint32_t *d = row(frame, op->d);
    for (unsigned i = 0; i < WMI_LANES; i++)
        d[i] = base + 4 * i;
    return wmi_next(frame, op);
}

/* The second place of ds_*_src2_*: dwords from the first one, by offset1:offset0 [14:0], or with bit 15 by
 * ADDR[31:17], both signed. The place itself is then in ADDR[16:0] (unverified). All lanes read their second
 * places before the first writes (unverified). Source: Vega ISA, DS_ADD_SRC2_U32. */
ALWAYS_INLINE const struct wmi_op *second_source(char *frame, const struct wmi_op *op, unsigned dwords)
{
    const uint32_t *addr = row(frame, op->a);
    uint32_t *first = row(frame, op->d), *data = row(frame, op->e);
    const bool by_address = op->x & 0x8000;
    const uint32_t fixed = (uint32_t)((int32_t)(op->x << 17) >> 17), kept = by_address ? 0x1ffff : ~0u;
    for (unsigned i = 0; i < WMI_LANES; i++) /* the second places for now */
        first[i] = (addr[i] & kept) + 4 * (by_address ? (uint32_t)((int32_t)addr[i] >> 17) : fixed);
    const struct wmi_op second = {.a = op->d, .lanes = op->lanes};
    struct places places;
    find_places(frame, &second, 0, 4 * dwords, &places);
    for (unsigned i = 0; i < WMI_LANES; i++)
        first[i] = addr[i] & kept;
    memset(data, 0, dwords * WMI_ROW_BYTES);
    for (uint64_t left = places.lanes; left; left &= left - 1) {
        const unsigned i = (unsigned)__builtin_ctzll(left);
        for (unsigned k = 0; k < dwords; k++)
            memcpy(&data[k * WMI_LANES + i], lds_of(frame) + places.at[i] + 4 * k, 4);
    }
    return wmi_next(frame, op);
}

/* clang-format off */
STEP(src2_b32) { return second_source(frame, op, 1); }
STEP(src2_b64) { return second_source(frame, op, 2); }
/* clang-format on */

/* ---- the observer ---- */

STEP(observe)
{
    const struct wmi_memory_op *memory = op->data;
    const struct wmi_wave *wave = wmi_wave_of(frame);
    const struct wmi_workgroup *group = wave->group;
    const struct wmi_lanes *lanes = lanes_of(frame, op);
    const unsigned bytes = wmi_lds_bytes(memory);
    const bool counter = memory->id == WMI_INSN_ds_append || memory->id == WMI_INSN_ds_consume;
    const uint32_t *addr = row(frame, op->a);
    const uint32_t offsets[2] = {op->x, op->y};
    alignas(64) uint64_t address[2][64];
    struct wmi_access access = {
        .pc = memory->pc,
        .workgroup = {group->id[0], group->id[1], group->id[2]},
        .wave = wave->index,
        .path = (enum wmi_path)memory->path,
        .kind = memory->kind,
        .lanes = lanes->bits,
        .policy = memory->policy,
        .elements = (uint8_t)wmi_lds_places(memory),
        .bytes = (uint8_t)bytes,
    };
    for (unsigned p = 0; p < access.elements; p++) {
        struct wmi_element *element = &access.element[p];
        /* A counter is touched once for all lanes, by the first of them. */
        *element = (struct wmi_element){.space = memory->path == WMI_PATH_GDS ? WMI_SPACE_GDS : WMI_SPACE_LDS,
                                        .mask = counter ? lanes->bits & -lanes->bits : lanes->bits,
                                        .address = address[p]};
        const uint32_t base = counter ? ((struct wmi_frame *)frame)->s[WMI_S_M0] & 0xffff : 0;
        for (unsigned i = 0; i < WMI_LANES; i++) {
            const uint32_t at = (counter ? base : addr[i]) + offsets[p];
            const bool in = group->lds_size >= bytes && at <= group->lds_size - bytes;
            address[p][i] = at;
            element->bad_range |= (uint64_t)!in << i;
            if (memory->kind == WMI_ACCESS_ATOMIC)
                element->bad_align |= (uint64_t)(in && at % bytes != 0) << i;
        }
        element->bad_range &= element->mask;
        element->bad_align &= element->mask;
    }
    memory->observer->access(wave->worker->observer, &access, memory->slot);
    return op + 1;
}

const wmi_body WMI_BUILD_NAME(wmi_lds_steps)[WMI_LDS_STEP_COUNT] = {
#undef STEP
#define STEP(name) [WMI_LDS_##name] = name,
    WMI_LDS_STEPS(STEP)};
