/* SPDX-License-Identifier: MIT */
/* Scalar memory: how the records of its steps are laid out, and the steps. */
#ifndef WMI_SMEM_H
#define WMI_SMEM_H

#include "exec/vmem.h"

/* In the record of all these steps: d result SGPRs, c data SGPRs, a the 64-bit base or the V#, b a dword that
 * is added to it (an SGPR or the constant 0), x whether the base is a V#, data the struct wmi_memory_op,
 * whose offset is added too. */

/* What an instruction asks of memory. */
struct wmi_scalar_place {
    uint64_t address;
    uint32_t bytes;  /* that are in the buffer's range; without a V# all */
    uint32_t wanted; /* bytes that the instruction moves */
};

enum { WMI_CYCLES_PER_TICK = 15 }; /* of the 100 MHz that s_memrealtime counts, at a core clock of 1.5 GHz */

/* The wave's virtual clock, in cycles: it runs with its instructions, never with the host. */
uint64_t wmi_wave_cycles(const struct wmi_wave *wave);

struct wmi_scalar_place wmi_scalar_place_of(const char *frame, const struct wmi_op *op);

/* The instruction may not touch the place: ends the wave, or goes on where the run does, with zeros. */
const struct wmi_op *wmi_scalar_refuse(char *frame, const struct wmi_op *op, unsigned kind,
                                       const struct wmi_scalar_place *place);

/* What a negative offset of a buffer's makes of the instruction where that may not be. */
const struct wmi_op *wmi_scalar_negative(char *restrict frame, const struct wmi_op *op);

/* The step that does what the row says it moves; NULL: there is none. */
wmi_body wmi_scalar_step(const struct wmi_memory_op *m, bool buffer);
/* Shows the access that the next step is going to make to the observer. */
const struct wmi_op *wmi_scalar_watch(char *restrict frame, const struct wmi_op *op);
/* d = the base of s_scratch_*: the base at a, and 64 times the SGPR at b. */
const struct wmi_op *wmi_scalar_scratch_base(char *restrict frame, const struct wmi_op *op);
/* d = the wave's clock of 64 bits; x: cycles in a tick of it. */
const struct wmi_op *wmi_scalar_clock(char *restrict frame, const struct wmi_op *op);
/* d = the wave's number in its workgroup. */
const struct wmi_op *wmi_scalar_wave_number(char *restrict frame, const struct wmi_op *op);

#endif
