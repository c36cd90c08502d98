/* SPDX-License-Identifier: MIT */
/* The functions that take the place of libc's and libdrm's: how drivers find devices, and requests to them.
 */
#undef _FILE_OFFSET_BITS /* would make open() and open64() one function */
#include "shim/drm/drm.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sync_file.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

/* libc's function of that name. */
#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* ---- files ---- */

/* The device of a path, or NULL with errno if it is that of a node without one. False: another path. */
static bool find_node(const char *path, struct drm_device **device)
{
    unsigned number;
    if (!path || !drm_is_node(path, &number))
        return false;
    *device = drm_device(number);
    errno = ENOENT;
    return true;
}

static int open_file(int (*next)(const char *, int, ...), const char *path, int flags, mode_t mode)
{
    struct drm_device *device;
    if (!find_node(path, &device))
        return next(path, flags, mode);
    return device ? drm_device_open(device, flags) : -1;
}

SHIM_API int open(const char *path, int flags, ...)
{
    static int (*next)(const char *, int, ...);
    va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    next = next ? next : NEXT(open);
    return open_file(next, path, flags, mode);
}

SHIM_API int open64(const char *path, int flags, ...)
{
    static int (*next)(const char *, int, ...);
    va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    next = next ? next : NEXT(open64);
    return open_file(next, path, flags, mode);
}

/* What stat() says of a node. */
#define NODE_STATUS(number)                                                                                  \
    {                                                                                                        \
        .st_mode = S_IFCHR | 0666,                                                                           \
        .st_nlink = 1,                                                                                       \
        .st_rdev = makedev(226, 128 + (number)),                                                             \
    }

SHIM_API int stat(const char *restrict path, struct stat *restrict status)
{
    static int (*next)(const char *, struct stat *);
    struct drm_device *device;
    if (!find_node(path, &device)) {
        next = next ? next : NEXT(stat);
        return next(path, status);
    }
    if (device)
        *status = (struct stat)NODE_STATUS(device->gpu.number);
    return device ? 0 : -1;
}

SHIM_API int stat64(const char *restrict path, struct stat64 *restrict status)
{
    static int (*next)(const char *, struct stat64 *);
    struct drm_device *device;
    if (!find_node(path, &device)) {
        next = next ? next : NEXT(stat64);
        return next(path, status);
    }
    if (device)
        *status = (struct stat64)NODE_STATUS(device->gpu.number);
    return device ? 0 : -1;
}

/* ---- libdrm ---- */

/* One block, which libdrm's drmFreeDevice() frees. */
struct description {
    drmDevice device;
    drmPciBusInfo bus;
    drmPciDeviceInfo pci;
    char *nodes[DRM_NODE_MAX];
    char names[DRM_NODE_MAX][64];
};

static drmDevicePtr describe(const struct drm_device *device)
{
    struct description *d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    for (unsigned i = 0; i < DRM_NODE_MAX; i++)
        d->nodes[i] = d->names[i];
    snprintf(d->names[DRM_NODE_RENDER], sizeof d->names[0], "/dev/dri/renderD%u", 128 + device->gpu.number);
    d->bus = (drmPciBusInfo){.bus = (uint8_t)(3 + device->gpu.number)};
    d->pci = (drmPciDeviceInfo){.vendor_id = 0x1002, .device_id = (uint16_t)drm_device_number(device)};
    d->device = (drmDevice){.nodes = d->nodes,
                            .available_nodes = 1 << DRM_NODE_RENDER,
                            .bustype = DRM_BUS_PCI,
                            .businfo.pci = &d->bus,
                            .deviceinfo.pci = &d->pci};
    return &d->device;
}

SHIM_API int drmGetDevices2(uint32_t flags, drmDevicePtr devices[], int most)
{
    const int count = (int)drm_device_count();
    (void)flags;
    if (!devices)
        return count;
    for (int i = 0; i < count && i < most; i++)
        if (!(devices[i] = describe(drm_device((unsigned)i))))
            return -ENOMEM;
    return count < most ? count : most;
}

SHIM_API int drmGetDevices(drmDevicePtr devices[], int most)
{
    return drmGetDevices2(0, devices, most);
}

SHIM_API int drmGetDevice2(int file, uint32_t flags, drmDevicePtr *description)
{
    const struct drm_device *device = drm_device_of(file);
    (void)flags;
    if (!device || !description)
        return -EINVAL;
    *description = describe(device);
    return *description ? 0 : -ENOMEM;
}

SHIM_API int drmGetDevice(int file, drmDevicePtr *description)
{
    return drmGetDevice2(file, 0, description);
}

SHIM_API int drmGetDeviceFromDevId(dev_t id, uint32_t flags, drmDevicePtr *description)
{
    const struct drm_device *device =
        major(id) == 226 && minor(id) >= 128 ? drm_device(minor(id) - 128) : NULL;
    (void)flags;
    if (!device || !description)
        return -EINVAL;
    *description = describe(device);
    return *description ? 0 : -ENOMEM;
}

SHIM_API int drmGetNodeTypeFromFd(int file)
{
    if (drm_device_of(file))
        return DRM_NODE_RENDER;
    errno = ENODEV;
    return -1;
}

/* The caller frees it. */
static char *node_name(int file)
{
    const struct drm_device *device = drm_device_of(file);
    char *name = NULL;
    if (!device || asprintf(&name, "/dev/dri/renderD%u", 128 + device->gpu.number) < 0)
        return NULL;
    return name;
}

/* libdrm_amdgpu asks for it to see whether two files are of one device; there is no primary node. */
SHIM_API char *drmGetPrimaryDeviceNameFromFd(int file)
{
    return node_name(file);
}

SHIM_API char *drmGetRenderDeviceNameFromFd(int file)
{
    return node_name(file);
}

SHIM_API char *drmGetDeviceNameFromFd2(int file)
{
    return node_name(file);
}

SHIM_API char *drmGetDeviceNameFromFd(int file)
{
    return node_name(file);
}

/* ---- requests ---- */

static void copy_text(char *to, __kernel_size_t *size, const char *text)
{
    const size_t length = strlen(text);
    if (to)
        memcpy(to, text, *size < length ? *size : length);
    *size = length;
}

static int get_version(struct drm_version *version)
{
    version->version_major = 3;
    version->version_minor = 49; /* Linux 6.1; what later ones added is not needed */
    version->version_patchlevel = 0;
    copy_text(version->name, &version->name_len, "amdgpu");
    copy_text(version->date, &version->date_len, "20150101");
    copy_text(version->desc, &version->desc_len, "AMD GPU");
    return 0;
}

static int get_capability(struct drm_get_cap *capability)
{
    switch (capability->capability) {
    case DRM_CAP_SYNCOBJ:
    case DRM_CAP_SYNCOBJ_TIMELINE:
    case DRM_CAP_TIMESTAMP_MONOTONIC:
        capability->value = 1;
        return 0;
    case DRM_CAP_PRIME:
        capability->value = DRM_PRIME_CAP_IMPORT | DRM_PRIME_CAP_EXPORT;
        return 0;
    default:
        capability->value = 0;
        return 0;
    }
}

static int request_amdgpu(struct drm_device *device, unsigned number, void *arguments)
{
    switch (number) {
    case DRM_AMDGPU_GEM_CREATE:
        return drm_buffer_create(device, arguments);
    case DRM_AMDGPU_GEM_MMAP:
        return drm_buffer_map(device, arguments);
    case DRM_AMDGPU_GEM_USERPTR:
        return drm_buffer_user(device, arguments);
    case DRM_AMDGPU_GEM_METADATA:
        return drm_buffer_metadata(device, arguments);
    case DRM_AMDGPU_GEM_OP:
        return drm_buffer_operation(device, arguments);
    case DRM_AMDGPU_GEM_VA:
        return drm_addresses(device, arguments);
    case DRM_AMDGPU_GEM_WAIT_IDLE:
        return drm_wait_idle(device, arguments);
    case DRM_AMDGPU_CTX:
        return drm_context(device, arguments);
    case DRM_AMDGPU_BO_LIST:
        return drm_list(device, arguments);
    case DRM_AMDGPU_CS:
        return drm_submit(device, arguments);
    case DRM_AMDGPU_INFO:
        return drm_info(device, arguments);
    case DRM_AMDGPU_WAIT_CS:
        return drm_wait(device, arguments);
    case DRM_AMDGPU_WAIT_FENCES:
        return drm_wait_many(device, arguments);
    case DRM_AMDGPU_FENCE_TO_HANDLE:
        return drm_job_fence(device, arguments);
    case DRM_AMDGPU_VM: /* VMIDs have no effect here */
        return 0;
    default:
        shim_complain("amdgpu: request 0x%x is not known", number);
        return -EINVAL;
    }
}

static int request(struct drm_device *device, unsigned long request, void *arguments)
{
    const unsigned number = _IOC_NR(request);
    bool handled;
    if (number >= DRM_COMMAND_BASE && number < DRM_COMMAND_END)
        return request_amdgpu(device, number - DRM_COMMAND_BASE, arguments);
    switch (number) {
    case _IOC_NR(DRM_IOCTL_VERSION):
        return get_version(arguments);
    case _IOC_NR(DRM_IOCTL_GET_CAP):
        return get_capability(arguments);
    case _IOC_NR(DRM_IOCTL_PRIME_HANDLE_TO_FD):
        return drm_buffer_to_file(device, arguments);
    case _IOC_NR(DRM_IOCTL_PRIME_FD_TO_HANDLE):
        return drm_buffer_from_file(device, arguments);
    case _IOC_NR(DRM_IOCTL_GEM_CLOSE):
        return drm_buffer_close(device, ((struct drm_gem_close *)arguments)->handle);
    }
    const int result = drm_syncobj_request(request, arguments, &handled);
    return handled ? result : -EINVAL;
}

SHIM_API int ioctl(int file, unsigned long code, ...)
{
    static int (*next)(int, unsigned long, ...);
    va_list list;
    va_start(list, code);
    void *arguments = va_arg(list, void *);
    va_end(list);
    struct drm_device *device = _IOC_TYPE(code) == DRM_IOCTL_BASE ? drm_device_of(file) : NULL;
    int result = 0;
    if (device) {
        result = request(device, code, arguments);
    } else if (_IOC_TYPE(code) != SYNC_IOC_MAGIC || !drm_file_request(file, code, arguments, &result)) {
        next = next ? next : NEXT(ioctl);
        return next(file, code, arguments);
    }
    if (!result)
        return 0;
    errno = -result;
    return -1;
}
