/* SPDX-License-Identifier: MIT */
/* Block-compressed formats.
 *
 * Source: Khronos Data Format Specification 1.3, "S3TC", "RGTC" and "BPTC Compressed Texture Image Formats".
 * Those of BC6H and BC7 are exact; colours of BC1 to BC5 between two endpoints are exact here, too, while the
 * specification allows other rounding (approx). Of BC1 to BC3 in SRGB, the curve applies to the exact colour
 * (approx). */
#include "memory/blocks.h"

#include <string.h>

enum { TEXELS = WMI_BLOCK_SIDE * WMI_BLOCK_SIDE, RGB = 3 };

static uint64_t bits_at(const unsigned char *block, unsigned first, unsigned count)
{
    uint64_t bits = 0;
    for (unsigned i = 0; i < count; i++)
        bits |= (uint64_t)(block[(first + i) / 8] >> (first + i) % 8 & 1) << i;
    return bits;
}

/* ---- BC1 to BC3: colours ---- */

/* punches: BC1, in which the order of the endpoints chooses between four colours, and three and transparent
 * black. */
static void load_colour(const struct wmi_format *format, const unsigned char *block, unsigned texel,
                        bool punches, bool half, uint32_t value[4])
{
    static const uint8_t bits[RGB] = {5, 6, 5}, shift[RGB] = {11, 5, 0};
    /* Parts of the two endpoints, of which there are as many as the last number says. */
    static const uint8_t four[4][2] = {{3, 0}, {0, 3}, {2, 1}, {1, 2}},
                         three[4][2] = {{2, 0}, {0, 2}, {1, 1}, {0, 0}};
    const unsigned a = (unsigned)bits_at(block, 0, 16), b = (unsigned)bits_at(block, 16, 16);
    const unsigned index = (unsigned)bits_at(block, 32 + 2 * texel, 2);
    const bool in_three = punches && a <= b;
    const uint8_t *part = in_three ? three[index] : four[index];
    for (unsigned i = 0; i < RGB; i++) {
        const unsigned most = (1u << bits[i]) - 1;
        const int64_t sum = part[0] * (a >> shift[i] & most) + part[1] * (b >> shift[i] & most);
        const uint32_t whole = (in_three ? 2 : 3) * most;
        value[i] = format->number == WMI_NUMBER_SRGB ? wmi_float_of_srgb((double)sum / whole, half)
                                                     : wmi_float_of_ratio(sum, whole, half);
    }
    value[3] = wmi_float_of_ratio(!in_three || index < 3, 1, half);
}

/* ---- BC3 to BC5: one component in 8 bytes ---- */

static int64_t clamped(unsigned byte, bool is_signed)
{
    const int number = is_signed ? (int8_t)byte : (int)byte;
    return number < -127 ? -127 : number;
}

static uint32_t load_single(const unsigned char *block, unsigned texel, bool is_signed, bool half)
{
    enum { INDICES = 16, LOW = 6, HIGH = 7 };
    const unsigned index = (unsigned)bits_at(block, INDICES + 3 * texel, 3);
    const int64_t a = clamped(block[0], is_signed), b = clamped(block[1], is_signed),
                  most = is_signed ? 127 : 255;
    const bool in_eight = is_signed ? (int8_t)block[0] > (int8_t)block[1] : block[0] > block[1];
    const int64_t steps = in_eight ? 7 : 5;
    if (index < 2)
        return wmi_float_of_ratio(index ? b : a, (uint32_t)most, half);
    if (!in_eight && index >= LOW)
        return wmi_float_of_ratio(index == HIGH ? 1 : is_signed ? -1 : 0, 1, half);
    const int64_t second = index - 1;
    return wmi_float_of_ratio((steps - second) * a + second * b, (uint32_t)(steps * most), half);
}

/* ---- BC6H and BC7: regions of a block, and weights ---- */

/* Regions of texels: a bit each of two regions, two bits of three. */
static const uint16_t two_regions[64] = {
    0xcccc, 0x8888, 0xeeee, 0xecc8, 0xc880, 0xfeec, 0xfec8, 0xec80, 0xc800, 0xffec, 0xfe80, 0xe800, 0xffe8,
    0xff00, 0xfff0, 0xf000, 0xf710, 0x008e, 0x7100, 0x08ce, 0x008c, 0x7310, 0x3100, 0x8cce, 0x088c, 0x3110,
    0x6666, 0x366c, 0x17e8, 0x0ff0, 0x718e, 0x399c, 0xaaaa, 0xf0f0, 0x5a5a, 0x33cc, 0x3c3c, 0x55aa, 0x9696,
    0xa55a, 0x73ce, 0x13c8, 0x324c, 0x3bdc, 0x6996, 0xc33c, 0x9966, 0x0660, 0x0272, 0x04e4, 0x4e40, 0x2720,
    0xc936, 0x936c, 0x39c6, 0x639c, 0x9336, 0x9cc6, 0x817e, 0xe718, 0xccf0, 0x0fcc, 0x7744, 0xee22};
static const uint32_t three_regions[64] = {
    0xaa685050, 0x6a5a5040, 0x5a5a4200, 0x5450a0a8, 0xa5a50000, 0xa0a05050, 0x5555a0a0, 0x5a5a5050,
    0xaa550000, 0xaa555500, 0xaaaa5500, 0x90909090, 0x94949494, 0xa4a4a4a4, 0xa9a59450, 0x2a0a4250,
    0xa5945040, 0x0a425054, 0xa5a5a500, 0x55a0a0a0, 0xa8a85454, 0x6a6a4040, 0xa4a45000, 0x1a1a0500,
    0x0050a4a4, 0xaaa59090, 0x14696914, 0x69691400, 0xa08585a0, 0xaa821414, 0x50a4a450, 0x6a5a0200,
    0xa9a58000, 0x5090a0a8, 0xa8a09050, 0x24242424, 0x00aa5500, 0x24924924, 0x24499224, 0x50a50a50,
    0x500aa550, 0xaaaa4444, 0x66660000, 0xa5a0a5a0, 0x50a050a0, 0x69286928, 0x44aaaa44, 0x66666600,
    0xaa444444, 0x54a854a8, 0x95809580, 0x96969600, 0xa85454a8, 0x80959580, 0xaa141414, 0x96960000,
    0xaaaa1414, 0xa05050a0, 0xa0a5a5a0, 0x96000000, 0x40804080, 0xa9a8a9a8, 0xaaaaaa44, 0x2a4a5254};

/* The texels whose index has one bit less, beside the first: of the second of two regions, and of the second
 * and third of three. */
static const uint8_t anchor_of_two[64] = {15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15,
                                          15, 2,  8,  2,  2,  8,  8,  15, 2,  8,  2,  2,  8,  8,  2,  2,
                                          15, 15, 6,  8,  2,  8,  15, 15, 2,  8,  2,  2,  2,  15, 15, 6,
                                          6,  2,  6,  8,  15, 15, 2,  2,  15, 15, 15, 15, 15, 2,  2,  15};
static const uint8_t anchors_of_three[2][64] = {
    {3,  3,  15, 15, 8, 3,  15, 15, 8,  8,  6, 6,  6, 5,  3, 3,  3,  3,  8,  15, 3,  3,
     6,  10, 5,  8,  8, 6,  8,  5,  15, 15, 8, 15, 3, 5,  6, 10, 8,  15, 15, 3,  15, 5,
     15, 15, 15, 15, 3, 15, 5,  5,  5,  8,  5, 10, 5, 10, 8, 13, 15, 12, 3,  3},
    {15, 8, 8, 3,  15, 15, 3,  8,  15, 15, 15, 15, 15, 15, 15, 8,  15, 8,  15, 3,  15, 8,
     15, 8, 3, 15, 6,  10, 15, 15, 10, 8,  15, 3,  15, 10, 10, 8,  9,  10, 6,  15, 8,  15,
     3,  6, 6, 8,  15, 3,  15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 3,  15, 15, 8}};

static unsigned region_of(unsigned regions, unsigned partition, unsigned texel)
{
    return regions == 3   ? three_regions[partition] >> 2 * texel & 3
           : regions == 2 ? two_regions[partition] >> texel & 1
                          : 0;
}

static bool is_anchor(unsigned regions, unsigned partition, unsigned texel)
{
    return texel == 0 || (regions == 2 && texel == anchor_of_two[partition]) ||
           (regions == 3 &&
            (texel == anchors_of_three[0][partition] || texel == anchors_of_three[1][partition]));
}

/* The index of a texel, of `bits` bits, of which anchors have one less. */
static unsigned index_of(const unsigned char *block, unsigned first, unsigned bits, unsigned regions,
                         unsigned partition, unsigned texel)
{
    for (unsigned i = 0; i < texel; i++)
        first += bits - is_anchor(regions, partition, i);
    return (unsigned)bits_at(block, first, bits - is_anchor(regions, partition, texel));
}

/* Of the second endpoint, in 1/64. */
static int weight_of(unsigned bits, unsigned index)
{
    static const uint8_t weights[][TEXELS] = {{0, 21, 43, 64},
                                              {0, 9, 18, 27, 37, 46, 55, 64},
                                              {0, 4, 9, 13, 17, 21, 26, 30, 34, 38, 43, 47, 51, 55, 60, 64}};
    return weights[bits - 2][index];
}

static int between(int a, int b, int weight)
{
    return ((64 - weight) * a + weight * b + 32) >> 6;
}

/* ---- BC7 ---- */

static const struct mode_7 {
    uint8_t regions, partition, rotation, selection, colour, alpha, own_parity, shared_parity, index, second;
} modes_7[8] = {{3, 4, 0, 0, 4, 0, 1, 0, 3, 0}, {2, 6, 0, 0, 6, 0, 0, 1, 3, 0},
                {3, 6, 0, 0, 5, 0, 0, 0, 2, 0}, {2, 6, 0, 0, 7, 0, 1, 0, 2, 0},
                {1, 0, 2, 1, 5, 6, 0, 0, 2, 3}, {1, 0, 2, 0, 7, 8, 0, 0, 2, 2},
                {1, 0, 0, 0, 7, 7, 1, 0, 4, 0}, {2, 6, 0, 0, 5, 5, 1, 0, 2, 0}};

/* An endpoint's component in 8 bits: followed by the parity bit, if there is one, and by its own upper bits.
 */
static int endpoint_7(const struct mode_7 *m, unsigned raw, unsigned bits, unsigned parity)
{
    const bool has_parity = m->own_parity || m->shared_parity;
    const unsigned all = bits + has_parity, value = (has_parity ? raw << 1 | parity : raw) << (8 - all);
    return (int)(value | value >> all);
}

/* Where the parts of a block begin. */
struct parts_7 {
    unsigned partition, rotation, selection, endpoints, parities, indices, second;
};

static struct parts_7 parts_of(const struct mode_7 *m, unsigned mode)
{
    struct parts_7 p = {.partition = mode + 1};
    p.rotation = p.partition + m->partition;
    p.selection = p.rotation + m->rotation;
    p.endpoints = p.selection + m->selection;
    p.parities = p.endpoints + 2u * m->regions * (RGB * m->colour + m->alpha);
    p.indices = p.parities + m->regions * (2u * m->own_parity + m->shared_parity);
    p.second = p.indices + TEXELS * m->index - m->regions;
    return p;
}

static void load_7(const unsigned char *block, unsigned texel, uint8_t colour[4])
{
    const unsigned mode = block[0] ? (unsigned)__builtin_ctz(block[0]) : 8;
    memset(colour, 0, 4);
    if (mode == 8) /* reserved */
        return;
    const struct mode_7 *m = &modes_7[mode];
    const struct parts_7 p = parts_of(m, mode);
    const unsigned partition = (unsigned)bits_at(block, p.partition, m->partition);
    const unsigned rotation = (unsigned)bits_at(block, p.rotation, m->rotation);
    const unsigned region = region_of(m->regions, partition, texel);
    const unsigned first = index_of(block, p.indices, m->index, m->regions, partition, texel);
    int weight[2] = {weight_of(m->index, first), 0};
    weight[1] = weight[0];
    if (m->second)
        weight[1] = weight_of(m->second, index_of(block, p.second, m->second, 1, 0, texel));
    const bool swapped = bits_at(block, p.selection, m->selection);
    for (unsigned i = 0; i < 4; i++) {
        const unsigned bits = i < RGB ? m->colour : m->alpha,
                       begin = p.endpoints + 2u * m->regions * m->colour * i + 2 * region * bits;
        int end[2];
        for (unsigned k = 0; k < 2; k++) {
            const unsigned parity = p.parities + (m->own_parity ? 2 * region + k : region);
            end[k] = endpoint_7(m, (unsigned)bits_at(block, begin + k * bits, bits), bits,
                                (unsigned)bits_at(block, parity, 1));
        }
        colour[i] = bits ? (uint8_t)between(end[0], end[1], weight[(i == 3) != swapped]) : 255;
    }
    if (rotation) {
        const uint8_t alpha = colour[3];
        colour[3] = colour[rotation - 1];
        colour[rotation - 1] = alpha;
    }
}

/* ---- BC6H ---- */

/* Components of the endpoints: 3 * endpoint + component; the partition. */
enum { R0, G0, B0, R1, G1, B1, R2, G2, B2, R3, G3, B3, D, WHERE };

/* Consecutive bits of a block: bits `from` to `to`, which may be below it, of a component. */
struct run {
    uint8_t what, from, to;
};
enum { RUNS = 28 };

static const struct mode_6 {
    uint8_t code, bits, delta[RGB]; /* bits of the first endpoint, and of the others; delta 0: as many */
    bool absolute;                  /* the others are no differences from the first */
    uint8_t regions;
    struct run runs[RUNS]; /* behind the mode; ends with one of the partition, or of no bits */
} modes_6[] = {
    /* clang-format off */
    {0x00, 10, {5, 5, 5}, false, 2, {{G2,4,4},{B2,4,4},{B3,4,4},{R0,0,9},{G0,0,9},{B0,0,9},{R1,0,4},{G3,4,4},{G2,0,3},
      {G1,0,4},{B3,0,0},{G3,0,3},{B1,0,4},{B3,1,1},{B2,0,3},{R2,0,4},{B3,2,2},{R3,0,4},{B3,3,3},{D,0,4}}},
    {0x01, 7, {6, 6, 6}, false, 2, {{G2,5,5},{G3,4,4},{G3,5,5},{R0,0,6},{B3,0,0},{B3,1,1},{B2,4,4},{G0,0,6},{B2,5,5},
      {B3,2,2},{G2,4,4},{B0,0,6},{B3,3,3},{B3,5,5},{B3,4,4},{R1,0,5},{G2,0,3},{G1,0,5},{G3,0,3},{B1,0,5},{B2,0,3},
      {R2,0,5},{R3,0,5},{D,0,4}}},
    {0x02, 11, {5, 4, 4}, false, 2, {{R0,0,9},{G0,0,9},{B0,0,9},{R1,0,4},{R0,10,10},{G2,0,3},{G1,0,3},{G0,10,10},
      {B3,0,0},{G3,0,3},{B1,0,3},{B0,10,10},{B3,1,1},{B2,0,3},{R2,0,4},{B3,2,2},{R3,0,4},{B3,3,3},{D,0,4}}},
    {0x06, 11, {4, 5, 4}, false, 2, {{R0,0,9},{G0,0,9},{B0,0,9},{R1,0,3},{R0,10,10},{G3,4,4},{G2,0,3},{G1,0,4},
      {G0,10,10},{G3,0,3},{B1,0,3},{B0,10,10},{B3,1,1},{B2,0,3},{R2,0,3},{B3,0,0},{B3,2,2},{R3,0,3},{G2,4,4},{B3,3,3},
      {D,0,4}}},
    {0x0a, 11, {4, 4, 5}, false, 2, {{R0,0,9},{G0,0,9},{B0,0,9},{R1,0,3},{R0,10,10},{B2,4,4},{G2,0,3},{G1,0,3},
      {G0,10,10},{B3,0,0},{G3,0,3},{B1,0,4},{B0,10,10},{B2,0,3},{R2,0,3},{B3,1,1},{B3,2,2},{R3,0,3},{B3,4,4},{B3,3,3},
      {D,0,4}}},
    {0x0e, 9, {5, 5, 5}, false, 2, {{R0,0,8},{B2,4,4},{G0,0,8},{G2,4,4},{B0,0,8},{B3,4,4},{R1,0,4},{G3,4,4},{G2,0,3},
      {G1,0,4},{B3,0,0},{G3,0,3},{B1,0,4},{B3,1,1},{B2,0,3},{R2,0,4},{B3,2,2},{R3,0,4},{B3,3,3},{D,0,4}}},
    {0x12, 8, {6, 5, 5}, false, 2, {{R0,0,7},{G3,4,4},{B2,4,4},{G0,0,7},{B3,2,2},{G2,4,4},{B0,0,7},{B3,3,3},{B3,4,4},
      {R1,0,5},{G2,0,3},{G1,0,4},{B3,0,0},{G3,0,3},{B1,0,4},{B3,1,1},{B2,0,3},{R2,0,5},{R3,0,5},{D,0,4}}},
    {0x16, 8, {5, 6, 5}, false, 2, {{R0,0,7},{B3,0,0},{B2,4,4},{G0,0,7},{G2,5,5},{G2,4,4},{B0,0,7},{G3,5,5},{B3,4,4},
      {R1,0,4},{G3,4,4},{G2,0,3},{G1,0,5},{G3,0,3},{B1,0,4},{B3,1,1},{B2,0,3},{R2,0,4},{B3,2,2},{R3,0,4},{B3,3,3},
      {D,0,4}}},
    {0x1a, 8, {5, 5, 6}, false, 2, {{R0,0,7},{B3,1,1},{B2,4,4},{G0,0,7},{B2,5,5},{G2,4,4},{B0,0,7},{B3,5,5},{B3,4,4},
      {R1,0,4},{G3,4,4},{G2,0,3},{G1,0,4},{B3,0,0},{G3,0,3},{B1,0,5},{B2,0,3},{R2,0,4},{B3,2,2},{R3,0,4},{B3,3,3},
      {D,0,4}}},
    {0x1e, 6, {6, 6, 6}, true, 2, {{R0,0,5},{G3,4,4},{B3,0,0},{B3,1,1},{B2,4,4},{G0,0,5},{G2,5,5},{B2,5,5},{B3,2,2},
      {G2,4,4},{B0,0,5},{G3,5,5},{B3,3,3},{B3,5,5},{B3,4,4},{R1,0,5},{G2,0,3},{G1,0,5},{G3,0,3},{B1,0,5},{B2,0,3},
      {R2,0,5},{R3,0,5},{D,0,4}}},
    {0x03, 10, {10, 10, 10}, true, 1, {{R0,0,9},{G0,0,9},{B0,0,9},{R1,0,9},{G1,0,9},{B1,0,9}}},
    {0x07, 11, {9, 9, 9}, false, 1, {{R0,0,9},{G0,0,9},{B0,0,9},{R1,0,8},{R0,10,10},{G1,0,8},{G0,10,10},{B1,0,8},
      {B0,10,10}}},
    {0x0b, 12, {8, 8, 8}, false, 1, {{R0,0,9},{G0,0,9},{B0,0,9},{R1,0,7},{R0,11,10},{G1,0,7},{G0,11,10},{B1,0,7},
      {B0,11,10}}},
    {0x0f, 16, {4, 4, 4}, false, 1, {{R0,0,9},{G0,0,9},{B0,0,9},{R1,0,3},{R0,15,10},{G1,0,3},{G0,15,10},{B1,0,3},
      {B0,15,10}}},
    /* clang-format on */
};

static const struct mode_6 *mode_6_of(const unsigned char *block, unsigned *bits)
{
    const unsigned code = block[0] & 31;
    *bits = (code & 3) < 2 ? 2 : 5;
    for (unsigned i = 0; i < sizeof modes_6 / sizeof *modes_6; i++)
        if (modes_6[i].code == (code & ((1u << *bits) - 1)))
            return &modes_6[i];
    return NULL;
}

/* Reads the endpoints and the partition; returns the place of the indices. */
static unsigned read_6(const struct mode_6 *m, const unsigned char *block, unsigned at, int field[WHERE])
{
    memset(field, 0, WHERE * sizeof *field);
    for (const struct run *r = m->runs; r < m->runs + RUNS && (r->what || r->to); r++) {
        const int step = r->from <= r->to ? 1 : -1;
        for (int bit = r->from;; bit += step) {
            field[r->what] |= (int)bits_at(block, at++, 1) << bit;
            if (bit == r->to)
                break;
        }
    }
    return at;
}

static int sign_extended(int value, unsigned bits)
{
    return (int)((uint32_t)value << (32 - bits)) >> (32 - bits);
}

/* Scales an endpoint to 16 bits, or with sign to 15. */
static int scaled_6(int value, unsigned bits, bool is_signed)
{
    const int magnitude = value < 0 ? -value : value,
              most = is_signed ? (1 << (bits - 1)) - 1 : (1 << bits) - 1;
    int result;
    if (bits >= (is_signed ? 16u : 15u))
        return value;
    if (!magnitude)
        return 0;
    if (magnitude >= most)
        result = is_signed ? 0x7fff : 0xffff;
    else if (is_signed)
        result = ((magnitude << 15) + 0x4000) >> (bits - 1);
    else
        result = ((magnitude << 16) + 0x8000) >> bits;
    return value < 0 ? -result : result;
}

/* The components as halves. */
static void load_6(const unsigned char *block, unsigned texel, bool is_signed, uint32_t colour[RGB])
{
    unsigned mode_bits;
    int field[WHERE];
    const struct mode_6 *m = mode_6_of(block, &mode_bits);
    memset(colour, 0, RGB * sizeof *colour);
    if (!m) /* reserved */
        return;
    const unsigned indices = read_6(m, block, mode_bits, field), index_bits = m->regions == 2 ? 3 : 4,
                   partition = (unsigned)field[D];
    const unsigned region = region_of(m->regions, partition, texel);
    const int weight =
        weight_of(index_bits, index_of(block, indices, index_bits, m->regions, partition, texel));
    for (unsigned i = 0; i < RGB; i++) {
        const int base = is_signed ? sign_extended(field[i], m->bits) : field[i];
        int end[2];
        for (unsigned k = 0; k < 2; k++) {
            int value = field[RGB * (2 * region + k) + i];
            if (2 * region + k == 0)
                value = base;
            else if (!m->absolute)
                value = (base + sign_extended(value, m->delta[i])) & ((1 << m->bits) - 1);
            if (is_signed)
                value = sign_extended(value, m->bits);
            end[k] = scaled_6(value, m->bits, is_signed);
        }
        const int value = between(end[0], end[1], weight);
        if (!is_signed)
            colour[i] = (uint32_t)(value * 31 >> 6);
        else
            colour[i] = value < 0 ? 0x8000u | (uint32_t)(-value * 31 >> 5) : (uint32_t)(value * 31 >> 5);
    }
}

/* ---- texels ---- */

static void load_bytes(const struct wmi_format *format, const uint8_t colour[4], bool half, uint32_t value[4])
{
    for (unsigned i = 0; i < 4; i++)
        value[i] = format->number == WMI_NUMBER_SRGB && i < RGB ? wmi_float_of_srgb(colour[i] / 255.0, half)
                                                                : wmi_float_of_ratio(colour[i], 255, half);
}

void wmi_block_load(const struct wmi_format *format, const unsigned char *block, unsigned x, unsigned y,
                    bool half, uint32_t value[4])
{
    enum { HALF_BLOCK = 8 };
    const unsigned texel = WMI_BLOCK_SIDE * y + x;
    const bool is_signed = format->number == WMI_NUMBER_SNORM;
    uint8_t colour[4];
    memset(value, 0, 4 * sizeof *value);
    switch ((enum wmi_block_format)format->layout->block) {
    case WMI_BLOCK_BC1:
        load_colour(format, block, texel, true, half, value);
        break;
    case WMI_BLOCK_BC2:
        load_colour(format, block + HALF_BLOCK, texel, false, half, value);
        value[3] = wmi_float_of_ratio((int64_t)bits_at(block, 4 * texel, 4), 15, half);
        break;
    case WMI_BLOCK_BC3:
        load_colour(format, block + HALF_BLOCK, texel, false, half, value);
        value[3] = load_single(block, texel, false, half);
        break;
    case WMI_BLOCK_BC4:
        value[0] = load_single(block, texel, is_signed, half);
        break;
    case WMI_BLOCK_BC5:
        value[0] = load_single(block, texel, is_signed, half);
        value[1] = load_single(block + HALF_BLOCK, texel, is_signed, half);
        break;
    case WMI_BLOCK_BC6H_UF16:
    case WMI_BLOCK_BC6H_SF16:
        load_6(block, texel, format->layout->block == WMI_BLOCK_BC6H_SF16, value);
        for (unsigned i = 0; i < RGB && !half; i++)
            value[i] = wmi_float_of_half(value[i]);
        break;
    case WMI_BLOCK_BC7:
        load_7(block, texel, colour);
        load_bytes(format, colour, half, value);
        break;
    case WMI_BLOCK_NONE:
    case WMI_BLOCK_BC6H:
        break;
    }
}
