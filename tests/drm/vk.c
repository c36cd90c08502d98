/* SPDX-License-Identifier: MIT */
#include "vk.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void vk_fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(1);
}

void vk_check(VkResult result, const char *what)
{
    if (result != VK_SUCCESS)
        vk_fail("%s: VkResult %d", what, result);
}

/* ---- the device ---- */

/* The family for compute: without graphics if there is one, or the first one, or the one that VK_TEST_FAMILY
 * names. */
static uint32_t choose_family(const struct vk *vk, uint32_t *queues)
{
    VkQueueFamilyProperties families[16];
    uint32_t count = 16, chosen = UINT32_MAX;
    const char *wanted = getenv("VK_TEST_FAMILY");
    vkGetPhysicalDeviceQueueFamilyProperties(vk->gpu, &count, families);
    for (uint32_t i = 0; i < count; i++)
        if (families[i].queueFlags & VK_QUEUE_COMPUTE_BIT &&
            (chosen == UINT32_MAX || !(families[i].queueFlags & VK_QUEUE_GRAPHICS_BIT)))
            chosen = i;
    for (uint32_t i = count; wanted && !strcmp(wanted, "first") && i-- > 0;)
        chosen = families[i].queueFlags & VK_QUEUE_COMPUTE_BIT ? i : chosen;
    if (wanted && strcmp(wanted, "first"))
        chosen = (uint32_t)atoi(wanted);
    if (chosen >= count)
        vk_fail("no queue family with compute");
    *queues = families[chosen].queueCount < 2 ? families[chosen].queueCount : 2;
    return chosen;
}

static bool has_extension(const struct vk *vk, const char *name)
{
    static VkExtensionProperties extensions[512];
    uint32_t count = 512;
    vkEnumerateDeviceExtensionProperties(vk->gpu, NULL, &count, extensions);
    for (uint32_t i = 0; i < count; i++)
        if (!strcmp(extensions[i].extensionName, name))
            return true;
    return false;
}

struct vk vk_open(const char *folder)
{
    static const float priorities[2] = {1, 1};
    struct vk vk = {.folder = folder};
    const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                           .apiVersion = VK_API_VERSION_1_3};
    const char *const names[] = {VK_EXT_DEBUG_UTILS_EXTENSION_NAME}; /* the loader has it */
    const VkInstanceCreateInfo instance = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                           .pApplicationInfo = &application,
                                           .enabledExtensionCount = 1,
                                           .ppEnabledExtensionNames = names};
    vk_check(vkCreateInstance(&instance, NULL, &vk.instance), "vkCreateInstance");
    uint32_t count = 1;
    if (vkEnumeratePhysicalDevices(vk.instance, &count, &vk.gpu) < 0 || !count)
        vk_fail("no Vulkan device");
    vkGetPhysicalDeviceProperties(vk.gpu, &vk.properties);
    vk.has_robustness = has_extension(&vk, VK_EXT_ROBUSTNESS_2_EXTENSION_NAME);
    vk.robustness.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ROBUSTNESS_2_FEATURES_EXT;
    vk.v13 =
        (VkPhysicalDeviceVulkan13Features){.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES,
                                           .pNext = vk.has_robustness ? &vk.robustness : NULL};
    vk.v12 = (VkPhysicalDeviceVulkan12Features){
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES, .pNext = &vk.v13};
    vk.v11 = (VkPhysicalDeviceVulkan11Features){
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES, .pNext = &vk.v12};
    vk.features =
        (VkPhysicalDeviceFeatures2){.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, .pNext = &vk.v11};
    vkGetPhysicalDeviceFeatures2(vk.gpu, &vk.features);
    vk.family = choose_family(&vk, &vk.queue_count);
    const VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                           .queueFamilyIndex = vk.family,
                                           .queueCount = vk.queue_count,
                                           .pQueuePriorities = priorities};
    static const char *const files[] = {VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME,
                                        VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME,
                                        VK_KHR_EXTERNAL_FENCE_FD_EXTENSION_NAME};
    const char *extensions[4];
    uint32_t extension_count = 0;
    if (vk.has_robustness)
        extensions[extension_count++] = VK_EXT_ROBUSTNESS_2_EXTENSION_NAME;
    vk.has_files =
        has_extension(&vk, files[0]) && has_extension(&vk, files[1]) && has_extension(&vk, files[2]);
    for (int i = 0; i < 3 && vk.has_files; i++)
        extensions[extension_count++] = files[i];
    const VkDeviceCreateInfo device = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                       .pNext = &vk.features,
                                       .queueCreateInfoCount = 1,
                                       .pQueueCreateInfos = &queue,
                                       .enabledExtensionCount = extension_count,
                                       .ppEnabledExtensionNames = extensions};
    vk_check(vkCreateDevice(vk.gpu, &device, NULL, &vk.device), "vkCreateDevice");
    for (uint32_t i = 0; i < vk.queue_count; i++)
        vkGetDeviceQueue(vk.device, vk.family, i, &vk.queue[i]);
    const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                          .queueFamilyIndex = vk.family};
    vk_check(vkCreateCommandPool(vk.device, &pool, NULL, &vk.pool), "vkCreateCommandPool");
    vk.features.pNext = vk.v11.pNext = vk.v12.pNext = vk.v13.pNext = NULL; /* the struct moves */
    return vk;
}

void vk_name(const struct vk *vk, VkObjectType type, uint64_t object, const char *name)
{
    const VkDebugUtilsObjectNameInfoEXT info = {.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT,
                                                .objectType = type,
                                                .objectHandle = object,
                                                .pObjectName = name};
    const PFN_vkSetDebugUtilsObjectNameEXT set =
        (PFN_vkSetDebugUtilsObjectNameEXT)vkGetInstanceProcAddr(vk->instance, "vkSetDebugUtilsObjectNameEXT");
    vk_check(set(vk->device, &info), "vkSetDebugUtilsObjectNameEXT");
}

void vk_close(struct vk *vk)
{
    vkDestroyCommandPool(vk->device, vk->pool, NULL);
    vkDestroyDevice(vk->device, NULL);
    vkDestroyInstance(vk->instance, NULL);
}

/* ---- memory ---- */

uint32_t vk_memory_type(const struct vk *vk, uint32_t bits, VkMemoryPropertyFlags flags)
{
    VkPhysicalDeviceMemoryProperties memory;
    vkGetPhysicalDeviceMemoryProperties(vk->gpu, &memory);
    for (uint32_t i = 0; i < memory.memoryTypeCount; i++)
        if (bits >> i & 1 && (memory.memoryTypes[i].propertyFlags & flags) == flags)
            return i;
    vk_fail("no memory type with flags 0x%x", flags);
}

struct vk_buffer vk_buffer(const struct vk *vk, VkDeviceSize size)
{
    struct vk_buffer b = {.size = size};
    const VkBufferUsageFlags address =
        vk->v12.bufferDeviceAddress ? VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT : 0;
    const VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = size,
        .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                 VK_BUFFER_USAGE_TRANSFER_DST_BIT | VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT | address};
    VkMemoryRequirements needs;
    vk_check(vkCreateBuffer(vk->device, &info, NULL, &b.buffer), "vkCreateBuffer");
    vkGetBufferMemoryRequirements(vk->device, b.buffer, &needs);
    const VkMemoryAllocateFlagsInfo flags = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
                                             .flags = address ? VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT : 0};
    const VkMemoryAllocateInfo memory = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .pNext = &flags,
        .allocationSize = needs.size,
        .memoryTypeIndex =
            vk_memory_type(vk, needs.memoryTypeBits,
                           VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT)};
    vk_check(vkAllocateMemory(vk->device, &memory, NULL, &b.memory), "vkAllocateMemory");
    vk_check(vkBindBufferMemory(vk->device, b.buffer, b.memory, 0), "vkBindBufferMemory");
    vk_check(vkMapMemory(vk->device, b.memory, 0, VK_WHOLE_SIZE, 0, &b.bytes), "vkMapMemory");
    memset(b.bytes, 0, size);
    const VkBufferDeviceAddressInfo where = {.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO,
                                             .buffer = b.buffer};
    b.address = address ? vkGetBufferDeviceAddress(vk->device, &where) : 0;
    return b;
}

void vk_free(const struct vk *vk, struct vk_buffer *b)
{
    vkDestroyBuffer(vk->device, b->buffer, NULL);
    vkFreeMemory(vk->device, b->memory, NULL);
}

/* ---- pipelines ---- */

static VkShaderModule load(const struct vk *vk, const char *name)
{
    static uint32_t words[1 << 16];
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.spv", vk->folder, name);
    FILE *file = fopen(path, "rb");
    if (!file)
        vk_fail("%s cannot be read", path);
    const VkShaderModuleCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                           .codeSize = fread(words, 1, sizeof words, file),
                                           .pCode = words};
    fclose(file);
    VkShaderModule module;
    vk_check(vkCreateShaderModule(vk->device, &info, NULL, &module), "vkCreateShaderModule");
    return module;
}

struct vk_pipeline vk_pipeline(const struct vk *vk, const char *shader, uint32_t buffers, uint32_t images,
                               const uint32_t *constants, uint32_t count, uint32_t push)
{
    struct vk_pipeline p;
    VkDescriptorSetLayoutBinding bindings[8];
    for (uint32_t i = 0; i < buffers + images; i++)
        bindings[i] = (VkDescriptorSetLayoutBinding){
            i, i < buffers ? VK_DESCRIPTOR_TYPE_STORAGE_BUFFER : VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, 1,
            VK_SHADER_STAGE_COMPUTE_BIT, NULL};
    const VkDescriptorSetLayoutCreateInfo set = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                                                 .bindingCount = buffers + images,
                                                 .pBindings = bindings};
    vk_check(vkCreateDescriptorSetLayout(vk->device, &set, NULL, &p.set_layout),
             "vkCreateDescriptorSetLayout");
    const VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0, push};
    const VkPipelineLayoutCreateInfo layout = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                               .setLayoutCount = 1,
                                               .pSetLayouts = &p.set_layout,
                                               .pushConstantRangeCount = push != 0,
                                               .pPushConstantRanges = &range};
    vk_check(vkCreatePipelineLayout(vk->device, &layout, NULL, &p.layout), "vkCreatePipelineLayout");
    VkSpecializationMapEntry entries[8];
    for (uint32_t i = 0; i < count; i++)
        entries[i] = (VkSpecializationMapEntry){i, 4 * i, 4};
    const VkSpecializationInfo special = {count, entries, 4 * count, constants};
    const VkShaderModule module = load(vk, shader);
    const VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .module = module,
                  .pName = "main",
                  .pSpecializationInfo = count ? &special : NULL},
        .layout = p.layout};
    vk_check(vkCreateComputePipelines(vk->device, VK_NULL_HANDLE, 1, &info, NULL, &p.pipeline),
             "vkCreateComputePipelines");
    vkDestroyShaderModule(vk->device, module, NULL);
    const VkDescriptorPoolSize sizes[] = {{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 8},
                                          {VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, 8}};
    const VkDescriptorPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                             .maxSets = 1,
                                             .poolSizeCount = 2,
                                             .pPoolSizes = sizes};
    vk_check(vkCreateDescriptorPool(vk->device, &pool, NULL, &p.pool), "vkCreateDescriptorPool");
    const VkDescriptorSetAllocateInfo allocate = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                                  .descriptorPool = p.pool,
                                                  .descriptorSetCount = 1,
                                                  .pSetLayouts = &p.set_layout};
    vk_check(vkAllocateDescriptorSets(vk->device, &allocate, &p.set), "vkAllocateDescriptorSets");
    return p;
}

void vk_bind(const struct vk *vk, const struct vk_pipeline *p, uint32_t binding,
             const struct vk_buffer *buffer)
{
    const VkDescriptorBufferInfo info = {buffer->buffer, 0, buffer->size};
    const VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                        .dstSet = p->set,
                                        .dstBinding = binding,
                                        .descriptorCount = 1,
                                        .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                        .pBufferInfo = &info};
    vkUpdateDescriptorSets(vk->device, 1, &write, 0, NULL);
}

void vk_bind_image(const struct vk *vk, const struct vk_pipeline *p, uint32_t binding, VkImageView view)
{
    const VkDescriptorImageInfo info = {VK_NULL_HANDLE, view, VK_IMAGE_LAYOUT_GENERAL};
    const VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                        .dstSet = p->set,
                                        .dstBinding = binding,
                                        .descriptorCount = 1,
                                        .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_IMAGE,
                                        .pImageInfo = &info};
    vkUpdateDescriptorSets(vk->device, 1, &write, 0, NULL);
}

void vk_free_pipeline(const struct vk *vk, struct vk_pipeline *p)
{
    vkDestroyPipeline(vk->device, p->pipeline, NULL);
    vkDestroyPipelineLayout(vk->device, p->layout, NULL);
    vkDestroyDescriptorPool(vk->device, p->pool, NULL);
    vkDestroyDescriptorSetLayout(vk->device, p->set_layout, NULL);
}

/* ---- commands ---- */

VkCommandBuffer vk_begin(const struct vk *vk)
{
    const VkCommandBufferAllocateInfo allocate = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                                  .commandPool = vk->pool,
                                                  .commandBufferCount = 1};
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    VkCommandBuffer commands;
    vk_check(vkAllocateCommandBuffers(vk->device, &allocate, &commands), "vkAllocateCommandBuffers");
    vk_check(vkBeginCommandBuffer(commands, &begin), "vkBeginCommandBuffer");
    return commands;
}

void vk_use(VkCommandBuffer commands, const struct vk_pipeline *p)
{
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, p->pipeline);
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, p->layout, 0, 1, &p->set, 0, NULL);
}

void vk_barrier(VkCommandBuffer commands)
{
    const VkMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                     .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
                                     .dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT};
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0,
                         1, &barrier, 0, NULL, 0, NULL);
}

VkResult vk_try(const struct vk *vk, VkCommandBuffer commands)
{
    const VkFenceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    const VkSubmitInfo submit = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &commands};
    VkFence fence;
    vk_check(vkEndCommandBuffer(commands), "vkEndCommandBuffer");
    vk_check(vkCreateFence(vk->device, &info, NULL, &fence), "vkCreateFence");
    VkResult result = vkQueueSubmit(vk->queue[0], 1, &submit, fence);
    if (result == VK_SUCCESS)
        result = vkWaitForFences(vk->device, 1, &fence, VK_TRUE, UINT64_MAX);
    vkDestroyFence(vk->device, fence, NULL);
    vkFreeCommandBuffers(vk->device, vk->pool, 1, &commands);
    return result;
}

void vk_run(const struct vk *vk, VkCommandBuffer commands)
{
    vk_check(vk_try(vk, commands), "a submission");
}

void vk_dispatch(const struct vk *vk, const struct vk_pipeline *p, const void *push, uint32_t bytes,
                 uint32_t x, uint32_t y, uint32_t z)
{
    const VkCommandBuffer commands = vk_begin(vk);
    vk_use(commands, p);
    if (bytes)
        vkCmdPushConstants(commands, p->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, bytes, push);
    vkCmdDispatch(commands, x, y, z);
    vk_run(vk, commands);
}
