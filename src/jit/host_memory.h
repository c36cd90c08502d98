/* SPDX-License-Identifier: MIT */
/* Host code in memory that can be executed and not written. */
#ifndef WMI_HOST_MEMORY_H
#define WMI_HOST_MEMORY_H

#include "jit/compile.h"
#include "jit/host.h"

struct wmi_host_memory {
    struct wmi_host_memory *next;
    void *code;
    size_t size, used;
};

/* A step that is to lead to the code at this offset. */
struct wmi_patch {
    size_t step, code;
};

/* Adds a copy of the code to *memory and lets the steps lead to it. False: the host gave no memory, or
 * refuses to execute it (*refused). patches: with offsets in ascending order. */
bool wmi_publish_code(const struct wmi_host *host, const struct wmi_block *block,
                      const struct wmi_patch *patches, size_t count, struct wmi_host_memory **memory,
                      bool *refused);
/* The code at an offset as the body of a step. */
wmi_body wmi_body_at(const unsigned char *code, size_t offset);

#endif
