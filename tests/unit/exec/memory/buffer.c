/* SPDX-License-Identifier: MIT */
/* Buffer steps against a simple reference that works on one lane and one byte at a time.
 *
 * Random V#s (private memory, swizzled records, linear with and without records, any bits), addresses, masks
 * and registers; every shape of load and store, every atomic, every CPU level of the host. Compares all
 * registers, all guest memory, and the fault. The reference (buffer_slow.h) decodes the V# itself. */
#include "exec/memory/buffer.h"
#include "base/random.h"
#include "buffer_slow.h"
#include "exec/control/steps.h"
#include "exec/run/workgroup.h"
#include "reduced.h"

#include <setjmp.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    ROWS = 20,
    ROW_ADDRESS = 2,
    ROW_DATA = 6,
    ROW_RESULT = 12,
    SCALAR_RESOURCE = 8, /* SGPRs */
    SCALAR_OFFSET = 20,
    MEMORY = 1 << 16,
    READ_ONLY = 1 << 12,
    STEPS_PER_SHAPE = 150,
};

struct world {
    struct wmi_space *space;
    uint64_t low, read_only; /* the two allocations */
    unsigned char expected[MEMORY], expected_read_only[READ_ONLY];
    struct wmi_dispatch dispatch;
    struct wmi_worker worker;
    void *locals[1]; /* of the observer */
    struct wmi_workgroup group;
    struct wmi_wave wave;
    struct wmi_frame *frame;
    uint32_t rows[ROWS][64];
    unsigned lanes;
    uint64_t seed, drawn;
};

static uint64_t below(struct world *w, uint64_t limit)
{
    return wmi_random_bits(w->seed, w->drawn++) % limit;
}

static uint32_t word(struct world *w)
{
    return (uint32_t)wmi_random_bits(w->seed, w->drawn++);
}

static struct world *create(unsigned lanes, uint64_t seed)
{
    struct world *w = aligned_alloc(alignof(struct world), sizeof *w);
    assert_non_null(w);
    memset(w, 0, sizeof *w);
    w->seed = seed;
    w->lanes = lanes;
    w->space = wmi_space_create();
    assert_int_equal(wmi_space_allocate(w->space, MEMORY, 0, "memory", &w->low, NULL), WM_OK);
    assert_int_equal(wmi_space_allocate(w->space, READ_ONLY, WM_READ_ONLY, "fixed", &w->read_only, NULL),
                     WM_OK);
    for (unsigned i = 0; i < MEMORY; i++)
        w->expected[i] = (unsigned char)word(w);
    for (unsigned i = 0; i < READ_ONLY; i++)
        w->expected_read_only[i] = (unsigned char)word(w);
    memcpy(wmi_space_host(w->space, w->low, MEMORY), w->expected, MEMORY);
    memcpy(wmi_space_host(w->space, w->read_only, READ_ONLY), w->expected_read_only, READ_ONLY);
    const size_t bytes = (sizeof(struct wmi_frame) + ROWS * 4 * lanes + 63) / 64 * 64;
    w->frame = aligned_alloc(64, bytes);
    assert_non_null(w->frame);
    memset(w->frame, 0, bytes);
    w->frame->wave = &w->wave;
    w->frame->wave_size = lanes;
    w->wave.frame = w->frame;
    w->wave.worker = &w->worker;
    w->wave.group = &w->group;
    w->worker.space = w->space;
    w->worker.observers = w->locals;
    w->worker.dispatch = w->group.dispatch = &w->dispatch;
    return w;
}

static void destroy(struct world *w)
{
    wmi_space_destroy(w->space);
    free(w->frame);
    free(w);
}

static uint32_t row_offset(const struct world *w, unsigned row)
{
    return (uint32_t)(offsetof(struct wmi_frame, rows) + row * 4 * w->lanes);
}

static uint32_t *frame_row(struct world *w, unsigned row)
{
    return (uint32_t *)((char *)w->frame + row_offset(w, row));
}

static unsigned char *expected_byte(struct world *w, uint64_t address, bool *read_only)
{
    *read_only = address - w->read_only < READ_ONLY;
    if (address - w->low < MEMORY)
        return &w->expected[address - w->low];
    return *read_only ? &w->expected_read_only[address - w->read_only] : NULL;
}

/* ---- the reference: GcnMemHandling's formulas, field by field ---- */

struct statement {
    const uint32_t *v; /* the V# */
    unsigned rules;
    bool idxen, offen;
    uint32_t inst_offset, soffset;
};

static struct wmi_buffer_place lane_place(const struct world *w, const struct statement *s, unsigned lane)
{
    uint32_t offset = s->inst_offset;
    if (s->offen)
        offset += w->rows[ROW_ADDRESS + s->idxen][lane];
    return (struct wmi_buffer_place){.index = s->idxen ? w->rows[ROW_ADDRESS][lane] : 0,
                                     .lane = (uint32_t)lane_of(s->rules, s->v, s->idxen, lane),
                                     .offset = offset,
                                     .soffset = s->soffset};
}

/* The address of byte `at` of the lane's access. */
static uint64_t byte_address(const struct statement *s, struct wmi_buffer_place p, unsigned at)
{
    p.offset += at;
    return slow_address(s->rules, s->v, true, s->idxen, &p);
}

/* Whether the `bytes` from byte `at` of the lane's access are out of range. */
static bool out_of_range(const struct statement *s, struct wmi_buffer_place p, unsigned at, unsigned bytes)
{
    p.offset += at;
    p.bytes = bytes;
    return slow_out_of_range(s->rules, s->v, true, s->idxen, &p);
}

static uint64_t operate(unsigned operation, uint64_t m, uint64_t d, uint64_t c, unsigned bytes)
{
    const int64_t sm = bytes == 4 ? (int32_t)m : (int64_t)m, sd = bytes == 4 ? (int32_t)d : (int64_t)d;
    switch (operation) {
    case WMI_ATOMIC_SWAP:
        return d;
    case WMI_ATOMIC_CMPSWAP:
        return m == c ? d : m;
    case WMI_ATOMIC_ADD:
        return m + d;
    case WMI_ATOMIC_RSUB:
        return d - m;
    case WMI_ATOMIC_SUB:
        return m - d;
    case WMI_ATOMIC_SMIN:
        return sm < sd ? m : d;
    case WMI_ATOMIC_UMIN:
        return m < d ? m : d;
    case WMI_ATOMIC_SMAX:
        return sm > sd ? m : d;
    case WMI_ATOMIC_UMAX:
        return m > d ? m : d;
    case WMI_ATOMIC_AND:
        return m & d;
    case WMI_ATOMIC_OR:
        return m | d;
    case WMI_ATOMIC_XOR:
        return m ^ d;
    case WMI_ATOMIC_INC:
        return m >= d ? 0 : m + 1;
    default:
        return m == 0 || m > d ? d : m - 1;
    }
}

/* The lanes that fault, and the fault's kind. */
static uint64_t expected_fault(struct world *w, const struct statement *s, const struct wmi_memory_op *m,
                               uint64_t lanes, unsigned *kind)
{
    uint64_t outside = 0, misaligned = 0, fixed = 0;
    for (unsigned lane = 0; lane < w->lanes; lane++) {
        const struct wmi_buffer_place place = lane_place(w, s, lane);
        for (unsigned e = 0; e < m->elements && lanes >> lane & 1; e++) {
            const unsigned at = e * m->bytes;
            const uint64_t first = byte_address(s, place, at);
            if (out_of_range(s, place, at, m->bytes))
                continue;
            for (unsigned k = 0; k < m->bytes; k++) {
                bool read_only;
                if (!expected_byte(w, byte_address(s, place, at + k), &read_only))
                    outside |= 1ULL << lane;
                else if (read_only && m->kind != WMI_ACCESS_LOAD)
                    fixed |= 1ULL << lane;
                if (m->kind == WMI_ACCESS_ATOMIC &&
                    (first % m->bytes || byte_address(s, place, at + k) != first + k))
                    misaligned |= 1ULL << lane;
            }
        }
    }
    *kind = outside ? WM_FAULT_MEMORY : misaligned ? WM_FAULT_MISALIGNED : WM_FAULT_READ_ONLY;
    return outside ? outside : misaligned ? misaligned : fixed;
}

static void expect_lane(struct world *w, const struct statement *s, const struct wmi_memory_op *m,
                        unsigned result, unsigned lane)
{
    const struct wmi_buffer_place place = lane_place(w, s, lane);
    uint32_t loaded[4] = {0};
    bool unused;
    for (unsigned e = 0; e < m->elements; e++) {
        const unsigned at = e * m->bytes;
        uint64_t memory = 0, data = 0, compare = 0;
        unsigned char *p[8];
        if (!out_of_range(s, place, at, m->bytes))
            for (unsigned k = 0; k < m->bytes; k++) {
                p[k] = expected_byte(w, byte_address(s, place, at + k), &unused);
                memory |= (uint64_t)*p[k] << 8 * k;
            }
        data = w->rows[ROW_DATA + e][lane] >> (m->d16_hi ? 16 : 0);
        if (m->bytes == 8)
            data |= (uint64_t)w->rows[ROW_DATA + 1][lane] << 32;
        compare = w->rows[ROW_DATA + m->bytes / 4][lane] |
                  (m->bytes == 8 ? (uint64_t)w->rows[ROW_DATA + 3][lane] << 32 : 0);
        if (m->kind == WMI_ACCESS_ATOMIC)
            data = operate((unsigned)m->parameter, memory, data, compare, m->bytes);
        if (m->kind != WMI_ACCESS_LOAD && !out_of_range(s, place, at, m->bytes))
            for (unsigned k = 0; k < m->bytes; k++)
                *p[k] = (unsigned char)(data >> 8 * k);
        if (m->is_signed && memory >> (8 * m->bytes - 1) & 1)
            memory |= UINT64_MAX << 8 * m->bytes;
        loaded[e] = (uint32_t)memory;
        if (m->bytes == 8)
            loaded[1] = (uint32_t)(memory >> 32);
    }
    const unsigned words = m->kind == WMI_ACCESS_STORE  ? 0
                           : m->kind == WMI_ACCESS_LOAD ? m->elements
                           : m->returns                 ? m->bytes / 4
                                                        : 0;
    for (unsigned e = 0; e < words; e++) {
        uint32_t *to = &w->rows[result + e][lane];
        if (m->d16_hi)
            *to = (*to & 0xffff) | loaded[e] << 16;
        else if (m->d16)
            *to = (*to & 0xffff0000) | (loaded[e] & 0xffff);
        else
            *to = loaded[e];
    }
}

/* ---- random requests ---- */

static uint64_t draw_lanes(struct world *w)
{
    const uint64_t all = w->lanes == 64 ? UINT64_MAX : UINT32_MAX;
    switch (below(w, 4)) {
    case 0:
        return (word(w) | (uint64_t)word(w) << 32) & all;
    case 1:
        return 1ULL << below(w, w->lanes);
    default:
        return all;
    }
}

/* Random V#s, offsets and registers that are mostly within the memory. */
static void draw_request(struct world *w, struct statement *s, uint32_t *v, struct wmi_memory_op *m,
                         unsigned form)
{
    const unsigned kind = (unsigned)below(w, 5);
    const uint64_t place = below(w, 16) ? w->low : w->read_only;
    const uint32_t reach = place == w->low ? MEMORY : READ_ONLY;
    const uint32_t unit = m->kind == WMI_ACCESS_ATOMIC && below(w, 8) ? m->bytes : 1u << below(w, 3);
    s->idxen = form & WMI_BUFFER_IDXEN;
    s->offen = form & WMI_BUFFER_OFFEN;
    s->soffset = (uint32_t)below(w, 3) * 256;
    s->inst_offset = below(w, 2) ? (uint32_t)below(w, 16) * unit : 0;
    uint32_t spread = 64, indices = 1, index_base = 0, stride = 0;
    v[0] = (uint32_t)place;
    v[1] = (uint32_t)(place >> 32);
    v[2] = below(w, 4) ? reach : (uint32_t)below(w, 600);
    v[3] = 4 << 12 | 4 << 15 | 0xfac;
    if (kind == 0) { /* private memory */
        v[1] |= 1u << 31;
        v[3] = (v[3] & ~(0xfu << 15)) | 3 << 21 | 1 << 23 | 1 << 19;
        spread = reach / 512;
    } else if (kind == 1) { /* swizzled records */
        stride = 16u << below(w, 2);
        v[1] |= 1u << 31 | stride << 16;
        v[3] |= (uint32_t)below(w, 4) << 21 | (uint32_t)below(w, 2) << 23 | (uint32_t)below(w, 4) << 19;
        v[3] &= ~(0xfu << 15);
        v[2] = (uint32_t)below(w, 80);
        spread = 32;
        indices = 80;
    } else if (kind == 2) { /* linear records */
        stride = (uint32_t)below(w, 40);
        v[1] |= stride << 16;
        v[2] = (uint32_t)below(w, 120);
        indices = 120;
    } else if (kind == 3) { /* linear bytes */
        spread = 1000;
    } else { /* anything */
        v[1] |= word(w) & 0xffff0000;
        v[3] = word(w);
    }
    if (below(w, 40) == 0)
        v[0] += 1; /* any of these may be misaligned */
    const uint32_t same = (uint32_t)below(w, spread / unit + 1) * unit;
    const bool uniform = below(w, 3) == 0, rising = below(w, 3) == 0;
    for (unsigned row = 0; row < ROWS; row++)
        for (unsigned i = 0; i < w->lanes; i++)
            w->rows[row][i] = word(w) & (below(w, 4) ? UINT32_MAX : 3);
    for (unsigned i = 0; i < w->lanes; i++) {
        uint32_t offset = uniform ? same : (uint32_t)below(w, spread / unit + 1) * unit;
        if (rising)
            offset = same + i * m->elements * m->bytes;
        if (below(w, 400) == 0)
            offset = 0u - s->inst_offset - (uint32_t)below(w, 3) * unit; /* wraps */
        if (s->idxen)
            w->rows[ROW_ADDRESS][i] = index_base + (uint32_t)below(w, indices);
        w->rows[ROW_ADDRESS + s->idxen][i] = offset;
    }
    m->offset = s->inst_offset;
    m->hit = (uint32_t)below(w, 4);
}

/* What the statement and its registers say that the observer is shown. */
static struct {
    struct world *w;
    const struct statement *s;
    const struct wmi_memory_op *m;
    uint64_t lanes;
    unsigned shown;
} watched;

/* Whether a byte of the lane's access is in range and not in memory. */
static bool is_outside(struct world *w, const struct statement *s, const struct wmi_memory_op *m,
                       unsigned lane)
{
    const struct wmi_buffer_place place = lane_place(w, s, lane);
    bool unused;
    for (unsigned at = 0; at < (unsigned)m->elements * m->bytes; at++)
        if (!out_of_range(s, place, at / m->bytes * m->bytes, m->bytes) &&
            !expected_byte(w, byte_address(s, place, at), &unused))
            return true;
    return false;
}

/* Each lane's places, or one that consists of all of them. */
static void watch_access(void *local, const struct wmi_access *access, uint32_t slot)
{
    (void)local, (void)slot;
    struct world *w = watched.w;
    const struct wmi_memory_op *m = watched.m;
    watched.shown++;
    assert_int_equal(access->lanes, watched.lanes);
    assert_int_equal(access->elements * access->bytes, m->elements * m->bytes);
    for (unsigned e = 0; e < access->elements; e++) {
        const struct wmi_element *element = &access->element[e];
        assert_int_equal(element->mask, watched.lanes);
        for (unsigned lane = 0; lane < w->lanes; lane++) {
            const struct wmi_buffer_place place = lane_place(w, watched.s, lane);
            const unsigned at = e * access->bytes;
            if (!(watched.lanes >> lane & 1))
                continue;
            bool bad = is_outside(w, watched.s, m, lane);
            for (unsigned part = at; part < at + access->bytes; part += m->bytes)
                bad |= out_of_range(watched.s, place, part, m->bytes);
            assert_int_equal(element->bad_range >> lane & 1, bad);
            if (!bad)
                assert_int_equal(element->address[lane], byte_address(watched.s, place, at));
            if (element->private_offset)
                assert_int_equal(element->private_offset[lane], (uint32_t)(place.offset + at));
        }
    }
}

static const struct wmi_observer observer = {.access = watch_access};

static void compare(struct world *w)
{
    for (unsigned row = 0; row < ROWS; row++)
        assert_memory_equal(frame_row(w, row), w->rows[row], 4 * w->lanes);
    assert_memory_equal(wmi_space_host(w->space, w->low, MEMORY), w->expected, MEMORY);
    assert_memory_equal(wmi_space_host(w->space, w->read_only, READ_ONLY), w->expected_read_only, READ_ONLY);
}

static unsigned faulted, passed;

/* The step after the tested one. */
static const struct wmi_op *stop(char *restrict frame, const struct wmi_op *op)
{
    (void)frame;
    return op;
}

/* quick: a further step that shows the access, or NULL. */
static void try_step(struct world *w, wmi_body body, wmi_body behind, wmi_body quick, struct wmi_memory_op *m,
                     unsigned rules, unsigned form)
{
    uint32_t v[4];
    struct statement s = {.v = v, .rules = rules};
    unsigned result = ROW_RESULT, kind;
    draw_request(w, &s, v, m, form);
    const uint64_t lanes = draw_lanes(w);
    if (below(w, 4) == 0)
        result = ROW_ADDRESS;
    m->buffer = wmi_buffer_rules(rules);
    m->observer = &observer;
    struct wmi_op ops[3] = {{.body = body,
                             .d = row_offset(w, result),
                             .a = row_offset(w, ROW_ADDRESS),
                             .b = 4 * SCALAR_RESOURCE,
                             .c = row_offset(w, ROW_DATA),
                             .e = 4 * SCALAR_OFFSET,
                             .lanes = offsetof(struct wmi_frame, exec),
                             .x = offsetof(struct wmi_frame, constant),
                             .y = form | (behind ? WMI_BUFFER_LINEAR : 0),
                             .data = m}};
    if (!form) /* as in lowering: an offset of 0 for the next step */
        memset(w->rows[0], 0, sizeof w->rows[0]);
    ops[1] = (struct wmi_op){.body = behind,
                             .d = ops[0].d,
                             .a = form ? ops[0].a : row_offset(w, 0),
                             .b = ops[0].x,
                             .c = ops[0].c,
                             .lanes = ops[0].lanes,
                             .x = WMI_VMEM_SADDR,
                             .data = m};
    memcpy(&w->frame->s[SCALAR_RESOURCE], v, sizeof v);
    w->frame->s[SCALAR_OFFSET] = s.soffset;
    w->frame->exec.bits = lanes;
    w->frame->exec.full = lanes == (w->lanes == 64 ? UINT64_MAX : UINT32_MAX);
    for (unsigned i = 0; i < 64; i++)
        w->frame->exec.row[i] = lanes >> i & 1 ? UINT32_MAX : 0;
    for (unsigned row = 0; row < ROWS; row++)
        memcpy(frame_row(w, row), w->rows[row], 4 * w->lanes);

    const uint64_t bad = expected_fault(w, &s, m, lanes, &kind);
    const struct wmi_op watching[] = {ops[0], {.body = stop}};
    watched.w = w, watched.s = &s, watched.m = m, watched.lanes = lanes, watched.shown = 0;
    assert_ptr_equal(wmi_step_buffer_watch((char *)w->frame, &watching[0]), &watching[1]);
    if (quick)
        assert_ptr_equal(quick((char *)w->frame, &watching[0]), &watching[1]);
    assert_int_equal(watched.shown, quick ? 2 : 1);
    compare(w);
    w->wave.state = WMI_WAVE_READY;
    struct wmi_op *const end = &ops[behind ? 2 : 1];
    const struct wmi_op *next = &ops[0];
    *end = (struct wmi_op){.body = stop};
    while (next && next != end)
        next = next->body((char *)w->frame, next);
    if (bad) {
        assert_null(next);
        assert_int_equal(w->worker.fault.kind, kind);
        assert_int_equal(w->worker.fault.lanes, bad);
        faulted++;
    } else {
        assert_ptr_equal(next, end);
        for (unsigned lane = 0; lane < w->lanes; lane++)
            if (lanes >> lane & 1)
                expect_lane(w, &s, m, result, lane);
        passed++;
    }
    compare(w);
}

/* ---- the tests ---- */

static struct wmi_memory_op memory_op(const struct wmi_buffer_step *step)
{
    return (struct wmi_memory_op){.path = WMI_PATH_BUFFER,
                                  .kind = step->kind,
                                  .elements = step->elements,
                                  .bytes = step->bytes,
                                  .is_signed = step->is_signed,
                                  .d16 = step->d16,
                                  .d16_hi = step->d16_hi};
}

static unsigned count(void)
{
    return reduced() ? STEPS_PER_SHAPE / 10 : STEPS_PER_SHAPE;
}

static void fast_steps(void **state)
{
    (void)state;
#define QUICK(name, level, lanes, suffix) [level][lanes / 64] = name##suffix,
    static const wmi_body quick[WMI_CPU_LEVELS][2] = {WMI_LANE_BUILDS(QUICK, wmi_step_buffer_watch_quick)};
    for (unsigned level = 0; level <= wmi_cpu_level(); level++)
        for (unsigned lanes = 32; lanes <= 64; lanes += 32) {
            struct world *w = create(lanes, 11 + level);
            const struct wmi_vmem_step *behind = wmi_vmem_steps((enum wmi_cpu_level)level, lanes);
            const struct wmi_buffer_step *step = wmi_buffer_steps((enum wmi_cpu_level)level, lanes);
            for (; step->elements; step++, behind++) {
                struct wmi_memory_op m = memory_op(step);
                for (unsigned i = 0; i < count(); i++)
                    try_step(w, step->step, behind->step[WMI_VMEM_SADDR], quick[level][lanes / 64], &m,
                             below(w, 8) ? GFX9 : GFX8, below(w, 3) ? WMI_BUFFER_OFFEN : 0);
            }
            destroy(w);
        }
    assert_true(passed > faulted && faulted);
}

static void careful_path(void **state)
{
    (void)state;
    struct world *w = create(64, 5);
    for (const struct wmi_buffer_step *step = wmi_buffer_steps(WMI_CPU_BASELINE, 64); step->elements;
         step++) {
        struct wmi_memory_op m = memory_op(step);
        for (unsigned i = 0; i < 2 * count(); i++)
            try_step(w, wmi_step_buffer_careful, NULL, NULL, &m, below(w, 3) ? GFX9 : GFX8,
                     (unsigned)below(w, 4));
    }
    destroy(w);
}

static void atomics(void **state)
{
    (void)state;
    struct world *w = create(64, 6);
    for (unsigned operation = WMI_ATOMIC_NONE + 1; operation <= WMI_ATOMIC_DEC;
         operation++) /* floats: see buffer_text.c */
        for (unsigned bytes = 4; bytes <= 8; bytes += 4)
            for (unsigned i = 0; i < count(); i++) {
                struct wmi_memory_op m = {.path = WMI_PATH_BUFFER,
                                          .kind = WMI_ACCESS_ATOMIC,
                                          .elements = 1,
                                          .bytes = (uint8_t)bytes,
                                          .returns = below(w, 2),
                                          .parameter = operation};
                try_step(w, wmi_step_buffer_atomic, NULL, NULL, &m, GFX9, (unsigned)below(w, 4));
            }
    destroy(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fast_steps),
        cmocka_unit_test(careful_path),
        cmocka_unit_test(atomics),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
