/* SPDX-License-Identifier: MIT */
/* The figures of the profile. One table says of each its names, its meaning and where it comes from; text,
 * CSV, JSON and its schema, HTML, `diff` and --fail-if read it. */
#ifndef WAVEMEM_TOOL_FIGURES_H
#define WAVEMEM_TOOL_FIGURES_H

#include "wavemem/wavemem.h"

#include <jansson.h>

enum tool_figure_form {
    TOOL_SUM,   /* a whole number of a row, which adds up over rows */
    TOOL_ROW,   /* a whole number of a row, which does not */
    TOOL_RATIO, /* sums divided by a sum, over the rows that have it */
    TOOL_SHARE, /* a part of 1 of a row, which adds up over the rows of a kernel; shown in per cent */
};

struct tool_figure {
    const char *key;     /* in JSON and CSV, and a name for options */
    const char *title;   /* above its column, and a name for options; NULL: the key */
    const char *meaning; /* with its unit, for --help and the schema */
    enum tool_figure_form form;
    size_t at; /* TOOL_SUM: of a uint64_t, TOOL_ROW: of a uint32_t, TOOL_SHARE: of a double in struct
                  wm_profile_row */
    bool (*has)(const struct wm_profile_row *row); /* NULL: all rows */
    const char *top[2], *bottom;                   /* TOOL_RATIO: keys of sums; top[1] may be NULL */
    const char *unit;                              /* TOOL_RATIO as text: "%", or "" */
    bool low_is_bad;
    enum {
        TOOL_COLD,
        TOOL_MISSING,
        TOOL_PRESENT
    } heat; /* what a bar in the page is as long as, of what is in % */
};

extern const struct tool_figure tool_figures[];
extern const size_t tool_figure_count;
enum { TOOL_FIGURES = 96 }; /* at most */

/* By title, else by key; NULL: there is none. */
const struct tool_figure *tool_find_figure(const char *name);
/* By key alone, as in a report's JSON. */
const struct tool_figure *tool_find_key(const char *key);
const char *tool_figure_title(const struct tool_figure *figure);
/* The title or key nearest to a word that is none; NULL: none is near. */
const char *tool_nearest_figure(const char *word);

/* Figures of one row, or summed over several. Starts at zero. */
struct tool_sums {
    uint64_t value[TOOL_FIGURES];   /* by figure; of a ratio: what is above the line; of a share: 10^-9 */
    uint64_t divisor[TOOL_FIGURES]; /* of a ratio: what is below */
    bool has[TOOL_FIGURES];         /* that at least one row has it; others are left out of ratios */
    size_t rows;
};

void tool_sums_add(struct tool_sums *sums, const struct wm_profile_row *row);

/* A whole number, not a part of something. */
bool tool_figure_is_whole(const struct tool_figure *figure);
/* False where the rows do not have it, as lines of LDS, or it would be divided by 0. */
bool tool_figure_value(const struct tool_figure *figure, const struct tool_sums *sums, double *value);
/* As a cell of a table: "25.0%", "16.0", "4096", "-". */
void tool_figure_text(const struct tool_figure *figure, const struct tool_sums *sums, char text[32]);
/* As a JSON number or null. */
json_t *tool_figure_json(const struct tool_figure *figure, const struct tool_sums *sums);
/* Sets all of them; of several rows those that have a meaning for several. */
void tool_figures_json(json_t *object, const struct tool_sums *sums, bool several);

#endif
