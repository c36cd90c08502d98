/* SPDX-License-Identifier: MIT */
#include "jit/sums.h"

#include "jit/live.h"

bool wmi_sum_has_scalar_base(const struct wmi_step *sum)
{
    return sum->id == WMI_STEP_fused_ADD_64_SCALARS_ALONE || sum->id == WMI_STEP_fused_ADD_64_SCALARS;
}

/* Whether the step is such a sum, of which nothing reads the carry. */
static bool is_sum(const struct wmi_stretch *s, size_t at)
{
    const struct wmi_step *step = &s->block->steps[at];
    switch ((int)step->id) {
    case WMI_STEP_fused_ADD_64_SCALAR:
    case WMI_STEP_fused_ADD_64_SCALARS:
        return wmi_stretch_drops_mask(s, step->y, at);
    case WMI_STEP_fused_ADD_64_SCALAR_ALONE:
    case WMI_STEP_fused_ADD_64_SCALARS_ALONE:
        return true;
    default:
        return false;
    }
}

uint32_t wmi_sum_base_row(const struct wmi_stretch *s, const struct wmi_step *sum)
{
    return wmi_stretch_is_uniform(s, sum->c) ? sum->c : sum->e;
}

bool wmi_is_address(const struct wmi_stretch *s, size_t at)
{
    const struct wmi_block *block = s->block;
    const struct wmi_step *sum = &block->steps[at], *access = sum + 1;
    if (at + 1 >= s->end || block->leads[at + 1] || !is_sum(s, at) || !wmi_memory_emitter(access) ||
        (access->use[WMI_OP_A] & WMI_USE_COUNT) != 2 || access->a != sum->d ||
        sum->x != sum->d + s->row_bytes)
        return false;
    const struct wmi_extent loaded = wmi_step_span(access, WMI_OP_D, s->lanes),
                            stored = wmi_step_span(access, WMI_OP_C, s->lanes);
    const bool loads = access->use[WMI_OP_D] & WMI_USE_WRITE, stores = access->use[WMI_OP_C] & WMI_USE_READ;
    for (uint32_t row = sum->d; row <= sum->x; row += s->row_bytes) {
        const bool is_read = stores && row >= stored.from && row < stored.to,
                   is_replaced = loads && row >= loaded.from && row < loaded.to;
        if (row < block->code->vgpr_offset || is_read ||
            (!is_replaced && wmi_live_is(s->live, row, at + 2, false)))
            return false;
    }
    return true;
}

bool wmi_takes_sum(const struct wmi_stretch *s)
{
    const struct wmi_step *sum = &s->block->steps[s->at];
    uint32_t high;
    /* A wave that started in code with the sum may come here behind it. */
    if (s->has_points || !wmi_is_address(s, s->at))
        return false;
    if (wmi_sum_has_scalar_base(sum))
        return wmi_stretch_constant(s, sum->e, &high) && !high;
    const uint32_t base = wmi_sum_base_row(s, sum);
    return wmi_stretch_is_uniform(s, base) && base != sum->d && base != sum->x &&
           wmi_stretch_constant(s, base == sum->c ? sum->e : sum->c, &high) && !high;
}
