/* SPDX-License-Identifier: MIT */
/* Code: addresses, symbols, source lines, inlined functions, instructions; and how the user names them. */
#ifndef WAVEMEM_DEBUG_PLACES_H
#define WAVEMEM_DEBUG_PLACES_H

#include "tool/debug/session.h"
#include "tool/report/source.h"

enum { DEBUG_TEXT = 512, DEBUG_FRAMES = 64 };

/* What an address is. */
struct debug_place {
    const struct wm_object *object; /* NULL: no code is there */
    uint64_t address;               /* in the object */
    uint64_t bias;                  /* guest address minus that */
    const char *symbol;             /* or NULL */
    uint64_t offset;                /* in the symbol */
    const char *file;               /* or NULL */
    unsigned line, column;
};
struct debug_place debug_place_of(const struct debug_session *s, uint64_t pc);

/* Guest address minus address in the object. False: it has no kernel, and so no code that runs. */
bool debug_bias(const struct debug_session *s, const struct wm_object *object, uint64_t *bias);

/* "reduce+0x5c"; source names where symbols are mangled. */
const char *debug_symbol_text(const struct debug_place *place, char text[DEBUG_TEXT]);

/* The instruction at the address. Returns its bytes; 0: there is none. text: in LLVM's syntax; may be NULL.
 */
unsigned debug_instruction(const struct debug_session *s, uint64_t pc, struct wm_instruction *instruction,
                           char text[DEBUG_TEXT]);
/* The same in a state that is known: wm_stopped.state. */
unsigned debug_instruction_in(const struct debug_session *s, uint64_t pc, unsigned state,
                              struct wm_instruction *instruction, char text[DEBUG_TEXT]);
static inline bool debug_is_call(const struct wm_instruction *instruction)
{
    return instruction->name && (!__builtin_strncmp(instruction->name, "s_swappc", 8) ||
                                 !__builtin_strncmp(instruction->name, "s_call", 6));
}

/* A function on the stack: the innermost inlined one comes first. */
struct debug_frame {
    uint64_t pc;
    const char *function; /* as in the source */
    const char *file;     /* or NULL */
    unsigned line, column;
    bool inlined;   /* into the next frame */
    unsigned call;  /* of calls.h: 0 is the function at the wave's pc */
    unsigned depth; /* number of inlined functions between this and the instruction at its pc */
    char name[TOOL_NAME];
};
/* Returns their number, at most DEBUG_FRAMES. */
unsigned debug_frames(const struct debug_session *s, uint64_t pc, struct debug_frame frames[DEBUG_FRAMES]);
/* Inlined functions around the address. */
unsigned debug_depth(const struct debug_session *s, uint64_t pc);

/* Calls visit() for each instruction of the objects, with its guest address. */
typedef bool debug_visit(void *user, const struct debug_place *place, uint64_t pc,
                         const struct wm_instruction *instruction);
void debug_each_instruction(const struct debug_session *s, debug_visit *visit, void *user);

/* A line of a source file; NULL: it cannot be read, or has fewer. */
const char *debug_source_line(struct debug_session *s, const char *file, unsigned line);
void debug_free_texts(struct debug_session *s);

#endif
