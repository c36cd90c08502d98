/* SPDX-License-Identifier: MIT */
/* What every part of the library does when memory runs out: allocation N of a scenario fails, or N and all
 * after it, for N = 1, 2, 3 ... until the scenario needs no more than N. A failure must become WM_NO_MEMORY,
 * a fault or an incomplete report that says so; or else the answer must be the same as with memory. Leaks are
 * for LeakSanitizer to see.
 *
 * The allocators are replaced below, for this program and for all libraries that it loads. */
#include "wavemem/wavemem.h"

#include <dlfcn.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
// clang-format off
#include <cmocka.h>
// clang-format on

/* ---- allocators that fail ---- */

#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define REAL(name)   __interceptor_##name
#define REAL_ALIGNED __interceptor_aligned_alloc
int __lsan_do_recoverable_leak_check(void);
/* libdw forgets its table of abbreviations when it gets no memory for the unit itself. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libdw.so\n";
}
const char *__lsan_default_options(void);
const char *__lsan_default_options(void)
{
    return "print_suppressions=0";
}
#define FIND_LEAKS() __lsan_do_recoverable_leak_check()
#define THREADS      1 /* the sanitizer's own start of a thread cannot do without memory */
#endif
#endif
#ifndef REAL
#define REAL(name)   __libc_##name
#define REAL_ALIGNED __libc_memalign
#define FIND_LEAKS() 0
#define THREADS      2
#endif

void *REAL(malloc)(size_t size);
void *REAL(calloc)(size_t count, size_t size);
void *REAL(realloc)(void *old, size_t size);
void *REAL_ALIGNED(size_t alignment, size_t size);

static atomic_ulong requests;       /* since the scenario began */
static unsigned long first_failure; /* 0: none */
static bool others_fail;            /* those after the first one */
static atomic_bool counting;

static bool refuses(void)
{
    if (!atomic_load(&counting))
        return false;
    const unsigned long number = ++requests;
    if (!first_failure || number < first_failure || (number > first_failure && !others_fail))
        return false;
    errno = ENOMEM;
    return true;
}

/* Libraries find these only if they are visible. */
#pragma GCC visibility push(default)

/* libdw 0.188 does not look whether it got its tables of abbreviations, of 16 bytes for each of a prime
 * number and one more. Not inline: the sanitizer asks for memory before its stack is ready for local
 * variables. */
static __attribute__((noinline)) bool libdw_relies_on(const void *caller, size_t size)
{
    static const size_t entries[] = {41 + 1, 83 + 1, 167 + 1, 337 + 1};
    Dl_info info;
    bool table = false;
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
        table |= size == 16 * entries[i];
    return table && dladdr(caller, &info) && info.dli_fname && strstr(info.dli_fname, "libdw");
}

void *malloc(size_t size)
{
    return refuses() && !libdw_relies_on(__builtin_return_address(0), size) ? NULL : REAL(malloc)(size);
}

void *calloc(size_t count, size_t size)
{
    return refuses() ? NULL : REAL(calloc)(count, size);
}

void *realloc(void *old, size_t size)
{
    return refuses() ? NULL : REAL(realloc)(old, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return refuses() ? NULL : REAL_ALIGNED(alignment, size);
}

char *strdup(const char *text)
{
    const size_t size = strlen(text) + 1;
    char *copy = malloc(size);
    return copy ? memcpy(copy, text, size) : NULL;
}

void *mmap(void *address, size_t size, int protection, int flags, int file, off_t offset)
{
    return refuses() ? MAP_FAILED : (void *)syscall(SYS_mmap, address, size, protection, flags, file, offset);
}

#pragma GCC visibility pop

/* ---- scenarios ---- */

struct answer {
    bool incomplete; /* it says that something is missing */
    size_t length;
    char text[1 << 16];
};

static void say(struct answer *answer, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(struct answer *answer, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    const size_t room = sizeof answer->text - answer->length;
    const int length = vsnprintf(answer->text + answer->length, room, format, list);
    va_end(list);
    answer->length += (size_t)length < room ? (size_t)length : room - 1;
}

/* A function that has nothing to return where there must be something has no memory. */
static enum wm_status lacks(const char *what, struct wm_diag *diag)
{
    snprintf(diag->message, sizeof diag->message, "nothing of %s", what);
    return diag->status = WM_NO_MEMORY;
}

enum { SIDE = 32, ITEMS = SIDE * SIDE };

struct work {
    struct wm_object *object;
    const struct wm_kernel *kernel;
    struct wm_machine *machine;
    struct {
        uint64_t in, out;
        uint32_t side;
    } arguments;
    struct wm_dispatch dispatch;
};

static enum wm_status begin(struct work *w, struct wm_diag *diag)
{
    static float in[ITEMS];
    *w = (struct work){0};
    for (unsigned i = 0; i < ITEMS; i++)
        in[i] = (float)i;
    enum wm_status status = wm_object_open_file(EXAMPLES "/transpose.co", NULL, &w->object, diag);
    status = status ? status : wm_object_find_kernel(w->object, "transpose_lds", &w->kernel, diag);
    status = status ? status : wm_machine_create(wm_object_target(w->object), &w->machine, diag);
    status = status ? status : wm_load(w->machine, w->object, diag);
    status = status ? status : wm_allocate(w->machine, sizeof in, 0, "in", &w->arguments.in, diag);
    status = status ? status : wm_allocate(w->machine, sizeof in, 0, "out", &w->arguments.out, diag);
    status = status ? status : wm_write(w->machine, w->arguments.in, in, sizeof in, diag);
    w->arguments.side = SIDE;
    w->dispatch = (struct wm_dispatch){.struct_size = sizeof w->dispatch,
                                       .grid = {SIDE, SIDE},
                                       .workgroup = {16, 16},
                                       .arguments = &w->arguments,
                                       .arguments_size = sizeof w->arguments,
                                       .threads = 1};
    return status;
}

static enum wm_status run(struct work *w, struct answer *answer, struct wm_diag *diag)
{
    static float out[ITEMS];
    struct wm_result result = {.struct_size = sizeof result};
    enum wm_status status = wm_dispatch(w->machine, w->object, w->kernel, &w->dispatch, &result, diag);
    status = status ? status : wm_read(w->machine, w->arguments.out, out, sizeof out, diag);
    if (status)
        return status;
    answer->incomplete |= *result.incomplete != '\0' || result.fault.kind == WM_FAULT_NO_MEMORY;
    for (unsigned i = 0; i < ITEMS && result.fault.kind != WM_FAULT_NO_MEMORY; i++)
        if (out[i] != (float)(i % SIDE * SIDE + i / SIDE))
            fail_msg("element %u is %g", i, out[i]);
    say(answer, "%s %llu instructions\n", result.fault.text, (unsigned long long)result.wave_instructions);
    return WM_OK;
}

static void end(struct work *w)
{
    wm_machine_destroy(w->machine);
    wm_object_close(w->object);
}

static enum wm_status loading(struct answer *answer, struct wm_diag *diag)
{
    struct work w;
    uint64_t address, size;
    enum wm_status status = begin(&w, diag);
    status = status ? status : wm_symbol(w.machine, w.object, "transpose_lds", &address, &size, diag);
    for (size_t i = 0; !status && i < w.kernel->argument_count; i++)
        say(answer, "%s %s\n", w.kernel->arguments[i].type_name, w.kernel->arguments[i].name);
    if (!status)
        say(answer, "%llx %llu\n", (unsigned long long)address, (unsigned long long)size);
    end(&w);
    return status;
}

static enum wm_status bundles(struct answer *answer, struct wm_diag *diag)
{
    static const char *const files[] = {EXAMPLES "/../hip/segments.packed.hipfb",
                                        EXAMPLES "/../hip/segments.plain.hipfb"};
    enum wm_status status = WM_OK;
    for (unsigned i = 0; i < sizeof files / sizeof *files && !status; i++) {
        struct wm_bundle *bundle = NULL;
        struct wm_object *object = NULL;
        status = wm_bundle_open_file(files[i], &bundle, diag);
        for (size_t k = 0; !status && k < wm_bundle_entry_count(bundle); k++)
            say(answer, "%s %zu\n", wm_bundle_entry(bundle, k)->id, wm_bundle_entry(bundle, k)->size);
        wm_bundle_close(bundle);
        status = status ? status : wm_object_open_file(files[i], "gfx900", &object, diag);
        for (size_t k = 0; !status && k < wm_object_kernel_count(object); k++) {
            const struct wm_kernel *kernel;
            status = wm_object_find_kernel(object, wm_object_kernel(object, k)->name, &kernel, diag);
            for (size_t a = 0; !status && a < kernel->argument_count; a++)
                say(answer, "%s %s\n", kernel->arguments[a].type_name, kernel->arguments[a].name);
        }
        wm_object_close(object);
    }
    return status;
}

static enum wm_status dispatching(struct answer *answer, struct wm_diag *diag)
{
    struct work w;
    enum wm_status status = begin(&w, diag);
    w.dispatch.threads = THREADS;
    w.dispatch.scalar_cache = WM_SCALAR_CACHE_CHECKED;
    status = status ? status : run(&w, answer, diag);
    end(&w);
    return status;
}

/* A load from no address: the report names the kernel and the line. */
static enum wm_status faulting(struct answer *answer, struct wm_diag *diag)
{
    struct work w;
    struct wm_result result = {.struct_size = sizeof result};
    enum wm_status status = begin(&w, diag);
    w.arguments.in = 0;
    status = status ? status : wm_dispatch(w.machine, w.object, w.kernel, &w.dispatch, &result, diag);
    if (!status) {
        answer->incomplete = *result.incomplete != '\0' || result.fault.kind == WM_FAULT_NO_MEMORY;
        say(answer, "%s\n", result.fault.text);
    }
    end(&w);
    return status;
}

/* Workgroups that wait for each other are parked. */
static enum wm_status waiting(struct answer *answer, struct wm_diag *diag)
{
    struct wm_machine *machine = NULL;
    struct wm_object *object = NULL;
    const struct wm_kernel *kernel = NULL;
    struct wm_result result = {.struct_size = sizeof result};
    struct {
        uint64_t arrived, a, b;
        uint32_t steps;
    } arguments = {.steps = 3};
    uint32_t a[4] = {0};
    enum wm_status status = wm_object_open_file(EXAMPLES "/waiting.co", NULL, &object, diag);
    status = status ? status : wm_object_find_kernel(object, "grid_barrier", &kernel, diag);
    status = status ? status : wm_machine_create("gfx900", &machine, diag);
    status = status ? status : wm_load(machine, object, diag);
    status = status ? status : wm_allocate(machine, 64, 0, "arrived", &arguments.arrived, diag);
    status = status ? status : wm_allocate(machine, sizeof a, 0, "a", &arguments.a, diag);
    status = status ? status : wm_allocate(machine, sizeof a, 0, "b", &arguments.b, diag);
    const struct wm_dispatch dispatch = {.struct_size = sizeof dispatch,
                                         .grid = {4 * 64},
                                         .workgroup = {64},
                                         .arguments = &arguments,
                                         .arguments_size = sizeof arguments,
                                         .threads = 1};
    status = status ? status : wm_dispatch(machine, object, kernel, &dispatch, &result, diag);
    status = status ? status : wm_read(machine, arguments.a, a, sizeof a, diag);
    if (!status) {
        answer->incomplete = *result.incomplete != '\0' || result.fault.kind == WM_FAULT_NO_MEMORY;
        say(answer, "%s %u %u %u %u\n", result.fault.text, a[0], a[1], a[2], a[3]);
    }
    wm_machine_destroy(machine);
    wm_object_close(object);
    return status;
}

/* A product with small caches: those of an L2 of 4 MiB take longer to clear than the kernel to run. */
static enum wm_status make_profile(struct wm_profile **profile, struct wm_diag *diag)
{
    struct wm_gpu gpu = *wm_gpu_default("gfx900");
    for (unsigned i = 0; i < WM_CACHE_LEVELS; i++)
        if (gpu.cache[i].bytes)
            gpu.cache[i].bytes = 16 * (uint64_t)gpu.cache[i].line * gpu.cache[i].ways;
    enum wm_status status = wm_profile_create(profile, diag);
    return status ? status : wm_profile_set_gpu(*profile, &gpu, diag);
}

static enum wm_status describe_profile(struct wm_profile *profile, struct answer *answer,
                                       struct wm_diag *diag)
{
    size_t count, rows;
    const struct wm_profile_kernel *kernel = wm_profile_kernels(profile, &count);
    const struct wm_profile_row *row = wm_profile_rows(profile, &rows);
    if (!kernel || !row)
        return lacks("the profile", diag);
    for (size_t i = 0; i < count; i++)
        say(answer, "%s %llu %llu %llu\n", kernel[i].kernel, (unsigned long long)kernel[i].fetches,
            (unsigned long long)kernel[i].memory_read, (unsigned long long)kernel[i].memory_written);
    for (size_t i = 0; i < rows; i++)
        say(answer, "%s:%u %s+%llu: %s %llu %s\n", row[i].file ? row[i].file : "", row[i].line, row[i].kernel,
            (unsigned long long)row[i].offset, row[i].text, (unsigned long long)row[i].executions,
            row[i].advice ? row[i].advice : "");
    const struct wm_profile_code *code = wm_profile_code(profile, &count);
    for (size_t i = 0; i < count; i++)
        say(answer, "%s %zu\n", code[i].kernel, code[i].size);
    const struct wm_timeline *timeline = wm_profile_timelines(profile, &count);
    for (size_t i = 0; i < count; i++)
        say(answer, "%zu waves, %zu instructions, %.0f clocks\n", timeline[i].waves, timeline[i].codes,
            timeline[i].end);
    const struct wm_profile_dispatch *dispatch = wm_profile_dispatches(profile, &count);
    for (size_t i = 0; i < count; i++)
        say(answer, "%s %s\n", dispatch[i].kernel, dispatch[i].target);
    return WM_OK;
}

static enum wm_status profile(unsigned one_in, bool shows_waves, struct answer *answer, struct wm_diag *diag)
{
    struct work w;
    struct wm_profile *profile = NULL;
    enum wm_status status = begin(&w, diag);
    status = status ? status : make_profile(&profile, diag);
    status = status ? status : wm_profile_set_sample(profile, one_in, diag);
    if (shows_waves)
        status = status ? status : wm_profile_set_timeline(profile, diag);
    w.dispatch.profile = profile;
    for (unsigned i = 0; i < 2 && !status; i++)
        status = run(&w, answer, diag);
    status = status ? status : describe_profile(profile, answer, diag);
    wm_profile_destroy(profile);
    end(&w);
    return status;
}

static enum wm_status profiling(struct answer *answer, struct wm_diag *diag)
{
    return profile(1, false, answer, diag);
}

static enum wm_status sampling(struct answer *answer, struct wm_diag *diag)
{
    return profile(2, false, answer, diag);
}

static enum wm_status showing_waves(struct answer *answer, struct wm_diag *diag)
{
    return profile(1, true, answer, diag);
}

/* Loads whose data is used too early, and a hazard: s_mov to m0 before an instruction that reads it.
 * GDS, and a scalar store that is not written back. */
static const char careless[] = "s_load_dword s4, s[0:1], 0x0\n"
                               "s_add_u32 s5, s4, s4\n"
                               "v_mov_b32 v1, 0\n"
                               "ds_read_b32 v2, v1\n"
                               "v_add_u32 v3, v2, v2\n"
                               "v_cmp_eq_u32 vcc, v1, v2\n"
                               "v_div_fmas_f32 v4, v1, v1, v1\n"
                               "s_mov_b32 m0, 0\n"
                               "s_setreg_b32 hwreg(HW_REG_MODE), s5\n"
                               "s_getreg_b32 s6, hwreg(HW_REG_MODE)\n"
                               "ds_add_u32 v1, v1 gds\n"
                               "s_store_dword s5, s[0:1], 0x4\n"
                               "s_endpgm\n";

static void say_stale(void *user, const struct wm_stale *stale)
{
    say(user, "%s\n", stale->text);
}

static enum wm_status checking(struct answer *answer, struct wm_diag *diag)
{
    struct work w = {0};
    struct wm_check *check = NULL;
    struct wm_fidelity *fidelity = NULL;
    struct wm_result result = {.struct_size = sizeof result};
    uint64_t argument[8] = {0};
    uint8_t *bytes = NULL;
    char *messages = NULL;
    size_t size, count;
    enum wm_status status = wm_assemble(careless, sizeof careless - 1, "careless.s", "gfx900",
                                        WM_ASSEMBLE_RAW, &bytes, &size, &messages, diag);
    status = status ? status : wm_object_open(bytes, size, "careless", "gfx900", &w.object, diag);
    status = status ? status : wm_object_find_kernel(w.object, NULL, &w.kernel, diag);
    status = status ? status : wm_machine_create("gfx900", &w.machine, diag);
    status = status ? status
                    : wm_check_create(WM_CHECK_WAITS | WM_CHECK_HAZARDS | WM_CHECK_UNINIT | WM_CHECK_ORIGINS,
                                      &check, diag);
    status = status ? status : wm_check_machine(check, w.machine, diag);
    status = status ? status : wm_allocate(w.machine, 4096, 0, "memory", &argument[0], diag);
    status = status ? status : wm_load(w.machine, w.object, diag);
    status = status ? status : wm_fidelity_create(&fidelity, diag);
    w.dispatch = (struct wm_dispatch){.struct_size = sizeof w.dispatch,
                                      .grid = {256},
                                      .workgroup = {128},
                                      .arguments = argument,
                                      .arguments_size = sizeof argument,
                                      .dynamic_lds = 64,
                                      .threads = 1,
                                      .scalar_cache = WM_SCALAR_CACHE_STALE,
                                      .stale = say_stale,
                                      .stale_user = answer,
                                      .check = check,
                                      .fidelity = fidelity};
    status = status ? status : wm_dispatch(w.machine, w.object, w.kernel, &w.dispatch, &result, diag);
    if (!status) {
        answer->incomplete = *result.incomplete != '\0' || result.fault.kind == WM_FAULT_NO_MEMORY;
        say(answer, "%s\n", result.fault.text);
        const struct wm_finding *found = wm_check_findings(check, &count);
        for (size_t i = 0; i < count; i++)
            say(answer, "%s %s %s %s\n", found[i].rule, found[i].message, found[i].text, found[i].kernel);
        const struct wm_fidelity_row *rows = wm_fidelity_rows(fidelity, &count);
        for (size_t i = 0; i < count; i++)
            say(answer, "%s %llu\n", rows[i].name, (unsigned long long)rows[i].executions);
    }
    wm_check_destroy(check);
    wm_fidelity_destroy(fidelity);
    end(&w);
    free(bytes);
    free(messages);
    return status;
}

struct seen {
    uint64_t events;
};

static void see(void *local, const struct wm_event *event)
{
    struct seen *seen = local;
    seen->events += event->kind != 0;
}

static enum wm_status observing(struct answer *answer, struct wm_diag *diag)
{
    struct work w;
    struct seen seen = {0};
    const struct wm_observer observer = {
        .struct_size = sizeof observer, .events = WM_EVENT_ALL, .user = &seen, .event = see};
    const struct wm_observer *const observers[] = {&observer, &observer};
    enum wm_status status = begin(&w, diag);
    status = status ? status : wm_machine_observe(w.machine, &observer, diag);
    w.dispatch.observers = observers;
    w.dispatch.observer_count = 2;
    status = status ? status : run(&w, answer, diag);
    end(&w);
    say(answer, "%llu events\n", (unsigned long long)seen.events);
    return status;
}

static char folder[] = "/tmp/allocation-XXXXXX", trace_path[64];

static enum wm_status replay(struct answer *answer, struct wm_diag *diag)
{
    static uint8_t bytes[1 << 20];
    struct wm_profile *profile = NULL;
    const struct wm_gpu *gpu;
    counting = false;
    FILE *file = fopen(trace_path, "rb");
    const size_t size = file ? fread(bytes, 1, sizeof bytes, file) : 0;
    if (!size || fclose(file))
        fail_msg("%s: no trace", trace_path);
    counting = true;
    enum wm_status status = wm_trace_gpu(bytes, size, "trace", &gpu, diag);
    status = status ? status : make_profile(&profile, diag);
    status = status ? status : wm_profile_replay(profile, bytes, size, "trace", diag);
    status = status ? status : describe_profile(profile, answer, diag);
    wm_profile_destroy(profile);
    return status;
}

/* Merges the trace, as the only part of its dispatch. */
static enum wm_status merge(struct answer *answer, struct wm_diag *diag)
{
    static uint8_t bytes[1 << 20];
    char path[80];
    counting = false;
    FILE *file = fopen(trace_path, "rb");
    const size_t size = file ? fread(bytes, 1, sizeof bytes, file) : 0;
    if (!size || fclose(file))
        fail_msg("%s: no trace", trace_path);
    snprintf(path, sizeof path, "%s.merged", trace_path);
    counting = true;
    const struct wm_trace_range all = {0, SIDE / 16 * (SIDE / 16)};
    const struct wm_trace_part part = {bytes, size, "trace", &all, 1};
    const enum wm_status status = wm_trace_merge(&part, 1, path, diag);
    counting = false;
    say(answer, "%s\n", status || access(path, F_OK) ? "no file" : "merged");
    unlink(path);
    counting = true;
    return status;
}

static enum wm_status tracing(struct answer *answer, struct wm_diag *diag)
{
    struct work w;
    struct wm_profile *profile = NULL;
    enum wm_status status = begin(&w, diag);
    status = status ? status : make_profile(&profile, diag);
    status = status ? status : wm_profile_trace(profile, trace_path, diag);
    w.dispatch.profile = profile;
    status = status ? status : run(&w, answer, diag);
    status = status ? status : wm_profile_add_source(profile, "transpose.cl", "a text", diag);
    status = status ? status : wm_profile_end_trace(profile, diag);
    wm_profile_destroy(profile);
    end(&w);
    status = status ? status : replay(answer, diag);
    if (!status && !answer->incomplete) /* else it may lack workgroups */
        status = merge(answer, diag);
    unlink(trace_path);
    return status;
}

static const char text[] =
    "// a kernel, its descriptor and metadata\n"
    ".text\n.globl foo\n.p2align 8\n.type foo,@function\n"
    ".macro twice a, b=v1\n  v_add_f32 \\a, \\a, \\b\n  v_add_f32 \\a, \\a, \\b\n.endm\n"
    "foo:\n  twice v0\n  twice v2, v3\n"
    ".rept 40\n  s_nop 0\n.endr\n"
    ".if 1 > 2\n  bad\n.else\n  s_branch 1f\n1: s_cbranch_scc0 foo\n.endif\n"
    "  s_mov_b32 s0, end-foo\n  s_endpgm\nend:\n"
    ".size foo, end-foo\n"
    ".uleb128 end-foo\n"
    ".rodata\n.p2align 6\n.amdhsa_kernel foo\n .amdhsa_next_free_vgpr 4\n"
    " .amdhsa_next_free_sgpr 8\n.end_amdhsa_kernel\n"
    ".amdgpu_metadata\n---\namdhsa.version:\n  - 1\n  - 2\namdhsa.kernels:\n"
    "  - .name: foo\n    .symbol: foo.kd\n    .kernarg_segment_size: 0\n"
    "    .group_segment_fixed_size: 0\n    .private_segment_fixed_size: 0\n"
    "    .kernarg_segment_align: 4\n    .wavefront_size: 64\n    .sgpr_count: 8\n"
    "    .vgpr_count: 4\n    .max_flat_workgroup_size: 64\n...\n"
    ".end_amdgpu_metadata\n"
    ".data\n.byte 1, 2\n.long 0x12345678\n.ascii \"text\\n\"\n.fill 3, 4, 5\n"
    ".set x, (1 + 2) * 3 << 4\n.ifdef x\n.long x\n.endif\n";

static enum wm_status assemble(const char *source, const char *target, unsigned flags, struct answer *answer,
                               struct wm_diag *diag)
{
    uint8_t *bytes = NULL;
    char *messages = NULL;
    size_t size = 0;
    uint64_t sum = 0;
    const enum wm_status status =
        wm_assemble(source, strlen(source), "text.s", target, flags, &bytes, &size, &messages, diag);
    for (size_t i = 0; bytes && i < size; i++)
        sum = sum * 31 + bytes[i];
    say(answer, "%zu bytes, %llx, %s\n", size, (unsigned long long)sum, messages ? messages : "");
    free(bytes);
    free(messages);
    return status;
}

static enum wm_status assembling(struct answer *answer, struct wm_diag *diag)
{
    return assemble(text, "gfx900", WM_ASSEMBLE_LINES, answer, diag);
}

static enum wm_status refusing(struct answer *answer, struct wm_diag *diag)
{
    return assemble("s_nop 0\nwrong v0\nalso s3\n.macro a\n", "gfx1100", 0, answer, diag);
}

static enum wm_status disassembling(struct answer *answer, struct wm_diag *diag)
{
    struct wm_disassembler *d = NULL;
    struct wm_object *object = NULL;
    struct wm_code code = {0};
    size_t length = 0;
    static char lines[1 << 14];
    enum wm_status status = wm_object_open_code(EXAMPLES "/transpose.co", NULL, &object, diag);
    status = status ? status : wm_disassembler_create("gfx900", 0, &d, diag);
    if (!status && wm_object_code(object, &code, 1))
        wm_disassembler_lines(d,
                              &(struct wm_lines){.code = code.bytes,
                                                 .size = code.size,
                                                 .end = code.size,
                                                 .address = code.address,
                                                 .text = lines,
                                                 .room = sizeof lines,
                                                 .plain = true},
                              &length);
    say(answer, "%.*s", (int)length, lines);
    wm_disassembler_destroy(d);
    wm_object_close(object);
    return status;
}

static void say_line(void *user, const char *line)
{
    say(user, "%s\n", line);
}

static enum wm_status explaining(struct answer *answer, struct wm_diag *diag)
{
    static struct wm_address_answer address;
    struct work w;
    const struct wm_address_request request = {
        .target = "gfx900", .text = "global_load_dwordx4 v[0:3], v[4:5], off offset:16", .lanes = 3};
    enum wm_status status = wm_address_explain(&request, &address, diag);
    for (size_t i = 0; !status && i < address.step_count; i++)
        say(answer, "%s\n", address.step[i]);
    if (status)
        return status;
    status = begin(&w, diag);
    status = status ? status : wm_kernel_steps(w.object, w.kernel, say_line, answer, diag);
    end(&w);
    return status;
}

/* The start of a thread without memory is not for sanitizers. */
static enum wm_status stopping(struct answer *answer, struct wm_diag *diag)
{
    static float out[ITEMS];
    struct work w;
    struct wm_run *r = NULL;
    struct wm_stopped at = {.struct_size = sizeof at};
    const struct wm_stop_at every = {.struct_size = sizeof every, .instructions = 100};
    struct wm_result result = {.struct_size = sizeof result};
    if (THREADS == 1)
        return WM_OK;
    enum wm_status status = begin(&w, diag);
    status = status ? status : wm_run_begin(w.machine, w.object, w.kernel, &w.dispatch, &r, diag);
    while (!status && at.kind != WM_STOP_END && !(status = wm_run_to(r, &every, &at, diag)))
        answer->incomplete |= at.kind == WM_STOP_FAULT;
    if (r && !wm_run_end(r, false, &result, status ? NULL : diag)) {
        status = wm_read(w.machine, w.arguments.out, out, sizeof out, diag);
        answer->incomplete |= *result.incomplete != '\0' || result.fault.kind != WM_FAULT_NONE;
        say(answer, "%g %llu\n", (double)out[1], (unsigned long long)result.wave_instructions);
    }
    end(&w);
    return status;
}

/* ---- failures one after another ---- */

static const struct scenario {
    const char *name;
    enum wm_status (*play)(struct answer *answer, struct wm_diag *diag);
    enum wm_status expected;
} scenarios[] = {
    {"load", loading, WM_OK},          {"bundle", bundles, WM_OK},
    {"fault", faulting, WM_OK},        {"wait", waiting, WM_OK},
    {"sample", sampling, WM_OK},       {"timeline", showing_waves, WM_OK},
    {"dispatch", dispatching, WM_OK},  {"profile", profiling, WM_OK},
    {"check", checking, WM_OK},        {"observe", observing, WM_OK},
    {"trace", tracing, WM_OK},         {"assemble", assembling, WM_OK},
    {"refuse", refusing, WM_BAD_FILE}, {"disassemble", disassembling, WM_OK},
    {"explain", explaining, WM_OK},    {"stop", stopping, WM_OK},
};

static struct answer reference, answer;

static enum wm_status play(const struct scenario *s, unsigned long fails, bool others, struct answer *to,
                           struct wm_diag *diag)
{
    *to = (struct answer){0};
    *diag = (struct wm_diag){0};
    first_failure = fails;
    others_fail = others;
    requests = 0;
    counting = true;
    const enum wm_status status = s->play(to, diag);
    counting = false;
    return status;
}

static const char *wrong(const struct scenario *s, enum wm_status status, const struct wm_diag *diag)
{
    if (status == WM_NO_MEMORY)
        return *diag->message ? NULL : "no message";
    if (status != s->expected)
        return diag->message;
    if (answer.incomplete)
        return NULL;
    if (!strcmp(answer.text, reference.text))
        return NULL;
    static char difference[400];
    size_t line = 0;
    for (size_t i = 0; answer.text[i] == reference.text[i]; i++)
        line = answer.text[i] == '\n' ? i + 1 : line;
    snprintf(difference, sizeof difference, "answers '%.*s', not '%.*s'",
             (int)strcspn(answer.text + line, "\n"), answer.text + line,
             (int)strcspn(reference.text + line, "\n"), reference.text + line);
    return difference;
}

/* Each of the first allocations fails alone, some of the later ones; and some with all behind them. */
enum { ALL = 300, SOME = 60 };

static void failures(void **state)
{
    const struct scenario *s = *state;
    struct wm_diag diag;
    unsigned bad = 0;
    play(s, 0, false, &reference, &diag); /* what libraries allocate once and for all */
    if (play(s, 0, false, &reference, &diag) != s->expected || reference.incomplete)
        fail_msg("%s: with memory: %s", s->name, diag.message);
    const unsigned long total = requests;
    for (unsigned others = 0; others < 2; others++) {
        for (unsigned long n = 1; n <= total; n += n >= ALL ? 1 + total / SOME : others ? 4 : 1) {
            const enum wm_status status = play(s, n, others, &answer, &diag);
            const char *why = wrong(s, status, &diag);
            if (why && bad++ < 20)
                print_error("%s: allocation %lu%s failed: %s: %s\n", s->name, n, others ? " and later" : "",
                            wm_status_name(status), why);
        }
    }
    print_message("%s: %lu allocations\n", s->name, total);
    assert_int_equal(bad, 0);
    assert_int_equal(FIND_LEAKS(), 0);
}

static int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(trace_path, sizeof trace_path, "%s/trace", folder);
    return 0;
}

/* No scenario leaves a file behind. */
static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

int main(int count, char **arguments)
{
    enum { SCENARIOS = sizeof scenarios / sizeof *scenarios };
    struct CMUnitTest tests[SCENARIOS];
    size_t chosen = 0;
    for (size_t i = 0; i < SCENARIOS; i++)
        if (count < 2 || !strcmp(arguments[1], scenarios[i].name))
            tests[chosen++] = (struct CMUnitTest){scenarios[i].name, failures, NULL, NULL,
                                                  (void *)(uintptr_t)&scenarios[i]};
    return _cmocka_run_group_tests("allocation", tests, chosen, make_folder, remove_folder);
}
