/* SPDX-License-Identifier: MIT */
/* The devices: made by the first call, one for each GPU that the environment names. */
#include "shim/drm/drm.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_BYTES (UINT64_C(64) << 30) /* sparse */

enum { FIRST_NODE = 128, NODES = 64 }; /* /dev/dri/renderD128 and those behind it */

/* Generations of graphics blocks. Sources: linux, amdgpu_vm.h (addresses); Mesa, sid.h and ac_gpu_info.c;
 * LLVM AMDGPUUsage, "Kernel Descriptor" and "Initial Kernel Execution State". */
#define GENERATION(number, ...)                                                                              \
    static const struct drm_generation gfx##number = {.major = number, __VA_ARGS__}
#define GFX6_TO_9  .wave_lanes = 64, .array_units = 1, .scratch_granule = 1024, .scratch_mask = 0x1fff
#define GFX7_TO_10 .has_compute_processor = true, .statistics = 11
#define GFX10_ON                                                                                             \
    .address_bits = 47, .wave_lanes = 32, .has_wave32 = true, .array_units = 2, .lds_granule = 512,          \
    .dma_bytes = 0x3ffffff
#define GFX11_ON                                                                                             \
    .has_scratch_base = true, .scratch_granule = 256, .scratch_mask = 0x7fff, .packs_ids = true,             \
    .has_compute_processor = true, .statistics = 14
GENERATION(6, GFX6_TO_9, .address_bits = 40, .lds_granule = 256, .dma_bytes = 0x1fffff, .statistics = 11);
GENERATION(7, GFX6_TO_9, GFX7_TO_10, .address_bits = 40, .lds_granule = 512, .dma_bytes = 0x1fffff);
GENERATION(8, GFX6_TO_9, GFX7_TO_10, .address_bits = 40, .lds_granule = 512, .dma_bytes = 0x1fffff);
GENERATION(9, GFX6_TO_9, GFX7_TO_10, .address_bits = 47, .lds_granule = 512, .dma_bytes = 0x3ffffff);
GENERATION(10, GFX10_ON, GFX7_TO_10, .scratch_granule = 1024, .scratch_mask = 0x1fff);
GENERATION(11, GFX10_ON, GFX11_ON);
GENERATION(12, GFX10_ON, GFX11_ON, .has_group_ttmps = true);

/* Family and revision: linux, amdgpu_drm.h, and Mesa's amd_family.h and addrlib (amdgpu_asic_addr.h), which
 * find the chip by them. RADV 22.3 takes all up to gfx1102 for the chip that is meant; it does not know the
 * later ones, which Mesa 25 does. Unverified: engines, arrays, channels and backends, and GB_ADDR_CONFIG of
 * gfx6 and gfx7. GB_ADDR_CONFIG counts where struct wm_gpu has none; 0: unknown, and only linear images work.
 */
static const struct drm_chip chips[] = {
    {"gfx600 gfx601 gfx602", 0, AMDGPU_FAMILY_SI, 5, &gfx6, 0, 2, 2, 0x6798, 12, 8, AMDGPU_VRAM_TYPE_GDDR5,
     0x12011003},
    {"gfx700 gfx701 gfx702", 0, AMDGPU_FAMILY_CI, 40, &gfx7, 2, 4, 1, 0x67b0, 16, 16, AMDGPU_VRAM_TYPE_GDDR5,
     0x12011003},
    {"gfx803", 0x7300, AMDGPU_FAMILY_VI, 60, &gfx8, 0, 4, 1, 0x7300, 16, 16, AMDGPU_VRAM_TYPE_HBM,
     0x22011003},
    {"gfx801 gfx802 gfx803 gfx805 gfx810", 0, AMDGPU_FAMILY_VI, 80, &gfx8, 0, 4, 1, 0x67df, 16, 8,
     AMDGPU_VRAM_TYPE_GDDR5, 0x22011003},
    {"gfx900", 0, AMDGPU_FAMILY_AI, 1, &gfx9, 0, 4, 1, 0x687f, 16, 16, AMDGPU_VRAM_TYPE_HBM, 0x2a114042},
    {"gfx904", 0, AMDGPU_FAMILY_AI, 20, &gfx9, 0, 4, 1, 0x69a0, 16, 16, AMDGPU_VRAM_TYPE_HBM, 0x2a114042},
    {"gfx906", 0, AMDGPU_FAMILY_AI, 40, &gfx9, 0, 4, 1, 0x66af, 16, 16, AMDGPU_VRAM_TYPE_HBM, 0x2a114042},
    {"gfx1012", 0, AMDGPU_FAMILY_NV, 20, &gfx10, 1, 1, 2, 0x7340, 8, 8, AMDGPU_VRAM_TYPE_GDDR6, 0},
    {"gfx1010 gfx1011", 0, AMDGPU_FAMILY_NV, 1, &gfx10, 1, 2, 2, 0x731f, 16, 16, AMDGPU_VRAM_TYPE_GDDR6,
     0x00100044},
    {"gfx1031", 0, AMDGPU_FAMILY_NV, 50, &gfx10, 3, 2, 2, 0x73df, 12, 8, AMDGPU_VRAM_TYPE_GDDR6, 0},
    {"gfx1032", 0, AMDGPU_FAMILY_NV, 60, &gfx10, 3, 2, 2, 0x73ff, 8, 8, AMDGPU_VRAM_TYPE_GDDR6, 0},
    {"gfx1030", 0, AMDGPU_FAMILY_NV, 40, &gfx10, 3, 4, 2, 0x73bf, 16, 16, AMDGPU_VRAM_TYPE_GDDR6, 0x00000444},
    {"gfx1101", 0, 145, 32, &gfx11, 0, 3, 2, 0x747e, 16, 12, AMDGPU_VRAM_TYPE_GDDR6, 0},
    {"gfx1102", 0, 145, 16, &gfx11, 0, 2, 2, 0x7480, 16, 8, AMDGPU_VRAM_TYPE_GDDR6, 0},
    {"gfx1100", 0, 145, 1, &gfx11, 0, 6, 2, 0x744c, 24, 24, AMDGPU_VRAM_TYPE_GDDR6, 0x00000545},
    {"gfx1103", 0, 148, 1, &gfx11, 0, 2, 2, 0x15bf, 16, 8, AMDGPU_VRAM_TYPE_GDDR6, 0},
    {"gfx1150", 0, 150, 1, &gfx11, 5, 1, 2, 0x150e, 16, 8, AMDGPU_VRAM_TYPE_GDDR6, 0x00000242},
    {"gfx1151", 0, 150, 0xc1, &gfx11, 5, 2, 2, 0x1586, 16, 16, AMDGPU_VRAM_TYPE_GDDR6, 0},
    {"gfx1200", 0, 152, 0x40, &gfx12, 0, 2, 2, 0x7590, 16, 16, AMDGPU_VRAM_TYPE_GDDR6, 0x08200444},
    {"gfx1201", 0, 152, 0x50, &gfx12, 0, 4, 2, 0x7550, 16, 16, AMDGPU_VRAM_TYPE_GDDR6, 0x08200444},
};

pthread_mutex_t drm_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t drm_changed;

static struct drm_device devices[SHIM_GPUS];
static unsigned count; /* atomic: files are asked about before the devices are made */
static bool is_child;  /* of a process that had made them */

/* Whether the word is one of a list's. */
static bool has_word(const char *list, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = list; (at = strstr(at, word)); at += length)
        if ((at == list || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
            return true;
    return false;
}

static const struct drm_chip *find_chip(const char *target, uint32_t number)
{
    for (size_t i = 0; i < SHIM_COUNT(chips); i++)
        if (has_word(chips[i].targets, target) && (!chips[i].chip || chips[i].chip == number))
            return &chips[i];
    return NULL;
}

static bool make_file(struct drm_device *device)
{
    struct stat status;
    device->file = memfd_create("wavemem-drm", MFD_CLOEXEC);
    if (device->file < 0 || ftruncate(device->file, (off_t)FILE_BYTES) || fstat(device->file, &status))
        return false;
    void *base = mmap(NULL, FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, device->file, 0);
    device->base = base == MAP_FAILED ? NULL : base;
    device->file_device = status.st_dev;
    device->file_node = status.st_ino;
    return device->base && drm_ranges_begin(device, FILE_BYTES);
}

/* wanted: number of the product among those that the environment names. */
static bool make(struct drm_device *device, const struct wm_gpu *product, unsigned wanted, unsigned number)
{
    struct wm_diag diag = {0};
    *device = (struct drm_device){.gpu = {.product = product, .number = number}};
    shim_choose_target(product, wanted, device->gpu.target);
    device->chip = find_chip(device->gpu.target, product->chip);
    if (!device->chip) {
        shim_complain(
            "Vulkan and OpenCL: Mesa has no driver for %s (%s); expected a gfx6 to gfx12 GPU with graphics",
            product->name, device->gpu.target);
        return false;
    }
    if (wm_machine_create(device->gpu.target, &device->gpu.machine, &diag)) {
        shim_complain("%s", diag.message);
        return false;
    }
    if (!make_file(device)) {
        shim_complain("Vulkan and OpenCL: no memory for %s: %s", product->name, strerror(errno));
        return false;
    }
    return true;
}

/* The lock and the threads are the parent's. */
static void lose_devices(void)
{
    is_child = count > 0;
}

static void make_all(void)
{
    const struct wm_gpu *products[SHIM_GPUS];
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&drm_changed, &attributes);
    const unsigned wanted = shim_find_products(products);
    shim_settings_begin();
    unsigned made = 0;
    for (unsigned i = 0; i < wanted; i++)
        made += make(&devices[made], products[i], i, made);
    if (!made)
        return;
    pthread_atfork(NULL, NULL, lose_devices);
    shim_results_begin();
    shim_launches_begin();
    shim_observe_begin();
    for (unsigned i = 0; i < made; i++)
        shim_observe_gpu(&devices[i].gpu);
    __atomic_store_n(&count, made, __ATOMIC_RELEASE);
}

unsigned drm_device_count(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_all);
    return is_child ? 0 : count;
}

struct drm_device *drm_device(unsigned number)
{
    return number < drm_device_count() ? &devices[number] : NULL;
}

struct drm_device *drm_device_of(int file)
{
    struct stat status;
    const unsigned made = __atomic_load_n(&count, __ATOMIC_ACQUIRE);
    if (!made || fstat(file, &status))
        return NULL;
    for (unsigned i = 0; i < made; i++)
        if (devices[i].file_device == status.st_dev && devices[i].file_node == status.st_ino)
            return is_child ? NULL : &devices[i];
    return NULL;
}

int drm_device_open(const struct drm_device *device, int flags)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", device->file);
    return openat(AT_FDCWD, path, O_RDWR | (flags & O_CLOEXEC));
}

bool drm_is_node(const char *path, unsigned *number)
{
    static const char stem[] = "/dev/dri/renderD";
    char *end;
    if (strncmp(path, stem, sizeof stem - 1))
        return false;
    const unsigned long node = strtoul(path + sizeof stem - 1, &end, 10);
    if (*end || node < FIRST_NODE || node >= FIRST_NODE + NODES)
        return false;
    *number = (unsigned)node - FIRST_NODE;
    return true;
}
