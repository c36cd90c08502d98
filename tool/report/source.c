/* SPDX-License-Identifier: MIT */
/* Origins of instructions: lines of source files, and the listing of a kernel. */
#include "tool/report/source.h"

#include "tool/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- lines ---- */

void tool_print_omitted(const struct tool_report *report)
{
    const char *before = "sources omitted, outside the current folder and those of --source-path: ";
    enum tool_source_state state;
    for (size_t i = 0; i < report->count; i++) {
        const char *name = tool_new_source(report, i);
        if (!name)
            continue;
        free(tool_source_text(report, name, &state));
        if (state != TOOL_SOURCE_OMITTED)
            continue;
        tool_print(stdout, "%s%s", before, name);
        before = ", ";
    }
    if (*before == ',')
        putchar('\n');
}

enum tool_source_state tool_source_read(const struct tool_report *report, const char *name,
                                        struct tool_source *source)
{
    enum tool_source_state state;
    *source = (struct tool_source){.text = tool_source_text(report, name, &state)};
    size_t lines = 1;
    for (const char *at = source->text; at && *at; at++)
        lines += *at == '\n';
    source->line = source->text ? malloc(lines * sizeof *source->line) : NULL;
    if (!source->line) {
        tool_source_free(source);
        return state == TOOL_SOURCE_READ ? TOOL_SOURCE_MISSING : state;
    }
    for (char *at = source->text, *next; at && *at; at = next) {
        next = strchr(at, '\n');
        if (next)
            *next++ = '\0';
        at[strcspn(at, "\r")] = '\0';
        source->line[source->count++] = at;
    }
    return TOOL_SOURCE_READ;
}

void tool_source_free(struct tool_source *source)
{
    free(source->text);
    free(source->line);
    *source = (struct tool_source){0};
}

/* ---- listings ---- */

static bool add_instruction(struct tool_listing_of *listing, uint64_t offset, const char *text)
{
    if (listing->count % 256 == 0) {
        void *more = realloc(listing->instruction, (listing->count + 256) * sizeof *listing->instruction);
        if (!more)
            return false;
        listing->instruction = more;
    }
    char *copy = strdup(text);
    if (copy)
        listing->instruction[listing->count++] = (struct tool_instruction){offset, copy};
    return copy != NULL;
}

static bool ends_wave(const char *target, const uint32_t *words, size_t dwords)
{
    struct wm_instruction instruction;
    return wm_decode(wm_target(target), words, dwords, &instruction) &&
           instruction.flags & WM_INSTRUCTION_ENDS;
}

/* False: out of memory. */
static bool list(const struct wm_profile_code *code, struct tool_listing_of *listing)
{
    struct wm_disassembler *disassembler;
    struct wm_diag diag;
    char target[128];
    snprintf(target, sizeof target, "%s:wave%u", code->target, code->wave_lanes);
    if (!wm_target_known(target))
        snprintf(target, sizeof target, "%s", code->target);
    if (wm_disassembler_create(target, 0, &disassembler, &diag) != WM_OK)
        return false;
    bool good = true;
    size_t end = 0; /* after the last s_endpgm; the rest is padding up to the next symbol */
    for (uint64_t at = 0; good && at + 4 <= code->size;) {
        uint32_t words[16];
        size_t dwords = (code->size - at) / 4;
        dwords = dwords < 16 ? dwords : 16;
        memcpy(words, code->bytes + at, dwords * 4);
        const struct wm_disassembled one = wm_disassembler_next(disassembler, words, dwords);
        good = add_instruction(listing, at, one.text);
        if (good && ends_wave(target, words, dwords))
            end = listing->count;
        at += one.dwords * 4ULL;
    }
    wm_disassembler_destroy(disassembler);
    while (end && listing->count > end)
        free(listing->instruction[--listing->count].text);
    return good;
}

bool tool_listing_read(const struct tool_report *report, const struct wm_profile_row *row,
                       struct tool_listing_of *listing)
{
    size_t count;
    const struct wm_profile_code *code = wm_profile_code(report->profile, &count);
    *listing = (struct tool_listing_of){0};
    for (size_t i = 0; i < count; i++) {
        if (code[i].pc != tool_row_start(row))
            continue;
        if (list(&code[i], listing))
            return true;
        tool_listing_free(listing);
    }
    return false;
}

void tool_listing_free(struct tool_listing_of *listing)
{
    for (size_t i = 0; i < listing->count; i++)
        free(listing->instruction[i].text);
    free(listing->instruction);
    *listing = (struct tool_listing_of){0};
}
