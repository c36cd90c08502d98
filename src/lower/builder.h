/* SPDX-License-Identifier: MIT */
/* What lowering functions work with: they get the builder and an instruction, and emit one or more steps. */
#ifndef WMI_BUILDER_H
#define WMI_BUILDER_H

#include "isa/isa.h"
#include "lower/code.h"
#include "lower/place.h"
#include "lower/step.h"

enum {
    WMI_INSTRUCTION_TEMPORARIES = 16, /* rows that one instruction may take; the others cache broadcasts */
    WMI_CACHED_ROWS = WMI_TEMPORARY_ROWS - WMI_INSTRUCTION_TEMPORARIES,
};

struct wmi_builder {
    struct wmi_code *code;
    struct wmi_step *steps;
    size_t count, capacity;
    struct wmi_depth depth; /* of the instruction that is being lowered */
    bool out_of_memory;
    bool ended; /* the instruction ends its block */
    uint64_t pc, next_pc;
    unsigned state; /* enum wmi_state that the instruction runs in */
    unsigned temporaries, lane_sets, scalar_temporaries;
    uint32_t uncounted;    /* instructions that no step counts yet */
    struct wmi_step spare; /* what is filled when there is no memory for more */
    struct wmi_memory_op spare_memory_op;
    struct wmi_broadcast { /* an SGPR that a temporary row holds in all lanes */
        uint32_t scalar, row;
        unsigned used;
        bool taken;
    } cache[WMI_CACHED_ROWS];
    unsigned clock;
    uint8_t operation;           /* enum wm_atomic of the instruction, for observers */
    uint32_t shape;              /* of the outlines of the instruction; 0: it has none */
    struct wmi_memory_op *shown; /* what the last step that shows an access of the instruction has, or NULL */
};

/* ---- what is being lowered, and for what ---- */

static inline const struct wmi_target *wmi_builder_target(const struct wmi_builder *b)
{
    return b->code->options.target;
}

/* A limit of the target. */
static inline uint32_t wmi_builder_limit(const struct wmi_builder *b, enum wmi_limit limit)
{
    return wmi_target_limit(b->code->options.target, limit);
}

/* Lanes of the wave, 32 or 64. */
static inline unsigned wmi_builder_lanes(const struct wmi_builder *b)
{
    return b->code->options.lanes;
}

/* VGPRs of a lane. */
static inline unsigned wmi_builder_vgprs(const struct wmi_builder *b)
{
    return b->code->options.vgprs;
}

/* The observers of the dispatch. */
static inline const struct wmi_observers *wmi_builder_observers(const struct wmi_builder *b)
{
    return &b->code->options.observers;
}

/* Whether one of them asks for events of this kind (enum wm_event_kind). */
static inline bool wmi_builder_shows(const struct wmi_builder *b, uint64_t kind)
{
    return b->code->options.observers.events & kind;
}

/* ---- steps ---- */

/* Appends a step with lanes = EXEC, the uses of steps.def and everything else zero. The pointer is valid
 * until the next emit. */
struct wmi_step *wmi_emit(struct wmi_builder *b, enum wmi_step_id id);
/* Appends a copy of `step` as another one, with the uses of steps.def. */
void wmi_emit_as(struct wmi_builder *b, enum wmi_step_id id, const struct wmi_step *step);
/* A step that counts the instructions that are not counted yet, this one included, down in c. */
struct wmi_step *wmi_emit_counting(struct wmi_builder *b, enum wmi_step_id id);
/* A step that ends the wave with enum wm_fault_kind `kind` at this instruction. */
void wmi_emit_fault(struct wmi_builder *b, unsigned kind);
/* The 64-bit scalar at `place` becomes `value`. */
void wmi_emit_constant(struct wmi_builder *b, uint32_t place, uint64_t value);
/* frame->exec becomes what the words of EXEC say. */
void wmi_emit_exec(struct wmi_builder *b);
/* On to a place, which is found among the program's steps when the step first goes there. */
void wmi_step_set_target(struct wmi_step *step, uint64_t place);

/* A record filled from the row and the instruction's fields, owned by the code. */
struct wmi_memory_op *wmi_builder_memory_op(struct wmi_builder *b, const struct wmi_instruction *insn);
/* Plain accesses of the instruction that is being lowered are of this shape. */
void wmi_builder_outline(struct wmi_builder *b, enum wmi_address_space space, unsigned elements,
                         unsigned bytes);
/* Whether an observer is shown accesses. */
bool wmi_builder_watches(const struct wmi_builder *b);
/* Emits a step that shows the access to each observer of accesses. step->data is the instruction's record, of
 * which each step gets its own. */
void wmi_emit_watch(struct wmi_builder *b, enum wmi_step_id id, const struct wmi_step *step);
/* One of these records at a time, for who emits the steps himself: that of the next observer from *next on,
 * which is 0 at first; NULL: there is no other. Moves within LDS: see wmi_observer.lds_moves. */
struct wmi_memory_op *wmi_builder_next_watch(struct wmi_builder *b, struct wmi_memory_op *m, bool lds_move,
                                             unsigned *next);
/* Emits a step that sends an event of this kind (x), about the instruction, to those who asked for it; NULL:
 * nobody did. See WMI_STEP_show_event for what it needs else. */
struct wmi_step *wmi_emit_event(struct wmi_builder *b, uint64_t kind);

/* ---- operands, as byte offsets in the frame ---- */

/* The slot of enum wmi_special in the scalar file; 0: it has none. */
uint32_t wmi_special_slot(unsigned special);
/* Whether the operand is a scalar register. */
bool wmi_is_scalar_register(const struct wmi_operand *operand);
/* Where the scalar register lies, and how many words it has; false if it is none. */
bool wmi_scalar_place(const struct wmi_operand *operand, struct wmi_extent *span);
/* Scalar words; constants and literals included. */
uint32_t wmi_lower_scalar(struct wmi_builder *b, const struct wmi_operand *operand);
/* Rows, one per dword. SGPRs and constants are broadcast to a row. */
uint32_t wmi_lower_vector(struct wmi_builder *b, const struct wmi_operand *operand);
/* A VGPR's row. A register outside the kernel's allocation is refused: *ok = false. */
uint32_t wmi_lower_vgpr(struct wmi_builder *b, unsigned reg, unsigned count, bool *ok);
/* `rows` consecutive temporary rows for the current instruction. */
uint32_t wmi_lower_temporary(struct wmi_builder *b, unsigned rows);
/* A temporary lane set for the current instruction. */
uint32_t wmi_lower_lane_set(struct wmi_builder *b);
/* A temporary scalar of 64 bits for the current instruction. */
uint32_t wmi_lower_temporary_scalar(struct wmi_builder *b);
/* A constant as a scalar. */
uint32_t wmi_lower_scalar_constant(struct wmi_builder *b, uint64_t value);
/* A constant as rows: `rows` is 1 or 2 (low, high). */
uint32_t wmi_lower_vector_constant(struct wmi_builder *b, uint64_t value, unsigned rows);

/* Temporary rows that hold these words of the scalar file, or any, hold them no longer. */
void wmi_forget_broadcasts_of(struct wmi_builder *b, struct wmi_extent span);
void wmi_forget_broadcasts(struct wmi_builder *b);

#endif
