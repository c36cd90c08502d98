/* SPDX-License-Identifier: MIT */
/* Where stretches begin and end. */
#ifndef WMI_CUT_H
#define WMI_CUT_H

#include "jit/stretch.h"

enum { WMI_MOST_STEPS = 512 }; /* where a stretch ends at the latest */

/* The function that emits the step, or NULL. */
wmi_emit_step *wmi_step_emitter(const struct wmi_step *step);
bool wmi_ends_wave(const struct wmi_step *step);
/* Whether the stretch goes on behind the branch, because it leads ahead and may not be taken. */
bool wmi_falls_through(const struct wmi_block *block, size_t at, const struct wmi_op *target);
/* The end of the stretch that begins at `from`. */
size_t wmi_stretch_end(const struct wmi_block *block, size_t from);
/* The step behind the one that is compiled here, and behind the one that it skips. */
size_t wmi_next_step(const struct wmi_block *block, size_t at);
/* How many steps from here on must stay as they are: a step that executes the next one, and the return to it.
 */
unsigned wmi_steps_taken(const struct wmi_block *block, size_t at);
/* Whether a stretch that is worth its entry begins at the step. */
bool wmi_begins_stretch(const struct wmi_block *block, size_t at);
/* Whether code for waves that start ends before the step. It goes on where branches lead, too, but
 * not into loops. */
bool wmi_ends_launch(const struct wmi_stretch *s, size_t at);
/* Whether waves start in the block and stay in it. *head: the first step to which a branch leads back; each
 * step before it is executed at most once, in the order of steps. */
bool wmi_is_closed(const struct wmi_block *block, size_t *head);

#endif
