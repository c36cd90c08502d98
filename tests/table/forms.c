/* SPDX-License-Identifier: MIT */
/* Every form of every target with edge operands: the words that its tables describe decode to it and to
 * nothing else, and print under its name. Whether the tables are right, tests/oracle asks LLVM. */
#include "isa/tables.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { NO_SPACE = 255, SPACES = 255, WORDS = WMI_INSTRUCTION_DWORDS };

/* Operand codes at the borders of what codes mean: SGPRs, special registers, constants, literal, VGPRs. */
static const uint32_t edges[] = {0,   1,   100, 101, 105, 106, 124, 126, 127, 128, 192, 193,
                                 208, 209, 235, 240, 247, 248, 253, 254, 255, 256, 257, 511};
enum { EDGES = sizeof edges / sizeof *edges };

/* 9-bit codes that are no operand but the mark of another encoding: DPP8, SDWA, DPP. */
static bool marks_encoding(uint32_t code)
{
    return code == 0xe9 || code == 0xea || code == 0xf9 || code == 0xfa;
}

static void put(uint32_t *words, unsigned pos, unsigned width, uint32_t value)
{
    const uint32_t mask = (uint32_t)((UINT64_C(1) << width) - 1) << pos % 32;
    words[pos / 32] = (words[pos / 32] & ~mask) | (value << pos % 32 & mask);
}

/* The words of a form with each operand's field at the `edge`th value, but `varied` at `value`. */
static void make_words(uint32_t *words, const struct wmi_space *space, unsigned opcode,
                       const struct wmi_form *form, bool vgprs, unsigned varied, uint32_t value)
{
    memset(words, 0, WORDS * sizeof *words);
    for (unsigned i = 0; i < form->specs; i++) {
        const struct wmi_spec *spec = &wmi_specs[form->spec + i];
        if (spec->width)
            put(words, spec->pos, spec->width, i == varied ? value : vgprs && spec->width == 9 ? 256 : 0);
    }
    const uint64_t op = (uint64_t)(opcode & ((1u << space->width) - 1)) << space->pos |
                        (uint64_t)(opcode >> space->width) << space->pos2;
    const uint64_t head = ((uint64_t)words[1] << 32 | words[0]) & ~space->mask;
    words[0] = (uint32_t)(head | space->match | op);
    words[1] = (uint32_t)((head | space->match | op) >> 32);
    words[wmi_layouts[form->layout].dwords] = 0x12345678; /* if an operand says literal */
}

static bool takes_edge(const struct wmi_spec *spec, uint32_t value)
{
    return spec->width && (uint64_t)value >> spec->width == 0 && !(spec->width == 9 && marks_encoding(value));
}

/* True if the words decode; they must then be the form and nothing else. */
static bool decodes(const struct wmi_target *target, const uint32_t *words, unsigned number)
{
    const struct wmi_form *form = &wmi_forms[number];
    struct wmi_instruction insn;
    char text[512];
    const unsigned dwords = wmi_decode(target, words, WORDS, &insn);
    if (!dwords)
        return false;
    if (insn.form != number)
        fail_msg("%s: %08x %08x of %s decode as %s", target->name, words[0], words[1], form->name,
                 wmi_forms[insn.form].name);
    assert_int_equal(insn.id, form->id);
    assert_true(dwords >= wmi_layouts[form->layout].dwords);
    const size_t length = wmi_print(target, &insn, text, sizeof text);
    assert_true(length < sizeof text);
    assert_memory_equal(text, form->name, strlen(form->name));
    for (unsigned i = 0; i < insn.operands; i++) {
        const struct wmi_spec *spec = &wmi_specs[form->spec + i];
        if (spec->kind == WMI_KIND_vgpr && insn.operand[i].kind == WMI_OPERAND_VGPR)
            assert_int_equal(insn.operand[i].reg, words[spec->pos / 32] >> spec->pos % 32 & 0xff);
    }
    return true;
}

static void check_form(const struct wmi_target *target, const struct wmi_space *space, unsigned opcode)
{
    const unsigned number = space->forms[opcode];
    const struct wmi_form *form = &wmi_forms[number];
    uint32_t words[WORDS];
    bool reached = false;
    for (unsigned vgprs = 0; vgprs < 2; vgprs++) {
        make_words(words, space, opcode, form, vgprs, form->specs, 0);
        reached |= decodes(target, words, number);
        for (unsigned i = 0; i < form->specs; i++)
            for (unsigned e = 0; e < EDGES; e++)
                if (takes_edge(&wmi_specs[form->spec + i], edges[e])) {
                    make_words(words, space, opcode, form, vgprs, i, edges[e]);
                    reached |= decodes(target, words, number);
                }
    }
    if (!reached)
        fail_msg("%s: no words decode as %s, opcode 0x%x", target->name, form->name, opcode);
}

static void every_form_is_reached_by_its_words(void **state)
{
    (void)state;
    for (unsigned t = 0; t < wmi_target_count; t++) {
        const struct wmi_target *target = &wmi_targets[t];
        bool seen[SPACES] = {false};
        for (unsigned top = 0; top < 512; top++)
            for (const uint8_t *c = target->candidates + target->first[top]; *c != NO_SPACE; c++)
                seen[*c] = true;
        unsigned forms = 0;
        for (unsigned s = 0; s < SPACES; s++) {
            if (!seen[s] || s == target->second)
                continue;
            const struct wmi_space *space = &target->spaces[s];
            for (unsigned opcode = 0; opcode < 1u << (space->width + space->width2); opcode++)
                if (space->forms[opcode]) {
                    forms++;
                    check_form(target, space, opcode);
                }
        }
        assert_true(forms > 1000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_form_is_reached_by_its_words)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
