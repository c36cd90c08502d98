/* SPDX-License-Identifier: MIT */
/* Sequences of steps that are executed half strip by half strip.
 *
 * A row of 64 lanes takes eight ymm registers, so that hosts with AVX2 alone cannot keep two of them. Where
 * consecutive steps treat each lane alone, all of them are emitted for eight lanes, then for the next eight:
 * a register holds eight lanes of a row from the step that writes it to the last one that reads it. Only what
 * is read behind the sequence is stored.
 *
 * Lanes that a step cannot compute are noted, and behind the sequence the wave leaves if there are some: for
 * the first step of the sequence, with all rows as they were in front of it. Rows that the sequence reads and
 * then replaces are kept for that. */
#ifndef WMI_HALVES_H
#define WMI_HALVES_H

#include "jit/stretch.h"

/* Emits the sequence that begins with the current step, which becomes the last one of it. False: there is
 * none, or it is not worth it. */
bool wmi_put_halves(struct wmi_stretch *s);

#endif
