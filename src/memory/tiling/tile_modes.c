/* SPDX-License-Identifier: MIT */
/* Tile modes of gfx6 to gfx8: a T# names an entry of GB_TILE_MODE, which drivers set for each chip.
 *
 * A micro tile has 8 x 8 x T elements. In 1D modes, micro tiles lie row by row. In 2D and 3D modes, a macro
 * tile distributes micro tiles over pipes and banks; slices, and parts of a micro tile that is larger than
 * the tile split, begin at other banks and pipes.
 *
 * Source: AMD's addrlib in ROCR-Runtime (c7785a6d), SiLib, CiLib and EgBasedLib (ComputeSurfaceAddrFromCoord-
 * MacroTiled, ComputeBankFromCoord, ComputePipeFromCoord, HwlComputeMacroModeIndex). */
#include "memory/tiling/tiling.h"

#include "memory/tiling/tile_tables.h"

#include <stdio.h>
#include <string.h>

enum { SIDE = 8, SLICE_ELEMENTS = SIDE * SIDE, INTERLEAVE = 256, DRAM_ROW = 4096 };

/* What of GB_TILE_MODE's ARRAY_MODE counts. Those of PRT_2D and PRT_3D, which no table of ours has, are left
 * out: how they rotate was not found. */
static const struct array_mode {
    const char *name;
    uint8_t thickness;       /* 0: linear, or unknown */
    bool macro, prt, volume; /* volume: slices change the pipe, too */
} array_modes[16] = {
    [0] = {"LINEAR_GENERAL"},
    [1] = {"LINEAR_ALIGNED"},
    [2] = {"1D_TILED_THIN1", 1},
    [3] = {"1D_TILED_THICK", 4},
    [4] = {"2D_TILED_THIN1", 1, true},
    [5] = {"PRT_TILED_THIN1", 1, true, true},
    [7] = {"2D_TILED_THICK", 4, true},
    [8] = {"2D_TILED_XTHICK", 8, true},
    [9] = {"PRT_TILED_THICK", 4, true, true},
    [12] = {"3D_TILED_THIN1", 1, true, false, true},
    [13] = {"3D_TILED_THICK", 4, true, false, true},
    [14] = {"3D_TILED_XTHICK", 8, true, false, true},
};

/* MICRO_TILE_MODE_NEW */
enum order { DISPLAY, THIN, DEPTH, ROTATED, THICK, ORDERS };

static const char *const order_names[ORDERS] = {"display", "thin", "depth", "rotated", "thick"};

/* Elements in a micro tile: bits of the number of an element, lowest first. */
#define AXIS(c, n) ((c) << 4 | (n))
#define X(n)       AXIS(1, n)
#define Y(n)       AXIS(2, n)
#define Z(n)       AXIS(3, n)

#define ANY_SIZE(...)                                                                                        \
    {__VA_ARGS__}, {__VA_ARGS__}, {__VA_ARGS__}, {__VA_ARGS__},                                              \
    {                                                                                                        \
        __VA_ARGS__                                                                                          \
    }

/* By order and log2 of the bytes of an element. The layers of a thick tile in another order than THICK follow
 * one another. There is no rotated order for elements of 16 bytes. */
static const uint8_t orders[ORDERS][5][9] = {
    [DISPLAY] = {{X(0), X(1), X(2), Y(1), Y(0), Y(2), Z(0), Z(1), Z(2)},
                 {X(0), X(1), X(2), Y(0), Y(1), Y(2), Z(0), Z(1), Z(2)},
                 {X(0), X(1), Y(0), X(2), Y(1), Y(2), Z(0), Z(1), Z(2)},
                 {X(0), Y(0), X(1), X(2), Y(1), Y(2), Z(0), Z(1), Z(2)},
                 {Y(0), X(0), X(1), X(2), Y(1), Y(2), Z(0), Z(1), Z(2)}},
    [THIN] = {ANY_SIZE(X(0), Y(0), X(1), Y(1), X(2), Y(2), Z(0), Z(1), Z(2))},
    [DEPTH] = {ANY_SIZE(X(0), Y(0), X(1), Y(1), X(2), Y(2), Z(0), Z(1), Z(2))},
    [ROTATED] = {{Y(0), Y(1), Y(2), X(1), X(0), X(2), Z(0), Z(1), Z(2)},
                 {Y(0), Y(1), Y(2), X(0), X(1), X(2), Z(0), Z(1), Z(2)},
                 {Y(0), Y(1), X(0), Y(2), X(1), X(2), Z(0), Z(1), Z(2)},
                 {Y(0), X(0), Y(1), X(1), X(2), Y(2), Z(0), Z(1), Z(2)}},
    [THICK] = {{X(0), Y(0), X(1), Y(1), Z(0), Z(1), X(2), Y(2), Z(2)},
               {X(0), Y(0), X(1), Y(1), Z(0), Z(1), X(2), Y(2), Z(2)},
               {X(0), Y(0), X(1), Z(0), Y(1), Z(1), X(2), Y(2), Z(2)},
               {X(0), Y(0), Z(0), X(1), Y(1), Z(1), X(2), Y(2), Z(2)},
               {X(0), Y(0), Z(0), X(1), Y(1), Z(1), X(2), Y(2), Z(2)}},
};

/* The bits of the pipe, by PIPE_CONFIG: masks of x and y. */
static const struct {
    uint8_t bits;
    struct {
        uint8_t x, y;
    } term[4];
} pipes_of[] = {
    [0] = {1, {{1 << 3, 1 << 3}}},
    [4] = {2, {{1 << 4, 1 << 3}, {1 << 3, 1 << 4}}},
    [5] = {2, {{1 << 3 | 1 << 4, 1 << 3}, {1 << 4, 1 << 4}}},
    [6] = {2, {{1 << 3 | 1 << 4, 1 << 3}, {1 << 4, 1 << 5}}},
    [7] = {2, {{1 << 3 | 1 << 5, 1 << 3}, {1 << 5, 1 << 5}}},
    [8] = {3, {{1 << 4 | 1 << 5, 1 << 3}, {1 << 3, 1 << 5}, {0, 0}}},
    [9] = {3, {{1 << 4 | 1 << 5, 1 << 3}, {1 << 3, 1 << 4}, {1 << 4, 1 << 5}}},
    [10] = {3, {{1 << 4 | 1 << 5, 1 << 3}, {1 << 3, 1 << 4}, {1 << 5, 1 << 5}}},
    [11] = {3, {{1 << 3 | 1 << 4, 1 << 3}, {1 << 5, 1 << 4}, {1 << 4, 1 << 5}}},
    [12] = {3, {{1 << 3 | 1 << 4, 1 << 3}, {1 << 4, 1 << 4}, {1 << 5, 1 << 5}}},
    [13] = {3, {{1 << 3 | 1 << 4, 1 << 3}, {1 << 4, 1 << 6}, {1 << 5, 1 << 5}}},
    [14] = {3, {{1 << 3 | 1 << 5, 1 << 3}, {1 << 6, 1 << 5}, {1 << 5, 1 << 6}}},
    [16] = {4, {{1 << 4, 1 << 3}, {1 << 3, 1 << 4}, {1 << 5, 1 << 6}, {1 << 6, 1 << 5}}},
    [17] = {4, {{1 << 3 | 1 << 4, 1 << 3}, {1 << 4, 1 << 4}, {1 << 5, 1 << 6}, {1 << 6, 1 << 5}}},
};

/* The bits of the bank, by log2 of their number: masks of the tile's coordinates. */
static const struct {
    uint8_t x, y;
} banks_of[5][4] = {
    [1] = {{1 << 0, 1 << 0}},
    [2] = {{1 << 0, 1 << 1}, {1 << 1, 1 << 0}},
    [3] = {{1 << 0, 1 << 2}, {1 << 1, 1 << 1 | 1 << 2}, {1 << 2, 1 << 0}},
    [4] = {{1 << 0, 1 << 3}, {1 << 1, 1 << 2 | 1 << 3}, {1 << 2, 1 << 1}, {1 << 3, 1 << 0}},
};

static unsigned log2_of(unsigned n)
{
    return 31u - (unsigned)__builtin_clz(n | 1);
}

/* ---- fields of the registers ---- */

static const struct array_mode *array_of(uint32_t tile_mode)
{
    return &array_modes[tile_mode >> 2 & 15];
}

/* MICRO_TILE_MODE of gfx6, and its successor. */
static unsigned order_of(const struct wmi_tile_tables *tables, uint32_t tile_mode)
{
    return tables->has_banks ? tile_mode & 3 : tile_mode >> 22 & 7;
}

void wmi_tile_mode_name(const struct wmi_tile_tables *tables, unsigned index, char name[WMI_TILING_NAME])
{
    name[0] = '\0';
    if (!tables || index >= WMI_TILE_MODES || !tables->tile[index])
        return;
    const unsigned order = order_of(tables, tables->tile[index]);
    const struct array_mode *array = array_of(tables->tile[index]);
    if (!array->thickness)
        snprintf(name, WMI_TILING_NAME, "%s", array->name ? array->name : "");
    else if (order < ORDERS)
        snprintf(name, WMI_TILING_NAME, "%s %s", array->name, order_names[order]);
}

/* ---- placing ---- */

static uint64_t align(uint64_t value, uint64_t to)
{
    return (value + to - 1) / to * to;
}

static const char *place_micro(struct wmi_surface *s, uint64_t pitch)
{
    const unsigned thickness = s->tile.thickness;
    const uint64_t element = (uint64_t)s->shape.bytes * s->shape.samples * thickness;
    s->kind = WMI_SURFACE_MICRO;
    s->alignment = INTERLEAVE;
    s->padded_height = (uint32_t)align(s->shape.height, SIDE);
    while (pitch * s->padded_height * element % INTERLEAVE)
        pitch += SIDE;
    /* A depth surface has the pitch of its stencil, of one byte per element. Whether it has a stencil is not
     * known here; one without has its pitch in the T#. Source: SiLib, HwlGetSizeAdjustmentMicroTiled. */
    while (s->tile.order == DEPTH && !s->shape.pitch && pitch * s->padded_height % INTERLEAVE)
        pitch += SIDE;
    s->level[0].pitch = pitch;
    s->layer = pitch * s->padded_height * element;
    return NULL;
}

/* How much of a micro tile is together, and the entry of GB_MACROTILE_MODE for it. */
static void split_tile(const struct wmi_tile_tables *tables, uint32_t tile_mode, struct wmi_surface *s)
{
    const uint32_t slice = SLICE_ELEMENTS * s->tile.thickness * s->shape.bytes;
    uint32_t split = 64u << (tile_mode >> 11 & 7);
    if (s->tile.order != DEPTH && !tables->has_banks) {
        split = (1u << (tile_mode >> 25 & 3)) * slice;
        split = split < INTERLEAVE ? INTERLEAVE : split;
    }
    split = split < DRAM_ROW ? split : DRAM_ROW;
    const uint32_t together = slice * s->shape.samples < split ? slice * s->shape.samples : split;
    s->tile.split = split;
    s->tile.macro_index = (uint8_t)(log2_of((together < 64 ? 64 : together) / 64) +
                                    (array_of(tile_mode)->prt ? WMI_MACRO_MODES / 2 : 0));
}

/* What a mode says may be too small for small elements: a bank's part of a macro tile is a whole piece of a
 * channel at least. Source: EgBasedLib, ComputeSurfaceAlignmentsMacroTiled. */
static void align_banks(struct wmi_surface *s)
{
    struct wmi_tile *t = &s->tile;
    const uint32_t whole = SLICE_ELEMENTS * t->thickness * s->shape.bytes * s->shape.samples,
                   tile = whole < t->split ? whole : t->split;
    const uint32_t height = INTERLEAVE / (tile * t->bank_width),
                   aspect = INTERLEAVE / (tile * t->pipes * t->bank_width);
    if (height > t->bank_height)
        t->bank_height = (uint8_t)height;
    if (s->shape.samples == 1 && aspect > t->aspect)
        t->aspect = (uint8_t)aspect;
}

static const char *place_macro(const struct wmi_tile_tables *tables, uint32_t tile_mode,
                               struct wmi_surface *s, uint64_t pitch)
{
    struct wmi_tile *t = &s->tile;
    t->pipe_config = tile_mode >> 6 & 31;
    if (t->pipe_config >= sizeof pipes_of / sizeof *pipes_of || !pipes_of[t->pipe_config].bits)
        return "an image tiled with a PIPE_CONFIG that does not exist";
    split_tile(tables, tile_mode, s);
    const uint32_t macro = tables->has_banks ? tile_mode >> 14 : tables->macro[t->macro_index];
    t->pipes = (uint8_t)(1u << pipes_of[t->pipe_config].bits);
    t->bank_width = (uint8_t)(1u << (macro & 3));
    t->bank_height = (uint8_t)(1u << (macro >> 2 & 3));
    t->aspect = (uint8_t)(1u << (macro >> 4 & 3));
    t->banks = (uint8_t)(2u << (macro >> 6 & 3));
    align_banks(s);
    if (t->aspect > t->banks * t->bank_height)
        return "an image tiled with a macro tile that does not exist";
    t->macro_width = (uint32_t)SIDE * t->bank_width * t->pipes * t->aspect;
    t->macro_height = (uint32_t)SIDE * t->bank_height * t->banks / t->aspect;
    s->kind = WMI_SURFACE_MACRO;
    s->padded_height = (uint32_t)align(s->shape.height, t->macro_height);
    s->level[0].pitch = align(pitch, t->macro_width);
    s->layer = s->level[0].pitch * s->padded_height * s->shape.bytes * s->shape.samples * t->thickness;
    s->alignment = (uint32_t)t->pipes * t->banks * INTERLEAVE;
    return NULL;
}

const char *wmi_tile_place(const struct wmi_tile_tables *tables, struct wmi_surface *s)
{
    const struct wmi_surface_shape *shape = &s->shape;
    if (!tables)
        return "an image tiled by a product whose tables of tile modes wavemem does not know";
    const uint32_t tile_mode = shape->mode < WMI_TILE_MODES ? tables->tile[shape->mode] : 0;
    const struct array_mode *array = array_of(tile_mode);
    if (!tile_mode || !array->thickness || order_of(tables, tile_mode) >= ORDERS)
        return "an image tiled by an entry that the tables of this product do not have";
    if (tables->has_banks && array->thickness > 1)
        return "an image with thick tiles, whose order wavemem does not know on gfx6";
    if (shape->levels > 1)
        return "an image tiled with several levels, whose places wavemem does not know on this generation";
    if (shape->bytes & (shape->bytes - 1))
        return "an image tiled with elements of 12 bytes, which wavemem does not place";
    s->tile = (struct wmi_tile){.order = (uint8_t)order_of(tables, tile_mode),
                                .array = (uint8_t)(array - array_modes),
                                .thickness = array->thickness};
    if (s->tile.order == ROTATED && shape->bytes == 16)
        return "an image tiled in the rotated order with elements of 16 bytes; there are none";
    const uint64_t pitch = align(shape->pitch ? shape->pitch : shape->width, SIDE);
    const char *reason = array->macro ? place_macro(tables, tile_mode, s, pitch) : place_micro(s, pitch);
    s->bytes = s->layer * ((shape->depth + array->thickness - 1) / array->thickness);
    return reason;
}

/* ---- addresses ---- */

/* The number of an element in its micro tile. */
static uint32_t element_in_tile(const struct wmi_surface *s, uint32_t x, uint32_t y, uint32_t z)
{
    const uint32_t coordinate[4] = {0, x, y, z % s->tile.thickness};
    const uint8_t *bits = orders[s->tile.order][log2_of(s->shape.bytes)];
    uint32_t number = 0;
    for (unsigned i = 0; i < 9; i++)
        number |= (coordinate[bits[i] >> 4] >> (bits[i] & 15) & 1) << i;
    return number;
}

static unsigned parity(uint32_t bits)
{
    return (unsigned)__builtin_parity(bits);
}

/* Bytes from the start of a micro tile to an element. */
static uint32_t offset_in_tile(const struct wmi_surface *s, uint32_t x, uint32_t y, uint32_t z,
                               uint32_t sample)
{
    const uint32_t number = element_in_tile(s, x, y, z), bytes = s->shape.bytes;
    if (s->tile.order == DEPTH)
        return (number * s->shape.samples + sample) * bytes;
    return (sample * SLICE_ELEMENTS * s->tile.thickness + number) * bytes;
}

static uint64_t macro_offset(const struct wmi_surface *s, uint32_t x, uint32_t y, uint32_t z, uint32_t sample)
{
    const struct wmi_tile *t = &s->tile;
    const struct array_mode *array = &array_modes[t->array];
    const uint32_t slice = z / t->thickness;
    const uint32_t whole = SLICE_ELEMENTS * t->thickness * s->shape.bytes * s->shape.samples;
    uint32_t tile = whole, within = offset_in_tile(s, x, y, z, sample), part = 0, parts = 1;
    if (whole > t->split && t->thickness == 1) {
        parts = whole / t->split;
        part = within / t->split;
        within %= t->split;
        tile = t->split;
    }
    const uint64_t macro_row = s->level[0].pitch / t->macro_width;
    const uint64_t macro_bytes = (uint64_t)tile * t->bank_width * t->bank_height;
    const uint64_t macro = y / t->macro_height * macro_row + x / t->macro_width;
    const uint64_t of_slice = macro_row * (s->padded_height / t->macro_height) * macro_bytes;
    const uint32_t in_bank = y / SIDE % t->bank_height * t->bank_width + x / SIDE / t->pipes % t->bank_width;
    const uint64_t offset =
        of_slice * (part + (uint64_t)parts * slice) + macro * macro_bytes + in_bank * tile + within;

    if (array->prt) {
        x %= t->macro_width;
        y %= t->macro_height;
    }
    const unsigned pipe_bits = log2_of(t->pipes), bank_bits = log2_of(t->banks);
    const uint32_t turn = t->pipes >= 4 ? t->pipes / 2 - 1 : 1;
    const uint32_t xor = s->shape.pipe_bank_xor;
    uint32_t pipe = 0, bank = 0;
    for (unsigned i = 0; i < pipe_bits; i++)
        pipe |=
            (parity(x & pipes_of[t->pipe_config].term[i].x) ^ parity(y & pipes_of[t->pipe_config].term[i].y))
            << i;
    const uint32_t tile_x = x / SIDE / (t->bank_width * t->pipes), tile_y = y / SIDE / t->bank_height;
    for (unsigned i = 0; i < bank_bits; i++)
        bank |= (parity(tile_x & banks_of[bank_bits][i].x) ^ parity(tile_y & banks_of[bank_bits][i].y)) << i;
    const uint32_t pipe_turn = array->volume ? turn * slice : 0;
    uint32_t bank_turn = array->volume ? turn * slice / t->pipes : (t->banks / 2u - 1) * slice;
    if (array->prt)
        bank_turn = 0;
    pipe ^= ((xor&(t->pipes - 1u)) + pipe_turn) & (t->pipes - 1u);
    if (t->thickness == 1 && !array->prt)
        bank ^= (t->banks / 2u + 1) * part;
    bank ^= (xor>> pipe_bits &(t->banks - 1u)) + bank_turn;
    bank &= t->banks - 1u;
    return (offset & (INTERLEAVE - 1)) | (uint64_t)pipe << 8 | (uint64_t)bank << (8 + pipe_bits) |
           (offset / INTERLEAVE) << (8 + pipe_bits + bank_bits);
}

uint64_t wmi_tile_offset(const struct wmi_surface *s, uint32_t x, uint32_t y, uint32_t z, uint32_t sample)
{
    if (s->kind == WMI_SURFACE_MACRO)
        return macro_offset(s, x, y, z, sample);
    const struct wmi_tile *t = &s->tile;
    const uint64_t tile = (uint64_t)SLICE_ELEMENTS * t->thickness * s->shape.bytes * s->shape.samples;
    const uint64_t number = y / SIDE * (s->level[0].pitch / SIDE) + x / SIDE;
    return z / t->thickness * s->layer + number * tile + offset_in_tile(s, x, y, z, sample);
}
