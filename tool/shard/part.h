/* SPDX-License-Identifier: MIT */
/* The file of a part: what a shard's workgroups wrote and read, what they were found to do, and the trace of
 * their profile.
 *
 * PART_MAGIC; four numbers of 8 bytes, little-endian: bytes of the head, of the body, of the compressed body,
 * of the trace; the head, JSON; the compressed body, a zstd frame; the trace (docs/trace.md), or nothing.
 *
 * The body: in the first part, the complete outputs, one behind the other; then the pages that the shard
 * accessed (struct footprint_page), dispatch by dispatch; then, but in the first part, the bytes that it
 * wrote to outputs in any dispatch, in the order of the pages, once for each output that has them. */
#ifndef WAVEMEM_TOOL_PART_H
#define WAVEMEM_TOOL_PART_H

#include "tool/shard/footprint.h"

#include <jansson.h>
#include <stdbool.h>

#define PART_MAGIC "WMPART\0\1"
enum { PART_VERSION = 3, PART_MAGIC_BYTES = 8, PART_SIZES = 4 };

/* A name for memory: a buffer, or from an offset on what --out writes. */
struct part_memory {
    const char *name;
    uint64_t address, size;
    const char *type, *shape; /* outputs: of .npy; shape "": one dimension */
};

/* What the shard did in one dispatch: some of its workgroups. */
struct part_dispatch {
    const char *kernel;
    uint64_t first, workgroups, all, cluster;
    bool has_gds;
    const struct footprint_page *pages;
    size_t page_count;
};

struct part {
    const char *path;
    uint8_t *file;
    json_t *head;
    const char *verb, *target, *digest;
    uint64_t index, count; /* part `index` of `count`, from 0 on */
    struct part_dispatch *dispatches;
    size_t dispatch_count; /* at least 1 */
    struct part_memory *buffers, *outputs;
    size_t buffer_count, output_count;
    uint8_t *body;
    const uint8_t *whole; /* the complete outputs; NULL: not the first part */
    struct footprint_page *all_pages;
    /* Of all dispatches together, and bytes that another part wrote in a later dispatch than this one: all
     * zero until part_find_conflicts(). */
    struct footprint *footprint;
    const struct footprint_page *pages;
    size_t page_count;
    uint8_t (*overwritten)[FOOTPRINT_PAGE / 8];
    const uint8_t *data; /* of outputs, page by page */
    size_t data_size;
    const uint8_t *trace;
    size_t trace_size;
};

/* False, after a message: it cannot be read, or is no part. Free it in any case. */
bool part_read(struct part *part, const char *path);
void part_free(struct part *part);

#endif
