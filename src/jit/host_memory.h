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

/* A copy of the code, or NULL: the host gave no memory, or refuses to execute it (*refused). */
struct wmi_host_memory *wmi_make_executable(const struct wmi_host *host, bool *refused);
/* The code at an offset as the body of a step. */
wmi_body wmi_body_at(const unsigned char *code, size_t offset);

#endif
