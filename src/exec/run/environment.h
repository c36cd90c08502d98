/* SPDX-License-Identifier: MIT */
/* Variables of the environment that choose how the library executes. */
#ifndef WMI_ENVIRONMENT_H
#define WMI_ENVIRONMENT_H

#include "wavemem/wavemem.h"

/* When code is compiled to host code. */
enum wmi_compiling {
    WMI_COMPILE_OFF,
    WMI_COMPILE_AUTO,   /* when it has run for a while */
    WMI_COMPILE_ALWAYS, /* before it runs */
};

/* WAVEMEM_COMPILE=off|auto|always, by default auto. */
enum wmi_compiling wmi_compile_setting(void);
/* The seed of WAVEMEM_DELAYS, by default 0: no delays. */
uint64_t wmi_delay_setting(void);

/* WM_BAD_ARGUMENT: one of these variables, or WAVEMEM_CPU, has a value that does not exist, so that it would
 * have no effect. Whoever is about to execute asks this first. */
enum wm_status wmi_environment_check(struct wm_diag *diag);

#endif
