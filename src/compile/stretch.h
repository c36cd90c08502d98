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
#ifndef WMI_STRETCH_H
#define WMI_STRETCH_H

#include "compile/compile.h"
#include "compile/spread.h"
#include "lower/step.h"

enum {
    WMI_HELD_ROWS = 2 * WMI_ZMM_REGISTERS,
    WMI_MOST_ROWS = WMI_TEMPORARY_ROWS + 1024 + 2 * WMI_VECTOR_CONSTANTS,
    WMI_NOT_HELD = 0xff,
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
    bool is_outer;    /* held since before the run of half strips */
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

/* A mask that a run of half strips computes. */
struct wmi_half_mask {
    uint32_t place;
    bool is_collected; /* in a register of the host, for the frame: another step of the run does not replace
                          it */
    enum wmi_gpr reg;
};

/* What a run of half strips does with a row. */
enum wmi_half_row_flag {
    WMI_ROW_IS_NOTED = 1 << 0,
    WMI_ROW_IS_READ = 1 << 1, /* before the run writes it */
    WMI_ROW_IS_WRITTEN = 1 << 2,
    WMI_ROW_IS_UNIFORM = 1 << 3, /* at the end of the run */
    WMI_ROW_IS_LOOKED_UP = 1 << 4,
    WMI_ROW_IS_LIVE = 1 << 5, /* something behind the run may read it, if that has been looked up */
};
struct wmi_half_row {
    uint64_t reads, writes; /* a bit for each step of the run */
    uint8_t flags;
};
struct wmi_half_rows {
    unsigned count;
    uint16_t number[WMI_MOST_ROWS]; /* of those that are noted */
    struct wmi_half_row row[WMI_MOST_ROWS];
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
struct wmi_uniform;

struct wmi_stretch {
    struct wmi_host host;
    const struct wmi_block *block;
    int8_t *guess; /* see wmi_guess_strides(); of each step */
    const struct wmi_lds_plan *lds;
    const struct wmi_live *live;
    const struct wmi_uniform *uniform;
    size_t from, at, end; /* steps: the first, the current one, the one behind the last */
    unsigned lanes, strips;
    unsigned first_strip; /* that the code is for: 0 but in runs of half strips */
    uint32_t row_bytes;
    enum wmi_version version;
    bool partial;                    /* version == WMI_PARTIAL */
    bool whole_waves;                /* in waves that start, v0 is in a whole run */
    size_t launch_begin;             /* where the code for waves that start begins, behind its checks */
    enum wmi_pristine left_behind;   /* of waves that leave it: WMI_TOUCHED or WMI_RESTARTS */
    bool has_points;                 /* each step of this version is noted in `points` */
    bool is_whole;                   /* the rows in runs that the step has used are */
    bool by_halves;                  /* the code is for one half of a strip: see halves.h */
    bool may_fail;                   /* in a run of half strips: lanes may have to be executed otherwise, */
    bool may_fail_by_flag;           /* which a bit of R8 tells */
    size_t halves_from, halves_end;  /* the steps of such a run */
    struct wmi_half_rows *half_rows; /* NULL: the host has no code for half strips */
    unsigned half_masks;             /* that it has computed so far */
    struct wmi_half_mask half_mask[WMI_LANE_MASKS];
    bool on_bases;         /* the step computes with the bases of rows in runs as if they were uniform */
    bool has_changed_exec; /* since the registers were empty */
    bool may_hold_same;    /* rows that are the same in strips may be held: see same.h */
    bool has_same;         /* some have been, since the version began */
    uint32_t known_places; /* a bit for each address in LDS that has been found to be as guessed */
    size_t exec_in_rax;    /* the code from which on RAX is the EXEC words, until something else is emitted */
    bool has_read;         /* the step needs its sources no longer, so that they can be spilled */
    bool joins_next;       /* the step is left to the next one, a memory access: see sums.h */
    const struct wmi_step *sum; /* the step in front, if it was left to this one */
    struct wmi_held_row held[WMI_HELD_ROWS];
    uint8_t held_of_row[WMI_MOST_ROWS]; /* index in `held`, or WMI_NOT_HELD */
    uint8_t owner[WMI_ZMM_REGISTERS];   /* index in `held`, or one of these: */
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

/* A source of a step, or the registers for its result. */
struct wmi_rows {
    uint32_t row;
    uint8_t reg[WMI_STRIPS];
    uint8_t stride;
    bool in_memory, uniform, runs, whole;
};

/* Where WMI_ROWS points in the frame: so far that displacements of 8 bits reach the first VGPRs. */
uint32_t wmi_stretch_origin(const struct wmi_stretch *s);
void wmi_stretch_store(struct wmi_stretch *s, const struct wmi_held_row *held);
void wmi_stretch_load(struct wmi_stretch *s, const struct wmi_held_row *held);

/* Makes the row available to the current step. must_be_register: not as an operand in memory. */
struct wmi_rows wmi_stretch_use(struct wmi_stretch *s, uint32_t row, bool must_be_register);
/* The same as an operand in memory, so that it needs no registers. */
struct wmi_rows wmi_stretch_use_in_memory(struct wmi_stretch *s, uint32_t row);
/* Its part for a strip. */
/* Emits the row's store, if only registers hold it, for code beside the usual one: this does not change what
 * the registers are taken to hold. */
void wmi_stretch_store_aside(struct wmi_stretch *s, uint32_t row);
struct wmi_host_operand wmi_rows_operand(const struct wmi_stretch *s, const struct wmi_rows *rows,
                                         unsigned strip);
unsigned wmi_rows_register(const struct wmi_rows *rows, unsigned strip);
/* Registers for a result, uniform or with one per strip; a single register that is free until the end of the
 * step. */
struct wmi_rows wmi_stretch_result(struct wmi_stretch *s, bool uniform);
/* The same for a step that does not leave any more, and reads no word of `a` after it has written the one of
 * the result in its place: perhaps those of `a`. */
struct wmi_rows wmi_stretch_result_in(struct wmi_stretch *s, const struct wmi_rows *a, bool uniform);
unsigned wmi_stretch_register(struct wmi_stretch *s);
/* The number of strips that must be computed. */
unsigned wmi_rows_strips(const struct wmi_stretch *s, const struct wmi_rows *rows);
/* Makes the result the new value of the row: in active lanes, or in all lanes of a temporary row. */
void wmi_stretch_write(struct wmi_stretch *s, uint32_t row, struct wmi_rows *result);
void wmi_stretch_write_all_lanes(struct wmi_stretch *s, uint32_t row, struct wmi_rows *result);
/* Whether the registers hold the row so that they, or else the frame, have all lanes of it. */
bool wmi_stretch_has_lanes(const struct wmi_stretch *s, uint32_t row);
/* Loads the row to registers that the step may change, unless it is in some. */
void wmi_stretch_hold(struct wmi_stretch *s, uint32_t row);
/* Registers for such a row. If *is_loaded is false, they are free registers of the step, for
 * wmi_stretch_load_later(). */
struct wmi_rows wmi_stretch_use_later(struct wmi_stretch *s, uint32_t row, bool *is_loaded);
void wmi_stretch_load_later(struct wmi_stretch *s, const struct wmi_rows *rows);
/* The code has written the row's active lanes in the frame, where all of it was. */
void wmi_stretch_written_in_memory(struct wmi_stretch *s, uint32_t row);
/* Rows in one register, uniform or in runs: whether this one is, or can be loaded so; its stride, or -1 if it
 * is uniform; the row; a result. The high words of a pair that grows are the same in all lanes of a strip, or
 * the wave leaves. */
bool wmi_stretch_has_base(const struct wmi_stretch *s, uint32_t row);
bool wmi_stretch_is_uniform(const struct wmi_stretch *s, uint32_t row);
int wmi_stretch_stride(const struct wmi_stretch *s, uint32_t row);
/* Whether it is v0 as the wave has started with it. */
bool wmi_stretch_has_ids(const struct wmi_stretch *s, uint32_t row);
struct wmi_rows wmi_stretch_use_base(struct wmi_stretch *s, uint32_t row);
/* From now on the row has a register per strip. For steps that need many registers. */
void wmi_stretch_spread(struct wmi_stretch *s, uint32_t row);
/* The result is whole if the step used no other runs. */
void wmi_stretch_write_runs(struct wmi_stretch *s, uint32_t row, unsigned reg, unsigned stride);
/* For a jump that has been emitted, before the current step has used a register: the wave goes on at the step
 * without rows in runs. */
void wmi_stretch_split_at(struct wmi_stretch *s, size_t jump);
/* The registers hold what they held there. */
void wmi_stretch_go_back(struct wmi_stretch *s, const struct wmi_split *split);
/* Pairs of rows that one register holds: false if it does not hold these two. */
bool wmi_stretch_use_pair(struct wmi_stretch *s, uint32_t low, uint32_t high, struct wmi_rows *pair);
/* The pair of which the row is the high words; false if it is not. The row `to` becomes these instead. */
bool wmi_stretch_use_high_half(struct wmi_stretch *s, uint32_t high, struct wmi_rows *pair);
void wmi_stretch_move_half(struct wmi_stretch *s, uint32_t from, uint32_t to);
void wmi_stretch_write_pair(struct wmi_stretch *s, uint32_t low, uint32_t high, unsigned reg,
                            unsigned stride);
/* Whether nothing reads what the current step leaves in active lanes of a VGPR or in SCC, or what the step
 * `at` leaves in the mask at a place of the frame. */
bool wmi_stretch_drops_row(const struct wmi_stretch *s, uint32_t row);
bool wmi_stretch_drops_mask(const struct wmi_stretch *s, uint32_t place, size_t at);
bool wmi_stretch_drops_scc(const struct wmi_stretch *s);
/* k1 to k4 now hold the mask that the current step writes to the frame, unless they hold EXEC. Whether they
 * hold the mask at the place. Loads it. */
void wmi_stretch_hold_mask(struct wmi_stretch *s, uint32_t place);
bool wmi_stretch_holds_mask(const struct wmi_stretch *s, uint32_t place);
void wmi_stretch_load_mask(struct wmi_stretch *s, uint32_t place);
/* No bit is set in the mask that the current step writes to the frame. Whether that holds for the mask at the
 * place. */
void wmi_stretch_clears_mask(struct wmi_stretch *s, uint32_t place);
bool wmi_stretch_has_clear_mask(const struct wmi_stretch *s, uint32_t place);
/* Before EXEC changes in k1 to k4: stores rows of which the registers hold active lanes alone, where others
 * may read them. */
void wmi_stretch_leave_lanes(struct wmi_stretch *s);
/* The frame's VGPR becomes what a wave starts with. Changes zmm0. For code behind a version. */
void wmi_stretch_restore_start(struct wmi_stretch *s, unsigned vgpr);
/* Gives back the registers that only the current step used. */
void wmi_stretch_end_step(struct wmi_stretch *s);

/* Runs of half strips: see halves.h. What the registers hold. */
void wmi_stretch_save(const struct wmi_stretch *s, struct wmi_kept *kept);
void wmi_stretch_restore(struct wmi_stretch *s, const struct wmi_kept *kept);
/* Gives up what the code for half strips needs: rows with a register for each strip, and the registers of the
 * host. False: there are not enough others. Behind the run, what is left is as any row again. */
bool wmi_stretch_make_room(struct wmi_stretch *s);
void wmi_stretch_end_halves(struct wmi_stretch *s);
/* The mask that the current step computes for the half and writes to the place: its number, behind
 * WMI_K_LANES; WMI_LANE_MASKS: the run cannot hold it. The last one that was written there, or the same. */
unsigned wmi_stretch_add_half_mask(struct wmi_stretch *s, uint32_t place);
unsigned wmi_stretch_find_half_mask(const struct wmi_stretch *s, uint32_t place);
/* Stores what the run has written of the half and may be read from the step `next` on. */
void wmi_stretch_flush_half(struct wmi_stretch *s, size_t next);
/* Rows that the run has left in the registers as constants: up to `most` of them. */
struct wmi_constant_row {
    uint32_t row, value;
};
unsigned wmi_stretch_constants(const struct wmi_stretch *s, struct wmi_constant_row *found, unsigned most);
/* The row, of which the frame has all lanes, is held as this constant. */
void wmi_stretch_hold_constant(struct wmi_stretch *s, const struct wmi_constant_row *constant);

/* The rows that the step reads, or writes, as an operand; none: {0, 0}. A step that replaces the row d does
 * not read it. */
struct wmi_extent wmi_stretch_operand_rows(const struct wmi_stretch *s, const struct wmi_step *step,
                                           unsigned operand, unsigned access);

/* The interpreter executes `step` if the condition holds, and continues from there. The frame will be as it
 * is before the current step. */
void wmi_stretch_exit_if(struct wmi_stretch *s, enum wmi_condition condition);
/* The same if the instruction holds for a word of a. */
void wmi_stretch_leave_if(struct wmi_stretch *s, uint32_t instruction, unsigned a, struct wmi_host_operand b,
                          int predicate);
/* The same if the last lane's value is below the first one's, in a strip of a row in runs or, if it is whole,
 * in the wave. */
void wmi_stretch_leave_if_wraps(struct wmi_stretch *s, const struct wmi_rows *row);
/* Operand: the words of wmi_spread_tables.last or .most that are for the row. */
struct wmi_host_operand wmi_stretch_reach(const struct wmi_stretch *s, size_t table,
                                          const struct wmi_rows *row);
/* The same for a jump that has been emitted. */
void wmi_stretch_exit_here(struct wmi_stretch *s, size_t jump);
/* A jump, which has been emitted, leaves in the given way for the step that is bound to `op`. */
void wmi_stretch_exit_at(struct wmi_stretch *s, size_t jump, enum wmi_exit_kind kind,
                         const struct wmi_op *op);
/* Takes what has been emitted since `from`, with the exits since `first_exit`, out of the way. The jumps lead
 * to it, and it continues at `back`. */
void wmi_stretch_set_aside(struct wmi_stretch *s, size_t from, size_t first_exit, const size_t *jumps,
                           size_t jump_count, size_t back);
/* Emits what has been taken out of the way. */
void wmi_stretch_put_asides(struct wmi_stretch *s);
/* Whether what the registers hold is also in the frame. */
bool wmi_stretch_is_clean(const struct wmi_stretch *s);
/* Whether no row but constants is held in one register for all lanes. */
bool wmi_stretch_is_spread(const struct wmi_stretch *s);
/* After the current step the interpreter may come back to what is emitted next. */
void wmi_stretch_come_back(struct wmi_stretch *s);
/* Adds what is emitted next as the code of the step. */
void wmi_stretch_note(struct wmi_stretch *s, struct wmi_reentries *reentries, size_t step);
/* Memory: R9 = the hit of the instruction. Then, for the guest address in RAX, the host address of `bytes`
 * bytes, or an exit if they are not in the allocation of the hit. Both change R8. */
void wmi_stretch_find_hit(struct wmi_stretch *s, const struct wmi_memory_op *m);
void wmi_stretch_check_hit(struct wmi_stretch *s, unsigned bytes);
/* Stores what is dirty and may still be read by a wave that goes on at the step `target`: temporary rows, if
 * the step `next` follows. */
void wmi_stretch_flush(struct wmi_stretch *s, size_t next, size_t target);
void wmi_stretch_forget(struct wmi_stretch *s);
/* Where a wave ends that started here: gives the VGPRs that were stored in the frame meanwhile the values
 * that waves start with. Changes zmm0. */
void wmi_stretch_restore_spilled(struct wmi_stretch *s);

/* Loops keep rows in registers: what is held at the end of the first iteration is held at the start of all
 * others, except temporary rows, which no iteration takes from another one. */
void wmi_stretch_keep(struct wmi_stretch *s, struct wmi_kept *kept);
/* Makes the registers hold what they held then. */
void wmi_stretch_match(struct wmi_stretch *s, const struct wmi_kept *kept);

/* Whether RAX is the EXEC words in front of what is emitted next. */
bool wmi_stretch_has_exec(const struct wmi_stretch *s);

bool wmi_is_branch(const struct wmi_step *step);
/* Where a branch leads, or NULL if that has not been lowered. */
const struct wmi_op *wmi_branch_target(const struct wmi_block *block, size_t at);
/* The number of the step that is bound to the operation; block->count: it is in another block, or NULL. */
size_t wmi_step_number(const struct wmi_block *block, const struct wmi_op *op);

/* Whether every active lane of the row is this constant of the program, or a copy of it. */
bool wmi_stretch_constant(const struct wmi_stretch *s, uint32_t row, uint32_t *value);
/* All lanes of the row, which the registers hold, are `value`. */
void wmi_stretch_set_constant(struct wmi_stretch *s, uint32_t row, uint32_t value);
/* The current step has copied the row `from`: if that is a constant, so is `to` from now on. */
void wmi_stretch_copies_constant(struct wmi_stretch *s, uint32_t from, uint32_t to);

/* Emits code for the step; false: there is none for it. */
typedef bool wmi_emit_step(struct wmi_stretch *s, const struct wmi_step *step);
/* The function for a step, or NULL. Those of vector steps replace the rows at d in all active lanes, whatever
 * these were, unless wmi_vector_keeps(): find_live.c relies on it. */
wmi_emit_step *wmi_vector_emitter(const struct wmi_step *step);
bool wmi_vector_keeps(const struct wmi_step *step);
/* Whether the step keeps one half of the row d, or reads only the low half of an operand. */
bool wmi_keeps_half(const struct wmi_step *step);
bool wmi_reads_low_half(const struct wmi_code *code, const struct wmi_step *step,
                        enum wmi_step_operand operand);
/* Whether the step compares integers, by which instruction and predicate. */
bool wmi_vector_compares(const struct wmi_step *step, uint32_t *instruction, int *predicate);
/* Whether its emitter treats each lane alone, and reads and writes nothing but rows. */
bool wmi_vector_works_on_bases(const struct wmi_step *step);
/* Whether its emitter may be able to do that for a half strip, and for the next one later. */
bool wmi_vector_works_by_halves(const struct wmi_step *step);
wmi_emit_step *wmi_scalar_emitter(const struct wmi_step *step);
/* Whether the step adds lanes to EXEC in the code for waves in which all are active: nothing changes. */
bool wmi_exec_stays_full(const struct wmi_stretch *s, size_t at);
wmi_emit_step *wmi_memory_emitter(const struct wmi_step *step);
wmi_emit_step *wmi_lds_emitter(const struct wmi_step *step);
/* Private memory. Whether the step, which has such an emitter, is followed by one that is done instead if the
 * buffer is another one: the code of both is that of the first one. */
wmi_emit_step *wmi_private_emitter(const struct wmi_step *step);
bool wmi_private_skips(const struct wmi_step *step);
/* How many bytes beyond a lane's address the LDS read or write ends; 0: it is another step. */
uint32_t wmi_lds_reach(const struct wmi_step *step);

#endif
