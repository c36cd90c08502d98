/* SPDX-License-Identifier: MIT */
/* Control flow: where an instruction may go on. */
#ifndef WMI_FLOW_H
#define WMI_FLOW_H

#include "isa/isa.h"
#include "lower/place.h"

struct wmi_flow {
    bool branches;        /* may go on at `distance` */
    bool ends;            /* never goes on at the next instruction */
    bool computed;        /* may go on at an address in registers */
    bool calls;           /* what it goes on at may come back to the next instruction */
    int64_t distance;     /* dwords from the end of the instruction */
    uint8_t sets, clears; /* of enum wmi_state, for the next instruction */
};

struct wmi_flow wmi_control_flow(const struct wmi_instruction *insn);

#endif
