/* SPDX-License-Identifier: MIT */
/* Repeats a checked dispatch with its workgroups and waves in other orders, and compares the results. */
#include "api/shuffle.h"

#include "base/grid.h"
#include "check/check.h"
#include "check/sync/order.h"
#include "exec/memory/gds.h"

static const char no_memory[] = "no memory to repeat the dispatch in another order";

const char *wmi_shuffle_begin(struct wmi_shuffle *shuffle, struct wm_machine *machine, struct wm_check *check,
                              const struct wmi_dispatch *dispatch, const struct wmi_observer **observer)
{
    size_t seeds = 0;
    *shuffle = (struct wmi_shuffle){.machine = machine, .fresh = *dispatch};
    *observer = NULL;
    if (check)
        wmi_check_seeds(check, &seeds);
    if (!seeds)
        return NULL;
    if (dispatch->holder || __atomic_load_n(&machine->running, __ATOMIC_RELAXED) > 1)
        return "other orders: not while another dispatch runs, or with stops";
    wmi_stores_init(&shuffle->stores, machine->space);
    *observer = &shuffle->stores.observer;
    shuffle->check = check;
    return NULL;
}

/* Whether the dispatch's results are in this allocation: it is the caller's or a code object's. */
static bool has_results(void *user, const struct wmi_allocation *a)
{
    const struct wm_machine *machine = user;
    if (!(a->flags & WMI_ALLOCATION_OWN))
        return true;
    for (const struct wmi_module *module = wmi_modules(machine); module; module = module->next) {
        size_t count;
        const struct wmi_segment *segments = wmi_object_segments(module->object, &count);
        for (size_t i = 0; i < count; i++)
            if (segments[i].size && segments[i].address + module->bias - a->low < a->high - a->low)
                return true;
    }
    return false;
}

struct repeat {
    struct wmi_shuffle *shuffle;
    wmi_run_again *run;
    void *user;
};

/* Runs the dispatch from its beginning in the order of a seed, or of 0, and compares what it leaves with the
 * first result. last: observes it, too, or NULL. Memory is then as before the dispatch. */
static enum wm_status run(const struct repeat *repeat, uint64_t seed, struct wmi_last_store *last,
                          struct wm_result *result, struct wmi_stores_difference *difference)
{
    struct wmi_shuffle *shuffle = repeat->shuffle;
    struct wmi_space *space = shuffle->machine->space;
    struct wmi_dispatch dispatch = shuffle->fresh;
    struct wmi_stores stores;
    struct wmi_read_lock read_lock;
    wmi_stores_init(&stores, space);
    const struct wmi_observer *observers[2] = {&stores.observer, last ? &last->observer : NULL};
    dispatch.observers = (struct wmi_observers){.one = observers, .count = last ? 2 : 1};
    dispatch.stales = (struct wmi_stales){0};
    dispatch.threads = 1;
    dispatch.shuffle = seed;
    if (dispatch.cooperative)
        wmi_gws_init(shuffle->machine->gws, 0, (uint32_t)dispatch.group_count - 1);
    *result = (struct wm_result){.struct_size = sizeof *result};
    enum wm_status status = repeat->run(repeat->user, &dispatch, result);
    wmi_rwlock_read(wmi_space_rwlock(space), &read_lock);
    wmi_stores_compare(&shuffle->stores, &stores, has_results, shuffle->machine, difference);
    wmi_stores_undo(&stores);
    wmi_rwlock_read_unlock(&read_lock);
    status = !status && stores.lost ? WM_NO_MEMORY : status;
    wmi_stores_free(&stores);
    return status;
}

static uint64_t number_of(const struct wmi_shuffle *shuffle, const uint32_t group[3])
{
    return wmi_grid_number(shuffle->fresh.groups, shuffle->fresh.cluster, group);
}

/* Finds out who stored the value in both orders, and adds the finding. */
static const char *add_difference(const struct repeat *repeat, uint64_t seed,
                                  const struct wmi_stores_difference *difference)
{
    struct wmi_shuffle *shuffle = repeat->shuffle;
    struct wmi_last_store in_order, other;
    struct wmi_stores_difference ignored, same;
    struct wm_result result;
    wmi_last_store_init(&in_order, difference->address, difference->size, shuffle->fresh.groups,
                        shuffle->fresh.cluster);
    wmi_last_store_init(&other, difference->address, difference->size, shuffle->fresh.groups,
                        shuffle->fresh.cluster);
    if (run(repeat, seed, &other, &result, &ignored) || run(repeat, 0, &in_order, &result, &same))
        return no_memory;
    if (same.bytes)
        return "other orders: the results differ in the same order, too: they depend on the time, or others "
               "change "
               "what the kernel reads";
    const struct wmi_last_store *shown = in_order.pc ? &in_order : &other;
    const struct wmi_found found = {
        .rule = &wmi_order_rules[shown->adds_floats ? WMI_ORDER_SUM : WMI_ORDER_RESULT],
        .pc = shown->pc ? shown->pc : shuffle->fresh.launch.entry,
        .first_pc = other.pc ? other.pc : shuffle->fresh.launch.entry,
        .count = 1,
        .has_wave = shown->pc != 0,
        .wave = shown->wave,
        .group = shown->group,
        .lanes = shown->lanes,
        .space = WMI_SPACE_GLOBAL,
        .address = difference->address,
        .bytes = difference->size,
        .detail = {[WMI_ORDER_SEED] = seed,
                   [WMI_ORDER_VALUES] = difference->was | (uint64_t)difference->now << 32,
                   [WMI_ORDER_BYTES] = difference->bytes,
                   [WMI_ORDER_GROUP] = other.pc ? other.group : UINT64_MAX,
                   [WMI_ORDER_WAVE] = other.wave},
    };
    return wmi_check_add(shuffle->check, &found) ? NULL : no_memory;
}

static const char *add_fault(struct wmi_shuffle *shuffle, uint64_t seed, const struct wm_fault *fault)
{
    const struct wmi_found found = {
        .rule = &wmi_order_rules[WMI_ORDER_FAULT],
        .pc = fault->pc ? fault->pc : shuffle->fresh.launch.entry,
        .count = 1,
        .has_wave = true,
        .wave = fault->wave,
        .group = number_of(shuffle, fault->workgroup),
        .detail = {[WMI_ORDER_SEED] = seed},
    };
    return wmi_check_add(shuffle->check, &found) ? NULL : no_memory;
}

/* Tries the order of a seed; *stop: there is no sense in trying more. */
static const char *try_order(const struct repeat *repeat, uint64_t seed, bool *stop)
{
    struct wmi_stores_difference difference;
    struct wm_result result;
    if (run(repeat, seed, NULL, &result, &difference))
        return no_memory;
    *stop = result.fault.kind == WM_FAULT_STOPPED;
    if (*stop)
        return "other orders: stopped";
    if (result.fault.kind == WM_FAULT_TIMEOUT)
        return "other orders: the time limit ended the dispatch";
    if (result.fault.kind != WM_FAULT_NONE)
        return add_fault(repeat->shuffle, seed, &result.fault);
    return difference.bytes ? add_difference(repeat, seed, &difference) : NULL;
}

static const char *try_orders(const struct repeat *repeat)
{
    struct wmi_shuffle *shuffle = repeat->shuffle;
    const struct wmi_space *space = shuffle->machine->space;
    struct wmi_read_lock read_lock;
    const char *missed = NULL;
    size_t seeds;
    bool stop = false;
    const uint64_t *seed = wmi_check_seeds(shuffle->check, &seeds);
    wmi_rwlock_read(wmi_space_rwlock(space), &read_lock);
    wmi_stores_keep(&shuffle->stores);
    wmi_stores_undo(&shuffle->stores);
    wmi_rwlock_read_unlock(&read_lock);
    for (size_t i = 0; i < seeds && !stop && !missed; i++)
        missed = try_order(repeat, seed[i], &stop);
    wmi_rwlock_read(wmi_space_rwlock(space), &read_lock);
    wmi_stores_redo(&shuffle->stores);
    wmi_rwlock_read_unlock(&read_lock);
    return missed;
}

const char *wmi_shuffle_end(struct wmi_shuffle *shuffle, const struct wm_result *result, wmi_run_again *run,
                            void *user)
{
    const struct repeat repeat = {shuffle, run, user};
    const char *missed = NULL;
    if (!shuffle->check)
        return NULL;
    if (shuffle->stores.lost)
        missed = no_memory;
    else if (shuffle->stores.to_host)
        missed = "other orders: the kernel stores to memory of the host, which may have acted on it";
    else if (result->fault.kind == WM_FAULT_NONE)
        missed = try_orders(&repeat);
    wmi_stores_free(&shuffle->stores);
    return missed;
}
