/* SPDX-License-Identifier: MIT */
/* Status codes, diagnostics and the version. */
#ifndef WAVEMEM_STATUS_H
#define WAVEMEM_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define WM_API __attribute__((visibility("default")))
#else
#define WM_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

enum wm_status {
    WM_OK = 0,
    WM_BAD_ARGUMENT, /* an invalid argument */
    WM_BAD_FILE,     /* truncated or corrupt input, or another file format */
    WM_UNSUPPORTED,  /* valid, but not supported by wavemem */
    WM_NOT_FOUND,    /* no such kernel, argument, target, symbol */
    WM_NO_MEMORY,    /* the host is out of memory, or a limit of guest memory is exceeded */
    WM_IO,           /* a file could not be read or written */
    WM_OUT_OF_RANGE, /* an address range outside an allocation */
};

struct wm_diag {
    enum wm_status status;
    char message[480]; /* one line: where, what is wrong, what was expected */
};

WM_API const char *wm_status_name(enum wm_status status);
WM_API const char *wm_version(void);

#ifdef __cplusplus
}
#endif

#endif
