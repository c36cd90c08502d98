/* SPDX-License-Identifier: MIT */
/* Measures images: texels a second of image_load on linear and tiled 2D images, and bytes a second of their
 * conversion. A tiled image should be read at half the speed of a linear one at least, and converted at 1
 * GB/s in common modes.
 *
 * Each figure is the minimum CPU time of several runs on one thread; linear and tiled runs alternate. */
#include "clock.h"
#include "small.h"
#include "wavemem/wavemem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REPEATS = 5, BODY = 8, LOOPS = 4000, SMALL_LOOPS = 4, SIDE = 512, COPIED = 2048, SMALL_COPIED = 128 };

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "images: %s\n", what);
    exit(2);
}

/* A kernel that loads texels in rows. */
struct program {
    struct wm_machine *machine;
    struct wm_object *object;
    const struct wm_kernel *kernel;
};

static const char *instruction(const char *target)
{
    return strcmp(target, "gfx900") ? "image_load v[4:7], v[0:1], s[8:15] dmask:0xf dim:SQ_RSRC_IMG_2D unorm"
                                    : "image_load v[4:7], v[0:1], s[8:15] dmask:0xf unorm";
}

static void open_program(const char *target, const char *mode, struct program *p)
{
    enum { BLOCK = 1 << 18 };
    struct wm_image image = {.struct_size = sizeof image,
                             .geometry = WM_IMAGE_2D,
                             .type = WM_IMAGE_UNORM8,
                             .components = 4,
                             .width = SIDE,
                             .height = SIDE,
                             .mode = mode};
    uint32_t words[WM_IMAGE_WORDS];
    struct wm_diag diag;
    char text[4096], *messages = NULL;
    uint8_t *code;
    size_t bytes, at = 0;
    uint64_t memory;
    if (wm_machine_create(target, &p->machine, &diag) ||
        wm_allocate(p->machine, 4 * SIDE * SIDE + 2 * BLOCK, 0, "image", &memory, &diag))
        die(diag.message);
    image.address = (memory + BLOCK - 1) / BLOCK * BLOCK;
    if (wm_image_describe(target, &image, words, NULL, &diag))
        die(diag.message);
    for (unsigned i = 0; i < 8; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "s_mov_b32 s%u, 0x%x\n", 8 + i, words[i]);
    at += (size_t)snprintf(text + at, sizeof text - at, "s_movk_i32 s4, %u\nv_mov_b32 v1, 0\ntop:\n",
                           bench_size(LOOPS, SMALL_LOOPS));
    for (unsigned i = 0; i < BODY; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s\n", instruction(target));
    at += (size_t)snprintf(text + at, sizeof text - at,
                           "s_sub_u32 s4, s4, 1\ns_cmp_lg_u32 s4, 0\ns_cbranch_scc1 top\ns_endpgm\n");
    if (wm_assemble(text, at, "images", target, WM_ASSEMBLE_RAW, &code, &bytes, &messages, &diag))
        die(messages ? messages : diag.message);
    if (wm_object_open(code, bytes, "images", target, &p->object, &diag) ||
        wm_object_find_kernel(p->object, NULL, &p->kernel, &diag) || wm_load(p->machine, p->object, &diag))
        die(diag.message);
    free(code);
    free(messages);
}

/* Seconds of one run of a wave. */
static double run(const struct program *p, unsigned lanes)
{
    const struct wm_dispatch dispatch = {
        .struct_size = sizeof dispatch, .grid = {lanes}, .workgroup = {lanes}, .threads = 1};
    struct wm_result result = {.struct_size = sizeof result};
    struct wm_diag diag;
    const double begin = bench_cpu_seconds();
    if (wm_dispatch(p->machine, p->object, p->kernel, &dispatch, &result, &diag))
        die(diag.message);
    if (result.fault.kind)
        die(result.fault.text);
    return bench_cpu_seconds() - begin;
}

static bool load(const char *target, const char *mode, unsigned lanes)
{
    struct program linear, tiled;
    double least[2] = {1e9, 1e9};
    open_program(target, NULL, &linear);
    open_program(target, mode, &tiled);
    for (unsigned i = 0; i < 2 * REPEATS; i++) {
        const double seconds = run(i % 2 ? &tiled : &linear, lanes);
        least[i % 2] = seconds < least[i % 2] ? seconds : least[i % 2];
    }
    const double texels = (double)bench_size(LOOPS, SMALL_LOOPS) * BODY * lanes;
    printf("image_load on %s: %6.1f M texels/s linear, %6.1f in %s: %.2f\n", target, 1e-6 * texels / least[0],
           1e-6 * texels / least[1], mode, least[0] / least[1]);
    wm_machine_destroy(linear.machine);
    wm_machine_destroy(tiled.machine);
    wm_object_close(linear.object);
    wm_object_close(tiled.object);
    return least[1] <= 2 * least[0];
}

static bool convert(const char *target, const char *mode, uint32_t bytes)
{
    const uint32_t side = bench_size(COPIED, SMALL_COPIED);
    const struct wm_surface_shape shape = {
        .struct_size = sizeof shape, .mode = mode, .bytes = bytes, .width = side, .height = side};
    struct wm_surface *surface;
    struct wm_diag diag;
    double least[2] = {1e9, 1e9};
    if (wm_surface_create(target, NULL, &shape, &surface, &diag))
        die(diag.message);
    const struct wm_surface_layout *l = wm_surface_layout(surface);
    void *packed = calloc(1, l->packed), *tiled = calloc(1, l->bytes);
    if (!packed || !tiled)
        die("no memory");
    memset(packed, 1, l->packed);
    memset(tiled, 1, l->bytes);
    for (unsigned i = 0; i < 2 * REPEATS; i++) {
        const double begin = bench_cpu_seconds();
        if (i % 2 ? wm_surface_untile(surface, tiled, l->bytes, packed, l->packed, &diag)
                  : wm_surface_tile(surface, packed, l->packed, tiled, l->bytes, &diag))
            die(diag.message);
        const double seconds = bench_cpu_seconds() - begin;
        least[i % 2] = seconds < least[i % 2] ? seconds : least[i % 2];
    }
    printf("%s, %2u bytes: tile %5.2f GB/s, untile %5.2f GB/s\n", mode, bytes,
           1e-9 * (double)l->packed / least[0], 1e-9 * (double)l->packed / least[1]);
    free(packed);
    free(tiled);
    wm_surface_destroy(surface);
    return least[0] < 1e-9 * (double)shape.width * shape.height * bytes &&
           least[1] < 1e-9 * (double)shape.width * shape.height * bytes;
}

int main(void)
{
    static const struct {
        const char *target, *mode;
    } modes[] = {{"gfx900", "64KB_S_X"},
                 {"gfx1030", "64KB_R_X"},
                 {"gfx1100", "64KB_R_X"},
                 {"gfx1100", "256KB_R_X"},
                 {"gfx900", "64KB_D_X"}};
    const bool held = bench_size(true, false);
    bool met = load("gfx900", "64KB_S_X", 64);
    met &= load("gfx1030", "64KB_R_X", 32);
    for (unsigned i = 0; i < sizeof modes / sizeof *modes; i++)
        for (uint32_t bytes = 1; bytes <= 16; bytes *= 2)
            met &= convert(modes[i].target, modes[i].mode, bytes);
    return held && !met;
}
