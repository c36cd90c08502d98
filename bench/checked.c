/* SPDX-License-Identifier: MIT */
/* Measures what a check of all classes costs in relation to a run, for each access pattern in checked.cl:
 * CPU time of a dispatch on one thread, the median of pairs.
 *
 * usage: checked CODE-OBJECT TARGET [--CLASS]... [KERNEL]... */
#include "clock.h"
#include "small.h"
#include "wavemem/wavemem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAIRS = 5, ITEMS = 1 << 18, WORKGROUP = 256, BUFFER = 1 << 24, GOAL = 6 };

static unsigned classes =
    WM_CHECK_MEMORY | WM_CHECK_UNINIT | WM_CHECK_RACES | WM_CHECK_SYNC | WM_CHECK_WAITS | WM_CHECK_HAZARDS;

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "checked: %s\n", what);
    exit(2);
}

static unsigned class_named(const char *name)
{
    static const struct {
        const char *name;
        unsigned class;
    } known[] = {
        {"memory", WM_CHECK_MEMORY}, {"uninit", WM_CHECK_UNINIT}, {"race", WM_CHECK_RACES},
        {"sync", WM_CHECK_SYNC},     {"wait", WM_CHECK_WAITS},    {"hazard", WM_CHECK_HAZARDS},
    };
    for (unsigned i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(name, known[i].name) == 0)
            return known[i].class;
    die("no such class");
}

static void show_findings(struct wm_check *check)
{
    size_t count;
    const struct wm_finding *findings = wm_check_findings(check, &count);
    for (size_t i = 0; i < count; i++)
        fprintf(stderr, "checked: %s+0x%llx %s: %s\n", findings[i].kernel,
                (unsigned long long)findings[i].offset, findings[i].rule, findings[i].message);
    if (count)
        exit(2);
}

/* Milliseconds of a dispatch on a new machine; without code that is compiled in the middle of it. */
static double milliseconds(struct wm_object *object, const struct wm_kernel *kernel, const char *target,
                           uint32_t items, bool checks)
{
    struct wm_diag diag;
    struct wm_machine *machine;
    struct wm_check *check = NULL;
    uint64_t address[2];
    double taken = 0;
    if (wm_machine_create(target, &machine, &diag) || wm_load(machine, object, &diag))
        die(diag.message);
    if (checks && (wm_check_create(classes, &check, &diag) || wm_check_machine(check, machine, &diag)))
        die(diag.message);
    for (unsigned i = 0; i < 2; i++)
        if (wm_allocate(machine, BUFFER, 0, i ? "b" : "a", &address[i], &diag))
            die(diag.message);
    uint32_t *words = wm_host_pointer(machine, address[0], BUFFER);
    for (uint32_t i = 0; i < BUFFER / 4; i++)
        words[i] = i;
    const struct wm_dispatch dispatch = {
        .struct_size = sizeof dispatch,
        .grid = {items},
        .workgroup = {WORKGROUP},
        .arguments = address,
        .arguments_size = sizeof address,
        .threads = 1,
        .check = check,
    };
    struct wm_result result = {.struct_size = sizeof result};
    const double begin = 1e3 * bench_cpu_seconds();
    if (wm_dispatch(machine, object, kernel, &dispatch, &result, &diag))
        die(diag.message);
    taken = 1e3 * bench_cpu_seconds() - begin;
    if (result.fault.kind)
        die(result.fault.text);
    if (check)
        show_findings(check);
    wm_check_destroy(check);
    wm_machine_destroy(machine);
    return taken;
}

static int compare(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static double median(double *values, unsigned count)
{
    qsort(values, count, sizeof *values, compare);
    return values[count / 2];
}

static bool is_wanted(const char *name, char **names, int count)
{
    bool wanted = !count;
    for (int i = 0; i < count; i++)
        wanted |= strcmp(names[i], name) == 0;
    return wanted;
}

int main(int argc, char **argv)
{
    const unsigned pairs = bench_size(PAIRS, 1), items = bench_size(ITEMS, 1024);
    struct wm_diag diag;
    struct wm_object *object;
    if (argc < 3)
        die("usage: checked CODE-OBJECT TARGET [--CLASS]... [KERNEL]...");
    const char *const target = argv[2];
    if (wm_object_open_file(argv[1], target, &object, &diag))
        die(diag.message);
    for (unsigned chosen = 0; argc > 3 && strncmp(argv[3], "--", 2) == 0; argc--, argv++)
        classes = chosen |= class_named(argv[3] + 2);
    for (size_t k = 0; k < wm_object_kernel_count(object); k++) {
        const struct wm_kernel *kernel = wm_object_kernel(object, k);
        double plain[PAIRS], checked[PAIRS];
        if (!is_wanted(kernel->name, argv + 3, argc - 3))
            continue;
        for (unsigned i = 0; i < pairs; i++) {
            plain[i] = milliseconds(object, kernel, target, items, false);
            checked[i] = milliseconds(object, kernel, target, items, true);
        }
        const double without = median(plain, pairs), with = median(checked, pairs);
        printf("%-24s %8.2f ms %8.2f ms  %6.2f", kernel->name, without, with, with / without);
        if (items == ITEMS)
            printf("%s", with > GOAL * without ? "   above the goal" : "");
        putchar('\n');
        fflush(stdout);
    }
    wm_object_close(object);
    return 0;
}
