/* SPDX-License-Identifier: MIT */
/* Tessellation buffers against the order listed in the 2016 patch, its formula step by step, the bit fields
 * of each layout's word, and the patch's statements about cache lines. */
#include "wavemem/wavemem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static struct wm_tess_layout make(const char *name, uint32_t patches, uint32_t vertices, uint32_t attributes,
                                  uint32_t patch_attributes)
{
    struct wm_tess_layout layout;
    assert_int_equal(wm_tess_layout(name, patches, vertices, attributes, patch_attributes, &layout, NULL),
                     WM_OK);
    return layout;
}

static uint32_t offset_of(const struct wm_tess_layout *layout, struct wm_tess_place place)
{
    uint32_t offset;
    assert_int_equal(wm_tess_offset(layout, &place, &offset, NULL), WM_OK);
    return offset;
}

/* The comment above get_tcs_tes_buffer_address(): the order of the vec4s. */
static void test_order(void **state)
{
    (void)state;
    for (uint32_t patches = 1; patches <= 9; patches += 4)
        for (uint32_t vertices = 1; vertices <= 32; vertices += 5) {
            const struct wm_tess_layout l = make("radeonsi-2016", patches, vertices, 5, 3);
            uint32_t at = 0;
            for (uint32_t attribute = 0; attribute < 5; attribute++)
                for (uint32_t patch = 0; patch < patches; patch++)
                    for (uint32_t vertex = 0; vertex < vertices; vertex++, at += 16)
                        assert_int_equal(offset_of(&l, (struct wm_tess_place){.patch = patch,
                                                                              .vertex = vertex,
                                                                              .slot = attribute}),
                                         at);
            assert_int_equal(l.patch_data, at);
            for (uint32_t attribute = 0; attribute < 3; attribute++)
                for (uint32_t patch = 0; patch < patches; patch++, at += 16)
                    assert_int_equal(
                        offset_of(
                            &l, (struct wm_tess_place){.per_patch = true, .patch = patch, .slot = attribute}),
                        at);
            assert_int_equal(l.size, at);
        }
}

/* get_tcs_tes_buffer_address(), statement by statement; unpack_param(word, shift, bits). */
static uint32_t unpack_param(uint32_t word, unsigned shift, unsigned bits)
{
    return word >> shift & ((1u << bits) - 1);
}

static uint32_t patch_address(uint32_t word, const uint32_t *vertex_index, uint32_t rel_patch_id,
                              uint32_t param_index)
{
    const uint32_t vertices_per_patch = unpack_param(word, 9, 6), num_patches = unpack_param(word, 0, 9);
    const uint32_t total_vertices = vertices_per_patch * num_patches;
    uint32_t base_addr, param_stride;
    if (vertex_index) {
        base_addr = rel_patch_id * vertices_per_patch;
        base_addr = base_addr + *vertex_index;
        param_stride = total_vertices;
    } else {
        base_addr = rel_patch_id;
        param_stride = num_patches;
    }
    base_addr = base_addr + param_index * param_stride;
    base_addr = base_addr * 16;
    if (!vertex_index)
        base_addr = base_addr + unpack_param(word, 16, 16);
    return base_addr;
}

static void test_formula(void **state)
{
    (void)state;
    const struct wm_tess_layout l = make("radeonsi-2016", 40, 7, 12, 6);
    for (uint32_t patch = 0; patch < 40; patch++)
        for (uint32_t slot = 0; slot < 12; slot++) {
            for (uint32_t vertex = 0; vertex < 7; vertex++) { /* the slot in two parts: an array index */
                const struct wm_tess_place place = {.patch = patch,
                                                    .vertex = vertex,
                                                    .slot = slot / 2,
                                                    .indirect = slot - slot / 2,
                                                    .byte = 8};
                assert_int_equal(offset_of(&l, place), patch_address(l.word, &vertex, patch, slot) + 8);
            }
            if (slot < 6)
                assert_int_equal(
                    offset_of(&l, (struct wm_tess_place){.per_patch = true, .patch = patch, .slot = slot}),
                    patch_address(l.word, NULL, patch, slot));
        }
}

/* Every byte belongs to one place, or is between slots. */
static void test_bijection(void **state)
{
    (void)state;
    const char *name;
    for (size_t i = 0; (name = wm_tess_layout_at(i)); i++) {
        const struct wm_tess_layout l = make(name, 11, 3, 4, 2);
        uint32_t places = 0;
        for (uint32_t byte = 0; byte < l.size; byte++) {
            struct wm_tess_place place;
            if (wm_tess_place(&l, byte, &place, NULL) != WM_OK)
                continue;
            assert_int_equal(offset_of(&l, place), byte);
            places++;
        }
        assert_int_equal(places, 16 * 11 * (3 * 4 + 2));
        struct wm_tess_place place;
        assert_int_equal(wm_tess_place(&l, l.size, &place, NULL), WM_NOT_FOUND);
    }
}

/* Mesa: align(num_patches * vertices * 16, 256) and align(num_patches * 16, 256) from 2025 on. */
static void test_aligned(void **state)
{
    (void)state;
    const struct wm_tess_layout l = make("radv-2025", 11, 3, 4, 2);
    assert_int_equal(l.attribute_stride, 768); /* 528 */
    assert_int_equal(l.patch_stride, 256);     /* 176 */
    assert_int_equal(l.patch_data, 4 * 768);
    assert_int_equal(l.size, 4 * 768 + 2 * 256);
}

static void test_words(void **state)
{
    (void)state;
    struct wm_tess_layout back;
    const uint32_t data = 4 * 3 * 32 * 16;
    const struct {
        const char *name;
        uint32_t word;
    } words[] = {
        {"radeonsi-2016", 32 | 3 << 9 | data << 16},
        {"radeonsi-2020", 31 | 2 << 6 | data << 11},
        {"radeonsi-2023", 31 | 2 << 6 | data << 16},
        {"radeonsi-2024", 31 | 2 << 7 | 4 << 23},
        {"radv-2025", 31 | 2 << 7 | (32 * 3 * 16 / 256) << 12 | 4 << 23},
    };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        const struct wm_tess_layout l = make(words[i].name, 32, 3, 4, 2);
        assert_int_equal(l.word, words[i].word);
        assert_int_equal(wm_tess_layout_of_word(words[i].name, l.word, 2, &back, NULL), WM_OK);
        assert_string_equal(back.name, l.name);
        assert_string_equal(back.source, l.source);
        /* The fields are contiguous, without padding. */
        assert_memory_equal(&back.patches, &l.patches,
                            offsetof(struct wm_tess_layout, word) + sizeof l.word -
                                offsetof(struct wm_tess_layout, patches));
    }
    /* Other bits of the word are ignored. */
    assert_int_equal(wm_tess_layout_of_word("radeonsi-2024", words[3].word | 0xe07ff000, 2, &back, NULL),
                     WM_OK);
    assert_int_equal(back.size, make("radeonsi-2024", 32, 3, 4, 2).size);
}

static void test_refusals(void **state)
{
    (void)state;
    struct wm_tess_layout l;
    uint32_t offset;
    assert_int_equal(wm_tess_layout("radeonsi", 1, 1, 1, 0, &l, NULL), WM_NOT_FOUND);
    assert_int_equal(wm_tess_layout("radeonsi-2016", 0, 3, 1, 0, &l, NULL), WM_BAD_ARGUMENT);
    assert_int_equal(wm_tess_layout("radeonsi-2016", 512, 3, 1, 0, &l, NULL), WM_BAD_ARGUMENT);
    assert_int_equal(wm_tess_layout("radeonsi-2016", 1, 33, 1, 0, &l, NULL), WM_BAD_ARGUMENT);
    assert_int_equal(wm_tess_layout("radeonsi-2016", 1, 1, 65, 0, &l, NULL), WM_BAD_ARGUMENT);
    assert_int_equal(wm_tess_layout("radeonsi-2020", 65, 3, 1, 0, &l, NULL), WM_BAD_ARGUMENT);
    assert_int_equal(wm_tess_layout("radeonsi-2016", 64, 32, 2, 0, &l, NULL), WM_BAD_ARGUMENT); /* 65536 */
    assert_int_equal(wm_tess_layout("radeonsi-2016", 64, 32, 1, 0, &l, NULL), WM_OK);
    assert_int_equal(wm_tess_layout_of_word("radeonsi-2016", 0, 0, &l, NULL), WM_BAD_ARGUMENT);
    assert_int_equal(wm_tess_layout_of_word("radv-2025", 31 | 2 << 7 | 1 << 12, 0, &l, NULL),
                     WM_BAD_ARGUMENT);
    l = make("radeonsi-2016", 8, 3, 2, 1);
    const struct wm_tess_place bad[] = {{.patch = 8}, {.vertex = 3},
                                        {.slot = 2},  {.slot = 1, .indirect = UINT32_MAX},
                                        {.byte = 16}, {.per_patch = true, .slot = 1}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(wm_tess_offset(&l, &bad[i], &offset, NULL), WM_BAD_ARGUMENT);
}

/* si_shader_io_get_unique_index() of Mesa 12. */
static void test_semantics(void **state)
{
    (void)state;
    const struct {
        const char *name;
        uint32_t index, slot;
        bool per_patch;
    } slots[] = {
        {"POSITION", 0, 0, false},
        {"TGSI_SEMANTIC_PSIZE", 0, 1, false},
        {"clipdist", 1, 3, false},
        {"Generic", 0, 4, false},
        {"generic", 59, 63, false},
        {"tessouter", 0, 0, true},
        {"tgsi_semantic_tessinner", 0, 1, true},
        {"patch", 5, 7, true},
    };
    uint32_t slot;
    bool per_patch;
    for (size_t i = 0; i < sizeof slots / sizeof slots[0]; i++) {
        assert_int_equal(
            wm_tess_slot("radeonsi-2016", slots[i].name, slots[i].index, &slot, &per_patch, NULL), WM_OK);
        assert_int_equal(slot, slots[i].slot);
        assert_int_equal(per_patch, slots[i].per_patch);
    }
    assert_int_equal(wm_tess_slot("radeonsi-2016", "generic", 60, &slot, &per_patch, NULL), WM_BAD_ARGUMENT);
    assert_int_equal(wm_tess_slot("radeonsi-2016", "clipdist", 2, &slot, &per_patch, NULL), WM_BAD_ARGUMENT);
    assert_int_equal(wm_tess_slot("radeonsi-2016", "color", 0, &slot, &per_patch, NULL), WM_NOT_FOUND);
    assert_int_equal(wm_tess_slot("radeonsi-2024", "generic", 0, &slot, &per_patch, NULL), WM_UNSUPPORTED);
}

/* The patch's message about lines of 64 bytes. */
static void test_lines(void **state)
{
    (void)state;
    for (uint32_t vertices = 1; vertices <= 8; vertices++) {
        const struct wm_tess_layout l = make("radeonsi-2016", 64, vertices, 4, 2);
        struct wm_tess_lines n;
        assert_int_equal(wm_tess_lines(&l, 64, 64, 1, &n, NULL), WM_OK);
        /* "For the TCS this results in tightly packed data". */
        assert_int_equal(n.store_lanes, 64);
        assert_int_equal(n.store, 64 * 16 / 64);
        /* "if there are < 4 vertices/patch, this still results in a reduction of the number of cache lines"
         */
        assert_int_equal(n.load_lanes, 64);
        assert_int_equal(n.load < 64, vertices < 4);
        assert_int_equal(n.load, vertices < 4 ? 16 * vertices : 64);
        /* "we only do better than worst case if the data per patch < 64 bytes" */
        assert_int_equal(n.load_before, 64);
    }
    struct wm_tess_lines n;
    const struct wm_tess_layout small = make("radeonsi-2016", 64, 1, 2, 1); /* 48 bytes per patch */
    assert_int_equal(wm_tess_lines(&small, 64, 64, 1, &n, NULL), WM_OK);
    assert_int_equal(n.load_before, 48);
    assert_int_equal(wm_tess_lines(&small, 64, 64, 4, &n, NULL), WM_OK); /* 16 patches per wave */
    assert_int_equal(n.load_before, 12);
    assert_int_equal(n.load, 4);
    assert_int_equal(wm_tess_lines(&small, 48, 64, 1, &n, NULL), WM_BAD_ARGUMENT);
    assert_int_equal(wm_tess_lines(&small, 64, 257, 1, &n, NULL), WM_BAD_ARGUMENT);
    const struct wm_tess_layout none = make("radeonsi-2016", 64, 1, 0, 1);
    assert_int_equal(wm_tess_lines(&none, 64, 64, 1, &n, NULL), WM_BAD_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),     cmocka_unit_test(test_formula), cmocka_unit_test(test_bijection),
        cmocka_unit_test(test_aligned),   cmocka_unit_test(test_words),   cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_semantics), cmocka_unit_test(test_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
