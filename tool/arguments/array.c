/* SPDX-License-Identifier: MIT */
/* Arrays of the command line: parsing the recipe, reading files, writing the elements. */
#include "tool/arguments/array.h"

#include "base/random.h"
#include "tool/arguments/dwords.h"
#include "tool/arguments/npy.h"
#include "tool/input.h"
#include "tool/tool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- bytes ---- */

static int digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
}

bool tool_parse_hex(const char *text, uint8_t **bytes, size_t *size, struct wm_diag *diag)
{
    uint8_t *out = malloc(strlen(text) / 2 + 1);
    size_t used = 0;
    if (!out)
        return tool_because(diag, "no memory for %zu hexadecimal digits", strlen(text));
    while (*text) {
        if (*text == ' ' || *text == '_') {
            text++;
            continue;
        }
        const int high = digit(text[0]), low = high < 0 ? -1 : digit(text[1]);
        if (low < 0) {
            free(out);
            const char wrong = text[high >= 0];
            return wrong ? tool_because(diag, "'%c' is no hexadecimal digit", wrong)
                         : tool_because(diag, "the hexadecimal digits do not come in pairs");
        }
        out[used++] = (uint8_t)(high << 4 | low);
        text += 2;
    }
    *bytes = out;
    *size = used;
    return true;
}

/* ---- recipes ---- */

static const struct {
    const char *name, *form;
    enum tool_array_kind kind;
    bool parameter; /* VALUE or SEED follows the count */
} recipes[] = {
    {"zero", "zero:TYPE:N", TOOL_ZERO, false},         {"uninit", "uninit:TYPE:N", TOOL_UNWRITTEN, false},
    {"fill", "fill:TYPE:N:VALUE", TOOL_FILL, true},    {"iota", "iota:TYPE:N", TOOL_IOTA, false},
    {"rand", "rand:TYPE:N[:SEED]", TOOL_RANDOM, true},
};
enum { RECIPES = sizeof(recipes) / sizeof(recipes[0]), DEFAULT_SEED = 1 };

/* The part of `spec` up to the next colon, and what follows it ("" at the end). */
struct part {
    const char *text;
    size_t length;
};

static struct part next_part(const char **spec)
{
    const struct part part = {*spec, strcspn(*spec, ":")};
    *spec += part.length + ((*spec)[part.length] == ':');
    return part;
}

static size_t recipe_of(const char *spec)
{
    const struct part name = next_part(&spec);
    for (size_t i = 0; i < RECIPES; i++)
        if (strlen(recipes[i].name) == name.length && strncmp(recipes[i].name, name.text, name.length) == 0)
            return i;
    return RECIPES;
}

static bool begins(const char *spec, const char *prefix)
{
    return strncmp(spec, prefix, strlen(prefix)) == 0;
}

bool tool_array_looks_like(const char *spec)
{
    return spec[0] == '@' || begins(spec, "bytes:") || begins(spec, "words:") || begins(spec, "zeros:") ||
           recipe_of(spec) < RECIPES;
}

static bool parse_recipe(size_t recipe, const char *spec, struct tool_array *array, struct wm_diag *diag)
{
    const char *rest = spec, *form = recipes[recipe].form;
    next_part(&rest);
    const struct part type = next_part(&rest), count = next_part(&rest);
    char number[64];
    uint64_t bytes;
    array->kind = recipes[recipe].kind;
    array->type = tool_type_named(type.text, type.length);
    if (!array->type)
        return tool_because(diag, "'%.*s' is no type; %s takes i8 u8 i16 u16 i32 u32 i64 u64 f16 f32 f64",
                            (int)type.length, type.text, form);
    snprintf(number, sizeof(number), "%.*s", (int)count.length, count.text);
    if (count.length >= sizeof(number) || !tool_parse_size(number, &array->count) || array->count == 0)
        return tool_because(diag, "'%.*s' is no number of elements, like 4096, 4k or 64*64; expected %s",
                            (int)count.length, count.text, form);
    if (__builtin_mul_overflow(array->count, (uint64_t)array->type->size, &bytes) || bytes >> 46)
        return tool_because(diag, "%llu elements do not fit into memory", (unsigned long long)array->count);
    if (!recipes[recipe].parameter) {
        if (*rest)
            return tool_because(diag, "unexpected ':%s'; expected %s", rest, form);
        return true;
    }
    if (array->kind == TOOL_RANDOM && !*rest) {
        array->seed = DEFAULT_SEED;
        return true;
    }
    if (array->kind == TOOL_RANDOM)
        return tool_parse_u64(rest, &array->seed) ||
               tool_because(diag, "'%s' is no seed (a whole number); expected %s", rest, form);
    switch (tool_scalar_parse(array->type, rest, strlen(rest), array->fill)) {
    case TOOL_NUMBER_OK:
        return true;
    case TOOL_NUMBER_TOO_LARGE:
        return tool_because(diag, "'%s' does not fit into %s", rest, array->type->name);
    default:
        return tool_because(diag, "'%s' is no %s number; expected %s", rest, array->type->name, form);
    }
}

static bool parse_file(const char *path, struct tool_array *array, struct wm_diag *diag)
{
    size_t size;
    const size_t length = strlen(path);
    uint8_t *bytes;
    if (length == 0)
        return tool_because(diag, "a file name must follow the @");
    if (!tool_read_file(path, &bytes, &size, diag))
        return false;
    array->owned = array->bytes = bytes;
    array->kind = TOOL_BYTES;
    array->count = size;
    if (length >= 4 && strcmp(path + length - 4, ".npy") == 0) {
        struct tool_npy npy;
        if (!tool_npy_parse(bytes, size, path, &npy, diag))
            return false;
        array->bytes += npy.data;
        array->type = npy.type;
        array->count = npy.count;
        memcpy(array->shape, npy.shape, sizeof(array->shape));
    }
    return array->count > 0 || tool_because(diag, "%s: holds no elements", path);
}

static bool parse_words(const char *list, struct tool_array *array, struct wm_diag *diag)
{
    const struct tool_item_rules rules = {.lane = -1};
    uint32_t *words;
    size_t count;
    bool named;
    if (!tool_read_items(list, &rules, &words, &count, &named, diag))
        return false;
    array->kind = named ? TOOL_WORDS : TOOL_BYTES;
    array->is_words = true;
    array->count = count * sizeof *words;
    array->owned = array->bytes = (uint8_t *)words;
    if (named)
        tool_array_free(array);
    return true;
}

bool tool_array_words(const struct tool_array *array, const struct tool_item_rules *rules, void *elements,
                      struct wm_diag *diag)
{
    uint32_t *words;
    size_t count;
    bool named;
    if (!tool_read_items(array->spec + strlen("words:"), rules, &words, &count, &named, diag))
        return false;
    memcpy(elements, words, tool_array_size(array));
    free(words);
    return true;
}

static bool parse_zeros(const char *text, struct tool_array *array, struct wm_diag *diag)
{
    array->kind = TOOL_ZERO;
    return (tool_parse_size(text, &array->count) && array->count && !(array->count >> 46)) ||
           tool_because(diag, "'%s' is no number of bytes; expected zeros:BYTES", text);
}

/* "f32:1,2,3" */
static bool parse_list(const struct tool_type *type, const char *list, struct tool_array *array,
                       struct wm_diag *diag)
{
    size_t count = 1;
    for (const char *c = list; *c; c++)
        count += *c == ',';
    array->kind = TOOL_BYTES;
    array->type = type;
    array->owned = array->bytes = malloc(count * type->size);
    if (!array->owned)
        return tool_because(diag, "out of memory");
    for (;; list++) {
        const size_t length = strcspn(list, ",");
        switch (tool_scalar_parse(type, list, length, array->bytes + array->count++ * type->size)) {
        case TOOL_NUMBER_OK:
            break;
        case TOOL_NUMBER_TOO_LARGE:
            return tool_because(diag, "'%.*s' does not fit into %s", (int)length, list, type->name);
        default:
            return tool_because(diag, "'%.*s' is no %s number; expected %s:V,V,...", (int)length, list,
                                type->name, type->name);
        }
        list += length;
        if (!*list)
            return true;
    }
}

bool tool_array_parse(const char *spec, struct tool_array *array, struct wm_diag *diag)
{
    *array = (struct tool_array){0};
    bool good;
    const size_t recipe = recipe_of(spec), prefix = strcspn(spec, ":");
    const struct tool_type *type = spec[prefix] ? tool_type_named(spec, prefix) : NULL;
    if (type) {
        good = parse_list(type, spec + prefix + 1, array, diag);
    } else if (recipe < RECIPES) {
        good = parse_recipe(recipe, spec, array, diag);
    } else if (spec[0] == '@') {
        good = parse_file(spec + 1, array, diag);
    } else if (begins(spec, "words:")) {
        good = parse_words(spec + strlen("words:"), array, diag);
    } else if (begins(spec, "zeros:")) {
        good = parse_zeros(spec + strlen("zeros:"), array, diag);
    } else if (begins(spec, "bytes:")) {
        size_t size = 0;
        array->kind = TOOL_BYTES;
        good = tool_parse_hex(spec + 6, &array->bytes, &size, diag) &&
               (size > 0 || tool_because(diag, "bytes: needs hexadecimal digits"));
        array->owned = array->bytes;
        array->count = size;
    } else {
        good = tool_because(
            diag,
            "'%s' is no array; expected zero:TYPE:N, uninit:TYPE:N, fill:TYPE:N:VALUE, iota:TYPE:N, "
            "rand:TYPE:N[:SEED], TYPE:V,V,..., zeros:BYTES, bytes:HEX, words:LIST or @FILE",
            spec);
    }
    array->spec = spec;
    if (!good)
        tool_array_free(array);
    return good;
}

bool tool_array_reload(struct tool_array *array)
{
    struct tool_array again;
    struct wm_diag diag;
    struct stat status;
    if (array->kind != TOOL_BYTES || array->bytes)
        return true;
    if (array->spec[0] == '@' && (stat(array->spec + 1, &status) || !S_ISREG(status.st_mode)))
        return false;
    if (!tool_array_parse(array->spec, &again, &diag))
        return false;
    if (array->type && !again.type)
        tool_array_adopt(&again, array->type);
    const bool same = again.type == array->type && again.count == array->count;
    if (same) {
        array->bytes = again.bytes;
        array->owned = again.owned;
    } else {
        tool_array_free(&again);
    }
    return same;
}

void tool_array_free(struct tool_array *array)
{
    free(array->owned);
    array->owned = array->bytes = NULL;
}

uint64_t tool_array_size(const struct tool_array *array)
{
    return array->count * (array->type ? array->type->size : 1);
}

bool tool_array_adopt(struct tool_array *array, const struct tool_type *type)
{
    if (array->count % type->size)
        return false;
    array->count /= type->size;
    array->type = type;
    return true;
}

/* ---- elements ---- */

/* Integers take the top bits; floats as many as their significand holds, which gives [0, 1): see
 * base/random.h. */
static void write_random(const struct tool_type *type, uint64_t bits, void *element)
{
    const unsigned significand = type->size == 2 ? 11 : type->size == 4 ? 24 : 53;
    if (type->kind == 'f')
        tool_scalar_from_real(type, (double)(bits >> (64 - significand)) / (double)(1ull << significand),
                              element);
    else
        tool_scalar_from_integer(type, bits >> (64 - 8 * type->size), element);
}

void tool_array_element(const struct tool_array *array, uint64_t index, void *element)
{
    const unsigned size = array->type ? array->type->size : 1;
    switch (array->kind) {
    case TOOL_BYTES:
        memcpy(element, array->bytes + index * size, size);
        break;
    case TOOL_ZERO:
    case TOOL_UNWRITTEN:
        memset(element, 0, size);
        break;
    case TOOL_FILL:
        memcpy(element, array->fill, size);
        break;
    case TOOL_IOTA:
        tool_scalar_from_integer(array->type, index, element);
        break;
    case TOOL_RANDOM:
        write_random(array->type, wmi_random_bits(array->seed, index), element);
        break;
    case TOOL_WORDS:
        break;
    }
}

void tool_array_write(const struct tool_array *array, void *elements)
{
    const unsigned size = array->type ? array->type->size : 1;
    if (array->kind == TOOL_BYTES)
        memcpy(elements, array->bytes, tool_array_size(array));
    else if (array->kind == TOOL_ZERO || array->kind == TOOL_UNWRITTEN)
        memset(elements, 0, tool_array_size(array));
    else
        for (uint64_t i = 0; i < array->count; i++)
            tool_array_element(array, i, (uint8_t *)elements + i * size);
}
