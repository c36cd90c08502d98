/* SPDX-License-Identifier: MIT */
/* Cache of assembled instructions, keyed by their text without register numbers, so that a similar
 * instruction takes one lookup and a few bit insertions: compiled code repeats instructions with other
 * registers. */
#include "isa/text/pattern.h"
#include "base/copy.h"
#include "isa/rules/legal.h"

#include <string.h>

enum {
    SGPR_CODES = 128,
    FEW_VGPRS = 128,   /* that 16-bit operands can name in short encodings */
    TUPLE_SGPRS = 104, /* SGPRs that tuples of three and more can use; applied to all */
    SMALL_MATRIX = 4,  /* most dwords of a result without overlap rules */
    MOST_TUPLE = 32,   /* dwords */
};

typedef uint8_t bytes16 __attribute__((vector_size(16)));
typedef uint64_t pair64 __attribute__((vector_size(16)));

/* The text, padded at both ends for reads around it. */
struct raw {
    char blank[WMI_KEY_PADDING]; /* only the last is set, to a blank */
    char text[WMI_PATTERN_TEXT + WMI_KEY_PADDING];
};

static uint64_t word_at(const char *text)
{
    uint64_t word;
    memcpy(&word, text, sizeof word);
    return word;
}

static bytes16 bytes_at(const char *text)
{
    bytes16 bytes;
    memcpy(&bytes, text, sizeof bytes);
    return bytes;
}

/* Copies eight bytes at a time; may write up to seven extra bytes. */
static char *copy(char *to, const char *from, size_t length)
{
    for (size_t i = 0; i < length; i += 8)
        memcpy(to + i, from + i, 8);
    return to + length;
}

/* Bit i of the result: byte i of the mask is all ones. */
static uint64_t bits_of(bytes16 mask)
{
    const pair64 ones = (pair64)mask & UINT64_C(0x0101010101010101);
    const uint64_t gather = UINT64_C(0x0102040810204080);
    return (ones[0] * gather >> 56) | (ones[1] * gather >> 56) << 8;
}

/* Bit i: a register may begin at character i, of the first 64. */
static uint64_t register_starts(const struct raw *raw, size_t length)
{
    enum { STEP = 16, MOST = 64 };
    uint64_t starts = 0;
    for (size_t i = 0; i < length && i < MOST; i += STEP) {
        const char *at = raw->text + i;
        const bytes16 before = bytes_at(at - 1), c = bytes_at(at), behind = bytes_at(at + 1);
        const bytes16 file = (bytes16)(c == 'v') | (bytes16)(c == 's') | (bytes16)(c == 'a');
        const bytes16 alone = (bytes16)(before < '0') | (bytes16)(before == '|');
        const bytes16 numbered = (bytes16)(behind - '0' < 10) | (bytes16)(behind == '[');
        starts |= bits_of(file & alone & numbered) << i;
    }
    return starts;
}

/* Reads a number of up to three digits; returns the number of digits. */
static unsigned read_digits(const char *at, unsigned *number)
{
    enum { BASE = 10 };
    const unsigned first = (uint8_t)at[0] - '0', second = (uint8_t)at[1] - '0', third = (uint8_t)at[2] - '0';
    const bool one = first < BASE, two = one & (second < BASE), three = two & (third < BASE);
    *number = first;
    *number = two ? *number * BASE + second : *number;
    *number = three ? *number * BASE + third : *number;
    return (unsigned)one + two + three;
}

static bool is_word(char c)
{
    const uint8_t letter = (uint8_t)c | 0x20;
    return (letter >= 'a' && letter <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

/* Reads v7 or v[2:3], without blanks or expressions. Sets the next slot, and *mark to its mark in the key,
 * which is not longer than the text. Returns the end of the text, or NULL. */
static const char *read_register(struct wmi_key *key, const char *at, char **mark)
{
    const unsigned file = *at == 'v' ? WMI_OPERAND_VGPR : *at == 's' ? WMI_OPERAND_SGPR : WMI_OPERAND_AGPR;
    const bool tuple = at[1] == '[';
    unsigned first, last, digits = read_digits(at + 1 + tuple, &first);
    at += 1 + tuple + digits;
    last = first;
    if (!digits || key->slots == WMI_PATTERN_SLOTS || (!tuple && is_word(*at)))
        return NULL;
    if (tuple) {
        digits = *at == ':' ? read_digits(at + 1, &last) : 0;
        at += 2 + digits;
        if (!digits || at[-1] != ']' || last < first || last - first >= MOST_TUPLE)
            return NULL;
        (*mark)[1] = (char)(WMI_MARK_SIZE + last - first);
    }
    if (last > UINT8_MAX)
        return NULL;
    **mark = (char)((tuple ? WMI_MARK_TUPLE : WMI_MARK_REGISTER) + file);
    *mark += 1 + tuple;
    key->slot[key->slots].number = (uint8_t)first;
    key->slot[key->slots].file = (uint8_t)file;
    key->slot[key->slots++].dwords = (uint8_t)(last - first + 1);
    return at;
}

/* Writes the key's text; returns its end. */
static char *mark_registers(struct wmi_key *key, const struct raw *raw, size_t length, uint64_t starts)
{
    const char *from = raw->text;
    char *to = key->text;
    for (; starts; starts &= starts - 1) {
        const char *at = raw->text + __builtin_ctzll(starts);
        to = copy(to, from, (size_t)(at - from));
        from = at;
        const char *behind = read_register(key, at, &to);
        from = behind ? behind : from;
    }
    return copy(to, from, (size_t)(raw->text + length - from));
}

static uint64_t hash_of(const char *text, size_t length)
{
    uint64_t hash = length;
    for (size_t i = 0; i < length; i += sizeof hash) {
        hash = (hash ^ word_at(text + i)) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 32;
    }
    return hash;
}

/* Whether no character could be mistaken for a mark. */
static bool has_no_marks(const char *text, size_t length)
{
    uint64_t all = 0;
    for (size_t i = 0; i < length; i += sizeof all)
        all |= word_at(text + i);
    return !(all & UINT64_C(0x8080808080808080));
}

bool wmi_read_key(const char *begin, const char *end, bool registers, struct wmi_key *key)
{
    struct raw raw;
    while (end > begin && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'))
        end--;
    const size_t length = (size_t)(end - begin);
    if (length > WMI_PATTERN_TEXT)
        return false;
    raw.blank[WMI_KEY_PADDING - 1] = ' ';
    wmi_copy_short(raw.text, begin, length);
    memset(raw.text + length, 0, WMI_KEY_PADDING);
    if (!has_no_marks(raw.text, length))
        return false;
    key->slots = 0;
    char *text = mark_registers(key, &raw, length, registers ? register_starts(&raw, length) : 0);
    memset(text, 0, sizeof key->hash);
    key->length = (unsigned)(text - key->text);
    key->hash = hash_of(key->text, key->length);
    return true;
}

/* The first of the key's two possible places. */
static size_t place_of(const struct wmi_key *key)
{
    return key->hash >> 40 & (WMI_PATTERN_PLACES - 2);
}

static bool is_of(const struct wmi_text_pattern *p, const struct wmi_key *key)
{
    return p->length == key->length && !memcmp(p->text, key->text, key->length);
}

/* The key's pattern, or the empty pattern. */
static const struct wmi_text_pattern *find(const struct wmi_text_patterns *patterns,
                                           const struct wmi_key *key)
{
    const uint16_t *place = &patterns->place[place_of(key)];
    const struct wmi_text_pattern *p = &patterns->at[place[0]];
    p = is_of(p, key) ? p : &patterns->at[place[1]];
    return is_of(p, key) ? p : patterns->at;
}

unsigned wmi_assemble_alike(const struct wmi_text_patterns *patterns, const char *begin, const char *end,
                            uint32_t *words)
{
    struct wmi_key key;
    if (!wmi_read_key(begin, end, true, &key))
        return 0;
    const struct wmi_text_pattern *p = find(patterns, &key);
    if (p->as_it_stands && wmi_read_key(begin, end, false, &key))
        p = find(patterns, &key);
    memcpy(words, p->words, sizeof p->words);
    for (unsigned i = 0; i < p->slots; i++) {
        const struct wmi_pattern_slot *slot = &p->slot[i];
        const unsigned number = key.slot[i].number;
        if (number > slot->last || number & slot->below_multiple)
            return 0;
        words[slot->pos / 32] |= (uint32_t)(number >> slot->drop) << slot->pos % 32;
    }
    return p->dwords;
}

/* ---- making patterns ---- */

/* Number of low bits of a register number that the field omits, plus one; 0: the field is not a plain number.
 */
static unsigned bits_dropped(unsigned kind)
{
    static const uint8_t dropped[WMI_KIND_COUNT] = {
        [WMI_KIND_vgpr] = 1,         [WMI_KIND_vgpr9] = 1,        [WMI_KIND_vgpr_t16] = 1,
        [WMI_KIND_src_t16] = 1,      [WMI_KIND_src] = 1,          [WMI_KIND_src_nolit] = 1,
        [WMI_KIND_ssrc] = 1,         [WMI_KIND_ssrc_nolit] = 1,   [WMI_KIND_sdst] = 1,
        [WMI_KIND_sgpr9] = 1,        [WMI_KIND_sdwa_src] = 1,     [WMI_KIND_sdwa_sdst] = 1,
        [WMI_KIND_agpr] = 1,         [WMI_KIND_agpr9] = 1,        [WMI_KIND_agpr_src] = 1,
        [WMI_KIND_acc_vgpr] = 1,     [WMI_KIND_acc_src] = 1,      [WMI_KIND_saddr] = 1,
        [WMI_KIND_global_addr] = 1,  [WMI_KIND_scratch_addr] = 1, [WMI_KIND_buffer_addr] = 1,
        [WMI_KIND_buffer_data] = 1,  [WMI_KIND_image_data] = 1,   [WMI_KIND_gather_data] = 1,
        [WMI_KIND_global_data] = 1,  [WMI_KIND_image_addr] = 1,   [WMI_KIND_image_addr_dim] = 1,
        [WMI_KIND_smem_soffset] = 1, [WMI_KIND_sbase] = 2,        [WMI_KIND_srsrc] = 3,
        [WMI_KIND_image_rsrc] = 3,   [WMI_KIND_bvh_addr] = 1,     [WMI_KIND_smem_soffset_zero] = 1,
    };
    return dropped[kind];
}

static bool is_scalar(const struct wmi_operand *o)
{
    return o->kind == WMI_OPERAND_SGPR || o->kind == WMI_OPERAND_TTMP || o->kind == WMI_OPERAND_SPECIAL;
}

/* Whether no choice of SGPR numbers exceeds the constant bus limit: there is at most one SGPR, or all fit
 * even if they differ. */
static bool fills_no_bus(const struct wmi_target *target, const struct wmi_instruction *insn)
{
    unsigned sgprs = 0, others = 0;
    for (unsigned i = 0; i < insn->operands; i++) {
        const struct wmi_operand *o = &insn->operand[i];
        sgprs += o->read && o->kind == WMI_OPERAND_SGPR;
        others += o->kind == WMI_OPERAND_LITERAL || (o->read && is_scalar(o) && o->kind != WMI_OPERAND_SGPR);
    }
    const uint32_t flags = wmi_rows[insn->id].flags;
    others += (flags & WMI_ROW_READS_VCC) != 0;
    others += (flags & WMI_ROW_READS_M0) != 0;
    return sgprs <= 1 || sgprs + others <= wmi_constant_bus(target, insn);
}

/* Whether no rule of legal*.c depends on how the registers relate to each other: VOPD pairs, matrices and
 * their C, the constant bus, and GWS on gfx90a. */
static bool numbers_are_free(const struct wmi_encoder *e, const struct wmi_instruction *insn)
{
    if (e->second)
        return false;
    if (wmi_rows[insn->id].class != WMI_CLASS_VALU)
        return wmi_rows[insn->id].group != WMI_GROUP_GWS;
    for (unsigned i = 0; i < insn->operands; i++)
        if (insn->operand[i].dwords > SMALL_MATRIX)
            return false;
    return fills_no_bus(e->target, insn);
}

/* Number of VGPRs that patterns may insert. Above v127 another encoding may apply if an operand has 16 bits,
 * or if another form was tried first. */
static unsigned vgprs_of(const struct wmi_encoder *e, const struct wmi_instruction *insn)
{
    enum { VGPRS = 256, HALF_BITS = 16 };
    bool halves = e->tried > 1;
    for (unsigned i = 0; i < insn->operands; i++)
        halves |= wmi_type_bits(insn->operand[i].type) == HALF_BITS;
    return halves && e->target->limits[WMI_LIMIT_true16_modes] ? FEW_VGPRS : VGPRS;
}

enum made { MADE, OF_THESE_NUMBERS_ONLY, OF_OTHER_NUMBERS };

/* Determines the position and valid range of a register number, and clears the number in the words. */
static enum made make_slot(const struct wmi_encoder *e, unsigned operand, unsigned vgprs,
                           struct wmi_pattern_slot *slot, uint32_t *words)
{
    const struct wmi_parsed *p = &e->parsed[operand];
    const struct wmi_spec *spec = &wmi_specs[e->form->spec + operand];
    const uint32_t *limits = e->target->limits;
    const bool sgpr = p->file == WMI_OPERAND_SGPR;
    const uint32_t sgprs = limits[WMI_LIMIT_sgprs] < TUPLE_SGPRS ? limits[WMI_LIMIT_sgprs] : TUPLE_SGPRS;
    const unsigned registers = sgpr ? sgprs : vgprs, dropped = bits_dropped(spec->kind);
    const unsigned multiple = sgpr                                             ? p->dwords > 2 ? 4 : p->dwords
                              : limits[WMI_LIMIT_even_tuples] && p->dwords > 1 ? 2
                                                                               : 1;
    if (!dropped || p->dwords > registers)
        return OF_THESE_NUMBERS_ONLY;
    *slot = (struct wmi_pattern_slot){.pos = spec->pos,
                                      .drop = (uint8_t)(dropped - 1),
                                      .below_multiple = (uint8_t)(multiple - 1),
                                      .last = (uint8_t)(registers - p->dwords)};
    if (p->reg > slot->last || p->reg & slot->below_multiple)
        return OF_OTHER_NUMBERS;
    const uint32_t value = (uint32_t)(p->reg >> slot->drop), fields = (1u << spec->width) - 1;
    const uint32_t mask = fields & (sgpr ? SGPR_CODES - 1 : registers - 1);
    uint32_t *word = &words[spec->pos / 32];
    if ((*word >> spec->pos % 32 ^ value) & mask)
        return OF_THESE_NUMBERS_ONLY;
    *word -= value << spec->pos % 32;
    return MADE;
}

/* The registers of the key must be the operands, in the same order. */
static enum made make_slots(const struct wmi_encoder *e, const struct wmi_instruction *insn,
                            const struct wmi_key *key, struct wmi_text_pattern *pattern)
{
    const unsigned vgprs = vgprs_of(e, insn);
    unsigned slots = 0;
    if (!numbers_are_free(e, insn))
        return OF_THESE_NUMBERS_ONLY;
    for (unsigned i = 0; i < e->form->specs; i++) {
        const struct wmi_parsed *p = &e->parsed[i];
        if (p->what == WMI_PARSED_LIST)
            return OF_THESE_NUMBERS_ONLY;
        if (p->what != WMI_PARSED_REGISTER || p->file == WMI_OPERAND_SPECIAL || p->file == WMI_OPERAND_TTMP)
            continue;
        if (slots == key->slots || key->slot[slots].file != p->file || key->slot[slots].number != p->reg ||
            key->slot[slots].dwords != p->dwords)
            return OF_THESE_NUMBERS_ONLY;
        const enum made made = make_slot(e, i, vgprs, &pattern->slot[slots], pattern->words);
        if (made != MADE)
            return made;
        slots++;
    }
    pattern->slots = (uint8_t)slots;
    return slots == key->slots ? MADE : OF_THESE_NUMBERS_ONLY;
}

static void put(struct wmi_text_patterns *patterns, const struct wmi_key *key,
                struct wmi_text_pattern *pattern)
{
    if (find(patterns, key)->length)
        return;
    if (++patterns->count == WMI_PATTERNS) { /* full: restart */
        memset(patterns->place, 0, sizeof patterns->place);
        patterns->count = 1;
    }
    uint16_t *place = &patterns->place[place_of(key)];
    place[1] = place[0];
    place[0] = (uint16_t)patterns->count;
    pattern->length = (uint8_t)key->length;
    memcpy(pattern->text, key->text, key->length);
    patterns->at[patterns->count] = *pattern;
}

void wmi_keep_as_it_stands(struct wmi_text_patterns *patterns, const char *begin, const char *end,
                           const struct wmi_instruction *insn)
{
    struct wmi_key key;
    struct wmi_text_pattern mark = {.as_it_stands = true}, pattern = {.dwords = insn->dwords};
    memcpy(pattern.words, insn->words, sizeof pattern.words);
    if (!wmi_read_key(begin, end, true, &key))
        return;
    if (key.slots)
        put(patterns, &key, &mark);
    wmi_read_key(begin, end, false, &key);
    put(patterns, &key, &pattern);
}

void wmi_keep_pattern(struct wmi_text_patterns *patterns, const char *begin, const struct wmi_encoder *e,
                      const struct wmi_instruction *insn)
{
    struct wmi_key key;
    struct wmi_text_pattern pattern = {.dwords = insn->dwords};
    memcpy(pattern.words, insn->words, sizeof pattern.words);
    if (!wmi_read_key(begin, e->cursor->end, true, &key))
        return;
    const enum made made = make_slots(e, insn, &key, &pattern);
    if (made == MADE)
        put(patterns, &key, &pattern);
    else if (made == OF_THESE_NUMBERS_ONLY)
        wmi_keep_as_it_stands(patterns, begin, e->cursor->end, insn);
}
