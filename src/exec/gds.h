/* SPDX-License-Identifier: MIT */
/* What all workgroups of a dispatch share besides memory: the global data share and global wave sync. */
#ifndef WMI_GDS_H
#define WMI_GDS_H

#include "exec/lower.h"

struct wmi_gds;

/* Frees what a dispatch made when it first used one of them; NULL is fine. */
void wmi_gds_destroy(struct wmi_gds *gds);

/* Emits the step that lets the next step, one of DS instructions, work on the GDS. counter: it takes its
 * address from M0 (ds_append, ds_consume). */
void wmi_lower_gds(struct wmi_builder *builder, const struct wmi_memory_op *memory, bool counter);
/* Lowers ds_gws_*, ds_ordered_count and ds_*_gs_reg_rtn; false: no such instruction. */
bool wmi_lower_gws(struct wmi_builder *builder, const struct wmi_instruction *insn);

#endif
