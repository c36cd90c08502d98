/* SPDX-License-Identifier: MIT */
/* Reads and checks the file of a part, which may be anything. */
#include "tool/shard/part.h"

#include "base/zstd.h"
#include "tool/input.h"
#include "tool/tool.h"

#include <stdlib.h>
#include <string.h>

static bool wrong(const struct part *part, const char *what)
{
    tool_fail("%s: the part is damaged: %s", part->path, what);
    return false;
}

static uint64_t get_number(const uint8_t *bytes)
{
    uint64_t number = 0;
    for (unsigned i = 0; i < 8; i++)
        number |= (uint64_t)bytes[i] << 8 * i;
    return number;
}

/* A number of the head, not negative. */
static bool get(const json_t *object, const char *key, uint64_t *number)
{
    const json_t *value = json_object_get(object, key);
    *number = json_is_integer(value) ? (uint64_t)json_integer_value(value) : 0;
    return json_is_integer(value) && json_integer_value(value) >= 0;
}

/* The shape of an .npy file: numbers, as NumPy writes a tuple. */
static bool is_shape(const char *text)
{
    return strlen(text) < 96 && text[strspn(text, "0123456789(), ")] == 0;
}

static struct part_memory *get_memory(const json_t *list, size_t *count, bool typed)
{
    struct part_memory *all = calloc(json_array_size(list) + 1, sizeof *all);
    size_t i;
    json_t *one;
    bool good = all && json_is_array(list);
    json_array_foreach(list, i, one)
    {
        struct part_memory *memory = good ? &all[i] : NULL;
        if (!memory)
            break;
        memory->name = json_string_value(json_object_get(one, "name"));
        memory->type = json_string_value(json_object_get(one, "type"));
        memory->shape = json_string_value(json_object_get(one, "shape"));
        good = get(one, "address", &memory->address) && get(one, "size", &memory->size) && memory->name &&
               memory->size < INT64_MAX && /* the sum does not overflow */
               (!typed || (memory->type && memory->shape && is_shape(memory->shape)));
    }
    *count = json_array_size(list);
    if (good)
        return all;
    free(all);
    return NULL;
}

static bool read_head(struct part *part, const char *text, size_t size)
{
    uint64_t version, pages;
    part->head = json_loadb(text, size, 0, NULL);
    if (!part->head || !get(part->head, "version", &version))
        return wrong(part, "its head is not JSON with a version");
    if (version != PART_VERSION) {
        tool_fail("%s: a part of version %llu; this wavemem reads version %d", part->path,
                  (unsigned long long)version, PART_VERSION);
        return false;
    }
    part->verb = json_string_value(json_object_get(part->head, "verb"));
    part->kernel = json_string_value(json_object_get(part->head, "kernel"));
    part->target = json_string_value(json_object_get(part->head, "target"));
    part->digest = json_string_value(json_object_get(part->head, "digest"));
    part->has_gds = json_is_true(json_object_get(part->head, "gds"));
    const bool good = get(part->head, "part", &part->index) && get(part->head, "parts", &part->count) &&
                      get(part->head, "first_workgroup", &part->first) &&
                      get(part->head, "workgroups", &part->workgroups) &&
                      get(part->head, "all_workgroups", &part->all) && get(part->head, "pages", &pages);
    if (!good || !part->verb || !part->kernel || !part->target || !part->digest || !part->index--)
        return wrong(part, "its head lacks a member");
    part->page_count = pages;
    part->buffers = get_memory(json_object_get(part->head, "buffers"), &part->buffer_count, false);
    part->outputs = get_memory(json_object_get(part->head, "outputs"), &part->output_count, true);
    return (part->buffers && part->outputs) || wrong(part, "its head lacks buffers or outputs");
}

static bool read_body(struct part *part, const uint8_t *packed, size_t packed_size, size_t size)
{
    size_t left = size, whole = 0;
    if (!WMI_HAS_ZSTD) {
        tool_fail("%s: %s", part->path, WMI_NO_ZSTD);
        return false;
    }
    if (ZSTD_getFrameContentSize(packed, packed_size) != size)
        return wrong(part, "its body is not as long as it says");
    part->body = size < SIZE_MAX / 2 ? malloc(size + 1) : NULL;
    if (!part->body) {
        tool_fail("%s: no memory for a part of %zu bytes", part->path, size);
        return false;
    }
    const size_t got = ZSTD_decompress(part->body, size, packed, packed_size);
    if (ZSTD_isError(got) || got != size)
        return wrong(part, "its body cannot be decompressed");
    for (size_t i = 0; !part->index && i < part->output_count; i++) {
        if (part->outputs[i].size > left)
            return wrong(part, "an output exceeds its body");
        left -= part->outputs[i].size;
        whole += part->outputs[i].size;
    }
    part->whole = part->index ? NULL : part->body;
    if (part->page_count > left / sizeof *part->pages)
        return wrong(part, "its pages exceed its body");
    const size_t pages = part->page_count * sizeof *part->pages;
    struct footprint_page *aligned = malloc(pages + 1); /* outputs may have any size */
    if (!aligned) {
        tool_fail("%s: out of memory", part->path);
        return false;
    }
    memcpy(aligned, part->body + whole, pages);
    part->pages = aligned;
    part->data = part->body + whole + pages;
    part->data_size = left - pages;
    if (!part->index && part->data_size)
        return wrong(part, "more stands behind its pages");
    for (size_t i = 0; i < part->page_count; i++)
        if (aligned[i].number > UINT64_MAX / FOOTPRINT_PAGE - 1)
            return wrong(part, "a page lies behind the address space");
    for (size_t i = 1; i < part->page_count; i++)
        if (aligned[i].number <= aligned[i - 1].number)
            return wrong(part, "its pages are not in order");
    return true;
}

bool part_read(struct part *part, const char *path)
{
    struct wm_diag diag;
    size_t size;
    *part = (struct part){.path = path};
    if (!tool_read_file(path, &part->file, &size, &diag)) {
        tool_fail("%s", diag.message);
        return false;
    }
    const size_t start = PART_MAGIC_BYTES + 8 * PART_SIZES;
    if (size < PART_MAGIC_BYTES || memcmp(part->file, PART_MAGIC, PART_MAGIC_BYTES) != 0) {
        tool_fail("%s: no part; expected a file of 'wavemem run' or 'prof' with --part", path);
        return false;
    }
    uint64_t sizes[PART_SIZES] = {0}, left = size < start ? 0 : size - start;
    bool fits = size >= start;
    for (unsigned i = 0; fits && i < PART_SIZES; i++) {
        sizes[i] = get_number(part->file + PART_MAGIC_BYTES + 8 * i);
        fits = i == 1 || sizes[i] <= left; /* the body is larger before it is compressed */
        left -= i == 1 ? 0 : sizes[i];
    }
    if (!fits || left)
        return wrong(part, "it is cut off, or longer than it says");
    if (!read_head(part, (const char *)part->file + start, sizes[0]))
        return false;
    const uint8_t *packed = part->file + start + sizes[0];
    part->trace = packed + sizes[2];
    part->trace_size = sizes[3];
    return read_body(part, packed, sizes[2], sizes[1]);
}

void part_free(struct part *part)
{
    json_decref(part->head);
    free((void *)part->pages);
    free(part->buffers);
    free(part->outputs);
    free(part->body);
    free(part->file);
}
