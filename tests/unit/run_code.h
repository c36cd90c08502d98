/* SPDX-License-Identifier: MIT */
/* Runs raw code for the tests: s[2:3] hold the address of a result buffer, by two moves put in front. */
#ifndef TESTS_RUN_CODE_H
#define TESTS_RUN_CODE_H

#include "wavemem/wavemem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
// clang-format off
#include <cmocka.h>
// clang-format on

enum { RESULT_WORDS = 256, MAX_CODE = 256 };

struct run {
    uint32_t result[RESULT_WORDS];
    struct wm_fault fault;
    uint64_t base; /* guest address of the code: pc of the fault is relative to it */
    uint64_t wave_instructions;
};

static inline struct run run_on(const char *target, const uint32_t *words, size_t bytes,
                                struct wm_dispatch dispatch)
{
    struct run run = {0};
    struct wm_diag diag;
    struct wm_machine *machine;
    struct wm_object *object;
    const struct wm_kernel *kernel;
    struct wm_result result = {.struct_size = sizeof result};
    uint64_t buffer, size;
    uint32_t code[MAX_CODE] = {0};

    dispatch.struct_size = sizeof dispatch;
    assert_int_equal(wm_machine_create(target, &machine, &diag), WM_OK);
    assert_int_equal(wm_allocate(machine, sizeof run.result, 0, "result", &buffer, &diag), WM_OK);
    const bool is_3 = !strcmp(target, "gfx700") || !strncmp(target, "gfx10", 5); /* s_mov_b32 */
    const uint32_t opcode = is_3 ? 3 << 8 : 0;
    code[0] = 0xbe8200ff | opcode; /* s_mov_b32 s2, low */
    code[1] = (uint32_t)buffer;
    code[2] = 0xbe8300ff | opcode; /* s_mov_b32 s3, high */
    code[3] = (uint32_t)(buffer >> 32);
    assert_true(bytes + 16 <= sizeof code);
    memcpy(code + 4, words, bytes);
    assert_int_equal(wm_object_open(code, bytes + 16, "test", target, &object, &diag), WM_OK);
    assert_int_equal(wm_object_find_kernel(object, NULL, &kernel, &diag), WM_OK);
    assert_int_equal(wm_load(machine, object, &diag), WM_OK);
    assert_int_equal(wm_dispatch(machine, object, kernel, &dispatch, &result, &diag), WM_OK);
    assert_int_equal(wm_read(machine, buffer, run.result, sizeof run.result, &diag), WM_OK);
    assert_int_equal(wm_symbol(machine, object, kernel->name, &run.base, &size, &diag), WM_OK);
    run.fault = result.fault;
    run.wave_instructions = result.wave_instructions;
    wm_machine_destroy(machine);
    wm_object_close(object);
    return run;
}

static inline struct run run_with(const uint32_t *words, size_t bytes, struct wm_dispatch dispatch)
{
    return run_on("gfx900", words, bytes, dispatch);
}

#define RUN(words) run_with(words, sizeof(words), (struct wm_dispatch){.grid = {64}, .workgroup = {64}})

#endif
