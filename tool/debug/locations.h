/* SPDX-License-Identifier: MIT */
/* Locations: how the user names code. */
#ifndef WAVEMEM_DEBUG_LOCATIONS_H
#define WAVEMEM_DEBUG_LOCATIONS_H

#include "tool/debug/places.h"

/* Addresses that a location stands for: LINE, FILE:LINE, FUNCTION, FUNCTION+OFFSET, *ADDRESS, and
 * "insn PATTERN", all instructions whose mnemonic matches, or that are of a class (load, store, atomic,
 * branch, barrier, call, end, lds). The caller frees *addresses. */
bool debug_locate(struct debug_session *s, const char *location, uint64_t **addresses, size_t *count,
                  struct wm_diag *diag);

#endif
