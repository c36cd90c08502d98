/* SPDX-License-Identifier: MIT */
/* What loads are for, by the code around them. */
#ifndef WMI_RACE_CODE_H
#define WMI_RACE_CODE_H

#include "lower/code.h"

/* What the code says of a load. */
struct wmi_race_load {
    bool polls;       /* only what it loads can end the loop that it is in, or that repeats it */
    bool invalidates; /* and the loop invalidates the scalar cache */
    bool seeds;       /* a compare-and-swap follows, which compares with what it loads */
};

/* lds: it is one of LDS. */
struct wmi_race_load wmi_race_load_at(const struct wmi_code *code, uint64_t pc, bool lds);

/* Whether a backward branch ends a loop that waits for what other waves store to LDS, or to memory. */
struct wmi_race_loop {
    bool lds, memory;
} wmi_race_loop_at(const struct wmi_code *code, uint64_t pc, const struct wmi_instruction *branch);

#endif
