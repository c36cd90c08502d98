/* SPDX-License-Identifier: MIT */
/* Image instructions on linear images, assembled for every target that has them, against a slow statement of
 * where texels are and of what their components become. */
#include "base/random.h"
#include "wavemem/wavemem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LANES = 32, IMAGE_BYTES = 1 << 20, RESULTS = 6, MARK = 0x5a5a5a5a, ROUNDS = 24 };

static const char *const targets[] = {"gfx600", "gfx700",  "gfx803",  "gfx900",  "gfx906",  "gfx908",
                                      "gfx90a", "gfx1010", "gfx1030", "gfx1100", "gfx1150", "gfx1200"};
enum { TARGETS = sizeof targets / sizeof targets[0] };

enum type { T1D = 8, T2D, T3D, TCUBE, T1D_ARRAY, T2D_ARRAY };

/* Formats that the statement knows: components of equal width, unsigned integers or UNORM of 8 bits. */
static const struct format {
    unsigned components, bits;
    bool unorm;
    unsigned data, number, gfx10, gfx11; /* DATA_FORMAT, NUM_FORMAT; FORMAT: hardware.md 1.5 */
} formats[] = {
    {1, 32, false, 4, 4, 20, 20},      {4, 8, false, 10, 4, 0x3c, 0x2e}, {4, 8, true, 10, 0, 0x38, 0x2a},
    {4, 32, false, 14, 4, 0x4b, 0x3d}, {2, 16, false, 5, 4, 27, 27},
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

/* ---- an image, and the statement ---- */

struct image {
    const char *target;
    enum type type;
    const struct format *format;
    uint32_t width, height, depth; /* depth: z or slices of the resource */
    uint32_t mips, base_level, last_level, base_array, last_array;
    uint32_t pitch; /* texels, of gfx6 to gfx9 */
    uint64_t base;  /* guest address */
    uint32_t words[8];
    bool a16, d16, r128; /* of the instruction */
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

/* hardware.md 9.2. */
static uint32_t row_bytes(const struct image *m, uint32_t level)
{
    if (generation(m->target) < 16 && !m->r128)
        return m->pitch * texel_bytes(m);
    const uint32_t step = generation(m->target) == 18 ? 128 : 256;
    uint32_t bytes = 0;
    while (bytes < at_level(m->width, level) * texel_bytes(m))
        bytes += step;
    return bytes;
}

/* Offset of a texel: slice by slice, in each the smallest level first, row by row. */
static uint64_t offset_of(const struct image *m, uint32_t x, uint32_t y, uint32_t slice, uint32_t level)
{
    uint64_t slice_bytes = 0, level_begin = 0;
    for (uint32_t i = m->mips; i-- > 0;) {
        if (i == level)
            level_begin = slice_bytes;
        slice_bytes += (uint64_t)row_bytes(m, i) * at_level(m->height, i);
    }
    return slice * slice_bytes + level_begin + (uint64_t)y * row_bytes(m, level) +
           (uint64_t)x * texel_bytes(m);
}

/* Whether the texel is there, and its offset. */
static bool find_texel(const struct image *m, const uint32_t c[4], bool has_level, uint64_t *offset)
{
    static const unsigned with_y = 1 << T2D | 1 << T3D | 1 << TCUBE | 1 << T2D_ARRAY;
    static const unsigned with_slice = 1 << T3D | 1 << TCUBE | 1 << T1D_ARRAY | 1 << T2D_ARRAY;
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
    *offset = offset_of(m, c[0], y, base + slice, level);
    return true;
}

/* Component `i` of a texel, as a register of 32 bits. */
static uint32_t component(const struct format *f, const unsigned char *texel, unsigned i)
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

static void set(struct wm_descriptor_field *fields, size_t *count, const char *name, uint64_t value)
{
    fields[*count].name = name;
    fields[(*count)++].value = value;
}

static void encode(struct image *m)
{
    struct wm_descriptor_field f[WM_DESCRIPTOR_FIELDS];
    struct wm_descriptor d;
    struct wm_diag diag;
    size_t n = 0;
    const unsigned g = generation(m->target);
    set(f, &n, "BASE_ADDRESS", m->base >> 8);
    set(f, &n, "WIDTH", m->width - 1);
    set(f, &n, "HEIGHT", m->height - 1);
    set(f, &n, "TYPE", m->type);
    set(f, &n, "DST_SEL_X", 4);
    set(f, &n, "DST_SEL_Y", m->format->components > 1 ? 5 : 0);
    set(f, &n, "DST_SEL_Z", m->format->components > 2 ? 6 : 0);
    set(f, &n, "DST_SEL_W", m->format->components > 3 ? 7 : 1);
    set(f, &n, "BASE_LEVEL", m->base_level);
    set(f, &n, "LAST_LEVEL", m->last_level);
    set(f, &n, "BASE_ARRAY", m->type == T3D ? 0 : m->base_array);
    if (g < 9)
        set(f, &n, "LAST_ARRAY", m->last_array);
    if (m->type == T3D)
        set(f, &n, "DEPTH", m->depth - 1);
    else if (g >= 9 && m->type >= TCUBE)
        set(f, &n, "DEPTH", m->last_array);
    if (g < 16) {
        set(f, &n, "PITCH", m->pitch - 1);
        set(f, &n, "DATA_FORMAT", m->format->data);
        set(f, &n, "NUM_FORMAT", m->format->number);
    } else {
        set(f, &n, "MAX_MIP", m->mips - 1);
        set(f, &n, "FORMAT", g == 16 ? m->format->gfx10 : m->format->gfx11);
    }
    if (g < 9)
        set(f, &n, "TILING_INDEX", 8);
    if (wm_descriptor_encode(m->target, WM_DESCRIPTOR_IMAGE, f, n, &d, &diag) != WM_OK)
        fail_msg("%s: %s", m->target, diag.message);
    memcpy(m->words, d.words, sizeof m->words);
}

static struct image make_image(const char *target, uint64_t base)
{
    struct image m = {.target = target, .base = base, .mips = 1};
    m.type = (enum type)(T1D + below(6));
    m.format = &formats[below(FORMATS)];
    m.width = 1 + below(70);
    m.height = m.type == T1D || m.type == T1D_ARRAY ? 1 : 1 + below(20);
    m.depth = m.type == TCUBE ? 12 : m.type == T1D || m.type == T2D ? 1 : 1 + below(5);
    m.pitch = m.width + below(20);
    if (generation(target) >= 16 && below(2)) {
        m.mips = 1 + below(4);
        m.last_level = below(m.mips);
        m.base_level = below(m.last_level + 1);
    }
    if (m.type >= TCUBE && m.type != T3D) {
        m.last_array = m.type == TCUBE ? 5 + 6 * below(2) : below(m.depth);
        m.base_array = m.type == TCUBE ? 0 : below(m.last_array + 1);
    }
    encode(&m);
    return m;
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

/* Lane l gets coordinate i from dword 64 i + l of `input`, and data from 256 + 64 i + l; results go to
 * `output`, 64 i + l. */
static void frame_program(struct text *t, const char *target, const uint32_t words[8], uint64_t input,
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
    uint64_t image, input, output;
    unsigned char *bytes; /* of the image */
    uint32_t *in, *out;
    struct wm_object **objects; /* that ran, which must outlive the machine */
    size_t object_count;
} m;

static void end_machine(void)
{
    wm_machine_destroy(m.machine);
    while (m.object_count)
        wm_object_close(m.objects[--m.object_count]);
    free(m.objects);
    m.objects = NULL;
}

static void open_machine(const char *target)
{
    assert_int_equal(wm_machine_create(target, &m.machine, NULL), WM_OK);
    assert_int_equal(wm_allocate(m.machine, IMAGE_BYTES, 0, "image", &m.image, NULL), WM_OK);
    assert_int_equal(wm_allocate(m.machine, 4096, 0, "input", &m.input, NULL), WM_OK);
    assert_int_equal(wm_allocate(m.machine, 4096, 0, "output", &m.output, NULL), WM_OK);
    m.bytes = wm_host_pointer(m.machine, m.image, IMAGE_BYTES);
    m.in = wm_host_pointer(m.machine, m.input, 4096);
    m.out = wm_host_pointer(m.machine, m.output, 4096);
    for (unsigned i = 0; i < IMAGE_BYTES; i++)
        m.bytes[i] = (unsigned char)below(256);
}

static struct wm_fault run(const char *target, const uint32_t words[8], const char *instruction)
{
    struct text text = {.length = 0};
    uint8_t *code;
    size_t size;
    char *messages = NULL;
    struct wm_diag diag;
    struct wm_object *object;
    const struct wm_kernel *kernel;
    struct wm_result result = {.struct_size = sizeof result};
    const struct wm_dispatch dispatch = {
        .struct_size = sizeof dispatch, .grid = {LANES}, .workgroup = {LANES}, .threads = 1};
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
    free(code);
    return result.fault;
}

static const char *registers(char text[16], unsigned first, unsigned count)
{
    if (count == 1)
        snprintf(text, 16, "v%u", first);
    else
        snprintf(text, 16, "v[%u:%u]", first, first + count - 1);
    return text;
}

/* "image_load v[10:13], v[4:6], s[8:15] dmask:0xf ..." */
static void write_instruction(char text[200], const struct image *i, const char *name, unsigned data,
                              unsigned data_count, unsigned dmask, bool has_level, const char *flags)
{
    static const char *const dims[] = {"1D", "2D", "3D", "CUBE", "1D_ARRAY", "2D_ARRAY"};
    static const uint8_t coordinates[] = {1, 2, 3, 3, 2, 3};
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
             i->d16 ? " d16" : "", !dim && (i->type == T1D_ARRAY || i->type == T2D_ARRAY) ? " da" : "",
             flags);
}

/* Coordinates, mostly of texels that there are. */
static void draw_coordinates(const struct image *i, uint32_t c[LANES][4])
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

/* ---- the tests ---- */

/* What the instruction may say besides, at random. */
static void draw_flags(struct image *i)
{
    const unsigned g = generation(i->target);
    i->a16 = g >= 9 && below(3) == 0;
    i->d16 = g >= 8 && i->format->bits < 32 && !i->format->unorm && below(2);
    i->r128 = g != 9 && i->type <= T2D && i->mips == 1 && i->width > 1 && below(2);
}

/* The registers that a load gives a lane: `value`; so many. */
static unsigned expect_load(const struct image *i, const uint32_t c[4], unsigned dmask, bool has_level,
                            bool tfe, uint32_t value[RESULTS])
{
    uint64_t offset = 0;
    const bool there = find_texel(i, c, has_level, &offset);
    const bool packed = i->d16 && generation(i->target) != 8;
    unsigned n = 0;
    for (unsigned k = 0; k < RESULTS; k++)
        value[k] = MARK;
    for (unsigned k = 0; k < 4; k++) {
        uint32_t expected = 0;
        if (!(dmask >> k & 1))
            continue;
        if (k == 3 && i->format->components < 4) /* DST_SEL 1 */
            expected = i->format->unorm ? 0x3f800000 : 1;
        else if (there && k < i->format->components)
            expected = component(i->format, m.bytes + offset, k);
        if (!packed)
            value[n] = expected;
        else if (n & 1)
            value[n / 2] = (value[n / 2] & 0xffff) | expected << 16;
        else
            value[n / 2] = (value[n / 2] & 0xffff0000) | expected;
        n++;
    }
    n = packed ? (n + 1) / 2 : n;
    if (tfe)
        value[n++] = 0;
    return n;
}

static void test_load(void **state)
{
    (void)state;
    for (unsigned t = 0; t < TARGETS; t++) {
        open_machine(targets[t]);
        for (unsigned round = 0; round < ROUNDS; round++) {
            uint32_t c[LANES][4], expected[RESULTS];
            char text[200];
            struct image i = make_image(targets[t], m.image);
            const unsigned dmask = 1 + below(15);
            const bool has_level = below(2), tfe = generation(targets[t]) != 9 && below(3) == 0;
            draw_flags(&i);
            draw_coordinates(&i, c);
            const unsigned count = expect_load(&i, c[0], dmask, has_level, tfe, expected);
            write_instruction(text, &i, has_level ? "image_load_mip" : "image_load", 10, count, dmask,
                              has_level, tfe ? " tfe" : "");
            const struct wm_fault fault = run(targets[t], i.words, text);
            if (fault.kind)
                fail_msg("%s: %s: %s", targets[t], text, fault.text);
            for (unsigned lane = 0; lane < LANES; lane++) {
                expect_load(&i, c[lane], dmask, has_level, tfe, expected);
                for (unsigned k = 0; k < RESULTS; k++)
                    if (m.out[64 * k + lane] != expected[k])
                        fail_msg("%s: %s: lane %u (%u %u %u %u) register %u: 0x%x, expected 0x%x", targets[t],
                                 text, lane, c[lane][0], c[lane][1], c[lane][2], c[lane][3], k,
                                 m.out[64 * k + lane], expected[k]);
            }
        }
        end_machine();
    }
}

static void test_store(void **state)
{
    (void)state;
    static unsigned char expected[IMAGE_BYTES];
    for (unsigned t = 0; t < TARGETS; t++) {
        open_machine(targets[t]);
        for (unsigned round = 0; round < ROUNDS; round++) {
            uint32_t c[LANES][4], data[4][LANES];
            char text[200];
            struct image i = make_image(targets[t], m.image);
            const unsigned dmask = 1 + below(15), count = (unsigned)__builtin_popcount(dmask);
            const bool has_level = below(2);
            while (i.format->unorm)
                i.format = &formats[below(FORMATS)];
            encode(&i);
            draw_coordinates(&i, c);
            for (unsigned k = 0; k < 4; k++)
                for (unsigned lane = 0; lane < LANES; lane++) {
                    data[k][lane] = (uint32_t)wmi_random_bits(seed, drawn++);
                    if (i.format->bits < 32) /* what does not fit is another test's */
                        data[k][lane] &= (1u << i.format->bits) - 1;
                    m.in[256 + 64 * k + lane] = data[k][lane];
                }
            write_instruction(text, &i, has_level ? "image_store_mip" : "image_store", 20, count, dmask,
                              has_level, "");
            memcpy(expected, m.bytes, IMAGE_BYTES);
            for (unsigned lane = 0; lane < LANES; lane++) {
                uint64_t offset;
                unsigned n = 0;
                if (!find_texel(&i, c[lane], has_level, &offset))
                    continue;
                for (unsigned k = 0; k < 4; k++) {
                    const uint32_t value = dmask >> k & 1 ? data[n++][lane] : 0;
                    if (k < i.format->components)
                        memcpy(expected + offset + k * i.format->bits / 8, &value, i.format->bits / 8);
                }
            }
            const struct wm_fault fault = run(targets[t], i.words, text);
            if (fault.kind)
                fail_msg("%s: %s: %s", targets[t], text, fault.text);
            for (unsigned at = 0; at < IMAGE_BYTES; at++)
                if (expected[at] != m.bytes[at])
                    fail_msg("%s: %s: byte %u is 0x%x, expected 0x%x", targets[t], text, at, m.bytes[at],
                             expected[at]);
        }
        end_machine();
    }
}

static void test_atomic(void **state)
{
    (void)state;
    static uint32_t before[IMAGE_BYTES / 4];
    for (unsigned t = 0; t < TARGETS; t++) {
        open_machine(targets[t]);
        for (unsigned round = 0; round < ROUNDS / 2; round++) {
            uint32_t c[LANES][4];
            char text[200];
            struct image i = make_image(targets[t], m.image);
            i.format = &formats[0];
            encode(&i);
            draw_coordinates(&i, c);
            memcpy(before, m.bytes, IMAGE_BYTES);
            /* The data is in v20; its value before goes there, so v10 is a copy behind. */
            for (unsigned lane = 0; lane < LANES; lane++)
                m.in[256 + lane] = lane + 1;
            write_instruction(text, &i,
                              generation(targets[t]) == 18 ? "image_atomic_add_uint" : "image_atomic_add", 20,
                              1, 1, false, generation(targets[t]) == 18 ? " th:TH_ATOMIC_RETURN" : " glc");
            strcat(text, "\nv_mov_b32 v10, v20");
            const struct wm_fault fault = run(targets[t], i.words, text);
            if (fault.kind)
                fail_msg("%s: %s: %s", targets[t], text, fault.text);
            for (unsigned lane = 0; lane < LANES; lane++) { /* lanes act in their order */
                uint64_t offset;
                uint32_t expected = 0;
                if (find_texel(&i, c[lane], false, &offset)) {
                    expected = before[offset / 4];
                    before[offset / 4] += lane + 1;
                }
                if (m.out[lane] != expected)
                    fail_msg("%s: %s: lane %u (%u %u %u): 0x%x, expected 0x%x", targets[t], text, lane,
                             c[lane][0], c[lane][1], c[lane][2], m.out[lane], expected);
            }
            assert_memory_equal(before, m.bytes, IMAGE_BYTES);
        }
        end_machine();
    }
}

static void test_resinfo(void **state)
{
    (void)state;
    for (unsigned t = 0; t < TARGETS; t++) {
        open_machine(targets[t]);
        for (unsigned round = 0; round < ROUNDS / 2; round++) {
            char text[200];
            struct image i = make_image(targets[t], m.image);
            const bool dim = generation(targets[t]) >= 16;
            for (unsigned lane = 0; lane < LANES; lane++)
                m.in[lane] = lane % 6;
            snprintf(text, sizeof text, "image_get_resinfo v[10:13], v4, s[8:15] dmask:0xf%s%s",
                     dim ? " dim:SQ_RSRC_IMG_2D" : "", generation(targets[t]) == 18 ? "" : " unorm");
            const struct wm_fault fault = run(targets[t], i.words, text);
            if (fault.kind)
                fail_msg("%s: %s: %s", targets[t], text, fault.text);
            for (unsigned lane = 0; lane < LANES; lane++) {
                const uint32_t level = i.base_level + lane % 6;
                const bool there = level <= i.last_level;
                const uint32_t slices = i.type == T3D     ? at_level(i.depth, level)
                                        : i.type == TCUBE ? (i.last_array + 1) / 6
                                                          : i.last_array - i.base_array + 1;
                assert_int_equal(m.out[lane], there ? at_level(i.width, level) : 0);
                assert_int_equal(m.out[64 + lane], there ? at_level(i.height, level) : 0);
                assert_int_equal(m.out[128 + lane], there ? slices : 0);
                assert_int_equal(m.out[192 + lane], i.last_level - i.base_level + 1);
            }
        }
        end_machine();
    }
}

static void test_refused(void **state)
{
    (void)state;
    for (unsigned t = 0; t < TARGETS; t++) {
        char text[200];
        open_machine(targets[t]);
        struct image i = make_image(targets[t], m.image);
        i.words[3] =
            generation(targets[t]) < 9 ? (i.words[3] & ~(31u << 20)) | 13 << 20 : i.words[3] | 1 << 20;
        draw_coordinates(&i, (uint32_t[LANES][4]){0});
        write_instruction(text, &i, "image_load", 10, 1, 1, false, "");
        const struct wm_fault fault = run(targets[t], i.words, text);
        assert_int_equal(fault.kind, WM_FAULT_RESOURCE);
        assert_non_null(strstr(fault.text, "a tiled image; wavemem accesses linear ones"));
        assert_non_null(strstr(fault.text, "image_load v10"));
        end_machine();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_load),    cmocka_unit_test(test_store),   cmocka_unit_test(test_atomic),
        cmocka_unit_test(test_resinfo), cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
