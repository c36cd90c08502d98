/* SPDX-License-Identifier: MIT */
/* Runs the workgroups of a dispatch on host threads, and parks those that only wait. */
#include "exec/run/workgroup.h"
#include "exec/observe/observed.h"

#include "arithmetic/host_float.h"
#include "base/random.h"
#include "exec/memory/gds.h"
#include "exec/memory/smem_cache.h"
#include "exec/run/executor.h"
#include "exec/run/pool.h"

#include <stdlib.h>
#include <time.h>

enum {
    WAIT_NANOSECONDS = 5000000, /* between two calls of progress() while only other threads work */
    PARKED_BYTES = 1 << 30,     /* memory limit of unfinished workgroups */
};

static struct wmi_resident *pop(struct wmi_resident **stack)
{
    struct wmi_resident *resident = *stack;
    if (resident)
        *stack = resident->next;
    return resident;
}

static void push(struct wmi_resident **stack, struct wmi_resident *resident)
{
    resident->next = *stack;
    *stack = resident;
}

/* Whether the executor has memory for one more workgroup or cluster. The limit and unused memory are shared,
 * because the number of threads must not affect which kernels deadlock when too many of their workgroups
 * wait. */
static bool has_room(struct wmi_executor *executor)
{
    struct wmi_dispatch *dispatch = executor->steps.dispatch;
    uint32_t number = UINT32_MAX;
    if (executor->unused)
        return true;
    pthread_mutex_lock(&dispatch->lock);
    if (dispatch->spare)
        push(&executor->unused, pop(&dispatch->spare));
    else if (dispatch->resident_count < dispatch->residents)
        number = dispatch->resident_count++;
    pthread_mutex_unlock(&dispatch->lock);
    if (number != UINT32_MAX && (executor->unused = wmi_resident_create(executor, number)) == NULL)
        __atomic_store_n(&dispatch->stop_at, 0, __ATOMIC_RELAXED);
    return executor->unused;
}

/* Gives unused residents to the other executors: no workgroup is left to take, but another executor may have
 * taken more than it has residents for. */
static void give_unused(struct wmi_executor *executor)
{
    struct wmi_dispatch *dispatch = executor->steps.dispatch;
    pthread_mutex_lock(&dispatch->lock);
    while (executor->unused)
        push(&dispatch->spare, pop(&executor->unused));
    pthread_mutex_unlock(&dispatch->lock);
}

/* Takes a workgroup, or the first one of a cluster, from the deal. False: none is left. While workgroups of
 * this executor wait, takes the lowest available one, because a waiting workgroup may rely on all lower ones
 * having started. */
static bool take_group(struct wmi_executor *executor, uint64_t *id)
{
    struct wmi_dispatch *dispatch = executor->steps.dispatch;
    const uint64_t stop_at = __atomic_load_n(&dispatch->stop_at, __ATOMIC_RELAXED),
                   stop = (stop_at + dispatch->cluster_size - 1) / dispatch->cluster_size;
    const unsigned share = executor->parked || executor->swept ? 0 : executor->number;
    if ((executor->batch_next == executor->batch_end || executor->batch_next >= stop) &&
        !wmi_deal_take(&dispatch->deal, share, stop, &executor->batch_next, &executor->batch_end)) {
        executor->batch_next = executor->batch_end;
        return false;
    }
    *id = executor->batch_next++;
    if (dispatch->shuffle)
        *id = wmi_random_order(dispatch->shuffle, dispatch->group_count / dispatch->cluster_size, *id);
    *id *= dispatch->cluster_size;
    return true;
}

/* The workgroup to run next, a new or a parked one. NULL: nothing is left. */
static struct wmi_resident *next_resident(struct wmi_executor *executor)
{
    uint64_t id;
    if (has_room(executor)) {
        if (take_group(executor, &id)) {
            struct wmi_resident *resident = pop(&executor->unused);
            wmi_resident_start(executor, resident, id);
            for (uint32_t i = 0;
                 executor->steps.dispatch->observers.count && i < wmi_resident_members(resident); i++)
                wmi_show_begin(executor, wmi_resident_member(resident, i));
            return resident;
        }
        give_unused(executor);
    }
    if (executor->out_of_memory)
        return NULL;
    if (!executor->parked && executor->swept) {
        executor->parked = executor->swept;
        executor->swept = NULL;
        if (wmi_is_deadlock(executor)) {
            wmi_report_deadlock(executor, executor->parked);
            return NULL;
        }
    }
    return pop(&executor->parked);
}

/* Adds the finished workgroups to the shared count. Called rarely, because workers contend for it. */
static void tell_done(struct wmi_executor *executor)
{
    __atomic_fetch_add(&executor->steps.dispatch->groups_done, executor->groups_done, __ATOMIC_RELAXED);
    executor->groups_done = 0;
}

/* Runs a workgroup until it ends or only waits. */
static enum wmi_outcome run_group(struct wmi_executor *executor, struct wmi_resident *resident)
{
    const bool observed = executor->steps.dispatch->observers.count;
    if (observed)
        wmi_show_resume(executor, resident);
    const enum wmi_outcome outcome = wmi_resident_run(executor, resident);
    if (outcome != WMI_PARKED && observed)
        wmi_show_end(executor, resident);
    if (outcome != WMI_PARKED && resident->group.scalar_cache)
        wmi_scalar_cache_end(&resident->group, outcome == WMI_DONE);
    executor->groups_done += outcome == WMI_DONE;
    return outcome;
}

/* Runs the workgroups of a cluster by turns while its barrier lets them go on. */
static enum wmi_outcome run_cluster(struct wmi_executor *executor, struct wmi_resident *first)
{
    enum { TURNS = 16 }; /* before others get theirs */
    const struct wmi_cluster *cluster = first->group.cluster;
    uint64_t completed = cluster->completed;
    for (unsigned turn = 0; turn < TURNS; turn++) {
        enum wmi_outcome all = WMI_DONE;
        for (uint32_t i = 0; i < cluster->size; i++) {
            struct wmi_resident *one = wmi_resident_member(first, i);
            const enum wmi_outcome outcome = one->ended ? WMI_DONE : run_group(executor, one);
            one->ended = outcome != WMI_PARKED;
            if (all == WMI_DONE || outcome == WMI_PARKED)
                all = outcome;
        }
        if (all != WMI_PARKED || cluster->completed == completed)
            return all;
        completed = cluster->completed;
    }
    return WMI_PARKED;
}

/* Workgroups that still wait when the dispatch is stopped end as well. */
static void show_ends(struct wmi_executor *executor, struct wmi_resident *list)
{
    for (; list; list = list->next)
        for (uint32_t i = 0; i < wmi_resident_members(list); i++)
            if (!wmi_resident_member(list, i)->ended)
                wmi_show_end(executor, wmi_resident_member(list, i));
}

static void run_all(struct wmi_executor *executor)
{
    const struct wmi_dispatch *dispatch = executor->steps.dispatch;
    struct wmi_resident *resident;
    const struct wmi_observer *holder = dispatch->holder;
    while (!holder || holder->between(executor->steps.observers[0], executor)) {
        if (!(resident = next_resident(executor)))
            break;
        const enum wmi_outcome outcome =
            resident->group.cluster ? run_cluster(executor, resident) : run_group(executor, resident);
        push(outcome == WMI_PARKED ? &executor->swept : &executor->unused, resident);
        if (++executor->groups_since_poll == WMI_GROUPS_PER_POLL ||
            executor->instructions >= executor->next_poll) {
            executor->groups_since_poll = 0;
            executor->next_poll = executor->instructions + WMI_INSTRUCTIONS_PER_POLL;
            tell_done(executor);
            if (outcome != WMI_FAULTED &&
                __atomic_load_n(&dispatch->groups_done, __ATOMIC_RELAXED) < dispatch->run_count)
                wmi_must_stop(executor, resident);
        }
    }
    tell_done(executor);
    show_ends(executor, executor->parked);
    show_ends(executor, executor->swept);
}

static void work(struct wmi_executor *executor)
{
    struct wmi_dispatch *dispatch = executor->steps.dispatch;
    const uint32_t saved = wmi_host_float_get();

    executor->host_word = saved;
    if (executor->number)
        wmi_rwlock_read(wmi_space_rwlock(dispatch->space), executor->read_lock);
    if (wmi_observers_begin(executor))
        run_all(executor);
    else
        executor->out_of_memory = true;
    wmi_observers_end(executor);
    if (executor->number)
        wmi_rwlock_read_unlock(executor->read_lock);
    wmi_host_float_set(saved);
    wmi_residents_free(executor->parked);
    wmi_residents_free(executor->swept);
    wmi_residents_free(executor->unused);
    pthread_mutex_lock(&dispatch->lock);
    dispatch->instructions += executor->instructions;
    dispatch->waves += executor->waves;
    dispatch->groups_started += executor->groups_started;
    wmi_violation_add(&dispatch->violation, &executor->steps.violation);
    if (--dispatch->working == 0)
        pthread_cond_signal(&dispatch->idle);
    dispatch->generation++; /* another worker may have waited for what this one did last */
    dispatch->quiescent = 0;
    pthread_mutex_unlock(&dispatch->lock);
}

/* Entry of a thread of the pool. Until now, the caller's thread may have been the only worker, and may have
 * found all of its workgroups waiting. */
static void join(void *user, unsigned number)
{
    struct wmi_executor **executors = user, *executor = executors[number + 1];
    struct wmi_dispatch *dispatch = executor->steps.dispatch;
    pthread_mutex_lock(&dispatch->lock);
    dispatch->working++;
    dispatch->generation++;
    dispatch->quiescent = 0;
    pthread_mutex_unlock(&dispatch->lock);
    work(executor);
}

static bool others_work(struct wmi_dispatch *dispatch)
{
    pthread_mutex_lock(&dispatch->lock);
    const bool work = dispatch->working;
    pthread_mutex_unlock(&dispatch->lock);
    return work;
}

/* Waits until no thread works, or until the next call of progress() is due. */
static void await_others(struct wmi_dispatch *dispatch)
{
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_nsec += WAIT_NANOSECONDS;
    end.tv_sec += end.tv_nsec / 1000000000;
    end.tv_nsec %= 1000000000;
    pthread_mutex_lock(&dispatch->lock);
    if (dispatch->working)
        pthread_cond_timedwait(&dispatch->idle, &dispatch->lock, &end);
    pthread_mutex_unlock(&dispatch->lock);
}

/* Calls progress() while the calling thread has no work left but others do. */
static void report_until_done(struct wmi_executor *executor)
{
    struct wmi_dispatch *dispatch = executor->steps.dispatch;
    while (others_work(dispatch)) {
        if (!wmi_caller_goes_on(executor)) {
            wmi_stop_all(executor, WM_FAULT_STOPPED, 0, dispatch->group_count - 1, 0);
            return;
        }
        wmi_suspend_reading(executor);
        await_others(dispatch);
        wmi_resume_reading(executor);
    }
}

static void limit_residents(struct wmi_dispatch *dispatch, uint64_t bytes)
{
    const uint64_t fit = PARKED_BYTES / bytes ? PARKED_BYTES / bytes : 1;
    if (fit < dispatch->residents && !dispatch->cooperative)
        dispatch->residents = (uint32_t)fit;
}

/* Whether an observer requires workgroups to start in order. */
static bool wants_order(const struct wmi_observers *observers)
{
    for (unsigned i = 0; i < observers->count; i++)
        if (observers->one[i]->resume)
            return true;
    return false;
}

bool wmi_dispatch_run(struct wmi_dispatch *dispatch)
{
    const uint64_t clusters = dispatch->run_count / dispatch->cluster_size,
                   useful = dispatch->residents < clusters ? dispatch->residents : clusters;
    const unsigned threads = dispatch->threads < useful ? dispatch->threads : (unsigned)useful;
    struct wmi_executor **executors = calloc(threads ? threads : 1, sizeof *executors);
    struct wmi_crew crew = {.work = join, .user = executors, .count = threads ? threads - 1 : 0};
    const bool in_order = wants_order(&dispatch->observers);
    bool ok = executors && wmi_deal_create(&dispatch->deal, dispatch->first_group / dispatch->cluster_size,
                                           clusters, threads && !in_order ? threads : 1);
    bool full;

    dispatch->stop_at = dispatch->group_count;
    dispatch->started = wmi_seconds();
    dispatch->mxcsr32 = wmi_host_float_word(dispatch->launch.mode & 3, dispatch->launch.mode >> 4 & 3);
    dispatch->mxcsr64 = wmi_host_float_word(dispatch->launch.mode >> 2 & 3, dispatch->launch.mode >> 6 & 3);
    dispatch->entry_step = wmi_program_at(dispatch->program, dispatch->launch.entry, &full);
    ok = ok && dispatch->entry_step;
    if (ok && !wmi_program_compile_in(dispatch->program))
        wmi_compile_dispatch(dispatch);
    pthread_mutex_init(&dispatch->lock, NULL);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&dispatch->idle, &monotonic);
    pthread_condattr_destroy(&monotonic);
    for (unsigned i = 0; ok && i < threads; i++) {
        executors[i] = wmi_aligned_zero(sizeof **executors);
        ok = executors[i] && wmi_executor_prepare(executors[i], dispatch, i);
    }
    if (ok && threads) {
        limit_residents(dispatch, wmi_resident_bytes(executors[0]) * dispatch->cluster_size);
        executors[0]->calls_progress = dispatch->progress != NULL;
        dispatch->working = 1;
        wmi_pool_start(dispatch->pool, &crew);
        work(executors[0]);
        if (dispatch->progress)
            report_until_done(executors[0]);
        wmi_rwlock_suspend(dispatch->read_lock);
        wmi_pool_finish(dispatch->pool, &crew);
        wmi_rwlock_resume(dispatch->read_lock);
    }
    for (unsigned i = 0; executors && i < threads; i++) {
        if (!executors[i])
            continue;
        ok &= !executors[i]->out_of_memory;
        wmi_executor_free(executors[i]);
    }
    wmi_residents_free(dispatch->spare);
    wmi_deal_destroy(&dispatch->deal);
    wmi_gds_destroy(dispatch->gds);
    wmi_gws_leave(dispatch);
    dispatch->gds = NULL;
    pthread_cond_destroy(&dispatch->idle);
    pthread_mutex_destroy(&dispatch->lock);
    free(executors);
    return ok;
}
