/* SPDX-License-Identifier: MIT */
/* Compiles the code that a dispatch has lowered, once it has run for long enough. */
#include "exec/run/executor.h"

void wmi_compile_dispatch(struct wmi_dispatch *dispatch)
{
    const struct wmi_compile_mode mode = {dispatch->launch.mode, dispatch->mxcsr32, dispatch->mxcsr64};
    wmi_program_compile(dispatch->program, &mode);
}
