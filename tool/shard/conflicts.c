/* SPDX-License-Identifier: MIT */
/* Finds bytes that one part wrote and another part read or wrote. */
#include "tool/shard/conflicts.h"

#include "tool/text.h"
#include "tool/tool.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A page of a part. */
struct visit {
    const struct footprint_page *page;
    size_t part;
};

/* What was found in a buffer: the lowest such byte, with the first two parts, and how many there are. */
struct conflict {
    uint64_t bytes, address;
    size_t writer, other;
    bool both_write;
};

static int by_page(const void *left, const void *right)
{
    const struct visit *a = left, *b = right;
    const uint64_t x = a->page->number, y = b->page->number;
    return x != y ? (x > y) - (x < y) : (a->part > b->part) - (a->part < b->part);
}

/* The buffer that has the byte; buffer_count: none. */
static size_t buffer_at(const struct part *part, uint64_t address)
{
    size_t i = 0;
    while (i < part->buffer_count && address - part->buffers[i].address >= part->buffers[i].size)
        i++;
    return i;
}

/* Sets the parts of a conflict at the byte of the page. */
static void name_parts(const struct visit *visits, size_t count, uint64_t address, struct conflict *conflict)
{
    size_t writer = 0;
    while (!footprint_has(visits[writer].page->written, address))
        writer++;
    conflict->writer = visits[writer].part;
    for (size_t i = 0; i < count; i++) {
        const struct footprint_page *page = visits[i].page;
        conflict->both_write = footprint_has(page->written, address);
        conflict->other = visits[i].part;
        if (i != writer && (conflict->both_write || footprint_has(page->read, address)))
            return;
    }
}

/* Adds what parts have in common of one page. conflicts: by buffer, and one for other memory. */
static void add_page(const struct part *first, const struct visit *visits, size_t count,
                     struct conflict *conflicts)
{
    uint8_t read[FOOTPRINT_PAGE / 8] = {0}, written[FOOTPRINT_PAGE / 8] = {0};
    uint8_t shared[FOOTPRINT_PAGE / 8] = {0};
    for (size_t i = 0; i < count; i++) {
        const struct footprint_page *page = visits[i].page;
        for (size_t at = 0; at < sizeof shared; at++) {
            shared[at] |=
                (uint8_t)((page->written[at] & (read[at] | written[at])) | (page->read[at] & written[at]));
            read[at] |= page->read[at];
            written[at] |= page->written[at];
        }
    }
    const uint64_t start = visits[0].page->number * FOOTPRINT_PAGE;
    for (uint64_t at = 0; at < FOOTPRINT_PAGE; at++) {
        if (!shared[at / 8])
            at |= 7;
        else if (footprint_has(shared, at)) {
            struct conflict *conflict = &conflicts[buffer_at(first, start + at)];
            if (!conflict->bytes++) {
                conflict->address = start + at;
                name_parts(visits, count, start + at, conflict);
            }
        }
    }
}

static void print_conflict(FILE *file, const struct part *parts, size_t buffer,
                           const struct conflict *conflict)
{
    const struct part *writer = &parts[conflict->writer], *other = &parts[conflict->other];
    tool_print_label(file, TOOL_RED, "communicates");
    if (buffer < parts[0].buffer_count)
        tool_print(file, "buffer '%s', offset %" PRIu64, parts[0].buffers[buffer].name,
                   conflict->address - parts[0].buffers[buffer].address);
    else
        tool_print(file, "memory of no buffer, address 0x%" PRIx64, conflict->address);
    tool_print(file,
               ": written in part %" PRIu64 " (%s), %s in part %" PRIu64 " (%s); %" PRIu64 " such byte%s\n",
               writer->index + 1, writer->path, conflict->both_write ? "written" : "read", other->index + 1,
               other->path, conflict->bytes, conflict->bytes == 1 ? "" : "s");
}

static bool print_gds(FILE *file, const struct part *parts, size_t count)
{
    const struct part *first = NULL;
    for (size_t i = 0; i < count; i++) {
        if (parts[i].has_gds && first) {
            tool_print_label(file, TOOL_RED, "communicates");
            tool_print(file, "GDS: accessed in part %" PRIu64 " (%s) and in part %" PRIu64 " (%s)\n",
                       first->index + 1, first->path, parts[i].index + 1, parts[i].path);
            return true;
        }
        first = parts[i].has_gds ? &parts[i] : first;
    }
    return false;
}

int part_find_conflicts(const struct part *parts, size_t count, FILE *file)
{
    size_t visit_count = 0, next = 0;
    for (size_t i = 0; i < count; i++)
        visit_count += parts[i].page_count;
    struct visit *visits = malloc((visit_count + 1) * sizeof *visits);
    struct conflict *conflicts = calloc(parts[0].buffer_count + 1, sizeof *conflicts);
    int code = visits && conflicts ? TOOL_CLEAN : tool_fail("merge: out of memory");
    for (size_t i = 0; i < count && code == TOOL_CLEAN; i++)
        for (size_t page = 0; page < parts[i].page_count; page++)
            visits[next++] = (struct visit){&parts[i].pages[page], i};
    if (next)
        qsort(visits, next, sizeof *visits, by_page);
    for (size_t from = 0, to; from < next; from = to) {
        for (to = from + 1; to < next && visits[to].page->number == visits[from].page->number;)
            to++;
        if (to > from + 1)
            add_page(&parts[0], &visits[from], to - from, conflicts);
    }
    for (size_t i = 0; code != TOOL_WRONG && i <= parts[0].buffer_count; i++)
        if (conflicts[i].bytes) {
            print_conflict(file, parts, i, &conflicts[i]);
            code = TOOL_FINDINGS;
        }
    if (code != TOOL_WRONG && print_gds(file, parts, count))
        code = TOOL_FINDINGS;
    free(visits);
    free(conflicts);
    return code;
}
