/* SPDX-License-Identifier: MIT */
/* The code of one dispatch during lowering: options, frame layout, and the constants and memory records that
 * steps share. */
#ifndef WMI_CODE_H
#define WMI_CODE_H

#include "isa/isa.h"
#include "lower/memory_op.h"
#include "memory/image.h"
#include "memory/space.h"
#include "observe/observer.h"
#include "sem/sem.h"

enum {
    WMI_VECTOR_CONSTANTS = 64,   /* rows of constants in a frame */
    WMI_SCALAR_TEMPORARIES = 16, /* at the end of frame.constant */
    WMI_CODE_SCALARS = WMI_SCALAR_CONSTANTS - WMI_SCALAR_TEMPORARIES,
};

/* Where the waves of a resumable program are held: before these instructions, and at accesses of these kinds.
 */
struct wmi_held_code {
    const uint64_t *pc; /* in ascending order */
    size_t count;
    bool loads, stores, lds, memory; /* atomics are both; memory: all but LDS */
};

struct wmi_code_options {
    const struct wmi_target *target;
    const struct wmi_space *space; /* holds the code */
    uint64_t entry;                /* guest address of the first instruction */
    unsigned lanes;                /* 32 or 64 */
    unsigned vgprs;                /* rows allocated to the kernel, with the shared ones */
    unsigned shared_vgprs;         /* the last of these rows, which both halves of a wave share */
    unsigned agprs;                /* AccVGPR rows, after the VGPRs */
    unsigned sgprs;                /* allocated to a wave; 0: all that the target has */
    struct wmi_observers observers;
    unsigned alignment;       /* enum wm_alignment */
    struct wmi_tiling tiling; /* of the product */
    unsigned scalar_cache;    /* enum wm_scalar_cache */
    /* Waves may go over from and to other such programs of the same code, where time slices end and where
     * they are held. So nothing is fused, and all registers are right there. */
    bool resumable;
    struct wmi_held_code held;
    enum wmi_sramecc sramecc; /* of the machine or the code object; UNSAID: as the target has it */
};

struct wmi_memory_op_node;

/* The words of the instructions that were lowered, in runs of consecutive addresses: a program can be used
 * again as long as memory still holds them. */
struct wmi_code_words {
    struct wmi_code_run {
        uint64_t pc;
        size_t first, count; /* in `word` */
    } *run;
    uint32_t *word;
    size_t run_count, run_capacity, word_count, word_capacity;
    bool unknown; /* something that is no instruction was lowered, or there was no memory to note the words */
};

struct wmi_code {
    struct wmi_code_options options;
    struct wmi_image_rules images;
    uint32_t row_bytes, vgpr_offset, constant_offset; /* in the frame */
    uint64_t scalar_constant[WMI_CODE_SCALARS];
    unsigned scalar_constants;
    struct wmi_vector_constant {
        uint64_t value;
        unsigned rows; /* 1, or 2 (low and high word) */
        uint32_t offset;
    } vector_constant[WMI_VECTOR_CONSTANTS];
    unsigned vector_constants, constant_rows;
    bool sealed; /* frames exist; no more constants can be added */
    struct wmi_memory_op_node *memory_ops;
    uint32_t memory_op_count;
    struct wmi_code_words words;
};

void wmi_code_init(struct wmi_code *code, const struct wmi_code_options *options);
/* Frees what lowering allocated for the code. No step may run afterwards. */
void wmi_code_free(struct wmi_code *code);

/* A zeroed record that lives as long as the code; NULL if out of memory. */
struct wmi_memory_op *wmi_code_memory_op(struct wmi_code *code);

/* Decodes the instruction currently in memory at `pc`; false if there is none. */
bool wmi_code_decode(const struct wmi_code *code, uint64_t pc, struct wmi_instruction *insn);

/* Whether the instruction at `pc` has to be held. */
bool wmi_code_holds(const struct wmi_code *code, uint64_t pc);
/* Whether its accesses have to be. */
bool wmi_code_holds_accesses(const struct wmi_code *code, const struct wmi_instruction *insn);

/* Whether all registers must be right when the wave comes to a step with these flags, because it may be
 * looked at or go over to another program there. */
static inline bool wmi_code_shows(const struct wmi_code *code, bool is_branch, bool pauses, bool faults)
{
    return code->options.resumable && (is_branch || pauses || faults);
}

/* Notes the words of an instruction that will be lowered; NULL: there is none at `pc`. */
void wmi_code_note(struct wmi_code_words *words, uint64_t pc, const struct wmi_instruction *insn);
/* Whether memory still holds what was lowered: the words that were noted, but for the first `from`. */
bool wmi_code_is_current(const struct wmi_code *code, size_t from);

/* Size of a wave's frame in bytes, a multiple of 64. */
size_t wmi_code_frame_size(const struct wmi_code *code);
/* Fills the constants, which waves never change. The rest of the frame must be zero. */
void wmi_code_prepare_frame(const struct wmi_code *code, struct wmi_frame *frame);

#endif
