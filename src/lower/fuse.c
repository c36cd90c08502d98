/* SPDX-License-Identifier: MIT */
/* Fuses 64-bit additions: v_add_co_u32 and the v_addc_co_u32 after it, with the SGPR operands that they add,
 * and without the carry out if nothing reads it. If the second one's carry is lost in null, the first one's
 * is made by a compare behind the sum.
 *
 * Steps in between and later readers are found by the operands of the steps (lower/step.h). */
#include "lower/fuse.h"

enum {
    LOOK_BACK = 4,       /* maximum distance in steps from a sum back to the move of its SGPR */
    APART = 8,           /* maximum distance between the two halves */
    LOOK_AHEAD = 1 << 8, /* maximum distance to look for readers; farther values count as read */
};

#define NO_SCALAR UINT32_MAX /* of places in the scalar file */

struct block {
    struct wmi_builder *b;
    size_t from;
    unsigned lanes;
};

static struct wmi_step *step_at(const struct block *block, size_t i)
{
    return &block->b->steps[i];
}

static void remove_step(const struct block *block, size_t i)
{
    *step_at(block, i) = (struct wmi_step){.id = WMI_STEP_NONE};
}

static struct wmi_extent row_span(const struct block *block, uint32_t row)
{
    return (struct wmi_extent){row, row + 4 * block->lanes};
}

/* An addend of `low` that neither `low` nor `high` overwrites, so that a sum below it has wrapped; 0 if there
 * is none. */
static uint32_t lasting_addend(const struct wmi_step *low, const struct wmi_step *high)
{
    const uint32_t addends[] = {low->b, low->a};
    for (unsigned i = 0; i < 2; i++)
        if (addends[i] != low->d && addends[i] != high->d)
            return addends[i];
    return 0;
}

/* Whether `high` adds the carry of `low` and both can be one step: what `low` writes must not be another
 * source of `high`. */
static bool is_sum(const struct wmi_step *low, const struct wmi_step *high)
{
    return low->id == wmi_step_of_body(WMI_INSN_v_add_co_u32) &&
           high->id == wmi_step_of_body(WMI_INSN_v_addc_co_u32) && !low->y && !high->y &&
           low->lanes == high->lanes && low->e == high->c &&
           (low->e == high->e || (wmi_is_null(high->e) && lasting_addend(low, high))) && low->d != high->a &&
           low->d != high->b && low->d != high->d;
}

/* Whether the low half can be computed after the step instead of before it. */
static bool can_pass(const struct block *block, const struct wmi_step *low, const struct wmi_step *step)
{
    const struct wmi_step_facts facts = wmi_step_facts_of(step->id);
    const struct wmi_extent mask = wmi_step_span(low, WMI_OP_E, block->lanes), sum = row_span(block, low->d),
                            a = row_span(block, low->a), b = row_span(block, low->b);
    return step->id == WMI_STEP_NONE ||
           (facts.flags & WMI_STEP_PURE && !(facts.writes & WMI_ON_EXEC) &&
            !wmi_step_reads_scalars(step, mask, block->lanes) &&
            !wmi_step_writes_scalars(step, mask, block->lanes) &&
            !wmi_step_reads_rows(step, sum, block->lanes) && !wmi_step_writes_rows(step, sum, block->lanes) &&
            !wmi_step_writes_rows(step, a, block->lanes) && !wmi_step_writes_rows(step, b, block->lanes));
}

/* If the step is a low half whose high half follows, moves it in front of that and returns its new place. */
static size_t move_to_high_half(const struct block *block, size_t at)
{
    const struct wmi_step low = *step_at(block, at);
    if (low.id != wmi_step_of_body(WMI_INSN_v_add_co_u32))
        return at;
    for (size_t i = at + 1; i < block->b->count && i - at <= APART; i++) {
        if (is_sum(&low, step_at(block, i))) {
            for (size_t k = at; k + 1 < i; k++)
                *step_at(block, k) = *step_at(block, k + 1);
            *step_at(block, i - 1) = low;
            return i - 1;
        }
        if (!can_pass(block, &low, step_at(block, i)))
            break;
    }
    return at;
}

/* The step with this id that wrote `row` last, at most `window` steps before `at`; `at` if there is none. */
static size_t find_writer(const struct block *block, size_t at, enum wmi_step_id id, uint32_t row,
                          size_t window)
{
    const struct wmi_extent span = row_span(block, row);
    const size_t first = at - block->from > window ? at - window : block->from;
    for (size_t i = at; i-- > first;) {
        const struct wmi_step *step = step_at(block, i);
        if (step->id == id && step->d == row)
            return i;
        if (wmi_step_writes_rows(step, span, block->lanes))
            break;
    }
    return at;
}

/* Whether no step between `writer` and `at` reads `row` or changes EXEC. */
static bool is_private(const struct block *block, size_t writer, size_t at, uint32_t row)
{
    for (size_t i = writer + 1; i < at; i++) {
        const struct wmi_step *step = step_at(block, i);
        const struct wmi_step_facts facts = wmi_step_facts_of(step->id);
        if (step->id != WMI_STEP_NONE && (!(facts.flags & WMI_STEP_PURE) || facts.writes & WMI_ON_EXEC ||
                                          wmi_step_reads_rows(step, row_span(block, row), block->lanes)))
            return false;
    }
    return true;
}

/* Whether the scalar that step `writer` reads is unchanged at step `at`. */
static bool keeps_scalar(const struct block *block, size_t writer, size_t at)
{
    const struct wmi_extent scalar = wmi_step_span(step_at(block, writer), WMI_OP_A, block->lanes);
    for (size_t i = writer + 1; i < at; i++)
        if (wmi_step_writes_scalars(step_at(block, i), scalar, block->lanes))
            return false;
    return true;
}

/* Whether a step after `at` reads a temporary row before another step overwrites it. */
static bool is_row_read(const struct block *block, size_t at, uint32_t row)
{
    const struct wmi_extent span = row_span(block, row);
    for (size_t i = at + 1; i < block->b->count; i++) {
        const struct wmi_step *step = step_at(block, i);
        if (i - at > LOOK_AHEAD || wmi_step_reads_rows(step, span, block->lanes))
            return true;
        if (wmi_step_overwrites(step, span, block->lanes))
            return false;
    }
    return false; /* temporary rows are not live across blocks */
}

/* Whether a step after `at` may read the lane mask at `place`. */
static bool is_mask_read(const struct block *block, size_t at, uint32_t place)
{
    const struct wmi_extent span = {place, place + block->lanes / 8};
    enum { ELSEWHERE = WMI_STEP_LEAVES | WMI_STEP_BRANCHES | WMI_STEP_PAUSES | WMI_STEP_TAKES_NEXT };
    if (wmi_is_null(place))
        return false;
    for (size_t i = at + 1; i < block->b->count && i - at <= LOOK_AHEAD; i++) {
        const struct wmi_step *step = step_at(block, i);
        const unsigned flags = wmi_step_facts_of(step->id).flags;
        if (flags & WMI_STEP_ENDS_WAVE)
            return false;
        if (flags & ELSEWHERE || wmi_step_reads_scalars(step, span, block->lanes))
            return true;
        if (wmi_step_overwrites(step, span, block->lanes))
            return false;
    }
    return true;
}

/* The step at the place, from which one half of a sum was removed, gives the mask that `low` writes. */
static void put_low_carry(const struct block *block, size_t at, const struct wmi_step *low, uint32_t addend)
{
    if (is_mask_read(block, at, low->e))
        *step_at(block, at) = (struct wmi_step){
            .id = wmi_step_of_body(WMI_INSN_v_cmp_lt_u32),
            .d = low->e,
            .a = low->d,
            .b = addend,
            .lanes = low->lanes,
            .pc = low->pc,
            .use = {[WMI_OP_D] = low->use[WMI_OP_E],
                    [WMI_OP_A] = low->use[WMI_OP_A],
                    [WMI_OP_B] = low->use[WMI_OP_B]},
        };
}

/* The scalar that the row of the sum at the place is a broadcast of, or NO_SCALAR. */
static uint32_t broadcast_scalar(const struct block *block, size_t at, uint32_t row)
{
    const size_t writer = find_writer(block, at, WMI_STEP_stage_BROADCAST, row, LOOK_AHEAD);
    return writer != at && keeps_scalar(block, writer, at) ? step_at(block, writer)->a : NO_SCALAR;
}

/* Fuses steps `at` and at + 1. */
static void fuse_sum(const struct block *block, size_t at)
{
    struct wmi_step *low = step_at(block, at);
    const struct wmi_step first = *low, high = *step_at(block, at + 1);
    enum wmi_step_id id = WMI_STEP_fused_ADD_64;
    uint32_t high_a = high.a, high_b = high.b;
    const uint32_t spread = low->a; /* row that may be the broadcast of a scalar */
    const bool own = spread != low->b && spread != high.a && spread != high.b;
    const uint32_t low_scalar = own ? broadcast_scalar(block, at, spread) : NO_SCALAR;
    if (low_scalar != NO_SCALAR) {
        id = WMI_STEP_fused_ADD_64_SCALAR;
        low->a = low_scalar;
        const uint32_t high_scalar = broadcast_scalar(block, at, high.a);
        /* The high half can absorb a v_mov_b32 from an SGPR. */
        const bool replaces = high.a != high.b && (high.a == high.d || high.b == high.d) && low->b != high.d;
        const size_t high_writer =
            replaces ? find_writer(block, at, WMI_STEP_fused_MOVE_SCALAR, high.d, LOOK_BACK) : at;
        if (high_writer != at && keeps_scalar(block, high_writer, at) &&
            is_private(block, high_writer, at, high.d) && step_at(block, high_writer)->lanes == low->lanes) {
            id = WMI_STEP_fused_ADD_64_SCALARS;
            high_b = high.a == high.d ? high.b : high.a;
            high_a = step_at(block, high_writer)->a;
            remove_step(block, high_writer);
        } else if (high_scalar != NO_SCALAR) {
            id = WMI_STEP_fused_ADD_64_SCALARS;
            high_a = high_scalar;
        }
    }
    *low = (struct wmi_step){.id = (uint16_t)id,
                             .d = low->d,
                             .a = low->a,
                             .b = low->b,
                             .c = high_a,
                             .e = high_b,
                             .lanes = low->lanes,
                             .x = high.d,
                             .y = high.e,
                             .pc = low->pc};
    wmi_step_take_uses(low);
    remove_step(block, at + 1);
    if (first.e != high.e)
        put_low_carry(block, at + 1, &first, lasting_addend(&first, &high));
}

static void drop_carry(const struct block *block, size_t at)
{
    struct wmi_step *sum = step_at(block, at);
    if (is_mask_read(block, at, sum->y))
        return;
    sum->id = (uint16_t)(sum->id + WMI_FUSED_WITHOUT_CARRY);
    wmi_step_take_uses(sum);
}

void wmi_fuse(struct wmi_builder *b, size_t from)
{
    const struct block block = {b, from, b->code->options.lanes};
    size_t to = from;
    bool fused = false;
    for (size_t i = from; i + 1 < b->count; i++) {
        const size_t at = move_to_high_half(&block, i);
        if (is_sum(step_at(&block, at), step_at(&block, at + 1))) {
            fuse_sum(&block, at);
            fused = true;
        }
    }
    if (!fused)
        return;
    for (size_t i = from; i < b->count; i++) {
        const enum wmi_step_id id = b->steps[i].id;
        if (id >= WMI_STEP_fused_ADD_64 && id <= WMI_STEP_fused_ADD_64_SCALARS)
            drop_carry(&block, i);
        else if (id == WMI_STEP_stage_BROADCAST && !is_row_read(&block, i, b->steps[i].d))
            remove_step(&block, i);
    }
    for (size_t i = from; i < b->count; i++)
        if (b->steps[i].id != WMI_STEP_NONE)
            b->steps[to++] = b->steps[i];
    b->count = to;
}
