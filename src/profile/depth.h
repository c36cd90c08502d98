/* SPDX-License-Identifier: MIT */
/* How deep wait counters go: how many memory instructions of a wave are on their way when it issues one more.
 *
 * Nothing is known of time here, so an instruction is on its way until a wait says that it is not, or the
 * counter is full. */
#ifndef WMI_PROFILE_DEPTH_H
#define WMI_PROFILE_DEPTH_H

#include "base/byte_sums.h"
#include "isa/wait.h"

enum { WMI_DEPTH_CHUNK = 256, WMI_DEPTH_CHUNKS = 512 };

/* What one instruction does to the counters of a wave, a byte each of one word. */
struct wmi_depth_rule {
    uint64_t limit; /* what a wait leaves of each, else UINT8_MAX */
    uint64_t add;
    uint64_t most;        /* what each holds at most */
    uint32_t shift, mask; /* of the counter that says how deep a memory instruction is; 0: it is none */
};

/* Rules by number. They stay where they are, for threads read them while others are added. */
struct wmi_depths {
    struct wmi_depth_rule *chunk[WMI_DEPTH_CHUNKS];
    uint32_t count;
};

/* The number of a rule for the instruction; WMI_NOT_SHOWN: it has nothing to do with memory, or there is no
 * room. */
uint32_t wmi_depths_add(struct wmi_depths *depths, const struct wmi_target *target,
                        const struct wmi_instruction *insn);
void wmi_depths_destroy(struct wmi_depths *depths);

/* A wave, whose counters are *wave (NULL when it begins), comes to the instruction. How deep its counter is
 * then; 0 for waits. */
static inline unsigned wmi_depths_pass(const struct wmi_depths *depths, void **wave, uint32_t number)
{
    const struct wmi_depth_rule *rule = &depths->chunk[number / WMI_DEPTH_CHUNK][number % WMI_DEPTH_CHUNK];
    const uint64_t counters = wmi_byte_sums((uintptr_t)*wave, rule->limit, rule->add, rule->most);
    *wave = (void *)(uintptr_t)counters;
    return (unsigned)(counters >> rule->shift) & rule->mask;
}

#endif
