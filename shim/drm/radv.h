/* SPDX-License-Identifier: MIT */
/* libwavemem-radv.so: a Vulkan driver in front of RADV, which hands nearly all to it. */
#ifndef SHIM_DRM_RADV_H
#define SHIM_DRM_RADV_H

#include <vulkan/vulkan_core.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RADV_NAME = 128 };

/* A function that takes the place of RADV's. */
struct radv_function {
    const char *name;
    PFN_vkVoidFunction function;
};

/* objects.c: whether somebody wants names. */
bool radv_can_name(void);
/* Those of devices, up to one without a name. */
extern const struct radv_function radv_device_functions[];
/* RADV's vkCreateDevice, and names for its objects; `instance_proc` finds functions of RADV's. */
VkResult radv_create_device(PFN_vkGetInstanceProcAddr instance_proc, VkInstance instance,
                            VkPhysicalDevice gpu, const VkDeviceCreateInfo *info,
                            const VkAllocationCallbacks *allocator, VkDevice *device);
/* RADV's function of a device; NULL: it has none of that name. */
PFN_vkVoidFunction radv_device_function(VkDevice device, const char *name);

/* spirv.c: what to call a shader: its entry point, unless it is "main", and the file of its source, if the
 * module names it; "": neither. */
void radv_shader_name(const uint32_t *words, size_t count, const char *entry, char name[RADV_NAME]);

#endif
