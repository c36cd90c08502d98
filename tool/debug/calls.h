/* SPDX-License-Identifier: MIT */
/* The functions that are called: their return addresses, and what is known of their callers' registers. */
#ifndef WAVEMEM_DEBUG_CALLS_H
#define WAVEMEM_DEBUG_CALLS_H

#include "tool/debug/places.h"

enum { DEBUG_SAVED = 16 };

/* A function that is being executed, or that has called another one. */
struct debug_call {
    uint64_t pc;         /* of the call, or of the wave for the innermost one */
    uint64_t returns_to; /* 0: a kernel, or unknown */
    uint32_t frame_base; /* s33, and */
    uint32_t stack;      /* s32, as they are there */
    struct debug_saved { /* VGPRs of it that functions called since have saved */
        unsigned vgpr;
        uint32_t offset; /* in private memory */
    } saved[DEBUG_SAVED];
    unsigned saved_count;
};

/* The calls of the selected wave, the innermost first. Returns their number, at most DEBUG_FRAMES. */
unsigned debug_calls(struct debug_session *s, struct debug_call calls[DEBUG_FRAMES]);
/* All frames of the selected wave; frame->call is an index of these calls. */
unsigned debug_stack(struct debug_session *s, struct debug_frame frames[DEBUG_FRAMES]);
/* The selected one. */
struct debug_frame debug_selected_frame(struct debug_session *s);
/* Number of inlined functions between it and the instruction of its call. */
static inline unsigned debug_selected_depth(struct debug_session *s)
{
    return s->frame ? debug_selected_frame(s).depth : 0;
}
/* Reads a register for one lane as it is in a call of the wave; NULL: in the innermost one. False: it is not
 * known there. */
bool debug_register_in(struct debug_session *s, const struct debug_call *call, const char *name,
                       unsigned lane, uint32_t *value);

#endif
