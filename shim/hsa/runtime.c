/* SPDX-License-Identifier: MIT */
/* The runtime itself: init, what the system says about itself, extensions, names of statuses. */
#include "shim.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards what follows */
static unsigned users;                                   /* calls of hsa_init() without hsa_shut_down() */
static struct shim_device device;
static bool ready;
static bool forked; /* never changes within a process */

const struct shim_device *shim_device(void)
{
    return __atomic_load_n(&ready, __ATOMIC_ACQUIRE) ? &device : NULL;
}

/* Called in a forked child. Threads and held locks belong to the parent, so nothing works in the child, as
 * with real drivers. */
static void lose_device(void)
{
    forked |= ready;
    ready = false;
}

void shim_before_packet(const struct shim_gpu *gpu)
{
    (void)gpu; /* memory is mapped when it is allocated */
}

void shim_refuse_child(void)
{
    if (!forked)
        return;
    fputs("wavemem: this process was forked from one that uses the GPU, and cannot use it\n", stderr);
    abort(); /* whatever waits for the GPU would wait forever */
}

hsa_status_t shim_status(enum wm_status status)
{
    switch (status) {
    case WM_OK:
        return HSA_STATUS_SUCCESS;
    case WM_NO_MEMORY:
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    case WM_BAD_FILE:
        return HSA_STATUS_ERROR_INVALID_CODE_OBJECT;
    case WM_BAD_ARGUMENT:
    case WM_NOT_FOUND:
    case WM_OUT_OF_RANGE:
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    default:
        return HSA_STATUS_ERROR;
    }
}

/* ---- init ---- */

/* Features that a driver fixes for a target, as drivers for these products do by default: Linux enables XNACK
 * on none of them; the products with ECC have it on. Source: LLVM AMDGPUUsage, "Target ID" and "Processors".
 */
static const struct {
    const char *target, *features;
} features[] = {
    {"gfx801", ":xnack-"},  {"gfx810", ":xnack-"},          {"gfx900", ":xnack-"},
    {"gfx902", ":xnack-"},  {"gfx904", ":xnack-"},          {"gfx906", ":sramecc+:xnack-"},
    {"gfx909", ":xnack-"},  {"gfx908", ":sramecc+:xnack-"}, {"gfx90a", ":sramecc+:xnack-"},
    {"gfx90c", ":xnack-"},  {"gfx942", ":sramecc+:xnack-"}, {"gfx950", ":sramecc+:xnack-"},
    {"gfx1010", ":xnack-"}, {"gfx1011", ":xnack-"},         {"gfx1012", ":xnack-"},
    {"gfx1013", ":xnack-"},
};

static const char *features_of(const char *target)
{
    for (size_t i = 0; i < SHIM_COUNT(features); i++)
        if (!strcmp(features[i].target, target))
            return features[i].features;
    return "";
}

static void name_isa(const char *target, char *isa, size_t size)
{
    snprintf(isa, size, "amdgcn-amd-amdhsa--%s%s", target, features_of(target));
}

/* Distance between the addresses of one GPU and the next. */
#define FIRST_ADDRESS UINT64_C(0x10000000000)
#define STRIDE        UINT64_C(0x16000000000)

uint64_t shim_address_end(unsigned gpu)
{
    return FIRST_ADDRESS + (gpu + 1) * STRIDE;
}

static bool make_gpu(struct shim_gpu *gpu, const struct wm_gpu *product, unsigned number)
{
    struct wm_diag diag = {0};
    char id[64];
    *gpu = (struct shim_gpu){.product = product, .number = number};
    shim_choose_target(product, number, gpu->target);
    snprintf(id, sizeof id, "%s%s", gpu->target, features_of(gpu->target));
    if (!wm_machine_create(id, &gpu->machine, &diag) &&
        !wm_set_first_address(gpu->machine, FIRST_ADDRESS + number * STRIDE, &diag))
        return true;
    shim_complain("%s", diag.message);
    wm_machine_destroy(gpu->machine);
    return false;
}

static bool make_device(void)
{
    static struct shim_device made;
    const struct wm_gpu *products[SHIM_GPUS];
    const unsigned count = shim_find_products(products);
    bool ok = count > 0;
    shim_settings_begin();
    made.gpu_count = 0;
    while (ok && made.gpu_count < count)
        if ((ok = make_gpu(&made.gpus[made.gpu_count], products[made.gpu_count], made.gpu_count)))
            made.gpu_count++;
    while (!ok && made.gpu_count)
        wm_machine_destroy(made.gpus[--made.gpu_count].machine);
    if (!ok)
        return false;
    for (unsigned i = 0; i < count; i++) {
        const char *generic = wm_target_generic(made.gpus[i].target);
        name_isa(made.gpus[i].target, made.isas[i], sizeof made.isas[i]);
        if (generic)
            name_isa(generic, made.isas[SHIM_GPUS + i], sizeof made.isas[i]);
    }
    device = made;
    pthread_atfork(NULL, NULL, lose_device);
    shim_results_begin();
    shim_launches_begin();
    shim_observe_begin();
    for (unsigned i = 0; i < count; i++)
        shim_observe_gpu(&device.gpus[i]);
    __atomic_store_n(&ready, true, __ATOMIC_RELEASE);
    return true;
}

SHIM_API hsa_status_t hsa_init(void)
{
    if (forked) {
        shim_complain("hsa_init: this process was forked from one that uses the GPU, and cannot use it");
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    }
    pthread_mutex_lock(&lock);
    const bool ok = ready || make_device();
    users += ok;
    pthread_mutex_unlock(&lock);
    return ok ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_OUT_OF_RESOURCES;
}

/* The machine is kept, because threads of queues that the program has not destroyed may still use it. */
SHIM_API hsa_status_t hsa_shut_down(void)
{
    if (!shim_device())
        return HSA_STATUS_ERROR_NOT_INITIALIZED;
    pthread_mutex_lock(&lock);
    const bool ok = users > 0;
    users -= ok;
    pthread_mutex_unlock(&lock);
    return ok ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_NOT_INITIALIZED;
}

/* ---- the system ---- */

/* Whether drivers provide shared virtual memory for all GPUs: Linux does from gfx9 on (kfd_migrate.c).
 * Without XNACK, kernels reach only what is managed. */
static bool all_migrate(void)
{
    static const char *const without[] = {"gfx6", "gfx7", "gfx8"};
    for (unsigned i = 0; i < device.gpu_count; i++)
        for (size_t k = 0; k < SHIM_COUNT(without); k++)
            if (!strncmp(device.gpus[i].target, without[k], strlen(without[k])))
                return false;
    return true;
}

SHIM_API hsa_status_t hsa_system_get_info(hsa_system_info_t attribute, void *value)
{
    static const uint8_t extensions[128] = {0};
    static const uint16_t major = 1, minor = 1;
    static const uint64_t frequency = 1000000000, longest = UINT64_MAX;
    static const hsa_endianness_t endianness = HSA_ENDIANNESS_LITTLE;
    static const hsa_machine_model_t model = HSA_MACHINE_MODEL_LARGE;
    /* Newer than Debian's header. The version of AMD's extensions: what ROCm 7.0 has. */
    enum {
        MWAITX_ENABLED = 0x203,
        DMABUF_SUPPORTED,
        VIRTUAL_MEM_API_SUPPORTED,
        XNACK_ENABLED,
        EXT_VERSION_MAJOR,
        EXT_VERSION_MINOR,
        FABRIC_HANDLES_SUPPORTED
    };
    static const uint16_t ext_major = 1, ext_minor = 14;
    static const bool no = false, yes = true;
    static const char *const build = "wavemem";
    const uint64_t now = shim_now();
    const bool svm = shim_device() && all_migrate();
    const struct shim_fact facts[] = {
        {HSA_SYSTEM_INFO_VERSION_MAJOR, sizeof major, &major},
        {HSA_SYSTEM_INFO_VERSION_MINOR, sizeof minor, &minor},
        {HSA_SYSTEM_INFO_TIMESTAMP, sizeof now, &now},
        {HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, sizeof frequency, &frequency},
        {HSA_SYSTEM_INFO_SIGNAL_MAX_WAIT, sizeof longest, &longest},
        {HSA_SYSTEM_INFO_ENDIANNESS, sizeof endianness, &endianness},
        {HSA_SYSTEM_INFO_MACHINE_MODEL, sizeof model, &model},
        {HSA_SYSTEM_INFO_EXTENSIONS, sizeof extensions, extensions},
        {HSA_AMD_SYSTEM_INFO_BUILD_VERSION, sizeof build, &build},
        {HSA_AMD_SYSTEM_INFO_SVM_SUPPORTED, sizeof svm, &svm},
        {HSA_AMD_SYSTEM_INFO_SVM_ACCESSIBLE_BY_DEFAULT, sizeof no, &no},
        {MWAITX_ENABLED, sizeof no, &no},
        {DMABUF_SUPPORTED, sizeof yes, &yes},
        {EXT_VERSION_MAJOR, sizeof ext_major, &ext_major},
        {EXT_VERSION_MINOR, sizeof ext_minor, &ext_minor},
        {FABRIC_HANDLES_SUPPORTED, sizeof no, &no},
        {VIRTUAL_MEM_API_SUPPORTED, sizeof yes, &yes},
        {XNACK_ENABLED, sizeof no, &no},
    };
    if (!shim_device())
        return HSA_STATUS_ERROR_NOT_INITIALIZED;
    return shim_find_fact(facts, SHIM_COUNT(facts), __func__, attribute, value);
}

SHIM_API hsa_status_t hsa_system_extension_supported(uint16_t extension, uint16_t major, uint16_t minor,
                                                     bool *result)
{
    (void)minor;
    if (!result)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    *result = (extension == HSA_EXTENSION_AMD_LOADER || extension == HSA_EXTENSION_IMAGES) && major == 1;
    return HSA_STATUS_SUCCESS;
}

SHIM_API hsa_status_t hsa_system_major_extension_supported(uint16_t extension, uint16_t major,
                                                           uint16_t *minor, bool *result)
{
    if (!minor)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    *minor = extension == HSA_EXTENSION_IMAGES ? 0 : 3;
    return hsa_system_extension_supported(extension, major, *minor, result);
}

static const struct {
    hsa_status_t status;
    const char *text;
} statuses[] = {
    {HSA_STATUS_SUCCESS, "HSA_STATUS_SUCCESS: success"},
    {HSA_STATUS_INFO_BREAK, "HSA_STATUS_INFO_BREAK: a callback ended the iteration"},
    {HSA_STATUS_ERROR, "HSA_STATUS_ERROR: an error"},
    {HSA_STATUS_ERROR_INVALID_ARGUMENT, "HSA_STATUS_ERROR_INVALID_ARGUMENT: an invalid argument"},
    {HSA_STATUS_ERROR_INVALID_QUEUE_CREATION,
     "HSA_STATUS_ERROR_INVALID_QUEUE_CREATION: such a queue cannot be created"},
    {HSA_STATUS_ERROR_INVALID_ALLOCATION,
     "HSA_STATUS_ERROR_INVALID_ALLOCATION: such memory cannot be allocated"},
    {HSA_STATUS_ERROR_INVALID_AGENT, "HSA_STATUS_ERROR_INVALID_AGENT: no such agent"},
    {HSA_STATUS_ERROR_INVALID_REGION, "HSA_STATUS_ERROR_INVALID_REGION: no such region"},
    {HSA_STATUS_ERROR_INVALID_SIGNAL, "HSA_STATUS_ERROR_INVALID_SIGNAL: no such signal"},
    {HSA_STATUS_ERROR_INVALID_QUEUE, "HSA_STATUS_ERROR_INVALID_QUEUE: no such queue"},
    {HSA_STATUS_ERROR_OUT_OF_RESOURCES, "HSA_STATUS_ERROR_OUT_OF_RESOURCES: out of resources"},
    {HSA_STATUS_ERROR_INVALID_PACKET_FORMAT, "HSA_STATUS_ERROR_INVALID_PACKET_FORMAT: a malformed packet"},
    {HSA_STATUS_ERROR_RESOURCE_FREE, "HSA_STATUS_ERROR_RESOURCE_FREE: a resource could not be freed"},
    {HSA_STATUS_ERROR_NOT_INITIALIZED, "HSA_STATUS_ERROR_NOT_INITIALIZED: hsa_init() was not called"},
    {HSA_STATUS_ERROR_REFCOUNT_OVERFLOW, "HSA_STATUS_ERROR_REFCOUNT_OVERFLOW: too many references"},
    {HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS,
     "HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS: arguments that do not fit together"},
    {HSA_STATUS_ERROR_INVALID_INDEX, "HSA_STATUS_ERROR_INVALID_INDEX: an invalid index"},
    {HSA_STATUS_ERROR_INVALID_ISA, "HSA_STATUS_ERROR_INVALID_ISA: no such instruction set"},
    {HSA_STATUS_ERROR_INVALID_ISA_NAME, "HSA_STATUS_ERROR_INVALID_ISA_NAME: no instruction set of this name"},
    {HSA_STATUS_ERROR_INVALID_CODE_OBJECT, "HSA_STATUS_ERROR_INVALID_CODE_OBJECT: an invalid code object"},
    {HSA_STATUS_ERROR_INVALID_EXECUTABLE, "HSA_STATUS_ERROR_INVALID_EXECUTABLE: no such executable"},
    {HSA_STATUS_ERROR_FROZEN_EXECUTABLE, "HSA_STATUS_ERROR_FROZEN_EXECUTABLE: the executable is frozen"},
    {HSA_STATUS_ERROR_INVALID_SYMBOL_NAME, "HSA_STATUS_ERROR_INVALID_SYMBOL_NAME: no symbol of this name"},
    {HSA_STATUS_ERROR_VARIABLE_ALREADY_DEFINED,
     "HSA_STATUS_ERROR_VARIABLE_ALREADY_DEFINED: the variable is defined already"},
    {HSA_STATUS_ERROR_VARIABLE_UNDEFINED, "HSA_STATUS_ERROR_VARIABLE_UNDEFINED: the variable is not defined"},
    {HSA_STATUS_ERROR_EXCEPTION, "HSA_STATUS_ERROR_EXCEPTION: a kernel raised an exception"},
    {HSA_STATUS_ERROR_INVALID_CODE_SYMBOL,
     "HSA_STATUS_ERROR_INVALID_CODE_SYMBOL: no such symbol of a code object"},
    {HSA_STATUS_ERROR_INVALID_EXECUTABLE_SYMBOL,
     "HSA_STATUS_ERROR_INVALID_EXECUTABLE_SYMBOL: no such symbol of an executable"},
    {HSA_STATUS_ERROR_INVALID_FILE, "HSA_STATUS_ERROR_INVALID_FILE: the file cannot be read"},
    {HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER,
     "HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER: no such reader"},
    {HSA_STATUS_ERROR_INVALID_CACHE, "HSA_STATUS_ERROR_INVALID_CACHE: no such cache"},
    {HSA_STATUS_ERROR_INVALID_WAVEFRONT, "HSA_STATUS_ERROR_INVALID_WAVEFRONT: no such wavefront"},
    {HSA_STATUS_ERROR_INVALID_SIGNAL_GROUP,
     "HSA_STATUS_ERROR_INVALID_SIGNAL_GROUP: no such group of signals"},
    {HSA_STATUS_ERROR_INVALID_RUNTIME_STATE,
     "HSA_STATUS_ERROR_INVALID_RUNTIME_STATE: not possible in this state"},
    {HSA_STATUS_ERROR_FATAL, "HSA_STATUS_ERROR_FATAL: a fatal error"},
    {(hsa_status_t)HSA_STATUS_ERROR_INVALID_MEMORY_POOL,
     "HSA_STATUS_ERROR_INVALID_MEMORY_POOL: no such memory pool"},
    {(hsa_status_t)HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION,
     "HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION: an address outside the apertures"},
    {(hsa_status_t)HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION,
     "HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION: an illegal instruction"},
    {(hsa_status_t)HSA_STATUS_ERROR_MEMORY_FAULT,
     "HSA_STATUS_ERROR_MEMORY_FAULT: an access outside every allocation"},
};

SHIM_API hsa_status_t hsa_status_string(hsa_status_t status, const char **text)
{
    if (!text)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    for (size_t i = 0; i < SHIM_COUNT(statuses); i++)
        if (statuses[i].status == status) {
            *text = statuses[i].text;
            return HSA_STATUS_SUCCESS;
        }
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

/* ---- settings of later runtimes, without an effect here ---- */

SHIM_API hsa_status_t hsa_amd_enable_logging(uint8_t *flags, void *file)
{
    (void)flags, (void)file;
    return HSA_STATUS_SUCCESS;
}

SHIM_API hsa_status_t hsa_amd_agent_set_async_scratch_limit(hsa_agent_t agent, size_t limit)
{
    (void)limit;
    return shim_gpu(agent) < 0 ? HSA_STATUS_ERROR_INVALID_AGENT : HSA_STATUS_SUCCESS;
}
