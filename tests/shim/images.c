/* SPDX-License-Identifier: MIT */
/* Images and samplers of the replacement for libhsa-runtime64.so.1, called directly. hip/texture.hip reads
 * them. */
#include <setjmp.h> /* before cmocka.h, which needs these four */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <hsa/hsa_ext_image.h>
#include <stdlib.h>
#include <string.h>

#define OK(call)           assert_int_equal(call, HSA_STATUS_SUCCESS)
#define IS(call, expected) assert_int_equal((int)(call), (int)(expected))

enum { WIDTH = 20, HEIGHT = 6, LAYERS = 3, TEXEL = 4, LEVELS = 5 };

/* Newer than Debian's header: an image with levels. */
typedef struct {
    hsa_ext_image_descriptor_t plain;
    size_t levels;
} descriptor_v2;
hsa_status_t hsa_ext_image_data_get_info_v2(hsa_agent_t, const descriptor_v2 *, hsa_access_permission_t,
                                            hsa_ext_image_data_info_t *);
hsa_status_t hsa_ext_image_create_v2(hsa_agent_t, const descriptor_v2 *, const void *,
                                     hsa_access_permission_t, hsa_ext_image_t *);
hsa_status_t hsa_ext_image_destroy_v2(hsa_agent_t, hsa_ext_image_t);
hsa_status_t hsa_ext_image_mipmap_array_get_level(hsa_agent_t, const hsa_ext_image_t *, uint32_t,
                                                  const descriptor_v2 *, hsa_ext_image_t *);

static hsa_agent_t cpu, gpu;
static hsa_amd_memory_pool_t device;
static const hsa_access_permission_t RW = HSA_ACCESS_PERMISSION_RW;
static const hsa_ext_image_format_t rgba8 = {HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_INT8,
                                             HSA_EXT_IMAGE_CHANNEL_ORDER_RGBA};

static hsa_status_t note_agent(hsa_agent_t agent, void *data)
{
    hsa_device_type_t type;
    (void)data;
    OK(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type));
    *(type == HSA_DEVICE_TYPE_GPU ? &gpu : &cpu) = agent;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t note_pool(hsa_amd_memory_pool_t pool, void *data)
{
    hsa_amd_segment_t segment;
    (void)data;
    OK(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment));
    if (segment == HSA_AMD_SEGMENT_GLOBAL)
        device = pool;
    return HSA_STATUS_SUCCESS;
}

static int set_up(void **state)
{
    uint32_t mask;
    hsa_ext_sampler_t sampler;
    (void)state;
    IS(hsa_ext_image_get_capability((hsa_agent_t){2}, HSA_EXT_IMAGE_GEOMETRY_2D, &rgba8, &mask),
       HSA_STATUS_ERROR_NOT_INITIALIZED);
    IS(hsa_ext_sampler_create((hsa_agent_t){2}, NULL, &sampler), HSA_STATUS_ERROR_NOT_INITIALIZED);
    setenv("WAVEMEM_GPU", "vega64", 1);
    OK(hsa_init());
    OK(hsa_iterate_agents(note_agent, NULL));
    return (int)hsa_amd_agent_iterate_memory_pools(gpu, note_pool, NULL);
}

static hsa_ext_image_descriptor_t describe(hsa_ext_image_geometry_t geometry)
{
    return (hsa_ext_image_descriptor_t){.geometry = geometry,
                                        .width = WIDTH,
                                        .height = HEIGHT,
                                        .depth = LAYERS,
                                        .array_size = LAYERS,
                                        .format = rgba8};
}

static hsa_ext_image_t make(hsa_ext_image_geometry_t geometry, void **data)
{
    const hsa_ext_image_descriptor_t wanted = describe(geometry);
    hsa_ext_image_data_info_t info;
    hsa_ext_image_t image;
    OK(hsa_ext_image_data_get_info(gpu, &wanted, RW, &info));
    assert_true(info.size >= WIDTH * TEXEL);
    assert_int_equal(info.alignment & (info.alignment - 1), 0);
    OK(hsa_amd_memory_pool_allocate(device, info.size, 0, data));
    assert_int_equal((uintptr_t)*data % info.alignment, 0);
    OK(hsa_ext_image_create(gpu, &wanted, *data, RW, &image));
    return image;
}

static void destroy(hsa_ext_image_t image, void *data)
{
    OK(hsa_ext_image_destroy(gpu, image));
    IS(hsa_ext_image_destroy(gpu, image), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    OK(hsa_amd_memory_pool_free(data));
}

static void test_capabilities(void **state)
{
    static const hsa_ext_image_format_t others[] = {
        {HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_INT8, HSA_EXT_IMAGE_CHANNEL_ORDER_BGRA},
        {HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_INT24, HSA_EXT_IMAGE_CHANNEL_ORDER_DEPTH},
        {99, HSA_EXT_IMAGE_CHANNEL_ORDER_R},
        {HSA_EXT_IMAGE_CHANNEL_TYPE_FLOAT, 99},
    };
    uint32_t mask;
    bool supported = false;
    (void)state;
    OK(hsa_system_extension_supported(HSA_EXTENSION_IMAGES, 1, 0, &supported));
    assert_true(supported);
    OK(hsa_agent_extension_supported(HSA_EXTENSION_IMAGES, gpu, 1, 0, &supported));
    assert_true(supported);
    OK(hsa_agent_extension_supported(HSA_EXTENSION_IMAGES, cpu, 1, 0, &supported));
    assert_false(supported);
    OK(hsa_ext_image_get_capability(gpu, HSA_EXT_IMAGE_GEOMETRY_2D, &rgba8, &mask));
    assert_true(mask & HSA_EXT_IMAGE_CAPABILITY_READ_ONLY && mask & HSA_EXT_IMAGE_CAPABILITY_WRITE_ONLY);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        OK(hsa_ext_image_get_capability(gpu, HSA_EXT_IMAGE_GEOMETRY_2D, &others[i], &mask));
        assert_int_equal(mask, HSA_EXT_IMAGE_CAPABILITY_NOT_SUPPORTED);
    }
    IS(hsa_ext_image_get_capability(cpu, HSA_EXT_IMAGE_GEOMETRY_2D, &rgba8, &mask),
       HSA_STATUS_ERROR_INVALID_AGENT);
    hsa_ext_images_1_pfn_t table;
    OK(hsa_system_get_major_extension_table(HSA_EXTENSION_IMAGES, 1, sizeof table, &table));
    assert_ptr_equal(table.hsa_ext_image_create_with_layout, hsa_ext_image_create_with_layout);
    assert_ptr_equal(table.hsa_ext_sampler_destroy, hsa_ext_sampler_destroy);
}

/* Clears an image, imports a region, and exports all of it: region and rest are where they belong. */
static void check_contents(hsa_ext_image_geometry_t geometry, uint32_t height, uint32_t depth)
{
    void *data;
    const hsa_ext_image_t image = make(geometry, &data);
    const float colour[4] = {1, 0, 0.2f, 2}; /* 255, 0, 51; clamped to 255 */
    const hsa_ext_image_region_t all = {{0, 0, 0}, {WIDTH, height, depth}},
                                 part = {{3, height / 2, depth / 2}, {5, height - height / 2, 1}};
    static uint8_t in[5 * HEIGHT][TEXEL], out[LAYERS][HEIGHT][WIDTH][TEXEL];
    uint8_t(*row)[WIDTH][TEXEL] = &out[0][0];
    for (unsigned i = 0; i < sizeof in; i++)
        in[i / TEXEL][i % TEXEL] = (uint8_t)(i * 7 + 1);
    OK(hsa_ext_image_clear(gpu, image, colour, &all));
    OK(hsa_ext_image_import(gpu, in, 0, 0, image, &part));
    OK(hsa_ext_image_export(gpu, image, out, 0, 0, &all));
    for (uint32_t z = 0; z < depth; z++)
        for (uint32_t y = 0; y < height; y++)
            for (uint32_t x = 0; x < WIDTH; x++) {
                static const uint8_t cleared[TEXEL] = {255, 0, 51, 255};
                const bool inside = x - part.offset.x < 5 && y >= part.offset.y && z == part.offset.z;
                const uint8_t *expected = inside ? in[(y - part.offset.y) * 5 + x - part.offset.x] : cleared;
                assert_memory_equal(row[z * height + y][x], expected, TEXEL);
            }
    for (unsigned i = 0; i < 3; i++) { /* one texel too many, in each direction */
        hsa_ext_image_region_t outside = all;
        *(i == 0 ? &outside.range.x : i == 1 ? &outside.offset.y : &outside.range.z) += 1;
        IS(hsa_ext_image_export(gpu, image, out, 0, 0, &outside), HSA_STATUS_ERROR_INVALID_ARGUMENT);
        IS(hsa_ext_image_clear(gpu, image, colour, &outside), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    }
    IS(hsa_ext_image_export(gpu, image, out, WIDTH * TEXEL - 1, 0, &all), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    destroy(image, data);
    IS(hsa_ext_image_import(gpu, in, 0, 0, image, &part), HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

static void test_contents(void **state)
{
    (void)state;
    check_contents(HSA_EXT_IMAGE_GEOMETRY_1D, 1, 1);
    check_contents(HSA_EXT_IMAGE_GEOMETRY_2D, HEIGHT, 1);
    check_contents(HSA_EXT_IMAGE_GEOMETRY_3D, HEIGHT, LAYERS);
    check_contents(HSA_EXT_IMAGE_GEOMETRY_1DA, LAYERS, 1); /* its layers are in y */
    check_contents(HSA_EXT_IMAGE_GEOMETRY_2DA, HEIGHT, LAYERS);
}

/* A row of a plane to a layer of a volume. */
static void test_copies(void **state)
{
    void *plane_data, *volume_data;
    const hsa_ext_image_t plane = make(HSA_EXT_IMAGE_GEOMETRY_2D, &plane_data),
                          volume = make(HSA_EXT_IMAGE_GEOMETRY_3D, &volume_data);
    const hsa_ext_image_region_t row = {{0, 2, 0}, {WIDTH, 1, 1}}, target = {{1, 4, 2}, {WIDTH - 1, 1, 1}};
    const hsa_dim3_t offset = {1, 4, 2}, range = {WIDTH - 1, 1, 1}, too_wide = {WIDTH, 1, 1};
    uint8_t in[WIDTH * TEXEL], out[(WIDTH - 1) * TEXEL];
    (void)state;
    for (unsigned i = 0; i < sizeof in; i++)
        in[i] = (uint8_t)(i * 5);
    OK(hsa_ext_image_import(gpu, in, 0, 0, plane, &row));
    OK(hsa_ext_image_copy(gpu, plane, &row.offset, volume, &offset, &range));
    OK(hsa_ext_image_export(gpu, volume, out, 0, 0, &target));
    assert_memory_equal(out, in, sizeof out);
    IS(hsa_ext_image_copy(gpu, plane, &row.offset, volume, &offset, &too_wide),
       HSA_STATUS_ERROR_INVALID_ARGUMENT);
    destroy(plane, plane_data);
    destroy(volume, volume_data);
}

static void test_bad_arguments(void **state)
{
    hsa_ext_image_descriptor_t wanted = describe(HSA_EXT_IMAGE_GEOMETRY_2D);
    hsa_ext_image_data_info_t info;
    hsa_ext_image_t image;
    void *data;
    (void)state;
    OK(hsa_ext_image_data_get_info_with_layout(gpu, &wanted, RW, HSA_EXT_IMAGE_DATA_LAYOUT_LINEAR, 0, 0,
                                               &info));
    const size_t pitch = info.size / HEIGHT;
    OK(hsa_amd_memory_pool_allocate(device, info.size, 0, &data));
    IS(hsa_ext_image_create_with_layout(gpu, &wanted, data, RW, HSA_EXT_IMAGE_DATA_LAYOUT_LINEAR,
                                        pitch + TEXEL, 0, &image),
       HSA_EXT_STATUS_ERROR_IMAGE_PITCH_UNSUPPORTED);
    IS(hsa_ext_image_create_with_layout(gpu, &wanted, data, RW, HSA_EXT_IMAGE_DATA_LAYOUT_OPAQUE, pitch, 0,
                                        &image),
       HSA_STATUS_ERROR_INVALID_ARGUMENT);
    for (size_t more = 0; more <= 512; more += 256) {
        OK(hsa_ext_image_data_get_info_with_layout(gpu, &wanted, RW, HSA_EXT_IMAGE_DATA_LAYOUT_LINEAR,
                                                   pitch + more, 0, &info));
        assert_int_equal(info.size, (pitch + more) * HEIGHT);
        OK(hsa_ext_image_create_with_layout(gpu, &wanted, data, RW, HSA_EXT_IMAGE_DATA_LAYOUT_LINEAR,
                                            pitch + more, 0, &image));
        OK(hsa_ext_image_destroy(gpu, image));
    }
    IS(hsa_ext_image_create(gpu, &wanted, (char *)data + 4, RW, &image), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    IS(hsa_ext_image_create(gpu, &wanted, NULL, RW, &image), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    IS(hsa_ext_image_create(cpu, &wanted, data, RW, &image), HSA_STATUS_ERROR_INVALID_AGENT);
    wanted.width = (size_t)1 << 40;
    IS(hsa_ext_image_create(gpu, &wanted, data, RW, &image), HSA_EXT_STATUS_ERROR_IMAGE_SIZE_UNSUPPORTED);
    wanted.width = 16385;
    IS(hsa_ext_image_create(gpu, &wanted, data, RW, &image), HSA_EXT_STATUS_ERROR_IMAGE_SIZE_UNSUPPORTED);
    wanted = describe(HSA_EXT_IMAGE_GEOMETRY_2DDEPTH);
    IS(hsa_ext_image_create(gpu, &wanted, data, RW, &image), HSA_EXT_STATUS_ERROR_IMAGE_FORMAT_UNSUPPORTED);
    for (uint64_t wild = 0; wild < 3; wild++)
        IS(hsa_ext_image_destroy(gpu, (hsa_ext_image_t){wild * UINT64_C(0x123456789abcdef0)}),
           HSA_STATUS_ERROR_INVALID_ARGUMENT);
    OK(hsa_amd_memory_pool_free(data));
}

static void test_samplers(void **state)
{
    hsa_ext_sampler_descriptor_t wanted = {HSA_EXT_SAMPLER_COORDINATE_MODE_NORMALIZED,
                                           HSA_EXT_SAMPLER_FILTER_MODE_LINEAR,
                                           HSA_EXT_SAMPLER_ADDRESSING_MODE_REPEAT};
    hsa_ext_sampler_t sampler;
    (void)state;
    OK(hsa_ext_sampler_create(gpu, &wanted, &sampler));
    OK(hsa_ext_sampler_destroy(gpu, sampler));
    IS(hsa_ext_sampler_destroy(gpu, sampler), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    wanted.address_mode = 17;
    IS(hsa_ext_sampler_create(gpu, &wanted, &sampler), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    IS(hsa_ext_sampler_create(gpu, NULL, &sampler), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    IS(hsa_ext_sampler_create(cpu, &wanted, &sampler), HSA_STATUS_ERROR_INVALID_AGENT);
}

/* ---- levels, as HIP 7.15 makes them ---- */

static uint32_t halved(uint32_t size, unsigned level)
{
    return size >> level ? size >> level : 1;
}

static hsa_ext_image_region_t whole_level(unsigned level, uint32_t depth)
{
    return (hsa_ext_image_region_t){{0, 0, 0}, {halved(WIDTH, level), halved(HEIGHT, level), depth}};
}

/* Imports other bytes into a view of each level, then exports them again: no level overwrites another. */
static void check_levels(hsa_ext_image_geometry_t geometry, uint32_t layers)
{
    static uint8_t in[LEVELS][LAYERS * HEIGHT * WIDTH * TEXEL], out[LAYERS * HEIGHT * WIDTH * TEXEL];
    const descriptor_v2 wanted = {describe(geometry), LEVELS};
    hsa_ext_image_data_info_t plain, info;
    hsa_ext_image_t image, views[LEVELS];
    void *data;
    OK(hsa_ext_image_data_get_info_v2(gpu, &(descriptor_v2){wanted.plain, 0}, RW, &plain));
    OK(hsa_ext_image_data_get_info_v2(gpu, &wanted, RW, &info));
    assert_true(info.size > plain.size);
    OK(hsa_amd_memory_pool_allocate(device, info.size, 0, &data));
    OK(hsa_ext_image_create_v2(gpu, &wanted, data, RW, &image));
    for (unsigned i = 0; i < LEVELS; i++) {
        const bool volume = geometry == HSA_EXT_IMAGE_GEOMETRY_3D;
        const hsa_ext_image_region_t all = whole_level(i, volume ? halved(LAYERS, i) : layers);
        OK(hsa_ext_image_mipmap_array_get_level(gpu, &image, i, NULL, &views[i]));
        for (size_t k = 0; k < sizeof in[i]; k++)
            in[i][k] = (uint8_t)(k * 7 + 31 * i + k / 256);
        OK(hsa_ext_image_import(gpu, in[i], 0, 0, views[i], &all));
        hsa_ext_image_region_t outside = all;
        outside.range.x++;
        IS(hsa_ext_image_import(gpu, in[i], 0, 0, views[i], &outside), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    }
    for (unsigned i = 0; i < LEVELS; i++) {
        const bool volume = geometry == HSA_EXT_IMAGE_GEOMETRY_3D;
        const hsa_ext_image_region_t all = whole_level(i, volume ? halved(LAYERS, i) : layers);
        memset(out, 0, sizeof out);
        OK(hsa_ext_image_export(gpu, views[i], out, 0, 0, &all));
        assert_memory_equal(out, in[i], (size_t)TEXEL * all.range.x * all.range.y * all.range.z);
        OK(hsa_ext_image_destroy_v2(gpu, views[i]));
    }
    OK(hsa_ext_image_destroy_v2(gpu, image));
    OK(hsa_amd_memory_pool_free(data));
}

static void test_levels(void **state)
{
    (void)state;
    check_levels(HSA_EXT_IMAGE_GEOMETRY_2D, 1);
    check_levels(HSA_EXT_IMAGE_GEOMETRY_2DA, LAYERS);
    check_levels(HSA_EXT_IMAGE_GEOMETRY_3D, 0);
}

static void test_wrong_levels(void **state)
{
    (void)state;
    const hsa_ext_image_format_t r32 = {HSA_EXT_IMAGE_CHANNEL_TYPE_FLOAT, HSA_EXT_IMAGE_CHANNEL_ORDER_R},
                                 r16 = {HSA_EXT_IMAGE_CHANNEL_TYPE_HALF_FLOAT, HSA_EXT_IMAGE_CHANNEL_ORDER_R};
    descriptor_v2 wanted = {describe(HSA_EXT_IMAGE_GEOMETRY_2D), LEVELS + 1}, other;
    hsa_ext_image_data_info_t info;
    hsa_ext_image_t image, view, again;
    void *data;
    assert_int_not_equal(hsa_ext_image_data_get_info_v2(gpu, &wanted, RW, &info), HSA_STATUS_SUCCESS);
    wanted.levels = LEVELS;
    OK(hsa_ext_image_data_get_info_v2(gpu, &wanted, RW, &info));
    OK(hsa_amd_memory_pool_allocate(device, info.size, 0, &data));
    OK(hsa_ext_image_create_v2(gpu, &wanted, data, RW, &image));
    IS(hsa_ext_image_mipmap_array_get_level(gpu, &image, LEVELS, NULL, &view),
       HSA_STATUS_ERROR_INVALID_ARGUMENT);
    IS(hsa_ext_image_mipmap_array_get_level(gpu, &image, 0, NULL, NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    OK(hsa_ext_image_mipmap_array_get_level(gpu, &image, 1, NULL, &view));
    IS(hsa_ext_image_mipmap_array_get_level(gpu, &view, 0, NULL, &again), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    other = wanted;
    other.plain.format = r16; /* of another size */
    assert_int_not_equal(hsa_ext_image_mipmap_array_get_level(gpu, &image, 1, &other, &again),
                         HSA_STATUS_SUCCESS);
    other.plain.format = r32;
    OK(hsa_ext_image_mipmap_array_get_level(gpu, &image, 1, &other, &again));
    OK(hsa_ext_image_destroy(gpu, again));
    OK(hsa_ext_image_destroy(gpu, view));
    OK(hsa_ext_image_destroy(gpu, image));
    OK(hsa_amd_memory_pool_free(data));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_capabilities),  cmocka_unit_test(test_contents), cmocka_unit_test(test_copies),
        cmocka_unit_test(test_bad_arguments), cmocka_unit_test(test_samplers), cmocka_unit_test(test_levels),
        cmocka_unit_test(test_wrong_levels),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
