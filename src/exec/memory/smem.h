/* SPDX-License-Identifier: MIT */
/* Scalar memory accesses, shared with the modelled scalar cache. */
#ifndef WMI_SMEM_H
#define WMI_SMEM_H

#include "exec/memory/vmem.h"

/* The memory range that an instruction accesses. */
struct wmi_scalar_place {
    uint64_t address;
    uint32_t bytes;  /* within the buffer's range; all without a V# */
    uint32_t wanted; /* bytes that the instruction moves */
};

struct wmi_scalar_place wmi_scalar_place_of(const char *frame, const struct wmi_op *op);

/* Handles a violation: ends the wave, or continues with zeros if the run allows that. */
const struct wmi_op *wmi_scalar_refuse(char *frame, const struct wmi_op *op, unsigned kind,
                                       const struct wmi_scalar_place *place);

#endif
