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
    WMI_UNINIT_CHUNK = 1 << 10, /* instructions per chunk; chunks never move, because shadows point to them */
    WMI_UNINIT_CHUNKS = 1 << 12,
    WMI_UNINIT_ORIGINS = 1 << 16,
    WMI_UNINIT_RECENT = 64,
};

/* Where an undefined value was stored. */
enum wmi_uninit_source {
    WMI_UNINIT_GLOBAL,
    WMI_UNINIT_LDS,
    WMI_UNINIT_SCRATCH,
    WMI_UNINIT_SOURCES,
    WMI_UNINIT_REGISTER = WMI_UNINIT_SOURCES, /* not in memory: a register that was never set */
};

/* What depends on an undefined value. */
enum wmi_uninit_use {
    WMI_UNINIT_BRANCH,
    WMI_UNINIT_EXEC,
    WMI_UNINIT_ADDRESS,
    WMI_UNINIT_STORE,
    WMI_UNINIT_MESSAGE,
    WMI_UNINIT_ATOMIC,
    WMI_UNINIT_USES
};

/* The origin of an undefined value: a load, with the first case in which it loaded one. */
struct wmi_uninit_origin {
    uint64_t pc, address, bytes, group;
    uint32_t wave, launch;
    enum wmi_uninit_source source;
    bool partial;   /* other bytes of the lane's access had been written, so that these may be padding */
    uint8_t places; /* the bytes of a register into which the undefined ones were loaded */
};

struct wmi_uninit_instruction {
    struct wmi_shadow_instruction shadow;
    uint64_t distance; /* DS: distance in bytes from the first place to the second */
    /* How loaded bytes are converted to registers; opaque: in a way that is not modelled. */
    bool is_signed, d16, d16_hi, opaque;
};

struct wmi_uninit_group { /* state of an unfinished workgroup */
    struct wmi_uninit_group *next;
    uint64_t number;
    uint32_t waves;
    struct wmi_written lds;
    struct wmi_undefined lds_values, scratch_values;
    struct wmi_shadow *shadow[]; /* by wave; NULL: the wave has had no shadow yet */
};

struct wmi_uninit;

struct wmi_uninit_shard { /* state of the dispatch's only thread */
    struct wmi_uninit *check;
    struct wmi_uninit_group *group, *unused; /* current workgroup; states of ended workgroups */
    struct wmi_uninit_recent {
        uint64_t low, high;
        struct wmi_written *region;
    } recent[WMI_UNINIT_RECENT]; /* by slot: what is known about the addresses in [low, high) */
    uint64_t seen;               /* generation of the regions on which `recent` is based */
    bool missed;
    uint64_t moved_pc;        /* instruction that is moving bytes to LDS */
    uint64_t moved_bytes[64]; /* by lane: a bit per undefined byte */
    uint32_t moved_origin;
};

/* A copy to the host, of which later pieces may follow. */
struct wmi_uninit_copy {
    char *name; /* of the allocation from `low` to `high`; NULL: there is none */
    uint64_t low, high;
    uint64_t first, end; /* the first byte that nobody wrote; behind the last byte */
    uint64_t size, missing;
    uint64_t piece; /* bytes of the last piece */
};

struct wmi_uninit {
    bool origins;
    struct wmi_observer observer;
    struct wmi_check_dispatch dispatch;
    uint32_t waves; /* per workgroup */
    uint32_t vgprs; /* per wave */
    struct wmi_uninit_instruction *chunk[WMI_UNINIT_CHUNKS];
    uint32_t instructions, decoded; /* number of instructions; number of the last decoded instruction */
    uint32_t *slot;                 /* number of each slot's instruction */
    uint32_t slots;
    const char *missed;
    struct wmi_found_set findings;
    struct wmi_found_set copied; /* copies to the host of what nobody has written; guarded by `lock` */
    char **name;                 /* of their allocations */
    size_t names, name_room;
    struct wmi_uninit_copy copy;      /* the last one, which is not in `copied` yet */
    struct wmi_uninit_origin *origin; /* valid from 1 to origin_count, in all dispatches */
    uint32_t origin_count;
    struct wmi_undefined values; /* undefined values in global memory */
    struct wmi_written scratch;
    uint32_t *scratch_high; /* per wave: bytes of its scratch that may have been written */
    size_t pieces;
    /* Regions of global memory, sorted by address. The host may change them while a dispatch runs. */
    pthread_mutex_t lock;
    struct wmi_written **region;
    size_t regions, room;
    struct wmi_written **retired; /* removed regions, which are freed when no dispatch runs */
    size_t retired_count;
    bool lost;           /* an allocation could not be added, and is taken to be written */
    uint64_t generation; /* incremented when the regions change */
};

static inline struct wmi_uninit_instruction *wmi_uninit_instruction_of(const struct wmi_uninit *check,
                                                                       uint32_t number)
{
    return &check->chunk[number / WMI_UNINIT_CHUNK][number % WMI_UNINIT_CHUNK];
}

/* Whether the DS instruction moves data between lanes without accessing memory. */
static inline bool wmi_uninit_exchanges_lanes(const struct wmi_row *row)
{
    return row->class == WMI_CLASS_DS && row->flags & WMI_ROW_CROSS_LANE;
}

extern const char wmi_uninit_no_memory[]; /* text that says why a check is incomplete */

/* ---- uninit_rules.c ---- */

/* Adds a load as an origin, and returns its number. 0: no memory, or too many origins. */
uint32_t wmi_uninit_add_origin(struct wmi_uninit_shard *shard, const struct wmi_uninit_origin *origin);
/* Returns the origin with that number: a load, or from WMI_UNINIT_ORIGINS on a register of
 * wmi_shadow_start(). */
struct wmi_uninit_origin wmi_uninit_origin_of(const struct wmi_uninit *check, uint32_t number);
/* Adds a finding: instruction `pc` of the wave uses a value from the origin. */
void wmi_uninit_use(struct wmi_uninit_shard *shard, uint32_t number, enum wmi_uninit_use use, uint64_t pc,
                    uint32_t wave, uint64_t lanes);

/* What a copy to the host is reported as; its name must live until the finding is worded. */
struct wmi_found wmi_uninit_copy_found(const struct wmi_uninit_copy *copy);

/* ---- uninit_memory.c ---- */

struct wmi_uninit_place {        /* where a lane's address lies */
    struct wmi_written *written; /* NULL: all bytes are written */
    struct wmi_undefined *values;
    enum wmi_uninit_source source;
};

/* Called when a dispatch begins. False: no memory. */
bool wmi_uninit_begin_memory(struct wmi_uninit *check);
void wmi_uninit_free_memory(struct wmi_uninit *check);
/* Handles an event of the machine's memory. */
void wmi_uninit_memory(void *self, const struct wm_event *event);
/* As wmi_checker.copied() and outside(). */
uint64_t wmi_uninit_copied(void *self, const struct wmi_allocation *allocation, uint64_t to, uint64_t from,
                           uint64_t size);
bool wmi_uninit_outside(void *self, struct wmi_found_set *findings);
/* The region that contains an address of global or private memory. NULL: all of it is written. */
struct wmi_written *wmi_uninit_region(struct wmi_uninit_shard *shard, uint64_t address, uint32_t slot);
/* Finds where an element's address lies. */
struct wmi_uninit_place wmi_uninit_place_of(struct wmi_uninit_shard *shard, const struct wmi_element *element,
                                            uint64_t address, uint32_t slot);
/* The difference of the byte. *origin: origin of its value; 0: the byte was never written. */
uint8_t wmi_uninit_difference(const struct wmi_uninit_place *place, uint64_t address, uint32_t *origin);
void wmi_uninit_written(struct wmi_uninit_shard *shard, const struct wmi_uninit_place *place,
                        uint64_t address, uint64_t bytes);
/* Records the store of a byte whose value differs. */
void wmi_uninit_undefine(struct wmi_uninit_shard *shard, const struct wmi_uninit_place *place,
                         uint64_t address, uint8_t difference, uint32_t origin);

/* ---- uninit_access.c ---- */

void wmi_uninit_access(void *local, const struct wmi_access *access, uint32_t slot);

/* ---- accesses of waves without a shadow that only load written bytes, or store; summaries in uninit_lanes.c
 * ----
 */

typedef bool wmi_uninit_summary(void *local, const struct wmi_address_summary *summary, uint32_t slot);

/* ---- uninit_shadow.c ---- */

/* The observer's shadow(): checks what the wave does with values that differ. */
char *wmi_uninit_shadow(void *local, void **watched, uint32_t number, const char *frame,
                        const struct wmi_frame_layout *layout);

#endif
