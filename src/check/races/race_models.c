/* SPDX-License-Identifier: MIT */
#include "check/races/race_models.h"

#include "memory/access.h"
#include "wavemem/wavemem.h"

enum { VECTOR = 1 << WM_CACHE_VECTOR, GL1 = 1 << WM_CACHE_GL1 };

#define WAIT_BY_ONE .wait_lds = "s_waitcnt lgkmcnt(0)", .wait_load = "s_waitcnt vmcnt(0)"

static const struct wmi_race_model models[] = {
    {.load_bits = WMI_POLICY_GLC, /* gfx6 to gfx908 */
     .invalidates = VECTOR,
     .waits_at_barriers = true,
     .wait = "s_waitcnt vmcnt(0)",
     .invalidate = "buffer_wbinvl1_vol",
     WAIT_BY_ONE},
    {.has_scopes = true, /* gfx940 */
     .invalidates = VECTOR,
     .writes_back = true, /* and waits for that: LLVM pull request 178316 */
     .wait = "s_waitcnt vmcnt(0)",
     .write_back = "buffer_wbl2 sc1",
     .invalidate = "buffer_inv sc1",
     .mode = "tgsplit mode",
     .mode_invalidate = "buffer_inv sc0",
     WAIT_BY_ONE},
    {.load_bits = WMI_POLICY_GLC | WMI_POLICY_DLC, /* gfx10 */
     .invalidates = VECTOR | GL1,
     .wait = "s_waitcnt_vscnt null, 0x0",
     .invalidate = "buffer_gl1_inv and buffer_gl0_inv",
     .mode = "WGP mode",
     .mode_invalidate = "buffer_gl0_inv",
     WAIT_BY_ONE},
    {.load_bits = WMI_POLICY_GLC, /* gfx11 */
     .invalidates = VECTOR | GL1,
     .wait = "s_waitcnt_vscnt null, 0x0",
     .invalidate = "buffer_gl1_inv and buffer_gl0_inv",
     .mode = "WGP mode",
     .mode_invalidate = "buffer_gl0_inv",
     WAIT_BY_ONE},
    /* gfx12.0: stores are complete no earlier than in L2, which all workgroups share. A write-back is needed
     * for the scope of the system only (LLVM SIMemoryLegalizer, insertRelease). */
    {.has_scopes = true,
     .atomics_have_scopes = true,
     .invalidates = VECTOR,
     .wait = "s_wait_storecnt 0x0",
     .invalidate = "global_inv scope:SCOPE_DEV",
     .mode = "WGP mode",
     .mode_invalidate = "global_inv scope:SCOPE_SE",
     .wait_lds = "s_wait_dscnt 0x0",
     .wait_load = "s_wait_loadcnt 0x0"},
    {.load_bits = WMI_POLICY_GLC, /* gfx90a */
     .invalidates = VECTOR,
     .wait = "s_waitcnt vmcnt(0)",
     .invalidate = "buffer_wbinvl1_vol",
     .mode = "tgsplit mode",
     .mode_invalidate = "buffer_wbinvl1_vol",
     WAIT_BY_ONE},
    /* gfx12.5: as gfx12.0, but a device may have several L2 (LLVM SIMemoryLegalizer, insertRelease). That
     * waves of a workgroup see each other's accesses at once is assumed. */
    {.has_scopes = true,
     .atomics_have_scopes = true,
     .invalidates = VECTOR,
     .writes_back = true,
     .wait = "s_wait_storecnt 0x0",
     .write_back = "global_wb scope:SCOPE_DEV",
     .invalidate = "global_inv scope:SCOPE_DEV",
     .wait_lds = "s_wait_dscnt 0x0",
     .wait_load = "s_wait_loadcnt 0x0",
     .wait_move = "s_wait_asynccnt 0x0 (s_wait_tensorcnt 0x0)"},
};

const struct wmi_race_model *wmi_race_model_numbered(uint64_t number)
{
    return &models[number];
}

const struct wmi_race_model *wmi_race_model(const struct wmi_target *target)
{
    return wmi_race_model_numbered(wmi_target_limit(target, WMI_LIMIT_memory_model));
}
