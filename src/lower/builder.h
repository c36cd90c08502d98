/* SPDX-License-Identifier: MIT */
/* The builder: state and helpers of the lowering functions, which take an instruction and emit one or more
 * steps. */
#ifndef WMI_BUILDER_H
#define WMI_BUILDER_H

#include "isa/isa.h"
#include "lower/code.h"
#include "lower/place.h"
#include "lower/step.h"

enum {
    WMI_INSTRUCTION_TEMPORARIES = 16, /* rows available to one instruction; the rest cache broadcasts */
    WMI_CACHED_ROWS = WMI_TEMPORARY_ROWS - WMI_INSTRUCTION_TEMPORARIES,
};

struct wmi_builder {
    struct wmi_code *code;
    struct wmi_step *steps;
    size_t count, capacity;
    struct wmi_depth depth; /* wait-counter depth of the current instruction */
    bool out_of_memory;
    bool ended;      /* the instruction ends its block */
    unsigned beyond; /* rows that the instruction needs, if the kernel does not have as many; else 0 */
    uint64_t pc, next_pc;
    unsigned state; /* enum wmi_state the instruction runs in */
    unsigned msb;   /* and the upper bits of its VGPR numbers */
    unsigned temporaries, lane_sets, scalar_temporaries;
    uint32_t uncounted;    /* instructions not yet counted by a step */
    struct wmi_step spare; /* filled when out of memory */
    struct wmi_memory_op spare_memory_op;
    struct wmi_broadcast { /* an SGPR broadcast to a temporary row */
        uint32_t scalar, row;
        unsigned used;
        bool taken;
    } cache[WMI_CACHED_ROWS];
    unsigned clock;
    uint8_t operation;           /* enum wm_atomic of the instruction, for observers */
    uint32_t shape;              /* wmi_access_shape() of the instruction's summaries; 0: no summary */
    struct wmi_memory_op *shown; /* record of the instruction's last watch step, or NULL */
    bool held;                   /* the instruction is held in a resumable program */
    bool repeatable;             /* no step of the instruction so far has an effect, or was shown to others */
};

/* ---- options of the code being lowered ---- */

static inline const struct wmi_target *wmi_builder_target(const struct wmi_builder *b)
{
    return b->code->options.target;
}

static inline uint32_t wmi_builder_limit(const struct wmi_builder *b, enum wmi_limit limit)
{
    return wmi_target_limit(b->code->options.target, limit);
}

/* What the target and product make of a T#. */
static inline const struct wmi_image_rules *wmi_builder_images(const struct wmi_builder *b)
{
    return &b->code->images;
}

/* Lanes per wave, 32 or 64. */
static inline unsigned wmi_builder_lanes(const struct wmi_builder *b)
{
    return b->code->options.lanes;
}

/* VGPRs per lane. */
static inline unsigned wmi_builder_vgprs(const struct wmi_builder *b)
{
    return b->code->options.vgprs;
}

static inline const struct wmi_observers *wmi_builder_observers(const struct wmi_builder *b)
{
    return &b->code->options.observers;
}

/* Whether an observer asks for events of this kind (enum wm_event_kind). */
static inline bool wmi_builder_shows(const struct wmi_builder *b, uint64_t kind)
{
    return b->code->options.observers.events & kind;
}

/* ---- steps ---- */

/* Appends a step with lanes = EXEC, operand uses from steps.def and all other fields zero. The pointer is
 * valid until the next emit. */
struct wmi_step *wmi_emit(struct wmi_builder *b, enum wmi_step_id id);
/* Appends a copy of `step` with another id and the operand uses of that id in steps.def. */
void wmi_emit_as(struct wmi_builder *b, enum wmi_step_id id, const struct wmi_step *step);
/* Emits a step that subtracts the instructions not yet counted (c), including the current one, from the
 * wave's turn. */
struct wmi_step *wmi_emit_counting(struct wmi_builder *b, enum wmi_step_id id);
/* Emits a step that ends the wave with enum wm_fault_kind `kind` at this instruction. */
void wmi_emit_fault(struct wmi_builder *b, unsigned kind);
/* Emits a step that sets the 64-bit scalar at `place` to `value`. */
void wmi_emit_constant(struct wmi_builder *b, uint32_t place, uint64_t value);
/* Emits a step that updates frame->exec from the EXEC words. */
void wmi_emit_exec(struct wmi_builder *b);
/* Emits a step that shows the instruction to the observer with hold(), if there is one, which may change
 * registers. executed: instructions before it that no step has counted yet. */
void wmi_emit_hold(struct wmi_builder *b, uint32_t executed);
/* Sets the step's branch target. The target is resolved when the step is first taken. */
void wmi_step_set_target(struct wmi_step *step, uint64_t place);

/* A new record with the facts of the row and the instruction's fields, owned by the code. */
struct wmi_memory_op *wmi_builder_memory_op(struct wmi_builder *b, const struct wmi_instruction *insn);
/* Sets the summary shape of the current instruction's plain accesses. */
void wmi_builder_summary(struct wmi_builder *b, enum wmi_address_space space, unsigned elements,
                         unsigned bytes);
/* Whether an observer watches accesses. */
bool wmi_builder_watches(const struct wmi_builder *b);
/* Lets the step of the instruction show its accesses to the observer that is late, if there is one, with
 * wmi_show_late(). To be called when the record is complete, before steps that watch it are emitted. */
void wmi_builder_set_late(struct wmi_builder *b, struct wmi_memory_op *m);
/* Emits one step per observer of accesses that reports the access. step->data is the instruction's record;
 * each step gets its own copy. */
void wmi_emit_watch(struct wmi_builder *b, enum wmi_step_id id, const struct wmi_step *step);
/* The same; observers that only watch dispatches get the step `quick`, unless it is WMI_STEP_NONE, which may
 * report plain accesses by their summary. */
void wmi_emit_quick_watch(struct wmi_builder *b, enum wmi_step_id id, enum wmi_step_id quick,
                          const struct wmi_step *step);
/* The same for callers that emit the steps themselves: returns the record for the next observer from *next
 * on, NULL after the last. *next starts at 0. lds_move: see wmi_observer.lds_moves. */
struct wmi_memory_op *wmi_builder_next_watch(struct wmi_builder *b, struct wmi_memory_op *m, bool lds_move,
                                             unsigned *next);
/* Emits a step that sends an event of this kind (x) about the instruction to the observers that asked for it;
 * NULL if none did. The caller fills the other fields, see WMI_STEP_show_event. */
struct wmi_step *wmi_emit_event(struct wmi_builder *b, uint64_t kind);

/* ---- operands, as byte offsets in the frame ---- */

/* Index of enum wmi_special in the scalar file; 0 if it has none. */
uint32_t wmi_special_slot(unsigned special);
bool wmi_is_scalar_register(const struct wmi_operand *operand);
/* Location of a scalar register in the scalar file, in bytes; false if the operand is not a scalar
 * register. */
bool wmi_scalar_place(const struct wmi_operand *operand, struct wmi_extent *span);
/* Scalar words, including constants and literals. */
uint32_t wmi_lower_scalar(struct wmi_builder *b, const struct wmi_operand *operand);
/* Rows, one per dword. SGPRs and constants are broadcast. */
uint32_t wmi_lower_vector(struct wmi_builder *b, const struct wmi_operand *operand);
/* A VGPR's row. A register outside the kernel's allocation sets *ok to false. */
uint32_t wmi_lower_vgpr(struct wmi_builder *b, unsigned reg, unsigned count, bool *ok);
/* `rows` consecutive temporary rows for the current instruction. */
uint32_t wmi_lower_temporary(struct wmi_builder *b, unsigned rows);
/* A temporary lane set for the current instruction. */
uint32_t wmi_lower_lane_set(struct wmi_builder *b);
/* A temporary scalar of 64 bits for the current instruction. */
uint32_t wmi_lower_temporary_scalar(struct wmi_builder *b);
/* A constant as a scalar. */
uint32_t wmi_lower_scalar_constant(struct wmi_builder *b, uint64_t value);
/* A constant as rows: 1, or 2 (low and high word). */
uint32_t wmi_lower_vector_constant(struct wmi_builder *b, uint64_t value, unsigned rows);

/* Invalidates cached broadcasts of the scalar words in `span`, or all of them. */
void wmi_forget_broadcasts_of(struct wmi_builder *b, struct wmi_extent span);
void wmi_forget_broadcasts(struct wmi_builder *b);

#endif
