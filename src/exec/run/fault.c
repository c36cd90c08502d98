/* SPDX-License-Identifier: MIT */
/* What a wave does when an access is refused: it stops, or goes on and remembers the violation. */
#include "exec/observe/hold.h"
#include "exec/run/executor.h"

const struct wmi_op *wmi_wave_fault(struct wmi_wave *wave, const struct wmi_fault *fault)
{
    wave->worker->fault = *fault;
    wave->state = WMI_WAVE_FAULTED;
    if (wave->worker->dispatch->holder)
        wmi_hold_at_fault(wave);
    return NULL;
}

/* Keeps the violation of the lower workgroup and wave, and of one wave the earlier one. */
void wmi_violation_add(struct wmi_violation *all, const struct wmi_violation *one)
{
    if (one->count &&
        (!all->count || one->group < all->group || (one->group == all->group && one->wave < all->wave))) {
        all->group = one->group;
        all->wave = one->wave;
        all->first = one->first;
    }
    all->count += one->count;
}

/* Page faults and violations of scalar memory instructions do not set MEM_VIOL. Source: CDNA 3 ISA, "Memory
 * Violations". */
bool wmi_wave_violates(struct wmi_wave *wave, const struct wmi_fault *fault)
{
    struct wmi_worker *worker = wave->worker;
    if (!worker->dispatch->goes_on) {
        wmi_wave_fault(wave, fault);
        return false;
    }
    wave->violated |= fault->kind != WM_FAULT_MEMORY && !fault->scalar;
    wmi_violation_add(&worker->violation,
                      &(struct wmi_violation){
                          .count = 1, .group = wave->group->flat_id, .wave = wave->index, .first = *fault});
    return true;
}
