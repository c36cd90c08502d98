/* SPDX-License-Identifier: MIT */
/* A kernel around instructions to be tried: it sets registers, and writes all that they changed to memory.
 *
 * What code leaves must not depend on who observes it: it is run unobserved and observed. */
#ifndef TESTS_KERNEL_H
#define TESTS_KERNEL_H

#include "instructions.h"
#include "wavemem/wavemem.h"

enum {
    KERNEL_VGPRS = 40,       /* few, so that the last ones are not far; as many AccVGPRs */
    KERNEL_WORDS = 4096,     /* of the memory that the instructions reach */
    KERNEL_DESCRIPTORS = 16, /* a V# or T# and an S# in s[20:35]: SGPR_BUFFER to the end of SGPR_SAMPLER */
    BODY_WORDS = 2048,
    DUMP_WORDS = 96 * 64,
};

struct kernel; /* of one target and size of waves */

/* The name of target number `index`, with ":wave32" or ":wave64" behind it, until the next call; NULL behind
 * the last. Targets that differ in nothing but their names are one, unless `every` is set. */
const char *kernel_target(size_t index, bool every);

struct kernel *kernel_create(const char *target);
void kernel_destroy(struct kernel *kernel);
/* The target as execution decodes it. */
const struct wmi_target *kernel_decodes(const struct kernel *kernel);
unsigned kernel_lanes(const struct kernel *kernel);

/* What the instructions find. */
struct setting {
    uint64_t exec;
    uint32_t m0;
    uint32_t items, groups; /* work-items of a workgroup, and how many */
    uint32_t descriptor[KERNEL_DESCRIPTORS];
    enum wm_alignment alignment;
    enum wm_scalar_cache scalar_cache;
    unsigned on_violation;
    uint64_t max_instructions;
    bool by_all; /* observed by a profile, both checks and a fidelity report; else by a profile alone */
    uint32_t memory[KERNEL_WORDS];
};

/* Makes descriptors of numbers at random: a V# of the memory, a T# of a linear image in it. ordinary: ones
 * that nothing is odd about. */
void kernel_descriptors(const struct kernel *kernel, bool ordinary, uint32_t descriptor[KERNEL_DESCRIPTORS]);

/* Code that is to be run: instructions with what sets registers before each. */
struct body {
    uint32_t word[BODY_WORDS];
    size_t count;
};
/* Appends an instruction, and before it what sets EXEC, M0 and, with `all`, the registers of addresses.
 * False: there is no more room. *offset: bytes to the instruction from the body's start. */
bool body_add(const struct kernel *kernel, const struct setting *setting, struct body *body, bool all,
              const uint32_t *words, size_t count, uint64_t *offset);

/* What is left behind. */
struct outcome {
    struct wm_fault fault, violation; /* pc: from the body's start */
    uint64_t violations, instructions;
    uint32_t memory[KERNEL_WORDS];
    uint32_t dump[DUMP_WORDS]; /* registers and LDS, of the last wave that came to its end */
};

/* Runs the body unobserved and observed. False: it differs, and `difference` says how. */
bool kernel_run(const struct kernel *kernel, const struct setting *setting, const struct body *body,
                struct outcome *unobserved, char *difference, size_t size);

#endif
