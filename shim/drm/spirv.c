/* SPDX-License-Identifier: MIT */
/* Names in SPIR-V modules. Source: SPIR-V specification, "Physical Layout" and "Debug Instructions". */
#include "shim/drm/radv.h"

#include <stdio.h>
#include <string.h>

enum { MAGIC = 0x07230203, HEADER = 5, OP_SOURCE = 3, OP_STRING = 7 };

/* The text of OpString with this id; NULL: none. */
static const char *find_string(const uint32_t *words, size_t count, uint32_t id)
{
    for (size_t at = HEADER, length; at < count; at += length) {
        length = words[at] >> 16;
        if (!length || length > count - at)
            return NULL;
        if ((words[at] & 0xffff) == OP_STRING && length > 2 && words[at + 1] == id)
            return memchr(&words[at + 2], 0, 4 * (length - 2)) ? (const char *)&words[at + 2] : NULL;
    }
    return NULL;
}

/* The file that OpSource names; NULL: none. */
static const char *find_file(const uint32_t *words, size_t count)
{
    for (size_t at = HEADER, length; at < count; at += length) {
        length = words[at] >> 16;
        if (!length || length > count - at)
            return NULL;
        if ((words[at] & 0xffff) == OP_SOURCE && length > 3)
            return find_string(words, count, words[at + 3]);
    }
    return NULL;
}

void radv_shader_name(const uint32_t *words, size_t count, const char *entry, char name[RADV_NAME])
{
    const char *file = count > HEADER && words[0] == MAGIC ? find_file(words, count) : NULL;
    const char *folder = file ? strrchr(file, '/') : NULL;
    const bool is_main = !strcmp(entry, "main");
    file = folder ? folder + 1 : file;
    if (file && !is_main)
        snprintf(name, RADV_NAME, "%s (%s)", entry, file);
    else
        snprintf(name, RADV_NAME, "%s", file ? file : is_main ? "" : entry);
}
