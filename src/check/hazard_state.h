/* SPDX-License-Identifier: MIT */
/* The recent history of a wave for hazard detection: when each register was accessed, in wait states. */
#ifndef WMI_HAZARD_STATE_H
#define WMI_HAZARD_STATE_H

#include "check/matrix_state.h"
#include "check/unsettled_state.h"

enum { WMI_HARDWARE_REGISTERS = 64 };

struct wmi_hazard_state {
    const struct wmi_target *target;
    uint64_t clock;
    struct wmi_moment valu_wrote[WMI_REGISTER_COUNT], salu_wrote[WMI_REGISTER_COUNT],
        wrote[WMI_REGISTER_COUNT];
    struct wmi_moment stores[WMI_REGISTER_COUNT]; /* read as data by a wide store */
    struct wmi_moment setreg[WMI_HARDWARE_REGISTERS];
    struct wmi_moment vmem_reads[WMI_REGISTER_VGPR],
        smem_reads[WMI_REGISTER_VGPR]; /* of SGPRs, until forget() clears them */
    struct wmi_moment memory;          /* the last LDS or vector memory instruction, */
    bool memory_was_lds, branched;     /* whether it was LDS, and whether a branch followed */
    struct wmi_moment fp_atomic;       /* cleared by a wait or a vector instruction */
    struct wmi_moment trans_wrote[WMI_REGISTER_COUNT], part_wrote[WMI_REGISTER_COUNT];
    struct wmi_matrix_state matrix;
    struct wmi_unsettled_state unsettled;
};

/* A hazard of the instruction being executed. */
struct wmi_hazard_found {
    enum wmi_hazard_kind kind;
    int reg;          /* or -1 */
    uint32_t number;  /* of the earlier instruction */
    unsigned missing; /* wait states */
};

enum { WMI_HAZARDS_AT_ONCE = 4 };

/* Collects the hazards of one instruction. */
struct wmi_hazard_search {
    const struct wmi_hazard_state *state;
    struct wmi_hazard_found *found;
    unsigned count;
};

/* Reports a hazard if `first` was less than `states` wait states ago; wmi_hazard_look_at() takes `states`
 * from the table of hazards. */
void wmi_hazard_look(struct wmi_hazard_search *search, enum wmi_hazard_kind kind, int reg,
                     const struct wmi_moment *first, unsigned states);
void wmi_hazard_look_at(struct wmi_hazard_search *search, enum wmi_hazard_kind kind, int reg,
                        const struct wmi_moment *first);
/* Reports a hazard that no number of wait states resolves. */
void wmi_hazard_look_unsettled(struct wmi_hazard_search *search, enum wmi_hazard_kind kind, int reg,
                               const struct wmi_moment *first);

/* Updates the state with an executed instruction; fills `found` with its hazards and returns their number. */
unsigned wmi_hazard_execute(struct wmi_hazard_state *state, const struct wmi_hazard_facts *facts,
                            const struct wmi_span_of_registers *spans, unsigned count, uint32_t number,
                            struct wmi_hazard_found found[WMI_HAZARDS_AT_ONCE]);

#endif
