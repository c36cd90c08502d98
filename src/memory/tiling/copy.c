/* SPDX-License-Identifier: MIT */
/* Copies between a packed array of elements and a surface, block by block, in runs of elements that are
 * neighbours in both. */
#include "memory/tiling/copy.h"

#include <stdlib.h>
#include <string.h>

/* One direction of one level. */
struct copy {
    const struct wmi_surface *s;
    const struct wmi_surface_level *level;
    uint32_t width, height;
    unsigned char *packed, *bytes;
    bool tile;
    uint32_t *x;  /* what x contributes to the offset in a block, for each run of a row */
    unsigned run; /* elements */
};

/* Elements in a row that are neighbours in a block: x[0], x[1] ... are the lowest bits after those of an
 * element, and in no other term. */
static unsigned run_bits(const struct wmi_equation *e)
{
    unsigned bits = 0;
    while (e->element + bits < e->bits) {
        const struct wmi_term t = wmi_equation_term(e, e->element + bits);
        if (t.x != 1u << bits || t.y || t.z || t.sample)
            break;
        bits++;
    }
    for (unsigned bit = e->element + bits; bit < e->bits; bit++)
        while (bits && wmi_equation_term(e, bit).x & ((1u << bits) - 1))
            bits--;
    return bits;
}

static inline void move(unsigned char *packed, unsigned char *bytes, size_t size, bool tile)
{
    if (tile)
        memcpy(bytes, packed, size);
    else
        memcpy(packed, bytes, size);
}

/* The runs of a row in one block. size: bytes of a run, a constant where it is inlined. */
static inline void move_runs(unsigned char *packed, unsigned char *block, const uint32_t *x, uint32_t others,
                             size_t count, size_t size, bool tile)
{
    if (tile)
        for (size_t i = 0; i < count; i++)
            memcpy(block + (x[i] ^ others), packed + i * size, size);
    else
        for (size_t i = 0; i < count; i++)
            memcpy(packed + i * size, block + (x[i] ^ others), size);
}

static void move_row(unsigned char *packed, unsigned char *block, const uint32_t *x, uint32_t others,
                     size_t count, size_t size, bool tile)
{
    switch (size) {
    case 1:
        move_runs(packed, block, x, others, count, 1, tile);
        break;
    case 2:
        move_runs(packed, block, x, others, count, 2, tile);
        break;
    case 4:
        move_runs(packed, block, x, others, count, 4, tile);
        break;
    case 8:
        move_runs(packed, block, x, others, count, 8, tile);
        break;
    case 16:
        move_runs(packed, block, x, others, count, 16, tile);
        break;
    default:
        move_runs(packed, block, x, others, count, size, tile);
        break;
    }
}

/* The rows of slice z in the block that begins at column x0 and row y0. */
static void copy_block(const struct copy *c, uint32_t x0, uint32_t y0, uint32_t z)
{
    const struct wmi_surface *s = c->s;
    const struct wmi_equation *e = s->equation;
    const uint32_t block_width = 1u << e->block[0], block_height = 1u << e->block[1];
    const uint32_t columns = c->width - x0 < block_width ? c->width - x0 : block_width;
    const uint32_t rows = c->height - y0 < block_height ? c->height - y0 : block_height;
    const size_t whole = columns / c->run, rest = columns % c->run;
    const size_t size = s->shape.bytes, run_size = c->run * size;
    const uint64_t number = (y0 >> e->block[1]) * c->level->pitch + (x0 >> e->block[0]);
    unsigned char *block = c->bytes + (z >> e->block[2]) * s->layer + c->level->offset + (number << e->bits);
    const uint32_t *x = c->x + x0 / c->run;
    for (uint32_t y = y0; y < y0 + rows; y++) {
        const uint32_t others = wmi_surface_in_block(s, 0, y + c->level->y, z, 0) ^ c->level->exclusive;
        unsigned char *row = c->packed + (((uint64_t)z * c->height + y) * c->width + x0) * size;
        move_row(row, block, x, others, whole, run_size, c->tile);
        if (rest)
            move(row + whole * run_size, block + (x[whole] ^ others), rest * size, c->tile);
    }
}

static bool copy_blocks(struct copy *c, uint32_t depth)
{
    const struct wmi_equation *e = c->s->equation;
    const uint32_t run = 1u << run_bits(e);
    /* The place in the tail must not divide a run. */
    c->run = c->level->x % run ? 1 : run;
    c->x = malloc((c->width / c->run + 1) * sizeof *c->x);
    if (!c->x)
        return false;
    for (uint32_t i = 0; i <= (c->width - 1) / c->run; i++)
        c->x[i] = wmi_surface_in_block(c->s, i * c->run + c->level->x, 0, 0, 0);
    for (uint32_t z = 0; z < depth; z++)
        for (uint32_t y = 0; y < c->height; y += 1u << e->block[1])
            for (uint32_t x = 0; x < c->width; x += 1u << e->block[0])
                copy_block(c, x, y, z);
    free(c->x);
    return true;
}

static void copy_elements(const struct copy *c, unsigned level, uint32_t depth)
{
    const struct wmi_surface *s = c->s;
    const size_t size = s->shape.bytes;
    unsigned char *packed = c->packed;
    for (uint32_t z = 0; z < depth; z++)
        for (uint32_t y = 0; y < c->height; y++)
            for (uint32_t x = 0; x < c->width; x++)
                for (uint32_t sample = 0; sample < s->shape.samples; sample++, packed += size)
                    move(packed, c->bytes + wmi_surface_offset(s, x, y, z, sample, level), size, c->tile);
}

static void copy_rows(const struct copy *c, uint32_t depth)
{
    const size_t size = (size_t)c->width * c->s->shape.bytes;
    for (uint32_t z = 0; z < depth; z++)
        for (uint32_t y = 0; y < c->height; y++)
            move(c->packed + ((uint64_t)z * c->height + y) * size,
                 c->bytes + z * c->s->layer + c->level->offset + y * c->level->pitch, size, c->tile);
}

bool wmi_surface_copy(const struct wmi_surface *s, unsigned level, uint32_t width, uint32_t height,
                      uint32_t depth, unsigned char *packed, unsigned char *bytes, bool tile)
{
    struct copy c = {s, &s->level[level], width, height, packed, bytes, tile, NULL, 1};
    if (s->kind == WMI_SURFACE_BLOCKS && s->shape.samples == 1)
        return copy_blocks(&c, depth);
    if (s->kind == WMI_SURFACE_LINEAR)
        copy_rows(&c, depth);
    else
        copy_elements(&c, level, depth);
    return true;
}
