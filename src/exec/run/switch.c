/* SPDX-License-Identifier: MIT */
#include "exec/run/switch.h"

#include "exec/run/dispatch.h"
#include "exec/run/program.h"
#include "exec/run/waiting.h"

#include <string.h>

static struct wmi_program *wanted(struct wmi_wave *wave, uint64_t instructions)
{
    const struct wmi_observer *holder = wave->group->dispatch->holder;
    return holder->program(wave->worker->observers[0], wave, instructions);
}

/* The most instructions from one taken branch to the next: code that has been lowered, and some that has not.
 */
static uint64_t straight_on(const struct wmi_wave *wave)
{
    enum { NOT_LOWERED = 1 << 12 };
    return wmi_program_code(wave->group->dispatch->program)->words.word_count + NOT_LOWERED;
}

void wmi_wave_forget_compiled(struct wmi_wave *wave)
{
    struct wmi_frame *frame = wave->frame;
    frame->compiled.pristine = frame->compiled.has_bases = frame->compiled.repeats = 0;
    frame->compiled.scalar_base = frame->compiled.private_found = frame->compiled.masks_known = 0;
    memset(frame->compiled.lds_known, 0, sizeof frame->compiled.lds_known);
    memset(frame->compiled.lds_lasting, 0, sizeof frame->compiled.lds_lasting);
}

/* The table of computed jumps leads to steps of one program. */
static void set_program(struct wmi_wave *wave, struct wmi_program *program)
{
    struct wmi_worker *worker = wave->worker;
    if (wave->program != program)
        wmi_wave_forget_compiled(wave);
    wave->program = program;
    if (worker->program != program)
        memset(worker->jumps, 0, sizeof worker->jumps);
    worker->program = program;
}

static void choose(struct wmi_wave *wave, uint64_t instructions)
{
    struct wmi_program *program = wanted(wave, instructions);
    uint64_t place;
    if (program != wave->program && wmi_program_place_of(wave->program, wave->resume, &place)) {
        const struct wmi_op *step = wmi_program_resume_at(program, place);
        if (step) {
            wave->resume = step;
            set_program(wave, program);
        }
    }
    set_program(wave, wave->program);
}

void wmi_wave_choose(struct wmi_wave *wave, uint64_t instructions)
{
    choose(wave, instructions + straight_on(wave));
}

void wmi_wave_choose_to_probe(struct wmi_wave *wave)
{
    choose(wave, WMI_PROBED_BRANCHES * straight_on(wave));
}

const struct wmi_op *wmi_wave_go_on(struct wmi_wave *wave, const struct wmi_op *op)
{
    const uint64_t left = wave->frame->left > 0 ? (uint64_t)wave->frame->left : 0;
    struct wmi_program *program = wanted(wave, left + straight_on(wave)),
                       *all = wave->group->dispatch->program;
    const uint64_t place = wmi_place_with_msb(op->value, op->y) | op->x;
    if (program == wave->program)
        return op + 1;
    const struct wmi_op *hold = wmi_program_hold_at(program, place);
    if (!hold && wave->program == all) /* up to the end of the slice */
        return op + 1;
    if (!hold) {
        program = all;
        hold = wmi_program_hold_at(program, place);
    }
    if (!hold && wmi_program_resume_at(program, place))
        hold = wmi_program_hold_at(program, place);
    if (!hold)
        return op + 1;
    set_program(wave, program);
    wave->frame->left -= (int64_t)op->c - (int64_t)hold->c;
    wave->resume = hold;
    return hold + 1;
}

uint64_t wmi_wave_executed_before(struct wmi_wave *wave, uint64_t pc)
{
    const uint64_t state = wave->frame->mode >> WMI_MODE_STATE_SHIFT & WMI_STATE_BITS;
    /* The upper bits of VGPR numbers are no part of the frame; blocks begin alike in all of these states. */
    const struct wmi_op *hold = NULL;
    for (unsigned msb = 0; !hold && msb <= UINT8_MAX; msb++)
        hold = wmi_program_hold_at(wave->group->dispatch->program, wmi_place_with_msb(pc, msb) | state);
    return wmi_wave_clock(wave) + (hold ? hold->c : 0);
}
