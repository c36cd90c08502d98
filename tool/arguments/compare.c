/* SPDX-License-Identifier: MIT */
/* --expect: compares a buffer with a reference, bit by bit or within a tolerance. */
#include "tool/arguments/job.h"
#include "tool/text.h"
#include "tool/tool.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct tool_type *tool_buffer_type(const struct tool_buffer *buffer, uint64_t offset)
{
    const struct tool_type *type = buffer->array.type;
    if (!type && buffer->array.is_words)
        type = tool_type_of('u', 4);
    if (!type || (tool_array_size(&buffer->array) - offset) % type->size)
        return tool_type_of('u', 1); /* raw bytes, or not a whole number of elements */
    return type;
}

/* "RTOL" or "RTOL,ATOL" */
static bool parse_tolerance(const char *text, struct tool_expectation *expect)
{
    char first[40];
    const size_t length = strcspn(text, ",");
    if (length >= sizeof(first))
        return false;
    memcpy(first, text, length);
    first[length] = 0;
    expect->absolute = 0;
    return tool_parse_real(first, &expect->relative) &&
           (text[length] == 0 || tool_parse_real(text + length + 1, &expect->absolute));
}

static bool check_reference(struct tool_expectation *expect, struct wm_diag *diag)
{
    struct tool_array *reference = &expect->reference;
    const struct tool_type *type = tool_buffer_type(expect->buffer, expect->offset);
    const uint64_t size = tool_array_size(&expect->buffer->array) - expect->offset;
    if (reference->kind == TOOL_WORDS)
        return tool_because(diag, "%s: expected words without addresses", expect->spec);
    if (!reference->type && !tool_array_adopt(reference, type))
        return tool_because(diag, "%s has %" PRIu64 " bytes; expected %" PRIu64, expect->spec,
                            reference->count, size);
    if (reference->count != size / type->size)
        return tool_because(diag,
                            "%s has %" PRIu64 " %s elements; expected %" PRIu64 ", as many as the buffer",
                            expect->spec, reference->count, reference->type->name, size / type->size);
    const bool same_class = (reference->type->kind == 'f') == (type->kind == 'f');
    if (expect->exact && (!same_class || reference->type->size != type->size))
        return tool_because(diag, "%s holds %s, the buffer %s; without a tolerance they must be the same",
                            expect->spec, reference->type->name, type->name);
    return true;
}

bool tool_expectation_parse(struct tool_expectation *expect, struct wm_diag *diag)
{
    expect->exact = true;
    expect->owned = strdup(expect->spec);
    if (!expect->owned)
        return tool_because(diag, "out of memory");
    char *colon = strrchr(expect->owned, ':');
    const size_t prefix =
        strcspn(expect->owned, ":"); /* of a list, "f32:1,2:1e-6", the tolerance is the third part */
    const bool list = tool_type_named(expect->owned, prefix) && colon != expect->owned + prefix;
    if ((expect->spec[0] == '@' || list) && colon && parse_tolerance(colon + 1, expect)) {
        *colon = 0;
        expect->exact = false;
    }
    expect->spec = expect->owned;
    return tool_array_parse(expect->spec, &expect->reference, diag) && check_reference(expect, diag);
}

/* Whether x is within the tolerance of the reference. *error: infinite if exactly one of them is a NaN. */
static bool near(const struct tool_expectation *expect, long double x, long double reference,
                 long double *error)
{
    *error = 0;
    if (x == reference || (isnan(x) && isnan(reference)))
        return true;
    *error = isnan(x) || isnan(reference) ? (long double)INFINITY : fabsl(x - reference);
    return isfinite(reference) && *error <= expect->absolute + expect->relative * fabsl(reference);
}

enum wm_status tool_compare(const struct tool_expectation *expect, const void *elements,
                            struct tool_comparison *comparison)
{
    const struct tool_array *reference = &expect->reference;
    const struct tool_type *type = tool_buffer_type(expect->buffer, expect->offset);
    const uint8_t *x = elements, *wanted = reference->bytes;
    uint8_t *made = NULL;
    *comparison = (struct tool_comparison){.elements = reference->count};
    if (reference->kind != TOOL_BYTES) {
        wanted = made = malloc(tool_array_size(reference));
        if (!made)
            return WM_NO_MEMORY;
        tool_array_write(reference, made);
    }
    for (uint64_t i = 0; i < reference->count; i++) {
        const uint8_t *mine = x + i * type->size, *theirs = wanted + i * reference->type->size;
        long double error;
        if (type == reference->type && memcmp(mine, theirs, type->size) == 0)
            continue;
        const bool fits =
            near(expect, tool_scalar_value(type, mine), tool_scalar_value(reference->type, theirs), &error);
        if (expect->exact ? memcmp(mine, theirs, type->size) == 0 : fits)
            continue;
        if (comparison->different < TOOL_SHOWN)
            comparison->first[comparison->different] = i;
        if (comparison->different++ == 0 || error > comparison->largest) {
            comparison->largest = error;
            comparison->worst = i;
        }
    }
    free(made);
    return WM_OK;
}

static void print_difference(FILE *file, const struct tool_expectation *expect, const uint8_t *elements,
                             uint64_t index, int width)
{
    const struct tool_type *type = tool_buffer_type(expect->buffer, expect->offset);
    const struct tool_type *reference_type = expect->reference.type;
    uint8_t element[TOOL_SCALAR_BYTES];
    char mine[TOOL_SCALAR_TEXT], theirs[TOOL_SCALAR_TEXT];
    const uint8_t *x = elements + index * type->size;
    tool_array_element(&expect->reference, index, element);
    tool_scalar_print(type, x, mine);
    tool_scalar_print(reference_type, element, theirs);
    fprintf(file, "  [%*" PRIu64 "]  %-16s expected %s", width, index, mine, theirs);
    long double error;
    near(expect, tool_scalar_value(type, x), tool_scalar_value(reference_type, element), &error);
    if (error > 0 && isfinite(error))
        fprintf(file, ", off by %.3Lg", error);
    if (strcmp(mine, theirs) == 0) { /* NaNs with different bits, or numbers too long to print */
        uint64_t bits = 0, reference_bits = 0;
        memcpy(&bits, x, type->size);
        memcpy(&reference_bits, element, reference_type->size);
        fprintf(file, " (bits 0x%" PRIx64 ", expected 0x%" PRIx64 ")", bits, reference_bits);
    }
    fputc('\n', file);
}

void tool_print_comparison(FILE *file, const struct tool_expectation *expect, const void *elements,
                           const struct tool_comparison *comparison)
{
    const char *spec = expect->spec + (expect->spec[0] == '@');
    if (comparison->different == 0)
        return;
    tool_print(file, "expect %s: %" PRIu64 " of %" PRIu64 " elements differ from %s (", expect->key,
               comparison->different, comparison->elements, spec);
    if (expect->exact)
        fprintf(file, "bit-exact");
    else
        fprintf(file, "|x - ref| <= %g + %g * |ref|", expect->absolute, expect->relative);
    fprintf(file, "); the largest error is at [%" PRIu64 "]\n", comparison->worst);
    const uint64_t shown = comparison->different < TOOL_SHOWN ? comparison->different : TOOL_SHOWN;
    const int width = snprintf(NULL, 0, "%" PRIu64, comparison->first[shown - 1]);
    for (uint64_t i = 0; i < shown; i++)
        print_difference(file, expect, elements, comparison->first[i], width);
    if (comparison->different > shown)
        fprintf(file, "  ... and %" PRIu64 " more\n", comparison->different - shown);
}
