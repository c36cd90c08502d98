/* SPDX-License-Identifier: MIT */
/* The profile as one HTML file that needs nothing else: tables, and of each instruction one real wave drawn
 * onto cache lines or LDS banks. Everything is there without scripts; those sort tables. */
#include "html.h"

#include "html_page.h"
#include "tool.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    LANES = 64,
    DWORD = 4,
    LINE = 64, /* bytes, as the column `lines` counts them */
    LINE_DWORDS = LINE / DWORD,
    BANKS = 32, /* of all targets' LDS */
    MOST_LINES = 128,
    CELL = 10, /* pixels */
    LINES_A_ROW = 4,
};

/* ---- text ---- */

/* Names and sources come from strangers. */
static void put_text(FILE *file, const char *text)
{
    static const struct {
        char character;
        const char *entity;
    } entities[] = {{'<', "&lt;"}, {'>', "&gt;"}, {'&', "&amp;"}, {'"', "&quot;"}, {'\'', "&#39;"}};
    for (; *text; text++) {
        const char *entity = NULL;
        for (size_t i = 0; i < sizeof entities / sizeof *entities; i++)
            if (*text == entities[i].character)
                entity = entities[i].entity;
        if (entity)
            fputs(entity, file);
        else if ((unsigned char)*text >= ' ' && *text != 0x7f)
            fputc(*text, file);
    }
}

static void put_source(FILE *file, const struct wm_profile_row *row)
{
    const char *slash = row->file ? strrchr(row->file, '/') : NULL;
    fputs("<td class=\"l code\">", file);
    if (row->file) {
        put_text(file, slash ? slash + 1 : row->file);
        fprintf(file, ":%u", row->line);
    }
    fputs("</td>", file);
}

/* ---- the table ---- */

static double average(uint64_t sum, uint64_t runs)
{
    return runs ? (double)sum / (double)runs : 0;
}

static void put_number(FILE *file, bool has, const char *format, double value)
{
    fputs("<td>", file);
    if (has)
        fprintf(file, format, value);
    fputs("</td>", file);
}

/* With a bar as long as the waste. */
static void put_efficiency(FILE *file, bool has_lines, uint64_t lines, uint64_t ideal)
{
    if (!has_lines || !lines) {
        fputs("<td></td>", file);
        return;
    }
    const double efficiency = (double)ideal / (double)lines;
    fprintf(file, "<td class=\"heat\" style=\"--h:%.0f%%\" data-v=\"%.6f\">%.1f%%</td>",
            100 - 100 * efficiency, efficiency, 100 * efficiency);
}

static void put_row(FILE *file, const struct wm_profile_row *row, size_t number)
{
    const uint64_t runs = row->executions;
    fputs("<tr>", file);
    put_efficiency(file, row->has_lines, row->lines, row->ideal_lines);
    put_number(file, true, "%.0f", (double)runs);
    put_number(file, strcmp(row->path, "SMEM") != 0, "%.1f", average(row->lanes, runs));
    put_number(file, true, "%.0f", row->bytes);
    put_number(file, row->has_lines, "%.0f", (double)row->lines);
    put_number(file, row->has_lines, "%.0f", (double)row->ideal_lines);
    put_number(file, row->has_vector || row->has_lds, "%.1f",
               average(row->address_clocks + row->lds_passes, runs));
    put_number(file, row->has_lds, "%.1f", average(row->lds_conflicts, runs));
    put_source(file, row);
    fprintf(file, "<td class=\"l code\" data-v=\"%" PRIu64 "\">", row->pc);
    put_text(file, row->kernel);
    fprintf(file, "+0x%" PRIx64 "</td><td class=\"l code\"><a href=\"#i%zu\">", row->offset, number);
    put_text(file, row->text);
    fputs("</a></td></tr>\n", file);
}

static void put_table(FILE *file, const struct wm_profile_row *const *rows, size_t count)
{
    fputs("<h2>Instructions</h2>\n<div class=\"wide\"><table class=\"sortable\"><thead><tr>"
          "<th>efficiency</th><th>runs</th><th>lanes</th><th>bytes</th><th>lines</th><th>ideal</"
          "th><th>clocks</th>"
          "<th>conflicts</th><th class=\"l\">source</th><th class=\"l\">offset</th><th "
          "class=\"l\">instruction</th>"
          "</tr></thead><tbody>\n",
          file);
    for (size_t i = 0; i < count; i++)
        put_row(file, rows[i], i);
    fputs("</tbody></table></div>\n", file);
}

static void put_source_lines(FILE *file, const json_t *lines)
{
    const json_t *line;
    size_t index;
    if (!json_array_size(lines))
        return;
    fputs(
        "<h2>Source lines</h2>\n<div class=\"wide\"><table class=\"sortable\"><thead><tr><th>efficiency</th>"
        "<th>runs</th><th>lines</th><th>ideal</th><th>address clocks</th><th>LDS "
        "passes</th><th>conflicts</th>"
        "<th class=\"l\">source</th></tr></thead><tbody>\n",
        file);
    json_array_foreach(lines, index, line)
    {
        static const char *const sums[] = {"executions",     "lines",      "ideal_lines",
                                           "address_clocks", "lds_passes", "lds_conflicts"};
        const json_t *all = json_object_get(line, "lines");
        fputs("<tr>", file);
        put_efficiency(file, json_is_integer(all), (uint64_t)json_integer_value(all),
                       (uint64_t)json_integer_value(json_object_get(line, "ideal_lines")));
        for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
            const json_t *sum = json_object_get(line, sums[i]);
            put_number(file, json_is_integer(sum), "%.0f", json_number_value(sum));
        }
        fputs("<td class=\"l code\">", file);
        put_text(file, json_string_value(json_object_get(line, "file")));
        fprintf(file, ":%lld</td></tr>\n", (long long)json_integer_value(json_object_get(line, "line")));
    }
    fputs("</tbody></table></div>\n", file);
}

/* ---- drawings ---- */

/* One colour for each of many neighbours. */
static unsigned hue(size_t number)
{
    return (unsigned)(number * 137 % 360);
}

static void put_cell(FILE *file, unsigned x, unsigned y, size_t colour, bool marked)
{
    fprintf(file, "<rect x=\"%u\" y=\"%u\" width=\"%d\" height=\"%d\" rx=\"1\" fill=\"hsl(%u 65%% 55%%)\"%s>",
            x, y, CELL - 1, CELL - 1, hue(colour), marked ? " class=\"hit\"" : "");
}

static void put_empty_cell(FILE *file, unsigned x, unsigned y)
{
    fprintf(file, "<rect x=\"%u\" y=\"%u\" width=\"%d\" height=\"%d\" rx=\"1\" class=\"empty\"/>", x, y,
            CELL - 1, CELL - 1);
}

/* The lanes in their order, each in the colour of where it goes; colour[lane] < 0: nowhere. */
static void put_lanes(FILE *file, const struct wm_profile_wave *wave, const int colour[LANES])
{
    fputs("<text x=\"0\" y=\"10\">lanes 0 to 63</text>", file);
    for (unsigned lane = 0; lane < LANES; lane++) {
        if (colour[lane] < 0) {
            put_empty_cell(file, lane * CELL, 16);
            continue;
        }
        put_cell(file, lane * CELL, 16, (size_t)colour[lane], false);
        fprintf(file, "<title>lane %u: 0x%" PRIx64 "</title></rect>", lane, wave->address[lane]);
    }
}

static void open_drawing(FILE *file, unsigned height, const char *what)
{
    fprintf(file, "<svg viewBox=\"0 0 %d %u\" width=\"%d\" role=\"img\" aria-label=\"%s\">",
            LANES * CELL + 60, height, LANES * CELL + 60, what);
}

/* The different lines in the order of their addresses; MOST_LINES at most. */
static size_t find_lines(const struct wm_profile_wave *wave, uint64_t lines[MOST_LINES])
{
    size_t count = 0;
    for (unsigned lane = 0; lane < LANES; lane++) {
        if (!(wave->lanes >> lane & 1))
            continue;
        for (uint64_t line = wave->address[lane] / LINE;
             line <= (wave->address[lane] + wave->bytes - 1) / LINE; line++) {
            size_t at = 0;
            while (at < count && lines[at] < line)
                at++;
            if ((at < count && lines[at] == line) || count == MOST_LINES)
                continue;
            memmove(&lines[at + 1], &lines[at], (count - at) * sizeof *lines);
            lines[at] = line;
            count++;
        }
    }
    return count;
}

static bool asks_for(const struct wm_profile_wave *wave, unsigned lane, uint64_t dword)
{
    const uint64_t first = wave->address[lane] / DWORD,
                   last = (wave->address[lane] + wave->bytes - 1) / DWORD;
    return wave->lanes >> lane & 1 && first <= dword && dword <= last;
}

/* Which lanes ask for the dword, as words. */
static unsigned put_who(FILE *file, const struct wm_profile_wave *wave, uint64_t dword)
{
    unsigned lanes = 0;
    fprintf(file, "<title>0x%" PRIx64 ": lanes", dword * DWORD);
    for (unsigned lane = 0; lane < LANES; lane++)
        if (asks_for(wave, lane, dword)) {
            fprintf(file, " %u", lane);
            lanes++;
        }
    fputs("</title></rect>", file);
    return lanes;
}

static bool is_wanted(const struct wm_profile_wave *wave, uint64_t dword)
{
    for (unsigned lane = 0; lane < LANES; lane++)
        if (asks_for(wave, lane, dword))
            return true;
    return false;
}

static void draw_lines(FILE *file, const struct wm_profile_wave *wave)
{
    uint64_t lines[MOST_LINES + 1];
    const size_t count = find_lines(wave, lines);
    int colour[LANES];
    for (unsigned lane = 0; lane < LANES; lane++) {
        colour[lane] = -1;
        for (size_t i = 0; i < count; i++)
            if (wave->lanes >> lane & 1 && wave->address[lane] / LINE == lines[i])
                colour[lane] = (int)i;
    }
    const unsigned rows = (unsigned)(count + LINES_A_ROW - 1) / LINES_A_ROW;
    open_drawing(file, 44 + rows * 28, "lanes of one wave on cache lines");
    put_lanes(file, wave, colour);
    for (size_t i = 0; i < count; i++) {
        const unsigned x = (unsigned)(i % LINES_A_ROW) * (LINE_DWORDS + 1) * CELL;
        const unsigned y = 44 + (unsigned)(i / LINES_A_ROW) * 28;
        fprintf(file, "<text x=\"%u\" y=\"%u\">0x%" PRIx64 "</text>", x, y + 8, lines[i] * LINE);
        for (unsigned dword = 0; dword < LINE_DWORDS; dword++) {
            const uint64_t at = lines[i] * LINE_DWORDS + dword;
            if (is_wanted(wave, at)) {
                put_cell(file, x + dword * CELL, y + 12, i, false);
                put_who(file, wave, at);
            } else {
                put_empty_cell(file, x + dword * CELL, y + 12);
            }
        }
    }
    fputs("</svg>\n", file);
}

/* Banks from left to right, each with the different dwords that the wave wants of it; those of the row's
 * worst conflict are marked. */
static void draw_banks(FILE *file, const struct wm_profile_row *row)
{
    const struct wm_profile_wave *wave = row->wave;
    uint64_t dwords[BANKS][LANES * 2];
    unsigned depth[BANKS] = {0}, deepest = 0;
    int colour[LANES];
    for (unsigned lane = 0; lane < LANES; lane++) {
        colour[lane] = -1;
        if (!(wave->lanes >> lane & 1))
            continue;
        colour[lane] = (int)(wave->address[lane] / DWORD % BANKS);
        for (uint64_t dword = wave->address[lane] / DWORD;
             dword <= (wave->address[lane] + wave->bytes - 1) / DWORD; dword++) {
            const unsigned bank = dword % BANKS;
            unsigned at = 0;
            while (at < depth[bank] && dwords[bank][at] != dword)
                at++;
            if (at == depth[bank] && at < LANES * 2)
                dwords[bank][depth[bank]++] = dword;
            deepest = depth[bank] > deepest ? depth[bank] : deepest;
        }
    }
    open_drawing(file, 60 + deepest * CELL, "lanes of one wave on LDS banks");
    put_lanes(file, wave, colour);
    fputs("<text x=\"0\" y=\"44\">banks 0 to 31: the different dwords that the wave wants of each</text>",
          file);
    for (unsigned bank = 0; bank < BANKS; bank++) {
        if (!depth[bank])
            put_empty_cell(file, bank * 2 * CELL, 50);
        for (unsigned i = 0; i < depth[bank]; i++) {
            bool marked = false;
            for (unsigned lane = 0; lane < LANES; lane++)
                marked |= row->lds_depth > 1 && bank == row->lds_bank && row->lds_lanes >> lane & 1 &&
                          asks_for(wave, lane, dwords[bank][i]);
            put_cell(file, bank * 2 * CELL, 50 + i * CELL, bank, marked);
            put_who(file, wave, dwords[bank][i]);
        }
    }
    fputs("</svg>\n", file);
}

static void draw_histogram(FILE *file, const uint64_t *histogram)
{
    enum { HEIGHT = 60 };
    uint64_t most = 1;
    for (unsigned i = 0; i <= WM_PROFILE_LINES; i++)
        most = histogram[i] > most ? histogram[i] : most;
    open_drawing(file, HEIGHT + 28, "runs by lines touched");
    fputs("<text x=\"0\" y=\"10\">runs by the lines that they touch, 0 to 64 and more</text>", file);
    for (unsigned i = 0; i <= WM_PROFILE_LINES; i++) {
        const double height = HEIGHT * (double)histogram[i] / (double)most;
        fprintf(
            file,
            "<rect x=\"%u\" y=\"%.1f\" width=\"%d\" height=\"%.1f\" class=\"%s\"><title>%u lines: %" PRIu64
            " runs</title></rect>",
            i * CELL, 14 + HEIGHT - (height < 1 ? 1 : height), CELL - 1, height < 1 ? 1 : height,
            histogram[i] ? "bar" : "empty", i, histogram[i]);
        if (i % 8 == 0)
            fprintf(file, "<text x=\"%u\" y=\"%d\">%u</text>", i * CELL, HEIGHT + 26, i);
    }
    fputs("</svg>\n", file);
}

static void put_details(FILE *file, const struct wm_profile_row *row, size_t number)
{
    const struct wm_profile_wave *wave = row->wave;
    fprintf(file, "<details id=\"i%zu\"><summary>", number);
    put_text(file, row->kernel);
    fprintf(file, "+0x%" PRIx64 "  ", row->offset);
    put_text(file, row->text);
    fputs("</summary>\n", file);
    fprintf(file, "<p>%s %s, %" PRIu32 " bytes a lane. ", row->path, row->operation, row->bytes);
    if (row->has_vector)
        fprintf(file,
                "%" PRIu64 " of %" PRIu64 " runs took the address unit's fast path; %.1f tag lookups, %.1f "
                "read, %.1f write and %.1f atomic requests to L2 a run. ",
                row->fast, row->executions, average(row->tag_lookups, row->executions),
                average(row->read_requests, row->executions), average(row->write_requests, row->executions),
                average(row->atomic_requests, row->executions));
    if (row->lds_depth > 1)
        fprintf(file, "At worst %" PRIu32 " different dwords of bank %" PRIu32 " are wanted at once. ",
                row->lds_depth, row->lds_bank);
    fputs("</p>\n", file);
    if (wave) {
        fprintf(file, "<p>Workgroup %" PRIu32 ",%" PRIu32 ",%" PRIu32 ", wave %" PRIu32 ":</p>\n",
                wave->workgroup[0], wave->workgroup[1], wave->workgroup[2], wave->wave);
        if (wave->in_lds)
            draw_banks(file, row);
        else
            draw_lines(file, wave);
    }
    if (row->has_lines)
        draw_histogram(file, row->lines_histogram);
    fputs("</details>\n", file);
}

/* ---- the page ---- */

static void put_card(FILE *file, const char *title, bool has, const char *format, double value)
{
    if (!has)
        return;
    fputs("<div class=\"card\"><b>", file);
    fprintf(file, format, value);
    fprintf(file, "</b><span>%s</span></div>", title);
}

static void put_head(FILE *file, const json_t *report)
{
    static const struct {
        const char *key, *title, *format;
        double scale;
    } cards[] = {
        {"executions", "runs of memory instructions", "%.0f", 1},
        {"efficiency", "of the lines touched are needed", "%.1f%%", 100},
        {"lines", "64-byte lines touched", "%.0f", 1},
        {"address_clocks", "clocks of the address unit", "%.0f", 1},
        {"lds_passes", "passes over LDS banks", "%.0f", 1},
        {"lds_conflicts", "of them for conflicts", "%.0f", 1},
    };
    const json_t *totals = json_object_get(report, "totals"), *dispatch;
    size_t index;
    fputs("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
          "<meta name=\"viewport\" content=\"width=device-width\"><title>wavemem prof</title>\n<style>\n",
          file);
    fputs(page_css, file);
    fputs("</style></head><body>\n<h1>What the memory costs</h1>\n", file);
    json_array_foreach(json_object_get(report, "dispatches"), index, dispatch)
    {
        const char *kernel = json_string_value(json_object_get(dispatch, "kernel"));
        const char *target = json_string_value(json_object_get(dispatch, "target"));
        const json_t *grid = json_object_get(dispatch, "grid"),
                     *workgroup = json_object_get(dispatch, "workgroup");
        fputs("<p class=\"sub\"><code>", file);
        put_text(file, kernel ? kernel : "");
        fputs("</code> on ", file);
        put_text(file, target ? target : "");
        fputs(", grid", file);
        for (size_t i = 0; i < json_array_size(grid); i++)
            fprintf(file, "%s%lld", i ? "," : " ", (long long)json_integer_value(json_array_get(grid, i)));
        fputs(", workgroup", file);
        for (size_t i = 0; i < json_array_size(workgroup); i++)
            fprintf(file, "%s%lld", i ? "," : " ",
                    (long long)json_integer_value(json_array_get(workgroup, i)));
        fputs("</p>\n", file);
    }
    fputs("<div class=\"cards\">", file);
    for (size_t i = 0; i < sizeof cards / sizeof *cards; i++) {
        const json_t *figure = json_object_get(totals, cards[i].key);
        put_card(file, cards[i].title, json_is_number(figure), cards[i].format,
                 cards[i].scale * json_number_value(figure));
    }
    fputs("</div>\n", file);
}

int tool_write_html(const struct wm_profile_row *const *rows, size_t count, const json_t *report,
                    const char *path)
{
    FILE *file = fopen(path, "w");
    if (!file)
        return tool_fail("--html %s: cannot be written: %s", path, strerror(errno));
    put_head(file, report);
    put_table(file, rows, count);
    put_source_lines(file, json_object_get(report, "source_lines"));
    fputs("<h2>One wave of each instruction</h2>\n", file);
    for (size_t i = 0; i < count; i++)
        put_details(file, rows[i], i);
    fputs("<script>\n", file);
    fputs(page_js, file);
    fputs("</script>\n</body></html>\n", file);
    const bool good = !ferror(file);
    return fclose(file) == 0 && good ? TOOL_CLEAN : tool_fail("--html %s: could not be written", path);
}
