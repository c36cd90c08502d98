/* SPDX-License-Identifier: MIT */
/* Buffer instructions (MUBUF): how their records are laid out, and their steps. */
#ifndef WMI_BUFFER_STEPS_H
#define WMI_BUFFER_STEPS_H

#include "exec/vmem.h"
#include "memory/buffer.h"
#include "memory/format.h"

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

/* A fast step for private memory, and for linear buffers and records through the step behind it. */
struct wmi_buffer_step {
    uint8_t kind; /* enum wmi_access_kind */
    uint8_t elements, bytes;
    bool is_signed, d16, d16_hi;
    wmi_body step;
};

/* The fast steps of one CPU level and wave size, one per shape, ended by an entry with no elements. */
const struct wmi_buffer_step *wmi_buffer_steps(enum wmi_cpu_level level, unsigned lanes);

#endif
