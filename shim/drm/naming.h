/* SPDX-License-Identifier: MIT */
/* What the Vulkan driver in front of RADV (radv.c) tells the simulated kernel driver about the program's
 * objects, for reports. Both are libraries of their own; the one finds the other by wavemem_naming(). */
#ifndef SHIM_DRM_NAMING_H
#define SHIM_DRM_NAMING_H

#include <stdbool.h>
#include <stdint.h>

struct drm_device;

/* Buffer objects that a thread has created. */
struct drm_created {
    struct drm_device *device;
    uint32_t handle[4];
    unsigned count;
};

struct drm_naming {
    /* Adds the buffer objects that this thread creates from now on. NULL: no more of them. */
    void (*watch)(struct drm_created *created);
    /* The address of the code that the first dispatch of a command buffer runs, which one of the buffer
     * objects holds. False: there is none. */
    bool (*find_code)(const struct drm_created *created, uint64_t *address);
    /* Memory of the GPU, size 0: code, belongs to an object of that name. */
    void (*add)(struct drm_device *device, uint64_t address, uint64_t size, const char *name);
    void (*rename)(struct drm_device *device, uint64_t address, uint64_t size, const char *name);
    void (*remove)(struct drm_device *device, uint64_t address, uint64_t size);
};

const struct drm_naming *wavemem_naming(void);

#endif
