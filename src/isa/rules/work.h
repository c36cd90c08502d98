/* SPDX-License-Identifier: MIT */
/* What units of a GPU do for instructions, independent of how fast they are. */
#ifndef WMI_WORK_H
#define WMI_WORK_H

#include "isa/isa.h"

/* What is counted of executed code: instructions by enum wmi_work, and from WMI_WORK_KINDS on: */
enum {
    WMI_WORK_LDS_DWORDS = WMI_WORK_KINDS, /* of a lane, of all LDS instructions; at least one for each */
    WMI_WORK_MATRIX_CLOCKS,               /* of the matrix unit of a SIMD */
    WMI_WORK_STALLS,   /* clocks in which a wave waits for results of earlier instructions (time/path.h) */
    WMI_WORK_BARRIERS, /* at which it waits for other waves */
    WMI_WORK_LANES,    /* active in VALU instructions, when their block of code began */
    WMI_WORK_COUNTS,
};

/* Adds an instruction to the counts. */
void wmi_work_add(const struct wmi_target *target, const struct wmi_instruction *insn,
                  uint32_t counts[WMI_WORK_COUNTS]);

/* The VALU instructions among them. */
static inline uint64_t wmi_work_vector(const uint32_t counts[WMI_WORK_COUNTS])
{
    uint64_t vector = 0;
    for (unsigned kind = WMI_WORK_FULL; kind < WMI_WORK_KINDS; kind++)
        vector += counts[kind];
    return vector;
}

#endif
