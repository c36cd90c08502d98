/* SPDX-License-Identifier: MIT */
/* DS steps, compiled per CPU level and wave size. */
#ifndef WMI_LDS_H
#define WMI_LDS_H

#include "exec/wave.h"
#include "lower/memory_op.h"

/* The function for a CPU level and a wave size (32 or 64). */
wmi_body wmi_lds_body(enum wmi_cpu_level level, unsigned lanes, enum wmi_lds_step step);
/* What an LDS_DIRECT read gives, by the address and the type in M0; 0 if out of range. */
uint32_t wmi_lds_direct_value(const struct wmi_frame *f, const struct wmi_workgroup *group);
/* Shows observers a load of `bytes` at each lane's address; `outside`: the lanes out of range. */
void wmi_lds_show_load(const struct wmi_wave *wave, const struct wmi_memory_op *memory, uint64_t lanes,
                       uint64_t outside, const uint64_t address[64], uint32_t bytes);

#endif
