/* SPDX-License-Identifier: MIT */
#include "jit/expand/expand.h"

#include "lower/step.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum flag {
    ALL = 1 << 0,       /* writes all lanes of a temporary row */
    CLAMPS = 1 << 1,    /* only without CLAMP, y bit 0 */
    FLUSHES = 1 << 2,   /* only if the wave's f32 mode flushes denormals anyway */
    DENORMALS = 1 << 3, /* only if it flushes none */
    NEAREST = 1 << 4,   /* only if it rounds to nearest */
};

enum {
    NAME = 12, /* bytes of a name in a text */
    /* Instructions of the representation: that a step may become, and that store what a part leaves. */
    MOST_OF_STEP = 64,
    MOST_OUTPUTS = 640,
};

static const struct expansion {
    const char *text;
    uint8_t type, flags;
} expansions[WMI_STEP_COUNT] = {
#define BODY(name)               WMI_STEP_BODIES + WMI_INSN_##name
#define STEP(name)               WMI_STEP_##name
#define LANES(step, flags, text) [step] = {text, WMI_IR_LANES, flags}
#define WORD(step, flags, text)  [step] = {text, WMI_IR_WORD, flags}
#define DWORD(step, flags, text) [step] = {text, WMI_IR_DWORD, flags}
#include "jit/expand/expand.def"
#undef BODY
#undef STEP
#undef LANES
#undef WORD
#undef DWORD
};

static const uint32_t exec_place = offsetof(struct wmi_frame, s) + 4 * WMI_S_EXEC,
                      scc_place = offsetof(struct wmi_frame, s) + 4 * WMI_S_SCC;

static bool touches_exec(const struct wmi_step *step)
{
    const uint32_t places[] = {step->d, step->e, step->y};
    const unsigned operands[] = {WMI_OP_D, WMI_OP_E, WMI_OP_Y};
    for (unsigned i = 0; i < 3; i++)
        if (step->use[operands[i]] & WMI_USE_WRITE &&
            (step->use[operands[i]] & WMI_USE_KIND) == WMI_USE_WORDS &&
            (places[i] == exec_place || places[i] == exec_place + 4))
            return true;
    return false;
}

/* Whether it has one of the rows for repairs. */
static bool has_repair_row(const struct wmi_block *block, const struct wmi_step *step)
{
    const uint32_t bytes = block->code->row_bytes,
                   first = (uint32_t)offsetof(struct wmi_frame, rows) + WMI_REPAIR_ROW * bytes;
    for (unsigned i = 0; i < WMI_STEP_OPERANDS; i++) {
        const struct wmi_extent span =
            wmi_step_span(step, (enum wmi_step_operand)i, block->code->options.lanes);
        if ((step->use[i] & WMI_USE_KIND) == WMI_USE_ROWS && span.to > first &&
            span.from < first + WMI_REPAIR_ROWS * bytes)
            return true;
    }
    return false;
}

bool wmi_has_expansion(enum wmi_step_id id)
{
    return expansions[id].text;
}

static bool needs_one(const char *text, uint64_t ops)
{
    static_assert(WMI_IR_OPS <= 64, "a bit for each operation");
    for (; ops; ops &= ops - 1) {
        const char *name = wmi_ir_facts_of((enum wmi_ir_op)__builtin_ctzll(ops)).name, *found = text;
        while ((found = strstr(found, name)) && found[strlen(name)] != '(')
            found++;
        if (found)
            return true;
    }
    return false;
}

bool wmi_expands(const struct wmi_block *block, uint64_t lacks, const struct wmi_step *step)
{
    enum { F32_ROUNDING = 3, F32_DENORMALS = 3 << 4 }; /* of MODE */
    const struct expansion *expansion = &expansions[step->id];
    const uint32_t denormals = block->mode.mode & F32_DENORMALS;
    if (step->id == WMI_STEP_count || step->id == WMI_STEP_return_to_loop)
        return true;
    if (!expansion->text || touches_exec(step) || has_repair_row(block, step) ||
        needs_one(expansion->text, lacks) ||
        (expansion->type == WMI_IR_LANES && step->lanes != offsetof(struct wmi_frame, exec)))
        return false;
    return !((expansion->flags & CLAMPS && step->y & 1) || (expansion->flags & FLUSHES && denormals) ||
             (expansion->flags & DENORMALS && denormals != F32_DENORMALS) ||
             (expansion->flags & NEAREST && block->mode.mode & F32_ROUNDING));
}

/* ---- registers ---- */

/* The step that is being expanded. */
struct reader {
    struct wmi_ir_part *part;
    const struct wmi_step *step;
    const struct expansion *expansion;
    const char *at;
    bool failed, later; /* the text is wrong; the part must end in front of the step */
    struct value {
        char name[NAME];
        uint16_t value;
    } values[16], results[8];
    unsigned value_count, result_count;
};

static unsigned add(struct reader *r, enum wmi_ir_op op, enum wmi_ir_type type, unsigned a, unsigned b,
                    uint64_t immediate)
{
    const uint16_t arguments[] = {(uint16_t)a, (uint16_t)b};
    return wmi_ir_add(&r->part->ir, op, type, arguments, immediate);
}

static unsigned row_number(const struct wmi_ir_part *part, uint32_t row)
{
    return wmi_row_number(part->block->code, row);
}

static unsigned read_row(struct reader *r, uint32_t row)
{
    const unsigned number = row_number(r->part, row);
    uint32_t constant;
    if (number >= WMI_PART_ROWS) {
        r->part->ir.failed = true;
        return 0;
    }
    struct wmi_ir_part_row *held = &r->part->row[number];
    if (held->value != WMI_IR_NO_VALUE)
        return held->value;
    held->value = (uint16_t)(wmi_code_constant(r->part->block->code, row, &constant)
                                 ? wmi_ir_constant(&r->part->ir, WMI_IR_LANES, constant)
                                 : add(r, WMI_IR_row, WMI_IR_LANES, 0, 0, row));
    return held->value;
}

static struct wmi_ir_part_word *word_at(struct reader *r, uint32_t place)
{
    if (place / 4 < WMI_PART_WORDS)
        return &r->part->word[place / 4];
    r->part->ir.failed = true;
    return &r->part->word[0];
}

static bool is_mask(const struct wmi_ir_part *part, const struct wmi_ir_part_word *word)
{
    return word->value != WMI_IR_NO_VALUE && wmi_ir_type_of(&part->ir.insn[word->value]) == WMI_IR_MASK;
}

static unsigned read_word(struct reader *r, uint32_t place)
{
    struct wmi_ir_part_word *word = word_at(r, place);
    r->later |= is_mask(r->part, word);
    if (r->later || r->part->ir.failed)
        return 0;
    if (word->value == WMI_IR_NO_VALUE)
        *word = (struct wmi_ir_part_word){(uint16_t)add(r, WMI_IR_load, WMI_IR_WORD, 0, 0, place),
                                          WMI_WORD_WHOLE, false};
    if (word->part == WMI_WORD_WHOLE)
        return word->value;
    return add(r, word->part == WMI_WORD_LOW ? WMI_IR_low : WMI_IR_high, WMI_IR_WORD, word->value, 0, 0);
}

/* Whether both words are those of one value. */
static bool is_one_value(const struct wmi_ir_part_word *low, const struct wmi_ir_part_word *high)
{
    return low->value == high->value && low->part == WMI_WORD_LOW && high->part == WMI_WORD_HIGH;
}

static unsigned read_dword(struct reader *r, uint32_t place)
{
    struct wmi_ir_part_word *low = word_at(r, place), *high = word_at(r, place + 4);
    r->later |= is_mask(r->part, low) || is_mask(r->part, high);
    if (r->later || r->part->ir.failed)
        return 0;
    if (low->value == WMI_IR_NO_VALUE && high->value == WMI_IR_NO_VALUE) {
        const uint16_t value = (uint16_t)add(r, WMI_IR_load, WMI_IR_DWORD, 0, 0, place);
        *low = (struct wmi_ir_part_word){value, WMI_WORD_LOW, false};
        *high = (struct wmi_ir_part_word){value, WMI_WORD_HIGH, false};
    }
    if (low->value != WMI_IR_NO_VALUE && is_one_value(low, high))
        return low->value;
    const unsigned low_word = read_word(r, place), high_word = read_word(r, place + 4);
    return add(r, WMI_IR_pair, WMI_IR_DWORD, low_word, high_word, 0);
}

static bool has_64_lanes(const struct wmi_ir_part *part)
{
    return part->block->code->options.lanes == 64;
}

static unsigned read_mask(struct reader *r, uint32_t place)
{
    const struct wmi_ir_part_word *low = word_at(r, place), *high = word_at(r, place + 4);
    if (is_mask(r->part, low) && (!has_64_lanes(r->part) || is_one_value(low, high)))
        return low->value;
    const unsigned bits = has_64_lanes(r->part) ? read_dword(r, place)
                                                : add(r, WMI_IR_pair, WMI_IR_DWORD, read_word(r, place),
                                                      wmi_ir_constant(&r->part->ir, WMI_IR_WORD, 0), 0);
    return r->later || r->part->ir.failed ? 0 : add(r, WMI_IR_lanes, WMI_IR_MASK, bits, 0, 0);
}

static void write_row(struct reader *r, uint32_t row, unsigned value)
{
    const unsigned number = row_number(r->part, row);
    if (number >= WMI_PART_ROWS)
        r->part->ir.failed = true;
    else
        r->part->row[number] =
            (struct wmi_ir_part_row){(uint16_t)value, true, (r->expansion->flags & ALL) != 0};
}

static void write_words(struct reader *r, uint32_t place, unsigned value, unsigned count)
{
    *word_at(r, place) =
        (struct wmi_ir_part_word){(uint16_t)value, count == 2 ? WMI_WORD_LOW : WMI_WORD_WHOLE, true};
    if (count == 2)
        *word_at(r, place + 4) = (struct wmi_ir_part_word){(uint16_t)value, WMI_WORD_HIGH, true};
}

/* ---- the text ---- */

static uint32_t place_of(const struct wmi_step *step, char operand)
{
    switch (operand) {
    case 'a':
        return step->a;
    case 'b':
        return step->b;
    case 'c':
        return step->c;
    case 'd':
        return step->d;
    case 'e':
        return step->e;
    case 'x':
        return step->x;
    default:
        return step->y;
    }
}

static uint8_t use_of(const struct wmi_step *step, char operand)
{
    static const char names[] = "dabcexy"; /* in the order of enum wmi_step_operand */
    return step->use[strchr(names, operand) - names];
}

static unsigned constant(struct reader *r, uint64_t value)
{
    return wmi_ir_constant(&r->part->ir, r->expansion->type == WMI_IR_DWORD ? WMI_IR_DWORD : WMI_IR_WORD,
                           value);
}

static unsigned read_operand(struct reader *r, char operand, char suffix)
{
    const uint32_t place = place_of(r->step, operand);
    const uint8_t use = use_of(r->step, operand);
    if (suffix == 'w')
        return read_word(r, place);
    if ((use & WMI_USE_KIND) == WMI_USE_ROWS)
        return read_row(r, place + (suffix == '1' ? r->part->block->code->row_bytes : 0));
    if ((use & (WMI_USE_KIND | WMI_USE_COUNT)) == (WMI_USE_WORDS | WMI_USE_MASK) &&
        r->expansion->type == WMI_IR_LANES)
        return read_mask(r, place);
    return r->expansion->type == WMI_IR_DWORD ? read_dword(r, place) : read_word(r, place);
}

static bool is_operand(const char *name)
{
    return strchr("abcde", name[0]) && (!name[1] || ((name[1] == '1' || name[1] == 'w') && !name[2]));
}

static unsigned read_leaf(struct reader *r, const char *name)
{
    for (unsigned i = 0; i < r->value_count; i++)
        if (!strcmp(r->values[i].name, name))
            return r->values[i].value;
    if (is_operand(name))
        return read_operand(r, name[0], name[1]);
    if (!strcmp(name, "x"))
        return constant(r, r->step->x);
    if (!strcmp(name, "xu"))
        return constant(r, (uint16_t)r->step->x);
    if (!strcmp(name, "value"))
        return constant(r, r->step->value);
    if (!strcmp(name, "scc"))
        return read_word(r, scc_place);
    r->failed = true;
    return 0;
}

static unsigned read_expression(struct reader *r);

/* Of several arguments, whose types decide on that of the operation. */
static enum wmi_ir_type type_of(const struct reader *r, enum wmi_ir_op op, const uint16_t *arguments,
                                unsigned count)
{
    static const char order[] = {WMI_IR_MASK, WMI_IR_LANES, WMI_IR_WORD, WMI_IR_DWORD};
    const struct wmi_ir_facts facts = wmi_ir_facts_of(op);
    const unsigned first = op == WMI_IR_select ? 1 : 0;
    if (*facts.result != 'T' && *facts.result != 'B')
        return (enum wmi_ir_type) * facts.result;
    if (strchr(facts.arguments, 'C') && wmi_ir_type_of(&r->part->ir.insn[arguments[0]]) == WMI_IR_DWORD)
        return WMI_IR_DWORD; /* the count is a word */
    for (unsigned i = 0; i < sizeof order; i++)
        for (unsigned k = first; k < count; k++)
            if (wmi_ir_type_of(&r->part->ir.insn[arguments[k]]) == (enum wmi_ir_type)order[i])
                return (enum wmi_ir_type)order[i];
    return WMI_IR_NONE;
}

static unsigned nan_of(struct reader *r, unsigned value)
{
    return add(r, WMI_IR_not, WMI_IR_MASK, add(r, WMI_IR_feq, WMI_IR_MASK, value, value, 0), 0, 0);
}

/* The rows that the body reads, those that it does not read being any. */
static unsigned repair(struct reader *r, unsigned value, unsigned bad)
{
    uint16_t arguments[WMI_IR_ARGUMENTS] = {(uint16_t)value, (uint16_t)bad};
    for (unsigned i = 0; i < 3; i++) {
        const char operand = "abc"[i];
        const bool is_row =
            (use_of(r->step, operand) & (WMI_USE_KIND | WMI_USE_READ)) == (WMI_USE_ROWS | WMI_USE_READ);
        arguments[2 + i] = (uint16_t)(is_row ? read_operand(r, operand, 0) : arguments[2]);
    }
    return wmi_ir_add(&r->part->ir, WMI_IR_repair, WMI_IR_LANES, arguments,
                      (uint64_t)(r->step - r->part->block->steps));
}

static unsigned make(struct reader *r, const char *name, const uint16_t *arguments, unsigned count)
{
    if (!strcmp(name, "fix") && count)
        return repair(r, arguments[0], count == 2 ? arguments[1] : nan_of(r, arguments[0]));
    for (unsigned op = 0; op < WMI_IR_OPS; op++)
        if (!strcmp(wmi_ir_facts_of((enum wmi_ir_op)op).name, name) &&
            wmi_ir_arguments((enum wmi_ir_op)op) == count)
            return wmi_ir_add(&r->part->ir, (enum wmi_ir_op)op,
                              type_of(r, (enum wmi_ir_op)op, arguments, count), arguments, 0);
    r->failed = true;
    return 0;
}

static unsigned read_call(struct reader *r, const char *name)
{
    uint16_t arguments[WMI_IR_ARGUMENTS] = {0};
    unsigned count = 0;
    do {
        r->at++; /* the parenthesis or a comma */
        arguments[count++] = (uint16_t)read_expression(r);
    } while (*r->at == ',' && count < WMI_IR_ARGUMENTS && !r->failed && !r->later);
    r->failed |= *r->at != ')' && !r->later;
    if (r->failed || r->later || r->part->ir.failed)
        return 0;
    r->at++;
    return make(r, name, arguments, count);
}

static void read_name(struct reader *r, char name[NAME])
{
    unsigned length = 0;
    while ((isalnum((unsigned char)*r->at) || *r->at == '_') && length < NAME - 1)
        name[length++] = *r->at++;
    name[length] = 0;
}

static unsigned read_expression(struct reader *r)
{
    char name[NAME];
    if (isdigit((unsigned char)*r->at)) {
        char *end;
        const uint64_t value = strtoull(r->at, &end, 0);
        r->at = end;
        return constant(r, value);
    }
    read_name(r, name);
    return *r->at == '(' ? read_call(r, name) : read_leaf(r, name);
}

static bool is_result(const struct wmi_step *step, const char *name)
{
    return !strcmp(name, "d") || !strcmp(name, "d1") || !strcmp(name, "e") || !strcmp(name, "scc") ||
           (!name[1] && strchr("xy", name[0]) && use_of(step, name[0]) & WMI_USE_WRITE);
}

/* Values in between are named; results wait until all has been read. */
static void read_text(struct reader *r)
{
    while (*r->at && !r->failed && !r->later && !r->part->ir.failed) {
        char name[NAME];
        r->at += strspn(r->at, "; ");
        read_name(r, name);
        r->failed |= !*name || *r->at++ != '=';
        const unsigned value = r->failed ? 0 : read_expression(r);
        struct value *const all = is_result(r->step, name) ? r->results : r->values;
        unsigned *const count = is_result(r->step, name) ? &r->result_count : &r->value_count;
        memcpy(all[*count].name, name, sizeof name);
        all[(*count)++].value = (uint16_t)value;
    }
}

/* ---- results ---- */

static void write_result(struct reader *r, const char *name, unsigned value)
{
    const bool is_scc = !strcmp(name, "scc");
    const uint32_t place = is_scc ? scc_place : place_of(r->step, name[0]);
    switch (wmi_ir_type_of(&r->part->ir.insn[value])) {
    case WMI_IR_MASK:
        write_words(r, place, value, has_64_lanes(r->part) ? 2 : 1);
        r->part->masks++;
        break;
    case WMI_IR_DWORD:
        write_words(r, place, value, 2);
        break;
    case WMI_IR_WORD:
        if (r->expansion->type != WMI_IR_LANES) {
            write_words(r, place, value, 1);
            break;
        }
        value = add(r, WMI_IR_splat, WMI_IR_LANES, value, 0, 0);
        /* fall through */
    default:
        write_row(r, place + (name[1] == '1' ? r->part->block->code->row_bytes : 0), value);
    }
}

/* A word of a set of lanes cannot be replaced alone, since the set is written as a whole. */
static bool halves_mask(struct reader *r, const char *name, unsigned value)
{
    const enum wmi_ir_type type = wmi_ir_type_of(&r->part->ir.insn[value]);
    const uint32_t place = !strcmp(name, "scc") ? scc_place : place_of(r->step, name[0]);
    if (type == WMI_IR_LANES || (type == WMI_IR_WORD && r->expansion->type == WMI_IR_LANES))
        return false;
    const bool one = type == WMI_IR_WORD || (type == WMI_IR_MASK && !has_64_lanes(r->part));
    const struct wmi_ir_part_word *low = word_at(r, place), *high = word_at(r, place + (one ? 0 : 4));
    if (!is_mask(r->part, low) && !is_mask(r->part, high))
        return false;
    return one ? low->part != WMI_WORD_WHOLE : !is_one_value(low, high);
}

static void count_instructions(struct reader *r)
{
    const uint32_t left = offsetof(struct wmi_frame, left);
    const unsigned before = add(r, WMI_IR_load, WMI_IR_DWORD, 0, 0, left);
    const unsigned after =
        add(r, WMI_IR_sub, WMI_IR_DWORD, before, wmi_ir_constant(&r->part->ir, WMI_IR_DWORD, r->step->c), 0);
    add(r, WMI_IR_put, WMI_IR_DWORD, after, 0, left);
}

bool wmi_ir_part_add(struct wmi_ir_part *part, size_t step)
{
    struct reader r = {.part = part, .step = &part->block->steps[step]};
    r.expansion = &expansions[r.step->id];
    r.at = r.expansion->text;
    if (part->masks + 2 > WMI_PART_MASKS || part->ir.count + MOST_OF_STEP + MOST_OUTPUTS > WMI_IR_MOST)
        return false;
    if (r.step->id == WMI_STEP_count)
        count_instructions(&r);
    if (!r.at)
        return true;
    read_text(&r);
    for (unsigned i = 0; i < r.result_count && !r.later && !part->ir.failed; i++)
        r.later |= halves_mask(&r, r.results[i].name, r.results[i].value);
    if (r.failed)
        part->ir.failed = true;
    if (r.later || part->ir.failed)
        return !r.later;
    for (unsigned i = 0; i < r.result_count; i++)
        write_result(&r, r.results[i].name, r.results[i].value);
    return true;
}

/* ---- the end of a part ---- */

void wmi_ir_part_begin(struct wmi_ir_part *part, const struct wmi_block *block, const struct wmi_live *live)
{
    part->block = block;
    part->live = live;
    part->ir.count = 0;
    part->ir.failed = false;
    part->masks = 0;
    for (unsigned i = 0; i < WMI_PART_ROWS; i++)
        part->row[i] = (struct wmi_ir_part_row){.value = WMI_IR_NO_VALUE};
    for (unsigned i = 0; i < WMI_PART_WORDS; i++)
        part->word[i] = (struct wmi_ir_part_word){.value = WMI_IR_NO_VALUE};
}

/* Whether a step from `to` on may read the temporary row: they are written anew by each instruction, but may
 * be shared by several. */
static bool is_temporary_read(const struct wmi_block *block, uint32_t row, size_t to)
{
    enum { FAR = 256 };
    const struct wmi_extent span = {row, row + block->code->row_bytes};
    for (size_t i = to; i < block->count && i < to + FAR; i++) {
        const struct wmi_step *step = &block->steps[i];
        const unsigned flags = wmi_step_facts_of(step->id).flags;
        if (wmi_step_reads_rows(step, span, block->code->options.lanes))
            return true;
        if (flags & WMI_STEP_ENDS_WAVE)
            return false;
        if (flags & (WMI_STEP_LEAVES | WMI_STEP_BRANCHES))
            return true;
        if (wmi_step_overwrites(step, span, block->code->options.lanes))
            return false;
    }
    return to + FAR < block->count;
}

static bool is_row_read(const struct wmi_ir_part *part, uint32_t row, size_t to)
{
    return row < part->block->code->vgpr_offset ? is_temporary_read(part->block, row, to)
                                                : wmi_live_is_in(part->live, row, to, WMI_LIVE_ACTIVE);
}

static void put_rows(struct wmi_ir_part *part, size_t to)
{
    const struct wmi_code *code = part->block->code;
    for (unsigned i = 0; i < WMI_PART_ROWS; i++) {
        const struct wmi_ir_part_row *held = &part->row[i];
        const uint32_t row = (uint32_t)offsetof(struct wmi_frame, rows) + i * code->row_bytes;
        if (held->dirty && is_row_read(part, row, to))
            wmi_ir_add(&part->ir, held->in_all_lanes ? WMI_IR_put_all : WMI_IR_put_row, WMI_IR_LANES,
                       &held->value, row);
    }
}

static void put_words(struct wmi_ir_part *part)
{
    for (unsigned i = 0; i < WMI_PART_WORDS; i++) {
        const struct wmi_ir_part_word *word = &part->word[i];
        if (!word->dirty)
            continue;
        uint16_t value = word->value;
        if (is_mask(part, word)) {
            if (word->part != WMI_WORD_HIGH)
                wmi_ir_add(&part->ir, WMI_IR_put_mask, WMI_IR_MASK, &value, 4 * i);
        } else if (word->part == WMI_WORD_LOW && i + 1 < WMI_PART_WORDS && word[1].dirty &&
                   is_one_value(word, &word[1])) {
            wmi_ir_add(&part->ir, WMI_IR_put, WMI_IR_DWORD, &value, 4 * i++);
        } else {
            if (word->part != WMI_WORD_WHOLE)
                value = (uint16_t)wmi_ir_add(&part->ir, word->part == WMI_WORD_LOW ? WMI_IR_low : WMI_IR_high,
                                             WMI_IR_WORD, &value, 0);
            wmi_ir_add(&part->ir, WMI_IR_put, WMI_IR_WORD, &value, 4 * i);
        }
    }
}

bool wmi_ir_part_end(struct wmi_ir_part *part, size_t to)
{
    put_words(part);
    put_rows(part, to);
    wmi_ir_sweep(&part->ir);
    return !part->ir.failed;
}
