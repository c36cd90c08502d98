/* SPDX-License-Identifier: MIT */
/* The causes of findings: what can be wrong with instructions or a kernel, what they would cost without it,
 * and how to say so. */
#ifndef WMI_PROFILE_CAUSES_H
#define WMI_PROFILE_CAUSES_H

#include "profile/advice/after.h"
#include "profile/advice/suspects.h"

/* What the instructions of a finding request together, now and after the change. */
struct wmi_affected {
    const struct wm_profile_kernel *kernel;
    const struct wmi_suspect *lead;   /* the most costly one */
    struct wm_profile_row now, after; /* sums of the counts that causes use; all else is 0 */
    size_t rows;
};

/* A cause in instructions. */
struct wmi_cause {
    const char *name;
    enum {
        WMI_EACH_LINE,
        WMI_EACH_FAMILY, /* a source line, and instructions that access common lines of memory */
        WMI_WHOLE_KERNEL,
    } scope; /* which instructions are one finding */
    /* After the change, the block of code around the instruction is executed as often as the instruction. */
    bool with_block;
    /* It is listed even if the kernel gains little, if most of the work of some part of the GPU is due to it.
     */
    bool listed;
    uint8_t unpacked; /* VALU instructions that the change adds, for each execution before the change */
    /* If the instruction suffers from it: changes the sums in *after, a copy of its row, to what they would
     * be.
     */
    bool (*improve)(const struct wmi_suspect *suspect, struct wm_profile_row *after);
    void (*say)(const struct wmi_affected *affected, struct wmi_texts *texts);
};

/* A cause in a kernel as a whole. Findings of it come last, since what they say follows from how the kernel
 * is started. */
struct wmi_kernel_cause {
    const char *name;
    /* If the kernel suffers from it: changes *after, which has the clocks of today. */
    bool (*improve)(const struct wmi_binding *binding, struct wmi_after *after);
    void (*say)(const struct wmi_binding *binding, struct wmi_texts *texts);
};

extern const struct wmi_cause wmi_causes[];
extern const size_t wmi_cause_count;
extern const struct wmi_kernel_cause wmi_kernel_causes[];
extern const size_t wmi_kernel_cause_count;

#endif
