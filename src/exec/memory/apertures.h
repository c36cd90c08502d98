/* SPDX-License-Identifier: MIT */
/* Where the apertures of FLAT instructions are. */
#ifndef WMI_APERTURES_H
#define WMI_APERTURES_H

#include "base/diag.h"
#include "isa/isa.h"
#include "memory/access.h"

/* The apertures of the target unless software sets them (limits shared_aperture and private_aperture). */
struct wmi_apertures wmi_apertures_of(const struct wmi_target *target);

/* Sets the base addresses, multiples of 4 GiB. WM_UNSUPPORTED: the target has no apertures; WM_BAD_ARGUMENT:
 * they cannot be there. */
enum wm_status wmi_apertures_set(const struct wmi_target *target, uint64_t shared_base, uint64_t private_base,
                                 struct wmi_apertures *apertures, struct wm_diag *diag);

#endif
