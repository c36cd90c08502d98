/* SPDX-License-Identifier: MIT */
/* MFMA and SMFMAC: matrix products over the registers of a wave. EXEC and MODE are ignored. Source: CDNA 3
 * ISA, "Matrix Arithmetic Instructions".
 *
 * Layouts: AMD's matrix instruction calculator. Arithmetic: MMA-Sim (arXiv 2511.10909), which was matched to
 * GPUs. A product of depth K is a chain of groups of products along k:
 *   f32, f64   one fused multiply-add per k
 *   CDNA1      groups of 4 (f16) or 2 (bf16): the exact sum of products and C, rounded once
 *   CDNA2      groups of 4 (f16, bf16 with _1k) or 2 (bf16): (p0 + p1) + (p2 + p3), then C, each rounded to
 *              f32; denormal operands are +0, denormal results zeros of their sign
 *
 *   CDNA3      groups of 8 (f16, bf16), 4 (xf32) or 16 (fp8, bf8), see cut_sum() */
#include "arithmetic/half.h"
#include "arithmetic/host_float.h"
#include "arithmetic/small_float.h"
#include "isa/element_bits.h"
#include "isa/isa.h"
#include "sem/bodies.h"
#include "sem/matrix.h"

#if WMI_LANES == 64

#include "sem/mfma_cut.h"
#include "sem/mfma_fixed.h"
#include "sem/mfma_flushed.h"

/* ---- elements ---- */

static enum wmi_small_float small_format(unsigned element, bool ocp)
{
    return (enum wmi_small_float)((element == WMI_ELEMENT_bf8) + (ocp ? WMI_FP8_OCP : WMI_FP8_FNUZ));
}

static int smallest_exponent(unsigned element, bool ocp)
{
    if (element == WMI_ELEMENT_fp8 || element == WMI_ELEMENT_bf8)
        return 1 - wmi_small_layouts[small_format(element, ocp)].bias;
    return element == WMI_ELEMENT_f16 ? -14 : -126;
}

/* Bytes in the low bits of words; denormals must not be flushed. */
WMI_INLINE u32v small_values(u32v code, enum wmi_small_float format)
{
    const struct wmi_small_layout *f = &wmi_small_layouts[format];
    const u32v sign = code << 24 & 0x80000000u, magnitude = code & 0x7f;
    const u32v scaled = (u32v)((f32v)(magnitude << (23 - f->fraction)) * power_of_two(127 - f->bias));
    const u32v top = f->specials == WMI_SMALL_FNUZ      ? (u32v)((code & 0xff) == 0x80)
                     : f->specials == WMI_SMALL_ONE_NAN ? (u32v)(magnitude == 0x7f)
                                                        : (u32v)(magnitude > 0x7c);
    const u32v infinite = (u32v)(magnitude == 0x7c) & (f->specials == WMI_SMALL_IEEE ? 0x7f800000u : 0);
    const u32v finite = wmi_select_u32((u32v)(infinite != 0), infinite, scaled);
    return sign | wmi_select_u32(top, wmi_splat_u32(QUIET_NAN), finite);
}

/* Elements of a word of each lane, `bits` wide, from position `at`. */
WMI_INLINE u32v element_values(u32v words, unsigned element, unsigned at, bool ocp)
{
    switch (element) {
    case WMI_ELEMENT_f16:
        return (u32v)wmi_widen(words >> 16 * at & 0xffff);
    case WMI_ELEMENT_bf16:
        return (at ? words : words << 16) & 0xffff0000u;
    case WMI_ELEMENT_fp8:
    case WMI_ELEMENT_bf8:
        return small_values(words >> 8 * at & 0xff, small_format(element, ocp));
    case WMI_ELEMENT_i8:
        return (u32v)((i32v)(words << (24 - 8 * at)) >> 24);
    case WMI_ELEMENT_xf32: { /* cut to 10 fraction bits; a NaN stays one (unverified) */
        const f32v whole = (f32v)words;
        return (words & 0xffffe000u) | ((u32v)(whole != whole) & 0x400000);
    }
    default:
        return words;
    }
}

/* What the sums need of elements: their powers, or zeros in place of denormals. */
enum use_of_side { PLAIN, WITH_POWERS, FLUSHED_SIDE };

/* read_side() for a constant element. */
WMI_INLINE bool read_elements(struct side *side, const wmi_word *rows, unsigned dwords, unsigned element,
                              unsigned bits, bool ocp, enum use_of_side purpose, const uint8_t *from)
{
    const unsigned count = bits < 32 ? 32 / bits : 1;
    const bool any_exponent = element == WMI_ELEMENT_f32 || element == WMI_ELEMENT_i8;
    const bool any_low = element == WMI_ELEMENT_bf16 || element == WMI_ELEMENT_xf32; /* down to 2^-126 */
    const u32v least = (u32v)wmi_splat_f32(power_of_two(smallest_exponent(element, ocp)));
    const u32v low = (u32v)wmi_splat_f32(power_of_two(-30)),
               range = (u32v)wmi_splat_f32(power_of_two(31)) - low;
    u32v wide = wmi_splat_u32(0);
    for (unsigned row = 0; row < dwords; row++) {
        _Alignas(64) uint32_t words[64];
        const wmi_word *words_at = rows + 64 * row;
        if (from) {
            for (unsigned lane = 0; lane < 64; lane++)
                words[lane] = words_at[from[lane]];
            words_at = words;
        }
        for (unsigned lane = 0; lane < 64; lane += WMI_VECTOR_LANES)
            for (unsigned at = 0; at < count; at++) {
                u32v x = element_values(wmi_load_u32((const char *)(words_at + lane)), element, at, ocp);
                if (purpose == FLUSHED_SIDE)
                    x &= (u32v)((x & 0x7fffffff) >= least);
                *(u32v *)&side->value[row * count + at][lane] = x;
                if (any_exponent)
                    continue;
                const u32v magnitude = x & 0x7fffffff, power = x & 0x7f800000;
                const u32v nonzero = (u32v)(magnitude != 0);
                if (purpose == WITH_POWERS)
                    *(u32v *)&side->power[row * count + at][lane] =
                        wmi_select_u32((u32v)(power < least), least, power) & nonzero;
                if (any_low)
                    wide |= nonzero & (u32v)(magnitude - low >= range);
                else
                    wide |= (u32v)(magnitude >= low + range);
            }
    }
    return wmi_any(wide);
}

/* read_side() for a constant purpose. */
WMI_INLINE bool read_for(struct side *side, const wmi_word *rows, unsigned dwords, unsigned element, bool ocp,
                         enum use_of_side purpose, const uint8_t *from)
{
    switch (element) {
    case WMI_ELEMENT_f16:
        return read_elements(side, rows, dwords, WMI_ELEMENT_f16, 16, ocp, purpose, from);
    case WMI_ELEMENT_bf16:
        return read_elements(side, rows, dwords, WMI_ELEMENT_bf16, 16, ocp, purpose, from);
    case WMI_ELEMENT_fp8:
        return ocp ? read_elements(side, rows, dwords, WMI_ELEMENT_fp8, 8, true, purpose, from)
                   : read_elements(side, rows, dwords, WMI_ELEMENT_fp8, 8, false, purpose, from);
    case WMI_ELEMENT_bf8:
        return ocp ? read_elements(side, rows, dwords, WMI_ELEMENT_bf8, 8, true, purpose, from)
                   : read_elements(side, rows, dwords, WMI_ELEMENT_bf8, 8, false, purpose, from);
    case WMI_ELEMENT_i8:
        return read_elements(side, rows, dwords, WMI_ELEMENT_i8, 8, ocp, PLAIN, from);
    case WMI_ELEMENT_xf32:
        return read_elements(side, rows, dwords, WMI_ELEMENT_xf32, 32, ocp, purpose, from);
    default:
        return read_elements(side, rows, dwords, WMI_ELEMENT_f32, 32, ocp, PLAIN, from);
    }
}

/* Reads the elements of A or B. from: the lane that each lane reads, NULL for its own. Returns whether an
 * exponent is not within -30 to 30 (of f32 and i8, this does not matter). */
static bool read_side(struct side *side, const wmi_word *rows, unsigned dwords, unsigned element, bool ocp,
                      enum use_of_side purpose, const uint8_t *from)
{
    return purpose == FLUSHED_SIDE ? read_for(side, rows, dwords, element, ocp, FLUSHED_SIDE, from)
                                   : read_for(side, rows, dwords, element, ocp, WITH_POWERS, from);
}

/* ---- floats of 8, 6 and 4 bits, with scales ---- */

enum { FORMATS = 5, BYTES = 2, RUN = 16, NAN_SCALE = 255 }; /* BYTES: formats of 8 bits; RUN: consecutive k */

/* Formats by CBSZ and BLGP. Source: LLVM 22, SIDefines.h, MFMAScaleFormats. */
static const uint8_t formats[FORMATS] = {WMI_FP8_OCP, WMI_BF8_OCP, WMI_FP6, WMI_BF6, WMI_FP4};

/* The bits of element `e` of each lane. */
static void codes_of(uint32_t *codes, const wmi_word *rows, unsigned bits, unsigned e)
{
    const unsigned at = e * bits, row = at / 32, next = (at + bits - 1) / 32;
    for (unsigned lane = 0; lane < 64; lane++) {
        const uint64_t two = rows[64 * row + lane] | (uint64_t)rows[64 * next + lane] << 32;
        codes[lane] = (uint32_t)(two >> at % 32) & ((1u << bits) - 1);
    }
}

/* Reads 32 elements of each lane to where those of four bits are: element k % 32 of the lanes of k / 32.
 * Lanes with bytes have two runs of 16 k, the second of them in the upper half of K. The scale of these 32
 * elements is in the lane that has them then. Source: ROCm's Composable Kernel, test/mx_mfma_op, and the maps
 * of scales that it records of a GPU. Returns whether an exponent is not within -30 to 30; then `shift`, if
 * there are scales, has their powers of two, and otherwise they are part of the elements. */
static bool read_formatted(struct side *side, const wmi_word *rows, unsigned number, unsigned m,
                           const wmi_word *scales, unsigned byte, int16_t *shift)
{
    const enum wmi_small_float format = (enum wmi_small_float)formats[number < FORMATS ? number : 0];
    const struct wmi_small_layout *f = &wmi_small_layouts[format];
    const unsigned bits = 1u + f->exponent + f->fraction, groups = 64 / m;
    const float least = power_of_two(1 - f->bias);
    bool wide = false;
    for (unsigned pass = 0; pass < 2 && (!pass || wide); pass++)
        for (unsigned e = 0; e < ELEMENTS; e++) {
            uint32_t codes[64];
            codes_of(codes, rows, bits, e);
            for (unsigned lane = 0; lane < 64; lane++) {
                const unsigned group = lane / m, run = e / RUN;
                const unsigned k = number < BYTES ? (run * groups + group) * RUN + e % RUN : 32 * group + e;
                const unsigned to = k / 32 * m + lane % m;
                const uint32_t scale = scales ? scales[to] >> 8 * byte & 0xff : 127;
                uint32_t x = number < FORMATS ? wmi_f32_of_small(codes[lane], format) : 0;
                if (scale == NAN_SCALE)
                    x = QUIET_NAN;
                const int by = scale == NAN_SCALE ? 0 : (int)scale - 127;
                const float value = WMI_BITS_AS(float, x), magnitude = fabsf(value);
                const float power = !(x & 0x7fffffff)   ? 0
                                    : magnitude < least ? least
                                                        : WMI_BITS_AS(float, x & 0x7f800000);
                const bool moderate =
                    !(x & 0x7fffffff) ||
                    ((x & 0x7f800000) != 0x7f800000 && by >= -30 && by <= 30 &&
                     magnitude * power_of_two(by) < 0x1p31f && magnitude * power_of_two(by) >= 0x1p-30f);
                wide |= !moderate;
                const float factor = pass || by < -30 || by > 30 ? 1 : power_of_two(by);
                side->value[k % 32][to] = pass ? value : value * factor;
                side->power[k % 32][to] = power * factor;
                if (pass)
                    shift[to] = (int16_t)by;
            }
        }
    return wide;
}

/* ---- instructions ---- */

/* The lane that each lane reads of A: CBSZ splits the lanes into 2^CBSZ sets, all of which read set ABID. */
static void lanes_of_a(uint8_t *from, unsigned cbsz, unsigned abid)
{
    const unsigned size = 64u >> (cbsz > 6 ? 6 : cbsz);
    for (unsigned lane = 0; lane < 64; lane++)
        from[lane] = (uint8_t)((cbsz ? lane % size + size * abid : lane) % 64);
}

/* The same of B, by BLGP. */
static void lanes_of_b(uint8_t *from, unsigned blgp)
{
    for (unsigned lane = 0; lane < 64; lane++)
        from[lane] = (uint8_t)(blgp == 0   ? lane
                               : blgp == 3 ? (lane + 16) % 64
                               : blgp < 3  ? lane % 32 + 32 * (blgp - 1)
                                           : lane % 16 + 16 * (blgp - 4));
}

/* Positions of the products' factors in the lanes' elements. per_lane: elements of a lane. */
static void places(uint16_t *at, const struct wmi_matrix *m, unsigned depth, unsigned per_lane,
                   unsigned elements)
{
    for (unsigned k = 0, lanes = 0; k < depth; lanes += m->m * m->blocks)
        for (unsigned i = 0; i < per_lane; i++)
            at[k++] = (uint16_t)(i * elements + lanes);
}

/* Elements of A that SMFMAC stores, and by the indices of row i those of B that they are multiplied with.
 * Each nibble of C has two positions among four elements along k. 16-bit data has 8 bits of indices in a
 * lane, 8-bit data 16, of which CBSZ = 0 selects one of four or two sets by ABID; else they are the lowest
 * ones. Source: CDNA 3 ISA, "Sparse Matrix". gfx950's instructions of twice the depth have twice as many;
 * that a lane's two runs of 16 bytes of B are K / 2 apart is unverified. */
static void sparse_places(uint16_t *a_at, uint16_t *b_at, const struct wmi_matrix *m, const wmi_word *indices,
                          const struct wmi_matrix_use *use, unsigned row)
{
    const unsigned stored = m->m * m->k / 128u; /* elements of A in a lane */
    const bool doubled = stored * wmi_element_bits(m->a) > 64;
    const unsigned run = doubled ? 128 / wmi_element_bits(m->a) : 8; /* consecutive k of a lane */
    const unsigned g = 64u / m->m * run;                             /* both are powers of two */
    const unsigned indexed = 2 * stored, sets = 32 / indexed;
    const unsigned set = use->cbsz ? 0 : indexed * (use->abid & (sets - 1));
    const unsigned run_bits = (unsigned)__builtin_ctz(run), g_bits = (unsigned)__builtin_ctz(g);
    for (unsigned q = 0; q < m->k / 4u; q++) {
        const unsigned local = 4 * q & (g - 1), upper = 4 * q >> g_bits;
        const unsigned in = run * upper + (local & (run - 1)), lane = (local >> run_bits) * m->m;
        const unsigned positions = indices[lane + row] >> (set + in) & 15;
        for (unsigned s = 0; s < 2; s++) {
            const unsigned k = 4 * q + (positions >> 2 * s & 3);
            a_at[2 * q + s] = (uint16_t)((in / 2 + s) * 64 + lane);
            b_at[2 * q + s] =
                (uint16_t)((run * (k >> g_bits) + (k & (run - 1))) * 64 + ((k & (g - 1)) >> run_bits) * m->n);
        }
    }
}

/* 4x4 matrices: each lane has its own block, and each register of D a row of A. */
static void spread_rows(struct tile *t, const struct side *a, const struct side *b, unsigned elements,
                        tile_function *function, const wmi_word *c, unsigned c_mask, wmi_word *d)
{
    struct side rows;
    t->rows = 1;
    t->at[0] = 0;
    for (unsigned row = 0; row < 4; row++) {
        for (unsigned e = 0; e < elements; e++)
            for (unsigned lane = 0; lane < 64; lane += 4) {
                const float value = a->value[e][lane + row], power = a->power[e][lane + row];
                for (unsigned i = lane; i < lane + 4; i++)
                    rows.value[e][i] = value, rows.power[e][i] = power;
            }
        for (unsigned lane = 0; lane < 64; lane += COLUMNS) {
            const unsigned at = 64 * row + lane;
            t->a = rows.value[0] + lane;
            t->b = b->value[0] + lane;
            function(t, c + (at & c_mask), c_mask, d + at);
        }
    }
}

/* Each row of A selects elements of B. */
static void sparse_rows(const struct tile *tile, const struct wmi_matrix *m, const wmi_word *indices,
                        const struct wmi_matrix_use *use, tile_function *function, const wmi_word *c,
                        unsigned c_mask, wmi_word *d)
{
    uint16_t a_at[DEPTH], b_at[DEPTH];
    struct tile t = *tile;
    t.a_at = a_at;
    t.b_at = b_at;
    t.rows = 1;
    for (unsigned n = 0; n < tile->rows; n++) {
        sparse_places(a_at, b_at, m, indices, use, n);
        t.first_row = n;
        t.at[0] = tile->at[n];
        function(&t, c, c_mask, d);
    }
}

static tile_function *function_of(const struct wmi_matrix *m, unsigned rules, unsigned depth, struct tile *t)
{
    const bool eight = wmi_element_bits(m->a) == 8;
    if (m->d == WMI_ELEMENT_i32)
        return depth % 8 ? integer_4_tile : integer_8_tile;
    if (m->a == WMI_ELEMENT_f32)
        return depth == 1 ? fused_1_tile : depth == 2 ? fused_2_tile : fused_4_tile;
    if (rules == WMI_MATRIX_CDNA1 || rules == WMI_MATRIX_CDNA2) {
        /* bf16 without _1k has one dword of A */
        const bool one_dword = m->m * m->k * m->blocks * wmi_element_bits(m->a) / 64 == 32;
        if (rules == WMI_MATRIX_CDNA1)
            return one_dword ? exact_2_tile : exact_4_tile;
        if (one_dword)
            return flushed_2_tile;
        return t->moderate && !t->spread ? quick_flushed_tile : flushed_4_tile;
    }
    t->split = eight;
    if (t->spread)
        return cut_spread_tile;
    const bool four = m->a == WMI_ELEMENT_xf32 || depth == 4;
    t->group = eight ? 16 : four ? 4 : 8;
    if (eight)
        return cut_split_tile;
    if (t->moderate && !m->sparse)
        return four ? quick_cut_4_tile : quick_cut_8_tile;
    return four ? cut_4_tile : cut_8_tile;
}

/* from: the lane that each lane reads, NULL for its own. */
static void read_f64(double *to, const wmi_word *rows, const uint8_t *from, bool negative)
{
    if (from) {
        for (unsigned lane = 0; lane < 64; lane++)
            to[lane] = wmi_get_f64(rows, from[lane]);
    } else {
        for (unsigned lane = 0; lane < 64; lane += WMI_VECTOR_LANES) {
            const struct wmi_f64x2 pair = wmi_load_f64((const char *)(rows + lane), 256);
            *(f64v *)(to + lane) = pair.v[0];
            *(f64v *)(to + lane + WMI_VECTOR_LANES / 2) = pair.v[1];
        }
    }
    for (unsigned lane = 0; negative && lane < 64; lane++)
        to[lane] = -to[lane];
}

/* Sixteen columns of D, or all lanes of 4x4 matrices (`four`), from `lane` on. */
WMI_INLINE void columns_f64(bool four, const double *a, const double *b, unsigned lane, uint64_t flip,
                            const wmi_word *c, unsigned c_mask, wmi_word *d)
{
    struct wmi_f64x2 factors[4]; /* of B */
    for (unsigned k = 0; k < 4; k++)
        for (unsigned half = 0; half < 2; half++)
            factors[k].v[half] = *(const f64v *)(b + 16 * k + lane + half * WMI_VECTOR_LANES / 2);
    for (unsigned chunk = 0; chunk < (four ? 4 : 16); chunk++) {
        const unsigned at = 128 * (chunk / 4) + 16 * (chunk % 4) + lane;
        struct wmi_f64x2 sum = wmi_load_f64((const char *)(c + (at & c_mask)), 256);
        for (unsigned half = 0; half < 2; half++) {
            const unsigned first = lane + half * WMI_VECTOR_LANES / 2;
            f64v r = (f64v)((u64v)sum.v[half] ^ flip);
            for (unsigned k = 0; k < 4; k++) {
                const double *const row = a + 16 * k + chunk;
                f64v factor = (f64v)wmi_splat_u64(WMI_BITS_AS(uint64_t, *row));
                if (four)
                    for (unsigned l = 0; l < WMI_VECTOR_LANES / 2; l++)
                        factor[l] = row[(first + l) & ~3u];
                r = wmi_fused_f64(factor, factors[k].v[half], r);
            }
            sum.v[half] = r;
        }
        if (__builtin_expect(wmi_any_nan2_f64(sum.v[0], sum.v[1]), 0))
            for (unsigned half = 0; half < 2; half++)
                sum.v[half] = wmi_select_f64((u64v)(sum.v[half] != sum.v[half]),
                                             (f64v)wmi_splat_u64(0x7ff8000000000000), sum.v[half]);
        *(u32v *)(d + at) = wmi_low_words(sum);
        *(u32v *)(d + at + 64) = wmi_high_words(sum);
    }
}

/* f64: a chain of fused multiply-adds. */
static void multiply_f64(const struct wmi_matrix *m, const struct wmi_matrix_use *use, const wmi_word *a_rows,
                         const wmi_word *b_rows, const wmi_word *c_rows, wmi_word *d_rows)
{
    _Alignas(64) double a[64], b[64];
    const uint64_t flip = use->neg & 4 ? UINT64_C(1) << 63 : 0;
    const unsigned c_mask = use->constant ? 0 : ~0u;
    uint8_t from[64];
    if (use->cbsz)
        lanes_of_a(from, use->cbsz, use->abid);
    read_f64(a, a_rows, use->cbsz ? from : NULL, use->neg & 1);
    if (use->blgp)
        lanes_of_b(from, use->blgp);
    read_f64(b, b_rows, use->blgp ? from : NULL, use->neg & 2);
    for (unsigned lane = 0; lane < COLUMNS; lane += WMI_VECTOR_LANES)
        if (m->m == 4)
            columns_f64(true, a, b, lane, flip, c_rows, c_mask, d_rows);
        else
            columns_f64(false, a, b, lane, flip, c_rows, c_mask, d_rows);
}

/* The rows of a tile in the first block; of 32 columns, the odd quarters of a row of D are another tile.
 * Returns the number of tiles of a block. */
static unsigned tile_rows(struct tile *t, const struct wmi_matrix *m, unsigned of_block)
{
    const unsigned halves = m->n == 32 ? 2 : 1;
    for (unsigned four = 0; four < of_block; four += 4)
        for (unsigned quarter = 0; quarter < 4; quarter += halves, t->rows += 4)
            for (unsigned in = 0; in < 4; in++)
                t->at[t->rows + in] = (uint16_t)(64 * (four + in) + 16 * quarter);
    return halves;
}

#if WMI_VECTOR_BYTES == 64
/* By 16-bit integers, see mfma_fixed.h. Both return false if the instruction or its operands do not allow it;
 * then D is unchanged. */
static bool multiply_bytes(const struct wmi_matrix *m, const struct wmi_matrix_use *use,
                           const wmi_word *a_rows, const wmi_word *b_rows, const wmi_word *c_rows,
                           wmi_word *d_rows)
{
    struct fixed_sides sides;
    const unsigned elements = m->m * m->k * m->blocks / 64, of_block = m->m * m->n / 64;
    const unsigned c_mask = use->constant ? 0 : ~0u;
    struct tile t = {.depth = m->k};
    if (m->a != WMI_ELEMENT_i8 || m->sparse || m->m == 4 || use->cbsz || use->blgp)
        return false;
    fix_bytes(&sides.a, a_rows, elements / 4);
    fix_bytes(&sides.b, b_rows, elements / 4);
    const unsigned halves = tile_rows(&t, m, of_block);
    for (unsigned block = 0; block < m->blocks; block++)
        for (unsigned half = 0; half < halves; half++) {
            const unsigned to = 64 * of_block * block + 16 * half;
            bytes_tile(&t, &sides, elements, block * m->m, block * m->n + 16 * half, c_rows + (to & c_mask),
                       c_mask, d_rows + to);
        }
    return true;
}

/* Not inlined, so that its loops have all registers. */
static __attribute__((noinline)) bool multiply_fixed(const struct wmi_matrix *m,
                                                     const struct wmi_matrix_use *use, const wmi_word *a_rows,
                                                     const wmi_word *b_rows, const wmi_word *c_rows,
                                                     wmi_word *d_rows)
{
    struct fixed f;
    _Alignas(64) int32_t addends[4][ROWS][COLUMNS]; /* by tile */
    const unsigned elements = m->m * m->k * m->blocks / 64, dwords = elements * wmi_element_bits(m->a) / 32;
    const unsigned of_block = m->m * m->n / 64, c_mask = use->constant ? 0 : ~0u;
    struct tile t = {.depth = m->k};
    if (use->rules != WMI_MATRIX_CDNA3 || m->d != WMI_ELEMENT_f32 || m->sparse || m->m == 4 || use->cbsz ||
        use->blgp || !may_fix(a_rows, b_rows, m->a) || !fix_side(&f.of.a, a_rows, dwords, m->a, use->ocp) ||
        !fix_side(&f.of.b, b_rows, dwords, m->b, use->ocp) || !fix(&f, m->k))
        return false;
    function_of(m, use->rules, m->k, &t); /* for the size of a group */
    const unsigned halves = tile_rows(&t, m, of_block);
    for (unsigned pass = 0; pass < 2; pass++)
        for (unsigned tile = 0; tile < m->blocks * halves; tile++) {
            const unsigned block = tile / halves, half = tile % halves;
            const unsigned columns = block * m->n + 16 * half, to = 64 * of_block * block + 16 * half;
            const wmi_word *const c = c_rows + (to & c_mask);
            if (pass)
                fixed_tile(&t, &f, elements, block * m->m, columns, addends[tile], d_rows + to);
            else if (!fixed_addends(&t, &f, c, c_mask, addends[tile]))
                return false;
        }
    return true;
}
#endif

/* extra: the indices of SMFMAC, or the words with the scales of A and B, or NULL. */
static void multiply_32(const struct wmi_matrix *m, const struct wmi_matrix_use *use, const wmi_word *a_rows,
                        const wmi_word *b_rows, const wmi_word *c_rows, wmi_word *d_rows,
                        const wmi_word *const extra[2])
{
#if WMI_VECTOR_BYTES == 64
    if (multiply_bytes(m, use, a_rows, b_rows, c_rows, d_rows) ||
        multiply_fixed(m, use, a_rows, b_rows, c_rows, d_rows))
        return;
#endif
    struct side a, b;
    int16_t a_shift[64] = {0}, b_shift[64] = {0};
    const bool formatted = m->a == WMI_ELEMENT_f8f6f4;
    uint8_t from_a[64], from_b[64];
    uint16_t a_at[DEPTH];
    const unsigned width = wmi_element_bits(m->a), depth = m->sparse ? m->k / 2u : m->k;
    const unsigned a_elements = m->m * depth * m->blocks / 64, b_elements = m->n * m->k * m->blocks / 64;
    const unsigned rows = m->m * m->n * m->blocks / 64, of_block = rows / m->blocks;
    struct tile t = {.a_at = a_at, .b_at = a_at, .depth = depth, .spread = m->m == 4};
    const bool moves_a = use->cbsz && !m->sparse && !formatted;
    const unsigned c_mask = use->constant ? 0 : ~0u;
    bool wide;
    struct cut_exponents x;
    const bool cuts_halves =
        use->rules == WMI_MATRIX_CDNA3 && width == 16 && !m->sparse && !t.spread && !use->cbsz && !use->blgp;
    if (moves_a)
        lanes_of_a(from_a, use->cbsz, use->abid);
    if (use->blgp)
        lanes_of_b(from_b, use->blgp);
    if (formatted) {
        wide = read_formatted(&a, a_rows, use->cbsz, m->m, extra[0], use->abid >> WMI_MATRIX_SCALE_A & 3,
                              a_shift);
        wide |= read_formatted(&b, b_rows, use->blgp, m->n, extra[1], use->abid >> WMI_MATRIX_SCALE_B & 3,
                               b_shift);
    } else if (cuts_halves &&
               read_factors(&a, &b, &x, a_rows, b_rows, a_elements / 2, m->a == WMI_ELEMENT_f16)) {
        wide = false;
        t.least = power_of_two(smallest_exponent(m->a, false));
    } else {
        const enum use_of_side purpose = use->rules == WMI_MATRIX_CDNA2 ? FLUSHED_SIDE : WITH_POWERS;
        wide =
            read_side(&a, a_rows, a_elements * width / 32, m->a, use->ocp, purpose, moves_a ? from_a : NULL);
        wide |= read_side(&b, b_rows, b_elements * width / 32, m->b, use->ocp, purpose,
                          use->blgp ? from_b : NULL);
    }
    t.moderate = !wide;
    t.bounded = width >= 16; /* bf16, xf32 */
    tile_function *const function = function_of(m, use->rules, depth, &t);
    const bool quick = function == quick_cut_4_tile || function == quick_cut_8_tile;
    if (quick && !t.least)
        find_exponents(&x, &a, &b, a_elements);
    if (!m->sparse)
        places(a_at, m, depth, a_elements, 64);
    if (t.spread) {
        spread_rows(&t, &a, &b, a_elements, function, c_rows, c_mask, d_rows);
        return;
    }
    const unsigned halves = tile_rows(&t, m, of_block);
    for (unsigned block = 0; block < m->blocks; block++)
        for (unsigned half = 0; half < halves; half++) {
            const unsigned columns = block * m->n + 16 * half, at = 64 * of_block * block + 16 * half;
            t.a = a.value[0] + block * m->m;
            t.b = b.value[0] + columns;
            if (quick)
                place_exponents(&t, &x, block * m->m, columns);
            if (formatted) {
                t.a_shift = a_shift;
                t.b_shift = b_shift + columns;
            }
            if (m->sparse)
                sparse_rows(&t, m, extra[0], use, function, c_rows + (at & c_mask), c_mask, d_rows + at);
            else
                function(&t, c_rows + (at & c_mask), c_mask, d_rows + at);
        }
}

static __attribute__((noinline)) void multiply(char *frame, const struct wmi_op *op)
{
    const struct wmi_matrix_use use = wmi_matrix_unpack(op->value);
    const struct wmi_matrix *m = &wmi_matrices[use.matrix];
    wmi_word *d = wmi_row(frame, op->d);
    const wmi_word *c = m->sparse ? d : wmi_row(frame, op->c);
    const unsigned dwords = (unsigned)(m->m * m->n * m->blocks) * wmi_element_bits(m->d) / 2048;
    _Alignas(64) uint32_t copy[32 * 64];
    /* A result that overlaps C without being C must not change C before it is read. */
    const long distance = (const char *)c - (const char *)d;
    if (!use.constant && !m->sparse && distance && labs(distance) < 256l * dwords) {
        memcpy(copy, c, 256 * dwords);
        c = copy;
    }
    if (m->sparse) { /* so may the indices */
        memcpy(copy, frame + op->c, 256);
        multiply_32(m, &use, wmi_row(frame, op->a), wmi_row(frame, op->b), c, d,
                    (const wmi_word *const[2]){copy, NULL});
    } else if (m->d == WMI_ELEMENT_f64) {
        multiply_f64(m, &use, wmi_row(frame, op->a), wmi_row(frame, op->b), c, d);
    } else {
        const bool has_scales = m->a == WMI_ELEMENT_f8f6f4 && use.abid & WMI_MATRIX_SCALED;
        multiply_32(m, &use, wmi_row(frame, op->a), wmi_row(frame, op->b), c, d,
                    (const wmi_word *const[2]){has_scales ? wmi_row(frame, op->e) : NULL,
                                               has_scales ? wmi_row(frame, op->x) : NULL});
    }
}

#endif

WMI_DEFINE(mfma)
{
#if WMI_LANES == 64 /* all targets with MFMA */
    const uint32_t usual = ((const struct wmi_frame *)frame)->mxcsr32, wanted = wmi_host_float_word(0, 3);
    if (usual != wanted)
        wmi_host_float_set(wanted);
    multiply(frame, op);
    if (usual != wanted)
        wmi_host_float_set(usual);
#endif
    return wmi_next(frame, op);
}
