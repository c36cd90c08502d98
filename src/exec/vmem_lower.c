/* SPDX-License-Identifier: MIT */
/* Predecodes FLAT, GLOBAL and SCRATCH instructions: picks the step for what the row says it moves. */
#include "exec/buffer.h"
#include "exec/program.h"
#include "exec/smem_cache.h"
#include "exec/vmem.h"
#include "exec/watch.h"

wmi_body wmi_vmem_fast_step(const struct wmi_builder *builder, const struct wmi_memory_op *m,
                            enum wmi_vmem_form form)
{
    if (m->alignment != WMI_ALIGNMENT_UNALIGNED)
        return wmi_vmem_careful;
    const struct wmi_vmem_step *s = wmi_vmem_steps(wmi_builder_level(builder), wmi_builder_lanes(builder));
    for (; s->elements; s++)
        if (s->kind == m->kind && s->elements == m->elements && s->bytes == m->bytes &&
            s->is_signed == m->is_signed && s->d16 == m->d16 && s->d16_hi == m->d16_hi)
            return s->step[form];
    return NULL;
}

/* The row of a VGPR operand; a missing operand is row 0, which nothing touches then. */
static bool vector_rows(struct wmi_builder *builder, const struct wmi_operand *operand, uint32_t *offset)
{
    bool ok = true;
    *offset = 0;
    if (!operand || operand->kind == WMI_OPERAND_OFF || operand->kind == WMI_OPERAND_NONE)
        return true;
    if (operand->kind != WMI_OPERAND_VGPR)
        return false;
    *offset = wmi_lower_vgpr(builder, operand->reg, operand->dwords, &ok);
    return ok;
}

/* Where the addresses of ADDTID are: in rows that a step of their own fills. */
static uint32_t thread_offsets(struct wmi_builder *builder)
{
    const uint32_t row = wmi_lower_temporary(builder, 1);
    wmi_emit(builder, wmi_vmem_thread_offsets)->d = row;
    return row;
}

/* Fills form, a and b of the step for the FLAT family. */
static bool lower_address(struct wmi_builder *builder, const struct wmi_instruction *insn,
                          struct wmi_op *step)
{
    const struct wmi_operand *addr = wmi_operand(insn, WMI_ROLE_ADDR);
    const struct wmi_operand *saddr = wmi_operand(insn, WMI_ROLE_SADDR);
    const bool has_addr = addr && addr->kind == WMI_OPERAND_VGPR;
    const bool has_saddr = saddr && saddr->kind != WMI_OPERAND_OFF && saddr->kind != WMI_OPERAND_NONE;
    const bool scratch = wmi_rows[insn->id].class == WMI_CLASS_SCRATCH;
    step->b = has_saddr ? wmi_lower_scalar(builder, saddr) : wmi_lower_scalar_constant(builder, 0);
    if (scratch) {
        step->x = WMI_VMEM_SCRATCH;
        step->y = has_addr ? 0 : WMI_VMEM_SCALAR_ONLY;
    } else {
        if (!has_addr && addr)
            return false;
        step->x = has_saddr || !addr ? WMI_VMEM_SADDR : WMI_VMEM_VADDR;
    }
    if (!has_addr) {
        step->a = scratch ? wmi_lower_vector_constant(builder, 0, 1) : thread_offsets(builder);
        return true;
    }
    return vector_rows(builder, addr, &step->a);
}

/* A load to LDS goes by way of a temporary row. M0 holds the place: of its low 16 bits where an ordinary load
 * has a bit for it, dwords of 18 bits where there are instructions for it. Sources: Vega ISA, "LDS" bit of
 * GLOBAL; CDNA 3 ISA, "Memory Buffer Load to LDS". */
static void lower_to_lds(struct wmi_builder *builder, const struct wmi_instruction *insn,
                         const struct wmi_op *load)
{
    struct wmi_op *op = wmi_emit(builder, wmi_vmem_to_lds);
    op->a = load->d;
    op->y = insn->field[WMI_FIELD_lds] ? 0xffff : 0x3fffc;
    op->data = load->data;
}

enum {
    WIDEST = 4,        /* dwords that a lane moves in an instruction that is not of a block */
    MATRIX_COLUMN = 8, /* elements that a lane of a transposing load reads */
};

/* Block loads and stores. The block may end behind the kernel's registers: those that are not there are
 * neither loaded nor, but for v0 instead, stored (RDNA 4 ISA, "Error Handling"). */
static bool lower_block(struct wmi_builder *builder, const struct wmi_instruction *insn, struct wmi_op *step)
{
    const struct wmi_operand *data = wmi_operand(insn, WMI_ROLE_DATA);
    const struct wmi_operand *block = data ? data : wmi_operand(insn, WMI_ROLE_D);
    bool ok = true;
    if (!lower_address(builder, insn, step))
        return false;
    struct wmi_memory_op *m = wmi_builder_memory_op(builder, insn);
    const unsigned left = wmi_builder_vgprs(builder) - block->reg;
    m->parameter = left < block->dwords ? left : block->dwords;
    step->c = step->d = wmi_lower_vgpr(builder, block->reg, 1, &ok);
    step->y |= 2 * wmi_lower_vgpr(builder, 0, 1, &ok);
    step->e = wmi_lower_temporary(builder, 2);
    step->data = m;
    const wmi_body bodies[] = {wmi_vmem_keep_addresses, wmi_vmem_block_watch, wmi_vmem_block};
    for (unsigned i = 0; i < 3; i++) {
        if (bodies[i] == wmi_vmem_block_watch && !wmi_builder_observer(builder))
            continue;
        step->body = bodies[i];
        *wmi_emit(builder, bodies[i]) = *step;
    }
    return ok;
}

/* What loads a matrix by columns: the ordinary load into temporary rows, of which the first 32 lanes give the
 * addresses, and then the elements to their lanes. */
static void lower_transposed(struct wmi_builder *builder, struct wmi_op *step)
{
    step->d = wmi_lower_temporary(builder, 4);
    step->lanes = wmi_lower_lane_set(builder);
    wmi_emit(builder, wmi_vmem_first_lanes)->d = step->lanes;
}

/* The register behind the result, where TFE puts its status: all memory is resident. Source: CLRX, "FLAT
 * encoding". */
static bool lower_status(struct wmi_builder *builder, const struct wmi_operand *result)
{
    bool ok = true;
    const uint32_t row = wmi_lower_vgpr(builder, result->reg + result->dwords, 1, &ok);
    wmi_emit(builder, wmi_buffer_status)->d = row;
    return ok;
}

static bool is_store_or_load(const struct wmi_row *row)
{
    return row->memory == WMI_MEMORY_LOAD || row->memory == WMI_MEMORY_STORE;
}

bool wmi_lower_vector_memory(struct wmi_builder *builder, const struct wmi_instruction *insn)
{
    const struct wmi_row *row = &wmi_rows[insn->id];
    if (row->memory == WMI_MEMORY_CONTROL) { /* memory is coherent anyway */
        wmi_lower_invalidation(builder, insn);
        return true;
    }
    const enum wmi_atomic atomic = wmi_lower_atomic(builder, insn->id);
    const bool buffer = row->class == WMI_CLASS_BUFFER || row->class == WMI_CLASS_TBUFFER;
    if (row->flags & WMI_ROW_TODO || (!is_store_or_load(row) && atomic == WMI_ATOMIC_NONE))
        return false;

    struct wmi_op step = {.lanes = offsetof(struct wmi_frame, exec)};
    const struct wmi_operand *data = wmi_operand(insn, WMI_ROLE_DATA);
    const struct wmi_operand *result = wmi_operand(insn, WMI_ROLE_D);
    const bool has_result = result && result->kind == WMI_OPERAND_VGPR;
    const bool to_lds = row->memory == WMI_MEMORY_LOAD && !has_result;
    const bool transposed = row->flags & WMI_ROW_CROSS_LANE;
    if (row->elements > WIDEST)
        return lower_block(builder, insn, &step);
    if (!vector_rows(builder, data, &step.c) || !vector_rows(builder, result, &step.d))
        return false;
    if (buffer)
        return wmi_lower_buffer(builder, insn, atomic, &step);
    if (!lower_address(builder, insn, &step))
        return false;

    struct wmi_memory_op *m = wmi_builder_memory_op(builder, insn);
    const uint32_t rows = step.d;
    m->parameter = atomic;
    if (to_lds)
        step.d = wmi_lower_temporary(builder, 1);
    if (transposed)
        lower_transposed(builder, &step);
    if (row->memory == WMI_MEMORY_ATOMIC) {
        m->returns = has_result;
        step.body = wmi_vmem_atomic;
    } else if (step.x < WMI_VMEM_FAST_FORMS) {
        step.body = wmi_vmem_fast_step(builder, m, step.x);
    } else {
        step.body = wmi_vmem_careful;
    }
    if (!step.body)
        return false;
    step.data = m;
    if (wmi_builder_observer(builder)) {
        struct wmi_op *watch = wmi_emit(builder, wmi_vmem_watch);
        *watch = step;
        watch->body = wmi_vmem_watch;
        /* Who follows workgroups watches a dispatch, where no allocation meets an aperture; an explained
         * address is in none. */
        if (step.x < WMI_VMEM_FAST_FORMS && wmi_builder_observer(builder)->turn &&
            m->alignment == WMI_ALIGNMENT_UNALIGNED) {
            m->shape = wmi_builder_outline(builder, WMI_SPACE_GLOBAL, 1, (unsigned)m->elements * m->bytes);
            watch->body = wmi_vmem_quick_watch(wmi_builder_level(builder), wmi_builder_lanes(builder));
        }
    }
    if (m->kind == WMI_ACCESS_LOAD && wmi_builder_scalar_cache(builder) != WM_SCALAR_CACHE_COHERENT) {
        struct wmi_op *passed = wmi_emit(builder, wmi_scalar_cache_passed_by);
        *passed = step;
        passed->body = wmi_scalar_cache_passed_by;
    }
    *wmi_emit(builder, step.body) = step;
    if (to_lds)
        lower_to_lds(builder, insn, &step);
    if (transposed) {
        struct wmi_op *op = wmi_emit(builder, wmi_vmem_transpose);
        op->a = step.d;
        op->d = rows;
        op->y = 4u * m->elements / MATRIX_COLUMN;
    }
    return !insn->field[WMI_FIELD_tfe] || !has_result || lower_status(builder, result);
}

#define LEVEL(level)                                                                                         \
    extern const struct wmi_vmem_step wmi_vmem_steps_##level##_64[], wmi_vmem_steps_##level##_32[];
LEVEL(baseline)
#ifdef WMI_X86_LEVELS
LEVEL(avx2)
LEVEL(avx512)
#endif

const struct wmi_vmem_step *wmi_vmem_steps(enum wmi_cpu_level level, unsigned lanes)
{
    static const struct wmi_vmem_step *const steps[WMI_CPU_LEVELS][2] = {
        [WMI_CPU_BASELINE] = {wmi_vmem_steps_baseline_32, wmi_vmem_steps_baseline_64},
#ifdef WMI_X86_LEVELS
        [WMI_CPU_AVX2] = {wmi_vmem_steps_avx2_32, wmi_vmem_steps_avx2_64},
        [WMI_CPU_AVX512] = {wmi_vmem_steps_avx512_32, wmi_vmem_steps_avx512_64},
#endif
    };
    return steps[level][lanes == 64];
}
