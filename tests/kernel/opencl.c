/* SPDX-License-Identifier: MIT */
/* clang-format off */
/* Runs every kernel of an OpenCL source twice, as GPU code on wavemem and compiled by clang for the host, and
 * compares everything that the two runs wrote.
 *
 * usage: opencl FOLDER SUFFIX HOST-SUFFIX SOURCE...      (FOLDER/NAMESUFFIX.co and FOLDER/NAMEHOST-SUFFIX.so)
 * Kernels whose name contains the value of WAVEMEM_TEST_WITHOUT are skipped.
 *
 * The type and name of a kernel argument select its value:
 *   const pointer            input of its type: edge values and random bits, floats between -100 and 100
 *   const pointer any...     floats of all classes: denormals, infinities, NaNs
 *   other pointer            output, initially zero; every bit is compared, but all NaNs are equal
 *   other pointer inout...   output, initialized like an input
 *   other pointer near...    output; floats may differ by 2^-20 of their value
 *   local pointer            LOCAL_BYTES of LDS
 *   uint                     the number of work-items
 *   struct                   40 bytes: 0, 1, 2, ... */
/* clang-format on */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <math.h>

#include <wavemem/wavemem.h>

#include "base/random.h"
#include "opencl/items.h"

enum { ARGUMENTS = 6, BUFFER_BYTES = 256 << 10, LOCAL_BYTES = 8 << 10, ITEMS = 1000, STRUCT_BYTES = 40 };

struct by_value {
    uint8_t bytes[STRUCT_BYTES];
};

/* The host reference calls kernels with more arguments than they take, which the x86-64 ABI allows. */
typedef void plain_kernel(void *, void *, void *, void *, void *, void *);
typedef void struct_kernel(struct by_value, void *, void *, void *, void *, void *);

struct call {
    void *function;
    void *argument[ARGUMENTS];
    struct by_value by_value;
    bool first_is_struct;
};

struct test {
    struct wm_object *object;
    const struct wm_kernel *kernel;
    void *function;
};

static void call_kernel(void *user)
{
    const struct call *c = user;
    void *const *a = c->argument;
    if (c->first_is_struct)
        ((struct_kernel *)c->function)(c->by_value, a[1], a[2], a[3], a[4], a[5]);
    else
        ((plain_kernel *)c->function)(a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* ---- contents of buffers ---- */

enum element { INTEGER, FLOAT };

/* The element type of "float4*": its size and kind. */
static unsigned element_bytes(const char *type, enum element *kind)
{
    static const struct {
        const char *name;
        unsigned bytes;
        enum element kind;
    } types[] = {{"char", 1, INTEGER}, {"uchar", 1, INTEGER}, {"short", 2, INTEGER}, {"ushort", 2, INTEGER},
                 {"int", 4, INTEGER},  {"uint", 4, INTEGER},  {"long", 8, INTEGER},  {"ulong", 8, INTEGER},
                 {"half", 2, FLOAT},   {"float", 4, FLOAT},   {"double", 8, FLOAT}};
    const size_t length = strcspn(type, "0123456789*");
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (strlen(types[i].name) == length && memcmp(types[i].name, type, length) == 0) {
            *kind = types[i].kind;
            return types[i].bytes;
        }
    *kind = INTEGER; /* a struct or an atomic type */
    return 4;
}

static void put(uint8_t *to, unsigned bytes, uint64_t value)
{
    memcpy(to, &value, bytes); /* little-endian, like the GPU */
}

static uint64_t integer(unsigned bytes, uint64_t bits, uint64_t choice)
{
    const uint64_t top = UINT64_C(1) << (bytes * 8 - 1);
    const uint64_t edges[] = {0, 1, ~UINT64_C(0), top, top - 1, top + 1, 2, bytes * 8};
    return choice % 4 == 0 ? edges[bits % 8] : choice % 4 == 1 ? bits >> (bits % (bytes * 8)) : bits;
}

static const unsigned mantissa_bits[] = {[2] = 10, [4] = 23, [8] = 52};

static uint64_t float_of_any_kind(unsigned bytes, uint64_t bits, uint64_t choice)
{
    const unsigned mantissa = mantissa_bits[bytes], width = bytes * 8;
    const uint64_t sign = bits & UINT64_C(1) << 63 ? UINT64_C(1) << (width - 1) : 0;
    const uint64_t one = ((UINT64_C(1) << (width - 2 - mantissa)) - 1) << mantissa;
    const uint64_t infinity = (one << 1 | UINT64_C(1) << mantissa) & ((UINT64_C(1) << (width - 1)) - 1);
    const uint64_t edges[] = {0,
                              1,
                              (UINT64_C(1) << mantissa) - 1,
                              UINT64_C(1) << mantissa,
                              one,
                              one + 1,
                              infinity - 1,
                              infinity,
                              one - 1,
                              infinity | UINT64_C(1) << (mantissa - 1)};
    if (choice % 3 == 0)
        return sign | edges[bits % 10];
    bits &= width == 64 ? ~UINT64_C(0) : (UINT64_C(1) << width) - 1;
    /* Quiet NaNs only: OpenCL has no signalling NaNs, and compilers do not preserve them. */
    return (bits & infinity) == infinity && (bits & ((UINT64_C(1) << mantissa) - 1))
               ? bits | UINT64_C(1) << (mantissa - 1)
               : bits;
}

static uint64_t float_between(unsigned bytes, uint64_t bits)
{
    const double x = (double)(bits >> 40) * 0x1p-24 * 200 - 100;
    const float narrow = (float)x;
    const _Float16 half = (_Float16)narrow;
    uint64_t r = 0;
    memcpy(&r,
           bytes == 8   ? (const void *)&x
           : bytes == 4 ? (const void *)&narrow
                        : (const void *)&half,
           bytes);
    return r;
}

static void fill(uint8_t *to, const char *type, const char *name, uint64_t seed)
{
    enum element kind;
    const unsigned bytes = element_bytes(type, &kind);
    for (size_t i = 0; i < BUFFER_BYTES / bytes; i++) {
        const uint64_t bits = wmi_random_bits(seed, i), choice = wmi_random_bits(seed + 100, i) >> 8;
        put(to + i * bytes, bytes,
            kind == INTEGER                ? integer(bytes, bits, choice)
            : strncmp(name, "any", 3) == 0 ? float_of_any_kind(bytes, bits, choice)
                                           : float_between(bytes, bits));
    }
}

/* ---- comparing ---- */

static double as_double(const uint8_t *from, unsigned bytes)
{
    _Float16 half;
    float narrow;
    double wide;
    memcpy(bytes == 8 ? (void *)&wide : bytes == 4 ? (void *)&narrow : (void *)&half, from, bytes);
    return bytes == 8 ? wide : bytes == 4 ? (double)narrow : (double)half;
}

static bool same(const uint8_t *got, const uint8_t *expected, unsigned bytes, enum element kind, bool near)
{
    if (memcmp(got, expected, bytes) == 0)
        return true;
    if (kind != FLOAT)
        return false;
    const double x = as_double(got, bytes), y = as_double(expected, bytes);
    return (x != x && y != y) || (near && fabs(x - y) <= 0x1p-20 * fabs(y));
}

static void compare(const struct test *test, const struct wm_argument *argument, const uint8_t *got,
                    const uint8_t *expected)
{
    enum element kind;
    const unsigned bytes = element_bytes(argument->type_name, &kind);
    const bool near = strncmp(argument->name, "near", 4) == 0;
    const bool triples = strstr(argument->type_name, "3*") != NULL; /* whose padding element is undefined */
    size_t different = 0, first = 0;
    for (size_t i = 0; i < BUFFER_BYTES / bytes; i++)
        if (!(triples && i % 4 == 3) && !same(got + i * bytes, expected + i * bytes, bytes, kind, near) &&
            different++ == 0)
            first = i;
    if (different == 0)
        return;
    uint64_t a = 0, b = 0;
    memcpy(&a, got + first * bytes, bytes);
    memcpy(&b, expected + first * bytes, bytes);
    print_message("%s: %zu elements of '%s' differ; the first is %zu: 0x%llx, expected 0x%llx",
                  test->kernel->name, different, argument->name, first, (unsigned long long)a,
                  (unsigned long long)b);
    if (kind == FLOAT)
        print_message(" (%.17g, %.17g)", as_double(got + first * bytes, bytes),
                      as_double(expected + first * bytes, bytes));
    print_message("\n");
    fail();
}

/* ---- running ---- */

/* One kernel with its arguments, for the machine and for the host reference. */
struct run {
    const struct test *test;
    struct wm_machine *machine;
    struct wm_check *check; /* of uninitialised values, or NULL */
    struct call call;
    uint64_t address[ARGUMENTS]; /* of buffers */
    uint8_t kernarg[256];
    size_t end; /* end of the explicit arguments */
    uint32_t lds, grid[3], workgroup[3];
};

/* Uses whole workgroups of the required size, otherwise workgroups of 64 work-items with a smaller last
 * one. */
static void choose_grid(struct run *run)
{
    const uint32_t *required = run->test->kernel->required_workgroup;
    const uint32_t size = required[0] * required[1] * required[2];
    for (unsigned i = 0; i < 3; i++) {
        run->workgroup[i] = size ? required[i] : i ? 1 : 64;
        run->grid[i] = size ? required[i] : i ? 1 : ITEMS;
    }
    if (size)
        run->grid[0] *= (ITEMS + size - 1) / size;
}

static bool is_input(const struct wm_argument *argument)
{
    return argument->is_const || strncmp(argument->name, "inout", 5) == 0;
}

/* Host reference buffer of argument number `at`. */
static void *new_buffer(const struct wm_argument *argument, size_t at)
{
    uint8_t *buffer = calloc(1, BUFFER_BYTES);
    assert_non_null(buffer);
    if (is_input(argument))
        fill(buffer, argument->type_name, argument->name, at + 1);
    return buffer;
}

static void prepare_argument(struct run *run, const struct wm_argument *argument, size_t at)
{
    struct call *call = &run->call;
    struct wm_diag diag = {0};
    uint8_t *place = run->kernarg + argument->offset;
    assert_true(at < ARGUMENTS);
    run->end = argument->offset + argument->size;
    assert_true(run->end <= sizeof(run->kernarg));
    if (argument->kind == WM_ARGUMENT_GLOBAL_BUFFER) {
        call->argument[at] = new_buffer(argument, at);
        if (wm_allocate(run->machine, BUFFER_BYTES, 0, argument->name, &run->address[at], &diag))
            fail_msg("%s", diag.message);
        memcpy(place, &run->address[at], 8);
    } else if (argument->kind == WM_ARGUMENT_DYNAMIC_LDS) {
        const uint32_t lds = run->test->kernel->lds_size + run->lds;
        call->argument[at] = calloc(1, LOCAL_BYTES);
        assert_non_null(call->argument[at]);
        memcpy(place, &lds, 4);
        run->lds += LOCAL_BYTES;
    } else if (argument->size == STRUCT_BYTES) {
        assert_int_equal(at, 0);
        call->first_is_struct = true;
        for (unsigned i = 0; i < STRUCT_BYTES; i++)
            call->by_value.bytes[i] = (uint8_t)i;
        memcpy(place, &call->by_value, STRUCT_BYTES);
    } else {
        assert_int_equal(argument->size, 4);
        const uint32_t items = run->grid[0] * run->grid[1] * run->grid[2];
        call->argument[at] = (void *)(uintptr_t)items;
        memcpy(place, &items, 4);
    }
}

/* Calls `use` for each argument in the source. */
static void each_argument(struct run *run, void (*use)(struct run *, const struct wm_argument *, size_t at))
{
    const struct wm_kernel *kernel = run->test->kernel;
    for (size_t i = 0, at = 0; i < kernel->argument_count; i++)
        if (kernel->arguments[i].kind != WM_ARGUMENT_HIDDEN)
            use(run, &kernel->arguments[i], at++);
}

/* Writes the initial contents of the buffer. */
static void write_buffer(struct run *run, const struct wm_argument *argument, size_t at)
{
    if (argument->kind != WM_ARGUMENT_GLOBAL_BUFFER)
        return;
    void *buffer = new_buffer(argument, at);
    struct wm_diag diag = {0};
    if (wm_write(run->machine, run->address[at], buffer, BUFFER_BYTES, &diag))
        fail_msg("%s", diag.message);
    free(buffer);
}

static void compare_buffer(struct run *run, const struct wm_argument *argument, size_t at)
{
    if (argument->kind == WM_ARGUMENT_GLOBAL_BUFFER)
        compare(run->test, argument, wm_host_pointer(run->machine, run->address[at], BUFFER_BYTES),
                run->call.argument[at]);
}

static void free_argument(struct run *run, const struct wm_argument *argument, size_t at)
{
    if (argument->kind == WM_ARGUMENT_GLOBAL_BUFFER || argument->kind == WM_ARGUMENT_DYNAMIC_LDS)
        free(run->call.argument[at]);
}

/* LLVM's code has all required waits and wait states: a finding is an error in our checks. */
static void expect_no_findings(struct wm_check *check, const char *kernel)
{
    size_t count;
    const struct wm_finding *findings = wm_check_findings(check, &count);
    if (count)
        fail_msg("%s: %s: %s", kernel, findings[0].text, findings[0].message);
}

static void dispatch(const struct run *run, uint32_t threads)
{
    struct wm_dispatch dispatch = {.struct_size = sizeof(dispatch),
                                   .arguments = run->kernarg,
                                   .arguments_size = run->end,
                                   .dynamic_lds = run->lds,
                                   .threads = threads,
                                   .timeout = 60};
    /* get_work_dim() of the host's side: dimensions after the last that exceeds 1 are not there */
    const unsigned dimensions = run->grid[2] > 1 ? 3 : run->grid[1] > 1 ? 2 : 1;
    memcpy(dispatch.grid, run->grid, dimensions * sizeof *run->grid);
    memcpy(dispatch.workgroup, run->workgroup, sizeof(run->workgroup));
    struct wm_result result = {.struct_size = sizeof(result)};
    struct wm_diag diag = {0};
    const struct wm_kernel *kernel = run->test->kernel;
    dispatch.check = run->check;
    if (wm_dispatch(run->machine, run->test->object, kernel, &dispatch, &result, &diag))
        fail_msg("%s: %s", kernel->name, diag.message);
    if (result.fault.kind != WM_FAULT_NONE)
        fail_msg("%s: %s", kernel->name, result.fault.text);
    if (dispatch.check)
        expect_no_findings(dispatch.check, kernel->name);
}

/* What WAVEMEM_TEST_CHECK names; 0: nothing. */
static unsigned wanted_check(void)
{
    static const struct {
        const char *name;
        unsigned what;
    } checks[] = {{"waits", WM_CHECK_WAITS | WM_CHECK_HAZARDS},
                  {"uninit", WM_CHECK_UNINIT},
                  {"memory", WM_CHECK_MEMORY},
                  {"races", WM_CHECK_RACES | WM_CHECK_SYNC}};
    const char *wanted = getenv("WAVEMEM_TEST_CHECK");
    for (size_t i = 0; wanted && i < sizeof checks / sizeof *checks; i++)
        if (!strcmp(wanted, checks[i].name))
            return checks[i].what;
    return 0;
}

static void run_kernel(void **state)
{
    const struct test *test = *state;
    struct run run = {.test = test, .call.function = test->function};
    struct wm_diag diag = {0};
    if (wm_machine_create(wm_object_target(test->object), &run.machine, &diag) ||
        wm_load(run.machine, test->object, &diag))
        fail_msg("%s", diag.message);
    /* Before the buffers are allocated, so that it sees who writes them. */
    const unsigned what = wanted_check();
    if (what && (wm_check_create(what, &run.check, &diag) || wm_check_machine(run.check, run.machine, &diag)))
        fail_msg("%s", diag.message);
    choose_grid(&run);
    each_argument(&run, prepare_argument);
    assert_true(items_run(run.grid, run.workgroup, call_kernel, &run.call));
    for (uint32_t threads = 1; threads <= 2; threads++) {
        each_argument(&run, write_buffer);
        dispatch(&run, threads);
        each_argument(&run, compare_buffer);
    }
    each_argument(&run, free_argument);
    wm_check_destroy(run.check);
    wm_machine_destroy(run.machine);
}

static struct CMUnitTest *tests;
static size_t test_count;

/* Adds the kernels of one source; false after a message. */
static bool add_tests(const char *folder, const char *suffix, const char *host_suffix, const char *source)
{
    const char *slash = strrchr(source, '/'), *base = slash ? slash + 1 : source;
    const int length = (int)strcspn(base, ".");
    char path[4096];
    struct wm_diag diag = {0};
    struct wm_object *object;
    snprintf(path, sizeof(path), "%s/%.*s%s.so", folder, length, base, host_suffix);
    void *host = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!host) {
        fprintf(stderr, "%s\n", dlerror());
        return false;
    }
    snprintf(path, sizeof(path), "%s/%.*s%s.co", folder, length, base, suffix);
    if (wm_object_open_file(path, NULL, &object, &diag)) {
        fprintf(stderr, "%s\n", diag.message);
        return false;
    }
    const size_t kernels = wm_object_kernel_count(object);
    const char *without = getenv("WAVEMEM_TEST_WITHOUT");
    tests = realloc(tests, (test_count + kernels) * sizeof(*tests));
    for (size_t i = 0; i < kernels && tests; i++) {
        if (without && strstr(wm_object_kernel(object, i)->name, without))
            continue;
        struct test *test = malloc(sizeof(*test));
        if (!test)
            return false;
        *test = (struct test){object, wm_object_kernel(object, i), NULL};
        test->function = dlsym(host, test->kernel->name);
        if (!test->function) {
            fprintf(stderr, "%s\n", dlerror());
            return false;
        }
        tests[test_count++] =
            (struct CMUnitTest){.name = test->kernel->name, .test_func = run_kernel, .initial_state = test};
    }
    return tests != NULL;
}

int main(int count, char **arguments)
{
    if (count < 5) {
        fprintf(stderr, "usage: opencl FOLDER SUFFIX HOST-SUFFIX SOURCE...\n");
        return 2;
    }
    for (int i = 4; i < count; i++)
        if (!add_tests(arguments[1], arguments[2], arguments[3], arguments[i]))
            return 1;
    return _cmocka_run_group_tests("opencl", tests, test_count, NULL, NULL) ? 1 : 0;
}
