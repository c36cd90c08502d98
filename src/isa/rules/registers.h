/* SPDX-License-Identifier: MIT */
/* Registers read and written by an instruction, in one numbering for all registers of a wave. */
#ifndef WMI_REGISTERS_H
#define WMI_REGISTERS_H

#include "isa/isa.h"

/* SGPRs, VCC, TTMPs, M0 and EXEC have their RDNA operand codes. */
enum {
    WMI_REGISTER_VCC = 106,
    WMI_REGISTER_TTMP = 108,
    WMI_REGISTER_M0 = 124,
    WMI_REGISTER_TRANSLATION = 125, /* addresses that are being translated, as a whole; no operand */
    WMI_REGISTER_EXEC = 126,
    WMI_REGISTER_VGPR = 128,  /* v0 */
    WMI_REGISTER_AGPR = 1152, /* a0 */
    WMI_REGISTER_FLAT_SCRATCH = 1408,
    WMI_REGISTER_XNACK_MASK = 1410,
    WMI_REGISTER_SCRATCH = 1412, /* the wave's scratch memory as a whole; no operand */
    WMI_REGISTER_COUNT = 1413,
    WMI_IMAGE_ADDRESS = 16, /* at least the registers of an image address */
    WMI_SPANS = 2 * WMI_OPERANDS + 6 + WMI_IMAGE_ADDRESS,
};

/* Consecutive registers of one operand. */
struct wmi_span_of_registers {
    uint16_t first, count;
    uint8_t role; /* enum wmi_role; NONE: implied by the instruction */
    bool read, written;
};

/* Fills `spans` and returns their number. A vector instruction masked by EXEC reads it. Does not include SCC,
 * nor the effect of VGPR indexing. */
unsigned wmi_registers_of(const struct wmi_target *target, const struct wmi_instruction *insn,
                          struct wmi_span_of_registers spans[WMI_SPANS]);

/* Writes the register's name as printed by LLVM. */
void wmi_register_name(unsigned number, char *text, size_t size);

#endif
