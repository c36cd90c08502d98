/* SPDX-License-Identifier: MIT */
/* What emitters need of a stretch: the rows that a step reads, in registers or in memory, and its results. */
#ifndef WMI_STRETCH_H
#define WMI_STRETCH_H

#include "jit/leave.h"

/* A source of a step, or the registers for its result. */
struct wmi_rows {
    uint32_t row;
    uint8_t reg[WMI_STRIPS];
    uint8_t stride;
    bool in_memory, uniform, runs, whole;
};

/* Makes the row available to the current step. must_be_register: not as an operand in memory. */
struct wmi_rows wmi_stretch_use(struct wmi_stretch *s, uint32_t row, bool must_be_register);
/* The same as an operand in memory, so that it needs no registers. */
struct wmi_rows wmi_stretch_use_in_memory(struct wmi_stretch *s, uint32_t row);
/* Its part for a strip. */
struct wmi_host_operand wmi_rows_operand(const struct wmi_stretch *s, const struct wmi_rows *rows,
                                         unsigned strip);
unsigned wmi_rows_register(const struct wmi_rows *rows, unsigned strip);
/* Registers for a result, uniform or with one per strip; a single register that is free until the end of the
 * step. */
struct wmi_rows wmi_stretch_result(struct wmi_stretch *s, bool uniform);
/* The same for a step that does not leave any more, and reads no word of `a` after it has written the one of
 * the result in its place: perhaps those of `a`. */
struct wmi_rows wmi_stretch_result_in(struct wmi_stretch *s, const struct wmi_rows *a, bool uniform);
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
int wmi_stretch_stride(const struct wmi_stretch *s, uint32_t row);
/* Whether it is v0, or one of v0 to v2, as the wave has started with it. */
bool wmi_stretch_has_ids(const struct wmi_stretch *s, uint32_t row);
bool wmi_stretch_is_id(const struct wmi_stretch *s, uint32_t row);
struct wmi_rows wmi_stretch_use_base(struct wmi_stretch *s, uint32_t row);
/* From now on the row has a register per strip. For steps that need many registers. */
void wmi_stretch_spread(struct wmi_stretch *s, uint32_t row);
/* The result is whole if the step used no other runs. */
void wmi_stretch_write_runs(struct wmi_stretch *s, uint32_t row, unsigned reg, unsigned stride);
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

/* The rows that the step reads, or writes, as an operand; none: {0, 0}. A step that replaces the row d does
 * not read it. */
struct wmi_extent wmi_stretch_operand_rows(const struct wmi_stretch *s, const struct wmi_step *step,
                                           unsigned operand, unsigned access);

/* The interpreter executes the step if the last lane's value is below the first one's, in a strip of a row in
 * runs or, if it is whole, in the wave. */
void wmi_stretch_leave_if_wraps(struct wmi_stretch *s, const struct wmi_rows *row);
/* Operand: the words of wmi_spread_tables.last or .most that are for the row. */
struct wmi_host_operand wmi_stretch_reach(const struct wmi_stretch *s, size_t table,
                                          const struct wmi_rows *row);
/* Memory: R9 = the hit of the instruction. Then, for the guest address in RAX, the host address of `bytes`
 * bytes, or an exit if they are not in the allocation of the hit. Both change R8. */
void wmi_stretch_find_hit(struct wmi_stretch *s, const struct wmi_memory_op *m);
void wmi_stretch_check_hit(struct wmi_stretch *s, unsigned bytes);
/* Where a wave ends that started here: gives the VGPRs that were stored in the frame meanwhile the values
 * that waves start with. Changes zmm0. */
void wmi_stretch_restore_spilled(struct wmi_stretch *s);

/* reg = the number of active lanes of a partial wave. */
void wmi_stretch_count_active(struct wmi_stretch *s, enum wmi_gpr reg);

bool wmi_is_branch(const struct wmi_step *step);
/* Where a branch leads, or NULL if that has not been lowered. */
const struct wmi_op *wmi_branch_target(const struct wmi_block *block, size_t at);

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
