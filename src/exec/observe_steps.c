/* SPDX-License-Identifier: MIT */
/* Steps that observers ask for: executions of instructions and blocks, wait counters, cache invalidations. */
#include "exec/careful.h"
#include "exec/dispatch.h"
#include "exec/steps.h"

#include <string.h>

/* The worker's counter number op->x counts an execution. */
const struct wmi_op *wmi_step_count_execution(char *restrict frame, const struct wmi_op *op)
{
    wmi_wave_of(frame)->worker->executed[op->x]++;
    return wmi_next(frame, op);
}

/* The observer sees that the wave comes to instruction number op->x. */
const struct wmi_op *wmi_step_show_instruction(char *restrict frame, const struct wmi_op *op)
{
    struct wmi_wave *wave = wmi_wave_of(frame);
    ((const struct wmi_observer *)op->data)
        ->execute(wave->worker->observer, &wave->watched, op->x, ((const struct wmi_frame *)frame)->s);
    return wmi_next(frame, op);
}

/* The wave executes block number op->x. */
static inline void count(const struct wmi_wave *wave, const struct wmi_op *op)
{
    const struct wmi_worker *worker = wave->worker;
    if (__builtin_expect(!worker->blocks[op->x]++, 0))
        worker->dispatch->observer->fetch(worker->observer, wave->index, op->x);
}

/* What it does to wait counters: value is added to them, and a and b are the most of them. */
static inline void pass(struct wmi_wave *wave, const struct wmi_op *op)
{
    const struct wmi_depth_change change = {.add = op->value, .most = op->a | (uint64_t)op->b << 32};
    memcpy(wave->entered, &wave->counters, sizeof wave->entered);
    wave->counters = wmi_depth_changed(wave->counters, change);
}

const struct wmi_op *wmi_step_count_block(char *restrict frame, const struct wmi_op *op)
{
    count(wmi_wave_of(frame), op);
    return wmi_next(frame, op);
}

const struct wmi_op *wmi_step_pass_block(char *restrict frame, const struct wmi_op *op)
{
    pass(wmi_wave_of(frame), op);
    return wmi_next(frame, op);
}

const struct wmi_op *wmi_step_count_and_pass_block(char *restrict frame, const struct wmi_op *op)
{
    struct wmi_wave *wave = wmi_wave_of(frame);
    pass(wave, op);
    count(wave, op);
    return wmi_next(frame, op);
}

/* The observer sees which caches an instruction invalidates. */
const struct wmi_op *wmi_step_show_invalidation(char *restrict frame, const struct wmi_op *op)
{
    const struct wmi_memory_op *m = op->data;
    const struct wmi_wave *wave = wmi_wave_of(frame);
    struct wmi_access access;
    wmi_access_begin(&access, m, wave, 0);
    wmi_show_access(wave, m, &access);
    return op + 1;
}
