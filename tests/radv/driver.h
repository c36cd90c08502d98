/* SPDX-License-Identifier: MIT */
/* RADV for a GPU that is not present, and the memory that it takes.
 *
 * With RADV_FORCE_FAMILY, RADV has a "null winsys" (Mesa, src/amd/vulkan/winsys/null) instead of a kernel
 * driver. Its GPU memory is malloc'ed and has the GPU address 0, and so have its command buffers, which are
 * malloc'ed with 16 KiB. That is why driver.c has a malloc of its own, which remembers blocks: so it finds
 * the packets of the dispatch (and thus the exact state of the registers), the code, and the descriptors.
 * Each GPU address that the driver stores is then the offset in one of these blocks.
 *
 * The null winsys leaves out the functions that recording calls to note which memory is used. A call of
 * address 0 therefore returns 0 (see missing_function).
 */
#ifndef RADV_DRIVER_H
#define RADV_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan.h>

/* Memory that the driver takes while it is watched. */

enum {
    COMMANDS = 0x4000,    /* bytes of a command buffer */
    CODE_BLOCK = 0x40000, /* the least bytes of a block of code */
};
enum { BLOCKS = 64 };

extern struct block {
    void *bytes;
    size_t size;
} blocks[BLOCKS];
extern size_t block_count;
extern size_t watched_size; /* blocks of this size and more are remembered; 0: none */

/* Vulkan functions, found at run time so that only the headers are needed to build. */
#define DRIVER_FUNCTIONS(F)                                                                                  \
    F(EnumeratePhysicalDevices)                                                                              \
    F(GetPhysicalDeviceProperties)                                                                           \
    F(GetPhysicalDeviceProperties2)                                                                          \
    F(GetPhysicalDeviceFeatures2)                                                                            \
    F(CreateDevice)                                                                                          \
    F(DestroyDevice)                                                                                         \
    F(CreateBuffer)                                                                                          \
    F(CreateBufferView)                                                                                      \
    F(CreateImage)                                                                                           \
    F(CreateImageView)                                                                                       \
    F(BindImageMemory)                                                                                       \
    F(AllocateMemory)                                                                                        \
    F(BindBufferMemory)                                                                                      \
    F(CreateDescriptorSetLayout)                                                                             \
    F(CreatePipelineLayout)                                                                                  \
    F(CreateDescriptorPool)                                                                                  \
    F(AllocateDescriptorSets)                                                                                \
    F(UpdateDescriptorSets)                                                                                  \
    F(CreateShaderModule)                                                                                    \
    F(CreateComputePipelines)                                                                                \
    F(GetPipelineExecutableStatisticsKHR)                                                                    \
    F(CreateCommandPool)                                                                                     \
    F(AllocateCommandBuffers)                                                                                \
    F(BeginCommandBuffer)                                                                                    \
    F(EndCommandBuffer)                                                                                      \
    F(CmdBindPipeline)                                                                                       \
    F(CmdBindDescriptorSets)                                                                                 \
    F(CmdPushConstants)                                                                                      \
    F(CmdDispatch)                                                                                           \
    F(CreateGraphicsPipelines)                                                                               \
    F(CmdBindVertexBuffers)                                                                                  \
    F(CmdBeginRendering)                                                                                     \
    F(CmdEndRendering)                                                                                       \
    F(CmdDraw)
#define F(name) extern PFN_vk##name vk##name;
DRIVER_FUNCTIONS(F)
#undef F

/* All features that the GPU has. */
extern struct features {
    VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR executables;
    VkPhysicalDeviceVulkan13Features v13;
    VkPhysicalDeviceVulkan12Features v12;
    VkPhysicalDeviceVulkan11Features v11;
    VkPhysicalDeviceFeatures2 all;
    VkPhysicalDeviceSubgroupSizeControlProperties subgroups;
} features;

/* Ends the program with exit code 77, and with 1, or 77 if the driver is not Mesa 22.3. */
void skip(const char *why) __attribute__((noreturn));
void fail(const char *what, const char *why) __attribute__((noreturn));
void check(VkResult result, const char *what);

void open_driver(const char *family); /* and finds the features */
VkDevice open_device(void);           /* watches blocks of code */
VkShaderModule load_module(VkDevice device, const char *folder, const char *name);
void save(const char *folder, const char *name, const char *kind, const void *bytes, size_t size);

/* To be called before a pipeline is made. */
void keep_contents(void);
/* The code at an offset in a block, with the constants behind it. The driver has several blocks of code, of
 * whose memory the making of the pipeline has changed what begins there, with code, and nothing behind it. */
const uint8_t *find_code(uint64_t offset, size_t code_size, size_t *size);

#endif
