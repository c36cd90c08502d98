/* SPDX-License-Identifier: MIT */
/* What the figures of a profile are of: dispatches, the code of the kernels, their sources. It is what a
 * report shows them beside, and goes into traces. */
#ifndef WMI_PROFILE_ORIGINS_H
#define WMI_PROFILE_ORIGINS_H

#include "profile/cost/bytes.h"
#include "wavemem/wavemem.h"

enum { WMI_ORIGINS_BYTES = 64 << 20 }; /* of code and sources; what is beyond is left out */

struct wmi_source_text {
    char *name, *text;
};

/* Starts at zero; strings and bytes are its own. */
struct wmi_origins {
    struct wm_profile_dispatch *dispatches;
    struct wm_profile_code *codes;
    struct wmi_source_text *sources;
    size_t dispatch_count, code_count, source_count;
    uint64_t bytes;
};

/* Each keeps copies; false: there is no memory or no room for it. */
bool wmi_origins_add_dispatch(struct wmi_origins *origins, const struct wm_profile_dispatch *dispatch);
bool wmi_origins_add_code(struct wmi_origins *origins, const struct wm_profile_code *code);
bool wmi_origins_add_source(struct wmi_origins *origins, const char *name, const char *text, size_t size);
void wmi_origins_free(struct wmi_origins *origins);

bool wmi_origins_has_code(const struct wmi_origins *origins, uint64_t pc);
const char *wmi_origins_source(const struct wmi_origins *origins, const char *name); /* NULL: none */

/* The payloads of their records in a trace. NULL, or what is wrong with it. */
void wmi_put_code(struct wmi_trace_bytes *bytes, const struct wm_profile_code *code);
void wmi_put_source(struct wmi_trace_bytes *bytes, const struct wmi_source_text *source);
const char *wmi_get_code(struct wmi_reader *reader, const char *target, struct wmi_origins *origins);
const char *wmi_get_source(struct wmi_reader *reader, struct wmi_origins *origins);

#endif
