/* SPDX-License-Identifier: MIT */
/* Loads that transpose a matrix: which elements they have, and the steps that move them to their lanes. */
#include "lower/classes.h"

static const struct {
    uint16_t id;
    struct wmi_transpose is;
} rows[] = {{WMI_INSN_ds_read_b64_tr_b16, {16, 4, WMI_STEP_lds_transpose, false}},
            {WMI_INSN_ds_read_b64_tr_b8, {8, 8, WMI_STEP_lds_transpose, false}},
            {WMI_INSN_ds_read_b64_tr_b4, {4, 16, WMI_STEP_lds_transpose, false}},
            {WMI_INSN_ds_read_b96_tr_b6, {6, 16, WMI_STEP_lds_transpose, false}},
            {WMI_INSN_global_load_tr_b128, {16, 8, WMI_STEP_vmem_transpose, false}},
            {WMI_INSN_global_load_tr_b64, {8, 8, WMI_STEP_vmem_transpose, false}},
            {WMI_INSN_global_load_tr16_b128, {16, 8, WMI_STEP_wmma_transpose, false}},
            {WMI_INSN_global_load_tr8_b64, {8, 8, WMI_STEP_wmma_transpose, false}},
            {WMI_INSN_global_load_tr6_b96, {6, 16, WMI_STEP_wmma_transpose, false}},
            {WMI_INSN_global_load_tr4_b64, {4, 16, WMI_STEP_wmma_transpose, false}},
            {WMI_INSN_ds_load_tr16_b128, {16, 8, WMI_STEP_wmma_transpose, true}},
            {WMI_INSN_ds_load_tr8_b64, {8, 8, WMI_STEP_wmma_transpose, true}},
            {WMI_INSN_ds_load_tr6_b96, {6, 16, WMI_STEP_wmma_transpose, true}},
            {WMI_INSN_ds_load_tr4_b64, {4, 16, WMI_STEP_wmma_transpose, true}}};

struct wmi_transpose wmi_lower_transpose(unsigned id)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].id == id)
            return rows[i].is;
    return (struct wmi_transpose){0};
}

static bool is_multicast(unsigned id)
{
    switch (id) {
    case WMI_INSN_cluster_load_b32:
    case WMI_INSN_cluster_load_b64:
    case WMI_INSN_cluster_load_b128:
    case WMI_INSN_cluster_load_async_to_lds_b8:
    case WMI_INSN_cluster_load_async_to_lds_b32:
    case WMI_INSN_cluster_load_async_to_lds_b64:
    case WMI_INSN_cluster_load_async_to_lds_b128:
        return true;
    default:
        return false;
    }
}

void wmi_lower_multicast(struct wmi_builder *b, unsigned id, struct wmi_step *load)
{
    if (!is_multicast(id))
        return;
    load->lanes = wmi_lower_lane_set(b);
    wmi_emit(b, WMI_STEP_vmem_multicast_lanes)->d = load->lanes;
}

uint32_t wmi_lower_all_lanes(struct wmi_builder *b)
{
    const uint32_t lanes = wmi_lower_lane_set(b);
    wmi_emit(b, WMI_STEP_vmem_all_lanes)->d = lanes;
    return lanes;
}

void wmi_emit_transpose(struct wmi_builder *b, const struct wmi_transpose *transpose, uint32_t from,
                        uint32_t to, uint32_t lanes)
{
    struct wmi_step *op = wmi_emit(b, transpose->step);
    op->d = to;
    op->a = from;
    op->x = transpose->bits;
    op->y = transpose->count;
    op->lanes = lanes;
}
