/* SPDX-License-Identifier: MIT */
/* Lowers intersections of rays with nodes of a BVH. */
#include "lower/classes.h"

/* Fills in the VGPRs of the address: a list, or consecutive ones. */
static bool lower_address(struct wmi_builder *b, const struct wmi_instruction *insn,
                          const struct wmi_operand *addr, uint8_t registers[WMI_RAY_ADDRESS])
{
    uint8_t list[WMI_RAY_ADDRESS];
    const unsigned listed =
        wmi_image_address(wmi_builder_target(b), insn, (unsigned)(addr - insn->operand), list, sizeof list);
    bool ok = addr->dwords <= WMI_RAY_ADDRESS;
    for (unsigned i = 0; ok && i < addr->dwords; i++) {
        const unsigned reg = listed ? list[i] : addr->reg + i;
        ok = reg < 256;
        wmi_lower_vgpr(b, reg, 1, &ok);
        registers[i] = (uint8_t)reg;
    }
    return ok;
}

bool wmi_lower_ray(struct wmi_builder *b, const struct wmi_instruction *insn)
{
    const struct wmi_operand *rsrc = wmi_operand(insn, WMI_ROLE_RSRC),
                             *addr = wmi_operand(insn, WMI_ROLE_ADDR),
                             *result = wmi_operand(insn, WMI_ROLE_D);
    const bool wide = insn->id == WMI_INSN_image_bvh64_intersect_ray, halves = insn->field[WMI_FIELD_a16];
    bool ok = true;
    if (!rsrc || !addr || !result || addr->kind != WMI_OPERAND_VGPR || result->kind != WMI_OPERAND_VGPR)
        return false;
    struct wmi_step step = {.lanes = offsetof(struct wmi_frame, exec),
                            .a = wmi_lower_vgpr(b, 0, 1, &ok),
                            .b = wmi_lower_scalar(b, rsrc),
                            .d = wmi_lower_vgpr(b, result->reg, result->dwords, &ok)};
    struct wmi_memory_op *m = wmi_builder_memory_op(b, insn);
    if (!ok || !lower_address(b, insn, addr, m->address))
        return false;
    m->image = wmi_builder_images(b);
    m->parameter = (wide ? WMI_RAY_WIDE : 0) | (halves ? WMI_RAY_HALVES : 0) |
                   (wmi_builder_limit(b, WMI_LIMIT_ray_pairs) ? WMI_RAY_PAIRS : 0);
    step.data = m;
    wmi_emit_watch(b, WMI_STEP_ray_watch, &step);
    wmi_emit_as(b, WMI_STEP_ray, &step);
    return true;
}
