/* SPDX-License-Identifier: MIT */
/* The parts that the Vulkan programs of these tests have in common: a device, buffers, pipelines,
 * submissions. */
#ifndef TESTS_DRM_VK_H
#define TESTS_DRM_VK_H

#include <vulkan/vulkan.h>

#include <stdbool.h>
#include <stdint.h>

enum { VK_BUFFERS = 4 };

struct vk {
    VkInstance instance;
    VkPhysicalDevice gpu;
    VkDevice device;
    uint32_t family; /* of the queues: compute, without graphics if there is such a one */
    uint32_t queue_count;
    VkQueue queue[2];
    VkCommandPool pool;
    VkPhysicalDeviceProperties properties;
    VkPhysicalDeviceFeatures2 features;
    VkPhysicalDeviceVulkan11Features v11;
    VkPhysicalDeviceVulkan12Features v12;
    VkPhysicalDeviceVulkan13Features v13;
    VkPhysicalDeviceRobustness2FeaturesEXT robustness;
    bool has_robustness;
    bool has_files;     /* memory, semaphores and fences of others, by files */
    const char *folder; /* of the shaders */
};

struct vk_buffer {
    VkBuffer buffer;
    VkDeviceMemory memory;
    VkDeviceSize size;
    void *bytes; /* mapped, zeroed */
    VkDeviceAddress address;
};

struct vk_pipeline {
    VkDescriptorSetLayout set_layout;
    VkPipelineLayout layout;
    VkPipeline pipeline;
    VkDescriptorPool pool;
    VkDescriptorSet set;
};

/* Ends the program with a message. */
void vk_fail(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));
void vk_check(VkResult result, const char *what);

struct vk vk_open(const char *folder);
void vk_close(struct vk *vk);
/* sharing.c: a program, as those in programs.c. */
const char *vk_share(struct vk *vk);
/* Names an object for tools. */
void vk_name(const struct vk *vk, VkObjectType type, uint64_t object, const char *name);
uint32_t vk_memory_type(const struct vk *vk, uint32_t bits, VkMemoryPropertyFlags flags);
struct vk_buffer vk_buffer(const struct vk *vk, VkDeviceSize size);
void vk_free(const struct vk *vk, struct vk_buffer *buffer);
/* Bindings 0, 1, ... are storage buffers; `images` of the last ones are storage images instead. constants:
 * values of specialization constants 0, 1, ...; push: bytes of push constants. */
struct vk_pipeline vk_pipeline(const struct vk *vk, const char *shader, uint32_t buffers, uint32_t images,
                               const uint32_t *constants, uint32_t count, uint32_t push);
void vk_bind(const struct vk *vk, const struct vk_pipeline *pipeline, uint32_t binding,
             const struct vk_buffer *buffer);
void vk_bind_image(const struct vk *vk, const struct vk_pipeline *pipeline, uint32_t binding,
                   VkImageView view);
void vk_free_pipeline(const struct vk *vk, struct vk_pipeline *pipeline);

VkCommandBuffer vk_begin(const struct vk *vk);
void vk_use(VkCommandBuffer commands, const struct vk_pipeline *pipeline);
/* What was written before can be read behind it. */
void vk_barrier(VkCommandBuffer commands);
/* Ends the commands, submits them and waits. */
void vk_run(const struct vk *vk, VkCommandBuffer commands);
VkResult vk_try(const struct vk *vk, VkCommandBuffer commands);
/* One dispatch with all of it. */
void vk_dispatch(const struct vk *vk, const struct vk_pipeline *pipeline, const void *push, uint32_t bytes,
                 uint32_t x, uint32_t y, uint32_t z);

#endif
