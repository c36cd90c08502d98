/* SPDX-License-Identifier: MIT */
/* What the caller of a dispatch asks for, checked against the kernel and the product. */
#ifndef WMI_API_REQUEST_H
#define WMI_API_REQUEST_H

#include "api/task.h"

/* Copies the request into the task, and fills in the geometry of its dispatch. `object`: the kernel's.
 * Resets the caller's result. */
enum wm_status wmi_request_take(struct wmi_task *task, const struct wm_object *object,
                                const struct wm_dispatch *given, struct wm_result *result);
/* Checks that the products that the request names fit the target, and that a cooperative grid fits on the
 * product. Gives the profile a product if it has none. */
enum wm_status wmi_request_fit(struct wmi_task *task);
/* The product that the dispatch runs on: the request's, its profile's or the target's usual one. NULL: none
 * of the target is known. */
const struct wm_gpu *wmi_request_product(const struct wmi_task *task);
/* The number of threads that execute the dispatch. */
unsigned wmi_request_threads(const struct wmi_task *task);
/* Whether the kernel is one of HIP's own, which fill and copy memory. */
bool wmi_is_of_hip(const struct wm_kernel *kernel);

#endif
