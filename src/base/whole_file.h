/* SPDX-License-Identifier: MIT */
/* Output files that are whole or not there: what is written goes into NAME.PID.part beside the file, which is
 * renamed when nothing is missing. Until then, and if something goes wrong, an older file of the name stays
 * as it is. */
#ifndef WMI_WHOLE_FILE_H
#define WMI_WHOLE_FILE_H

#include <stdio.h>

/* Starts as {0}. */
struct wmi_whole_file {
    FILE *stream;    /* to write to */
    char *path;      /* of the file, where symbolic links lead */
    char *temporary; /* what is renamed to `path`; NULL: the file itself is written */
};

/* Each returns 0 or an errno.
 *
 * Begins the file. What is no regular file (a pipe, a device), and what standard output or standard error
 * are, is written directly, and so is a file in a folder that takes no other one. The mode of a file that is
 * there is kept. */
int wmi_whole_file_begin(struct wmi_whole_file *file, const char *path);
/* Completes it. If something could not be written, it is as if it had not been begun. */
int wmi_whole_file_end(struct wmi_whole_file *file);
/* Gives it up, as if it had not been begun. */
void wmi_whole_file_drop(struct wmi_whole_file *file);

/* Whether the file could be begun; nothing is left there. */
int wmi_whole_file_possible(const char *path);

#endif
