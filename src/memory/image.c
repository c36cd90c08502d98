/* SPDX-License-Identifier: MIT */
/* Linear images: decoding of a T# and addresses of texels.
 *
 * From gfx10 on each mip level has its own pitch, a multiple of 256 bytes (gfx12: 128), and the smallest
 * level is first in a slice; before, the T# contains the pitch. On gfx9 all levels of a mipmapped image share
 * the pitch derived from its width, the largest level is first, and the PITCH field contains the rows of a
 * slice. Source: AMD's addrlib in PAL, HwlComputeSurfaceInfoLinear; for gfx9 ComputeSurfaceInfoLinear,
 * epitchIsHeight. On gfx6 to gfx8 mipmapped images are refused, because the open drivers only guess their
 * pitches (libdrm, si_surf_minify_linear_aligned). Unverified: slices on gfx6 to gfx9 have no padding between
 * them; the pitch of an R128 image there; DEPTH and PITCH_MSB are the pitch from gfx10.3 on whenever they are
 * not zero (Mesa sets them for a custom pitch). */
#include "memory/image.h"

#include <string.h>

enum { LINEAR_TILING_INDEX = 8 }; /* gfx6 to gfx8: the GB_TILE_MODE that Linux sets to LINEAR_ALIGNED */

/* Properties of a layout that are not in the table of fields. */
struct rules {
    uint16_t pitch_bytes;
    enum { ONE_LEVEL, SMALLEST_FIRST, LARGEST_FIRST } levels;
    bool depth_pitch; /* 1D and 2D: DEPTH and its extensions are the pitch, unless 0 */
};

static const struct rules rules_of[WMI_LAYOUTS] = {
    [WMI_LAYOUT_GFX600] = {256},
    [WMI_LAYOUT_GFX700] = {256},
    [WMI_LAYOUT_GFX801] = {256},
    [WMI_LAYOUT_GFX900] = {256, LARGEST_FIRST},
    [WMI_LAYOUT_GFX1010] = {256, SMALLEST_FIRST},
    [WMI_LAYOUT_GFX1030] = {256, SMALLEST_FIRST, true},
    [WMI_LAYOUT_GFX1100] = {256, SMALLEST_FIRST, true},
    [WMI_LAYOUT_GFX1200] = {128, SMALLEST_FIRST, true},
};

/* The fields used here. */
enum field {
    BASE_ADDRESS,
    FORMAT,
    DATA_FORMAT,
    NUM_FORMAT,
    WIDTH,
    HEIGHT,
    DEPTH,
    PITCH,
    PITCH_13,
    PITCH_MSB,
    BASE_LEVEL,
    LAST_LEVEL,
    MAX_MIP,
    BASE_ARRAY,
    LAST_ARRAY,
    ARRAY_PITCH,
    UAV3D,
    SW_MODE,
    TILING_INDEX,
    TYPE,
    DST_SEL_X,
    DST_SEL_Y,
    DST_SEL_Z,
    DST_SEL_W,
    BC_SWIZZLE,
    MIN_LOD,
    FIELDS,
};

static const char *const names[FIELDS] = {
    [BASE_ADDRESS] = "BASE_ADDRESS",
    [FORMAT] = "FORMAT",
    [DATA_FORMAT] = "DATA_FORMAT",
    [NUM_FORMAT] = "NUM_FORMAT",
    [WIDTH] = "WIDTH",
    [HEIGHT] = "HEIGHT",
    [DEPTH] = "DEPTH",
    [PITCH] = "PITCH",
    [PITCH_13] = "PITCH_13",
    [PITCH_MSB] = "PITCH_MSB",
    [BASE_LEVEL] = "BASE_LEVEL",
    [LAST_LEVEL] = "LAST_LEVEL",
    [MAX_MIP] = "MAX_MIP",
    [BASE_ARRAY] = "BASE_ARRAY",
    [LAST_ARRAY] = "LAST_ARRAY",
    [ARRAY_PITCH] = "ARRAY_PITCH",
    [UAV3D] = "UAV3D",
    [SW_MODE] = "SW_MODE",
    [TILING_INDEX] = "TILING_INDEX",
    [TYPE] = "TYPE",
    [DST_SEL_X] = "DST_SEL_X",
    [DST_SEL_Y] = "DST_SEL_Y",
    [DST_SEL_Z] = "DST_SEL_Z",
    [DST_SEL_W] = "DST_SEL_W",
    [BC_SWIZZLE] = "BC_SWIZZLE",
    [MIN_LOD] = "MIN_LOD",
};

struct values {
    uint64_t value[FIELDS];
    bool there[FIELDS];
};

static void read_fields(enum wmi_layout layout, const uint32_t *words, struct values *v)
{
    memset(v, 0, sizeof *v);
    for (const struct wmi_descriptor_field *f = wmi_fields(WM_DESCRIPTOR_IMAGE); f->name; f++)
        for (unsigned i = 0; f->layouts >> layout & 1 && i < FIELDS; i++)
            if (f->name[0] == names[i][0] && !strcmp(f->name, names[i])) {
                v->value[i] = wmi_field_get(f, words);
                v->there[i] = true;
            }
}

static const char *refusal(const struct wmi_image *image, const struct values *v, const struct rules *rules,
                           unsigned code)
{
    const bool tiled =
        v->there[TILING_INDEX] ? v->value[TILING_INDEX] != LINEAR_TILING_INDEX : v->value[SW_MODE] != 0;
    if (tiled)
        return "a tiled image; wavemem accesses linear ones";
    if (image->type >= WMI_IMAGE_2D_MSAA)
        return "a multisampled image; wavemem accesses others";
    if (!image->format.layout->components && code)
        return "an image of a format that wavemem does not convert";
    if ((v->value[BASE_LEVEL] || v->value[LAST_LEVEL]) && rules->levels == ONE_LEVEL)
        return "a linear image of several levels, whose places wavemem does not know on this generation";
    return NULL;
}

struct wmi_image wmi_image_decode(enum wmi_layout layout, const struct wmi_format_rules *formats,
                                  const uint32_t words[8])
{
    const struct rules *rules = &rules_of[layout];
    struct values v;
    read_fields(layout, words, &v);
    const uint64_t *value = v.value;
    const unsigned code =
        v.there[FORMAT] ? (unsigned)value[FORMAT] : (unsigned)(value[DATA_FORMAT] | value[NUM_FORMAT] << 6);
    struct wmi_image image = {
        .bound = value[TYPE] >= WMI_IMAGE_1D,
        .type = (uint8_t)value[TYPE],
        .base = value[BASE_ADDRESS] << 8,
        .width = (uint32_t)value[WIDTH] + 1,
        .height = (uint32_t)value[HEIGHT] + 1,
        .depth = 1,
        .first_slice = (uint32_t)value[BASE_ARRAY],
        .slices = 1,
        .base_level = (uint32_t)value[BASE_LEVEL],
        .levels = value[LAST_LEVEL] >= value[BASE_LEVEL]
                      ? (uint32_t)(value[LAST_LEVEL] - value[BASE_LEVEL]) + 1
                      : 0,
        .pitch_bytes = rules->pitch_bytes,
        .mips = (uint32_t)(v.there[MAX_MIP] ? value[MAX_MIP] : value[LAST_LEVEL]) + 1,
        .format = wmi_format_of_image(formats, code),
        .select = (unsigned)(value[DST_SEL_X] | value[DST_SEL_Y] << 3 | value[DST_SEL_Z] << 6 |
                             value[DST_SEL_W] << 9),
        .border_order = (uint8_t)value[BC_SWIZZLE],
        .lod_least = (double)value[MIN_LOD] / 256,
    };
    const uint64_t last = v.there[LAST_ARRAY] ? value[LAST_ARRAY] : value[DEPTH];
    if (image.mips < value[LAST_LEVEL] + 1)
        image.mips = (uint32_t)value[LAST_LEVEL] + 1;
    if (image.type == WMI_IMAGE_1D || image.type == WMI_IMAGE_1D_ARRAY)
        image.height = 1;
    if (image.type == WMI_IMAGE_3D) {
        image.depth = (uint32_t)value[DEPTH] + 1;
        image.slices = image.depth;
        if (!value[ARRAY_PITCH] && !value[UAV3D])
            image.first_slice = 0;
    } else if (image.type == WMI_IMAGE_CUBE || image.type == WMI_IMAGE_1D_ARRAY ||
               image.type == WMI_IMAGE_2D_ARRAY) {
        image.slices = last >= image.first_slice ? (uint32_t)last - image.first_slice + 1 : 0;
    } else if (rules->depth_pitch && image.mips == 1) {
        const uint64_t above = value[PITCH_13] << 13 | value[PITCH_MSB] << 14;
        image.pitch = value[DEPTH] | above ? (uint32_t)(value[DEPTH] | above) + 1 : 0;
    }
    if (rules->levels == LARGEST_FIRST && image.mips > 1)
        image.chain_rows = (uint32_t)value[PITCH] + 1;
    else if (v.there[PITCH] && value[PITCH] >= value[WIDTH]) /* not with R128 */
        image.pitch = (uint32_t)value[PITCH] + 1;
    image.refused = image.bound ? refusal(&image, &v, rules, code) : NULL;
    return image;
}

/* Source: RDNA 2 ISA, "Image address VGPRs"; Vega ISA, the same. */
struct wmi_texel wmi_image_texel(const struct wmi_image *image, unsigned dim, bool array, bool level,
                                 const uint32_t coordinates[WMI_IMAGE_COORDINATES])
{
    enum { HAS_Y = 1, HAS_SLICE = 2 };
    /* By DIM; TYPE - 8 has the same order. */
    static const uint8_t has[] = {0, HAS_Y, 3, 3, HAS_SLICE, 3, HAS_Y, 3};
    const bool by_type = dim == WMI_IMAGE_DIM_TYPE;
    const bool is_array = image->type == WMI_IMAGE_1D_ARRAY || image->type == WMI_IMAGE_2D_ARRAY;
    const unsigned there = has[(by_type ? image->type : dim) & 7];
    struct wmi_texel texel = {.x = coordinates[0]};
    unsigned next = 1;
    if (there & HAS_Y)
        texel.y = coordinates[next++];
    if (there & HAS_SLICE && (!by_type || !is_array || array))
        texel.slice = coordinates[next++];
    if (level)
        texel.level = coordinates[next];
    return texel;
}

uint32_t wmi_image_extent(uint32_t texels, uint32_t level)
{
    return level < 32 && texels >> level ? texels >> level : 1;
}

uint64_t wmi_image_row_bytes(const struct wmi_image *image, uint32_t level)
{
    const uint64_t texel = image->format.layout->bytes, step = image->pitch_bytes;
    if (image->pitch)
        return image->pitch * texel;
    if (image->chain_rows)
        level = 0;
    return (wmi_image_extent(image->width, level) * texel + step - 1) & ~(step - 1); /* a power of two */
}

static uint64_t level_bytes(const struct wmi_image *image, uint32_t level)
{
    return wmi_image_row_bytes(image, level) * wmi_image_extent(image->height, level);
}

uint64_t wmi_image_level_offset(const struct wmi_image *image, uint32_t level)
{
    uint64_t offset = 0;
    if (image->chain_rows) {
        uint32_t rows = image->height;
        for (uint32_t larger = 0; larger < level; larger++, rows = (rows + 1) / 2)
            offset += rows * wmi_image_row_bytes(image, 0);
        return offset;
    }
    for (uint32_t smaller = level + 1; smaller < image->mips; smaller++)
        offset += level_bytes(image, smaller);
    return offset;
}

uint64_t wmi_image_slice_bytes(const struct wmi_image *image)
{
    if (image->chain_rows)
        return image->chain_rows * wmi_image_row_bytes(image, 0);
    return wmi_image_level_offset(image, 0) + level_bytes(image, 0);
}

bool wmi_image_in_range(const struct wmi_image *image, const struct wmi_texel *t)
{
    const uint32_t level = image->base_level + t->level;
    uint32_t slices = image->slices;
    if (t->level >= image->levels)
        return false;
    if (image->type == WMI_IMAGE_3D)
        slices = wmi_image_extent(image->depth, level);
    return t->x < wmi_image_extent(image->width, level) && t->y < wmi_image_extent(image->height, level) &&
           t->slice < slices;
}

uint64_t wmi_texel_address(const struct wmi_image *image, const struct wmi_texel *t)
{
    const uint32_t level = image->base_level + (t->level < image->levels ? t->level : 0);
    return image->base + ((uint64_t)image->first_slice + t->slice) * wmi_image_slice_bytes(image) +
           wmi_image_level_offset(image, level) + t->y * wmi_image_row_bytes(image, level) +
           (uint64_t)t->x * image->format.layout->bytes;
}
