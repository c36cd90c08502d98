/* SPDX-License-Identifier: MIT */
/* Finds the slot of an instruction in a profile. */
#include "profile/slots.h"
#include "profile/inside.h"

/* Returns the index entry of the instruction, or where to insert it. The index is never full. */
uint32_t *wmi_profile_index(const struct wm_profile *profile, uint64_t pc, unsigned id)
{
    size_t at = (pc + id) * 0x9e3779b97f4a7c15ULL >> 32;
    for (;; at++) {
        uint32_t *entry = &profile->index[at % (2 * profile->capacity)];
        if (*entry == 0)
            return entry;
        const struct wmi_profiled *instruction = &profile->instructions[*entry - 1];
        if (instruction->row.pc == pc && instruction->id == id)
            return entry;
    }
}

uint32_t wmi_profile_slot(const struct wm_profile *profile, uint64_t pc, unsigned id)
{
    const uint32_t *entry = profile->capacity ? wmi_profile_index(profile, pc, id) : NULL;
    return entry && *entry ? *entry - 1 : WMI_NO_SLOT;
}

unsigned wmi_profile_lanes(const struct wm_profile *profile)
{
    return profile->source.wave_lanes ? profile->source.wave_lanes : 64;
}

uint32_t wmi_profile_slot_of(const struct wm_profile *profile, const struct wm_profile_row *row)
{
    return profile->row_slots[row - profile->rows];
}
