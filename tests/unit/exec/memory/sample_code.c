/* SPDX-License-Identifier: MIT */
/* Every image instruction with a sampler, on every target that has it: what each register of its address
 * means.
 *
 * Texels are numbered, filters are points, and coordinates wrap, so a result names its texel: by the
 * coordinates, the offset, the level (given, by gradients, or by the differences in quads, with bias and
 * lower bound), and the reference if it is compared. Source of the order of registers: RDNA 3 ISA and Vega
 * ISA, "Image address VGPRs"; of 16-bit ones: LLVM, packImage16bitOpsToDwords. Filters are
 * tests/kernel/images.c's and tests/instructions/images.test's. */
#include "run_image.h"

enum { REGISTERS = 13, FIRST = 4, RESULT = 20, SIDE = 16 };

static const struct format floats = {1, 32, false, 4, 7, 22, 22};

/* Suffixes of names. */
static const struct kind {
    const char *name;
    bool gradients, given, bias, bound, zero, row;
} kinds[] = {
    {.name = ""},
    {.name = "_cl", .bound = true},
    {.name = "_d", .gradients = true},
    {.name = "_d_cl", .gradients = true, .bound = true},
    {.name = "_cd", .gradients = true},
    {.name = "_cd_cl", .gradients = true, .bound = true},
    {.name = "_l", .given = true},
    {.name = "_b", .bias = true},
    {.name = "_b_cl", .bias = true, .bound = true},
    {.name = "_lz", .zero = true},
    {.name = "h", .row = true}, /* gathers only */
};
enum { KINDS = sizeof kinds / sizeof *kinds };

struct form {
    const char *target;
    const struct kind *kind;
    bool gather, compare, offset, g16, a16;
    char name[48];
};

/* What a lane does. */
struct lane {
    uint32_t texel[3], level; /* x, y, and slice or z; the level that results */
    int offset[3];
    float reference;
    uint32_t words[REGISTERS];
    unsigned count;
};

static uint32_t bits(float x)
{
    uint32_t word;
    memcpy(&word, &x, 4);
    return word;
}

static uint32_t half(float x)
{
    const _Float16 narrow = (_Float16)x;
    uint16_t word;
    memcpy(&word, &narrow, 2);
    return word;
}

static void add(struct lane *l, uint32_t word)
{
    l->words[l->count++] = word;
}

/* Adds numbers, in pairs if they are halves. */
static void add_numbers(struct lane *l, const float *numbers, unsigned count, bool halves)
{
    for (unsigned i = 0; i < count; i += halves ? 2 : 1)
        add(l,
            halves ? half(numbers[i]) | (i + 1 < count ? half(numbers[i + 1]) << 16 : 0) : bits(numbers[i]));
}

static unsigned axes_of(enum type type)
{
    return type == T3D ? 3 : type == T1D || type == T1D_ARRAY ? 1 : 2;
}

static bool has_slice(enum type type)
{
    return type == T1D_ARRAY || type == T2D_ARRAY;
}

static uint32_t size_of(const struct image *i, unsigned axis, uint32_t level)
{
    const uint32_t sizes[] = {i->width, i->height, i->depth};
    return at_level(sizes[axis], i->base_level + level);
}

/* The number in a texel. */
static float number_of(uint32_t x, uint32_t y, uint32_t z, uint32_t level)
{
    return (float)(x + 16 * y + 256 * z + 4096 * (level + 1));
}

/* Draws a level and what leads to it, in *last the level or bound. Steps of a whole image are log2(SIDE)
 * levels. */
static void draw_level(const struct image *i, const struct form *f, struct lane *l, float gradient[6],
                       float *bias, float *last)
{
    const struct kind *k = f->kind;
    const int most = (int)(i->last_level - i->base_level), width = __builtin_ctz(size_of(i, 0, 0));
    int level = k->zero ? 0 : (int)below((uint32_t)most + 1);
    const int bound = (int)below((uint32_t)most + 2);
    memset(gradient, 0, 6 * sizeof *gradient);
    const unsigned axes = axes_of(i->type), where = below(2 * axes);
    gradient[where] = (float)(1 << level) / (float)size_of(i, where % axes, 0);
    if (k->bias)
        *bias = (float)(level - width);
    else if (!k->gradients && !k->given && !k->zero)
        level = width;
    *last = (float)(k->given ? level : bound);
    level = k->bound && bound > level ? bound : level;
    l->level = (uint32_t)(level < 0 ? 0 : level > most ? most : level);
}

/* Lane n's registers. In a quad, lane 1's and lane 3's x are an image further, which wraps to the same texel.
 */
static void draw_lane(const struct image *i, const struct form *f, unsigned n, struct lane *l)
{
    const struct kind *k = f->kind;
    const unsigned axes = axes_of(i->type);
    float gradient[6], bias = 0, last = 0, coordinate[5];
    unsigned count = 0;
    *l = (struct lane){.count = 0};
    draw_level(i, f, l, gradient, &bias, &last);
    for (unsigned a = 0; a < axes; a++) {
        const uint32_t size = size_of(i, a, l->level);
        l->texel[a] = below(size);
        l->offset[a] = f->offset ? (int)below(64) - 32 : 0;
        coordinate[count++] =
            ((float)l->texel[a] + (f->gather ? 1.0f : 0.5f)) / (float)size + (a == 0 ? n % 2 : 0);
    }
    if (has_slice(i->type)) {
        l->texel[2] = below(i->last_array - i->base_array + 1);
        coordinate[count++] = (float)l->texel[2];
    }
    if (k->given || k->bound)
        coordinate[count++] = last;
    l->reference = number_of(l->texel[0], l->texel[1], l->texel[2], l->level) + (below(2) ? 0.5f : -0.5f);
    if (f->offset)
        add(l, (uint32_t)(l->offset[0] & 63) | (uint32_t)(l->offset[1] & 63) << 8 |
                   (uint32_t)(l->offset[2] & 63) << 16);
    if (k->bias)
        add_numbers(l, &bias, 1, f->a16);
    if (f->compare)
        add_numbers(l, &l->reference, 1, false);
    for (unsigned direction = 0; k->gradients && direction < 2; direction++)
        add_numbers(l, gradient + direction * axes, axes, f->g16);
    add_numbers(l, coordinate, count, f->a16);
}

/* The value of the texel that the lane's coordinates and offsets mean, and x and y further. */
static float expected(const struct image *i, const struct form *f, const struct lane *l, unsigned x,
                      unsigned y)
{
    uint32_t at[3] = {l->texel[0] + x, l->texel[1] + y, l->texel[2]};
    for (unsigned a = 0; a < axes_of(i->type); a++) {
        const int size = (int)size_of(i, a, l->level), moved = ((int)at[a] + l->offset[a]) % size;
        at[a] = (uint32_t)(moved < 0 ? moved + size : moved);
    }
    const float value = number_of(at[0], at[1], at[2], l->level);
    return f->compare ? (float)(l->reference < value) : value;
}

static void number_texels(const struct image *i)
{
    const bool slices = has_slice(i->type);
    for (uint32_t level = i->base_level; level <= i->last_level; level++)
        for (uint32_t z = 0; z < (i->type == T3D ? at_level(i->depth, level) : i->last_array + 1); z++)
            for (uint32_t y = 0; y < at_level(i->height, level); y++)
                for (uint32_t x = 0; x < at_level(i->width, level); x++) {
                    const uint32_t first = slices ? i->base_array : 0;
                    const float number = number_of(x, y, z - first, level - i->base_level);
                    if (z >= first)
                        memcpy(m.bytes + offset_of(i, x, y, z, level), &number, 4);
                }
}

static struct image make_numbered(const char *target)
{
    static const enum type types[] = {T1D, T2D, T3D, T1D_ARRAY, T2D_ARRAY};
    struct image i = {.target = target,
                      .base = m.image,
                      .mips = 1,
                      .format = &floats,
                      .width = SIDE,
                      .height = 1,
                      .depth = 1};
    i.type = types[below(5)];
    i.pitch = 64;
    if (axes_of(i.type) > 1)
        i.height = SIDE;
    if (i.type == T3D || has_slice(i.type))
        i.depth = 4;
    if (generation(target) >= 9) {
        i.mips = 1 + below(4);
        i.last_level = below(i.mips);
        i.base_level = below(i.last_level + 1);
    }
    if (has_slice(i.type)) {
        i.last_array = below(i.depth);
        i.base_array = below(i.last_array + 1);
    }
    if (below(2))
        tile_image(&i, 1);
    encode(&i);
    number_texels(&i);
    return i;
}

static void set_sampler(const struct form *f, uint32_t words[4])
{
    enum { LESS = 1, POINT = 1 };
    struct wm_descriptor_field fields[8];
    struct wm_descriptor d;
    size_t n = 0;
    set(fields, &n, "MAX_LOD", 4095);
    set(fields, &n, "MIP_FILTER", POINT);
    set(fields, &n, "DEPTH_COMPARE_FUNC", f->compare ? LESS : 0);
    assert_int_equal(wm_descriptor_encode(f->target, WM_DESCRIPTOR_SAMPLER, fields, n, &d, NULL), WM_OK);
    memcpy(words, d.words, 16);
}

/* Writes the address, a tuple or a list, and the register of each of its words. */
static void draw_registers(const struct form *f, unsigned count, char *text, size_t size,
                           unsigned where[REGISTERS])
{
    const unsigned g = generation(f->target);
    const unsigned most = g == 16 ? REGISTERS : g == 17 ? 5 : 4; /* items of a list */
    size_t used = 0;
    for (unsigned i = 0; i < REGISTERS; i++)
        where[i] = FIRST + i;
    if (g < 16 || count == 1 || (g < 18 && below(2))) {
        registers(text, FIRST, count);
        return;
    }
    /* Gfx10.1 and gfx10.3 have lists of all registers only; later the last item may be a tuple. */
    const unsigned single = count <= most ? count : most - 1;
    for (unsigned i = 0; i < single; i++)
        where[i] = FIRST + single - 1 - i;
    used += (size_t)snprintf(text, size, "[");
    for (unsigned i = 0; i < single; i++)
        used += (size_t)snprintf(text + used, size - used, "%sv%u", i ? ", " : "", where[i]);
    if (single < count)
        used += (size_t)snprintf(text + used, size - used, ", v[%u:%u]", where[single], where[count - 1]);
    snprintf(text + used, size - used, "]");
}

static void write_program(struct text *t, const struct form *f, const struct image *i,
                          const uint32_t sampler[4], const char *address)
{
    static const char *const dims[] = {"1D", "2D", "3D", "CUBE", "1D_ARRAY", "2D_ARRAY"};
    const unsigned g = generation(f->target);
    const bool renamed = g >= 17, dim = g >= 16;
    const char *zero = g == 18 ? "null" : "0";
    const uint32_t word3 = g >= 17   ? 3u << 28 | 20 << 12 | 0xfac
                           : g == 16 ? 3u << 28 | 1 << 24 | 20 << 12 | 0xfac
                                     : 0x27fac;
    const uint64_t buffers[] = {m.input, m.output};
    char result[16];
    for (unsigned k = 0; k < 12; k++)
        put(t, "s_mov_b32 s%u, 0x%x\n", 8 + k, k < 8 ? i->words[k] : sampler[k - 8]);
    for (unsigned k = 0; k < 2; k++)
        put(t, "s_mov_b32 s%u, 0x%x\ns_mov_b32 s%u, 0x%x\ns_movk_i32 s%u, 0x1000\ns_mov_b32 s%u, 0x%x\n",
            20 + 4 * k, (uint32_t)buffers[k], 21 + 4 * k, (uint32_t)(buffers[k] >> 32), 22 + 4 * k,
            23 + 4 * k, word3);
    put(t, "v_lshlrev_b32 v1, 2, v0\n");
    for (unsigned k = 0; k < REGISTERS; k++)
        put(t, "%s v%u, v1, s[20:23], %s offen offset:%u\n",
            renamed ? "buffer_load_b32" : "buffer_load_dword", FIRST + k, zero, 128 * k);
    put(t, "%s %s, %s, s[8:15], s[16:19] dmask:0x1%s%s%s%s\n", f->name,
        registers(result, RESULT, f->gather ? 4 : 1), address, dim ? " dim:SQ_RSRC_IMG_" : "",
        dim                  ? dims[i->type - T1D]
        : has_slice(i->type) ? " da"
                             : "",
        f->a16 ? " a16" : "", "");
    for (unsigned k = 0; k < (f->gather ? 4 : 1); k++)
        put(t, "%s v%u, v1, s[24:27], %s offen offset:%u\n",
            renamed ? "buffer_store_b32" : "buffer_store_dword", RESULT + k, zero, 128 * k);
    put(t, "s_endpgm\n");
}

/* False: the target has no such instruction. */
static bool execute(const struct form *f, const struct text *text)
{
    uint8_t *code = NULL;
    size_t size;
    char *messages = NULL;
    struct wm_diag diag;
    struct wm_object *object;
    const struct wm_kernel *kernel;
    struct wm_result result = {.struct_size = sizeof result};
    const struct wm_dispatch dispatch = {
        .struct_size = sizeof dispatch, .grid = {LANES}, .workgroup = {LANES}, .threads = 1};
    if (wm_assemble(text->line, text->length, "test", f->target, WM_ASSEMBLE_RAW, &code, &size, &messages,
                    &diag) != WM_OK) {
        const bool unknown = strstr(messages, "no instruction") || strstr(messages, f->name);
        if (!unknown)
            fail_msg("%s: %s", f->target, messages);
        free(messages);
        return false;
    }
    free(messages);
    assert_int_equal(wm_object_open(code, size, "test", f->target, &object, &diag), WM_OK);
    assert_int_equal(wm_object_find_kernel(object, NULL, &kernel, &diag), WM_OK);
    assert_int_equal(wm_load(m.machine, object, &diag), WM_OK);
    assert_int_equal(wm_dispatch(m.machine, object, kernel, &dispatch, &result, &diag), WM_OK);
    m.objects = realloc(m.objects, (m.object_count + 1) * sizeof(struct wm_object *));
    assert_non_null(m.objects);
    m.objects[m.object_count++] = object;
    free(code);
    if (result.fault.kind != WM_FAULT_NONE)
        fail_msg("%s: %s: %s", f->target, f->name, result.fault.text);
    return true;
}

/* Runs one form once; false: there is none. */
static bool check(const struct form *f)
{
    static const unsigned corners[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}},
                          in_row[4][2] = {{0, 0}, {1, 0}, {2, 0}, {3, 0}};
    const unsigned(*corner)[2] = f->kind->row ? in_row : corners;
    struct image i = make_numbered(f->target);
    while (f->gather && axes_of(i.type) != 2)
        i = make_numbered(f->target);
    struct lane lane[LANES];
    unsigned where[REGISTERS];
    uint32_t sampler[4];
    char address[120];
    uint64_t begin = 0;
    struct text text = {.length = 0};
    const bool implicit = !f->kind->gradients && !f->kind->given && !f->kind->zero;
    for (unsigned n = 0; n < LANES; n++) {
        if (implicit && n % 4) /* a quad samples one place */
            drawn = begin;
        begin = drawn;
        draw_lane(&i, f, n, &lane[n]);
    }
    draw_registers(f, lane[0].count, address, sizeof address, where);
    for (unsigned n = 0; n < LANES; n++)
        for (unsigned k = 0; k < REGISTERS; k++)
            m.in[32 * (where[k] - FIRST) + n] = lane[n].words[k];
    set_sampler(f, sampler);
    write_program(&text, f, &i, sampler, address);
    if (!execute(f, &text))
        return false;
    for (unsigned n = 0; n < LANES; n++)
        for (unsigned k = 0; k < (f->gather ? 4 : 1); k++) {
            const float wanted =
                expected(&i, f, &lane[n], f->gather ? corner[k][0] : 0, f->gather ? corner[k][1] : 0);
            if (m.out[32 * k + n] != bits(wanted)) {
                float got;
                memcpy(&got, &m.out[32 * k + n], 4);
                fail_msg(
                    "%s: %s %s%s type %u: lane %u result %u is %g, expected %g (texel %u %u %u, level %u)",
                    f->target, f->name, address, f->a16 ? " a16" : "", (unsigned)i.type, n, k, (double)got,
                    (double)wanted, lane[n].texel[0], lane[n].texel[1], lane[n].texel[2], lane[n].level);
            }
        }
    return true;
}

/* Number of forms of a target that exist. */
static unsigned check_target(const char *target)
{
    unsigned found = 0;
    const unsigned g = generation(target);
    for (unsigned n = 0; n < KINDS * 32; n++) {
        struct form f = {.target = target,
                         .kind = &kinds[n / 32],
                         .gather = n & 1,
                         .compare = n & 2,
                         .offset = n & 4,
                         .a16 = n & 8,
                         .g16 = n & 16};
        const bool suffix = f.g16 && g >= 16;
        if ((f.g16 && !f.kind->gradients) || (f.a16 && g < 9) || (f.gather && f.kind->gradients) ||
            (!f.gather && f.kind->row))
            continue;
        if (g < 16 && f.g16 != f.a16 && f.kind->gradients) /* one bit is both */
            continue;
        snprintf(f.name, sizeof f.name, "image_%s%s%s%s%s", f.gather ? "gather4" : "sample",
                 f.compare ? "_c" : "", f.kind->name, f.offset ? "_o" : "", suffix ? "_g16" : "");
        bool there = true;
        for (unsigned round = 0; round < 3 && there; round++)
            there = check(&f);
        found += there;
    }
    return found;
}

static void test_addresses(void **state)
{
    (void)state;
    for (unsigned t = 0; t < TARGETS; t++) {
        open_machine(targets[t]);
        const unsigned found = check_target(targets[t]), g = generation(targets[t]);
        print_message("%s: %u forms\n", targets[t], found);
        /* Forms that LLVM lists: gfx6 64, gfx9 with A16, gfx10 with G16; gfx11 lacks _cd and most gathers
         * with _o. */
        assert_true(found >= (!strcmp(targets[t], "gfx90a") ? 2u
                              : g < 9                       ? 64u
                              : g == 9                      ? 128u
                              : g == 16                     ? 100u
                                                            : 90u));
        end_machine();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_addresses)};
    seed = 2025;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
