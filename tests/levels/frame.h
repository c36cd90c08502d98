/* SPDX-License-Identifier: MIT */
/* A wave's frame for tests of bodies: set registers, run a body, read results. */
#ifndef WM_TEST_FRAME_H
#define WM_TEST_FRAME_H

#include "arithmetic/host_float.h"
#include "sem/sem.h"

#include <stdlib.h>
#include <string.h>

enum { TEST_ROWS = 32 };

static inline float as_f32(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, 4);
    return x;
}

static inline uint32_t bits_f32(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, 4);
    return bits;
}

static inline double as_f64(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, 8);
    return x;
}

static inline uint64_t bits_f64(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, 8);
    return bits;
}

struct test_wave {
    char *frame;
    unsigned lanes;
};

static inline struct wmi_frame *test_state(const struct test_wave *wave)
{
    return (struct wmi_frame *)wave->frame;
}

/* Byte offset of register `row`. */
static inline uint32_t test_row(const struct test_wave *wave, unsigned row)
{
    return (uint32_t)(offsetof(struct wmi_frame, rows) + row * 4 * wave->lanes);
}

static inline void test_put(struct test_wave *wave, unsigned row, unsigned lane, uint32_t word)
{
    memcpy(wave->frame + test_row(wave, row) + 4 * lane, &word, 4);
}

static inline uint32_t test_get(const struct test_wave *wave, unsigned row, unsigned lane)
{
    uint32_t word;

    memcpy(&word, wave->frame + test_row(wave, row) + 4 * lane, 4);
    return word;
}

/* 64-bit values: register `row` and the next one. */
static inline void test_put64(struct test_wave *wave, unsigned row, unsigned lane, uint64_t value)
{
    test_put(wave, row, lane, (uint32_t)value);
    test_put(wave, row + 1, lane, (uint32_t)(value >> 32));
}

static inline uint64_t test_get64(const struct test_wave *wave, unsigned row, unsigned lane)
{
    return test_get(wave, row, lane) | (uint64_t)test_get(wave, row + 1, lane) << 32;
}

static inline void test_set_lanes(struct wmi_lanes *set, unsigned lanes, uint64_t bits)
{
    const uint64_t all = UINT64_MAX >> (64 - lanes);

    set->bits = bits & all;
    set->full = set->bits == all;
    for (unsigned lane = 0; lane < 64; lane++)
        set->row[lane] = set->bits >> lane & 1 ? UINT32_MAX : 0;
}

static inline void test_set_mode(struct test_wave *wave, uint32_t mode)
{
    struct wmi_frame *state = test_state(wave);

    state->mode = mode;
    state->mxcsr32 = wmi_host_float_word(mode & 3, mode >> 4 & 3);
    state->mxcsr64 = wmi_host_float_word(mode >> 2 & 3, mode >> 6 & 3);
}

static inline struct test_wave test_wave_new(unsigned lanes)
{
    const size_t size = (sizeof(struct wmi_frame) + TEST_ROWS * 4 * lanes + 63) & ~(size_t)63;
    struct test_wave wave = {aligned_alloc(64, size), lanes};

    memset(wave.frame, 0, size);
    test_state(&wave)->wave_size = lanes;
    test_set_mode(
        &wave, 0); /* a control word of 0 would enable traps, and compilers use floats for integers as well */
    return wave;
}

/* The step after the tested one. */
static inline const struct wmi_op *test_stop(char *restrict frame, const struct wmi_op *op)
{
    (void)frame;
    return op;
}

/* Runs one step; true if it continued with the next one. */
static inline int test_step(struct test_wave *wave, const struct wmi_op *op)
{
    const struct wmi_op steps[] = {*op, {.body = test_stop}};
    return op->body(wave->frame, steps) == &steps[1];
}

/* Runs one step as a wave would. Returns whether it continued with the next one and preserved the control
 * word. */
static inline int test_run(struct test_wave *wave, const struct wmi_op *op)
{
    const uint32_t before = wmi_host_float_get(), wanted = test_state(wave)->mxcsr32;

    wmi_host_float_set(wanted);
    const int goes_on = test_step(wave, op);
#if defined(__x86_64__)
    const uint32_t sticky = 0x3f; /* exception flags */
#else
    const uint32_t sticky = 0;
#endif
    const int ok = goes_on && (wmi_host_float_get() & ~sticky) == (wanted & ~sticky);
    wmi_host_float_set(before);
    return ok;
}

static inline uint64_t test_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15); /* splitmix64 */

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

#endif
