/* SPDX-License-Identifier: MIT */
/* Where the apertures of FLAT instructions are. */
#include "exec/memory/apertures.h"

#include "memory/space.h"

/* FLAT addresses that contain the lane have an aperture of 58 bits. Source: CDNA 5 ISA, "Flat Addressing". */
static uint64_t private_size(const struct wmi_target *target)
{
    return wmi_target_limit(target, WMI_LIMIT_scratch_shared) ? UINT64_C(1) << 58 : UINT64_C(1) << 32;
}

static struct wmi_apertures at(const struct wmi_target *target, uint64_t shared, uint64_t private)
{
    return (struct wmi_apertures){shared, shared + UINT32_MAX, private, private + private_size(target) - 1};
}

struct wmi_apertures wmi_apertures_of(const struct wmi_target *target)
{
    return at(target, (uint64_t)wmi_target_limit(target, WMI_LIMIT_shared_aperture) << 32,
              (uint64_t)wmi_target_limit(target, WMI_LIMIT_private_aperture) << 32);
}

/* The fast steps of FLAT rely on it that no allocation is within reach of an aperture: there are 4 GiB
 * between the canonical addresses and the first and the last aperture. */
static bool may_be_aperture(uint64_t base)
{
    return (uint32_t)base == 0 && base >= WMI_SPACE_HALF + (UINT64_C(1) << 32) &&
           base < -WMI_SPACE_HALF - (UINT64_C(1) << 32);
}

enum wm_status wmi_apertures_set(const struct wmi_target *target, uint64_t shared_base, uint64_t private_base,
                                 struct wmi_apertures *apertures, struct wm_diag *diag)
{
    if (!wmi_target_limit(target, WMI_LIMIT_shared_aperture))
        return wmi_fail(diag, WM_UNSUPPORTED, "%s has no FLAT instructions, and so no apertures",
                        wmi_target_name(target));
    if (!may_be_aperture(shared_base) || !may_be_aperture(private_base) ||
        shared_base - private_base < private_size(target))
        return wmi_fail(
            diag, WM_BAD_ARGUMENT,
            "apertures at 0x%llx and 0x%llx; expected two multiples of 2^32 that are no addresses "
            "of memory (from 0x800100000000 to 0xffff7ffe00000000)",
            (unsigned long long)shared_base, (unsigned long long)private_base);
    if (private_base % private_size(target))
        return wmi_fail(diag, WM_BAD_ARGUMENT, "private aperture at 0x%llx; expected a multiple of 0x%llx",
                        (unsigned long long)private_base, (unsigned long long)private_size(target));
    *apertures = at(target, shared_base, private_base);
    return WM_OK;
}
