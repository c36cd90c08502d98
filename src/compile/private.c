/* SPDX-License-Identifier: MIT */
/* Host code of loads and stores of private memory at an offset that is the same in all lanes: the dwords of
 * the lanes are side by side, so that a row of registers is a row of memory.
 *
 * Compilers access it again and again by the same scalars, a V# and an offset. The first access of a stretch
 * checks them and the range of all that follow until one of the scalars changes, and keeps the place on the
 * host in the frame (private_found). A wave that comes back in between, from steps that were interpreted, has
 * 0 there, and makes the check at the next access. Which accesses share a check depends on the steps alone, so
 * that a wave may change from one version of a stretch to another. */
#include "compile/lane_access.h"
#include "compile/scalar_memory.h"
#include "memory/buffer.h"

enum { MOST_STEPS = 384 }; /* in which an access looks for others */

static const int32_t found = offsetof(struct wmi_frame, private_found);

/* ---- which steps ---- */

/* What a step moves, or no rows. */
static struct wmi_lane_shape shape_of(const struct wmi_step *step)
{
    switch (step->id) {
    case WMI_STEP_buffer_LOAD_1x4_000:
    case WMI_STEP_buffer_STORE_1x4_000:
        return (struct wmi_lane_shape){4, 1, false};
    case WMI_STEP_buffer_LOAD_2x4_000:
    case WMI_STEP_buffer_STORE_2x4_000:
        return (struct wmi_lane_shape){8, 2, false};
    case WMI_STEP_buffer_LOAD_3x4_000:
    case WMI_STEP_buffer_STORE_3x4_000:
        return (struct wmi_lane_shape){12, 3, false};
    case WMI_STEP_buffer_LOAD_4x4_000:
    case WMI_STEP_buffer_STORE_4x4_000:
        return (struct wmi_lane_shape){16, 4, false};
    default:
        return (struct wmi_lane_shape){0};
    }
}

static bool is_emitted(const struct wmi_step *step)
{
    const struct wmi_memory_op *m = step->data;
    return shape_of(step).rows && step->lanes == offsetof(struct wmi_frame, exec) &&
           step->y == WMI_BUFFER_LINEAR && m->buffer->private_unchecked && m->offset >= 0 &&
           m->offset % 4 == 0 && m->offset <= m->buffer->max_offset;
}

bool wmi_private_skips(const struct wmi_step *step)
{
    return is_emitted(step);
}

/* ---- the place ---- */

/* The bytes that the access needs behind those of offset 0. */
static struct wmi_extent range_of(const struct wmi_stretch *s, const struct wmi_step *step)
{
    const uint32_t from = (uint32_t)((const struct wmi_memory_op *)step->data)->offset / 4 * s->row_bytes;
    return (struct wmi_extent){from, from + shape_of(step).rows * s->row_bytes};
}

static bool has_scalars_of(const struct wmi_step *step, const struct wmi_step *other)
{
    return step->b == other->b && step->e == other->e;
}

/* Whether the step may change what accesses with the scalars of `access` depend on. */
static bool changes_scalars(const struct wmi_stretch *s, const struct wmi_step *step,
                            const struct wmi_step *access)
{
    const struct wmi_extent v = {access->b, access->b + 16}, offset = {access->e, access->e + 4};
    return wmi_step_writes_scalars(step, v, s->lanes) || wmi_step_writes_scalars(step, offset, s->lanes) ||
           (is_emitted(step) && !has_scalars_of(step, access));
}

/* The access that makes the check for this one. */
static size_t find_leader(const struct wmi_stretch *s, const struct wmi_step *step)
{
    size_t leader = s->at;
    for (size_t i = s->at; i-- > s->from && s->at - i < MOST_STEPS;) {
        const struct wmi_step *before = &s->block->steps[i];
        if (s->block->leads[i + 1] || changes_scalars(s, before, step))
            break; /* waves that start may have skipped what is in front of a place where branches lead */
        if (is_emitted(before))
            leader = i;
    }
    return leader;
}

/* What the accesses behind a leader need, with it. */
static struct wmi_extent range_ahead(const struct wmi_stretch *s, size_t leader)
{
    const struct wmi_block *block = s->block;
    struct wmi_extent all = range_of(s, &block->steps[leader]);
    for (size_t i = leader; i < block->count && i - leader < MOST_STEPS; i++) {
        const struct wmi_step *step = &block->steps[i];
        if (changes_scalars(s, step, &block->steps[leader]))
            break;
        if (is_emitted(step)) {
            const struct wmi_extent range = range_of(s, step);
            all.from = range.from < all.from ? range.from : all.from;
            all.to = range.to > all.to ? range.to : all.to;
        }
    }
    return all;
}

/* RAX = the place on the host of lane 0 at offset 0, which it keeps. Leaves if the V# is none of private
 * memory, or the range is not in that of the wave. Changes RCX. */
static void check(struct wmi_stretch *s, const struct wmi_step *step, struct wmi_extent range)
{
    const struct wmi_memory_op *m = step->data;
    const struct wmi_buffer_rules *rules = m->buffer;
    const int32_t words = (int32_t)step->b;
    wmi_scalar_memory(&s->host, WMI_MOV_LOAD, false, WMI_RAX, WMI_FRAME, words + 4);
    wmi_scalar_memory(&s->host, WMI_MOV_LOAD, false, WMI_RCX, WMI_FRAME, words + 12);
    wmi_arithmetic_immediate(&s->host, 6, false, WMI_RAX, (int32_t)rules->private_value[0]);
    wmi_arithmetic_immediate(&s->host, 6, false, WMI_RCX, (int32_t)rules->private_value[1]);
    wmi_arithmetic_immediate(&s->host, 4, false, WMI_RAX, (int32_t)rules->private_mask[0]);
    wmi_arithmetic_immediate(&s->host, 4, false, WMI_RCX, (int32_t)rules->private_mask[1]);
    wmi_scalar_registers(&s->host, WMI_OR, false, WMI_RAX, WMI_RCX);
    wmi_stretch_exit_if(s, WMI_IF_NOT_EQUAL);
    wmi_scalars_load_pair(s, WMI_RAX, step->b);
    wmi_shift_immediate(&s->host, 4, true, WMI_RAX, 16); /* see wmi_buffer_canonical() */
    wmi_shift_immediate(&s->host, 7, true, WMI_RAX, 16);
    wmi_scalar_memory(&s->host, WMI_MOV_LOAD, false, WMI_RCX, WMI_FRAME, (int32_t)step->e);
    wmi_scalar_registers(&s->host, WMI_ADD, true, WMI_RAX, WMI_RCX);
    wmi_arithmetic_immediate(&s->host, 0, true, WMI_RAX, (int32_t)range.from);
    wmi_scalar_memory(&s->host, WMI_SUB, true, WMI_RAX, WMI_FRAME, offsetof(struct wmi_frame, private_low));
    wmi_scalar_memory(&s->host, WMI_MOV_LOAD, true, WMI_RCX, WMI_FRAME,
                      offsetof(struct wmi_frame, private_bytes));
    wmi_arithmetic_immediate(&s->host, 5, true, WMI_RCX, (int32_t)(range.to - range.from));
    wmi_stretch_exit_if(s, WMI_IF_BELOW);
    wmi_scalar_registers(&s->host, WMI_CMP, true, WMI_RAX, WMI_RCX);
    wmi_stretch_exit_if(s, WMI_IF_ABOVE);
    wmi_scalar_memory(&s->host, WMI_ADD, true, WMI_RAX, WMI_FRAME, offsetof(struct wmi_frame, private_host));
    wmi_arithmetic_immediate(&s->host, 5, true, WMI_RAX, (int32_t)range.from);
    wmi_scalar_memory(&s->host, WMI_MOV_STORE, true, WMI_RAX, WMI_FRAME, found);
}

/* RAX = the place on the host of lane 0 at offset 0. */
static void find_place(struct wmi_stretch *s, const struct wmi_step *step)
{
    const size_t leader = find_leader(s, step);
    const struct wmi_extent range = range_ahead(s, leader);
    if (leader == s->at) {
        check(s, step, range);
        return;
    }
    wmi_scalar_memory(&s->host, WMI_MOV_LOAD, true, WMI_RAX, WMI_FRAME, found);
    wmi_arithmetic_immediate(&s->host, 7, true, WMI_RAX, 0);
    const size_t unknown = wmi_jump_if(&s->host, WMI_IF_EQUAL);
    const size_t usual = s->host.count, first_exit = s->exit_count;
    check(s, step, range);
    wmi_stretch_set_aside(s, usual, first_exit, &unknown, 1, usual);
}

/* ---- the steps ---- */

static struct wmi_host_operand place_of(const struct wmi_stretch *s, struct wmi_extent range, unsigned row,
                                        unsigned strip)
{
    return wmi_at(WMI_RAX, (int32_t)(range.from + row * s->row_bytes + strip * WMI_STRIP_BYTES));
}

static void load(struct wmi_stretch *s, const struct wmi_step *step, struct wmi_lane_shape shape)
{
    const struct wmi_extent range = range_of(s, step);
    struct wmi_rows d[WMI_LANE_ROWS];
    wmi_access_results(s, shape, false, d);
    find_place(s, step);
    for (unsigned row = 0; row < shape.rows; row++)
        for (unsigned i = 0; i < s->strips; i++)
            wmi_evex_plain(&s->host, WMI_VMOVUPS_LOAD, d[row].reg[i], 0, place_of(s, range, row, i));
    s->at++; /* the step that is skipped would write the same rows */
    wmi_access_write(s, shape, step->d, d);
}

static void store(struct wmi_stretch *s, const struct wmi_step *step, struct wmi_lane_shape shape)
{
    const struct wmi_extent range = range_of(s, step);
    struct wmi_rows data[WMI_LANE_ROWS];
    wmi_access_data(s, shape, step->c, data);
    find_place(s, step);
    for (unsigned row = 0; row < shape.rows; row++)
        for (unsigned i = 0; i < s->strips; i++)
            wmi_evex(&s->host, WMI_VMOVUPS_STORE, wmi_rows_register(&data[row], i), 0,
                     place_of(s, range, row, i), wmi_access_mask(s, i), WMI_NO_IMMEDIATE);
    s->at++;
}

static bool emit_access(struct wmi_stretch *s, const struct wmi_step *step)
{
    const struct wmi_lane_shape shape = shape_of(step);
    if (s->lanes != 64) /* the swizzle of such a V# is for 64 lanes */
        wmi_stretch_exit_here(s, wmi_jump(&s->host));
    if (((const struct wmi_memory_op *)step->data)->kind == WMI_ACCESS_LOAD)
        load(s, step, shape);
    else
        store(s, step, shape);
    wmi_stretch_come_back(s);
    return true;
}

wmi_emit_step *wmi_private_emitter(const struct wmi_step *step)
{
    return is_emitted(step) ? emit_access : NULL;
}
