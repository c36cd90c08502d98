/* SPDX-License-Identifier: MIT */
/* Finds out from its code whether a kernel's workgroups may depend on one another.
 *
 * A workgroup learns what others do by memory that they write while it runs. Caches in between are not
 * coherent, so code that means to do that says so: by an atomic that returns what it found, by a load that
 * bypasses caches of which another workgroup may have its own, or by invalidating those. GDS is shared by
 * all. Source: LLVM AMDGPUUsage, "Memory Model", which orders each of these after an acquire of agent or
 * system scope. Memory is coherent here, so a loop can also wait by ordinary loads: one that has a load, no
 * store, and in which no register goes on from one round to the next. Other loads that race with stores are
 * not found. */
#include "exec/dependence.h"

#include "exec/control.h"
#include "exec/scan.h"
#include "isa/registers.h"

#include <stdlib.h>
#include <string.h>

enum {
    LIMIT = 1 << 16, /* instructions that are looked at */
    LOOP = 256,      /* instructions of a loop that waits, at most; see waiting.c */
    ADDS = 8,        /* instructions from s_getpc_b64 to the additions that make an address of it, at most */
    SCOPE_DEVICE = 2 /* of gfx12's instructions */
};

struct walk {
    const struct wmi_dependence_source *source;
    struct wm_dependence *found;
    struct wmi_entries work, *entries;
    struct wmi_step_map seen;
    bool computed, out_of_memory; /* computed: a jump to a computed address */
    size_t named;                 /* functions whose addresses the code computes */
};

/* ---- instructions ---- */

static bool decode(const struct walk *walk, uint64_t pc, struct wmi_instruction *insn)
{
    const struct wmi_allocation *a = wmi_space_find(walk->source->space, pc);
    return a && !(pc & 3) &&
           wmi_decode(walk->source->target, (const uint32_t *)(a->host + (pc - a->low)),
                      (size_t)(a->high - pc) / 4, insn);
}

/* Whether an operand is a result. Of vector atomics, decoding says so only where they return. */
static bool has_result(const struct wmi_instruction *insn)
{
    if (wmi_rows[insn->id].class == WMI_CLASS_SMEM)
        return insn->field[WMI_FIELD_glc];
    for (unsigned i = 0; i < insn->operands; i++)
        if (insn->operand[i].kind != WMI_OPERAND_NONE && insn->operand[i].written)
            return true;
    return false;
}

bool wmi_only_changes_memory(const struct wmi_instruction *insn)
{
    const struct wmi_row *row = &wmi_rows[insn->id];
    return row->memory == WMI_MEMORY_STORE || (row->memory == WMI_MEMORY_ATOMIC && !has_result(insn)) ||
           row->class == WMI_CLASS_EXPORT;
}

/* Whether the instruction bypasses, or invalidates, caches that not all workgroups share. GLC with SLC is a
 * nontemporal access, which is none that is shared. */
static bool has_device_scope(const struct wmi_instruction *insn)
{
    const int32_t *field = insn->field;
    return field[WMI_FIELD_scope] >= SCOPE_DEVICE || field[WMI_FIELD_sc1] ||
           (field[WMI_FIELD_glc] && !field[WMI_FIELD_slc]);
}

/* Whether it makes the wave see what others wrote. buffer_gl0_inv does so within the workgroup. */
static bool invalidates(const struct wmi_instruction *insn)
{
    switch (insn->id) {
    case WMI_INSN_buffer_wbinvl1:
    case WMI_INSN_buffer_wbinvl1_vol:
    case WMI_INSN_buffer_wbinvl1_sc:
    case WMI_INSN_buffer_gl1_inv:
    case WMI_INSN_s_gl1_inv:
    case WMI_INSN_s_dcache_inv:
    case WMI_INSN_s_dcache_inv_vol:
        return true;
    case WMI_INSN_buffer_inv:
    case WMI_INSN_global_inv:
    case WMI_INSN_global_wbinv:
        return has_device_scope(insn);
    default:
        return false;
    }
}

static enum wm_dependence_kind kind_of(const struct wmi_instruction *insn)
{
    const struct wmi_row *row = &wmi_rows[insn->id];
    if (row->class == WMI_CLASS_DS)
        return insn->field[WMI_FIELD_gds] || row->memory == WMI_MEMORY_CONTROL ? WM_DEPENDS_BY_GDS
                                                                               : WM_INDEPENDENT;
    switch (row->memory) {
    case WMI_MEMORY_ATOMIC:
        return has_result(insn) ? WM_DEPENDS_BY_ATOMIC : WM_INDEPENDENT;
    case WMI_MEMORY_LOAD:
        return has_device_scope(insn) ? WM_DEPENDS_BY_LOAD : WM_INDEPENDENT;
    case WMI_MEMORY_CONTROL:
        return invalidates(insn) ? WM_DEPENDS_BY_INVALIDATION : WM_INDEPENDENT;
    default:
        return WM_INDEPENDENT;
    }
}

/* The walk is over. */
static void find(struct walk *walk, enum wm_dependence_kind kind, uint64_t pc)
{
    *walk->found = (struct wm_dependence){.kind = kind, .pc = pc};
}

/* ---- loops ---- */

/* Combines lane masks, as code does with those that leave a loop. */
static bool is_mask_logic(const struct wmi_instruction *insn)
{
    switch (insn->id) {
    case WMI_INSN_s_and_b32:
    case WMI_INSN_s_and_b64:
    case WMI_INSN_s_or_b32:
    case WMI_INSN_s_or_b64:
    case WMI_INSN_s_xor_b32:
    case WMI_INSN_s_xor_b64:
    case WMI_INSN_s_andn2_b32:
    case WMI_INSN_s_andn2_b64:
    case WMI_INSN_s_orn2_b32:
    case WMI_INSN_s_orn2_b64:
        return true;
    default:
        return false;
    }
}

enum { SCC = WMI_REGISTER_COUNT, REGISTERS };

/* What one round of a loop does. */
struct round {
    bool before[REGISTERS];  /* is read before it is written */
    bool written[REGISTERS]; /* is written, */
    bool changed[REGISTERS]; /* and not by mask logic alone */
    bool loaded[REGISTERS];  /* depends on what the round has loaded */
    bool stores;
    bool loads_decide; /* a branch depends on what was loaded */
};

static void write(struct round *round, unsigned reg, bool logic, bool loaded)
{
    round->written[reg] = true;
    round->changed[reg] |= !logic;
    /* Of a VGPR, inactive lanes keep what they have. */
    round->loaded[reg] =
        loaded || (reg >= WMI_REGISTER_VGPR && reg < WMI_REGISTER_FLAT_SCRATCH && round->loaded[reg]);
}

static bool read(struct round *round, unsigned reg)
{
    round->before[reg] |= !round->written[reg];
    return round->loaded[reg];
}

static void add_to_round(struct round *round, const struct wmi_instruction *insn)
{
    const struct wmi_row *row = &wmi_rows[insn->id];
    const bool logic = is_mask_logic(insn);
    struct wmi_span_of_registers spans[WMI_SPANS];
    const unsigned count = wmi_registers_of(insn, spans);
    bool loaded =
        row->memory == WMI_MEMORY_LOAD && row->class != WMI_CLASS_DS && row->class != WMI_CLASS_SCRATCH;
    round->stores |= wmi_only_changes_memory(insn);
    if (row->flags & WMI_ROW_READS_SCC)
        loaded |= read(round, SCC);
    for (unsigned i = 0; i < count; i++)
        for (unsigned reg = spans[i].first; spans[i].read && reg < spans[i].first + spans[i].count; reg++)
            loaded |= read(round, reg);
    round->loads_decide |= loaded && wmi_control_flow(insn).branches;
    if (row->flags & WMI_ROW_WRITES_SCC)
        write(round, SCC, true, loaded);
    for (unsigned i = 0; i < count; i++)
        for (unsigned reg = spans[i].first; spans[i].written && reg < spans[i].first + spans[i].count; reg++)
            write(round, reg, logic, loaded);
}

/* Whether the loop from `first` to the branch at `last` can only be ended by what its loads find: it counts
 * nothing, and walks along nothing. */
static bool only_waits(const struct walk *walk, uint64_t first, uint64_t last)
{
    struct round round = {0};
    uint64_t pc = first;
    for (unsigned i = 0; i < LOOP && pc <= last; i++) {
        struct wmi_instruction insn;
        if (!decode(walk, pc, &insn))
            return false;
        add_to_round(&round, &insn);
        pc += 4u * insn.dwords;
    }
    if (pc <= last || !round.loads_decide || round.stores)
        return false;
    for (unsigned reg = 0; reg < WMI_REGISTER_COUNT; reg++) {
        const bool mask = reg / 2 == WMI_REGISTER_EXEC / 2 || reg / 2 == WMI_REGISTER_VCC / 2;
        if (round.before[reg] && round.changed[reg] && !mask)
            return false;
    }
    return true;
}

/* ---- what can be reached ---- */

static void add_entry(struct walk *walk, struct wmi_entries *entries, uint64_t address)
{
    if (entries->count == entries->capacity) {
        const size_t capacity = entries->capacity ? 2 * entries->capacity : 64;
        uint64_t *grown = realloc(entries->address, capacity * sizeof *grown);
        if (!grown) {
            walk->out_of_memory = true;
            return;
        }
        entries->address = grown;
        entries->capacity = capacity;
    }
    entries->address[entries->count++] = address;
}

/* Code that is reached other than by a direct branch. */
static void add_indirect(struct walk *walk, uint64_t address)
{
    add_entry(walk, &walk->work, address);
    if (walk->entries)
        add_entry(walk, walk->entries, address);
}

/* The constant that the instruction adds to `reg`, if it is one that does. */
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

/* The address that code makes of s_getpc_b64, whose result is `pc` in the pair from `reg` on; 0: none.
 * Source: LLVM, SIInstrInfo.cpp, SI_PC_ADD_REL_OFFSET. */
static uint64_t relative_address(const struct walk *walk, uint64_t pc, unsigned reg)
{
    uint32_t low = 0, high = 0;
    bool added = false;
    uint64_t at = pc;
    for (unsigned i = 0; i < ADDS; i++) {
        struct wmi_instruction insn;
        if (!decode(walk, at, &insn))
            return 0;
        if (!added)
            added = adds_constant(&insn, WMI_INSN_s_add_u32, reg, &low);
        else if (adds_constant(&insn, WMI_INSN_s_addc_u32, reg + 1, &high))
            return pc + (low | (uint64_t)high << 32);
        at += 4u * insn.dwords;
    }
    return 0;
}

static bool is_code(const struct walk *walk, uint64_t address)
{
    return !(address & 3) && (!walk->source->is_code || walk->source->is_code(walk->source->user, address));
}

/* The code computes an address: that of a function, or of a pointer to one. */
static void follow_address(struct walk *walk, uint64_t address)
{
    const struct wmi_allocation *a = wmi_space_find(walk->source->space, address);
    uint64_t pointer = 0;
    if (!a)
        return;
    if (a->high - address >= sizeof pointer)
        memcpy(&pointer, a->host + (address - a->low), sizeof pointer);
    const bool points = pointer >= a->low && pointer < a->high && is_code(walk, pointer);
    if (!points && !is_code(walk, address))
        return;
    walk->named++;
    add_indirect(walk, points ? pointer : address);
}

/* Where the instruction behind which `next` stands leads besides. */
static void follow(struct walk *walk, const struct wmi_instruction *insn, uint64_t next)
{
    switch (insn->id) {
    case WMI_INSN_s_getpc_b64: {
        const struct wmi_operand *d = wmi_operand(insn, WMI_ROLE_D);
        const uint64_t address = d->kind == WMI_OPERAND_SGPR ? relative_address(walk, next, d->reg) : 0;
        if (address)
            follow_address(walk, address);
        break;
    }
    case WMI_INSN_s_swappc_b64:
        walk->computed = true;
        add_indirect(walk, next);
        break;
    case WMI_INSN_s_call_b64:
        add_indirect(walk, next);
        break;
    case WMI_INSN_s_setpc_b64:
    case WMI_INSN_s_rfe_b64:
    case WMI_INSN_s_rfe_restore_b64:
        walk->computed = true;
        break;
    default:
        break;
    }
}

/* Whether the instruction was not seen before, and there is room to note it. */
static bool is_new(struct walk *walk, uint64_t pc)
{
    static const struct wmi_op mark;
    if (wmi_step_map_find(&walk->seen, pc))
        return false;
    if (!wmi_step_map_reserve(&walk->seen, 1)) {
        walk->out_of_memory = true;
        return false;
    }
    wmi_step_map_add(&walk->seen, pc, &mark);
    return true;
}

/* Looks at the code from `pc` on to its end, or to what is known. */
static void look_at(struct walk *walk, uint64_t pc)
{
    struct wmi_instruction insn;
    while (is_new(walk, pc) && decode(walk, pc, &insn)) {
        const struct wmi_flow flow = wmi_control_flow(&insn);
        const uint64_t next = pc + 4u * insn.dwords, to = next + (uint64_t)(flow.distance * 4);
        enum wm_dependence_kind kind = kind_of(&insn);
        if (kind == WM_INDEPENDENT && flow.branches && flow.distance < 0 && only_waits(walk, to, pc))
            kind = WM_DEPENDS_BY_LOOP;
        if (walk->seen.count > LIMIT)
            kind = WM_DEPENDS_BY_CODE;
        if (kind != WM_INDEPENDENT) {
            find(walk, kind, pc);
            return;
        }
        follow(walk, &insn, next);
        if (flow.branches)
            add_entry(walk, &walk->work, to);
        if (flow.ends)
            return;
        pc = next;
    }
}

static int by_address(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

static void sort(struct wmi_entries *entries)
{
    size_t kept = 0;
    if (entries->count)
        qsort(entries->address, entries->count, sizeof *entries->address, by_address);
    for (size_t i = 0; i < entries->count; i++)
        if (!i || entries->address[i] != entries->address[i - 1])
            entries->address[kept++] = entries->address[i];
    entries->count = kept;
}

bool wmi_dependence_find(const struct wmi_dependence_source *source, struct wm_dependence *dependence,
                         struct wmi_entries *entries)
{
    struct walk walk = {.source = source, .found = dependence, .entries = entries};
    *dependence = (struct wm_dependence){.kind = WM_INDEPENDENT};
    if (source->unknown_calls)
        find(&walk, WM_DEPENDS_BY_CODE, source->entry);
    add_entry(&walk, &walk.work, source->entry);
    while (walk.work.count && !walk.out_of_memory && dependence->kind == WM_INDEPENDENT)
        look_at(&walk, walk.work.address[--walk.work.count]);
    if (walk.computed && !walk.named && dependence->kind == WM_INDEPENDENT)
        find(&walk, WM_DEPENDS_BY_CODE, source->entry);
    if (entries)
        sort(entries);
    free(walk.work.address);
    free(walk.seen.entries);
    return !walk.out_of_memory;
}

void wmi_entries_free(struct wmi_entries *entries)
{
    free(entries->address);
    *entries = (struct wmi_entries){0};
}
