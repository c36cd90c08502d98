/* SPDX-License-Identifier: MIT */
/* Detects hazards that last until certain other instructions are executed. src/isa/rules/hazards.c has the
 * hazards per generation; the conditions are those of LLVM, GCNHazardRecognizer.cpp, in the functions that
 * wmi_hazards[] names. */
#include "check/waits/unsettled_state.h"

#include <string.h>

static bool is_vector(unsigned reg)
{
    return reg >= WMI_REGISTER_VGPR && reg < WMI_REGISTER_FLAT_SCRATCH;
}

static bool is_exec(unsigned reg)
{
    return reg == WMI_REGISTER_EXEC || reg == WMI_REGISTER_EXEC + 1;
}

static bool is_vcc(unsigned reg)
{
    return reg == WMI_REGISTER_VCC || reg == WMI_REGISTER_VCC + 1;
}

/* Memory instructions and exports issue only after all earlier vector instructions have written results. */
static bool is_memory(const struct wmi_hazard_facts *facts)
{
    return facts->vmem || facts->ds;
}

/* LDS, or vector memory that cannot access LDS. */
static bool is_either(const struct wmi_hazard_facts *facts)
{
    return facts->ds || (facts->vmem && !facts->flat);
}

/* ---- what is remembered ---- */

static bool is_touched(const struct wmi_valu_touch *touch, uint64_t since)
{
    return touch->there && touch->valus >= since;
}

static bool is_there(const struct wmi_moment *moment, uint64_t since)
{
    return moment->clock && moment->clock >= since;
}

/* Who wrote the register last. */
static enum wmi_sgpr_writer writer_of(const struct wmi_unsettled_state *u, unsigned reg)
{
    return !u->rewritten[reg].valu ? WMI_WROTE_SALU : is_vcc(reg) ? WMI_WROTE_VALU_VCC : WMI_WROTE_VALU_SGPR;
}

static bool is_rewritten(const struct wmi_unsettled_state *u, unsigned reg)
{
    return is_there(&u->rewritten[reg].when, u->since.rewritten[writer_of(u, reg)]);
}

static void look(struct wmi_hazard_search *search, enum wmi_hazard_kind kind, unsigned reg,
                 const struct wmi_moment *first, uint64_t since)
{
    if (is_there(first, since))
        wmi_hazard_look_unsettled(search, kind, (int)reg, first);
}

/* ---- vector registers ---- */

/* Maximum number of vector instructions, and of transcendentals among them, between a transcendental and the
 * use of its result. */
enum { TRANS_VALUS = 5, TRANS_TRANS = 1 };

static void look_at_trans(struct wmi_hazard_search *search, unsigned reg)
{
    const struct wmi_unsettled_state *u = &search->state->unsettled;
    const struct wmi_valu_touch *t = &u->transcendental[reg - WMI_REGISTER_VGPR];
    if (is_touched(t, u->since.wrote) && u->valus - t->valus - 1 <= TRANS_VALUS &&
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
        if (is_touched(t, u->since.wrote) && (!last || t->valus > last->valus))
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
    if (is_touched(t, u->since.used)) {
        const uint64_t between = u->valus - t->valus - 1;
        const uint64_t may_be = u->transcendentals > t->transcendentals ? 0 : between;
        if (between < 15 && (uint64_t)facts->ldsdir_vdst > may_be)
            wmi_hazard_look_unsettled(search, WMI_HAZARD_LDSDIR_VALU, (int)reg,
                                      &(struct wmi_moment){1, t->number});
    }
    if (facts->ldsdir_vsrc != 0 || !facts->ldsdir_has_vsrc)
        look(search, WMI_HAZARD_LDSDIR_VMEM, reg, &u->memory[reg - WMI_REGISTER_VGPR], u->since.memory);
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

static void look_at_busy(struct wmi_hazard_search *search, unsigned reg, const struct wmi_wmma_touch *touch,
                         unsigned states)
{
    const struct wmi_unsettled_state *u = &search->state->unsettled;
    if (touch->busy_valu && touch->valus >= u->since.wmma && u->valus - touch->valus - 1 < states)
        wmi_hazard_look_unsettled(search, WMI_HAZARD_WMMA_BUSY, (int)reg,
                                  &(struct wmi_moment){1, touch->number});
}

/* A vector instruction beside a WMMA that still runs. WMMAs run one after another, but read A, B and the
 * index early. */
static void look_at_wmma_registers(struct wmi_hazard_search *search, const struct wmi_hazard_facts *facts,
                                   const struct wmi_span_of_registers *span, unsigned reg)
{
    const struct wmi_unsettled_state *u = &search->state->unsettled;
    const struct wmi_wmma_touch *result = &u->wmma_result[reg - WMI_REGISTER_VGPR],
                                *source = &u->wmma_source[reg - WMI_REGISTER_VGPR];
    const bool early =
        span->role == WMI_ROLE_A || span->role == WMI_ROLE_B || (facts->sparse && span->role == WMI_ROLE_C);
    if (facts->wmma) {
        if (early)
            look_at_busy(search, reg, result, result->busy_wmma);
        return;
    }
    look_at_busy(search, reg, result, result->busy_valu);
    if (span->written)
        look_at_busy(search, reg, source, source->busy_valu);
}

/* ---- scalar registers ---- */

static void look_at_sgpr_write(struct wmi_hazard_search *search, const struct wmi_hazard_facts *facts,
                               const struct wmi_span_of_registers *span, unsigned reg)
{
    const struct wmi_unsettled_state *u = &search->state->unsettled;
    /* As in LLVM, implicit writes (EXEC by s_and_saveexec and similar) do not count. */
    if ((facts->salu || facts->smem) && span->role != WMI_ROLE_NONE)
        look(search, WMI_HAZARD_VMEM_SCALAR_WRITE, reg, &u->vmem_reads[reg], u->since.vmem_reads);
    if (facts->valu)
        look(search, WMI_HAZARD_SMEM_VECTOR_WRITE, reg, &u->smem_reads[reg], u->since.smem_reads);
}

static void look_at_sgpr(struct wmi_hazard_search *search, const struct wmi_hazard_facts *facts,
                         const struct wmi_span_of_registers *span, unsigned reg)
{
    const struct wmi_unsettled_state *u = &search->state->unsettled;
    if (reg >= WMI_REGISTER_M0)
        return;
    if (facts->salu && facts->wave64)
        look(search, WMI_HAZARD_MASK_WRITE, reg, &u->mask_written[reg], u->since.mask_written);
    if (facts->valu || (facts->salu && span->role != WMI_ROLE_NONE && !u->rewritten[reg].valu))
        look(search, WMI_HAZARD_VALU_READ_SGPR, reg, &u->rewritten[reg].when,
             u->since.rewritten[writer_of(u, reg)]);
}

void wmi_unsettled_look(struct wmi_hazard_search *search, const struct wmi_hazard_facts *facts,
                        const struct wmi_span_of_registers *spans, unsigned count)
{
    const struct wmi_unsettled_state *u = &search->state->unsettled;
    for (unsigned i = 0; i < count; i++)
        for (unsigned reg = spans[i].first; reg < spans[i].first + spans[i].count; reg++) {
            if (is_vector(reg))
                wmi_hazard_look_unsettled(search, WMI_HAZARD_VGPR_DEALLOCATED, (int)reg, &u->deallocated);
            if (is_vector(reg) && spans[i].read)
                look(search, WMI_HAZARD_MAD_OVERLAP, reg, &u->mad_high[reg - WMI_REGISTER_VGPR],
                     u->since.mad_high);
            if (is_vector(reg) && facts->valu && spans[i].read)
                look_at_trans(search, reg);
            if (is_vector(reg) && facts->valu)
                look_at_wmma_registers(search, facts, &spans[i], reg);
            if (is_vector(reg) && facts->ldsdir_vdst >= 0 && spans[i].written)
                look_at_ldsdir(search, facts, reg);
            if (reg < WMI_SCALAR_REGISTERS && spans[i].read)
                look_at_sgpr(search, facts, &spans[i], reg);
            if (reg < WMI_SCALAR_REGISTERS && spans[i].written)
                look_at_sgpr_write(search, facts, &spans[i], reg);
            if (is_exec(reg) && facts->valu && spans[i].written)
                wmi_hazard_look_unsettled(search, WMI_HAZARD_VCMPX_EXEC, (int)reg, &u->exec_read);
        }
    for (unsigned i = 0; i < count && facts->wmma; i++)
        look_at_wmma(search, facts, &spans[i]);
    if (facts->valu && facts->wave64)
        look_at_forwarding(search, spans, count);
    if (facts->permlane)
        wmi_hazard_look_unsettled(search, WMI_HAZARD_VCMPX_PERMLANE, -1, &u->vcmpx);
    if (is_either(facts) && u->branched && u->memory_was_lds != facts->ds)
        wmi_hazard_look_unsettled(search, WMI_HAZARD_LDS_BRANCH_VMEM, -1, &u->last_memory);
}

/* ---- updating the state ---- */

/* What the instruction settles. */
static void forget(struct wmi_unsettled_state *u, const struct wmi_hazard_facts *facts)
{
    struct wmi_unsettled_since *since = &u->since;
    if (is_memory(facts) || facts->export || facts->va_vdst)
        since->wrote = u->valus;
    if (is_memory(facts) || facts->export)
        since->used = u->valus;
    if (facts->valu || facts->export || facts->waits_vm_vsrc)
        since->memory = u->clock;
    if (facts->sa_sdst) {
        u->exec_read.clock = 0;
        since->mask = since->mask_written = u->clock;
    }
    if (facts->valu || facts->waits_vm_vsrc)
        since->vmem_reads = u->clock;
    if (facts->waits_lgkm || (facts->salu && !facts->sopp))
        since->smem_reads = u->clock;
    if (facts->waits_vs)
        u->last_memory.clock = 0;
    const bool all = facts->smem || facts->vmem;
    if (all || facts->sa_sdst)
        since->rewritten[WMI_WROTE_SALU] = u->clock;
    if (all || facts->va_sdst)
        since->rewritten[WMI_WROTE_VALU_SGPR] = u->clock;
    if (all || facts->va_vcc)
        since->rewritten[WMI_WROTE_VALU_VCC] = u->clock;
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
        u->since.mask = u->clock;
    for (unsigned i = 0; i < count; i++)
        for (unsigned reg = spans[i].first;
             is_mask(facts, &spans[i]) && reg < spans[i].first + spans[i].count; reg++)
            if (reg < WMI_REGISTER_M0)
                u->mask[reg] = now;
}

static void remember_sgpr(struct wmi_unsettled_state *u, const struct wmi_hazard_facts *facts,
                          const struct wmi_span_of_registers *span, unsigned reg, struct wmi_moment now)
{
    if (span->read && facts->valu && reg < WMI_REGISTER_M0)
        u->valu_read[reg] = u->valu_read[reg ^ 1] = true; /* tracked in pairs */
    /* Scalar reads of a register that vector instructions read wait for VALU writes of its kind. */
    if (span->read && facts->salu && span->role != WMI_ROLE_NONE && u->valu_read[reg])
        u->since.rewritten[is_vcc(reg) ? WMI_WROTE_VALU_VCC : WMI_WROTE_VALU_SGPR] = u->clock;
    if (span->read && (facts->vmem || facts->ds))
        u->vmem_reads[reg] = now;
    if (span->read && facts->smem)
        u->smem_reads[reg] = now;
    if (!span->written || reg >= WMI_REGISTER_M0)
        return;
    u->mask_written[reg] =
        facts->salu && is_there(&u->mask[reg], u->since.mask) ? now : (struct wmi_moment){0};
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
    const struct wmi_wmma_touch busy = {u->valus, now.number, facts->busy_valu, facts->busy_wmma};
    if (facts->busy_valu && span->written)
        u->wmma_result[i] = busy;
    if (facts->busy_valu &&
        (span->role == WMI_ROLE_A || span->role == WMI_ROLE_B || (facts->sparse && span->role == WMI_ROLE_C)))
        u->wmma_source[i] = busy;
    if (is_memory(facts))
        u->memory[i] = now;
    if (span->written)
        u->mad_high[i].clock = 0;
}

/* The lower half of the result is written first, and the upper half may then be computed from it instead of
 * from a source in the same register. Only the upper half can be wrong: clang allows the overlap where it is
 * not used. Result and addend may be the same pair (llvm/test/CodeGen/AMDGPU/mad_64_32.ll). */
static void remember_mad(struct wmi_unsettled_state *u, const struct wmi_span_of_registers *spans,
                         unsigned count, struct wmi_moment now)
{
    const struct wmi_span_of_registers *result = NULL;
    for (unsigned i = 0; i < count; i++)
        if (spans[i].role == WMI_ROLE_D)
            result = &spans[i];
    for (unsigned i = 0; i < count && result; i++)
        if (spans[i].read && is_vector(spans[i].first) && result->first < spans[i].first + spans[i].count &&
            result->first >= spans[i].first + (spans[i].role == WMI_ROLE_C))
            u->mad_high[result->first + 1 - WMI_REGISTER_VGPR] = now;
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
                            const struct wmi_span_of_registers *spans, unsigned count, uint32_t number)
{
    const struct wmi_moment now = {++u->clock, number};
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
    if (facts->mad64)
        remember_mad(u, spans, count, now);
    remember_exec(u, facts, spans, count, now);
    if (is_either(facts)) {
        u->last_memory = now;
        u->memory_was_lds = facts->ds;
        u->branched = false;
    }
    if (facts->deallocates_vgprs)
        u->deallocated = now;
    u->branched |= facts->branch;
    u->valus += facts->valu;
    u->transcendentals += facts->valu && facts->trans;
}

void wmi_unsettled_begin(struct wmi_unsettled_state *u)
{
    struct wmi_unsettled_since *since = &u->since;
    const uint64_t now = ++u->clock;
    since->wmma = since->wrote = since->used = u->valus;
    since->memory = since->mad_high = since->vmem_reads = since->smem_reads = since->mask =
        since->mask_written = now;
    for (unsigned i = 0; i < WMI_SGPR_WRITERS; i++)
        since->rewritten[i] = now;
    u->last_memory.clock = u->vcmpx.clock = u->exec_read.clock = u->wmma.clock = 0;
    u->deallocated.clock = 0;
    u->exec_valus = 0;
    u->branched = false;
    memset(u->valu_read, 0, sizeof u->valu_read);
}

/* ---- states as lists ---- */

bool wmi_unsettled_exists(const struct wmi_target *target)
{
    for (unsigned kind = WMI_HAZARD_VMEM_SCALAR_WRITE; kind < WMI_HAZARD_COUNT; kind++)
        if (wmi_hazard_states(target, (enum wmi_hazard_kind)kind))
            return true;
    return false;
}

enum item {
    VMEM_READS,
    SMEM_READS,
    MASK,
    MASK_WRITTEN,
    VALU_READ,
    REWRITTEN,
    WROTE,
    USED,
    TRANSCENDENTAL,
    MEMORY,
    MAD_HIGH,
    LAST_MEMORY,
    VCMPX,
    EXEC_READ,
    EXEC_VALUS,
    WMMA_RESULT,
    BUSY_RESULT,
    BUSY_SOURCE,
    DEALLOCATED_VGPRS,
};

enum { BY_VALU = 1, WAS_LDS = 1, BRANCHED = 2 }; /* flags */

enum {
    /* Of two writes of sources of one instruction, the earlier one matters at most for so many vector
     * instructions, and a write of EXEC before the later one if it is at most so far before it. */
    FORWARD_ALL = FORWARD_AROUND + 1 + FORWARD_BEHIND + 1,
    FORWARD_EXEC = FORWARD_AROUND + 1,
    LDSDIR_VALUS = 15, /* a use before so many vector instructions no longer matters */
};

struct list {
    const struct wmi_unsettled_state *u;
    struct wmi_unsettled_item *item;
    unsigned count;
};

static void add(struct list *list, struct wmi_unsettled_item item)
{
    list->item[list->count++] = item;
}

static void add_moment(struct list *list, enum item what, unsigned reg, const struct wmi_moment *moment,
                       uint64_t since)
{
    if (is_there(moment, since))
        add(list, (struct wmi_unsettled_item){.what = what, .reg = (uint16_t)reg, .number = moment->number});
}

/* Vector instructions from a write of EXEC to one with so many before it, plus 1. 0: too many to matter. */
static uint8_t behind_exec(uint64_t valus, uint64_t exec)
{
    return exec && valus - (exec - 1) <= FORWARD_EXEC ? (uint8_t)(valus - (exec - 1) + 1) : 0;
}

/* oldest: vector instructions since, at most. */
static void add_touch(struct list *list, enum item what, unsigned reg, const struct wmi_valu_touch *touch,
                      uint64_t since, unsigned oldest)
{
    const struct wmi_unsettled_state *u = list->u;
    struct wmi_unsettled_item item = {.what = what, .reg = (uint16_t)reg, .number = touch->number};
    if (!is_touched(touch, since) || u->valus - touch->valus > oldest)
        return;
    const uint64_t transcendentals = u->transcendentals - touch->transcendentals;
    item.valus = (uint8_t)(u->valus - touch->valus);
    if (what == WROTE)
        item.exec = behind_exec(touch->valus, touch->exec);
    if (what == USED)
        item.transcendentals = transcendentals > 0;
    if (what == TRANSCENDENTAL)
        item.transcendentals = (uint8_t)transcendentals;
    if (what != TRANSCENDENTAL || transcendentals <= TRANS_TRANS + 1)
        add(list, item);
}

static void add_busy(struct list *list, enum item what, unsigned reg, const struct wmi_wmma_touch *touch)
{
    const struct wmi_unsettled_state *u = list->u;
    if (touch->busy_valu && touch->valus >= u->since.wmma && u->valus - touch->valus <= touch->busy_wmma)
        add(list, (struct wmi_unsettled_item){.what = what,
                                              .reg = (uint16_t)reg,
                                              .number = touch->number,
                                              .valus = (uint8_t)(u->valus - touch->valus),
                                              .busy_valu = touch->busy_valu,
                                              .busy_wmma = touch->busy_wmma});
}

/* Which kinds of items can matter on the target. */
struct kinds {
    bool vmem_reads, smem_reads, mask, sgprs, forward, ldsdir_valu, ldsdir_vmem, transcendental, mad, busy;
};

static void add_scalar(struct list *list, const struct kinds *kinds, unsigned reg)
{
    const struct wmi_unsettled_state *u = list->u;
    if (kinds->vmem_reads)
        add_moment(list, VMEM_READS, reg, &u->vmem_reads[reg], u->since.vmem_reads);
    if (kinds->smem_reads)
        add_moment(list, SMEM_READS, reg, &u->smem_reads[reg], u->since.smem_reads);
    if (kinds->mask && is_there(&u->mask[reg], u->since.mask)) /* no finding names it */
        add(list, (struct wmi_unsettled_item){.what = MASK, .reg = (uint16_t)reg});
    if (kinds->mask)
        add_moment(list, MASK_WRITTEN, reg, &u->mask_written[reg], u->since.mask_written);
    if (kinds->sgprs && u->valu_read[reg])
        add(list, (struct wmi_unsettled_item){.what = VALU_READ, .reg = (uint16_t)reg});
    if (kinds->sgprs && is_rewritten(u, reg))
        add(list, (struct wmi_unsettled_item){.what = REWRITTEN,
                                              .reg = (uint16_t)reg,
                                              .number = u->rewritten[reg].when.number,
                                              .flags = u->rewritten[reg].valu ? BY_VALU : 0});
}

static void add_vector(struct list *list, const struct kinds *kinds, unsigned reg)
{
    const struct wmi_unsettled_state *u = list->u;
    const unsigned i = reg - WMI_REGISTER_VGPR;
    if (kinds->forward)
        add_touch(list, WROTE, reg, &u->wrote[i], u->since.wrote, FORWARD_ALL);
    if (kinds->ldsdir_valu)
        add_touch(list, USED, reg, &u->used[i], u->since.used, LDSDIR_VALUS);
    if (kinds->transcendental)
        add_touch(list, TRANSCENDENTAL, reg, &u->transcendental[i], u->since.wrote, TRANS_VALUS + 1);
    if (kinds->ldsdir_vmem)
        add_moment(list, MEMORY, reg, &u->memory[i], u->since.memory);
    if (kinds->mad)
        add_moment(list, MAD_HIGH, reg, &u->mad_high[i], u->since.mad_high);
    if (kinds->busy) {
        add_busy(list, BUSY_RESULT, reg, &u->wmma_result[i]);
        add_busy(list, BUSY_SOURCE, reg, &u->wmma_source[i]);
    }
}

unsigned wmi_unsettled_save(const struct wmi_unsettled_state *u, const struct wmi_target *target,
                            unsigned reach, struct wmi_unsettled_item item[WMI_UNSETTLED_ITEMS])
{
    struct list list = {.u = u, .item = item};
    const bool wave64 = wmi_target_limit(target, WMI_LIMIT_wave) == 64;
    const struct kinds kinds = {
        .vmem_reads = wmi_hazard_states(target, WMI_HAZARD_VMEM_SCALAR_WRITE),
        .smem_reads = wmi_hazard_states(target, WMI_HAZARD_SMEM_VECTOR_WRITE),
        .mask = wave64 && wmi_hazard_states(target, WMI_HAZARD_MASK_WRITE),
        .sgprs = wmi_hazard_states(target, WMI_HAZARD_VALU_READ_SGPR),
        .forward = wave64 && wmi_hazard_states(target, WMI_HAZARD_PARTIAL_FORWARD),
        .ldsdir_valu = wmi_hazard_states(target, WMI_HAZARD_LDSDIR_VALU),
        .ldsdir_vmem = wmi_hazard_states(target, WMI_HAZARD_LDSDIR_VMEM),
        .transcendental = wmi_hazard_states(target, WMI_HAZARD_TRANS_USE),
        .mad = wmi_hazard_states(target, WMI_HAZARD_MAD_OVERLAP),
        .busy = wmi_hazard_states(target, WMI_HAZARD_WMMA_BUSY),
    };
    for (unsigned reg = 0; reg < WMI_SCALAR_REGISTERS; reg++)
        add_scalar(&list, &kinds, reg);
    for (unsigned reg = WMI_REGISTER_VGPR; reg < reach && is_vector(reg); reg++)
        add_vector(&list, &kinds, reg);
    if (wmi_hazard_states(target, WMI_HAZARD_LDS_BRANCH_VMEM) && u->last_memory.clock)
        add(&list, (struct wmi_unsettled_item){
                       .what = LAST_MEMORY,
                       .number = u->last_memory.number,
                       .flags = (uint8_t)((u->memory_was_lds ? WAS_LDS : 0) | (u->branched ? BRANCHED : 0))});
    if (wmi_hazard_states(target, WMI_HAZARD_VCMPX_PERMLANE))
        add_moment(&list, VCMPX, 0, &u->vcmpx, 0);
    if (wmi_hazard_states(target, WMI_HAZARD_VCMPX_EXEC))
        add_moment(&list, EXEC_READ, 0, &u->exec_read, 0);
    if (kinds.forward && behind_exec(u->valus, u->exec_valus))
        add(&list,
            (struct wmi_unsettled_item){.what = EXEC_VALUS, .exec = behind_exec(u->valus, u->exec_valus)});
    if (wmi_hazard_states(target, WMI_HAZARD_WMMA) && u->wmma.clock)
        add(&list, (struct wmi_unsettled_item){.what = WMMA_RESULT,
                                               .reg = u->wmma_first,
                                               .number = u->wmma.number,
                                               .valus = (uint8_t)u->wmma_count});
    add_moment(&list, DEALLOCATED_VGPRS, 0, &u->deallocated, 0);
    return list.count;
}

static void restore(struct wmi_unsettled_state *u, const struct wmi_unsettled_item *item)
{
    const struct wmi_moment moment = {u->clock, item->number};
    const uint64_t valus = u->valus - item->valus;
    const struct wmi_valu_touch touch = {.valus = valus,
                                         .transcendentals = u->transcendentals - item->transcendentals,
                                         .exec = item->exec ? valus - (item->exec - 1u) + 1 : 0,
                                         .number = item->number,
                                         .there = true};
    const unsigned v = item->reg - WMI_REGISTER_VGPR; /* of a VGPR */
    const struct wmi_wmma_touch busy = {valus, item->number, item->busy_valu, item->busy_wmma};
    switch ((enum item)item->what) {
    case VMEM_READS:
        u->vmem_reads[item->reg] = moment;
        break;
    case SMEM_READS:
        u->smem_reads[item->reg] = moment;
        break;
    case MASK:
        u->mask[item->reg] = moment;
        break;
    case MASK_WRITTEN:
        u->mask_written[item->reg] = moment;
        break;
    case VALU_READ:
        u->valu_read[item->reg] = true;
        break;
    case REWRITTEN:
        u->rewritten[item->reg] = (struct wmi_sgpr_write){moment, item->flags & BY_VALU};
        break;
    case WROTE:
        u->wrote[v] = touch;
        break;
    case USED:
        u->used[v] = touch;
        break;
    case TRANSCENDENTAL:
        u->transcendental[v] = touch;
        break;
    case MEMORY:
        u->memory[v] = moment;
        break;
    case MAD_HIGH:
        u->mad_high[v] = moment;
        break;
    case LAST_MEMORY:
        u->last_memory = moment;
        u->memory_was_lds = item->flags & WAS_LDS;
        u->branched = item->flags & BRANCHED;
        break;
    case VCMPX:
        u->vcmpx = moment;
        break;
    case EXEC_READ:
        u->exec_read = moment;
        break;
    case EXEC_VALUS:
        u->exec_valus = u->valus - (item->exec - 1u) + 1;
        break;
    case WMMA_RESULT:
        u->wmma = moment;
        u->wmma_first = item->reg;
        u->wmma_count = item->valus;
        break;
    case BUSY_RESULT:
        u->wmma_result[v] = busy;
        break;
    case BUSY_SOURCE:
        u->wmma_source[v] = busy;
        break;
    case DEALLOCATED_VGPRS:
        u->deallocated = moment;
        break;
    }
}

void wmi_unsettled_restore(struct wmi_unsettled_state *u, const struct wmi_unsettled_item *item,
                           unsigned count)
{
    wmi_unsettled_begin(u);
    u->valus += UINT8_MAX; /* items were executed between this and the beginning */
    u->transcendentals += UINT8_MAX;
    for (unsigned i = 0; i < count; i++)
        restore(u, &item[i]);
}
