/* SPDX-License-Identifier: MIT */
/* Remembers what an instruction's accesses were measured to be, for accesses that are the same but for where
 * they begin. Most instructions ask for the same pattern again and again: then nothing needs to be measured.
 */
#ifndef WMI_PROFILE_MEMO_H
#define WMI_PROFILE_MEMO_H

#include "profile/caches/log.h"
#include "profile/measure/measure.h"
#include "profile/measure/pattern.h"
#include "sem/table.h"

#include <stdalign.h>

enum {
    WMI_MEMO_ELEMENTS = 2,
    WMI_MEMO_WORDS = 40, /* of the log */
    WMI_MEMO_PHASE = 256 /* bytes: what costs and lines do not see beyond, the banks of LDS included */
};

/* What an outline needs comes first, in one line of the host's caches. */
struct wmi_memo {
    alignas(64) uint64_t times;  /* accesses since it was made that it stands for and nobody has counted */
    uint64_t base;               /* the address of the first lane of the first place */
    struct wmi_pattern *pattern; /* of the first place, if `shape` is not 0 */
    uint64_t entry[2];           /* the words, if they are one entry of the log without a list */
    int32_t lowest, behind;      /* from base: the lowest address, and behind the highest of all bytes */
    uint32_t shape; /* as of an outline, if all lanes reach one space and none is refused; else 0 */
    uint8_t shift;
    uint8_t word_count;
    uint8_t elements, bytes; /* elements 0: an empty memo */
    uint64_t lanes;
    struct wmi_memo_element {
        alignas(64) int32_t relative[64]; /* addresses of the lanes in mask, from base; of others 0 */
        enum wmi_address_space space;
        uint64_t mask, bad_range, bad_align, bad_aperture;
    } element[WMI_MEMO_ELEMENTS];
    uint32_t sum[WMI_SUM_COUNT];
    struct wmi_lds_cost lds;
    uint64_t words[WMI_MEMO_WORDS]; /* what it adds to the log */
};

/* Whether the lanes of `mask` have addresses base + relative. */
typedef bool wmi_memo_compare(const uint64_t *address, uint64_t base, const int32_t *relative, uint64_t mask);

/* The fastest one for this CPU. */
wmi_memo_compare *wmi_memo_comparer(enum wmi_cpu_level level, unsigned lanes);

struct wmi_memo *wmi_memo_create(void);       /* an empty one, or NULL */
void wmi_memo_destroy(struct wmi_memo *memo); /* NULL is nothing */

/* Whether the access, whose first lane of the first place is at `base`, is what the memo remembers. */
bool wmi_memo_holds(const struct wmi_memo *memo, const struct wmi_access *access, uint64_t base,
                    wmi_memo_compare *compare);

/* Makes the memo one of this access, if it is not too large for it; else it is empty then. words: what it
 * added to the log. */
void wmi_memo_keep(struct wmi_memo *memo, struct wmi_patterns *patterns, const struct wmi_access *access,
                   const struct wmi_measure *measure, const uint64_t *words, size_t word_count);

#endif
