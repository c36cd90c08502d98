/* SPDX-License-Identifier: MIT */
/* The state of a wave for hazards that wait states do not resolve: they last until certain other
 * instructions, or an s_waitcnt_depctr, have been executed. */
#ifndef WMI_UNSETTLED_STATE_H
#define WMI_UNSETTLED_STATE_H

#include "check/matrix_state.h"

/* The last access of a vector instruction to a VGPR; counts are of instructions before it. */
struct wmi_valu_touch {
    uint64_t valus, transcendentals;
    uint64_t exec; /* vector instructions before the preceding scalar write of EXEC, plus 1; 0: no write */
    uint32_t number;
    bool there;
};

/* A write of a scalar register after a vector instruction read it. */
struct wmi_sgpr_write {
    struct wmi_moment when;
    bool valu;
};

enum { WMI_SCALAR_REGISTERS = WMI_REGISTER_VGPR };

struct wmi_unsettled_state {
    uint64_t valus, transcendentals; /* executed */
    uint64_t exec_valus;             /* `valus` at the last scalar write of EXEC, plus 1; 0: no write */
    struct wmi_valu_touch wrote[WMI_VECTOR_REGISTERS], used[WMI_VECTOR_REGISTERS];
    struct wmi_valu_touch transcendental[WMI_VECTOR_REGISTERS]; /* written by a transcendental */
    struct wmi_moment memory[WMI_VECTOR_REGISTERS];             /* used by a memory instruction */
    struct wmi_moment vcmpx;     /* wrote EXEC; cleared by the next vector instruction except v_nop */
    struct wmi_moment exec_read; /* EXEC read by a non-vector instruction */
    struct wmi_moment mask[WMI_SCALAR_REGISTERS], mask_written[WMI_SCALAR_REGISTERS];
    bool valu_read[WMI_SCALAR_REGISTERS];
    struct wmi_sgpr_write rewritten[WMI_SCALAR_REGISTERS];
    struct wmi_moment wmma; /* set if the last vector instruction was WMMA */
    uint16_t wmma_first, wmma_count;
};

void wmi_unsettled_look(struct wmi_hazard_search *search, const struct wmi_hazard_facts *facts,
                        const struct wmi_span_of_registers *spans, unsigned count);
void wmi_unsettled_remember(struct wmi_unsettled_state *state, const struct wmi_hazard_facts *facts,
                            const struct wmi_span_of_registers *spans, unsigned count, struct wmi_moment now);

#endif
