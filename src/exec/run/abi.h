/* SPDX-License-Identifier: MIT */
/* Sets up what the HSA packet processor provides to a kernel: packet, kernarg segment, initial registers. */
#ifndef WMI_ABI_H
#define WMI_ABI_H

#include "exec/run/dispatch.h"
#include "object/object.h"

/* Guest memory allocated for one dispatch. */
struct wmi_abi_memory {
    uint64_t kernarg, packet, queue, scratch, printf, grid_sync; /* guest addresses; 0: not allocated */
    uint32_t places; /* workgroups that can have scratch at the same time, at least 1 */
    uint64_t scratch_stride, scratch_piece; /* bytes between the scratch of two waves, bytes per wave */
    uint64_t scratch_bytes;                 /* scratch of all waves, with the gaps */
    unsigned char *scratch_host;
};

struct wmi_abi_request {
    const struct wm_kernel *kernel;
    const struct wm_dispatch *dispatch;
    uint64_t bias; /* load bias of the code object */
    struct wmi_space *space;
    uint64_t *cursor; /* for the addresses of the dispatch's memory; NULL: the space's */
    const struct wmi_apertures *apertures;
    uint32_t waves_per_group;
    bool has_kernarg;             /* the kernarg segment exists already, at `kernarg` */
    uint64_t kernarg;             /* guest address */
    bool fills_hidden;            /* writes the hidden arguments */
    bool prints;                  /* somebody reads the printf buffer */
    uint32_t lane_scratch;        /* bytes of scratch per lane, at least wmi_abi_scratch_size() */
    const struct wm_start *start; /* start state whose scratch is used if it has one; or NULL */
};

/* Bytes of scratch per lane: the descriptor's size, plus a stack if the kernel uses a dynamic stack. */
uint32_t wmi_abi_scratch_size(const struct wm_kernel *kernel);

/* Allocates and fills the packet, the queue and the kernarg segment, and fills `launch` with the initial
 * register layout. On failure nothing stays allocated. */
enum wm_status wmi_abi_prepare(const struct wmi_abi_request *request, struct wmi_abi_memory *memory,
                               struct wmi_launch *launch, struct wm_diag *diag);
void wmi_abi_release(struct wmi_space *space, struct wmi_abi_memory *memory);

#endif
