/* SPDX-License-Identifier: MIT */
/* wavemem tess: explains the off-chip buffer between tessellation shaders: its map, places, bytes and cache
 * lines. */
#include "tool/tess.h"
#include "tool/tool.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

static const char help[] =
    "usage: wavemem tess [--layout NAME] --patches N --vertices N --attributes N [--patch-attributes N]\n"
    "       wavemem tess [--layout NAME] --word WORD [--patch-attributes N]\n"
    "       ... [--patch N [--vertex N] --attribute N | --offset N] [--lines] [--svg FILE] [--json]\n"
    "\n"
    "Shows the buffer in memory through which Mesa's tessellation control shaders pass their outputs to the\n"
    "evaluation shader: the map, the byte offset of an element, or the element at a byte offset.\n"
    "\n"
    "  wavemem tess --layout radeonsi-2016 --patches 32 --vertices 3 --attributes 4 --patch-attributes 2\n"
    "  wavemem tess --patches 32 --vertices 3 --attributes 4 --patch 5 --vertex 2 --attribute 1\n"
    "  wavemem tess --patches 32 --vertices 3 --attributes 4 --patch-attributes 2 --patch 5 --attribute 1\n"
    "                                                       without --vertex: a per-patch attribute\n"
    "  wavemem tess --patches 32 --vertices 3 --attributes 8 --patch 0 --vertex 0 --semantic generic,2\n"
    "  wavemem tess --word 0x18000620 --offset 1808         the element at a byte of the buffer\n"
    "  wavemem tess --word 0x18000620 --lines               cache lines of a store and a load\n"
    "\n"
    "      --layout NAME         radeonsi-2016 (default), radeonsi-2020, radeonsi-2023, radeonsi-2024,\n"
    "                            radv-2025\n"
    "      --patches N           patches per workgroup\n"
    "      --vertices N          vertices that the control shader writes per patch\n"
    "      --attributes N        attributes per vertex, 16 bytes each\n"
    "      --patch-attributes N  attributes per patch; default 0\n"
    "      --word WORD           the layout word as passed to the shaders, instead of the numbers\n"
    "      --patch N, --vertex N, --attribute N\n"
    "                            an element; without --vertex a per-patch attribute\n"
    "      --semantic NAME[,N]   the attribute by its semantic: position, psize, clipdist, generic, and per\n"
    "                            patch tessouter, tessinner, patch (radeonsi-2016)\n"
    "      --indirect N          index into an array that begins at the attribute\n"
    "      --component N         0 to 3\n"
    "      --offset N            the element that byte N belongs to\n"
    "      --lines[=BYTES]       count the cache lines (64 bytes) that one wave's store and load access, "
    "here and\n"
    "                            in the older layout, in which all data of a patch is contiguous\n"
    "      --points N            lanes of the evaluation shader per patch; default 1\n"
    "      --lanes N             wave size; default 64\n"
    "      --svg FILE            draw the map\n"
    "      --json                write JSON\n"
    "\n"
    "Exit codes: 0 clean, 2 wrong usage or bad input.\n";

enum option {
    LAYOUT = 1,
    PATCHES,
    VERTICES,
    ATTRIBUTES,
    PATCH_ATTRIBUTES,
    WORD,
    PATCH,
    VERTEX,
    ATTRIBUTE,
    SEMANTIC,
    INDIRECT,
    COMPONENT,
    OFFSET,
    LINES,
    POINTS,
    LANES,
    SVG,
    JSON,
    HELP,
    OPTIONS,
};

static const struct tool_option options[] = {
    {"layout", 0, TOOL_VALUE, LAYOUT},
    {"patches", 0, TOOL_VALUE, PATCHES},
    {"vertices", 0, TOOL_VALUE, VERTICES},
    {"attributes", 0, TOOL_VALUE, ATTRIBUTES},
    {"patch-attributes", 0, TOOL_VALUE, PATCH_ATTRIBUTES},
    {"word", 0, TOOL_VALUE, WORD},
    {"patch", 0, TOOL_VALUE, PATCH},
    {"vertex", 0, TOOL_VALUE, VERTEX},
    {"attribute", 0, TOOL_VALUE, ATTRIBUTE},
    {"semantic", 0, TOOL_VALUE, SEMANTIC},
    {"indirect", 0, TOOL_VALUE, INDIRECT},
    {"component", 0, TOOL_VALUE, COMPONENT},
    {"offset", 0, TOOL_VALUE, OFFSET},
    {"lines", 0, TOOL_OPTIONAL_VALUE, LINES},
    {"points", 0, TOOL_VALUE, POINTS},
    {"lanes", 0, TOOL_VALUE, LANES},
    {"svg", 0, TOOL_VALUE, SVG},
    {"json", 0, TOOL_NO_VALUE, JSON},
    {"help", 'h', TOOL_NO_VALUE, HELP},
    {NULL, 0, TOOL_NO_VALUE, 0},
};

struct request {
    const char *layout, *semantic, *svg;
    uint32_t number[OPTIONS]; /* by enum option */
    bool given[OPTIONS];
};

/* The results to print. */
struct answer {
    struct wm_tess_layout layout;
    bool has_place, has_lines;
    struct wm_tess_place place;
    uint32_t offset;
    struct wm_tess_lines lines;
};

/* ---- the command line ---- */

static int take_number(struct request *r, enum option id, const char *value)
{
    uint64_t number;
    if (!value) /* --lines without one */
        return TOOL_CLEAN;
    if (!tool_parse_u64(value, &number) || number > UINT32_MAX)
        return tool_fail("tess: '%s': expected a number of 32 bits", value);
    r->number[id] = (uint32_t)number;
    return TOOL_CLEAN;
}

static int check(const struct request *r)
{
    const bool *given = r->given;
    if (given[WORD] && (given[PATCHES] || given[VERTICES] || given[ATTRIBUTES]))
        return tool_fail("tess: --word has patches, vertices and attributes in it already");
    if (!given[WORD] && !(given[PATCHES] && given[VERTICES] && given[ATTRIBUTES]))
        return tool_fail("tess: --patches, --vertices and --attributes are needed, or --word");
    if (given[ATTRIBUTE] && given[SEMANTIC])
        return tool_fail("tess: give --attribute or --semantic, not both");
    const bool slot = given[ATTRIBUTE] || given[SEMANTIC];
    const bool place = slot || given[PATCH] || given[VERTEX] || given[INDIRECT] || given[COMPONENT];
    if (place && given[OFFSET])
        return tool_fail("tess: give a place or --offset, not both");
    if (place && (!given[PATCH] || !slot))
        return tool_fail("tess: a place needs --patch and --attribute, or --semantic");
    if (r->number[COMPONENT] > 3)
        return tool_fail("tess: --component %" PRIu32 ": expected 0 to 3", r->number[COMPONENT]);
    return TOOL_CLEAN;
}

static int parse(int argc, char **argv, struct request *r)
{
    struct tool_words words = {.verb = argv[0], .options = options, .count = argc - 1, .words = argv + 1};
    for (int id; (id = tool_next_option(&words)) != TOOL_OPTION_END;) {
        if (id == TOOL_OPTION_WRONG)
            return TOOL_WRONG;
        if (id == TOOL_OPTION_OPERAND)
            return tool_fail("tess: '%s': expected an option", words.value);
        r->given[id] = true;
        switch (id) {
        case LAYOUT:
            r->layout = words.value;
            break;
        case SEMANTIC:
            r->semantic = words.value;
            break;
        case SVG:
            r->svg = words.value;
            break;
        case JSON:
            break;
        case HELP:
            return TOOL_CLEAN;
        default:
            if (take_number(r, (enum option)id, words.value) != TOOL_CLEAN)
                return TOOL_WRONG;
        }
    }
    return check(r);
}

/* ---- the answer ---- */

/* Converts "generic,2" to a slot. */
static int find_slot(const struct request *r, struct wm_tess_place *place)
{
    char name[40];
    uint64_t index = 0;
    struct wm_diag diag;
    const char *comma = strchr(r->semantic, ',');
    const size_t length = comma ? (size_t)(comma - r->semantic) : strlen(r->semantic);
    if (length >= sizeof name || (comma && (!tool_parse_u64(comma + 1, &index) || index > UINT32_MAX)))
        return tool_fail("tess: --semantic %s: expected a name, or one with a number like generic,2",
                         r->semantic);
    memcpy(name, r->semantic, length);
    name[length] = 0;
    if (wm_tess_slot(r->layout, name, (uint32_t)index, &place->slot, &place->per_patch, &diag))
        return tool_fail("tess: --semantic: %s", diag.message);
    if (place->per_patch == r->given[VERTEX])
        return tool_fail("tess: %s is an attribute per %s: %s", name, place->per_patch ? "patch" : "vertex",
                         place->per_patch ? "leave --vertex out" : "--vertex is needed");
    return TOOL_CLEAN;
}

static int find_answer(const struct request *r, struct answer *a)
{
    const uint32_t *n = r->number;
    struct wm_diag diag;
    const enum wm_status status =
        r->given[WORD] ? wm_tess_layout_of_word(r->layout, n[WORD], n[PATCH_ATTRIBUTES], &a->layout, &diag)
                       : wm_tess_layout(r->layout, n[PATCHES], n[VERTICES], n[ATTRIBUTES],
                                        n[PATCH_ATTRIBUTES], &a->layout, &diag);
    if (status)
        return tool_fail("tess: %s", diag.message);
    if (r->given[PATCH]) {
        a->has_place = true;
        a->place = (struct wm_tess_place){.per_patch = !r->given[VERTEX],
                                          .patch = n[PATCH],
                                          .vertex = n[VERTEX],
                                          .slot = n[ATTRIBUTE],
                                          .indirect = n[INDIRECT],
                                          .byte = 4 * n[COMPONENT]};
        if (r->semantic && find_slot(r, &a->place) != TOOL_CLEAN)
            return TOOL_WRONG;
        if (wm_tess_offset(&a->layout, &a->place, &a->offset, &diag))
            return tool_fail("tess: %s", diag.message);
    }
    if (r->given[OFFSET]) {
        a->has_place = true;
        a->offset = n[OFFSET];
        if (wm_tess_place(&a->layout, a->offset, &a->place, &diag))
            return tool_fail("tess: --offset: %s", diag.message);
    }
    if (r->given[LINES]) {
        a->has_lines = true;
        if (wm_tess_lines(&a->layout, n[LINES], n[LANES], n[POINTS], &a->lines, &diag))
            return tool_fail("tess: --lines: %s", diag.message);
    }
    return TOOL_CLEAN;
}

/* ---- text ---- */

static void print_map(const struct wm_tess_layout *l)
{
    for (uint32_t i = 0; i < l->attributes + l->patch_attributes; i++) {
        const bool per_patch = i >= l->attributes;
        const uint32_t slot = per_patch ? i - l->attributes : i;
        const uint32_t begin =
            per_patch ? l->patch_data + slot * l->patch_stride : slot * l->attribute_stride;
        const uint32_t bytes = 16 * l->patches * (per_patch ? 1 : l->vertices);
        printf("  %7" PRIu32 " - %-7" PRIu32 "  attribute %2" PRIu32 "%s\n", begin, begin + bytes - 1, slot,
               per_patch ? " of each patch" : " of each vertex of each patch");
    }
}

static void print_place(const struct answer *a)
{
    const struct wm_tess_layout *l = &a->layout;
    const struct wm_tess_place *p = &a->place;
    char slot[40];
    if (p->indirect)
        snprintf(slot, sizeof slot, "(%" PRIu32 " + %" PRIu32 ")", p->slot, p->indirect);
    else
        snprintf(slot, sizeof slot, "%" PRIu32, p->slot);
    if (p->per_patch)
        printf("patch %" PRIu32 ", attribute %s per patch, component %" PRIu32 ", byte %" PRIu32 "\n"
               "  %" PRIu32 " (patch data) + %s x %" PRIu32 " + patch %" PRIu32 " x 16 + %" PRIu32
               " = %" PRIu32 "\n",
               p->patch, slot, p->byte / 4, p->byte % 4, l->patch_data, slot, l->patch_stride, p->patch,
               p->byte, a->offset);
    else
        printf("patch %" PRIu32 ", vertex %" PRIu32 ", attribute %s, component %" PRIu32 ", byte %" PRIu32
               "\n"
               "  %s x %" PRIu32 " + (patch %" PRIu32 " x %" PRIu32 " + vertex %" PRIu32 ") x 16 + %" PRIu32
               " = %" PRIu32 "\n",
               p->patch, p->vertex, slot, p->byte / 4, p->byte % 4, slot, l->attribute_stride, p->patch,
               l->vertices, p->vertex, p->byte, a->offset);
}

static void print_text(const struct request *r, const struct answer *a)
{
    const struct wm_tess_layout *l = &a->layout;
    const struct wm_tess_lines *n = &a->lines;
    printf("%s: %" PRIu32 " patches of %" PRIu32 " vertices, %" PRIu32 " attributes per vertex, %" PRIu32
           " per patch\n"
           "word 0x%08" PRIx32 ", %" PRIu32 " bytes, attributes per patch from byte %" PRIu32 " on\n"
           "(%s)\n\n",
           l->name, l->patches, l->vertices, l->attributes, l->patch_attributes, l->word, l->size,
           l->patch_data, l->source);
    if (a->has_place)
        print_place(a);
    else if (!a->has_lines)
        print_map(l);
    if (a->has_lines)
        printf("lines of %" PRIu32 " bytes, waves of %" PRIu32 " lanes      here  a patch's data together\n"
               "control shader: %3" PRIu32 " lanes store       %4" PRIu32 "  %4" PRIu32 "\n"
               "evaluation shader: %3" PRIu32 " lanes load     %4" PRIu32 "  %4" PRIu32 "\n",
               r->number[LINES], r->number[LANES], n->store_lanes, n->store, n->store_before, n->load_lanes,
               n->load, n->load_before);
}

/* ---- JSON ---- */

static void put(json_t *object, const char *name, uint32_t number)
{
    json_object_set_new(object, name, json_integer(number));
}

static json_t *json_place(const struct answer *a)
{
    json_t *object = json_object();
    put(object, "offset", a->offset);
    json_object_set_new(object, "per_patch", json_boolean(a->place.per_patch));
    put(object, "patch", a->place.patch);
    if (!a->place.per_patch)
        put(object, "vertex", a->place.vertex);
    put(object, "attribute", a->place.slot + a->place.indirect);
    put(object, "component", a->place.byte / 4);
    put(object, "byte", a->place.byte % 4);
    return object;
}

static json_t *json_lines(const struct request *r, const struct wm_tess_lines *n)
{
    json_t *object = json_object();
    put(object, "line_bytes", r->number[LINES]);
    put(object, "lanes", r->number[LANES]);
    put(object, "store_lanes", n->store_lanes);
    put(object, "store", n->store);
    put(object, "store_before", n->store_before);
    put(object, "load_lanes", n->load_lanes);
    put(object, "load", n->load);
    put(object, "load_before", n->load_before);
    return object;
}

static int print_json(const struct request *r, const struct answer *a)
{
    json_t *object = json_object();
    const struct wm_tess_layout *l = &a->layout;
    json_object_set_new(object, "layout", json_string(l->name));
    json_object_set_new(object, "source", json_string(l->source));
    put(object, "patches", l->patches);
    put(object, "vertices", l->vertices);
    put(object, "attributes", l->attributes);
    put(object, "patch_attributes", l->patch_attributes);
    put(object, "attribute_stride", l->attribute_stride);
    put(object, "patch_stride", l->patch_stride);
    put(object, "patch_data", l->patch_data);
    put(object, "size", l->size);
    put(object, "word", l->word);
    if (a->has_place)
        json_object_set_new(object, "place", json_place(a));
    if (a->has_lines)
        json_object_set_new(object, "lines", json_lines(r, &a->lines));
    const int failed = json_dumpf(object, stdout, JSON_INDENT(2));
    json_decref(object);
    putchar('\n');
    return failed ? tool_fail("tess: no memory for the report") : TOOL_CLEAN;
}

static int cmd_tess(int argc, char **argv)
{
    struct request r = {.layout = wm_tess_layout_at(0), .number = {[LINES] = 64, [LANES] = 64, [POINTS] = 1}};
    struct answer a = {0};
    const int code = parse(argc, argv, &r);
    if (code != TOOL_CLEAN)
        return code;
    if (r.given[HELP]) {
        fputs(help, stdout);
        return TOOL_CLEAN;
    }
    if (find_answer(&r, &a) != TOOL_CLEAN || (r.svg && tess_draw(r.svg, &a.layout) != TOOL_CLEAN))
        return TOOL_WRONG;
    if (r.given[JSON])
        return print_json(&r, &a);
    print_text(&r, &a);
    return TOOL_CLEAN;
}

const struct tool_verb tool_verb_tess = {
    "tess", "show the off-chip buffer between tessellation shaders, byte by byte", cmd_tess, help, options,
    NULL};
