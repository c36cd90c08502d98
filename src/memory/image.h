/* SPDX-License-Identifier: MIT */
/* Image resources (T#): decoding and the addresses of texels.
 *
 * Pure functions of the descriptor and coordinates, independent of instructions and guest memory. */
#ifndef WMI_IMAGE_H
#define WMI_IMAGE_H

#include "memory/descriptor.h"
#include "memory/format.h"
#include "memory/tiling/tiling.h"

/* TYPE of a T#; smaller values are not images. Source: AMD's register headers in PAL, SQ_RSRC_IMG_*. */
enum wmi_image_type {
    WMI_IMAGE_1D = 8,
    WMI_IMAGE_2D,
    WMI_IMAGE_3D,
    WMI_IMAGE_CUBE,
    WMI_IMAGE_1D_ARRAY,
    WMI_IMAGE_2D_ARRAY,
    WMI_IMAGE_2D_MSAA,
    WMI_IMAGE_2D_MSAA_ARRAY,
};

/* A T#, decoded. */
struct wmi_image {
    const char *refused;           /* why wavemem cannot access it; or NULL */
    bool bound;                    /* false: no image; loads give 0, stores do nothing */
    uint8_t type;                  /* enum wmi_image_type */
    uint64_t base;                 /* bytes */
    uint32_t width, height, depth; /* texels of level 0; depth: of a 3D image, else 1 */
    uint32_t first_slice, slices;  /* BASE_ARRAY; number of slices accessible from there */
    uint32_t base_level, levels;   /* BASE_LEVEL; number of levels accessible from there */
    uint32_t samples;              /* of a texel */
    bool compressed;               /* BC1 to BC7: an element is a block */
    bool placed;                   /* it is known where texels are, even if `refused` */
    struct wmi_surface surface;    /* where: in texels, of BC1 to BC7 in blocks of 4x4 texels */
    struct wmi_format format;
    unsigned select;      /* DST_SEL */
    uint8_t border_order; /* BC_SWIZZLE */
    double lod_least;     /* MIN_LOD */
};

/* A texel, relative to the view: level 0 is BASE_LEVEL, slice 0 is BASE_ARRAY. */
struct wmi_texel {
    uint32_t x, y;
    uint32_t slice; /* array layer, 6 x layer + face of a cube, or z */
    uint32_t level;
    uint32_t sample;
};

/* What a target, and a product of it, make of a T#. */
struct wmi_image_rules {
    enum wmi_descriptor_layout layout;
    const struct wmi_format_rules *formats;
    struct wmi_tiling tiling;
};

void wmi_image_decode(const struct wmi_image_rules *rules, const uint32_t words[8], struct wmi_image *image);

enum { WMI_IMAGE_COORDINATES = 4, WMI_IMAGE_DIM_TYPE = 8 };

/* Returns the texel for the coordinates of an instruction. `dim` (DIM of gfx10 and later, or
 * WMI_IMAGE_DIM_TYPE for the T#'s type) and `array` (DA) determine the coordinates. level: the last
 * coordinate is the level. */
struct wmi_texel wmi_image_texel(const struct wmi_image *image, unsigned dim, bool array, bool level,
                                 const uint32_t coordinates[WMI_IMAGE_COORDINATES]);

/* Size of `level` in a dimension with `texels` texels in level 0. */
uint32_t wmi_image_extent(uint32_t texels, uint32_t level);
/* Whether the image has the texel. */
bool wmi_image_in_range(const struct wmi_image *image, const struct wmi_texel *texel);
/* Returns the address of the texel, or of the block that contains it, even if it is out of range. The image
 * must be placed. */
uint64_t wmi_texel_address(const struct wmi_image *image, const struct wmi_texel *texel);
/* Loads the components of a texel from the element at that address, see wmi_format_load(). */
void wmi_texel_load(const struct wmi_image *image, const struct wmi_texel *texel, const unsigned char *from,
                    bool half, uint32_t value[4]);

#endif
