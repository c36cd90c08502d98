/* SPDX-License-Identifier: MIT */
/* Scalar memory: how the records of its steps are laid out, and the steps. */
#ifndef WMI_SMEM_H
#define WMI_SMEM_H

#include "exec/vmem.h"

/* What an instruction asks of memory. */
struct wmi_scalar_place {
    uint64_t address;
    uint32_t bytes;  /* that are in the buffer's range; without a V# all */
    uint32_t wanted; /* bytes that the instruction moves */
};

struct wmi_scalar_place wmi_scalar_place_of(const char *frame, const struct wmi_op *op);

/* The instruction may not touch the place: ends the wave, or goes on where the run does, with zeros. */
const struct wmi_op *wmi_scalar_refuse(char *frame, const struct wmi_op *op, unsigned kind,
                                       const struct wmi_scalar_place *place);

#endif
