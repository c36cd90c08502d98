/* SPDX-License-Identifier: MIT */
/* Finds hazards in the stream of a wave's instructions. Which generation has which is src/isa/hazards.c's. */
#include "check/hazard_state.h"

#include <string.h>

/* The hazards found of one instruction. */
struct search {
    const struct wmi_hazard_state *state;
    struct wmi_hazard_found *found;
    unsigned count;
};

static void report(struct search *search, enum wmi_hazard_kind kind, int reg, const struct wmi_moment *first,
                   unsigned missing)
{
    for (unsigned i = 0; i < search->count; i++)
        if (search->found[i].kind == kind)
            return; /* one register is enough */
    if (search->count < WMI_HAZARDS_AT_ONCE)
        search->found[search->count++] = (struct wmi_hazard_found){kind, reg, first->number, missing};
}

/* Looks whether `first` was long enough ago. */
static void look(struct search *search, enum wmi_hazard_kind kind, int reg, const struct wmi_moment *first)
{
    const unsigned states = wmi_hazard_states(search->state->target, kind);
    if (!states || !first->clock)
        return;
    const uint64_t between = search->state->clock - first->clock;
    if (between < states)
        report(search, kind, reg, first, states - (unsigned)between);
}

/* One that lasts until it is forgotten. */
static void look_unsettled(struct search *search, enum wmi_hazard_kind kind, int reg,
                           const struct wmi_moment *first)
{
    if (wmi_hazard_states(search->state->target, kind) && first->clock)
        report(search, kind, reg, first, 0);
}

static void look_at_read(struct search *search, const struct wmi_hazard_facts *facts, unsigned reg,
                         uint8_t role)
{
    const struct wmi_hazard_state *state = search->state;
    if (reg >= WMI_REGISTER_VGPR && reg < WMI_REGISTER_FLAT_SCRATCH) {
        if (facts->dpp)
            look(search, WMI_HAZARD_VGPR_DPP, (int)reg, &state->wrote[reg]);
        return;
    }
    if (reg == WMI_REGISTER_EXEC || reg == WMI_REGISTER_EXEC + 1) {
        if (facts->dpp)
            look(search, WMI_HAZARD_EXEC_DPP, (int)reg, &state->valu_wrote[reg]);
        return; /* as a mask it is no operand */
    }
    if (facts->smem)
        look(search, WMI_HAZARD_VALU_SGPR_SMEM, (int)reg, &state->valu_wrote[reg]);
    if (facts->s_buffer && role == WMI_ROLE_RSRC)
        look(search, WMI_HAZARD_SALU_SGPR_SBUFFER, (int)reg, &state->salu_wrote[reg]);
    if (facts->vmem)
        look(search, WMI_HAZARD_VALU_SGPR_VMEM, (int)reg, &state->valu_wrote[reg]);
    if (facts->div_fmas && (reg == WMI_REGISTER_VCC || reg == WMI_REGISTER_VCC + 1))
        look(search, WMI_HAZARD_VCC_DIV_FMAS, (int)reg, &state->valu_wrote[reg]);
}

static void look_at_write(struct search *search, const struct wmi_hazard_facts *facts, unsigned reg,
                          uint8_t role)
{
    const struct wmi_hazard_state *state = search->state;
    if (facts->valu)
        look(search, WMI_HAZARD_STORE_DATA, (int)reg, &state->stores[reg]);
    if (reg >= WMI_REGISTER_VGPR)
        return;
    /* LLVM lets s_and_saveexec and its kin write EXEC. */
    if ((facts->salu || facts->smem) && role != WMI_ROLE_NONE)
        look_unsettled(search, WMI_HAZARD_VMEM_SCALAR_WRITE, (int)reg, &state->vmem_reads[reg]);
    if (facts->valu)
        look_unsettled(search, WMI_HAZARD_SMEM_VECTOR_WRITE, (int)reg, &state->smem_reads[reg]);
}

/* LDS, or vector memory that cannot be LDS. */
static bool is_either(const struct wmi_hazard_facts *facts)
{
    return facts->ds || (facts->vmem && !facts->flat);
}

static void look_at_rest(struct search *search, const struct wmi_hazard_facts *facts)
{
    const struct wmi_hazard_state *state = search->state;
    const unsigned flags[] = {WMI_REGISTER_VCC, WMI_REGISTER_VCC + 1, WMI_REGISTER_EXEC,
                              WMI_REGISTER_EXEC + 1};
    if (facts->uses_m0)
        look(search, WMI_HAZARD_SALU_M0_USE, WMI_REGISTER_M0, &state->salu_wrote[WMI_REGISTER_M0]);
    if (facts->sends)
        look(search, WMI_HAZARD_SALU_M0_SENDMSG, WMI_REGISTER_M0, &state->salu_wrote[WMI_REGISTER_M0]);
    for (unsigned i = 0; facts->valu && facts->reads_vccz && i < 4; i++)
        look(search, WMI_HAZARD_VALU_VCCZ, (int)flags[i], &state->valu_wrote[flags[i]]);
    if (facts->lane_select >= 0)
        look(search, WMI_HAZARD_VALU_LANE_SELECT, facts->lane_select, &state->valu_wrote[facts->lane_select]);
    if (facts->getreg >= 0)
        look(search, WMI_HAZARD_SETREG_GETREG, -1, &state->setreg[facts->getreg]);
    if (facts->setreg >= 0)
        look(search, WMI_HAZARD_SETREG_SETREG, -1, &state->setreg[facts->setreg]);
    if (is_either(facts) && state->branched && state->memory_was_lds != facts->ds)
        look_unsettled(search, WMI_HAZARD_LDS_BRANCH_VMEM, -1, &state->memory);
}

/* ---- what is remembered ---- */

static void forget(struct wmi_hazard_state *state, const struct wmi_hazard_facts *facts)
{
    if (facts->valu || facts->waits_vm_vsrc)
        memset(state->vmem_reads, 0, sizeof state->vmem_reads);
    if (facts->waits_lgkm || (facts->salu && !facts->sopp))
        memset(state->smem_reads, 0, sizeof state->smem_reads);
    if (facts->waits_vs)
        state->memory.clock = 0;
}

static void remember_register(struct wmi_hazard_state *state, const struct wmi_hazard_facts *facts,
                              const struct wmi_span_of_registers *span, unsigned reg, struct wmi_moment now)
{
    if (span->written) {
        state->wrote[reg] = now;
        state->valu_wrote[reg] = facts->valu ? now : (struct wmi_moment){0};
        state->salu_wrote[reg] = facts->salu ? now : (struct wmi_moment){0};
    }
    if (span->read && facts->wide_store && span->role == WMI_ROLE_DATA)
        state->stores[reg] = now;
    if (span->read && reg < WMI_REGISTER_VGPR) {
        if (facts->vmem || facts->ds)
            state->vmem_reads[reg] = now;
        if (facts->smem)
            state->smem_reads[reg] = now;
    }
}

unsigned wmi_hazard_execute(struct wmi_hazard_state *state, const struct wmi_hazard_facts *facts,
                            const struct wmi_span_of_registers *spans, unsigned count, uint32_t number,
                            struct wmi_hazard_found found[WMI_HAZARDS_AT_ONCE])
{
    struct search search = {.state = state, .found = found};
    forget(state, facts);
    for (unsigned i = 0; i < count; i++)
        for (unsigned k = 0; k < spans[i].count; k++) {
            if (spans[i].read)
                look_at_read(&search, facts, spans[i].first + k, spans[i].role);
            if (spans[i].written)
                look_at_write(&search, facts, spans[i].first + k, spans[i].role);
        }
    look_at_rest(&search, facts);

    const struct wmi_moment now = {state->clock + 1, number};
    for (unsigned i = 0; i < count; i++)
        for (unsigned k = 0; k < spans[i].count; k++)
            remember_register(state, facts, &spans[i], spans[i].first + k, now);
    if (facts->setreg >= 0)
        state->setreg[facts->setreg] = now;
    if (is_either(facts)) {
        state->memory = now;
        state->memory_was_lds = facts->ds;
        state->branched = false;
    }
    state->branched |= facts->branch;
    state->clock += facts->states;
    return search.count;
}
