/* SPDX-License-Identifier: MIT */
/* Decides from its code whether a kernel's workgroups may depend on one another.
 *
 * A workgroup can observe another one through memory that the other writes while both run. Caches in between
 * are not coherent, so code that intends this must be explicit: by an atomic that returns the previous value,
 * by a load that bypasses the caches that another workgroup may not share, or by invalidating those caches.
 * GDS is shared by all. Source: LLVM AMDGPUUsage, "Memory Model", which requires one of these for an acquire
 * of agent or system scope. An atomic that returns nothing informs no wave, but if the value that it leaves
 * in memory depends on the order of workgroups, so do the results and the following dispatches.
 *
 * Memory is coherent here, so a loop can also wait with ordinary loads: a loop with a load, without a store,
 * and without a register that is carried from one iteration to the next. Other loads that race with stores
 * are not found. */
#include "exec/run/dependence.h"

#include "exec/run/polling.h"
#include "lower/classes.h"
#include "lower/flow.h"

#include <stdlib.h>
#include <string.h>

enum {
    LIMIT = 1 << 16, /* maximum instructions that are examined */
    ADDS = 8, /* maximum instructions from s_getpc_b64 to the additions that compute an address from it */
    SCOPE_DEVICE = 2 /* value of the SCOPE field of gfx12 */
};

struct search {
    const struct wmi_dependence_source *source;
    struct wm_dependence *found;
    struct wmi_place_list *entries;
    struct wmi_place_map known; /* places that have been examined */
    bool computed;              /* the code jumps to a computed address */
    bool named;                 /* the code computes addresses of functions */
    bool out_of_memory;
};

/* ---- instructions ---- */

static bool decode(const struct search *search, uint64_t pc, struct wmi_instruction *insn)
{
    return wmi_code_decode(search->source->code, pc, insn);
}

/* Whether the instruction bypasses, or invalidates, caches that not all workgroups share. GLC with SLC is a
 * nontemporal access. */
static bool has_device_scope(const struct wmi_instruction *insn)
{
    const int32_t *field = insn->field;
    return field[WMI_FIELD_scope] >= SCOPE_DEVICE || field[WMI_FIELD_sc1] ||
           (field[WMI_FIELD_glc] && !field[WMI_FIELD_slc]);
}

/* Whether the instruction makes writes of other workgroups visible to the wave. */
static bool invalidates(const struct wmi_instruction *insn)
{
    const struct wmi_row *row = &wmi_rows[insn->id];
    return row->cache & WMI_CACHE_INVALIDATE && row->cache_level != WMI_CACHE_LEVEL_INSTRUCTION &&
           row->cache_scope != WMI_CACHE_SCOPE_WORKGROUP &&
           (row->cache_scope != WMI_CACHE_SCOPE_FIELD || has_device_scope(insn));
}

static enum wm_dependence_kind kind_of(const struct wmi_instruction *insn)
{
    const struct wmi_row *row = &wmi_rows[insn->id];
    if (row->class == WMI_CLASS_DS)
        return insn->field[WMI_FIELD_gds] || row->rules & WMI_RULE_GDS ? WM_DEPENDS_BY_GDS : WM_INDEPENDENT;
    switch (row->memory) {
    case WMI_MEMORY_ATOMIC:
        return wmi_has_result(insn) || !wmi_atomic_commutes(insn->id) ? WM_DEPENDS_BY_ATOMIC : WM_INDEPENDENT;
    case WMI_MEMORY_LOAD:
        return has_device_scope(insn) ? WM_DEPENDS_BY_LOAD : WM_INDEPENDENT;
    case WMI_MEMORY_CONTROL:
        return invalidates(insn) ? WM_DEPENDS_BY_INVALIDATION : WM_INDEPENDENT;
    default:
        return WM_INDEPENDENT;
    }
}

static void find(struct search *search, enum wm_dependence_kind kind, uint64_t pc)
{
    if (search->found->kind == WM_INDEPENDENT)
        *search->found = (struct wm_dependence){.kind = kind, .pc = pc};
}

/* ---- what can be reached ---- */

/* Adds code that is reached other than by a direct branch. */
static void add_entry(struct search *search, uint64_t address)
{
    search->out_of_memory |= !wmi_place_list_add(search->entries, address);
}

/* Whether the instruction adds a constant to `reg`, and which. */
static bool adds_constant(const struct wmi_instruction *insn, unsigned id, unsigned reg, uint32_t *constant)
{
    const struct wmi_operand *d = wmi_operand(insn, WMI_ROLE_D), *a = wmi_operand(insn, WMI_ROLE_A),
                             *b = wmi_operand(insn, WMI_ROLE_B);
    if (insn->id != id || d->kind != WMI_OPERAND_SGPR || d->reg != reg || a->kind != WMI_OPERAND_SGPR ||
        a->reg != reg || (b->kind != WMI_OPERAND_LITERAL && b->kind != WMI_OPERAND_CONSTANT))
        return false;
    *constant = (uint32_t)b->value;
    return true;
}

/* The address that code computes from s_getpc_b64, whose result is `pc` in the pair of registers from `reg`
 * on; 0: none. Source: LLVM, SIInstrInfo.cpp, SI_PC_ADD_REL_OFFSET. */
static uint64_t relative_address(const struct search *search, uint64_t pc, unsigned reg)
{
    uint32_t low = 0, high = 0;
    bool added = false;
    uint64_t at = pc;
    for (unsigned i = 0; i < ADDS; i++) {
        struct wmi_instruction insn;
        if (!decode(search, at, &insn))
            return 0;
        if (!added)
            added = adds_constant(&insn, WMI_INSN_s_add_u32, reg, &low);
        else if (adds_constant(&insn, WMI_INSN_s_addc_u32, reg + 1, &high))
            return pc + (low | (uint64_t)high << 32);
        at += 4u * insn.dwords;
    }
    return 0;
}

static bool is_code(const struct search *search, uint64_t address)
{
    return !(address & 3) && search->source->is_code(search->source->user, address);
}

/* Follows an address that the code computes: of a function, of a pointer to one, or of data. */
static void follow_address(struct search *search, uint64_t address)
{
    const struct wmi_allocation *a = wmi_space_find(search->source->code->options.space, address);
    uint64_t pointer = 0;
    if (a && a->high - address >= sizeof pointer)
        memcpy(&pointer, a->host + (address - a->low), sizeof pointer);
    const bool points = a && pointer >= a->low && pointer < a->high && is_code(search, pointer);
    if (!points && !is_code(search, address))
        return;
    search->named = true;
    add_entry(search, points ? pointer : address);
}

static void examine(struct search *search, uint64_t pc)
{
    struct wmi_instruction insn;
    if (!decode(search, pc, &insn))
        return;
    const struct wmi_flow flow = wmi_control_flow(&insn);
    const uint64_t next = pc + 4u * insn.dwords;
    const enum wm_dependence_kind kind = kind_of(&insn);
    if (kind != WM_INDEPENDENT)
        find(search, kind, pc);
    else if (flow.branches && flow.distance < 0 &&
             wmi_loop_only_waits(search->source->code, next + (uint64_t)(4 * flow.distance), pc, 0))
        find(search, WM_DEPENDS_BY_LOOP, pc);
    search->computed |= flow.computed;
    if (flow.calls)
        add_entry(search, next);
    if (insn.id != WMI_INSN_s_getpc_b64)
        return;
    const struct wmi_operand *d = wmi_operand(&insn, WMI_ROLE_D);
    const uint64_t address = d->kind == WMI_OPERAND_SGPR ? relative_address(search, next, d->reg) : 0;
    if (address)
        follow_address(search, address);
}

/* Examines the code that direct control flow reaches from `entry`, in the order of addresses. */
static void examine_from(struct search *search, uint64_t entry)
{
    static const char mark;
    struct wmi_scan scan = {0};
    wmi_scan(&scan, search->source->code, NULL, &search->known, entry, LIMIT);
    search->out_of_memory |= scan.out_of_memory || !wmi_place_reserve(&search->known, scan.count);
    for (size_t i = 0; i < scan.count && !search->out_of_memory; i++) {
        wmi_place_add(&search->known, scan.found[i].place, &mark);
        examine(search, wmi_pc_of(scan.found[i].place));
    }
    if (search->known.count >= LIMIT)
        find(search, WM_DEPENDS_BY_CODE, entry);
    wmi_scan_free(&scan);
}

bool wmi_find_dependence(const struct wmi_dependence_source *source, struct wm_dependence *dependence,
                         struct wmi_place_list *entries)
{
    const uint64_t entry = source->code->options.entry;
    struct search search = {.source = source, .found = dependence, .entries = entries};
    *dependence = (struct wm_dependence){.kind = WM_INDEPENDENT};
    *entries = (struct wmi_place_list){0};
    if (source->unknown_calls)
        find(&search, WM_DEPENDS_BY_CODE, entry);
    add_entry(&search, entry);
    for (size_t i = 0; i < entries->count && !search.out_of_memory && dependence->kind == WM_INDEPENDENT; i++)
        examine_from(&search, entries->place[i]);
    if (search.computed && !search.named)
        find(&search, WM_DEPENDS_BY_CODE, entry);
    free(search.known.entries);
    return !search.out_of_memory;
}
