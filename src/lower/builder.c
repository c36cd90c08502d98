/* SPDX-License-Identifier: MIT */
/* Emits steps and assigns frame offsets to operands. */
#include "lower/builder.h"

#include "memory/buffer.h"
#include "wavemem/wavemem.h"

#include <stdlib.h>

/* ---- steps ---- */

static struct wmi_step *append(struct wmi_builder *b)
{
    if (b->count == b->capacity) {
        const size_t capacity = b->capacity ? 2 * b->capacity : 256;
        struct wmi_step *grown = realloc(b->steps, capacity * sizeof *grown);
        if (!grown) { /* continue with the spare; the steps are discarded */
            b->out_of_memory = true;
            return &b->spare;
        }
        b->steps = grown;
        b->capacity = capacity;
    }
    return &b->steps[b->count++];
}

struct wmi_step *wmi_emit(struct wmi_builder *b, enum wmi_step_id id)
{
    struct wmi_step *step = append(b);
    *step = (struct wmi_step){.id = (uint16_t)id, .lanes = offsetof(struct wmi_frame, exec), .pc = b->pc};
    wmi_step_take_uses(step);
    return step;
}

void wmi_emit_as(struct wmi_builder *b, enum wmi_step_id id, const struct wmi_step *step)
{
    struct wmi_step copy = *step;
    copy.id = (uint16_t)id;
    copy.pc = b->pc;
    wmi_step_take_uses(&copy);
    *append(b) = copy;
}

struct wmi_step *wmi_emit_counting(struct wmi_builder *b, enum wmi_step_id id)
{
    struct wmi_step *step = wmi_emit(b, id);
    step->c = b->uncounted;
    b->uncounted = 0;
    return step;
}

void wmi_emit_fault(struct wmi_builder *b, unsigned kind)
{
    struct wmi_step *step = wmi_emit_counting(b, WMI_STEP_fault);
    step->x = kind;
    step->y = b->beyond;
    step->value = b->pc;
    b->ended = true;
}

void wmi_emit_constant(struct wmi_builder *b, uint32_t place, uint64_t value)
{
    struct wmi_step *step = wmi_emit(b, WMI_STEP_constant);
    step->d = place;
    step->value = value;
}

void wmi_emit_exec(struct wmi_builder *b)
{
    wmi_emit(b, WMI_STEP_stage_EXEC);
}

void wmi_emit_hold(struct wmi_builder *b, uint32_t executed)
{
    const struct wmi_observers *observers = wmi_builder_observers(b);
    if (!b->held && (!observers->count || !observers->one[0]->hold))
        return;
    struct wmi_step *step = wmi_emit(b, WMI_STEP_hold);
    step->c = executed;
    step->x = b->state;
    step->y = b->msb;
    step->value = b->pc;
    b->repeatable = true;
    wmi_forget_broadcasts(b);
}

void wmi_step_set_target(struct wmi_step *step, uint64_t place)
{
    step->x = (uint32_t)place;
    step->y = (uint32_t)(place >> 32);
}

/* ---- facts of memory instructions ---- */

/* Translates a gfx12 temporal hint to policy bits: SLC if non-temporal for CU and shader engine, DLC if
 * non-temporal for MALL. Source: LLVM, SIDefines.h, CPol. */
static uint8_t policy_of_hint(const struct wmi_instruction *insn)
{
    enum { NEAR = WMI_POLICY_SLC, FAR = WMI_POLICY_DLC, ATOMIC_NT = 2 };
    static const uint8_t hints[8] = {[1] = NEAR | FAR, [4] = NEAR, [5] = FAR, [6] = NEAR, [7] = NEAR};
    const uint32_t hint = (uint32_t)insn->field[WMI_FIELD_th];
    if (wmi_rows[insn->id].memory == WMI_MEMORY_ATOMIC)
        return hint & ATOMIC_NT ? NEAR : 0;
    return hints[hint & 7];
}

/* SC0 maps to GLC and NT to SLC; on gfx12, any scope beyond the CU maps to GLC. Source: CDNA 3 ISA and LLVM
 * AMDGPUUsage, "Memory Model". */
static uint8_t policy_of(const struct wmi_instruction *insn)
{
    const int32_t *field = insn->field;
    const bool coherent = field[WMI_FIELD_glc] || field[WMI_FIELD_sc0] || field[WMI_FIELD_scope];
    return (coherent ? WMI_POLICY_GLC : 0) |
           (field[WMI_FIELD_slc] || field[WMI_FIELD_nt] ? WMI_POLICY_SLC : 0) |
           (field[WMI_FIELD_dlc] ? WMI_POLICY_DLC : 0) | (field[WMI_FIELD_nv] ? WMI_POLICY_NV : 0) |
           (field[WMI_FIELD_sc1] ? WMI_POLICY_SC1 : 0) | policy_of_hint(insn);
}

/* The operand's registers. VGPR numbers from options.vgprs on are AccVGPRs. */
static struct wmi_register_range range_of(struct wmi_builder *b, const struct wmi_operand *operand)
{
    const unsigned vgprs = b->code->options.vgprs;
    struct wmi_register_range range = {0};
    struct wmi_extent span;
    bool ok = true;
    if (operand->kind == WMI_OPERAND_VGPR) {
        const unsigned left = vgprs + b->code->options.agprs - operand->reg; /* blocks may extend past it */
        range.count = (uint8_t)(operand->dwords < left ? operand->dwords : left);
        range.offset = wmi_lower_vgpr(b, operand->reg, range.count, &ok);
        range.file = operand->reg < vgprs ? WM_REGISTER_VGPR : WM_REGISTER_AGPR;
        range.first = (uint16_t)(operand->reg - (operand->reg < vgprs ? 0 : vgprs));
    } else if (wmi_scalar_place(operand, &span)) {
        range.count = (uint8_t)((span.to - span.from) / 4);
        range.offset = span.from;
        range.file = operand->kind == WMI_OPERAND_SGPR ? WM_REGISTER_SGPR : WM_REGISTER_OTHER;
        range.first = operand->reg;
    }
    return range;
}

/* Source: CDNA 3 ISA, SC1 and SC0; RDNA 4 ISA, "Memory Scopes". */
static uint8_t scope_of(const struct wmi_builder *b, const struct wmi_instruction *insn)
{
    static const uint8_t of_bits[] = {WM_SCOPE_WAVE, WM_SCOPE_WORKGROUP, WM_SCOPE_DEVICE, WM_SCOPE_SYSTEM};
    static const uint8_t of_field[] = {WM_SCOPE_CU, WM_SCOPE_ENGINE, WM_SCOPE_DEVICE, WM_SCOPE_SYSTEM};
    switch (wmi_builder_limit(b, WMI_LIMIT_scopes)) {
    case 1:
        return of_bits[(insn->field[WMI_FIELD_sc1] & 1) << 1 | (insn->field[WMI_FIELD_sc0] & 1)];
    case 2:
        return of_field[insn->field[WMI_FIELD_scope] & 3];
    default:
        return WM_SCOPE_NONE;
    }
}

static struct wmi_access_facts facts_of(struct wmi_builder *b, const struct wmi_instruction *insn)
{
    struct wmi_access_facts facts = {.scope = scope_of(b, insn), .lanes = (uint8_t)wmi_builder_lanes(b)};
    const struct wmi_operand *data = wmi_operand(insn, WMI_ROLE_DATA);
    const struct wmi_operand *second = wmi_operand(insn, WMI_ROLE_DATA2);
    const struct wmi_operand *result = wmi_operand(insn, WMI_ROLE_D);
    if (!wmi_rows[insn->id].memory)
        return facts; /* LDS_DIRECT read */
    facts.operation = b->operation;
    if (data)
        facts.data[0] = range_of(b, data);
    if (second)
        facts.data[1] = range_of(b, second);
    if (result)
        facts.result = range_of(b, result);
    else if (data && data->written) /* the old value replaces the data */
        facts.result = facts.data[0];
    return facts;
}

struct wmi_memory_op *wmi_builder_memory_op(struct wmi_builder *b, const struct wmi_instruction *insn)
{
    static const uint8_t paths[] = {
        [WMI_CLASS_SMEM] = WMI_PATH_SMEM,
        [WMI_CLASS_BUFFER] = WMI_PATH_BUFFER,
        [WMI_CLASS_FLAT] = WMI_PATH_FLAT,
        [WMI_CLASS_TBUFFER] = WMI_PATH_TBUFFER,
        [WMI_CLASS_GLOBAL] = WMI_PATH_GLOBAL,
        [WMI_CLASS_IMAGE] = WMI_PATH_IMAGE,
        [WMI_CLASS_DS] = WMI_PATH_DS,
        [WMI_CLASS_SCRATCH] = WMI_PATH_SCRATCH,
        [WMI_CLASS_EXPORT] = 0,
    };
    static_assert((int)WMI_ALIGNMENT_DWORD == WM_ALIGNMENT_DWORD &&
                      (int)WMI_ALIGNMENT_STRICT == WM_ALIGNMENT_STRICT,
                  "the same order");
    const struct wmi_row *row = &wmi_rows[insn->id];
    struct wmi_memory_op *op = wmi_code_memory_op(b->code);
    if (!op) {
        b->out_of_memory = true;
        return &b->spare_memory_op;
    }
    *op = (struct wmi_memory_op){
        .pc = b->pc,
        .id = insn->id,
        .path = paths[row->class],
        .kind = row->memory == WMI_MEMORY_STORE    ? WMI_ACCESS_STORE
                : row->memory == WMI_MEMORY_ATOMIC ? WMI_ACCESS_ATOMIC
                                                   : WMI_ACCESS_LOAD,
        .elements = row->elements,
        .bytes = row->bytes,
        .is_signed = row->flags & WMI_ROW_SIGNED,
        .d16 = row->flags & WMI_ROW_D16,
        .d16_hi = row->flags & WMI_ROW_D16_HI,
        .returns = row->flags & WMI_ROW_RETURNS || insn->field[WMI_FIELD_glc],
        .stride64 = row->flags & WMI_ROW_STRIDE64,
        .split_scratch = wmi_builder_limit(b, WMI_LIMIT_split_scratch),
        .lds_m0 = wmi_builder_limit(b, WMI_LIMIT_lds_m0),
        .lds_partial = wmi_builder_limit(b, WMI_LIMIT_lds_partial),
        .lds_alignment = (uint8_t)wmi_builder_limit(b, WMI_LIMIT_lds_alignment),
        .flat_lds_bits = (uint8_t)wmi_builder_limit(b, WMI_LIMIT_flat_lds_bits),
        .flat_private_bits = (uint8_t)wmi_builder_limit(b, WMI_LIMIT_flat_private_bits),
        .scratch_shared = wmi_builder_limit(b, WMI_LIMIT_scratch_shared),
        .address_bits = (uint8_t)wmi_builder_limit(b, WMI_LIMIT_address_bits),
        .size_rounded = wmi_builder_limit(b, WMI_LIMIT_smem_size_rounded),
        .policy = policy_of(insn),
        .alignment = (uint8_t)b->code->options.alignment,
        .hit = b->code->memory_op_count++ % WMI_HITS,
        .offset = insn->field[WMI_FIELD_offset],
        .depth = b->depth,
    };
    if (b->code->options.observers.count)
        op->facts = facts_of(b, insn);
    return op;
}

/* ---- watches and events for observers ---- */

void wmi_builder_summary(struct wmi_builder *b, enum wmi_address_space space, unsigned elements,
                         unsigned bytes)
{
    b->shape = wmi_access_shape(space, elements, bytes);
}

bool wmi_builder_watches(const struct wmi_builder *b)
{
    const struct wmi_observers *observers = wmi_builder_observers(b);
    for (unsigned i = 0; i < observers->count; i++)
        if (observers->one[i]->access)
            return true;
    return false;
}

/* Whether the instruction's own step shows its accesses to the observer. */
static bool is_late(const struct wmi_memory_op *m, unsigned observer)
{
    return m->late && m->late->watcher == observer;
}

void wmi_builder_set_late(struct wmi_builder *b, struct wmi_memory_op *m)
{
    const struct wmi_observers *observers = wmi_builder_observers(b);
    if (m->alignment != WMI_ALIGNMENT_UNALIGNED)
        return;
    for (unsigned i = 0; i < observers->count; i++) {
        if (!observers->one[i]->late)
            continue;
        struct wmi_memory_op *late = wmi_code_memory_op(b->code);
        if (!late) {
            b->out_of_memory = true;
            return;
        }
        *late = *m;
        late->observer = observers->one[i];
        late->watcher = i;
        late->slot = WMI_LATE_REFUSED;
        m->late = late;
        return;
    }
}

/* Whether access() is shown the instruction's accesses in a step before its own. */
static bool is_shown(const struct wmi_observer *observer, const struct wmi_memory_op *m, unsigned number,
                     bool lds_move)
{
    if (!observer->access || (observer->flat_only && m->path != WMI_PATH_FLAT))
        return false;
    return lds_move ? observer->lds_moves : !is_late(m, number);
}

struct wmi_memory_op *wmi_builder_next_watch(struct wmi_builder *b, struct wmi_memory_op *m, bool lds_move,
                                             unsigned *next)
{
    const struct wmi_observers *observers = wmi_builder_observers(b);
    unsigned i = *next;
    if (i && (observers->one[i - 1]->hold ||
              observers->one[i - 1]->stops)) { /* it was shown the access by the last step */
        struct wmi_step *step = wmi_emit(b, WMI_STEP_hold_at_access);
        step->x = b->repeatable && !lds_move;
        step->value = b->pc;
        b->repeatable &= !lds_move; /* the other side of the move comes later */
    }
    while (i < observers->count &&
           (!is_shown(observers->one[i], m, i, lds_move) || (observers->one[i]->stops && !b->held)))
        i++;
    *next = i + 1;
    if (i >= observers->count)
        return NULL;
    const struct wmi_observer *observer = observers->one[i];
    struct wmi_memory_op *mine = m;
    if (m->observer || lds_move) { /* the original record belongs to another observer */
        if (!(mine = wmi_code_memory_op(b->code))) {
            b->out_of_memory = true;
            return NULL;
        }
        *mine = *m;
    }
    if (lds_move) {
        const struct wmi_register_range none = {0};
        mine->path = WMI_PATH_LDS_DMA;
        mine->facts.data[0] = mine->facts.data[1] = mine->facts.result = none;
    }
    mine->observer = observer;
    mine->watcher = i;
    mine->slot = observer->instruction && !lds_move ? observer->instruction(observer->self, b->pc, m->id) : 0;
    mine->shape = observer->summary && !lds_move ? b->shape : 0;
    b->shown = mine;
    return mine;
}

void wmi_emit_quick_watch(struct wmi_builder *b, enum wmi_step_id id, enum wmi_step_id quick,
                          const struct wmi_step *step)
{
    struct wmi_memory_op *m = (struct wmi_memory_op *)step->data, *mine;
    struct wmi_step watch = *step;
    const bool is_quick = quick != WMI_STEP_NONE && m->alignment == WMI_ALIGNMENT_UNALIGNED;
    if (is_quick)
        wmi_builder_summary(b, WMI_SPACE_GLOBAL, 1, (unsigned)m->elements * m->bytes);
    for (unsigned next = 0; (mine = wmi_builder_next_watch(b, m, false, &next));) {
        watch.data = mine;
        wmi_emit_as(b, is_quick && !mine->observer->explains ? quick : id, &watch);
    }
}

void wmi_emit_watch(struct wmi_builder *b, enum wmi_step_id id, const struct wmi_step *step)
{
    wmi_emit_quick_watch(b, id, WMI_STEP_NONE, step);
}

struct wmi_step *wmi_emit_event(struct wmi_builder *b, uint64_t kind)
{
    if (!wmi_builder_shows(b, kind))
        return NULL;
    struct wmi_step *step = wmi_emit(b, WMI_STEP_show_event);
    step->x = (uint32_t)kind;
    step->value = b->pc;
    return step;
}

/* ---- temporaries and constants ---- */

uint32_t wmi_lower_temporary(struct wmi_builder *b, unsigned rows)
{
    const uint32_t offset = (uint32_t)offsetof(struct wmi_frame, rows) + b->temporaries * b->code->row_bytes;
    b->temporaries += rows;
    assert(b->temporaries <= WMI_INSTRUCTION_TEMPORARIES);
    return offset;
}

uint32_t wmi_lower_lane_set(struct wmi_builder *b)
{
    assert(b->lane_sets < WMI_LANE_SETS);
    return (uint32_t)(offsetof(struct wmi_frame, lanes) + b->lane_sets++ * sizeof(struct wmi_lanes));
}

uint32_t wmi_lower_temporary_scalar(struct wmi_builder *b)
{
    const unsigned slot = WMI_CODE_SCALARS + b->scalar_temporaries++;
    assert(b->scalar_temporaries <= WMI_SCALAR_TEMPORARIES);
    return (uint32_t)(offsetof(struct wmi_frame, constant) + slot * sizeof(uint64_t));
}

uint32_t wmi_lower_scalar_constant(struct wmi_builder *b, uint64_t value)
{
    struct wmi_code *code = b->code;
    unsigned slot = 0;
    while (slot < code->scalar_constants && code->scalar_constant[slot] != value)
        slot++;
    if (slot == code->scalar_constants) {
        if (code->sealed || slot == WMI_CODE_SCALARS) {
            const uint32_t place = wmi_lower_temporary_scalar(b);
            wmi_emit_constant(b, place, value);
            return place;
        }
        code->scalar_constant[code->scalar_constants++] = value;
    }
    return (uint32_t)(offsetof(struct wmi_frame, constant) + slot * sizeof(uint64_t));
}

static uint32_t broadcast(struct wmi_builder *b, uint32_t scalar, unsigned rows, uint32_t row)
{
    for (unsigned i = 0; i < rows; i++) {
        struct wmi_step *step = wmi_emit(b, WMI_STEP_stage_BROADCAST);
        step->a = scalar + 4 * i;
        step->d = row + i * b->code->row_bytes;
    }
    return row;
}

uint32_t wmi_lower_vector_constant(struct wmi_builder *b, uint64_t value, unsigned rows)
{
    struct wmi_code *code = b->code;
    for (unsigned i = 0; i < code->vector_constants; i++) {
        const struct wmi_vector_constant *c = &code->vector_constant[i];
        if (c->value == value && c->rows >= rows)
            return c->offset;
    }
    if (code->sealed || code->constant_rows + rows > WMI_VECTOR_CONSTANTS)
        return broadcast(b, wmi_lower_scalar_constant(b, value), rows, wmi_lower_temporary(b, rows));
    const uint32_t offset = code->constant_offset + code->constant_rows * code->row_bytes;
    code->vector_constant[code->vector_constants++] = (struct wmi_vector_constant){value, rows, offset};
    code->constant_rows += rows;
    return offset;
}

/* ---- registers ---- */

uint32_t wmi_special_slot(unsigned special)
{
    static const uint8_t slots[WMI_SPECIAL_COUNT] = {
        [WMI_SPECIAL_VCC] = WMI_S_VCC,
        [WMI_SPECIAL_VCC_LO] = WMI_S_VCC,
        [WMI_SPECIAL_VCC_HI] = WMI_S_VCC + 1,
        [WMI_SPECIAL_EXEC] = WMI_S_EXEC,
        [WMI_SPECIAL_EXEC_LO] = WMI_S_EXEC,
        [WMI_SPECIAL_EXEC_HI] = WMI_S_EXEC + 1,
        [WMI_SPECIAL_M0] = WMI_S_M0,
        [WMI_SPECIAL_NULL] = WMI_S_NULL,
        [WMI_SPECIAL_TBA] = WMI_S_NULL,
        [WMI_SPECIAL_TBA_LO] = WMI_S_NULL,
        [WMI_SPECIAL_TBA_HI] = WMI_S_NULL,
        [WMI_SPECIAL_TMA] = WMI_S_NULL,
        [WMI_SPECIAL_TMA_LO] = WMI_S_NULL,
        [WMI_SPECIAL_TMA_HI] = WMI_S_NULL,
        [WMI_SPECIAL_SCC] = WMI_S_SCC,
        [WMI_SPECIAL_VCCZ] = WMI_S_VCCZ,
        [WMI_SPECIAL_EXECZ] = WMI_S_EXECZ,
        [WMI_SPECIAL_FLAT_SCRATCH] = WMI_S_FLAT_SCRATCH,
        [WMI_SPECIAL_FLAT_SCRATCH_LO] = WMI_S_FLAT_SCRATCH,
        [WMI_SPECIAL_FLAT_SCRATCH_HI] = WMI_S_FLAT_SCRATCH + 1,
        [WMI_SPECIAL_XNACK_MASK] = WMI_S_XNACK_MASK,
        [WMI_SPECIAL_XNACK_MASK_LO] = WMI_S_XNACK_MASK,
        [WMI_SPECIAL_XNACK_MASK_HI] = WMI_S_XNACK_MASK + 1,
        [WMI_SPECIAL_FLAT_SCRATCH_BASE_LO] = WMI_S_FLAT_SCRATCH_BASE,
        [WMI_SPECIAL_FLAT_SCRATCH_BASE_HI] = WMI_S_FLAT_SCRATCH_BASE + 1,
        [WMI_SPECIAL_SHARED_BASE] = WMI_S_SHARED_BASE,
        [WMI_SPECIAL_SHARED_LIMIT] = WMI_S_SHARED_LIMIT,
        [WMI_SPECIAL_PRIVATE_BASE] = WMI_S_PRIVATE_BASE,
        [WMI_SPECIAL_PRIVATE_LIMIT] = WMI_S_PRIVATE_LIMIT,
    };
    return slots[special];
}

bool wmi_is_scalar_register(const struct wmi_operand *operand)
{
    return operand->kind == WMI_OPERAND_SGPR || operand->kind == WMI_OPERAND_TTMP ||
           operand->kind == WMI_OPERAND_SPECIAL;
}

/* Index of a scalar register's first word in the scalar file. */
static uint32_t slot_of(const struct wmi_operand *operand)
{
    switch (operand->kind) {
    case WMI_OPERAND_SGPR:
        return operand->reg;
    case WMI_OPERAND_TTMP:
        return WMI_S_TTMP + operand->reg;
    default:
        return wmi_special_slot(operand->reg);
    }
}

bool wmi_scalar_place(const struct wmi_operand *operand, struct wmi_extent *span)
{
    if (!wmi_is_scalar_register(operand))
        return false;
    span->from = 4 * slot_of(operand);
    span->to = span->from + 4 * (operand->dwords ? operand->dwords : 1u);
    return true;
}

static bool is_zero_bit(const struct wmi_operand *operand)
{
    return operand->kind == WMI_OPERAND_SPECIAL &&
           (operand->reg == WMI_SPECIAL_VCCZ || operand->reg == WMI_SPECIAL_EXECZ);
}

/* NULL, and outside of a trap handler TBA and TMA: they read 0 and drop what is written. */
static bool is_empty(const struct wmi_operand *operand)
{
    return operand->kind == WMI_OPERAND_SPECIAL && wmi_special_slot(operand->reg) == WMI_S_NULL;
}

uint32_t wmi_lower_scalar(struct wmi_builder *b, const struct wmi_operand *operand)
{
    if (!wmi_is_scalar_register(operand))
        return wmi_lower_scalar_constant(b, operand->value);
    if (is_empty(operand) && !operand->written)
        return wmi_lower_scalar_constant(b, 0);
    if (is_zero_bit(operand))
        wmi_emit(b, WMI_STEP_mask_zero);
    return 4 * slot_of(operand);
}

uint32_t wmi_lower_vgpr(struct wmi_builder *b, unsigned reg, unsigned count, bool *ok)
{
    if (reg + count > b->code->options.vgprs + b->code->options.agprs) {
        *ok = false;
        b->beyond = reg + count;
        return b->code->vgpr_offset;
    }
    return b->code->vgpr_offset + reg * b->code->row_bytes;
}

/* A row with the scalar in all lanes; reused until the scalar changes. */
static uint32_t cached_broadcast(struct wmi_builder *b, uint32_t scalar, unsigned dwords)
{
    if (dwords > 1)
        return broadcast(b, scalar, dwords, wmi_lower_temporary(b, dwords));
    struct wmi_broadcast *oldest = &b->cache[0];
    for (unsigned i = 0; i < WMI_CACHED_ROWS; i++) {
        struct wmi_broadcast *entry = &b->cache[i];
        if (entry->taken && entry->scalar == scalar) {
            entry->used = ++b->clock;
            return entry->row;
        }
        if (entry->used < oldest->used)
            oldest = entry;
    }
    const uint32_t row = (uint32_t)offsetof(struct wmi_frame, rows) +
                         (WMI_INSTRUCTION_TEMPORARIES + (uint32_t)(oldest - b->cache)) * b->code->row_bytes;
    *oldest = (struct wmi_broadcast){scalar, row, ++b->clock, true};
    return broadcast(b, scalar, 1, row);
}

void wmi_forget_broadcasts(struct wmi_builder *b)
{
    memset(b->cache, 0, sizeof b->cache);
}

void wmi_forget_broadcasts_of(struct wmi_builder *b, struct wmi_extent span)
{
    for (unsigned i = 0; i < WMI_CACHED_ROWS; i++) {
        struct wmi_broadcast *entry = &b->cache[i];
        if (entry->taken && entry->scalar < span.to && span.from < entry->scalar + 4)
            *entry = (struct wmi_broadcast){0};
    }
}

uint32_t wmi_lower_vector(struct wmi_builder *b, const struct wmi_operand *operand)
{
    const unsigned rows = operand->dwords ? operand->dwords : 1;
    if (operand->kind == WMI_OPERAND_VGPR) {
        bool ok = true;
        const uint32_t offset = wmi_lower_vgpr(b, operand->reg, rows, &ok);
        return ok ? offset : 0;
    }
    if (is_empty(operand))
        return wmi_lower_vector_constant(b, 0, rows);
    if (!wmi_is_scalar_register(operand))
        return wmi_lower_vector_constant(b, operand->value, rows);
    const uint32_t scalar = wmi_lower_scalar(b, operand);
    if (is_zero_bit(operand))
        return broadcast(b, scalar, rows, wmi_lower_temporary(b, rows));
    return cached_broadcast(b, scalar, rows);
}
