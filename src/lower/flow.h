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
    bool sets_msb;        /* s_set_vgpr_msb: the upper bits of VGPR numbers become `msb` */
    uint8_t msb;
};

/* The place of the instruction behind one of so many dwords, to which the wave goes on. */
static inline uint64_t wmi_next_place(uint64_t place, unsigned dwords, const struct wmi_flow *flow)
{
    const uint64_t next = ((place + 4u * dwords) & ~(uint64_t)flow->clears) | flow->sets;
    return flow->sets_msb ? wmi_place_with_msb(next, flow->msb) : next;
}

struct wmi_flow wmi_control_flow(const struct wmi_instruction *insn);

#endif
