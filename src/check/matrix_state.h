/* SPDX-License-Identifier: MIT */
/* The recent accesses of a wave's matrix instructions to each VGPR and AccVGPR. */
#ifndef WMI_MATRIX_STATE_H
#define WMI_MATRIX_STATE_H

#include "isa/hazards.h"

struct wmi_moment {
    uint64_t clock; /* wait states before the instruction, plus 1; 0: never */
    uint32_t number;
};

enum { WMI_VECTOR_REGISTERS = WMI_REGISTER_FLAT_SCRATCH - WMI_REGISTER_VGPR };

/* An instruction that accessed a register as part of a tuple. */
struct wmi_matrix_touch {
    struct wmi_moment when;
    struct wmi_matrix_facts facts;
    uint16_t first, count;
};

struct wmi_matrix_state {
    struct wmi_matrix_touch wrote[WMI_VECTOR_REGISTERS]; /* MFMA */
    struct wmi_matrix_touch c[WMI_VECTOR_REGISTERS];     /* read as C by MFMA */
    struct wmi_matrix_touch acc[WMI_VECTOR_REGISTERS];   /* written by v_accvgpr_read or _write */
    struct wmi_matrix_touch dot[WMI_VECTOR_REGISTERS];
    struct wmi_moment valu[WMI_VECTOR_REGISTERS]; /* written by other VALU instructions */
    struct wmi_moment exec, dgemm;                /* VALU write of EXEC; last DGEMM */
    struct wmi_moment acc_access;                 /* the last v_accvgpr_read or _write */
};

struct wmi_hazard_search;
void wmi_matrix_look(struct wmi_hazard_search *search, const struct wmi_hazard_facts *facts,
                     const struct wmi_span_of_registers *spans, unsigned count);
void wmi_matrix_remember(struct wmi_matrix_state *state, const struct wmi_target *target,
                         const struct wmi_hazard_facts *facts, const struct wmi_span_of_registers *spans,
                         unsigned count, struct wmi_moment now);

#endif
