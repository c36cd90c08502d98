/* SPDX-License-Identifier: MIT */
/* Every form of every target, with waves of both sizes and both true16 modes, with edge operands: the words
 * that its tables describe decode to it and to nothing else, and print under its name; the text is refused,
 * or makes the same words or others of the same text, and each form has text that brings its words back.
 * What is assembled or printed like another one but for registers must be what it is by itself. Opcodes that
 * no form has are no instruction. Whether the tables are right, tests/oracle asks LLVM. */
#include "isa/tables.h"
#include "isa/text/assemble.h"
#include "isa/text/word_pattern.h"
#include "reduced.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { NO_SPACE = 255, SPACES = 255, WORDS = WMI_INSTRUCTION_DWORDS, TEXT = 512 };

/* Forms that no text brings back: long encodings that print without a suffix, so that the short one is taken,
 * and DPP that LLVM's assembler does not have. */
/* gfx11, real true16, DPP: LLVM prints the second source as a whole register and wants a half of it. */
static const struct {
    uint16_t id;
    const char *name;
} lost[] = {
    {WMI_INSN_v_nop, "v_nop"},
    {WMI_INSN_v_clrexcp, "v_clrexcp"},
    {WMI_INSN_v_pipeflush, "v_pipeflush"},
    {WMI_INSN_v_readlane_b32, "v_readlane_b32"},
    {WMI_INSN_v_writelane_b32, "v_writelane_b32"},
    {WMI_INSN_v_mov_b16, "v_mov_b16_e64"},
    {WMI_INSN_v_mov_b16, "v_mov_b16_e64_dpp"},
    {WMI_INSN_v_add_f16, "v_add_f16_e64_dpp"},
    {WMI_INSN_v_sub_f16, "v_sub_f16_e64_dpp"},
    {WMI_INSN_v_subrev_f16, "v_subrev_f16_e64_dpp"},
    {WMI_INSN_v_mul_f16, "v_mul_f16_e64_dpp"},
    {WMI_INSN_v_max_f16, "v_max_f16_e64_dpp"},
    {WMI_INSN_v_min_f16, "v_min_f16_e64_dpp"},
};
enum { LOST = sizeof lost / sizeof *lost };

enum outcome { NO_INSTRUCTION, DECODES, COMES_BACK };
enum { FORMS = 1 << 16 }; /* that a number can tell apart */

/* What became of the texts of a target's words. */
struct texts {
    struct wmi_text_patterns *patterns;
    struct wmi_word_patterns *word_patterns;
    unsigned alike, printed; /* texts and words that another one had taught */
    unsigned same, canonical, refused, wrong;
    unsigned step;      /* through the edges */
    bool lost[LOST];    /* which of the forms so listed were met */
    enum outcome *best; /* of each form */
};

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

static bool reads_vgprs(const struct wmi_spec *spec)
{
    return spec->width == 9 && spec->kind != WMI_KIND_ssrc && spec->kind != WMI_KIND_ssrc_nolit &&
           spec->kind != WMI_KIND_sgpr9;
}

/* Modifiers that are not 0 in what text usually says. */
static void put_fields(uint32_t *words, const struct wmi_form *form)
{
    enum { ONE_COMPONENT = 1, AND_COMPARED = 3, ALL = 15, DWORD = 6, ROW_NEWBCAST = 0x150, MSAA = 6 };
    const struct wmi_instruction_layout *layout = &wmi_layouts[form->layout];
    const char *name = wmi_rows[form->id].name;
    for (unsigned i = 0; i < layout->fields; i++) {
        const struct wmi_field_spec *spec = &wmi_field_specs[layout->field + i];
        const bool selects = spec->show == WMI_SHOW_sdwa_select;
        const uint32_t value = spec->field == WMI_FIELD_dmask
                                   ? strstr(name, "cmpswap") ? AND_COMPARED : ONE_COMPONENT
                               : spec->field == WMI_FIELD_dim && strstr(name, "msaa")      ? MSAA
                               : spec->field == WMI_FIELD_op_sel_hi                        ? ALL
                               : spec->field == WMI_FIELD_lds && strstr(name, "store_lds") ? 1
                               : selects                                                   ? DWORD
                                                                                           : 0;
        if (value)
            put(words, spec->pos, spec->width, value);
        if (value && spec->width2)
            put(words, spec->pos2, spec->width2, value >> spec->width);
    }
}

/* VGPRs of the second half of a pair in three dwords, in other banks than those of the first half. */
static void put_second(uint32_t *words, const struct wmi_target *target)
{
    const unsigned opcode = 0, other_bank = 2;
    const struct wmi_form *form = &wmi_forms[target->spaces[target->second[1]].forms[opcode]];
    for (unsigned i = 0; i < form->specs; i++)
        if (wmi_specs[form->spec + i].kind == WMI_KIND_vgpr)
            put(words, wmi_specs[form->spec + i].pos, wmi_specs[form->spec + i].width, other_bank);
}

/* The words of a form with each operand's field at the `edge`th value, but `varied` at `value`. */
static void make_words(uint32_t *words, const struct wmi_target *target, const struct wmi_opcode_space *space,
                       unsigned opcode, const struct wmi_form *form, bool vgprs, unsigned varied,
                       uint32_t value)
{
    memset(words, 0, WORDS * sizeof *words);
    memcpy(words, wmi_canonical[form->canonical], sizeof wmi_canonical[0]);
    put_fields(words, form);
    if (wmi_layouts[form->layout].id == WMI_LAYOUT_vopd3_x)
        put_second(words, target);
    for (unsigned i = 0; i < form->specs; i++) {
        const struct wmi_spec *spec = &wmi_specs[form->spec + i];
        if (spec->width)
            put(words, spec->pos, spec->width, i == varied ? value : vgprs && reads_vgprs(spec) ? 256 : 0);
    }
    for (unsigned i = 0; i < 2; i++) {
        words[i] = (words[i] & ~(uint32_t)(space->mask >> 32 * i)) | (uint32_t)(space->match >> 32 * i);
        words[i + 2] = (words[i + 2] & ~(uint32_t)(space->later_mask >> 32 * i)) |
                       (uint32_t)(space->later_match >> 32 * i);
    }
    put(words, space->pos, space->width, opcode);
    if (space->width2)
        put(words, space->pos2, space->width2, opcode >> space->width);
    words[wmi_layouts[form->layout].dwords] = 0x1234; /* if an operand says literal */
}

static bool takes_edge(const struct wmi_spec *spec, uint32_t value)
{
    return spec->width && (uint64_t)value >> spec->width == 0 && !(spec->width == 9 && marks_encoding(value));
}

/* What patterns of earlier texts make of this one must be what it becomes by itself, if it does. */
static void check_pattern(const char *text, const struct wmi_instruction *insn, unsigned dwords,
                          const uint32_t *words, unsigned by_pattern)
{
    if (by_pattern && (by_pattern != dwords || memcmp(words, insn->words, 4u * dwords)))
        fail_msg("'%s' is %08x %08x, but by a pattern %08x %08x", text, insn->words[0], insn->words[1],
                 words[0], words[1]);
}

/* Takes lit64() off a literal: operands of 32 bits get one of 32 bits from it (LLVM 22). */
static void unmark_wide_literal(char *text)
{
    char *const mark = strstr(text, "lit64("), *const end = mark ? strchr(mark, ')') : NULL;
    if (!end)
        return;
    memmove(end, end + 1, strlen(end));
    memmove(mark, mark + strlen("lit64("), strlen(mark + strlen("lit64(")) + 1);
}

/* Takes ".l" off registers: whole registers in the text of LLVM 22 are lower halves. */
static void unmark_low_halves(char *text)
{
    char *to = text;
    for (const char *from = text; *from; from++)
        if (from[0] == '.' && from[1] == 'l')
            from++;
        else
            *to++ = *from;
    *to = 0;
}

/* Assembles the text of an instruction; true if that gives its words. Other words must be of the same row and
 * print alike but for the suffix. */
static bool comes_back(const struct wmi_target *target, const struct wmi_instruction *insn, const char *text,
                       struct texts *texts)
{
    struct wmi_instruction again, canonical;
    struct wmi_cursor cursor = {.at = text, .end = text + strlen(text), .patterns = texts->patterns};
    char other[TEXT], plain[TEXT];
    uint32_t words[WORDS];
    const unsigned by_pattern = wmi_assemble_alike(texts->patterns, text, cursor.end, words);
    const unsigned dwords = wmi_assemble(target, &cursor, &again, NULL);
    texts->alike += by_pattern != 0;
    check_pattern(text, &again, dwords, words, by_pattern);
    if (!dwords) {
        if (!cursor.wrong || cursor.wrong_at < text || cursor.wrong_at > cursor.end)
            fail_msg("%s: %s is refused without a word", target->name, text);
        texts->refused++;
        return false;
    }
    if (again.dwords == insn->dwords && !memcmp(again.words, insn->words, 4u * again.dwords)) {
        texts->same++;
        return true;
    }
    assert_int_equal(wmi_decode(target, again.words, again.dwords, &canonical), again.dwords);
    wmi_print(target, &canonical, other, sizeof other);
    snprintf(plain, sizeof plain, "%s", text);
    unmark_wide_literal(plain);
    unmark_wide_literal(other);
    if (!strstr(plain, ".l"))
        unmark_low_halves(other);
    const char *operands = strchr(plain, ' '), *others = strchr(other, ' ');
    if (canonical.id != insn->id || (operands && others ? strcmp(operands, others) : strcmp(plain, other)))
        print_error("%s: '%s' becomes '%s'\n", target->name, text, other), texts->wrong++;
    texts->canonical++;
    return false;
}

/* What patterns of earlier words print for these must be what they print by themselves, if they do. */
static void check_words(struct texts *texts, const uint32_t *words, const struct wmi_instruction *insn,
                        const char *text, size_t length)
{
    char alike[WMI_WORD_ROOM];
    uint32_t by_pattern;
    const struct wmi_word_pattern *pattern =
        wmi_print_alike(texts->word_patterns, words[0] | (uint64_t)words[1] << 32, WORDS, alike, &by_pattern);
    if (pattern && (pattern->dwords != insn->dwords || by_pattern != length || strcmp(alike, text) != 0))
        fail_msg("%08x %08x are '%s', but by a pattern '%s'", words[0], words[1], text, alike);
    texts->printed += pattern != NULL;
    if (!pattern && insn->dwords)
        wmi_keep_word_pattern(texts->word_patterns, insn, text, length, false);
}

/* What the words are; if an instruction, they must be of the form and of no other. */
static enum outcome outcome(const struct wmi_target *target, const uint32_t *words, unsigned number,
                            struct texts *texts)
{
    const struct wmi_form *form = &wmi_forms[number];
    struct wmi_instruction insn;
    char text[TEXT];
    const unsigned dwords = wmi_decode(target, words, WORDS, &insn);
    if (!dwords)
        check_words(texts, words, &insn, "no instruction", 0);
    if (!dwords)
        return NO_INSTRUCTION;
    if (insn.form != number)
        fail_msg("%s: %08x %08x of %s decode as %s", target->name, words[0], words[1], form->name,
                 wmi_forms[insn.form].name);
    assert_int_equal(insn.id, form->id);
    assert_true(dwords >= wmi_layouts[form->layout].dwords);
    const size_t length = wmi_print(target, &insn, text, sizeof text);
    assert_true(length < sizeof text);
    check_words(texts, words, &insn, text, length);
    assert_memory_equal(text, form->name, strlen(form->name));
    for (unsigned i = 0; i < insn.operands; i++) {
        const struct wmi_spec *spec = &wmi_specs[form->spec + i];
        if (spec->kind == WMI_KIND_vgpr && insn.operand[i].kind == WMI_OPERAND_VGPR)
            assert_int_equal(insn.operand[i].reg, words[spec->pos / 32] >> spec->pos % 32 & 0xff);
    }
    return comes_back(target, &insn, text, texts) ? COMES_BACK : DECODES;
}

static bool is_lost(const struct wmi_form *form, bool *seen)
{
    for (unsigned i = 0; i < LOST; i++)
        if (lost[i].id == form->id && !strcmp(lost[i].name, form->name))
            return seen[i] = true;
    return false;
}

static enum outcome furthest(enum outcome a, enum outcome b)
{
    return a > b ? a : b;
}

static void check_form(const struct wmi_target *target, const struct wmi_opcode_space *space, unsigned opcode,
                       struct texts *texts)
{
    const unsigned number = space->forms[opcode];
    const struct wmi_form *form = &wmi_forms[number];
    uint32_t words[WORDS];
    enum outcome best = NO_INSTRUCTION;
    for (unsigned vgprs = 0; vgprs < 2; vgprs++) {
        make_words(words, target, space, opcode, form, vgprs, form->specs, 0);
        best = furthest(best, outcome(target, words, number, texts));
        for (unsigned i = 0; i < form->specs; i++)
            for (unsigned e = 0; e < EDGES; e++)
                if ((e % texts->step == 0 || e == EDGES - 1) &&
                    takes_edge(&wmi_specs[form->spec + i], edges[e])) {
                    make_words(words, target, space, opcode, form, vgprs, i, edges[e]);
                    best = furthest(best, outcome(target, words, number, texts));
                }
    }
    if (best == NO_INSTRUCTION)
        fail_msg("%s: no words decode as %s, opcode 0x%x", target->name, form->name, opcode);
    texts->best[number] = furthest(texts->best[number], best);
}

/* A form may have words of an older encoding, too, which its text does not bring back. */
static void check_best(const struct wmi_target *target, struct texts *texts)
{
    for (unsigned number = 0; number < FORMS; number++)
        if (texts->best[number] == DECODES && !is_lost(&wmi_forms[number], texts->lost) && ++texts->wrong)
            print_error("%s: no text of %s brings its words back\n", target->name, wmi_forms[number].name);
}

/* The words of an opcode that the space has no form for: nothing, or an instruction of another space. */
static void check_unassigned(const struct wmi_target *target, const struct wmi_opcode_space *space,
                             unsigned opcode)
{
    static const struct wmi_form none;
    uint32_t words[WORDS];
    struct wmi_instruction insn;
    make_words(words, target, space, opcode, &none, false, 0, 0);
    if (!wmi_decode(target, words, WORDS, &insn))
        return;
    for (unsigned i = 0; i < 1u << (space->width + space->width2); i++)
        if (space->forms[i] && space->forms[i] == insn.form)
            fail_msg("%s: unassigned opcode 0x%x decodes as %s", target->name, opcode,
                     wmi_forms[insn.form].name);
}

/* Targets of one generation that have the same tables are looked at once. */
static bool is_like_another(unsigned t)
{
    const struct wmi_target *target = &wmi_targets[t];
    for (unsigned i = 0; i < t; i++)
        if (wmi_targets[i].spaces == target->spaces && wmi_targets[i].codes == target->codes &&
            wmi_targets[i].real_true16 == target->real_true16 &&
            !memcmp(wmi_targets[i].limits, target->limits, sizeof target->limits) &&
            !memcmp(wmi_targets[i].names, target->names, sizeof target->names))
            return true;
    return false;
}

static void every_form_is_reached_by_its_words(void **state)
{
    (void)state;
    bool met[LOST] = {false};
    unsigned wrong = 0;
    for (unsigned t = 0; t < wmi_target_variants; t++) {
        const struct wmi_target *target = &wmi_targets[t];
        if (is_like_another(t))
            continue;
        bool seen[SPACES] = {false};
        for (unsigned top = 0; top < 512; top++)
            for (const uint8_t *c = target->candidates + target->first[top]; *c != NO_SPACE; c++)
                seen[*c] = true;
        struct texts texts = {.step = reduced() ? 3 : 1,
                              .patterns = calloc(1, WMI_PATTERNS_BYTES),
                              .word_patterns = calloc(1, sizeof *texts.word_patterns),
                              .best = calloc(FORMS, sizeof *texts.best)};
        assert_non_null(texts.best);
        assert_non_null(texts.patterns);
        assert_non_null(texts.word_patterns);
        wmi_word_patterns_begin(texts.word_patterns, target);
        unsigned forms = 0;
        for (unsigned s = 0; s < SPACES; s++) {
            if (!seen[s] || s == target->second[0] || s == target->second[1])
                continue;
            const struct wmi_opcode_space *space = &target->spaces[s];
            for (unsigned opcode = 0; opcode < 1u << (space->width + space->width2); opcode++)
                if (space->forms[opcode]) {
                    forms++;
                    check_form(target, space, opcode, &texts);
                } else {
                    check_unassigned(target, space, opcode);
                }
        }
        printf("%s, waves of %u%s: of the texts %u give the same words, %u canonical ones, %u are refused; "
               "%u are made "
               "by patterns, and %u printed\n",
               target->name, target->limits[WMI_LIMIT_wave], target->real_true16 ? ", real true16" : "",
               texts.same, texts.canonical, texts.refused, texts.alike, texts.printed);
        free(texts.patterns);
        free(texts.word_patterns);
        check_best(target, &texts);
        free(texts.best);
        wrong += texts.wrong;
        for (unsigned i = 0; i < LOST; i++)
            met[i] |= texts.lost[i];
        assert_true(forms > 1000);
    }
    assert_int_equal(wrong, 0);
    for (unsigned i = 0; i < LOST; i++)
        if (!met[i])
            fail_msg("%s comes back everywhere: take it from the list", lost[i].name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_form_is_reached_by_its_words)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
