/* SPDX-License-Identifier: MIT */
/* Images and samplers as OpenCL and HIP kernels take them: their descriptors, and where texels are.
 *
 * An OpenCL image argument is the address of WM_IMAGE_WORDS words, a sampler argument that of
 * WM_SAMPLER_WORDS words; a HIP texture object is the address of both, one behind the other. Texels are the
 * caller's memory. */
#ifndef WAVEMEM_IMAGE_H
#define WAVEMEM_IMAGE_H

#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

struct wm_gpu; /* gpu.h */

enum wm_image_geometry {
    WM_IMAGE_1D,
    WM_IMAGE_1D_BUFFER, /* a buffer with a format: plain elements, no sampler */
    WM_IMAGE_2D,
    WM_IMAGE_3D,
    WM_IMAGE_1D_ARRAY,
    WM_IMAGE_2D_ARRAY,
};

/* How a component is stored. Kernels read normalized ones and floats as f32, the others as u32 and i32. */
enum wm_image_type {
    WM_IMAGE_UNORM8,
    WM_IMAGE_UNORM16,
    WM_IMAGE_SNORM8,
    WM_IMAGE_SNORM16,
    WM_IMAGE_U8,
    WM_IMAGE_U16,
    WM_IMAGE_U32,
    WM_IMAGE_I8,
    WM_IMAGE_I16,
    WM_IMAGE_I32,
    WM_IMAGE_F16,
    WM_IMAGE_F32,
};

enum { WM_IMAGE_ALIGNMENT = 256, WM_IMAGE_WORDS = 12, WM_SAMPLER_WORDS = 8 };

struct wm_image {
    size_t struct_size;
    enum wm_image_geometry geometry;
    enum wm_image_type type;
    uint32_t components; /* 1, 2 or 4; absent ones read as 0, the fourth as 1 */
    uint32_t width;
    uint32_t height;  /* 2D, 3D, 2D arrays */
    uint32_t depth;   /* 3D: in z; arrays: layers */
    uint64_t address; /* of the image, a multiple of WM_IMAGE_ALIGNMENT; tiled: of its block (surface.h) */
    const char *mode; /* swizzle mode of a tiled image, as in wm_surface_shape; NULL: linear */
    const struct wm_gpu *gpu; /* product whose modes count; NULL: the target's default */
    uint64_t row;    /* bytes between rows of a linear image with one level, a multiple of WM_IMAGE_ALIGNMENT;
                        0: as few as possible */
    uint32_t levels; /* each half as large as the one before; 0: 1 */
    uint32_t first_level; /* the first one that kernels see, as their level 0 */
    uint32_t seen_levels; /* how many they see; 0: all from the first one on */
};

/* Where the texels of level 0 are: x * texel + y * row + z * slice bytes from the address on. Of a tiled
 * image, row and slice are 0: wm_surface_of_image() tells where its texels are, and those of other levels. */
struct wm_image_layout {
    uint32_t texel;
    uint64_t row, slice;
    uint64_t bytes; /* of the whole image */
    uint32_t rows, slices;
    uint32_t alignment; /* of the address */
};

/* Describes an image for `target`: the T# (of a buffer the V#), then as ROCm's runtime
 * does the type and order of channels, and the width. `layout` may be NULL. WM_BAD_ARGUMENT: a size, format
 * or address that the target does not have; WM_UNSUPPORTED: it has no images (gfx940 and later have buffers
 * only), or not with such rows (gfx10 before gfx1030 has no field for them, later targets for 1D and 2D
 * only), or not with levels (gfx8 and earlier: no source defines where they are). */
WM_API enum wm_status wm_image_describe(const char *target, const struct wm_image *image,
                                        uint32_t words[WM_IMAGE_WORDS], struct wm_image_layout *layout,
                                        struct wm_diag *diag);

/* What a coordinate outside the image stands for. */
enum wm_addressing {
    WM_ADDRESSING_EDGE,   /* the nearest texel; CLK_ADDRESS_CLAMP_TO_EDGE, also for CLK_ADDRESS_NONE */
    WM_ADDRESSING_BORDER, /* zeros; CLK_ADDRESS_CLAMP */
    WM_ADDRESSING_REPEAT,
    WM_ADDRESSING_MIRROR, /* CLK_ADDRESS_MIRRORED_REPEAT */
};

/* Which levels a sample with a level of detail takes. */
enum wm_level_filter {
    WM_LEVEL_FIRST, /* the first one only */
    WM_LEVEL_NEAREST,
    WM_LEVEL_LINEAR, /* the two next to it */
};

struct wm_sampler {
    size_t struct_size;
    enum wm_addressing addressing[3]; /* of x, y and z */
    bool linear;                      /* else nearest */
    bool normalized;                  /* coordinates are 0 to 1, not texels */
    enum wm_level_filter levels;
};

/* Describes a sampler: the S#, and words that are 0. */
WM_API enum wm_status wm_sampler_describe(const char *target, const struct wm_sampler *sampler,
                                          uint32_t words[WM_SAMPLER_WORDS], struct wm_diag *diag);

#ifdef __cplusplus
}
#endif

#endif
