/* SPDX-License-Identifier: MIT */
/* What the functions `prepare` of workloads make a run from. */
#ifndef WAVEMEM_EXAMPLES_PREPARE_H
#define WAVEMEM_EXAMPLES_PREPARE_H

#include "workloads.h"

/* Half a unit in the last place of 1.0f: the largest relative error of one rounded operation. */
#define ROUNDING 0x1p-24

/* Each returns the index of a new buffer of `count` elements. add_buffer(): zeros; add_random(): uniformly
 * distributed in [low, high). */
size_t add_buffer(struct workload_run *run, const char *name, enum workload_type type, size_t count);
size_t add_random(struct workload_run *run, const char *name, size_t count, uint64_t seed, float low,
                  float high);
size_t add_random_bits(struct workload_run *run, const char *name, size_t count, uint64_t seed);

/* Declares a buffer an output and returns the memory for its reference; NULL: not requested, or out of
 * memory. */
void *expect(struct workload_run *run, size_t index, double rtol, double atol, const char *why);

/* Appends a dispatch of at least so many work-items in workgroups of the given size. */
void enqueue_grid(struct workload_run *run, const char *kernel, const uint32_t items[3],
                  const uint32_t workgroup[3], const struct workload_argument *arguments, size_t count);
/* The same in two dimensions: x * y items in workgroups of wx * wy. */
void enqueue(struct workload_run *run, const char *kernel, uint32_t x, uint32_t y, uint32_t wx, uint32_t wy,
             const struct workload_argument *arguments, size_t count);

#define ARGUMENTS(...)                                                                                       \
    (struct workload_argument[]){__VA_ARGS__},                                                               \
        sizeof((struct workload_argument[]){__VA_ARGS__}) / sizeof(struct workload_argument)

static inline struct workload_argument in_buffer(size_t index)
{
    return (struct workload_argument){.kind = ARGUMENT_BUFFER, .buffer = index};
}

static inline struct workload_argument u32(uint32_t value)
{
    return (struct workload_argument){.kind = ARGUMENT_U32, .u32 = value};
}

static inline struct workload_argument f32(float value)
{
    return (struct workload_argument){.kind = ARGUMENT_F32, .f32 = value};
}

static inline struct workload_argument f64(double value)
{
    return (struct workload_argument){.kind = ARGUMENT_F64, .f64 = value};
}

static inline uint32_t round_up(uint32_t n, uint32_t multiple)
{
    return (n + multiple - 1) / multiple * multiple;
}

/* Reasons for comparing bits. */
static const char *const exact_float = "the same IEEE operations in the same order";
static const char *const exact_copy = "values are only moved";
static const char *const exact_integer = "integers";

#endif
