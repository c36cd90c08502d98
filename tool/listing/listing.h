/* SPDX-License-Identifier: MIT */
/* How wavemem dis writes code down. */
#ifndef WAVEMEM_LISTING_H
#define WAVEMEM_LISTING_H

#include "wavemem/wavemem.h"

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

/* Prints the sections; returns an enum tool_exit. */
int tool_list(const struct tool_listing *listing, const struct wm_code *code, size_t count);

#endif
