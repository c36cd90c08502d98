/* SPDX-License-Identifier: MIT */
/* The parts of the checker of uninitialised values (uninit.c). */
#ifndef WMI_UNINIT_H
#define WMI_UNINIT_H

#include "check/checker.h"
#include "check/uninit/shadow.h"
#include "check/uninit/undefined.h"
#include "check/uninit/written.h"

#include <pthread.h>

enum {
    WMI_UNINIT_CHUNK = 1 << 10, /* instructions; chunks never move, because shadows point to them */
    WMI_UNINIT_CHUNKS = 1 << 12,
    WMI_UNINIT_ORIGINS = 1 << 16,
    WMI_UNINIT_RECENT = 64,
};

/* Where an undefined value was. */
enum wmi_uninit_source {
    WMI_UNINIT_GLOBAL,
    WMI_UNINIT_LDS,
    WMI_UNINIT_SCRATCH,
    WMI_UNINIT_SOURCES,
    WMI_UNINIT_REGISTER = WMI_UNINIT_SOURCES, /* none: a register that nobody set */
};

/* What depends on it. */
enum wmi_uninit_use {
    WMI_UNINIT_BRANCH,
    WMI_UNINIT_EXEC,
    WMI_UNINIT_ADDRESS,
    WMI_UNINIT_STORE,
    WMI_UNINIT_MESSAGE,
    WMI_UNINIT_ATOMIC,
    WMI_UNINIT_USES
};

/* Where an undefined value comes from: a load, by its first case. */
struct wmi_uninit_origin {
    uint64_t pc, address, bytes, group;
    uint32_t wave, launch;
    enum wmi_uninit_source source;
    bool partial; /* other bytes of the lane's access were written: perhaps padding */
};

struct wmi_uninit_instruction {
    struct wmi_shadow_instruction shadow;
    uint64_t distance; /* DS: from its first place to the second */
    /* Memory: how bytes become registers; opaque: in another way. */
    bool is_signed, d16, d16_hi, opaque;
};

struct wmi_uninit_group { /* a workgroup that runs */
    struct wmi_uninit_group *next;
    uint64_t number;
    uint32_t waves;
    struct wmi_written lds;
    struct wmi_undefined lds_values, scratch_values;
    struct wmi_shadow *shadow[]; /* of each wave; NULL: it never had one */
};

struct wmi_uninit;

struct wmi_uninit_shard { /* of the one thread of a dispatch */
    struct wmi_uninit *check;
    struct wmi_uninit_group *group, *unused; /* whose turn it is; and those that have ended */
    struct wmi_uninit_recent {
        uint64_t low, high;
        struct wmi_written *region;
    } recent[WMI_UNINIT_RECENT]; /* by slot: what is known of the addresses in [low, high) */
    uint64_t seen;               /* generation of the regions that `recent` knows */
    bool missed;
    uint64_t moved_pc;        /* of the instruction whose bytes are on their way to LDS */
    uint64_t moved_bytes[64]; /* of each lane: a bit per byte that is undefined */
    uint32_t moved_origin;
};

struct wmi_uninit {
    bool origins;
    struct wmi_observer observer;
    struct wmi_check_dispatch dispatch;
    uint32_t waves; /* of a workgroup */
    uint32_t vgprs; /* of the waves */
    struct wmi_uninit_instruction *chunk[WMI_UNINIT_CHUNKS];
    uint32_t instructions, decoded; /* decoded: number of the last one */
    uint32_t *slot;                 /* number of the instruction of each slot */
    uint32_t slots;
    const char *missed;
    struct wmi_found_set findings;
    struct wmi_uninit_origin *origin; /* [1, origin_count]: over all dispatches */
    uint32_t origin_count;
    struct wmi_undefined values; /* of global memory */
    struct wmi_written scratch;
    uint32_t *scratch_high; /* of each wave's piece: bytes that may be written */
    size_t pieces;
    /* Global memory, sorted by address. The host may change it while a dispatch runs. */
    pthread_mutex_t lock;
    struct wmi_written **region;
    size_t regions, room;
    struct wmi_written **retired; /* until no dispatch runs */
    size_t retired_count;
    bool lost;           /* an allocation could not be added, and counts as written */
    uint64_t generation; /* counts changes of the regions */
};

static inline struct wmi_uninit_instruction *wmi_uninit_instruction_of(const struct wmi_uninit *check,
                                                                       uint32_t number)
{
    return &check->chunk[number / WMI_UNINIT_CHUNK][number % WMI_UNINIT_CHUNK];
}

/* Instructions of DS that move data between lanes and access no memory. */
static inline bool wmi_uninit_exchanges_lanes(const struct wmi_row *row)
{
    return row->class == WMI_CLASS_DS && row->flags & WMI_ROW_CROSS_LANE;
}

extern const char wmi_uninit_no_memory[]; /* why a check is incomplete */

/* ---- uninit_rules.c ---- */

/* The number of a load's origin; 0: no memory, or too many. */
uint32_t wmi_uninit_add_origin(struct wmi_uninit_shard *shard, const struct wmi_uninit_origin *origin);
/* The origin of that number: of loads, or from WMI_UNINIT_ORIGINS on of the registers of wmi_shadow_start().
 */
struct wmi_uninit_origin wmi_uninit_origin_of(const struct wmi_uninit *check, uint32_t number);
/* Adds a finding: instruction `pc` of the wave makes use of a value from the origin. */
void wmi_uninit_use(struct wmi_uninit_shard *shard, uint32_t number, enum wmi_uninit_use use, uint64_t pc,
                    uint32_t wave, uint64_t lanes);

/* ---- uninit_memory.c ---- */

struct wmi_uninit_place {        /* of a lane */
    struct wmi_written *written; /* NULL: all of it is */
    struct wmi_undefined *values;
    enum wmi_uninit_source source;
};

/* A dispatch begins. False: no memory. */
bool wmi_uninit_begin_memory(struct wmi_uninit *check);
void wmi_uninit_free_memory(struct wmi_uninit *check);
/* An event of the machine's memory. */
void wmi_uninit_memory(void *self, const struct wm_event *event);
/* The region of an address of global or private memory, or NULL: all of it is written. */
struct wmi_written *wmi_uninit_region(struct wmi_uninit_shard *shard, uint64_t address, uint32_t slot);
/* Where an element's address lies. */
struct wmi_uninit_place wmi_uninit_place_of(struct wmi_uninit_shard *shard, const struct wmi_element *element,
                                            uint64_t address, uint32_t slot);
/* By how much the byte differs; *origin: of its value, or 0: nobody wrote it. */
uint8_t wmi_uninit_difference(const struct wmi_uninit_place *place, uint64_t address, uint32_t *origin);
void wmi_uninit_written(struct wmi_uninit_shard *shard, const struct wmi_uninit_place *place,
                        uint64_t address, uint64_t bytes);
/* Stores one byte whose value differs. */
void wmi_uninit_undefine(struct wmi_uninit_shard *shard, const struct wmi_uninit_place *place,
                         uint64_t address, uint8_t difference, uint32_t origin);

/* ---- uninit_access.c ---- */

void wmi_uninit_access(void *local, const struct wmi_access *access, uint32_t slot);

/* ---- accesses of waves without a shadow that only load written bytes, or store; summaries in uninit_lanes.c
 * ----
 */

typedef bool wmi_uninit_summary(void *local, const struct wmi_address_summary *summary, uint32_t slot);

/* ---- uninit_shadow.c ---- */

/* The observer's shadow(): what the wave does with values that differ. */
char *wmi_uninit_shadow(void *local, void **watched, uint32_t number, const char *frame,
                        const struct wmi_frame_layout *layout);

#endif
