/* SPDX-License-Identifier: MIT */
/* How waves enter compiled code and leave it, and how they get from one stretch to another. */
#ifndef WMI_EXITS_H
#define WMI_EXITS_H

#include "jit/host_memory.h"
#include "jit/lds_plan.h"
#include "jit/stretch.h"

/* In the frame: the instructions left of the wave's turn. */
enum { WMI_TURN_LEFT = offsetof(struct wmi_frame, left) };

/* Offsets of the code of a stretch that begins at a step, behind its checks, or 0: for waves with all lanes
 * active, and for others, where k1 to k4 hold EXEC. Before there is code, jumps wait for it. */
struct wmi_place {
    size_t full, partial;
    size_t waiting; /* 1 + the index of the last jump that waits, or 0 */
};

struct wmi_waiting_jump {
    size_t jump, step;
    size_t next; /* as in struct wmi_place */
    bool partial;
    bool resumes; /* it is the address at which waves resume there, see wmi_put_barrier() */
};

struct wmi_compilation {
    struct wmi_stretch stretch;
    struct wmi_lds_plan lds;
    struct wmi_patch *patches;
    size_t patch_count, patch_capacity;
    struct wmi_place *places; /* of all steps */
    struct wmi_waiting_jump *waiting;
    size_t waiting_count, waiting_capacity;
    size_t full_reentries;       /* the number of those of the version for full waves; the others follow */
    size_t exec_rest;            /* code that completes frame->exec: see wmi_exits_begin() */
    size_t launch[WMI_LAUNCHES]; /* offsets of the code for waves that start, or 0 */
};

/* What exits call. Before any of them. */
void wmi_exits_begin(struct wmi_compilation *c);
/* Continues with the step as it is bound now: with its compiled code, if it has some. */
void wmi_continue_at(struct wmi_stretch *s, const struct wmi_op *op);
/* The same for a step that no code has been skipped to reach: without checks, if it has code for such waves
 * or will have it. */
void wmi_go_to(struct wmi_compilation *c, const struct wmi_op *op, bool partial);
/* Lets the jumps to the step that wait, of the one kind, lead to what is emitted next. */
void wmi_land_waiting(struct wmi_compilation *c, size_t step, bool partial);
/* In front of the code of a stretch for such waves: where they come from an s_barrier in front of it. */
void wmi_put_resumption(struct wmi_compilation *c, bool partial);
/* Jumps to steps that were not compiled after all. */
void wmi_put_missed(struct wmi_compilation *c);

/* Whether the step jumps to an address that the wave has computed. It does so, to what the worker's last such
 * jumps led to. */
bool wmi_is_jump(const struct wmi_step *step);
void wmi_put_jump(struct wmi_compilation *c, const struct wmi_op *op, bool partial);
/* The wave gets to the step, which is s_barrier. */
void wmi_put_barrier(struct wmi_compilation *c, const struct wmi_op *op, bool partial);

/* WMI_ROWS = the rows of the frame. */
void wmi_put_rows_address(struct wmi_stretch *s);
/* R10 = the worker. */
void wmi_put_worker(struct wmi_stretch *s);
/* Where a wave ends by the step that is bound to `op`: starts the next one where that was noted in its turn,
 * see wmi_put_next_start(), if it was. */
void wmi_put_restart(struct wmi_stretch *s, const struct wmi_op *op);
/* Sets frame->compiled.pristine. */
void wmi_set_pristine(struct wmi_stretch *s, enum wmi_pristine pristine);
/* Continues with the step in WMI_OP. */
void wmi_continue_there(struct wmi_stretch *s);
/* k1 to k4 <- frame->exec.bits. */
void wmi_load_exec(struct wmi_stretch *s);
/* frame->exec.bits <- the EXEC words, which RAX may already be; k1 to k4 hold EXEC from now on. `full`: where
 * the version for full waves goes on, to which the wave goes instead if all lanes are active and the rest of
 * frame->exec says so; or NULL. */
void wmi_put_exec(struct wmi_stretch *s, bool in_rax, const struct wmi_reentry *full);
/* Checks what compiled code assumes. Returns the jump taken by waves with inactive lanes. */
size_t wmi_put_check(struct wmi_stretch *s, size_t step);

/* Of the step, among those from `from` to `to`; or NULL. */
const struct wmi_reentry *wmi_find_reentry(const struct wmi_reentries *reentries, size_t from, size_t to,
                                           size_t step);
/* Loads what the code at the reentry expects, and jumps there. */
void wmi_put_reentry(struct wmi_stretch *s, const struct wmi_reentry *back, bool partial);
void wmi_put_exit(struct wmi_compilation *c, const struct wmi_exit *leave);

#endif
