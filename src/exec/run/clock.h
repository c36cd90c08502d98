/* SPDX-License-Identifier: MIT */
/* The wave's virtual clock in cycles: it advances with executed instructions, independent of the host. */
#ifndef WMI_CLOCK_H
#define WMI_CLOCK_H

#include "exec/run/wave.h"

enum { WMI_CLOCKS_PER_INSTRUCTION = 4 }; /* a wave64 instruction occupies a SIMD of 16 lanes for 4 cycles */

static inline uint64_t wmi_wave_cycles(const struct wmi_wave *wave)
{
    return wmi_wave_clock(wave) * WMI_CLOCKS_PER_INSTRUCTION;
}

#endif
