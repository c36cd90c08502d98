/* SPDX-License-Identifier: MIT */
/* DS steps, compiled per CPU level and wave size. */
#ifndef WMI_LDS_H
#define WMI_LDS_H

#include "exec/run/wave.h"
#include "lower/memory_op.h"

/* The function for a CPU level and a wave size (32 or 64). */
wmi_body wmi_lds_body(enum wmi_cpu_level level, unsigned lanes, enum wmi_lds_step step);
/* Moves what is in range of a lane's `bytes` at `at` between LDS and `data`. Loads are checked dword by
 * dword, what is out of range gives 0; stores byte by byte, by dwords in alignment modes other than
 * UNALIGNED. Source: RDNA 4 ISA, "LDS Alignment and Out-of-Range". */
void wmi_lds_move_partly(const struct wmi_workgroup *group, const struct wmi_memory_op *m, uint64_t at,
                         unsigned bytes, unsigned char *data, bool writes);
/* The same for DS instructions some of whose lanes are out of range: loads `dwords` dwords of each of
 * `places` places, at ADDR + x and ADDR + y, to rows d; stores `bytes` bytes from bit `shift` of the rows at
 * `data` to ADDR + offset. */
void wmi_lds_load_partly(char *frame, const struct wmi_op *op, unsigned places, unsigned dwords);
void wmi_lds_store_partly(char *frame, const struct wmi_op *op, uint32_t offset, uint32_t data,
                          unsigned bytes, unsigned shift);
/* What an LDS_DIRECT read gives, by the address and the type in M0; 0 if out of range. */
uint32_t wmi_lds_direct_value(const struct wmi_frame *f, const struct wmi_workgroup *group);
/* Shows observers a load of `bytes` at each lane's address; `outside`: the lanes out of range. */
void wmi_lds_show_load(const struct wmi_wave *wave, const struct wmi_memory_op *memory, uint64_t lanes,
                       uint64_t outside, const uint64_t address[64], uint32_t bytes);

#endif
