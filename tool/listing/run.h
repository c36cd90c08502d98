/* SPDX-License-Identifier: MIT */
/* The state of a listing: a section, or a part of one, and its output. */
#ifndef WAVEMEM_LISTING_RUN_H
#define WAVEMEM_LISTING_RUN_H

#include "wavemem/wavemem.h"

/* The options of a listing. */
struct tool_listing {
    const struct wm_object *object;
    struct wm_disassembler *disassembler[2]; /* for waves of 32 (and code outside of kernels), and of 64 */
    const char *file;                        /* as given by the user */
    const char *symbol;                      /* list only this one; or NULL */
    unsigned flags;                          /* WM_DISASSEMBLE_* */
    const char *targets[2];                  /* of the disassemblers */
    unsigned threads;                        /* maximum, at least 1 */
    bool plain, json, labels, lines, no_addresses, no_bytes, demangled;
};

/* The output buffer. If full, it is written to standard output or, with `kept`, grows. */
struct tool_text_buffer {
    char *at, *limit; /* lines must begin before the limit */
    char *buffer;
    size_t room; /* bytes up to the limit; TOOL_LONGEST_TEXT more follow */
    bool kept, failed;
};

enum { TOOL_LONGEST_TEXT = 4096 }; /* of a line, without names */

/* A section, or a part of one. */
struct tool_run {
    const struct tool_listing *listing;
    const struct wm_code *code;
    struct wm_disassembler *const *disassemblers; /* by wave size, as in tool_listing */
    struct wm_disassembler *disassembler;         /* the one in use */
    struct tool_text_buffer *out;
    uint8_t *targets;     /* --labels: a bit per dword, set for branch destinations; or NULL */
    uint64_t next_symbol; /* the next address with a symbol */
    const char *symbol;   /* of the last instruction */
    /* The current symbol, to name branch destinations without a search: it contains at least the addresses
     * from `here_at` to `here_to`. */
    const char *here;
    size_t here_length;
    uint64_t here_at, here_to;
    const char *source; /* last file and line shown */
    unsigned line;
    bool wanted; /* the current symbol is to be listed */
    uint64_t printed;
};

bool tool_open_output(struct tool_text_buffer *out, size_t room, bool kept);

/* Disassembles the instruction at byte `at` of the section. words: the dwords from there on. */
enum { TOOL_LONGEST_DWORDS = 8 };
struct wm_disassembled tool_disassemble(const struct tool_run *run, size_t at, uint32_t *words);
/* Sets the wave size if a symbol begins here. */
void tool_enter_symbol(struct tool_run *run, uint64_t address);
/* Prints the instructions that begin in [at, end); returns the end of the last one. */
size_t tool_list_range(struct tool_run *run, size_t at, size_t end);

/* --labels: marks branch destinations at which an instruction begins. False: out of memory. */
bool tool_find_targets(struct tool_run *run);

#endif
