/* SPDX-License-Identifier: MIT */
/* Host code of vector loads and stores. If all lanes are active and their addresses follow one
 * another, one check of the addresses and one of the bounds is enough for the wave. Others check each lane's
 * address. Lanes outside of the allocation that the instruction accessed last leave the compiled code for
 * their step, which comes back. */
#include "jit/lane_access.h"
#include "jit/runs.h"
#include "jit/scalar_memory.h"
#include "jit/sums.h"

#include <string.h>

enum { AHEAD = 2048 }; /* prefetch distance, as in exec/memory/vmem_lanes.c */

static void prefetch(struct wmi_stretch *s, struct wmi_lane_shape shape, bool for_store)
{
    for (unsigned i = 0; i < s->lanes * shape.bytes / WMI_STRIP_BYTES; i++)
        wmi_prefetch(&s->host, WMI_RAX, (int32_t)(AHEAD + i * WMI_STRIP_BYTES), for_store);
}

/* What the code for one access needs: its rows, and registers that are taken before the code branches. */
struct access {
    enum wmi_vmem_form form;
    struct wmi_rows low, high; /* the lanes' address registers; `high` only with WMI_VMEM_VADDR */
    unsigned base_high;        /* of the base, if the access computes a sum: a register with its high word */
    struct wmi_rows distance;  /* from the start of the allocation */
    struct wmi_access_scratch scratch;
    unsigned last, add_low, add_high, ones; /* see find_distances() */
    struct wmi_lane_shape shape;
    bool has_run;
    size_t not_in_a_run[2], done; /* jumps */
};

/* With what is added to a base, if the access computes a sum, or with low words of addresses. */
static uint32_t address_row(const struct wmi_stretch *s, const struct wmi_step *step)
{
    return s->sum ? s->sum->b : step->a;
}

static void take_rows(struct wmi_stretch *s, const struct wmi_step *step, struct access *access)
{
    if (s->sum) {
        access->form = WMI_VMEM_SADDR;
        access->base_high = wmi_sum_has_scalar_base(s->sum)
                                ? 0
                                : wmi_stretch_use(s, wmi_sum_base_row(s, s->sum), true).reg[0];
    }
    access->low = wmi_access_use(s, access->shape, address_row(s, step));
    access->high = (struct wmi_rows){.uniform = true};
    if (access->form == WMI_VMEM_VADDR)
        access->high = wmi_access_use(s, access->shape, step->a + s->row_bytes);
    /* A FLAT address may lead to private memory, where the same address is another place for each lane. */
    const bool shared = ((const struct wmi_memory_op *)step->data)->path != WMI_PATH_FLAT;
    const bool uniform = shared && access->low.uniform && access->high.uniform;
    access->scratch = wmi_access_scratch(s, access->shape);
    if (access->shape.rows == WMI_LANE_ROWS && !uniform) { /* there are few registers left */
        memset(access->distance.reg, (int)wmi_stretch_register(s), sizeof access->distance.reg);
        access->distance.in_memory = true;
    } else {
        access->distance = wmi_stretch_result(s, uniform);
    }
}

/* Registers for find_distances(). d: those for the result of a load, which are free until then, or NULL. */
static void take_registers(struct wmi_stretch *s, struct access *access, const struct wmi_rows *d)
{
    unsigned *const taken[] = {&access->last, &access->add_low, &access->add_high, &access->ones};
    for (unsigned i = 0; i < sizeof taken / sizeof *taken; i++)
        *taken[i] = access->distance.in_memory          ? access->scratch.reg[1 + i]
                    : d && !d->uniform && i < s->strips ? d->reg[i]
                                                        : wmi_stretch_register(s);
}

static void add_offset(struct wmi_stretch *s, const struct wmi_memory_op *m)
{
    if (m->offset)
        wmi_arithmetic_immediate(&s->host, 0, true, WMI_RAX, (int32_t)m->offset);
}

/* Puts the scalar base of the access into a register. Changes RCX. */
static void find_base(struct wmi_stretch *s, const struct wmi_step *step, const struct access *access,
                      enum wmi_gpr reg)
{
    if (!s->sum) {
        wmi_scalars_load_pair(s, reg, step->b);
        return;
    }
    wmi_scalar_memory(&s->host, WMI_MOV_LOAD, false, reg, WMI_FRAME, (int32_t)s->sum->a);
    if (wmi_sum_has_scalar_base(s->sum))
        wmi_scalar_memory(&s->host, WMI_MOV_LOAD, false, WMI_RCX, WMI_FRAME, (int32_t)s->sum->c);
    else
        wmi_evex_plain(&s->host, WMI_VMOVD_GPR, access->base_high, 0, wmi_zmm(WMI_RCX));
    wmi_shift_immediate(&s->host, 4, true, WMI_RCX, 32);
    wmi_scalar_registers(&s->host, WMI_OR, true, reg, WMI_RCX);
}

/* RAX = the host address of the first lane's element, if the lanes' elements follow one another; else the
 * jumps are taken. Leaves if they are not in the allocation that the instruction accessed last. */
static void find_run(struct wmi_stretch *s, const struct wmi_step *step, struct access *access)
{
    const struct wmi_memory_op *m = step->data;
    const unsigned bytes = access->shape.bytes * s->lanes, differs = access->scratch.reg[0],
                   expected = access->scratch.reg[1], first = access->distance.reg[0];
    /* ECX = the first lane's low word, which must not wrap in the last lane. */
    wmi_evex_plain(&s->host, WMI_VMOVD_GPR, access->low.reg[0], 0, wmi_zmm(WMI_RCX));
    wmi_arithmetic_immediate(&s->host, 7, false, WMI_RCX, -(int32_t)bytes);
    access->not_in_a_run[0] = wmi_jump_if(&s->host, WMI_IF_ABOVE);
    wmi_evex_plain(&s->host, WMI_VPBROADCASTD, first, 0, wmi_zmm(access->low.reg[0]));
    wmi_move_immediate(&s->host, WMI_R9, (uintptr_t)&wmi_lane_tables);
    wmi_access_find_differences(s, differs, true, first, &access->low,
                                wmi_at(WMI_R9, wmi_lane_offsets(access->shape.bytes, 0)), expected);
    wmi_scalar_registers(&s->host, WMI_MOV_LOAD, false, WMI_RAX, WMI_RCX);
    if (access->form == WMI_VMEM_VADDR) {
        wmi_evex_plain(&s->host, WMI_VMOVD_GPR, access->high.reg[0], 0, wmi_zmm(WMI_RCX));
        if (!access->high.uniform) {
            wmi_evex_plain(&s->host, WMI_VPBROADCASTD, first, 0, wmi_zmm(access->high.reg[0]));
            wmi_access_find_differences(s, differs, false, first, &access->high, wmi_zmm(0), expected);
        }
        wmi_shift_immediate(&s->host, 4, true, WMI_RCX, 32);
        wmi_scalar_registers(&s->host, WMI_OR, true, WMI_RAX, WMI_RCX);
    } else if (s->sum) {
        find_base(s, step, access, WMI_R8);
        wmi_scalar_registers(&s->host, WMI_ADD, true, WMI_RAX, WMI_R8);
    } else {
        wmi_scalar_memory(&s->host, WMI_ADD, true, WMI_RAX, WMI_FRAME, (int32_t)step->b);
    }
    wmi_test_words(&s->host, differs, WMI_K);
    access->not_in_a_run[1] = wmi_jump_if(&s->host, WMI_IF_NOT_EQUAL);
    add_offset(s, m);
    wmi_stretch_find_hit(s, m);
    wmi_stretch_check_hit(s, bytes);
}

/* RAX = what is added to the lanes' registers. Changes RCX. */
static void find_addend(struct wmi_stretch *s, const struct wmi_step *step, const struct access *access)
{
    const struct wmi_memory_op *m = step->data;
    if (access->form == WMI_VMEM_SADDR) {
        find_base(s, step, access, WMI_RAX);
        add_offset(s, m);
    } else {
        wmi_move_immediate(&s->host, WMI_RAX, (uint64_t)m->offset);
    }
}

/* The lanes' distances from the start of the allocation for any address and allocation: with 64-bit sums.
 * Leaves if an active lane's is not below 2^32, or above the last one. */
static void find_any_distances(struct wmi_stretch *s, const struct wmi_step *step,
                               const struct access *access)
{
    const bool uniform = access->distance.uniform;
    const unsigned add_low = access->add_low, ones = access->ones, far = access->scratch.reg[0];
    find_addend(s, step, access);
    wmi_scalar_memory(&s->host, WMI_SUB, true, WMI_RAX, WMI_R9, offsetof(struct wmi_hit, low));
    wmi_access_splat(s, access->add_low);
    wmi_shift_immediate(&s->host, 5, true, WMI_RAX, 32);
    wmi_access_splat(s, access->add_high);
    wmi_evex(&s->host, WMI_VPTERNLOGD, ones, ones, wmi_zmm(ones), WMI_NO_MASK, 0xff);
    for (unsigned i = 0; i < wmi_rows_strips(s, &access->distance); i++) {
        const unsigned mask = uniform ? WMI_NO_MASK : wmi_access_mask(s, i),
                       distance = access->distance.reg[i], carry = WMI_K + 2;
        wmi_evex_plain(&s->host, WMI_VPADDD, distance, wmi_rows_register(&access->low, i), wmi_zmm(add_low));
        wmi_evex(&s->host, WMI_VPCMPUD, carry, distance, wmi_zmm(add_low), WMI_NO_MASK, WMI_BELOW);
        if (access->form == WMI_VMEM_VADDR)
            wmi_evex_plain(&s->host, WMI_VPADDD, far, wmi_rows_register(&access->high, i),
                           wmi_zmm(access->add_high));
        else
            wmi_evex_plain(&s->host, WMI_VMOVDQA32, far, 0, wmi_zmm(access->add_high));
        wmi_evex(&s->host, WMI_VPSUBD, far, far, wmi_zmm(ones), carry, WMI_NO_IMMEDIATE);
        wmi_access_collect(s, WMI_VPTESTMD, far, far, mask, WMI_NO_IMMEDIATE, !i);
        wmi_access_collect(s, WMI_VPCMPUD, distance, access->last, mask, WMI_ABOVE, false);
        wmi_access_keep_distance(s, &access->distance, i);
    }
    wmi_kortest(&s->host, WMI_K, WMI_K);
    wmi_stretch_exit_if(s, WMI_IF_NOT_EQUAL);
}

/* The same, if only the low words count: with an address per lane, in an allocation that does not cross a
 * multiple of 4 GiB; with a scalar base that is in the allocation. Returns a jump for others. R8 = the last
 * distance. */
static size_t find_usual_distances(struct wmi_stretch *s, const struct wmi_step *step,
                                   const struct access *access)
{
    const struct wmi_memory_op *m = step->data;
    const int32_t start = offsetof(struct wmi_hit, low);
    const bool has_high = access->form == WMI_VMEM_VADDR, uniform = access->distance.uniform;
    const unsigned highest = access->scratch.reg[0], differs = access->ones;
    size_t others;
    if (has_high) { /* RCX = the address whose distance is 0 */
        wmi_scalar_memory(&s->host, WMI_MOV_LOAD, true, WMI_RCX, WMI_R9, start);
        if (m->offset)
            wmi_arithmetic_immediate(&s->host, 5, true, WMI_RCX, (int32_t)m->offset);
        wmi_move_immediate(&s->host, WMI_RAX, 0);
        wmi_scalar_registers(&s->host, WMI_SUB, false, WMI_RAX, WMI_RCX);
        wmi_access_splat(s, access->add_low);
        wmi_scalar_registers(&s->host, WMI_MOV_LOAD, false, WMI_RAX, WMI_RCX);
        wmi_scalar_registers(&s->host, WMI_ADD, false, WMI_RAX, WMI_R8);
        others = wmi_jump_if(&s->host, WMI_IF_BELOW);
        wmi_scalar_registers(&s->host, WMI_MOV_LOAD, true, WMI_RAX, WMI_RCX);
        wmi_shift_immediate(&s->host, 5, true, WMI_RAX, 32);
        wmi_access_splat(s, access->add_high);
    } else { /* the distance of the base, and what may be added to it */
        find_addend(s, step, access);
        wmi_scalar_memory(&s->host, WMI_SUB, true, WMI_RAX, WMI_R9, start);
        wmi_access_splat(s, access->add_low);
        wmi_scalar_registers(&s->host, WMI_SUB, true, WMI_R8, WMI_RAX);
        wmi_scalar_registers(&s->host, WMI_OR, true, WMI_RAX, WMI_R8);
        others = wmi_jump_if(&s->host, WMI_IF_NEGATIVE);
        wmi_scalar_registers(&s->host, WMI_MOV_LOAD, false, WMI_RAX, WMI_R8);
        wmi_access_splat(s, access->last);
    }
    for (unsigned i = 0; i < wmi_rows_strips(s, &access->distance); i++) {
        const unsigned mask = uniform ? WMI_NO_MASK : wmi_access_mask(s, i),
                       first = mask ? mask | WMI_ZEROING : mask, low = wmi_rows_register(&access->low, i),
                       distance = access->distance.reg[i], limited = has_high ? distance : low;
        wmi_evex_plain(&s->host, WMI_VPADDD, distance, low, wmi_zmm(access->add_low));
        wmi_access_highest(s, highest, limited, mask, !i);
        if (has_high && i && !access->high.uniform)
            wmi_evex(&s->host, WMI_VPTERNLOGD, differs, access->high.reg[i], wmi_zmm(access->add_high), mask,
                     WMI_OR_DIFFERENCE);
        else if (has_high && !i)
            wmi_evex(&s->host, WMI_VPXORD, differs, access->high.reg[0], wmi_zmm(access->add_high),
                     access->high.uniform ? WMI_NO_MASK : first, WMI_NO_IMMEDIATE);
        wmi_access_keep_distance(s, &access->distance, i);
    }
    wmi_test_above(&s->host, highest, access->last, WMI_K);
    wmi_stretch_exit_if(s, WMI_IF_NOT_EQUAL);
    if (has_high) {
        wmi_test_words(&s->host, differs, WMI_K);
        wmi_stretch_exit_if(s, WMI_IF_NOT_EQUAL);
    }
    return others;
}

/* RCX = the host address of the allocation that the instruction accessed last, and the lanes' distances from
 * it. R8 = the hit. Leaves if an active lane is not in it, or not in its first 2 GiB, or for loads of less
 * than a dword, if a dword would not fit. */
static void find_distances(struct wmi_stretch *s, const struct wmi_step *step, const struct access *access)
{
    const struct wmi_memory_op *m = step->data;
    wmi_stretch_find_hit(s, m);
    wmi_scalar_memory(&s->host, WMI_MOV_LOAD, true, WMI_RAX, WMI_R9, offsetof(struct wmi_hit, high));
    wmi_scalar_memory(&s->host, WMI_SUB, true, WMI_RAX, WMI_R9, offsetof(struct wmi_hit, low));
    wmi_arithmetic_immediate(&s->host, 5, true, WMI_RAX,
                             m->kind == WMI_ACCESS_LOAD && access->shape.bytes < 4 ? 4 : access->shape.bytes);
    wmi_stretch_exit_if(s, WMI_IF_BELOW);
    wmi_move_immediate(&s->host, WMI_R8, INT32_MAX);
    wmi_scalar_registers(&s->host, WMI_CMP, true, WMI_RAX, WMI_R8);
    wmi_scalar_registers(&s->host, WMI_CMOV | WMI_IF_BELOW, true, WMI_R8, WMI_RAX);
    wmi_scalar_registers(&s->host, WMI_MOV_LOAD, false, WMI_RAX, WMI_R8);
    wmi_access_splat(s, access->last);
    const size_t others = find_usual_distances(s, step, access);
    const size_t usual = s->host.count, first_exit = s->exit_count;
    find_any_distances(s, step, access);
    wmi_stretch_set_aside(s, usual, first_exit, &others, 1, usual);
    wmi_scalar_memory(&s->host, WMI_MOV_LOAD, true, WMI_RCX, WMI_R9, offsetof(struct wmi_hit, host));
    wmi_scalar_registers(&s->host, WMI_MOV_LOAD, true, WMI_R8, WMI_R9);
}

static void land_scattered(struct wmi_stretch *s, const struct access *access)
{
    wmi_land(&s->host, access->not_in_a_run[0]);
    wmi_land(&s->host, access->not_in_a_run[1]);
}

/* Leaves if stores to the allocation need the slow path. */
static void check_store(struct wmi_stretch *s)
{
    wmi_test_memory_32(&s->host, WMI_R9, offsetof(struct wmi_hit, flags), s->block->layout->careful);
    wmi_stretch_exit_if(s, WMI_IF_NOT_EQUAL);
}

static bool is_allowed(const struct wmi_step *step)
{
    const struct wmi_memory_op *m = step->data;
    return m->offset == (int32_t)m->offset;
}

/* ---- addresses in runs ---- */

/* Whether the elements of a strip follow one another or, for loads, are the same one. */
static bool is_in_runs(struct wmi_stretch *s, const struct wmi_step *step, enum wmi_vmem_form form,
                       struct wmi_lane_shape shape, bool loads)
{
    if (s->sum)
        return false;
    const bool is_flat = ((const struct wmi_memory_op *)step->data)->path == WMI_PATH_FLAT;
    const int stride = wmi_stretch_stride(s, step->a);
    if (s->version != WMI_LAUNCH)
        return false;
    if (stride != shape.bytes && (stride || !loads || is_flat))
        return false;
    return form == WMI_VMEM_SADDR ? wmi_stretch_has_base(s, step->a)
                                  : wmi_runs_have_pair(s, step->a, step->a + s->row_bytes);
}

/* Where the elements of a wave with an address in runs are: RAX = the host address of the first one if the
 * run is whole; else a register with those of the strips' first lanes, of 64 bits each. */
struct places {
    bool whole, same;
    unsigned reg, scratch;
};

/* The number of bytes that must be there at each of the places. */
static unsigned bytes_of(const struct wmi_stretch *s, struct wmi_lane_shape shape,
                         const struct places *places)
{
    if (places->same)
        return shape.bytes < 4 ? 4 : shape.bytes;
    return shape.bytes * (places->whole ? s->lanes : WMI_STRIP_LANES);
}

/* Leaves if a strip is not in the allocation that the instruction accessed last. R9 = the hit. */
static struct places find_places(struct wmi_stretch *s, const struct wmi_step *step, enum wmi_vmem_form form,
                                 struct wmi_lane_shape shape)
{
    const struct wmi_memory_op *m = step->data;
    const int32_t first = offsetof(struct wmi_hit, low), end = offsetof(struct wmi_hit, high);
    struct wmi_rows address = form == WMI_VMEM_SADDR ? wmi_stretch_use_base(s, step->a)
                                                     : wmi_runs_pair(s, step->a, step->a + s->row_bytes);
    if (form == WMI_VMEM_SADDR)
        address.reg[0] = (uint8_t)wmi_runs_zero_extend(s, &address);
    struct places places = {.whole = address.whole,
                            .same = !address.stride,
                            .reg = wmi_stretch_register(s),
                            .scratch = wmi_stretch_register(s)};
    wmi_stretch_find_hit(s, m);
    if (places.whole) {
        wmi_evex_plain(&s->host, WMI_VMOVQ_GPR, address.reg[0], 0, wmi_zmm(WMI_RAX));
        if (form == WMI_VMEM_SADDR)
            wmi_scalar_memory(&s->host, WMI_ADD, true, WMI_RAX, WMI_FRAME, (int32_t)step->b);
        add_offset(s, m);
        wmi_stretch_check_hit(s, bytes_of(s, shape, &places));
        return places;
    }
    /* Distances from the start of the allocation. */
    if (form == WMI_VMEM_VADDR && !m->offset) {
        struct wmi_host_operand low = wmi_at(WMI_R9, first);
        low.broadcast = true;
        wmi_evex_plain(&s->host, WMI_VPSUBQ, places.reg, address.reg[0], low);
    } else {
        find_addend(s, step, &(struct access){.form = form});
        wmi_scalar_memory(&s->host, WMI_SUB, true, WMI_RAX, WMI_R9, first);
        wmi_evex_plain(&s->host, WMI_VPBROADCASTQ_GPR, places.scratch, 0, wmi_zmm(WMI_RAX));
        wmi_evex_plain(&s->host, WMI_VPADDQ, places.reg, address.reg[0], wmi_zmm(places.scratch));
    }
    wmi_scalar_memory(&s->host, WMI_MOV_LOAD, true, WMI_RAX, WMI_R9, end);
    wmi_scalar_memory(&s->host, WMI_SUB, true, WMI_RAX, WMI_R9, first);
    wmi_arithmetic_immediate(&s->host, 5, true, WMI_RAX, (int32_t)bytes_of(s, shape, &places));
    wmi_stretch_exit_if(s, WMI_IF_BELOW);
    wmi_evex_plain(&s->host, WMI_VPBROADCASTQ_GPR, places.scratch, 0, wmi_zmm(WMI_RAX));
    wmi_evex(&s->host, WMI_VPCMPUQ, WMI_K, places.reg, wmi_zmm(places.scratch), WMI_NO_MASK, WMI_ABOVE);
    wmi_kortest(&s->host, WMI_K, WMI_K);
    wmi_stretch_exit_if(s, WMI_IF_NOT_EQUAL);
    struct wmi_host_operand host = wmi_at(WMI_R9, offsetof(struct wmi_hit, host));
    host.broadcast = true;
    wmi_evex_plain(&s->host, WMI_VPADDQ, places.reg, places.reg, host);
    return places;
}

/* Returns the displacement from RAX of a strip's first element. */
static int32_t take_strip(struct wmi_stretch *s, struct wmi_lane_shape shape, const struct places *places,
                          unsigned strip)
{
    if (places->whole)
        return places->same ? 0 : (int32_t)(strip * shape.bytes * WMI_STRIP_LANES);
    s->host.vectors->take_quad(&s->host, WMI_RAX, places->reg, strip, places->scratch);
    return 0;
}

/* R9 = what moves of elements that follow one another need. */
static void use_tables(struct wmi_stretch *s, struct wmi_lane_shape shape)
{
    if (shape.rows > 1)
        wmi_move_immediate(&s->host, WMI_R9, (uintptr_t)&wmi_lane_tables);
}

static void load_runs(struct wmi_stretch *s, const struct wmi_step *step, enum wmi_vmem_form form,
                      struct wmi_lane_shape shape)
{
    const struct places places = find_places(s, step, form, shape);
    const struct wmi_access_scratch scratch = wmi_access_scratch(s, shape);
    struct wmi_rows d[WMI_LANE_ROWS];
    wmi_access_results(s, shape, places.same && places.whole, d);
    use_tables(s, shape);
    for (unsigned i = 0; i < wmi_rows_strips(s, d); i++) {
        const int32_t at = take_strip(s, shape, &places, i);
        if (places.same) {
            wmi_access_load_same(s, shape, d, i, at);
            continue;
        }
        if (!places.whole)
            wmi_prefetch(&s->host, WMI_RAX, at + AHEAD, false);
        wmi_access_load_run(s, shape, d, i, at, WMI_NO_MASK, &scratch);
    }
    if (places.whole && !places.same)
        prefetch(s, shape, false);
    wmi_access_write(s, shape, step->d, d);
}

/* Whether what the step stores may bypass the caches, as far as the code shows. Such stores are not ordered
 * with others. So the wave must have written nothing before, and only compute from here to its end; nor
 * should it have loaded from the same place. */
static bool may_stream(const struct wmi_stretch *s, const struct wmi_step *step)
{
    const struct wmi_block *block = s->block;
    const struct wmi_extent address = {step->a, step->a + s->row_bytes};
    bool is_loaded = false;
    for (size_t i = s->at + 1; i < block->count; i++) {
        const unsigned flags = wmi_step_facts_of(block->steps[i].id).flags;
        if (flags & WMI_STEP_ENDS_WAVE)
            break;
        if (!(flags & WMI_STEP_PURE) && block->steps[i].id != WMI_STEP_count)
            return false;
    }
    for (size_t i = s->from; i < s->at; i++) {
        const struct wmi_step *before = &block->steps[i];
        if (wmi_step_facts_of(before->id).writes & (WMI_ON_MEMORY | WMI_ON_LDS | WMI_ON_GDS))
            return false;
        if (wmi_memory_emitter(before) && before->a == step->a)
            is_loaded = true;
        else if (wmi_step_writes_rows(before, address, s->lanes))
            is_loaded = false;
    }
    return !is_loaded;
}

/* Stores whole lines past the caches, and jumps, if they are aligned to the host's lines and the allocation
 * is larger than most caches. RAX = the place, R8 = the size less the wave's bytes. Returns the jump. Such
 * stores become visible at the latest with the locked instruction at the end of each worker's part of a
 * dispatch. */
static size_t put_streaming_stores(struct wmi_stretch *s, const struct wmi_rows *data)
{
    enum { VMOVNTPS = WMI_EVEX(0x2b, WMI_MAP_0F, 0, 0), AND_DIGIT = 4, CMP_DIGIT = 7 };
    wmi_scalar_registers(&s->host, WMI_MOV_LOAD, false, WMI_RCX, WMI_RAX);
    wmi_arithmetic_immediate(&s->host, AND_DIGIT, false, WMI_RCX, WMI_STRIP_BYTES - 1);
    const size_t unaligned = wmi_jump_if(&s->host, WMI_IF_NOT_EQUAL);
    wmi_arithmetic_immediate(&s->host, CMP_DIGIT, true, WMI_R8, WMI_PAST_CACHES);
    const size_t small = wmi_jump_if(&s->host, WMI_IF_BELOW);
    for (unsigned i = 0; i < s->strips; i++)
        wmi_evex_plain(&s->host, VMOVNTPS, wmi_rows_register(data, i), 0,
                       wmi_at(WMI_RAX, (int32_t)(i * WMI_STRIP_BYTES)));
    const size_t done = wmi_jump(&s->host);
    wmi_land(&s->host, unaligned);
    wmi_land(&s->host, small);
    return done;
}

static void store_runs(struct wmi_stretch *s, const struct wmi_step *step, enum wmi_vmem_form form,
                       struct wmi_lane_shape shape)
{
    struct wmi_rows data[WMI_LANE_ROWS];
    const struct places places = find_places(s, step, form, shape);
    check_store(s);
    wmi_access_data(s, shape, step->c, data); /* from here on, the address may be in runs no longer */
    const struct wmi_access_scratch scratch = wmi_access_scratch(s, shape);
    const bool streams = places.whole && shape.bytes == 4 && may_stream(s, step);
    const size_t done = streams ? put_streaming_stores(s, data) : 0;
    use_tables(s, shape);
    for (unsigned i = 0; i < s->strips; i++) {
        const int32_t at = take_strip(s, shape, &places, i);
        wmi_access_store_run(s, shape, data, i, at, WMI_NO_MASK, &scratch);
        wmi_prefetch(&s->host, WMI_RAX, at + AHEAD, true);
    }
    wmi_land_if(&s->host, done);
}

/* ---- few active lanes ---- */

/* Up to so many active lanes are loaded one by one, on hosts without masked gathers. */
enum { FEW = 16 };

static bool may_load_few(const struct wmi_stretch *s, const struct wmi_step *step,
                         const struct access *access)
{
    return s->partial && !s->host.vectors->gathers && access->shape.rows == 1 && !access->distance.uniform &&
           address_row(s, step) < s->block->code->constant_offset;
}

/* Jumps if few lanes are active. */
static size_t jump_if_few(struct wmi_stretch *s)
{
    wmi_stretch_count_active(s, WMI_RAX);
    wmi_arithmetic_immediate(&s->host, 7, false, WMI_RAX, FEW + 1);
    return wmi_jump_if(&s->host, WMI_IF_BELOW);
}

/* The element at RAX, in RAX. */
static void load_element(struct wmi_stretch *s, struct wmi_lane_shape shape)
{
    const unsigned load = shape.bytes == 4   ? WMI_MOV_LOAD
                          : shape.bytes == 2 ? shape.is_signed ? WMI_MOVSX_16 : WMI_MOVZX_16
                          : shape.is_signed  ? WMI_MOVSX_8
                                             : WMI_MOVZX_8;
    wmi_scalar_memory(&s->host, load, false, WMI_RAX, WMI_RAX, 0);
}

/* The code behind that jump: d = the elements of the active lanes. Leaves if one is not in the allocation
 * that the instruction accessed last. Then goes on behind the usual code, which ends here. */
static void load_few(struct wmi_stretch *s, const struct wmi_step *step, const struct access *access,
                     const struct wmi_rows *d, size_t jump)
{
    const uint32_t address = address_row(s, step);
    const size_t from = s->host.count, first_exit = s->exit_count;
    const struct wmi_memory_op *m = step->data;
    const int32_t origin = (int32_t)wmi_stretch_origin(s), low = (int32_t)address - origin;
    wmi_stretch_store_aside(s, address);
    if (access->form == WMI_VMEM_VADDR)
        wmi_stretch_store_aside(s, address + s->row_bytes);
    /* R11 = what is added to an address for its distance, RCX = the last distance; RBX is free on such hosts
     */
    wmi_stretch_find_hit(s, m);
    find_addend(s, step, access);
    wmi_scalar_memory(&s->host, WMI_SUB, true, WMI_RAX, WMI_R9, offsetof(struct wmi_hit, low));
    wmi_scalar_registers(&s->host, WMI_MOV_LOAD, true, WMI_R11, WMI_RAX);
    wmi_scalar_memory(&s->host, WMI_MOV_LOAD, true, WMI_RCX, WMI_R9, offsetof(struct wmi_hit, high));
    wmi_scalar_memory(&s->host, WMI_SUB, true, WMI_RCX, WMI_R9, offsetof(struct wmi_hit, low));
    wmi_arithmetic_immediate(&s->host, 5, true, WMI_RCX, access->shape.bytes);
    wmi_stretch_exit_if(s, WMI_IF_BELOW);
    const struct wmi_lane_loop loop = wmi_access_each_lane(s);
    wmi_scalar_memory(&s->host, WMI_MOV_LOAD, false, WMI_RAX, WMI_R10, low);
    if (access->form == WMI_VMEM_VADDR) {
        wmi_scalar_memory(&s->host, WMI_MOV_LOAD, false, WMI_RBX, WMI_R10, low + (int32_t)s->row_bytes);
        wmi_shift_immediate(&s->host, 4, true, WMI_RBX, 32);
        wmi_scalar_registers(&s->host, WMI_OR, true, WMI_RAX, WMI_RBX);
    }
    wmi_scalar_registers(&s->host, WMI_ADD, true, WMI_RAX, WMI_R11);
    wmi_scalar_registers(&s->host, WMI_CMP, true, WMI_RAX, WMI_RCX);
    wmi_stretch_exit_if(s, WMI_IF_ABOVE);
    wmi_scalar_memory(&s->host, WMI_ADD, true, WMI_RAX, WMI_R9, offsetof(struct wmi_hit, host));
    load_element(s, access->shape);
    wmi_scalar_memory(&s->host, WMI_MOV_STORE, false, WMI_RAX, WMI_R10,
                      (int32_t)offsetof(struct wmi_frame, compiled.lane_place) - origin);
    wmi_access_next_lane(s, &loop);
    for (unsigned i = 0; i < s->strips; i++)
        wmi_evex_plain(&s->host, WMI_VMOVUPS_LOAD, d->reg[i], 0, wmi_lane_places(i));
    wmi_stretch_set_aside(s, from, first_exit, &jump, 1, from);
}

/* ---- the steps ---- */

/* Emits what is left to do if the elements of the wave do not follow one another. */
static void begin_scattered(struct wmi_stretch *s, const struct wmi_step *step, struct access *access)
{
    if (access->has_run) {
        access->done = wmi_jump(&s->host);
        land_scattered(s, access);
    }
    find_distances(s, step, access);
    if (((const struct wmi_memory_op *)step->data)->kind == WMI_ACCESS_STORE)
        check_store(s);
    wmi_move_immediate(&s->host, WMI_R9, (uintptr_t)&wmi_lane_tables);
}

static bool load(struct wmi_stretch *s, const struct wmi_step *step, enum wmi_vmem_form form,
                 struct wmi_lane_shape shape)
{
    struct wmi_rows d[WMI_LANE_ROWS];
    struct access access = {.form = form, .shape = shape};
    if (!is_allowed(step))
        return false;
    if (is_in_runs(s, step, form, shape, true)) {
        load_runs(s, step, form, shape);
        return true;
    }
    take_rows(s, step, &access);
    wmi_access_results(s, shape, access.distance.uniform, d);
    take_registers(s, &access, d);
    access.has_run = !s->partial && !d->uniform;
    if (access.has_run) {
        find_run(s, step, &access);
        wmi_move_immediate(&s->host, WMI_R9, (uintptr_t)&wmi_lane_tables);
        prefetch(s, shape, false);
        for (unsigned i = 0; i < s->strips; i++)
            wmi_access_load_run(s, shape, d, i, (int32_t)(i * shape.bytes * WMI_STRIP_LANES), WMI_NO_MASK,
                                &access.scratch);
    }
    const size_t few = may_load_few(s, step, &access) ? jump_if_few(s) : 0;
    begin_scattered(s, step, &access);
    wmi_access_load(s, shape, &access.distance, d, &access.scratch, AHEAD, true);
    wmi_land_if(&s->host, access.done);
    if (few)
        load_few(s, step, &access, d, few);
    s->has_read = true;
    wmi_access_write(s, shape, step->d, d);
    wmi_stretch_come_back(s);
    return true;
}

static bool store(struct wmi_stretch *s, const struct wmi_step *step, enum wmi_vmem_form form,
                  struct wmi_lane_shape shape)
{
    struct wmi_rows data[WMI_LANE_ROWS];
    struct access access = {.form = form, .shape = shape};
    if (!is_allowed(step))
        return false;
    if (is_in_runs(s, step, form, shape, false)) {
        store_runs(s, step, form, shape);
        return true;
    }
    wmi_access_data(s, shape, step->c, data);
    take_rows(s, step, &access);
    take_registers(s, &access, NULL);
    access.has_run = !s->partial && !access.distance.uniform;
    if (access.has_run) {
        find_run(s, step, &access);
        check_store(s);
        wmi_move_immediate(&s->host, WMI_R9, (uintptr_t)&wmi_lane_tables);
        prefetch(s, shape, true);
        for (unsigned i = 0; i < s->strips; i++)
            wmi_access_store_run(s, shape, data, i, (int32_t)(i * shape.bytes * WMI_STRIP_LANES), WMI_NO_MASK,
                                 &access.scratch);
    }
    begin_scattered(s, step, &access);
    wmi_access_store(s, shape, &access.distance, data, &access.scratch, AHEAD);
    wmi_land_if(&s->host, access.done);
    wmi_stretch_come_back(s);
    return true;
}

/* ---- the table ---- */

/* clang-format off */
#define SHAPES(LOAD, STORE) \
    LOAD(1x1_000, 1, 1, false) \
    LOAD(1x1_100, 1, 1, true) \
    LOAD(1x2_000, 2, 1, false) \
    LOAD(1x2_100, 2, 1, true) \
    LOAD(1x4_000, 4, 1, false) \
    LOAD(2x4_000, 8, 2, false) \
    LOAD(4x4_000, 16, 4, false) \
    STORE(1x1_000, 1, 1, false) \
    STORE(1x2_000, 2, 1, false) \
    STORE(1x4_000, 4, 1, false) \
    STORE(2x4_000, 8, 2, false) \
    STORE(4x4_000, 16, 4, false)
/* clang-format on */

#define EMITTER(function, name, form, ...)                                                                   \
    static bool name##_##form(struct wmi_stretch *s, const struct wmi_step *step)                            \
    {                                                                                                        \
        return function(s, step, WMI_VMEM_##form, (struct wmi_lane_shape){__VA_ARGS__});                     \
    }
#define LOAD(shape, ...)                                                                                     \
    EMITTER(load, load_##shape, VADDR, __VA_ARGS__) EMITTER(load, load_##shape, SADDR, __VA_ARGS__)
#define STORE(shape, ...)                                                                                    \
    EMITTER(store, store_##shape, VADDR, __VA_ARGS__) EMITTER(store, store_##shape, SADDR, __VA_ARGS__)
SHAPES(LOAD, STORE)
#undef LOAD
#undef STORE

wmi_emit_step *wmi_memory_emitter(const struct wmi_step *step)
{
    if (step->lanes != offsetof(struct wmi_frame, exec))
        return NULL;
    switch (step->id) {
#define CASE(kind, emit, shape, form)                                                                        \
    case WMI_STEP_global_##kind##_##shape##_##form:                                                          \
        return emit##_##shape##_##form;
#define LOAD(shape, ...)  CASE(LOAD, load, shape, VADDR) CASE(LOAD, load, shape, SADDR)
#define STORE(shape, ...) CASE(STORE, store, shape, VADDR) CASE(STORE, store, shape, SADDR)
        SHAPES(LOAD, STORE)
#undef LOAD
#undef STORE
    default:
        return NULL;
    }
}
