/* SPDX-License-Identifier: MIT */
/* Registers of an instruction: its operands, and VCC, EXEC and M0 as given by the row's flags. */
#include "isa/rules/registers.h"

#include <stdio.h>

/* The number of an operand's first register; -1: not a register. */
static int first_of(const struct wmi_operand *operand)
{
    static const int16_t specials[WMI_SPECIAL_COUNT] = {
        [WMI_SPECIAL_VCC] = WMI_REGISTER_VCC,
        [WMI_SPECIAL_VCC_LO] = WMI_REGISTER_VCC,
        [WMI_SPECIAL_VCC_HI] = WMI_REGISTER_VCC + 1,
        [WMI_SPECIAL_EXEC] = WMI_REGISTER_EXEC,
        [WMI_SPECIAL_EXEC_LO] = WMI_REGISTER_EXEC,
        [WMI_SPECIAL_EXEC_HI] = WMI_REGISTER_EXEC + 1,
        [WMI_SPECIAL_M0] = WMI_REGISTER_M0,
        [WMI_SPECIAL_FLAT_SCRATCH] = WMI_REGISTER_FLAT_SCRATCH,
        [WMI_SPECIAL_FLAT_SCRATCH_LO] = WMI_REGISTER_FLAT_SCRATCH,
        [WMI_SPECIAL_FLAT_SCRATCH_HI] = WMI_REGISTER_FLAT_SCRATCH + 1,
        [WMI_SPECIAL_XNACK_MASK] = WMI_REGISTER_XNACK_MASK,
        [WMI_SPECIAL_XNACK_MASK_LO] = WMI_REGISTER_XNACK_MASK,
        [WMI_SPECIAL_XNACK_MASK_HI] = WMI_REGISTER_XNACK_MASK + 1,
    };
    switch (operand->kind) {
    case WMI_OPERAND_SGPR:
        return operand->reg;
    case WMI_OPERAND_TTMP:
        return WMI_REGISTER_TTMP + operand->reg;
    case WMI_OPERAND_VGPR:
        return WMI_REGISTER_VGPR + operand->reg;
    case WMI_OPERAND_AGPR:
        return WMI_REGISTER_AGPR + operand->reg;
    case WMI_OPERAND_SPECIAL:
        return specials[operand->reg] ? specials[operand->reg] : -1;
    default:
        return -1;
    }
}

/* Truncates a tuple at the end of its register file. */
static uint16_t within_file(unsigned first, unsigned count)
{
    static const uint16_t ends[] = {WMI_REGISTER_VGPR, WMI_REGISTER_AGPR, WMI_REGISTER_FLAT_SCRATCH,
                                    WMI_REGISTER_COUNT};
    unsigned file = 0;
    while (first >= ends[file])
        file++;
    return (uint16_t)(first + count < ends[file] ? count : ends[file] - first);
}

static bool is_vector(const struct wmi_row *row)
{
    return row->class != WMI_CLASS_SALU && row->class != WMI_CLASS_CONTROL && row->class != WMI_CLASS_SMEM;
}

/* The registers of an image address that is a list, one span each; 0: it is no list. */
static unsigned listed(const struct wmi_target *target, const struct wmi_instruction *insn, unsigned operand,
                       struct wmi_span_of_registers *spans)
{
    uint8_t registers[WMI_IMAGE_ADDRESS];
    if (wmi_rows[insn->id].class != WMI_CLASS_IMAGE || insn->operand[operand].role != WMI_ROLE_ADDR)
        return 0;
    const unsigned count = wmi_image_address(target, insn, operand, registers, sizeof registers);
    for (unsigned i = 0; i < count && i < WMI_IMAGE_ADDRESS; i++)
        spans[i] = (struct wmi_span_of_registers){.first = (uint16_t)(WMI_REGISTER_VGPR + registers[i]),
                                                  .count = 1,
                                                  .role = WMI_ROLE_ADDR,
                                                  .read = true};
    return count < WMI_IMAGE_ADDRESS ? count : WMI_IMAGE_ADDRESS;
}

unsigned wmi_registers_of(const struct wmi_target *target, const struct wmi_instruction *insn,
                          struct wmi_span_of_registers spans[WMI_SPANS])
{
    const struct wmi_row *row = &wmi_rows[insn->id];
    const uint32_t flags = row->flags | (insn->second_id ? wmi_rows[insn->second_id].flags : 0);
    const struct {
        uint32_t reads, writes;
        uint16_t first;
        bool masks;
    } implied[] = {
        {WMI_ROW_READS_VCC, WMI_ROW_WRITES_VCC, WMI_REGISTER_VCC, false},
        {WMI_ROW_READS_EXEC, WMI_ROW_WRITES_EXEC, WMI_REGISTER_EXEC,
         is_vector(row) && row->memory != WMI_MEMORY_CONTROL && !(flags & WMI_ROW_IGNORES_EXEC)},
        {WMI_ROW_READS_M0, 0, WMI_REGISTER_M0, false},
    };
    unsigned count = 0;
    for (unsigned i = 0; i < insn->operands + insn->second_operands; i++) {
        const struct wmi_operand *operand = &insn->operand[i];
        const int first = first_of(operand);
        const unsigned more = first < 0 ? 0 : listed(target, insn, i, spans + count);
        count += more;
        if (first < 0 || more)
            continue;
        spans[count++] = (struct wmi_span_of_registers){
            .first = (uint16_t)first,
            .count = within_file((unsigned)first, operand->dwords ? operand->dwords : 1),
            .role = operand->role,
            .read = operand->read || (operand->role == WMI_ROLE_D && flags & WMI_ROW_MACC),
            .written = operand->written,
        };
    }
    for (size_t i = 0; i < sizeof implied / sizeof *implied; i++) {
        const bool read = flags & implied[i].reads || implied[i].masks, written = flags & implied[i].writes;
        if (read || written)
            spans[count++] = (struct wmi_span_of_registers){
                .first = implied[i].first,
                .count = implied[i].first == WMI_REGISTER_M0 ? 1 : 2,
                .read = read,
                .written = written,
            };
    }
    return count;
}

void wmi_register_name(unsigned number, char *text, size_t size)
{
    static const struct {
        uint16_t first;
        const char *name;
    } kinds[] = {{WMI_REGISTER_AGPR, "a"}, {WMI_REGISTER_VGPR, "v"}};
    static const struct {
        uint16_t number;
        const char *name;
    } others[] = {{WMI_REGISTER_VCC, "vcc_lo"},
                  {WMI_REGISTER_VCC + 1, "vcc_hi"},
                  {WMI_REGISTER_M0, "m0"},
                  {WMI_REGISTER_EXEC, "exec_lo"},
                  {WMI_REGISTER_EXEC + 1, "exec_hi"},
                  {WMI_REGISTER_FLAT_SCRATCH, "flat_scratch_lo"},
                  {WMI_REGISTER_FLAT_SCRATCH + 1, "flat_scratch_hi"},
                  {WMI_REGISTER_XNACK_MASK, "xnack_mask_lo"},
                  {WMI_REGISTER_XNACK_MASK + 1, "xnack_mask_hi"},
                  {WMI_REGISTER_TRANSLATION, "address translation"},
                  {WMI_REGISTER_SCRATCH, "scratch memory"}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (others[i].number == number) {
            snprintf(text, size, "%s", others[i].name);
            return;
        }
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (number >= kinds[i].first) {
            snprintf(text, size, "%s%u", kinds[i].name, number - kinds[i].first);
            return;
        }
    if (number >= WMI_REGISTER_TTMP)
        snprintf(text, size, "ttmp%u", number - WMI_REGISTER_TTMP);
    else
        snprintf(text, size, "s%u", number);
}
