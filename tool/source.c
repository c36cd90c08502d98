/* SPDX-License-Identifier: MIT */
/* What instructions come from: lines of source files, and the listing of a kernel. */
#include "source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- source files ---- */

enum { MOST_BYTES = 4 << 20 };

/* A code object may name any file; only sources are read. */
static bool is_source(const char *name)
{
    static const char *const endings[] = {".cl",  ".clh", ".hip", ".cpp", ".cc",  ".cxx", ".c", ".cu",
                                          ".cuh", ".h",   ".hpp", ".hh",  ".inc", ".s",   ".S", ".asm",
                                          ".ll",  ".py",  ".inl", ".f90", ".jl",  ".mlir"};
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; dot && i < sizeof endings / sizeof *endings; i++)
        if (strcmp(dot, endings[i]) == 0)
            return true;
    return false;
}

static char *read_text(const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size > MOST_BYTES)
        return NULL;
    FILE *file = fopen(path, "rb");
    char *text = file ? malloc((size_t)status.st_size + 1) : NULL;
    if (text) {
        const size_t size = fread(text, 1, (size_t)status.st_size, file);
        text[size] = '\0';
        if (strlen(text) != size) { /* not a text */
            free(text);
            text = NULL;
        }
    }
    if (file)
        fclose(file);
    return text;
}

/* folder/above/name */
static char *read_in(const char *folder, int folder_length, const char *above, const char *name)
{
    char path[4096];
    const int length = snprintf(path, sizeof path, "%.*s/%s%s", folder_length, folder, above, name);
    return length > 0 && (size_t)length < sizeof path ? read_text(path) : NULL;
}

static char *find_text(const char *name, const char *folder, const struct tool_origin *origins, size_t count)
{
    const char *slash = strrchr(name, '/');
    char *text = NULL;
    if (folder) {
        text = read_in(folder, (int)strlen(folder), "", name);
        text = text ? text : read_in(folder, (int)strlen(folder), "", slash ? slash + 1 : name);
    }
    text = text ? text : read_text(name);
    for (size_t i = 0; i < count && !text && *name != '/'; i++) {
        const char *end = strrchr(origins[i].file, '/');
        const int length = end ? (int)(end - origins[i].file) : 1;
        const char *beside = end ? origins[i].file : ".";
        text = read_in(beside, length, "", name);
        text = text ? text : read_in(beside, length, "../", name);
    }
    return text;
}

bool tool_source_read(const char *name, const char *folder, const struct tool_origin *origins, size_t count,
                      struct tool_source *source)
{
    *source = (struct tool_source){.text = is_source(name) ? find_text(name, folder, origins, count) : NULL};
    size_t lines = 1;
    for (const char *at = source->text; at && *at; at++)
        lines += *at == '\n';
    source->line = source->text ? malloc(lines * sizeof *source->line) : NULL;
    if (!source->line) {
        tool_source_free(source);
        return false;
    }
    for (char *at = source->text, *next; at && *at; at = next) {
        next = strchr(at, '\n');
        if (next)
            *next++ = '\0';
        at[strcspn(at, "\r")] = '\0';
        source->line[source->count++] = at;
    }
    return true;
}

void tool_source_free(struct tool_source *source)
{
    free(source->text);
    free(source->line);
    *source = (struct tool_source){0};
}

/* ---- listings ---- */

/* The stretch of code that `address` lies in. */
static bool find_code(const struct wm_object *object, uint64_t address, struct wm_code *found)
{
    const size_t count = wm_object_code(object, NULL, 0);
    struct wm_code *code = calloc(count + 1, sizeof *code);
    bool good = false;
    if (code)
        wm_object_code(object, code, count);
    for (size_t i = 0; code && i < count && !good; i++)
        if (address - code[i].address < code[i].size) {
            *found = code[i];
            good = true;
        }
    free(code);
    return good;
}

/* Where the symbol begins; UINT64_MAX: the object has none of that name. */
static uint64_t find_symbol(const struct wm_object *object, const char *name)
{
    for (uint64_t at = 0; (at = wm_object_next_symbol(object, at)) != UINT64_MAX; at++) {
        uint64_t distance;
        const char *symbol = wm_object_symbol(object, at, &distance);
        if (symbol && strcmp(symbol, name) == 0 && distance == 0)
            return at;
    }
    return UINT64_MAX;
}

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

/* What stands behind the last end of the program only fills it up to the next symbol. */
static void cut_padding(struct tool_listing_of *listing)
{
    size_t end = listing->count;
    while (end && strcmp(listing->instruction[end - 1].text, "s_endpgm") != 0)
        end--;
    while (end && listing->count > end)
        free(listing->instruction[--listing->count].text);
}

/* From `start` to the next symbol; false for want of memory. */
static bool list(const struct wm_object *object, const struct wm_code *code, uint64_t start,
                 struct tool_listing_of *listing)
{
    struct wm_disassembler *disassembler;
    struct wm_diag diag;
    char target[128];
    const unsigned lanes = wm_object_wave_size(object, start);
    snprintf(target, sizeof target, "%s:wave%u", wm_object_target(object), lanes);
    if (!lanes || !wm_target_known(target))
        snprintf(target, sizeof target, "%s", wm_object_target(object));
    if (wm_disassembler_create(target, 0, &disassembler, &diag) != WM_OK)
        return false;
    const uint64_t next = wm_object_next_symbol(object, start + 1), limit = code->address + code->size;
    const uint64_t end = next < limit ? next : limit;
    bool good = true;
    for (uint64_t at = start; good && at + 4 <= end;) {
        uint32_t words[16];
        size_t dwords = (end - at) / 4;
        dwords = dwords < 16 ? dwords : 16;
        memcpy(words, code->bytes + (at - code->address), dwords * 4);
        const struct wm_disassembled one = wm_disassembler_next(disassembler, words, dwords);
        good = add_instruction(listing, at - start, one.text);
        at += one.dwords * 4ULL;
    }
    wm_disassembler_destroy(disassembler);
    cut_padding(listing);
    return good;
}

static bool has_row(const struct tool_listing_of *listing, const struct wm_profile_row *row)
{
    for (size_t i = 0; i < listing->count; i++)
        if (listing->instruction[i].offset == row->offset)
            return strcmp(listing->instruction[i].text, row->text) == 0;
    return false;
}

bool tool_listing_read(const struct wm_profile_row *row, const struct tool_origin *origins, size_t count,
                       struct tool_listing_of *listing)
{
    *listing = (struct tool_listing_of){0};
    for (size_t i = 0; i < count; i++) {
        const uint64_t start = find_symbol(origins[i].object, tool_row_kernel(row));
        struct wm_code code;
        if (start != UINT64_MAX && find_code(origins[i].object, start, &code) &&
            list(origins[i].object, &code, start, listing) && has_row(listing, row))
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
