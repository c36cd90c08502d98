/* SPDX-License-Identifier: MIT */
/* Instructions that write back or invalidate caches. Memory is coherent here, so they are only reported to
 * observers.
 *
 * Source: LLVM, AMDGPUUsage, "Memory Model" of each generation, and SIMemoryLegalizer.cpp. gfx940's
 * buffer_inv acts only with scopes beyond the workgroup, because its waves share a vector cache; gfx12's
 * global_inv only with scopes beyond the CU; L2 only with SYSTEM. Approximate: the profiler treats all lines
 * as volatile for buffer_wbinvl1_vol and s_dcache_inv_vol, and as system-coherent for buffer_wbinvl1_sc. */
#include "lower/classes.h"
#include "wavemem/wavemem.h"

#include <stddef.h>

enum {
    VECTOR = 1 << WM_CACHE_VECTOR,
    GL1 = 1 << WM_CACHE_GL1,
    SCALAR = 1 << WM_CACHE_SCALAR,
    L2 = 1 << WM_CACHE_L2,
};

/* The cache operation of an instruction. */
struct control {
    unsigned operations; /* enum wm_cache_operation */
    unsigned caches;     /* 1 << enum wm_cache_level */
    unsigned wide;       /* subset of `caches` that requires a scope beyond the workgroup or CU */
    unsigned system;     /* subset of `caches` that requires scope SYSTEM */
    bool volatile_only;
};

/* With a scope field, an invalidation of the vector cache may extend to L2. */
static struct control control_of(const struct wmi_row *row)
{
    static const uint8_t levels[] = {
        [WMI_CACHE_LEVEL_VECTOR] = VECTOR,
        [WMI_CACHE_LEVEL_GL1] = GL1,
        [WMI_CACHE_LEVEL_L2] = L2,
        [WMI_CACHE_LEVEL_SCALAR] = SCALAR,
        [WMI_CACHE_LEVEL_INSTRUCTION] = 1 << WM_CACHE_INSTRUCTION,
    };
    struct control control = {
        .operations = (row->cache & WMI_CACHE_WRITE_BACK ? WM_CACHE_WRITE_BACK : 0u) |
                      (row->cache & WMI_CACHE_INVALIDATE ? WM_CACHE_INVALIDATE : 0u) |
                      (row->cache & WMI_CACHE_DISCARD ? WM_CACHE_DISCARD : 0u),
        .caches = levels[row->cache_level],
        .volatile_only = row->cache_scope == WMI_CACHE_SCOPE_VOLATILE,
    };
    if (row->cache_scope != WMI_CACHE_SCOPE_FIELD)
        return control;
    control.system =
        row->class == WMI_CLASS_BUFFER && control.caches == L2 ? 0 : L2; /* buffer_wbl2 always acts on L2 */
    if (control.caches == VECTOR) {
        control.caches |= L2;
        control.wide = VECTOR;
    }
    return control;
}

static bool is_wide(unsigned scope)
{
    return scope == WM_SCOPE_ENGINE || scope == WM_SCOPE_DEVICE || scope == WM_SCOPE_SYSTEM;
}

/* Reports the invalidation as an access, restricted to the caches the profiler models. */
static void emit_invalidation(struct wmi_builder *b, struct wmi_memory_op *m, unsigned caches)
{
    m->path = WMI_PATH_CONTROL;
    m->policy = (uint8_t)caches;
    wmi_emit_watch(b, WMI_STEP_show_invalidation, &(struct wmi_step){.data = m});
}

void wmi_lower_invalidation(struct wmi_builder *b, const struct wmi_instruction *insn)
{
    const struct control control = control_of(&wmi_rows[insn->id]);
    if (!control.operations || !wmi_builder_observers(b)->count)
        return;
    struct wmi_memory_op *m = wmi_builder_memory_op(b, insn);
    unsigned caches = control.caches;
    if (!is_wide(m->facts.scope))
        caches &= ~control.wide;
    if (m->facts.scope != WM_SCOPE_SYSTEM)
        caches &= ~control.system;
    struct wmi_step *step = wmi_emit_event(b, WM_EVENT_CACHE);
    if (step) {
        step->a = control.operations;
        step->b = caches;
        step->c = m->facts.scope;
        step->e = m->policy;
        step->y = control.volatile_only;
    }
    if (control.operations & WM_CACHE_INVALIDATE && caches & (VECTOR | GL1 | SCALAR))
        emit_invalidation(b, m, caches & (VECTOR | GL1 | SCALAR));
}
