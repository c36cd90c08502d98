/* SPDX-License-Identifier: MIT */
/* What an access of one place touches, where its lanes are aligned to what they ask for: most accesses that
 * are like none before are such, with lanes that lie anywhere. */
#ifndef WMI_PROFILE_SECTORS_H
#define WMI_PROFILE_SECTORS_H

#include "profile/cost.h"
#include "sem/table.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    WMI_SECTOR = 64, /* bytes */
    WMI_SECTOR_SHIFT = 6,
    WMI_SECTOR_BUCKETS = 256,
    WMI_WORDS_BYTES = 1 << 18, /* of addresses that wmi_words_count() takes */
};

/* Different sectors, in the order in which lanes ask for them. An entry of `bucket` may be left over from
 * another access: it counts if the sector that it names is in the bucket. */
struct wmi_sectors {
    uint32_t count;
    uint32_t lines;      /* of two sectors */
    uint64_t bytes;      /* that are asked for, in all */
    bool ascend;         /* each has a higher number than those before it: then there are no buckets */
    uint64_t number[64]; /* the address, divided by WMI_SECTOR */
    uint64_t asked[64];  /* its bytes that are asked for */
    bool second[64];     /* the other sector of its line is there, before it */
    uint8_t bucket[WMI_SECTOR_BUCKETS], home[64], next[64];
};

/* Finds the sectors of `bytes`, a power of two of at most 16, at the addresses of the lanes in `mask`. False:
 * a lane is not aligned, and nothing was found. */
typedef bool wmi_sectors_find(struct wmi_sectors *sectors, const uint64_t *address, uint64_t mask,
                              unsigned bytes);

/* Different ones of the words at the addresses of the lanes in `mask`; 0: a lane is not aligned or beyond
 * WMI_WORDS_BYTES. seen: a bit for each word, none set; and none afterwards. */
typedef unsigned wmi_words_count(uint64_t seen[WMI_WORDS_BYTES / 4 / 64], const uint64_t *address,
                                 uint64_t mask);

/* Different blocks of 1 << shift bytes that the first bytes of the lanes in `mask` lie in, summed over each
 * four lanes, or each two. False: the lanes are too far apart. */
typedef bool wmi_quads_count(const uint64_t *address, uint64_t mask, unsigned shift, bool pairs,
                             uint32_t *count);

struct wmi_sector_steps {
    wmi_sectors_find *find;
    wmi_words_count *count_words;
    wmi_quads_count *count_quads;
};

/* The fastest ones for this CPU. */
struct wmi_sector_steps wmi_sector_steps(enum wmi_cpu_level level);

/* wmi_coalesce(), but for `reads` and `writes`, which stay 0. quads: NULL, or: the access has one
 * place, in which each lane that nothing refuses is aligned to its bytes. requests: empty, or those of an
 * atomic. */
struct wmi_vector_cost wmi_coalesce_lanes(const struct wmi_access *access,
                                          const struct wmi_vector_rules *rules, unsigned wave_lanes,
                                          wmi_quads_count *quads, struct wmi_requests *requests);

static inline uint8_t wmi_sectors_bucket(uint64_t number)
{
    return number * 0x9e3779b97f4a7c15ULL >> 56;
}

/* Where the sector is in the list; its count: nowhere. */
static inline uint32_t wmi_sectors_place(const struct wmi_sectors *sectors, uint64_t number)
{
    const uint8_t bucket = wmi_sectors_bucket(number);
    uint32_t at = sectors->bucket[bucket], low = 0, high = sectors->count;
    while (sectors->ascend && low < high) {
        const uint32_t middle = (low + high) / 2;
        if (sectors->number[middle] < number)
            low = middle + 1;
        else
            high = middle;
    }
    if (sectors->ascend)
        return low < sectors->count && sectors->number[low] == number ? low : sectors->count;
    if (at >= sectors->count || sectors->home[at] != bucket)
        return sectors->count;
    while (sectors->number[at] != number) {
        at = sectors->next[at];
        if (at == UINT8_MAX)
            return sectors->count;
    }
    return at;
}

#endif
