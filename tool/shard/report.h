/* SPDX-License-Identifier: MIT */
/* Reports of parts: what the shards of `run` and `check` say, and that of the whole job from them. */
#ifndef WAVEMEM_TOOL_SHARD_REPORT_H
#define WAVEMEM_TOOL_SHARD_REPORT_H

#include "tool/arguments/job.h"
#include "tool/shard/part.h"

/* What a shard of `check` found, for the head of its part: {classes, findings, coverage, unchecked}. The
 * three arguments are those of tool_check_show(). */
json_t *tool_part_findings(const struct tool_job *job, struct wm_check *check, const json_t *findings,
                           const json_t *coverage, const json_t *unchecked);

/* What the parts found together. The arrays are owned. */
struct part_findings {
    unsigned classes; /* enum wm_check_what */
    json_t *findings, *coverage, *unchecked;
};

/* False, after a message: a part is damaged. Free it in any case. */
bool part_merge_findings(struct part_findings *merged, const struct part *parts, size_t count);
void part_findings_free(struct part_findings *merged);
/* Takes away the findings of uninitialised values, and returns how many they were. */
size_t part_drop_uninit(struct part_findings *merged);

/* Adds the dispatches of the parts to the report, as one machine would have run them, and what was incomplete
 * in any; prints faults and warnings. Returns the exit code; TOOL_WRONG after a message: a part is damaged.
 */
int part_merge_dispatches(const struct part *parts, size_t count, json_t *report);

#endif
