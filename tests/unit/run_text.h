/* SPDX-License-Identifier: MIT */
/* Runs assembled text on any target for the tests.
 *
 * The text gets the address of `memory` in s[2:3], a raw V# of it in s[8:11], 0 in s12, and the lane in v0.
 * It need not end with s_endpgm. LLVM's older mnemonics assemble on every target. */
#ifndef TESTS_RUN_TEXT_H
#define TESTS_RUN_TEXT_H

#include "wavemem/wavemem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
// clang-format off
#include <cmocka.h>
// clang-format on

enum { TEXT_WORDS = 4096 };

struct text_run {
    uint32_t memory[TEXT_WORDS]; /* before the run, then after */
    uint64_t address;            /* guest address of memory */
    uint64_t constant;           /* of 256 read-only bytes, all 0 */
    struct wm_fault fault, violation;
    uint64_t violations, wave_instructions;
};

static const char *const all_targets[] = {"gfx600",  "gfx700",  "gfx803", "gfx900",  "gfx906",
                                          "gfx908",  "gfx90a",  "gfx942", "gfx1010", "gfx1030",
                                          "gfx1100", "gfx1150", "gfx1200"};
enum { ALL_TARGETS = sizeof all_targets / sizeof *all_targets };

/* Major number: 6 to 12. */
static inline unsigned generation_of(const char *target)
{
    return strlen(target) > 6 ? (unsigned)strtoul(target + 3, NULL, 10) / 100 : (unsigned)(target[3] - '0');
}

static inline unsigned lanes_of(const char *target)
{
    return generation_of(target) >= 10 ? 32 : 64;
}

/* Word 3 of a V# with raw range checks. */
static inline uint32_t raw_word3(const char *target)
{
    return generation_of(target) >= 10 ? 0x31016fac : 0x00024fac;
}

struct text {
    char *text;
    size_t length, room;
};

__attribute__((format(printf, 2, 3))) static inline void add_text(struct text *t, const char *format, ...)
{
    va_list arguments;
    if (t->room - t->length < 256) {
        t->room = 2 * t->room + 4096;
        t->text = realloc(t->text, t->room);
        assert_non_null(t->text);
    }
    va_start(arguments, format);
    const int length = vsnprintf(t->text + t->length, t->room - t->length, format, arguments);
    va_end(arguments);
    assert_true(length >= 0 && (size_t)length < t->room - t->length);
    t->length += (size_t)length;
}

/* s[first:first+3] = a V#. */
static inline void add_resource(struct text *t, unsigned first, uint64_t base, uint32_t word1,
                                uint32_t records, uint32_t word3)
{
    add_text(t, "s_mov_b32 s%u, 0x%x\ns_mov_b32 s%u, 0x%x\n", first, (uint32_t)base, first + 1,
             (uint32_t)(base >> 32) | word1);
    add_text(t, "s_mov_b32 s%u, 0x%x\ns_mov_b32 s%u, 0x%x\n", first + 2, records, first + 3, word3);
}

/* Runs the text that `write` generates for a known address. `lanes` work-items are one, possibly partial,
 * wave, unless the dispatch has a grid. */
static inline void run_written(const char *target, unsigned lanes, struct text_run *run,
                               void (*write)(struct text *text, struct text_run *run, const void *user),
                               const void *user, struct wm_dispatch dispatch)
{
    struct wm_diag diag;
    struct wm_machine *machine;
    struct wm_object *object;
    const struct wm_kernel *kernel;
    struct wm_result result = {.struct_size = sizeof result};
    struct text t = {0};
    uint8_t *code = NULL;
    char *messages = NULL;
    size_t bytes = 0;

    assert_int_equal(wm_machine_create(target, &machine, &diag), WM_OK);
    assert_int_equal(wm_allocate(machine, sizeof run->memory, 0, "memory", &run->address, &diag), WM_OK);
    assert_int_equal(wm_allocate(machine, 256, WM_READ_ONLY, "constant", &run->constant, &diag), WM_OK);
    assert_int_equal(wm_write(machine, run->address, run->memory, sizeof run->memory, &diag), WM_OK);
    add_text(&t, "s_mov_b32 s2, 0x%x\ns_mov_b32 s3, 0x%x\ns_mov_b32 s12, 0\n", (uint32_t)run->address,
             (uint32_t)(run->address >> 32));
    add_resource(&t, 8, run->address, 0, sizeof run->memory, raw_word3(target));
    write(&t, run, user);
    add_text(&t, "\ns_endpgm\n");
    if (wm_assemble(t.text, t.length, target, target, WM_ASSEMBLE_RAW, &code, &bytes, &messages, &diag))
        fail_msg("%s: %s\n%s", target, diag.message, messages ? messages : "");
    dispatch.struct_size = sizeof dispatch;
    if (!dispatch.grid[0])
        dispatch.grid[0] = dispatch.workgroup[0] = lanes;
    assert_int_equal(wm_object_open(code, bytes, "test", target, &object, &diag), WM_OK);
    assert_int_equal(wm_object_find_kernel(object, NULL, &kernel, &diag), WM_OK);
    assert_int_equal(wm_load(machine, object, &diag), WM_OK);
    if (wm_dispatch(machine, object, kernel, &dispatch, &result, &diag))
        fail_msg("%s: %s", target, diag.message);
    assert_int_equal(wm_read(machine, run->address, run->memory, sizeof run->memory, &diag), WM_OK);
    run->fault = result.fault;
    run->violation = result.violation;
    run->violations = result.violations;
    run->wave_instructions = result.wave_instructions;
    wm_machine_destroy(machine);
    wm_object_close(object);
    free(messages);
    free(code);
    free(t.text);
}

static inline void write_text(struct text *text, struct text_run *run, const void *user)
{
    (void)run;
    for (const char *at = user; *at; at += strcspn(at, "\n"), at += *at == '\n')
        add_text(text, "%.*s\n", (int)strcspn(at, "\n"), at);
}

static inline void run_text(const char *target, const char *text, struct text_run *run)
{
    run_written(target, lanes_of(target), run, write_text, text, (struct wm_dispatch){0});
}

#endif
