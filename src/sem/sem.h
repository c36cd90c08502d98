/* SPDX-License-Identifier: MIT */
/* Execution of ALU instructions: the frame of a wave, the record of a step, and the bodies.
 *
 * A body is a function that operates on one wave's frame. Its record contains the byte offsets of its
 * operands in the frame, so a body does not know whether an operand is a register, a constant or a temporary
 * row, nor the generation. It returns the next record. */
#ifndef WMI_SEM_H
#define WMI_SEM_H

#include "base/lane_set.h"
#include "sem/compiled_state.h"

#include <assert.h>
#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>

enum {
    WMI_ROW_BYTES = 4 * WMI_LANES, /* one 32-bit register, all lanes */
};

/* Slots of the scalar file, on all targets: gfx900's operand codes where no target has SGPRs there. */
enum {
    WMI_S_VCC = 106,
    WMI_S_TTMP = 108,
    WMI_S_M0 = 124,
    WMI_S_EXEC = 126,
    WMI_S_NULL = 144, /* the first of some slots for writes to null; never read */
    WMI_S_NULL_END = WMI_S_NULL + 16,
    WMI_S_FLAT_SCRATCH = 160, /* 64 bits each */
    WMI_S_XNACK_MASK = 162,
    WMI_S_SHARED_BASE = 210, /* 64 bits each */
    WMI_S_SHARED_LIMIT = 212,
    WMI_S_PRIVATE_BASE = 214,
    WMI_S_PRIVATE_LIMIT = 216,
    WMI_S_FLAT_SCRATCH_BASE = 230, /* 64 bits: where FLAT finds the wave's scratch memory */
    WMI_S_VCCZ = 251,
    WMI_S_EXECZ = 252,
    WMI_S_SCC = 253, /* 0 or 1 */
    WMI_SCALARS = 256,
    WMI_SCALAR_CONSTANTS = 128, /* 64-bit constants of the program: inline constants and literals */
    WMI_LANE_SETS = 4,          /* temporary lane sets, for DPP and similar */
    WMI_TEMPORARY_ROWS = 32,    /* written by modifier stages */
};

enum { WMI_START_SGPRS = 128 }; /* slots of the scalar file, from the first on, with values of a start */
enum { WMI_ID_SGPRS = 32 };     /* of these, those that may get ids of workgroups */

struct wmi_op;
/* Runs the step and returns the one to continue with; many steps run their successors themselves, see
 * wmi_next(). NULL: the wave stops here. */
typedef const struct wmi_op *(*wmi_body)(char *restrict frame, const struct wmi_op *op);

/* The fixed part of a frame. Temporary rows, constant rows and the VGPRs follow, in this order, each row
 * WMI_ROW_BYTES long and 64-byte aligned. A 64-bit vector operand is two rows: low, then high. */
struct wmi_frame {
    uint32_t s[WMI_SCALARS];
    uint64_t constant[WMI_SCALAR_CONSTANTS];
    struct wmi_lanes exec; /* EXEC; s[126:127] holds the same bits */
    struct wmi_lanes lanes[WMI_LANE_SETS];
    struct wmi_lanes first; /* always lane 0 alone, for scalar floats */
    uint32_t mode;    /* MODE register: rounding [1:0] f32, [3:2] f64/f16; denormals [5:4] f32, [7:6] f64/f16;
                         [8] DX10_CLAMP, [9] IEEE. Source: Vega ISA, "Mode register" */
    uint32_t mxcsr32; /* host control words for f32, and for f64 and f16, as set by `mode` */
    uint32_t mxcsr64;
    uint32_t wave_size; /* 32 or 64 */
    int64_t left;       /* instructions left in the wave's time slice; decremented at the end of each block */
    void *wave;         /* state of the wave in src/exec */
    void *worker;       /* that of the thread that runs it */
    /* For waves in a chain from barrier to barrier, see exec/run/slices.c: the frame of the wave that
     * continues when this one reaches s_barrier, or NULL if the steps return; and where this wave resumes,
     * see wmi_wave_next_step(). */
    struct wmi_frame *successor;
    wmi_body goes_on;
    /* The wave's private memory, if there is some: its address, bytes, place on the host. */
    uint64_t private_low, private_bytes, private_host;
    struct wmi_compiled_state compiled;
    alignas(64) unsigned char rows[];
};

/* x of a vector body: neg_lo in bits [2:0], which selects signed operands in some integer instructions, and
 * op_sel from this bit on. */
enum { WMI_X_OP_SEL = 4 };

/* y of a vector body: clamp, and the table of v_bitop3 from this bit on. */
enum { WMI_Y_TABLE = 8 };

/* A lowered step. d, a, b, c, e: byte offsets in the frame: of a row for vector operands, of a word in the
 * scalar file (or a constant) for scalar ones and lane masks. They correspond to the roles of the row:
 * d = D, a = A, b = B, c = C, e = SDST. */
struct wmi_op {
    wmi_body body;
    uint32_t d, a, b, c, e;
    uint32_t lanes; /* byte offset of the struct wmi_lanes to operate on: EXEC, or a temporary set */
    uint32_t x, y;  /* immediates: SIMM16 sign-extended, op_sel bits, DPP control, ... */
    union {
        const struct wmi_op *target; /* of a branch */
        const void *data;
        uint64_t value;
    };
};

static_assert(sizeof(struct wmi_op) == 48, "predecoded steps are packed");

enum wmi_cpu_level { WMI_CPU_BASELINE, WMI_CPU_AVX2, WMI_CPU_AVX512, WMI_CPU_LEVELS };

/* The best level that the host supports. WAVEMEM_CPU=baseline|avx2|avx512 in the environment lowers it. */
enum wmi_cpu_level wmi_cpu_level(void);

#if defined(__SANITIZE_ADDRESS__) || !defined(__OPTIMIZE__)
#define WMI_STEPS_RETURN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(undefined_behavior_sanitizer)
#define WMI_STEPS_RETURN 1
#endif
#endif

/* Continues with the next step by a tail call, which compilers normally turn into a jump. This is not
 * required: src/exec limits the number of steps in a row, and control-flow steps return. So do steps whose
 * locals have their address taken, because their calls cannot become jumps. */
static inline __attribute__((always_inline)) const struct wmi_op *wmi_next(char *frame,
                                                                           const struct wmi_op *op)
{
#ifdef WMI_STEPS_RETURN
    (void)frame;
    return op + 1;
#else
    return op[1].body(frame, op + 1);
#endif
}

#endif
