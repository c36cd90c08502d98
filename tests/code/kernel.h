/* SPDX-License-Identifier: MIT */
/* A kernel around test instructions: it sets registers, and writes all state that the instructions change to
 * memory.
 *
 * Results must not depend on observers, so the code is run unobserved and observed. */
#ifndef TESTS_KERNEL_H
#define TESTS_KERNEL_H

#include "instructions.h"
#include "wavemem/wavemem.h"

enum {
    KERNEL_VGPRS = 40,       /* few, so that the last ones are soon reached; as many AccVGPRs */
    KERNEL_WORDS = 4096,     /* size of the memory that the instructions access */
    KERNEL_DESCRIPTORS = 16, /* a V# or T# and an S# in s[20:35]: SGPR_BUFFER to the end of SGPR_SAMPLER */
    BODY_WORDS = 2048,
    DUMP_WORDS = 96 * 64,
};

struct kernel; /* for one target and wave size */

/* Name of target number `index` with the suffix ":wave32" or ":wave64", valid until the next call; NULL after
 * the last one. Targets that differ only in their names are merged, unless `every` is set. */
const char *kernel_target(size_t index, bool every);

struct kernel *kernel_create(const char *target);
void kernel_destroy(struct kernel *kernel);
/* The target as used for execution. */
const struct wmi_target *kernel_decodes(const struct kernel *kernel);
unsigned kernel_lanes(const struct kernel *kernel);

/* Initial state of the instructions. */
struct setting {
    uint64_t exec;
    uint32_t m0;
    uint32_t items, groups; /* work-items per workgroup, number of workgroups */
    uint32_t descriptor[KERNEL_DESCRIPTORS];
    enum wm_alignment alignment;
    enum wm_scalar_cache scalar_cache;
    unsigned on_violation;
    uint64_t max_instructions;
    bool by_all; /* observed by a profile, both checks and a fidelity report; otherwise by a profile only */
    bool stops;  /* also run with stops, at which registers are read and written back */
    uint32_t memory[KERNEL_WORDS];
};

/* Makes random descriptors: a V# of the memory, a T# of a linear or tiled image in it. ordinary: without
 * unusual field values. */
void kernel_descriptors(const struct kernel *kernel, bool ordinary, uint32_t descriptor[KERNEL_DESCRIPTORS]);

/* Code to run: instructions, each preceded by code that sets registers. */
struct body {
    uint32_t word[BODY_WORDS];
    size_t count;
};
/* Appends an instruction, preceded by code that sets EXEC, M0 and, with `all`, the address registers. False
 * if the body is full. *offset: byte offset of the instruction in the body. */
bool body_add(const struct kernel *kernel, const struct setting *setting, struct body *body, bool all,
              const uint32_t *words, size_t count, uint64_t *offset);

/* State after a run. */
struct outcome {
    struct wm_fault fault, violation; /* pc: offset in the body */
    uint64_t violations, instructions;
    uint32_t memory[KERNEL_WORDS];
    uint32_t dump[DUMP_WORDS]; /* registers and LDS of the last wave that reached the end */
};

/* Runs the body unobserved, observed, and with stops if so set. False if the outcomes differ, as described in
 * `difference`. */
bool kernel_run(const struct kernel *kernel, const struct setting *setting, const struct body *body,
                struct outcome *unobserved, char *difference, size_t size);

#endif
