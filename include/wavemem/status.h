/* SPDX-License-Identifier: MIT */
/* What went wrong, and the version. */
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
    WM_BAD_ARGUMENT, /* the caller asked for something that makes no sense */
    WM_BAD_FILE,     /* truncated, corrupt or foreign input */
    WM_UNSUPPORTED,  /* well-formed, but wavemem cannot do it */
    WM_NOT_FOUND,    /* no such kernel, argument, target, symbol */
    WM_NO_MEMORY,    /* the host, or the guest's limit */
    WM_IO,           /* a file could not be read or written */
    WM_OUT_OF_RANGE, /* outside an allocation */
};

struct wm_diag {
    enum wm_status status;
    char message[480]; /* one line: where, what, what was expected */
};

WM_API const char *wm_status_name(enum wm_status status);
WM_API const char *wm_version(void);

#ifdef __cplusplus
}
#endif

#endif
