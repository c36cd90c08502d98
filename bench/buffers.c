/* SPDX-License-Identifier: MIT */
/* Measures buffer instructions: loops of one assembled instruction, in nanoseconds and lanes per second.
 *
 * Each figure is the minimum CPU time of several runs on one thread. */
#include "clock.h"
#include "small.h"
#include "wavemem/wavemem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REPEATS = 5, BODY = 16, LOOPS = 20000, SMALL_LOOPS = 20, MEMORY = 1 << 16 };

/* `goal`: nanoseconds per wave; 0: none. */
struct loop {
    const char *name, *target, *instruction;
    uint32_t word1, records, word3; /* of the V#, whose base is the memory */
    double goal;
};

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "buffers: %s\n", what);
    exit(2);
}

static size_t write_code(const struct loop *loop, uint64_t memory, char *text, size_t size)
{
    size_t at = (size_t)snprintf(
        text, size,
        "s_mov_b32 s4, 0x%x\ns_mov_b32 s5, 0x%x\ns_mov_b32 s6, 0x%x\ns_mov_b32 s7, 0x%x\ns_mov_b32 s12, 0\n"
        "s_mov_b32 s13, %u\nv_lshlrev_b32 v2, 2, v0\nv_mov_b32 v3, 0\ntop:\n",
        (uint32_t)memory, (uint32_t)(memory >> 32) | loop->word1, loop->records, loop->word3,
        bench_size(LOOPS, SMALL_LOOPS));
    for (unsigned i = 0; i < BODY; i++)
        at += (size_t)snprintf(text + at, size - at, "%s\n", loop->instruction);
    return at +
           (size_t)snprintf(text + at, size - at,
                            "s_sub_u32 s13, s13, 1\ns_cmp_lg_u32 s13, 0\ns_cbranch_scc1 top\ns_endpgm\n");
}

static double nanoseconds(const struct loop *loop, unsigned lanes)
{
    struct wm_diag diag;
    struct wm_machine *machine;
    struct wm_object *object;
    const struct wm_kernel *kernel;
    char text[8192], *messages = NULL;
    uint8_t *code;
    size_t bytes;
    uint64_t memory;
    double least = 1e9;
    if (wm_machine_create(loop->target, &machine, &diag) ||
        wm_allocate(machine, MEMORY, 0, "memory", &memory, &diag))
        die(diag.message);
    const size_t length = write_code(loop, memory, text, sizeof text);
    if (wm_assemble(text, length, loop->name, loop->target, WM_ASSEMBLE_RAW, &code, &bytes, &messages, &diag))
        die(messages ? messages : diag.message);
    if (wm_object_open(code, bytes, "buffers", loop->target, &object, &diag) ||
        wm_object_find_kernel(object, NULL, &kernel, &diag) || wm_load(machine, object, &diag))
        die(diag.message);
    for (unsigned i = 0; i < REPEATS; i++) {
        struct wm_dispatch dispatch = {
            .struct_size = sizeof dispatch, .grid = {lanes}, .workgroup = {lanes}, .threads = 1};
        struct wm_result result = {.struct_size = sizeof result};
        const double begin = bench_cpu_seconds();
        if (wm_dispatch(machine, object, kernel, &dispatch, &result, &diag))
            die(diag.message);
        const double seconds = bench_cpu_seconds() - begin;
        if (result.fault.kind)
            die(result.fault.text);
        least = seconds < least ? seconds : least;
    }
    wm_machine_destroy(machine);
    wm_object_close(object);
    free(code);
    free(messages);
    return 1e9 * least / bench_size(LOOPS, SMALL_LOOPS) / BODY;
}

int main(void)
{
    /* 8_8_8_8 UNORM, XYZW, in gfx9's and gfx11's encoding; private memory as set up by the runtime */
    enum {
        GFX9_8888 = 0xfac | 10 << 15,
        GFX11_8888 = 0xfac | 0x2a << 12,
        GFX9_RAW = 0x24fac,
        GFX10_RAW = 0x31016fac
    };
    static const struct loop loops[] = {
        {"format_xyzw 8_8_8_8 UNORM, stride 4", "gfx900",
         "buffer_load_format_xyzw v[4:7], v0, s[4:7], s12 idxen", 4 << 16, 64, GFX9_8888, 64 / 0.6},
        {"the same, stride 16", "gfx900", "buffer_load_format_xyzw v[4:7], v0, s[4:7], s12 idxen", 16 << 16,
         64, GFX9_8888, 64 / 0.6},
        {"the same on gfx1100", "gfx1100", "buffer_load_format_xyzw v[4:7], v0, s[4:7], s12 idxen", 16 << 16,
         64, GFX11_8888, 32 / 0.6},
        {"format_x 16 FLOAT, stride 16", "gfx900", "buffer_load_format_x v4, v0, s[4:7], s12 idxen", 16 << 16,
         64, 0xfac | 2 << 15 | 7 << 12, 0},
        {"dword, records of 4 (V# and addresses)", "gfx900", "buffer_load_dword v4, v0, s[4:7], s12 idxen",
         4 << 16, 64, GFX9_RAW, 60},
        {"dword, records of 16", "gfx900", "buffer_load_dword v4, v0, s[4:7], s12 idxen", 16 << 16, 64,
         GFX9_RAW, 0},
        {"dword, raw", "gfx900", "buffer_load_dword v4, v2, s[4:7], s12 offen", 0, 4096, GFX9_RAW, 60},
        {"dword store, records of 4", "gfx900", "buffer_store_dword v2, v0, s[4:7], s12 idxen", 4 << 16, 64,
         GFX9_RAW, 0},
        {"dword, private", "gfx900", "buffer_load_dword v4, v3, s[4:7], s12 offen offset:16", 1u << 31, 0,
         0xfac | 3 << 21 | 1 << 23, 0},
        {"dword, private on gfx1030", "gfx1030", "buffer_load_dword v4, v3, s[4:7], s12 offen offset:16",
         1u << 31, 4096, 0x21014fac | 2 << 21 | 1 << 23, 0},
    };
    const bool held = bench_size(true, false);
    bool met = true;
    for (size_t i = 0; i < sizeof loops / sizeof *loops; i++) {
        const unsigned lanes = strlen(loops[i].target) > 6 ? 32 : 64;
        const double ns = nanoseconds(&loops[i], lanes);
        printf("%-45s %7.1f ns %7.0f M lanes/s", loops[i].name, ns, 1e3 * lanes / ns);
        if (held && loops[i].goal > 0)
            printf("   goal %.0f ns%s", loops[i].goal, ns > loops[i].goal ? ", missed" : "");
        putchar('\n');
        met &= !held || loops[i].goal == 0 || ns <= loops[i].goal;
    }
    return met ? 0 : 1;
}
