/* SPDX-License-Identifier: MIT */
/* Lowers FLAT, GLOBAL and SCRATCH instructions. */
#include "lower/classes.h"
#include "memory/buffer.h"
#include "wavemem/wavemem.h"

/* Offset of a VGPR operand's rows; 0 if the operand is absent and thus not used. */
static bool vector_rows(struct wmi_builder *b, const struct wmi_operand *operand, uint32_t *offset)
{
    bool ok = true;
    *offset = 0;
    if (!operand || operand->kind == WMI_OPERAND_OFF || operand->kind == WMI_OPERAND_NONE)
        return true;
    if (operand->kind != WMI_OPERAND_VGPR)
        return false;
    *offset = wmi_lower_vgpr(b, operand->reg, operand->dwords, &ok);
    return ok;
}

/* Emits the step that computes the offsets of ADDTID instructions, and returns their row. */
static uint32_t thread_offsets(struct wmi_builder *b)
{
    const uint32_t row = wmi_lower_temporary(b, 1);
    wmi_emit(b, WMI_STEP_vmem_thread_offsets)->d = row;
    return row;
}

enum {
    WIDEST = 4, /* maximum dwords per lane of non-block instructions */
};

/* By what scale_offset multiplies an offset in a VGPR: the bytes of the data. Source: CDNA 5 ISA,
 * "Addressing"; unverified of blocks, of which no size is given (ours a dword). */
static unsigned scale_of(const struct wmi_instruction *insn)
{
    const struct wmi_row *row = &wmi_rows[insn->id];
    return !insn->field[WMI_FIELD_scale_offset] ? 1u
           : row->elements > WIDEST             ? row->bytes
                                                : (unsigned)row->elements * row->bytes;
}

/* Emits a body in the lanes of EXEC: d = the function of rows a, b and c, of so many dwords each. */
static struct wmi_step *emit_rows(struct wmi_builder *b, unsigned body, const uint32_t place[4],
                                  const unsigned dwords[4])
{
    struct wmi_step *step = wmi_emit(b, wmi_step_of_body(body));
    uint32_t *const to[] = {&step->d, &step->a, &step->b, &step->c};
    const unsigned operands[] = {WMI_OP_D, WMI_OP_A, WMI_OP_B, WMI_OP_C};
    for (unsigned i = 0; i < 4; i++) {
        *to[i] = place[i];
        if (dwords[i])
            step->use[operands[i]] =
                (uint8_t)(WMI_USE_READ | (i ? 0 : WMI_USE_WRITE) | WMI_USE_ROWS | dwords[i]);
    }
    return step;
}

/* Rows of 64-bit addresses: the scalar base, and the signed offset of each lane times `scale`. */
static uint32_t signed_sum(struct wmi_builder *b, const struct wmi_operand *base, uint32_t offset,
                           unsigned scale)
{
    const uint32_t row = wmi_builder_lanes(b) * 4, sum = wmi_lower_temporary(b, 2),
                   wide = wmi_lower_temporary(b, 2), from = wmi_lower_vector(b, base);
    if (scale & (scale - 1)) {
        const uint32_t factor = wmi_lower_vector_constant(b, scale, 1), carry = wmi_lower_temporary_scalar(b);
        struct wmi_step *step = emit_rows(b, WMI_INSN_v_mad_i64_i32, (uint32_t[]){sum, offset, factor, from},
                                          (unsigned[]){2, 1, 1, 2});
        step->e = carry;
        step->use[WMI_OP_E] = WMI_USE_WRITE | WMI_USE_WORDS | WMI_USE_MASK;
        return sum;
    }
    const uint32_t count = wmi_lower_vector_constant(b, (uint32_t)__builtin_ctz(scale), 1),
                   sign = wmi_lower_vector_constant(b, 31, 1);
    emit_rows(b, WMI_INSN_v_mov_b32, (uint32_t[]){wide, offset, 0, 0}, (unsigned[]){1, 1, 0, 0});
    emit_rows(b, WMI_INSN_v_ashrrev_i32, (uint32_t[]){wide + row, sign, wide, 0}, (unsigned[]){1, 1, 1, 0});
    emit_rows(b, WMI_INSN_v_lshl_add_u64, (uint32_t[]){sum, wide, count, from}, (unsigned[]){2, 2, 1, 2});
    return sum;
}

/* A row of the offsets in private memory, times `scale`. */
static uint32_t scaled(struct wmi_builder *b, uint32_t offset, unsigned scale)
{
    const uint32_t product = wmi_lower_temporary(b, 1), factor = wmi_lower_vector_constant(b, scale, 1);
    emit_rows(b, WMI_INSN_v_mul_lo_u32, (uint32_t[]){product, offset, factor, 0}, (unsigned[]){1, 1, 1, 0});
    return product;
}

/* Fills the form (x), a and b of the step for the FLAT family. */
static bool lower_address(struct wmi_builder *b, const struct wmi_instruction *insn, struct wmi_step *step)
{
    const unsigned scale = scale_of(insn);
    const struct wmi_operand *addr = wmi_operand(insn, WMI_ROLE_ADDR);
    const struct wmi_operand *saddr = wmi_operand(insn, WMI_ROLE_SADDR);
    const bool has_addr = addr && addr->kind == WMI_OPERAND_VGPR;
    const bool has_saddr = saddr && saddr->kind != WMI_OPERAND_OFF && saddr->kind != WMI_OPERAND_NONE;
    const bool scratch = wmi_rows[insn->id].class == WMI_CLASS_SCRATCH;
    step->b = has_saddr ? wmi_lower_scalar(b, saddr) : wmi_lower_scalar_constant(b, 0);
    if (scratch) {
        step->x = WMI_VMEM_SCRATCH;
        step->y = has_addr ? 0 : WMI_VMEM_SCALAR_ONLY;
    } else {
        if (!has_addr && addr)
            return false;
        step->x = has_saddr || !addr ? WMI_VMEM_SADDR : WMI_VMEM_VADDR;
    }
    if (!has_addr) {
        step->a = scratch ? wmi_lower_vector_constant(b, 0, 1) : thread_offsets(b);
        return true;
    }
    if (!vector_rows(b, addr, &step->a))
        return false;
    if (scratch && scale > 1)
        step->a = scaled(b, step->a, scale);
    if (step->x == WMI_VMEM_SADDR && wmi_builder_limit(b, WMI_LIMIT_vgpr_offsets_signed)) {
        step->a = signed_sum(b, saddr, step->a, scale);
        step->x = WMI_VMEM_VADDR;
    }
    return true;
}

/* A load to LDS goes through temporary rows, d of `load`. M0 holds the LDS address: bits 15:0 for loads with
 * an LDS bit, dword-aligned bits 17:0 for dedicated instructions; asynchronous ones have one for each lane.
 * Sources: Vega ISA, "LDS" bit of GLOBAL; CDNA 3 ISA, "Memory Buffer Load to LDS"; CDNA 5 ISA, "Asynchronous
 * Memory Load and Store". */
static bool lower_to_lds(struct wmi_builder *b, const struct wmi_instruction *insn,
                         const struct wmi_step *load)
{
    const struct wmi_operand *places = wmi_operand(insn, WMI_ROLE_DATA2);
    struct wmi_step step = {.a = load->d, .data = load->data, .lanes = load->lanes};
    if (!vector_rows(b, places, &step.b))
        return false;
    step.y = places ? 0 : insn->field[WMI_FIELD_lds] ? 0xffff : 0x3fffc;
    wmi_lower_lds_move(b, load->data, &step, true);
    wmi_emit_as(b, places ? WMI_STEP_vmem_to_lds_lanes : WMI_STEP_vmem_to_lds, &step);
    return true;
}

/* The LDS side of an asynchronous store: fills temporary rows, which become its data. */
static void lower_from_lds(struct wmi_builder *b, struct wmi_memory_op *m, struct wmi_step *store)
{
    struct wmi_step step = {.b = store->c, .data = m, .lanes = store->lanes};
    step.d = store->c = wmi_lower_temporary(b, m->elements);
    wmi_lower_lds_move(b, m, &step, false);
    wmi_emit_as(b, WMI_STEP_vmem_from_lds_lanes, &step);
}

/* Block loads and stores. The block may extend past the kernel's registers: missing registers are not loaded,
 * and v0 is stored in their place (RDNA 4 ISA, "Error Handling"). */
static bool lower_block(struct wmi_builder *b, const struct wmi_instruction *insn, struct wmi_step *step)
{
    const struct wmi_operand *data = wmi_operand(insn, WMI_ROLE_DATA);
    const struct wmi_operand *block = data ? data : wmi_operand(insn, WMI_ROLE_D);
    bool ok = true;
    if (!lower_address(b, insn, step))
        return false;
    struct wmi_memory_op *m = wmi_builder_memory_op(b, insn);
    const unsigned left = wmi_builder_vgprs(b) - block->reg;
    m->parameter = left < block->dwords ? left : block->dwords;
    step->c = step->d = wmi_lower_vgpr(b, block->reg, 1, &ok);
    step->y |= 2 * wmi_lower_vgpr(b, 0, 1, &ok);
    step->e = wmi_lower_temporary(b, 2);
    step->data = m;
    wmi_emit_as(b, WMI_STEP_vmem_keep_addresses, step);
    wmi_emit_watch(b, WMI_STEP_vmem_block_watch, step);
    wmi_emit_as(b, WMI_STEP_vmem_block, step);
    return ok;
}

/* Transposing matrix loads: an ordinary load into temporary rows, whose elements are then distributed to the
 * lanes. On gfx12.0, the first 32 lanes supply the addresses. */
static void lower_transposed(struct wmi_builder *b, const struct wmi_transpose *transpose,
                             struct wmi_step *step)
{
    step->d = wmi_lower_temporary(b, 4);
    if (transpose->step != WMI_STEP_vmem_transpose)
        return;
    step->lanes = wmi_lower_lane_set(b);
    wmi_emit(b, WMI_STEP_vmem_first_lanes)->d = step->lanes;
}

/* Loads that ask for a wake-up: nothing sleeps here until it is woken. Their addresses must be aligned to
 * their size (CDNA 5 ISA, FLAT_LOAD_MONITOR_*). */
static bool is_monitor(unsigned id)
{
    return id == WMI_INSN_flat_load_monitor_b32 || id == WMI_INSN_flat_load_monitor_b64 ||
           id == WMI_INSN_flat_load_monitor_b128 || id == WMI_INSN_global_load_monitor_b32 ||
           id == WMI_INSN_global_load_monitor_b64 || id == WMI_INSN_global_load_monitor_b128;
}

/* TFE writes its status to the register after the result; all memory is resident. Source: CLRX, "FLAT
 * encoding". */
static bool lower_status(struct wmi_builder *b, const struct wmi_operand *result)
{
    bool ok = true;
    const uint32_t row = wmi_lower_vgpr(b, result->reg + result->dwords, 1, &ok);
    wmi_emit(b, WMI_STEP_buffer_status)->d = row;
    return ok;
}

static bool is_store_or_load(const struct wmi_row *row)
{
    return row->memory == WMI_MEMORY_LOAD || row->memory == WMI_MEMORY_STORE;
}

/* Emits the step that shows the access if the scalar base may lie in another allocation. */
static void watch_base(struct wmi_builder *b, const struct wmi_memory_op *m, const struct wmi_step *step)
{
    struct wmi_memory_op *base = wmi_code_memory_op(b->code);
    struct wmi_step watch = *step;
    if (!base) {
        b->out_of_memory = true;
        return;
    }
    *base = *m->late;
    base->slot = WMI_LATE_BASE;
    watch.data = base;
    wmi_emit_as(b, WMI_STEP_vmem_watch_base, &watch);
}

bool wmi_lower_vector_memory(struct wmi_builder *b, const struct wmi_instruction *insn)
{
    const struct wmi_row *row = &wmi_rows[insn->id];
    if (row->memory == WMI_MEMORY_CONTROL) { /* memory is coherent */
        wmi_lower_invalidation(b, insn);
        return true;
    }
    const enum wmi_atomic atomic = wmi_lower_atomic(b, insn->id);
    const bool buffer = row->class == WMI_CLASS_BUFFER || row->class == WMI_CLASS_TBUFFER;
    if (row->flags & WMI_ROW_TODO || (!is_store_or_load(row) && atomic == WMI_ATOMIC_NONE))
        return false;

    struct wmi_step step = {.lanes = offsetof(struct wmi_frame, exec)};
    const struct wmi_operand *data = wmi_operand(insn, WMI_ROLE_DATA);
    const struct wmi_operand *result = wmi_operand(insn, WMI_ROLE_D);
    const bool has_result = result && result->kind == WMI_OPERAND_VGPR;
    const bool to_lds = row->memory == WMI_MEMORY_LOAD && !has_result;
    const bool from_lds = row->group == WMI_GROUP_LDS_DMA && row->memory == WMI_MEMORY_STORE;
    const struct wmi_transpose transpose = wmi_lower_transpose(insn->id);
    if (row->elements > WIDEST)
        return lower_block(b, insn, &step);
    if (!vector_rows(b, data, &step.c) || !vector_rows(b, result, &step.d))
        return false;
    if (buffer)
        return wmi_lower_buffer(b, insn, atomic, &step);
    if (!lower_address(b, insn, &step))
        return false;

    struct wmi_memory_op *m = wmi_builder_memory_op(b, insn);
    wmi_lower_multicast(b, insn->id, &step);
    const uint32_t rows = step.d;
    m->parameter = atomic;
    m->must_align = is_monitor(insn->id);
    if (to_lds)
        step.d = wmi_lower_temporary(b, row->elements);
    if (from_lds)
        lower_from_lds(b, m, &step);
    if (transpose.bits)
        lower_transposed(b, &transpose, &step);
    enum wmi_step_id id = WMI_STEP_vmem_careful;
    if (row->memory == WMI_MEMORY_ATOMIC) {
        m->returns = has_result;
        id = WMI_STEP_vmem_atomic;
    } else if (step.x < WMI_VMEM_FAST_FORMS) {
        id = wmi_lower_fast_global(m, step.x);
    }
    if (id == WMI_STEP_NONE)
        return false;
    step.data = m;
    wmi_builder_set_late(b, m);
    if (m->late && step.x == WMI_VMEM_SADDR)
        watch_base(b, m, &step);
    /* No allocation of a dispatch overlaps an aperture. */
    wmi_emit_quick_watch(b, WMI_STEP_vmem_watch,
                         step.x < WMI_VMEM_FAST_FORMS ? WMI_STEP_vmem_watch_quick : WMI_STEP_NONE, &step);
    if (m->kind == WMI_ACCESS_LOAD && b->code->options.scalar_cache != WM_SCALAR_CACHE_COHERENT)
        wmi_emit_as(b, WMI_STEP_scalar_cache_passed_by, &step);
    wmi_emit_as(b, id, &step);
    if (to_lds && !lower_to_lds(b, insn, &step))
        return false;
    if (transpose.bits)
        wmi_emit_transpose(b, &transpose, step.d, rows, offsetof(struct wmi_frame, exec));
    return !insn->field[WMI_FIELD_tfe] || !has_result || lower_status(b, result);
}
