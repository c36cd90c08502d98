/* SPDX-License-Identifier: MIT */
/* Image instructions (MIMG, VIMAGE): how their records are laid out, and their steps. */
#ifndef WMI_IMAGE_STEPS_H
#define WMI_IMAGE_STEPS_H

#include "exec/vmem.h"
#include "memory/image.h"

/* In the record of all these steps: d result rows, c data rows, b the words of the T#, a, e, x and y the rows
 * of the address, of which there are `coordinates`, data the struct wmi_memory_op. What its parameter says:
 */
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

/* Carries out a load, store or atomic, lane by lane. */
const struct wmi_op *wmi_image_access(char *restrict frame, const struct wmi_op *op);
/* image_get_resinfo. */
const struct wmi_op *wmi_image_resinfo(char *restrict frame, const struct wmi_op *op);
/* Shows the access that the next step is going to make to the observer. */
const struct wmi_op *wmi_image_watch(char *restrict frame, const struct wmi_op *op);

#endif
