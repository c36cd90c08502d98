/* SPDX-License-Identifier: MIT */
/* Instructions that invalidate caches: memory is coherent here, so only observers are told.
 *
 * Source: LLVM, AMDGPUUsage, "Memory Model" of each generation, and SIMemoryLegalizer.cpp: of gfx940's
 * buffer_inv only the scopes beyond the workgroup matter, for its waves share a vector cache; of gfx12's
 * global_inv those beyond the compute unit. That all lines are volatile for buffer_wbinvl1_vol and
 * s_dcache_inv_vol, and system-coherent for buffer_wbinvl1_sc, is approx. */
#include "lower/classes.h"
#include "wavemem/wavemem.h"

#include <stddef.h>

static const struct invalidation {
    uint16_t id;
    uint8_t caches; /* 1 << enum wm_cache_level */
    uint8_t policy; /* WMI_POLICY_* that it needs for that */
} invalidations[] = {
    {WMI_INSN_buffer_wbinvl1, 1 << WM_CACHE_VECTOR, 0},
    {WMI_INSN_buffer_wbinvl1_vol, 1 << WM_CACHE_VECTOR, 0},
    {WMI_INSN_buffer_wbinvl1_sc, 1 << WM_CACHE_VECTOR, 0},
    {WMI_INSN_buffer_inv, 1 << WM_CACHE_VECTOR, WMI_POLICY_SC1},
    {WMI_INSN_buffer_gl0_inv, 1 << WM_CACHE_VECTOR, 0},
    {WMI_INSN_global_inv, 1 << WM_CACHE_VECTOR, WMI_POLICY_GLC},
    {WMI_INSN_global_wbinv, 1 << WM_CACHE_VECTOR, WMI_POLICY_GLC},
    {WMI_INSN_buffer_gl1_inv, 1 << WM_CACHE_GL1, 0},
    {WMI_INSN_s_gl1_inv, 1 << WM_CACHE_GL1, 0},
    {WMI_INSN_s_dcache_inv, 1 << WM_CACHE_SCALAR, 0},
    {WMI_INSN_s_dcache_inv_vol, 1 << WM_CACHE_SCALAR, 0},
};

void wmi_lower_invalidation(struct wmi_builder *b, const struct wmi_instruction *insn)
{
    const struct invalidation *found = NULL;
    for (size_t i = 0; i < sizeof invalidations / sizeof *invalidations; i++)
        if (invalidations[i].id == insn->id)
            found = &invalidations[i];
    if (!found || !wmi_builder_observer(b))
        return;
    struct wmi_memory_op *m = wmi_builder_memory_op(b, insn);
    if ((m->policy & found->policy) != found->policy)
        return;
    m->path = WMI_PATH_CONTROL;
    m->policy = found->caches;
    wmi_emit(b, WMI_STEP_show_invalidation)->data = m;
}
