/* SPDX-License-Identifier: MIT */
/* Measures whole kernels with access patterns that emulators find hard: a tail of masked lanes, a gather of
 * scattered words, float atomics that collide. Each figure is the minimum CPU time of several runs on one
 * thread. */
#include "clock.h"
#include "small.h"
#include "wavemem/wavemem.h"

#include <stdio.h>
#include <stdlib.h>

enum { REPEATS = 5, WORKGROUP = 256, SMALLER = 64 };

struct pattern {
    const char *name, *target;
    uint32_t items;         /* size of the grid */
    uint32_t input, output; /* dwords of the two buffers, whose addresses are in s[4:5] and s[6:7] */
    const char *descriptor; /* further directives of the kernel's descriptor */
    const char *code;       /* v0: the work-item in the grid; s8: the last item; s9: input - 1 */
    double goal;            /* milliseconds */
};

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "patterns: %s\n", what);
    exit(2);
}

static double milliseconds(const struct pattern *pattern, uint32_t items, uint32_t input)
{
    struct wm_diag diag;
    struct wm_machine *machine;
    struct wm_object *object;
    const struct wm_kernel *kernel;
    char text[4096], *messages = NULL;
    uint8_t *code;
    size_t bytes;
    uint64_t from, to;
    double least = 1e9;
    if (wm_machine_create(pattern->target, &machine, &diag) ||
        wm_allocate(machine, 4ull * input, 0, "input", &from, &diag) ||
        wm_allocate(machine, 4ull * pattern->output, 0, "output", &to, &diag))
        die(diag.message);
    const int length = snprintf(
        text, sizeof text,
        ".amdgcn_target \"amdgcn-amd-amdhsa--%s\"\n.text\n.globl k\n.p2align 8\n.type k,@function\nk:\n"
        "s_mov_b32 s4, 0x%x\ns_mov_b32 s5, 0x%x\ns_mov_b32 s6, 0x%x\ns_mov_b32 s7, 0x%x\n"
        "s_mov_b32 s8, 0x%x\ns_mov_b32 s9, 0x%x\nv_lshl_add_u32 v0, s0, 8, v0\n%ss_endpgm\n"
        ".rodata\n.p2align 6\n.amdhsa_kernel k\n.amdhsa_next_free_vgpr 8\n.amdhsa_next_free_sgpr 16\n%s"
        ".end_amdhsa_kernel\n",
        pattern->target, (uint32_t)from, (uint32_t)(from >> 32), (uint32_t)to, (uint32_t)(to >> 32),
        items - 1, input - 1, pattern->code, pattern->descriptor);
    if (wm_assemble(text, (size_t)length, pattern->name, pattern->target, 0, &code, &bytes, &messages, &diag))
        die(messages ? messages : diag.message);
    if (wm_object_open(code, bytes, "patterns", pattern->target, &object, &diag) ||
        wm_object_find_kernel(object, NULL, &kernel, &diag) || wm_load(machine, object, &diag))
        die(diag.message);
    for (unsigned i = 0; i < REPEATS; i++) {
        const struct wm_dispatch dispatch = {
            .struct_size = sizeof dispatch,
            .grid = {(items + WORKGROUP - 1) / WORKGROUP * WORKGROUP},
            .workgroup = {WORKGROUP},
            .threads = 1,
        };
        struct wm_result result = {.struct_size = sizeof result};
        const double begin = 1e3 * bench_cpu_seconds();
        if (wm_dispatch(machine, object, kernel, &dispatch, &result, &diag))
            die(diag.message);
        const double taken = 1e3 * bench_cpu_seconds() - begin;
        if (result.fault.kind)
            die(result.fault.text);
        least = taken < least ? taken : least;
    }
    wm_machine_destroy(machine);
    wm_object_close(object);
    free(code);
    free(messages);
    return least;
}

int main(void)
{
    static const char tail[] = "v_cmp_ge_u32 vcc, s8, v0\n"
                               "s_and_saveexec_b64 s[10:11], vcc\n"
                               "s_cbranch_execz done\n"
                               "v_lshlrev_b32 v1, 2, v0\n"
                               "global_load_dword v2, v1, s[4:5]\n"
                               "s_waitcnt vmcnt(0)\n"
                               "v_fma_f32 v2, v2, 2.0, 1.0\n"
                               "global_store_dword v1, v2, s[6:7]\n"
                               "done:\n";
    static const char gather[] = "s_mov_b32 s10, 104729\n"
                                 "v_lshlrev_b32 v1, 2, v0\n"
                                 "v_mul_lo_u32 v3, v0, s10\n"
                                 "v_and_b32 v3, s9, v3\n"
                                 "v_lshlrev_b32 v3, 2, v3\n"
                                 "global_load_dword v2, v3, s[4:5]\n"
                                 "s_waitcnt vmcnt(0)\n"
                                 "global_store_dword v1, v2, s[6:7]\n";
    static const char atomics[] = "s_mov_b32 s11, 0x9e3779b1\n"
                                  "v_mul_lo_u32 v1, v0, s11\n"
                                  "v_lshrrev_b32 v1, 24, v1\n"
                                  "v_lshlrev_b32 v1, 2, v1\n"
                                  "v_mov_b32 v2, 1.0\n"
                                  "global_atomic_add_f32 v1, v2, s[6:7]\n";
    static const struct pattern patterns[] = {
        {"8,388,611 floats with a masked tail", "gfx900", 8388611, 8388611, 8388611, "", tail, 25},
        {"gather of 4 M of 8 M floats, stride 104,729", "gfx900", 4194304, 8388608, 4194304, "", gather, 60},
        {"131,072 float atomics on 256 places", "gfx90a", 131072, 1, 256, ".amdhsa_accum_offset 8\n", atomics,
         5},
    };
    const uint32_t part = bench_size(1, SMALLER);
    bool met = true;
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        const struct pattern *p = &patterns[i];
        const double taken = milliseconds(p, p->items / part, p->input);
        printf("%-45s %7.2f ms", p->name, taken);
        if (part == 1)
            printf("   goal %.0f ms%s", p->goal, taken > p->goal ? ", missed" : "");
        putchar('\n');
        met &= part != 1 || taken <= p->goal;
    }
    return met ? 0 : 1;
}
