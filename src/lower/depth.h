/* SPDX-License-Identifier: MIT */
/* Wait-counter depth: the number of a wave's memory instructions that are outstanding when it issues another
 * one.
 *
 * Lowering has no notion of time, so an instruction is outstanding until a wait or a full counter says
 * otherwise. The effect of an instruction sequence on a counter is therefore an addition with an upper limit:
 * only whole blocks need to be tracked, and the depth at each instruction follows from the counters at the
 * start of its block. */
#ifndef WMI_DEPTH_H
#define WMI_DEPTH_H

#include "arithmetic/byte_sums.h"
#include "isa/rules/wait.h"

/* Effect of an instruction sequence on all counters (enum wmi_counter, one byte each): counter = min(counter
 * + add, most). */
struct wmi_depth_change {
    uint64_t add, most;
};

/* The empty sequence. */
#define WMI_DEPTH_UNCHANGED ((struct wmi_depth_change){0, UINT64_MAX})

/* Value of a memory instruction's counter after its issue: min(value before the sequence that ends with it +
 * add, most). */
struct wmi_depth {
    uint8_t counter, add, most; /* most 0: no depth */
};

/* Appends an instruction to the sequence and returns its depth. */
struct wmi_depth wmi_depth_append(struct wmi_depth_change *change, const struct wmi_target *target,
                                  const struct wmi_instruction *insn);

static inline uint64_t wmi_depth_changed(uint64_t counters, struct wmi_depth_change change)
{
    return wmi_byte_sums(counters, change.add, change.most);
}

/* counters: bytes of the word, lowest first (the host is little-endian). */
static inline uint32_t wmi_depth_of(const uint8_t counters[8], struct wmi_depth depth)
{
    const uint32_t sum = (uint32_t)counters[depth.counter] + depth.add;
    return sum < depth.most ? sum : depth.most;
}

#endif
