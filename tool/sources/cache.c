/* SPDX-License-Identifier: MIT */
/* Compiled objects, kept by content in a folder of the user. Each is one file, which is renamed to its name
 * when it is complete, so that concurrent runs see all of it or nothing. */
#include "tool/sources/sources.h"

#include "tool/input.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MOST_BYTES = 256 << 20 }; /* of the folder */

/* FNV-1a, 64 bits. Names files, and tells changed headers; keys are compared as a whole. */
static uint64_t hash(const void *bytes, size_t size)
{
    const uint8_t *at = bytes;
    uint64_t value = 0xcbf29ce484222325;
    for (size_t i = 0; i < size; i++)
        value = (value ^ at[i]) * 0x100000001b3;
    return value;
}

/* Whether the folder is there, or could be made, and can be written to. */
static bool make_folder(const char *folder)
{
    char part[512];
    for (size_t i = 1; folder[i]; i++)
        if (folder[i] == '/') {
            snprintf(part, sizeof part, "%.*s", (int)i, folder);
            mkdir(part, 0700);
        }
    mkdir(folder, 0700);
    return access(folder, W_OK | X_OK) == 0;
}

void tool_cache_folder(char folder[512])
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    const bool named = cache && cache[0] == '/'; /* XDG Base Directory Specification: others are ignored */
    const int wrote = named ? snprintf(folder, 512, "%s/wavemem", cache)
                            : snprintf(folder, 512, "%s/.cache/wavemem", home ? home : "");
    if (wrote >= 512 || (!named && !(home && home[0] == '/')) || !make_folder(folder))
        folder[0] = 0;
}

static void entry_path(const char *folder, const char *key, size_t key_size, char path[600])
{
    snprintf(path, 600, "%s/%016" PRIx64 ".object", folder, hash(key, key_size));
}

/* ---- finding ---- */

static const char form[] = "wavemem object 1 %zu %zu %zu %zu\n"; /* bytes of the parts that follow */
enum { KEY, FILES, MESSAGES, OBJECT, PARTS };

/* Whether all files have the size and content that the lines "SIZE HASH PATH" give. */
static bool unchanged(char *lines)
{
    for (char *line = lines, *next; *line; line = next) {
        next = strchr(line, '\n');
        if (!next)
            return false;
        *next++ = 0;
        size_t size, now;
        uint64_t value;
        int path = 0;
        struct wm_diag diag;
        uint8_t *bytes;
        if (sscanf(line, "%zu %" SCNx64 " %n", &size, &value, &path) != 2 || !path ||
            !tool_read_file(line + path, &bytes, &now, &diag))
            return false;
        const bool same = now == size && hash(bytes, now) == value;
        free(bytes);
        if (!same)
            return false;
    }
    return true;
}

static void *copy_of(const void *bytes, size_t size)
{
    char *copy = malloc(size + 1);
    if (copy) {
        memcpy(copy, bytes, size);
        copy[size] = 0;
    }
    return copy;
}

bool tool_cache_find(const char *folder, const char *key, size_t key_size, struct tool_cache_entry *entry)
{
    char path[600], head[120];
    struct wm_diag diag;
    uint8_t *bytes;
    size_t size, part[PARTS], from[PARTS + 1];
    bool good = false;
    entry_path(folder, key, key_size, path);
    *entry = (struct tool_cache_entry){0};
    if (!*folder || !tool_read_file(path, &bytes, &size, &diag))
        return false;
    const uint8_t *end = memchr(bytes, '\n', size < sizeof head ? size : sizeof head - 1);
    if (end) {
        snprintf(head, sizeof head, "%.*s\n", (int)(end - bytes), (const char *)bytes);
        good = sscanf(head, form, &part[KEY], &part[FILES], &part[MESSAGES], &part[OBJECT]) == PARTS;
        from[0] = (size_t)(end - bytes) + 1;
        for (unsigned i = 0; i < PARTS && good; i++) {
            good = part[i] <= size - from[i];
            from[i + 1] = good ? from[i] + part[i] : size;
        }
        good =
            good && from[PARTS] == size && part[KEY] == key_size && !memcmp(bytes + from[KEY], key, key_size);
    }
    if (good) {
        char *files = copy_of(bytes + from[FILES], part[FILES]);
        good = files && unchanged(files);
        free(files);
    }
    if (good) {
        entry->messages = copy_of(bytes + from[MESSAGES], part[MESSAGES]);
        entry->bytes = copy_of(bytes + from[OBJECT], part[OBJECT]);
        entry->size = part[OBJECT];
        good = entry->messages && entry->bytes;
        utimensat(AT_FDCWD, path, NULL, 0); /* used now: see prune() */
    }
    free(bytes);
    return good;
}

/* ---- keeping ---- */

/* Reads the next file of a list in make's syntax into `path`; moves *at behind it. */
static bool next_file(const char **at, char *path, size_t size)
{
    size_t used = 0;
    const char *c = *at;
    while (*c == ' ' || *c == '\n' || *c == '\t' || (c[0] == '\\' && c[1] == '\n'))
        c += c[0] == '\\' ? 2 : 1;
    for (; *c && *c != ' ' && *c != '\n' && *c != '\t' && used + 1 < size; c++) {
        if (c[0] == '\\' && c[1] == '\n')
            break;
        if ((c[0] == '\\' && strchr(" #\\", c[1]) && c[1]) || (c[0] == '$' && c[1] == '$'))
            c++;
        path[used++] = *c;
    }
    path[used] = 0;
    *at = c;
    return used > 0;
}

/* Writes a line for each file that the compiler read. False: one cannot be read, so the object is not kept.
 */
static bool list_files(const char *dependencies, FILE *out)
{
    const char *at = strstr(dependencies, ": "); /* behind the name of the output */
    char path[4096];
    for (at = at ? at + 1 : ""; next_file(&at, path, sizeof path);) {
        struct wm_diag diag;
        uint8_t *bytes;
        size_t size;
        if (strchr(path, '\n') || !tool_read_file(path, &bytes, &size, &diag))
            return false;
        fprintf(out, "%zu %016" PRIx64 " %s\n", size, hash(bytes, size), path);
        free(bytes);
    }
    return true;
}

struct old {
    char name[64];
    struct timespec used;
    off_t size;
};

static int by_age(const void *a, const void *b)
{
    const struct old *x = a, *y = b;
    if (x->used.tv_sec != y->used.tv_sec)
        return x->used.tv_sec < y->used.tv_sec ? -1 : 1;
    return x->used.tv_nsec < y->used.tv_nsec ? -1 : x->used.tv_nsec > y->used.tv_nsec;
}

/* Removes what was not used for the longest time, until a quarter of the limit is free. */
static void prune(const char *folder)
{
    DIR *list = opendir(folder);
    struct old *files = NULL;
    size_t count = 0;
    off_t total = 0;
    const int at = list ? dirfd(list) : -1;
    for (struct dirent *entry; list && (entry = readdir(list));) {
        struct stat status;
        struct old *more;
        if (strlen(entry->d_name) >= sizeof more->name || !strstr(entry->d_name, ".object") ||
            fstatat(at, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) || !S_ISREG(status.st_mode))
            continue;
        more = realloc(files, (count + 1) * sizeof *files);
        if (!more)
            break;
        files = more;
        memcpy(files[count].name, entry->d_name, strlen(entry->d_name) + 1);
        files[count].used = status.st_mtim;
        files[count++].size = status.st_size;
        total += status.st_size;
    }
    if (total > MOST_BYTES) {
        qsort(files, count, sizeof *files, by_age);
        for (size_t i = 0; i < count && total > MOST_BYTES / 4 * 3; i++)
            if (unlinkat(at, files[i].name, 0) == 0)
                total -= files[i].size;
    }
    free(files);
    if (list)
        closedir(list);
}

void tool_cache_keep(const char *folder, const char *key, size_t key_size, const char *dependencies,
                     const struct tool_cache_entry *entry)
{
    char path[600], temporary[620];
    char *files = NULL;
    size_t files_size = 0;
    FILE *list = *folder ? open_memstream(&files, &files_size) : NULL;
    bool good = list && list_files(dependencies, list);
    if (list)
        good = fclose(list) == 0 && good;
    entry_path(folder, key, key_size, path);
    snprintf(temporary, sizeof temporary, "%s.%ld", path, (long)getpid());
    FILE *out = good ? fopen(temporary, "wbx") : NULL;
    if (out) {
        fprintf(out, form, key_size, files_size, strlen(entry->messages), entry->size);
        fwrite(key, 1, key_size, out);
        fwrite(files, 1, files_size, out);
        fputs(entry->messages, out);
        fwrite(entry->bytes, 1, entry->size, out);
        good = !ferror(out);
        good = fclose(out) == 0 && good && rename(temporary, path) == 0;
        if (!good)
            unlink(temporary);
    }
    free(files);
    if (good)
        prune(folder);
}
