/* SPDX-License-Identifier: MIT */
/* Tables of resource descriptors: the position of each field of a V#, T# or S# per generation.
 *
 * A layout is identified by a number, the limit `descriptors` of a target. Pure functions of words; buffer.h
 * implements the semantics of buffer fields. */
#ifndef WMI_DESCRIPTOR_H
#define WMI_DESCRIPTOR_H

#include "memory/tiling/tiling.h"
#include "wavemem/wavemem.h"

/* The layouts, named after the first target that has them. */
enum wmi_descriptor_layout {
    WMI_LAYOUT_GFX600,
    WMI_LAYOUT_GFX700,
    WMI_LAYOUT_GFX801,
    WMI_LAYOUT_GFX900,
    WMI_LAYOUT_GFX940,
    WMI_LAYOUT_GFX1010,
    WMI_LAYOUT_GFX1030,
    WMI_LAYOUT_GFX1100,
    WMI_LAYOUT_GFX1200,
    WMI_LAYOUT_GFX1250,
    WMI_LAYOUTS
};

/* How the value of a field is explained: up to WMI_MEANING_NAMES by a specific text, from there on by a list
 * of names. */
enum wmi_meaning {
    WMI_MEANING_NUMBER,
    WMI_MEANING_ADDRESS,
    WMI_MEANING_ADDRESS_256, /* in units of 256 bytes */
    WMI_MEANING_BYTES,
    WMI_MEANING_MINUS_1,      /* stored minus 1 */
    WMI_MEANING_INDEX_STRIDE, /* 8 << value */
    WMI_MEANING_ELEMENT_SIZE, /* 2 << value */
    WMI_MEANING_LOD,          /* fixed point, 8 fraction bits */
    WMI_MEANING_SIGNED_LOD,
    WMI_MEANING_ANISO_RATIO,  /* 1 << value */
    WMI_MEANING_FORMAT,       /* buffers, gfx10 and later */
    WMI_MEANING_IMAGE_FORMAT, /* images, gfx10 and later */
    WMI_MEANING_NAMES,
    WMI_MEANING_FLAG = WMI_MEANING_NAMES,
    WMI_MEANING_SELECT,
    WMI_MEANING_DATA_FORMAT,
    WMI_MEANING_NUMBER_FORMAT,
    WMI_MEANING_SWIZZLE,
    WMI_MEANING_STRIDE_SCALE,
    WMI_MEANING_RANGE_CHECK,
    WMI_MEANING_RANGE_CHECK_PAYLOAD,
    WMI_MEANING_RANGE_CHECK_BYTES,
    WMI_MEANING_BUFFER_TYPE,
    WMI_MEANING_IMAGE_TYPE,
    WMI_MEANING_TILING,
    WMI_MEANING_TILING_GFX11,
    WMI_MEANING_TILING_GFX12,
    WMI_MEANING_CLAMP,
    WMI_MEANING_COMPARE,
    WMI_MEANING_XY_FILTER,
    WMI_MEANING_Z_FILTER,
    WMI_MEANING_FILTER_MODE,
    WMI_MEANING_BORDER,
    WMI_MEANINGS
};

/* A field: `bits` bits starting at bit `bit` of the descriptor; it may cross words. */
struct wmi_descriptor_field {
    const char *name;
    uint16_t layouts; /* bit i: layout i has the field */
    uint8_t bit, bits;
    uint8_t meaning; /* enum wmi_meaning */
};

/* Returns all fields of a kind in all layouts; the last one has no name. */
const struct wmi_descriptor_field *wmi_fields(enum wm_descriptor_kind kind);
/* The name of a value, or NULL. */
const char *wmi_meaning_name(enum wmi_meaning meaning, uint64_t value);
/* Number of words of a descriptor; 0: the layout has no such kind. */
unsigned wmi_descriptor_words(enum wmi_descriptor_layout layout, enum wm_descriptor_kind kind);

uint64_t wmi_field_get(const struct wmi_descriptor_field *field, const uint32_t *words);
/* Drops bits of `value` that do not fit. */
void wmi_field_set(const struct wmi_descriptor_field *field, uint32_t *words, uint64_t value);
/* Finds a field by name, ignoring case; NULL: the layout has no such field. */
const struct wmi_descriptor_field *wmi_field_find(enum wmi_descriptor_layout layout,
                                                  enum wm_descriptor_kind kind, const char *name);

/* The rules of a target for descriptors, from its limits. */
struct wmi_descriptor_rules {
    enum wmi_descriptor_layout layout;
    const struct wmi_buffer_rules *buffer;
    const struct wmi_format_rules *format;
    struct wmi_tiling tiling;
};

/* Sets the fields of `descriptor` from its kind and words. */
void wmi_descriptor_fields(const struct wmi_descriptor_rules *rules, struct wm_descriptor *descriptor);
/* Sets the warnings; the fields must be set. */
void wmi_descriptor_check(const struct wmi_descriptor_rules *rules, struct wm_descriptor *descriptor);

#endif
