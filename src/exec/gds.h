/* SPDX-License-Identifier: MIT */
/* State shared by all workgroups of a dispatch besides memory: the global data share and global wave sync. */
#ifndef WMI_GDS_H
#define WMI_GDS_H

struct wmi_gds;

/* Frees the state, which a dispatch allocates on first use; NULL is allowed. */
void wmi_gds_destroy(struct wmi_gds *gds);

#endif
