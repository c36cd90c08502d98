/* SPDX-License-Identifier: MIT */
/* Public structs that begin with their size (size_t struct_size) and grow from version to version. The caller
 * may have been compiled with an older or a newer header than the library. */
#ifndef WMI_VERSIONED_H
#define WMI_VERSIONED_H

#include "base/diag.h"

#include <stddef.h>

/* WM_BAD_ARGUMENT: the caller's struct is shorter than `least`, the size of the members that every version
 * has, or implausibly long: struct_size was not set. size: of this version's struct; `name`: for messages. */
enum wm_status wmi_check_struct(const void *given, size_t size, size_t least, const char *name,
                                struct wm_diag *diag);

/* Copies the caller's struct to `copy` of `size` bytes and fills missing members with zeros. WM_BAD_ARGUMENT:
 * as above, or members beyond `size` are not zero: the caller asks for something that this version lacks. */
enum wm_status wmi_take_struct(void *copy, size_t size, size_t least, const void *given, const char *name,
                               struct wm_diag *diag);

/* Copies a result of `size` bytes to the caller's struct, as far as that has room, and zeros the rest of it.
 * struct_size stays the caller's. */
void wmi_give_struct(void *given, const void *result, size_t size);

#endif
