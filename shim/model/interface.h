/* SPDX-License-Identifier: MIT */
/* The interface between libhsakmt and a model of a GPU, version 0.4, as ROCm 7.0 has it. Source:
 * ROCm/rocm-systems, projects/rocr-runtime/libhsakmt, include/hsakmt/hsakmtmodeliface.h and
 * src/hsakmtmodel.c. Version 1.0 and later of the interface is another one: the model answers the driver's
 * ioctls itself. */
#ifndef INTERFACE_H
#define INTERFACE_H

#include <stdint.h>

enum { MODEL_MAJOR = 0, MODEL_MINOR = 4 };

struct hsakmt_model;
struct hsakmt_model_queue;

/* Guest addresses. */
struct hsakmt_model_queue_info {
    uint64_t ring_base_address;
    uint64_t write_pointer_address;
    uint64_t read_pointer_address; /* of amd_queue_t.read_dispatch_id */
    uint64_t *doorbell;            /* NULL: libhsakmt 7.0 does not say where it is */
    uint32_t ring_size;            /* bytes */
    uint32_t queue_type;           /* as in linux/kfd_ioctl.h */
};

/* Flags of memory and types of queues, from linux/kfd_ioctl.h. */
#define MODEL_MEMORY_VRAM     (UINT32_C(1) << 0)
#define MODEL_MEMORY_WRITABLE (UINT32_C(1) << 31)
enum { MODEL_QUEUE_SDMA = 1, MODEL_QUEUE_AQL = 2 };

/* The apertures that libhsakmt tells the runtime (AMDKFD_IOC_GET_PROCESS_APERTURES_NEW). */
#define MODEL_SHARED_APERTURE  UINT64_C(0x4000000000000000)
#define MODEL_PRIVATE_APERTURE UINT64_C(0x5000000000000000)

struct hsakmt_model_functions {
    uint32_t version_major, version_minor;
    struct hsakmt_model *(*create)(void);
    void (*destroy)(struct hsakmt_model *model);
    /* Guest address 0 is at `base`. */
    void (*set_global_aperture)(struct hsakmt_model *model, void *base, uint64_t size);
    /* base: guest address. The memory appears in the aperture of each GPU that it is mapped to, sometime
     * later. */
    void (*alloced_memory)(struct hsakmt_model *model, void *base, uint64_t size, uint32_t flags);
    void (*freed_memory)(struct hsakmt_model *model, void *base, uint64_t size);
    void (*set_notify_event)(struct hsakmt_model *model, void (*notify)(void *data), void *data);
    void (*set_wait_event)(struct hsakmt_model *model,
                           void (*wait)(void *data, uint64_t address, uint64_t age), void *data);
    struct hsakmt_model_queue *(*register_queue)(struct hsakmt_model *model,
                                                 struct hsakmt_model_queue_info *info);
    void (*set_set_event)(struct hsakmt_model *model, void (*set)(void *data, unsigned event_id), void *data);
    void (*destroy_queue)(struct hsakmt_model *model, struct hsakmt_model_queue *queue);
};

const struct hsakmt_model_functions *get_hsakmt_model_functions(void);

#endif
