/* SPDX-License-Identifier: MIT */
/* Error reporting: a function fills the caller's wm_diag and returns the status. */
#ifndef WMI_DIAG_H
#define WMI_DIAG_H

#include "wavemem/wavemem.h"

#include <stdarg.h>

/* Says that a parameter which `function` needs is NULL: WM_BAD_ARGUMENT. */
enum wm_status wmi_null(struct wm_diag *diag, const char *function, const char *parameter);
/* Writes `status` and the message, truncated and on one line, to `diag` unless it is NULL; returns `status`.
 * The message says what, where and what was expected: "t.co: .text ends at 0x900, the file at 0x800".
 * Characters that wmi_escape() escapes become \xNN. */
enum wm_status wmi_fail(struct wm_diag *diag, enum wm_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
enum wm_status wmi_fail_list(struct wm_diag *diag, enum wm_status status, const char *format, va_list list)
    __attribute__((format(printf, 3, 0)));

#endif
