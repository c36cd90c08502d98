/* SPDX-License-Identifier: MIT */
/* Atomic operations on guest memory. */
#ifndef WMI_ATOMIC_H
#define WMI_ATOMIC_H

#include "lower/memory_op.h"

/* One atomic operation on naturally aligned host memory; returns the old value. */
uint32_t wmi_atomic_32(enum wmi_atomic operation, unsigned char *host, uint32_t data, uint32_t compare);
uint64_t wmi_atomic_64(enum wmi_atomic operation, unsigned char *host, uint64_t data, uint64_t compare);

#endif
