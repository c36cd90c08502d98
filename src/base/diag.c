/* SPDX-License-Identifier: MIT */
/* Statuses and the messages that go with them. */
#include "base/diag.h"

#include <stdio.h>
#include <string.h>

enum wm_status wmi_fail_list(struct wm_diag *diag, enum wm_status status, const char *format, va_list list)
{
    if (!diag)
        return status;
    diag->status = status;
    const int length = vsnprintf(diag->message, sizeof(diag->message), format, list);
    if (length < 0)
        diag->message[0] = '\0';
    for (char *c = diag->message; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = '?';
    if (length >= (int)sizeof(diag->message)) {
        char *end = diag->message + sizeof(diag->message) - sizeof("...");
        /* Do not leave half a UTF-8 character in front of the dots. */
        while (end > diag->message && ((unsigned char)*end & 0xc0) == 0x80)
            end--;
        strcpy(end, "...");
    }
    return status;
}

enum wm_status wmi_fail(struct wm_diag *diag, enum wm_status status, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    wmi_fail_list(diag, status, format, list);
    va_end(list);
    return status;
}

enum wm_status wmi_null(struct wm_diag *diag, const char *function, const char *parameter)
{
    return wmi_fail(diag, WM_BAD_ARGUMENT, "%s: %s is NULL", function, parameter);
}
