/* SPDX-License-Identifier: MIT */
/* Output files that are complete or absent: data is written to NAME.PID.part in the same folder, which is
 * renamed when complete. Until then, and on errors, an existing file of that name is unchanged. */
#ifndef WMI_WHOLE_FILE_H
#define WMI_WHOLE_FILE_H

#include <stdio.h>

/* Initially {0}. */
struct wmi_whole_file {
    FILE *stream;    /* to write to */
    char *path;      /* of the file, symbolic links resolved */
    char *temporary; /* to be renamed to `path`; NULL: the file is written directly */
};

/* Each returns 0 or an errno.
 *
 * Begins the file. It is written directly if it is not a regular file (a pipe, a device), is standard output,
 * standard error or mounted, or if its folder is not writable. Keeps the mode of an existing file. */
int wmi_whole_file_begin(struct wmi_whole_file *file, const char *path);
/* Completes the file. On errors, the state is as before wmi_whole_file_begin(). */
int wmi_whole_file_end(struct wmi_whole_file *file);
/* Discards the file; the state is as before wmi_whole_file_begin(). */
void wmi_whole_file_drop(struct wmi_whole_file *file);

/* Whether the file could be begun; creates nothing. */
int wmi_whole_file_possible(const char *path);

#endif
