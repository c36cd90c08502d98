/* SPDX-License-Identifier: MIT */
/* VGPRs above v255: the upper bits of the numbers that instructions contain. */
#ifndef WMI_ISA_MSB_H
#define WMI_ISA_MSB_H

#include "isa/isa.h"

/* Adds the upper bits, as s_set_vgpr_msb gives them, to the VGPRs of the instruction's operands. */
void wmi_extend_vgprs(struct wmi_instruction *insn, unsigned msb);

/* The same bits in the order of MODE[19:12], and back. */
static inline unsigned wmi_msb_to_mode(unsigned msb)
{
    return (msb << 2 | msb >> 6) & 0xff;
}

static inline unsigned wmi_msb_from_mode(unsigned bits)
{
    return (bits >> 2 | bits << 6) & 0xff;
}

enum { WMI_MODE_MSB_SHIFT = 12, WMI_MODE_MSB = 0xff << WMI_MODE_MSB_SHIFT };

#endif
