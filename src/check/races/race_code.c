/* SPDX-License-Identifier: MIT */
/* Finds out what loads are for. The memory models have loads that wait for other waves, and loads whose value
 * a compare-and-swap confirms (they seed it), which the code does not always distinguish from others. They
 * are recognized by their loop, or by the code that follows. Compilers rotate loops: the first iteration's
 * load comes before the loop, and is treated like the one in the loop. */
#include "check/races/race_code.h"

#include "exec/run/polling.h"
#include "isa/isa.h"
#include "lower/flow.h"

enum {
    LOOP = 192,   /* maximum instructions from a load to the end of its loop, which are many with -O0 */
    REPEAT = 128, /* maximum instructions from a load to the loop that repeats it */
    SEED = 128,   /* maximum instructions from a load to its compare-and-swap; with -O0, values are spilled in
                     between */
};

/* A search from an instruction on, along forward branches. */
struct search {
    const struct wmi_code *code;
    struct wmi_instruction load;
    bool lds, decides; /* decides: a branch soon behind the load depends on it */
    unsigned left;     /* instructions that may still be examined */
};

static bool invalidates_between(const struct wmi_code *code, uint64_t first, uint64_t last)
{
    struct wmi_instruction insn;
    for (uint64_t pc = first; pc <= last && wmi_code_decode(code, pc, &insn); pc += 4u * insn.dwords)
        if (insn.id == WMI_INSN_s_dcache_inv)
            return true;
    return false;
}

/* Whether the load is in a loop that only its result can end. Branches back to a place before the load may
 * also leave a loop, as compilers put what follows it in front of it. */
static bool is_in_loop(const struct wmi_code *code, uint64_t load, bool lds, struct wmi_race_load *found)
{
    struct wmi_instruction insn;
    uint64_t pc = load;
    for (unsigned i = 0; i < LOOP && wmi_code_decode(code, pc, &insn); i++) {
        const struct wmi_flow flow = wmi_control_flow(&insn);
        const uint64_t next = pc + 4u * insn.dwords, target = next + (uint64_t)(4 * flow.distance);
        if (flow.branches && flow.distance < 0 && target <= load &&
            wmi_loop_only_waits(code, target, pc, WMI_LOOP_PRIVATE | (lds ? WMI_LOOP_LDS : 0))) {
            found->polls = true;
            found->invalidates = invalidates_between(code, target, pc);
            return true;
        }
        if (flow.ends && !flow.branches)
            return false;
        pc = next;
    }
    return false;
}

static bool is_same_operand(const struct wmi_operand *a, const struct wmi_operand *b)
{
    return a->written || (a->kind == b->kind && a->reg == b->reg && a->value == b->value);
}

/* Whether two loads differ by their results only. If the first one decides a branch, its address may also be
 * in other registers. */
static bool is_same_load(const struct wmi_instruction *a, const struct wmi_instruction *b, bool decides)
{
    if (a->id != b->id || a->operands != b->operands)
        return false;
    for (unsigned i = 0; i < a->operands; i++) {
        const unsigned role = a->operand[i].role;
        const bool address = role == WMI_ROLE_ADDR || role == WMI_ROLE_SADDR;
        if (!is_same_operand(&a->operand[i], &b->operand[i]) && !(decides && address))
            return false;
    }
    for (unsigned i = 0; i < WMI_FIELD_COUNT; i++)
        if (a->field[i] != b->field[i] && !(decides && i == WMI_FIELD_scale_offset))
            return false;
    return true;
}

/* Whether the instruction changes memory that other waves see. With -O0, FLAT stores go to private memory. */
static bool changes_memory(const struct wmi_instruction *insn)
{
    const struct wmi_row *row = &wmi_rows[insn->id];
    return row->memory == WMI_MEMORY_ATOMIC ||
           (row->memory == WMI_MEMORY_STORE && row->class != WMI_CLASS_FLAT &&
            row->class != WMI_CLASS_SCRATCH && row->class != WMI_CLASS_BUFFER);
}

/* The successors of an instruction. Backward branches are not followed. */
struct successors {
    bool next, branch; /* the next instruction; `target` */
    uint64_t after, target;
};

static struct successors successors_of(uint64_t pc, const struct wmi_instruction *insn)
{
    const struct wmi_flow flow = wmi_control_flow(insn);
    const uint64_t after = pc + 4u * insn->dwords;
    return (struct successors){.next = !flow.ends,
                               .branch = flow.branches && !flow.calls && flow.distance > 0,
                               .after = after,
                               .target = after + (uint64_t)(4 * flow.distance)};
}

/* Whether a loop repeats the load, with no store in between. */
static bool is_repeated(struct search *search, uint64_t pc, struct wmi_race_load *found)
{
    struct wmi_instruction insn;
    while (search->left && wmi_code_decode(search->code, pc, &insn)) {
        search->left--;
        if (is_same_load(&insn, &search->load, search->decides) &&
            is_in_loop(search->code, pc, search->lds, found))
            return true;
        if (changes_memory(&insn))
            return false;
        const struct successors successors = successors_of(pc, &insn);
        if (successors.next && successors.branch && is_repeated(search, successors.after, found))
            return true;
        if (!successors.next && !successors.branch)
            return false;
        pc = successors.branch ? successors.target : successors.after;
    }
    return false;
}

/* Whether a compare-and-swap may follow the load. One that follows a scalar load has the same address. */
static bool is_swapped(struct search *search, uint64_t pc)
{
    struct wmi_instruction insn;
    const bool scalar = wmi_rows[search->load.id].class == WMI_CLASS_SMEM;
    while (search->left && wmi_code_decode(search->code, pc, &insn)) {
        const struct wmi_row *row = &wmi_rows[insn.id];
        search->left--;
        if (row->memory == WMI_MEMORY_ATOMIC) {
            const struct wmi_operand *base = wmi_operand(&insn, WMI_ROLE_SADDR),
                                     *address = wmi_operand(&search->load, WMI_ROLE_ADDR);
            return row->group == WMI_GROUP_CMPSWAP &&
                   (!scalar || (base && address && base->kind == address->kind && base->reg == address->reg));
        }
        const struct successors successors = successors_of(pc, &insn);
        if (successors.next && successors.branch && is_swapped(search, successors.after))
            return true;
        if (!successors.next && !successors.branch)
            return false;
        pc = successors.branch ? successors.target : successors.after;
    }
    return false;
}

struct wmi_race_load wmi_race_load_at(const struct wmi_code *code, uint64_t pc, bool lds)
{
    struct search search = {.code = code, .lds = lds, .left = REPEAT};
    struct wmi_race_load found = {0};
    if (!wmi_code_decode(code, pc, &search.load))
        return found;
    const uint64_t next = pc + 4u * search.load.dwords;
    if (!is_in_loop(code, pc, lds, &found)) {
        search.decides = wmi_result_decides(code, pc);
        is_repeated(&search, next, &found);
    }
    search.left = SEED;
    found.seeds = is_swapped(&search, next);
    return found;
}

struct wmi_race_loop wmi_race_loop_at(const struct wmi_code *code, uint64_t pc,
                                      const struct wmi_instruction *branch)
{
    const struct wmi_flow flow = wmi_control_flow(branch);
    const uint64_t first = pc + 4u * branch->dwords + (uint64_t)(4 * flow.distance);
    struct wmi_race_loop loop = {0};
    struct wmi_instruction insn;
    if (!flow.branches || flow.distance >= 0 ||
        !wmi_loop_only_waits(code, first, pc, WMI_LOOP_LDS | WMI_LOOP_PRIVATE))
        return loop;
    for (uint64_t at = first; at < pc && wmi_code_decode(code, at, &insn); at += 4u * insn.dwords) {
        const struct wmi_row *row = &wmi_rows[insn.id];
        loop.lds |=
            row->memory == WMI_MEMORY_LOAD && (row->class == WMI_CLASS_DS || row->class == WMI_CLASS_FLAT);
        loop.memory |= row->memory == WMI_MEMORY_LOAD && row->class != WMI_CLASS_DS;
    }
    return loop;
}
