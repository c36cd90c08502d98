/* SPDX-License-Identifier: MIT */
/* The table of the profile's figures; reads and sums them. */
#include "tool/report/figures.h"

#include "tool/tool.h"

#include <assert.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static bool has_lines(const struct wm_profile_row *row)
{
    return row->has_lines;
}

static bool has_vector(const struct wm_profile_row *row)
{
    return row->has_vector;
}

static bool has_lds(const struct wm_profile_row *row)
{
    return row->has_lds;
}

/* Whether lanes have their own requests; SMEM makes one for the whole wave. */
static bool has_lanes(const struct wm_profile_row *row)
{
    return strcmp(row->path, "SMEM") != 0;
}

static bool has_clocks(const struct wm_profile_row *row)
{
    return row->has_vector || row->has_lds;
}

static bool has_caches(const struct wm_profile_row *row)
{
    return row->has_caches;
}

static bool has_share(const struct wm_profile_row *row)
{
    return row->has_share;
}

static bool has_waits(const struct wm_profile_row *row)
{
    return row->has_waits;
}

static bool has_data(const struct wm_profile_row *row)
{
    return row->has_caches && row->has_vector;
}

/* Whether the row made any request to the cache. */
static bool asks(const struct wm_profile_row *row, enum wm_cache_level level)
{
    return row->has_caches && row->cache[level].requests;
}

static bool asks_vector(const struct wm_profile_row *row)
{
    return asks(row, WM_CACHE_VECTOR);
}

static bool asks_gl1(const struct wm_profile_row *row)
{
    return asks(row, WM_CACHE_GL1);
}

static bool asks_scalar(const struct wm_profile_row *row)
{
    return asks(row, WM_CACHE_SCALAR);
}

static bool asks_l2(const struct wm_profile_row *row)
{
    return asks(row, WM_CACHE_L2);
}

static bool asks_last(const struct wm_profile_row *row)
{
    return asks(row, WM_CACHE_LAST);
}

#define AT(member) offsetof(struct wm_profile_row, member)

const struct tool_figure tool_figures[] = {
    {"efficiency", NULL, "ideal / lines", TOOL_RATIO, .has = has_lines, .top = {"ideal_lines"},
     .bottom = "lines", .unit = "%", .low_is_bad = true, .heat = TOOL_MISSING},
    {"share", "% of bound", "share of the work of the part that bounds the kernel", TOOL_SHARE, AT(share),
     has_share, .unit = "%", .heat = TOOL_PRESENT},
    {"waits", "% waiting", "share of its waves' time in which they wait for it, as predicted", TOOL_SHARE,
     AT(waits), has_waits, .unit = "%", .heat = TOOL_PRESENT},
    {"executions", "requests", "executions of the instruction, one per wave", TOOL_SUM, AT(executions)},
    {"lanes", NULL, "active lanes, summed over all requests", TOOL_SUM, AT(lanes)},
    {"lanes_per_run", "lanes/req", "active lanes per request, on average", TOOL_RATIO, .has = has_lanes,
     .top = {"lanes"}, .bottom = "executions", .unit = "", .low_is_bad = true},
    {"bytes", "B/lane", "bytes that each lane requests, at most", TOOL_ROW, AT(bytes)},
    {"bytes_asked", NULL, "bytes requested by all lanes", TOOL_SUM, AT(bytes_asked)},
    {"distinct_bytes", NULL, "distinct bytes of each request, summed", TOOL_SUM, AT(distinct_bytes)},
    {"line_bytes", NULL, "line size of the vector cache, bytes", TOOL_ROW, AT(line_bytes), has_lines},
    {"lines", NULL, "distinct cache lines of each request, summed", TOOL_SUM, AT(lines), has_lines},
    {"ideal_lines", NULL,
     "lines needed if the distinct bytes of a request were contiguous, at least 1, summed", TOOL_SUM,
     AT(ideal_lines), has_lines},
    {"lines_per_request", "lines/req", "distinct cache lines per request, on average", TOOL_RATIO,
     .has = has_lines, .top = {"lines"}, .bottom = "executions", .unit = ""},
    {"ideal_per_request", "ideal/req",
     "lines that a request would need if its bytes were contiguous, on average", TOOL_RATIO, .has = has_lines,
     .top = {"ideal_lines"}, .bottom = "executions", .unit = ""},
    {"clocks", "clocks/req", "clocks of the address unit, or LDS passes, per request on average", TOOL_RATIO,
     .has = has_clocks, .top = {"address_clocks", "lds_passes"}, .bottom = "executions", .unit = ""},
    {"conflicts", "conflicts/req", "LDS passes per request that bank conflicts add, on average", TOOL_RATIO,
     .has = has_lds, .top = {"lds_conflicts"}, .bottom = "executions", .unit = ""},
    {"fast_executions", NULL, "requests on the address unit's fast path", TOOL_SUM, AT(fast), has_vector,
     .low_is_bad = true},
    {"address_clocks", NULL, "clocks of the address unit", TOOL_SUM, AT(address_clocks), has_vector},
    {"tag_lookups", NULL, "tag lookups in the vector cache", TOOL_SUM, AT(tag_lookups), has_vector},
    {"tag_clocks", NULL, "clocks of these lookups", TOOL_SUM, AT(tag_clocks), has_vector},
    {"read_requests", NULL, "read requests to L2 if the vector cache were empty", TOOL_SUM, AT(read_requests),
     has_vector},
    {"write_requests", NULL, "write requests to L2", TOOL_SUM, AT(write_requests), has_vector},
    {"atomic_requests", NULL, "atomic requests to L2", TOOL_SUM, AT(atomic_requests), has_vector},
    {"collapsed_stores", NULL, "stores to an address that a lower lane of the wave also stores to", TOOL_SUM,
     AT(collapsed), has_vector},
    {"lds_passes", NULL, "LDS passes", TOOL_SUM, AT(lds_passes), has_lds},
    {"lds_conflicts", NULL, "LDS passes added by bank conflicts", TOOL_SUM, AT(lds_conflicts), has_lds},
    {"lds_serial_lanes", NULL, "lanes serialized because one lane was misaligned", TOOL_SUM, AT(lds_serial),
     has_lds},
    {"data_clocks", NULL, "clocks to read the vector cache's banks and to move data to or from VGPRs",
     TOOL_SUM, AT(data_clocks), has_data},
    {"vector_hit_rate", "L1 hit", "hit rate of the vector L1 (L0 from gfx10 on)", TOOL_RATIO,
     .has = asks_vector, .top = {"vector_hits"}, .bottom = "vector_requests", .unit = "%",
     .low_is_bad = true},
    {"l2_hit_rate", "L2 hit", "hit rate of L2", TOOL_RATIO, .has = asks_l2, .top = {"l2_hits"},
     .bottom = "l2_requests", .unit = "%", .low_is_bad = true},
    {"vector_requests", NULL, "requests to the vector L1 or L0", TOOL_SUM,
     AT(cache[WM_CACHE_VECTOR].requests), asks_vector},
    {"vector_hits", NULL, "of these, hits", TOOL_SUM, AT(cache[WM_CACHE_VECTOR].hits), asks_vector,
     .low_is_bad = true},
    {"gl1_requests", NULL, "requests to GL1", TOOL_SUM, AT(cache[WM_CACHE_GL1].requests), asks_gl1},
    {"gl1_hits", NULL, "of these, hits", TOOL_SUM, AT(cache[WM_CACHE_GL1].hits), asks_gl1,
     .low_is_bad = true},
    {"scalar_requests", NULL, "requests to the scalar cache", TOOL_SUM, AT(cache[WM_CACHE_SCALAR].requests),
     asks_scalar},
    {"scalar_hits", NULL, "of these, hits", TOOL_SUM, AT(cache[WM_CACHE_SCALAR].hits), asks_scalar,
     .low_is_bad = true},
    {"l2_requests", NULL, "requests to L2", TOOL_SUM, AT(cache[WM_CACHE_L2].requests), asks_l2},
    {"l2_hits", NULL, "of these, hits", TOOL_SUM, AT(cache[WM_CACHE_L2].hits), asks_l2, .low_is_bad = true},
    {"l2_bytes", NULL, "bytes transferred between L2 and its clients", TOOL_SUM, AT(cache[WM_CACHE_L2].bytes),
     asks_l2},
    {"last_requests", NULL, "requests to the last-level cache", TOOL_SUM, AT(cache[WM_CACHE_LAST].requests),
     asks_last},
    {"last_hits", NULL, "of these, hits", TOOL_SUM, AT(cache[WM_CACHE_LAST].hits), asks_last,
     .low_is_bad = true},
    {"memory_read", NULL, "bytes read from DRAM", TOOL_SUM, AT(memory_read), has_caches},
    {"memory_written", NULL, "bytes written to DRAM, counted when lines are written back", TOOL_SUM,
     AT(memory_written), has_caches},
    {"wait_depths", NULL,
     "memory instructions in flight at issue, including itself, summed over all requests", TOOL_SUM,
     AT(wait_depth), has_caches},
    {"wait_depth", NULL, "memory instructions in flight at issue, on average", TOOL_RATIO, .has = has_caches,
     .top = {"wait_depths"}, .bottom = "executions", .unit = ""},
    {"wait_depth_most", NULL, "memory instructions in flight at issue, maximum", TOOL_ROW,
     AT(wait_depth_most), has_caches},
};
const size_t tool_figure_count = sizeof tool_figures / sizeof *tool_figures;
static_assert(sizeof tool_figures / sizeof *tool_figures <= TOOL_FIGURES,
              "struct tool_sums holds all figures");

const char *tool_figure_title(const struct tool_figure *figure)
{
    return figure->title ? figure->title : figure->key;
}

const struct tool_figure *tool_find_key(const char *key)
{
    for (size_t i = 0; i < tool_figure_count; i++)
        if (strcmp(tool_figures[i].key, key) == 0)
            return &tool_figures[i];
    return NULL;
}

const struct tool_figure *tool_find_figure(const char *name)
{
    for (size_t i = 0; i < tool_figure_count; i++)
        if (tool_figures[i].title && strcmp(tool_figures[i].title, name) == 0)
            return &tool_figures[i];
    return tool_find_key(name);
}

const char *tool_nearest_figure(const char *word)
{
    const char *names[2 * TOOL_FIGURES];
    size_t count = 0;
    for (size_t i = 0; i < tool_figure_count; i++) {
        names[count++] = tool_figures[i].key;
        if (tool_figures[i].title)
            names[count++] = tool_figures[i].title;
    }
    return tool_nearest(word, names, count, sizeof *names);
}

/* ---- sums ---- */

static const double share_unit = 1e9;

static uint64_t whole_of(const struct tool_figure *figure, const struct wm_profile_row *row)
{
    const void *at = (const char *)row + figure->at;
    if (figure->form == TOOL_SHARE)
        return (uint64_t)(*(const double *)at * share_unit + 0.5);
    return figure->form == TOOL_ROW ? *(const uint32_t *)at : *(const uint64_t *)at;
}

static uint64_t sum_of(const char *key, const struct wm_profile_row *row)
{
    const struct tool_figure *figure = key ? tool_find_key(key) : NULL;
    return figure && (!figure->has || figure->has(row)) ? whole_of(figure, row) : 0;
}

void tool_sums_add(struct tool_sums *sums, const struct wm_profile_row *row)
{
    for (size_t i = 0; i < tool_figure_count; i++) {
        const struct tool_figure *figure = &tool_figures[i];
        if (figure->has && !figure->has(row))
            continue;
        sums->has[i] = true;
        if (figure->form != TOOL_RATIO) {
            sums->value[i] += whole_of(figure, row);
        } else {
            sums->value[i] += sum_of(figure->top[0], row) + sum_of(figure->top[1], row);
            sums->divisor[i] += sum_of(figure->bottom, row);
        }
    }
    sums->rows++;
}

bool tool_figure_is_whole(const struct tool_figure *figure)
{
    return figure->form == TOOL_SUM || figure->form == TOOL_ROW;
}

bool tool_figure_value(const struct tool_figure *figure, const struct tool_sums *sums, double *value)
{
    const size_t i = (size_t)(figure - tool_figures);
    const bool ratio = figure->form == TOOL_RATIO;
    if (!sums->has[i] || (ratio && !sums->divisor[i]) || (figure->form == TOOL_ROW && sums->rows > 1))
        return false;
    *value = (double)sums->value[i] / (ratio                        ? (double)sums->divisor[i]
                                       : figure->form == TOOL_SHARE ? share_unit
                                                                    : 1);
    return true;
}

void tool_figure_text(const struct tool_figure *figure, const struct tool_sums *sums, char text[32])
{
    double value;
    if (!tool_figure_value(figure, sums, &value))
        strcpy(text, "-");
    else if (tool_figure_is_whole(figure))
        snprintf(text, 32, "%" PRIu64, sums->value[figure - tool_figures]);
    else if (*figure->unit == '%')
        snprintf(text, 32, "%.1f%%", 100 * value);
    else
        snprintf(text, 32, "%.1f", value);
}

json_t *tool_figure_json(const struct tool_figure *figure, const struct tool_sums *sums)
{
    double value;
    if (!tool_figure_value(figure, sums, &value))
        return json_null();
    return tool_figure_is_whole(figure) ? json_integer((json_int_t)sums->value[figure - tool_figures])
                                        : json_real(value);
}

void tool_figures_json(json_t *object, const struct tool_sums *sums, bool several)
{
    for (size_t i = 0; i < tool_figure_count; i++)
        if (!several || tool_figures[i].form != TOOL_ROW)
            json_object_set_new(object, tool_figures[i].key, tool_figure_json(&tool_figures[i], sums));
}
