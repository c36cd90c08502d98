/* SPDX-License-Identifier: MIT */
/* The figures of the profile. One table contains the names, meaning and origin of each; text, CSV, JSON and
 * its schema, HTML, `diff` and --fail-if use it. */
#ifndef WAVEMEM_TOOL_FIGURES_H
#define WAVEMEM_TOOL_FIGURES_H

#include "wavemem/wavemem.h"

#include <jansson.h>

enum tool_figure_form {
    TOOL_SUM,   /* an integer that is summed over rows */
    TOOL_ROW,   /* an integer that is not summed */
    TOOL_RATIO, /* a quotient of sums over the rows that have it */
    TOOL_SHARE, /* a fraction that is summed over the rows of a kernel; shown as a percentage */
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
    } heat; /* length of the bar in the HTML page, for figures in % */
};

extern const struct tool_figure tool_figures[];
extern const size_t tool_figure_count;
enum { TOOL_FIGURES = 96 }; /* maximum */

/* Finds a figure by title, else by key; NULL: none. */
const struct tool_figure *tool_find_figure(const char *name);
/* Finds a figure by key only, as in the JSON of a report. */
const struct tool_figure *tool_find_key(const char *key);
const char *tool_figure_title(const struct tool_figure *figure);
/* Returns the title or key that is most similar to an unknown word; NULL: none is similar. */
const char *tool_nearest_figure(const char *word);

/* The figures of one row, or their sums over several. Initialize with zeros. */
struct tool_sums {
    uint64_t value[TOOL_FIGURES];   /* by figure; ratios: the numerator; shares: in units of 10^-9 */
    uint64_t divisor[TOOL_FIGURES]; /* ratios: the denominator */
    bool has[TOOL_FIGURES];         /* at least one row has it; rows without it are left out of ratios */
    size_t rows;
};

void tool_sums_add(struct tool_sums *sums, const struct wm_profile_row *row);

/* Whether the figure is an integer rather than a fraction. */
bool tool_figure_is_whole(const struct tool_figure *figure);
/* Sets *value. False: the rows do not have the figure, such as lines of LDS, or its denominator is 0. */
bool tool_figure_value(const struct tool_figure *figure, const struct tool_sums *sums, double *value);
/* Formats the figure as a table cell: "25.0%", "16.0", "4096", "-". */
void tool_figure_text(const struct tool_figure *figure, const struct tool_sums *sums, char text[32]);
/* As a JSON number or null. */
json_t *tool_figure_json(const struct tool_figure *figure, const struct tool_sums *sums);
/* Sets all figures in `object`; with `several`, only those that are defined for several rows. */
void tool_figures_json(json_t *object, const struct tool_sums *sums, bool several);

#endif
