/* SPDX-License-Identifier: MIT */
/* Measures a product of bf16 matrices of 1024x1024 through MFMA and LDS (gemm.cl): CPU time of a dispatch on
 * one thread. `gemm CODE-OBJECT TARGET`. Elements are small integers, so that the product is exact and is
 * compared with the host's. */
#include "clock.h"
#include "small.h"
#include "wavemem/wavemem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 1024, TILE = 128, REPEATS = 5, GOAL = 250 /* milliseconds */ };

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "gemm: %s\n", what);
    exit(2);
}

/* -8 to 7, of which all products and sums are exact in f32. */
static int element(unsigned matrix, unsigned i)
{
    return (int)((i * 2654435761u + matrix * 40503u) >> 28) - 8;
}

static void fill(uint16_t *to, unsigned matrix)
{
    for (unsigned i = 0; i < SIDE * SIDE; i++) {
        const float x = (float)element(matrix, i);
        uint32_t bits;
        memcpy(&bits, &x, sizeof bits);
        to[i] = (uint16_t)(bits >> 16);
    }
}

/* Compares a row of C, and one more for each row of tiles; `rows`: those that were computed. */
static void compare(const float *c, unsigned rows)
{
    for (unsigned i = 0; i < rows; i += TILE / 2 + 1)
        for (unsigned j = 0; j < SIDE; j++) {
            int sum = 0;
            for (unsigned k = 0; k < SIDE; k++)
                sum += element(0, SIDE * i + k) * element(1, SIDE * j + k);
            if (c[SIDE * i + j] != (float)sum)
                die("a wrong product");
        }
}

int main(int argc, char **argv)
{
    struct wm_diag diag;
    struct wm_machine *machine;
    struct wm_object *object;
    const struct wm_kernel *kernel;
    uint64_t address[3];
    const uint32_t rows = bench_size(SIDE / TILE, 1), repeats = bench_size(REPEATS, 1);
    double least = 1e9;
    if (argc != 3)
        die("usage: gemm CODE-OBJECT TARGET");
    if (wm_machine_create(argv[2], &machine, &diag) ||
        wm_object_open_file(argv[1], argv[2], &object, &diag) ||
        wm_object_find_kernel(object, "gemm", &kernel, &diag) || wm_load(machine, object, &diag))
        die(diag.message);
    for (unsigned i = 0; i < 3; i++) {
        const uint64_t size = (i < 2 ? sizeof(uint16_t) : sizeof(float)) * SIDE * SIDE;
        if (wm_allocate(machine, size, 0, "matrix", &address[i], &diag))
            die(diag.message);
        if (i < 2)
            fill(wm_host_pointer(machine, address[i], size), i);
    }
    for (unsigned i = 0; i < repeats; i++) {
        const struct wm_dispatch dispatch = {
            .struct_size = sizeof dispatch,
            .grid = {SIDE / TILE * 256, rows},
            .workgroup = {256},
            .arguments = address,
            .arguments_size = sizeof address,
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
    compare(wm_host_pointer(machine, address[2], sizeof(float) * SIDE * SIDE), TILE * rows);
    printf("bf16 product of 1024^3 on %s  %7.1f ms", argv[2], least);
    if (rows == SIDE / TILE)
        printf("   goal %d ms%s", GOAL, least > GOAL ? ", missed" : "");
    putchar('\n');
    wm_machine_destroy(machine);
    wm_object_close(object);
    return 0;
}
