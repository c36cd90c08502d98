/* SPDX-License-Identifier: MIT */
/* Dispatches of one kernel after another: what is kept for the next one, and that it does not show. */
#include "wavemem/wavemem.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
// clang-format off
#include <cmocka.h>
// clang-format on

#include "unit/ok.h"

enum { ITEMS = 4096, GROUP = 256 };

struct world {
    struct wm_machine *machine;
    struct wm_object *object;
    const struct wm_kernel *kernel;
    uint64_t memory, code;
    size_t code_bytes;
};

/* s[0:1] is the address of the arguments, s2 the workgroup, v0 the work-item. Adds 7 to the word of each. */
static const char adds[] = "s_load_dwordx2 s[4:5], s[0:1], 0\n"
                           "s_lshl_b32 s2, s2, 10\n"
                           "v_lshlrev_b32 v1, 2, v0\n"
                           "v_add_u32 v1, s2, v1\n"
                           "s_waitcnt lgkmcnt(0)\n"
                           "global_load_dword v2, v1, s[4:5]\n"
                           "s_waitcnt vmcnt(0)\n"
                           "v_add_u32 v2, 7, v2\n"
                           "global_store_dword v1, v2, s[4:5]\n"
                           "s_endpgm\n";

static void assemble(const char *text, uint8_t **bytes, size_t *size)
{
    char *messages;
    OK(wm_assemble(text, strlen(text), "kernel", "gfx900", WM_ASSEMBLE_RAW, bytes, size, &messages, &diag));
    free(messages);
}

static struct world open_world(const char *text)
{
    struct world w;
    uint8_t *bytes;
    assemble(text, &bytes, &w.code_bytes);
    OK(wm_object_open(bytes, w.code_bytes, "kernel", "gfx900", &w.object, &diag));
    free(bytes);
    OK(wm_object_find_kernel(w.object, NULL, &w.kernel, &diag));
    OK(wm_machine_create("gfx900", &w.machine, &diag));
    OK(wm_load(w.machine, w.object, &diag));
    OK(wm_symbol(w.machine, w.object, w.kernel->name, &w.code, NULL, &diag));
    OK(wm_allocate(w.machine, 4 * ITEMS, 0, "memory", &w.memory, &diag));
    return w;
}

static void close_world(const struct world *w)
{
    wm_machine_destroy(w->machine);
    wm_object_close(w->object);
}

static struct wm_result run(const struct world *w, unsigned items, unsigned threads, uint64_t memory)
{
    const struct wm_dispatch dispatch = {.struct_size = sizeof dispatch,
                                         .grid = {items},
                                         .workgroup = {GROUP},
                                         .arguments = &memory,
                                         .arguments_size = sizeof memory,
                                         .threads = threads};
    struct wm_result result = {.struct_size = sizeof result};
    const enum wm_status status = wm_dispatch(w->machine, w->object, w->kernel, &dispatch, &result, NULL);
    if (status)
        fail_msg("a dispatch failed: %s", wm_status_name(status));
    return result;
}

static void expect_words(const struct world *w, unsigned items, uint32_t value)
{
    static uint32_t words[ITEMS];
    OK(wm_read(w->machine, w->memory, words, sizeof words, &diag));
    for (unsigned i = 0; i < ITEMS; i++)
        if (words[i] != (i < items ? value : 0))
            fail_msg("word %u is %u; expected %u", i, words[i], i < items ? value : 0);
}

/* Each dispatch executes what is in memory when it starts. */
static void code_is_written(void **state)
{
    const struct world w = open_world(adds);
    uint8_t *bytes;
    size_t size;
    (void)state;
    run(&w, ITEMS, 1, w.memory);
    run(&w, ITEMS, 1, w.memory);
    expect_words(&w, ITEMS, 14);
    assemble("v_add_u32 v2, 9, v2\n", &bytes, &size);
    assert_int_equal(size, 4);
    uint8_t code[64], seven[4];
    assert_true(w.code_bytes <= sizeof code);
    OK(wm_read(w.machine, w.code, code, w.code_bytes, &diag));
    unsigned at = 0;
    while (at < w.code_bytes && (code[at] != 0x87 || code[at + 3] != 0x68)) /* v_add_u32_e32 v2, 7, v2 */
        at += 4;
    assert_true(at < w.code_bytes);
    memcpy(seven, code + at, 4);
    OK(wm_write(w.machine, w.code + at, bytes, 4, &diag));
    run(&w, ITEMS, 1, w.memory);
    expect_words(&w, ITEMS, 23);
    OK(wm_write(w.machine, w.code + at, seven, 4, &diag));
    run(&w, ITEMS, 1, w.memory);
    expect_words(&w, ITEMS, 30);
    free(bytes);
    close_world(&w);
}

/* A kernel that replaces its own addition of 1 by an addition of 2: the next dispatch sees it. */
static void code_writes_itself(void **state)
{
    static const char text[] = "s_load_dwordx2 s[4:5], s[0:1], 0\n"
                               "v_lshlrev_b32 v1, 2, v0\n"
                               "s_getpc_b64 s[6:7]\n"
                               "here:\n"
                               "s_waitcnt lgkmcnt(0)\n"
                               "global_load_dword v2, v1, s[4:5]\n"
                               "s_waitcnt vmcnt(0)\n"
                               "add:\n"
                               "v_add_u32 v2, 1, v2\n"
                               "global_store_dword v1, v2, s[4:5]\n"
                               "v_mov_b32 v3, 0x68040482\n" /* v_add_u32_e32 v2, 2, v2 */
                               "v_mov_b32 v4, add-here\n"
                               "global_store_dword v4, v3, s[6:7]\n"
                               "s_endpgm\n";
    const struct world w = open_world(text);
    (void)state;
    assert_int_equal(run(&w, GROUP, 1, w.memory).fault.kind, WM_FAULT_NONE);
    expect_words(&w, GROUP, 1);
    run(&w, GROUP, 1, w.memory);
    expect_words(&w, GROUP, 3);
    run(&w, GROUP, 1, w.memory);
    expect_words(&w, GROUP, 5);
    close_world(&w);
}

/* Memory that an earlier dispatch reached and that has been freed since. */
static void memory_is_freed(void **state)
{
    const struct world w = open_world(adds);
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        uint64_t other;
        OK(wm_allocate(w.machine, 4 * ITEMS, 0, "other", &other, &diag));
        assert_int_equal(run(&w, ITEMS, 2, other).fault.kind, WM_FAULT_NONE);
        OK(wm_free(w.machine, other, &diag));
        assert_int_equal(run(&w, ITEMS, 2, other).fault.kind, WM_FAULT_MEMORY);
    }
    close_world(&w);
}

/* More kernels than are kept. */
static void many_kernels(void **state)
{
    enum { KERNELS = 80, ROUNDS = 3 };
    struct world w = open_world(adds);
    const struct wm_object *first = w.object;
    struct wm_object *object[KERNELS];
    (void)state;
    for (unsigned i = 0; i < KERNELS; i++) {
        char text[sizeof adds + 16] = "s_nop 0\n";
        uint8_t *bytes;
        size_t size;
        strcat(text, adds);
        assemble(text, &bytes, &size);
        OK(wm_object_open(bytes, size, "kernel", "gfx900", &object[i], &diag));
        free(bytes);
        OK(wm_load(w.machine, object[i], &diag));
    }
    for (unsigned round = 0; round < ROUNDS; round++)
        for (unsigned i = 0; i < KERNELS; i++) {
            w.object = object[i];
            OK(wm_object_find_kernel(w.object, NULL, &w.kernel, &diag));
            run(&w, ITEMS, 1 + i % 2, w.memory);
        }
    expect_words(&w, ITEMS, 7 * KERNELS * ROUNDS);
    wm_machine_destroy(w.machine);
    for (unsigned i = 0; i < KERNELS; i++)
        wm_object_close(object[i]);
    wm_object_close((struct wm_object *)first);
}

struct caller {
    const struct world *world;
    uint64_t memory;
    pthread_t thread;
};

enum { CALLERS = 4, CALLS = 50 };

static void *call(void *argument)
{
    const struct caller *caller = argument;
    for (unsigned i = 0; i < CALLS; i++)
        run(caller->world, ITEMS, 1 + i % 4, caller->memory);
    return NULL;
}

/* Several dispatches of the kernel at the same time, each with several threads. */
static void at_the_same_time(void **state)
{
    const struct world w = open_world(adds);
    struct caller callers[CALLERS];
    (void)state;
    for (unsigned i = 0; i < CALLERS; i++) {
        callers[i].world = &w;
        OK(wm_allocate(w.machine, 4 * ITEMS, 0, "memory", &callers[i].memory, &diag));
        assert_int_equal(pthread_create(&callers[i].thread, NULL, call, &callers[i]), 0);
    }
    for (unsigned i = 0; i < CALLERS; i++) {
        pthread_join(callers[i].thread, NULL);
        struct world own = w;
        own.memory = callers[i].memory;
        expect_words(&own, ITEMS, 7 * CALLS);
    }
    close_world(&w);
}

#ifndef __has_feature
#define __has_feature(name) 0
#endif

/* The child has none of its parent's threads. ThreadSanitizer does not follow children of processes with
 * threads. */
static void after_fork(void **state)
{
    const struct world w = open_world(adds);
    int status;
    (void)state;
    if (__has_feature(thread_sanitizer))
        skip();
    run(&w, ITEMS, 4, w.memory);
    const pid_t child = fork();
    if (!child) {
        run(&w, ITEMS, 4, w.memory);
        expect_words(&w, ITEMS, 14);
        close_world(&w);
        _exit(0);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    run(&w, ITEMS, 4, w.memory);
    expect_words(&w, ITEMS, 14);
    close_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(code_is_written),  cmocka_unit_test(code_writes_itself),
        cmocka_unit_test(memory_is_freed),  cmocka_unit_test(many_kernels),
        cmocka_unit_test(at_the_same_time), cmocka_unit_test(after_fork),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
