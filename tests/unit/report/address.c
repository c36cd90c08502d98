/* SPDX-License-Identifier: MIT */
/* Explained addresses on all targets: the reported accesses against a simple reference per kind of
 * instruction, and that the displayed formulas evaluate to the same values. */
#include "base/random.h"
#include "wavemem/wavemem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LANES = 64, SGPRS = 12, VGPRS = 6, ROUNDS = 12 };

static const char *const targets[] = {"gfx600",  "gfx700",  "gfx803", "gfx900",  "gfx906",
                                      "gfx908",  "gfx90a",  "gfx942", "gfx1010", "gfx1030",
                                      "gfx1100", "gfx1150", "gfx1200"};
enum { TARGETS = sizeof targets / sizeof targets[0] };

static unsigned generation(const char *target)
{
    return (unsigned)strtoul(target + 3, NULL, 16) >> 8;
}

/* The registers of a wave. */
struct registers {
    uint32_t s[SGPRS], v[VGPRS][LANES], flat_scratch[2];
    uint32_t m0; /* 0: as it is by default */
    uint64_t seed, drawn;
};

static uint64_t draw(struct registers *r)
{
    return wmi_random_bits(r->seed, r->drawn++);
}

static uint64_t pair(const uint32_t *low, const uint32_t *high)
{
    return *low | (uint64_t)*high << 32;
}

/* Small distinct numbers, and pairs that are 47-bit addresses. */
static void fill(struct registers *r, uint64_t seed)
{
    *r = (struct registers){.seed = seed};
    for (unsigned i = 0; i < SGPRS; i++)
        r->s[i] = (uint32_t)draw(r) % 4096;
    for (unsigned i = 0; i < VGPRS; i++)
        for (unsigned lane = 0; lane < LANES; lane++)
            r->v[i][lane] = (uint32_t)draw(r) % 4096;
    r->flat_scratch[0] = (uint32_t)draw(r) & ~1023u;
    r->flat_scratch[1] = (uint32_t)draw(r) % 100;
}

static void explain(const char *target, const char *text, const struct registers *r, unsigned lane,
                    struct wm_address_answer *a)
{
    static const char *const special[] = {"flat_scratch_lo", "flat_scratch_hi"};
    struct wm_register registers[SGPRS + VGPRS + 3];
    char names[SGPRS + VGPRS][8];
    for (unsigned i = 0; i < SGPRS + VGPRS; i++) {
        const bool vector = i >= SGPRS;
        snprintf(names[i], sizeof names[i], "%c%u", vector ? 'v' : 's', vector ? i - SGPRS : i);
        registers[i].name = names[i];
        registers[i].value[0] = vector ? 0 : r->s[i];
        if (vector)
            memcpy(registers[i].value, r->v[i - SGPRS], sizeof registers[i].value);
    }
    for (unsigned i = 0; i < 2; i++)
        registers[SGPRS + VGPRS + i] = (struct wm_register){special[i], {r->flat_scratch[i]}};
    registers[SGPRS + VGPRS + 2] = (struct wm_register){"m0", {r->m0}};
    const struct wm_address_request request = {.target = target,
                                               .text = text,
                                               .registers = registers,
                                               .register_count = SGPRS + VGPRS + (r->m0 ? 3 : 2),
                                               .lanes = UINT64_MAX,
                                               .lds_bytes = 4000,
                                               .lane = lane};
    struct wm_diag diag = {0};
    if (wm_address_explain(&request, a, &diag) != WM_OK)
        fail_msg("%s: %s: %s", target, text, diag.message);
    if (!a->step_count)
        fail_msg("%s: %s: the formulas do not give 0x%llx", target, text,
                 (unsigned long long)a->element[0].address[lane]);
}

static struct registers r;
static struct wm_address_answer a;

/* Checks the answer's lanes; sometimes one lane, explained step by step. */
static void check(const char *target, const char *text, uint64_t (*expected)(unsigned lane, unsigned element),
                  bool (*in_range)(const char *target, unsigned lane, unsigned element), const char *space)
{
    const unsigned lane = (unsigned)(draw(&r) % 32);
    explain(target, text, &r, lane, &a);
    assert_int_equal(a.wave_size, generation(target) >= 16 ? 32 : 64);
    for (unsigned i = 0; i < a.wave_size; i++) {
        if (!(a.lanes >> i & 1))
            continue;
        for (unsigned e = 0; e < a.elements; e++) {
            if (a.element[e].address[i] != expected(i, e))
                fail_msg("%s: %s: lane %u element %u: 0x%llx, expected 0x%llx", target, text, i, e,
                         (unsigned long long)a.element[e].address[i], (unsigned long long)expected(i, e));
            if (in_range && !(a.element[e].bad_range >> i & 1) != in_range(target, i, e))
                fail_msg("%s: %s: lane %u element %u: wrong verdict", target, text, i, e);
            assert_string_equal(a.element[e].space, space);
        }
    }
}

/* ---- references ---- */

static uint64_t buffer_address(unsigned lane, unsigned element)
{
    (void)element;
    return pair(&r.s[4], &r.s[5]) + r.s[8] + r.v[3][lane] + 16;
}

/* Buffers with STRIDE 0: the last byte, with SOFFSET. Source: captures of gfx950, gfx1100 and gfx1201 in
 * ROCm/rocm-systems. */
static bool buffer_in_range(const char *target, unsigned lane, unsigned element)
{
    (void)target, (void)element;
    return (uint64_t)r.v[3][lane] + 16 + r.s[8] + 4 <= r.s[6];
}

static uint64_t global_saddr(unsigned lane, unsigned element)
{
    (void)element;
    return pair(&r.s[4], &r.s[5]) + r.v[2][lane] + 16;
}

static uint64_t global_vaddr(unsigned lane, unsigned element)
{
    (void)element;
    return pair(&r.v[2][lane], &r.v[3][lane]) - 8;
}

static bool split; /* FLAT_SCRATCH is a size and an offset */

static uint64_t interleaved(unsigned lane, uint64_t offset)
{
    /* LLVM AMDGPUUsage, "Flat Scratch": gfx7 and gfx8 have a size, and an offset in units of 256 bytes. */
    const uint64_t base = split ? r.flat_scratch[1] * 256ull : pair(&r.flat_scratch[0], &r.flat_scratch[1]);
    return base + offset / 4 * 4 * a.wave_size + 4 * lane + offset % 4;
}

static uint64_t scratch_vaddr(unsigned lane, unsigned element)
{
    return interleaved(lane, r.v[2][lane] + 16 + 4 * element);
}

static uint64_t scratch_saddr(unsigned lane, unsigned element)
{
    return interleaved(lane, r.s[3] + 16 + 4 * element);
}

static uint64_t flat_global(unsigned lane, unsigned element)
{
    (void)element;
    return pair(&r.v[2][lane], &r.v[3][lane]);
}

static uint64_t flat_lds(unsigned lane, unsigned element)
{
    (void)element;
    return r.v[2][lane];
}

static bool flat_lds_in_range(const char *target, unsigned lane, unsigned element)
{
    (void)target;
    (void)element;
    return r.v[2][lane] + 4 <= 4000;
}

static uint64_t flat_private(unsigned lane, unsigned element)
{
    return interleaved(lane, r.v[2][lane] + 4 * element);
}

/* On gfx12, elements are parts of a place if a lane is partly in range. */
static uint64_t lds_address(unsigned lane, unsigned element)
{
    return r.v[2][lane] + 8 + element * a.bytes;
}

static bool lds_in_range(const char *target, unsigned lane, unsigned element)
{
    (void)target;
    return lds_address(lane, element) + a.bytes <= 4000;
}

static uint64_t lds_two(unsigned lane, unsigned element)
{
    const unsigned parts = a.elements / 2u;
    return r.v[2][lane] + (element / parts + 1) * 64 * 4 + element % parts * a.bytes;
}

static bool lds_two_in_range(const char *target, unsigned lane, unsigned element)
{
    (void)target;
    return lds_two(lane, element) + a.bytes <= 4000;
}

/* A linear 2D image of 32_UINT, 64 texels wide, so 256 bytes per row; T# in s[4:11]. */
static uint64_t image_address(unsigned lane, unsigned element)
{
    (void)element;
    return ((uint64_t)r.s[4] << 8) + r.v[3][lane] * 256 + r.v[2][lane] * 4;
}

static bool image_in_range(const char *target, unsigned lane, unsigned element)
{
    (void)target;
    (void)element;
    return r.v[2][lane] < 64 && r.v[3][lane] < 16;
}

static uint64_t scalar_address(unsigned lane, unsigned element)
{
    (void)lane;
    (void)element;
    return (pair(&r.s[4], &r.s[5]) & ~3ULL) + 64;
}

static uint64_t scalar_register(unsigned lane, unsigned element)
{
    (void)lane;
    (void)element;
    return (pair(&r.s[4], &r.s[5]) & ~3ULL) + (r.s[8] & ~3u);
}

/* ---- the tests ---- */

static void test_buffer(void **state)
{
    (void)state;
    for (unsigned round = 0; round < TARGETS * ROUNDS; round++) {
        const char *target = targets[round % TARGETS];
        fill(&r, round);
        r.s[5] &= 0xffff;
        r.s[7] = generation(target) >= 16 ? 3u << 28 | 1 << 24 | 20 << 12 | 0xfac : 0x27fac;
        if (generation(target) >= 17)
            r.s[7] &= ~(1u << 24);
        check(target,
              generation(target) >= 17 ? "buffer_load_b32 v1, v3, s[4:7], s8 offen offset:16"
                                       : "buffer_load_dword v1, v3, s[4:7], s8 offen offset:16",
              buffer_address, buffer_in_range, "memory");
    }
}

static void test_global_and_scratch(void **state)
{
    (void)state;
    for (unsigned round = 0; round < TARGETS * ROUNDS; round++) {
        const char *target = targets[round % TARGETS];
        const bool renamed = generation(target) >= 17;
        if (generation(target) < 9)
            continue;
        fill(&r, round);
        check(target,
              renamed ? "global_load_b32 v1, v2, s[4:5] offset:16"
                      : "global_load_dword v1, v2, s[4:5] offset:16",
              global_saddr, NULL, "memory");
        check(target,
              renamed ? "global_store_b64 v[2:3], v[0:1], off offset:-8"
                      : "global_store_dwordx2 v[2:3], v[0:1], off offset:-8",
              global_vaddr, NULL, "memory");
        check(target,
              renamed ? "scratch_load_b64 v[0:1], v2, off offset:16"
                      : "scratch_load_dwordx2 v[0:1], v2, off offset:16",
              scratch_vaddr, NULL, "memory");
        check(target,
              renamed ? "scratch_load_b32 v0, off, s3 offset:16" : "scratch_load_dword v0, off, s3 offset:16",
              scratch_saddr, NULL, "memory");
    }
}

/* With scalar addresses only, an offset that is less aligned than the data, or a sum that is not
 * dword-aligned, is reported. Source: the RDNA 3 flat text. */
static void test_scratch_alignment(void **state)
{
    static const struct {
        const char *text;
        uint32_t s3;
        bool odd;
    } rows[] = {
        {"scratch_load_dwordx4 v[0:3], off, s3 offset:16", 4, false},
        {"scratch_load_dwordx4 v[0:3], off, s3 offset:8", 8, true},
        {"scratch_load_dwordx2 v[0:1], off, s3 offset:8", 4, false},
        {"scratch_load_dword v0, off, s3 offset:4", 2, true},
        {"scratch_load_dword v0, off, s3 offset:6", 2, true},
        {"scratch_load_dword v0, v2, off offset:6", 2, false},
    };
    (void)state;
    for (unsigned i = 0; i < TARGETS * sizeof rows / sizeof *rows; i++) {
        const char *target = targets[i % TARGETS];
        if (generation(target) < 9)
            continue;
        fill(&r, i);
        r.s[3] = rows[i / TARGETS].s3;
        explain(target, rows[i / TARGETS].text, &r, 0, &a);
        for (unsigned e = 0; e < a.elements; e++)
            assert_int_equal(a.element[e].bad_align, rows[i / TARGETS].odd ? a.element[e].lanes : 0);
    }
}

static void test_flat(void **state)
{
    (void)state;
    for (unsigned round = 0; round < TARGETS * ROUNDS; round++) {
        const char *target = targets[round % TARGETS];
        const char *text =
            generation(target) >= 17 ? "flat_load_b32 v1, v[2:3]" : "flat_load_dword v1, v[2:3]";
        if (generation(target) < 7)
            continue;
        fill(&r, round);
        split = generation(target) < 9;
        check(target, text, flat_global, NULL, "memory");
        for (unsigned lane = 0; lane < LANES; lane++)
            r.v[3][lane] = split ? 0x20000000 : 1 << 16; /* the default apertures, isa/targets */
        check(target, text, flat_lds, flat_lds_in_range, "LDS");
        for (unsigned lane = 0; lane < LANES; lane++)
            r.v[3][lane] = split ? 0x20000001 : 2 << 16;
        check(target, text, flat_private, NULL, "memory");
        assert_true(a.element[0].has_private);
    }
}

static void test_lds(void **state)
{
    (void)state;
    for (unsigned round = 0; round < TARGETS * ROUNDS; round++) {
        const char *target = targets[round % TARGETS];
        const bool renamed = generation(target) >= 17;
        fill(&r, round);
        check(target, renamed ? "ds_load_b64 v[0:1], v2 offset:8" : "ds_read_b64 v[0:1], v2 offset:8",
              lds_address, lds_in_range, "LDS");
        check(target,
              renamed ? "ds_store_2addr_stride64_b32 v2, v0, v1 offset0:1 offset1:2"
                      : "ds_write2st64_b32 v2, v0, v1 offset0:1 offset1:2",
              lds_two, lds_two_in_range, "LDS");
    }
}

static void test_scalar(void **state)
{
    (void)state;
    for (unsigned round = 0; round < TARGETS * ROUNDS; round++) {
        const char *target = targets[round % TARGETS];
        const bool renamed = generation(target) >= 17;
        fill(&r, round);
        check(target,
              renamed                   ? "s_load_b64 s[0:1], s[4:5], 0x40"
              : generation(target) <= 7 ? "s_load_dwordx2 s[0:1], s[4:5], 0x10" /* dwords */
                                        : "s_load_dwordx2 s[0:1], s[4:5], 0x40",
              scalar_address, NULL, "memory");
        check(target, renamed ? "s_load_b32 s0, s[4:5], s8" : "s_load_dword s0, s[4:5], s8", scalar_register,
              NULL, "memory");
    }
}

static void test_image(void **state)
{
    (void)state;
    for (unsigned round = 0; round < TARGETS * ROUNDS; round++) {
        const char *target = targets[round % TARGETS];
        const unsigned g = generation(target);
        struct wm_descriptor d;
        if (!strcmp(target, "gfx942"))
            continue; /* no image instructions */
        fill(&r, round);
        for (unsigned lane = 0; lane < LANES; lane++) {
            r.v[2][lane] %= 70;
            r.v[3][lane] %= 20;
        }
        const struct wm_descriptor_field fields[] = {
            {.name = "BASE_ADDRESS", .value = r.s[4]},
            {.name = "WIDTH", .value = 63},
            {.name = "HEIGHT", .value = 15},
            {.name = "TYPE", .value = 9},
            {.name = g >= 16 ? "FORMAT" : "DATA_FORMAT", .value = g >= 16 ? 20 : 4},
            {.name = g >= 16 ? "DST_SEL_X" : "NUM_FORMAT", .value = 4},
            {.name = g >= 16 ? "DST_SEL_X" : "PITCH", .value = g >= 16 ? 4 : 63},
            {.name = g < 9 ? "TILING_INDEX" : "SW_MODE", .value = g < 9 ? 8 : 0},
        };
        assert_int_equal(wm_descriptor_encode(target, WM_DESCRIPTOR_IMAGE, fields,
                                              sizeof fields / sizeof *fields, &d, NULL),
                         WM_OK);
        memcpy(&r.s[4], d.words, sizeof d.words);
        const uint32_t base = r.s[4];
        check(target,
              g >= 16 ? "image_load v0, [v2, v3], s[4:11] dmask:0x1 dim:SQ_RSRC_IMG_2D"
                      : "image_load v0, v[2:3], s[4:11] dmask:0x1 unorm",
              image_address, image_in_range, "memory");
        assert_int_equal(r.s[4], base);
    }
}

static void test_refusals(void **state)
{
    (void)state;
    struct wm_diag diag;
    struct wm_register reg = {.name = "v256"};
    const struct {
        const char *target, *text, *name;
        unsigned lane;
        enum wm_status status;
    } bad[] = {
        {"gfx9000", "ds_read_b32 v0, v1", "v0", 0, WM_NOT_FOUND},
        {"gfx900", "ds_read_b33 v0, v1", "v0", 0, WM_BAD_FILE},
        {"gfx900", "ds_read_b32 v0, v1 offset:65536", "v0", 0, WM_BAD_FILE},
        {"gfx900", "", "v0", 0, WM_BAD_FILE},
        {"gfx900", "v_add_f32 v0, v1, v2", "v0", 0, WM_UNSUPPORTED},
        {"gfx900", "ds_gws_barrier v0 gds", "v0", 0, WM_UNSUPPORTED},
        {"gfx900", "s_dcache_wb", "v0", 0, WM_UNSUPPORTED},
        {"gfx900", "ds_read_b32 v0, v1", "v256", 0, WM_BAD_ARGUMENT},
        {"gfx900", "ds_read_b32 v0, v1", "s102", 0, WM_BAD_ARGUMENT},
        {"gfx900", "ds_read_b32 v0, v1", "x", 0, WM_BAD_ARGUMENT},
        {"gfx900", "ds_read_b32 v0, v1", "", 0, WM_BAD_ARGUMENT},
        {"gfx900", "ds_read_b32 v0, v1", "v0", 64, WM_BAD_ARGUMENT},
        {"gfx1030", "ds_read_b32 v0, v1", "v0", 32, WM_BAD_ARGUMENT},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const struct wm_address_request request = {.target = bad[i].target,
                                                   .text = bad[i].text,
                                                   .registers = &reg,
                                                   .register_count = 1,
                                                   .lanes = UINT64_MAX,
                                                   .lane = bad[i].lane};
        reg.name = bad[i].name;
        diag.message[0] = 0;
        if (wm_address_explain(&request, &a, &diag) != bad[i].status)
            fail_msg("%s %s %s: %s", bad[i].target, bad[i].text, bad[i].name, diag.message);
        assert_true(diag.message[0]);
    }
}

/* ---- lane exchange, GDS, scratch by scalar memory, loads to LDS ---- */

static unsigned exchanged; /* size of the groups of lanes that exchange */

static uint64_t permuted(unsigned lane, unsigned element)
{
    (void)element;
    return 4 * (lane / exchanged * exchanged + (r.v[1][lane] + 8) / 4 % exchanged);
}

static uint64_t neighbour(unsigned lane, unsigned element)
{
    (void)element;
    return 4 * (lane ^ 1);
}

static uint64_t first_of_four(unsigned lane, unsigned element)
{
    (void)element;
    return 4 * (lane / 4 * 4);
}

/* By 3 to the right of each 32, within groups of 4: mask 0x1c keeps the upper bits of a lane's number. */
static uint64_t rotated(unsigned lane, unsigned element)
{
    (void)element;
    return 4 * ((lane & ~3u) | ((lane - 3) & 3));
}

/* The bits of lane numbers reversed in groups of 32. */
static uint64_t reversed(unsigned lane, unsigned element)
{
    unsigned other = lane & 32;
    (void)element;
    for (unsigned bit = 0; bit < 5; bit++)
        other |= (lane >> bit & 1) << (4 - bit);
    return 4 * other;
}

static uint64_t first_place(unsigned lane, unsigned element)
{
    (void)element;
    return r.v[1][lane];
}

static uint64_t block_place(unsigned lane, unsigned element)
{
    static const unsigned numbers[] = {0, 2, 31}; /* the bits of M0 */
    return pair(&r.v[2][lane], &r.v[3][lane]) - 8 + 4 * numbers[element];
}

static uint64_t gds_place(unsigned lane, unsigned element)
{
    (void)element;
    return r.v[1][lane] + 12;
}

static uint64_t scalar_scratch(unsigned lane, unsigned element)
{
    (void)lane, (void)element;
    return (pair(&r.s[4], &r.s[5]) & ~UINT64_C(3)) + 64 * r.s[8];
}

static void test_others(void **state)
{
    (void)state;
    for (unsigned round = 0; round < TARGETS * ROUNDS; round++) {
        const char *target = targets[round % TARGETS];
        const unsigned g = generation(target);
        fill(&r, round);
        exchanged = g >= 16 ? 32 : 64;
        check(target, "ds_swizzle_b32 v0, v1 offset:0x41f", neighbour, NULL, "lanes");
        check(target, "ds_swizzle_b32 v0, v1 offset:0x8000", first_of_four, NULL, "lanes");
        if (g >= 9) {
            check(target, "ds_swizzle_b32 v0, v1 offset:0xc47c", rotated, NULL, "lanes");
            check(target, "ds_swizzle_b32 v0, v1 offset:0xe000", reversed, NULL, "lanes");
        }
        if (g <= 9 && !strstr("gfx90a gfx942", target))
            check(target, "ds_add_src2_u32 v1 offset:16", first_place, NULL, "LDS");
        if (g == 18) {
            r.m0 = 0x80000005;
            check(target, "global_load_block v[8:39], v[2:3], off offset:-8", block_place, NULL, "memory");
        }
        if (g >= 8) {
            check(target, "ds_permute_b32 v0, v1, v2 offset:8", permuted, NULL, "lanes");
            check(target, "ds_bpermute_b32 v0, v1, v2 offset:8", permuted, NULL, "lanes");
        }
        if (g <= 17 && !strstr("gfx90a gfx942", target))
            check(target, g == 17 ? "ds_load_b32 v0, v1 offset:12 gds" : "ds_read_b32 v0, v1 offset:12 gds",
                  gds_place, NULL, "GDS");
        if (g == 9 || !strcmp(target, "gfx1010"))
            check(target, "s_scratch_load_dword s0, s[4:5], s8", scalar_scratch, NULL, "memory");
    }
    fill(&r, 0);
    explain("gfx942", "global_load_lds_dword v[2:3], off offset:8", &r, 3, &a);
    assert_string_equal(a.step[a.step_count - 1],
                        "to LDS address = M0[17:2] x 4 = 0 + 8 (instruction) + lane 3 x 4 = 20");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_buffer),
        cmocka_unit_test(test_global_and_scratch),
        cmocka_unit_test(test_scratch_alignment),
        cmocka_unit_test(test_flat),
        cmocka_unit_test(test_lds),
        cmocka_unit_test(test_scalar),
        cmocka_unit_test(test_image),
        cmocka_unit_test(test_others),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
