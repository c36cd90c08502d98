/* SPDX-License-Identifier: MIT */
/* Measures MFMA, SMFMAC, WMMA and SWMMAC on the best CPU level of the host: nanoseconds per instruction, and
 * products per second. Operands are random between -2 and 2; every sixteenth instruction starts from C = 0,
 * but for those that accumulate in D. Then four products as the host's best vector loop makes them, with
 * operands converted before: f32 for f16, bf16 and fp8, and where the host has them its own products of bf16.
 * Times are the thread's. */
#include "sem/matrix.h"
#include "arithmetic/host_float.h"
#include "clock.h"
#include "isa/isa.h"
#include "matrix_loops.h"
#include "sem/table.h"
#include "sem/wmma.h"
#include "small.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROW = 256, ROWS = 128, A = 0, B = 16, C = 32, INDEX = 64, ZEROS = 96, STEPS = 16, PASSES = 2000 };

static const struct {
    enum wmi_insn_id id;
    const char *generation;
    unsigned lanes, rules; /* enum wmi_matrix_rules, or wmi_wmma_rules in waves of 32 */
} cases[] = {
    {WMI_INSN_v_mfma_f32_32x32x8f16, "CDNA 1", 64, WMI_MATRIX_CDNA1},
    {WMI_INSN_v_mfma_f32_32x32x8f16, "CDNA 2", 64, WMI_MATRIX_CDNA2},
    {WMI_INSN_v_mfma_f32_32x32x8f16, "CDNA 3", 64, WMI_MATRIX_CDNA3},
    {WMI_INSN_v_mfma_f32_16x16x16bf16_1k, "CDNA 3", 64, WMI_MATRIX_CDNA3},
    {WMI_INSN_v_mfma_f32_16x16x32_fp8_fp8, "CDNA 3", 64, WMI_MATRIX_CDNA3},
    {WMI_INSN_v_mfma_f32_32x32x2f32, "CDNA 3", 64, WMI_MATRIX_CDNA3},
    {WMI_INSN_v_mfma_f32_32x32x4_xf32, "CDNA 3", 64, WMI_MATRIX_CDNA3},
    {WMI_INSN_v_mfma_f64_16x16x4f64, "CDNA 3", 64, WMI_MATRIX_CDNA3},
    {WMI_INSN_v_mfma_i32_32x32x16_i8, "CDNA 3", 64, WMI_MATRIX_CDNA3},
    {WMI_INSN_v_mfma_f32_4x4x4f16, "CDNA 3", 64, WMI_MATRIX_CDNA3},
    {WMI_INSN_v_smfmac_f32_16x16x32_f16, "CDNA 3", 64, WMI_MATRIX_CDNA3},
    {WMI_INSN_v_wmma_f32_16x16x16_f16, "RDNA 3", 32, WMI_WMMA_RDNA3},
    {WMI_INSN_v_wmma_f16_16x16x16_f16, "RDNA 3", 32, WMI_WMMA_RDNA3},
    {WMI_INSN_v_wmma_i32_16x16x16_iu8, "RDNA 3", 32, WMI_WMMA_RDNA3},
    {WMI_INSN_v_wmma_f32_16x16x16_bf16, "RDNA 4", 32, WMI_WMMA_RDNA4},
    {WMI_INSN_v_wmma_f32_16x16x16_fp8_fp8, "RDNA 4", 32, WMI_WMMA_RDNA4},
    {WMI_INSN_v_swmmac_f32_16x16x32_f16, "RDNA 4", 32, WMI_WMMA_RDNA4},
};

static uint32_t random_word(void)
{
    static uint32_t state = 1;
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state;
}

/* Signs and fractions are random; exponents are those of 2^-3 to 2^0. */
static uint32_t random_element(unsigned element)
{
    const uint32_t r = random_word(), down = random_word() >> 30;
    switch (element) {
    case WMI_ELEMENT_f16:
        return (r & 0x83ff83ff) | (15 - down) << 10 | (15 - down) << 26;
    case WMI_ELEMENT_bf16:
        return (r & 0x807f807f) | (127 - down) << 7 | (127 - down) << 23;
    case WMI_ELEMENT_fp8:
        return (r & 0x87878787) | (8 - down) * 0x08080808;
    case WMI_ELEMENT_i8:
        return r;
    default:
        return (r & 0x807fffff) | (127 - down) << 23;
    }
}

static const struct wmi_op *stop(char *restrict frame, const struct wmi_op *op)
{
    (void)frame;
    (void)op;
    return NULL;
}

static void print(const char *name, const char *kind, double each, double products)
{
    printf("%-32s %s  %7.0f ns  %6.2f G products/s\n", name, kind, 1e9 * each, 1e-9 * products / each);
}

/* Products of m x n x k by the loops of matrix_loops.c. */
static void measure_loops(unsigned passes)
{
    static const struct {
        const char *name;
        unsigned m, n, k;
        enum { F32, F64, BF16 } type;
    } loops[] = {
        {"32x32x8 in f32", 32, 32, 8, F32},  {"16x16x16 in f32", 16, 16, 16, F32},
        {"16x16x16 bf16", 16, 16, 16, BF16}, {"16x16x32 in f32", 16, 16, 32, F32},
        {"16x16x4 in f64", 16, 16, 4, F64},
    };
    enum { MOST = 32 * 32 };
    static double a[MOST], b[MOST],
        d[MOST]; /* also of f32 and of pairs of bf16: zeros, which take no longer */
    for (size_t i = 0; i < sizeof loops / sizeof *loops; i++) {
        const unsigned m = loops[i].m, n = loops[i].n, k = loops[i].k;
        bool known = true;
        const double start = bench_cpu_seconds();
        for (unsigned pass = 0; known && pass < passes; pass++)
            if (loops[i].type == F64)
                bench_product_f64(d, a, b, m, n, k);
            else if (loops[i].type == F32)
                bench_product_f32((float *)d, (const float *)a, (const float *)b, m, n, k);
            else
                known = bench_product_bf16((float *)d, (const uint32_t *)a, (const uint32_t *)b, m, n, k);
        if (known)
            print(loops[i].name, "host  ", (bench_cpu_seconds() - start) / passes, (double)m * n * k);
    }
}

int main(void)
{
    const size_t rows = offsetof(struct wmi_frame, rows);
    const unsigned passes = bench_size(PASSES, 2);
    struct wmi_frame *frame = aligned_alloc(64, rows + (size_t)ROWS * ROW);
    if (!frame)
        return 2;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct wmi_matrix *m = wmi_matrix_of(cases[i].id);
        const struct wmi_matrix_use use = {.matrix = wmi_rows[cases[i].id].matrix,
                                           .rules = (uint8_t)cases[i].rules};
        const bool wmma = cases[i].lanes == 32;
        struct wmi_op steps[STEPS + 1];
        uint32_t *words = (uint32_t *)frame->rows;
        memset(frame, 0, rows + (size_t)ROWS * ROW);
        frame->mxcsr32 = wmi_host_float_word(0, 3);
        for (unsigned word = 0; word < C * ROW / 4; word++)
            words[word] = random_element(m->a);
        steps[STEPS] = (struct wmi_op){.body = stop};
        for (unsigned step = 0; step < STEPS; step++) {
            steps[step] = (struct wmi_op){
                .body = wmi_sem_body(wmi_cpu_level(), cases[i].lanes, cases[i].id),
                .d = (uint32_t)rows + C * ROW,
                .a = (uint32_t)rows + A * ROW,
                .b = (uint32_t)rows + B * ROW,
                .c = (uint32_t)rows + (m->sparse ? INDEX
                                       : step    ? C
                                                 : ZEROS) *
                                          ROW,
            };
            steps[step].value =
                wmma ? cases[i].id | cases[i].rules << WMI_WMMA_RULES_AT : wmi_matrix_pack(use);
        }
        const double start = bench_cpu_seconds();
        for (unsigned pass = 0; pass < passes; pass++)
            for (const struct wmi_op *p = steps; p;)
                p = p->body((char *)frame, p);
        const double each = (bench_cpu_seconds() - start) / passes / STEPS;
        const double products = (double)m->m * m->n * m->k * m->blocks / (m->sparse ? 2 : 1);
        print(wmi_rows[cases[i].id].name, cases[i].generation, each, products);
    }
    measure_loops(passes * STEPS);
    free(frame);
    return 0;
}
