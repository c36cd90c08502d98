/* SPDX-License-Identifier: MIT */
/* The replacement for libhsa-runtime64.so.1 with two GPUs: which of them reaches which memory, and virtual
 * memory. */
#include "submit.h"

#include <setjmp.h> /* before cmocka.h, which needs these four */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OK(call)    assert_int_equal(call, HSA_STATUS_SUCCESS)
#define FAILS(call) assert_int_not_equal(call, HSA_STATUS_SUCCESS)
#define LONG        UINT64_C(60000000000) /* nanoseconds */

/* Not in Debian's header. */
typedef struct {
    uint64_t handle;
} handle;
typedef struct {
    unsigned permissions;
    hsa_agent_t agent;
} access_description;
hsa_status_t hsa_amd_vmem_address_reserve(void **, size_t, uint64_t, uint64_t);
hsa_status_t hsa_amd_vmem_address_reserve_align(void **, size_t, uint64_t, uint64_t, uint64_t);
hsa_status_t hsa_amd_vmem_address_free(void *, size_t);
hsa_status_t hsa_amd_vmem_handle_create(hsa_amd_memory_pool_t, size_t, int, uint64_t, handle *);
hsa_status_t hsa_amd_vmem_handle_release(handle);
hsa_status_t hsa_amd_vmem_map(void *, size_t, size_t, handle, uint64_t);
hsa_status_t hsa_amd_vmem_unmap(void *, size_t);
hsa_status_t hsa_amd_vmem_set_access(void *, size_t, const access_description *, size_t);
hsa_status_t hsa_amd_vmem_get_access(void *, unsigned *, hsa_agent_t);
hsa_status_t hsa_amd_vmem_retain_alloc_handle(handle *, void *);
hsa_status_t hsa_amd_vmem_get_alloc_properties_from_handle(handle, hsa_amd_memory_pool_t *, int *);
hsa_status_t hsa_amd_vmem_export_shareable_handle(int *, handle, uint64_t);
hsa_status_t hsa_amd_vmem_import_shareable_handle(int, handle *);
hsa_status_t hsa_amd_portable_export_dmabuf(const void *, size_t, int *, uint64_t *);
hsa_status_t hsa_amd_portable_export_dmabuf_v2(const void *, size_t, int *, uint64_t *, uint64_t);
hsa_status_t hsa_amd_portable_close_dmabuf(int);
hsa_status_t hsa_amd_interop_map_buffer_with_size(uint32_t, hsa_agent_t *, int, uint32_t, size_t, size_t *,
                                                  void **, size_t *, const void **);

enum { GPUS = 2, N = 64, NONE = 0, READ = 1, BOTH = 3 };

static hsa_agent_t cpu, gpus[GPUS];
static hsa_amd_memory_pool_t fine, pools[GPUS];
static uint64_t vecadd[GPUS]; /* the kernel's object on each */

/* ---- set-up ---- */

static hsa_status_t note_agent(hsa_agent_t agent, void *count)
{
    hsa_device_type_t type;
    OK(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type));
    if (type == HSA_DEVICE_TYPE_CPU)
        cpu = agent;
    else
        gpus[(*(int *)count)++] = agent;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t note_pool(hsa_amd_memory_pool_t pool, void *data)
{
    hsa_amd_segment_t segment;
    OK(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment));
    hsa_amd_memory_pool_t *to = data;
    if (segment == HSA_AMD_SEGMENT_GLOBAL && !to->handle)
        *to = pool;
    return HSA_STATUS_SUCCESS;
}

static void load(int gpu, const char *code, size_t size)
{
    hsa_executable_t executable;
    hsa_code_object_reader_t reader;
    hsa_executable_symbol_t symbol;
    OK(hsa_code_object_reader_create_from_memory(code, size, &reader));
    OK(hsa_executable_create_alt(HSA_PROFILE_BASE, HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR, NULL, &executable));
    OK(hsa_executable_load_agent_code_object(executable, gpus[gpu], reader, NULL, NULL));
    OK(hsa_executable_freeze(executable, NULL));
    OK(hsa_code_object_reader_destroy(reader));
    OK(hsa_executable_get_symbol_by_name(executable, "vecadd.kd", &gpus[gpu], &symbol));
    OK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &vecadd[gpu]));
}

static int set_up(void **state)
{
    static char code[1 << 16];
    int count = 0;
    (void)state;
    setenv("WAVEMEM_GPU", "vega64,vega56", 1);
    OK(hsa_init());
    OK(hsa_iterate_agents(note_agent, &count));
    assert_int_equal(count, GPUS);
    OK(hsa_amd_agent_iterate_memory_pools(cpu, note_pool, &fine));
    FILE *file = fopen(EXAMPLES "/vecadd.co", "rb");
    const size_t size = fread(code, 1, sizeof code, file);
    fclose(file);
    for (int i = 0; i < GPUS; i++) {
        OK(hsa_amd_agent_iterate_memory_pools(gpus[i], note_pool, &pools[i]));
        load(i, code, size);
    }
    assert_int_not_equal(vecadd[0], vecadd[1]);
    return 0;
}

/* ---- kernels ---- */

struct arguments {
    const float *a, *b;
    float *c;
    uint32_t n, unused;
    uint32_t blocks[3];
    uint16_t sizes[3], rest[3];
    uint64_t reserved[2], offset[3];
    uint16_t dimensions;
    char more[288 - 98];
};

static void note_error(hsa_status_t status, hsa_queue_t *source, void *user)
{
    (void)source;
    *(hsa_status_t *)user = status;
}

/* Adds 1, 2, ... to itself on the GPU, with the sums in `to`. Returns what the queue's callback was told. */
static hsa_status_t add_on(int gpu, void *to)
{
    hsa_status_t error = HSA_STATUS_SUCCESS;
    hsa_queue_t *queue;
    hsa_signal_t done;
    struct arguments *arguments;
    float *values;
    OK(hsa_amd_memory_pool_allocate(fine, sizeof *arguments, 0, (void **)&arguments));
    OK(hsa_amd_memory_pool_allocate(fine, N * sizeof *values, 0, (void **)&values));
    for (int i = 0; i < N; i++)
        values[i] = (float)(i + 1);
    *arguments = (struct arguments){
        .a = values, .b = values, .c = to, .n = N, .blocks = {1, 1, 1}, .sizes = {N, 1, 1}, .dimensions = 1};
    OK(hsa_signal_create(1, 0, NULL, &done));
    OK(hsa_queue_create(gpus[gpu], 64, HSA_QUEUE_TYPE_MULTI, note_error, &error, 0, 0, &queue));
    submit_workgroup(queue, vecadd[gpu], arguments, N, done);
    const int64_t value =
        hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, LONG, HSA_WAIT_STATE_BLOCKED);
    assert_int_equal(value, error ? -1 : 0);
    OK(hsa_queue_destroy(queue));
    OK(hsa_signal_destroy(done));
    OK(hsa_amd_memory_pool_free(values));
    OK(hsa_amd_memory_pool_free(arguments));
    return error;
}

static bool has_sums(const void *memory)
{
    float values[N];
    OK(hsa_memory_copy(values, memory, sizeof values));
    bool all = true;
    for (int i = 0; i < N; i++)
        all &= values[i] == 2 * (float)(i + 1);
    return all;
}

/* ---- tests ---- */

/* Memory of a GPU is the owner's, and that of those whom the program allows, until it no longer does. */
static void test_peers(void **state)
{
    (void)state;
    const hsa_status_t fault = (hsa_status_t)HSA_STATUS_ERROR_MEMORY_FAULT;
    for (size_t size = 4096; size <= 4 << 20; size <<= 10) { /* small ones and large ones lie elsewhere */
        hsa_amd_pointer_info_t info = {.size = sizeof info};
        hsa_agent_t *accessible;
        uint32_t count;
        char *memory;
        OK(hsa_amd_memory_pool_allocate(pools[1], size, 0, (void **)&memory));
        OK(add_on(1, memory));
        assert_true(has_sums(memory));
        assert_int_equal(add_on(0, memory), fault);
        OK(hsa_amd_agents_allow_access(1, &gpus[0], NULL, memory));
        OK(hsa_amd_memory_fill(memory, 0, N));
        OK(add_on(0, memory));
        OK(add_on(1, memory));
        assert_true(has_sums(memory));
        OK(hsa_amd_pointer_info(memory, &info, malloc, &count, &accessible));
        assert_int_equal(count, 2);
        free(accessible);
        OK(hsa_amd_agents_allow_access(1, &cpu, NULL, memory));
        assert_int_equal(add_on(0, memory), fault);
        OK(add_on(1, memory));
        OK(hsa_amd_pointer_info(memory, &info, malloc, &count, &accessible));
        assert_int_equal(count, 1);
        assert_int_equal(accessible[0].handle, gpus[1].handle);
        free(accessible);
        OK(hsa_amd_agents_allow_access(2, gpus, NULL, memory));
        OK(hsa_amd_memory_pool_free(memory));
        assert_int_equal(add_on(0, memory), fault);
        assert_int_equal(add_on(1, memory), fault);
    }
}

enum { PIECE = 1 << 16 };

/* Addresses that are not registered are memory of the host of any size, as HIP 7's managed memory is. */
static void test_unregistered(void **state)
{
    (void)state;
    enum { ODD = 4004, NO_REGISTER = 1 };
    char *at;
    handle memory;
    OK(hsa_amd_vmem_address_reserve_align((void **)&at, ODD, 0, 1 << 16, NO_REGISTER));
    assert_int_equal((uintptr_t)at % (1 << 16), 0);
    memset(at, 7, ODD);
    assert_int_equal(at[ODD - 1], 7);
    OK(hsa_amd_vmem_handle_create(pools[0], 4096, 0, 0, &memory));
    FAILS(hsa_amd_vmem_map(at, 4096, 0, memory, 0));
    OK(hsa_amd_vmem_handle_release(memory));
    FAILS(hsa_amd_vmem_address_free(at, ODD + 1));
    OK(hsa_amd_vmem_address_free(at, ODD));
    FAILS(hsa_amd_vmem_address_free(at, ODD));
}

/* The same memory at two addresses, in halves, for each GPU and the host as they are allowed. */
static void test_virtual_memory(void **state)
{
    (void)state;
    handle memory, same;
    char *at, *other;
    unsigned permissions = BOTH;
    hsa_amd_memory_pool_t pool;
    int type = 77;
    OK(hsa_amd_vmem_handle_create(pools[0], 2 * PIECE, 1, 0, &memory));
    OK(hsa_amd_vmem_get_alloc_properties_from_handle(memory, &pool, &type));
    assert_int_equal(pool.handle, pools[0].handle);
    assert_int_equal(type, 1);
    OK(hsa_amd_vmem_address_reserve_align((void **)&at, 4 * PIECE, 0, 1 << 21, 0));
    assert_int_equal((uintptr_t)at % (1 << 21), 0);
    OK(hsa_amd_vmem_address_reserve((void **)&other, 2 * PIECE, 0, 0));
    OK(hsa_amd_vmem_map(at, PIECE, PIECE, memory, 0)); /* the second half first */
    OK(hsa_amd_vmem_map(at + PIECE, PIECE, 0, memory, 0));
    OK(hsa_amd_vmem_map(other, 2 * PIECE, 0, memory, 0));
    OK(hsa_amd_vmem_get_access(at, &permissions, gpus[0]));
    assert_int_equal(permissions, NONE);
    FAILS(add_on(0, at));
    FAILS(hsa_memory_copy(at, &type, sizeof type));
    const access_description first[] = {{BOTH, gpus[0]}}, second[] = {{READ, gpus[1]}, {READ, cpu}};
    OK(hsa_amd_vmem_set_access(at, 2 * PIECE, first, 1));
    OK(hsa_amd_vmem_set_access(other, 2 * PIECE, second, 2));
    OK(hsa_amd_vmem_get_access(other + PIECE, &permissions, gpus[1]));
    assert_int_equal(permissions, READ);
    OK(add_on(0, at + 256));
    assert_true(has_sums(at + 256));
    assert_true(has_sums(other + PIECE + 256));
    assert_true(*(float *)(other + PIECE + 256) == 2); /* by the host itself */
    FAILS(add_on(1, at));
    FAILS(add_on(1, other)); /* read-only */
    FAILS(add_on(0, other));
    OK(hsa_amd_vmem_retain_alloc_handle(&same, other + 5));
    assert_int_equal(same.handle, memory.handle);
    OK(hsa_amd_vmem_handle_release(same));
    OK(hsa_amd_vmem_handle_release(memory)); /* the mappings keep it */
    FAILS(hsa_amd_vmem_handle_release(memory));
    FAILS(hsa_amd_vmem_address_free(at, 4 * PIECE)); /* something is there */
    OK(hsa_amd_vmem_unmap(at, PIECE));
    OK(hsa_amd_vmem_unmap(at + PIECE, PIECE));
    FAILS(hsa_amd_vmem_unmap(at, PIECE));
    FAILS(add_on(0, at + 256));
    assert_true(has_sums(other + PIECE + 256));
    OK(hsa_amd_vmem_unmap(other, 2 * PIECE));
    OK(hsa_amd_vmem_address_free(at, 4 * PIECE));
    OK(hsa_amd_vmem_address_free(other, 2 * PIECE));
    FAILS(hsa_amd_vmem_get_alloc_properties_from_handle(memory, &pool, &type));
}

/* Memory as a file, which another process could open. */
static void test_exported(void **state)
{
    (void)state;
    handle memory, imported;
    char *at;
    int file;
    const access_description both[] = {{BOTH, gpus[1]}, {BOTH, cpu}};
    OK(hsa_amd_vmem_handle_create(pools[1], PIECE, 0, 0, &memory));
    OK(hsa_amd_vmem_export_shareable_handle(&file, memory, 0));
    OK(hsa_amd_vmem_import_shareable_handle(file, &imported));
    close(file);
    FAILS(hsa_amd_vmem_import_shareable_handle(-1, &imported));
    OK(hsa_amd_vmem_address_reserve((void **)&at, 2 * PIECE, 0, 0));
    OK(hsa_amd_vmem_map(at, PIECE, 0, memory, 0));
    OK(hsa_amd_vmem_map(at + PIECE, PIECE, 0, imported, 0));
    OK(hsa_amd_vmem_set_access(at, 2 * PIECE, both, 2));
    strcpy(at + 7, "the same");
    assert_string_equal(at + PIECE + 7, "the same");
    OK(add_on(1, at));
    assert_true(has_sums(at + PIECE));
    OK(hsa_amd_vmem_unmap(at, PIECE));
    OK(hsa_amd_vmem_unmap(at + PIECE, PIECE));
    OK(hsa_amd_vmem_handle_release(memory));
    OK(hsa_amd_vmem_handle_release(imported));
    OK(hsa_amd_vmem_address_free(at, 2 * PIECE));
}

/* Maps a file for a GPU. */
static char *map_file(int gpu, int file, size_t *size)
{
    size_t metadata_size = 1;
    const void *metadata = size;
    void *at;
    OK(hsa_amd_interop_map_buffer(1, &gpus[gpu], file, 0, size, &at, &metadata_size, &metadata));
    assert_int_equal(metadata_size, 0);
    assert_null(metadata);
    return at;
}

/* Memory of a pool as a file, which another GPU maps as a whole. It lives as long as a mapping. */
static void test_files(void **state)
{
    (void)state;
    enum { PAGE = 4096 };
    char *memory, *at, *again;
    uint64_t offset = 0;
    size_t size = 0;
    int file = -1, second = -1;
    OK(hsa_amd_memory_pool_allocate(pools[1], 3 * PAGE, 0, (void **)&memory));
    OK(add_on(1, memory + PAGE + 64));
    OK(hsa_amd_portable_export_dmabuf(memory + PAGE, PAGE, &file, &offset));
    assert_int_equal(offset, PAGE);
    at = map_file(0, file, &size);
    assert_in_range(size, 3 * PAGE, 16 * PAGE); /* files may be larger */
    assert_ptr_not_equal(at, memory);
    assert_true(has_sums(at + PAGE + 64)); /* what was there before */
    OK(add_on(0, at + 2 * PAGE));
    assert_true(has_sums(memory + 2 * PAGE));
    OK(hsa_amd_portable_export_dmabuf_v2(memory, 3 * PAGE, &second, &offset, 1));
    assert_int_equal(offset, 0);
    OK(hsa_amd_interop_map_buffer_with_size(1, &gpus[1], second, 0, PAGE, &size, (void **)&again, NULL,
                                            NULL));
    OK(hsa_amd_portable_close_dmabuf(file));
    OK(hsa_amd_portable_close_dmabuf(second));
    FAILS(hsa_amd_portable_close_dmabuf(-1));
    OK(hsa_amd_memory_pool_free(memory));
    OK(hsa_amd_interop_unmap_buffer(at));
    FAILS(hsa_amd_interop_unmap_buffer(at));
    assert_true(has_sums(again + 2 * PAGE));
    OK(hsa_amd_interop_unmap_buffer(again));
}

static void test_file_of_virtual_memory(void **state)
{
    (void)state;
    const access_description one[] = {{BOTH, gpus[1]}};
    handle memory;
    char *at, *mapped;
    size_t size = 0;
    int file;
    OK(hsa_amd_vmem_handle_create(pools[1], PIECE, 0, 0, &memory));
    OK(hsa_amd_vmem_address_reserve((void **)&at, PIECE, 0, 0));
    OK(hsa_amd_vmem_map(at, PIECE, 0, memory, 0));
    OK(hsa_amd_vmem_set_access(at, PIECE, one, 1));
    OK(hsa_amd_vmem_export_shareable_handle(&file, memory, 0));
    mapped = map_file(0, file, &size);
    close(file);
    assert_int_equal(size, PIECE);
    OK(add_on(0, mapped));
    assert_true(has_sums(at));
    OK(hsa_amd_interop_unmap_buffer(mapped));
    OK(hsa_amd_vmem_unmap(at, PIECE));
    OK(hsa_amd_vmem_handle_release(memory));
    OK(hsa_amd_vmem_address_free(at, PIECE));
}

static void test_wrong_files(void **state)
{
    (void)state;
    char *memory, *host;
    uint64_t offset = 77;
    size_t size;
    void *at;
    int file = 77, ends[2];
    OK(hsa_amd_memory_pool_allocate(pools[0], 8192, 0, (void **)&memory));
    OK(hsa_amd_memory_pool_allocate(fine, 8192, 0, (void **)&host));
    assert_int_equal(hsa_amd_portable_export_dmabuf(memory + 4096, 4097, &file, &offset),
                     HSA_STATUS_ERROR_INVALID_ALLOCATION);
    assert_int_equal(hsa_amd_portable_export_dmabuf(ends, 1, &file, &offset),
                     HSA_STATUS_ERROR_INVALID_ALLOCATION);
    assert_int_equal(hsa_amd_portable_export_dmabuf(host, 8192, &file, &offset),
                     HSA_STATUS_ERROR_INVALID_AGENT);
    FAILS(hsa_amd_portable_export_dmabuf(memory, 0, &file, &offset));
    FAILS(hsa_amd_portable_export_dmabuf(NULL, 1, &file, &offset));
    FAILS(hsa_amd_portable_export_dmabuf(memory, 1, NULL, &offset));
    FAILS(hsa_amd_portable_export_dmabuf(memory, 1, &file, NULL));
    FAILS(hsa_amd_portable_export_dmabuf_v2(memory, 1, &file, &offset, 2));
    assert_int_equal(file, 77);
    assert_int_equal(offset, 77);
    assert_int_equal(pipe(ends), 0);
    FAILS(hsa_amd_interop_map_buffer(1, gpus, ends[0], 0, &size, &at, NULL, NULL));
    FAILS(hsa_amd_interop_map_buffer(1, gpus, -1, 0, &size, &at, NULL, NULL));
    OK(hsa_amd_portable_export_dmabuf(memory, 1, &file, &offset));
    FAILS(hsa_amd_interop_map_buffer(0, gpus, file, 0, &size, &at, NULL, NULL));
    FAILS(hsa_amd_interop_map_buffer(1, gpus, file, 1, &size, &at, NULL, NULL));
    FAILS(hsa_amd_interop_map_buffer(1, gpus, file, 0, NULL, &at, NULL, NULL));
    FAILS(hsa_amd_interop_map_buffer(1, &(hsa_agent_t){99}, file, 0, &size, &at, NULL, NULL));
    close(file);
    close(ends[0]);
    close(ends[1]);
    OK(hsa_amd_memory_pool_free(host));
    OK(hsa_amd_memory_pool_free(memory));
}

static void test_wrong_virtual_memory(void **state)
{
    (void)state;
    handle memory, none = {0x1234};
    char *at;
    int type;
    size_t size;
    hsa_amd_memory_pool_t pool;
    const access_description wild[] = {{BOTH, {99}}}, odd[] = {{8, gpus[0]}}, right[] = {{BOTH, gpus[0]}};
    FAILS(hsa_amd_vmem_handle_create((hsa_amd_memory_pool_t){99}, PIECE, 0, 0, &memory));
    FAILS(hsa_amd_vmem_handle_create(pools[0], PIECE + 1, 0, 0, &memory));
    FAILS(hsa_amd_vmem_handle_create(pools[0], 0, 0, 0, &memory));
    FAILS(hsa_amd_vmem_handle_create(pools[0], UINT64_MAX - 4095, 0, 0, &memory));
    FAILS(hsa_amd_vmem_handle_create(pools[0], PIECE, 0, 0, NULL));
    /* more than the GPU has, in two parts */
    OK(hsa_amd_memory_pool_get_info(pools[0], HSA_AMD_MEMORY_POOL_INFO_SIZE, &size));
    OK(hsa_amd_vmem_handle_create(pools[0], size - PIECE, 0, 0, &memory));
    FAILS(hsa_amd_vmem_handle_create(pools[0], 2 * PIECE, 0, 0, &none));
    OK(hsa_amd_vmem_handle_release(memory));
    OK(hsa_amd_vmem_handle_create(pools[0], 2 * PIECE, 0, 0, &memory));
    OK(hsa_amd_vmem_handle_release(memory));
    FAILS(hsa_amd_vmem_handle_release(none));
    FAILS(hsa_amd_vmem_get_alloc_properties_from_handle(none, &pool, &type));
    FAILS(hsa_amd_vmem_export_shareable_handle(&type, none, 0));
    FAILS(hsa_amd_vmem_address_reserve((void **)&at, 0, 0, 0));
    FAILS(hsa_amd_vmem_address_reserve((void **)&at, 4095, 0, 0));
    FAILS(hsa_amd_vmem_address_reserve((void **)&at, PIECE, 0, 2));
    FAILS(hsa_amd_vmem_address_reserve((void **)&at, UINT64_MAX - 4095, 0, 0));
    FAILS(hsa_amd_vmem_address_reserve_align((void **)&at, PIECE, 0, 3, 0));
    FAILS(hsa_amd_vmem_address_free(&type, PIECE));
    OK(hsa_amd_vmem_handle_create(pools[0], PIECE, 0, 0, &memory));
    OK(hsa_amd_vmem_address_reserve((void **)&at, PIECE, 0, 0));
    FAILS(hsa_amd_vmem_map(at, PIECE, 0, none, 0));
    FAILS(hsa_amd_vmem_map(at, 2 * PIECE, 0, memory, 0));
    FAILS(hsa_amd_vmem_map(at, PIECE, 4096, memory, 0));
    FAILS(hsa_amd_vmem_map(at + PIECE, PIECE, 0, memory, 0));
    FAILS(hsa_amd_vmem_map(at + 1, 4096, 0, memory, 0));
    OK(hsa_amd_vmem_map(at, PIECE, 0, memory, 0));
    FAILS(hsa_amd_vmem_map(at, PIECE, 0, memory, 0)); /* taken */
    FAILS(hsa_amd_vmem_set_access(at, PIECE, wild, 1));
    FAILS(hsa_amd_vmem_set_access(at, PIECE, odd, 1));
    FAILS(hsa_amd_vmem_set_access(at, 2 * PIECE, right, 1));
    FAILS(hsa_amd_vmem_set_access(at, PIECE, NULL, 1));
    FAILS(hsa_amd_vmem_get_access(at + PIECE, (unsigned *)&type, gpus[0]));
    FAILS(hsa_amd_vmem_get_access(at, (unsigned *)&type, (hsa_agent_t){99}));
    FAILS(hsa_amd_vmem_retain_alloc_handle(&none, at + PIECE));
    FAILS(hsa_amd_vmem_unmap(at, 4096));
    OK(hsa_amd_vmem_unmap(at, PIECE));
    OK(hsa_amd_vmem_handle_release(memory));
    OK(hsa_amd_vmem_address_free(at, PIECE));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_peers),          cmocka_unit_test(test_unregistered),
        cmocka_unit_test(test_virtual_memory), cmocka_unit_test(test_exported),
        cmocka_unit_test(test_files),          cmocka_unit_test(test_file_of_virtual_memory),
        cmocka_unit_test(test_wrong_files),    cmocka_unit_test(test_wrong_virtual_memory),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
