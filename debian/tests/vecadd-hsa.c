/* SPDX-License-Identifier: MIT */
/* Adds two vectors on the GPU that HSA finds first, and compares the sums with its own.
 *
 * usage: vecadd-hsa vecadd.co */
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 1000, GROUP = 64 };

#define CHECK(call)                                                                                          \
    do {                                                                                                     \
        if ((call) != HSA_STATUS_SUCCESS) {                                                                  \
            fprintf(stderr, "%s failed\n", #call);                                                           \
            exit(1);                                                                                         \
        }                                                                                                    \
    } while (0)

static hsa_agent_t cpu, gpu;
static hsa_amd_memory_pool_t pool; /* of the host; all GPUs may access it */

static hsa_status_t note_agent(hsa_agent_t agent, void *data)
{
    hsa_device_type_t type;
    (void)data;
    CHECK(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type));
    hsa_agent_t *which = type == HSA_DEVICE_TYPE_GPU ? &gpu : &cpu;
    if (!which->handle)
        *which = agent;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t note_pool(hsa_amd_memory_pool_t one, void *data)
{
    uint32_t flags = 0;
    (void)data;
    CHECK(hsa_amd_memory_pool_get_info(one, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags));
    if (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED)
        pool = one;
    return HSA_STATUS_SUCCESS;
}

static void *allocate(size_t bytes)
{
    void *memory;
    CHECK(hsa_amd_memory_pool_allocate(pool, bytes, 0, &memory));
    CHECK(hsa_amd_agents_allow_access(1, &gpu, NULL, memory));
    return memory;
}

/* The address of the kernel's descriptor. */
static uint64_t load(const char *path)
{
    static char code[1 << 20];
    FILE *file = fopen(path, "rb");
    const size_t size = file ? fread(code, 1, sizeof code, file) : 0;
    hsa_code_object_reader_t reader;
    hsa_executable_t executable;
    hsa_executable_symbol_t symbol;
    uint64_t kernel = 0;
    CHECK(hsa_code_object_reader_create_from_memory(code, size, &reader));
    CHECK(hsa_executable_create_alt(HSA_PROFILE_BASE, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, NULL, &executable));
    CHECK(hsa_executable_load_agent_code_object(executable, gpu, reader, NULL, NULL));
    CHECK(hsa_executable_freeze(executable, NULL));
    CHECK(hsa_executable_get_symbol_by_name(executable, "vecadd.kd", &gpu, &symbol));
    CHECK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &kernel));
    return kernel;
}

int main(int count, char **arguments)
{
    char name[64];
    hsa_queue_t *queue;
    hsa_signal_t done;
    if (count != 2)
        return 2;
    CHECK(hsa_init());
    CHECK(hsa_iterate_agents(note_agent, NULL));
    CHECK(hsa_amd_agent_iterate_memory_pools(cpu, note_pool, NULL));
    CHECK(hsa_agent_get_info(gpu, HSA_AGENT_INFO_NAME, name));
    const uint64_t kernel = load(arguments[1]);
    float *a = allocate(N * sizeof *a), *b = allocate(N * sizeof *b), *c = allocate(N * sizeof *c);
    struct {
        float *a, *b, *c;
        uint32_t n, unused;
        uint32_t blocks[3]; /* of version 5 of the code object: LLVM AMDGPUUsage, "Code Object V5 Metadata" */
        uint16_t group[3], remainder[3];
        uint8_t others[232];
    } *kernarg = allocate(sizeof *kernarg);
    memset(kernarg, 0, sizeof *kernarg);
    kernarg->a = a;
    kernarg->b = b;
    kernarg->c = c;
    kernarg->n = N;
    for (int axis = 0; axis < 3; axis++) {
        kernarg->blocks[axis] = axis ? 1 : (N + GROUP - 1) / GROUP;
        kernarg->group[axis] = axis ? 1 : GROUP;
    }
    for (int i = 0; i < N; i++) {
        a[i] = (float)i;
        b[i] = 0.5f * (float)i;
    }
    CHECK(hsa_queue_create(gpu, 64, HSA_QUEUE_TYPE_SINGLE, NULL, NULL, UINT32_MAX, UINT32_MAX, &queue));
    CHECK(hsa_signal_create(1, 0, NULL, &done));
    const uint64_t index = hsa_queue_add_write_index_relaxed(queue, 1);
    hsa_kernel_dispatch_packet_t *packet = (hsa_kernel_dispatch_packet_t *)queue->base_address + index % queue->size;
    memset((char *)packet + 4, 0, sizeof *packet - 4);
    packet->workgroup_size_x = GROUP;
    packet->workgroup_size_y = packet->workgroup_size_z = 1;
    packet->grid_size_x = (N + GROUP - 1) / GROUP * GROUP;
    packet->grid_size_y = packet->grid_size_z = 1;
    packet->kernel_object = kernel;
    packet->kernarg_address = kernarg;
    packet->completion_signal = done;
    const uint32_t header = HSA_PACKET_TYPE_KERNEL_DISPATCH << HSA_PACKET_HEADER_TYPE |
                            HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
                            HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE;
    __atomic_store_n((uint32_t *)packet, header | 1u << 16, __ATOMIC_RELEASE); /* one dimension */
    hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)index);
    hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED);
    for (int i = 0; i < N; i++)
        if (c[i] != 1.5f * (float)i) {
            fprintf(stderr, "c[%d] is %g, expected %g\n", i, c[i], 1.5 * i);
            return 1;
        }
    printf("%s: %d sums are right\n", name, N);
    CHECK(hsa_shut_down());
    return 0;
}
