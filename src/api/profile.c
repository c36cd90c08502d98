/* SPDX-License-Identifier: MIT */
/* The public API: profiles. */
#include "profile/profile.h"

#include "base/diag.h"
#include "profile/origins.h"
#include "profile/trace/replay.h"

static const uint64_t MAX_CACHE = UINT64_C(1) << 32; /* bytes that a modelled cache may have */

enum wm_status wm_profile_create(struct wm_profile **profile, struct wm_diag *diag)
{
    if (!profile)
        return wmi_null(diag, __func__, "profile");
    *profile = wmi_profile_create();
    return *profile ? WM_OK : wmi_fail(diag, WM_NO_MEMORY, "no memory for a profile");
}

static bool makes_cache(const struct wm_cache *cache)
{
    const uint64_t way = (uint64_t)cache->line * cache->ways;
    return !cache->bytes || (way && !(cache->line & (cache->line - 1)) && cache->line >= 64 &&
                             cache->bytes <= MAX_CACHE && cache->bytes % way == 0);
}

enum wm_status wm_profile_set_gpu(struct wm_profile *profile, const struct wm_gpu *gpu, struct wm_diag *diag)
{
    static const char *const names[WM_CACHE_LEVELS] = {"vector cache",      "GL1", "scalar cache",
                                                       "instruction cache", "L2",  "last cache"};
    if (!profile || !gpu)
        return wmi_null(diag, __func__, profile ? "gpu" : "profile");
    if (wmi_profile_began(profile))
        return wmi_fail(diag, WM_BAD_ARGUMENT, "the product must be chosen before the first dispatch");
    for (unsigned level = 0; level < WM_CACHE_LEVELS; level++) {
        const struct wm_cache *cache = &gpu->cache[level];
        if (!makes_cache(cache))
            return wmi_fail(
                diag, WM_BAD_ARGUMENT,
                "%s of %llu bytes: expected a multiple of %u ways of lines of %u bytes, a power of "
                "two from 64 on",
                names[level], (unsigned long long)cache->bytes, cache->ways, cache->line);
    }
    wmi_profile_set_gpu(profile, gpu);
    return WM_OK;
}

/* Whether its figures can be had: not while a dispatch still adds to them. */
static bool can_tell(struct wm_profile *profile, size_t *count)
{
    if (count)
        *count = 0;
    return profile && count && !wmi_profile_use(profile)->running;
}

const struct wm_profile_kernel *wm_profile_kernels(struct wm_profile *profile, size_t *count)
{
    return can_tell(profile, count) ? wmi_profile_kernels(profile, count) : NULL;
}

const struct wm_profile_row *wm_profile_rows(struct wm_profile *profile, size_t *count)
{
    return can_tell(profile, count) ? wmi_profile_rows(profile, count) : NULL;
}

const struct wm_profile_dispatch *wm_profile_dispatches(struct wm_profile *profile, size_t *count)
{
    if (!can_tell(profile, count))
        return NULL;
    *count = wmi_profile_origins(profile)->dispatch_count;
    return wmi_profile_origins(profile)->dispatches;
}

const struct wm_profile_code *wm_profile_code(struct wm_profile *profile, size_t *count)
{
    if (!can_tell(profile, count))
        return NULL;
    *count = wmi_profile_origins(profile)->code_count;
    return wmi_profile_origins(profile)->codes;
}

const char *const *wm_bound_names(size_t *count)
{
    return count ? wmi_profile_parts(count) : NULL;
}

void wm_profile_destroy(struct wm_profile *profile)
{
    if (!profile || wmi_use_drop(wmi_profile_use(profile)))
        return;
    wmi_tracer_drop(wmi_profile_tracer(profile));
    wmi_profile_destroy(profile);
}
