/* SPDX-License-Identifier: MIT */
/* Words of 32 bits from text, for registers and buffers: "5,-1,1.5,@out,@out.lo+16,V#(@in,stride=16)". */
#ifndef WAVEMEM_TOOL_DWORDS_H
#define WAVEMEM_TOOL_DWORDS_H

#include "tool/expression.h"

struct tool_item {
    uint32_t words[WM_DESCRIPTOR_WORDS];
    unsigned count;
    bool named; /* depends on an address or on the target */
};

/* How to read an item. */
struct tool_item_rules {
    const struct tool_names *names; /* NULL: only the number of words matters, names may be anything */
    const char *target;             /* of descriptors */
    int lane;                       /* as in struct tool_expression */
    bool pair;                      /* an expression has 64 bits and gives two words */
};

/* Reads an item of a list and sets *text to the comma or the end behind it. An item is a float, an
 * expression, which gives one word, or two with an address, or a descriptor. False: sets diag->message. */
bool tool_read_item(const char **text, const struct tool_item_rules *rules, struct tool_item *item,
                    struct wm_diag *diag);

/* Reads a list of items. The caller frees *words. named: see struct tool_item. */
bool tool_read_items(const char *text, const struct tool_item_rules *rules, uint32_t **words, size_t *count,
                     bool *named, struct wm_diag *diag);

/* Whether `text` begins as a descriptor does. */
bool tool_is_descriptor(const char *text);

#endif
