/* SPDX-License-Identifier: MIT */
/* Parses one instruction in LLVM's syntax: tries the forms of its mnemonic in LLVM's order, and decodes the
 * encoded words, which must agree with the text. */
#include "isa/rules/legal.h"
#include "isa/text/mnemonic.h"
#include "isa/text/pattern.h"

#include <ctype.h>
#include <string.h>

enum { VGPRS = 256, PAIR = 2, ROW_NEWBCAST = 0x150, NO_SPACE = 255 };

/* ---- registers ---- */

static const struct {
    const char *name;
    uint8_t special, dwords;
} specials[] = {
    {"vcc", WMI_SPECIAL_VCC, 2},
    {"vcc_lo", WMI_SPECIAL_VCC_LO, 1},
    {"vcc_hi", WMI_SPECIAL_VCC_HI, 1},
    {"exec", WMI_SPECIAL_EXEC, 2},
    {"exec_lo", WMI_SPECIAL_EXEC_LO, 1},
    {"exec_hi", WMI_SPECIAL_EXEC_HI, 1},
    {"m0", WMI_SPECIAL_M0, 1},
    {"null", WMI_SPECIAL_NULL, 1},
    {"scc", WMI_SPECIAL_SCC, 1},
    {"vccz", WMI_SPECIAL_VCCZ, 1},
    {"execz", WMI_SPECIAL_EXECZ, 1},
    {"flat_scratch", WMI_SPECIAL_FLAT_SCRATCH, 2},
    {"flat_scratch_lo", WMI_SPECIAL_FLAT_SCRATCH_LO, 1},
    {"flat_scratch_hi", WMI_SPECIAL_FLAT_SCRATCH_HI, 1},
    {"xnack_mask", WMI_SPECIAL_XNACK_MASK, 2},
    {"xnack_mask_lo", WMI_SPECIAL_XNACK_MASK_LO, 1},
    {"xnack_mask_hi", WMI_SPECIAL_XNACK_MASK_HI, 1},
    {"shared_base", WMI_SPECIAL_SHARED_BASE, 1},
    {"shared_limit", WMI_SPECIAL_SHARED_LIMIT, 1},
    {"private_base", WMI_SPECIAL_PRIVATE_BASE, 1},
    {"private_limit", WMI_SPECIAL_PRIVATE_LIMIT, 1},
    {"pops_exiting_wave_id", WMI_SPECIAL_POPS_EXITING_WAVE_ID, 1},
    {"lds_direct", WMI_SPECIAL_LDS_DIRECT, 1},
    {"flat_scratch_base_lo", WMI_SPECIAL_FLAT_SCRATCH_BASE_LO, 1},
    {"flat_scratch_base_hi", WMI_SPECIAL_FLAT_SCRATCH_BASE_HI, 1},
    {"tba", WMI_SPECIAL_TBA, 2},
    {"tba_lo", WMI_SPECIAL_TBA_LO, 1},
    {"tba_hi", WMI_SPECIAL_TBA_HI, 1},
    {"tma", WMI_SPECIAL_TMA, 2},
    {"tma_lo", WMI_SPECIAL_TMA_LO, 1},
    {"tma_hi", WMI_SPECIAL_TMA_HI, 1},
};

static size_t word_at(struct wmi_cursor *c)
{
    wmi_skip_space(c);
    size_t n = 0;
    while (c->at + n < c->end && (isalnum((unsigned char)c->at[n]) || c->at[n] == '_'))
        n++;
    return n;
}

static bool parse_special(struct wmi_cursor *c, struct wmi_parsed *p)
{
    static const char source[] = "src_";
    size_t length = word_at(c);
    const char *word = c->at;
    static const char base[] = "flat_scratch_base_";
    const bool bare = length <= strlen(source) || memcmp(word, source, strlen(source)) != 0;
    if (!bare) {
        word += strlen(source);
        length -= strlen(source);
    } else if (length > strlen(base) && !memcmp(word, base, strlen(base))) {
        return false; /* LLVM knows these with src_ only */
    }
    for (size_t i = 0; i < sizeof specials / sizeof *specials; i++)
        if (length && *specials[i].name == *word && strlen(specials[i].name) == length &&
            !memcmp(specials[i].name, word, length)) {
            p->what = WMI_PARSED_REGISTER;
            p->file = WMI_OPERAND_SPECIAL;
            p->reg = specials[i].special;
            p->dwords = specials[i].dwords;
            c->at = word + length;
            return true;
        }
    return false;
}

static const struct {
    const char *prefix;
    uint8_t file;
} files[] = {{"ttmp", WMI_OPERAND_TTMP},
             {"acc", WMI_OPERAND_AGPR},
             {"s", WMI_OPERAND_SGPR},
             {"v", WMI_OPERAND_VGPR},
             {"a", WMI_OPERAND_AGPR}};

static bool register_number(struct wmi_cursor *c, const char *at, int64_t number)
{
    return (number >= 0 && number < VGPRS) || wmi_expected(c, at, "a register number below 256");
}

/* v7, s[2:3], ttmp[4:7], v1.h. Returns false without a message if there is no register. */
static bool parse_numbered(struct wmi_cursor *c, struct wmi_parsed *p, bool *good)
{
    wmi_skip_space(c);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        const size_t length = strlen(files[i].prefix);
        if ((size_t)(c->end - c->at) <= length || memcmp(c->at, files[i].prefix, length))
            continue;
        const char *at = c->at + length;
        p->file = files[i].file;
        if (isdigit((unsigned char)*at)) {
            unsigned number = 0;
            for (; at < c->end && isdigit((unsigned char)*at) && number < 1000; at++)
                number = number * 10 + (unsigned)(*at - '0');
            if (at < c->end && (isalnum((unsigned char)*at) || *at == '_'))
                return false;
            *good = register_number(c, c->at, number);
            c->at = at;
            p->what = WMI_PARSED_REGISTER;
            p->reg = (uint16_t)number;
            p->dwords = 1;
            if (c->end - at >= 2 && *at == '.' && (at[1] == 'l' || at[1] == 'h') &&
                !(c->end - at > 2 && isalnum((unsigned char)at[2]))) {
                p->part = at[1] == 'l' ? WMI_PART_LOW : WMI_PART_HIGH;
                c->at += 2;
            }
            return true;
        }
        if (*at != '[')
            continue;
        int64_t first, last;
        c->at = at + 1;
        const char *start = c->at;
        *good = wmi_read_number(c, &first) && register_number(c, start, first);
        last = first;
        if (*good && wmi_take(c, ':'))
            *good = wmi_read_number(c, &last) && register_number(c, start, last);
        *good = *good && (wmi_take(c, ']') || wmi_expected(c, c->at, "']'"));
        if (*good && last < first)
            *good = wmi_expected(c, start, "a range that does not run backwards");
        if (*good) {
            p->what = WMI_PARSED_REGISTER;
            p->reg = (uint16_t)first;
            p->dwords = (uint8_t)(last - first + 1);
        }
        return true;
    }
    return false;
}

/* [v1, v3, v[5:7]], or [s4, s5], which is the tuple s[4:5]. */
static bool parse_list(struct wmi_cursor *c, struct wmi_parsed *p, bool addresses)
{
    const char *start = c->at;
    struct wmi_parsed item;
    bool good = true, consecutive = true;
    unsigned dwords = 0;
    c->at++;
    do {
        memset(&item, 0, sizeof item);
        wmi_skip_space(c);
        item.at = c->at;
        if (!parse_numbered(c, &item, &good) && !parse_special(c, &item))
            return wmi_expected(c, c->at, "a register");
        if (!good)
            return false;
        if (p->count == WMI_LIST || (p->count && item.file != p->file))
            return wmi_expected(c, item.at, "fewer registers, all of one kind");
        if (p->count && item.reg != p->list[p->count - 1] + p->list_dwords[p->count - 1])
            consecutive = false;
        p->file = item.file;
        p->list[p->count] = item.reg;
        p->list_dwords[p->count++] = item.dwords;
        dwords += item.dwords;
    } while (wmi_take(c, ','));
    if (!wmi_take(c, ']'))
        return wmi_expected(c, c->at, "',' or ']'");
    p->what = WMI_PARSED_LIST;
    p->dwords = (uint8_t)dwords;
    p->reg = p->list[0];
    if (p->file == WMI_OPERAND_SPECIAL && p->count == PAIR && consecutive)
        p->reg--; /* vcc precedes vcc_lo */
    if (addresses && p->file == WMI_OPERAND_VGPR)
        return true;
    p->what = WMI_PARSED_REGISTER;
    return consecutive || wmi_expected(c, start, "consecutive registers");
}

static bool parse_number(struct wmi_cursor *c, struct wmi_parsed *p, bool in_bars)
{
    wmi_skip_space(c);
    const char *start = c->at, *end = c->end;
    bool minus = wmi_take(c, '-');
    if (wmi_read_real(c, &p->real)) {
        p->what = WMI_PARSED_REAL;
        p->real = minus ? -p->real : p->real;
        return true;
    }
    c->at = start;
    if (in_bars) {
        const char *bar = memchr(c->at, '|', (size_t)(c->end - c->at));
        c->end = bar ? bar : end;
    }
    p->what = WMI_PARSED_NUMBER;
    const bool good = wmi_read_expression(c, &p->value);
    c->end = end;
    return good;
}

static bool has_wide_literals(const struct wmi_target *target)
{
    enum { CODE_LITERAL_64 = 254 };
    return target->codes[CODE_LITERAL_64].kind == WMI_OPERAND_LITERAL;
}

/* lit(0x1), lit64(0x1): a literal even if an inline constant would do, and in operands of 64 bits one of as
 * many. */
static bool parse_marked(struct wmi_cursor *c, struct wmi_parsed *p, bool wide)
{
    const char *start = c->at;
    if (!wmi_take(c, '(') || !parse_number(c, p, false))
        return wmi_expected(c, c->at, "a number in lit()");
    if (p->what == WMI_PARSED_REAL && !wide)
        return wmi_expected(c, start, "a whole number in lit()");
    p->value.literal = true;
    if (!wide)
        p->value.number = (uint32_t)p->value.number;
    return wmi_take(c, ')') || wmi_expected(c, c->at, "')'");
}

static bool parse_source(struct wmi_encoder *e, struct wmi_parsed *p, bool lists);

/* Parses the operand within neg(), abs(), sext() or bars, and `closing`. */
static bool parse_inner(struct wmi_encoder *e, struct wmi_parsed *p, char closing)
{
    struct wmi_cursor *c = e->cursor;
    bool good = true;
    if (closing == ')') {
        if (!parse_source(e, p, false))
            return false;
    } else if (!parse_numbered(c, p, &good) && !parse_special(c, p)) {
        good = parse_number(c, p, true);
    }
    return good && (wmi_take(c, closing) || wmi_expected(c, c->at, closing == ')' ? "')'" : "'|'"));
}

/* A register, a constant or off, with neg, abs or sext around it. */
static bool parse_source(struct wmi_encoder *e, struct wmi_parsed *p, bool lists)
{
    struct wmi_cursor *c = e->cursor;
    bool good = true;
    wmi_skip_space(c);
    const char *start = c->at;
    const char first = start < c->end ? *start : 0, second = start + 1 < c->end ? start[1] : 0;
    if (first == '[' && lists)
        return parse_list(c, p, wmi_rows[e->form->id].class == WMI_CLASS_IMAGE);
    if (first == '|') {
        c->at++;
        p->abs = 1;
        return parse_inner(e, p, '|');
    }
    if (first == '-' && second == '-')
        return wmi_expected(c, start, "a register or a constant, as neg(-1)");
    if (first == '-' && !isdigit((unsigned char)second) && second != '.' && second != '(' && second != '-') {
        struct wmi_parsed inner = *p;
        c->at++;
        const bool bars = c->at < c->end && *c->at == '|';
        if (bars ? parse_source(e, &inner, false)
                 : parse_numbered(c, &inner, &good) || parse_special(c, &inner)) {
            *p = inner;
            p->neg = 1;
            return good;
        }
        if (bars)
            return false;
        if (wmi_take_word(c, "abs") && wmi_take(c, '(')) {
            p->neg = p->abs = 1;
            return parse_inner(e, p, ')');
        }
        c->at = start;
        return parse_number(c, p, false);
    }
    if (parse_numbered(c, p, &good))
        return good;
    if (first >= 'a' && first <= 'z') {
        static const struct {
            const char *word;
            uint8_t neg, abs, sext;
        } around[] = {{"neg", 1, 0, 0}, {"abs", 0, 1, 0}, {"sext", 0, 0, 1}};
        for (unsigned i = 0; i < 3; i++)
            if (wmi_take_word(c, around[i].word)) {
                if (!wmi_take(c, '(')) {
                    c->at = start;
                    break;
                }
                p->neg |= around[i].neg;
                p->abs |= around[i].abs;
                p->sext |= around[i].sext;
                return parse_inner(e, p, ')');
            }
        if (e->target->limits[WMI_LIMIT_marks_literals] && wmi_take_word(c, "lit"))
            return parse_marked(c, p, false);
        if (has_wide_literals(e->target) && wmi_take_word(c, "lit64"))
            return parse_marked(c, p, true);
        if (wmi_take_word(c, "off")) {
            p->what = WMI_PARSED_OFF;
            return true;
        }
        if (parse_special(c, p))
            return true;
        if (wmi_at_modifier(e))
            return wmi_expected(c, start, "an operand before the modifiers");
    }
    return parse_number(c, p, false);
}

/* ---- operands ---- */

/* Operand kinds that are written as an immediate. */
static bool is_immediate(unsigned kind)
{
    static const bool immediate[WMI_KIND_COUNT] = {
        [WMI_KIND_simm16] = true,      [WMI_KIND_uimm16] = true,     [WMI_KIND_optional16] = true,
        [WMI_KIND_simm24] = true,      [WMI_KIND_length] = true,     [WMI_KIND_label] = true,
        [WMI_KIND_hwreg] = true,       [WMI_KIND_sendmsg] = true,    [WMI_KIND_sendmsg_rtn] = true,
        [WMI_KIND_waitcnt] = true,     [WMI_KIND_depctr] = true,     [WMI_KIND_delay_alu] = true,
        [WMI_KIND_version] = true,     [WMI_KIND_gpr_idx] = true,    [WMI_KIND_attr] = true,
        [WMI_KIND_interp_slot] = true, [WMI_KIND_exp_target] = true, [WMI_KIND_probe] = true,
    };
    return immediate[kind];
}

static bool is_hidden(unsigned kind)
{
    return kind == WMI_KIND_tied || kind == WMI_KIND_vcc_hidden || kind == WMI_KIND_exec_hidden;
}

/* The only operand that it can be: of a comparison's result always, of others as isa/targets says. */
static bool may_lack_vcc(const struct wmi_encoder *e, const struct wmi_form *form,
                         const struct wmi_spec *spec)
{
    enum { NO_CARRY, LONE_CARRY, EACH };
    const unsigned unsaid = wmi_target_limit(e->target, WMI_LIMIT_vcc_unsaid);
    unsigned count = 0;
    if (spec->role == WMI_ROLE_D || unsaid == EACH)
        return true;
    for (unsigned i = 0; i < form->specs; i++)
        count += wmi_specs[form->spec + i].kind == WMI_KIND_vcc;
    return count == 1 && wmi_layouts[form->layout].extension == WMI_EXT_NONE &&
           (spec->role == WMI_ROLE_C || unsaid == LONE_CARRY);
}

static bool may_be_absent(const struct wmi_encoder *e, const struct wmi_form *form,
                          const struct wmi_spec *spec)
{
    return spec->flags & WMI_SPEC_OPTIONAL || spec->kind == WMI_KIND_buffer_data ||
           spec->kind == WMI_KIND_global_data || (spec->kind == WMI_KIND_vcc && may_lack_vcc(e, form, spec));
}

/* Operands that are not in the text if they are null. */
static bool is_absent_if_null(unsigned kind)
{
    return kind == WMI_KIND_flat_saddr || kind == WMI_KIND_sgpr_group_or_null;
}

/* Offsets of scalar loads, which default to 0 if absent. */
static bool is_scalar_offset(unsigned kind)
{
    return kind == WMI_KIND_smem_offset || kind == WMI_KIND_smem_soffset ||
           kind == WMI_KIND_smem_soffset_zero || kind == WMI_KIND_smrd_offset ||
           kind == WMI_KIND_smrd_offset_literal;
}

static bool at_end(struct wmi_cursor *c)
{
    wmi_skip_space(c);
    return c->at == c->end || (c->end - c->at >= 2 && c->at[0] == ':' && c->at[1] == ':');
}

static bool parse_operands(struct wmi_encoder *e, const struct wmi_form *form, struct wmi_parsed *parsed,
                           bool without)
{
    struct wmi_cursor *c = e->cursor;
    for (unsigned i = 0; i < form->specs; i++) {
        const struct wmi_spec *spec = &wmi_specs[form->spec + i];
        struct wmi_parsed *p = &parsed[i];
        memset(p, 0, offsetof(struct wmi_parsed, list));
        wmi_skip_space(c);
        p->at = c->at;
        if (is_hidden(spec->kind) || (without && may_be_absent(e, form, spec)))
            continue;
        if (spec->kind == WMI_KIND_optional16 && at_end(c))
            continue;
        if (is_absent_if_null(spec->kind) && (at_end(c) || wmi_at_modifier(e))) {
            p->what = WMI_PARSED_OFF;
            continue;
        }
        while (wmi_at_modifier(e) &&
               !is_immediate(spec->kind)) { /* modifiers such as dfmt may precede soffset */
            if (!wmi_parse_modifier(e))
                return false;
            wmi_take(c, ',');
        }
        if (at_end(c) && is_scalar_offset(spec->kind)) {
            p->what = WMI_PARSED_NUMBER;
            continue;
        }
        if (at_end(c))
            return wmi_expected(c, c->at, "another operand");
        wmi_skip_space(c);
        p->at = c->at;
        if (is_immediate(spec->kind) ? !wmi_parse_immediate(e, spec, p) : !parse_source(e, p, true))
            return false;
        if (is_scalar_offset(spec->kind) && c->at - p->at == 3 && !memcmp(p->at, "scc", 3))
            return wmi_expected(c, p->at, "an SGPR or an offset"); /* LLVM parses this as a modifier */
        wmi_take(c, ',');
    }
    return true;
}

/* What to expect of an operand that can only be one special register. */
static const char *special_name(const struct wmi_operand *o)
{
    if (o->kind != WMI_OPERAND_SPECIAL || o->reg > WMI_SPECIAL_VCC_LO)
        return "another register";
    return o->reg == WMI_SPECIAL_VCC ? "vcc" : "vcc_lo";
}

/* Whether 16-bit operands may be whole registers although text names halves: if all are, as op_sel says which
 * half (LLVM 22). */
static bool may_be_whole(const struct wmi_encoder *e)
{
    for (unsigned i = 0; i < e->form->specs; i++)
        if (e->parsed[i].what == WMI_PARSED_REGISTER && e->parsed[i].part)
            return false;
    return wmi_names_all_halves(e->target, e->form);
}

/* Whether the decoded operand agrees with the text. */
static bool agrees(struct wmi_encoder *e, const struct wmi_instruction *insn, unsigned i,
                   const struct wmi_spec *spec)
{
    const struct wmi_parsed *p = &e->parsed[i];
    const struct wmi_operand *o = &insn->operand[i];
    if (p->what == WMI_PARSED_ABSENT)
        return is_hidden(spec->kind) ||
               (spec->kind == WMI_KIND_vcc &&
                (spec->role != WMI_ROLE_D || wmi_layouts[e->form->layout].extension != WMI_EXT_SDWA)) ||
               o->kind == WMI_OPERAND_NONE || spec->kind == WMI_KIND_optional16 ||
               (spec->kind == WMI_KIND_global_data && insn->field[WMI_FIELD_lds]) ||
               wmi_expected(e->cursor, p->at, "one operand more");
    if (o->kind == WMI_OPERAND_NONE)
        return spec->kind == WMI_KIND_optional16 ||
               (is_absent_if_null(spec->kind) && p->what == WMI_PARSED_OFF) ||
               wmi_expected(e->cursor, p->at, "no operand here with these modifiers");
    if (spec->kind == WMI_KIND_exp_source) /* LLVM does not read all sources of compressed exports */
        return p->what == WMI_PARSED_OFF || (p->dwords == 1 && !p->part) ||
               wmi_expected(e->cursor, p->at, "one VGPR or off");
    if (p->what == WMI_PARSED_OFF)
        return o->kind == WMI_OPERAND_OFF || wmi_expected(e->cursor, p->at, "a register");
    if (p->what == WMI_PARSED_LIST) {
        e->cursor->number = o->dwords;
        const bool longer = spec->kind == WMI_KIND_image_addr && p->dwords > o->dwords;
        return o->dwords == p->dwords || longer || wmi_expected(e->cursor, p->at, "a list of %u registers");
    }
    if (p->what != WMI_PARSED_REGISTER)
        return o->kind != WMI_OPERAND_OFF || wmi_expected(e->cursor, p->at, "off");
    if (o->kind == WMI_OPERAND_OFF)
        return p->file == WMI_OPERAND_SPECIAL || wmi_expected(e->cursor, p->at, "off");
    if (o->kind == WMI_OPERAND_IMMEDIATE && p->file == WMI_OPERAND_SPECIAL && p->reg == WMI_SPECIAL_NULL)
        return true; /* null as SOFFSET: the operand is the immediate */
    if (o->kind != p->file)
        return wmi_expected(e->cursor, p->at, special_name(o));
    e->cursor->number = o->dwords;
    const bool wider_address = spec->kind == WMI_KIND_image_addr && p->dwords >= o->dwords;
    if (o->kind == WMI_OPERAND_SPECIAL ? false : o->dwords != p->dwords && !wider_address)
        return wmi_expected(e->cursor, p->at, o->dwords == 1 ? "one register" : "a tuple of %u registers");
    if (o->reg != p->reg)
        return wmi_expected(
            e->cursor, p->at,
            spec->kind == WMI_KIND_vopd_y_dst ? "an even register beside an odd one, or the other way round"
            : o->kind == WMI_OPERAND_SPECIAL  ? special_name(o)
                                              : "a tuple that begins at a multiple of its size (or of 4)");
    if (p->part != o->part && !may_be_whole(e))
        return wmi_expected(e->cursor, p->at,
                            o->part ? "a half of a register: .l or .h" : "a whole register");
    return true;
}

/* ---- an instruction ---- */

/* Marks the form's modifiers as not in the text. */
static void forget_fields(struct wmi_encoder *e)
{
    const struct wmi_instruction_layout *layout = &wmi_layouts[e->form->layout];
    e->field_at[WMI_FIELD_op_sel] = NULL;
    for (unsigned i = 0; i < layout->fields; i++)
        e->field_at[wmi_field_specs[layout->field + i].field] = NULL;
}

/* Operands and modifiers of the second half of a pair. */
static bool parse_second(struct wmi_encoder *e)
{
    struct wmi_cursor *c = e->cursor;
    const struct wmi_form *first = e->form;
    bool good = parse_operands(e, e->second, e->parsed + first->specs, false);
    e->form = e->second; /* whose modifiers follow */
    forget_fields(e);
    wmi_default_fields(e);
    while (good && !at_end(c))
        good = wmi_parse_modifier(e);
    e->form = first;
    return good && (c->at == c->end || wmi_expected(c, c->at, "the end of the line"));
}

/* Tries one form. On success `insn` is filled in. */
static bool try_form(struct wmi_encoder *e, const char *operands, bool without, struct wmi_instruction *insn)
{
    struct wmi_cursor *c = e->cursor;
    c->at = operands;
    forget_fields(e);
    e->field[WMI_FIELD_nsa] = e->field[WMI_FIELD_compr] = 0;
    e->field_at[WMI_FIELD_simm] = NULL;
    e->has_literal = e->late_literal = e->wide_literal = e->is_read = false;
    e->relocation = (struct wmi_relocation){0};
    wmi_default_fields(e);
    if (!parse_operands(e, e->form, e->parsed, without))
        return false;
    while (!at_end(c)) {
        if (!wmi_parse_modifier(e))
            return false;
        wmi_take(c, ',');
    }
    if (e->second) {
        c->at += 2;
        c->at += word_at(c);
        if (!parse_second(e))
            return false;
    } else if (c->at < c->end) {
        return wmi_expected(c, c->at, "the end of the line");
    }
    e->is_read = true;
    if (!wmi_encode(e))
        return false;
    if (wmi_decode(e->target, e->words, e->dwords, insn) != e->dwords || &wmi_forms[insn->form] != e->form ||
        (e->second && &wmi_forms[insn->second_form] != e->second))
        return wmi_expected(c, operands, "operands and modifiers that go together");
    for (unsigned i = 0; i < e->form->specs; i++)
        if (!agrees(e, insn, i, &wmi_specs[e->form->spec + i]))
            return false;
    for (unsigned i = 0; e->second && i < e->second->specs; i++)
        if (!agrees(e, insn, e->form->specs + i, &wmi_specs[e->second->spec + i]))
            return false;
    return wmi_form_takes(e, insn);
}

/* Operands that the form prints, and operands in the text: commas outside brackets plus one. */
static unsigned operands_shown(const struct wmi_encoder *e, const struct wmi_form *form, bool without)
{
    unsigned count = 0;
    for (unsigned i = 0; i < form->specs; i++) {
        const struct wmi_spec *spec = &wmi_specs[form->spec + i];
        count += !is_hidden(spec->kind) && !(without && may_be_absent(e, form, spec));
    }
    return count;
}

static unsigned operands_given(const char *at, const char *end)
{
    unsigned commas = 0, depth = 0;
    for (; at < end; at++) {
        depth += *at == '[' || *at == '(';
        depth -= depth && (*at == ']' || *at == ')');
        commas += *at == ',' && !depth;
    }
    return commas + 1;
}

static bool has_optional(const struct wmi_encoder *e, const struct wmi_form *form)
{
    for (unsigned i = 0; i < form->specs; i++)
        if (may_be_absent(e, form, &wmi_specs[form->spec + i]))
            return true;
    return false;
}

/* The error of the best failed form: prefers forms that parsed to the end of the line, then forms with the
 * number of operands in the text, then the error furthest on. */
struct failure {
    const char *wrong, *wrong_at;
    unsigned number, rank;
};

static void note_failure(const struct wmi_encoder *e, struct failure *failure, bool same_count)
{
    const unsigned rank = 2 * e->is_read + same_count;
    const struct wmi_cursor *c = e->cursor;
    if (c->wrong && (!failure->wrong || rank > failure->rank ||
                     (rank == failure->rank && c->wrong_at > failure->wrong_at)))
        *failure = (struct failure){c->wrong, c->wrong_at, c->number, rank};
}

/* The mnemonic's next entry that is the second half of a pair, in `space` unless that is NO_SPACE; or NULL.
 */
static const struct wmi_mnemonic *next_second(const struct wmi_target *target, const struct wmi_mnemonic *m,
                                              unsigned space)
{
    const char *name = m ? m->name : "";
    for (; m && m < target->mnemonics + target->mnemonic_count && !strcmp(m->name, name); m++)
        if (m->variant == WMI_VARIANT_SECOND && (space == NO_SPACE || m->space == space))
            return m;
    return NULL;
}

/* The mnemonic of the second half of a pair, after "::", or NULL. */
static const struct wmi_mnemonic *find_second(struct wmi_encoder *e, const char *operands)
{
    struct wmi_cursor c = *e->cursor;
    unsigned variants;
    for (const char *at = operands; at + 1 < c.end; at++)
        if (at[0] == ':' && at[1] == ':') {
            c.at = at + 2;
            const size_t length = word_at(&c);
            const struct wmi_mnemonic *m = wmi_find_mnemonic(e->target, c.at, length, &variants);
            if ((m = next_second(e->target, m, NO_SPACE)))
                return m;
            wmi_expected(e->cursor, c.at, "an instruction that can be the second of a pair");
            return NULL;
        }
    return NULL;
}

/* Tries a form with and without its optional operands. */
static bool try_both(struct wmi_encoder *e, const char *operands, struct failure *failure,
                     struct wmi_instruction *insn)
{
    for (unsigned without = 0; without <= has_optional(e, e->form); without++) {
        e->cursor->wrong = NULL;
        e->tried++;
        if (try_form(e, operands, without, insn))
            return true;
        const bool no_data = without && e->form->specs >= 4 &&
                             !e->field_at[WMI_FIELD_lds]; /* data is optional with lds only */
        const unsigned given = operands_given(operands, e->cursor->end);
        note_failure(e, failure, !no_data && operands_shown(e, e->form, without) == given);
    }
    return false;
}

static unsigned assemble(const struct wmi_target *target, struct wmi_cursor *cursor,
                         struct wmi_instruction *insn, struct wmi_relocation *relocation)
{
    struct wmi_encoder e;
    struct failure failure = {0};
    unsigned variants;
    e.target = target;
    e.cursor = cursor;
    e.tried = 0;
    cursor->wrong = NULL;
    const char *begin = cursor->at;
    const size_t length = word_at(cursor);
    const struct wmi_mnemonic *m = wmi_find_mnemonic_here(target, cursor, length, &variants);
    const char *operands = cursor->at + length;
    insn->dwords = 0;
    if (!m)
        return 0;
    memset(e.field, 0, sizeof e.field);
    memset(e.field_at, 0, sizeof e.field_at);
    const struct wmi_mnemonic *const end = target->mnemonics + target->mnemonic_count;
    const bool pair = !strncmp(m->name, "v_dual_", 7);
    const struct wmi_mnemonic *const second = pair ? find_second(&e, operands) : NULL;
    if (pair && !second) {
        wmi_expected(cursor, cursor->end, "'::' and the other half of the pair");
        return 0;
    }
    const char *name = m->name;
    for (; m < end && (m->name == name || !strcmp(m->name, name)); m++) {
        if (!(variants >> m->variant & 1))
            continue;
        e.mnemonic = m;
        e.form = &wmi_forms[m->form];
        e.second_mnemonic =
            next_second(target, second, second ? target->second[wmi_layouts[e.form->layout].dwords - 2] : 0);
        e.second = e.second_mnemonic ? &wmi_forms[e.second_mnemonic->form] : NULL;
        if (pair && !e.second)
            continue; /* the halves do not have this encoding in common */
        if (!try_both(&e, operands, &failure, insn))
            continue;
        if (!wmi_is_legal(&e, insn)) {
            insn->dwords = 0;
            return 0;
        }
        if (relocation)
            *relocation = e.relocation;
        if (cursor->patterns && !cursor->used_symbol)
            wmi_keep_pattern(cursor->patterns, begin, &e, insn);
        return insn->dwords;
    }
    insn->dwords = 0;
    cursor->wrong = failure.wrong;
    cursor->wrong_at = failure.wrong_at;
    cursor->number = failure.number;
    if (!cursor->wrong)
        wmi_expected(cursor, operands, "another suffix or none: this instruction has no such encoding");
    return 0;
}

/* Whether the text names a half of a register: v2.l, v2.h. */
static bool names_a_half(const struct wmi_cursor *c)
{
    for (const char *at = c->at; at + 2 < c->end; at++)
        if (isdigit((unsigned char)at[0]) && at[1] == '.' && (at[2] == 'l' || at[2] == 'h'))
            return true;
    return false;
}

/* LLVM 22 reads instructions without halves in both of its modes alike. */
static unsigned assemble_in_mode(const struct wmi_target *target, struct wmi_cursor *cursor,
                                 struct wmi_instruction *insn, struct wmi_relocation *relocation)
{
    const struct wmi_target *whole =
        target->real_true16 && target->limits[WMI_LIMIT_names_halves] && !names_a_half(cursor)
            ? wmi_target_of_mode(target, false)
            : NULL;
    const struct wmi_cursor start = *cursor;
    const unsigned dwords = whole ? assemble(whole, cursor, insn, relocation) : 0;
    if (dwords)
        return dwords;
    *cursor = start;
    if (relocation)
        *relocation = (struct wmi_relocation){0};
    return assemble(target, cursor, insn, relocation);
}

/* CLRX's documents write GCN instructions in capitals: TBUFFER_LOAD_FORMAT_X V1, V2, S[4:7], 0 OFFEN. A line
 * that does not assemble as written is retried in lower case without symbols. */
static unsigned assemble_capitals(const struct wmi_target *target, struct wmi_cursor *cursor,
                                  struct wmi_instruction *insn)
{
    enum { LONGEST = 256 };
    char text[LONGEST];
    const size_t length = (size_t)(cursor->end - cursor->at);
    if (length > sizeof text)
        return 0;
    for (size_t i = 0; i < length; i++)
        text[i] = (char)tolower((unsigned char)cursor->at[i]);
    struct wmi_cursor lower = {.at = text, .end = text + length};
    return assemble_in_mode(target, &lower, insn, NULL);
}

unsigned wmi_assemble(const struct wmi_target *target, struct wmi_cursor *cursor,
                      struct wmi_instruction *insn, struct wmi_relocation *relocation)
{
    wmi_skip_space(cursor);
    const struct wmi_cursor start = *cursor;
    unsigned dwords = assemble_in_mode(target, cursor, insn, relocation);
    if (dwords || start.at == start.end || *start.at < 'A' || *start.at > 'Z')
        return dwords;
    if (relocation)
        *relocation = (struct wmi_relocation){0};
    struct wmi_cursor again = start;
    dwords = assemble_capitals(target, &again, insn);
    if (dwords && start.patterns)
        wmi_keep_as_it_stands(start.patterns, start.at, start.end, insn);
    return dwords;
}
