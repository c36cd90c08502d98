/* SPDX-License-Identifier: MIT */
/* Origins of instructions: lines of source files, and the listing of a kernel. */
#include "tool/report/source.h"

#include "tool/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- source files ---- */

enum { MOST_BYTES = 4 << 20 };

/* Whether the name has the ending of a source file. A code object may name any file; only sources are read.
 */
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
        if (strlen(text) != size) { /* not text: contains NUL */
            free(text);
            text = NULL;
        }
    }
    if (file)
        fclose(file);
    return text;
}

/* Whether the file, after resolving symbolic links, is below the folder. */
static bool is_below(const char *real, const char *folder)
{
    char *root = realpath(folder, NULL);
    const size_t length = root ? strlen(root) : 0;
    const bool below = root && (length == 1 || (strncmp(real, root, length) == 0 && real[length] == '/'));
    free(root);
    return below;
}

/* The state of a search. */
struct search {
    const struct tool_report *report;
    const char *name;
    bool outside; /* a file exists, but outside the allowed folders */
};

/* Reads the file if it exists and is in an allowed folder. */
static char *try_file(struct search *search, const char *path)
{
    const struct tool_report_options *options = search->report->options;
    char *real = realpath(path, NULL), *text = NULL;
    bool below = real && is_below(real, ".");
    for (size_t i = 0; real && i < options->source_path_count && !below; i++)
        below = is_below(real, options->source_paths[i]);
    if (below)
        text = read_text(real);
    else if (real)
        search->outside = true;
    free(real);
    return text;
}

/* Tries folder/above/name. */
static char *try_in(struct search *search, const char *folder, int folder_length, const char *above,
                    const char *name)
{
    char path[4096];
    const int length = snprintf(path, sizeof path, "%.*s/%s%s", folder_length, folder, above, name);
    return length > 0 && (size_t)length < sizeof path ? try_file(search, path) : NULL;
}

/* Finds the file in the folder by the longest possible suffix of the name. */
static char *try_suffixes(struct search *search, const char *folder)
{
    char *text = NULL;
    for (const char *name = search->name; name && !text; name = strchr(name, '/')) {
        name += strspn(name, "/");
        text = try_in(search, folder, (int)strlen(folder), "", name);
    }
    return text;
}

/* The text of the file in the trace. */
static char *read_kept(const struct tool_report *report, const char *name)
{
    const char *text = wm_profile_source(report->profile, name);
    return text ? strdup(text) : NULL;
}

static char *find_text(struct search *search)
{
    const struct tool_report *report = search->report;
    const char *name = search->name;
    char *text = NULL;
    for (size_t i = 0; i < report->options->source_path_count && !text; i++)
        text = try_suffixes(search, report->options->source_paths[i]);
    text = text ? text : read_kept(report, name);
    text = text ? text : try_file(search, name);
    for (size_t i = 0; i < report->file_count && !text && *name != '/'; i++) {
        const char *end = strrchr(report->files[i], '/');
        const int length = end ? (int)(end - report->files[i]) : 1;
        const char *beside = end ? report->files[i] : ".";
        text = try_in(search, beside, length, "", name);
        text = text ? text : try_in(search, beside, length, "../", name);
    }
    return text;
}

/* Reads the text of the file; NULL: see *state. */
static char *read_source(const struct tool_report *report, const char *name, enum tool_source_state *state)
{
    struct search search = {report, name};
    char *text = is_source(name) ? find_text(&search) : NULL;
    *state = text ? TOOL_SOURCE_READ : search.outside ? TOOL_SOURCE_OMITTED : TOOL_SOURCE_MISSING;
    return text;
}

/* The file that the row names, unless an earlier row names it; else NULL. */
static const char *new_name(const struct tool_report *report, size_t row)
{
    const char *name = report->rows[row]->file;
    for (size_t i = 0; i < row && name; i++)
        if (report->rows[i]->file && strcmp(report->rows[i]->file, name) == 0)
            return NULL;
    return name;
}

void tool_keep_sources(const struct tool_report *report)
{
    struct wm_diag diag; /* ignored: a source that does not fit counts as missing */
    enum tool_source_state state;
    for (size_t i = 0; i < report->count; i++) {
        const char *name = new_name(report, i);
        char *text =
            name && !wm_profile_source(report->profile, name) ? read_source(report, name, &state) : NULL;
        if (text)
            wm_profile_add_source(report->profile, name, text, &diag);
        free(text);
    }
}

void tool_print_omitted(const struct tool_report *report)
{
    const char *before = "sources omitted, outside the current folder and those of --source-path: ";
    enum tool_source_state state;
    for (size_t i = 0; i < report->count; i++) {
        const char *name = new_name(report, i);
        if (!name)
            continue;
        free(read_source(report, name, &state));
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
    *source = (struct tool_source){.text = read_source(report, name, &state)};
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
