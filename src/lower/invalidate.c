/* SPDX-License-Identifier: MIT */
/* Instructions that write back or invalidate caches: memory is coherent here, so only observers are told.
 *
 * Source: LLVM, AMDGPUUsage, "Memory Model" of each generation, and SIMemoryLegalizer.cpp: of gfx940's
 * buffer_inv only the scopes beyond the workgroup matter, for its waves share a vector cache; of gfx12's
 * global_inv those beyond the compute unit; L2 is concerned by SYSTEM alone. That all lines are volatile for
 * buffer_wbinvl1_vol and s_dcache_inv_vol, and system-coherent for buffer_wbinvl1_sc, is approx.: the
 * profiler takes it so. */
#include "lower/classes.h"
#include "wavemem/wavemem.h"

#include <stddef.h>

enum {
    VECTOR = 1 << WM_CACHE_VECTOR,
    GL1 = 1 << WM_CACHE_GL1,
    SCALAR = 1 << WM_CACHE_SCALAR,
    CODE = 1 << WM_CACHE_INSTRUCTION,
    L2 = 1 << WM_CACHE_L2,
    BACK = WM_CACHE_WRITE_BACK,
    INVALIDATE = WM_CACHE_INVALIDATE,
    DISCARD = WM_CACHE_DISCARD,
};

static const struct control {
    uint16_t id;
    uint8_t operations; /* enum wm_cache_operation */
    uint8_t caches;     /* 1 << enum wm_cache_level */
    uint8_t wide;       /* those of them only with a scope beyond the workgroup or compute unit, */
    uint8_t system;     /* and those only with SYSTEM */
    bool volatile_only;
} controls[] = {
    {WMI_INSN_buffer_wbinvl1, BACK | INVALIDATE, VECTOR, 0, 0, false},
    {WMI_INSN_buffer_wbinvl1_vol, BACK | INVALIDATE, VECTOR, 0, 0, true},
    {WMI_INSN_buffer_wbinvl1_sc, BACK | INVALIDATE, VECTOR, 0, 0, false},
    {WMI_INSN_buffer_wbl2, BACK, L2, 0, 0, false},
    {WMI_INSN_buffer_invl2, INVALIDATE, L2, 0, 0, false},
    {WMI_INSN_buffer_inv, INVALIDATE, VECTOR | L2, VECTOR, L2, false},
    {WMI_INSN_buffer_gl0_inv, INVALIDATE, VECTOR, 0, 0, false},
    {WMI_INSN_buffer_gl1_inv, INVALIDATE, GL1, 0, 0, false},
    {WMI_INSN_global_inv, INVALIDATE, VECTOR | L2, VECTOR, L2, false},
    {WMI_INSN_global_wb, BACK, L2, 0, L2, false},
    {WMI_INSN_global_wbinv, BACK | INVALIDATE, VECTOR | L2, VECTOR, L2, false},
    {WMI_INSN_s_gl1_inv, INVALIDATE, GL1, 0, 0, false},
    {WMI_INSN_s_dcache_inv, INVALIDATE, SCALAR, 0, 0, false},
    {WMI_INSN_s_dcache_inv_vol, INVALIDATE, SCALAR, 0, 0, true},
    {WMI_INSN_s_dcache_wb, BACK, SCALAR, 0, 0, false},
    {WMI_INSN_s_dcache_wb_vol, BACK, SCALAR, 0, 0, true},
    {WMI_INSN_s_dcache_discard, DISCARD, SCALAR, 0, 0, false},
    {WMI_INSN_s_dcache_discard_x2, DISCARD, SCALAR, 0, 0, false},
    {WMI_INSN_s_icache_inv, INVALIDATE, CODE, 0, 0, false},
};

static bool is_wide(unsigned scope)
{
    return scope == WM_SCOPE_ENGINE || scope == WM_SCOPE_DEVICE || scope == WM_SCOPE_SYSTEM;
}

/* What the profiler takes for an access: caches that are invalidated, of those that it models. */
static void emit_invalidation(struct wmi_builder *b, struct wmi_memory_op *m, unsigned caches)
{
    m->path = WMI_PATH_CONTROL;
    m->policy = (uint8_t)caches;
    wmi_emit_watch(b, WMI_STEP_show_invalidation, &(struct wmi_step){.data = m});
}

void wmi_lower_invalidation(struct wmi_builder *b, const struct wmi_instruction *insn)
{
    const struct control *found = NULL;
    for (size_t i = 0; i < sizeof controls / sizeof *controls; i++)
        if (controls[i].id == insn->id)
            found = &controls[i];
    if (!found || !wmi_builder_observers(b)->count)
        return;
    struct wmi_memory_op *m = wmi_builder_memory_op(b, insn);
    unsigned caches = found->caches;
    if (!is_wide(m->facts.scope))
        caches &= ~(unsigned)found->wide;
    if (m->facts.scope != WM_SCOPE_SYSTEM)
        caches &= ~(unsigned)found->system;
    struct wmi_step *step = wmi_emit_event(b, WM_EVENT_CACHE);
    if (step) {
        step->a = found->operations;
        step->b = caches;
        step->c = m->facts.scope;
        step->e = m->policy;
        step->y = found->volatile_only;
    }
    if (found->operations & INVALIDATE && caches & (VECTOR | GL1 | SCALAR))
        emit_invalidation(b, m, caches & (VECTOR | GL1 | SCALAR));
}
