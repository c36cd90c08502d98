/* SPDX-License-Identifier: MIT */
/* DS instructions on LDS and between lanes, except atomics. */
#include "base/vector.h"
#include "exec/memory/careful.h"
#include "exec/memory/lds.h"
#include "exec/memory/lds_places.h"

#include <string.h>

/* An unaligned vector. gcc 12 would copy it with memcpy through narrower registers, a store-forwarding
 * stall. */
typedef uint32_t u32v_anywhere __attribute__((vector_size(WMI_VECTOR_BYTES), may_alias, aligned(1)));

/* ---- reads ---- */

/* The common address patterns: within each group of 16 lanes, addresses `bytes` apart (0: all equal). Such
 * reads need no gather. */
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

/* Even and odd dwords of two vectors: one step of deinterleaving. */
ALWAYS_INLINE u32v even(u32v a, u32v b)
{
    return __builtin_shufflevector(a, b, WMI_EVEN);
}

ALWAYS_INLINE u32v odd(u32v a, u32v b)
{
    return __builtin_shufflevector(a, b, WMI_ODD);
}

/* Deinterleaves WMI_VECTOR_LANES records of 2 or 4 dwords to value[dword][first ...], for the first `wanted`
 * dwords. */
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

/* Any addresses. Scalar loads beat the CPU's gather where measured (Zen 5: 12 ns against 15). */
ALWAYS_INLINE void get_scattered(const unsigned char *lds, const struct places *places, unsigned dwords,
                                 uint32_t value[][WMI_LANES])
{
    if (dwords == 1) {
#pragma GCC unroll 64
        for (unsigned i = 0; i < WMI_LANES; i++)
            memcpy(&value[0][i], lds + places->at[i], 4);
        return;
    }
    /* ds_read_b96 also uses records of 4 dwords; the fourth is discarded. */
    const unsigned record = dwords == 2 ? 2 : 4;
    alignas(64) unsigned char records[WMI_LANES * 16];
#pragma GCC unroll 64
    for (unsigned i = 0; i < WMI_LANES; i++)
        memcpy(records + 4 * record * i, lds + places->at[i], 4 * record);
    for (unsigned first = 0; first < WMI_LANES; first += WMI_VECTOR_LANES)
        split_records(records + 4 * record * first, record, dwords, first, value);
}

/* Reads `dwords` dwords per place to value[dword][lane]. */
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

/* Whether lanes are out of range, and what is in range of their accesses is carried out. */
ALWAYS_INLINE bool is_partial(const struct wmi_op *op, const struct places *places)
{
    return __builtin_expect(!places->all_in_range, 0) && op->data &&
           ((const struct wmi_memory_op *)op->data)->lds_partial;
}

/* If all lanes are active and in range, writes the result registers directly; ADDR has been read by then. */
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
    if (is_partial(op, &places)) {
        wmi_lds_load_partly(frame, op, 1, dwords);
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
    if (is_partial(op, &places[0]) || is_partial(op, &places[1])) {
        wmi_lds_load_partly(frame, op, 2, dwords);
        return wmi_next(frame, op);
    }
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
        /* The other half is kept, even if the place is out of range. */
        places.all_in_range = true;
        const uint32_t *old = row(frame, op->d);
        for (unsigned i = 0; i < WMI_LANES; i++)
            value[i] =
                half == 1 ? (old[i] & 0xffff0000u) | (value[i] & 0xffff) : (old[i] & 0xffff) | value[i] << 16;
    }
    put_row(frame, op, op->d, &places, value);
    return wmi_next(frame, op);
}

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

/* Writes `dwords` rows to every place in lane order, so on conflicts the highest lane wins (unverified). */
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

/* Stores the rows at `data` to ADDR + offset. */
ALWAYS_INLINE void store_place(char *frame, const struct wmi_op *op, uint32_t offset, uint32_t data,
                               unsigned dwords)
{
    struct places places;
    find_places(frame, op, offset, 4 * dwords, &places);
    if (is_partial(op, &places))
        wmi_lds_store_partly(frame, op, offset, data, 4 * dwords, 0);
    else
        put_places(lds_of(frame), &places, row(frame, data), dwords);
}

ALWAYS_INLINE const struct wmi_op *write_dwords(char *frame, const struct wmi_op *op, unsigned dwords)
{
    store_place(frame, op, op->x, op->b, dwords);
    return wmi_next(frame, op);
}

/* Bytes and shorts, from bit `shift` of the data. */
ALWAYS_INLINE const struct wmi_op *write_small(char *frame, const struct wmi_op *op, unsigned bytes,
                                               unsigned shift)
{
    struct places places;
    find_places(frame, op, op->x, bytes, &places);
    if (is_partial(op, &places)) {
        wmi_lds_store_partly(frame, op, op->x, op->b, bytes, shift);
        return wmi_next(frame, op);
    }
    unsigned char *lds = lds_of(frame);
    const uint32_t *data = row(frame, op->b);
    for (uint64_t left = places.lanes; left; left &= left - 1) {
        const unsigned i = (unsigned)__builtin_ctzll(left);
        const uint32_t value = data[i] >> shift;
        memcpy(lds + places.at[i], &value, bytes);
    }
    return wmi_next(frame, op);
}

/* All first places, then all second places; this order matters if they overlap and is unverified. */
ALWAYS_INLINE const struct wmi_op *write2_dwords(char *frame, const struct wmi_op *op, unsigned dwords)
{
    store_place(frame, op, op->x, op->b, dwords);
    store_place(frame, op, op->y, op->c, dwords);
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

/* ---- between lanes ---- */

/* d = `value` in the active lanes. */
ALWAYS_INLINE const struct wmi_op *put_active(char *frame, const struct wmi_op *op, const uint32_t *value)
{
    blend_row(row(frame, op->d), lanes_of(frame, op)->row, value);
    return wmi_next(frame, op);
}

/* Copies a row, with 0 in inactive lanes. */
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
    if (offset >= 0xe000) { /* FFT: bit-reversed lane numbers within groups */
        unsigned reversed = 0;
        for (unsigned bit = 0; bit < 5; bit++)
            reversed |= (j >> bit & 1) << (4 - bit);
        j = reversed >> __builtin_popcount(low) | (j & low);
    } else if (offset >= 0xc000) { /* rotate */
        const unsigned by = offset >> 10 & 1 ? 32 - middle : middle;
        j = (j & low) | ((j + by) & ~low & 31);
    } else if (offset & 0x8000) { /* any lane of a group of four */
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

/* The lane at a byte address, within the group of lanes that exchange with lane i. */
ALWAYS_INLINE unsigned partner(const struct wmi_op *op, uint32_t address, unsigned i)
{
    const unsigned group = op->y & ~WMI_LDS_ALL_LANES, others = (group < WMI_LANES ? group : WMI_LANES) - 1;
    return (i & ~others) | (address / 4 & others);
}

/* Sources: Vega and RDNA3 ISA, DS_PERMUTE_B32, DS_BPERMUTE_B32. If several lanes send to one lane, the
 * highest wins. */
STEP(permute)
{
    const uint32_t *addr = row(frame, op->a), *data = row(frame, op->b);
    alignas(64) uint32_t value[WMI_LANES] = {0};
    for (uint64_t left = lanes_of(frame, op)->bits; left; left &= left - 1) {
        const unsigned i = (unsigned)__builtin_ctzll(left);
        value[partner(op, addr[i] + op->x, i)] = data[i];
    }
    return put_active(frame, op, value);
}

STEP(bpermute)
{
    const uint32_t *addr = row(frame, op->a);
    alignas(64) uint32_t source[WMI_LANES], value[WMI_LANES];
    if (op->y & WMI_LDS_ALL_LANES)
        memcpy(source, row(frame, op->b), sizeof source);
    else
        active_only(lanes_of(frame, op), row(frame, op->b), source);
    for (unsigned i = 0; i < WMI_LANES; i++)
        value[i] = source[partner(op, addr[i] + op->x, i)];
    return put_active(frame, op, value);
}

/* The implicit address of ds_read_addtid_b32: M0[15:0] + 4 * lane. Source: CDNA3 ISA, DS_READ_ADDTID_B32. */
STEP(addtid)
{
    const uint32_t base = ((struct wmi_frame *)frame)->s[WMI_S_M0] & 0xffff;
    uint32_t *d = row(frame, op->d);
    for (unsigned i = 0; i < WMI_LANES; i++)
        d[i] = base + 4 * i;
    return wmi_next(frame, op);
}

/* The second place of ds_*_src2_*: its signed distance in dwords from the first place is offset1:offset0
 * [14:0] or, if bit 15 is set, ADDR[31:17]. The first place is then ADDR[16:0] (unverified). All lanes read
 * their second places before the first lane writes (unverified). Source: Vega ISA, DS_ADD_SRC2_U32. */
ALWAYS_INLINE const struct wmi_op *second_source(char *frame, const struct wmi_op *op, unsigned dwords)
{
    const uint32_t *addr = row(frame, op->a);
    uint32_t *first = row(frame, op->d), *data = row(frame, op->e);
    const bool by_address = op->x & 0x8000;
    const uint32_t fixed = (uint32_t)((int32_t)(op->x << 17) >> 17), kept = by_address ? 0x1ffff : ~0u;
    for (unsigned i = 0; i < WMI_LANES; i++) /* temporarily the second places */
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

/* ---- reports to observers ---- */

/* Computes all lanes' addresses, and which active lanes are out of LDS range or misaligned. */
static inline void place_lanes(const uint32_t *restrict addr, const uint32_t *active, uint32_t offset,
                               uint32_t size, uint32_t bytes, uint32_t low_bits, uint64_t *restrict address,
                               struct wmi_element *element)
{
    const u32v limit = wmi_splat_u32(size - bytes);
    u32v bad = {0};
    for (unsigned i = 0; i < WMI_LANES; i++)
        address[i] = addr[i] + offset;
    for (unsigned v = 0; v < VECTORS; v++) {
        const u32v at = ((const u32v *)addr)[v] + offset;
        bad |= ((u32v)(at > limit) | (at & low_bits)) & ((const u32v *)active)[v];
    }
    if (__builtin_expect(size >= bytes && !wmi_any(bad), 1))
        return;
    for (unsigned i = 0; i < WMI_LANES; i++) {
        const bool outside = size < bytes || address[i] > size - bytes;
        element->bad_range |= (uint64_t)outside << i;
        element->bad_align |= (uint64_t)(!outside && address[i] & low_bits) << i;
    }
    element->bad_range &= element->mask;
    element->bad_align &= element->mask;
}

/* The bytes that are range-checked together in an access of which a lane is partly in range: a dword, or a
 * byte if a store ends within a dword; 0: no lane is. */
static unsigned checked_bytes(const struct wmi_access *access, uint32_t size)
{
    unsigned unit = 0;
    for (unsigned p = 0; p < access->elements; p++)
        for (uint64_t left = access->element[p].bad_range; left; left &= left - 1) {
            const uint64_t at = access->element[p].address[__builtin_ctzll(left)];
            if (at < size && access->kind == WMI_ACCESS_STORE && (size - at) % 4)
                return 1;
            if (at < size && access->bytes > 4)
                unit = 4;
        }
    return unit;
}

/* Splits the places into what is checked together, if a lane is partly in range. */
static void split_places(struct wmi_access *access, uint64_t address[WMI_ACCESS_ELEMENTS][64], uint32_t size)
{
    const unsigned unit = checked_bytes(access, size), count = unit ? access->bytes / unit : 0;
    if (!count)
        return;
    for (unsigned i = access->elements * count; i--;) { /* a place's own element is overwritten last */
        const struct wmi_element *place = &access->element[i / count];
        struct wmi_element part = *place;
        part.address = address[i];
        part.bad_range = 0;
        part.reg = (uint8_t)(place->reg + i % count * unit / 4);
        for (unsigned lane = 0; lane < WMI_LANES; lane++) {
            address[i][lane] = place->address[lane] + i % count * unit;
            part.bad_range |= (uint64_t)(address[i][lane] + unit > size) << lane;
        }
        part.bad_range &= part.mask;
        access->element[i] = part;
    }
    access->elements = (uint8_t)(access->elements * count);
    access->bytes = (uint8_t)unit;
}

/* Reports the complete access. */
static __attribute__((noinline)) const struct wmi_op *show(char *restrict frame, const struct wmi_op *op)
{
    const struct wmi_memory_op *memory = op->data;
    const struct wmi_wave *wave = wmi_wave_of(frame);
    const struct wmi_workgroup *group = wave->group;
    const struct wmi_lanes *lanes = lanes_of(frame, op);
    const unsigned bytes = wmi_lds_bytes(memory), places = (unsigned)wmi_lds_places(memory);
    const bool counter = memory->id == WMI_INSN_ds_append || memory->id == WMI_INSN_ds_consume;
    const uint32_t *addr = row(frame, op->a);
    const uint32_t offsets[2] = {op->x, op->y};
    alignas(64) uint32_t counters[WMI_LANES];
    alignas(64) uint64_t address[WMI_ACCESS_ELEMENTS][64];
    struct wmi_access access; /* only the first `elements` elements are initialised */
    if (counter)
        for (unsigned i = 0; i < WMI_LANES; i++)
            counters[i] = ((struct wmi_frame *)frame)->s[WMI_S_M0] & 0xffff;
    access.pc = memory->pc;
    access.instruction = 0;
    for (unsigned i = 0; i < 3; i++)
        access.workgroup[i] = group->id[i];
    access.wave = wave->index;
    access.path = (enum wmi_path)memory->path;
    access.kind = (enum wmi_access_kind)memory->kind;
    access.lanes = lanes->bits;
    access.policy = memory->policy;
    access.elements = (uint8_t)places;
    access.bytes = (uint8_t)bytes;
    access.goes_on = false;
    for (unsigned p = 0; p < places; p++) {
        /* The first active lane accesses the counter once for all lanes. */
        access.element[p] =
            (struct wmi_element){.space = memory->path == WMI_PATH_GDS ? WMI_SPACE_GDS : WMI_SPACE_LDS,
                                 .mask = counter ? lanes->bits & -lanes->bits : lanes->bits,
                                 .address = address[p],
                                 .reg = (uint8_t)(p * (bytes + 3) / 4)};
        place_lanes(counter ? counters : addr, lanes->row, offsets[p], group->lds_size, bytes,
                    memory->kind == WMI_ACCESS_ATOMIC ? bytes - 1 : 0, address[p], &access.element[p]);
    }
    /* Other observers see lanes that are partly in range as out of range. */
    if (memory->lds_partial && memory->kind != WMI_ACCESS_ATOMIC && memory->observer->explains)
        split_places(&access, address, group->lds_size);
    wmi_show_access(wave, memory, &access);
    return op + 1;
}

void WMI_BUILD_NAME(wmi_lds_show_late)(char *frame, const struct wmi_op *op, uint32_t offset)
{
    const struct wmi_lanes *lanes = lanes_of(frame, op);
    const uint32_t size = wmi_wave_of(frame)->group->lds_size, *addr = row(frame, op->a);
    const uint32_t bytes = wmi_lds_bytes(op->data);
    for (uint64_t left = offset == op->x ? 0 : lanes->bits; left; left &= left - 1) {
        const uint32_t first = addr[__builtin_ctzll(left)] + op->x;
        if (size < bytes || first > size - bytes)
            return;
    }
    wmi_show_late(frame, op, show);
}

STEP(observe)
{
    const struct wmi_memory_op *memory = op->data;
    const struct wmi_wave *wave = wmi_wave_of(frame);
    const struct wmi_lanes *lanes = lanes_of(frame, op);
    const struct wmi_address_summary summary = {.low = row(frame, op->a),
                                                .base = op->x,
                                                .lanes = lanes->bits,
                                                .to = wave->group->lds_size,
                                                .shape = memory->shape,
                                                .wave = wave->index,
                                                .depth = wmi_wave_depth(wave, memory)};
    if (memory->shape && lanes->bits &&
        memory->observer->summary(wave->worker->observers[memory->watcher], &summary, memory->slot))
        return op + 1;
    return show(frame, op);
}

/* ds_swizzle_b32, ds_permute_b32, ds_bpermute_b32: the lane that each lane sends to or reads from. */
STEP(observe_lanes)
{
    const struct wmi_memory_op *memory = op->data;
    const struct wmi_wave *wave = wmi_wave_of(frame);
    const struct wmi_workgroup *group = wave->group;
    const uint64_t active = lanes_of(frame, op)->bits;
    const uint32_t *addr = row(frame, op->a);
    alignas(64) uint64_t address[64];
    struct wmi_access access = {
        .pc = memory->pc,
        .workgroup = {group->id[0], group->id[1], group->id[2]},
        .wave = wave->index,
        .path = WMI_PATH_DS,
        .kind = memory->id == WMI_INSN_ds_permute_b32 ? WMI_ACCESS_STORE : WMI_ACCESS_LOAD,
        .lanes = active,
        .elements = 1,
        .bytes = 4,
        .element = {{.space = WMI_SPACE_LANES, .mask = active, .address = address}},
    };
    for (unsigned i = 0; i < WMI_LANES; i++)
        address[i] = 4 * (memory->id == WMI_INSN_ds_swizzle_b32 ? swizzle_source(op->x, i)
                                                                : partner(op, addr[i] + op->x, i));
    wmi_show_access(wave, memory, &access);
    return op + 1;
}

const wmi_body WMI_BUILD_NAME(wmi_lds_steps)[WMI_LDS_STEP_COUNT] = {
#undef STEP
#define STEP(name) [WMI_LDS_##name] = name,
    WMI_LDS_READS(STEP) WMI_LDS_WRITES(STEP) WMI_LDS_OTHERS(STEP)};
