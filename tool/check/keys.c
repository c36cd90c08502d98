/* SPDX-License-Identifier: MIT */
/* The order and the keys of findings. */
#include "tool/check/keys.h"

#include "tool/check/filter.h"
#include "tool/report/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- the order ---- */

struct place {
    json_t *finding;
    size_t index;
};

static int compare_texts(const json_t *a, const json_t *b, const char *key)
{
    const char *left = tool_text_of(a, key), *right = tool_text_of(b, key);
    return strcmp(left ? left : "", right ? right : "");
}

static int compare_numbers(const json_t *a, const json_t *b, const char *key)
{
    const json_int_t left = tool_number_of(a, key), right = tool_number_of(b, key);
    return (left > right) - (left < right);
}

static int compare_code(const json_t *a, const json_t *b)
{
    const int kernel = compare_texts(a, b, "kernel");
    return kernel ? kernel : compare_numbers(a, b, "offset");
}

static int by_code(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
    int order = compare_code(a->finding, b->finding);
    order = order ? order : compare_texts(a->finding, b->finding, "rule");
    order = order ? order
                  : compare_code(json_object_get(a->finding, "first"), json_object_get(b->finding, "first"));
    order = order ? order : compare_numbers(a->finding, b->finding, "launch");
    return order ? order : (a->index > b->index) - (a->index < b->index);
}

json_t *tool_check_sorted(const json_t *findings)
{
    const size_t count = json_array_size(findings);
    struct place *places = malloc((count + 1) * sizeof *places);
    json_t *sorted = json_array();
    for (size_t i = 0; places && i < count; i++)
        places[i] = (struct place){json_array_get(findings, i), i};
    if (places && count)
        qsort(places, count, sizeof *places, by_code);
    for (size_t i = 0; i < count; i++)
        json_array_append(sorted, places ? places[i].finding : json_array_get(findings, i));
    free(places);
    return sorted;
}

/* ---- keys ---- */

/* FNV-1a of 64 bits. Source: IETF draft-eastlake-fnv, "FNV Basics". */
static void add_bytes(uint64_t *hash, const char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        *hash = (*hash ^ (unsigned char)bytes[i]) * 0x100000001b3;
}

/* Texts end with a byte that UTF-8 does not have. */
static void add_text(uint64_t *hash, const char *text)
{
    add_bytes(hash, text ? text : "", text ? strlen(text) : 0);
    add_bytes(hash, "\xff", 1);
}

static void add_number(uint64_t *hash, json_int_t number)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, (int64_t)number);
    add_text(hash, text);
}

static void add_kernel(uint64_t *hash, const json_t *at)
{
    const char *kernel = tool_text_of(at, "kernel");
    char name[TOOL_NAME];
    add_text(hash, tool_name(kernel ? kernel : "", name));
}

static void add_file(uint64_t *hash, const char *path)
{
    const char *folder = path ? strrchr(path, '/') : NULL;
    add_text(hash, folder ? folder + 1 : path);
}

static bool is_branch(const char *mnemonic)
{
    static const char *const branches[] = {"s_branch", "s_cbranch_", "s_call_"};
    for (size_t i = 0; i < sizeof branches / sizeof *branches; i++)
        if (!strncmp(mnemonic, branches[i], strlen(branches[i])))
            return true;
    return false;
}

/* The mnemonic and the operands, but none that may be an address. */
static void add_instruction(uint64_t *hash, const char *text)
{
    const size_t mnemonic = strcspn(text, " ");
    add_bytes(hash, text, mnemonic);
    if (!is_branch(text))
        for (const char *at = text + mnemonic; *at;) {
            const bool literal = !strncmp(at, "0x", 2);
            const size_t length = literal ? 2 + strspn(at + 2, "0123456789abcdef") : 1;
            add_bytes(hash, at, literal ? 1 : length);
            at += length;
        }
    add_text(hash, "");
}

static void add_place(uint64_t *hash, const json_t *at)
{
    const char *file = tool_text_of(at, "file"), *instruction = tool_text_of(at, "instruction");
    const json_int_t column = file ? tool_number_of(at, "column") : 0;
    size_t i;
    json_t *call;
    add_kernel(hash, at);
    add_file(hash, file);
    json_array_foreach(json_object_get(at, "inlined"), i, call)
    {
        add_text(hash, tool_text_of(call, "function"));
        add_number(hash, tool_number_of(call, "column"));
    }
    add_number(hash, column);
    add_instruction(hash, column || !instruction ? "" : instruction);
}

/* What was allocated, and by whom: "main (app.hip:12)" without its line. */
static void add_allocation(uint64_t *hash, const json_t *allocation)
{
    const char *origin = tool_text_of(allocation, "origin");
    const char *line = origin ? strrchr(origin, ':') : NULL;
    add_text(hash, tool_text_of(allocation, "name"));
    add_number(hash, tool_number_of(allocation, "bytes"));
    if (origin)
        add_bytes(hash, origin, line ? (size_t)(line - origin) : strlen(origin));
}

/* Whether another second instruction makes another finding. Of the other classes, the second instruction is
 * that of the first case, which other data may change. */
static bool is_about_two(const json_t *finding)
{
    const char *class = tool_text_of(finding, "class");
    return json_is_object(json_object_get(finding, "first")) && class &&
           (!strcmp(class, "race") || !strcmp(class, "sync") || !strcmp(class, "portability"));
}

static uint64_t hash_of(const json_t *finding)
{
    uint64_t hash = 0xcbf29ce484222325;
    const char *instruction = tool_text_of(finding, "instruction");
    add_text(&hash, tool_text_of(finding, "class"));
    add_text(&hash, tool_text_of(finding, "rule"));
    add_place(&hash, finding);
    if (is_about_two(finding))
        add_place(&hash, json_object_get(finding, "first"));
    if (!instruction || !*instruction)
        add_allocation(&hash, json_object_get(json_object_get(finding, "memory"), "allocation"));
    return hash;
}

void tool_check_set_keys(json_t *findings)
{
    json_t *counts = json_object(), *finding;
    size_t i;
    json_array_foreach(findings, i, finding)
    {
        char text[48];
        snprintf(text, sizeof text, "%016" PRIx64, hash_of(finding));
        const json_int_t number = 1 + tool_number_of(counts, text);
        json_object_set_new(counts, text, json_integer(number));
        json_object_set_new(finding, "key", json_sprintf("%s:%" PRId64, text, (int64_t)number));
    }
    json_decref(counts);
}
