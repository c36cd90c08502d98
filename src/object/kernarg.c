/* SPDX-License-Identifier: MIT */
/* Fills the hidden arguments of a kernel.
 *
 * Source: LLVM 19 AMDGPUUsage, "Code Object Metadata", ".value_kind" of versions 3 and 5. */
#include "object/object.h"

#include <string.h>

enum value {
    BLOCK_COUNT_X, /* followed by y and z; likewise below */
    GROUP_SIZE_X = BLOCK_COUNT_X + 3,
    REMAINDER_X = GROUP_SIZE_X + 3,
    GLOBAL_OFFSET_X = REMAINDER_X + 3,
    GRID_DIMS = GLOBAL_OFFSET_X + 3,
    PRINTF_BUFFER,
    HOSTCALL_BUFFER,
    HEAP,
    DEFAULT_QUEUE,
    COMPLETION_ACTION,
    MULTIGRID_SYNC,
    DYNAMIC_LDS,
    PRIVATE_BASE,
    SHARED_BASE,
    QUEUE_PTR,
    VALUES,
};

static const char *const kinds[VALUES] = {
    [BLOCK_COUNT_X] = "hidden_block_count_x",
    [BLOCK_COUNT_X + 1] = "hidden_block_count_y",
    [BLOCK_COUNT_X + 2] = "hidden_block_count_z",
    [GROUP_SIZE_X] = "hidden_group_size_x",
    [GROUP_SIZE_X + 1] = "hidden_group_size_y",
    [GROUP_SIZE_X + 2] = "hidden_group_size_z",
    [REMAINDER_X] = "hidden_remainder_x",
    [REMAINDER_X + 1] = "hidden_remainder_y",
    [REMAINDER_X + 2] = "hidden_remainder_z",
    [GLOBAL_OFFSET_X] = "hidden_global_offset_x",
    [GLOBAL_OFFSET_X + 1] = "hidden_global_offset_y",
    [GLOBAL_OFFSET_X + 2] = "hidden_global_offset_z",
    [GRID_DIMS] = "hidden_grid_dims",
    [PRINTF_BUFFER] = "hidden_printf_buffer",
    [HOSTCALL_BUFFER] = "hidden_hostcall_buffer",
    [HEAP] = "hidden_heap_v1",
    [DEFAULT_QUEUE] = "hidden_default_queue",
    [COMPLETION_ACTION] = "hidden_completion_action",
    [MULTIGRID_SYNC] = "hidden_multigrid_sync_arg",
    [DYNAMIC_LDS] = "hidden_dynamic_lds_size",
    [PRIVATE_BASE] = "hidden_private_base",
    [SHARED_BASE] = "hidden_shared_base",
    [QUEUE_PTR] = "hidden_queue_ptr",
};

static void compute(const struct wmi_hidden_values *from, uint64_t values[VALUES])
{
    for (unsigned i = 0; i < 3; i++) {
        /* Only complete workgroups count; the remainder is the size of an incomplete last one. */
        values[BLOCK_COUNT_X + i] = from->grid[i] / from->workgroup[i];
        values[GROUP_SIZE_X + i] = from->workgroup[i];
        values[REMAINDER_X + i] = from->grid[i] % from->workgroup[i];
        values[GLOBAL_OFFSET_X + i] = from->global_offset[i];
    }
    values[GRID_DIMS] = from->dimensions;
    values[PRINTF_BUFFER] = from->printf_buffer;
    values[HOSTCALL_BUFFER] = from->hostcall_buffer;
    values[HEAP] = from->heap;
    values[DEFAULT_QUEUE] = from->default_queue;
    values[COMPLETION_ACTION] = from->completion_action;
    values[MULTIGRID_SYNC] = from->multigrid_sync;
    values[DYNAMIC_LDS] = from->dynamic_lds;
    values[PRIVATE_BASE] = from->private_base;
    values[SHARED_BASE] = from->shared_base;
    values[QUEUE_PTR] = from->queue_ptr;
}

static void put(uint8_t *bytes, size_t size, uint64_t value)
{
    for (size_t i = 0; i < size; i++)
        bytes[i] = i < sizeof(value) ? (uint8_t)(value >> 8 * i) : 0;
}

static bool has(const struct wm_kernel *kernel, const char *kind)
{
    for (size_t i = 0; i < kernel->argument_count; i++)
        if (strcmp(kernel->arguments[i].value_kind, kind) == 0)
            return true;
    return false;
}

bool wmi_kernel_prints(const struct wm_kernel *kernel)
{
    return has(kernel, kinds[PRINTF_BUFFER]);
}

bool wmi_kernel_has_offset(const struct wm_kernel *kernel)
{
    return has(kernel, kinds[GLOBAL_OFFSET_X]);
}

void wmi_fill_kernarg(const struct wm_kernel *kernel, const struct wmi_hidden_values *from, void *kernarg)
{
    uint64_t values[VALUES];
    compute(from, values);
    for (size_t i = 0; i < kernel->argument_count; i++) {
        const struct wm_argument *argument = &kernel->arguments[i];
        if (argument->kind != WM_ARGUMENT_HIDDEN)
            continue;
        for (unsigned v = 0; v < VALUES; v++)
            if (strcmp(argument->value_kind, kinds[v]) == 0)
                put((uint8_t *)kernarg + argument->offset, argument->size, values[v]);
    }
}
