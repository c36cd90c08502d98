/* SPDX-License-Identifier: MIT */
/* Compares compiled accesses to private memory with the bodies that interpret them, between changes of the
 * scalars that they depend on, of EXEC and branches; and computed jumps at the end. */
#include "exec/memory/vmem.h"
#include "memory/buffer.h"
#include "memory/space.h"
#include "unit/jit/jit_program.h"

/* Private memory of two waves, the second one of which is that of the program, and part of what is in front
 * of it. */
enum { DWORDS = 24, PIECE = DWORDS * 4 * 64, STRIDE = 1 << 17, MEMORY_OPS = 24 };
/* Scalars: another address for FLAT_SCRATCH, an offset for it, two V#, offsets, what a buffer step gives to
 * the next one, and the target of a jump. */
enum {
    OTHER_SCRATCH = 0,
    SCRATCH_OFFSET = 2,
    V = 4,
    OTHER_V = 8,
    OFFSET = 12,
    OTHER_OFFSET = 13,
    TEMPORARY = 14,
    TARGET = 16,
    RETURN = 18
};
/* Rows with offsets of lanes. */
enum { OFFSET_ROWS = 2, PLACE_OF_JUMP = 0x123456789abc0 };

static struct {
    struct wmi_space *space;
    struct wmi_worker *worker;
    struct wmi_dispatch dispatch;
    uint64_t address;
    unsigned char *host, initial[3][PIECE], expected[3][PIECE];
    struct wmi_memory_op op[MEMORY_OPS];
    bool is_compiled; /* the next run */
} private;

#define OWN (private.address + STRIDE)

/* What is compared, in the allocation. */
static const struct wmi_extent parts[] = {{0, PIECE}, {STRIDE - PIECE, STRIDE}, {STRIDE, STRIDE + PIECE}};
enum { PARTS = sizeof parts / sizeof *parts };

static void create_memory(void)
{
    struct wm_diag diag;
    const struct wmi_allocation_request request = {.size = 2 * STRIDE};
    private.space = wmi_space_create();
    private.worker = calloc(1, sizeof *private.worker);
    assert_true(private.space && private.worker);
    private.worker->space = private.space;
    private.worker->dispatch = &private.dispatch;
    private.dispatch.goes_on = true; /* after accesses outside of it */
    assert_int_equal(wmi_space_place(private.space, &request, &private.address, &diag), WM_OK);
    private.host = wmi_space_host(private.space, private.address, 1);
    private.dispatch.scratch_base = private.address;
    wmi_space_divide(private.space, private.address, STRIDE, PIECE);
    for (unsigned i = 0; i < PARTS * PIECE; i++)
    private.initial[i / PIECE][i % PIECE] = (unsigned char)random_64();
}

static void destroy_memory(void)
{
    wmi_space_destroy(private.space);
    free(private.worker);
}

static void put_address(uint32_t *words)
{
    const uint64_t address = below(4) ? OWN : below(2) ? OWN - 128 * below(6) : OWN + below(PIECE);
    memcpy(words, &address, sizeof address);
}

/* A V# of the wave's memory, mostly. */
static void put_resource(struct program *p, uint32_t *words)
{
    const struct wmi_buffer_rules *rules = private.op[0].buffer;
    const uint64_t base = below(4)   ? OWN
                          : below(3) ? OWN + 4 * 64 * below(8)
                          : below(2) ? OWN + below(PIECE)
                                     : OWN - 4 * 64 * below(6);
    wmi_buffer_make_private(rules, below(10) ? p->code.options.lanes : 96 - p->code.options.lanes, base,
                            2 * STRIDE, words);
    if (!below(8)) /* another kind of buffer, or other bits that may have no effect */
        words[1 + 2 * below(2)] ^= 1u << below(32);
}

/* Ids of waves that start: of which v0 grows from lane to lane, and the others are offsets. */
static void fill_ids(struct program *p)
{
    const unsigned lanes = p->code.options.lanes;
    if (below(8))
        set_exec(p->initial, lanes, UINT64_MAX);
    for (unsigned id = 0; id < WMI_START_IDS; id++) {
        uint32_t *row = (uint32_t *)((char *)p->initial + row_at(p, id)), same = 4 * below(DWORDS);
        for (unsigned lane = 0; lane < lanes; lane++) {
            if (p->start_code == WMI_LAUNCH_STRIPS && lane % 16 == 0 && below(2))
                same = 4 * below(DWORDS);
            row[lane] = id ? same : lane;
        }
        for (unsigned i = 0; i < 16; i++)
            p->initial->compiled.id_bases[id][i] = row[16 * i % lanes];
    }
}

static void fill_private(struct program *p)
{
    const unsigned lanes = p->code.options.lanes;
    struct wmi_frame *frame = p->initial;
    p->wave.worker = frame->worker = private.worker;
    private.dispatch.scratch_bytes = below(4) ? 2 * STRIDE : 0; /* 0: scratch of the program's own */
    if (below(10)) {
        frame->private_low = OWN;
        frame->private_host = (uintptr_t)private.host + STRIDE;
        frame->private_bytes = below(10) ? PIECE : below(PIECE) / 64 * 64; /* a part is allowed, too */
    }
    frame->compiled.private_found = random_64(); /* of a wave that was here before */
    put_resource(p, &frame->s[V]);
    put_resource(p, &frame->s[OTHER_V]);
    frame->s[OFFSET] = below(3) ? 4 * 64 * below(6) : below(6) ? 0 : below(2) ? (uint32_t)-STRIDE : word();
    frame->s[OTHER_OFFSET] = below(3) ? 0 : below(PIECE / 2);
    put_address(&frame->s[WMI_S_FLAT_SCRATCH]);
    put_address(&frame->s[OTHER_SCRATCH]);
    frame->s[SCRATCH_OFFSET] = below(8) ? 4 * below(DWORDS / 2) : below(2) ? below(4 * DWORDS) : word();
    if (p->starts)
        fill_ids(p);
    for (unsigned i = 0; i < OFFSET_ROWS && !p->starts; i++) {
        uint32_t *row = (uint32_t *)((char *)frame + row_at(p, i));
        const uint32_t kind = below(6), same = 4 * below(DWORDS), odd = below(lanes);
        for (unsigned lane = 0; lane < lanes; lane++)
            row[lane] = kind < 2    ? same
                        : kind == 2 ? 4 * below(DWORDS)
                        : kind == 3 ? same + 4 * (lane == odd)
                        : kind == 4 ? same + (lane == odd ? word() : 0)
                                    : same + 4 * (lane / 16 % 2);
        for (unsigned lane = 0; lane < lanes; lane++)
            if (below(2) && !(frame->exec.bits >> lane & 1))
                row[lane] = word();
    }
    private.is_compiled = false;
}

static void start_private(struct program *p)
{
    const uint64_t place = PLACE_OF_JUMP | (p->mode.mode >> WMI_MODE_STATE_SHIFT & WMI_STATE_BITS);
    memset(private.worker->hits, 0, sizeof private.worker->hits);
    private.worker->jumps[wmi_jump_index(place)] =
        (struct wmi_jump){place, &(private.is_compiled ? p->compiled : p->interpreted)[p->count]};
    private.is_compiled = true;
    for (unsigned i = 0; i < PARTS; i++)
        memcpy(private.host + parts[i].from, private.initial[i], PIECE);
}

static void keep_private(struct program *p)
{
    (void)p;
    for (unsigned i = 0; i < PARTS; i++)
        memcpy(private.expected[i], private.host + parts[i].from, PIECE);
}

static void compare_private(struct program *p)
{
    for (unsigned i = 0; i < PARTS; i++)
        if (memcmp(private.expected[i], private.host + parts[i].from, PIECE)) {
            describe(p);
            fail_msg("the private memory differs");
        }
}

static const struct accessed_memory accessed = {fill_private, start_private, keep_private, compare_private};

static uint32_t scalar(unsigned number)
{
    return (uint32_t)offsetof(struct wmi_frame, s) + 4 * number;
}

static uint32_t free_rows(const struct program *p, unsigned rows)
{
    return row_at(p, OFFSET_ROWS + below(VGPRS - OFFSET_ROWS - rows + 1));
}

/* ---- programs ---- */

#define SHAPE(name) {WMI_STEP_buffer_##name, WMI_STEP_global_##name##_SADDR}
static const struct {
    uint16_t buffer, linear;
} shapes[] = {
    SHAPE(LOAD_1x4_000), SHAPE(STORE_1x4_000), SHAPE(LOAD_1x4_000),  SHAPE(STORE_1x4_000),
    SHAPE(LOAD_1x4_000), SHAPE(STORE_1x4_000), SHAPE(LOAD_2x4_000),  SHAPE(STORE_2x4_000),
    SHAPE(LOAD_3x4_000), SHAPE(STORE_3x4_000), SHAPE(LOAD_4x4_000),  SHAPE(STORE_4x4_000),
    SHAPE(LOAD_1x1_100), SHAPE(STORE_1x1_000), SHAPE(STORE_1x2_000), SHAPE(LOAD_1x2_000),
};

/* A buffer step, and the one for linear buffers behind it. */
static void add_access(struct program *p, unsigned number)
{
    const unsigned shape = below(sizeof shapes / sizeof *shapes);
    const char *name = wmi_step_facts_of((enum wmi_step_id)shapes[shape].buffer).name, *x = strchr(name, 'x');
    const bool loads = contains(name, "LOAD");
    const unsigned rows = (unsigned)(x[-1] - '0');
    struct wmi_memory_op *op = &private.op[number];
    *op = (struct wmi_memory_op){.kind = loads ? WMI_ACCESS_LOAD : WMI_ACCESS_STORE,
                                 .path = WMI_PATH_BUFFER,
                                 .address_bits = 48,
                                 .elements = (uint8_t)rows,
                                 .bytes = (uint8_t)(x[1] - '0'),
                                 .is_signed = x[3] == '1',
                                 .hit = number,
                                 .alignment = WMI_ALIGNMENT_UNALIGNED,
                                 .buffer = private.op[0].buffer,
                                 .offset = below(10) ? 4 * below(DWORDS / 2) : below(4 * DWORDS + 8)};
    struct wmi_step step = {.id = shapes[shape].buffer,
                            .lanes = offsetof(struct wmi_frame, exec),
                            .a = row_at(p, below(OFFSET_ROWS)),
                            .b = scalar(below(6) ? V : OTHER_V),
                            .e = scalar(below(6) ? OFFSET : OTHER_OFFSET),
                            .x = scalar(TEMPORARY),
                            .y = WMI_BUFFER_LINEAR | (below(4) ? 0 : WMI_BUFFER_OFFEN) |
                                 (below(12) ? 0 : WMI_BUFFER_IDXEN),
                            .data = op};
    *(loads ? &step.d : &step.c) = loads                   ? free_rows(p, rows)
                                   : rows == 1 && below(2) ? some_row(p)
                                                           : free_rows(p, rows);
    struct wmi_step linear = step;
    linear.id = shapes[shape].linear;
    linear.b = step.x;
    linear.x = WMI_VMEM_SADDR;
    if (step.y & WMI_BUFFER_IDXEN)
        linear.a = (uint32_t)offsetof(struct wmi_frame, rows); /* a temporary one */
    wmi_step_take_uses(&step);
    wmi_step_take_uses(&linear);
    p->steps[p->count++] = step;
    p->steps[p->count++] = linear;
}

/* A step of a SCRATCH instruction. */
static void add_scratch(struct program *p, unsigned number)
{
    static const uint8_t bytes[] = {4, 4, 4, 2, 1};
    const bool loads = below(2), scalar_only = below(3);
    struct wmi_memory_op *op = &private.op[number];
    *op = (struct wmi_memory_op){.kind = loads ? WMI_ACCESS_LOAD : WMI_ACCESS_STORE,
                                 .path = WMI_PATH_SCRATCH,
                                 .address_bits = 48,
                                 .elements = 1,
                                 .bytes = bytes[below(5)],
                                 .hit = number,
                                 .alignment = WMI_ALIGNMENT_UNALIGNED,
                                 .buffer = private.op[0].buffer,
                                 .offset =
                                     below(10) ? (int)(4 * below(DWORDS / 2)) : (int)below(4 * DWORDS) - 20};
    if (op->bytes == 4 && !below(3))
        op->elements = (uint8_t)(1 + below(4));
    struct wmi_step step = {.id = WMI_STEP_vmem_careful,
                            .lanes = offsetof(struct wmi_frame, exec),
                            .a = scalar_only ? p->code.vector_constant[0].offset
                                             : row_at(p, below(OFFSET_ROWS)),
                            .b = scalar(below(12) ? SCRATCH_OFFSET : V),
                            .x = WMI_VMEM_SCRATCH,
                            .y = scalar_only ? WMI_VMEM_SCALAR_ONLY : 0,
                            .data = op};
    *(loads ? &step.d : &step.c) = free_rows(p, op->elements);
    wmi_step_take_uses(&step);
    p->steps[p->count++] = step;
}

static void add_move(struct program *p, enum wmi_insn_id id, unsigned to, unsigned from)
{
    struct wmi_step *step = &p->steps[p->count++];
    *step = some_step(p, (enum wmi_step_id)(WMI_STEP_BODIES + id));
    step->d = scalar(to);
    step->a = scalar(from);
}

/* A change of the scalars that accesses depend on. */
static void change_scalars(struct program *p)
{
    const unsigned pair = 2 * below(2);
    switch (below(7)) {
    case 4:
        add_move(p, WMI_INSN_s_mov_b64, WMI_S_FLAT_SCRATCH, OTHER_SCRATCH);
        break;
    case 5:
        add_move(p, WMI_INSN_s_addk_i32, SCRATCH_OFFSET, SCRATCH_OFFSET);
        p->steps[p->count - 1].x = 4 * below(4);
        break;
    case 0:
        add_move(p, WMI_INSN_s_mov_b32, OFFSET, OTHER_OFFSET);
        break;
    case 1:
        add_move(p, WMI_INSN_s_mov_b64, V + pair, OTHER_V + pair);
        break;
    case 2:
        add_move(p, WMI_INSN_s_mov_b32, V + below(4), OTHER_V + below(4));
        break;
    default:
        add_move(p, WMI_INSN_s_addk_i32, OFFSET, OFFSET);
        p->steps[p->count - 1].x = 256 * below(4);
        break;
    }
}

static void compute(struct program *p)
{
    static const uint16_t steps[] = {WMI_STEP_BODIES + WMI_INSN_v_add_u32,
                                     WMI_STEP_BODIES + WMI_INSN_v_xor_b32,
                                     WMI_STEP_BODIES + WMI_INSN_v_mov_b32, WMI_STEP_fused_MOVE_SCALAR};
    struct wmi_step *step = &p->steps[p->count++];
    *step = some_step(p, (enum wmi_step_id)steps[below(4)]);
    step->d = free_rows(p, 1);
}

/* Moves between a scalar and a lane that is a constant of the program, or of the step before. */
static void move_lane(struct program *p)
{
    const uint32_t constants = (uint32_t)offsetof(struct wmi_frame, constant),
                   lane = below(4) ? constants + 8 * below(2) : scalar(20);
    const bool writes = below(2);
    if (!p->code.scalar_constants) {
        p->code.scalar_constants = 1;
        p->code.scalar_constant[0] = below(100);
    }
    if (lane != constants) {
        struct wmi_step *step = &p->steps[p->count++];
        *step = (struct wmi_step){.id = WMI_STEP_constant, .d = lane, .value = below(8) ? below(64) : word()};
        wmi_step_take_uses(step);
    }
    if (lane == scalar(20) && below(2))
        add_move(p, WMI_INSN_s_mov_b32, 20, 21 + below(3));
    for (unsigned more = 1 + below(2); more; more--) {
        struct wmi_step *step = &p->steps[p->count++];
        *step = some_step(p, (enum wmi_step_id)(WMI_STEP_BODIES + (writes ? WMI_INSN_v_writelane_b32
                                                                          : WMI_INSN_v_readlane_b32)));
        step->b = lane;
        *(writes ? &step->d : &step->a) = free_rows(p, 1);
        *(writes ? &step->a : &step->d) = scalar(20 + below(4));
    }
    if (below(2)) { /* reads or writes what may have been stored in two parts */
        static const uint16_t pairs[] = {WMI_INSN_s_or_b64, WMI_INSN_s_andn2_b64, WMI_INSN_s_mov_b64,
                                         WMI_INSN_s_cmp_lg_u64, WMI_INSN_s_not_b64};
        add_move(p, (enum wmi_insn_id)pairs[below(5)], 20 + 2 * below(2), 20 + 2 * below(2));
        p->steps[p->count - 1].b = scalar(20 + 2 * below(2));
    }
}

static void add_exec(struct program *p, enum wmi_insn_id narrow, enum wmi_insn_id wide, unsigned to,
                     unsigned from)
{
    add_move(p, p->code.options.lanes == 64 ? wide : narrow, to, from);
    p->steps[p->count++] =
        (struct wmi_step){.id = WMI_STEP_stage_EXEC, .lanes = offsetof(struct wmi_frame, exec)};
}

enum { SAVED = 22 };

/* A branch ahead, which waves may take. The steps up to where it leads are added later. In waves that start,
 * it may lead past the way of those lanes that are not active. */
static void add_branch(struct program *p)
{
    static const uint16_t branches[] = {WMI_STEP_branch_execz, WMI_STEP_branch_scc1, WMI_STEP_branch_scc0};
    const bool second_way = p->starts && below(4);
    if (second_way)
        add_exec(p, WMI_INSN_s_andn2_saveexec_b32, WMI_INSN_s_andn2_saveexec_b64, SAVED, WMI_S_EXEC);
    p->skip = p->count;
    if (second_way) {
        p->steps[p->count++] = (struct wmi_step){.id = branches[0], .c = 8};
        return;
    }
    p->steps[p->count++] = (struct wmi_step){.id = branches[below(3)], .c = 8};
}

/* All lanes that were active in front of the branch may be so again. */
static void land_branch(struct program *p)
{
    p->leads[p->skip_to = p->count] = true;
    if (p->starts)
        add_exec(p, WMI_INSN_s_mov_b32, WMI_INSN_s_mov_b64, WMI_S_EXEC, SAVED);
}

static void end_with_jump(struct program *p)
{
    p->steps[p->count++] = (struct wmi_step){
        .id = WMI_STEP_constant, .d = scalar(TARGET), .value = PLACE_OF_JUMP + (below(10) ? 0 : below(4))};
    struct wmi_step jump = {.id = below(2) ? WMI_STEP_set_pc : WMI_STEP_swap_pc,
                            .a = scalar(TARGET),
                            .d = scalar(below(2) ? RETURN : TARGET),
                            .c = 1 + below(2 * TURN),
                            .value = random_64()};
    wmi_step_take_uses(&jump);
    p->steps[p->count++] = jump;
}

static void test_private(void **state)
{
    enum { GFX9 = 2, ALL_RULES = 5, LONGEST = 9 /* steps that are added at once */ };
    (void)state;
    const unsigned sequences = 2 * (reduced() ? REDUCED_SEQUENCES : SEQUENCES);
    create_memory();
    for (unsigned i = 0; i < sequences; i++) {
        struct program p;
        create(&p, below(8) ? 64 : 32);
        p.accessed = &accessed;
        p.starts = !below(4);
        p.start_code = (enum wmi_launch_code)below(WMI_LAUNCHES);
        p.stays = below(2);
        choose_mode(&p);
        private.op[0].buffer = wmi_buffer_rules(below(8) ? GFX9 : below(ALL_RULES));
        if (!below(8))
            p.mode.mode |= below(4) << WMI_MODE_STATE_SHIFT;
        const uint32_t buffers = below(3) ? (below(2) ? 16 : 0) : 8; /* of 16 accesses */
        compute(&p);                                                 /* a stretch of at least two steps */
        compute(&p);
        const size_t branch = below(2) ? 4 + below(30) : MOST_STEPS;
        const size_t loop = below(3) ? MOST_STEPS : 2 + below(20);
        for (unsigned accesses = 0; accesses < MEMORY_OPS && p.count + 2 * LONGEST < MOST_STEPS;) {
            if (!p.skip && p.count >= branch)
                add_branch(&p);
            else if (p.skip && !p.skip_to && p.count > p.skip + 6)
                land_branch(&p);
            if (!p.loop_to && p.count >= loop && p.count > p.skip_to)
                p.loop_to = p.count;
            if (below(3))
                (below(16) < buffers ? add_access : add_scratch)(&p, accesses++);
            else if (!below(3))
                change_scalars(&p);
            else if (!below(2))
                move_lane(&p);
            else
                compute(&p);
            if (!below(12)) {
                change_exec(&p, p.count);
                p.count += 2;
            }
            if (!below(40))
                break;
        }
        if (p.skip && !p.skip_to)
            land_branch(&p);
        if (!p.starts && !below(3))
            make_loop(&p);
        else if (!p.starts && below(2) && p.count + 1 < MOST_STEPS)
            end_with_jump(&p);
        check(&p, 4);
        destroy(&p);
    }
    destroy_memory();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_private),
    };
    if (!wmi_can_compile(wmi_cpu_level()))
        return 77; /* skipped: the host has neither AVX-512 nor AVX2 */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
