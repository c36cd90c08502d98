/* SPDX-License-Identifier: MIT */
/* The public API of images and samplers: builds the descriptors that ROCm's runtime builds.
 *
 * Source: ROCR, image_manager_*.cpp, PopulateImageSrd() and PopulateSamplerSrd(); the three words behind the
 * T# are read by the device library (ockl, image.cl). */
#include "wavemem/image.h"

#include "base/diag.h"
#include "base/versioned.h"
#include "isa/isa.h"
#include "memory/buffer.h"
#include "memory/image.h"
#include "profile/cost/gpu.h"
#include "wavemem/explain.h"
#include "wavemem/surface.h"

#include <inttypes.h>
#include <string.h>

/* ---- fields ---- */

struct fields {
    const char *target;
    enum wmi_descriptor_layout layout;
    enum wm_descriptor_kind kind;
    struct wm_descriptor_field field[WM_DESCRIPTOR_FIELDS];
    size_t count;
};

static const struct wmi_descriptor_field *find(const struct fields *f, const char *name)
{
    return wmi_field_find(f->layout, f->kind, name);
}

/* Sets a field, if the layout has it. */
static void set(struct fields *f, const char *name, uint64_t value)
{
    if (find(f, name))
        f->field[f->count++] = (struct wm_descriptor_field){.name = name, .value = value};
}

static enum wm_status encode(const struct fields *f, uint32_t *words, struct wm_diag *diag)
{
    struct wm_descriptor d;
    const enum wm_status status = wm_descriptor_encode(f->target, f->kind, f->field, f->count, &d, diag);
    if (status == WM_OK)
        memcpy(words, d.words, 4 * d.word_count);
    return status;
}

/* ---- formats ---- */

/* hsa: hsa_ext_image_channel_type_t. */
static const struct component {
    uint8_t bits;
    const char *number;
    uint8_t hsa;
} components[] = {
    [WM_IMAGE_UNORM8] = {8, "UNORM", 2}, [WM_IMAGE_UNORM16] = {16, "UNORM", 3},
    [WM_IMAGE_SNORM8] = {8, "SNORM", 0}, [WM_IMAGE_SNORM16] = {16, "SNORM", 1},
    [WM_IMAGE_U8] = {8, "UINT", 11},     [WM_IMAGE_U16] = {16, "UINT", 12},
    [WM_IMAGE_U32] = {32, "UINT", 13},   [WM_IMAGE_I8] = {8, "SINT", 8},
    [WM_IMAGE_I16] = {16, "SINT", 9},    [WM_IMAGE_I32] = {32, "SINT", 10},
    [WM_IMAGE_F16] = {16, "FLOAT", 14},  [WM_IMAGE_F32] = {32, "FLOAT", 15},
};

/* Channels of a texel. hsa: hsa_ext_image_channel_order_t. */
static const struct order {
    const char *layout[3]; /* of components with 8, 16 and 32 bits */
    uint8_t hsa;
} orders[] = {
    [1] = {{"8", "16", "32"}, 1},
    [2] = {{"8_8", "16_16", "32_32"}, 3},
    [4] = {{"8_8_8_8", "16_16_16_16", "32_32_32_32"}, 8},
};

static void set_format(struct fields *f, const struct wmi_format_rules *formats, const struct wm_image *image)
{
    enum { ZERO, ONE, X = 4 };
    static const char *const select[] = {"DST_SEL_X", "DST_SEL_Y", "DST_SEL_Z", "DST_SEL_W"};
    const struct component *c = &components[image->type];
    unsigned code = 0;
    wmi_format_find(formats, orders[image->components].layout[c->bits / 16], c->number, &code);
    if (wmi_format_unified(formats)) {
        set(f, "FORMAT", code);
    } else {
        set(f, "DATA_FORMAT", code & 15);
        set(f, "NUM_FORMAT", code >> 4);
    }
    for (unsigned i = 0; i < 4; i++)
        set(f, select[i], i < image->components ? X + i : i == 3 ? ONE : ZERO);
    set(f, "RESOURCE_LEVEL", 1); /* gfx10: "must be 1" */
}

/* ---- images ---- */

static const struct geometry {
    enum wmi_image_type type;
    bool height, depth, array;
} geometries[] = {
    [WM_IMAGE_1D] = {WMI_IMAGE_1D, false, false, false},
    [WM_IMAGE_1D_BUFFER] = {0, false, false, false},
    [WM_IMAGE_2D] = {WMI_IMAGE_2D, true, false, false},
    [WM_IMAGE_3D] = {WMI_IMAGE_3D, true, true, false},
    [WM_IMAGE_1D_ARRAY] = {WMI_IMAGE_1D_ARRAY, false, false, true},
    [WM_IMAGE_2D_ARRAY] = {WMI_IMAGE_2D_ARRAY, true, false, true},
};

/* 16,384 is what ROCm allows, and as much as the device library reads back from the T#. */
static uint32_t most(const struct fields *f, const char *name, uint32_t limit)
{
    const struct wmi_descriptor_field *field = find(f, name);
    return field && field->bits < 31 && 1u << field->bits < limit ? 1u << field->bits : limit;
}

static enum wm_status check_size(const char *what, uint32_t size, uint32_t limit, struct wm_diag *diag)
{
    if (size && size <= limit)
        return WM_OK;
    return wmi_fail(diag, WM_BAD_ARGUMENT, "%s %" PRIu32 " of the image; expected 1 to %" PRIu32, what, size,
                    limit);
}

static uint32_t levels_of(const struct wm_image *image)
{
    return image->levels ? image->levels : 1;
}

/* The last level has one texel. */
static enum wm_status check_levels(const struct wm_image *image, struct wm_diag *diag)
{
    const struct geometry *g = &geometries[image->geometry];
    const uint32_t sides = image->width | (g->height ? image->height : 0) | (g->depth ? image->depth : 0);
    uint32_t most_levels = image->geometry == WM_IMAGE_1D_BUFFER;
    while (image->geometry != WM_IMAGE_1D_BUFFER && sides >> most_levels)
        most_levels++;
    const uint32_t levels = levels_of(image);
    if (levels > most_levels)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "%" PRIu32 " levels of the image; expected at most %" PRIu32,
                        levels, most_levels);
    if (image->first_level >= levels || image->seen_levels > levels - image->first_level)
        return wmi_fail(diag, WM_BAD_ARGUMENT,
                        "level %" PRIu32 " and %" PRIu32 " levels from there of an image with %" PRIu32,
                        image->first_level, image->seen_levels, levels);
    return WM_OK;
}

static enum wm_status check(const struct fields *f, const struct wm_image *image, struct wm_diag *diag)
{
    enum { SIDE = 16384, LAYERS = 8192 };
    const bool buffer = image->geometry == WM_IMAGE_1D_BUFFER;
    const struct geometry *g = &geometries[image->geometry];
    enum wm_status status;
    if (image->components != 1 && image->components != 2 && image->components != 4)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "%" PRIu32 " components of a texel; expected 1, 2 or 4",
                        image->components);
    if (image->address % WM_IMAGE_ALIGNMENT || image->address >> 47)
        return wmi_fail(diag, WM_BAD_ARGUMENT,
                        "the address of the image is 0x%" PRIx64 "; expected a multiple of %u below 2^47",
                        image->address, WM_IMAGE_ALIGNMENT);
    if (image->row &&
        (buffer || image->mode || image->levels > 1 || image->row % WM_IMAGE_ALIGNMENT ||
         image->row < (uint64_t)image->width * image->components * components[image->type].bits / 8))
        return wmi_fail(diag, WM_BAD_ARGUMENT,
                        "rows of %" PRIu64
                        " bytes; expected a multiple of %u that holds a row of a linear image with one level",
                        image->row, WM_IMAGE_ALIGNMENT);
    status = check_size("width", image->width, buffer ? 1u << 27 : most(f, "WIDTH", SIDE), diag);
    if (!status && g->height)
        status = check_size("height", image->height, most(f, "HEIGHT", SIDE), diag);
    if (!status && (g->depth || g->array))
        status =
            check_size(g->depth ? "depth" : "number of layers", image->depth, most(f, "DEPTH", LAYERS), diag);
    return status ? status : check_levels(image, diag);
}

static uint32_t texel_bytes(const struct wm_image *image)
{
    return image->components * components[image->type].bits / 8;
}

static enum wm_status describe_buffer(struct fields *f, const struct wmi_descriptor_rules *rules,
                                      const struct wm_image *image, uint32_t *words,
                                      struct wm_image_layout *layout, struct wm_diag *diag)
{
    const uint32_t texel = texel_bytes(image);
    const bool in_bytes = rules->buffer->check == WMI_BUFFER_CHECK_SWIZZLE;
    *layout = (struct wm_image_layout){.texel = texel,
                                       .row = (uint64_t)image->width * texel,
                                       .slice = (uint64_t)image->width * texel,
                                       .bytes = (uint64_t)image->width * texel,
                                       .rows = 1,
                                       .slices = 1,
                                       .alignment = WM_IMAGE_ALIGNMENT};
    set(f, "BASE_ADDRESS", image->address);
    set(f, "STRIDE", texel);
    set(f, "NUM_RECORDS", in_bytes ? layout->bytes : image->width);
    set_format(f, rules->format, image);
    return encode(f, words, diag);
}

/* The number of the mode of an image that is tiled or has levels, and what PITCH contains of it: texels of a
 * row, or on gfx9, if it is linear, the rows of all levels. */
static enum wm_status find_mode(const struct fields *f, const struct wmi_descriptor_rules *rules,
                                const struct wm_image *image, uint32_t texel, unsigned *mode, uint64_t *pitch,
                                struct wm_diag *diag)
{
    const struct geometry *g = &geometries[image->geometry];
    const struct wm_surface_shape shape = {.struct_size = sizeof shape,
                                           .mode = image->mode ? image->mode : "linear",
                                           .levels = levels_of(image),
                                           .dimensions = g->depth    ? 3
                                                         : g->height ? 2
                                                                     : 1,
                                           .bytes = texel,
                                           .width = image->width,
                                           .height = g->height ? image->height : 1,
                                           .depth = g->depth || g->array ? image->depth : 1};
    struct wm_surface *surface;
    const enum wm_status status = wm_surface_create(f->target, image->gpu, &shape, &surface, diag);
    if (status)
        return status;
    wmi_tiling_mode_find(&rules->tiling, shape.mode, mode);
    const struct wm_surface_layout *layout = wm_surface_layout(surface);
    *pitch = layout->level[0].pitch;
    if (!image->mode && wmi_tiling_rules(&rules->tiling)->chain == WMI_CHAIN_BESIDE)
        *pitch = layout->layer / (*pitch * texel);
    wm_surface_destroy(surface);
    return WM_OK;
}

/* From gfx10.3 on, 1D and 2D images that have rows of more bytes than they need. */
static void set_pitch_in_depth(struct fields *f, uint64_t pitch)
{
    const struct wmi_descriptor_field *depth = find(f, "DEPTH");
    set(f, "DEPTH", pitch & ((UINT64_C(1) << depth->bits) - 1));
    set(f, "PITCH_13", pitch >> 13 & 1);
    set(f, "PITCH_MSB", pitch >> 14);
}

static enum wm_status describe_image(struct fields *f, const struct wmi_descriptor_rules *rules,
                                     const struct wm_image *image, uint32_t *words,
                                     struct wm_image_layout *layout, struct wm_diag *diag)
{
    const struct geometry *g = &geometries[image->geometry];
    const uint32_t texel = texel_bytes(image), last = g->depth || g->array ? image->depth - 1 : 0;
    set(f, "BASE_ADDRESS", image->address >> 8);
    set(f, "TYPE", g->type);
    set(f, "WIDTH", image->width - 1);
    set(f, "HEIGHT", g->height ? image->height - 1 : 0);
    const uint64_t least =
        ((uint64_t)image->width * texel + WM_IMAGE_ALIGNMENT - 1) / WM_IMAGE_ALIGNMENT * WM_IMAGE_ALIGNMENT;
    uint64_t pitch = (image->row ? image->row : least) / texel;
    unsigned mode = wmi_tiling_linear(&rules->tiling);
    if (image->mode || image->levels > 1) {
        const enum wm_status status = find_mode(f, rules, image, texel, &mode, &pitch, diag);
        if (status)
            return status;
    }
    set(f, "PITCH", pitch - 1);
    set(f, "TILING_INDEX", mode);
    set(f, "SW_MODE", mode);
    if (image->row > least && !g->depth && !g->array && !find(f, "PITCH"))
        set_pitch_in_depth(f, pitch - 1);
    else if (g->depth || !find(f, "LAST_ARRAY"))
        set(f, "DEPTH", last);
    if (g->array)
        set(f, "LAST_ARRAY", last);
    const uint32_t seen = image->seen_levels ? image->seen_levels : levels_of(image) - image->first_level;
    set(f, "MAX_MIP", levels_of(image) - 1);
    set(f, "BASE_LEVEL", image->first_level);
    set(f, "LAST_LEVEL", image->first_level + seen - 1);
    set_format(f, rules->format, image);
    const enum wm_status status = encode(f, words, diag);
    if (status)
        return status;
    const struct wmi_image_rules image_rules = {
        .layout = rules->layout, .formats = rules->format, .tiling = rules->tiling};
    struct wmi_image made;
    wmi_image_decode(&image_rules, words, &made);
    if (!made.placed)
        return wmi_fail(diag, WM_UNSUPPORTED, "%s", made.refused);
    if (image->row && image->row != made.surface.level[0].pitch)
        return wmi_fail(diag, WM_UNSUPPORTED,
                        "rows of %" PRIu64 " bytes; images of this geometry on %s have %" PRIu64, image->row,
                        f->target, made.surface.level[0].pitch);
    if (image->address & (made.surface.alignment - 1))
        return wmi_fail(diag, WM_BAD_ARGUMENT,
                        "the address of the image is 0x%" PRIx64 "; expected a multiple of %" PRIu32
                        ", its block",
                        image->address, made.surface.alignment);
    const bool linear = made.surface.kind == WMI_SURFACE_LINEAR;
    layout->texel = texel;
    layout->row = linear ? made.surface.level[0].pitch : 0;
    layout->slice = linear ? made.surface.layer : 0;
    layout->rows = made.height;
    layout->slices = made.slices;
    layout->bytes = made.surface.bytes;
    layout->alignment = made.surface.alignment;
    return WM_OK;
}

static enum wm_status find_rules(const char *name, const struct wm_gpu *gpu,
                                 struct wmi_descriptor_rules *rules, struct wm_diag *diag)
{
    const struct wmi_target *target = wmi_target_find(name);
    if (!target)
        return wmi_fail(diag, WM_NOT_FOUND, "%s: not a target that wavemem knows; expected one like gfx900",
                        name ? name : "(null)");
    rules->layout = (enum wmi_descriptor_layout)wmi_target_limit(target, WMI_LIMIT_descriptors);
    rules->buffer = wmi_buffer_rules(wmi_target_limit(target, WMI_LIMIT_buffer_rules));
    rules->format = wmi_format_rules(wmi_target_limit(target, WMI_LIMIT_format_rules));
    rules->tiling = wmi_gpu_tiling(gpu, target);
    return WM_OK;
}

static enum wm_status check_has(const struct fields *f, const char *what, struct wm_diag *diag)
{
    if (wmi_descriptor_words(f->layout, f->kind))
        return WM_OK;
    return wmi_fail(diag, WM_UNSUPPORTED, "%s has no %s", f->target, what);
}

enum wm_status wm_image_describe(const char *target, const struct wm_image *wanted,
                                 uint32_t words[WM_IMAGE_WORDS], struct wm_image_layout *layout,
                                 struct wm_diag *diag)
{
    enum { CHANNEL_TYPE = 8, CHANNEL_ORDER, WIDTH };
    struct wmi_descriptor_rules rules = {0};
    struct wm_image_layout ignored;
    struct wm_image image = {0};
    if (!wanted || !words)
        return wmi_null(diag, __func__, wanted ? "words" : "image");
    enum wm_status status =
        wmi_take_struct(&image, sizeof image, offsetof(struct wm_image, mode), wanted, "wm_image", diag);
    if (status == WM_OK)
        status = find_rules(target, image.gpu, &rules, diag);
    if (status)
        return status;
    if ((unsigned)image.geometry > WM_IMAGE_2D_ARRAY || (unsigned)image.type > WM_IMAGE_F32)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "an image of geometry %u and type %u; there are none",
                        (unsigned)image.geometry, (unsigned)image.type);
    const bool buffer = image.geometry == WM_IMAGE_1D_BUFFER;
    if (buffer && image.mode)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "an image in a buffer is linear; its mode is %s", image.mode);
    struct fields f = {.target = target,
                       .layout = rules.layout,
                       .kind = buffer ? WM_DESCRIPTOR_BUFFER : WM_DESCRIPTOR_IMAGE};
    layout = layout ? layout : &ignored;
    status = check_has(&f, "images but those in buffers", diag);
    if (status == WM_OK)
        status = check(&f, &image, diag);
    if (status)
        return status;
    memset(words, 0, WM_IMAGE_WORDS * sizeof *words);
    words[CHANNEL_TYPE] = components[image.type].hsa;
    words[CHANNEL_ORDER] = orders[image.components].hsa;
    words[WIDTH] = image.width;
    return buffer ? describe_buffer(&f, &rules, &image, words, layout, diag)
                  : describe_image(&f, &rules, &image, words, layout, diag);
}

/* ---- samplers ---- */

enum wm_status wm_sampler_describe(const char *target, const struct wm_sampler *wanted,
                                   uint32_t words[WM_SAMPLER_WORDS], struct wm_diag *diag)
{
    enum { WRAP, MIRROR, LAST_TEXEL, BORDER = 6, BILINEAR = 1, LAST_LOD = 4095 };
    static const uint8_t clamps[] = {[WM_ADDRESSING_EDGE] = LAST_TEXEL,
                                     [WM_ADDRESSING_BORDER] = BORDER,
                                     [WM_ADDRESSING_REPEAT] = WRAP,
                                     [WM_ADDRESSING_MIRROR] = MIRROR};
    static const char *const axes[] = {"CLAMP_X", "CLAMP_Y", "CLAMP_Z"};
    struct wmi_descriptor_rules rules = {0};
    struct wm_sampler sampler = {0};
    if (!wanted || !words)
        return wmi_null(diag, __func__, wanted ? "words" : "sampler");
    enum wm_status status = wmi_take_struct(&sampler, sizeof sampler, offsetof(struct wm_sampler, levels),
                                            wanted, "wm_sampler", diag);
    if (status == WM_OK)
        status = find_rules(target, NULL, &rules, diag);
    if (status)
        return status;
    struct fields f = {.target = target, .layout = rules.layout, .kind = WM_DESCRIPTOR_SAMPLER};
    status = check_has(&f, "samplers", diag);
    if (status)
        return status;
    for (unsigned i = 0; i < 3; i++) {
        if ((unsigned)sampler.addressing[i] > WM_ADDRESSING_MIRROR)
            return wmi_fail(diag, WM_BAD_ARGUMENT, "addressing %u of a sampler; there is none",
                            (unsigned)sampler.addressing[i]);
        set(&f, axes[i], clamps[sampler.addressing[i]]);
    }
    if ((unsigned)sampler.levels > WM_LEVEL_LINEAR)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "filter %u between levels of a sampler; there is none",
                        (unsigned)sampler.levels);
    set(&f, "MIP_FILTER", sampler.levels);
    set(&f, "FORCE_UNNORMALIZED", !sampler.normalized);
    set(&f, "MAX_LOD", LAST_LOD);
    set(&f, "XY_MAG_FILTER", sampler.linear ? BILINEAR : 0);
    set(&f, "XY_MIN_FILTER", sampler.linear ? BILINEAR : 0);
    memset(words, 0, WM_SAMPLER_WORDS * sizeof *words);
    return encode(&f, words, diag);
}
