/* SPDX-License-Identifier: MIT */
/* Measures the cost of profiling: times the example kernels alternately without and with a profile.
 *
 * usage: looking EXAMPLES-FOLDER THREADS PAIRS [--interpreted] [--cpu] [--CHECK] ... [WORKLOAD ...]
 * (none: all; sizes of the benchmark)
 * --interpreted: runs without a profile or check are not compiled, whatever WAVEMEM_COMPILE says.
 * --cpu: measures the CPU time of all threads, for busy machines. The thread of the cache model then counts
 * in full, although it runs beside the others where processors are free.
 * --memory, --uninit, --races, --sync, --waits, --hazards, --everything, --portability, --float: with a check
 * for these errors instead of a profile, which must find nothing. --portability repeats each dispatch in
 * another order, and --everything does not include it.
 *
 * Prints a line per kernel with both medians in milliseconds and their ratio, then the geometric mean of the
 * ratios. Times are those of the dispatches, including the cache models. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "runner.h"
#include "small.h"
#include "workloads.h"

enum { MOST_PAIRS = 99 };

static int compare(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, compare);
    return values[count / 2];
}

static unsigned checked;           /* enum wm_check_what; 0: profiles */
static bool interprets;            /* --interpreted */
static bool sums_threads;          /* --cpu */
static char compiles[16] = "auto"; /* WAVEMEM_COMPILE of the other runs */

static double seconds_now(void)
{
    return sums_threads ? bench_clock(CLOCK_PROCESS_CPUTIME_ID) : bench_seconds();
}

/* The buffers are new, so that the check sees who writes them. */
static bool run_checked(struct runner *runner, unsigned threads, double *seconds)
{
    struct wm_diag diag;
    size_t count;
    if (wm_check_create(checked, &runner->check, &diag) ||
        wm_check_machine(runner->check, runner->machine, &diag) ||
        (checked & WM_CHECK_PORTABILITY && wm_check_shuffle(runner->check, &(uint64_t){1}, 1, &diag)))
        return false;
    bool good = runner_allocate(runner) && runner_reset(runner);
    const double begin = seconds_now();
    good = good && runner_dispatch(runner, threads);
    *seconds = seconds_now() - begin;
    const struct wm_finding *findings = wm_check_findings(runner->check, &count);
    for (size_t i = 0; i < count; i++)
        fprintf(stderr, "%s+0x%llx %s: %s: %s\n", findings[i].kernel, (unsigned long long)findings[i].offset,
                findings[i].text, findings[i].rule, findings[i].message);
    wm_check_destroy(runner->check);
    runner->check = NULL;
    return good && !count;
}

static bool run(struct runner *runner, unsigned threads, bool look, double *seconds)
{
    struct wm_diag diag;
    runner->profile = NULL;
    runner->check = NULL;
    setenv("WAVEMEM_COMPILE", interprets && !look ? "off" : compiles, 1);
    if (look && checked)
        return run_checked(runner, threads, seconds);
    if (look && wm_profile_create(&runner->profile, &diag) != WM_OK)
        return false;
    if (!runner_reset(runner))
        return false;
    const double begin = seconds_now();
    const bool good = runner_dispatch(runner, threads);
    *seconds = seconds_now() - begin;
    wm_profile_destroy(runner->profile);
    runner->profile = NULL;
    return good;
}

/* Returns the ratio; 0: failed, with a message. */
static double measure(const struct workload *workload, const char *folder, unsigned threads, int pairs)
{
    struct workload_run work;
    struct runner runner = {0};
    double plain[MOST_PAIRS], looking[MOST_PAIRS], unused;
    char path[4096];
    snprintf(path, sizeof path, "%s/gfx900/%s.co", folder, workload->file);
    const uint32_t *size = bench_size(0, 1) ? workload->small : workload->bench;
    bool good = workload_prepare(workload, size, false, &work) && runner_open(&runner, &work, path) &&
                run(&runner, threads, false, &unused);
    for (int i = 0; i < pairs && good; i++)
        good = run(&runner, threads, false, &plain[i]) && run(&runner, threads, true, &looking[i]);
    if (!good)
        fprintf(stderr, "%s: %s\n", workload->name, runner.message);
    const double without = good ? median(plain, pairs) : 0, with = good ? median(looking, pairs) : 0;
    if (good)
        printf("%-20s %9.2f ms %9.2f ms  %5.2f\n", workload->name, 1e3 * without, 1e3 * with, with / without);
    fflush(stdout);
    runner_close(&runner);
    workload_free(&work);
    return good ? with / without : 0;
}

/* --memory ... */
static bool add_check(const char *name)
{
    static const struct {
        const char *name;
        unsigned what;
    } checks[] = {{"memory", WM_CHECK_MEMORY},
                  {"uninit", WM_CHECK_UNINIT},
                  {"races", WM_CHECK_RACES},
                  {"sync", WM_CHECK_SYNC},
                  {"waits", WM_CHECK_WAITS},
                  {"hazards", WM_CHECK_HAZARDS},
                  {"everything", WM_CHECK_MEMORY | WM_CHECK_UNINIT | WM_CHECK_RACES | WM_CHECK_SYNC |
                                     WM_CHECK_WAITS | WM_CHECK_HAZARDS},
                  {"portability", WM_CHECK_PORTABILITY},
                  {"float", WM_CHECK_FLOAT}};
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
        if (strcmp(checks[i].name, name) == 0) {
            checked |= checks[i].what;
            return true;
        }
    fprintf(stderr,
            "looking: --%s: expected --interpreted, --cpu, --memory, --uninit, --races, --sync, --waits, "
            "--hazards, --everything, --portability or --float\n",
            name);
    return false;
}

int main(int count, char **arguments)
{
    int pairs = count >= 4 ? atoi(arguments[3]) : 0;
    if (pairs < 1 || pairs > MOST_PAIRS) {
        fprintf(stderr, "usage: looking EXAMPLES-FOLDER THREADS PAIRS [--interpreted] [--cpu] [--CHECK] ... "
                        "[WORKLOAD ...]\n");
        return 2;
    }
    pairs = (int)bench_size((unsigned)pairs, 1);
    const char *setting = getenv("WAVEMEM_COMPILE");
    if (setting)
        snprintf(compiles, sizeof compiles, "%s", setting);
    int first = 4;
    for (; first < count && strncmp(arguments[first], "--", 2) == 0; first++) {
        if (strcmp(arguments[first], "--interpreted") == 0)
            interprets = true;
        else if (strcmp(arguments[first], "--cpu") == 0)
            sums_threads = true;
        else if (!add_check(arguments[first] + 2))
            return 2;
    }
    double logarithms = 0;
    unsigned measured = 0;
    for (size_t i = 0; i < WORKLOAD_COUNT; i++) {
        bool wanted = count == first;
        for (int name = first; name < count; name++)
            wanted |= strcmp(arguments[name], workloads[i].name) == 0;
        if (!wanted)
            continue;
        const double ratio = measure(&workloads[i], arguments[1], (unsigned)atoi(arguments[2]), pairs);
        if (ratio == 0)
            return 1;
        logarithms += log(ratio);
        measured++;
    }
    if (measured)
        printf("%-20s %31.2f\n", "geometric mean", exp(logarithms / measured));
    return 0;
}
