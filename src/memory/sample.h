/* SPDX-License-Identifier: MIT */
/* What a sampler takes from an image: the level of detail, the texels and their weights, and their sum.
 *
 * Pure functions of decoded descriptors and coordinates, independent of instructions and guest memory. */
#ifndef WMI_SAMPLE_H
#define WMI_SAMPLE_H

#include "memory/image.h"
#include "memory/sampler.h"

/* Texels of one sample: 8 of each of two levels. */
enum { WMI_SAMPLE_TAPS = 16, WMI_GATHER_TAPS = 4 };

/* The coordinates of an instruction, by its DIM or the T#'s type. */
struct wmi_sample_dims {
    uint8_t axes; /* coordinates within a slice: x; x and y; x, y and z */
    bool slice;   /* followed by a slice */
    bool cube;    /* the slice is a face of a cube, x and y are above by 1 */
};

/* dim, array: see wmi_image_texel(). */
struct wmi_sample_dims wmi_sample_dims(const struct wmi_image *image, unsigned dim, bool array);

/* Where a lane samples. */
struct wmi_sample_place {
    double coordinate[3]; /* x, y, z */
    double slice;
    double lod;
    int offset[3]; /* in texels */
};

struct wmi_tap {
    bool border;   /* the border colour, no texel */
    double weight; /* 0 to 1 */
    struct wmi_texel texel;
};

struct wmi_footprint {
    unsigned count;
    struct wmi_tap tap[WMI_SAMPLE_TAPS];
};

/* Level of detail for derivatives of the coordinates in two directions; without bias and limits. */
double wmi_sample_lod(const struct wmi_image *image, const struct wmi_sampler *sampler,
                      struct wmi_sample_dims dims, const double across[3], const double down[3]);

/* Adds the sampler's bias, if `biased`, and bounds the level of detail by the sampler, the image's MIN_LOD
 * and `least`. */
double wmi_sample_limit(const struct wmi_image *image, const struct wmi_sampler *sampler, double lod,
                        bool biased, double least);

/* The texels of one axis of a level: their numbers, -1 for the border. */
struct wmi_axis_texels {
    int32_t texel[2];
    double second; /* weight of the second one */
};

/* The spans of x, y and z in a level. Both texels of a span count in a gather; else the sampler's filter
 * says. */
void wmi_sample_spans(const struct wmi_image *image, const struct wmi_sampler *sampler,
                      struct wmi_sample_dims dims, const struct wmi_sample_place *place, uint32_t level,
                      bool gather, struct wmi_axis_texels span[3]);

/* Whether all samples are of one level and slice, with the same filter, whatever their level of detail. */
bool wmi_sample_is_flat(const struct wmi_image *image, const struct wmi_sampler *sampler,
                        struct wmi_sample_dims dims);

/* The texels of a sample, and those of a gather: (0, 1), (1, 1), (1, 0), (0, 0) of the two by two that a
 * linear filter takes, or in a row the four from (0, 0) on. Texels of weight 0 are left out of a sample. An
 * image without levels or slices has none. */
void wmi_sample_footprint(const struct wmi_image *image, const struct wmi_sampler *sampler,
                          struct wmi_sample_dims dims, const struct wmi_sample_place *place,
                          struct wmi_footprint *footprint);
void wmi_gather_footprint(const struct wmi_image *image, const struct wmi_sampler *sampler,
                          struct wmi_sample_dims dims, const struct wmi_sample_place *place, bool row,
                          struct wmi_footprint *footprint);

/* The components of a texel in the element at `from`, or without one (NULL) of the border, as an image load
 * gives them. */
void wmi_sample_texel(const struct wmi_image *image, const struct wmi_sampler *sampler,
                      const struct wmi_texel *texel, const unsigned char *from, bool half, uint32_t value[4]);

/* Whether the image has integers, which are not filtered. */
bool wmi_sample_integers(const struct wmi_image *image);

/* The result of comparing a reference with a texel's first component (f32): 0 or 1. */
double wmi_sample_compare(const struct wmi_image *image, const struct wmi_sampler *sampler, double reference,
                          uint32_t texel);

#endif
