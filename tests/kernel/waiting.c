/* SPDX-License-Identifier: MIT */
/* Kernels whose workgroups wait for one another: they end with any number of threads, or it is said that they
 * cannot.
 *
 * usage: waiting FOLDER-OF-CODE-OBJECTS */
#include "reduced.h"
#include "wavemem/wavemem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
// clang-format off
#include <cmocka.h>
// clang-format on

enum { GROUPS = 3000 };

static const uint32_t thread_counts[] = {1, 2, 4};
static const char *folder;

struct guest {
    struct wm_machine *machine;
    struct wm_object *object;
    struct wm_diag diag;
};

static unsigned groups(void)
{
    return reduced() ? GROUPS / 10 : GROUPS;
}

static void open_guest(struct guest *guest)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/waiting.co", folder);
    assert_int_equal(wm_object_open_file(path, NULL, &guest->object, &guest->diag), WM_OK);
    assert_int_equal(wm_machine_create("gfx900", &guest->machine, &guest->diag), WM_OK);
    assert_int_equal(wm_load(guest->machine, guest->object, &guest->diag), WM_OK);
}

static void close_guest(struct guest *guest)
{
    wm_machine_destroy(guest->machine);
    wm_object_close(guest->object);
}

static uint64_t place(struct guest *guest, const char *name, uint64_t size)
{
    uint64_t address;
    assert_int_equal(wm_allocate(guest->machine, size, 0, name, &address, &guest->diag), WM_OK);
    return address;
}

static uint32_t *words(struct guest *guest, uint64_t address, uint64_t count)
{
    uint32_t *host = wm_host_pointer(guest->machine, address, 4 * count);
    assert_non_null(host);
    return host;
}

/* A minute is far more than any of them takes; without an end it would be the budget's hours. */
static struct wm_fault run(struct guest *guest, const char *name, const void *arguments, size_t size,
                           uint32_t items, uint32_t workgroup, uint32_t threads)
{
    const struct wm_kernel *kernel;
    const struct wm_dispatch dispatch = {.struct_size = sizeof dispatch,
                                         .grid = {items},
                                         .workgroup = {workgroup},
                                         .arguments = arguments,
                                         .arguments_size = size,
                                         .threads = threads,
                                         .timeout = 60};
    struct wm_result result = {.struct_size = sizeof result};
    assert_int_equal(wm_object_find_kernel(guest->object, name, &kernel, &guest->diag), WM_OK);
    assert_int_equal(wm_dispatch(guest->machine, guest->object, kernel, &dispatch, &result, &guest->diag),
                     WM_OK);
    return result.fault;
}

static void chains_end_in_every_direction(void **state)
{
    (void)state;
    const uint32_t count = groups();
    const struct {
        uint32_t first;
        int32_t by;
    } ways[] = {{0, -1}, {count - 1, 1}, {5, 7 * 11}};
    for (size_t way = 0; way < 3; way++) {
        for (size_t i = 0; i < 3; i++) {
            struct guest guest;
            open_guest(&guest);
            const uint64_t number = place(&guest, "number", 4 * count);
            const struct {
                uint64_t number;
                uint32_t first;
                int32_t by;
            } arguments = {number, ways[way].first, ways[way].by};
            const struct wm_fault fault =
                run(&guest, "chain", &arguments, sizeof arguments, count * 64, 64, thread_counts[i]);
            assert_int_equal(fault.kind, WM_FAULT_NONE);
            const uint32_t *seen = words(&guest, number, count);
            for (uint32_t k = 0, group = ways[way].first; k < count;
                 k++) { /* who waits for `group` comes next */
                assert_int_equal(seen[group], k + 1);
                group = (uint32_t)(((int64_t)group + 2 * (int64_t)count - ways[way].by) % count);
            }
            close_guest(&guest);
        }
    }
}

static void grid_barriers_open(void **state)
{
    (void)state;
    const uint32_t count = groups(), steps = 8;
    for (size_t i = 0; i < 3; i++) {
        struct guest guest;
        open_guest(&guest);
        const struct {
            uint64_t arrived, a, b;
            uint32_t steps;
        } arguments = {place(&guest, "arrived", 4), place(&guest, "a", 4 * count),
                       place(&guest, "b", 4 * count), steps};
        for (uint32_t k = 0; k < count; k++)
            words(&guest, arguments.a, count)[k] = k * k;
        const struct wm_fault fault =
            run(&guest, "grid_barrier", &arguments, 28, count * 128, 128, thread_counts[i]);
        assert_int_equal(fault.kind, WM_FAULT_NONE);
        for (uint32_t k = 0; k < count; k++) {
            const uint32_t from = (k + steps) % count;
            assert_int_equal(words(&guest, arguments.a, count)[k], from * from + steps);
        }
        close_guest(&guest);
    }
}

static void locks_are_passed_on(void **state)
{
    (void)state;
    const uint32_t count = groups(), times = 20;
    for (size_t i = 0; i < 3; i++) {
        struct guest guest;
        open_guest(&guest);
        const struct {
            uint64_t lock, number;
            uint32_t times;
        } arguments = {place(&guest, "lock", 4), place(&guest, "number", 4), times};
        const struct wm_fault fault =
            run(&guest, "spin_lock", &arguments, 20, count * 64, 64, thread_counts[i]);
        assert_int_equal(fault.kind, WM_FAULT_NONE);
        assert_int_equal(*words(&guest, arguments.number, 1), count * times);
        close_guest(&guest);
    }
}

static void looks_back(void **state)
{
    (void)state;
    const uint32_t items = groups() * 256 - 100;
    for (size_t i = 0; i < 3; i++) {
        struct guest guest;
        open_guest(&guest);
        const struct {
            uint64_t in, out, state;
            uint32_t n;
        } arguments = {place(&guest, "in", 4 * items), place(&guest, "out", 4 * items),
                       place(&guest, "state", 8 * groups()), items};
        uint32_t *in = words(&guest, arguments.in, items), sum = 0;
        for (uint32_t k = 0; k < items; k++)
            in[k] = k * 2654435761u >> 7;
        const struct wm_fault fault =
            run(&guest, "lookback_scan", &arguments, 28, groups() * 256, 256, thread_counts[i]);
        assert_int_equal(fault.kind, WM_FAULT_NONE);
        const uint32_t *out = words(&guest, arguments.out, items);
        for (uint32_t k = 0; k < items; k++) {
            sum += in[k];
            if (out[k] != sum)
                fail_msg("out[%u] is %u, not %u", k, out[k], sum);
        }
        close_guest(&guest);
    }
}

/* The same report whatever the threads: the loop's wave, not the one at the barrier. */
static void deadlocks_are_seen(void **state)
{
    (void)state;
    struct wm_fault first = {0};
    for (size_t i = 0; i < 3; i++) {
        struct guest guest;
        open_guest(&guest);
        const uint64_t flag = place(&guest, "flag", 4);
        const struct wm_fault fault =
            run(&guest, "wait_for_nobody", &flag, sizeof flag, groups() * 128, 128, thread_counts[i]);
        assert_int_equal(fault.kind, WM_FAULT_DEADLOCK);
        assert_int_equal(fault.workgroup[0], 0);
        assert_int_equal(fault.wave, 0);
        assert_true(fault.lanes == 1);
        assert_non_null(strstr(fault.text, "wait_for_nobody+0x"));
        if (i)
            assert_string_equal(fault.text, first.text);
        first = fault;
        close_guest(&guest);
    }
}

/* What a fidelity report counts is the same whatever the threads, and so is the deadlock of a lock that
 * nobody gives back: its place, its wave and its lanes. */
static void watched_dispatches_are_the_same(void **state)
{
    (void)state;
    static const uint32_t threads[] = {1, 2, 3, 8};
    static const char *const names[] = {"lock_in_lanes", "spin_lock"};
    for (size_t k = 0; k < 2; k++) {
        struct wm_result first = {0};
        for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
            struct guest guest;
            struct wm_fidelity *fidelity;
            const struct wm_kernel *kernel;
            open_guest(&guest);
            assert_int_equal(wm_fidelity_create(&fidelity, &guest.diag), WM_OK);
            const struct {
                uint64_t lock, number;
                uint32_t times;
            } arguments = {place(&guest, "lock", 4), place(&guest, "number", 4), 5};
            const struct wm_dispatch dispatch = {.struct_size = sizeof dispatch,
                                                 .grid = {groups() * 64},
                                                 .workgroup = {64},
                                                 .arguments = &arguments,
                                                 .arguments_size = k ? 20 : 16,
                                                 .threads = threads[i],
                                                 .fidelity = fidelity,
                                                 .timeout = 60};
            struct wm_result result = {.struct_size = sizeof result};
            assert_int_equal(wm_object_find_kernel(guest.object, names[k], &kernel, &guest.diag), WM_OK);
            assert_int_equal(
                wm_dispatch(guest.machine, guest.object, kernel, &dispatch, &result, &guest.diag), WM_OK);
            assert_int_equal(result.fault.kind, k ? WM_FAULT_NONE : WM_FAULT_DEADLOCK);
            assert_true(result.reproducible);
            if (!i)
                first = result;
            assert_int_equal(result.wave_instructions, first.wave_instructions);
            assert_int_equal(result.workgroups, first.workgroups);
            assert_string_equal(result.fault.text, first.fault.text);
            wm_fidelity_destroy(fidelity);
            close_guest(&guest);
        }
    }
}

struct sequence {
    unsigned threads;
    uint64_t events, sum; /* the sum depends on the order */
};

static void add_to_sequence(void *local, const struct wm_event *event)
{
    struct sequence *sequence = local;
    sequence->events++;
    sequence->sum =
        (sequence->sum ^ (event->pc + event->workgroup[0] + (uint64_t)event->kind)) * 0x100000001b3u;
}

static void *begin_sequence(void *user)
{
    struct sequence *sequence = user;
    __atomic_fetch_add(&sequence->threads, 1, __ATOMIC_RELAXED);
    return user;
}

static void end_sequence(void *user, void *local)
{
    assert_ptr_equal(user, local);
}

/* An observer that could be called by several threads is called by one, and sees the same events. */
static void observers_see_one_order(void **state)
{
    (void)state;
    struct sequence sequences[3] = {0};
    for (size_t i = 0; i < 3; i++) {
        struct guest guest;
        const struct wm_kernel *kernel;
        open_guest(&guest);
        const struct wm_observer observer = {.struct_size = sizeof observer,
                                             .events = WM_EVENT_ACCESS | WM_EVENT_WORKGROUP_BEGIN |
                                                       WM_EVENT_WORKGROUP_END,
                                             .user = &sequences[i],
                                             .event = add_to_sequence,
                                             .begin_thread = begin_sequence,
                                             .end_thread = end_sequence},
                                 *const observers[] = {&observer};
        const struct {
            uint64_t lock, number;
            uint32_t times;
        } arguments = {place(&guest, "lock", 4), place(&guest, "number", 4), 5};
        const struct wm_dispatch dispatch = {.struct_size = sizeof dispatch,
                                             .grid = {300 * 64},
                                             .workgroup = {64},
                                             .arguments = &arguments,
                                             .arguments_size = 20,
                                             .threads = thread_counts[i],
                                             .observers = observers,
                                             .observer_count = 1,
                                             .timeout = 60};
        struct wm_result result = {.struct_size = sizeof result};
        assert_int_equal(wm_object_find_kernel(guest.object, "spin_lock", &kernel, &guest.diag), WM_OK);
        assert_int_equal(wm_dispatch(guest.machine, guest.object, kernel, &dispatch, &result, &guest.diag),
                         WM_OK);
        assert_int_equal(result.fault.kind, WM_FAULT_NONE);
        assert_true(result.reproducible);
        assert_int_equal(sequences[i].threads, 1);
        assert_true(sequences[i].events > 600);
        assert_memory_equal(&sequences[i], &sequences[0], sizeof *sequences);
        close_guest(&guest);
    }
}

/* A barrier of more workgroups than may be unfinished at the same time: whether that is a deadlock does not
 * depend on the threads, nor does its report. */
static void room_does_not_depend_on_threads(void **state)
{
    (void)state;
    enum { MANY = 1 << 17 }; /* twice as many as there is room for */
    struct wm_fault first = {0};
    for (size_t i = 0; i < 3 && !reduced(); i++) {
        struct guest guest;
        open_guest(&guest);
        const struct {
            uint64_t arrived, a, b;
            uint32_t steps;
        } arguments = {place(&guest, "arrived", 4), place(&guest, "a", 4 * MANY),
                       place(&guest, "b", 4 * MANY), 1};
        const struct wm_fault fault =
            run(&guest, "grid_barrier", &arguments, 28, MANY * 64, 64, thread_counts[i]);
        assert_int_equal(fault.kind, WM_FAULT_DEADLOCK);
        assert_non_null(strstr(fault.text, "too many wait"));
        if (!i)
            first = fault;
        assert_string_equal(fault.text, first.text);
        close_guest(&guest);
    }
}

static void dependence_needs_a_loaded_object(void **state)
{
    (void)state;
    struct guest guest;
    struct wm_machine *other;
    struct wm_dependence dependence;
    const struct wm_kernel *kernel;
    open_guest(&guest);
    assert_int_equal(wm_object_find_kernel(guest.object, "chain", &kernel, &guest.diag), WM_OK);
    assert_int_equal(wm_find_dependence(guest.machine, guest.object, kernel, &dependence, &guest.diag),
                     WM_OK);
    assert_int_equal(dependence.kind, WM_DEPENDS_BY_LOAD);
    assert_string_equal(dependence.function, "chain");
    assert_non_null(strstr(dependence.text, "global_load_dword"));
    assert_int_equal(wm_find_dependence(NULL, guest.object, kernel, &dependence, &guest.diag),
                     WM_BAD_ARGUMENT);
    assert_int_equal(wm_find_dependence(guest.machine, NULL, kernel, &dependence, &guest.diag),
                     WM_BAD_ARGUMENT);
    assert_int_equal(wm_find_dependence(guest.machine, guest.object, NULL, &dependence, &guest.diag),
                     WM_BAD_ARGUMENT);
    assert_int_equal(wm_find_dependence(guest.machine, guest.object, kernel, NULL, &guest.diag),
                     WM_BAD_ARGUMENT);
    assert_int_equal(wm_machine_create("gfx900", &other, &guest.diag), WM_OK);
    assert_int_equal(wm_find_dependence(other, guest.object, kernel, &dependence, &guest.diag),
                     WM_BAD_ARGUMENT);
    wm_machine_destroy(other);
    close_guest(&guest);
}

static void lanes_that_lock_each_other_out_are_seen(void **state)
{
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct guest guest;
        open_guest(&guest);
        const struct {
            uint64_t lock, number;
        } arguments = {place(&guest, "lock", 4), place(&guest, "number", 4)};
        const struct wm_fault fault =
            run(&guest, "lock_in_lanes", &arguments, sizeof arguments, groups() * 64, 64, thread_counts[i]);
        assert_int_equal(fault.kind, WM_FAULT_DEADLOCK);
        assert_int_equal(fault.workgroup[0], 0);
        assert_int_equal(*words(&guest, arguments.number, 1), 0);
        close_guest(&guest);
    }
}

int main(int count, char **arguments)
{
    if (count != 2) {
        fprintf(stderr, "usage: waiting FOLDER-OF-CODE-OBJECTS\n");
        return 2;
    }
    folder = arguments[1];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chains_end_in_every_direction),
        cmocka_unit_test(grid_barriers_open),
        cmocka_unit_test(locks_are_passed_on),
        cmocka_unit_test(looks_back),
        cmocka_unit_test(deadlocks_are_seen),
        cmocka_unit_test(lanes_that_lock_each_other_out_are_seen),
        cmocka_unit_test(watched_dispatches_are_the_same),
        cmocka_unit_test(observers_see_one_order),
        cmocka_unit_test(room_does_not_depend_on_threads),
        cmocka_unit_test(dependence_needs_a_loaded_object),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
