/* SPDX-License-Identifier: MIT */
/* The public API of surfaces. */
#include "wavemem/surface.h"

#include "base/diag.h"
#include "base/versioned.h"
#include "isa/isa.h"
#include "memory/image.h"
#include "memory/tiling/copy.h"
#include "profile/cost/gpu.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct wm_surface {
    struct wmi_surface placed;
    struct wm_surface_layout layout;
    char mode[WMI_TILING_NAME];
};

static_assert((int)WM_SURFACE_LEVELS == (int)WMI_SURFACE_LEVELS, "all levels have room");
static_assert((int)WM_SURFACE_BITS == (int)WMI_BLOCK_BITS, "all bits have room");

static enum wm_status find_target(const char *name, const struct wmi_target **target, struct wm_diag *diag)
{
    *target = wmi_target_find(name);
    if (!*target)
        return wmi_fail(diag, WM_NOT_FOUND, "%s: not a target that wavemem knows; expected one like gfx900",
                        name ? name : "(null)");
    if (!wmi_descriptor_words((enum wmi_descriptor_layout)wmi_target_limit(*target, WMI_LIMIT_descriptors),
                              WM_DESCRIPTOR_IMAGE))
        return wmi_fail(diag, WM_UNSUPPORTED, "%s has no images", name);
    return WM_OK;
}

static enum wm_status check_gpu(const struct wm_gpu *gpu, const struct wmi_target *target,
                                struct wm_diag *diag)
{
    char what[64];
    snprintf(what, sizeof what, "the image is of %s", wmi_target_name(target));
    return gpu ? wmi_gpu_fits(gpu, target, what, diag) : WM_OK;
}

/* texels: of a level in one dimension; block: texels of an element. */
static uint32_t elements(uint32_t texels, unsigned level, uint32_t block)
{
    return (wmi_image_extent(texels, level) + block - 1) / block;
}

/* width, height: of level 0 in texels. */
static void describe(struct wm_surface *s, const struct wmi_tiling *tiling, uint32_t width, uint32_t height,
                     uint32_t block)
{
    const struct wmi_surface *p = &s->placed;
    const struct wmi_equation *e = p->equation;
    struct wm_surface_layout *l = &s->layout;
    wmi_tiling_mode_name(tiling, p->shape.mode, s->mode);
    *l = (struct wm_surface_layout){.mode = s->mode,
                                    .product = wmi_tiling_class(tiling),
                                    .bytes = p->bytes,
                                    .layer = p->layer,
                                    .alignment = p->alignment,
                                    .xor_bits = wmi_surface_xor_bits(p),
                                    .block_bytes = e ? 1u << e->bits : 0,
                                    .levels = p->shape.levels,
                                    .samples = p->shape.samples,
                                    .bytes_per_element = p->shape.bytes,
                                    .slices = p->shape.depth};
    for (unsigned i = 0; e && i < 3; i++)
        l->block[i] = 1u << e->block[i];
    for (unsigned i = 0; i < l->levels; i++) {
        const struct wmi_surface_level *level = &p->level[i];
        l->level[i].offset = level->offset;
        l->level[i].pitch = e                               ? level->pitch << e->block[0]
                            : p->kind == WMI_SURFACE_LINEAR ? level->pitch / p->shape.bytes
                                                            : level->pitch;
        l->level[i].width = elements(width, i, block);
        l->level[i].height = elements(height, i, block);
        l->level[i].depth = p->shape.dimensions == 3 ? wmi_image_extent(p->shape.depth, i) : p->shape.depth;
        l->level[i].tail = level->tail;
        l->packed += (uint64_t)l->level[i].width * l->level[i].height * l->level[i].depth * l->samples *
                     p->shape.bytes;
    }
}

static enum wm_status check_size(const char *what, uint32_t size, uint32_t most, struct wm_diag *diag)
{
    return size <= most ? WM_OK
                        : wmi_fail(diag, WM_BAD_ARGUMENT,
                                   "%s of the surface is %" PRIu32 "; at most %" PRIu32, what, size, most);
}

static enum wm_status check_shape(const struct wm_surface_shape *shape, struct wm_diag *diag)
{
    enum { SIDE = 65536, BYTES = 16, SAMPLES = 16 };
    const struct {
        const char *what;
        uint32_t size, most;
    } sizes[] = {{"the width", shape->width, SIDE},
                 {"the height", shape->height, SIDE},
                 {"the depth", shape->depth, SIDE},
                 {"the pitch", shape->pitch, SIDE},
                 {"an element", shape->bytes, BYTES},
                 {"the number of samples", shape->samples, SAMPLES},
                 {"the number of levels", shape->levels, WM_SURFACE_LEVELS}};
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const enum wm_status status = check_size(sizes[i].what, sizes[i].size, sizes[i].most, diag);
        if (status)
            return status;
    }
    if (!shape->width || !shape->bytes)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "%s of the surface is 0",
                        shape->bytes ? "the width" : "the size of an element");
    if (shape->dimensions > 3)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "a surface of %" PRIu32 " dimensions; expected 1, 2 or 3",
                        shape->dimensions);
    if (shape->dimensions == 1 && shape->height > 1)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "a surface of one dimension with a height of %" PRIu32,
                        shape->height);
    if (shape->block > 1 && shape->block != 4)
        return wmi_fail(diag, WM_BAD_ARGUMENT,
                        "elements of %" PRIu32 "x%" PRIu32 " texels; expected 1, or 4 for compressed formats",
                        shape->block, shape->block);
    return WM_OK;
}

/* Lists the modes that there are. */
static enum wm_status unknown_mode(const struct wmi_tiling *tiling, const char *mode, struct wm_diag *diag)
{
    char names[sizeof diag->message], name[WMI_TILING_NAME];
    size_t length = 0;
    names[0] = '\0';
    for (unsigned i = 0; i < 32 && length < sizeof names; i++) {
        wmi_tiling_mode_name(tiling, i, name);
        if (name[0])
            length +=
                (size_t)snprintf(names + length, sizeof names - length, "%s %s", length ? "," : "", name);
    }
    return wmi_fail(diag, WM_NOT_FOUND, "no swizzle mode '%.40s'; this product has%s", mode,
                    names[0] ? names : " none that wavemem knows but linear");
}

static uint32_t at_least_one(uint32_t n)
{
    return n ? n : 1;
}

enum wm_status wm_surface_create(const char *target_name, const struct wm_gpu *gpu,
                                 const struct wm_surface_shape *wanted, struct wm_surface **surface,
                                 struct wm_diag *diag)
{
    const struct wmi_target *target;
    struct wm_surface_shape shape = {0};
    unsigned mode;
    if (!wanted || !surface)
        return wmi_null(diag, __func__, wanted ? "surface" : "shape");
    *surface = NULL;
    enum wm_status status =
        wmi_take_struct(&shape, sizeof shape, sizeof shape, wanted, "wm_surface_shape", diag);
    if (!status)
        status = find_target(target_name, &target, diag);
    if (!status)
        status = check_gpu(gpu, target, diag);
    if (!status)
        status = check_shape(&shape, diag);
    if (status)
        return status;
    const struct wmi_tiling tiling = wmi_gpu_tiling(gpu, target);
    if (!shape.mode || !wmi_tiling_mode_find(&tiling, shape.mode, &mode))
        return unknown_mode(&tiling, shape.mode ? shape.mode : "(null)", diag);
    const uint32_t block = at_least_one(shape.block), height = at_least_one(shape.height);
    const struct wmi_surface_shape inside = {
        .dimensions = (uint8_t)(shape.dimensions ? shape.dimensions : 2),
        .bytes = (uint8_t)shape.bytes,
        .samples = (uint8_t)at_least_one(shape.samples),
        .levels = (uint8_t)at_least_one(shape.levels),
        .mode = (uint8_t)mode,
        .width = (shape.width + block - 1) / block,
        .height = (height + block - 1) / block,
        .depth = at_least_one(shape.depth),
        .pitch = shape.pitch,
        .pipe_bank_xor = shape.pipe_bank_xor,
    };
    struct wm_surface *s = calloc(1, sizeof *s);
    if (!s)
        return wmi_fail(diag, WM_NO_MEMORY, "no memory for a surface");
    const char *reason = wmi_surface_place(&tiling, &inside, &s->placed);
    if (reason) {
        free(s);
        return wmi_fail(diag, WM_UNSUPPORTED, "%s", reason);
    }
    describe(s, &tiling, shape.width, height, block);
    *surface = s;
    return WM_OK;
}

enum wm_status wm_surface_of_image(const char *target_name, const struct wm_gpu *gpu, const uint32_t words[8],
                                   struct wm_surface **surface, uint64_t *base, struct wm_diag *diag)
{
    const struct wmi_target *target;
    if (!words || !surface)
        return wmi_null(diag, __func__, words ? "surface" : "words");
    *surface = NULL;
    enum wm_status status = find_target(target_name, &target, diag);
    if (!status)
        status = check_gpu(gpu, target, diag);
    if (status)
        return status;
    const struct wmi_image_rules rules = {
        .layout = (enum wmi_descriptor_layout)wmi_target_limit(target, WMI_LIMIT_descriptors),
        .formats = wmi_format_rules(wmi_target_limit(target, WMI_LIMIT_format_rules)),
        .tiling = wmi_gpu_tiling(gpu, target),
    };
    struct wmi_image image;
    wmi_image_decode(&rules, words, &image);
    if (!image.bound)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "the words are not those of an image: TYPE is %u", image.type);
    if (!image.placed)
        return wmi_fail(diag, WM_UNSUPPORTED, "%s", image.refused);
    if (!image.format.layout->bytes && !image.compressed)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "the format of the image is INVALID: it has no texels");
    struct wm_surface *s = calloc(1, sizeof *s);
    if (!s)
        return wmi_fail(diag, WM_NO_MEMORY, "no memory for a surface");
    s->placed = image.surface;
    describe(s, &rules.tiling, image.width, image.height, image.compressed ? 4 : 1);
    if (base)
        *base = image.base;
    *surface = s;
    return WM_OK;
}

void wm_surface_destroy(struct wm_surface *surface)
{
    free(surface);
}

const struct wm_surface_layout *wm_surface_layout(const struct wm_surface *surface)
{
    return surface ? &surface->layout : NULL;
}

/* ---- places ---- */

static enum wm_status check_place(const struct wm_surface *s, const struct wm_surface_place *p,
                                  struct wm_diag *diag)
{
    const struct wm_surface_layout *l = &s->layout;
    if (p->level >= l->levels)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "level %" PRIu32 "; the surface has %" PRIu32, p->level,
                        l->levels);
    if (p->sample >= l->samples)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "sample %" PRIu32 "; the surface has %" PRIu32, p->sample,
                        l->samples);
    const uint32_t at[3] = {p->x, p->y, p->z};
    const uint32_t size[3] = {l->level[p->level].width, l->level[p->level].height, l->level[p->level].depth};
    for (unsigned i = 0; i < 3; i++)
        if (at[i] >= size[i])
            return wmi_fail(diag, WM_BAD_ARGUMENT, "%c is %" PRIu32 "; level %" PRIu32 " has %" PRIu32 " %s",
                            "xyz"[i], at[i], p -> level, size[i],
                            i == 0   ? "elements in a row"
                            : i == 1 ? "rows"
                                     : "slices");
    return WM_OK;
}

enum wm_status wm_surface_offset(const struct wm_surface *surface, const struct wm_surface_place *place,
                                 uint64_t *offset, struct wm_diag *diag)
{
    if (!surface || !place || !offset)
        return wmi_null(diag, __func__, !surface ? "surface" : place ? "offset" : "place");
    const enum wm_status status = check_place(surface, place, diag);
    if (!status)
        *offset =
            wmi_surface_offset(&surface->placed, place->x, place->y, place->z, place->sample, place->level);
    return status;
}

/* "x4^y7" */
static void write_term(struct wmi_term term, char text[WM_SURFACE_TERM])
{
    const uint16_t masks[] = {term.x, term.y, term.z, term.sample};
    size_t length = 0;
    for (unsigned c = 0; c < 4; c++)
        for (unsigned bit = 0; bit < 16 && length < WM_SURFACE_TERM; bit++)
            if (masks[c] >> bit & 1)
                length += (size_t)snprintf(text + length, WM_SURFACE_TERM - length, "%s%c%u",
                                           length ? "^" : "", "xyzs"[c], bit);
    if (!length)
        snprintf(text, WM_SURFACE_TERM, "0");
}

enum wm_status wm_surface_explain(const struct wm_surface *surface, const struct wm_surface_place *place,
                                  struct wm_surface_steps *steps, struct wm_diag *diag)
{
    if (!surface || !place || !steps)
        return wmi_null(diag, __func__, !surface ? "surface" : place ? "steps" : "place");
    const enum wm_status status = check_place(surface, place, diag);
    if (status)
        return status;
    const struct wmi_surface *s = &surface->placed;
    const struct wmi_equation *e = s->equation;
    const struct wmi_surface_level *level = &s->level[place->level];
    *steps = (struct wm_surface_steps){
        .offset = wmi_surface_offset(s, place->x, place->y, place->z, place->sample, place->level)};
    if (!e)
        return WM_OK;
    const uint32_t x = place->x + level->x, y = place->y + level->y;
    steps->by_equation = true;
    steps->layer = (place->z >> e->block[2]) * s->layer;
    steps->level = level->offset;
    steps->block_x = place->x >> e->block[0];
    steps->block_y = place->y >> e->block[1];
    steps->block = (steps->block_y * level->pitch + steps->block_x) << e->bits;
    steps->within = wmi_surface_in_block(s, x, y, place->z, place->sample);
    steps->tail_x = level->x;
    steps->tail_y = level->y;
    steps->pipe_bank_xor = (s->shape.pipe_bank_xor & e->xor_mask) << 8;
    steps->tail_xor = level->exclusive ^ steps->pipe_bank_xor;
    steps->bits = e->bits;
    for (unsigned bit = 0; bit < e->bits; bit++) {
        write_term(wmi_equation_term(e, bit), steps->bit[bit].term);
        steps->bit[bit].value = steps->within >> bit & 1;
    }
    return WM_OK;
}

/* ---- copies ---- */

static enum wm_status copy(const struct wm_surface *s, unsigned char *packed, size_t packed_size,
                           unsigned char *bytes, size_t size, bool tile, struct wm_diag *diag)
{
    const struct wm_surface_layout *l = &s->layout;
    if (packed_size != l->packed)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "%zu bytes of packed elements; the surface has %" PRIu64,
                        packed_size, l->packed);
    if (size < l->bytes)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "%zu bytes for a surface; it has %" PRIu64, size, l->bytes);
    for (unsigned i = 0; i < l->levels; i++) {
        if (!wmi_surface_copy(&s->placed, i, l->level[i].width, l->level[i].height, l->level[i].depth, packed,
                              bytes, tile))
            return wmi_fail(diag, WM_NO_MEMORY, "no memory to copy a surface");
        packed += (uint64_t)l->level[i].width * l->level[i].height * l->level[i].depth * l->samples *
                  l->bytes_per_element;
    }
    return WM_OK;
}

enum wm_status wm_surface_tile(const struct wm_surface *surface, const void *packed, size_t packed_size,
                               void *bytes, size_t surface_size, struct wm_diag *diag)
{
    if (!surface || !packed || !bytes)
        return wmi_null(diag, __func__, !surface ? "surface" : packed ? "bytes" : "packed");
    return copy(surface, (unsigned char *)packed, packed_size, bytes, surface_size, true, diag);
}

enum wm_status wm_surface_untile(const struct wm_surface *surface, const void *bytes, size_t surface_size,
                                 void *packed, size_t packed_size, struct wm_diag *diag)
{
    if (!surface || !packed || !bytes)
        return wmi_null(diag, __func__, !surface ? "surface" : packed ? "bytes" : "packed");
    return copy(surface, packed, packed_size, (unsigned char *)bytes, surface_size, false, diag);
}
