/* SPDX-License-Identifier: MIT */
/* Finds the body of an instruction, and lists the builds of the *_lanes.c files. */
#ifndef WMI_TABLE_H
#define WMI_TABLE_H

#include "isa/isa.h"
#include "sem/sem.h"

/* The body for a CPU level and a wave size (32 or 64); for a scalar instruction always the same. `number`:
 * the row's, or that of another body on targets where the operation differs (wmi_instruction.body). NULL if
 * the row is not an ALU instruction or is `todo`. */
wmi_body wmi_sem_body(enum wmi_cpu_level level, unsigned lanes, unsigned number);
/* The row of the body with this number. */
enum wmi_insn_id wmi_row_of_body(unsigned number);

/* Every *_lanes.c is built once for each of these: BUILD(name, level, lanes, suffix), with
 * `name` as given and suffix as WMI_BODY_SUFFIX. Without WMI_X86_LEVELS the only level is in the place of the
 * baseline: on other hosts, or the one chosen by Meson's -Dlevel=. */
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

/* Declares all builds of a function whose name is its type's, and a table of them: [CPU level][64 lanes]. */
#define WMI_DECLARE_BUILD(name, level, lanes, suffix)  extern name name##suffix;
#define WMI_ENTRY_OF_BUILD(name, level, lanes, suffix) [level][lanes / 64] = name##suffix,
#define WMI_TABLE_OF_BUILDS(table, name)                                                                     \
    WMI_LANE_BUILDS(WMI_DECLARE_BUILD, name)                                                                 \
    static name *const table[WMI_CPU_LEVELS][2] = {WMI_LANE_BUILDS(WMI_ENTRY_OF_BUILD, name)}

#endif
