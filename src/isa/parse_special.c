/* SPDX-License-Identifier: MIT */
/* Reads immediates and modifiers that have a syntax of their own: what print_special.c prints, and LLVM's
 * other spellings of it. */
#include "isa/parsed.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum {
    ALL_16_BITS = 0xffff,
    OPERATION_SHIFT = 4,
    STREAM_SHIFT = 8,
    SDWA_DWORD = 6,
    SDWA_PRESERVE = 2,
    DATA_BITS = 4,
    TH_RETURN = 1,
    TH_BYPASS_VALUE = 3,
    DPP_WAVE = 0x100,
};

static const char *const field_names[WMI_FIELD_COUNT] = {
#define FIELD(name, ...) #name,
#include "fields.def"
};

static bool is_word_char(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

bool wmi_take_word(struct wmi_cursor *cursor, const char *word)
{
    const size_t length = strlen(word);
    wmi_skip_space(cursor);
    if ((size_t)(cursor->end - cursor->at) < length || memcmp(cursor->at, word, length) ||
        (cursor->at + length < cursor->end && is_word_char(cursor->at[length])))
        return false;
    cursor->at += length;
    return true;
}

static size_t word_length(struct wmi_cursor *cursor)
{
    wmi_skip_space(cursor);
    size_t n = 0;
    while (cursor->at + n < cursor->end && is_word_char(cursor->at[n]))
        n++;
    return n;
}

static bool need(struct wmi_cursor *cursor, char c, const char *what)
{
    return wmi_take(cursor, c) || wmi_expected(cursor, cursor->at, what);
}

/* Takes a name of the group, case aside, with or without `prefix`; false without a message. */
static bool take_name_of(struct wmi_encoder *e, enum wmi_name_group group, const char *prefix, int32_t *value)
{
    struct wmi_cursor *c = e->cursor;
    const size_t length = word_length(c), cut = strlen(prefix);
    for (const struct wmi_name *name = e->target->names[group]; *name->text && length; name++) {
        const char *texts[] = {name->text, strncasecmp(name->text, prefix, cut) ? "" : name->text + cut};
        for (unsigned i = 0; i < 2; i++)
            if (strlen(texts[i]) == length && !strncasecmp(texts[i], c->at, length)) {
                c->at += length;
                *value = name->value;
                return true;
            }
    }
    return false;
}

/* A name of the group or a number. */
static bool name_or_number(struct wmi_encoder *e, enum wmi_name_group group, const char *prefix,
                           int32_t *value)
{
    int64_t number;
    wmi_skip_space(e->cursor);
    const char *start = e->cursor->at;
    if (take_name_of(e, group, prefix, value))
        return true;
    const bool named = start < e->cursor->end && isalpha((unsigned char)*start);
    if (named)
        return wmi_expected(e->cursor, start, "a name that this target knows here, or a number");
    if (!wmi_read_number(e->cursor, &number))
        return false;
    *value = (int32_t)number;
    return (number >= 0 && number <= INT32_MAX) ||
           wmi_expected(e->cursor, start, "a number that is not negative");
}

static bool in_range(struct wmi_encoder *e, const char *at, int64_t value, int64_t low, int64_t high)
{
    if (value >= low && value <= high)
        return true;
    e->cursor->number = (unsigned)high;
    return wmi_expected(e->cursor, at,
                        low == 0   ? "a number from 0 to %u"
                        : low == 1 ? "a number from 1 to %u"
                                   : "a number in range");
}

/* ---- immediates ---- */

static bool parse_hwreg(struct wmi_encoder *e, int64_t *value)
{
    enum { OFFSET_SHIFT = 6, SIZE_SHIFT = 11, BITS_32 = 32, IDS = 64 };
    struct wmi_cursor *c = e->cursor;
    int32_t id;
    int64_t offset = 0, size = BITS_32;
    if (!need(c, '(', "'('"))
        return false;
    wmi_skip_space(c);
    const char *start = c->at;
    if (!name_or_number(e, WMI_NAMES_hwreg, "", &id) || !in_range(e, start, id, 0, IDS - 1))
        return false;
    if (wmi_take(c, ',')) {
        start = c->at;
        if (!wmi_read_number(c, &offset) || !in_range(e, start, offset, 0, BITS_32 - 1) ||
            !need(c, ',', "','"))
            return false;
        start = c->at;
        if (!wmi_read_number(c, &size) || !in_range(e, start, size, 1, BITS_32))
            return false;
    }
    *value = id | offset << OFFSET_SHIFT | (size - 1) << SIZE_SHIFT;
    return need(c, ')', "')'");
}

static bool parse_sendmsg(struct wmi_encoder *e, int64_t *value)
{
    enum { MESSAGE_GS = 2, MESSAGE_GS_DONE = 3, MESSAGE_SYSMSG = 15, ID_BITS = 4 };
    struct wmi_cursor *c = e->cursor;
    int32_t id, operation = 0;
    int64_t stream = 0;
    const char *start = c->at;
    if (!need(c, '(', "'('"))
        return false;
    wmi_skip_space(c);
    const bool by_name = c->at < c->end && isalpha((unsigned char)*c->at);
    const bool plain = e->target->limits[WMI_LIMIT_message_bits] > ID_BITS;
    start = c->at;
    if (!name_or_number(e, WMI_NAMES_message, "", &id) || !in_range(e, start, id, 0, plain ? UINT8_MAX : 15))
        return false;
    const bool gs = !plain && (id == MESSAGE_GS || id == MESSAGE_GS_DONE);
    const bool takes_operation = !plain && (gs || id == MESSAGE_SYSMSG);
    if (wmi_take(c, ',')) {
        start = c->at;
        if (by_name && !takes_operation)
            return wmi_expected(c, start, "')': this message has no operation");
        if (!name_or_number(e, id == MESSAGE_SYSMSG ? WMI_NAMES_sysmsg_operation : WMI_NAMES_gs_operation, "",
                            &operation) ||
            !in_range(e, start, operation, 0, 7))
            return false;
        if (by_name && id == MESSAGE_GS_DONE ? false : by_name && id == MESSAGE_GS && !operation)
            return wmi_expected(c, start, "an operation other than GS_OP_NOP");
        if (wmi_take(c, ',')) {
            start = c->at;
            if (by_name && (!gs || !operation))
                return wmi_expected(c, start, "')': this operation has no stream");
            if (!wmi_read_number(c, &stream) || !in_range(e, start, stream, 0, 3))
                return false;
        }
    } else if (by_name && takes_operation) {
        return wmi_expected(c, c->at, "an operation");
    }
    *value = id | operation << OPERATION_SHIFT | stream << STREAM_SHIFT;
    return need(c, ')', "')'");
}

/* vmcnt(1) & expcnt(2), lgkmcnt(3): any of them; the others wait for nothing. */
static bool parse_waitcnt(struct wmi_encoder *e, int64_t *value)
{
    struct wmi_cursor *c = e->cursor;
    const uint32_t *limits = e->target->limits;
    const unsigned vm_bits = limits[WMI_LIMIT_vmcnt_bits];
    const int64_t most[] = {(1 << vm_bits) - 1, 7, (1 << limits[WMI_LIMIT_lgkmcnt_bits]) - 1};
    static const char *const names[] = {"vmcnt", "expcnt", "lgkmcnt"};
    int64_t counts[] = {most[0], most[1], most[2]};
    do {
        unsigned i = 0;
        const size_t length = word_length(c);
        bool saturates = false;
        for (; i < 3; i++) {
            const size_t n = strlen(names[i]);
            if (length >= n && !memcmp(c->at, names[i], n) &&
                (length == n || (length == n + 4 && !memcmp(c->at + n, "_sat", 4)))) {
                saturates = length > n;
                break;
            }
        }
        if (i == 3)
            return wmi_expected(c, c->at, "vmcnt(), expcnt() or lgkmcnt()");
        c->at += length;
        if (!need(c, '(', "'('"))
            return false;
        const char *start = c->at;
        if (!wmi_read_number(c, &counts[i]))
            return false;
        if (counts[i] < 0 || counts[i] > most[i]) {
            if (!saturates)
                return in_range(e, start, counts[i], 0, most[i]);
            counts[i] = most[i];
        }
        if (!need(c, ')', "')'"))
            return false;
        if (!wmi_take(c, '&'))
            wmi_take(c, ',');
        wmi_skip_space(c);
    } while (c->at < c->end);
    const unsigned vm_shift = limits[WMI_LIMIT_vmcnt_shift];
    *value = vm_shift ? counts[0] << vm_shift : (counts[0] & 15) | counts[0] >> 4 << 14;
    *value |= counts[1] << limits[WMI_LIMIT_expcnt_shift] | counts[2] << limits[WMI_LIMIT_lgkmcnt_shift];
    return true;
}

static bool parse_depctr(struct wmi_encoder *e, int64_t *value)
{
    struct wmi_cursor *c = e->cursor;
    const struct wmi_name *const names = e->target->names[WMI_NAMES_depctr];
    *value = 0;
    for (const struct wmi_name *name = names; *name->text; name++)
        *value |= ((1 << (name->value >> 8 & 255)) - 1) << (name->value & 255);
    do {
        int32_t place;
        int64_t count;
        wmi_skip_space(c);
        if (!take_name_of(e, WMI_NAMES_depctr, "", &place))
            return wmi_expected(c, c->at, "a counter such as depctr_va_vdst(), or a number");
        if (!need(c, '(', "'('"))
            return false;
        const char *start = c->at;
        const int most = (1 << (place >> 8 & 255)) - 1, shift = place & 255;
        if (!wmi_read_number(c, &count) || !in_range(e, start, count, 0, most) || !need(c, ')', "')'"))
            return false;
        *value = (*value & ~((int64_t)most << shift)) | count << shift;
        if (!wmi_take(c, '&'))
            wmi_take(c, ',');
        wmi_skip_space(c);
    } while (c->at < c->end);
    return true;
}

static bool parse_delay_alu(struct wmi_encoder *e, int64_t *value)
{
    static const struct {
        const char *name;
        enum wmi_name_group group;
        unsigned shift;
    } parts[] = {{"instid0", WMI_NAMES_delay_instid, 0},
                 {"instskip", WMI_NAMES_delay_skip, 4},
                 {"instid1", WMI_NAMES_delay_instid, 7}};
    struct wmi_cursor *c = e->cursor;
    *value = 0;
    do {
        unsigned i = 0;
        int32_t number = 0;
        while (i < 3 && !wmi_take_word(c, parts[i].name))
            i++;
        if (i == 3)
            return wmi_expected(c, c->at, "instid0(), instskip() or instid1()");
        if (!need(c, '(', "'('"))
            return false;
        if (!wmi_take_word(c, "NO_DEP") && !take_name_of(e, parts[i].group, "", &number))
            return wmi_expected(c, c->at, "a dependency's name");
        *value |= number << parts[i].shift;
        if (!need(c, ')', "')'"))
            return false;
    } while (wmi_take(c, '|'));
    return true;
}

static bool parse_gpr_idx(struct wmi_encoder *e, int64_t *value)
{
    static const char *const names[] = {"SRC0", "SRC1", "SRC2", "DST"};
    struct wmi_cursor *c = e->cursor;
    *value = 0;
    if (!need(c, '(', "'('"))
        return false;
    while (!wmi_take(c, ')')) {
        unsigned i = 0;
        while (i < 4 && !wmi_take_word(c, names[i]))
            i++;
        if (i == 4 || *value >> i & 1)
            return wmi_expected(c, c->at, "SRC0, SRC1, SRC2 or DST, each once");
        *value |= 1 << i;
        wmi_take(c, ',');
    }
    return true;
}

static bool take_integer(struct wmi_encoder *e, int32_t *value)
{
    struct wmi_cursor only = *e->cursor;
    int64_t number;
    wmi_skip_space(&only);
    only.end = only.at + word_length(&only);
    if (only.at == only.end || !isdigit((unsigned char)*only.at) || !wmi_read_number(&only, &number))
        return false;
    e->cursor->at = only.at;
    *value = (int32_t)number;
    return true;
}

/* Names and numbers joined by '|', with parentheses around any of them. */
static bool parse_version(struct wmi_encoder *e, int64_t *value)
{
    struct wmi_cursor *c = e->cursor;
    unsigned open = 0;
    *value = 0;
    for (;;) {
        int32_t part;
        while (wmi_take(c, '('))
            open++;
        if (!take_name_of(e, WMI_NAMES_version, "", &part) &&
            !take_name_of(e, WMI_NAMES_version_flag, "", &part) && !take_integer(e, &part))
            return wmi_expected(c, c->at, "a UC_VERSION_ name or a number");
        *value |= part;
        while (open && wmi_take(c, ')'))
            open--;
        if (!wmi_take(c, '|'))
            return !open || wmi_expected(c, c->at, "')'");
    }
}

/* attr12.x: the number is the operand, the channel a field. */
static bool parse_attribute(struct wmi_encoder *e, int64_t *value)
{
    static const char channels[] = "xyzw";
    struct wmi_cursor *c = e->cursor;
    wmi_skip_space(c);
    const char *start = c->at;
    if (c->end - start < 7 || memcmp(start, "attr", 4) || !isdigit((unsigned char)start[4]))
        return wmi_expected(c, start, "an attribute such as attr0.x");
    const char *at = start + 4;
    for (*value = 0; at < c->end && isdigit((unsigned char)*at) && *value <= UINT8_MAX; at++)
        *value = *value * 10 + (*at - '0');
    const char *channel = at + 1 < c->end && *at == '.' && at[1] ? strchr(channels, at[1]) : NULL;
    if (!channel)
        return wmi_expected(c, at, "'.' and a channel x, y, z or w");
    e->field[WMI_FIELD_attr_chan] = (int32_t)(channel - channels);
    c->at = at + 2;
    return true;
}

static bool parse_named(struct wmi_encoder *e, enum wmi_name_group group, const char *what, int64_t *value)
{
    int32_t number;
    if (!take_name_of(e, group, "", &number))
        return wmi_expected(e->cursor, e->cursor->at, what);
    *value = number;
    return true;
}

/* Says what an immediate may begin with besides a number, if what is there is none. */
static bool name_what_begins(struct wmi_encoder *e, unsigned kind)
{
    static const struct {
        enum wmi_kind kind;
        const char *what;
    } beginnings[] = {
        {WMI_KIND_waitcnt, "vmcnt(), expcnt(), lgkmcnt() or a number"},
        {WMI_KIND_depctr, "a counter such as depctr_va_vdst(), or a number"},
        {WMI_KIND_delay_alu, "instid0(), instskip(), instid1() or a number"},
        {WMI_KIND_hwreg, "hwreg() or a number"},
        {WMI_KIND_sendmsg, "sendmsg() or a number"},
        {WMI_KIND_gpr_idx, "gpr_idx() or a number"},
    };
    struct wmi_cursor *c = e->cursor;
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (beginnings[i].kind == kind && c->wrong_at == c->at && c->at < c->end &&
            isalpha((unsigned char)*c->at))
            c->wrong = beginnings[i].what;
    return false;
}

bool wmi_parse_immediate(struct wmi_encoder *e, const struct wmi_spec *spec, struct wmi_parsed *operand)
{
    static const struct {
        enum wmi_kind kind;
        const char *word;
        bool (*parse)(struct wmi_encoder *e, int64_t *value);
    } named[] = {
        {WMI_KIND_hwreg, "hwreg", parse_hwreg},
        {WMI_KIND_sendmsg, "sendmsg", parse_sendmsg},
        {WMI_KIND_sendmsg_rtn, "sendmsg", parse_sendmsg},
        {WMI_KIND_gpr_idx, "gpr_idx", parse_gpr_idx},
    };
    static const struct {
        enum wmi_kind kind;
        const char *begins;
        bool (*parse)(struct wmi_encoder *e, int64_t *value);
    } begun[] = {
        {WMI_KIND_waitcnt, "vmcnt", parse_waitcnt},      {WMI_KIND_waitcnt, "expcnt", parse_waitcnt},
        {WMI_KIND_waitcnt, "lgkmcnt", parse_waitcnt},    {WMI_KIND_depctr, "depctr_", parse_depctr},
        {WMI_KIND_delay_alu, "instid", parse_delay_alu}, {WMI_KIND_delay_alu, "instskip", parse_delay_alu},
    };
    struct wmi_cursor *c = e->cursor;
    int64_t *value = &operand->value.number;
    operand->what = WMI_PARSED_NUMBER;
    wmi_skip_space(c);
    operand->at = c->at;
    if (spec->kind == WMI_KIND_attr)
        return parse_attribute(e, value);
    if (spec->kind == WMI_KIND_version)
        return parse_version(e, value);
    if (spec->kind == WMI_KIND_interp_slot)
        return parse_named(e, WMI_NAMES_interp_slot, "p10, p20 or p0", value);
    if (spec->kind == WMI_KIND_exp_target)
        return parse_named(e, WMI_NAMES_export_target,
                           "an export target of this GPU such as mrt0, mrtz, pos0", value);
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if (named[i].kind == spec->kind && wmi_take_word(c, named[i].word))
            return named[i].parse(e, value);
    for (size_t i = 0; i < sizeof begun / sizeof *begun; i++) {
        const size_t length = strlen(begun[i].begins);
        if (begun[i].kind == spec->kind && (size_t)(c->end - c->at) >= length &&
            !memcmp(c->at, begun[i].begins, length))
            return begun[i].parse(e, value);
    }
    if (spec->kind == WMI_KIND_probe || spec->kind == WMI_KIND_uimm16 || spec->kind == WMI_KIND_label ||
        spec->kind == WMI_KIND_simm16)
        return wmi_read_expression(c, &operand->value);
    return wmi_read_number(c, value) || name_what_begins(e, spec->kind);
}

/* ---- modifiers ---- */

void wmi_default_fields(struct wmi_encoder *e)
{
    const struct wmi_layout *layout = &wmi_layouts[e->form->layout];
    for (unsigned i = 0; i < layout->fields; i++) {
        const struct wmi_field_spec *spec = &wmi_field_specs[layout->field + i];
        const unsigned width = spec->width + spec->width2;
        int32_t value = 0;
        switch (spec->show) {
        case WMI_SHOW_always_hex: /* row_mask, bank_mask */
        case WMI_SHOW_bits_hi:
            value = (1 << width) - 1;
            break;
        case WMI_SHOW_sdwa_select:
            value = SDWA_DWORD;
            break;
        case WMI_SHOW_sdwa_unused:
            value = SDWA_PRESERVE;
            break;
        case WMI_SHOW_format:
        case WMI_SHOW_unified_format:
            value = 1; /* 8, 8_UNORM */
            break;
        default:
            break;
        }
        e->field[spec->field] = value;
    }
}

/* [a,b,c]: how many numbers there were, or -1 after a message. */
static int parse_list(struct wmi_encoder *e, int64_t *values, int most, int64_t highest)
{
    struct wmi_cursor *c = e->cursor;
    int count = 0;
    if (!need(c, '[', "'['"))
        return -1;
    do {
        wmi_skip_space(c);
        const char *start = c->at;
        if (count == most) {
            wmi_expected(c, start, "']'");
            return -1;
        }
        if (!wmi_read_number(c, &values[count]) || !in_range(e, start, values[count], 0, highest))
            return -1;
        count++;
    } while (wmi_take(c, ','));
    return need(c, ']', "',' or ']'") ? count : -1;
}

static bool has_role(const struct wmi_form *form, unsigned role)
{
    for (unsigned i = 0; i < form->specs; i++)
        if (wmi_specs[form->spec + i].role == role)
            return true;
    return false;
}

/* One bit for each source, and one for the result. */
static bool parse_bits(struct wmi_encoder *e, const struct wmi_field_spec *spec, int32_t *value)
{
    int64_t bits[4];
    const char *start = e->cursor->at;
    const int count = parse_list(e, bits, 4, 1);
    int at = 0;
    if (count < 0)
        return false;
    for (unsigned role = WMI_ROLE_A; role <= WMI_ROLE_C; role++) {
        const unsigned bit = role - WMI_ROLE_A;
        if (!has_role(e->form, role))
            continue;
        if (at < count)
            *value = (*value & ~(1 << bit)) | (int32_t)bits[at] << bit;
        at++;
    }
    if (spec->width + spec->width2 == 4) {
        if (at < count)
            *value |= (int32_t)bits[at] << 3;
        at++;
    }
    return count <= at || wmi_expected(e->cursor, start, "fewer values: one for each operand");
}

static bool parse_swizzle(struct wmi_encoder *e, int32_t *value)
{
    struct wmi_cursor *c = e->cursor;
    int64_t n[4];
    unsigned count = 0, wanted;
    static const struct {
        const char *name;
        unsigned numbers;
    } modes[] = {{"QUAD_PERM", 4}, {"SWAP", 1}, {"REVERSE", 1}, {"BROADCAST", 2}, {"BITMASK_PERM", 0}};
    unsigned mode = 0;
    if (!need(c, '(', "'('"))
        return false;
    while (mode < 5 && !wmi_take_word(c, modes[mode].name))
        mode++;
    if (mode == 5)
        return wmi_expected(c, c->at, "QUAD_PERM, SWAP, REVERSE, BROADCAST or BITMASK_PERM");
    wanted = modes[mode].numbers;
    for (; count < wanted; count++)
        if (!need(c, ',', "','") || !wmi_read_number(c, &n[count]))
            return false;
    const char *end = c->at;
    switch (mode) {
    case 0:
        for (unsigned i = 0; i < 4; i++)
            if (!in_range(e, end, n[i], 0, 3))
                return false;
        *value = (int32_t)(0x8000 | n[0] | n[1] << 2 | n[2] << 4 | n[3] << 6);
        break;
    case 1:
        if (n[0] < 1 || n[0] > 16 || n[0] & (n[0] - 1))
            return wmi_expected(c, end, "a power of two up to 16");
        *value = (int32_t)(31 | n[0] << 10);
        break;
    case 2:
        if (n[0] < 2 || n[0] > 32 || n[0] & (n[0] - 1))
            return wmi_expected(c, end, "a power of two from 2 to 32");
        *value = (int32_t)(31 | (n[0] - 1) << 10);
        break;
    case 3:
        if (n[0] < 2 || n[0] > 32 || n[0] & (n[0] - 1) || n[1] < 0 || n[1] >= n[0])
            return wmi_expected(c, end, "a power of two from 2 to 32 and a lane below it");
        *value = (int32_t)((32 - n[0]) | n[1] << 5);
        break;
    default: {
        unsigned and_mask = 0, or_mask = 0, xor_mask = 0;
        if (!need(c, ',', "','") || !need(c, '"', "a mask such as \"00pi1\""))
            return false;
        for (int bit = 4; bit >= 0; bit--, c->at++) {
            const char letter = c->at < c->end ? *c->at : 0;
            if (!letter || !strchr("01pi", letter))
                return wmi_expected(c, c->at, "one of 0, 1, p, i for each of five bits");
            and_mask |= (unsigned)(letter == 'p' || letter == 'i') << bit;
            or_mask |= (unsigned)(letter == '1') << bit;
            xor_mask |= (unsigned)(letter == 'i') << bit;
        }
        if (!need(c, '"', "'\"'"))
            return false;
        *value = (int32_t)(and_mask | or_mask << 5 | xor_mask << 10);
    }
    }
    return need(c, ')', "')'");
}

/* format:[8_8_8_8,unorm] by names in any order, or format:78 by number. */
static bool parse_format(struct wmi_encoder *e)
{
    struct wmi_cursor *c = e->cursor;
    int32_t *data = &e->field[WMI_FIELD_dfmt], *number = &e->field[WMI_FIELD_nfmt];
    int64_t value;
    if (!wmi_take(c, '[')) {
        const char *start = c->at;
        if (!wmi_read_number(c, &value) || !in_range(e, start, value, 0, (1 << 7) - 1))
            return false;
        *data = (int32_t)value & ((1 << DATA_BITS) - 1);
        *number = (int32_t)value >> DATA_BITS;
        return true;
    }
    do {
        if (!take_name_of(e, WMI_NAMES_data_format, "BUF_DATA_FORMAT_", data) &&
            !take_name_of(e, WMI_NAMES_number_format, "BUF_NUM_FORMAT_", number))
            return wmi_expected(c, c->at, "a name of a data or number format");
    } while (wmi_take(c, ','));
    return need(c, ']', "',' or ']'");
}

/* One name, BUF_FMT_8_UNORM, or one of the older two. */
static bool parse_unified_format(struct wmi_encoder *e, int32_t *value)
{
    struct wmi_cursor *c = e->cursor;
    int64_t number;
    if (!wmi_take(c, '[')) {
        const char *start = c->at;
        if (!wmi_read_number(c, &number) || !in_range(e, start, number, 0, (1 << 7) - 1))
            return false;
        *value = (int32_t)number;
        return true;
    }
    if (take_name_of(e, WMI_NAMES_unified_format, "BUF_FMT_", value))
        return need(c, ']', "']'");
    /* data and number apart: the unified name is made of theirs */
    int32_t parts[2] = {1, 0};
    char name[64];
    const char *start = c->at;
    do {
        if (!take_name_of(e, WMI_NAMES_data_format, "BUF_DATA_FORMAT_", &parts[0]) &&
            !take_name_of(e, WMI_NAMES_number_format, "BUF_NUM_FORMAT_", &parts[1]))
            return wmi_expected(c, c->at, "a name of a format");
    } while (wmi_take(c, ','));
    const char *data = wmi_name_of(e->target, WMI_NAMES_data_format, parts[0]);
    const char *kind = wmi_name_of(e->target, WMI_NAMES_number_format, parts[1]);
    snprintf(name, sizeof name, "BUF_FMT_%s_%s", data ? data + strlen("BUF_DATA_FORMAT_") : "",
             kind ? kind + strlen("BUF_NUM_FORMAT_") : "");
    for (const struct wmi_name *n = e->target->names[WMI_NAMES_unified_format]; *n->text; n++)
        if (!strcmp(n->text, name)) {
            *value = n->value;
            return need(c, ']', "']'");
        }
    if (parts[0] == 1 && parts[1] == 0) {
        *value = 1;
        return need(c, ']', "']'");
    }
    return wmi_expected(c, start, "formats that go together");
}

static bool parse_temporal_hint(struct wmi_encoder *e, int32_t *value)
{
    struct wmi_cursor *c = e->cursor;
    static const char *const zeros[] = {"TH_LOAD_RT", "TH_STORE_RT", "TH_ATOMIC_RT", "TH_DEFAULT"};
    static const char *const bypasses[] = {"TH_LOAD_BYPASS", "TH_STORE_BYPASS"};
    const unsigned memory = wmi_rows[e->form->id].memory;
    const enum wmi_name_group group = memory == WMI_MEMORY_ATOMIC  ? WMI_NAMES_th_atomic
                                      : memory == WMI_MEMORY_STORE ? WMI_NAMES_th_store
                                                                   : WMI_NAMES_th_load;
    const char *start = c->at;
    for (unsigned i = 0; i < 4; i++)
        if (wmi_take_word(c, zeros[i])) {
            *value = 0;
            return true;
        }
    if (memory != WMI_MEMORY_ATOMIC && wmi_take_word(c, bypasses[memory == WMI_MEMORY_STORE])) {
        *value = TH_BYPASS_VALUE;
        return true;
    }
    if (wmi_take_word(c, "TH_ATOMIC_RT_RETURN")) {
        *value = TH_RETURN;
        return true;
    }
    if (take_name_of(e, group, "", value))
        return true;
    return wmi_expected(c, start, "a temporal hint of this kind of instruction");
}

/* The DPP control that begins here; `word` is its name. False without a message: it is none. */
static bool parse_dpp_ctrl(struct wmi_encoder *e, int32_t *value)
{
    struct wmi_cursor *c = e->cursor;
    int64_t n[4];
    if (wmi_take_word(c, "quad_perm")) {
        if (!need(c, ':', "':'"))
            return false;
        const int count = parse_list(e, n, 4, 3);
        if (count != 4)
            return count < 0 ? false : wmi_expected(c, c->at, "four lanes");
        *value = (int32_t)(n[0] | n[1] << 2 | n[2] << 4 | n[3] << 6);
        return true;
    }
    const char *start = c->at;
    const size_t length = word_length(c);
    for (const struct wmi_name *name = e->target->names[WMI_NAMES_dpp]; *name->text; name++) {
        const char *colon = strchr(name->text, ':');
        const size_t own = colon ? (size_t)(colon - name->text) : strlen(name->text);
        if (own != length || memcmp(start, name->text, own))
            continue;
        c->at = start + length;
        *value = name->value;
        if (!colon)
            return true;
        int64_t number;
        if (!need(c, ':', "':'"))
            return false;
        const char *at = c->at;
        if (!wmi_read_number(c, &number))
            return false;
        for (; *name->text; name++)
            if (!memcmp(name->text, start, length) && name->text[length] == ':' &&
                number == name->text[length + 1] - '0' +
                              (name->text[length + 2]
                                   ? (name->text[length + 1] - '0') * 9 + name->text[length + 2] - '0'
                                   : 0)) {
                *value = name->value;
                return true;
            }
        return wmi_expected(c, at, "another number of lanes");
    }
    for (const struct wmi_name *name = e->target->names[WMI_NAMES_dpp_row]; *name->text; name++) {
        if (strlen(name->text) != length || memcmp(start, name->text, length))
            continue;
        c->at = start + length;
        int64_t number;
        if (!need(c, ':', "':'"))
            return false;
        const char *at = c->at;
        if (!wmi_read_number(c, &number) || !in_range(e, at, number, name->value >= 0x15 ? 0 : 1, 15))
            return false;
        *value = name->value << 4 | (int32_t)number;
        return true;
    }
    return wmi_expected(c, start, "a DPP control");
}

static bool is_dpp_word(const struct wmi_encoder *e, const char *word, size_t length)
{
    if (length == strlen("quad_perm") && !memcmp(word, "quad_perm", length))
        return true;
    for (unsigned group = WMI_NAMES_dpp_row; group <= WMI_NAMES_dpp; group++)
        for (const struct wmi_name *name = e->target->names[group]; *name->text; name++)
            if (strcspn(name->text, ":") == length && !memcmp(name->text, word, length))
                return true;
    return false;
}

static bool same(const char *word, size_t length, const char *name)
{
    return strlen(name) == length && !memcmp(word, name, length);
}

/* The field that a modifier called `word` sets. */
static const struct wmi_field_spec *field_of(const struct wmi_encoder *e, const char *word, size_t length)
{
    const struct wmi_layout *layout = &wmi_layouts[e->form->layout];
    for (unsigned i = 0; i < layout->fields; i++) {
        const struct wmi_field_spec *spec = &wmi_field_specs[layout->field + i];
        const char *name = field_names[spec->field];
        const bool hidden = spec->show == WMI_SHOW_none && spec->field != WMI_FIELD_nfmt;
        switch (spec->show) {
        case WMI_SHOW_omod:
            if (same(word, length, "mul") || same(word, length, "div"))
                return spec;
            break;
        case WMI_SHOW_dpp_ctrl:
            if (is_dpp_word(e, word, length))
                return spec;
            break;
        case WMI_SHOW_smem_offset:
        case WMI_SHOW_smem_soffset:
        case WMI_SHOW_smem_soffset_zero:
            if (same(word, length, "offset"))
                return spec;
            break;
        case WMI_SHOW_format:
            if (same(word, length, "format") || same(word, length, "dfmt"))
                return spec;
            break;
        default:
            if (!hidden && same(word, length, name))
                return spec;
            if (spec->show == WMI_SHOW_flag && length > 2 && word[0] == 'n' && word[1] == 'o' &&
                same(word + 2, length - 2, name))
                return spec;
            break;
        }
    }
    return NULL;
}

bool wmi_at_modifier(struct wmi_encoder *e)
{
    const size_t length = word_length(e->cursor);
    const char *at = e->cursor->at;
    const bool reg = length && (*at == 'v' || *at == 's') && (length == 1 || isdigit((unsigned char)at[1]));
    return length && !reg && field_of(e, at, length);
}

/* What follows the colon of a modifier that is a number or a list. */
static bool parse_value(struct wmi_encoder *e, const struct wmi_field_spec *spec, const char *word,
                        size_t length)
{
    struct wmi_cursor *c = e->cursor;
    int32_t *value = &e->field[spec->field];
    int64_t number, n[32];
    int count;
    wmi_skip_space(c);
    const char *start = c->at;
    switch (spec->show) {
    case WMI_SHOW_omod:
        if (!wmi_read_number(c, &number))
            return false;
        *value = word[0] == 'd' ? 3 : number == 2 ? 1 : 2;
        if (word[0] == 'd' ? number == 2 : number == 2 || number == 4)
            return true;
        if (number == 1) {
            *value = 0;
            return true;
        }
        return wmi_expected(c, start, "mul:2, mul:4 or div:2");
    case WMI_SHOW_dim:
        return name_or_number(e, WMI_NAMES_dim, "SQ_RSRC_IMG_", value);
    case WMI_SHOW_dpp8:
        count = parse_list(e, n, 8, 7);
        *value = 0;
        for (int i = 0; i < count; i++)
            *value |= (int32_t)n[i] << 3 * i;
        return count == 8 || (count >= 0 && wmi_expected(c, start, "eight lanes"));
    case WMI_SHOW_th:
        return parse_temporal_hint(e, value);
    case WMI_SHOW_scope:
        if (wmi_take_word(c, "SCOPE_CU")) {
            *value = 0;
            return true;
        }
        return name_or_number(e, WMI_NAMES_scope, "", value);
    case WMI_SHOW_bound_ctrl:
        if (!wmi_read_number(c, &number) || !in_range(e, start, number, 0, 1))
            return false;
        *value = number || e->target->limits[WMI_LIMIT_bound_ctrl_0];
        return true;
    case WMI_SHOW_bits:
    case WMI_SHOW_bits_hi:
        if (spec->show == WMI_SHOW_bits)
            *value = 0;
        return parse_bits(e, spec, value);
    case WMI_SHOW_bits_all:
    case WMI_SHOW_pair_bits:
        count = parse_list(e, n, spec->width, 1);
        *value = 0;
        for (int i = 0; i < count; i++)
            *value |= (int32_t)n[i] << i;
        return count >= 0;
    case WMI_SHOW_bits_c:
        count = parse_list(e, n, 3, 1);
        *value = count == 3 ? (int32_t)n[2] : 0;
        return count == 3 && !n[0] && !n[1] ? true : wmi_expected(c, start, "[0,0,0] or [0,0,1]");
    case WMI_SHOW_bits_cd:
        count = parse_list(e, n, 4, 1);
        *value = count >= 3 ? (int32_t)(n[2] | (count == 4 ? n[3] << 1 : 0)) : 0;
        return count >= 0 && (count < 1 || !n[0]) && (count < 2 || !n[1])
                   ? true
                   : wmi_expected(c, start, "[0,0,a,b]");
    case WMI_SHOW_byte_sel_swapped:
        if (!wmi_read_number(c, &number) || !in_range(e, start, number, 0, 3))
            return false;
        *value = (int32_t)((number & 1) << 1 | (number >> 1 & 1));
        return true;
    case WMI_SHOW_sdwa_select:
        return take_name_of(e, WMI_NAMES_sdwa_select, "", value) ||
               wmi_expected(c, start, "BYTE_0 to BYTE_3, WORD_0, WORD_1 or DWORD");
    case WMI_SHOW_sdwa_unused:
        return take_name_of(e, WMI_NAMES_sdwa_unused, "", value) ||
               wmi_expected(c, start, "UNUSED_PAD, UNUSED_SEXT or UNUSED_PRESERVE");
    case WMI_SHOW_swizzle:
        if (wmi_take_word(c, "swizzle"))
            return parse_swizzle(e, value);
        break;
    case WMI_SHOW_format:
        if (same(word, length, "format"))
            return parse_format(e);
        break;
    case WMI_SHOW_unified_format:
        return parse_unified_format(e, value);
    default:
        break;
    }
    if (!wmi_read_number(c, &number))
        return false;
    *value = (int32_t)number;
    return in_range(e, start, number, INT32_MIN, UINT32_MAX);
}

bool wmi_parse_modifier(struct wmi_encoder *e)
{
    struct wmi_cursor *c = e->cursor;
    const size_t length = word_length(c);
    const char *word = c->at;
    const struct wmi_field_spec *spec = length ? field_of(e, word, length) : NULL;
    if (!spec)
        return wmi_expected(c, word, "a modifier of this instruction, or the end of the line");
    if (e->field_at[spec->field] && !same(word, length, "dfmt"))
        return wmi_expected(c, word, "each modifier once");
    e->field_at[spec->field] = word;
    if (spec->show == WMI_SHOW_dpp_ctrl)
        return parse_dpp_ctrl(e, &e->field[spec->field]);
    c->at += length;
    if (spec->show == WMI_SHOW_flag) {
        e->field[spec->field] = same(word, length, field_names[spec->field]);
        return true;
    }
    return need(c, ':', "':' and a value") && parse_value(e, spec, word, length);
}
