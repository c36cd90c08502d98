/* SPDX-License-Identifier: MIT */
/* Vector memory steps against a simple reference that works on one lane and one byte at a time.
 *
 * Random addresses, masks and registers; every shape of load and store, every atomic, every CPU level of the
 * host, wave64 and wave32. Compares all registers, all guest memory and LDS, the next step, and the fault.
 * The reference has its own copy of memory and its own list of allocations. */
#include "exec/memory/vmem.h"
#include "base/random.h"
#include "exec/control/steps.h"
#include "exec/memory/apertures.h"
#include "exec/run/workgroup.h"

#include <setjmp.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    ROWS = 24,
    ROW_ADDRESS = 2, /* two rows */
    ROW_DATA = 6,    /* four */
    ROW_RESULT = 14, /* four; rows around it must not change */
    SCALAR_BASE = 4, /* SGPR numbers */
    LDS_BYTES = 1000,
    WINDOW = 1 << 13,
    WINDOWS = 7,
    STEPS_PER_SHAPE = 600,
};

static const uint64_t gib = 1ULL << 30;

/* ---- guest memory and its copy ---- */

struct window { /* a part of an allocation that the test may access */
    uint64_t low, size;
    unsigned char expected[WINDOW];
};

struct extent {
    uint64_t low, size;
    bool read_only;
};

struct world {
    struct wmi_space *space;
    struct extent extents[5];
    unsigned extent_count;
    struct window windows[WINDOWS];
    unsigned window_count;
    struct wmi_dispatch dispatch;
    struct wmi_worker worker;
    void *locals[1]; /* of the observer */
    struct wmi_workgroup group;
    struct wmi_wave wave;
    unsigned char lds[LDS_BYTES + 64], expected_lds[LDS_BYTES + 64];
    struct wmi_frame *frame;
    uint32_t expected_rows[ROWS][64];
    unsigned lanes;
    uint64_t seed, drawn;
};

static uint64_t draw(struct world *w)
{
    return wmi_random_bits(w->seed, w->drawn++);
}

static uint64_t below(struct world *w, uint64_t limit)
{
    return draw(w) % limit;
}

static void add_window(struct world *w, uint64_t low, uint64_t size)
{
    struct window *window = &w->windows[w->window_count++];
    assert_true(size <= WINDOW);
    window->low = low;
    window->size = size;
    unsigned char *host = wmi_space_host(w->space, low, size);
    assert_non_null(host);
    for (uint64_t i = 0; i < size; i++)
        window->expected[i] = host[i] = (unsigned char)draw(w);
}

static uint64_t add_allocation(struct world *w, uint64_t size, bool read_only)
{
    uint64_t low;
    assert_int_equal(wmi_space_allocate(w->space, size, read_only ? WM_READ_ONLY : 0, "test", &low, NULL),
                     WM_OK);
    w->extents[w->extent_count++] = (struct extent){low, size, read_only};
    return low;
}

static struct world *world_create(unsigned lanes, uint64_t seed)
{
    struct world *w = aligned_alloc(alignof(struct world), sizeof *w); /* calloc() does not align enough */
    assert_non_null(w);
    memset(w, 0, sizeof *w);
    w->seed = seed;
    w->lanes = lanes;
    w->space = wmi_space_create();
    uint64_t low = add_allocation(w, 1001, false);
    add_window(w, low, 1001);
    low = add_allocation(w, 4096, false);
    add_window(w, low, 4096);
    low = add_allocation(w, 9 * gib, false); /* addresses in it differ in their high words */
    const uint64_t boundary = (low + 4 * gib) / (4 * gib) * 4 * gib;
    add_window(w, boundary - WINDOW / 2, WINDOW);
    add_window(w, boundary + 4 * gib - WINDOW / 2, WINDOW);
    add_window(w, low + 9 * gib - WINDOW, WINDOW);
    low = add_allocation(w, 5000, true);
    add_window(w, low, 5000);
    low = add_allocation(w, 7, false); /* smaller than some accesses */
    add_window(w, low, 7);

    const size_t bytes = sizeof(struct wmi_frame) + ROWS * 4 * lanes;
    w->frame = aligned_alloc(64, (bytes + 63) / 64 * 64);
    assert_non_null(w->frame);
    memset(w->frame, 0, bytes);
    w->frame->wave = &w->wave;
    w->frame->wave_size = lanes;
    const struct wmi_apertures apertures = wmi_apertures_of(wmi_target_find("gfx900"));
    memcpy(&w->frame->s[WMI_S_SHARED_BASE], &apertures.shared_base, 8);
    memcpy(&w->frame->s[WMI_S_SHARED_LIMIT], &apertures.shared_limit, 8);
    memcpy(&w->frame->s[WMI_S_PRIVATE_BASE], &apertures.private_base, 8);
    memcpy(&w->frame->s[WMI_S_PRIVATE_LIMIT], &apertures.private_limit, 8);
    w->wave.frame = w->frame;
    w->wave.worker = &w->worker;
    w->wave.group = &w->group;
    w->worker.space = w->space;
    w->worker.observers = w->locals;
    w->worker.dispatch = w->group.dispatch = &w->dispatch;
    w->group.lds = w->lds;
    w->group.lds_size = LDS_BYTES;
    for (unsigned i = 0; i < sizeof w->lds; i++)
        w->lds[i] = w->expected_lds[i] = (unsigned char)draw(w);
    return w;
}

static void world_destroy(struct world *w)
{
    wmi_space_destroy(w->space);
    free(w->frame);
    free(w);
}

static uint32_t *frame_row(struct world *w, unsigned row)
{
    return (uint32_t *)(w->frame->rows + row * 4 * w->lanes);
}

static uint32_t row_offset(const struct world *w, unsigned row)
{
    return (uint32_t)offsetof(struct wmi_frame, rows) + row * 4 * w->lanes;
}

/* ---- the reference ---- */

/* The byte in the test's own copy; NULL if not allocated. */
static unsigned char *expected_byte(struct world *w, uint64_t address, bool *read_only)
{
    for (unsigned i = 0; i < w->extent_count; i++)
        if (address >= w->extents[i].low && address - w->extents[i].low < w->extents[i].size)
            *read_only = w->extents[i].read_only;
    for (unsigned i = 0; i < w->window_count; i++)
        if (address >= w->windows[i].low && address - w->windows[i].low < w->windows[i].size)
            return &w->windows[i].expected[address - w->windows[i].low];
    return NULL;
}

/* Whether [address, address + bytes) is in one allocation, byte by byte. */
static bool allocated(const struct world *w, uint64_t address, unsigned bytes)
{
    for (unsigned i = 0; i < w->extent_count; i++) {
        unsigned inside = 0;
        for (unsigned b = 0; b < bytes; b++) {
            const uint64_t at = address + b;
            inside += at >= w->extents[i].low && at < w->extents[i].low + w->extents[i].size;
        }
        if (inside == bytes)
            return true;
    }
    return false;
}

struct request {
    const struct wmi_memory_op *m;
    uint64_t lanes;
    bool lds[64], scratch[64];
    uint64_t address[64]; /* for LDS the offset; for scratch the lane's own offset */
    uint64_t scratch_base;
};

static uint64_t byte_address(const struct world *w, const struct request *r, unsigned lane, unsigned byte)
{
    if (!r->scratch[lane])
        return r->address[lane] + byte;
    const uint64_t offset = r->address[lane] + byte;
    return r->scratch_base + (offset / 4 * w->lanes + lane) * 4 + offset % 4;
}

/* The lanes with a fault, and its kind. */
static uint64_t expected_fault(struct world *w, const struct request *r, unsigned *kind)
{
    const unsigned bytes = r->m->elements * r->m->bytes;
    uint64_t aperture = 0, outside = 0, wide = 0, read_only_lanes = 0, misaligned = 0;
    for (unsigned lane = 0; lane < w->lanes; lane++) {
        if (!(r->lanes >> lane & 1))
            continue;
        const uint64_t bit = 1ULL << lane;
        if (r->m->kind == WMI_ACCESS_ATOMIC && r->scratch[lane] && bytes == 8)
            wide |= bit;
        else if (r->m->kind == WMI_ACCESS_ATOMIC && byte_address(w, r, lane, 0) % bytes)
            misaligned |= bit;
        if (r->lds[lane])
            continue;
        const uint64_t top = (r->address[lane] - (uint64_t)r->m->offset) >> 47;
        if (!r->scratch[lane] && top != 0 && top != (1 << 17) - 1) {
            aperture |= bit;
            continue;
        }
        bool read_only = false, inside = true;
        if (r->scratch[lane])
            for (unsigned b = 0; b < bytes; b++)
                inside &= allocated(w, byte_address(w, r, lane, b), 1);
        else
            inside = allocated(w, r->address[lane], bytes);
        if (!inside) {
            outside |= bit;
            continue;
        }
        for (unsigned b = 0; b < bytes; b++)
            expected_byte(w, byte_address(w, r, lane, b), &read_only);
        if (read_only && r->m->kind != WMI_ACCESS_LOAD)
            read_only_lanes |= bit;
    }
    *kind = aperture          ? WM_FAULT_APERTURE
            : wide            ? WM_FAULT_PRIVATE_ATOMIC
            : outside         ? WM_FAULT_MEMORY
            : misaligned      ? WM_FAULT_MISALIGNED
            : read_only_lanes ? WM_FAULT_READ_ONLY
                              : WM_FAULT_NONE;
    return aperture ? aperture : wide ? wide : outside ? outside : misaligned ? misaligned : read_only_lanes;
}

static uint64_t operate(unsigned operation, uint64_t memory, uint64_t data, uint64_t compare, unsigned bits)
{
    const int64_t signed_memory = (int64_t)(memory << (64 - bits)),
                  signed_data = (int64_t)(data << (64 - bits));
    switch (operation) {
    case WMI_ATOMIC_SWAP:
        return data;
    case WMI_ATOMIC_CMPSWAP:
        return memory == compare ? data : memory;
    case WMI_ATOMIC_ADD:
        return memory + data;
    case WMI_ATOMIC_RSUB:
        return data - memory;
    case WMI_ATOMIC_SUB:
        return memory - data;
    case WMI_ATOMIC_SMIN:
        return signed_memory <= signed_data ? memory : data;
    case WMI_ATOMIC_UMIN:
        return memory <= data ? memory : data;
    case WMI_ATOMIC_SMAX:
        return signed_memory >= signed_data ? memory : data;
    case WMI_ATOMIC_UMAX:
        return memory >= data ? memory : data;
    case WMI_ATOMIC_AND:
        return memory & data;
    case WMI_ATOMIC_OR:
        return memory | data;
    case WMI_ATOMIC_XOR:
        return memory ^ data;
    case WMI_ATOMIC_INC:
        return memory >= data ? 0 : memory + 1;
    case WMI_ATOMIC_DEC:
        return memory == 0 || memory > data ? data : memory - 1;
    default:
        fail();
        return 0;
    }
}

/* Applies the request to the test's own copies. */
static void expect(struct world *w, const struct request *r, unsigned data_row, unsigned result_row)
{
    const struct wmi_memory_op *m = r->m;
    const unsigned bytes = m->elements * m->bytes;
    uint32_t before[ROWS][64];
    memcpy(before, w->expected_rows, sizeof before);
    for (unsigned lane = 0; lane < w->lanes; lane++) {
        if (!(r->lanes >> lane & 1))
            continue;
        unsigned char nothing[16] = {0}, *place[16];
        const bool dropped = r->lds[lane] && r->address[lane] + bytes > LDS_BYTES;
        for (unsigned b = 0; b < bytes; b++) {
            bool read_only;
            place[b] = dropped        ? &nothing[b]
                       : r->lds[lane] ? &w->expected_lds[r->address[lane] + b]
                                      : expected_byte(w, byte_address(w, r, lane, b), &read_only);
            assert_non_null(place[b]); /* the test accesses windows only */
        }
        uint64_t memory = 0;
        for (unsigned b = 0; b < bytes && b < 8; b++)
            memory |= (uint64_t)*place[b] << 8 * b;
        if (m->kind == WMI_ACCESS_ATOMIC) {
            const unsigned words = m->bytes / 4;
            uint64_t data = before[data_row][lane], compare = before[data_row + words][lane];
            if (words == 2) {
                data |= (uint64_t)before[data_row + 1][lane] << 32;
                compare |= (uint64_t)before[data_row + 3][lane] << 32;
            }
            const uint64_t after = operate((unsigned)m->parameter, memory, data, compare, 8 * m->bytes);
            for (unsigned b = 0; b < bytes; b++)
                *place[b] = (unsigned char)(after >> 8 * b);
            if (m->returns)
                for (unsigned i = 0; i < words; i++)
                    w->expected_rows[result_row + i][lane] = dropped ? 0 : (uint32_t)(memory >> 32 * i);
        } else if (m->kind == WMI_ACCESS_STORE) {
            for (unsigned b = 0; b < bytes; b++)
                *place[b] =
                    (unsigned char)(before[data_row + b / 4][lane] >> 8 * (b % 4 + (m->d16_hi ? 2 : 0)));
        } else if (m->bytes == 4) {
            for (unsigned e = 0; e < m->elements; e++)
                w->expected_rows[result_row + e][lane] = *place[4 * e] | (uint32_t)*place[4 * e + 1] << 8 |
                                                         (uint32_t)*place[4 * e + 2] << 16 |
                                                         (uint32_t)*place[4 * e + 3] << 24;
        } else {
            uint32_t value = (uint32_t)memory;
            if (m->is_signed && memory >> (8 * m->bytes - 1))
                value |= m->bytes == 1 ? 0xffffff00 : 0xffff0000;
            uint32_t *to = &w->expected_rows[result_row][lane];
            if (m->d16_hi)
                *to = value << 16 | (*to & 0xffff);
            else if (m->d16)
                *to = (value & 0xffff) | (*to & 0xffff0000);
            else
                *to = value;
        }
    }
}

/* ---- random requests ---- */

static uint64_t draw_lanes(struct world *w)
{
    const uint64_t all = UINT64_MAX >> (64 - w->lanes);
    switch (below(w, 8)) {
    case 0:
        return draw(w) & all;
    case 1:
        return draw(w) & draw(w) & draw(w) & all;
    case 2:
        return 0x5555555555555555 & all;
    case 3:
        return 1ULL << below(w, w->lanes);
    case 4:
        return all >> below(w, w->lanes) << below(w, 8) & all;
    case 5:
        return below(w, 4) ? all : 0;
    default:
        return all;
    }
}

static void set_lanes(struct world *w, struct wmi_lanes *set, uint64_t bits)
{
    set->bits = bits;
    set->full = bits == UINT64_MAX >> (64 - w->lanes);
    for (unsigned i = 0; i < 64; i++)
        set->row[i] = bits >> i & 1 ? UINT32_MAX : 0;
}

/* A start from which 64 lanes of `bytes` just fit in a window, or just do not. */
static uint64_t draw_start(struct world *w, const struct window *window, uint64_t span, bool near_end)
{
    if (near_end)
        return window->low + window->size - below(w, span + 16) + 8;
    return span < window->size ? window->low + below(w, window->size - span + 1) : window->low;
}

/* Random lane addresses; sometimes invalid ones. */
static void draw_addresses(struct world *w, unsigned bytes, bool atomic, uint64_t *address)
{
    const struct window *window = &w->windows[below(w, below(w, 8) ? 5 : WINDOWS)];
    const unsigned pattern = (unsigned)below(w, 12);
    const uint64_t step = pattern == 0 ? bytes : pattern == 1 ? 0 : below(w, 2 * bytes + 2);
    const bool crossing = below(w, 2); /* crosses a 4 GiB boundary inside an allocation */
    if (crossing && pattern < 8)
        window = &w->windows[3];
    const uint64_t start = crossing && pattern < 8
                               ? window->low + window->size / 2 - below(w, bytes * w->lanes)
                               : draw_start(w, window, bytes * w->lanes, below(w, 4) == 0);
    for (unsigned i = 0; i < 64; i++) {
        const struct window *other = &w->windows[below(w, 5)];
        if (pattern < 4)
            address[i] = start + (pattern < 2 || step ? i * step : 0);
        else if (pattern == 4)
            address[i] = start + (63 - i) * bytes;
        else if (pattern == 5)
            address[i] = start + i * bytes + (below(w, 64) == 0);
        else if (pattern == 6 && crossing) /* the low words continue, the high words do not, or are random */
            address[i] = (uint32_t)(start + i * bytes) | (start >> 32) << 32;
        else if (pattern == 7 && crossing)
            address[i] = start + i * bytes - (below(w, 16) ? 0 : 4 * gib);
        else if (pattern < 8)
            address[i] = other->low + below(w, other->size > bytes ? other->size - bytes + 1 : 1);
        else
            address[i] = window->low + below(w, window->size > bytes ? window->size - bytes + 1 : 1);
        if (atomic)
            address[i] -= address[i] % bytes;
    }
    if (below(w, 4) == 0) {
        const uint64_t wild[] = {UINT64_MAX,
                                 UINT64_MAX - 3,
                                 0,
                                 draw(w),
                                 1ULL << 47,
                                 window->low - 1,
                                 window->low + window->size - 1,
                                 window->low + (1ULL << 32)};
        address[below(w, 64)] = wild[below(w, sizeof wild / sizeof wild[0])];
    }
    if (atomic && below(w, 8) == 0)
        address[below(w, 64)] += below(w, bytes);
}

/* Whether the test's copies cover everything that the request accesses. */
static bool in_windows(struct world *w, const struct request *r)
{
    const unsigned bytes = r->m->elements * r->m->bytes;
    for (unsigned lane = 0; lane < w->lanes; lane++) {
        if (!(r->lanes >> lane & 1) || r->lds[lane])
            continue;
        for (unsigned b = 0; b < bytes; b++) {
            bool read_only;
            const uint64_t at = byte_address(w, r, lane, b);
            if (allocated(w, at, 1) && !expected_byte(w, at, &read_only))
                return false;
        }
    }
    return true;
}

/* ---- one step ---- */

static uint64_t watched_lanes, watched_bad;
static unsigned watched_calls, watched_private; /* private: places of lanes in private memory */
static struct world *watched_world;
static const struct request *watched_request;

static void check_rows(struct world *w)
{
    for (unsigned row = 0; row < ROWS; row++)
        assert_memory_equal(frame_row(w, row), w->expected_rows[row], 4 * w->lanes);
}

static void check_memory(struct world *w)
{
    for (unsigned i = 0; i < w->window_count; i++)
        assert_memory_equal(wmi_space_host(w->space, w->windows[i].low, w->windows[i].size),
                            w->windows[i].expected, w->windows[i].size);
    assert_memory_equal(w->lds, w->expected_lds, sizeof w->lds);
}

static void check_fault(struct world *w, const struct request *r, uint64_t lanes, unsigned kind)
{
    const struct wmi_fault *fault = &w->worker.fault;
    const unsigned bytes = r->m->elements * r->m->bytes;
    uint64_t low = UINT64_MAX, high = 0;
    for (unsigned lane = 0; lane < w->lanes; lane++) {
        if (!(lanes >> lane & 1))
            continue;
        const uint64_t first = byte_address(w, r, lane, 0);
        const uint64_t last = first + bytes - 1 < first ? UINT64_MAX : first + bytes - 1;
        low = first < low ? first : low;
        high = last > high ? last : high;
    }
    assert_int_equal(fault->kind, kind);
    assert_int_equal(fault->lanes, lanes);
    assert_int_equal(fault->low, low);
    assert_int_equal(fault->high, high);
    assert_int_equal(fault->bytes, bytes);
    assert_int_equal(fault->pc, r->m->pc);
    assert_int_equal(fault->store, r->m->kind != WMI_ACCESS_LOAD);
}

/* The step after the tested one. */
static const struct wmi_op *stop(char *restrict frame, const struct wmi_op *op)
{
    (void)frame;
    return op;
}

/* Draws the lanes, registers and addresses of a request in the given form. */
static void draw_request(struct world *w, struct wmi_memory_op *m, enum wmi_vmem_form form, struct request *r)
{
    const unsigned bytes = m->elements * m->bytes;
    const bool flat = m->path == WMI_PATH_FLAT;
    r->lanes = draw_lanes(w);
    m->offset = below(w, 3) ? 0 : (int64_t)below(w, 4096) - (flat ? 0 : 4096);
    if (m->kind == WMI_ACCESS_ATOMIC)
        m->offset &= ~7;
    m->pc = draw(w);
    m->hit = (uint32_t)below(w, 4);
    for (unsigned row = 0; row < ROWS; row++)
        for (unsigned i = 0; i < w->lanes; i++)
            w->expected_rows[row][i] = (uint32_t)draw(w) & (below(w, 4) ? UINT32_MAX : 3);
    uint64_t address[64], base = 0;
    draw_addresses(w, bytes, m->kind == WMI_ACCESS_ATOMIC, address);
    if (form == WMI_VMEM_SCRATCH) {
        base = below(w, 2) ? 0 : (uint32_t)draw(w);
        memcpy(&w->frame->s[SCALAR_BASE], &base, 8);
    }
    if (form == WMI_VMEM_SADDR) {
        base = address[0] - below(w, 3) * below(w, 1 << 20);
        memcpy(&w->frame->s[SCALAR_BASE], &base, 8);
    }
    const bool all_private = flat && m->kind != WMI_ACCESS_ATOMIC && below(w, 6) == 0;
    const bool one_place = below(w, 2);
    const uint64_t private_place = below(w, 7) * 4 + (below(w, 2) ? 0 : below(w, 4));
    r->scratch_base = w->windows[3].low + 4 * below(w, 64);
    memcpy(&w->frame->s[WMI_S_FLAT_SCRATCH], &r->scratch_base, 8);
    for (unsigned i = 0; i < w->lanes; i++) {
        uint64_t vaddr = address[i] - (uint64_t)m->offset;
        r->lds[i] = r->scratch[i] = false;
        if (form == WMI_VMEM_SADDR) {
            vaddr = (uint32_t)(vaddr - base);
            r->address[i] = base + vaddr + (uint64_t)m->offset;
        } else if (form == WMI_VMEM_SCRATCH) {
            r->scratch[i] = true;
            r->address[i] = below(w, 28) * (m->kind == WMI_ACCESS_ATOMIC ? bytes : 1);
            vaddr = (uint32_t)(r->address[i] - (uint64_t)m->offset - base);
        } else {
            if (all_private)
                vaddr = (2ULL << 48) + (one_place ? private_place : below(w, 28));
            else if (flat && below(w, 40) == 0)
                vaddr = (1ULL << 48) + below(w, LDS_BYTES + 20) / (m->kind == WMI_ACCESS_ATOMIC ? bytes : 1) *
                                           (m->kind == WMI_ACCESS_ATOMIC ? bytes : 1);
            else if (flat && below(w, 40) == 0)
                vaddr = (2ULL << 48) + 4 * below(w, 8);
            else if (flat && below(w, 100) == 0) /* an offset does not lead into or out of an aperture */
                vaddr = (1ULL << 48) + below(w, 2) * (1ULL << 32) - below(w, 4096);
            r->lds[i] = flat && vaddr >> 32 == 1ULL << 16;
            r->scratch[i] = flat && vaddr >> 32 == 2ULL << 16;
            r->address[i] = vaddr + (uint64_t)m->offset -
                            (r->lds[i]       ? 1ULL << 48
                             : r->scratch[i] ? 2ULL << 48
                                             : 0);
        }
        w->expected_rows[ROW_ADDRESS][i] = (uint32_t)vaddr;
        if (form == WMI_VMEM_VADDR)
            w->expected_rows[ROW_ADDRESS + 1][i] = (uint32_t)(vaddr >> 32);
    }
}

/* Runs `body` on a random request in the given form and compares everything. */
static void try_step(struct world *w, wmi_body body, struct wmi_memory_op *m, enum wmi_vmem_form form)
{
    struct wmi_op ops[2] = {{.body = body,
                             .d = row_offset(w, ROW_RESULT),
                             .a = row_offset(w, ROW_ADDRESS),
                             .b = 4 * SCALAR_BASE,
                             .c = row_offset(w, ROW_DATA),
                             .lanes = offsetof(struct wmi_frame, exec),
                             .x = form,
                             .data = m},
                            {.body = stop}};
    struct request r = {.m = m};
    unsigned result = ROW_RESULT;
    do
        draw_request(w, m, form, &r);
    while (!in_windows(w, &r));
    if (below(w, 4) == 0) /* the result overwrites the address registers */
        result = ROW_ADDRESS;
    else if (below(w, 8) == 0)
        result = ROW_DATA;
    ops[0].d = row_offset(w, result);
    set_lanes(w, &w->frame->exec, r.lanes);
    for (unsigned row = 0; row < ROWS; row++)
        memcpy(frame_row(w, row), w->expected_rows[row], 4 * w->lanes);

    unsigned kind;
    const uint64_t bad = expected_fault(w, &r, &kind);
    watched_calls = 0;
    watched_world = w;
    watched_request = &r;
    if (m->observer) {
        assert_ptr_equal(wmi_step_vmem_watch((char *)w->frame, &ops[0]), &ops[1]);
        assert_int_equal(watched_calls, 1);
        assert_int_equal(watched_lanes, r.lanes);
        check_rows(w);
        check_memory(w);
    }
    w->wave.state = WMI_WAVE_READY;
    const struct wmi_op *next = body((char *)w->frame, &ops[0]);
    if (bad) {
        assert_null(next);
        assert_int_equal(w->wave.state, WMI_WAVE_FAULTED);
        check_fault(w, &r, bad, kind);
    } else {
        expect(w, &r, ROW_DATA, result);
        assert_ptr_equal(next, &ops[1]);
        assert_int_equal(w->wave.state, WMI_WAVE_READY);
    }
    check_rows(w);
    check_memory(w);
}

/* ---- the tests ---- */

static void watch_access(void *local, const struct wmi_access *access, uint32_t slot)
{
    (void)local;
    assert_int_equal(slot, 77);
    watched_calls++;
    watched_lanes = access->lanes;
    uint64_t seen = 0;
    watched_bad = 0;
    for (unsigned e = 0; e < access->elements; e++) {
        const struct wmi_element *element = &access->element[e];
        for (unsigned lane = 0; lane < watched_world->lanes; lane++) {
            const unsigned at = 4u * element->reg; /* private memory is shown by dwords */
            if (!(element->mask >> lane & 1) || !watched_request->scratch[lane])
                continue;
            assert_int_equal(element->address[lane], byte_address(watched_world, watched_request, lane, at));
            assert_int_equal(element->private_offset[lane], watched_request->address[lane] + at);
            watched_private++;
        }
        seen |= access->element[e].mask;
        watched_bad |= access->element[e].bad_range;
        assert_int_equal(access->element[e].bad_range & ~access->element[e].mask, 0);
    }
    assert_int_equal(seen, access->lanes);
}

static const struct wmi_observer observer = {.access = watch_access};

static struct wmi_memory_op memory_op(const struct wmi_vmem_step *s, enum wmi_path path)
{
    return (struct wmi_memory_op){
        .path = path,
        .address_bits = 48,
        .kind = s->kind,
        .elements = s->elements,
        .bytes = s->bytes,
        .is_signed = s->is_signed,
        .d16 = s->d16,
        .d16_hi = s->d16_hi,
        .slot = 77,
        .flat_lds_bits = 64,
        .flat_private_bits = 64,
    };
}

static void try_shapes(enum wmi_cpu_level level, unsigned lanes)
{
    struct world *w = world_create(lanes, 1000 + 10 * level + lanes);
    for (const struct wmi_vmem_step *s = wmi_vmem_steps(level, lanes); s->elements; s++) {
        for (unsigned i = 0; i < STEPS_PER_SHAPE; i++) {
            struct wmi_memory_op m = memory_op(s, i % 4 == 3 ? WMI_PATH_FLAT : WMI_PATH_GLOBAL);
            m.observer = i % 16 == 7 ? &observer : NULL;
            const enum wmi_vmem_form form =
                m.path == WMI_PATH_GLOBAL && i % 4 == 1 ? WMI_VMEM_SADDR : WMI_VMEM_VADDR;
            try_step(w, s->step[form], &m, form);
        }
    }
    world_destroy(w);
}

static void fast_steps(void **state)
{
    (void)state;
    for (unsigned level = WMI_CPU_BASELINE; level <= wmi_cpu_level(); level++) {
        try_shapes(level, 64);
        try_shapes(level, 32);
    }
}

static void careful_path(void **state)
{
    (void)state;
    static const enum wmi_vmem_form forms[] = {WMI_VMEM_VADDR, WMI_VMEM_SADDR, WMI_VMEM_SCRATCH};
    for (unsigned lanes = 32; lanes <= 64; lanes += 32) {
        struct world *w = world_create(lanes, lanes);
        for (const struct wmi_vmem_step *s = wmi_vmem_steps(WMI_CPU_BASELINE, lanes); s->elements; s++)
            for (unsigned i = 0; i < STEPS_PER_SHAPE; i++) {
                const enum wmi_vmem_form form = forms[i % 3];
                struct wmi_memory_op m = memory_op(s, form == WMI_VMEM_SCRATCH          ? WMI_PATH_SCRATCH
                                                      : i % 2 && form == WMI_VMEM_VADDR ? WMI_PATH_FLAT
                                                                                        : WMI_PATH_GLOBAL);
                m.observer = i % 8 ? NULL : &observer;
                try_step(w, wmi_step_vmem_careful, &m, form);
            }
        world_destroy(w);
    }
    assert_true(watched_private);
}

static void atomics(void **state)
{
    (void)state;
    for (unsigned lanes = 32; lanes <= 64; lanes += 32) {
        struct world *w = world_create(lanes, 7 * lanes);
        for (unsigned operation = WMI_ATOMIC_SWAP; operation <= WMI_ATOMIC_DEC;
             operation++) /* floats: see buffer_text.c */
            for (unsigned i = 0; i < STEPS_PER_SHAPE; i++) {
                struct wmi_memory_op m = {.path = i % 3 ? WMI_PATH_GLOBAL : WMI_PATH_FLAT,
                                          .address_bits = 48,
                                          .flat_lds_bits = 64,
                                          .flat_private_bits = 64,
                                          .kind = WMI_ACCESS_ATOMIC,
                                          .elements = 1,
                                          .bytes = i % 2 ? 4 : 8,
                                          .returns = i / 2 % 2,
                                          .parameter = operation,
                                          .slot = 77,
                                          .observer = i % 8 ? NULL : &observer};
                try_step(w, wmi_step_vmem_atomic, &m, i % 3 == 2 ? WMI_VMEM_SADDR : WMI_VMEM_VADDR);
            }
        world_destroy(w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fast_steps),
        cmocka_unit_test(careful_path),
        cmocka_unit_test(atomics),
    };
    return cmocka_run_group_tests_name("vmem", tests, NULL, NULL);
}
