/* SPDX-License-Identifier: MIT */
/* The classes of findings: their names, and the lists of --only and --check. */
#include "tool/check/request.h"

#include "tool/tool.h"

#include <stdio.h>
#include <string.h>

/* The classes, in the order of reports. */
static const struct class
{
    const char *name, *plural;
    enum wm_check_what bit;
} classes[] = {
    {"memory", "memory", WM_CHECK_MEMORY},       {"uninit", "uninit", WM_CHECK_UNINIT},
    {"race", "races", WM_CHECK_RACES},           {"sync", "sync", WM_CHECK_SYNC},
    {"wait", "waits", WM_CHECK_WAITS},           {"hazard", "hazards", WM_CHECK_HAZARDS},
    {"needless", "needless", WM_CHECK_NEEDLESS},
};
enum { CLASSES = sizeof classes / sizeof *classes };

/* What is checked unless a list says otherwise: no modifiers, and no notes about time. */
enum {
    USUAL = WM_CHECK_MEMORY | WM_CHECK_UNINIT | WM_CHECK_RACES | WM_CHECK_SYNC | WM_CHECK_WAITS |
            WM_CHECK_HAZARDS,
};

static unsigned class_of(const char *name, size_t length)
{
    for (size_t i = 0; i < CLASSES; i++)
        if ((strlen(classes[i].name) == length && !strncmp(classes[i].name, name, length)) ||
            (strlen(classes[i].plural) == length && !strncmp(classes[i].plural, name, length)))
            return classes[i].bit;
    return 0;
}

int tool_check_add_classes(struct tool_check_request *request, const char *option, const char *list,
                           const char *where)
{
    while (*list) {
        const size_t length = strcspn(list, ",");
        const unsigned bit = class_of(list, length) & wm_check_known();
        if (!bit) {
            char known[120] = "";
            for (size_t i = 0; i < CLASSES; i++)
                if (classes[i].bit & wm_check_known())
                    snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s",
                             known[0] ? ", " : "", classes[i].name);
            return tool_fail("%s%s: '%.*s' is no class of findings; expected a list of %s", where, option,
                             (int)length, list, known);
        }
        request->classes |= bit;
        list += length + (list[length] == ',');
    }
    return request->classes ? TOOL_CLEAN : tool_fail("%s%s: the list is empty", where, option);
}

void tool_check_complete(struct tool_check_request *request)
{
    if (!request->classes)
        request->classes = (unsigned)USUAL & wm_check_known();
}

const char *tool_check_class_name(enum wm_check_what class)
{
    for (size_t i = 0; i < CLASSES; i++)
        if (classes[i].bit == class)
            return classes[i].name;
    return "other";
}
