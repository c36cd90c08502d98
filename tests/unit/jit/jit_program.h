/* SPDX-License-Identifier: MIT */
/* Programs of steps that run compiled and interpreted, with equal results: what the tests of the compiler
 * share. */
#ifndef COMPILE_PROGRAM_H
#define COMPILE_PROGRAM_H

#include "exec/run/bind.h"
#include "exec/run/dispatch.h"
#include "jit/stretch.h"
#include "reduced.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    VGPRS = 12,
    SGPRS = 24, /* pairs of s0 to s23 */
    MOST_STEPS = 80,
    COUNTER = SGPRS + 4, /* of iterations; followed by -1 and 0 */
    TURN = 40,
    BLOCKS = 3, /* that are counted */
    SEQUENCES = 4000,
    REDUCED_SEQUENCES = 400,
};

struct program;

/* The memory that steps of a program access. Both runs begin with equal contents. */
struct accessed_memory {
    void (*fill)(struct program *p);    /* completes p->initial: addresses, and where the memory is */
    void (*start)(struct program *p);   /* sets the contents */
    void (*keep)(struct program *p);    /* after the interpreted run */
    void (*compare)(struct program *p); /* after the compiled one */
};

struct program {
    struct wmi_code code;
    struct wmi_step steps[MOST_STEPS + 1];
    bool leads[MOST_STEPS + 1];
    size_t count;
    struct wmi_op interpreted[MOST_STEPS + 1], compiled[MOST_STEPS + 1];
    struct wmi_op launch[WMI_LAUNCHES];
    enum wmi_launch_code start_code;
    unsigned start_rows; /* VGPRs, from v0 on, that must have the values that waves start with */
    struct wmi_compile_mode mode;
    struct wmi_host_memory *memory;
    struct wmi_frame *initial, *expected, *actual;
    struct wmi_wave wave;
    struct wmi_workgroup group;
    struct wmi_block_counter blocks[BLOCKS]; /* counters of the worker; `accessed` brings one without */
    bool loops;                              /* the last step branches to this one: */
    size_t loop_to;
    size_t skip, skip_to; /* a step that may branch, or 0; where to, or 0: behind the last one */
    const struct accessed_memory *accessed; /* or NULL */
    bool starts;                            /* its waves start with ids */
    bool ends;                              /* no register is read behind its last step */
    bool stays;                             /* waves cannot leave its steps */
    bool is_wild, is_at_end;
    bool makes_places;  /* its first step computes the places in LDS: v0 << place_shift, or v1, and v2 */
    int place_shift;    /* or -1 */
    bool places_fall;   /* its first two steps do: v2 - (v0 << place_shift) */
    bool counts_leaves; /* how often compiled code leaves for a body: in `leaves` */
    unsigned leaves;
    uint32_t widest; /* bytes of a lane's largest access to memory */
    size_t frame_size;
};

/* Random numbers: any, below a limit, often one of the edge values. */
uint64_t random_64(void);
uint32_t below(uint32_t limit);
uint32_t word(void);

void create(struct program *p, unsigned lanes);
void destroy(struct program *p);
void choose_mode(struct program *p);
void set_exec(struct wmi_frame *frame, unsigned lanes, uint64_t bits);

/* Whether the compiler knows a step that computes. */
bool is_known(enum wmi_step_id id);
/* Such a step with random operands. */
struct wmi_step some_step(const struct program *p, enum wmi_step_id id);
uint32_t some_row(const struct program *p);
uint32_t some_vgpr(const struct program *p);
uint32_t some_scalar(void);
uint32_t row_at(const struct program *p, unsigned number);
bool contains(const char *name, const char *part);

/* Change the steps of a program at a place, or its end. */
void keep_half(struct program *p, size_t at);
void multiply_low(struct program *p, size_t at);
void change_exec(struct program *p, size_t at);
void make_skip(struct program *p, size_t at);
void make_barrier(struct program *p, size_t at);
/* Lets steps behind those that write temporary rows read them. Call it last. */
void read_temporaries(struct program *p);
void make_loop(struct program *p);
/* Makes the first steps write the same value, often 0, to all lanes of a row, in front of a later loop. */
void make_uniform(struct program *p);
/* Such a step: the constant 0 or a scalar, to a row. */
struct wmi_step set_zero(const struct program *p, uint32_t row);
struct wmi_step set_scalar(uint32_t row, unsigned scalar);

/* Whether code is made by way of the representation. */
bool makes_parts(void);
/* Of those that were made by way of the representation, and those of them whose first step was compiled. */
extern unsigned programs, compiled_programs;

/* Compiles the program and runs it both ways, on so many random frames. */
void check(struct program *p, unsigned fills);
/* Prints the program, before a failure. */
void describe(const struct program *p);

#endif
