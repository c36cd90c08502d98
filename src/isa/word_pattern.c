/* SPDX-License-Identifier: MIT */
/* Prints instructions that are like an earlier one but for the numbers of registers, without decoding them:
 * the tables say where numbers stand in the words, and the earlier one's text where they stand there. */
#include "isa/word_pattern.h"
#include "isa/pattern.h"

#include <stdio.h>
#include <string.h>

enum {
    TUPLE_SGPRS = 104, /* where SGPRs end for tuples of three and more */
    VGPR_0 = 256,
    LITERAL = 255,
    VGPR_BITS = 0xff,
    HALF_BITS = 0x7f, /* of a number beside the bit for the half */
    SGPR_BITS = 0x7f,
    BLOCK = 16, /* of text, copied at once */
};
static_assert(WMI_WORD_ROOM >= WMI_WORD_TEXT + WMI_WORD_SLOTS * 7 && WMI_WORD_PATTERNS <= UINT16_MAX, "room");

/* How an operand's bits say the number of a register. */
enum numbered {
    NOWHERE, /* they are not looked at here: other bits are other patterns */
    REFUSED, /* they mean something else with other registers beside them, or one dword more */
    VGPR,
    HALF,   /* a VGPR, or half of one */
    SOURCE, /* a VGPR from 256 on, an SGPR, or something else */
    SOURCE_HALF,
    SCALAR,
    PAIRS, /* of SGPRs */
    FOURS,
    SDWA,      /* by a bit elsewhere a VGPR or scalar */
    SDWA_MASK, /* by a bit elsewhere scalar or VCC */
};

static const uint8_t numbered[WMI_KIND_COUNT] = {
    [WMI_KIND_vgpr] = VGPR,
    [WMI_KIND_vgpr9] = SOURCE,
    [WMI_KIND_vgpr_t16] = HALF,
    [WMI_KIND_src_t16] = SOURCE_HALF,
    [WMI_KIND_src] = SOURCE,
    [WMI_KIND_src_nolit] = SOURCE,
    [WMI_KIND_ssrc] = SCALAR,
    [WMI_KIND_ssrc_nolit] = SCALAR,
    [WMI_KIND_sdst] = SCALAR,
    [WMI_KIND_sbase] = PAIRS,
    [WMI_KIND_srsrc] = FOURS,
    [WMI_KIND_sdwa_src] = SDWA,
    [WMI_KIND_sdwa_sdst] = SDWA_MASK,
    [WMI_KIND_agpr] = VGPR,
    [WMI_KIND_agpr9] = SOURCE,
    [WMI_KIND_acc_vgpr] = VGPR,
    [WMI_KIND_acc_src] = SOURCE,
    [WMI_KIND_agpr_src] = SOURCE,
    [WMI_KIND_sgpr9] = SCALAR,
    [WMI_KIND_saddr] = SCALAR,
    [WMI_KIND_smem_soffset] = SCALAR,
    [WMI_KIND_smem_soffset_zero] = SCALAR,
    [WMI_KIND_global_addr] = VGPR,
    [WMI_KIND_scratch_addr] = VGPR,
    [WMI_KIND_buffer_addr] = VGPR,
    [WMI_KIND_buffer_data] = VGPR,
    [WMI_KIND_global_data] = VGPR,
    [WMI_KIND_vopd_y_dst] = REFUSED,
    [WMI_KIND_shared_literal] = REFUSED,
    [WMI_KIND_smrd_offset_literal] = REFUSED,
    [WMI_KIND_image_addr] = REFUSED,
    [WMI_KIND_image_addr_dim] = REFUSED,
    [WMI_KIND_bvh_addr] = REFUSED,
    [WMI_KIND_image_data] = REFUSED,
    [WMI_KIND_gather_data] = REFUSED,
    [WMI_KIND_exp_source] = REFUSED,
};

/* Values from `vgprs` on are VGPRs, with the bits `vgpr` of them as number; those that are SGPRs count in
 * 1 << unit; 255 is a literal. */
static const struct rule {
    uint16_t vgprs;
    uint8_t vgpr, sgpr, unit;
    bool literal;
} rules[] = {
    [VGPR] = {.vgprs = 0, .vgpr = VGPR_BITS},
    [HALF] = {.vgprs = 0, .vgpr = HALF_BITS},
    [SOURCE] = {.vgprs = VGPR_0, .vgpr = VGPR_BITS, .sgpr = SGPR_BITS, .literal = true},
    [SOURCE_HALF] = {.vgprs = VGPR_0, .vgpr = HALF_BITS, .sgpr = SGPR_BITS, .literal = true},
    [SCALAR] = {.vgprs = UINT16_MAX, .sgpr = SGPR_BITS, .literal = true},
    [PAIRS] = {.vgprs = UINT16_MAX, .sgpr = SGPR_BITS, .unit = 1},
    [FOURS] = {.vgprs = UINT16_MAX, .sgpr = SGPR_BITS, .unit = 2},
};

/* Words without the numbers of registers, and these. */
struct parted {
    uint32_t words[2];
    unsigned form, dwords, slots;
    uint8_t number[WMI_WORD_SLOTS];
    uint8_t operand[WMI_WORD_SLOTS]; /* that has it */
};

static uint32_t bits(const uint32_t *words, unsigned pos, unsigned width)
{
    return words[pos / 32] >> pos % 32 & ((1u << width) - 1);
}

/* The rule that holds for the operand in these words; NOWHERE if none. */
static enum numbered rule_of(const struct wmi_spec *spec, const uint32_t *words)
{
    enum { HALF_TYPE = 16 };
    const enum numbered how = numbered[spec->kind];
    const bool whole = wmi_type_bits(spec->type) != HALF_TYPE;
    switch (how) {
    case HALF:
        return whole ? VGPR : HALF;
    case SOURCE_HALF:
        return whole ? SOURCE : SOURCE_HALF;
    case SDWA:
        return bits(words, spec->alt, 1) ? SCALAR : VGPR;
    case SDWA_MASK:
        return bits(words, spec->alt, 1) ? SCALAR : NOWHERE;
    default:
        return how;
    }
}

/* False: there are no patterns of such words. */
static bool part(const struct wmi_word_patterns *patterns, const uint32_t *words, size_t available,
                 struct parted *parted)
{
    const uint64_t word = words[0] | (available > 1 ? (uint64_t)words[1] << 32 : 0);
    parted->form = wmi_find_form(patterns->target, word);
    const struct wmi_form *form = &wmi_forms[parted->form];
    parted->dwords = wmi_layouts[form->layout].dwords;
    if (!parted->form || parted->dwords > available || parted->dwords > 2)
        return false;
    parted->words[0] = words[0];
    parted->words[1] = parted->dwords > 1 ? words[1] : 0;
    bool literal = false;
    unsigned slots = 0;
    const struct wmi_spec *spec = &wmi_specs[form->spec], *const end = spec + form->specs;
    for (; spec < end; spec++) {
        enum numbered how = numbered[spec->kind];
        if (how == NOWHERE)
            continue;
        if (how == REFUSED || slots == WMI_WORD_SLOTS)
            return false;
        how = how == VGPR || how == SOURCE || how == SCALAR ? how : rule_of(spec, words);
        const struct rule *rule = &rules[how];
        const uint32_t fields = (1u << spec->width) - 1,
                       value = words[spec->pos / 32] >> spec->pos % 32 & fields;
        const bool sgpr = value << rule->unit < patterns->sgprs;
        const uint32_t mask = value >= rule->vgprs ? rule->vgpr : sgpr ? rule->sgpr : 0;
        literal |= rule->literal && value == LITERAL;
        parted->number[slots] = (uint8_t)((value & mask) << rule->unit);
        parted->operand[slots] = (uint8_t)(spec - &wmi_specs[form->spec]);
        parted->words[spec->pos / 32] &= ~((mask & fields) << spec->pos % 32);
        slots += mask != 0;
    }
    parted->slots = slots;
    if (!literal)
        return true;
    if (parted->dwords > 1 || available < 2)
        return false;
    parted->dwords = 2;
    parted->words[1] = words[1];
    return true;
}

/* The first of the two places where such words may be. */
static size_t place_of(const struct parted *parted)
{
    const uint64_t words = parted->words[0] | (uint64_t)parted->words[1] << 32;
    const uint64_t hash = (words ^ (uint64_t)parted->form << 20) * UINT64_C(0x9e3779b97f4a7c15);
    return hash >> 40 & (WMI_WORD_PLACES - 2);
}

static bool is_of(const struct wmi_word_pattern *p, const struct parted *parted)
{
    return p->form == parted->form && p->words[0] == parted->words[0] && p->words[1] == parted->words[1];
}

/* The pattern of such words, or that of none. */
static const struct wmi_word_pattern *find(const struct wmi_word_patterns *patterns,
                                           const struct parted *parted)
{
    const uint16_t *place = &patterns->place[place_of(parted)];
    const struct wmi_word_pattern *p = &patterns->at[place[0]];
    p = is_of(p, parted) ? p : &patterns->at[place[1]];
    return is_of(p, parted) ? p : patterns->at;
}

/* Copies `length` characters; may touch a block more. */
static inline char *copy(char *to, const char *from, size_t length)
{
    size_t i = 0;
    do
        memcpy(to + i, from + i, BLOCK);
    while ((i += BLOCK) < length);
    return to + length;
}

static inline char *put_number(const struct wmi_word_patterns *patterns, char *to, unsigned number)
{
    memcpy(to, &patterns->number[number], sizeof patterns->number[0]);
    return to + patterns->number[number].length;
}

const struct wmi_word_pattern *wmi_print_alike(const struct wmi_word_patterns *patterns,
                                               const uint32_t *words, size_t available, char *text,
                                               uint32_t *length)
{
    struct parted parted;
    if (!part(patterns, words, available, &parted))
        return NULL;
    const struct wmi_word_pattern *p = find(patterns, &parted);
    if (!p->dwords)
        return NULL;
    char *to = text;
    const char *from = p->text;
    for (unsigned i = 0; i < p->slots; i++) {
        const struct wmi_word_slot *slot = &p->slot[i];
        const unsigned number = parted.number[i];
        if (!slot->dwords)
            continue;
        if (number > slot->last || number & slot->below_multiple)
            return NULL;
        to = put_number(patterns, copy(to, from, slot->before), number);
        from += slot->before;
        if (slot->dwords > 1) {
            *to = ':';
            to = put_number(patterns, to + 1, number + slot->dwords - 1u);
        }
    }
    to = copy(to, from, p->behind);
    *to = 0;
    *length = (uint32_t)(to - text);
    return p;
}

void wmi_word_patterns_begin(struct wmi_word_patterns *patterns, const struct wmi_target *target)
{
    const unsigned sgprs = target->limits[WMI_LIMIT_sgprs];
    patterns->target = target;
    patterns->sgprs = sgprs < TUPLE_SGPRS ? sgprs : TUPLE_SGPRS;
    for (unsigned i = 0; i < sizeof patterns->number / sizeof patterns->number[0]; i++) {
        char digits[12];
        patterns->number[i].length = (uint8_t)sprintf(digits, "%u", i);
        memcpy(patterns->number[i].text, digits, sizeof patterns->number[i].text);
    }
}

/* ---- making patterns ---- */

/* Whether an operand without text is so whatever its bits are. */
static bool may_be_silent(const struct wmi_spec *spec, const struct wmi_operand *o)
{
    if (o->kind == WMI_OPERAND_OFF)
        return spec->kind == WMI_KIND_buffer_addr || spec->kind == WMI_KIND_scratch_addr;
    return o->kind == WMI_OPERAND_NONE &&
           (spec->flags & WMI_SPEC_OPTIONAL || spec->kind == WMI_KIND_buffer_data ||
            spec->kind == WMI_KIND_global_data);
}

enum made { MADE, NEVER, NOT_OF_THESE };

/* The bounds of the numbers, as decode.c has them. */
static enum made make_slot(const struct wmi_word_patterns *patterns, const struct wmi_operand *o,
                           unsigned number, struct wmi_word_slot *slot)
{
    const bool sgpr = o->kind == WMI_OPERAND_SGPR;
    const unsigned registers = sgpr ? patterns->sgprs : 256, multiple = !sgpr           ? 1
                                                                        : o->dwords > 2 ? 4
                                                                                        : o->dwords;
    if (o->dwords > registers)
        return NEVER;
    slot->dwords = o->dwords;
    slot->last = (uint8_t)(registers - o->dwords);
    slot->below_multiple = (uint8_t)(multiple - 1);
    return number > slot->last || number & slot->below_multiple ? NOT_OF_THESE : MADE;
}

/* The registers of the text must be operands, in the same order. */
static enum made make_slots(const struct wmi_word_patterns *patterns, const struct parted *parted,
                            const struct wmi_instruction *insn, const struct wmi_key *key,
                            struct wmi_word_pattern *pattern)
{
    unsigned shown = 0;
    for (unsigned i = 0; i < parted->slots; i++) {
        const unsigned operand = parted->operand[i];
        const struct wmi_operand *o = &insn->operand[operand];
        if (may_be_silent(&wmi_specs[wmi_forms[insn->form].spec + operand], o))
            continue;
        if (shown == key->slots || key->slot[shown].file != o->kind || key->slot[shown].dwords != o->dwords)
            return NEVER;
        const enum made made = make_slot(patterns, o, parted->number[i], &pattern->slot[i]);
        if (made != MADE)
            return made;
        if (key->slot[shown].number != o->reg || o->reg != parted->number[i])
            return NEVER;
        shown++;
    }
    pattern->slots = (uint8_t)parted->slots;
    return shown == key->slots ? MADE : NEVER;
}

/* The text of the key with the letters and brackets of registers, but without their numbers. */
static bool make_text(const struct wmi_key *key, struct wmi_word_pattern *pattern)
{
    static const char letters[] = {
        [WMI_OPERAND_SGPR] = 's', [WMI_OPERAND_VGPR] = 'v', [WMI_OPERAND_AGPR] = 'a'};
    enum { MOST = WMI_WORD_TEXT - BLOCK };
    unsigned length = 0, since = 0, slot = 0;
    for (unsigned i = 0; i < key->length; i++) {
        const unsigned c = (unsigned char)key->text[i];
        if (length + 3 > MOST)
            return false;
        if (c < WMI_MARK_REGISTER) {
            pattern->text[length++] = (char)c;
            continue;
        }
        const bool tuple = c >= WMI_MARK_TUPLE;
        pattern->text[length++] = letters[c - (tuple ? WMI_MARK_TUPLE : WMI_MARK_REGISTER)];
        if (tuple)
            pattern->text[length++] = '[';
        while (!pattern->slot[slot].dwords)
            slot++;
        pattern->slot[slot++].before = (uint8_t)(length - since);
        since = length;
        if (tuple) {
            pattern->text[length++] = ']';
            i++;
        }
    }
    pattern->behind = (uint8_t)(length - since);
    return true;
}

void wmi_keep_word_pattern(struct wmi_word_patterns *patterns, const struct wmi_instruction *insn,
                           const char *text, size_t length, bool branch)
{
    struct parted parted;
    struct wmi_key key;
    if (!part(patterns, insn->words, insn->dwords, &parted) || find(patterns, &parted)->form)
        return;
    struct wmi_word_pattern pattern = {.words = {parted.words[0], parted.words[1]},
                                       .form = (uint16_t)parted.form,
                                       .dwords = insn->dwords,
                                       .branch = branch,
                                       .target = (int16_t)insn->words[0]};
    enum made made = NEVER;
    if (parted.dwords == insn->dwords && wmi_read_key(text, text + length, true, &key))
        made = make_slots(patterns, &parted, insn, &key, &pattern);
    if (made == NOT_OF_THESE)
        return;
    if (made == NEVER || !make_text(&key, &pattern))
        pattern.dwords = 0;
    if (++patterns->count == WMI_WORD_PATTERNS) { /* begins again */
        memset(patterns->place, 0, sizeof patterns->place);
        patterns->count = 1;
    }
    uint16_t *place = &patterns->place[place_of(&parted)];
    place[1] = place[0];
    place[0] = (uint16_t)patterns->count;
    patterns->at[patterns->count] = pattern;
}
