/* SPDX-License-Identifier: MIT */
/* Formats the output of kernels: the records of the printf buffer, in order, with the formats of the
 * metadata. */
#ifndef WMI_REPORT_PRINTF_H
#define WMI_REPORT_PRINTF_H

#include <stddef.h>
#include <stdint.h>

/* Calls `print` with pieces of the text. `buffer`: its `size` bytes after the dispatch, see
 * WMI_PRINTF_BYTES; untrusted. `formats`: see wmi_object_printf(). */
void wmi_print_buffer(const char *const *formats, size_t format_count, const uint8_t *buffer, size_t size,
                      void (*print)(void *user, const char *text, size_t length), void *user);

#endif
