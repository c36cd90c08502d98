/* SPDX-License-Identifier: MIT */
/* Surfaces of the public API: copies against addresses of single elements, steps of explanations against
 * their sum and against the equation's text, and random words of T#s. That addresses are right is tested in
 * tiling.c. WAVEMEM_TEST_REDUCED: a tenth. */
#include "wavemem/wavemem.h"

#include "reduced.h"
#include "unit/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
// clang-format off
#include <cmocka.h>
// clang-format on

static const char *const targets[] = {"gfx600",  "gfx803",  "gfx900",  "gfx90a",  "gfx1010",
                                      "gfx1012", "gfx1030", "gfx1100", "gfx1150", "gfx1200"};
enum { TARGETS = sizeof targets / sizeof *targets };

/* A random surface; NULL: the target has none such. */
static struct wm_surface *make(const char *target)
{
    char mode[8];
    struct wm_surface *surface;
    const uint32_t limit = 1u << (3 + random_below(6));
    struct wm_surface_shape shape = {.struct_size = sizeof shape,
                                     .mode = mode,
                                     .dimensions = 1 + random_below(3),
                                     .bytes = 1u << random_below(5),
                                     .width = 1 + random_below(limit),
                                     .height = 1 + random_below(limit),
                                     .depth = 1 + random_below(5),
                                     .block = random_below(4) ? 1 : 4,
                                     .pipe_bank_xor = random_word()};
    snprintf(mode, sizeof mode, "%u", random_below(32));
    if (shape.dimensions == 1)
        shape.height = 1;
    if (random_below(3) == 0)
        shape.samples = 1u << random_below(4);
    else
        shape.levels = 1 + random_below(6);
    return wm_surface_create(target, NULL, &shape, &surface, NULL) == WM_OK ? surface : NULL;
}

/* Tiles and untiles random elements; looks at each where its offset says. */
static void check_copies(const struct wm_surface *surface)
{
    const struct wm_surface_layout *l = wm_surface_layout(surface);
    const size_t size = l->bytes_per_element;
    struct wm_diag diag;
    unsigned char *packed = malloc(l->packed), *back = malloc(l->packed), *tiled = calloc(1, l->bytes);
    assert_true(packed && back && tiled);
    for (size_t i = 0; i < l->packed; i++)
        packed[i] = (unsigned char)random_word();
    if (wm_surface_tile(surface, packed, l->packed, tiled, l->bytes, &diag) ||
        wm_surface_untile(surface, tiled, l->bytes, back, l->packed, &diag))
        fail_msg("%s: %s", l->mode, diag.message);
    assert_memory_equal(packed, back, l->packed);
    const unsigned char *next = packed;
    for (uint32_t level = 0; level < l->levels; level++)
        for (uint32_t z = 0; z < l->level[level].depth; z++)
            for (uint32_t y = 0; y < l->level[level].height; y++)
                for (uint32_t x = 0; x < l->level[level].width; x++)
                    for (uint32_t sample = 0; sample < l->samples; sample++, next += size) {
                        const struct wm_surface_place place = {x, y, z, level, sample};
                        uint64_t offset;
                        assert_int_equal(wm_surface_offset(surface, &place, &offset, NULL), WM_OK);
                        if (memcmp(tiled + offset, next, size) != 0)
                            fail_msg(
                                "%s of %s, %zu bytes: (%u, %u, %u) of level %u, sample %u is not at 0x%llx",
                                l->mode, l->product, size, x, y, z, level, sample,
                                (unsigned long long)offset);
                    }
    assert_ptr_equal(next, packed + l->packed);
    free(packed);
    free(back);
    free(tiled);
}

/* The value of "x4^y7". */
static bool value_of(const char *term, uint32_t x, uint32_t y, uint32_t z, uint32_t sample)
{
    bool value = false;
    for (const char *at = term; *at && *at != '0'; at += strcspn(at, "^"), at += *at == '^') {
        const uint32_t from = *at == 'x' ? x : *at == 'y' ? y : *at == 'z' ? z : sample;
        value ^= from >> strtoul(at + 1, NULL, 10) & 1;
    }
    return value;
}

static void check_steps(const struct wm_surface *surface)
{
    const struct wm_surface_layout *l = wm_surface_layout(surface);
    const uint32_t level = random_below(l->levels);
    const struct wm_surface_place p = {random_below(l->level[level].width),
                                       random_below(l->level[level].height),
                                       random_below(l->level[level].depth), level, random_below(l->samples)};
    struct wm_surface_steps s;
    uint64_t offset;
    uint32_t within = 0;
    assert_int_equal(wm_surface_explain(surface, &p, &s, NULL), WM_OK);
    assert_int_equal(wm_surface_offset(surface, &p, &offset, NULL), WM_OK);
    assert_int_equal(s.offset, offset);
    if (!s.by_equation)
        return;
    for (uint32_t i = 0; i < s.bits; i++) {
        const bool value = value_of(s.bit[i].term, p.x + s.tail_x, p.y + s.tail_y, p.z, p.sample);
        assert_int_equal(s.bit[i].value, value);
        within |= (uint32_t)value << i;
    }
    assert_int_equal(s.within, within);
    assert_int_equal(s.offset, s.layer + s.level + s.block + (s.within ^ s.tail_xor ^ s.pipe_bank_xor));
}

static void test_copies(void **state)
{
    unsigned count = 0;
    (void)state;
    for (unsigned round = 0; round < (reduced() ? 200 : 2000); round++) {
        struct wm_surface *surface = make(targets[random_below(TARGETS)]);
        if (surface && wm_surface_layout(surface)->bytes < 1 << 24) {
            check_copies(surface);
            check_steps(surface);
            count++;
        }
        wm_surface_destroy(surface);
    }
    assert_true(count > (reduced() ? 30 : 300));
}

/* Any words of a T#. */
static void test_words(void **state)
{
    unsigned count = 0;
    (void)state;
    for (unsigned round = 0; round < (reduced() ? 20000 : 200000); round++) {
        uint32_t words[8];
        uint64_t base;
        struct wm_surface *surface;
        for (unsigned i = 0; i < 8; i++)
            words[i] = random_below(3) ? random_word() : 0;
        words[0] &= random_below(2) ? 0xffffff00 : UINT32_MAX;
        words[3] |= 8u << 28;
        if (wm_surface_of_image(targets[random_below(TARGETS)], NULL, words, &surface, &base, NULL))
            continue;
        const struct wm_surface_layout *l = wm_surface_layout(surface);
        assert_int_equal(base % (l->alignment ? l->alignment : 1), 0);
        if (l->level[0].width && l->level[0].height && l->level[0].depth)
            check_steps(surface);
        wm_surface_destroy(surface);
        count++;
    }
    assert_true(count > (reduced() ? 200 : 2000));
}

/* BC1 of 30 x 18 texels has 8 x 5 blocks, and its levels 4 x 3 (15 x 9 texels), 2 x 1 (7 x 4), 1 x 1. */
static void test_compressed(void **state)
{
    const struct wm_surface_shape shape = {.struct_size = sizeof shape,
                                           .mode = "64KB_R_X",
                                           .bytes = 8,
                                           .width = 30,
                                           .height = 18,
                                           .levels = 4,
                                           .block = 4};
    static const uint32_t sizes[4][2] = {{8, 5}, {4, 3}, {2, 1}, {1, 1}};
    struct wm_surface *surface;
    (void)state;
    assert_int_equal(wm_surface_create("gfx1030", NULL, &shape, &surface, NULL), WM_OK);
    const struct wm_surface_layout *l = wm_surface_layout(surface);
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(l->level[i].width, sizes[i][0]);
        assert_int_equal(l->level[i].height, sizes[i][1]);
        assert_true(l->level[i].tail);
    }
    assert_int_equal(l->packed, 8 * (40 + 12 + 2 + 1));
    wm_surface_destroy(surface);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_copies), cmocka_unit_test(test_words),
                                       cmocka_unit_test(test_compressed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
