/* SPDX-License-Identifier: MIT */
/* Files named in assembly files: .include and .incbin. */
#include "assembler/parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_PATH = 4096, LARGEST_FILE = 1 << 28 };

/* Appends a file to `bytes`; false if it cannot be opened or is too large. */
static bool read_all(struct wmi_assembler *a, const char *path, struct wmi_bytes *bytes)
{
    char block[4096];
    FILE *file = fopen(path, "rb");
    if (!file)
        return false;
    a->open_file = file; /* closed by the caller if memory runs out */
    for (size_t n; (n = fread(block, 1, sizeof block, file)) > 0 && bytes->size <= LARGEST_FILE;)
        wmi_asm_append(a, bytes, block, n);
    const bool good = !ferror(file) && bytes->size <= LARGEST_FILE;
    a->open_file = NULL;
    fclose(file);
    return good;
}

static bool path_in(char *path, const char *folder, size_t folder_length, const char *name)
{
    const int n = snprintf(path, LONGEST_PATH, "%.*s%s%s", (int)folder_length, folder,
                           folder_length && folder[folder_length - 1] != '/' ? "/" : "", name);
    return n > 0 && n < LONGEST_PATH;
}

/* Finds and reads a file: first in the folder of the file that names it, then in the folders of the command
 * line. Sets `path`. */
static bool find_file(struct wmi_assembler *a, const char *name, char *path, struct wmi_bytes *bytes)
{
    bytes->size = 0;
    if (*name == '/')
        return path_in(path, "", 0, name) && read_all(a, path, bytes);
    const char *slash = strrchr(a->place.name, '/');
    if (path_in(path, a->place.name, slash ? (size_t)(slash - a->place.name) : 0, name) &&
        read_all(a, path, bytes))
        return true;
    for (size_t i = 0; i < a->folder_count; i++) {
        bytes->size = 0;
        if (path_in(path, a->folders[i], strlen(a->folders[i]), name) && read_all(a, path, bytes))
            return true;
    }
    return false;
}

/* Reads the file named by the string at the cursor to a->scratch; false after a message. */
static bool read_named(struct wmi_assembler *a, struct wmi_cursor *c, char *path)
{
    wmi_skip_space(c);
    const char *at = c->at;
    a->scratch.size = 0;
    if (!wmi_asm_read_string(a, c, &a->scratch))
        return false;
    const char *name = wmi_asm_text(a, a->scratch.data ? (char *)a->scratch.data : "", a->scratch.size);
    if (!a->reads_files)
        wmi_asm_error(a, at, "other files are not read here");
    else if (!find_file(a, name, path, &a->scratch))
        wmi_asm_error(a, at, "'%s' cannot be read, neither beside %s nor in a folder of -I", name,
                      a->place.name);
    else
        return true;
    return false;
}

void wmi_asm_include(struct wmi_assembler *a, struct wmi_cursor *c, int unused)
{
    char path[LONGEST_PATH];
    (void)unused;
    if (!read_named(a, c, path) || !wmi_asm_at_end(a, c))
        return;
    char *text = wmi_asm_text(a, a->scratch.data ? (char *)a->scratch.data : "", a->scratch.size);
    wmi_asm_push_file(a, wmi_asm_text(a, path, strlen(path)), text, a->scratch.size);
}

/* .incbin "file"[, from[, count]] */
void wmi_asm_include_bytes(struct wmi_assembler *a, struct wmi_cursor *c, int unused)
{
    char path[LONGEST_PATH];
    int64_t from = 0, count = INT64_MAX;
    (void)unused;
    if (!read_named(a, c, path))
        return;
    if (wmi_take(c, ',')) {
        wmi_skip_space(c);
        if (c->at < c->end && *c->at != ',' && !wmi_asm_read_number(a, c, &from))
            return;
        if (wmi_take(c, ',') && !wmi_asm_read_number(a, c, &count))
            return;
    }
    if (!wmi_asm_at_end(a, c))
        return;
    const int64_t size = (int64_t)a->scratch.size;
    if (from < 0 || count < 0 || from > size) {
        wmi_asm_error(a, c->at, "expected bytes within the %lld of the file", (long long)size);
    } else {
        wmi_asm_begin_bytes(a);
        wmi_asm_append(a, &a->section->bytes, a->scratch.data + from,
                       (size_t)(count < size - from ? count : size - from));
    }
}
