/* SPDX-License-Identifier: MIT */
/* Tiled surfaces: where a product places the elements of an image.
 *
 * An element is a texel, or a block of 4x4 texels of a compressed format. All coordinates and sizes are in
 * elements. Pure functions, independent of descriptors and guest memory. */
#ifndef WMI_TILING_H
#define WMI_TILING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    WMI_SURFACE_LEVELS = 17,
    WMI_BLOCK_BITS = 18, /* the largest block has 2^18 bytes */
    WMI_TILING_NAME = 24,
};

/* ---- what a product does ---- */

struct wmi_tile_tables;

/* The rules of a product: the limit `tiling` of its target, and what its registers say. */
struct wmi_tiling {
    uint8_t rules;                        /* a row of tiling.c */
    int8_t product;                       /* the class of equations; negative: none is known */
    const struct wmi_tile_tables *tables; /* GB_TILE_MODE and GB_MACROTILE_MODE, where images name entries of
                                             tables; NULL: unknown */
};

/* How a generation tiles. */
struct wmi_tiling_rules {
    uint8_t linear;    /* number of linear images */
    uint8_t equations; /* generation of the equations; 0: tables of tile modes */
    bool indexed;      /* tables of tile modes */
    enum {
        WMI_CHAIN_UNKNOWN,
        WMI_CHAIN_BESIDE,         /* levels share a pitch and lie beside and below one another */
        WMI_CHAIN_SMALLEST_FIRST, /* each level has its pitch; the tail and the smallest level are first */
    } chain;
    uint16_t pitch_bytes; /* linear images: alignment of a row */
    uint16_t level_bytes; /* that of rows when the size of a level is computed, if it differs */
    bool small_z_tail;    /* Z modes with elements of 1 or 2 bytes have a smaller tail */
};

const struct wmi_tiling_rules *wmi_tiling_rules(const struct wmi_tiling *tiling);

/* address_config: GB_ADDR_CONFIG. chip: the PCI device number, which selects the tables. */
struct wmi_tiling wmi_tiling_of(unsigned rules, uint32_t address_config, uint32_t chip);
/* The name of the class ("gfx11:p5k5"), or of the chip whose tables are used; "" if there is none. */
const char *wmi_tiling_class(const struct wmi_tiling *tiling);
/* Whether images name entries of tables (TILING_INDEX) and not swizzle modes. */
bool wmi_tiling_indexed(const struct wmi_tiling *tiling);
/* The number of linear images. */
unsigned wmi_tiling_linear(const struct wmi_tiling *tiling);
/* Whether a mode is for depth and stencil. */
bool wmi_tiling_for_depth(const struct wmi_tiling *tiling, unsigned mode);
/* The name of a mode, or of what an entry of the tables says; "" if the product does not have it. */
void wmi_tiling_mode_name(const struct wmi_tiling *tiling, unsigned mode, char name[WMI_TILING_NAME]);
/* Finds a mode by its name, ignoring case, or its number. */
bool wmi_tiling_mode_find(const struct wmi_tiling *tiling, const char *name, unsigned *mode);

/* ---- equations ---- */

/* An address bit is the XOR of these bits of the coordinates. */
struct wmi_term {
    uint16_t x, y, z, sample;
};

/* The order of the elements of a block. Block sizes, element size and samples are binary logarithms. */
struct wmi_equation {
    const char *name; /* of the mode: "64KB_R_X" */
    uint8_t mode, dimensions, element, samples;
    uint8_t block[3], bits; /* width, height, depth; bytes */
    uint16_t xor_mask;      /* bits of the pipe/bank XOR that count; bit 0 is address bit 8 */
    uint16_t group[4];      /* where its terms are */
    uint32_t classes;       /* bit mask */
};

/* dimensions: 1, 2 or 3. NULL: the product has no such mode for such elements. */
const struct wmi_equation *wmi_equation_find(const struct wmi_tiling *tiling, unsigned mode,
                                             unsigned dimensions, unsigned element, unsigned samples);
/* All equations. */
const struct wmi_equation *wmi_equations(size_t *count);
struct wmi_term wmi_equation_term(const struct wmi_equation *equation, unsigned bit);

/* ---- surfaces ---- */

/* What is placed. */
struct wmi_surface_shape {
    uint8_t dimensions; /* 1, 2, 3 */
    uint8_t bytes;      /* of an element */
    uint8_t samples;
    uint8_t levels;
    uint8_t mode;                  /* SW_MODE or TILING_INDEX */
    uint32_t width, height, depth; /* level 0; depth: of a 3D image, or slices */
    uint32_t pitch;                /* elements from one row to the next; 0: derived */
    uint32_t pipe_bank_xor;
};

struct wmi_surface_level {
    uint64_t offset;        /* bytes from the start of a layer (a slice; thick modes: as many as a block) */
    uint64_t pitch;         /* blocks in a row of blocks; linear: bytes of a row; 0 in the tail of gfx10 */
    uint32_t width, height; /* elements */
    uint32_t x, y;          /* added to coordinates: the place in the tail */
    uint32_t exclusive; /* XORed into the offset in a block: the place in the tail of gfx9, pipe/bank XOR */
    bool tail;
};

enum wmi_surface_kind {
    WMI_SURFACE_LINEAR,
    WMI_SURFACE_BLOCKS, /* an equation for a block */
    WMI_SURFACE_MICRO,  /* micro tiles in rows */
    WMI_SURFACE_MACRO,  /* micro tiles distributed over pipes and banks */
};

/* A tile mode of gfx6 to gfx8 for a surface; see tile_modes.c. */
struct wmi_tile {
    uint8_t order; /* of elements in a micro tile */
    uint8_t array; /* ARRAY_MODE */
    uint8_t thickness, pipe_config, pipes, banks, bank_width, bank_height, aspect;
    uint8_t macro_index;
    uint32_t split;                     /* bytes of a micro tile that are together */
    uint32_t macro_width, macro_height; /* elements */
};

/* A surface whose layout is known. Tables hold what each part of a coordinate contributes to the offset in a
 * block, so that it takes six look-ups. */
struct wmi_surface {
    struct wmi_surface_shape shape;
    enum wmi_surface_kind kind;
    const struct wmi_equation *equation; /* WMI_SURFACE_BLOCKS */
    struct wmi_tile tile;                /* WMI_SURFACE_MICRO, _MACRO */
    uint64_t layer;                      /* bytes from one layer to the next */
    uint64_t bytes;                      /* of everything */
    uint32_t alignment;                  /* of the base address, bytes */
    uint32_t padded_height;              /* micro and macro tiles */
    struct wmi_surface_level level[WMI_SURFACE_LEVELS];
    uint32_t x_low[64], x_high[32], y_low[64], y_high[32], z_low[16], z_high[16], of_sample[8];
};

/* Places a surface. Returns NULL, or why it cannot be placed ("an image of ..."). */
const char *wmi_surface_place(const struct wmi_tiling *tiling, const struct wmi_surface_shape *shape,
                              struct wmi_surface *surface);

/* The bits of a base address that are not an address but the pipe/bank XOR. */
uint32_t wmi_surface_xor_bits(const struct wmi_surface *surface);

/* The offset of an element in a block of an equation, with the tables. */
static inline uint32_t wmi_surface_in_block(const struct wmi_surface *s, uint32_t x, uint32_t y, uint32_t z,
                                            uint32_t sample)
{
    return s->x_low[x & 63] ^ s->x_high[x >> 6 & 31] ^ s->y_low[y & 63] ^ s->y_high[y >> 6 & 31] ^
           s->z_low[z & 15] ^ s->z_high[z >> 4 & 15] ^ s->of_sample[sample & 7];
}

/* Bytes from the start of the surface to an element, also if it is outside. z: depth or slice. level: below
 * shape.levels. */
uint64_t wmi_surface_offset(const struct wmi_surface *surface, uint32_t x, uint32_t y, uint32_t z,
                            uint32_t sample, uint32_t level);

/* ---- gfx6 to gfx8 ---- */

const struct wmi_tile_tables *wmi_tile_tables(uint32_t chip);
const char *wmi_tile_tables_name(const struct wmi_tile_tables *tables);
/* The name of what an entry says, "2D_THIN1 depth"; "" if it is unused. */
void wmi_tile_mode_name(const struct wmi_tile_tables *tables, unsigned index, char name[WMI_TILING_NAME]);
const char *wmi_tile_place(const struct wmi_tile_tables *tables, struct wmi_surface *surface);
uint64_t wmi_tile_offset(const struct wmi_surface *surface, uint32_t x, uint32_t y, uint32_t z,
                         uint32_t sample);

#endif
