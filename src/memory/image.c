/* SPDX-License-Identifier: MIT */
/* Images: decoding of a T#, and which texels it has.
 *
 * Where texels are is computed by memory/tiling from what the T# says. On gfx6 to gfx8 mipmapped images are
 * refused: the open drivers only guess the pitches of linear levels (libdrm, si_surf_minify_linear_aligned).
 * The low bits of BASE_ADDRESS are the pipe/bank XOR of a tiled image. Unverified: the pitch of an R128 image
 * before gfx10; DEPTH and PITCH_MSB are the pitch from gfx10.3 on whenever they are not zero (Mesa sets them
 * for a custom pitch). */
#include "memory/image.h"

#include "memory/blocks.h"

#include <string.h>

/* Layouts in which DEPTH and its extensions are the pitch of 1D and 2D images, unless 0. */
static const bool depth_pitch[WMI_LAYOUTS] = {
    [WMI_LAYOUT_GFX1030] = true, [WMI_LAYOUT_GFX1100] = true, [WMI_LAYOUT_GFX1200] = true};

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
    COMPRESSION_EN,
    COMPRESSION_ACCESS_MODE,
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
    [COMPRESSION_EN] = "COMPRESSION_EN",
    [COMPRESSION_ACCESS_MODE] = "COMPRESSION_ACCESS_MODE",
};

struct values {
    uint64_t value[FIELDS];
    bool there[FIELDS];
};

static void read_fields(enum wmi_descriptor_layout layout, const uint32_t *words, struct values *v)
{
    memset(v, 0, sizeof *v);
    for (const struct wmi_descriptor_field *f = wmi_fields(WM_DESCRIPTOR_IMAGE); f->name; f++)
        for (unsigned i = 0; f->layouts >> layout & 1 && i < FIELDS; i++)
            if (f->name[0] == names[i][0] && !strcmp(f->name, names[i])) {
                v->value[i] = wmi_field_get(f, words);
                v->there[i] = true;
            }
}

static const char unknown_format[] = "an image of a format that wavemem does not convert";

static bool multisampled(const struct wmi_image *image)
{
    return image->type >= WMI_IMAGE_2D_MSAA;
}

static bool is_linear(const struct wmi_image_rules *rules, const struct values *v)
{
    return v->value[v->there[TILING_INDEX] ? TILING_INDEX : SW_MODE] == wmi_tiling_linear(&rules->tiling);
}

/* Why the contents of the image cannot be accessed, wherever its texels are. */
static const char *refusal(const struct wmi_image_rules *rules, const struct wmi_image *image,
                           const struct values *v, unsigned code)
{
    if (wmi_format_is_fmask(rules->formats, code))
        return "an FMASK; wavemem does not read them";
    /* From gfx12 on, whether texels are compressed is a property of pages, and COMPRESSION_EN only allows it
     * (linux, AMDGPU_PTE_DCC; Mesa sets it for all images): no memory of the guest is. */
    if (v->value[COMPRESSION_EN] && !v->there[COMPRESSION_ACCESS_MODE] && image->format.layout->components)
        return wmi_tiling_for_depth(&rules->tiling, (unsigned)v->value[SW_MODE])
                   ? "a compressed image (HTILE); wavemem does not decompress"
                   : "a compressed image (DCC); wavemem does not decompress";
    if (multisampled(image) && v->there[MAX_MIP] && v->value[MAX_MIP] != v->value[LAST_LEVEL])
        return "an image with fewer fragments than samples, which needs its FMASK";
    if ((!image->format.layout->components && code) || image->format.layout->block == WMI_BLOCK_BC6H)
        return unknown_format;
    if (!multisampled(image) && (v->value[BASE_LEVEL] || v->value[LAST_LEVEL]) &&
        wmi_tiling_rules(&rules->tiling)->chain == WMI_CHAIN_UNKNOWN)
        return "an image of several levels, whose places wavemem does not know on this generation";
    return NULL;
}

static uint8_t dimensions_of(const struct wmi_image *image)
{
    if (image->type == WMI_IMAGE_1D || image->type == WMI_IMAGE_1D_ARRAY)
        return 1;
    return image->type == WMI_IMAGE_3D ? 3 : 2;
}

/* gfx6 to gfx8: rows of a multiple of 256 bytes (unverified), in texels. */
static uint32_t r128_pitch(uint32_t width, uint32_t bytes)
{
    enum { ROW = 256 };
    const uint32_t step = bytes & (bytes - 1) ? ROW : ROW / bytes;
    return (width + step - 1) / step * step;
}

/* The pitch of level 0 in elements (texels, or blocks of `side` texels), if the T# contains it; else 0. mips:
 * levels of the resource. On gfx9, PITCH counts elements, as that of several levels does; before, and in
 * DEPTH, texels (unverified for blocks). */
static uint32_t pitch_of(const struct wmi_image_rules *rules, const struct wmi_image *image,
                         const struct values *v, uint32_t mips, uint32_t side)
{
    const uint64_t *value = v->value;
    const uint32_t width = (image->width + side - 1) / side;
    const unsigned chain = wmi_tiling_rules(&rules->tiling)->chain;
    const uint64_t stored = chain == WMI_CHAIN_BESIDE ? value[PITCH] + 1 : (value[PITCH] + side) / side;
    const bool plain = image->type <= WMI_IMAGE_2D || image->type == WMI_IMAGE_2D_MSAA;
    if (depth_pitch[rules->layout] && plain && mips == 1) {
        const uint64_t above = value[PITCH_13] << 13 | value[PITCH_MSB] << 14;
        return value[DEPTH] | above ? ((uint32_t)(value[DEPTH] | above) + side) / side : 0;
    }
    if (v->there[PITCH] && stored >= width && mips == 1) /* not with R128 */
        return (uint32_t)stored;
    if (v->there[PITCH] && chain == WMI_CHAIN_UNKNOWN && is_linear(rules, v) && image->format.layout->bytes)
        return r128_pitch(width, image->format.layout->bytes);
    return 0;
}

/* gfx9: of an image with levels, PITCH contains the pitch or the height of the chain, which the size of the
 * image determines. Linear ones may have more rows than they need. */
static const char *check_chain(struct wmi_image *image, const struct values *v)
{
    struct wmi_surface *s = &image->surface;
    const uint64_t stored = v->value[PITCH] + 1, row = s->level[0].pitch;
    if (s->kind == WMI_SURFACE_LINEAR) {
        if (stored * row < s->layer)
            return "an image whose PITCH is less than the rows of its levels";
        s->layer = stored * row;
        s->bytes = s->layer * s->shape.depth;
        return NULL;
    }
    const uint8_t *block = s->equation->block;
    const uint64_t width = row << block[0], height = (s->layer >> s->equation->bits) / row << block[1];
    return stored == width || stored == height
               ? NULL
               : "an image whose PITCH is neither the width nor the height of its levels together";
}

/* Finds out where texels are. Returns why they cannot be placed, or NULL. */
static const char *place(const struct wmi_image_rules *rules, struct wmi_image *image, const struct values *v,
                         unsigned code)
{
    const unsigned side = image->compressed ? WMI_BLOCK_SIDE : 1;
    const uint64_t *value = v->value;
    const bool linear = is_linear(rules, v);
    const uint32_t last = image->first_slice + image->slices;
    uint32_t mips = (uint32_t)(v->there[MAX_MIP] ? value[MAX_MIP] : value[LAST_LEVEL]) + 1;
    if (multisampled(image))
        mips = 1;
    else if (mips < value[LAST_LEVEL] + 1)
        mips = (uint32_t)value[LAST_LEVEL] + 1;
    const struct wmi_surface_shape shape = {
        .dimensions = dimensions_of(image),
        .bytes = image->format.layout->bytes ? image->format.layout->bytes : 1,
        .samples = (uint8_t)image->samples,
        .levels = (uint8_t)mips,
        .mode = (uint8_t)value[v->there[TILING_INDEX] ? TILING_INDEX : SW_MODE],
        .width = (image->width + side - 1) / side,
        .height = (image->height + side - 1) / side,
        .depth = image->type == WMI_IMAGE_3D ? image->depth
                 : last                      ? last
                                             : 1,
        .pitch = pitch_of(rules, image, v, mips, side),
        .pipe_bank_xor = linear ? 0 : (uint32_t)value[BASE_ADDRESS],
    };
    if (code && !image->format.layout->bytes)
        return unknown_format;
    const char *reason = wmi_surface_place(&rules->tiling, &shape, &image->surface);
    if (reason)
        return reason;
    image->base &= ~(uint64_t)wmi_surface_xor_bits(&image->surface);
    if (image->base & (image->surface.alignment - 1))
        return "a tiled image whose BASE_ADDRESS is not a multiple of its block";
    if (wmi_tiling_rules(&rules->tiling)->chain == WMI_CHAIN_BESIDE && mips > 1)
        return check_chain(image, v);
    return NULL;
}

/* The slices of the view. */
static void decode_slices(struct wmi_image *image, const struct values *v)
{
    const uint64_t *value = v->value;
    const uint64_t last = v->there[LAST_ARRAY] ? value[LAST_ARRAY] : value[DEPTH];
    image->slices = 1;
    image->depth = 1;
    image->first_slice = (uint32_t)value[BASE_ARRAY];
    if (image->type == WMI_IMAGE_3D) {
        image->depth = (uint32_t)value[DEPTH] + 1;
        image->slices = image->depth;
        if (!value[ARRAY_PITCH] && !value[UAV3D])
            image->first_slice = 0;
    } else if (image->type == WMI_IMAGE_CUBE || image->type == WMI_IMAGE_1D_ARRAY ||
               image->type == WMI_IMAGE_2D_ARRAY || image->type == WMI_IMAGE_2D_MSAA_ARRAY) {
        image->slices = last >= image->first_slice ? (uint32_t)last - image->first_slice + 1 : 0;
    }
}

void wmi_image_decode(const struct wmi_image_rules *rules, const uint32_t words[8], struct wmi_image *image)
{
    struct values v;
    read_fields(rules->layout, words, &v);
    const uint64_t *value = v.value;
    const unsigned code =
        v.there[FORMAT] ? (unsigned)value[FORMAT] : (unsigned)(value[DATA_FORMAT] | value[NUM_FORMAT] << 6);
    *image = (struct wmi_image){
        .bound = value[TYPE] >= WMI_IMAGE_1D,
        .type = (uint8_t)value[TYPE],
        .base = value[BASE_ADDRESS] << 8,
        .width = (uint32_t)value[WIDTH] + 1,
        .height = (uint32_t)value[HEIGHT] + 1,
        .samples = 1,
        .base_level = (uint32_t)value[BASE_LEVEL],
        .levels = value[LAST_LEVEL] >= value[BASE_LEVEL]
                      ? (uint32_t)(value[LAST_LEVEL] - value[BASE_LEVEL]) + 1
                      : 0,
        .format = wmi_format_of_image(rules->formats, code),
        .select = (unsigned)(value[DST_SEL_X] | value[DST_SEL_Y] << 3 | value[DST_SEL_Z] << 6 |
                             value[DST_SEL_W] << 9),
        .border_order = (uint8_t)value[BC_SWIZZLE],
        .lod_least = (double)value[MIN_LOD] / 256,
    };
    if (image->type == WMI_IMAGE_1D || image->type == WMI_IMAGE_1D_ARRAY)
        image->height = 1;
    if (multisampled(image)) {
        image->samples = 1u << (value[LAST_LEVEL] & 7);
        image->base_level = 0;
        image->levels = 1;
    }
    decode_slices(image, &v);
    if (!image->bound)
        return;
    image->compressed = image->format.layout->block != WMI_BLOCK_NONE;
    const char *unplaced = place(rules, image, &v, code);
    image->placed = !unplaced;
    image->refused = refusal(rules, image, &v, code);
    if (!image->refused)
        image->refused = unplaced;
}

/* Source: RDNA 2 ISA, "Image address VGPRs"; Vega ISA, the same. */
struct wmi_texel wmi_image_texel(const struct wmi_image *image, unsigned dim, bool array, bool level,
                                 const uint32_t coordinates[WMI_IMAGE_COORDINATES])
{
    enum { HAS_Y = 1, HAS_SLICE = 2, MSAA = WMI_IMAGE_2D_MSAA - WMI_IMAGE_1D };
    /* By DIM; TYPE - 8 has the same order. */
    static const uint8_t has[] = {0, HAS_Y, 3, 3, HAS_SLICE, 3, HAS_Y, 3};
    const bool by_type = dim == WMI_IMAGE_DIM_TYPE;
    const bool is_array = image->type == WMI_IMAGE_1D_ARRAY || image->type == WMI_IMAGE_2D_ARRAY ||
                          image->type == WMI_IMAGE_2D_MSAA_ARRAY;
    const unsigned kind = (by_type ? image->type : dim) & 7, there = has[kind];
    struct wmi_texel texel = {.x = coordinates[0]};
    unsigned next = 1;
    if (there & HAS_Y)
        texel.y = coordinates[next++];
    if (there & HAS_SLICE && (!by_type || !is_array || array))
        texel.slice = coordinates[next++];
    if (kind >= MSAA)
        texel.sample = coordinates[next];
    else if (level)
        texel.level = coordinates[next];
    return texel;
}

uint32_t wmi_image_extent(uint32_t texels, uint32_t level)
{
    return level < 32 && texels >> level ? texels >> level : 1;
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
           t->slice < slices && t->sample < image->samples;
}

uint64_t wmi_texel_address(const struct wmi_image *image, const struct wmi_texel *t)
{
    const uint32_t level = image->base_level + (t->level < image->levels ? t->level : 0);
    const uint32_t levels = image->surface.shape.levels; /* 0: nothing is bound */
    const uint32_t last = levels ? levels - 1 : 0, side = image->compressed ? WMI_BLOCK_SIDE : 1;
    return image->base + wmi_surface_offset(&image->surface, t->x / side, t->y / side,
                                            image->first_slice + t->slice, t->sample,
                                            level < last ? level : last);
}

void wmi_texel_load(const struct wmi_image *image, const struct wmi_texel *t, const unsigned char *from,
                    bool half, uint32_t value[4])
{
    if (image->compressed)
        wmi_block_load(&image->format, from, t->x % WMI_BLOCK_SIDE, t->y % WMI_BLOCK_SIDE, half, value);
    else
        wmi_format_load(&image->format, from, half, value);
}
