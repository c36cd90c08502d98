/* SPDX-License-Identifier: MIT */
/* Samples with any descriptors and coordinates: every texel exists, and weights add up. With sanitizers:
 * nothing overflows. What the values are is tests/kernel/images.c's and tests/instructions/images.test's. */
#include "memory/sample.h"

#include "base/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>
#include <math.h>

static uint64_t drawn;

static uint64_t draw(void)
{
    return wmi_random_bits(15, drawn++);
}

/* Edges, any float, and ordinary numbers. */
static double draw_number(void)
{
    static const float edges[] = {0,        -0.0f,         1,        -1,        0.5f, 1e30f,  -1e30f,
                                  3.4e38f,  -3.4e38f,      INFINITY, -INFINITY, NAN,  1e-40f, 65535.5f,
                                  16777216, -2147483648.0f};
    const uint64_t choice = draw(), bits = draw();
    float any;
    const uint32_t word = (uint32_t)bits;
    memcpy(&any, &word, sizeof any);
    return choice % 3 == 0   ? (double)edges[bits % (sizeof edges / sizeof *edges)]
           : choice % 3 == 1 ? (double)any
                             : (double)((int64_t)(bits % 200000) - 100000) / 1000;
}

static void draw_words(uint32_t *words, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        words[i] = (uint32_t)draw();
}

/* The formats of each layout. */
static const struct wmi_format_rules *formats_of(enum wmi_descriptor_layout layout)
{
    static const uint8_t rules[WMI_LAYOUTS] = {0, 0, 1, 2, 2, 3, 3, 4, 4};
    return wmi_format_rules(rules[layout]);
}

/* A product of each layout: RX 580, Vega, RX 5500 XT, RX 6800, RX 7900 XTX. */
static struct wmi_tiling tiling_of(enum wmi_descriptor_layout layout)
{
    static const struct {
        uint8_t rules;
        uint32_t config;
    } products[WMI_LAYOUTS] = {{0, 0},    {0, 0},     {0, 0},     {1, 0x2a114042}, {1, 0},
                               {2, 0x43}, {4, 0x444}, {5, 0x545}, {6, 0}};
    return wmi_tiling_of(products[layout].rules, products[layout].config, 0x67df);
}

static void check_texels(const struct wmi_image *image, const struct wmi_sampler *sampler,
                         const struct wmi_footprint *f, bool gather)
{
    double sum = 0;
    for (unsigned i = 0; i < f->count; i++) {
        unsigned char bytes[16];
        uint32_t value[4], words[4];
        draw_words(words, 4);
        memcpy(bytes, words, sizeof bytes);
        sum += f->tap[i].weight;
        if (f->tap[i].border) {
            wmi_sample_texel(image, sampler, &f->tap[i].texel, NULL, draw() & 1, value);
            continue;
        }
        assert_true(wmi_image_in_range(image, &f->tap[i].texel));
        if (image->placed)
            wmi_texel_address(image, &f->tap[i].texel);
        wmi_sample_texel(image, sampler, &f->tap[i].texel, bytes, draw() & 1, value);
        wmi_sample_compare(image, sampler, draw_number(), value[0]);
    }
    if (f->count)
        assert_true(sum == (gather ? 4.0 : 1.0)); /* weights are multiples of 2^-32 */
}

static unsigned compressed[WMI_LAYOUTS]; /* images that were refused because they may be compressed */

static unsigned sample(void)
{
    const enum wmi_descriptor_layout layout = (enum wmi_descriptor_layout)(draw() % WMI_LAYOUTS);
    uint32_t t[8], s[4];
    struct wmi_footprint f;
    draw_words(t, 8);
    draw_words(s, 4);
    if (layout == WMI_LAYOUT_GFX940)
        return 0;
    if (draw() & 1) { /* small */
        t[2] &= 0x3f003f;
        t[4] &= 0x3f;
        t[5] &= 15;
    }
    const struct wmi_image_rules rules = {layout, formats_of(layout), tiling_of(layout)};
    struct wmi_image image;
    wmi_image_decode(&rules, t, &image);
    compressed[layout] += image.refused && strstr(image.refused, "a compressed image");
    const struct wmi_sampler sampler = wmi_sampler_decode(layout, s);
    const struct wmi_sample_dims dims = wmi_sample_dims(&image, draw() % 9, draw() & 1);
    const double across[3] = {draw_number(), draw_number(), draw_number()}, down[3] = {draw_number()};
    struct wmi_sample_place place = {.slice = draw_number()};
    if (sampler.refused)
        return 0;
    for (unsigned i = 0; i < 3; i++) {
        place.coordinate[i] = draw_number();
        place.offset[i] = (int)(draw() % 64) - 32;
    }
    const double lod = draw() & 1 ? wmi_sample_lod(&image, &sampler, dims, across, down) : draw_number();
    place.lod = wmi_sample_limit(&image, &sampler, lod, draw() & 1, draw_number());
    const bool gather = draw() & 1;
    if (gather)
        wmi_gather_footprint(&image, &sampler, dims, &place, draw() & 1, &f);
    else
        wmi_sample_footprint(&image, &sampler, dims, &place, &f);
    check_texels(&image, &sampler, &f, gather);
    return f.count;
}

static void test_any(void **state)
{
    unsigned taps = 0;
    (void)state;
    for (unsigned i = 0; i < 300000; i++)
        taps += sample();
    assert_true(taps > 10000);
    assert_true(compressed[WMI_LAYOUT_GFX801] && compressed[WMI_LAYOUT_GFX900] &&
                compressed[WMI_LAYOUT_GFX1100]);
    assert_int_equal(compressed[WMI_LAYOUT_GFX1200], 0); /* there pages are compressed, and none of ours is */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_any)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
