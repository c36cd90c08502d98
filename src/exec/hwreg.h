/* SPDX-License-Identifier: MIT */
/* Hardware registers: what s_getreg reads and s_setreg writes. */
#ifndef WMI_HWREG_H
#define WMI_HWREG_H

#include "exec/wave.h"

/* SIMM16 of both: register [5:0], first bit [10:6], bits - 1 [15:11]. */
struct wmi_hwreg {
    unsigned id, shift;
    uint32_t mask; /* of the bits, shifted to 0 */
};

struct wmi_hwreg wmi_hwreg(uint32_t simm16);

/* What a target has, by its limit hardware_registers. */
struct wmi_hwreg_rules;
const struct wmi_hwreg_rules *wmi_hwreg_rules(uint32_t row);
/* The bits of MODE that are always set there. */
uint32_t wmi_hwreg_fixed_mode(const struct wmi_hwreg_rules *rules);

/* The register's bits. Registers that mean nothing here read 0. */
uint32_t wmi_hwreg_read(const struct wmi_hwreg_rules *rules, const struct wmi_frame *frame,
                        struct wmi_hwreg reg);
/* Writes the register's bits; of MODE, and of FLAT_SCR where there is that: the others are not a program's to
 * write. */
void wmi_hwreg_write(const struct wmi_hwreg_rules *rules, struct wmi_frame *frame, struct wmi_hwreg reg,
                     uint32_t value);

/* Sets the frame's MODE and what follows from it, and loads the host's float control word. */
void wmi_frame_set_mode(struct wmi_frame *frame, uint32_t mode);

#endif
