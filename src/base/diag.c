/* SPDX-License-Identifier: MIT */
/* Statuses and their messages. */
#include "base/diag.h"

#include "base/escape.h"
#include "base/quote.h"

#include <stdio.h>
#include <string.h>

enum wm_status wmi_fail_list(struct wm_diag *diag, enum wm_status status, const char *format, va_list list)
{
    if (!diag)
        return status;
    diag->status = status;
    static const char dots[] = "...";
    char text[2 * sizeof(diag->message)] = "";
    wmi_quote_list(text, sizeof(text), WMI_QUOTE_MOST, format, list);
    const size_t length = strlen(text), room = sizeof(diag->message);
    if (wmi_escape(diag->message, room, text, length, "") >= room) {
        wmi_escape(diag->message, room - strlen(dots), text, length, "");
        strcat(diag->message, dots);
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
