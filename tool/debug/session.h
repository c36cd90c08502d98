/* SPDX-License-Identifier: MIT */
/* A debugging session: the job that runs, where it is stopped, and how it goes back. The prompt, GDB's remote
 * protocol and DAP are front ends of it, and of the files next to it, and contain no logic of their own.
 *
 * Execution is repeatable: a run of the same dispatch from the same memory executes the same instructions in
 * the same order. So a time is a dispatch and the number of instructions that all its waves have executed,
 * and going back is to execute the dispatch again from the copy of memory that was made when it began. What
 * the user changes is logged with its time, and changed again when execution passes it. */
#ifndef WAVEMEM_DEBUG_SESSION_H
#define WAVEMEM_DEBUG_SESSION_H

#include "tool/arguments/run.h"
#include "tool/text.h"

enum {
    DEBUG_LANES = 64,
    DEBUG_PROGRAM_THREAD = INT32_MAX, /* to clients of protocols: the program itself, between launches */
};

/* A place in the history. */
struct debug_time {
    size_t dispatch;
    uint64_t executed; /* instructions of all its waves before this one */
};

enum debug_space { DEBUG_GLOBAL, DEBUG_LDS, DEBUG_PRIVATE, DEBUG_REGISTER, DEBUG_NOWHERE };

/* What the user has changed. */
struct debug_edit {
    struct debug_time time;
    enum debug_space space;
    uint32_t workgroup[3], wave; /* of registers, LDS and private memory */
    char name[24];               /* of a register */
    uint64_t address;
    unsigned lane;
    size_t size; /* bytes; of registers a multiple of 4 */
    uint8_t *bytes;
};

/* Memory as a dispatch found it, without pages of zeros. */
struct debug_snapshot {
    struct debug_block {
        uint64_t address, size;
        unsigned flags;
        char *name;
        struct debug_page {
            unsigned users; /* snapshots */
            uint8_t bytes[];
        } **page; /* NULL: zeros */
    } *block;
    size_t blocks;
    uint64_t next;  /* where the dispatch allocates memory of its own, each time alike */
    uint64_t bytes; /* that it takes, without what it shares with the one before */
};

/* The state of a dispatch at a time. */
struct debug_checkpoint {
    uint64_t executed;
    struct wm_checkpoint *waves;
    struct debug_snapshot memory;
};

enum debug_state {
    DEBUG_BEFORE,  /* nothing runs yet */
    DEBUG_STOPPED, /* a wave is stopped */
    DEBUG_AFTER,   /* the dispatch has ended; memory is what it left */
};

struct debug_breakpoint; /* stops.h */
struct debug_session;

/* Where dispatches come from: a job of the command line (job.c), or a program that launches them (launch.c).
 */
struct debug_source {
    /* Fills s->prepared[index] and memory, before a dispatch begins for the first time. */
    bool (*prepare)(struct debug_session *s, size_t index, struct wm_diag *diag);
    void (*release)(struct debug_session *s, size_t index);
    bool (*begin)(struct debug_session *s, size_t index, struct wm_diag *diag); /* sets s->run */
    /* Executes the dispatches up to this one with a check, as if nothing had been changed, on a machine of
     * its own, which the caller destroys after the check; NULL if there is none. */
    bool (*check)(struct debug_session *s, struct wm_check *check, struct wm_machine **machine,
                  struct wm_diag *diag);
    /* The dispatch has ended for the first time: an enum tool_exit. */
    int (*use_results)(struct debug_session *s, const struct wm_result *result);
    void (*end)(struct debug_session *s); /* what begin() of the session has made; or NULL */
    /* When a dispatch of a program has ended: lets the program go on, and begins its next one. False: *last,
     * or an error. NULL: jobs, and programs that are debugged one launch at a time. */
    bool (*next)(struct debug_session *s, bool *last, struct wm_diag *diag);
    bool launches; /* a program launches the dispatches: they cannot begin again from the first one */
    /* Whether its bytes are copied when a dispatch begins, and restored to go back. */
    bool (*restores)(const struct wm_allocation *allocation);
};

struct debug_session {
    const struct debug_source *source;
    struct tool_job *job;
    size_t before; /* dispatches of the program that are no part of the history; 0 in jobs */
    uint64_t bias; /* of the object of a launch */
    bool leaves;   /* of launches: the program goes on, up to the next stop */
    bool detached; /* and without stops */
    bool between;  /* it was interrupted in code of its own, between launches: no wave is left */
    FILE *out;     /* what commands print */
    struct wm_machine *machine;

    /* Where it is. */
    enum debug_state state;
    size_t dispatch;
    struct wm_run *run;              /* NULL unless it is STOPPED */
    uint64_t now;                    /* debug_time.executed */
    struct wm_stopped stopped, wave; /* the wave that is stopped, and the one that is selected */
    unsigned lane;
    unsigned frame;                 /* selected: 0 is the innermost */
    bool faulted;                   /* the stopped wave has faulted at this instruction */
    struct wm_result result;        /* of the dispatch, when it has ended */
    struct wm_fault fault;          /* why the dispatch ended, or did before it was repeated; kind NONE */
    bool interrupted;               /* Ctrl-C or a front end stopped the last move */
    bool (*interrupts)(void *user); /* asked now and then; or NULL */
    void *interrupts_user;

    /* The history. */
    struct tool_prepared *prepared;   /* of dispatches that have begun, in order */
    struct debug_snapshot *snapshots; /* likewise */
    uint64_t *lengths;                /* likewise: instructions of those that have ended; else 0 */
    size_t begun;
    struct debug_edit *edits; /* by time */
    size_t edit_count;
    struct debug_checkpoint *checkpoints; /* of the dispatch, by time; a bounded number of bytes */
    size_t checkpoint_count;
    uint64_t interval;         /* instructions from one to the next */
    double checkpoint_seconds; /* when the last one was taken, or execution began */
    double checkpoint_cost;    /* seconds that it took */
    uint64_t repeated;         /* instructions that were executed again to go back, by the last command */

    /* What stops it: stops.h. */
    struct debug_breakpoint *breakpoints;
    size_t breakpoint_count;
    unsigned last_number;

    /* What it shows. */
    struct debug_value *values; /* $1, $2: evaluate.h */
    size_t value_count;
    const struct debug_change *change; /* while the condition of a watchpoint is evaluated; or NULL */
    struct tool_report sources;
    const char **files;
    struct debug_text *texts; /* source files: places.h */
    size_t text_count;
    int code; /* enum tool_exit: the worst outcome of a dispatch */

    /* Of the prompt: */
    bool quits, traces;  /* set trace-commands */
    char list_file[256]; /* what `list' shows next; "": around the selected frame */
    unsigned list_line;
    struct debug_time found; /* what `who' found last */
    uint32_t found_workgroup[3], found_wave;
    unsigned found_lane;
    bool has_found;
};

/* Begins with a checked job, on a machine of its own. Close the session in any case (prompt.h). */
bool debug_job_begin(struct debug_session *s, struct tool_job *job, struct wm_diag *diag);
/* Begins with dispatches of the source, on a machine that is the caller's. */
bool debug_session_begin(struct debug_session *s, const struct debug_source *source, struct tool_job *job,
                         struct wm_machine *machine, struct wm_diag *diag);
/* Forgets the dispatches that have begun, and what was changed. */
void debug_forget(struct debug_session *s);
/* Stops before the first instruction of a launch. */
bool debug_begin_launch(struct debug_session *s, struct wm_diag *diag);
/* What a kernel prints; `user` is the session. */
void debug_print_kernel_text(void *user, const char *text, size_t length);
void debug_session_end(struct debug_session *s);

/* Ends the run, lets `run' execute the dispatch otherwise, with this observer, from memory as it found it,
 * and takes back what that has stored. The session is at the same time then. */
bool debug_run_apart(struct debug_session *s,
                     bool (*run)(void *user, const struct wm_observer *observer, struct wm_diag *diag),
                     void *user, struct wm_diag *diag);

/* Begins the job again from the start: stopped before the first instruction of the first dispatch. */
bool debug_restart(struct debug_session *s, struct wm_diag *diag);

/* What a move runs to; the first event ends it, and so do faults and the end of the dispatch. */
struct debug_goal {
    const uint64_t *addresses; /* before an instruction at one of these */
    size_t address_count;
    const struct wm_stop_range *ranges;
    size_t range_count;
    bool of_wave; /* only this wave counts for `addresses` and `ranges` */
    uint32_t workgroup[3], wave;
    bool each;      /* of_wave: before its next instruction */
    bool wave_end;  /* of_wave: when it has ended, before the next instruction of any */
    uint64_t count; /* of_wave: before its instruction of this number, counted from 1; 0: none */
    uint64_t until; /* time in this dispatch; 0: none */
};

/* Moves on. kind of *stopped: why. DEBUG_AFTER if the dispatch has ended (WM_STOP_END). */
bool debug_advance(struct debug_session *s, const struct debug_goal *goal, struct wm_stopped *stopped,
                   struct wm_diag *diag);
/* Begins the next dispatch of the job, when one has ended. False: there is none, or an error; *last. */
bool debug_next_dispatch(struct debug_session *s, bool *last, struct wm_diag *diag);
/* Goes to where the wave has executed less than so many instructions, from where the rest is near. */
bool debug_go_before(struct debug_session *s, const uint32_t workgroup[3], uint32_t wave, uint64_t count,
                     struct wm_diag *diag);
/* The time of the last checkpoint of the dispatch before `executed`; 0: its beginning. */
uint64_t debug_checkpoint_before(const struct debug_session *s, size_t dispatch, uint64_t executed);
uint64_t debug_checkpoint_bytes(const struct debug_session *s);
/* Goes to a time, forwards or backwards, and selects the wave that is about to execute then. */
bool debug_go_to(struct debug_session *s, struct debug_time time, struct wm_diag *diag);
/* Whether memory may be restored to what it was: not while the program changes it. */
bool debug_may_go_back(const struct debug_session *s, struct wm_diag *diag);
/* Goes to the end of a dispatch that has ended before. */
bool debug_go_to_end(struct debug_session *s, size_t dispatch, struct wm_diag *diag);
static inline struct debug_time debug_now(const struct debug_session *s)
{
    return (struct debug_time){s->dispatch, s->now};
}

/* Selects a wave, its lowest active lane unless its lane stays, and the innermost frame. */
bool debug_select(struct debug_session *s, const uint32_t workgroup[3], uint32_t wave, struct wm_diag *diag);
/* Lists waves in execution, in the order of workgroups; returns their number, at most `room`. */
size_t debug_waves(struct debug_session *s, struct wm_stopped *waves, size_t room);
/* Fails with a message if no wave is stopped. */
bool debug_need_wave(const struct debug_session *s, struct wm_diag *diag);

/* ---- state of the selected wave, and memory ---- */

bool debug_read(struct debug_session *s, enum debug_space space, unsigned lane, uint64_t address, void *bytes,
                size_t size, struct wm_diag *diag);
/* Logs the change, and forgets what was changed after this time. */
bool debug_write(struct debug_session *s, enum debug_space space, unsigned lane, uint64_t address,
                 const void *bytes, size_t size, struct wm_diag *diag);
bool debug_get(struct debug_session *s, const char *name, uint32_t *values, size_t count,
               struct wm_diag *diag);
bool debug_set(struct debug_session *s, const char *name, const uint32_t *values, size_t count,
               struct wm_diag *diag);

/* Its number, from 1 on. */
static inline size_t debug_dispatch_number(const struct debug_session *s, size_t dispatch)
{
    return s->before + dispatch + 1;
}
/* The dispatch that runs, or did last. */
const struct tool_dispatch *debug_dispatch(const struct debug_session *s);
/* Workgroups of its grid, and waves of a workgroup. */
void debug_grid(const struct debug_session *s, uint32_t groups[3], uint32_t *waves);

#endif
