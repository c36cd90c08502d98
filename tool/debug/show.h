/* SPDX-License-Identifier: MIT */
/* How the debugger shows values, places and stops; as gdb does, where it has something like it. */
#ifndef WAVEMEM_DEBUG_SHOW_H
#define WAVEMEM_DEBUG_SHOW_H

#include "tool/debug/places.h"
#include "tool/debug/stops.h"

/* "/4xw" behind a command. */
struct debug_format {
    uint64_t count;
    char letter; /* x d u o t c a f z i s; 0: the natural one */
    char size;   /* b h w g; 0: the natural one */
};
/* Parses the format at *text and moves it behind; none leaves *format as it is. */
bool debug_parse_format(const char **text, struct debug_format *format, struct wm_diag *diag);

enum { DEBUG_SCALAR = 80 };
/* A scalar in a format. */
const char *debug_scalar(const struct debug_value *value, char letter, char text[DEBUG_SCALAR]);
/* A value, all of its elements, without a line feed. */
bool debug_print_value(struct debug_session *s, const struct debug_value *value, char letter,
                       struct wm_diag *diag);

/* "float *" etc.; "0-3,7": lanes. */
/* What a wave waits for; "": nothing. */
const char *debug_wait_text(enum wm_wait wait);
const char *debug_lanes(uint64_t lanes, char text[256]);
/* "workgroup (1,0,0) wave 2"; lane -1: none. */
const char *debug_wave_text(const uint32_t workgroup[3], uint32_t wave, int lane, char text[96]);

void debug_print_frame(struct debug_session *s, const struct debug_frame *frame, unsigned number,
                       bool address);
/* The selected frame with its source line, or its instruction. */
void debug_print_here(struct debug_session *s);
void debug_print_event(struct debug_session *s, const struct debug_event *event,
                       const struct wm_stopped *before);
/* One instruction with its address and a mark at the pc. */
unsigned debug_print_instruction(struct debug_session *s, uint64_t pc);
/* "at 0x... <kernel+0x10> instruction, file:line". */
void debug_print_instruction_at(struct debug_session *s, uint64_t pc, unsigned state);

bool debug_examine(struct debug_session *s, const struct debug_format *format, const struct debug_value *from,
                   struct wm_diag *diag);

/* "s[4:7]", "s[8:15] image", or an address: the fields of the V#, T# or S#; in descriptors.c. */
bool debug_print_descriptor(struct debug_session *s, const char *text, struct wm_diag *diag);
bool debug_print_matrix(struct debug_session *s, const char *text, struct wm_diag *diag);

#endif
