/* SPDX-License-Identifier: MIT */
/* Machines with a kernel of a few instructions, and runs that stop; for tests of wavemem/stop.h. */
#ifndef TESTS_UNIT_RUNS_H
#define TESTS_UNIT_RUNS_H

#include "wavemem/wavemem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
// clang-format off
#include <cmocka.h>
// clang-format on

enum { WORDS = 1024, LANES = 64 };

__attribute__((unused)) static const char *const targets[] = {"gfx900", "gfx1030", "gfx1100", "gfx1200"};
enum { TARGETS = sizeof targets / sizeof *targets };

/* ---- machines and runs ---- */

struct world {
    struct wm_machine *machine;
    struct wm_object *object;
    const struct wm_kernel *kernel;
    uint64_t code, buffer; /* guest addresses: of the text, of WORDS words */
};

/* The text comes after 16 bytes of code that put the buffer's address in s[2:3]. s4 and later are free. */
static inline struct world world_of(const char *target, const char *text)
{
    struct world w;
    struct wm_diag diag;
    char all[4096], *messages;
    uint8_t *bytes;
    size_t size;
    uint64_t start, ignored;
    assert_int_equal(wm_machine_create(target, &w.machine, &diag), WM_OK);
    assert_int_equal(wm_allocate(w.machine, 4 * WORDS, 0, "buffer", &w.buffer, &diag), WM_OK);
    assert_int_equal((uint32_t)w.buffer, 0);
    snprintf(all, sizeof all, "s_movk_i32 s2, 0x%x\ns_mov_b32 s3, 0x%x\ns_nop 0\n%s", (unsigned)w.buffer,
             (unsigned)(w.buffer >> 32), text);
    if (wm_assemble(all, strlen(all), "text", target, WM_ASSEMBLE_RAW, &bytes, &size, &messages, &diag))
        fail_msg("%s: %s", target, messages);
    assert_int_equal(wm_object_open(bytes, size, "test", target, &w.object, &diag), WM_OK);
    assert_int_equal(wm_object_find_kernel(w.object, NULL, &w.kernel, &diag), WM_OK);
    assert_int_equal(wm_load(w.machine, w.object, &diag), WM_OK);
    assert_int_equal(wm_symbol(w.machine, w.object, w.kernel->name, &start, &ignored, &diag), WM_OK);
    w.code = start + 16;
    free(messages);
    free(bytes);
    return w;
}

static inline void destroy(struct world *w)
{
    wm_machine_destroy(w->machine);
    wm_object_close(w->object);
}

static inline uint32_t word(const struct world *w, unsigned index)
{
    uint32_t value;
    assert_int_equal(wm_read(w->machine, w->buffer + 4 * index, &value, 4, NULL), WM_OK);
    return value;
}

static inline void put_word(const struct world *w, unsigned index, uint32_t value)
{
    assert_int_equal(wm_write(w->machine, w->buffer + 4 * index, &value, 4, NULL), WM_OK);
}

static inline unsigned lanes_of(const struct world *w)
{
    return w->kernel->wave_size;
}

static inline struct wm_dispatch one_wave(const struct world *w)
{
    return (struct wm_dispatch){.struct_size = sizeof(struct wm_dispatch),
                                .grid = {lanes_of(w)},
                                .workgroup = {lanes_of(w)},
                                .dynamic_lds = 1024};
}

static inline struct wm_run *begin(const struct world *w, const struct wm_dispatch *request)
{
    struct wm_run *run;
    struct wm_diag diag;
    const struct wm_dispatch usual = one_wave(w);
    if (wm_run_begin(w->machine, w->object, w->kernel, request ? request : &usual, &run, &diag))
        fail_msg("%s", diag.message);
    return run;
}

static inline struct wm_stopped run_to(struct wm_run *run, struct wm_stop_at at)
{
    struct wm_stopped stopped = {.struct_size = sizeof stopped};
    struct wm_diag diag;
    at.struct_size = sizeof at;
    if (wm_run_to(run, &at, &stopped, &diag))
        fail_msg("%s", diag.message);
    return stopped;
}

static inline struct wm_stopped step(struct wm_run *run)
{
    return run_to(run, (struct wm_stop_at){.instructions = 1});
}

static inline struct wm_stopped run_to_offset(struct wm_run *run, const struct world *w, uint64_t offset)
{
    const uint64_t address = w->code + offset;
    const struct wm_stopped stopped =
        run_to(run, (struct wm_stop_at){.addresses = &address, .address_count = 1});
    assert_int_equal(stopped.kind, WM_STOP_ADDRESS);
    assert_int_equal(stopped.pc, address);
    return stopped;
}

static inline struct wm_result end(struct wm_run *run, bool cancel)
{
    struct wm_result result = {.struct_size = sizeof result};
    struct wm_diag diag;
    if (wm_run_end(run, cancel, &result, &diag))
        fail_msg("%s", diag.message);
    return result;
}

static inline void ends_well(struct wm_run *run)
{
    const struct wm_result result = end(run, false);
    if (result.fault.kind != WM_FAULT_NONE)
        fail_msg("%s", result.fault.text);
    assert_string_equal(result.incomplete, "");
}

static inline void get_many(struct wm_run *run, const char *name, uint32_t *values, size_t count)
{
    struct wm_diag diag;
    if (wm_run_get(run, name, values, count, &diag))
        fail_msg("%s", diag.message);
}

static inline void set_many(struct wm_run *run, const char *name, const uint32_t *values, size_t count)
{
    struct wm_diag diag;
    if (wm_run_set(run, name, values, count, &diag))
        fail_msg("%s", diag.message);
}

static inline uint32_t get(struct wm_run *run, const char *name)
{
    uint32_t value;
    get_many(run, name, &value, 1);
    return value;
}

static inline void set(struct wm_run *run, const char *name, uint32_t value)
{
    set_many(run, name, &value, 1);
}

static inline uint64_t get_mask(struct wm_run *run, const char *name, unsigned lanes)
{
    uint32_t half[2] = {0, 0};
    get_many(run, name, half, lanes / 32);
    return half[0] | (uint64_t)half[1] << 32;
}

static inline void set_mask(struct wm_run *run, const char *name, unsigned lanes, uint64_t mask)
{
    const uint32_t half[2] = {(uint32_t)mask, (uint32_t)(mask >> 32)};
    set_many(run, name, half, lanes / 32);
}

/* Stores v1 to word `lane` of the buffer after the text. */
static inline struct world storing(const char *target, const char *text)
{
    char all[2048];
    snprintf(all, sizeof all, "%sv_lshlrev_b32 v7, 2, v0\nglobal_store_dword v7, v1, s[2:3]\ns_endpgm\n",
             text);
    return world_of(target, all);
}

/* Each wave stores its number in the dispatch, so to say, when its workgroup has met at a barrier. */
__attribute__((unused)) static const char *const meeting = "s_nop 1\n"
                                                           "s_barrier\n"
                                                           "v_mov_b32 v1, s4\n"
                                                           "s_endpgm\n";

/* Sums in LDS with a barrier, then a loop over memory, by several waves and workgroups. */
__attribute__((unused)) static const char *const work = "s_mov_b32 m0, -1\n"
                                                        "v_lshlrev_b32 v2, 2, v0\n"
                                                        "ds_write_b32 v2, v0\n"
                                                        "s_waitcnt lgkmcnt(0)\n"
                                                        "s_barrier\n"
                                                        "v_xor_b32 v3, 0x54, v2\n"
                                                        "ds_read_b32 v4, v3\n"
                                                        "s_movk_i32 s6, 5\n"
                                                        "s_waitcnt lgkmcnt(0)\n"
                                                        "more:\n"
                                                        "global_load_dword v5, v2, s[2:3]\n"
                                                        "s_waitcnt vmcnt(0)\n"
                                                        "v_add_co_u32 v5, vcc, v5, v4\n"
                                                        "v_addc_co_u32 v5, vcc, 0, v5, vcc\n"
                                                        "global_store_dword v2, v5, s[2:3]\n"
                                                        "s_sub_u32 s6, s6, 1\n"
                                                        "s_cmp_lg_u32 s6, 0\n"
                                                        "s_cbranch_scc1 more\n"
                                                        "s_endpgm\n";

#endif
