/* SPDX-License-Identifier: MIT */
/* Runs filter.frag as RADV compiles it on tiled images: a texture with levels through a trilinear filter,
 * whose levels follow from the derivatives of interpolated coordinates, and the samples of a multisampled
 * image. Compares pixels with Vulkan's rules in f64.
 *
 * usage: run_filter TARGET FOLDER
 *
 * Weights and levels of detail of the hardware have 8 fractional bits, so a component differs by at most
 * 1/512 of the range of texels for each of x, y and the level of two levels. Source of the rules: Vulkan,
 * "Texel filtering", "Scale Factor Operation, LOD Operation and Image Level(s) Selection". */
#include "unit/exec/memory/run_image.h"

enum { PIXELS = 64, SIDE = 16, SAMPLE_SIDE = 20, SAMPLES = 4, SET = 0x00400000, RUNS = 12, USER = 16 };
#define BOUND (5.0 / 512)

static const struct format floats = {1, 32, false, 4, 7, 22, 22};

/* high: the half of addresses that shaders add to those of descriptors. */
static const struct place {
    const char *target, *machine;
    uint32_t high;
} places[] = {{"gfx803", "gfx803", 0},
              {"gfx900", "gfx900", 0xffff8000},
              {"gfx1010", "gfx1010:wave64", 0xffff8000},
              {"gfx1030", "gfx1030:wave64", 0xffff8000},
              {"gfx1100", "gfx1100:wave64", 0xffff8000}};
static const struct place *place;
static const char *folder;
static bool user_is_set[USER];

static float colours[PIXELS][4];
static float texels[8][SIDE][SIDE], samples[SAMPLES][SAMPLE_SIDE][SAMPLE_SIDE];

static double unit(void)
{
    return (double)below(1 << 24) * 0x1p-24;
}

static float draw_texel(void)
{
    return (float)below(1 << 10) / (1 << 10);
}

/* ---- images ---- */

static struct image make_levels(void)
{
    struct image i = {.target = place->target,
                      .base = m.image,
                      .type = T2D,
                      .format = &floats,
                      .width = SIDE,
                      .height = SIDE,
                      .depth = 1,
                      .mips = generation(place->target) < 9 ? 1 : 5};
    i.last_level = i.mips - 1;
    assert_true(tile_image(&i, 1));
    encode(&i);
    for (uint32_t level = 0; level < i.mips; level++)
        for (uint32_t y = 0; y < at_level(SIDE, level); y++)
            for (uint32_t x = 0; x < at_level(SIDE, level); x++) {
                texels[level][y][x] = draw_texel();
                memcpy(m.bytes + offset_of(&i, x, y, 0, level), &texels[level][y][x], 4);
            }
    return i;
}

static struct image make_samples(uint64_t base, unsigned char *bytes)
{
    struct image i = {.target = place->target,
                      .base = base,
                      .type = T2D_MSAA,
                      .format = &floats,
                      .width = SAMPLE_SIDE,
                      .height = SAMPLE_SIDE,
                      .depth = 1,
                      .mips = 1};
    assert_true(tile_image(&i, SAMPLES));
    encode(&i);
    for (uint32_t s = 0; s < SAMPLES; s++)
        for (uint32_t y = 0; y < SAMPLE_SIDE; y++)
            for (uint32_t x = 0; x < SAMPLE_SIDE; x++) {
                samples[s][y][x] = draw_texel();
                memcpy(bytes + wmi_surface_offset(&i.surface, x, y, 0, s, 0), &samples[s][y][x], 4);
            }
    return i;
}

static void make_sampler(uint32_t words[4])
{
    enum { BILINEAR = 1, LINEAR = 2 };
    struct wm_descriptor_field fields[8];
    struct wm_descriptor d;
    size_t n = 0;
    set(fields, &n, "MAX_LOD", 4095);
    set(fields, &n, "XY_MAG_FILTER", BILINEAR);
    set(fields, &n, "XY_MIN_FILTER", BILINEAR);
    set(fields, &n, "MIP_FILTER", LINEAR);
    assert_int_equal(wm_descriptor_encode(place->target, WM_DESCRIPTOR_SAMPLER, fields, n, &d, NULL), WM_OK);
    memcpy(words, d.words, 16);
}

/* ---- the shader ---- */

static size_t read_file(const char *name, void *bytes, size_t size)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    if (!file)
        fail_msg("%s cannot be read", path);
    const size_t got = fread(bytes, 1, size, file);
    fclose(file);
    return got;
}

static void read_state(void)
{
    static char text[4096];
    unsigned number, enabled, inputs;
    text[read_file("filter.state", text, sizeof text - 1)] = 0;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        if (sscanf(line, "user %u set", &number) == 1 && number < USER)
            user_is_set[number] = true;
        else if (sscanf(line, "inputs %x %x", &enabled, &inputs) == 2)
            assert_int_equal(inputs, 2); /* PERSP_CENTER_ENA */
}

static void keep_export(void *local, const struct wm_event *event)
{
    (void)local;
    const struct wm_export *e = &event->exported;
    for (unsigned lane = 0; lane < PIXELS && !strcmp(e->name, "mrt0"); lane++)
        for (unsigned k = 0; k < 4 && event->lanes >> lane & 1; k++)
            if (e->values[k])
                memcpy(&colours[lane][k], &e->values[k][lane], sizeof(float));
}

/* parameter: a colour at the first corner of a triangle, and its differences to the others. */
static void run_shader(const float parameter[3][4], const float i[PIXELS], const float j[PIXELS])
{
    static const char prologue[] = "s_mov_b32 m0, -1\nds_write_b32 v250, v251\ns_waitcnt lgkmcnt(0)\n";
    static uint8_t code[1 << 16];
    struct wm_start_register start[USER + 6];
    char names[USER][8];
    uint32_t words[4][PIXELS] = {{0}}, scalar[2] = {SET, 0};
    struct wm_diag diag;
    struct wm_object *object;
    const struct wm_kernel *kernel;
    uint8_t *text;
    size_t size, count = 0;
    char *messages;
    assert_int_equal(wm_assemble(prologue, strlen(prologue), "text", place->target, WM_ASSEMBLE_RAW, &text,
                                 &size, &messages, &diag),
                     WM_OK);
    memcpy(code, text, size);
    free(text);
    free(messages);
    size += read_file("filter.code", code + size, sizeof code - size);
    for (unsigned k = 0; k < USER; k++)
        if (user_is_set[k]) {
            snprintf(names[k], sizeof names[k], "s%u", k);
            start[count++] = (struct wm_start_register){.name = names[k], .values = &scalar[0], .count = 1};
        }
    memcpy(words[0], i, sizeof words[0]);
    memcpy(words[1], j, sizeof words[1]);
    for (unsigned lane = 0; lane < PIXELS; lane++)
        words[2][lane] = 4 * lane;
    memcpy(words[3], parameter, 48);
    static const char *const vectors[] = {"v0", "v1", "v250", "v251"};
    for (unsigned k = 0; k < 4; k++)
        start[count++] = (struct wm_start_register){.name = vectors[k], .values = words[k], .count = PIXELS};
    start[count++] =
        (struct wm_start_register){.name = "s3", .values = &scalar[1], .count = 1}; /* PRIM_MASK */
    const struct wm_observer observer = {
        .struct_size = sizeof observer, .events = WM_EVENT_EXPORT, .event = keep_export};
    const struct wm_observer *const observers[] = {&observer};
    const struct wm_start initial = {
        .struct_size = sizeof initial, .bare = true, .registers = start, .register_count = count};
    const struct wm_dispatch dispatch = {.struct_size = sizeof dispatch,
                                         .grid = {PIXELS},
                                         .workgroup = {PIXELS},
                                         .dynamic_lds = 0x1000,
                                         .start = &initial,
                                         .observers = observers,
                                         .observer_count = 1};
    struct wm_result result = {.struct_size = sizeof result};
    assert_int_equal(wm_object_open(code, size, "filter", place->machine, &object, &diag), WM_OK);
    assert_int_equal(wm_object_find_kernel(object, NULL, &kernel, &diag), WM_OK);
    assert_int_equal(wm_load(m.machine, object, &diag), WM_OK);
    if (wm_dispatch(m.machine, object, kernel, &dispatch, &result, &diag) != WM_OK)
        fail_msg("%s", diag.message);
    if (result.fault.kind != WM_FAULT_NONE)
        fail_msg("%s", result.fault.text);
    m.objects = realloc(m.objects, (m.object_count + 1) * sizeof(struct wm_object *));
    m.objects[m.object_count++] = object;
}

/* ---- the reference ---- */

static double bilinear(uint32_t level, double x, double y)
{
    const int size = (int)at_level(SIDE, level);
    const double at[2] = {x * size - 0.5, y * size - 0.5};
    double result = 0;
    for (int corner = 0; corner < 4; corner++) {
        const int i = (int)floor(at[0]) + (corner & 1), j = (int)floor(at[1]) + (corner >> 1);
        const double wx = 1 - fabs(at[0] - i), wy = 1 - fabs(at[1] - j);
        result += wx * wy * (double)texels[level][(j % size + size) % size][(i % size + size) % size];
    }
    return result;
}

static double trilinear(double x, double y, double lod, uint32_t mips)
{
    const double last = mips - 1.0, bounded = lod < 0 ? 0 : lod > last ? last : lod;
    const uint32_t level = (uint32_t)bounded, next = level + 1 < mips ? level + 1 : level;
    const double second = bounded - level;
    return (1 - second) * bilinear(level, x, y) + second * bilinear(next, x, y);
}

static void check_pixels(const float parameter[3][4], const float i[PIXELS], const float j[PIXELS],
                         uint32_t mips)
{
    /* A pixel is 1/16 of i to the right, and 1/16 of j down. */
    const double lod = log2(fmax(hypot((double)parameter[1][0], (double)parameter[1][1]),
                                 hypot((double)parameter[2][0], (double)parameter[2][1])) /
                            16 * SIDE);
    for (unsigned lane = 0; lane < PIXELS; lane++) {
        double at[4];
        for (unsigned k = 0; k < 4; k++)
            at[k] = (double)parameter[0][k] + (double)i[lane] * (double)parameter[1][k] +
                    (double)j[lane] * (double)parameter[2][k];
        const double filtered = trilinear(at[0], at[1], lod, mips);
        const uint32_t x = (uint32_t)at[2], y = (uint32_t)at[3];
        const float expected[3] = {samples[0][y][x], samples[1][y][x] + 2 * samples[2][y][x],
                                   samples[3][y][x]};
        if (fabs((double)colours[lane][0] - filtered) > BOUND)
            fail_msg("%s: pixel %u at (%g, %g), level %g: %g, expected %g", place->target, lane, at[0], at[1],
                     lod, (double)colours[lane][0], filtered);
        for (unsigned k = 0; k < 3; k++)
            if (!(colours[lane][1 + k] == expected[k]))
                fail_msg("%s: pixel %u: samples of (%u, %u), component %u: %g, expected %g", place->target,
                         lane, x, y, 1 + k, (double)colours[lane][1 + k], (double)expected[k]);
    }
}

static void test_filter(void **state)
{
    enum { PLAIN = 16, WITH_FMASK = 24 }; /* words of the set at which the second image may be */
    uint64_t base;
    (void)state;
    read_state();
    open_machine(place->machine);
    assert_int_equal(wm_allocate(m.machine, IMAGE_BYTES + BLOCK, 0, "samples", &base, NULL), WM_OK);
    base = (base + BLOCK - 1) / BLOCK * BLOCK;
    const uint64_t at = (uint64_t)place->high << 32 | SET;
    assert_int_equal(wm_allocate_at(m.machine, at, 0x1000, 0, "set", NULL), WM_OK);
    uint32_t *words = wm_host_pointer(m.machine, at, 0x1000);
    for (unsigned round = 0; round < RUNS; round++) {
        const struct image levels = make_levels(),
                           multisampled = make_samples(base, wm_host_pointer(m.machine, base, IMAGE_BYTES));
        memset(words, 0, 0x1000);
        make_sampler(words);
        memcpy(words + 8, levels.words, 32);
        memcpy(words + PLAIN, multisampled.words, 32);
        memcpy(words + WITH_FMASK, multisampled.words, 32);
        float parameter[3][4], i[PIXELS], j[PIXELS];
        for (unsigned k = 0; k < 4; k++) {
            const double scale = exp2(6 * unit() - 1.5);
            parameter[0][k] = k < 2 ? (float)unit() : 0;
            parameter[1][k] = k < 2 ? (float)(scale * (unit() - 0.5)) : k == 2 ? 16 : 0;
            parameter[2][k] = k < 2 ? (float)(scale * (unit() - 0.5)) : k == 3 ? 16 : 0;
        }
        for (unsigned lane = 0; lane < PIXELS; lane++) { /* quads of two by two pixels, four in a row */
            i[lane] = (float)(lane / 4 % 4) / 4 + (float)(lane & 1) / 16;
            j[lane] = (float)(lane / 16) / 4 + (float)(lane >> 1 & 1) / 16;
        }
        run_shader((const float(*)[4])parameter, i, j);
        check_pixels((const float(*)[4])parameter, i, j, levels.mips);
    }
    end_machine();
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_filter)};
    for (size_t k = 0; count == 3 && k < sizeof places / sizeof *places; k++)
        if (!strcmp(places[k].target, arguments[1]))
            place = &places[k];
    if (!place) {
        fprintf(stderr, "usage: run_filter TARGET FOLDER; gfx803, gfx900, gfx1010, gfx1030 or gfx1100\n");
        return 2;
    }
    folder = arguments[2];
    seed = 7;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
