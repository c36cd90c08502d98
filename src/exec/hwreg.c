/* SPDX-License-Identifier: MIT */
/* Hardware registers: what s_getreg reads and s_setreg writes.
 *
 * They show a virtual machine and never the host, so that a run can be repeated: workgroups are dealt to the
 * compute units of 4 shader engines in dispatch order, waves to the 4 SIMDs of a unit. No trap handler is
 * there, and nothing is ever outstanding. Numbers: LLVM AMDGPU, SIDefines.h, Hwreg. Fields: CDNA 3 ISA,
 * "Hardware State"; HW_ID and GPR_ALLOC as umr shows them of Vega. */
#include "exec/hwreg.h"

#include "exec/control.h"
#include "exec/workgroup.h"

enum { MODE = 1, REGISTERS = 64, ENGINES = 4, UNITS = 16, SIMDS = 4 };

static const struct wmi_wave *wave_of(const struct wmi_frame *frame)
{
    return frame->wave;
}

static uint32_t mode(const struct wmi_frame *frame)
{
    return frame->mode;
}

/* SCC [0], EXPORT_RDY [8], EXECZ [9], VCCZ [10], IN_TG [11], VALID [16]. The priority that s_setprio sets is
 * not kept. */
static uint32_t status(const struct wmi_frame *frame)
{
    const bool vcc = frame->s[WMI_S_VCC] || (frame->wave_size == 64 && frame->s[WMI_S_VCC + 1]);
    return (frame->s[WMI_S_SCC] & 1) | 1u << 8 | (uint32_t)!frame->exec.bits << 9 | (uint32_t)!vcc << 10 |
           (uint32_t)(wave_of(frame)->group->wave_count > 1) << 11 | 1u << 16;
}

/* WAVE_ID [3:0], SIMD_ID [5:4], CU_ID [11:8], SH_ID [12], SE_ID [14:13], TG_ID [19:16]. */
static uint32_t hardware_id(const struct wmi_frame *frame)
{
    const uint32_t wave = wave_of(frame)->index;
    const uint64_t group = wave_of(frame)->group->flat_id;
    return wave / SIMDS % 10 | wave % SIMDS << 4 | (uint32_t)(group / ENGINES % UNITS) << 8 |
           (uint32_t)(group % ENGINES) << 13 | (uint32_t)(group / (ENGINES * UNITS) % 16) << 16;
}

/* VGPR_SIZE [13:8] in fours, SGPR_SIZE [27:24] in sixteens, both less 1: all SGPRs are there. */
static uint32_t registers(const struct wmi_frame *frame)
{
    enum { SGPRS = 112 };
    const struct wmi_program *program = wave_of(frame)->group->dispatch->program;
    return (wmi_program_options(program)->vgprs / 4 - 1) << 8 | (SGPRS / 16 - 1) << 24;
}

/* LDS_SIZE [20:12] in 64 dwords. Source: the kernel driver's trap handler for Vega, which saves that much. */
static uint32_t lds(const struct wmi_frame *frame)
{
    return (wave_of(frame)->group->lds_size + 255) / 256 << 12;
}

static uint32_t memory_bases(const struct wmi_frame *frame)
{
    const struct wmi_apertures *apertures = &wave_of(frame)->group->dispatch->apertures;
    return (uint32_t)(apertures->private_base >> 48) | (uint32_t)(apertures->shared_base >> 48) << 16;
}

/* What is 0 here: TRAPSTS (no exception is recorded), IB_STS (all counters), TBA and TMA. */
static uint32_t (*const readers[REGISTERS])(const struct wmi_frame *frame) = {
    [MODE] = mode, [2] = status, [4] = hardware_id, [5] = registers, [6] = lds, [15] = memory_bases,
};

struct wmi_hwreg wmi_hwreg(uint32_t simm16)
{
    const unsigned bits = (simm16 >> 11 & 31) + 1;
    return (struct wmi_hwreg){.id = simm16 & (REGISTERS - 1),
                              .shift = simm16 >> 6 & 31,
                              .mask = bits == 32 ? UINT32_MAX : (1u << bits) - 1};
}

uint32_t wmi_hwreg_read(const struct wmi_frame *frame, struct wmi_hwreg reg)
{
    return readers[reg.id] ? readers[reg.id](frame) >> reg.shift & reg.mask : 0;
}

void wmi_hwreg_write(struct wmi_frame *frame, struct wmi_hwreg reg, uint32_t value)
{
    const uint32_t mask = reg.mask << reg.shift;
    if (reg.id == MODE)
        wmi_frame_set_mode(frame, (frame->mode & ~mask) | (value << reg.shift & mask));
}

bool wmi_hwreg_writes_mode(struct wmi_hwreg reg, uint32_t bits)
{
    return reg.id == MODE && reg.mask << reg.shift & bits;
}
