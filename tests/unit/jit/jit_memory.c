/* SPDX-License-Identifier: MIT */
/* Compares compiled steps of memory and LDS with the bodies that interpret them, on addresses in patterns and
 * at random, and waves that start with ids. */
#include "exec/memory/vmem.h"
#include "memory/buffer.h"
#include "memory/space.h"
#include "unit/jit/jit_program.h"

/* Two allocations not far apart, one of which crosses a multiple of 4 GiB, and the LDS of a workgroup. */
enum { MEMORY = 3 * 4096, LDS = 1024, LDS_SPARE = 64, MEMORY_OPS = 8 };

static struct {
    struct wmi_space *space;
    struct wmi_worker *worker;
    struct wmi_dispatch dispatch;
    uint64_t address[2];
    unsigned char *host[2];
    unsigned char initial[2][MEMORY], expected[2][MEMORY];
    unsigned char lds[LDS + LDS_SPARE], lds_initial[LDS], lds_expected[LDS];
    struct wmi_memory_op op[MEMORY_OPS];
} memory;

/* ---- memory ---- */

static void create_memory(void)
{
    memory.space = wmi_space_create();
    memory.worker = calloc(1, sizeof *memory.worker);
    assert_true(memory.space && memory.worker);
    memory.worker->space = memory.space;
    memory.worker->dispatch = &memory.dispatch;
    memory.dispatch.goes_on = true; /* after atomics that are not aligned */
    for (unsigned i = 0; i < 2; i++) {
        struct wm_diag diag;
        const struct wmi_allocation_request request = {
            .size = MEMORY, .placed = true, .address = i ? 0x1fffff000 : 0x1fff00000};
        assert_int_equal(wmi_space_place(memory.space, &request, &memory.address[i], &diag), WM_OK);
        memory.host[i] = wmi_space_host(memory.space, memory.address[i], MEMORY);
        for (unsigned k = 0; k < MEMORY; k++)
            memory.initial[i][k] = (unsigned char)random_64();
    }
    for (unsigned k = 0; k < LDS; k++)
        memory.lds_initial[k] = (unsigned char)random_64();
}

static void destroy_memory(void)
{
    wmi_space_destroy(memory.space);
    free(memory.worker);
}

static void start_memory(struct program *p)
{
    memset(memory.worker->hits, 0, sizeof memory.worker->hits);
    memset(memory.worker->scattered, 0, sizeof memory.worker->scattered);
    /* Compiled code needs the hit. The other allocation's or none is a reason to leave. */
    for (unsigned i = 0; i < MEMORY_OPS; i++)
        if (p->initial->s[0] % 8) {
            wmi_space_reach(memory.space, memory.address[p->initial->s[0] >> 8 & 1], &memory.worker->hits[i]);
            memory.worker->scattered[i] =
                p->initial->s[0] & 1 << 15 ? UINT32_MAX /* IN_HALVES */ : p->initial->s[0] >> 16 & 63;
        }
    for (unsigned i = 0; i < 2; i++)
        memcpy(memory.host[i], memory.initial[i], MEMORY);
    memcpy(memory.lds, memory.lds_initial, LDS);
}

static void keep_memory(struct program *p)
{
    (void)p;
    for (unsigned i = 0; i < 2; i++)
        memcpy(memory.expected[i], memory.host[i], MEMORY);
    memcpy(memory.lds_expected, memory.lds, LDS);
}

static void compare_memory(struct program *p)
{
    for (unsigned i = 0; i < 2; i++)
        if (memcmp(memory.expected[i], memory.host[i], MEMORY)) {
            describe(p);
            fail_msg("the memory differs");
        }
    if (memcmp(memory.lds_expected, memory.lds, LDS)) {
        describe(p);
        fail_msg("the LDS differs");
    }
}

/* Places of lanes up to `most`, in patterns that compilers make, most of which grow by `step`, and others. */
static void some_places(uint32_t *place, unsigned lanes, uint32_t most, uint32_t step)
{
    const uint32_t kind = below(12), first = below(most / 4) & (below(2) ? ~0u : ~3u), odd = below(lanes);
    const uint32_t pitch = below(64) * 4, run = 4u << below(4);
    for (uint32_t i = 0; i < lanes; i++) {
        const uint32_t random = below(most);
        place[i] = kind < 2    ? first + step * i
                   : kind == 2 ? first + step * (i % run) + pitch * (i / run)
                   : kind == 3 ? first + pitch * (i / run)
                   : kind == 4 ? first
                   : kind == 5 ? random & ~3u
                   : kind == 6 ? random
                   : kind == 7 ? first + step * i + 4 * (i == odd)
                   : kind < 10 ? (kind == 8 ? first : 0) + step * (lanes - 1 - i)
                   /* runs of which the lanes behind or before one are out of range, and usually elsewhere */
                   : kind == 10 ? (i > odd ? random : most - step * (odd - i))
                                : (i < odd ? random : step * (i - odd));
        if (place[i] > most)
            place[i] = most;
    }
    if (kind == 1) /* up to the last byte */
        for (uint32_t i = 0; i < lanes && most >= step * (lanes - 1); i++)
            place[i] = most - step * (lanes - 1 - i);
}

/* The rows of addresses: 0 and 1 hold global ones, 2 has offsets from the pair of scalars at 2, and 3 has
 * places in LDS. The scalars from UNIFORM on are addresses for all rows. */
enum { GLOBAL_ROW, HIGH_ROW, OFFSET_ROW, LDS_ROW, FIRST_FREE_ROW, SCALAR_BASE = 2, UNIFORM = 4 };
/* Rows and scalars of addresses that are sums, see sum_access(). */
enum { SUM_ROW = 6, INDEX_ROW = 8, ZERO_ROW, BASE_ROW, FAR_BASE_HIGH = COUNTER + 4, CARRY = 16 };
/* Scalars for waves that start: one with about the value of v0 in a lane; a pair that is added to ids; a pair
 * with a bit of addresses that none has. */
enum { BORDER = COUNTER + 4, FIRST_ITEM = COUNTER + 6, HIGH_BIT = COUNTER + 8 };

static void fill_addresses(struct program *p)
{
    const unsigned lanes = p->code.options.lanes;
    const unsigned which = p->initial->s[0] >> 8 & 1;
    const uint64_t base = memory.address[which];
    uint32_t *row[FIRST_FREE_ROW], place[64];
    for (unsigned i = 0; i < FIRST_FREE_ROW; i++)
        row[i] = (uint32_t *)((char *)p->initial + p->code.vgpr_offset + i * p->code.row_bytes);
    some_places(place, lanes, MEMORY - p->widest, 1u << below(5));
    const bool elsewhere = !below(8);
    for (unsigned i = 0; i < lanes; i++) {
        const uint64_t from = elsewhere && i % 7 == 3 ? memory.address[!which] : base;
        row[GLOBAL_ROW][i] = (uint32_t)(from + place[i]);
        row[HIGH_ROW][i] = (uint32_t)((from + place[i]) >> 32);
    }
    if (!below(16))
        row[HIGH_ROW][below(lanes)]++; /* outside, although the low words may follow one another */
    some_places(row[OFFSET_ROW], lanes, MEMORY - p->widest, 1u << below(5));
    /* The scalar base may be before the allocation, and so far that some lanes' offsets begin again at 0. */
    const bool wraps = !below(5);
    for (unsigned i = 0; i < lanes && wraps; i++)
        row[OFFSET_ROW][i] = 256 + 4 * i;
    const uint64_t away = wraps ? (UINT64_C(1) << 32) - 256 - below(1024) : below(2) ? 0 : below(1 << 20);
    for (unsigned i = 0; i < lanes; i++)
        row[OFFSET_ROW][i] += (uint32_t)away;
    p->initial->s[SCALAR_BASE] = (uint32_t)(base - away);
    p->initial->s[SCALAR_BASE + 1] = (uint32_t)((base - away) >> 32);
    p->initial->s[FAR_BASE_HIGH] = p->initial->s[SCALAR_BASE + 1] - 1;
    p->initial->s[FAR_BASE_HIGH + 1] = p->initial->s[SCALAR_BASE + 1] + 1;
    const uint64_t same = base + below(MEMORY - p->widest + 1);
    p->initial->s[UNIFORM + GLOBAL_ROW] = (uint32_t)same;
    p->initial->s[UNIFORM + HIGH_ROW] = (uint32_t)(same >> 32);
    p->initial->s[UNIFORM + OFFSET_ROW] = (uint32_t)away + below(MEMORY - p->widest + 1);
    p->initial->s[UNIFORM + LDS_ROW] = below(LDS);
    some_places(
        row[LDS_ROW], lanes, LDS - 1,
        1u << (p->makes_places && p->place_shift >= 0 && below(4) ? (uint32_t)p->place_shift : below(5)));
    if (!below(6))
        row[LDS_ROW][below(lanes)] = word();
    for (unsigned i = 0; p->makes_places && i < lanes; i++) {
        const uint32_t grows = p->place_shift < 0 ? row[HIGH_ROW][i] : row[GLOBAL_ROW][i] << p->place_shift;
        row[OFFSET_ROW][i] = p->places_fall ? row[LDS_ROW][i] + grows : row[LDS_ROW][i] - grows;
    }
    /* Addresses of inactive lanes mean nothing. */
    for (unsigned i = 0; i < lanes; i++)
        if (below(2) && !(p->initial->exec.bits >> i & 1))
            row[GLOBAL_ROW][i] = word(), row[HIGH_ROW][i] = word(), row[OFFSET_ROW][i] = word(),
            row[LDS_ROW][i] = word();
}

/* Small; of any size, often where a strip, or its multiple, reaches a power of two; or so that four times as
 * much is near the end of the memory. */
static uint32_t some_id(const struct program *p)
{
    static const uint32_t limits[] = {0, 0x20000000, 0x40000000, 0x80000000, 0x10000, 0x400};
    if (p->is_at_end)
        return MEMORY / 4 - 10 - below(16);
    if (!p->is_wild)
        return 16 * below(20);
    return below(3) ? limits[below(sizeof limits / sizeof *limits)] - below(18) : word();
}

/* What a wave starts with: ids that are in runs, and a few that are not, with inactive lanes. */
static void fill_ids(struct program *p)
{
    enum { X = 0x3ff }; /* from these bits, nothing carries */
    const unsigned lanes = p->code.options.lanes;
    struct wmi_frame *frame = p->initial;
    if (below(8))
        set_exec(frame, lanes, UINT64_MAX);
    for (unsigned id = 0; id < WMI_START_IDS; id++) {
        uint32_t *row = (uint32_t *)((char *)frame + row_at(p, id)), base = some_id(p);
        for (unsigned strip = 0; strip < lanes / 16; strip++) {
            if (p->start_code == WMI_LAUNCH_STRIPS)
                base = some_id(p);
            else if (id == 0 && strip)
                base += 16;
            const uint32_t lanes_ahead = p->start_code == WMI_LAUNCH_STRIPS ? 16 : strip ? 0 : lanes;
            if (id == 0 && (base & X) + lanes_ahead > X + 1)
                base &= ~(uint32_t)X;
            for (unsigned lane = 0; lane < 16; lane++)
                row[16 * strip + lane] = base + (id ? 0 : lane);
        }
        for (unsigned i = 0; i < 16; i++)
            frame->compiled.id_bases[id][i] = row[16 * i % lanes];
    }
    const uint32_t *x = (uint32_t *)((char *)frame + row_at(p, 0));
    frame->s[BORDER] = x[below(lanes)] + below(4) - 2;
    /* Sums with ids, times four, often are about 2^34. */
    frame->s[FIRST_ITEM] = below(3) ? -below(100) : below(2) ? below(100) : word();
    frame->s[FIRST_ITEM + 1] = below(3) ? 0 : below(3);
    frame->s[HIGH_BIT] = 0;
    frame->s[HIGH_BIT + 1] = 1 << 16;
    frame->constant[0] = 0;
    /* Near the end, some accesses fault. */
    const uint64_t base = memory.address[frame->s[0] >> 8 & 1] + (below(8) ? 0 : MEMORY - 4 * below(100));
    frame->s[SCALAR_BASE] = (uint32_t)base;
    frame->s[SCALAR_BASE + 1] = (uint32_t)(base >> 32);
}

static void fill_memory(struct program *p)
{
    p->wave.worker = memory.worker;
    p->group = (struct wmi_workgroup){.lds = memory.lds, .lds_size = below(8) ? LDS : below(64)};
    if (p->starts)
        fill_ids(p);
    else
        fill_addresses(p);
}

static const struct accessed_memory accessed = {fill_memory, start_memory, keep_memory, compare_memory};

#define BOTH_FORMS(name) WMI_STEP_global_##name##_VADDR, WMI_STEP_global_##name##_SADDR
/* The first ones are used in code for waves that start, too. */
static const uint16_t memory_steps[] = {
    BOTH_FORMS(LOAD_1x4_000),  BOTH_FORMS(STORE_1x4_000), BOTH_FORMS(LOAD_1x1_000),
    BOTH_FORMS(LOAD_1x1_100),  BOTH_FORMS(LOAD_1x2_000),  BOTH_FORMS(LOAD_1x2_100),
    BOTH_FORMS(LOAD_2x4_000),  BOTH_FORMS(LOAD_4x4_000),  BOTH_FORMS(STORE_1x1_000),
    BOTH_FORMS(STORE_1x2_000), BOTH_FORMS(STORE_2x4_000), BOTH_FORMS(STORE_4x4_000),
    WMI_STEP_scalar_load_1,    WMI_STEP_lds_read_b32,     WMI_STEP_lds_read2_b32,
    WMI_STEP_lds_write_b32,    WMI_STEP_lds_write2_b32,   WMI_STEP_lds_read_u8,
    WMI_STEP_lds_read_i8,      WMI_STEP_lds_read_u16,     WMI_STEP_lds_read_i16,
    WMI_STEP_lds_read_b64,     WMI_STEP_lds_read_b128,    WMI_STEP_lds_read2_b64,
    WMI_STEP_lds_write_b8,     WMI_STEP_lds_write_b16,    WMI_STEP_lds_write_b64,
    WMI_STEP_lds_write_b128,   WMI_STEP_lds_write2_b64,   WMI_STEP_lds_add_b32,
    WMI_STEP_lds_sub_b32,      WMI_STEP_lds_and_b32,      WMI_STEP_lds_or_b32,
    WMI_STEP_lds_xor_b32,      WMI_STEP_lds_min_i32,      WMI_STEP_lds_max_i32,
    WMI_STEP_lds_min_u32,      WMI_STEP_lds_max_u32,      WMI_STEP_lds_cmpst_b32,
    WMI_STEP_lds_wrxchg_b32,   WMI_STEP_lds_add_f32,
};

enum {
    MEMORY_STEPS = sizeof memory_steps / sizeof *memory_steps,
    GLOBAL_STEPS = 24,
    FIRST_LDS_STEP = GLOBAL_STEPS + 1
};

/* The first of so many rows that hold no address. */
static uint32_t free_rows(const struct program *p, unsigned rows)
{
    return row_at(p, FIRST_FREE_ROW + below(VGPRS - FIRST_FREE_ROW + 1 - rows));
}

static uint32_t free_row(const struct program *p)
{
    return free_rows(p, 1);
}

/* Rows and bytes of an element, from names like LOAD_2x4_000_VADDR. */
static void describe_access(const char *name, struct wmi_memory_op *op)
{
    const char *const x = strchr(name, 'x');
    op->elements = 1;
    op->bytes = 4;
    if (!contains(name, "global_") || !x)
        return;
    op->elements = (uint8_t)(x[-1] - '0');
    op->bytes = (uint8_t)(x[1] - '0');
    op->is_signed = x[3] == '1';
}

static struct wmi_step memory_step(struct program *p, enum wmi_step_id id, unsigned number)
{
    struct wmi_step step = {.id = (uint16_t)id, .lanes = offsetof(struct wmi_frame, exec)};
    const char *name = wmi_step_facts_of(id).name;
    struct wmi_memory_op *op = &memory.op[number];
    *op = (struct wmi_memory_op){.kind = contains(name, "STORE") ? WMI_ACCESS_STORE : WMI_ACCESS_LOAD,
                                 .path = below(8) ? WMI_PATH_GLOBAL : WMI_PATH_FLAT,
                                 .address_bits = 48,
                                 .policy = !below(8),
                                 .hit = number,
                                 .alignment = WMI_ALIGNMENT_UNALIGNED};
    describe_access(name, op);
    if (op->elements * op->bytes > p->widest)
        p->widest = op->elements * op->bytes;
    const unsigned rows = contains(name, "2_b64") || contains(name, "b128")  ? 4
                          : contains(name, "b64") || contains(name, "2_b32") ? 2
                                                                             : op->elements;
    step.data = op;
    step.d = step.b = step.c = 0;
    const uint32_t data = below(4) || rows > 1 ? free_rows(p, rows) : some_row(p);
    if (id == WMI_STEP_scalar_load_1) {
        step.a = (uint32_t)offsetof(struct wmi_frame, s) + 4 * SCALAR_BASE;
        step.b = (uint32_t)offsetof(struct wmi_frame, s) + 4 * (COUNTER + 2); /* 0 */
        step.d = (uint32_t)offsetof(struct wmi_frame, s) + 4 * (8 + below(8));
        wmi_step_take_uses(&step);
        return step;
    }
    if (contains(name, "lds_")) {
        step.a = row_at(p, LDS_ROW);
        step.d = free_rows(p, rows);
        step.b = data;
        step.c = free_rows(p, rows);
        step.x = below(3) ? 0 : below(64);
        step.y = 4 * below(64);
        op->elements = (uint8_t)rows;
        op->returns = below(2);
    } else {
        const bool scalar = contains(name, "SADDR");
        step.a = row_at(p, scalar ? OFFSET_ROW : GLOBAL_ROW);
        step.b = (uint32_t)offsetof(struct wmi_frame, s) + 4 * SCALAR_BASE;
        step.x = scalar ? WMI_VMEM_SADDR : WMI_VMEM_VADDR;
        *(contains(name, "LOAD") ? &step.d : &step.c) = contains(name, "LOAD") ? free_rows(p, rows) : data;
    }
    wmi_step_take_uses(&step);
    return step;
}

/* Memory steps between steps that compute, which read what was loaded. */
/* A first step that computes the places of LDS steps from what are ids in waves that start, so that the
 * compiler guesses how they grow from lane to lane. The guess may be wrong. */
static void make_places(struct program *p)
{
    p->makes_places = true;
    p->place_shift = (int)below(6) - 1;
    p->places_fall = p->place_shift >= 0 && below(2);
    const enum wmi_step_id id = p->places_fall       ? WMI_STEP_BODIES + WMI_INSN_v_lshlrev_b32
                                : p->place_shift < 0 ? WMI_STEP_BODIES + WMI_INSN_v_add_u32
                                                     : WMI_STEP_BODIES + WMI_INSN_v_lshl_add_u32;
    struct wmi_step *step = &p->steps[p->count++];
    *step = some_step(p, id);
    step->d = row_at(p, LDS_ROW);
    step->y = 0;
    if (p->place_shift < 0) {
        step->a = row_at(p, HIGH_ROW);
        step->b = row_at(p, OFFSET_ROW);
        return;
    }
    const uint32_t shift = p->code.vector_constant[p->place_shift].offset;
    step->a = p->places_fall ? shift : row_at(p, GLOBAL_ROW);
    step->b = p->places_fall ? row_at(p, GLOBAL_ROW) : shift;
    step->c = row_at(p, OFFSET_ROW);
    if (!p->places_fall)
        return;
    struct wmi_step *difference = &p->steps[p->count++];
    *difference = some_step(p, WMI_STEP_BODIES + WMI_INSN_v_sub_u32);
    difference->d = difference->b = row_at(p, LDS_ROW);
    difference->a = row_at(p, OFFSET_ROW);
    difference->y = 0;
}

/* A step that moves the places, which still grow as before. */
static void move_places(struct program *p)
{
    struct wmi_step *step = &p->steps[p->count++];
    *step = some_step(p, WMI_STEP_BODIES + WMI_INSN_v_add_u32);
    step->a = step->d = row_at(p, LDS_ROW);
    step->b = p->code.vector_constant[4].offset;
    step->y = 0;
}

/* A row gets the value of some lane of a row that another step writes before, maybe in other lanes. */
static void take_lane(struct program *p)
{
    const uint32_t row = free_row(p), scalar = (uint32_t)offsetof(struct wmi_frame, s) + 4 * (8 + below(8));
    struct wmi_step *step = &p->steps[p->count++];
    *step = some_step(p, WMI_STEP_BODIES + WMI_INSN_v_mov_b32);
    step->d = row;
    change_exec(p, p->count);
    p->count += 2;
    step = &p->steps[p->count++];
    *step = some_step(p, WMI_STEP_BODIES + WMI_INSN_v_mov_b32);
    step->d = row;
    step = &p->steps[p->count++];
    *step = (struct wmi_step){.id = WMI_STEP_stage_FIRST_LANE, .lanes = offsetof(struct wmi_frame, first)};
    step->d = scalar;
    step->a = row;
    wmi_step_take_uses(step);
    step = &p->steps[p->count++];
    *step = (struct wmi_step){.id = WMI_STEP_fused_MOVE_SCALAR, .lanes = offsetof(struct wmi_frame, exec)};
    step->d = free_row(p);
    step->a = scalar;
    wmi_step_take_uses(step);
}

/* An access at {base} + ({high, index} << shift), as compilers make them of array elements, where the high
 * word is 0 or the sign of the index. All but the sum may be done only once, in front of a loop. A far base
 * is 4 GiB lower than the usual one or, if the index is negative, higher. */
static void sum_access(struct program *p, unsigned number)
{
    const uint32_t row = p->code.row_bytes, sum = row_at(p, SUM_ROW), index = row_at(p, INDEX_ROW),
                   shift = 1 + below(3);
    const bool far = !below(6), has_sign = !below(3);
    const unsigned high_scalar = !far ? SCALAR_BASE + 1 : has_sign ? FAR_BASE_HIGH + 1 : FAR_BASE_HIGH;
    struct wmi_step access =
        memory_step(p, (enum wmi_step_id)memory_steps[below(GLOBAL_STEPS) & ~1u], number);
    struct wmi_step *const move = &p->steps[p->count++];
    *move = some_step(p, WMI_STEP_BODIES + WMI_INSN_v_lshrrev_b32);
    move->a = p->code.vector_constant[far ? 1 : shift].offset;
    move->b = row_at(p, OFFSET_ROW);
    move->d = index;
    if (far) {
        struct wmi_step *const add = &p->steps[p->count++];
        *add = some_step(p, WMI_STEP_BODIES + WMI_INSN_v_or_b32);
        add->a = p->code.vector_constant[p->code.vector_constants - 1].offset; /* 2^31 */
        add->b = add->d = index;
    }
    if (has_sign) {
        struct wmi_step *const sign = &p->steps[p->count++];
        *sign = some_step(p, WMI_STEP_BODIES + WMI_INSN_v_ashrrev_i32);
        sign->a = p->code.vector_constant[below(8) ? 8 : 7].offset; /* 31, seldom 24 */
        sign->b = index;
        sign->d = row_at(p, ZERO_ROW);
    } else if (below(2)) {
        p->steps[p->count++] = set_zero(p, row_at(p, ZERO_ROW));
    }
    if (far || below(2))
        p->steps[p->count++] = set_scalar(row_at(p, BASE_ROW), high_scalar);
    for (unsigned more = below(5); more; more--) { /* fill registers */
        struct wmi_step *const other = &p->steps[p->count++];
        *other = some_step(p, WMI_STEP_BODIES + WMI_INSN_v_add_u32);
        other->d = row_at(p, below(2) ? FIRST_FREE_ROW + below(SUM_ROW - FIRST_FREE_ROW) : BASE_ROW + 1);
    }
    struct wmi_step *const left = &p->steps[p->count++];
    *left = some_step(p, WMI_STEP_fused_SHIFT_LEFT_64);
    left->b = index;
    left->d = sum;
    left->x = far ? 1 : shift;
    struct wmi_step *const add = &p->steps[p->count++];
    static const uint16_t sums[] = {WMI_STEP_fused_ADD_64_SCALAR_ALONE, WMI_STEP_fused_ADD_64_SCALARS_ALONE,
                                    WMI_STEP_fused_ADD_64_SCALAR, WMI_STEP_fused_ADD_64_SCALARS};
    const uint32_t kind = below(4);
    const bool two_scalars = kind & 1, swaps = !two_scalars && below(2);
    *add = some_step(p, (enum wmi_step_id)sums[kind]);
    add->a = (uint32_t)offsetof(struct wmi_frame, s) + 4 * SCALAR_BASE;
    add->b = sum;
    add->c = swaps ? sum + row : row_at(p, BASE_ROW);
    if (two_scalars)
        add->c = (uint32_t)offsetof(struct wmi_frame, s) + 4 * high_scalar;
    add->e = swaps ? row_at(p, BASE_ROW) : sum + row;
    add->d = below(2) ? row_at(p, 4) : swaps || below(2) ? sum : row_at(p, ZERO_ROW); /* or in the base */
    add->x = add->d + row;
    add->y = (uint32_t)offsetof(struct wmi_frame, s) + 4 * CARRY;
    access.a = add->d;
    p->steps[p->count++] = access;
    if (below(4)) { /* nothing reads the carry */
        struct wmi_step *const compare = &p->steps[p->count++];
        *compare = some_step(p, WMI_STEP_BODIES + WMI_INSN_v_cmp_eq_u32);
        compare->d = add->y;
    }
    for (unsigned i = 0; i < 2; i++) /* nothing reads the address or the offset again */
        if (below(8)) {
            p->steps[p->count++] = set_zero(p, add->d + i * row);
            p->steps[p->count++] = set_zero(p, sum + i * row);
        }
}

static void test_memory(void **state)
{
    enum { LEAST_STRETCH = 2 };
    (void)state;
    static const uint16_t others[] = {WMI_STEP_BODIES + WMI_INSN_v_add_u32,
                                      WMI_STEP_BODIES + WMI_INSN_v_xor_b32,
                                      WMI_STEP_BODIES + WMI_INSN_v_mov_b32};
    const unsigned sequences = reduced() ? REDUCED_SEQUENCES : SEQUENCES;
    create_memory();
    for (unsigned i = 0; i < sequences; i++) {
        struct program p;
        create(&p, i & 1 ? 32 : 64);
        p.accessed = &accessed;
        choose_mode(&p);
        const unsigned first = i % 4 == 2 || i % 4 == 3 ? FIRST_LDS_STEP : 0;
        if (first) {
            make_places(&p);
            p.stays = below(2);
            p.ends = !p.stays && below(2);
            if (!below(3)) {
                change_exec(&p, p.count);
                p.count += 2;
            }
            if (p.count < LEAST_STRETCH)
                move_places(&p);
            p.loop_to = below(2) ? p.count : 0;
        }
        for (unsigned k = 0; i % 4 == 0 && k < FIRST_FREE_ROW; k++) {
            p.steps[k] = (struct wmi_step){.id = WMI_STEP_fused_MOVE_SCALAR,
                                           .lanes = offsetof(struct wmi_frame, exec),
                                           .d = row_at(&p, k),
                                           .a = (uint32_t)offsetof(struct wmi_frame, s) + 4 * (UNIFORM + k)};
            wmi_step_take_uses(&p.steps[p.count++]);
        }
        const bool sums = !first && below(2);
        if (sums) {
            p.stays = true;
            p.steps[p.count++] = set_zero(&p, row_at(&p, ZERO_ROW));
            p.steps[p.count++] = set_scalar(row_at(&p, BASE_ROW), SCALAR_BASE + 1);
            p.loop_to = below(2) ? p.count : 0;
        }
        for (unsigned k = 0; k < MEMORY_OPS && (k < 2 || below(6)); k++) {
            if (sums && below(2) && p.count + 36 < MOST_STEPS) {
                sum_access(&p, k);
                continue;
            }
            const unsigned id = first && !below(10) ? (unsigned)WMI_STEP_lds_inc_b32 /* interpreted */
                                                    : memory_steps[first + below(MEMORY_STEPS - first)];
            p.steps[p.count++] = memory_step(&p, (enum wmi_step_id)id, k);
            if (first && !below(5))
                move_places(&p);
            if (first && !below(5) && p.count < MOST_STEPS / 4)
                take_lane(&p);
            if (first && !below(5) && p.count < MOST_STEPS / 4) {
                change_exec(&p, p.count);
                p.count += 2;
            }
            if (first && !below(8) && p.count > 2)
                p.steps[p.count++] = (struct wmi_step){.id = WMI_STEP_barrier, .c = 3};
            for (unsigned more = below(3); more; more--) {
                struct wmi_step *step = &p.steps[p.count++];
                *step = some_step(&p, (enum wmi_step_id)others[below(3)]);
                step->d = free_row(&p);
            }
        }
        if (below(3) == 0)
            make_loop(&p);
        check(&p, 4);
        destroy(&p);
    }
    destroy_memory();
}

/* Steps that code for waves which start treats in their own way, and others that read their results. */
static const uint16_t launch_steps[] = {
    WMI_STEP_BODIES + WMI_INSN_v_add_u32,
    WMI_STEP_BODIES + WMI_INSN_v_sub_u32,
    WMI_STEP_BODIES + WMI_INSN_v_subrev_u32,
    WMI_STEP_BODIES + WMI_INSN_v_add3_u32,
    WMI_STEP_BODIES + WMI_INSN_v_mov_b32,
    WMI_STEP_BODIES + WMI_INSN_v_lshl_b32,
    WMI_STEP_BODIES + WMI_INSN_v_lshlrev_b32,
    WMI_STEP_BODIES + WMI_INSN_v_lshl_add_u32,
    WMI_STEP_BODIES + WMI_INSN_v_add_lshl_u32,
    WMI_STEP_BODIES + WMI_INSN_v_lshr_b32,
    WMI_STEP_BODIES + WMI_INSN_v_lshrrev_b32,
    WMI_STEP_BODIES + WMI_INSN_v_ashrrev_i32,
    WMI_STEP_BODIES + WMI_INSN_v_bfe_u32,
    WMI_STEP_BODIES + WMI_INSN_v_and_b32,
    WMI_STEP_BODIES + WMI_INSN_v_or_b32,
    WMI_STEP_BODIES + WMI_INSN_v_lshl_or_b32,
    WMI_STEP_BODIES + WMI_INSN_v_mad_u32_u24,
    WMI_STEP_BODIES + WMI_INSN_v_mad_i32_i24,
    WMI_STEP_BODIES + WMI_INSN_v_mad_u64_u32,
    WMI_STEP_BODIES + WMI_INSN_v_mul_lo_u32,
    WMI_STEP_BODIES + WMI_INSN_v_min_u32,
    WMI_STEP_BODIES + WMI_INSN_v_max_u32,
    WMI_STEP_BODIES + WMI_INSN_v_min_i32,
    WMI_STEP_BODIES + WMI_INSN_v_max_i32,
    WMI_STEP_BODIES + WMI_INSN_v_cmp_gt_u32,
    WMI_STEP_BODIES + WMI_INSN_v_cmp_le_u32,
    WMI_STEP_BODIES + WMI_INSN_v_cmp_ge_i32,
    WMI_STEP_BODIES + WMI_INSN_v_cmp_lt_i32,
    WMI_STEP_BODIES + WMI_INSN_v_cmp_eq_u32,
    WMI_STEP_BODIES + WMI_INSN_v_cndmask_b32,
    WMI_STEP_BODIES + WMI_INSN_v_add_co_u32,
    WMI_STEP_BODIES + WMI_INSN_v_cvt_f32_u32,
    WMI_STEP_BODIES + WMI_INSN_v_xor_b32,
    WMI_STEP_BODIES + WMI_INSN_v_mul_f32,
    WMI_STEP_BODIES + WMI_INSN_v_lshl_add_u64,
    WMI_STEP_BODIES + WMI_INSN_v_add_f64,
    WMI_STEP_BODIES + WMI_INSN_v_mul_f64,
    WMI_STEP_BODIES + WMI_INSN_v_min_f64,
    WMI_STEP_BODIES + WMI_INSN_v_max_f64,
    WMI_STEP_fused_MOVE_SCALAR,
    WMI_STEP_stage_BROADCAST,
    WMI_STEP_fused_ADD_64,
    WMI_STEP_fused_ADD_64_SCALAR,
    WMI_STEP_fused_ADD_64_SCALARS,
    WMI_STEP_fused_ADD_64_ALONE,
    WMI_STEP_fused_ADD_64_SCALAR_ALONE,
    WMI_STEP_fused_ADD_64_SCALARS_ALONE,
    WMI_STEP_fused_SHIFT_LEFT_64,
};

enum { NEAR_ROWS = 7, LAUNCH_STEPS = sizeof launch_steps / sizeof *launch_steps };

/* Lets a row operand be one of the few rows that hold ids and what was computed from them. */
static void come_near(const struct program *p, uint32_t *place, unsigned use, unsigned first)
{
    if ((use & WMI_USE_KIND) == WMI_USE_ROWS && below(5))
        *place = use & WMI_USE_WRITE || below(3) ? row_at(p, first + below(NEAR_ROWS - first)) : *place;
}

/* Any vector step that the compiler knows. */
static enum wmi_step_id some_vector_step(void)
{
    struct wmi_step step = {.lanes = offsetof(struct wmi_frame, exec)};
    do
        step.id = (uint16_t)(1 + below(WMI_STEP_COUNT - 1));
    while (!wmi_vector_emitter(&step));
    return (enum wmi_step_id)step.id;
}

static struct wmi_step launch_step(const struct program *p)
{
    struct wmi_step step =
        some_step(p, below(3) ? (enum wmi_step_id)launch_steps[below(LAUNCH_STEPS)] : some_vector_step());
    const bool pair = step.x && contains(wmi_step_facts_of(step.id).name, "ADD_64");
    come_near(p, &step.a, step.use[WMI_OP_A], 0);
    come_near(p, &step.b, step.use[WMI_OP_B], 0);
    come_near(p, &step.c, step.use[WMI_OP_C], 0);
    come_near(p, &step.e, step.use[WMI_OP_E], 0);
    /* Two ids that are the same in each strip, as a number of two words, with itself or another one. */
    const uint8_t two_rows = WMI_USE_READ | WMI_USE_ROWS | 2;
    if (step.use[WMI_OP_A] == two_rows && below(2)) {
        step.a = row_at(p, 1);
        if (step.use[WMI_OP_B] == two_rows && below(2))
            step.b = below(2) ? step.a : p->code.vector_constant[below(4)].offset;
    }
    if (!pair && step.d >= p->code.vgpr_offset) /* not a temporary row */
        come_near(p, &step.d, step.use[WMI_OP_D], WMI_START_IDS);
    /* The ids stay, for addresses. */
    const uint32_t first = row_at(p, WMI_START_IDS);
    if ((step.use[WMI_OP_D] & WMI_USE_KIND) == WMI_USE_ROWS && step.d < first &&
        step.d >= p->code.vgpr_offset)
        step.d += first - p->code.vgpr_offset;
    if (pair && step.x < first)
        step.x += first - p->code.vgpr_offset;
    uint32_t *const masks[] = {&step.d, &step.e, &step.y};
    for (unsigned i = 0; i < sizeof masks / sizeof *masks; i++)
        if (*masks[i] == offsetof(struct wmi_frame, s) + 4 * SCALAR_BASE)
            *masks[i] += 4 * SCALAR_BASE;
    while (pair && (step.d == step.c || step.d == step.e || step.d == step.x))
        step.d = row_at(p, WMI_START_IDS + below(NEAR_ROWS - WMI_START_IDS));
    return step;
}

enum { HIGH_BASE_ROW = 9 };

/* A row with the high word of the scalar base, which may change after it. */
static void copy_high_base(struct program *p, uint32_t place)
{
    struct wmi_step *move = &p->steps[p->count++];
    *move = some_step(p, WMI_STEP_fused_MOVE_SCALAR);
    move->d = row_at(p, HIGH_BASE_ROW);
    move->a = place;
    if (below(4))
        return;
    struct wmi_step *change = &p->steps[p->count++];
    if (below(2)) {
        *change = some_step(p, WMI_STEP_BODIES + WMI_INSN_s_xor_b64); /* so that both words are stored */
        change->d = change->a = place - 4;
        change->b = (uint32_t)offsetof(struct wmi_frame, s) + 4 * HIGH_BIT;
    } else {
        *change = some_step(p, WMI_STEP_BODIES + WMI_INSN_v_add_u32);
        change->d = row_at(p, HIGH_BASE_ROW);
        change->a = p->code.vector_constant[1].offset;
        change->b = row_at(p, HIGH_BASE_ROW);
    }
}

/* An address from v0, and an access to it. */
static void launch_access(struct program *p, unsigned number)
{
    const uint32_t offset = row_at(p, OFFSET_ROW + 1 + below(2)), zero = p->code.vector_constant[0].offset;
    struct wmi_step *shift = &p->steps[p->count++];
    *shift = some_step(p, WMI_STEP_BODIES + WMI_INSN_v_lshlrev_b32);
    shift->a = p->code.vector_constant[p->is_at_end ? 2 : below(5)].offset; /* by 0 to 4 */
    shift->b = row_at(p, below(3));
    shift->d = offset;
    struct wmi_step access =
        memory_step(p, (enum wmi_step_id)memory_steps[below(2) ? below(4) : below(GLOBAL_STEPS)], number);
    if (access.x == WMI_VMEM_SADDR) {
        access.a = offset;
    } else {
        const uint32_t base = (uint32_t)offsetof(struct wmi_frame, s) + 4 * SCALAR_BASE;
        const bool copies = below(2);
        if (copies)
            copy_high_base(p, base + 4);
        struct wmi_step *sum = &p->steps[p->count++];
        *sum =
            some_step(p, copies ? WMI_STEP_fused_ADD_64_SCALAR_ALONE : WMI_STEP_fused_ADD_64_SCALARS_ALONE);
        sum->a = base;
        sum->c = copies ? row_at(p, HIGH_BASE_ROW) : base + 4;
        sum->b = offset;
        sum->e = zero;
        sum->d = row_at(p, 10);
        sum->x = row_at(p, 11);
        access.a = sum->d;
    }
    p->steps[p->count++] = access;
}

/* A load from the scalar base, which may change before. */
static void launch_scalar_load(struct program *p, unsigned number)
{
    static const struct {
        uint16_t id;
        uint8_t dwords;
    } loads[] = {{WMI_STEP_scalar_load_1, 1},
                 {WMI_STEP_scalar_load_2, 2},
                 {WMI_STEP_scalar_load_3, 3},
                 {WMI_STEP_scalar_load_4, 4},
                 {WMI_STEP_scalar_load_8, 8}};
    const unsigned size = below(sizeof loads / sizeof *loads);
    struct wmi_step load = memory_step(p, WMI_STEP_scalar_load_1, number);
    if (!below(4)) {
        struct wmi_step *move = &p->steps[p->count++];
        *move = some_step(p, WMI_STEP_BODIES + WMI_INSN_s_addk_i32);
        move->d = load.a;
        move->x = 16;
    }
    load.id = loads[size].id;
    memory.op[number].elements = loads[size].dwords;
    wmi_step_take_uses(&load);
    if (below(4))
        load.b = offsetof(struct wmi_frame, constant);
    load.d = (uint32_t)offsetof(struct wmi_frame, s) + 4 * 8;
    memory.op[number].offset = 4 * below(64);
    p->steps[p->count++] = load;
}

/* A compare of v0 or a multiple of it with a border, whose result is read, and a sign of v0. */
static void launch_border(struct program *p)
{
    static const uint16_t compares[] = {
        WMI_STEP_BODIES + WMI_INSN_v_cmp_eq_u32, WMI_STEP_BODIES + WMI_INSN_v_cmp_ne_u32,
        WMI_STEP_BODIES + WMI_INSN_v_cmp_lt_u32, WMI_STEP_BODIES + WMI_INSN_v_cmp_ge_i32};
    const uint32_t border = row_at(p, WMI_START_IDS), result = border + p->code.row_bytes;
    struct wmi_step *move = &p->steps[p->count++], *compare = move + 1, *select = move + 2, *sign = move + 3;
    *move = some_step(p, WMI_STEP_fused_MOVE_SCALAR);
    move->d = border;
    move->a = (uint32_t)offsetof(struct wmi_frame, s) + 4 * BORDER;
    *compare = some_step(p, (enum wmi_step_id)compares[below(4)]);
    const bool reversed = below(2);
    compare->a = reversed ? border : row_at(p, 0);
    compare->b = reversed ? row_at(p, 0) : border;
    compare->d = (uint32_t)offsetof(struct wmi_frame, s) + 4 * UNIFORM;
    *select = some_step(p, WMI_STEP_BODIES + WMI_INSN_v_cndmask_b32);
    select->c = compare->d;
    select->d = result;
    *sign = some_step(p, WMI_STEP_BODIES + WMI_INSN_v_ashrrev_i32);
    sign->a = p->code.vector_constant[8].offset; /* 31 */
    sign->b = row_at(p, 0);
    sign->d = result + p->code.row_bytes;
    p->count += 3;
}

/* A sum that often carries, two that add the carry, and between these a step that may write the carry. */
static void launch_carry(struct program *p)
{
    const uint32_t base = row_at(p, WMI_START_IDS), row = p->code.row_bytes,
                   carry = (uint32_t)offsetof(struct wmi_frame, s) + 4 * UNIFORM;
    struct wmi_step *move = &p->steps[p->count++], *low = move + 1, *high = move + 2, *last = move + 5;
    *move = some_step(p, WMI_STEP_fused_MOVE_SCALAR);
    move->d = base;
    move->a = (uint32_t)offsetof(struct wmi_frame, s) + 4 * FIRST_ITEM;
    *low = some_step(p, WMI_STEP_BODIES + WMI_INSN_v_add_co_u32);
    low->a = base;
    low->b = row_at(p, below(3));
    low->d = base + row;
    low->e = carry;
    for (unsigned i = 0; i < 2; i++) {
        *high = some_step(p, WMI_STEP_BODIES + WMI_INSN_v_addc_co_u32);
        high->a = base;
        high->b = row_at(p, 1 + below(2));
        high->c = carry;
        high->d = base + (2 + i) * row;
        high->e = i ? carry : carry + 8;
        high->y = 0;
        *(high + 1) = some_step(p, WMI_STEP_BODIES + WMI_INSN_v_cmp_ge_i32);
        (high + 1)->a = base;
        (high + 1)->b = row_at(p, below(3));
        (high + 1)->d = below(2) ? carry : carry + 8;
        high += 2;
    }
    last->d = carry; /* nothing reads that of the second one */
    low->y = 0;
    p->count += 5;
}

/* The address of a dword with a 32-bit index that was computed in 64 bits: the index times four, of which the
 * high words keep two bits, plus a base. */
static void launch_index(struct program *p)
{
    const uint32_t index = row_at(p, WMI_START_IDS), row = p->code.row_bytes, mask = index + 4 * row,
                   item = (uint32_t)offsetof(struct wmi_frame, s) + 4 * FIRST_ITEM;
    struct wmi_step *sum = &p->steps[p->count], *shift = sum + 1, *and = sum + 2, *address = sum + 3;
    *sum = some_step(p, WMI_STEP_fused_ADD_64_SCALARS_ALONE);
    sum->a = item;
    sum->c = item + 4;
    sum->b = row_at(p, 0);
    sum->e = p->code.vector_constant[0].offset;
    sum->d = index;
    sum->x = index + row;
    *shift = some_step(p, WMI_STEP_fused_SHIFT_LEFT_64);
    shift->b = shift->d = index;
    shift->x = 2;
    *and = some_step(p, WMI_STEP_BODIES + WMI_INSN_v_and_b32);
    and->a = p->code.vector_constant[3].offset; /* 3 */
    and->b = index + row;
    and->d = below(4) ? mask : index + row;
    *address = some_step(p, WMI_STEP_fused_ADD_64_SCALARS_ALONE);
    address->a = item;
    address->c = item + 4;
    address->b = index;
    address->e = and->d;
    address->d = below(4) ? index + row : index + 2 * row;
    address->x = index + 3 * row;
    p->count += 4;
}

/* Some bits of the ids, or of a sum with them. */
static void launch_field(struct program *p)
{
    enum { FOUR = 4, TEN = 26, LOW_10 = 27 }; /* constants; those after FOUR: 5, 8 */
    const uint32_t first = p->code.vector_constant[below(2) ? TEN : FOUR + below(3)].offset;
    struct wmi_step *sum = &p->steps[p->count], *field = sum + 1;
    *sum = some_step(p, WMI_STEP_BODIES + WMI_INSN_v_add_u32);
    sum->b = row_at(p, 0);
    sum->d = row_at(p, WMI_START_IDS);
    const uint32_t ids = below(2) ? row_at(p, 0) : sum->d;
    *field =
        some_step(p, below(2) ? WMI_STEP_BODIES + WMI_INSN_v_bfe_u32 : WMI_STEP_BODIES + WMI_INSN_v_and_b32);
    field->a =
        field->id == WMI_STEP_BODIES + WMI_INSN_v_bfe_u32 ? ids : p->code.vector_constant[LOW_10].offset;
    field->b = field->id == WMI_STEP_BODIES + WMI_INSN_v_bfe_u32 ? first : ids;
    field->c = first;
    field->d = row_at(p, WMI_START_IDS + 1);
    p->count += 2;
}

static void test_launch(void **state)
{
    (void)state;
    const unsigned sequences = 2 * (reduced() ? REDUCED_SEQUENCES : SEQUENCES);
    create_memory();
    for (unsigned i = 0; i < sequences; i++) {
        struct program p;
        create(&p, i & 1 ? 32 : 64);
        p.accessed = &accessed;
        p.starts = true;
        p.start_code = (enum wmi_launch_code)below(WMI_LAUNCHES);
        p.is_wild = !below(4);
        p.ends = !below(4);
        p.is_at_end = !p.is_wild && !below(4);
        p.code.scalar_constants = 1; /* 0 */
        choose_mode(&p);
        if (!below(4))
            launch_border(&p);
        if (!below(4))
            launch_index(&p);
        if (!below(4))
            launch_carry(&p);
        if (!below(4))
            launch_field(&p);
        for (unsigned k = 0; k < MEMORY_OPS && p.count + 8 < MOST_STEPS; k++) {
            for (unsigned more = p.is_at_end ? 0 : below(4); more; more--)
                p.steps[p.count++] = launch_step(&p);
            if (below(3) && !p.is_wild) /* a fault would end the wave */
                launch_access(&p, k);
            else if (below(2) && !p.is_wild)
                launch_scalar_load(&p, k);
        }
        while (p.count < 2)
            p.steps[p.count++] = launch_step(&p);
        if (!below(4) && p.count > 8)
            make_skip(&p, below((uint32_t)p.count - 4));
        else if (!below(4))
            change_exec(&p, below((uint32_t)p.count - 1));
        check(&p, 4);
        destroy(&p);
    }
    destroy_memory();
}

/* ---- stores past the caches ---- */

/* The first bytes of an allocation that is large enough for them. */
enum { LARGE = 40 << 20, WINDOW = 8192 };
static struct {
    uint64_t address;
    unsigned char *host, expected[WINDOW];
    unsigned away; /* from the start of a line */
} large;

static void fill_large(struct program *p)
{
    fill_memory(p);
    large.away = below(2) ? 0 : 4 * below(16);
    p->initial->s[SCALAR_BASE] = (uint32_t)large.address + large.away;
    p->initial->s[SCALAR_BASE + 1] = (uint32_t)(large.address >> 32);
}

static void start_large(struct program *p)
{
    (void)p;
    for (unsigned i = 0; i < MEMORY_OPS; i++)
        wmi_space_reach(memory.space, large.address, &memory.worker->hits[i]);
    memset(large.host, 0x5a, WINDOW);
}

static void keep_large(struct program *p)
{
    (void)p;
    memcpy(large.expected, large.host, WINDOW);
}

static void compare_large(struct program *p)
{
    (void)p;
    assert_memory_equal(large.expected, large.host, WINDOW);
}

static const struct accessed_memory accessed_large = {fill_large, start_large, keep_large, compare_large};

/* Dwords, by themselves or above the ones loaded before, stored by a wave that ends then. */
static void test_large(void **state)
{
    (void)state;
    struct wm_diag diag;
    const struct wmi_allocation_request request = {.size = LARGE};
    create_memory();
    assert_int_equal(wmi_space_place(memory.space, &request, &large.address, &diag), WM_OK);
    large.host = wmi_space_host(memory.space, large.address, WINDOW);
    for (unsigned i = 0; i < REDUCED_SEQUENCES; i++) {
        struct program p;
        create(&p, i & 1 ? 32 : 64);
        p.accessed = &accessed_large;
        p.starts = p.ends = true;
        p.start_code = (enum wmi_launch_code)below(WMI_LAUNCHES);
        choose_mode(&p);
        const enum wmi_vmem_form form = below(2) ? WMI_VMEM_VADDR : WMI_VMEM_SADDR;
        struct wmi_step *shift = &p.steps[p.count++];
        *shift = some_step(&p, WMI_STEP_BODIES + WMI_INSN_v_lshlrev_b32);
        shift->a = p.code.vector_constant[2].offset; /* by 2 */
        shift->b = row_at(&p, 0);
        shift->d = row_at(&p, 4);
        struct wmi_step *sum = &p.steps[p.count++];
        *sum = some_step(&p, WMI_STEP_fused_ADD_64_SCALARS_ALONE);
        sum->a = (uint32_t)offsetof(struct wmi_frame, s) + 4 * SCALAR_BASE;
        sum->c = sum->a + 4;
        sum->b = shift->d;
        sum->e = p.code.vector_constant[0].offset;
        sum->d = row_at(&p, 10);
        sum->x = row_at(&p, 11);
        for (unsigned k = below(2); k < 2; k++) {
            const enum wmi_step_id id = k ? form == WMI_VMEM_SADDR ? WMI_STEP_global_STORE_1x4_000_SADDR
                                                                   : WMI_STEP_global_STORE_1x4_000_VADDR
                                          : WMI_STEP_global_LOAD_1x4_000_VADDR;
            struct wmi_step access = memory_step(&p, id, k);
            access.a = k && form == WMI_VMEM_SADDR ? shift->d : sum->d;
            access.d = row_at(&p, 5);
            access.c = row_at(&p, below(2) ? 5 : 0); /* what was loaded, or ids */
            p.steps[p.count++] = access;
        }
        check(&p, 4);
        destroy(&p);
    }
    destroy_memory();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_launch),
        cmocka_unit_test(test_large),
    };
    if (!wmi_can_compile(wmi_cpu_level()))
        return 77; /* skipped: the host has neither AVX-512 nor AVX2 */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
