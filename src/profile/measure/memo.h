/* SPDX-License-Identifier: MIT */
/* Caches measurements: an access with the same pattern as an earlier access of its instruction, at another
 * base address, need not be measured again. Most instructions repeat the same patterns. */
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
    WMI_MEMO_PHASE =
        256 /* bytes: costs and lines depend on the base address modulo this value only, LDS banks included */
};

/* Members that summaries use come first, in one cache line of the host. */
struct wmi_memo {
    alignas(64) uint64_t times;         /* accesses that matched it and are not counted yet */
    uint64_t base;                      /* the address of the first lane, first element */
    struct wmi_access_pattern *pattern; /* of the first element, if `shape` is not 0 */
    uint64_t entry[2];                  /* `words`, if they are one log entry without a list */
    int32_t lowest, behind;             /* relative to base: the lowest address, and the end of the highest */
    uint32_t shape; /* as in wmi_address_summary, if all lanes access one space and pass all checks; else 0 */
    uint8_t shift;
    uint8_t word_count;
    uint8_t elements, bytes; /* elements 0: an empty memo */
    uint64_t lanes;
    struct wmi_memo_element {
        alignas(64) int32_t relative[64]; /* addresses of the lanes in mask relative to base; others 0 */
        enum wmi_address_space space;
        uint64_t mask, bad_range, bad_align, bad_aperture;
    } element[WMI_MEMO_ELEMENTS];
    uint32_t sum[WMI_SUM_COUNT], used; /* used: wmi_used_dwords() */
    struct wmi_lds_cost lds;
    uint64_t words[WMI_MEMO_WORDS]; /* its log entries */
};

/* Whether the lanes of `mask` have the addresses base + relative. */
typedef bool wmi_memo_compare(const uint64_t *address, uint64_t base, const int32_t *relative, uint64_t mask);

/* Returns the fastest function for this CPU. */
wmi_memo_compare *wmi_memo_comparer(enum wmi_cpu_level level, unsigned lanes);

struct wmi_memo *wmi_memo_create(void);       /* empty; NULL: out of memory */
void wmi_memo_destroy(struct wmi_memo *memo); /* NULL is allowed */

/* Whether the access, whose first lane and element is at `base`, has the pattern of the memo. */
bool wmi_memo_holds(const struct wmi_memo *memo, const struct wmi_access *access, uint64_t base,
                    wmi_memo_compare *compare);

/* Stores the access in the memo; if it is too large, the memo becomes empty. words: the log entries of the
 * access. */
void wmi_memo_keep(struct wmi_memo *memo, struct wmi_access_patterns *patterns,
                   const struct wmi_access *access, const struct wmi_measure *measure, const uint64_t *words,
                   size_t word_count);

#endif
