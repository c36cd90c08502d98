/* SPDX-License-Identifier: MIT */
/* Several products of --gpu: a report is that of the first, and compares the predicted times on all of them.
 */
#ifndef WAVEMEM_TOOL_PRODUCTS_H
#define WAVEMEM_TOOL_PRODUCTS_H

#include "tool/report/report.h"
#include "tool/report/summary.h"

enum { TOOL_PRODUCTS = 32 };

struct tool_products {
    const struct wm_gpu *gpu[TOOL_PRODUCTS];
    size_t count;
};

/* The products called NAME[,NAME...]; for "list", prints all and ends the command. TOOL_WRONG: no such
 * product, or too many, after a message that begins with `where`. */
int tool_choose_products(const char *where, const char *value, struct tool_products *products);
/* TOOL_WRONG, after a message, if code for the target cannot be modelled on one of them. */
int tool_check_products(const struct tool_products *products, const char *target);

/* The profiles of one run on several products, in their order. The first one is the report's. */
struct tool_compared {
    struct wm_profile *profile[TOOL_PRODUCTS];
    size_t count;
};

/* Replays the trace `name` of the first product's profile on each of the others. TOOL_WRONG, after a message:
 * failed. Free *compared in any case. */
int tool_compare_products(const struct tool_products *products, struct wm_profile *first,
                          const uint8_t *trace, size_t size, const char *name,
                          struct tool_compared *compared);
void tool_compared_free(struct tool_compared *compared);

/* Prints a table for each kernel of the report that takes long: a line for each product. */
void tool_print_compared(const struct tool_report *report);
/* The kernel at that address in another profile of the run; NULL: it has none. */
const struct wm_profile_kernel *tool_kernel_at(struct wm_profile *profile, uint64_t pc);
/* The best fix in a few words, and what it gains. */
void tool_fix_text(struct wm_profile *profile, const struct wm_profile_kernel *kernel,
                   char text[TOOL_SENTENCES]);
/* A list of the products, each with its kernels and advice as in the report. */
json_t *tool_json_compared(const struct tool_compared *compared);

#endif
