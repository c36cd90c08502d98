/* SPDX-License-Identifier: MIT */
/* Compute programs of Vulkan that check themselves, for `wavemem exec` and for lavapipe.
 *
 * usage: vulkan-programs FOLDER_OF_SPIRV [NAME...]
 * Prints a line for each: "ok NAME", "skipped NAME: why", "wrong NAME: what". Exit code 1: one was wrong. */
#include "vk.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Each program returns what is wrong, "" if nothing is, or NULL if the device cannot do it. */
static char wrong[200];

#define EXPECT(condition, ...)                                                                               \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            snprintf(wrong, sizeof wrong, __VA_ARGS__);                                                      \
            return wrong;                                                                                    \
        }                                                                                                    \
    } while (0)

static uint32_t random_word(void)
{
    static uint32_t state = 12345;
    return state = state * 1664525 + 1013904223;
}

static void fill(struct vk_buffer *b, uint32_t limit)
{
    for (VkDeviceSize i = 0; i < b->size / 4; i++)
        ((uint32_t *)b->bytes)[i] = random_word() >> 8 & (limit - 1);
}

/* ---- arithmetic ---- */

static const char *add(struct vk *vk)
{
    enum { COUNT = 64 * 100 };
    struct vk_buffer a = vk_buffer(vk, 4 * COUNT), b = vk_buffer(vk, 4 * COUNT);
    struct vk_pipeline p = vk_pipeline(vk, "add", 2, 0, NULL, 0, 4);
    const uint32_t factor = 17, *from = a.bytes, *to = b.bytes;
    fill(&a, 1 << 20);
    vk_bind(vk, &p, 0, &a);
    vk_bind(vk, &p, 1, &b);
    vk_dispatch(vk, &p, &factor, 4, 100, 1, 1);
    for (uint32_t i = 0; i < COUNT; i++)
        EXPECT(to[i] == from[i] * 17 + i, "b[%u] is %u, not %u", i, to[i], from[i] * 17 + i);
    vk_free_pipeline(vk, &p);
    vk_free(vk, &a);
    vk_free(vk, &b);
    return "";
}

static const char *lds(struct vk *vk)
{
    enum { GROUPS = 50, COUNT = GROUPS * 256 };
    struct vk_buffer a = vk_buffer(vk, 4 * COUNT), b = vk_buffer(vk, 4 * (GROUPS + 1));
    struct vk_pipeline p = vk_pipeline(vk, "lds", 2, 0, NULL, 0, 0);
    const uint32_t *from = a.bytes, *to = b.bytes;
    uint32_t total = 0;
    fill(&a, 1 << 16);
    vk_bind(vk, &p, 0, &a);
    vk_bind(vk, &p, 1, &b);
    vk_dispatch(vk, &p, NULL, 0, GROUPS, 1, 1);
    for (uint32_t g = 0; g < GROUPS; g++) {
        uint32_t sum = 0;
        for (uint32_t i = 0; i < 256; i++)
            sum += from[g * 256 + i];
        EXPECT(to[1 + g] == sum, "the sum of workgroup %u is %u, not %u", g, to[1 + g], sum);
        total += sum;
    }
    EXPECT(to[0] == total, "the total is %u, not %u", to[0], total);
    vk_free_pipeline(vk, &p);
    vk_free(vk, &a);
    vk_free(vk, &b);
    return "";
}

static const char *subgroup(struct vk *vk)
{
    enum { COUNT = 256 };
    VkPhysicalDeviceSubgroupProperties subgroups = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES};
    VkPhysicalDeviceProperties2 properties = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                              .pNext = &subgroups};
    vkGetPhysicalDeviceProperties2(vk->gpu, &properties);
    const VkSubgroupFeatureFlags needed =
        VK_SUBGROUP_FEATURE_ARITHMETIC_BIT | VK_SUBGROUP_FEATURE_BALLOT_BIT | VK_SUBGROUP_FEATURE_SHUFFLE_BIT;
    const uint32_t size = subgroups.subgroupSize;
    if ((subgroups.supportedOperations & needed) != needed)
        return NULL;
    struct vk_buffer a = vk_buffer(vk, 4 * COUNT), b = vk_buffer(vk, 16 * COUNT);
    struct vk_pipeline p = vk_pipeline(vk, "subgroup", 2, 0, NULL, 0, 0);
    const uint32_t *from = a.bytes, *to = b.bytes;
    fill(&a, 1 << 16);
    vk_bind(vk, &p, 0, &a);
    vk_bind(vk, &p, 1, &b);
    vk_dispatch(vk, &p, NULL, 0, COUNT / 64, 1, 1);
    for (uint32_t i = 0; i < COUNT; i++) {
        const uint32_t first = i / size * size;
        uint32_t all = 0, before = 0, odd = 0;
        for (uint32_t k = first; k < first + size; k++) {
            all += from[k];
            before += k < i ? from[k] : 0;
            odd += from[k] & 1;
        }
        const uint32_t shuffled = from[i ^ 1] | from[first + ((i - first) * 5 + 3) % size] << 16;
        const uint32_t *v = to + 4 * i;
        EXPECT(v[0] == all && v[1] == before && v[2] == odd && v[3] == shuffled,
               "invocation %u: %u %u %u %u, not %u %u %u %u", i, v[0], v[1], v[2], v[3], all, before, odd,
               shuffled);
    }
    vk_free_pipeline(vk, &p);
    vk_free(vk, &a);
    vk_free(vk, &b);
    return "";
}

static const char *small(struct vk *vk)
{
    enum { COUNT = 512 };
    if (!vk->v12.storageBuffer8BitAccess || !vk->v11.storageBuffer16BitAccess || !vk->v12.shaderInt8 ||
        !vk->features.features.shaderInt16)
        return NULL;
    struct vk_buffer a = vk_buffer(vk, COUNT), b = vk_buffer(vk, 2 * COUNT);
    struct vk_pipeline p = vk_pipeline(vk, "small", 2, 0, NULL, 0, 0);
    uint8_t before[COUNT], *from = a.bytes;
    const uint16_t *to = b.bytes;
    for (uint32_t i = 0; i < COUNT; i++)
        from[i] = before[i] = (uint8_t)random_word();
    vk_bind(vk, &p, 0, &a);
    vk_bind(vk, &p, 1, &b);
    vk_dispatch(vk, &p, NULL, 0, COUNT / 64, 1, 1);
    for (uint32_t i = 0; i < COUNT; i++)
        EXPECT(to[i] == before[i] * 257 && from[i] == (uint8_t)(before[i] + 1), "element %u of %u: %u and %u",
               i, before[i], to[i], from[i]);
    vk_free_pipeline(vk, &p);
    vk_free(vk, &a);
    vk_free(vk, &b);
    return "";
}

static const char *wide(struct vk *vk)
{
    enum { COUNT = 512 };
    if (!vk->features.features.shaderFloat64 || !vk->features.features.shaderInt64 ||
        !vk->v12.shaderBufferInt64Atomics)
        return NULL;
    struct vk_buffer a = vk_buffer(vk, 8 * COUNT), b = vk_buffer(vk, 8 * COUNT), c = vk_buffer(vk, 16);
    struct vk_pipeline p = vk_pipeline(vk, "wide", 3, 0, NULL, 0, 0);
    double *from = a.bytes;
    const double *to = b.bytes;
    const uint64_t *sums = c.bytes;
    for (uint32_t i = 0; i < COUNT; i++)
        from[i] = random_word() / 1e5;
    vk_bind(vk, &p, 0, &a);
    vk_bind(vk, &p, 1, &b);
    vk_bind(vk, &p, 2, &c);
    vk_dispatch(vk, &p, NULL, 0, COUNT / 64, 1, 1);
    for (uint32_t i = 0; i < COUNT; i++) {
        const double wanted = from[i] * from[i] + sqrt(from[i]) / 3;
        EXPECT(fabs(to[i] - wanted) <= 1e-12 * wanted, "b[%u] is %.17g, not %.17g", i, to[i], wanted);
    }
    EXPECT(sums[0] == (uint64_t)(COUNT * (COUNT - 1) / 2) << 33, "the sum is %llx",
           (unsigned long long)sums[0]);
    EXPECT(sums[1] == (COUNT - 1) * UINT64_C(1000000007), "the most is %llu", (unsigned long long)sums[1]);
    vk_free_pipeline(vk, &p);
    vk_free(vk, &a);
    vk_free(vk, &b);
    vk_free(vk, &c);
    return "";
}

static const char *address(struct vk *vk)
{
    enum { COUNT = 1024 };
    if (!vk->v12.bufferDeviceAddress)
        return NULL;
    struct vk_buffer a = vk_buffer(vk, 4 * COUNT), b = vk_buffer(vk, 4 * COUNT);
    struct vk_pipeline p = vk_pipeline(vk, "address", 0, 0, NULL, 0, 16);
    const uint64_t push[2] = {a.address, b.address};
    const uint32_t *from = a.bytes, *to = b.bytes;
    fill(&a, 1 << 24);
    vk_dispatch(vk, &p, push, sizeof push, COUNT / 64, 1, 1);
    for (uint32_t i = 0; i < COUNT; i++)
        EXPECT(to[i] == (from[i] ^ 0x55aa55aa), "word %u is %x", i, to[i]);
    vk_free_pipeline(vk, &p);
    vk_free(vk, &a);
    vk_free(vk, &b);
    return "";
}

static const char *scratch(struct vk *vk)
{
    enum { COUNT = 64 * 64 };
    const uint32_t length = 200;
    struct vk_buffer a = vk_buffer(vk, 4 * (COUNT + 8)), b = vk_buffer(vk, 4 * COUNT);
    struct vk_pipeline p = vk_pipeline(vk, "scratch", 2, 0, &length, 1, 0);
    const uint32_t *from = a.bytes, *to = b.bytes;
    fill(&a, 1 << 16);
    vk_bind(vk, &p, 0, &a);
    vk_bind(vk, &p, 1, &b);
    vk_dispatch(vk, &p, NULL, 0, COUNT / 64, 1, 1);
    for (uint32_t i = 0; i < COUNT; i++) {
        uint32_t own[256], sum = 0;
        for (uint32_t k = 0; k < length; k++)
            own[(k * 7 + from[i]) % length] = k * i;
        for (uint32_t k = 0; k < length; k++)
            sum = sum * 3 + own[(k + from[i + k % 5]) % length];
        EXPECT(to[i] == sum, "b[%u] is %u, not %u", i, to[i], sum);
    }
    vk_free_pipeline(vk, &p);
    vk_free(vk, &a);
    vk_free(vk, &b);
    return "";
}

/* ---- dispatches ---- */

/* Every invocation of the box from first to end has run once, and no other. */
static const char *check_box(const uint32_t *a, const uint32_t first[3], const uint32_t end[3],
                             const uint32_t size[3])
{
    for (uint32_t z = 0; z < size[2]; z++)
        for (uint32_t y = 0; y < size[1]; y++)
            for (uint32_t x = 0; x < size[0]; x++) {
                const bool inside =
                    x >= first[0] && x < end[0] && y >= first[1] && y < end[1] && z >= first[2] && z < end[2];
                const uint32_t wanted = inside ? 1 + x + 100 * y + 10000 * z : 0,
                               is = a[(z * size[1] + y) * size[0] + x];
                EXPECT(is == wanted, "at %u %u %u: %u, not %u", x, y, z, is, wanted);
            }
    return "";
}

static const char *base(struct vk *vk)
{
    const uint32_t size[3] = {4 * 7, 2 * 6, 2 * 5}, first[3] = {4 * 2, 2 * 1, 2 * 3},
                   end[3] = {4 * 5, 2 * 4, 2 * 5};
    struct vk_buffer a = vk_buffer(vk, 4 * size[0] * size[1] * size[2]);
    struct vk_pipeline p = vk_pipeline(vk, "box", 1, 0, NULL, 0, 8);
    const VkCommandBuffer commands = vk_begin(vk);
    vk_bind(vk, &p, 0, &a);
    vk_use(commands, &p);
    vkCmdPushConstants(commands, p.layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, 8, size);
    vkCmdDispatchBase(commands, 2, 1, 3, 3, 3, 2);
    vk_run(vk, commands);
    const char *result = check_box(a.bytes, first, end, size);
    vk_free_pipeline(vk, &p);
    vk_free(vk, &a);
    return result;
}

static const char *indirect(struct vk *vk)
{
    const uint32_t size[3] = {4 * 5, 2 * 3, 2 * 2}, first[3] = {0, 0, 0}, counts[3] = {5, 3, 2};
    struct vk_buffer a = vk_buffer(vk, 4 * size[0] * size[1] * size[2]), where = vk_buffer(vk, 64);
    struct vk_pipeline p = vk_pipeline(vk, "box", 1, 0, NULL, 0, 8);
    const VkCommandBuffer commands = vk_begin(vk);
    vk_bind(vk, &p, 0, &a);
    vkCmdUpdateBuffer(commands, where.buffer, 16, sizeof counts, counts);
    vk_barrier(commands);
    vk_use(commands, &p);
    vkCmdPushConstants(commands, p.layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, 8, size);
    vkCmdDispatchIndirect(commands, where.buffer, 16);
    vk_run(vk, commands);
    const char *result = check_box(a.bytes, first, size, size);
    vk_free_pipeline(vk, &p);
    vk_free(vk, &a);
    vk_free(vk, &where);
    return result;
}

static const char *many(struct vk *vk)
{
    enum { COUNT = 64, TIMES = 1000 };
    struct vk_buffer a = vk_buffer(vk, 4 * COUNT);
    struct vk_pipeline p = vk_pipeline(vk, "add", 2, 0, NULL, 0, 4);
    const VkCommandBuffer commands = vk_begin(vk);
    const uint32_t factor = 1, *to = a.bytes;
    vk_bind(vk, &p, 0, &a);
    vk_bind(vk, &p, 1, &a);
    vk_use(commands, &p);
    vkCmdPushConstants(commands, p.layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, 4, &factor);
    for (int i = 0; i < TIMES; i++) {
        vkCmdDispatch(commands, 1, 1, 1);
        vk_barrier(commands);
    }
    vk_run(vk, commands);
    for (uint32_t i = 0; i < COUNT; i++)
        EXPECT(to[i] == TIMES * i, "a[%u] is %u", i, to[i]);
    vk_free_pipeline(vk, &p);
    vk_free(vk, &a);
    return "";
}

/* ---- transfers and synchronization ---- */

static const char *copy(struct vk *vk)
{
    enum { COUNT = 1 << 16 };
    struct vk_buffer a = vk_buffer(vk, 4 * COUNT), b = vk_buffer(vk, 4 * COUNT);
    const VkCommandBuffer commands = vk_begin(vk);
    const VkBufferCopy regions[] = {{0, 8, 4 * COUNT / 2}, {4 * COUNT / 2 + 12, 4 * COUNT - 64, 20}};
    const uint32_t *from = a.bytes, *to = b.bytes;
    fill(&a, 1 << 24);
    vkCmdFillBuffer(commands, b.buffer, 0, VK_WHOLE_SIZE, 0xabcd1234);
    vk_barrier(commands);
    vkCmdCopyBuffer(commands, a.buffer, b.buffer, 2, regions);
    vk_run(vk, commands);
    for (uint32_t i = 0; i < COUNT; i++) {
        const uint32_t wanted = i >= 2 && i < 2 + COUNT / 2 ? from[i - 2]
                                : i >= COUNT - 16 && i < COUNT - 16 + 5
                                    ? from[COUNT / 2 + 3 + i - (COUNT - 16)]
                                    : 0xabcd1234;
        EXPECT(to[i] == wanted, "b[%u] is %x, not %x", i, to[i], wanted);
    }
    vk_free(vk, &a);
    vk_free(vk, &b);
    return "";
}

static const char *timestamps(struct vk *vk)
{
    if (!vk->properties.limits.timestampComputeAndGraphics)
        return NULL;
    const VkQueryPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                                        .queryType = VK_QUERY_TYPE_TIMESTAMP,
                                        .queryCount = 2};
    VkQueryPool pool;
    uint64_t times[2] = {0, 0};
    vk_check(vkCreateQueryPool(vk->device, &info, NULL, &pool), "vkCreateQueryPool");
    const VkCommandBuffer commands = vk_begin(vk);
    vkCmdResetQueryPool(commands, pool, 0, 2);
    vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, pool, 0);
    vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, pool, 1);
    vk_run(vk, commands);
    const VkResult result = vkGetQueryPoolResults(vk->device, pool, 0, 2, sizeof times, times, 8,
                                                  VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT);
    EXPECT(result == VK_SUCCESS && times[0] && times[1] >= times[0], "VkResult %d, %llu and %llu", result,
           (unsigned long long)times[0], (unsigned long long)times[1]);
    vkDestroyQueryPool(vk->device, pool, NULL);
    return "";
}

/* The commands wait for the host, which sets the event behind the submission. */
static const char *event(struct vk *vk)
{
    const VkEventCreateInfo info = {.sType = VK_STRUCTURE_TYPE_EVENT_CREATE_INFO};
    const VkFenceCreateInfo fence_info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    struct vk_buffer a = vk_buffer(vk, 4);
    VkEvent first;
    VkFence fence;
    vk_check(vkCreateEvent(vk->device, &info, NULL, &first), "vkCreateEvent");
    vk_check(vkCreateFence(vk->device, &fence_info, NULL, &fence), "vkCreateFence");
    const VkCommandBuffer commands = vk_begin(vk);
    vkCmdWaitEvents(commands, 1, &first, VK_PIPELINE_STAGE_HOST_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT, 0, NULL,
                    0, NULL, 0, NULL);
    vkCmdFillBuffer(commands, a.buffer, 0, 4, 1);
    const VkSubmitInfo submit = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &commands};
    vk_check(vkEndCommandBuffer(commands), "vkEndCommandBuffer");
    vk_check(vkQueueSubmit(vk->queue[0], 1, &submit, fence), "vkQueueSubmit");
    EXPECT(vkGetFenceStatus(vk->device, fence) == VK_NOT_READY, "the commands did not wait for the event");
    EXPECT(*(volatile uint32_t *)a.bytes == 0, "the store came before the event");
    vk_check(vkSetEvent(vk->device, first), "vkSetEvent");
    vk_check(vkWaitForFences(vk->device, 1, &fence, VK_TRUE, UINT64_MAX), "vkWaitForFences");
    EXPECT(*(volatile uint32_t *)a.bytes == 1, "the store did not come");
    vkDestroyFence(vk->device, fence, NULL);
    vkDestroyEvent(vk->device, first, NULL);
    vkFreeCommandBuffers(vk->device, vk->pool, 1, &commands);
    vk_free(vk, &a);
    return "";
}

/* A kernel that waits for a store of the host, behind the submission. */
static const char *spin(struct vk *vk)
{
    const VkFenceCreateInfo fence_info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    struct vk_buffer a = vk_buffer(vk, 8);
    struct vk_pipeline p = vk_pipeline(vk, "spin", 1, 0, NULL, 0, 0);
    VkFence fence;
    volatile uint32_t *words = a.bytes;
    vk_bind(vk, &p, 0, &a);
    vk_check(vkCreateFence(vk->device, &fence_info, NULL, &fence), "vkCreateFence");
    const VkCommandBuffer commands = vk_begin(vk);
    vk_use(commands, &p);
    vkCmdDispatch(commands, 1, 1, 1);
    const VkSubmitInfo submit = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &commands};
    vk_check(vkEndCommandBuffer(commands), "vkEndCommandBuffer");
    vk_check(vkQueueSubmit(vk->queue[0], 1, &submit, fence), "vkQueueSubmit");
    EXPECT(vkGetFenceStatus(vk->device, fence) == VK_NOT_READY, "the kernel did not wait");
    words[0] = 5;
    vk_check(vkWaitForFences(vk->device, 1, &fence, VK_TRUE, UINT64_MAX), "vkWaitForFences");
    EXPECT(words[1] == 5, "the kernel saw %u", words[1]);
    vkDestroyFence(vk->device, fence, NULL);
    vkFreeCommandBuffers(vk->device, vk->pool, 1, &commands);
    vk_free_pipeline(vk, &p);
    vk_free(vk, &a);
    return "";
}

static VkSemaphore timeline(const struct vk *vk)
{
    const VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                            .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    const VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = &type};
    VkSemaphore semaphore;
    vk_check(vkCreateSemaphore(vk->device, &info, NULL, &semaphore), "vkCreateSemaphore");
    return semaphore;
}

/* Two queues pass a number back and forth: each adds to what the other one left. The first waits for the
 * host. */
static const char *queues(struct vk *vk)
{
    enum { ROUNDS = 20 };
    if (!vk->v12.timelineSemaphore || vk->queue_count < 2)
        return NULL;
    struct vk_buffer a = vk_buffer(vk, 4 * 64);
    struct vk_pipeline p = vk_pipeline(vk, "add", 2, 0, NULL, 0, 4);
    const uint32_t factor = 3, *to = a.bytes;
    const VkSemaphore semaphore = timeline(vk);
    VkCommandBuffer commands[ROUNDS];
    vk_bind(vk, &p, 0, &a);
    vk_bind(vk, &p, 1, &a);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        const uint64_t wait = i + 1, signal = i + 2;
        const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
        commands[i] = vk_begin(vk);
        vk_use(commands[i], &p);
        vkCmdPushConstants(commands[i], p.layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, 4, &factor);
        vkCmdDispatch(commands[i], 1, 1, 1);
        vk_check(vkEndCommandBuffer(commands[i]), "vkEndCommandBuffer");
        const VkTimelineSemaphoreSubmitInfo values = {.sType =
                                                          VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
                                                      .waitSemaphoreValueCount = 1,
                                                      .pWaitSemaphoreValues = &wait,
                                                      .signalSemaphoreValueCount = 1,
                                                      .pSignalSemaphoreValues = &signal};
        const VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                     .pNext = &values,
                                     .waitSemaphoreCount = 1,
                                     .pWaitSemaphores = &semaphore,
                                     .pWaitDstStageMask = &stage,
                                     .commandBufferCount = 1,
                                     .pCommandBuffers = &commands[i],
                                     .signalSemaphoreCount = 1,
                                     .pSignalSemaphores = &semaphore};
        vk_check(vkQueueSubmit(vk->queue[i % 2], 1, &submit, VK_NULL_HANDLE), "vkQueueSubmit");
    }
    const VkSemaphoreSignalInfo begin = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO, .semaphore = semaphore, .value = 1};
    EXPECT(to[63] == 0, "the queues did not wait for the host");
    vk_check(vkSignalSemaphore(vk->device, &begin), "vkSignalSemaphore");
    const uint64_t last = ROUNDS + 1;
    const VkSemaphoreWaitInfo wait = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                      .semaphoreCount = 1,
                                      .pSemaphores = &semaphore,
                                      .pValues = &last};
    vk_check(vkWaitSemaphores(vk->device, &wait, UINT64_MAX), "vkWaitSemaphores");
    for (uint32_t i = 0; i < 64; i++) {
        uint32_t value = 0;
        for (int k = 0; k < ROUNDS; k++)
            value = value * 3 + i;
        EXPECT(to[i] == value, "a[%u] is %u, not %u", i, to[i], value);
    }
    vk_check(vkDeviceWaitIdle(vk->device), "vkDeviceWaitIdle");
    vkFreeCommandBuffers(vk->device, vk->pool, ROUNDS, commands);
    vkDestroySemaphore(vk->device, semaphore, NULL);
    vk_free_pipeline(vk, &p);
    vk_free(vk, &a);
    return "";
}

/* ---- robustness ---- */

/* With robustBufferAccess2, loads behind the end are 0 and stores there do nothing. */
static const char *robust(struct vk *vk)
{
    if (!vk->has_robustness || !vk->robustness.robustBufferAccess2)
        return NULL;
    struct vk_buffer a = vk_buffer(vk, 4 * 100), b = vk_buffer(vk, 4 * 128);
    struct vk_pipeline p = vk_pipeline(vk, "robust", 2, 0, NULL, 0, 4);
    const uint32_t from = 80;
    uint32_t *words = a.bytes;
    const uint32_t *to = b.bytes;
    for (uint32_t i = 0; i < 100; i++)
        words[i] = 1000 + i;
    vk_bind(vk, &p, 0, &a);
    vk_bind(vk, &p, 1, &b);
    vk_dispatch(vk, &p, &from, 4, 1, 1, 1);
    for (uint32_t i = 0; i < 64; i++) {
        EXPECT(to[i] == (i < 20 ? 1080 + i : 0), "b[%u] is %u", i, to[i]);
        EXPECT(to[64 + i] == 100, "the length is %u", to[64 + i]);
    }
    for (uint32_t i = 0; i < 100; i++)
        EXPECT(words[i] == (i >= 80 && i % 2 ? 7 : 1000 + i), "a[%u] is %u", i, words[i]);
    vk_free_pipeline(vk, &p);
    vk_free(vk, &a);
    vk_free(vk, &b);
    return "";
}

/* ---- images ---- */

struct image {
    VkImage image;
    VkDeviceMemory memory;
    VkImageView view;
};

static struct image make_image(const struct vk *vk, VkImageTiling tiling, uint32_t width, uint32_t height)
{
    struct image i;
    const VkImageCreateInfo info = {.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                                    .imageType = VK_IMAGE_TYPE_2D,
                                    .format = VK_FORMAT_R8G8B8A8_UINT,
                                    .extent = {width, height, 1},
                                    .mipLevels = 1,
                                    .arrayLayers = 1,
                                    .samples = VK_SAMPLE_COUNT_1_BIT,
                                    .tiling = tiling,
                                    .usage = VK_IMAGE_USAGE_STORAGE_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT |
                                             VK_IMAGE_USAGE_TRANSFER_DST_BIT};
    VkMemoryRequirements needs;
    vk_check(vkCreateImage(vk->device, &info, NULL, &i.image), "vkCreateImage");
    vkGetImageMemoryRequirements(vk->device, i.image, &needs);
    const VkMemoryAllocateInfo memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                         .allocationSize = needs.size,
                                         .memoryTypeIndex = vk_memory_type(vk, needs.memoryTypeBits, 0)};
    vk_check(vkAllocateMemory(vk->device, &memory, NULL, &i.memory), "vkAllocateMemory");
    vk_check(vkBindImageMemory(vk->device, i.image, i.memory, 0), "vkBindImageMemory");
    const VkImageViewCreateInfo view = {.sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
                                        .image = i.image,
                                        .viewType = VK_IMAGE_VIEW_TYPE_2D,
                                        .format = VK_FORMAT_R8G8B8A8_UINT,
                                        .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1}};
    vk_check(vkCreateImageView(vk->device, &view, NULL, &i.view), "vkCreateImageView");
    return i;
}

static void free_image(const struct vk *vk, struct image *i)
{
    vkDestroyImageView(vk->device, i->view, NULL);
    vkDestroyImage(vk->device, i->image, NULL);
    vkFreeMemory(vk->device, i->memory, NULL);
}

static void to_general(VkCommandBuffer commands, VkImage image)
{
    const VkImageMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
                                          .dstAccessMask =
                                              VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT,
                                          .oldLayout = VK_IMAGE_LAYOUT_UNDEFINED,
                                          .newLayout = VK_IMAGE_LAYOUT_GENERAL,
                                          .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                                          .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                                          .image = image,
                                          .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1}};
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0,
                         0, NULL, 0, NULL, 1, &barrier);
}

/* A shader stores all texels; another one loads them the other way round; a copy to a buffer has them as they
 * are; and what a copy from a buffer writes is loaded. */
static const char *try_image(struct vk *vk, VkImageTiling tiling)
{
    enum { WIDTH = 150, HEIGHT = 70, COUNT = WIDTH * HEIGHT };
    struct image image = make_image(vk, tiling, WIDTH, HEIGHT);
    struct vk_buffer a = vk_buffer(vk, 4 * COUNT), b = vk_buffer(vk, 4 * COUNT), c = vk_buffer(vk, 4 * COUNT),
                     d = vk_buffer(vk, 4 * COUNT), e = vk_buffer(vk, 4 * COUNT);
    struct vk_pipeline p[3];
    struct vk_buffer *own[3] = {&a, &b, &e};
    const uint32_t loads[3] = {0, 1, 1};
    const VkBufferImageCopy region = {.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                                      .imageExtent = {WIDTH, HEIGHT, 1}};
    const uint32_t *from = a.bytes, *to = b.bytes, *copied = c.bytes, *given = d.bytes, *back = e.bytes;
    fill(&a, 1 << 24);
    fill(&d, 1 << 24);
    const VkCommandBuffer commands = vk_begin(vk);
    to_general(commands, image.image);
    for (int i = 0; i < 3; i++) {
        p[i] = vk_pipeline(vk, "image", 1, 1, NULL, 0, 4);
        vk_bind(vk, &p[i], 0, own[i]);
        vk_bind_image(vk, &p[i], 1, image.view);
        vk_use(commands, &p[i]);
        vkCmdPushConstants(commands, p[i].layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, 4, &loads[i]);
        vkCmdDispatch(commands, (WIDTH + 7) / 8, (HEIGHT + 7) / 8, 1);
        vk_barrier(commands);
        if (i == 1) {
            vkCmdCopyImageToBuffer(commands, image.image, VK_IMAGE_LAYOUT_GENERAL, c.buffer, 1, &region);
            vk_barrier(commands);
            vkCmdCopyBufferToImage(commands, d.buffer, image.image, VK_IMAGE_LAYOUT_GENERAL, 1, &region);
            vk_barrier(commands);
        }
    }
    vk_run(vk, commands);
    for (uint32_t y = 0; y < HEIGHT; y++)
        for (uint32_t x = 0; x < WIDTH; x++) {
            const uint32_t at = y * WIDTH + x, other = (HEIGHT - 1 - y) * WIDTH + WIDTH - 1 - x;
            EXPECT(to[at] == from[other], "loaded at %u %u: %x, not %x", x, y, to[at], from[other]);
            EXPECT(copied[at] == from[at], "copied at %u %u: %x, not %x", x, y, copied[at], from[at]);
            EXPECT(back[at] == given[other], "copied and loaded at %u %u: %x, not %x", x, y, back[at],
                   given[other]);
        }
    for (int i = 0; i < 3; i++)
        vk_free_pipeline(vk, &p[i]);
    free_image(vk, &image);
    vk_free(vk, &a);
    vk_free(vk, &b);
    vk_free(vk, &c);
    vk_free(vk, &d);
    vk_free(vk, &e);
    return "";
}

static const char *linear(struct vk *vk)
{
    return try_image(vk, VK_IMAGE_TILING_LINEAR);
}

static const char *tiled(struct vk *vk)
{
    return try_image(vk, VK_IMAGE_TILING_OPTIMAL);
}

/* ---- pipelines ---- */

/* Pipelines that come and go: memory of code is used again. */
static const char *pipelines(struct vk *vk)
{
    enum { TIMES = 100, COUNT = 64 };
    struct vk_buffer a = vk_buffer(vk, 4 * (COUNT + 8)), b = vk_buffer(vk, 4 * COUNT);
    const uint32_t *from = a.bytes, *to = b.bytes;
    fill(&a, 1 << 16);
    for (uint32_t n = 1; n <= TIMES; n++) {
        struct vk_pipeline p = vk_pipeline(vk, "scratch", 2, 0, &n, 1, 0);
        vk_bind(vk, &p, 0, &a);
        vk_bind(vk, &p, 1, &b);
        vk_dispatch(vk, &p, NULL, 0, 1, 1, 1);
        for (uint32_t i = 0; i < COUNT; i++) {
            uint32_t own[256] = {0}, sum = 0;
            for (uint32_t k = 0; k < n; k++)
                own[(k * 7 + from[i]) % n] = k * i;
            for (uint32_t k = 0; k < n && n % 7; k++)
                sum = sum * 3 + own[(k + from[i + k % 5]) % n];
            EXPECT(n % 7 == 0 || to[i] == sum, "length %u: b[%u] is %u, not %u", n, i, to[i], sum);
        }
        vk_free_pipeline(vk, &p);
    }
    vk_free(vk, &a);
    vk_free(vk, &b);
    return "";
}

static const struct {
    const char *name;
    const char *(*run)(struct vk *vk);
} programs[] = {
    {"add", add},           {"lds", lds},         {"subgroup", subgroup},   {"small", small},
    {"wide", wide},         {"address", address}, {"scratch", scratch},     {"base", base},
    {"indirect", indirect}, {"many", many},       {"copy", copy},           {"timestamps", timestamps},
    {"event", event},       {"spin", spin},       {"queues", queues},       {"robust", robust},
    {"linear", linear},     {"tiled", tiled},     {"pipelines", pipelines}, {"share", vk_share}};

static bool is_wanted(const char *name, int count, char **names)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(names[i], name))
            return true;
    return !count;
}

int main(int argc, char **argv)
{
    int failed = 0;
    if (argc < 2)
        vk_fail("usage: %s FOLDER_OF_SPIRV [NAME...]", argv[0]);
    struct vk vk = vk_open(argv[1]);
    printf("%s, queue family %u\n", vk.properties.deviceName, vk.family);
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        if (!is_wanted(programs[i].name, argc - 2, argv + 2))
            continue;
        const char *result = programs[i].run(&vk);
        if (!result)
            printf("skipped %s: the device cannot do it\n", programs[i].name);
        else
            printf("%s %s%s%s\n", *result ? "wrong" : "ok", programs[i].name, *result ? ": " : "", result);
        fflush(stdout);
        failed |= result && *result;
    }
    vk_close(&vk);
    return failed;
}
