/* SPDX-License-Identifier: MIT */
/* wavemem explain image: where an image has a texel, and why there. */
#include "tool/explain/image.h"

#include "tool/explain/explain.h"
#include "tool/report/table.h"
#include "tool/tool.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: wavemem explain image -m TARGET [--gpu PRODUCT] [--at X,Y,Z,MIP,SAMPLE] [--json] [--draw FILE]\n"
    "                             WORD...\n"
    "\n"
    "Shows how an image resource (T#) is placed in memory, and how the address of a texel comes about: "
    "layer,\n"
    "level, block, the equation of the swizzle mode bit by bit, the place in the mip tail, the pipe/bank "
    "XOR.\n"
    "\n"
    "  wavemem explain image -m gfx1100 0x1000 0xc2a00000 0x010dc1df 0x91b00fac --at 5,7\n"
    "  wavemem explain image -m gfx1100 --gpu rx7900xtx 0x1000 0xc2a00000 0x010dc1df 0x91b00fac --draw "
    "block.svg\n"
    "\n"
    "Words that are not given are 0. Coordinates count texels of the image from level 0 and slice 0 of the\n"
    "resource, whatever its BASE_LEVEL and BASE_ARRAY; of compressed formats (BC1 to BC7), blocks of 4x4.\n"
    "\n"
    "  -m, --target NAME  the target: gfx803, gfx900, gfx1030 ...\n"
    "      --gpu PRODUCT  the product whose memory layout counts; default: the first one of the target.\n"
    "                     'list' prints all\n"
    "      --at X,Y,Z,MIP,SAMPLE\n"
    "                     the texel; numbers that are left out are 0. Z is the depth, slice or face\n"
    "      --draw FILE    draw the block with the texel as SVG, coloured by address\n"
    "      --json         write JSON\n"
    "\n"
    "Exit codes: 0 clean, 2 wrong usage or bad input.\n";

enum { WORDS = 8, AT = 1, GPU, HELP };

struct request {
    const char *target, *draw;
    const struct wm_gpu *gpu;
    struct wm_surface_place at;
    bool json, help;
    uint32_t words[WORDS];
    size_t word_count;
};

static const struct tool_option options[] = {
    {"target", 'm', TOOL_VALUE, TOOL_KEEP(target)},
    {"gpu", 0, TOOL_VALUE, GPU},
    {"at", 0, TOOL_VALUE, AT},
    {"draw", 0, TOOL_VALUE, TOOL_KEEP(draw)},
    {"json", 0, TOOL_NO_VALUE, TOOL_KEEP(json)},
    {"help", 'h', TOOL_NO_VALUE, HELP},
    {NULL, 0, TOOL_NO_VALUE, 0},
};

/* What is shown. */
struct answer {
    struct wm_surface *surface;
    const struct wm_surface_layout *layout;
    uint64_t base;
    struct wm_surface_steps steps;
};

/* ---- the command line ---- */

static int parse_at(struct request *r, const char *text)
{
    uint32_t *const numbers[] = {&r->at.x, &r->at.y, &r->at.z, &r->at.level, &r->at.sample};
    const char *at = text;
    for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        char part[16];
        uint64_t number;
        const size_t length = strcspn(at, ",");
        snprintf(part, sizeof part, "%.*s", (int)length, at);
        if (length >= sizeof part || !tool_parse_u64(part, &number) || number > UINT32_MAX)
            break;
        *numbers[i] = (uint32_t)number;
        at += length;
        if (!*at)
            return TOOL_CLEAN;
        at++;
    }
    return tool_fail("explain image: --at %s: expected X,Y,Z,MIP,SAMPLE, or the first of them", text);
}

static int parse_word(struct request *r, const char *text)
{
    uint64_t number;
    if (!tool_parse_u64(text, &number) || number > UINT32_MAX)
        return tool_fail("explain image: '%s': expected a word of 32 bits", text);
    if (r->word_count == WORDS)
        return tool_fail("explain image: '%s': a T# has %d words", text, WORDS);
    r->words[r->word_count++] = (uint32_t)number;
    return TOOL_CLEAN;
}

static int parse(int argc, char **argv, struct request *r)
{
    struct tool_words words = {
        .verb = "explain image", .options = options, .count = argc - 1, .words = argv + 1, .request = r};
    for (int id; (id = tool_next_option(&words)) != TOOL_OPTION_END;) {
        int code = TOOL_CLEAN;
        if (id == TOOL_OPTION_WRONG)
            return TOOL_WRONG;
        if (id == HELP) {
            r->help = true;
            return TOOL_CLEAN;
        }
        if (id == AT)
            code = parse_at(r, words.value);
        else if (id == GPU)
            code = tool_choose_gpu("explain image: ", words.value, &r->gpu);
        else if (id == TOOL_OPTION_OPERAND)
            code = parse_word(r, words.value);
        if (code != TOOL_CLEAN)
            return code;
    }
    if (!r->target)
        return tool_fail("explain image: a target is needed, like -m gfx1100");
    if (!r->word_count)
        return tool_fail("explain image: the words of the T# are needed");
    return TOOL_CLEAN;
}

/* ---- text ---- */

static void print_layout(const struct answer *a)
{
    const struct wm_surface_layout *l = a->layout;
    printf("%s%s%s: %" PRIu32 " x %" PRIu32 " x %" PRIu32 " elements of %" PRIu32 " bytes, %" PRIu32
           " level%s, %" PRIu32 " sample%s\n",
           l->mode, l->product[0] ? " of " : "", l->product, l->level[0].width, l->level[0].height, l->slices,
           l->bytes_per_element, l->levels, l->levels == 1 ? "" : "s", l->samples,
           l->samples == 1 ? "" : "s");
    if (l->block_bytes)
        printf("blocks of %" PRIu32 " x %" PRIu32 " x %" PRIu32 " elements, %" PRIu32 " bytes\n", l->block[0],
               l->block[1], l->block[2], l->block_bytes);
    printf("base 0x%" PRIx64 ", aligned to %" PRIu32 "; %" PRIu64 " bytes, %" PRIu64
           " from one %s to the next\n",
           a->base, l->alignment, l->bytes, l->layer, l->block[2] > 1 ? "layer of blocks" : "slice");
    for (uint32_t i = 0; i < l->levels && l->levels > 1; i++)
        printf("  level %2" PRIu32 ": %5" PRIu32 " x %-5" PRIu32 " at 0x%" PRIx64 "%s\n", i,
               l->level[i].width, l->level[i].height, l->level[i].offset,
               l->level[i].tail ? ", in the tail" : "");
}

static void print_equation(const struct wm_surface_steps *s)
{
    static const struct tool_column columns[] = {
        {"bit", TOOL_RIGHT, 0}, {"is", TOOL_LEFT, 0}, {"value", TOOL_RIGHT, 0}};
    struct tool_table table = {columns, sizeof columns / sizeof columns[0], NULL, 0};
    for (uint32_t i = s->bits; i-- > 0;) {
        tool_table_cell(&table, "%" PRIu32, i);
        tool_table_cell(&table, "%s", s->bit[i].term);
        tool_table_cell(&table, "%d", s->bit[i].value);
    }
    tool_table_print(&table, stdout, 2);
    tool_table_free(&table);
}

static void print_text(const struct request *r, const struct answer *a)
{
    const struct wm_surface_steps *s = &a->steps;
    print_layout(a);
    printf("\nx %" PRIu32 ", y %" PRIu32 ", z %" PRIu32 ", level %" PRIu32 ", sample %" PRIu32 "\n", r->at.x,
           r->at.y, r->at.z, r->at.level, r->at.sample);
    if (s->by_equation) {
        if (s->tail_x || s->tail_y)
            printf("in the tail: x + %" PRIu32 ", y + %" PRIu32 "\n", s->tail_x, s->tail_y);
        printf("the equation gives the offset in the block: 0x%" PRIx32 "\n", s->within);
        print_equation(s);
        printf("  layer    0x%" PRIx64 "\n  level    0x%" PRIx64 "\n  block    0x%" PRIx64 " (block %" PRIu64
               " in row %" PRIu64 ")\n  in block 0x%" PRIx32,
               s->layer, s->level, s->block, s->block_x, s->block_y, s->within);
        if (s->tail_xor)
            printf(" ^ tail 0x%" PRIx32, s->tail_xor);
        if (s->pipe_bank_xor)
            printf(" ^ pipe/bank XOR 0x%" PRIx32, s->pipe_bank_xor);
        putchar('\n');
    }
    printf("offset 0x%" PRIx64 ", address 0x%" PRIx64 "\n", s->offset, a->base + s->offset);
}

/* ---- JSON ---- */

static json_t *json_hex(uint64_t value)
{
    return json_sprintf("0x%" PRIx64, value);
}

static json_t *json_levels(const struct wm_surface_layout *l)
{
    json_t *levels = json_array();
    for (uint32_t i = 0; i < l->levels; i++)
        json_array_append_new(
            levels, json_pack("{s:o, s:I, s:I, s:I, s:I, s:b}", "offset", json_hex(l->level[i].offset),
                              "pitch", (json_int_t)l->level[i].pitch, "width", (json_int_t)l->level[i].width,
                              "height", (json_int_t)l->level[i].height, "depth",
                              (json_int_t)l->level[i].depth, "tail", l->level[i].tail));
    return levels;
}

static json_t *json_steps(const struct wm_surface_steps *s)
{
    json_t *bits = json_array();
    for (uint32_t i = 0; i < s->bits; i++)
        json_array_append_new(bits,
                              json_pack("{s:s, s:i}", "term", s->bit[i].term, "value", s->bit[i].value));
    return json_pack("{s:o, s:o, s:o, s:I, s:I, s:o, s:I, s:I, s:o, s:o, s:o}", "layer", json_hex(s->layer),
                     "level", json_hex(s->level), "block", json_hex(s->block), "block_x",
                     (json_int_t)s->block_x, "block_y", (json_int_t)s->block_y, "within", json_hex(s->within),
                     "tail_x", (json_int_t)s->tail_x, "tail_y", (json_int_t)s->tail_y, "tail_xor",
                     json_hex(s->tail_xor), "pipe_bank_xor", json_hex(s->pipe_bank_xor), "bits", bits);
}

static int print_json(const struct request *r, const struct answer *a)
{
    const struct wm_surface_layout *l = a->layout;
    json_t *report = json_pack(
        "{s:s, s:s, s:s, s:o, s:I, s:I, s:[III], s:I, s:I, s:I, s:I, s:I, s:o}", "target", r->target, "mode",
        l->mode, "product", l->product, "base", json_hex(a->base), "bytes", (json_int_t)l->bytes, "layer",
        (json_int_t)l->layer, "block", (json_int_t)l->block[0], (json_int_t)l->block[1],
        (json_int_t)l->block[2], "block_bytes", (json_int_t)l->block_bytes, "alignment",
        (json_int_t)l->alignment, "element", (json_int_t)l->bytes_per_element, "samples",
        (json_int_t)l->samples, "slices", (json_int_t)l->slices, "levels", json_levels(l));
    if (report) {
        json_object_set_new(report, "at",
                            json_pack("[IIIII]", (json_int_t)r->at.x, (json_int_t)r->at.y,
                                      (json_int_t)r->at.z, (json_int_t)r->at.level,
                                      (json_int_t)r->at.sample));
        json_object_set_new(report, "offset", json_hex(a->steps.offset));
        json_object_set_new(report, "address", json_hex(a->base + a->steps.offset));
        if (a->steps.by_equation)
            json_object_set_new(report, "steps", json_steps(&a->steps));
    }
    const int failed = !report || json_dumpf(report, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(report);
    return failed ? tool_fail("explain: no memory for the report") : TOOL_CLEAN;
}

/* ---- the question ---- */

static int answer(const struct request *r, struct answer *a)
{
    struct wm_diag diag;
    if (wm_surface_of_image(r->target, r->gpu, r->words, &a->surface, &a->base, &diag))
        return tool_fail("explain image: %s", diag.message);
    a->layout = wm_surface_layout(a->surface);
    if (wm_surface_explain(a->surface, &r->at, &a->steps, &diag))
        return tool_fail("explain image: --at: %s", diag.message);
    if (r->draw) {
        const int code = explain_draw(r->draw, a->surface, &r->at);
        if (code != TOOL_CLEAN)
            return code;
    }
    if (r->json)
        return print_json(r, a);
    print_text(r, a);
    return TOOL_CLEAN;
}

static int explain_image(int argc, char **argv)
{
    struct request request = {0};
    struct answer a = {0};
    int code = parse(argc, argv, &request);
    if (code != TOOL_CLEAN)
        return code;
    if (request.help) {
        fputs(help, stdout);
        return TOOL_CLEAN;
    }
    code = answer(&request, &a);
    wm_surface_destroy(a.surface);
    return code;
}

const struct tool_verb explain_verb_image = {
    "image", "show where an image has a texel, and why there", explain_image, help, options, NULL};
