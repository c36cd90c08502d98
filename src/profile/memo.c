/* SPDX-License-Identifier: MIT */
/* Accesses that are like an earlier one of their instruction, but for where they begin. */
#include "profile/memo.h"

#include <string.h>

/* Bits in which addresses differ from base + relative, in lanes that one must care for. */
static uint64_t differences(const uint64_t *address, uint64_t base, const uint64_t *relative,
                            const uint64_t *care)
{
    uint64_t differs = 0;
    for (unsigned lane = 0; lane < 64; lane++)
        differs |= ((address[lane] - base) ^ relative[lane]) & care[lane];
    return differs;
}

bool wmi_memo_holds(const struct wmi_memo *memo, const struct wmi_access *access, uint64_t *distance)
{
    if (memo->elements != access->elements || memo->lanes != access->lanes || memo->bytes != access->bytes)
        return false;
    const uint64_t base = access->element[0].address[__builtin_ctzll(memo->element[0].mask)];
    if ((base ^ memo->base) % WMI_MEMO_PHASE)
        return false;
    for (unsigned e = 0; e < memo->elements; e++) {
        const struct wmi_element *element = &access->element[e];
        if (element->mask != memo->element[e].mask || element->space != memo->element[e].space ||
            element->bad_range != memo->element[e].bad_range ||
            element->bad_align != memo->element[e].bad_align ||
            element->bad_aperture != memo->element[e].bad_aperture)
            return false;
    }
    for (unsigned e = 0; e < memo->elements; e++)
        if (differences(access->element[e].address, base, memo->element[e].relative, memo->element[e].care))
            return false;
    *distance = (uint64_t)((int64_t)(base - memo->base) >> memo->shift);
    return true;
}

void wmi_memo_keep(struct wmi_memo *memo, const struct wmi_access *access, const struct wmi_measure *measure,
                   const uint64_t *words, size_t word_count)
{
    memo->times = 0;
    memo->elements = 0;
    if (!access->elements || access->elements > WMI_MEMO_ELEMENTS || !access->element[0].mask ||
        word_count > WMI_MEMO_WORDS)
        return;
    memo->elements = access->elements;
    memo->lanes = access->lanes;
    memo->bytes = access->bytes;
    memo->base = access->element[0].address[__builtin_ctzll(access->element[0].mask)];
    for (unsigned e = 0; e < access->elements; e++) {
        const struct wmi_element *from = &access->element[e];
        memo->element[e].space = from->space;
        memo->element[e].mask = from->mask;
        memo->element[e].bad_range = from->bad_range;
        memo->element[e].bad_align = from->bad_align;
        memo->element[e].bad_aperture = from->bad_aperture;
        for (unsigned lane = 0; lane < 64; lane++) {
            const bool cares = from->mask >> lane & 1;
            memo->element[e].care[lane] = cares ? ~0ULL : 0;
            memo->element[e].relative[lane] = cares ? from->address[lane] - memo->base : 0;
        }
    }
    memcpy(memo->sum, measure->sum, sizeof memo->sum);
    memo->lds = measure->lds;
    memo->shift = measure->shift;
    memo->word_count = (uint32_t)word_count;
    memcpy(memo->words, words, word_count * sizeof *words);
}
