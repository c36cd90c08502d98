/* SPDX-License-Identifier: MIT */
/* VGPRs selected by M0 at run time: VGPR indexing mode and v_movrel.
 *
 * Whole rows are copied: before the instruction from the selected registers to temporary rows (sources and
 * destinations), and after it from the destination's temporary rows back. ALU bodies need no changes.
 *
 * Source: Vega ISA and CDNA 1 ISA, "VGPR Indexing", with the table of special cases: a destination that is
 * also a source (v_mac, SDWA that preserves) uses the destination's enable bit, the second register of
 * v_madmk that of src2. Vega calls an out-of-range index illegal; we use the rule of CDNA 3 ISA,
 * "Out-of-Range Behavior", which "can occur through GPR-indexing"; RDNA 3 ISA, "VGPR Out of Range Behavior".
 */
#include "lower/index.h"

enum { ENABLE_SOURCE_0 = 12, ENABLE_SOURCE_1 = 13, ENABLE_SOURCE_2 = 14, ENABLE_DESTINATION = 15 };

/* VGPR indexing mode: adds M0[7:0] to the operands enabled in M0[15:12]. */
static struct wmi_index_rule mode_rule(const struct wmi_instruction *insn, const struct wmi_operand *operand)
{
    struct wmi_index_rule rule = {.shift = 0, .bits = 8};
    switch (operand->role) {
    case WMI_ROLE_A:
        rule.enable = ENABLE_SOURCE_0;
        break;
    case WMI_ROLE_B: /* addend of v_madmk, its third source */
        rule.enable = wmi_rows[insn->id].group == WMI_GROUP_MADMK ? ENABLE_SOURCE_2 : ENABLE_SOURCE_1;
        break;
    case WMI_ROLE_C:
        rule.enable = operand->implied ? ENABLE_DESTINATION : ENABLE_SOURCE_2;
        break;
    default:
        rule.enable = ENABLE_DESTINATION;
        break;
    }
    return rule;
}

/* v_movrel: adds all of M0, or one of two fields. Source: RDNA 1 ISA, VOP1 opcodes 66 to 72. */
static struct wmi_index_rule move_rule(const struct wmi_instruction *insn, const struct wmi_operand *operand)
{
    static const struct {
        uint16_t id;
        bool source, destination;
        uint8_t bits, destination_shift;
    } moves[] = {
        {WMI_INSN_v_movreld_b32, false, true, 32, 0}, {WMI_INSN_v_movrels_b32, true, false, 32, 0},
        {WMI_INSN_v_movrelsd_b32, true, true, 32, 0}, {WMI_INSN_v_movrelsd_2_b32, true, true, 10, 16},
        {WMI_INSN_v_swaprel_b32, true, true, 10, 16},
    };
    for (unsigned i = 0; i < sizeof moves / sizeof *moves; i++) {
        if (moves[i].id != insn->id)
            continue;
        const bool destination = operand->role == WMI_ROLE_D;
        if (destination ? !moves[i].destination : !moves[i].source)
            break;
        return (struct wmi_index_rule){.shift = destination ? moves[i].destination_shift : 0,
                                       .bits = moves[i].bits,
                                       .enable = WMI_INDEX_ALWAYS};
    }
    return (struct wmi_index_rule){0};
}

struct wmi_index_rule wmi_index_rule(const struct wmi_builder *b, const struct wmi_instruction *insn,
                                     const struct wmi_operand *operand)
{
    if (operand->kind != WMI_OPERAND_VGPR)
        return (struct wmi_index_rule){0};
    if (wmi_rows[insn->id].flags & WMI_ROW_READS_M0)
        return move_rule(insn, operand);
    return b->state & WMI_STATE_GPR_INDEX ? mode_rule(insn, operand) : (struct wmi_index_rule){0};
}

static void emit(struct wmi_builder *b, enum wmi_step_id id, const struct wmi_operand *operand,
                 struct wmi_index_rule rule, uint32_t rows)
{
    bool ok = true;
    struct wmi_step *step = wmi_emit(b, id);
    step->a = wmi_lower_vgpr(b, 0, 1, &ok);
    step->d = rows;
    step->x = operand->reg;
    step->y = operand->dwords;
    step->b = wmi_builder_vgprs(b);
    step->value = rule.shift | (uint64_t)rule.bits << 8 | (uint64_t)rule.enable << 16;
}

uint32_t wmi_lower_indexed(struct wmi_builder *b, const struct wmi_operand *operand,
                           struct wmi_index_rule rule)
{
    const uint32_t rows = wmi_lower_temporary(b, operand->dwords);
    emit(b, WMI_STEP_fetch_indexed, operand, rule, rows);
    return rows;
}

void wmi_lower_indexed_result(struct wmi_builder *b, const struct wmi_operand *operand,
                              struct wmi_index_rule rule, uint32_t rows)
{
    emit(b, WMI_STEP_put_indexed, operand, rule, rows);
}
