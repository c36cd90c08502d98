/* SPDX-License-Identifier: MIT */
/* Origins of a profile's figures: dispatches, code of the kernels, source files. */
#include "profile/origins.h"

#include <stdlib.h>
#include <string.h>

/* ---- storing ---- */

/* Returns the array with room for one more entry of `size` bytes after `count` entries; it grows at powers of
 * two. NULL: out of memory; the array is unchanged. */
static void *with_room(void *array, size_t count, size_t size)
{
    return count & (count - 1) ? array : realloc(array, (count ? 2 * count : 1) * size);
}

static char *copy(const char *text)
{
    return strdup(text ? text : "");
}

static bool has_room(struct wmi_origins *origins, uint64_t bytes)
{
    if (bytes > WMI_ORIGINS_BYTES - origins->bytes)
        return false;
    origins->bytes += bytes;
    return true;
}

bool wmi_origins_add_dispatch(struct wmi_origins *origins, const struct wm_profile_dispatch *dispatch)
{
    struct wm_profile_dispatch *all = with_room(origins->dispatches, origins->dispatch_count, sizeof *all);
    if (!all)
        return false;
    origins->dispatches = all;
    struct wm_profile_dispatch *kept = &all[origins->dispatch_count];
    *kept = *dispatch;
    kept->kernel = copy(dispatch->kernel);
    kept->target = copy(dispatch->target);
    origins->dispatch_count++;
    return kept->kernel && kept->target;
}

bool wmi_origins_add_code(struct wmi_origins *origins, const struct wm_profile_code *code)
{
    struct wm_profile_code *all = with_room(origins->codes, origins->code_count, sizeof *all);
    if (!all)
        return false;
    origins->codes = all;
    struct wm_profile_code *kept = &all[origins->code_count];
    uint8_t *bytes = has_room(origins, code->size) ? malloc(code->size + 1) : NULL;
    if (!bytes)
        return false;
    memcpy(bytes, code->bytes, code->size);
    *kept = *code;
    kept->bytes = bytes;
    kept->kernel = copy(code->kernel);
    kept->target = copy(code->target);
    origins->code_count++;
    return kept->kernel && kept->target;
}

bool wmi_origins_add_source(struct wmi_origins *origins, const char *name, const char *text, size_t size)
{
    if (wmi_origins_source(origins, name))
        return true;
    struct wmi_source_text *all = with_room(origins->sources, origins->source_count, sizeof *all);
    if (!all)
        return false;
    origins->sources = all;
    struct wmi_source_text *kept = &all[origins->source_count];
    char *bytes = has_room(origins, size) ? malloc(size + 1) : NULL;
    if (!bytes)
        return false;
    memcpy(bytes, text, size);
    bytes[size] = '\0';
    *kept = (struct wmi_source_text){copy(name), bytes};
    origins->source_count++;
    return kept->name;
}

void wmi_origins_free(struct wmi_origins *origins)
{
    for (size_t i = 0; i < origins->dispatch_count; i++) {
        free((char *)origins->dispatches[i].kernel);
        free((char *)origins->dispatches[i].target);
    }
    for (size_t i = 0; i < origins->code_count; i++) {
        free((char *)origins->codes[i].kernel);
        free((char *)origins->codes[i].target);
        free((uint8_t *)origins->codes[i].bytes);
    }
    for (size_t i = 0; i < origins->source_count; i++) {
        free(origins->sources[i].name);
        free(origins->sources[i].text);
    }
    free(origins->dispatches);
    free(origins->codes);
    free(origins->sources);
    *origins = (struct wmi_origins){0};
}

bool wmi_origins_has_code(const struct wmi_origins *origins, uint64_t pc)
{
    for (size_t i = origins->code_count; i-- > 0;) /* mostly the last one */
        if (origins->codes[i].pc == pc)
            return true;
    return false;
}

const char *wmi_origins_source(const struct wmi_origins *origins, const char *name)
{
    for (size_t i = 0; i < origins->source_count; i++)
        if (origins->sources[i].name && strcmp(origins->sources[i].name, name) == 0)
            return origins->sources[i].text;
    return NULL;
}

/* ---- traces ---- */

void wmi_put_code(struct wmi_trace_bytes *bytes, const struct wm_profile_code *code)
{
    wmi_trace_write_string(bytes, code->kernel);
    wmi_trace_write_number(bytes, code->pc);
    wmi_trace_write_number(bytes, code->wave_lanes);
    wmi_trace_write_number(bytes, code->size);
    wmi_trace_write_bytes(bytes, code->bytes, code->size);
}

void wmi_put_source(struct wmi_trace_bytes *bytes, const struct wmi_source_text *source)
{
    const size_t size = strlen(source->text);
    wmi_trace_write_string(bytes, source->name);
    wmi_trace_write_number(bytes, size);
    wmi_trace_write_bytes(bytes, source->text, size);
}

const char *wmi_get_code(struct wmi_reader *reader, const char *target, struct wmi_origins *origins)
{
    char *kernel = wmi_trace_read_string(reader);
    struct wm_profile_code code = {.kernel = kernel, .target = target, .pc = wmi_trace_read_number(reader)};
    code.wave_lanes = (unsigned)wmi_trace_read_upto(reader, 64);
    code.size = wmi_trace_read_upto(reader, WMI_ORIGINS_BYTES);
    code.bytes = wmi_trace_read_bytes(reader, code.size);
    const bool good = !reader->failed && code.bytes && wmi_origins_add_code(origins, &code);
    free(kernel);
    return good ? NULL : "no code, or too much of it";
}

const char *wmi_get_source(struct wmi_reader *reader, struct wmi_origins *origins)
{
    char *name = wmi_trace_read_string(reader);
    const size_t size = wmi_trace_read_upto(reader, WMI_ORIGINS_BYTES);
    const uint8_t *text = wmi_trace_read_bytes(reader, size);
    const bool good = name && text && !memchr(text, 0, size) &&
                      wmi_origins_add_source(origins, name, (const char *)text, size);
    free(name);
    return good ? NULL : "no source, or too much of it";
}
