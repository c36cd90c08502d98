/* SPDX-License-Identifier: MIT */
/* Layout of the off-chip tessellation buffer of Mesa's drivers. */
#ifndef WAVEMEM_TESS_H
#define WAVEMEM_TESS_H

#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Layout of the buffer through which a workgroup's tessellation control shader passes its outputs to the
 * evaluation shader. A slot is one vec4, 16 bytes. The values of a per-vertex slot for all vertices of all
 * patches are contiguous; the per-patch slots follow in the same way. Source: "radeonsi: Add offchip buffer
 * address calculation" (Mesa, 2016) and its later versions: the layouts of wm_tess_layout_at(). */
struct wm_tess_layout {
    const char *name;
    const char *source;                    /* origin of the layout */
    uint32_t patches, vertices;            /* patches per workgroup; output vertices per patch */
    uint32_t attributes, patch_attributes; /* slots per vertex; slots per patch */
    uint32_t attribute_stride;             /* bytes from one per-vertex slot to the next */
    uint32_t patch_stride;                 /* bytes from one per-patch slot to the next */
    uint32_t patch_data;                   /* byte offset of the per-patch slots */
    uint32_t size;                         /* bytes */
    uint32_t word;                         /* TCS_OFFCHIP_LAYOUT, as passed to the shaders */
};

/* One component of one slot. */
struct wm_tess_place {
    bool per_patch;    /* if set, `vertex` is ignored */
    uint32_t patch;    /* within the workgroup */
    uint32_t vertex;   /* within the patch */
    uint32_t slot;     /* the attribute: wm_tess_slot() */
    uint32_t indirect; /* index into an array of attributes, added to the slot */
    uint32_t byte;     /* within the slot: 4 per component */
};

/* Returns the name of layout `index` ("radeonsi-2016", ...), or NULL after the last one. */
WM_API const char *wm_tess_layout_at(size_t index);
/* Computes the layout `name` for these counts. WM_NOT_FOUND: unknown name; WM_BAD_ARGUMENT: a number does not
 * fit its field in the word. */
WM_API enum wm_status wm_tess_layout(const char *name, uint32_t patches, uint32_t vertices,
                                     uint32_t attributes, uint32_t patch_attributes,
                                     struct wm_tess_layout *layout, struct wm_diag *diag);
/* Computes the layout that a word describes. No word contains the number of per-patch slots. */
WM_API enum wm_status wm_tess_layout_of_word(const char *name, uint32_t word, uint32_t patch_attributes,
                                             struct wm_tess_layout *layout, struct wm_diag *diag);
/* Computes the byte offset of a place. WM_BAD_ARGUMENT: the layout has no such patch, vertex or slot. */
WM_API enum wm_status wm_tess_offset(const struct wm_tess_layout *layout, const struct wm_tess_place *place,
                                     uint32_t *offset, struct wm_diag *diag);
/* Computes the place that a byte offset belongs to. WM_NOT_FOUND: the byte is padding or after the end. */
WM_API enum wm_status wm_tess_place(const struct wm_tess_layout *layout, uint32_t offset,
                                    struct wm_tess_place *place, struct wm_diag *diag);
/* Returns the slot of a semantic: "position", "psize", "clipdist", "generic", or per patch "tessouter",
 * "tessinner", "patch"; case and a prefix TGSI_SEMANTIC_ are ignored. WM_UNSUPPORTED for layouts in which the
 * numbering depends on the slots that a shader uses. Source: Mesa 12, si_shader_io_get_unique_index(). */
WM_API enum wm_status wm_tess_slot(const char *name, const char *semantic, uint32_t index, uint32_t *slot,
                                   bool *per_patch, struct wm_diag *diag);

/* Distinct cache lines that one instruction of one wave accesses, in this layout and in the older one, in
 * which all data of a patch is contiguous (`_before`). */
struct wm_tess_lines {
    uint32_t store_lanes, load_lanes; /* active lanes */
    uint32_t store, store_before;     /* the control shader stores a per-vertex slot, one lane per vertex */
    uint32_t load, load_before;       /* the evaluation shader loads a slot of one vertex of each patch */
};
/* Counts the lines of `line_bytes` (a power of two, at least 16) that the first wave, which accesses most,
 * accesses. lanes: wave size. points: lanes of the evaluation shader per patch. WM_BAD_ARGUMENT: another
 * number, or a layout without per-vertex slots. */
WM_API enum wm_status wm_tess_lines(const struct wm_tess_layout *layout, uint32_t line_bytes, uint32_t lanes,
                                    uint32_t points, struct wm_tess_lines *lines, struct wm_diag *diag);

#ifdef __cplusplus
}
#endif

#endif
