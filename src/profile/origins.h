/* SPDX-License-Identifier: MIT */
/* Origins of a profile's figures: dispatches, code of the kernels, source files. Reports show them with the
 * figures, and traces contain them. */
#ifndef WMI_PROFILE_ORIGINS_H
#define WMI_PROFILE_ORIGINS_H

#include "profile/cost/bytes.h"
#include "wavemem/wavemem.h"

enum { WMI_ORIGINS_BYTES = 64 << 20 }; /* limit for code and sources; the rest is omitted */

struct wmi_source_text {
    char *name, *text;
};

/* Initialize with zeros. Owns its strings and bytes. */
struct wmi_origins {
    struct wm_profile_dispatch *dispatches;
    struct wm_profile_code *codes;
    struct wmi_source_text *sources;
    size_t dispatch_count, code_count, source_count;
    uint64_t bytes;
};

/* Each stores a copy. False: out of memory, or the limit is reached. */
bool wmi_origins_add_dispatch(struct wmi_origins *origins, const struct wm_profile_dispatch *dispatch);
bool wmi_origins_add_code(struct wmi_origins *origins, const struct wm_profile_code *code);
bool wmi_origins_add_source(struct wmi_origins *origins, const char *name, const char *text, size_t size);
void wmi_origins_free(struct wmi_origins *origins);

bool wmi_origins_has_code(const struct wmi_origins *origins, uint64_t pc);
const char *wmi_origins_source(const struct wmi_origins *origins, const char *name); /* NULL: none */

/* Write and read the payloads of trace records. The readers return NULL, or a description of the error. */
void wmi_put_code(struct wmi_trace_bytes *bytes, const struct wm_profile_code *code);
void wmi_put_source(struct wmi_trace_bytes *bytes, const struct wmi_source_text *source);
const char *wmi_get_code(struct wmi_reader *reader, const char *target, struct wmi_origins *origins);
const char *wmi_get_source(struct wmi_reader *reader, struct wmi_origins *origins);

#endif
