/* SPDX-License-Identifier: MIT */
/* What lowering tells the steps of memory instructions: the facts of the instruction, and how each kind of
 * step reads its operands. */
#ifndef WMI_MEMORY_OP_H
#define WMI_MEMORY_OP_H

#include "lower/depth.h"
#include "observe/observer.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct wmi_buffer_rules;
struct wmi_format_rules;

enum { WMI_HITS = 256 }; /* entries of a worker's cache of allocations, a power of two */

/* What every memory step points to with `data`: the instruction's facts, fixed when it was lowered. */
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
    uint8_t alignment;                   /* enum wmi_alignment */
    uint32_t hit;                        /* index into wmi_worker.hits */
    uint32_t slot;                       /* the observer's, 0 without one */
    int64_t offset;                      /* instruction offset in bytes */
    uint32_t shape;                      /* of the outlines that the observer is asked about; 0: it is not */
    const struct wmi_observer *observer; /* that this record's step shows the access to, or NULL */
    uint32_t watcher;                    /* its number among those of the dispatch */
    struct wmi_depth depth;              /* in its block, if the observer asks for depths */
    const struct wmi_buffer_rules *buffer; /* MUBUF: of the target */
    const struct wmi_format_rules *format; /* of the target, for instructions that convert; else NULL */
    uint64_t parameter;                    /* free for the step's own use */
    struct wmi_access_facts facts;
};

/* ---- FLAT, GLOBAL, SCRATCH ----
 * Every vector memory step: d result rows, c data rows, a and b the address as the form says, x the form. */

/* Where the addresses of the lanes come from. The instruction's offset is added in all forms. */
enum wmi_vmem_form {
    WMI_VMEM_VADDR,      /* a: a 64-bit address per lane, two rows */
    WMI_VMEM_SADDR,      /* b: a 64-bit scalar base; a: an unsigned 32-bit offset per lane, one row */
    WMI_VMEM_FAST_FORMS, /* those above have fast steps */
    /* a, one row, and b, a 32-bit scalar: their sum is an offset in the lane's private memory. What the
     * instruction does not have (SS, SV, ST of the RDNA3 ISA's names) is a constant 0. */
    WMI_VMEM_SCRATCH = WMI_VMEM_FAST_FORMS,
};

/* Rows of lane addresses that the form has at a. */
static inline unsigned wmi_vmem_address_rows(enum wmi_vmem_form form)
{
    return form == WMI_VMEM_VADDR ? 2 : 1;
}

/* y of a SCRATCH instruction without VADDR: its offset must be aligned. */
enum { WMI_VMEM_SCALAR_ONLY = 1 };

/* What a fast load or store moves per lane: X(kind, elements, bytes of each in memory, signed, d16, d16_hi).
 */
#define WMI_VMEM_SHAPES(X)                                                                                   \
    X(LOAD, 1, 1, 0, 0, 0)                                                                                   \
    X(LOAD, 1, 1, 1, 0, 0)                                                                                   \
    X(LOAD, 1, 2, 0, 0, 0)                                                                                   \
    X(LOAD, 1, 2, 1, 0, 0)                                                                                   \
    X(LOAD, 1, 4, 0, 0, 0)                                                                                   \
    X(LOAD, 2, 4, 0, 0, 0)                                                                                   \
    X(LOAD, 3, 4, 0, 0, 0)                                                                                   \
    X(LOAD, 4, 4, 0, 0, 0)                                                                                   \
    X(LOAD, 1, 1, 0, 1, 0)                                                                                   \
    X(LOAD, 1, 1, 0, 1, 1)                                                                                   \
    X(LOAD, 1, 1, 1, 1, 0)                                                                                   \
    X(LOAD, 1, 1, 1, 1, 1)                                                                                   \
    X(LOAD, 1, 2, 0, 1, 0)                                                                                   \
    X(LOAD, 1, 2, 0, 1, 1)                                                                                   \
    X(STORE, 1, 1, 0, 0, 0)                                                                                  \
    X(STORE, 1, 2, 0, 0, 0)                                                                                  \
    X(STORE, 1, 4, 0, 0, 0)                                                                                  \
    X(STORE, 2, 4, 0, 0, 0)                                                                                  \
    X(STORE, 3, 4, 0, 0, 0)                                                                                  \
    X(STORE, 4, 4, 0, 0, 0)                                                                                  \
    X(STORE, 1, 1, 0, 1, 1)                                                                                  \
    X(STORE, 1, 2, 0, 1, 1)

/* Operations of atomics, by what they make of memory `m` and data `d`. */
enum wmi_atomic {
    WMI_ATOMIC_NONE,
    WMI_ATOMIC_SWAP,
    WMI_ATOMIC_CMPSWAP, /* m == second data ? first data : m */
    WMI_ATOMIC_ADD,
    WMI_ATOMIC_SUB,
    WMI_ATOMIC_RSUB, /* d - m */
    WMI_ATOMIC_SMIN,
    WMI_ATOMIC_UMIN,
    WMI_ATOMIC_SMAX,
    WMI_ATOMIC_UMAX,
    WMI_ATOMIC_AND,
    WMI_ATOMIC_OR,
    WMI_ATOMIC_XOR,
    WMI_ATOMIC_INC,      /* m >= d ? 0 : m + 1 */
    WMI_ATOMIC_DEC,      /* m == 0 || m > d ? d : m - 1 */
    WMI_ATOMIC_CSUB,     /* m >= d ? m - d : 0 */
    WMI_ATOMIC_COND_SUB, /* m >= d ? m - d : m */
    WMI_ATOMIC_FCMPSWAP, /* as CMPSWAP, comparing numbers */
    WMI_ATOMIC_FMIN,
    WMI_ATOMIC_FMAX,
    WMI_ATOMIC_FADD,
    WMI_ATOMIC_FADD_FLUSH, /* denormals are zeros */
    WMI_ATOMIC_PK_ADD_F16,
    WMI_ATOMIC_PK_ADD_BF16,
    WMI_ATOMIC_ORDERED_ADD, /* low half of m == low half of d ? {high m + high d, low m + 1} : m */
    WMI_ATOMIC_COUNT
};

/* Whether the data has a second part, to compare with. */
static inline bool wmi_atomic_compares(enum wmi_atomic operation)
{
    return operation == WMI_ATOMIC_CMPSWAP || operation == WMI_ATOMIC_FCMPSWAP;
}

/* ---- buffers ----
 * d result rows, c data rows, a the rows of VADDR (index, offset, or both), b the four words of the V#, e the
 * scalar offset, x the place for a 64-bit base (see WMI_BUFFER_LINEAR), y enum wmi_buffer_form. */
enum wmi_buffer_form {
    WMI_BUFFER_IDXEN = 1,
    WMI_BUFFER_OFFEN = 2,
    /* The next step is a fast one of global memory, with a scalar base and VADDR as its offset. It is for
     * plain linear buffers: the buffer step leaves the base at x and goes there, or does the work and
     * passes it by. With an index it leaves each lane's distance from there in the row that is that step's
     * VADDR. */
    WMI_BUFFER_LINEAR = 4,
    WMI_BUFFER_ADDR64 = 8, /* a has the two rows of an address per lane */
};

/* wmi_memory_op.parameter of steps that convert. */
enum {
    WMI_BUFFER_FORMAT_CODE = 0x7f, /* MTBUF: the number of the format */
    WMI_BUFFER_TYPED = 0x80,       /* MTBUF */
    WMI_BUFFER_UNPACKED = 0x100,   /* each 16-bit value has a row of its own */
};

/* ---- images ----
 * d result rows, c data rows, b the words of the T#, a, e, x and y the rows of the address, of which there
 * are `coordinates`. What wmi_memory_op.parameter says: */
struct wmi_image_request {
    uint8_t dmask;
    uint8_t layout;      /* enum wmi_layout */
    uint8_t operation;   /* enum wmi_atomic */
    uint8_t coordinates; /* rows of the address */
    uint8_t dim;         /* DIM of gfx10 and later, WMI_IMAGE_DIM_TYPE before */
    bool array : 1;      /* DA: the shader knows that it is an array */
    bool a16 : 1;        /* coordinates have 16 bits */
    bool r128 : 1;       /* the T# has four words */
    bool level : 1;      /* the last coordinate is the level */
    bool unpacked : 1;   /* each 16-bit value has a row of its own */
    bool d16 : 1;        /* values have 16 bits */
    bool status : 1;     /* TFE or LWE: a row behind the values */
    bool raw : 1;        /* dwords of the texel in place of components; a smaller texel is one */
    bool is_signed : 1;  /* which is extended with its sign */
};

static_assert(sizeof(struct wmi_image_request) <= sizeof(uint64_t), "fits into wmi_memory_op.parameter");

static inline struct wmi_image_request wmi_image_request_of(const struct wmi_memory_op *m)
{
    struct wmi_image_request request;
    memcpy(&request, &m->parameter, sizeof request);
    return request;
}

/* ---- scalar memory ----
 * d result SGPRs, c data SGPRs, a the 64-bit base or the V#, b a dword that is added to it (an SGPR or the
 * constant 0), x whether the base is a V#; the instruction's offset is added too. */

enum { WMI_CYCLES_PER_TICK = 15 }; /* of the 100 MHz that s_memrealtime counts, at a core clock of 1.5 GHz */

/* What the x of a step says to the scalar cache. */
enum wmi_scalar_control {
    WMI_SCALAR_INVALIDATE = 1,
    WMI_SCALAR_WRITE_BACK = 2,
    WMI_SCALAR_VOLATILE_ONLY = 4,
    WMI_SCALAR_DISCARD = 8, /* y lines from the address on */
};

/* ---- DS ----
 * a ADDR row, b DATA rows, c DATA2 rows, d result rows, x byte offset of the first place, y of the second if
 * there is one. */

/* clang-format off */
#define WMI_LDS_READS(X)                                                                               \
    X(read_u8) X(read_i8) X(read_u16) X(read_i16)                                                      \
    X(read_u8_d16) X(read_u8_d16_hi) X(read_i8_d16) X(read_i8_d16_hi)                                  \
    X(read_u16_d16) X(read_u16_d16_hi)                                                                 \
    X(read_b32) X(read_b64) X(read_b96) X(read_b128) X(read2_b32) X(read2_b64)
#define WMI_LDS_WRITES(X)                                                                              \
    X(write_b8) X(write_b16) X(write_b8_d16_hi) X(write_b16_d16_hi)                                    \
    X(write_b32) X(write_b64) X(write_b96) X(write_b128) X(write2_b32) X(write2_b64)
/* They return the value before when the memory_op says so. */
#define WMI_LDS_ATOMICS(X)                                                                             \
    X(add_b32) X(sub_b32) X(rsub_b32) X(inc_b32) X(dec_b32)                                            \
    X(min_i32) X(max_i32) X(min_u32) X(max_u32)                                                        \
    X(and_b32) X(or_b32) X(xor_b32) X(mskor_b32) X(wrxchg_b32) X(cmpst_b32) X(wrap_b32)                \
    X(cond_sub_b32) X(sub_clamp_b32)                                                                   \
    X(cmpst_f32) X(min_f32) X(max_f32) X(add_f32) X(pk_add_f16) X(pk_add_bf16)                         \
    X(add_b64) X(sub_b64) X(rsub_b64) X(inc_b64) X(dec_b64)                                            \
    X(min_i64) X(max_i64) X(min_u64) X(max_u64)                                                        \
    X(and_b64) X(or_b64) X(xor_b64) X(mskor_b64) X(wrxchg_b64) X(cmpst_b64)                            \
    X(cmpst_f64) X(min_f64) X(max_f64) X(add_f64) X(condxchg32_b64)                                    \
    X(wrxchg2_b32) X(wrxchg2_b64) X(append) X(consume)
/* The lanes exchange a row; addtid makes the ADDR row of *_addtid_b32; src2_* make the ADDR row (d) and read
 * the DATA rows (e) of *_src2_*; observe and observe_lanes tell the observer. permute and bpermute: y = lanes
 * that exchange with one another, a power of two. */
#define WMI_LDS_OTHERS(X)                                                                              \
    X(swizzle) X(permute) X(bpermute) X(addtid) X(src2_b32) X(src2_b64) X(observe) X(observe_lanes)
#define WMI_LDS_STEPS(X) WMI_LDS_READS(X) WMI_LDS_WRITES(X) WMI_LDS_ATOMICS(X) WMI_LDS_OTHERS(X)

enum wmi_lds_step {
    WMI_LDS_NONE,
#define STEP(name) WMI_LDS_##name,
    WMI_LDS_STEPS(STEP)
#undef STEP
    WMI_LDS_STEP_COUNT
};
/* clang-format on */

/* wmi_memory_op.parameter of DS instructions: places per lane and bytes of each place, as the hardware checks
 * and accesses them (ds_read_b96: 1 place of 12 bytes; ds_read2_b64: 2 of 8). */
static inline unsigned wmi_lds_places(const struct wmi_memory_op *memory)
{
    return memory->parameter & 0xff;
}

static inline unsigned wmi_lds_bytes(const struct wmi_memory_op *memory)
{
    return memory->parameter >> 8 & 0xff;
}

/* ---- GWS, ordered count, GS registers ---- */

/* y of a step that acts on a GWS resource. */
enum wmi_gws {
    WMI_GWS_NONE,
    WMI_GWS_INIT,
    WMI_GWS_BARRIER,
    WMI_GWS_SEMA_V,
    WMI_GWS_SEMA_BR,
    WMI_GWS_SEMA_P,
    WMI_GWS_RELEASE_ALL,
};

enum { WMI_GS_REGISTERS = 16, WMI_GS_NARROW = 8 }; /* the first ones have 32 bits */

#endif
