/* SPDX-License-Identifier: MIT */
/* What all workgroups of a dispatch share besides memory: the global data share and global wave sync. */
#ifndef WMI_GDS_H
#define WMI_GDS_H

struct wmi_gds;

/* Frees what a dispatch made when it first used one of them; NULL is fine. */
void wmi_gds_destroy(struct wmi_gds *gds);

#endif
