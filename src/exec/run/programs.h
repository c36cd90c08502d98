/* SPDX-License-Identifier: MIT */
/* Programs of a machine that no dispatch uses at the moment. Lowering a kernel takes as long as running a
 * small grid, so the next dispatch of the kernel takes its program from here. */
#ifndef WMI_PROGRAMS_H
#define WMI_PROGRAMS_H

#include "exec/run/program.h"

struct wmi_programs;

struct wmi_programs *wmi_programs_create(void);           /* NULL: no memory */
void wmi_programs_destroy(struct wmi_programs *programs); /* NULL is allowed */

/* Returns a kept program for which wmi_program_serves() holds, or a new one. NULL: no memory. Thread-safe.
 * The caller must hold the read lock of the space. */
struct wmi_program *wmi_programs_take(struct wmi_programs *programs, const struct wmi_code_options *options,
                                      enum wmi_cpu_level level);
/* Keeps a program, or destroys it if it has observers. If there are too many, destroys the least recently
 * used ones. Thread-safe. NULL is allowed. */
void wmi_programs_give(struct wmi_programs *programs, struct wmi_program *program);

#endif
