/* SPDX-License-Identifier: MIT */
/* Linear image resources (T#): decoding and the addresses of texels.
 *
 * Pure functions of the descriptor and coordinates, independent of instructions and guest memory. */
#ifndef WMI_IMAGE_H
#define WMI_IMAGE_H

#include "memory/descriptor.h"
#include "memory/format.h"

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
    uint32_t pitch;       /* texels per row of level 0, if the T# contains it; 0: derived from the width */
    uint32_t pitch_bytes; /* alignment of rows if the pitch is derived */
    uint32_t mips;        /* levels of the resource, from level 0 on */
    uint32_t chain_rows;  /* rows of a slice if its largest level is first; 0: the smallest is first */
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
};

struct wmi_image wmi_image_decode(enum wmi_layout layout, const struct wmi_format_rules *formats,
                                  const uint32_t words[8]);

enum { WMI_IMAGE_COORDINATES = 4, WMI_IMAGE_DIM_TYPE = 8 };

/* Returns the texel for the coordinates of an instruction. `dim` (DIM of gfx10 and later, or
 * WMI_IMAGE_DIM_TYPE for the T#'s type) and `array` (DA) determine the coordinates. level: the last
 * coordinate is the level. */
struct wmi_texel wmi_image_texel(const struct wmi_image *image, unsigned dim, bool array, bool level,
                                 const uint32_t coordinates[WMI_IMAGE_COORDINATES]);

/* Size of `level` in a dimension with `texels` texels in level 0. */
uint32_t wmi_image_extent(uint32_t texels, uint32_t level);
/* Bytes from one row of a level to the next, and from one slice to the next. */
uint64_t wmi_image_row_bytes(const struct wmi_image *image, uint32_t level);
uint64_t wmi_image_slice_bytes(const struct wmi_image *image);
/* Byte offset of a level in its slice. */
uint64_t wmi_image_level_offset(const struct wmi_image *image, uint32_t level);

/* Whether the image has the texel. */
bool wmi_image_in_range(const struct wmi_image *image, const struct wmi_texel *texel);
/* Returns the address of the texel, even if it is out of range. Source: AMD's addrlib,
 * HwlComputeSurfaceInfoLinear. */
uint64_t wmi_texel_address(const struct wmi_image *image, const struct wmi_texel *texel);

#endif
