/* SPDX-License-Identifier: MIT */
/* DS steps that are compiled once: LDS_DIRECT, the M0 limit, alignment modes. */
#include "exec/memory/lds.h"

#include "exec/control/steps.h"
#include "exec/memory/careful.h"
#include "memory/buffer.h"

#include <stddef.h>
#include <string.h>

/* Step tables of lds_lanes.c and lds_atomic_lanes.c, one pair per build. */
#define BUILD(level, lanes)                                                                                  \
    extern const wmi_body wmi_lds_steps_##level##_##lanes[WMI_LDS_STEP_COUNT];                               \
    extern const wmi_body wmi_lds_atomics_##level##_##lanes[WMI_LDS_STEP_COUNT];
BUILD(baseline, 64)
BUILD(baseline, 32)
#ifdef WMI_X86_LEVELS
BUILD(avx2, 64)
BUILD(avx2, 32)
BUILD(avx512, 64)
BUILD(avx512, 32)
#endif

wmi_body wmi_lds_body(enum wmi_cpu_level level, unsigned lanes, enum wmi_lds_step step)
{
#define TABLES(level)                                                                                        \
    {                                                                                                        \
        {wmi_lds_steps_##level##_32, wmi_lds_atomics_##level##_32},                                          \
        {                                                                                                    \
            wmi_lds_steps_##level##_64, wmi_lds_atomics_##level##_64                                         \
        }                                                                                                    \
    }
    static const wmi_body *const tables[WMI_CPU_LEVELS][2][2] = {
        [WMI_CPU_BASELINE] = TABLES(baseline),
#ifdef WMI_X86_LEVELS
        [WMI_CPU_AVX2] = TABLES(avx2),
        [WMI_CPU_AVX512] = TABLES(avx512),
#endif
    };
    const wmi_body *const *two = tables[level][lanes == 64];
    return two[0][step] ? two[0][step] : two[1][step];
}

/* Address and type of an LDS_DIRECT read: M0[15:0] is the address, M0[18:16] the type. Source: Vega ISA, "LDS
 * Direct Read". */
struct direct {
    uint32_t at;
    uint8_t bytes, sign; /* sign: left shift that brings the sign bit of a signed type to bit 31 */
    bool in_range;
};

static struct direct direct_place(const struct wmi_frame *f, const struct wmi_workgroup *group)
{
    static const struct {
        uint8_t bytes, sign;
    } types[8] = {{1, 0}, {2, 0}, {4, 0}, {0, 0}, {1, 24}, {2, 16}, {0, 0}, {0, 0}};
    const uint32_t m0 = f->s[WMI_S_M0], type = m0 >> 16 & 7, at = m0 & 0xffff;
    const uint8_t bytes = types[type].bytes;
    return (struct direct){at, bytes, types[type].sign,
                           group->lds_size >= bytes && at <= group->lds_size - bytes};
}

uint32_t wmi_lds_direct_value(const struct wmi_frame *f, const struct wmi_workgroup *group)
{
    const struct direct place = direct_place(f, group);
    uint32_t value = 0;
    if (place.in_range)
        memcpy(&value, group->lds + place.at, place.bytes);
    return (uint32_t)((int32_t)(value << place.sign) >> place.sign);
}

/* Row d = one LDS value in all lanes. */
const struct wmi_op *wmi_step_lds_read_direct(char *restrict frame, const struct wmi_op *op)
{
    const struct wmi_frame *f = (const struct wmi_frame *)frame;
    const uint32_t value = wmi_lds_direct_value(f, wmi_wave_of(frame)->group);
    uint32_t *row = (uint32_t *)(frame + op->d);
    for (unsigned i = 0; i < f->wave_size; i++)
        row[i] = value;
    return op + 1;
}

void wmi_lds_show_load(const struct wmi_wave *wave, const struct wmi_memory_op *memory, uint64_t lanes,
                       uint64_t outside, const uint64_t address[64], uint32_t bytes)
{
    const struct wmi_workgroup *group = wave->group;
    struct wmi_access access = {
        .pc = memory->pc,
        .workgroup = {group->id[0], group->id[1], group->id[2]},
        .wave = wave->index,
        .path = WMI_PATH_DS,
        .kind = WMI_ACCESS_LOAD,
        .lanes = lanes,
        .elements = 1,
        .bytes = bytes,
        .element = {{.space = WMI_SPACE_LDS, .mask = lanes, .bad_range = outside, .address = address}},
    };
    wmi_show_access(wave, memory, &access);
}

/* All active lanes read the same address. */
const struct wmi_op *wmi_step_lds_observe_direct(char *restrict frame, const struct wmi_op *op)
{
    const struct wmi_frame *f = (const struct wmi_frame *)frame;
    const struct wmi_wave *wave = wmi_wave_of(frame);
    const struct direct place = direct_place(f, wave->group);
    uint64_t address[64];
    for (unsigned i = 0; i < 64; i++)
        address[i] = place.at;
    wmi_lds_show_load(wave, op->data, f->exec.bits, place.in_range ? 0 : f->exec.bits, address, place.bytes);
    return op + 1;
}

/* Limits the LDS size of the next step to M0. LLVM sets 0x7fff or 0xffff for no limit, so M0 is taken as the
 * address of the last byte and rounded up to dwords (unverified). Sources: CLRX, "DS instructions"; LLVM
 * AMDGPUUsage, "M0". */
const struct wmi_op *wmi_step_lds_limit_by_m0(char *restrict frame, const struct wmi_op *op)
{
    struct wmi_workgroup *group = wmi_wave_of(frame)->group;
    const uint32_t size = group->lds_size, m0 = ((const struct wmi_frame *)frame)->s[WMI_S_M0];
    if (__builtin_expect(m0 >= size, 1))
        return wmi_next(frame, op);
    const struct wmi_op alone[2] = {op[1], {.body = wmi_step_return_to_loop}};
    group->lds_size = m0 + 3 < size ? (m0 + 3) & ~3u : size;
    const struct wmi_op *next = alone->body(frame, alone);
    group->lds_size = size;
    return next ? op + 2 : NULL;
}

void wmi_lds_move_partly(const struct wmi_workgroup *group, const struct wmi_memory_op *m, uint64_t at,
                         unsigned bytes, unsigned char *data, bool writes)
{
    const unsigned unit = writes && m->alignment == WMI_ALIGNMENT_UNALIGNED ? 1 : 4;
    for (unsigned done = 0, piece; done < bytes; done += piece) {
        piece = bytes - done < unit ? bytes - done : unit;
        const bool in = at + done + piece <= group->lds_size;
        if (writes && in)
            memcpy(group->lds + at + done, data + done, piece);
        else if (!writes && in)
            memcpy(data + done, group->lds + at + done, piece);
        else if (!writes)
            memset(data + done, 0, piece);
    }
}

void wmi_lds_load_partly(char *frame, const struct wmi_op *op, unsigned places, unsigned dwords)
{
    const struct wmi_workgroup *group = wmi_wave_of(frame)->group;
    for (uint64_t left = ((const struct wmi_lanes *)(frame + op->lanes))->bits; left;) {
        const unsigned lane = wmi_take_lane(&left);
        const uint32_t addr = wmi_row_at(frame, op->a, 0)[lane], offsets[2] = {op->x, op->y};
        uint32_t value[2][4];
        for (unsigned p = 0; p < places; p++)
            wmi_lds_move_partly(group, op->data, addr + offsets[p], 4 * dwords, (unsigned char *)value[p],
                                false);
        for (unsigned p = 0; p < places; p++)
            for (unsigned k = 0; k < dwords; k++)
                wmi_row_at(frame, op->d, p * dwords + k)[lane] = value[p][k];
    }
}

void wmi_lds_store_partly(char *frame, const struct wmi_op *op, uint32_t offset, uint32_t data,
                          unsigned bytes, unsigned shift)
{
    for (uint64_t left = ((const struct wmi_lanes *)(frame + op->lanes))->bits; left;) {
        const unsigned lane = wmi_take_lane(&left);
        uint32_t value[4];
        for (unsigned k = 0; k < (bytes + 3) / 4; k++)
            value[k] = wmi_row_at(frame, data, k)[lane] >> shift;
        wmi_lds_move_partly(wmi_wave_of(frame)->group, op->data, wmi_row_at(frame, op->a, 0)[lane] + offset,
                            bytes, (unsigned char *)value, true);
    }
}

/* Row d = (row a + offset) aligned as the alignment mode requires, minus the offset. Lanes that the mode
 * forbids are a violation and continue with an address out of LDS range. All places of a lane have the same
 * low bits. */
const struct wmi_op *wmi_step_lds_align(char *restrict frame, const struct wmi_op *op)
{
    const struct wmi_frame *state = (const struct wmi_frame *)frame;
    const struct wmi_memory_op *memory = op->data;
    const uint32_t *from = (const uint32_t *)(frame + op->a);
    uint32_t *to = (uint32_t *)(frame + op->d);
    const enum wmi_alignment mode = (enum wmi_alignment)memory->alignment;
    const unsigned unit = wmi_alignment_unit(mode, wmi_lds_bytes(memory), memory->lds_alignment);
    enum { NOWHERE = 1u << 31 }; /* out of range even after adding the offset of the second place */
    struct wmi_fault fault = {.kind = WM_FAULT_MISALIGNED,
                              .pc = memory->pc,
                              .low = UINT64_MAX,
                              .bytes = wmi_lds_bytes(memory),
                              .store = memory->kind == WMI_ACCESS_STORE,
                              .plain = true};
    for (unsigned i = 0; i < state->wave_size; i++) {
        const uint32_t at = from[i] + op->x;
        uint64_t aligned = at;
        if (!wmi_align(mode, false, unit, &aligned) && state->exec.bits >> i & 1) {
            aligned = NOWHERE;
            fault.lanes |= 1ULL << i;
            fault.low = at < fault.low ? at : fault.low;
            fault.high = at + fault.bytes - 1 > fault.high ? at + fault.bytes - 1 : fault.high;
        }
        to[i] = (uint32_t)aligned - op->x;
    }
    return !fault.lanes || wmi_wave_violates(wmi_wave_of(frame), &fault) ? op + 1 : NULL;
}
