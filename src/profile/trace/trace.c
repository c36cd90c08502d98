/* SPDX-License-Identifier: MIT */
/* Reads and writes the records of traces, and the logs of workgroups as records. */
#include "profile/trace/trace.h"

#include "base/diag.h"
#include "base/whole_file.h"
#include "base/zstd.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char magic[8] = "WMTRACE";

enum {
    MOST_RECORD = 1 << 28, /* bytes; a workgroup's log is one record */
    MOST_BLOCKS = 1 << 14, /* per access; more than an access can have */
    MOST_WORDS = 1 << 26,  /* of a workgroup's log */
    PART = 1 << 16,        /* bytes of the file processed at once */
    LEVEL = 3,             /* of compression: the strongest of the fast ones */
};

/* ---- writing ---- */

struct wmi_trace_writer {
    struct wmi_whole_file file;
    ZSTD_CCtx *zstd;
    char *path; /* as given by the caller */
    uint64_t records;
    const char *lost; /* why the trace is incomplete; NULL: it is complete */
    bool failed;      /* nothing more is written */
};

static const char no_memory[] = "no memory for a part of the trace";

static void destroy_writer(struct wmi_trace_writer *writer)
{
    ZSTD_freeCCtx(writer->zstd);
    free(writer->path);
    free(writer);
}

static void write_file(struct wmi_trace_writer *writer, const void *bytes, size_t size)
{
    if (!writer->failed && fwrite(bytes, 1, size, writer->file.stream) != size)
        writer->failed = true;
}

static enum wm_status cannot_write(const char *path, int error, struct wm_diag *diag)
{
    return wmi_fail(diag, error == ENOMEM ? WM_NO_MEMORY : WM_IO, "%s: cannot be written: %s", path,
                    strerror(error));
}

enum wm_status wmi_trace_create(const char *path, struct wmi_trace_writer **writer, struct wm_diag *diag)
{
    *writer = NULL;
    if (!WMI_HAS_ZSTD)
        return wmi_fail(diag, WM_UNSUPPORTED, "%s: " WMI_NO_ZSTD "; traces cannot be written", path);
    struct wmi_trace_writer *made = calloc(1, sizeof *made);
    if (made) {
        made->zstd = ZSTD_createCCtx();
        made->path = strdup(path);
    }
    if (!made || !made->zstd || !made->path) {
        if (made)
            destroy_writer(made);
        return wmi_fail(diag, WM_NO_MEMORY, "no memory for a trace");
    }
    const int error = wmi_whole_file_begin(&made->file, path);
    if (error) {
        destroy_writer(made);
        return cannot_write(path, error, diag);
    }
    /* The compressor has a buffer of its own. One more would be written again by exit() in a forked child. */
    setvbuf(made->file.stream, NULL, _IONBF, 0);
    ZSTD_CCtx_setParameter(made->zstd, ZSTD_c_compressionLevel, LEVEL);
    ZSTD_CCtx_setParameter(made->zstd, ZSTD_c_checksumFlag, 1);
    write_file(made, magic, sizeof magic);
    *writer = made;
    return WM_OK;
}

void wmi_trace_give_up(struct wmi_trace_writer *writer, const char *why)
{
    writer->failed = true;
    if (!writer->lost)
        writer->lost = why;
}

static void compress(struct wmi_trace_writer *writer, const void *bytes, size_t size, ZSTD_EndDirective end)
{
    uint8_t part[PART];
    ZSTD_inBuffer in = {bytes, size, 0};
    size_t left = 1;
    while (!writer->failed && (in.pos < in.size || (end == ZSTD_e_end && left))) {
        ZSTD_outBuffer out = {part, sizeof part, 0};
        left = ZSTD_compressStream2(writer->zstd, &out, &in, end);
        if (ZSTD_isError(left))
            wmi_trace_give_up(writer, no_memory);
        else
            write_file(writer, part, out.pos);
    }
}

void wmi_trace_put(struct wmi_trace_writer *writer, enum wmi_trace_kind kind,
                   const struct wmi_trace_bytes *payload)
{
    struct wmi_trace_bytes head = {0};
    wmi_trace_write_number(&head, kind);
    wmi_trace_write_number(&head, payload->size);
    if (head.failed || payload->failed)
        wmi_trace_give_up(writer, no_memory);
    else if (payload->size > MOST_RECORD)
        wmi_trace_give_up(writer, "a record would exceed 256 MiB");
    if (!writer->failed) {
        compress(writer, head.byte, head.size, ZSTD_e_continue);
        compress(writer, payload->byte, payload->size, ZSTD_e_continue);
    }
    writer->records++;
    wmi_trace_bytes_free(&head);
}

void wmi_trace_drop(struct wmi_trace_writer *writer)
{
    wmi_whole_file_drop(&writer->file);
    destroy_writer(writer);
}

enum wm_status wmi_trace_finish(struct wmi_trace_writer *writer, struct wm_diag *diag)
{
    struct wmi_trace_bytes end = {0};
    enum wm_status status = WM_OK;
    wmi_trace_write_number(&end, writer->records);
    wmi_trace_put(writer, WMI_TRACE_END, &end);
    wmi_trace_bytes_free(&end);
    compress(writer, NULL, 0, ZSTD_e_end);
    if (writer->lost) {
        wmi_whole_file_drop(&writer->file);
        status = wmi_fail(diag, WM_NO_MEMORY, "%s: not written: %s", writer->path, writer->lost);
    } else {
        const int error = wmi_whole_file_end(&writer->file);
        if (error)
            status = cannot_write(writer->path, error, diag);
    }
    destroy_writer(writer);
    return status;
}

/* ---- reading ---- */

struct wmi_trace {
    ZSTD_DCtx *zstd;
    ZSTD_inBuffer in;
    char *name;
    struct wmi_trace_bytes plain; /* decompressed; unread from `used` on */
    size_t used;
    uint64_t records;
    bool over; /* the last frame has ended */
};

enum wm_status wmi_trace_open(const void *bytes, size_t size, const char *name, struct wmi_trace **trace,
                              struct wm_diag *diag)
{
    *trace = NULL;
    if (size < sizeof magic || memcmp(bytes, magic, sizeof magic) != 0)
        return wmi_fail(diag, WM_BAD_FILE, "%s: no trace; expected a file of 'wavemem prof --trace'", name);
    if (!WMI_HAS_ZSTD)
        return wmi_fail(diag, WM_UNSUPPORTED, "%s: " WMI_NO_ZSTD "; traces cannot be read", name);
    struct wmi_trace *made = calloc(1, sizeof *made);
    if (made) {
        made->zstd = ZSTD_createDCtx();
        made->name = strdup(name);
        made->in = (ZSTD_inBuffer){bytes, size, sizeof magic};
    }
    if (!made || !made->zstd || !made->name) {
        wmi_trace_close(made);
        return wmi_fail(diag, WM_NO_MEMORY, "no memory for a trace");
    }
    *trace = made;
    return WM_OK;
}

void wmi_trace_close(struct wmi_trace *trace)
{
    if (!trace)
        return;
    ZSTD_freeDCtx(trace->zstd);
    wmi_trace_bytes_free(&trace->plain);
    free(trace->name);
    free(trace);
}

enum wm_status wmi_trace_damaged(const struct wmi_trace *trace, const char *what, struct wm_diag *diag)
{
    if (errno == ENOMEM) /* since wmi_trace_next() */
        return wmi_fail(diag, WM_NO_MEMORY, "%s: no memory for the trace", trace->name);
    return wmi_fail(diag, WM_BAD_FILE, "%s: record %" PRIu64 " is damaged: %s", trace->name, trace->records,
                    what);
}

static enum wm_status cut_off(const struct wmi_trace *trace, struct wm_diag *diag)
{
    return wmi_fail(diag, WM_BAD_FILE,
                    "%s: the trace is cut off after %" PRIu64 " records: its end is missing", trace->name,
                    trace->records);
}

/* Decompresses until at least `size` unread bytes are available. */
static enum wm_status need(struct wmi_trace *trace, size_t size, struct wm_diag *diag)
{
    uint8_t part[PART];
    if (trace->used > PART) { /* discard bytes that were read */
        memmove(trace->plain.byte, trace->plain.byte + trace->used, trace->plain.size - trace->used);
        trace->plain.size -= trace->used;
        trace->used = 0;
    }
    while (trace->plain.size - trace->used < size) {
        ZSTD_outBuffer out = {part, sizeof part, 0};
        if (trace->over)
            return cut_off(trace, diag);
        const size_t left = ZSTD_decompressStream(trace->zstd, &out, &trace->in);
        if (ZSTD_isError(left))
            return wmi_trace_damaged(trace, ZSTD_getErrorName(left), diag);
        trace->over = left == 0;
        if (!trace->over && out.pos == 0 && trace->in.pos == trace->in.size)
            return cut_off(trace, diag);
        wmi_trace_write_bytes(&trace->plain, part, out.pos);
        if (trace->plain.failed)
            return wmi_fail(diag, WM_NO_MEMORY, "%s: no memory for the trace", trace->name);
    }
    return WM_OK;
}

/* Checks that only the frame's checksum follows the last record. */
static enum wm_status end_frame(struct wmi_trace *trace, struct wm_diag *diag)
{
    uint8_t part[1];
    while (!trace->over) {
        ZSTD_outBuffer out = {part, sizeof part, 0};
        const size_t before = trace->in.pos;
        const size_t left = ZSTD_decompressStream(trace->zstd, &out, &trace->in);
        if (ZSTD_isError(left))
            return wmi_trace_damaged(trace, ZSTD_getErrorName(left), diag);
        trace->over = left == 0;
        if (!trace->over && trace->in.pos == before && out.pos == 0)
            return cut_off(trace, diag);
        if (out.pos)
            return wmi_trace_damaged(trace, "more stands behind the end", diag);
    }
    return trace->in.pos == trace->in.size && trace->used == trace->plain.size
               ? WM_OK
               : wmi_trace_damaged(trace, "more stands behind the end", diag);
}

/* Reads a number, decompressing as needed. */
static enum wm_status next_number(struct wmi_trace *trace, uint64_t *number, struct wm_diag *diag)
{
    struct wmi_reader reader;
    for (size_t size = 1; size <= 10; size++) {
        const enum wm_status status = need(trace, size, diag);
        if (status)
            return status;
        if (trace->plain.byte[trace->used + size - 1] & 0x80)
            continue;
        reader = (struct wmi_reader){.at = trace->plain.byte + trace->used,
                                     .end = trace->plain.byte + trace->used + size};
        *number = wmi_trace_read_number(&reader);
        trace->used += size;
        if (!reader.failed)
            return WM_OK;
        break;
    }
    return wmi_trace_damaged(trace, "no number where one must be", diag);
}

enum wm_status wmi_trace_next(struct wmi_trace *trace, enum wmi_trace_kind *kind, struct wmi_reader *payload,
                              struct wm_diag *diag)
{
    uint64_t number = 0, size = 0;
    errno = 0;
    enum wm_status status = next_number(trace, &number, diag);
    status = status ? status : next_number(trace, &size, diag);
    if (status)
        return status;
    if (number >= WMI_TRACE_KINDS || size > MOST_RECORD)
        return wmi_trace_damaged(trace, "of no known kind, or too long", diag);
    status = need(trace, size, diag);
    if (status)
        return status;
    *kind = (enum wmi_trace_kind)number;
    *payload = (struct wmi_reader){.at = trace->plain.byte + trace->used,
                                   .end = trace->plain.byte + trace->used + size};
    trace->used += size;
    if (number == WMI_TRACE_END) {
        struct wmi_reader end = *payload;
        if (wmi_trace_read_number(&end) != trace->records || end.failed)
            return wmi_trace_damaged(trace, "the end counts other records", diag);
        return end_frame(trace, diag);
    }
    trace->records++;
    return WM_OK;
}

/* ---- logs ---- */

void wmi_trace_places_free(struct wmi_trace_places *places)
{
    free(places->last);
    *places = (struct wmi_trace_places){0};
}

/* Returns the place of the slot's last access, allocated if necessary; NULL: out of memory. */
static uint64_t *place_of(struct wmi_trace_places *places, uint32_t slot)
{
    if (slot >= places->count) {
        const uint32_t count = (slot / 256 + 1) * 256;
        uint64_t *last = realloc(places->last, count * sizeof *last);
        if (!last)
            return NULL;
        memset(last + places->count, 0, (count - places->count) * sizeof *last);
        places->last = last;
        places->count = count;
    }
    return &places->last[slot];
}

/* One access: its blocks, and for stores which of them are written completely. */
struct access {
    uint32_t slot;
    size_t count;
    uint64_t block[MOST_BLOCKS];
    bool full[MOST_BLOCKS];
};

/* Reads an access of the log at *words: one entry and its continuations. */
static void next_access(const uint64_t **words, struct access *access)
{
    struct wmi_log_entry entry;
    access->count = 0;
    do {
        uint64_t blocks[WMI_LOG_BLOCKS];
        const unsigned count = wmi_log_read(words, &entry, blocks);
        for (unsigned i = 0; i < count && access->count < MOST_BLOCKS; i++) {
            access->full[access->count] = entry.full;
            access->block[access->count++] = blocks[i];
        }
        access->slot = entry.slot;
    } while (entry.continues);
}

enum { FULL_NONE, FULL_ALL, FULL_SOME };

static unsigned fullness(const struct access *access)
{
    size_t full = 0;
    for (size_t i = 0; i < access->count; i++)
        full += access->full[i];
    return full == 0 ? FULL_NONE : full == access->count ? FULL_ALL : FULL_SOME;
}

/* Writes slot; 4 * blocks + fullness; the first block; then steps to the next block, each with a repeat
 * count; for FULL_SOME a bit per block. */
static void put_access(struct wmi_trace_bytes *bytes, const struct access *access,
                       struct wmi_trace_places *places)
{
    uint64_t *last = place_of(places, access->slot);
    const unsigned full = fullness(access);
    if (!last) {
        bytes->failed = true;
        return;
    }
    wmi_trace_write_number(bytes, access->slot);
    wmi_trace_write_number(bytes, (uint64_t)access->count << 2 | full);
    wmi_trace_write_signed(bytes, (int64_t)(access->block[0] - *last));
    *last = access->block[0];
    for (size_t i = 1, times; i < access->count; i += times) {
        const uint64_t step = access->block[i] - access->block[i - 1];
        times = 1;
        while (i + times < access->count && access->block[i + times] - access->block[i + times - 1] == step)
            times++;
        wmi_trace_write_signed(bytes, (int64_t)step);
        wmi_trace_write_number(bytes, times);
    }
    for (size_t i = 0; full == FULL_SOME && i < access->count; i += 8) {
        uint8_t byte = 0;
        for (size_t bit = 0; bit < 8 && i + bit < access->count; bit++)
            byte |= (uint8_t)(access->full[i + bit] << bit);
        wmi_trace_write_bytes(bytes, &byte, 1);
    }
}

void wmi_trace_put_group(struct wmi_trace_bytes *bytes, const struct wmi_log_group *group,
                         struct wmi_trace_places *places)
{
    struct access *access = malloc(sizeof *access);
    bytes->failed |= !access;
    wmi_trace_write_number(bytes, group->number);
    wmi_trace_write_number(bytes, group->instructions);
    wmi_trace_write_number(bytes, group->waves);
    for (uint32_t wave = 0; access && wave < group->waves; wave++) {
        struct wmi_trace_bytes accesses = {0};
        const uint64_t *at = group->wave[wave].words, *end = wmi_log_end(&group->wave[wave]);
        uint64_t count = 0;
        for (; at < end; count++) {
            next_access(&at, access);
            put_access(&accesses, access, places);
        }
        wmi_trace_write_number(bytes, count);
        wmi_trace_write_bytes(bytes, accesses.byte, accesses.size);
        bytes->failed |= accesses.failed;
        wmi_trace_bytes_free(&accesses);
    }
    free(access);
}

static void get_access(struct wmi_reader *reader, uint32_t slots, struct access *access,
                       struct wmi_trace_places *places)
{
    access->slot = slots ? (uint32_t)wmi_trace_read_upto(reader, slots - 1) : 0;
    const uint64_t head = wmi_trace_read_upto(reader, (uint64_t)MOST_BLOCKS << 2);
    uint64_t *last = place_of(places, access->slot);
    access->count = head >> 2;
    if (!last || !access->count || (head & 3) > FULL_SOME)
        reader->failed = true;
    if (reader->failed)
        return;
    access->block[0] = *last += (uint64_t)wmi_trace_read_signed(reader);
    for (size_t i = 1; i < access->count && !reader->failed;) {
        const uint64_t step = (uint64_t)wmi_trace_read_signed(reader);
        uint64_t times = wmi_trace_read_upto(reader, access->count - i);
        reader->failed |= !times;
        for (; times; times--, i++)
            access->block[i] = access->block[i - 1] + step;
    }
    const uint8_t *bits =
        (head & 3) == FULL_SOME ? wmi_trace_read_bytes(reader, (access->count + 7) / 8) : NULL;
    for (size_t i = 0; i < access->count; i++)
        access->full[i] = bits ? bits[i / 8] >> i % 8 & 1 : (head & 3) == FULL_ALL;
    reader->failed |= (head & 3) == FULL_SOME && !bits;
}

struct wmi_trace_group wmi_trace_get_group(struct wmi_reader *reader)
{
    struct wmi_trace_group head = {.number = wmi_trace_read_number(reader)};
    head.instructions = wmi_trace_read_number(reader);
    head.waves = (uint32_t)wmi_trace_read_upto(reader, WMI_TRACE_WAVES);
    return head;
}

bool wmi_trace_get_log(struct wmi_reader *reader, uint32_t slots, const uint32_t *map,
                       struct wmi_trace_places *places, struct wmi_log_group *group)
{
    struct access *access = malloc(sizeof *access);
    for (uint32_t wave = 0; access && wave < group->waves && !reader->failed; wave++) {
        for (uint64_t count = wmi_trace_read_number(reader); count && !reader->failed; count--) {
            get_access(reader, slots, access, places);
            reader->failed |= group->words > MOST_WORDS;
            if (!reader->failed)
                wmi_log_append(group, wave, map ? map[access->slot] : access->slot, access->block,
                               access->full, access->count);
        }
    }
    const bool good = access && !reader->failed && reader->at == reader->end && !group->cuts;
    free(access);
    return good;
}
