/* SPDX-License-Identifier: MIT */
/* Tiled surfaces: addresses computed by AMD's addrlib (tiling_samples.tsv, tile_mode_samples.tsv: random
 * surfaces and elements; PAL c5e80007 for gfx10, ROCR-Runtime c7785a6d for gfx8 and gfx9), and properties
 * that every layout has: the elements of a block fill it, and no two elements of a surface share a byte.
 *
 * WAVEMEM_TEST_REDUCED: a tenth of the equations and surfaces. */
#include "memory/tiling/tiling.h"

#include "isa/isa.h"
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

enum { CLASSES = 25 };

static struct wmi_tiling tiling_for(const char *target, uint32_t config, uint32_t chip)
{
    const struct wmi_target *t = wmi_target_find(target);
    assert_non_null(t);
    return wmi_tiling_of(wmi_target_limit(t, WMI_LIMIT_tiling), config, chip);
}

static FILE *open_samples(const char *name)
{
    char path[512], heading[512];
    snprintf(path, sizeof path, "%s/%s", SAMPLES, name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(heading, sizeof heading, file));
    return file;
}

/* ---- addrlib ---- */

/* Registers: Mesa, amdgpu_devices.c and ac_fake_hw_db.h; linux, gfx_v10_0.c. */
static const struct product {
    const char *name, *target;
    uint32_t config;
} products[] = {
    {"navi10", "gfx1010", 0x00100044},
    {"navi14", "gfx1012", 0x00000043},
    {"navi21", "gfx1030", 0x00000444},
    {"gfx1033_vangogh", "gfx1033", 0x00000142},
    {"gfx1035_rembrandt", "gfx1035", 0x00000242},
    {"gfx1036_raphael", "gfx1036", 0x00000042},
    {"gfx1037_mendocino", "gfx1036", 0x00000041},
    {"gfx103_8p8k", "gfx1030", 0x00000343},
    {"gfx103_16p8k", "gfx1030", 0x00000344},
    {"gfx103_8p4k", "gfx1030", 0x00000243},
    {"vega10", "gfx900", 0x2a114042},
};

static struct wmi_tiling product_tiling(const char *name)
{
    for (size_t i = 0; i < sizeof products / sizeof *products; i++)
        if (!strcmp(products[i].name, name))
            return tiling_for(products[i].target, products[i].config, 0);
    fail_msg("no product %s", name);
    return (struct wmi_tiling){0};
}

static void equal_addrlib(void **state)
{
    (void)state;
    FILE *file = open_samples("tiling_samples.tsv");
    char line[512], name[64], dimensions[8];
    unsigned count = 0;
    for (; fgets(line, sizeof line, file); count++) {
        unsigned bytes, width, height, depth, levels, samples, mode, x, y, z, sample, level, xor;
        unsigned long long offset;
        assert_int_equal(sscanf(line, "%63s %7s %u %u %u %u %u %u %u %u %u %u %u %u %u %llu", name,
                                dimensions, &bytes, &width, &height, &depth, &levels, &samples, &mode, &x, &y,
                                &z, &sample, &level, &xor, &offset),
                         16);
        const struct wmi_tiling tiling = product_tiling(name);
        const struct wmi_surface_shape shape = {.dimensions = (uint8_t)(dimensions[0] - '0'),
                                                .bytes = (uint8_t)bytes,
                                                .samples = (uint8_t)samples,
                                                .levels = (uint8_t)levels,
                                                .mode = (uint8_t)mode,
                                                .width = width,
                                                .height = height,
                                                .depth = depth,
                                                .pipe_bank_xor = xor};
        struct wmi_surface surface;
        const char *reason = wmi_surface_place(&tiling, &shape, &surface);
        if (reason)
            fail_msg("%s: %s", reason, line);
        if (wmi_surface_offset(&surface, x, y, z, sample, level) != offset)
            fail_msg("not 0x%llx: %s",
                     (unsigned long long)wmi_surface_offset(&surface, x, y, z, sample, level), line);
    }
    fclose(file);
    assert_int_equal(count, 600);
}

/* bank_pipe_swizzle has the bank from bit 4 on; a base address has it directly above the pipe. */
static void equal_addrlib_tile_modes(void **state)
{
    (void)state;
    FILE *file = open_samples("tile_mode_samples.tsv");
    char line[512], name[64];
    unsigned count = 0;
    for (; fgets(line, sizeof line, file); count++) {
        unsigned index, bytes, samples, width, height, depth, pitch, rows, x, y, z, sample, swizzle;
        int macro;
        unsigned long long offset;
        assert_int_equal(
            sscanf(
                line,
                "%63s %*d %u %d %*d %*d %*d %*d %*d %*d %*d %*d %*d %*d %u %*u %u %u %u %u %u %u %u %u %u %u "
                "%u %llu",
                name, &index, &macro, &bytes, &samples, &width, &height, &depth, &pitch, &rows, &x, &y, &z,
                &sample, &swizzle, &offset),
            16);
        const struct wmi_tiling tiling =
            tiling_for("gfx803", 0, !strcmp(name, "polaris10") ? 0x67df : 0x699f);
        assert_string_equal(wmi_tiling_class(&tiling), name);
        struct wmi_surface_shape shape = {.dimensions = 2,
                                          .bytes = (uint8_t)bytes,
                                          .samples = (uint8_t)samples,
                                          .levels = 1,
                                          .mode = (uint8_t)index,
                                          .width = width,
                                          .height = height,
                                          .depth = depth};
        struct wmi_surface surface;
        const char *reason = wmi_surface_place(&tiling, &shape, &surface);
        if (reason)
            fail_msg("%s: %s", reason, line);
        if (surface.kind == WMI_SURFACE_MACRO) {
            const unsigned pipes = surface.tile.pipes;
            assert_int_equal(surface.tile.macro_index, macro);
            shape.pipe_bank_xor = (swizzle & (pipes - 1)) | (swizzle >> 4) * pipes;
            assert_null(wmi_surface_place(&tiling, &shape, &surface));
        }
        if (surface.kind != WMI_SURFACE_LINEAR)
            assert_int_equal(surface.padded_height, rows);
        assert_int_equal(surface.level[0].pitch, surface.kind == WMI_SURFACE_LINEAR ? pitch * bytes : pitch);
        if (wmi_surface_offset(&surface, x, y, z, sample, 0) != offset)
            fail_msg("not 0x%llx: %s", (unsigned long long)wmi_surface_offset(&surface, x, y, z, sample, 0),
                     line);
    }
    fclose(file);
    assert_int_equal(count, 132);
}

/* ---- properties ---- */

/* Every class that has equations: all values of the fields of GB_ADDR_CONFIG on a target of each generation.
 */
static unsigned find_classes(struct wmi_tiling found[CLASSES])
{
    static const char *const targets[] = {"gfx900", "gfx1010", "gfx1030", "gfx1100", "gfx1200"};
    uint32_t seen = 0;
    unsigned count = 0;
    for (unsigned t = 0; t < 5; t++)
        for (uint32_t pipes = 0; pipes < 8; pipes++)
            for (uint32_t second = 0; second < 8; second++) {
                const struct wmi_tiling tiling =
                    tiling_for(targets[t], pipes | second << 8 | second << 12, 0);
                if (tiling.product < 0 || seen >> tiling.product & 1)
                    continue;
                assert_true(count < CLASSES);
                seen |= 1u << tiling.product;
                found[count++] = tiling;
            }
    return count;
}

/* Marks the bytes of an element; fails if it has one already. */
static void mark(unsigned char *seen, uint64_t bytes, uint64_t offset, unsigned size, const char *what)
{
    if (offset + size > bytes || offset % size)
        fail_msg("%s: an element at 0x%llx of 0x%llx bytes", what, (unsigned long long)offset,
                 (unsigned long long)bytes);
    for (unsigned i = 0; i < size; i++) {
        if (seen[offset + i])
            fail_msg("%s: two elements at 0x%llx", what, (unsigned long long)offset);
        seen[offset + i] = 1;
    }
}

/* The elements of a block are at different places in it, and fill it; also with a pipe/bank XOR. */
static void fills_block(const struct wmi_tiling *tiling, const struct wmi_equation *e, unsigned char *seen)
{
    const uint32_t width = 1u << e->block[0], height = 1u << e->block[1], depth = 1u << e->block[2];
    const uint32_t at[3] = {random_below(3) * width, random_below(3) * height, random_below(3) * depth};
    const struct wmi_surface_shape shape = {.dimensions = e->dimensions & 2 ? 2 : 3,
                                            .bytes = (uint8_t)(1u << e->element),
                                            .samples = (uint8_t)(1u << e->samples),
                                            .levels = 1,
                                            .mode = e->mode,
                                            .width = 4 * width,
                                            .height = 4 * height,
                                            .depth = 4 * depth,
                                            .pipe_bank_xor = random_word()};
    struct wmi_surface s;
    assert_null(wmi_surface_place(tiling, &shape, &s));
    assert_ptr_equal(s.equation, e);
    const uint64_t base = wmi_surface_offset(&s, at[0], at[1], at[2], 0, 0) >> e->bits << e->bits;
    uint64_t count = 0;
    memset(seen, 0, 1u << e->bits);
    for (uint32_t z = 0; z < depth; z++)
        for (uint32_t y = 0; y < height; y++)
            for (uint32_t x = 0; x < width; x++)
                for (uint32_t sample = 0; sample < shape.samples; sample++, count++) {
                    const uint64_t offset =
                        wmi_surface_offset(&s, at[0] + x, at[1] + y, at[2] + z, sample, 0) - base;
                    mark(seen, 1u << e->bits, offset, shape.bytes, e->name);
                }
    assert_int_equal(count << e->element, 1u << e->bits);
}

static void blocks_are_filled(void **state)
{
    (void)state;
    struct wmi_tiling tilings[CLASSES];
    const unsigned classes = find_classes(tilings);
    size_t count;
    const struct wmi_equation *equations = wmi_equations(&count);
    unsigned char *seen = malloc(1u << WMI_BLOCK_BITS);
    assert_non_null(seen);
    assert_int_equal(classes, CLASSES);
    for (size_t i = 0; i < count; i += reduced() ? 10 : 1) {
        const struct wmi_equation *e = &equations[i];
        for (unsigned c = 0; c < classes; c++)
            if (e->classes >> tilings[c].product & 1) {
                fills_block(&tilings[c], e, seen);
                break; /* the others have the same */
            }
    }
    free(seen);
}

/* No two elements of a surface share a byte, whatever their level, slice and sample. */
static void no_overlap(const struct wmi_tiling *tiling, const struct wmi_surface_shape *shape)
{
    enum { MOST = 1 << 25 };
    struct wmi_surface s;
    char what[128];
    snprintf(what, sizeof what, "%s mode %u, %uD %ux%ux%u, %u levels, %u samples, %u bytes",
             wmi_tiling_class(tiling), shape->mode, shape->dimensions, shape->width, shape->height,
             shape->depth, shape->levels, shape->samples, shape->bytes);
    if (wmi_surface_place(tiling, shape, &s) || s.bytes > MOST)
        return;
    unsigned char *seen = calloc(1, s.bytes);
    assert_non_null(seen);
    for (unsigned level = 0; level < shape->levels; level++) {
        const uint32_t depth = shape->dimensions == 3 && shape->depth >> level == 0 ? 1
                               : shape->dimensions == 3                             ? shape->depth >> level
                                                                                    : shape->depth;
        for (uint32_t z = 0; z < depth; z++)
            for (uint32_t y = 0; y < s.level[level].height; y++)
                for (uint32_t x = 0; x < s.level[level].width; x++)
                    for (uint32_t sample = 0; sample < shape->samples; sample++)
                        mark(seen, s.bytes, wmi_surface_offset(&s, x, y, z, sample, level), shape->bytes,
                             what);
    }
    free(seen);
}

static unsigned most_levels(uint32_t width, uint32_t height, uint32_t depth)
{
    return 32 - (unsigned)__builtin_clz(width | height | depth);
}

static void elements_do_not_overlap(void **state)
{
    (void)state;
    struct wmi_tiling tilings[CLASSES + 5];
    unsigned classes = find_classes(tilings);
    tilings[classes++] = tiling_for("gfx600", 0, 0x6798);
    tilings[classes++] = tiling_for("gfx803", 0, 0x67df);
    tilings[classes++] = tiling_for("gfx803", 0, 0x699f);
    tilings[classes++] = tiling_for("gfx803", 0, 0x7300);
    tilings[classes++] = tiling_for("gfx701", 0, 0x67b0);
    for (unsigned round = 0; round < (reduced() ? 10 : 100); round++)
        for (unsigned c = 0; c < classes; c++)
            for (unsigned mode = 0; mode < 32; mode++) {
                const unsigned limit = 1u << (3 + random_below(6));
                struct wmi_surface_shape shape = {.dimensions = (uint8_t)(1 + random_below(3)),
                                                  .bytes = (uint8_t)(1u << random_below(5)),
                                                  .samples = 1,
                                                  .levels = 1,
                                                  .mode = (uint8_t)mode,
                                                  .width = 1 + random_below(limit),
                                                  .height = 1 + random_below(limit),
                                                  .depth = 1 + random_below(limit < 32 ? limit : 5),
                                                  .pipe_bank_xor = random_word()};
                if (shape.dimensions == 1)
                    shape.height = 1;
                if (shape.dimensions == 2 && random_below(3) == 0)
                    shape.samples = (uint8_t)(1u << random_below(4));
                else if (!wmi_tiling_indexed(&tilings[c]))
                    shape.levels =
                        (uint8_t)(1 + random_below(most_levels(shape.width, shape.height,
                                                               shape.dimensions == 3 ? shape.depth : 1)));
                no_overlap(&tilings[c], &shape);
            }
}

/* Whatever a descriptor says, placing ends, and addresses of elements can be computed. */
static void survives_anything(void **state)
{
    (void)state;
    struct wmi_tiling tilings[CLASSES + 3];
    unsigned classes = find_classes(tilings);
    tilings[classes++] = tiling_for("gfx600", 0, 0x6798);
    tilings[classes++] = tiling_for("gfx803", 0, 0x67df);
    tilings[classes++] = tiling_for("gfx1030", 0x777, 0);
    for (unsigned round = 0; round < (reduced() ? 20000 : 200000); round++) {
        const unsigned c = random_below(classes);
        const struct wmi_surface_shape shape = {.dimensions = (uint8_t)(1 + random_below(3)),
                                                .bytes = (uint8_t)random_below(18),
                                                .samples = (uint8_t)random_below(20),
                                                .levels = (uint8_t)random_below(20),
                                                .mode = (uint8_t)random_below(33),
                                                .width = random_word() >> random_below(32),
                                                .height = random_word() >> random_below(32),
                                                .depth = random_word() >> random_below(32),
                                                .pitch =
                                                    random_below(2) ? random_word() >> random_below(32) : 0,
                                                .pipe_bank_xor = random_word()};
        struct wmi_surface s;
        char name[WMI_TILING_NAME];
        wmi_tiling_mode_name(&tilings[c], shape.mode, name);
        if (!wmi_surface_place(&tilings[c], &shape, &s))
            wmi_surface_offset(&s, random_word(), random_word(), random_word(), random_word() % shape.samples,
                               random_word() % shape.levels);
    }
}

static void modes_have_names(void **state)
{
    (void)state;
    const struct wmi_tiling gfx11 = tiling_for("gfx1100", 0x545, 0), gfx12 = tiling_for("gfx1200", 0, 0),
                            gfx8 = tiling_for("gfx803", 0, 0x67df);
    unsigned mode;
    assert_true(wmi_tiling_mode_find(&gfx11, "64kb_r_x", &mode));
    assert_int_equal(mode, 27);
    assert_true(wmi_tiling_mode_find(&gfx11, "31", &mode));
    assert_int_equal(mode, 31);
    assert_true(wmi_tiling_mode_find(&gfx12, "64KB_3D", &mode));
    assert_int_equal(mode, 6);
    assert_true(wmi_tiling_mode_find(&gfx8, "linear", &mode));
    assert_int_equal(mode, 8);
    assert_true(wmi_tiling_mode_find(&gfx8, "2D_TILED_THIN1 thin", &mode));
    assert_int_equal(mode, 14);
    assert_false(wmi_tiling_mode_find(&gfx11, "64KB_Z", &mode));
    assert_false(wmi_tiling_mode_find(&gfx11, "", &mode));
    assert_false(wmi_tiling_mode_find(&gfx12, "64KB_R_X", &mode));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_addrlib),     cmocka_unit_test(equal_addrlib_tile_modes),
        cmocka_unit_test(blocks_are_filled), cmocka_unit_test(elements_do_not_overlap),
        cmocka_unit_test(survives_anything), cmocka_unit_test(modes_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
