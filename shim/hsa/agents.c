/* SPDX-License-Identifier: MIT */
/* Agents, their instruction sets and memory pools: tables of their attributes. */
#include "shim.h"

#include <link.h>
#include <stdlib.h>
#include <unistd.h>

int shim_gpu(hsa_agent_t agent)
{
    const struct shim_device *device = shim_device();
    return device && agent.handle - SHIM_GPU < device->gpu_count ? (int)(agent.handle - SHIM_GPU) : -1;
}

bool shim_is_agent(hsa_agent_t agent)
{
    return agent.handle == SHIM_CPU || shim_gpu(agent) >= 0;
}

/* Reports each unknown attribute once, because runtimes reject a device if it does not know some of them. */
static void say_unknown(const char *function, uint32_t attribute)
{
    enum { CUID = 0xa11c }; /* an optional identity, which the model lacks */
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static struct {
        const char *function;
        uint32_t attribute;
    } said[32];
    static size_t count;
    pthread_mutex_lock(&lock);
    size_t i = 0;
    while (i < count && (said[i].attribute != attribute || strcmp(said[i].function, function)))
        i++;
    const bool is_new = i == count && i < SHIM_COUNT(said) && attribute != CUID;
    if (is_new) {
        said[i].function = function;
        said[i].attribute = attribute;
        count++;
    }
    pthread_mutex_unlock(&lock);
    if (is_new)
        shim_complain("%s: the runtime asks for attribute 0x%x, which is not known; if it finds no device, "
                      "that is the reason",
                      function, attribute);
}

hsa_status_t shim_find_fact(const struct shim_fact *facts, size_t count, const char *function,
                            uint32_t attribute, void *value)
{
    if (!value)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    for (size_t i = 0; i < count; i++)
        if (facts[i].attribute == attribute) {
            memcpy(value, facts[i].bytes, facts[i].size);
            return HSA_STATUS_SUCCESS;
        }
    if (function)
        say_unknown(function, attribute);
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

SHIM_API hsa_status_t hsa_iterate_agents(hsa_status_t (*callback)(hsa_agent_t agent, void *data), void *data)
{
    if (!shim_device())
        return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!callback)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    hsa_status_t status = callback((hsa_agent_t){SHIM_CPU}, data);
    for (unsigned i = 0; i < shim_device()->gpu_count && !status; i++)
        status = callback((hsa_agent_t){SHIM_GPU + i}, data);
    return status;
}

/* ---- what both agents have ---- */

enum {
    LARGEST_WORKGROUP = 1024,
    LARGEST_QUEUE = 1 << 17, /* in packets; the limit of ROCr */
    SMALLEST_QUEUE = 64,
    QUEUES = 128,
    /* the PCI bus of a device that does not exist: one that no other device of a PC has by default */
    PCI_BUS = 0x3,
};

static const bool yes = true, no = false;
static const uint32_t zero = 0, one = 1;
static const uint16_t major = 1, minor = 1;
static const char vendor[64] = "AMD", cpu_vendor[64] = "CPU", cpu_name[64] = "CPU";
static const hsa_device_type_t is_cpu = HSA_DEVICE_TYPE_CPU, is_gpu = HSA_DEVICE_TYPE_GPU;
static const hsa_profile_t base = HSA_PROFILE_BASE, full = HSA_PROFILE_FULL;
static const hsa_machine_model_t model = HSA_MACHINE_MODEL_LARGE;
static const hsa_default_float_rounding_mode_t rounding = HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR;
static const uint32_t roundings = 1u << HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR;
static const hsa_queue_type32_t queue_type = HSA_QUEUE_TYPE_MULTI;
static const hsa_isa_t no_isa = {0};

static hsa_status_t cpu_info(uint32_t attribute, void *value)
{
    static const uint32_t caches[4] = {32 << 10, 0, 0, 0}, line = 64, mhz = 1000, feature = 0;
    static const uint8_t extensions[128] = {0};
    const uint32_t cores = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
    static const char uuid[24] = "CPU-XX";
    const struct shim_fact facts[] = {
        {HSA_AGENT_INFO_NAME, sizeof cpu_name, cpu_name},
        {HSA_AGENT_INFO_VENDOR_NAME, sizeof cpu_vendor, cpu_vendor},
        {HSA_AGENT_INFO_FEATURE, sizeof feature, &feature},
        {HSA_AGENT_INFO_MACHINE_MODEL, sizeof model, &model},
        {HSA_AGENT_INFO_PROFILE, sizeof full, &full},
        {HSA_AGENT_INFO_DEFAULT_FLOAT_ROUNDING_MODE, sizeof rounding, &rounding},
        {HSA_AGENT_INFO_WAVEFRONT_SIZE, sizeof zero, &zero},
        {HSA_AGENT_INFO_QUEUES_MAX, sizeof zero, &zero},
        {HSA_AGENT_INFO_QUEUE_MIN_SIZE, sizeof zero, &zero},
        {HSA_AGENT_INFO_QUEUE_MAX_SIZE, sizeof zero, &zero},
        {HSA_AGENT_INFO_QUEUE_TYPE, sizeof queue_type, &queue_type},
        {HSA_AGENT_INFO_NODE, sizeof zero, &zero},
        {HSA_AGENT_INFO_DEVICE, sizeof is_cpu, &is_cpu},
        {HSA_AGENT_INFO_CACHE_SIZE, sizeof caches, caches},
        {HSA_AGENT_INFO_ISA, sizeof no_isa, &no_isa},
        {HSA_AGENT_INFO_EXTENSIONS, sizeof extensions, extensions},
        {HSA_AGENT_INFO_VERSION_MAJOR, sizeof major, &major},
        {HSA_AGENT_INFO_VERSION_MINOR, sizeof minor, &minor},
        {HSA_AMD_AGENT_INFO_CHIP_ID, sizeof zero, &zero},
        {HSA_AMD_AGENT_INFO_CACHELINE_SIZE, sizeof line, &line},
        {HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT, sizeof cores, &cores},
        {HSA_AMD_AGENT_INFO_MAX_CLOCK_FREQUENCY, sizeof mhz, &mhz},
        {HSA_AMD_AGENT_INFO_DRIVER_NODE_ID, sizeof zero, &zero},
        {HSA_AMD_AGENT_INFO_BDFID, sizeof zero, &zero},
        {HSA_AMD_AGENT_INFO_DOMAIN, sizeof zero, &zero},
        {HSA_AMD_AGENT_INFO_PRODUCT_NAME, sizeof cpu_name, cpu_name},
        {HSA_AMD_AGENT_INFO_UUID, sizeof uuid, uuid},
        {HSA_AMD_AGENT_INFO_SVM_DIRECT_HOST_ACCESS, sizeof yes, &yes},
    };
    return shim_find_fact(facts, SHIM_COUNT(facts), "hsa_agent_get_info of the CPU", attribute, value);
}

/* Attributes that Debian's header (ROCr 5.2) lacks. Source: hsa_ext_amd.h and hsa_ext_image.h of ROCr 7. */
enum {
    MEMORY_AVAIL = 0xa015,
    TIMESTAMP_FREQUENCY = 0xa016,
    ASIC_FAMILY_ID = 0xa107,
    UCODE_VERSION = 0xa108,
    SDMA_UCODE_VERSION = 0xa109,
    NUM_SDMA_ENGINES = 0xa10a,
    NUM_SDMA_XGMI_ENGINES = 0xa10b,
    IOMMU_SUPPORT = 0xa110,
    NUM_XCC = 0xa111,
    DRIVER_UID = 0xa112,
    NEAREST_CPU = 0xa113,
    MEMORY_PROPERTIES = 0xa114,
    AQL_EXTENSIONS = 0xa115,
    SCRATCH_LIMIT_MAX = 0xa116,
    SCRATCH_LIMIT_CURRENT = 0xa117,
    PM4_EMULATION = 0xa119,
    LUID = 0xa11a,
    HAS_EXPERT_SCHED_MODE = 0xa11b,
    KERNEL_WG_MAX_SIZE = 0xa11d,
    KERNEL_CLUSTER_MAX_DIM = 0xa11e,
    KERNEL_CLUSTER_MAX_SIZE = 0xa11f,
    CLUSTER_MAX_DIM = 0xa120,
    CLUSTER_MAX_SIZE = 0xa121,
    KERNEL_WG_MAX_DIM = 0xa122,
    MAX_DATA_PREFETCH_REGIONS = 0xa123,
    HOST_ALLOC_DMABUF_SUPPORTED = 0xa124,
    IMAGE_1DA_MAX_ELEMENTS = 0x3001,
    IMAGE_2DA_MAX_ELEMENTS = 0x3004,
    IMAGE_2DDEPTH_MAX_ELEMENTS = 0x3005,
    IMAGE_2DADEPTH_MAX_ELEMENTS = 0x3006,
};

/* Workgroups of a cluster, in each dimension: as ROCr, the compute units of a shader engine, as far as
 * wavemem runs them together. */
static uint64_t largest_cluster(const char *target, const struct wm_gpu *gpu)
{
    enum { MOST = 16 };
    if (strncmp(target, "gfx125", 6))
        return 1;
    const uint32_t units = gpu->compute_units / (gpu->xcds * gpu->engines);
    return units < MOST ? units : MOST;
}

static hsa_status_t gpu_info(const struct shim_device *device, unsigned number, uint32_t attribute,
                             void *value)
{
    static const uint16_t sides[3] = {LARGEST_WORKGROUP, LARGEST_WORKGROUP, LARGEST_WORKGROUP};
    static const hsa_dim3_t grid = {UINT32_MAX, UINT32_MAX, UINT32_MAX};
    static const uint32_t workgroup = LARGEST_WORKGROUP, grid_size = UINT32_MAX, fbarriers = 32,
                          queues = QUEUES, least = SMALLEST_QUEUE, most = LARGEST_QUEUE,
                          feature = HSA_AGENT_FEATURE_KERNEL_DISPATCH;
    static const hsa_amd_hdp_flush_t no_flush;
    /* Copies do not queue per engine; two are what most products have. Scratch has no limit but the memory.
     * The clock is that of s_memrealtime. There are no prefetch regions. The family of the chip and the
     * versions of firmware are not known: 0. Only Windows has LUIDs. ROCr names these limits of the
     * number of workgroups for every GPU (amd_gpu_agent.cpp of 7.15). */
    static const uint32_t engines_for_copies = 2;
    static const uint64_t ticks = 100000000;
    static const uint8_t aql_extensions[8] = {0}, luid[8] = {0};
    static const uint64_t workgroups[3] = {INT32_MAX, UINT16_MAX, UINT16_MAX},
                          all_workgroups = (uint64_t)INT32_MAX * UINT16_MAX * UINT16_MAX;
    static const hsa_agent_t cpu = {SHIM_CPU};
    /* The bit of images is set for all: libamdhip64 allocates pitched memory only where there are images.
     * Where the target has none, no image can be created. Sizes: the fields of image descriptors; source: GCN
     * 3 ISA, table 8.11. */
    static const uint8_t extensions[128] = {1 << HSA_EXTENSION_IMAGES};
    static const uint32_t plane[3] = {16384, 16384, 1}, volume[3] = {2048, 2048, 2048},
                          row[3] = {16384, 1, 1}, buffer[3] = {UINT32_MAX, 1, 1}, layers = 2048, pitch = 256,
                          images = 64, samplers = 16;
    const struct wm_gpu *gpu = device->gpus[number].product;
    const uint32_t node = 1 + number, bdf = (PCI_BUS + number) << 8;
    const hsa_isa_t isa = {SHIM_ISA + number};
    char name[64] = {0}, title[64] = {0}, uuid[24] = {0};
    snprintf(uuid, sizeof uuid, "GPU-776176656d656d%02x", number);
    snprintf(name, sizeof name, "%s", device->gpus[number].target);
    snprintf(title, sizeof title, "%s", gpu->title);
    const uint32_t caches[4] = {(uint32_t)gpu->cache[WM_CACHE_VECTOR].bytes,
                                (uint32_t)gpu->cache[WM_CACHE_L2].bytes,
                                (uint32_t)gpu->cache[WM_CACHE_LAST].bytes, 0};
    const uint8_t properties[8] = {gpu->apu};
    const uint64_t capacity = shim_capacity((hsa_agent_t){SHIM_GPU + number});
    const uint64_t available = shim_available((hsa_agent_t){SHIM_GPU + number});
    const uint32_t waves = gpu->simds * gpu->waves, engines = gpu->xcds * gpu->engines;
    const uint64_t most_in_cluster = largest_cluster(name, gpu),
                   cluster[3] = {most_in_cluster, most_in_cluster, most_in_cluster};
    const struct shim_fact facts[] = {
        {HSA_AGENT_INFO_NAME, sizeof name, name},
        {HSA_AGENT_INFO_VENDOR_NAME, sizeof vendor, vendor},
        {HSA_AGENT_INFO_FEATURE, sizeof feature, &feature},
        {HSA_AGENT_INFO_MACHINE_MODEL, sizeof model, &model},
        {HSA_AGENT_INFO_PROFILE, sizeof base, &base},
        {HSA_AGENT_INFO_DEFAULT_FLOAT_ROUNDING_MODE, sizeof rounding, &rounding},
        {HSA_AGENT_INFO_BASE_PROFILE_DEFAULT_FLOAT_ROUNDING_MODES, sizeof roundings, &roundings},
        {HSA_AGENT_INFO_FAST_F16_OPERATION, sizeof yes, &yes},
        {HSA_AGENT_INFO_WAVEFRONT_SIZE, sizeof gpu->vgpr_lanes, &gpu->vgpr_lanes},
        {HSA_AGENT_INFO_WORKGROUP_MAX_DIM, sizeof sides, sides},
        {HSA_AGENT_INFO_WORKGROUP_MAX_SIZE, sizeof workgroup, &workgroup},
        {HSA_AGENT_INFO_GRID_MAX_DIM, sizeof grid, &grid},
        {HSA_AGENT_INFO_GRID_MAX_SIZE, sizeof grid_size, &grid_size},
        {HSA_AGENT_INFO_FBARRIER_MAX_SIZE, sizeof fbarriers, &fbarriers},
        {HSA_AGENT_INFO_QUEUES_MAX, sizeof queues, &queues},
        {HSA_AGENT_INFO_QUEUE_MIN_SIZE, sizeof least, &least},
        {HSA_AGENT_INFO_QUEUE_MAX_SIZE, sizeof most, &most},
        {HSA_AGENT_INFO_QUEUE_TYPE, sizeof queue_type, &queue_type},
        {HSA_AGENT_INFO_NODE, sizeof node, &node},
        {HSA_AGENT_INFO_DEVICE, sizeof is_gpu, &is_gpu},
        {HSA_AGENT_INFO_CACHE_SIZE, sizeof caches, caches},
        {HSA_AGENT_INFO_ISA, sizeof isa, &isa},
        {HSA_AGENT_INFO_EXTENSIONS, sizeof extensions, extensions},
        {HSA_AGENT_INFO_VERSION_MAJOR, sizeof major, &major},
        {HSA_AGENT_INFO_VERSION_MINOR, sizeof minor, &minor},
        {HSA_AMD_AGENT_INFO_CHIP_ID, sizeof(uint32_t), &gpu->chip},
        {HSA_AMD_AGENT_INFO_CACHELINE_SIZE, sizeof(uint32_t), &gpu->cache[WM_CACHE_L2].line},
        {HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT, sizeof(uint32_t), &gpu->compute_units},
        {HSA_AMD_AGENT_INFO_MAX_CLOCK_FREQUENCY, sizeof(uint32_t), &gpu->clock_mhz},
        {HSA_AMD_AGENT_INFO_DRIVER_NODE_ID, sizeof node, &node},
        {HSA_AMD_AGENT_INFO_MAX_ADDRESS_WATCH_POINTS, sizeof zero, &zero},
        {HSA_AMD_AGENT_INFO_BDFID, sizeof bdf, &bdf},
        {HSA_AMD_AGENT_INFO_MEMORY_WIDTH, sizeof(uint32_t), &gpu->memory_bits},
        {HSA_AMD_AGENT_INFO_MEMORY_MAX_FREQUENCY, sizeof(uint32_t), &gpu->memory_mhz},
        {HSA_AMD_AGENT_INFO_PRODUCT_NAME, sizeof title, title},
        {HSA_AMD_AGENT_INFO_MAX_WAVES_PER_CU, sizeof waves, &waves},
        {HSA_AMD_AGENT_INFO_NUM_SIMDS_PER_CU, sizeof(uint32_t), &gpu->simds},
        {HSA_AMD_AGENT_INFO_NUM_SHADER_ENGINES, sizeof engines, &engines},
        {HSA_AMD_AGENT_INFO_NUM_SHADER_ARRAYS_PER_SE, sizeof one, &one},
        {HSA_AMD_AGENT_INFO_HDP_FLUSH, sizeof no_flush, &no_flush},
        {HSA_AMD_AGENT_INFO_DOMAIN, sizeof zero, &zero},
        {HSA_AMD_AGENT_INFO_COOPERATIVE_QUEUES, sizeof yes, &yes},
        {HSA_AMD_AGENT_INFO_UUID, sizeof uuid, uuid},
        {HSA_AMD_AGENT_INFO_ASIC_REVISION, sizeof zero, &zero},
        {HSA_AMD_AGENT_INFO_SVM_DIRECT_HOST_ACCESS, sizeof no, &no},
        {HSA_AMD_AGENT_INFO_COOPERATIVE_COMPUTE_UNIT_COUNT, sizeof(uint32_t), &gpu->compute_units},
        {MEMORY_AVAIL, sizeof available, &available},
        {TIMESTAMP_FREQUENCY, sizeof ticks, &ticks},
        {ASIC_FAMILY_ID, sizeof zero, &zero},
        {UCODE_VERSION, sizeof zero, &zero},
        {SDMA_UCODE_VERSION, sizeof zero, &zero},
        {NUM_SDMA_ENGINES, sizeof engines_for_copies, &engines_for_copies},
        {NUM_SDMA_XGMI_ENGINES, sizeof zero, &zero},
        {IOMMU_SUPPORT, sizeof zero, &zero},
        {NUM_XCC, sizeof(uint32_t), &gpu->xcds},
        {DRIVER_UID, sizeof node, &node},
        {NEAREST_CPU, sizeof cpu, &cpu},
        {MEMORY_PROPERTIES, sizeof properties, properties},
        {AQL_EXTENSIONS, sizeof aql_extensions, aql_extensions},
        {SCRATCH_LIMIT_MAX, sizeof capacity, &capacity},
        {SCRATCH_LIMIT_CURRENT, sizeof capacity, &capacity},
        {PM4_EMULATION, sizeof no, &no},
        {HAS_EXPERT_SCHED_MODE, sizeof no, &no},
        {LUID, sizeof luid, luid},
        {KERNEL_WG_MAX_SIZE, sizeof all_workgroups, &all_workgroups},
        {KERNEL_CLUSTER_MAX_DIM, sizeof workgroups, workgroups},
        {KERNEL_CLUSTER_MAX_SIZE, sizeof all_workgroups, &all_workgroups},
        {CLUSTER_MAX_DIM, sizeof cluster, cluster},
        {CLUSTER_MAX_SIZE, sizeof *cluster, cluster},
        {KERNEL_WG_MAX_DIM, sizeof workgroups, workgroups},
        {MAX_DATA_PREFETCH_REGIONS, sizeof zero, &zero},
        {HOST_ALLOC_DMABUF_SUPPORTED, sizeof no, &no},
        {HSA_EXT_AGENT_INFO_IMAGE_1D_MAX_ELEMENTS, sizeof *row, row},
        {HSA_EXT_AGENT_INFO_IMAGE_1DB_MAX_ELEMENTS, sizeof *buffer, buffer},
        {IMAGE_1DA_MAX_ELEMENTS, sizeof *row, row}, /* size_t in the header, 4 bytes in ROCr */
        {HSA_EXT_AGENT_INFO_IMAGE_2D_MAX_ELEMENTS, 2 * sizeof *plane, plane},
        {IMAGE_2DA_MAX_ELEMENTS, 2 * sizeof *plane, plane},
        {IMAGE_2DDEPTH_MAX_ELEMENTS, 2 * sizeof *plane, plane},
        {IMAGE_2DADEPTH_MAX_ELEMENTS, 2 * sizeof *plane, plane},
        {HSA_EXT_AGENT_INFO_IMAGE_3D_MAX_ELEMENTS, sizeof volume, volume},
        {HSA_EXT_AGENT_INFO_IMAGE_ARRAY_MAX_LAYERS, sizeof layers, &layers},
        {HSA_EXT_AGENT_INFO_MAX_IMAGE_RD_HANDLES, sizeof images, &images},
        {HSA_EXT_AGENT_INFO_MAX_IMAGE_RORW_HANDLES, sizeof images, &images},
        {HSA_EXT_AGENT_INFO_MAX_SAMPLER_HANDLERS, sizeof samplers, &samplers},
        {HSA_EXT_AGENT_INFO_IMAGE_LINEAR_ROW_PITCH_ALIGNMENT, sizeof pitch, &pitch},
    };
    return shim_find_fact(facts, SHIM_COUNT(facts), "hsa_agent_get_info", attribute, value);
}

SHIM_API hsa_status_t hsa_agent_get_info(hsa_agent_t agent, hsa_agent_info_t attribute, void *value)
{
    const struct shim_device *device = shim_device();
    if (!device)
        return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!shim_is_agent(agent))
        return HSA_STATUS_ERROR_INVALID_AGENT;
    return agent.handle == SHIM_CPU ? cpu_info(attribute, value)
                                    : gpu_info(device, (unsigned)shim_gpu(agent), attribute, value);
}

SHIM_API hsa_status_t hsa_agent_extension_supported(uint16_t extension, hsa_agent_t agent,
                                                    uint16_t version_major, uint16_t version_minor,
                                                    bool *result)
{
    (void)version_minor;
    if (!shim_is_agent(agent))
        return HSA_STATUS_ERROR_INVALID_AGENT;
    if (!result)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    *result = shim_gpu(agent) >= 0 && extension == HSA_EXTENSION_IMAGES && version_major == 1;
    return HSA_STATUS_SUCCESS;
}

/* ---- the instruction set ---- */

/* NULL: there is no such instruction set. */
static const char *isa_name(hsa_isa_t isa)
{
    const struct shim_device *device = shim_device();
    const uint64_t number = isa.handle - SHIM_ISA;
    return device && number < SHIM_COUNT(device->isas) && *device->isas[number] ? device->isas[number] : NULL;
}

/* Whether the library `user`, a path, has the message of a runtime that refuses several instruction sets. */
static int has_message(struct dl_phdr_info *library, size_t size, void *user)
{
    static const char message[] = "can only support a single ISA";
    (void)size;
    for (unsigned i = 0; i < library->dlpi_phnum && !strcmp(library->dlpi_name, user); i++) {
        const ElfW(Phdr) *part = &library->dlpi_phdr[i];
        const void *bytes = (const void *)(library->dlpi_addr + part->p_vaddr);
        if (part->p_type == PT_LOAD && part->p_flags == PF_R &&
            memmem(bytes, part->p_filesz, message, sizeof message - 1))
            return 1;
    }
    return 0;
}

/* HIP before 6.3 refuses a GPU with several instruction sets, and says so; no later one has the message. Of
 * HIP 5 this is known without a search. Source: ROCclr 5.2 to 6.2, rocdevice.cpp. */
static bool refuses_several_isas(const void *caller)
{
    const char *path = shim_hip_library(caller);
    return path && (strstr(path, "/libamdhip64.so.5") || dl_iterate_phdr(has_message, (void *)path));
}

SHIM_API hsa_status_t hsa_agent_iterate_isas(hsa_agent_t agent,
                                             hsa_status_t (*callback)(hsa_isa_t isa, void *data), void *data)
{
    if (!shim_is_agent(agent))
        return HSA_STATUS_ERROR_INVALID_AGENT;
    if (!callback)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (shim_gpu(agent) < 0)
        return HSA_STATUS_SUCCESS;
    const hsa_isa_t own = {SHIM_ISA + (uint64_t)shim_gpu(agent)}, generic = {own.handle + SHIM_GPUS};
    const hsa_status_t status = callback(own, data);
    if (status || !isa_name(generic) || refuses_several_isas(__builtin_return_address(0)))
        return status;
    return callback(generic, data);
}

SHIM_API hsa_status_t hsa_isa_get_info_alt(hsa_isa_t given, hsa_isa_info_t attribute, void *value)
{
    static const uint16_t sides[3] = {LARGEST_WORKGROUP, LARGEST_WORKGROUP, LARGEST_WORKGROUP};
    static const hsa_dim3_t grid = {UINT32_MAX, UINT32_MAX, UINT32_MAX};
    static const uint64_t grid_size = UINT64_MAX;
    static const uint32_t workgroup = LARGEST_WORKGROUP, fbarriers = 32;
    static const bool models[2] = {false, true}, profiles[2] = {true, false}, modes[3] = {false, false, true};
    const struct shim_device *device = shim_device();
    if (!device)
        return HSA_STATUS_ERROR_NOT_INITIALIZED;
    const char *name = isa_name(given);
    if (!name)
        return HSA_STATUS_ERROR_INVALID_ISA;
    const uint32_t length = (uint32_t)strlen(name) + 1;
    const struct shim_fact facts[] = {
        {HSA_ISA_INFO_NAME_LENGTH, sizeof length, &length},
        {HSA_ISA_INFO_NAME, length, name},
        {HSA_ISA_INFO_CALL_CONVENTION_COUNT, sizeof one, &one},
        {HSA_ISA_INFO_MACHINE_MODELS, sizeof models, models},
        {HSA_ISA_INFO_PROFILES, sizeof profiles, profiles},
        {HSA_ISA_INFO_DEFAULT_FLOAT_ROUNDING_MODES, sizeof modes, modes},
        {HSA_ISA_INFO_BASE_PROFILE_DEFAULT_FLOAT_ROUNDING_MODES, sizeof modes, modes},
        {HSA_ISA_INFO_FAST_F16_OPERATION, sizeof yes, &yes},
        {HSA_ISA_INFO_WORKGROUP_MAX_DIM, sizeof sides, sides},
        {HSA_ISA_INFO_WORKGROUP_MAX_SIZE, sizeof workgroup, &workgroup},
        {HSA_ISA_INFO_GRID_MAX_DIM, sizeof grid, &grid},
        {HSA_ISA_INFO_GRID_MAX_SIZE, sizeof grid_size, &grid_size},
        {HSA_ISA_INFO_FBARRIER_MAX_SIZE, sizeof fbarriers, &fbarriers},
    };
    return shim_find_fact(facts, SHIM_COUNT(facts), __func__, attribute, value);
}

SHIM_API hsa_status_t hsa_isa_from_name(const char *name, hsa_isa_t *found)
{
    const struct shim_device *device = shim_device();
    if (!device)
        return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!name || !found)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    for (unsigned i = 0; i < SHIM_COUNT(device->isas); i++)
        if (*name && !strcmp(name, device->isas[i])) {
            found->handle = SHIM_ISA + i;
            return HSA_STATUS_SUCCESS;
        }
    return HSA_STATUS_ERROR_INVALID_ISA_NAME;
}

/* ---- memory pools ---- */

static const struct pool {
    enum shim_pool kind;
    bool of_gpu;
    hsa_amd_segment_t segment;
    uint32_t flags;
    bool allocates;
} pools[] = {
    {SHIM_POOL_FINE, false, HSA_AMD_SEGMENT_GLOBAL,
     HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED | HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT, true},
    {SHIM_POOL_COARSE, false, HSA_AMD_SEGMENT_GLOBAL, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED, true},
    {SHIM_POOL_DEVICE, true, HSA_AMD_SEGMENT_GLOBAL, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED, true},
    {SHIM_POOL_GROUP, true, HSA_AMD_SEGMENT_GROUP, 0, false},
};

enum { GPU_POOLS = 2 };

static hsa_amd_memory_pool_t pool_of(const struct pool *pool, hsa_agent_t agent)
{
    return (hsa_amd_memory_pool_t){pool->kind + (pool->of_gpu ? GPU_POOLS * (agent.handle - SHIM_GPU) : 0)};
}

static const struct pool *find_pool(hsa_amd_memory_pool_t given, hsa_agent_t *agent)
{
    const struct shim_device *device = shim_device();
    for (unsigned gpu = 0; device && gpu < device->gpu_count; gpu++)
        for (size_t i = 0; i < SHIM_COUNT(pools); i++) {
            agent->handle = pools[i].of_gpu ? SHIM_GPU + gpu : SHIM_CPU;
            if (pool_of(&pools[i], *agent).handle == given.handle)
                return &pools[i];
        }
    return NULL;
}

enum shim_pool shim_pool_kind(hsa_amd_memory_pool_t given, hsa_agent_t *agent)
{
    const struct pool *pool = find_pool(given, agent);
    return pool ? pool->kind : 0;
}

SHIM_API hsa_status_t hsa_amd_agent_iterate_memory_pools(
    hsa_agent_t agent, hsa_status_t (*callback)(hsa_amd_memory_pool_t memory_pool, void *data), void *data)
{
    if (!shim_is_agent(agent))
        return HSA_STATUS_ERROR_INVALID_AGENT;
    if (!callback)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    for (size_t i = 0; i < SHIM_COUNT(pools); i++) {
        const hsa_status_t status = pools[i].of_gpu == (agent.handle != SHIM_CPU)
                                        ? callback(pool_of(&pools[i], agent), data)
                                        : HSA_STATUS_SUCCESS;
        if (status)
            return status;
    }
    return HSA_STATUS_SUCCESS;
}

static size_t size_of(const struct pool *pool, hsa_agent_t owner)
{
    return pool->kind == SHIM_POOL_GROUP ? shim_device()->gpus[shim_gpu(owner)].product->lds_bytes
                                         : shim_capacity(owner);
}

SHIM_API hsa_status_t hsa_amd_memory_pool_get_info(hsa_amd_memory_pool_t given,
                                                   hsa_amd_memory_pool_info_t attribute, void *value)
{
    enum { POOL_LOCATION = 17, POOL_RECOMMENDED_GRANULE }; /* newer than Debian's header */
    static const size_t granule = WM_ALLOCATION_ALIGNMENT, recommended = 2 << 20;
    hsa_agent_t owner;
    const struct pool *pool = find_pool(given, &owner);
    if (!pool)
        return (hsa_status_t)HSA_STATUS_ERROR_INVALID_MEMORY_POOL;
    const size_t size = size_of(pool, owner);
    const bool by_all = !pool->of_gpu;
    const uint32_t location = pool->of_gpu; /* 0: memory of a CPU */
    const struct shim_fact facts[] = {
        {HSA_AMD_MEMORY_POOL_INFO_SEGMENT, sizeof(uint32_t), &pool->segment},
        {HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, sizeof pool->flags, &pool->flags},
        {HSA_AMD_MEMORY_POOL_INFO_SIZE, sizeof size, &size},
        {HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED, sizeof(bool), &pool->allocates},
        {HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_GRANULE, sizeof granule, &granule},
        {HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALIGNMENT, sizeof granule, &granule},
        {HSA_AMD_MEMORY_POOL_INFO_ACCESSIBLE_BY_ALL, sizeof by_all, &by_all},
        {HSA_AMD_MEMORY_POOL_INFO_ALLOC_MAX_SIZE, sizeof size, &size},
        {POOL_LOCATION, sizeof location, &location},
        {POOL_RECOMMENDED_GRANULE, sizeof recommended, &recommended},
    };
    return shim_find_fact(facts, SHIM_COUNT(facts), __func__, attribute, value);
}

/* The host never reaches memory of the device, as without a large BAR, so that the runtime copies with
 * packets and copies that wavemem sees. */
SHIM_API hsa_status_t hsa_amd_agent_memory_pool_get_info(hsa_agent_t agent, hsa_amd_memory_pool_t given,
                                                         hsa_amd_agent_memory_pool_info_t attribute,
                                                         void *value)
{
    hsa_agent_t owner;
    const struct pool *pool = find_pool(given, &owner);
    if (!shim_is_agent(agent))
        return HSA_STATUS_ERROR_INVALID_AGENT;
    if (!pool)
        return (hsa_status_t)HSA_STATUS_ERROR_INVALID_MEMORY_POOL;
    const bool own = owner.handle == agent.handle;
    const hsa_amd_memory_pool_access_t access = own ? HSA_AMD_MEMORY_POOL_ACCESS_ALLOWED_BY_DEFAULT
                                                : agent.handle == SHIM_CPU
                                                    ? HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED
                                                    : HSA_AMD_MEMORY_POOL_ACCESS_DISALLOWED_BY_DEFAULT;
    const uint32_t hops = !own;
    const hsa_amd_memory_pool_link_info_t link = {.atomic_support_32bit = true,
                                                  .atomic_support_64bit = true,
                                                  .coherent_support = true,
                                                  .link_type = HSA_AMD_LINK_INFO_TYPE_PCIE,
                                                  .numa_distance = 20};
    const struct shim_fact facts[] = {
        {HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS, sizeof(uint32_t), &access},
        {HSA_AMD_AGENT_MEMORY_POOL_INFO_NUM_LINK_HOPS, sizeof hops, &hops},
        {HSA_AMD_AGENT_MEMORY_POOL_INFO_LINK_INFO, own ? 0 : sizeof link, &link},
    };
    return shim_find_fact(facts, SHIM_COUNT(facts), __func__, attribute, value);
}
