/* SPDX-License-Identifier: MIT */
/* RADV with its queues for graphics hidden, as a Vulkan driver of its own: programs that take the first
 * family with compute take the one without graphics, where RADV copies and clears images by dispatches
 * instead of draws. Source of the interface: Vulkan-Loader, docs/LoaderDriverInterface.md; structs:
 * vulkan_core.h. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define API __attribute__((visibility("default")))

typedef void function(void);
typedef function *get_address(void *instance, const char *name);

enum { GRAPHICS = 1, COMPUTE = 2 };

struct family { /* VkQueueFamilyProperties */
    uint32_t flags, count, timestamp_bits, granularity[3];
};

struct family2 { /* VkQueueFamilyProperties2 */
    uint32_t type;
    void *next;
    struct family family;
};

static void *radv(const char *name)
{
    static void *library;
    library = library ? library : dlopen("libvulkan_radeon.so", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "wavemem: --queues compute: %s\n", dlerror());
        exit(2);
    }
    return dlsym(library, name);
}

static get_address *real(void)
{
    static get_address *address;
    return address = address ? address : (get_address *)radv("vk_icdGetInstanceProcAddr");
}

/* Vulkan has functions of drivers without an instance; these have one, the last that was made, and their
 * addresses are the same for all. */
static void (*get_families)(void *gpu, uint32_t *count, struct family *families);
static void (*get_families2)(void *gpu, uint32_t *count, struct family2 *families);

static void hide(struct family *family)
{
    if (family->flags & GRAPHICS)
        family->flags &= ~(uint32_t)(GRAPHICS | COMPUTE);
}

static void families(void *gpu, uint32_t *count, struct family *given)
{
    get_families(gpu, count, given);
    for (uint32_t i = 0; given && i < *count; i++)
        hide(&given[i]);
}

static void families2(void *gpu, uint32_t *count, struct family2 *given)
{
    get_families2(gpu, count, given);
    for (uint32_t i = 0; given && i < *count; i++)
        hide(&given[i].family);
}

static function *replace(void *instance, const char *name, function *found)
{
    if (!found)
        return NULL;
    if (!strcmp(name, "vkGetPhysicalDeviceQueueFamilyProperties")) {
        get_families = (void (*)(void *, uint32_t *, struct family *))real()(instance, name);
        return (function *)families;
    }
    if (!strcmp(name, "vkGetPhysicalDeviceQueueFamilyProperties2") ||
        !strcmp(name, "vkGetPhysicalDeviceQueueFamilyProperties2KHR")) {
        get_families2 = (void (*)(void *, uint32_t *, struct family2 *))real()(instance, name);
        return (function *)families2;
    }
    return found;
}

API function *vk_icdGetInstanceProcAddr(void *instance, const char *name)
{
    return replace(instance, name, real()(instance, name));
}

API function *vk_icdGetPhysicalDeviceProcAddr(void *instance, const char *name)
{
    get_address *next = (get_address *)radv("vk_icdGetPhysicalDeviceProcAddr");
    return next ? replace(instance, name, next(instance, name)) : NULL;
}

API int32_t vk_icdNegotiateLoaderICDInterfaceVersion(uint32_t *version)
{
    int32_t (*next)(uint32_t *) = (int32_t (*)(uint32_t *))radv("vk_icdNegotiateLoaderICDInterfaceVersion");
    return next ? next(version) : -3; /* VK_ERROR_INITIALIZATION_FAILED */
}
