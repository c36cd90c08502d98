/* SPDX-License-Identifier: MIT */
#include "jit/allocate.h"

#include <string.h>

struct scan {
    struct wmi_registers *registers;
    const struct wmi_ir *ir;
    const struct wmi_register_file *file;
    unsigned end[WMI_IR_MOST]; /* the last place where the value is used */
    uint16_t active[2 * 64];   /* values in registers */
    unsigned active_count;
    uint64_t free[2]; /* of scalars, of lanes */
};

static bool is_lanes(const struct wmi_ir *ir, unsigned number)
{
    return !wmi_ir_is_scalar(wmi_ir_type_of(&ir->insn[number]));
}

/* Instructions are executed in this order: first those for the wave, then those for lanes, again and again.
 */
static unsigned place_of(const struct wmi_ir *ir, unsigned number)
{
    return wmi_ir_is_once(ir, number) ? number : WMI_IR_MOST + number;
}

static void find_ends(struct scan *scan)
{
    enum { LOOP_END = 2 * WMI_IR_MOST };
    const struct wmi_ir *ir = scan->ir;
    for (unsigned i = ir->count; i-- > 0;) {
        const struct wmi_ir_insn *insn = &ir->insn[i];
        const bool has_value = wmi_ir_type_of(insn) != WMI_IR_NONE;
        scan->registers->unused[i] = insn->dead || (has_value && !scan->end[i]);
        if (scan->registers->unused[i])
            continue;
        for (unsigned k = 0; k < wmi_ir_arguments((enum wmi_ir_op)insn->op); k++) {
            const unsigned argument = insn->argument[k];
            const bool in_loop = !wmi_ir_is_once(ir, i) && wmi_ir_is_once(ir, argument);
            const unsigned place = in_loop ? LOOP_END : place_of(ir, i);
            if (!scan->file->takes(ir, insn, k) && scan->end[argument] < place)
                scan->end[argument] = place;
        }
    }
}

static void release_until(struct scan *scan, unsigned place)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < scan->active_count; i++) {
        const uint16_t value = scan->active[i];
        if (scan->end[value] > place)
            scan->active[kept++] = value;
        else
            scan->free[is_lanes(scan->ir, value)] |= UINT64_C(1) << scan->registers->reg[value];
    }
    scan->active_count = kept;
}

/* The value of the kind that is needed longest gives its register to the new one, or it is the new one
 * itself. */
static void spill(struct scan *scan, unsigned number)
{
    struct wmi_registers *a = scan->registers;
    unsigned longest = scan->active_count;
    for (unsigned i = 0; i < scan->active_count; i++)
        if (is_lanes(scan->ir, scan->active[i]) == is_lanes(scan->ir, number) &&
            scan->end[scan->active[i]] >
                scan->end[longest == scan->active_count ? number : scan->active[longest]])
            longest = i;
    if (longest == scan->active_count) {
        a->slot[number] = (uint16_t)a->slots++;
        return;
    }
    const unsigned loser = scan->active[longest];
    a->reg[number] = a->reg[loser];
    a->reg[loser] = WMI_IN_SLOT;
    a->slot[loser] = (uint16_t)a->slots++;
    scan->active[longest] = (uint16_t)number;
}

static void give_register(struct scan *scan, unsigned number)
{
    uint64_t *free = &scan->free[is_lanes(scan->ir, number)];
    release_until(scan, place_of(scan->ir, number));
    if (!*free) {
        spill(scan, number);
        return;
    }
    scan->registers->reg[number] = (uint8_t)__builtin_ctzll(*free);
    *free &= *free - 1;
    scan->active[scan->active_count++] = (uint16_t)number;
}

void wmi_allocate(struct wmi_registers *registers, const struct wmi_ir *ir,
                  const struct wmi_register_file *file)
{
    struct scan scan = {.registers = registers, .ir = ir, .file = file, .free = {file->words, file->lanes}};
    memset(registers->reg, WMI_IN_SLOT, sizeof registers->reg);
    memset(registers->slot, 0xff, sizeof registers->slot);
    registers->slots = 0;
    find_ends(&scan);
    for (unsigned pass = 0; pass < 2; pass++)
        for (unsigned i = 0; i < ir->count; i++)
            if (wmi_ir_is_once(ir, i) == !pass && !registers->unused[i] &&
                wmi_ir_type_of(&ir->insn[i]) != WMI_IR_NONE)
                give_register(&scan, i);
}
