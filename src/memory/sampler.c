/* SPDX-License-Identifier: MIT */
/* Decodes an S#. The positions of its fields are in descriptor_fields.c. */
#include "memory/sampler.h"

static uint64_t get(enum wmi_descriptor_layout layout, const uint32_t words[4], const char *name)
{
    const struct wmi_descriptor_field *field = wmi_field_find(layout, WM_DESCRIPTOR_SAMPLER, name);
    return field ? wmi_field_get(field, words) : 0;
}

static bool has_border(unsigned clamp)
{
    return clamp >= WMI_CLAMP_HALF_BORDER;
}

/* The border colours of BORDER_COLOR_TYPE 3 are in memory, at an address in a register of the GPU. */
static const char *refusal(const struct wmi_sampler *s, bool degamma)
{
    if (s->border == WMI_BORDER_REGISTER &&
        (has_border(s->clamp[0]) || has_border(s->clamp[1]) || has_border(s->clamp[2])))
        return "a sampler whose border colour is in a register; wavemem knows the fixed ones";
    if (s->mode > WMI_FILTER_MAX)
        return "a sampler with a reserved FILTER_MODE";
    if (s->mip > WMI_Z_FILTER_LINEAR || s->z > WMI_Z_FILTER_LINEAR)
        return "a sampler with a reserved filter";
    if (degamma)
        return "a sampler with FORCE_DEGAMMA, which wavemem does not model";
    return NULL;
}

/* An anisotropic filter (values 2 and 3) takes one sample, as with MAX_ANISO_RATIO 1 : 1 (approx). */
struct wmi_sampler wmi_sampler_decode(enum wmi_descriptor_layout layout, const uint32_t words[4])
{
    enum { LINEAR = 1, LOD_ONE = 256, BIAS_SIGN = 0x2000 };
    const uint64_t bias = get(layout, words, "LOD_BIAS");
    struct wmi_sampler s = {
        .clamp = {(uint8_t)get(layout, words, "CLAMP_X"), (uint8_t)get(layout, words, "CLAMP_Y"),
                  (uint8_t)get(layout, words, "CLAMP_Z")},
        .compare = (uint8_t)get(layout, words, "DEPTH_COMPARE_FUNC"),
        .mode = (uint8_t)get(layout, words, "FILTER_MODE"),
        .linear_near = get(layout, words, "XY_MAG_FILTER") & LINEAR,
        .linear_far = get(layout, words, "XY_MIN_FILTER") & LINEAR,
        .z = (uint8_t)get(layout, words, "Z_FILTER"),
        .mip = (uint8_t)get(layout, words, "MIP_FILTER"),
        .border = (uint8_t)get(layout, words, "BORDER_COLOR_TYPE"),
        .unnormalized = get(layout, words, "FORCE_UNNORMALIZED"),
        .truncates = get(layout, words, "TRUNC_COORD"),
        .bias = ((double)(bias ^ BIAS_SIGN) - BIAS_SIGN) / LOD_ONE,
        .lod_least = (double)get(layout, words, "MIN_LOD") / LOD_ONE,
        .lod_most = (double)get(layout, words, "MAX_LOD") / LOD_ONE,
    };
    s.refused = refusal(&s, get(layout, words, "FORCE_DEGAMMA"));
    return s;
}
