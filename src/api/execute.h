/* SPDX-License-Identifier: MIT */
/* Executes the kernel of a dispatch that has been prepared. */
#ifndef WMI_API_EXECUTE_H
#define WMI_API_EXECUTE_H

#include "api/task.h"
#include "exec/run/program.h"

/* How the kernel's code is lowered. */
struct wmi_code_options wmi_task_code(const struct wmi_task *task);
/* Runs the kernel, between the events that the caller's observers get for its beginning and its end. */
enum wm_status wmi_execute(struct wmi_task *task);
/* A wmi_run_again, with a struct wmi_task as `user`. */
enum wm_status wmi_execute_again(void *user, struct wmi_dispatch *dispatch, struct wm_result *result);

#endif
