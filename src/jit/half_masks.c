/* SPDX-License-Identifier: MIT */
#include "jit/half_masks.h"

/* Whether the sequence replaces the mask behind the current step. *splits: it writes a part of it. */
static bool is_replaced_in_sequence(const struct wmi_stretch *s, uint32_t place, bool *splits)
{
    const struct wmi_extent span = {place, place + s->lanes / 8};
    *splits = false;
    for (size_t i = s->at + 1; i < s->halves.end; i++) {
        const struct wmi_step *step = &s->block->steps[i];
        if (!wmi_vector_emitter(step) || !wmi_step_writes_scalars(step, span, s->lanes))
            continue;
        *splits = step->d != place && step->e != place;
        return true;
    }
    return false;
}

/* Whether something behind the sequence reads the mask, or one of its scalar steps, whose code follows it. */
static bool is_read_behind_sequence(const struct wmi_stretch *s, uint32_t place)
{
    const struct wmi_extent span = {place, place + s->lanes / 8};
    for (size_t i = s->at + 1; i < s->halves.end; i++)
        if (!wmi_vector_emitter(&s->block->steps[i]) &&
            wmi_step_reads_scalars(&s->block->steps[i], span, s->lanes))
            return true;
    return !wmi_stretch_drops_mask(s, place, s->halves.end - 1);
}

unsigned wmi_stretch_add_half_mask(struct wmi_stretch *s, uint32_t place)
{
    static const enum wmi_gpr reg[] = {WMI_RCX, WMI_R9, WMI_R11};
    const unsigned most = s->version == WMI_LAUNCH ? 2 : 3; /* code for waves that start needs R11 */
    bool splits;
    const bool is_collected =
        !is_replaced_in_sequence(s, place, &splits) && is_read_behind_sequence(s, place);
    unsigned collected = 0;
    for (unsigned i = 0; i < s->halves.masks; i++)
        collected += s->halves.mask[i].is_collected;
    if (splits || s->halves.masks == WMI_LANE_MASKS || (is_collected && collected == most))
        return WMI_LANE_MASKS;
    s->halves.mask[s->halves.masks] =
        (struct wmi_half_mask){place, is_collected, is_collected ? reg[collected] : WMI_RAX};
    return s->halves.masks++;
}

unsigned wmi_stretch_find_half_mask(const struct wmi_stretch *s, uint32_t place)
{
    for (unsigned i = s->by_halves ? s->halves.masks : 0; i-- > 0;)
        if (s->halves.mask[i].place == place)
            return i;
    return WMI_LANE_MASKS;
}
