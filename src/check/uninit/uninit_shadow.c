/* SPDX-License-Identifier: MIT */
/* Uninitialised values: checks what waves do with undefined values in registers. */
#include "check/uninit/uninit.h"

#include "exec/run/wave.h"

enum { LOOK_AFTER = 64 /* instructions between two checks whether a shadow still differs */ };

/* Checks what the instruction that the wave has executed did with values that differ. */
static void check_done(struct wmi_uninit_shard *shard, struct wmi_shadow *shadow, const char *frame,
                       uint32_t wave)
{
    for (unsigned word = WMI_S_EXEC; word < WMI_S_EXEC + 2; word++) {
        const struct wmi_shadow_difference found = wmi_shadow_compare_word(shadow, frame, word);
        if (found.origin && shadow->last) {
            wmi_uninit_use(shard, found.origin, WMI_UNINIT_EXEC, shadow->last->pc, wave, 0);
            break;
        }
    }
}

static bool is_zero(const char *frame, unsigned word)
{
    const struct wmi_frame *f = (const struct wmi_frame *)frame;
    return !(f->s[word] | (f->wave_size == 64 ? f->s[word + 1] : 0));
}

/* Checks a branch or message that the wave is about to execute. */
static void check_control(struct wmi_uninit_shard *shard, struct wmi_shadow *shadow, const char *frame,
                          const struct wmi_uninit_instruction *insn, uint32_t wave)
{
    const struct wmi_row *row = &wmi_rows[insn->shadow.id];
    const bool sends = row->group == WMI_GROUP_SENDMSG, branches = row->group == WMI_GROUP_BRANCH;
    const struct wmi_shadow_difference scc = wmi_shadow_compare_word(shadow, frame, WMI_S_SCC);
    if (row->flags & WMI_ROW_READS_SCC && scc.origin) {
        wmi_uninit_use(shard, scc.origin, WMI_UNINIT_BRANCH, insn->shadow.pc, wave, 0);
        wmi_shadow_settle_word(shadow, frame, WMI_S_SCC);
    }
    if (row->flags & WMI_ROW_READS_VCC && is_zero(frame, WMI_S_VCC) != is_zero(shadow->frame, WMI_S_VCC)) {
        for (unsigned word = WMI_S_VCC; word < WMI_S_VCC + 2; word++) {
            const struct wmi_shadow_difference vcc = wmi_shadow_compare_word(shadow, frame, word);
            if (vcc.origin)
                wmi_uninit_use(shard, vcc.origin, WMI_UNINIT_BRANCH, insn->shadow.pc, wave, 0);
            wmi_shadow_settle_word(shadow, frame, word);
        }
    }
    for (unsigned i = 0; (sends || branches) && i < insn->shadow.spans; i++) {
        const struct wmi_span_of_registers *span = &insn->shadow.span[i];
        const struct wmi_shadow_difference found = wmi_shadow_compare(shadow, frame, span, 0);
        if (!span->read || !found.origin || span->first == WMI_REGISTER_VCC)
            continue;
        wmi_uninit_use(shard, found.origin, sends ? WMI_UNINIT_MESSAGE : WMI_UNINIT_BRANCH, insn->shadow.pc,
                       wave, 0);
        wmi_shadow_settle(shadow, frame, span);
    }
}

static void check_address(struct wmi_uninit_shard *shard, struct wmi_shadow *shadow, const char *frame,
                          const struct wmi_uninit_instruction *insn, uint32_t wave)
{
    const uint64_t active = ((const struct wmi_frame *)frame)->exec.bits;
    for (unsigned i = 0; i < insn->shadow.spans; i++) {
        const struct wmi_span_of_registers *span = &insn->shadow.span[i];
        if (!span->read ||
            (span->role != WMI_ROLE_ADDR && span->role != WMI_ROLE_RSRC && span->role != WMI_ROLE_SAMP &&
             span->role != WMI_ROLE_OFFSET && span->role != WMI_ROLE_SADDR))
            continue;
        const struct wmi_shadow_difference found = wmi_shadow_compare(shadow, frame, span, active);
        if (!found.origin)
            continue;
        wmi_uninit_use(shard, found.origin, WMI_UNINIT_ADDRESS, insn->shadow.pc, wave, found.lanes);
        wmi_shadow_settle(shadow, frame, span);
    }
}

/* Starts the shadow of a starting wave. NULL: no memory. */
static struct wmi_shadow *start_shadow(struct wmi_uninit_shard *shard, const char *frame,
                                       const struct wmi_frame_layout *layout, const struct wmi_wave *wave)
{
    if (!shard->group || wave->index >= shard->group->waves)
        return NULL;
    struct wmi_shadow **shadow = &shard->group->shadow[wave->index];
    const uint32_t end = layout->agprs + shard->check->dispatch.agprs * 4 * shard->check->dispatch.wave_lanes;
    if (!*shadow)
        *shadow = wmi_shadow_create(frame, layout, shard->check->dispatch.wave_lanes);
    shard->missed |= !*shadow;
    shard->check->vgprs = (layout->agprs - layout->vgprs) / (4 * shard->check->dispatch.wave_lanes);
    const struct wmi_check_dispatch *dispatch = &shard->check->dispatch;
    if (*shadow && dispatch->sets_all)
        wmi_shadow_restart(*shadow, frame);
    else if (*shadow)
        wmi_shadow_start(*shadow, frame, dispatch->set_sgprs, dispatch->set_vgprs, end, WMI_UNINIT_ORIGINS);
    return *shadow;
}

char *wmi_uninit_shadow(void *local, void **watched, uint32_t number, const char *frame,
                        const struct wmi_frame_layout *layout)
{
    struct wmi_uninit_shard *shard = local;
    const struct wmi_wave *executing = ((const struct wmi_frame *)frame)->wave;
    const uint32_t wave = executing->index;
    const struct wmi_uninit_instruction *insn = wmi_uninit_instruction_of(shard->check, number);
    const struct wmi_row *row = &wmi_rows[insn->shadow.id];
    if (!*watched)
        *watched = start_shadow(shard, frame, layout, executing);
    struct wmi_shadow *shadow = *watched;
    if (!shadow)
        return NULL;
    wmi_shadow_follow(shadow, frame);
    check_done(shard, shadow, frame, wave);
    wmi_shadow_settle_state(shadow, frame);
    if (!shard->check->origins && shadow->executed % LOOK_AFTER == 0 && !wmi_shadow_differs(shadow, frame)) {
        *watched = NULL;
        return NULL;
    }
    if (row->class == WMI_CLASS_CONTROL)
        check_control(shard, shadow, frame, insn, wave);
    else if (row->class != WMI_CLASS_SALU && row->class != WMI_CLASS_VALU && row->class != WMI_CLASS_EXPORT &&
             !wmi_uninit_exchanges_lanes(row))
        check_address(shard, shadow, frame, insn, wave);
    wmi_shadow_precede(shadow, frame, &insn->shadow);
    return shadow->frame;
}
