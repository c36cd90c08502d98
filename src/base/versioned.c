/* SPDX-License-Identifier: MIT */
/* Public structs that begin with their size. */
#include "base/versioned.h"

#include <string.h>

enum { LONGEST = 4096 }; /* longer ones are taken for a struct_size that was not set */

static size_t size_of(const void *given)
{
    size_t size;
    memcpy(&size, given, sizeof size);
    return size;
}

enum wm_status wmi_check_struct(const void *given, size_t size, size_t least, const char *name,
                                struct wm_diag *diag)
{
    const size_t own = size_of(given);
    if (own >= least && own <= LONGEST)
        return WM_OK;
    return wmi_fail(diag, WM_BAD_ARGUMENT, "struct_size of %s is %zu; expected sizeof(struct %s), here %zu",
                    name, own, name, size);
}

enum wm_status wmi_take_struct(void *copy, size_t size, size_t least, const void *given, const char *name,
                               struct wm_diag *diag)
{
    const size_t own = size_of(given);
    const enum wm_status status = wmi_check_struct(given, size, least, name, diag);
    if (status)
        return status;
    for (size_t i = size; i < own; i++)
        if (((const unsigned char *)given)[i])
            return wmi_fail(
                diag, WM_BAD_ARGUMENT,
                "%s has %zu bytes and sets byte %zu, but this version of wavemem (%s) knows %zu bytes; "
                "set newer members to 0 or use a newer library",
                name, own, i, wm_version(), size);
    memset(copy, 0, size);
    memcpy(copy, given, own < size ? own : size);
    memcpy(copy, &size, sizeof size);
    return WM_OK;
}

void wmi_give_struct(void *given, const void *result, size_t size)
{
    const size_t own = size_of(given);
    memset(given, 0, own);
    memcpy(given, result, own < size ? own : size);
    memcpy(given, &own, sizeof own);
}
