/* SPDX-License-Identifier: MIT */
/* Prints instructions that differ from an earlier one in register numbers only, without decoding them: the
 * tables give the positions of the numbers in the words, the earlier text their positions in the text. */
#include "isa/text/word_pattern.h"
#include "isa/text/pattern.h"

#include <assert.h>
#include <string.h>

enum {
    TUPLE_SGPRS = 104, /* SGPRs that tuples of three and more can use; applied to all */
    VGPR_0 = 256,
    LITERAL = 255,
    VGPR_BITS = 0xff,
    HALF_BITS = 0x7f, /* register number beside the bit for the half */
    SGPR_BITS = 0x7f,
    BLOCK = 16, /* bytes of text per copy */
};
static_assert(WMI_WORD_ROOM >=
                      WMI_WORD_TEXT + (WMI_WORD_SLOTS + 1) * sizeof(struct wmi_word_number) + 2 * BLOCK &&
                  WMI_WORD_UNITS <= UINT16_MAX,
              "room");

/* How an operand's bits encode a register number. */
enum numbered {
    NOWHERE, /* not replaced: other bits are another pattern */
    VGPR,
    HALF,   /* a VGPR, or half of one */
    SOURCE, /* a VGPR from 256 on, an SGPR, or another value */
    SOURCE_HALF,
    SCALAR,
    PAIRS, /* of SGPRs, in units of 2; FOURS: of 4 */
    FOURS,
    SDWA,      /* a VGPR or scalar, chosen by another bit */
    SDWA_MASK, /* scalar or VCC, chosen by another bit */
    REFUSED,   /* the meaning depends on other registers, or on an extra dword */
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
    [WMI_KIND_scale_src] = REFUSED,
    [WMI_KIND_f8f6f4_a] = REFUSED,
    [WMI_KIND_f8f6f4_b] = REFUSED,
    [WMI_KIND_wmma_f8f6f4_a] = REFUSED,
    [WMI_KIND_wmma_f8f6f4_b] = REFUSED,
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

/* Values from `vgprs` on are VGPRs, numbered by the bits `vgpr`; SGPRs are numbered by the bits `sgpr` in
 * units of 1 << unit; if `literal` is set, 255 is a literal. */
static const struct rule {
    uint16_t vgprs;
    uint8_t vgpr, sgpr, unit;
    bool literal;
} rules[] = {
    [NOWHERE] = {.vgprs = UINT16_MAX},
    [VGPR] = {.vgprs = 0, .vgpr = VGPR_BITS},
    [HALF] = {.vgprs = 0, .vgpr = HALF_BITS},
    [SOURCE] = {.vgprs = VGPR_0, .vgpr = VGPR_BITS, .sgpr = SGPR_BITS, .literal = true},
    [SOURCE_HALF] = {.vgprs = VGPR_0, .vgpr = HALF_BITS, .sgpr = SGPR_BITS, .literal = true},
    [SCALAR] = {.vgprs = UINT16_MAX, .sgpr = SGPR_BITS, .literal = true},
    [PAIRS] = {.vgprs = UINT16_MAX, .sgpr = SGPR_BITS, .unit = 1},
    [FOURS] = {.vgprs = UINT16_MAX, .sgpr = SGPR_BITS, .unit = 2},
};
static_assert(sizeof rules / sizeof rules[0] == WMI_WORD_RULES, "a table of values for each");

/* Words with the register numbers taken out, and the numbers. */
struct parted {
    uint64_t words;
    const struct wmi_word_form *form;
    unsigned dwords;
    uint8_t number[WMI_WORD_SLOTS]; /* by field; 0 if not a register */
};

static unsigned sgprs_of(const struct wmi_target *target)
{
    const unsigned sgprs = target->limits[WMI_LIMIT_sgprs];
    return sgprs < TUPLE_SGPRS ? sgprs : TUPLE_SGPRS;
}

/* ---- forms ---- */

static void make_values(struct wmi_word_patterns *patterns, unsigned number)
{
    const struct rule *rule = &rules[number];
    const unsigned sgprs = sgprs_of(patterns->target);
    if (patterns->has_values[number])
        return;
    patterns->has_values[number] = true;
    for (unsigned value = 0; value < WMI_WORD_VALUES; value++) {
        const bool sgpr = value << rule->unit < sgprs;
        const uint8_t mask = value >= rule->vgprs ? rule->vgpr : sgpr ? rule->sgpr : 0;
        patterns->value[number * WMI_WORD_VALUES + value] =
            (struct wmi_word_value){.number = (uint8_t)((value & mask) << rule->unit),
                                    .mask = mask,
                                    .is_register = mask,
                                    .literal = rule->literal && value == LITERAL};
    }
}

/* Sets the rules of an operand for both values of the selector bit. */
static void choose_rules(struct wmi_word_patterns *patterns, const struct wmi_spec *spec,
                         struct wmi_word_field *field)
{
    enum { HALF_TYPE = 16 };
    enum numbered how = numbered[spec->kind], other = how;
    const bool whole = wmi_type_bits(spec->type) != HALF_TYPE;
    if (how == HALF || how == SOURCE_HALF)
        how = other = !whole ? how : how == HALF ? VGPR : SOURCE;
    if (how == SDWA || how == SDWA_MASK) {
        other = SCALAR;
        how = how == SDWA ? VGPR : NOWHERE;
        field->selector = spec->alt;
    }
    field->values[0] = (uint16_t)(how * WMI_WORD_VALUES);
    field->values[1] = (uint16_t)(other * WMI_WORD_VALUES);
    make_values(patterns, how);
    make_values(patterns, other);
}

static void make_form(struct wmi_word_patterns *patterns, struct wmi_word_form *made, unsigned number)
{
    const struct wmi_form *form = &wmi_forms[number];
    *made = (struct wmi_word_form){.form = (uint16_t)number, .dwords = wmi_layouts[form->layout].dwords};
    made->refused = !number || made->dwords > 2;
    for (unsigned i = 0; i < form->specs && !made->refused; i++) {
        const struct wmi_spec *spec = &wmi_specs[form->spec + i];
        const enum numbered how = numbered[spec->kind];
        if (how == NOWHERE)
            continue;
        if (how == REFUSED || made->fields == WMI_WORD_SLOTS) {
            made->refused = true;
            break;
        }
        struct wmi_word_field *field = &made->field[made->fields];
        *field = (struct wmi_word_field){.pos = spec->pos, .mask = (uint16_t)((1u << spec->width) - 1)};
        choose_rules(patterns, spec, field);
        made->operand[made->fields++] = (uint8_t)i;
    }
    /* Only two possible numbers of fields, which makes loops more predictable. */
    made->fields = made->fields <= WMI_WORD_FEW ? WMI_WORD_FEW : WMI_WORD_SLOTS;
}

static const struct wmi_word_form *form_of(struct wmi_word_patterns *patterns, uint64_t word)
{
    const unsigned number = wmi_find_form(patterns->target, word, 0);
    struct wmi_word_form *form = &patterns->form[number % WMI_WORD_FORMS];
    if (form->form != number || !number)
        make_form(patterns, form, number);
    return form;
}

static inline struct wmi_word_value value_of(const struct wmi_word_patterns *patterns,
                                             const struct wmi_word_field *field, uint64_t two)
{
    return patterns->value[field->values[two >> field->selector & 1] + (two >> field->pos & field->mask)];
}

/* Takes the register numbers out of the words; returns whether a literal follows. */
static inline bool take_numbers(const struct wmi_word_patterns *patterns, const struct wmi_word_form *form,
                                unsigned fields, uint64_t two, struct parted *parted)
{
    uint64_t left = form->dwords > 1 ? two : (uint32_t)two;
    bool literal = false;
    for (unsigned i = 0; i < fields; i++) {
        const struct wmi_word_field *field = &form->field[i];
        const struct wmi_word_value value = value_of(patterns, field, two);
        parted->number[i] = value.number;
        left &= ~((uint64_t)(value.mask & field->mask) << field->pos);
        literal |= value.literal;
    }
    parted->words = left;
    return literal;
}

/* Returns false if such words cannot have patterns. */
static inline bool part(struct wmi_word_patterns *patterns, uint64_t two, size_t available,
                        struct parted *parted)
{
    const struct wmi_word_form *form = form_of(patterns, two);
    if (form->refused || form->dwords > available)
        return false;
    const bool literal = form->fields == WMI_WORD_FEW
                             ? take_numbers(patterns, form, WMI_WORD_FEW, two, parted)
                             : take_numbers(patterns, form, WMI_WORD_SLOTS, two, parted);
    parted->form = form;
    parted->dwords = form->dwords;
    if (!literal)
        return true;
    if (form->dwords > 1 || available < 2)
        return false;
    parted->dwords = 2;
    parted->words |= two >> 32 << 32;
    return true;
}

/* The first of the two possible places for such words. */
static size_t place_of(const struct parted *parted)
{
    const uint64_t hash = (parted->words ^ (uint64_t)parted->form->form << 20) * UINT64_C(0x9e3779b97f4a7c15);
    return hash >> 40 & (WMI_WORD_PLACES - 2);
}

static bool is_of(const struct wmi_word_pattern *p, const struct parted *parted)
{
    return p->form == parted->form->form && p->words == parted->words;
}

static const struct wmi_word_pattern *pattern_at(const struct wmi_word_patterns *patterns, unsigned unit)
{
    return (const void *)&patterns->unit[unit];
}

/* The pattern for such words, or the empty pattern. */
static const struct wmi_word_pattern *find(const struct wmi_word_patterns *patterns,
                                           const struct parted *parted)
{
    const uint16_t *place = &patterns->place[place_of(parted)];
    const struct wmi_word_pattern *p = pattern_at(patterns, place[0]);
    p = is_of(p, parted) ? p : pattern_at(patterns, place[1]);
    return is_of(p, parted) ? p : pattern_at(patterns, 0);
}

/* Text being assembled from a pattern and register numbers. */
struct filled {
    char *to;
    const char *from;
    unsigned wrong; /* 0: all numbers are valid */
};

/* Copies the next `length` characters in blocks, at least `usual` blocks. */
static inline void put_piece(struct filled *filled, size_t length, unsigned usual, bool may_be_long)
{
    memcpy(filled->to, filled->from, usual * BLOCK);
    for (size_t i = usual * BLOCK; may_be_long && i < length; i += BLOCK)
        memcpy(filled->to + i, filled->from + i, BLOCK);
    filled->to += length;
    filled->from += length;
}

static inline void put_slot(const struct wmi_word_patterns *patterns, const struct wmi_word_slot *slot,
                            unsigned number, struct filled *filled)
{
    const struct wmi_word_number *name = &patterns->number[slot->dwords << 8 | number];
    filled->wrong |= (number > slot->last) | (number & slot->below_multiple);
    memcpy(filled->to, name, sizeof *name);
    filled->to += name->length;
}

/* Mnemonics, and modifiers after the last number, are longer than the text between numbers. */
enum { FIRST_BLOCKS = 2, BLOCKS = 1, LAST_BLOCKS = 2 };

static inline bool fill(const struct wmi_word_patterns *patterns, const struct wmi_word_pattern *p,
                        unsigned slots, const uint8_t *number, bool has_long_pieces, struct filled *filled)
{
    filled->from = (const char *)&p->slot[slots];
    put_piece(filled, p->slot[0].before, FIRST_BLOCKS, has_long_pieces);
    put_slot(patterns, &p->slot[0], number[0], filled);
    for (unsigned i = 1; i < slots; i++) {
        put_piece(filled, p->slot[i].before, BLOCKS, has_long_pieces);
        put_slot(patterns, &p->slot[i], number[i], filled);
    }
    put_piece(filled, p->behind, LAST_BLOCKS, has_long_pieces);
    return !filled->wrong;
}

const struct wmi_word_pattern *wmi_print_alike(struct wmi_word_patterns *patterns, uint64_t two,
                                               size_t available, char *text, uint32_t *length)
{
    struct parted parted;
    if (!part(patterns, two, available, &parted))
        return NULL;
    const struct wmi_word_pattern *p = find(patterns, &parted);
    if (!p->dwords)
        return NULL;
    struct filled filled = {.to = text};
    const bool filled_in = p->slots == WMI_WORD_FEW && !p->has_long_pieces
                               ? fill(patterns, p, WMI_WORD_FEW, parted.number, false, &filled)
                               : fill(patterns, p, p->slots, parted.number, true, &filled);
    if (!filled_in)
        return NULL;
    *filled.to = 0;
    *length = (uint32_t)(filled.to - text);
    return p;
}

void wmi_word_patterns_begin(struct wmi_word_patterns *patterns, const struct wmi_target *target)
{
    patterns->target = target;
}

/* ---- making patterns ---- */

/* Whether an operand without text stays so for all values of its bits. */
static bool may_be_silent(const struct wmi_spec *spec, const struct wmi_operand *o)
{
    if (o->kind == WMI_OPERAND_OFF)
        return spec->kind == WMI_KIND_buffer_addr || spec->kind == WMI_KIND_scratch_addr;
    return o->kind == WMI_OPERAND_NONE &&
           (spec->flags & WMI_SPEC_OPTIONAL || spec->kind == WMI_KIND_buffer_data ||
            spec->kind == WMI_KIND_global_data);
}

enum made { MADE, NEVER, NOT_OF_THESE };

enum { UNITS = 3 }; /* per pattern, at most */
static_assert(sizeof(struct wmi_word_pattern) + WMI_WORD_SLOTS * sizeof(struct wmi_word_slot) +
                      WMI_WORD_TEXT + WMI_WORD_SLOTS + sizeof(uint64_t) <=
                  UNITS * sizeof(struct wmi_word_unit),
              "room");

static const struct wmi_word_slot silent = {.last = UINT8_MAX};

/* Writes up to three digits; returns the end. */
static char *put_digits(char *to, unsigned number)
{
    if (number >= 100)
        *to++ = (char)('0' + number / 100);
    if (number >= 10)
        *to++ = (char)('0' + number / 10 % 10);
    *to++ = (char)('0' + number % 10);
    return to;
}

/* Makes the texts of all tuples of `dwords` registers. */
static void make_numbers(struct wmi_word_number *numbers, unsigned dwords)
{
    for (unsigned first = 0; first + dwords <= 256; first++) {
        char *end = put_digits(numbers[first].text, first);
        if (dwords > 1) {
            *end++ = ':';
            end = put_digits(end, first + dwords - 1);
        }
        numbers[first].length = (uint8_t)(end - numbers[first].text);
    }
}

/* Sets the bounds of the register number, which are those of decode.c. */
static enum made make_slot(struct wmi_word_patterns *patterns, const struct wmi_operand *o, unsigned number,
                           struct wmi_word_slot *slot)
{
    const bool sgpr = o->kind == WMI_OPERAND_SGPR;
    const unsigned registers = sgpr ? sgprs_of(patterns->target) : 256, multiple = !sgpr ? 1
                                                                                   : o->dwords > 2
                                                                                       ? 4
                                                                                       : o->dwords;
    if (o->dwords > registers || o->dwords >= WMI_WORD_SIZES)
        return NEVER;
    slot->dwords = o->dwords;
    slot->last = (uint8_t)(registers - o->dwords);
    slot->below_multiple = (uint8_t)(multiple - 1);
    if (!patterns->number[o->dwords << 8].length)
        make_numbers(&patterns->number[o->dwords << 8], o->dwords);
    return number > slot->last || number & slot->below_multiple ? NOT_OF_THESE : MADE;
}

static uint64_t two_dwords(const struct wmi_instruction *insn)
{
    return insn->words[0] | (insn->dwords > 1 ? (uint64_t)insn->words[1] << 32 : 0);
}

/* The registers of the text must be the operands, in the same order. */
static enum made make_slots(struct wmi_word_patterns *patterns, const struct parted *parted,
                            const struct wmi_instruction *insn, const struct wmi_key *key,
                            struct wmi_word_pattern *pattern)
{
    const uint64_t two = two_dwords(insn);
    unsigned shown = 0;
    for (unsigned i = 0; i < pattern->slots; i++) {
        const unsigned operand = parted->form->operand[i];
        const struct wmi_operand *o = &insn->operand[operand];
        pattern->slot[i] = silent;
        if (!value_of(patterns, &parted->form->field[i], two).is_register ||
            may_be_silent(&wmi_specs[wmi_forms[insn->form].spec + operand], o))
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
    return shown == key->slots ? MADE : NEVER;
}

/* Copies characters up to the next mark, at most `most`, eight at a time; returns their number. */
static unsigned copy_to_mark(char *to, const char *from, unsigned most)
{
    unsigned length = 0;
    uint64_t eight, marks = 0;
    while (!marks && length < most) {
        memcpy(&eight, from + length, sizeof eight);
        memcpy(to + length, &eight, sizeof eight);
        marks = eight & UINT64_C(0x8080808080808080);
        length += marks ? (unsigned)__builtin_ctzll(marks) / 8 : sizeof eight;
    }
    return length < most ? length : most;
}

/* Writes the key's text with the letters and brackets of registers, but without their numbers. */
static bool make_text(const struct wmi_key *key, struct wmi_word_pattern *pattern, unsigned *characters)
{
    static const char letters[] = {
        [WMI_OPERAND_SGPR] = 's', [WMI_OPERAND_VGPR] = 'v', [WMI_OPERAND_AGPR] = 'a'};
    char *text = (char *)&pattern->slot[pattern->slots];
    unsigned length = 0, since = 0, slot = 0;
    if (key->length > WMI_WORD_TEXT)
        return false;
    for (unsigned i = 0; i < key->length; i++) {
        const unsigned run = copy_to_mark(text + length, key->text + i, key->length - i);
        length += run;
        i += run;
        if (length + 3 > WMI_WORD_TEXT)
            return false;
        if (i >= key->length)
            break;
        const unsigned c = (unsigned char)key->text[i];
        const bool tuple = c >= WMI_MARK_TUPLE;
        text[length++] = letters[c - (tuple ? WMI_MARK_TUPLE : WMI_MARK_REGISTER)];
        if (tuple)
            text[length++] = '[';
        while (!pattern->slot[slot].dwords)
            slot++;
        pattern->has_long_pieces |= length - since > (slot ? BLOCKS : FIRST_BLOCKS) * BLOCK;
        pattern->slot[slot++].before = (uint8_t)(length - since);
        since = length;
        if (tuple) {
            text[length++] = ']';
            i++;
        }
    }
    pattern->has_long_pieces |= length - since > LAST_BLOCKS * BLOCK;
    pattern->behind = (uint8_t)(length - since);
    *characters = length;
    return true;
}

void wmi_keep_word_pattern(struct wmi_word_patterns *patterns, const struct wmi_instruction *insn,
                           const char *text, size_t length, bool branch)
{
    struct parted parted;
    struct wmi_key key;
    if (!part(patterns, two_dwords(insn), insn->dwords, &parted) || find(patterns, &parted)->form)
        return;
    union {
        struct wmi_word_unit units[UNITS];
        struct wmi_word_pattern pattern;
    } made_here = {0};
    struct wmi_word_pattern *pattern = &made_here.pattern;
    *pattern = (struct wmi_word_pattern){.words = parted.words,
                                         .form = parted.form->form,
                                         .dwords = insn->dwords,
                                         .branch = branch,
                                         .target = (int16_t)insn->words[0],
                                         .slots = parted.form->fields};
    enum made made = NEVER;
    unsigned characters = 0;
    if (parted.dwords == insn->dwords && wmi_read_key(text, text + length, true, &key))
        made = make_slots(patterns, &parted, insn, &key, pattern);
    if (made == NOT_OF_THESE)
        return;
    if (made == NEVER || !make_text(&key, pattern, &characters))
        pattern->dwords = 0;
    const size_t bytes = sizeof *pattern + pattern->slots * sizeof pattern->slot[0] + characters;
    const unsigned count = (unsigned)((bytes + WMI_WORD_UNIT - 1) / WMI_WORD_UNIT);
    if (!patterns->units || patterns->units + count > WMI_WORD_UNITS) { /* first use, or full: restart */
        memset(patterns->place, 0, sizeof patterns->place);
        patterns->units = 1;
    }
    uint16_t *place = &patterns->place[place_of(&parted)];
    place[1] = place[0];
    place[0] = (uint16_t)patterns->units;
    memcpy(&patterns->unit[patterns->units], &made_here, count * WMI_WORD_UNIT);
    patterns->units += count;
}
