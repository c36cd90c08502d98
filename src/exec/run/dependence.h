/* SPDX-License-Identifier: MIT */
/* Decides from the code of a kernel whether its workgroups may depend on one another: whether one can learn
 * what others of the same dispatch do. If none can, each does the same in whatever order they run. */
#ifndef WMI_DEPENDENCE_H
#define WMI_DEPENDENCE_H

#include "lower/scan.h"
#include "wavemem/wavemem.h"

struct wmi_dependence_source {
    const struct wmi_code *code;
    bool unknown_calls; /* the kernel calls functions that its code does not name */
    /* Whether there is code at the address, not data. */
    bool (*is_code)(void *user, uint64_t address);
    void *user;
};

/* Sets the kind of *dependence and its pc, the first instruction found by which workgroups may depend on one
 * another. Sets *entries: the kernel's entry and the code that no direct branch leads to (functions whose
 * address the code computes, and where calls return to), in an order that depends on the code only; complete
 * if there is no dependence. The caller frees the list, also without success. False: no memory. */
bool wmi_find_dependence(const struct wmi_dependence_source *source, struct wm_dependence *dependence,
                         struct wmi_place_list *entries);

/* Whether the instruction changes memory without telling the wave's registers what was there. */
bool wmi_only_changes_memory(const struct wmi_instruction *insn);

#endif
