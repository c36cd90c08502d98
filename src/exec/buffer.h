/* SPDX-License-Identifier: MIT */
/* Buffer instructions (MUBUF): how their records are laid out, and their steps. */
#ifndef WMI_BUFFER_STEPS_H
#define WMI_BUFFER_STEPS_H

#include "exec/vmem.h"
#include "memory/buffer.h"
#include "memory/format.h"

/* In the record of all these steps: d result rows, c data rows, a the rows of VADDR (index, offset, or both),
 * b the four words of the V#, e the scalar offset, x the place for a 64-bit base (see WMI_BUFFER_LINEAR), y
 * enum wmi_buffer_form, data the struct wmi_memory_op with its `buffer`. */
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

/* Behind the steps of the instruction. */
static inline const struct wmi_op *wmi_buffer_next(const struct wmi_op *op)
{
    return op + 1 + (op->y & WMI_BUFFER_LINEAR ? 1 : 0);
}

/* What one lane asks for, by its registers. */
static inline struct wmi_buffer wmi_buffer_of(const char *frame, const struct wmi_op *op)
{
    const struct wmi_memory_op *m = op->data;
    uint32_t words[4];
    memcpy(words, frame + op->b, sizeof words);
    return wmi_buffer_decode(m->buffer, words, true);
}
struct wmi_buffer_place wmi_buffer_place_of(const char *frame, const struct wmi_op *op,
                                            const struct wmi_buffer *buffer, unsigned lane);

/* What an instruction that converts does to the elements of a buffer. */
struct wmi_buffer_conversion {
    struct wmi_buffer buffer;
    struct wmi_format format;
    unsigned select;          /* DST_SEL */
    unsigned elements, bytes; /* that are checked by themselves: components of whole bytes, or the element */
};

/* Carries out a load or store element by element, whatever it reaches. */
const struct wmi_op *wmi_buffer_careful(char *restrict frame, const struct wmi_op *op);
/* The same through a format; the rows at d or c hold 32-bit values or, with d16, 16-bit ones. What
 * wmi_memory_op.parameter says: */
enum {
    WMI_BUFFER_FORMAT_CODE = 0x7f, /* MTBUF: the number of the format */
    WMI_BUFFER_TYPED = 0x80,       /* MTBUF */
    WMI_BUFFER_UNPACKED = 0x100,   /* each 16-bit value has a row of its own */
};
const struct wmi_op *wmi_buffer_format(char *restrict frame, const struct wmi_op *op);

/* Fills `c`: a copy of what was just written in parts would wait for it. */
static inline void wmi_buffer_get_conversion(const char *frame, const struct wmi_op *op,
                                             struct wmi_buffer_conversion *c)
{
    const struct wmi_memory_op *m = op->data;
    const bool typed = m->parameter & WMI_BUFFER_TYPED;
    uint32_t words[4];
    memcpy(words, frame + op->b, sizeof words);
    c->buffer = wmi_buffer_decode(m->buffer, words, false);
    c->format = wmi_format_of(m->format, typed ? m->parameter & WMI_BUFFER_FORMAT_CODE
                                               : wmi_format_code_of(m->format, words[3]));
    c->select = typed ? WMI_SELECT_IDENTITY : words[3] & 0xfff; /* wmi_format_origin() */
    wmi_format_places(c->format.layout, &c->elements, &c->bytes);
}

/* Carries out a load whose values go to LDS: 4 bytes for each lane, from M0[15:0] and the instruction's
 * offset on. Those that LDS does not have are dropped. */
const struct wmi_op *wmi_buffer_to_lds(char *restrict frame, const struct wmi_op *op);
/* TFE: what a load says of its success, in the row at d; nothing of a buffer is ever absent. */
const struct wmi_op *wmi_buffer_status(char *restrict frame, const struct wmi_op *op);
/* The same for atomics, with the operation in wmi_memory_op.parameter. */
const struct wmi_op *wmi_buffer_atomic(char *restrict frame, const struct wmi_op *op);
/* ADDR64: the rows at d become the 64-bit addresses at a plus the base of the V# at b and the offset at e. */
const struct wmi_op *wmi_buffer_add_base(char *restrict frame, const struct wmi_op *op);
/* Shows the access that the next step is going to make to the observer. */
const struct wmi_op *wmi_buffer_watch(char *restrict frame, const struct wmi_op *op);

/* A fast step for private memory, and for linear buffers and records through the step behind it. */
struct wmi_buffer_step {
    uint8_t kind; /* enum wmi_access_kind */
    uint8_t elements, bytes;
    bool is_signed, d16, d16_hi;
    wmi_body step;
};

/* The fast steps of one CPU level and wave size, one per shape, ended by an entry with no elements. */
const struct wmi_buffer_step *wmi_buffer_steps(enum wmi_cpu_level level, unsigned lanes);

/* The fast step for loads through a format, by level and wave size; the careful one does what it does not. */
wmi_body wmi_buffer_format_step(enum wmi_cpu_level level, unsigned lanes);

/* Lowers a load, store or atomic whose d and c are in `step`. */
bool wmi_lower_buffer(struct wmi_builder *builder, const struct wmi_instruction *insn, enum wmi_atomic atomic,
                      struct wmi_op *step);

#endif
