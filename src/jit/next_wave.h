/* SPDX-License-Identifier: MIT */
/* A wave that ends in the code in which it started starts the next wave of its workgroup, and the last one
 * the first one of the next workgroup, so that waves of short kernels need not go through the executor one by
 * one. So does a wave that has left that code and ends in other code of the program. Frames whose VGPRs and
 * other state such waves have changed are restored in full. See run_started() in exec/run/slices.c. */
#ifndef WMI_NEXT_WAVE_H
#define WMI_NEXT_WAVE_H

#include "jit/stretch.h"

/* What waves leave behind that leave the code in which they started. */
enum wmi_pristine wmi_find_left_behind(const struct wmi_stretch *s);
/* In the code for waves that start, in front of its beginning: notes where the next wave is to be started,
 * which wmi_put_restarts() puts. 0: no wave can be. */
size_t wmi_put_next_start(struct wmi_stretch *s);
void wmi_put_restarts(struct wmi_stretch *s, size_t next_start);
/* Where a wave ends by the step `end` in the version for waves that start: counts its instructions, gives the
 * next wave the state of a start and jumps to the beginning of the version. What follows is for waves that
 * have none, or whose next one must be started by the executor. */
void wmi_put_next_wave(struct wmi_stretch *s, size_t end);

#endif
