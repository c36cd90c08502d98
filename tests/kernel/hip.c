/* SPDX-License-Identifier: MIT */
/* Runs the HIP examples from their bundles, plain and compressed, for each target in them, and compares with
 * plain C. The kernels are templates, found by their source names, with dynamic shared memory.
 *
 * usage: hip FOLDER-OF-BUNDLES */
#include <wavemem/wavemem.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *folder;

struct gpu {
    struct wm_object *object;
    struct wm_machine *machine;
};

static struct gpu open_gpu(const char *file, const char *target)
{
    struct gpu gpu = {0};
    struct wm_diag diag;
    char path[4096];
    snprintf(path, sizeof(path), "%s/%s", folder, file);
    if (wm_object_open_file(path, target, &gpu.object, &diag) ||
        wm_machine_create(target, &gpu.machine, &diag) || wm_load(gpu.machine, gpu.object, &diag))
        fail_msg("%s", diag.message);
    assert_string_equal(wm_object_target(gpu.object), target);
    return gpu;
}

static void close_gpu(struct gpu *gpu)
{
    wm_machine_destroy(gpu->machine);
    wm_object_close(gpu->object);
}

static uint64_t give(const struct gpu *gpu, const void *bytes, size_t size, const char *name)
{
    uint64_t address;
    struct wm_diag diag;
    if (wm_allocate(gpu->machine, size, 0, name, &address, &diag) ||
        (bytes && wm_write(gpu->machine, address, bytes, size, &diag)))
        fail_msg("%s", diag.message);
    return address;
}

struct call {
    const char *kernel;
    const void *arguments;
    size_t size;
    uint32_t groups, workgroup, dynamic_lds;
};

static void run(const struct gpu *gpu, const struct call *call)
{
    const struct wm_kernel *kernel;
    struct wm_diag diag;
    if (wm_object_find_kernel(gpu->object, call->kernel, &kernel, &diag))
        fail_msg("%s", diag.message);
    const struct wm_dispatch dispatch = {.struct_size = sizeof(dispatch),
                                         .grid = {call->groups * call->workgroup},
                                         .workgroup = {call->workgroup},
                                         .arguments = call->arguments,
                                         .arguments_size = call->size,
                                         .dynamic_lds = call->dynamic_lds,
                                         .timeout = 60};
    struct wm_result result = {.struct_size = sizeof(result)};
    if (wm_dispatch(gpu->machine, gpu->object, kernel, &dispatch, &result, &diag))
        fail_msg("%s", diag.message);
    if (result.fault.kind != WM_FAULT_NONE)
        fail_msg("%s", result.fault.text);
}

static uint64_t random_number(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state ^ *state >> 31;
}

/* ---- convolve: small integers, so that float sums are exact in any order ---- */

enum { N = 5003, GROUP = 192, GROUPS = (N + GROUP - 1) / GROUP };

static int sample(int i)
{
    return i < 0 || i >= N ? 0 : (i * 37 + i / 11) % 201 - 100;
}

static int weight(int k)
{
    return (k * k + 3) % 17 - 8;
}

static double convolved(int i, int radius)
{
    double sum = 0;
    for (int k = -radius; k <= radius; k++)
        sum += sample(i + k) * weight(k + radius);
    return sum;
}

static void convolve_floats(const struct gpu *gpu)
{
    enum { RADIUS = 3 };
    struct {
        uint64_t out, in;
        uint32_t n;
        float weights[2 * RADIUS + 1];
    } arguments = {.n = N};
    float in[N], out[N];
    for (int i = 0; i < N; i++)
        in[i] = (float)sample(i);
    for (int k = 0; k <= 2 * RADIUS; k++)
        arguments.weights[k] = (float)weight(k);
    arguments.in = give(gpu, in, sizeof(in), "in");
    arguments.out = give(gpu, NULL, sizeof(out), "out");
    run(gpu, &(struct call){"filter::convolve<float, 3>", &arguments, sizeof(arguments), GROUPS, GROUP,
                            (GROUP + 2 * RADIUS) * sizeof(float)});
    assert_int_equal(wm_read(gpu->machine, arguments.out, out, sizeof(out), NULL), WM_OK);
    for (int i = 0; i < N; i++)
        if (out[i] != (float)convolved(i, RADIUS))
            fail_msg("element %d is %g, expected %g", i, out[i], convolved(i, RADIUS));
}

static void convolve_doubles(const struct gpu *gpu)
{
    enum { RADIUS = 8 };
    struct {
        uint64_t out, in;
        uint32_t n;
        double weights[2 * RADIUS + 1];
    } arguments = {.n = N};
    double in[N], out[N];
    for (int i = 0; i < N; i++)
        in[i] = sample(i);
    for (int k = 0; k <= 2 * RADIUS; k++)
        arguments.weights[k] = weight(k);
    arguments.in = give(gpu, in, sizeof(in), "in");
    arguments.out = give(gpu, NULL, sizeof(out), "out");
    run(gpu, &(struct call){"filter::convolve<double,8>", &arguments, sizeof(arguments), GROUPS, GROUP,
                            (GROUP + 2 * RADIUS) * sizeof(double)});
    assert_int_equal(wm_read(gpu->machine, arguments.out, out, sizeof(out), NULL), WM_OK);
    for (int i = 0; i < N; i++)
        if (out[i] != convolved(i, RADIUS))
            fail_msg("element %d is %g, expected %g", i, out[i], convolved(i, RADIUS));
}

/* ---- segments ---- */

enum { SEGMENTS = 23, ITEMS = 9000 };

/* Segments of very different lengths, some of them empty. */
static void make_starts(uint32_t starts[SEGMENTS + 1])
{
    for (uint32_t s = 0; s <= SEGMENTS; s++)
        starts[s] = s == SEGMENTS ? ITEMS : s * s * s * (s % 3 ? 1 : 2) / 3 % 700 + s * 350;
    for (uint32_t s = SEGMENTS; s--;)
        if (starts[s] > starts[s + 1])
            starts[s] = starts[s + 1];
}

static void sum_longs(const struct gpu *gpu)
{
    uint64_t state = 5, arguments[3];
    static int64_t in[ITEMS];
    int64_t out[SEGMENTS];
    uint32_t starts[SEGMENTS + 1];
    make_starts(starts);
    for (size_t i = 0; i < ITEMS; i++)
        in[i] = (int64_t)random_number(&state) >> 12;
    arguments[0] = give(gpu, NULL, sizeof(out), "result");
    arguments[1] = give(gpu, in, sizeof(in), "in");
    arguments[2] = give(gpu, starts, sizeof(starts), "start");
    /* four and a half waves */
    run(gpu, &(struct call){"_Z15reduce_segmentsIl3addEvPT_PKS1_PKj", arguments, sizeof(arguments), SEGMENTS,
                            288, 40});
    assert_int_equal(wm_read(gpu->machine, arguments[0], out, sizeof(out), NULL), WM_OK);
    for (size_t s = 0; s < SEGMENTS; s++) {
        int64_t sum = 0;
        for (uint32_t i = starts[s]; i < starts[s + 1]; i++)
            sum += in[i];
        if (out[s] != sum)
            fail_msg("segment %zu is %lld, expected %lld", s, (long long)out[s], (long long)sum);
    }
}

static void largest_ints(const struct gpu *gpu)
{
    uint64_t state = 6, arguments[3];
    static int32_t in[ITEMS];
    int32_t out[SEGMENTS];
    uint32_t starts[SEGMENTS + 1];
    make_starts(starts);
    for (size_t i = 0; i < ITEMS; i++)
        in[i] = (int32_t)random_number(&state) >> 4 | INT32_MIN; /* all negative */
    arguments[0] = give(gpu, NULL, sizeof(out), "result");
    arguments[1] = give(gpu, in, sizeof(in), "in");
    arguments[2] = give(gpu, starts, sizeof(starts), "start");
    run(gpu, &(struct call){"reduce_segments<int, maximum>", arguments, sizeof(arguments), SEGMENTS, 256,
                            4 * sizeof(int)});
    assert_int_equal(wm_read(gpu->machine, arguments[0], out, sizeof(out), NULL), WM_OK);
    for (size_t s = 0; s < SEGMENTS; s++) {
        int32_t largest = INT32_MIN;
        for (uint32_t i = starts[s]; i < starts[s + 1]; i++)
            largest = in[i] > largest ? in[i] : largest;
        if (out[s] != largest)
            fail_msg("segment %zu is %d, expected %d", s, out[s], largest);
    }
}

/* ---- all of them ---- */

struct test {
    const char *file, *target;
};

static void convolve(void **state)
{
    const struct test *test = *state;
    struct gpu gpu = open_gpu(test->file, test->target);
    convolve_floats(&gpu);
    convolve_doubles(&gpu);
    close_gpu(&gpu);
}

static void segments(void **state)
{
    const struct test *test = *state;
    struct gpu gpu = open_gpu(test->file, test->target);
    sum_longs(&gpu);
    largest_ints(&gpu);
    close_gpu(&gpu);
}

static void a_miss_lists_what_there_is(void **state)
{
    static const struct {
        const char *name;
        enum wm_status status;
        const char *message;
    } cases[] = {
        {"convolve", WM_NOT_FOUND, "no kernel 'convolve'; did you mean 'filter::convolve<float, 3>', '"},
        {"filter::convolve", WM_BAD_ARGUMENT,
         "2 kernels are called 'filter::convolve'; say which: 'filter::convolve<float, 3>', "
         "'filter::convolve<double, 8>'"},
        {"filter::convolve<float>", WM_NOT_FOUND,
         "it has 'filter::convolve<float, 3>', 'filter::convolve<double, 8>'"},
        {"", WM_NOT_FOUND, "it has 'filter::convolve<float, 3>', 'filter::convolve<double, 8>'"},
        {NULL, WM_BAD_ARGUMENT, "has 2 kernels; say which: 'filter::convolve<float, 3>', 'filter::con"},
    };
    (void)state;
    struct gpu gpu = open_gpu("convolve.packed.hipfb", "gfx906");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct wm_kernel *kernel;
        struct wm_diag diag = {0};
        if (wm_object_find_kernel(gpu.object, cases[i].name, &kernel, &diag) != cases[i].status ||
            !strstr(diag.message, cases[i].message))
            fail_msg("%s: '%s'; expected '%s'", cases[i].name, diag.message, cases[i].message);
    }
    close_gpu(&gpu);
}

int main(int count, char **arguments)
{
    if (count != 2) {
        fprintf(stderr, "usage: hip FOLDER-OF-BUNDLES\n");
        return 2;
    }
    folder = arguments[1];
    static const struct {
        const char *name;
        CMUnitTestFunction function;
    } examples[] = {{"convolve", convolve}, {"segments", segments}};
    static const char *const forms[] = {"plain", "packed"}, *const targets[] = {"gfx900", "gfx906"};
    static struct test test[8];
    static char names[8][64], files[8][64];
    struct CMUnitTest tests[9] = {cmocka_unit_test(a_miss_lists_what_there_is)};
    for (unsigned i = 0; i < 8; i++) {
        const char *name = examples[i & 1].name, *form = forms[i >> 1 & 1], *target = targets[i >> 2];
        snprintf(names[i], sizeof(names[i]), "%s, %s, %s", name, form, target);
        snprintf(files[i], sizeof(files[i]), "%s.%s.hipfb", name, form);
        test[i] = (struct test){files[i], target};
        tests[i + 1] = (struct CMUnitTest){
            .name = names[i], .test_func = examples[i & 1].function, .initial_state = &test[i]};
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
