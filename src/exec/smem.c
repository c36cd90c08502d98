/* SPDX-License-Identifier: MIT */
/* Scalar memory: loads, stores and atomics of SGPRs, the clocks, and what the scalar cache is told.
 *
 * A step has d: result SGPRs, c: data SGPRs, a: the 64-bit base or the V#, b: a dword that is added to it (an
 * SGPR or the constant 0), data: the struct wmi_memory_op, whose offset is added too. Source: hardware.md
 * section 4; CDNA3 ISA, "Scalar Memory Operations": the low two bits of every component are dropped. */
#include "exec/program.h"
#include "exec/vmem.h"

#include <string.h>

enum {
    CLOCKS_PER_INSTRUCTION = 4, /* a wave64 instruction occupies a SIMD of 16 lanes for 4 cycles */
    CLOCKS_PER_TICK = 15,       /* of s_memrealtime's 100 MHz, at a core clock of 1.5 GHz */
};

static uint32_t scalar_32(const char *frame, uint32_t offset)
{
    uint32_t value;
    memcpy(&value, frame + offset, sizeof value);
    return value;
}

static uint64_t offset_of(const char *frame, const struct wmi_op *op)
{
    const struct wmi_memory_op *m = op->data;
    return (uint64_t)m->offset + (scalar_32(frame, op->b) & ~3u);
}

/* ---- where the bytes are ---- */

/* Apart from the steps, which keep their registers that way. */
static __attribute__((noinline, cold)) const struct wmi_op *
fault(char *frame, const struct wmi_op *op, enum wm_fault_kind kind, uint64_t address, uint32_t bytes)
{
    const struct wmi_memory_op *m = op->data;
    const uint64_t end = address + bytes - 1;
    return wmi_wave_fault(wmi_wave_of(frame), &(struct wmi_fault){
                                                  .kind = kind,
                                                  .pc = m->pc,
                                                  .lanes = 1,
                                                  .low = address,
                                                  .high = end < address ? UINT64_MAX : end,
                                                  .bytes = bytes,
                                                  .store = m->kind != WMI_ACCESS_LOAD,
                                              });
}

/* Host bytes of the range, through the instruction's hit; NULL unless one allocation holds them all. */
static inline unsigned char *reach(char *frame, const struct wmi_op *op, uint64_t address, uint64_t bytes)
{
    const struct wmi_memory_op *m = op->data;
    struct wmi_worker *worker = wmi_wave_of(frame)->worker;
    return wmi_vmem_reach(worker, &worker->hits[m->hit], address, bytes);
}

static bool read_only(char *frame, const struct wmi_op *op)
{
    const struct wmi_memory_op *m = op->data;
    return wmi_wave_of(frame)->worker->hits[m->hit].flags & WM_READ_ONLY;
}

/* ---- loads and stores through an address ---- */

static uint64_t load_address(const char *frame, const struct wmi_op *op)
{
    return (wmi_frame_64(frame, op->a) & ~UINT64_C(3)) + offset_of(frame, op);
}

/* A load outside the allocation of last time. */
static __attribute__((noinline)) const struct wmi_op *load_elsewhere(char *restrict frame,
                                                                     const struct wmi_op *op)
{
    const struct wmi_memory_op *m = op->data;
    const uint32_t bytes = 4u * m->elements;
    const uint64_t address = load_address(frame, op);
    const unsigned char *host = reach(frame, op, address, bytes);
    if (!host)
        return fault(frame, op, WM_FAULT_MEMORY, address, bytes);
    memcpy(frame + op->d, host, bytes);
    return wmi_next(frame, op);
}

static inline __attribute__((always_inline)) const struct wmi_op *
load(char *restrict frame, const struct wmi_op *op, unsigned dwords)
{
    const struct wmi_memory_op *m = op->data;
    const struct wmi_hit *hit = &wmi_wave_of(frame)->worker->hits[m->hit];
    const uint64_t at = load_address(frame, op) - hit->low, size = hit->high - hit->low;
    if (__builtin_expect(at >= size || 4 * dwords > size - at, 0))
        return load_elsewhere(frame, op);
    memcpy(frame + op->d, hit->host + at, 4 * dwords);
    return wmi_next(frame, op);
}

static const struct wmi_op *store(char *restrict frame, const struct wmi_op *op)
{
    const struct wmi_memory_op *m = op->data;
    const uint32_t bytes = 4u * m->elements;
    const uint64_t address = (wmi_frame_64(frame, op->a) & ~UINT64_C(3)) + offset_of(frame, op);
    unsigned char *host = reach(frame, op, address, bytes);
    if (!host)
        return fault(frame, op, WM_FAULT_MEMORY, address, bytes);
    if (read_only(frame, op))
        return fault(frame, op, WM_FAULT_READ_ONLY, address, bytes);
    memcpy(host, frame + op->c, bytes);
    return op + 1;
}

/* ---- through a V#: dwords behind its end read 0 and are not written ---- */

struct buffer {
    uint64_t base, bytes;
};

/* Only base, stride and the number of records count. Source: hardware.md 1.2 and 1.3, "SMEM buffer". */
static struct buffer buffer_of(const char *frame, const struct wmi_op *op)
{
    uint32_t v[3];
    memcpy(v, frame + op->a, sizeof v);
    const uint32_t stride = v[1] >> 16 & 0x3fff;
    return (struct buffer){
        .base = (v[0] | (uint64_t)(v[1] & 0xffff) << 32) & ~UINT64_C(3),
        .bytes = (uint64_t)v[2] * (stride ? stride : 1),
    };
}

/* How many of `dwords` from `offset` on the buffer has. */
static unsigned dwords_inside(const struct buffer *buffer, uint64_t offset, unsigned dwords)
{
    if (offset >= buffer->bytes)
        return 0;
    const uint64_t inside = (buffer->bytes - offset + 3) / 4;
    return inside < dwords ? (unsigned)inside : dwords;
}

static const struct wmi_op *buffer_load(char *restrict frame, const struct wmi_op *op)
{
    const struct wmi_memory_op *m = op->data;
    const struct buffer buffer = buffer_of(frame, op);
    const uint64_t offset = offset_of(frame, op), address = buffer.base + offset;
    const unsigned inside = dwords_inside(&buffer, offset, m->elements);
    const unsigned char *host = inside ? reach(frame, op, address, 4 * inside) : NULL;
    if (inside && !host)
        return fault(frame, op, WM_FAULT_MEMORY, address, 4 * inside);
    if (inside)
        memcpy(frame + op->d, host, 4 * inside);
    memset(frame + op->d + 4 * inside, 0, 4 * (m->elements - inside));
    return op + 1;
}

static const struct wmi_op *buffer_store(char *restrict frame, const struct wmi_op *op)
{
    const struct wmi_memory_op *m = op->data;
    const struct buffer buffer = buffer_of(frame, op);
    const uint64_t offset = offset_of(frame, op), address = buffer.base + offset;
    const unsigned inside = dwords_inside(&buffer, offset, m->elements);
    if (!inside)
        return op + 1;
    unsigned char *host = reach(frame, op, address, 4 * inside);
    if (!host)
        return fault(frame, op, WM_FAULT_MEMORY, address, 4 * inside);
    if (read_only(frame, op))
        return fault(frame, op, WM_FAULT_READ_ONLY, address, 4 * inside);
    memcpy(host, frame + op->c, 4 * inside);
    return op + 1;
}

/* ---- atomics ---- */

/* x: whether the base is a V#. What is out of its range does nothing and returns 0. */
static const struct wmi_op *atomic(char *restrict frame, const struct wmi_op *op)
{
    const struct wmi_memory_op *m = op->data;
    const uint64_t offset = offset_of(frame, op);
    uint64_t address = (wmi_frame_64(frame, op->a) & ~UINT64_C(3)) + offset, before = 0;
    bool acts = true;
    if (op->x) {
        const struct buffer buffer = buffer_of(frame, op);
        address = buffer.base + offset;
        acts = offset < buffer.bytes;
    }
    if (acts) {
        unsigned char *host = reach(frame, op, address, m->bytes);
        if (!host)
            return fault(frame, op, WM_FAULT_MEMORY, address, m->bytes);
        if (address % m->bytes)
            return fault(frame, op, WM_FAULT_MISALIGNED, address, m->bytes);
        if (read_only(frame, op))
            return fault(frame, op, WM_FAULT_READ_ONLY, address, m->bytes);
        const enum wmi_atomic operation = (enum wmi_atomic)m->parameter;
        before =
            m->bytes == 8
                ? wmi_atomic_64(operation, host, wmi_frame_64(frame, op->c), wmi_frame_64(frame, op->c + 8))
                : wmi_atomic_32(operation, host, scalar_32(frame, op->c), scalar_32(frame, op->c + 4));
    }
    if (m->returns)
        memcpy(frame + op->c, &before, m->bytes);
    return op + 1;
}

/* ---- clocks: they run with the instructions of the wave, never with the host ---- */

static const struct wmi_op *clock_step(char *restrict frame, const struct wmi_op *op)
{
    const uint64_t clock = wmi_wave_clock(wmi_wave_of(frame)) * CLOCKS_PER_INSTRUCTION / op->x;
    memcpy(frame + op->d, &clock, sizeof clock);
    return op + 1;
}

/* ---- for the observer ---- */

/* x: whether the base is a V#. */
static const struct wmi_op *watch(char *restrict frame, const struct wmi_op *op)
{
    const struct wmi_memory_op *m = op->data;
    const struct wmi_wave *wave = wmi_wave_of(frame);
    const uint32_t bytes = (uint32_t)m->elements * m->bytes;
    uint64_t address[64] = {(wmi_frame_64(frame, op->a) & ~UINT64_C(3)) + offset_of(frame, op)};
    bool bad_range = false;
    if (op->x) {
        const struct buffer buffer = buffer_of(frame, op);
        address[0] = buffer.base + offset_of(frame, op);
        bad_range = dwords_inside(&buffer, offset_of(frame, op), (bytes + 3) / 4) < (bytes + 3) / 4;
    } else {
        bad_range = !wmi_space_host(wave->worker->space, address[0], bytes);
    }
    const struct wmi_access access = {
        .pc = m->pc,
        .instruction = wmi_wave_clock(wave),
        .workgroup = {wave->group->id[0], wave->group->id[1], wave->group->id[2]},
        .wave = wave->index,
        .path = WMI_PATH_SMEM,
        .kind = (enum wmi_access_kind)m->kind,
        .lanes = 1,
        .policy = m->policy,
        .elements = 1,
        .bytes = (uint8_t)bytes,
        .element[0] = {.space = WMI_SPACE_GLOBAL, .mask = 1, .bad_range = bad_range, .address = address},
    };
    m->observer->access(wave->worker->observer, &access, m->slot);
    return op + 1;
}

/* The base of s_scratch_*: d = the base at a, and the SGPR at b times 64, the dwords of 16 lanes.
 * Source: CDNA 4 ISA, "Scalar Memory Addressing". */
static const struct wmi_op *scratch_base(char *restrict frame, const struct wmi_op *op)
{
    const uint64_t base =
        (wmi_frame_64(frame, op->a) & ~UINT64_C(3)) + (uint64_t)scalar_32(frame, op->b) * 64;
    memcpy(frame + op->d, &base, sizeof base);
    return op + 1;
}

/* ---- lowering ---- */

static bool is_scratch(unsigned id)
{
    return id == WMI_INSN_s_scratch_load_dword || id == WMI_INSN_s_scratch_load_dwordx2 ||
           id == WMI_INSN_s_scratch_load_dwordx4 || id == WMI_INSN_s_scratch_store_dword ||
           id == WMI_INSN_s_scratch_store_dwordx2 || id == WMI_INSN_s_scratch_store_dwordx4;
}

#define LOAD(dwords)                                                                                         \
    static const struct wmi_op *load_##dwords(char *restrict frame, const struct wmi_op *op)                 \
    {                                                                                                        \
        return load(frame, op, dwords);                                                                      \
    }
LOAD(1)
LOAD(2)
LOAD(3)
LOAD(4)
LOAD(8)
LOAD(16)

static wmi_body choose_step(const struct wmi_memory_op *m, bool buffer)
{
    static const wmi_body loads[] = {
        [1] = load_1, [2] = load_2, [3] = load_3, [4] = load_4, [8] = load_8, [16] = load_16};
    if (m->kind == WMI_ACCESS_ATOMIC)
        return m->parameter != WMI_ATOMIC_NONE ? atomic : NULL;
    if (m->bytes != 4)
        return NULL;
    if (m->kind == WMI_ACCESS_STORE)
        return buffer ? buffer_store : store;
    if (buffer)
        return buffer_load;
    return m->elements < sizeof loads / sizeof loads[0] ? loads[m->elements] : NULL;
}

/* s_memtime and s_memrealtime; cache control needs no step, for memory is coherent. */
static bool lower_control(struct wmi_builder *builder, const struct wmi_instruction *insn)
{
    const struct wmi_operand *result = wmi_operand(insn, WMI_ROLE_D);
    if (!result)
        return true;
    struct wmi_op *op = NULL;
    if (insn->id == WMI_INSN_s_memtime || insn->id == WMI_INSN_s_memrealtime) {
        const uint32_t place = wmi_lower_scalar(builder, result);
        op = wmi_emit(builder, clock_step);
        op->d = place;
        op->x = insn->id == WMI_INSN_s_memrealtime ? CLOCKS_PER_TICK : 1;
    }
    return op != NULL;
}

bool wmi_lower_scalar_memory(struct wmi_builder *builder, const struct wmi_instruction *insn)
{
    const struct wmi_row *row = &wmi_rows[insn->id];
    if (row->flags & WMI_ROW_TODO)
        return false;
    if (row->memory == WMI_MEMORY_CONTROL)
        return lower_control(builder, insn);
    const struct wmi_operand *base = wmi_operand(insn, WMI_ROLE_ADDR);
    const struct wmi_operand *resource = wmi_operand(insn, WMI_ROLE_RSRC);
    const struct wmi_operand *offset = wmi_operand(insn, WMI_ROLE_OFFSET);
    const struct wmi_operand *result = wmi_operand(insn, WMI_ROLE_D);
    const struct wmi_operand *data = wmi_operand(insn, WMI_ROLE_DATA);
    if (!base == !resource || !offset || !result == !data)
        return false;

    struct wmi_op step = {.lanes = offsetof(struct wmi_frame, exec), .x = resource != NULL};
    int64_t immediate = 0;
    if (offset->kind == WMI_OPERAND_IMMEDIATE) {
        immediate = (int64_t)offset->value;
        step.b = wmi_lower_scalar_constant(builder, 0);
    } else {
        step.b = wmi_lower_scalar(builder, offset);
        if (insn->field[WMI_FIELD_soe] && insn->field[WMI_FIELD_imm])
            immediate = insn->field[WMI_FIELD_simm];
    }
    step.a = wmi_lower_scalar(builder, base ? base : resource);
    if (is_scratch(insn->id) && offset->kind != WMI_OPERAND_IMMEDIATE) {
        const uint32_t place = wmi_lower_temporary_scalar(builder);
        const uint32_t zero = wmi_lower_scalar_constant(builder, 0);
        struct wmi_op *op = wmi_emit(builder, scratch_base);
        op->d = place;
        op->a = step.a;
        op->b = step.b;
        step.a = place;
        step.b = zero;
    }
    if (result)
        step.d = wmi_lower_scalar(builder, result);
    if (data)
        step.c = wmi_lower_scalar(builder, data);

    struct wmi_memory_op *m = wmi_builder_memory_op(builder, insn);
    m->offset = immediate & ~INT64_C(3);
    m->parameter = wmi_atomic_of(insn->id);
    m->returns = m->kind == WMI_ACCESS_ATOMIC && insn->field[WMI_FIELD_glc];
    step.body = choose_step(m, resource != NULL);
    if (!step.body)
        return false;
    step.data = m;
    if (wmi_builder_observer(builder)) {
        struct wmi_op *first = wmi_emit(builder, watch);
        *first = step;
        first->body = watch;
    }
    *wmi_emit(builder, step.body) = step;
    return true;
}
