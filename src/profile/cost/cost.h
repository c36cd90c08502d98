/* SPDX-License-Identifier: MIT */
/* The cost of one access in the vector memory path and in LDS: pure functions of the access and the rules.
 *
 * The cost is independent of instructions, caches and other accesses: "requests" are those of an empty vector
 * cache. Generations differ only in struct wmi_cost_rules. */
#ifndef WMI_COST_H
#define WMI_COST_H

#include "memory/access.h"

/* The address pattern for which the address unit takes a group of lanes per clock (the fast path). */
enum wmi_fast_pattern {
    WMI_FAST_QUADS, /* each four lanes share an address or an aligned block of four elements */
    WMI_FAST_LINE,  /* the whole group accesses one line of the vector cache */
};

/* The banks of the vector cache's data, from which lanes of one clock read. */
enum wmi_data_banks {
    WMI_DATA_UNKNOWN, /* no lanes are known to wait for others */
    WMI_DATA_QUADS,   /* four lanes a clock: 8 banks of 8 bytes */
    WMI_DATA_GROUP,   /* the whole group: 32 banks of 4 bytes */
};

/* The vector memory path: address unit (TA), tags of the vector cache (TCP), requests to L2 (TCC). */
struct wmi_vector_rules {
    enum wmi_fast_pattern pattern;
    enum wmi_data_banks banks;
    uint8_t data_bytes; /* per clock between vector cache and VGPRs */
    uint8_t tags;       /* lines that are looked up per clock; banks of the tags, unless `banks` is unknown */
    uint8_t group;      /* lanes per clock on the fast path; the slow path takes four */
    bool all_groups;    /* the fast path applies to the whole instruction or not at all */
    bool images;        /* images can use the fast path */
    uint8_t gapped;     /* lanes per tag lookup for stores of at most a dword per lane on the slow path */
    uint8_t tag_shift;  /* log2 of the bytes covered by a tag lookup */
    uint8_t read_shift; /* ... of a read request to L2 */
    uint8_t write_shift; /* ... of a write or atomic request */
    /* Masks of WMI_POLICY_*; any bit of the mask has the effect: */
    uint8_t bypass;     /* loads bypass the vector cache */
    uint8_t bypass_gl1; /* loads bypass GL1 */
    uint8_t leaves;     /* hits in these caches evict the line, misses do not allocate */
    uint8_t streams;    /* lines are inserted at the LRU position of L2 */
    uint8_t skips_last; /* misses do not allocate in the last-level cache */
    bool tcp_counters;  /* the generation has counters such as TCP_TOTAL_ACCESSES */
};

/* Groups of lanes that LDS serves together, as masks of the first 32 lanes; the second 32 are split in the
 * same way. */
struct wmi_lds_groups {
    uint8_t count;
    uint32_t lanes[8];
};

enum { WMI_LDS_WIDTHS = 4 }; /* elements of 1, 2, 3, 4 dwords; smaller ones count as a dword */

struct wmi_lds_rules {
    uint8_t banks; /* number of banks, one dword wide; a power of two */
    struct wmi_lds_groups read[WMI_LDS_WIDTHS], write[WMI_LDS_WIDTHS];
};

/* Instruction fetch: waves fetch aligned pieces of code from the instruction cache. */
struct wmi_fetch_rules {
    uint8_t shift; /* log2 of the piece size in bytes; 0: unknown */
    bool per_simd; /* one fetch per clock and SIMD instead of per compute unit */
};

struct wmi_cost_rules {
    struct wmi_vector_rules vector;
    struct wmi_lds_rules lds;
    struct wmi_fetch_rules fetch;
};

/* Returns row `rules` (the limit `cost_rules` of a target); NULL: no such row. */
const struct wmi_cost_rules *wmi_cost_rules(unsigned rules);

struct wmi_vector_cost {
    bool fast;                       /* the whole instruction used the fast path, as counters see it */
    uint32_t quads;                  /* lanes / 4 that the address unit counts; on the fast path of groups */
    uint32_t clocks;                 /* of the address unit, at least */
    uint32_t tag_clocks;             /* of the tags, at least */
    uint32_t store_clocks;           /* of the tags, of a store whose lines wait for one another as a load's
                                        do: likely, but not measured, so only predictions use it */
    uint32_t bank_clocks;            /* of the banks of tags and data, at least; 0: unknown */
    uint32_t lookups;                /* tag lookups, as counters see them */
    uint32_t reads, writes, atomics; /* requests to L2 */
    uint32_t collapsed;              /* stores to an address that another lane also stores to */
};

struct wmi_lds_cost {
    uint32_t passes;    /* SQ_LDS_IDX_ACTIVE: each group of lanes takes at least one */
    uint32_t conflicts; /* SQ_LDS_BANK_CONFLICT: passes beyond the first of each group */
    uint32_t serial;    /* lanes serialized because one of them was misaligned */
    uint32_t depth;     /* maximum number of distinct dwords of one bank in one group; 0: no LDS access */
    uint32_t bank;      /* that bank: the lowest in the first such group */
    uint64_t lanes;     /* lanes of the group that accessed it */
};

/* Computes the cost of the access in the vector memory path; all zero if no lane accesses global memory.
 * Lanes that fail a check count as inactive. wave_lanes: 32 or 64. */
struct wmi_vector_cost wmi_coalesce(const struct wmi_access *access, const struct wmi_vector_rules *rules,
                                    unsigned wave_lanes);

enum {
    /* At most 255 bytes per lane and element: five blocks of 64 bytes. */
    WMI_REQUESTS = WMI_ACCESS_ELEMENTS * 64 * 5,
};

/* The requests to L2: block numbers; blocks have 1 << read_shift or 1 << write_shift bytes. */
struct wmi_requests {
    uint32_t count;
    uint64_t block[WMI_REQUESTS];
};

/* Computes the cost of the access in LDS: DS instructions, and FLAT instructions with a lane in LDS. */
struct wmi_lds_cost wmi_lds_passes(const struct wmi_access *access, const struct wmi_lds_rules *rules,
                                   unsigned wave_lanes);

#endif
