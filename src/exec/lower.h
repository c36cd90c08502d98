/* SPDX-License-Identifier: MIT */
/* Predecoding: what turns a decoded instruction into the steps (struct wmi_op) that execute it.
 *
 * A lowering function gets the builder and the instruction and emits one or more steps. */
#ifndef WMI_LOWER_H
#define WMI_LOWER_H

#include "exec/depth.h"
#include "exec/wave.h"
#include "isa/isa.h"
#include "sem/sem.h"

struct wmi_builder;

/* What every memory step points to with op->data: the instruction's facts, fixed when it was predecoded. */
struct wmi_memory_op {
    uint64_t pc;
    uint16_t id;      /* enum wmi_insn_id */
    uint8_t path;     /* enum wmi_path */
    uint8_t kind;     /* enum wmi_access_kind */
    uint8_t elements; /* registers or places, as the row says */
    uint8_t bytes;    /* of each in memory */
    bool is_signed, d16, d16_hi, returns, stride64;
    bool split_scratch;    /* FLAT_SCRATCH is a size and an offset, not an address */
    bool lds_m0;           /* LDS ends where M0 says */
    uint8_t flat_lds_bits; /* of an LDS address that FLAT makes */
    uint8_t policy;
    uint8_t alignment; /* enum wmi_alignment */
    uint32_t hit;      /* index into wmi_worker.hits */
    uint32_t slot;     /* the observer's, 0 without one */
    int64_t offset;    /* instruction offset in bytes */
    uint32_t shape;    /* of the outlines that the observer is asked about; 0: it is not */
    const struct wmi_observer *observer;
    struct wmi_depth depth;                /* in its block, if the observer asks for depths */
    const struct wmi_buffer_rules *buffer; /* MUBUF: of the target */
    const struct wmi_format_rules *format; /* of the target, for instructions that convert; else NULL */
    uint64_t parameter;                    /* free for the step's own use */
};

/* How high the wait counter of the wave's instruction is now, itself included. */
static inline uint32_t wmi_wave_depth(const struct wmi_wave *wave, const struct wmi_memory_op *m)
{
    return wmi_depth_of(wave->entered, m->depth);
}

/* Shows the observer an access, of which only the depth is left to say. */
static inline void wmi_show_access(const struct wmi_wave *wave, const struct wmi_memory_op *m,
                                   struct wmi_access *access)
{
    access->depth = wmi_wave_depth(wave, m);
    m->observer->access(wave->worker->observer, access, m->slot);
}

/* Appends a step with lanes = EXEC and everything else zero. The pointer is valid until the next emit. */
struct wmi_op *wmi_emit(struct wmi_builder *builder, wmi_body body);
/* A wmi_memory_op filled from the row and the instruction's fields, owned by the program. */
struct wmi_memory_op *wmi_builder_memory_op(struct wmi_builder *builder, const struct wmi_instruction *insn);
/* What wmi_memory_op.shape is of an instruction whose accesses are of this shape, if they are plain. */
uint32_t wmi_builder_outline(const struct wmi_builder *builder, enum wmi_address_space space,
                             unsigned elements, unsigned bytes);
/* The observer of the dispatch, or NULL. */
const struct wmi_observer *wmi_builder_observer(const struct wmi_builder *builder);
/* Byte offset in the frame of an operand as scalar words; constants and literals included. */
uint32_t wmi_lower_scalar(struct wmi_builder *builder, const struct wmi_operand *operand);
/* Byte offset in the frame of an operand as rows (one per dword). SGPRs and constants are broadcast to a row.
 */
uint32_t wmi_lower_vector(struct wmi_builder *builder, const struct wmi_operand *operand);
/* Byte offset of a VGPR's row. A register outside the kernel's allocation is refused: *ok = false. */
uint32_t wmi_lower_vgpr(struct wmi_builder *builder, unsigned reg, unsigned count, bool *ok);
/* Takes `rows` consecutive temporary rows for the current instruction; byte offset. */
uint32_t wmi_lower_temporary(struct wmi_builder *builder, unsigned rows);
/* Takes a temporary lane set for the current instruction; byte offset. */
uint32_t wmi_lower_lane_set(struct wmi_builder *builder);
unsigned wmi_builder_lanes(const struct wmi_builder *builder);
enum wmi_cpu_level wmi_builder_level(const struct wmi_builder *builder);

/* Lowers one instruction of its class; false: not executed yet, the builder emits a WM_FAULT_TODO step. */
typedef bool (*wmi_lower)(struct wmi_builder *builder, const struct wmi_instruction *insn);
bool wmi_lower_vector_memory(struct wmi_builder *builder,
                             const struct wmi_instruction *insn); /* FLAT GLOBAL SCRATCH BUFFER */
bool wmi_lower_image(struct wmi_builder *builder, const struct wmi_instruction *insn);
bool wmi_lower_lds(struct wmi_builder *builder, const struct wmi_instruction *insn);           /* DS */
bool wmi_lower_scalar_memory(struct wmi_builder *builder, const struct wmi_instruction *insn); /* SMEM */
/* Shows the observer, if there is one, which caches the instruction invalidates. */
void wmi_lower_invalidation(struct wmi_builder *builder, const struct wmi_instruction *insn);
bool wmi_lower_valu(struct wmi_builder *builder, const struct wmi_instruction *insn);
bool wmi_lower_salu(struct wmi_builder *builder, const struct wmi_instruction *insn);
bool wmi_lower_control(struct wmi_builder *builder, const struct wmi_instruction *insn);

#endif
