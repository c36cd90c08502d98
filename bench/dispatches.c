/* SPDX-License-Identifier: MIT */
/* Measures what a dispatch costs apart from its waves: small grids of one kernel, again and again, on one
 * thread and on two. The first dispatch of a machine lowers the kernel; its time has a column of its own. */
#include "clock.h"
#include "small.h"
#include "wavemem/wavemem.h"

#include <stdio.h>
#include <string.h>

enum { REPEATS = 4001, SMALL_REPEATS = 21, GROUP = 256, ITEMS = 64 * GROUP };

static _Noreturn void die(const char *message)
{
    fprintf(stderr, "dispatches: %s\n", message);
    exit(2);
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double time_of(struct wm_machine *machine, const struct wm_object *object,
                      const struct wm_kernel *kernel, const struct wm_dispatch *dispatch)
{
    struct wm_result result = {.struct_size = sizeof result};
    struct wm_diag diag;
    const double begin = bench_seconds();
    if (wm_dispatch(machine, object, kernel, dispatch, &result, &diag))
        die(diag.message);
    const double took = bench_seconds() - begin;
    if (result.fault.kind)
        die(result.fault.text);
    return took;
}

/* One line: a grid of so many workgroups of the copy kernel. */
static void measure(const struct wm_object *object, unsigned groups, unsigned threads)
{
    static double took[REPEATS];
    const unsigned repeats = bench_size(REPEATS, SMALL_REPEATS);
    struct wm_machine *machine;
    const struct wm_kernel *kernel;
    struct wm_diag diag;
    struct {
        uint64_t in, out;
    } arguments;
    if (wm_object_find_kernel(object, NULL, &kernel, &diag) || wm_machine_create("gfx900", &machine, &diag) ||
        wm_load(machine, object, &diag) || wm_allocate(machine, 4 * ITEMS, 0, "in", &arguments.in, &diag) ||
        wm_allocate(machine, 4 * ITEMS, 0, "out", &arguments.out, &diag))
        die(diag.message);
    const struct wm_dispatch dispatch = {.struct_size = sizeof dispatch,
                                         .grid = {groups * GROUP},
                                         .workgroup = {GROUP},
                                         .arguments = &arguments,
                                         .arguments_size = sizeof arguments,
                                         .threads = threads};
    const double first = time_of(machine, object, kernel, &dispatch);
    for (unsigned i = 0; i < repeats; i++)
        took[i] = time_of(machine, object, kernel, &dispatch);
    qsort(took, repeats, sizeof *took, ascending);
    printf("%10u %8u %10.1f %10.1f %10.1f\n", groups, threads, 1e6 * first, 1e6 * took[0],
           1e6 * took[repeats / 2]);
    wm_machine_destroy(machine);
}

int main(int argc, char **argv)
{
    struct wm_object *object;
    struct wm_diag diag;
    if (argc != 2)
        die("usage: bench-dispatches COPY.CO");
    if (wm_object_open_file(argv[1], NULL, &object, &diag))
        die(diag.message);
    printf("%10s %8s %10s %10s %10s\n", "workgroups", "threads", "first us", "least us", "median us");
    for (unsigned groups = 1; groups * GROUP <= ITEMS; groups *= 8)
        for (unsigned threads = 1; threads <= 2; threads++)
            measure(object, groups, threads);
    wm_object_close(object);
    return 0;
}
