/* SPDX-License-Identifier: MIT */
/* Predecodes a kernel: finds what branches reach, lowers it instruction by instruction, keeps the steps. */
#include "exec/program.h"

#include "exec/block.h"
#include "exec/control.h"
#include "exec/scan.h"
#include "memory/buffer.h"
#include "sem/stage.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
    SCAN_LIMIT = 1 << 16,            /* instructions predecoded in one go; the rest when it is reached */
    MANY_STEPS = WMI_STEP_LIMIT / 4, /* from here on only SHORT_SCAN of them: jumps into the middle of long */
    SHORT_SCAN = 16,                 /* runs would predecode the rest of the run again and again */
    INSTRUCTION_TEMPORARIES = 16,    /* rows that one instruction may take; the others cache broadcasts */
    CACHED_ROWS = WMI_TEMPORARY_ROWS - INSTRUCTION_TEMPORARIES,
    STEPS_IN_A_ROW = 200,    /* that may call each other, where the compiler makes no jumps of calls */
    VECTOR_CONSTANTS = 64,   /* rows of constants in a frame */
    SCALAR_TEMPORARIES = 16, /* of frame.constant, at its end */
    PROGRAM_SCALARS = WMI_SCALAR_CONSTANTS - SCALAR_TEMPORARIES,
};

struct chunk {
    struct chunk *next;
    struct wmi_op steps[];
};

struct memory_op_node {
    alignas(64) struct wmi_memory_op op; /* what most steps read is in one line of the host's caches */
    struct memory_op_node *next;
};

struct wmi_program {
    struct wmi_program_options options;
    uint32_t row_bytes, vgpr_offset, constant_offset;
    struct wmi_step_map map;
    struct chunk *chunks;
    size_t step_count;
    struct memory_op_node *memory_ops;
    uint32_t memory_op_count;
    uint64_t scalar_constant[PROGRAM_SCALARS];
    unsigned scalar_constants;
    struct vector_constant {
        uint64_t value;
        unsigned rows;
        uint32_t offset;
    } vector_constant[VECTOR_CONSTANTS];
    unsigned vector_constants, constant_rows;
    bool sealed; /* frames exist: no more constants */
    pthread_mutex_t lock;
};

/* An SGPR, or a pair, that a temporary row holds in all lanes. */
struct broadcast {
    uint32_t scalar, row;
    unsigned dwords; /* 0: free */
    unsigned used;
};

struct wmi_builder {
    struct wmi_program *program;
    struct wmi_op *steps;
    size_t count, capacity;
    size_t block_start;     /* the first step that a branch can lead to */
    struct wmi_block block; /* that is being lowered, for the observer */
    struct wmi_depth depth; /* of the instruction that is being lowered */
    size_t last_return;     /* the last step that was put in only to return */
    bool out_of_memory, ended;
    uint64_t pc, next_pc;
    unsigned state; /* enum wmi_state */
    unsigned temporaries, lane_sets, scalar_temporaries;
    uint32_t uncounted;
    struct wmi_op spare; /* what is filled when there is no memory for more */
    struct wmi_memory_op spare_memory_op;
    struct broadcast cache[CACHED_ROWS];
    unsigned clock;
    struct { /* a step of this block that writes a mask which nothing has read yet */
        size_t step;
        uint32_t mask;
        wmi_body without; /* what does all but that; NULL: there is no such step */
    } unread;
};

/* ---- what lowering functions use ---- */

struct wmi_op *wmi_emit(struct wmi_builder *b, wmi_body body)
{
    if (b->count == b->capacity) {
        const size_t capacity = b->capacity ? 2 * b->capacity : 256;
        struct wmi_op *grown = realloc(b->steps, capacity * sizeof *grown);
        if (!grown) { /* keep going; the session is thrown away */
            b->out_of_memory = true;
            return &b->spare;
        }
        b->steps = grown;
        b->capacity = capacity;
    }
    struct wmi_op *op = &b->steps[b->count++];
    *op = (struct wmi_op){.body = body, .lanes = offsetof(struct wmi_frame, exec)};
    return op;
}

/* A temporal hint of gfx12 as bits: SLC if it is non-temporal for the compute unit and the engine, DLC if it
 * is for MALL. Source: LLVM, SIDefines.h, CPol. */
static uint8_t policy_of_hint(const struct wmi_instruction *insn)
{
    enum { NEAR = WMI_POLICY_SLC, FAR = WMI_POLICY_DLC, ATOMIC_NT = 2 };
    static const uint8_t hints[8] = {[1] = NEAR | FAR, [4] = NEAR, [5] = FAR, [6] = NEAR, [7] = NEAR};
    const uint32_t hint = (uint32_t)insn->field[WMI_FIELD_th];
    if (wmi_rows[insn->id].memory == WMI_MEMORY_ATOMIC)
        return hint & ATOMIC_NT ? NEAR : 0;
    return hints[hint & 7];
}

/* SC0 and NT stand where GLC and SLC stood, and so does any scope of gfx12 beyond the CU. Source: CDNA 3 ISA
 * and LLVM AMDGPUUsage, "Memory Model". */
static uint8_t policy_of(const struct wmi_instruction *insn)
{
    const int32_t *field = insn->field;
    const bool coherent = field[WMI_FIELD_glc] || field[WMI_FIELD_sc0] || field[WMI_FIELD_scope];
    return (coherent ? WMI_POLICY_GLC : 0) |
           (field[WMI_FIELD_slc] || field[WMI_FIELD_nt] ? WMI_POLICY_SLC : 0) |
           (field[WMI_FIELD_dlc] ? WMI_POLICY_DLC : 0) | (field[WMI_FIELD_nv] ? WMI_POLICY_NV : 0) |
           (field[WMI_FIELD_sc1] ? WMI_POLICY_SC1 : 0) | policy_of_hint(insn);
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
    struct wmi_program *program = b->program;
    struct memory_op_node *node = aligned_alloc(alignof(struct memory_op_node), sizeof *node);
    if (!node) {
        b->out_of_memory = true;
        return &b->spare_memory_op;
    }
    node->next = program->memory_ops;
    program->memory_ops = node;
    const struct wmi_observer *observer = program->options.observer;
    node->op = (struct wmi_memory_op){
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
        .flat_lds_bits = (uint8_t)wmi_builder_limit(b, WMI_LIMIT_flat_lds_bits),
        .policy = policy_of(insn),
        .alignment = (uint8_t)program->options.alignment,
        .hit = program->memory_op_count++ % WMI_HITS,
        .offset = insn->field[WMI_FIELD_offset],
        .observer = observer,
        .depth = b->depth,
    };
    if (observer)
        node->op.slot = observer->instruction(observer->self, b->pc, insn->id);
    return &node->op;
}

unsigned wmi_builder_scalar_cache(const struct wmi_builder *b)
{
    return b->program->options.scalar_cache;
}

uint32_t wmi_builder_outline(const struct wmi_builder *b, enum wmi_address_space space, unsigned elements,
                             unsigned bytes)
{
    const struct wmi_observer *observer = wmi_builder_observer(b);
    return observer && observer->outline ? wmi_access_shape(space, elements, bytes) : 0;
}

const struct wmi_observer *wmi_builder_observer(const struct wmi_builder *b)
{
    return b->program->options.observer;
}

unsigned wmi_builder_lanes(const struct wmi_builder *b)
{
    return b->program->options.lanes;
}

enum wmi_cpu_level wmi_builder_level(const struct wmi_builder *b)
{
    return b->program->options.level;
}

uint64_t wmi_builder_pc(const struct wmi_builder *b)
{
    return b->pc;
}

uint64_t wmi_builder_next_pc(const struct wmi_builder *b)
{
    return b->next_pc;
}

unsigned wmi_builder_state(const struct wmi_builder *b)
{
    return b->state;
}

unsigned wmi_builder_vgprs(const struct wmi_builder *b)
{
    return b->program->options.vgprs;
}

const struct wmi_target *wmi_builder_target(const struct wmi_builder *b)
{
    return b->program->options.target;
}

uint32_t wmi_builder_limit(const struct wmi_builder *b, enum wmi_limit limit)
{
    return wmi_target_limit(b->program->options.target, limit);
}

uint32_t wmi_builder_take_count(struct wmi_builder *b)
{
    const uint32_t count = b->uncounted;
    b->uncounted = 0;
    return count;
}

struct wmi_op *wmi_builder_last(struct wmi_builder *b)
{
    return b->count > b->block_start ? &b->steps[b->count - 1] : NULL;
}

bool wmi_builder_take(struct wmi_builder *b, wmi_body body, uint32_t row, uint32_t *scalar)
{
    if (b->count < b->block_start + 2)
        return false;
    const struct wmi_op *op = &b->steps[b->count - 2];
    if (op->body != body || op->d != row)
        return false;
    *scalar = op->a;
    b->steps[b->count - 2] = b->steps[b->count - 1];
    b->count--;
    for (unsigned i = 0; i < CACHED_ROWS; i++)
        if (b->cache[i].row == row)
            b->cache[i] = (struct broadcast){0};
    return true;
}

void wmi_builder_may_drop_mask(struct wmi_builder *b, uint32_t mask, wmi_body without)
{
    b->unread.step = b->count - 1;
    b->unread.mask = mask;
    b->unread.without = without;
}

struct wmi_op *wmi_builder_step(struct wmi_builder *b, size_t index)
{
    return index < b->count ? &b->steps[index] : &b->spare;
}

size_t wmi_builder_steps(const struct wmi_builder *b)
{
    return b->count;
}

void wmi_builder_end_block(struct wmi_builder *b)
{
    b->ended = true;
}

uint32_t wmi_lower_temporary(struct wmi_builder *b, unsigned rows)
{
    const uint32_t offset =
        (uint32_t)offsetof(struct wmi_frame, rows) + b->temporaries * b->program->row_bytes;
    b->temporaries += rows;
    assert(b->temporaries <= INSTRUCTION_TEMPORARIES);
    return offset;
}

uint32_t wmi_lower_lane_set(struct wmi_builder *b)
{
    assert(b->lane_sets < WMI_LANE_SETS);
    return (uint32_t)(offsetof(struct wmi_frame, lanes) + b->lane_sets++ * sizeof(struct wmi_lanes));
}

uint32_t wmi_lower_temporary_scalar(struct wmi_builder *b)
{
    const unsigned slot = PROGRAM_SCALARS + b->scalar_temporaries++;
    assert(b->scalar_temporaries <= SCALAR_TEMPORARIES);
    return (uint32_t)(offsetof(struct wmi_frame, constant) + slot * sizeof(uint64_t));
}

uint32_t wmi_lower_scalar_constant(struct wmi_builder *b, uint64_t value)
{
    struct wmi_program *program = b->program;
    unsigned slot = 0;
    while (slot < program->scalar_constants && program->scalar_constant[slot] != value)
        slot++;
    if (slot == program->scalar_constants) {
        if (program->sealed || slot == PROGRAM_SCALARS) {
            const uint32_t place = wmi_lower_temporary_scalar(b);
            struct wmi_op *op = wmi_emit(b, wmi_step_constant);
            op->d = place;
            op->value = value;
            return place;
        }
        program->scalar_constant[program->scalar_constants++] = value;
    }
    return (uint32_t)(offsetof(struct wmi_frame, constant) + slot * sizeof(uint64_t));
}

static uint32_t broadcast(struct wmi_builder *b, uint32_t scalar, unsigned rows, uint32_t row)
{
    for (unsigned i = 0; i < rows; i++) {
        struct wmi_op *op =
            wmi_emit(b, wmi_stage(wmi_builder_level(b), wmi_builder_lanes(b), WMI_STAGE_BROADCAST));
        op->a = scalar + 4 * i;
        op->d = row + i * b->program->row_bytes;
    }
    return row;
}

uint32_t wmi_lower_vector_constant(struct wmi_builder *b, uint64_t value, unsigned rows)
{
    struct wmi_program *program = b->program;
    for (unsigned i = 0; i < program->vector_constants; i++) {
        const struct vector_constant *c = &program->vector_constant[i];
        if (c->value == value && c->rows >= rows)
            return c->offset;
    }
    if (program->sealed || program->constant_rows + rows > VECTOR_CONSTANTS)
        return broadcast(b, wmi_lower_scalar_constant(b, value), rows, wmi_lower_temporary(b, rows));
    const uint32_t offset = program->constant_offset + program->constant_rows * program->row_bytes;
    program->vector_constant[program->vector_constants++] = (struct vector_constant){value, rows, offset};
    program->constant_rows += rows;
    return offset;
}

/* Where a special register lies in the scalar file. */
static uint32_t special_slot(unsigned special)
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
        [WMI_SPECIAL_SCC] = WMI_S_SCC,
        [WMI_SPECIAL_VCCZ] = WMI_S_VCCZ,
        [WMI_SPECIAL_EXECZ] = WMI_S_EXECZ,
        [WMI_SPECIAL_FLAT_SCRATCH] = WMI_S_FLAT_SCRATCH,
        [WMI_SPECIAL_FLAT_SCRATCH_LO] = WMI_S_FLAT_SCRATCH,
        [WMI_SPECIAL_FLAT_SCRATCH_HI] = WMI_S_FLAT_SCRATCH + 1,
        [WMI_SPECIAL_XNACK_MASK] = WMI_S_XNACK_MASK,
        [WMI_SPECIAL_XNACK_MASK_LO] = WMI_S_XNACK_MASK,
        [WMI_SPECIAL_XNACK_MASK_HI] = WMI_S_XNACK_MASK + 1,
        [WMI_SPECIAL_SHARED_BASE] = WMI_S_SHARED_BASE,
        [WMI_SPECIAL_SHARED_LIMIT] = WMI_S_SHARED_LIMIT,
        [WMI_SPECIAL_PRIVATE_BASE] = WMI_S_PRIVATE_BASE,
        [WMI_SPECIAL_PRIVATE_LIMIT] = WMI_S_PRIVATE_LIMIT,
    };
    return slots[special];
}

static bool is_scalar_register(const struct wmi_operand *operand)
{
    return operand->kind == WMI_OPERAND_SGPR || operand->kind == WMI_OPERAND_TTMP ||
           operand->kind == WMI_OPERAND_SPECIAL;
}

uint32_t wmi_lower_scalar(struct wmi_builder *b, const struct wmi_operand *operand)
{
    switch (operand->kind) {
    case WMI_OPERAND_SGPR:
        return 4u * operand->reg;
    case WMI_OPERAND_TTMP:
        return 4u * (WMI_S_TTMP + operand->reg);
    case WMI_OPERAND_SPECIAL:
        if (operand->reg == WMI_SPECIAL_NULL && !operand->written)
            return wmi_lower_scalar_constant(b, 0);
        if (operand->reg == WMI_SPECIAL_VCCZ || operand->reg == WMI_SPECIAL_EXECZ)
            wmi_emit(b, wmi_step_mask_zero)->d = 4 * special_slot(operand->reg);
        return 4 * special_slot(operand->reg);
    default:
        return wmi_lower_scalar_constant(b, operand->value);
    }
}

uint32_t wmi_lower_vgpr(struct wmi_builder *b, unsigned reg, unsigned count, bool *ok)
{
    if (reg + count > b->program->options.vgprs + b->program->options.agprs) {
        *ok = false;
        return b->program->vgpr_offset;
    }
    return b->program->vgpr_offset + reg * b->program->row_bytes;
}

/* The rows that hold the scalar in all lanes; broadcast only once while its value stands. */
static uint32_t cached_broadcast(struct wmi_builder *b, uint32_t scalar, unsigned dwords)
{
    if (dwords > 1)
        return broadcast(b, scalar, dwords, wmi_lower_temporary(b, dwords));
    struct broadcast *oldest = &b->cache[0];
    for (unsigned i = 0; i < CACHED_ROWS; i++) {
        struct broadcast *entry = &b->cache[i];
        if (entry->dwords && entry->scalar == scalar) {
            entry->used = ++b->clock;
            return entry->row;
        }
        if (entry->used < oldest->used)
            oldest = entry;
    }
    const uint32_t row = (uint32_t)offsetof(struct wmi_frame, rows) +
                         (INSTRUCTION_TEMPORARIES + (uint32_t)(oldest - b->cache)) * b->program->row_bytes;
    *oldest = (struct broadcast){scalar, row, 1, ++b->clock};
    return broadcast(b, scalar, 1, row);
}

static void forget_broadcasts(struct wmi_builder *b)
{
    memset(b->cache, 0, sizeof b->cache);
}

static void forget_broadcasts_of(struct wmi_builder *b, uint32_t scalar, unsigned dwords)
{
    for (unsigned i = 0; i < CACHED_ROWS; i++) {
        struct broadcast *entry = &b->cache[i];
        if (entry->dwords && entry->scalar < scalar + 4 * dwords &&
            scalar < entry->scalar + 4 * entry->dwords)
            *entry = (struct broadcast){0};
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
    if (operand->kind == WMI_OPERAND_SPECIAL && operand->reg == WMI_SPECIAL_NULL)
        return wmi_lower_vector_constant(b, 0, rows);
    if (is_scalar_register(operand)) {
        const uint32_t scalar = wmi_lower_scalar(b, operand);
        if (operand->kind == WMI_OPERAND_SPECIAL &&
            (operand->reg == WMI_SPECIAL_VCCZ || operand->reg == WMI_SPECIAL_EXECZ))
            return broadcast(b, scalar, rows, wmi_lower_temporary(b, rows));
        return cached_broadcast(b, scalar, rows);
    }
    return wmi_lower_vector_constant(b, operand->value, rows);
}

/* ---- one instruction ---- */

static const wmi_lower lowerings[] = {
    [WMI_CLASS_SALU] = wmi_lower_salu,
    [WMI_CLASS_VALU] = wmi_lower_valu,
    [WMI_CLASS_CONTROL] = wmi_lower_control,
    [WMI_CLASS_SMEM] = wmi_lower_scalar_memory,
    [WMI_CLASS_BUFFER] = wmi_lower_vector_memory,
    [WMI_CLASS_TBUFFER] = wmi_lower_vector_memory,
    [WMI_CLASS_IMAGE] = wmi_lower_image,
    [WMI_CLASS_FLAT] = wmi_lower_vector_memory,
    [WMI_CLASS_GLOBAL] = wmi_lower_vector_memory,
    [WMI_CLASS_SCRATCH] = wmi_lower_vector_memory,
    [WMI_CLASS_DS] = wmi_lower_lds,
    [WMI_CLASS_EXPORT] = NULL,
};

/* Those of both halves of a pair. */
static unsigned operand_count(const struct wmi_instruction *insn)
{
    return insn->operands + (insn->second_id ? insn->second_operands : 0u);
}

/* A vector source that is read from LDS when the instruction executes. */
static bool is_lds_direct(const struct wmi_instruction *insn, const struct wmi_operand *operand)
{
    return operand->reg == WMI_SPECIAL_LDS_DIRECT && operand->role == WMI_ROLE_A && operand->dwords < 2 &&
           wmi_rows[insn->id].class == WMI_CLASS_VALU;
}

/* TBA and the like have no place in the frame, nor have constants of more than 64 bits. */
static bool operands_have_places(const struct wmi_instruction *insn)
{
    for (unsigned i = 0; i < operand_count(insn); i++) {
        const struct wmi_operand *operand = &insn->operand[i];
        const bool special = operand->kind == WMI_OPERAND_SPECIAL;
        const bool constant = operand->kind == WMI_OPERAND_CONSTANT || operand->kind == WMI_OPERAND_LITERAL ||
                              (special && operand->reg == WMI_SPECIAL_NULL && !operand->written);
        if ((constant && operand->dwords > 2) ||
            (special && !special_slot(operand->reg) && !is_lds_direct(insn, operand)))
            return false;
    }
    return true;
}

/* Every VGPR and AccVGPR that the instruction names must be one that the kernel has; of a block, whose
 * registers M0 chooses, the first. */
static bool registers_exist(const struct wmi_builder *b, const struct wmi_instruction *insn)
{
    enum { BLOCK = 32 };
    const struct wmi_program_options *options = &b->program->options;
    const bool block = wmi_rows[insn->id].memory && wmi_rows[insn->id].elements == BLOCK;
    for (unsigned i = 0; i < operand_count(insn); i++) {
        const struct wmi_operand *operand = &insn->operand[i];
        const unsigned count = block && operand->dwords == BLOCK ? 1 : operand->dwords;
        if ((operand->kind == WMI_OPERAND_VGPR && operand->reg + count > options->vgprs) ||
            (operand->kind == WMI_OPERAND_AGPR && operand->reg + operand->dwords > options->agprs))
            return false;
    }
    return true;
}

/* AccVGPRs are the rows behind the VGPRs, and are lowered as registers of those numbers. */
static void renumber_accumulators(const struct wmi_builder *b, struct wmi_instruction *insn)
{
    for (unsigned i = 0; i < operand_count(insn); i++) {
        struct wmi_operand *operand = &insn->operand[i];
        if (operand->kind == WMI_OPERAND_AGPR) {
            operand->kind = WMI_OPERAND_VGPR;
            operand->reg = (uint16_t)(operand->reg + b->program->options.vgprs);
        }
    }
}

static void emit_fault(struct wmi_builder *b, enum wm_fault_kind kind)
{
    struct wmi_op *op = wmi_emit(b, wmi_step_fault);
    op->x = kind;
    op->value = b->pc;
    op->c = wmi_builder_take_count(b);
    b->ended = true;
}

/* Where the scalar registers of an operand lie; false if it is none. */
static bool scalar_place(struct wmi_builder *b, const struct wmi_operand *operand, uint32_t *slot,
                         unsigned *dwords)
{
    if (!is_scalar_register(operand))
        return false;
    *slot =
        operand->kind == WMI_OPERAND_SPECIAL ? 4 * special_slot(operand->reg) : wmi_lower_scalar(b, operand);
    *dwords = operand->dwords ? operand->dwords : 1;
    return true;
}

/* What later instructions of the block may no longer assume, and EXEC's lane set brought up to date. */
static void settle_writes(struct wmi_builder *b, const struct wmi_instruction *insn)
{
    const struct wmi_row *row = &wmi_rows[insn->id];
    bool exec = row->flags & WMI_ROW_WRITES_EXEC;
    uint32_t slot;
    unsigned dwords;
    if (row->flags & WMI_ROW_WRITES_VCC)
        forget_broadcasts_of(b, 4 * WMI_S_VCC, 2);
    if (row->flags & WMI_ROW_WRITES_SCC)
        forget_broadcasts_of(b, 4 * WMI_S_SCC, 1);
    if (row->class == WMI_CLASS_CONTROL && row->flags & WMI_ROW_READS_M0)
        forget_broadcasts(b); /* s_movreld: any SGPR */
    for (unsigned i = 0; i < operand_count(insn); i++) {
        const struct wmi_operand *operand = &insn->operand[i];
        if (!operand->written || !scalar_place(b, operand, &slot, &dwords))
            continue;
        forget_broadcasts_of(b, slot, dwords);
        exec |= slot < 4 * (WMI_S_EXEC + 2) && slot + 4 * dwords > 4 * WMI_S_EXEC;
    }
    if (exec && !b->ended) {
        forget_broadcasts_of(b, 4 * WMI_S_EXEC, 2);
        wmi_emit(b, wmi_stage(wmi_builder_level(b), wmi_builder_lanes(b), WMI_STAGE_EXEC));
    }
}

/* Most carries out of 64-bit sums are overwritten before anything reads them: then the sum need not make
 * them.
 */
static void settle_unread_mask(struct wmi_builder *b, const struct wmi_instruction *insn)
{
    const struct wmi_row *row = &wmi_rows[insn->id];
    const struct wmi_flow flow = wmi_control_flow(insn);
    const uint32_t low = b->unread.mask, high = low + wmi_builder_lanes(b) / 8;
    bool read = row->flags & (WMI_ROW_READS_VCC | WMI_ROW_READS_M0), written = flow.wave_ends;
    uint32_t slot;
    unsigned dwords;
    if (!b->unread.without || flow.nothing)
        return;
    if (row->class == WMI_CLASS_CONTROL && !flow.wave_ends)
        read = true;
    for (unsigned i = 0; i < operand_count(insn); i++) {
        const struct wmi_operand *operand = &insn->operand[i];
        read |= operand->kind == WMI_OPERAND_SPECIAL && operand->reg == WMI_SPECIAL_VCCZ;
        if (!scalar_place(b, operand, &slot, &dwords) || slot >= high || slot + 4 * dwords <= low)
            continue;
        if (operand->written && !operand->read && slot <= low && slot + 4 * dwords >= high)
            written = true;
        else
            read = true;
    }
    if (written && !read)
        b->steps[b->unread.step].body = b->unread.without;
    if (written || read)
        b->unread.without = NULL;
}

static bool is_vector(const struct wmi_row *row)
{
    return row->class != WMI_CLASS_SALU && row->class != WMI_CLASS_CONTROL && row->class != WMI_CLASS_SMEM;
}

size_t wmi_execution_counters(void)
{
    size_t count = WMI_INSN_COUNT;
    for (const struct wmi_fidelity *f = wmi_fidelities; f->id; f++)
        count++;
    return count;
}

/* The worker's counter number op->x counts an execution. */
static const struct wmi_op *count_execution(char *restrict frame, const struct wmi_op *op)
{
    wmi_wave_of(frame)->worker->executed[op->x]++;
    return wmi_next(frame, op);
}

static void emit_execution(struct wmi_builder *b, const struct wmi_instruction *insn)
{
    const struct wmi_fidelity *fidelity = wmi_fidelity_of(insn);
    const uint32_t counter = fidelity ? WMI_INSN_COUNT + (uint32_t)(fidelity - wmi_fidelities) : insn->id;
    wmi_emit(b, count_execution)->x = counter;
    if (insn->second_id)
        wmi_emit(b, count_execution)->x = insn->second_id;
}

/* The observer sees that the wave comes to instruction number op->x. */
static const struct wmi_op *show_instruction(char *restrict frame, const struct wmi_op *op)
{
    struct wmi_wave *wave = wmi_wave_of(frame);
    ((const struct wmi_observer *)op->data)
        ->execute(wave->worker->observer, &wave->watched, op->x, ((const struct wmi_frame *)frame)->s);
    return wmi_next(frame, op);
}

static void emit_shown(struct wmi_builder *b, const struct wmi_instruction *insn)
{
    const struct wmi_observer *observer = b->program->options.observer;
    if (!observer || !observer->execute)
        return;
    const uint32_t number = observer->decoded(observer->self, b->pc, insn);
    if (number == WMI_NOT_SHOWN)
        return;
    struct wmi_op *op = wmi_emit(b, show_instruction);
    op->x = number;
    op->data = observer;
}

static void lower_instruction(struct wmi_builder *b, struct wmi_instruction *insn)
{
    const size_t start = b->count;
    b->temporaries = b->lane_sets = b->scalar_temporaries = 0;
    b->uncounted++;
    if (b->count - b->last_return >= STEPS_IN_A_ROW) {
        b->last_return = b->count;
        wmi_emit(b, wmi_step_return);
    }
    if (b->state & WMI_STATE_VSKIP && is_vector(&wmi_rows[insn->id]))
        return;
    if (!registers_exist(b, insn)) {
        emit_fault(b, WM_FAULT_INSTRUCTION);
        return;
    }
    emit_shown(b, insn);
    b->depth = wmi_block_depth(b, &b->block, insn);
    renumber_accumulators(b, insn);
    settle_unread_mask(b, insn);
    if (b->program->options.counts)
        emit_execution(b, insn);
    const wmi_lower lower = lowerings[wmi_rows[insn->id].class];
    if (!lower || !operands_have_places(insn) || !lower(b, insn)) {
        if (!b->out_of_memory)
            b->count = start;
        forget_broadcasts(b);
        emit_fault(b, WM_FAULT_TODO);
        return;
    }
    settle_writes(b, insn);
}

/* ---- a session: all that can be reached from one address ---- */

bool wmi_program_decode(const struct wmi_program *program, uint64_t pc, struct wmi_instruction *insn)
{
    const struct wmi_allocation *allocation = wmi_space_find(program->options.space, pc);
    uint32_t words[WMI_INSTRUCTION_DWORDS];
    if (!allocation || pc & 3)
        return false;
    const uint64_t left = (allocation->high - pc) / 4;
    const size_t available = left < WMI_INSTRUCTION_DWORDS ? (size_t)left : WMI_INSTRUCTION_DWORDS;
    /* A copy, because code is memory that other waves may write while this one decodes it. */
    memcpy(words, allocation->host + (pc - allocation->low), 4 * available);
    return wmi_decode(program->options.target, words, available, insn);
}

/* A step that goes on at `place`, found when it is first reached. */
static void emit_goto(struct wmi_builder *b, uint64_t place)
{
    struct wmi_op *op = wmi_emit(b, wmi_step_branch);
    op->c = wmi_builder_take_count(b);
    wmi_step_set_target(op, place);
}

/* Predecodes from `entry`. Called with the lock held, or before the program is shared. */
static void build_from(struct wmi_program *program, uint64_t entry)
{
    struct wmi_scan scan = {0};
    struct wmi_builder b = {.program = program};
    wmi_scan(&scan, program, &program->map, entry,
             program->step_count < MANY_STEPS ? SCAN_LIMIT : SHORT_SCAN);
    size_t *first_step = calloc(scan.count + 1, sizeof *first_step); /* step index + 1 of each leader */
    bool ok = first_step && !scan.out_of_memory;
    uint64_t expected = 0;
    bool falls = false; /* the instruction before runs on into `expected` */
    for (size_t i = 0; ok && i < scan.count; i++) {
        const struct wmi_found *found = &scan.found[i];
        struct wmi_instruction insn;
        bool leader = found->leader;
        if (falls && expected != found->place) {
            wmi_block_runs_on(&b, &b.block, wmi_pc_of(expected));
            emit_goto(&b, expected);
            falls = false;
        }
        if (!falls)
            leader = true;
        if (leader) {
            if (falls && b.uncounted) {
                struct wmi_op *op = wmi_emit(&b, wmi_step_count);
                op->c = wmi_builder_take_count(&b);
            }
            if (falls)
                wmi_block_runs_on(&b, &b.block, wmi_pc_of(found->place));
            forget_broadcasts(&b);
            first_step[i] = b.count + 1;
            b.block_start = b.count;
            b.unread.without = NULL;
            wmi_block_begin(&b, &b.block, wmi_pc_of(found->place), false);
        }
        b.pc = wmi_pc_of(found->place);
        b.state = found->place & WMI_STATE_BITS;
        b.ended = false;
        wmi_block_goes_on(&b, &b.block, b.pc);
        if (wmi_program_decode(program, b.pc, &insn)) {
            const struct wmi_flow flow = wmi_control_flow(&insn);
            b.next_pc = b.pc + 4u * insn.dwords;
            expected = b.next_pc | ((b.state & ~(unsigned)flow.clears) | flow.sets);
            lower_instruction(&b, &insn);
            wmi_block_takes(&b, &b.block, &flow);
        } else {
            emit_fault(&b, WM_FAULT_INSTRUCTION);
        }
        falls = !b.ended;
        if (b.ended) {
            wmi_block_end(&b, &b.block);
            b.uncounted = 0;
        }
    }
    if (falls) {
        wmi_block_runs_on(&b, &b.block, wmi_pc_of(expected));
        emit_goto(&b, expected);
    }
    struct chunk *chunk = ok ? malloc(sizeof *chunk + (b.count + 1) * sizeof *chunk->steps) : NULL;
    ok = chunk && !b.out_of_memory && wmi_step_map_reserve(&program->map, scan.count);
    if (ok) {
        memcpy(chunk->steps, b.steps, b.count * sizeof *b.steps);
        chunk->next = program->chunks;
        program->chunks = chunk;
        program->step_count += b.count;
        for (size_t i = 0; i < scan.count; i++)
            if (first_step[i])
                wmi_step_map_add(&program->map, scan.found[i].place, &chunk->steps[first_step[i] - 1]);
    } else {
        free(chunk);
    }
    free(first_step);
    free(b.steps);
    wmi_scan_free(&scan);
}

uint64_t wmi_program_pc_of(struct wmi_program *program, const struct wmi_op *step)
{
    bool found = false;
    uint64_t pc = 0;
    pthread_mutex_lock(&program->lock);
    for (size_t i = 0; i < program->map.capacity; i++) {
        if (program->map.entries[i].step == step) {
            pc = wmi_pc_of(program->map.entries[i].place);
            found = true;
        }
    }
    pthread_mutex_unlock(&program->lock);
    /* No branch leads there, so the wave paused at the step before. */
    return found ? pc : step[-1].value;
}

const struct wmi_op *wmi_program_at(struct wmi_program *program, uint64_t place, bool *full)
{
    pthread_mutex_lock(&program->lock);
    const struct wmi_op *step = wmi_step_map_find(&program->map, place);
    *full = program->step_count >= WMI_STEP_LIMIT;
    if (!step && !*full) {
        build_from(program, place);
        step = wmi_step_map_find(&program->map, place);
    }
    pthread_mutex_unlock(&program->lock);
    return step;
}

/* ---- the program ---- */

struct wmi_program *wmi_program_create(const struct wmi_program_options *options)
{
    struct wmi_program *program = calloc(1, sizeof *program);
    if (!program)
        return NULL;
    program->options = *options;
    program->row_bytes = 4 * options->lanes;
    program->vgpr_offset =
        (uint32_t)offsetof(struct wmi_frame, rows) + WMI_TEMPORARY_ROWS * program->row_bytes;
    program->constant_offset = program->vgpr_offset + (options->vgprs + options->agprs) * program->row_bytes;
    pthread_mutex_init(&program->lock, NULL);
    build_from(program, options->entry);
    program->sealed = true;
    return program;
}

void wmi_program_destroy(struct wmi_program *program)
{
    if (!program)
        return;
    for (struct chunk *chunk = program->chunks, *next; chunk; chunk = next) {
        next = chunk->next;
        free(chunk);
    }
    for (struct memory_op_node *node = program->memory_ops, *next; node; node = next) {
        next = node->next;
        free(node);
    }
    free(program->map.entries);
    pthread_mutex_destroy(&program->lock);
    free(program);
}

size_t wmi_program_frame_size(const struct wmi_program *program)
{
    return program->constant_offset + program->constant_rows * program->row_bytes;
}

void wmi_program_prepare_frame(const struct wmi_program *program, struct wmi_frame *frame)
{
    memcpy(frame->constant, program->scalar_constant, sizeof program->scalar_constant);
    frame->first = (struct wmi_lanes){.bits = 1, .row = {UINT32_MAX}};
    for (unsigned i = 0; i < program->vector_constants; i++) {
        const struct vector_constant *c = &program->vector_constant[i];
        uint32_t *row = (uint32_t *)((char *)frame + c->offset);
        for (unsigned r = 0; r < c->rows; r++)
            for (unsigned lane = 0; lane < program->options.lanes; lane++)
                row[r * program->options.lanes + lane] = (uint32_t)(c->value >> 32 * r);
    }
}

size_t wmi_program_steps(const struct wmi_program *program)
{
    return program->step_count;
}

uint32_t wmi_program_vgpr_offset(const struct wmi_program *program)
{
    return program->vgpr_offset;
}

uint32_t wmi_program_row_bytes(const struct wmi_program *program)
{
    return program->row_bytes;
}

const struct wmi_program_options *wmi_program_options(const struct wmi_program *program)
{
    return &program->options;
}
