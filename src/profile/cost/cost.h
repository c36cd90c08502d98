/* SPDX-License-Identifier: MIT */
/* What one access costs in the vector memory path and in LDS: pure functions of the access and of the rules.
 *
 * They know no instruction, no cache and no other access: "requests" are those that would leave an empty
 * vector cache. What differs from generation to generation is a row of rules. */
#ifndef WMI_COST_H
#define WMI_COST_H

#include "memory/access.h"

/* What lets the address unit take a group of lanes in one clock. */
enum wmi_fast_pattern {
    WMI_FAST_QUADS, /* each four lanes ask for one address, or stay in an aligned block of four elements */
    WMI_FAST_LINE,  /* the whole group stays in one line of the vector cache */
};

/* The vector memory path: address unit (TA), tags of the vector cache (TCP), requests to L2 (TCC). */
struct wmi_vector_rules {
    enum wmi_fast_pattern pattern;
    uint8_t group;       /* lanes of a clock on the fast path; the others take four in a clock */
    bool all_groups;     /* the fast path is the whole instruction's or nobody's */
    bool images;         /* images can go the fast path */
    uint8_t gapped;      /* lanes of a tag lookup for stores of a dword or less that miss the fast path */
    uint8_t tag_shift;   /* log2 of the bytes that a tag lookup covers */
    uint8_t read_shift;  /* ... of a read request to L2 */
    uint8_t write_shift; /* ... of a write or atomic request */
    /* WMI_POLICY_*, of which one will do: */
    uint8_t bypass;     /* loads go past the vector cache, */
    uint8_t bypass_gl1; /* past GL1; */
    uint8_t leaves;     /* what they find in these leaves them, and what they do not stays away; */
    uint8_t streams;    /* lines of L2 are the first to be replaced, unless something else used them; */
    uint8_t skips_last; /* what is not behind L2 is not brought there */
    bool tcp_counters;  /* TCP_TOTAL_ACCESSES and its kin are names of this generation */
};

/* Lanes that LDS serves together, as masks of the wave's first 32; the second 32 are split alike. */
struct wmi_lds_groups {
    uint8_t count;
    uint32_t lanes[8];
};

enum { WMI_LDS_WIDTHS = 4 }; /* places of 1, 2, 3, 4 dwords; smaller ones count as a dword */

struct wmi_lds_rules {
    uint8_t banks; /* of a dword each; a power of two */
    struct wmi_lds_groups read[WMI_LDS_WIDTHS], write[WMI_LDS_WIDTHS];
};

/* Instruction fetch: aligned pieces of code that a wave asks its instruction cache for. */
struct wmi_fetch_rules {
    uint8_t shift; /* log2 of their bytes; 0: not known */
    bool per_simd; /* each SIMD of a compute unit gets one in a clock, not the compute unit */
};

struct wmi_cost_rules {
    struct wmi_vector_rules vector;
    struct wmi_lds_rules lds;
    struct wmi_fetch_rules fetch;
};

/* The rules with number `rules`, the limit `cost_rules` of a target; NULL: there are none. */
const struct wmi_cost_rules *wmi_cost_rules(unsigned rules);

struct wmi_vector_cost {
    bool fast;                       /* the whole instruction took the fast path */
    uint32_t clocks;                 /* of the address unit */
    uint32_t lookups;                /* of tags */
    uint32_t reads, writes, atomics; /* requests to L2 */
    uint32_t collapsed;              /* stores of lanes to an address that another lane stores to as well */
};

struct wmi_lds_cost {
    uint32_t passes;    /* SQ_LDS_IDX_ACTIVE: each group of lanes takes one at least */
    uint32_t conflicts; /* SQ_LDS_BANK_CONFLICT: passes that a bank needed beyond its group's first */
    uint32_t serial;    /* lanes that went one by one, because one of them was misaligned */
    uint32_t depth; /* different dwords that the busiest bank had to give one group; 0: no lane reached LDS */
    uint32_t bank;  /* that bank: the lowest of the first such group */
    uint64_t lanes; /* which lanes of the group met on it */
};

/* What the part of the access that lies in global memory costs; all zero when no lane reaches it. Lanes that
 * a check refused count as inactive. wave_lanes: 32 or 64. */
struct wmi_vector_cost wmi_coalesce(const struct wmi_access *access, const struct wmi_vector_rules *rules,
                                    unsigned wave_lanes);

enum {
    /* Of at most 255 bytes from each of 64 lanes at each place: five blocks of 64 bytes. */
    WMI_REQUESTS = WMI_ACCESS_ELEMENTS * 64 * 5,
};

/* The requests to L2: which blocks, of 1 << read_shift or write_shift bytes. */
struct wmi_requests {
    uint32_t count;
    uint64_t block[WMI_REQUESTS];
};

/* What the part of the access that lies in LDS costs: DS instructions, and FLAT ones of which a lane got
 * there. */
struct wmi_lds_cost wmi_lds_passes(const struct wmi_access *access, const struct wmi_lds_rules *rules,
                                   unsigned wave_lanes);

#endif
