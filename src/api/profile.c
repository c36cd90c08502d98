/* SPDX-License-Identifier: MIT */
/* The public API: profiles. */
#include "profile/profile.h"

#include "base/diag.h"
#include "profile/cost/gpu.h"
#include "profile/origins.h"
#include "profile/trace/replay.h"

enum wm_status wm_profile_create(struct wm_profile **profile, struct wm_diag *diag)
{
    if (!profile)
        return wmi_null(diag, __func__, "profile");
    *profile = wmi_profile_create();
    return *profile ? WM_OK : wmi_fail(diag, WM_NO_MEMORY, "no memory for a profile");
}

enum wm_status wm_profile_set_gpu(struct wm_profile *profile, const struct wm_gpu *gpu, struct wm_diag *diag)
{
    if (!profile || !gpu)
        return wmi_null(diag, __func__, profile ? "gpu" : "profile");
    if (wmi_profile_began(profile))
        return wmi_fail(diag, WM_BAD_ARGUMENT, "the product must be chosen before the first dispatch");
    const enum wm_status status = wmi_gpu_check(gpu, diag);
    if (!status)
        wmi_profile_set_gpu(profile, gpu);
    return status;
}

/* Whether its figures can be had: not while a dispatch still adds to them. */
static bool can_tell(struct wm_profile *profile, size_t *count)
{
    if (count)
        *count = 0;
    return profile && count && !*wmi_profile_busy(profile);
}

const struct wm_profile_kernel *wm_profile_kernels(struct wm_profile *profile, size_t *count)
{
    return can_tell(profile, count) ? wmi_profile_kernels(profile, count) : NULL;
}

const struct wm_profile_row *wm_profile_rows(struct wm_profile *profile, size_t *count)
{
    return can_tell(profile, count) ? wmi_profile_rows(profile, count) : NULL;
}

enum wm_status wm_profile_set_timeline(struct wm_profile *profile, struct wm_diag *diag)
{
    if (!profile)
        return wmi_null(diag, __func__, "profile");
    if (wmi_profile_began(profile))
        return wmi_fail(diag, WM_BAD_ARGUMENT, "timelines must be requested before the first dispatch");
    return wmi_profile_set_timelines(profile) ? WM_OK
                                              : wmi_fail(diag, WM_NO_MEMORY, "no memory for timelines");
}

const struct wm_timeline *wm_profile_timelines(struct wm_profile *profile, size_t *count)
{
    return can_tell(profile, count) ? wmi_profile_timelines(profile, count) : NULL;
}

const struct wm_profile_finding *wm_profile_findings(struct wm_profile *profile, size_t *count)
{
    return can_tell(profile, count) ? wmi_profile_findings(profile, count) : NULL;
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

const char *const *wm_cause_names(size_t *count)
{
    return count ? wmi_profile_causes(count) : NULL;
}

void wm_profile_destroy(struct wm_profile *profile)
{
    if (!profile || *wmi_profile_busy(profile))
        return;
    wmi_tracer_drop(wmi_profile_tracer(profile));
    wmi_profile_destroy(profile);
}
