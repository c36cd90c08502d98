/* SPDX-License-Identifier: MIT */
/* Variables of the environment that choose how the library executes. */
#ifndef WMI_ENVIRONMENT_H
#define WMI_ENVIRONMENT_H

#include "wavemem/wavemem.h"

/* When code is compiled to host code. */
enum wmi_compiling {
    WMI_COMPILE_OFF,
    WMI_COMPILE_AUTO,   /* once the program has run for a while */
    WMI_COMPILE_ALWAYS, /* before it runs */
};

/* WAVEMEM_COMPILE=off|auto|always, by default auto. */
enum wmi_compiling wmi_compile_setting(void);
/* The seed of WAVEMEM_DELAYS, by default 0: no delays. */
uint64_t wmi_delay_setting(void);

/* WM_BAD_ARGUMENT: one of these variables, or WAVEMEM_CPU, has an unknown value, which would otherwise be
 * ignored. To be called before anything executes. */
enum wm_status wmi_environment_check(struct wm_diag *diag);

#endif
