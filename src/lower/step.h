/* SPDX-License-Identifier: MIT */
/* Steps as emitted by lowering: ids (steps.def), operand locations, reads and writes.
 *
 * A step becomes executable when the program is sealed: src/exec binds its id to a function for the CPU level
 * (struct wmi_op in sem/sem.h). */
#ifndef WMI_STEP_H
#define WMI_STEP_H

#include "isa/isa.h"
#include "lower/memory_op.h"
#include "sem/fused.h"
#include "sem/sem.h"
#include "sem/stage.h"

/* WMI_STEP_branch, WMI_STEP_stage_BROADCAST, WMI_STEP_lds_add_b32, WMI_STEP_BODIES + WMI_INSN_v_add_f32, ...
 */
enum wmi_step_id {
    WMI_STEP_NONE,
#define ROW(name, ...) WMI_STEP_##name,
#include "lower/steps.def"
    WMI_STEP_BODIES,
    WMI_STEP_COUNT = WMI_STEP_BODIES + WMI_BODY_COUNT
};

/* y of steps at barriers: M0 has the number; a signal that does nothing leaves SCC as it was. */
enum { WMI_SIGNAL_IN_M0 = 1, WMI_SIGNAL_KEEPS_SCC = 2 };

/* y of events at barriers: where the number is. */
enum { WMI_BARRIER_IN_STEP, WMI_BARRIER_IN_M0, WMI_BARRIER_JOINED };

/* y of a fault WM_FAULT_TRAP: the number of s_trap, or why the wave stops otherwise. */
enum wmi_trap {
    WMI_TRAP_HARDWARE,
    WMI_TRAP_HSA_DEBUG,
    WMI_TRAP_LLVM,
    WMI_TRAP_DEBUG,
    WMI_TRAP_BREAKPOINT = 7,
    WMI_TRAP_RESERVED,
    WMI_TRAP_HALT,
};

/* y of exports. */
enum wmi_export_flag {
    WMI_EXPORT_COMPRESSED = 1 << 0,
    WMI_EXPORT_DONE = 1 << 1,
    WMI_EXPORT_VALID_MASK = 1 << 2,
    WMI_EXPORT_ROW = 1 << 3,
};

/* First step of each family. Fast global memory and buffer steps are in the order of WMI_VMEM_SHAPES; global
 * memory has one step per shape and form. */
enum {
    WMI_STEP_FIRST_GLOBAL = WMI_STEP_global_LOAD_1x1_000_VADDR,
    WMI_STEP_FIRST_BUFFER = WMI_STEP_buffer_LOAD_1x1_000,
    WMI_STEP_FIRST_STAGE = WMI_STEP_stage_BROADCAST,
    WMI_STEP_FIRST_FUSED = WMI_STEP_fused_MOVE_SCALAR,
    WMI_STEP_FIRST_LDS = WMI_STEP_lds_read_u8,
};

static inline enum wmi_step_id wmi_step_of_stage(enum wmi_stage stage)
{
    return (enum wmi_step_id)(WMI_STEP_FIRST_STAGE + (int)stage);
}

static inline enum wmi_step_id wmi_step_of_lds(enum wmi_lds_step step)
{
    return (enum wmi_step_id)(WMI_STEP_FIRST_LDS + (int)step - 1); /* WMI_LDS_NONE has no step */
}

/* number: from wmi_sem_body(), usually the enum wmi_insn_id. */
static inline enum wmi_step_id wmi_step_of_body(unsigned number)
{
    return (enum wmi_step_id)(WMI_STEP_BODIES + number);
}

/* ---- operands ---- */

/* Use of an operand's offset: WMI_USE_READ, _WRITE or both, one kind, and a count. A write to some lanes only
 * counts as both read and write. */
enum {
    WMI_USE_NONE = 0,
    WMI_USE_READ = 0x40,
    WMI_USE_WRITE = 0x80,
    WMI_USE_ROWS = 0x10,
    WMI_USE_WORDS = 0x20,
    WMI_USE_SET = 0x30,
    WMI_USE_KIND = 0x30,
    WMI_USE_COUNT = 0x0f,
    WMI_USE_MANY = 0,  /* as many as the instruction moves */
    WMI_USE_MASK = 15, /* for WORDS: one bit per lane */
};

enum { WMI_USE_MOST = 32 }; /* maximum rows or words of an operand */

enum wmi_step_operand {
    WMI_OP_D,
    WMI_OP_A,
    WMI_OP_B,
    WMI_OP_C,
    WMI_OP_E,
    WMI_OP_X,
    WMI_OP_Y,
    WMI_STEP_OPERANDS
};

/* State other than operands that a step reads or writes. */
enum wmi_step_state {
    WMI_ON_EXEC = 1 << 0,
    WMI_ON_SCC = 1 << 1,
    WMI_ON_VCC = 1 << 2,
    WMI_ON_M0 = 1 << 3,
    WMI_ON_MODE = 1 << 4,
    WMI_ON_ZERO_BITS = 1 << 5, /* VCCZ and EXECZ as words of the scalar file */
    WMI_ON_SGPRS = 1 << 6,     /* any */
    WMI_ON_VGPRS = 1 << 7,     /* any */
    WMI_ON_MEMORY = 1 << 8,
    WMI_ON_LDS = 1 << 9,
    WMI_ON_GDS = 1 << 10,
    WMI_ON_WAVE = 1 << 11, /* the wave's time slice, barrier, clock and ids */
    WMI_ON_OBSERVER = 1 << 12,
    WMI_ON_SCRATCH = 1 << 13, /* FLAT_SCRATCH and the apertures */
};

enum wmi_step_flag {
    WMI_STEP_PURE = 1 << 0,          /* computes in the frame and continues with the next step */
    WMI_STEP_LEAVES = 1 << 1,        /* never continues with the next step */
    WMI_STEP_BRANCHES = 1 << 2,      /* may branch */
    WMI_STEP_PAUSES = 1 << 3,        /* may suspend the wave, which resumes at this step or the next one */
    WMI_STEP_FAULTS = 1 << 4,        /* may end the wave */
    WMI_STEP_ENDS_WAVE = 1 << 5,     /* no register is read afterwards */
    WMI_STEP_CROSSES_LANES = 1 << 6, /* a lane's result depends on other lanes */
    WMI_STEP_TAKES_NEXT = 1 << 7,    /* executes or skips the next step */
};

struct wmi_step_facts {
    const char *name;
    uint8_t d, a, b, c, e, x, y; /* WMI_USE_* */
    uint16_t reads, writes;      /* enum wmi_step_state */
    uint16_t flags;              /* enum wmi_step_flag */
};

/* A step. Offsets are in bytes from the start of the frame, as in struct wmi_op. */
struct wmi_step {
    uint16_t id;                    /* enum wmi_step_id */
    uint8_t use[WMI_STEP_OPERANDS]; /* indexed by enum wmi_step_operand */
    uint32_t d, a, b, c, e, lanes, x, y;
    union {
        const void *data;
        uint64_t value;
    };
    uint64_t pc; /* guest address of the instruction */
};

/* Facts of a step in steps.def or of an ALU body. The operands of a body's step are given by step->use
 * instead. */
struct wmi_step_facts wmi_step_facts_of(enum wmi_step_id id);
/* Sets the operand uses from steps.def. */
void wmi_step_take_uses(struct wmi_step *step);

/* A byte range of the frame; empty if from == to. */
struct wmi_extent {
    uint32_t from, to;
};

/* Location of an operand in the frame of a wave with `lanes` lanes: exact, or for MANY an upper bound. */
struct wmi_extent wmi_step_span(const struct wmi_step *step, enum wmi_step_operand operand, unsigned lanes);
/* Whether the step may read (write) bytes of the scalar file in `span`, as an operand or as state. */
bool wmi_step_reads_scalars(const struct wmi_step *step, struct wmi_extent span, unsigned lanes);
bool wmi_step_writes_scalars(const struct wmi_step *step, struct wmi_extent span, unsigned lanes);
/* Whether the place of the scalar file is one for writes to null, which no step reads. */
static inline bool wmi_is_null(uint32_t place)
{
    return place >= 4 * WMI_S_NULL && place < 4 * WMI_S_NULL_END;
}
/* Whether the step writes all of `span`, regardless of the active lanes. */
bool wmi_step_overwrites(const struct wmi_step *step, struct wmi_extent span, unsigned lanes);
/* Whether the step may read (write) rows in `span`: VGPRs, constants or temporaries. */
bool wmi_step_reads_rows(const struct wmi_step *step, struct wmi_extent span, unsigned lanes);
bool wmi_step_writes_rows(const struct wmi_step *step, struct wmi_extent span, unsigned lanes);

#endif
