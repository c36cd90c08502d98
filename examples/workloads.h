/* SPDX-License-Identifier: MIT */
/* The seventeen example kernels as work to do: buffers, arguments, dispatches and the results to expect.
 *
 * Nothing here knows who executes it: the tests and the benchmark run the same table on wavemem and on
 * OpenCL. */
#ifndef WAVEMEM_EXAMPLES_WORKLOADS_H
#define WAVEMEM_EXAMPLES_WORKLOADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WORKLOAD_COUNT = 17, WORKLOAD_BUFFERS = 8, WORKLOAD_ARGUMENTS = 9 };

enum workload_type { WORKLOAD_U32, WORKLOAD_F32 };

struct workload_buffer {
    const char *name;
    enum workload_type type;
    size_t count;      /* elements, four bytes each */
    void *initial;     /* what it holds before the first dispatch */
    void *expected;    /* what it must hold after the last one; NULL: not compared */
    double rtol, atol; /* |x - expected| <= atol + rtol * |expected|; both 0: bit for bit */
    const char *why;   /* of the tolerance */
};

struct workload_argument {
    enum { ARGUMENT_BUFFER, ARGUMENT_U32, ARGUMENT_F32 } kind;
    union {
        size_t buffer; /* index */
        uint32_t u32;
        float f32;
    };
};

struct workload_dispatch {
    const char *kernel;
    uint32_t grid[3], workgroup[3]; /* work-items; the grid is a multiple of the workgroup */
    struct workload_argument argument[WORKLOAD_ARGUMENTS];
    size_t argument_count;
};

/* A workload at one size: everything that a runner needs. */
struct workload_run {
    struct workload_buffer buffer[WORKLOAD_BUFFERS];
    size_t buffer_count;
    struct workload_dispatch *dispatch; /* in order, each after the end of the one before */
    size_t dispatch_count;
    bool references; /* whether `expected` is filled */
    bool failed;     /* out of memory */
};

struct workload {
    const char *name;
    const char *file; /* examples/FILE.cl, examples/TARGET/FILE.co */
    void (*prepare)(struct workload_run *run, const uint32_t size[3]);
    uint32_t small[3]; /* does not divide by anything that the kernel cares for */
    uint32_t bench[3]; /* with `repeats`: PoCL 3.1 needs at least 100 ms with one thread */
    uint32_t repeats;  /* how often a benchmark runs the dispatches */
};

extern const struct workload workloads[WORKLOAD_COUNT];

/* The workload of that name, or NULL. */
const struct workload *workload_find(const char *name);

/* Makes inputs of `size`, with references if wanted, which can take seconds; false when there is no memory
 * for them. Free it in either case. */
bool workload_prepare(const struct workload *workload, const uint32_t size[3], bool references,
                      struct workload_run *run);
void workload_free(struct workload_run *run);

/* How many elements of `got`, which holds what `buffer` ended as, are not as expected; `message` says which
 * is the first (NULL: do not say), `worst` the largest error as a part of what is allowed (NULL: do not say).
 */
size_t workload_compare(const struct workload_buffer *buffer, const void *got, char *message, size_t size,
                        double *worst);

#endif
