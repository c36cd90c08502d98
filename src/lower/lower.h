/* SPDX-License-Identifier: MIT */
/* Lowering: translates machine code to a list of steps. */
#ifndef WMI_LOWER_H
#define WMI_LOWER_H

#include "lower/code.h"
#include "lower/place.h"
#include "lower/step.h"

/* Result of lowering from one address: the steps in order of their places, and the steps where branch targets
 * begin. */
struct wmi_lowered {
    struct wmi_step *steps;
    size_t count;
    struct wmi_leader {
        uint64_t place;
        size_t step;
    } *leaders;
    size_t leader_count;
    struct wmi_leader *resumes; /* of resumable programs: where a wave goes on behind a pause */
    size_t resume_count, resume_capacity;
};

/* Lowers up to `limit` instructions that are reachable from the place `entry` through direct branches and are
 * not in `known`. False if out of memory. The caller frees with wmi_lowered_free(). */
bool wmi_lower(struct wmi_code *code, uint64_t entry, const struct wmi_place_map *known, size_t limit,
               struct wmi_lowered *lowered);
void wmi_lowered_free(struct wmi_lowered *lowered);

/* Number of counters in wmi_worker.executed. Exact instructions count at their enum wmi_insn_id, those with
 * wmi_fidelities[i] at WMI_INSN_COUNT + i. */
size_t wmi_execution_counters(void);

#endif
