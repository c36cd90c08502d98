/* SPDX-License-Identifier: MIT */
/* NumPy's .npy files: magic number, Python dictionary as text, elements. */
#include "tool/arguments/npy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER_LIMIT = 65536 }; /* NumPy's limit for files that it does not trust is 10,000 */

static const char magic[] = "\x93NUMPY";

/* ---- the dictionary: the subset of Python literals that NumPy writes ---- */

struct reader {
    const char *at, *end;
};

static void skip_space(struct reader *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\n'))
        r->at++;
}

static bool take(struct reader *r, const char *literal)
{
    const size_t length = strlen(literal);
    skip_space(r);
    if ((size_t)(r->end - r->at) < length || memcmp(r->at, literal, length) != 0)
        return false;
    r->at += length;
    return true;
}

/* A quoted string without escapes. */
static bool take_string(struct reader *r, char *text, size_t size)
{
    skip_space(r);
    if (r->at == r->end || (*r->at != '\'' && *r->at != '"'))
        return false;
    const char quote = *r->at++;
    size_t used = 0;
    while (r->at < r->end && *r->at != quote) {
        if (used + 1 >= size || *r->at == '\\')
            return false;
        text[used++] = *r->at++;
    }
    text[used] = 0;
    return r->at++ < r->end;
}

/* "(3, 4)": the product in *count, the text in `shape`. */
static bool take_shape(struct reader *r, uint64_t *count, unsigned *dimensions, char *shape, size_t size)
{
    size_t used = 1;
    *count = 1;
    *dimensions = 0;
    if (!take(r, "("))
        return false;
    strcpy(shape, "(");
    while (!take(r, ")")) {
        uint64_t length = 0;
        const char *first = r->at;
        for (; r->at < r->end && *r->at >= '0' && *r->at <= '9'; r->at++)
            if (__builtin_mul_overflow(length, 10, &length) ||
                __builtin_add_overflow(length, (uint64_t)(*r->at - '0'), &length))
                return false;
        if (r->at == first || __builtin_mul_overflow(*count, length, count))
            return false;
        take(r, "L"); /* Python 2's suffix of long integers */
        const int wrote =
            snprintf(shape + used, size - used, *dimensions ? " %llu," : "%llu,", (unsigned long long)length);
        if (wrote < 0 || (size_t)wrote >= size - used - 1)
            return false;
        used += (size_t)wrote;
        ++*dimensions;
        if (!take(r, ",")) {
            if (!take(r, ")"))
                return false;
            break;
        }
    }
    if (*dimensions > 1)
        used--; /* only (3,) keeps its comma */
    strcpy(shape + used, ")");
    return true;
}

static const struct tool_type *type_of_descr(const char *descr, struct wm_diag *diag, const char *name)
{
    const char order = descr[0];
    const char kind = order ? descr[1] : 0;
    const unsigned size =
        kind && descr[2] >= '1' && descr[2] <= '8' && !descr[3] ? (unsigned)(descr[2] - '0') : 0;
    const struct tool_type *type = tool_type_of(kind == 'b' && size == 1 ? 'u' : kind, size);
    if (type && order == '>' && size > 1) {
        tool_because(diag, "%s: elements are big-endian ('%s'); expected little-endian", name, descr);
        return NULL;
    }
    if (!type || !strchr("<>|=", order)) {
        tool_because(diag, "%s: element type '%s'; expected b1, i1..i8, u1..u8, f2, f4 or f8", name, descr);
        return NULL;
    }
    return type;
}

static bool parse_header(struct reader r, const char *name, struct tool_npy *npy, struct wm_diag *diag)
{
    char key[32], descr[32] = "";
    bool fortran = false, has_descr = false, has_order = false, has_shape = false;
    unsigned dimensions = 0;
    if (!take(&r, "{"))
        return tool_because(diag, "%s: the .npy header is no dictionary", name);
    while (!take(&r, "}")) {
        if (!take_string(&r, key, sizeof(key)) || !take(&r, ":"))
            return tool_because(diag, "%s: the .npy header is malformed", name);
        bool good;
        if (strcmp(key, "descr") == 0) {
            skip_space(&r);
            if (r.at < r.end && *r.at == '[')
                return tool_because(diag, "%s: the elements are records; expected plain numbers", name);
            good = has_descr = take_string(&r, descr, sizeof(descr));
        } else if (strcmp(key, "fortran_order") == 0) {
            fortran = take(&r, "True");
            good = has_order = fortran || take(&r, "False");
        } else if (strcmp(key, "shape") == 0) {
            good = has_shape = take_shape(&r, &npy->count, &dimensions, npy->shape, sizeof(npy->shape));
        } else {
            return tool_because(diag, "%s: the .npy header has an unknown key '%s'", name, key);
        }
        if (!good)
            return tool_because(diag, "%s: the .npy header has a malformed '%s'", name, key);
        if (!take(&r, ",")) {
            if (!take(&r, "}"))
                return tool_because(diag, "%s: the .npy header is malformed after '%s'", name, key);
            break;
        }
    }
    if (!has_descr || !has_order || !has_shape)
        return tool_because(diag, "%s: the .npy header lacks '%s'", name,
                            !has_descr   ? "descr"
                            : !has_order ? "fortran_order"
                                         : "shape");
    npy->type = type_of_descr(descr, diag, name);
    if (!npy->type)
        return false;
    if (fortran && dimensions > 1)
        return tool_because(
            diag, "%s: the array is in Fortran order; expected C order (numpy.ascontiguousarray)", name);
    return true;
}

bool tool_npy_parse(const void *bytes, size_t size, const char *name, struct tool_npy *npy,
                    struct wm_diag *diag)
{
    const uint8_t *b = bytes;
    *npy = (struct tool_npy){0};
    if (size < 10 || memcmp(b, magic, 6) != 0)
        return tool_because(diag, "%s: not a .npy file: it does not begin with \\x93NUMPY", name);
    if (b[6] < 1 || b[6] > 3)
        return tool_because(diag, "%s: .npy version %u.%u; expected 1.0, 2.0 or 3.0", name, b[6], b[7]);
    const size_t before = b[6] == 1 ? 10 : 12;
    if (size < before)
        return tool_because(diag, "%s: the .npy file ends inside its header", name);
    const uint32_t length = b[6] == 1
                                ? b[8] | (uint32_t)b[9] << 8
                                : b[8] | (uint32_t)b[9] << 8 | (uint32_t)b[10] << 16 | (uint32_t)b[11] << 24;
    if (length > HEADER_LIMIT)
        return tool_because(diag, "%s: the .npy header claims %u bytes; at most %d are taken", name, length,
                            HEADER_LIMIT);
    if (length > size - before)
        return tool_because(diag, "%s: the .npy file ends inside its header", name);
    const char *text = (const char *)b + before;
    if (!parse_header((struct reader){text, text + length}, name, npy, diag))
        return false;
    npy->data = before + length;
    uint64_t wanted;
    if (__builtin_mul_overflow(npy->count, (uint64_t)npy->type->size, &wanted) || wanted != size - npy->data)
        return tool_because(
            diag, "%s: shape %s of %s needs %llu elements' bytes, the file has %zu bytes of them", name,
            npy->shape, npy->type->name, (unsigned long long)npy->count, size - npy->data);
    return true;
}

void tool_npy_write(FILE *file, const struct tool_type *type, const void *elements, uint64_t count,
                    const char *shape)
{
    char header[256], one_dimension[32];
    snprintf(one_dimension, sizeof(one_dimension), "(%llu,)", (unsigned long long)count);
    const int text =
        snprintf(header, sizeof(header), "{'descr': '%s', 'fortran_order': False, 'shape': %s, }",
                 type->descr, shape ? shape : one_dimension);
    /* Padded with spaces and a line feed, so that the elements are aligned to 64 bytes. */
    const size_t length = (10 + (size_t)text + 1 + 63) / 64 * 64 - 10;
    memset(header + text, ' ', length - (size_t)text);
    header[length - 1] = '\n';
    const uint8_t sizes[] = {1, 0, (uint8_t)length, (uint8_t)(length >> 8)};
    fwrite(magic, 6, 1, file);
    fwrite(sizes, sizeof(sizes), 1, file);
    fwrite(header, length, 1, file);
    fwrite(elements, type->size, count, file);
}
