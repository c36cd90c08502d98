/* SPDX-License-Identifier: MIT */
/* Immediates and modifiers that have a syntax of their own: waits, hwreg, messages, swizzles, DPP, SDWA, formats. */
#include "isa/tables.h"

static const char *const field_names[WMI_FIELD_COUNT] = {
#define FIELD(name, ...) #name,
#include "fields.def"
};

static void put_waitcnt(struct wmi_text *text, const struct wmi_target *target, uint32_t value)
{
    const uint32_t *limits = target->limits;
    const unsigned vm_high_bits = limits[WMI_LIMIT_vmcnt_bits] - 4;
    const unsigned vm_max = (1u << limits[WMI_LIMIT_vmcnt_bits]) - 1, exp_max = 7;
    const unsigned lgkm_max = (1u << limits[WMI_LIMIT_lgkmcnt_bits]) - 1;
    const unsigned vm = (value & 15) | (value >> 14 & ((1u << vm_high_bits) - 1)) << 4;
    const unsigned exp = value >> 4 & exp_max, lgkm = value >> 8 & lgkm_max;
    const bool all = vm == vm_max && exp == exp_max && lgkm == lgkm_max;
    const struct {
        const char *name;
        unsigned value, max;
    } counters[] = {{"vmcnt(", vm, vm_max}, {"expcnt(", exp, exp_max}, {"lgkmcnt(", lgkm, lgkm_max}};
    const char *separator = "";
    for (unsigned i = 0; i < 3; i++) {
        if (counters[i].value == counters[i].max && !all)
            continue;
        wmi_put(text, separator);
        wmi_put(text, counters[i].name);
        wmi_put_unsigned(text, counters[i].value);
        wmi_put(text, ")");
        separator = " ";
    }
}

void wmi_print_immediate(struct wmi_text *text, const struct wmi_target *target, const struct wmi_instruction *insn,
                         const struct wmi_spec *spec, const struct wmi_operand *operand)
{
    (void)insn;
    const uint32_t value = (uint32_t)operand->value;
    switch (spec->kind) {
    case WMI_KIND_simm16:
        wmi_put_hex(text, value & 0xffff);
        break;
    case WMI_KIND_label:
        wmi_put_signed(text, (int64_t)operand->value);
        break;
    case WMI_KIND_waitcnt:
        put_waitcnt(text, target, value);
        break;
    case WMI_KIND_smem_offset:
        wmi_put_hex(text, value);
        break;
    default:
        wmi_put_unsigned(text, value);
        break;
    }
}

void wmi_print_field(struct wmi_text *text, const struct wmi_target *target, const struct wmi_instruction *insn,
                     const struct wmi_field_spec *spec)
{
    (void)target;
    const int32_t value = insn->field[spec->field];
    switch (spec->show) {
    case WMI_SHOW_flag:
    case WMI_SHOW_clamp:
    case WMI_SHOW_high:
        if (!value)
            return;
        wmi_put(text, " ");
        wmi_put(text, field_names[spec->field]);
        break;
    case WMI_SHOW_num:
        if (!value)
            return;
        wmi_put(text, " ");
        wmi_put(text, field_names[spec->field]);
        wmi_put(text, ":");
        wmi_put_signed(text, value);
        break;
    case WMI_SHOW_always_hex:
        wmi_put(text, " ");
        wmi_put(text, field_names[spec->field]);
        wmi_put(text, ":");
        wmi_put_hex(text, (uint32_t)value);
        break;
    default:
        break;
    }
}
