/* SPDX-License-Identifier: MIT */
/* Branches, and changes of EXEC. */
#ifndef WMI_BRANCHES_H
#define WMI_BRANCHES_H

#include "jit/stretch.h"

/* Counts the block, and leaves if the branch is not taken or the turn is over. */
void wmi_put_branch(struct wmi_stretch *s, const struct wmi_op *target);
/* Counts the block, and leaves if the branch is taken. */
void wmi_put_branch_ahead(struct wmi_stretch *s, const struct wmi_op *target);
/* EXEC changes. Waves that are in code for full ones, and are not full any more, leave it for the other code.
 */
void wmi_change_exec(struct wmi_stretch *s);
/* EXEC changes in a wave that started here. It goes on if all lanes are active; or ends if none is and
 * nothing is left to do; or goes on behind the second way of two. */
void wmi_change_exec_of_started(struct wmi_stretch *s);

#endif
