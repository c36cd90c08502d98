/* SPDX-License-Identifier: MIT */
/* A kernel predecoded for one dispatch: its steps, and the frame that its waves compute in. */
#ifndef WMI_PROGRAM_H
#define WMI_PROGRAM_H

#include "exec/lower.h"

enum { WMI_STEP_LIMIT = 1 << 22 }; /* steps of a program: 200 MB; only a hostile one needs more */

struct wmi_program_options {
    const struct wmi_target *target;
    const struct wmi_space *space; /* holds the code */
    uint64_t entry;                /* guest address of the first instruction */
    unsigned lanes;                /* 32 or 64 */
    unsigned vgprs;                /* rows that the kernel may use */
    unsigned agprs;                /* AccVGPRs: rows behind those */
    enum wmi_cpu_level level;
    const struct wmi_observer *observer; /* or NULL */
    unsigned alignment;                  /* enum wm_alignment */
    unsigned scalar_cache;               /* enum wm_scalar_cache */
    bool counts;                         /* every instruction counts itself in wmi_worker.executed */
};

struct wmi_program;

/* How many counters wmi_worker.executed has: what is exact is counted at its enum wmi_insn_id, what
 * wmi_fidelities[i] is about at WMI_INSN_COUNT + i. */
size_t wmi_execution_counters(void);

/* State of a wave that decides what instructions mean. Code is predecoded once for each that it runs in, so
 * that no step has to ask: a place in a program is a guest address, a multiple of 4, with this in its low
 * bits. */
enum wmi_state {
    WMI_STATE_GPR_INDEX = 1, /* MODE.GPR_IDX_EN: M0 is added to the numbers of VGPRs */
    WMI_STATE_VSKIP = 2,     /* MODE.VSKIP: vector instructions do nothing */
    WMI_STATE_BITS = 3,
};

/* The bits of MODE that are such state, and where they begin. Source: CDNA 3 ISA, "Mode register". */
enum { WMI_MODE_STATE_SHIFT = 27 };
#define WMI_MODE_STATE ((uint32_t)WMI_STATE_BITS << WMI_MODE_STATE_SHIFT)

/* Predecodes all that can be reached from the entry by direct branches. */
struct wmi_program *wmi_program_create(const struct wmi_program_options *options);
void wmi_program_destroy(struct wmi_program *program);

/* The step that starts the instruction at `place`; predecodes it if no branch reached it before. Thread-safe.
 * Where there is no code, a step that faults. NULL: there are WMI_STEP_LIMIT steps already (*full), or the
 * host has no memory for more. */
const struct wmi_op *wmi_program_at(struct wmi_program *program, uint64_t place, bool *full);
/* Grows when code is predecoded. */
size_t wmi_program_steps(const struct wmi_program *program);
/* The instruction at `pc`, as it stands in memory now; false: there is none. */
bool wmi_program_decode(const struct wmi_program *program, uint64_t pc, struct wmi_instruction *insn);
/* Where a wave that goes on at `step` is: the address of a step that a branch can lead to, or of the barrier
 * or s_sleep before it. Slow: for fault reports. */
uint64_t wmi_program_pc_of(struct wmi_program *program, const struct wmi_op *step);

/* Bytes of a wave's frame, a multiple of 64. */
size_t wmi_program_frame_size(const struct wmi_program *program);
/* Fills what no wave changes: the constants. Everything else must be zero. */
void wmi_program_prepare_frame(const struct wmi_program *program, struct wmi_frame *frame);
/* Byte offset of v0's row, and of one row. */
uint32_t wmi_program_vgpr_offset(const struct wmi_program *program);
uint32_t wmi_program_row_bytes(const struct wmi_program *program);
const struct wmi_program_options *wmi_program_options(const struct wmi_program *program);

/* ---- for the lowering functions in this room ---- */

/* Guest address of the instruction being lowered, and of the one behind it. */
uint64_t wmi_builder_pc(const struct wmi_builder *builder);
uint64_t wmi_builder_next_pc(const struct wmi_builder *builder);
/* The state, of enum wmi_state, that the instruction runs in. */
unsigned wmi_builder_state(const struct wmi_builder *builder);
/* Registers of a lane. */
unsigned wmi_builder_vgprs(const struct wmi_builder *builder);
/* The dispatch's enum wm_scalar_cache. */
unsigned wmi_builder_scalar_cache(const struct wmi_builder *builder);
const struct wmi_target *wmi_builder_target(const struct wmi_builder *builder);
/* A limit of the target. */
uint32_t wmi_builder_limit(const struct wmi_builder *builder, enum wmi_limit limit);
/* Steps emitted so far, and one of them; valid until the next emit. */
size_t wmi_builder_steps(const struct wmi_builder *builder);
struct wmi_op *wmi_builder_step(struct wmi_builder *builder, size_t index);
/* Takes the instructions not yet counted, this one included: the step that gets them counts them down. */
uint32_t wmi_builder_take_count(struct wmi_builder *builder);
/* The last step, if no branch can lead between it and the next one; else NULL. */
struct wmi_op *wmi_builder_last(struct wmi_builder *builder);
/* Takes back the step before the last if it is `body`, which spreads the scalar at a to `row`: *scalar is
 * that place, and the last step must not read the row any more. */
bool wmi_builder_take(struct wmi_builder *builder, wmi_body body, uint32_t row, uint32_t *scalar);
/* The last step writes the mask of lanes at `mask`; `without` does all but that, and takes its place when the
 * mask turns out to be overwritten before anything reads it. */
void wmi_builder_may_drop_mask(struct wmi_builder *builder, uint32_t mask, wmi_body without);
/* Says that the block ends here. */
void wmi_builder_end_block(struct wmi_builder *builder);
/* A temporary scalar of 64 bits for the current instruction; byte offset. */
uint32_t wmi_lower_temporary_scalar(struct wmi_builder *builder);
/* A constant as a scalar; byte offset. */
uint32_t wmi_lower_scalar_constant(struct wmi_builder *builder, uint64_t value);
/* A constant as rows: `rows` is 1 or 2 (low, high). */
uint32_t wmi_lower_vector_constant(struct wmi_builder *builder, uint64_t value, unsigned rows);

#endif
