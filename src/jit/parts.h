/* SPDX-License-Identifier: MIT */
/* The two ways to compile a block: stretches by emitters for x86, and parts by way of the representation in
 * jit/ir for AArch64. */
#ifndef WMI_PARTS_H
#define WMI_PARTS_H

#include "jit/emit.h"

bool wmi_can_compile_stretches(enum wmi_cpu_level level);
bool wmi_compile_stretches(const struct wmi_block *block, struct wmi_host_memory **memory,
                           struct wmi_launch_entries *launch, bool *refused);
bool wmi_compile_parts(const struct wmi_block *block, const struct wmi_ir_host *host,
                       struct wmi_host_memory **memory, bool *refused);

#endif
