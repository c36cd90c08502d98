/* SPDX-License-Identifier: MIT */
/* Numbers, names and expressions of assembly text. */
#include "isa/text/assemble.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool wmi_expected(struct wmi_cursor *cursor, const char *at, const char *what)
{
    if (!cursor->wrong || at > cursor->wrong_at) {
        cursor->wrong = what;
        cursor->wrong_at = at;
    }
    return false;
}

static bool begins_name(char c)
{
    return isalpha((unsigned char)c) || c == '_' || c == '.' || c == '$';
}

size_t wmi_name_length(struct wmi_cursor *cursor)
{
    wmi_skip_space(cursor);
    const char *at = cursor->at;
    if (at == cursor->end || !begins_name(*at))
        return 0;
    while (at < cursor->end && (begins_name(*at) || isdigit((unsigned char)*at)))
        at++;
    return (size_t)(at - cursor->at);
}

/* Copies the characters of a number, because the C library would read beyond the end of the text. */
static size_t copy_number(const struct wmi_cursor *cursor, char *text, size_t size, bool real)
{
    size_t n = 0;
    for (const char *at = cursor->at; at < cursor->end && n + 1 < size; at++) {
        const bool exponent_sign =
            real && n && (*at == '-' || *at == '+') && strchr("eEpP", text[n - 1]) &&
            (text[n - 1] == 'p' || text[n - 1] == 'P' || !(n > 2 && tolower((unsigned char)text[1]) == 'x'));
        if (!isalnum((unsigned char)*at) && !(real && *at == '.') && !exponent_sign)
            break;
        text[n++] = *at;
    }
    text[n] = 0;
    return n;
}

/* Reads a decimal or hexadecimal integer of common length. Returns its number of characters; 0: anything
 * else. */
static size_t plain_integer(const struct wmi_cursor *cursor, int64_t *number)
{
    enum { DIGITS = 15 };
    const char *at = cursor->at, *const end = cursor->end;
    uint64_t value = 0;
    const bool hexadecimal = end - at > 2 && *at == '0' && at[1] == 'x';
    if (!hexadecimal && *at == '0' && end - at > 1 && isalnum((unsigned char)at[1]))
        return 0;
    at += hexadecimal ? 2 : 0;
    const char *const start = at;
    for (; at < end && at - start <= DIGITS; at++) {
        const unsigned char c = (unsigned char)*at, letter = c | 0x20;
        if (c >= '0' && c <= '9')
            value = value * (hexadecimal ? 16 : 10) + c - '0';
        else if (hexadecimal && letter >= 'a' && letter <= 'f')
            value = value * 16 + letter - 'a' + 10;
        else
            break;
    }
    if (at == start || at - start > DIGITS || (at < end && (isalnum((unsigned char)*at) || *at == '.')))
        return 0;
    *number = (int64_t)value;
    return (size_t)(at - cursor->at);
}

bool wmi_read_real(struct wmi_cursor *cursor, double *real)
{
    enum { LONGEST = 128 };
    char text[LONGEST], *end;
    wmi_skip_space(cursor);
    const char first = cursor->at < cursor->end ? *cursor->at : 0;
    const char second = cursor->at + 1 < cursor->end ? cursor->at[1] : 0;
    if (!isdigit((unsigned char)first) && !(first == '.' && isdigit((unsigned char)second)))
        return false;
    int64_t whole;
    if (plain_integer(cursor, &whole))
        return false;
    copy_number(cursor, text, sizeof text, true);
    const bool hexadecimal = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    if (!strpbrk(text, hexadecimal ? ".pP" : ".eE"))
        return false;
    *real = strtod(text, &end);
    if (*end)
        return false;
    cursor->at += end - text;
    return true;
}

static bool read_integer(struct wmi_cursor *cursor, int64_t *number)
{
    enum { LONGEST = 80 };
    char text[LONGEST], *end;
    const size_t plain = plain_integer(cursor, number);
    cursor->at += plain;
    if (plain)
        return true;
    const size_t length = copy_number(cursor, text, sizeof text, false);
    const bool binary = text[0] == '0' && (text[1] == 'b' || text[1] == 'B') && length > 2;
    errno = 0;
    *number = (int64_t)(binary ? strtoull(text + 2, &end, 2) : strtoull(text, &end, 0));
    end += end > text && *end == 'U'; /* C's suffixes, which LLVM ignores */
    for (unsigned i = 0; i < 2; i++)
        end += end > text && *end == 'L';
    if (end == text || *end)
        return wmi_expected(cursor, cursor->at, "a number");
    if (errno)
        return wmi_expected(cursor, cursor->at, "a number of at most 64 bits");
    cursor->at += length;
    return true;
}

/* 'a', '\n' */
static bool read_character(struct wmi_cursor *cursor, struct wmi_value *value)
{
    static const char letters[] = "btnfr'\"\\", meanings[] = "\b\t\n\f\r'\"\\";
    const char *at = cursor->at + 1;
    const bool escaped = at < cursor->end && *at == '\\';
    at += escaped;
    const char *known = escaped && at < cursor->end && *at ? strchr(letters, *at) : NULL;
    if (cursor->end - at < 2 || at[1] != '\'' || (escaped && !known))
        return wmi_expected(cursor, cursor->at, "a character such as 'a' or '\\n'");
    *value = (struct wmi_value){.number = escaped ? meanings[known - letters] : *at};
    cursor->at = at + 2;
    return true;
}

static enum wmi_symbol_part read_part(struct wmi_cursor *cursor)
{
    static const struct {
        const char *text;
        enum wmi_symbol_part part;
    } parts[] = {{"@abs32@lo", WMI_PART_ABS32_LO},
                 {"@abs32@hi", WMI_PART_ABS32_HI},
                 {"@rel32@lo", WMI_PART_REL32_LO},
                 {"@rel32@hi", WMI_PART_REL32_HI},
                 {"@rel64", WMI_PART_REL64},
                 {"@gotpcrel32@lo", WMI_PART_GOT32_LO},
                 {"@gotpcrel32@hi", WMI_PART_GOT32_HI},
                 {"@gotpcrel", WMI_PART_GOT}};
    if (cursor->at == cursor->end || *cursor->at != '@')
        return WMI_PART_NONE;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const size_t length = strlen(parts[i].text);
        if ((size_t)(cursor->end - cursor->at) >= length && !memcmp(cursor->at, parts[i].text, length)) {
            cursor->at += length;
            return parts[i].part;
        }
    }
    return WMI_PART_NONE;
}

/* A label such as 1f or 1b, which names the next or the previous "1:". */
static size_t numbered_label(const struct wmi_cursor *cursor)
{
    const char *at = cursor->at;
    while (at < cursor->end && isdigit((unsigned char)*at))
        at++;
    const bool label = at > cursor->at && at < cursor->end && (*at == 'f' || *at == 'b') &&
                       (at + 1 == cursor->end || !(isalnum((unsigned char)at[1]) || at[1] == '_'));
    return label && !(at - cursor->at == 1 && *cursor->at == '0') ? (size_t)(at - cursor->at) + 1 : 0;
}

static bool read_symbol(struct wmi_cursor *cursor, size_t length, struct wmi_value *value)
{
    if (!cursor->symbols)
        return wmi_expected(cursor, cursor->at, "a number");
    *value = (struct wmi_value){0};
    cursor->used_symbol = true;
    if (length == 1 && *cursor->at == '.')
        *value = cursor->symbols->here;
    else
        cursor->symbols->find(cursor->symbols->user, cursor->at, length, value);
    cursor->at += length;
    const enum wmi_symbol_part part = read_part(cursor);
    if (part)
        value->part = part;
    value->relative = part != WMI_PART_ABS32_LO && part != WMI_PART_ABS32_HI;
    return true;
}

enum { DEEPEST = 64, UNARY = 100 };

static bool read_level(struct wmi_cursor *cursor, unsigned level, unsigned depth, struct wmi_value *value);

/* max(a, b), with the cursor behind '('. */
static bool read_call(struct wmi_cursor *cursor, const char *name, size_t length, unsigned depth,
                      struct wmi_value *value)
{
    enum { MOST = 64 };
    int64_t arguments[MOST];
    unsigned count = 0;
    bool late = false, literal = false;
    do {
        struct wmi_value argument;
        wmi_skip_space(cursor);
        const char *const at = cursor->at;
        if (!read_level(cursor, 1, depth + 1, &argument))
            return false;
        if (argument.base && !argument.late)
            return wmi_expected(cursor, at, "a number as argument");
        if (count == MOST)
            return wmi_expected(cursor, at, "at most 64 arguments");
        late |= argument.late;
        literal |= argument.literal;
        arguments[count++] = argument.number;
    } while (wmi_take(cursor, ','));
    if (!wmi_take(cursor, ')'))
        return wmi_expected(cursor, cursor->at, "',' or ')'");
    *value = (struct wmi_value){.late = late, .literal = literal};
    cursor->used_symbol = true;
    return cursor->symbols->call(cursor->symbols->user, name, length, arguments, count, &value->number) ||
           late ||
           wmi_expected(cursor, name, "a function of expressions with its arguments, such as max(1, 2)");
}

static bool read_primary(struct wmi_cursor *cursor, unsigned depth, struct wmi_value *value)
{
    wmi_skip_space(cursor);
    const char *start = cursor->at;
    const char c = start < cursor->end ? *start : 0;
    if (depth > DEEPEST)
        return wmi_expected(cursor, start, "an expression that is less deep");
    if (c == '(') {
        cursor->at++;
        if (!read_level(cursor, 1, depth + 1, value))
            return false;
        return wmi_take(cursor, ')') || wmi_expected(cursor, cursor->at, "')'");
    }
    if (c == '-' || c == '~' || c == '!' || c == '+') {
        cursor->at++;
        if (!read_primary(cursor, depth + 1, value))
            return false;
        if (value->base && c != '+' && !value->late)
            return wmi_expected(cursor, start, "an operand that is a number");
        value->number = c == '-'   ? (int64_t)(0 - (uint64_t)value->number)
                        : c == '~' ? ~value->number
                        : c == '!' ? !value->number
                                   : value->number;
        return true;
    }
    const size_t label = numbered_label(cursor);
    if (label)
        return read_symbol(cursor, label, value);
    if (isdigit((unsigned char)c)) {
        *value = (struct wmi_value){0};
        return read_integer(cursor, &value->number);
    }
    const size_t name = wmi_name_length(cursor);
    if (name && cursor->symbols && cursor->symbols->call) {
        struct wmi_cursor behind = *cursor;
        behind.at += name;
        if (wmi_take(&behind, '(')) {
            cursor->at = behind.at;
            return read_call(cursor, start, name, depth, value);
        }
    }
    if (name)
        return read_symbol(cursor, name, value);
    if (c == '"') {
        const char *end = memchr(start + 1, '"', (size_t)(cursor->end - start - 1));
        if (end && cursor->symbols) {
            *value = (struct wmi_value){0};
            cursor->used_symbol = true;
            cursor->symbols->find(cursor->symbols->user, start + 1, (size_t)(end - start - 1), value);
            value->relative = true;
            cursor->at = end + 1;
            return true;
        }
    }
    if (c == '\'')
        return read_character(cursor, value);
    return wmi_expected(cursor, start, "a number or a symbol");
}

/* Longer operators precede their prefixes. Precedence levels are LLVM's (AsmParser.cpp,
 * getGNUBinOpPrecedence). */
static const struct operation {
    const char *text;
    unsigned level;
} operators[] = {{"||", 1}, {"&&", 2}, {"==", 3}, {"!=", 3}, {"<>", 3}, {"<<", 6}, {">>", 6},
                 {"<=", 3}, {">=", 3}, {"<", 3},  {">", 3},  {"+", 4},  {"-", 4},  {"|", 5},
                 {"^", 5},  {"&", 5},  {"*", 6},  {"/", 6},  {"%", 6}};

static const struct operation *next_operator(struct wmi_cursor *cursor)
{
    wmi_skip_space(cursor);
    if (cursor->at == cursor->end || !strchr("|&=!<>+-*/%^", *cursor->at))
        return NULL;
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        const size_t length = strlen(operators[i].text);
        if ((size_t)(cursor->end - cursor->at) >= length && !memcmp(cursor->at, operators[i].text, length))
            return &operators[i];
    }
    return NULL;
}

/* True is -1, as in LLVM and GNU as. */
static bool combine(struct wmi_cursor *cursor, const char *op, struct wmi_value *left,
                    const struct wmi_value *right)
{
    const int64_t a = left->number, b = right->number;
    const uint64_t ua = (uint64_t)a, ub = (uint64_t)b;
    const bool late = left->late || right->late;
    if (right->part)
        left->part = right->part;
    left->late = late;
    left->literal |= right->literal;
    const int code = op[0] << 8 | op[1];
    left->relative = code != ('-' << 8) && (left->relative || right->relative);
    if (code == ('+' << 8)) {
        left->number = (int64_t)(ua + ub);
        if (left->base && right->base && !late)
            return wmi_expected(cursor, cursor->at, "at most one symbol in a sum");
        left->symbol = left->base ? left->symbol : right->symbol;
        left->base = left->base ? left->base : right->base;
        return true;
    }
    if (code == ('-' << 8) && (left->base == right->base || !right->base || late)) {
        left->number = (int64_t)(ua - ub);
        left->symbol = right->base ? NULL : left->symbol;
        left->base = right->base ? NULL : left->base;
        return true;
    }
    const bool compares = left->base == right->base &&
                          (code >> 8 == '<' || code >> 8 == '>' || code >> 8 == '=' || code >> 8 == '!');
    if ((left->base || right->base) && !late && !compares)
        return wmi_expected(cursor, cursor->at, "numbers on both sides of the operator");
    left->base = left->symbol = NULL;
    switch (code) {
    case '|' << 8 | '|':
        left->number = a || b;
        break;
    case '&' << 8 | '&':
        left->number = a && b;
        break;
    case '=' << 8 | '=':
        left->number = -(a == b);
        break;
    case '!' << 8 | '=':
    case '<' << 8 | '>':
        left->number = -(a != b);
        break;
    case '<' << 8 | '=':
        left->number = -(a <= b);
        break;
    case '>' << 8 | '=':
        left->number = -(a >= b);
        break;
    case '<' << 8:
        left->number = -(a < b);
        break;
    case '>' << 8:
        left->number = -(a > b);
        break;
    case '<' << 8 | '<':
        left->number = ub < 64 ? (int64_t)(ua << ub) : 0;
        break;
    case '>' << 8 | '>':
        left->number = ub < 64 ? (int64_t)(ua >> ub) : 0; /* logical, as in LLVM for this target */
        break;
    case '|' << 8:
        left->number = a | b;
        break;
    case '^' << 8:
        left->number = a ^ b;
        break;
    case '&' << 8:
        left->number = a & b;
        break;
    case '*' << 8:
        left->number = (int64_t)(ua * ub);
        break;
    default:
        if (!b && !late)
            return wmi_expected(cursor, cursor->at, "a divisor that is not 0");
        if (b == -1 || !b)
            left->number = code == ('/' << 8) && b ? (int64_t)(0 - ua) : 0;
        else
            left->number = code == ('/' << 8) ? a / b : a % b;
        break;
    }
    return true;
}

static bool read_level(struct wmi_cursor *cursor, unsigned level, unsigned depth, struct wmi_value *value)
{
    if (!read_primary(cursor, depth, value))
        return false;
    for (;;) {
        const struct operation *op = next_operator(cursor);
        if (!op || op->level < level)
            return true;
        struct wmi_value right;
        cursor->at += strlen(op->text);
        if (!read_level(cursor, op->level + 1, depth + 1, &right) ||
            !combine(cursor, op->text, value, &right))
            return false;
    }
}

bool wmi_read_expression(struct wmi_cursor *cursor, struct wmi_value *value)
{
    return read_level(cursor, 1, 0, value);
}

bool wmi_read_number(struct wmi_cursor *cursor, int64_t *number)
{
    struct wmi_value value;
    wmi_skip_space(cursor);
    const char *start = cursor->at;
    const size_t plain = plain_integer(cursor, number);
    if (plain && (start + plain == cursor->end || strchr(",:])", start[plain]))) {
        cursor->at += plain;
        return true;
    }
    if (!wmi_read_expression(cursor, &value))
        return false;
    if (value.base || value.late)
        return wmi_expected(cursor, start, "a number that is known here");
    *number = value.number;
    return true;
}
