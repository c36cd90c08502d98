/* SPDX-License-Identifier: MIT */
/* Helpers and step tables of buffer instructions (MUBUF, MTBUF). */
#ifndef WMI_BUFFER_STEPS_H
#define WMI_BUFFER_STEPS_H

#include "exec/memory/vmem.h"
#include "memory/buffer.h"
#include "memory/format.h"

/* The step after the instruction's own steps. */
static inline const struct wmi_op *wmi_buffer_next(const struct wmi_op *op)
{
    return op + 1 + (op->y & WMI_BUFFER_LINEAR ? 1 : 0);
}

/* The V# at op->b, and the place that one lane addresses. */
static inline struct wmi_buffer wmi_buffer_of(const char *frame, const struct wmi_op *op)
{
    const struct wmi_memory_op *m = op->data;
    uint32_t words[4];
    memcpy(words, frame + op->b, sizeof words);
    return wmi_buffer_decode(m->buffer, words, true, op->y & WMI_BUFFER_IDXEN);
}
struct wmi_buffer_place wmi_buffer_place_of(const char *frame, const struct wmi_op *op,
                                            const struct wmi_buffer *buffer, unsigned lane);

/* Format conversion of an instruction. */
struct wmi_buffer_conversion {
    struct wmi_buffer buffer;
    struct wmi_format format;
    unsigned select;          /* DST_SEL */
    unsigned elements, bytes; /* units of range checking: components of whole bytes, or the element */
};

/* Fills `c` in place: returning it by value would copy it right after partial writes, a store-forwarding
 * stall. */
static inline void wmi_buffer_get_conversion(const char *frame, const struct wmi_op *op,
                                             struct wmi_buffer_conversion *c)
{
    const struct wmi_memory_op *m = op->data;
    const bool typed = m->parameter & WMI_BUFFER_TYPED;
    uint32_t words[4];
    memcpy(words, frame + op->b, sizeof words);
    c->buffer = wmi_buffer_decode(m->buffer, words, false, op->y & WMI_BUFFER_IDXEN);
    c->format = wmi_format_of_instruction(m->format, typed, m->parameter & WMI_BUFFER_FORMAT_CODE, words[3]);
    c->select = typed ? WMI_SELECT_IDENTITY : words[3] & 0xfff; /* wmi_format_origin() */
    wmi_format_places(c->format.layout, &c->elements, &c->bytes);
}

/* A fast step for private memory; linear buffers and records continue at the global memory step after it. */
struct wmi_buffer_step {
    uint8_t kind; /* enum wmi_access_kind */
    uint8_t elements, bytes;
    bool is_signed, d16, d16_hi;
    wmi_body step;
};

/* Fast steps of one CPU level and wave size, one per shape, terminated by an entry with no elements. */
const struct wmi_buffer_step *wmi_buffer_steps(enum wmi_cpu_level level, unsigned lanes);

#endif
