/* SPDX-License-Identifier: MIT */
/* Host code of loads and stores of private memory: by buffer instructions with a V# that interleaves the
 * lanes of a wave, and by SCRATCH instructions. At an offset that is the same in all lanes, their dwords are
 * side by side, so that a row of registers is a row of memory.
 *
 * Compilers access it again and again by the same scalars, a base and an offset. The first access of a
 * stretch checks them, and the range of all accesses that follow until one of the scalars changes, and keeps
 * the place on the host in the frame (private_found). A wave that comes back in between, from steps that were
 * interpreted, has 0 there, and makes the check at the next access. Which accesses share a check depends on
 * the steps alone, so that a wave may go from one version of a stretch to another. */
#include "jit/cut.h"
#include "jit/lane_access.h"
#include "jit/scalar_memory.h"
#include "memory/buffer.h"

enum { MOST_OFFSET = 1 << 16 }; /* of an instruction; few have so much private memory */

static const int32_t FLAT_SCRATCH = offsetof(struct wmi_frame, s) + 4 * WMI_S_FLAT_SCRATCH;
static const int32_t found = offsetof(struct wmi_frame, compiled.private_found);

/* ---- which steps ---- */

/* Whether it is a buffer instruction; else one of SCRATCH. */
static bool is_buffer(const struct wmi_step *step)
{
    return step->id != WMI_STEP_vmem_careful;
}

/* What a step moves, or no rows. */
static struct wmi_lane_shape shape_of(const struct wmi_step *step)
{
    const struct wmi_memory_op *m = step->data;
    switch (step->id) {
    case WMI_STEP_buffer_LOAD_1x4_000:
    case WMI_STEP_buffer_LOAD_2x4_000:
    case WMI_STEP_buffer_LOAD_3x4_000:
    case WMI_STEP_buffer_LOAD_4x4_000:
    case WMI_STEP_buffer_STORE_1x4_000:
    case WMI_STEP_buffer_STORE_2x4_000:
    case WMI_STEP_buffer_STORE_3x4_000:
    case WMI_STEP_buffer_STORE_4x4_000:
        break;
    case WMI_STEP_vmem_careful:
        if (step->x == WMI_VMEM_SCRATCH && m->kind != WMI_ACCESS_ATOMIC && m->bytes == 4 &&
            m->alignment == WMI_ALIGNMENT_UNALIGNED && !m->late && !m->split_scratch)
            break;
        return (struct wmi_lane_shape){0};
    default:
        return (struct wmi_lane_shape){0};
    }
    return (struct wmi_lane_shape){.bytes = (uint8_t)(4 * m->elements), .rows = m->elements};
}

/* Whether the step says that its offset is the same in all lanes. */
static bool has_one_offset(const struct wmi_step *step)
{
    return is_buffer(step) ? step->y == WMI_BUFFER_LINEAR : step->y & WMI_VMEM_SCALAR_ONLY;
}

static bool is_emitted(const struct wmi_step *step)
{
    const struct wmi_memory_op *m = step->data;
    const unsigned rows = shape_of(step).rows;
    if (!rows || step->lanes != offsetof(struct wmi_frame, exec) ||
        (is_buffer(step) && !m->buffer->private_unchecked))
        return false;
    if (has_one_offset(step))
        return m->offset >= 0 && m->offset % 4 == 0 && m->offset <= MOST_OFFSET;
    return rows == 1 && (!is_buffer(step) || step->y == (WMI_BUFFER_LINEAR | WMI_BUFFER_OFFEN));
}

/* Whether its offset is the same in all lanes. */
static bool is_row(const struct wmi_step *step)
{
    return is_emitted(step) && has_one_offset(step);
}

bool wmi_private_skips(const struct wmi_step *step)
{
    return is_emitted(step) && is_buffer(step);
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
    return step->b == other->b &&
           (is_buffer(step) ? is_buffer(other) && step->e == other->e : !is_buffer(other));
}

/* Whether the step may change what accesses with the scalars of `access` depend on. */
static bool changes_scalars(const struct wmi_stretch *s, const struct wmi_step *step,
                            const struct wmi_step *access)
{
    const bool buffer = is_buffer(access);
    const uint32_t place = buffer ? access->b : (uint32_t)FLAT_SCRATCH,
                   scalar = buffer ? access->e : access->b;
    const struct wmi_extent base = {place, place + (buffer ? 16 : 8)}, offset = {scalar, scalar + 4};
    return wmi_step_writes_scalars(step, base, s->lanes) || wmi_step_writes_scalars(step, offset, s->lanes) ||
           (is_row(step) && !has_scalars_of(step, access));
}

/* The access that makes the check for this one: at most WMI_MOST_STEPS before it, as in the same stretch. */
static size_t find_leader(const struct wmi_stretch *s, const struct wmi_step *step)
{
    size_t leader = s->at;
    for (size_t i = s->at; i-- > s->from;) {
        const struct wmi_step *before = &s->block->steps[i];
        if (s->block->leads[i + 1] || changes_scalars(s, before, step))
            break; /* waves that start may have skipped what is in front of a place where branches lead */
        if (is_row(before))
            leader = i;
    }
    return leader;
}

/* What the accesses behind a leader need, with it. */
static struct wmi_extent range_ahead(const struct wmi_stretch *s, size_t leader)
{
    const struct wmi_block *block = s->block;
    struct wmi_extent all = range_of(s, &block->steps[leader]);
    for (size_t i = leader; i < block->count && i - leader < WMI_MOST_STEPS; i++) {
        const struct wmi_step *step = &block->steps[i];
        if (changes_scalars(s, step, &block->steps[leader]))
            break;
        if (is_row(step)) {
            const struct wmi_extent range = range_of(s, step);
            all.from = range.from < all.from ? range.from : all.from;
            all.to = range.to > all.to ? range.to : all.to;
        }
    }
    return all;
}

/* RAX = the address of lane 0 at the scalar offset. Leaves if that is not of a dword. */
static void find_scratch(struct wmi_stretch *s, const struct wmi_step *step)
{
    enum { LANES_64 = 6, LANES_32 = 5 };
    wmi_scalar_memory(&s->host, WMI_MOV_LOAD, false, WMI_RAX, WMI_FRAME, (int32_t)step->b);
    wmi_test_immediate_8(&s->host, WMI_RAX, 3);
    wmi_stretch_exit_if(s, WMI_IF_NOT_EQUAL);
    wmi_shift_immediate(&s->host, 4, true, WMI_RAX, s->lanes == 64 ? LANES_64 : LANES_32);
    wmi_scalar_memory(&s->host, WMI_ADD, true, WMI_RAX, WMI_FRAME, FLAT_SCRATCH);
}

/* The same. Leaves if the V# is none of private memory. Changes RCX. */
static void find_base(struct wmi_stretch *s, const struct wmi_step *step)
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
}

/* RAX = the place on the host of lane 0 at the scalar offset, which it keeps. Leaves if the range is not in
 * the private memory of the wave. Changes RCX. */
static void check(struct wmi_stretch *s, const struct wmi_step *step, struct wmi_extent range)
{
    if (is_buffer(step))
        find_base(s, step);
    else
        find_scratch(s, step);
    wmi_scalar_memory(&s->host, WMI_SUB, true, WMI_RAX, WMI_FRAME, offsetof(struct wmi_frame, private_low));
    wmi_arithmetic_immediate(&s->host, 0, true, WMI_RAX, (int32_t)range.from);
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

/* The same, if another access has not found it. */
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

/* The current step, or the one that it skips. */
static size_t last_step(const struct wmi_stretch *s, const struct wmi_step *step)
{
    return is_buffer(step) ? s->at + 1 : s->at;
}

static struct wmi_host_operand place_of(const struct wmi_stretch *s, struct wmi_extent range, unsigned row,
                                        unsigned strip)
{
    return wmi_at(WMI_RAX, (int32_t)(range.from + row * s->row_bytes + strip * WMI_STRIP_BYTES));
}

static void move_from_row(struct wmi_stretch *s, const struct wmi_rows *d, struct wmi_extent range,
                          struct wmi_lane_shape shape)
{
    for (unsigned row = 0; row < shape.rows; row++)
        for (unsigned i = 0; i < s->strips; i++)
            wmi_evex_plain(&s->host, WMI_VMOVUPS_LOAD, d[row].reg[i], 0, place_of(s, range, row, i));
}

static void move_to_row(struct wmi_stretch *s, const struct wmi_rows *data, struct wmi_extent range,
                        struct wmi_lane_shape shape)
{
    for (unsigned row = 0; row < shape.rows; row++)
        for (unsigned i = 0; i < s->strips; i++)
            wmi_evex(&s->host, WMI_VMOVUPS_STORE, wmi_rows_register(&data[row], i), 0,
                     place_of(s, range, row, i), wmi_access_mask(s, i), WMI_NO_IMMEDIATE);
}

static void load(struct wmi_stretch *s, const struct wmi_step *step, struct wmi_lane_shape shape)
{
    const struct wmi_extent range = range_of(s, step);
    struct wmi_rows d[WMI_LANE_ROWS];
    wmi_access_results(s, shape, false, d);
    find_place(s, step);
    move_from_row(s, d, range, shape);
    s->at = last_step(s, step); /* the one that is skipped would write the same rows */
    wmi_access_write(s, shape, step->d, d);
}

static void store(struct wmi_stretch *s, const struct wmi_step *step, struct wmi_lane_shape shape)
{
    const struct wmi_extent range = range_of(s, step);
    struct wmi_rows data[WMI_LANE_ROWS];
    wmi_access_data(s, shape, step->c, data);
    find_place(s, step);
    move_to_row(s, data, range, shape);
    s->at = last_step(s, step);
}

/* ---- an offset per lane ---- */

/* What an access at offsets of lanes needs: their registers, distances, and registers in between. */
struct lanes {
    struct wmi_rows offset, distance;
    struct wmi_access_scratch scratch;
    unsigned last, add, odd;
};

static struct lanes take_registers(struct wmi_stretch *s, const struct wmi_step *step,
                                   struct wmi_lane_shape shape)
{
    return (struct lanes){.offset = wmi_access_use(s, shape, step->a),
                          .distance = wmi_stretch_result(s, false),
                          .scratch = wmi_access_scratch(s, shape),
                          .last = wmi_stretch_register(s),
                          .add = wmi_stretch_register(s),
                          .odd = wmi_stretch_register(s)};
}

enum { DWORD_SHIFT = 2 };

/* Of the dwords of all lanes. */
static unsigned row_shift(const struct wmi_stretch *s)
{
    return s->lanes == 64 ? 8 : 7;
}

/* RAX = the place on the host of lane 0 at offset 0, RCX = how many bytes behind it a row may begin. Leaves
 * if there is none. */
static void find_room(struct wmi_stretch *s, const struct wmi_step *step)
{
    if (is_buffer(step))
        find_base(s, step);
    else
        wmi_scalar_memory(&s->host, WMI_MOV_LOAD, true, WMI_RAX, WMI_FRAME, FLAT_SCRATCH);
    wmi_scalar_memory(&s->host, WMI_SUB, true, WMI_RAX, WMI_FRAME, offsetof(struct wmi_frame, private_low));
    wmi_scalar_memory(&s->host, WMI_MOV_LOAD, true, WMI_RCX, WMI_FRAME,
                      offsetof(struct wmi_frame, private_bytes));
    wmi_arithmetic_immediate(&s->host, 5, true, WMI_RCX, 1 << row_shift(s));
    wmi_stretch_exit_if(s, WMI_IF_BELOW);
    wmi_scalar_registers(&s->host, WMI_SUB, true, WMI_RCX, WMI_RAX);
    wmi_stretch_exit_if(s, WMI_IF_BELOW);
    wmi_arithmetic_immediate(&s->host, 7, true, WMI_RCX, INT32_MAX - (1 << row_shift(s)));
    wmi_stretch_exit_if(s, WMI_IF_ABOVE);
    wmi_scalar_memory(&s->host, WMI_ADD, true, WMI_RAX, WMI_FRAME, offsetof(struct wmi_frame, private_host));
}

/* The register = what is added to the offsets of lanes. */
static void find_addend(struct wmi_stretch *s, const struct wmi_step *step, enum wmi_gpr reg)
{
    wmi_move_immediate(&s->host, reg, (uint32_t)((const struct wmi_memory_op *)step->data)->offset);
    if (!is_buffer(step))
        wmi_scalar_memory(&s->host, WMI_ADD, false, reg, WMI_FRAME, (int32_t)step->b);
}

/* RCX = the place on the host of lane 0 at offset 0, and the lanes' distances from there. Leaves if an active
 * lane is not in the wave's private memory, or not at a dword. */
static void find_lanes(struct wmi_stretch *s, const struct wmi_step *step, const struct lanes *l)
{
    find_room(s, step);
    wmi_scalar_registers(&s->host, WMI_MOV_LOAD, true, WMI_R8, WMI_RAX);
    wmi_scalar_registers(&s->host, WMI_MOV_LOAD, false, WMI_RAX, WMI_RCX);
    wmi_shift_immediate(&s->host, 5, false, WMI_RAX, row_shift(s));
    wmi_shift_immediate(&s->host, 4, false, WMI_RAX, DWORD_SHIFT);
    wmi_access_splat(s, l->last);
    find_addend(s, step, WMI_RAX);
    wmi_access_splat(s, l->add);
    wmi_move_immediate(&s->host, WMI_RAX, (1 << DWORD_SHIFT) - 1);
    wmi_access_splat(s, l->odd);
    wmi_move_immediate(&s->host, WMI_R9, (uintptr_t)&wmi_lane_tables);
    for (unsigned i = 0; i < s->strips; i++) {
        const unsigned distance = l->distance.reg[i], mask = wmi_access_mask(s, i);
        wmi_evex_plain(&s->host, WMI_VPADDD, distance, wmi_rows_register(&l->offset, i), wmi_zmm(l->add));
        wmi_access_collect(s, WMI_VPTESTMD, distance, l->odd, mask, WMI_NO_IMMEDIATE, !i);
        wmi_access_collect(s, WMI_VPCMPUD, distance, l->last, mask, WMI_ABOVE, false);
        wmi_evex(&s->host, WMI_SHIFT_IMMEDIATE, WMI_LEFT, distance, wmi_zmm(distance), WMI_NO_MASK,
                 (int)(row_shift(s) - DWORD_SHIFT));
        wmi_evex_plain(&s->host, WMI_VPADDD, distance, distance, wmi_at(WMI_R9, wmi_lane_offsets(4, i)));
    }
    wmi_kortest(&s->host, WMI_K, WMI_K);
    wmi_stretch_exit_if(s, WMI_IF_NOT_EQUAL);
    wmi_scalar_registers(&s->host, WMI_MOV_LOAD, true, WMI_RCX, WMI_R8);
}

/* RAX = the place on the host of lane 0 at the offset of all lanes, active or not. Leaves if the row is not
 * in the wave's private memory. Returns a jump that is taken if the offsets differ, or 0. */
static size_t find_row(struct wmi_stretch *s, const struct wmi_step *step, const struct lanes *l)
{
    const unsigned first = l->last, differs = l->scratch.reg[0], row = l->offset.reg[0];
    size_t differ = 0;
    if (!l->offset.uniform) {
        wmi_evex_plain(&s->host, WMI_VPBROADCASTD, first, 0, wmi_zmm(row));
        wmi_access_find_differences(s, differs, true, first, &l->offset, wmi_zmm(0), differs);
        wmi_test_words(&s->host, differs, WMI_K);
        differ = wmi_jump_if(&s->host, WMI_IF_NOT_EQUAL);
    }
    find_room(s, step);
    find_addend(s, step, WMI_R8);
    wmi_evex_plain(&s->host, WMI_VMOVD_GPR, row, 0, wmi_zmm(WMI_R9));
    wmi_scalar_registers(&s->host, WMI_ADD, false, WMI_R8, WMI_R9);
    wmi_test_immediate_8(&s->host, WMI_R8, (1 << DWORD_SHIFT) - 1);
    wmi_stretch_exit_if(s, WMI_IF_NOT_EQUAL);
    wmi_shift_immediate(&s->host, 4, true, WMI_R8, row_shift(s) - DWORD_SHIFT);
    wmi_scalar_registers(&s->host, WMI_CMP, true, WMI_R8, WMI_RCX);
    wmi_stretch_exit_if(s, WMI_IF_ABOVE);
    wmi_scalar_registers(&s->host, WMI_ADD, true, WMI_RAX, WMI_R8);
    return differ;
}

/* What is left to do for offsets that differ, to which the jump leads. Returns one past it. */
static size_t begin_lanes(struct wmi_stretch *s, const struct wmi_step *step, const struct lanes *l,
                          size_t differ)
{
    const size_t done = wmi_jump(&s->host);
    wmi_land(&s->host, differ);
    find_lanes(s, step, l);
    return done;
}

static void load_lanes(struct wmi_stretch *s, const struct wmi_step *step, struct wmi_lane_shape shape)
{
    const struct lanes lanes = take_registers(s, step, shape);
    struct wmi_rows d[WMI_LANE_ROWS];
    wmi_access_results(s, shape, false, d);
    const size_t differ = find_row(s, step, &lanes);
    move_from_row(s, d, (struct wmi_extent){0}, shape);
    if (differ) {
        const size_t done = begin_lanes(s, step, &lanes, differ);
        wmi_access_load(s, shape, &lanes.distance, d, &lanes.scratch, 0, false);
        wmi_land(&s->host, done);
    }
    s->at = last_step(s, step);
    wmi_access_write(s, shape, step->d, d);
}

static void store_lanes(struct wmi_stretch *s, const struct wmi_step *step, struct wmi_lane_shape shape)
{
    struct wmi_rows data[WMI_LANE_ROWS];
    wmi_access_data(s, shape, step->c, data);
    const struct lanes lanes = take_registers(s, step, shape);
    const size_t differ = find_row(s, step, &lanes);
    move_to_row(s, data, (struct wmi_extent){0}, shape);
    if (differ) {
        const size_t done = begin_lanes(s, step, &lanes, differ);
        wmi_access_store(s, shape, &lanes.distance, data, &lanes.scratch, 0);
        wmi_land(&s->host, done);
    }
    s->at = last_step(s, step);
}

static bool emit_access(struct wmi_stretch *s, const struct wmi_step *step)
{
    const struct wmi_lane_shape shape = shape_of(step);
    const bool loads = ((const struct wmi_memory_op *)step->data)->kind == WMI_ACCESS_LOAD,
               row = is_row(step);
    if (s->lanes != 64 && is_buffer(step)) /* the swizzle of such a V# is for 64 lanes */
        wmi_stretch_exit_here(s, wmi_jump(&s->host));
    if (loads)
        (row ? load : load_lanes)(s, step, shape);
    else
        (row ? store : store_lanes)(s, step, shape);
    wmi_stretch_come_back(s);
    return true;
}

wmi_emit_step *wmi_private_emitter(const struct wmi_step *step)
{
    return is_emitted(step) ? emit_access : NULL;
}
