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

static struct part_dispatch *get_dispatches(const json_t *list, size_t *count)
{
    struct part_dispatch *all = calloc(json_array_size(list) + 1, sizeof *all);
    size_t i;
    json_t *one;
    bool good = all && json_array_size(list);
    json_array_foreach(list, i, one)
    {
        struct part_dispatch *dispatch = good ? &all[i] : NULL;
        uint64_t pages;
        if (!dispatch)
            break;
        dispatch->kernel = json_string_value(json_object_get(one, "kernel"));
        dispatch->has_gds = json_is_true(json_object_get(one, "gds"));
        good = dispatch->kernel && get(one, "first_workgroup", &dispatch->first) &&
               get(one, "workgroups", &dispatch->workgroups) && get(one, "all_workgroups", &dispatch->all) &&
               get(one, "cluster", &dispatch->cluster) && get(one, "pages", &pages);
        dispatch->page_count = good ? pages : 0;
    }
    *count = json_array_size(list);
    if (good)
        return all;
    free(all);
    return NULL;
}

static bool read_head(struct part *part, const char *text, size_t size)
{
    uint64_t version;
    part->head = json_loadb(text, size, 0, NULL);
    if (!part->head || !get(part->head, "version", &version))
        return wrong(part, "its head is not JSON with a version");
    if (version != PART_VERSION) {
        tool_fail("%s: a part of version %llu; this wavemem reads version %d", part->path,
                  (unsigned long long)version, PART_VERSION);
        return false;
    }
    part->verb = json_string_value(json_object_get(part->head, "verb"));
    part->target = json_string_value(json_object_get(part->head, "target"));
    part->digest = json_string_value(json_object_get(part->head, "digest"));
    const bool good = get(part->head, "part", &part->index) && get(part->head, "parts", &part->count);
    if (!good || !part->verb || !part->target || !part->digest || !part->index--)
        return wrong(part, "its head lacks a member");
    part->dispatches = get_dispatches(json_object_get(part->head, "dispatches"), &part->dispatch_count);
    if (!part->dispatches)
        return wrong(part, "its head lacks dispatches");
    part->buffers = get_memory(json_object_get(part->head, "buffers"), &part->buffer_count, false);
    part->outputs = get_memory(json_object_get(part->head, "outputs"), &part->output_count, true);
    return (part->buffers && part->outputs) || wrong(part, "its head lacks buffers or outputs");
}

/* Checks the pages of a dispatch: in order, and within the address space. */
static bool check_pages(const struct part *part, const struct part_dispatch *dispatch)
{
    for (size_t i = 0; i < dispatch->page_count; i++)
        if (dispatch->pages[i].number > UINT64_MAX / FOOTPRINT_PAGE - 1)
            return wrong(part, "a page lies behind the address space");
    for (size_t i = 1; i < dispatch->page_count; i++)
        if (dispatch->pages[i].number <= dispatch->pages[i - 1].number)
            return wrong(part, "its pages are not in order");
    return true;
}

/* Reads the body from the pages on. */
static bool read_pages(struct part *part, const uint8_t *at, size_t size)
{
    size_t count = 0;
    for (size_t i = 0; i < part->dispatch_count; i++) {
        if (part->dispatches[i].page_count > size / sizeof *part->pages - count)
            return wrong(part, "its pages exceed its body");
        count += part->dispatches[i].page_count;
    }
    const size_t bytes = count * sizeof *part->pages;
    part->all_pages = malloc(bytes + 1); /* aligned: outputs before them may have any size */
    part->footprint = footprint_create();
    bool good = part->all_pages && part->footprint;
    if (good)
        memcpy(part->all_pages, at, bytes);
    for (size_t i = 0, page = 0; i < part->dispatch_count && good; i++) {
        struct part_dispatch *dispatch = &part->dispatches[i];
        dispatch->pages = &part->all_pages[page];
        page += dispatch->page_count;
        if (!check_pages(part, dispatch))
            return false;
        good = footprint_add(part->footprint, dispatch->pages, dispatch->page_count);
    }
    part->pages = good ? footprint_pages(part->footprint, &part->page_count) : NULL;
    part->overwritten = good ? calloc(part->page_count + 1, sizeof *part->overwritten) : NULL;
    if (!part->overwritten) {
        tool_fail("%s: out of memory", part->path);
        return false;
    }
    part->data = at + bytes;
    part->data_size = size - bytes;
    return part->index || !part->data_size || wrong(part, "more stands behind its pages");
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
    return read_pages(part, part->body + whole, left);
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
        tool_fail("%s: no part; expected a file of 'wavemem run', 'prof' or 'check' with --part", path);
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
    footprint_destroy(part->footprint);
    free(part->overwritten);
    free(part->all_pages);
    free(part->dispatches);
    free(part->buffers);
    free(part->outputs);
    free(part->body);
    free(part->file);
}
