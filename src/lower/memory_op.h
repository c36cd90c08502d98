/* SPDX-License-Identifier: MIT */
/* Facts of memory instructions that lowering passes to their steps, and the operand conventions of each kind
 * of step. */
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
struct wmi_image_rules;

enum { WMI_SAMPLE_ADDRESS = 16 };
enum { WMI_HITS = 256 }; /* entries of a worker's allocation cache, a power of two */

/* Facts of a memory instruction, fixed at lowering. `data` of each memory step points to this. */
struct wmi_memory_op {
    uint64_t pc;
    uint16_t id;      /* enum wmi_insn_id */
    uint8_t path;     /* enum wmi_path */
    uint8_t kind;     /* enum wmi_access_kind */
    uint8_t elements; /* registers, or places for LDS, from the row */
    uint8_t bytes;    /* per element in memory */
    bool is_signed, d16, d16_hi, returns, stride64;
    bool split_scratch;    /* FLAT_SCRATCH holds a size and an offset, not an address */
    bool lds_m0;           /* M0 limits the LDS size */
    bool lds_partial;      /* what is in range of an access partly out of LDS range is carried out */
    uint8_t lds_alignment; /* the most bytes by which alignment modes align an LDS address */
    uint8_t flat_lds_bits,
        flat_private_bits; /* width of addresses in LDS and private memory formed by FLAT */
    bool scratch_shared;  /* FLAT addresses of private memory contain the lane, and reach that of all waves */
    uint8_t address_bits; /* of addresses of memory, which are sign-extended */
    bool must_align;      /* a load that must be aligned to its size in every mode */
    bool size_rounded;    /* scalar buffer loads: the buffer's size is rounded down to the data's size */
    uint8_t policy;
    uint8_t alignment;                   /* enum wmi_alignment */
    uint32_t hit;                        /* index into wmi_worker.hits */
    uint32_t slot;                       /* number from the observer's instruction(), 0 without an observer */
    int64_t offset;                      /* instruction offset in bytes */
    uint32_t shape;                      /* shape of summaries, see wmi_access_shape(); 0: the observer is not
                                          * asked */
    const struct wmi_observer *observer; /* observer that this record's watch step reports to, or NULL */
    uint32_t watcher;                    /* index among the dispatch's observers */
    const struct wmi_memory_op *late; /* the record for the observer that is late, which the instruction's own
                                       * step shows accesses to; or NULL */
    struct wmi_depth depth;           /* within its block, if the observer asks for depths */
    const struct wmi_buffer_rules *buffer; /* MUBUF: rules of the target */
    const struct wmi_format_rules *format; /* likewise, for instructions that convert formats; else NULL */
    const struct wmi_image_rules *image;   /* image instructions */
    uint64_t parameter;                    /* meaning depends on the step */
    struct wmi_access_facts facts;
    uint8_t address[WMI_SAMPLE_ADDRESS]; /* samples and rays: the VGPRs of the address */
};

/* ---- FLAT, GLOBAL, SCRATCH ----
 * Every vector memory step: d result rows, c data rows, a and b the address (see the form), x the form. */

/* Source of the lane addresses. The instruction's offset is added in all forms. */
enum wmi_vmem_form {
    WMI_VMEM_VADDR,      /* a: a 64-bit address per lane, two rows */
    WMI_VMEM_SADDR,      /* b: a 64-bit scalar base; a: an unsigned 32-bit offset per lane, one row */
    WMI_VMEM_FAST_FORMS, /* the forms above have fast steps */
    /* The sum of a (one row) and b (a 32-bit scalar) is an offset in the lane's private memory. Absent
     * operands (SS, SV, ST in the RDNA3 ISA) are a constant 0. */
    WMI_VMEM_SCRATCH = WMI_VMEM_FAST_FORMS,
};

/* Number of address rows at a. */
static inline unsigned wmi_vmem_address_rows(enum wmi_vmem_form form)
{
    return form == WMI_VMEM_VADDR ? 2 : 1;
}

/* y of a SCRATCH instruction without VADDR: the offset must be aligned. */
enum { WMI_VMEM_SCALAR_ONLY = 1 };

/* Shapes of fast loads and stores, per lane: X(kind, elements, bytes of each in memory, signed, d16,
 * d16_hi). */
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

/* Atomic operations; formulas give the new value from memory `m` and data `d`. */
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
    WMI_ATOMIC_FCMPSWAP, /* CMPSWAP with float comparison */
    WMI_ATOMIC_FMIN,
    WMI_ATOMIC_FMAX,
    WMI_ATOMIC_FADD,
    WMI_ATOMIC_FADD_FLUSH, /* flushes denormals */
    WMI_ATOMIC_PK_ADD_F16,
    WMI_ATOMIC_PK_ADD_BF16,
    WMI_ATOMIC_ORDERED_ADD, /* low half of m == low half of d ? {high m + high d, low m + 1} : m */
    WMI_ATOMIC_COUNT
};

/* Whether the data includes a comparand. */
static inline bool wmi_atomic_compares(enum wmi_atomic operation)
{
    return operation == WMI_ATOMIC_CMPSWAP || operation == WMI_ATOMIC_FCMPSWAP;
}

/* Whether the operation exists for memory of so many bytes. */
static inline bool wmi_atomic_has_width(enum wmi_atomic operation, unsigned bytes)
{
    switch (operation) {
    case WMI_ATOMIC_NONE:
        return false;
    case WMI_ATOMIC_CSUB:
    case WMI_ATOMIC_COND_SUB:
    case WMI_ATOMIC_FADD_FLUSH:
    case WMI_ATOMIC_PK_ADD_F16:
    case WMI_ATOMIC_PK_ADD_BF16:
        return bytes == 4;
    case WMI_ATOMIC_ORDERED_ADD:
        return bytes == 8;
    default:
        return bytes == 4 || bytes == 8;
    }
}

/* ---- buffers ----
 * d result rows, c data rows, a the rows of VADDR (index, offset, or both), b the four words of the V#, e the
 * scalar offset, x the place for a 64-bit base (see WMI_BUFFER_LINEAR), y enum wmi_buffer_form. */
enum wmi_buffer_form {
    WMI_BUFFER_IDXEN = 1,
    WMI_BUFFER_OFFEN = 2,
    /* A fast global memory step with a scalar base and VADDR as its offset follows. For plain linear buffers,
     * the buffer step stores the base at x and continues there; otherwise it performs the access itself and
     * skips that step. With an index, it also stores each lane's offset from the base in that step's VADDR
     * row. */
    WMI_BUFFER_LINEAR = 4,
    WMI_BUFFER_ADDR64 = 8, /* a: two rows with an address per lane */
};

/* wmi_memory_op.parameter of steps that convert formats. */
enum {
    WMI_BUFFER_FORMAT_CODE = 0x7f, /* MTBUF: format number */
    WMI_BUFFER_TYPED = 0x80,       /* MTBUF */
    WMI_BUFFER_UNPACKED = 0x100,   /* each 16-bit value occupies a row */
};

/* What an MSAA load returns: for each of four samples, from the given one on, one component. The values count
 * as limit msaa_load does. */
enum wmi_msaa {
    WMI_MSAA_NO,       /* not an MSAA load */
    WMI_MSAA_ONLY,     /* the only component of the samples in DMASK */
    WMI_MSAA_STORED,   /* the component in DMASK, before DST_SEL */
    WMI_MSAA_SELECTED, /* the component in DMASK, after DST_SEL */
};

/* ---- images ----
 * d result rows, c data rows, b the words of the T#; a, e, x and y the address rows, `coordinates` of them.
 * wmi_memory_op.parameter holds: */
struct wmi_image_request {
    uint8_t dmask;
    uint8_t operation;   /* enum wmi_atomic */
    uint8_t coordinates; /* number of address rows */
    uint8_t dim;         /* DIM of gfx10 and later, WMI_IMAGE_DIM_TYPE before */
    bool array : 1;      /* DA: the image is declared as an array */
    bool a16 : 1;        /* 16-bit coordinates */
    bool r128 : 1;       /* the T# has four words */
    bool level : 1;      /* the last coordinate is the mip level */
    bool unpacked : 1;   /* each 16-bit value occupies a row */
    bool d16 : 1;        /* 16-bit values */
    bool status : 1;     /* TFE or LWE: a status row follows the values */
    bool raw : 1;        /* moves the texel's dwords instead of components; a smaller texel takes one dword */
    bool is_signed : 1;  /* raw: a smaller texel is sign-extended */
    uint8_t msaa : 2;    /* enum wmi_msaa */
};

static_assert(sizeof(struct wmi_image_request) <= sizeof(uint64_t), "fits into wmi_memory_op.parameter");

static inline struct wmi_image_request wmi_image_request_of(const struct wmi_memory_op *m)
{
    struct wmi_image_request request;
    memcpy(&request, &m->parameter, sizeof request);
    return request;
}

/* ---- samples ----
 * d result rows, a row of v0, b the words of the T#, c those of the S#. wmi_memory_op.address: `count` VGPRs,
 * in the order offset, bias, reference, gradients, coordinates, level or its lower bound.
 * wmi_memory_op.parameter holds: */
enum wmi_sample_level {
    WMI_LEVEL_IMPLICIT, /* from the differences in a quad of lanes */
    WMI_LEVEL_BIAS,     /* likewise, plus a bias */
    WMI_LEVEL_GRADIENTS,
    WMI_LEVEL_GIVEN,
    WMI_LEVEL_ZERO,
};

enum wmi_sample_action { WMI_SAMPLE_FILTER, WMI_SAMPLE_GATHER, WMI_SAMPLE_LOD };

struct wmi_sample_request {
    uint8_t dmask;
    uint8_t dim;        /* as in struct wmi_image_request */
    uint8_t count;      /* number of VGPRs in the address */
    uint8_t level : 3;  /* enum wmi_sample_level */
    uint8_t action : 2; /* enum wmi_sample_action */
    bool offset : 1;
    bool compare : 1;
    bool bound : 1; /* a lower bound of the level is the last coordinate */
    bool array : 1; /* as in struct wmi_image_request */
    bool a16 : 1;   /* bias, coordinates and level have 16 bits */
    bool g16 : 1;   /* gradients have 16 bits */
    bool r128 : 1;  /* as in struct wmi_image_request */
    bool unnormalized : 1;
    bool d16 : 1;
    bool unpacked : 1;
    bool status : 1;
    bool row : 1; /* gathers four texels of a row */
};

static_assert(sizeof(struct wmi_sample_request) <= sizeof(uint64_t), "fits into wmi_memory_op.parameter");

static inline struct wmi_sample_request wmi_sample_request_of(const struct wmi_memory_op *m)
{
    struct wmi_sample_request request;
    memcpy(&request, &m->parameter, sizeof request);
    return request;
}

/* ---- rays ----
 * d result rows, a row of v0, b the words of the T#. wmi_memory_op.address: the VGPRs of pointer, extent,
 * origin, direction and inverse direction. wmi_memory_op.parameter: */
enum {
    WMI_RAY_WIDE = 1,   /* the pointer has 64 bits */
    WMI_RAY_HALVES = 2, /* direction and inverse have 16-bit numbers, one after the other */
    WMI_RAY_PAIRS = 4,  /* with WMI_RAY_HALVES: beside each other, by axis */
    WMI_RAY_ADDRESS = 12,
};
static_assert((int)WMI_RAY_ADDRESS <= (int)WMI_SAMPLE_ADDRESS, "fits into wmi_memory_op.address");

/* ---- scalar memory ----
 * d result SGPRs, c data SGPRs, a the 64-bit base or the V#, b a dword added to it (an SGPR or the constant
 * 0), x whether the base is a V#. The instruction's offset is also added. */

enum { WMI_CYCLES_PER_TICK = 15 }; /* s_memrealtime counts at 100 MHz; assumes a core clock of 1.5 GHz */

/* x of scalar cache control steps. */
enum wmi_scalar_control {
    WMI_SCALAR_INVALIDATE = 1,
    WMI_SCALAR_WRITE_BACK = 2,
    WMI_SCALAR_VOLATILE_ONLY = 4,
    WMI_SCALAR_DISCARD = 8, /* y lines starting at the address */
};

/* ---- DS ----
 * a ADDR row, b DATA rows, c DATA2 rows, d result rows, x byte offset of the first place, y of the second
 * one, if any. */

/* clang-format off */
#define WMI_LDS_READS(X)                                                                               \
    X(read_u8) X(read_i8) X(read_u16) X(read_i16)                                                      \
    X(read_u8_d16) X(read_u8_d16_hi) X(read_i8_d16) X(read_i8_d16_hi)                                  \
    X(read_u16_d16) X(read_u16_d16_hi)                                                                 \
    X(read_b32) X(read_b64) X(read_b96) X(read_b128) X(read2_b32) X(read2_b64)
#define WMI_LDS_WRITES(X)                                                                              \
    X(write_b8) X(write_b16) X(write_b8_d16_hi) X(write_b16_d16_hi)                                    \
    X(write_b32) X(write_b64) X(write_b96) X(write_b128) X(write2_b32) X(write2_b64)
/* Return the old value if wmi_memory_op.returns is set. */
#define WMI_LDS_ATOMICS(X)                                                                             \
    X(add_b32) X(sub_b32) X(rsub_b32) X(inc_b32) X(dec_b32)                                            \
    X(min_i32) X(max_i32) X(min_u32) X(max_u32)                                                        \
    X(and_b32) X(or_b32) X(xor_b32) X(mskor_b32) X(wrxchg_b32) X(cmpst_b32) X(wrap_b32)                \
    X(cond_sub_b32) X(sub_clamp_b32)                                                                   \
    X(cmpst_f32) X(min_f32) X(max_f32) X(add_f32) X(pk_add_f16) X(pk_add_bf16)                         \
    X(add_b64) X(sub_b64) X(rsub_b64) X(inc_b64) X(dec_b64)                                            \
    X(min_i64) X(max_i64) X(min_u64) X(max_u64)                                                        \
    X(and_b64) X(or_b64) X(xor_b64) X(mskor_b64) X(wrxchg_b64) X(cmpst_b64)                            \
    X(cmpst_f64) X(min_f64) X(max_f64) X(add_f64) X(condxchg32_b64) X(barrier_arrive_b64)              \
    X(wrxchg2_b32) X(wrxchg2_b64) X(append) X(consume)
/* swizzle, permute, bpermute: lanes exchange a row. addtid computes the ADDR row of *_addtid_b32; src2_*
 * compute the ADDR row (d) and read the DATA rows (e) of *_src2_*; observe and observe_lanes report to
 * observers. permute and bpermute: y = size of the groups of lanes that exchange, a power of two, and perhaps
 * WMI_LDS_ALL_LANES. */
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

enum { WMI_LDS_ALL_LANES = 0x100 }; /* lanes that are not active have values, too */

/* wmi_memory_op.parameter of DS instructions: places per lane and bytes per place, as checked and accessed by
 * the hardware (ds_read_b96: 1 place of 12 bytes; ds_read2_b64: 2 of 8). */
static inline unsigned wmi_lds_places(const struct wmi_memory_op *memory)
{
    return memory->parameter & 0xff;
}

static inline unsigned wmi_lds_bytes(const struct wmi_memory_op *memory)
{
    return memory->parameter >> 8 & 0xff;
}

/* ---- GWS, ordered count, GS registers ---- */

/* y of steps that act on a GWS resource. */
enum wmi_gws_action {
    WMI_GWS_NONE,
    WMI_GWS_INIT,
    WMI_GWS_BARRIER,
    WMI_GWS_SEMA_V,
    WMI_GWS_SEMA_BR,
    WMI_GWS_SEMA_P,
    WMI_GWS_RELEASE_ALL,
};

enum { WMI_GS_REGISTERS = 16, WMI_GS_NARROW = 8 }; /* the first 8 registers are 32 bits wide */

#endif
