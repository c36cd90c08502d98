/* SPDX-License-Identifier: MIT */
/* What the scalar cache reports (--scalar-cache check), as findings of a check. */
#ifndef WAVEMEM_TOOL_CHECK_STALE_H
#define WAVEMEM_TOOL_CHECK_STALE_H

#include "wavemem/wavemem.h"

#include <jansson.h>

/* Where the instruction is, and in which launch of the check. */
struct tool_stale_place {
    struct wm_machine *machine;
    const struct wm_object *object;
    const struct wm_kernel *kernel;
    uint32_t launch;
};

/* Returns it as a finding of class "wait", in the form of tool_json_findings(). */
json_t *tool_stale_finding(const struct tool_stale_place *place, const struct wm_stale *stale);

#endif
