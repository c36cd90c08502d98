/* SPDX-License-Identifier: MIT */
/* Compares compiled steps with the bodies that interpret them: each step that the compiler knows alone, and
 * random sequences of them, on random and edge values, with all, some and no lanes active, in several float
 * modes, for both wave sizes; and steps of memory, on addresses in patterns and at random. */
#include "base/host_float.h"
#include "base/random.h"
#include "compile/stretch.h"
#include "exec/bind.h"
#include "exec/dispatch.h"
#include "exec/vmem.h"
#include "lower/step_text.h"
#include "memory/buffer.h"
#include "memory/space.h"
#include "reduced.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    VGPRS = 12,
    SGPRS = 24, /* pairs of s0 to s23 */
    MOST_STEPS = 40,
    COUNTER = SGPRS + 4, /* of iterations; followed by -1 and 0 */
    TURN = 40,
    ROUNDS_OF_ONE = 60,
    SEQUENCES = 4000,
    REDUCED_SEQUENCES = 400,
};

/* Edge values: zeros, denormals, infinities, NaNs, limits of conversions and of integers. */
static const uint32_t edges[] = {
    0,          1,          0x80000000, 0x80000001, 0x007fffff, 0x00800000, 0x3f800000, 0xbf800000,
    0x7f800000, 0xff800000, 0x7fc00000, 0xffc00001, 0x7f800001, 0xff812345, 0x7fffffff, 0xffffffff,
    0x4f000000, 0xcf000000, 0x4f800000, 0x4effffff, 0x3effffff, 0x3f000000, 0xbf7fffff, 0x7f7fffff,
    0x00ffffff, 0xff000000, 31,         32,         33,         0xffff,     -126u,      -127u,
    -149u,      -150u,      23,         126,        127,        254,        -254u,      300,
    0x7ff00000, 0xfff80000, 0x3ff00000, 0x000fffff, 0x71800000, 0x71700000, 0x7e800001, 0xfe7fffff,
};
static const uint32_t constants[] = {0,  1,  2,  3,          4,          5,    8,
                                     24, 31, 33, 0xffffffff, 0x3f800000, 0xff, 0x80000000};

enum { EDGES = sizeof edges / sizeof *edges, CONSTANTS = sizeof constants / sizeof *constants };

struct program {
    struct wmi_code code;
    struct wmi_step steps[MOST_STEPS + 1];
    bool leads[MOST_STEPS + 1];
    size_t count;
    struct wmi_op interpreted[MOST_STEPS + 1], compiled[MOST_STEPS + 1];
    struct wmi_op launch;
    struct wmi_compile_mode mode;
    struct wmi_host_memory *memory;
    struct wmi_frame *initial, *expected, *actual;
    struct wmi_wave wave;
    struct wmi_workgroup group;
    bool loops;  /* the last step branches to the first one */
    size_t skip; /* a step that may branch behind the last one, or 0 */
    bool has_memory;
    bool starts; /* its waves start with ids */
    bool ends;   /* no register is read behind its last step */
    bool is_wild, is_at_end;
    uint32_t widest; /* bytes of a lane's largest access to memory */
    size_t frame_size;
};

static uint64_t drawn; /* random numbers so far */

static uint64_t random_64(void)
{
    return wmi_random_bits(1, drawn++);
}

static uint32_t below(uint32_t limit)
{
    return (uint32_t)((random_64() >> 32) * limit >> 32);
}

static uint32_t word(void)
{
    return below(3) ? edges[below(EDGES)] : (uint32_t)random_64();
}

static const struct wmi_op *stop(char *restrict frame, const struct wmi_op *op)
{
    (void)frame;
    (void)op;
    return NULL;
}

/* The places of branches are numbers of steps. */
static const struct wmi_op *find_step(void *user, uint64_t place)
{
    const struct program *p = user;
    return &p->compiled[place];
}

static bool is_known(enum wmi_step_id id)
{
    const struct wmi_step step = {.id = (uint16_t)id, .lanes = offsetof(struct wmi_frame, exec)};
    const char *name = wmi_step_facts_of(id).name;
    if (name && !strncmp(name, "scalar_load", 11))
        return false;
    return wmi_vector_emitter(&step) || wmi_scalar_emitter(&step);
}

/* ---- operands ---- */

static uint32_t some_row(const struct program *p)
{
    if (!below(4))
        return p->code.vector_constant[below(CONSTANTS - 1)].offset; /* the last one is a second row only */
    return p->code.vgpr_offset + below(VGPRS - 1) * p->code.row_bytes;
}

static uint32_t some_vgpr(const struct program *p)
{
    return p->code.vgpr_offset + below(VGPRS - 1) * p->code.row_bytes;
}

static uint32_t some_scalar(void)
{
    return (uint32_t)offsetof(struct wmi_frame, s) + 4 * (below(SGPRS) & ~1u);
}

static uint32_t row_at(const struct program *p, unsigned number)
{
    return p->code.vgpr_offset + number * p->code.row_bytes;
}

static bool contains(const char *name, const char *part)
{
    return strstr(name, part) != NULL;
}

static uint32_t operand(const struct program *p, unsigned use)
{
    switch (use & WMI_USE_KIND) {
    case WMI_USE_ROWS:
        return use & WMI_USE_WRITE ? some_vgpr(p) : some_row(p);
    case WMI_USE_WORDS:
        return some_scalar();
    default:
        return 0;
    }
}

/* A step with random operands. */
static struct wmi_step some_step(const struct program *p, enum wmi_step_id id)
{
    const struct wmi_step_facts facts = wmi_step_facts_of(id);
    struct wmi_step step = {.id = (uint16_t)id, .lanes = offsetof(struct wmi_frame, exec)};
    if (id < WMI_STEP_BODIES) {
        wmi_step_take_uses(&step);
        step.d = operand(p, facts.d);
        step.a = operand(p, facts.a);
        step.b = operand(p, facts.b);
        step.c = operand(p, facts.c);
        step.e = operand(p, facts.e);
        step.x = operand(p, facts.x);
        step.y = operand(p, facts.y);
        if (facts.flags & WMI_STEP_PURE && !facts.x)
            step.x = 1 + below(31);
        while (facts.x && (step.d == step.c || step.d == step.e || step.d == step.x)) /* of 64-bit sums */
            step.d = some_vgpr(p);
        if (id == WMI_STEP_stage_MODIFY_F32 || id == WMI_STEP_stage_MODIFY_F64)
            step.x &= 3;
        if (id == WMI_STEP_stage_SDWA_SOURCE)
            step.x = below(7) | 8 * below(2);
        if (id == WMI_STEP_count)
            step.c = 1 + below(20);
        else if (id == WMI_STEP_constant)
            step.value = (uint64_t)word() << 32 | word();
        return step;
    }
    const char *name = facts.name;
    const bool scalar = name[0] == 's';
    const unsigned read = WMI_USE_READ | WMI_USE_ROWS | 1, write = WMI_USE_WRITE | WMI_USE_ROWS | 1;
    step.a = scalar ? some_scalar() : some_row(p);
    step.b = scalar ? some_scalar() : some_row(p);
    step.c = scalar ? some_scalar() : some_row(p);
    step.d = scalar ? some_scalar() : some_vgpr(p);
    step.x = scalar ? (uint32_t)(int16_t)word() : 0;
    if (scalar) {
        const unsigned pair = WMI_USE_READ | WMI_USE_WORDS | 2;
        step.use[WMI_OP_A] = step.use[WMI_OP_B] = step.use[WMI_OP_C] = (uint8_t)pair;
        step.use[WMI_OP_D] = (uint8_t)(pair | WMI_USE_WRITE);
        return step;
    }
    step.use[WMI_OP_A] = step.use[WMI_OP_B] = step.use[WMI_OP_C] = (uint8_t)read;
    step.use[WMI_OP_D] = (uint8_t)(write | WMI_USE_READ); /* merged with inactive lanes */
    if (contains(name, "v_cmp_") || contains(name, "readfirstlane")) {
        step.d = some_scalar();
        step.use[WMI_OP_D] = WMI_USE_WRITE | WMI_USE_WORDS | (contains(name, "v_cmp_") ? WMI_USE_MASK : 1);
    }
    if (contains(name, "cndmask") || contains(name, "_co_u32")) {
        step.c = some_scalar();
        step.e = some_scalar();
        step.use[WMI_OP_C] = WMI_USE_READ | WMI_USE_WORDS | WMI_USE_MASK;
        if (contains(name, "_co_u32"))
            step.use[WMI_OP_E] = WMI_USE_WRITE | WMI_USE_WORDS | WMI_USE_MASK;
    }
    if (contains(name, "v_add_u32") || contains(name, "v_sub_u32") || contains(name, "v_subrev_u32"))
        step.y = below(2); /* CLAMP */
    if (contains(name, "_f64")) {
        const unsigned pair = WMI_USE_READ | WMI_USE_ROWS | 2;
        step.use[WMI_OP_A] = step.use[WMI_OP_B] = step.use[WMI_OP_C] = (uint8_t)pair;
        step.use[WMI_OP_D] = (uint8_t)(pair | WMI_USE_WRITE);
    }
    if (contains(name, "_u64_u32")) {
        step.e = some_scalar();
        step.use[WMI_OP_E] = WMI_USE_WRITE | WMI_USE_WORDS | WMI_USE_MASK;
        step.use[WMI_OP_C] = WMI_USE_READ | WMI_USE_ROWS | 2;
        step.use[WMI_OP_D] = WMI_USE_READ | WMI_USE_WRITE | WMI_USE_ROWS | 2;
    }
    return step;
}

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

/* ---- running ---- */

static void create(struct program *p, unsigned lanes)
{
    memset(p, 0, sizeof *p);
    const struct wmi_code_options options = {
        .target = wmi_target_find("gfx900"), .lanes = lanes, .vgprs = VGPRS};
    wmi_code_init(&p->code, &options);
    for (unsigned i = 0; i < CONSTANTS; i++)
        p->code.vector_constant[p->code.vector_constants++] = (struct wmi_vector_constant){
            .value = constants[i], .rows = 1, .offset = p->code.constant_offset + i * p->code.row_bytes};
    p->code.constant_rows = CONSTANTS;
    p->frame_size = wmi_code_frame_size(&p->code);
    p->initial = aligned_alloc(64, p->frame_size);
    p->expected = aligned_alloc(64, p->frame_size);
    p->actual = aligned_alloc(64, p->frame_size);
    assert_true(p->initial && p->expected && p->actual);
}

static void destroy(struct program *p)
{
    free(p->initial);
    free(p->expected);
    free(p->actual);
}

static void set_exec(struct wmi_frame *frame, unsigned lanes, uint64_t bits)
{
    const uint64_t all = UINT64_MAX >> (64 - lanes);
    frame->exec.bits = bits & all;
    frame->exec.full = frame->exec.bits == all;
    for (unsigned i = 0; i < lanes; i++)
        frame->exec.row[i] = frame->exec.bits >> i & 1 ? UINT32_MAX : 0;
    memcpy(&frame->s[WMI_S_EXEC], &frame->exec.bits, 8);
}

static void fill(struct program *p)
{
    const unsigned lanes = p->code.options.lanes;
    struct wmi_frame *frame = p->initial;
    memset(frame, 0, p->frame_size);
    wmi_code_prepare_frame(&p->code, frame);
    for (unsigned i = 0; i < SGPRS + 2; i++)
        frame->s[i] = word();
    frame->s[WMI_S_SCC] = below(2);
    /* NaNs leave the compiled code, so most programs have few of them. */
    const bool tame = below(3);
    uint32_t *rows = (uint32_t *)((char *)frame + p->code.vgpr_offset);
    for (unsigned i = 0; i < VGPRS * lanes; i++)
        rows[i] = tame ? ((uint32_t)random_64() & 0x8fffffff) | 0x30000000 : word();
    set_exec(frame, lanes, below(3) ? (below(4) ? random_64() : 0) : UINT64_MAX);
    frame->mode = p->mode.mode;
    frame->mxcsr32 = p->mode.mxcsr32;
    frame->mxcsr64 = p->mode.mxcsr64;
    frame->wave_size = lanes;
    frame->left = TURN;
    frame->wave = &p->wave;
    p->wave.frame = frame;
    p->wave.worker = memory.worker;
    p->wave.group = &p->group;
    p->group = (struct wmi_workgroup){.lds = memory.lds, .lds_size = LDS};
    frame->s[COUNTER] = 1 + below(9);
    frame->s[COUNTER + 1] = UINT32_MAX;
}

static void choose_mode(struct program *p)
{
    static const uint32_t modes[] = {0xf0, 0xc0, 0x3f0, 0xf3, 0xe1, 0x0, 0x1c0};
    p->mode.mode = modes[below(sizeof modes / sizeof *modes)];
    p->mode.mxcsr32 = wmi_host_float_word(p->mode.mode & 3, p->mode.mode >> 4 & 3);
    p->mode.mxcsr64 = wmi_host_float_word(p->mode.mode >> 2 & 3, p->mode.mode >> 6 & 3);
}

static void compile(struct program *p)
{
    static const struct wmi_compile_layout layout = {
        .wave_worker = offsetof(struct wmi_wave, worker),
        .wave_resume = offsetof(struct wmi_wave, resume),
        .wave_group = offsetof(struct wmi_wave, group),
        .group_lds = offsetof(struct wmi_workgroup, lds),
        .group_lds_size = offsetof(struct wmi_workgroup, lds_size),
        .worker_hits = offsetof(struct wmi_worker, hits),
        .careful = WMI_HIT_CAREFUL,
    };
    bool refused = false;
    p->steps[p->count] = (struct wmi_step){.id = p->ends ? WMI_STEP_end : WMI_STEP_sleep};
    for (size_t i = 0; i <= p->count; i++) {
        const struct wmi_step *step = &p->steps[i];
        p->interpreted[i] = wmi_bind_step(step, wmi_cpu_level(), p->code.options.lanes);
        if (i == p->count)
            p->interpreted[i].body = stop;
        p->compiled[i] = p->interpreted[i];
    }
    if (p->loops) {
        p->interpreted[p->count - 1].target = p->interpreted;
        p->compiled[p->count - 1].target = p->compiled;
    }
    if (p->skip) {
        p->steps[p->skip].x = (uint32_t)p->count;
        p->interpreted[p->skip].target = &p->interpreted[p->count];
        p->compiled[p->skip].target = &p->compiled[p->count];
    }
    const struct wmi_block block = {
        .code = &p->code,
        .steps = p->steps,
        .ops = p->compiled,
        .count = p->count + 1,
        .leads = p->leads,
        .entry = p->compiled,
        .mode = p->mode,
        .layout = &layout,
        .find = find_step,
        .user = p,
    };
    p->launch = p->compiled[0];
    assert_true(wmi_compile(&block, &p->memory, &p->launch.body, &refused));
    assert_false(refused);
    assert_ptr_not_equal(p->compiled[0].body, p->interpreted[0].body);
}

/* Runs turns until the last step. */
static void run(struct wmi_frame *frame, const struct wmi_op *op)
{
    const uint32_t usual = wmi_host_float_get();
    struct wmi_wave *wave = frame->wave;
    wmi_host_float_set(frame->mxcsr32);
    for (; op; op = wave->resume) {
        wave->resume = NULL;
        do
            op = op->body((char *)frame, op);
        while (op);
        if (wave->resume)
            frame->left = TURN;
    }
    wmi_host_float_set(usual);
}

static void describe(const struct program *p)
{
    print_error("%u lanes, MODE %#x, EXEC %#llx:\n", p->code.options.lanes, p->mode.mode,
                (unsigned long long)p->initial->exec.bits);
    for (size_t i = 0; i < p->count; i++) {
        char text[200];
        wmi_step_text(&p->code, &p->steps[i], text, sizeof text);
        print_error("  %s\n", text);
    }
}

static void compare(const struct program *p, const char *what, size_t from, size_t to)
{
    const unsigned char *expected = (const unsigned char *)p->expected,
                        *actual = (const unsigned char *)p->actual;
    for (size_t i = from; i < to; i += 4)
        if (memcmp(expected + i, actual + i, 4)) {
            uint32_t e, a;
            memcpy(&e, expected + i, 4);
            memcpy(&a, actual + i, 4);
            describe(p);
            fail_msg("%s word %zu: expected %#x, got %#x", what, (i - from) / 4, e, a);
        }
}

/* ---- memory ---- */

static void create_memory(void)
{
    memory.space = wmi_space_create();
    memory.worker = calloc(1, sizeof *memory.worker);
    assert_true(memory.space && memory.worker);
    memory.worker->space = memory.space;
    memory.worker->dispatch = &memory.dispatch;
    for (unsigned i = 0; i < 2; i++) {
        struct wm_diag diag;
        const struct wmi_wish wish = {
            .size = MEMORY, .placed = true, .address = i ? 0x1fffff000 : 0x1fff00000};
        assert_int_equal(wmi_space_place(memory.space, &wish, &memory.address[i], &diag), WM_OK);
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
    if (!p->has_memory)
        return;
    memset(memory.worker->hits, 0, sizeof memory.worker->hits);
    /* Compiled code needs the hit. The other allocation's or none is a reason to leave. */
    for (unsigned i = 0; i < MEMORY_OPS; i++)
        if (p->initial->s[0] % 8)
            wmi_space_reach(memory.space, memory.address[p->initial->s[0] >> 8 & 1], &memory.worker->hits[i]);
    for (unsigned i = 0; i < 2; i++)
        memcpy(memory.host[i], memory.initial[i], MEMORY);
    memcpy(memory.lds, memory.lds_initial, LDS);
}

static void keep_memory(struct program *p)
{
    if (!p->has_memory)
        return;
    for (unsigned i = 0; i < 2; i++)
        memcpy(memory.expected[i], memory.host[i], MEMORY);
    memcpy(memory.lds_expected, memory.lds, LDS);
}

static void compare_memory(struct program *p)
{
    if (!p->has_memory)
        return;
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

/* Places of lanes up to `most`, in patterns that compilers make, and others. */
static void some_places(uint32_t *place, unsigned lanes, uint32_t most)
{
    const uint32_t kind = below(8), step = 1u << below(5), first = below(most / 4), odd = below(lanes);
    const uint32_t pitch = below(64) * 4, run = 4u << below(4);
    for (uint32_t i = 0; i < lanes; i++) {
        const uint32_t random = below(most);
        place[i] = kind < 2    ? first + step * i
                   : kind == 2 ? first + step * (i % run) + pitch * (i / run)
                   : kind == 3 ? first + pitch * (i / run)
                   : kind == 4 ? first
                   : kind == 5 ? random & ~3u
                   : kind == 6 ? random
                               : first + step * i + 4 * (i == odd);
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

static void fill_addresses(struct program *p)
{
    const unsigned lanes = p->code.options.lanes;
    const unsigned which = p->initial->s[0] >> 8 & 1;
    const uint64_t base = memory.address[which];
    uint32_t *row[FIRST_FREE_ROW], place[64];
    for (unsigned i = 0; i < FIRST_FREE_ROW; i++)
        row[i] = (uint32_t *)((char *)p->initial + p->code.vgpr_offset + i * p->code.row_bytes);
    some_places(place, lanes, MEMORY - p->widest);
    const bool elsewhere = !below(8);
    for (unsigned i = 0; i < lanes; i++) {
        const uint64_t from = elsewhere && i % 7 == 3 ? memory.address[!which] : base;
        row[GLOBAL_ROW][i] = (uint32_t)(from + place[i]);
        row[HIGH_ROW][i] = (uint32_t)((from + place[i]) >> 32);
    }
    some_places(row[OFFSET_ROW], lanes, MEMORY - p->widest);
    const uint64_t away = below(2) ? 0 : below(1 << 20); /* the scalar base may be before the allocation */
    for (unsigned i = 0; i < lanes; i++)
        row[OFFSET_ROW][i] += (uint32_t)away;
    p->initial->s[SCALAR_BASE] = (uint32_t)(base - away);
    p->initial->s[SCALAR_BASE + 1] = (uint32_t)((base - away) >> 32);
    const uint64_t same = base + below(MEMORY - p->widest + 1);
    p->initial->s[UNIFORM + GLOBAL_ROW] = (uint32_t)same;
    p->initial->s[UNIFORM + HIGH_ROW] = (uint32_t)(same >> 32);
    p->initial->s[UNIFORM + OFFSET_ROW] = (uint32_t)away + below(MEMORY - p->widest + 1);
    p->initial->s[UNIFORM + LDS_ROW] = below(LDS);
    some_places(row[LDS_ROW], lanes, LDS - 1);
    if (!below(6))
        row[LDS_ROW][below(lanes)] = word();
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
    const unsigned lanes = p->code.options.lanes;
    struct wmi_frame *frame = p->initial;
    if (below(8))
        set_exec(frame, lanes, UINT64_MAX);
    for (unsigned id = 0; id < WMI_START_IDS; id++) {
        uint32_t *row = (uint32_t *)((char *)frame + row_at(p, id));
        for (unsigned strip = 0; strip < lanes / 16; strip++) {
            const uint32_t base = some_id(p);
            for (unsigned lane = 0; lane < 16; lane++)
                row[16 * strip + lane] = base + (id ? 0 : lane);
        }
        for (unsigned i = 0; i < 16; i++)
            frame->id_bases[id][i] = row[16 * i % lanes];
    }
    frame->s[SCALAR_BASE] = (uint32_t)memory.address[frame->s[0] >> 8 & 1];
    frame->s[SCALAR_BASE + 1] = (uint32_t)(memory.address[frame->s[0] >> 8 & 1] >> 32);
}

#define BOTH_FORMS(name) WMI_STEP_global_##name##_VADDR, WMI_STEP_global_##name##_SADDR
/* The first ones are used in code for waves that start, too. */
static const uint16_t memory_steps[] = {
    BOTH_FORMS(LOAD_1x4_000),  BOTH_FORMS(STORE_1x4_000), BOTH_FORMS(LOAD_1x1_000),
    BOTH_FORMS(LOAD_1x1_100),  BOTH_FORMS(LOAD_1x2_000),  BOTH_FORMS(LOAD_1x2_100),
    BOTH_FORMS(LOAD_2x4_000),  BOTH_FORMS(LOAD_4x4_000),  BOTH_FORMS(STORE_1x1_000),
    BOTH_FORMS(STORE_1x2_000), BOTH_FORMS(STORE_2x4_000), BOTH_FORMS(STORE_4x4_000),
    WMI_STEP_lds_read_b32,     WMI_STEP_lds_read2_b32,    WMI_STEP_lds_write_b32,
    WMI_STEP_lds_write2_b32,   WMI_STEP_lds_read_u8,      WMI_STEP_lds_read_i8,
    WMI_STEP_lds_read_u16,     WMI_STEP_lds_read_i16,     WMI_STEP_lds_read_b64,
    WMI_STEP_lds_read_b128,    WMI_STEP_lds_read2_b64,    WMI_STEP_lds_write_b8,
    WMI_STEP_lds_write_b16,    WMI_STEP_lds_write_b64,    WMI_STEP_lds_write_b128,
    WMI_STEP_lds_write2_b64,   WMI_STEP_scalar_load_1,
};

enum { MEMORY_STEPS = sizeof memory_steps / sizeof *memory_steps, GLOBAL_STEPS = 24 };

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
        return step;
    }
    if (contains(name, "lds_")) {
        step.data = NULL;
        step.a = row_at(p, LDS_ROW);
        step.d = free_rows(p, rows);
        step.b = data;
        step.c = free_rows(p, rows);
        step.x = below(3) ? 0 : below(64);
        step.y = 4 * below(64);
        op->elements = (uint8_t)rows;
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

static void check(struct program *p, unsigned fills)
{
    compile(p);
    for (unsigned i = 0; i < fills; i++) {
        fill(p);
        if (p->has_memory && !p->starts)
            fill_addresses(p);
        if (p->starts)
            fill_ids(p);
        memcpy(p->expected, p->initial, p->frame_size);
        memcpy(p->actual, p->initial, p->frame_size);
        start_memory(p);
        run(p->expected, p->interpreted);
        keep_memory(p);
        start_memory(p);
        run(p->actual, p->starts ? &p->launch : p->compiled);
        compare_memory(p);
        if (p->ends) {
            /* The next wave in a pristine frame takes its VGPRs for those of a start. */
            memcpy(p->expected, p->initial, p->frame_size);
            if (p->actual->pristine)
                compare(p, "VGPR", p->code.vgpr_offset, p->frame_size);
            continue;
        }
        compare(p, "scalar", 0, offsetof(struct wmi_frame, exec));
        compare(p, "EXEC", offsetof(struct wmi_frame, exec), offsetof(struct wmi_frame, lanes));
        assert_int_equal(p->expected->left, p->actual->left);
        compare(p, "VGPR", p->code.vgpr_offset, p->frame_size);
    }
    wmi_host_memory_free(p->memory);
    p->memory = NULL;
}

/* A multiply-add of which only the low word is read, as LLVM makes them: a move follows soon, and another one
 * overwrites the carry. */
static void multiply_low(struct program *p, size_t at)
{
    const enum wmi_step_id product = WMI_STEP_BODIES + WMI_INSN_v_mad_u64_u32;
    p->steps[at] = some_step(p, product);
    p->steps[at + 2] = some_step(p, WMI_STEP_BODIES + WMI_INSN_v_mov_b32);
    p->steps[at + 2].d = p->steps[at].d + p->code.row_bytes;
    p->steps[at + 3] = some_step(p, product);
    p->steps[at + 3].e = p->steps[at].e;
}

/* Lets two steps of the program set EXEC. */
static void change_exec(struct program *p, size_t at)
{
    p->steps[at] = (struct wmi_step){.id = WMI_STEP_BODIES + WMI_INSN_s_mov_b64,
                                     .d = offsetof(struct wmi_frame, s) + 4 * WMI_S_EXEC,
                                     .a = some_scalar()};
    p->steps[at + 1] =
        (struct wmi_step){.id = WMI_STEP_stage_EXEC, .lanes = offsetof(struct wmi_frame, exec)};
}

/* A branch in the middle, and a temporary row that steps before and behind it read. */
static void make_skip(struct program *p, size_t at)
{
    const uint32_t row = (uint32_t)offsetof(struct wmi_frame, rows);
    p->steps[at] = some_step(p, WMI_STEP_stage_BROADCAST);
    p->steps[at].d = row;
    p->steps[at + 1] = (struct wmi_step){.id = WMI_STEP_branch_scc1, .c = 8};
    for (size_t i = at + 2; i < p->count; i++)
        if (wmi_vector_emitter(&p->steps[i]) && p->steps[i].id >= WMI_STEP_BODIES && below(2))
            p->steps[i].a = row;
    p->skip = at + 1;
}

/* Makes the last steps repeat the program. */
static void make_loop(struct program *p)
{
    const uint32_t counter = (uint32_t)offsetof(struct wmi_frame, s) + 4 * COUNTER;
    p->steps[p->count++] = (struct wmi_step){
        .id = WMI_STEP_BODIES + WMI_INSN_s_add_u32, .d = counter, .a = counter, .b = counter + 4};
    p->steps[p->count++] =
        (struct wmi_step){.id = WMI_STEP_BODIES + WMI_INSN_s_cmp_lg_u32, .a = counter, .b = counter + 8};
    p->steps[p->count++] = (struct wmi_step){.id = WMI_STEP_branch_scc1, .c = 8};
    p->loops = true;
}

/* ---- the tests ---- */

static void test_each_step(void **state)
{
    (void)state;
    unsigned known = 0;
    for (unsigned lanes = 32; lanes <= 64; lanes += 32) {
        struct program p;
        create(&p, lanes);
        for (unsigned id = 1; id < WMI_STEP_COUNT; id++) {
            if (!is_known((enum wmi_step_id)id))
                continue;
            known++;
            for (unsigned round = 0; round < ROUNDS_OF_ONE; round++) {
                choose_mode(&p);
                p.count = 2;
                p.steps[0] = some_step(&p, (enum wmi_step_id)id);
                p.steps[1] = some_step(&p, (enum wmi_step_id)id);
                check(&p, 3);
            }
        }
        destroy(&p);
    }
    assert_true(known > 300);
}

static void test_sequences(void **state)
{
    (void)state;
    static uint16_t ids[WMI_STEP_COUNT];
    unsigned count = 0;
    for (unsigned id = 1; id < WMI_STEP_COUNT; id++)
        if (is_known((enum wmi_step_id)id))
            ids[count++] = (uint16_t)id;
    const unsigned sequences = reduced() ? REDUCED_SEQUENCES : SEQUENCES;
    for (unsigned i = 0; i < sequences; i++) {
        struct program p;
        create(&p, i & 1 ? 32 : 64);
        choose_mode(&p);
        p.count = 2 + below(MOST_STEPS - 4);
        for (size_t k = 0; k < p.count; k++)
            p.steps[k] = some_step(&p, (enum wmi_step_id)ids[below(count)]);
        for (unsigned more = below(4); more && p.count > 8; more--)
            multiply_low(&p, below((uint32_t)p.count - 4));
        const uint32_t kind = below(4);
        if (kind > 1)
            make_loop(&p);
        if (kind == 1)
            change_exec(&p, below((uint32_t)p.count - 1));
        if (kind == 0 && p.count > 8)
            make_skip(&p, below((uint32_t)p.count - 4));
        check(&p, 3);
        destroy(&p);
    }
}

/* Memory steps between steps that compute, which read what was loaded. */
static void test_memory(void **state)
{
    (void)state;
    static const uint16_t others[] = {WMI_STEP_BODIES + WMI_INSN_v_add_u32,
                                      WMI_STEP_BODIES + WMI_INSN_v_xor_b32,
                                      WMI_STEP_BODIES + WMI_INSN_v_mov_b32};
    const unsigned sequences = reduced() ? REDUCED_SEQUENCES : SEQUENCES;
    create_memory();
    for (unsigned i = 0; i < sequences; i++) {
        struct program p;
        create(&p, i & 1 ? 32 : 64);
        p.has_memory = true;
        choose_mode(&p);
        for (unsigned k = 0; i % 4 == 0 && k < FIRST_FREE_ROW; k++) {
            p.steps[k] = (struct wmi_step){.id = WMI_STEP_fused_MOVE_SCALAR,
                                           .lanes = offsetof(struct wmi_frame, exec),
                                           .d = row_at(&p, k),
                                           .a = (uint32_t)offsetof(struct wmi_frame, s) + 4 * (UNIFORM + k)};
            wmi_step_take_uses(&p.steps[p.count++]);
        }
        for (unsigned k = 0; k < MEMORY_OPS && (k < 2 || below(6)); k++) {
            p.steps[p.count++] = memory_step(&p, (enum wmi_step_id)memory_steps[below(MEMORY_STEPS)], k);
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

static struct wmi_step launch_step(const struct program *p)
{
    struct wmi_step step = some_step(p, (enum wmi_step_id)launch_steps[below(LAUNCH_STEPS)]);
    const bool pair = step.x && contains(wmi_step_facts_of(step.id).name, "ADD_64");
    come_near(p, &step.a, step.use[WMI_OP_A], 0);
    come_near(p, &step.b, step.use[WMI_OP_B], 0);
    come_near(p, &step.c, step.use[WMI_OP_C], 0);
    come_near(p, &step.e, step.use[WMI_OP_E], 0);
    if (!pair)
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
        struct wmi_step *sum = &p->steps[p->count++];
        *sum = some_step(p, WMI_STEP_fused_ADD_64_SCALARS_ALONE);
        sum->a = (uint32_t)offsetof(struct wmi_frame, s) + 4 * SCALAR_BASE;
        sum->c = sum->a + 4;
        sum->b = offset;
        sum->e = zero;
        sum->d = row_at(p, 10);
        sum->x = row_at(p, 11);
        access.a = sum->d;
    }
    p->steps[p->count++] = access;
}

static void test_launch(void **state)
{
    (void)state;
    const unsigned sequences = 2 * (reduced() ? REDUCED_SEQUENCES : SEQUENCES);
    create_memory();
    for (unsigned i = 0; i < sequences; i++) {
        struct program p;
        create(&p, i & 1 ? 32 : 64);
        p.has_memory = p.starts = true;
        p.is_wild = !below(4);
        p.ends = !below(4);
        p.is_at_end = !p.is_wild && !below(4);
        choose_mode(&p);
        for (unsigned k = 0; k < MEMORY_OPS && p.count + 6 < MOST_STEPS; k++) {
            for (unsigned more = p.is_at_end ? 0 : below(4); more; more--)
                p.steps[p.count++] = launch_step(&p);
            if (below(3) && !p.is_wild) /* a fault would end the wave */
                launch_access(&p, k);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_step),
        cmocka_unit_test(test_sequences),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_launch),
    };
    if (!wmi_can_compile(wmi_cpu_level()))
        return 77; /* skipped: the host has no AVX-512 */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
