/* SPDX-License-Identifier: MIT */
/* Which instructions communicate, and what a target's memory model requires of them. */
#ifndef WMI_RACE_RULES_H
#define WMI_RACE_RULES_H

#include "check/checker.h"
#include "check/races/race_code.h"
#include "check/races/race_flight.h"
#include "check/races/race_models.h"

/* A memory instruction. */
struct wmi_race_insn {
    uint64_t pc;
    uint64_t distance;                   /* DS: distance in bytes from the first place to the second */
    uint8_t path, kind, bytes, elements; /* as in struct wmi_access */
    uint8_t policy, scope, operation;
    uint8_t counted[WMI_RACE_COUNTERS]; /* by how much it increments the counters */
    bool known;                         /* the members above are set */
    bool returns;
    bool lds;                  /* the current access is to LDS; FLAT instructions may access both */
    bool coherent;             /* a load that may observe stores of other workgroups */
    struct wmi_race_load load; /* what a load is for */
    bool released;             /* a store right after a wait for earlier stores */
    bool communicated;         /* an access of the instruction has taken part in communication */
    uint16_t irregular;        /* recent accesses without a known struct wmi_race_pattern */
    uint16_t recorded;         /* loads in the log that were recorded because of other accesses, up to some */
};

/* Whether the load may be one that waits for other waves. */
static inline bool wmi_race_awaits(const struct wmi_race_insn *insn)
{
    return insn->coherent || insn->load.polls;
}

/* How an instruction takes part in communication with other waves. */
enum wmi_race_role {
    WMI_RACE_PLAIN,
    WMI_RACE_MAYBE,  /* a store that may be atomic: the code does not tell */
    WMI_RACE_NARROW, /* atomic, but its scope does not include the other wave */
    WMI_RACE_ATOMIC,
};

struct wmi_race_rules {
    const struct wmi_race_model *model;
    bool strict;
};

/* Whether the load may observe stores of other workgroups. */
bool wmi_race_is_coherent(const struct wmi_race_rules *rules, const struct wmi_race_insn *insn);

/* Whether a load by one workgroup observes what another, or the same one, has stored, whatever is in caches.
 */
bool wmi_race_bypasses(const struct wmi_race_rules *rules, const struct wmi_race_insn *insn, bool same_group);

/* Whether what the instruction stores needs no write-back of caches: scopes from the device's on write
 * through. Source: LLVM AMDGPUUsage, "Memory Model GFX942": atomic stores of these scopes have sc1, and no
 * write-back follows them. */
bool wmi_race_writes_through(const struct wmi_race_rules *rules, const struct wmi_race_insn *insn);

/* Whether the instruction stores a unit that an atomic could store. */
bool wmi_race_is_word(const struct wmi_race_insn *insn);

enum wmi_race_role wmi_race_role(const struct wmi_race_rules *rules, const struct wmi_race_insn *insn,
                                 bool same_group);

/* Whether the two instructions communicate, so that no order is needed between them. */
bool wmi_race_communicates(const struct wmi_race_rules *rules, const struct wmi_race_insn *first,
                           const struct wmi_race_insn *second, bool same_group);

/* The rules and texts of findings. */
enum wmi_race_kind {
    WMI_RACE_OF_LDS,
    WMI_RACE_OF_GLOBAL,
    WMI_RACE_OF_LANES,
    WMI_RACE_OF_LANE_WORDS, /* which relaxed atomics may store */
    WMI_RACE_OF_MIXED,
    WMI_RACE_OF_FLAGS, /* stores that may be of flags */
    WMI_RACE_OF_RELEASE,
    WMI_RACE_OF_ACQUIRE,
    WMI_RACE_OF_SCOPE,
    WMI_RACE_OF_EQUALS,
    WMI_RACE_OF_HALVES,
    WMI_RACE_OF_STORE_AT_BARRIER,
    WMI_RACE_OF_READ_AT_BARRIER,
    WMI_RACE_LOAD_TO_LDS_AT_BARRIER,
    WMI_RACE_LOAD_TO_LDS,
    WMI_RACE_STORE_FROM_LDS_AT_BARRIER,
    WMI_RACE_STORE_FROM_LDS,
    WMI_RACE_OF_STORE_BEFORE_BARRIER,
    WMI_RACE_OF_LOAD_BEHIND_BARRIER,
    WMI_RACE_KINDS
};
extern const struct wmi_check_rule wmi_race_texts[WMI_RACE_KINDS];

/* Details of findings. */
enum { WMI_RACE_FIRST_GROUP, WMI_RACE_FIRST_WAVE, WMI_RACE_HOW, WMI_RACE_MODEL, WMI_RACE_BARRIER };
/* Bits of WMI_RACE_HOW, and the access kinds above them. UPPER: the first one was of lanes 32 to 63. THROUGH:
 * it needed no write-back. */
enum {
    WMI_RACE_HOW_SAME_GROUP = 1,
    WMI_RACE_HOW_UPPER = 2,
    WMI_RACE_HOW_THROUGH = 4,
    WMI_RACE_HOW_KIND = 8,
    WMI_RACE_HOW_FIRST_KIND = 16
};

#endif
