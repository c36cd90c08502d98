/* SPDX-License-Identifier: MIT */
/* Compares sampled with full runs of the seventeen example kernels: requests, scaled up, must be within the
 * reported error. The product is small, so that the sizes take many rounds.
 *
 * usage: samples FOLDER-OF-CODE-OBJECTS */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runner.h"
#include "workloads.h"

static const char *folder;

/* In the order of `workloads`. */
static const struct {
    const char *name;
    uint32_t size[3];
} sizes[WORKLOAD_COUNT] = {
    {"vecadd", {131079}},
    {"saxpy", {131079}},
    {"strided_copy", {65549, 8}},
    {"transpose_naive", {500}},
    {"transpose_lds", {500}},
    {"sgemm", {700, 600, 37}},
    {"reduction", {200003, 200}},
    {"histogram", {200003, 200}},
    {"nbody", {5003}},
    {"mandelbrot", {400, 300, 100}},
    {"sha256", {20011}},
    {"spmv", {9001, 4000}},
    {"fft1k", {203}},
    {"stencil2d", {517, 301}},
    {"scan", {300007}},
    {"blackscholes", {65551}},
    {"bitonic", {60007}},
};

/* Cache requests of all instructions of a kernel, and the reported error of a sample. */
struct told {
    char kernel[64];
    double requests, hits[2], error, scale; /* hits: hit rates of the vector L1 and L2 */
};

enum { KERNELS = 4 };

static double rate(const struct wm_profile_cache *cache)
{
    const double requests = (double)(cache->read.requests + cache->write.requests + cache->atomic.requests);
    const double hits = (double)(cache->read.hits + cache->write.hits + cache->atomic.hits);
    return requests > 0 ? hits / requests : 0;
}

static void tell(const struct wm_profile_kernel *kernel, struct told *told)
{
    *told = (struct told){.error = kernel->sample_error, .scale = kernel->sample_scale};
    snprintf(told->kernel, sizeof told->kernel, "%s", kernel->kernel);
    for (uint32_t i = 0; i < kernel->caches; i++) {
        const struct wm_profile_cache *cache = &kernel->cache[i];
        if (cache->level == WM_CACHE_VECTOR || cache->level == WM_CACHE_SCALAR)
            told->requests +=
                (double)(cache->read.requests + cache->write.requests + cache->atomic.requests) * told->scale;
        if (cache->level == WM_CACHE_VECTOR)
            told->hits[0] = rate(cache);
        if (cache->level == WM_CACHE_L2)
            told->hits[1] = rate(cache);
    }
}

static size_t profile(const struct workload *workload, const struct workload_run *run, unsigned one_in,
                      struct told told[KERNELS])
{
    const struct wm_gpu *vega;
    struct wm_diag diag;
    struct runner runner;
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.co", folder, workload->file);
    assert_true(runner_open(&runner, run, path) && runner_reset(&runner));
    assert_int_equal(wm_gpu_find("vega64", &vega, &diag), WM_OK);
    struct wm_gpu gpu = *vega;
    gpu.compute_units = gpu.engines = 1;
    assert_int_equal(wm_profile_create(&runner.profile, &diag), WM_OK);
    assert_int_equal(wm_profile_set_gpu(runner.profile, &gpu, &diag), WM_OK);
    if (one_in > 1)
        assert_int_equal(wm_profile_set_sample(runner.profile, one_in, &diag), WM_OK);
    if (!runner_dispatch(&runner, 2))
        fail_msg("%s: %s", workload->name, runner.message);
    size_t count;
    const struct wm_profile_kernel *kernels = wm_profile_kernels(runner.profile, &count);
    assert_in_range(count, 1, KERNELS);
    for (size_t i = 0; i < count; i++)
        tell(&kernels[i], &told[i]);
    wm_profile_destroy(runner.profile);
    runner.profile = NULL;
    runner_close(&runner);
    return count;
}

/* Nearly all kernels have enough rounds at these sizes; for the others no error is reported. */
static void errors_cover_the_truth(void **state)
{
    static const unsigned samples[] = {2, 4};
    unsigned told_of = 0, kernels = 0, outside = 0;
    (void)state;
    for (size_t i = 0; i < WORKLOAD_COUNT; i++) {
        struct workload_run run;
        struct told all[KERNELS], some[KERNELS];
        const struct workload *workload = workload_find(sizes[i].name);
        assert_non_null(workload);
        assert_true(workload_prepare(workload, sizes[i].size, false, &run));
        const size_t count = profile(workload, &run, 1, all);
        for (size_t s = 0; s < sizeof samples / sizeof *samples; s++) {
            assert_int_equal(profile(workload, &run, samples[s], some), count);
            for (size_t k = 0; k < count; k++) {
                const double off = fabs(some[k].requests / all[k].requests - 1);
                assert_string_equal(some[k].kernel, all[k].kernel);
                printf(
                    "%-16s 1/%u x %-6.3g requests off %7.4f%%, said %8.4f%%; hits L1 %5.1f%% -> %5.1f%%, L2 "
                    "%5.1f%% -> %5.1f%%\n",
                    all[k].kernel, samples[s], some[k].scale, 100 * off, 100 * some[k].error,
                    100 * all[k].hits[0], 100 * some[k].hits[0], 100 * all[k].hits[1], 100 * some[k].hits[1]);
                kernels++;
                told_of += some[k].error >= 0;
                outside += some[k].error >= 0 && off > some[k].error + 1e-9;
            }
        }
        workload_free(&run);
    }
    printf("%u of %u told, %u outside\n", told_of, kernels, outside);
    assert_true(told_of * 4 >= kernels * 3);
    assert_true(outside * 20 <= told_of); /* 95 % confidence interval */
}

int main(int count, char **words)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(errors_cover_the_truth)};
    if (count != 2) {
        fprintf(stderr, "usage: samples FOLDER-OF-CODE-OBJECTS\n");
        return 2;
    }
    folder = words[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
