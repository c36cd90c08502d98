/* SPDX-License-Identifier: MIT */
/* The compiler's representation: what is merged, computed and removed when it is made, its text, and
 * registers. */
#include "jit/allocate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct wmi_ir ir;

static unsigned add(enum wmi_ir_op op, enum wmi_ir_type type, unsigned a, unsigned b, uint64_t immediate)
{
    const uint16_t arguments[] = {(uint16_t)a, (uint16_t)b};
    return wmi_ir_add(&ir, op, type, arguments, immediate);
}

static unsigned word(uint32_t value)
{
    return wmi_ir_constant(&ir, WMI_IR_WORD, value);
}

static void begin(void)
{
    memset(&ir, 0, sizeof ir);
}

static void assert_text(const char *expected)
{
    char text[2000];
    assert_true(wmi_ir_print(&ir, text, sizeof text) < sizeof text);
    assert_string_equal(text, expected);
}

static void test_equal_values_are_one(void **state)
{
    (void)state;
    begin();
    const unsigned a = add(WMI_IR_row, WMI_IR_LANES, 0, 0, 0x1000),
                   b = add(WMI_IR_row, WMI_IR_LANES, 0, 0, 0x1100);
    const unsigned sum = add(WMI_IR_add, WMI_IR_LANES, a, b, 0);
    assert_int_equal(add(WMI_IR_add, WMI_IR_LANES, a, b, 0), sum);
    assert_int_not_equal(add(WMI_IR_sub, WMI_IR_LANES, a, b, 0), sum);
    /* a register may have changed in between */
    assert_int_not_equal(add(WMI_IR_row, WMI_IR_LANES, 0, 0, 0x1000), a);
}

static void test_constants_are_computed(void **state)
{
    uint64_t value;
    (void)state;
    begin();
    assert_int_equal(add(WMI_IR_add, WMI_IR_WORD, word(0xffffffff), word(2), 0), word(1));
    assert_int_equal(add(WMI_IR_shl, WMI_IR_WORD, word(3), word(33), 0), word(6)); /* modulo 32 */
    assert_int_equal(add(WMI_IR_not, WMI_IR_WORD, word(0), 0, 0), word(0xffffffff));
    const unsigned lanes = wmi_ir_constant(&ir, WMI_IR_LANES, 7);
    assert_int_equal(wmi_ir_type_of(&ir.insn[lanes]), WMI_IR_LANES);
    assert_true(wmi_ir_is_constant(&ir, lanes, &value) && value == 7);
}

static void test_what_changes_nothing_is_left_out(void **state)
{
    (void)state;
    begin();
    const unsigned row = add(WMI_IR_row, WMI_IR_LANES, 0, 0, 0x1000);
    assert_int_equal(add(WMI_IR_add, WMI_IR_LANES, row, word(0), 0), row);
    assert_int_equal(add(WMI_IR_and, WMI_IR_LANES, row, word(0xffffffff), 0), row);
    assert_int_equal(add(WMI_IR_shr, WMI_IR_LANES, row, word(0), 0), row);
    assert_int_equal(add(WMI_IR_mul, WMI_IR_LANES, row, word(1), 0), row);
    assert_int_not_equal(add(WMI_IR_and, WMI_IR_LANES, row, word(1), 0), row);
    assert_int_not_equal(add(WMI_IR_fadd, WMI_IR_LANES, row, word(0), 0), row); /* -0 + 0 = 0 */
}

static void test_unused_values_are_dead(void **state)
{
    (void)state;
    begin();
    const unsigned a = add(WMI_IR_row, WMI_IR_LANES, 0, 0, 0x1000),
                   b = add(WMI_IR_row, WMI_IR_LANES, 0, 0, 0x1100);
    add(WMI_IR_mul, WMI_IR_LANES, a, b, 0);
    const unsigned sum = add(WMI_IR_add, WMI_IR_LANES, a, word(5), 0);
    add(WMI_IR_put_row, WMI_IR_LANES, sum, 0, 0x1200);
    wmi_ir_sweep(&ir);
    assert_text(
        "%0 = row.L 0x1000\n%3 = const.W 0x5\n%4 = splat.L %3\n%5 = add.L %0 %4\nput_row.L 0x1200 %5\n");
}

static void test_types_must_fit(void **state)
{
    (void)state;
    begin();
    const unsigned row = add(WMI_IR_row, WMI_IR_LANES, 0, 0, 0x1000);
    add(WMI_IR_add, WMI_IR_WORD, row, word(1), 0);
    assert_true(ir.failed);
}

/* Too many instructions are refused, and nothing is written behind them. */
static void test_limit(void **state)
{
    (void)state;
    begin();
    for (unsigned i = 0; i < WMI_IR_MOST + 10; i++)
        add(WMI_IR_row, WMI_IR_LANES, 0, 0, i);
    assert_true(ir.failed);
    assert_int_equal(ir.count, WMI_IR_MOST);
}

static void test_text_is_read_back(void **state)
{
    static const char text[] =
        "%0 = load.D 0x1a8\n%1 = lanes.M %0\n%2 = row.L 0x2000\n%3 = feq.M %2 %2\n"
        "%4 = not.M %3\n%5 = repair.L 0x7 %2 %4 %2 %2 %2\n%6 = select.L %1 %2 %5\nput_mask.M 0x1a8 %4\n"
        "put_row.L 0x2100 %6\n";
    unsigned line;
    (void)state;
    assert_null(wmi_ir_parse(&ir, text, &line));
    assert_text(text);
}

static void test_wrong_text(void **state)
{
    static const struct {
        const char *text;
        unsigned line;
    } wrong[] = {
        {"%0 = add.L %1 %2", 1},                      /* of values that are not there */
        {"%0 = row.L 0x10\n%1 = sum.L %0 %0", 2},     /* no such operation */
        {"%0 = row.L 0x10\nput_row.L 0x20", 2},       /* an argument is missing */
        {"%0 = row.L 0x10\nput_row.L 0x20 %0 %0", 2}, /* one too many */
        {"row.L 0x10", 1},                            /* the value has no name */
        {"%0 = row.L", 1},
        {"%99999 = row.L 0x10", 1},
    };
    unsigned line;
    (void)state;
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_non_null(wmi_ir_parse(&ir, wrong[i].text, &line));
        assert_int_equal(line, wrong[i].line);
    }
    assert_non_null(
        wmi_ir_parse(&ir, "%0 = row.L 0x10\n%1 = flt.M %0 %0\n%2 = add.L %0 %1\n", &line)); /* of a set */
}

/* ---- registers ---- */

static bool takes_none(const struct wmi_ir *given, const struct wmi_ir_insn *insn, unsigned argument)
{
    (void)given, (void)insn, (void)argument;
    return false;
}

/* The last place, in the order of execution, where a value is used. */
static unsigned last_use(unsigned value)
{
    unsigned last = value;
    for (unsigned i = value; i < ir.count; i++)
        for (unsigned k = 0; k < wmi_ir_arguments((enum wmi_ir_op)ir.insn[i].op); k++)
            if (ir.insn[i].argument[k] == value)
                last = i;
    return last;
}

/* Of a chain of sums whose terms are all used again at the end, no two that live at once share a register or
 * a slot. */
static void test_living_values_are_apart(void **state)
{
    enum { TERMS = 12 };
    static struct wmi_registers registers;
    const struct wmi_register_file file = {.words = 0xf, .lanes = 0x1f, .takes = takes_none};
    (void)state;
    begin();
    unsigned terms[TERMS], sum = 0;
    for (unsigned i = 0; i < TERMS; i++)
        terms[i] = sum =
            i ? add(WMI_IR_add, WMI_IR_LANES, sum, add(WMI_IR_row, WMI_IR_LANES, 0, 0, 0x1000 + 0x100 * i), 0)
              : add(WMI_IR_row, WMI_IR_LANES, 0, 0, 0x1000);
    for (unsigned i = 0; i < TERMS; i++)
        sum = add(WMI_IR_xor, WMI_IR_LANES, sum, terms[i], 0);
    add(WMI_IR_put_row, WMI_IR_LANES, sum, 0, 0x3000);
    wmi_ir_sweep(&ir);
    wmi_allocate(&registers, &ir, &file);
    assert_true(registers.slots > 0);
    for (unsigned a = 0; a < ir.count; a++)
        for (unsigned b = a + 1; b < ir.count && !ir.insn[a].dead; b++) {
            if (ir.insn[b].dead || wmi_ir_type_of(&ir.insn[b]) == WMI_IR_NONE || last_use(a) <= b)
                continue;
            assert_true(registers.reg[a] != registers.reg[b] || registers.reg[a] == WMI_IN_SLOT);
            assert_true(registers.reg[a] != WMI_IN_SLOT || registers.slot[a] != registers.slot[b]);
        }
}

/* What is computed once is needed in each turn of the loop, so nothing there may take its register. */
static void test_what_the_loop_needs_stays(void **state)
{
    static struct wmi_registers registers;
    const struct wmi_register_file file = {.words = 0xf, .lanes = 0x7, .takes = takes_none};
    (void)state;
    begin();
    const unsigned factor = add(WMI_IR_splat, WMI_IR_LANES, add(WMI_IR_load, WMI_IR_WORD, 0, 0, 0x10), 0, 0);
    const unsigned product =
        add(WMI_IR_mul, WMI_IR_LANES, add(WMI_IR_row, WMI_IR_LANES, 0, 0, 0x1000), factor, 0);
    const unsigned sum =
        add(WMI_IR_add, WMI_IR_LANES, product, add(WMI_IR_row, WMI_IR_LANES, 0, 0, 0x1100), 0);
    add(WMI_IR_put_row, WMI_IR_LANES, sum, 0, 0x1200);
    wmi_ir_sweep(&ir);
    wmi_allocate(&registers, &ir, &file);
    for (unsigned i = factor + 1; i < ir.count; i++)
        if (wmi_ir_type_of(&ir.insn[i]) == WMI_IR_LANES)
            assert_int_not_equal(registers.reg[i], registers.reg[factor]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal_values_are_one),
        cmocka_unit_test(test_constants_are_computed),
        cmocka_unit_test(test_what_changes_nothing_is_left_out),
        cmocka_unit_test(test_unused_values_are_dead),
        cmocka_unit_test(test_types_must_fit),
        cmocka_unit_test(test_limit),
        cmocka_unit_test(test_text_is_read_back),
        cmocka_unit_test(test_wrong_text),
        cmocka_unit_test(test_living_values_are_apart),
        cmocka_unit_test(test_what_the_loop_needs_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
