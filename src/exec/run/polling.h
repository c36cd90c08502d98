/* SPDX-License-Identifier: MIT */
/* Recognizes loops that wait for other waves. */
#ifndef WMI_POLLING_H
#define WMI_POLLING_H

#include "lower/code.h"

/* Whether an operand is a result. For vector atomics, decoding sets this only if they return a value. */
bool wmi_has_result(const struct wmi_instruction *insn);

/* Whether the instruction changes memory without returning the previous value to the wave. */
bool wmi_only_changes_memory(const struct wmi_instruction *insn);

enum wmi_loop_memory {
    WMI_LOOP_LDS = 1,     /* loads of LDS count, too */
    WMI_LOOP_PRIVATE = 2, /* private memory may hold values of the loop, as with -O0 */
};

/* Whether only the results of loads can end the loop from `first` to the branch at `last`: it has no counter
 * and no address that advances. memory: enum wmi_loop_memory. */
bool wmi_loop_only_waits(const struct wmi_code *code, uint64_t first, uint64_t last, unsigned memory);

/* Whether a branch soon behind the instruction at `pc` depends on its result. */
bool wmi_result_decides(const struct wmi_code *code, uint64_t pc);

#endif
