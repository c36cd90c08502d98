/* SPDX-License-Identifier: MIT */
/* What registers hold when waves begin, for code that no kernel descriptor describes: raw code, shaders of
 * graphics drivers, fragments of a kernel. examples/start.c is a complete program. */
#ifndef WAVEMEM_START_H
#define WAVEMEM_START_H

#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a register holds. Two registers where 64 bits are needed. */
enum wm_start_kind {
    WM_START_VALUES,         /* given values */
    WM_START_WORKGROUP_ID_X, /* number of the workgroup in each dimension */
    WM_START_WORKGROUP_ID_Y,
    WM_START_WORKGROUP_ID_Z,
    WM_START_WORKGROUP_ID_YZ, /* y in bits 15:0, z in bits 31:16 */
    WM_START_WORKGROUP_INFO,  /* first wave in bit 31, number of the wave in 11:6, waves in 5:0 */
    WM_START_WAVE_ID,         /* of the wave in its workgroup */
    WM_START_ARGUMENTS,       /* 64 bits: guest address of wm_dispatch.arguments */
    WM_START_SCRATCH_ADDRESS, /* 64 bits: guest address of the wave's scratch memory */
    WM_START_SCRATCH_OFFSET,  /* bytes from the dispatch's scratch memory to the wave's */
    WM_START_WORKITEM_ID_X,   /* VGPRs: number of the work-item in its workgroup */
    WM_START_WORKITEM_ID_Y,
    WM_START_WORKITEM_ID_Z,
    WM_START_WORKITEM_IDS, /* VGPR: x in bits 9:0, y in 19:10, z in 29:20 */
    WM_START_KINDS
};

struct wm_start_register {
    /* "s4", "v3", "a0", "ttmp9", "m0", "vcc", "vcc_lo", "flat_scratch", "exec", "scc", "mode" */
    const char *name;
    enum wm_start_kind kind;
    /* VALUES: of this register and those after it, for scalar registers. A vector register takes one value
     * for all lanes, one for each lane of a wave, or one for each work-item of a workgroup, x first. */
    const uint32_t *values;
    size_t count;
};

struct wm_start {
    size_t struct_size; /* sizeof(struct wm_start) */
    /* False: `registers` replace what the kernel's descriptor, or for raw code wm_object_open(), puts there.
     * True: all other registers are 0, but EXEC, which has the lanes with work-items, and MODE. */
    bool bare;
    const struct wm_start_register *registers; /* applied in this order */
    size_t register_count;
    uint32_t scratch_bytes; /* per lane; at least what the kernel asks for */
    /* Scratch memory of the caller in place of wavemem's, as drivers have it: pieces of scratch_wave_bytes
     * from guest address scratch_address on, for scratch_waves waves. Each wave has one of them from its
     * begin to its end; workgroups wait until there are enough. What WM_START_SCRATCH_ADDRESS and
     * WM_START_SCRATCH_OFFSET say is the wave's piece. It is not zero when a workgroup begins.
     * scratch_waves 0: wavemem's. WM_BAD_ARGUMENT: fewer than a workgroup has. */
    uint32_t scratch_waves;
    uint64_t scratch_address, scratch_wave_bytes;
};

#ifdef __cplusplus
}
#endif

#endif
