/* SPDX-License-Identifier: MIT */
/* A stretch: consecutive steps of a block that become host code, and which rows the host's registers hold at
 * each point of it.
 *
 * A row of the frame (a VGPR, a temporary or a constant) is held in one zmm register per strip of 16 lanes,
 * or in a single one if it is uniform: the same in all lanes. A row that was computed and not stored yet is
 * dirty. The frame is the home of every row, so a row is spilled by storing it there.
 *
 * The stretch is compiled twice: for waves in which all lanes are active, and for others, where k1 to k4 hold
 * EXEC and results are merged. */
#ifndef WMI_STRETCH_H
#define WMI_STRETCH_H

#include "compile/compile.h"
#include "compile/host.h"
#include "lower/step.h"

enum {
    WMI_STRIPS = 4, /* of a wave of 64 lanes */
    WMI_STRIP_LANES = 16,
    WMI_STRIP_BYTES = 64,
    WMI_ZMM_REGISTERS = 32,
    WMI_MOST_ROWS = WMI_TEMPORARY_ROWS + 1024 + 2 * WMI_VECTOR_CONSTANTS,
    WMI_NOT_HELD = 0xff,
};

/* Mask registers: k1 to k4 are EXEC if lanes are inactive. */
enum { WMI_K_EXEC = 1, WMI_K = 5 }; /* k5 to k7 are free */

struct wmi_held_row {
    uint32_t row;
    uint8_t reg[WMI_STRIPS];
    uint8_t strips; /* 1: uniform */
    bool used, dirty;
    size_t step; /* 1 + the step that used it last */
};

enum wmi_exit_kind {
    WMI_EXIT_INTERPRETS, /* the step's own body executes it */
    WMI_EXIT_CONTINUES,  /* with the step as it is bound */
    WMI_EXIT_BRANCHES,   /* to the step, if the wave's turn is not over */
    WMI_EXIT_PAUSES,     /* the wave's turn is over; it resumes at the step */
};

/* A jump out of the compiled code, before which what is dirty is stored. */
struct wmi_exit {
    size_t jump;
    enum wmi_exit_kind kind;
    const struct wmi_op *op;
    unsigned count;
    struct wmi_held_row dirty[WMI_ZMM_REGISTERS];
};

/* Where a step that was executed elsewhere goes on in compiled code. */
struct wmi_reentry {
    size_t step, code; /* the step after it; where its code begins */
    unsigned count;
    struct wmi_held_row held[WMI_ZMM_REGISTERS];
};

/* What the registers hold at the head of a loop. */
struct wmi_kept {
    struct wmi_held_row held[WMI_ZMM_REGISTERS];
    uint8_t held_of_row[WMI_MOST_ROWS], owner[WMI_ZMM_REGISTERS];
};

struct wmi_stretch {
    struct wmi_host host;
    const struct wmi_block *block;
    size_t from, at, end; /* steps: the first, the current one, the one behind the last */
    unsigned lanes, strips;
    uint32_t row_bytes;
    bool partial;
    bool has_read; /* the step needs its sources no longer, so that they can be spilled */
    struct wmi_held_row held[WMI_ZMM_REGISTERS];
    uint8_t held_of_row[WMI_MOST_ROWS]; /* index in `held`, or WMI_NOT_HELD */
    uint8_t owner[WMI_ZMM_REGISTERS];   /* index in `held`, or one of these: */
    struct wmi_exit *exits;
    size_t exit_count, exit_capacity;
    struct wmi_reentry *reentries;
    size_t reentry_count, reentry_capacity;
    bool failed; /* out of memory */
};

/* A source of a step, or the registers for its result. */
struct wmi_rows {
    uint32_t row;
    uint8_t reg[WMI_STRIPS];
    bool in_memory, uniform;
};

/* Where WMI_ROWS points in the frame: so far that displacements of 8 bits reach the first VGPRs. */
uint32_t wmi_stretch_origin(const struct wmi_stretch *s);
void wmi_stretch_store(struct wmi_stretch *s, const struct wmi_held_row *held);
void wmi_stretch_load(struct wmi_stretch *s, const struct wmi_held_row *held);

/* Makes the row available to the current step. must_be_register: not as an operand in memory. */
struct wmi_rows wmi_stretch_use(struct wmi_stretch *s, uint32_t row, bool must_be_register);
/* Its part for a strip. */
struct wmi_host_operand wmi_rows_operand(const struct wmi_stretch *s, const struct wmi_rows *rows,
                                         unsigned strip);
unsigned wmi_rows_register(const struct wmi_rows *rows, unsigned strip);
/* Registers for a result, uniform or with one per strip; a single register that is free until the end of the
 * step. */
struct wmi_rows wmi_stretch_result(struct wmi_stretch *s, bool uniform);
unsigned wmi_stretch_register(struct wmi_stretch *s);
/* The number of strips that must be computed. */
unsigned wmi_rows_strips(const struct wmi_stretch *s, const struct wmi_rows *rows);
/* Makes the result the new value of the row: in active lanes, or in all lanes of a temporary row. */
void wmi_stretch_write(struct wmi_stretch *s, uint32_t row, struct wmi_rows *result);
void wmi_stretch_write_all_lanes(struct wmi_stretch *s, uint32_t row, struct wmi_rows *result);
/* Whether nothing reads what the current step leaves in a row, because v_mov_b32 overwrites it, or in the
 * mask at a place of the frame, before another block. */
bool wmi_stretch_drops_row(const struct wmi_stretch *s, uint32_t row);
bool wmi_stretch_drops_mask(const struct wmi_stretch *s, uint32_t place);
/* Gives back the registers that only the current step used. */
void wmi_stretch_end_step(struct wmi_stretch *s);

/* The interpreter executes `step` if the condition holds, and continues from there. The frame will be as it
 * is before the current step. */
void wmi_stretch_exit_if(struct wmi_stretch *s, enum wmi_condition condition);
/* For a jump that has been emitted. */
void wmi_stretch_exit_at(struct wmi_stretch *s, size_t jump, enum wmi_exit_kind kind,
                         const struct wmi_op *op);
/* After the current step the interpreter may come back to what is emitted next. */
void wmi_stretch_come_back(struct wmi_stretch *s);
/* Memory: R9 = the hit of the instruction. Then, for the guest address in RAX, the host address of `bytes`
 * bytes, or an exit if they are not in the allocation of the hit. Both change R8. */
void wmi_stretch_find_hit(struct wmi_stretch *s, const struct wmi_memory_op *m);
void wmi_stretch_check_hit(struct wmi_stretch *s, unsigned bytes);
/* Stores what is dirty and may still be read at the step `next`. */
void wmi_stretch_flush(struct wmi_stretch *s, size_t next);
void wmi_stretch_forget(struct wmi_stretch *s);

/* Loops keep rows in registers: what is held at the end of the first iteration is held at the start of all
 * others, except temporary rows, which no iteration takes from another one. */
void wmi_stretch_keep(struct wmi_stretch *s, struct wmi_kept *kept);
/* Makes the registers hold what they held then. */
void wmi_stretch_match(struct wmi_stretch *s, const struct wmi_kept *kept);

/* Whether every lane of the row is this constant of the program. */
bool wmi_stretch_constant(const struct wmi_stretch *s, uint32_t row, uint32_t *value);

/* Bytes from the first lane's dword to each lane's, if they follow one another. */
extern const uint32_t wmi_lane_offset[WMI_STRIPS * WMI_STRIP_LANES];

/* Emits code for the step; false: there is none for it. */
typedef bool wmi_emit_step(struct wmi_stretch *s, const struct wmi_step *step);
/* The function for a step, or NULL. */
wmi_emit_step *wmi_vector_emitter(const struct wmi_step *step);
wmi_emit_step *wmi_scalar_emitter(const struct wmi_step *step);
wmi_emit_step *wmi_memory_emitter(const struct wmi_step *step);
wmi_emit_step *wmi_lds_emitter(const struct wmi_step *step);

#endif
