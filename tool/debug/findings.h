/* SPDX-License-Identifier: MIT */
/* What `wavemem check' finds in the dispatch that is debugged, as places to go to. */
#ifndef WAVEMEM_DEBUG_FINDINGS_H
#define WAVEMEM_DEBUG_FINDINGS_H

#include "tool/debug/show.h"

/* Runs the dispatch to its end with a check of these classes ("race,uninit"; "": those of `wavemem check' and
 * float), prints what it finds, and goes to where the first finding was first seen. Without one the session
 * stays where it was. */
bool debug_go_to_finding(struct debug_session *s, const char *classes, struct wm_diag *diag);

/* Prints what the check has found since its dispatch of number `since', and goes to where the first of it was
 * seen. *found: there is something. */
bool debug_show_findings(struct debug_session *s, struct wm_check *check, uint32_t since, bool *found,
                         struct wm_diag *diag);

#endif
