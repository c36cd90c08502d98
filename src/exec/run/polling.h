/* SPDX-License-Identifier: MIT */
/* Recognizes loops that wait for other waves. */
#ifndef WMI_POLLING_H
#define WMI_POLLING_H

#include "lower/code.h"

/* Whether only the results of loads can end the loop from `first` to the branch at `last`: it has no counter
 * and no address that advances. lds: includes loads of LDS. */
bool wmi_loop_only_waits(const struct wmi_code *code, uint64_t first, uint64_t last, bool lds);

/* Whether a branch soon behind the instruction at `pc` depends on its result. */
bool wmi_result_decides(const struct wmi_code *code, uint64_t pc);

#endif
