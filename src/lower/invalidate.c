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

/* The caches that observers know of; 0: the others. */
static unsigned caches_of(const struct wmi_row *row)
{
    static const uint8_t levels[] = {
        [WMI_CACHE_LEVEL_VECTOR] = 1 << WM_CACHE_VECTOR,
        [WMI_CACHE_LEVEL_GL1] = 1 << WM_CACHE_GL1,
        [WMI_CACHE_LEVEL_SCALAR] = 1 << WM_CACHE_SCALAR,
        [WMI_CACHE_LEVEL_INSTRUCTION] = 0,
    };
    return row->cache & WMI_CACHE_INVALIDATE ? levels[row->cache_level] : 0;
}

/* What the fields of the scope must say so that the vector cache is among those invalidated. */
static unsigned policy_of(const struct wmi_row *row)
{
    return row->cache_scope != WMI_CACHE_SCOPE_FIELD ? 0
           : row->class == WMI_CLASS_BUFFER          ? WMI_POLICY_SC1
                                                     : WMI_POLICY_GLC;
}

void wmi_lower_invalidation(struct wmi_builder *b, const struct wmi_instruction *insn)
{
    const struct wmi_row *row = &wmi_rows[insn->id];
    const unsigned caches = caches_of(row), policy = policy_of(row);
    if (!caches || !wmi_builder_observer(b))
        return;
    struct wmi_memory_op *m = wmi_builder_memory_op(b, insn);
    if ((m->policy & policy) != policy)
        return;
    m->path = WMI_PATH_CONTROL;
    m->policy = (uint8_t)caches;
    wmi_emit(b, WMI_STEP_show_invalidation)->data = m;
}
