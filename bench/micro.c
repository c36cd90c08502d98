/* SPDX-License-Identifier: MIT */
/* Measures the executor: loops of one instruction, as raw gfx900 code, and the copy kernel against memcpy.
 *
 * Each figure is a median of alternating runs, in CPU time of the one executing thread, to reduce the
 * influence of other load. */
#include "clock.h"
#include "small.h"
#include "wavemem/wavemem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REPEATS = 7, BODY = 32, LOOPS = 200000, SMALL_LOOPS = 200, MAX_WORDS = 1024 };

struct code {
    uint32_t words[MAX_WORDS];
    size_t count;
};

static void put(struct code *code, uint32_t word)
{
    code->words[code->count++] = word;
}

/* Encoded by llvm-mc-19 -mcpu=gfx900 --show-encoding; the comments are its input. */
static void begin(struct code *code, uint32_t exec)
{
    code->count = 0;
    put(code, 0xbe9400ff); /* s_mov_b32 s20, exec */
    put(code, exec);
    put(code, 0xbefe0014); /* s_mov_b32 exec_lo, s20 */
    put(code, 0xbeff0014); /* s_mov_b32 exec_hi, s20 */
    put(code, 0xbe8400ff); /* s_mov_b32 s4, LOOPS */
    put(code, bench_size(LOOPS, SMALL_LOOPS));
}

static void end(struct code *code, size_t top)
{
    put(code, 0x80848104);                                       /* s_sub_u32 s4, s4, 1 */
    put(code, 0xbf078004);                                       /* s_cmp_lg_u32 s4, 0 */
    put(code, 0xbf850000 | (uint16_t)(top - (code->count + 1))); /* s_cbranch_scc1 top */
    put(code, 0xbf810000);                                       /* s_endpgm */
}

/* Emits a loop of BODY times the instruction `a b` (b = 0: one dword), each followed by `waits` s_waitcnt.
 * Destinations cycle through `results` registers, by adding to the lowest byte of `a`. With one register and
 * inactive lanes, which keep its old value, each instruction depends on the one before. */
static void loop_of(struct code *code, uint32_t exec, uint32_t a, uint32_t b, unsigned waits,
                    unsigned results)
{
    begin(code, exec);
    const size_t top = code->count;
    for (unsigned i = 0; i < BODY; i++) {
        put(code, a + i % results);
        if (b)
            put(code, b);
        for (unsigned w = 0; w < waits; w++)
            put(code, 0xbf8cc07f); /* s_waitcnt lgkmcnt(0) */
    }
    end(code, top);
}

static _Noreturn void die(const struct wm_diag *diag)
{
    fprintf(stderr, "micro: %s\n", diag->message);
    exit(2);
}

static double run_once(const struct code *code)
{
    struct wm_diag diag;
    struct wm_object *object;
    struct wm_machine *machine;
    const struct wm_kernel *kernel;
    struct wm_dispatch dispatch = {
        .struct_size = sizeof dispatch, .grid = {64}, .workgroup = {64}, .threads = 1};
    struct wm_result result = {.struct_size = sizeof result};
    if (wm_object_open(code->words, code->count * 4, "micro", "gfx900", &object, &diag) ||
        wm_object_find_kernel(object, NULL, &kernel, &diag) || wm_machine_create("gfx900", &machine, &diag) ||
        wm_load(machine, object, &diag))
        die(&diag);
    const double begin = bench_cpu_seconds();
    if (wm_dispatch(machine, object, kernel, &dispatch, &result, &diag))
        die(&diag);
    const double seconds = bench_cpu_seconds() - begin;
    if (result.fault.kind) {
        fprintf(stderr, "micro: %s\n", result.fault.text);
        exit(3);
    }
    wm_machine_destroy(machine);
    wm_object_close(object);
    return seconds;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, ascending);
    return values[count / 2];
}

/* ---- the copy kernel ---- */

enum { COPY_BYTES = 64 << 20, SMALL_COPY_BYTES = 64 << 10, COPY_PAIRS = 5 };

/* Copies `bytes` bytes, one dword per lane; returns the CPU seconds. */
static double copy_once(struct wm_machine *machine, const struct wm_object *object,
                        const struct wm_kernel *kernel, uint64_t from, uint64_t to, unsigned bytes)
{
    struct {
        uint64_t in, out;
    } arguments = {from, to};
    struct wm_dispatch dispatch = {.struct_size = sizeof dispatch,
                                   .grid = {bytes / 4},
                                   .workgroup = {256},
                                   .arguments = &arguments,
                                   .arguments_size = sizeof arguments,
                                   .threads = 1};
    struct wm_result result = {.struct_size = sizeof result};
    struct wm_diag diag;
    const double begin = bench_cpu_seconds();
    if (wm_dispatch(machine, object, kernel, &dispatch, &result, &diag))
        die(&diag);
    const double seconds = bench_cpu_seconds() - begin;
    if (result.fault.kind) {
        fprintf(stderr, "micro: %s\n", result.fault.text);
        exit(3);
    }
    return seconds;
}

static void copy_against_memcpy(const char *path)
{
    const unsigned bytes = bench_size(COPY_BYTES, SMALL_COPY_BYTES);
    struct wm_diag diag;
    struct wm_object *object;
    struct wm_machine *machine;
    const struct wm_kernel *kernel;
    uint64_t from, to;
    double kernel_seconds[COPY_PAIRS], memcpy_seconds[COPY_PAIRS], ratio[COPY_PAIRS];
    if (wm_object_open_file(path, NULL, &object, &diag) ||
        wm_object_find_kernel(object, NULL, &kernel, &diag) || wm_machine_create("gfx900", &machine, &diag) ||
        wm_load(machine, object, &diag) || wm_allocate(machine, bytes, 0, "in", &from, &diag) ||
        wm_allocate(machine, bytes, 0, "out", &to, &diag))
        die(&diag);
    unsigned char *in = wm_host_pointer(machine, from, bytes);
    unsigned char *out = wm_host_pointer(machine, to, bytes);
    memset(in, 1, bytes);
    memset(out, 2, bytes);
    for (unsigned i = 0; i < COPY_PAIRS; i++) {
        kernel_seconds[i] = copy_once(machine, object, kernel, from, to, bytes);
        if (memcmp(in, out, bytes)) {
            fprintf(stderr, "micro: the copy differs\n");
            exit(1);
        }
        const double begin = bench_cpu_seconds();
        memcpy(out, in, bytes);
        memcpy_seconds[i] = bench_cpu_seconds() - begin;
        ratio[i] = kernel_seconds[i] / memcpy_seconds[i];
    }
    printf("copy of %u KiB: kernel %.1f ms, memcpy %.1f ms, ratio %.2f\n", bytes >> 10,
           1e3 * median(kernel_seconds, COPY_PAIRS), 1e3 * median(memcpy_seconds, COPY_PAIRS),
           median(ratio, COPY_PAIRS));
    wm_machine_destroy(machine);
    wm_object_close(object);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        uint32_t exec, a, b;
        unsigned waits, results;
    } loops[] = {
        {"v_fma_f32 v8 to v15, v2, v3, v4, full EXEC", 0xffffffff, 0xd1cb0008, 0x04120702, 0, 8},
        {"the same, 8 waits behind each", 0xffffffff, 0xd1cb0008, 0x04120702, 8, 8},
        {"the same, checkerboard EXEC", 0x55555555, 0xd1cb0008, 0x04120702, 0, 8},
        {"v_fma_f32 v8 alone, checkerboard EXEC", 0x55555555, 0xd1cb0008, 0x04120702, 0, 1},
        {"v_mul_f32_e32 v5, v6, v7", 0xffffffff, 0x0a0a0f06, 0, 0, 1},
        {"v_add_f32_e32 v1, s4, v2", 0xffffffff, 0x02020404, 0, 0, 1},
        {"v_add_u32_e32 v1, v2, v3", 0xffffffff, 0x68020702, 0, 0, 1},
        {"v_add_co_u32_e32 v1, vcc, v2, v3", 0xffffffff, 0x32020702, 0, 0, 1},
        {"v_addc_co_u32_e32 v1, vcc, v2, v3, vcc", 0xffffffff, 0x38020702, 0, 0, 1},
        {"v_lshlrev_b64 v[4:5], 2, v[2:3]", 0xffffffff, 0xd28f0004, 0x00020482, 0, 1},
        {"v_cmp_gt_u32_e32 vcc, v2, v3", 0xffffffff, 0x7d980702, 0, 0, 1},
        {"s_add_u32 s5, s6, s7", 0xffffffff, 0x80050706, 0, 0, 1},
    };
    enum { LOOP_COUNT = sizeof loops / sizeof *loops };
    static double seconds[LOOP_COUNT][REPEATS];
    for (unsigned r = 0; r < REPEATS; r++)
        for (unsigned i = 0; i < LOOP_COUNT; i++) {
            struct code code;
            loop_of(&code, loops[i].exec, loops[i].a, loops[i].b, loops[i].waits, loops[i].results);
            seconds[i][r] = run_once(&code);
        }
    printf("%-42s %10s %10s\n", "loop of 32", "ns each", "M waves/s");
    double plain = 0;
    for (unsigned i = 0; i < LOOP_COUNT; i++) {
        const double each = median(seconds[i], REPEATS) / bench_size(LOOPS, SMALL_LOOPS) / BODY * 1e9;
        printf("%-42s %10.2f %10.0f\n", loops[i].name, each, 1e3 / each);
        if (i == 0)
            plain = each;
        if (i == 1)
            printf("%-42s %10.3f\n", "  ratio to the loop without waits", each / plain);
    }
    if (argc > 1)
        copy_against_memcpy(argv[1]);
    return 0;
}
