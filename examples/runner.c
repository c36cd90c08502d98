/* SPDX-License-Identifier: MIT */
/* Executes a workload on wavemem, using only the public API. */
#include "runner.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((format(printf, 2, 3))) static bool fail(struct runner *runner, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(runner->message, sizeof(runner->message), format, arguments);
    va_end(arguments);
    return false;
}

bool runner_open(struct runner *runner, const struct workload_run *run, const char *path)
{
    struct wm_diag diag = {0};
    *runner = (struct runner){.run = run};
    if (wm_object_open_file(path, NULL, &runner->object, &diag))
        return fail(runner, "%s", diag.message);
    if (wm_machine_create(wm_object_target(runner->object), &runner->machine, &diag))
        return fail(runner, "%s", diag.message);
    if (wm_load(runner->machine, runner->object, &diag))
        return fail(runner, "%s", diag.message);
    return runner_allocate(runner);
}

bool runner_allocate(struct runner *runner)
{
    struct wm_diag diag = {0};
    for (size_t i = 0; i < runner->run->buffer_count; i++)
        if ((runner->address[i] && wm_free(runner->machine, runner->address[i], &diag)) ||
            wm_allocate(runner->machine, runner->run->buffer[i].count * 4, 0, runner->run->buffer[i].name,
                        &runner->address[i], &diag))
            return fail(runner, "%s", diag.message);
    return true;
}

void runner_close(struct runner *runner)
{
    if (runner->machine)
        wm_machine_destroy(runner->machine);
    if (runner->object)
        wm_object_close(runner->object);
    runner->machine = NULL;
    runner->object = NULL;
}

bool runner_reset(struct runner *runner)
{
    struct wm_diag diag = {0};
    for (size_t i = 0; i < runner->run->buffer_count; i++) {
        const struct workload_buffer *buffer = &runner->run->buffer[i];
        if (wm_write(runner->machine, runner->address[i], buffer->initial, buffer->count * 4, &diag))
            return fail(runner, "%s", diag.message);
    }
    return true;
}

/* Writes the arguments to `bytes` in the layout of the kernel's metadata; returns their size; 0: failed. */
static size_t pack(struct runner *runner, const struct workload_dispatch *dispatch,
                   const struct wm_kernel *kernel, uint8_t *bytes, size_t size)
{
    size_t end = 0, given = 0;
    for (size_t i = 0; i < kernel->argument_count; i++) {
        const struct wm_argument *declared = &kernel->arguments[i];
        if (declared->kind == WM_ARGUMENT_HIDDEN)
            continue;
        if (given == dispatch->argument_count)
            return fail(runner, "%s takes more than the %zu arguments given", kernel->name, given);
        const struct workload_argument *argument = &dispatch->argument[given++];
        const bool is_buffer = argument->kind == ARGUMENT_BUFFER;
        const void *value = is_buffer ? (const void *)&runner->address[argument->buffer] : &argument->u32;
        const size_t width = is_buffer || argument->kind == ARGUMENT_F64 ? 8 : 4;
        if (declared->size != width || declared->offset + width > size ||
            (declared->kind == WM_ARGUMENT_GLOBAL_BUFFER) != is_buffer)
            return fail(runner, "argument %zu of %s is not what the workload gives", i, kernel->name);
        memcpy(bytes + declared->offset, value, width);
        end = declared->offset + width > end ? declared->offset + width : end;
    }
    if (given != dispatch->argument_count)
        return fail(runner, "%s takes %zu arguments, not %zu", kernel->name, given, dispatch->argument_count);
    return end;
}

bool runner_dispatch(struct runner *runner, unsigned threads)
{
    for (size_t i = 0; i < runner->run->dispatch_count; i++) {
        const struct workload_dispatch *planned = &runner->run->dispatch[i];
        const struct wm_kernel *kernel;
        struct wm_diag diag = {0};
        uint8_t bytes[WORKLOAD_ARGUMENTS * 8] = {0};
        if (wm_object_find_kernel(runner->object, planned->kernel, &kernel, &diag))
            return fail(runner, "%s", diag.message);
        const size_t size = pack(runner, planned, kernel, bytes, sizeof(bytes));
        if (size == 0)
            return false;

        struct wm_dispatch dispatch = {.struct_size = sizeof(dispatch),
                                       .arguments = bytes,
                                       .arguments_size = size,
                                       .threads = threads,
                                       .profile = runner->profile,
                                       .check = runner->check};
        memcpy(dispatch.grid, planned->grid, sizeof(dispatch.grid));
        memcpy(dispatch.workgroup, planned->workgroup, sizeof(dispatch.workgroup));
        struct wm_result result = {.struct_size = sizeof(result)};
        if (wm_dispatch(runner->machine, runner->object, kernel, &dispatch, &result, &diag))
            return fail(runner, "%s", diag.message);
        if (result.fault.kind != WM_FAULT_NONE)
            return fail(runner, "%s", result.fault.text);
        runner->seconds += result.seconds;
        runner->wave_instructions += result.wave_instructions;
    }
    return true;
}

bool runner_check(struct runner *runner, double *worst)
{
    struct wm_diag diag = {0};
    if (worst)
        *worst = 0;
    for (size_t i = 0; i < runner->run->buffer_count; i++) {
        const struct workload_buffer *buffer = &runner->run->buffer[i];
        if (!buffer->expected)
            continue;
        void *got = malloc(buffer->count * 4);
        if (!got)
            return fail(runner, "out of memory");
        if (wm_read(runner->machine, runner->address[i], got, buffer->count * 4, &diag)) {
            free(got);
            return fail(runner, "%s", diag.message);
        }
        char first[512];
        double error;
        const size_t wrong = workload_compare(buffer, got, first, sizeof(first), &error);
        free(got);
        if (worst && error > *worst)
            *worst = error;
        if (wrong > 0)
            return fail(runner, "%zu of %zu differ; %s", wrong, buffer->count, first);
    }
    return true;
}
