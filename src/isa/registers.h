/* SPDX-License-Identifier: MIT */
/* Which registers an instruction reads and writes, in one numbering of all that a wave has. */
#ifndef WMI_REGISTERS_H
#define WMI_REGISTERS_H

#include "isa/isa.h"

/* SGPRs, VCC, TTMPs, M0 and EXEC have the numbers that RDNA gives them as operands. */
enum {
    WMI_REGISTER_VCC = 106,
    WMI_REGISTER_TTMP = 108,
    WMI_REGISTER_M0 = 124,
    WMI_REGISTER_EXEC = 126,
    WMI_REGISTER_VGPR = 128, /* v0 */
    WMI_REGISTER_AGPR = 384, /* a0 */
    WMI_REGISTER_FLAT_SCRATCH = 640,
    WMI_REGISTER_XNACK_MASK = 642,
    WMI_REGISTER_COUNT = 644,
    WMI_SPANS = 2 * WMI_OPERANDS + 6,
};

/* Neighbouring registers of one operand. */
struct wmi_span_of_registers {
    uint16_t first, count;
    uint8_t role; /* enum wmi_role; NONE: implied by the instruction */
    bool read, written;
};

/* Fills `spans` and returns how many there are. EXEC as the mask of a vector instruction is one that is read.
 * What an index adds to VGPR numbers, and SCC, are not told. */
unsigned wmi_registers_of(const struct wmi_instruction *insn, struct wmi_span_of_registers spans[WMI_SPANS]);

/* Writes the register's name, as LLVM prints it. */
void wmi_register_name(unsigned number, char *text, size_t size);

#endif
