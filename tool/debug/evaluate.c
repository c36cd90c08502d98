/* SPDX-License-Identifier: MIT */
/* Expressions of the debugger: registers, arguments, variables, memory, with C's operators. */
#include "tool/debug/evaluate.h"

#include "tool/debug/names.h"
#include "tool/debug/typed.h"
#include "tool/tool.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH = 64 };

struct parser {
    struct debug_session *s;
    const char *at;
    unsigned lane, depth;
    bool skips; /* the value is not needed: behind && and || */
    struct wm_diag *diag;
};

/* ---- parsing ---- */

/* Loads the scalar at the value's place. */
static bool load(struct debug_session *s, struct debug_value *v, struct wm_diag *diag)
{
    v->bits = 0;
    return debug_read(s, v->space, v->lane, v->address, &v->bits, v->size, diag);
}

static struct debug_value place(enum debug_space space, uint64_t address, char kind, unsigned size,
                                unsigned lane)
{
    struct debug_value v = debug_typed(kind, size, 0);
    v.space = space;
    v.address = address;
    v.lane = lane;
    return v;
}

static bool parse(struct parser *p, struct debug_value *v, unsigned level);

static void blanks(struct parser *p)
{
    while (isspace((unsigned char)*p->at))
        p->at++;
}

static bool takes(struct parser *p, const char *token)
{
    blanks(p);
    const size_t length = strlen(token);
    if (strncmp(p->at, token, length))
        return false;
    p->at += length;
    return true;
}

static bool wrong(struct parser *p)
{
    return tool_because(p->diag,
                        *p->at ? "A syntax error in expression, near `%s'."
                               : "A syntax error in expression: it ends too soon%s.",
                        p->at);
}

static bool expects(struct parser *p, const char *token)
{
    return takes(p, token) || wrong(p);
}

static size_t word_length(const char *text)
{
    size_t length = 0;
    while (isalnum((unsigned char)text[length]) || text[length] == '_')
        length++;
    return length;
}

/* ".f32" behind a register. */
static void take_suffix(struct parser *p, struct debug_value *v)
{
    if (*p->at != '.')
        return;
    const size_t length = word_length(p->at + 1);
    const struct tool_type *type = tool_type_named(p->at + 1, length);
    const bool bf16 = length == 4 && !strncmp(p->at + 1, "bf16", 4);
    if (!type && !bf16)
        return;
    p->at += 1 + length;
    if (bf16) {
        *v = debug_typed('f', 4, v->bits << 16 & 0xffff0000);
        return;
    }
    v->kind = type->kind;
    v->size = type->size;
    v->bits = debug_cut(v->bits, type->size);
}

static bool get_words(struct parser *p, const char *prefix, unsigned first, unsigned count, bool lanes,
                      struct debug_value *v)
{
    *v = debug_typed('u', 4 * count, 0);
    v->space = DEBUG_REGISTER;
    v->lane = p->lane;
    snprintf(v->name, sizeof v->name, "%.4s%u", prefix, first);
    for (unsigned i = 0; i < count; i++) {
        char name[24];
        uint32_t values[DEBUG_LANES];
        snprintf(name, sizeof name, "%.4s%u", prefix, first + i);
        if (!debug_get(p->s, name, values, DEBUG_LANES, p->diag))
            return false;
        v->bits |= (uint64_t)values[lanes ? p->lane : 0] << 32 * i;
    }
    v->vector = lanes && count == 1;
    return true;
}

/* "v3", "s[4:5]", "vcc"; *found: it has the form of a register. */
static bool parse_register(struct parser *p, struct debug_value *v, bool *found)
{
    static const char *const prefixes[] = {"ttmp", "v", "s", "a"};
    static const char *const names[] = {"vcc",          "exec",       "scc",         "m0",          "mode",
                                        "pc",           "vcc_lo",     "vcc_hi",      "exec_lo",     "exec_hi",
                                        "flat_scratch", "xnack_mask", "shared_base", "private_base"};
    const char *at = p->at;
    *found = true;
    for (size_t i = 0; i < 4; i++) {
        const size_t length = strlen(prefixes[i]);
        unsigned first, last;
        int used = 0;
        if (strncmp(at, prefixes[i], length))
            continue;
        const bool lanes = prefixes[i][0] == 'v' || prefixes[i][0] == 'a';
        if (sscanf(at + length, "[%u:%u]%n", &first, &last, &used) == 2 && used) {
            p->at += length + (size_t)used;
            if (last < first || last - first > 1)
                return tool_because(p->diag, "%.*s: a value has one or two registers", (int)(p->at - at), at);
            return get_words(p, prefixes[i], first, last - first + 1, lanes, v);
        }
        if (isdigit((unsigned char)at[length]) && sscanf(at + length, "%u%n", &first, &used) == 1 &&
            word_length(at) == length + (size_t)used) {
            p->at += length + (size_t)used;
            return get_words(p, prefixes[i], first, 1, lanes, v);
        }
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (word_length(at) == strlen(names[i]) && !strncmp(at, names[i], strlen(names[i]))) {
            uint32_t half[2] = {0, 0};
            p->at += strlen(names[i]);
            const bool mask = i < 2, pair = i == 5 || i > 9;
            const unsigned words = pair || (mask && p->s->wave.wave_size == 64) ? 2 : 1;
            *v = debug_typed('u', 4 * words, 0);
            v->space = DEBUG_REGISTER;
            snprintf(v->name, sizeof v->name, "%s", names[i]);
            if (!debug_get(p->s, names[i], half, 2, p->diag))
                return false;
            v->bits = half[0] | (uint64_t)(words > 1 ? half[1] : 0) << 32;
            return true;
        }
    *found = false;
    return true;
}

static bool parse_dollar(struct parser *p, struct debug_value *v)
{
    const char *begin = p->at;
    bool found;
    if (!parse_register(p, v, &found))
        return false;
    if (found) {
        if (*p->at == '.') {
            v->vector = false; /* of this lane */
            take_suffix(p, v);
        }
        return true;
    }
    const size_t length = word_length(p->at);
    p->at += length;
    return debug_convenience(p->s, begin, length, p->lane, v, p->diag);
}

static bool parse_number(struct parser *p, struct debug_value *v)
{
    const char *begin = p->at;
    char *end, *float_end;
    errno = 0;
    const unsigned long long whole = strtoull(p->at, &end, 0);
    const bool too_large = errno == ERANGE;
    const double number = strtod(p->at, &float_end);
    const bool hex = p->at[0] == '0' && (p->at[1] | 32) == 'x';
    if (float_end > end && !hex) {
        p->at = float_end;
        *v = debug_from_real(number, 8);
        if (*p->at == 'f' || *p->at == 'F') {
            *v = debug_from_real(number, 4);
            p->at++;
        }
        return true;
    }
    if (too_large)
        return tool_because(p->diag, "Numeric constant too large.");
    p->at = end;
    const bool u = (*p->at | 32) == 'u';
    p->at += u;
    while ((*p->at | 32) == 'l')
        p->at++;
    *v = debug_typed(u || whole > INT64_MAX ? 'u' : 'i', whole <= (u || hex ? UINT32_MAX : INT32_MAX) ? 4 : 8,
                     whole);
    return !isalnum((unsigned char)*p->at) || tool_because(p->diag, "Invalid number \"%s\".", begin);
}

/* A type between `(` or `{` and its closing character. The text is left as it was if it is none. */
static bool take_type(struct parser *p, char close, char *kind, unsigned *size, bool *pointer)
{
    const char *end = strchr(p->at, close);
    if (!end || !debug_type(p->at + strspn(p->at, " "), (size_t)(end - p->at) - strspn(p->at, " "), kind,
                            size, pointer))
        return false;
    p->at = end + 1;
    return true;
}

static bool dereference(struct parser *p, struct debug_value *v)
{
    struct debug_value pointer = *v;
    if (!v->pointer)
        return tool_because(p->diag, "Attempt to take contents of a non-pointer value.");
    if (p->skips) {
        *v = place(v->target_space, v->bits, v->target_kind, v->target_size, p->lane);
        return true;
    }
    pointer.lane = p->lane;
    return debug_target(p->s, &pointer, 0, v, p->diag);
}

static bool parse_function(struct parser *p, struct debug_value *v, bool *found)
{
    static const char *const names[] = {"isnan", "isinf", "abs", "sizeof"};
    for (size_t i = 0; i < 4; i++) {
        const size_t length = strlen(names[i]);
        if (strncmp(p->at, names[i], length) || word_length(p->at) != length || p->at[length] != '(')
            continue;
        p->at += length + 1;
        *found = true;
        if (!parse(p, v, 0) || !expects(p, ")"))
            return false;
        const double number = debug_real(v);
        *v = i == 0   ? debug_typed('i', 4, v->kind == 'f' && isnan(number))
             : i == 1 ? debug_typed('i', 4, v->kind == 'f' && isinf(number))
             : i == 3 ? debug_typed('u', 8, v->size * v->count)
             : v->kind == 'f'
                 ? debug_from_real(fabs(number), v->size)
                 : debug_typed(v->kind, v->size, debug_cut((uint64_t)llabs(debug_as_signed(v)), v->size));
        return true;
    }
    *found = false;
    return true;
}

static bool parse_space(struct parser *p, struct debug_value *v, bool *found)
{
    static const struct {
        const char *name;
        enum debug_space space;
    } spaces[] = {{"local#", DEBUG_LDS}, {"private_lane#", DEBUG_PRIVATE}, {"global#", DEBUG_GLOBAL}};
    *found = false;
    for (size_t i = 0; i < 3; i++) {
        if (strncmp(p->at, spaces[i].name, strlen(spaces[i].name)))
            continue;
        *found = true;
        p->at += strlen(spaces[i].name);
        if (!parse(p, v, 100))
            return false;
        v->kind = 'u';
        v->size = 8;
        v->pointer = true;
        v->target_kind = 'u';
        v->target_size = 4;
        v->target_space = spaces[i].space;
        v->space = DEBUG_NOWHERE;
    }
    return true;
}

static bool parse_primary(struct parser *p, struct debug_value *v)
{
    bool found, pointer;
    char kind;
    unsigned size;
    blanks(p);
    if (takes(p, "(")) {
        if (take_type(p, ')', &kind, &size, &pointer)) {
            if (!parse(p, v, 100))
                return false;
            if (!pointer) {
                *v = debug_converted(v, kind, size);
                return true;
            }
            const enum debug_space space = v->pointer ? v->target_space : DEBUG_GLOBAL;
            *v = debug_typed('u', 8, v->bits);
            v->pointer = true;
            v->target_kind = kind;
            v->target_size = size;
            v->target_space = space;
            return true;
        }
        return parse(p, v, 0) && expects(p, ")");
    }
    if (takes(p, "{")) {
        if (!take_type(p, '}', &kind, &size, &pointer))
            return tool_because(p->diag, "No type named %.*s.", (int)strcspn(p->at, "}"), p->at);
        if (!parse(p, v, 100))
            return false;
        *v = place(v->pointer ? v->target_space : DEBUG_GLOBAL, v->bits, kind, size, p->lane);
        return p->skips || load(p->s, v, p->diag);
    }
    if (takes(p, "$"))
        return parse_dollar(p, v);
    if (isdigit((unsigned char)*p->at) || (*p->at == '.' && isdigit((unsigned char)p->at[1])))
        return parse_number(p, v);
    if (!parse_function(p, v, &found) || (!found && !parse_space(p, v, &found)))
        return false;
    if (found)
        return true;
    const size_t length = word_length(p->at);
    if (!length)
        return wrong(p);
    const char *name = p->at;
    p->at += length;
    if (!debug_name(p->s, name, length, p->lane, v, &found, p->diag))
        return false;
    if (found)
        return true;
    p->at = name;
    if (!parse_register(p, v, &found))
        return false;
    if (found)
        v->vector &= *p->at != '.';
    if (found)
        take_suffix(p, v);
    return found || tool_because(p->diag, "No symbol \"%.*s\" in current context.", (int)length, name);
}

/* Selects an element of an array, of a pointer's target or of a VGPR. */
static bool parse_index(struct parser *p, struct debug_value *v)
{
    struct debug_value index;
    if (!parse(p, &index, 0) || !expects(p, "]"))
        return false;
    struct debug_value array = *v;
    if (v->aggregate)
        return debug_child(p->s, &array, index.bits, NULL, v, p->diag);
    if (v->vector || v->count > 1)
        return debug_element(p->s, v, index.bits, v, p->diag);
    if (!v->pointer)
        return tool_because(p->diag, "Cannot subscript something of this type.");
    if (p->skips)
        return true;
    array.lane = p->lane;
    return debug_target(p->s, &array, debug_as_signed(&index), v, p->diag);
}

/* The member behind `.` or `->`. */
static bool parse_member(struct parser *p, struct debug_value *v)
{
    blanks(p);
    const size_t length = word_length(p->at);
    const char *name = p->at;
    const struct debug_value whole = *v;
    if (!length)
        return wrong(p);
    p->at += length;
    return debug_member(p->s, &whole, name, length, v, p->diag);
}

static bool parse_postfix(struct parser *p, struct debug_value *v)
{
    if (!parse_primary(p, v))
        return false;
    for (;;) {
        const bool arrow = v->pointer && v->target_type && takes(p, "->");
        if (arrow || ((v->aggregate || (v->count > 1 && v->object)) && takes(p, "."))) {
            if ((arrow && !dereference(p, v)) || !parse_member(p, v))
                return false;
        } else if (!takes(p, "[")) {
            return true;
        } else if (!parse_index(p, v)) {
            return false;
        }
    }
}

static bool parse_unary(struct parser *p, struct debug_value *v)
{
    blanks(p);
    const char operator= * p->at;
    if (!operator|| !strchr("-!~*&+", operator))
        return parse_postfix(p, v);
    p->at++;
    if (!parse(p, v, 100))
        return false;
    switch (operator) {
    case '-':
        *v = v->kind == 'f'
                 ? debug_from_real(-debug_real(v), v->size)
                 : debug_typed(v->kind, v->size < 4 ? 4 : v->size,
                               debug_cut((uint64_t)-debug_as_signed(v), v->size < 4 ? 4 : v->size));
        return true;
    case '!':
        *v = debug_typed('i', 4, !debug_is_true(v));
        return true;
    case '~':
        *v = debug_typed(v->kind, v->size, debug_cut(~v->bits, v->size));
        return true;
    case '*':
        return dereference(p, v);
    case '&': {
        if (v->space == DEBUG_NOWHERE || v->space == DEBUG_REGISTER)
            return tool_because(p->diag, "Attempt to take address of value not located in memory.");
        const struct debug_value what = *v;
        *v = debug_typed('u', 8, what.address);
        v->pointer = true;
        v->target_kind = what.kind;
        v->target_size = what.size;
        v->target_space = what.space;
        v->target_type = what.type;
        v->object = what.object;
        return true;
    }
    default:
        return true;
    }
}

static bool divide(struct parser *p, char operator, const struct debug_value * a, const struct debug_value *b,
                   bool is_unsigned, uint64_t *result)
{
    if (!b->bits)
        return p->skips || tool_because(p->diag, "Division by zero");
    const int64_t x = debug_as_signed(a), y = debug_as_signed(b);
    if (is_unsigned)
        *result = operator== '/' ? a->bits / b->bits : a->bits % b->bits;
    else if (y == -1)
        *result = operator== '/' ? (uint64_t)-(uint64_t)x : 0;
    else
        *result = (uint64_t)(operator== '/' ? x / y : x % y);
    return true;
}

static bool compares(const char *operator, int order, bool unordered)
{
    if (!strcmp(operator, "!="))
        return unordered || order != 0;
    if (unordered)
        return false;
    return !strcmp(operator, "==")   ? order == 0
           : !strcmp(operator, "<")  ? order < 0
           : !strcmp(operator, ">")  ? order > 0
           : !strcmp(operator, "<=") ? order <= 0
                                     : order >= 0;
}

static bool is_comparison(const char *operator)
{
    return strchr("=!<>", *operator) && strcmp(operator, "<<") && strcmp(operator, ">>");
}

static bool apply_real(struct parser *p, const char *operator, struct debug_value * a,
                       const struct debug_value *b)
{
    const double x = debug_real(a), y = debug_real(b);
    const unsigned size = a->kind == 'f' && b->kind == 'f' ? (a->size > b->size ? a->size : b->size)
                          : a->kind == 'f'                 ? a->size
                                                           : b->size;
    if (is_comparison(operator)) {
        *a = debug_typed('i', 4, compares(operator,(x > y) - (x < y), isnan(x) || isnan(y)));
        return true;
    }
    if (!strchr("+-*/", *operator))
        return tool_because(p->diag, "Argument to arithmetic operation not a number or boolean.");
    *a = debug_from_real(*operator== '+'    ? x + y
                         : * operator== '-' ? x - y
                         : * operator== '*' ? x * y
                                            : x / y,
                         size);
    return true;
}

static bool apply(struct parser *p, const char *operator, struct debug_value * a, const struct debug_value *b)
{
    if (a->kind == 'f' || b->kind == 'f')
        return apply_real(p, operator, a, b);
    if (a->pointer && !b->pointer && (*operator== '+' || * operator== '-') && !operator[1]) {
        const uint64_t by = (uint64_t)debug_as_signed(b) * a->target_size;
        a->bits = *operator== '+' ? a->bits + by : a->bits - by;
        a->space = DEBUG_NOWHERE;
        return true;
    }
    unsigned size = a->size > b->size ? a->size : b->size;
    size = size < 4 ? 4 : size;
    const bool is_unsigned = (a->kind == 'u' && a->size == size) || (b->kind == 'u' && b->size == size);
    struct debug_value x = debug_converted(a, is_unsigned ? 'u' : 'i', size),
                       y = debug_converted(b, is_unsigned ? 'u' : 'i', size);
    uint64_t result = 0;
    if (is_comparison(operator)) {
        const int order = is_unsigned ? (x.bits > y.bits) - (x.bits < y.bits)
                                      : (debug_as_signed(&x) > debug_as_signed(&y)) -
                                            (debug_as_signed(&x) < debug_as_signed(&y));
        *a = debug_typed('i', 4, compares(operator, order, false));
        return true;
    }
    switch (*operator) {
    case '+':
        result = x.bits + y.bits;
        break;
    case '-':
        result = x.bits - y.bits;
        break;
    case '*':
        result = x.bits * y.bits;
        break;
    case '&':
        result = x.bits & y.bits;
        break;
    case '|':
        result = x.bits | y.bits;
        break;
    case '^':
        result = x.bits ^ y.bits;
        break;
    case '<':
        result = y.bits < 8 * size ? x.bits << y.bits : 0;
        break;
    case '>':
        result = y.bits >= 8 * size ? (is_unsigned ? 0 : (uint64_t)(debug_as_signed(&x) >> 63))
                 : is_unsigned      ? x.bits >> y.bits
                                    : (uint64_t)(debug_as_signed(&x) >> y.bits);
        break;
    default:
        if (!divide(p, *operator, & x, &y, is_unsigned, &result))
            return false;
    }
    *a = debug_typed(is_unsigned ? 'u' : 'i', size, debug_cut(result, size));
    return true;
}

/* Operators by precedence; an operator that another one begins with comes behind it. */
static const struct {
    const char *text;
    unsigned level;
} operators[] = {{"||", 2}, {"&&", 3}, {"==", 7}, {"!=", 7}, {"<=", 8}, {">=", 8}, {"<<", 9},
                 {">>", 9}, {"|", 4},  {"^", 5},  {"&", 6},  {"<", 8},  {">", 8},  {"+", 10},
                 {"-", 10}, {"*", 11}, {"/", 11}, {"%", 11}, {"@", 12}};
enum { OPERATORS = sizeof operators / sizeof *operators };

static unsigned next_operator(struct parser *p)
{
    blanks(p);
    for (unsigned i = 0; i < OPERATORS; i++)
        if (!strncmp(p->at, operators[i].text, strlen(operators[i].text)))
            return i;
    return OPERATORS;
}

static bool repeat(struct parser *p, struct debug_value *v, const struct debug_value *count)
{
    if (v->space == DEBUG_NOWHERE || v->space == DEBUG_REGISTER)
        return tool_because(p->diag, "Only values in memory can be extended with '@'.");
    if (debug_as_signed(count) < 1 || count->bits > 1 << 20)
        return tool_because(p->diag, "Invalid number %" PRId64 " of repetitions.", debug_as_signed(count));
    v->count = count->bits;
    return true;
}

static bool parse_choice(struct parser *p, struct debug_value *v)
{
    struct debug_value other;
    if (!takes(p, "?"))
        return true;
    const bool first = debug_is_true(v), skips = p->skips;
    p->skips = skips || !first;
    if (!parse(p, v, 0) || !expects(p, ":"))
        return false;
    p->skips = skips || first;
    if (!parse(p, &other, 1))
        return false;
    p->skips = skips;
    if (!first)
        *v = other;
    return true;
}

/* level: of the weakest operator that belongs to it; 0: ?:, 100: unary. */
static bool parse(struct parser *p, struct debug_value *v, unsigned level)
{
    if (++p->depth > DEPTH)
        return tool_because(p->diag, "The expression is nested too deeply.");
    bool good = parse_unary(p, v);
    for (unsigned i;
         good && level < 100 && (i = next_operator(p)) < OPERATORS && operators[i].level >= level;) {
        const char *operator= operators[i].text;
        struct debug_value b;
        const bool skips = p->skips, logical = i < 2;
        p->at += strlen(operator);
        const bool a = debug_is_true(v);
        p->skips |= logical && a == (i == 0);
        good = parse(p, &b, operators[i].level + 1);
        p->skips = skips;
        if (good && logical)
            *v = debug_typed('i', 4, i == 0 ? a || debug_is_true(&b) : a && debug_is_true(&b));
        else if (good && *operator== '@')
            good = repeat(p, v, &b);
        else
            good = good && apply(p, operator, v, &b);
    }
    good = good && (level > 1 || parse_choice(p, v));
    p->depth--;
    return good;
}

bool debug_evaluate_prefix(struct debug_session *s, const char *text, const char **rest, unsigned lane,
                           struct debug_value *value, struct wm_diag *diag)
{
    struct parser p = {.s = s, .at = text, .lane = lane, .diag = diag};
    if (!parse(&p, value, 0))
        return false;
    blanks(&p);
    *rest = p.at;
    return true;
}

bool debug_evaluate(struct debug_session *s, const char *text, unsigned lane, struct debug_value *value,
                    struct wm_diag *diag)
{
    const char *rest;
    if (!debug_evaluate_prefix(s, text, &rest, lane, value, diag))
        return false;
    return !*rest || tool_because(diag, "A syntax error in expression, near `%s'.", rest);
}

bool debug_condition(struct debug_session *s, const char *text, uint64_t lanes, unsigned *lane, bool *holds,
                     struct wm_diag *diag)
{
    *holds = false;
    for (uint64_t left = lanes; left; left &= left - 1) {
        struct debug_value value;
        const unsigned at = (unsigned)__builtin_ctzll(left);
        if (!debug_evaluate(s, text, at, &value, diag))
            return false;
        if (debug_is_true(&value)) {
            *lane = at;
            *holds = true;
            return true;
        }
    }
    return true;
}
