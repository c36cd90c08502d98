/* SPDX-License-Identifier: MIT */
/* The public API: names of what went wrong, and the version. */
#include "wavemem/status.h"

const char *wm_version(void)
{
    return WMI_VERSION;
}

const char *wm_status_name(enum wm_status status)
{
    static const char *const names[] = {
        [WM_OK] = "ok",
        [WM_BAD_ARGUMENT] = "bad argument",
        [WM_BAD_FILE] = "bad file",
        [WM_UNSUPPORTED] = "unsupported",
        [WM_NOT_FOUND] = "not found",
        [WM_NO_MEMORY] = "no memory",
        [WM_IO] = "input/output error",
        [WM_OUT_OF_RANGE] = "out of range",
    };
    return (unsigned)status < sizeof names / sizeof *names ? names[status] : "unknown status";
}
