/* SPDX-License-Identifier: MIT */
/* The Debug Adapter Protocol, as a front end of the session. */
#ifndef WAVEMEM_DEBUG_DAP_H
#define WAVEMEM_DEBUG_DAP_H

#include "tool/debug/prompt.h"
#include "tool/report/document.h"

#include <jansson.h>

/* What `variables' can be asked for, from one stop to the next. */
struct debug_reference {
    enum debug_scope {
        DEBUG_LOCALS,
        DEBUG_ARGUMENTS,
        DEBUG_SCALARS,
        DEBUG_VECTORS,
        DEBUG_LDS_WORDS,
        DEBUG_ELEMENTS
    } scope;
    uint64_t thread;
    unsigned frame;
    char *expression; /* ELEMENTS: of a pointer or an array */
};

struct debug_adapter {
    struct debug_session *session; /* `own', or that of a program's launches */
    struct debug_session own;
    struct tool_job job;
    bool begun, done, stops_at_end, stops_on_entry;
    bool garbled; /* the client sent something that is no message */
    int in, out;
    int64_t sequence;
    json_t *pending; /* an array of the requests that came while a kernel ran; or NULL */
    char **words;    /* of the command line that the launch request stands for */
    size_t word_count;
    struct debug_reference *references;
    size_t reference_count;
};

/* Serves one client on standard input and output. Returns an enum tool_exit. */
int debug_adapt(void);

/* The client of a program that is debugged: how `wavemem dap' hands it over to the program's process. */
#define DEBUG_DAP "WAVEMEM_DEBUG_DAP"
/* Serves it until it leaves; stopped before the first instruction of the first launch. */
void debug_adapt_launches(struct debug_session *s, const char *client);

/* ---- in dap_protocol.c: messages ---- */

/* The next message; NULL: the end, or no message. */
json_t *debug_dap_receive(struct debug_adapter *a);
/* The next message itself; NULL: the end, or it is none. */
json_t *debug_dap_read(struct debug_adapter *a);
/* Whether bytes of a message are waiting. */
bool debug_dap_waiting(const struct debug_adapter *a);
/* Take `body`, which may be NULL. */
void debug_dap_event(struct debug_adapter *a, const char *event, json_t *body);
void debug_dap_respond(struct debug_adapter *a, const json_t *request, json_t *body);
void debug_dap_refuse(struct debug_adapter *a, const json_t *request, const char *message);
char *debug_base64(const uint8_t *bytes, size_t size); /* the caller frees; NULL: no memory */
bool debug_from_base64(const char *text, uint8_t **bytes, size_t *size); /* likewise */

/* ---- in dap_state.c: what is shown of the state; false or NULL: see diag ---- */

typedef json_t *debug_dap_show(struct debug_adapter *a, const json_t *arguments, struct wm_diag *diag);
debug_dap_show debug_dap_threads, debug_dap_stack, debug_dap_scopes, debug_dap_variables, debug_dap_evaluate,
    debug_dap_set_variable, debug_dap_set_expression, debug_dap_disassemble, debug_dap_read_memory,
    debug_dap_write_memory;
uint64_t debug_dap_thread(const struct debug_session *s, const struct wm_stopped *wave);
bool debug_dap_select_thread(struct debug_adapter *a, uint64_t thread, struct wm_diag *diag);
void debug_dap_forget_references(struct debug_adapter *a);
/* Carries out a command of the prompt; returns what it printed, which the caller frees. */
char *debug_dap_command(struct debug_adapter *a, const char *line, bool *good);

#endif
