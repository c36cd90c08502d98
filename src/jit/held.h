/* SPDX-License-Identifier: MIT */
/* A stretch: consecutive steps of a block that become host code, and which rows the host's registers hold at
 * each point of it.
 *
 * A row of the frame (a VGPR, a temporary or a constant) is held in one zmm register per strip of 16 lanes,
 * or in a single one if it is uniform: the same in all lanes, or in runs: see spread.h. A row that was
 * computed and not stored yet is dirty. The frame is the home of every row, so a row is spilled by storing it
 * there.
 *
 * The stretch is compiled twice: for waves in which all lanes are active, and for others, where k1 to k4 hold
 * EXEC. There, the registers of a result hold the active lanes alone; those of inactive lanes stay in the
 * frame, and what is stored is merged with them. The first one of a kernel is compiled once more, for waves
 * that start with all lanes active and ids in runs: enum wmi_version. */
#ifndef WMI_HELD_H
#define WMI_HELD_H

#include "jit/compile.h"
#include "jit/spread.h"
#include "jit/uniform.h"
#include "lower/step.h"

enum {
    WMI_HELD_ROWS = 2 * WMI_ZMM_REGISTERS,
    WMI_MOST_ROWS = WMI_TEMPORARY_ROWS + 1024 + 2 * WMI_VECTOR_CONSTANTS,
    WMI_NOT_HELD = 0xff,
    /* owners of a register: */
    WMI_FREE = 0xfe,      /* nobody */
    WMI_OF_STEP = 0xfd,   /* the current step */
    WMI_OF_OTHERS = 0xfc, /* the code for the halves of strips that follow */
};

/* In the frame: EXEC as the code for partial waves holds it. */
enum { WMI_EXEC_BITS = offsetof(struct wmi_frame, exec) + offsetof(struct wmi_lanes, bits) };

enum wmi_version {
    WMI_FULL,    /* all lanes are active */
    WMI_PARTIAL, /* they may be inactive */
    WMI_LAUNCH,  /* the wave starts here: all are active, and v0 to v2 are in runs */
};

/* Mask registers: the low 16 bits of k1 to k4 are EXEC if lanes are inactive, and else may be another mask of
 * the frame. */
enum { WMI_K_EXEC = 1, WMI_K_HELD = 1, WMI_K = 5 }; /* k5 to k7 are free */

/* A row of a pair in runs, whose register both rows share. */
enum wmi_half { WMI_NO_HALF, WMI_LOW_HALF, WMI_HIGH_HALF };

struct wmi_held_row {
    uint32_t row;
    uint8_t reg[WMI_STRIPS];
    uint8_t strips; /* how many registers */
    uint8_t stride; /* in runs: from lane to lane; of a half: that of the pair */
    uint8_t half;   /* enum wmi_half */
    bool shared;    /* one register is for all lanes: uniform, or in runs */
    bool runs, whole, used, dirty;
    bool is_outer;    /* held since before the sequence of half strips */
    bool active_only; /* inactive lanes are in the frame; uniform: in active lanes */
    bool is_known;    /* all lanes that the registers hold are `value` */
    uint32_t value;
    size_t step;     /* 1 + the step that used it last */
    size_t numbered; /* the same, if that step has the numbers of the registers */
};

enum wmi_exit_kind {
    WMI_EXIT_INTERPRETS,   /* the step's own body executes it */
    WMI_EXIT_CONTINUES,    /* with the step as it is bound */
    WMI_EXIT_CHANGES_EXEC, /* the same, after EXEC has been set to its words */
    WMI_EXIT_REJOINS,      /* with the step in the version for full waves, which has noted it in `rejoins` */
    WMI_EXIT_BRANCHES,     /* to the step, if the wave's turn is not over */
    WMI_EXIT_PAUSES,       /* the wave's turn is over; it resumes at the step */
};

/* A jump out of the compiled code, before which what is dirty is stored. */
struct wmi_exit {
    size_t jump;
    enum wmi_exit_kind kind;
    const struct wmi_op *op;
    enum wmi_version version;
    bool exec_in_rax; /* RAX is the EXEC words */
    unsigned count;
    struct wmi_held_row dirty[WMI_HELD_ROWS];
};

/* A mask in the frame that k1 to k4 hold too, or of which no bit is set. */
struct wmi_held_mask {
    bool is_held;
    uint32_t place;
    size_t step; /* that has written it */
};

/* A place in compiled code that can be reached from elsewhere: what the registers must hold there. */
struct wmi_reentry {
    size_t step, code; /* the next step; where its code begins */
    struct wmi_held_mask mask;
    unsigned count;
    struct wmi_held_row held[WMI_HELD_ROWS];
};

struct wmi_reentries {
    struct wmi_reentry *one;
    size_t count, capacity;
};

/* A mask that a sequence of half strips computes. */
struct wmi_half_mask {
    uint32_t place;
    bool is_collected; /* in a register of the host, for the frame: another step of the sequence does not
                          replace it */
    enum wmi_gpr reg;
};

/* What a sequence of half strips does with a row. */
enum wmi_half_row_flag {
    WMI_ROW_IS_NOTED = 1 << 0,
    WMI_ROW_IS_READ = 1 << 1, /* before the sequence writes it */
    WMI_ROW_IS_WRITTEN = 1 << 2,
    WMI_ROW_IS_UNIFORM = 1 << 3, /* at the end of the sequence */
    WMI_ROW_IS_LOOKED_UP = 1 << 4,
    WMI_ROW_IS_LIVE = 1 << 5, /* something behind the sequence may read it, if that has been looked up */
};
struct wmi_half_row {
    uint64_t reads, writes; /* a bit for each step of the sequence */
    uint8_t flags;
};
struct wmi_half_rows {
    unsigned count;
    uint16_t number[WMI_MOST_ROWS]; /* of those that are noted */
    struct wmi_half_row row[WMI_MOST_ROWS];
};

/* A sequence of half strips: see halves.h. */
struct wmi_halves {
    size_t from, end;      /* its steps */
    bool may_fail;         /* lanes may have to be executed otherwise, */
    bool may_fail_by_flag; /* which a bit of R8 tells */
    unsigned masks;        /* that it has computed so far */
    struct wmi_half_mask mask[WMI_LANE_MASKS];
    struct wmi_half_rows *rows; /* NULL: the host has no code for half strips */
};

/* What the registers hold at the head of a loop. */
struct wmi_kept {
    struct wmi_held_row held[WMI_HELD_ROWS];
    uint8_t held_of_row[WMI_MOST_ROWS], owner[WMI_ZMM_REGISTERS];
};

/* A jump to the current step and those behind it, emitted once more without rows that are the same in strips:
 * see same.h. */
struct wmi_split {
    size_t jump, step;
    bool has_changed_exec;
    struct wmi_held_mask mask;
    struct wmi_kept kept;
};

/* Code that is rarely reached, taken out of the way of other code: it is put behind the versions. */
struct wmi_aside {
    size_t from, count;            /* its bytes: in `aside_bytes` */
    size_t first_exit, exit_count; /* its jumps that are in `exits` */
    size_t first_jump, jump_count; /* those that lead to it: in `aside_jumps` */
    size_t back;                   /* where it continues */
};

/* What a load from scalar memory has checked in a wave that starts: see scalar_memory.c. */
struct wmi_checked_scalars {
    bool is_valid;
    size_t step;
    uint32_t base;           /* its place in the frame */
    struct wmi_extent range; /* of bytes behind the base */
};

struct wmi_lds_plan;
struct wmi_live;

struct wmi_stretch {
    struct wmi_host host;
    const struct wmi_block *block;
    int8_t *guess; /* see wmi_guess_strides(); of each step */
    const struct wmi_lds_plan *lds;
    const struct wmi_live *live;
    const struct wmi_uniform *uniform;
    size_t from, at, end; /* steps: the first, the current one, the one behind the last */
    unsigned lanes, strips;
    unsigned first_strip; /* that the code is for: 0 but in sequences of half strips */
    uint32_t row_bytes;
    enum wmi_version version;
    bool partial;                  /* version == WMI_PARTIAL */
    bool whole_waves;              /* in waves that start, v0 is in a whole run */
    size_t launch_begin;           /* where the code for waves that start begins, behind its checks */
    enum wmi_pristine left_behind; /* of waves that leave it: WMI_TOUCHED or WMI_RESTARTS */
    bool has_points;               /* each step of this version is noted in `points` */
    bool is_whole;                 /* the rows in runs that the step has used are */
    bool by_halves;                /* the code is for one half of a strip: see halves.h */
    struct wmi_halves halves;
    bool on_bases;         /* the step computes with the bases of rows in runs as if they were uniform */
    bool has_changed_exec; /* since the registers were empty */
    bool may_hold_same;    /* rows that are the same in strips may be held: see same.h */
    bool has_same;         /* some have been, since the version began */
    uint32_t known_places; /* a bit for each address in LDS that has been found to be as guessed */
    int32_t scattered;     /* of the memory access: from its hit to its count in wmi_worker.scattered */
    size_t exec_in_rax;    /* the code from which on RAX is the EXEC words, until something else is emitted */
    bool has_read;         /* the step needs its sources no longer, so that they can be spilled */
    bool joins_next;       /* the step is left to the next one, a memory access: see sums.h */
    const struct wmi_step *sum; /* the step in front, if it was left to this one */
    struct wmi_held_row held[WMI_HELD_ROWS];
    uint8_t held_of_row[WMI_MOST_ROWS]; /* index in `held`, or WMI_NOT_HELD */
    uint8_t owner[WMI_ZMM_REGISTERS];   /* index in `held`, or WMI_FREE and so on */
    bool is_written[WMI_MOST_ROWS];     /* since the stretch began */
    bool is_spilled[WMI_MOST_ROWS];     /* the same: in the frame */
    struct wmi_held_mask mask, clear;
    struct wmi_checked_scalars checked;
    struct wmi_split *splits;
    size_t split_count, split_capacity;
    struct wmi_exit *exits;
    size_t exit_count, exit_capacity;
    struct wmi_reentries reentries; /* of steps after those that were executed elsewhere */
    struct wmi_reentries points;    /* of all steps of the version for full waves, for exits of WMI_LAUNCH */
    struct wmi_reentries rejoins;   /* of that version, where other waves may come to it: see branches.c */
    struct wmi_aside *asides;
    size_t aside_count, aside_capacity;
    size_t *aside_jumps;
    size_t aside_jump_count, aside_jump_capacity;
    struct wmi_host aside_bytes;
    bool failed; /* out of memory */
};

static inline bool wmi_row_is_temporary(const struct wmi_stretch *s, uint32_t row)
{
    return row < s->block->code->vgpr_offset;
}

static inline bool wmi_row_is_constant(const struct wmi_stretch *s, uint32_t row)
{
    return row >= s->block->code->constant_offset;
}

/* Whether the row in the frame is the same, or 0, in all active lanes. The registers of a wave that starts
 * may have a newer one. */
bool wmi_row_is_in_frame(const struct wmi_stretch *s, uint32_t row, enum wmi_uniform_kind kind);
/* Whether it is the same in all active lanes, in a register or in the frame. */
bool wmi_stretch_is_uniform(const struct wmi_stretch *s, uint32_t row);
/* Whether every active lane of the row is this constant of the program, or a copy of it. */
bool wmi_stretch_constant(const struct wmi_stretch *s, uint32_t row, uint32_t *value);
/* All lanes of the row, which the registers hold, are `value`. */
void wmi_stretch_set_constant(struct wmi_stretch *s, uint32_t row, uint32_t value);
/* The current step has copied the row `from`: if that is a constant, so is `to` from now on. */
void wmi_stretch_copies_constant(struct wmi_stretch *s, uint32_t from, uint32_t to);

/* Where WMI_ROWS points in the frame: so far that displacements of 8 bits reach the first VGPRs. */
uint32_t wmi_stretch_origin(const struct wmi_stretch *s);
/* Where a strip of the row is in the frame; `strip`: of those that the code is for. */
struct wmi_host_operand wmi_row_home(const struct wmi_stretch *s, uint32_t row, unsigned strip);
void wmi_stretch_store(struct wmi_stretch *s, const struct wmi_held_row *held);
void wmi_stretch_load(struct wmi_stretch *s, const struct wmi_held_row *held);
/* Emits the row's store, if only registers hold it, for code beside the usual one: this does not change what
 * the registers are taken to hold. */
void wmi_stretch_store_aside(struct wmi_stretch *s, uint32_t row);
/* d = the lanes of a strip of a row in runs. Changes k5 and, but for waves that start, R11. */
void wmi_held_spread_strip(struct wmi_stretch *s, unsigned d, const struct wmi_held_row *held,
                           unsigned strip);

/* The row as the registers hold it, or NULL. */
static inline struct wmi_held_row *wmi_held_find(struct wmi_stretch *s, uint32_t row)
{
    const unsigned index = s->held_of_row[wmi_row_number(s->block->code, row)];
    return index == WMI_NOT_HELD ? NULL : &s->held[index];
}

/* Enters it with registers that the step owns. Loads it. */
struct wmi_held_row *wmi_held_add(struct wmi_stretch *s, uint32_t row, const uint8_t *reg, bool shared);
struct wmi_held_row *wmi_held_load_row(struct wmi_stretch *s, uint32_t row);
/* Stores the row in the middle of a stretch. Frees its registers. Does both, if that is needed; what the
 * current step knows by names is in the frame then. */
void wmi_held_spill(struct wmi_stretch *s, struct wmi_held_row *held);
void wmi_held_release(struct wmi_stretch *s, struct wmi_held_row *held);
void wmi_held_give_up(struct wmi_stretch *s, struct wmi_held_row *held);
void wmi_stretch_forget(struct wmi_stretch *s);
/* What the registers hold. */
void wmi_stretch_save(const struct wmi_stretch *s, struct wmi_kept *kept);
void wmi_stretch_restore(struct wmi_stretch *s, const struct wmi_kept *kept);

/* The number of the step that is bound to the operation; block->count: it is in another block, or NULL. */
size_t wmi_step_number(const struct wmi_block *block, const struct wmi_op *op);
/* The step with which the interpreter begins if it executes the current one. */
size_t wmi_stretch_first_undone(const struct wmi_stretch *s);
/* Whether a step from `next` on may read the temporary row; whether a wave that goes on at the step may read
 * the VGPR where the registers have new values; either. */
bool wmi_row_is_temporary_read(const struct wmi_stretch *s, uint32_t row, size_t next);
bool wmi_held_is_read_from(const struct wmi_stretch *s, const struct wmi_held_row *held, size_t step);
bool wmi_held_is_read_at(const struct wmi_stretch *s, const struct wmi_held_row *held, size_t next);
/* Whether the sequence of half strips reads the row from its step `next` on, before it writes it. *written:
 * it writes it. */
bool wmi_row_is_read_in_sequence(const struct wmi_stretch *s, uint32_t row, size_t next, bool *written);

/* Whether registers are few, and an operand in memory can be a source wherever a register can. */
static inline bool wmi_names_memory(const struct wmi_stretch *s)
{
    return s->host.vectors->names_memory && !s->by_halves;
}

/* A register that is free until the end of the step. One of the host, or WMI_NOT_HELD: on hosts that have few
 * of them, the row that was not used for the longest time loses its own, as operands in memory cost less than
 * copies to there. One for a row that all lanes share, or WMI_NOT_HELD; the same, or any. */
unsigned wmi_stretch_register(struct wmi_stretch *s);
unsigned wmi_near_register(struct wmi_stretch *s);
unsigned wmi_far_register(struct wmi_stretch *s);
uint8_t wmi_lasting_register(struct wmi_stretch *s);
/* Gives back the registers that only the current step used. */
void wmi_stretch_end_step(struct wmi_stretch *s);

#endif
