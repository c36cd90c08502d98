/* SPDX-License-Identifier: MIT */
/* Finds out what loads are for. The memory models have loads that wait for other waves, and loads whose value
 * a compare-and-swap confirms, which the code does not always distinguish from others. They are recognized by
 * their loop, or by the code that follows. Compilers rotate loops: the first iteration's load comes before
 * the loop, and is treated like the one in the loop. */
#include "check/races/race_code.h"

#include "exec/run/polling.h"
#include "isa/isa.h"
#include "lower/flow.h"

enum {
    LOOP = 64,  /* maximum instructions from a load to the end of its loop, or to the loop that repeats it */
    SEED = 128, /* maximum instructions from a load to its compare-and-swap; with -O0, values are spilled in
                   between */
};

/* A search from an instruction on, along forward branches. */
struct search {
    const struct wmi_code *code;
    struct wmi_instruction load;
    bool lds;
    unsigned left; /* instructions that may still be examined */
};

static bool invalidates_between(const struct wmi_code *code, uint64_t first, uint64_t last)
{
    struct wmi_instruction insn;
    for (uint64_t pc = first; pc <= last && wmi_code_decode(code, pc, &insn); pc += 4u * insn.dwords)
        if (insn.id == WMI_INSN_s_dcache_inv)
            return true;
    return false;
}

/* Whether the load is in a loop that only its result can end. */
static bool is_in_loop(const struct wmi_code *code, uint64_t load, bool lds, struct wmi_race_load *found)
{
    struct wmi_instruction insn;
    uint64_t pc = load;
    for (unsigned i = 0; i < LOOP && wmi_code_decode(code, pc, &insn); i++) {
        const struct wmi_flow flow = wmi_control_flow(&insn);
        const uint64_t next = pc + 4u * insn.dwords, target = next + (uint64_t)(4 * flow.distance);
        if (flow.branches && flow.distance < 0 && target <= load) {
            found->polls = wmi_loop_only_waits(code, target, pc, lds);
            found->invalidates = found->polls && invalidates_between(code, target, pc);
            return found->polls;
        }
        if (flow.ends)
            return false;
        pc = next;
    }
    return false;
}

static bool is_same_operand(const struct wmi_operand *a, const struct wmi_operand *b)
{
    return a->written || (a->kind == b->kind && a->reg == b->reg && a->value == b->value);
}

/* Whether two loads differ by their results only. */
static bool is_same_load(const struct wmi_instruction *a, const struct wmi_instruction *b)
{
    if (a->id != b->id || a->operands != b->operands)
        return false;
    for (unsigned i = 0; i < a->operands; i++)
        if (!is_same_operand(&a->operand[i], &b->operand[i]))
            return false;
    for (unsigned i = 0; i < WMI_FIELD_COUNT; i++)
        if (a->field[i] != b->field[i])
            return false;
    return true;
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
        if (is_same_load(&insn, &search->load))
            return is_in_loop(search->code, pc, search->lds, found);
        if (wmi_rows[insn.id].memory == WMI_MEMORY_STORE || wmi_rows[insn.id].memory == WMI_MEMORY_ATOMIC)
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
    struct search search = {.code = code, .lds = lds, .left = LOOP};
    struct wmi_race_load found = {0};
    if (!wmi_code_decode(code, pc, &search.load))
        return found;
    const uint64_t next = pc + 4u * search.load.dwords;
    if (!is_in_loop(code, pc, lds, &found))
        is_repeated(&search, next, &found);
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
    if (!flow.branches || flow.distance >= 0 || !wmi_loop_only_waits(code, first, pc, true))
        return loop;
    for (uint64_t at = first; at < pc && wmi_code_decode(code, at, &insn); at += 4u * insn.dwords) {
        const struct wmi_row *row = &wmi_rows[insn.id];
        loop.lds |= row->memory == WMI_MEMORY_LOAD && row->class == WMI_CLASS_DS;
        loop.memory |= row->memory == WMI_MEMORY_LOAD && row->class != WMI_CLASS_DS;
    }
    return loop;
}
