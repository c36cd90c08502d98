/* SPDX-License-Identifier: MIT */
/* What a checker is: an observer of each dispatch, and of the machine's memory between them. */
#ifndef WMI_CHECKER_H
#define WMI_CHECKER_H

#include "base/grid.h"
#include "check/findings.h"
#include "isa/isa.h"
#include "memory/space.h"
#include "observe/observer.h"

struct wmi_code_options; /* lower/code.h */

/* Memory that a kernel must not change, whatever the flags of its allocation. */
struct wmi_guard {
    enum wmi_guard_kind {
        WMI_GUARD_CODE,     /* a segment of instructions */
        WMI_GUARD_DATA,     /* a segment of a code object that is not writable */
        WMI_GUARD_KERNARG,  /* the arguments of the dispatch */
        WMI_GUARD_CONSTANT, /* an allocation that only arguments declared as read-only point to */
    } kind;
    uint64_t low, high; /* guest addresses */
    const char *name;   /* WMI_GUARD_CONSTANT: of the argument, "" if unknown; else NULL */
};

/* The allocation of findings whose address is the offset in a lane's private memory. */
#define WMI_PRIVATE_MEMORY "private memory of a lane"

/* The dispatch that is about to be checked; valid until its end. */
struct wmi_check_dispatch {
    const struct wmi_target *target;
    const struct wmi_space *space;       /* NULL: code without memory (tests) */
    const struct wmi_code_options *code; /* how it is lowered, if nobody else observes it; or NULL */
    bool lowered;                        /* before, by this check: the checkers know its instructions */
    const char *kernel;
    uint64_t entry;                               /* guest address of its first instruction */
    bool profiled;                                /* a profile counts the blocks of this dispatch */
    uint32_t launch;                              /* counts the dispatches of the check, from 1 */
    uint32_t groups[3], workgroup[3], cluster[3]; /* groups, and workgroups of a cluster: in each dimension */
    uint32_t max_items; /* of a workgroup, that the kernel was compiled for; 0: unknown */
    bool copies;        /* a kernel of the runtime, which stores what it has loaded */
    bool split;         /* waves of a workgroup may run on different compute units: WGP mode, tgsplit */
    uint32_t wave_lanes;
    uint32_t lds_bytes;                    /* of a workgroup, static and dynamic */
    uint32_t lane_scratch;                 /* bytes of scratch that the kernel asks for, per lane */
    uint64_t scratch;                      /* guest address of the first wave's; 0: none */
    uint64_t scratch_stride, wave_scratch; /* bytes from one wave's to the next one's; bytes of a wave's */
    bool sets_all;                         /* the caller sets the initial registers; else, counted from s0 */
    uint32_t set_sgprs, set_vgprs;         /* and v0, so many have values when a wave starts, perhaps fewer */
    uint32_t agprs;                        /* AccVGPR rows of a wave */
    uint64_t kernarg;                      /* guest address of the arguments */
    uint32_t kernarg_bytes;
    const struct wmi_guard *guards;
    size_t guard_count;
};

/* Most waves of a workgroup: 1024 work-items. */
enum { WMI_CHECK_WAVES = 32 };

/* The number of a workgroup in the dispatch's order, and back. */
static inline uint64_t wmi_check_group_number(const struct wmi_check_dispatch *dispatch, const uint32_t id[3])
{
    return wmi_grid_number(dispatch->groups, dispatch->cluster, id);
}

static inline void wmi_check_group_id(const struct wmi_check_dispatch *dispatch, uint64_t number,
                                      uint32_t id[3])
{
    wmi_grid_place(dispatch->groups, dispatch->cluster, number, id);
}

/* From the first place of an instruction of LDS with two of them to the second, in bytes; else 0. */
static inline uint64_t wmi_check_distance(const struct wmi_instruction *insn)
{
    const struct wmi_row *row = &wmi_rows[insn->id];
    if (row->elements != 2 || row->class != WMI_CLASS_DS)
        return 0;
    return (uint64_t)(insn->field[WMI_FIELD_offset1] - insn->field[WMI_FIELD_offset0]) * row->bytes *
           (row->flags & WMI_ROW_STRIDE64 ? 64 : 1);
}

/* What of it has run. */
struct wmi_check_ran {
    uint64_t workgroups, waves, instructions;
};

/* A kind of checker. `self` is what create() returned. */
struct wmi_checker {
    const char *name;               /* for texts: "races" */
    unsigned classes;               /* enum wm_check_what: the bits that ask for it */
    bool in_order;                  /* its findings depend on the order of workgroups: one thread runs them */
    void *(*create)(unsigned what); /* enum wm_check_what; NULL: no memory */
    void (*destroy)(void *self);
    /* Returns the observer of one dispatch, whose `self` need not be the checker. NULL: no memory. */
    const struct wmi_observer *(*begin)(void *self, const struct wmi_check_dispatch *dispatch);
    /* Both or none. exchange() swaps what the checker knows of a program's instructions with *code, which it
     * allocates if that is NULL: the checker then knows none. False: no memory; nothing has changed. forget()
     * frees what exchange() allocated. */
    bool (*exchange)(void *self, void **code);
    void (*forget)(void *code);
    /* Every thread has ended. Adds what was found; false: no memory. */
    bool (*end)(void *self, struct wmi_found_set *findings);
    /* What end() added has been put into words; or NULL. */
    void (*worded)(void *self);
    /* Adds a finding for each allocation that has not been freed. False: no memory. Or NULL. */
    bool (*leaks)(void *self, struct wmi_found_set *findings);
    /* WM_EVENT_ALLOCATE to WM_EVENT_HOST_POINTER of the machine, one at a time; or NULL. */
    void (*memory)(void *self, const struct wm_event *event);
    /* The program has copied memory of the allocation to other memory of the machine, or to the host (to is
     * 0), also while a dispatch runs. Returns how many of the bytes nobody has written. Or NULL. */
    uint64_t (*copied)(void *self, const struct wmi_allocation *allocation, uint64_t to, uint64_t from,
                       uint64_t size);
    /* Adds what it has found outside of dispatches. False: no memory. Or NULL. */
    bool (*outside)(void *self, struct wmi_found_set *findings);
};

/* For exchange(). */
#define WMI_EXCHANGE(a, b)                                                                                   \
    do {                                                                                                     \
        typeof(a) wmi_kept = (a);                                                                            \
        (a) = (b);                                                                                           \
        (b) = wmi_kept;                                                                                      \
    } while (0)

extern const struct wmi_checker wmi_checker_float, wmi_checker_memory, wmi_checker_races, wmi_checker_sync,
    wmi_checker_uninit, wmi_checker_waits;

#endif
