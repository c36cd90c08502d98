/* SPDX-License-Identifier: MIT */
/* Kernels by the address of their descriptor or of their code in guest memory. */
#ifndef WMI_API_KERNEL_AT_H
#define WMI_API_KERNEL_AT_H

#include "api/machine.h"

struct wmi_kernel_at {
    const struct wmi_module *module;
    const struct wm_kernel *kernel;
};

/* The kernel that a packet names, one of a loaded object or one that the caller has put into memory, until
 * wmi_kernel_at_end(). */
enum wm_status wmi_kernel_at(struct wm_machine *machine, const struct wm_packet *packet,
                             struct wmi_kernel_at *at, struct wm_diag *diag);
/* lasts: those who observed the kernel may ask for it as long as the machine lives. */
void wmi_kernel_at_end(struct wm_machine *machine, const struct wmi_kernel_at *at, bool lasts);

#endif
