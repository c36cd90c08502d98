/* SPDX-License-Identifier: MIT */
/* The parts of the checker of floating-point exceptions (float.c). */
#ifndef WMI_CHECK_FLOAT_H
#define WMI_CHECK_FLOAT_H

#include "check/checker.h"
#include "isa/rules/registers.h"

#include <pthread.h>

enum {
    WMI_FLOAT_LANES = 64,
    WMI_FLOAT_SOURCES = 3,    /* A, B and C */
    WMI_FLOAT_READ = 8,       /* operands of an operation: most that it reads, */
    WMI_FLOAT_WRITTEN = 4,    /* and writes */
    WMI_FLOAT_LOADED = 4,     /* dwords of a load from private memory */
    WMI_FLOAT_CHUNK = 1 << 8, /* instructions; chunks never move, because waves point to them */
    WMI_FLOAT_CHUNKS = 1 << 12,
};

enum wmi_float_format {
    WMI_FLOAT_NONE,
    WMI_FLOAT_FNUZ, /* fp8 and bf8 of gfx940, with one NaN and no infinity; src/arithmetic/small_float.h */
    WMI_FLOAT_FP8,  /* those of OCP: no infinity; */
    WMI_FLOAT_BF8,  /* as IEEE's formats */
    WMI_FLOAT_F16,
    WMI_FLOAT_BF16,
    WMI_FLOAT_F32,
    WMI_FLOAT_F64
};

/* What an instruction does with values that are not finite. */
enum wmi_float_kind {
    WMI_FLOAT_LOADS,    /* its results do not depend on registers, or nobody knows how */
    WMI_FLOAT_MOVES,    /* bits of its sources */
    WMI_FLOAT_SELECTS,  /* v_cndmask */
    WMI_FLOAT_COMPUTES, /* floats from floats */
    WMI_FLOAT_CONVERTS, /* floats to integers, or to floats of 8 bits */
    WMI_FLOAT_MATRIX,
};

/* The exceptions of IEEE 754 that are reported; the rules are in this order. */
enum wmi_float_exception {
    WMI_FLOAT_INVALID,
    WMI_FLOAT_DIVISION,
    WMI_FLOAT_OVERFLOW,
    WMI_FLOAT_CONVERSION,
    WMI_FLOAT_EXCEPTIONS
};

/* Where an element is in the registers of its operand. */
struct wmi_float_place {
    uint8_t dword, shift;
};

struct wmi_float_source {
    uint16_t reg;             /* isa/rules/registers.h; WMI_REGISTER_COUNT: a constant */
    uint8_t dwords;           /* 1 or 2; of a matrix more */
    uint8_t format, elements; /* enum wmi_float_format; NONE: its value does not matter */
    bool old;                 /* it is the result before the instruction, which lanes may keep */
    bool other_lanes;         /* DPP: lanes read it from other lanes */
    uint8_t neg, abs;         /* a bit per element */
    struct wmi_float_place place[2];
    uint32_t constant[2];
};

struct wmi_float_registers {
    uint16_t first, count; /* isa/rules/registers.h */
};

/* An instruction, or one half of a VOPD pair. */
struct wmi_float_operation {
    uint16_t id;              /* enum wmi_insn_id */
    uint8_t kind;             /* enum wmi_float_kind */
    uint8_t format, elements; /* of the result, of COMPUTES, MATRIX, and CONVERTS to floats of 8 bits */
    uint8_t pole;             /* 1 + index of the source of which 0 makes the result infinite; or 0 */
    bool narrows;             /* converts to a smaller format */
    bool dot;                 /* every element of the sources enters the result */
    bool half;                /* the result is one half of a register, which may keep the other */
    bool other_lanes;         /* reads other lanes */
    bool ignores_exec;
    uint16_t mask;                   /* SELECTS: the register of the mask */
    uint8_t type;                    /* CONVERTS: enum wmi_type of the result */
    struct wmi_float_place place[2]; /* of the result's elements */
    struct wmi_float_source source[WMI_FLOAT_SOURCES];
    struct wmi_float_registers read[WMI_FLOAT_READ],
        written[WMI_FLOAT_WRITTEN]; /* the first `moved` of those written depend on `read` */
    uint8_t reads, writes, moved;
};

struct wmi_float_instruction {
    uint64_t pc;
    uint32_t number;
    uint8_t operations;
    bool exports;
    struct wmi_float_operation operation[2];
    struct wmi_float_registers data[2]; /* what a store or an atomic stores */
};

/* The lanes of one execution in which an exception arose. */
struct wmi_float_event {
    const struct wmi_float_instruction *insn;
    enum wmi_float_exception exception;
    unsigned operation; /* index */
    uint32_t sequence;  /* of the execution in its wave */
    bool reported, marked;
    uint64_t lanes;
    uint64_t value[][WMI_FLOAT_SOURCES + 1]; /* for each of them: the sources' bits and the result's */
};

/* Which event a register's value comes from, per lane; of scalar registers in lane 0. */
struct wmi_float_row {
    uint64_t lanes;                   /* that have an origin */
    uint32_t origin[WMI_FLOAT_LANES]; /* index of the event, and WMI_FLOAT_STICKY */
};

/* A dword of private memory whose value has an origin, or had one: 0. */
struct wmi_float_private {
    uint64_t key; /* 1 + its number in guest memory; 0: a free entry */
    uint32_t origin;
};

enum { WMI_FLOAT_STICKY = INT32_MIN }; /* the value is a saturated integer, or was computed from one */

struct wmi_float_wave {
    const struct wmi_float_instruction *last; /* executed, but its results have not been looked at; or NULL */
    uint64_t exec;                            /* before it */
    uint32_t sequence;
    bool finite;                                              /* MATRIX: all sources are */
    uint32_t saved[2][WMI_FLOAT_SOURCES][2][WMI_FLOAT_LANES]; /* the sources of its operations */
    unsigned live;                                            /* rows with lanes */
    struct wmi_float_row *row[WMI_REGISTER_COUNT];            /* NULL: never had an origin */
    struct wmi_float_event **event;                           /* from 1 on; NULL: free */
    uint32_t capacity, used, newest;                          /* newest: the event that was added last */
    struct wmi_float_private *private;                        /* hash table, at most half full */
    uint32_t private_capacity, privates;
    /* Origins of what the last instruction loads from private memory, for each dword that `loads` has. */
    uint32_t loaded[WMI_FLOAT_LOADED][WMI_FLOAT_LANES], loads;
};

/* The origin of a register in a lane; 0: none. */
static inline uint32_t wmi_float_origin(const struct wmi_float_wave *wave, unsigned reg, unsigned lane)
{
    const struct wmi_float_row *row = wave->row[reg];
    lane = reg < WMI_REGISTER_VGPR ? 0 : lane;
    return row && row->lanes >> lane & 1 ? row->origin[lane] : 0;
}

/* ---- float_code.c ---- */

/* Describes an instruction; its number is left alone. */
void wmi_float_describe(const struct wmi_target *target, uint64_t pc, const struct wmi_instruction *insn,
                        struct wmi_float_instruction *out);

/* ---- float_origins.c ---- */

/* The register has been written in the lanes: their origins, or NULL: none has one. False: no memory. */
bool wmi_float_put(struct wmi_float_wave *wave, unsigned reg, uint64_t lanes, const uint32_t *origin);
/* The dword of private memory at this address, which belongs to one lane, has been stored. False: no memory.
 */
bool wmi_float_put_private(struct wmi_float_wave *wave, uint64_t address, uint32_t origin);
/* The origin of the dword; 0: none. */
uint32_t wmi_float_private_origin(const struct wmi_float_wave *wave, uint64_t address);
/* Makes space for so many more events. False: out of memory. */
bool wmi_float_reserve(struct wmi_float_wave *wave, unsigned events);
/* Adds a copy of the event, for whose values there is then memory; wmi_float_reserve() comes first. 0: out of
 * memory. */
uint32_t wmi_float_add_event(struct wmi_float_wave *wave, const struct wmi_float_event *event);
/* The wave has ended. */
void wmi_float_clear(struct wmi_float_wave *wave);
void wmi_float_destroy(struct wmi_float_wave *wave);

/* ---- float_results.c ---- */

/* The wave is about to execute the instruction. */
void wmi_float_begin(struct wmi_float_wave *wave, const struct wmi_float_instruction *insn,
                     const char *frame);
/* It has executed the last one: finds the origins of its results. *missed becomes true without memory. */
void wmi_float_finish(struct wmi_float_wave *wave, const char *frame, bool *missed);

/* ---- float_rules.c ---- */

struct wmi_float {
    struct wmi_observer observer;
    struct wmi_check_dispatch dispatch;
    struct wmi_float_instruction *chunk[WMI_FLOAT_CHUNKS];
    uint32_t instructions;
    const char *missed;
    struct wmi_found_set findings; /* guarded by the lock while threads run */
    pthread_mutex_t lock;
};

static inline struct wmi_float_instruction *wmi_float_instruction_of(const struct wmi_float *check,
                                                                     uint32_t number)
{
    return &check->chunk[number / WMI_FLOAT_CHUNK][number % WMI_FLOAT_CHUNK];
}

extern const struct wmi_check_rule wmi_float_rules[WMI_FLOAT_EXCEPTIONS];

/* The finding that the event's value, in these of its lanes, has been stored by the instruction at `store`.
 * The caller fills in wave, workgroup and launch. */
struct wmi_found wmi_float_found(const struct wmi_float_event *event, uint64_t lanes, uint64_t store);

/* ---- formats ---- */

/* Whether the bits are an infinity or a NaN. */
bool wmi_float_is_special(enum wmi_float_format format, uint64_t bits);
bool wmi_float_is_nan(enum wmi_float_format format, uint64_t bits);
/* Of fp8, only whether it is a NaN. */
double wmi_float_value(enum wmi_float_format format, uint64_t bits);

#endif
