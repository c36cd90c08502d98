/* SPDX-License-Identifier: MIT */
/* Samplers (S#): decoding.
 *
 * Pure functions of the descriptor, independent of instructions and guest memory. */
#ifndef WMI_SAMPLER_H
#define WMI_SAMPLER_H

#include "memory/descriptor.h"

/* CLAMP_X, CLAMP_Y, CLAMP_Z. Source: AMD's register headers in PAL, SQ_TEX_CLAMP. */
enum wmi_clamp {
    WMI_CLAMP_WRAP,
    WMI_CLAMP_MIRROR,
    WMI_CLAMP_LAST_TEXEL,
    WMI_CLAMP_MIRROR_ONCE_LAST_TEXEL,
    WMI_CLAMP_HALF_BORDER,
    WMI_CLAMP_MIRROR_ONCE_HALF_BORDER,
    WMI_CLAMP_BORDER,
    WMI_CLAMP_MIRROR_ONCE_BORDER,
};

/* Z_FILTER and MIP_FILTER. */
enum wmi_z_filter { WMI_Z_FILTER_NONE, WMI_Z_FILTER_POINT, WMI_Z_FILTER_LINEAR };

/* FILTER_MODE: how texels are combined. */
enum wmi_filter_mode { WMI_FILTER_BLEND, WMI_FILTER_MIN, WMI_FILTER_MAX };

/* BORDER_COLOR_TYPE. */
enum wmi_border { WMI_BORDER_TRANSPARENT, WMI_BORDER_BLACK, WMI_BORDER_WHITE, WMI_BORDER_REGISTER };

/* An S#, decoded. */
struct wmi_sampler {
    const char *refused;          /* why wavemem cannot sample with it; or NULL */
    uint8_t clamp[3];             /* enum wmi_clamp of x, y and z */
    uint8_t compare;              /* DEPTH_COMPARE_FUNC */
    uint8_t mode;                 /* enum wmi_filter_mode */
    bool linear_near, linear_far; /* XY_MAG_FILTER and XY_MIN_FILTER are linear */
    uint8_t z, mip;               /* enum wmi_z_filter */
    uint8_t border;               /* enum wmi_border */
    bool unnormalized;            /* coordinates count texels */
    bool truncates;               /* point filter: coordinates are cut off, not rounded first */
    double bias, lod_least, lod_most;
};

struct wmi_sampler wmi_sampler_decode(enum wmi_descriptor_layout layout, const uint32_t words[4]);

#endif
