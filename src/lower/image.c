/* SPDX-License-Identifier: MIT */
/* Lowers image instructions. */
#include "memory/image.h"
#include "lower/classes.h"

/* The address rows: a register list (NSA) or consecutive registers. Before gfx10 the number of coordinates
 * depends on the T#'s type, so up to four rows are passed. */
static bool lower_address(struct wmi_builder *b, const struct wmi_target *target,
                          const struct wmi_instruction *insn, struct wmi_step *step, uint8_t *count)
{
    const struct wmi_operand *addr = wmi_operand(insn, WMI_ROLE_ADDR);
    uint8_t list[WMI_IMAGE_COORDINATES];
    uint32_t *const rows[WMI_IMAGE_COORDINATES] = {&step->a, &step->e, &step->x, &step->y};
    bool ok = true;
    if (!addr || addr->kind != WMI_OPERAND_VGPR)
        return false;
    unsigned wanted = wmi_image_address(target, insn, (unsigned)(addr - insn->operand), list, sizeof list);
    const bool listed = wanted != 0;
    if (!listed)
        wanted = wmi_builder_limit(b, WMI_LIMIT_image_dim) ? addr->dwords : WMI_IMAGE_COORDINATES;
    if (wanted > WMI_IMAGE_COORDINATES)
        return false;
    for (unsigned i = 0; i < wanted; i++) {
        const unsigned reg = listed ? list[i] : addr->reg + i;
        if (i && !listed && reg >= wmi_builder_vgprs(b))
            break; /* not needed by an image with fewer coordinates */
        *rows[i] = wmi_lower_vgpr(b, reg, 1, &ok);
        *count = (uint8_t)(i + 1);
    }
    return ok;
}

/* more: additional rows after the operand's. */
static bool lower_data(struct wmi_builder *b, const struct wmi_operand *operand, unsigned more,
                       uint32_t *offset)
{
    bool ok = true;
    if (!operand)
        return true;
    if (operand->kind != WMI_OPERAND_VGPR)
        return false;
    *offset = wmi_lower_vgpr(b, operand->reg, operand->dwords + more, &ok);
    return ok;
}

bool wmi_lower_image(struct wmi_builder *b, const struct wmi_instruction *insn)
{
    const struct wmi_row *row = &wmi_rows[insn->id];
    const struct wmi_operand *rsrc = wmi_operand(insn, WMI_ROLE_RSRC);
    if (row->counts == WMI_COUNTS_TENSOR)
        return wmi_lower_tensor(b, insn);
    if (wmi_operand(insn, WMI_ROLE_SAMP))
        return wmi_lower_sample(b, insn);
    if (insn->id == WMI_INSN_image_bvh_intersect_ray || insn->id == WMI_INSN_image_bvh64_intersect_ray)
        return wmi_lower_ray(b, insn);
    const struct wmi_operand *data = wmi_operand(insn, WMI_ROLE_DATA);
    const struct wmi_operand *result = wmi_operand(insn, WMI_ROLE_D);
    const int32_t *field = insn->field;
    const bool nsa = wmi_builder_limit(b, WMI_LIMIT_image_dim);
    struct wmi_step step = {.lanes = offsetof(struct wmi_frame, exec)};
    struct wmi_image_request r = {
        .dmask = (uint8_t)field[WMI_FIELD_dmask],
        .operation = wmi_lower_atomic(b, insn->id),
        .dim = nsa ? (uint8_t)(field[WMI_FIELD_dim] & 7) : WMI_IMAGE_DIM_TYPE,
        .array = field[WMI_FIELD_da],
        .a16 = field[WMI_FIELD_a16],
        .r128 = field[WMI_FIELD_r128],
        .level = row->flags & WMI_ROW_LOD,
        .unpacked = wmi_builder_limit(b, WMI_LIMIT_unpacked_d16),
        .d16 = field[WMI_FIELD_d16],
        .status = field[WMI_FIELD_tfe] || field[WMI_FIELD_lwe],
        .raw = row->group == WMI_GROUP_PCK,
        .is_signed = row->flags & WMI_ROW_SIGNED,
        .msaa = row->group == WMI_GROUP_MSAA ? 1 + wmi_builder_limit(b, WMI_LIMIT_msaa_load) : WMI_MSAA_NO,
    };
    const bool status_of_lwe = field[WMI_FIELD_lwe] && !field[WMI_FIELD_tfe]; /* not included in the operand's
                                                                               * size */
    if (row->flags & WMI_ROW_TODO || !rsrc || !lower_data(b, data, 0, &step.c) ||
        !lower_data(b, result, status_of_lwe, &step.d) ||
        !lower_address(b, wmi_builder_target(b), insn, &step, &r.coordinates))
        return false;
    step.b = wmi_lower_scalar(b, rsrc);
    struct wmi_memory_op *m = wmi_builder_memory_op(b, insn);
    m->image = wmi_builder_images(b);
    if (m->kind == WMI_ACCESS_ATOMIC) {
        const unsigned dwords = (unsigned)__builtin_popcount(r.dmask);
        m->bytes = (uint8_t)(4 * (wmi_atomic_compares((enum wmi_atomic)r.operation) ? dwords / 2 : dwords));
        m->returns = data && data->written;
        step.d = step.c; /* the old value replaces the data */
        if (!wmi_atomic_has_width((enum wmi_atomic)r.operation, m->bytes)) /* DMASK chooses the width */
            return false;
    }
    memcpy(&m->parameter, &r, sizeof r);
    step.data = m;
    const bool access = insn->id != WMI_INSN_image_get_resinfo;
    if (access)
        wmi_emit_watch(b, WMI_STEP_image_watch, &step);
    wmi_emit_as(b,
                !access  ? WMI_STEP_image_resinfo
                : r.msaa ? WMI_STEP_image_samples
                         : WMI_STEP_image_access,
                &step);
    return true;
}
