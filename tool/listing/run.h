/* SPDX-License-Identifier: MIT */
/* A stretch of a listing on its way to the output. */
#ifndef WAVEMEM_LISTING_RUN_H
#define WAVEMEM_LISTING_RUN_H

#include "wavemem/wavemem.h"

/* What is asked for. */
struct tool_listing {
    const struct wm_object *object;
    struct wm_disassembler *disassembler[2]; /* for waves of 32 (and code of no kernel), and of 64 */
    const char *file;                        /* as the user called it */
    const char *symbol;                      /* this one's code only, or NULL */
    unsigned flags;                          /* WM_DISASSEMBLE_* */
    const char *targets[2];                  /* what the disassemblers were made for */
    unsigned threads;                        /* that may work at once, at least 1 */
    bool plain, json, labels, lines, no_addresses, no_bytes;
};

/* What is being written: to standard output whenever the buffer is full, or kept in a buffer that grows. */
struct tool_output {
    char *at, *limit; /* past the limit a line may begin no more */
    char *buffer;
    size_t room; /* bytes up to the limit; TOOL_LONGEST_TEXT more stand behind it */
    bool kept, failed;
};

enum { TOOL_LONGEST_TEXT = 4096 }; /* a line's, but for names */

/* A section, or a part of one. */
struct tool_run {
    const struct tool_listing *listing;
    const struct wm_code *code;
    struct wm_disassembler *const *disassemblers; /* by waves, as in tool_listing */
    struct wm_disassembler *disassembler;         /* the one in use */
    struct tool_output *out;
    uint8_t *targets;     /* --labels: a bit for each dword that a branch leads to; or NULL */
    uint64_t next_symbol; /* the next address with a symbol */
    const char *symbol;   /* that the last instruction belongs to */
    /* The symbol that instructions are in now, to name where branches lead without a search: it holds at
     * least the addresses from `here_at` up to `here_to`. */
    const char *here;
    size_t here_length;
    uint64_t here_at, here_to;
    const char *source; /* file and line shown last */
    unsigned line;
    bool wanted; /* the symbol that was asked for, or all */
    uint64_t printed;
};

bool tool_open_output(struct tool_output *out, size_t room, bool kept);

/* What stands at the byte `at` of the section; its words, and those behind them. */
enum { TOOL_LONGEST_DWORDS = 8 };
struct wm_disassembled tool_disassemble(const struct tool_run *run, size_t at, uint32_t *words);
/* Waves of what comes next, if a symbol begins here. */
void tool_enter_symbol(struct tool_run *run, uint64_t address);
/* Prints the instructions that begin at bytes from `at` to before `end`; returns where the last one ends. */
size_t tool_list_range(struct tool_run *run, size_t at, size_t end);

/* --labels: marks the places that branches lead to, if an instruction begins there. False: no memory. */
bool tool_find_targets(struct tool_run *run);

#endif
