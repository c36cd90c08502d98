/* SPDX-License-Identifier: MIT */
/* Ends a dispatch whose time is up, or whose caller asks for it. */
#include "exec/run/executor.h"
#include "exec/run/workgroup.h"

bool wmi_caller_goes_on(struct wmi_executor *executor)
{
    struct wmi_dispatch *dispatch = executor->steps.dispatch;
    wmi_suspend_reading(executor);
    const bool goes_on =
        dispatch->progress(dispatch->progress_user, __atomic_load_n(&dispatch->groups_done, __ATOMIC_RELAXED),
                           dispatch->run_count);
    wmi_resume_reading(executor);
    return goes_on;
}

/* Whether the time limit or the caller ends the dispatch now. Reports the reason as a fault of this
 * workgroup. */
bool wmi_must_stop(struct wmi_executor *executor, const struct wmi_resident *resident)
{
    struct wmi_dispatch *dispatch = executor->steps.dispatch;
    enum wm_fault_kind kind = WM_FAULT_NONE;
    if (dispatch->timeout > 0 && wmi_seconds() - dispatch->started > dispatch->timeout)
        kind = WM_FAULT_TIMEOUT;
    else if (executor->calls_progress && !wmi_caller_goes_on(executor))
        kind = WM_FAULT_STOPPED;
    if (kind == WM_FAULT_NONE)
        return false;
    const struct wmi_wave *wave = &resident->waves[0];
    for (unsigned i = 0; i < resident->group.wave_count; i++)
        if (resident->waves[i].state != WMI_WAVE_ENDED)
            wave = &resident->waves[i];
    const uint64_t pc = wave->state == WMI_WAVE_ENDED ? 0 : wmi_program_pc_of(wave->program, wave->resume);
    wmi_stop_all(executor, kind, pc, resident->group.flat_id, wave->index);
    return true;
}
