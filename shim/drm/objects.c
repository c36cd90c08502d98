/* SPDX-License-Identifier: MIT */
/* What the program calls its pipelines, buffers and images, and where the GPU has them, told to the simulated
 * kernel driver (naming.h). RADV does not say where the code of a pipeline is: a command buffer that is never
 * submitted shows it. The address of memory is that of a buffer in it. Objects without a name are numbered.
 */
#include "shim/drm/naming.h"
#include "shim/drm/radv.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* RADV's functions that are used here. */
#define FUNCTIONS(DO)                                                                                        \
    DO(AllocateCommandBuffers)                                                                               \
    DO(BeginCommandBuffer)                                                                                   \
    DO(BindBufferMemory)                                                                                     \
    DO(BindBufferMemory2)                                                                                    \
    DO(BindImageMemory)                                                                                      \
    DO(BindImageMemory2)                                                                                     \
    DO(CmdBindPipeline)                                                                                      \
    DO(CmdDispatch)                                                                                          \
    DO(CreateBuffer)                                                                                         \
    DO(CreateCommandPool)                                                                                    \
    DO(CreateComputePipelines)                                                                               \
    DO(CreateShaderModule)                                                                                   \
    DO(DestroyBuffer)                                                                                        \
    DO(DestroyCommandPool)                                                                                   \
    DO(DestroyDevice)                                                                                        \
    DO(DestroyImage)                                                                                         \
    DO(DestroyPipeline)                                                                                      \
    DO(DestroyShaderModule)                                                                                  \
    DO(EndCommandBuffer)                                                                                     \
    DO(GetBufferDeviceAddressKHR)                                                                            \
    DO(GetImageMemoryRequirements)                                                                           \
    DO(SetDebugUtilsObjectNameEXT)

struct device {
    struct device *next;
    VkDevice handle;
    PFN_vkGetDeviceProcAddr find;
    VkCommandPool pool;
    VkCommandBuffer commands; /* NULL: names of code cannot be learned */
    struct drm_created created;
#define DO(name) PFN_vk##name name;
    FUNCTIONS(DO)
#undef DO
};

/* A module, pipeline, buffer or image. */
struct object {
    struct object *next; /* in its bucket */
    struct device *device;
    uint64_t handle, address, size; /* address 0: not known; size 0: of code */
    char name[RADV_NAME];           /* what the program calls it, or "" */
    uint32_t *words;                /* of a module */
    size_t count;
};

enum { BUCKETS = 4096 };

static pthread_mutex_t lock =
    PTHREAD_MUTEX_INITIALIZER; /* guards what follows, and the devices' command buffers */
static struct device *devices;
static struct object *bucket[BUCKETS];
static unsigned last_pipeline, last_buffer, last_image;

static const struct drm_naming *naming(void)
{
    static const struct drm_naming *(*find)(void);
    if (!find)
        find = (const struct drm_naming *(*)(void))dlsym(RTLD_DEFAULT, "wavemem_naming");
    return find ? find() : NULL;
}

bool radv_can_name(void)
{
    return naming();
}

static struct device *find_device(VkDevice handle)
{
    pthread_mutex_lock(&lock);
    struct device *device = devices;
    while (device && device->handle != handle)
        device = device->next;
    pthread_mutex_unlock(&lock);
    return device;
}

PFN_vkVoidFunction radv_device_function(VkDevice handle, const char *name)
{
    const struct device *device = find_device(handle);
    return device ? device->find(handle, name) : NULL;
}

/* ---- objects ---- */

static struct object **place_of(uint64_t handle)
{
    struct object **at = &bucket[(handle >> 4 ^ handle >> 16) % BUCKETS];
    while (*at && (*at)->handle != handle)
        at = &(*at)->next;
    return at;
}

/* With the lock held. NULL: no memory. */
static struct object *add_object(struct device *device, uint64_t handle)
{
    struct object *object = calloc(1, sizeof *object), **at = place_of(handle);
    if (!object || *at) {
        free(object);
        return NULL;
    }
    object->device = device;
    object->handle = handle;
    return *at = object;
}

static void tell(const struct object *object)
{
    if (object->address)
        naming()->add(object->device->created.device, object->address, object->size, object->name);
}

static void remove_object(uint64_t handle)
{
    pthread_mutex_lock(&lock);
    struct object **at = place_of(handle), *object = *at;
    if (object) {
        *at = object->next;
        if (object->address)
            naming()->remove(object->device->created.device, object->address, object->size);
        free(object->words);
        free(object);
    }
    pthread_mutex_unlock(&lock);
}

static void rename_object(struct device *device, VkObjectType type, uint64_t handle, const char *name)
{
    pthread_mutex_lock(&lock);
    struct object *object = *place_of(handle);
    if (!object && type == VK_OBJECT_TYPE_IMAGE) /* to which memory is not bound yet */
        object = add_object(device, handle);
    if (object && name && *name) {
        snprintf(object->name, sizeof object->name, "%s", name);
        if (object->address)
            naming()->rename(object->device->created.device, object->address, object->size, object->name);
    }
    pthread_mutex_unlock(&lock);
}

static VkResult set_name(VkDevice handle, const VkDebugUtilsObjectNameInfoEXT *info)
{
    struct device *device = find_device(handle);
    rename_object(device, info->objectType, info->objectHandle, info->pObjectName);
    return device->SetDebugUtilsObjectNameEXT ? device->SetDebugUtilsObjectNameEXT(handle, info) : VK_SUCCESS;
}

/* ---- shaders ---- */

static VkResult create_module(VkDevice handle, const VkShaderModuleCreateInfo *info,
                              const VkAllocationCallbacks *allocator, VkShaderModule *module)
{
    struct device *device = find_device(handle);
    const VkResult result = device->CreateShaderModule(handle, info, allocator, module);
    if (result != VK_SUCCESS)
        return result;
    pthread_mutex_lock(&lock);
    struct object *object = add_object(device, (uint64_t)*module);
    if (object && (object->words = malloc(info->codeSize))) {
        memcpy(object->words, info->pCode, info->codeSize);
        object->count = info->codeSize / 4;
    }
    pthread_mutex_unlock(&lock);
    return result;
}

static void destroy_module(VkDevice handle, VkShaderModule module, const VkAllocationCallbacks *allocator)
{
    remove_object((uint64_t)module);
    find_device(handle)->DestroyShaderModule(handle, module, allocator);
}

static const void *chained(const void *first, VkStructureType type)
{
    const VkBaseInStructure *at = first;
    while (at && at->sType != type)
        at = at->pNext;
    return at;
}

/* A pipeline is called after its shader, unless the program calls it something else later. */
static void name_pipeline(struct object *pipeline, const VkPipelineShaderStageCreateInfo *stage)
{
    const VkShaderModuleCreateInfo *own = chained(stage->pNext, VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO);
    const VkDebugUtilsObjectNameInfoEXT *given =
        chained(stage->pNext, VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT);
    const struct object *module = stage->module ? *place_of((uint64_t)stage->module) : NULL;
    last_pipeline++;
    if (given && given->pObjectName)
        snprintf(pipeline->name, sizeof pipeline->name, "%s", given->pObjectName);
    else if (module && *module->name)
        memcpy(pipeline->name, module->name, sizeof pipeline->name);
    else if (module && module->words)
        radv_shader_name(module->words, module->count, stage->pName, pipeline->name);
    else if (own)
        radv_shader_name(own->pCode, own->codeSize / 4, stage->pName, pipeline->name);
    if (!*pipeline->name)
        snprintf(pipeline->name, sizeof pipeline->name, "pipeline %u", last_pipeline);
}

/* The address of its code; 0: unknown. */
static uint64_t find_code(const struct device *device, VkPipeline pipeline)
{
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    uint64_t address = 0;
    if (!device->commands || device->BeginCommandBuffer(device->commands, &begin) != VK_SUCCESS)
        return 0;
    device->CmdBindPipeline(device->commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    device->CmdDispatch(device->commands, 1, 1, 1);
    if (device->EndCommandBuffer(device->commands) != VK_SUCCESS ||
        !naming()->find_code(&device->created, &address))
        return 0;
    return address;
}

static VkResult create_pipelines(VkDevice handle, VkPipelineCache cache, uint32_t count,
                                 const VkComputePipelineCreateInfo *infos,
                                 const VkAllocationCallbacks *allocator, VkPipeline *pipelines)
{
    struct device *device = find_device(handle);
    const VkResult result = device->CreateComputePipelines(handle, cache, count, infos, allocator, pipelines);
    pthread_mutex_lock(&lock);
    for (uint32_t i = 0; i < count; i++) {
        struct object *object = pipelines[i] ? add_object(device, (uint64_t)pipelines[i]) : NULL;
        if (!object)
            continue;
        name_pipeline(object, &infos[i].stage);
        object->address = find_code(device, pipelines[i]);
        tell(object);
    }
    pthread_mutex_unlock(&lock);
    return result;
}

static void destroy_pipeline(VkDevice handle, VkPipeline pipeline, const VkAllocationCallbacks *allocator)
{
    remove_object((uint64_t)pipeline);
    find_device(handle)->DestroyPipeline(handle, pipeline, allocator);
}

/* ---- memory ---- */

static uint64_t address_of(const struct device *device, VkBuffer buffer)
{
    const VkBufferDeviceAddressInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO,
                                            .buffer = buffer};
    return device->GetBufferDeviceAddressKHR(device->handle, &info);
}

/* number: of the objects of its kind, for which it is called unless it has a name. */
static void bind(struct device *device, uint64_t handle, uint64_t address, uint64_t size, const char *kind,
                 unsigned *number)
{
    pthread_mutex_lock(&lock);
    struct object *object = *place_of(handle);
    object = object ? object : add_object(device, handle);
    if (object && !object->address) {
        ++*number;
        if (!*object->name)
            snprintf(object->name, sizeof object->name, "%s %u", kind, *number);
        object->address = address;
        object->size = object->size ? object->size : size;
        tell(object);
    }
    pthread_mutex_unlock(&lock);
}

static VkResult create_buffer(VkDevice handle, const VkBufferCreateInfo *info,
                              const VkAllocationCallbacks *allocator, VkBuffer *buffer)
{
    struct device *device = find_device(handle);
    const VkResult result = device->CreateBuffer(handle, info, allocator, buffer);
    if (result != VK_SUCCESS)
        return result;
    pthread_mutex_lock(&lock);
    struct object *object = add_object(device, (uint64_t)*buffer);
    if (object)
        object->size = info->size;
    pthread_mutex_unlock(&lock);
    return result;
}

static VkResult bind_buffer(VkDevice handle, VkBuffer buffer, VkDeviceMemory memory, VkDeviceSize offset)
{
    struct device *device = find_device(handle);
    const VkResult result = device->BindBufferMemory(handle, buffer, memory, offset);
    if (result == VK_SUCCESS)
        bind(device, (uint64_t)buffer, address_of(device, buffer), 0, "buffer", &last_buffer);
    return result;
}

static VkResult bind_buffers(VkDevice handle, uint32_t count, const VkBindBufferMemoryInfo *infos)
{
    struct device *device = find_device(handle);
    const VkResult result = device->BindBufferMemory2(handle, count, infos);
    for (uint32_t i = 0; i < count && result == VK_SUCCESS; i++)
        bind(device, (uint64_t)infos[i].buffer, address_of(device, infos[i].buffer), 0, "buffer",
             &last_buffer);
    return result;
}

static void destroy_buffer(VkDevice handle, VkBuffer buffer, const VkAllocationCallbacks *allocator)
{
    remove_object((uint64_t)buffer);
    find_device(handle)->DestroyBuffer(handle, buffer, allocator);
}

/* The address of a buffer that is where the image is. */
static void name_image(struct device *device, VkImage image, VkDeviceMemory memory, VkDeviceSize offset)
{
    VkMemoryRequirements needs;
    VkBuffer buffer;
    device->GetImageMemoryRequirements(device->handle, image, &needs);
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .size = needs.size,
                                     .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT};
    if (!memory || device->CreateBuffer(device->handle, &info, NULL, &buffer) != VK_SUCCESS)
        return;
    if (device->BindBufferMemory(device->handle, buffer, memory, offset) == VK_SUCCESS)
        bind(device, (uint64_t)image, address_of(device, buffer), needs.size, "image", &last_image);
    device->DestroyBuffer(device->handle, buffer, NULL);
}

static VkResult bind_image(VkDevice handle, VkImage image, VkDeviceMemory memory, VkDeviceSize offset)
{
    struct device *device = find_device(handle);
    const VkResult result = device->BindImageMemory(handle, image, memory, offset);
    if (result == VK_SUCCESS)
        name_image(device, image, memory, offset);
    return result;
}

static VkResult bind_images(VkDevice handle, uint32_t count, const VkBindImageMemoryInfo *infos)
{
    struct device *device = find_device(handle);
    const VkResult result = device->BindImageMemory2(handle, count, infos);
    for (uint32_t i = 0; i < count && result == VK_SUCCESS; i++)
        name_image(device, infos[i].image, infos[i].memory, infos[i].memoryOffset);
    return result;
}

static void destroy_image(VkDevice handle, VkImage image, const VkAllocationCallbacks *allocator)
{
    remove_object((uint64_t)image);
    find_device(handle)->DestroyImage(handle, image, allocator);
}

/* ---- devices ---- */

/* The first family of the program's queues that computes. */
static bool find_family(const VkDeviceCreateInfo *info, PFN_vkGetPhysicalDeviceQueueFamilyProperties list,
                        VkPhysicalDevice gpu, uint32_t *family)
{
    VkQueueFamilyProperties families[16];
    uint32_t count = 16;
    list(gpu, &count, families);
    for (uint32_t i = 0; i < info->queueCreateInfoCount; i++) {
        *family = info->pQueueCreateInfos[i].queueFamilyIndex;
        if (*family < count && families[*family].queueFlags & VK_QUEUE_COMPUTE_BIT)
            return true;
    }
    return false;
}

/* The command buffer by which code is found, and the buffer objects where RADV has it. */
static void make_commands(struct device *device, uint32_t family)
{
    const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                          .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
                                          .queueFamilyIndex = family};
    naming()->watch(&device->created);
    if (device->CreateCommandPool(device->handle, &pool, NULL, &device->pool) == VK_SUCCESS) {
        const VkCommandBufferAllocateInfo allocate = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                                      .commandPool = device->pool,
                                                      .commandBufferCount = 1};
        if (device->AllocateCommandBuffers(device->handle, &allocate, &device->commands) != VK_SUCCESS)
            device->commands = NULL;
    }
    naming()->watch(NULL);
}

static struct device *make_device(PFN_vkGetDeviceProcAddr find, VkDevice handle)
{
    struct device *device = calloc(1, sizeof *device);
    if (!device)
        return NULL;
    device->handle = handle;
    device->find = find;
#define DO(name)                                                                                             \
    device->name = (PFN_vk##name)find(handle, "vk" #name);                                                   \
    if (!device->name) /* Vulkan 1.0, with an extension */                                                   \
        device->name = (PFN_vk##name)find(handle, "vk" #name "KHR");
    FUNCTIONS(DO)
#undef DO
    return device;
}

VkResult radv_create_device(PFN_vkGetInstanceProcAddr instance_proc, VkInstance instance,
                            VkPhysicalDevice gpu, const VkDeviceCreateInfo *given,
                            const VkAllocationCallbacks *allocator, VkDevice *handle)
{
    const PFN_vkCreateDevice create = (PFN_vkCreateDevice)instance_proc(instance, "vkCreateDevice");
    const char **extensions = calloc(given->enabledExtensionCount + 1, sizeof *extensions);
    VkDeviceCreateInfo info = *given;
    uint32_t family;
    if (!extensions)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    for (uint32_t i = 0; i < info.enabledExtensionCount; i++)
        extensions[i] = info.ppEnabledExtensionNames[i];
    extensions[info.enabledExtensionCount++] = VK_KHR_BUFFER_DEVICE_ADDRESS_EXTENSION_NAME;
    info.ppEnabledExtensionNames = extensions;
    VkResult result = create(gpu, &info, allocator, handle);
    free(extensions);
    if (result != VK_SUCCESS)
        return result;
    struct device *device =
        make_device((PFN_vkGetDeviceProcAddr)instance_proc(instance, "vkGetDeviceProcAddr"), *handle);
    if (!device)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    if (find_family(given,
                    (PFN_vkGetPhysicalDeviceQueueFamilyProperties)instance_proc(
                        instance, "vkGetPhysicalDeviceQueueFamilyProperties"),
                    gpu, &family))
        make_commands(device, family);
    pthread_mutex_lock(&lock);
    device->next = devices;
    devices = device;
    pthread_mutex_unlock(&lock);
    return VK_SUCCESS;
}

/* Forgets the objects that the program has not destroyed. */
static void forget(const struct device *device)
{
    for (unsigned i = 0; i < BUCKETS; i++)
        for (struct object *object = bucket[i], *next; object; object = next) {
            next = object->next;
            if (object->device == device)
                remove_object(object->handle);
        }
}

static void destroy_device(VkDevice handle, const VkAllocationCallbacks *allocator)
{
    struct device *device = handle ? find_device(handle) : NULL;
    if (!device)
        return;
    forget(device);
    device->DestroyCommandPool(handle, device->pool, NULL);
    device->DestroyDevice(handle, allocator);
    pthread_mutex_lock(&lock);
    struct device **at = &devices;
    while (*at != device)
        at = &(*at)->next;
    *at = device->next;
    pthread_mutex_unlock(&lock);
    free(device);
}

const struct radv_function radv_device_functions[] = {
    {"vkBindBufferMemory", (PFN_vkVoidFunction)bind_buffer},
    {"vkBindBufferMemory2", (PFN_vkVoidFunction)bind_buffers},
    {"vkBindBufferMemory2KHR", (PFN_vkVoidFunction)bind_buffers},
    {"vkBindImageMemory", (PFN_vkVoidFunction)bind_image},
    {"vkBindImageMemory2", (PFN_vkVoidFunction)bind_images},
    {"vkBindImageMemory2KHR", (PFN_vkVoidFunction)bind_images},
    {"vkCreateBuffer", (PFN_vkVoidFunction)create_buffer},
    {"vkCreateComputePipelines", (PFN_vkVoidFunction)create_pipelines},
    {"vkCreateShaderModule", (PFN_vkVoidFunction)create_module},
    {"vkDestroyBuffer", (PFN_vkVoidFunction)destroy_buffer},
    {"vkDestroyDevice", (PFN_vkVoidFunction)destroy_device},
    {"vkDestroyImage", (PFN_vkVoidFunction)destroy_image},
    {"vkDestroyPipeline", (PFN_vkVoidFunction)destroy_pipeline},
    {"vkDestroyShaderModule", (PFN_vkVoidFunction)destroy_module},
    {"vkSetDebugUtilsObjectNameEXT", (PFN_vkVoidFunction)set_name},
    {NULL, NULL},
};
