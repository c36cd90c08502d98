/* SPDX-License-Identifier: MIT */
/* Host code of scalar steps. Scalar registers stay in the frame. */
#include "jit/scalar_memory.h"

#define PLACE(slot) ((int32_t)(offsetof(struct wmi_frame, s) + 4 * (slot)))

enum scalar_flag {
    WIDE = 1 << 0, /* 64 bits */
    SETS_SCC = 1 << 1,
    IMMEDIATE = 1 << 2,          /* b is x */
    IMMEDIATE_UNSIGNED = 1 << 3, /* the low half of x */
    NOT_A = 1 << 4,              /* of those that save EXEC: what is combined is inverted before */
    NOT_EXEC = 1 << 5,
};

struct scalar_recipe {
    wmi_emit_step *emit;
    uint16_t host; /* opcode or digit */
    uint8_t condition, flags;
};

static const struct scalar_recipe *recipe_of(const struct wmi_step *step);

/* Into another register than RCX, which it may change. */
static void load(struct wmi_stretch *s, bool wide, enum wmi_gpr reg, uint32_t place)
{
    if (wide && reg != WMI_RCX)
        wmi_scalars_load_pair(s, reg, place);
    else
        wmi_scalar_memory(&s->host, WMI_MOV_LOAD, wide, reg, WMI_FRAME, (int32_t)place);
}

static void store(struct wmi_stretch *s, bool wide, enum wmi_gpr reg, uint32_t place)
{
    wmi_scalar_memory(&s->host, WMI_MOV_STORE, wide, reg, WMI_FRAME, (int32_t)place);
}

/* SCC = condition, if something may read it. Changes ECX. */
static void set_scc(struct wmi_stretch *s, enum wmi_condition condition)
{
    if (wmi_stretch_drops_scc(s))
        return;
    wmi_set_if(&s->host, condition, WMI_RCX);
    wmi_scalar_memory(&s->host, WMI_MOV_STORE, false, WMI_RCX, WMI_FRAME, PLACE(WMI_S_SCC));
}

static void test(struct wmi_stretch *s, bool wide, enum wmi_gpr reg)
{
    wmi_scalar_registers(&s->host, WMI_TEST, wide, reg, reg);
}

/* RAX has been stored as EXEC: what comes next need not load it. */
static void note_exec(struct wmi_stretch *s, bool wide)
{
    if (wide == (s->lanes == 64))
        s->exec_in_rax = s->host.count;
}

/* RAX = RAX with b, or with the immediate. */
static void with_b(struct wmi_stretch *s, const struct wmi_step *step, const struct scalar_recipe *recipe)
{
    const bool wide = recipe->flags & WIDE;
    if (recipe->flags & (IMMEDIATE | IMMEDIATE_UNSIGNED)) {
        wmi_move_immediate(&s->host, WMI_RCX, recipe->flags & IMMEDIATE ? step->x : (uint16_t)step->x);
        wmi_scalar_registers(&s->host, recipe->host, wide, WMI_RAX, WMI_RCX);
    } else if (wide && !wmi_scalars_are_together(s, step->b)) {
        load(s, wide, WMI_R8, step->b);
        wmi_scalar_registers(&s->host, recipe->host, wide, WMI_RAX, WMI_R8);
    } else {
        wmi_scalar_memory(&s->host, recipe->host, wide, WMI_RAX, WMI_FRAME, (int32_t)step->b);
    }
}

/* d = a with b; SCC = condition. s_addk and s_mulk: d = d with x. */
static bool emit_two(struct wmi_stretch *s, const struct wmi_step *step)
{
    const struct scalar_recipe *recipe = recipe_of(step);
    const bool wide = recipe->flags & WIDE;
    load(s, wide, WMI_RAX, recipe->flags & IMMEDIATE ? step->d : step->a);
    with_b(s, step, recipe);
    store(s, wide, WMI_RAX, step->d);
    if (recipe->flags & SETS_SCC)
        set_scc(s, (enum wmi_condition)recipe->condition);
    if (step->d == (uint32_t)PLACE(WMI_S_EXEC))
        note_exec(s, wide);
    return true;
}

/* The same with SCC as carry in. */
static bool emit_carry(struct wmi_stretch *s, const struct wmi_step *step)
{
    enum { NEGATE = 0xf7, NEGATE_DIGIT = 3 };
    wmi_scalar_memory(&s->host, WMI_MOV_LOAD, false, WMI_RCX, WMI_FRAME, PLACE(WMI_S_SCC));
    wmi_scalar_registers(&s->host, NEGATE, false, NEGATE_DIGIT, WMI_RCX); /* CF = SCC */
    return emit_two(s, step);
}

/* d = a with NOT b; SCC = d is not zero. */
static bool emit_with_not(struct wmi_stretch *s, const struct wmi_step *step)
{
    enum { NOT = 0xf7, NOT_DIGIT = 2 };
    const struct scalar_recipe *recipe = recipe_of(step);
    const bool wide = recipe->flags & WIDE;
    load(s, wide, WMI_RAX, step->b);
    wmi_scalar_registers(&s->host, NOT, wide, NOT_DIGIT, WMI_RAX);
    wmi_scalar_memory(&s->host, recipe->host, wide, WMI_RAX, WMI_FRAME, (int32_t)step->a);
    store(s, wide, WMI_RAX, step->d);
    set_scc(s, WMI_IF_NOT_EQUAL);
    if (step->d == (uint32_t)PLACE(WMI_S_EXEC))
        note_exec(s, wide);
    return true;
}

static bool emit_not(struct wmi_stretch *s, const struct wmi_step *step)
{
    enum { NOT = 0xf7, NOT_DIGIT = 2 };
    const bool wide = recipe_of(step)->flags & WIDE;
    load(s, wide, WMI_RAX, step->a);
    wmi_scalar_registers(&s->host, NOT, wide, NOT_DIGIT, WMI_RAX);
    store(s, wide, WMI_RAX, step->d);
    test(s, wide, WMI_RAX);
    set_scc(s, WMI_IF_NOT_EQUAL);
    return true;
}

/* The recipe's instruction is a digit: 4 left, 5 right, 7 signed. The host, too, takes the amount modulo the
 * size. */
static bool emit_shift(struct wmi_stretch *s, const struct wmi_step *step)
{
    enum { SHIFT = 0xd3 };
    const struct scalar_recipe *recipe = recipe_of(step);
    const bool wide = recipe->flags & WIDE;
    load(s, wide, WMI_RAX, step->a);
    load(s, false, WMI_RCX, step->b);
    wmi_scalar_registers(&s->host, SHIFT, wide, recipe->host, WMI_RAX);
    store(s, wide, WMI_RAX, step->d);
    test(s, wide, WMI_RAX);
    set_scc(s, WMI_IF_NOT_EQUAL);
    return true;
}

static bool emit_multiply_high(struct wmi_stretch *s, const struct wmi_step *step)
{
    load(s, false, WMI_RAX, step->a);
    load(s, false, WMI_RCX, step->b);
    wmi_scalar_registers(&s->host, WMI_IMUL, true, WMI_RAX, WMI_RCX);
    wmi_shift_immediate(&s->host, 5, true, WMI_RAX, 32);
    store(s, false, WMI_RAX, step->d);
    return true;
}

static bool emit_compare(struct wmi_stretch *s, const struct wmi_step *step)
{
    const struct scalar_recipe *recipe = recipe_of(step);
    load(s, recipe->flags & WIDE, WMI_RAX, step->a);
    with_b(s, step, recipe);
    set_scc(s, (enum wmi_condition)recipe->condition);
    return true;
}

/* d = condition ? a : b, and SCC = condition of a and b. */
static bool emit_choose(struct wmi_stretch *s, const struct wmi_step *step)
{
    enum { NOT = 1 }; /* of a condition */
    const struct scalar_recipe *recipe = recipe_of(step);
    load(s, false, WMI_RAX, step->a);
    wmi_scalar_memory(&s->host, WMI_CMP, false, WMI_RAX, WMI_FRAME, (int32_t)step->b);
    wmi_scalar_memory(&s->host, WMI_CMOV + (recipe->condition ^ NOT), false, WMI_RAX, WMI_FRAME,
                      (int32_t)step->b);
    set_scc(s, (enum wmi_condition)recipe->condition);
    store(s, false, WMI_RAX, step->d);
    return true;
}

/* d = SCC ? a : b */
static bool emit_select(struct wmi_stretch *s, const struct wmi_step *step)
{
    const bool wide = recipe_of(step)->flags & WIDE;
    load(s, wide, WMI_RAX, step->b);
    wmi_arithmetic_memory(&s->host, 7, false, WMI_FRAME, PLACE(WMI_S_SCC), 0);
    wmi_scalar_memory(&s->host, WMI_CMOV + WMI_IF_NOT_EQUAL, wide, WMI_RAX, WMI_FRAME, (int32_t)step->a);
    store(s, wide, WMI_RAX, step->d);
    return true;
}

static bool emit_copy(struct wmi_stretch *s, const struct wmi_step *step)
{
    const bool wide = recipe_of(step)->flags & WIDE;
    load(s, wide, WMI_RAX, step->a);
    store(s, wide, WMI_RAX, step->d);
    return true;
}

static bool emit_immediate(struct wmi_stretch *s, const struct wmi_step *step)
{
    wmi_move_immediate(&s->host, WMI_RAX, step->x);
    store(s, false, WMI_RAX, step->d);
    return true;
}

static bool emit_constant(struct wmi_stretch *s, const struct wmi_step *step)
{
    wmi_move_immediate(&s->host, WMI_RAX, step->value);
    store(s, true, WMI_RAX, step->d);
    return true;
}

static bool emit_take_bit(struct wmi_stretch *s, const struct wmi_step *step)
{
    load(s, false, WMI_RAX, step->a);
    wmi_arithmetic_immediate(&s->host, 4, false, WMI_RAX, 1);
    wmi_scalar_memory(&s->host, WMI_MOV_STORE, false, WMI_RAX, WMI_FRAME, PLACE(WMI_S_SCC));
    return true;
}

/* Whether the EXEC words say that all lanes are active, as they do in code for such waves where each step
 * that changes them is followed by the one that makes them valid. */
static bool has_all_lanes(const struct wmi_stretch *s, size_t at)
{
    return !s->partial && at + 1 < s->block->count && s->block->steps[at + 1].id == WMI_STEP_stage_EXEC;
}

bool wmi_exec_stays_full(const struct wmi_stretch *s, size_t at)
{
    const unsigned or = s->lanes == 64 ? WMI_INSN_s_or_saveexec_b64 : WMI_INSN_s_or_saveexec_b32;
    return s->block->steps[at].id == WMI_STEP_BODIES + or && has_all_lanes(s, at);
}

/* d = EXEC; EXEC = a with EXEC; SCC = EXEC is not zero. */
static bool emit_save_exec(struct wmi_stretch *s, const struct wmi_step *step)
{
    enum { XOR_DIGIT = 6 };
    const struct scalar_recipe *recipe = recipe_of(step);
    const bool wide = recipe->flags & WIDE;
    const bool takes_a = recipe->host == WMI_AND && !(recipe->flags & (NOT_A | NOT_EXEC));
    if (wmi_exec_stays_full(s, s->at)) {
        wmi_store_immediate(&s->host, wide, WMI_FRAME, (int32_t)step->d, -1);
        if (!wmi_stretch_drops_scc(s))
            wmi_store_immediate(&s->host, false, WMI_FRAME, PLACE(WMI_S_SCC), 1);
        return true;
    }
    load(s, wide, WMI_RAX, step->a);
    if (takes_a && wide == (s->lanes == 64) && has_all_lanes(s, s->at)) {
        wmi_store_immediate(&s->host, wide, WMI_FRAME, (int32_t)step->d, -1);
        store(s, wide, WMI_RAX, (uint32_t)PLACE(WMI_S_EXEC));
        if (!wmi_stretch_drops_scc(s))
            test(s, wide, WMI_RAX);
        set_scc(s, WMI_IF_NOT_EQUAL);
        note_exec(s, wide);
        return true;
    }
    load(s, wide, WMI_RCX, (uint32_t)PLACE(WMI_S_EXEC));
    store(s, wide, WMI_RCX, step->d);
    if (recipe->flags & NOT_A)
        wmi_arithmetic_immediate(&s->host, XOR_DIGIT, wide, WMI_RAX, -1);
    if (recipe->flags & NOT_EXEC)
        wmi_arithmetic_immediate(&s->host, XOR_DIGIT, wide, WMI_RCX, -1);
    wmi_scalar_registers(&s->host, recipe->host, wide, WMI_RAX, WMI_RCX);
    store(s, wide, WMI_RAX, (uint32_t)PLACE(WMI_S_EXEC));
    set_scc(s, WMI_IF_NOT_EQUAL);
    note_exec(s, wide);
    return true;
}

/* Subtracts the instructions of a block from the wave's turn. */
static bool emit_count(struct wmi_stretch *s, const struct wmi_step *step)
{
    wmi_arithmetic_memory(&s->host, 5, true, WMI_FRAME, (int32_t)offsetof(struct wmi_frame, left),
                          (int32_t)step->c);
    return true;
}

/* ---- what the profile counts ---- */

static void load_wave(struct wmi_stretch *s)
{
    load(s, true, WMI_RAX, offsetof(struct wmi_frame, wave));
}

/* Counts an execution of the block and its active lanes. The first one is left to the step, which reports it.
 */
static void count_block(struct wmi_stretch *s, const struct wmi_step *step)
{
    enum { ADD = 0, CMP = 7 };
    const struct wmi_compile_layout *layout = s->block->layout;
    const int32_t counter = (int32_t)(step->x * sizeof(struct wmi_block_counter)),
                  times = counter + (int32_t)offsetof(struct wmi_block_counter, times),
                  lanes = counter + (int32_t)offsetof(struct wmi_block_counter, lanes);
    load_wave(s);
    wmi_scalar_memory(&s->host, WMI_MOV_LOAD, true, WMI_RAX, WMI_RAX, (int32_t)layout->wave_worker);
    wmi_scalar_memory(&s->host, WMI_MOV_LOAD, true, WMI_RAX, WMI_RAX, (int32_t)layout->worker_blocks);
    wmi_arithmetic_memory(&s->host, CMP, true, WMI_RAX, times, 0);
    wmi_stretch_exit_if(s, WMI_IF_EQUAL);
    wmi_arithmetic_memory(&s->host, ADD, true, WMI_RAX, times, 1);
    if (s->partial) {
        wmi_stretch_count_active(s, WMI_RCX);
        wmi_scalar_memory(&s->host, WMI_ADD_STORE, true, WMI_RCX, WMI_RAX, lanes);
    } else {
        wmi_arithmetic_memory(&s->host, ADD, true, WMI_RAX, lanes, (int32_t)s->lanes);
    }
}

static bool emit_count_block(struct wmi_stretch *s, const struct wmi_step *step)
{
    count_block(s, step);
    wmi_stretch_come_back(s);
    return true;
}

/* The wait counters at the end of the block, eight bytes, from those at its start. */
static bool emit_pass_block(struct wmi_stretch *s, const struct wmi_step *step)
{
    const uint32_t vmovq_load = WMI_EVEX_OF(0x7e, WMI_MAP_0F, WMI_PREFIX_F3, 1, 3) | WMI_EVEX_128,
                   vmovq_store = WMI_EVEX_OF(0xd6, WMI_MAP_0F, WMI_PREFIX_66, 1, 3) | WMI_EVEX_128,
                   vmovq_gpr = WMI_EVEX_OF(0x6e, WMI_MAP_0F, WMI_PREFIX_66, 1, 3) | WMI_EVEX_128,
                   vpaddusb = WMI_EVEX(0xdc, WMI_MAP_0F, WMI_PREFIX_66, 0) | WMI_EVEX_128,
                   vpminub = WMI_EVEX(0xda, WMI_MAP_0F, WMI_PREFIX_66, 0) | WMI_EVEX_128;
    const struct wmi_compile_layout *layout = s->block->layout;
    const struct wmi_host_operand counters = wmi_at(WMI_RAX, (int32_t)layout->wave_counters);
    const unsigned sums = wmi_stretch_register(s), limits = wmi_stretch_register(s);
    load_wave(s);
    wmi_evex_plain(&s->host, vmovq_load, sums, 0, counters);
    wmi_evex_plain(&s->host, vmovq_store, sums, 0, wmi_at(WMI_RAX, (int32_t)layout->wave_entered));
    wmi_move_immediate(&s->host, WMI_RCX, step->value);
    wmi_evex_plain(&s->host, vmovq_gpr, limits, 0, wmi_zmm(WMI_RCX));
    wmi_evex_plain(&s->host, vpaddusb, sums, sums, wmi_zmm(limits));
    wmi_move_immediate(&s->host, WMI_RCX, step->a | (uint64_t)step->b << 32);
    wmi_evex_plain(&s->host, vmovq_gpr, limits, 0, wmi_zmm(WMI_RCX));
    wmi_evex_plain(&s->host, vpminub, sums, sums, wmi_zmm(limits));
    wmi_evex_plain(&s->host, vmovq_store, sums, 0, counters);
    return true;
}

static bool emit_count_and_pass_block(struct wmi_stretch *s, const struct wmi_step *step)
{
    count_block(s, step);
    emit_pass_block(s, step);
    wmi_stretch_come_back(s);
    return true;
}

static bool emit_nothing(struct wmi_stretch *s, const struct wmi_step *step)
{
    (void)s;
    (void)step;
    return true;
}

/* ---- the table ---- */

#define BODY_OF(name, ...) [WMI_STEP_BODIES + WMI_INSN_##name] = {__VA_ARGS__}
#define LOGIC(name, emit, host)                                                                              \
    BODY_OF(name##_b32, emit, host, WMI_IF_NOT_EQUAL, SETS_SCC),                                             \
        BODY_OF(name##_b64, emit, host, WMI_IF_NOT_EQUAL, SETS_SCC | WIDE)
#define COMPARE(name, condition)      BODY_OF(s_cmp_##name, emit_compare, WMI_CMP, condition)
#define COMPARE_K(name, condition, k) BODY_OF(s_cmpk_##name, emit_compare, WMI_CMP, condition, k)

#define SAVE_EXEC(name, host, flags)                                                                         \
    BODY_OF(s_##name##_saveexec_b32, emit_save_exec, host, 0, flags),                                        \
        BODY_OF(s_##name##_saveexec_b64, emit_save_exec, host, 0, WIDE | (flags))

static const struct scalar_recipe recipes[WMI_STEP_COUNT] = {
    BODY_OF(s_add_u32, emit_two, WMI_ADD, WMI_IF_BELOW, SETS_SCC),
    BODY_OF(s_sub_u32, emit_two, WMI_SUB, WMI_IF_BELOW, SETS_SCC),
    BODY_OF(s_add_i32, emit_two, WMI_ADD, WMI_IF_OVERFLOW, SETS_SCC),
    BODY_OF(s_sub_i32, emit_two, WMI_SUB, WMI_IF_OVERFLOW, SETS_SCC),
    BODY_OF(s_addc_u32, emit_carry, WMI_ADC, WMI_IF_BELOW, SETS_SCC),
    BODY_OF(s_subb_u32, emit_carry, WMI_SBB, WMI_IF_BELOW, SETS_SCC),
    BODY_OF(s_mul_i32, emit_two, WMI_IMUL),
    BODY_OF(s_mul_hi_u32, emit_multiply_high),
    BODY_OF(s_addk_i32, emit_two, WMI_ADD, WMI_IF_OVERFLOW, SETS_SCC | IMMEDIATE),
    BODY_OF(s_mulk_i32, emit_two, WMI_IMUL, 0, IMMEDIATE),
    BODY_OF(s_min_i32, emit_choose, 0, WMI_IF_LESS),
    BODY_OF(s_max_i32, emit_choose, 0, WMI_IF_GREATER),
    BODY_OF(s_min_u32, emit_choose, 0, WMI_IF_BELOW),
    BODY_OF(s_max_u32, emit_choose, 0, WMI_IF_ABOVE),
    LOGIC(s_and, emit_two, WMI_AND),
    LOGIC(s_or, emit_two, WMI_OR),
    LOGIC(s_xor, emit_two, WMI_XOR),
    LOGIC(s_andn2, emit_with_not, WMI_AND),
    LOGIC(s_orn2, emit_with_not, WMI_OR),
    LOGIC(s_not, emit_not, 0),
    BODY_OF(s_lshl_b32, emit_shift, 4),
    BODY_OF(s_lshl_b64, emit_shift, 4, 0, WIDE),
    BODY_OF(s_lshr_b32, emit_shift, 5),
    BODY_OF(s_lshr_b64, emit_shift, 5, 0, WIDE),
    BODY_OF(s_ashr_i32, emit_shift, 7),
    BODY_OF(s_ashr_i64, emit_shift, 7, 0, WIDE),
    BODY_OF(s_mov_b32, emit_copy),
    BODY_OF(s_mov_b64, emit_copy, 0, 0, WIDE),
    BODY_OF(s_movk_i32, emit_immediate),
    BODY_OF(s_cselect_b32, emit_select),
    BODY_OF(s_cselect_b64, emit_select, 0, 0, WIDE),
    COMPARE(eq_i32, WMI_IF_EQUAL),
    COMPARE(lg_i32, WMI_IF_NOT_EQUAL),
    COMPARE(gt_i32, WMI_IF_GREATER),
    COMPARE(ge_i32, WMI_IF_NOT_LESS),
    COMPARE(lt_i32, WMI_IF_LESS),
    COMPARE(le_i32, WMI_IF_NOT_GREATER),
    COMPARE(eq_u32, WMI_IF_EQUAL),
    COMPARE(lg_u32, WMI_IF_NOT_EQUAL),
    COMPARE(gt_u32, WMI_IF_ABOVE),
    COMPARE(ge_u32, WMI_IF_NOT_BELOW),
    COMPARE(lt_u32, WMI_IF_BELOW),
    COMPARE(le_u32, WMI_IF_NOT_ABOVE),
    BODY_OF(s_cmp_eq_u64, emit_compare, WMI_CMP, WMI_IF_EQUAL, WIDE),
    BODY_OF(s_cmp_lg_u64, emit_compare, WMI_CMP, WMI_IF_NOT_EQUAL, WIDE),
    COMPARE_K(eq_i32, WMI_IF_EQUAL, IMMEDIATE),
    COMPARE_K(lg_i32, WMI_IF_NOT_EQUAL, IMMEDIATE),
    COMPARE_K(gt_i32, WMI_IF_GREATER, IMMEDIATE),
    COMPARE_K(ge_i32, WMI_IF_NOT_LESS, IMMEDIATE),
    COMPARE_K(lt_i32, WMI_IF_LESS, IMMEDIATE),
    COMPARE_K(le_i32, WMI_IF_NOT_GREATER, IMMEDIATE),
    COMPARE_K(eq_u32, WMI_IF_EQUAL, IMMEDIATE_UNSIGNED),
    COMPARE_K(lg_u32, WMI_IF_NOT_EQUAL, IMMEDIATE_UNSIGNED),
    COMPARE_K(gt_u32, WMI_IF_ABOVE, IMMEDIATE_UNSIGNED),
    COMPARE_K(ge_u32, WMI_IF_NOT_BELOW, IMMEDIATE_UNSIGNED),
    COMPARE_K(lt_u32, WMI_IF_BELOW, IMMEDIATE_UNSIGNED),
    COMPARE_K(le_u32, WMI_IF_NOT_ABOVE, IMMEDIATE_UNSIGNED),
    SAVE_EXEC(and, WMI_AND, 0),
    SAVE_EXEC(or, WMI_OR, 0),
    SAVE_EXEC(xor, WMI_XOR, 0),
    SAVE_EXEC(andn1, WMI_AND, NOT_A),
    SAVE_EXEC(andn2, WMI_AND, NOT_EXEC),
    SAVE_EXEC(orn2, WMI_OR, NOT_EXEC),
    [WMI_STEP_constant] = {emit_constant},
    [WMI_STEP_copy_32] = {emit_copy},
    [WMI_STEP_copy_64] = {emit_copy, 0, 0, WIDE},
    [WMI_STEP_take_bit] = {emit_take_bit},
    [WMI_STEP_count] = {emit_count},
    [WMI_STEP_count_block] = {emit_count_block},
    [WMI_STEP_pass_block] = {emit_pass_block},
    [WMI_STEP_count_and_pass_block] = {emit_count_and_pass_block},
    [WMI_STEP_return_to_loop] = {emit_nothing},
    [WMI_STEP_scalar_load_1] = {wmi_scalar_load},
    [WMI_STEP_scalar_load_2] = {wmi_scalar_load},
    [WMI_STEP_scalar_load_3] = {wmi_scalar_load},
    [WMI_STEP_scalar_load_4] = {wmi_scalar_load},
    [WMI_STEP_scalar_load_8] = {wmi_scalar_load},
    [WMI_STEP_scalar_load_16] = {wmi_scalar_load},
};

static const struct scalar_recipe *recipe_of(const struct wmi_step *step)
{
    return &recipes[step->id];
}

wmi_emit_step *wmi_scalar_emitter(const struct wmi_step *step)
{
    return recipes[step->id].emit;
}
