/* SPDX-License-Identifier: MIT */
/* Evaluates expressions of instruction tests by recursive descent, once per lane or element. */
#include "value.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* `unused`: in the untaken branch of ?:, or after a deciding && or ||, where only syntax errors count. */
struct evaluation {
    struct scope *scope;
    const char *at;
    unsigned unused;
};

static struct value parse_conditional(struct evaluation *e);

__attribute__((format(printf, 2, 3))) static struct value mistake(struct scope *scope, const char *format,
                                                                  ...)
{
    va_list arguments;
    if (!*scope->error) {
        va_start(arguments, format);
        vsnprintf(scope->error, sizeof scope->error, format, arguments);
        va_end(arguments);
    }
    return (struct value){0};
}

static struct value integer_of(uint64_t bits)
{
    return (struct value){.kind = VALUE_INTEGER, .integer = (int64_t)bits, .last = (int64_t)bits};
}

static struct value number_of(double number)
{
    return (struct value){.kind = VALUE_NUMBER, .number = number};
}

static double as_number(const struct value *value)
{
    return value->kind == VALUE_NUMBER ? value->number : (double)value->integer;
}

static void skip_blanks(struct evaluation *e)
{
    e->at += strspn(e->at, " ");
}

/* Consumes `token` if it comes next. */
static bool take(struct evaluation *e, const char *token)
{
    skip_blanks(e);
    if (strncmp(e->at, token, strlen(token)))
        return false;
    e->at += strlen(token);
    return true;
}

/* ---- bits ---- */

static uint64_t bits_of_f32(double number)
{
    const float narrow = (float)number;
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof bits);
    return bits;
}

static uint64_t bits_of_f64(double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

/* A small float format, rounded once to nearest even. */
static uint64_t small_float(double number, unsigned exponent_bits, unsigned fraction_bits)
{
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const uint64_t sign = (uint64_t)!!signbit(number) << (exponent_bits + fraction_bits);
    const uint64_t infinity =
        (UINT64_C(1) << (exponent_bits + fraction_bits)) - (UINT64_C(1) << fraction_bits);
    int exponent;
    if (isnan(number))
        return sign | infinity | UINT64_C(1) << (fraction_bits - 1);
    if (isinf(number))
        return sign | infinity;
    frexp(number, &exponent); /* number| < 2^exponent */
    const double unit = ldexp(1, (exponent > 1 - bias ? exponent - 1 : 1 - bias) - (int)fraction_bits);
    const double rounded = rint(fabs(number) / unit) * unit;
    if (rounded >= ldexp(1, bias + 1))
        return sign | infinity;
    if (rounded < ldexp(1, 1 - bias))
        return sign | (uint64_t)(rounded / unit);
    const double significand = 2 * frexp(rounded, &exponent); /* in [1, 2) */
    return sign | (uint64_t)(exponent - 1 + bias) << fraction_bits |
           (uint64_t)ldexp(significand - 1, (int)fraction_bits);
}

static double number_of_bits(enum type type, uint64_t bits)
{
    float narrow;
    double wide;
    const uint32_t word = type == TYPE_BF16 ? (uint32_t)bits << 16 : (uint32_t)bits;
    if (type == TYPE_F64) {
        memcpy(&wide, &bits, sizeof wide);
        return wide;
    }
    if (type == TYPE_F16) {
        const unsigned exponent = bits >> 10 & 31, fraction = bits & 1023;
        wide = exponent == 31 ? (fraction ? NAN : INFINITY)
               : exponent     ? ldexp(1024 + fraction, (int)exponent - 25)
                              : ldexp(fraction, -24);
        return bits >> 15 & 1 ? -wide : wide;
    }
    memcpy(&narrow, &word, sizeof narrow);
    return narrow;
}

static const struct {
    const char *name;
    unsigned bytes;
    bool is_float;
} types[TYPES] = {{"u8", 1, false}, {"u16", 2, false}, {"u32", 4, false}, {"u64", 8, false},
                  {"f16", 2, true}, {"bf16", 2, true}, {"f32", 4, true},  {"f64", 8, true}};

enum type type_named(const char *name)
{
    for (unsigned i = 0; i < TYPES; i++)
        if (!strncmp(name, types[i].name, strlen(types[i].name)) && name[strlen(types[i].name)] == ' ')
            return (enum type)i;
    return TYPES;
}

unsigned type_bytes(enum type type)
{
    return types[type].bytes;
}

const char *type_name(enum type type)
{
    return types[type].name;
}

static uint64_t float_bits(enum type type, double number)
{
    return type == TYPE_F16    ? small_float(number, 5, 10)
           : type == TYPE_BF16 ? small_float(number, 8, 7)
           : type == TYPE_F32  ? bits_of_f32(number)
                               : bits_of_f64(number);
}

static uint64_t mask_of(enum type type)
{
    return types[type].bytes == 8 ? UINT64_MAX : (UINT64_C(1) << (8 * types[type].bytes)) - 1;
}

static bool integer_fits(enum type type, int64_t integer)
{
    const unsigned bits = 8 * types[type].bytes;
    return bits == 64 || (integer >= -(INT64_C(1) << (bits - 1)) && integer < INT64_C(1) << bits);
}

bool value_bits(struct scope *scope, enum type type, const struct value *value, uint64_t *bits)
{
    if (value->kind == VALUE_ANY || (value->kind == VALUE_INTEGER && value->integer != value->last))
        mistake(scope, "expected one value");
    else if (value->kind == VALUE_NAN && !types[type].is_float)
        mistake(scope, "nan is a value of f16, bf16, f32 and f64; write 'f32 v1 = nan'");
    else if (value->kind == VALUE_NUMBER && !types[type].is_float)
        mistake(scope, "%g is no integer; write 'f32 v1 = %g', or f32(%g) for its bits", value->number,
                value->number, value->number);
    else if (value->kind == VALUE_NAN)
        *bits = float_bits(type, NAN);
    else if (types[type].is_float)
        *bits = float_bits(type, as_number(value));
    else if (!integer_fits(type, value->integer))
        mistake(scope, "0x%llx does not fit in %u bits", (unsigned long long)value->integer,
                8 * types[type].bytes);
    else
        *bits = (uint64_t)value->integer & mask_of(type);
    return !*scope->error;
}

bool value_is(enum type type, const struct value *value, uint64_t bits)
{
    struct scope scope = {.lanes = 0};
    uint64_t wanted = 0;
    if (value->kind == VALUE_ANY)
        return true;
    if (value->kind == VALUE_NAN)
        return types[type].is_float && isnan(number_of_bits(type, bits));
    if (value->kind == VALUE_INTEGER && value->integer != value->last)
        return types[type].is_float ? false : (int64_t)bits >= value->integer && (int64_t)bits <= value->last;
    return value_bits(&scope, type, value, &wanted) && wanted == bits;
}

void show_bits(char *text, size_t size, enum type type, uint64_t bits)
{
    const int digits = 2 * (int)types[type].bytes;
    if (types[type].is_float)
        snprintf(text, size, "0x%0*llx (%.9g)", digits, (unsigned long long)bits, number_of_bits(type, bits));
    else
        snprintf(text, size, "0x%0*llx", digits, (unsigned long long)bits);
}

void show_value(char *text, size_t size, enum type type, const struct value *value)
{
    struct scope scope = {.lanes = 0};
    uint64_t bits = 0;
    if (value->kind == VALUE_NAN)
        snprintf(text, size, "a NaN");
    else if (value->kind == VALUE_INTEGER && value->integer != value->last)
        snprintf(text, size, "%lld to %lld", (long long)value->integer, (long long)value->last);
    else if (value_bits(&scope, type, value, &bits))
        show_bits(text, size, type, bits);
    else
        snprintf(text, size, "anything");
}

/* ---- names ---- */

/* Truncation to smaller integer types. */
static bool cut(const char *name, size_t length, int64_t integer, struct value *value)
{
    static const struct {
        const char *name;
        unsigned bits;
        bool is_signed;
    } rows[] = {{"u8", 8, false}, {"u16", 16, false}, {"u32", 32, false},
                {"i8", 8, true},  {"i16", 16, true},  {"i32", 32, true}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strlen(rows[i].name) != length || memcmp(rows[i].name, name, length))
            continue;
        const uint64_t up = (uint64_t)integer << (64 - rows[i].bits);
        *value = integer_of(rows[i].is_signed ? (uint64_t)((int64_t)up >> (64 - rows[i].bits))
                                              : up >> (64 - rows[i].bits));
        return true;
    }
    return false;
}

/* Functions: f32(1.5) gives the bits of a number, number32(0x3fc00000) the number of these bits. */
static bool call(struct evaluation *e, const char *name, size_t length, struct value *value)
{
    static const struct {
        const char *name;
        enum type type;
    } numbers[] = {{"number16", TYPE_F16}, {"number32", TYPE_F32}, {"number64", TYPE_F64}};
    static const struct {
        const char *name;
        double (*function)(double);
    } functions[] = {{"sqrt", sqrt}, {"floor", floor}, {"rint", rint}, {"abs", fabs}, {"exp2", exp2}};
    struct value a = parse_conditional(e);
    if (!take(e, ")")) {
        *value = mistake(e->scope, "expected ')' at '%s'", e->at);
        return true;
    }
    for (unsigned i = TYPE_F16; i < TYPES; i++)
        if (strlen(types[i].name) == length && !memcmp(types[i].name, name, length)) {
            uint64_t bits = 0;
            value_bits(e->scope, (enum type)i, &a, &bits);
            *value = integer_of(bits);
            return true;
        }
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (strlen(numbers[i].name) == length && !memcmp(numbers[i].name, name, length)) {
            *value = number_of(number_of_bits(numbers[i].type, (uint64_t)a.integer));
            return true;
        }
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (strlen(functions[i].name) == length && !memcmp(functions[i].name, name, length)) {
            *value = number_of(functions[i].function(as_number(&a)));
            if (a.kind == VALUE_INTEGER && functions[i].function == fabs)
                *value = integer_of((uint64_t)llabs(a.integer));
            return true;
        }
    if (length == 3 && !memcmp(name, "int", length)) { /* towards 0 */
        *value = integer_of((uint64_t)(a.kind == VALUE_NUMBER ? (int64_t)a.number : a.integer));
        return true;
    }
    return cut(name, length, a.integer, value);
}

/* A register, memory[index], or a 64-bit register range like v[2:3]. */
static struct value parse_place(struct evaluation *e, const char *name, size_t length)
{
    uint64_t index[2] = {0}, bits = 0;
    const bool indexed = *e->at == '[';
    if (indexed) {
        e->at++;
        index[0] = (uint64_t)parse_conditional(e).integer;
        index[1] = index[0];
        if (take(e, ":"))
            index[1] = (uint64_t)parse_conditional(e).integer;
        if (!take(e, "]"))
            return mistake(e->scope, "expected ']' at '%s'", e->at);
    }
    if (e->unused)
        return integer_of(0);
    if (e->scope->look_up)
        e->scope->look_up(e->scope->user, e->scope, name, length, indexed ? index : NULL, &bits);
    else
        mistake(e->scope, "'%.*s' means nothing here", (int)length, name);
    return integer_of(bits);
}

static struct value parse_name(struct evaluation *e)
{
    const char *name = e->at;
    struct value value;
    e->at += *e->at == '&';
    while (isalnum((unsigned char)*e->at) || *e->at == '_' || *e->at == '.')
        e->at++;
    const size_t length = (size_t)(e->at - name);
#define IS(text) (length == strlen(text) && !memcmp(name, text, length))
    if (IS("lane") && e->scope->has_lane)
        return integer_of(e->scope->lane);
    if (IS("i") && e->scope->has_i)
        return integer_of(e->scope->i);
    if (IS("lanes"))
        return integer_of(e->scope->lanes);
    if (IS("lane") || IS("i"))
        return mistake(e->scope, "'%.*s' means nothing here", (int)length, name);
    if (IS("nan"))
        return (struct value){.kind = VALUE_NAN};
    if (IS("inf"))
        return number_of(INFINITY);
#undef IS
    if (*e->at != '(')
        return parse_place(e, name, length);
    e->at++;
    if (!call(e, name, length, &value))
        return mistake(e->scope, "unknown function '%.*s'", (int)length, name);
    return value;
}

static struct value parse_literal(struct evaluation *e)
{
    char *end;
    const bool hexadecimal = e->at[0] == '0' && (e->at[1] == 'x' || e->at[1] == 'X');
    const size_t digits = strspn(e->at, "0123456789");
    const bool range = !strncmp(e->at + digits, "..", 2);
    const size_t mantissa = 2 + strspn(e->at + (hexadecimal ? 2 : 0), "0123456789abcdefABCDEF.");
    const bool is_float =
        hexadecimal ? e->at[mantissa] == 'p' : !range && (e->at[digits] == '.' || e->at[digits] == 'e');
    const char *from = e->at;
    const struct value value =
        is_float ? number_of(strtod(e->at, &end)) : integer_of(strtoull(e->at, &end, hexadecimal ? 16 : 10));
    e->at = end;
    if (isalnum((unsigned char)*end) || *end == '_')
        return mistake(e->scope, "'%.*s%c...' is no number", (int)(end - from), from, *end);
    return value;
}

static struct value parse_primary(struct evaluation *e)
{
    skip_blanks(e);
    if (take(e, "(")) {
        const struct value value = parse_conditional(e);
        return take(e, ")") ? value : mistake(e->scope, "expected ')' at '%s'", e->at);
    }
    if (isdigit((unsigned char)*e->at))
        return parse_literal(e);
    if (isalpha((unsigned char)*e->at) || *e->at == '&')
        return parse_name(e);
    return *e->at ? mistake(e->scope, "expected a value at '%s'", e->at)
                  : mistake(e->scope, "expected a value at the end");
}

/* ---- operators ---- */

static bool is_integer(struct evaluation *e, const struct value *value, const char *symbol)
{
    if (value->kind == VALUE_INTEGER && value->integer == value->last)
        return true;
    mistake(e->scope, "operator %s takes integers", symbol);
    return false;
}

static struct value parse_unary(struct evaluation *e)
{
    skip_blanks(e);
    if (take(e, "-")) {
        skip_blanks(e);
        if (!*e->at || strchr(",:)}.", *e->at))
            return (struct value){.kind = VALUE_ANY};
        const struct value a = parse_unary(e);
        return a.kind == VALUE_NUMBER ? number_of(-a.number) : integer_of(-(uint64_t)a.integer);
    }
    if (take(e, "~")) {
        const struct value a = parse_unary(e);
        return is_integer(e, &a, "~") ? integer_of(~(uint64_t)a.integer) : a;
    }
    if (e->at[0] == '!' && e->at[1] != '=') {
        e->at++;
        const struct value a = parse_unary(e);
        return is_integer(e, &a, "!") ? integer_of(!a.integer) : a;
    }
    return parse_primary(e);
}

/* Binary operators, in order of increasing precedence. */
static const struct binary {
    const char *text;
    unsigned level;
} operators[] = {{"||", 0}, {"&&", 1}, {"==", 5}, {"!=", 5}, {"<=", 6}, {">=", 6},
                 {"<<", 7}, {">>", 7}, {"|", 2},  {"^", 3},  {"&", 4},  {"<", 6},
                 {">", 6},  {"+", 8},  {"-", 8},  {"*", 9},  {"/", 9},  {"%", 9}};
enum { LEVELS = 10 };

static struct value of_numbers(struct evaluation *e, const char *symbol, double a, double b)
{
    switch (symbol[0]) {
    case '+':
        return number_of(a + b);
    case '-':
        return number_of(a - b);
    case '*':
        return number_of(a * b);
    case '/':
        return number_of(a / b);
    case '=':
        return integer_of(a == b);
    case '!':
        return integer_of(a != b);
    case '<':
        return symbol[1] == '<' ? mistake(e->scope, "operator << takes integers")
                                : integer_of(symbol[1] ? a <= b : a < b);
    case '>':
        return symbol[1] == '>' ? mistake(e->scope, "operator >> takes integers")
                                : integer_of(symbol[1] ? a >= b : a > b);
    default:
        return mistake(e->scope, "operator %s takes integers", symbol);
    }
}

static struct value of_integers(struct evaluation *e, const char *symbol, int64_t a, int64_t b)
{
    const uint64_t x = (uint64_t)a, y = (uint64_t)b;
    if (strchr("/%", symbol[0]) && !b)
        return e->unused ? integer_of(0) : mistake(e->scope, "division by 0");
    switch (symbol[0]) {
    case '+':
        return integer_of(x + y);
    case '-':
        return integer_of(x - y);
    case '*':
        return integer_of(x * y);
    case '/':
        return integer_of(b == -1 ? -x : (uint64_t)(a / b));
    case '%':
        return integer_of(b == -1 ? 0 : (uint64_t)(a % b));
    case '=':
        return integer_of(a == b);
    case '!':
        return integer_of(a != b);
    case '^':
        return integer_of(x ^ y);
    case '&':
        return integer_of(symbol[1] ? a && b : x & y);
    case '|':
        return integer_of(symbol[1] ? a || b : x | y);
    case '<':
        return integer_of(symbol[1] == '<' ? (y < 64 ? x << y : 0) : symbol[1] ? a <= b : a < b);
    default: /* '>' */
        return integer_of(symbol[1] == '>' ? (uint64_t)(y < 64 ? a >> y : a >> 63)
                          : symbol[1]      ? a >= b
                                           : a > b);
    }
}

static const char *take_operator(struct evaluation *e, unsigned level)
{
    skip_blanks(e);
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (!strncmp(e->at, operators[i].text, strlen(operators[i].text))) {
            if (operators[i].level != level)
                return NULL;
            e->at += strlen(operators[i].text);
            return operators[i].text;
        }
    return NULL;
}

static struct value parse_binary(struct evaluation *e, unsigned level)
{
    struct value a = level + 1 < LEVELS ? parse_binary(e, level + 1) : parse_unary(e);
    for (const char *symbol; !*e->scope->error && (symbol = take_operator(e, level));) {
        const struct value b = level + 1 < LEVELS ? parse_binary(e, level + 1) : parse_unary(e);
        if (a.kind > VALUE_NUMBER || b.kind > VALUE_NUMBER)
            return mistake(e->scope, "operator %s takes integers and numbers", symbol);
        a = a.kind == VALUE_NUMBER || b.kind == VALUE_NUMBER
                ? of_numbers(e, symbol, as_number(&a), as_number(&b))
                : of_integers(e, symbol, a.integer, b.integer);
    }
    return a;
}

static struct value parse_conditional(struct evaluation *e)
{
    const struct value condition = parse_binary(e, 0);
    if (*e->scope->error || !take(e, "?"))
        return condition;
    const bool chosen = is_integer(e, &condition, "?") && condition.integer;
    e->unused += !chosen;
    const struct value yes = parse_conditional(e);
    e->unused -= !chosen;
    if (!take(e, ":"))
        return mistake(e->scope, "expected ':' at '%s'", e->at);
    e->unused += chosen;
    const struct value no = parse_conditional(e);
    e->unused -= chosen;
    return chosen ? yes : no;
}

bool evaluate(struct scope *scope, const char **at, struct value *value)
{
    struct evaluation e = {.scope = scope, .at = *at};
    *value = parse_conditional(&e);
    skip_blanks(&e);
    if (!*scope->error && strncmp(e.at, "...", 3) && take(&e, "..")) {
        const struct value last = parse_conditional(&e);
        if (is_integer(&e, value, "..") && is_integer(&e, &last, ".."))
            value->last = last.integer;
    }
    skip_blanks(&e);
    *at = e.at;
    return !*scope->error;
}
