/* SPDX-License-Identifier: MIT */
/* Caches measurements. An access whose pattern equals that of an earlier access of its instruction, at
 * another base address, need not be measured again. Most instructions repeat the same few patterns. */
#ifndef WMI_PROFILE_MEMO_H
#define WMI_PROFILE_MEMO_H

#include "profile/caches/log.h"
#include "profile/measure/measure.h"
#include "profile/measure/pattern.h"
#include "sem/table.h"

#include <stdalign.h>

enum {
    WMI_MEMO_ELEMENTS = 2,
    WMI_MEMO_WORDS = 40, /* maximum words of log entries */
    WMI_MEMO_PHASE = 256 /* bytes: costs and lines, and the banks of LDS, depend only on the base address
                            modulo this value */
};

/* Members that are compared with summaries come first, in one cache line of the host. */
struct wmi_memo {
    alignas(64) uint64_t times;         /* hits that have not been added to the counts yet */
    uint64_t base;                      /* address of the first lane's first element */
    struct wmi_access_pattern *pattern; /* of the first element, if `shape` is not 0 */
    uint64_t entry[2];                  /* `words`, if they are one log entry without a list */
    int32_t lowest, behind;             /* lowest address and end of the highest element, relative to base */
    uint32_t shape; /* as in struct wmi_address_summary, if all lanes access one address space and pass all
                       checks; else 0 */
    uint8_t shift;
    uint8_t word_count;
    uint8_t elements, bytes; /* elements is 0 in an empty memo */
    uint64_t lanes;
    struct wmi_memo_element {
        alignas(64) int32_t relative[64]; /* lane addresses relative to base; 0 for inactive lanes */
        enum wmi_address_space space;
        uint64_t mask, bad_range, bad_align, bad_aperture;
    } element[WMI_MEMO_ELEMENTS];
    uint32_t sum[WMI_SUM_COUNT], used; /* used: wmi_used_dwords() */
    struct wmi_lds_cost lds;
    uint64_t words[WMI_MEMO_WORDS]; /* log entries of the access */
};

/* Whether the lanes of `mask` have the addresses base + relative. */
typedef bool wmi_memo_compare(const uint64_t *address, uint64_t base, const int32_t *relative, uint64_t mask);

/* Returns the fastest function for this CPU. */
wmi_memo_compare *wmi_memo_comparer(enum wmi_cpu_level level, unsigned lanes);

struct wmi_memo *wmi_memo_create(void);       /* empty; NULL: out of memory */
void wmi_memo_destroy(struct wmi_memo *memo); /* NULL is allowed */

/* The address of the first lane's first element, of an access with lanes. */
static inline uint64_t wmi_access_base(const struct wmi_access *access)
{
    return access->element[0].address[__builtin_ctzll(access->element[0].mask)];
}

/* Whether the access, whose first lane's first element is at `base`, has the pattern of the memo. */
bool wmi_memo_holds(const struct wmi_memo *memo, const struct wmi_access *access, uint64_t base,
                    wmi_memo_compare *compare);

/* Stores the access in the memo, which becomes empty if the access is too large. words: log entries of the
 * access. */
void wmi_memo_keep(struct wmi_memo *memo, struct wmi_access_patterns *patterns,
                   const struct wmi_access *access, const struct wmi_measure *measure, const uint64_t *words,
                   size_t word_count);

#endif
