/* SPDX-License-Identifier: MIT */
/* Runs the code of a case on the library; other files of these tests use only its target names. */
#ifndef TESTS_INSTRUCTIONS_MACHINE_H
#define TESTS_INSTRUCTIONS_MACHINE_H

#include "world.h"

#include "wavemem/wavemem.h"

enum { MOST_ACCESSES = 64 };

/* A memory instruction of the case as reported by the profile. */
struct access {
    char text[160], path[16], operation[16];
    uint64_t executions, lanes, bytes, distinct_bytes, lines, lds_conflicts;
};

struct outcome {
    struct rows after; /* `set` for rows the case compares, if the code reached its end */
    bool reached_end;
    struct wm_fault fault, violation;
    uint64_t violations, instructions; /* of the case's code only */
    bool observed;
    struct access accesses[MOST_ACCESSES];
    size_t access_count;
};

bool machine_create(struct world *world);
void machine_destroy(struct machine *machine);
/* Allocates guest memory for the case; false, with a message, on failure. */
bool machine_allocate(struct world *world, struct memory *memory, unsigned line, bool read_only);
/* Parses a descriptor: "buffer(NAME: value, ...)", "image(...)", "sampler(...)". Advances *text and returns
 * the number of words; 0 on error, with a message in scope->error. */
unsigned machine_descriptor(struct world *world, struct scope *scope, const char **text, uint32_t words[8]);
/* Assembles the case's code with the code around it. */
bool machine_load(struct world *world);
/* Runs it with the initial memory. level: "baseline", "avx2" or "avx512". */
bool machine_run(struct world *world, const char *level, bool observed, unsigned threads,
                 struct outcome *outcome);
/* The guest address of a label in the code; false if there is none. */
bool machine_label(struct world *world, const char *name, uint64_t *address);
/* Whether the host supports the CPU level. */
bool machine_has_level(const char *level);

#endif
