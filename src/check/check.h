/* SPDX-License-Identifier: MIT */
/* Checks: checkers that watch dispatches, and what they have found. */
#ifndef WMI_CHECK_H
#define WMI_CHECK_H

#include "check/checker.h"

enum { WMI_CHECKERS = 8 /* most that a check has, and its coverage */ };

/* All bits of enum wm_check_what that there is a checker for. */
unsigned wmi_check_known(void);
/* what: a mask of enum wm_check_what. Returns NULL if out of memory. */
struct wm_check *wmi_check_create(unsigned what);
void wmi_check_destroy(struct wm_check *check);
bool wmi_check_does(const struct wm_check *check, enum wm_check_what what); /* whether it was asked for */
bool *wmi_check_busy(struct wm_check *check); /* whether a dispatch is being checked */
/* Whether what it finds depends on the order of workgroups and waves, so that one thread must run them. */
bool wmi_check_in_order(const struct wm_check *check);

/* The seeds of the orders in which dispatches are repeated: none at first. False: no memory. */
bool wmi_check_set_seeds(struct wm_check *check, const uint64_t *seeds, size_t count);
const uint64_t *wmi_check_seeds(const struct wm_check *check, size_t *count);
/* Adds a finding of the dispatch, before wmi_check_end(). False: no memory. */
bool wmi_check_add(struct wm_check *check, const struct wmi_found *found);

struct wmi_check_observer {
    const struct wmi_observer *observer;
    const char *what; /* for texts */
};
/* Writes the observers of one dispatch, and returns how many there are. Sets dispatch->launch and ->lowered.
 */
unsigned wmi_check_begin(struct wm_check *check, struct wmi_check_dispatch *dispatch,
                         struct wmi_check_observer observers[WMI_CHECKERS]);
/* The program of the dispatch that begins, which the last one left; NULL: it is to be lowered. */
struct wmi_program *wmi_check_take_program(struct wm_check *check);
/* Keeps the program of the dispatch that has ended for the next one, or destroys it; NULL is allowed. */
void wmi_check_keep_program(struct wm_check *check, struct wmi_program *program);
/* Ends the dispatch and words its findings. inlined, variable: NULL if nobody knows. */
void wmi_check_end(struct wm_check *check, const struct wmi_check_ran *ran, wmi_describe *describe,
                   wmi_inlined_at *inlined, wmi_variable_at *variable, void *user);
const struct wm_coverage *wmi_check_coverage(const struct wm_check *check, size_t *count);
const struct wm_check_block *wmi_check_blocks(struct wm_check *check, size_t row, size_t *count);
/* Adds what checkers know of memory that has not been freed. False: no checker looks for that. */
bool wmi_check_leaks(struct wm_check *check);
const struct wm_finding *wmi_check_findings(struct wm_check *check, size_t *count);
/* Why the check did not see everything, or NULL. */
const char *wmi_check_incomplete(const struct wm_check *check);
/* Shows the checkers an event of the machine's memory. */
void wmi_check_memory(struct wm_check *check, const struct wm_event *event);
/* As wmi_checker.copied(). */
uint64_t wmi_check_copied(struct wm_check *check, const struct wmi_allocation *allocation, uint64_t to,
                          uint64_t from, uint64_t size);
/* The machine whose memory it sees and how it watches it, for the API. */
struct wmi_check_machine {
    struct wm_machine *machine; /* NULL: none */
    struct wm_observer observer;
};
struct wmi_check_machine *wmi_check_machine(struct wm_check *check);

#endif
