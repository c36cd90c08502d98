/* SPDX-License-Identifier: MIT */
/* Steps of scalar state: copies, relative moves, VGPR indexing, hardware registers, messages. */
#include "arithmetic/host_float.h"
#include "exec/control/frame_words.h"
#include "exec/control/hwreg.h"
#include "exec/control/steps.h"
#include "exec/run/clock.h"
#include "lower/index.h"
#include "lower/place.h"

const struct wmi_op *wmi_step_copy_32(char *restrict frame, const struct wmi_op *op)
{
    memmove(frame + op->d, frame + op->a, sizeof(uint32_t));
    return op + 1;
}

const struct wmi_op *wmi_step_copy_64(char *restrict frame, const struct wmi_op *op)
{
    memmove(frame + op->d, frame + op->a, sizeof(uint64_t));
    return op + 1;
}

/* SCC = bit 0 of the word at a. */
const struct wmi_op *wmi_step_take_bit(char *restrict frame, const struct wmi_op *op)
{
    wmi_frame_of(frame)->s[WMI_S_SCC] = wmi_frame_32(frame, op->a) & 1;
    return op + 1;
}

const struct wmi_op *wmi_step_constant(char *restrict frame, const struct wmi_op *op)
{
    memcpy(frame + op->d, &op->value, sizeof op->value);
    return op + 1;
}

const struct wmi_op *wmi_step_mask_zero(char *restrict frame, const struct wmi_op *op)
{
    struct wmi_frame *f = wmi_frame_of(frame);
    f->s[WMI_S_VCCZ] = wmi_mask_is_zero(f, WMI_S_VCC);
    f->s[WMI_S_EXECZ] = !f->exec.bits;
    return op + 1;
}

/* s_movrels, s_movreld: copies op->x dwords from a to d; M0 is added to the register number of one of them.
 * Out of range, a source is s0 and a destination is dropped. Source: CDNA 3 ISA, "Out-of-Range Behavior". */
static uint32_t moved_register(const char *frame, uint32_t offset, uint32_t dwords, uint32_t sgprs)
{
    const uint64_t first = offset / 4 + (uint64_t)((const struct wmi_frame *)frame)->s[WMI_S_M0];
    return first + dwords <= sgprs ? (uint32_t)first * 4 : UINT32_MAX;
}

const struct wmi_op *wmi_step_move_relative_source(char *restrict frame, const struct wmi_op *op)
{
    const uint32_t from = moved_register(frame, op->a, op->x, op->y);
    memmove(frame + op->d, frame + (from == UINT32_MAX ? 0 : from), 4 * op->x);
    return op + 1;
}

const struct wmi_op *wmi_step_move_relative_destination(char *restrict frame, const struct wmi_op *op)
{
    const uint32_t to = moved_register(frame, op->d, op->x, op->y);
    if (to != UINT32_MAX)
        memmove(frame + to, frame + op->a, 4 * op->x);
    return op + 1;
}

/* s_movrelsd_2: adds M0[9:0] to the source register, M0[25:16] to the destination register. */
const struct wmi_op *wmi_step_move_relative_both(char *restrict frame, const struct wmi_op *op)
{
    const uint32_t m0 = wmi_frame_of(frame)->s[WMI_S_M0];
    const uint32_t from = op->a / 4 + (m0 & 0x3ff), to = op->d / 4 + (m0 >> 16 & 0x3ff);
    if (to < op->y)
        wmi_frame_of(frame)->s[to] = wmi_frame_of(frame)->s[from < op->y ? from : 0];
    return op + 1;
}

/* ---- VGPR indexing and VSKIP ---- */

/* M0[7:0] is the index, M0[15:12] enables operands; the other bits are kept. The state of the following code
 * is known when it is lowered. Source: Vega ISA, S_SET_GPR_IDX_ON and related instructions. */
enum { GPR_INDEX_VALUE = 0xff, GPR_INDEX_OPERANDS = 0xf000 };

static void set_mode_state(struct wmi_frame *f, enum wmi_state state, bool on)
{
    const uint32_t bit = (uint32_t)state << WMI_MODE_STATE_SHIFT;
    f->mode = on ? f->mode | bit : f->mode & ~bit;
}

const struct wmi_op *wmi_step_index_value(char *restrict frame, const struct wmi_op *op)
{
    uint32_t *m0 = &wmi_frame_of(frame)->s[WMI_S_M0];
    *m0 = (*m0 & ~(uint32_t)GPR_INDEX_VALUE) | (wmi_frame_32(frame, op->a) & GPR_INDEX_VALUE);
    return op + 1;
}

const struct wmi_op *wmi_step_index_operands(char *restrict frame, const struct wmi_op *op)
{
    uint32_t *m0 = &wmi_frame_of(frame)->s[WMI_S_M0];
    *m0 = (*m0 & ~(uint32_t)GPR_INDEX_OPERANDS) | (op->x << 12 & GPR_INDEX_OPERANDS);
    return op + 1;
}

const struct wmi_op *wmi_step_index_on(char *restrict frame, const struct wmi_op *op)
{
    set_mode_state(wmi_frame_of(frame), WMI_STATE_GPR_INDEX, true);
    wmi_step_index_value(frame, op);
    return wmi_step_index_operands(frame, op);
}

const struct wmi_op *wmi_step_index_off(char *restrict frame, const struct wmi_op *op)
{
    set_mode_state(wmi_frame_of(frame), WMI_STATE_GPR_INDEX, false);
    return op + 1;
}

const struct wmi_op *wmi_step_set_vskip(char *restrict frame, const struct wmi_op *op)
{
    set_mode_state(wmi_frame_of(frame), WMI_STATE_VSKIP,
                   wmi_frame_32(frame, op->a) >> (wmi_frame_32(frame, op->b) & 31) & 1);
    return op + 1;
}

/* Fields of the step: a = row of v0, d = temporary rows, x = register, y = number of rows, b = VGPRs of the
 * kernel, value = the rule. Returns UINT32_MAX if the register is not allocated. */
static uint32_t chosen_row(const char *frame, const struct wmi_op *op)
{
    const struct wmi_frame *f = (const struct wmi_frame *)frame;
    const uint32_t m0 = f->s[WMI_S_M0], shift = op->value & 0xff, bits = op->value >> 8 & 0xff;
    const unsigned enable = op->value >> 16 & 0xff;
    uint64_t reg = op->x;
    if (enable == WMI_INDEX_ALWAYS || m0 >> enable & 1)
        reg += m0 >> shift & (uint32_t)((UINT64_C(1) << bits) - 1);
    return reg + op->y <= op->b ? op->a + (uint32_t)reg * 4 * f->wave_size : UINT32_MAX;
}

const struct wmi_op *wmi_step_fetch_indexed(char *restrict frame, const struct wmi_op *op)
{
    const uint32_t row = chosen_row(frame, op);
    memcpy(frame + op->d, frame + (row == UINT32_MAX ? op->a : row),
           4 * (size_t)op->y * ((const struct wmi_frame *)frame)->wave_size);
    return op + 1;
}

const struct wmi_op *wmi_step_put_indexed(char *restrict frame, const struct wmi_op *op)
{
    const uint32_t row = chosen_row(frame, op);
    if (row != UINT32_MAX)
        memcpy(frame + row, frame + op->d, 4 * (size_t)op->y * ((const struct wmi_frame *)frame)->wave_size);
    return op + 1;
}

/* ---- hardware registers ---- */

/* Faults, at op->value, if the host cannot compute in the MODE that was set. */
static const struct wmi_op *behind_mode(char *frame, const struct wmi_op *op)
{
    const uint32_t mode = wmi_frame_of(frame)->mode;
    if (wmi_host_float_has(mode & 3, mode >> 4 & 3) && wmi_host_float_has(mode >> 2 & 3, mode >> 6 & 3))
        return op + 1;
    return wmi_wave_fault(
        wmi_wave_of(frame),
        &(struct wmi_fault){
            .kind = WM_FAULT_TODO,
            .pc = op->value,
            .detail = "it sets a mode of rounding or denormals that this host's CPU does not have"});
}

const struct wmi_op *wmi_step_get_register(char *restrict frame, const struct wmi_op *op)
{
    const uint32_t value = wmi_hwreg_read(wmi_hwreg_rules(op->y), wmi_frame_of(frame), wmi_hwreg(op->x));
    memcpy(frame + op->d, &value, sizeof value);
    return op + 1;
}

const struct wmi_op *wmi_step_set_register(char *restrict frame, const struct wmi_op *op)
{
    wmi_hwreg_write(wmi_hwreg_rules(op->y), wmi_frame_of(frame), wmi_hwreg(op->x),
                    wmi_frame_32(frame, op->a));
    return behind_mode(frame, op);
}

/* Sets four bits of MODE, starting at bit op->x, to op->y. */
const struct wmi_op *wmi_step_set_mode_bits(char *restrict frame, const struct wmi_op *op)
{
    const uint32_t mask = 0xfu << op->x;
    wmi_frame_set_mode(wmi_frame_of(frame), (wmi_frame_of(frame)->mode & ~mask) | (op->y << op->x & mask));
    return behind_mode(frame, op);
}

/* The clock that s_memrealtime returns before gfx11. */
const struct wmi_op *wmi_step_answer_clock(char *restrict frame, const struct wmi_op *op)
{
    const uint64_t clock = wmi_wave_cycles(wmi_wave_of(frame)) / WMI_CYCLES_PER_TICK;
    memcpy(frame + op->d, &clock, op->y);
    return op + 1;
}

/* MSG_GET_DOORBELL returns its answer in EXEC_LO, whose bit 31 is set until the answer arrives. Source:
 * ROCr's trap handler, which uses this protocol. Ours is doorbell 0. */
const struct wmi_op *wmi_step_answer_doorbell(char *restrict frame, const struct wmi_op *op)
{
    wmi_frame_of(frame)->s[WMI_S_EXEC] = 0;
    return op + 1;
}
