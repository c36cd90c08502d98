/* SPDX-License-Identifier: MIT */
/* Lowering: from machine code to the list of steps that execute it. */
#ifndef WMI_LOWER_H
#define WMI_LOWER_H

#include "lower/code.h"
#include "lower/place.h"
#include "lower/step.h"

/* What was lowered from one address: the steps in the order of their places, and where those begin that a
 * branch can lead to. */
struct wmi_lowered {
    struct wmi_step *steps;
    size_t count;
    struct wmi_leader {
        uint64_t place;
        size_t step;
    } *leaders;
    size_t leader_count;
};

/* Lowers up to `limit` instructions that direct branches reach from the place `entry` and that are not in
 * `known`. False: no memory. The caller frees with wmi_lowered_free(). */
bool wmi_lower(struct wmi_code *code, uint64_t entry, const struct wmi_place_map *known, size_t limit,
               struct wmi_lowered *lowered);
void wmi_lowered_free(struct wmi_lowered *lowered);

/* How many counters wmi_worker.executed has: what is exact is counted at its enum wmi_insn_id, what
 * wmi_fidelities[i] is about at WMI_INSN_COUNT + i. */
size_t wmi_execution_counters(void);

#endif
