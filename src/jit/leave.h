/* SPDX-License-Identifier: MIT */
/* How a stretch hands over what the registers hold: to the interpreter, to code for other waves, to code
 * taken aside, and to the next iteration of a loop. */
#ifndef WMI_LEAVE_H
#define WMI_LEAVE_H

#include "jit/held.h"

/* The interpreter executes `step` if the condition holds, and continues from there. The frame will be as it
 * is before the current step. */
void wmi_stretch_exit_if(struct wmi_stretch *s, enum wmi_condition condition);
/* The same if the instruction holds for a word of a. */
void wmi_stretch_leave_if(struct wmi_stretch *s, uint32_t instruction, unsigned a, struct wmi_host_operand b,
                          int predicate);
/* The same for a jump that has been emitted. */
void wmi_stretch_exit_here(struct wmi_stretch *s, size_t jump);
/* A jump, which has been emitted, leaves in the given way for the step that is bound to `op`. */
void wmi_stretch_exit_at(struct wmi_stretch *s, size_t jump, enum wmi_exit_kind kind,
                         const struct wmi_op *op);
/* Takes what has been emitted since `from`, with the exits since `first_exit`, out of the way. The jumps lead
 * to it, and it continues at `back`. */
void wmi_stretch_set_aside(struct wmi_stretch *s, size_t from, size_t first_exit, const size_t *jumps,
                           size_t jump_count, size_t back);
/* Emits what has been taken out of the way. */
void wmi_stretch_put_asides(struct wmi_stretch *s);
/* Whether what the registers hold is also in the frame. */
bool wmi_stretch_is_clean(const struct wmi_stretch *s);
/* Whether no row but constants is held in one register for all lanes. */
bool wmi_stretch_is_spread(const struct wmi_stretch *s);
/* After the current step the interpreter may come back to what is emitted next. */
void wmi_stretch_come_back(struct wmi_stretch *s);
/* Adds what is emitted next as the code of the step. */
void wmi_stretch_note(struct wmi_stretch *s, struct wmi_reentries *reentries, size_t step);
/* Stores what is dirty and may still be read by a wave that goes on at the step `target`: temporary rows, if
 * the step `next` follows. */
void wmi_stretch_flush(struct wmi_stretch *s, size_t next, size_t target);

/* For a jump that has been emitted, before the current step has used a register: the wave goes on at the step
 * without rows in runs. */
void wmi_stretch_split_at(struct wmi_stretch *s, size_t jump);
/* The registers hold what they held there. */
void wmi_stretch_go_back(struct wmi_stretch *s, const struct wmi_split *split);

/* Loops keep rows in registers: what is held at the end of the first iteration is held at the start of all
 * others, except temporary rows, which no iteration takes from another one. */
void wmi_stretch_keep(struct wmi_stretch *s, struct wmi_kept *kept);
/* Makes the registers hold what they held then. */
void wmi_stretch_match(struct wmi_stretch *s, const struct wmi_kept *kept);

/* Whether RAX is the EXEC words in front of what is emitted next. */
bool wmi_stretch_has_exec(const struct wmi_stretch *s);

#endif
