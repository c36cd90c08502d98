/* SPDX-License-Identifier: MIT */
/* Hardware registers read by s_getreg and written by s_setreg.
 *
 * They describe a virtual machine, independent of the host, so that runs are reproducible: workgroups are
 * assigned to the CUs of 4 shader engines in dispatch order, waves to the 4 SIMDs of a CU. There is no trap
 * handler, and wait counters read 0. Numbers: LLVM AMDGPU, SIDefines.h, Hwreg. Fields: CDNA 3 ISA, "Hardware
 * State", and the RDNA documents' sections of that name; HW_ID and GPR_ALLOC as decoded by umr for Vega, Navi
 * and later. */
#include "exec/control/hwreg.h"

#include "arithmetic/host_float.h"
#include "exec/run/clock.h"
#include "exec/run/dispatch.h"
#include "exec/run/program.h"
#include "isa/decode/msb.h"
#include "lower/place.h"

enum { MODE = WMI_HWREG_MODE, FLAT_SCRATCH_LO = 20, FLAT_SCRATCH_HI = 21, REGISTERS = 64 };
enum { DX10_CLAMP = 1 << 8 }; /* in MODE */
enum { ENGINES = 4, UNITS = 16, SIMDS = 4 };

static const struct wmi_wave *wave_of(const struct wmi_frame *frame)
{
    return frame->wave;
}

static uint32_t mode(const struct wmi_frame *frame)
{
    return frame->mode;
}

/* SCC [0], EXPORT_RDY [8], EXECZ [9], VCCZ [10], IN_TG [11], VALID [16]. The priority set by s_setprio is not
 * kept. */
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

/* VGPR_SIZE [13:8] in units of 4, SGPR_SIZE [27:24] in units of 16, both minus 1; all SGPRs are allocated. */
static uint32_t registers(const struct wmi_frame *frame)
{
    enum { SGPRS = 112 };
    const struct wmi_code_options *options =
        &wmi_program_code(wave_of(frame)->group->dispatch->program)->options;
    return ((options->vgprs - options->shared_vgprs) / 4 - 1) << 8 | (SGPRS / 16 - 1) << 24;
}

/* WAVE_ID [4:0], SIMD_ID [9:8], WGP_ID [13:10], SE_ID [20:18]. */
static uint32_t hardware_id1(const struct wmi_frame *frame)
{
    const uint32_t wave = wave_of(frame)->index;
    const uint64_t group = wave_of(frame)->group->flat_id;
    return wave / SIMDS % 20 | wave % SIMDS << 8 | (uint32_t)(group / ENGINES % UNITS) << 10 |
           (uint32_t)(group % ENGINES) << 18;
}

/* WG_ID [20:16]; queue and process ids are 0. */
static uint32_t hardware_id2(const struct wmi_frame *frame)
{
    return (uint32_t)(wave_of(frame)->group->flat_id / (ENGINES * UNITS) % 32) << 16;
}

/* STATUS without SCC, which is bit 9 of STATE_PRIV; there, bit 2 is BARRIER_COMPLETE. Source: the kernel
 * driver's trap handler for gfx12. */
static uint32_t status_without_scc(const struct wmi_frame *frame)
{
    return status(frame) & ~1u;
}

static uint32_t private_state(const struct wmi_frame *frame)
{
    return (frame->s[WMI_S_SCC] & 1) << 9 | (uint32_t)wave_of(frame)->barrier_complete << 2 |
           (uint32_t)wave_of(frame)->cluster_complete << 16;
}

/* IB_STS2: CLUSTER_ID [9:6], 1 to 15, or 0 outside of clusters; WG_IN_CLUSTER [24:21]. Source: CDNA 5 ISA. */
static uint32_t cluster_state(const struct wmi_frame *frame)
{
    const struct wmi_workgroup *group = wave_of(frame)->group;
    return group->cluster
               ? (uint32_t)(1 + group->flat_id / group->cluster->size % 15) << 6 | group->rank << 21
               : 0;
}

static uint32_t visible_mode(const struct wmi_frame *frame)
{
    return frame->mode & ~(uint32_t)DX10_CLAMP;
}

static uint32_t flat_scratch_lo(const struct wmi_frame *frame)
{
    return frame->s[WMI_S_FLAT_SCRATCH];
}

static uint32_t flat_scratch_hi(const struct wmi_frame *frame)
{
    return frame->s[WMI_S_FLAT_SCRATCH + 1];
}

/* The clock that s_memtime returns before gfx11. */
static uint32_t cycles_20(const struct wmi_frame *frame)
{
    return (uint32_t)wmi_wave_cycles(wave_of(frame)) & 0xfffff;
}

static uint32_t cycles_lo(const struct wmi_frame *frame)
{
    return (uint32_t)wmi_wave_cycles(wave_of(frame));
}

static uint32_t cycles_hi(const struct wmi_frame *frame)
{
    return (uint32_t)(wmi_wave_cycles(wave_of(frame)) >> 32);
}

/* LDS_SIZE [20:12] in units of 64 dwords. Source: the kernel driver's trap handler for Vega, which saves that
 * much. */
static uint32_t lds(const struct wmi_frame *frame)
{
    return (wave_of(frame)->group->lds_size + 255) / 256 << 12;
}

static uint32_t memory_bases(const struct wmi_frame *frame)
{
    const struct wmi_apertures *apertures = &wave_of(frame)->group->dispatch->apertures;
    return (uint32_t)(apertures->private_base >> 48) | (uint32_t)(apertures->shared_base >> 48) << 16;
}

/* Only MEM_VIOL of TRAPSTS and EXCP_FLAG_PRIV is kept. Source of its position: the kernel driver's trap
 * handlers. */
static uint32_t trap_status(const struct wmi_frame *frame)
{
    return (uint32_t)wave_of(frame)->violated << 8;
}

static uint32_t private_exceptions(const struct wmi_frame *frame)
{
    return (uint32_t)wave_of(frame)->violated << 4;
}

/* Rows by the target's limit hardware_registers. Registers that read 0: IB_STS (all counters), TBA and
 * TMA. */
struct wmi_hwreg_rules {
    uint32_t (*read[REGISTERS])(const struct wmi_frame *frame);
    uint32_t fixed_mode; /* bits of MODE that are always set and not visible to programs */
    bool writes_flat_scratch;
    bool mode_has_state;                       /* MODE contains VSKIP and GPR_IDX_EN */
    uint32_t mode_in_places;                   /* bits of MODE that are part of the program's places */
    uint8_t violation_register, violation_bit; /* MEM_VIOL */
};

/* Registers of all targets, of targets with a single STATUS register, and of RDNA. */
#define SIZES       [5] = registers, [6] = lds
#define PLAIN_STATE [MODE] = mode, [2] = status, [3] = trap_status, [15] = memory_bases
#define RDNA                                                                                                 \
    [FLAT_SCRATCH_LO] = flat_scratch_lo, [FLAT_SCRATCH_HI] = flat_scratch_hi, [23] = hardware_id1,           \
    [24] = hardware_id2

static const struct wmi_hwreg_rules rules[] = {
    {.read = {SIZES, PLAIN_STATE, [4] = hardware_id},
     .mode_has_state = true,
     .violation_register = 3,
     .violation_bit = 8},
    {.read = {SIZES, PLAIN_STATE, RDNA, [29] = cycles_20},
     .writes_flat_scratch = true,
     .violation_register = 3,
     .violation_bit = 8},
    {.read = {SIZES, PLAIN_STATE, RDNA, [29] = cycles_20}, .violation_register = 3, .violation_bit = 8},
    {.read = {SIZES, RDNA, [MODE] = visible_mode, [2] = status_without_scc, [4] = private_state,
              [17] = private_exceptions, [29] = cycles_lo, [30] = cycles_hi},
     .fixed_mode = DX10_CLAMP,
     .violation_register = 17,
     .violation_bit = 4},
    {.read = {SIZES, RDNA, [MODE] = visible_mode, [2] = status_without_scc, [4] = private_state,
              [17] = private_exceptions, [28] = cluster_state, [29] = cycles_lo, [30] = cycles_hi},
     .fixed_mode = DX10_CLAMP,
     .mode_in_places = WMI_MODE_MSB,
     .violation_register = 17,
     .violation_bit = 4},
};

const struct wmi_hwreg_rules *wmi_hwreg_rules(uint32_t row)
{
    return &rules[row];
}

uint32_t wmi_hwreg_fixed_mode(const struct wmi_hwreg_rules *r)
{
    return r->fixed_mode;
}

struct wmi_hwreg wmi_hwreg(uint32_t simm16)
{
    const unsigned bits = (simm16 >> 11 & 31) + 1;
    return (struct wmi_hwreg){.id = simm16 & (REGISTERS - 1),
                              .shift = simm16 >> 6 & 31,
                              .mask = bits == 32 ? UINT32_MAX : (1u << bits) - 1};
}

uint32_t wmi_hwreg_read(const struct wmi_hwreg_rules *r, const struct wmi_frame *frame, struct wmi_hwreg reg)
{
    return r->read[reg.id] ? r->read[reg.id](frame) >> reg.shift & reg.mask : 0;
}

void wmi_hwreg_write(const struct wmi_hwreg_rules *r, struct wmi_frame *frame, struct wmi_hwreg reg,
                     uint32_t value)
{
    const uint32_t mask = reg.mask << reg.shift, bits = value << reg.shift & mask;
    if (reg.id == MODE) {
        const uint32_t dropped = /* DISABLE_PERF and others */
            (r->mode_has_state ? 0 : WMI_MODE_STATE) | r->mode_in_places;
        wmi_frame_set_mode(frame, (((frame->mode & ~mask) | bits) & ~dropped) | r->fixed_mode);
    } else if (reg.id == r->violation_register && mask >> r->violation_bit & 1) {
        ((struct wmi_wave *)frame->wave)->violated = bits >> r->violation_bit & 1;
    } else if (r->writes_flat_scratch && (reg.id == FLAT_SCRATCH_LO || reg.id == FLAT_SCRATCH_HI)) {
        uint32_t *word = &frame->s[WMI_S_FLAT_SCRATCH + reg.id - FLAT_SCRATCH_LO];
        *word = (*word & ~mask) | bits;
    }
}

void wmi_frame_set_mode(struct wmi_frame *frame, uint32_t mode)
{
    frame->mode = mode;
    frame->mxcsr32 = wmi_host_float_word(mode & 3, mode >> 4 & 3);
    frame->mxcsr64 = wmi_host_float_word(mode >> 2 & 3, mode >> 6 & 3);
    wmi_host_float_set(frame->mxcsr32);
}
