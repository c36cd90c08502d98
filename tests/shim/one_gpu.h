/* SPDX-License-Identifier: MIT */
/* What tests of the replacement for libhsa-runtime64.so.1 with one GPU begin with. */
#ifndef WAVEMEM_TESTS_ONE_GPU_H
#define WAVEMEM_TESTS_ONE_GPU_H

#include <setjmp.h> /* before cmocka.h, which needs these four */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <stdlib.h>

#define OK(call)    assert_int_equal(call, HSA_STATUS_SUCCESS)
#define FAILS(call) assert_int_not_equal(call, HSA_STATUS_SUCCESS)
#define LONG        UINT64_C(60000000000) /* nanoseconds */

static hsa_agent_t cpu, gpu;
static hsa_amd_memory_pool_t fine, device; /* of the host, and of the GPU */

static hsa_status_t note_agent(hsa_agent_t agent, void *data)
{
    hsa_device_type_t type;
    (void)data;
    OK(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type));
    *(type == HSA_DEVICE_TYPE_GPU ? &gpu : &cpu) = agent;
    return HSA_STATUS_SUCCESS;
}

/* Pools of the host are fine or coarse, never both: libamdhip64 aborts otherwise. */
static hsa_status_t note_pool(hsa_amd_memory_pool_t pool, void *data)
{
    hsa_amd_segment_t segment;
    uint32_t flags;
    OK(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment));
    OK(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags));
    const bool is_fine = flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED;
    if (segment != HSA_AMD_SEGMENT_GLOBAL)
        return HSA_STATUS_SUCCESS;
    assert_int_equal(is_fine, !(flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED));
    if (data == &device || is_fine)
        *(hsa_amd_memory_pool_t *)data = pool;
    return HSA_STATUS_SUCCESS;
}

static int begin(const char *product)
{
    setenv("WAVEMEM_GPU", product, 1);
    OK(hsa_init());
    OK(hsa_iterate_agents(note_agent, NULL));
    OK(hsa_amd_agent_iterate_memory_pools(cpu, note_pool, &fine));
    OK(hsa_amd_agent_iterate_memory_pools(gpu, note_pool, &device));
    return !cpu.handle || !gpu.handle || !fine.handle || !device.handle;
}

static hsa_signal_t new_signal(int64_t value)
{
    hsa_signal_t signal;
    OK(hsa_signal_create(value, 0, NULL, &signal));
    return signal;
}

static int64_t wait_below_1(hsa_signal_t signal)
{
    return hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_LT, 1, LONG, HSA_WAIT_STATE_BLOCKED);
}

static void *allocate(hsa_amd_memory_pool_t pool, size_t size)
{
    void *memory;
    OK(hsa_amd_memory_pool_allocate(pool, size, 0, &memory));
    return memory;
}

#endif
