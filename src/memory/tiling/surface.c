/* SPDX-License-Identifier: MIT */
/* Places the levels and slices of linear surfaces and of those in swizzle modes (gfx9 to gfx12).
 *
 * A block of 256 bytes to 256 KB holds the elements that have the same upper coordinates, in the order of its
 * equation. gfx10 and later: each layer (a slice, or as many as a block is deep) is a chain of levels, the
 * smallest first; levels that fit into one block together, the tail, share the first one. gfx9: the levels
 * of a layer are one arrangement of blocks with a common pitch, where level 1 lies beside or below level 0.
 *
 * Source: AMD's addrlib. gfx10 to gfx12: PAL (c5e80007), Gfx10Lib and Gfx11Lib (ComputeSurfaceInfoTiled,
 * GetMaxNumMipsInTail, HwlGetMipInTailOffset), Gfx12Lib, and for linear ones HwlComputeSurfaceInfoLinear;
 * gfx9: ROCR-Runtime (c7785a6d), Gfx9Lib, GetMipChainInfo and GetMipStartPos. ROCR's older copy differs from
 * PAL in the tail of 2-byte Z modes of gfx11 and of 3D modes of gfx12; this is PAL's. */
#include "memory/tiling/tiling.h"

#include <string.h>

enum { X, Y, Z };

static uint32_t halved(uint32_t size, uint32_t level) /* rounding up */
{
    const uint64_t rounded = ((uint64_t)size + (1ULL << level) - 1) >> level;
    return rounded ? (uint32_t)rounded : 1;
}

static uint64_t align(uint64_t value, uint64_t to) /* a power of two */
{
    return (value + to - 1) & ~(to - 1);
}

static uint64_t blocks(uint64_t elements, unsigned log2)
{
    return (elements + (1ULL << log2) - 1) >> log2;
}

/* ---- linear ---- */

static void place_linear_chain(const struct wmi_tiling_rules *rules, struct wmi_surface *s)
{
    const struct wmi_surface_shape *shape = &s->shape;
    const bool many = shape->levels > 1 || shape->depth > 1;
    const uint64_t step = many && rules->level_bytes ? rules->level_bytes : rules->pitch_bytes;
    uint64_t offset = 0;
    for (unsigned i = shape->levels; i-- > 0;) {
        struct wmi_surface_level *level = &s->level[i];
        const uint64_t row = (uint64_t)level->width * shape->bytes;
        level->pitch = shape->pitch ? (uint64_t)shape->pitch * shape->bytes : align(row, rules->pitch_bytes);
        level->offset = offset;
        offset += (shape->pitch ? level->pitch : align(row, step)) * level->height;
    }
    s->layer = offset;
}

static void place_linear_beside(const struct wmi_tiling_rules *rules, struct wmi_surface *s)
{
    const struct wmi_surface_shape *shape = &s->shape;
    const uint64_t row = shape->pitch ? (uint64_t)shape->pitch * shape->bytes
                                      : align((uint64_t)shape->width * shape->bytes, rules->pitch_bytes);
    uint64_t rows = 0;
    for (unsigned i = 0; i < shape->levels; i++) {
        s->level[i].pitch = row;
        s->level[i].offset = rows * row;
        rows += s->level[i].height;
    }
    s->layer = rows * row;
}

/* gfx6 to gfx8: unless the pitch is given, rows are padded until a slice has a multiple of 64 elements and of
 * 256 bytes (SiLib::HwlGetSizeAdjustmentLinear). */
static void place_linear_slice(struct wmi_surface *s)
{
    const struct wmi_surface_shape *shape = &s->shape;
    const uint64_t step = shape->bytes < 8 ? 64u / shape->bytes : 8;
    const uint64_t slice_step = shape->bytes < 4 ? 256u / shape->bytes : 64;
    uint64_t pitch = shape->pitch ? shape->pitch : (shape->width + step - 1) / step * step;
    while (!shape->pitch && pitch * shape->height % slice_step)
        pitch += step;
    s->level[0].pitch = pitch * shape->bytes;
    s->layer = s->level[0].pitch * shape->height;
}

static const char *place_linear(const struct wmi_tiling_rules *rules, struct wmi_surface *s)
{
    s->kind = WMI_SURFACE_LINEAR;
    s->alignment = 256;
    if (rules->chain == WMI_CHAIN_UNKNOWN && s->shape.levels > 1)
        return "a linear image of several levels, whose places wavemem does not know on this generation";
    if (s->shape.samples > 1)
        return "a linear multisampled image; there are none";
    if (rules->chain == WMI_CHAIN_UNKNOWN)
        place_linear_slice(s);
    else if (rules->chain == WMI_CHAIN_BESIDE)
        place_linear_beside(rules, s);
    else
        place_linear_chain(rules, s);
    s->bytes = s->layer * s->shape.depth;
    return NULL;
}

/* ---- equations ---- */

/* Fills a table with the sums of `bits` bits of a coordinate, from bit `first` on. */
static void fill(uint32_t *table, unsigned bits, const uint32_t *contribution)
{
    table[0] = 0;
    for (unsigned i = 0; i < bits; i++)
        for (unsigned k = 0; k < 1u << i; k++)
            table[1u << i | k] = table[k] ^ contribution[i];
}

static void fill_tables(struct wmi_surface *s)
{
    enum { SAMPLE = 3 };
    uint32_t contribution[4][16] = {{0}};
    for (unsigned bit = 0; bit < s->equation->bits; bit++) {
        const struct wmi_term t = wmi_equation_term(s->equation, bit);
        const uint16_t masks[4] = {t.x, t.y, t.z, t.sample};
        for (unsigned c = 0; c < 4; c++)
            for (unsigned left = masks[c]; left; left &= left - 1)
                contribution[c][__builtin_ctz(left)] |= 1u << bit;
    }
    fill(s->x_low, 6, contribution[X]);
    fill(s->x_high, 5, contribution[X] + 6);
    fill(s->y_low, 6, contribution[Y]);
    fill(s->y_high, 5, contribution[Y] + 6);
    fill(s->z_low, 4, contribution[Z]);
    fill(s->z_high, 4, contribution[Z] + 4);
    fill(s->of_sample, 3, contribution[SAMPLE]);
}

/* The largest level that may be in the tail. */
struct tail {
    uint32_t width, height, depth; /* elements */
    uint32_t levels;               /* at most */
};

static bool is_thick(const struct wmi_equation *e)
{
    return e->block[Z];
}

static struct tail tail_of(const struct wmi_equation *e)
{
    const unsigned bits = e->bits, thick_bits = bits - (bits - 8) / 3;
    const unsigned of_levels = is_thick(e) ? thick_bits : bits;
    struct tail tail = {1u << e->block[X], 1u << e->block[Y], 1u << e->block[Z],
                        of_levels <= 11 ? 1 + (1u << of_levels >> 9) : of_levels - 4};
    if (!is_thick(e) || bits % 3 == 1)
        tail.width /= 2;
    else if (bits % 3 == 0)
        tail.height /= 2;
    else
        tail.depth /= 2;
    return tail;
}

/* ---- gfx10 and later ---- */

/* Sizes, in elements, of what 256 bytes hold, by the size of an element. */
static const uint8_t units_thin[5][2] = {{16, 16}, {16, 8}, {8, 8}, {8, 4}, {4, 4}};
static const uint8_t units_thick[5][2] = {{8, 4}, {4, 4}, {4, 4}, {4, 2}, {2, 2}};

/* Every other bit of `value`, from bit `first` on. */
static uint32_t packed(uint32_t value, unsigned first)
{
    uint32_t result = 0;
    for (unsigned i = 0; first + 2 * i < 32; i++)
        result |= (value >> (first + 2 * i) & 1) << i;
    return result;
}

static void place_in_tail(const struct wmi_equation *e, const struct tail *tail, unsigned index,
                          struct wmi_surface_level *level)
{
    const unsigned k = tail->levels - 1 - index;
    const uint32_t offset = k > 6 ? 16u << k : 256 * k;
    const uint8_t *unit = is_thick(e) ? units_thick[e->element] : units_thin[e->element];
    uint32_t x = packed(offset, 9), y = packed(offset, 8);
    if (e->bits % 2) {
        const uint32_t other = x;
        x = y;
        y = other;
        if (e->element % 2) {
            y = 2 * y + (x & 1);
            x /= 2;
        }
    }
    level->x = x * unit[X];
    level->y = y * unit[Y];
    level->tail = true;
}

static unsigned first_in_tail(const struct wmi_tiling_rules *rules, const struct wmi_surface *s,
                              const struct tail *tail)
{
    const struct wmi_equation *e = s->equation;
    const bool z = rules->small_z_tail && strstr(e->name, "_Z") != NULL;
    const uint32_t width = z && e->element <= 1 ? tail->width / 2 : tail->width;
    const uint32_t height = z && e->element == 0 ? tail->height / 2 : tail->height;
    unsigned first = 0;
    if (s->shape.levels == 1 || e->bits == 8)
        return s->shape.levels;
    while (first < s->shape.levels && (s->level[first].width > width || s->level[first].height > height ||
                                       s->shape.levels - first > tail->levels))
        first++;
    return first;
}

static void place_chain(const struct wmi_tiling_rules *rules, struct wmi_surface *s)
{
    const struct wmi_equation *e = s->equation;
    const struct tail tail = tail_of(e);
    const unsigned levels = s->shape.levels, first = first_in_tail(rules, s, &tail);
    uint64_t offset = first < levels ? 1ULL << e->bits : 0;
    for (unsigned i = first; i < levels; i++)
        place_in_tail(e, &tail, i - first, &s->level[i]);
    for (unsigned i = first; i-- > 0;) {
        struct wmi_surface_level *level = &s->level[i];
        level->pitch = blocks(i == 0 && s->shape.pitch ? s->shape.pitch : level->width, e->block[X]);
        level->offset = offset;
        offset += level->pitch * blocks(level->height, e->block[Y]) << e->bits;
    }
    s->layer = offset;
    s->bytes = s->layer * blocks(s->shape.depth, e->block[Z]);
}

/* ---- gfx9 ---- */

/* The tail's places in a block of 1 MB, in units of 256 bytes. A smaller block begins further on. */
static const uint16_t tail_units[] = {2048, 1024, 512, 256, 128, 64, 32, 16, 8, 6, 5, 4, 3, 2, 1, 0};

static unsigned first_in_tail_beside(const struct wmi_surface *s)
{
    const struct wmi_equation *e = s->equation;
    const struct tail tail = tail_of(e);
    const uint32_t size[3] = {s->shape.width, s->shape.height, s->shape.depth};
    for (unsigned i = 0; i < s->shape.levels; i++) {
        uint32_t own[3];
        for (unsigned axis = 0; axis < 3; axis++) {
            const uint32_t padded = (uint32_t)align(size[axis], 1ULL << e->block[axis]) >> i;
            own[axis] = !i ? size[axis] : padded ? padded : 1;
        }
        if (own[X] <= tail.width && own[Y] <= tail.height && (!is_thick(e) || own[Z] <= tail.depth))
            return i;
    }
    return s->shape.levels;
}

/* Whether what is left of a level's blocks ends the chain: the next levels are in the tail. */
static bool ends_chain(const struct wmi_equation *e, const uint64_t b[3])
{
    static const uint8_t limits[3][3] = {{2, 1, 2}, {1, 2, 2}, {2, 2, 1}};
    if (!is_thick(e))
        return b[X] == 1 && b[Y] <= 2;
    const uint8_t *limit = limits[e->bits % 3];
    return b[X] <= limit[X] && b[Y] <= limit[Y] && b[Z] <= limit[Z];
}

static const char *place_beside(struct wmi_surface *s)
{
    const struct wmi_equation *e = s->equation;
    const unsigned levels = s->shape.levels, first = first_in_tail_beside(s);
    const unsigned end = first < levels - 1 ? first : levels - 1;
    const uint64_t px = blocks(levels == 1 && s->shape.pitch ? s->shape.pitch : s->shape.width, e->block[X]),
                   py = blocks(s->shape.height, e->block[Y]),
                   pz = is_thick(e) ? blocks(s->shape.depth, e->block[Z]) : 1;
    const bool thick = is_thick(e);
    const unsigned major = px < py && (!thick || py >= pz) ? Y : !thick || px >= pz ? X : Z;
    uint64_t pitch = px, rows = py, at[3] = {0}, b[3] = {px, py, pz}, layers = pz;
    if (levels > 1 && first && end) {
        uint64_t beside = major == Y ? (px + 1) / 2 : (py + 1) / 2;
        if (beside == 1 && end > 2)
            beside = 2;
        *(major == Y ? &pitch : &rows) += beside;
    }
    s->layer = pitch * rows << e->bits;
    for (unsigned i = 0, tail = first ? levels : 0; i < levels; i++) {
        struct wmi_surface_level *level = &s->level[i];
        if (i && i < tail) {
            const unsigned axis = i == 1 || i == 3 ? (major == Y ? X : Y) : major;
            at[axis] += b[axis];
            if (e->bits > 8 && ends_chain(e, b))
                tail = i;
            for (unsigned k = 0; k < 3; k++)
                b[k] = (b[k] + 1) / 2;
        }
        level->pitch = pitch;
        level->offset = ((at[Z] * rows + at[Y]) * pitch + at[X]) << e->bits;
        layers = at[Z] + b[Z] > layers ? at[Z] + b[Z] : layers;
        if (levels > 1 && i >= tail) {
            const unsigned place = i - tail + 20 - e->bits;
            if (place >= sizeof tail_units / sizeof *tail_units)
                return "an image of more levels than there can be";
            level->exclusive = 256u * tail_units[place];
            level->tail = true;
        }
    }
    s->bytes = s->layer * (thick ? layers : s->shape.depth);
    return NULL;
}

/* ---- placing ---- */

static const char *place_blocks(const struct wmi_tiling *tiling, struct wmi_surface *s)
{
    const struct wmi_surface_shape *shape = &s->shape;
    const struct wmi_tiling_rules *rules = wmi_tiling_rules(tiling);
    if (tiling->product < 0)
        return "an image tiled by a product whose equations wavemem does not know";
    if (shape->bytes & (shape->bytes - 1))
        return "an image tiled with elements of 12 bytes, which wavemem does not place";
    s->kind = WMI_SURFACE_BLOCKS;
    s->equation =
        wmi_equation_find(tiling, shape->mode, shape->dimensions, (unsigned)__builtin_ctz(shape->bytes),
                          (unsigned)__builtin_ctz(shape->samples));
    if (!s->equation)
        return "an image tiled in a mode that this product does not have for such elements";
    if (shape->samples > 1 && shape->levels > 1)
        return "a multisampled image of several levels; there are none";
    if (s->equation->bits == 8 && shape->levels > 1 && rules->chain == WMI_CHAIN_BESIDE)
        return "an image tiled in blocks of 256 bytes with several levels, which wavemem does not place";
    const char *reason = NULL;
    if (rules->chain == WMI_CHAIN_BESIDE)
        reason = place_beside(s);
    else
        place_chain(rules, s);
    if (reason)
        return reason;
    const uint32_t exclusive = (shape->pipe_bank_xor & s->equation->xor_mask) << 8;
    for (unsigned i = 0; i < shape->levels; i++)
        s->level[i].exclusive ^= exclusive;
    fill_tables(s);
    s->alignment = 1u << s->equation->bits;
    return NULL;
}

const char *wmi_surface_place(const struct wmi_tiling *tiling, const struct wmi_surface_shape *shape,
                              struct wmi_surface *s)
{
    memset(s, 0, sizeof *s);
    s->shape = *shape;
    if (!shape->levels || shape->levels > WMI_SURFACE_LEVELS)
        return "an image of more levels than there can be";
    if (!shape->bytes || shape->bytes > 16 || !shape->samples || shape->samples & (shape->samples - 1))
        return "an image whose elements or samples have no such number";
    for (unsigned i = 0; i < shape->levels; i++) {
        s->level[i].width = halved(shape->width, i);
        s->level[i].height = halved(shape->height, i);
    }
    if (shape->mode == wmi_tiling_linear(tiling))
        return place_linear(wmi_tiling_rules(tiling), s);
    if (wmi_tiling_indexed(tiling))
        return wmi_tile_place(tiling->tables, s);
    return place_blocks(tiling, s);
}

uint32_t wmi_surface_xor_bits(const struct wmi_surface *s)
{
    if (s->kind == WMI_SURFACE_MACRO)
        return (s->tile.pipes * s->tile.banks - 1u) << 8;
    return s->kind == WMI_SURFACE_BLOCKS ? (uint32_t)s->equation->xor_mask << 8 : 0;
}

uint64_t wmi_surface_offset(const struct wmi_surface *s, uint32_t x, uint32_t y, uint32_t z, uint32_t sample,
                            uint32_t level_number)
{
    const struct wmi_surface_level *level = &s->level[level_number];
    if (s->kind == WMI_SURFACE_LINEAR)
        return z * s->layer + level->offset + y * level->pitch + (uint64_t)x * s->shape.bytes;
    if (s->kind != WMI_SURFACE_BLOCKS)
        return wmi_tile_offset(s, x, y, z, sample);
    const struct wmi_equation *e = s->equation;
    const uint64_t block = (y >> e->block[Y]) * level->pitch + (x >> e->block[X]);
    const uint32_t within = wmi_surface_in_block(s, x + level->x, y + level->y, z, sample);
    return (z >> e->block[Z]) * s->layer + level->offset + (block << e->bits) + (within ^ level->exclusive);
}
