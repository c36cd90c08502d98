/* SPDX-License-Identifier: MIT */
/* Runs the code of a case on the library: all that instruction tests use of it but names of targets. */
#ifndef TESTS_INSTRUCTIONS_MACHINE_H
#define TESTS_INSTRUCTIONS_MACHINE_H

#include "world.h"

#include "wavemem/wavemem.h"

enum { MOST_ACCESSES = 64 };

/* A memory instruction of the case as the profile shows it. */
struct access {
    char text[160], path[16], operation[16];
    uint64_t executions, lanes, bytes, distinct_bytes, lines, lds_conflicts;
};

struct outcome {
    struct rows after; /* `set` where the case wants them, if the code reached its end */
    bool reached_end;
    struct wm_fault fault, violation;
    uint64_t violations, instructions; /* instructions of the case alone */
    bool observed;
    struct access accesses[MOST_ACCESSES];
    size_t access_count;
};

bool machine_create(struct world *world);
void machine_destroy(struct machine *machine);
/* Guest memory for the case; false, with a message: there is none. */
bool machine_allocate(struct world *world, struct memory *memory, unsigned line, bool read_only);
/* The words of a descriptor: "buffer(NAME: value, ...)", "image(...)", "sampler(...)". Returns their number;
 * 0, with a message in scope->error. *text is moved behind it. */
unsigned machine_descriptor(struct world *world, struct scope *scope, const char **text, uint32_t words[8]);
/* Assembles the case's code with what sets and reads its registers around it. */
bool machine_load(struct world *world);
/* Runs it, with memory as it is before. level: "baseline", "avx2" or "avx512". */
bool machine_run(struct world *world, const char *level, bool observed, unsigned threads,
                 struct outcome *outcome);
/* The guest address of a label of the code; false: there is none. */
bool machine_label(struct world *world, const char *name, uint64_t *address);
/* Whether the host runs the vector bodies of the level. */
bool machine_has_level(const char *level);

#endif
