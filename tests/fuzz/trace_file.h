/* SPDX-License-Identifier: MIT */
/* A trace file from its records, which are compressed here, so that mutations get past zstd and its checksum.
 */
#ifndef WAVEMEM_TRACE_FILE_H
#define WAVEMEM_TRACE_FILE_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

/* The caller frees it. */
static inline uint8_t *make_trace_file(const uint8_t *records, size_t size, size_t *file_size)
{
    const size_t room = ZSTD_compressBound(size);
    uint8_t *file = malloc(8 + room);
    memcpy(file, "WMTRACE", 8);
    *file_size = 8 + ZSTD_compress(file + 8, room, records, size, 1);
    return file;
}

#endif
