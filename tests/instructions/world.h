/* SPDX-License-Identifier: MIT */
/* A case on one target with one wave size: registers and memory before and after its code. */
#ifndef TESTS_INSTRUCTIONS_WORLD_H
#define TESTS_INSTRUCTIONS_WORLD_H

#include "case.h"
#include "value.h"

enum {
    MOST_LANES = 64,
    /* Registers available to a case; the others belong to the code around it. */
    CASE_VGPRS = 250,
    CASE_SGPRS = 84,
    MEMORIES = 12,
    MODE_FIELDS = 8,
    THREAD_COUNTS = 4
};

/* Registers by row; scalar registers use lane 0. */
enum {
    ROW_V = 0,
    ROW_A = 256,
    ROW_S = 512,
    ROW_EXEC = 620, /* two rows, low and high */
    ROW_VCC = 622,
    ROW_M0 = 624,
    ROW_SCC,
    ROW_MODE,
    ROWS
};

struct rows {
    uint32_t lane[ROWS][MOST_LANES];
    bool set[ROWS];
};

struct memory {
    char name[24];
    uint64_t address;
    uint32_t bytes;
    unsigned char *before, *after;
};

/* Fields of MODE that are set before the code. */
struct mode_field {
    unsigned bit, width;
    uint32_t value;
};

struct run_options {
    uint32_t grid[3], workgroup[3]; /* work-items */
    uint32_t cluster[3];            /* workgroups */
    uint32_t lds;                   /* bytes */
    unsigned threads[THREAD_COUNTS], thread_counts;
    uint64_t budget;
    double timeout;
    unsigned alignment, on_violation, scalar_cache; /* as in struct wm_dispatch */
};

struct machine;

struct world {
    const struct test_file *file;
    const struct test_case *test;
    const char *target;
    target_set target_bit;
    unsigned lanes;
    struct report *report;
    char context[80]; /* "gfx900, waves of 64, avx2, observed" */
    struct machine *machine;
    struct rows before;
    struct mode_field modes[MODE_FIELDS];
    unsigned mode_count;
    struct memory memories[MEMORIES];
    unsigned memory_count;
    struct memory *lds; /* one of `memories`, or NULL */
    struct run_options run;
    bool wanted[ROWS]; /* rows with expectations */
};

/* The destination of a line's values, or the location to compare with them. */
struct place {
    enum { PLACE_ROWS, PLACE_MODE, PLACE_MEMORY } kind;
    enum type type; /* TYPES: not specified */
    unsigned row, rows;
    unsigned bit, width; /* in MODE */
    struct memory *memory;
    uint64_t from, count; /* elements */
    bool by_lane;
    bool is_mask; /* one bit per lane: only bits of the wave's lanes count */
};

/* A line "place = values", with a callback per value. number: index among the line's values, or of the
 * element. */
struct assignment {
    struct place place;
    unsigned line;
    void (*each)(struct world *world, const struct assignment *assignment, uint64_t number, unsigned lane,
                 const struct value *value);
    void *user;
};

/* Reports an error: "FILE:LINE: CONTEXT: message". */
__attribute__((format(printf, 3, 4))) void world_complains(struct world *world, unsigned line,
                                                           const char *format, ...);
/* Processes a line. False, with a message, on error. */
bool assign(struct world *world, const struct text_line *line, struct assignment *assignment);
/* The value of an expression that is uniform across lanes. False, with a message, on error. */
bool world_value(struct world *world, unsigned line, const char *text, struct value *value);
/* Reads the sections `run` and `before`, and the locations mentioned in `after`. */
bool prepare_world(struct world *world);
void free_world(struct world *world);
/* "v3", "exec", "data[5]": name of the location of an assignment's value. */
void name_place(char *text, size_t size, const struct place *place, uint64_t number, unsigned lane);

#endif
