/* SPDX-License-Identifier: MIT */
/* Caches measurements of accesses by pattern: see memo.h. */
#include "profile/measure/memo.h"

#include "observe/observer.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(offsetof(struct wmi_memo, element) == 64, "one line");

wmi_memo_compare *wmi_memo_comparer(enum wmi_cpu_level level, unsigned lanes)
{
    WMI_TABLE_OF_BUILDS(compares, wmi_memo_compare);
    return compares[level][lanes == 64];
}

struct wmi_memo *wmi_memo_create(void)
{
    struct wmi_memo *memo = aligned_alloc(alignof(struct wmi_memo), sizeof *memo);
    if (memo)
        *memo = (struct wmi_memo){0};
    return memo;
}

void wmi_memo_destroy(struct wmi_memo *memo)
{
    if (memo)
        wmi_pattern_release(memo->pattern);
    free(memo);
}

bool wmi_memo_holds(const struct wmi_memo *memo, const struct wmi_access *access, uint64_t base,
                    wmi_memo_compare *compare)
{
    if (memo->elements != access->elements || memo->lanes != access->lanes || memo->bytes != access->bytes ||
        (base ^ memo->base) % WMI_MEMO_PHASE)
        return false;
    for (unsigned e = 0; e < memo->elements; e++) {
        const struct wmi_element *element = &access->element[e];
        const struct wmi_memo_element *kept = &memo->element[e];
        if (element->mask != kept->mask || element->space != kept->space ||
            element->bad_range != kept->bad_range || element->bad_align != kept->bad_align ||
            element->bad_aperture != kept->bad_aperture ||
            ((element->mask & (element->mask - 1) || e) &&
             !compare(element->address, base, kept->relative, element->mask)))
            return false; /* a single lane defines the base and always matches */
    }
    return true;
}

/* Returns false if an address is too far from the base. */
static bool keep_element(struct wmi_memo_element *to, const struct wmi_element *from, uint64_t base)
{
    bool near = true;
    to->space = from->space;
    to->mask = from->mask;
    to->bad_range = from->bad_range;
    to->bad_align = from->bad_align;
    to->bad_aperture = from->bad_aperture;
    for (unsigned lane = 0; lane < 64; lane++) {
        const int64_t relative = from->mask >> lane & 1 ? (int64_t)(from->address[lane] - base) : 0;
        to->relative[lane] = (int32_t)relative;
        near &= relative == (int32_t)relative;
    }
    return near;
}

/* Sets `shape`, with which summaries are compared, if all lanes access one address space and pass all
 * checks. */
static void find_shape(struct wmi_memo *memo, struct wmi_access_patterns *patterns, unsigned bytes)
{
    bool plain = true;
    int32_t lowest = 0, highest = 0; /* inactive lanes have 0 */
    for (unsigned e = 0; e < memo->elements; e++) {
        const struct wmi_memo_element *element = &memo->element[e];
        plain &= element->mask == memo->lanes && element->space == memo->element[0].space &&
                 !(element->bad_range | element->bad_align | element->bad_aperture);
        for (unsigned lane = 0; lane < 64; lane++) {
            const int32_t at = element->relative[lane];
            lowest = at < lowest ? at : lowest;
            highest = at > highest ? at : highest;
        }
    }
    if (!plain || highest > INT32_MAX - (int32_t)bytes)
        return;
    memo->lowest = lowest;
    memo->behind = highest + (int32_t)bytes;
    memo->pattern = wmi_patterns_take(patterns, memo->lanes, memo->element[0].relative);
    if (memo->pattern)
        memo->shape = wmi_access_shape(memo->element[0].space, memo->elements, bytes);
}

void wmi_memo_keep(struct wmi_memo *memo, struct wmi_access_patterns *patterns,
                   const struct wmi_access *access, const struct wmi_measure *measure, const uint64_t *words,
                   size_t word_count)
{
    bool good = access->elements && access->elements <= WMI_MEMO_ELEMENTS && access->element[0].mask &&
                word_count <= WMI_MEMO_WORDS;
    memo->times = 0;
    memo->elements = 0;
    memo->shape = 0; /* never matches, because each access has at least one element */
    wmi_pattern_release(memo->pattern);
    memo->pattern = NULL;
    if (!good)
        return;
    memo->base = wmi_access_base(access);
    for (unsigned e = 0; good && e < access->elements; e++)
        good = keep_element(&memo->element[e], &access->element[e], memo->base);
    if (!good)
        return;
    memo->elements = access->elements;
    memo->lanes = access->lanes;
    find_shape(memo, patterns, access->bytes);
    memo->bytes = access->bytes;
    memo->shift = (uint8_t)measure->shift;
    memo->word_count = (uint8_t)word_count;
    memcpy(memo->sum, measure->sum, sizeof memo->sum);
    memo->used = measure->used;
    memo->lds = measure->lds;
    if (word_count)
        memcpy(memo->words, words, word_count * sizeof *words);
    memcpy(memo->entry, memo->words, sizeof memo->entry);
}
