/* SPDX-License-Identifier: MIT */
/* Lowers exports and interpolation. For the latter, parameters are read from LDS into temporary rows, or
 * taken from the lanes of each quad, and the bodies and stages of ordinary vector instructions compute the
 * rest.
 *
 * Sources: Vega ISA, "VINTRP" and "LDS Parameter Reads"; RDNA 3 ISA, "VALU Parameter Interpolation" and "LDS
 * Parameter Loads". */
#include "lower/classes.h"

/* The parameters of an attribute's channel, four dwords each: x, y, z, w. */
enum parameter { P0, P10, P20 };
enum { PARAMETER_DWORDS = 4 };

enum method {
    NO_METHOD,
    MOVE,      /* d = parameter chosen by the slot */
    FIRST,     /* d = P10 * b + P0 */
    FIRST_F16, /* the same of f16 parameters */
    FIRST_LV,  /* the same with P0 in c */
    SECOND,    /* d = P20 * b + d */
    SECOND_F16 /* d.f16 = P20 * b + c */
};

static const uint8_t methods[WMI_INSN_COUNT] = {
    [WMI_INSN_v_interp_mov_f32] = MOVE,       [WMI_INSN_v_interp_p1_f32] = FIRST,
    [WMI_INSN_v_interp_p1ll_f16] = FIRST_F16, [WMI_INSN_v_interp_p1lv_f16] = FIRST_LV,
    [WMI_INSN_v_interp_p2_f32] = SECOND,      [WMI_INSN_v_interp_p2_legacy_f16] = SECOND_F16,
    [WMI_INSN_v_interp_p2_f16] = SECOND_F16,
};

/* An instruction that is being lowered. */
struct lowering {
    struct wmi_builder *b;
    const struct wmi_instruction *insn;
    bool ok;
};

static int32_t field(const struct lowering *l, enum wmi_field name)
{
    return l->insn->field[name];
}

static uint32_t stage(const struct lowering *l, enum wmi_stage id, uint32_t d, uint32_t a, uint32_t x)
{
    struct wmi_step *step = wmi_emit(l->b, wmi_step_of_stage(id));
    step->d = d;
    step->a = a;
    step->x = x;
    return d;
}

/* The body of vector instruction `id` with rows a, b and c; 0: it has no such source. */
static struct wmi_step *body(const struct lowering *l, unsigned id, uint32_t d, uint32_t a, uint32_t b,
                             uint32_t c)
{
    enum { ONE_ROW = WMI_USE_READ | WMI_USE_ROWS | 1 };
    struct wmi_step *step = wmi_emit(l->b, wmi_step_of_body(id));
    step->d = d;
    step->a = a;
    step->b = b;
    step->c = c;
    step->use[WMI_OP_D] = ONE_ROW | WMI_USE_WRITE;
    step->use[WMI_OP_A] = a ? ONE_ROW : 0;
    step->use[WMI_OP_B] = b ? ONE_ROW : 0;
    step->use[WMI_OP_C] = c ? ONE_ROW : 0;
    return step;
}

static uint32_t with_sign(const struct lowering *l, const struct wmi_operand *operand, uint32_t row)
{
    const uint32_t sign = (operand->neg ? WMI_MODIFY_NEG : 0u) | (operand->abs ? WMI_MODIFY_ABS : 0u);
    return sign ? stage(l, WMI_STAGE_MODIFY_F32, wmi_lower_temporary(l->b, 1), row, sign) : row;
}

/* An f32 source with its modifiers. */
static uint32_t source(const struct lowering *l, enum wmi_role role)
{
    const struct wmi_operand *operand = wmi_operand(l->insn, role);
    return with_sign(l, operand, wmi_lower_vector(l->b, operand));
}

static uint32_t widen(const struct lowering *l, uint32_t row, bool high)
{
    return stage(l, WMI_STAGE_WIDEN_F16, wmi_lower_temporary(l->b, 1), row, high);
}

static uint32_t result(struct lowering *l)
{
    const struct wmi_operand *d = wmi_operand(l->insn, WMI_ROLE_D);
    return wmi_lower_vgpr(l->b, d->reg, 1, &l->ok);
}

/* The parameter of the instruction's attribute and channel. */
static uint32_t parameter(const struct lowering *l, enum parameter which)
{
    const uint32_t row = wmi_lower_temporary(l->b, 1);
    struct wmi_step step = {
        .d = row,
        .x = (uint32_t)wmi_operand(l->insn, WMI_ROLE_IMM)->value,
        .y = PARAMETER_DWORDS * which + ((uint32_t)field(l, WMI_FIELD_attr_chan) & 3),
        .lanes = offsetof(struct wmi_frame, exec),
    };
    if (wmi_builder_watches(l->b)) {
        step.data = wmi_builder_memory_op(l->b, l->insn);
        wmi_emit_watch(l->b, WMI_STEP_lds_observe_parameter, &step);
    }
    step.data = NULL;
    wmi_emit_as(l->b, WMI_STEP_lds_read_parameter, &step);
    return row;
}

static void finish_f32(const struct lowering *l, uint32_t d)
{
    if (field(l, WMI_FIELD_omod))
        stage(l, WMI_STAGE_OMOD_F32, d, d, (uint32_t)field(l, WMI_FIELD_omod));
    if (field(l, WMI_FIELD_clamp))
        stage(l, WMI_STAGE_CLAMP_F32, d, d, 0);
}

/* a * b + c, all f32, as f16 into a half of d. The other half is kept. */
static void put_f16(const struct lowering *l, uint32_t d, const uint32_t rows[3], bool high)
{
    body(l, high ? WMI_INSN_v_fma_mixhi_f16 : WMI_INSN_v_fma_mixlo_f16, d, rows[0], rows[1], rows[2])->y =
        field(l, WMI_FIELD_clamp) ? 1 : 0;
}

/* OP_SEL[3], which LLVM 19 does not print, chooses the half that v_interp_p2_f16 writes. Source: Mesa,
 * aco_assembler.cpp and aco_opcodes.py (v_interp_p2_hi_f16). The legacy instruction, gfx8's only
 * one, clears the other half, as other 16-bit instructions of gfx8 do (unverified). */
static void second_f16(struct lowering *l)
{
    enum { OP_SEL_RESULT = 1 << 14 };
    const bool high = field(l, WMI_FIELD_high);
    const uint32_t rows[3] = {widen(l, parameter(l, P20), high), source(l, WMI_ROLE_B),
                              source(l, WMI_ROLE_C)};
    const uint32_t d = result(l);
    if (l->insn->id == WMI_INSN_v_interp_p2_f16) {
        put_f16(l, d, rows, l->insn->words[0] & OP_SEL_RESULT);
        return;
    }
    const uint32_t place = wmi_lower_temporary(l->b, 1);
    body(l, WMI_INSN_v_mov_b32, place, wmi_lower_vector_constant(l->b, 0, 1), 0, 0);
    put_f16(l, place, rows, false);
    body(l, WMI_INSN_v_mov_b32, d, place, 0, 0);
}

/* VINTRP, and its forms as VOP3. The slot of v_interp_mov is 0: P10, 1: P20, 2: P0. Whether the product is
 * rounded before the sum is unverified: ours is not. */
static bool lower_vintrp(struct lowering *l)
{
    static const enum parameter slots[] = {P10, P20, P0, P0};
    const enum method method = (enum method)methods[l->insn->id];
    const bool halves = method != MOVE && method != FIRST && method != SECOND;
    const bool high = field(l, WMI_FIELD_high);
    uint32_t rows[3] = {0};
    if (method == SECOND_F16) {
        second_f16(l);
        return l->ok;
    }
    if (method == MOVE) {
        const uint32_t slot = (uint32_t)wmi_operand(l->insn, WMI_ROLE_B)->value;
        rows[0] = parameter(l, slots[slot & 3]);
    } else {
        rows[0] = parameter(l, method == SECOND ? P20 : P10);
        rows[1] = source(l, WMI_ROLE_B);
        rows[2] = method == FIRST_LV ? wmi_lower_vector(l->b, wmi_operand(l->insn, WMI_ROLE_C))
                  : method == SECOND ? result(l)
                                     : parameter(l, P0);
    }
    if (halves) {
        rows[0] = widen(l, rows[0], high);
        rows[2] = widen(l, rows[2], high);
    }
    if (method == FIRST_LV)
        rows[2] = with_sign(l, wmi_operand(l->insn, WMI_ROLE_C), rows[2]);
    const uint32_t d = result(l);
    body(l, method == MOVE ? WMI_INSN_v_mov_b32 : WMI_INSN_v_fma_f32, d, rows[0], rows[1], rows[2]);
    finish_f32(l, d);
    return l->ok;
}

/* ---- VINTERP: the parameters are in the lanes of each quad ---- */

/* A source of the quad's lane `lane` in all of its lanes, active or not. */
static uint32_t quad_lane(const struct lowering *l, const struct wmi_operand *operand, unsigned lane)
{
    const uint32_t place = wmi_lower_temporary(l->b, 1), set = wmi_lower_lane_set(l->b);
    const uint32_t from = wmi_lower_vector(l->b, operand);
    uint32_t control = WMI_DPP8_FETCH_INACTIVE;
    for (unsigned i = 0; i < 8; i++)
        control |= ((i & 4) + lane) << 3 * i;
    struct wmi_step *step = wmi_emit(l->b, WMI_STEP_stage_DPP8);
    step->d = place;
    step->a = from;
    step->x = control;
    step->e = set;
    return place;
}

struct vinterp {
    uint16_t id;
    bool second;  /* d = P20 * b + c, else d = P10 * b + P0 */
    bool halves;  /* parameters are f16 */
    bool to_zero; /* rounds toward zero whatever MODE says */
};

static const struct vinterp *vinterp_of(unsigned id)
{
    static const struct vinterp rows[] = {
        {WMI_INSN_v_interp_p10_f32, false, false, false},
        {WMI_INSN_v_interp_p2_f32_vinterp, true, false, false},
        {WMI_INSN_v_interp_p10_f16_f32, false, true, false},
        {WMI_INSN_v_interp_p2_f16_f32, true, true, false},
        {WMI_INSN_v_interp_p10_rtz_f16_f32, false, true, true},
        {WMI_INSN_v_interp_p2_rtz_f16_f32, true, true, true},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].id == id)
            return &rows[i];
    return NULL;
}

static uint32_t vinterp_source(const struct lowering *l, const struct vinterp *rule, enum wmi_role role)
{
    static const int8_t lanes[2][3] = {{1, -1, 0}, {2, -1, -1}};
    const struct wmi_operand *operand = wmi_operand(l->insn, role);
    const unsigned index = role - WMI_ROLE_A;
    const int lane = lanes[rule->second][index];
    const bool high = operand->part == WMI_PART_HIGH || (uint32_t)field(l, WMI_FIELD_op_sel) >> index & 1;
    uint32_t row = lane < 0 ? wmi_lower_vector(l->b, operand) : quad_lane(l, operand, (unsigned)lane);
    if (rule->halves && lane >= 0)
        row = widen(l, row, high);
    return with_sign(l, operand, row);
}

/* The result of an f16 interpolation that rounds toward zero: cut twice, which cuts once. */
static void put_cut_f16(const struct lowering *l, uint32_t d, const uint32_t rows[3], bool high)
{
    const uint32_t sum = wmi_lower_temporary(l->b, 1), half = wmi_lower_temporary(l->b, 1);
    body(l, WMI_INSN_v_fma_f32, sum, rows[0], rows[1], rows[2]);
    body(l, WMI_INSN_v_cvt_pkrtz_f16_f32, half, sum, sum, 0);
    if (field(l, WMI_FIELD_clamp))
        stage(l, WMI_STAGE_CLAMP_F16, half, half, 0);
    stage(l, high ? WMI_STAGE_OP_SEL_HIGH : WMI_STAGE_OP_SEL_LOW, d, half, 0);
}

static bool lower_vinterp(struct lowering *l, const struct vinterp *rule)
{
    const bool high = wmi_operand(l->insn, WMI_ROLE_D)->part == WMI_PART_HIGH ||
                      (uint32_t)field(l, WMI_FIELD_op_sel) >> 3 & 1;
    uint32_t rows[3];
    for (unsigned i = 0; i < 3; i++)
        rows[i] = vinterp_source(l, rule, (enum wmi_role)(WMI_ROLE_A + i));
    const uint32_t d = result(l);
    if (rule->to_zero)
        wmi_emit(l->b, WMI_STEP_round_f32)->x = 1;
    if (!rule->second || !rule->halves) {
        body(l, WMI_INSN_v_fma_f32, d, rows[0], rows[1], rows[2]);
        finish_f32(l, d);
    } else if (rule->to_zero) {
        put_cut_f16(l, d, rows, high);
    } else {
        put_f16(l, d, rows, high);
    }
    if (rule->to_zero)
        wmi_emit(l->b, WMI_STEP_round_f32);
    return l->ok;
}

/* ---- LDSDIR ---- */

static bool lower_direct_load(struct lowering *l)
{
    const bool parameters = l->insn->id == WMI_INSN_lds_param_load;
    const struct wmi_operand *attribute = wmi_operand(l->insn, WMI_ROLE_IMM);
    struct wmi_step step = {
        .d = result(l),
        .x = attribute ? (uint32_t)attribute->value : 0,
        .y = (uint32_t)field(l, WMI_FIELD_attr_chan) & 3,
        .lanes = offsetof(struct wmi_frame, exec),
    };
    if (wmi_builder_watches(l->b)) {
        step.data = wmi_builder_memory_op(l->b, l->insn);
        wmi_emit_watch(l->b, parameters ? WMI_STEP_lds_observe_parameters : WMI_STEP_lds_observe_direct,
                       &step);
    }
    step.data = NULL;
    wmi_emit_as(l->b, parameters ? WMI_STEP_lds_load_parameters : WMI_STEP_lds_load_direct, &step);
    return l->ok;
}

/* ---- exports ---- */

/* An export changes nothing that a wave can see: only observers get it. */
static bool lower_exp(struct lowering *l)
{
    static const enum wmi_role roles[] = {WMI_ROLE_A, WMI_ROLE_B, WMI_ROLE_C, WMI_ROLE_D};
    const bool compressed = field(l, WMI_FIELD_compr);
    uint32_t rows[4] = {0};
    if (!wmi_builder_shows(l->b, WM_EVENT_EXPORT))
        return true;
    for (unsigned i = 0; i < 4; i++) {
        const struct wmi_operand *operand = wmi_operand(l->insn, roles[i]);
        if (operand && operand->kind == WMI_OPERAND_VGPR)
            rows[compressed ? i / 2 : i] = wmi_lower_vgpr(l->b, operand->reg, 1, &l->ok);
    }
    struct wmi_step *step = wmi_emit(l->b, WMI_STEP_show_export);
    step->a = rows[0];
    step->b = rows[1];
    step->c = rows[2];
    step->d = rows[3];
    step->e = (uint32_t)wmi_operand(l->insn, WMI_ROLE_IMM)->value;
    step->x = (uint32_t)field(l, WMI_FIELD_en) & 15;
    step->y = (compressed ? WMI_EXPORT_COMPRESSED : 0u) | (field(l, WMI_FIELD_done) ? WMI_EXPORT_DONE : 0u) |
              (field(l, WMI_FIELD_vm) ? WMI_EXPORT_VALID_MASK : 0u) |
              (field(l, WMI_FIELD_row_en) ? WMI_EXPORT_ROW : 0u);
    step->value = l->b->pc;
    return l->ok;
}

bool wmi_lower_export(struct wmi_builder *b, const struct wmi_instruction *insn)
{
    struct lowering l = {.b = b, .insn = insn, .ok = true};
    const struct vinterp *rule = vinterp_of(insn->id);
    if (rule)
        return lower_vinterp(&l, rule);
    if (insn->id == WMI_INSN_exp)
        return lower_exp(&l);
    if (methods[insn->id])
        return lower_vintrp(&l);
    if (insn->id == WMI_INSN_lds_param_load || insn->id == WMI_INSN_lds_direct_load)
        return lower_direct_load(&l);
    return false;
}
