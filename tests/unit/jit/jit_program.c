/* SPDX-License-Identifier: MIT */
/* Programs of steps with random operands, and how they run both ways: on random and edge values, with all,
 * some and no lanes active, in several float modes. */
#include "unit/jit/jit_program.h"
#include "arithmetic/host_float.h"
#include "base/random.h"
#include "exec/memory/vmem.h"
#include "exec/run/program.h"
#include "jit/expand/expand.h"
#include "jit/parts.h"
#include "lower/step_text.h"

/* Edge values: zeros, denormals, infinities, NaNs, limits of conversions and of integers. */
static const uint32_t edges[] = {
    0,          1,          0x80000000, 0x80000001, 0x007fffff, 0x00800000, 0x3f800000, 0xbf800000,
    0x7f800000, 0xff800000, 0x7fc00000, 0xffc00001, 0x7f800001, 0xff812345, 0x7fffffff, 0xffffffff,
    0x4f000000, 0xcf000000, 0x4f800000, 0x4effffff, 0x3effffff, 0x3f000000, 0xbf7fffff, 0x7f7fffff,
    0x00ffffff, 0xff000000, 31,         32,         33,         0xffff,     -126u,      -127u,
    -1030u,     -1060u,     -149u,      -150u,      23,         126,        127,        254,
    -254u,      300,        0x03020100, 0x0c0c0704, 0x0a0b0908, 0x0d0e8006, 0x3c007bff, 0x04008001,
    0x7c013800, 0x02041801, 0x7e000400, 0xfbff7e00, 0x03ff7dff, 0x00100000, 0x7ff7ffff, 0x7ff80000,
    0x7ff00000, 0xfff80000, 0x3ff00000, 0x000fffff, 0x71800000, 0x71700000, 0x7e800001, 0xfe7fffff,
};
static const uint32_t constants[] = {
    0, 1, 2, 3, 4, 5, 8, 24, 31, 32, 33, 63, 0xffffffff, 0x3f800000, 0xff, 0x1f8, 0x204, 0, 0x7ff00000, 0,
    /* f16: sums of products that lie between two numbers, and a little below */
    0x3e00, 0x3c01, 0x8001, 0x0c01, 0x07fe, 0x0201,
    /* fields of ids */
    10, 0x3ff, 0, 0x80000000};
enum { ALL_ONES = 12, BETWEEN_F16 = 20, BETWEEN_DENORMALS = 23 }; /* among them */
enum { BETWEEN_ROW = 1 }; /* of three VGPRs that may have such numbers in one lane */

enum { EDGES = sizeof edges / sizeof *edges, CONSTANTS = sizeof constants / sizeof *constants };

static uint64_t drawn; /* random numbers so far */

/* WAVEMEM_TEST_SEED in the environment gives other programs. */
static uint64_t seed(void)
{
    static uint64_t value;
    if (!value) {
        const char *text = getenv("WAVEMEM_TEST_SEED");
        value = text ? strtoull(text, NULL, 0) : 1;
    }
    return value;
}

uint64_t random_64(void)
{
    return wmi_random_bits(seed(), drawn++);
}

uint32_t below(uint32_t limit)
{
    return (uint32_t)((random_64() >> 32) * limit >> 32);
}

uint32_t word(void)
{
    return below(3) ? edges[below(EDGES)] : (uint32_t)random_64();
}

/* As v_perm_b32 takes it. */
static uint32_t byte_selection(void)
{
    enum { ZERO = 12 };
    uint32_t selection = 0;
    for (unsigned i = 0; i < 32; i += 8)
        selection |= (below(4) ? below(8) : below(2) ? ZERO : ZERO + below(4)) << i;
    return selection;
}

static bool is_done; /* the run reached the last step; others ended with a fault */

static const struct wmi_op *stop(char *restrict frame, const struct wmi_op *op)
{
    (void)frame;
    (void)op;
    is_done = true;
    return NULL;
}

/* The places of branches are numbers of steps. */
static const struct wmi_op *find_step(void *user, uint64_t place)
{
    const struct program *p = user;
    return &p->compiled[place];
}

/* The host whose code is made by way of the representation; NULL: stretches are. WAVEMEM_TEST_PARTS=1 in the
 * environment chooses such a host on x86. */
static const struct wmi_ir_host *parts_host(void)
{
#if defined(__aarch64__)
    return &wmi_ir_arm64;
#else
    return getenv("WAVEMEM_TEST_PARTS") ? &wmi_ir_avx2 : NULL;
#endif
}

bool makes_parts(void)
{
    return parts_host();
}

bool is_known(enum wmi_step_id id)
{
    if (parts_host())
        return wmi_has_expansion(id);
    const struct wmi_step step = {.id = (uint16_t)id, .lanes = offsetof(struct wmi_frame, exec)};
    const char *name = wmi_step_facts_of(id).name;
    if (name && !strncmp(name, "scalar_load", 11))
        return false;
    return wmi_vector_emitter(&step) || wmi_scalar_emitter(&step);
}

/* ---- operands ---- */

uint32_t some_row(const struct program *p)
{
    if (!below(4))
        return p->code.vector_constant[below(CONSTANTS - 1)].offset; /* the last one is a second row only */
    return p->code.vgpr_offset + below(VGPRS - 1) * p->code.row_bytes;
}

uint32_t some_vgpr(const struct program *p)
{
    return p->code.vgpr_offset + below(VGPRS - 1) * p->code.row_bytes;
}

uint32_t some_scalar(void)
{
    return (uint32_t)offsetof(struct wmi_frame, s) + 4 * (below(SGPRS) & ~1u);
}

/* A scalar, or SCC, which instructions can read as an operand. */
static uint32_t some_source(void)
{
    return below(8) ? some_scalar() : (uint32_t)offsetof(struct wmi_frame, s) + 4 * WMI_S_SCC;
}

uint32_t row_at(const struct program *p, unsigned number)
{
    return p->code.vgpr_offset + number * p->code.row_bytes;
}

bool contains(const char *name, const char *part)
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

static bool writes_temporary(const struct wmi_step *step)
{
    return step->id == WMI_STEP_stage_BROADCAST || step->id == WMI_STEP_stage_MODIFY_F32 ||
           step->id == WMI_STEP_stage_MODIFY_F64 || step->id == WMI_STEP_stage_SDWA_SOURCE ||
           step->id == WMI_STEP_stage_MODIFY_F16 || step->id == WMI_STEP_stage_HIGH_HALF ||
           step->id == WMI_STEP_stage_MODIFY_V2F16 || step->id == WMI_STEP_stage_PACK_SELECT ||
           step->id == WMI_STEP_stage_WIDEN_F16;
}

/* Temporary rows; the first two are those of make_skip(). */
static uint32_t some_temporary(const struct program *p)
{
    return (uint32_t)offsetof(struct wmi_frame, rows) + (2 + 2 * below(4)) * p->code.row_bytes;
}

void read_temporaries(struct program *p)
{
    for (size_t i = 0; i < p->count; i++) {
        struct wmi_step *step = &p->steps[i];
        if (step->id == WMI_STEP_stage_OP_SEL_LOW && step->a < p->code.vgpr_offset &&
            (p->leads[i] || !i || p->steps[i - 1].d != step->a))
            step->a = some_vgpr(p);
    }
    for (size_t i = 0; i + 1 < p->count; i++) {
        struct wmi_step *next = &p->steps[i + 1];
        if (p->leads[i + 1] || !writes_temporary(&p->steps[i]) || !wmi_vector_emitter(next) ||
            next->id < WMI_STEP_BODIES)
            continue;
        /* v_readfirstlane_b32 has no modifiers. Without lanes, it would read an inactive one. */
        if (wmi_step_facts_of(next->id).flags & WMI_STEP_CROSSES_LANES)
            continue;
        const unsigned rows = p->steps[i].id == WMI_STEP_stage_MODIFY_F64 ? 2 : 1;
        if ((next->use[WMI_OP_A] & WMI_USE_KIND) == WMI_USE_ROWS &&
            (next->use[WMI_OP_A] & WMI_USE_COUNT) <= rows)
            next->a = p->steps[i].d;
    }
}

/* Sets which operands of a step on 64-bit integers are pairs of rows. */
static void take_integer_pairs(struct wmi_step *step, const char *name)
{
    const uint8_t pair = WMI_USE_READ | WMI_USE_ROWS | 2;
    const bool compares = contains(name, "v_cmp"), multiplies = contains(name, "v_mad");
    if (!compares)
        step->use[WMI_OP_D] = pair | WMI_USE_WRITE;
    if (!contains(name, "rev") && !multiplies)
        step->use[WMI_OP_A] = pair;
    if (contains(name, "rev") || compares)
        step->use[WMI_OP_B] = pair;
    step->use[WMI_OP_C] = pair;
    if (multiplies) {
        step->e = some_scalar();
        step->use[WMI_OP_E] = WMI_USE_WRITE | WMI_USE_WORDS | WMI_USE_MASK;
    }
}

/* A step with random operands. */
struct wmi_step some_step(const struct program *p, enum wmi_step_id id)
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
        if (writes_temporary(&step))
            step.d = some_temporary(p);
        if (id == WMI_STEP_stage_MODIFY_F32 || id == WMI_STEP_stage_MODIFY_F64 ||
            id == WMI_STEP_stage_MODIFY_F16)
            step.x &= 3;
        if (id == WMI_STEP_stage_WIDEN_F16)
            step.x &= 1;
        if (id == WMI_STEP_stage_SDWA_SOURCE)
            step.x = below(7) | 8 * below(2);
        if (id == WMI_STEP_stage_SDWA_RESULT)
            step.x = below(7) | 8 * below(4);
        if (id == WMI_STEP_stage_PACK_SELECT || id == WMI_STEP_stage_MODIFY_V2F16)
            step.x = below(16);
        if (id == WMI_STEP_count)
            step.c = 1 + below(20);
        else if (id == WMI_STEP_constant)
            step.value = (uint64_t)word() << 32 | word();
        if (id == WMI_STEP_count_block || id == WMI_STEP_count_and_pass_block)
            step.x = below(BLOCKS);
        if (id == WMI_STEP_pass_block || id == WMI_STEP_count_and_pass_block) {
            step.value = random_64() & random_64() & random_64();
            step.a = word();
            step.b = word();
        }
        return step;
    }
    const char *name = facts.name;
    const bool scalar = name[0] == 's';
    const unsigned read = WMI_USE_READ | WMI_USE_ROWS | 1, write = WMI_USE_WRITE | WMI_USE_ROWS | 1;
    step.a = scalar ? some_source() : some_row(p);
    step.b = scalar ? some_source() : some_row(p);
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
    if (contains(name, "v_cmp") || contains(name, "readfirstlane")) {
        step.d = some_scalar();
        step.use[WMI_OP_D] = WMI_USE_WRITE | WMI_USE_WORDS | (contains(name, "v_cmp") ? WMI_USE_MASK : 1);
    }
    if (contains(name, "v_mbcnt_") && below(2)) /* of all lanes, as it is mostly used */
        step.a = p->code.vector_constant[ALL_ONES].offset;
    if ((contains(name, "v_fm") || contains(name, "v_pk_fma")) && contains(name, "_f16") && !below(3)) {
        const unsigned first = below(2) ? BETWEEN_F16 : BETWEEN_DENORMALS;
        const bool in_lane = below(2);
        uint32_t *const operands[] = {&step.a, &step.b, &step.c};
        for (unsigned i = 0; i < 3; i++)
            *operands[i] = in_lane ? row_at(p, BETWEEN_ROW + i) : p->code.vector_constant[first + i].offset;
        if (contains(name, "fmamk")) {
            const uint32_t addend = step.c;
            step.c = step.b;
            step.b = addend;
        }
    }
    if (contains(name, "lane_b32") && !contains(name, "first")) { /* v_readlane_b32, v_writelane_b32 */
        const unsigned moved = contains(name, "read") ? WMI_OP_D : WMI_OP_A;
        step.b = some_scalar();
        step.use[WMI_OP_B] = WMI_USE_READ | WMI_USE_WORDS | 1;
        step.use[moved] = (uint8_t)((moved == WMI_OP_D ? WMI_USE_WRITE : WMI_USE_READ) | WMI_USE_WORDS | 1);
        *(moved == WMI_OP_D ? &step.d : &step.a) = some_scalar();
    }
    if (contains(name, "cndmask") || contains(name, "_co_u32")) {
        step.c = some_scalar();
        step.e = some_scalar();
        step.use[WMI_OP_C] = WMI_USE_READ | WMI_USE_WORDS | WMI_USE_MASK;
        if (contains(name, "_co_u32"))
            step.use[WMI_OP_E] = WMI_USE_WRITE | WMI_USE_WORDS | WMI_USE_MASK;
    }
    if (contains(name, "v_pk_") && contains(name, "16"))
        step.y = !below(4); /* CLAMP */
    if (contains(name, "v_add_u32") || contains(name, "v_sub_u32") || contains(name, "v_subrev_u32"))
        step.y = below(2); /* CLAMP */
    if (contains(name, "_f64")) {
        const unsigned pair = WMI_USE_READ | WMI_USE_ROWS | 2;
        if (!contains(name, "v_cvt_f64"))
            step.use[WMI_OP_A] = step.use[WMI_OP_B] = step.use[WMI_OP_C] = (uint8_t)pair;
        if (contains(name, "ldexp") || contains(name, "class"))
            step.use[WMI_OP_B] = (uint8_t)read;
        if (!contains(name, "v_cmp") && !contains(name, "exp_i32") &&
            (!contains(name, "v_cvt") || contains(name, "v_cvt_f64")))
            step.use[WMI_OP_D] = (uint8_t)(pair | WMI_USE_WRITE);
    }
    if (contains(name, "_b64") || contains(name, "_u64") || contains(name, "_i64"))
        take_integer_pairs(&step, name);
    return step;
}

/* ---- running ---- */

void create(struct program *p, unsigned lanes)
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

void destroy(struct program *p)
{
    free(p->initial);
    free(p->expected);
    free(p->actual);
}

void set_exec(struct wmi_frame *frame, unsigned lanes, uint64_t bits)
{
    const uint64_t all = UINT64_MAX >> (64 - lanes);
    frame->exec.bits = bits & all;
    frame->exec.full = frame->exec.bits == all;
    for (unsigned i = 0; i < lanes; i++)
        frame->exec.row[i] = frame->exec.bits >> i & 1 ? UINT32_MAX : 0;
    memcpy(&frame->s[WMI_S_EXEC], &frame->exec.bits, 8);
}

/* Any, the first ones, some eights of lanes, or none. */
static uint64_t some_lanes(void)
{
    switch (below(8)) {
    case 0:
    case 1:
        return 0;
    case 2:
    case 3:
        return UINT64_MAX >> below(64);
    case 4:
    case 5: {
        uint64_t bits = random_64();
        for (unsigned i = 0; i < 64; i += 8)
            bits &= below(2) ? UINT64_MAX : ~(UINT64_C(0xff) << i);
        return bits;
    }
    default:
        return random_64();
    }
}

/* What steps for an observer change outside of the frame. */
struct counted {
    struct wmi_block_counter blocks[BLOCKS];
    uint64_t counters;
    uint8_t entered[8];
};

static void keep_counted(const struct program *p, struct counted *kept)
{
    memcpy(kept->blocks, p->blocks, sizeof kept->blocks);
    kept->counters = p->wave.counters;
    memcpy(kept->entered, p->wave.entered, sizeof kept->entered);
}

static void set_counted(struct program *p, const struct counted *kept)
{
    memcpy(p->blocks, kept->blocks, sizeof kept->blocks);
    p->wave.counters = kept->counters;
    memcpy(p->wave.entered, kept->entered, sizeof kept->entered);
}

static void fill(struct program *p)
{
    static struct wmi_dispatch unobserved;
    static struct wmi_worker worker = {.dispatch = &unobserved};
    const unsigned lanes = p->code.options.lanes;
    struct wmi_frame *frame = p->initial;
    memset(frame, 0, p->frame_size);
    wmi_code_prepare_frame(&p->code, frame);
    for (unsigned i = 0; i < SGPRS + 2; i++)
        frame->s[i] = below(3) ? word() : byte_selection();
    frame->s[WMI_S_SCC] = below(2);
    /* NaNs leave the compiled code, so most programs have few of them. */
    const bool tame = below(3);
    const uint32_t kept = below(2) ? 0x8fffffff : 0x8fffbfff; /* so that there is no f16 from 2 on */
    uint32_t *rows = (uint32_t *)((char *)frame + p->code.vgpr_offset);
    for (unsigned i = 0; i < VGPRS * lanes; i++)
        rows[i] = tame ? ((uint32_t)random_64() & kept) | 0x30000000 : word();
    if (tame && !below(3)) {
        const unsigned lane = below(lanes), first = below(2) ? BETWEEN_F16 : BETWEEN_DENORMALS,
                       halves = below(2)   ? 0x10001
                                : below(2) ? 0x10000
                                           : 1;
        for (unsigned i = 0; i < 3; i++)
            rows[(BETWEEN_ROW + i) * lanes + lane] = constants[first + i] * halves;
    }
    if (p->starts && p->ends) /* a wave that ends may leave its VGPRs to the next one, which expects these */
        memset(&rows[WMI_START_IDS * lanes], 0, (VGPRS - WMI_START_IDS) * p->code.row_bytes);
    set_exec(frame, lanes, below(3) ? some_lanes() : UINT64_MAX);
    frame->mode = p->mode.mode;
    frame->mxcsr32 = p->mode.mxcsr32;
    frame->mxcsr64 = p->mode.mxcsr64;
    frame->wave_size = lanes;
    frame->left = TURN;
    frame->wave = &p->wave;
    p->wave.frame = frame;
    p->wave.group = &p->group;
    p->wave.worker = &worker;
    worker.blocks = p->blocks;
    for (unsigned i = 0; i < BLOCKS; i++)
        p->blocks[i] = (struct wmi_block_counter){below(2) ? 0 : random_64(), random_64()};
    p->wave.counters = random_64() & random_64();
    frame->s[COUNTER] = 1 + below(9);
    frame->s[COUNTER + 1] = UINT32_MAX;
}

void choose_mode(struct program *p)
{
    static const uint32_t modes[] = {0xf0, 0xc0, 0x3f0, 0xf3, 0xe1, 0x0, 0x1c0, 0xff};
    p->mode.mode = modes[below(sizeof modes / sizeof *modes)];
    p->mode.mxcsr32 = wmi_host_float_word(p->mode.mode & 3, p->mode.mode >> 4 & 3);
    p->mode.mxcsr64 = wmi_host_float_word(p->mode.mode >> 2 & 3, p->mode.mode >> 6 & 3);
}

unsigned programs, compiled_programs;

/* The program whose bodies are replaced by count_leave(). */
static struct program *counting;

static const struct wmi_op *count_leave(char *restrict frame, const struct wmi_op *op)
{
    counting->leaves++;
    return counting->interpreted[op - counting->compiled].body(frame, op);
}

static void compile(struct program *p)
{
    bool refused = false;
    counting = p;
    p->steps[p->count] = (struct wmi_step){.id = p->ends    ? WMI_STEP_end
                                                 : p->stays ? WMI_STEP_fault
                                                            : WMI_STEP_sleep};
    for (size_t i = 0; i <= p->count; i++) {
        const struct wmi_step *step = &p->steps[i];
        p->interpreted[i] = wmi_bind_step(step, wmi_cpu_level(), p->code.options.lanes);
        if (i == p->count)
            p->interpreted[i].body = stop;
        p->compiled[i] = p->interpreted[i];
        if (p->counts_leaves && i < p->count)
            p->compiled[i].body = count_leave;
    }
    if (p->loops) {
        p->interpreted[p->count - 1].target = &p->interpreted[p->loop_to];
        p->compiled[p->count - 1].target = &p->compiled[p->loop_to];
    }
    if (p->skip) {
        const size_t to = p->skip_to ? p->skip_to : p->count;
        p->steps[p->skip].x = (uint32_t)to;
        p->interpreted[p->skip].target = &p->interpreted[to];
        p->compiled[p->skip].target = &p->compiled[to];
    }
    const struct wmi_block block = {
        .level = wmi_cpu_level(),
        .lanes_from = random_64() % 2, /* never, or always */
        .code = &p->code,
        .steps = p->steps,
        .ops = p->compiled,
        .count = p->count + 1,
        .leads = p->leads,
        .entry = p->compiled,
        .mode = p->mode,
        .layout = &wmi_program_layout,
        .find = find_step,
        .user = p,
    };
    struct wmi_launch_entries launch = {{p->compiled[0].body, p->compiled[0].body},
                                        (p->code.constant_offset - p->code.vgpr_offset) / p->code.row_bytes};
    if (parts_host()) {
        if (!wmi_compile_parts(&block, parts_host(), &p->memory, &refused)) {
            describe(p);
            fail_msg("it was not compiled");
        }
        programs++;
        compiled_programs += p->compiled[0].body != p->interpreted[0].body;
    } else {
        assert_true(wmi_compile(&block, &p->memory, &launch, &refused));
        assert_ptr_not_equal(p->compiled[0].body, p->interpreted[0].body);
    }
    p->start_rows = launch.rows;
    for (unsigned i = 0; i < WMI_LAUNCHES; i++) {
        p->launch[i] = p->compiled[0];
        p->launch[i].body = launch.body[i];
    }
    assert_false(refused);
}

/* Runs turns until the last step. */
static void run(struct wmi_frame *frame, const struct wmi_op *op)
{
    const uint32_t usual = wmi_host_float_get();
    struct wmi_wave *wave = frame->wave;
    wmi_host_float_set(frame->mxcsr32);
    is_done = false;
    wave->worker->next_start = NULL; /* of another program */
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

void describe(const struct program *p)
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

void check(struct program *p, unsigned fills)
{
    compile(p);
    for (unsigned i = 0; i < fills; i++) {
        fill(p);
        if (p->accessed)
            p->accessed->fill(p);
        p->group.waves_left = below(3);
        memcpy(p->expected, p->initial, p->frame_size);
        memcpy(p->actual, p->initial, p->frame_size);
        const size_t unread = row_at(p, p->start_rows);
        if (p->starts) /* what the frame's last wave left */
            memset((char *)p->actual + unread, 0xa5, p->code.constant_offset - unread);
        if (p->accessed)
            p->accessed->start(p);
        struct counted start, expected, actual;
        keep_counted(p, &start);
        run(p->expected, p->interpreted);
        const bool is_expected_done = is_done;
        keep_counted(p, &expected);
        set_counted(p, &start);
        if (p->accessed) {
            p->accessed->keep(p);
            p->accessed->start(p);
        }
        run(p->actual, p->starts && !parts_host() ? &p->launch[p->start_code] : p->compiled);
        keep_counted(p, &actual);
        if (memcmp(&expected, &actual, sizeof expected)) {
            describe(p);
            fail_msg("counters of blocks or waits differ");
        }
        if (p->accessed)
            p->accessed->compare(p);
        assert_int_equal(is_expected_done, is_done);
        if (!is_done) /* what nothing would have read may differ */
            continue;
        if (p->ends) {
            /* The next wave in a pristine frame takes its VGPRs for those of a start. */
            memcpy(p->expected, p->initial, p->frame_size);
            if (p->actual->compiled.pristine == WMI_PRISTINE)
                compare(p, "VGPR", p->code.vgpr_offset, unread);
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
void multiply_low(struct program *p, size_t at)
{
    const enum wmi_step_id product = WMI_STEP_BODIES + WMI_INSN_v_mad_u64_u32;
    p->steps[at] = some_step(p, product);
    p->steps[at + 2] = some_step(p, WMI_STEP_BODIES + WMI_INSN_v_mov_b32);
    p->steps[at + 2].d = p->steps[at].d + p->code.row_bytes;
    p->steps[at + 3] = some_step(p, product);
    p->steps[at + 3].e = p->steps[at].e;
}

/* A result of 16 bits that keeps the high half of a VGPR, as on gfx10 and later. Mostly a step soon reads the
 * low half, and another one overwrites the VGPR, so that nothing reads the high half. */
void keep_half(struct program *p, size_t at)
{
    static const uint16_t halves[] = {
#define BODY(name) WMI_STEP_BODIES + WMI_INSN_##name
        BODY(v_add_u16),
        BODY(v_mul_lo_u16),
        BODY(v_lshrrev_b16),
        BODY(v_min_i16),
        BODY(v_cmp_lt_u16),
        BODY(v_mad_u16),
        BODY(v_and_b32),
        WMI_STEP_stage_OP_SEL_LOW,
        WMI_STEP_stage_OP_SEL_HIGH,
        WMI_STEP_stage_SDWA_RESULT,
#undef BODY
    };
    struct wmi_step *step = &p->steps[at], *reader = step + 2, *last = step + 3 + below(3);
    enum { SOURCES = 4, KINDS = sizeof halves / sizeof *halves };
    const uint32_t row = some_vgpr(p), small = p->code.vector_constant[1 + below(11)].offset;
    step[0] = some_step(p, (enum wmi_step_id)halves[below(SOURCES)]);
    step[0].d = some_temporary(p);
    if (below(2)) /* the same in all lanes */
        step[0].a = step[0].b = small;
    step[1] = some_step(p, WMI_STEP_stage_OP_SEL_LOW);
    step[1].d = row;
    step[1].a = step[0].d;
    for (unsigned i = 0; i < 2; i++, reader = last) {
        if (!below(4))
            continue;
        *reader = some_step(p, (enum wmi_step_id)halves[below(KINDS)]);
        if (reader->id == WMI_STEP_BODIES + WMI_INSN_v_and_b32 && below(4))
            reader->b = small;
        *(reader->id == WMI_STEP_stage_SDWA_RESULT ? &reader->d : below(2) ? &reader->a : &reader->b) = row;
        if (reader == last && reader->id >= WMI_STEP_BODIES && below(4))
            reader->d = (reader->use[WMI_OP_D] & WMI_USE_KIND) == WMI_USE_ROWS ? row : reader->d;
    }
}

/* Lets two steps of the program set EXEC: to anything, or to less or more than it was. */
void change_exec(struct program *p, size_t at)
{
    static const struct {
        uint16_t narrow, wide;
        bool from_a, from_b; /* EXEC is a source; that of saveexec is none of the operands */
    } ways[] = {
#define WAY(name, ...)                                                                                       \
    {WMI_STEP_BODIES + WMI_INSN_##name##_b32, WMI_STEP_BODIES + WMI_INSN_##name##_b64, __VA_ARGS__}
        WAY(s_mov, false, false),          WAY(s_or, true, false),
        WAY(s_and, true, false),           WAY(s_and, false, true),
        WAY(s_andn2, true, false),         WAY(s_andn2, false, true),
        WAY(s_and_saveexec, false, false), WAY(s_and_saveexec, false, false),
        WAY(s_or_saveexec, false, false),  WAY(s_andn2_saveexec, false, false),
#undef WAY
    };
    /* v_cmpx is a compare into EXEC */
    static const enum wmi_step_id compares[] = {
        WMI_STEP_BODIES + WMI_INSN_v_cmp_lt_u32, WMI_STEP_BODIES + WMI_INSN_v_cmp_ne_i32,
        WMI_STEP_BODIES + WMI_INSN_v_cmp_ge_f32, WMI_STEP_BODIES + WMI_INSN_v_cmp_class_f32};
    const uint32_t exec = offsetof(struct wmi_frame, s) + 4 * WMI_S_EXEC,
                   way = below(sizeof ways / sizeof *ways);
    const bool scalar = below(4);
    const enum wmi_step_id id =
        !scalar ? compares[below(4)]
                : (enum wmi_step_id)(p->code.options.lanes == 64 ? ways[way].wide : ways[way].narrow);
    struct wmi_step *step = &p->steps[at];
    *step = some_step(p, id);
    if (scalar) {
        step->a = ways[way].from_a ? exec : some_scalar();
        step->b = ways[way].from_b ? exec : some_scalar();
    }
    if (!(wmi_step_facts_of(id).writes & WMI_ON_EXEC))
        step->d = exec;
    p->steps[at + 1] =
        (struct wmi_step){.id = WMI_STEP_stage_EXEC, .lanes = offsetof(struct wmi_frame, exec)};
}

/* A branch in the middle, and a temporary row that steps before and behind it read. */
void make_skip(struct program *p, size_t at)
{
    static const enum wmi_step_id branches[] = {WMI_STEP_branch_scc1, WMI_STEP_branch_execz,
                                                WMI_STEP_branch_execnz, WMI_STEP_branch_scc0};
    const uint32_t row = (uint32_t)offsetof(struct wmi_frame, rows);
    p->steps[at] = some_step(p, WMI_STEP_stage_BROADCAST);
    p->steps[at].d = row;
    p->steps[at + 1] = (struct wmi_step){.id = (uint16_t)branches[below(4)], .c = 8};
    if (below(2)) {
        p->skip_to = at + 2 + below((uint32_t)(p->count - at - 2));
        p->leads[p->skip_to] = true;
    }
    const size_t end = p->skip_to ? p->skip_to : p->count;
    for (size_t i = at + 2; i < end; i++)
        if (wmi_vector_emitter(&p->steps[i]) && p->steps[i].id >= WMI_STEP_BODIES &&
            (p->steps[i].use[WMI_OP_A] & WMI_USE_KIND) == WMI_USE_ROWS && below(2))
            p->steps[i].a = row;
    p->skip = at + 1;
}

/* Makes a vector step a barrier. */
void make_barrier(struct program *p, size_t at)
{
    if (wmi_vector_emitter(&p->steps[at]) && p->steps[at].id >= WMI_STEP_BODIES)
        p->steps[at] = (struct wmi_step){.id = WMI_STEP_barrier, .c = 3};
}

struct wmi_step set_zero(const struct program *p, uint32_t row)
{
    struct wmi_step step = some_step(p, WMI_STEP_BODIES + WMI_INSN_v_mov_b32);
    step.a = p->code.vector_constant[0].offset;
    step.d = row;
    return step;
}

struct wmi_step set_scalar(uint32_t row, unsigned scalar)
{
    struct wmi_step step = {.id = WMI_STEP_fused_MOVE_SCALAR, .lanes = offsetof(struct wmi_frame, exec)};
    step.a = (uint32_t)offsetof(struct wmi_frame, s) + 4 * scalar;
    step.d = row;
    wmi_step_take_uses(&step);
    return step;
}

void make_uniform(struct program *p)
{
    const size_t count = 2 + below(3); /* a stretch of its own */
    for (size_t i = 0; i < count && i + 2 < p->count; i++)
        p->steps[i] = below(2) ? set_zero(p, some_vgpr(p)) : set_scalar(some_vgpr(p), below(SGPRS));
    p->loop_to = count + 2 < p->count ? count : 0;
}

/* Makes the last steps repeat the program, from step p->loop_to on. */
void make_loop(struct program *p)
{
    const uint32_t counter = (uint32_t)offsetof(struct wmi_frame, s) + 4 * COUNTER;
    p->steps[p->count++] = (struct wmi_step){
        .id = WMI_STEP_BODIES + WMI_INSN_s_add_u32, .d = counter, .a = counter, .b = counter + 4};
    p->steps[p->count++] =
        (struct wmi_step){.id = WMI_STEP_BODIES + WMI_INSN_s_cmp_lg_u32, .a = counter, .b = counter + 8};
    p->steps[p->count++] = (struct wmi_step){.id = WMI_STEP_branch_scc1, .c = 8, .x = (uint32_t)p->loop_to};
    p->leads[p->loop_to] = p->loop_to;
    p->loops = true;
}
