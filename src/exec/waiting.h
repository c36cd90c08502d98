/* SPDX-License-Identifier: MIT */
/* Finds out whether a wave only waits: goes round in a loop that leads nowhere until memory changes. */
#ifndef WMI_WAITING_H
#define WMI_WAITING_H

#include "exec/wave.h"

enum { WMI_WAITING_BRANCHES = 8 }; /* taken branches of one round of such a loop, at most */

/* What a worker needs to look at its waves. */
struct wmi_probe {
    /* Runs the wave to its next taken branch or s_sleep, or to its end. */
    void (*run)(struct wmi_wave *wave);
    size_t vgpr_offset, vgpr_bytes;
    unsigned char *vgprs; /* vgpr_bytes of them */
    const struct wmi_op *start;
    uint32_t s[WMI_SCALARS];
    uint32_t mode;
    const struct wmi_op *visited[WMI_WAITING_BRANCHES]; /* where the round led, `start` last */
    unsigned branches;
    bool moved; /* it did other things before it came to that loop, or round it another way */
};

/* Whether the wave came back to where it is now with every register as it was. Then only memory can lead it
 * out, and only another wave can change that: itself it would do the same again. Runs some rounds of the
 * loop; the wave may end in it, or meet a barrier. */
bool wmi_wave_waits(struct wmi_probe *probe, struct wmi_wave *wave);

/* After wmi_wave_waits() said yes; both are slow.
 * Whether the loop changes nothing for others either: it has no stores, and its atomics return what they
 * found. (That was the same in two rounds, so the first of them left what it found.) */
bool wmi_waiting_changes_nothing(const struct wmi_probe *probe, const struct wmi_wave *wave);
/* The lowest address that the loop branches to: the same wherever in the loop the wave was looked at. */
uint64_t wmi_waiting_pc(const struct wmi_probe *probe, const struct wmi_wave *wave);

#endif
