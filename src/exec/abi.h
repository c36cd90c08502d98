/* SPDX-License-Identifier: MIT */
/* What the HSA packet processor does before a kernel's first instruction: packet, kernarg segment, registers.
 */
#ifndef WMI_ABI_H
#define WMI_ABI_H

#include "exec/dispatch.h"
#include "object/object.h"

/* Guest memory that exists for one dispatch. */
struct wmi_abi_memory {
    uint64_t kernarg, packet, queue, scratch, printf; /* guest addresses; 0: not there */
    uint32_t places; /* workgroups whose waves can have scratch memory at the same time; at least 1 */
    uint64_t scratch_stride,
        scratch_piece; /* bytes from one wave's scratch to the next one's, and of a wave */
};

struct wmi_abi_request {
    const struct wm_kernel *kernel;
    const struct wm_dispatch *dispatch;
    uint64_t bias; /* of the loaded object */
    struct wmi_space *space;
    const struct wmi_apertures *apertures;
    uint32_t waves_per_group;
    bool prints; /* somebody reads what the kernel prints */
};

/* Bytes of scratch that a lane gets: what the descriptor asks for, and a stack where it says that it cannot
 * know. */
uint32_t wmi_abi_scratch_size(const struct wm_kernel *kernel);

/* Allocates and fills the packet, the queue and the kernarg segment, and says in `launch` which registers
 * hold what. On failure nothing stays allocated. */
enum wm_status wmi_abi_prepare(const struct wmi_abi_request *request, struct wmi_abi_memory *memory,
                               struct wmi_launch *launch, struct wm_diag *diag);
void wmi_abi_release(struct wmi_space *space, struct wmi_abi_memory *memory);

#endif
