/* SPDX-License-Identifier: MIT */
/* Runs the waves of a workgroup in time slices, until the workgroup ends, faults, or only waits. */
#include "exec/control/flow_steps.h"
#include "exec/observe/observed.h"
#include "exec/run/executor.h"
#include "exec/run/switch.h"

#include "arithmetic/host_float.h"
#include "base/random.h"
#include "exec/control/barriers.h"

enum {
    SLICE_GROWTH = 4,          /* factor by which a wave's slice grows each time it did not wait */
    LONGEST_SLICE = 1 << 16,   /* maximum instructions per slice */
    ROUNDS = 16,               /* rounds before an unfinished workgroup is parked */
    ABOVE_ANY_SLICE = 1 << 24, /* more instructions than any slice has */
};

static inline void set_host_mode(const struct wmi_executor *executor, const struct wmi_frame *frame)
{
    if (frame->mxcsr32 != executor->host_word)
        wmi_host_float_set(frame->mxcsr32);
}

/* Runs the wave, whose slice has begun, and then its successors. Returns the last wave that ran. */
static struct wmi_wave *run_chain(struct wmi_executor *executor, struct wmi_wave *wave)
{
    const struct wmi_op *op = wave->resume;
    struct wmi_frame *frame = wave->frame;
    set_host_mode(executor, frame);
    executor->steps.running = frame;
    do {
        op = op->body((char *)frame, op);
        frame = executor->steps.running;
    } while (op);
    executor->host_word = frame->mxcsr32;
    return frame->wave;
}

/* Adds the instructions that the wave has executed in its slice to its total, and returns their number. */
static inline uint64_t count_slice(struct wmi_wave *wave)
{
    const int64_t left = wave->frame->left;
    const uint64_t executed = (uint64_t)(wave->slice - left);
    wave->instructions += executed;
    wave->slice = left;
    return executed;
}

static inline void begin_slice(struct wmi_wave *wave, int64_t instructions)
{
    wave->slice = wave->frame->left = instructions;
}

/* Called between slices, when no wave is in the middle of an access to guest memory. */
static void let_writers_in(struct wmi_executor *executor)
{
    if (!wmi_rwlock_has_waiting_writer(executor->read_lock->rwlock))
        return;
    wmi_suspend_reading(executor);
    wmi_resume_reading(executor);
}

/* Runs the wave for so many instructions, and on to its next taken branch. */
static inline __attribute__((always_inline)) void run_slice(struct wmi_executor *executor,
                                                            struct wmi_wave *wave, int64_t instructions)
{
    struct wmi_frame *frame = wave->frame;
    const struct wmi_op *op = wave->resume;
    begin_slice(wave, instructions);
    set_host_mode(executor, frame);
    do
        op = op->body((char *)frame, op);
    while (op);
    executor->host_word = frame->mxcsr32;
    executor->instructions += count_slice(wave);
}

/* Compiles the program once enough has been executed, and faults a wave that has reached its limit. */
static inline void check_limits(struct wmi_executor *executor, struct wmi_wave *wave)
{
    const struct wmi_dispatch *dispatch = executor->steps.dispatch;
    if (__builtin_expect(executor->instructions >= executor->compile_at, 0)) {
        wmi_compile_dispatch(executor->steps.dispatch);
        executor->compile_at += WMI_INSTRUCTIONS_PER_STEP * wmi_program_steps(dispatch->program);
    }
    if (wave->state != WMI_WAVE_ENDED && wave->instructions >= dispatch->max_instructions &&
        wave->state != WMI_WAVE_FAULTED)
        wmi_wave_fault(wave, &(struct wmi_fault){.kind = WM_FAULT_BUDGET,
                                                 .pc = wmi_program_pc_of(wave->program, wave->resume),
                                                 .lanes = wave->frame->exec.bits});
}

/* Instructions of the wave's next slice. A slice that a barrier has interrupted continues behind it. */
static inline int64_t slice_of(const struct wmi_wave *wave)
{
    const int64_t left = wave->frame->left;
    return left < 0 ? wave->quantum : left;
}

/* Runs a slice, cut short by the wave's limit of instructions. */
static inline void run_wave(struct wmi_executor *executor, struct wmi_wave *wave, int64_t instructions)
{
    const uint64_t allowed = executor->steps.dispatch->max_instructions - wave->instructions;
    run_slice(executor, wave, allowed < (uint64_t)instructions ? (int64_t)allowed : instructions);
    check_limits(executor, wave);
}

void wmi_wave_run_to_branch(struct wmi_wave *wave)
{
    run_wave((struct wmi_executor *)wave->worker, wave, 0);
}

/* Rare cases are out of line, so that the loop over waves keeps its values in registers. */

/* With a seed, slices have random lengths. */
static __attribute__((noinline)) uint32_t random_slice(const struct wmi_executor *executor,
                                                       const struct wmi_wave *wave, uint64_t seed)
{
    return 1 + wmi_random_u32(seed, executor->instructions) % wave->quantum;
}

/* With a seed, waves get their slices in a random order that differs from visit to visit. Returns the wave at
 * this place of the order. */
static __attribute__((noinline)) unsigned random_wave(const struct wmi_workgroup *group, unsigned visit,
                                                      unsigned place, uint64_t seed)
{
    return (unsigned)wmi_random_order(seed + visit + (group->flat_id << 32), group->wave_count, place);
}

/* After a slice in which the wave did not end: finds out whether it only waits, and sets its next slice. */
static __attribute__((noinline)) void end_slice(struct wmi_executor *executor, struct wmi_wave *wave)
{
    begin_slice(wave, WMI_SLICE_OVER);
    if (executor->steps.dispatch->holder)
        wmi_wave_choose_to_probe(wave);
    wave->waits = wmi_wave_waits(&executor->probe, wave);
    if (wave->waits)
        wave->quantum = WMI_FIRST_SLICE;
    else if (wave->quantum < LONGEST_SLICE)
        wave->quantum *= SLICE_GROWTH;
}

/* Whether a wave that waited when its last slice ended still waits. */
static __attribute__((noinline)) bool waits(struct wmi_executor *executor, struct wmi_wave *wave)
{
    if (executor->steps.dispatch->holder)
        wmi_wave_choose_to_probe(wave);
    wave->waits = wmi_wave_waits(&executor->probe, wave);
    if (!wave->waits)
        return false;
    if (executor->probe.progressed)
        executor->progressed = true;
    else if (executor->checks && executor->only_loads)
        executor->only_loads = wmi_waiting_changes_nothing(&executor->probe, wave);
    return true;
}

/* Gives the wave a slice unless it still waits. */
static inline void give_slice(struct wmi_executor *executor, struct wmi_wave *wave, uint64_t seed)
{
    if (wave->waits && waits(executor, wave))
        return;
    executor->progressed = true;
    if (wave->state == WMI_WAVE_READY) {
        const int64_t slice = seed ? random_slice(executor, wave, seed) : slice_of(wave);
        if (executor->steps.dispatch->holder)
            wmi_wave_choose(wave, (uint64_t)slice);
        run_wave(executor, wave, slice);
    }
    if (wave->state == WMI_WAVE_READY)
        end_slice(executor, wave);
}

/* ---- chains of waves from barrier to barrier ---- */

/* Links the waves into a ring of successors, and begins their slices. Returns false if a wave is not ready,
 * or if one could reach its limit of instructions, which is `most` plus at least one slice. */
static bool link_successors(struct wmi_resident *resident, uint64_t most)
{
    const uint32_t count = resident->group.wave_count;
    for (uint32_t i = 0; i < count; i++) {
        const struct wmi_wave *wave = &resident->waves[i];
        if (wave->state != WMI_WAVE_READY || wave->waits || wave->instructions >= most)
            return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        struct wmi_wave *wave = &resident->waves[i];
        wave->frame->successor = resident->waves[i + 1 < count ? i + 1 : 0].frame;
        wave->frame->goes_on = wmi_resume_wave;
        begin_slice(wave, slice_of(wave));
    }
    return true;
}

/* A wave that is alone in its workgroup continues behind barriers by itself. */
static void set_own_successor(const struct wmi_workgroup *group)
{
    struct wmi_frame *frame = group->waves->frame;
    frame->successor = group->wave_count == 1 ? frame : NULL;
}

/* Runs all waves from barrier to barrier, until one has used up its slice or stops other than at a barrier.
 * Returns that wave, whose slice has been counted. The waves before it have reached the next barrier; the
 * others have not left the previous one. Returns NULL if the waves cannot be chained. */
static __attribute__((noinline)) struct wmi_wave *run_between_barriers(struct wmi_executor *executor,
                                                                       struct wmi_resident *resident)
{
    struct wmi_workgroup *group = &resident->group;
    const uint64_t limit = executor->steps.dispatch->max_instructions,
                   most = limit > ABOVE_ANY_SLICE ? limit - ABOVE_ANY_SLICE : 0;
    struct wmi_wave *const end = &resident->waves[group->wave_count];
    if (!link_successors(resident, most))
        return NULL;
    let_writers_in(executor);
    struct wmi_wave *wave = run_chain(executor, resident->waves);
    executor->progressed = true;
    group->waves_at_barrier = wave->index;
    for (struct wmi_wave *each = resident->waves; each < end; each++) {
        each->frame->successor = NULL;
        if (each != wave)
            each->resume = wmi_wave_next_step(each);
        if (each < wave)
            each->state = WMI_WAVE_BARRIER;
        executor->instructions += count_slice(each);
    }
    check_limits(executor, wave);
    if (wave->state == WMI_WAVE_READY)
        end_slice(executor, wave);
    return wave;
}

/* ---- the workgroup ---- */

/* What the slices of a round have led to. */
struct round {
    bool used_up; /* a wave has used up its slice */
    uint32_t waiting;
};

/* Accounts for the state in which a slice has left the wave. Returns false if the workgroup must stop. */
static inline bool account_for(struct wmi_executor *executor, struct wmi_resident *resident,
                               const struct wmi_wave *wave, struct round *round)
{
    struct wmi_workgroup *group = &resident->group;
    switch (wave->state) {
    case WMI_WAVE_ENDED:
        group->waves_left--;
        if (group->dispatch->observers.count)
            wmi_show_wave_end(executor, wave);
        if (group->signals)
            wmi_complete_barrier(group);
        if (!group->waves_left && group->cluster)
            wmi_leave_cluster(group);
        break;
    case WMI_WAVE_BARRIER:
        group->waves_at_barrier++;
        break;
    case WMI_WAVE_SIGNALS:
        group->waves_at_signals++;
        break;
    case WMI_WAVE_NAMED:
        group->waves_at_named++;
        break;
    case WMI_WAVE_CLUSTER:
        group->waves_at_cluster++;
        break;
    case WMI_WAVE_FAULTED:
        wmi_report_wave_fault(executor, group->flat_id, wave->index);
        return false;
    case WMI_WAVE_READY:
        round->used_up |= !wave->waits;
        round->waiting += wave->waits;
        break;
    }
    if (executor->instructions >= executor->next_poll) {
        executor->next_poll = executor->instructions + WMI_INSTRUCTIONS_PER_POLL;
        return !wmi_is_cancelled(group) && !wmi_must_stop(executor, resident);
    }
    return true;
}

/* Gives each ready wave from `first` on a slice. Returns false if the workgroup must stop. */
static inline bool give_slices(struct wmi_executor *executor, struct wmi_resident *resident, unsigned first,
                               unsigned visit, struct round *round)
{
    struct wmi_workgroup *group = &resident->group;
    const uint64_t seed = group->dispatch->shuffle;
    struct wmi_wave *in_order = &resident->waves[first];
    for (unsigned i = first; i < group->wave_count; i++) {
        struct wmi_wave *wave = seed ? &resident->waves[random_wave(group, visit, i, seed)] : in_order;
        in_order++;
        if (wave->state != WMI_WAVE_READY)
            continue;
        let_writers_in(executor);
        give_slice(executor, wave, seed);
        if (!account_for(executor, resident, wave, round))
            return false;
    }
    return true;
}

/* How many workgroups after this one compiled code may start by itself. They belong to the executor's batch
 * and to the same row of the grid, and end before the clock must be polled. */
static inline uint64_t groups_ahead(const struct wmi_executor *executor, const struct wmi_workgroup *group)
{
    const uint64_t most = (uint64_t)executor->steps.first_slice * group->wave_count,
                   stop = __atomic_load_n(&group->dispatch->stop_at, __ATOMIC_RELAXED),
                   end = executor->batch_end < stop ? executor->batch_end : stop;
    if (!executor->renews || executor->batch_next >= end || executor->instructions >= executor->next_poll)
        return 0;
    uint64_t ahead = end - executor->batch_next;
    const uint64_t in_row = group->dispatch->groups[0] - 1 - group->id[0],
                   until_poll = WMI_GROUPS_PER_POLL - 1 - executor->groups_since_poll,
                   in_time = (executor->next_poll - executor->instructions) / most;
    ahead = in_row < ahead ? in_row : ahead;
    ahead = until_poll < ahead ? until_poll : ahead;
    return in_time < ahead ? in_time : ahead;
}

/* Counts workgroups that compiled code has started and finished. */
static inline void count_groups(struct wmi_executor *executor, struct wmi_workgroup *group, uint64_t count)
{
    executor->batch_next += count;
    executor->last_flat_id += count;
    executor->last_id[0] += (uint32_t)count;
    executor->waves += count * group->wave_count;
    executor->groups_started += count;
    executor->groups_done += count;
    executor->groups_since_poll += count;
}

/* Starts a wave and runs it. Where a wave ends in compiled code, that code may start the next one; if `wave`
 * is the first of its workgroup, also those of `ahead` further workgroups. Returns the last wave that ran;
 * those before it have ended and are counted. */
static inline struct wmi_wave *run_started(struct wmi_executor *executor, struct wmi_resident *resident,
                                           struct wmi_wave *wave, uint64_t ahead)
{
    struct wmi_workgroup *group = &resident->group;
    struct wmi_worker *worker = &executor->steps;
    const bool starts_alone = executor->has_own_registers || group->signals;
    worker->last_start = starts_alone ? NULL : resident->waves[group->wave_count - 1].frame;
    worker->groups_ahead = ahead;
    worker->slices_left = 0;
    wmi_wave_set_registers(executor, wave,
                           executor->workitem_rows + (size_t)wave->index * 3 * executor->lanes,
                           &executor->exec[wave->index], worker->dispatch->workgroup);
    begin_slice(wave, worker->first_slice);
    struct wmi_wave *last = run_chain(executor, wave);
    worker->next_start = NULL; /* other slices are not counted in this way */
    const uint64_t groups = ahead - worker->groups_ahead,
                   ended = groups * group->wave_count + last->index - wave->index;
    if (groups)
        count_groups(executor, group, groups);
    group->waves_left -= last->index - wave->index;
    for (; wave < last; wave++)
        wave->state = WMI_WAVE_ENDED;
    executor->instructions +=
        ended * (uint64_t)worker->first_slice - (uint64_t)worker->slices_left + count_slice(last);
    return last;
}

/* Starts the first wave of the workgroup, and the others that run_started() starts behind it. */
static inline struct wmi_wave *run_first(struct wmi_executor *executor, struct wmi_resident *resident)
{
    const struct wmi_workgroup *group = &resident->group;
    let_writers_in(executor);
    executor->progressed = true;
    executor->steps.first_start = resident->waves->frame;
    executor->steps.id = group->id[0];
    for (unsigned i = 0; i < executor->id_count; i++)
        executor->scalars[executor->id_register[i]] = group->id[executor->id_dimension[i]];
    return run_started(executor, resident, resident->waves, groups_ahead(executor, group));
}

/* If all waves have ended in the compiled code in which they started, resets them to the state before their
 * start, except for their registers, so that the next workgroup can reuse them. */
static inline bool renew(struct wmi_executor *executor, struct wmi_resident *resident,
                         const struct wmi_wave *last)
{
    struct wmi_workgroup *group = &resident->group;
    struct wmi_wave *const end = resident->waves + group->wave_count;
    if (!executor->renews || last + 1 != end || last->state != WMI_WAVE_ENDED ||
        !last->frame->compiled.pristine || executor->instructions >= executor->compile_at ||
        executor->instructions >= executor->next_poll)
        return false;
    for (struct wmi_wave *wave = resident->waves; wave < end; wave++)
        wave->state = WMI_WAVE_READY;
    end[-1].instructions = 0;
    end[-1].slice = executor->steps.first_slice;
    group->waves_left = 0;
    resident->renewed_by = executor;
    return true;
}

/* Starts the waves after `last`, which has had its first slice, and runs the first slice of each at once:
 * most waves end in it, and their initial registers are still in the host's L1 cache. Returns false if the
 * workgroup must stop. */
static bool give_first_slices(struct wmi_executor *executor, struct wmi_resident *resident,
                              struct wmi_wave *last, struct round *round)
{
    struct wmi_workgroup *group = &resident->group;
    const struct wmi_wave *const end = resident->waves + group->wave_count;
    const uint64_t due =
        executor->compile_at < executor->next_poll ? executor->compile_at : executor->next_poll;
    for (;; last = run_started(executor, resident, last + 1, 0)) {
        if (last->state == WMI_WAVE_ENDED && executor->instructions < due && !group->signals) {
            group->waves_left--;
        } else {
            check_limits(executor, last);
            if (last->state == WMI_WAVE_READY)
                end_slice(executor, last);
            if (!account_for(executor, resident, last, round))
                return false;
        }
        if (last + 1 == end)
            return true;
    }
}

/* Runs rounds of slices until the workgroup ends, faults, only waits, or has used up its rounds.
 * first_slice: the last wave that has had its first slice, or NULL if all have had theirs. */
static __attribute__((noinline)) enum wmi_outcome
run_rounds(struct wmi_executor *executor, struct wmi_resident *resident, struct wmi_wave *first_slice)
{
    struct wmi_workgroup *group = &resident->group;
    const struct wmi_dispatch *dispatch = group->dispatch;
    /* Waves with frequent barriers may never use up a slice, so this many instructions end a round, too. */
    const uint64_t round_length = (uint64_t)LONGEST_SLICE * group->wave_count;
    uint64_t round_end = executor->instructions + round_length;
    bool all_arrived = false;
    for (unsigned rounds = 0, visit = 0; rounds < ROUNDS; visit++) {
        struct round round = {0};
        const struct wmi_wave *last = all_arrived ? run_between_barriers(executor, resident) : NULL;
        all_arrived = false;
        if (first_slice ? !give_first_slices(executor, resident, first_slice, &round)
                        : (last && !account_for(executor, resident, last, &round)) ||
                              !give_slices(executor, resident, last ? last->index + 1 : 0, visit, &round))
            return WMI_FAULTED;
        first_slice = NULL;
        if (!group->waves_left)
            return WMI_DONE;
        if (group->waves_at_barrier == group->waves_left) {
            group->waves_at_barrier = 0;
            all_arrived =
                !dispatch->shuffle && !dispatch->observers.count && group->waves_left == group->wave_count;
            for (unsigned i = 0; i < group->wave_count; i++)
                if (resident->waves[i].state == WMI_WAVE_BARRIER)
                    resident->waves[i].state = WMI_WAVE_READY;
        } else if (group->waves_at_barrier + group->waves_at_signals + group->waves_at_named +
                       group->waves_at_cluster + round.waiting ==
                   group->waves_left) {
            return WMI_PARKED;
        }
        if (round.used_up || executor->instructions >= round_end) {
            rounds++;
            round_end = executor->instructions + round_length;
        }
    }
    return WMI_PARKED;
}

enum wmi_outcome wmi_resident_run(struct wmi_executor *executor, struct wmi_resident *resident)
{
    struct wmi_wave *first_slice = NULL;
    if (wmi_is_cancelled(&resident->group))
        return WMI_FAULTED;
    set_own_successor(&resident->group);
    if (resident->unstarted) {
        resident->unstarted = false;
        first_slice = run_first(executor, resident);
        if (renew(executor, resident, first_slice))
            return WMI_DONE;
    }
    return run_rounds(executor, resident, first_slice);
}
