/* SPDX-License-Identifier: MIT */
/* Formats of buffers and images: their numbers and names.
 *
 * Numbers of gfx6 to gfx9: AMD's register headers in PAL and Mesa (BUF_DATA_FORMAT, IMG_DATA_FORMAT). From
 * gfx10 on one number stands for layout and number format: LLVM, SIDefines.h, and Mesa. Those of BC1 to BC7
 * are what RADV (Mesa 22.3) writes to T#s. On gfx6 to gfx9, where it writes the same for both kinds of BC6H,
 * BC6H has no conversion. */
#include "memory/format.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

enum layout {
    INVALID,
    L8,
    L16,
    L8_8,
    L32,
    L16_16,
    L10_11_11,
    L11_11_10,
    L10_10_10_2,
    L2_10_10_10,
    L8_8_8_8,
    L32_32,
    L16_16_16_16,
    L32_32_32,
    L32_32_32_32, /* up to here DATA_FORMAT of gfx6 to gfx9 */
    L5_6_5,
    L1_5_5_5,
    L5_5_5_1,
    L4_4_4_4,
    L4_4,
    L5_9_9_9,
    L8_24,
    L24_8,
    LX24_8_32,
    LBC1,
    LBC2,
    LBC3,
    LBC4,
    LBC5,
    LBC6H,
    LBC6H_UF16,
    LBC6H_SF16,
    LBC7,
    LAYOUTS
};

enum {
    UNORM = 1 << WMI_NUMBER_UNORM,
    FLOAT = 1 << WMI_NUMBER_FLOAT,
    OGL = 1 << WMI_NUMBER_SNORM_OGL,
    SRGB = 1 << WMI_NUMBER_SRGB,
    UINT = 1 << WMI_NUMBER_UINT,
    INTEGERS = UINT | 1 << WMI_NUMBER_SINT,
    NORMS = UNORM | 1 << WMI_NUMBER_SNORM,
    ALL = NORMS | 1 << WMI_NUMBER_USCALED | 1 << WMI_NUMBER_SSCALED | INTEGERS,
};

/* 32-bit components have no normalized and scaled types: Mesa never uses them and gfx10 has no numbers for
 * them. Unverified: gfx6 to gfx9 treat them as invalid. */
static const struct wmi_format_layout layouts[LAYOUTS] = {
    [INVALID] = {"INVALID", 0, 0, {0}, {0}, 0},
    [L8] = {"8", 1, 1, {8}, {0}, ALL | OGL | SRGB},
    [L16] = {"16", 1, 2, {16}, {0}, ALL | OGL | FLOAT},
    [L8_8] = {"8_8", 2, 2, {8, 8}, {0, 8}, ALL | OGL | SRGB},
    [L32] = {"32", 1, 4, {32}, {0}, INTEGERS | FLOAT},
    [L16_16] = {"16_16", 2, 4, {16, 16}, {0, 16}, ALL | OGL | FLOAT},
    [L10_11_11] = {"10_11_11", 3, 4, {11, 11, 10}, {0, 11, 22}, ALL | OGL | FLOAT},
    [L11_11_10] = {"11_11_10", 3, 4, {10, 11, 11}, {0, 10, 21}, ALL | OGL | FLOAT},
    [L10_10_10_2] = {"10_10_10_2", 4, 4, {2, 10, 10, 10}, {0, 2, 12, 22}, ALL | OGL},
    [L2_10_10_10] = {"2_10_10_10", 4, 4, {10, 10, 10, 2}, {0, 10, 20, 30}, ALL | OGL},
    [L8_8_8_8] = {"8_8_8_8", 4, 4, {8, 8, 8, 8}, {0, 8, 16, 24}, ALL | OGL | SRGB},
    [L32_32] = {"32_32", 2, 8, {32, 32}, {0, 32}, INTEGERS | FLOAT},
    [L16_16_16_16] = {"16_16_16_16", 4, 8, {16, 16, 16, 16}, {0, 16, 32, 48}, ALL | OGL | FLOAT},
    [L32_32_32] = {"32_32_32", 3, 12, {32, 32, 32}, {0, 32, 64}, INTEGERS | FLOAT},
    [L32_32_32_32] = {"32_32_32_32", 4, 16, {32, 32, 32, 32}, {0, 32, 64, 96}, INTEGERS | FLOAT},
    [L5_6_5] = {"5_6_5", 3, 2, {5, 6, 5}, {0, 5, 11}, UNORM},
    [L1_5_5_5] = {"1_5_5_5", 4, 2, {5, 5, 5, 1}, {0, 5, 10, 15}, UNORM},
    [L5_5_5_1] = {"5_5_5_1", 4, 2, {1, 5, 5, 5}, {0, 1, 6, 11}, UNORM},
    [L4_4_4_4] = {"4_4_4_4", 4, 2, {4, 4, 4, 4}, {0, 4, 8, 12}, UNORM},
    [L4_4] = {"4_4", 2, 1, {4, 4}, {0, 4}, UNORM},
    [L5_9_9_9] = {"5_9_9_9", 3, 4, {9, 9, 9}, {0, 9, 18}, FLOAT},
    /* Depth and stencil. Source of the formats: Mesa, si_translate_texformat. */
    [L8_24] = {"8_24", 2, 4, {24, 8}, {0, 24}, UNORM | UINT},
    [L24_8] = {"24_8", 2, 4, {8, 24}, {0, 8}, UNORM | UINT},
    [LX24_8_32] = {"X24_8_32", 2, 8, {32, 8}, {0, 32}, UINT | FLOAT},
    [LBC1] = {"BC1", 4, 8, {0}, {0}, UNORM | SRGB, WMI_BLOCK_BC1},
    [LBC2] = {"BC2", 4, 16, {0}, {0}, UNORM | SRGB, WMI_BLOCK_BC2},
    [LBC3] = {"BC3", 4, 16, {0}, {0}, UNORM | SRGB, WMI_BLOCK_BC3},
    [LBC4] = {"BC4", 1, 8, {0}, {0}, NORMS, WMI_BLOCK_BC4},
    [LBC5] = {"BC5", 2, 16, {0}, {0}, NORMS, WMI_BLOCK_BC5},
    [LBC6H] = {"BC6H", 3, 16, {0}, {0}, NORMS, WMI_BLOCK_BC6H},
    [LBC6H_UF16] = {"BC6H_UF16", 3, 16, {0}, {0}, FLOAT, WMI_BLOCK_BC6H_UF16},
    [LBC6H_SF16] = {"BC6H_SF16", 3, 16, {0}, {0}, FLOAT, WMI_BLOCK_BC6H_SF16},
    [LBC7] = {"BC7", 4, 16, {0}, {0}, UNORM | SRGB, WMI_BLOCK_BC7},
};

/* From gfx10 on one number stands for layout and number type; most layouts have all types, in the order of
 * enum wmi_number. */
struct code {
    uint8_t layout, number;
};

#define ONE(layout, number) {layout, WMI_NUMBER_##number}
#define NORMS_OF(layout)    ONE(layout, UNORM), ONE(layout, SNORM)
#define INTEGERS_OF(layout) ONE(layout, UINT), ONE(layout, SINT)
#define SIX_OF(layout)      NORMS_OF(layout), ONE(layout, USCALED), ONE(layout, SSCALED), INTEGERS_OF(layout)
#define SEVEN_OF(layout)    SIX_OF(layout), ONE(layout, FLOAT)
#define THREE_OF(layout)    INTEGERS_OF(layout), ONE(layout, FLOAT)
#define DEPTHS                                                                                               \
    ONE(L8_24, UNORM), ONE(L8_24, UINT), ONE(L24_8, UNORM), ONE(L24_8, UINT), ONE(LX24_8_32, UINT),          \
        ONE(LX24_8_32, FLOAT)
#define SRGBS ONE(L8, SRGB), ONE(L8_8, SRGB), ONE(L8_8_8_8, SRGB)
#define SMALL_ONES                                                                                           \
    ONE(L5_9_9_9, FLOAT), ONE(L5_6_5, UNORM), ONE(L1_5_5_5, UNORM), ONE(L5_5_5_1, UNORM),                    \
        ONE(L4_4_4_4, UNORM), ONE(L4_4, UNORM)

#define COLOURS_OF(layout) ONE(layout, UNORM), ONE(layout, SRGB)
#define BLOCKS                                                                                               \
    COLOURS_OF(LBC1), COLOURS_OF(LBC2), COLOURS_OF(LBC3), NORMS_OF(LBC4), NORMS_OF(LBC5),                    \
        ONE(LBC6H_UF16, FLOAT), ONE(LBC6H_SF16, FLOAT), COLOURS_OF(LBC7)

/* clang-format off */
static const struct code codes_10[] = {
    {INVALID},
    SIX_OF(L8), SEVEN_OF(L16), SIX_OF(L8_8), THREE_OF(L32), SEVEN_OF(L16_16),
    SEVEN_OF(L10_11_11), SEVEN_OF(L11_11_10), SIX_OF(L10_10_10_2), SIX_OF(L2_10_10_10), SIX_OF(L8_8_8_8),
    THREE_OF(L32_32), SEVEN_OF(L16_16_16_16), THREE_OF(L32_32_32), THREE_OF(L32_32_32_32),
    [0x80] = SRGBS, /* from here on images only */
    [0x84] = SMALL_ONES,
    [0x8d] = DEPTHS,
    [0xa9] = BLOCKS,
};

static const struct code codes_11[] = {
    {INVALID},
    SIX_OF(L8), SEVEN_OF(L16), SIX_OF(L8_8), THREE_OF(L32), SEVEN_OF(L16_16),
    ONE(L10_11_11, FLOAT), ONE(L11_11_10, FLOAT), NORMS_OF(L10_10_10_2), INTEGERS_OF(L10_10_10_2),
    SIX_OF(L2_10_10_10), SIX_OF(L8_8_8_8),
    THREE_OF(L32_32), SEVEN_OF(L16_16_16_16), THREE_OF(L32_32_32), THREE_OF(L32_32_32_32),
    [0x40] = SRGBS, /* from here on images only */
    SMALL_ONES,
    [0x4c] = DEPTHS,
    [0x6d] = BLOCKS,
};
/* clang-format on */

/* gfx6 to gfx9: values of DATA_FORMAT that only images have. */
static const struct {
    uint8_t number, layout;
} image_layouts[] = {{0x10, L5_6_5}, {0x11, L1_5_5_5}, {0x12, L5_5_5_1},  {0x13, L4_4_4_4},
                     {0x14, L8_24},  {0x15, L24_8},    {0x16, LX24_8_32}, {0x22, L5_9_9_9},
                     {0x39, L4_4},   {0x23, LBC1},     {0x24, LBC2},      {0x25, LBC3},
                     {0x26, LBC4},   {0x27, LBC5},     {0x28, LBC6H},     {0x29, LBC7}};

struct wmi_format_rules {
    const struct code *unified; /* NULL: separate data and number formats */
    uint16_t codes;             /* entries of `unified` */
    uint16_t buffer_codes;      /* codes from here on are for images only */
    uint8_t shift, width;       /* of the format code in word 3 of a V# */
    bool ogl, unsigned_alpha;
    uint8_t fmask, fmasks; /* first image format of an FMASK, and their number */
};

const struct wmi_format_rules *wmi_format_rules(unsigned rules)
{
    /* unsigned_alpha: Mesa, has_vtx_format_alpha_adjust_bug (gfx6 to gfx8 except Stoney). fmask:
     * AMD's and Mesa's headers (IMG_DATA_FORMAT, gfx10-rsrc.json); gfx9 has one FMASK, 0x2d, in the range of
     * gfx8's. */
    static const struct wmi_format_rules table[] = {
        {.buffer_codes = 128,
         .shift = 12,
         .width = 7,
         .ogl = true,
         .unsigned_alpha = true,
         .fmask = 0x2c,
         .fmasks = 13}, /* gfx6, 7 */
        {.buffer_codes = 128,
         .shift = 12,
         .width = 7,
         .unsigned_alpha = true,
         .fmask = 0x2c,
         .fmasks = 13},                                                              /* gfx8 */
        {.buffer_codes = 128, .shift = 12, .width = 7, .fmask = 0x2c, .fmasks = 13}, /* 8.1, 9
                                                                                      */
        {.fmask = 156,
         .fmasks = 13,
         .buffer_codes = 128,
         .shift = 12,
         .width = 7,
         .unified = codes_10,
         .codes = sizeof codes_10 / sizeof *codes_10},
        {.buffer_codes = 64,
         .shift = 12,
         .width = 6,
         .unified = codes_11,
         .codes = sizeof codes_11 / sizeof *codes_11},
    };
    return rules < sizeof table / sizeof *table ? &table[rules] : NULL;
}

bool wmi_format_unified(const struct wmi_format_rules *rules)
{
    return rules->unified;
}

static struct wmi_format make(const struct wmi_format_rules *rules, unsigned layout, unsigned number)
{
    unsigned numbers = layouts[layout].numbers;
    if (!rules->ogl)
        numbers &= ~(unsigned)OGL;
    if (number >= WMI_NUMBER_COUNT || !(numbers >> number & 1))
        layout = INVALID;
    return (struct wmi_format){.layout = &layouts[layout],
                               .number = layout ? (enum wmi_number)number : WMI_NUMBER_UNORM,
                               .unsigned_alpha = rules->unsigned_alpha && layout == L2_10_10_10};
}

static struct wmi_format from_code(const struct wmi_format_rules *rules, unsigned code)
{
    const struct code none = {INVALID}, *c = code < rules->codes ? &rules->unified[code] : &none;
    return make(rules, c->layout, c->number);
}

struct wmi_format wmi_format_of(const struct wmi_format_rules *rules, unsigned code)
{
    if (code >= rules->buffer_codes)
        return make(rules, INVALID, 0);
    if (rules->unified)
        return from_code(rules, code);
    const unsigned data = code & 15;
    return make(rules, data <= L32_32_32_32 ? data : INVALID, code >> 4);
}

/* NUM_FORMAT 9 of images is SRGB. */
struct wmi_format wmi_format_of_image(const struct wmi_format_rules *rules, unsigned code)
{
    enum { IMAGE_SRGB = 9 };
    if (rules->unified)
        return from_code(rules, code);
    const unsigned data = code & 63, number = code >> 6;
    unsigned layout = data <= L32_32_32_32 ? data : INVALID;
    for (size_t i = 0; i < sizeof image_layouts / sizeof *image_layouts; i++)
        if (image_layouts[i].number == data)
            layout = image_layouts[i].layout;
    return make(rules, layout,
                number == IMAGE_SRGB         ? WMI_NUMBER_SRGB
                : number <= WMI_NUMBER_FLOAT ? number
                                             : WMI_NUMBER_COUNT);
}

bool wmi_format_is_fmask(const struct wmi_format_rules *rules, unsigned code)
{
    const unsigned data = rules->unified ? code : code & 63;
    return data >= rules->fmask && data < rules->fmask + (unsigned)rules->fmasks;
}

/* In a V#, DATA_FORMAT is above NUM_FORMAT; in the code it is below. */
unsigned wmi_format_code_of(const struct wmi_format_rules *rules, uint32_t word3)
{
    const unsigned field = word3 >> rules->shift & ((1u << rules->width) - 1);
    return rules->unified ? field : field >> 3 | (field & 7) << 4;
}

struct wmi_format wmi_format_of_instruction(const struct wmi_format_rules *rules, bool typed, unsigned code,
                                            uint32_t word3)
{
    const unsigned own = wmi_format_code_of(rules, word3);
    const bool bound = rules->unified ? own != 0 : (own & 15) != 0;
    return wmi_format_of(rules, typed && bound ? code : own);
}

/* ---- names ---- */

static const char *const number_names[WMI_NUMBER_COUNT] = {"UNORM", "SNORM",     "USCALED", "SSCALED", "UINT",
                                                           "SINT",  "SNORM_OGL", "FLOAT",   "SRGB"};

void wmi_format_places(const struct wmi_format_layout *layout, unsigned *places, unsigned *bytes)
{
    const bool whole_bytes = layout->components * layout->bits[0] == 8 * layout->bytes;
    *places = whole_bytes ? layout->components : layout->components != 0;
    *bytes = whole_bytes ? layout->bits[0] / 8u : layout->bytes;
}

void wmi_format_name(const struct wmi_format *format, char *text, size_t size)
{
    if (format->layout->components)
        snprintf(text, size, "%s %s", format->layout->name, number_names[format->number]);
    else
        snprintf(text, size, "%s", format->layout->name);
}

static const char *without_prefix(const char *text, const char *const *prefixes)
{
    for (; *prefixes; prefixes++)
        if (!strncasecmp(text, *prefixes, strlen(*prefixes)))
            return text + strlen(*prefixes);
    return text;
}

bool wmi_format_find(const struct wmi_format_rules *rules, const char *layout, const char *number,
                     unsigned *code)
{
    static const char *const data_prefixes[] = {"BUF_DATA_FORMAT_", "IMG_DATA_FORMAT_", "BUF_FMT_",
                                                "IMG_FMT_", NULL};
    static const char *const number_prefixes[] = {"BUF_NUM_FORMAT_", "IMG_NUM_FORMAT_", NULL};
    layout = without_prefix(layout, data_prefixes);
    if (number)
        number = without_prefix(number, number_prefixes);
    for (*code = 0; *code < rules->buffer_codes; ++*code) {
        const struct wmi_format format = wmi_format_of(rules, *code);
        if (!format.layout->components)
            continue;
        const char *name = format.layout->name, *kind = number_names[format.number];
        const size_t length = strlen(name);
        if (number ? !strcasecmp(layout, name) && !strcasecmp(number, kind)
                   : !strncasecmp(layout, name, length) && layout[length] == '_' &&
                         !strcasecmp(layout + length + 1, kind))
            return true;
    }
    return false;
}

struct wmi_format_origin wmi_format_origin(bool typed, bool converts)
{
    if (!converts)
        return (struct wmi_format_origin){.format = WMI_FORMAT_FROM_OPCODE};
    return (struct wmi_format_origin){.format =
                                          typed ? WMI_FORMAT_FROM_INSTRUCTION : WMI_FORMAT_FROM_RESOURCE,
                                      .selects = !typed,
                                      .all_or_nothing = true};
}
