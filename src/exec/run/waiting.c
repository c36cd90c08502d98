/* SPDX-License-Identifier: MIT */
/* Finds out whether a wave only waits, that is, repeats a loop without effect until memory changes. */
#include "exec/run/waiting.h"

#include "exec/run/dispatch.h"
#include "exec/run/polling.h"
#include "exec/run/program.h"
#include "lower/flow.h"

#include <string.h>

enum {
    ATTEMPTS = 2,     /* a second attempt, because the value that the wave loaded last may be new to it */
    STRAIGHT_ON = 256 /* maximum instructions between two branches of a loop that only waits */
};

static void remember_scalars(struct wmi_probe *probe, const struct wmi_wave *wave)
{
    probe->start = wave->resume;
    probe->mode = wave->frame->mode;
    memcpy(probe->s, wave->frame->s, sizeof probe->s);
}

static bool same_scalars(const struct wmi_probe *probe, const struct wmi_wave *wave)
{
    return wave->resume == probe->start && wave->frame->mode == probe->mode &&
           !memcmp(probe->s, wave->frame->s, sizeof probe->s);
}

/* Runs the wave until it returns to its starting point. False: not within WMI_WAITING_BRANCHES branches. */
static bool go_round(struct wmi_probe *probe, struct wmi_wave *wave)
{
    for (probe->branches = 0; probe->branches < WMI_WAITING_BRANCHES;) {
        probe->run(wave);
        if (wave->state != WMI_WAVE_READY)
            return false;
        probe->visited[probe->branches++] = wave->resume;
        if (wave->resume == probe->start)
            return true;
    }
    return false;
}

bool wmi_wave_waits(struct wmi_probe *probe, struct wmi_wave *wave)
{
    const unsigned char *vgprs = (const unsigned char *)wave->frame + probe->vgpr_offset;
    const struct wmi_op *first[WMI_WAITING_BRANCHES];
    probe->progressed = true;
    for (unsigned attempt = 0; attempt < ATTEMPTS; attempt++) {
        remember_scalars(probe, wave);
        if (!go_round(probe, wave))
            return false;
        if (!same_scalars(
                probe,
                wave)) /* compared first because it is cheap: loops that compute have counters in SGPRs */
            continue;
        const unsigned branches = probe->branches;
        memcpy(first, probe->visited, sizeof first);
        memcpy(probe->vgprs, vgprs, probe->vgpr_bytes);
        if (!go_round(probe, wave))
            return false;
        if (same_scalars(probe, wave) && !memcmp(probe->vgprs, vgprs, probe->vgpr_bytes)) {
            probe->progressed = attempt || branches != probe->branches ||
                                memcmp(first, probe->visited, branches * sizeof *first);
            return true;
        }
    }
    return false;
}

/* Whether the instruction has a step that is retried until it succeeds. */
static bool waits_in_place(const struct wmi_instruction *insn)
{
    return insn->id == WMI_INSN_ds_gws_barrier || insn->id == WMI_INSN_ds_gws_sema_p ||
           insn->id == WMI_INSN_ds_ordered_count;
}

/* Whether the first branch of the code from `pc` on leads to `next`, without stores on the way. */
static bool leads_without_stores(const struct wmi_program *program, uint64_t pc, uint64_t next)
{
    for (unsigned i = 0; i < STRAIGHT_ON; i++) {
        struct wmi_instruction insn;
        if (i && pc == next)
            return true;
        if (!wmi_code_decode(wmi_program_code(program), pc, &insn) || wmi_only_changes_memory(&insn))
            return false;
        if (!i && pc == next && waits_in_place(&insn))
            return true;
        const struct wmi_flow flow = wmi_control_flow(&insn);
        pc += 4u * insn.dwords;
        if (flow.branches && pc + (uint64_t)(4 * flow.distance) == next)
            return true;
        if (flow.ends)
            return false;
    }
    return false;
}

bool wmi_waiting_changes_nothing(const struct wmi_probe *probe, const struct wmi_wave *wave)
{
    struct wmi_program *program = wave->program;
    uint64_t pc = wmi_program_pc_of(program, probe->start);
    for (unsigned i = 0; i < probe->branches; i++) {
        const uint64_t next = wmi_program_pc_of(program, probe->visited[i]);
        if (!leads_without_stores(program, pc, next))
            return false;
        pc = next;
    }
    return true;
}

uint64_t wmi_waiting_pc(const struct wmi_probe *probe, const struct wmi_wave *wave)
{
    struct wmi_program *program = wave->program;
    uint64_t lowest = UINT64_MAX;
    for (unsigned i = 0; i < probe->branches; i++) {
        const uint64_t pc = wmi_program_pc_of(program, probe->visited[i]);
        lowest = pc < lowest ? pc : lowest;
    }
    return lowest;
}
