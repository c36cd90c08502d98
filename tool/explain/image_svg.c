/* SPDX-License-Identifier: MIT */
/* Draws a block of a surface: a square per element, coloured by its address; cache lines and the order of
 * elements can be seen. */
#include "tool/explain/image.h"
#include "tool/output.h"
#include "tool/tool.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    LEFT = 40,
    TOP = 56,
    SIDE = 1024,     /* of the picture at most, pixels */
    MOST = 128,      /* elements drawn in each direction */
    NAMED = 28,      /* smallest square with its address in it */
    LINEAR_SIDE = 32 /* elements, where there is no block */
};

/* The part that is drawn: from the first element of the block, as far as the level reaches. */
struct area {
    uint32_t x, y, width, height;
    uint64_t low, high; /* addresses */
};

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static uint64_t offset_of(const struct wm_surface *surface, const struct wm_surface_place *place, uint32_t x,
                          uint32_t y)
{
    struct wm_surface_place at = *place;
    uint64_t offset = 0;
    at.x = x;
    at.y = y;
    wm_surface_offset(surface, &at, &offset, NULL);
    return offset;
}

static struct area area_of(const struct wm_surface *surface, const struct wm_surface_place *place)
{
    const struct wm_surface_layout *l = wm_surface_layout(surface);
    const uint32_t width = l->block[0] ? l->block[0] : LINEAR_SIDE;
    const uint32_t height = l->block[1] ? l->block[1] : LINEAR_SIDE;
    struct area a = {.x = place->x / width * width, .y = place->y / height * height, .low = UINT64_MAX};
    a.width = least(least(width, MOST), l->level[place->level].width - a.x);
    a.height = least(least(height, MOST), l->level[place->level].height - a.y);
    for (uint32_t y = 0; y < a.height; y++)
        for (uint32_t x = 0; x < a.width; x++) {
            const uint64_t offset = offset_of(surface, place, a.x + x, a.y + y);
            a.low = offset < a.low ? offset : a.low;
            a.high = offset > a.high ? offset : a.high;
        }
    return a;
}

static void draw(FILE *file, const struct wm_surface *surface, const struct wm_surface_place *place)
{
    const struct wm_surface_layout *l = wm_surface_layout(surface);
    const struct area a = area_of(surface, place);
    const uint32_t longer = a.width > a.height ? a.width : a.height;
    const double side = (double)SIDE / longer < 48 ? (double)SIDE / longer : 48;
    fprintf(file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
            "font-family=\"sans-serif\" font-size=\"11\">\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n"
            "<text x=\"10\" y=\"20\" font-size=\"14\">%s, %s: %" PRIu32 " x %" PRIu32 " elements of %" PRIu32
            " bytes from (%" PRIu32 ", %" PRIu32 ") of level %" PRIu32
            "</text>\n<text x=\"10\" y=\"38\">offsets 0x%" PRIx64 " (blue) to 0x%" PRIx64
            " (red); a frame around elements of the same 128 bytes</text>\n",
            LEFT + a.width * side + 20, TOP + a.height * side + 20, l->mode, l->product, a.width, a.height,
            l->bytes_per_element, a.x, a.y, place->level, a.low, a.high);
    for (uint32_t y = 0; y < a.height; y++)
        for (uint32_t x = 0; x < a.width; x++) {
            const uint64_t offset = offset_of(surface, place, a.x + x, a.y + y);
            const double part = a.high > a.low ? (double)(offset - a.low) / (double)(a.high - a.low) : 0;
            const double left = LEFT + x * side, top = TOP + y * side;
            fprintf(file,
                    "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" "
                    "fill=\"hsl(%.0f,75%%,60%%)\"><title>(%" PRIu32 ", %" PRIu32 "): 0x%" PRIx64
                    "</title></rect>\n",
                    left, top, side, side, 240 * (1 - part), a.x + x, a.y + y, offset);
            if (x && offset / 128 != offset_of(surface, place, a.x + x - 1, a.y + y) / 128)
                fprintf(file, "<path d=\"M%.2f %.2fv%.2f\" stroke=\"#222\" stroke-width=\"0.8\"/>\n", left,
                        top, side);
            if (y && offset / 128 != offset_of(surface, place, a.x + x, a.y + y - 1) / 128)
                fprintf(file, "<path d=\"M%.2f %.2fh%.2f\" stroke=\"#222\" stroke-width=\"0.8\"/>\n", left,
                        top, side);
            if (side >= NAMED)
                fprintf(file, "<text x=\"%.2f\" y=\"%.2f\" text-anchor=\"middle\">%" PRIx64 "</text>\n",
                        left + side / 2, top + side / 2 + 4, offset);
        }
    fputs("</svg>\n", file);
}

int explain_draw(const char *path, const struct wm_surface *surface, const struct wm_surface_place *place)
{
    struct tool_file file;
    if (!tool_begin_file(&file, "--draw", path))
        return TOOL_WRONG;
    draw(file.whole.stream, surface, place);
    return tool_end_file(&file);
}
