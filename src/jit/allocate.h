/* SPDX-License-Identifier: MIT */
/* Gives the values of a representation registers of the host: a linear scan. */
#ifndef WMI_ALLOCATE_H
#define WMI_ALLOCATE_H

#include "jit/ir/ir.h"

enum { WMI_IN_SLOT = 0xff, WMI_NO_SLOT = 0xffff };

/* What the host has. */
struct wmi_register_file {
    uint64_t words, lanes; /* the registers for scalars, and for lanes and sets of lanes */
    /* Whether the host takes the argument as a part of its instruction, so that it needs no register. */
    bool (*takes)(const struct wmi_ir *ir, const struct wmi_ir_insn *insn, unsigned argument);
};

/* A value has a register all the time, or a slot in memory. */
struct wmi_registers {
    uint8_t reg[WMI_IR_MOST];
    uint16_t slot[WMI_IR_MOST];
    bool unused[WMI_IR_MOST]; /* the instruction need not be executed */
    unsigned slots;
};

void wmi_allocate(struct wmi_registers *registers, const struct wmi_ir *ir,
                  const struct wmi_register_file *file);

#endif
