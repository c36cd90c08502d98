/* SPDX-License-Identifier: MIT */
/* Tessellation: the off-chip buffer of Mesa's drivers. */
#ifndef WAVEMEM_TESS_H
#define WAVEMEM_TESS_H

#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where a workgroup's tessellation control shader leaves its outputs for the evaluation shader. Each slot is
 * one vec4, 16 bytes; a slot's values of all vertices of all patches stand together, and so do those of a
 * slot per patch behind them. Source: "radeonsi: Add offchip buffer address calculation" (Mesa, 2016) and
 * what became of it: the layouts of wm_tess_layout_at(). */
struct wm_tess_layout {
    const char *name;
    const char *source;                    /* where the layout is from */
    uint32_t patches, vertices;            /* of the workgroup; that the control shader writes per patch */
    uint32_t attributes, patch_attributes; /* slots per vertex, and per patch */
    uint32_t attribute_stride;             /* bytes from a slot per vertex to the next */
    uint32_t patch_stride;                 /* bytes from a slot per patch to the next */
    uint32_t patch_data;                   /* byte where the slots per patch begin */
    uint32_t size;                         /* bytes */
    uint32_t word;                         /* the layout as the shaders get it, TCS_OFFCHIP_LAYOUT */
};

/* One component of one slot. */
struct wm_tess_place {
    bool per_patch;    /* then vertex does not count */
    uint32_t patch;    /* in its workgroup */
    uint32_t vertex;   /* of the patch */
    uint32_t slot;     /* the attribute: wm_tess_slot() */
    uint32_t indirect; /* is added to the slot: the index into an array of attributes */
    uint32_t byte;     /* within the slot: 4 per component */
};

/* The name of layout number `index` ("radeonsi-2016", ...), or NULL behind the last. */
WM_API const char *wm_tess_layout_at(size_t index);
/* The layout `name` of so much. WM_NOT_FOUND for another name; WM_BAD_ARGUMENT where a number does not fit
 * its field in the word. */
WM_API enum wm_status wm_tess_layout(const char *name, uint32_t patches, uint32_t vertices,
                                     uint32_t attributes, uint32_t patch_attributes,
                                     struct wm_tess_layout *layout, struct wm_diag *diag);
/* The layout that a word describes; how many slots per patch there are stands in none. */
WM_API enum wm_status wm_tess_layout_of_word(const char *name, uint32_t word, uint32_t patch_attributes,
                                             struct wm_tess_layout *layout, struct wm_diag *diag);
/* The byte of the place. WM_BAD_ARGUMENT when the layout has no such patch, vertex or slot. */
WM_API enum wm_status wm_tess_offset(const struct wm_tess_layout *layout, const struct wm_tess_place *place,
                                     uint32_t *offset, struct wm_diag *diag);
/* The place that the byte belongs to. WM_NOT_FOUND between slots that are apart, and behind the end. */
WM_API enum wm_status wm_tess_place(const struct wm_tess_layout *layout, uint32_t offset,
                                    struct wm_tess_place *place, struct wm_diag *diag);
/* The slot of a semantic: "position", "psize", "clipdist", "generic", and per patch "tessouter", "tessinner",
 * "patch", in any case, with TGSI_SEMANTIC_ before it or not. WM_UNSUPPORTED for layouts that number the
 * slots by which ones a shader uses. Source: Mesa 12, si_shader_io_get_unique_index(). */
WM_API enum wm_status wm_tess_slot(const char *name, const char *semantic, uint32_t index, uint32_t *slot,
                                   bool *per_patch, struct wm_diag *diag);

/* Different cache lines that an instruction of one wave touches, here and in the layout before, in which all
 * of a patch stands together. */
struct wm_tess_lines {
    uint32_t store_lanes, load_lanes; /* active ones */
    uint32_t store, store_before; /* the control shader stores a slot per vertex, a lane for each vertex */
    uint32_t load, load_before;   /* the evaluation shader loads a slot of one vertex of each patch */
};
/* For lines of `line_bytes` (a power of two from 16 on), waves of `lanes`, and `points` lanes of the
 * evaluation shader for each patch. Counts for the first wave, which has the most. WM_BAD_ARGUMENT for other
 * numbers, and for layouts without slots per vertex. */
WM_API enum wm_status wm_tess_lines(const struct wm_tess_layout *layout, uint32_t line_bytes, uint32_t lanes,
                                    uint32_t points, struct wm_tess_lines *lines, struct wm_diag *diag);

#ifdef __cplusplus
}
#endif

#endif
