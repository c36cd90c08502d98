/* SPDX-License-Identifier: MIT */
/* Compiles the stretches of a program and makes their steps lead to the code. */
#include "jit/branches.h"
#include "jit/cut.h"
#include "jit/exits.h"
#include "jit/find_live.h"
#include "jit/find_uniform.h"
#include "jit/guess.h"
#include "jit/halves.h"
#include "jit/host_memory.h"
#include "jit/next_wave.h"
#include "jit/parts.h"
#include "jit/runs.h"
#include "jit/same.h"

#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 32 << 20 }; /* of host code; what is left is interpreted */

/* The vector instructions to compile to, or NULL. A build of one level has it in the place of the lowest one,
 * so that the host alone decides. */
static const struct wmi_vector_set *vectors_for(enum wmi_cpu_level level)
{
#if defined(__x86_64__)
    const bool has_avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                            __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
    const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                          __builtin_cpu_supports("f16c") && __builtin_cpu_supports("bmi") &&
                          __builtin_cpu_supports("bmi2");
#ifndef WMI_X86_LEVELS
    level = has_avx512 ? WMI_CPU_AVX512 : WMI_CPU_AVX2;
#endif
    if (level == WMI_CPU_AVX512 && has_avx512)
        return &wmi_avx512;
    return level == WMI_CPU_AVX2 && has_avx2 ? &wmi_avx2 : NULL;
#else
    (void)level;
    return NULL;
#endif
}

bool wmi_can_compile_stretches(enum wmi_cpu_level level)
{
    return vectors_for(level) != NULL;
}

/* ---- steps ---- */

/* Whether the kernel starts with this stretch. */
static bool is_entry(const struct wmi_stretch *s)
{
    return &s->block->ops[s->from] == s->block->entry;
}

enum outcome { REACHES_END, BRANCHES, ALWAYS_LEAVES };

/* The code of a step that is no branch and does not change EXEC. */
static bool put_step(struct wmi_stretch *s, const struct wmi_step *step)
{
    if (s->version == WMI_LAUNCH ? wmi_runs_emit(s, step) : wmi_same_emit(s, step))
        return true;
    return wmi_step_emitter(step)(s, step);
}

/* The code of the steps from the current one up to the end, or to a branch that is likely to be taken. */
static enum outcome put_steps(struct wmi_stretch *s)
{
    for (; s->at < s->end && !s->failed; s->at++) {
        const struct wmi_step *step = &s->block->steps[s->at];
        if (s->version == WMI_LAUNCH && wmi_ends_launch(s, s->at)) {
            s->end = s->at;
            break;
        }
        if (s->has_points)
            wmi_stretch_note(s, &s->points, s->at);
        if (wmi_put_halves(s))
            continue;
        if (wmi_is_branch(step)) {
            const struct wmi_op *target = wmi_branch_target(s->block, s->at);
            if (!wmi_falls_through(s->block, s->at, target))
                return BRANCHES;
            wmi_put_branch_ahead(s, target);
        } else if (step->id == WMI_STEP_stage_EXEC && s->version == WMI_LAUNCH) {
            wmi_change_exec_of_started(s);
        } else if (step->id == WMI_STEP_stage_EXEC) {
            wmi_change_exec(s);
        } else if (!put_step(s, step)) {
            wmi_stretch_exit_here(s, wmi_jump(&s->host));
            wmi_stretch_end_step(s);
            if (s->version == WMI_LAUNCH) /* nothing comes back */
                return ALWAYS_LEAVES;
            wmi_stretch_forget(s);
            wmi_stretch_come_back(s);
        }
        wmi_stretch_end_step(s);
    }
    return REACHES_END;
}

/* A block that branches to itself: the first iteration finds out what is worth a register, the others keep it
 * there. */
static void put_loop(struct wmi_stretch *s, const struct wmi_op *target)
{
    struct wmi_kept kept;
    wmi_put_branch(s, target);
    wmi_stretch_keep(s, &kept);
    const size_t head = s->host.count;
    s->at = s->from;
    put_steps(s);
    wmi_put_branch(s, target);
    wmi_stretch_match(s, &kept);
    wmi_jump_back(&s->host, head);
}

/* Where a wave goes from the end of a version. */
static void put_end(struct wmi_compilation *c)
{
    struct wmi_stretch *s = &c->stretch;
    const bool ends = wmi_ends_wave(&s->block->steps[s->end]);
    wmi_stretch_flush(s, s->end, s->end);
    if (s->version == WMI_LAUNCH && ends) {
        wmi_stretch_restore_spilled(s);
        wmi_put_next_wave(s, s->end);
    } else if (s->version == WMI_LAUNCH) {
        wmi_set_pristine(s, s->left_behind);
    }
    if (s->block->steps[s->end].id == WMI_STEP_barrier)
        wmi_put_barrier(c, &s->block->ops[s->end], s->partial);
    else if (wmi_is_jump(&s->block->steps[s->end]))
        wmi_put_jump(c, &s->block->ops[s->end], s->partial);
    else
        wmi_go_to(c, &s->block->ops[s->end], s->partial);
}

/* Whether the version ends with a branch to its beginning. */
static bool is_loop(const struct wmi_stretch *s)
{
    const struct wmi_step *last = &s->block->steps[s->end - 1];
    return s->version != WMI_LAUNCH && wmi_is_branch(last) &&
           wmi_branch_target(s->block, s->end - 1) == &s->block->ops[s->from];
}

/* The code from the current step to where the wave leaves the version. */
static void put_rest(struct wmi_compilation *c)
{
    struct wmi_stretch *s = &c->stretch;
    const enum outcome outcome = put_steps(s);
    if (outcome == REACHES_END)
        put_end(c);
    if (outcome != BRANCHES)
        return;
    const struct wmi_op *target = wmi_branch_target(s->block, s->at);
    if (is_loop(s)) {
        put_loop(s, target);
        return;
    }
    wmi_put_branch(s, target); /* the step behind it may read temporary rows, and the target none */
    wmi_stretch_flush(s, s->block->count, wmi_step_number(s->block, target));
    if (s->version == WMI_LAUNCH)
        wmi_set_pristine(s, s->left_behind);
    wmi_go_to(c, target, s->partial);
}

/* The code for waves of the kind; exits and reentries are left to be put. */
static void put_version(struct wmi_compilation *c, enum wmi_version version)
{
    struct wmi_stretch *s = &c->stretch;
    s->version = version;
    s->partial = version == WMI_PARTIAL;
    s->checked.is_valid = false;
    wmi_stretch_forget(s);
    if (version != WMI_LAUNCH)
        wmi_put_resumption(c, s->partial);
    if (s->partial)
        wmi_load_exec(s);
    if (version != WMI_LAUNCH) {
        *(s->partial ? &c->places[s->from].partial : &c->places[s->from].full) = s->host.count;
        wmi_land_waiting(c, s->from, s->partial);
    }
    s->may_hold_same = version != WMI_LAUNCH && !is_loop(s);
    s->has_same = false;
    s->at = s->from;
    put_rest(c);
    s->may_hold_same = false;
    for (size_t i = 0; i < s->split_count && !s->failed; i++) {
        const struct wmi_split split = s->splits[i];
        wmi_land(&s->host, split.jump);
        wmi_stretch_go_back(s, &split);
        put_rest(c);
    }
    s->split_count = 0;
}

static void add_patch(struct wmi_compilation *c, size_t step)
{
    if (!wmi_grow(&c->patches, &c->patch_capacity, c->patch_count, sizeof *c->patches)) {
        c->stretch.failed = true;
        return;
    }
    c->patches[c->patch_count++] = (struct wmi_patch){step, c->stretch.host.count};
}

/* The version for full waves once more, for those that leave the code for waves that start: at any step,
 * while the other one has sequences of half strips. */
static void put_points(struct wmi_compilation *c)
{
    struct wmi_stretch *s = &c->stretch;
    const size_t reentries = s->reentries.count, full = c->places[s->from].full;
    s->has_points = true;
    put_version(c, WMI_FULL);
    s->has_points = false;
    s->reentries.count = reentries;
    c->places[s->from].full = full;
}

static void put_stretch(struct wmi_compilation *c)
{
    struct wmi_stretch *s = &c->stretch;
    s->exit_count = s->reentries.count = s->points.count = s->rejoins.count = 0;
    add_patch(c, s->from);
    const size_t inactive = wmi_put_check(s, s->from);
    const bool has_halves = s->halves.rows;
    s->has_points = is_entry(s) && !has_halves;
    put_version(c, WMI_FULL);
    s->has_points = false;
    const size_t of_full = c->full_reentries = s->reentries.count;
    wmi_land(&s->host, inactive);
    put_version(c, WMI_PARTIAL);
    if (is_entry(s) && has_halves)
        put_points(c);
    wmi_stretch_put_asides(s);
    for (size_t i = 0; i < s->exit_count; i++)
        wmi_put_exit(c, &s->exits[i]);
    for (size_t step = s->from + 1; step < s->end; step++) {
        const struct wmi_reentry *full = wmi_find_reentry(&s->reentries, 0, of_full, step),
                                 *partial =
                                     wmi_find_reentry(&s->reentries, of_full, s->reentries.count, step);
        if (!partial)
            continue;
        add_patch(c, step);
        const size_t to_partial = wmi_put_check(s, step);
        if (full)
            wmi_put_reentry(s, full, false);
        wmi_land(&s->host, to_partial);
        wmi_put_reentry(s, partial, true); /* of full waves too, if they have no code of their own here */
    }
}

/* The first stretch of the kernel for waves that start in it. Others go to its usual code. */
static void put_launch(struct wmi_compilation *c, enum wmi_launch_code kind)
{
    struct wmi_stretch *s = &c->stretch;
    s->exit_count = 0;
    s->whole_waves = kind == WMI_LAUNCH_WAVES;
    c->launch[kind] = s->host.count;
    const size_t inactive = wmi_put_check(s, s->from);
    wmi_set_pristine(s, WMI_PRISTINE);
    s->end = s->block->count - 1;
    wmi_spread_begin(&s->host);
    wmi_put_worker(s);
    const size_t restarts = wmi_put_next_start(s);
    s->launch_begin = s->host.count;
    put_version(c, WMI_LAUNCH);
    wmi_stretch_put_asides(s);
    for (size_t i = 0; i < s->exit_count; i++)
        wmi_put_exit(c, &s->exits[i]);
    if (restarts)
        wmi_put_restarts(s, restarts);
    wmi_land(&s->host, inactive);
    wmi_continue_at(s, &s->block->ops[s->from]);
}

static void put_all(struct wmi_compilation *c)
{
    struct wmi_stretch *s = &c->stretch;
    const struct wmi_block *block = s->block;
    wmi_put_64(&s->host, 0); /* where UBSan looks for the type of the first function */
    wmi_exits_begin(c);
    for (size_t i = 0; i + 1 < block->count && s->host.count < MOST_BYTES && !s->failed && !s->host.full;) {
        const unsigned taken = wmi_steps_taken(block, i);
        if (taken) {
            i += taken;
            continue;
        }
        const size_t end = wmi_stretch_end(block, i);
        if (wmi_begins_stretch(block, i)) {
            s->from = i;
            s->end = end;
            put_stretch(c);
            for (unsigned kind = 0; is_entry(s) && kind < WMI_LAUNCHES; kind++)
                put_launch(c, (enum wmi_launch_code)kind);
        }
        i = end > i ? end : i + 1;
    }
    wmi_put_missed(c);
}

static void set_launch(const struct wmi_compilation *c, const unsigned char *code,
                       struct wmi_launch_entries *launch)
{
    const struct wmi_stretch *s = &c->stretch;
    bool has_some = false;
    for (unsigned i = 0; i < WMI_LAUNCHES; i++) {
        if (!c->launch[i])
            continue;
        launch->body[i] = wmi_body_at(code, c->launch[i]);
        has_some = true;
    }
    if (has_some)
        launch->rows = wmi_live_rows(s->live, s->block, (size_t)(s->block->entry - s->block->ops));
}

/* Compiles the block; what it needs in memory is freed by the caller. */
static bool compile(struct wmi_compilation *c, const struct wmi_block *block, struct wmi_host_memory **memory,
                    struct wmi_launch_entries *launch, bool *refused)
{
    struct wmi_stretch *s = &c->stretch;
    s->guess = malloc(block->count);
    c->lds.number = malloc(block->count);
    c->lds.mask = malloc(block->count);
    c->places = calloc(block->count, sizeof *c->places);
    if (!s->guess || !c->lds.number || !c->lds.mask || !c->places)
        return false;
    wmi_guess_strides(block, s->guess);
    wmi_plan_lds(block, s->guess, &c->lds);
    s->lds = &c->lds;
    s->block = block;
    s->host.vectors = vectors_for(block->level);
    if (s->host.vectors->begin_halves && !(s->halves.rows = calloc(1, sizeof *s->halves.rows)))
        return false;
    s->lanes = block->code->options.lanes;
    s->strips = s->lanes / WMI_STRIP_LANES;
    s->row_bytes = block->code->row_bytes;
    s->left_behind = wmi_find_left_behind(s);
    put_all(c);
    if (s->failed || s->host.full)
        return false;
    if (!c->patch_count)
        return true;
    if (!wmi_publish_code(&s->host, block, c->patches, c->patch_count, memory, refused))
        return false;
    set_launch(c, (*memory)->code, launch);
    return true;
}

bool wmi_compile_stretches(const struct wmi_block *block, struct wmi_host_memory **memory,
                           struct wmi_launch_entries *launch, bool *refused)
{
    struct wmi_compilation *c = calloc(1, sizeof *c);
    if (!c)
        return false;
    struct wmi_live *live = wmi_find_live(block);
    struct wmi_uniform *uniform = wmi_find_uniform(block, live);
    c->stretch.live = live;
    c->stretch.uniform = uniform;
    const bool ok = compile(c, block, memory, launch, refused);
    free(c->stretch.guess);
    free(c->stretch.halves.rows);
    free(c->lds.number);
    free(c->lds.mask);
    wmi_live_free(live);
    wmi_uniform_free(uniform);
    free(c->stretch.host.bytes);
    free(c->stretch.asides);
    free(c->stretch.aside_jumps);
    free(c->stretch.aside_bytes.bytes);
    free(c->stretch.exits);
    free(c->stretch.reentries.one);
    free(c->stretch.points.one);
    free(c->stretch.splits);
    free(c->stretch.rejoins.one);
    free(c->patches);
    free(c->places);
    free(c->waiting);
    free(c);
    return ok;
}
