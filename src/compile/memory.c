/* SPDX-License-Identifier: MIT */
/* Host code of vector loads and stores. If all lanes are active and their addresses follow one
 * another, one check of the addresses and one of the bounds is enough for the wave. Others check each lane's
 * address. Lanes outside of the allocation that the instruction accessed last leave the compiled code for
 * their step, which comes back. */
#include "compile/lane_access.h"
#include "compile/runs.h"

enum { AHEAD = 2048 }; /* prefetch distance, as in exec/vmem_lanes.c */

static void prefetch(struct wmi_stretch *s, struct wmi_lane_shape shape, bool for_store)
{
    for (unsigned i = 0; i < s->lanes * shape.bytes / WMI_STRIP_BYTES; i++)
        wmi_prefetch(&s->host, WMI_RAX, (int32_t)(AHEAD + i * WMI_STRIP_BYTES), for_store);
}

/* What the code for one access needs: its rows, and registers that are taken before the code branches. */
struct access {
    enum wmi_vmem_form form;
    struct wmi_rows low, high; /* the lanes' address registers; `high` only with WMI_VMEM_VADDR */
    struct wmi_rows distance;  /* from the start of the allocation */
    struct wmi_access_scratch scratch;
    unsigned last, add_low, add_high, ones; /* see find_distances() */
    struct wmi_lane_shape shape;
    bool only_runs; /* leaves for others, because there are too few registers for their distances */
    bool has_run;
    size_t not_in_a_run[2], done; /* jumps */
};

static void take_rows(struct wmi_stretch *s, const struct wmi_step *step, struct access *access)
{
    access->low = wmi_access_use(s, access->shape, step->a);
    access->high = (struct wmi_rows){.uniform = true};
    if (access->form == WMI_VMEM_VADDR)
        access->high = wmi_access_use(s, access->shape, step->a + s->row_bytes);
    /* A FLAT address may lead to private memory, where the same address is another place for each lane. */
    const bool shared = ((const struct wmi_memory_op *)step->data)->path != WMI_PATH_FLAT;
    const bool uniform = shared && access->low.uniform && access->high.uniform;
    access->only_runs = access->shape.rows == WMI_LANE_ROWS && !uniform;
    access->scratch = wmi_access_scratch(s, access->shape);
    access->distance = wmi_stretch_result(s, uniform || access->only_runs);
    if (access->only_runs)
        return;
    access->last = wmi_stretch_register(s);
    access->add_low = wmi_stretch_register(s);
    access->add_high = wmi_stretch_register(s);
    access->ones = wmi_stretch_register(s);
}

/* RAX = the host address of the first lane's element, if the lanes' elements follow one another; else the
 * jumps are taken. Leaves if they are not in the allocation that the instruction accessed last. */
static void find_run(struct wmi_stretch *s, const struct wmi_step *step, struct access *access)
{
    enum { OR_DIFFERENCE = 0xf6 }; /* VPTERNLOGD: d | (a ^ b) */
    const struct wmi_memory_op *m = step->data;
    const unsigned bytes = access->shape.bytes * s->lanes, differs = access->scratch.reg[0],
                   expected = access->scratch.reg[1], first = access->distance.reg[0];
    /* ECX = the first lane's low word, which must not wrap in the last lane. */
    wmi_evex_plain(&s->host, WMI_VMOVD_GPR, access->low.reg[0], 0, wmi_zmm(WMI_RCX));
    wmi_arithmetic_immediate(&s->host, 7, false, WMI_RCX, -(int32_t)bytes);
    access->not_in_a_run[0] = wmi_jump_if(&s->host, WMI_IF_ABOVE);
    wmi_evex_plain(&s->host, WMI_VPBROADCASTD, first, 0, wmi_zmm(access->low.reg[0]));
    wmi_move_immediate(&s->host, WMI_R9, (uintptr_t)&wmi_lane_tables);
    for (unsigned i = 0; i < s->strips; i++) {
        wmi_evex_plain(&s->host, WMI_VPADDD, i ? expected : differs, first,
                       wmi_at(WMI_R9, wmi_lane_offsets(access->shape.bytes, i)));
        if (i)
            wmi_evex(&s->host, WMI_VPTERNLOGD, differs, expected, wmi_zmm(wmi_rows_register(&access->low, i)),
                     WMI_NO_MASK, OR_DIFFERENCE);
        else
            wmi_evex_plain(&s->host, WMI_VPXORD, differs, differs, wmi_zmm(access->low.reg[0]));
    }
    wmi_scalar_registers(&s->host, WMI_MOV_LOAD, false, WMI_RAX, WMI_RCX);
    if (access->form == WMI_VMEM_VADDR) {
        wmi_evex_plain(&s->host, WMI_VMOVD_GPR, access->high.reg[0], 0, wmi_zmm(WMI_RCX));
        if (!access->high.uniform) {
            wmi_evex_plain(&s->host, WMI_VPBROADCASTD, first, 0, wmi_zmm(access->high.reg[0]));
            for (unsigned i = 0; i < s->strips; i++)
                wmi_evex(&s->host, WMI_VPTERNLOGD, differs, first, wmi_zmm(access->high.reg[i]), WMI_NO_MASK,
                         OR_DIFFERENCE);
        }
        wmi_shift_immediate(&s->host, 4, true, WMI_RCX, 32);
        wmi_scalar_registers(&s->host, WMI_OR, true, WMI_RAX, WMI_RCX);
    } else {
        wmi_scalar_memory(&s->host, WMI_ADD, true, WMI_RAX, WMI_FRAME, (int32_t)step->b);
    }
    wmi_evex_plain(&s->host, WMI_VPTESTMD, WMI_K, differs, wmi_zmm(differs));
    wmi_kortest(&s->host, WMI_K, WMI_K);
    access->not_in_a_run[1] = wmi_jump_if(&s->host, WMI_IF_NOT_EQUAL);
    if (m->offset)
        wmi_arithmetic_immediate(&s->host, 0, true, WMI_RAX, (int32_t)m->offset);
    wmi_stretch_find_hit(s, m);
    wmi_stretch_check_hit(s, bytes);
}

/* RCX = the host address of the allocation that the instruction accessed last, and the lanes' distances from
 * it. Leaves if an active lane is not in it, or not in its first 2 GiB, or for loads of less than a dword, if
 * a dword would not fit. */
static void find_distances(struct wmi_stretch *s, const struct wmi_step *step, const struct access *access)
{
    const struct wmi_memory_op *m = step->data;
    const int32_t low = offsetof(struct wmi_hit, low), high = offsetof(struct wmi_hit, high);
    const bool uniform = access->distance.uniform;
    wmi_stretch_find_hit(s, m);
    wmi_scalar_memory(&s->host, WMI_MOV_LOAD, true, WMI_RAX, WMI_R9, high);
    wmi_scalar_memory(&s->host, WMI_SUB, true, WMI_RAX, WMI_R9, low);
    wmi_arithmetic_immediate(&s->host, 5, true, WMI_RAX,
                             m->kind == WMI_ACCESS_LOAD && access->shape.bytes < 4 ? 4 : access->shape.bytes);
    wmi_stretch_exit_if(s, WMI_IF_BELOW);
    wmi_move_immediate(&s->host, WMI_RCX, INT32_MAX);
    wmi_scalar_registers(&s->host, WMI_CMP, true, WMI_RAX, WMI_RCX);
    wmi_scalar_registers(&s->host, WMI_CMOV | WMI_IF_ABOVE, true, WMI_RAX, WMI_RCX);
    wmi_access_splat(s, access->last);
    /* What is added to the lanes' registers. */
    if (access->form == WMI_VMEM_SADDR)
        wmi_scalar_memory(&s->host, WMI_MOV_LOAD, true, WMI_RAX, WMI_FRAME, (int32_t)step->b);
    else
        wmi_move_immediate(&s->host, WMI_RAX, 0);
    if (m->offset)
        wmi_arithmetic_immediate(&s->host, 0, true, WMI_RAX, (int32_t)m->offset);
    wmi_scalar_memory(&s->host, WMI_SUB, true, WMI_RAX, WMI_R9, low);
    wmi_access_splat(s, access->add_low);
    wmi_shift_immediate(&s->host, 5, true, WMI_RAX, 32);
    wmi_access_splat(s, access->add_high);
    const unsigned add_low = access->add_low, ones = access->ones, far = access->scratch.reg[0];
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
    }
    wmi_kortest(&s->host, WMI_K, WMI_K);
    wmi_stretch_exit_if(s, WMI_IF_NOT_EQUAL);
    wmi_scalar_memory(&s->host, WMI_MOV_LOAD, true, WMI_RCX, WMI_R9, offsetof(struct wmi_hit, host));
}

static void land_scattered(struct wmi_stretch *s, const struct access *access)
{
    wmi_land(&s->host, access->not_in_a_run[0]);
    wmi_land(&s->host, access->not_in_a_run[1]);
}

/* Leaves if stores to the allocation need the slow path. */
static void check_store(struct wmi_stretch *s)
{
    enum { TEST = 0xf7, TEST_DIGIT = 0 };
    wmi_scalar_memory(&s->host, TEST, false, TEST_DIGIT, WMI_R9, offsetof(struct wmi_hit, flags));
    wmi_put_32(&s->host, s->block->layout->careful);
    wmi_stretch_exit_if(s, WMI_IF_NOT_EQUAL);
}

/* An atomic load of several rows must not tear, see exec/vmem_lanes.c. */
static bool is_allowed(const struct wmi_step *step, struct wmi_lane_shape shape)
{
    const struct wmi_memory_op *m = step->data;
    return m->offset == (int32_t)m->offset && !(shape.rows > 1 && m->policy & 1);
}

/* ---- addresses in runs ---- */

/* Whether the elements of a strip follow one another or, for loads, are the same one. */
static bool is_in_runs(const struct wmi_stretch *s, const struct wmi_step *step, enum wmi_vmem_form form,
                       struct wmi_lane_shape shape, bool loads)
{
    const bool is_flat = ((const struct wmi_memory_op *)step->data)->path == WMI_PATH_FLAT;
    const int stride = wmi_stretch_stride(s, step->a);
    if (stride != shape.bytes && (stride || !loads || is_flat))
        return false;
    return form == WMI_VMEM_SADDR || (wmi_stretch_has_base(s, step->a + s->row_bytes) &&
                                      wmi_stretch_stride(s, step->a + s->row_bytes) <= 0);
}

/* A register with the host addresses of the strips' first lanes, of 64 bits each. Leaves if a strip is not in
 * the allocation that the instruction accessed last. R9 = the hit. */
static unsigned find_strips(struct wmi_stretch *s, const struct wmi_step *step, enum wmi_vmem_form form,
                            struct wmi_lane_shape shape)
{
    const uint32_t vpmovzxdq = WMI_EVEX(0x35, WMI_MAP_0F38, WMI_PREFIX_66, 0),
                   vpaddq = WMI_EVEX(0xd4, WMI_MAP_0F, WMI_PREFIX_66, 1),
                   vporq = WMI_EVEX(0xeb, WMI_MAP_0F, WMI_PREFIX_66, 1),
                   vpcmpuq = WMI_EVEX(0x1e, WMI_MAP_0F3A, WMI_PREFIX_66, 1),
                   vpbroadcastq = WMI_EVEX(0x7c, WMI_MAP_0F38, WMI_PREFIX_66, 1);
    const struct wmi_memory_op *m = step->data;
    const int32_t first = offsetof(struct wmi_hit, low), end = offsetof(struct wmi_hit, high);
    const struct wmi_rows low = wmi_stretch_use_base(s, step->a);
    const unsigned place = wmi_stretch_register(s), other = wmi_stretch_register(s);
    wmi_evex_plain(&s->host, vpmovzxdq, place, 0, wmi_zmm(low.reg[0]));
    if (form == WMI_VMEM_VADDR) {
        const struct wmi_rows high = wmi_stretch_use_base(s, step->a + s->row_bytes);
        wmi_evex_plain(&s->host, vpmovzxdq, other, 0, wmi_zmm(high.reg[0]));
        wmi_evex(&s->host, WMI_SHIFT_IMMEDIATE_64, WMI_LEFT, other, wmi_zmm(other), WMI_NO_MASK, 32);
        wmi_evex_plain(&s->host, vporq, place, place, wmi_zmm(other));
    }
    wmi_spread_begin(&s->host);
    wmi_runs_leave_if_wraps(s, low.reg[0], low.stride);
    wmi_stretch_find_hit(s, m);
    /* Distances from the start of the allocation. */
    if (form == WMI_VMEM_SADDR)
        wmi_scalar_memory(&s->host, WMI_MOV_LOAD, true, WMI_RAX, WMI_FRAME, (int32_t)step->b);
    else
        wmi_move_immediate(&s->host, WMI_RAX, 0);
    if (m->offset)
        wmi_arithmetic_immediate(&s->host, 0, true, WMI_RAX, (int32_t)m->offset);
    wmi_scalar_memory(&s->host, WMI_SUB, true, WMI_RAX, WMI_R9, first);
    wmi_evex_plain(&s->host, vpbroadcastq, other, 0, wmi_zmm(WMI_RAX));
    wmi_evex_plain(&s->host, vpaddq, place, place, wmi_zmm(other));
    wmi_scalar_memory(&s->host, WMI_MOV_LOAD, true, WMI_RAX, WMI_R9, end);
    wmi_scalar_memory(&s->host, WMI_SUB, true, WMI_RAX, WMI_R9, first);
    wmi_arithmetic_immediate(&s->host, 5, true, WMI_RAX,
                             low.stride        ? shape.bytes * WMI_STRIP_LANES
                             : shape.bytes < 4 ? 4
                                               : shape.bytes);
    wmi_stretch_exit_if(s, WMI_IF_BELOW);
    wmi_evex_plain(&s->host, vpbroadcastq, other, 0, wmi_zmm(WMI_RAX));
    wmi_evex(&s->host, vpcmpuq, WMI_K, place, wmi_zmm(other), WMI_NO_MASK, WMI_ABOVE);
    wmi_kortest(&s->host, WMI_K, WMI_K);
    wmi_stretch_exit_if(s, WMI_IF_NOT_EQUAL);
    struct wmi_host_operand host = wmi_at(WMI_R9, offsetof(struct wmi_hit, host));
    host.broadcast = true;
    wmi_evex_plain(&s->host, vpaddq, place, place, host);
    return place;
}

/* RAX = the host address of a strip. Changes `scratch`. */
static void take_strip(struct wmi_stretch *s, unsigned place, unsigned scratch, unsigned strip)
{
    const uint32_t valignq = WMI_EVEX(0x03, WMI_MAP_0F3A, WMI_PREFIX_66, 1),
                   vmovq = WMI_EVEX(0x7e, WMI_MAP_0F, WMI_PREFIX_66, 1) | WMI_EVEX_128;
    if (strip)
        wmi_evex(&s->host, valignq, scratch, place, wmi_zmm(place), WMI_NO_MASK, (int)strip);
    wmi_evex_plain(&s->host, vmovq, strip ? scratch : place, 0, wmi_zmm(WMI_RAX));
}

static void load_runs(struct wmi_stretch *s, const struct wmi_step *step, enum wmi_vmem_form form,
                      struct wmi_lane_shape shape)
{
    const bool same = !wmi_stretch_stride(s, step->a);
    struct wmi_rows d[WMI_LANE_ROWS];
    wmi_access_results(s, shape, false, d);
    const struct wmi_access_scratch scratch = wmi_access_scratch(s, shape);
    const unsigned place = find_strips(s, step, form, shape);
    wmi_move_immediate(&s->host, WMI_R9, (uintptr_t)&wmi_lane_tables);
    for (unsigned i = 0; i < s->strips; i++) {
        take_strip(s, place, scratch.reg[0], i);
        if (same) {
            wmi_access_load_same(s, shape, d, i, 0);
            continue;
        }
        wmi_prefetch(&s->host, WMI_RAX, AHEAD, false);
        wmi_access_load_run(s, shape, d, i, 0, WMI_NO_MASK, &scratch);
    }
    wmi_access_write(s, shape, step->d, d);
}

static void store_runs(struct wmi_stretch *s, const struct wmi_step *step, enum wmi_vmem_form form,
                       struct wmi_lane_shape shape)
{
    struct wmi_rows data[WMI_LANE_ROWS];
    const unsigned place = find_strips(s, step, form, shape);
    check_store(s);
    wmi_access_data(s, shape, step->c, data); /* from here on, the address may be in runs no longer */
    const struct wmi_access_scratch scratch = wmi_access_scratch(s, shape);
    wmi_move_immediate(&s->host, WMI_R9, (uintptr_t)&wmi_lane_tables);
    for (unsigned i = 0; i < s->strips; i++) {
        take_strip(s, place, scratch.reg[0], i);
        wmi_access_store_run(s, shape, data, i, 0, WMI_NO_MASK, &scratch);
        wmi_prefetch(&s->host, WMI_RAX, AHEAD, true);
    }
}

/* ---- the steps ---- */

/* Emits what is left to do if the elements of the wave do not follow one another. */
static bool begin_scattered(struct wmi_stretch *s, const struct wmi_step *step, struct access *access)
{
    if (access->only_runs) {
        for (unsigned i = 0; i < 2; i++)
            wmi_stretch_exit_at(s, access->not_in_a_run[i], WMI_EXIT_INTERPRETS, &s->block->ops[s->at]);
        return false;
    }
    if (access->has_run) {
        access->done = wmi_jump(&s->host);
        land_scattered(s, access);
    }
    find_distances(s, step, access);
    return true;
}

static bool load(struct wmi_stretch *s, const struct wmi_step *step, enum wmi_vmem_form form,
                 struct wmi_lane_shape shape)
{
    struct wmi_rows d[WMI_LANE_ROWS];
    struct access access = {.form = form, .shape = shape};
    if (!is_allowed(step, shape))
        return false;
    if (is_in_runs(s, step, form, shape, true)) {
        load_runs(s, step, form, shape);
        return true;
    }
    take_rows(s, step, &access);
    if (access.only_runs && s->partial)
        return false;
    wmi_access_results(s, shape, access.distance.uniform && !access.only_runs, d);
    access.has_run = !s->partial && !d->uniform;
    if (access.has_run) {
        find_run(s, step, &access);
        wmi_move_immediate(&s->host, WMI_R9, (uintptr_t)&wmi_lane_tables);
        prefetch(s, shape, false);
        for (unsigned i = 0; i < s->strips; i++)
            wmi_access_load_run(s, shape, d, i, (int32_t)(i * shape.bytes * WMI_STRIP_LANES), WMI_NO_MASK,
                                &access.scratch);
    }
    if (begin_scattered(s, step, &access)) {
        wmi_move_immediate(&s->host, WMI_R9, (uintptr_t)&wmi_lane_tables);
        wmi_access_load(s, shape, &access.distance, d, &access.scratch, AHEAD);
    }
    if (access.done)
        wmi_land(&s->host, access.done);
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
    if (!is_allowed(step, shape))
        return false;
    if (is_in_runs(s, step, form, shape, false)) {
        store_runs(s, step, form, shape);
        return true;
    }
    wmi_access_data(s, shape, step->c, data);
    take_rows(s, step, &access);
    if (access.only_runs && s->partial)
        return false;
    access.has_run = !s->partial && (access.only_runs || !access.distance.uniform);
    if (access.has_run) {
        find_run(s, step, &access);
        check_store(s);
        wmi_move_immediate(&s->host, WMI_R9, (uintptr_t)&wmi_lane_tables);
        prefetch(s, shape, true);
        for (unsigned i = 0; i < s->strips; i++)
            wmi_access_store_run(s, shape, data, i, (int32_t)(i * shape.bytes * WMI_STRIP_LANES), WMI_NO_MASK,
                                 &access.scratch);
    }
    if (begin_scattered(s, step, &access)) {
        check_store(s);
        wmi_move_immediate(&s->host, WMI_R9, (uintptr_t)&wmi_lane_tables);
        wmi_access_store(s, shape, &access.distance, data, &access.scratch, AHEAD);
    }
    if (access.done)
        wmi_land(&s->host, access.done);
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
