/* SPDX-License-Identifier: MIT */
/* Breakpoints and watchpoints; and continuing and stepping to them, in both directions. */
#ifndef WAVEMEM_DEBUG_STOPS_H
#define WAVEMEM_DEBUG_STOPS_H

#include "tool/debug/evaluate.h"

struct debug_breakpoint {
    unsigned number;
    char *what;      /* as the user wrote it */
    char *location;  /* of a breakpoint, likewise; front ends of their own change `what' */
    char *condition; /* or NULL */
    bool temporary, enabled;
    bool internal; /* a front end's: GDB's Z packets, DAP */
    uint64_t hits, ignore;
    uint64_t *addresses; /* of a breakpoint */
    size_t address_count;
    /* A watchpoint: */
    bool watches, reads, writes;
    bool any_write;           /* also those that leave the value as it was */
    struct debug_value place; /* elements in memory */
    uint32_t workgroup[3];    /* of LDS */
    uint8_t *shadow;          /* what they were after the last access */
};

enum debug_event_kind {
    DEBUG_EVENT_STEP, /* nothing but the end of a step */
    DEBUG_EVENT_BREAKPOINT,
    DEBUG_EVENT_WATCHPOINT,
    DEBUG_EVENT_FAULT,     /* the selected wave has faulted */
    DEBUG_EVENT_DEADLOCK,  /* all waves wait for ever */
    DEBUG_EVENT_WAVE_END,  /* the wave that was followed has ended */
    DEBUG_EVENT_END,       /* the last dispatch has ended; or it ended early, see session.fault */
    DEBUG_EVENT_BEGINNING, /* backwards: nothing is before this */
    DEBUG_EVENT_INTERRUPTED,
};

struct debug_event {
    enum debug_event_kind kind;
    unsigned number;        /* of the breakpoint */
    bool temporary;         /* it is gone */
    struct debug_time time; /* at which it happened */
    /* of a watchpoint */
    uint64_t pc;    /* of the instruction that accessed the memory */
    unsigned state; /* in which it is decoded */
    bool read;      /* the value was only read */
    struct debug_change change;
};

/* Adds a breakpoint at a location (places.h); condition: or NULL. Returns its number; 0: an error. */
unsigned debug_break(struct debug_session *s, const char *location, const char *condition, bool temporary,
                     struct wm_diag *diag);
/* Adds a watchpoint of the memory that the expression stands for; a pointer stands for its whole buffer. */
unsigned debug_watch(struct debug_session *s, const char *expression, const char *condition, bool reads,
                     bool writes, struct wm_diag *diag);
/* NULL: there is none of that number. */
struct debug_breakpoint *debug_breakpoint(struct debug_session *s, unsigned number);
bool debug_delete(struct debug_session *s, unsigned number);
void debug_free_stops(struct debug_session *s);

/* Begins the job again and runs to the first event. */
bool debug_run(struct debug_session *s, struct debug_event *event, struct wm_diag *diag);
/* Runs to the first event from where a dispatch begins. */
bool debug_run_on(struct debug_session *s, struct debug_event *event, struct wm_diag *diag);
/* Looks for the places of all breakpoints again, in the code of another launch. */
void debug_relocate(struct debug_session *s);
bool debug_continue(struct debug_session *s, bool backwards, struct debug_event *event, struct wm_diag *diag);

enum debug_step {
    DEBUG_STEP_INSTRUCTION,
    DEBUG_NEXT_INSTRUCTION, /* over calls */
    DEBUG_STEP_LINE,
    DEBUG_NEXT_LINE, /* over calls and inlined functions */
    DEBUG_FINISH,    /* out of the selected function */
    DEBUG_UNTIL,     /* as NEXT_LINE, but not back in a loop */
};
/* Follows the selected wave; breakpoints and watchpoints of others do not stop it. */
bool debug_step(struct debug_session *s, enum debug_step how, bool backwards, struct debug_event *event,
                struct wm_diag *diag);
/* Runs the selected wave to one of the addresses. */
bool debug_run_to(struct debug_session *s, const uint64_t *addresses, size_t count, struct debug_event *event,
                  struct wm_diag *diag);

/* The last write of bytes before now. */
struct debug_write_found {
    struct debug_time time;
    uint32_t workgroup[3], wave;
    uint64_t lanes; /* that write there */
    uint64_t pc;
    unsigned state; /* in which the instruction is decoded */
};
/* Looks in this dispatch up to now, and in those before it, and comes back. *found false: nobody but the
 * host. */
bool debug_last_write(struct debug_session *s, enum debug_space space, uint64_t address, uint64_t size,
                      struct debug_write_found *write, bool *found, struct wm_diag *diag);
/* The same for a register of the selected wave and lane, "v3" or "vcc". */
bool debug_last_register_write(struct debug_session *s, const char *name, struct debug_write_found *write,
                               bool *found, struct wm_diag *diag);
/* Goes to a time and selects a wave there. */
bool debug_go_to_wave(struct debug_session *s, struct debug_time time, const uint32_t workgroup[3],
                      uint32_t wave, struct wm_diag *diag);

#endif
