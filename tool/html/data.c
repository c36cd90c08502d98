/* SPDX-License-Identifier: MIT */
/* What the page's script needs to show all figures of an instruction and to draw one of its waves. Written
 * once and compactly: drawings of 400 instructions would take 20 MB. */
#include "tool/html/parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Lane mask as hexadecimal; address of the first active lane as hexadecimal, then the distance of each
 * further active lane from the one before. */
static json_t *json_wave(const struct wm_profile_row *row)
{
    const struct wm_profile_wave *wave = row->wave;
    if (!wave || !wave->bytes || !wave->lanes)
        return json_null();
    json_t *distances = json_array();
    uint64_t before = 0;
    bool first = true;
    json_t *base = NULL;
    for (unsigned lane = 0; lane < 64; lane++) {
        if (!(wave->lanes >> lane & 1))
            continue;
        if (first)
            base = json_sprintf("%" PRIx64, wave->address[lane]);
        else
            json_array_append_new(distances, json_integer((json_int_t)(wave->address[lane] - before)));
        before = wave->address[lane];
        first = false;
    }
    return json_pack("{s:b, s:I, s:o, s:o, s:o}", "lds", wave->in_lds, "bytes", (json_int_t)wave->bytes,
                     "lanes", json_sprintf("%" PRIx64, wave->lanes), "base", base, "apart", distances);
}

/* Pairs of lines and requests, without zeros. */
static json_t *json_histogram(const struct wm_profile_row *row)
{
    json_t *pairs = json_array();
    for (unsigned i = 0; row->has_lines && row->lines_histogram && i <= WM_PROFILE_LINES; i++)
        if (row->lines_histogram[i])
            json_array_append_new(pairs,
                                  json_pack("[I, I]", (json_int_t)i, (json_int_t)row->lines_histogram[i]));
    return pairs;
}

static void add_sentence(json_t *sentences, const char *text)
{
    json_array_append_new(sentences, json_string(text));
}

static json_t *json_sentences(const struct wm_profile_row *row)
{
    char text[512], lanes[256];
    json_t *sentences = json_array();
    const struct wm_profile_wave *wave = row->wave;
    if (row->has_vector) {
        snprintf(text, sizeof text,
                 "%" PRIu64 " of %" PRIu64 " requests took the address unit\u2019s fast path.", row->fast,
                 row->executions);
        add_sentence(sentences, text);
    }
    if (row->lds_depth > 1) {
        snprintf(text, sizeof text,
                 "At worst, lanes %s access %" PRIu32 " distinct dwords of bank %" PRIu32 ".",
                 tool_lane_list(row->lds_lanes, lanes), row->lds_depth, row->lds_bank);
        add_sentence(sentences, text);
    }
    if (wave && wave->bytes) {
        snprintf(text, sizeof text,
                 "Drawn: workgroup %" PRIu32 ",%" PRIu32 ",%" PRIu32 ", wave %" PRIu32 ", %" PRIu32
                 " bytes per lane.",
                 wave->workgroup[0], wave->workgroup[1], wave->workgroup[2], wave->wave, wave->bytes);
        add_sentence(sentences, text);
    }
    return sentences;
}

static json_t *json_values(const struct wm_profile_row *row)
{
    json_t *values = json_array();
    struct tool_sums sums = {0};
    tool_sums_add(&sums, row);
    for (size_t i = 0; i < tool_figure_count; i++) {
        char text[32];
        double value;
        tool_figure_text(&tool_figures[i], &sums, text);
        json_array_append_new(values, tool_figure_value(&tool_figures[i], &sums, &value) ? json_string(text)
                                                                                         : json_integer(0));
    }
    return values;
}

static json_t *json_instruction(const struct wm_profile_row *row)
{
    return json_pack("{s:o, s:o, s:o, s:I, s:o, s:o}", "said", json_sentences(row), "values",
                     json_values(row), "wave", json_wave(row), "line",
                     (json_int_t)(row->line_bytes ? row->line_bytes : 64), "lines", json_histogram(row),
                     "bank", row->lds_depth > 1 ? json_integer((json_int_t)row->lds_bank) : json_null());
}

void html_data(FILE *file, const struct tool_report *report)
{
    json_t *figures = json_array(), *rows = json_array();
    for (size_t i = 0; i < tool_figure_count; i++)
        json_array_append_new(
            figures, json_pack("[s, s]", tool_figure_title(&tool_figures[i]), tool_figures[i].meaning));
    for (size_t i = 0; i < report->count; i++)
        json_array_append_new(rows, json_instruction(report->rows[i]));
    json_t *data = json_pack("{s:o, s:o}", "figures", figures, "rows", rows);
    char *text = json_dumps(data, JSON_COMPACT | JSON_ENSURE_ASCII);
    fputs("<script type=\"application/json\" id=\"data\">", file);
    for (const char *at = text; at && *at; at++) /* so that no text can end the element */
        if (*at == '<')
            fputs("\\u003c", file);
        else
            fputc(*at, file);
    fputs("</script>\n", file);
    free(text);
    json_decref(data);
}
