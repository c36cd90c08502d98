/* SPDX-License-Identifier: MIT */
/* Which bytes of global memory a dispatch reads and writes: an observer that keeps a mask for each page. */
#ifndef WAVEMEM_TOOL_FOOTPRINT_H
#define WAVEMEM_TOOL_FOOTPRINT_H

#include "wavemem/wavemem.h"

enum { FOOTPRINT_PAGE = 4096 };

/* A bit for each byte of a page, least significant first. Parts contain it as it is. */
struct footprint_page {
    uint64_t number; /* address / FOOTPRINT_PAGE */
    uint8_t read[FOOTPRINT_PAGE / 8], written[FOOTPRINT_PAGE / 8];
};

static inline bool footprint_has(const uint8_t *mask, uint64_t byte)
{
    return mask[byte % FOOTPRINT_PAGE / 8] >> byte % 8 & 1;
}

/* The first run of set bits in [*at, end), both within one page or at its end: sets *at to its start and
 * returns its length; 0: there is none. */
uint64_t footprint_run(const uint8_t *mask, uint64_t *at, uint64_t end);

struct footprint;

/* NULL: no memory. */
struct footprint *footprint_create(void);
void footprint_destroy(struct footprint *footprint);
const struct wm_observer *footprint_observer(struct footprint *footprint);
/* After the dispatch: the pages in ascending order. */
const struct footprint_page *footprint_pages(struct footprint *footprint, size_t *count);
/* Adds the pages of another footprint. False: no memory. */
bool footprint_add(struct footprint *footprint, const struct footprint_page *pages, size_t count);
/* Whether GDS was accessed, which all workgroups share. */
bool footprint_has_gds(const struct footprint *footprint);

#endif
