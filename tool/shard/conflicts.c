/* SPDX-License-Identifier: MIT */
/* Finds bytes by which parts communicate. */
#include "tool/shard/conflicts.h"

#include "tool/report/document.h"
#include "tool/text.h"
#include "tool/tool.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MASK = FOOTPRINT_PAGE / 8 };

/* A page of a part in one dispatch. */
struct visit {
    const struct footprint_page *page;
    size_t dispatch, part;
};

/* What was found in a buffer: the lowest such byte, with the first two parts, and how many there are. */
struct conflict {
    uint64_t bytes, address;
    struct visit writer, other;
    bool both_write;
};

struct search {
    struct part *parts;
    size_t count;
    struct conflict *conflicts; /* by buffer, and one for other memory */
    uint8_t (*last)[MASK];      /* by part: bytes of the page that it wrote last */
};

static int by_page(const void *left, const void *right)
{
    const struct visit *a = left, *b = right;
    const uint64_t x = a->page->number, y = b->page->number;
    if (x != y)
        return (x > y) - (x < y);
    if (a->dispatch != b->dispatch)
        return (a->dispatch > b->dispatch) - (a->dispatch < b->dispatch);
    return (a->part > b->part) - (a->part < b->part);
}

/* The buffer that has the byte; buffer_count: none. */
static size_t buffer_at(const struct part *part, uint64_t address)
{
    size_t i = 0;
    while (i < part->buffer_count && address - part->buffers[i].address >= part->buffers[i].size)
        i++;
    return i;
}

/* The end of the visits of the same dispatch. */
static size_t end_of_dispatch(const struct visit *visits, size_t count, size_t from)
{
    size_t to = from + 1;
    while (to < count && visits[to].dispatch == visits[from].dispatch)
        to++;
    return to;
}

/* Sets the visits of the first conflict at the byte of the page, which has one. */
static void name_visits(const struct visit *visits, size_t count, uint64_t address, struct conflict *conflict)
{
    const struct visit *last = NULL; /* the writer of an earlier dispatch */
    for (size_t from = 0, to; from < count; from = to) {
        const struct visit *writer = NULL;
        to = end_of_dispatch(visits, count, from);
        for (size_t i = from; i < to; i++)
            if (footprint_has(visits[i].page->written, address) && !writer)
                writer = &visits[i];
        for (size_t i = from; i < to; i++) {
            const struct visit *visit = &visits[i];
            const bool writes = footprint_has(visit->page->written, address);
            const bool reads = footprint_has(visit->page->read, address);
            const bool late = last && reads && visit->part != last->part;
            conflict->writer = late ? *last : writer ? *writer : *visit;
            conflict->other = *visit;
            conflict->both_write = writes && !late;
            if (late || (writer && visit != writer && (reads || writes)))
                return;
        }
        last = writer ? writer : last;
    }
}

static void add_conflicts(struct search *search, const struct visit *visits, size_t count,
                          const uint8_t shared[MASK])
{
    const uint64_t start = visits[0].page->number * FOOTPRINT_PAGE;
    for (uint64_t at = 0; at < FOOTPRINT_PAGE; at++) {
        if (!shared[at / 8])
            at |= 7;
        else if (footprint_has(shared, at)) {
            struct conflict *conflict = &search->conflicts[buffer_at(&search->parts[0], start + at)];
            if (!conflict->bytes++) {
                conflict->address = start + at;
                name_visits(visits, count, start + at, conflict);
            }
        }
    }
}

/* Adds the bytes that the visits of one dispatch share to `shared`, and says of each part which bytes it
 * wrote last. `all`: the visits of the page in all dispatches. Returns whether one read what another part
 * wrote. */
static bool add_dispatch(struct search *search, const struct visit *visits, size_t count,
                         const struct visit *all, size_t all_count, uint8_t shared[MASK])
{
    uint8_t read[MASK] = {0}, written[MASK] = {0};
    bool stale = false;
    for (size_t i = 0; i < count; i++) {
        const struct footprint_page *page = visits[i].page;
        for (size_t at = 0; at < MASK; at++) {
            uint8_t others = 0; /* bytes that other parts wrote in earlier dispatches */
            for (size_t j = 0; j < all_count && all[j].dispatch < visits[i].dispatch; j++)
                if (all[j].part != visits[i].part)
                    others |= search->last[all[j].part][at];
            const uint8_t reads =
                (uint8_t)((page->written[at] & read[at]) | (page->read[at] & (written[at] | others)));
            shared[at] |= (uint8_t)(reads | (page->written[at] & written[at]));
            stale |= reads != 0;
            read[at] |= page->read[at];
            written[at] |= page->written[at];
        }
    }
    for (size_t i = 0; i < all_count; i++)
        for (size_t at = 0; at < MASK; at++)
            search->last[all[i].part][at] &= (uint8_t)~written[at];
    for (size_t i = 0; i < count; i++)
        for (size_t at = 0; at < MASK; at++)
            search->last[visits[i].part][at] |= visits[i].page->written[at];
    return stale;
}

static int by_number(const void *left, const void *right)
{
    const uint64_t *number = left;
    const struct footprint_page *page = right;
    return (*number > page->number) - (*number < page->number);
}

/* The visits of one page, by dispatch. */
static bool add_page(struct search *search, const struct visit *visits, size_t count)
{
    uint8_t shared[MASK] = {0};
    bool stale = false;
    for (size_t i = 0; i < count; i++)
        memset(search->last[visits[i].part], 0, MASK);
    for (size_t from = 0, to; from < count; from = to) {
        to = end_of_dispatch(visits, count, from);
        stale |= add_dispatch(search, &visits[from], to - from, visits, count, shared);
    }
    add_conflicts(search, visits, count, shared);
    for (size_t i = 0; i < count; i++) {
        struct part *part = &search->parts[visits[i].part];
        const struct footprint_page *page =
            bsearch(&visits[i].page->number, part->pages, part->page_count, sizeof *part->pages, by_number);
        uint8_t *overwritten = part->overwritten[page - part->pages];
        for (size_t at = 0; at < MASK; at++)
            overwritten[at] = (uint8_t)(page->written[at] & ~search->last[visits[i].part][at]);
    }
    return stale;
}

/* "part 1 (p1)", with the dispatch if there are several. */
static void print_visit(FILE *file, const struct search *search, const struct visit *visit)
{
    const struct part *part = &search->parts[visit->part];
    tool_print(file, "part %" PRIu64 " (%s)", part->index + 1, part->path);
    if (part->dispatch_count > 1)
        fprintf(file, " by dispatch %zu", visit->dispatch + 1);
}

static void print_conflict(FILE *file, const struct search *search, size_t buffer)
{
    const struct conflict *conflict = &search->conflicts[buffer];
    const struct part *first = &search->parts[0];
    if (buffer < first->buffer_count)
        tool_print(file, "buffer '%s', offset %" PRIu64, first->buffers[buffer].name,
                   conflict->address - first->buffers[buffer].address);
    else
        tool_print(file, "memory of no buffer, address 0x%" PRIx64, conflict->address);
    fputs(": written in ", file);
    print_visit(file, search, &conflict->writer);
    fputs(conflict->both_write ? ", written in " : ", read in ", file);
    print_visit(file, search, &conflict->other);
    fprintf(file, "; %" PRIu64 " such byte%s", conflict->bytes, conflict->bytes == 1 ? "" : "s");
}

/* Prints GDS if two parts accessed it, in any dispatch: its bytes are not known. */
static bool print_gds(FILE *file, const struct search *search)
{
    struct visit first = {NULL, 0, SIZE_MAX};
    for (size_t i = 0; i < search->count; i++)
        for (size_t d = 0; d < search->parts[i].dispatch_count; d++) {
            const struct visit visit = {NULL, d, i};
            if (!search->parts[i].dispatches[d].has_gds || first.part == i)
                continue;
            if (first.part == SIZE_MAX) {
                first = visit;
                continue;
            }
            fputs("GDS: accessed in ", file);
            print_visit(file, search, &first);
            fputs(" and in ", file);
            print_visit(file, search, &visit);
            return true;
        }
    return false;
}

/* Says what one of the functions above prints. buffer: beyond the last conflict, GDS. */
static int tell(const struct search *search, size_t buffer, FILE *file, json_t *report)
{
    char *text = NULL;
    size_t size;
    bool any = true;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return tool_fail("merge: out of memory");
    if (buffer > search->parts[0].buffer_count)
        any = print_gds(out, search);
    else
        print_conflict(out, search, buffer);
    if (report)
        fputs(": races between the parts were not looked for", out);
    if (fclose(out)) {
        free(text);
        return tool_fail("merge: out of memory");
    }
    if (any && report) {
        tool_incomplete(report, search->parts[0].dispatches[0].kernel, text);
    } else if (any) {
        tool_print_label(file, TOOL_RED, "communicates");
        fprintf(file, "%s\n", text);
    }
    free(text);
    return any ? TOOL_FINDINGS : TOOL_CLEAN;
}

static size_t list_visits(const struct search *search, struct visit *visits)
{
    size_t next = 0;
    for (size_t i = 0; i < search->count; i++)
        for (size_t d = 0; d < search->parts[i].dispatch_count; d++) {
            const struct part_dispatch *dispatch = &search->parts[i].dispatches[d];
            for (size_t page = 0; page < dispatch->page_count; page++)
                if (visits)
                    visits[next++] = (struct visit){&dispatch->pages[page], d, i};
                else
                    next++;
        }
    if (visits && next)
        qsort(visits, next, sizeof *visits, by_page);
    return next;
}

/* Whether the visits are of more than one part. */
static bool has_others(const struct visit *visits, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (visits[i].part != visits[0].part)
            return true;
    return false;
}

int part_find_conflicts(struct part *parts, size_t count, FILE *file, json_t *report, bool *stale)
{
    struct search search = {.parts = parts, .count = count};
    const size_t visit_count = list_visits(&search, NULL);
    struct visit *visits = malloc((visit_count + 1) * sizeof *visits);
    search.conflicts = calloc(parts[0].buffer_count + 1, sizeof *search.conflicts);
    search.last = malloc(count * sizeof *search.last);
    int code = visits && search.conflicts && search.last ? TOOL_CLEAN : tool_fail("merge: out of memory");
    *stale = false;
    if (code == TOOL_CLEAN)
        list_visits(&search, visits);
    for (size_t from = 0, to; code == TOOL_CLEAN && from < visit_count; from = to) {
        for (to = from + 1; to < visit_count && visits[to].page->number == visits[from].page->number;)
            to++;
        if (has_others(&visits[from], to - from))
            *stale |= add_page(&search, &visits[from], to - from);
    }
    for (size_t i = 0; code != TOOL_WRONG && i <= parts[0].buffer_count; i++)
        if (search.conflicts[i].bytes)
            code = tool_worse(code, tell(&search, i, file, report));
    if (code != TOOL_WRONG)
        code = tool_worse(code, tell(&search, parts[0].buffer_count + 1, file, report));
    free(visits);
    free(search.conflicts);
    free(search.last);
    return code;
}
