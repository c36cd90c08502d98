/* SPDX-License-Identifier: MIT */
/* Finds the body of an instruction, and names the builds of the *_lanes.c files for everybody's tables. */
#ifndef WMI_TABLE_H
#define WMI_TABLE_H

#include "isa/isa.h"
#include "sem/sem.h"

/* The body for a CPU level and a wave size (32 or 64): of a scalar instruction the same for all. `number`:
 * the row's, or on targets where it computes something else that of another body (wmi_instruction.body). NULL
 * when the row is no ALU instruction or is still to be written. */
wmi_body wmi_sem_body(enum wmi_cpu_level level, unsigned lanes, unsigned number);
/* The row of the body with this number. */
enum wmi_insn_id wmi_row_of_body(unsigned number);

/* Every *_lanes.c is built once for each of these: BUILD(name, level, lanes, suffix), with
 * `name` as given and suffix as WMI_BODY_SUFFIX. Without WMI_X86_LEVELS there is a single level, in the place
 * of the baseline: another host's, or the one that -Dlevel= of Meson chose. */
#ifdef WMI_X86_LEVELS
#define WMI_LANE_BUILDS(BUILD, name)                                                                         \
    BUILD(name, WMI_CPU_BASELINE, 32, _baseline_32)                                                          \
    BUILD(name, WMI_CPU_BASELINE, 64, _baseline_64)                                                          \
    BUILD(name, WMI_CPU_AVX2, 32, _avx2_32)                                                                  \
    BUILD(name, WMI_CPU_AVX2, 64, _avx2_64)                                                                  \
    BUILD(name, WMI_CPU_AVX512, 32, _avx512_32)                                                              \
    BUILD(name, WMI_CPU_AVX512, 64, _avx512_64)
#else
#define WMI_LANE_BUILDS(BUILD, name)                                                                         \
    BUILD(name, WMI_CPU_BASELINE, 32, _baseline_32)                                                          \
    BUILD(name, WMI_CPU_BASELINE, 64, _baseline_64)
#endif

/* Declares all builds of a function that is named as its type, and a table of them: [CPU level][64 lanes]. */
#define WMI_DECLARE_BUILD(name, level, lanes, suffix)  extern name name##suffix;
#define WMI_ENTRY_OF_BUILD(name, level, lanes, suffix) [level][lanes / 64] = name##suffix,
#define WMI_TABLE_OF_BUILDS(table, name)                                                                     \
    WMI_LANE_BUILDS(WMI_DECLARE_BUILD, name)                                                                 \
    static name *const table[WMI_CPU_LEVELS][2] = {WMI_LANE_BUILDS(WMI_ENTRY_OF_BUILD, name)}

#endif
