/* SPDX-License-Identifier: MIT */
/* Parses immediates with a syntax of their own, as printed by print_special.c, and names and numbers for them
 * and for modifiers (parse_special.c). */
#include "isa/text/parsed.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum {
    OPERATION_SHIFT = 4,
    STREAM_SHIFT = 8,
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

size_t wmi_word_length(struct wmi_cursor *cursor)
{
    wmi_skip_space(cursor);
    size_t n = 0;
    while (cursor->at + n < cursor->end && is_word_char(cursor->at[n]))
        n++;
    return n;
}

bool wmi_need(struct wmi_cursor *cursor, char c, const char *what)
{
    return wmi_take(cursor, c) || wmi_expected(cursor, cursor->at, what);
}

/* Consumes a name of the group in any case, with or without `prefix`; false without a message. */
bool wmi_take_name(struct wmi_encoder *e, enum wmi_name_group group, const char *prefix, int32_t *value)
{
    struct wmi_cursor *c = e->cursor;
    const size_t length = wmi_word_length(c), cut = strlen(prefix);
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
bool wmi_name_or_number(struct wmi_encoder *e, enum wmi_name_group group, const char *prefix, int32_t *value)
{
    int64_t number;
    wmi_skip_space(e->cursor);
    const char *start = e->cursor->at;
    if (wmi_take_name(e, group, prefix, value))
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

bool wmi_in_range(struct wmi_encoder *e, const char *at, int64_t value, int64_t low, int64_t high)
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
    if (!wmi_need(c, '(', "'('"))
        return false;
    wmi_skip_space(c);
    const char *start = c->at;
    if (!wmi_name_or_number(e, WMI_NAMES_hwreg, "", &id) || !wmi_in_range(e, start, id, 0, IDS - 1))
        return false;
    if (wmi_take(c, ',')) {
        start = c->at;
        if (!wmi_read_number(c, &offset) || !wmi_in_range(e, start, offset, 0, BITS_32 - 1) ||
            !wmi_need(c, ',', "','"))
            return false;
        start = c->at;
        if (!wmi_read_number(c, &size) || !wmi_in_range(e, start, size, 1, BITS_32))
            return false;
    }
    *value = id | offset << OFFSET_SHIFT | (size - 1) << SIZE_SHIFT;
    return wmi_need(c, ')', "')'");
}

static bool parse_sendmsg(struct wmi_encoder *e, int64_t *value)
{
    enum { MESSAGE_GS = 2, MESSAGE_GS_DONE = 3, MESSAGE_SYSMSG = 15 };
    struct wmi_cursor *c = e->cursor;
    int32_t id, operation = 0;
    int64_t stream = 0;
    const char *start = c->at;
    if (!wmi_need(c, '(', "'('"))
        return false;
    wmi_skip_space(c);
    const bool by_name = c->at < c->end && isalpha((unsigned char)*c->at);
    const bool plain = !e->target->limits[WMI_LIMIT_message_operations];
    start = c->at;
    if (!wmi_name_or_number(e, WMI_NAMES_message, "", &id) ||
        !wmi_in_range(e, start, id, 0, plain ? UINT8_MAX : 15))
        return false;
    const bool gs = !plain && (id == MESSAGE_GS || id == MESSAGE_GS_DONE);
    const bool takes_operation = !plain && (gs || id == MESSAGE_SYSMSG);
    if (wmi_take(c, ',')) {
        start = c->at;
        if (by_name && !takes_operation)
            return wmi_expected(c, start, "')': this message has no operation");
        if (!wmi_name_or_number(e, id == MESSAGE_SYSMSG ? WMI_NAMES_sysmsg_operation : WMI_NAMES_gs_operation,
                                "", &operation) ||
            !wmi_in_range(e, start, operation, 0, 7))
            return false;
        if (by_name && id == MESSAGE_GS_DONE ? false : by_name && id == MESSAGE_GS && !operation)
            return wmi_expected(c, start, "an operation other than GS_OP_NOP");
        if (wmi_take(c, ',')) {
            start = c->at;
            if (by_name && (!gs || !operation))
                return wmi_expected(c, start, "')': this operation has no stream");
            if (!wmi_read_number(c, &stream) || !wmi_in_range(e, start, stream, 0, 3))
                return false;
        }
    } else if (by_name && takes_operation) {
        return wmi_expected(c, c->at, "an operation");
    }
    *value = id | operation << OPERATION_SHIFT | stream << STREAM_SHIFT;
    return wmi_need(c, ')', "')'");
}

/* Any of vmcnt(1) & expcnt(2), lgkmcnt(3); absent counters are not waited for. */
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
        const size_t length = wmi_word_length(c);
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
        if (!wmi_need(c, '(', "'('"))
            return false;
        const char *start = c->at;
        if (!wmi_read_number(c, &counts[i]))
            return false;
        if (counts[i] < 0 || counts[i] > most[i]) {
            if (!saturates)
                return wmi_in_range(e, start, counts[i], 0, most[i]);
            counts[i] = most[i];
        }
        if (!wmi_need(c, ')', "')'"))
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
        if (!wmi_take_name(e, WMI_NAMES_depctr, "", &place))
            return wmi_expected(c, c->at, "a counter such as depctr_va_vdst(), or a number");
        if (!wmi_need(c, '(', "'('"))
            return false;
        const char *start = c->at;
        const int most = (1 << (place >> 8 & 255)) - 1, shift = place & 255;
        if (!wmi_read_number(c, &count) || !wmi_in_range(e, start, count, 0, most) ||
            !wmi_need(c, ')', "')'"))
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
        if (!wmi_need(c, '(', "'('"))
            return false;
        if (!wmi_take_word(c, "NO_DEP") && !wmi_take_name(e, parts[i].group, "", &number))
            return wmi_expected(c, c->at, "a dependency's name");
        *value |= number << parts[i].shift;
        if (!wmi_need(c, ')', "')'"))
            return false;
    } while (wmi_take(c, '|'));
    return true;
}

static bool parse_gpr_idx(struct wmi_encoder *e, int64_t *value)
{
    static const char *const names[] = {"SRC0", "SRC1", "SRC2", "DST"};
    struct wmi_cursor *c = e->cursor;
    *value = 0;
    if (!wmi_need(c, '(', "'('"))
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
    only.end = only.at + wmi_word_length(&only);
    if (only.at == only.end || !isdigit((unsigned char)*only.at) || !wmi_read_number(&only, &number))
        return false;
    e->cursor->at = only.at;
    *value = (int32_t)number;
    return true;
}

/* Names and numbers joined by '|', any of them in parentheses. */
static bool parse_version(struct wmi_encoder *e, int64_t *value)
{
    struct wmi_cursor *c = e->cursor;
    unsigned open = 0;
    *value = 0;
    for (;;) {
        int32_t part;
        while (wmi_take(c, '('))
            open++;
        if (!wmi_take_name(e, WMI_NAMES_version, "", &part) &&
            !wmi_take_name(e, WMI_NAMES_version_flag, "", &part) && !take_integer(e, &part))
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
    if (!wmi_take_name(e, group, "", &number))
        return wmi_expected(e->cursor, e->cursor->at, what);
    *value = number;
    return true;
}

/* Lists what an immediate may begin with, if the text begins with another word. */
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
