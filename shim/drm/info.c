/* SPDX-License-Identifier: MIT */
/* DRM_IOCTL_AMDGPU_INFO: what a device says about itself. Source: linux, amdgpu_kms.c, amdgpu_info_ioctl().
 */
#include "shim/drm/drm.h"

#include <errno.h>

#define PAGES(bytes) ((bytes) / DRM_PAGE * DRM_PAGE)

/* Of the clock that timestamps are taken from, as GPUs have it since gfx9; kHz. */
enum { COUNTER_KHZ = 100000 };

uint64_t drm_timestamp(void)
{
    return shim_now() / (1000000 / COUNTER_KHZ);
}

uint32_t drm_device_number(const struct drm_device *device)
{
    const struct wm_gpu *product = device->gpu.product;
    const bool is_own = !strncmp(product->targets, device->gpu.target, strcspn(product->targets, " "));
    return is_own && product->chip ? product->chip : device->chip->device;
}

uint64_t drm_heap_bytes(const struct drm_device *device, unsigned heap)
{
    const uint64_t bytes = device->gpu.product->memory_bytes;
    return heap == DRM_VRAM && bytes ? bytes : UINT64_C(8) << 30;
}

static uint32_t address_config(const struct drm_device *device)
{
    const uint32_t own = device->gpu.product->address_config;
    return own ? own : device->chip->address_config;
}

/* Compute units are spread evenly: the first engines and arrays have one more where that does not come out.
 */
static unsigned units_of(const struct drm_device *device, unsigned engine, unsigned array)
{
    const unsigned arrays = device->chip->engines * device->chip->arrays;
    const unsigned all = device->gpu.product->compute_units / device->gpu.product->xcds;
    const unsigned pairs = device->chip->generation->array_units;
    const unsigned number = array * device->chip->engines + engine;
    const unsigned groups = all / pairs;
    return (groups / arrays + (number < groups % arrays)) * pairs;
}

static void describe(const struct drm_device *device, struct drm_amdgpu_info_device *d)
{
    const struct wm_gpu *product = device->gpu.product;
    const struct drm_chip *chip = device->chip;
    *d = (struct drm_amdgpu_info_device){
        .device_id = drm_device_number(device),
        .external_rev = chip->external_rev,
        .family = chip->family,
        .num_shader_engines = chip->engines,
        .num_shader_arrays_per_engine = chip->arrays,
        .gpu_counter_freq = COUNTER_KHZ,
        .max_engine_clock = product->clock_mhz * 1000,
        .max_memory_clock = (product->memory_mhz ? product->memory_mhz : 1000) * 1000,
        .num_rb_pipes = chip->backends,
        .enabled_rb_pipes_mask = chip->backends < 32 ? (1u << chip->backends) - 1 : UINT32_MAX,
        .num_hw_gfx_contexts = 8,
        .ids_flags = product->apu ? AMDGPU_IDS_FLAGS_FUSION : 0,
        .virtual_address_offset = 2 << 20,
        .virtual_address_max = UINT64_C(1) << chip->generation->address_bits,
        .virtual_address_alignment = DRM_PAGE,
        .pte_fragment_size = 2 << 20,
        .gart_page_size = DRM_PAGE,
        .ce_ram_size = 32768,
        .vram_type = chip->memory_type,
        .vram_bit_width = product->memory_bits,
        .gc_double_offchip_lds_buf = 1,
        .wave_front_size = chip->generation->wave_lanes,
        .num_shader_visible_vgprs = product->vgprs,
        .num_cu_per_sh = units_of(device, 0, 0),
        .num_tcc_blocks = chip->channels,
        .gs_vgt_table_depth = 32,
        .gs_prim_buffer_depth = 1792,
        .max_gs_waves_per_vgt = 32,
    };
    for (unsigned engine = 0; engine < chip->engines; engine++)
        for (unsigned array = 0; array < chip->arrays; array++) {
            const unsigned units = units_of(device, engine, array);
            d->cu_active_number += units;
            d->cu_bitmap[engine % 4][engine / 4 * 2 + array] = (1u << units) - 1;
        }
    memcpy(d->cu_ao_bitmap, d->cu_bitmap, sizeof d->cu_ao_bitmap);
}

static void describe_memory(const struct drm_device *device, struct drm_amdgpu_memory_info *info)
{
    const uint64_t vram = drm_heap_bytes(device, DRM_VRAM), gtt = drm_heap_bytes(device, DRM_GTT);
    info->vram = (struct drm_amdgpu_heap_info){vram, vram, device->used[DRM_VRAM], vram / 4 * 3};
    info->cpu_accessible_vram = info->vram;
    info->gtt = (struct drm_amdgpu_heap_info){gtt, gtt, device->used[DRM_GTT], gtt / 4 * 3};
}

static void describe_block(const struct drm_device *device, unsigned type,
                           struct drm_amdgpu_info_hw_ip *block)
{
    static const struct {
        uint32_t rings, start, size;
    } blocks[] = {[AMDGPU_HW_IP_GFX] = {1, 32, 32},
                  [AMDGPU_HW_IP_COMPUTE] = {15, 32, 32},
                  [AMDGPU_HW_IP_DMA] = {3, 256, 4}};
    *block = (struct drm_amdgpu_info_hw_ip){0};
    if (type >= SHIM_COUNT(blocks))
        return; /* none of this type: no rings */
    block->hw_ip_version_major = device->chip->generation->major;
    block->hw_ip_version_minor = device->chip->minor;
    block->ib_start_alignment = blocks[type].start;
    block->ib_size_alignment = blocks[type].size;
    block->available_rings = blocks[type].rings;
}

/* Registers that drivers read to learn how images are tiled and which backends there are. */
static int read_register(const struct drm_device *device, uint32_t number, uint32_t *value)
{
    enum {
        RB_DISABLE = 0x263d,
        GB_ADDR_CONFIG,
        GB_TILE_MODE0 = 0x2644,
        GB_MACROTILE_MODE0 = 0x2664,
        MC_ARB_RAMCFG = 0x9d8,
        RASTER_CONFIG = 0xa0d4,
        RASTER_CONFIG_1,
    };
    uint32_t tile[WM_TILE_MODES] = {0}, macro[WM_MACRO_TILE_MODES] = {0};
    wm_gpu_tile_modes(device->gpu.product, tile, macro);
    *value = 0;
    if (number == GB_ADDR_CONFIG)
        *value = address_config(device);
    else if (number - GB_TILE_MODE0 < WM_TILE_MODES)
        *value = tile[number - GB_TILE_MODE0];
    else if (number - GB_MACROTILE_MODE0 < WM_MACRO_TILE_MODES)
        *value = macro[number - GB_MACROTILE_MODE0];
    else if (number != RB_DISABLE && number != MC_ARB_RAMCFG && number != RASTER_CONFIG &&
             number != RASTER_CONFIG_1)
        return -EINVAL;
    return 0;
}

/* Copies what fits, as the kernel does. */
static int give(const struct drm_amdgpu_info *info, const void *bytes, size_t size)
{
    if (!info->return_pointer || !info->return_size)
        return -EINVAL;
    memcpy((void *)(uintptr_t)info->return_pointer, bytes,
           size < info->return_size ? size : info->return_size);
    return 0;
}

static int give_registers(const struct drm_device *device, const struct drm_amdgpu_info *info)
{
    enum { MOST = 128 };
    uint32_t values[MOST];
    const uint32_t count = info->read_mmr_reg.count;
    if (!count || count > MOST)
        return -EINVAL;
    for (uint32_t i = 0; i < count; i++)
        if (read_register(device, info->read_mmr_reg.dword_offset + i, &values[i]))
            return -EINVAL;
    return give(info, values, count * sizeof *values);
}

static int give_firmware(const struct drm_amdgpu_info *info)
{
    struct drm_amdgpu_info_firmware firmware = {0};
    switch (info->query_fw.fw_type) {
    case AMDGPU_INFO_FW_GFX_ME:
    case AMDGPU_INFO_FW_GFX_PFP:
    case AMDGPU_INFO_FW_GFX_MEC:
        firmware = (struct drm_amdgpu_info_firmware){100, 60}; /* later than what drivers test for */
    }
    return give(info, &firmware, sizeof firmware);
}

int drm_info(struct drm_device *device, const struct drm_amdgpu_info *info)
{
    union {
        uint32_t word;
        uint64_t number;
        struct drm_amdgpu_info_device device;
        struct drm_amdgpu_memory_info memory;
        struct drm_amdgpu_info_hw_ip block;
        struct drm_amdgpu_info_vram_gtt heaps;
        struct drm_amdgpu_info_gds gds;
    } u = {0};
    int result = 0;
    pthread_mutex_lock(&drm_lock);
    switch (info->query) {
    case AMDGPU_INFO_ACCEL_WORKING:
        u.word = 1;
        result = give(info, &u, sizeof u.word);
        break;
    case AMDGPU_INFO_HW_IP_INFO:
        describe_block(device, info->query_hw_ip.type, &u.block);
        result = info->query_hw_ip.ip_instance ? -EINVAL : give(info, &u, sizeof u.block);
        break;
    case AMDGPU_INFO_HW_IP_COUNT:
        describe_block(device, info->query_hw_ip.type, &u.block);
        u.word = u.block.available_rings != 0;
        result = give(info, &u, sizeof u.word);
        break;
    case AMDGPU_INFO_TIMESTAMP:
        u.number = drm_timestamp();
        result = give(info, &u, sizeof u.number);
        break;
    case AMDGPU_INFO_FW_VERSION:
        result = give_firmware(info);
        break;
    case AMDGPU_INFO_VRAM_USAGE:
    case AMDGPU_INFO_VIS_VRAM_USAGE:
        u.number = device->used[DRM_VRAM];
        result = give(info, &u, sizeof u.number);
        break;
    case AMDGPU_INFO_GTT_USAGE:
        u.number = device->used[DRM_GTT];
        result = give(info, &u, sizeof u.number);
        break;
    case AMDGPU_INFO_NUM_BYTES_MOVED:
    case AMDGPU_INFO_NUM_EVICTIONS:
    case AMDGPU_INFO_NUM_VRAM_CPU_PAGE_FAULTS:
        result = give(info, &u, sizeof u.number);
        break;
    case AMDGPU_INFO_VRAM_LOST_COUNTER:
        result = give(info, &u, sizeof u.word);
        break;
    case AMDGPU_INFO_GDS_CONFIG:
        result = give(info, &u, sizeof u.gds);
        break;
    case AMDGPU_INFO_VRAM_GTT:
        u.heaps = (struct drm_amdgpu_info_vram_gtt){drm_heap_bytes(device, DRM_VRAM),
                                                    drm_heap_bytes(device, DRM_VRAM),
                                                    drm_heap_bytes(device, DRM_GTT)};
        result = give(info, &u, sizeof u.heaps);
        break;
    case AMDGPU_INFO_READ_MMR_REG:
        result = give_registers(device, info);
        break;
    case AMDGPU_INFO_DEV_INFO:
        describe(device, &u.device);
        result = give(info, &u, sizeof u.device);
        break;
    case AMDGPU_INFO_MEMORY:
        describe_memory(device, &u.memory);
        result = give(info, &u, sizeof u.memory);
        break;
    default: /* sensors, video, later kernels' queries: drivers do without */
        result = -EINVAL;
    }
    pthread_mutex_unlock(&drm_lock);
    return result;
}
