/* SPDX-License-Identifier: MIT */
/* Effects of instructions on wait counters, with one set of rules per value of the limit wait_counters.
 *
 * Sources: the ISA documents' tables of counters (Vega "S_WAITCNT", RDNA 2 and 3 "Memory Dependency
 * Counters", RDNA 4 "Data Dependency Resolution", CDNA 5 "Memory Dependency Counters"); LLVM,
 * SIInsertWaitcnts.cpp, for what the documents do not specify: that only gfx6 stores hold their data, that
 * FLAT is in order from gfx10 on, GDS, and in which order loads write their registers
 * (FeatureVmemWriteVgprInOrder, hasOtherPendingVmemTypes). */
#include "isa/rules/wait.h"

#include "isa/tables.h"
#include "isa/text/put.h"

#include <stdio.h>
#include <string.h>

struct rules {
    /* The counter used by each class of access. */
    uint8_t store, sample, bvh, scalar;
    bool flat_in_order;
    bool results_in_order; /* loads of one kind write their registers in the order of issue */
    bool store_holds;      /* expcnt decreases when a store has read its data */
    bool split;            /* each counter has its own wait instruction */
    bool copies;           /* copies between memory and LDS have counters of their own */
    const char *name[WMI_COUNTER_COUNT];
};

#define BEFORE_10                                                                                            \
    .store = WMI_COUNTER_LOAD, .sample = WMI_COUNTER_LOAD, .bvh = WMI_COUNTER_LOAD,                          \
    .scalar = WMI_COUNTER_DS, .results_in_order = true,                                                      \
    .name = {[WMI_COUNTER_LOAD] = "vmcnt", [WMI_COUNTER_DS] = "lgkmcnt", [WMI_COUNTER_EXP] = "expcnt"}

static const struct rules all_rules[] = {
    {BEFORE_10, .store_holds = true}, /* gfx6 */
    {BEFORE_10},                      /* gfx7, gfx8 */
    {BEFORE_10},                      /* gfx9 */
    {.store = WMI_COUNTER_STORE,      /* gfx10 */
     .sample = WMI_COUNTER_LOAD,
     .bvh = WMI_COUNTER_LOAD,
     .scalar = WMI_COUNTER_DS,
     .flat_in_order = true,
     .results_in_order = true,
     .name = {[WMI_COUNTER_LOAD] = "vmcnt",
              [WMI_COUNTER_STORE] = "vscnt",
              [WMI_COUNTER_DS] = "lgkmcnt",
              [WMI_COUNTER_EXP] = "expcnt"}},
    {.store = WMI_COUNTER_STORE, /* gfx12 */
     .sample = WMI_COUNTER_SAMPLE,
     .bvh = WMI_COUNTER_BVH,
     .scalar = WMI_COUNTER_KM,
     .flat_in_order = true,
     .split = true,
     .name = {[WMI_COUNTER_LOAD] = "loadcnt",
              [WMI_COUNTER_STORE] = "storecnt",
              [WMI_COUNTER_SAMPLE] = "samplecnt",
              [WMI_COUNTER_BVH] = "bvhcnt",
              [WMI_COUNTER_DS] = "dscnt",
              [WMI_COUNTER_KM] = "kmcnt",
              [WMI_COUNTER_EXP] = "expcnt"}},
    {.store = WMI_COUNTER_STORE, /* gfx12.5 */
     .scalar = WMI_COUNTER_KM,
     .flat_in_order = true,
     .split = true,
     .copies = true,
     .name = {[WMI_COUNTER_LOAD] = "loadcnt",
              [WMI_COUNTER_STORE] = "storecnt",
              [WMI_COUNTER_ASYNC] = "asynccnt",
              [WMI_COUNTER_TENSOR] = "tensorcnt",
              [WMI_COUNTER_DS] = "dscnt",
              [WMI_COUNTER_KM] = "kmcnt",
              [WMI_COUNTER_TRANSLATION] = "xcnt"}},
};

static const struct rules *rules_of(const struct wmi_target *target)
{
    return &all_rules[wmi_target_limit(target, WMI_LIMIT_wait_counters)];
}

unsigned wmi_counter_largest(const struct wmi_target *target, enum wmi_counter counter)
{
    /* Widths without a limit in isa/targets. Source: RDNA 4 ISA, "S_WAIT_*"; RDNA 3 ISA, S_WAITCNT_VSCNT. */
    static const uint8_t fixed[WMI_COUNTER_COUNT] = {
        [WMI_COUNTER_STORE] = 6, [WMI_COUNTER_SAMPLE] = 6, [WMI_COUNTER_BVH] = 3, [WMI_COUNTER_KM] = 5};
    const unsigned bits = counter == WMI_COUNTER_LOAD ? wmi_target_limit(target, WMI_LIMIT_vmcnt_bits)
                          : counter == WMI_COUNTER_DS ? wmi_target_limit(target, WMI_LIMIT_lgkmcnt_bits)
                          : counter == WMI_COUNTER_TRANSLATION && rules_of(target)->copies ? 6u
                          : counter == WMI_COUNTER_EXP ? wmi_target_limit(target, WMI_LIMIT_expcnt_bits)
                          : counter == WMI_COUNTER_TENSOR && rules_of(target)->copies ? 6u
                                                                                      : fixed[counter];
    return rules_of(target)->name[counter] ? (1u << bits) - 1 : 0;
}

/* ---- waits ---- */

struct wmi_waitcnt wmi_waitcnt_fields(const struct wmi_target *target, uint32_t simm16)
{
    const unsigned vm_bits = wmi_target_limit(target, WMI_LIMIT_vmcnt_bits);
    const unsigned vm_shift = wmi_target_limit(target, WMI_LIMIT_vmcnt_shift);
    const unsigned lgkm_bits = wmi_target_limit(target, WMI_LIMIT_lgkmcnt_bits);
    const unsigned exp_bits = wmi_target_limit(target, WMI_LIMIT_expcnt_bits);
    return (struct wmi_waitcnt){
        .vm = vm_shift ? simm16 >> vm_shift & ((1u << vm_bits) - 1)
                       : (simm16 & 15) | (simm16 >> 14 & ((1u << (vm_bits - 4)) - 1)) << 4,
        .exp = simm16 >> wmi_target_limit(target, WMI_LIMIT_expcnt_shift) & ((1u << exp_bits) - 1),
        .lgkm = simm16 >> wmi_target_limit(target, WMI_LIMIT_lgkmcnt_shift) & ((1u << lgkm_bits) - 1),
    };
}

static void wait_for(struct wmi_wait_facts *facts, enum wmi_counter counter, unsigned value)
{
    facts->waits = true;
    facts->limit[counter] = (uint8_t)(value < UINT8_MAX ? value : UINT8_MAX);
}

/* The immediate of s_waitcnt has a field for each counter. Other wait instructions have six bits for one
 * counter, or a byte for each of two, with the counter that is later in enum wmi_counter in the low byte.
 * Without an immediate they wait for 0. */
static void find_waits(const struct wmi_target *target, const struct wmi_instruction *insn,
                       struct wmi_wait_facts *facts)
{
    enum { VALUE = 63, UPPER = 8 };
    const unsigned waits = wmi_rows[insn->id].waits;
    unsigned i = 0;
    while (i < insn->operands && insn->operand[i].role != WMI_ROLE_IMM)
        i++;
    const uint32_t immediate = i < insn->operands ? (uint32_t)insn->operand[i].value & 0xffff : 0;
    memset(facts->limit, UINT8_MAX, sizeof facts->limit);
    if (!waits)
        return;
    if (i < insn->operands && wmi_specs[wmi_forms[insn->form].spec + i].kind == WMI_KIND_waitcnt) {
        const struct wmi_waitcnt fields = wmi_waitcnt_fields(target, immediate);
        wait_for(facts, WMI_COUNTER_LOAD, fields.vm);
        wait_for(facts, WMI_COUNTER_EXP, fields.exp);
        wait_for(facts, WMI_COUNTER_DS, fields.lgkm);
        return;
    }
    for (unsigned counter = 0; counter < WMI_COUNTER_COUNT; counter++)
        if (waits >> counter & 1)
            wait_for(facts, counter, (waits >> counter > 1 ? immediate >> UPPER : immediate) & VALUE);
    const struct wmi_operand *scalar = wmi_operand(insn, WMI_ROLE_A);
    facts->by_scalar = scalar && (scalar->kind == WMI_OPERAND_SGPR || scalar->kind == WMI_OPERAND_TTMP ||
                                  (scalar->kind == WMI_OPERAND_SPECIAL && scalar->reg != WMI_SPECIAL_NULL));
}

void wmi_wait_by_scalar(struct wmi_wait_facts *facts, uint32_t value)
{
    for (unsigned counter = 0; counter < WMI_COUNTER_COUNT; counter++)
        if (facts->limit[counter] != UINT8_MAX)
            facts->limit[counter] = (uint8_t)(facts->limit[counter] + (value & 63));
}

enum wmi_counter wmi_counter_of_moves(const struct wmi_target *target)
{
    return rules_of(target)->copies ? WMI_COUNTER_ASYNC : WMI_COUNTER_LOAD;
}

bool wmi_counts_tensors(const struct wmi_target *target)
{
    return rules_of(target)->copies;
}

void wmi_wait_text(const struct wmi_target *target, enum wmi_counter counter, unsigned value, char *text,
                   size_t size)
{
    const struct rules *rules = rules_of(target);
    const char *name = rules->name[counter];
    if (rules->split)
        snprintf(text, size, "s_wait_%s 0x%x", name, value);
    else if (counter == WMI_COUNTER_STORE)
        snprintf(text, size, "s_waitcnt_%s null, 0x%x", name, value);
    else
        snprintf(text, size, "s_waitcnt %s(%u)", name, value);
}

/* ---- increments ---- */

static void count_by(struct wmi_wait_facts *facts, enum wmi_counter counter, enum wmi_order order,
                     unsigned units, bool writes, bool holds)
{
    facts->event[facts->events++] =
        (struct wmi_wait_event){(uint8_t)counter, (uint8_t)order, (uint8_t)units, 0, writes, holds};
}

/* Properties of an instruction that determine its counters. */
struct use {
    bool returns;   /* writes vector registers */
    bool gds;       /* accesses the GDS */
    unsigned units; /* increment of the counter for scalar memory */
};

static enum wmi_counter counter_of(const struct rules *rules, enum wmi_counted_as as)
{
    switch (as) {
    case WMI_COUNTS_STORE:
        return rules->store;
    case WMI_COUNTS_SAMPLE:
        return rules->sample;
    case WMI_COUNTS_RAY:
        return rules->bvh;
    case WMI_COUNTS_ASYNC:
        return WMI_COUNTER_ASYNC;
    case WMI_COUNTS_TENSOR:
        return WMI_COUNTER_TENSOR;
    default:
        return WMI_COUNTER_LOAD;
    }
}

/* Asynchronous stores are in order with each other, but not with loads. Source: CDNA 5 ISA, "Asynchronous
 * Memory Load and Store". */
static enum wmi_order order_of(const struct wmi_row *row, enum wmi_counted_as as, bool in_order)
{
    return as == WMI_COUNTS_ASYNC && row->memory == WMI_MEMORY_STORE ? WMI_ORDER_LDS
           : in_order                                                ? WMI_ORDER_MEMORY
                                                                     : WMI_ORDER_FLAT;
}

/* Buffer, image, FLAT and so on. A load to LDS writes no register but counts as a load. */
static void raise_vector_memory(const struct rules *rules, const struct wmi_row *row, enum wmi_counted_as as,
                                const struct use *use, struct wmi_wait_facts *facts)
{
    const bool flat = row->class == WMI_CLASS_FLAT, in_order = !flat || rules->flat_in_order;
    facts->by_place = flat;
    count_by(facts, counter_of(rules, as), order_of(row, as, in_order), 1, use->returns, false);
    if (flat)
        count_by(facts, WMI_COUNTER_DS, in_order ? WMI_ORDER_LDS : WMI_ORDER_FLAT, 1, use->returns, false);
    if (rules->store_holds && (row->memory == WMI_MEMORY_STORE || row->memory == WMI_MEMORY_ATOMIC))
        count_by(facts, WMI_COUNTER_EXP, WMI_ORDER_MEMORY, 1, false, true);
}

/* The counters that an instruction of the row increments; for execution and explanations. */
static void raise_counters(const struct rules *rules, const struct wmi_row *row, const struct use *use,
                           struct wmi_wait_facts *facts)
{
    const enum wmi_counted_as as = row->counts != WMI_COUNTS_ATOMIC ? (enum wmi_counted_as)row->counts
                                   : use->returns                   ? WMI_COUNTS_LOAD
                                                                    : WMI_COUNTS_STORE;
    bool in_order = true;
    switch (as) {
    case WMI_COUNTS_LDS:
        if (use->gds) {
            count_by(facts, WMI_COUNTER_DS, WMI_ORDER_GDS, 1, true, false);
            count_by(facts, WMI_COUNTER_EXP, WMI_ORDER_GDS, 1, false, true);
        } else {
            count_by(facts, WMI_COUNTER_DS, WMI_ORDER_LDS, 1, true, false);
        }
        break;
    case WMI_COUNTS_SCALAR:
        count_by(facts, rules->scalar, WMI_ORDER_SCALAR, use->units, true, false);
        break;
    case WMI_COUNTS_MESSAGE:
        count_by(facts, rules->scalar, WMI_ORDER_MESSAGE, 1, false, false);
        break;
    case WMI_COUNTS_EXPORT:
        count_by(facts, WMI_COUNTER_EXP, WMI_ORDER_EXPORT, 1, false, true);
        break;
    case WMI_COUNTS_LDSDIR:
        count_by(facts, WMI_COUNTER_EXP, WMI_ORDER_LDS, 1, true, false);
        break;
    case WMI_COUNTS_NONE:
        break;
    default:
        raise_vector_memory(rules, row, as, use, facts);
        in_order = rules->results_in_order;
        break;
    }
    for (unsigned i = 0; in_order && i < facts->events; i++)
        facts->event[i].sequence = (uint8_t)as;
}

static bool returns(const struct wmi_instruction *insn)
{
    for (unsigned i = 0; i < insn->operands; i++)
        if (insn->operand[i].written &&
            (insn->operand[i].kind == WMI_OPERAND_VGPR || insn->operand[i].kind == WMI_OPERAND_AGPR))
            return true;
    return false;
}

static unsigned scalar_units(const struct wmi_instruction *insn)
{
    unsigned dwords = 1;
    for (unsigned i = 0; i < insn->operands; i++)
        if (insn->operand[i].written || insn->operand[i].role == WMI_ROLE_DATA)
            dwords = insn->operand[i].dwords;
    return dwords > 1 ? 2 : 1;
}

struct wmi_wait_facts wmi_wait_facts_of(const struct wmi_target *target, const struct wmi_instruction *insn)
{
    const struct wmi_row *row = &wmi_rows[insn->id];
    const bool gds = insn->field[WMI_FIELD_gds] && !(row->rules & WMI_RULE_NO_GDS);
    const struct use use = {returns(insn), gds, scalar_units(insn)};
    struct wmi_wait_facts facts = {0};
    find_waits(target, insn, &facts);
    raise_counters(rules_of(target), row, &use, &facts);
    return facts;
}

bool wmi_counts_translations(const struct wmi_target *target)
{
    return rules_of(target)->copies;
}

/* What leaves XCNT at 0. Conditional branches do so only if they are taken, which is not used here. Source:
 * LLVM after 22, SIInstrInfo::isXcntDrain (llvm-project, pull requests 198823 and 219206). */
static bool drains_translations(unsigned id)
{
    static const uint16_t ids[] = {WMI_INSN_s_swappc_b64,     WMI_INSN_s_setpc_b64,
                                   WMI_INSN_s_call_b64,       WMI_INSN_s_branch,
                                   WMI_INSN_s_barrier_signal, WMI_INSN_s_barrier_signal_isfirst,
                                   WMI_INSN_s_barrier_wait,   WMI_INSN_s_sendmsg};
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        if (ids[i] == id)
            return true;
    return false;
}

/* Scalar and vector memory never wait for translation at the same time. Source: CDNA 5 ISA, "Memory
 * Dependency Counters"; LLVM, SIInsertWaitcnts, X_CNT. */
struct wmi_wait_facts wmi_wait_facts_of_all(const struct wmi_target *target,
                                            const struct wmi_instruction *insn)
{
    const enum wmi_counted_as as = (enum wmi_counted_as)wmi_rows[insn->id].counts;
    struct wmi_wait_facts facts = wmi_wait_facts_of(target, insn);
    const struct wmi_operand *immediate = wmi_operand(insn, WMI_ROLE_IMM);
    if (!wmi_counts_translations(target))
        return facts;
    if (insn->id == WMI_INSN_s_wait_xcnt && immediate)
        wait_for(&facts, WMI_COUNTER_TRANSLATION, (unsigned)immediate->value & 63);
    if (drains_translations(insn->id))
        wait_for(&facts, WMI_COUNTER_TRANSLATION, 0);
    if (facts.events && as != WMI_COUNTS_LDS && as != WMI_COUNTS_MESSAGE && as != WMI_COUNTS_TENSOR)
        count_by(&facts, WMI_COUNTER_TRANSLATION,
                 as == WMI_COUNTS_SCALAR ? WMI_ORDER_SCALAR : WMI_ORDER_MEMORY, 1, false, true);
    return facts;
}

/* ---- text ---- */

static void put_counters(struct wmi_text *text, const struct rules *rules, const struct wmi_wait_facts *facts)
{
    const bool holds_only = facts->events == 1;
    for (unsigned i = 0; i < facts->events; i++) {
        const struct wmi_wait_event *event = &facts->event[i];
        if (i)
            wmi_put(text, event->holds ? ", and " : " and ");
        wmi_put(text, rules->name[event->counter]);
        if (event->holds && !holds_only)
            wmi_put(text, " until its data may be overwritten");
    }
}

bool wmi_wait_of_row(const struct wmi_target *target, unsigned id, char *text, size_t size)
{
    const struct rules *rules = rules_of(target);
    const struct wmi_row *row = &wmi_rows[id];
    const bool always_gds = row->rules & WMI_RULE_GDS;
    const struct use use = {.returns = true, .gds = always_gds, .units = 1};
    struct wmi_text out = {text, text + size - 1};
    struct wmi_wait_facts facts = {0}, other = {0};
    raise_counters(rules, row, &use, &facts);
    put_counters(&out, rules, &facts);
    if (row->counts == WMI_COUNTS_ATOMIC) {
        raise_counters(rules, row, &(struct use){.returns = false, .units = 1}, &other);
        if (other.event[0].counter != facts.event[0].counter) {
            wmi_put(&out, " if it returns a value, else ");
            put_counters(&out, rules, &other);
        }
    }
    if (row->counts == WMI_COUNTS_LDS && !always_gds && !(row->rules & WMI_RULE_NO_GDS) &&
        wmi_target_limit(target, WMI_LIMIT_gds)) {
        raise_counters(rules, row, &(struct use){.gds = true, .units = 1}, &other);
        wmi_put(&out, "; with gds ");
        put_counters(&out, rules, &other);
    }
    *out.at = '\0';
    return facts.events;
}
