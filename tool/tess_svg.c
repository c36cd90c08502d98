/* SPDX-License-Identifier: MIT */
/* Draws a tessellation buffer: a row per attribute, in it a box per patch with marks between vertices. */
#include "tool/output.h"
#include "tool/tess.h"
#include "tool/tool.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    LEFT = 150, /* of the boxes, in pixels; names are left of them */
    TOP = 44,
    ROW = 30,
    BOX = 22,
    WIDTH = 960, /* of the widest row */
    MARKS = 400, /* vertices are marked if a row has at most this many */
    NAMED = 24,  /* minimum width of a box with its patch's number */
};

static void draw_box(FILE *file, const struct wm_tess_layout *l, uint32_t patch, double at, int top,
                     double width, uint32_t vertices)
{
    fprintf(file,
            "<rect x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"%d\" fill=\"hsl(%" PRIu32
            ",60%%,%d%%)\" stroke=\"#444\" stroke-width=\"0.5\"/>\n",
            at, top, width, BOX, patch * 137 % 360, patch % 2 ? 72 : 82);
    for (uint32_t vertex = 1; vertex < vertices && l->patches * vertices <= MARKS; vertex++)
        fprintf(file, "<path d=\"M%.2f %dv%d\" stroke=\"#444\" stroke-width=\"0.3\"/>\n",
                at + width * vertex / vertices, top, BOX);
    if (width >= NAMED)
        fprintf(file, "<text x=\"%.2f\" y=\"%d\" text-anchor=\"middle\">%" PRIu32 "</text>\n", at + width / 2,
                top + 15, patch);
}

static void draw(FILE *file, const struct wm_tess_layout *l)
{
    const uint32_t rows = l->attributes + l->patch_attributes;
    const double scale = (double)WIDTH / l->attribute_stride;
    fprintf(file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%u\" "
            "font-family=\"sans-serif\" font-size=\"11\">\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n"
            "<text x=\"10\" y=\"20\" font-size=\"14\">%s: %" PRIu32 " patches of %" PRIu32
            " vertices, %" PRIu32 " bytes</text>\n",
            LEFT + WIDTH + 20, TOP + rows * ROW + 10, l->name, l->patches, l->vertices, l->size);
    for (uint32_t i = 0; i < rows; i++) {
        const bool per_patch = i >= l->attributes;
        const uint32_t vertices = per_patch ? 1 : l->vertices, slot = per_patch ? i - l->attributes : i;
        const uint32_t begin =
            per_patch ? l->patch_data + slot * l->patch_stride : slot * l->attribute_stride;
        const int top = TOP + (int)i * ROW;
        fprintf(file, "<text x=\"10\" y=\"%d\">%" PRIu32 ": %s %" PRIu32 "</text>\n", top + 15, begin,
                per_patch ? "patch attribute" : "attribute", slot);
        for (uint32_t patch = 0; patch < l->patches; patch++)
            draw_box(file, l, patch, LEFT + scale * 16 * patch * vertices, top, scale * 16 * vertices,
                     vertices);
    }
    fputs("</svg>\n", file);
}

int tess_draw(const char *path, const struct wm_tess_layout *layout)
{
    struct tool_file file;
    if (!tool_begin_file(&file, "--svg", path))
        return TOOL_WRONG;
    draw(file.whole.stream, layout);
    return tool_end_file(&file);
}
