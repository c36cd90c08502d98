/* SPDX-License-Identifier: MIT */
/* Steps for observers: counts of instructions and blocks, wait counters, and events. */
#include "exec/control/frame_words.h"
#include "exec/control/steps.h"
#include "exec/memory/careful.h"
#include "exec/observe/show.h"
#include "exec/run/dispatch.h"
#include "exec/run/program.h"

#include <string.h>

/* Increments the worker's execution counter op->x. */
const struct wmi_op *wmi_step_count_execution(char *restrict frame, const struct wmi_op *op)
{
    wmi_wave_of(frame)->worker->executed[op->x]++;
    return wmi_next(frame, op);
}

/* Reports that the wave is about to execute instruction number op->x. */
const struct wmi_op *wmi_step_show_instruction(char *restrict frame, const struct wmi_op *op)
{
    struct wmi_wave *wave = wmi_wave_of(frame);
    ((const struct wmi_observer *)op->data)
        ->execute(wave->worker->observers[op->y], &wave->watched[op->y], op->x,
                  ((const struct wmi_frame *)frame)->s);
    return wmi_next(frame, op);
}

/* Runs the shadow execution of the instruction, step by step, before the wave executes it. */
static __attribute__((noinline)) const struct wmi_op *run_shadow(char *frame, const struct wmi_op *op)
{
    struct wmi_wave *wave = wmi_wave_of(frame);
    void **watched = &wave->watched[op->y];
    if (op->a) {
        *watched = NULL;
        return op + 1;
    }
    char *shadow = ((const struct wmi_observer *)op->data)
                       ->shadow(wave->worker->observers[op->y], watched, op->x, frame, &wave->worker->layout);
    for (uint64_t left = shadow ? op->d | (uint64_t)op->e << 32 : 0; left; left &= left - 1) {
        const struct wmi_op alone[2] = {op[1 + __builtin_ctzll(left)], {.body = wmi_step_return_to_loop}};
        alone->body(shadow, alone);
    }
    return op + 1;
}

const struct wmi_op *wmi_step_show_shadow(char *restrict frame, const struct wmi_op *op)
{
    if (__builtin_expect(wmi_wave_of(frame)->watched[op->y] != NULL, 0) ||
        ((const struct wmi_observer *)op->data)->shadows_always)
        return run_shadow(frame, op);
    return wmi_next(frame, op);
}

/* Reports the first execution of a block whose counter is 0. */
static __attribute__((noinline)) void fetch(const struct wmi_wave *wave, uint32_t block)
{
    const struct wmi_worker *worker = wave->worker;
    const struct wmi_observers *observers = &worker->dispatch->observers;
    for (unsigned i = 0; i < observers->count; i++)
        if (observers->one[i]->fetch)
            observers->one[i]->fetch(worker->observers[i], wave->index, block);
}

/* Counts an execution of block number op->x. */
static inline void count(const char *restrict at, const struct wmi_op *op)
{
    const struct wmi_frame *frame = (const struct wmi_frame *)at;
    const struct wmi_wave *wave = frame->wave;
    struct wmi_block_counter *counter = &wave->worker->blocks[op->x];
    counter->lanes += frame->exec.full ? frame->wave_size : (unsigned)__builtin_popcountll(frame->exec.bits);
    if (__builtin_expect(!counter->times++, 0))
        fetch(wave, op->x);
}

/* Updates the wait counters at the end of a block: adds `value`, and limits them to a and b. */
static inline void pass(struct wmi_wave *wave, const struct wmi_op *op)
{
    const struct wmi_depth_change change = {.add = op->value, .most = op->a | (uint64_t)op->b << 32};
    memcpy(wave->entered, &wave->counters, sizeof wave->entered);
    wave->counters = wmi_depth_changed(wave->counters, change);
}

const struct wmi_op *wmi_step_count_block(char *restrict frame, const struct wmi_op *op)
{
    count(frame, op);
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
    count(frame, op);
    return wmi_next(frame, op);
}

/* Reports that the instruction whose access the observer was shown has completed. */
const struct wmi_op *wmi_step_show_done(char *restrict frame, const struct wmi_op *op)
{
    const struct wmi_worker *worker = wmi_wave_of(frame)->worker;
    worker->dispatch->observers.one[op->y]->done(worker->observers[op->y]);
    return wmi_next(frame, op);
}

void wmi_show_event(const struct wmi_worker *worker, const struct wmi_workgroup *group,
                    const struct wmi_wave *wave, struct wm_event *event)
{
    const struct wmi_observers *observers = &worker->dispatch->observers;
    memcpy(event->workgroup, group->id, sizeof event->workgroup);
    event->wave = wave ? wave->index : 0;
    event->lanes = wave ? wave->frame->exec.bits : 0;
    for (unsigned i = 0; i < observers->count; i++)
        if (observers->one[i]->events & event->kind)
            observers->one[i]->event(worker->observers[i], event);
}

static const struct wmi_target *target_of(const char *frame)
{
    return wmi_program_code(wmi_wave_of(frame)->group->dispatch->program)->options.target;
}

static struct wm_message message_of(const char *frame, uint32_t id)
{
    const struct wmi_target *target = target_of(frame);
    return (struct wm_message){
        .id = id,
        .m0 = ((const struct wmi_frame *)frame)->s[WMI_S_M0],
        .name = wmi_message_name(target, id),
        .operation = wmi_message_operation_name(target, id),
    };
}

const struct wmi_op *wmi_step_show_export(char *restrict frame, const struct wmi_op *op)
{
    const struct wmi_wave *wave = wmi_wave_of(frame);
    const uint32_t rows[4] = {op->a, op->b, op->c, op->d};
    struct wm_event event = {.kind = WM_EVENT_EXPORT, .pc = op->value};
    event.exported = (struct wm_export){
        .target = op->e,
        .name = wmi_export_target_name(target_of(frame), op->e),
        .components = op->x,
        .wave_size = ((const struct wmi_frame *)frame)->wave_size,
        .compressed = op->y & WMI_EXPORT_COMPRESSED,
        .done = op->y & WMI_EXPORT_DONE,
        .valid_mask = op->y & WMI_EXPORT_VALID_MASK,
        .row = op->y & WMI_EXPORT_ROW,
        .m0 = ((const struct wmi_frame *)frame)->s[WMI_S_M0],
    };
    for (unsigned i = 0; i < 4; i++)
        if (rows[i])
            event.exported.values[i] = (const uint32_t *)(const void *)(frame + rows[i]);
    wmi_show_event(wave->worker, wave->group, wave, &event);
    return op + 1;
}

static int32_t barrier_number(const char *frame, const struct wmi_op *op)
{
    switch (op->y) {
    case WMI_BARRIER_IN_M0:
        return (int32_t)(((const struct wmi_frame *)frame)->s[WMI_S_M0] & 0x1f);
    case WMI_BARRIER_JOINED:
        return wmi_wave_of(frame)->joined;
    default:
        return (int32_t)op->a;
    }
}

const struct wmi_op *wmi_step_show_event(char *restrict frame, const struct wmi_op *op)
{
    const struct wmi_wave *wave = wmi_wave_of(frame);
    struct wm_event event = {.kind = (enum wm_event_kind)op->x, .pc = op->value};
    switch (event.kind) {
    case WM_EVENT_BLOCK:
        event.block_end = op->value + op->a;
        break;
    case WM_EVENT_BARRIER_ARRIVE:
    case WM_EVENT_BARRIER_LEAVE:
        event.barrier = (struct wm_barrier){.number = barrier_number(frame, op), .waits = op->b};
        if (event.barrier.number == WM_BARRIER_CLUSTER && !wave->group->cluster)
            return op + 1; /* it does nothing */
        break;
    case WM_EVENT_CACHE:
        event.cache = (struct wm_cache_control){.operations = op->a,
                                                .caches = op->b,
                                                .scope = (enum wm_scope)op->c,
                                                .policy = op->e,
                                                .volatile_only = op->y};
        break;
    case WM_EVENT_MESSAGE:
        event.message = message_of(frame, op->a);
        break;
    default:
        break;
    }
    wmi_show_event(wave->worker, wave->group, wave, &event);
    return op + 1;
}

/* Reports which caches an instruction invalidates. */
const struct wmi_op *wmi_step_show_invalidation(char *restrict frame, const struct wmi_op *op)
{
    const struct wmi_memory_op *m = op->data;
    const struct wmi_wave *wave = wmi_wave_of(frame);
    struct wmi_access access;
    wmi_access_begin(&access, m, wave, 0);
    wmi_show_access(wave, m, &access);
    return op + 1;
}
