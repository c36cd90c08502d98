/* SPDX-License-Identifier: MIT */
/* Numbers of the relocations R_AMDGPU_*. Source: LLVM 19 AMDGPUUsage, "Relocation Records". */
#ifndef WMI_RELOCATION_TYPES_H
#define WMI_RELOCATION_TYPES_H

enum {
    ABS32_LO = 1,
    ABS32_HI,
    ABS64,
    REL32,
    REL64,
    ABS32,
    GOTPCREL,
    GOTPCREL32_LO,
    GOTPCREL32_HI,
    REL32_LO,
    REL32_HI,
    REL16 = 14
};

#endif
