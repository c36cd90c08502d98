/* SPDX-License-Identifier: MIT */
/* Detects hazards in the instruction stream of a wave. src/isa/rules/hazards.c has the hazards per
 * generation. */
#include "check/waits/hazard_state.h"

#include "check/waits/matrix_state.h"
#include "check/waits/unsettled_state.h"

#include <string.h>

static void look_at_read(struct wmi_hazard_search *search, const struct wmi_hazard_facts *facts, unsigned reg,
                         uint8_t role)
{
    const struct wmi_hazard_state *state = search->state;
    if (reg >= WMI_REGISTER_VGPR && reg < WMI_REGISTER_FLAT_SCRATCH) {
        if (facts->dpp)
            wmi_hazard_look_at(search, WMI_HAZARD_VGPR_DPP, (int)reg, &state->wrote[reg]);
        if (facts->valu && !facts->trans)
            wmi_hazard_look_at(search, WMI_HAZARD_TRANS_FORWARD, (int)reg, &state->trans_wrote[reg]);
        if (facts->valu)
            wmi_hazard_look_at(search, WMI_HAZARD_PART_FORWARD, (int)reg, &state->part_wrote[reg]);
        if (facts->swap)
            wmi_hazard_look_at(search, WMI_HAZARD_VALU_SWAP, (int)reg, &state->valu_wrote[reg]);
        if (facts->readlane)
            wmi_hazard_look_at(search, WMI_HAZARD_VGPR_READLANE, (int)reg, &state->valu_wrote[reg]);
        return;
    }
    if (reg == WMI_REGISTER_EXEC || reg == WMI_REGISTER_EXEC + 1) {
        if (facts->dpp)
            wmi_hazard_look_at(search, WMI_HAZARD_EXEC_DPP, (int)reg, &state->valu_wrote[reg]);
        if (facts->readlane || facts->writelane)
            wmi_hazard_look_at(search, WMI_HAZARD_EXEC_RWLANE, (int)reg, &state->valu_wrote[reg]);
        return; /* no other rule applies to EXEC as an operand */
    }
    if (facts->valu)
        wmi_hazard_look_at(search, WMI_HAZARD_VALU_SGPR_VALU, (int)reg, &state->valu_wrote[reg]);
    if (facts->smem)
        wmi_hazard_look_at(search, WMI_HAZARD_VALU_SGPR_SMEM, (int)reg, &state->valu_wrote[reg]);
    if (facts->s_buffer && role == WMI_ROLE_RSRC)
        wmi_hazard_look_at(search, WMI_HAZARD_SALU_SGPR_SBUFFER, (int)reg, &state->salu_wrote[reg]);
    if (facts->vmem)
        wmi_hazard_look_at(search, WMI_HAZARD_VALU_SGPR_VMEM, (int)reg, &state->valu_wrote[reg]);
    if (facts->div_fmas && (reg == WMI_REGISTER_VCC || reg == WMI_REGISTER_VCC + 1))
        wmi_hazard_look_at(search, WMI_HAZARD_VCC_DIV_FMAS, (int)reg, &state->valu_wrote[reg]);
}

static void look_at_write(struct wmi_hazard_search *search, const struct wmi_hazard_facts *facts,
                          unsigned reg)
{
    const struct wmi_hazard_state *state = search->state;
    if (facts->valu) {
        wmi_hazard_look_at(search, WMI_HAZARD_STORE_DATA, (int)reg, &state->stores[reg]);
        wmi_hazard_look_at(search, WMI_HAZARD_PART_FORWARD, (int)reg, &state->part_wrote[reg]);
    }
}

enum { TRAPSTS = 3 }; /* number of the hardware register */

static void look_at_rest(struct wmi_hazard_search *search, const struct wmi_hazard_facts *facts)
{
    const struct wmi_hazard_state *state = search->state;
    const unsigned flags[] = {WMI_REGISTER_VCC, WMI_REGISTER_VCC + 1, WMI_REGISTER_EXEC,
                              WMI_REGISTER_EXEC + 1};
    if (facts->uses_m0)
        wmi_hazard_look_at(search, WMI_HAZARD_SALU_M0_USE, WMI_REGISTER_M0,
                           &state->salu_wrote[WMI_REGISTER_M0]);
    if (facts->sends)
        wmi_hazard_look_at(search, WMI_HAZARD_SALU_M0_SENDMSG, WMI_REGISTER_M0,
                           &state->salu_wrote[WMI_REGISTER_M0]);
    for (unsigned i = 0; facts->valu && facts->reads_vccz && i < 4; i++)
        wmi_hazard_look_at(search, WMI_HAZARD_VALU_VCCZ, (int)flags[i], &state->valu_wrote[flags[i]]);
    if (facts->lane_select >= 0)
        wmi_hazard_look_at(search, WMI_HAZARD_VALU_LANE_SELECT, facts->lane_select,
                           &state->valu_wrote[facts->lane_select]);
    if (facts->getreg >= 0)
        wmi_hazard_look_at(search, WMI_HAZARD_SETREG_GETREG, -1, &state->setreg[facts->getreg]);
    if (facts->setreg >= 0)
        wmi_hazard_look_at(search, WMI_HAZARD_SETREG_SETREG, -1, &state->setreg[facts->setreg]);
    if (facts->rfe)
        wmi_hazard_look_at(search, WMI_HAZARD_SETREG_RFE, -1, &state->setreg[TRAPSTS]);
    if (facts->denorm_mode)
        wmi_hazard_look_at(search, WMI_HAZARD_FP_ATOMIC_DENORM, -1, &state->fp_atomic);
}

/* ---- updating the state ---- */

static void remember_register(struct wmi_hazard_state *state, const struct wmi_hazard_facts *facts,
                              const struct wmi_span_of_registers *span, unsigned reg, struct wmi_moment now)
{
    if (span->written) {
        state->wrote[reg] = now;
        state->valu_wrote[reg] = facts->valu ? now : (struct wmi_moment){0};
        state->salu_wrote[reg] = facts->salu ? now : (struct wmi_moment){0};
        state->trans_wrote[reg] = facts->valu && facts->trans ? now : (struct wmi_moment){0};
        state->part_wrote[reg] = facts->part ? now : (struct wmi_moment){0};
    }
    if (span->read && facts->wide_store && span->role == WMI_ROLE_DATA)
        state->stores[reg] = now;
}

void wmi_hazard_look_distances(struct wmi_hazard_search *search, const struct wmi_hazard_facts *facts,
                               const struct wmi_span_of_registers *spans, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        for (unsigned k = 0; k < spans[i].count; k++) {
            if (spans[i].read)
                look_at_read(search, facts, spans[i].first + k, spans[i].role);
            if (spans[i].written)
                look_at_write(search, facts, spans[i].first + k);
        }
    look_at_rest(search, facts);
    wmi_matrix_look(search, facts, spans, count);
}

void wmi_hazard_remember_distances(struct wmi_hazard_state *state, const struct wmi_hazard_facts *facts,
                                   const struct wmi_span_of_registers *spans, unsigned count, uint32_t number)
{
    const struct wmi_moment now = {state->clock + 1, number};
    for (unsigned i = 0; i < count; i++)
        for (unsigned k = 0; k < spans[i].count; k++)
            remember_register(state, facts, &spans[i], spans[i].first + k, now);
    wmi_matrix_remember(&state->matrix, state->target, facts, spans, count, now);
    if (facts->valu || facts->waits)
        state->fp_atomic.clock = 0;
    if (facts->fp_atomic)
        state->fp_atomic = now;
    if (facts->setreg >= 0)
        state->setreg[facts->setreg] = now;
    state->clock += facts->states;
}

void wmi_hazard_forget_distances(struct wmi_hazard_state *state)
{
    state->clock += WMI_HAZARD_FAR;
}

void wmi_hazard_begin(struct wmi_hazard_state *state, const struct wmi_target *target)
{
    state->target = target;
    wmi_hazard_forget_distances(state);
    wmi_unsettled_begin(&state->unsettled);
}

unsigned wmi_hazard_execute(struct wmi_hazard_state *state, const struct wmi_hazard_facts *facts,
                            const struct wmi_span_of_registers *spans, unsigned count, uint32_t number,
                            struct wmi_hazard_found found[WMI_HAZARDS_AT_ONCE])
{
    struct wmi_hazard_search search = {.state = state, .found = found};
    wmi_hazard_look_distances(&search, facts, spans, count);
    wmi_unsettled_look(&search, facts, spans, count);
    wmi_hazard_remember_distances(state, facts, spans, count, number);
    wmi_unsettled_remember(&state->unsettled, facts, spans, count, number);
    return search.count;
}
