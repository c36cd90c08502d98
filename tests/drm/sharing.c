/* SPDX-License-Identifier: MIT */
/* Memory, semaphores and fences that two devices share by files. */
#include "vk.h"

#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#define FUNCTION(device, name) ((PFN_##name)vkGetDeviceProcAddr((device), #name))

static char wrong[200];

#define EXPECT(condition, ...)                                                                               \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            snprintf(wrong, sizeof wrong, __VA_ARGS__);                                                      \
            return wrong;                                                                                    \
        }                                                                                                    \
    } while (0)

enum { WORDS = 1024 };

/* A buffer in memory that the device exports, or that it imports from the file. */
static struct vk_buffer shared_buffer(const struct vk *vk, int file)
{
    struct vk_buffer b = {.size = 4 * WORDS};
    const VkExternalMemoryBufferCreateInfo external = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO,
        .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT};
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .pNext = &external,
                                     .size = b.size,
                                     .usage =
                                         VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    VkMemoryRequirements needs;
    vk_check(vkCreateBuffer(vk->device, &info, NULL, &b.buffer), "vkCreateBuffer");
    vkGetBufferMemoryRequirements(vk->device, b.buffer, &needs);
    const VkExportMemoryAllocateInfo exports = {.sType = VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO,
                                                .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT};
    const VkImportMemoryFdInfoKHR imports = {.sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR,
                                             .handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT,
                                             .fd = file};
    const VkMemoryAllocateInfo memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                         .pNext = file < 0 ? (const void *)&exports : &imports,
                                         .allocationSize = needs.size,
                                         .memoryTypeIndex = vk_memory_type(vk, needs.memoryTypeBits, 0)};
    vk_check(vkAllocateMemory(vk->device, &memory, NULL, &b.memory), "vkAllocateMemory");
    vk_check(vkBindBufferMemory(vk->device, b.buffer, b.memory, 0), "vkBindBufferMemory");
    return b;
}

static VkSemaphore exportable(const struct vk *vk, VkExternalSemaphoreHandleTypeFlags type)
{
    const VkExportSemaphoreCreateInfo exports = {.sType = VK_STRUCTURE_TYPE_EXPORT_SEMAPHORE_CREATE_INFO,
                                                 .handleTypes = type};
    const VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = &exports};
    VkSemaphore semaphore;
    vk_check(vkCreateSemaphore(vk->device, &info, NULL, &semaphore), "vkCreateSemaphore");
    return semaphore;
}

/* Lets the second device's semaphore be the first one's. */
static void pass_semaphore(const struct vk *from, VkSemaphore semaphore, const struct vk *to,
                           VkSemaphore other, VkExternalSemaphoreHandleTypeFlagBits type)
{
    const VkSemaphoreGetFdInfoKHR get = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_GET_FD_INFO_KHR, .semaphore = semaphore, .handleType = type};
    VkImportSemaphoreFdInfoKHR import = {.sType = VK_STRUCTURE_TYPE_IMPORT_SEMAPHORE_FD_INFO_KHR,
                                         .semaphore = other,
                                         .flags = VK_SEMAPHORE_IMPORT_TEMPORARY_BIT,
                                         .handleType = type};
    vk_check(FUNCTION(from->device, vkGetSemaphoreFdKHR)(from->device, &get, &import.fd),
             "vkGetSemaphoreFdKHR");
    vk_check(FUNCTION(to->device, vkImportSemaphoreFdKHR)(to->device, &import), "vkImportSemaphoreFdKHR");
}

static VkFence fence_of_file_kind(const struct vk *vk)
{
    const VkExportFenceCreateInfo exports = {.sType = VK_STRUCTURE_TYPE_EXPORT_FENCE_CREATE_INFO,
                                             .handleTypes = VK_EXTERNAL_FENCE_HANDLE_TYPE_SYNC_FD_BIT};
    const VkFenceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO, .pNext = &exports};
    VkFence fence;
    vk_check(vkCreateFence(vk->device, &info, NULL, &fence), "vkCreateFence");
    return fence;
}

static void submit(const struct vk *vk, VkCommandBuffer commands, VkSemaphore wait, VkSemaphore signal,
                   VkFence fence)
{
    const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                               .waitSemaphoreCount = wait != VK_NULL_HANDLE,
                               .pWaitSemaphores = &wait,
                               .pWaitDstStageMask = &stage,
                               .commandBufferCount = commands != NULL,
                               .pCommandBuffers = &commands,
                               .signalSemaphoreCount = signal != VK_NULL_HANDLE,
                               .pSignalSemaphores = &signal};
    if (commands)
        vk_check(vkEndCommandBuffer(commands), "vkEndCommandBuffer");
    vk_check(vkQueueSubmit(vk->queue[0], 1, &info, fence), "vkQueueSubmit");
}

/* The first device fills the memory once the host says so, the second one copies it then, and a file tells
 * the host of the end. */
const char *vk_share(struct vk *vk)
{
    if (!vk->has_files)
        return NULL;
    struct vk other = vk_open(vk->folder);
    struct vk_buffer a = shared_buffer(vk, -1);
    const VkMemoryGetFdInfoKHR get = {.sType = VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR,
                                      .memory = a.memory,
                                      .handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT};
    int file;
    vk_check(FUNCTION(vk->device, vkGetMemoryFdKHR)(vk->device, &get, &file), "vkGetMemoryFdKHR");
    struct vk_buffer b = shared_buffer(&other, file), c = vk_buffer(&other, 4 * WORDS);

    const VkEventCreateInfo event_info = {.sType = VK_STRUCTURE_TYPE_EVENT_CREATE_INFO};
    VkEvent event;
    vk_check(vkCreateEvent(vk->device, &event_info, NULL, &event), "vkCreateEvent");
    const VkSemaphore filled = exportable(vk, VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT),
                      seen = exportable(&other, VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT);
    pass_semaphore(vk, filled, &other, seen, VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT);
    const VkCommandBuffer fill = vk_begin(vk), copy = vk_begin(&other);
    vkCmdWaitEvents(fill, 1, &event, VK_PIPELINE_STAGE_HOST_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT, 0, NULL, 0,
                    NULL, 0, NULL);
    vkCmdFillBuffer(fill, a.buffer, 0, VK_WHOLE_SIZE, 0x1234567);
    vkCmdCopyBuffer(copy, b.buffer, c.buffer, 1, &(VkBufferCopy){0, 0, 4 * WORDS});
    const VkFence fence = fence_of_file_kind(&other), same = fence_of_file_kind(vk);
    submit(vk, fill, VK_NULL_HANDLE, filled, VK_NULL_HANDLE);
    submit(&other, copy, seen, VK_NULL_HANDLE, fence);

    const VkFenceGetFdInfoKHR get_fence = {.sType = VK_STRUCTURE_TYPE_FENCE_GET_FD_INFO_KHR,
                                           .fence = fence,
                                           .handleType = VK_EXTERNAL_FENCE_HANDLE_TYPE_SYNC_FD_BIT};
    vk_check(FUNCTION(other.device, vkGetFenceFdKHR)(other.device, &get_fence, &file), "vkGetFenceFdKHR");
    struct pollfd ready = {.fd = dup(file), .events = POLLIN};
    const VkImportFenceFdInfoKHR import = {.sType = VK_STRUCTURE_TYPE_IMPORT_FENCE_FD_INFO_KHR,
                                           .fence = same,
                                           .flags = VK_FENCE_IMPORT_TEMPORARY_BIT,
                                           .handleType = VK_EXTERNAL_FENCE_HANDLE_TYPE_SYNC_FD_BIT,
                                           .fd = file};
    vk_check(FUNCTION(vk->device, vkImportFenceFdKHR)(vk->device, &import), "vkImportFenceFdKHR");
    EXPECT(poll(&ready, 1, 0) == 0, "the file is signalled before the event");
    EXPECT(vkGetFenceStatus(vk->device, same) == VK_NOT_READY, "the fence is signalled before the event");
    vk_check(vkSetEvent(vk->device, event), "vkSetEvent");
    EXPECT(poll(&ready, 1, -1) == 1 && ready.revents & POLLIN, "the file is not signalled");
    vk_check(vkWaitForFences(vk->device, 1, &same, VK_TRUE, UINT64_MAX), "vkWaitForFences");
    for (uint32_t i = 0; i < WORDS; i++)
        EXPECT(((const uint32_t *)c.bytes)[i] == 0x1234567, "c[%u] is %x", i, ((const uint32_t *)c.bytes)[i]);
    close(ready.fd);

    /* A semaphore's state at one time, as a file. */
    const VkSemaphore once = exportable(vk, VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_SYNC_FD_BIT),
                      taken = exportable(&other, VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_SYNC_FD_BIT);
    submit(vk, NULL, VK_NULL_HANDLE, once, VK_NULL_HANDLE);
    pass_semaphore(vk, once, &other, taken, VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_SYNC_FD_BIT);
    submit(&other, NULL, taken, VK_NULL_HANDLE, VK_NULL_HANDLE);
    vk_check(vkDeviceWaitIdle(other.device), "vkDeviceWaitIdle");
    vk_check(vkDeviceWaitIdle(vk->device), "vkDeviceWaitIdle");

    vkDestroySemaphore(vk->device, once, NULL);
    vkDestroySemaphore(other.device, taken, NULL);
    vkDestroySemaphore(vk->device, filled, NULL);
    vkDestroySemaphore(other.device, seen, NULL);
    vkDestroyFence(other.device, fence, NULL);
    vkDestroyFence(vk->device, same, NULL);
    vkDestroyEvent(vk->device, event, NULL);
    vk_free(vk, &a);
    vk_free(&other, &b);
    vk_free(&other, &c);
    vk_close(&other);
    return "";
}
