/* SPDX-License-Identifier: MIT */
/* Compiles runs of steps that have an expansion, part by part. A wave enters a run at its first step, and
 * goes on with the step behind it. */
#include "jit/parts.h"

#include "jit/emit.h"
#include "jit/expand/expand.h"
#include "jit/find_live.h"
#include "jit/host_memory.h"
#include "jit/stretch.h"

#include <stdlib.h>

enum {
    LEAST_STEPS = 2,       /* of a run that is worth its entry */
    MOST_STEPS = 128,      /* of a part */
    MOST_BYTES = 32 << 20, /* of host code; what is left is interpreted */
};

/* How many steps from here on must stay as they are: a step that executes the next one, and the return to it.
 */
static size_t taken(const struct wmi_block *block, size_t at)
{
    if (!(wmi_step_facts_of(block->steps[at].id).flags & WMI_STEP_TAKES_NEXT))
        return 0;
    return at + 2 < block->count && block->steps[at + 2].id == WMI_STEP_return_to_loop ? 3 : 2;
}

static size_t end_of_run(const struct wmi_block *block, uint64_t lacks, size_t from)
{
    size_t to = from;
    while (to + 1 < block->count && (to == from || !block->leads[to]) &&
           wmi_expands(block, lacks, &block->steps[to]))
        to++;
    return to;
}

/* The steps from *at to `to`, or as many of them as fit. False: they cannot be compiled. */
static bool put_part(struct wmi_emitter *e, struct wmi_ir_part *part, const struct wmi_live *live, size_t *at,
                     size_t to)
{
    const size_t first = *at;
    wmi_ir_part_begin(part, e->block, live);
    while (*at < to && *at - first < MOST_STEPS && wmi_ir_part_add(part, *at))
        ++*at;
    if (!wmi_ir_part_end(part, *at) || *at == first)
        return false;
    wmi_emit_ir(e, &part->ir);
    return true;
}

/* Where a branch finds its condition, and whether it is taken if that is 0. */
struct condition {
    uint32_t place;
    bool is_mask, zero;
};

static struct condition condition_of(unsigned step)
{
    const uint32_t s = offsetof(struct wmi_frame, s);
    switch (step) {
    case WMI_STEP_branch_scc0:
    case WMI_STEP_branch_scc1:
        return (struct condition){s + 4 * WMI_S_SCC, false, step == WMI_STEP_branch_scc0};
    case WMI_STEP_branch_vccz:
    case WMI_STEP_branch_vccnz:
        return (struct condition){s + 4 * WMI_S_VCC, true, step == WMI_STEP_branch_vccz};
    default:
        return (struct condition){s + 4 * WMI_S_EXEC, true, step == WMI_STEP_branch_execz};
    }
}

/* The end of a run: a branch whose time slice has ended, or whose target was not lowered, is interpreted. */
static void put_end(struct wmi_emitter *e, size_t at)
{
    const struct wmi_block *block = e->block;
    const struct wmi_step *step = &block->steps[at];
    const struct wmi_op *target = wmi_is_branch(step) ? wmi_branch_target(block, at) : NULL;
    if (target) {
        const struct condition condition = condition_of(step->id);
        const bool wide = condition.is_mask && block->code->options.lanes == 64;
        const size_t over = e->target->branch_if_slice_ends(e, step->c);
        if (step->id != WMI_STEP_branch) {
            const size_t falls = e->target->branch_if_zero(e, condition.place, wide, !condition.zero);
            e->target->leave(e, target);
            e->target->land(e, falls);
            target = &block->ops[at + 1];
        }
        e->target->leave(e, target);
        e->target->land(e, over);
    }
    e->target->leave(e, &block->ops[at]);
}

static bool put_runs(struct wmi_emitter *e, struct wmi_ir_part *part, const struct wmi_live *live,
                     struct wmi_patch *entries, size_t *entry_count)
{
    const struct wmi_block *block = e->block;
    for (size_t i = 0; i < block->count && e->host.count < MOST_BYTES;) {
        const size_t to = taken(block, i) ? i : end_of_run(block, e->target->lacks, i);
        if (to - i < LEAST_STEPS) {
            i += taken(block, i) ? taken(block, i) : to > i ? to - i : 1;
            continue;
        }
        entries[(*entry_count)++] = (struct wmi_patch){i, e->host.count};
        e->target->enter(e, &block->ops[i]);
        while (i < to)
            if (!put_part(e, part, live, &i, to))
                return false;
        put_end(e, to);
    }
    return !e->host.full;
}

static bool compile(struct wmi_emitter *e, struct wmi_ir_part *part, const struct wmi_live *live,
                    struct wmi_patch *entries, struct wmi_host_memory **memory, bool *refused)
{
    size_t entry_count = 0;
    e->target->begin(e);
    if (!put_runs(e, part, live, entries, &entry_count))
        return false;
    if (!entry_count)
        return true;
    return wmi_publish_code(&e->host, e->block, entries, entry_count, memory, refused);
}

bool wmi_compile_parts(const struct wmi_block *block, const struct wmi_ir_host *host,
                       struct wmi_host_memory **memory, bool *refused)
{
    struct wmi_emitter *e = calloc(1, sizeof *e);
    struct wmi_ir_part *part = malloc(sizeof *part);
    struct wmi_patch *entries = malloc(block->count * sizeof *entries);
    struct wmi_live *live = wmi_find_live(block);
    bool ok = e && part && entries;
    if (ok) {
        e->block = block;
        e->target = host;
        ok = compile(e, part, live, entries, memory, refused);
    }
    if (e)
        free(e->host.bytes);
    wmi_live_free(live);
    free(entries);
    free(part);
    free(e);
    return ok;
}
