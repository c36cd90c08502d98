/* SPDX-License-Identifier: MIT */
/* The seventeen example kernels as workloads: buffers, arguments, dispatches and expected results.
 *
 * Independent of the engine: tests and benchmarks run the same table on wavemem and on OpenCL. */
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
    void *initial;     /* contents before the first dispatch */
    void *expected;    /* contents required after the last dispatch; NULL: not compared */
    double rtol, atol; /* |x - expected| <= atol + rtol * |expected|; both 0: bits are equal */
    const char *why;   /* reason for the tolerance */
};

struct workload_argument {
    enum { ARGUMENT_BUFFER, ARGUMENT_U32, ARGUMENT_F32, ARGUMENT_F64 } kind;
    union {
        size_t buffer; /* index */
        uint32_t u32;
        float f32;
        double f64;
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
    struct workload_dispatch *dispatch; /* in order; each starts after the previous one ended */
    size_t dispatch_count;
    bool references; /* whether `expected` is filled */
    bool failed;     /* out of memory */
};

struct workload {
    const char *name;
    const char *file; /* FILE.cl, FILE.co */
    void (*prepare)(struct workload_run *run, const uint32_t size[3]);
    uint32_t small[3]; /* not a multiple of the kernel's block sizes */
    uint32_t bench[3]; /* with `repeats`: PoCL 3.1 needs at least 100 ms with one thread */
    uint32_t repeats;  /* how often a benchmark repeats the dispatches */
};

extern const struct workload workloads[WORKLOAD_COUNT];

/* Finds a workload by name; or NULL. */
const struct workload *workload_find(const char *name);

/* Creates inputs of `size` and, with `references`, the expected results, which can take seconds. Returns
 * false if out of memory. Free it in either case. */
bool workload_prepare(const struct workload *workload, const uint32_t size[3], bool references,
                      struct workload_run *run);
void workload_free(struct workload_run *run);

/* Compares `got`, the final contents of `buffer`; returns the number of wrong elements. `message`: describes
 * the first one; `worst`: the largest error as a fraction of the tolerance. Either may be NULL. */
size_t workload_compare(const struct workload_buffer *buffer, const void *got, char *message, size_t size,
                        double *worst);

#endif
