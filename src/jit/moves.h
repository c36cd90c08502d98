/* SPDX-License-Identifier: MIT */
/* Moves vector registers of the host to others. */
#ifndef WMI_MOVES_H
#define WMI_MOVES_H

#include "jit/host.h"

/* As if all at once. from[r]: the register whose lanes r gets, r itself if it stays. Changes WMI_SCRATCH. */
void wmi_move_registers(struct wmi_host *host, uint8_t from[WMI_ZMM_REGISTERS]);

#endif
