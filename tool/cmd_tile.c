/* SPDX-License-Identifier: MIT */
/* wavemem tile and untile: convert images between packed and tiled layouts. */
#include "tool/arguments/npy.h"
#include "tool/input.h"
#include "tool/output.h"
#include "tool/tool.h"
#include "wavemem/wavemem.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* All of the help after its first line. */
#define REST                                                                                                 \
    "\n"                                                                                                     \
    "Converts an image between a packed array of texels and the layout in which a GPU keeps it. TILED is "   \
    "raw\n"                                                                                                  \
    "bytes. PACKED is raw bytes or, if its name ends in .npy, a NumPy array; it has level 0 first, and in "  \
    "each\n"                                                                                                 \
    "level slices, rows, texels and samples, without gaps. Bytes of TILED that belong to no texel are 0.\n"  \
    "\n"                                                                                                     \
    "  wavemem tile -m gfx1100 --gpu rx7900xtx --mode 64KB_R_X --size 1920,1080 --bytes 4 in.raw "           \
    "tiled.raw\n"                                                                                            \
    "  wavemem tile -m gfx1030 --mode 64KB_S_X --size 64,64,12 --bytes 8 --levels 7 chain.raw tiled.raw\n"   \
    "  wavemem untile -m gfx900 --mode 64KB_D_X --size 800,600 --type f32 --bytes 16 tiled.raw out.npy\n"    \
    "\n"                                                                                                     \
    "  -m, --target NAME   the target: gfx803, gfx900, gfx1030 ...\n"                                        \
    "      --gpu PRODUCT   the product whose memory layout counts; default: the first one of the target.\n"  \
    "                      'list' prints all\n"                                                              \
    "      --mode MODE     swizzle mode (64KB_R_X), or before gfx9 the index of a tile mode (14)\n"          \
    "      --size W,H,D    texels; D: slices of an array or depth\n"                                         \
    "      --dimensions N  1, 2 (default) or 3; 3: D is the depth\n"                                         \
    "      --bytes N       bytes of an element: 1, 2, 4, 8, 16. Default: those of an element of "            \
    "PACKED.npy\n"                                                                                           \
    "      --levels N      mip levels; default 1\n"                                                          \
    "      --samples N     samples of a texel; default 1\n"                                                  \
    "      --compressed    elements are blocks of 4x4 texels (BC1 to BC7)\n"                                 \
    "      --pitch N       elements from one row to the next, if it is not derived from the width\n"         \
    "      --xor N         pipe/bank XOR: the low bits of BASE_ADDRESS; default 0\n"                         \
    "      --type NAME     untile to .npy: u8, u16, u32, u64, i8 ... f16, f32, f64\n"                        \
    "\n"                                                                                                     \
    "Exit codes: 0 clean, 2 wrong usage or bad input.\n"

static const char tile_help[] = "usage: wavemem tile -m TARGET [--gpu PRODUCT] --mode MODE --size W[,H[,D]] "
                                "[option...] PACKED TILED\n" REST;
static const char untile_help[] = "usage: wavemem untile -m TARGET [--gpu PRODUCT] --mode MODE --size "
                                  "W[,H[,D]] [option...] TILED PACKED\n" REST;

enum option { GPU = 1, SIZE, DIMENSIONS, BYTES, LEVELS, SAMPLES, PITCH, XOR, HELP, OPTIONS };

static const char *const number_names[OPTIONS] = {
    [DIMENSIONS] = "dimensions", [BYTES] = "bytes", [LEVELS] = "levels",
    [SAMPLES] = "samples",       [PITCH] = "pitch", [XOR] = "xor"};

struct request {
    const char *target, *mode, *type;
    const struct wm_gpu *gpu;
    bool compressed, help;
    bool tile;
    uint32_t size[3];
    uint32_t number[OPTIONS];
    const char *file[2];
    unsigned files;
};

static const struct tool_option options[] = {
    {"target", 'm', TOOL_VALUE, TOOL_KEEP(target)},
    {"gpu", 0, TOOL_VALUE, GPU},
    {"mode", 0, TOOL_VALUE, TOOL_KEEP(mode)},
    {"size", 0, TOOL_VALUE, SIZE},
    {"dimensions", 0, TOOL_VALUE, DIMENSIONS},
    {"bytes", 0, TOOL_VALUE, BYTES},
    {"levels", 0, TOOL_VALUE, LEVELS},
    {"samples", 0, TOOL_VALUE, SAMPLES},
    {"compressed", 0, TOOL_NO_VALUE, TOOL_KEEP(compressed)},
    {"pitch", 0, TOOL_VALUE, PITCH},
    {"xor", 0, TOOL_VALUE, XOR},
    {"type", 0, TOOL_VALUE, TOOL_KEEP(type)},
    {"help", 'h', TOOL_NO_VALUE, HELP},
    {NULL, 0, TOOL_NO_VALUE, 0},
};

/* ---- the command line ---- */

static const char *verb(const struct request *r)
{
    return r->tile ? "tile" : "untile";
}

static int parse_option(struct request *r, int id, const char *value)
{
    uint64_t number;
    if (id == GPU)
        return tool_choose_gpu("", value, &r->gpu);
    if (id == SIZE)
        return tool_parse_extent(value, r->size)
                   ? TOOL_CLEAN
                   : tool_fail("%s: --size %s: expected W, W,H or W,H,D, each at least 1", verb(r), value);
    if (id == TOOL_OPTION_OPERAND) {
        if (r->files == 2)
            return tool_fail("%s: '%s': there are two files already", verb(r), value);
        r->file[r->files++] = value;
        return TOOL_CLEAN;
    }
    if (!tool_parse_u64(value, &number) || number > UINT32_MAX || (!number && id != XOR))
        return tool_fail("%s: --%s %s: expected a number%s", verb(r), number_names[id], value,
                         id == XOR ? "" : " from 1 on");
    r->number[id] = (uint32_t)number;
    return TOOL_CLEAN;
}

static int check(const struct request *r)
{
    const char *missing = !r->target     ? "a target is needed, like -m gfx1100"
                          : !r->mode     ? "a swizzle mode is needed, like --mode 64KB_R_X"
                          : !r->size[0]  ? "the size of the image is needed, like --size 1920,1080"
                          : r->files < 2 ? "two files are needed, the input and the output"
                                         : NULL;
    if (missing)
        return tool_fail("%s: %s", verb(r), missing);
    if (r->type && (r->tile || !tool_type_named(r->type, strlen(r->type))))
        return tool_fail(r->tile ? "%s: --type %s is for untile" : "%s: --type %s: expected u8, i16, f32 ...",
                         verb(r), r->type);
    return TOOL_CLEAN;
}

static int parse(int argc, char **argv, struct request *r)
{
    struct tool_words words = {
        .verb = argv[0], .options = options, .count = argc - 1, .words = argv + 1, .request = r};
    for (int id; (id = tool_next_option(&words)) != TOOL_OPTION_END;) {
        if (id == TOOL_OPTION_WRONG)
            return TOOL_WRONG;
        if (id == HELP) {
            r->help = true;
            return TOOL_CLEAN;
        }
        const int code = parse_option(r, id, words.value);
        if (code != TOOL_CLEAN)
            return code;
    }
    return check(r);
}

static bool is_npy(const char *path)
{
    const size_t length = strlen(path);
    return length >= 4 && !strcmp(path + length - 4, ".npy");
}

/* ---- conversion ---- */

struct input {
    uint8_t *file;       /* to be freed */
    const uint8_t *data; /* of it */
    size_t size;
    unsigned element; /* bytes of an element of the .npy; 0: raw */
};

static int read_input(const struct request *r, struct input *in)
{
    struct wm_diag diag;
    struct tool_npy npy;
    if (!tool_read_file(r->file[0], &in->file, &in->size, &diag))
        return tool_fail("%s: %s", verb(r), diag.message);
    in->data = in->file;
    if (!r->tile || !is_npy(r->file[0]))
        return TOOL_CLEAN;
    if (!tool_npy_parse(in->file, in->size, r->file[0], &npy, &diag))
        return tool_fail("%s: %s", verb(r), diag.message);
    in->data += npy.data;
    in->size = npy.count * npy.type->size;
    in->element = npy.type->size;
    return TOOL_CLEAN;
}

static int write_output(const struct request *r, const uint8_t *bytes, size_t size,
                        const struct wm_surface_layout *l)
{
    struct tool_file file;
    if (!tool_begin_file(&file, verb(r), r->file[1]))
        return TOOL_WRONG;
    if (!r->tile && is_npy(r->file[1])) {
        const struct tool_type *type =
            r->type ? tool_type_named(r->type, strlen(r->type))
                    : tool_type_of('u', l->bytes_per_element % 8 ? l->bytes_per_element : 8);
        const uint64_t across = l->level[0].width * (uint64_t)l->samples * l->bytes_per_element;
        char shape[96];
        if (!type || across % type->size) {
            tool_drop_file(&file);
            return tool_fail("%s: %s has no elements that %" PRIu32 " bytes can be divided into; give --type",
                             verb(r), r->file[1], l->bytes_per_element);
        }
        snprintf(shape, sizeof shape, "(%" PRIu32 ", %" PRIu32 ", %" PRIu64 ")", l->level[0].depth,
                 l->level[0].height, across / type->size);
        tool_npy_write(file.whole.stream, type, bytes, size / type->size, l->levels == 1 ? shape : NULL);
    } else {
        fwrite(bytes, 1, size, file.whole.stream);
    }
    return tool_end_file(&file);
}

static int convert(const struct request *r, const struct wm_surface *surface, const struct input *in)
{
    const struct wm_surface_layout *l = wm_surface_layout(surface);
    const uint64_t size = r->tile ? l->bytes : l->packed;
    struct wm_diag diag;
    uint8_t *out = size <= SIZE_MAX / 2 ? calloc(size, 1) : NULL;
    if (!out)
        return tool_fail("%s: no memory for %" PRIu64 " bytes", verb(r), size);
    const enum wm_status status = r->tile ? wm_surface_tile(surface, in->data, in->size, out, size, &diag)
                                          : wm_surface_untile(surface, in->data, in->size, out, size, &diag);
    const int code =
        status ? tool_fail("%s: %s: %s", verb(r), r->file[0], diag.message) : write_output(r, out, size, l);
    free(out);
    return code;
}

static int run(const struct request *r)
{
    struct wm_diag diag;
    struct wm_surface *surface = NULL;
    struct input in = {0};
    int code = read_input(r, &in);
    const struct wm_surface_shape shape = {
        .struct_size = sizeof shape,
        .mode = r->mode,
        .dimensions = r->number[DIMENSIONS],
        .bytes = r->number[BYTES] ? r->number[BYTES] : in.element,
        .width = r->size[0],
        .height = r->size[1],
        .depth = r->size[2],
        .levels = r->number[LEVELS],
        .samples = r->number[SAMPLES],
        .block = r->compressed ? 4 : 1,
        .pitch = r->number[PITCH],
        .pipe_bank_xor = r->number[XOR],
    };
    if (code == TOOL_CLEAN && !shape.bytes)
        code = tool_fail("%s: the bytes of an element are needed, like --bytes 4", verb(r));
    if (code == TOOL_CLEAN && wm_surface_create(r->target, r->gpu, &shape, &surface, &diag))
        code = tool_fail("%s: %s", verb(r), diag.message);
    if (code == TOOL_CLEAN)
        code = convert(r, surface, &in);
    wm_surface_destroy(surface);
    free(in.file);
    return code;
}

static int tile_or_untile(int argc, char **argv, bool tile)
{
    struct request request = {.tile = tile};
    const int code = parse(argc, argv, &request);
    if (code != TOOL_CLEAN)
        return code;
    if (request.help) {
        fputs(tile ? tile_help : untile_help, stdout);
        return TOOL_CLEAN;
    }
    return run(&request);
}

static int cmd_tile(int argc, char **argv)
{
    return tile_or_untile(argc, argv, true);
}

static int cmd_untile(int argc, char **argv)
{
    return tile_or_untile(argc, argv, false);
}

const struct tool_verb tool_verb_tile = {
    "tile", "convert an image to the layout that a GPU keeps it in", cmd_tile, tile_help, options, NULL};
const struct tool_verb tool_verb_untile = {
    "untile", "convert an image back from that layout", cmd_untile, untile_help, options, NULL};
