/* SPDX-License-Identifier: MIT */
/* Source files: which may be read, and where they are; also in the shim, which puts them into traces. */
#include "tool/report/source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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

char *tool_source_text(const struct tool_report *report, const char *name, enum tool_source_state *state)
{
    struct search search = {report, name};
    char *text = is_source(name) ? find_text(&search) : NULL;
    *state = text ? TOOL_SOURCE_READ : search.outside ? TOOL_SOURCE_OMITTED : TOOL_SOURCE_MISSING;
    return text;
}

const char *tool_new_source(const struct tool_report *report, size_t row)
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
        const char *name = tool_new_source(report, i);
        char *text =
            name && !wm_profile_source(report->profile, name) ? tool_source_text(report, name, &state) : NULL;
        if (text)
            wm_profile_add_source(report->profile, name, text, &diag);
        free(text);
    }
}
