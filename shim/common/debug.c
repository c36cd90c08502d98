/* SPDX-License-Identifier: MIT */
/* Executes packets, under the debugger if the environment asks for it. */
#include "shim/common/common.h"

#include "tool/debug/launch.h"

enum wm_status shim_run_packet(const struct shim_gpu *gpu, const struct wm_packet *packet, bool shares_all,
                               struct wm_diag *diag)
{
    bool wrong;
    if (!debug_is_wanted())
        return wm_dispatch_packet(gpu->machine, packet, diag);
    const enum wm_status status = debug_packet(gpu->machine, packet, shares_all, &wrong, diag);
    if (wrong)
        shim_result("wrong", "");
    return status;
}
