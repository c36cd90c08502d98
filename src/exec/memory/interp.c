/* SPDX-License-Identifier: MIT */
/* Steps that read the parameters of interpolation from LDS, where the hardware puts them for pixel shaders
 * and here the caller or the kernel itself does.
 *
 * M0 is {0, new_prim_mask[15:1], lds_param_offset[15:0]}. A set bit of new_prim_mask says that this quad of
 * the wave begins a new primitive; the first quad always does. An attribute has 12 dwords for each primitive
 * of the wave: P0.xyzw, P10.xyzw, P20.xyzw:
 *
 *   address = lds_param_offset + 4 * (attribute * primitives * 12 + primitive * 12 + dword)
 *
 * Source: RDNA 3.5 ISA, "LDS Parameter Loads"; Vega ISA, "LDS Parameter Reads", gives the same M0. */
#include "arithmetic/host_float.h"
#include "exec/control/steps.h"
#include "exec/memory/careful.h"
#include "exec/memory/lds.h"

#include <string.h>

enum { QUAD = 4, DWORDS = 12, PARAMETERS = 3, CHANNELS = 4 };

struct quads {
    uint32_t base;         /* of the attribute, in bytes of LDS */
    uint8_t primitive[16]; /* of each quad */
};

static struct quads quads_of(const struct wmi_frame *f, uint32_t attribute)
{
    const uint32_t m0 = f->s[WMI_S_M0];
    struct quads quads = {0};
    uint8_t last = 0;
    for (unsigned i = 1; i < f->wave_size / QUAD; i++) {
        last += m0 >> (15 + i) & 1; /* new_prim_mask[i] */
        quads.primitive[i] = last;
    }
    quads.base = (m0 & 0xffff) + 4 * attribute * (last + 1u) * DWORDS;
    return quads;
}

static uint32_t address_of(const struct quads *quads, unsigned lane, uint32_t dword)
{
    return quads->base + 4 * (quads->primitive[lane / QUAD] * DWORDS + dword);
}

static bool in_range(const struct wmi_workgroup *group, uint32_t at, uint32_t bytes)
{
    return group->lds_size >= bytes && at <= group->lds_size - bytes;
}

static uint32_t read_dword(const struct wmi_workgroup *group, uint32_t at)
{
    uint32_t value = 0;
    if (in_range(group, at, sizeof value))
        memcpy(&value, group->lds + at, sizeof value);
    return value;
}

/* The lanes of the quads that have an active lane. */
static uint64_t lanes_of_quads(uint64_t exec)
{
    const uint64_t firsts = UINT64_C(0x1111111111111111);
    const uint64_t pairs = exec | exec >> 1, quads = (pairs | pairs >> 2) & firsts;
    return quads * 15;
}

const struct wmi_op *wmi_step_lds_read_parameter(char *restrict frame, const struct wmi_op *op)
{
    const struct wmi_frame *f = (const struct wmi_frame *)frame;
    const struct quads quads = quads_of(f, op->x);
    uint32_t *row = (uint32_t *)(frame + op->d);
    for (unsigned i = 0; i < f->wave_size; i++)
        row[i] = read_dword(wmi_wave_of(frame)->group, address_of(&quads, i, op->y));
    return op + 1;
}

/* The dword of a lane's parameter: P0, P10 or P20 of channel y by the lane's number in its quad. */
static uint32_t own_dword(unsigned lane, uint32_t channel)
{
    return lane % QUAD * CHANNELS + channel;
}

const struct wmi_op *wmi_step_lds_load_parameters(char *restrict frame, const struct wmi_op *op)
{
    const struct wmi_frame *f = (const struct wmi_frame *)frame;
    const struct quads quads = quads_of(f, op->x);
    uint32_t *row = (uint32_t *)(frame + op->d);
    for (uint64_t left = lanes_of_quads(f->exec.bits); left; left &= left - 1) {
        const unsigned i = (unsigned)__builtin_ctzll(left);
        row[i] = i % QUAD < PARAMETERS
                     ? read_dword(wmi_wave_of(frame)->group, address_of(&quads, i, own_dword(i, op->y)))
                     : 0;
    }
    return op + 1;
}

const struct wmi_op *wmi_step_lds_load_direct(char *restrict frame, const struct wmi_op *op)
{
    const struct wmi_frame *f = (const struct wmi_frame *)frame;
    const uint32_t value = wmi_lds_direct_value(f, wmi_wave_of(frame)->group);
    uint32_t *row = (uint32_t *)(frame + op->d);
    for (uint64_t left = lanes_of_quads(f->exec.bits); left; left &= left - 1)
        row[__builtin_ctzll(left)] = value;
    return op + 1;
}

/* ---- for observers ---- */

/* Shows a load of a dword by each of `lanes`. */
static const struct wmi_op *show(char *frame, const struct wmi_op *op, const uint64_t address[64],
                                 uint64_t lanes)
{
    const struct wmi_wave *wave = wmi_wave_of(frame);
    uint64_t outside = 0;
    for (uint64_t left = lanes; left; left &= left - 1) {
        const unsigned i = (unsigned)__builtin_ctzll(left);
        outside |= (uint64_t)!in_range(wave->group, (uint32_t)address[i], 4) << i;
    }
    wmi_lds_show_load(wave, op->data, lanes, outside, address, 4);
    return op + 1;
}

const struct wmi_op *wmi_step_lds_observe_parameter(char *restrict frame, const struct wmi_op *op)
{
    const struct wmi_frame *f = (const struct wmi_frame *)frame;
    const struct quads quads = quads_of(f, op->x);
    uint64_t address[64] = {0};
    for (unsigned i = 0; i < f->wave_size; i++)
        address[i] = address_of(&quads, i, op->y);
    return show(frame, op, address, f->exec.bits);
}

const struct wmi_op *wmi_step_lds_observe_parameters(char *restrict frame, const struct wmi_op *op)
{
    const struct wmi_frame *f = (const struct wmi_frame *)frame;
    const struct quads quads = quads_of(f, op->x);
    const uint64_t lanes = lanes_of_quads(f->exec.bits) & UINT64_C(0x7777777777777777);
    uint64_t address[64] = {0};
    for (unsigned i = 0; i < f->wave_size; i++)
        address[i] = address_of(&quads, i, own_dword(i, op->y));
    return show(frame, op, address, lanes);
}

/* ---- rounding ---- */

const struct wmi_op *wmi_step_round_f32(char *restrict frame, const struct wmi_op *op)
{
    enum { TO_ZERO = 3 };
    const struct wmi_frame *f = (const struct wmi_frame *)frame;
    wmi_host_float_set(op->x ? wmi_host_float_word(TO_ZERO, f->mode >> 4 & 3) : f->mxcsr32);
    return op + 1;
}
