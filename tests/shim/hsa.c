/* SPDX-License-Identifier: MIT */
/* The replacement for libhsa-runtime64.so.1 called directly: what runtimes do, and what they should not. */
#include "one_gpu.h"
#include "submit.h"

#include <hsa/amd_hsa_signal.h>
#include <hsa/hsa_ext_image.h>
#include <hsa/hsa_ven_amd_loader.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static int set_up(void **state)
{
    (void)state;
    uint32_t chip;
    assert_int_equal(hsa_agent_get_info((hsa_agent_t){2}, HSA_AGENT_INFO_NODE, &chip),
                     HSA_STATUS_ERROR_NOT_INITIALIZED);
    return begin("vega64");
}

/* A Vega 64: 8 GiB of HBM2, of which the driver keeps 16 MiB, 2048 bits at 945 MHz; libdrm's amdgpu.ids:
 * 687F. */
static void test_agents(void **state)
{
    (void)state;
    uint32_t chip, bits, mhz;
    size_t size;
    OK(hsa_agent_get_info(gpu, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_CHIP_ID, &chip));
    OK(hsa_agent_get_info(gpu, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_MEMORY_WIDTH, &bits));
    OK(hsa_agent_get_info(gpu, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_MEMORY_MAX_FREQUENCY, &mhz));
    OK(hsa_amd_memory_pool_get_info(device, HSA_AMD_MEMORY_POOL_INFO_SIZE, &size));
    assert_int_equal(chip, 0x687f);
    assert_int_equal(bits, 2048);
    assert_int_equal(mhz, 945);
    assert_int_equal(size, (UINT64_C(8) << 30) - (16 << 20));
    const hsa_agent_t wild[] = {{0}, {gpu.handle + 1}, {UINT64_MAX}};
    for (size_t i = 0; i < sizeof wild / sizeof *wild; i++)
        FAILS(hsa_agent_get_info(wild[i], HSA_AGENT_INFO_NODE, &chip));
}

/* ---- signals ---- */

static void test_signals(void **state)
{
    (void)state;
    const hsa_signal_t signal = new_signal(5);
    hsa_signal_add_scacq_screl(signal, 3);
    hsa_signal_subtract_relaxed(signal, 1);
    assert_int_equal(hsa_signal_load_scacquire(signal), 7);
    assert_int_equal(hsa_signal_exchange_scacq_screl(signal, 12), 7);
    assert_int_equal(hsa_signal_cas_scacq_screl(signal, 1, 2), 12);
    hsa_signal_and_relaxed(signal, 10);
    hsa_signal_or_relaxed(signal, 1);
    hsa_signal_xor_relaxed(signal, 3);
    assert_int_equal(hsa_signal_load_relaxed(signal), 10); /* (12 & 10 | 1) ^ 3 */
    assert_int_equal(((amd_signal_t *)(uintptr_t)signal.handle)->value, 10);
    assert_int_equal(
        hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_EQ, 0, 1000000, HSA_WAIT_STATE_BLOCKED), 10);
    OK(hsa_signal_destroy(signal));
    FAILS(hsa_signal_destroy(signal));
    for (uint64_t wild = 0; wild < 3; wild++) {
        const hsa_signal_t none = {wild == 2 ? signal.handle + 8 : wild * UINT64_C(0x123456789abcdef0)};
        volatile hsa_signal_value_t *pointer;
        FAILS(hsa_signal_destroy(none));
        FAILS(hsa_amd_signal_value_pointer(none, &pointer));
        FAILS(hsa_amd_signal_async_handler(none, HSA_SIGNAL_CONDITION_EQ, 0, (hsa_amd_signal_handler)abort,
                                           NULL));
        hsa_signal_store_screlease(none, 1);
        assert_int_equal(hsa_signal_load_relaxed(none), 0);
        hsa_signal_wait_scacquire(none, HSA_SIGNAL_CONDITION_EQ, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED);
    }
}

static unsigned handled;

/* Wants to be called twice. */
static bool handle(hsa_signal_value_t value, void *user)
{
    const hsa_signal_t *signals = user;
    const unsigned number = __atomic_add_fetch(&handled, 1, __ATOMIC_SEQ_CST);
    hsa_signal_store_relaxed(signals[0], 1);
    hsa_signal_subtract_relaxed(signals[1], 1);
    return number < 2 && value == 0;
}

static void test_handlers(void **state)
{
    (void)state;
    hsa_signal_t signals[2] = {new_signal(1), new_signal(2)};
    OK(hsa_amd_signal_async_handler(signals[0], HSA_SIGNAL_CONDITION_EQ, 0, handle, signals));
    hsa_signal_store_relaxed(signals[0], 0);
    hsa_signal_wait_scacquire(signals[1], HSA_SIGNAL_CONDITION_LT, 2, LONG, HSA_WAIT_STATE_BLOCKED);
    hsa_signal_store_relaxed(signals[0], 0);
    assert_int_equal(wait_below_1(signals[1]), 0);
    hsa_signal_store_relaxed(signals[0], 0); /* nobody listens any more */
    assert_int_equal(__atomic_load_n(&handled, __ATOMIC_SEQ_CST), 2);
    OK(hsa_signal_destroy(signals[0]));
    OK(hsa_signal_destroy(signals[1]));
}

/* ---- memory ---- */

static void test_memory(void **state)
{
    (void)state;
    hsa_amd_pointer_info_t info = {.size = sizeof info};
    char *memory = allocate(device, 1001), *host = allocate(fine, 333), text[16] = "";
    OK(hsa_amd_pointer_info(memory + 1000, &info, NULL, NULL, NULL));
    assert_int_equal(info.type, HSA_EXT_POINTER_TYPE_HSA);
    assert_int_equal(info.sizeInBytes, 1001);
    assert_int_equal(info.agentOwner.handle, gpu.handle);
    OK(hsa_amd_pointer_info(memory + 1001, &info, NULL, NULL, NULL));
    assert_int_equal(info.type, HSA_EXT_POINTER_TYPE_UNKNOWN);
    strcpy(host, "on both sides");
    OK(hsa_memory_copy(memory + 900, host, 14));
    OK(hsa_memory_copy(text, memory + 900, 14));
    assert_string_equal(text, "on both sides");
    FAILS(hsa_memory_copy(memory + 900, host, 102));
    FAILS(hsa_memory_copy(host + 330, memory, 4));
    FAILS(hsa_memory_copy(text, (void *)0x12345678000, 4)); /* not mapped */
    FAILS(hsa_memory_copy((void *)(UINTPTR_MAX - 4), text, 16));
    static const char constant[16] = "read-only";
    char *none = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    FAILS(hsa_memory_copy((void *)constant, memory, 16));
    OK(hsa_memory_copy(memory, constant, 16));
    FAILS(hsa_memory_copy(memory, none, 16));
    munmap(none, 4096);
    OK(hsa_amd_memory_fill(memory, 0x01020304, 250));
    FAILS(hsa_amd_memory_fill(memory, 0, 251));
    OK(hsa_memory_copy(text, memory + 996, 4));
    assert_memory_equal(text, "\4\3\2\1", 4);
    FAILS(hsa_amd_memory_pool_free(memory + 1));
    OK(hsa_amd_memory_pool_free(memory));
    FAILS(hsa_amd_memory_pool_free(memory));
    FAILS(hsa_memory_copy(memory, text, 4));
    OK(hsa_amd_memory_pool_free(host));
    FAILS(hsa_amd_memory_pool_allocate((hsa_amd_memory_pool_t){99}, 1, 0, (void **)&memory));
    FAILS(hsa_amd_memory_pool_allocate(device, UINT64_MAX, 0, (void **)&memory));
}

static uint64_t available(void)
{
    enum { MEMORY_AVAIL = 0xa015 }; /* newer than Debian's header */
    uint64_t bytes;
    OK(hsa_agent_get_info(gpu, (hsa_agent_info_t)MEMORY_AVAIL, &bytes));
    return bytes;
}

/* All of a pool can be allocated, and not more; the host's end is that of its memory. */
static void test_capacity(void **state)
{
    (void)state;
    size_t size;
    void *memory, *all, *page;
    const uint64_t before = available();
    OK(hsa_amd_memory_pool_get_info(device, HSA_AMD_MEMORY_POOL_INFO_SIZE, &size));
    assert_true(before <= size && before > size - size / 50);
    page = allocate(device, 1);
    const uint64_t rest = available();
    all = allocate(device, rest);
    assert_int_equal(available(), 0);
    assert_int_equal(hsa_amd_memory_pool_allocate(device, 1, 0, &memory), HSA_STATUS_ERROR_OUT_OF_RESOURCES);
    OK(hsa_amd_memory_pool_free(page));
    page = allocate(device, 1);
    OK(hsa_amd_memory_pool_free(page));
    OK(hsa_amd_memory_pool_free(all));
    assert_int_equal(available(), before);
    assert_int_equal(hsa_amd_memory_pool_allocate(device, size + 1, 0, &memory),
                     HSA_STATUS_ERROR_INVALID_ALLOCATION);
    OK(hsa_amd_memory_pool_get_info(fine, HSA_AMD_MEMORY_POOL_INFO_SIZE, &size));
    assert_int_equal(size, (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE));
    all = allocate(fine, size / 2); /* never touched */
    assert_int_equal(hsa_amd_memory_pool_allocate(fine, size / 2, 0, &memory),
                     HSA_STATUS_ERROR_OUT_OF_RESOURCES);
    OK(hsa_amd_memory_pool_free(allocate(fine, size / 4)));
    OK(hsa_amd_memory_pool_free(all));
    assert_int_equal(available(), before);
}

static hsa_status_t set_attribute(void *memory, size_t size, uint64_t attribute, uint64_t value)
{
    return hsa_amd_svm_attributes_set(memory, size, &(hsa_amd_svm_attribute_pair_t){attribute, value}, 1);
}

/* Which access the GPU has. */
static uint64_t access_of(void *memory, size_t size)
{
    hsa_amd_svm_attribute_pair_t pair = {HSA_AMD_SVM_ATTRIB_ACCESS_QUERY, gpu.handle};
    OK(hsa_amd_svm_attributes_get(memory, size, &pair, 1));
    return pair.attribute;
}

/* Memory of the host that the GPU reaches at its own address, and attributes of pages; what is not valid. */
static void test_shared_virtual_memory(void **state)
{
    enum { SIZE = 16 << 12 };
    hsa_amd_svm_attribute_pair_t pairs[] = {{HSA_AMD_SVM_ATTRIB_MIGRATION_GRANULARITY, 0},
                                            {HSA_AMD_SVM_ATTRIB_GLOBAL_FLAG, 0},
                                            {HSA_AMD_SVM_ATTRIB_READ_ONLY, 7}},
                                 twice[] = {{HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE, gpu.handle},
                                            {HSA_AMD_SVM_ATTRIB_AGENT_NO_ACCESS, gpu.handle}};
    char *memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *own,
         text[8] = "";
    const hsa_signal_t done = new_signal(1), before = new_signal(1), none = {0x1234};
    bool supported;
    (void)state;
    OK(hsa_system_get_info((hsa_system_info_t)HSA_AMD_SYSTEM_INFO_SVM_SUPPORTED, &supported));
    assert_true(supported);
    OK(hsa_amd_svm_attributes_get(memory, SIZE, pairs, 3)); /* as Linux has them at first: kfd_svm.c */
    assert_true(pairs[0].value == 9 && pairs[1].value == HSA_AMD_SVM_GLOBAL_FLAG_FINE_GRAINED &&
                !pairs[2].value);
    assert_int_equal(access_of(memory, SIZE), HSA_AMD_SVM_ATTRIB_AGENT_NO_ACCESS);
    FAILS(hsa_amd_memory_fill(memory, 1, 1)); /* the GPU does not see it */
    OK(set_attribute(memory, SIZE, HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE, gpu.handle));
    OK(hsa_amd_memory_fill(memory, 0x64636261, 2));
    assert_memory_equal(memory, "abcdabcd", 8);
    OK(set_attribute(memory + 4096, 4096, HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE_IN_PLACE, gpu.handle));
    assert_int_equal(access_of(memory + 4096, 4096), HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE_IN_PLACE);
    assert_int_equal(access_of(memory + 8192, 4096), HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE);
    OK(set_attribute(memory + 1, 1, HSA_AMD_SVM_ATTRIB_GLOBAL_FLAG, HSA_AMD_SVM_GLOBAL_FLAG_COARSE_GRAINED));
    OK(hsa_amd_svm_attributes_get(memory, 4096, pairs, 3));
    assert_int_equal(pairs[1].value, HSA_AMD_SVM_GLOBAL_FLAG_COARSE_GRAINED);
    OK(hsa_amd_svm_attributes_get(memory, 4097, pairs, 3));
    assert_int_equal(pairs[1].value, HSA_AMD_SVM_GLOBAL_FLAG_INDETERMINATE);
    OK(hsa_amd_svm_prefetch_async(memory, SIZE, gpu, 1, &before, done));
    assert_int_equal(hsa_signal_load_scacquire(done), 1);
    hsa_signal_store_screlease(before, 0);
    wait_below_1(done);
    OK(set_attribute(memory, SIZE, HSA_AMD_SVM_ATTRIB_AGENT_NO_ACCESS, gpu.handle));
    FAILS(hsa_amd_memory_fill(memory, 1, 1));
    OK(set_attribute(memory, SIZE, HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE, gpu.handle));
    munmap(memory + 4096, SIZE - 4096);
    OK(hsa_amd_memory_fill(memory, 1, 1024));
    FAILS(hsa_memory_copy(text, memory + 4096, 4));
    FAILS(set_attribute(memory, 8192, HSA_AMD_SVM_ATTRIB_READ_MOSTLY, 1));
    munmap(memory, 4096);
    FAILS(hsa_memory_copy(text, memory, 4));
    FAILS(set_attribute(memory, 4096, HSA_AMD_SVM_ATTRIB_READ_MOSTLY, 1));
    FAILS(hsa_amd_svm_prefetch_async(memory, 4096, gpu, 0, NULL, none));

    own = allocate(device, 4096);
    FAILS(set_attribute(own, 4096, HSA_AMD_SVM_ATTRIB_READ_MOSTLY, 1));
    OK(hsa_amd_memory_pool_free(own));
    own = allocate(fine, 4096);
    FAILS(set_attribute(own, 4096, HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE, gpu.handle));
    FAILS(set_attribute(own, 4096, HSA_AMD_SVM_ATTRIB_READ_MOSTLY, 1));
    OK(hsa_amd_memory_pool_free(own));
    memory = text;
    FAILS(set_attribute(NULL, 1, HSA_AMD_SVM_ATTRIB_READ_MOSTLY, 1));
    FAILS(set_attribute(memory, 0, HSA_AMD_SVM_ATTRIB_READ_MOSTLY, 1));
    FAILS(set_attribute(memory, UINT64_MAX, HSA_AMD_SVM_ATTRIB_READ_MOSTLY, 1));
    FAILS(set_attribute(memory, 1, HSA_AMD_SVM_ATTRIB_GLOBAL_FLAG, HSA_AMD_SVM_GLOBAL_FLAG_INDETERMINATE));
    FAILS(set_attribute(memory, 1, HSA_AMD_SVM_ATTRIB_PREFETCH_LOCATION, gpu.handle));
    FAILS(set_attribute(memory, 1, HSA_AMD_SVM_ATTRIB_PREFERRED_LOCATION, 99));
    FAILS(set_attribute(memory, 1, UINT64_MAX, 0));
    FAILS(hsa_amd_svm_attributes_set(memory, 1, twice, 2));
    FAILS(hsa_amd_svm_attributes_set(memory, 1, NULL, 1));
    FAILS(hsa_amd_svm_attributes_get(memory, 1, twice, 2));
    FAILS(hsa_amd_svm_attributes_get(memory, UINT64_MAX, pairs, 3));
    FAILS(hsa_amd_svm_prefetch_async(text, 1, (hsa_agent_t){99}, 0, NULL, done));
    OK(hsa_signal_destroy(done));
    OK(hsa_signal_destroy(before));
}

/* Locks that overlap, of memory that is read-only, and of memory that is not there. */
static void test_locks(void **state)
{
    (void)state;
    static const char constant[64] = "read-only";
    char *memory = malloc(8192), *seen[2], text[64] = "", *gone;
    hsa_amd_pointer_info_t info = {.size = sizeof info};
    memset(memory, 7, 8192);
    OK(hsa_amd_memory_lock(memory + 5, 5000, &gpu, 1, (void **)&seen[0]));
    OK(hsa_amd_memory_lock(memory + 4000, 4000, &gpu, 1, (void **)&seen[1]));
    OK(hsa_memory_copy(seen[0] + 4900, "both", 4));
    OK(hsa_memory_copy(text, seen[1] + 905, 4));
    assert_string_equal(text, "both");
    assert_memory_equal(memory + 4905, "both", 4);
    OK(hsa_amd_pointer_info(memory + 6, &info, NULL, NULL, NULL));
    assert_int_equal(info.type, HSA_EXT_POINTER_TYPE_LOCKED);
    assert_ptr_equal(info.agentBaseAddress, seen[0]);
    assert_ptr_equal(info.hostBaseAddress, memory + 5);
    OK(hsa_amd_memory_unlock(memory + 5));
    FAILS(hsa_amd_memory_unlock(memory + 5));
    OK(hsa_memory_copy(text, seen[1] + 905, 4));
    FAILS(hsa_memory_copy(text, seen[0], 4));
    OK(hsa_amd_memory_unlock(memory + 4000));
    free(memory);
    OK(hsa_amd_memory_lock((void *)constant, sizeof constant, &gpu, 1, (void **)&seen[0]));
    OK(hsa_memory_copy(text, seen[0], 10));
    assert_string_equal(text, constant);
    OK(hsa_amd_memory_unlock((void *)constant));
    gone = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(gone, 8192);
    FAILS(hsa_amd_memory_lock(gone, 8192, &gpu, 1, (void **)&seen[0]));
}

static void test_copies(void **state)
{
    (void)state;
    unsigned char in[64], out[64] = {0};
    unsigned char *memory = allocate(device, 4096);
    const hsa_signal_t first = new_signal(1), gate = new_signal(1), last = new_signal(1),
                       failed = new_signal(1);
    for (unsigned i = 0; i < sizeof in; i++)
        in[i] = (unsigned char)i;
    /* out waits for memory, which waits for the gate */
    OK(hsa_amd_memory_async_copy(memory, gpu, in, cpu, 64, 1, &gate, first));
    OK(hsa_amd_memory_async_copy(out, cpu, memory, gpu, 64, 1, &first, last));
    assert_int_equal(hsa_signal_load_relaxed(last), 1);
    hsa_signal_store_relaxed(gate, 0);
    assert_int_equal(wait_below_1(last), 0);
    assert_memory_equal(in, out, 64);
    hsa_amd_profiling_async_copy_time_t time;
    OK(hsa_amd_profiling_get_async_copy_time(last, &time));
    assert_true(time.start && time.start <= time.end);
    /* 2 by 2 by 2 bytes at (1, 1, 1) of rows of 4 bytes in slices of 4 rows, to rows of 2 */
    memset(out, 0, sizeof out);
    const hsa_pitched_ptr_t from = {memory, 4, 16}, to = {out, 2, 4};
    const hsa_dim3_t one = {1, 1, 1}, zero = {0, 0, 0}, two = {2, 2, 2};
    hsa_signal_store_relaxed(last, 1);
    OK(hsa_amd_memory_async_copy_rect(&to, &zero, &from, &one, &two, gpu, hsaDeviceToHost, 0, NULL, last));
    assert_int_equal(wait_below_1(last), 0);
    assert_memory_equal(out, ((unsigned char[]){21, 22, 25, 26, 37, 38, 41, 42, 0}), 9);
    OK(hsa_amd_memory_async_copy(memory + 4090, gpu, in, cpu, 7, 0, NULL, failed));
    assert_int_equal(wait_below_1(failed), -1);
    FAILS(hsa_amd_memory_async_copy(memory, gpu, in, cpu, 1, 1, NULL, failed));
    FAILS(hsa_amd_memory_async_copy(memory, gpu, in, (hsa_agent_t){17}, 1, 0, NULL, failed));
    OK(hsa_amd_memory_pool_free(memory));
}

/* ---- executables ---- */

static hsa_executable_t executable;
static uint64_t vecadd; /* the kernel's object */

static void test_executables(void **state)
{
    (void)state;
    static char code[1 << 16];
    hsa_code_object_reader_t reader;
    hsa_executable_symbol_t symbol;
    hsa_executable_t other;
    uint32_t kernarg, length;
    hsa_symbol_kind_t kind;
    char name[16] = "";
    FILE *file = fopen(EXAMPLES "/vecadd.co", "rb");
    const size_t size = fread(code, 1, sizeof code, file);
    fclose(file);
    OK(hsa_code_object_reader_create_from_memory(code, size, &reader));
    OK(hsa_executable_create_alt(HSA_PROFILE_BASE, HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR, NULL, &executable));
    OK(hsa_executable_load_agent_code_object(executable, gpu, reader, NULL, NULL));
    OK(hsa_executable_freeze(executable, NULL));
    FAILS(hsa_executable_load_agent_code_object(executable, gpu, reader, NULL, NULL));
    OK(hsa_code_object_reader_destroy(reader));
    FAILS(hsa_code_object_reader_destroy(reader));
    OK(hsa_executable_get_symbol_by_name(executable, "vecadd.kd", &gpu, &symbol));
    OK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_TYPE, &kind));
    OK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &vecadd));
    OK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE,
                                      &kernarg));
    OK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH, &length));
    OK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_NAME, name));
    assert_int_equal(kind, HSA_SYMBOL_KIND_KERNEL);
    assert_int_equal(kernarg, 288);
    assert_int_equal(length, 9);
    assert_string_equal(name, "vecadd.kd");
    FAILS(hsa_executable_get_symbol_by_name(executable, "vecsub.kd", &gpu, &symbol));
    FAILS(hsa_executable_get_symbol_by_name((hsa_executable_t){77}, "vecadd.kd", &gpu, &symbol));
    FAILS(hsa_executable_symbol_get_info((hsa_executable_symbol_t){vecadd}, HSA_EXECUTABLE_SYMBOL_INFO_TYPE,
                                         &kind));
    hsa_ven_amd_loader_1_01_pfn_t loader;
    const void *host;
    hsa_executable_t found;
    OK(hsa_system_get_major_extension_table(HSA_EXTENSION_AMD_LOADER, 1, sizeof loader, &loader));
    OK(loader.hsa_ven_amd_loader_query_host_address((void *)(uintptr_t)vecadd, &host));
    assert_int_equal(*(const uint32_t *)((const char *)host + 8), 288); /* kernarg_size of the descriptor */
    FAILS(loader.hsa_ven_amd_loader_query_host_address((void *)16, &host));
    OK(loader.hsa_ven_amd_loader_query_executable((void *)(uintptr_t)vecadd, &found));
    assert_int_equal(found.handle, executable.handle);
    code[4] = 77; /* no ELF class */
    OK(hsa_code_object_reader_create_from_memory(code, size, &reader));
    OK(hsa_executable_create_alt(HSA_PROFILE_BASE, HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR, NULL, &other));
    FAILS(hsa_executable_load_agent_code_object(other, gpu, reader, NULL, NULL));
    OK(hsa_executable_destroy(other));
    FAILS(hsa_executable_destroy(other));
}

static hsa_status_t note_symbol(hsa_executable_t from, hsa_executable_symbol_t symbol, void *data)
{
    char name[16] = "";
    assert_int_equal(from.handle, *(uint64_t *)data & ~UINT64_C(0) >> 8);
    OK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_NAME, name));
    assert_string_equal(name, "vecadd.kd");
    *(uint64_t *)data += UINT64_C(1) << 56;
    return HSA_STATUS_SUCCESS;
}

/* The interface before that of readers. The handle is the address of a copy, which LLVM 15's OpenMP runtime
 * relies on. */
static void test_code_objects(void **state)
{
    (void)state;
    static char bytes[1 << 16];
    hsa_code_object_t code;
    hsa_executable_t older;
    FILE *file = fopen(EXAMPLES "/vecadd.co", "rb");
    const size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    OK(hsa_code_object_deserialize(bytes, size, NULL, &code));
    assert_memory_equal((const void *)(uintptr_t)code.handle, bytes, size);
    memset(bytes, 0, size);
    OK(hsa_executable_create(HSA_PROFILE_BASE, HSA_EXECUTABLE_STATE_UNFROZEN, NULL, &older));
    OK(hsa_executable_load_code_object(older, gpu, code, NULL));
    OK(hsa_executable_freeze(older, NULL));
    FAILS(hsa_executable_load_code_object(older, gpu, code, NULL));
    OK(hsa_code_object_destroy(code));
    FAILS(hsa_code_object_destroy(code));
    FAILS(hsa_code_object_destroy((hsa_code_object_t){0}));
    FAILS(hsa_code_object_deserialize(NULL, 5, NULL, &code));
    uint64_t seen = older.handle; /* and the number of symbols in the highest byte */
    OK(hsa_executable_iterate_symbols(older, note_symbol, &seen));
    assert_int_equal(seen >> 56, 1);
    FAILS(hsa_executable_iterate_symbols(older, NULL, NULL));
    OK(hsa_executable_destroy(older));
    FAILS(hsa_executable_iterate_symbols(older, note_symbol, &seen));
}

/* ---- queues ---- */

static hsa_queue_t *new_queue(void (*callback)(hsa_status_t status, hsa_queue_t *source, void *user),
                              void *user)
{
    hsa_queue_t *queue;
    OK(hsa_queue_create(gpu, 64, HSA_QUEUE_TYPE_MULTI, callback, user, 0, 0, &queue));
    return queue;
}

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

static hsa_kernel_dispatch_packet_t add(struct arguments *arguments, float *c, uint32_t n,
                                        hsa_signal_t completion)
{
    memset(arguments, 0, sizeof *arguments);
    arguments->a = arguments->b = c + n;
    arguments->c = c;
    arguments->n = n;
    arguments->blocks[0] = n / 64;
    arguments->blocks[1] = arguments->blocks[2] = 1;
    arguments->sizes[0] = 64;
    arguments->sizes[1] = arguments->sizes[2] = 1;
    arguments->rest[0] = n % 64;
    arguments->dimensions = 1;
    return (hsa_kernel_dispatch_packet_t){.header = HSA_PACKET_TYPE_KERNEL_DISPATCH,
                                          .setup = 1,
                                          .workgroup_size_x = 64,
                                          .workgroup_size_y = 1,
                                          .workgroup_size_z = 1,
                                          .grid_size_x = n,
                                          .grid_size_y = 1,
                                          .grid_size_z = 1,
                                          .kernel_object = vecadd,
                                          .kernarg_address = arguments,
                                          .completion_signal = completion};
}

static void test_dispatch(void **state)
{
    (void)state;
    enum { N = 100 };
    hsa_queue_t *queue = new_queue(NULL, NULL);
    struct arguments *arguments = allocate(fine, sizeof *arguments);
    float *values = allocate(fine, 2 * N * sizeof *values);
    const hsa_signal_t done = new_signal(1);
    for (int i = 0; i < N; i++)
        values[N + i] = (float)i;
    const hsa_kernel_dispatch_packet_t packet = add(arguments, values, N, done);
    submit(queue, &packet);
    assert_int_equal(wait_below_1(done), 0);
    for (int i = 0; i < N; i++)
        assert_true(values[i] == 2 * i);
    hsa_amd_profiling_dispatch_time_t time;
    OK(hsa_amd_profiling_get_dispatch_time(gpu, done, &time));
    assert_true(time.start && time.start < time.end);
    assert_int_equal(hsa_queue_load_read_index_relaxed(queue), 1);
    OK(hsa_queue_destroy(queue));
    FAILS(hsa_queue_destroy(queue));
    OK(hsa_amd_memory_pool_free(values));
    OK(hsa_amd_memory_pool_free(arguments));
}

/* Each barrier waits for a signal that is set later; a queue processes what follows only then. */
static void test_barriers(void **state)
{
    (void)state;
    hsa_queue_t *queue = new_queue(NULL, NULL);
    const hsa_signal_t one = new_signal(1), other = new_signal(1), done = new_signal(3);
    hsa_barrier_and_packet_t barrier = {.header = HSA_PACKET_TYPE_BARRIER_AND,
                                        .dep_signal = {one, {0}, {0}, {0}, other},
                                        .completion_signal = done};
    submit(queue, &barrier);
    hsa_signal_store_relaxed(one, 0);
    assert_int_equal(
        hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 3, 20000000, HSA_WAIT_STATE_BLOCKED), 3);
    hsa_signal_store_relaxed(other, 0);
    hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 3, LONG, HSA_WAIT_STATE_BLOCKED);
    hsa_signal_store_relaxed(one, 1);
    barrier.header = HSA_PACKET_TYPE_BARRIER_OR; /* the other one is 0 */
    submit(queue, &barrier);
    hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 2, LONG, HSA_WAIT_STATE_BLOCKED);
    const hsa_amd_barrier_value_packet_t value = {
        .header = {HSA_PACKET_TYPE_VENDOR_SPECIFIC, HSA_AMD_PACKET_TYPE_BARRIER_VALUE, 0},
        .signal = one,
        .value = 0x30,
        .mask = 0xf0,
        .cond = HSA_SIGNAL_CONDITION_GTE,
        .completion_signal = done};
    submit(queue, &value);
    hsa_signal_store_relaxed(one, 0x12f);
    assert_int_equal(
        hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, 20000000, HSA_WAIT_STATE_BLOCKED), 1);
    hsa_signal_store_relaxed(one, 0x131);
    assert_int_equal(wait_below_1(done), 0);
    /* destroyed while it waits */
    hsa_signal_store_relaxed(one, 1);
    barrier.header = HSA_PACKET_TYPE_BARRIER_AND;
    submit(queue, &barrier);
    OK(hsa_queue_destroy(queue));
}

enum { PRODUCERS = 4, PACKETS = 500 };

static void *produce(void *argument)
{
    hsa_signal_t *both = argument;
    const hsa_barrier_and_packet_t barrier = {.header = HSA_PACKET_TYPE_BARRIER_AND,
                                              .completion_signal = both[1]};
    for (int i = 0; i < PACKETS; i++)
        submit((hsa_queue_t *)(uintptr_t)both[0].handle, &barrier);
    return NULL;
}

/* More packets than the ring has, from several threads. */
static void test_producers(void **state)
{
    (void)state;
    pthread_t threads[PRODUCERS];
    hsa_queue_t *queue = new_queue(NULL, NULL);
    hsa_signal_t both[2] = {{(uintptr_t)queue}, new_signal(PRODUCERS * PACKETS)};
    for (int i = 0; i < PRODUCERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, produce, both), 0);
    for (int i = 0; i < PRODUCERS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(wait_below_1(both[1]), 0);
    OK(hsa_queue_destroy(queue));
}

struct error {
    hsa_status_t status;
    hsa_queue_t *source;
};

static void note_error(hsa_status_t status, hsa_queue_t *source, void *user)
{
    *(struct error *)user = (struct error){status, source};
    FAILS(hsa_queue_destroy(source)); /* it would wait for itself */
}

/* What is wrong with the packet is told by the callback and by the completion signal, as for all packets
 * after it. */
static void expect_error(const void *packet, hsa_signal_t done)
{
    struct error error = {0};
    hsa_queue_t *queue = new_queue(note_error, &error);
    const hsa_barrier_and_packet_t barrier = {.header = HSA_PACKET_TYPE_BARRIER_AND,
                                              .completion_signal = done};
    const uint8_t type = *(const uint8_t *)packet;
    hsa_signal_store_relaxed(done, 1);
    submit(queue, packet);
    if (type <= HSA_PACKET_TYPE_BARRIER_OR) {
        assert_int_equal(wait_below_1(done), -1);
        hsa_signal_store_relaxed(done, 1);
    }
    submit(queue, &barrier);
    assert_int_equal(wait_below_1(done), -1);
    assert_int_not_equal(error.status, HSA_STATUS_SUCCESS);
    assert_ptr_equal(error.source, queue);
    OK(hsa_queue_destroy(queue));
}

static hsa_status_t note_event(const hsa_amd_event_t *event, void *user)
{
    assert_int_equal(event->event_type, HSA_AMD_GPU_MEMORY_FAULT_EVENT);
    assert_int_equal(event->memory_fault.agent.handle, gpu.handle);
    assert_int_equal(event->memory_fault.fault_reason_mask, HSA_AMD_MEMORY_FAULT_PAGE_NOT_PRESENT);
    *(uint64_t *)user = event->memory_fault.virtual_address;
    return HSA_STATUS_SUCCESS;
}

static void test_errors(void **state)
{
    (void)state;
    static uint64_t fault; /* handlers stay registered */
    FAILS(hsa_amd_register_system_event_handler(NULL, NULL));
    OK(hsa_amd_register_system_event_handler(note_event, &fault));
    struct arguments *arguments = allocate(fine, sizeof *arguments);
    float *values = allocate(fine, 128 * sizeof *values);
    const hsa_signal_t done = new_signal(1);
    const hsa_kernel_dispatch_packet_t good = add(arguments, values, 64, done);
    hsa_kernel_dispatch_packet_t bad[] = {good, good, good, good, good, good, good};
    bad[0].setup = 0;
    bad[1].workgroup_size_x = 0;
    bad[2].grid_size_x = 0;
    bad[3].kernel_object = 0x1234567;
    bad[4].kernarg_address = (void *)0x77;
    bad[5].group_segment_size = 1 << 20;
    bad[6].workgroup_size_x = 2048;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        expect_error(&bad[i], done);
    for (uint16_t type = 6; type < 200; type += 64) {
        hsa_kernel_dispatch_packet_t odd = good;
        odd.header = type;
        expect_error(&odd, done);
    }
    arguments->c = values + 127; /* its last 63 elements are outside */
    expect_error(&good, done);
    assert_int_equal(fault, (uintptr_t)(values + 128));
    const hsa_barrier_and_packet_t wild = {
        .header = HSA_PACKET_TYPE_BARRIER_AND, .dep_signal = {{0x4242}}, .completion_signal = done};
    expect_error(&wild, done);
    hsa_queue_t *queue;
    FAILS(hsa_queue_create(gpu, 63, HSA_QUEUE_TYPE_MULTI, NULL, NULL, 0, 0, &queue));
    FAILS(hsa_queue_create(gpu, 1 << 18, HSA_QUEUE_TYPE_MULTI, NULL, NULL, 0, 0, &queue));
    FAILS(hsa_queue_create(cpu, 64, HSA_QUEUE_TYPE_MULTI, NULL, NULL, 0, 0, &queue));
    FAILS(hsa_queue_destroy((hsa_queue_t *)values));
    assert_int_equal(hsa_queue_load_read_index_relaxed((hsa_queue_t *)values), 0);
}

/* A kernel that never ends is stopped when its queue is destroyed. Its descriptor lies in memory of the host:
 * the code begins 64 bytes after it; rsrc1 and rsrc2 0 are 4 VGPRs, 8 SGPRs and no user SGPRs. */
static void test_endless(void **state)
{
    (void)state;
    hsa_queue_t *queue = new_queue(NULL, NULL);
    struct arguments arguments;
    float values[128];
    uint32_t *kernel = allocate(fine, 128);
    memset(kernel, 0, 128);
    kernel[4] = 64;
    kernel[16] = 0xbf82ffff; /* s_branch -1 */
    const hsa_signal_t done = new_signal(1);
    hsa_kernel_dispatch_packet_t packet = add(&arguments, values, 64, done);
    packet.kernel_object = (uintptr_t)kernel;
    packet.kernarg_address = kernel;
    submit(queue, &packet);
    assert_int_equal(
        hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, 50000000, HSA_WAIT_STATE_BLOCKED), 1);
    assert_int_equal(hsa_queue_load_read_index_relaxed(queue), 1); /* it runs */
    OK(hsa_queue_destroy(queue));
    OK(hsa_amd_memory_pool_free(kernel));
}

/* A signal that a barrier waits for, or that a launch completes, is destroyed meanwhile. */
static void test_destroyed_signals(void **state)
{
    (void)state;
    struct error error = {0};
    hsa_queue_t *queue = new_queue(note_error, &error);
    const hsa_signal_t gone = new_signal(1), done = new_signal(1), copied = new_signal(1);
    char byte = 1;
    const hsa_barrier_and_packet_t barrier = {
        .header = HSA_PACKET_TYPE_BARRIER_AND, .dep_signal = {gone}, .completion_signal = done};
    submit(queue, &barrier);
    OK(hsa_amd_memory_async_copy(&byte, cpu, &byte, cpu, 1, 1, &gone, copied));
    OK(hsa_signal_destroy(gone));
    assert_int_equal(wait_below_1(done), -1);
    assert_int_equal(wait_below_1(copied), -1);
    assert_int_not_equal(error.status, HSA_STATUS_SUCCESS);
    OK(hsa_queue_destroy(queue));
    queue = new_queue(NULL, NULL);
    const hsa_barrier_and_packet_t early = {.header = HSA_PACKET_TYPE_BARRIER_AND, .completion_signal = gone};
    submit(queue, &early);
    hsa_signal_store_relaxed(done, 1);
    const hsa_barrier_and_packet_t last = {.header = HSA_PACKET_TYPE_BARRIER_AND, .completion_signal = done};
    submit(queue, &last);
    assert_int_equal(wait_below_1(done), 0);
    OK(hsa_queue_destroy(queue));
    hsa_signal_destroy(done);
    hsa_signal_destroy(copied);
}

/* Doorbells beyond the write index, and one for a destroyed queue. */
static void test_wild_doorbells(void **state)
{
    (void)state;
    hsa_queue_t *queue = new_queue(NULL, NULL);
    const hsa_signal_t done = new_signal(1), bell = queue->doorbell_signal;
    const int64_t wild[] = {-1, 0, 1 << 20, INT64_MAX, INT64_MIN};
    const hsa_barrier_and_packet_t barrier = {.header = HSA_PACKET_TYPE_BARRIER_AND,
                                              .completion_signal = done};
    for (size_t i = 0; i < sizeof wild / sizeof *wild; i++) {
        hsa_signal_store_relaxed(bell, wild[i]);
        hsa_signal_add_relaxed(bell, wild[i]);
    }
    assert_int_equal(hsa_queue_load_read_index_relaxed(queue), 0);
    submit(queue, &barrier);
    assert_int_equal(wait_below_1(done), 0);
    OK(hsa_queue_destroy(queue));
    hsa_signal_store_relaxed(bell, 1);
    hsa_signal_destroy(done);
}

/* Random packets of every type end in an error or are processed; what follows completes either way. */
static void test_random_packets(void **state)
{
    (void)state;
    enum { ROUNDS = 300 };
    const hsa_signal_t done = new_signal(1);
    uint64_t random = 1;
    for (int round = 0; round < ROUNDS; round++) {
        uint16_t packet[32];
        for (int i = 0; i < 32; i++) {
            random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
            packet[i] = random >> 60 ? (uint16_t)(random >> 40) : 0; /* 0 once in 16 */
        }
        packet[0] = (uint16_t)(round % 8 == HSA_PACKET_TYPE_INVALID ? 77 : round % 8);
        memset(&packet[28], 0, 8); /* a completion signal would be rejected at once */
        struct error error = {0};
        hsa_queue_t *queue = new_queue(note_error, &error);
        const hsa_barrier_and_packet_t last = {.header = HSA_PACKET_TYPE_BARRIER_AND,
                                               .completion_signal = done};
        hsa_signal_store_relaxed(done, 1);
        submit(queue, packet);
        submit(queue, &last);
        const int64_t value = wait_below_1(done);
        assert_int_equal(value, error.status ? -1 : 0);
        OK(hsa_queue_destroy(queue));
    }
    hsa_signal_destroy(done);
}

static int exit_code_of(void (*function)(hsa_queue_t *queue), hsa_queue_t *queue)
{
    int status;
    const pid_t child = fork();
    if (!child) {
        function(queue);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void use_everything(hsa_queue_t *queue)
{
    void *memory = &memory;
    hsa_signal_t signal = {0};
    hsa_code_object_reader_t reader;
    hsa_executable_t made;
    const hsa_status_t statuses[] = {
        hsa_init(),
        hsa_iterate_agents(note_agent, NULL),
        hsa_signal_create(1, 0, NULL, &signal),
        hsa_signal_destroy(queue->doorbell_signal),
        hsa_amd_signal_async_handler(queue->doorbell_signal, HSA_SIGNAL_CONDITION_NE, 7, handle, NULL),
        hsa_amd_memory_pool_allocate(fine, 1, 0, &memory),
        hsa_amd_memory_pool_free(memory),
        hsa_code_object_reader_create_from_memory("", 1, &reader),
        hsa_executable_create_alt(HSA_PROFILE_BASE, HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR, NULL, &made),
        hsa_executable_destroy(executable),
        hsa_queue_destroy(queue),
        hsa_shut_down(),
    };
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
        if (!statuses[i])
            _exit(1 + (int)i);
}

static void ring(hsa_queue_t *queue)
{
    hsa_signal_store_relaxed(queue->doorbell_signal, 0);
}

static void copy(hsa_queue_t *queue)
{
    hsa_amd_memory_async_copy(&handled, cpu, queue, cpu, 1, 0, NULL, (hsa_signal_t){0});
}

static void wait_for_ever(hsa_queue_t *queue)
{
    hsa_signal_wait_scacquire(queue->doorbell_signal, HSA_SIGNAL_CONDITION_EQ, 123456, UINT64_MAX,
                              HSA_WAIT_STATE_BLOCKED);
}

/* In a child that was forked after hsa_init(), all functions fail, and waiting ends it; the parent goes on.
 */
static void test_fork(void **state)
{
    (void)state;
    hsa_queue_t *queue = new_queue(NULL, NULL);
    const hsa_signal_t done = new_signal(1);
    const hsa_barrier_and_packet_t barrier = {.header = HSA_PACKET_TYPE_BARRIER_AND,
                                              .completion_signal = done};
    assert_int_equal(exit_code_of(use_everything, queue), 0);
    assert_int_equal(exit_code_of(ring, queue), 128 + SIGABRT);
    assert_int_equal(exit_code_of(copy, queue), 128 + SIGABRT);
    assert_int_equal(exit_code_of(wait_for_ever, queue), 128 + SIGABRT);
    submit(queue, &barrier);
    assert_int_equal(wait_below_1(done), 0);
    OK(hsa_queue_destroy(queue));
}

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define __SANITIZE_THREAD__ 1 /* as gcc */
#endif
#endif

/* A kernel that goes round in a loop for ever, while everything else waits for it. Not with ThreadSanitizer,
 * which has a thread of its own that sleeps: it might be what the kernel waits for. */
static void test_deadlock(void **state)
{
    (void)state;
#ifdef __SANITIZE_THREAD__
    skip();
#endif
    struct error error = {0};
    struct arguments arguments;
    float values[128];
    hsa_queue_t *queue = new_queue(note_error, &error), *idle = new_queue(NULL, NULL);
    uint32_t *kernel = allocate(fine, 128);
    const hsa_signal_t done = new_signal(1);
    memset(kernel, 0, 128);
    kernel[4] = 64;
    kernel[16] = 0xbf82ffff; /* s_branch -1 */
    hsa_kernel_dispatch_packet_t packet = add(&arguments, values, 64, done);
    packet.kernel_object = (uintptr_t)kernel;
    packet.kernarg_address = kernel;
    submit(queue, &packet);
    assert_int_equal(
        hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED), -1);
    assert_int_equal(error.status, HSA_STATUS_ERROR);
    OK(hsa_queue_destroy(queue));
    OK(hsa_queue_destroy(idle));
    OK(hsa_amd_memory_pool_free(kernel));
}

static void test_not_implemented(void **state)
{
    (void)state;
    hsa_ext_image_t image;
    FAILS(hsa_amd_image_create(gpu, NULL, NULL, NULL, HSA_ACCESS_PERMISSION_RW, &image));
    FAILS(hsa_amd_svm_attributes_get(NULL, 1, NULL, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_agents),
        cmocka_unit_test(test_signals),
        cmocka_unit_test(test_handlers),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_capacity),
        cmocka_unit_test(test_shared_virtual_memory),
        cmocka_unit_test(test_locks),
        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_executables),
        cmocka_unit_test(test_code_objects),
        cmocka_unit_test(test_dispatch),
        cmocka_unit_test(test_barriers),
        cmocka_unit_test(test_producers),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_endless),
        cmocka_unit_test(test_destroyed_signals),
        cmocka_unit_test(test_wild_doorbells),
        cmocka_unit_test(test_random_packets),
        cmocka_unit_test(test_fork),
        cmocka_unit_test(test_deadlock),
        cmocka_unit_test(test_not_implemented),
    };
    return cmocka_run_group_tests_name("hsa", tests, set_up, NULL);
}
