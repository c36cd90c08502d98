/* SPDX-License-Identifier: MIT */
/* Waves of a run that can be stopped go over from one program to another: where nothing can stop them, they
 * execute code without steps that hold them, which may be compiled. All these programs are resumable (see
 * wmi_code_options), have the same frames, and end time slices at the same branches. */
#ifndef WMI_SWITCH_H
#define WMI_SWITCH_H

#include "exec/run/wave.h"

/* Puts the wave into the program that the holder wants for its next instructions, of a dispatch that has a
 * holder: before a time slice; and before it is found out whether the wave waits. */
void wmi_wave_choose(struct wmi_wave *wave, uint64_t instructions);
void wmi_wave_choose_to_probe(struct wmi_wave *wave);

/* The step at which a wave that was held at `op` goes on, in the program that the holder wants. */
const struct wmi_op *wmi_wave_go_on(struct wmi_wave *wave, const struct wmi_op *op);

/* Forgets what compiled code has kept in the frame. */
void wmi_wave_forget_compiled(struct wmi_wave *wave);

/* Instructions that the wave has executed before the one at its pc, wherever in a block that is. */
uint64_t wmi_wave_executed_before(struct wmi_wave *wave, uint64_t pc);

#endif
