/* SPDX-License-Identifier: MIT */
/* VGPRs above v255: the upper bits of the numbers that instructions contain. */
#ifndef WMI_ISA_MSB_H
#define WMI_ISA_MSB_H

#include "isa/isa.h"

/* Adds the upper bits, as s_set_vgpr_msb gives them, to the VGPRs of the instruction's operands. */
void wmi_extend_vgprs(struct wmi_instruction *insn, unsigned msb);

/* What control flow can make of the bits at a dword of code, besides their values up to 255. */
enum { WMI_MSB_UNREACHED = 0x100, WMI_MSB_DIFFERENT = 0x101 };

/* Follows the bits from dword `first` on, where they are 0, through branches and along `count` dwords of
 * code. state: one for each of them, at first WMI_MSB_UNREACHED; what several calls have found is merged.
 * Calls are taken to keep the bits, as LLVM's convention asks. False: no memory. */
bool wmi_follow_msb(const struct wmi_target *target, const uint32_t *words, size_t count, size_t first,
                    uint16_t *state);

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
