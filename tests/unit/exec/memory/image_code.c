/* SPDX-License-Identifier: MIT */
/* Loads and stores of linear and tiled images, against a simple reference for texel addresses and conversion
 * of components; sizes of images; and refused images. */
#include "memory/blocks.h"
#include "run_image.h"

/* Random further instruction flags. */
static void draw_flags(struct image *i)
{
    const unsigned g = generation(i->target);
    i->a16 = g >= 9 && below(3) == 0;
    i->d16 = g >= 8 && i->format->bits < 32 && !i->format->unorm && below(2);
    i->r128 = g != 9 && i->type <= T2D && i->mips == 1 && i->width > 1 && below(2);
}

/* Registers that a load returns to a lane, in `value`; returns their number. */
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

/* A multisampled image; false if the target's product has none of the drawn format. */
static bool make_multisampled(const char *target, uint64_t base, struct image *i)
{
    *i = make_image(target, base);
    i->type = below(2) ? T2D_MSAA : T2D_MSAA_ARRAY;
    i->height = 1 + below(20);
    i->mips = 1;
    i->base_level = i->last_level = 0;
    i->last_array = i->type == T2D_MSAA ? 0 : below(4);
    i->base_array = below(i->last_array + 1);
    const bool there = tile_image(i, 2u << below(3));
    if (there)
        encode(i);
    return there;
}

static void load_images(bool multisampled)
{
    for (unsigned t = 0; t < TARGETS; t++) {
        open_machine(targets[t]);
        for (unsigned round = 0; round < ROUNDS; round++) {
            uint32_t c[LANES][4], expected[RESULTS];
            char text[200];
            struct image i = make_image(targets[t], m.image);
            if (multisampled && !make_multisampled(targets[t], m.image, &i))
                continue;
            const unsigned dmask = 1 + below(15);
            const bool has_level = !multisampled && below(2),
                       tfe = generation(targets[t]) != 9 && below(3) == 0;
            const bool lwe = generation(targets[t]) != 9 && generation(targets[t]) < 18 && below(3) == 0;
            draw_flags(&i);
            draw_coordinates(&i, c);
            const unsigned count = expect_load(&i, c[0], dmask, has_level, tfe, expected);
            write_instruction(text, &i, has_level ? "image_load_mip" : "image_load", 10, count, dmask,
                              has_level,
                              tfe && lwe ? " tfe lwe"
                              : tfe      ? " tfe"
                              : lwe      ? " lwe"
                                         : "");
            const struct wm_fault fault = run(targets[t], i.words, text);
            if (fault.kind)
                fail_msg("%s: %s: %s", targets[t], text, fault.text);
            for (unsigned lane = 0; lane < LANES; lane++) {
                expect_load(&i, c[lane], dmask, has_level, tfe || lwe, expected);
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

static void test_load(void **state)
{
    (void)state;
    load_images(false);
}

static void test_load_multisampled(void **state)
{
    (void)state;
    load_images(true);
}

/* Sets a field of a T#. */
static void set_field(struct image *i, const char *name, uint64_t value)
{
    struct wm_descriptor d, changed;
    struct wm_diag diag;
    assert_int_equal(wm_descriptor_decode(i->target, WM_DESCRIPTOR_IMAGE, i->words, 8, &d, &diag), WM_OK);
    for (size_t k = 0; k < d.field_count; k++)
        if (!strcmp(d.field[k].name, name))
            d.field[k].value = value;
    if (wm_descriptor_encode(i->target, WM_DESCRIPTOR_IMAGE, d.field, d.field_count, &changed, &diag))
        fail_msg("%s: %s", i->target, diag.message);
    memcpy(i->words, changed.words, sizeof i->words);
}

/* Where image_msaa_load exists: whether DMASK chooses the component (else the samples of the only one), and
 * whether DST_SEL counts. Source: LLVM, MIMGInstructions.td, AMDGPUImageIntrinsicOptimizer.cpp (which makes
 * one of four loads, except with FeatureMSAALoadDstSelBug). */
static const struct msaa {
    const char *target;
    bool by_component, selects;
} msaa_targets[] = {
    {"gfx1030", false, true}, {"gfx1100", true, false}, {"gfx1150", true, true}, {"gfx1200", true, true}};

/* What image_load gives for component k of a lane's sample. */
static uint32_t loaded(const struct image *i, const uint32_t c[4], unsigned k, unsigned more)
{
    const unsigned where = i->type == T2D_MSAA ? 2 : 3;
    uint32_t at[4] = {c[0], c[1], c[2], c[3]};
    uint64_t offset;
    if (at[where] >= i->samples)
        return 0;
    at[where] += more;
    return k < i->format->components && find_texel(i, at, false, &offset)
               ? component(i->format, m.bytes + offset, k)
               : 0;
}

static void load_samples(const struct msaa *f)
{
    static const char *const fields[] = {"DST_SEL_X", "DST_SEL_Y", "DST_SEL_Z", "DST_SEL_W"};
    uint32_t c[LANES][4];
    char text[200];
    struct image i;
    if (!make_multisampled(f->target, m.image, &i))
        return;
    if (!f->by_component && i.format->components > 1)
        return;
    const unsigned selected = below(i.format->components), bit = below(4),
                   dmask = f->by_component ? 1u << bit : 1 + below(15);
    set_field(&i, fields[f->by_component ? bit : 0], 4 + selected);
    const unsigned k = f->selects ? selected : bit;
    draw_flags(&i);
    i.r128 = false;
    const bool tfe = !i.d16 && below(3) == 0;
    draw_coordinates(&i, c);
    const unsigned values = f->by_component ? 4 : (unsigned)__builtin_popcount(dmask),
                   count = i.d16 ? (values + 1) / 2 : values;
    write_instruction(text, &i, "image_msaa_load", 10, count + tfe, dmask, false, tfe ? " tfe" : "");
    const struct wm_fault fault = run(f->target, i.words, text);
    if (fault.kind)
        fail_msg("%s: %s: %s", f->target, text, fault.text);
    for (unsigned lane = 0; lane < LANES; lane++) {
        uint32_t expected[RESULTS];
        for (unsigned n = 0; n < RESULTS; n++)
            expected[n] = tfe && n == count ? 0 : MARK;
        for (unsigned sample = 0, n = 0; sample < 4; sample++) {
            const uint32_t value = loaded(&i, c[lane], k, sample);
            if (!f->by_component && !(dmask >> sample & 1))
                continue;
            if (!i.d16)
                expected[n] = value;
            else if (n & 1)
                expected[n / 2] = (expected[n / 2] & 0xffff) | value << 16;
            else
                expected[n / 2] = (expected[n / 2] & 0xffff0000) | value;
            n++;
        }
        for (unsigned n = 0; n < RESULTS; n++)
            if (m.out[64 * n + lane] != expected[n])
                fail_msg("%s: %s: lane %u (%u %u %u %u of %u) register %u: 0x%x, expected 0x%x", f->target,
                         text, lane, c[lane][0], c[lane][1], c[lane][2], c[lane][3], i.samples, n,
                         m.out[64 * n + lane], expected[n]);
    }
}

static void test_load_samples(void **state)
{
    (void)state;
    for (unsigned t = 0; t < sizeof msaa_targets / sizeof *msaa_targets; t++) {
        open_machine(msaa_targets[t].target);
        for (unsigned round = 0; round < 4 * ROUNDS; round++)
            load_samples(&msaa_targets[t]);
        end_machine();
    }
}

/* Only right with one component on gfx10.3 (LLVM, AMDGPUImageIntrinsicOptimizer.cpp). */
static void test_load_samples_of_components(void **state)
{
    (void)state;
    char text[200];
    struct image i;
    open_machine("gfx1030");
    do
        while (!make_multisampled("gfx1030", m.image, &i))
            ;
    while (i.format->components == 1);
    draw_coordinates(&i, (uint32_t[LANES][4]){0});
    write_instruction(text, &i, "image_msaa_load", 10, 4, 15, false, "");
    const struct wm_fault fault = run("gfx1030", i.words, text);
    if (fault.kind != WM_FAULT_RESOURCE || !strstr(fault.text, "several components"))
        fail_msg("%s: %s", text, fault.text);
    end_machine();
}

/* Clamped to 0 and 1, to nearest even; NaN becomes 0. Source: CLRX, "GCN memory handling". */
static uint32_t stored(const struct format *f, uint32_t value)
{
    float x;
    memcpy(&x, &value, 4);
    return !f->unorm ? value : x >= 1 ? 255 : x > 0 ? (uint32_t)nearbyint((double)x * 255) : 0;
}

static void store_images(bool multisampled)
{
    static unsigned char expected[IMAGE_BYTES];
    for (unsigned t = 0; t < TARGETS; t++) {
        const bool is_gfx12 = !strcmp(targets[t], "gfx1200");
        open_machine(targets[t]);
        for (unsigned round = 0; round < ROUNDS; round++) {
            uint32_t c[LANES][4], data[4][LANES];
            char text[200];
            struct image i = make_image(targets[t], m.image);
            if (multisampled && !make_multisampled(targets[t], m.image, &i))
                continue;
            const unsigned dmask = 1 + below(15), count = (unsigned)__builtin_popcount(dmask);
            const bool has_level = !multisampled && below(2);
            draw_coordinates(&i, c);
            for (unsigned k = 0; k < 4; k++)
                for (unsigned lane = 0; lane < LANES; lane++) {
                    data[k][lane] = (uint32_t)wmi_random_bits(seed, drawn++);
                    if (i.format->unorm) { /* including clamped values */
                        const float value = (float)((int)below(1 << 16) - (1 << 14)) / (float)(1 << 15);
                        memcpy(&data[k][lane], &value, 4);
                        data[k][lane] = below(20) ? data[k][lane] : below(2) ? 0x7f800000 : 0x7fc00001;
                    } else if (i.format->bits < 32) /* out-of-range values are another test */
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
                    /* what DMASK leaves out: RDNA 3 and 4 ISA, "Image Instructions" */
                    const uint32_t missing = is_gfx12 ? data[0][lane] : 0;
                    const uint32_t value = stored(i.format, dmask >> k & 1 ? data[n++][lane] : missing);
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

static void test_store(void **state)
{
    (void)state;
    store_images(false);
}

static void test_store_multisampled(void **state)
{
    (void)state;
    store_images(true);
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
                /* the faces of a cube count: RDNA 3 ISA, "Image Instructions" */
                const uint32_t slices =
                    i.type == T3D ? at_level(i.depth, level) : i.last_array - i.base_array + 1;
                assert_int_equal(m.out[lane], there ? at_level(i.width, level) : 0);
                assert_int_equal(m.out[64 + lane], there ? at_level(i.height, level) : 0);
                assert_int_equal(m.out[128 + lane], there ? slices : 0);
                assert_int_equal(m.out[192 + lane], i.last_level - i.base_level + 1);
            }
        }
        end_machine();
    }
}

/* Any instruction on an unsupported image reports it. */
static void test_refused(void **state)
{
    (void)state;
    for (unsigned t = 0; t < TARGETS; t++) {
        const unsigned g = generation(targets[t]);
        const struct {
            const char *field;
            uint64_t value;
            const char *message;
        } cases[] = {
            {g < 9 ? "TILING_INDEX" : "SW_MODE",
             g < 7   ? 20
             : g < 9 ? 31
                     : 12,
             g < 7   ? "an image with thick tiles, whose order wavemem does not know on gfx6"
             : g < 9 ? "an image tiled by an entry that the tables of this product do not have"
                     : "an image tiled in a mode that this product does not have for such elements"},
            {g < 8 ? "DATA_FORMAT" : "COMPRESSION_EN", g < 8 ? 0x2d : 1,
             g < 8      ? "an FMASK; wavemem does not read them"
             : g < 0x12 ? "a compressed image ("
                        : NULL}, /* of gfx12, pages are compressed or not */
            {g < 16 ? "DATA_FORMAT" : "FORMAT",
             g < 16    ? 0x28
             : g == 16 ? 0x83
                       : 0x7b, /* BC6H of an unknown kind; no format */
             "an image of a format that wavemem does not convert"},
            {g < 16 ? "DATA_FORMAT" : "FORMAT",
             g < 16    ? 0x2d
             : g == 16 ? 0xa0
                       : 0x7b,
             g <= 16 ? "an FMASK; wavemem does not read them" : "a format that wavemem does not convert"},
            {"LAST_LEVEL", 1, "an image of several levels"}, /* gfx6 to gfx8 */
        };
        static const char *const instructions[] = {"image_load", "image_store", "image_atomic_swap"};
        open_machine(targets[t]);
        for (unsigned k = 0; k < 3 * (g < 9 ? 5 : 4); k++) {
            char text[200];
            struct image i = make_image(targets[t], m.image);
            set_field(&i, cases[k / 3].field, cases[k / 3].value);
            draw_coordinates(&i, (uint32_t[LANES][4]){0});
            write_instruction(text, &i, instructions[k % 3], 10, 1, 1, false, "");
            const struct wm_fault fault = run(targets[t], i.words, text);
            if (!cases[k / 3].message) {
                assert_int_equal(fault.kind, WM_FAULT_NONE);
                continue;
            }
            if (fault.kind != WM_FAULT_RESOURCE || !strstr(fault.text, cases[k / 3].message) ||
                !strstr(fault.text, instructions[k % 3]))
                fail_msg("%s: %s: %s", targets[t], text, fault.text);
        }
        end_machine();
    }
}

/* BC1, BC3 and BC7: blocks of 8 and 16 bytes, which tests/unit/memory/blocks.py compares with Pillow. */
static const struct format blocks[] = {{2, 32, false, 0x23, 0, 0xa9, 0x6d},
                                       {4, 32, false, 0x25, 0, 0xad, 0x71},
                                       {4, 32, false, 0x29, 0, 0xb5, 0x79}};

/* An image of blocks, placed as one of elements of their size. */
static struct image make_blocks(const char *target, struct wmi_format *format)
{
    const unsigned g = generation(target);
    struct image i;
    do {
        i = (struct image){
            .target = target, .base = m.image, .mips = 1, .type = T2D, .depth = 1, .width = 1 + below(20)};
        i.format = &blocks[g < 7 ? below(2) : below(3)];
        i.height = 1 + below(8);
        i.mips = g > 9 ? 1 + below(3) : 1;
    } while (!tile_image(&i, 1));
    i.last_level = i.mips - 1;
    i.width = 4 * i.width - (i.mips > 1 ? 0 : below(4));
    i.height = 4 * i.height - (i.mips > 1 ? 0 : below(4));
    i.pitch *= g < 9 ? 4 : 1;
    encode(&i);
    set_field(&i, "DST_SEL_Y", 5);
    set_field(&i, "DST_SEL_Z", 6);
    set_field(&i, "DST_SEL_W", 7);
    *format = wmi_format_of_image(
        wmi_format_rules((unsigned)wmi_target_limit(wmi_target_find(target), WMI_LIMIT_format_rules)),
        g < 16    ? i.format->data
        : g == 16 ? i.format->gfx10
                  : i.format->gfx11);
    return i;
}

/* Compares a lane's result with a texel; one that does not exist is 0. */
static void check_block(const char *text, const struct image *i, const struct wmi_format *format,
                        unsigned lane, uint32_t x, uint32_t y, uint32_t level)
{
    uint32_t expected[4] = {0};
    if (level < i->mips && x < at_level(i->width, level) && y < at_level(i->height, level))
        wmi_block_load(format, m.bytes + wmi_surface_offset(&i->surface, x / 4, y / 4, 0, 0, level), x % 4,
                       y % 4, false, expected);
    for (unsigned k = 0; k < 4; k++)
        if (m.out[64 * k + lane] != expected[k])
            fail_msg("%s: %s: (%u %u), level %u, component %u: 0x%x, expected 0x%x", i->target, text, x, y,
                     level, k, m.out[64 * k + lane], expected[k]);
}

/* A sampler of zeros takes the texel at normalized coordinates. */
static void sample_blocks(const char *target)
{
    const unsigned g = generation(target);
    for (unsigned round = 0; round < ROUNDS; round++) {
        uint32_t c[LANES][2];
        char line[300];
        struct wmi_format format;
        const struct image i = make_blocks(target, &format);
        for (unsigned lane = 0; lane < LANES; lane++) {
            const uint32_t size[2] = {i.width, i.height};
            for (unsigned k = 0; k < 2; k++) {
                c[lane][k] = below(size[k]);
                const float at = ((float)c[lane][k] + 0.5f) / (float)size[k];
                memcpy(&m.in[64 * k + lane], &at, 4);
            }
        }
        snprintf(line, sizeof line,
                 "s_mov_b32 s24, 0\ns_mov_b32 s25, 0\ns_mov_b32 s26, 0\ns_mov_b32 s27, 0\n"
                 "image_sample_lz v[10:13], %s, s[8:15], s[24:27] dmask:0xf%s",
                 g == 18 ? "[v4, v5]" : "v[4:5]", g < 16 ? "" : " dim:SQ_RSRC_IMG_2D");
        const struct wm_fault fault = run(target, i.words, line);
        if (fault.kind)
            fail_msg("%s: %s: %s", target, line, fault.text);
        for (unsigned lane = 0; lane < LANES; lane++)
            check_block(line, &i, &format, lane, c[lane][0], c[lane][1], 0);
    }
}

static void test_load_blocks(void **state)
{
    (void)state;
    for (unsigned t = 0; t < TARGETS; t++) {
        if (!strcmp(targets[t], "gfx600")) /* no tables of its tile modes */
            continue;
        open_machine(targets[t]);
        for (unsigned round = 0; round < ROUNDS; round++) {
            uint32_t c[LANES][4];
            char text[200];
            struct wmi_format format;
            struct image i = make_blocks(targets[t], &format);
            const bool has_level = i.mips > 1;
            draw_coordinates(&i, c);
            write_instruction(text, &i, has_level ? "image_load_mip" : "image_load", 10, 4, 15, has_level,
                              "");
            const struct wm_fault fault = run(targets[t], i.words, text);
            if (fault.kind)
                fail_msg("%s: %s: %s", targets[t], text, fault.text);
            for (unsigned lane = 0; lane < LANES; lane++)
                check_block(text, &i, &format, lane, c[lane][0], c[lane][1], has_level ? c[lane][2] : 0);
        }
        if (strcmp(targets[t], "gfx90a") != 0) /* without image_sample_lz */
            sample_blocks(targets[t]);
        struct wmi_format format;
        struct image i = make_blocks(targets[t], &format);
        char text[200];
        draw_coordinates(&i, (uint32_t[LANES][4]){0});
        write_instruction(text, &i, "image_store", 20, 4, 15, false, "");
        const struct wm_fault fault = run(targets[t], i.words, text);
        if (fault.kind != WM_FAULT_RESOURCE || !strstr(fault.text, "compressed blocks"))
            fail_msg("%s: %s: %s", targets[t], text, fault.text);
        end_machine();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_load),         cmocka_unit_test(test_load_multisampled),
        cmocka_unit_test(test_store),        cmocka_unit_test(test_store_multisampled),
        cmocka_unit_test(test_resinfo),      cmocka_unit_test(test_refused),
        cmocka_unit_test(test_load_samples), cmocka_unit_test(test_load_samples_of_components),
        cmocka_unit_test(test_load_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
