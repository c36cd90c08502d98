/* SPDX-License-Identifier: MIT */
/* Control flow that the executor starts itself. */
#ifndef WMI_FLOW_STEPS_H
#define WMI_FLOW_STEPS_H

#include "exec/run/wave.h"

/* Continues with wave->resume. */
const struct wmi_op *wmi_resume_wave(char *restrict frame, const struct wmi_op *op);

/* The step at which a wave resumes that has reached s_barrier while it had a successor. Compiled code stores
 * its own resume address, in front of which lies the address of that step. */
static inline const struct wmi_op *wmi_wave_next_step(const struct wmi_wave *wave)
{
    const wmi_body code = wave->frame->goes_on;
    const struct wmi_op *step = wave->resume;
    if (code != wmi_resume_wave)
        memcpy(&step, (const char *)(uintptr_t)code - sizeof step, sizeof step);
    return step;
}

#endif
