/* SPDX-License-Identifier: MIT */
/* A simulated amdgpu kernel driver for Mesa's RADV and radeonsi, inside the program: LD_PRELOAD puts the
 * functions of entries.c before libc's and libdrm's.
 *
 * A device's file is a sparse memfd. Buffer objects are ranges of it, so that the program maps them by the
 * offsets that DRM_IOCTL_AMDGPU_GEM_MMAP returns, without our help, and each GPU mapping is one of these
 * ranges in the machine's guest memory. A submission is a job on the thread of its ring, which executes PM4
 * packets.
 *
 * One lock guards all state; what a ring executes runs without it.
 * Sources: linux, include/uapi/drm/amdgpu_drm.h and drm.h; drivers/gpu/drm/amd/amdgpu, drm_syncobj.c. */
#ifndef SHIM_DRM_H
#define SHIM_DRM_H

#include "shim/common/common.h"

#include <amdgpu_drm.h>
#include <xf86drm.h>

enum { DRM_PAGE = 4096 };

/* ---- devices.c ---- */

/* What graphics blocks of a generation have in common. */
struct drm_generation {
    uint32_t major;
    unsigned address_bits; /* of GPU addresses */
    unsigned wave_lanes;   /* of waves that drivers are told of */
    bool has_wave32;       /* a dispatch may ask for it; RSRC3 counts */
    unsigned array_units;  /* compute units of an array come in groups of so many */
    unsigned lds_granule;  /* bytes, of LDS_SIZE in RSRC2 */
    uint32_t dma_bytes;    /* mask of the size in DMA_DATA */
    bool has_scratch_base; /* the GPU itself points waves at scratch memory, by registers; or the shader does
                            */
    unsigned scratch_granule;   /* bytes, of WAVESIZE in TMPRING_SIZE */
    uint32_t scratch_mask;      /* of WAVESIZE */
    bool packs_ids;             /* numbers of work-items are in one VGPR */
    bool has_compute_processor; /* MEC: compute rings have other packets than the one for graphics */
    unsigned statistics;        /* counters of the pipeline */
    bool has_group_ttmps;       /* numbers of workgroups are in TTMPs, not in SGPRs */
};

/* What the kernel says about a chip beyond struct wm_gpu. */
struct drm_chip {
    const char *targets; /* separated by spaces; the first row of a target, or of a chip, holds */
    uint32_t chip;       /* PCI device number; 0: any of the targets */
    uint32_t family, external_rev;
    const struct drm_generation *generation;
    uint32_t minor;           /* of the graphics block */
    uint32_t engines, arrays; /* arrays: in an engine */
    uint32_t device;          /* PCI device number of a product whose number is not known */
    uint32_t channels, backends, memory_type, address_config;
};

struct drm_device {
    struct shim_gpu gpu;
    const struct drm_chip *chip;
    int file;            /* the memfd */
    unsigned char *base; /* of its bytes */
    dev_t file_device;
    ino_t file_node;
    struct drm_range *ranges;     /* free ones of the file */
    struct drm_mapping *mappings; /* sorted by address */
    struct drm_mapping *ending;   /* unmapped, but jobs that were submitted before may still use them */
    uint64_t submitted;           /* jobs, of all rings */
    uint64_t mapped;              /* mappings that were made */
    uint64_t used[2];             /* bytes of buffers in VRAM and GTT */
};

enum { DRM_VRAM, DRM_GTT };

/* The devices, which the first call makes; 0: none, after a message. */
unsigned drm_device_count(void);
struct drm_device *drm_device(unsigned number);
/* The device of an open file; NULL: it is another file. */
struct drm_device *drm_device_of(int file);
/* Opens the device anew. Returns the file, or -1 with errno. */
int drm_device_open(const struct drm_device *device, int flags);
/* Whether the path is that of a render node, present or not. */
bool drm_is_node(const char *path, unsigned *number);

extern pthread_mutex_t drm_lock;   /* guards all that follows and the devices */
extern pthread_cond_t drm_changed; /* broadcast whenever a fence is signalled, or a job comes or ends */

/* ---- info.c ---- */

/* DRM_IOCTL_AMDGPU_INFO. All such functions return 0 or -errno. */
int drm_info(struct drm_device *device, const struct drm_amdgpu_info *info);
uint64_t drm_timestamp(void);
uint32_t drm_device_number(const struct drm_device *device); /* PCI */
uint64_t drm_heap_bytes(const struct drm_device *device, unsigned heap);

/* ---- buffers.c ---- */

struct drm_buffer {
    struct drm_device *device; /* NULL: the handle is free */
    unsigned references;       /* the handle, mappings, jobs that write to it */
    bool is_closed;            /* its handle */
    uint64_t offset, size;     /* in the file; a multiple of pages */
    void *host;                /* its bytes */
    bool is_user;              /* the program's memory */
    uint32_t origin;           /* of another device's memory: its buffer there; or 0 */
    unsigned heap;
    uint64_t flags, domains; /* as created */
    struct drm_amdgpu_gem_metadata metadata;
};

/* Begins with a file whose bytes are all free. */
bool drm_ranges_begin(struct drm_device *device, uint64_t size);
int drm_buffer_create(struct drm_device *device, union drm_amdgpu_gem_create *arguments);
int drm_buffer_user(struct drm_device *device, struct drm_amdgpu_gem_userptr *arguments);
int drm_buffer_map(struct drm_device *device, union drm_amdgpu_gem_mmap *arguments);
int drm_buffer_close(struct drm_device *device, uint32_t handle);
int drm_buffer_metadata(struct drm_device *device, struct drm_amdgpu_gem_metadata *arguments);
int drm_buffer_operation(struct drm_device *device, struct drm_amdgpu_gem_op *arguments);
int drm_addresses(struct drm_device *device, const struct drm_amdgpu_gem_va *arguments);
/* DRM_IOCTL_PRIME_HANDLE_TO_FD and _FD_TO_HANDLE */
int drm_buffer_to_file(struct drm_device *device, struct drm_prime_handle *arguments);
int drm_buffer_from_file(struct drm_device *device, struct drm_prime_handle *arguments);
/* Where a buffer's bytes are, for as long as the reference is held; NULL: no such range. */
void *drm_buffer_take(struct drm_device *device, uint32_t handle, uint64_t offset, uint64_t size);
void drm_buffer_release(uint32_t handle);
void drm_unmap_buffer(struct drm_device *device, uint32_t handle);
/* Ends the mappings that only jobs below this number could use. */
void drm_end_mappings(struct drm_device *device, uint64_t oldest);
/* Whether the machine has all mappings that were made before the job was submitted. */
bool drm_mappings_are_ready(const struct drm_device *device, uint64_t job);

struct drm_created; /* naming.h */
void drm_buffer_watch(struct drm_created *created);
bool drm_buffer_code(const struct drm_created *created, uint64_t *address);

/* ---- names.c ---- */

/* Without control characters. */
void drm_copy_name(char to[SHIM_OBJECT_NAME], const char *name);
/* The name of the pipeline whose code begins there; false: it has none. */
bool drm_code_name(const struct drm_device *device, uint64_t address, char name[SHIM_OBJECT_NAME]);
/* The named memory that contains the address, or is nearest to it, at most `farthest` bytes away. launch:
 * when the device's check saw that launch; 0: now. */
bool drm_named_memory(const struct drm_device *device, uint64_t address, uint64_t launch, uint64_t farthest,
                      struct shim_allocation *found);

/* ---- kernels.c ---- */

/* The name of the OpenCL kernel whose code begins there; false: none of those that are known. */
bool drm_kernel_name(const struct drm_device *device, uint64_t code, char name[SHIM_OBJECT_NAME]);

/* ---- fences.c ---- */

/* Becomes signalled once. */
struct drm_fence {
    unsigned references;
    bool is_signalled;
    int error;                       /* -errno */
    struct drm_fence *own, *earlier; /* of a point of a timeline: signalled when these are; or NULL */
};

/* The functions from here on are called with the lock held. */
struct drm_fence *drm_fence_create(void);
void drm_fence_hold(struct drm_fence *fence);
void drm_fence_release(struct drm_fence *fence);
void drm_fence_signal(struct drm_fence *fence, int error);
/* A fence that is signalled when both are; earlier: or NULL. Holds them. NULL: no memory. */
struct drm_fence *drm_fence_both(struct drm_fence *own, struct drm_fence *earlier);
/* The fence that is signalled when the syncobj reaches the point, 0: its only one. Holds it. NULL: nobody has
 * submitted that. */
struct drm_fence *drm_syncobj_fence(uint32_t handle, uint64_t point);
bool drm_syncobj_exists(uint32_t handle);
/* point 0: in place of all that it had. False: there is no such syncobj, or no memory. */
bool drm_syncobj_add(uint32_t handle, uint64_t point, struct drm_fence *fence);
struct drm_syncobj;
void drm_syncobj_release(struct drm_syncobj *syncobj);
/* DRM_IOCTL_AMDGPU_FENCE_TO_HANDLE */
int drm_fence_to_handle(struct drm_fence *fence, union drm_amdgpu_fence_to_handle *arguments);
/* Waits until the fence is signalled, or CLOCK_MONOTONIC reaches the time; false: that it did. */
bool drm_fence_wait(struct drm_fence *fence, int64_t until);
bool drm_fence_is_signalled(struct drm_fence *fence);
/* Waits for a change, at most until then; false: the time has come. */
bool drm_wait_change(int64_t until);

/* Those of drm.h with syncobjs; *handled is false if the request is none of them. Takes the lock. */
int drm_syncobj_request(unsigned long request, void *arguments, bool *handled);

/* ---- files.c ---- */

/* Files that stand for something; the caller's reference to that becomes theirs. They return a descriptor or
 * -errno.
 */
int drm_file_of_buffer(uint32_t handle, uint64_t size);
int drm_file_of_syncobj(struct drm_syncobj *syncobj);
int drm_file_of_fence(struct drm_fence *fence);
/* What the descriptor's file stands for; 0 or NULL: another file. */
uint32_t drm_file_buffer(int descriptor);
struct drm_syncobj *drm_file_syncobj(int descriptor);
struct drm_fence *drm_file_fence(int descriptor);
/* Lets those who poll files know of fences that have been signalled. */
void drm_files_signal(void);
/* Ends those that the program has closed. */
void drm_files_end(void);
/* A request to the file of a fence; false: the descriptor's file is another one. Takes the lock. */
bool drm_file_request(int descriptor, unsigned long request, void *arguments, int *result);

/* ---- rings.c ---- */

/* The number of the device's oldest job that has not completed; UINT64_MAX: all have. */
uint64_t drm_oldest_job(const struct drm_device *device);
int drm_context(struct drm_device *device, union drm_amdgpu_ctx *arguments);
int drm_submit(struct drm_device *device, union drm_amdgpu_cs *arguments);
int drm_list(struct drm_device *device, union drm_amdgpu_bo_list *arguments);
int drm_wait(struct drm_device *device, union drm_amdgpu_wait_cs *arguments);
int drm_wait_many(struct drm_device *device, union drm_amdgpu_wait_fences *arguments);
int drm_job_fence(struct drm_device *device, union drm_amdgpu_fence_to_handle *arguments);
int drm_wait_idle(struct drm_device *device, union drm_amdgpu_gem_wait_idle *arguments);

/* As struct wm_dispatch.others: 0 if a ring whose kernel or packet waits may still be woken, or a number. Two
 * times the same number: nobody will. */
uint64_t drm_nobody_acts(void *ring_state);

/* ---- packets.c ---- */

enum {
    DRM_SH_FIRST = 0x2c00, /* dword address of the first SH register */
    DRM_SH_COUNT = 0x400,
    DRM_PROBLEM = 600,
};

/* What a ring keeps between packets. */
struct drm_ring_state {
    struct drm_device *device;
    unsigned type;             /* AMDGPU_HW_IP_* */
    const bool *ends;          /* atomic: the ring ends, waits are over */
    bool polls;                /* atomic: a packet waits for memory to change */
    uint32_t sh[DRM_SH_COUNT]; /* registers of shaders */
    uint64_t base;             /* of indirect dispatches */
    bool skips;                /* predicated packets */
    uint64_t invocations;      /* of compute shaders, so far */
    char problem[DRM_PROBLEM]; /* why a packet failed */
};

/* The address of the code that the first dispatch of a command buffer runs; false: there is none. */
bool drm_find_code(const uint32_t *words, size_t count, uint64_t *address);
/* Executes the packets at an address; false: one of them failed, and `problem` says why. */
bool drm_execute(struct drm_ring_state *state, uint64_t address, uint32_t bytes);

/* ---- text.c ---- */

/* Whether submissions are written as text. */
bool drm_text_wanted(void);
void drm_text_buffer(const struct drm_ring_state *state, uint64_t address, uint32_t bytes, unsigned depth);
/* sets_registers: the body is the place of the first shader register, and values. Only if it is wanted. */
void drm_text_packet(uint64_t address, const char *name, const uint32_t *body, size_t count,
                     bool sets_registers);

/* ---- dispatch.c ---- */

/* The address of the compute shader in the registers. */
uint64_t drm_code_address(const struct drm_ring_state *state);
/* Runs compute shaders with the registers as they are. */
bool drm_dispatch(struct drm_ring_state *state, const uint32_t size[3], uint32_t initiator);

#endif
