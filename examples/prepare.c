/* SPDX-License-Identifier: MIT */
/* Makes runs of workloads and compares their results. */
#include "prepare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"

/* ---- building a run ---- */

size_t add_buffer(struct workload_run *run, const char *name, enum workload_type type, size_t count)
{
    struct workload_buffer *buffer = &run->buffer[run->buffer_count];
    *buffer = (struct workload_buffer){.name = name, .type = type, .count = count};
    buffer->initial = calloc(count, 4);
    run->failed = run->failed || !buffer->initial;
    return run->buffer_count++;
}

size_t add_random(struct workload_run *run, const char *name, size_t count, uint64_t seed, float low,
                  float high)
{
    const size_t index = add_buffer(run, name, WORKLOAD_F32, count);
    float *value = run->buffer[index].initial;
    for (size_t i = 0; i < count && !run->failed; i++)
        value[i] = low + (high - low) * wmi_random_f32(seed, i);
    return index;
}

size_t add_random_bits(struct workload_run *run, const char *name, size_t count, uint64_t seed)
{
    const size_t index = add_buffer(run, name, WORKLOAD_U32, count);
    uint32_t *value = run->buffer[index].initial;
    for (size_t i = 0; i < count && !run->failed; i++)
        value[i] = wmi_random_u32(seed, i);
    return index;
}

void *expect(struct workload_run *run, size_t index, double rtol, double atol, const char *why)
{
    struct workload_buffer *buffer = &run->buffer[index];
    if (!run->references)
        return NULL;
    buffer->expected = calloc(buffer->count, 4);
    buffer->rtol = rtol;
    buffer->atol = atol;
    buffer->why = why;
    run->failed = run->failed || !buffer->expected;
    return run->failed ? NULL : buffer->expected;
}

void enqueue_grid(struct workload_run *run, const char *kernel, const uint32_t items[3],
                  const uint32_t workgroup[3], const struct workload_argument *arguments, size_t count)
{
    struct workload_dispatch *grown =
        realloc(run->dispatch, (run->dispatch_count + 1) * sizeof(*run->dispatch));
    run->failed = run->failed || !grown;
    if (!grown)
        return;
    run->dispatch = grown;
    struct workload_dispatch *dispatch = &run->dispatch[run->dispatch_count++];
    *dispatch = (struct workload_dispatch){.kernel = kernel, .argument_count = count};
    for (int axis = 0; axis < 3; axis++) {
        dispatch->grid[axis] = round_up(items[axis], workgroup[axis]);
        dispatch->workgroup[axis] = workgroup[axis];
    }
    memcpy(dispatch->argument, arguments, count * sizeof(*arguments));
}

void enqueue(struct workload_run *run, const char *kernel, uint32_t x, uint32_t y, uint32_t wx, uint32_t wy,
             const struct workload_argument *arguments, size_t count)
{
    enqueue_grid(run, kernel, (uint32_t[3]){x, y, 1}, (uint32_t[3]){wx, wy, 1}, arguments, count);
}

bool workload_prepare(const struct workload *workload, const uint32_t size[3], bool references,
                      struct workload_run *run)
{
    *run = (struct workload_run){.references = references};
    workload->prepare(run, size);
    return !run->failed;
}

void workload_free(struct workload_run *run)
{
    for (size_t i = 0; i < run->buffer_count; i++) {
        free(run->buffer[i].initial);
        free(run->buffer[i].expected);
    }
    free(run->dispatch);
    memset(run, 0, sizeof(*run));
}

/* ---- comparing ---- */

size_t workload_compare(const struct workload_buffer *buffer, const void *got, char *message, size_t size,
                        double *worst)
{
    size_t wrong = 0;
    if (worst)
        *worst = 0;
    for (size_t i = 0; i < buffer->count; i++) {
        const uint32_t bits = ((const uint32_t *)got)[i],
                       right_bits = ((const uint32_t *)buffer->expected)[i];
        double x = bits, right = right_bits;
        if (buffer->type == WORKLOAD_F32) {
            x = ((const float *)got)[i];
            right = ((const float *)buffer->expected)[i];
        }
        const double allowed = buffer->atol + buffer->rtol * fabs(right);
        if (worst && allowed > 0)
            *worst = fmax(*worst, fabs(x - right) / allowed);
        if (bits == right_bits || (allowed > 0 && fabs(x - right) <= allowed))
            continue;
        if (wrong++ == 0 && message)
            snprintf(message, size, "%s[%zu] is %.9g (0x%08x), expected %.9g (0x%08x) within %.3g: %s",
                     buffer->name, i, x, bits, right, right_bits, allowed, buffer->why);
    }
    return wrong;
}
