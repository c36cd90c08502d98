/* SPDX-License-Identifier: MIT */
/* Expressions for registers and words of memory: one expression gives a register's value in every lane. */
#include "tool/expression.h"

#include "tool/arguments/value.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH = 32 }; /* maximum nesting of parentheses and signs */

struct reader {
    const char *at;
    struct tool_expression *result;
    struct wm_diag *diag;
    unsigned depth;
    bool failed; /* with a message of its own */
};

static bool read_binary(struct reader *r, unsigned level, uint64_t *value);

static void skip(struct reader *r)
{
    while (*r->at == ' ' || *r->at == '\t')
        r->at++;
}

static bool is_name(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           c == ':' || c == '$' || (unsigned char)c >= 0x80;
}

/* Whether `word` is next, and ends there. */
static bool take(struct reader *r, const char *word)
{
    const size_t length = strlen(word);
    if (strncmp(r->at, word, length) || is_name(r->at[length]))
        return false;
    r->at += length;
    return true;
}

/* The name behind an @. */
static bool read_address(struct reader *r, uint64_t *value)
{
    size_t length = 0;
    struct tool_place place;
    while (is_name(r->at[length]))
        length++;
    if (!length)
        return false;
    if (!r->result->names->find(r->result->names->user, r->at, length, &place, r->diag)) {
        r->failed = true;
        return false;
    }
    r->at += length;
    r->result->named = r->result->wide = true;
    r->result->end_of_place = place.address + place.size;
    *value = place.address;
    return true;
}

static bool read_primary(struct reader *r, uint64_t *value)
{
    if (*r->at == '(') {
        r->at++;
        if (!read_binary(r, 0, value))
            return false;
        skip(r);
        if (*r->at != ')')
            return false;
        r->at++;
        return true;
    }
    if (*r->at == '@' && r->result->names) {
        r->at++;
        return read_address(r, value);
    }
    if (*r->at >= '0' && *r->at <= '9') {
        char *end;
        errno = 0;
        *value = strtoull(r->at, &end, r->at[0] == '0' && (r->at[1] | 32) == 'x' ? 16 : 10);
        r->at = errno ? r->at : end;
        return !errno;
    }
    if (r->result->lane >= 0 && take(r, "lane")) {
        *value = (uint64_t)r->result->lane;
        return true;
    }
    return false;
}

static bool read_value(struct reader *r, uint64_t *value)
{
    bool ok;
    skip(r);
    if (r->depth == DEPTH)
        return false;
    r->depth++;
    if (*r->at == '-' || *r->at == '~') {
        const char sign = *r->at++;
        ok = read_value(r, value);
        *value = sign == '-' ? -*value : ~*value;
    } else {
        const bool wide = r->result->wide;
        ok = read_primary(r, value);
        const bool low = ok && take(r, ".lo"), high = ok && !low && take(r, ".hi");
        if (low || high) {
            *value = low ? (uint32_t)*value : *value >> 32;
            r->result->wide = wide;
        }
    }
    r->depth--;
    return ok;
}

/* Operators by precedence, lowest first. */
static const char *const levels[][4] = {{"|"}, {"^"}, {"&"}, {"<<", ">>"}, {"+", "-"}, {"*", "/", "%"}};
enum { LEVELS = sizeof levels / sizeof levels[0] };

static bool apply(char operator, uint64_t * a, uint64_t b)
{
    switch (operator) {
    case '|':
        *a |= b;
        break;
    case '^':
        *a ^= b;
        break;
    case '&':
        *a &= b;
        break;
    case '<':
        *a = b < 64 ? *a << b : 0;
        break;
    case '>':
        *a = b < 64 ? *a >> b : 0;
        break;
    case '+':
        *a += b;
        break;
    case '-':
        *a -= b;
        break;
    case '*':
        *a *= b;
        break;
    default:
        if (!b)
            return false;
        *a = operator== '/' ? *a / b : * a % b;
    }
    return true;
}

static const char *operator_at(const struct reader *r, unsigned level)
{
    for (unsigned i = 0; i < 4 && levels[level][i]; i++)
        if (!strncmp(r->at, levels[level][i], strlen(levels[level][i])))
            return levels[level][i];
    return NULL;
}

static bool read_binary(struct reader *r, unsigned level, uint64_t *value)
{
    if (level == LEVELS)
        return read_value(r, value);
    if (!read_binary(r, level + 1, value))
        return false;
    for (;;) {
        uint64_t right;
        skip(r);
        const char *operator= operator_at(r, level);
        if (!operator)
            return true;
        r->at += strlen(operator);
        if (!read_binary(r, level + 1, &right))
            return false;
        if (!apply(operator[0], value, right)) {
            r->failed = true;
            return tool_because(r->diag, "division by zero");
        }
    }
}

bool tool_evaluate(const char *text, struct tool_expression *result, struct wm_diag *diag)
{
    struct reader r = {.at = text, .result = result, .diag = diag};
    result->value = 0;
    result->wide = result->named = false;
    const bool ok = read_binary(&r, 0, &result->value);
    skip(&r);
    result->end = r.at;
    if (!ok && !r.failed)
        tool_because(diag, "expected an expression of numbers%s%s, wrong at %s%.40s%s",
                     result->names ? " and addresses (@NAME)" : "", result->lane >= 0 ? " and 'lane'" : "",
                     *r.at ? "'" : "its end", r.at, *r.at ? "'" : "");
    return ok;
}
