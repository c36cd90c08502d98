/* SPDX-License-Identifier: MIT */
/* Expressions for registers: one expression gives the register's value in every lane. */
#include "tool/explain/explain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH = 32 }; /* maximum nesting of parentheses and signs */

struct reader {
    const char *at;
    unsigned lane, depth;
};

static bool read_binary(struct reader *r, unsigned level, uint64_t *value);

static void skip(struct reader *r)
{
    while (*r->at == ' ' || *r->at == '\t')
        r->at++;
}

static bool read_value(struct reader *r, uint64_t *value)
{
    bool ok = false;
    skip(r);
    if (r->depth == DEPTH)
        return false;
    r->depth++;
    if (*r->at == '(') {
        r->at++;
        ok = read_binary(r, 0, value);
        skip(r);
        if (ok && (ok = *r->at == ')'))
            r->at++;
    } else if (*r->at == '-' || *r->at == '~') {
        const char sign = *r->at++;
        ok = read_value(r, value);
        *value = sign == '-' ? -*value : ~*value;
    } else if (!strncmp(r->at, "lane", 4)) {
        r->at += 4;
        *value = r->lane;
        ok = true;
    } else if (*r->at >= '0' && *r->at <= '9') {
        char *end;
        errno = 0;
        *value = strtoull(r->at, &end, r->at[0] == '0' && (r->at[1] | 32) == 'x' ? 16 : 10);
        ok = !errno;
        r->at = ok ? end : r->at;
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
        if (!read_binary(r, level + 1, &right) || !apply(operator[0], value, right))
            return false;
    }
}

bool explain_evaluate(const char *text, unsigned lane, const char **end, uint64_t *value)
{
    struct reader r = {.at = text, .lane = lane};
    *value = 0;
    const bool ok = read_binary(&r, 0, value);
    skip(&r);
    *end = r.at;
    return ok;
}
