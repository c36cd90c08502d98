/* SPDX-License-Identifier: MIT */
/* Random linear and tiled images, image instructions assembled for every target that has them, and a simple
 * reference for addresses of linear texels, for the tests of image instructions. Those of tiled texels come
 * from memory/tiling, which tests/unit/memory/tiling.c compares with AMD's addrlib. */
#ifndef TESTS_RUN_IMAGE_H
#define TESTS_RUN_IMAGE_H

#include "base/random.h"
#include "isa/isa.h"
#include "profile/cost/gpu.h"
#include "wavemem/wavemem.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    BLOCK = 1 << WMI_BLOCK_BITS,
    LANES = 32,
    IMAGE_BYTES = 1 << 20,
    RESULTS = 6,
    MARK = 0x5a5a5a5a,
    ROUNDS = 24
};

static const char *const targets[] = {"gfx600", "gfx700",  "gfx803",  "gfx900",  "gfx906",  "gfx908",
                                      "gfx90a", "gfx1010", "gfx1030", "gfx1100", "gfx1150", "gfx1200"};
enum { TARGETS = sizeof targets / sizeof targets[0] };

enum type { T1D = 8, T2D, T3D, TCUBE, T1D_ARRAY, T2D_ARRAY, T2D_MSAA, T2D_MSAA_ARRAY };

/* Formats that the reference supports: components of equal size, unsigned integers or 8-bit UNORM. */
static const struct format {
    unsigned components, bits;
    bool unorm;
    unsigned data, number, gfx10, gfx11; /* DATA_FORMAT, NUM_FORMAT; FORMAT of PAL's headers */
} formats[] = {
    {1, 32, false, 4, 4, 20, 20},      {4, 8, false, 10, 4, 0x3c, 0x2e}, {4, 8, true, 10, 0, 0x38, 0x2a},
    {4, 32, false, 14, 4, 0x4b, 0x3d}, {2, 16, false, 5, 4, 27, 27},     {2, 32, false, 11, 4, 0x3e, 0x30},
};
enum { FORMATS = sizeof formats / sizeof formats[0] };

static uint64_t seed, drawn;

static uint32_t below(uint32_t limit)
{
    return (uint32_t)(wmi_random_bits(seed, drawn++) % limit);
}

static unsigned generation(const char *target)
{
    return (unsigned)strtoul(target + 3, NULL, 16) >> 8;
}

/* ---- an image, and the reference ---- */

struct image {
    const char *target;
    enum type type;
    const struct format *format;
    uint32_t width, height, depth; /* depth: z or slices of the resource */
    uint32_t mips, base_level, last_level, base_array, last_array;
    uint32_t pitch;         /* in texels, gfx6 to gfx9 */
    uint64_t base;          /* guest address */
    unsigned mode, samples; /* of a tiled image; samples 0: linear */
    uint32_t pipe_bank_xor;
    struct wmi_surface surface;
    uint32_t words[8];
    bool a16, d16, r128; /* instruction flags */
};

static uint32_t texel_bytes(const struct image *m)
{
    return m->format->components * m->format->bits / 8;
}

static uint32_t at_level(uint32_t size, uint32_t level)
{
    while (level--)
        size /= 2;
    return size ? size : 1;
}

/* The size in memory: rounded up. */
static uint32_t padded_level(uint32_t size, uint32_t level)
{
    while (level--)
        size = (size + 1) / 2;
    return size;
}

/* gfx9: all levels have the pitch of the largest one. */
static bool one_pitch(const struct image *m)
{
    return generation(m->target) == 9 && m->mips > 1;
}

static uint32_t aligned_row(const struct image *m, uint32_t level, uint32_t step)
{
    uint32_t bytes = 0;
    while (bytes < padded_level(m->width, level) * texel_bytes(m))
        bytes += step;
    return bytes;
}

/* Pitch of a level in bytes. Source: AMD's addrlib, HwlComputeSurfaceInfoLinear; PAL. */
static uint32_t row_bytes(const struct image *m, uint32_t level)
{
    if (generation(m->target) < 16 && !m->r128 && !one_pitch(m))
        return m->pitch * texel_bytes(m);
    level = one_pitch(m) ? 0 : level;
    return aligned_row(m, level, generation(m->target) == 18 ? 128 : 256);
}

/* Bytes of a level. gfx12: if there are several levels or slices, with rows of 256 bytes. */
static uint32_t level_bytes(const struct image *m, uint32_t level)
{
    const bool many = m->mips > 1 || m->last_array || m->type == T3D;
    const uint32_t row =
        generation(m->target) == 18 && many ? aligned_row(m, level, 256) : row_bytes(m, level);
    return row * padded_level(m->height, level);
}

/* Total rows of the first `levels` levels if all have one pitch; each level has half the rows of the previous
 * one, rounded up. Source: AMD's addrlib of gfx9, ComputeSurfaceLinearPadding. */
static uint32_t chain_rows(const struct image *m, uint32_t levels)
{
    uint32_t rows = 0, next = m->height;
    for (; levels--; next -= next / 2)
        rows += next;
    return rows;
}

/* Offset of a texel: by slice, within it smallest level first, then by row. */
static uint64_t offset_of(const struct image *m, uint32_t x, uint32_t y, uint32_t slice, uint32_t level)
{
    uint64_t slice_bytes = 0, level_begin = 0;
    if (m->samples)
        return wmi_surface_offset(&m->surface, x, y, slice, 0, level);
    if (one_pitch(m))
        return (uint64_t)(slice * chain_rows(m, m->mips) + chain_rows(m, level) + y) * row_bytes(m, 0) +
               (uint64_t)x * texel_bytes(m);
    for (uint32_t i = m->mips; i-- > 0;) {
        if (i == level)
            level_begin = slice_bytes;
        slice_bytes += level_bytes(m, i);
    }
    return slice * slice_bytes + level_begin + (uint64_t)y * row_bytes(m, level) +
           (uint64_t)x * texel_bytes(m);
}

/* Whether the texel exists, and its offset. */
static inline bool find_texel(const struct image *m, const uint32_t c[4], bool has_level, uint64_t *offset)
{
    static const unsigned with_y =
        1 << T2D | 1 << T3D | 1 << TCUBE | 1 << T2D_ARRAY | 1 << T2D_MSAA | 1 << T2D_MSAA_ARRAY;
    static const unsigned with_slice =
        1 << T3D | 1 << TCUBE | 1 << T1D_ARRAY | 1 << T2D_ARRAY | 1 << T2D_MSAA_ARRAY;
    unsigned next = 1;
    const uint32_t y = with_y >> m->type & 1 ? c[next++] : 0;
    const uint32_t slice = with_slice >> m->type & 1 ? c[next++] : 0;
    const uint32_t level = m->base_level + (has_level ? c[next] : 0);
    if (has_level && c[next] > m->last_level - m->base_level)
        return false;
    const uint32_t base = m->type == T3D ? 0 : m->base_array;
    const uint32_t slices = m->type == T3D              ? at_level(m->depth, level)
                            : with_slice >> m->type & 1 ? m->last_array - m->base_array + 1
                                                        : 1;
    if (c[0] >= at_level(m->width, level) || y >= at_level(m->height, level) || slice >= slices)
        return false;
    if (m->type >= T2D_MSAA) {
        *offset = wmi_surface_offset(&m->surface, c[0], y, base + slice, c[next], 0);
        return c[next] < m->samples;
    }
    *offset = offset_of(m, c[0], y, base + slice, level);
    return true;
}

/* Component `i` of a texel, as a 32-bit register value. */
static inline uint32_t component(const struct format *f, const unsigned char *texel, unsigned i)
{
    uint32_t raw = 0;
    memcpy(&raw, texel + i * f->bits / 8, f->bits / 8);
    if (f->unorm) {
        const float value = (float)raw / 255.0f;
        memcpy(&raw, &value, 4);
    }
    return raw;
}

/* ---- T# ---- */

static inline void set(struct wm_descriptor_field *fields, size_t *count, const char *name, uint64_t value)
{
    fields[*count].name = name;
    fields[(*count)++].value = value;
}

static inline void encode(struct image *m)
{
    struct wm_descriptor_field f[WM_DESCRIPTOR_FIELDS];
    struct wm_descriptor d;
    struct wm_diag diag;
    size_t n = 0;
    const unsigned g = generation(m->target);
    set(f, &n, "BASE_ADDRESS", m->base >> 8 | m->pipe_bank_xor);
    set(f, &n, "WIDTH", m->width - 1);
    set(f, &n, "HEIGHT", m->height - 1);
    set(f, &n, "TYPE", m->type);
    set(f, &n, "DST_SEL_X", 4);
    set(f, &n, "DST_SEL_Y", m->format->components > 1 ? 5 : 0);
    set(f, &n, "DST_SEL_Z", m->format->components > 2 ? 6 : 0);
    set(f, &n, "DST_SEL_W", m->format->components > 3 ? 7 : 1);
    set(f, &n, "BASE_LEVEL", m->base_level);
    const bool multisampled = m->type >= T2D_MSAA;
    const unsigned log_samples = m->samples ? (unsigned)__builtin_ctz(m->samples) : 0;
    set(f, &n, "LAST_LEVEL", multisampled ? log_samples : m->last_level);
    set(f, &n, "BASE_ARRAY", m->type == T3D ? 0 : m->base_array);
    if (g < 9)
        set(f, &n, "LAST_ARRAY", m->last_array);
    if (m->type == T3D)
        set(f, &n, "DEPTH", m->depth - 1);
    else if (g >= 9 && m->type >= TCUBE)
        set(f, &n, "DEPTH", m->last_array);
    if (g < 16) {
        set(f, &n, "PITCH", (one_pitch(m) && !m->samples ? chain_rows(m, m->mips) : m->pitch) - 1);
        if (g == 9)
            set(f, &n, "MAX_MIP", multisampled ? log_samples : m->mips - 1);
        set(f, &n, "DATA_FORMAT", m->format->data);
        set(f, &n, "NUM_FORMAT", m->format->number);
    } else {
        set(f, &n, "MAX_MIP", multisampled ? log_samples : m->mips - 1);
        set(f, &n, "FORMAT", g == 16 ? m->format->gfx10 : m->format->gfx11);
    }
    set(f, &n, g < 9 ? "TILING_INDEX" : "SW_MODE", m->samples ? m->mode : g < 9 ? 8 : 0);
    if (wm_descriptor_encode(m->target, WM_DESCRIPTOR_IMAGE, f, n, &d, &diag) != WM_OK)
        fail_msg("%s: %s", m->target, diag.message);
    memcpy(m->words, d.words, sizeof m->words);
}

/* gfx9: PITCH of an image with levels is the width of all levels together where they lie beside one another,
 * else the height (tiling of gfx9: addrlib, epitchIsHeight). */
static inline uint32_t chain_pitch(const struct wmi_surface *s)
{
    const struct wmi_equation *e = s->equation;
    const uint64_t pitch = s->level[0].pitch, rows = (s->layer >> e->bits) / pitch;
    const uint32_t x = (s->shape.width - 1) >> e->block[0], y = (s->shape.height - 1) >> e->block[1];
    return x < y ? (uint32_t)(pitch << e->block[0]) : (uint32_t)(rows << e->block[1]);
}

/* Gives the image a random mode of the target's default product, with `samples` samples, if there is one and
 * the image is not too large; returns whether. */
static inline bool tile_image(struct image *m, unsigned samples)
{
    const struct wmi_target *target = wmi_target_find(m->target);
    const struct wmi_tiling tiling = wmi_gpu_tiling(NULL, target);
    const uint32_t layers = m->type == T3D ? m->depth : m->last_array + 1;
    for (unsigned attempt = 0; attempt < 60; attempt++) {
        const struct wmi_surface_shape shape = {.dimensions = m->type == T1D || m->type == T1D_ARRAY ? 1
                                                              : m->type == T3D                       ? 3
                                                                                                     : 2,
                                                .bytes = (uint8_t)texel_bytes(m),
                                                .samples = (uint8_t)samples,
                                                .levels = (uint8_t)m->mips,
                                                .mode = (uint8_t)below(32),
                                                .width = m->width,
                                                .height = m->height,
                                                .depth = layers,
                                                .pipe_bank_xor = below(256)};
        if (shape.mode == wmi_tiling_linear(&tiling) || wmi_surface_place(&tiling, &shape, &m->surface) ||
            m->surface.bytes > IMAGE_BYTES)
            continue;
        m->mode = shape.mode;
        m->samples = samples;
        m->pipe_bank_xor = shape.pipe_bank_xor & wmi_surface_xor_bits(&m->surface) >> 8;
        m->pitch = (uint32_t)m->surface.level[0].pitch;
        if (m->surface.kind == WMI_SURFACE_BLOCKS && generation(m->target) < 16)
            m->pitch = m->mips > 1 ? chain_pitch(&m->surface) : m->pitch << m->surface.equation->block[0];
        return true;
    }
    return false;
}

static inline struct image make_image(const char *target, uint64_t base)
{
    struct image m = {.target = target, .base = base, .mips = 1};
    m.type = (enum type)(T1D + below(6));
    m.format = &formats[below(FORMATS)];
    m.width = 1 + below(70);
    m.height = m.type == T1D || m.type == T1D_ARRAY ? 1 : 1 + below(20);
    m.depth = m.type == TCUBE ? 12 : m.type == T1D || m.type == T2D ? 1 : 1 + below(5);
    m.pitch = m.width + below(20);
    if (generation(target) >= 9 && below(2)) {
        m.mips = 1 + below(4);
        m.last_level = below(m.mips);
        m.base_level = below(m.last_level + 1);
    }
    if (m.type >= TCUBE && m.type != T3D) {
        m.last_array = m.type == TCUBE ? 5 + 6 * below(2) : below(m.depth);
        m.base_array = m.type == TCUBE ? 0 : below(m.last_array + 1);
    }
    if (below(2))
        tile_image(&m, 1);
    encode(&m);
    return m;
}

/* Another format, and so another place for texels. */
static inline void change_format(struct image *m, const struct format *format)
{
    m->format = format;
    m->samples = m->mode = m->pipe_bank_xor = 0;
    m->pitch = m->width + below(20);
    if (below(2))
        tile_image(m, 1);
    encode(m);
}

/* ---- programs ---- */

struct text {
    char line[6000];
    size_t length;
};

__attribute__((format(printf, 2, 3))) static void put(struct text *t, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    t->length += (size_t)vsnprintf(t->line + t->length, sizeof t->line - t->length, format, list);
    va_end(list);
    assert_true(t->length < sizeof t->line);
}

/* Lane l reads coordinate i from dword 64 i + l of `input`, and data from 256 + 64 i + l; results go to
 * `output`, 64 i + l. */
static inline void frame_program(struct text *t, const char *target, const uint32_t words[8], uint64_t input,
                                 uint64_t output, const char *instruction)
{
    const bool renamed = generation(target) >= 17;
    const char *zero = generation(target) == 18 ? "null" : "0";
    const uint32_t word3 = generation(target) >= 17   ? 3u << 28 | 20 << 12 | 0xfac
                           : generation(target) == 16 ? 3u << 28 | 1 << 24 | 20 << 12 | 0xfac
                                                      : 0x27fac;
    const uint64_t buffers[] = {input, output};
    for (unsigned i = 0; i < 8; i++)
        put(t, "s_mov_b32 s%u, 0x%x\n", 8 + i, words[i]);
    for (unsigned i = 0; i < 2; i++)
        put(t, "s_mov_b32 s%u, 0x%x\ns_mov_b32 s%u, 0x%x\ns_movk_i32 s%u, 0x1000\ns_mov_b32 s%u, 0x%x\n",
            16 + 4 * i, (uint32_t)buffers[i], 17 + 4 * i, (uint32_t)(buffers[i] >> 32), 18 + 4 * i,
            19 + 4 * i, word3);
    put(t, "v_lshlrev_b32 v1, 2, v0\n");
    for (unsigned i = 0; i < 8; i++)
        put(t, "%s v%u, v1, s[16:19], %s offen offset:%u\n",
            renamed ? "buffer_load_b32" : "buffer_load_dword", i < 4 ? 4 + i : 20 + i - 4, zero, 256 * i);
    for (unsigned i = 0; i < RESULTS; i++)
        put(t, "v_mov_b32 v%u, 0x%x\n", 10 + i, MARK);
    put(t, "%s\n", instruction);
    for (unsigned i = 0; i < RESULTS; i++)
        put(t, "%s v%u, v1, s[20:23], %s offen offset:%u\n",
            renamed ? "buffer_store_b32" : "buffer_store_dword", 10 + i, zero, 256 * i);
    put(t, "s_endpgm\n");
}

static struct machine {
    struct wm_machine *machine;
    uint64_t image, input, output, constant; /* constant: read-only memory of LANES texels, all 0 */
    unsigned on_violation;                   /* for runs, */
    uint64_t violations;                     /* and their number in the last run */
    unsigned char *bytes;                    /* of the image */
    uint32_t *in, *out;
    struct wm_object **objects; /* executed objects, which must outlive the machine */
    size_t object_count;
} m;

static inline void end_machine(void)
{
    wm_machine_destroy(m.machine);
    while (m.object_count)
        wm_object_close(m.objects[--m.object_count]);
    free(m.objects);
    m.objects = NULL;
}

static inline void open_machine(const char *target)
{
    assert_int_equal(wm_machine_create(target, &m.machine, NULL), WM_OK);
    assert_int_equal(wm_allocate(m.machine, IMAGE_BYTES + BLOCK, 0, "image", &m.image, NULL), WM_OK);
    m.image = (m.image + BLOCK - 1) / BLOCK * BLOCK;
    assert_int_equal(wm_allocate(m.machine, 4096, 0, "input", &m.input, NULL), WM_OK);
    assert_int_equal(wm_allocate(m.machine, 4096, 0, "output", &m.output, NULL), WM_OK);
    assert_int_equal(wm_allocate(m.machine, 4096, WM_READ_ONLY, "constant", &m.constant, NULL), WM_OK);
    m.bytes = wm_host_pointer(m.machine, m.image, IMAGE_BYTES);
    m.in = wm_host_pointer(m.machine, m.input, 4096);
    m.out = wm_host_pointer(m.machine, m.output, 4096);
    for (unsigned i = 0; i < IMAGE_BYTES; i++)
        m.bytes[i] = (unsigned char)below(256);
}

static inline struct wm_fault run(const char *target, const uint32_t words[8], const char *instruction)
{
    struct text text = {.length = 0};
    uint8_t *code;
    size_t size;
    char *messages = NULL;
    struct wm_diag diag;
    struct wm_object *object;
    const struct wm_kernel *kernel;
    struct wm_result result = {.struct_size = sizeof result};
    const struct wm_dispatch dispatch = {.struct_size = sizeof dispatch,
                                         .grid = {LANES},
                                         .workgroup = {LANES},
                                         .threads = 1,
                                         .on_violation = m.on_violation};
    frame_program(&text, target, words, m.input, m.output, instruction);
    if (wm_assemble(text.line, text.length, "test", target, WM_ASSEMBLE_RAW, &code, &size, &messages,
                    &diag) != WM_OK)
        fail_msg("%s: %s\n%s", target, instruction, messages);
    free(messages);
    assert_int_equal(wm_object_open(code, size, "test", target, &object, &diag), WM_OK);
    assert_int_equal(wm_object_find_kernel(object, NULL, &kernel, &diag), WM_OK);
    assert_int_equal(wm_load(m.machine, object, &diag), WM_OK);
    assert_int_equal(wm_dispatch(m.machine, object, kernel, &dispatch, &result, &diag), WM_OK);
    m.objects = realloc(m.objects, (m.object_count + 1) * sizeof(struct wm_object *));
    assert_non_null(m.objects);
    m.objects[m.object_count++] = object;
    m.violations = result.violations;
    free(code);
    return result.fault;
}

static inline const char *registers(char text[16], unsigned first, unsigned count)
{
    if (count == 1)
        snprintf(text, 16, "v%u", first);
    else
        snprintf(text, 16, "v[%u:%u]", first, first + count - 1);
    return text;
}

/* "image_load v[10:13], v[4:6], s[8:15] dmask:0xf ..." */
static inline void write_instruction(char text[200], const struct image *i, const char *name, unsigned data,
                                     unsigned data_count, unsigned dmask, bool has_level, const char *flags)
{
    static const char *const dims[] = {"1D",       "2D",       "3D",      "CUBE",
                                       "1D_ARRAY", "2D_ARRAY", "2D_MSAA", "2D_MSAA_ARRAY"};
    static const uint8_t coordinates[] = {1, 2, 3, 3, 2, 3, 3, 4};
    char a[16], b[16], list[40];
    const unsigned all = coordinates[i->type - T1D] + has_level;
    const unsigned count = i->a16 ? (all + 1) / 2 : all;
    const bool dim = generation(i->target) >= 16;
    registers(b, 4, count);
    if (count > 1 && (generation(i->target) == 18 || (dim && below(2)))) { /* a list; gfx12 has no tuples */
        snprintf(list, sizeof list, "[v4, v5%s%s]", count > 2 ? ", v6" : "", count > 3 ? ", v7" : "");
    } else {
        snprintf(list, sizeof list, "%s", b);
    }
    snprintf(text, 200, "%s %s, %s, s[8:%u] dmask:0x%x%s%s%s%s%s%s%s%s", name, registers(a, data, data_count),
             list, 15, dmask, dim ? " dim:SQ_RSRC_IMG_" : "", dim ? dims[i->type - T1D] : "",
             generation(i->target) == 18 ? "" : " unorm", i->r128 ? " r128" : "", i->a16 ? " a16" : "",
             i->d16 ? " d16" : "",
             !dim && (i->type == T1D_ARRAY || i->type == T2D_ARRAY || i->type == T2D_MSAA_ARRAY) ? " da" : "",
             flags);
}

/* Random coordinates, mostly of existing texels. */
static inline void draw_coordinates(const struct image *i, uint32_t c[LANES][4])
{
    for (unsigned lane = 0; lane < LANES; lane++) {
        for (unsigned k = 0; k < 4; k++) {
            const uint32_t limit = k == 0 ? i->width : below(3) ? 6 : i->height;
            c[lane][k] = below(limit + (below(4) == 0 ? 3 : 0));
            if (below(40) == 0)
                c[lane][k] = i->a16 ? 0xffff : 0xffffffff;
            m.in[64 * k + lane] = c[lane][k];
        }
        for (unsigned k = 0; k < 2 && i->a16; k++)
            m.in[64 * k + lane] = c[lane][2 * k] | c[lane][2 * k + 1] << 16;
    }
}

#endif
