/* SPDX-License-Identifier: MIT */
/* Runs the shaders that compile_shaders.c has written as RADV would start them, and compares the buffers with
 * the references of cases.c.
 *
 * usage: run_shaders TARGET FOLDER
 */
#include "cases.h"
#include <wavemem/wavemem.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
// clang-format off
#include <cmocka.h>
// clang-format on

static const char *target, *folder;

/* What the driver stores where. The high half of addresses of which it stores only the low one (sets,
 * uploaded constants) is fixed: Mesa's null winsys, radv_null_winsys.c. */
enum { SETS = 0x00400000, UPLOAD = 0x00800000, SCRATCH = 0x01000000, SCRATCH_BYTES = 0x04000000 };

static uint64_t high_half(void)
{
    return strlen(target) == 6 && target[3] < '9' ? 0 : UINT64_C(0xffff8000) << 32;
}

static bool is_rdna(void)
{
    return strncmp(target, "gfx1", 4) == 0;
}

static bool is_gfx11(void)
{
    return strncmp(target, "gfx11", 5) == 0;
}

/* Contents of a file in the folder; the caller frees them. */
static uint8_t *load(const char *name, const char *kind, size_t *size)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.%s", folder, name, kind);
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    size_t room = 1 << 20;
    uint8_t *bytes = malloc(room + 1);
    assert_non_null(bytes);
    *size = fread(bytes, 1, room, file);
    assert_true(*size < room);
    bytes[*size] = 0;
    fclose(file);
    return bytes;
}

enum user_kind { UNSET, VALUE, IN_SETS, IN_UPLOAD, IN_UPLOAD_64 };

struct state {
    uint32_t wave, workgroups[3], workgroup[3], rsrc[3], scratch;
    struct user {
        enum user_kind kind;
        uint32_t value;
    } user[16];
    struct descriptor {
        bool is_image;
        uint32_t offset, buffer;
    } descriptors[RADV_BUFFERS];
    size_t descriptor_count;
};

static void read_line(struct state *state, const char *line)
{
    static const char *const kinds[] = {"", "value", "sets", "upload", "upload64"};
    uint32_t *w = state->workgroups, *g = state->workgroup, *r = state->rsrc, index, value;
    char kind[16];
    struct descriptor descriptor;
    if (sscanf(line, "wave %u", &state->wave) == 1 ||
        sscanf(line, "workgroups %u %u %u", w, w + 1, w + 2) == 3 ||
        sscanf(line, "workgroup %u %u %u", g, g + 1, g + 2) == 3 ||
        sscanf(line, "rsrc %x %x %x", r, r + 1, r + 2) == 3 ||
        sscanf(line, "scratch %u", &state->scratch) == 1)
        return;
    if (sscanf(line, "user %u %15s %x", &index, kind, &value) == 3 && index < 16) {
        for (int i = 1; i < 5; i++)
            if (strcmp(kind, kinds[i]) == 0)
                state->user[index] = (struct user){(enum user_kind)i, value};
    } else if (sscanf(line, "%15s %x %u", kind, &descriptor.offset, &descriptor.buffer) == 3 &&
               state->descriptor_count < RADV_BUFFERS) {
        descriptor.is_image = strcmp(kind, "image") == 0;
        assert_true(descriptor.is_image || strcmp(kind, "buffer") == 0);
        state->descriptors[state->descriptor_count++] = descriptor;
    } else {
        fail_msg("unexpected line: %s", line);
    }
}

/* Swizzle modes in which images lie in a second run; on other targets they are linear only. */
static const struct {
    const char *targets, *mode;
} modes[] = {
    {"gfx803", "2D_TILED_THIN1 thin"},
    {"gfx900 gfx906", "64KB_S_X"},
    {"gfx1010 gfx1030 gfx1100", "64KB_R_X"},
};

/* A shader with everything in guest memory. */
struct run {
    const struct radv_case *this;
    const char *mode;                          /* of images; NULL: linear, with the driver's descriptors */
    struct wm_surface *surfaces[RADV_BUFFERS]; /* with a mode: of buffers that are images */
    uint8_t *texels[RADV_BUFFERS];             /* of the surfaces, in guest memory */
    struct state state;
    struct wm_object *object;
    struct wm_machine *machine;
    struct radv_buffer buffers[RADV_BUFFERS];
    size_t count;
    uint32_t user[16];
    bool is_set[16];
};

static void check(enum wm_status status, const struct wm_diag *diag)
{
    if (status != WM_OK)
        fail_msg("%s", diag->message);
}

/* Words of push constants that stand for addresses. */
static uint32_t resolve(const struct run *run, uint32_t word)
{
    if (word - RADV_LOW < run->count)
        return (uint32_t)run->buffers[word - RADV_LOW].address;
    if (word - RADV_HIGH < run->count)
        return (uint32_t)(run->buffers[word - RADV_HIGH].address >> 32);
    return word;
}

static void place_buffers(struct run *run)
{
    struct wm_diag diag;
    uint32_t sizes[RADV_BUFFERS];
    run->count = radv_sizes(run->this, sizes);
    for (size_t i = 0; i < run->count; i++) {
        struct radv_buffer *buffer = &run->buffers[i];
        char name[32];
        snprintf(name, sizeof name, "buffer %zu", i);
        buffer->size = sizes[i];
        check(wm_allocate(run->machine, sizes[i], 0, name, &buffer->address, &diag), &diag);
        buffer->bytes = wm_host_pointer(run->machine, buffer->address, sizes[i]);
    }
    run->this->fill(run->buffers);
}

/* Copies memory of the driver into the guest. */
static uint32_t *place(struct run *run, const char *kind, uint64_t address)
{
    struct wm_diag diag;
    size_t size;
    uint8_t *bytes = load(run->this->name, kind, &size);
    assert_non_null(bytes);
    if (size != 0) {
        check(wm_allocate_at(run->machine, address, size, WM_READ_ONLY, kind, &diag), &diag);
        memcpy(wm_host_pointer(run->machine, address, size), bytes, size);
    }
    free(bytes);
    return size ? wm_host_pointer(run->machine, address, size) : NULL;
}

static const struct radv_binding *binding_of(const struct run *run, uint32_t buffer)
{
    const struct radv_binding *b = run->this->bindings;
    for (; buffer >= b->count; b++)
        buffer -= b->count;
    return b;
}

/* Moves an image to a tiled surface, and describes that. */
static void tile(struct run *run, uint32_t n, uint32_t *descriptor)
{
    struct wm_diag diag;
    const struct radv_buffer *buffer = &run->buffers[n];
    const bool unorm = binding_of(run, n)->format == RADV_RGBA8_UNORM;
    uint32_t words[WM_IMAGE_WORDS];
    struct wm_image_layout layout;
    struct wm_image image = {
        .struct_size = sizeof image,
        .geometry = WM_IMAGE_2D,
        .type = unorm ? WM_IMAGE_UNORM8 : WM_IMAGE_U32,
        .components = unorm ? 4 : 1,
        .width = RADV_WIDTH,
        .height = buffer->size / RADV_WIDTH / 4,
        .mode = run->mode,
    };
    check(wm_image_describe(target, &image, words, &layout, &diag), &diag);
    uint64_t address;
    check(wm_allocate(run->machine, layout.bytes + layout.alignment, 0, "tiled", &address, &diag), &diag);
    image.address = (address + layout.alignment - 1) / layout.alignment * layout.alignment;
    check(wm_image_describe(target, &image, words, NULL, &diag), &diag);
    memcpy(descriptor, words, 32);
    check(wm_surface_of_image(target, NULL, words, &run->surfaces[n], NULL, &diag), &diag);
    run->texels[n] = wm_host_pointer(run->machine, image.address, layout.bytes);
    check(wm_surface_tile(run->surfaces[n], buffer->bytes, buffer->size, run->texels[n], layout.bytes, &diag),
          &diag);
}

/* Moves the images back. */
static void untile(struct run *run)
{
    struct wm_diag diag;
    for (size_t i = 0; i < run->count; i++)
        if (run->surfaces[i]) {
            const uint64_t bytes = wm_surface_layout(run->surfaces[i])->bytes;
            check(wm_surface_untile(run->surfaces[i], run->texels[i], bytes, run->buffers[i].bytes,
                                    run->buffers[i].size, &diag),
                  &diag);
            wm_surface_destroy(run->surfaces[i]);
        }
}

static void place_driver_memory(struct run *run)
{
    const struct state *state = &run->state;
    uint32_t *sets = place(run, "sets", high_half() | SETS);
    for (size_t i = 0; i < state->descriptor_count; i++) {
        const struct descriptor *d = &state->descriptors[i];
        if (d->is_image && run->mode) {
            tile(run, d->buffer, sets + d->offset / 4);
            continue;
        }
        const uint64_t address = run->buffers[d->buffer].address >> (d->is_image ? 8 : 0);
        sets[d->offset / 4] = (uint32_t)address;
        sets[d->offset / 4 + 1] |= (uint32_t)(address >> 32) & (d->is_image ? 0xff : 0xffff);
    }
    uint32_t *upload = place(run, "upload", high_half() | UPLOAD);
    for (size_t i = 0; upload && i < 1024; i++)
        upload[i] = resolve(run, upload[i]);
    for (int i = 0; i < 16; i++) {
        const struct user *user = &state->user[i];
        if (user->kind == UNSET)
            continue;
        run->is_set[i] = true;
        run->user[i] = user->kind == VALUE ? resolve(run, user->value)
                                           : user->value + (user->kind == IN_SETS ? SETS : UPLOAD);
        if (user->kind == IN_UPLOAD_64) { /* the high half follows */
            assert_true(i < 15);
            run->user[++i] = (uint32_t)(high_half() >> 32);
            run->is_set[i] = true;
        }
    }
}

/* ---- initial registers ---- */

enum { MOST_REGISTERS = 32 };

struct registers {
    struct wm_start_register list[MOST_REGISTERS];
    char names[MOST_REGISTERS][8];
    size_t count;
};

static void put(struct registers *r, enum wm_start_kind kind, const uint32_t *value, const char *file,
                uint32_t number)
{
    assert_true(r->count < MOST_REGISTERS);
    snprintf(r->names[r->count], sizeof *r->names, "%s%u", file, number);
    r->list[r->count] = (struct wm_start_register){
        .name = r->names[r->count], .kind = kind, .values = value, .count = value != NULL};
    r->count++;
}

/* Scratch of gfx8 to gfx10: the driver puts words 0 and 1 of a V# into s[0:1] when it submits command buffers
 * (Mesa, src/amd/vulkan/radv_queue.c, radv_emit_compute_scratch), so there is nothing recorded. The shader
 * adds the wave's offset. It extends the address by 0xffff before gfx11, which is why the memory is up there.
 */
static void put_scratch(const struct run *run, struct registers *registers, uint32_t words[2])
{
    struct wm_diag diag;
    check(wm_allocate_at(run->machine, high_half() | SCRATCH, SCRATCH_BYTES, 0, "scratch", &diag), &diag);
    words[0] = SCRATCH;
    words[1] = (uint32_t)(high_half() >> 32 & 0xffff) | 1u << 31; /* swizzled */
    for (uint32_t i = 0; i < 2; i++)
        put(registers, WM_START_VALUES, &words[i], "s", i);
}

/* As the hardware fills them from COMPUTE_PGM_RSRC1, _RSRC2 and COMPUTE_USER_DATA. Source: LLVM AMDGPUUsage,
 * "Code Object V3 Kernel Descriptor", and "Initial Kernel Execution State" for the order. */
static void put_registers(const struct run *run, struct registers *registers, uint32_t scratch[2],
                          uint32_t *mode)
{
    const uint32_t rsrc1 = run->state.rsrc[0], rsrc2 = run->state.rsrc[1];
    uint32_t next = rsrc2 >> 1 & 31;
    const uint32_t ids = (rsrc2 >> 11 & 3) + 1;
    for (uint32_t i = 0; i < 16; i++)
        if (run->is_set[i])
            put(registers, WM_START_VALUES, &run->user[i], "s", i);
    for (uint32_t i = 0; i < 3; i++)
        if (rsrc2 >> (7 + i) & 1)
            put(registers, WM_START_WORKGROUP_ID_X + i, NULL, "s", next++);
    if (rsrc2 >> 10 & 1)
        put(registers, WM_START_WORKGROUP_INFO, NULL, "s", next++);
    if (is_gfx11()) {
        put(registers, WM_START_WORKITEM_IDS, NULL, "v", 0);
        registers->list[registers->count++] =
            (struct wm_start_register){.name = "flat_scratch", .kind = WM_START_SCRATCH_ADDRESS};
    } else {
        for (uint32_t i = 0; i < ids; i++)
            put(registers, WM_START_WORKITEM_ID_X + i, NULL, "v", i);
        if (rsrc2 & 1) {
            put_scratch(run, registers, scratch);
            put(registers, WM_START_SCRATCH_OFFSET, NULL, "s", next++);
        }
    }
    *mode = (rsrc1 >> 12 & 0xff) | (rsrc1 >> 21 & 1) << 8 |
            (rsrc1 >> 23 & 1) << 9; /* FLOAT_MODE, DX10_CLAMP, IEEE */
    registers->list[registers->count++] =
        (struct wm_start_register){.name = "mode", .values = mode, .count = 1};
}

static void open_code(struct run *run)
{
    struct wm_diag diag;
    char name[32];
    size_t size;
    uint8_t *code = load(run->this->name, "code", &size);
    assert_non_null(code);
    snprintf(name, sizeof name, "%s%s", target, is_rdna() && run->state.wave == 64 ? ":wave64" : "");
    check(wm_object_open(code, size, run->this->name, name, &run->object, &diag), &diag);
    free(code);
    check(wm_machine_create(wm_object_target(run->object), &run->machine, &diag), &diag);
    check(wm_load(run->machine, run->object, &diag), &diag);
}

static void dispatch(const struct run *run, struct wm_check *checks)
{
    const struct state *state = &run->state;
    struct wm_diag diag;
    struct registers registers = {.count = 0};
    uint32_t scratch[2], mode;
    const struct wm_kernel *kernel;
    put_registers(run, &registers, scratch, &mode);
    const struct wm_start start = {
        .struct_size = sizeof start,
        .bare = true,
        .registers = registers.list,
        .register_count = registers.count,
        .scratch_bytes = state->scratch / state->wave,
    };
    struct wm_dispatch dispatch = {
        .struct_size = sizeof dispatch,
        .dynamic_lds =
            (state->rsrc[1] >> 15 & 0x1ff) * (strncmp(target, "gfx6", 4) == 0 ? 256 : 512), /* LDS_SIZE */
        .start = &start,
    };
    for (int i = 0; i < 3; i++) {
        dispatch.workgroup[i] = state->workgroup[i];
        dispatch.grid[i] = state->workgroup[i] * state->workgroups[i];
    }
    struct wm_result result = {.struct_size = sizeof result};
    dispatch.check = checks;
    check(wm_object_find_kernel(run->object, NULL, &kernel, &diag), &diag);
    check(wm_dispatch(run->machine, run->object, kernel, &dispatch, &result, &diag), &diag);
    if (result.fault.kind != WM_FAULT_NONE)
        fail_msg("%s", result.fault.text);
}

/* The driver's compiler, ACO, inserts the waits and wait states that the hardware needs. */
static void expect_no_findings(struct wm_check *checks)
{
    size_t count;
    const struct wm_finding *findings = wm_check_findings(checks, &count);
    for (size_t i = 0; i < count; i++)
        print_error("%s: %s: %s\n", findings[i].rule, findings[i].text, findings[i].message);
    if (count)
        fail_msg("%zu findings in the driver's code", count);
}

static void compare(struct run *run, const struct radv_buffer *expected)
{
    if (run->this->settle) {
        run->this->settle(run->buffers);
        run->this->settle((struct radv_buffer *)expected);
    }
    for (size_t i = 0; i < run->count; i++) {
        const uint32_t *got = (const uint32_t *)run->buffers[i].bytes,
                       *want = (const uint32_t *)expected[i].bytes;
        size_t bad = 0, words = run->buffers[i].size / 4;
        for (size_t k = 0; k < words; k++)
            if (got[k] != want[k] && bad++ < 4)
                print_error("buffer %zu, word %zu: 0x%08x, expected 0x%08x\n", i, k, got[k], want[k]);
        if (bad)
            fail_msg("buffer %zu: %zu of %zu words differ", i, bad, words);
    }
}

static void read_state(struct run *run)
{
    size_t size;
    char *text = (char *)load(run->this->name, "state", &size);
    assert_non_null(text);
    char *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        read_line(&run->state, line);
    free(text);
}

static void run_once(const struct radv_case *this, const char *mode, struct wm_check *checks)
{
    struct run run = {.this = this, .mode = mode};
    struct radv_buffer expected[RADV_BUFFERS];
    read_state(&run);
    open_code(&run);
    place_buffers(&run);
    place_driver_memory(&run);
    for (size_t i = 0; i < run.count; i++) {
        expected[i] = run.buffers[i];
        expected[i].bytes = malloc(expected[i].size);
        assert_non_null(expected[i].bytes);
        memcpy(expected[i].bytes, run.buffers[i].bytes, expected[i].size);
    }
    run.this->run(expected, run.this, run.state.wave);
    dispatch(&run, checks);
    untile(&run);
    compare(&run, expected);
    for (size_t i = 0; i < run.count; i++)
        free(expected[i].bytes);
    wm_machine_destroy(run.machine);
    wm_object_close(run.object);
}

/* What wavemem does not do yet. */
enum gap { NONE, RESULT, WAITS };

static const struct {
    const char *targets, *name; /* targets: NULL: all */
    enum gap gap;
    const char *why;
} gaps[] = {
    {"gfx1010 gfx1030", "shuffle", RESULT, "shared VGPRs of raw code, which has no descriptor"},
    {NULL, "sets", WAITS, "waits for data of other lanes only"},
    {"gfx803 gfx900 gfx906", "shuffle", WAITS, "waits for data of other lanes only"},
    {"gfx1010 gfx1030", "shuffle-32", WAITS, "waits for data of other lanes only"},
};

static enum gap find_gap(const struct radv_case *this)
{
    for (size_t i = 0; i < sizeof gaps / sizeof *gaps; i++)
        if ((!gaps[i].targets || strstr(gaps[i].targets, target)) && strcmp(gaps[i].name, this->name) == 0) {
            print_message("%s: not in wavemem: %s\n", this->name, gaps[i].why);
            return gaps[i].gap;
        }
    return NONE;
}

static bool has_images(const struct radv_case *this)
{
    for (const struct radv_binding *b = this->bindings; b < this->bindings + RADV_BINDINGS && b->count; b++)
        if (b->kind == RADV_IMAGE || b->kind == RADV_STORED_IMAGE)
            return true;
    return false;
}

static const char *find_mode(void)
{
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (strstr(modes[i].targets, target))
            return modes[i].mode;
    return NULL;
}

/* Without and with an observer: those are different steps. */
static void run_twice(const struct radv_case *this, const char *mode, struct wm_check *checks)
{
    run_once(this, mode, NULL);
    run_once(this, mode, checks);
}

static void run_case(void **this)
{
    const enum gap gap = find_gap(*this);
    const char *mode = has_images(*this) ? find_mode() : NULL;
    /* Before gfx10, the null winsys omits what its descriptors say of the layout. */
    const bool linear = !has_images(*this) || is_rdna();
    struct wm_check *checks;
    struct wm_diag diag;
    if (gap == RESULT || (!linear && !mode))
        skip();
    check(wm_check_create(WM_CHECK_HAZARDS | (gap == WAITS ? 0 : WM_CHECK_WAITS), &checks, &diag), &diag);
    if (linear)
        run_twice(*this, NULL, checks);
    if (mode)
        run_twice(*this, mode, checks);
    expect_no_findings(checks);
    wm_check_destroy(checks);
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: run_shaders TARGET FOLDER\n");
        return 2;
    }
    target = argv[1];
    folder = argv[2];
    struct CMUnitTest tests[64];
    size_t count = 0;
    for (size_t i = 0; i < radv_case_count; i++) {
        size_t size;
        uint8_t *state = load(radv_cases[i].name, "state", &size);
        if (state)
            tests[count++] = (struct CMUnitTest){
                .name = radv_cases[i].name, .test_func = run_case, .initial_state = (void *)&radv_cases[i]};
        free(state);
    }
    if (count == 0) {
        fprintf(stderr, "run_shaders: there is no shader in %s\n", folder);
        return 1;
    }
    return _cmocka_run_group_tests("RADV", tests, count, NULL, NULL) ? 1 : 0;
}
