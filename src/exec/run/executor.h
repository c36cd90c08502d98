/* SPDX-License-Identifier: MIT */
/* One host thread of a dispatch and its unfinished workgroups, for the files that run them: start.c, turns.c,
 * stop.c and dispatch.c. */
#ifndef WMI_EXECUTOR_H
#define WMI_EXECUTOR_H

#include "exec/run/dispatch.h"
#include "exec/run/program.h"
#include "exec/run/waiting.h"

enum {
    WMI_FIRST_TURN = 1 << 11, /* instructions that a wave runs before the next wave of its workgroup does */
    WMI_TURN_OVER = -1,       /* frame->left of a wave whose next turn is a new one */
    WMI_INSTRUCTIONS_PER_LOOK = 1 << 19, /* between two looks at the clock */
    WMI_GROUPS_PER_LOOK = 64,            /* the same, in workgroups */
};

/* A workgroup and all the memory that it computes in. */
struct wmi_resident {
    struct wmi_workgroup group;
    struct wmi_resident *next;
    uint32_t number;                       /* among those of the dispatch: selects its scratch memory */
    bool used;                             /* by an earlier workgroup */
    bool unstarted;                        /* its waves start one by one, in their first turns */
    const struct wmi_executor *renewed_by; /* if only registers of its waves are not as before they started */
    void **watched; /* each observer's state for the workgroup, followed by that for each wave */
    unsigned char *frames;
    struct wmi_wave waves[];
};

/* The state of a host thread that steps do not see. */
struct wmi_executor {
    struct wmi_worker steps; /* first: steps know the executor by this part */
    /* Unfinished workgroups. Each sweep visits them in the reverse order of the sweep before, so that a chain
     * of workgroups that wait for one another ends in one sweep, whichever way it leads. */
    struct wmi_resident *parked, *swept, *unused;
    struct wmi_read_lock *read_lock, own_read_lock; /* of the guest memory, held by its thread */
    unsigned number;                                /* among the executors */
    bool moved, checks; /* in this sweep: a wave did something other than wait; its loads were looked at */
    bool only_loads;    /* the waiting loops change nothing */
    uint64_t sweep_generation, quiet_generation;
    struct wmi_probe probe;
    size_t frame_size;
    unsigned lanes, waves_per_group;
    wmi_start_frame *start_frame;
    struct wmi_wave_start start;
    /* The SGPRs that get the workgroup's number, and in which dimension. */
    uint8_t id_register[3], id_dimension[3];
    unsigned id_count;
    bool has_own_registers;                        /* further registers differ from wave to wave */
    bool all_whole;                                /* all workgroups are */
    bool starts_late;                              /* waves of whole workgroups start in their first turns */
    alignas(64) uint32_t scalars[WMI_START_SGPRS]; /* those of the workgroup's waves, see wmi_worker */
    bool renews;             /* a workgroup leaves nothing behind but what its waves leave */
    uint32_t *workitem_rows; /* v0, v1, v2 of each wave of a whole workgroup */
    struct wmi_lanes *exec;  /* and EXEC */
    uint32_t host_word;
    uint64_t instructions, waves, groups_started;
    uint64_t batch_next, batch_end; /* workgroups taken and not started */
    uint64_t last_flat_id;          /* of the workgroup that started last */
    uint32_t last_id[3];
    uint64_t groups_done; /* and not yet added to the dispatch's */
    uint64_t groups_since_look, next_look;
    uint64_t compile_at; /* instructions after which the program is compiled */
    bool calls_progress, out_of_memory;
};

enum wmi_outcome { WMI_DONE, WMI_PARKED, WMI_FAULTED };

/* ---- start.c ---- */

/* Zeroed memory on a boundary of 64 bytes, or NULL. */
void *wmi_aligned_zero(size_t size);
/* False: no memory. Whatever the executor has is freed by wmi_executor_free(). */
bool wmi_executor_prepare(struct wmi_executor *executor, struct wmi_dispatch *dispatch, unsigned number);
void wmi_executor_free(struct wmi_executor *executor);
/* NULL: no memory, and the executor knows. */
struct wmi_resident *wmi_resident_create(struct wmi_executor *executor, uint32_t number);
/* Bytes of host memory that a resident takes, its scratch memory included. */
uint64_t wmi_resident_bytes(const struct wmi_executor *executor);
/* Frees a list of them. */
void wmi_residents_free(struct wmi_resident *resident);
/* The offset of its scratch memory in that of the dispatch. */
uint64_t wmi_resident_scratch(const struct wmi_executor *executor, const struct wmi_resident *resident);
/* Makes the resident workgroup number `flat_id`, before its first instruction. If it stays
 * `unstarted`, the registers of its waves have not been set, but their first turns have been prepared. */
void wmi_resident_start(struct wmi_executor *executor, struct wmi_resident *resident, uint64_t flat_id);
/* Sets those registers that further differ from wave to wave, see has_own_registers. size: of the workgroup,
 * in work-items. */
void wmi_wave_set_own_registers(struct wmi_executor *executor, struct wmi_wave *wave, const uint32_t size[3]);

/* Sets the registers of a wave that starts, in a workgroup of size[] work-items. ids: its rows of numbers of
 * work-items. */
static inline void wmi_wave_set_registers(struct wmi_executor *executor, struct wmi_wave *wave,
                                          const uint32_t *ids, const struct wmi_lanes *exec,
                                          const uint32_t size[3])
{
    executor->start_frame(wave->frame, &executor->start, ids, exec);
    for (unsigned i = 0; i < executor->id_count; i++)
        wave->frame->s[executor->id_register[i]] = wave->group->id[executor->id_dimension[i]];
    if (executor->has_own_registers)
        wmi_wave_set_own_registers(executor, wave, size);
}

/* ---- workgroup.c ---- */

/* Compiles the code that the dispatch has lowered. */
void wmi_compile_dispatch(struct wmi_dispatch *dispatch);

/* ---- turns.c ---- */

/* Runs the wave to its next taken branch or s_sleep, or to its end. */
void wmi_wave_run_to_branch(struct wmi_wave *wave);
/* Runs the waves in turn until the workgroup ends, faults, only waits, or has had its share of time. */
enum wmi_outcome wmi_resident_run(struct wmi_executor *executor, struct wmi_resident *resident);

/* ---- observed.c: what the observers of the dispatch are told by the executor ---- */

/* Calls thread_begin() of each observer. False: one of them has no memory. */
bool wmi_observers_begin(struct wmi_executor *executor);
void wmi_observers_end(struct wmi_executor *executor);
/* A workgroup has been started, starts or resumes its turn, or is over; a wave has ended or will not go on.
 */
void wmi_show_begin(struct wmi_executor *executor, const struct wmi_resident *resident);
void wmi_show_turn(struct wmi_executor *executor, struct wmi_resident *resident);
void wmi_show_end(struct wmi_executor *executor, struct wmi_resident *resident);
void wmi_show_wave_end(struct wmi_executor *executor, const struct wmi_wave *wave);

/* ---- stop.c ---- */

/* Adds violations up; keeps the first one of the lowest workgroup and wave. */
void wmi_violation_add(struct wmi_violation *all, const struct wmi_violation *one);
/* Reports executor->steps.fault: the dispatch keeps the one of the lowest workgroup. Higher ones need not go
 * on. */
void wmi_report_wave_fault(struct wmi_executor *executor, uint64_t group, uint32_t wave);
/* Stops the dispatch for a reason that concerns no workgroup in particular. */
void wmi_stop_all(struct wmi_executor *executor, enum wm_fault_kind kind, uint64_t pc, uint64_t group,
                  uint32_t wave);
/* Lets others change the guest's memory between these two calls. */
void wmi_suspend_reading(struct wmi_executor *executor);
void wmi_resume_reading(struct wmi_executor *executor);
/* Asks progress(), which may change the guest's memory. */
bool wmi_caller_goes_on(struct wmi_executor *executor);
/* Whether the time limit or the caller ends the dispatch now; reported as a fault of this workgroup. */
bool wmi_must_stop(struct wmi_executor *executor, const struct wmi_resident *resident);
/* Whether the workgroup need not go on, because a lower one faulted or the dispatch was stopped. */
bool wmi_is_let_go(const struct wmi_workgroup *group);
/* Called after each sweep over the parked workgroups while no new one can be started. True: every executor
 * found its workgroups waiting in a sweep that began after the last change, so nothing will ever change. */
bool wmi_is_deadlock(struct wmi_executor *executor);
/* Reports that the waves of these workgroups, at least one, wait forever. */
void wmi_report_deadlock(struct wmi_executor *executor, struct wmi_resident *list);

#endif
