/* SPDX-License-Identifier: MIT */
/* Targets by name and by ELF flags, their limits and names, and properties of types. */
#include "isa/tables.h"

#include <string.h>

/* EF_AMDGPU_MACH. Source: LLVM 19 AMDGPUUsage, "ELF Code Object", table of e_flags. */
enum { EF_AMDGPU_MACH = 0xff };

const struct wmi_target *wmi_target_of_mach(uint32_t e_flags)
{
    for (unsigned i = 0; i < wmi_target_count; i++)
        if (wmi_targets[i].mach == (e_flags & EF_AMDGPU_MACH))
            return &wmi_targets[i];
    return NULL;
}

const struct wmi_target *wmi_target_variant(const struct wmi_target *target, unsigned lanes, bool real_true16)
{
    for (unsigned i = 0; i < wmi_target_variants; i++) {
        const struct wmi_target *other = &wmi_targets[i];
        if (!strcmp(other->name, target->name) && other->limits[WMI_LIMIT_wave] == lanes &&
            other->real_true16 == real_true16)
            return other;
    }
    return NULL;
}

const struct wmi_target *wmi_target_of_mode(const struct wmi_target *target, bool real_true16)
{
    const struct wmi_target *other = wmi_target_variant(target, target->limits[WMI_LIMIT_wave], real_true16);
    const bool later = target >= wmi_targets_llvm22 && target < wmi_targets_llvm22 + wmi_target_variants;
    return other && later ? wmi_targets_llvm22 + (other - wmi_targets) : other;
}

/* Whether the target id `name` contains `feature` after a colon. */
static bool asks_for(const char *name, const char *feature)
{
    const size_t length = strlen(feature);
    for (const char *at = strchr(name, ':'); at; at = strchr(at + 1, ':'))
        if (!strncmp(at + 1, feature, length) && (!at[1 + length] || at[1 + length] == ':'))
            return true;
    return false;
}

/* Whether each word behind a colon is a feature: those of LLVM's target ids, and those that choose a variant.
 */
static bool has_known_features(const char *name)
{
    static const char *const features[] = {"xnack+", "xnack-", "sramecc+",    "sramecc-",
                                           "wave32", "wave64", "real-true16", "llvm22"};
    for (const char *at = strchr(name, ':'); at; at = strchr(at + 1, ':')) {
        const size_t length = strcspn(at + 1, ":");
        bool known = false;
        for (size_t i = 0; i < sizeof features / sizeof *features && !known; i++)
            known = strlen(features[i]) == length && !strncmp(features[i], at + 1, length);
        if (!known)
            return false;
    }
    return true;
}

const struct wmi_target *wmi_target_find(const char *name)
{
    if (!name || !has_known_features(name))
        return NULL;
    const size_t length = strcspn(name, ":");
    for (unsigned i = 0; i < wmi_target_count; i++) {
        const struct wmi_target *target = &wmi_targets[i];
        if (strlen(target->name) != length || strncmp(target->name, name, length))
            continue;
        const unsigned lanes = asks_for(name, "wave64")   ? 64
                               : asks_for(name, "wave32") ? 32
                                                          : target->limits[WMI_LIMIT_wave];
        if (!name[length])
            return target;
        const struct wmi_target *variant = wmi_target_variant(target, lanes, asks_for(name, "real-true16"));
        return variant && asks_for(name, "llvm22") ? wmi_targets_llvm22 + (variant - wmi_targets) : variant;
    }
    return NULL;
}

enum wmi_sramecc wmi_sramecc_of(const char *target_id)
{
    const struct wmi_target *target = wmi_target_find(target_id);
    if (!target || !target->limits[WMI_LIMIT_sramecc])
        return WMI_SRAMECC_UNSAID;
    return asks_for(target_id, "sramecc+")   ? WMI_SRAMECC_ON
           : asks_for(target_id, "sramecc-") ? WMI_SRAMECC_OFF
                                             : WMI_SRAMECC_UNSAID;
}

const char *wmi_target_name(const struct wmi_target *target)
{
    return target->name;
}

const char *wmi_target_generic(const struct wmi_target *target)
{
    const uint32_t generic = wmi_target_limit(target, WMI_LIMIT_generic);
    return generic ? wmi_target_name(wmi_target_of_mach(generic)) : NULL;
}

bool wmi_target_executes(const struct wmi_target *target, const char *name)
{
    const char *generic = wmi_target_generic(target);
    return !strcmp(name, wmi_target_name(target)) || (generic && !strcmp(name, generic));
}

uint32_t wmi_target_mach(const struct wmi_target *target)
{
    return target->mach;
}

uint32_t wmi_target_limit(const struct wmi_target *target, enum wmi_limit limit)
{
    return target->limits[limit];
}

const char *wmi_name_of(const struct wmi_target *target, enum wmi_name_group group, int32_t value)
{
    for (const struct wmi_name *name = target->names[group]; *name->text; name++)
        if (name->value == value)
            return name->text;
    return NULL;
}

unsigned wmi_type_bits(enum wmi_type type)
{
    static const uint16_t bits[WMI_TYPE_COUNT] = {
        0,
#define TYPE(name, bits, ...) bits,
#include "types.def"
    };
    return bits[type];
}

bool wmi_is_pair32(enum wmi_type type)
{
    return type == WMI_TYPE_v2b32 || type == WMI_TYPE_v2f32;
}
