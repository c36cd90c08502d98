/* SPDX-License-Identifier: MIT */
/* Executes a workload with OpenCL, from source. */
#define CL_TARGET_OPENCL_VERSION 120
#include "pocl.h"

#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pocl {
    const struct workload_run *run;
    cl_context context;
    cl_command_queue queue;
    cl_program program;
    cl_mem buffer[WORKLOAD_BUFFERS];
    cl_kernel *kernel; /* one per dispatch, with its arguments set */
};

/* Whether `status` is success; if not, sets `message`. */
static bool ok(cl_int status, const char *what, char *message, size_t size)
{
    if (status == CL_SUCCESS)
        return true;
    snprintf(message, size, "OpenCL: %s: error %d", what, status);
    return false;
}

static char *read_text(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    char *text = calloc(1, 1 << 16);
    const size_t length = text ? fread(text, 1, (1 << 16) - 1, file) : 0;
    fclose(file);
    if (length == 0) {
        free(text);
        return NULL;
    }
    return text;
}

static bool find_cpu(cl_device_id *device, char *message, size_t size)
{
    cl_platform_id platform[16];
    cl_uint platforms = 0;
    if (!ok(clGetPlatformIDs(16, platform, &platforms), "platforms", message, size))
        return false;
    for (cl_uint i = 0; i < platforms && i < 16; i++)
        if (clGetDeviceIDs(platform[i], CL_DEVICE_TYPE_CPU, 1, device, NULL) == CL_SUCCESS)
            return true;
    snprintf(message, size, "OpenCL: no device of type CPU");
    return false;
}

static bool build(struct pocl *pocl, cl_device_id device, const char *path, char *message, size_t size)
{
    char *text = read_text(path);
    if (!text) {
        snprintf(message, size, "%s: cannot be read", path);
        return false;
    }
    cl_int status;
    pocl->program = clCreateProgramWithSource(pocl->context, 1, (const char **)&text, NULL, &status);
    free(text);
    if (!ok(status, "program", message, size))
        return false;
    return ok(clBuildProgram(pocl->program, 1, &device, "-cl-std=CL1.2", NULL, NULL), path, message, size);
}

static bool set_arguments(struct pocl *pocl, size_t index, char *message, size_t size)
{
    const struct workload_dispatch *dispatch = &pocl->run->dispatch[index];
    cl_int status;
    pocl->kernel[index] = clCreateKernel(pocl->program, dispatch->kernel, &status);
    if (!ok(status, dispatch->kernel, message, size))
        return false;
    for (size_t i = 0; i < dispatch->argument_count; i++) {
        const struct workload_argument *argument = &dispatch->argument[i];
        const bool is_buffer = argument->kind == ARGUMENT_BUFFER;
        const void *value = is_buffer ? (const void *)&pocl->buffer[argument->buffer] : &argument->u32;
        const size_t size_of_value = is_buffer || argument->kind == ARGUMENT_F64 ? 8 : 4;
        status = clSetKernelArg(pocl->kernel[index], (cl_uint)i, size_of_value, value);
        if (!ok(status, "argument", message, size))
            return false;
    }
    return true;
}

static bool open_all(struct pocl *pocl, const char *path, char *message, size_t size)
{
    const struct workload_run *run = pocl->run;
    cl_device_id device;
    cl_int status;
    if (!find_cpu(&device, message, size))
        return false;
    pocl->context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
    if (!ok(status, "context", message, size))
        return false;
    pocl->queue = clCreateCommandQueue(pocl->context, device, CL_QUEUE_PROFILING_ENABLE, &status);
    if (!ok(status, "queue", message, size) || !build(pocl, device, path, message, size))
        return false;
    for (size_t i = 0; i < run->buffer_count; i++) {
        pocl->buffer[i] =
            clCreateBuffer(pocl->context, CL_MEM_READ_WRITE, run->buffer[i].count * 4, NULL, &status);
        if (!ok(status, run->buffer[i].name, message, size))
            return false;
    }
    pocl->kernel = calloc(run->dispatch_count, sizeof(cl_kernel));
    if (!pocl->kernel)
        return ok(CL_OUT_OF_HOST_MEMORY, "kernels", message, size);
    for (size_t i = 0; i < run->dispatch_count; i++)
        if (!set_arguments(pocl, i, message, size))
            return false;
    return true;
}

struct pocl *pocl_open(const struct workload_run *run, const char *path, char *message, size_t size)
{
    struct pocl *pocl = calloc(1, sizeof(*pocl));
    if (!pocl) {
        snprintf(message, size, "out of memory");
        return NULL;
    }
    pocl->run = run;
    if (open_all(pocl, path, message, size))
        return pocl;
    pocl_close(pocl);
    return NULL;
}

void pocl_close(struct pocl *pocl)
{
    for (size_t i = 0; pocl->kernel && i < pocl->run->dispatch_count; i++)
        if (pocl->kernel[i])
            clReleaseKernel(pocl->kernel[i]);
    for (size_t i = 0; i < pocl->run->buffer_count; i++)
        if (pocl->buffer[i])
            clReleaseMemObject(pocl->buffer[i]);
    if (pocl->program)
        clReleaseProgram(pocl->program);
    if (pocl->queue)
        clReleaseCommandQueue(pocl->queue);
    if (pocl->context)
        clReleaseContext(pocl->context);
    free(pocl->kernel);
    free(pocl);
}

bool pocl_reset(struct pocl *pocl, char *message, size_t size)
{
    for (size_t i = 0; i < pocl->run->buffer_count; i++) {
        const struct workload_buffer *buffer = &pocl->run->buffer[i];
        const cl_int status = clEnqueueWriteBuffer(pocl->queue, pocl->buffer[i], CL_TRUE, 0,
                                                   buffer->count * 4, buffer->initial, 0, NULL, NULL);
        if (!ok(status, buffer->name, message, size))
            return false;
    }
    return true;
}

bool pocl_dispatch(struct pocl *pocl, double *seconds, char *message, size_t size)
{
    for (size_t i = 0; i < pocl->run->dispatch_count; i++) {
        const struct workload_dispatch *dispatch = &pocl->run->dispatch[i];
        size_t grid[3], workgroup[3];
        for (int axis = 0; axis < 3; axis++) {
            grid[axis] = dispatch->grid[axis];
            workgroup[axis] = dispatch->workgroup[axis];
        }
        cl_event event;
        cl_int status =
            clEnqueueNDRangeKernel(pocl->queue, pocl->kernel[i], 3, NULL, grid, workgroup, 0, NULL, &event);
        if (!ok(status, dispatch->kernel, message, size))
            return false;
        cl_ulong start = 0, end = 0;
        status = clWaitForEvents(1, &event);
        if (status == CL_SUCCESS)
            status = clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof(start), &start, NULL);
        if (status == CL_SUCCESS)
            status = clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof(end), &end, NULL);
        clReleaseEvent(event);
        if (!ok(status, dispatch->kernel, message, size))
            return false;
        *seconds += (double)(end - start) * 1e-9;
    }
    return true;
}

bool pocl_check(struct pocl *pocl, double *worst, char *message, size_t size)
{
    *worst = 0;
    for (size_t i = 0; i < pocl->run->buffer_count; i++) {
        const struct workload_buffer *buffer = &pocl->run->buffer[i];
        if (!buffer->expected)
            continue;
        void *got = malloc(buffer->count * 4);
        if (!got)
            return ok(CL_OUT_OF_HOST_MEMORY, buffer->name, message, size);
        const cl_int status = clEnqueueReadBuffer(pocl->queue, pocl->buffer[i], CL_TRUE, 0, buffer->count * 4,
                                                  got, 0, NULL, NULL);
        double error = 0;
        const bool right = ok(status, buffer->name, message, size) &&
                           workload_compare(buffer, got, message, size, &error) == 0;
        free(got);
        if (!right)
            return false;
        *worst = error > *worst ? error : *worst;
    }
    return true;
}
