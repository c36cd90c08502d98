/* SPDX-License-Identifier: MIT */
/* Detects waves that only wait: they repeat a loop that only a change in memory can end. */
#ifndef WMI_WAITING_H
#define WMI_WAITING_H

#include "exec/run/wave.h"

enum {
    WMI_WAITING_BRANCHES = 8, /* maximum taken branches in one iteration of such a loop */
    WMI_PROBED_BRANCHES = 4 * WMI_WAITING_BRANCHES + 1, /* to which wmi_wave_waits() runs the wave, at most */
};

/* State of a worker that examines its waves. */
struct wmi_probe {
    /* Runs the wave to its next taken branch or s_sleep, or to its end. */
    void (*run)(struct wmi_wave *wave);
    size_t vgpr_offset, vgpr_bytes;
    unsigned char *vgprs; /* vgpr_bytes bytes */
    const struct wmi_op *start;
    uint32_t s[WMI_SCALARS];
    uint32_t mode;
    const struct wmi_op *visited[WMI_WAITING_BRANCHES]; /* branch targets of the iteration, `start` last */
    unsigned branches;
    bool progressed; /* the wave executed other code before the loop, or took another path through it */
};

/* Whether the wave returns to its current place with all registers unchanged, so that only a change of memory
 * by another wave can end the loop. Runs some iterations of the loop; the wave may end in them or reach a
 * barrier. */
bool wmi_wave_waits(struct wmi_probe *probe, struct wmi_wave *wave);

/* Whether the loop leaves memory unchanged: it has no stores, and its atomics store what they found. (They
 * returned the same value in two iterations, so the first one did not change it.) To be called after
 * wmi_wave_waits() has returned true; slow, as is wmi_waiting_pc(). */
bool wmi_waiting_changes_nothing(const struct wmi_probe *probe, const struct wmi_wave *wave);
/* The lowest branch target in the loop, which does not depend on where in the loop the wave was examined. */
uint64_t wmi_waiting_pc(const struct wmi_probe *probe, const struct wmi_wave *wave);

#endif
