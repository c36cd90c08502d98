/* SPDX-License-Identifier: MIT */
/* The replacement for libhsa-runtime64.so.1 as HIP 5.6 to 7.15 use it, call by call: what they ask of agents,
 * system and pools at their start, copies by engine, locks, samplers, objects of generic targets, and their
 * own kernels. Debian has HIP 5.2 only, and its headers lack what came later.
 *
 * Sources: clr 6.0 to 7.15, rocclr/device/rocm (rocdevice.cpp, rocsettings.cpp, rocblit.cpp, rocvirtual.hpp);
 * ROCr's hsa_ext_amd.h. */
#include "one_gpu.h"
#include "submit.h"

#include <dlfcn.h>
#include <hsa/hsa_ext_image.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined __SANITIZE_THREAD__
#define THREAD_SANITIZER 1
#elif defined __has_feature
#define THREAD_SANITIZER __has_feature(thread_sanitizer)
#else
#define THREAD_SANITIZER 0
#endif

struct descriptor_v2 {
    hsa_ext_image_descriptor_t plain;
    size_t levels;
};
hsa_status_t hsa_amd_memory_copy_engine_status(hsa_agent_t, hsa_agent_t, uint32_t *);
hsa_status_t hsa_amd_memory_get_preferred_copy_engine(hsa_agent_t, hsa_agent_t, uint32_t *);
hsa_status_t hsa_amd_memory_async_copy_on_engine(void *, hsa_agent_t, const void *, hsa_agent_t, size_t,
                                                 uint32_t, const hsa_signal_t *, hsa_signal_t, uint32_t,
                                                 bool);
hsa_status_t hsa_ext_sampler_create_v2(hsa_agent_t, const uint32_t *, hsa_ext_sampler_t *);
hsa_status_t hsa_ext_image_create_v2(hsa_agent_t, const struct descriptor_v2 *, const void *,
                                     hsa_access_permission_t, hsa_ext_image_t *);
hsa_status_t hsa_ext_image_data_get_info_v2(hsa_agent_t, const struct descriptor_v2 *,
                                            hsa_access_permission_t, hsa_ext_image_data_info_t *);
hsa_status_t hsa_ext_image_destroy_v2(hsa_agent_t, hsa_ext_image_t);
hsa_status_t hsa_amd_queue_get_info(hsa_queue_t *, uint32_t, void *);
hsa_status_t hsa_amd_enable_logging(uint8_t *, void *);
hsa_status_t hsa_amd_agent_set_async_scratch_limit(hsa_agent_t, size_t);

int64_t wait_as_hip(hsa_signal_t); /* in later_wait.c */

static int set_up(void **state)
{
    (void)state;
    return begin("mi455x,rx7900xtx");
}

/* ---- before copy engines are asked for, as HIP 5.2 does ---- */

static void test_locks_of_old(void **state)
{
    (void)state;
    char *memory = malloc(4096), *seen;
    OK(hsa_amd_memory_lock(memory, 4096, &gpu, 1, (void **)&seen));
    assert_ptr_not_equal(seen, memory);
    OK(hsa_amd_memory_unlock(memory));
    free(memory);
}

/* ---- questions ---- */

/* An attribute writes as many bytes as it has, and no more. value: of the first four bytes, or ANY. */
static void ask(uint32_t attribute, size_t size, uint64_t value)
{
    unsigned char bytes[32];
    uint64_t found = 0;
    memset(bytes, 0xa5, sizeof bytes);
    OK(hsa_agent_get_info(gpu, (hsa_agent_info_t)attribute, bytes));
    for (size_t i = size; i < sizeof bytes; i++)
        assert_int_equal(bytes[i], 0xa5);
    memcpy(&found, bytes, size < sizeof found ? size : sizeof found);
    if (value != UINT64_MAX)
        assert_int_equal(found, value);
}

static void test_agent(void **state)
{
    (void)state;
    enum { LONGEST = 64 };
    uint64_t before, after;
    ask(0xa10a, 4, 2);     /* SDMA engines: without them HIP sees no device */
    ask(0x3001, 4, 16384); /* elements of an array of 1D images: size_t in the header, 4 in ROCr */
    ask(0x3004, 8, 16384 | UINT64_C(16384) << 32);
    ask(0xa116, 8, UINT64_MAX); /* most scratch; HIP 7: no device */
    ask(0xa016, 8, 100000000);
    ask(0xa114, 8, 0); /* no APU */
    ask(0xa111, 4, 1); /* XCDs */
    ask(0xa119, 1, 0);
    ask(0xa11b, 1, 0);
    ask(0xa11a, 8, 0); /* LUID: Windows only */
    ask(0xa120, 24, 1);
    ask(0xa121, 8, 1); /* workgroups of a cluster */
    ask(0xa122, 24, INT32_MAX);
    ask(0xa123, 4, 0);
    ask(0xa124, 1, 0);
    ask(0xa113, sizeof cpu, cpu.handle);
    unsigned char rest[LONGEST];
    assert_int_equal(hsa_agent_get_info(gpu, (hsa_agent_info_t)0xa1ff, rest),
                     HSA_STATUS_ERROR_INVALID_ARGUMENT);

    OK(hsa_agent_get_info(gpu, (hsa_agent_info_t)0xa015, &before));
    void *memory = allocate(device, 64 << 20);
    OK(hsa_agent_get_info(gpu, (hsa_agent_info_t)0xa015, &after));
    assert_int_equal(before - after, 64 << 20);
    OK(hsa_amd_memory_pool_free(memory));
    OK(hsa_agent_get_info(gpu, (hsa_agent_info_t)0xa015, &after));
    assert_int_equal(before, after);
}

static hsa_status_t check_clusters(hsa_agent_t agent, void *data)
{
    char name[64];
    uint64_t most = 0, sides[3] = {0};
    OK(hsa_agent_get_info(agent, HSA_AGENT_INFO_NAME, name));
    if (strcmp(name, "gfx1250"))
        return HSA_STATUS_SUCCESS;
    OK(hsa_agent_get_info(agent, (hsa_agent_info_t)0xa121, &most));
    OK(hsa_agent_get_info(agent, (hsa_agent_info_t)0xa120, sides));
    assert_in_range(most, 2, 16);
    assert_int_equal(sides[2], most);
    *(bool *)data = true;
    return HSA_STATUS_SUCCESS;
}

/* HIP 7.15 launches clusters only where an agent has them. */
static void test_clusters(void **state)
{
    (void)state;
    bool seen = false;
    OK(hsa_iterate_agents(check_clusters, &seen));
    assert_true(seen);
}

/* Each attribute that is not known is named once: a runtime may see no device because of it. */
static void test_unknown(void **state)
{
    (void)state;
    enum { UNKNOWN = 0xa1fe };
    static const char *const askers[] = {"hsa_agent_get_info: ", "hsa_agent_get_info of the CPU: ",
                                         "hsa_amd_memory_pool_get_info: ", "hsa_system_get_info: "};
    char value[64], line[256];
    FILE *said = tmpfile();
    const int shown = dup(STDERR_FILENO);
    assert_true(said && shown >= 0 && dup2(fileno(said), STDERR_FILENO) >= 0);
    for (int i = 0; i < 2; i++) {
        FAILS(hsa_agent_get_info(gpu, (hsa_agent_info_t)UNKNOWN, value));
        FAILS(hsa_agent_get_info(cpu, (hsa_agent_info_t)UNKNOWN, value));
        FAILS(hsa_amd_memory_pool_get_info(device, (hsa_amd_memory_pool_info_t)UNKNOWN, value));
        FAILS(hsa_system_get_info((hsa_system_info_t)UNKNOWN, value));
    }
    dup2(shown, STDERR_FILENO);
    close(shown);
    rewind(said);
    for (size_t i = 0; i < sizeof askers / sizeof *askers; i++) {
        assert_non_null(fgets(line, sizeof line, said));
        assert_non_null(strstr(line, askers[i]));
        assert_non_null(strstr(line, "0xa1fe"));
    }
    assert_null(fgets(line, sizeof line, said));
    fclose(said);
}

static void test_system(void **state)
{
    (void)state;
    bool flag = true;
    uint16_t major = 0, minor = 0;
    uint32_t location = 7;
    size_t granule = 0;
    OK(hsa_system_get_info((hsa_system_info_t)0x203, &flag)); /* MWAITX */
    assert_false(flag);
    OK(hsa_system_get_info((hsa_system_info_t)0x204, &flag)); /* DMABUF */
    assert_true(flag);
    OK(hsa_system_get_info((hsa_system_info_t)0x207, &major));
    OK(hsa_system_get_info((hsa_system_info_t)0x208, &minor));
    assert_int_equal(major, 1);
    assert_true(minor >= 14);
    OK(hsa_amd_memory_pool_get_info(device, (hsa_amd_memory_pool_info_t)17, &location));
    assert_int_equal(location, 1);
    OK(hsa_amd_memory_pool_get_info(fine, (hsa_amd_memory_pool_info_t)17, &location));
    assert_int_equal(location, 0);
    OK(hsa_amd_memory_pool_get_info(device, (hsa_amd_memory_pool_info_t)18, &granule));
    assert_int_equal(granule, 2 << 20);
    uint8_t flags[8] = {0};
    OK(hsa_amd_enable_logging(flags, NULL));
    OK(hsa_amd_agent_set_async_scratch_limit(gpu, 1 << 20));
    FAILS(hsa_amd_agent_set_async_scratch_limit(cpu, 1 << 20));
}

/* ROCr's hsacore.so.def of 7.15, as far as it came after 5.2, and names published since. */
static void test_names(void **state)
{
    (void)state;
    static const char *const names[] = {
        "hsa_amd_agent_set_async_scratch_limit",
        "hsa_amd_enable_logging",
        "hsa_amd_image_create_v2",
        "hsa_amd_interop_map_buffer_with_size",
        "hsa_amd_memory_async_batch_copy",
        "hsa_amd_memory_async_copy_on_engine",
        "hsa_amd_memory_copy_engine_status",
        "hsa_amd_memory_get_preferred_copy_engine",
        "hsa_amd_portable_close_dmabuf",
        "hsa_amd_portable_export_dmabuf",
        "hsa_amd_portable_export_dmabuf_v2",
        "hsa_amd_queue_get_info",
        "hsa_amd_signal_wait_all",
        "hsa_amd_svm_discard_batch_async",
        "hsa_amd_vmem_address_reserve_align",
        "hsa_amd_vmem_export_fabric_handle",
        "hsa_amd_vmem_import_fabric_handle",
        "hsa_ext_image_create_v2",
        "hsa_ext_image_data_get_info_v2",
        "hsa_ext_image_destroy_v2",
        "hsa_ext_image_mipmap_array_get_level",
        "hsa_ext_sampler_create_v2",
        "hsa_amd_queue_create",
        "hsa_amd_signal_batch_create",
        "hsa_amd_signal_batch_destroy",
        "hsa_amd_vmem_get_vmem_info",
        "hsa_ven_amd_pcs_create",
        "hsa_ven_amd_pcs_iterate_configuration",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!dlvsym(RTLD_DEFAULT, names[i], "ROCR_1"))
            fail_msg("%s is not exported with version ROCR_1", names[i]);
}

/* ---- copies ---- */

static void test_engines(void **state)
{
    (void)state;
    uint32_t mask = 0;
    char *memory = allocate(device, 4096), text[16] = "";
    const hsa_signal_t first = new_signal(1), second = new_signal(1);
    OK(hsa_amd_memory_copy_engine_status(cpu, gpu, &mask));
    assert_int_not_equal(mask, 0);
    OK(hsa_amd_memory_copy_engine_status(gpu, cpu, &mask));
    assert_int_not_equal(mask, 0);
    OK(hsa_amd_memory_get_preferred_copy_engine(gpu, gpu, &mask));
    assert_int_equal(mask, 0);
    FAILS(hsa_amd_memory_copy_engine_status((hsa_agent_t){77}, gpu, &mask));
    /* The second copy waits for the first, which waits for a signal. */
    const hsa_signal_t go = new_signal(1);
    OK(hsa_amd_memory_async_copy_on_engine(text, cpu, memory, gpu, 7, 1, &first, second, 2, false));
    OK(hsa_amd_memory_async_copy_on_engine(memory, gpu, "engine", cpu, 7, 1, &go, first, 1, false));
    assert_int_equal(hsa_signal_load_scacquire(second), 1);
    hsa_signal_store_screlease(go, 0);
    assert_int_equal(wait_below_1(second), 0);
    assert_string_equal(text, "engine");
    OK(hsa_amd_memory_async_copy_on_engine(text, cpu, memory, gpu, 0, 0, NULL, new_signal(1), 1, false));
    FAILS(hsa_amd_memory_async_copy_on_engine(text, cpu, memory, gpu, 7, 0, NULL, second, 0, false));
    OK(hsa_amd_memory_pool_free(memory));
}

/* ---- locks: at the host's own address, which 7.x stores for managed variables ---- */

static void test_locks(void **state)
{
    (void)state;
    enum { SIZE = 1 << 20 };
    char text[8] = "", *seen[3];
    char *memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    OK(hsa_amd_memory_lock_to_pool(memory, SIZE, &gpu, 1, fine, 1, (void **)&seen[0]));
    assert_ptr_equal(seen[0], memory);
    OK(hsa_amd_memory_lock(memory + 4096, 4096, &gpu, 1, (void **)&seen[1])); /* within the other */
    assert_ptr_not_equal(seen[1], memory + 4096);
    strcpy(memory + 4096, "locked");
    OK(hsa_memory_copy(text, seen[1], 7));
    assert_string_equal(text, "locked");
    OK(hsa_amd_memory_unlock(memory + 4096));

    /* The program gives memory back without ending the lock: what the runtime then gets there works. */
    char *more[64];
    munmap(memory, SIZE);
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        more[i] = allocate(fine, SIZE / 8);
        memset(more[i], 1, SIZE / 8);
    }
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        OK(hsa_amd_memory_pool_free(more[i]));
    OK(hsa_amd_memory_unlock(memory));
    FAILS(hsa_amd_memory_unlock(memory));
}

/* ---- images and samplers ---- */

/* Words of a sampler on gfx11: bits 0 to 8 of the first are how x, y and z are clamped, by RDNA3 ISA, table
 * "Sampler Resource Definition": 0 wrap, 1 mirror, 2 the last texel, 6 the border. */
static unsigned clamps_of(hsa_ext_sampler_t sampler)
{
    return *(const uint32_t *)(uintptr_t)sampler.handle & 0x1ff;
}

enum { WRAP = 0, LAST = 2, BORDER = 6 };

static void expect_clamps(const uint32_t *descriptor, unsigned x, unsigned y, unsigned z)
{
    hsa_ext_sampler_t sampler;
    OK(hsa_ext_sampler_create_v2(gpu, descriptor, &sampler));
    assert_int_equal(clamps_of(sampler), x | y << 3 | z << 6);
    OK(hsa_ext_sampler_destroy(gpu, sampler));
}

static void test_samplers(void **state)
{
    (void)state;
    enum {
        NORMALIZED = HSA_EXT_SAMPLER_COORDINATE_MODE_NORMALIZED,
        NEAREST = HSA_EXT_SAMPLER_FILTER_MODE_NEAREST,
        EDGE = HSA_EXT_SAMPLER_ADDRESSING_MODE_CLAMP_TO_EDGE,
        TO_BORDER = HSA_EXT_SAMPLER_ADDRESSING_MODE_CLAMP_TO_BORDER,
        REPEAT = HSA_EXT_SAMPLER_ADDRESSING_MODE_REPEAT,
        NO_LEVELS = 2,
    };
    struct descriptor_v2 image = {
        {.geometry = HSA_EXT_IMAGE_GEOMETRY_2D,
         .width = 64,
         .height = 4,
         .format = {HSA_EXT_IMAGE_CHANNEL_TYPE_FLOAT, HSA_EXT_IMAGE_CHANNEL_ORDER_R}},
        .levels = 1};
    hsa_ext_image_data_info_t info;
    hsa_ext_image_t made;
    expect_clamps((const uint32_t[]){NORMALIZED, NEAREST, EDGE, TO_BORDER, REPEAT}, LAST, BORDER, WRAP);
    /* HIP 7.15 makes images with levels first; then the filter between levels stands before the addresses. */
    OK(hsa_ext_image_data_get_info_v2(gpu, &image, HSA_ACCESS_PERMISSION_RW, &info));
    void *memory = allocate(device, info.size);
    OK(hsa_ext_image_create_v2(gpu, &image, memory, HSA_ACCESS_PERMISSION_RW, &made));
    OK(hsa_ext_image_destroy_v2(gpu, made));
    image.levels = 8; /* 7 at most */
    FAILS(hsa_ext_image_create_v2(gpu, &image, memory, HSA_ACCESS_PERMISSION_RW, &made));
    expect_clamps((const uint32_t[]){NORMALIZED, NEAREST, NO_LEVELS, EDGE, TO_BORDER, REPEAT}, LAST, BORDER,
                  WRAP);
    for (uint32_t filter = 0; filter < 3; filter++) { /* nearest, linear, none */
        static const uint32_t expected[] = {1, 2, 0}; /* MIP_FILTER: RDNA3 ISA, the same table */
        hsa_ext_sampler_t sampler;
        OK(hsa_ext_sampler_create_v2(gpu, (const uint32_t[]){NORMALIZED, NEAREST, filter, EDGE, EDGE, EDGE},
                                     &sampler));
        assert_int_equal(((const uint32_t *)(uintptr_t)sampler.handle)[2] >> 26 & 3, expected[filter]);
        OK(hsa_ext_sampler_destroy(gpu, sampler));
    }
    FAILS(hsa_ext_sampler_create_v2(gpu, (const uint32_t[]){NORMALIZED, NEAREST, 3, EDGE, EDGE, EDGE},
                                    &(hsa_ext_sampler_t){0}));
    OK(hsa_amd_memory_pool_free(memory));
}

/* ---- an object of the generic target, and workgroups of HIP's own kernels ---- */

enum { ITEMS = 512 };

static hsa_status_t note_isa(hsa_isa_t isa, void *user)
{
    char(*names)[64] = user;
    OK(hsa_isa_get_info_alt(isa, HSA_ISA_INFO_NAME, *names[0] ? names[1] : names[0]));
    return HSA_STATUS_SUCCESS;
}

static void note_error(hsa_status_t status, hsa_queue_t *queue, void *user)
{
    (void)queue;
    *(hsa_status_t *)user = status;
}

/* Starts 512 work-items of a kernel, which has the argument `out`. */
static hsa_queue_t *start(hsa_executable_t executable, const char *name, uint32_t *out, hsa_status_t *error,
                          hsa_signal_t done)
{
    hsa_executable_symbol_t symbol;
    hsa_queue_t *queue;
    uint64_t kernel;
    uint32_t **arguments = allocate(fine, sizeof *arguments);
    *arguments = out;
    OK(hsa_executable_get_symbol_by_name(executable, name, &gpu, &symbol));
    OK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &kernel));
    OK(hsa_queue_create(gpu, 64, HSA_QUEUE_TYPE_MULTI, note_error, error, 0, 0, &queue));
    submit_workgroup(queue, kernel, arguments, ITEMS, done);
    return queue;
}

/* Whether a kernel runs in a workgroup of 512. */
static bool runs(hsa_executable_t executable, const char *name)
{
    hsa_status_t error = HSA_STATUS_SUCCESS;
    hsa_agent_t owner = {0};
    uint64_t address;
    uint32_t *out = allocate(fine, ITEMS * sizeof *out);
    const hsa_signal_t done = new_signal(1);
    hsa_queue_t *queue = start(executable, name, out, &error, done);
    OK(hsa_amd_queue_get_info(queue, 0, &owner));
    assert_int_equal(owner.handle, gpu.handle);
    FAILS(hsa_amd_queue_get_info(queue, 1, &address)); /* a doorbell that nobody would see ring */
    wait_below_1(done);
    for (uint32_t i = 0; i < ITEMS && !error; i++)
        assert_int_equal(out[i], i);
    OK(hsa_queue_destroy(queue));
    return !error;
}

/* HIP 7 waits in turns of 4 ms; a kernel that nothing can end is found all the same. */
static void find_deadlock(hsa_executable_t executable)
{
#if !THREAD_SANITIZER
    hsa_status_t error = HSA_STATUS_SUCCESS;
    const hsa_signal_t done = new_signal(1);
    hsa_queue_t *queue = start(executable, "__amd_rocclr_endless.kd", NULL, &error, done);
    assert_int_equal(wait_as_hip(done), -1);
    assert_int_equal(error, HSA_STATUS_ERROR);
    OK(hsa_queue_destroy(queue));
#else
    (void)executable; /* the sanitizer has a thread of its own, which never waits */
#endif
}

static const char *object_path;

static void test_kernels(void **state)
{
    (void)state;
    static char code[1 << 16];
    char names[2][64] = {"", ""};
    hsa_isa_t isa;
    hsa_code_object_reader_t reader;
    hsa_executable_t executable;
    OK(hsa_agent_iterate_isas(gpu, note_isa, names));
    assert_string_equal(names[0], "amdgcn-amd-amdhsa--gfx1100");
    assert_string_equal(names[1], "amdgcn-amd-amdhsa--gfx11-generic");
    OK(hsa_isa_from_name(names[1], &isa));
    FAILS(hsa_isa_from_name("amdgcn-amd-amdhsa--gfx12-generic", &isa));
    FAILS(hsa_isa_from_name("", &isa));

    FILE *file = fopen(object_path, "rb");
    assert_non_null(file);
    const size_t size = fread(code, 1, sizeof code, file);
    fclose(file);
    OK(hsa_code_object_reader_create_from_memory(code, size, &reader));
    OK(hsa_executable_create_alt(HSA_PROFILE_BASE, HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR, NULL, &executable));
    OK(hsa_executable_load_agent_code_object(executable, gpu, reader, NULL, NULL));
    OK(hsa_executable_freeze(executable, NULL));
    assert_true(runs(executable, "__amd_rocclr_count.kd"));
    assert_false(runs(executable, "count.kd"));
    find_deadlock(executable);
    OK(hsa_executable_destroy(executable));
}

/* usage: shim_later CODE_OBJECT */
int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_locks_of_old), cmocka_unit_test(test_agent),  cmocka_unit_test(test_clusters),
        cmocka_unit_test(test_unknown),      cmocka_unit_test(test_system), cmocka_unit_test(test_names),
        cmocka_unit_test(test_engines),      cmocka_unit_test(test_locks),  cmocka_unit_test(test_samplers),
        cmocka_unit_test(test_kernels),
    };
    if (argc != 2)
        return 2;
    object_path = argv[1];
    return cmocka_run_group_tests(tests, set_up, NULL);
}
