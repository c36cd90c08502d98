/* SPDX-License-Identifier: MIT */
/* Finds out, from its code alone, whether a kernel's workgroups may depend on one another: whether one can
 * learn what others of the same dispatch do. If none can, they do the same in whatever order they run. */
#ifndef WMI_DEPENDENCE_H
#define WMI_DEPENDENCE_H

#include "isa/isa.h"
#include "memory/space.h"
#include "wavemem/wavemem.h"

struct wmi_dependence_source {
    const struct wmi_target *target;
    const struct wmi_space *space; /* holds the code */
    uint64_t entry;
    bool unknown_calls; /* the kernel calls functions that its code does not name */
    /* Whether there is code at the address, or data; NULL: all is code. */
    bool (*is_code)(void *user, uint64_t address);
    void *user;
};

/* Code that no direct branch leads to: functions whose address the code computes, and where calls return to.
 */
struct wmi_entries {
    uint64_t *address; /* in ascending order */
    size_t count, capacity;
};

/* Fills in whether workgroups may depend on one another, and by which instruction: the first that is found.
 * If they do not, adds to `entries` unless it is NULL. False: no memory. */
bool wmi_dependence_find(const struct wmi_dependence_source *source, struct wm_dependence *dependence,
                         struct wmi_entries *entries);
void wmi_entries_free(struct wmi_entries *entries);

/* Whether the instruction changes memory, and nothing in the wave's registers tells what was there. */
bool wmi_only_changes_memory(const struct wmi_instruction *insn);

#endif
