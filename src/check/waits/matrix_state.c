/* SPDX-License-Identifier: MIT */
/* Detects register hazards of matrix instructions; src/isa/rules/hazards_matrix.c has their wait states. */
#include "check/waits/matrix_state.h"

static bool is_vector(unsigned reg)
{
    return reg >= WMI_REGISTER_VGPR && reg < WMI_REGISTER_FLAT_SCRATCH;
}

/* Whether the span is the accumulator: D of sparse instructions, whose operand C is the index. */
static bool is_c(const struct wmi_hazard_facts *facts, const struct wmi_span_of_registers *span)
{
    const bool accumulates = facts->matrix.sparse || (facts->matrix.dot && span->written);
    return span->role == (accumulates ? WMI_ROLE_D : WMI_ROLE_C);
}

static void look(struct wmi_hazard_search *search, enum wmi_hazard_kind kind, unsigned reg,
                 const struct wmi_matrix_touch *first, enum wmi_matrix_dependence use,
                 const struct wmi_hazard_facts *second, const struct wmi_span_of_registers *span)
{
    if (!first->when.clock)
        return;
    const bool same = first->first == span->first && first->count == span->count;
    const unsigned states =
        wmi_matrix_states(search->state->target, &first->facts, use, &second->matrix, same);
    wmi_hazard_look(search, kind, (int)reg, &first->when, states);
}

/* A memory instruction after v_accvgpr_read or _write may read a VGPR too early that a vector instruction
 * just before them wrote. Source: LLVM, checkMAILdStHazards. */
static void look_past_acc(struct wmi_hazard_search *search, unsigned reg)
{
    const struct wmi_hazard_state *state = search->state;
    const struct wmi_matrix_state *m = &state->matrix;
    const struct wmi_moment *valu = &state->valu_wrote[reg];
    if (valu->clock && state->clock - valu->clock < 2 &&
        m->acc[reg - WMI_REGISTER_VGPR].when.clock != valu->clock)
        wmi_hazard_look(search, WMI_HAZARD_MATRIX_READ, (int)reg, &m->acc_access, 1);
}

static void look_at_read(struct wmi_hazard_search *search, const struct wmi_hazard_facts *facts,
                         const struct wmi_span_of_registers *span, unsigned reg)
{
    const struct wmi_hazard_state *state = search->state;
    const struct wmi_matrix_state *m = &state->matrix;
    const struct wmi_matrix_facts *f = &facts->matrix;
    const unsigned i = reg - WMI_REGISTER_VGPR;
    const bool memory = facts->vmem || facts->ds || facts->export, c = is_c(facts, span);
    const bool accumulator = reg >= WMI_REGISTER_AGPR;
    if (f->mai) {
        look(search, WMI_HAZARD_MATRIX_READ, reg, &m->wrote[i], c ? WMI_MATRIX_C : WMI_MATRIX_SOURCE, facts,
             span);
        look(search, WMI_HAZARD_MATRIX_READ, reg, &m->acc[i], c ? WMI_MATRIX_ACC_C : WMI_MATRIX_ACC_SOURCE,
             facts, span);
        if (!f->acc_read && (f->unified || !accumulator))
            wmi_hazard_look_at(search, WMI_HAZARD_VALU_MATRIX, (int)reg, &m->valu[i]);
        return;
    }
    if (!memory && !facts->valu)
        return;
    const enum wmi_matrix_dependence use = memory ? WMI_MATRIX_MEMORY : WMI_MATRIX_VALU;
    look(search, WMI_HAZARD_MATRIX_READ, reg, &m->wrote[i], use, facts, span);
    look(search, WMI_HAZARD_MATRIX_READ, reg, &m->acc[i], use, facts, span);
    if (memory && !facts->export)
        look_past_acc(search, reg);
    if (m->dot[i].when.clock && !(m->dot[i].facts.id == f->id && c))
        wmi_hazard_look_at(search, WMI_HAZARD_DOT_RESULT, (int)reg, &m->dot[i].when);
    if (memory && !facts->export && m->dgemm.clock >= state->valu_wrote[reg].clock)
        wmi_hazard_look_at(search, WMI_HAZARD_DGEMM_VMEM, (int)reg, &state->valu_wrote[reg]);
}

static void look_at_write(struct wmi_hazard_search *search, const struct wmi_hazard_facts *facts,
                          const struct wmi_span_of_registers *span, unsigned reg)
{
    const struct wmi_matrix_state *m = &search->state->matrix;
    const unsigned i = reg - WMI_REGISTER_VGPR;
    if (facts->matrix.passes || !(facts->valu || facts->vmem || facts->ds || facts->export))
        return;
    look(search, WMI_HAZARD_MATRIX_OVERWRITE, reg, &m->wrote[i], WMI_MATRIX_WRITE, facts, span);
    look(search, WMI_HAZARD_MATRIX_C_OVERWRITE, reg, &m->c[i], WMI_MATRIX_C_WRITTEN, facts, span);
    if (facts->matrix.acc_write)
        look(search, WMI_HAZARD_MATRIX_OVERWRITE, reg, &m->acc[i], WMI_MATRIX_ACC_SOURCE, facts, span);
    if (m->dot[i].when.clock && m->dot[i].facts.id != facts->matrix.id)
        wmi_hazard_look_at(search, WMI_HAZARD_DOT_RESULT, (int)reg, &m->dot[i].when);
}

void wmi_matrix_look(struct wmi_hazard_search *search, const struct wmi_hazard_facts *facts,
                     const struct wmi_span_of_registers *spans, unsigned count)
{
    const struct wmi_matrix_state *m = &search->state->matrix;
    for (unsigned i = 0; i < count; i++)
        for (unsigned reg = spans[i].first; reg < spans[i].first + spans[i].count && is_vector(reg); reg++) {
            if (spans[i].read)
                look_at_read(search, facts, &spans[i], reg);
            if (spans[i].written)
                look_at_write(search, facts, &spans[i], reg);
        }
    if (facts->matrix.mai && !facts->matrix.acc_read)
        wmi_hazard_look_at(search, WMI_HAZARD_EXEC_MATRIX, WMI_REGISTER_EXEC, &m->exec);
    if (facts->matrix.fma64)
        wmi_hazard_look_at(search, WMI_HAZARD_DGEMM_FMA, -1, &m->dgemm);
}

void wmi_matrix_remember(struct wmi_matrix_state *state, const struct wmi_target *target,
                         const struct wmi_hazard_facts *facts, const struct wmi_span_of_registers *spans,
                         unsigned count, struct wmi_moment now)
{
    const struct wmi_matrix_facts *f = &facts->matrix;
    const bool dots =
        f->dot && wmi_hazard_states(target, WMI_HAZARD_DOT_RESULT); /* these have their own rules */
    if (!facts->valu)
        return;
    if (f->dgemm)
        state->dgemm = now;
    if (f->acc_read || f->acc_write)
        state->acc_access = now;
    for (unsigned i = 0; i < count; i++) {
        const struct wmi_span_of_registers *span = &spans[i];
        const struct wmi_matrix_touch touch = {now, *f, span->first, span->count};
        if (!f->passes && span->written && span->first == WMI_REGISTER_EXEC)
            state->exec = now;
        for (unsigned reg = span->first; reg < span->first + span->count && is_vector(reg); reg++) {
            const unsigned v = reg - WMI_REGISTER_VGPR;
            if (f->passes && span->written)
                state->wrote[v] = touch;
            if (f->passes && !f->dgemm && span->read && is_c(facts, span))
                state->c[v] = touch;
            if ((f->acc_read || f->acc_write) && span->written)
                state->acc[v] = touch;
            if (dots && span->written)
                state->dot[v] = touch;
            if (!f->passes && !dots && span->written)
                state->valu[v] = now;
        }
    }
}
