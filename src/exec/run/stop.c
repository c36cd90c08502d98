/* SPDX-License-Identifier: MIT */
/* Ends a dispatch early, and cancels the workgroups that need not run any more. */
#include "exec/run/executor.h"
#include "exec/run/workgroup.h"

#include <string.h>

/* Keeps the fault if no lower workgroup has one, and cancels higher workgroups. In a deadlock no workgroup is
 * cancelled, because each executor reports its own. */
void wmi_report_wave_fault(struct wmi_executor *executor, uint64_t group, uint32_t wave)
{
    struct wmi_dispatch *dispatch = executor->steps.dispatch;
    const bool deadlock = executor->steps.fault.kind == WM_FAULT_DEADLOCK;
    pthread_mutex_lock(&dispatch->lock);
    const unsigned known = dispatch->fault.kind;
    /* After another fault, workgroups may wait for those that it has stopped; such a deadlock is not
     * reported. */
    if (known == WM_FAULT_NONE ||
        (group < dispatch->fault_group && (!deadlock || known == WM_FAULT_DEADLOCK))) {
        dispatch->fault = executor->steps.fault;
        dispatch->fault_group = group;
        dispatch->fault_wave = wave;
        if (!deadlock && group < __atomic_load_n(&dispatch->stop_at, __ATOMIC_RELAXED))
            __atomic_store_n(&dispatch->stop_at, group, __ATOMIC_RELAXED);
    }
    pthread_mutex_unlock(&dispatch->lock);
}

/* Stops the dispatch for a reason that concerns no workgroup in particular. */
void wmi_stop_all(struct wmi_executor *executor, enum wm_fault_kind kind, uint64_t pc, uint64_t group,
                  uint32_t wave)
{
    executor->steps.fault = (struct wmi_fault){.kind = kind, .pc = pc};
    wmi_report_wave_fault(executor, group, wave);
    __atomic_store_n(&executor->steps.dispatch->stop_at, 0, __ATOMIC_RELAXED);
}

void wmi_suspend_reading(struct wmi_executor *executor)
{
    wmi_rwlock_suspend(executor->read_lock);
}

void wmi_resume_reading(struct wmi_executor *executor)
{
    if (wmi_rwlock_resume(executor->read_lock))
        memset(executor->steps.hits, 0, sizeof executor->steps.hits);
}

/* Whether the fault of a lower workgroup, or the end of the whole dispatch, cancels this workgroup. */
bool wmi_is_cancelled(const struct wmi_workgroup *group)
{
    return __atomic_load_n(&group->dispatch->stop_at, __ATOMIC_RELAXED) <= group->flat_id;
}
