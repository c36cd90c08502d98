/* SPDX-License-Identifier: MIT */
/* Runs kernels with images and samplers that clang compiled, against OpenCL's rules.
 *
 * usage: images IMAGES.co
 *
 * Source of the rules: The OpenCL C Specification 3.0, "Image addressing and filtering". Most coordinates are
 * such that weights are multiples of 1/256, where these rules and the hardware's rounding agree exactly; the
 * others are compared with the bound of that rounding. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <math.h>

#include <wavemem/wavemem.h>

#include "base/random.h"
#include "open_object.h"

enum { ITEMS = 512, WIDTH = 16, HEIGHT = 8, DEPTH = 4, CHANNELS = 4 };

static struct wm_object *object;
static struct wm_machine *machine;
static const char *target;
static uint64_t drawn;

static uint64_t draw(void)
{
    return wmi_random_bits(77, drawn++);
}

/* ---- images in memory ---- */

struct picture {
    struct wm_image image;
    struct wm_image_layout layout;
    uint64_t words; /* address of the descriptor */
    unsigned char *bytes;
};

static uint64_t put(const void *data, size_t size)
{
    uint64_t address;
    assert_int_equal(wm_allocate(machine, size, 0, "data", &address, NULL), WM_OK);
    assert_int_equal(wm_write(machine, address, data, size, NULL), WM_OK);
    return address;
}

static struct picture make_picture_of(struct wm_image image)
{
    struct picture p = {.image = image};
    uint32_t words[WM_IMAGE_WORDS];
    struct wm_diag diag;
    if (wm_image_describe(target, &p.image, words, &p.layout, &diag) != WM_OK)
        fail_msg("%s", diag.message);
    assert_int_equal(wm_allocate(machine, p.layout.bytes, 0, "image", &p.image.address, NULL), WM_OK);
    assert_int_equal(wm_image_describe(target, &p.image, words, &p.layout, NULL), WM_OK);
    p.words = put(words, sizeof words);
    p.bytes = wm_host_pointer(machine, p.image.address, p.layout.bytes);
    return p;
}

static struct picture make_picture(enum wm_image_geometry geometry, enum wm_image_type type,
                                   uint32_t channels, uint32_t width, uint32_t height, uint32_t depth)
{
    return make_picture_of((struct wm_image){.struct_size = sizeof(struct wm_image),
                                             .geometry = geometry,
                                             .type = type,
                                             .components = channels,
                                             .width = width,
                                             .height = height,
                                             .depth = depth});
}

static unsigned char *texel_at(const struct picture *p, uint32_t x, uint32_t y, uint32_t z)
{
    return p->bytes + x * p->layout.texel + y * p->layout.row + z * p->layout.slice;
}

static void fill(const struct picture *p)
{
    for (uint32_t z = 0; z < p->layout.slices; z++)
        for (uint32_t y = 0; y < p->layout.rows; y++)
            for (uint32_t x = 0; x < p->image.width; x++)
                for (uint32_t i = 0; i < p->layout.texel; i += 2) {
                    const uint64_t bits = draw();
                    const float f = (float)((double)(bits >> 40) * 0x1p-24);
                    const _Float16 half = (_Float16)f;
                    unsigned char *to = texel_at(p, x, y, z) + i;
                    if (p->image.type == WM_IMAGE_F32 && i % 4 == 0)
                        memcpy(to, &f, 4);
                    else if (p->image.type == WM_IMAGE_F16)
                        memcpy(to, &half, 2);
                    else if (p->image.type != WM_IMAGE_F32)
                        memcpy(to, &bits, p->layout.texel == 1 ? 1 : 2);
                }
}

/* A component as kernels read it. Source: OpenCL C, "Conversion rules". */
static double component(const struct picture *p, const unsigned char *texel, unsigned i)
{
    if (i >= p->image.components)
        return i == 3;
    float f;
    _Float16 half;
    int16_t s16;
    uint16_t u16;
    switch (p->image.type) {
    case WM_IMAGE_UNORM8:
        return texel[i] / 255.0;
    case WM_IMAGE_SNORM8:
        return fmax(-1, (int8_t)texel[i] / 127.0);
    case WM_IMAGE_U8:
        return texel[i];
    case WM_IMAGE_I8:
        return (int8_t)texel[i];
    case WM_IMAGE_UNORM16:
    case WM_IMAGE_U16:
        memcpy(&u16, texel + 2 * i, 2);
        return p->image.type == WM_IMAGE_U16 ? u16 : u16 / 65535.0;
    case WM_IMAGE_SNORM16:
    case WM_IMAGE_I16:
        memcpy(&s16, texel + 2 * i, 2);
        return p->image.type == WM_IMAGE_I16 ? s16 : fmax(-1, s16 / 32767.0);
    case WM_IMAGE_F16:
        memcpy(&half, texel + 2 * i, 2);
        return (double)half;
    default:
        memcpy(&f, texel + 4 * i, 4);
        return (double)f;
    }
}

/* ---- OpenCL's rules ---- */

struct sampler {
    enum wm_addressing addressing;
    bool linear, normalized;
};

/* The two texels of an axis, -1 for the border, and the second one's weight. */
struct axis {
    int at[2];
    double weight;
};

static int clamped(double i, int low, int high)
{
    return i < low ? low : i > high ? high : (int)i;
}

static int edged(const struct sampler *s, double i, int n)
{
    const int at = s->addressing == WM_ADDRESSING_BORDER ? clamped(i, -1, n) : clamped(i, 0, n - 1);
    return at == n ? -1 : at;
}

/* OpenCL C, "Addressing and filter mode": by mode, for a coordinate c and n texels. */
static struct axis axis_of(const struct sampler *s, double c, int n)
{
    struct axis a = {{0, 0}, 0};
    double u = s->normalized ? c * n : c;
    const bool repeat = s->addressing == WM_ADDRESSING_REPEAT, mirror = s->addressing == WM_ADDRESSING_MIRROR;
    if (repeat)
        u = (c - floor(c)) * n;
    if (mirror)
        u = fabs(c - 2 * rint(0.5 * c)) * n;
    const double low = s->linear ? floor(u - 0.5) : floor(u);
    for (unsigned i = 0; i < 2; i++) {
        double at = low + i;
        if (repeat)
            at = at < 0 ? n + at : at > n - 1 ? at - n : at;
        if (mirror)
            at = fmin(fmax(at, 0), n - 1);
        a.at[i] = edged(s, at, n);
    }
    a.weight = s->linear ? u - 0.5 - low : 0;
    return a;
}

/* Layers: clamp(rint(w), 0, d - 1). */
static struct axis layer_of(double c, uint32_t layers)
{
    return (struct axis){{clamped(rint(c), 0, (int)layers - 1), 0}, 0};
}

static void expect(const struct picture *p, const struct sampler *s, const float at[4], double value[4])
{
    const struct wm_image *image = &p->image;
    const struct axis none = {{0, 0}, 0};
    const bool layers_y = image->geometry == WM_IMAGE_1D_ARRAY,
               layers_z = image->geometry == WM_IMAGE_2D_ARRAY;
    const struct axis x = axis_of(s, (double)at[0], (int)image->width);
    struct axis y = p->layout.rows > 1 ? axis_of(s, (double)at[1], (int)p->layout.rows) : none, z = none;
    if (layers_y)
        z = layer_of((double)at[1], p->layout.slices);
    else if (layers_z)
        z = layer_of((double)at[2], p->layout.slices);
    else if (p->layout.slices > 1)
        z = axis_of(s, (double)at[2], (int)p->layout.slices);
    memset(value, 0, 4 * sizeof *value);
    for (unsigned corner = 0; corner < 8; corner++) {
        const unsigned i = corner & 1, j = corner >> 1 & 1, k = corner >> 2;
        const double weight =
            (i ? x.weight : 1 - x.weight) * (j ? y.weight : 1 - y.weight) * (k ? z.weight : 1 - z.weight);
        const bool border = x.at[i] < 0 || y.at[j] < 0 || z.at[k] < 0;
        for (unsigned c = 0; c < 4 && weight > 0; c++)
            value[c] +=
                weight *
                (border
                     ? c == 3 && image->components < 4
                     : component(p, texel_at(p, (uint32_t)x.at[i], (uint32_t)y.at[j], (uint32_t)z.at[k]), c));
    }
}

/* ---- running ---- */

static const struct wm_kernel *kernel_of(const char *name)
{
    const struct wm_kernel *kernel;
    struct wm_diag diag;
    if (wm_object_find_kernel(object, name, &kernel, &diag) != WM_OK)
        fail_msg("%s", diag.message);
    return kernel;
}

static void launch(const char *name, const void *arguments, size_t size, uint32_t items)
{
    const struct wm_dispatch dispatch = {.struct_size = sizeof dispatch,
                                         .grid = {items},
                                         .workgroup = {64},
                                         .arguments = arguments,
                                         .arguments_size = size,
                                         .threads = 1};
    struct wm_result result = {.struct_size = sizeof result};
    struct wm_diag diag;
    if (wm_dispatch(machine, object, kernel_of(name), &dispatch, &result, &diag) != WM_OK)
        fail_msg("%s: %s", name, diag.message);
    if (result.fault.kind != WM_FAULT_NONE)
        fail_msg("%s: %s", name, result.fault.text);
}

static uint64_t sampler_words(const struct sampler *s)
{
    const struct wm_sampler sampler = {.struct_size = sizeof sampler,
                                       .addressing = {s->addressing, s->addressing, s->addressing},
                                       .linear = s->linear,
                                       .normalized = s->normalized};
    uint32_t words[WM_SAMPLER_WORDS];
    assert_int_equal(wm_sampler_describe(target, &sampler, words, NULL), WM_OK);
    return put(words, sizeof words);
}

/* Coordinates from -1.5 to 2.5 images. exact: multiples of 1/256 of a texel, away from the edges that the
 * point filter rounds to; else any. */
static void draw_coordinates(const struct picture *p, const struct sampler *s, bool exact, float at[ITEMS][4])
{
    const uint32_t size[3] = {p->image.width, p->layout.rows, p->layout.slices};
    const bool layers_y = p->image.geometry == WM_IMAGE_1D_ARRAY,
               layers_z = p->image.geometry == WM_IMAGE_2D_ARRAY;
    for (unsigned n = 0; n < ITEMS; n++) {
        at[n][3] = 0;
        for (unsigned i = 0; i < 3; i++) {
            const bool layer = (i == 1 && layers_y) || (i == 2 && layers_z);
            const uint32_t count = layer ? p->layout.slices : size[i];
            double texels = (double)(draw() % (4 * 256 * count)) / 256 - 1.5 * count;
            if (!s->linear && !layer)
                texels = floor(texels) + (double)(1 + draw() % 254) / 256;
            if (!exact && !layer)
                texels += (double)(draw() % 255) / 65536;
            at[n][i] = (float)(s->normalized && !layer ? texels / count : texels);
        }
    }
}

struct sampling {
    uint64_t image, sampler, at, out;
};

static void compare(const char *name, const struct picture *p, const struct sampler *s, float at[ITEMS][4],
                    uint64_t out, double bound)
{
    const float *got = wm_host_pointer(machine, out, 16 * ITEMS);
    assert_non_null(got);
    for (unsigned n = 0; n < ITEMS; n++) {
        double value[4];
        expect(p, s, at[n], value);
        for (unsigned c = 0; c < 4; c++)
            if (!(fabs((double)got[4 * n + c] - value[c]) <= bound))
                fail_msg(
                    "%s: %s: %s addressing %u %s, type %u: at %g %g %g component %u is %.9g, expected %.9g",
                    target, name, s->linear ? "linear" : "nearest", (unsigned)s->addressing,
                    s->normalized ? "normalized" : "unnormalized", (unsigned)p->image.type, (double)at[n][0],
                    (double)at[n][1], (double)at[n][2], c, (double)got[4 * n + c], value[c]);
    }
}

static void sample(const char *name, const struct picture *p, const struct sampler *s, bool exact)
{
    float at[ITEMS][4];
    draw_coordinates(p, s, exact, at);
    const uint64_t out = put(at, sizeof at);
    const struct sampling arguments = {p->words, sampler_words(s), put(at, sizeof at), out};
    launch(name, &arguments, sizeof arguments, ITEMS);
    /* Three axes, each half of 1/256 of a difference of up to 2. */
    compare(name, p, s, at, out, exact || !s->linear ? 2e-7 : 3 * 2.0 / 512 + 1e-6);
}

static void begin(void)
{
    struct wm_diag diag;
    if (wm_machine_create(target, &machine, &diag) != WM_OK || wm_load(machine, object, &diag) != WM_OK)
        fail_msg("%s", diag.message);
}

static void end(void)
{
    wm_machine_destroy(machine);
}

/* ---- tests ---- */

static const struct {
    const char *kernel;
    enum wm_image_geometry geometry;
    uint32_t height, depth;
} shapes[] = {
    {"sample_1d", WM_IMAGE_1D, 1, 1},
    {"sample_2d", WM_IMAGE_2D, HEIGHT, 1},
    {"sample_3d", WM_IMAGE_3D, HEIGHT, DEPTH},
    {"sample_1d_array", WM_IMAGE_1D_ARRAY, 1, 5},
    {"sample_2d_array", WM_IMAGE_2D_ARRAY, HEIGHT, 5},
};

/* Every sampler that OpenCL has, on every geometry. Sizes are powers of two, so that coordinates are exact.
 */
static void test_samplers(void **state)
{
    (void)state;
    begin();
    for (unsigned shape = 0; shape < sizeof shapes / sizeof *shapes; shape++) {
        const struct picture p = make_picture(shapes[shape].geometry, WM_IMAGE_F32, CHANNELS, WIDTH,
                                              shapes[shape].height, shapes[shape].depth);
        fill(&p);
        for (unsigned addressing = 0; addressing <= WM_ADDRESSING_MIRROR; addressing++)
            for (unsigned kind = 0; kind < 8; kind++) {
                const struct sampler s = {(enum wm_addressing)addressing, kind & 1, kind & 2};
                if (s.normalized ||
                    addressing <= WM_ADDRESSING_BORDER) /* the others need normalized coordinates */
                    sample(shapes[shape].kernel, &p, &s, kind & 4);
            }
    }
    end();
}

/* Every format that is read as floats, in sizes that are no powers of two. */
static void test_formats(void **state)
{
    static const enum wm_image_type types[] = {WM_IMAGE_UNORM8,  WM_IMAGE_UNORM16, WM_IMAGE_SNORM8,
                                               WM_IMAGE_SNORM16, WM_IMAGE_F16,     WM_IMAGE_F32};
    (void)state;
    begin();
    for (unsigned t = 0; t < sizeof types / sizeof *types; t++)
        for (uint32_t channels = 1; channels <= 4; channels *= 2)
            for (unsigned kind = 0; kind < 4; kind++) {
                const struct picture p = make_picture(WM_IMAGE_2D, types[t], channels, 21, 13, 1);
                const struct sampler s = {kind & 2 ? WM_ADDRESSING_BORDER : WM_ADDRESSING_EDGE, kind & 1,
                                          false};
                fill(&p);
                sample("sample_2d", &p, &s, true);
            }
    end();
}

static void test_integers(void **state)
{
    static const struct {
        const char *kernel;
        enum wm_image_type type;
    } rows[] = {{"sample_2d_unsigned", WM_IMAGE_U8},
                {"sample_2d_unsigned", WM_IMAGE_U16},
                {"sample_2d_signed", WM_IMAGE_I8},
                {"sample_2d_signed", WM_IMAGE_I16}};
    const struct sampler s = {WM_ADDRESSING_BORDER, false, false};
    (void)state;
    begin();
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct picture p = make_picture(WM_IMAGE_2D, rows[i].type, 2, 21, 13, 1);
        float at[ITEMS][4];
        fill(&p);
        draw_coordinates(&p, &s, true, at);
        const uint64_t out = put(at, sizeof at);
        const struct sampling arguments = {p.words, sampler_words(&s), put(at, sizeof at), out};
        launch(rows[i].kernel, &arguments, sizeof arguments, ITEMS);
        const int32_t *got = wm_host_pointer(machine, out, 16 * ITEMS);
        for (unsigned n = 0; n < ITEMS; n++) {
            double value[4];
            expect(&p, &s, at[n], value);
            for (unsigned c = 0; c < 4; c++)
                if (got[4 * n + c] != (int32_t)value[c])
                    fail_msg("%s: %s: at %g %g component %u is %d, expected %g", target, rows[i].kernel,
                             (double)at[n][0], (double)at[n][1], c, got[4 * n + c], value[c]);
        }
    }
    end();
}

/* The words of these samplers are AMD's. */
static void test_constant_samplers(void **state)
{
    static const struct {
        const char *kernel;
        struct sampler sampler;
    } rows[] = {{"constant_nearest_edge", {WM_ADDRESSING_EDGE, false, false}},
                {"constant_linear_repeat", {WM_ADDRESSING_REPEAT, true, true}},
                {"constant_linear_mirror", {WM_ADDRESSING_MIRROR, true, true}}};
    (void)state;
    begin();
    const struct picture p = make_picture(WM_IMAGE_2D, WM_IMAGE_F32, 4, WIDTH, HEIGHT, 1);
    fill(&p);
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        float at[ITEMS][4];
        draw_coordinates(&p, &rows[i].sampler, true, at);
        const uint64_t out = put(at, sizeof at);
        const uint64_t arguments[] = {p.words, put(at, sizeof at), out};
        launch(rows[i].kernel, arguments, sizeof arguments, ITEMS);
        compare(rows[i].kernel, &p, &rows[i].sampler, at, out, 2e-7);
    }
    end();
}

/* A texture object is both descriptors in a row. */
static void test_texture(void **state)
{
    const struct sampler s = {WM_ADDRESSING_REPEAT, true, true};
    uint32_t words[WM_IMAGE_WORDS + WM_SAMPLER_WORDS];
    float at[ITEMS][4];
    (void)state;
    begin();
    const struct picture p = make_picture(WM_IMAGE_2D, WM_IMAGE_F16, 4, WIDTH, HEIGHT, 1);
    fill(&p);
    assert_int_equal(wm_read(machine, p.words, words, 4 * WM_IMAGE_WORDS, NULL), WM_OK);
    assert_int_equal(wm_read(machine, sampler_words(&s), words + WM_IMAGE_WORDS, 4 * WM_SAMPLER_WORDS, NULL),
                     WM_OK);
    draw_coordinates(&p, &s, true, at);
    const uint64_t out = put(at, sizeof at);
    const uint64_t arguments[] = {put(words, sizeof words), put(at, sizeof at), out};
    launch("texture_2d", arguments, sizeof arguments, ITEMS);
    compare("texture_2d", &p, &s, at, out, 2e-7);
    end();
}

/* ---- levels ---- */

enum { LEVELS = 5, LEVEL_WIDTH = 21, LEVEL_HEIGHT = 16 };

/* Texels of all levels without gaps, level 0 first, which do not depend on where the image has them. */
struct levels {
    struct picture picture;
    float texels[2 * LEVEL_WIDTH * LEVEL_HEIGHT];
    size_t count;
    const float *level[LEVELS];
};

static uint32_t halved(uint32_t size, unsigned level)
{
    return size >> level ? size >> level : 1;
}

static struct wm_surface *surface_of(const struct picture *p)
{
    uint32_t words[WM_IMAGE_WORDS];
    struct wm_surface *surface;
    uint64_t base;
    assert_int_equal(wm_read(machine, p->words, words, sizeof words, NULL), WM_OK);
    assert_int_equal(wm_surface_of_image(target, NULL, words, &surface, &base, NULL), WM_OK);
    assert_int_equal(base, p->image.address);
    assert_int_equal(wm_surface_layout(surface)->levels, LEVELS);
    return surface;
}

static struct wm_image image_with_levels(void)
{
    return (struct wm_image){.struct_size = sizeof(struct wm_image),
                             .geometry = WM_IMAGE_2D,
                             .type = WM_IMAGE_F32,
                             .components = 1,
                             .width = LEVEL_WIDTH,
                             .height = LEVEL_HEIGHT,
                             .levels = LEVELS};
}

static void make_levels(struct levels *l)
{
    l->picture = make_picture_of(image_with_levels());
    l->count = 0;
    for (unsigned i = 0; i < LEVELS; i++) {
        l->level[i] = l->texels + l->count;
        l->count += (size_t)halved(LEVEL_WIDTH, i) * halved(LEVEL_HEIGHT, i);
    }
    for (size_t i = 0; i < l->count; i++)
        l->texels[i] = (float)(draw() >> 40) * 0x1p-24F;
    struct wm_surface *surface = surface_of(&l->picture);
    assert_int_equal(wm_surface_tile(surface, l->texels, l->count * sizeof *l->texels, l->picture.bytes,
                                     l->picture.layout.bytes, NULL),
                     WM_OK);
    wm_surface_destroy(surface);
}

/* The words of a view of one level. */
static uint64_t view_of(const struct levels *l, uint32_t level)
{
    struct wm_image view = l->picture.image;
    uint32_t words[WM_IMAGE_WORDS];
    view.first_level = level;
    view.seen_levels = 1;
    assert_int_equal(wm_image_describe(target, &view, words, NULL, NULL), WM_OK);
    return put(words, sizeof words);
}

/* A coordinate that is near no edge of a texel, of any level. */
static double draw_inside(uint32_t size)
{
    for (;;) {
        const float at = (float)(draw() >> 40) * 0x1p-24F;
        bool inside = true;
        for (unsigned i = 0; i < LEVELS; i++) {
            const double texels = (double)at * halved(size, i);
            inside &= fabs(texels - rint(texels)) > 1.0 / 64;
        }
        if (inside)
            return (double)at;
    }
}

/* The level that a point filter takes, or the lower one of a linear filter, and the upper one's weight.
 * Source: OpenCL Extension Specification 3.0, "Sampler and image addressing with mipmaps". */
static unsigned level_of(enum wm_level_filter filter, double lod, double *weight)
{
    const double bounded = fmin(fmax(lod, 0), LEVELS - 1);
    *weight = filter == WM_LEVEL_LINEAR ? bounded - floor(bounded) : 0;
    if (filter == WM_LEVEL_NEAREST)
        return (unsigned)fmin(floor(bounded + 0.5), LEVELS - 1);
    return filter == WM_LEVEL_LINEAR ? (unsigned)bounded : 0;
}

static double nearest_of(const struct levels *l, unsigned level, double x, double y)
{
    const uint32_t width = halved(LEVEL_WIDTH, level), height = halved(LEVEL_HEIGHT, level);
    return (double)l->level[level][(uint32_t)(x * width) + width * (uint32_t)(y * height)];
}

static void sample_levels(const struct levels *l, enum wm_level_filter filter)
{
    const struct wm_sampler sampler = {.struct_size = sizeof sampler, .normalized = true, .levels = filter};
    uint32_t words[WM_SAMPLER_WORDS];
    float at[ITEMS][4];
    double expected[ITEMS];
    assert_int_equal(wm_sampler_describe(target, &sampler, words, NULL), WM_OK);
    for (unsigned n = 0; n < ITEMS; n++) {
        const double x = draw_inside(LEVEL_WIDTH), y = draw_inside(LEVEL_HEIGHT),
                     lod = (double)(draw() % (256 * (LEVELS + 1))) / 256 - 1;
        double weight;
        const unsigned level = level_of(filter, lod, &weight);
        expected[n] = (1 - weight) * nearest_of(l, level, x, y);
        if (weight > 0)
            expected[n] += weight * nearest_of(l, level + 1, x, y);
        memcpy(at[n], (const float[]){(float)x, (float)y, (float)lod, 0}, sizeof at[n]);
    }
    const uint64_t out = put(at, sizeof at);
    const struct sampling arguments = {l->picture.words, put(words, sizeof words), put(at, sizeof at), out};
    launch("sample_2d_level", &arguments, sizeof arguments, ITEMS);
    const float *got = wm_host_pointer(machine, out, 16 * ITEMS);
    for (unsigned n = 0; n < ITEMS; n++)
        if (!(fabs((double)got[4 * n] - expected[n]) <= 2e-7))
            fail_msg("%s: filter %u: at %g %g level %g is %.9g, expected %.9g", target, (unsigned)filter,
                     (double)at[n][0], (double)at[n][1], (double)at[n][2], (double)got[4 * n], expected[n]);
}

/* Each level through a view of it, and through the whole image: by turns one is read and the other written.
 */
static void copy_levels(const struct levels *in, const struct levels *out)
{
    static float texels[2 * LEVEL_WIDTH * LEVEL_HEIGHT];
    for (uint32_t i = 0; i < LEVELS; i++) {
        const bool read = i % 2;
        const struct {
            uint64_t in, out;
            uint32_t width, from, to;
        } arguments = {read ? view_of(in, i) : in->picture.words, read ? out->picture.words : view_of(out, i),
                       halved(LEVEL_WIDTH, i), read ? 0 : i, read ? i : 0};
        launch("copy_2d_level", &arguments, sizeof arguments, LEVEL_WIDTH * LEVEL_HEIGHT);
    }
    struct wm_surface *surface = surface_of(&out->picture);
    assert_int_equal(wm_surface_untile(surface, out->picture.bytes, out->picture.layout.bytes, texels,
                                       out->count * sizeof *texels, NULL),
                     WM_OK);
    wm_surface_destroy(surface);
    assert_memory_equal(texels, in->texels, in->count * sizeof *texels);
}

static void test_levels(void **state)
{
    static struct levels in, out;
    struct wm_diag diag;
    uint32_t words[WM_IMAGE_WORDS];
    struct wm_image wanted = image_with_levels();
    (void)state;
    if (wm_image_describe(target, &wanted, words, NULL, &diag) == WM_UNSUPPORTED) {
        assert_non_null(strstr(diag.message, "level"));
        assert_true(strlen(target) == 6 && target[3] < '9'); /* gfx8 and earlier */
        return;
    }
    wanted.levels = LEVELS + 1;
    assert_int_equal(wm_image_describe(target, &wanted, words, NULL, NULL), WM_BAD_ARGUMENT);
    wanted = image_with_levels();
    wanted.first_level = LEVELS;
    assert_int_equal(wm_image_describe(target, &wanted, words, NULL, NULL), WM_BAD_ARGUMENT);
    wanted.first_level = 2;
    wanted.seen_levels = LEVELS - 1;
    assert_int_equal(wm_image_describe(target, &wanted, words, NULL, NULL), WM_BAD_ARGUMENT);
    /* It has no instructions with a level, so that the device library has nothing for these kernels. Source:
     * LLVM, FeatureExtendedImageInsts. */
    if (!strcmp(target, "gfx90a"))
        return;
    begin();
    make_levels(&in);
    make_levels(&out);
    for (unsigned filter = 0; filter <= WM_LEVEL_LINEAR; filter++)
        sample_levels(&in, (enum wm_level_filter)filter);
    copy_levels(&in, &out);
    end();
}

static void copy(const char *kernel, enum wm_image_geometry geometry, enum wm_image_type type,
                 uint32_t channels, uint32_t width, uint32_t height, uint32_t depth)
{
    const struct picture in = make_picture(geometry, type, channels, width, height, depth);
    const struct picture out = make_picture(geometry, type, channels, width, height, depth);
    const struct {
        uint64_t in, out;
        uint32_t width;
    } arguments = {in.words, out.words, width};
    fill(&in);
    launch(kernel, &arguments, geometry == WM_IMAGE_2D ? sizeof arguments : 16,
           (width * in.layout.rows * in.layout.slices + 63) / 64 * 64);
    for (uint32_t z = 0; z < in.layout.slices; z++)
        for (uint32_t y = 0; y < in.layout.rows; y++)
            if (memcmp(texel_at(&in, 0, y, z), texel_at(&out, 0, y, z), (size_t)width * in.layout.texel) != 0)
                fail_msg("%s: %s: row %u of slice %u differs", target, kernel, y, z);
}

static void test_copies(void **state)
{
    (void)state;
    begin();
    copy("copy_2d", WM_IMAGE_2D, WM_IMAGE_F32, 4, 21, 13, 1);
    copy("copy_2d", WM_IMAGE_2D, WM_IMAGE_UNORM8, 4, 70, 5, 1);
    copy("copy_2d", WM_IMAGE_2D, WM_IMAGE_UNORM16, 1, 3, 3, 1);
    copy("copy_2d", WM_IMAGE_2D, WM_IMAGE_F16, 2, 130, 3, 1);
    copy("copy_3d_unsigned", WM_IMAGE_3D, WM_IMAGE_U32, 1, 7, 5, 3);
    copy("copy_3d_unsigned", WM_IMAGE_3D, WM_IMAGE_U16, 4, 33, 4, 4);
    copy("copy_buffer", WM_IMAGE_1D_BUFFER, WM_IMAGE_F32, 4, 333, 1, 1);
    copy("copy_buffer", WM_IMAGE_1D_BUFFER, WM_IMAGE_UNORM8, 4, 200, 1, 1);
    end();
}

/* Numbers of CL_UNORM_INT8, CL_RGBA, CL_FLOAT, CL_RG: the OpenCL headers. */
static void test_queries(void **state)
{
    static const uint32_t expected[] = {70, 5, 0x10d2, 0x10b5, 7,      6,   5,     21,
                                        13, 4, 33,     9,      0x10de, 333, 0x10b2};
    (void)state;
    begin();
    const uint64_t arguments[] = {make_picture(WM_IMAGE_2D, WM_IMAGE_UNORM8, 4, 70, 5, 1).words,
                                  make_picture(WM_IMAGE_3D, WM_IMAGE_U32, 1, 7, 6, 5).words,
                                  make_picture(WM_IMAGE_2D_ARRAY, WM_IMAGE_F32, 4, 21, 13, 4).words,
                                  make_picture(WM_IMAGE_1D_ARRAY, WM_IMAGE_F32, 1, 33, 1, 9).words,
                                  make_picture(WM_IMAGE_1D_BUFFER, WM_IMAGE_F32, 2, 333, 1, 1).words,
                                  put((char[sizeof expected]){0}, sizeof expected)};
    launch("queries", arguments, sizeof arguments, 1);
    const uint32_t *got = wm_host_pointer(machine, arguments[5], sizeof expected);
    for (unsigned i = 0; i < sizeof expected / sizeof *expected; i++)
        if (got[i] != expected[i])
            fail_msg("%s: query %u gives %u, expected %u", target, i, got[i], expected[i]);
    end();
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_samplers), cmocka_unit_test(test_formats),
        cmocka_unit_test(test_integers), cmocka_unit_test(test_constant_samplers),
        cmocka_unit_test(test_copies),   cmocka_unit_test(test_texture),
        cmocka_unit_test(test_queries),  cmocka_unit_test(test_levels)};
    object = open_object(count, arguments, "images IMAGES.co");
    target = wm_object_target(object);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    wm_object_close(object);
    return failed;
}
