/* SPDX-License-Identifier: MIT */
/* What `wavemem check' finds in the dispatch that is debugged, as places to go to. */
#ifndef WAVEMEM_DEBUG_FINDINGS_H
#define WAVEMEM_DEBUG_FINDINGS_H

#include "tool/debug/show.h"

/* Runs the dispatch to its end with a check of these classes ("race,uninit"; "": those of `wavemem check' and
 * float), prints what it finds, and goes to where the first finding was first seen. Without one the session
 * stays where it was. */
bool debug_go_to_finding(struct debug_session *s, const char *classes, struct wm_diag *diag);

#endif
