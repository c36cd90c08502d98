/* SPDX-License-Identifier: MIT */
/* A wave that ends in the code in which it started starts the next wave of its workgroup, and the last one
 * the first one of the next workgroup, so that waves of short kernels need not go through the executor one by
 * one. See run_started() in exec/turns.c. */
#ifndef WMI_NEXT_WAVE_H
#define WMI_NEXT_WAVE_H

#include "compile/stretch.h"

/* Where a wave ends by the step `end` in the version for waves that start: counts its instructions, gives the
 * next wave the state of a start and jumps to the beginning of the version. What follows is for waves that
 * have none, or whose next one must be started by the executor. */
void wmi_put_next_wave(struct wmi_stretch *s, size_t end);

#endif
