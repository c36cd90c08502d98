/* SPDX-License-Identifier: MIT */
/* The file of a part: what a shard's workgroups wrote and read, and the trace of its profile.
 *
 * PART_MAGIC; four numbers of 8 bytes, little-endian: bytes of the head, of the body, of the compressed body,
 * of the trace; the head, JSON; the compressed body, a zstd frame; the trace (docs/trace.md), or nothing.
 *
 * The body: in the first part, the complete outputs, one behind the other; then the pages that the shard
 * accessed (struct footprint_page); then, but in the first part, the bytes that it wrote to outputs, in the
 * order of the pages, once for each output that has them. */
#ifndef WAVEMEM_TOOL_PART_H
#define WAVEMEM_TOOL_PART_H

#include "tool/shard/footprint.h"

#include <jansson.h>
#include <stdbool.h>

#define PART_MAGIC "WMPART\0\1"
enum { PART_VERSION = 1, PART_MAGIC_BYTES = 8, PART_SIZES = 4 };

/* A name for memory: a buffer, or from an offset on what --out writes. */
struct part_memory {
    const char *name;
    uint64_t address, size;
    const char *type, *shape; /* outputs: of .npy; shape "": one dimension */
};

struct part {
    const char *path;
    uint8_t *file;
    json_t *head;
    const char *verb, *kernel, *target, *digest;
    uint64_t index, count;           /* part `index` of `count`, from 0 on */
    uint64_t first, workgroups, all; /* workgroups */
    bool has_gds;
    struct part_memory *buffers, *outputs;
    size_t buffer_count, output_count;
    uint8_t *body;
    const uint8_t *whole; /* the complete outputs; NULL: not the first part */
    const struct footprint_page *pages;
    size_t page_count;
    const uint8_t *data; /* of outputs, page by page */
    size_t data_size;
    const uint8_t *trace;
    size_t trace_size;
};

/* False, after a message: it cannot be read, or is no part. Free it in any case. */
bool part_read(struct part *part, const char *path);
void part_free(struct part *part);

#endif
