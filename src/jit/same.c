/* SPDX-License-Identifier: MIT */
#include "jit/same.h"

#include "jit/cut.h"
#include "jit/lds_plan.h"
#include "jit/live.h"
#include "jit/runs.h"

#include <string.h>

/* What is known of a row while the steps ahead are looked at. */
enum sameness { OTHER, UNIFORM, SAME };

struct ahead {
    const struct wmi_stretch *s;
    uint8_t rows[WMI_MOST_ROWS]; /* enum sameness */
    uint8_t address;             /* the number of the address of the read */
    unsigned uses;
};

static uint32_t row_of(const struct wmi_stretch *s, unsigned number)
{
    return (uint32_t)offsetof(struct wmi_frame, rows) + number * s->row_bytes;
}

static unsigned count_rows(const struct wmi_stretch *s)
{
    const struct wmi_code *code = s->block->code;
    return wmi_row_number(s->block->code, code->constant_offset + code->constant_rows * code->row_bytes);
}

/* Whether the step reads a row that is the same in strips. *others: it also reads one of which nothing is
 * known. */
static bool reads_same(const struct ahead *a, const struct wmi_step *step, bool *others)
{
    bool same = false;
    *others = false;
    for (unsigned i = 0; i < WMI_STEP_OPERANDS; i++) {
        const struct wmi_extent span = wmi_stretch_operand_rows(a->s, step, i, WMI_USE_READ);
        for (uint32_t row = span.from; row < span.to; row += a->s->row_bytes) {
            const uint8_t known = a->rows[wmi_row_number(a->s->block->code, row)];
            same |= known == SAME;
            *others |= known == OTHER;
        }
    }
    return same;
}

static bool is_same_read(const struct ahead *a, const struct wmi_step *step)
{
    for (unsigned i = 0; i < count_rows(a->s); i++) {
        const struct wmi_extent row = {row_of(a->s, i), row_of(a->s, i + 1)};
        if (a->rows[i] == SAME && wmi_step_reads_rows(step, row, a->s->lanes))
            return true;
    }
    return false;
}

/* The rows that the step writes are as `sameness` says. */
static void note_writes(struct ahead *a, const struct wmi_step *step, enum sameness sameness)
{
    for (unsigned i = 0; i < WMI_STEP_OPERANDS; i++) {
        const struct wmi_extent span = wmi_stretch_operand_rows(a->s, step, i, WMI_USE_WRITE);
        for (uint32_t row = span.from; row < span.to; row += a->s->row_bytes)
            a->rows[wmi_row_number(a->s->block->code, row)] = (uint8_t)sameness;
    }
}

/* Whether nothing reads the rows that are the same from the step on. */
static bool are_dead(const struct ahead *a, size_t step)
{
    const struct wmi_code *code = a->s->block->code;
    for (unsigned i = 0; i < count_rows(a->s); i++) {
        const uint32_t row = row_of(a->s, i);
        if (a->rows[i] != SAME)
            continue;
        if (row < code->vgpr_offset ? is_same_read(a, &a->s->block->steps[step])
                                    : wmi_live_is(a->s->live, row, step, false))
            return false;
    }
    return true;
}

static bool stores_same(const struct ahead *a, size_t at)
{
    const struct wmi_step *step = &a->s->block->steps[at];
    return step->id == WMI_STEP_lds_write_b32 && a->s->lds->number[at] == a->address &&
           a->s->guess[at] == 0 && a->rows[wmi_row_number(a->s->block->code, step->a)] != SAME;
}

/* Whether the rows can stay in one register at the step. */
static bool passes(struct ahead *a, size_t at)
{
    const struct wmi_step *step = &a->s->block->steps[at];
    bool others;
    if (reads_same(a, step, &others)) {
        if (stores_same(a, at)) {
            a->uses++;
            return true;
        }
        if (others || step->lanes != offsetof(struct wmi_frame, exec) || !wmi_vector_works_on_bases(step))
            return false;
        a->uses++;
        note_writes(a, step, SAME);
        return true;
    }
    if (is_same_read(a, step)) /* by way of operands that are not looked at */
        return false;
    const bool uniform = !others && step->lanes == offsetof(struct wmi_frame, exec) &&
                         wmi_vector_works_on_bases(step) && wmi_vector_emitter(step);
    note_writes(a, step, uniform ? UNIFORM : OTHER);
    return true;
}

bool wmi_same_is_worth(const struct wmi_stretch *s, const struct wmi_step *step)
{
    enum { LEAST_USES = 3 };
    struct ahead a = {.s = s, .address = s->lds->number[s->at]};
    for (unsigned i = 0; i < count_rows(s); i++) {
        const uint8_t held = s->held_of_row[i];
        if (row_of(s, i) >= s->block->code->constant_offset || (held != WMI_NOT_HELD && s->held[held].shared))
            a.rows[i] = held != WMI_NOT_HELD && s->held[held].runs ? SAME : UNIFORM;
    }
    a.rows[wmi_row_number(s->block->code, step->d)] = SAME;
    size_t at = s->at + 1;
    for (;
         at < s->end && s->block->steps[at].id != WMI_STEP_stage_EXEC && !wmi_is_branch(&s->block->steps[at]);
         at++) {
        if (!passes(&a, at))
            return false;
        if (are_dead(&a, at + 1))
            return a.uses >= LEAST_USES;
    }
    return false;
}

bool wmi_same_emit(struct wmi_stretch *s, const struct wmi_step *step)
{
    return s->has_same && wmi_vector_works_on_bases(step) && wmi_runs_emit_same(s, step);
}
