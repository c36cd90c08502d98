/* SPDX-License-Identifier: MIT */
/* Saves and restores the state of a dispatch with one thread between visits of its workgroups: registers, LDS
 * and waiting of all unfinished workgroups, and which ones come next. */
#ifndef WMI_CHECKPOINT_H
#define WMI_CHECKPOINT_H

#include "exec/run/executor.h"

struct wm_checkpoint;

/* Whether all state is among what is saved. */
bool wmi_checkpoint_is_possible(const struct wmi_executor *executor);
/* NULL: no memory, or a wave waits within an instruction. */
struct wm_checkpoint *wmi_checkpoint_save(struct wmi_executor *executor);
/* Whether it is of the same kernel and grid. */
bool wmi_checkpoint_fits(const struct wmi_executor *executor, const struct wm_checkpoint *checkpoint);
/* Of an executor that has not begun a workgroup. False: no memory; the dispatch must not go on. */
bool wmi_checkpoint_restore(struct wmi_executor *executor, const struct wm_checkpoint *checkpoint);
size_t wmi_checkpoint_bytes(const struct wm_checkpoint *checkpoint);
void wmi_checkpoint_free(struct wm_checkpoint *checkpoint);

#endif
