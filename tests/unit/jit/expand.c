/* SPDX-License-Identifier: MIT */
/* The representation of steps: what each part of a program becomes. */
#include "jit/expand/expand.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST_STEPS = 200, SGPR = 4 };

static struct wmi_code code;
static struct wmi_step steps[MOST_STEPS];
static struct wmi_block block = {.code = &code, .steps = steps, .mode = {.mode = 0xf0}};
static struct wmi_ir_part part;

static uint32_t row(unsigned vgpr)
{
    return code.vgpr_offset + vgpr * code.row_bytes;
}

static uint32_t scalar(unsigned sgpr)
{
    return (uint32_t)offsetof(struct wmi_frame, s) + SGPR * sgpr;
}

static void begin(unsigned lanes)
{
    const struct wmi_code_options options = {
        .target = wmi_target_find("gfx900"), .lanes = lanes, .vgprs = 16};
    wmi_code_init(&code, &options);
    memset(steps, 0, sizeof steps);
    block.count = 0;
}

/* A step on rows d, a, b and c. */
static struct wmi_step *add(unsigned id, unsigned d, unsigned a, unsigned b, unsigned c)
{
    const uint8_t read = WMI_USE_READ | WMI_USE_ROWS | 1;
    struct wmi_step *step = &steps[block.count++];
    *step = (struct wmi_step){.id = (uint16_t)id, .d = row(d), .a = row(a), .b = row(b), .c = row(c)};
    step->lanes = offsetof(struct wmi_frame, exec);
    step->use[WMI_OP_A] = step->use[WMI_OP_B] = step->use[WMI_OP_C] = read;
    step->use[WMI_OP_D] = WMI_USE_WRITE | read;
    return step;
}

static struct wmi_step *add_compare(unsigned id, unsigned sgpr, unsigned a, unsigned b)
{
    struct wmi_step *step = add(id, 0, a, b, 0);
    step->d = scalar(sgpr);
    step->use[WMI_OP_D] = WMI_USE_WRITE | WMI_USE_WORDS | WMI_USE_MASK;
    return step;
}

static struct wmi_step *add_scalar(unsigned id, unsigned d, unsigned a, unsigned b)
{
    struct wmi_step *step = &steps[block.count++];
    *step = (struct wmi_step){.id = (uint16_t)id, .d = scalar(d), .a = scalar(a), .b = scalar(b)};
    step->use[WMI_OP_A] = step->use[WMI_OP_B] = WMI_USE_READ | WMI_USE_WORDS | 2;
    step->use[WMI_OP_D] = WMI_USE_WRITE | WMI_USE_WORDS | 2;
    return step;
}

/* The text of the part that begins with step `from`, and the step behind it. */
static size_t expand(size_t from, char text[2000])
{
    size_t at = from;
    wmi_ir_part_begin(&part, &block, NULL);
    while (at < block.count && wmi_expands(&block, 0, &steps[at]) && wmi_ir_part_add(&part, at))
        at++;
    assert_true(wmi_ir_part_end(&part, at));
    assert_true(wmi_ir_print(&part.ir, text, 2000) < 2000);
    unsigned number;
    assert_null(wmi_ir_verify(&part.ir, &number));
    return at;
}

#define BODY(name) (WMI_STEP_BODIES + WMI_INSN_##name)

/* A row that two steps read is loaded once, and one that is written twice is stored once. */
static void test_rows_stay_in_registers(void **state)
{
    char text[2000], expected[2000];
    (void)state;
    begin(64);
    add(BODY(v_xor_b32), 1, 2, 3, 0);
    add(BODY(v_and_b32), 1, 1, 2, 0);
    assert_int_equal(expand(0, text), 2);
    snprintf(
        expected, sizeof expected,
        "%%0 = row.L 0x%x\n%%1 = row.L 0x%x\n%%2 = xor.L %%0 %%1\n%%3 = and.L %%2 %%0\nput_row.L 0x%x %%3\n",
        row(2), row(3), row(1));
    assert_string_equal(text, expected);
}

/* A sum that may be a NaN is repaired by the body of its step. */
static void test_float_is_repaired(void **state)
{
    char text[2000];
    (void)state;
    begin(64);
    add(BODY(v_add_f32), 1, 2, 3, 0);
    expand(0, text);
    assert_non_null(strstr(text, "fadd.L %0 %1"));
    assert_non_null(strstr(text, "repair.L 0x0 %2 %4 %0 %1"));
}

/* What a compare finds is used by a selection without going through the scalar file; it is stored there as
 * well. */
static void test_sets_stay_in_registers(void **state)
{
    char text[2000], expected[2000];
    (void)state;
    begin(64);
    add_compare(BODY(v_cmp_lt_i32), 10, 1, 2);
    struct wmi_step *select = add(BODY(v_cndmask_b32), 3, 1, 2, 0);
    select->c = scalar(10);
    select->use[WMI_OP_C] = WMI_USE_READ | WMI_USE_WORDS | WMI_USE_MASK;
    assert_int_equal(expand(0, text), 2);
    snprintf(expected, sizeof expected,
             "%%0 = row.L 0x%x\n%%1 = row.L 0x%x\n%%2 = lt_s.L %%0 %%1\n%%3 = select.L %%2 %%1 %%0\n"
             "put_mask.M 0x%x %%2\nput_row.L 0x%x %%3\n",
             row(1), row(2), scalar(10), row(3));
    assert_string_equal(text, expected);
}

/* A scalar that depends on lanes cannot be computed before them: another part begins. */
static void test_part_ends_before_scalar_of_lanes(void **state)
{
    char text[2000];
    (void)state;
    begin(64);
    add_compare(BODY(v_cmp_lt_i32), 10, 1, 2);
    add_scalar(BODY(s_and_b64), 12, 10, 14);
    assert_int_equal(expand(0, text), 1);
    assert_int_equal(expand(1, text), 2);
    assert_non_null(strstr(text, "and.D"));
}

/* The step that writes EXEC, or has another mode than the host, is interpreted. */
static void test_what_is_not_expanded(void **state)
{
    (void)state;
    begin(64);
    assert_false(wmi_expands(&block, 0, add_compare(BODY(v_cmp_lt_i32), WMI_S_EXEC, 1, 2)));
    assert_true(wmi_expands(&block, 0, add_compare(BODY(v_cmp_lt_i32), 10, 1, 2)));
    assert_false(
        wmi_expands(&block, 0, add(BODY(v_mac_f32), 1, 2, 3, 1))); /* flushes denormals, MODE does not */
    assert_true(wmi_expands(&block, 0, add(BODY(v_fma_f32), 1, 2, 3, 1)));
    struct wmi_step *clamps = add(BODY(v_add_u32), 1, 2, 3, 0);
    assert_true(wmi_expands(&block, 0, clamps));
    clamps->y = 1;
    assert_false(wmi_expands(&block, 0, clamps));
    assert_false(wmi_expands(&block, UINT64_C(1) << WMI_IR_clz, add(BODY(v_ffbh_u32), 1, 2, 0, 0)));
}

/* Steps that become many instructions are spread over parts, all of which can be made. */
static void test_long_runs_are_cut(void **state)
{
    static char text[1 << 17];
    unsigned parts = 0;
    (void)state;
    begin(64);
    for (unsigned i = 0; i < MOST_STEPS; i++)
        add(BODY(v_rsq_f32), i % 16, (i + 7) % 16, 0, 0);
    for (size_t at = 0; at < block.count; parts++) {
        wmi_ir_part_begin(&part, &block, NULL);
        const size_t first = at;
        while (at < block.count && wmi_ir_part_add(&part, at))
            at++;
        assert_true(at > first && wmi_ir_part_end(&part, at));
        assert_true(wmi_ir_print(&part.ir, text, sizeof text) < sizeof text);
    }
    assert_in_range(parts, 2, 8);
}

/* In waves of 32 lanes a set is one word, and the word behind it stays. */
static void test_sets_of_32_lanes(void **state)
{
    char text[2000], load[40];
    (void)state;
    begin(32);
    struct wmi_step *select = add(BODY(v_cndmask_b32), 3, 1, 2, 0);
    select->c = scalar(11);
    select->use[WMI_OP_C] = WMI_USE_READ | WMI_USE_WORDS | WMI_USE_MASK;
    expand(0, text);
    snprintf(load, sizeof load, "load.W 0x%x\n", scalar(11));
    assert_non_null(strstr(text, load));
    assert_null(strstr(text, "load.D"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_stay_in_registers),
        cmocka_unit_test(test_float_is_repaired),
        cmocka_unit_test(test_sets_stay_in_registers),
        cmocka_unit_test(test_part_ends_before_scalar_of_lanes),
        cmocka_unit_test(test_what_is_not_expanded),
        cmocka_unit_test(test_long_runs_are_cut),
        cmocka_unit_test(test_sets_of_32_lanes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
