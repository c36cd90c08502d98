/* SPDX-License-Identifier: MIT */
/* Images and samplers. Images are linear, whatever layout the program requests. The handles of both are
 * addresses of their descriptors in memory that kernels read, as the compilers' device libraries expect.
 * Source: HSA Runtime Programmer's Reference Manual 1.2, section 3.2; hsa_ext_image.h. */
#include "images.h"

#include <pthread.h>
#include <stdlib.h>

/* layout, width: of the first level that kernels see, which lies `offset` bytes behind the address. */
struct image {
    struct image *next;
    uint64_t handle;
    struct wm_image made;
    struct wm_image_layout layout;
    uint64_t offset;
    uint32_t width;
};

struct sampler {
    struct sampler *next;
    uint64_t handle;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards what follows */
static struct image *images;
static struct sampler *samplers;

/* ---- formats ---- */

/* number: as wm_format_store() calls it. */
static const struct component {
    enum wm_image_type type;
    uint8_t bytes; /* 0: there is no such image */
    const char *number;
} components[] = {
    [HSA_EXT_IMAGE_CHANNEL_TYPE_SNORM_INT8] = {WM_IMAGE_SNORM8, 1, "SNORM"},
    [HSA_EXT_IMAGE_CHANNEL_TYPE_SNORM_INT16] = {WM_IMAGE_SNORM16, 2, "SNORM"},
    [HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_INT8] = {WM_IMAGE_UNORM8, 1, "UNORM"},
    [HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_INT16] = {WM_IMAGE_UNORM16, 2, "UNORM"},
    [HSA_EXT_IMAGE_CHANNEL_TYPE_SIGNED_INT8] = {WM_IMAGE_I8, 1, "SINT"},
    [HSA_EXT_IMAGE_CHANNEL_TYPE_SIGNED_INT16] = {WM_IMAGE_I16, 2, "SINT"},
    [HSA_EXT_IMAGE_CHANNEL_TYPE_SIGNED_INT32] = {WM_IMAGE_I32, 4, "SINT"},
    [HSA_EXT_IMAGE_CHANNEL_TYPE_UNSIGNED_INT8] = {WM_IMAGE_U8, 1, "UINT"},
    [HSA_EXT_IMAGE_CHANNEL_TYPE_UNSIGNED_INT16] = {WM_IMAGE_U16, 2, "UINT"},
    [HSA_EXT_IMAGE_CHANNEL_TYPE_UNSIGNED_INT32] = {WM_IMAGE_U32, 4, "UINT"},
    [HSA_EXT_IMAGE_CHANNEL_TYPE_HALF_FLOAT] = {WM_IMAGE_F16, 2, "FLOAT"},
    [HSA_EXT_IMAGE_CHANNEL_TYPE_FLOAT] = {WM_IMAGE_F32, 4, "FLOAT"},
};

/* layouts: of components with 1, 2 and 4 bytes, as wm_format_store() calls them. */
static const struct order {
    uint8_t components; /* 0: there is no such image */
    const char *layouts[5];
} orders[] = {
    [HSA_EXT_IMAGE_CHANNEL_ORDER_R] = {1, {[1] = "8", [2] = "16", [4] = "32"}},
    [HSA_EXT_IMAGE_CHANNEL_ORDER_RG] = {2, {[1] = "8_8", [2] = "16_16", [4] = "32_32"}},
    [HSA_EXT_IMAGE_CHANNEL_ORDER_RGBA] = {4, {[1] = "8_8_8_8", [2] = "16_16_16_16", [4] = "32_32_32_32"}},
};

static const struct geometry {
    bool supported;
    enum wm_image_geometry geometry;
} geometries[] = {
    [HSA_EXT_IMAGE_GEOMETRY_1D] = {true, WM_IMAGE_1D},
    [HSA_EXT_IMAGE_GEOMETRY_2D] = {true, WM_IMAGE_2D},
    [HSA_EXT_IMAGE_GEOMETRY_3D] = {true, WM_IMAGE_3D},
    [HSA_EXT_IMAGE_GEOMETRY_1DA] = {true, WM_IMAGE_1D_ARRAY},
    [HSA_EXT_IMAGE_GEOMETRY_2DA] = {true, WM_IMAGE_2D_ARRAY},
    [HSA_EXT_IMAGE_GEOMETRY_1DB] = {true, WM_IMAGE_1D_BUFFER},
};

static bool has_format(uint32_t geometry, const hsa_ext_image_format_t *format)
{
    return geometry < SHIM_COUNT(geometries) && geometries[geometry].supported &&
           format->channel_type < SHIM_COUNT(components) && components[format->channel_type].bytes &&
           format->channel_order < SHIM_COUNT(orders) && orders[format->channel_order].components;
}

/* ---- descriptors ---- */

static hsa_status_t check(hsa_agent_t agent, const void *argument, const void *other)
{
    if (!shim_device())
        return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (shim_gpu(agent) < 0)
        return HSA_STATUS_ERROR_INVALID_AGENT;
    return argument && other ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

static bool fits(size_t size)
{
    return size <= UINT32_MAX;
}

static const char *target_of(hsa_agent_t agent)
{
    return shim_device()->gpus[shim_gpu(agent)].target;
}

/* Moves the layout from level 0 to the first level of the view. */
static enum wm_status find_level(const char *target, const uint32_t *words, struct image *image,
                                 struct wm_diag *diag)
{
    struct wm_surface *surface;
    const enum wm_status status = wm_surface_of_image(target, NULL, words, &surface, NULL, diag);
    if (status)
        return status;
    const struct wm_surface_level *level = &wm_surface_layout(surface)->level[image->made.first_level];
    image->offset = level->offset;
    image->width = level->width;
    image->layout.row = level->pitch * image->layout.texel;
    image->layout.rows = level->height;
    if (image->made.geometry == WM_IMAGE_3D)
        image->layout.slices = level->depth;
    wm_surface_destroy(surface);
    return WM_OK;
}

/* Makes the words of `image->made`. `row` and `slice`: bytes that the program chose; 0: any. */
static hsa_status_t describe_made(hsa_agent_t agent, size_t row, size_t slice, struct image *image,
                                  uint32_t words[WM_IMAGE_WORDS])
{
    struct wm_diag diag = {0};
    const char *target = target_of(agent);
    enum wm_status status = wm_image_describe(target, &image->made, words, &image->layout, &diag);
    image->offset = 0;
    image->width = image->made.width;
    if (!status && image->made.first_level)
        status = find_level(target, words, image, &diag);
    if (status) {
        shim_complain("image: %s", diag.message);
        return status == WM_BAD_ARGUMENT ? (hsa_status_t)HSA_EXT_STATUS_ERROR_IMAGE_SIZE_UNSUPPORTED
                                         : (hsa_status_t)HSA_EXT_STATUS_ERROR_IMAGE_FORMAT_UNSUPPORTED;
    }
    const bool rows = image->layout.rows > 1 || image->layout.slices > 1;
    bool fits_rows = row >= image->layout.row || !row;
    if (rows && row && row != image->layout.row) {
        image->made.row = row;
        fits_rows = !wm_image_describe(target, &image->made, words, &image->layout, &diag);
    }
    if (!fits_rows || (slice && image->layout.slices > 1 && slice != image->layout.slice)) {
        shim_complain("image: pitches of %zu and %zu bytes; expected %llu and %llu", row, slice,
                      (unsigned long long)image->layout.row, (unsigned long long)image->layout.slice);
        return (hsa_status_t)HSA_EXT_STATUS_ERROR_IMAGE_PITCH_UNSUPPORTED;
    }
    return HSA_STATUS_SUCCESS;
}

/* What a program requests of an image. row, slice: see describe_made(). */
struct request {
    const hsa_ext_image_descriptor_t *given;
    size_t row, slice, levels;
};

static hsa_status_t describe(hsa_agent_t agent, const struct request *request, uint64_t address,
                             struct image *image, uint32_t words[WM_IMAGE_WORDS])
{
    const hsa_ext_image_descriptor_t *given = request->given;
    if (!has_format(given->geometry, &given->format))
        return (hsa_status_t)HSA_EXT_STATUS_ERROR_IMAGE_FORMAT_UNSUPPORTED;
    const enum wm_image_geometry geometry = geometries[given->geometry].geometry;
    const bool array = geometry == WM_IMAGE_1D_ARRAY || geometry == WM_IMAGE_2D_ARRAY;
    const size_t depth = array ? given->array_size : given->depth;
    if (!fits(given->width) || !fits(given->height) || !fits(depth) || !fits(request->levels))
        return (hsa_status_t)HSA_EXT_STATUS_ERROR_IMAGE_SIZE_UNSUPPORTED;
    if (address % WM_IMAGE_ALIGNMENT)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    image->made = (struct wm_image){.struct_size = sizeof image->made,
                                    .geometry = geometry,
                                    .type = components[given->format.channel_type].type,
                                    .components = orders[given->format.channel_order].components,
                                    .width = (uint32_t)given->width,
                                    .height = (uint32_t)given->height,
                                    .depth = (uint32_t)depth,
                                    .address = address,
                                    .levels = (uint32_t)request->levels};
    return describe_made(agent, request->row, request->slice, image, words);
}

SHIM_API hsa_status_t hsa_ext_image_get_capability(hsa_agent_t agent, hsa_ext_image_geometry_t geometry,
                                                   const hsa_ext_image_format_t *format, uint32_t *mask)
{
    const hsa_status_t status = check(agent, format, mask);
    if (status)
        return status;
    *mask = has_format(geometry, format)
                ? HSA_EXT_IMAGE_CAPABILITY_READ_ONLY | HSA_EXT_IMAGE_CAPABILITY_WRITE_ONLY |
                      HSA_EXT_IMAGE_CAPABILITY_READ_WRITE |
                      HSA_EXT_IMAGE_CAPABILITY_ACCESS_INVARIANT_DATA_LAYOUT
                : HSA_EXT_IMAGE_CAPABILITY_NOT_SUPPORTED;
    return HSA_STATUS_SUCCESS;
}

SHIM_API hsa_status_t hsa_ext_image_get_capability_with_layout(hsa_agent_t agent,
                                                               hsa_ext_image_geometry_t geometry,
                                                               const hsa_ext_image_format_t *format,
                                                               hsa_ext_image_data_layout_t layout,
                                                               uint32_t *mask)
{
    return layout == HSA_EXT_IMAGE_DATA_LAYOUT_LINEAR
               ? hsa_ext_image_get_capability(agent, geometry, format, mask)
               : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

static hsa_status_t data_info(hsa_agent_t agent, struct request request, hsa_ext_image_data_info_t *info)
{
    struct image image;
    uint32_t words[WM_IMAGE_WORDS];
    hsa_status_t status = check(agent, request.given, info);
    if (!status)
        status = describe(agent, &request, 0, &image, words);
    if (!status)
        *info = (hsa_ext_image_data_info_t){.size = image.layout.bytes, .alignment = WM_IMAGE_ALIGNMENT};
    return status;
}

SHIM_API hsa_status_t hsa_ext_image_data_get_info(hsa_agent_t agent, const hsa_ext_image_descriptor_t *given,
                                                  hsa_access_permission_t permission,
                                                  hsa_ext_image_data_info_t *info)
{
    (void)permission;
    return data_info(agent, (struct request){.given = given}, info);
}

SHIM_API hsa_status_t hsa_ext_image_data_get_info_with_layout(hsa_agent_t agent,
                                                              const hsa_ext_image_descriptor_t *given,
                                                              hsa_access_permission_t permission,
                                                              hsa_ext_image_data_layout_t layout, size_t row,
                                                              size_t slice, hsa_ext_image_data_info_t *info)
{
    (void)permission;
    return layout == HSA_EXT_IMAGE_DATA_LAYOUT_LINEAR
               ? data_info(agent, (struct request){.given = given, .row = row, .slice = slice}, info)
               : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

/* ---- handles ---- */

/* Copies a descriptor to memory that kernels can read. */
static hsa_status_t store(const uint32_t *words, size_t count, uint64_t *handle)
{
    void *memory;
    const hsa_status_t status = hsa_amd_memory_pool_allocate((hsa_amd_memory_pool_t){SHIM_POOL_FINE},
                                                             count * sizeof *words, 0, &memory);
    if (!status) {
        memcpy(memory, words, count * sizeof *words);
        *handle = (uintptr_t)memory;
    }
    return status;
}

/* Registers an image with its words. */
static hsa_status_t publish(struct image image, const uint32_t words[WM_IMAGE_WORDS], hsa_ext_image_t *made)
{
    struct image *new = malloc(sizeof *new);
    if (!new)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    const hsa_status_t status = store(words, WM_IMAGE_WORDS, &image.handle);
    if (status) {
        free(new);
        return status;
    }
    *new = image;
    pthread_mutex_lock(&lock);
    new->next = images;
    images = new;
    pthread_mutex_unlock(&lock);
    made->handle = image.handle;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t create(hsa_agent_t agent, struct request request, const void *data, hsa_ext_image_t *made)
{
    uint32_t words[WM_IMAGE_WORDS];
    struct image image = {0};
    hsa_status_t status = check(agent, request.given, made);
    if (!status && !data)
        status = HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (!status)
        status = describe(agent, &request, (uintptr_t)data, &image, words);
    return status ? status : publish(image, words, made);
}

SHIM_API hsa_status_t hsa_ext_image_create(hsa_agent_t agent, const hsa_ext_image_descriptor_t *given,
                                           const void *data, hsa_access_permission_t permission,
                                           hsa_ext_image_t *made)
{
    (void)permission;
    return create(agent, (struct request){.given = given}, data, made);
}

SHIM_API hsa_status_t hsa_ext_image_create_with_layout(hsa_agent_t agent,
                                                       const hsa_ext_image_descriptor_t *given,
                                                       const void *data, hsa_access_permission_t permission,
                                                       hsa_ext_image_data_layout_t layout, size_t row,
                                                       size_t slice, hsa_ext_image_t *made)
{
    (void)permission;
    return layout == HSA_EXT_IMAGE_DATA_LAYOUT_LINEAR
               ? create(agent, (struct request){.given = given, .row = row, .slice = slice}, data, made)
               : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

SHIM_API hsa_status_t hsa_ext_image_destroy(hsa_agent_t agent, hsa_ext_image_t given)
{
    const hsa_status_t status = check(agent, &given, &given);
    if (status)
        return status;
    pthread_mutex_lock(&lock);
    struct image **link = &images;
    while (*link && (*link)->handle != given.handle)
        link = &(*link)->next;
    struct image *image = *link;
    if (image)
        *link = image->next;
    pthread_mutex_unlock(&lock);
    if (!image)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    hsa_amd_memory_pool_free((void *)(uintptr_t)image->handle);
    free(image);
    return HSA_STATUS_SUCCESS;
}

/* Copies the description of an image. False: the handle is invalid. */
static bool find(hsa_ext_image_t given, struct image *image)
{
    pthread_mutex_lock(&lock);
    const struct image *found = images;
    while (found && found->handle != given.handle)
        found = found->next;
    if (found)
        *image = *found;
    pthread_mutex_unlock(&lock);
    return found;
}

/* ---- contents ---- */

/* Bytes from one texel to the next one in x, y and z. */
struct strides {
    uint64_t base, x, y, z;
};

static struct strides strides_of(const struct image *image)
{
    /* y is the layer of a 1D array */
    const bool layers = image->made.geometry == WM_IMAGE_1D_ARRAY;
    return (struct strides){.base = image->made.address + image->offset,
                            .x = image->layout.texel,
                            .y = layers ? image->layout.slice : image->layout.row,
                            .z = image->layout.slice};
}

/* Whether the image contains the region; without an offset it begins at the first texel. */
static bool contains(const struct image *image, const hsa_dim3_t *offset, const hsa_dim3_t *range)
{
    const bool layers = image->made.geometry == WM_IMAGE_1D_ARRAY;
    const uint64_t x = offset->x + (uint64_t)range->x, y = offset->y + (uint64_t)range->y,
                   z = offset->z + (uint64_t)range->z;
    return x <= image->width && y <= (layers ? image->layout.slices : image->layout.rows) &&
           z <= (layers ? 1 : image->layout.slices);
}

static uint64_t place(const struct strides *s, const hsa_dim3_t *offset, uint32_t y, uint32_t z)
{
    return s->base + offset->x * s->x + (uint64_t)(offset->y + y) * s->y + (uint64_t)(offset->z + z) * s->z;
}

static hsa_status_t copy(const struct strides *to, const hsa_dim3_t *to_offset, const struct strides *from,
                         const hsa_dim3_t *from_offset, const hsa_dim3_t *range)
{
    hsa_status_t status = HSA_STATUS_SUCCESS;
    for (uint32_t z = 0; z < range->z; z++)
        for (uint32_t y = 0; y < range->y && !status; y++)
            status = shim_copy(place(to, to_offset, y, z), place(from, from_offset, y, z), range->x * from->x,
                               NULL);
    return status;
}

/* Copies between an image and linear memory. Pitches of 0 mean that rows or slices have no gaps. */
static hsa_status_t transfer(hsa_agent_t agent, hsa_ext_image_t given, const void *memory, size_t row,
                             size_t slice, const hsa_ext_image_region_t *region, bool import)
{
    static const hsa_dim3_t none;
    struct image image;
    const hsa_status_t status = check(agent, memory, region);
    if (status)
        return status;
    if (!find(given, &image) || !contains(&image, &region->offset, &region->range))
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    const struct strides inside = strides_of(&image);
    struct strides outside = {.base = (uintptr_t)memory, .x = inside.x};
    const uint64_t packed = region->range.x * inside.x;
    outside.y = row ? row : packed;
    outside.z = slice ? slice : outside.y * region->range.y;
    if (image.made.geometry == WM_IMAGE_1D_ARRAY && slice) /* its layers are slices */
        outside.y = slice;
    if (outside.y < packed)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    return import ? copy(&inside, &region->offset, &outside, &none, &region->range)
                  : copy(&outside, &none, &inside, &region->offset, &region->range);
}

SHIM_API hsa_status_t hsa_ext_image_import(hsa_agent_t agent, const void *memory, size_t row, size_t slice,
                                           hsa_ext_image_t to, const hsa_ext_image_region_t *region)
{
    return transfer(agent, to, memory, row, slice, region, true);
}

SHIM_API hsa_status_t hsa_ext_image_export(hsa_agent_t agent, hsa_ext_image_t from, void *memory, size_t row,
                                           size_t slice, const hsa_ext_image_region_t *region)
{
    return transfer(agent, from, memory, row, slice, region, false);
}

SHIM_API hsa_status_t hsa_ext_image_copy(hsa_agent_t agent, hsa_ext_image_t from,
                                         const hsa_dim3_t *from_offset, hsa_ext_image_t to,
                                         const hsa_dim3_t *to_offset, const hsa_dim3_t *range)
{
    struct image source, target;
    const hsa_status_t status = check(agent, from_offset, to_offset);
    if (status)
        return status;
    if (!range || !find(from, &source) || !find(to, &target) || !contains(&source, from_offset, range) ||
        !contains(&target, to_offset, range) || source.made.type != target.made.type ||
        source.made.components != target.made.components)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    const struct strides in = strides_of(&source), out = strides_of(&target);
    return copy(&out, to_offset, &in, from_offset, range);
}

static hsa_status_t element_of(hsa_agent_t agent, const struct image *image, const void *data,
                               uint32_t element[4])
{
    struct wm_format_answer answer;
    struct wm_diag diag = {0};
    uint32_t value[4];
    size_t type = 0, order = 0;
    memcpy(value, data, sizeof value);
    while (!components[type].bytes || components[type].type != image->made.type)
        type++;
    while (orders[order].components != image->made.components)
        order++;
    if (wm_format_store(target_of(agent), orders[order].layouts[components[type].bytes],
                        components[type].number, value, &answer, &diag)) {
        shim_complain("image: %s", diag.message);
        return HSA_STATUS_ERROR;
    }
    memcpy(element, answer.element, sizeof answer.element);
    return HSA_STATUS_SUCCESS;
}

SHIM_API hsa_status_t hsa_ext_image_clear(hsa_agent_t agent, hsa_ext_image_t given, const void *data,
                                          const hsa_ext_image_region_t *region)
{
    static const hsa_dim3_t none;
    struct image image;
    uint32_t element[4];
    hsa_status_t status = check(agent, data, region);
    if (status)
        return status;
    if (!find(given, &image) || !contains(&image, &region->offset, &region->range))
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    status = element_of(agent, &image, data, element);
    if (status)
        return status;
    const struct strides to = strides_of(&image);
    uint8_t *row = malloc(region->range.x * to.x + 1);
    if (!row)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    for (uint32_t x = 0; x < region->range.x; x++)
        memcpy(row + x * to.x, element, to.x);
    status = copy(&to, &region->offset, &(struct strides){.base = (uintptr_t)row, .x = to.x}, &none,
                  &region->range);
    free(row);
    return status;
}

/* ---- descriptors of images with levels ---- */

/* hsa_ext_image_descriptor_v2_t, which Debian's header lacks. */
struct descriptor_v2 {
    hsa_ext_image_descriptor_t plain;
    size_t levels;
};

static bool knows_levels; /* atomic; the runtime above uses such descriptors */

static hsa_status_t take_request(const struct descriptor_v2 *given, struct request *request)
{
    __atomic_store_n(&knows_levels, true, __ATOMIC_RELEASE);
    if (!given)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    *request = (struct request){.given = &given->plain, .levels = given->levels};
    return HSA_STATUS_SUCCESS;
}

SHIM_API hsa_status_t hsa_ext_image_data_get_info_v2(hsa_agent_t agent, const struct descriptor_v2 *given,
                                                     hsa_access_permission_t permission,
                                                     hsa_ext_image_data_info_t *info)
{
    struct request request;
    (void)permission;
    const hsa_status_t status = take_request(given, &request);
    return status ? status : data_info(agent, request, info);
}

SHIM_API hsa_status_t hsa_ext_image_create_v2(hsa_agent_t agent, const struct descriptor_v2 *given,
                                              const void *data, hsa_access_permission_t permission,
                                              hsa_ext_image_t *made)
{
    struct request request;
    (void)permission;
    const hsa_status_t status = take_request(given, &request);
    return status ? status : create(agent, request, data, made);
}

/* A view of one level, as another image. given: the view's format, of the same size; NULL: the image's. */
SHIM_API hsa_status_t hsa_ext_image_mipmap_array_get_level(hsa_agent_t agent, const hsa_ext_image_t *whole,
                                                           uint32_t level, const struct descriptor_v2 *given,
                                                           hsa_ext_image_t *made)
{
    uint32_t words[WM_IMAGE_WORDS];
    struct image image;
    hsa_status_t status = check(agent, whole, made);
    if (status)
        return status;
    if (!find(*whole, &image) || image.made.seen_levels || (level && level >= image.made.levels))
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    image.made.first_level = level;
    image.made.seen_levels = 1;
    if (given) {
        const uint32_t texel = image.layout.texel;
        if (!has_format(given->plain.geometry, &given->plain.format))
            return (hsa_status_t)HSA_EXT_STATUS_ERROR_IMAGE_FORMAT_UNSUPPORTED;
        const struct component *component = &components[given->plain.format.channel_type];
        image.made.type = component->type;
        image.made.components = orders[given->plain.format.channel_order].components;
        if (image.made.components * component->bytes != texel)
            return (hsa_status_t)HSA_EXT_STATUS_ERROR_IMAGE_FORMAT_UNSUPPORTED;
    }
    status = describe_made(agent, 0, 0, &image, words);
    return status ? status : publish(image, words, made);
}

SHIM_API hsa_status_t hsa_ext_image_destroy_v2(hsa_agent_t agent, hsa_ext_image_t given)
{
    return hsa_ext_image_destroy(agent, given);
}

/* ---- samplers ---- */

enum { LEVEL_FILTER_NONE = 2 }; /* HSA_EXT_SAMPLER_FILTER_MODE_NONE, which Debian's header lacks */

static const enum wm_addressing addressings[] = {
    [HSA_EXT_SAMPLER_ADDRESSING_MODE_UNDEFINED] = WM_ADDRESSING_EDGE, /* coordinates are within the image */
    [HSA_EXT_SAMPLER_ADDRESSING_MODE_CLAMP_TO_EDGE] = WM_ADDRESSING_EDGE,
    [HSA_EXT_SAMPLER_ADDRESSING_MODE_CLAMP_TO_BORDER] = WM_ADDRESSING_BORDER,
    [HSA_EXT_SAMPLER_ADDRESSING_MODE_REPEAT] = WM_ADDRESSING_REPEAT,
    [HSA_EXT_SAMPLER_ADDRESSING_MODE_MIRRORED_REPEAT] = WM_ADDRESSING_MIRROR,
};

static const enum wm_level_filter level_filters[] = {
    [HSA_EXT_SAMPLER_FILTER_MODE_NEAREST] = WM_LEVEL_NEAREST,
    [HSA_EXT_SAMPLER_FILTER_MODE_LINEAR] = WM_LEVEL_LINEAR,
    [LEVEL_FILTER_NONE] = WM_LEVEL_FIRST,
};

static hsa_status_t create_sampler(hsa_agent_t agent, uint32_t coordinates, uint32_t filter, uint32_t levels,
                                   const uint32_t modes[3], hsa_ext_sampler_t *made)
{
    uint32_t words[WM_SAMPLER_WORDS];
    struct wm_diag diag = {0};
    struct wm_sampler sampler = {.struct_size = sizeof sampler,
                                 .linear = filter == HSA_EXT_SAMPLER_FILTER_MODE_LINEAR,
                                 .normalized = coordinates == HSA_EXT_SAMPLER_COORDINATE_MODE_NORMALIZED};
    if (filter > HSA_EXT_SAMPLER_FILTER_MODE_LINEAR || levels >= SHIM_COUNT(level_filters) ||
        coordinates > HSA_EXT_SAMPLER_COORDINATE_MODE_NORMALIZED)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    sampler.levels = level_filters[levels];
    for (unsigned i = 0; i < 3; i++) {
        if (modes[i] >= SHIM_COUNT(addressings))
            return HSA_STATUS_ERROR_INVALID_ARGUMENT;
        sampler.addressing[i] = addressings[modes[i]];
    }
    if (wm_sampler_describe(target_of(agent), &sampler, words, &diag)) {
        shim_complain("sampler: %s", diag.message);
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    }
    struct sampler *new = malloc(sizeof *new);
    if (!new)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    const hsa_status_t status = store(words, WM_SAMPLER_WORDS, &new->handle);
    if (status) {
        free(new);
        return status;
    }
    pthread_mutex_lock(&lock);
    new->next = samplers;
    samplers = new;
    pthread_mutex_unlock(&lock);
    made->handle = new->handle;
    return HSA_STATUS_SUCCESS;
}

SHIM_API hsa_status_t hsa_ext_sampler_create(hsa_agent_t agent, const hsa_ext_sampler_descriptor_t *given,
                                             hsa_ext_sampler_t *made)
{
    const hsa_status_t status = check(agent, given, made);
    if (status)
        return status;
    const uint32_t mode = given->address_mode;
    return create_sampler(agent, given->coordinate_mode, given->filter_mode, LEVEL_FILTER_NONE,
                          (const uint32_t[]){mode, mode, mode}, made);
}

/* The descriptor consists of the modes of coordinates, of the filter, and of addresses in x, y and z; from
 * HIP 7.15 on, which has images with levels, the filter between levels stands before the addresses. Nothing
 * in it tells which it is, but that runtime makes an image first, by hsa_ext_image_create_v2(). */
SHIM_API hsa_status_t hsa_ext_sampler_create_v2(hsa_agent_t agent, const uint32_t *given,
                                                hsa_ext_sampler_t *made)
{
    enum { COORDINATES, FILTER, LEVELS };
    const hsa_status_t status = check(agent, given, made);
    if (status)
        return status;
    const bool levels = shim_is_set(&knows_levels);
    return create_sampler(agent, given[COORDINATES], given[FILTER],
                          levels ? given[LEVELS] : LEVEL_FILTER_NONE, given + (levels ? LEVELS : FILTER) + 1,
                          made);
}

SHIM_API hsa_status_t hsa_ext_sampler_destroy(hsa_agent_t agent, hsa_ext_sampler_t given)
{
    const hsa_status_t status = check(agent, &given, &given);
    if (status)
        return status;
    pthread_mutex_lock(&lock);
    struct sampler **link = &samplers;
    while (*link && (*link)->handle != given.handle)
        link = &(*link)->next;
    struct sampler *sampler = *link;
    if (sampler)
        *link = sampler->next;
    pthread_mutex_unlock(&lock);
    if (!sampler)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    hsa_amd_memory_pool_free((void *)(uintptr_t)sampler->handle);
    free(sampler);
    return HSA_STATUS_SUCCESS;
}

/* ---- the extension's table ---- */

static const hsa_ext_images_1_pfn_t table = {
    .hsa_ext_image_get_capability = hsa_ext_image_get_capability,
    .hsa_ext_image_data_get_info = hsa_ext_image_data_get_info,
    .hsa_ext_image_create = hsa_ext_image_create,
    .hsa_ext_image_destroy = hsa_ext_image_destroy,
    .hsa_ext_image_copy = hsa_ext_image_copy,
    .hsa_ext_image_import = hsa_ext_image_import,
    .hsa_ext_image_export = hsa_ext_image_export,
    .hsa_ext_image_clear = hsa_ext_image_clear,
    .hsa_ext_sampler_create = hsa_ext_sampler_create,
    .hsa_ext_sampler_destroy = hsa_ext_sampler_destroy,
    .hsa_ext_image_get_capability_with_layout = hsa_ext_image_get_capability_with_layout,
    .hsa_ext_image_data_get_info_with_layout = hsa_ext_image_data_get_info_with_layout,
    .hsa_ext_image_create_with_layout = hsa_ext_image_create_with_layout,
};

const void *shim_images_table(size_t *size)
{
    *size = sizeof table;
    return &table;
}
