/* SPDX-License-Identifier: MIT */
/* Loops that wait for other waves. */
#ifndef WMI_POLLING_H
#define WMI_POLLING_H

#include "lower/code.h"

/* Whether the loop from `first` to the branch at `last` can only be ended by what its loads find (lds: also
 * those of LDS): it counts nothing, and walks along nothing. */
bool wmi_loop_only_waits(const struct wmi_code *code, uint64_t first, uint64_t last, bool lds);

#endif
