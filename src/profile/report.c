/* SPDX-License-Identifier: MIT */
/* What a profile reports of the dispatches so far: made when it is first asked for. */
#include "profile/report.h"
#include "profile/advice/findings.h"
#include "profile/kernels.h"
#include "profile/rows.h"

#include <stdlib.h>

void wmi_report_forget(struct wm_profile *profile)
{
    free(profile->rows);
    free(profile->row_slots);
    free(profile->kernel_rows);
    wmi_findings_free(&profile->findings);
    profile->rows = NULL;
    profile->row_slots = NULL;
    profile->kernel_rows = NULL;
    profile->row_count = profile->kernel_row_count = 0;
    profile->reported = false;
}

static bool report(struct wm_profile *profile)
{
    if (profile->reported)
        return true;
    profile->reported = wmi_kernels_make(profile) && wmi_rows_make(profile) && wmi_findings_make(profile);
    if (!profile->reported)
        wmi_report_forget(profile);
    return profile->reported;
}

const struct wm_profile_row *wmi_profile_rows(struct wm_profile *profile, size_t *count)
{
    *count = report(profile) ? profile->row_count : 0;
    return profile->count ? profile->rows : NULL;
}

const struct wm_profile_kernel *wmi_profile_kernels(struct wm_profile *profile, size_t *count)
{
    *count = report(profile) ? profile->kernel_row_count : 0;
    return profile->kernel_count ? profile->kernel_rows : NULL;
}

const struct wm_profile_finding *wmi_profile_findings(struct wm_profile *profile, size_t *count)
{
    *count = report(profile) ? profile->findings.count : 0;
    return profile->kernel_count ? profile->findings.shown : NULL;
}
