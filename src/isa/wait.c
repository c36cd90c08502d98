/* SPDX-License-Identifier: MIT */
/* What instructions do to wait counters, by a row of rules per limit wait_counters.
 *
 * Sources: the ISA documents' tables of counters (Vega "S_WAITCNT", RDNA 2 and 3 "Memory Dependency
 * Counters", RDNA 4 "Data Dependency Resolution"); LLVM, SIInsertWaitcnts.cpp, for what they leave open: that
 * stores hold their data on gfx6 alone, that FLAT keeps the order from gfx10 on, and GDS. */
#include "isa/wait.h"

#include <stdio.h>
#include <string.h>

struct rules {
    /* Which counter counts them. */
    uint8_t store, sample, bvh, scalar;
    bool flat_in_order;
    bool store_holds; /* expcnt says when a store has read its data */
    const char *name[WMI_COUNTER_COUNT];
};

static const struct rules all_rules[] = {
    {WMI_COUNTER_LOAD,
     WMI_COUNTER_LOAD,
     WMI_COUNTER_LOAD,
     WMI_COUNTER_DS,
     false,
     true,
     {"vmcnt", NULL, NULL, NULL, "lgkmcnt", NULL, "expcnt"}},
    {WMI_COUNTER_LOAD,
     WMI_COUNTER_LOAD,
     WMI_COUNTER_LOAD,
     WMI_COUNTER_DS,
     false,
     false,
     {"vmcnt", NULL, NULL, NULL, "lgkmcnt", NULL, "expcnt"}},
    {WMI_COUNTER_STORE,
     WMI_COUNTER_LOAD,
     WMI_COUNTER_LOAD,
     WMI_COUNTER_DS,
     true,
     false,
     {"vmcnt", "vscnt", NULL, NULL, "lgkmcnt", NULL, "expcnt"}},
    {WMI_COUNTER_STORE,
     WMI_COUNTER_SAMPLE,
     WMI_COUNTER_BVH,
     WMI_COUNTER_KM,
     true,
     false,
     {"loadcnt", "storecnt", "samplecnt", "bvhcnt", "dscnt", "kmcnt", "expcnt"}},
};

enum { SPLIT_COUNTERS = 3 }; /* the row in which each counter has an instruction of its own */

static const struct rules *rules_of(const struct wmi_target *target)
{
    return &all_rules[wmi_target_limit(target, WMI_LIMIT_wait_counters)];
}

unsigned wmi_counter_largest(const struct wmi_target *target, enum wmi_counter counter)
{
    /* Source of those that are no limits: RDNA 4 ISA, "S_WAIT_*"; RDNA 3 ISA, S_WAITCNT_VSCNT. */
    static const uint8_t fixed[WMI_COUNTER_COUNT] = {
        [WMI_COUNTER_STORE] = 6, [WMI_COUNTER_SAMPLE] = 6, [WMI_COUNTER_BVH] = 3, [WMI_COUNTER_KM] = 5};
    const unsigned bits = counter == WMI_COUNTER_LOAD  ? wmi_target_limit(target, WMI_LIMIT_vmcnt_bits)
                          : counter == WMI_COUNTER_DS  ? wmi_target_limit(target, WMI_LIMIT_lgkmcnt_bits)
                          : counter == WMI_COUNTER_EXP ? wmi_target_limit(target, WMI_LIMIT_expcnt_bits)
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

/* Instructions that wait for one counter, or with `second` for a second one in the immediate's low byte. */
static const struct {
    uint16_t id;
    uint8_t counter;
    bool second; /* DS */
} waits[] = {
    {WMI_INSN_s_waitcnt_vscnt, WMI_COUNTER_STORE, false},
    {WMI_INSN_s_waitcnt_vmcnt, WMI_COUNTER_LOAD, false},
    {WMI_INSN_s_waitcnt_expcnt, WMI_COUNTER_EXP, false},
    {WMI_INSN_s_waitcnt_lgkmcnt, WMI_COUNTER_DS, false},
    {WMI_INSN_s_wait_loadcnt, WMI_COUNTER_LOAD, false},
    {WMI_INSN_s_wait_storecnt, WMI_COUNTER_STORE, false},
    {WMI_INSN_s_wait_samplecnt, WMI_COUNTER_SAMPLE, false},
    {WMI_INSN_s_wait_bvhcnt, WMI_COUNTER_BVH, false},
    {WMI_INSN_s_wait_expcnt, WMI_COUNTER_EXP, false},
    {WMI_INSN_s_wait_dscnt, WMI_COUNTER_DS, false},
    {WMI_INSN_s_wait_kmcnt, WMI_COUNTER_KM, false},
    {WMI_INSN_s_wait_loadcnt_dscnt, WMI_COUNTER_LOAD, true},
    {WMI_INSN_s_wait_storecnt_dscnt, WMI_COUNTER_STORE, true},
};

static void find_waits(const struct wmi_target *target, const struct wmi_instruction *insn,
                       struct wmi_wait_facts *facts)
{
    const struct wmi_operand *operand = wmi_operand(insn, WMI_ROLE_IMM);
    const uint32_t immediate = operand ? (uint32_t)operand->value & 0xffff : 0;
    memset(facts->limit, UINT8_MAX, sizeof facts->limit);
    if (insn->id == WMI_INSN_s_waitcnt) {
        const struct wmi_waitcnt fields = wmi_waitcnt_fields(target, immediate);
        wait_for(facts, WMI_COUNTER_LOAD, fields.vm);
        wait_for(facts, WMI_COUNTER_EXP, fields.exp);
        wait_for(facts, WMI_COUNTER_DS, fields.lgkm);
    }
    if (insn->id == WMI_INSN_s_wait_idle)
        for (unsigned counter = 0; counter < WMI_COUNTER_COUNT; counter++)
            wait_for(facts, counter, 0);
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++) {
        if (waits[i].id != insn->id)
            continue;
        const struct wmi_operand *scalar = wmi_operand(insn, WMI_ROLE_A);
        facts->by_scalar =
            scalar && (scalar->kind == WMI_OPERAND_SGPR || scalar->kind == WMI_OPERAND_TTMP ||
                       (scalar->kind == WMI_OPERAND_SPECIAL && scalar->reg != WMI_SPECIAL_NULL));
        wait_for(facts, waits[i].counter, waits[i].second ? immediate >> 8 & 63 : immediate & 63);
        if (waits[i].second)
            wait_for(facts, WMI_COUNTER_DS, immediate & 63);
    }
}

void wmi_wait_by_scalar(struct wmi_wait_facts *facts, uint32_t value)
{
    for (unsigned counter = 0; counter < WMI_COUNTER_COUNT; counter++)
        if (facts->limit[counter] != UINT8_MAX)
            facts->limit[counter] = (uint8_t)(facts->limit[counter] + (value & 63));
}

void wmi_wait_text(const struct wmi_target *target, enum wmi_counter counter, unsigned value, char *text,
                   size_t size)
{
    const struct rules *rules = rules_of(target);
    const char *name = rules->name[counter];
    if (rules == &all_rules[SPLIT_COUNTERS])
        snprintf(text, size, "s_wait_%s 0x%x", name, value);
    else if (counter == WMI_COUNTER_STORE)
        snprintf(text, size, "s_waitcnt_%s null, 0x%x", name, value);
    else
        snprintf(text, size, "s_waitcnt %s(%u)", name, value);
}

/* ---- what raises them ---- */

static void count_by(struct wmi_wait_facts *facts, enum wmi_counter counter, enum wmi_order order,
                     unsigned units, bool writes, bool holds)
{
    facts->event[facts->events++] =
        (struct wmi_wait_event){(uint8_t)counter, (uint8_t)order, (uint8_t)units, writes, holds};
}

static bool returns(const struct wmi_instruction *insn)
{
    for (unsigned i = 0; i < insn->operands; i++)
        if (insn->operand[i].written &&
            (insn->operand[i].kind == WMI_OPERAND_VGPR || insn->operand[i].kind == WMI_OPERAND_AGPR))
            return true;
    return false;
}

/* Buffer, image, FLAT and the like. An atomic that returns nothing is a store; a load to LDS writes no
 * register but is a load. */
static void raise_vector_memory(const struct rules *rules, const struct wmi_instruction *insn,
                                struct wmi_wait_facts *facts)
{
    const struct wmi_row *row = &wmi_rows[insn->id];
    const bool result = returns(insn);
    const bool store = row->memory == WMI_MEMORY_STORE || (row->memory == WMI_MEMORY_ATOMIC && !result);
    const bool writes_back = row->memory == WMI_MEMORY_CONTROL && strstr(row->name, "_wb");
    const bool rays = row->class == WMI_CLASS_IMAGE && strstr(row->name, "bvh");
    const bool samples =
        row->class == WMI_CLASS_IMAGE &&
        (strstr(row->name, "sample") || strstr(row->name, "gather") || strstr(row->name, "get_lod"));
    const bool flat = row->class == WMI_CLASS_FLAT;
    const enum wmi_counter counter = store || writes_back ? rules->store
                                     : rays               ? rules->bvh
                                     : samples            ? rules->sample
                                                          : WMI_COUNTER_LOAD;
    if (row->memory == WMI_MEMORY_NONE)
        return;
    count_by(facts, counter, flat && !rules->flat_in_order ? WMI_ORDER_FLAT : WMI_ORDER_MEMORY, 1, result,
             false);
    if (flat)
        count_by(facts, WMI_COUNTER_DS, rules->flat_in_order ? WMI_ORDER_LDS : WMI_ORDER_FLAT, 1, result,
                 false);
    if (rules->store_holds && (row->memory == WMI_MEMORY_STORE || row->memory == WMI_MEMORY_ATOMIC))
        count_by(facts, WMI_COUNTER_EXP, WMI_ORDER_MEMORY, 1, false, true);
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
    const struct rules *rules = rules_of(target);
    struct wmi_wait_facts facts = {0};
    find_waits(target, insn, &facts);
    switch (row->class) {
    case WMI_CLASS_SMEM:
        count_by(&facts, rules->scalar, WMI_ORDER_SCALAR, scalar_units(insn), true, false);
        break;
    case WMI_CLASS_DS:
        if (insn->field[WMI_FIELD_gds]) {
            count_by(&facts, WMI_COUNTER_DS, WMI_ORDER_GDS, 1, true, false);
            count_by(&facts, WMI_COUNTER_EXP, WMI_ORDER_GDS, 1, false, true);
        } else {
            count_by(&facts, WMI_COUNTER_DS, WMI_ORDER_LDS, 1, true, false);
        }
        break;
    case WMI_CLASS_BUFFER:
    case WMI_CLASS_TBUFFER:
    case WMI_CLASS_IMAGE:
    case WMI_CLASS_FLAT:
    case WMI_CLASS_GLOBAL:
    case WMI_CLASS_SCRATCH:
        raise_vector_memory(rules, insn, &facts);
        break;
    case WMI_CLASS_EXPORT:
        if (insn->id == WMI_INSN_exp)
            count_by(&facts, WMI_COUNTER_EXP, WMI_ORDER_EXPORT, 1, false, true);
        else if (insn->id == WMI_INSN_lds_param_load || insn->id == WMI_INSN_lds_direct_load)
            count_by(&facts, WMI_COUNTER_EXP, WMI_ORDER_LDS, 1, true, false);
        break;
    default:
        if (insn->id == WMI_INSN_s_sendmsg || insn->id == WMI_INSN_s_sendmsghalt)
            count_by(&facts, rules->scalar, WMI_ORDER_MESSAGE, 1, false, false);
        else if (insn->id == WMI_INSN_s_sendmsg_rtn_b32 || insn->id == WMI_INSN_s_sendmsg_rtn_b64)
            count_by(&facts, rules->scalar, WMI_ORDER_SCALAR, scalar_units(insn), true, false);
        break;
    }
    return facts;
}
