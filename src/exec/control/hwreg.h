/* SPDX-License-Identifier: MIT */
/* Hardware registers read by s_getreg and written by s_setreg. */
#ifndef WMI_HWREG_H
#define WMI_HWREG_H

#include "exec/run/wave.h"

/* SIMM16 of both instructions: register [5:0], first bit [10:6], bits - 1 [15:11]. */
struct wmi_hwreg {
    unsigned id, shift;
    uint32_t mask; /* of the field, shifted to bit 0 */
};

enum { WMI_HWREG_MODE = 1 }; /* id of MODE */

struct wmi_hwreg wmi_hwreg(uint32_t simm16);

/* Registers of a target, by its limit hardware_registers. */
struct wmi_hwreg_rules;
const struct wmi_hwreg_rules *wmi_hwreg_rules(uint32_t row);
/* Bits of MODE that are always set. */
uint32_t wmi_hwreg_fixed_mode(const struct wmi_hwreg_rules *rules);

/* Reads a field. Unimplemented registers read 0. */
uint32_t wmi_hwreg_read(const struct wmi_hwreg_rules *rules, const struct wmi_frame *frame,
                        struct wmi_hwreg reg);
/* Writes a field. Only MODE, MEM_VIOL and, where writable, FLAT_SCR are writable by programs; other writes
 * are ignored. */
void wmi_hwreg_write(const struct wmi_hwreg_rules *rules, struct wmi_frame *frame, struct wmi_hwreg reg,
                     uint32_t value);

/* Sets the frame's MODE and the values derived from it, and loads the host's float control word. */
void wmi_frame_set_mode(struct wmi_frame *frame, uint32_t mode);

#endif
