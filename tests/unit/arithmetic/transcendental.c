/* SPDX-License-Identifier: MIT */
/* Transcendentals of gfx11 and gfx12 by what is published of the hardware: digests of captured results (exp2
 * and log2), the share of results that are not the nearest number (rcp, rsq, sqrt), and special values.
 * Source: captures on gfx1100 and gfx1201 in ROCm/rocm-systems, emulation/rocjitsu. Sines and halves against
 * the host's functions. */
#include "wavemem/wavemem.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
// clang-format off
#include <cmocka.h>
// clang-format on

#include "unit/ok.h"

#include "reduced.h"

enum { SIGNIFICANDS = 1 << 23, GROUP = 256 };

/* The results of an instruction for `count` numbers, of which v2 has the first one's bits: those of lane i
 * are made of i, in v1, by `input`. Free them. */
static uint32_t *results(const char *target, uint32_t count, const char *input, const char *instruction)
{
    char text[2048], *messages = NULL;
    uint8_t *bytes;
    size_t size;
    struct wm_object *object;
    struct wm_machine *machine;
    const struct wm_kernel *kernel;
    struct wm_result result = {.struct_size = sizeof result};
    uint64_t out;
    const int written = snprintf(
        text, sizeof text,
        ".amdgcn_target \"amdgcn-amd-amdhsa--%s\"\n.text\n.globl k\n.p2align 8\n.type k,@function\nk:\n"
        "s_load_b64 s[4:5], s[0:1], 0\nv_lshl_add_u32 v1, %s, 8, v0\n%s\n%s v3, v2\n"
        "v_lshlrev_b32 v4, 2, v1\ns_waitcnt lgkmcnt(0)\nglobal_store_b32 v4, v3, s[4:5]\ns_endpgm\n"
        ".rodata\n.p2align 6\n.amdhsa_kernel k\n.amdhsa_next_free_vgpr 8\n.amdhsa_next_free_sgpr 16\n"
        ".amdhsa_kernarg_size 8\n.amdhsa_user_sgpr_kernarg_segment_ptr 1\n.end_amdhsa_kernel\n",
        target, target[4] == '2' ? "ttmp9" : "s2", input, instruction);
    if (target[4] == '2')
        memcpy(strstr(text, "s_waitcnt lgkmcnt(0)"), "s_wait_kmcnt 0      ", 20);
    if (wm_assemble(text, (size_t)written, "kernel", target, 0, &bytes, &size, &messages, &diag))
        fail_msg("%s: %s", target, messages ? messages : diag.message);
    OK(wm_object_open(bytes, size, "kernel", target, &object, &diag));
    free(bytes);
    free(messages);
    OK(wm_object_find_kernel(object, "k", &kernel, &diag));
    OK(wm_machine_create(target, &machine, &diag));
    OK(wm_load(machine, object, &diag));
    OK(wm_allocate(machine, 4 * (uint64_t)count, 0, "out", &out, &diag));
    const struct wm_dispatch dispatch = {.struct_size = sizeof dispatch,
                                         .grid = {count},
                                         .workgroup = {GROUP},
                                         .arguments = &out,
                                         .arguments_size = sizeof out,
                                         .threads = 1};
    OK(wm_dispatch(machine, object, kernel, &dispatch, &result, &diag));
    if (result.fault.kind)
        fail_msg("%s: %s", target, result.fault.text);
    uint32_t *copy = malloc(4 * (size_t)count);
    assert_non_null(copy);
    memcpy(copy, wm_host_pointer(machine, out, 4 * (uint64_t)count), 4 * (size_t)count);
    wm_machine_destroy(machine);
    wm_object_close(object);
    return copy;
}

static float float_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static uint64_t digest_of(const uint32_t *words)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (uint32_t i = 0; i < SIGNIFICANDS; i++)
        hash = (hash ^ words[i]) * UINT64_C(1099511628211);
    return hash;
}

static void has_digest(const char *target, const char *input, const char *instruction, uint64_t expected)
{
    uint32_t *words = results(target, SIGNIFICANDS, input, instruction);
    if (digest_of(words) != expected)
        fail_msg("%s: %s: digest %016llx, expected %016llx", target, instruction,
                 (unsigned long long)digest_of(words), (unsigned long long)expected);
    free(words);
}

static void captured_digests(void **state)
{
    (void)state;
    const char *fractions = "v_cvt_f32_u32 v2, v1\nv_mul_f32 v2, 0x34000000, v2"; /* i / 2^23 */
    const char *numbers = "v_add_nc_u32 v2, 0x3f800000, v1";
    has_digest("gfx1100", fractions, "v_exp_f32", UINT64_C(0xef14981b949b3960));
    has_digest("gfx1201", numbers, "v_log_f32", UINT64_C(0xdcabe314d2964004));
}

/* Percent of results for significands from 1 on, of one or two binades, that are not the nearest number. */
static double share_of_others(const char *instruction, double exact(double), unsigned binades)
{
    uint32_t wrong = 0;
    for (unsigned binade = 0; binade < binades; binade++) {
        uint32_t *words = results(
            "gfx1100", SIGNIFICANDS,
            binade ? "v_add_nc_u32 v2, 0x40000000, v1" : "v_add_nc_u32 v2, 0x3f800000, v1", instruction);
        for (uint32_t i = 0; i < SIGNIFICANDS; i++) {
            const float nearest = (float)exact((double)float_of((binade ? 0x40000000 : 0x3f800000) + i));
            const int32_t distance = (int32_t)(words[i] - bits_of(nearest));
            assert_true(distance >= -1 && distance <= 1);
            wrong += distance != 0;
        }
        free(words);
    }
    return 100.0 * wrong / binades / SIGNIFICANDS;
}

static double reciprocal(double x)
{
    return 1 / x;
}

static double reciprocal_root(double x)
{
    return 1 / sqrt(x);
}

static void published_shares(void **state)
{
    (void)state;
    assert_true(fabs(share_of_others("v_rcp_f32", reciprocal, 1) - 10.7) < 0.05);
    if (reduced())
        return;
    assert_true(fabs(share_of_others("v_rsq_f32", reciprocal_root, 2) - 11.0) < 0.05);
    assert_true(fabs(share_of_others("v_sqrt_f32", sqrt, 2) - 15.1) < 0.05);
}

/* Powers of two times a number give the same significand; denormals, zeros, infinities and NaNs. */
static void special_values(void **state)
{
    (void)state;
    static const struct {
        const char *instruction;
        uint32_t in, out;
    } cases[] = {
        {"v_rcp_f32", 0x00000000, 0x7f800000},  {"v_rcp_f32", 0x80000001, 0xff800000},
        {"v_rcp_f32", 0x7f800000, 0x00000000},  {"v_rcp_f32", 0xff800000, 0x80000000},
        {"v_rcp_f32", 0x7e800000, 0x00800000},  {"v_rcp_f32", 0x7e800001, 0x00000000},
        {"v_rcp_f32", 0xff000000, 0x80000000},  {"v_rcp_f32", 0x00800000, 0x7e800000},
        {"v_rcp_f32", 0xffc01234, 0xffc01234},  {"v_rcp_f32", 0x7f801234, 0x7fc01234},
        {"v_rsq_f32", 0x00000001, 0x7f800000},  {"v_rsq_f32", 0x80000000, 0xff800000},
        {"v_rsq_f32", 0x7f800000, 0x00000000},  {"v_rsq_f32", 0xbf800000, 0xffc00000},
        {"v_rsq_f32", 0x40800000, 0x3f000000},  {"v_rsq_f32", 0x00800000, 0x5f000000},
        {"v_sqrt_f32", 0x80000001, 0x80000000}, {"v_sqrt_f32", 0x7f800000, 0x7f800000},
        {"v_sqrt_f32", 0xff800000, 0xffc00000}, {"v_sqrt_f32", 0x40800000, 0x40000000},
        {"v_sqrt_f32", 0x00800000, 0x20000000}, {"v_exp_f32", 0x00000000, 0x3f800000},
        {"v_exp_f32", 0x43000000, 0x7f800000},  {"v_exp_f32", 0xc2fc0000, 0x00800000},
        {"v_exp_f32", 0xc2fc0001, 0x00000000},  {"v_exp_f32", 0xff800000, 0x00000000},
        {"v_log_f32", 0x00000001, 0xff800000},  {"v_log_f32", 0x80000000, 0xff800000},
        {"v_log_f32", 0x3f800000, 0x00000000},  {"v_log_f32", 0x7f800000, 0x7f800000},
        {"v_log_f32", 0xbf800000, 0xffc00000},  {"v_sin_f32", 0x43962000, 0x3f800000}, /* 300.25 turns */
        {"v_sin_f32", 0x7f800000, 0xffc00000},  {"v_cos_f32", 0xff800000, 0xffc00000},
        {"v_cos_f32", 0x00000000, 0x3f800000},  {"v_sin_f32", 0x80000000, 0x80000000},
        {"v_rcp_f16", 0x0000, 0x7c00},          {"v_rcp_f16", 0x4200, 0x3555},
        {"v_sqrt_f16", 0xbc00, 0xfe00},         {"v_rsq_f16", 0x4400, 0x3800},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (unsigned target = 0; target < 2; target++) {
            char input[64];
            snprintf(input, sizeof input, "v_mov_b32 v2, 0x%x\nv_mov_b32 v3, 0", cases[i].in);
            uint32_t *words = results(target ? "gfx1201" : "gfx1100", GROUP, input, cases[i].instruction);
            if (words[5] != cases[i].out)
                fail_msg("%s(0x%08x): 0x%08x, expected 0x%08x", cases[i].instruction, cases[i].in, words[5],
                         cases[i].out);
            free(words);
        }
}

static double sine(double x)
{
    return sin(2 * 3.14159265358979323846 * remainder(x, 1));
}

static double cosine(double x)
{
    return cos(2 * 3.14159265358979323846 * remainder(x, 1));
}

/* As isa/fidelity states. */
static void sines_are_close(void **state)
{
    (void)state;
    /* From -2^14 on, in steps of 2^-5 with some further bits. */
    const char *input =
        "v_mul_u32_u24 v2, 0x3ff, v1\nv_cvt_f32_u32 v2, v2\nv_fma_f32 v2, v2, 0x38800000, -2.0";
    for (unsigned i = 0; i < 2; i++) {
        uint32_t *words = results("gfx1100", 1 << 20, input, i ? "v_cos_f32" : "v_sin_f32");
        for (uint32_t at = 0; at < 1 << 20; at++) {
            const float x = fmaf((float)(at * 0x3ff), 0x1p-14f, -2.0f);
            const double exact = i ? cosine((double)x) : sine((double)x);
            if (fabs((double)float_of(words[at]) - exact) > 1e-7)
                fail_msg("%s(%a): %a, expected %a", i ? "v_cos_f32" : "v_sin_f32", (double)x,
                         (double)float_of(words[at]), exact);
        }
        free(words);
    }
}

static double value_of_half(uint32_t half)
{
    const uint32_t field = half >> 10 & 31, fraction = half & 1023;
    const double size = field == 31 ? (fraction ? (double)NAN : HUGE_VAL)
                        : field     ? ldexp(1024 + fraction, (int)field - 25)
                                    : ldexp(fraction, -24);
    return half & 0x8000 ? -size : size;
}

static uint32_t half_of(double x)
{
    const uint32_t sign = signbit(x) ? 0x8000 : 0;
    const double size = fabs(x);
    if (size >= 65520)
        return sign | 0x7c00;
    const int e = size < 0x1p-14 ? -14 : ilogb(size);
    const uint32_t m = (uint32_t)nearbyint(ldexp(size, 10 - e)); /* a carry moves into the exponent */
    return sign | (m < 1024 ? m : ((uint32_t)(e + 14) << 10) + m);
}

/* exp and log of halves are the nearest number, whatever MODE's rounding is. */
static void halves_are_nearest(void **state)
{
    (void)state;
    const char *input = "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 2, 2), 3\nv_mov_b32 v2, v1\nv_mov_b32 v3, 0";
    for (unsigned i = 0; i < 2; i++) {
        uint32_t *words = results("gfx1100", 1 << 16, input, i ? "v_log_f16" : "v_exp_f16");
        for (uint32_t half = 0; half < 1 << 16; half++) {
            const double x = value_of_half(half);
            if (isnan(x) || (i && x <= 0))
                continue;
            if (words[half] != half_of(i ? log2(x) : exp2(x)))
                fail_msg("%s(0x%04x): 0x%04x, expected 0x%04x", i ? "v_log_f16" : "v_exp_f16", half,
                         words[half], half_of(i ? log2(x) : exp2(x)));
        }
        free(words);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(captured_digests), cmocka_unit_test(published_shares),
                                       cmocka_unit_test(special_values), cmocka_unit_test(sines_are_close),
                                       cmocka_unit_test(halves_are_nearest)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
