/* SPDX-License-Identifier: MIT */
/* A Vulkan driver in front of RADV: learns what the program calls its objects (objects.c), and, if wanted,
 * hides the queues for graphics. Programs that take the first family with compute then take the one without
 * graphics, where RADV copies and clears images by dispatches instead of draws. Source of the interface:
 * Vulkan-Loader, docs/LoaderDriverInterface.md. */
#include "shim/drm/radv.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define API __attribute__((visibility("default")))

API PFN_vkVoidFunction vk_icdGetInstanceProcAddr(VkInstance instance, const char *name);
API PFN_vkVoidFunction vk_icdGetPhysicalDeviceProcAddr(VkInstance instance, const char *name);
API VkResult vk_icdNegotiateLoaderICDInterfaceVersion(uint32_t *version);

static void *radv(const char *name)
{
    static void *library;
    const char *path = getenv("WAVEMEM_RADV");
    library = library ? library : dlopen(path ? path : "libvulkan_radeon.so", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "wavemem: RADV cannot be loaded: %s\n", dlerror());
        exit(2);
    }
    return dlsym(library, name);
}

static PFN_vkGetInstanceProcAddr real(void)
{
    static PFN_vkGetInstanceProcAddr address;
    return address = address ? address : (PFN_vkGetInstanceProcAddr)radv("vk_icdGetInstanceProcAddr");
}

/* Vulkan has functions of drivers without an instance; these have one, the last that was made, and their
 * addresses are the same for all. */
static PFN_vkGetPhysicalDeviceQueueFamilyProperties get_families;
static PFN_vkGetPhysicalDeviceQueueFamilyProperties2 get_families2;
static VkInstance last;

static void hide(VkQueueFamilyProperties *family)
{
    if (family->queueFlags & VK_QUEUE_GRAPHICS_BIT)
        family->queueFlags &= ~(VkQueueFlags)(VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT);
}

static void families(VkPhysicalDevice gpu, uint32_t *count, VkQueueFamilyProperties *given)
{
    get_families(gpu, count, given);
    for (uint32_t i = 0; given && i < *count; i++)
        hide(&given[i]);
}

static void families2(VkPhysicalDevice gpu, uint32_t *count, VkQueueFamilyProperties2 *given)
{
    get_families2(gpu, count, given);
    for (uint32_t i = 0; given && i < *count; i++)
        hide(&given[i].queueFamilyProperties);
}

static VkResult create_device(VkPhysicalDevice gpu, const VkDeviceCreateInfo *info,
                              const VkAllocationCallbacks *allocator, VkDevice *device)
{
    return radv_create_device(real(), last, gpu, info, allocator, device);
}

static PFN_vkVoidFunction named_function(const char *name)
{
    for (const struct radv_function *f = radv_device_functions; f->name; f++)
        if (!strcmp(name, f->name))
            return f->function;
    return NULL;
}

/* The name of an object is wanted even if RADV does not want it. */
static PFN_vkVoidFunction device_function(VkDevice device, const char *name)
{
    const PFN_vkVoidFunction own = named_function(name), found = radv_device_function(device, name);
    return own && (found || !strcmp(name, "vkSetDebugUtilsObjectNameEXT")) ? own : found;
}

static bool hides_graphics(void)
{
    const char *queues = getenv("WAVEMEM_QUEUES");
    return queues && !strcmp(queues, "compute");
}

static PFN_vkVoidFunction replace(VkInstance instance, const char *name, PFN_vkVoidFunction found)
{
    if (!found || !instance)
        return found;
    last = instance;
    if (radv_can_name() && !strcmp(name, "vkCreateDevice"))
        return (PFN_vkVoidFunction)create_device;
    if (radv_can_name() && !strcmp(name, "vkGetDeviceProcAddr"))
        return (PFN_vkVoidFunction)device_function;
    if (radv_can_name() && named_function(name))
        return named_function(name);
    if (!hides_graphics())
        return found;
    if (!strcmp(name, "vkGetPhysicalDeviceQueueFamilyProperties")) {
        get_families = (PFN_vkGetPhysicalDeviceQueueFamilyProperties)real()(instance, name);
        return (PFN_vkVoidFunction)families;
    }
    if (!strcmp(name, "vkGetPhysicalDeviceQueueFamilyProperties2") ||
        !strcmp(name, "vkGetPhysicalDeviceQueueFamilyProperties2KHR")) {
        get_families2 = (PFN_vkGetPhysicalDeviceQueueFamilyProperties2)real()(instance, name);
        return (PFN_vkVoidFunction)families2;
    }
    return found;
}

PFN_vkVoidFunction vk_icdGetInstanceProcAddr(VkInstance instance, const char *name)
{
    return replace(instance, name, real()(instance, name));
}

PFN_vkVoidFunction vk_icdGetPhysicalDeviceProcAddr(VkInstance instance, const char *name)
{
    PFN_vkGetInstanceProcAddr next = (PFN_vkGetInstanceProcAddr)radv("vk_icdGetPhysicalDeviceProcAddr");
    return next ? replace(instance, name, next(instance, name)) : NULL;
}

VkResult vk_icdNegotiateLoaderICDInterfaceVersion(uint32_t *version)
{
    VkResult (*next)(uint32_t *) = (VkResult(*)(uint32_t *))radv("vk_icdNegotiateLoaderICDInterfaceVersion");
    return next ? next(version) : VK_ERROR_INITIALIZATION_FAILED;
}
