/* SPDX-License-Identifier: MIT */
/* Drawings in the page of `prof --html`: one wave of an instruction on cache lines or LDS banks, and a
 * histogram of the lines per execution. */
#include "tool/html/parts.h"

#include <inttypes.h>
#include <string.h>

enum {
    LANES = 64,
    DWORD = 4,
    BANKS = 32, /* LDS banks of all current targets */
    MOST_LINES = 128,
    CELL = 10, /* pixels */
    DWORDS_A_ROW = 64,
};

/* A hue that differs from those of neighbouring numbers. */
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

/* Draws the lanes in order, each in the colour of its line or bank; colour[lane] < 0: inactive. Omits the
 * upper half if none of its lanes is active, because the wave may have only 32 lanes. */
static void put_lanes(FILE *file, const struct wm_profile_wave *wave, const int colour[LANES])
{
    const unsigned lanes = wave->lanes >> 32 ? LANES : LANES / 2;
    fprintf(file, "<text x=\"0\" y=\"10\">lanes 0 to %u</text>", lanes - 1);
    for (unsigned lane = 0; lane < lanes; lane++) {
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

/* Lists the distinct lines, at most MOST_LINES, sorted by address. */
static size_t find_lines(const struct wm_profile_wave *wave, uint32_t line_bytes, uint64_t lines[MOST_LINES])
{
    size_t count = 0;
    for (unsigned lane = 0; lane < LANES; lane++) {
        if (!(wave->lanes >> lane & 1))
            continue;
        for (uint64_t line = wave->address[lane] / line_bytes;
             line <= (wave->address[lane] + wave->bytes - 1) / line_bytes; line++) {
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

/* Writes which lanes access the dword. */
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

static void draw_lines(FILE *file, const struct wm_profile_row *row)
{
    const struct wm_profile_wave *wave = row->wave;
    const uint32_t bytes = row->line_bytes ? row->line_bytes : 64, dwords = bytes / DWORD;
    const uint32_t lines_a_row = DWORDS_A_ROW / dwords;
    uint64_t lines[MOST_LINES + 1];
    const size_t count = find_lines(wave, bytes, lines);
    int colour[LANES];
    for (unsigned lane = 0; lane < LANES; lane++) {
        colour[lane] = -1;
        for (size_t i = 0; i < count; i++)
            if (wave->lanes >> lane & 1 && wave->address[lane] / bytes == lines[i])
                colour[lane] = (int)i;
    }
    const unsigned rows = (unsigned)(count + lines_a_row - 1) / lines_a_row;
    open_drawing(file, 44 + rows * 28, "lanes of one wave on cache lines");
    put_lanes(file, wave, colour);
    for (size_t i = 0; i < count; i++) {
        const unsigned x = (unsigned)(i % lines_a_row) * (dwords + 1) * CELL;
        const unsigned y = 44 + (unsigned)(i / lines_a_row) * 28;
        fprintf(file, "<text x=\"%u\" y=\"%u\">0x%" PRIx64 "</text>", x, y + 8, lines[i] * bytes);
        for (unsigned dword = 0; dword < dwords; dword++) {
            const uint64_t at = lines[i] * dwords + dword;
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

/* Draws the banks from left to right, each with the distinct dwords that the wave accesses in it; those of
 * the row's worst conflict are marked. */
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

void html_drawings(FILE *file, const struct wm_profile_row *row)
{
    const struct wm_profile_wave *wave = row->wave;
    if (wave && wave->bytes) {
        fprintf(file, "<p>Workgroup %" PRIu32 ",%" PRIu32 ",%" PRIu32 ", wave %" PRIu32 ":</p>\n",
                wave->workgroup[0], wave->workgroup[1], wave->workgroup[2], wave->wave);
        if (wave->in_lds)
            draw_banks(file, row);
        else
            draw_lines(file, row);
    }
    if (row->has_lines)
        draw_histogram(file, row->lines_histogram);
}
