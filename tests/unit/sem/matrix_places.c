/* SPDX-License-Identifier: MIT */
/* Places of matrix elements against the bodies: matrices of zeros and ones, whose products are exact in every
 * format, are put where wmi_matrix_place() says, and D is read there. */
#include "sem/matrix_places.h"
#include "arithmetic/host_float.h"
#include "isa/tables.h"
#include "sem/matrix.h"
#include "sem/table.h"
#include "sem/wmma.h"
#include "unit/random.h"
#include "wavemem/wavemem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
// clang-format off
#include <cmocka.h>
// clang-format on

enum {
    OF_A = 0,
    OF_B = 32,
    OF_C = 64,
    OF_D = 96,
    ROWS = 128,
    MOST = 128,
    FIRST_TWO = 0x4444, /* indices: of each four elements the first two */
};

static struct wmi_frame *frame;
static unsigned lanes;

static uint32_t *word(unsigned operand, struct wmi_matrix_place place, unsigned more)
{
    return (uint32_t *)frame->rows + (size_t)(operand + place.dword + more) * lanes + place.lane;
}

static uint64_t code_of_one(unsigned element, bool ocp)
{
    static const uint64_t codes[] = {
        [WMI_ELEMENT_f32] = 0x3f800000, [WMI_ELEMENT_f64] = 0x3ff0000000000000,
        [WMI_ELEMENT_f16] = 0x3c00,     [WMI_ELEMENT_bf16] = 0x3f80,
        [WMI_ELEMENT_bf16f32] = 0x3f80, [WMI_ELEMENT_xf32] = 0x3f800000,
        [WMI_ELEMENT_i32] = 1,          [WMI_ELEMENT_i8] = 1,
        [WMI_ELEMENT_iu8] = 1,          [WMI_ELEMENT_iu4] = 1,
        [WMI_ELEMENT_fp8] = 0x38,       [WMI_ELEMENT_bf8] = 0x3c,
        [WMI_ELEMENT_fp6] = 0x08,       [WMI_ELEMENT_bf6] = 0x0c,
        [WMI_ELEMENT_fp4] = 0x2,
    };
    /* Without OCP, the exponent's bias is larger by one. */
    return codes[element] + (ocp ? 0 : element == WMI_ELEMENT_fp8 ? 8 : element == WMI_ELEMENT_bf8 ? 4 : 0);
}

static void put(unsigned operand, struct wmi_matrix_place place, uint64_t code)
{
    uint32_t *low = word(operand, place, 0);
    if (place.bits == 64) {
        *low = (uint32_t)code;
        *word(operand, place, 1) = (uint32_t)(code >> 32);
    } else {
        *low |= (uint32_t)code << place.bit;
        if (place.bit + place.bits > 32)
            *word(operand, place, 1) |= (uint32_t)(code >> (32 - place.bit));
    }
}

static double number_at(struct wmi_matrix_place place, unsigned element)
{
    const uint32_t low = *word(OF_D, place, 0);
    const uint32_t half = low >> place.bit & 0xffff;
    if (element == WMI_ELEMENT_f64) {
        const uint64_t bits = low | (uint64_t)*word(OF_D, place, 1) << 32;
        double value;
        memcpy(&value, &bits, sizeof value);
        return value;
    }
    if (element == WMI_ELEMENT_i32)
        return (int32_t)low;
    if (element == WMI_ELEMENT_f16) /* sums are small integers, or zeros */
        return half ? (double)(1024 + (half & 0x3ff)) * (double)(1u << (half >> 10)) / (1 << 25) : 0;
    const uint32_t bits = element == WMI_ELEMENT_f32 ? low : half << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static const struct wmi_op *stop(char *restrict of, const struct wmi_op *op)
{
    (void)of, (void)op;
    return NULL;
}

/* Formats of A and B of an f8f6f4, as encoded. */
static const uint8_t formats[] = {WMI_ELEMENT_fp8, WMI_ELEMENT_bf8, WMI_ELEMENT_fp6, WMI_ELEMENT_bf6,
                                  WMI_ELEMENT_fp4};

static void multiply(const struct wmi_target *target, unsigned id, unsigned of_a, unsigned of_b)
{
    const struct wmi_matrix *m = wmi_matrix_of(id);
    const unsigned wmma = wmi_target_limit(target, WMI_LIMIT_wmma_rules);
    const bool ocp = wmma || wmi_target_limit(target, WMI_LIMIT_fp8_ocp);
    static uint8_t a[16][MOST][MOST], b[16][MOST][MOST];
    unsigned extent[4][2];
    const uint32_t rows = (uint32_t)offsetof(struct wmi_frame, rows), row = 4 * lanes;
    memset(frame->rows, 0, (size_t)ROWS * row);
    for (unsigned side = WMI_SIDE_A; side <= WMI_SIDE_D; side++)
        assert_true(wmi_matrix_extent(target, id, (enum wmi_matrix_side)side, formats[side ? of_b : of_a],
                                      extent[side]));
    for (unsigned side = WMI_SIDE_A; side <= WMI_SIDE_B; side++)
        for (unsigned block = 0; block < m->blocks; block++)
            for (unsigned line = 0; line < extent[side][0]; line++)
                for (unsigned column = 0; column < extent[side][1]; column++) {
                    const struct wmi_matrix_place place =
                        wmi_matrix_place(target, id, (enum wmi_matrix_side)side, formats[side ? of_b : of_a],
                                         block, line, column);
                    const bool is_a = side == WMI_SIDE_A;
                    const unsigned element = m->a == WMI_ELEMENT_f8f6f4 ? formats[is_a ? of_a : of_b]
                                             : is_a                     ? m->a
                                                                        : m->b;
                    const unsigned one = random_below(2);
                    const uint64_t code = one ? code_of_one(element, ocp) : 0;
                    (is_a ? a : b)[block][line][column] = (uint8_t)one;
                    put(is_a ? OF_A : OF_B, place, code);
                    /* On gfx11, each further 16 lanes repeat the first ones. */
                    for (unsigned lane = 16; wmma == WMI_WMMA_RDNA3 && lane < lanes; lane += 16) {
                        struct wmi_matrix_place copy = place;
                        copy.lane = (uint8_t)(place.lane + lane);
                        put(is_a ? OF_A : OF_B, copy, code);
                    }
                }
    for (unsigned i = 0; m->sparse && i < 4 * lanes; i++)
        ((uint32_t *)frame->rows)[OF_C * lanes + i] = FIRST_TWO | (uint32_t)FIRST_TWO << 16;
    struct wmi_op op[2] = {{.body = wmi_sem_body(wmi_cpu_level(), lanes, id),
                            .d = rows + OF_D * row,
                            .a = rows + OF_A * row,
                            .b = rows + OF_B * row,
                            .c = rows + OF_C * row},
                           {.body = stop}};
    if (wmma) {
        op->value = id | (uint64_t)wmma << WMI_WMMA_RULES_AT;
        op->y = of_a << WMI_WMMA_A_FORMAT | of_b << WMI_WMMA_B_FORMAT;
    } else {
        op->value = wmi_matrix_pack(
            (struct wmi_matrix_use){.matrix = wmi_rows[id].matrix,
                                    .rules = (uint8_t)wmi_target_limit(target, WMI_LIMIT_matrix_rules),
                                    .cbsz = (uint8_t)of_a,
                                    .blgp = (uint8_t)of_b,
                                    .ocp = ocp});
    }
    for (const struct wmi_op *next = op; next;)
        next = next->body((char *)frame, next);
    for (unsigned block = 0; block < m->blocks; block++)
        for (unsigned i = 0; i < m->m; i++)
            for (unsigned j = 0; j < m->n; j++) {
                unsigned sum = 0;
                for (unsigned k = 0; k < extent[WMI_SIDE_A][1]; k++)
                    sum += a[block][i][k] * b[block][m->sparse ? k / 2 * 4 + k % 2 : k][j];
                const struct wmi_matrix_place place =
                    wmi_matrix_place(target, id, WMI_SIDE_D, 0, block, i, j);
                const double got = number_at(place, m->d);
                if (got != sum)
                    fail_msg("%s on %s, block %u, element %u, %u: %g; expected %u", wmi_rows[id].name,
                             wmi_target_name(target), block, i, j, got, sum);
            }
}

static bool visit(void *user, const struct wm_isa_form *form)
{
    struct {
        const struct wmi_target *target;
        unsigned count;
    } *all = user;
    const unsigned id = (unsigned)form->row + 1;
    unsigned extent[2];
    if (!wmi_matrix_extent(all->target, id, WMI_SIDE_A, WMI_ELEMENT_fp8, extent))
        return true;
    const unsigned count = wmi_matrix_of(id)->a == WMI_ELEMENT_f8f6f4 ? sizeof formats : 1;
    for (unsigned i = 0; i < count * count; i++)
        multiply(all->target, id, i / count, i % count);
    all->count++;
    return true;
}

static void test_places(void **state)
{
    static const struct {
        const char *target;
        unsigned instructions; /* at least */
    } targets[] = {{"gfx908", 20},         {"gfx90a", 24},         {"gfx942", 40},
                   {"gfx950", 54},         {"gfx1100:wave32", 6},  {"gfx1100:wave64", 6},
                   {"gfx1200:wave32", 20}, {"gfx1200:wave64", 20}, {"gfx1250", 46}};
    (void)state;
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        struct {
            const struct wmi_target *target;
            unsigned count;
        } all = {.target = wmi_target_find(targets[i].target)};
        assert_non_null(all.target);
        lanes = wmi_target_limit(all.target, WMI_LIMIT_wave);
        wm_isa_forms(targets[i].target, visit, &all);
        if (all.count < targets[i].instructions)
            fail_msg("%s: only %u matrix instructions", targets[i].target, all.count);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_places)};
    frame = aligned_alloc(64, offsetof(struct wmi_frame, rows) + (size_t)ROWS * 256);
    if (!frame)
        return 2;
    memset(frame, 0, offsetof(struct wmi_frame, rows));
    frame->mxcsr32 = frame->mxcsr64 = wmi_host_float_word(0, 3);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(frame);
    return failed;
}
