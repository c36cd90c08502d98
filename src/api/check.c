/* SPDX-License-Identifier: MIT */
/* The public API: checks and fidelity reports. */
#include "check/check.h"

#include "api/machine.h"
#include "base/diag.h"
#include "isa/isa.h"
#include "profile/fidelity.h"

unsigned wm_check_known(void)
{
    return wmi_check_known();
}

enum wm_status wm_check_create(unsigned what, struct wm_check **check, struct wm_diag *diag)
{
    if (!check)
        return wmi_null(diag, __func__, "check");
    *check = NULL;
    if (!what || what & ~wmi_check_known())
        return wmi_fail(diag, WM_BAD_ARGUMENT,
                        "a check of 0x%x; expected bits of enum wm_check_what, of 0x%x", what,
                        wmi_check_known());
    *check = wmi_check_create(what);
    return *check ? WM_OK : wmi_fail(diag, WM_NO_MEMORY, "no memory for a check");
}

void wm_check_destroy(struct wm_check *check)
{
    if (!check || *wmi_check_busy(check))
        return;
    struct wmi_check_machine *seen = wmi_check_machine(check);
    if (seen->machine)
        wmi_machine_observers_remove(&seen->machine->observers, &seen->observer, NULL);
    wmi_check_destroy(check);
}

static void see_memory(void *check, const struct wm_event *event)
{
    wmi_check_memory(check, event);
}

enum wm_status wm_check_machine(struct wm_check *check, struct wm_machine *machine, struct wm_diag *diag)
{
    if (!check)
        return wmi_null(diag, __func__, "check");
    if (!machine)
        return wmi_null(diag, __func__, "machine");
    struct wmi_check_machine *seen = wmi_check_machine(check);
    if (seen->machine)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "the check watches a machine already");
    seen->observer = (struct wm_observer){
        .struct_size = sizeof seen->observer,
        .events = WM_EVENT_ALLOCATE | WM_EVENT_FREE | WM_EVENT_MAP | WM_EVENT_HOST_WRITE |
                  WM_EVENT_HOST_READ | WM_EVENT_HOST_POINTER,
        .user = check,
        .event = see_memory,
    };
    const enum wm_status status = wmi_machine_observers_add(&machine->observers, &seen->observer, diag);
    if (!status)
        seen->machine = machine;
    return status;
}

enum wm_status wm_check_shuffle(struct wm_check *check, const uint64_t *seeds, size_t count,
                                struct wm_diag *diag)
{
    if (!check || (count && !seeds))
        return wmi_null(diag, __func__, check ? "seeds" : "check");
    if (*wmi_check_busy(check))
        return wmi_fail(diag, WM_BAD_ARGUMENT, "the check observes a dispatch that is running");
    if (!wmi_check_does(check, WM_CHECK_PORTABILITY))
        return wmi_fail(diag, WM_BAD_ARGUMENT,
                        "the check does not look for portability (WM_CHECK_PORTABILITY)");
    for (size_t i = 0; i < count; i++)
        if (!seeds[i])
            return wmi_fail(diag, WM_BAD_ARGUMENT, "seed %zu is 0; expected a number above 0", i);
    return wmi_check_set_seeds(check, seeds, count)
               ? WM_OK
               : wmi_fail(diag, WM_NO_MEMORY, "no memory for %zu seeds", count);
}

enum wm_status wm_check_leaks(struct wm_check *check, struct wm_diag *diag)
{
    if (!check)
        return wmi_null(diag, __func__, "check");
    if (*wmi_check_busy(check))
        return wmi_fail(diag, WM_BAD_ARGUMENT, "the check observes a dispatch that is running");
    if (!wmi_check_machine(check)->machine)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "the check watches no machine: call wm_check_machine first");
    if (!wmi_check_leaks(check))
        return wmi_fail(diag, WM_BAD_ARGUMENT, "the check does not look for memory errors (WM_CHECK_MEMORY)");
    return wmi_check_incomplete(check) ? wmi_fail(diag, WM_NO_MEMORY, "%s", wmi_check_incomplete(check))
                                       : WM_OK;
}

enum wm_status wm_check_copied(struct wm_check *check, uint64_t to, uint64_t from, uint64_t size,
                               uint64_t *unwritten, struct wm_diag *diag)
{
    struct wmi_read_lock read_lock;
    uint64_t count = 0;
    if (!check)
        return wmi_null(diag, __func__, "check");
    struct wm_machine *machine = wmi_check_machine(check)->machine;
    if (!machine)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "the check watches no machine: call wm_check_machine first");
    const bool lies = wmi_machine_read_lock(machine, &read_lock, from, size);
    if (lies)
        count = wmi_check_copied(check, wmi_space_find(machine->space, from), to, from, size);
    wmi_rwlock_read_unlock(&read_lock);
    if (unwritten)
        *unwritten = count;
    return lies ? WM_OK
                : wmi_fail(diag, WM_OUT_OF_RANGE, "%llu bytes at 0x%llx do not lie in one allocation",
                           (unsigned long long)size, (unsigned long long)from);
}

const struct wm_finding *wm_check_findings(struct wm_check *check, size_t *count)
{
    if (count)
        *count = 0;
    return check && count && !*wmi_check_busy(check) ? wmi_check_findings(check, count) : NULL;
}

const struct wm_coverage *wm_check_coverage(struct wm_check *check, size_t *count)
{
    if (count)
        *count = 0;
    return check && count && !*wmi_check_busy(check) ? wmi_check_coverage(check, count) : NULL;
}

const struct wm_check_block *wm_check_blocks(struct wm_check *check, size_t row, size_t *count)
{
    if (count)
        *count = 0;
    return check && count && !*wmi_check_busy(check) ? wmi_check_blocks(check, row, count) : NULL;
}

/* ---- fidelity ---- */

enum wm_status wm_fidelity_create(struct wm_fidelity **fidelity, struct wm_diag *diag)
{
    if (!fidelity)
        return wmi_null(diag, __func__, "fidelity");
    *fidelity = wmi_fidelity_create();
    return *fidelity ? WM_OK : wmi_fail(diag, WM_NO_MEMORY, "no memory for a fidelity report");
}

void wm_fidelity_destroy(struct wm_fidelity *fidelity)
{
    if (fidelity && !*wmi_fidelity_busy(fidelity))
        wmi_fidelity_destroy(fidelity);
}

const struct wm_fidelity_row *wm_fidelity_rows(struct wm_fidelity *fidelity, size_t *count)
{
    if (count)
        *count = 0;
    return fidelity && count && !*wmi_fidelity_busy(fidelity) ? wmi_fidelity_rows(fidelity, count) : NULL;
}

const char *const *wm_fidelity_general(void)
{
    return wmi_fidelity_general;
}
