/* SPDX-License-Identifier: MIT */
/* Detects hazards that last until certain other instructions are executed. src/isa/hazards.c has the hazards
 * per generation; the conditions are those of LLVM, GCNHazardRecognizer.cpp, in the functions that
 * wmi_hazards[] names. */
#include "check/unsettled_state.h"

#include <string.h>

static bool is_vector(unsigned reg)
{
    return reg >= WMI_REGISTER_VGPR && reg < WMI_REGISTER_FLAT_SCRATCH;
}

static bool is_exec(unsigned reg)
{
    return reg == WMI_REGISTER_EXEC || reg == WMI_REGISTER_EXEC + 1;
}

/* Memory instructions and exports issue only after all earlier vector instructions have written results. */
static bool is_memory(const struct wmi_hazard_facts *facts)
{
    return facts->vmem || facts->ds;
}

/* ---- vector registers ---- */

/* Maximum number of vector instructions, and of transcendentals among them, between a transcendental and the
 * use of its result. */
enum { TRANS_VALUS = 5, TRANS_TRANS = 1 };

static void look_at_trans(struct wmi_hazard_search *search, unsigned reg)
{
    const struct wmi_unsettled_state *u = &search->state->unsettled;
    const struct wmi_valu_touch *t = &u->transcendental[reg - WMI_REGISTER_VGPR];
    if (t->there && u->valus - t->valus - 1 <= TRANS_VALUS &&
        u->transcendentals - t->transcendentals - 1 <= TRANS_TRANS)
        wmi_hazard_look_unsettled(search, WMI_HAZARD_TRANS_USE, (int)reg, &(struct wmi_moment){1, t->number});
}

/* Maximum number of vector instructions between the writes of two sources, with a write of EXEC between them,
 * and from the second write to the read. */
enum { FORWARD_AROUND = 2, FORWARD_BEHIND = 4 };

/* The most recent write of one of the operand's registers. */
static const struct wmi_valu_touch *written_last(const struct wmi_unsettled_state *u,
                                                 const struct wmi_span_of_registers *span)
{
    const struct wmi_valu_touch *last = NULL;
    for (unsigned reg = span->first; reg < span->first + span->count && is_vector(reg); reg++) {
        const struct wmi_valu_touch *t = &u->wrote[reg - WMI_REGISTER_VGPR];
        if (t->there && (!last || t->valus > last->valus))
            last = t;
    }
    return last;
}

static void look_at_forwarding(struct wmi_hazard_search *search, const struct wmi_span_of_registers *spans,
                               unsigned count)
{
    const struct wmi_unsettled_state *u = &search->state->unsettled;
    const struct wmi_valu_touch *after = NULL, *before = NULL;
    unsigned reg = 0;
    for (unsigned i = 0; i < count; i++) {
        const struct wmi_valu_touch *t =
            spans[i].read && is_vector(spans[i].first) ? written_last(u, &spans[i]) : NULL;
        if (t && (!after || t->valus > after->valus)) {
            after = t;
            reg = spans[i].first;
        }
    }
    if (!after || !after->exec || u->valus - after->valus - 1 > FORWARD_BEHIND)
        return;
    const uint64_t exec = after->exec - 1;
    for (unsigned i = 0; i < count; i++) {
        const struct wmi_valu_touch *t =
            spans[i].read && is_vector(spans[i].first) ? written_last(u, &spans[i]) : NULL;
        if (t && t->valus < exec && (!before || t->valus > before->valus))
            before = t;
    }
    if (before && (after->valus - exec) + (exec - before->valus - 1) <= FORWARD_AROUND)
        wmi_hazard_look_unsettled(search, WMI_HAZARD_PARTIAL_FORWARD, (int)reg,
                                  &(struct wmi_moment){1, before->number});
}

static void look_at_ldsdir(struct wmi_hazard_search *search, const struct wmi_hazard_facts *facts,
                           unsigned reg)
{
    const struct wmi_unsettled_state *u = &search->state->unsettled;
    const struct wmi_valu_touch *t = &u->used[reg - WMI_REGISTER_VGPR];
    if (t->there) {
        const uint64_t between = u->valus - t->valus - 1;
        const uint64_t may_be = u->transcendentals > t->transcendentals ? 0 : between;
        if (between < 15 && (uint64_t)facts->ldsdir_vdst > may_be)
            wmi_hazard_look_unsettled(search, WMI_HAZARD_LDSDIR_VALU, (int)reg,
                                      &(struct wmi_moment){1, t->number});
    }
    if (facts->ldsdir_vsrc != 0 || !facts->ldsdir_has_vsrc)
        wmi_hazard_look_unsettled(search, WMI_HAZARD_LDSDIR_VMEM, (int)reg,
                                  &u->memory[reg - WMI_REGISTER_VGPR]);
}

static void look_at_wmma(struct wmi_hazard_search *search, const struct wmi_hazard_facts *facts,
                         const struct wmi_span_of_registers *span)
{
    const struct wmi_unsettled_state *u = &search->state->unsettled;
    const bool counts =
        span->role == WMI_ROLE_A || span->role == WMI_ROLE_B || (facts->sparse && span->role == WMI_ROLE_C);
    if (counts && span->first < u->wmma_first + u->wmma_count && u->wmma_first < span->first + span->count)
        wmi_hazard_look_unsettled(search, WMI_HAZARD_WMMA, span->first, &u->wmma);
}

/* ---- scalar registers ---- */

static void look_at_sgpr(struct wmi_hazard_search *search, const struct wmi_hazard_facts *facts,
                         const struct wmi_span_of_registers *span, unsigned reg)
{
    const struct wmi_unsettled_state *u = &search->state->unsettled;
    const struct wmi_sgpr_write *w = &u->rewritten[reg];
    if (reg >= WMI_REGISTER_M0)
        return;
    if (facts->salu && facts->wave64)
        wmi_hazard_look_unsettled(search, WMI_HAZARD_MASK_WRITE, (int)reg, &u->mask_written[reg]);
    if (facts->valu || (facts->salu && span->role != WMI_ROLE_NONE && !w->valu))
        wmi_hazard_look_unsettled(search, WMI_HAZARD_VALU_READ_SGPR, (int)reg, &w->when);
}

void wmi_unsettled_look(struct wmi_hazard_search *search, const struct wmi_hazard_facts *facts,
                        const struct wmi_span_of_registers *spans, unsigned count)
{
    const struct wmi_unsettled_state *u = &search->state->unsettled;
    for (unsigned i = 0; i < count; i++)
        for (unsigned reg = spans[i].first; reg < spans[i].first + spans[i].count; reg++) {
            if (is_vector(reg) && facts->valu && spans[i].read)
                look_at_trans(search, reg);
            if (is_vector(reg) && facts->ldsdir_vdst >= 0 && spans[i].written)
                look_at_ldsdir(search, facts, reg);
            if (reg < WMI_SCALAR_REGISTERS && spans[i].read)
                look_at_sgpr(search, facts, &spans[i], reg);
            if (is_exec(reg) && facts->valu && spans[i].written)
                wmi_hazard_look_unsettled(search, WMI_HAZARD_VCMPX_EXEC, (int)reg, &u->exec_read);
        }
    for (unsigned i = 0; i < count && facts->wmma; i++)
        look_at_wmma(search, facts, &spans[i]);
    if (facts->valu && facts->wave64)
        look_at_forwarding(search, spans, count);
    if (facts->permlane)
        wmi_hazard_look_unsettled(search, WMI_HAZARD_VCMPX_PERMLANE, -1, &u->vcmpx);
}

/* ---- updating the state ---- */

static void forget(struct wmi_unsettled_state *u, const struct wmi_hazard_facts *facts)
{
    if (is_memory(facts) || facts->export || facts->va_vdst) {
        memset(u->wrote, 0, sizeof u->wrote);
        memset(u->transcendental, 0, sizeof u->transcendental);
    }
    if (is_memory(facts) || facts->export)
        memset(u->used, 0, sizeof u->used);
    if (facts->valu || facts->export || facts->waits_vm_vsrc)
        memset(u->memory, 0, sizeof u->memory);
    if (facts->sa_sdst) {
        u->exec_read.clock = 0;
        memset(u->mask, 0, sizeof u->mask);
        memset(u->mask_written, 0, sizeof u->mask_written);
    }
    if (facts->smem || facts->vmem)
        memset(u->rewritten, 0, sizeof u->rewritten);
    for (unsigned reg = 0; reg < WMI_SCALAR_REGISTERS && (facts->sa_sdst || facts->va_sdst || facts->va_vcc);
         reg++) {
        const bool vcc = reg == WMI_REGISTER_VCC || reg == WMI_REGISTER_VCC + 1;
        if (u->rewritten[reg].valu ? (vcc ? facts->va_vcc : facts->va_sdst) : facts->sa_sdst)
            u->rewritten[reg].when.clock = 0;
    }
}

static bool is_mask(const struct wmi_hazard_facts *facts, const struct wmi_span_of_registers *span)
{
    if (facts->mask_role < 0 || !span->read)
        return false;
    return span->role == facts->mask_role || (span->role == WMI_ROLE_NONE && span->first == WMI_REGISTER_VCC);
}

/* A vector instruction that reads an SGPR or a literal completes earlier reads of masks. */
static void remember_masks(struct wmi_unsettled_state *u, const struct wmi_hazard_facts *facts,
                           const struct wmi_span_of_registers *spans, unsigned count, struct wmi_moment now)
{
    bool reads = facts->literal;
    for (unsigned i = 0; i < count; i++)
        reads |= spans[i].read && spans[i].first < WMI_REGISTER_M0;
    if (reads)
        memset(u->mask, 0, sizeof u->mask);
    for (unsigned i = 0; i < count; i++)
        for (unsigned reg = spans[i].first;
             is_mask(facts, &spans[i]) && reg < spans[i].first + spans[i].count; reg++)
            if (reg < WMI_REGISTER_M0)
                u->mask[reg] = now;
}

/* Scalar reads of a register that vector instructions read wait for VALU writes of its kind (VCC or SGPR). */
static void settle_valu_writes(struct wmi_unsettled_state *u, unsigned reg)
{
    const bool of_vcc = reg == WMI_REGISTER_VCC || reg == WMI_REGISTER_VCC + 1;
    for (unsigned i = 0; i < WMI_SCALAR_REGISTERS; i++) {
        const bool vcc = i == WMI_REGISTER_VCC || i == WMI_REGISTER_VCC + 1;
        if (u->rewritten[i].valu && vcc == of_vcc)
            u->rewritten[i].when.clock = 0;
    }
}

static void remember_sgpr(struct wmi_unsettled_state *u, const struct wmi_hazard_facts *facts,
                          const struct wmi_span_of_registers *span, unsigned reg, struct wmi_moment now)
{
    if (span->read && facts->valu && reg < WMI_REGISTER_M0)
        u->valu_read[reg] = u->valu_read[reg ^ 1] = true; /* tracked in pairs */
    if (span->read && facts->salu && span->role != WMI_ROLE_NONE && u->valu_read[reg])
        settle_valu_writes(u, reg);
    if (!span->written || reg >= WMI_REGISTER_M0)
        return;
    u->mask_written[reg] = facts->salu ? u->mask[reg] : (struct wmi_moment){0};
    if (u->mask_written[reg].clock)
        u->mask_written[reg] = now;
    u->rewritten[reg] = (struct wmi_sgpr_write){0};
    if (u->valu_read[reg] && (facts->salu || facts->valu))
        u->rewritten[reg] = (struct wmi_sgpr_write){now, facts->valu};
}

static void remember_vgpr(struct wmi_unsettled_state *u, const struct wmi_hazard_facts *facts,
                          const struct wmi_span_of_registers *span, unsigned reg, struct wmi_moment now)
{
    const unsigned i = reg - WMI_REGISTER_VGPR;
    const struct wmi_valu_touch touch = {.valus = u->valus,
                                         .transcendentals = u->transcendentals,
                                         .exec = u->exec_valus,
                                         .number = now.number,
                                         .there = true};
    if (facts->valu)
        u->used[i] = touch;
    if (facts->valu && span->written)
        u->wrote[i] = touch;
    if (facts->valu && span->written && facts->trans)
        u->transcendental[i] = touch;
    if (is_memory(facts))
        u->memory[i] = now;
}

/* A VALU instruction with a scalar result resolves the hazard of earlier reads of EXEC. */
static bool has_scalar_result(const struct wmi_span_of_registers *spans, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (spans[i].written && spans[i].first < WMI_SCALAR_REGISTERS)
            return true;
    return false;
}

static void remember_exec(struct wmi_unsettled_state *u, const struct wmi_hazard_facts *facts,
                          const struct wmi_span_of_registers *spans, unsigned count, struct wmi_moment now)
{
    bool reads = false, writes = false;
    for (unsigned i = 0; i < count; i++)
        if (is_exec(spans[i].first)) {
            reads |= spans[i].read;
            writes |= spans[i].written;
        }
    if (facts->valu && !facts->readlane && has_scalar_result(spans, count))
        u->exec_read.clock = 0;
    if (!facts->valu && reads)
        u->exec_read = now;
    if (facts->salu && writes)
        u->exec_valus = u->valus + 1;
    if (facts->valu && !facts->nop)
        u->vcmpx.clock = 0;
    if (facts->valu && facts->vcmpx && writes)
        u->vcmpx = now;
}

void wmi_unsettled_remember(struct wmi_unsettled_state *u, const struct wmi_hazard_facts *facts,
                            const struct wmi_span_of_registers *spans, unsigned count, struct wmi_moment now)
{
    forget(u, facts);
    if (facts->valu) {
        remember_masks(u, facts, spans, count, now);
        u->wmma.clock = 0;
    }
    for (unsigned i = 0; i < count; i++) {
        if (facts->wmma && spans[i].written && spans[i].role == WMI_ROLE_D) {
            u->wmma = now;
            u->wmma_first = spans[i].first;
            u->wmma_count = spans[i].count;
        }
        for (unsigned reg = spans[i].first; reg < spans[i].first + spans[i].count; reg++) {
            if (is_vector(reg))
                remember_vgpr(u, facts, &spans[i], reg, now);
            else if (reg < WMI_SCALAR_REGISTERS)
                remember_sgpr(u, facts, &spans[i], reg, now);
        }
    }
    remember_exec(u, facts, spans, count, now);
    u->valus += facts->valu;
    u->transcendentals += facts->valu && facts->trans;
}
