/* SPDX-License-Identifier: MIT */
/* One host thread of a dispatch and its unfinished workgroups, for the files that run them: start.c,
 * slices.c, stop.c and dispatch.c. */
#ifndef WMI_EXECUTOR_H
#define WMI_EXECUTOR_H

#include "exec/run/dispatch.h"
#include "exec/run/program.h"
#include "exec/run/waiting.h"

enum {
    WMI_FIRST_SLICE = 1 << 11, /* instructions that a wave runs before the next wave of its workgroup does */
    WMI_SLICE_OVER = -1,       /* frame->left of a wave whose slice is used up */
    WMI_INSTRUCTIONS_PER_POLL = 1 << 19, /* between two polls of the clock and of progress() */
    WMI_GROUPS_PER_POLL = 64,            /* workgroups between two such polls */
};

/* A workgroup and all the memory that it computes in. */
struct wmi_resident {
    struct wmi_workgroup group;
    struct wmi_resident *next;
    uint32_t number; /* among those of the dispatch: selects its scratch memory */
    bool used;       /* by an earlier workgroup */
    bool ended;      /* its workgroup, while others of the cluster run */
    bool unstarted;  /* its waves start one by one, each with its first slice */
    const struct wmi_executor
        *renewed_by; /* executor that has reset all state of its waves but the registers, or NULL */
    void **watched;  /* each observer's state for the workgroup, followed by that for each wave */
    unsigned char *frames;
    struct wmi_wave waves[];
};

/* The state of a host thread that is hidden from steps. */
struct wmi_executor {
    struct wmi_worker steps; /* first: steps know the executor by this part */
    /* Unfinished workgroups, of a cluster the first one. Each sweep visits them in the reverse order of the
     * previous sweep, so that a chain of workgroups in which each waits for a neighbour resolves in one
     * sweep, in either direction. */
    struct wmi_resident *parked, *swept, *unused;
    struct wmi_read_lock *read_lock, own_read_lock; /* of the guest memory, held by its thread */
    unsigned number;                                /* among the executors */
    bool progressed,
        checks;      /* in this sweep: a wave did more than wait; the loops of waiting waves are examined */
    bool only_loads; /* the loops of waiting waves do not change memory */
    uint64_t sweep_generation, quiescent_generation;
    struct wmi_probe probe;
    size_t frame_size;
    unsigned lanes, waves_per_group;
    wmi_start_frame *start_frame;
    struct wmi_wave_start start;
    /* SGPRs that receive the workgroup's number, and the dimension of each. */
    uint8_t id_register[3], id_dimension[3];
    unsigned id_count;
    bool has_own_registers; /* initial registers differ between waves in other ways */
    bool all_whole;         /* no workgroup is cut off by the end of the grid */
    bool starts_late;       /* each wave of a whole workgroup starts with its first slice */
    alignas(
        64) uint32_t scalars[WMI_START_SGPRS]; /* initial SGPRs of the workgroup's waves, see wmi_worker */
    bool renews;                               /* a workgroup has no state but that of its waves */
    uint32_t *workitem_rows;                   /* initial v0, v1, v2 of each wave of a whole workgroup */
    struct wmi_lanes *exec;                    /* initial EXEC of each of these waves */
    uint32_t host_word;
    uint64_t instructions, waves, groups_started;
    uint64_t batch_next, batch_end; /* workgroups that were taken and not started */
    uint64_t last_flat_id;          /* of the workgroup that started last */
    uint32_t last_id[3];
    uint64_t groups_done; /* not yet added to the dispatch's count */
    uint64_t groups_since_poll, next_poll;
    uint64_t compile_at; /* instructions after which the program is compiled */
    bool calls_progress, out_of_memory;
    /* wmi_wave_go_on(), for the step that holds waves: steps are bound by name when code is lowered, and this
     * lowers code. */
    const struct wmi_op *(*go_on)(struct wmi_wave *wave, const struct wmi_op *op);
};

enum wmi_outcome { WMI_DONE, WMI_PARKED, WMI_FAULTED };

/* ---- start.c ---- */

/* Zeroed memory on a boundary of 64 bytes, or NULL. */
void *wmi_aligned_zero(size_t size);
/* False: no memory; wmi_executor_free() frees what was allocated. */
bool wmi_executor_prepare(struct wmi_executor *executor, struct wmi_dispatch *dispatch, unsigned number);
void wmi_executor_free(struct wmi_executor *executor);
/* One workgroup's, or the first of a cluster's, which has the others. number: of the cluster. NULL: no
 * memory; sets executor->out_of_memory. */
struct wmi_resident *wmi_resident_create(struct wmi_executor *executor, uint32_t number);
/* The residents of the cluster of which this is the first, or only itself. */
static inline uint32_t wmi_resident_members(const struct wmi_resident *resident)
{
    return resident->group.cluster ? resident->group.cluster->size : 1;
}
static inline struct wmi_resident *wmi_resident_member(struct wmi_resident *resident, uint32_t i)
{
    return resident->group.cluster ? (struct wmi_resident *)resident->group.cluster->member[i] : resident;
}
/* Bytes of host memory that a resident takes, its scratch memory included. */
uint64_t wmi_resident_bytes(const struct wmi_executor *executor);
/* Frees a list of residents. */
void wmi_residents_free(struct wmi_resident *resident);
/* The byte offset of the resident's scratch memory in that of the dispatch. */
static inline uint64_t wmi_resident_scratch(const struct wmi_executor *executor,
                                            const struct wmi_resident *resident)
{
    return executor->steps.dispatch->scratch_stride * executor->waves_per_group * resident->number;
}
/* Turns the resident into workgroup number `flat_id`, or the residents of a cluster into that and the next
 * ones, before their first instruction. If `unstarted` is set
 * afterwards, the waves' first slices have begun, but their registers have not been set. */
void wmi_resident_start(struct wmi_executor *executor, struct wmi_resident *resident, uint64_t flat_id);
/* Sets the registers for which has_own_registers is true. size: of the workgroup, in work-items. */
void wmi_wave_set_own_registers(struct wmi_executor *executor, struct wmi_wave *wave, const uint32_t size[3]);

/* Sets the initial registers of a wave. size: of its workgroup, in work-items. ids: its rows of work-item
 * ids. */
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

/* ---- compile.c ---- */

/* Compiles the code that the dispatch has lowered. */
void wmi_compile_dispatch(struct wmi_dispatch *dispatch);

/* ---- slices.c ---- */

/* Runs the wave to its next taken branch or s_sleep, or to its end. */
void wmi_wave_run_to_branch(struct wmi_wave *wave);
/* Runs the waves in time slices until the workgroup ends, faults, only waits, or has used up its rounds. */
enum wmi_outcome wmi_resident_run(struct wmi_executor *executor, struct wmi_resident *resident);

/* ---- stop.c ---- */

/* Reports executor->steps.fault. The dispatch keeps the fault of the lowest workgroup; higher workgroups are
 * cancelled. */
void wmi_report_wave_fault(struct wmi_executor *executor, uint64_t group, uint32_t wave);
/* Stops the dispatch for a reason that concerns no workgroup in particular. */
void wmi_stop_all(struct wmi_executor *executor, enum wm_fault_kind kind, uint64_t pc, uint64_t group,
                  uint32_t wave);
/* Between these two calls, writers may change what is allocated in guest memory. */
void wmi_suspend_reading(struct wmi_executor *executor);
void wmi_resume_reading(struct wmi_executor *executor);
/* Whether the workgroup is cancelled, because a lower one faulted or the dispatch was stopped. */
bool wmi_is_cancelled(const struct wmi_workgroup *group);

/* ---- limits.c ---- */

/* Calls progress(), which may change guest memory. False: the caller stops the dispatch. */
bool wmi_caller_goes_on(struct wmi_executor *executor);
/* Whether the time limit or the caller ends the dispatch now. Reports the reason as a fault of this
 * workgroup. */
bool wmi_must_stop(struct wmi_executor *executor, const struct wmi_resident *resident);

/* ---- deadlock.c ---- */

/* Called after each sweep over the parked workgroups while no new one can be started. True: every executor
 * has swept its workgroups since the last change and found all of them waiting, so nothing can ever
 * change. */
bool wmi_is_deadlock(struct wmi_executor *executor);
/* Reports that the waves of these workgroups, at least one, will wait forever. */
void wmi_report_deadlock(struct wmi_executor *executor, struct wmi_resident *list);

#endif
