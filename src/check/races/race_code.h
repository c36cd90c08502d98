/* SPDX-License-Identifier: MIT */
/* Finds out from the surrounding code what a load is for. */
#ifndef WMI_RACE_CODE_H
#define WMI_RACE_CODE_H

#include "lower/code.h"

/* What the code around a load tells about it. */
struct wmi_race_load {
    bool polls;       /* only the loaded value can end the loop around it */
    bool invalidates; /* `polls`, and the loop invalidates the scalar cache */
    bool seeds;       /* a compare-and-swap that follows compares with the loaded value */
};

/* Classifies the load at `pc`. lds: it is a load of LDS. */
struct wmi_race_load wmi_race_load_at(const struct wmi_code *code, uint64_t pc, bool lds);

/* Whether a backward branch ends a loop that waits for what other waves store to LDS, or to memory. */
struct wmi_race_loop {
    bool lds, memory;
} wmi_race_loop_at(const struct wmi_code *code, uint64_t pc, const struct wmi_instruction *branch);

#endif
