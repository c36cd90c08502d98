/* SPDX-License-Identifier: MIT */
/* How deep wait counters go: how many memory instructions of a wave are on their way when it issues one more.
 *
 * Nothing is known of time here, so an instruction is on its way until a wait says that it is not, or the
 * counter is full. What a row of instructions does to a counter is then to raise it, but not beyond a limit:
 * so a block of code need only be followed as a whole, and what its instructions find is known by what the
 * counters were before it. */
#ifndef WMI_DEPTH_H
#define WMI_DEPTH_H

#include "base/byte_sums.h"
#include "isa/wait.h"

/* What a row of instructions does to all counters, of enum wmi_counter, a byte each: it adds to them, and
 * leaves them at `most` at most. */
struct wmi_depth_change {
    uint64_t add, most;
};

/* Of no instruction. */
#define WMI_DEPTH_UNCHANGED ((struct wmi_depth_change){0, UINT64_MAX})

/* How high its counter is when a memory instruction has been issued: what it was before the row of
 * instructions that ends with it, plus `add`, but at most `most`. */
struct wmi_depth {
    uint8_t counter, add, most; /* most 0: it has none */
};

/* Appends the instruction to the row. */
struct wmi_depth wmi_depth_append(struct wmi_depth_change *change, const struct wmi_target *target,
                                  const struct wmi_instruction *insn);

static inline uint64_t wmi_depth_changed(uint64_t counters, struct wmi_depth_change change)
{
    return wmi_byte_sums(counters, change.add, change.most);
}

/* counters: the word's bytes, of which the host has the lowest first. */
static inline uint32_t wmi_depth_of(const uint8_t counters[8], struct wmi_depth depth)
{
    const uint32_t sum = (uint32_t)counters[depth.counter] + depth.add;
    return sum < depth.most ? sum : depth.most;
}

#endif
