/* SPDX-License-Identifier: MIT */
/* Surfaces: where tiled and linear images have their texels, and copies between both layouts.
 *
 * A surface is the whole of an image: its slices, levels and samples. An element is a texel, or a block of
 * 4x4 texels of a compressed format. */
#ifndef WAVEMEM_SURFACE_H
#define WAVEMEM_SURFACE_H

#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

struct wm_gpu; /* gpu.h */
struct wm_surface;

enum { WM_SURFACE_LEVELS = 17, WM_SURFACE_BITS = 18, WM_SURFACE_TERM = 40 };

/* What is placed. */
struct wm_surface_shape {
    size_t struct_size;
    const char *mode;    /* a swizzle mode: "64KB_R_X", "linear", or its number; before gfx9 the number of an
                          * entry of GB_TILE_MODE, or what it says: "2D_TILED_THIN1 thin" */
    uint32_t dimensions; /* 1, 2 or 3; 0: 2 */
    uint32_t bytes;      /* of an element: 1 to 16 */
    uint32_t width;      /* of level 0, texels */
    uint32_t height;     /* 0: 1 */
    uint32_t depth;      /* 3D: of level 0; others: slices (faces of cubes); 0: 1 */
    uint32_t levels;     /* 0: 1 */
    uint32_t samples;    /* 1, 2, 4, 8; 0: 1 */
    uint32_t block;      /* 4: elements are blocks of 4x4 texels; 0 or 1: texels */
    uint32_t pitch;      /* elements from one row to the next, where it is not derived; 0: derived */
    uint32_t pipe_bank_xor; /* the low bits of BASE_ADDRESS */
};

/* Places a surface as `gpu` does, NULL: the target's default product. WM_UNSUPPORTED: the product does not
 * have such surfaces, or wavemem does not know where it places them. The caller destroys it. */
WM_API enum wm_status wm_surface_create(const char *target, const struct wm_gpu *gpu,
                                        const struct wm_surface_shape *shape, struct wm_surface **surface,
                                        struct wm_diag *diag);
/* The surface that a T# describes. base: where it begins, may be NULL. */
WM_API enum wm_status wm_surface_of_image(const char *target, const struct wm_gpu *gpu,
                                          const uint32_t words[8], struct wm_surface **surface,
                                          uint64_t *base, struct wm_diag *diag);
/* NULL is allowed. */
WM_API void wm_surface_destroy(struct wm_surface *surface);

struct wm_surface_level {
    uint64_t offset;               /* from the start of a layer */
    uint64_t pitch;                /* elements from one row to the next; 0 in the mip tail of gfx10 */
    uint32_t width, height, depth; /* elements that there are */
    bool tail;                     /* it shares a block with other levels */
};

struct wm_surface_layout {
    const char *mode;    /* its name */
    const char *product; /* the class of products that place it so: "gfx11:p5k5" */
    uint64_t bytes;      /* of the surface */
    uint64_t layer;      /* bytes from one slice to the next; thick modes: from one layer of blocks */
    uint64_t packed;     /* bytes of all elements, without gaps */
    uint32_t alignment;  /* of its base address, bytes */
    uint32_t xor_bits;   /* bits of the base address that are the pipe/bank XOR */
    uint32_t block[3];   /* width, height, depth of a block in elements; linear: 0 */
    uint32_t block_bytes;
    uint32_t levels, samples, bytes_per_element, slices; /* slices: of level 0 */
    struct wm_surface_level level[WM_SURFACE_LEVELS];
};

/* Valid as long as the surface. */
WM_API const struct wm_surface_layout *wm_surface_layout(const struct wm_surface *surface);

/* A place in elements. z: depth or slice. */
struct wm_surface_place {
    uint32_t x, y, z, level, sample;
};

/* Bytes from the start of the surface to an element. WM_BAD_ARGUMENT: there is no such element. */
WM_API enum wm_status wm_surface_offset(const struct wm_surface *surface,
                                        const struct wm_surface_place *place, uint64_t *offset,
                                        struct wm_diag *diag);

/* How an offset comes about: layer + level + block + (within ^ tail_xor ^ pipe_bank_xor). */
struct wm_surface_steps {
    uint64_t offset;
    uint64_t layer, level, block;      /* bytes */
    uint64_t block_x, block_y;         /* block of the level */
    uint32_t within;                   /* the equation's value */
    uint32_t tail_x, tail_y, tail_xor; /* place in the tail: added to x and y (gfx10), or XORed (gfx9) */
    uint32_t pipe_bank_xor;            /* as far as it counts, in bytes */
    bool by_equation;                  /* else only `offset` is set */
    uint32_t bits;                     /* of the equation */
    struct {
        char term[WM_SURFACE_TERM]; /* "x4^y7", or "0" */
        bool value;
    } bit[WM_SURFACE_BITS];
};

WM_API enum wm_status wm_surface_explain(const struct wm_surface *surface,
                                         const struct wm_surface_place *place, struct wm_surface_steps *steps,
                                         struct wm_diag *diag);

/* Copies all elements from a packed array to the surface, or back. The array has level 0 first; each level
 * has its slices, rows, elements of a row and samples of an element, without gaps. packed_size must be
 * `packed` of the layout, surface_size at least its `bytes`. Bytes of the surface that belong to no element
 * stay as they are. */
WM_API enum wm_status wm_surface_tile(const struct wm_surface *surface, const void *packed,
                                      size_t packed_size, void *bytes, size_t surface_size,
                                      struct wm_diag *diag);
WM_API enum wm_status wm_surface_untile(const struct wm_surface *surface, const void *bytes,
                                        size_t surface_size, void *packed, size_t packed_size,
                                        struct wm_diag *diag);

#ifdef __cplusplus
}
#endif

#endif
