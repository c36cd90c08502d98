/* SPDX-License-Identifier: MIT */
/* Chains the shaders of a graphics pipeline as Mesa's driver RADV compiles them: vertex and tessellation
 * control through LDS, from there to tessellation evaluation through the off-chip buffer, and its exports to
 * a fragment shader. Compares what each hands on with the CPU. tests/radv/compile_pipeline.c writes the code;
 * the shaders' sources are beside it.
 *
 * usage: pipeline TARGET FOLDER
 *
 * What fixed functions do between the stages, this program does: it numbers vertices and patches, chooses the
 * points of the patches (u, v), puts the vertices of a triangle into LDS for interpolation, and gives each
 * pixel its barycentric coordinates. Which registers a stage finds what in: Mesa 22.3, radv_shader_args.c.
 * All numbers are small multiples of powers of two, so the results are exact.
 * cc pipeline.c $(pkg-config --cflags --libs wavemem) */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wavemem/wavemem.h>

enum {
    LANES = 64,
    PATCHES = 3, /* of the workgroup */
    CORNERS = 3,
    VERTICES = PATCHES * CORNERS,
    POINTS = 16, /* at which each patch is evaluated */
    FIRST_VERTEX = 5,
    TEXELS = 64, /* width and height of the texture */
    /* bytes from the buffers' starts to the workgroup's part */
    OFFCHIP_START = 0x2000,
    FACTOR_START = 0x100,
};

/* Guest addresses. Shaders get the low half of SET and TABLE; they add the high one. */
enum { SET = 0x00400000, TABLE = 0x00500000 };
static const uint64_t RINGS = 0x100000000, POSITIONS = 0x200000000, OFFCHIP = 0x300000000,
                      FACTORS = 0x400000000, TEXTURE = 0x500000000;

/* What differs between targets. */
static const struct target {
    const char *name, *machine; /* as the driver runs these stages: waves of 64 lanes */
    const char *mode;           /* of the tiled texture */
    uint32_t format;            /* word 3 of the V# of a buffer of bytes */
    uint32_t high;              /* half of these addresses */
    uint32_t factor_header;     /* bytes before the tessellation factors */
    bool merged;                /* vertex and tessellation control shaders are one */
    bool evaluates;             /* not NGG: vertex and evaluation shaders end with exports alone */
} targets[] = {
    {"gfx803", "gfx803", "2D_TILED_THIN1 thin", 0x27fac, 0, 4, false, true},
    {"gfx900", "gfx900", "64KB_S_X", 0x27fac, 0xffff8000, 0, true, true},
    {"gfx1010", "gfx1010:wave64", "64KB_R_X", 0x31016fac, 0xffff8000, 0, true, true},
    {"gfx1030", "gfx1030:wave64", "64KB_R_X", 0x31016fac, 0xffff8000, 0, true, true},
    {"gfx1100", "gfx1100:wave64", "64KB_R_X", 0x30016fac, 0xffff8000, 0, true, false},
};
static const struct target *target;

static const char *folder;
static struct wm_machine *machine;
static struct wm_object *objects[8]; /* closed after the machine is destroyed */
static size_t object_count;
static struct wm_diag diag;

static void failed(const char *what, const char *why)
{
    fprintf(stderr, "pipeline: %s: %s\n", what, why);
    exit(1);
}

static void check(enum wm_status status, const char *what)
{
    if (status != WM_OK)
        failed(what, diag.message);
}

/* ---- the state that the driver has recorded ---- */

enum { USER = 16 };
struct stage {
    bool is_there;
    enum { UNSET, IS_SET, IS_TABLE, IS_FIRST_VERTEX } user[USER];
};
static struct stage ls, hs, tes, ps, vs;
static const struct {
    const char *name;
    struct stage *stage;
} stages[] = {{"ls", &ls}, {"hs", &hs}, {"tes", &tes}, {"ps", &ps}, {"vs", &vs}};
static uint32_t patch_stride; /* the driver lays the buffer out for so many patches */

static void read_state(void)
{
    char path[4096], line[128], name[16];
    snprintf(path, sizeof path, "%s/pipeline.state", folder);
    FILE *file = fopen(path, "r");
    if (!file)
        failed(path, "cannot be read");
    struct stage *stage = NULL;
    uint32_t number, enabled, inputs;
    while (fgets(line, sizeof line, file)) {
        if (sscanf(line, "patches %u", &patch_stride) == 1)
            continue;
        if (sscanf(line, "inputs %x %x", &enabled, &inputs) == 2) {
            if (inputs != 2) /* PERSP_CENTER_ENA */
                failed(path, "the fragment shader expects more than barycentric coordinates");
        } else if (sscanf(line, "stage %15s", name) == 1) {
            stage = NULL;
            for (size_t i = 0; i < sizeof stages / sizeof *stages && !stage; i++)
                if (strcmp(stages[i].name, name) == 0)
                    stage = stages[i].stage;
            if (!stage)
                failed(name, "no such stage");
            stage->is_there = true;
        } else if (stage && sscanf(line, "user %u %15s", &number, name) == 2 && number < USER) {
            stage->user[number] = strcmp(name, "set") == 0     ? IS_SET
                                  : strcmp(name, "table") == 0 ? IS_TABLE
                                                               : IS_FIRST_VERTEX;
        }
    }
    fclose(file);
    if (!hs.is_there || !ps.is_there || tes.is_there != target->evaluates ||
        vs.is_there != target->evaluates || ls.is_there == target->merged)
        failed(path, "not the stages that are expected");
}

/* ---- running a stage ---- */

struct code {
    uint8_t bytes[1 << 16];
    size_t size;
};

static void append(struct code *code, const void *bytes, size_t size)
{
    if (size > sizeof code->bytes - code->size)
        failed("code", "it is too long");
    memcpy(code->bytes + code->size, bytes, size);
    code->size += size;
}

static void append_text(struct code *code, const char *text)
{
    uint8_t *bytes;
    size_t size;
    char *messages;
    check(wm_assemble(text, strlen(text), "text", target->name, WM_ASSEMBLE_RAW, &bytes, &size, &messages,
                      &diag),
          "assembly");
    append(code, bytes, size);
    free(bytes);
    free(messages);
}

static void append_stage(struct code *code, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.code", folder, name);
    FILE *file = fopen(path, "rb");
    if (!file)
        failed(path, "cannot be read");
    static uint8_t bytes[1 << 15];
    append(code, bytes, fread(bytes, 1, sizeof bytes, file));
    fclose(file);
}

enum { REGISTERS = 24 };
struct start {
    struct wm_start_register list[REGISTERS];
    char names[REGISTERS][8];
    uint32_t scalars[REGISTERS];
    size_t count;
};

static void put(struct start *start, char file, uint32_t number, const uint32_t *values, size_t count)
{
    if (start->count == REGISTERS)
        failed("start", "too many registers");
    char *name = start->names[start->count];
    snprintf(name, sizeof *start->names, "%c%u", file, number);
    start->list[start->count++] = (struct wm_start_register){.name = name, .values = values, .count = count};
}

static void put_scalar(struct start *start, uint32_t number, uint32_t value)
{
    uint32_t *kept = &start->scalars[start->count];
    *kept = value;
    put(start, 's', number, kept, 1);
}

static void put_rings(struct start *start, uint32_t number)
{
    put_scalar(start, number, (uint32_t)RINGS);
    put_scalar(start, number + 1, (uint32_t)(RINGS >> 32));
}

static void put_user(struct start *start, const struct stage *stage, uint32_t first)
{
    for (uint32_t i = 0; i < USER; i++)
        if (stage->user[i] != UNSET)
            put_scalar(start, first + i,
                       stage->user[i] == IS_SET     ? SET
                       : stage->user[i] == IS_TABLE ? TABLE
                                                    : FIRST_VERTEX);
}

/* What a wave has exported: pos0, param0 and mrt0. */
struct exports {
    float position[LANES][4], parameter[LANES][4], colour[LANES][4];
};

static void keep_export(void *local, const struct wm_event *event)
{
    struct exports *exports = local;
    const struct wm_export *e = &event->exported;
    float(*to)[4] = strcmp(e->name, "pos0") == 0     ? exports->position
                    : strcmp(e->name, "param0") == 0 ? exports->parameter
                    : strcmp(e->name, "mrt0") == 0   ? exports->colour
                                                     : NULL;
    for (int lane = 0; lane < LANES && to; lane++)
        for (int i = 0; i < 4 && event->lanes >> lane & 1; i++)
            if (e->values[i])
                memcpy(&to[lane][i], &e->values[i][lane], sizeof(float));
}

static void run(const char *what, const struct code *code, const struct start *start, uint32_t lanes,
                struct exports *exports)
{
    if (object_count == sizeof objects / sizeof *objects)
        failed(what, "too many stages");
    struct wm_object **object = &objects[object_count];
    const struct wm_kernel *kernel;
    const struct wm_observer observer = {
        .struct_size = sizeof observer, .events = WM_EVENT_EXPORT, .user = exports, .event = keep_export};
    const struct wm_observer *const observers[] = {&observer};
    const struct wm_start initial = {.struct_size = sizeof initial,
                                     .bare = true,
                                     .registers = start->list,
                                     .register_count = start->count};
    const struct wm_dispatch dispatch = {.struct_size = sizeof dispatch,
                                         .grid = {lanes},
                                         .workgroup = {lanes},
                                         .dynamic_lds = 0x8000,
                                         .start = &initial,
                                         .observers = observers,
                                         .observer_count = exports != NULL};
    struct wm_result result = {.struct_size = sizeof result};
    check(wm_object_open(code->bytes, code->size, what, target->machine, object, &diag), what);
    object_count++;
    check(wm_object_find_kernel(*object, NULL, &kernel, &diag), what);
    check(wm_load(machine, *object, &diag), what);
    check(wm_dispatch(machine, *object, kernel, &dispatch, &result, &diag), what);
    if (result.fault.kind != WM_FAULT_NONE)
        failed(what, result.fault.text);
}

/* ---- memory ---- */

static void *place(uint64_t address, uint64_t size, const char *name)
{
    check(wm_allocate_at(machine, address, size, 0, name, &diag), name);
    return wm_host_pointer(machine, address, size);
}

static void describe_buffer(uint32_t words[4], uint64_t address, uint32_t size)
{
    words[0] = (uint32_t)address;
    words[1] = (uint32_t)(address >> 32);
    words[2] = size;
    words[3] = target->format;
}

struct vertex {
    float position[4], colour[4];
};

static struct vertex *vertices; /* as the vertex shader loads them */
static uint8_t *offchip, *factors;
static uint32_t *set;

enum { OFFCHIP_BYTES = 0x10000, FACTOR_BYTES = 0x1000, VERTEX_BYTES = 0x1000 };

/* The driver's table of vertex buffers, whose descriptors begin with an address from the start of the buffer.
 */
static void place_table(void)
{
    uint32_t *table = place((uint64_t)target->high << 32 | TABLE, 0x1000, "table of vertex buffers");
    char path[4096];
    snprintf(path, sizeof path, "%s/pipeline.table", folder);
    FILE *file = fopen(path, "rb");
    if (!file)
        failed(path, "cannot be read");
    const size_t words = fread(table, 4, 16, file);
    fclose(file);
    for (size_t i = 0; i + 4 <= words; i += 4)
        if (table[i + 2] != 0) { /* number of records */
            table[i] += (uint32_t)POSITIONS;
            table[i + 1] |= (uint32_t)(POSITIONS >> 32);
        }
}

static void place_buffers(void)
{
    enum { RING_FACTORS = 5, RING_OFFCHIP = 6 }; /* Mesa, radv_constants.h */
    uint32_t *rings = place(RINGS, 0x1000, "rings");
    describe_buffer(rings + 4 * RING_FACTORS, FACTORS, FACTOR_BYTES);
    describe_buffer(rings + 4 * RING_OFFCHIP, OFFCHIP, OFFCHIP_BYTES);
    factors = place(FACTORS, FACTOR_BYTES, "factors");
    offchip = place(OFFCHIP, OFFCHIP_BYTES, "off-chip buffer");
    vertices = place(POSITIONS, VERTEX_BYTES, "vertices");
    set = place((uint64_t)target->high << 32 | SET, 0x1000, "set");
    place_table();
    for (int i = 0; i < VERTICES; i++)
        for (int k = 0; k < 4; k++) {
            vertices[FIRST_VERTEX + i].position[k] = (float)(i * 7 % 11 + k) / 2;
            vertices[FIRST_VERTEX + i].colour[k] = (float)(i * i % 13 * (k + 1)) / 4;
        }
}

/* ---- the shaders on the CPU ---- */

static void vertex_on_cpu(int i, struct vertex *out)
{
    *out = vertices[FIRST_VERTEX + i];
    for (int k = 0; k < 4; k++)
        out->position[k] = out->position[k] * 2 + (k == 0 ? 1 : k == 1 ? 2 : 0);
}

struct patch {
    struct vertex corners[CORNERS];
    float tint[4], factors[4]; /* outer 0 to 2, inner */
};

static void control_on_cpu(int i, struct patch *out)
{
    struct vertex in[CORNERS];
    for (int k = 0; k < CORNERS; k++)
        vertex_on_cpu(i * CORNERS + k, &in[k]);
    for (int k = 0; k < CORNERS; k++) {
        memcpy(out->corners[k].position, in[k].position, 16);
        memcpy(out->corners[k].colour, in[(k + 1) % CORNERS].colour, 16);
        out->factors[k] = in[k].position[0];
    }
    for (int k = 0; k < 4; k++)
        out->tint[k] = in[0].position[k] + in[1].position[k];
    out->factors[3] = in[0].position[1];
}

static void evaluate_on_cpu(const struct patch *patch, float u, float v, struct vertex *out)
{
    const float weights[CORNERS] = {u, v, 1 - u - v};
    memset(out, 0, sizeof *out);
    for (int k = 0; k < 4; k++) {
        for (int i = 0; i < CORNERS; i++) {
            out->position[k] += weights[i] * patch->corners[i].position[k];
            out->colour[k] += weights[i] * patch->corners[i].colour[k];
        }
        out->colour[k] += patch->tint[k];
    }
}

static float texel(uint32_t x, uint32_t y, uint32_t component)
{
    return (float)((x * 37 + y * 101 + component * 13) % 251) / 8;
}

/* ---- the stages, each compared with the CPU ---- */

static void compare(const char *what, int number, const float *got, const float *expected)
{
    for (int k = 0; k < 4; k++)
        if (!(got[k] == expected[k])) {
            fprintf(stderr, "pipeline: %s %d, component %d: %g, expected %g\n", what, number, k, got[k],
                    expected[k]);
            exit(1);
        }
}

/* The vertex shader as it is without tessellation. */
static void run_vertices(void)
{
    static struct code code;
    static struct exports exports;
    struct start start = {.count = 0};
    uint32_t number[LANES];
    if (!target->evaluates)
        return;
    for (uint32_t i = 0; i < LANES; i++)
        number[i] = i;
    append_stage(&code, "vs");
    put_user(&start, &vs, 0);
    put(&start, 'v', 0, number, LANES);
    run("vertices", &code, &start, VERTICES, &exports);
    for (int i = 0; i < VERTICES; i++) {
        struct vertex expected;
        vertex_on_cpu(i, &expected);
        compare("position of vertex", i, exports.position[i], expected.position);
        compare("colour of vertex", i, exports.parameter[i], expected.colour);
    }
}

/* LDS does not outlive a dispatch, so the control shader begins in the place of the vertex shader's end, with
 * the registers that it expects. */
static void join(struct code *code)
{
    const uint32_t end = 0xbf810000; /* s_endpgm */
    for (size_t at = 0; at + 4 <= code->size; at += 4)
        if (memcmp(code->bytes + at, &end, 4) == 0) {
            code->size = at;
            append_text(code, "s_waitcnt vmcnt(0) lgkmcnt(0)\ns_mov_b32 s0, s80\ns_mov_b32 s1, s81\n"
                              "s_mov_b32 s2, s82\ns_mov_b32 s3, s83\n"
                              "v_mov_b32 v0, v250\nv_mov_b32 v1, v251\n");
            return;
        }
    failed("vertex shader", "it has no end");
}

static void run_control(void)
{
    static struct code code;
    struct start start = {.count = 0};
    uint32_t patch[LANES], ids[LANES], vertex[LANES];
    for (uint32_t i = 0; i < LANES; i++) {
        patch[i] = i / CORNERS;
        ids[i] = i / CORNERS | i % CORNERS << 8; /* within the workgroup; of the output vertex */
        vertex[i] = i;
    }
    if (target->merged) {
        append_stage(&code, "hs");
        put_rings(&start, 0);
        put_scalar(&start, 2, OFFCHIP_START);
        put_scalar(&start, 3, VERTICES | VERTICES << 8); /* lanes of the two shaders */
        put_scalar(&start, 4, FACTOR_START);
        put_user(&start, &hs, 8);
        put(&start, 'v', 0, patch, LANES);
        put(&start, 'v', 1, ids, LANES);
        put(&start, 'v', 2, vertex, LANES);
        put(&start, 'v', 3, vertex, LANES); /* number within the workgroup */
    } else {
        append_stage(&code, "ls");
        join(&code);
        append_stage(&code, "hs");
        put_rings(&start, 80);
        put_scalar(&start, 82, OFFCHIP_START);
        put_scalar(&start, 83, FACTOR_START);
        put_user(&start, &ls, 0);
        put(&start, 'v', 0, vertex, LANES);
        put(&start, 'v', 1, vertex, LANES);
        put(&start, 'v', 250, patch, LANES);
        put(&start, 'v', 251, ids, LANES);
    }
    run("tessellation control", &code, &start, VERTICES, NULL);
}

/* Slots: position and colour; per patch, behind both kinds of factors, the tint. */
static void compare_patches(const struct patch *patches)
{
    struct wm_tess_layout layout;
    check(wm_tess_layout("radeonsi-2020", patch_stride, CORNERS, 2, 3, &layout, &diag), "layout");
    for (uint32_t i = 0; i < PATCHES; i++) {
        const uint8_t *part = offchip + OFFCHIP_START;
        uint32_t at;
        for (uint32_t k = 0; k < CORNERS * 2; k++) {
            const struct vertex *corner = &patches[i].corners[k / 2];
            const struct wm_tess_place place = {.patch = i, .vertex = k / 2, .slot = k % 2};
            check(wm_tess_offset(&layout, &place, &at, &diag), "layout");
            compare("vertex in the off-chip buffer", (int)(i * CORNERS + k / 2), (const float *)(part + at),
                    k % 2 ? corner->colour : corner->position);
        }
        const struct wm_tess_place tint = {.per_patch = true, .patch = i, .slot = 2};
        check(wm_tess_offset(&layout, &tint, &at, &diag), "layout");
        compare("value of patch", (int)i, (const float *)(part + at), patches[i].tint);
        compare("factors of patch", (int)i,
                (const float *)(factors + FACTOR_START + target->factor_header) + 4 * i, patches[i].factors);
    }
}

/* The first three points of a patch are its corners. */
static void choose_point(uint32_t i, float *u, float *v)
{
    *u = i < 3 ? i == 0 : (float)(i % 4) / 8;
    *v = i < 3 ? i == 1 : (float)(i / 4) / 8;
}

static void run_evaluation(const struct patch *patches, struct vertex *points)
{
    static struct code code;
    static struct exports exports;
    struct start start = {.count = 0};
    float u[LANES], v[LANES];
    uint32_t words[2][LANES], patch[LANES];
    for (uint32_t i = 0; i < LANES; i++) {
        choose_point(i % POINTS, &u[i], &v[i]);
        patch[i] = i / POINTS;
        if (i < PATCHES * POINTS)
            evaluate_on_cpu(&patches[patch[i]], u[i], v[i], &points[i]);
    }
    if (!target->evaluates) {
        printf("tessellation evaluation: NGG on this target, so the CPU did it\n");
        return;
    }
    memcpy(words[0], u, sizeof u);
    memcpy(words[1], v, sizeof v);
    append_stage(&code, "tes");
    put_rings(&start, 0);
    put_scalar(&start, 3, OFFCHIP_START);
    put(&start, 'v', 0, words[0], LANES);
    put(&start, 'v', 1, words[1], LANES);
    put(&start, 'v', 2, patch, LANES);
    put(&start, 'v', 3, patch, LANES);
    run("tessellation evaluation", &code, &start, PATCHES * POINTS, &exports);
    for (int i = 0; i < PATCHES * POINTS; i++) {
        compare("position of point", i, exports.position[i], points[i].position);
        compare("colour of point", i, exports.parameter[i], points[i].colour);
        memcpy(points[i].colour, exports.parameter[i], 16);
    }
}

/* Makes the texture and its descriptors. */
static void place_texture(const char *mode)
{
    static float packed[TEXELS][TEXELS][4];
    struct wm_image image = {.struct_size = sizeof image,
                             .geometry = WM_IMAGE_2D,
                             .type = WM_IMAGE_F32,
                             .components = 4,
                             .width = TEXELS,
                             .height = TEXELS,
                             .address = TEXTURE,
                             .mode = mode};
    const struct wm_sampler sampler = {
        .struct_size = sizeof sampler,
        .addressing = {WM_ADDRESSING_REPEAT, WM_ADDRESSING_REPEAT, WM_ADDRESSING_REPEAT},
        .normalized = true};
    uint32_t words[WM_IMAGE_WORDS], sampler_words[WM_SAMPLER_WORDS];
    struct wm_image_layout layout;
    struct wm_surface *surface;
    check(wm_image_describe(target->name, &image, words, &layout, &diag), "texture");
    check(wm_sampler_describe(target->name, &sampler, sampler_words, &diag), "sampler");
    check(wm_surface_of_image(target->name, NULL, words, &surface, NULL, &diag), "texture");
    for (uint32_t y = 0; y < TEXELS; y++)
        for (uint32_t x = 0; x < TEXELS; x++)
            for (uint32_t k = 0; k < 4; k++)
                packed[y][x][k] = texel(x, y, k);
    const uint64_t bytes = wm_surface_layout(surface)->bytes;
    check(wm_surface_tile(surface, packed, sizeof packed, place(TEXTURE, bytes, "texture"), bytes, &diag),
          "texture");
    memcpy(set, sampler_words, 16);
    memcpy(set + 8, words, 32);
    wm_surface_destroy(surface);
}

/* Two triangles of 32 pixels each: the corners of patches 0 and 1. */
static void run_fragments(const struct vertex *points, const char *mode)
{
    enum { PRIMITIVES = 2, PIXELS = LANES / PRIMITIVES };
    static struct code code;
    static struct exports exports;
    struct start start = {.count = 0};
    float in_lds[LANES] = {0}, i[LANES], j[LANES];
    uint32_t words[3][LANES], at[LANES];
    for (int p = 0; p < PRIMITIVES; p++)
        for (int k = 0; k < 4; k++) {
            const struct vertex *corners = points + p * POINTS;
            in_lds[p * 12 + k] = corners[0].colour[k];
            in_lds[p * 12 + 4 + k] = corners[1].colour[k] - corners[0].colour[k];
            in_lds[p * 12 + 8 + k] = corners[2].colour[k] - corners[0].colour[k];
        }
    for (uint32_t lane = 0; lane < LANES; lane++) {
        at[lane] = lane * 4;
        i[lane] = (float)(lane % 8) / 16;
        j[lane] = (float)(lane / 8 % 4) / 8;
    }
    memcpy(words[0], i, sizeof i);
    memcpy(words[1], j, sizeof j);
    memcpy(words[2], in_lds, sizeof in_lds);
    code.size = 0;
    append_text(&code, "s_mov_b32 m0, -1\nds_write_b32 v250, v251\ns_waitcnt lgkmcnt(0)\n");
    append_stage(&code, "ps");
    put_user(&start, &ps, 0);
    put_scalar(&start, 3, 1u << (15 + PIXELS / 4)); /* the quad in which the second triangle begins */
    put(&start, 'v', 0, words[0], LANES);
    put(&start, 'v', 1, words[1], LANES);
    put(&start, 'v', 250, at, LANES);
    put(&start, 'v', 251, words[2], LANES);
    place_texture(mode);
    run("fragments", &code, &start, LANES, &exports);
    for (int lane = 0; lane < LANES; lane++) {
        const float *of = in_lds + lane / PIXELS * 12;
        float colour[4], expected[4];
        for (int k = 0; k < 4; k++)
            colour[k] = of[k] + i[lane] * of[4 + k] + j[lane] * of[8 + k];
        const uint32_t x = (uint32_t)(colour[0] * TEXELS / 16) % TEXELS,
                       y = (uint32_t)(colour[1] * TEXELS / 16) % TEXELS;
        for (uint32_t k = 0; k < 4; k++)
            expected[k] = texel(x, y, k) * 2 + colour[k];
        compare(mode ? "pixel of the tiled texture" : "pixel", lane, exports.colour[lane], expected);
    }
    check(wm_free(machine, TEXTURE, &diag), "texture");
}

int main(int argc, char **argv)
{
    for (size_t i = 0; argc == 3 && i < sizeof targets / sizeof *targets; i++)
        if (strcmp(targets[i].name, argv[1]) == 0)
            target = &targets[i];
    if (!target) {
        fprintf(stderr, "usage: pipeline TARGET FOLDER; gfx803, gfx900, gfx1010, gfx1030 or gfx1100\n");
        return 2;
    }
    folder = argv[2];
    struct patch patches[PATCHES];
    struct vertex points[LANES];
    read_state();
    check(wm_machine_create(target->machine, &machine, &diag), target->name);
    place_buffers();
    for (int i = 0; i < PATCHES; i++)
        control_on_cpu(i, &patches[i]);
    run_vertices();
    run_control();
    compare_patches(patches);
    run_evaluation(patches, points);
    run_fragments(points, NULL);
    run_fragments(points, target->mode);
    printf("%d patches, %d points, %d pixels: as the CPU computes them\n", PATCHES, PATCHES * POINTS, LANES);
    wm_machine_destroy(machine);
    for (size_t i = 0; i < object_count; i++)
        wm_object_close(objects[i]);
    return 0;
}
