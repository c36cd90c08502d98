/* SPDX-License-Identifier: MIT */
/* Times one kernel alternately on wavemem and on PoCL, and checks the results of both.
 *
 * usage: kernels WORKLOAD small|bench SOURCES OBJECTS THREADS PAIRS [wavemem] [pocl] [unchecked]
 *        kernels list       (the engines built in, then for each group a line of KERNEL=FILE)
 *
 * SOURCES and OBJECTS are the folders of the kernels' .cl and .co files.
 *
 * Prints one JSON object: for each engine the seconds of every run, and the largest error as a fraction of
 * the tolerance. The first run of each engine is checked, except with `unchecked`, and not timed. run.py
 * formats the results. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef BENCH_POCL
#include "pocl.h"
#endif
#include "further.h"
#include "runner.h"
#include "unseen.h"
#include "workloads.h"

enum { MOST_PAIRS = 99 };

static const struct group {
    const char *name;
    const struct workload *workloads;
    size_t count;
} groups[] = {
    {"examples", workloads, WORKLOAD_COUNT},
    {"further", further, FURTHER_COUNT},
    {"unseen", unseen, UNSEEN_COUNT},
};
enum { GROUPS = sizeof(groups) / sizeof(*groups) };

struct engine {
    bool wanted;
    double seconds[MOST_PAIRS];
    double worst;
    uint64_t wave_instructions; /* of one run; 0: unknown */
    char message[1100];
};

static int list(void)
{
#ifdef BENCH_POCL
    printf("wavemem pocl\n");
#else
    printf("wavemem\n");
#endif
    for (const struct group *group = groups; group < groups + GROUPS; group++) {
        printf("%s:", group->name);
        for (size_t i = 0; i < group->count; i++)
            printf(" %s=%s", group->workloads[i].name, group->workloads[i].file);
        printf("\n");
    }
    return 0;
}

static const struct workload *find(const char *name)
{
    for (const struct group *group = groups; group < groups + GROUPS; group++)
        for (size_t i = 0; i < group->count; i++)
            if (!strcmp(group->workloads[i].name, name))
                return &group->workloads[i];
    return NULL;
}

static int usage(void)
{
    fprintf(stderr,
            "usage: kernels WORKLOAD small|bench SOURCES OBJECTS THREADS PAIRS [wavemem] [pocl] [unchecked]\n"
            "       kernels list\n");
    return 2;
}

#ifdef BENCH_POCL
static bool run_pocl(struct pocl *pocl, uint32_t repeats, double *seconds, struct engine *engine)
{
    *seconds = 0;
    if (!pocl_reset(pocl, engine->message, sizeof(engine->message)))
        return false;
    for (uint32_t i = 0; i < repeats; i++)
        if (!pocl_dispatch(pocl, seconds, engine->message, sizeof(engine->message)))
            return false;
    return true;
}

static struct pocl *start_pocl(const struct workload *workload, const struct workload_run *run,
                               const char *folder, struct engine *engine)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/%s.cl", folder, workload->file);
    struct pocl *pocl = pocl_open(run, path, engine->message, sizeof(engine->message));
    double seconds;
    if (!pocl)
        return NULL;
    if (run_pocl(pocl, 1, &seconds, engine) &&
        pocl_check(pocl, &engine->worst, engine->message, sizeof(engine->message)))
        return pocl;
    pocl_close(pocl);
    return NULL;
}
#endif

static bool run_wavemem(struct runner *runner, uint32_t repeats, unsigned threads, double *seconds)
{
    if (!runner_reset(runner))
        return false;
    runner->seconds = 0;
    for (uint32_t i = 0; i < repeats; i++)
        if (!runner_dispatch(runner, threads))
            return false;
    *seconds = runner->seconds;
    return true;
}

static bool start_wavemem(const struct workload *workload, const struct workload_run *run, const char *folder,
                          unsigned threads, struct runner *runner, struct engine *engine)
{
    char path[4096];
    double seconds;
    snprintf(path, sizeof(path), "%s/%s.co", folder, workload->file);
    if (runner_open(runner, run, path) && run_wavemem(runner, 1, threads, &seconds) &&
        runner_check(runner, &engine->worst)) {
        engine->wave_instructions = runner->wave_instructions;
        return true;
    }
    snprintf(engine->message, sizeof(engine->message), "%s", runner->message);
    return false;
}

static void print_engine(const char *name, const struct engine *engine, int pairs)
{
    printf(", \"%s\": {\"worst\": %.3g, \"wave_instructions\": %llu, \"seconds\": [", name, engine->worst,
           (unsigned long long)engine->wave_instructions);
    for (int i = 0; i < pairs; i++)
        printf("%s%.6f", i > 0 ? ", " : "", engine->seconds[i]);
    printf("]}");
}

int main(int count, char **arguments)
{
    if (count == 2 && !strcmp(arguments[1], "list"))
        return list();
    const struct workload *workload = count >= 7 ? find(arguments[1]) : NULL;
    const int pairs = count >= 7 ? atoi(arguments[6]) : 0;
    if (!workload || pairs < 0 || pairs > MOST_PAIRS)
        return usage();
    const bool small = !strcmp(arguments[2], "small");
    const char *objects = arguments[4];
    const unsigned threads = (unsigned)atoi(arguments[5]);
    const uint32_t repeats = small ? 1 : workload->repeats;

    struct engine wavemem = {0}, peer = {0};
    bool checked = true;
    for (int i = 7; i < count; i++) {
        wavemem.wanted = wavemem.wanted || !strcmp(arguments[i], "wavemem");
        peer.wanted = peer.wanted || !strcmp(arguments[i], "pocl");
        checked = checked && strcmp(arguments[i], "unchecked");
    }
#ifndef BENCH_POCL
    if (peer.wanted) {
        fprintf(stderr, "kernels: built without OpenCL\n");
        return 2;
    }
#endif
    struct workload_run run;
    bool good = workload_prepare(workload, small ? workload->small : workload->bench, checked, &run);
    if (!good)
        snprintf(wavemem.message, sizeof(wavemem.message), "out of memory");

#ifdef BENCH_POCL
    struct pocl *pocl = NULL;
    if (peer.wanted && good)
        good = (pocl = start_pocl(workload, &run, arguments[3], &peer)) != NULL;
#endif
    struct runner runner = {0};
    if (wavemem.wanted && good)
        good = start_wavemem(workload, &run, objects, threads, &runner, &wavemem);
    for (int i = 0; i < pairs && good; i++) {
#ifdef BENCH_POCL
        if (pocl)
            good = run_pocl(pocl, repeats, &peer.seconds[i], &peer);
#endif
        if (wavemem.wanted && good)
            good = run_wavemem(&runner, repeats, threads, &wavemem.seconds[i]);
    }

    if (good) {
        printf("{\"name\": \"%s\", \"threads\": %u, \"repeats\": %u", workload->name, threads, repeats);
        if (wavemem.wanted)
            print_engine("wavemem", &wavemem, pairs);
        if (peer.wanted)
            print_engine("pocl", &peer, pairs);
        printf("}\n");
    } else {
        fprintf(stderr, "%s: %s%s\n", workload->name, wavemem.message, peer.message);
    }
#ifdef BENCH_POCL
    if (pocl)
        pocl_close(pocl);
#endif
    runner_close(&runner);
    workload_free(&run);
    return good ? 0 : 1;
}
